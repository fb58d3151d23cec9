package driver

// This file implements virtual memory management (driver API, "Virtual Memory Management"): addresses are reserved,
// memory is created, and memory is mapped at reserved addresses.
//
// Each reservation also has a range of host addresses of the same size. Its memory is mapped there, so that one copy
// can cross the borders of mappings. Created memory is an unnamed file, so that it can be mapped several times, and in
// several processes.

import (
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"slices"
	"sort"
	"sync"

	"gemu/driver/internal/sharedmem"
	"gemu/interp"
)

// Reservations have addresses from virtualAddress up to, but not including, virtualEnd.
const (
	virtualAddress = 1 << 53
	virtualEnd     = 1 << 54
)

// granularity is the unit of sizes and addresses of created memory and its mappings, in bytes; pageGranularity is the
// unit of reservations.
const (
	granularity     = 2 << 20
	pageGranularity = 4 << 10
)

// virtual holds the reservations and their mappings.
type virtual struct {
	mu           sync.Mutex     // guards all fields below; locked before Driver.mu
	reservations []*reservation // in order of addresses
	next         uint64         // end of the highest reservation ever made
}

// reservation is a reserved range of device addresses.
type reservation struct {
	addr, size uint64
	mem        []byte     // range of host addresses of the same size; bytes without a mapping are inaccessible
	mappings   []*mapping // in order of addresses
}

// mapping is memory mapped at a range of addresses.
type mapping struct {
	reservation *reservation
	addr, size  uint64
	memory      *Memory
	access      map[int]MemoryAccess // access of each device, by its ordinal
	maxAccess   MemoryAccess         // union over all devices
	region      *region              // nil while no device has access
}

// Memory is memory made by MemCreate or MemImport. It is released when it has neither references nor mappings.
type Memory struct {
	handle     Handle
	properties MemoryProperties
	size       uint64
	file       *os.File
	references int  // calls that returned the handle, less calls of MemRelease
	mapped     int  // number of mappings
	charged    bool // size counts as used on the device; false for imported memory
}

// MemoryProperties is a CUmemAllocationProp.
type MemoryProperties struct {
	Type        MemoryType  // must be PinnedMemory
	HandleTypes HandleTypes // types of handle that MemExport may make for other processes: 0 or FileDescriptor
	Location    Location    // device of the memory
	Usage       uint16      // CU_MEM_CREATE_USAGE flags; must be 0
	RDMA        bool        // suitable for GPUDirect RDMA; must be false
}

// MemoryType is a CUmemAllocationType.
type MemoryType int32

// The types of memory. MemCreate makes only pinned memory.
const (
	PinnedMemory  MemoryType = 1 // stays at one location
	ManagedMemory MemoryType = 2 // shared by host and devices; only for pools
)

// HandleTypes is a set of CUmemAllocationHandleType.
type HandleTypes int32

// FileDescriptor is the only supported type of handle for other processes.
const FileDescriptor HandleTypes = 1

// Location is a CUmemLocation, a place for memory. If Type is OnDevice, ID is the ordinal of the device.
type Location struct{ Type, ID int32 }

// The types of location. The types from locationHost to locationHostThisNode, with CU_MEM_LOCATION_TYPE_HOST_NUMA
// between them, are all the same here.
const (
	locationUnspecified  = 0 // CU_MEM_LOCATION_TYPE_NONE
	OnDevice             = 1 // a device (CU_MEM_LOCATION_TYPE_DEVICE)
	locationHost         = 2 // CU_MEM_LOCATION_TYPE_HOST
	locationHostThisNode = 4 // CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT
)

// MemAccessDesc is a CUmemAccessDesc: the access of a location to memory.
type MemAccessDesc struct {
	Location Location     // must be a device
	Access   MemoryAccess // access of kernels on the device
}

// errNoVirtual is the error of all calls on systems without virtual memory management.
var errNoVirtual = fail(NotSupported, "gemu has no virtual memory management on %s", runtime.GOOS)

// device returns the device at a location. The caller must hold d.mu.
func (l Location) device(d *Driver) (*Device, error) {
	if l.Type != OnDevice {
		return nil, fail(NotSupported, "memory at a location of type %d, which is not a device: want CU_MEM_LOCATION_TYPE_DEVICE (1)", l.Type)
	}
	return d.device(int(l.ID))
}

