package mem

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"
	"unsafe"

	"gemu/internal/hostmem"
	"gemu/probe"
)

const (
	// allocGap is the least distance between allocations in bytes, so that an access past the end of an allocation does not
	// reach the next.
	allocGap = 256

	// Allocations begin at multiples of allocAlign bytes; allocations of largeAlloc bytes or more begin at multiples of
	// largeAlign bytes. GPUs do the same, because they give large allocations whole pages.
	allocAlign = 512
	largeAlloc = 1 << 20
	largeAlign = 2 << 20

	// MaxFreed is the number of freed allocations that the map remembers at least, so that a message about a stale address
	// can name its allocation.
	MaxFreed = 1 << 16
)

// Allocation is a block of memory with an address range of its own. Probes receive the embedded part.
type Allocation struct {
	probe.Allocation

	mapping       Mapping // properties of mapped host memory, or ReadOnly
	release       func()  // frees Data; may be nil
	releaseShadow func()  // frees Shadow; may be nil
	reserved      bool    // Data comes from hostmem.Reserve, so that untouched pages take no host memory

	standIn *Allocation // of memory in which an access may fault: see Hit; otherwise nil
	memory  *Allocation // of a stand-in: the memory; otherwise nil
}

// Hit returns the allocation that a memory instruction remembers after it has accessed a. If machine code
// must not make the access because it may fault on the host, Hit returns a stand-in of 0 bytes: machine code then leaves each
// access to Go, which finds a by Memory.
func (a *Allocation) Hit() *Allocation {
	if a.standIn != nil {
		return a.standIn
	}
	return a
}

// Memory returns the allocation for which Hit has returned a. It returns nil for nil.
func (a *Allocation) Memory() *Allocation {
	if a != nil && a.memory != nil {
		return a.memory
	}
	return a
}

// Mapping is a set of properties of mapped host memory.
type Mapping uint8

// Properties of mapped host memory.
const (
	ReadOnly  Mapping = 1 << iota // kernels may not write to it
	Permanent                     // the host memory stays accessible while it is mapped, so that no access within its bounds faults on the host
)

// NewShared makes the shared memory of a CTA: size bytes, followed by zeros up to the end of its allocation unit (see
// SharedUnit).
func (m *Map) NewShared(size uint64) *Allocation {
	a := &Allocation{Allocation: probe.Allocation{Base: probe.SharedWindow, Size: size, Span: size, Data: AlignedBytes(roundUp(size, maxSharedUnit))[:size], Kind: probe.SharedMemory}}
	if m.ShadowBytes > 0 {
		a.Shadow = make([]byte, uint64(m.ShadowBytes)*size)
	}
	a.setPointer()
	return a
}

// AddToCluster makes the allocation the shared memory of the CTA of the given rank in its cluster. It becomes accessible
// again if RemoveFromCluster has made it inaccessible.
func (a *Allocation) AddToCluster(rank int) {
	a.Base, a.Size, a.Freed = SharedAddress(rank), uint64(len(a.Data)), false
}

// RemoveFromCluster makes the shared memory inaccessible when its CTA exits.
func (a *Allocation) RemoveFromCluster() { a.Size, a.Freed = 0, true }

// setPointer updates Ptr after a change of Data.
func (a *Allocation) setPointer() { a.Ptr = unsafe.Pointer(unsafe.SliceData(a.Data)) }

// Slice returns a copy of the bytes from address from up to, but not including, address to, without those outside the
// allocation. The copy is in no map.
//
//go:norace
func (a *Allocation) Slice(from, to uint64) *Allocation {
	from, to = max(from, a.Base), min(to, a.Base+a.Size)
	part := &Allocation{Allocation: probe.Allocation{Base: from, Size: to - from, Span: to - from, Data: AlignedBytes(to - from), Kind: a.Kind, Name: a.Name}}
	part.setPointer()
	copy(part.Data, a.Data[from-a.Base:])
	return part
}

// Public returns the part of the allocation that probes receive; nil if a is nil.
func (a *Allocation) Public() *probe.Allocation {
	if a == nil {
		return nil
	}
	return &a.Allocation
}

