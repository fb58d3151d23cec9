// Package mem is the memory of a device: the map of its allocations, what an address
// means, and the accesses of a row of lanes to it.
//
// Global and constant variables, buffers, the device heap and the parameter block
// are allocations in one address map; an address in .global, .const or .param space
// is the same number as the generic address. Memory of the host can
// be mapped at an address of the caller's choice. Shared and local memory are
// windows of the generic address space (window.go). What an access goes to, or why
// it may not, is found out in one place (resolve.go); the accesses themselves are
// loops over rows (row.go). Where everything lies is said in docs/addresses.md.
//
// The package knows nothing of warps or instructions: a fault is a value.
package mem

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unsafe"

	"gemu/internal/hostmem"
	"gemu/ptx"
)

const (
	// FirstAddress is where device memory begins by default.
	FirstAddress = 0x1000_0000

	// Allocations keep this distance, so that running past the end of one does
	// not enter the next.
	allocGap = 256

	// Allocations begin at multiples of allocAlign, those of largeAlloc bytes and more at
	// multiples of largeAlign, as on a GPU, whose large ones are of whole pages.
	allocAlign = 512
	largeAlloc = 1 << 20
	largeAlign = 2 << 20

	// MaxFreed is how many of the allocations that were freed last are kept at least,
	// so that their use can be named.
	MaxFreed = 1 << 16
)

// Kind says what an allocation is.
type Kind uint8

const (
	Buffer      Kind = iota // the caller's
	Variable                // a .global variable
	Constant                // a .const variable
	Params                  // the parameter block
	Heap                    // device-side malloc
	SharedBlock             // the shared memory of a CTA, at its window
	Mapped                  // memory of the host
	Workspace               // what the CTAs of a cooperative launch meet at
	PerCTA                  // of a launch: slices of global memory, each of a CTA
	Array                   // texels, which only textures and surfaces reach
	TexRef                  // a .texref variable: a handle, which only its binding changes
	SamplerRef
	SurfRef
)

// Allocation is a piece of memory with an address range of its own.
type Allocation struct {
	Base  uint64
	Size  uint64 // bytes that may be accessed: 0 once it is dead
	Span  uint64 // bytes of the address range
	Data  []byte // Size bytes, 8-byte aligned
	Ptr   unsafe.Pointer
	Kind  Kind
	Name  string
	Freed bool // freed; kept so that its use can be named

	// Shadow holds Map.ShadowBytes for each byte of Data, zero at first; nil if the
	// map keeps none. What they mean is their writer's business. Those of shared memory are
	// the CTA's.
	Shadow []byte

	mapping       Mapping // of memory of the host
	release       func()  // gives Data back; may be nil
	releaseShadow func()  // gives Shadow back; may be nil
	reserved      bool    // Data are pages that hostmem.Reserve has given
}

// Mapping says what is true of memory of the host while it is mapped.
type Mapping uint8

// What may be true of it.
const (
	ReadOnly  Mapping = 1 << iota // kernels may not change it
	Permanent                     // it is there, and may be read, and changed if kernels may do so: no access faults on the host
)

// NewShared makes the shared memory of a CTA of the device, of the given size in bytes. Zeros follow it up to the end of its
// allocation unit: see SharedUnit.
func (m *Map) NewShared(size uint64) *Allocation {
	a := &Allocation{Base: SharedWindow, Size: size, Span: size, Data: AlignedBytes(roundUp(size, maxSharedUnit))[:size], Kind: SharedBlock}
	if m.ShadowBytes > 0 {
		a.Shadow = make([]byte, uint64(m.ShadowBytes)*size)
	}
	a.setPointer()
	return a
}

// AddToCluster makes shared memory, which is of the CTA of a rank in its cluster from now on, its
// own again if the one that had it has exited.
func (a *Allocation) AddToCluster(rank int) {
	a.Base, a.Size, a.Freed = SharedAddress(rank), uint64(len(a.Data)), false
}

// RemoveFromCluster is the end of the CTA whose shared memory it is.
func (a *Allocation) RemoveFromCluster() { a.Size, a.Freed = 0, true }

// setPointer makes Ptr follow Data.
func (a *Allocation) setPointer() { a.Ptr = unsafe.Pointer(unsafe.SliceData(a.Data)) }

