package driver

// This file is virtual memory management (driver API, "Virtual Memory Management"): addresses are
// reserved, memory is created, and mapped there.
//
// A reservation is a range of addresses of the host too, so that copies may run over the borders of
// what is mapped in it, and created memory is a file without a name, which may be mapped several
// times, and in other processes.

import (
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"slices"
	"sort"
	"sync"

	"gemu/interp"
)

// virtualAddress is where reserved addresses begin, and virtualEnd where they end.
const (
	virtualAddress = 1 << 53
	virtualEnd     = 1 << 54
)

// granularity is what sizes and addresses of created memory and its mappings are multiples of; of
// reservations it is pageGranularity.
const (
	granularity     = 2 << 20
	pageGranularity = 4 << 10
)

// virtual is what is reserved, created and mapped.
type virtual struct {
	mu           sync.Mutex     // guards all that follows; taken before Driver.mu
	reservations []*reservation // by address
	next         uint64         // behind the last that was ever made
}

// reservation is a range of addresses.
type reservation struct {
	addr, size uint64
	mem        []byte     // the range on the host; what is not mapped cannot be accessed
	mappings   []*mapping // by address
}

// mapping is memory that is mapped at a range of addresses.
type mapping struct {
	reservation *reservation
	addr, size  uint64
	memory      *Memory
	access      map[int]MemoryAccess // of devices, by ordinal
	maxAccess   MemoryAccess         // that any device has
	region      *region              // nil while no device may access it
}

// Memory is what MemCreate has created. It lives while there are references to it.
type Memory struct {
	handle     Handle
	properties MemoryProperties
	size       uint64
	file       *os.File
	references int // by handle
	mapped     int // mappings
	charged    bool
}

// MemoryProperties is a CUmemAllocationProp.
type MemoryProperties struct {
	Type        MemoryType
	HandleTypes HandleTypes
	Location    Location
	Usage       uint16
	RDMA        bool
}

// MemoryType is a CUmemAllocationType.
type MemoryType int32

// The types of memory. That which MemCreate creates is pinned.
const (
	PinnedMemory  MemoryType = 1
	ManagedMemory MemoryType = 2
)

// HandleTypes is a set of CUmemAllocationHandleType.
type HandleTypes int32

// FileDescriptor is the one type of handle that leaves the process.
const FileDescriptor HandleTypes = 1

// Location is a CUmemLocation.
type Location struct{ Type, ID int32 }

// The types of location. The ID of that on a device is its ordinal; onAnyNode to onThisNode are of the host, whose nodes
// are all the same here.
const (
	nowhere    = 0
	OnDevice   = 1
	onAnyNode  = 2
	onThisNode = 4
)

// AccessOf is a CUmemAccessDesc.
type AccessOf struct {
	Location Location
	Access   MemoryAccess
}

// errNoVirtual is the error of all calls where there is none of this.
var errNoVirtual = fail(NotSupported, "virtual memory management on %s", runtime.GOOS)

// device is the device that a location is. d.mu is held.
func (l Location) device(d *Driver) (*Device, error) {
	if l.Type != OnDevice {
		return nil, fail(NotSupported, "memory at a location of type %d, which is no device", l.Type)
	}
	return d.device(int(l.ID))
}

// check reports what is wrong with the properties of memory, and says on which device it is. d.mu
// is held.
func (p *MemoryProperties) check(d *Driver) (*Device, error) {
	switch {
	case !d.ready:
		return nil, fail(NotInitialized, "cuInit was not called")
	case !haveVirtual:
		return nil, errNoVirtual
	case p.Type != PinnedMemory:
		return nil, fail(InvalidValue, "memory of type %d", p.Type)
	case p.HandleTypes&^FileDescriptor != 0:
		return nil, fail(NotSupported, "handles of type %#x", p.HandleTypes)
	case p.Usage != 0:
		return nil, fail(NotSupported, "memory for a usage of %#x", p.Usage)
	case p.RDMA:
		return nil, fail(NotSupported, "memory for GPUDirect RDMA")
	}
	return p.Location.device(d)
}