// Map is the address map of a device. Alloc never returns an address twice, so that every use of a stale pointer is
// detected. The addresses of mapped memory are the caller's choice.
type Map struct {
	// ShadowBytes is the number of shadow bytes for each byte of an allocation that is made from now on.
	ShadowBytes int

	// changes is held for writing while the fields below, up to mayFaultCount, and the ranges of allocations change. The
	// device's lock and the schedule of launches order these changes and the reads by goroutines of the device. Reads by
	// other goroutines (Lookup, Used, MayFault) hold changes for reading.
	changes sync.RWMutex

	allocs        []*Allocation // by base, including freed allocations
	next          uint64        // least address of the next allocation
	used          uint64        // live bytes, without mapped memory
	limit         uint64        // maximum of used
	freedCount    int           // number of freed allocations in allocs
	stateBytes    uint64        // size of all saved pages in bytes
	mapped        int           // number of live mapped allocations
	mayFaultCount int           // number of live mapped allocations without Permanent

	params   *Allocation                                                // the parameter block
	allocate func(size uint64) (data []byte, release func(), err error) // see NewMap
	lazy     bool                                                       // allocate is reserve
}

// lazyThreshold is the size in bytes from which memory is reserved outside Go's heap. Smaller blocks are cheaper on the
// heap, and the garbage collector frees them.
const lazyThreshold = 32 << 20

// reserve provides zero bytes. Less than lazyThreshold bytes come from Go's heap. More are pages that occupy host memory
// only after they have been touched.
func reserve(size uint64) ([]byte, func(), error) {
	if size < lazyThreshold {
		if err := hostmem.Check(size); err != nil {
			return nil, nil, err
		}
		return AlignedBytes(size), nil, nil
	}
	data, err := hostmem.Reserve(size)
	if err != nil {
		return nil, nil, err
	}
	return data, func() { hostmem.Release(data) }, nil
}

// NewMap makes a map whose allocations begin at address base and have at most limit bytes together. allocate provides
// the memory of an allocation (zero bytes at a multiple of 16) and a function to free it, which may be nil. If allocate
// is nil, memory comes from reserve.
func NewMap(base, limit uint64, allocate func(size uint64) (data []byte, release func(), err error)) *Map {
	m := &Map{next: base, limit: limit, allocate: allocate, lazy: allocate == nil, params: &Allocation{Allocation: probe.Allocation{Base: probe.ParamBase, Kind: probe.ParameterMemory}}}
	if m.lazy {
		m.allocate = reserve
	}
	m.insert(m.params)
	return m
}

// SizeParams sets the size of the parameter block to n bytes, and returns the block.
func (m *Map) SizeParams(n int) *Allocation {
	a := m.params
	if n > cap(a.Data) {
		a.Data = AlignedBytes(max(uint64(n), paramSize))
		a.setPointer()
	}
	a.Data = a.Data[:n]
	m.changes.Lock()
	a.Size, a.Span = uint64(n), uint64(n)
	m.changes.Unlock()
	if m.ShadowBytes > 0 {
		a.Shadow = make([]byte, m.ShadowBytes*n)
	}
	return a
}

// Parameters returns a copy of the parameter block.
func (m *Map) Parameters() []byte { return slices.Clone(m.params.Data) }

// ParameterShadow returns a copy of the shadow bytes of the parameter block.
func (m *Map) ParameterShadow() []byte { return slices.Clone(m.params.Shadow) }

// Used returns the number of live bytes, without mapped memory.
func (m *Map) Used() uint64 {
	m.changes.RLock()
	defer m.changes.RUnlock()
	return m.used
}

// Obstacle returns a live allocation that overlaps the windows of shared memory of a cluster of n CTAs; nil if there is
// none.
func (m *Map) Obstacle(n int) *Allocation {
	for rank := 1; rank < n; rank++ {
		from := SharedAddress(rank)
		for i := m.indexAfter(from + probe.WindowSize - 1); i > 0 && m.allocs[i-1].Base+m.allocs[i-1].Span > from; i-- {
			if a := m.allocs[i-1]; !a.Freed {
				return a
			}
		}
	}
	return nil
}

// MayFault reports whether the map has live mapped memory without Permanent, in which an access within bounds may fault on
// the host.
func (m *Map) MayFault() bool {
	m.changes.RLock()
	defer m.changes.RUnlock()
	return m.mayFaultCount > 0
}

// Len returns the number of allocations in the map, including freed allocations.
func (m *Map) Len() int { return len(m.allocs) }

