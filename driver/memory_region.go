package driver

// This file holds the map of the memory accessible to kernels.

import (
	"fmt"
	"slices"
	"sort"

	"gemu/interp"
	"gemu/probe"
)

// regionKind is the origin of a region.
type regionKind uint8

const (
	deviceRegion     regionKind = iota // cuMemAlloc
	variableRegion                     // a variable of a module
	managedRegion                      // cuMemAllocManaged, or a variable with .managed
	hostRegion                         // cuMemHostAlloc
	registeredRegion                   // cuMemHostRegister
	mappedRegion                       // cuMemMap
	openedRegion                       // cuIpcOpenMemHandle
	sharedRegion                       // gemu_share of libgemu
)

// region is a range of memory accessible to kernels.
type region struct {
	addr       uint64
	size       uint64
	data       []byte
	kind       regionKind
	ctx        *Context       // nil for mapped memory, which belongs to no context
	module     *Module        // module of a variable; nil otherwise
	flags      uint32         // flags of host memory
	pool       *Pool          // pool of stream-ordered memory; nil otherwise
	fileOffset uint64         // offset in the file of a pool shared between processes, in bytes
	mapping    *mapping       // mapping of mapped memory; nil otherwise
	graph      *allocWork     // graph that allocated the memory; nil otherwise
	opened     *openedMemory  // opened memory of another process; nil otherwise
	charge     uint64         // bytes counted as used on the device
	buf        *interp.Buffer // nil for a variable, which belongs to its module, and until a stream-ordered allocation has run
	pages      func()         // releases host memory; may be nil
	allocTask  *task          // the allocation of stream-ordered memory or of a graph's memory; nil otherwise
	id         uint64         // number of the region, unique in the process
	hints      []hints        // hints about managed memory, in order of addresses; nil: no advice was given
}

// free releases the region's memory. order is the order of the operation that frees it; nil if no work can use the memory
// any more.
func (r *region) free(order *probe.HostOrder) {
	if r.buf != nil {
		r.buf.FreeOrdered(order)
	}
	if r.pages != nil {
		r.pages()
	}
	if r.graph != nil {
		r.graph.noteFreeEnded(r.ctx.dev.d)
	}
}

// discharge ends the counting of the region as used on its device and in its pool. Memory of a graph becomes free for the
// graph's next launch. The caller must hold d.mu.
func (r *region) discharge() {
	if r.pool == nil {
		r.ctx.dev.used -= r.charge
		if r.graph != nil {
			r.graph.noteFreeSubmitted(r.ctx.dev.d)
		}
		return
	}
	r.pool.device().used -= r.charge
	r.pool.used -= r.size
}

// onHost reports whether the region is host memory.
func (r *region) onHost() bool { return r.kind == hostRegion || r.kind == registeredRegion }

// freeable reports whether cuMemFree may free the region.
func (r *region) freeable() bool {
	return r.kind == deviceRegion || r.kind == sharedRegion || r.pool != nil || r.kind == managedRegion && r.module == nil
}

// device returns the device with the region's memory. The caller must hold d.mu.
func (r *region) device(d *Driver) *Device {
	if r.mapping != nil {
		return d.devices[r.mapping.memory.properties.Location.ID]
	}
	return r.ctx.dev
}

// extent returns the address and the size in bytes of the region; for mapped memory, those of the reservation.
func (r *region) extent() (addr, size uint64) {
	if r.mapping != nil {
		return r.mapping.reservation.addr, r.mapping.reservation.size
	}
	return r.addr, r.size
}

// regions holds the memory accessible to kernels, in order of addresses.
type regions []*region

// after returns the index of the first region that begins after addr.
func (l regions) after(addr uint64) int {
	return sort.Search(len(l), func(i int) bool { return l[i].addr > addr })
}

// find returns the region that contains addr, or nil.
func (l regions) find(addr uint64) *region {
	if i := l.after(addr); i > 0 && addr-l[i-1].addr < l[i-1].size {
		return l[i-1]
	}
	return nil
}

// joined returns a region that consists of r, which must be mapped memory, and of the mappings that follow r in the same
// reservation without a gap.
func (l regions) joined(r *region) *region {
	reservation, end := r.mapping.reservation, r.addr+r.size
	for _, next := range l[l.after(r.addr):] {
		if next.addr != end || next.mapping == nil || next.mapping.reservation != reservation {
			break
		}
		end += next.size
	}
	return &region{addr: r.addr, size: end - r.addr, data: reservation.mem[r.addr-reservation.addr : end-reservation.addr]}
}

func (l *regions) insert(r *region) { *l = slices.Insert(*l, l.after(r.addr), r) }

// take removes the regions for which a condition holds, and returns them.
func (l *regions) take(condition func(*region) bool) []*region {
	var taken []*region
	*l = slices.DeleteFunc(*l, func(r *region) bool {
		if condition(r) {
			taken = append(taken, r)
			return true
		}
		return false
	})
	return taken
}

// remove removes a region.
func (l *regions) remove(r *region) {
	i := l.after(r.addr) - 1
	*l = slices.Delete(*l, i, i+1)
}

// addRegion adds a region to the driver's regions, and gives it an id. The caller must hold d.mu.
func (d *Driver) addRegion(r *region) {
	d.lastHandle += handleStep
	r.id = uint64(d.lastHandle)
	d.regions.insert(r)
}

// deviceBytes returns n bytes of memory accessible to kernels. They must be in a single allocation, or in mappings of a
// reservation without a gap. The caller must hold d.mu.
func (d *Driver) deviceBytes(addr, n uint64) ([]byte, error) {
	r := d.regions.find(addr)
	if r != nil && r.mapping != nil {
		r = d.regions.joined(r)
	}
	if r == nil || n > r.size-(addr-r.addr) {
		detail := ""
		if r != nil {
			detail = fmt.Sprintf(": the address is in memory of %d bytes at %#x", r.size, r.addr)
		}
		return nil, fail(InvalidValue, "%d bytes at %#x are not inside an allocation%s", n, addr, detail)
	}
	return r.data[addr-r.addr:][:n:n], nil
}
