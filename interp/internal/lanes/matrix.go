package lanes

// This file executes matrix instructions (manual 9.7.14), which need all lanes of a warp. In a warp of 64 lanes each half
// executes them separately.

import (
	"unsafe"

	"gemu/interp/internal/access"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/matrix"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// matrixRows finds the memory of the accessed rows, by the lane that provides the address of a row: for ldmatrix and
// stmatrix in shared memory, for wmma in shared or global memory. It traps and returns false if a row is not there.
func matrixRows(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, to *[matrix.Lanes][]byte) bool {
	a := w.AccessOf(instr)
	var addr regfile.Row64
	access.Addresses(f, instr, a, &addr)
	providers, view := ProvidingLanes(a), access.View(w)
	for lane := range a.Tile.Addresses() {
		rowAddr := addr[lane]
		space := a.Space // a variable's space has precedence over the instruction's
		if space == ptx.Generic {
			space = view.SpaceOf(rowAddr, false)
		}
		required := ""
		switch {
		case space == ptx.Shared:
		case w.SourceOf(instr).Form.Family != ptx.FamilyFragment:
			required = "shared"
		case space == ptx.Local || a.Space != ptx.Generic && space != ptx.Global:
			required = "global or shared"
		}
		if required != "" {
			t := w.Fail(w.SourceOf(instr), 1<<(32*h+lane), probe.ErrWrongSpace, "%v: %s at %s, which is not in %s memory", probe.ErrWrongSpace, w.SourceOf(instr).Text, machine.HexAddr(rowAddr), required)
			t.Addr, t.Bytes = rowAddr, a.Bytes
			return false
		}
		p, _, _ := access.ResolveLane(w, instr, h, lane, rowAddr, providers)
		if w.Err != nil {
			return false
		}
		to[lane] = unsafe.Slice((*byte)(p), a.Bytes)
	}
	return true
}

// ProvidingLanes returns the lanes of a half that provide the addresses of rows.
func ProvidingLanes(a *code.Access) uint32 {
	return regfile.Full >> (matrix.Lanes - a.Tile.Addresses())
}

// loadMatrix executes ldmatrix and wmma.load.
func loadMatrix(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	var rows [matrix.Lanes][]byte
	if !w.RequireAllLanes(h, instr, m) || !matrixRows(w, h, f, instr, &rows) {
		return
	}
	elems := w.AccessOf(instr).Elems
	w.AccessOf(instr).Tile.Load(&rows, func(register, lane int, v uint64) {
		switch e := elems[register]; e.Slot {
		case code.R:
			f.Row32(e.Row)[lane] = uint32(v)
		case code.Q:
			f.Row64(e.Row)[lane] = v
		}
	})
}

// storeMatrix executes stmatrix and wmma.store.
func storeMatrix(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	var rows [matrix.Lanes][]byte
	if !w.RequireAllLanes(h, instr, m) || !matrixRows(w, h, f, instr, &rows) {
		return
	}
	elems := w.AccessOf(instr).Elems
	w.CTA.Changed = true
	w.AccessOf(instr).Tile.Store(&rows, func(register, lane int) uint64 { return access.ReadElem(f, elems[register], lane) })
}

// moveMatrix executes movmatrix.
func moveMatrix(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if w.RequireAllLanes(h, instr, m) {
		a := *f.Src32(instr.A)
		*f.Row32(instr.D) = matrix.Transpose((*[matrix.Lanes]uint32)(&a))
	}
}

// executeMultiply executes mma and wmma.mma. Machine code multiplies if the launch uses it and this instruction is executed in Go for
// another reason: it has events.
func executeMultiply(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.RequireAllLanes(h, instr, m) {
		return
	}
	frags := &w.CTA.Code.Fragments[instr.Side]
	var d, a, b, c, e matrix.Registers
	for i, list := range [...][]code.Elem{frags.D, frags.A, frags.B, frags.C, frags.E} { // Src32 also returns the rows of D, which are no constants
		to := [...]*matrix.Registers{&d, &a, &b, &c, &e}[i]
		for k, e := range list {
			if e.Slot == code.Q {
				to.Q[k] = f.Src64(e.Row)
			} else {
				to.R[k] = f.Src32(e.Row)
			}
		}
	}
	if w.CTA.Grid.MatricesInMachineCode && w.CTA.Code.Native.Multiplication(instr.Side).Execute(&d, &a, &b, &c, &e) {
		return
	}
	if u := frags.Multiply.Execute(&d, &a, &b, &c, &e); u != nil {
		w.Fail(w.SourceOf(instr), uint64(u.Lanes)<<(32*h), probe.ErrMatrix, "%v: %s with %s, in %s", probe.ErrMatrix, w.SourceOf(instr).Text, u.Description, probe.LaneText(uint64(u.Lanes)<<(32*h)))
	}
}