// begin begins a call of this file, which end ends.
func (v *virtual) begin(d *Driver) error {
	v.mu.Lock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ready && haveVirtual {
		return nil
	}
	v.mu.Unlock()
	if !haveVirtual {
		return errNoVirtual
	}
	return fail(NotInitialized, "cuInit was not called")
}

func (v *virtual) end() { v.mu.Unlock() }

// after is the index of the first reservation that begins behind an address.
func (v *virtual) after(addr uint64) int {
	return sort.Search(len(v.reservations), func(i int) bool { return v.reservations[i].addr > addr })
}

// find is the reservation that n bytes at an address lie in.
func (v *virtual) find(addr, n uint64) (*reservation, error) {
	if i := v.after(addr); i > 0 {
		if r := v.reservations[i-1]; addr-r.addr < r.size && n <= r.size-(addr-r.addr) {
			return r, nil
		}
	}
	return nil, fail(InvalidValue, "%d bytes at %#x are not reserved", n, addr)
}

// place is where a reservation of size bytes goes: to the hint, if nothing is there.
func (v *virtual) place(size, alignment, hint uint64) (uint64, error) {
	if hint >= virtualAddress && hint%alignment == 0 && hint <= virtualEnd-size {
		i := v.after(hint)
		if (i == 0 || hint-v.reservations[i-1].addr >= v.reservations[i-1].size) && (i == len(v.reservations) || v.reservations[i].addr-hint >= size) {
			return hint, nil
		}
	}
	addr := (max(v.next, virtualAddress) + alignment - 1) / alignment * alignment
	if addr < virtualAddress || addr > virtualEnd-size {
		return 0, fail(OutOfMemory, "no addresses are left for %d bytes", size)
	}
	return addr, nil
}

// MemAddressReserve is cuMemAddressReserve. An alignment of 0 is the granularity of memory.
func (d *Driver) MemAddressReserve(size, alignment, hint, flags uint64) (uint64, error) {
	if alignment == 0 {
		alignment = granularity
	}
	switch {
	case flags != 0:
		return 0, fail(InvalidValue, "flags %#x", flags)
	case size == 0 || size%pageGranularity != 0:
		return 0, fail(InvalidValue, "%d bytes, want a multiple of %d", size, pageGranularity)
	case bits.OnesCount64(alignment) != 1:
		return 0, fail(InvalidValue, "an alignment of %d, want a power of two", alignment)
	case size > virtualEnd-virtualAddress || alignment > virtualEnd-virtualAddress:
		return 0, fail(OutOfMemory, "%d bytes at a multiple of %d", size, alignment)
	}
	v := &d.virtual
	if err := v.begin(d); err != nil {
		return 0, err
	}
	defer v.end()
	addr, err := v.place(size, max(alignment, pageGranularity), hint)
	if err != nil {
		return 0, err
	}
	mem, err := reserveAddresses(size)
	if err != nil {
		return 0, fail(OutOfMemory, "%v", err)
	}
	v.next = max(v.next, addr+size)
	v.reservations = slices.Insert(v.reservations, v.after(addr), &reservation{addr: addr, size: size, mem: mem})
	return addr, nil
}

// MemAddressFree is cuMemAddressFree.
func (d *Driver) MemAddressFree(addr, size uint64) error {
	v := &d.virtual
	if err := v.begin(d); err != nil {
		return err
	}
	defer v.end()
	r, err := v.find(addr, size)
	switch {
	case err != nil:
		return err
	case r.addr != addr || r.size != size:
		return fail(InvalidValue, "%d bytes at %#x are a part of the %d reserved at %#x", size, addr, r.size, r.addr)
	case len(r.mappings) > 0:
		return fail(InvalidValue, "memory is mapped at %#x", r.mappings[0].addr)
	}
	i := v.after(addr) - 1
	v.reservations = slices.Delete(v.reservations, i, i+1)
	freeAddresses(r.mem)
	return nil
}

// MemGetAllocationGranularity is cuMemGetAllocationGranularity: the least is also the one that is
// recommended.
func (d *Driver) MemGetAllocationGranularity(p *MemoryProperties) (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, err := p.check(d)
	return granularity, err
}