// Slice is a copy of what the allocation has from one address up to another, as far as it
// goes, for who looks there alone: no map has it.
//
//go:norace
func (a *Allocation) Slice(from, to uint64) *Allocation {
	from, to = max(from, a.Base), min(to, a.Base+a.Size)
	part := &Allocation{Base: from, Size: to - from, Span: to - from, Data: AlignedBytes(to - from), Kind: a.Kind, Name: a.Name}
	part.setPointer()
	copy(part.Data, a.Data[from-a.Base:])
	return part
}

// String names the allocation in messages, and says where it is.
func (a *Allocation) String() string {
	return fmt.Sprintf("%s [%#x, %#x) of %d bytes", a.Label(), a.Base, a.Base+a.Span, a.Span)
}

// Label is what messages call the allocation.
func (a *Allocation) Label() string {
	name := a.Name
	switch a.Kind {
	case Buffer:
		if name == "" {
			name = "buffer"
		} else {
			name = "buffer " + name
		}
	case Variable:
		name = "variable " + name
	case Constant:
		name = ".const variable " + name
	case Params:
		name = "kernel parameters"
	case Heap:
		name = "heap block"
	case SharedBlock:
		name = "shared memory"
	case Mapped:
		if name == "" {
			name = "host memory"
		}
	case Workspace:
		name = "grid workspace"
	case PerCTA:
		name = "per-CTA memory"
	case Array:
		name = strings.TrimSpace("array " + name)
	case TexRef, SamplerRef, SurfRef:
		name = a.Kind.opaque() + " " + name
	}
	return name
}

// opaque is what memory is that loads and stores do not reach, "" of other memory.
func (k Kind) opaque() string {
	switch k {
	case Array:
		return "the array of a texture or surface"
	case TexRef:
		return ".texref variable"
	case SamplerRef:
		return ".samplerref variable"
	case SurfRef:
		return ".surfref variable"
	}
	return ""
}

// Space is the state space the allocation belongs to.
func (a *Allocation) Space() ptx.Space {
	switch a.Kind {
	case Constant:
		return ptx.Const
	case Params:
		return ptx.Param
	case SharedBlock:
		return ptx.Shared
	}
	return ptx.Global
}

// Map is the address map of a device. Addresses are never used twice, so
// that a stale pointer is always found out; but those of mapped memory are the
// caller's.
type Map struct {
	// ShadowBytes is how many shadow bytes each byte of an allocation has that is
	// made from now on.
	ShadowBytes int

	allocs        []*Allocation // by base, dead ones included
	next          uint64
	used          uint64 // bytes alive, mapped ones left out
	limit         uint64
	freedCount    int    // of allocs
	stateBytes    uint64 // bytes of pages that were saved
	mapped        int    // likewise
	mayFaultCount int    // … of them those that are not Lasting
	params        *Allocation
	allocate      func(size uint64) (data []byte, release func(), err error)
	lazy          bool // allocate is reserve
}

// lazyThreshold is the size from which memory is reserved outside Go's heap. Less is cheaper there, and is collected when nobody has it.
const lazyThreshold = 32 << 20

// reserve provides zero bytes: of Go's heap, or, if they are many, pages that take memory of the host when they are touched.
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

// NewMap makes a map whose allocations begin at address base and have at most
// limit bytes together. allocate provides the memory behind them (zero bytes at an
// address that is a multiple of 16) and the function that takes it back, which may
// be nil; without it, memory is of Go's heap, or reserved where it is much.
func NewMap(base, limit uint64, allocate func(size uint64) (data []byte, release func(), err error)) *Map {
	m := &Map{next: base, limit: limit, allocate: allocate, lazy: allocate == nil, params: &Allocation{Base: ParamBase, Kind: Params}}
	if m.lazy {
		m.allocate = reserve
	}
	m.insert(m.params)
	return m
}

// SizeParams makes the parameter block one of n bytes.
func (m *Map) SizeParams(n int) *Allocation {
	a := m.params
	if n > cap(a.Data) {
		a.Data = AlignedBytes(max(uint64(n), paramSize))
		a.setPointer()
	}
	a.Data = a.Data[:n]
	a.Size, a.Span = uint64(n), uint64(n)
	if m.ShadowBytes > 0 {
		a.Shadow = make([]byte, m.ShadowBytes*n)
	}
	return a
}

// Used is the number of bytes alive, mapped ones left out.
func (m *Map) Used() uint64 { return m.used }

// Obstacle is an allocation that lies where the shared memory of CTAs of a cluster of n does;
// nil if none does.
func (m *Map) Obstacle(n int) *Allocation {
	for rank := 1; rank < n; rank++ {
		from := SharedAddress(rank)
		for i := m.after(from + WindowSize - 1); i > 0 && m.allocs[i-1].Base+m.allocs[i-1].Span > from; i-- {
			if a := m.allocs[i-1]; !a.Freed {
				return a
			}
		}
	}
	return nil
}

