package simt

// This file executes matrix instructions (manual 9.7.14), which take all lanes of a warp: in
// warps of 64, each half for itself.

import (
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// requireAllLanes reports whether all lanes of half h execute an instruction together. The manual leaves
// open what it does without some; here that is a trap.
func (w *warp) requireAllLanes(h int, instr *code.Instr, m uint32) bool {
	if m == regfile.Full {
		return true
	}
	absent := uint64(^m) << (32 * h)
	t := w.fail(w.sourceOf(instr), uint64(m)<<(32*h), probe.ErrDivergent, "%v: %s takes all 32 lanes of a warp together, and not without lanes %s", probe.ErrDivergent, w.sourceOf(instr).Text, probe.LaneList(absent))
	t.Notes = append(t.Notes, w.whereabouts(absent&w.live)...)
	return false
}

// matrixRows finds the rows that are accessed, by the lanes that provide their addresses: of
// ldmatrix and stmatrix in shared memory, of wmma in shared or global memory. It reports whether
// it has found all; else it traps.
func (w *warp) matrixRows(h int, f *regfile.File, instr *code.Instr, to *[matrix.Lanes][]byte) bool {
	a := w.access(instr)
	var addr regfile.Row64
	addresses(f, instr, a, &addr)
	providers, view := providingLanes(a), w.view()
	for lane := range a.Tile.Addresses() {
		at := addr[lane]
		space := a.Space // a variable's, whatever the instruction says
		if space == ptx.Generic {
			space = view.SpaceOf(at, false)
		}
		where := ""
		switch {
		case space == ptx.Shared:
		case w.sourceOf(instr).Form.Family != ptx.FamilyFragment:
			where = "shared"
		case space == ptx.Local || a.Space != ptx.Generic && space != ptx.Global:
			where = "global or shared"
		}
		if where != "" {
			t := w.fail(w.sourceOf(instr), 1<<(32*h+lane), probe.ErrWrongSpace, "%v: %s at %s, which is not in %s memory", probe.ErrWrongSpace, w.sourceOf(instr).Text, hexAddr(at), where)
			t.Addr, t.Bytes = at, a.Bytes
			return false
		}
		p, _, _ := w.resolve(instr, h, lane, at, providers)
		if w.err != nil {
			return false
		}
		to[lane] = unsafe.Slice((*byte)(p), a.Bytes)
	}
	return true
}

// providingLanes is the lanes of a half that provide addresses of rows.
func providingLanes(a *code.Access) uint32 {
	return regfile.Full >> (matrix.Lanes - a.Tile.Addresses())
}

func loadMatrix(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	var rows [matrix.Lanes][]byte
	if !w.requireAllLanes(h, instr, m) || !w.matrixRows(h, f, instr, &rows) {
		return
	}
	elems := w.access(instr).Elems
	w.access(instr).Tile.Load(&rows, func(register, lane int, v uint64) {
		switch e := elems[register]; e.Slot {
		case code.R:
			f.Row32(e.Row)[lane] = uint32(v)
		case code.Q:
			f.Row64(e.Row)[lane] = v
		}
	})
}

func storeMatrix(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	var rows [matrix.Lanes][]byte
	if !w.requireAllLanes(h, instr, m) || !w.matrixRows(h, f, instr, &rows) {
		return
	}
	elems := w.access(instr).Elems
	w.cta.changed = true
	w.access(instr).Tile.Store(&rows, func(register, lane int) uint64 { return readElem(f, elems[register], lane) })
}

func moveMatrix(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if w.requireAllLanes(h, instr, m) {
		a := *f.Src32(instr.A)
		*f.Row32(instr.D) = matrix.Transpose((*[matrix.Lanes]uint32)(&a))
	}
}

// executeMultiply is mma and wmma.mma.
func executeMultiply(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.requireAllLanes(h, instr, m) {
		return
	}
	frags := &w.cta.code.Fragments[instr.Side]
	var d, a, b, c, e matrix.Registers
	for i, list := range [...][]code.Elem{frags.D, frags.A, frags.B, frags.C, frags.E} { // those of D are no constants
		to := [...]*matrix.Registers{&d, &a, &b, &c, &e}[i]
		for k, e := range list {
			if e.Slot == code.Q {
				to.Q[k] = f.Src64(e.Row)
			} else {
				to.R[k] = f.Src32(e.Row)
			}
		}
	}
	if u := frags.Multiply.Execute(w.cta.grid.dev.SM, &d, &a, &b, &c, &e); u != nil {
		w.fail(w.sourceOf(instr), uint64(u.Lanes)<<(32*h), probe.ErrMatrix, "%v: %s with %s, in lanes %s", probe.ErrMatrix, w.sourceOf(instr).Text, u.Description, probe.LaneList(uint64(u.Lanes)<<(32*h)))
	}
}