// Each calls visit for every allocation in the map, including freed allocations, in the order of their addresses.
func (m *Map) Each(visit func(a *Allocation)) {
	for _, a := range m.allocs {
		visit(a)
	}
}

// ErrOutOfMemory is the error of an allocation that exceeds the memory of the device or of the host.
var ErrOutOfMemory = errors.New("out of device memory")

// AlignedBytes makes n zero bytes at an address that is a multiple of 8.
func AlignedBytes(n uint64) []byte {
	words := make([]uint64, (n+7)/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
}

// Alloc allocates size zero bytes of device memory. The error wraps ErrOutOfMemory.
func (m *Map) Alloc(size uint64, kind probe.AllocationKind, name string) (*Allocation, error) {
	a, err := m.newAllocation(size, kind, name)
	if err != nil {
		return nil, err
	}
	if err := m.allocateBacking(a); err != nil {
		return nil, err
	}
	m.insertNext(a)
	return a, nil
}

// AllocOver is like Alloc, with bytes of the caller instead of new ones. They must stay accessible until the allocation is
// freed, and must begin at a multiple of 16 bytes. mapping is ReadOnly or 0.
func (m *Map) AllocOver(data []byte, kind probe.AllocationKind, name string, mapping Mapping) (*Allocation, error) {
	a, err := m.newAllocation(uint64(len(data)), kind, name)
	if err != nil {
		return nil, err
	}
	a.Data, a.mapping, a.OfHost = data, mapping, true
	if err := m.allocateShadow(a); err != nil {
		return nil, err
	}
	a.setPointer()
	m.insertNext(a)
	return a, nil
}

// newAllocation makes an allocation of size bytes at the next address, without bytes and not in the map. The error wraps
// ErrOutOfMemory.
func (m *Map) newAllocation(size uint64, kind probe.AllocationKind, name string) (*Allocation, error) {
	if size > m.limit || m.used+size > m.limit {
		return nil, fmt.Errorf("%w: %d bytes requested, %d of %d are in use", ErrOutOfMemory, size, m.used, m.limit)
	}
	return &Allocation{Allocation: probe.Allocation{Base: m.place(size), Size: size, Span: size, Kind: kind, Name: name}}, nil
}

// insertNext adds the allocation of newAllocation to the map.
func (m *Map) insertNext(a *Allocation) {
	m.changes.Lock()
	defer m.changes.Unlock()
	m.next = a.Base + a.Size + allocGap
	m.used += a.Size
	m.insert(a)
}

// AllocOnHost allocates size zero bytes whose device address is their host address.
func (m *Map) AllocOnHost(size uint64, name string) (*Allocation, error) {
	data, release, err := m.allocate(size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOutOfMemory, err)
	}
	a, err := m.Attach(uint64(uintptr(unsafe.Pointer(unsafe.SliceData(data)))), data, name, Permanent)
	if err != nil {
		if release != nil {
			release()
		}
		return nil, err
	}
	a.release = release
	return a, nil
}

// Alignment returns the alignment in bytes of an allocation of size bytes.
func Alignment(size uint64) uint64 {
	if size >= largeAlloc {
		return largeAlign
	}
	return allocAlign
}

// place returns the address for an allocation of size bytes: the first aligned address from m.next on that is at least
// allocGap bytes away from all other memory.
func (m *Map) place(size uint64) uint64 {
	align := Alignment(size)
	for addr := m.next; ; {
		addr = (addr + align - 1) / align * align
		i := m.indexAfter(addr + size + allocGap)
		if i == 0 {
			return addr
		}
		end := m.allocs[i-1].Base + m.allocs[i-1].Span
		if end <= addr {
			return addr
		}
		addr = end + allocGap
	}
}

// OpenWorkspace makes the workspace of a cooperative launch, in which the grid barrier counts its arrivals; Free removes it
// from the map. It lies at WorkspaceBase, or after the workspaces of the other launches in flight. It consists of a word with its size in bytes and a word that is 0 (struct grid_workspace of CUDA's
// cooperative_groups/details/driver_abi.h).
func (m *Map) OpenWorkspace() *Allocation {
	const size = 8
	base := uint64(WorkspaceBase)
	for used := m.Lookup(base); used != nil && !used.Freed; used = m.Lookup(base) {
		base += workspaceDistance
	}
	a := &Allocation{Allocation: probe.Allocation{Base: base, Size: size, Span: size, Data: AlignedBytes(size), Kind: probe.WorkspaceMemory}}
	if m.ShadowBytes > 0 {
		a.Shadow = make([]byte, size*m.ShadowBytes)
	}
	a.Data[0] = size
	a.setPointer()
	m.changes.Lock()
	defer m.changes.Unlock()
	m.insert(a)
	return a
}