// check checks the properties of memory to create, and returns its device. The caller must hold d.mu.
func (p *MemoryProperties) check(d *Driver) (*Device, error) {
	switch {
	case !d.ready:
		return nil, fail(NotInitialized, "cuInit was not called")
	case !sharedmem.Supported:
		return nil, errNoVirtual
	case p.Type != PinnedMemory:
		return nil, fail(InvalidValue, "memory type %d, want CU_MEM_ALLOCATION_TYPE_PINNED (1)", p.Type)
	case p.HandleTypes&^FileDescriptor != 0:
		return nil, unsupportedHandles(p.HandleTypes)
	case p.Usage != 0:
		return nil, fail(NotSupported, "usage flags %#x of created memory, want 0", p.Usage)
	case p.RDMA:
		return nil, fail(NotSupported, "gemu does not support memory for GPUDirect RDMA")
	}
	return p.Location.device(d)
}

// begin locks v for a call; end unlocks it. begin returns an error, and does not lock, before cuInit and on systems
// without virtual memory management.
func (v *virtual) begin(d *Driver) error {
	v.mu.Lock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ready && sharedmem.Supported {
		return nil
	}
	v.mu.Unlock()
	if !sharedmem.Supported {
		return errNoVirtual
	}
	return fail(NotInitialized, "cuInit was not called")
}

func (v *virtual) end() { v.mu.Unlock() }

// after returns the index of the first reservation that begins after addr.
func (v *virtual) after(addr uint64) int {
	return sort.Search(len(v.reservations), func(i int) bool { return v.reservations[i].addr > addr })
}

// find returns the reservation that contains n bytes from addr on.
func (v *virtual) find(addr, n uint64) (*reservation, error) {
	if i := v.after(addr); i > 0 {
		if r := v.reservations[i-1]; addr-r.addr < r.size && n <= r.size-(addr-r.addr) {
			return r, nil
		}
	}
	return nil, fail(InvalidValue, "%d bytes at %#x are not reserved", n, addr)
}

// place chooses the address of a new reservation of size bytes. It is the hint if the range there is free; otherwise it
// lies above all reservations ever made.
func (v *virtual) place(size, alignment, hint uint64) (uint64, error) {
	if hint >= virtualAddress && hint%alignment == 0 && hint <= virtualEnd-size {
		i := v.after(hint)
		freeBefore := i == 0 || hint-v.reservations[i-1].addr >= v.reservations[i-1].size
		freeAfter := i == len(v.reservations) || v.reservations[i].addr-hint >= size
		if freeBefore && freeAfter {
			return hint, nil
		}
	}
	addr := (max(v.next, virtualAddress) + alignment - 1) / alignment * alignment
	if addr < virtualAddress || addr > virtualEnd-size {
		return 0, fail(OutOfMemory, "no address range of %d bytes is left for a reservation", size)
	}
	return addr, nil
}

// MemAddressReserve is cuMemAddressReserve. An alignment of 0 means granularity. hint is the preferred address; 0: none.
func (d *Driver) MemAddressReserve(size, alignment, hint, flags uint64) (uint64, error) {
	if alignment == 0 {
		alignment = granularity
	}
	switch {
	case flags != 0:
		return 0, fail(InvalidValue, "flags %#x, want 0", flags)
	case size == 0 || size%pageGranularity != 0:
		return 0, fail(InvalidValue, "%d bytes, want a positive multiple of %d", size, pageGranularity)
	case bits.OnesCount64(alignment) != 1:
		return 0, fail(InvalidValue, "an alignment of %d, want a power of two", alignment)
	case size > virtualEnd-virtualAddress || alignment > virtualEnd-virtualAddress:
		return 0, fail(OutOfMemory, "%d bytes at a multiple of %d exceed the range of %d bytes for reservations", size, alignment, uint64(virtualEnd-virtualAddress))
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
	mem, err := sharedmem.ReserveAddresses(size)
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
		return fail(InvalidValue, "%d bytes at %#x are not a whole reservation: it has %d bytes at %#x", size, addr, r.size, r.addr)
	case len(r.mappings) > 0:
		return fail(InvalidValue, "memory is still mapped at %#x: unmap it first", r.mappings[0].addr)
	}
	i := v.after(addr) - 1
	v.reservations = slices.Delete(v.reservations, i, i+1)
	sharedmem.FreeAddresses(r.mem)
	return nil
}

