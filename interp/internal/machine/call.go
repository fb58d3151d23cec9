package machine

import (
	"math/bits"

	"gemu/interp/internal/code"
	"gemu/regfile"
)

// FrameWords is the stack space of a call besides local memory and registers, in words of a thread.
const FrameWords = 4

// FunctionAt returns the index in Program.Funcs of the function at a code address, or -1 if there is none.
func (c *Kernel) FunctionAt(addr uint64) int32 {
	for i, f := range c.Funcs {
		if f.Addr == addr && !f.Entry {
			return int32(i)
		}
	}
	return -1
}

// RegisterCopy is a copy of a register, for example while the window of the register file moves. The field of the
// register's slot is set.
type RegisterCopy struct {
	R regfile.Row32
	Q regfile.Row64
	P uint32
}

// Read copies the register at a place, after materialising it for the lanes of m.
func (s *RegisterCopy) Read(f *regfile.File, p code.ParamPlace, m uint32) {
	if f.Tracked() {
		MaterialiseRow(f, code.Row{Slot: p.Slot, Row: p.Row}, m)
	}
	switch p.Slot {
	case code.R:
		s.R = *f.Src32(p.Row)
	case code.Q:
		s.Q = *f.Src64(p.Row)
	case code.P:
		s.P = f.SrcP(p.Row)
	}
}

// FrameAbove returns the place where the local frame of a function begins if the lane calls the function now, in words of
// local memory.
func (w *Warp) FrameAbove(lane int, fn *code.Func) int {
	top := w.Frame.Local + w.Frame.Func.Local
	if w.Frame.Func.Allocates {
		top += int(w.Files[lane/32].Row32(w.Frame.Func.AddressTaken)[lane%32]+3) / 4
	}
	return (top + fn.Align - 1) / fn.Align * fn.Align
}

// CallSite returns the call at a block's end.
func (c *Kernel) CallSite(b *code.Block) *code.CallSite { return &c.Calls[c.End(b).Side] }

// LocalTop returns the number of words of local memory that the running warp split uses, in the lane that uses most.
func (w *Warp) LocalTop() int {
	fn, files := w.Frame.Func, w.Files
	if w.InReference() { // the reference does not allocate
		fn, files = w.Frame.Counterpart.Func, w.Check.EngineFiles
	}
	top := w.Frame.Local + fn.Local
	if fn.Allocates {
		maxCount := uint32(0)
		for m := w.Mask; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			maxCount = max(maxCount, files[lane/32].Row32(fn.AddressTaken)[lane%32])
		}
		top += int(maxCount+3) / 4
	}
	return top
}