// Attach maps host memory at a device address. It fails if the range begins in or below the windows, or overlaps a live
// allocation. Freed allocations in the range are forgotten.
func (m *Map) Attach(addr uint64, data []byte, name string, mapping Mapping) (*Allocation, error) {
	size := uint64(len(data))
	if addr < windowsEnd || addr+size < addr {
		return nil, fmt.Errorf("memory of %d bytes at %#x: addresses below %#x are windows of shared and local memory", size, addr, windowsEnd)
	}
	i := m.indexAfter(addr)
	if i > 0 && addr-m.allocs[i-1].Base < m.allocs[i-1].Span {
		i--
	}
	j := i // allocs[i:j] overlap
	for ; j < len(m.allocs) && m.allocs[j].Base < addr+size; j++ {
		if !m.allocs[j].Freed {
			return nil, fmt.Errorf("memory of %d bytes at %#x overlaps %s", size, addr, m.allocs[j].String())
		}
	}
	a := &Allocation{Allocation: probe.Allocation{Base: addr, Size: size, Span: size, Data: data, Kind: probe.HostMemory, Name: name}, mapping: mapping}
	if err := m.allocateShadow(a); err != nil {
		return nil, err
	}
	a.setPointer()
	m.changes.Lock()
	defer m.changes.Unlock()
	m.freedCount -= j - i
	m.allocs = slices.Delete(m.allocs, i, j)
	m.mapped++
	if mapping&Permanent == 0 {
		m.mayFaultCount++
		a.standIn = &Allocation{Allocation: probe.Allocation{Base: addr}, memory: a}
	}
	m.insert(a)
	return a, nil
}

// allocateBacking provides the bytes of an allocation and its shadow bytes. The error wraps ErrOutOfMemory.
func (m *Map) allocateBacking(a *Allocation) (err error) {
	if a.Data, a.release, err = m.allocate(a.Size); err != nil {
		return fmt.Errorf("%w: %w", ErrOutOfMemory, err)
	}
	a.reserved = m.lazy && a.Size >= lazyThreshold
	if err = m.allocateShadow(a); err != nil {
		a.releaseMemory()
		return err
	}
	a.setPointer()
	return nil
}

// allocateShadow provides the shadow bytes of an allocation, if the map keeps any. The error wraps ErrOutOfMemory.
func (m *Map) allocateShadow(a *Allocation) (err error) {
	if m.ShadowBytes == 0 {
		return nil
	}
	if a.Shadow, a.releaseShadow, err = reserve(uint64(m.ShadowBytes) * a.Size); err != nil {
		return fmt.Errorf("%w for the shadow of %d bytes: %w", ErrOutOfMemory, a.Size, err)
	}
	return nil
}

// releaseMemory frees the bytes and the shadow of an allocation.
func (a *Allocation) releaseMemory() {
	a.Data, a.Ptr, a.Shadow = nil, nil, nil
	for _, release := range []func(){a.release, a.releaseShadow} {
		if release != nil {
			release()
		}
	}
	a.release, a.releaseShadow = nil, nil
}

// insert adds an allocation to the map. The caller must hold m.changes, unless it has just made the map.
func (m *Map) insert(a *Allocation) {
	m.allocs = slices.Insert(m.allocs, m.indexAfter(a.Base), a)
}

// Zero sets all bytes of the allocation to 0. Untouched pages of reserved memory stay untouched.
func (a *Allocation) Zero() {
	if a.reserved {
		hostmem.Zero(a.Data)
		return
	}
	clear(a.Data)
}

// Close frees all allocations. The map and its memory must not be used afterwards.
func (m *Map) Close() {
	m.changes.Lock()
	list := m.allocs
	m.allocs, m.used = nil, 0
	m.changes.Unlock()
	for _, a := range list {
		a.Freed, a.Size = true, 0
		a.releaseMemory()
	}
}

// Free frees an allocation. Its address range stays in the map as freed; the workspace of a cooperative launch is removed.
func (m *Map) Free(a *Allocation) {
	m.markFreed(a)
	a.releaseMemory()
}