// MemGetAllocationGranularity is cuMemGetAllocationGranularity: the minimum is also the recommended value.
func (d *Driver) MemGetAllocationGranularity(p *MemoryProperties) (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, err := p.check(d)
	return granularity, err
}

// MemCreate is cuMemCreate. The memory is zero.
func (d *Driver) MemCreate(size uint64, p MemoryProperties, flags uint64) (Handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	dev, err := p.check(d)
	switch {
	case err != nil:
		return 0, err
	case flags != 0:
		return 0, fail(InvalidValue, "flags %#x, want 0", flags)
	case size == 0 || size%granularity != 0:
		return 0, fail(InvalidValue, "%d bytes, want a positive multiple of %d", size, granularity)
	}
	if err := dev.reserve(size); err != nil {
		return 0, err
	}
	file, err := sharedmem.Create(createdFile, size)
	if err != nil {
		dev.used -= size
		return 0, fail(OutOfMemory, "%v", err)
	}
	m := &Memory{properties: p, size: size, file: file, references: 1, charged: true}
	m.handle = d.add(m)
	return m.handle, nil
}

// memory returns the memory with a handle. The caller must hold d.mu.
func (d *Driver) memory(h Handle) (*Memory, error) {
	if !d.ready {
		return nil, fail(NotInitialized, "cuInit was not called")
	}
	m, ok := d.objects[h].(*Memory)
	if !ok {
		return nil, fail(InvalidValue, "%#x is not the handle of memory from cuMemCreate", uint64(h))
	}
	return m, nil
}

// forget removes the handle if the memory has no references, and releases the memory if it has no mappings either. The
// caller must hold d.mu.
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

// MemRetainAllocationHandle is cuMemRetainAllocationHandle: it returns the memory mapped at an address.
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

// mappingAt returns the mapping that contains an address, or nil.
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

// MemMap is cuMemMap. Devices have no access until MemSetAccess grants it.
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
		return fail(InvalidValue, "flags %#x and an offset of %d, want 0 for both", flags, offset)
	case size == 0 || size%granularity != 0 || addr%granularity != 0:
		return fail(InvalidValue, "%d bytes at %#x, want positive multiples of %d", size, addr, granularity)
	case size > m.size:
		return fail(InvalidValue, "cannot map %d bytes: the memory has only %d", size, m.size)
	}
	index := slices.IndexFunc(r.mappings, func(p *mapping) bool { return p.addr+p.size > addr })
	if index < 0 {
		index = len(r.mappings)
	} else if p := r.mappings[index]; p.addr < addr+size {
		return fail(InvalidValue, "%d bytes at %#x overlap memory that is mapped at %#x", size, addr, p.addr)
	}
	if err := sharedmem.MapAt(r.mem[addr-r.addr:][:size], m.file); err != nil {
		return fail(OutOfMemory, "%v", err)
	}
	m.mapped++
	r.mappings = slices.Insert(r.mappings, index, &mapping{reservation: r, addr: addr, size: size, memory: m, access: map[int]MemoryAccess{}})
	return nil
}

// wholeMappings lists the mappings in a range. The range must be fully mapped, and must not begin or end inside a
// mapping.
func (v *virtual) wholeMappings(addr, size uint64) ([]*mapping, error) {
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
		return nil, fail(InvalidValue, "%d bytes at %#x are not whole mappings: want the addresses and sizes of cuMemMap", size, addr)
	}
	return list, nil
}

// pause waits until no work runs on any device. Work submitted after pause has returned runs after resume, so no work
// runs between them. The caller must hold d.mu; pause releases it while it waits.
func (d *Driver) pause() *task {
	// Pending work may itself wait for work that is submitted later. So pause first waits without holding back new
	// work, and holds it back only if new work is still pending after these rounds.
	const rounds = 100
	tasks := append(d.pending(), d.paused)
	for range rounds {
		if !slices.ContainsFunc(tasks, func(t *task) bool { return !t.ended() }) {
			break
		}
		d.mu.Unlock()
		d.wait(tasks)
		d.mu.Lock()
		tasks = append(d.pending(), d.paused)
	}
	p := newTask(nil)
	d.paused = p
	d.mu.Unlock()
	d.wait(tasks)
	d.mu.Lock()
	return p
}

// resume ends a pause. The caller must have held d.mu since the pause.
func (d *Driver) resume(p *task) {
	if d.paused == p {
		d.paused = nil
	}
	d.endNow(p)
}

