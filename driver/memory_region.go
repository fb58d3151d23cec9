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
)

// region is a range of memory accessible to kernels.
type region struct {
	addr       uint64
	size       uint64
	data       []byte
	kind       regionKind
	ctx        *Context       // nil of mapped memory, which belongs to no context
	module     *Module        // module of a variable; nil otherwise
	flags      uint32         // flags of host memory
	pool       *Pool          // pool of stream-ordered memory; nil otherwise
	fileOffset uint64         // offset in the file of the pool, if any
	mapping    *mapping       // mapping of mapped memory; nil otherwise
	graph      *allocWork     // graph that allocated the memory; nil otherwise
	opened     *openedMemory  // opened memory of another process; nil otherwise
	charge     uint64         // bytes counted as used on the device
	buf        *interp.Buffer // nil of a variable, which belongs to its module, and until a stream-ordered allocation has executed
	pages      func()         // releases host memory; may be nil
	allocTask  *task          // the allocation of stream-ordered memory or of a graph's memory; nil otherwise
	id         uint64
	hints      []hints // hints about managed memory, in order of addresses; nil: no advice was given
}

// free releases the region's memory. order is the place of the free in the order of tasks; nil if no work can still use
// the memory.
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

// discharge subtracts the region from the used bytes of its device and pool. The caller must hold d.mu.
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
	return r.kind == deviceRegion || r.pool != nil || r.kind == managedRegion && r.module == nil
}

// device returns the device with the region's memory. The caller must hold d.mu.
func (r *region) device(d *Driver) *Device {
	if r.mapping != nil {
		return d.devices[r.mapping.memory.properties.Location.ID]
	}
	return r.ctx.dev
}

// extent returns the allocation or reservation around the region.
func (r *region) extent() (addr, size uint64) {
	if r.mapping != nil {
		return r.mapping.reservation.addr, r.mapping.reservation.size
	}
	return r.addr, r.size
}

// regions holds the memory accessible to kernels, in order of addresses.
type regions []*region

func (l regions) after(addr uint64) int {
	return sort.Search(len(l), func(i int) bool { return l[i].addr > addr })
}

// find returns the region at addr, or nil.
func (l regions) find(addr uint64) *region {
	if i := l.after(addr); i > 0 && addr-l[i-1].addr < l[i-1].size {
		return l[i-1]
	}
	return nil
}

// joined returns a region of r and the mappings after it without a gap in the same reservation.
func (l regions) joined(r *region) *region {
	in, end := r.mapping.reservation, r.addr+r.size
	for _, next := range l[l.after(r.addr):] {
		if next.addr != end || next.mapping == nil || next.mapping.reservation != in {
			break
		}
		end += next.size
	}
	return &region{addr: r.addr, size: end - r.addr, data: in.mem[r.addr-in.addr : end-in.addr]}
}

func (l *regions) insert(r *region) { *l = slices.Insert(*l, l.after(r.addr), r) }

// take removes the regions for which a condition holds, and returns them.
func (l *regions) take(which func(*region) bool) []*region {
	var taken []*region
	*l = slices.DeleteFunc(*l, func(r *region) bool {
		if which(r) {
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

// addRegion makes a region accessible. The caller must hold d.mu.
func (d *Driver) addRegion(r *region) {
	d.lastHandle += 16
	r.id = uint64(d.lastHandle)
	d.regions.insert(r)
}

// deviceBytes returns n bytes of memory accessible to kernels: in a single allocation, or in mapped memory without a
// gap. The caller must hold d.mu.
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
