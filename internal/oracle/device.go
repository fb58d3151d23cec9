package oracle

// This file has device memory as docs/addresses.md places it: allocations and the parameter block by address, and the
// accesses that they allow.

import (
	"fmt"
	"io"
	"slices"

	"gemu/ptx"
)

// Fixed addresses (docs/addresses.md).
const (
	workspace    = 0x000e_0000
	paramBlock   = 0x000f_0000
	sharedWindow = 0x0010_0000
	localWindow  = 0x0020_0000
	windowSize   = 0x0010_0000
	functions    = 0x0400_0000
	handles      = 0x0800_0000
	deviceMemory = 0x1000_0000

	functionSize = 16
	handleSize   = 16
	distance     = 256     // least distance in bytes from the end of an allocation to the next
	granule      = 512     // allocations begin at multiples of it
	page         = 2 << 20 // allocations of half a page or more begin at multiples of it
)

// Config is the configuration of a device. The zero value is the same as interp.Config's.
type Config struct {
	Memory uint64    // bytes that may be allocated; 0 means 16 GiB
	Heap   uint64    // bytes of Memory for malloc; 0 means 256 MiB
	Stack  int       // bytes of local memory of a thread, at most 1 MiB; 0 means 512 KiB
	Base   uint64    // first address of device memory; 0 means 0x1000_0000
	SM     int       // compute capability; 0 means 86
	Stdout io.Writer // receives printed text; may be nil

	// WMMAAlignment tolerates wmma.load and wmma.store at addresses that are aligned for each piece of a row that a
	// lane accesses, but less than the manual requires.
	WMMAAlignment bool
	// SharedUnit is the unit in bytes in which a GPU allocates shared memory: loads from the rest of the last unit
	// return zeros. 0: they trap.
	SharedUnit int
}

// Device is a GPU: memory, and the modules loaded into it.
type Device struct {
	cfg            Config
	allocations    []*allocation
	params         *allocation
	nextAddr       uint64 // lower limit for the next allocation
	heapUsed, heap uint64 // bytes of all allocations, and of malloc's
	functions      uint64 // number of functions with an address
	launches       uint64
	objects        map[uint64]*Object // textures, surfaces and samplers, by handle
}

// allocationKind is the kind of an allocation.
type allocationKind uint8

const (
	buffer allocationKind = iota
	variable
	constant
	params
	hidden // not accessible to loads and stores
	heap
	mapped
	readOnly // mapped and read-only
)

// spaces holds the state space of each kind.
var spaces = [...]ptx.Space{ptx.Global, ptx.Global, ptx.Const, ptx.Param, ptx.Global, ptx.Global, ptx.Global, ptx.Global}

// allocation is a block of device memory.
type allocation struct {
	kind allocationKind
	base uint64
	data []byte
}

// end is the first address after the allocation.
func (a *allocation) end() uint64 { return a.base + uint64(len(a.data)) }

func (a *allocation) space() ptx.Space { return spaces[a.kind] }

// NewDevice makes a device.
func NewDevice(cfg Config) *Device {
	if cfg.Memory == 0 {
		cfg.Memory = 16 << 30
	}
	if cfg.SM == 0 {
		cfg.SM = 86
	}
	if cfg.Heap == 0 {
		cfg.Heap = 256 << 20
	}
	if cfg.Stack == 0 {
		cfg.Stack = 512 << 10
	}
	cfg.Stack = min(cfg.Stack, windowSize)
	if cfg.Base == 0 {
		cfg.Base = deviceMemory
	}
	d := &Device{cfg: cfg, nextAddr: cfg.Base, params: &allocation{kind: params, base: paramBlock}}
	d.allocations = append(d.allocations, d.params)
	return d
}

// Alloc allocates size zero bytes of global memory.
func (d *Device) Alloc(size uint64) (addr uint64, err error) { return d.allocate(buffer, size) }

// Free frees the allocation at an address.
func (d *Device) Free(addr uint64) error {
	for i, a := range d.allocations {
		if a.base == addr && a != d.params {
			d.allocations = slices.Delete(d.allocations, i, i+1)
			if a.kind < mapped {
				d.heapUsed -= uint64(len(a.data))
			}
			if a.kind == heap {
				d.heap -= uint64(len(a.data)) + blockCost
			}
			return nil
		}
	}
	return fmt.Errorf("nothing was allocated at %#x", addr)
}

// Map maps data at an address of global memory; fixed makes it read-only.
func (d *Device) Map(addr uint64, data []byte, fixed bool) {
	a := &allocation{kind: mapped, base: addr, data: data}
	if fixed {
		a.kind = readOnly
	}
	d.allocations = append(d.allocations, a)
}

// Bytes returns the memory of the allocation that begins at an address; nil if there is none.
func (d *Device) Bytes(addr uint64) []byte {
	for _, a := range d.allocations {
		if a.base == addr {
			return a.data
		}
	}
	return nil
}

// blockCost is the overhead of a heap block in bytes.
const blockCost = 256

// Malloc allocates from the heap, as kernels do. It returns 0 if the heap is full.
func (d *Device) Malloc(size uint64) uint64 {
	if size == 0 || size > d.cfg.Heap || d.heap+size+blockCost > d.cfg.Heap {
		return 0
	}
	addr, err := d.allocate(heap, size)
	if err != nil {
		return 0
	}
	d.heap += size + blockCost
	return addr
}

// allocate makes an allocation at the next free address.
func (d *Device) allocate(k allocationKind, size uint64) (uint64, error) {
	if size > d.cfg.Memory-d.heapUsed {
		return 0, fmt.Errorf("%d bytes wanted, %d of %d are in use", size, d.heapUsed, d.cfg.Memory)
	}
	alignment := uint64(granule)
	if size >= page/2 {
		alignment = page
	}
	address := align(d.nextAddr, alignment)
	for i := 0; i < len(d.allocations); i++ {
		if a := d.allocations[i]; address < a.end() && a.base <= address+size+distance {
			address = align(a.end()+distance, alignment)
			i = -1 // check all allocations again
		}
	}
	d.allocations = append(d.allocations, &allocation{kind: k, base: address, data: make([]byte, size)})
	d.nextAddr = address + size + distance
	d.heapUsed += size
	return address, nil
}

// findAllocation returns the allocation that contains an address; nil if there is none.
func (d *Device) findAllocation(addr uint64) *allocation {
	for _, a := range d.allocations {
		if addr-a.base < uint64(len(a.data)) {
			return a
		}
	}
	return nil
}

// bytesAt returns n bytes at an address of the space, which may be generic. The error describes why the access is
// invalid.
func (d *Device) bytesAt(space ptx.Space, addr uint64, n int, store bool) (*allocation, []byte, error) {
	a := d.findAllocation(addr)
	switch {
	case a == nil:
		return nil, nil, fmt.Errorf("nothing is at %#x", addr)
	case a.end()-addr < uint64(n):
		return nil, nil, fmt.Errorf("%d bytes at %#x are not all in the allocation, which ends at %#x", n, addr, a.end())
	case store && (a.kind == constant || a.kind == params || a.kind == readOnly):
		return nil, nil, fmt.Errorf("store to %#x, which is not to be changed", addr)
	case a.kind == hidden:
		return nil, nil, fmt.Errorf("%#x is of a texture, surface or sampler", addr)
	// Kernel parameters are part of the global window (manual 9.7.9.19).
	case space != ptx.Generic && space != a.space() && !(space == ptx.Global && a.kind == params):
		return nil, nil, fmt.Errorf("%#x is %s memory, not %s", addr, a.space(), space)
	}
	return a, a.data[addr-a.base:][:n], nil
}