// MemCreate is cuMemCreate. The memory is zero at first.
func (d *Driver) MemCreate(size uint64, p MemoryProperties, flags uint64) (Handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	dev, err := p.check(d)
	switch {
	case err != nil:
		return 0, err
	case flags != 0:
		return 0, fail(InvalidValue, "flags %#x", flags)
	case size == 0 || size%granularity != 0:
		return 0, fail(InvalidValue, "%d bytes, want a multiple of %d", size, granularity)
	}
	if err := dev.reserve(size); err != nil {
		return 0, err
	}
	file, err := createMemory(createdFile, size)
	if err != nil {
		dev.used -= size
		return 0, fail(OutOfMemory, "%v", err)
	}
	m := &Memory{properties: p, size: size, file: file, references: 1, charged: true}
	m.handle = d.add(m)
	return m.handle, nil
}

// memory is the memory with a handle. d.mu is held.
func (d *Driver) memory(h Handle) (*Memory, error) {
	if !d.ready {
		return nil, fail(NotInitialized, "cuInit was not called")
	}
	m, ok := d.objects[h].(*Memory)
	if !ok {
		return nil, fail(InvalidValue, "%#x is no created memory", uint64(h))
	}
	return m, nil
}

// forget ends the memory, if there are no references to it. d.mu is held.
func (m *Memory) forget(d *Driver) {
	if m.references == 0 {
		delete(d.objects, m.handle)
	}
	if m.references > 0 || m.mapped > 0 {
		return
	}
	if m.charged {
		d.devices[m.properties.Location.ID].used -= m.size
	}
	m.file.Close()
}

// MemRelease is cuMemRelease.
func (d *Driver) MemRelease(h Handle) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	m, err := d.memory(h)
	if err != nil {
		return err
	}
	m.references--
	m.forget(d)
	return nil
}

// MemGetAllocationProperties is cuMemGetAllocationPropertiesFromHandle.
func (d *Driver) MemGetAllocationProperties(h Handle) (MemoryProperties, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	m, err := d.memory(h)
	if err != nil {
		return MemoryProperties{}, err
	}
	return m.properties, nil
}