// waitIdle waits for all pending work.
func (d *Driver) waitIdle() {
	d.mu.Lock()
	tasks := d.pending()
	d.mu.Unlock()
	d.awaitTasks(tasks)
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
	list, err := v.wholeMappings(addr, size)
	if err != nil {
		return err
	}
	d.waitIdle()
	for _, p := range list {
		p.hide(d)
		sharedmem.UnmapAt(p.reservation.mem[p.addr-p.reservation.addr:][:p.size])
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

// fileMapping returns the properties of a mapping of the first n bytes of a file. If a process can shrink the file, accesses
// may fault; no process can shrink a file of sharedmem.Create.
func fileMapping(file *os.File, n uint64) interp.Mapping {
	if sharedmem.KeepsBytes(file, n) {
		return interp.Permanent
	}
	return 0
}

// hide makes the mapping inaccessible to kernels and copies.
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

// show makes the mapping accessible to kernels and copies, if any device has access.
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
	mappingKind := fileMapping(p.memory.file, p.size)
	if p.maxAccess == Read {
		mappingKind |= interp.ReadOnly
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

// MemSetAccess is cuMemSetAccess. Devices share an address space: kernels on every device have the union of all
// devices' access.
func (d *Driver) MemSetAccess(addr, size uint64, list []MemAccessDesc) error {
	v := &d.virtual
	if err := v.begin(d); err != nil {
		return err
	}
	defer v.end()
	mappings, err := v.wholeMappings(addr, size)
	if err != nil {
		return err
	}
	d.mu.Lock()
	for _, a := range list {
		if _, err = a.Location.device(d); err == nil && a.Access != NoAccess && a.Access != Read && a.Access != ReadWrite {
			err = badAccess(a.Access)
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

// checkHandleType checks the type and the flags of an export or import: the handle must be a file descriptor, and flags
// must be 0.
func checkHandleType(kind HandleTypes, flags uint64) error {
	switch {
	case flags != 0:
		return fail(InvalidValue, "flags %#x, want 0", flags)
	case kind != FileDescriptor:
		return unsupportedHandles(kind)
	}
	return nil
}

// unsupportedHandles returns the error of a call for handles of other types than FileDescriptor.
func unsupportedHandles(types HandleTypes) error {
	return fail(NotSupported, "handles of type %#x: gemu supports only CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR (1)", types)
}

// badAccess returns the error of a call with an unknown access.
func badAccess(a MemoryAccess) error {
	return fail(InvalidValue, "access %d, want 0 (none), 1 (read) or 3 (read and write)", a)
}

// MemExport is cuMemExportToShareableHandle for file descriptors. The client owns the returned descriptor.
func (d *Driver) MemExport(h Handle, kind HandleTypes, flags uint64) (fd int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	m, err := d.memory(h)
	if err == nil {
		err = checkHandleType(kind, flags)
	}
	switch {
	case err != nil:
		return 0, err
	case m.properties.HandleTypes&kind == 0:
		return 0, fail(InvalidValue, "the memory was created without handles of type %#x", kind)
	}
	if fd, err = sharedmem.Duplicate(int(m.file.Fd())); err != nil {
		return 0, fail(OperatingSystem, "%v", err)
	}
	return fd, nil
}

// MemImport is cuMemImportFromShareableHandle for file descriptors. The client keeps its descriptor. The memory belongs
// to the device of the current context, or to device 0 if no context is current. Its bytes count as used only in the
// process that created it.
func (t *Thread) MemImport(fd int, kind HandleTypes) (Handle, error) {
	d := t.d
	d.mu.Lock()
	defer d.mu.Unlock()
	dev, err := d.device(0)
	if err == nil {
		err = checkHandleType(kind, 0)
	}
	if err != nil {
		return 0, err
	}
	if c := t.top(); c != nil {
		dev = c.dev
	}
	file, size, err := sharedmem.Open(createdFile, fd)
	if err != nil {
		return 0, fail(InvalidValue, "%v", err)
	}
	m := &Memory{size: size, file: file, references: 1}
	m.properties = MemoryProperties{Type: PinnedMemory, HandleTypes: kind, Location: Location{OnDevice, int32(dev.ordinal)}}
	m.handle = d.add(m)
	return m.handle, nil
}

// close releases all reservations.
func (v *virtual) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, r := range v.reservations {
		sharedmem.FreeAddresses(r.mem)
	}
	v.reservations = nil
}