// markFreed makes an allocation freed in the map, without releasing its memory.
func (m *Map) markFreed(a *Allocation) {
	m.changes.Lock()
	defer m.changes.Unlock()
	a.Freed, a.Size = true, 0
	switch a.Kind {
	case probe.WorkspaceMemory:
		i := m.indexAfter(a.Base) - 1
		m.allocs = slices.Delete(m.allocs, i, i+1)
		return
	case probe.HostMemory:
		m.mapped--
		if a.mapping&Permanent == 0 {
			m.mayFaultCount--
		}
	default:
		m.used -= a.Span
	}
	if m.freedCount++; m.freedCount >= 2*MaxFreed {
		m.dropOldest()
	}
}

// dropOldest removes freed allocations from the map, except the MaxFreed with the highest addresses, which were made last.
// The caller must hold m.changes.
func (m *Map) dropOldest() {
	m.allocs = slices.DeleteFunc(m.allocs, func(a *Allocation) bool {
		drop := a.Freed && m.freedCount > MaxFreed
		if drop {
			m.freedCount--
		}
		return drop
	})
}

// indexAfter returns the index in allocs of the first allocation whose base is greater than the address.
func (m *Map) indexAfter(addr uint64) int {
	return sort.Search(len(m.allocs), func(i int) bool { return m.allocs[i].Base > addr })
}

// Lookup is Find for goroutines that do not hold the device's lock. It can be called at any time.
func (m *Map) Lookup(addr uint64) *Allocation {
	m.changes.RLock()
	defer m.changes.RUnlock()
	return m.Find(addr)
}

// Find returns the allocation, live or freed, whose range contains the address; nil if there is none.
func (m *Map) Find(addr uint64) *Allocation {
	i := m.indexAfter(addr)
	if i == 0 {
		return nil
	}
	if a := m.allocs[i-1]; addr-a.Base < a.Span {
		return a
	}
	return nil
}

// nearest returns the allocation whose range is closest to the address, or nil if the map is empty.
func (m *Map) nearest(addr uint64) *Allocation {
	i := m.indexAfter(addr)
	var best *Allocation
	for _, j := range []int{i - 1, i} {
		if j < 0 || j >= len(m.allocs) {
			continue
		}
		if a := m.allocs[j]; best == nil || distance(a, addr) < distance(best, addr) {
			best = a
		}
	}
	return best
}

// distance returns the distance of an address from the range of an allocation in bytes: 0 inside the range, 1 at its end.
func distance(a *Allocation, addr uint64) uint64 {
	switch {
	case addr < a.Base:
		return a.Base - addr
	case addr >= a.Base+a.Span:
		return addr - (a.Base + a.Span) + 1
	}
	return 0
}

// Pointers returns the words of size bytes of the parameter block, at multiples of size, whose values may be pointers to
// device memory, by offset.
func (m *Map) Pointers(size int) (list []probe.Pointer) {
	i := m.indexAfter(windowsEnd - 1)
	if i == len(m.allocs) {
		return nil
	}
	end := m.allocs[len(m.allocs)-1]
	first, last := m.allocs[i].Base, end.Base+end.Span+allocGap
	for offset := 0; offset+size <= len(m.params.Data); offset += size {
		v := uint64(0)
		for i := size - 1; i >= 0; i-- {
			v = v<<8 | uint64(m.params.Data[offset+i])
		}
		if v < first || v >= last {
			continue
		}
		p := probe.Pointer{Offset: offset}
		if a := m.Find(v); a != nil && !a.Freed && a.Kind.Opaque() == "" {
			p.Memory = a.Public()
			p.Begin, p.End = m.neighbours(a)
		}
		list = append(list, p)
	}
	return list
}

// neighbours returns the bounds of the contiguous live memory that contains a live allocation.
func (m *Map) neighbours(a *Allocation) (begin, end uint64) {
	begin, end = a.Base, a.Base+a.Size
	next := m.indexAfter(a.Base) // index of the next allocation
	for i := next; i < len(m.allocs) && m.allocs[i].Base == end && !m.allocs[i].Freed; i++ {
		end += m.allocs[i].Size
	}
	for i := next - 2; i >= 0 && m.allocs[i].Base+m.allocs[i].Size == begin && !m.allocs[i].Freed; i-- {
		begin = m.allocs[i].Base
	}
	return begin, end
}