// MemRetainAllocationHandle is cuMemRetainAllocationHandle: the memory that is mapped at an address.
func (d *Driver) MemRetainAllocationHandle(addr uint64) (Handle, error) {
	v := &d.virtual
	if err := v.begin(d); err != nil {
		return 0, err
	}
	defer v.end()
	p := v.mappingAt(addr)
	if p == nil {
		return 0, fail(InvalidValue, "nothing is mapped at %#x", addr)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p.memory.references++
	d.objects[p.memory.handle] = p.memory
	return p.memory.handle, nil
}

// mappingAt is the mapping that an address lies in; nil if there is none.
func (v *virtual) mappingAt(addr uint64) *mapping {
	r, err := v.find(addr, 1)
	if err != nil {
		return nil
	}
	i := slices.IndexFunc(r.mappings, func(p *mapping) bool { return addr-p.addr < p.size })
	if i < 0 {
		return nil
	}
	return r.mappings[i]
}

// MemMap is cuMemMap. Who wants to access the memory sets that with MemSetAccess.
func (d *Driver) MemMap(addr, size, offset uint64, h Handle, flags uint64) error {
	v := &d.virtual
	if err := v.begin(d); err != nil {
		return err
	}
	defer v.end()
	d.mu.Lock()
	defer d.mu.Unlock()
	m, err := d.memory(h)
	if err != nil {
		return err
	}
	r, err := v.find(addr, size)
	switch {
	case err != nil:
		return err
	case flags != 0 || offset != 0:
		return fail(InvalidValue, "flags %#x and an offset of %d, want 0", flags, offset)
	case size == 0 || size%granularity != 0 || addr%granularity != 0:
		return fail(InvalidValue, "%d bytes at %#x, want multiples of %d", size, addr, granularity)
	case size > m.size:
		return fail(InvalidValue, "%d bytes of memory of %d", size, m.size)
	}
	at := slices.IndexFunc(r.mappings, func(p *mapping) bool { return p.addr+p.size > addr })
	if at < 0 {
		at = len(r.mappings)
	} else if p := r.mappings[at]; p.addr < addr+size {
		return fail(InvalidValue, "%d bytes at %#x: memory is mapped at %#x", size, addr, p.addr)
	}
	if err := mapMemory(r.mem[addr-r.addr:][:size], m.file); err != nil {
		return fail(OutOfMemory, "%v", err)
	}
	m.mapped++
	r.mappings = slices.Insert(r.mappings, at, &mapping{reservation: r, addr: addr, size: size, memory: m, access: map[int]MemoryAccess{}})
	return nil
}

// whole lists the mappings of a range, all of which must be mapped, and no more of any mapping.
func (v *virtual) whole(addr, size uint64) ([]*mapping, error) {
	r, err := v.find(addr, size)
	if err != nil {
		return nil, err
	}
	end := addr
	var list []*mapping
	for _, p := range r.mappings {
		if p.addr == end && end < addr+size {
			list = append(list, p)
			end += p.size
		}
	}
	if size == 0 || end != addr+size {
		return nil, fail(InvalidValue, "%d bytes at %#x are not whole mappings", size, addr)
	}
	return list, nil
}

// pause waits until no work runs on any device. What is submitted behind it runs after resume, so that what
// is done between them nobody sees. d.mu is held, but not while it waits.
func (d *Driver) pause() *task {
	// What runs may wait for what is submitted later: that is kept back only if there is no end of it.
	tasks := append(d.pending(), d.paused)
	for range 100 {
		if !slices.ContainsFunc(tasks, func(t *task) bool { return !t.ended() }) {
			break
		}
		d.mu.Unlock()
		wait(tasks)
		d.mu.Lock()
		tasks = append(d.pending(), d.paused)
	}
	p := &task{done: make(chan struct{})}
	d.paused = p
	d.mu.Unlock()
	wait(tasks)
	d.mu.Lock()
	return p
}

// resume ends a pause. d.mu has been held since.
func (d *Driver) resume(p *task) {
	if d.paused == p {
		d.paused = nil
	}
	close(p.done)
}

// waitIdle waits for all that may use memory.
func (d *Driver) waitIdle() {
	d.mu.Lock()
	tasks := d.pending()
	d.mu.Unlock()
	wait(tasks)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ordering.learn(tasks)
}

// MemUnmap is cuMemUnmap. It waits for work that may still use the memory.
func (d *Driver) MemUnmap(addr, size uint64) error {
	v := &d.virtual
	if err := v.begin(d); err != nil {
		return err
	}
	defer v.end()
	list, err := v.whole(addr, size)
	if err != nil {
		return err
	}
	d.waitIdle()
	for _, p := range list {
		p.hide(d)
		unmapMemory(p.reservation.mem[p.addr-p.reservation.addr:][:p.size])
	}
	r := list[0].reservation
	r.mappings = slices.DeleteFunc(r.mappings, func(p *mapping) bool { return slices.Contains(list, p) })
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range list {
		p.memory.mapped--
		p.memory.forget(d)
	}
	return nil
}

// hide makes the mapping one that kernels and copies do not reach.
func (p *mapping) hide(d *Driver) {
	r := p.region
	if r == nil {
		return
	}
	d.mu.Lock()
	d.regions.remove(r)
	d.mu.Unlock()
	r.free(nil)
	p.region = nil
}

// show makes the mapping one that kernels and copies reach, as far as a device may access it.
func (p *mapping) show(d *Driver) error {
	p.maxAccess = NoAccess
	for _, a := range p.access {
		p.maxAccess |= a
	}
	if p.maxAccess == NoAccess {
		return nil
	}
	d.mu.Lock()
	d.buffers++
	name := fmt.Sprintf("mapped memory #%d", d.buffers)
	d.mu.Unlock()
	r := &region{addr: p.addr, size: p.size, data: p.reservation.mem[p.addr-p.reservation.addr:][:p.size:p.size], kind: mappedRegion, mapping: p}
	mappingKind := interp.Mapping(0) // another process may cut the file
	if p.maxAccess == Read {
		mappingKind = interp.ReadOnly
	}
	var err error
	if r.buf, err = d.gpu.Map(r.addr, r.data, name, mappingKind); err != nil {
		return fail(InvalidValue, "%v", err)
	}
	p.region = r
	d.mu.Lock()
	defer d.mu.Unlock()
	d.addRegion(r)
	return nil
}

// MemSetAccess is cuMemSetAccess. Devices share one address space: kernels of all have the most
// that any device has.
func (d *Driver) MemSetAccess(addr, size uint64, list []AccessOf) error {
	v := &d.virtual
	if err := v.begin(d); err != nil {
		return err
	}
	defer v.end()
	mappings, err := v.whole(addr, size)
	if err != nil {
		return err
	}
	d.mu.Lock()
	for _, a := range list {
		if _, err = a.Location.device(d); err == nil && a.Access != NoAccess && a.Access != Read && a.Access != ReadWrite {
			err = fail(InvalidValue, "access %d", a.Access)
		}
		if err != nil {
			break
		}
	}
	d.mu.Unlock()
	if err != nil {
		return err
	}
	d.waitIdle()
	for _, p := range mappings {
		for _, a := range list {
			p.access[int(a.Location.ID)] = a.Access
		}
		p.hide(d)
		if err := p.show(d); err != nil {
			return err
		}
	}
	return nil
}

// MemGetAccess is cuMemGetAccess.
func (d *Driver) MemGetAccess(location Location, addr uint64) (MemoryAccess, error) {
	v := &d.virtual
	if err := v.begin(d); err != nil {
		return 0, err
	}
	defer v.end()
	d.mu.Lock()
	dev, err := location.device(d)
	d.mu.Unlock()
	if err != nil {
		return 0, err
	}
	p := v.mappingAt(addr)
	if p == nil {
		return 0, fail(InvalidValue, "nothing is mapped at %#x", addr)
	}
	return p.access[dev.ordinal], nil
}

// descriptor checks what a call says of a handle that is a file descriptor.
func descriptor(kind HandleTypes, flags uint64) error {
	switch {
	case flags != 0:
		return fail(InvalidValue, "flags %#x", flags)
	case kind != FileDescriptor:
		return fail(NotSupported, "handles of type %#x", kind)
	}
	return nil
}

// MemExport is cuMemExportToShareableHandle for file descriptors: one of the memory's that the
// client owns.
func (d *Driver) MemExport(h Handle, kind HandleTypes, flags uint64) (fd int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	m, err := d.memory(h)
	if err == nil {
		err = descriptor(kind, flags)
	}
	switch {
	case err != nil:
		return 0, err
	case m.properties.HandleTypes&kind == 0:
		return 0, fail(InvalidValue, "the memory was created without handles of type %#x", kind)
	}
	if fd, err = duplicate(int(m.file.Fd())); err != nil {
		return 0, fail(OperatingSystem, "%v", err)
	}
	return fd, nil
}

// MemImport is cuMemImportFromShareableHandle for file descriptors, which stay the client's. The
// memory is on the current device, or the first, and charged to the process that created it.
func (t *Thread) MemImport(fd int, kind HandleTypes) (Handle, error) {
	d := t.d
	d.mu.Lock()
	defer d.mu.Unlock()
	dev, err := d.device(0)
	if err == nil {
		err = descriptor(kind, 0)
	}
	if err != nil {
		return 0, err
	}
	if c := t.top(); c != nil {
		dev = c.dev
	}
	file, size, err := openMemory(createdFile, fd)
	if err != nil {
		return 0, fail(InvalidValue, "%v", err)
	}
	m := &Memory{size: size, file: file, references: 1}
	m.properties = MemoryProperties{Type: PinnedMemory, HandleTypes: kind, Location: Location{OnDevice, int32(dev.ordinal)}}
	m.handle = d.add(m)
	return m.handle, nil
}

// close gives all of it back.
func (v *virtual) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, r := range v.reservations {
		freeAddresses(r.mem)
	}
	v.reservations = nil
}
