package interp

// This file bounds the CTAs in flight by the memory of the host that they can take. The
// bound follows from the launch and the settings, never from what the host has free: the
// schedule, and so what a kernel can see of it, is the same on every host.

import "unsafe"

// rowBytes is what a row of 32-bit registers or local memory takes.
const rowBytes = 32 * 4

// footprint is the most memory of the host that a CTA of the grid can take, in bytes:
// registers, local memory and shared memory.
func (g *grid) footprint() uint64 {
	words := g.code.deepest(g.code.entry, g.stackWords, map[*function]int{})
	width := g.code.width
	halves := (g.threads + width - 1) / width * ((width + 31) / 32)
	perHalf := uint64(words) * rowBytes
	if len(g.code.funcs) > 1 {
		perHalf *= 2 // what grows with calls is doubled each time
	}
	if g.mode != Vector {
		perHalf += perHalf / 4 // the shadows of registers
	}
	return g.sharedLen + uint64(halves)*(perHalf+uint64(unsafe.Sizeof(warp{})))
}

// deepest is how many words of registers and local memory a thread can have in use, from
// the frame of a function on: those of the longest chain of calls. Where that has no
// end that is known here, by recursion, pointers or alloca, it is the limit, which a
// thread cannot pass. seen has the functions that were looked at; one that is being
// looked at is in it with the limit.
func (c *prepared) deepest(fn *function, limit int, seen map[*function]int) int {
	if n, ok := seen[fn]; ok {
		return n
	}
	seen[fn] = limit
	below := 0
	for i := fn.entry; i <= fn.exit; i++ {
		b := &c.blocks[i]
		switch {
		case b.fn != fn || b.term != termCall: // another's: fn does not run, it was not lowered
		case b.call.target == nil:
			below = limit
		default:
			below = max(below, c.deepest(b.call.target, limit, seen))
		}
	}
	own := fn.align + fn.local + frameWords + fn.frame.R + 2*fn.frame.Q + fn.frame.P
	if fn.allocates {
		own = limit
	}
	seen[fn] = min(own+below, limit)
	return seen[fn]
}

// affordable is how many CTAs of the grid may be in flight at once, at least one.
func (g *grid) affordable() int {
	return int(max(g.dev.cfg.Host/g.footprint(), 1))
}