// MayFault reports whether there is memory of the host in the map that is not Lasting: accesses within its bounds may fault.
func (m *Map) MayFault() bool { return m.mayFaultCount > 0 }

// Len is the number of allocations known, dead ones included.
func (m *Map) Len() int { return len(m.allocs) }

// Each calls do with every allocation known, dead ones included, by base.
func (m *Map) Each(visit func(a *Allocation)) {
	for _, a := range m.allocs {
		visit(a)
	}
}

// ErrOutOfMemory is the error of an allocation beyond the device's memory.
var ErrOutOfMemory = errors.New("out of device memory")

// AlignedBytes makes n zero bytes that begin at a multiple of 8.
func AlignedBytes(n uint64) []byte {
	words := make([]uint64, (n+7)/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
}

// Alloc allocates size zero bytes. The error wraps ErrOutOfMemory.
func (m *Map) Alloc(size uint64, kind Kind, name string) (*Allocation, error) {
	if size > m.limit || m.used+size > m.limit {
		return nil, fmt.Errorf("%w: %d bytes wanted, %d of %d in use", ErrOutOfMemory, size, m.used, m.limit)
	}
	a := &Allocation{Base: m.place(size), Size: size, Span: size, Kind: kind, Name: name}
	if err := m.allocateBacking(a); err != nil {
		return nil, err
	}
	m.next = a.Base + size + allocGap
	m.used += size
	m.insert(a)
	return a, nil
}

// AllocOnHost allocates size zero bytes at the address that they have on the host.
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

// Alignment is what the address of an allocation of size bytes is a multiple of.
func Alignment(size uint64) uint64 {
	if size >= largeAlloc {
		return largeAlign
	}
	return allocAlign
}

// place is the address of the next allocation, of size bytes: the first that is aligned
// and keeps its distance to those before it and to mapped memory behind it.
func (m *Map) place(size uint64) uint64 {
	align := Alignment(size)
	for addr := m.next; ; {
		addr = (addr + align - 1) / align * align
		i := m.after(addr + size + allocGap)
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

// OpenWorkspace makes the workspace of a cooperative launch, which Free takes away. It is
// what a grid's barrier counts in: a word with its size in bytes and a word that is 0
// (struct grid_workspace of CUDA's cooperative_groups/details/driver_abi.h).
func (m *Map) OpenWorkspace() *Allocation {
	const size = 8
	a := &Allocation{Base: WorkspaceBase, Size: size, Span: size, Data: AlignedBytes(size), Kind: Workspace}
	if m.ShadowBytes > 0 {
		a.Shadow = make([]byte, size*m.ShadowBytes)
	}
	a.Data[0] = size
	a.setPointer()
	m.insert(a)
	return a
}

// Attach makes memory of the host device memory at an address.
func (m *Map) Attach(addr uint64, data []byte, name string, mapping Mapping) (*Allocation, error) {
	size := uint64(len(data))
	if addr < windowsEnd || addr+size < addr {
		return nil, fmt.Errorf("memory of %d bytes at %#x: addresses below %#x are windows of shared and local memory", size, addr, windowsEnd)
	}
	i := m.after(addr)
	if i > 0 && addr-m.allocs[i-1].Base < m.allocs[i-1].Span {
		i--
	}
	j := i // allocs[i:j] overlap
	for ; j < len(m.allocs) && m.allocs[j].Base < addr+size; j++ {
		if !m.allocs[j].Freed {
			return nil, fmt.Errorf("memory of %d bytes at %#x overlaps %s", size, addr, m.allocs[j].String())
		}
	}
	m.freedCount -= j - i
	m.allocs = slices.Delete(m.allocs, i, j)
	a := &Allocation{Base: addr, Size: size, Span: size, Data: data, Kind: Mapped, Name: name, mapping: mapping}
	if err := m.allocateShadow(a); err != nil {
		return nil, err
	}
	a.setPointer()
	m.mapped++
	if mapping&Permanent == 0 {
		m.mayFaultCount++
	}
	m.insert(a)
	return a, nil
}

// allocateBacking makes the memory behind an allocation, and its shadow. The error wraps ErrOutOfMemory.
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

// allocateShadow makes the shadow bytes of an allocation, if the map keeps some. The error wraps ErrOutOfMemory.
func (m *Map) allocateShadow(a *Allocation) (err error) {
	if m.ShadowBytes == 0 {
		return nil
	}
	if a.Shadow, a.releaseShadow, err = reserve(uint64(m.ShadowBytes) * a.Size); err != nil {
		return fmt.Errorf("%w for the shadow of %d bytes: %w", ErrOutOfMemory, a.Size, err)
	}
	return nil
}

// releaseMemory gives back the memory of an allocation.
func (a *Allocation) releaseMemory() {
	a.Data, a.Ptr, a.Shadow = nil, nil, nil
	for _, release := range []func(){a.release, a.releaseShadow} {
		if release != nil {
			release()
		}
	}
	a.release, a.releaseShadow = nil, nil
}

// insert adds an allocation to the map.
func (m *Map) insert(a *Allocation) {
	m.allocs = slices.Insert(m.allocs, m.after(a.Base), a)
}

// Zero makes all bytes of the allocation 0. Pages that nobody has touched stay untouched.
func (a *Allocation) Zero() {
	if a.reserved {
		hostmem.Zero(a.Data)
		return
	}
	clear(a.Data)
}

// Close gives back the memory of all allocations. Nothing may be accessed any more.
func (m *Map) Close() {
	for _, a := range m.allocs {
		a.Freed, a.Size = true, 0
		a.releaseMemory()
	}
	m.allocs, m.used = nil, 0
}

// Free releases the memory but keeps the address range known as dead.
func (m *Map) Free(a *Allocation) {
	a.Freed = true
	a.Size = 0
	a.releaseMemory()
	switch a.Kind {
	case Workspace:
		i := m.after(a.Base) - 1
		m.allocs = slices.Delete(m.allocs, i, i+1)
		return
	case Mapped:
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

// dropOldest drops dead allocations but for the MaxFreed at the highest addresses,
// the latest.
func (m *Map) dropOldest() {
	m.allocs = slices.DeleteFunc(m.allocs, func(a *Allocation) bool {
		drop := a.Freed && m.freedCount > MaxFreed
		if drop {
			m.freedCount--
		}
		return drop
	})
}

// after is the index of the first allocation whose base lies behind the address.
func (m *Map) after(addr uint64) int {
	return sort.Search(len(m.allocs), func(i int) bool { return m.allocs[i].Base > addr })
}

// Find returns the allocation that covers the address, dead or alive.
func (m *Map) Find(addr uint64) *Allocation {
	i := m.after(addr)
	if i == 0 {
		return nil
	}
	if a := m.allocs[i-1]; addr-a.Base < a.Span {
		return a
	}
	return nil
}

// nearest returns the allocation whose range is closest to the address, nil if
// there is none.
func (m *Map) nearest(addr uint64) *Allocation {
	i := m.after(addr)
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

func distance(a *Allocation, addr uint64) uint64 {
	switch {
	case addr < a.Base:
		return a.Base - addr
	case addr >= a.Base+a.Span:
		return addr - (a.Base + a.Span) + 1
	}
	return 0
}

// Pointer is a word of the kernel's parameters whose value is an address of device memory.
type Pointer struct {
	Offset int         // from ParamBase
	Memory *Allocation // that it points into; nil: into none, but it lies among those there are

	// Memory from Begin up to End, without a gap: that allocation alone, unless memory of the host
	// is mapped right beside it.
	Begin, End uint64
}

// Pointers are the words of size bytes of the parameters, each at a multiple of that, whose values are
// addresses of device memory, by offset.
func (m *Map) Pointers(size int) (list []Pointer) {
	i := m.after(windowsEnd - 1)
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
		p := Pointer{Offset: offset}
		if a := m.Find(v); a != nil && !a.Freed && a.Kind.opaque() == "" {
			p.Memory = a
			p.Begin, p.End = m.neighbours(a)
		}
		list = append(list, p)
	}
	return list
}

// neighbours is the memory around an allocation that is alive, itself included, without a gap.
func (m *Map) neighbours(a *Allocation) (begin, end uint64) {
	begin, end = a.Base, a.Base+a.Size
	at := m.after(a.Base) // behind it
	for i := at; i < len(m.allocs) && m.allocs[i].Base == end && !m.allocs[i].Freed; i++ {
		end += m.allocs[i].Size
	}
	for i := at - 2; i >= 0 && m.allocs[i].Base+m.allocs[i].Size == begin && !m.allocs[i].Freed; i-- {
		begin = m.allocs[i].Base
	}
	return begin, end
}
