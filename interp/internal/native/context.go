package native

import (
	"unsafe"

	"gemu/interp/internal/mem"
)

// Context is what native code knows of the warp that it runs, and what it says when it comes back. Its
// layout is that of struct context in _gen/c/stencil.h.
type Context struct {
	Count    int64 // PTX instructions that the warp has executed
	Enough   int64 // … up to which it goes on
	Held     int64 // lanes that guards have kept from executing, summed over PTX instructions
	Branches int64 // executed

	hits, fixed unsafe.Pointer // arrays of *mem.Allocation
	shared      *mem.Allocation
	changed     *bool // set where memory is changed

	constants, shadowR, shadowQ unsafe.Pointer
	at                          uintptr // scratch, of stencils
	step                        int64   // scratch

	Mask    uint32         // lanes that are active
	Stop    int32          // the block where lanes meet others
	PC      int32          // out: where it stopped
	Reason  Reason         // out: why
	Live    uint32         // lanes that have not ended
	Heed    uint32         // 1: it stops at each end of a block
	r, q, p unsafe.Pointer // rows, wide rows, predicates
	sources unsafe.Pointer // special registers, an array of Source
}

// The stencils that know of sources have them behind p, and p behind Heed.
var _ = [1]struct{}{}[unsafe.Offsetof(Context{}.sources)-HeedAt-28]

// Source is a special register as a progression over the lanes of a warp.
type Source struct{ Base, Stride uint64 }

// Read has special registers read that are the same in all lanes or count them, those that Code.Sources names, in its
// order. Of a thread's index the progression holds for all lanes of a row.
func (c *Context) Read(sources []Source) { c.sources = unsafe.Pointer(unsafe.SliceData(sources)) }

// Reason is why native code has come back.
type Reason uint32

// The reasons.
const (
	Lacks    Reason = iota // before an instruction that it does not have
	Cautious               // before a block that has to be looked at first
	Parts                  // at the end of a block, a branch whose lanes go different ways
	Meets                  // at the end of a block, from which it comes to where lanes meet
	Control                // at another end of a block
	Used                   // before a block: Count has come to Enough
)

// HeedAt is where the last field that stencils know of is: the generator compares it.
const HeedAt = unsafe.Offsetof(Context{}.Heed)

// Room has memory instructions find the allocations that they have hit last and shared memory, and a flag to set
// where they change some.
func (c *Context) Room(hits []*mem.Allocation, shared *mem.Allocation, changed *bool) {
	c.hits = unsafe.Pointer(unsafe.SliceData(hits))
	c.shared = shared
	c.changed = changed
}
