package async

// This file executes the loads and stores of tensor memory: tcgen05.ld, .st and .wait.

import (
	"math"
	"slices"

	"gemu/interp/internal/access"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/matrix"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// TensorLoad executes tcgen05.ld.
func TensorLoad(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.RequireAllLanes(h, instr, m) {
		return
	}
	frags := &w.CTA.Code.Fragments[instr.Side]
	t := frags.Memory
	a, regions, ok := accessedRegions(w, h, f, instr, m, t)
	if !ok {
		return
	}
	rows := TensorRows(f, frags.D, true)
	loaded := rows
	if t.Reduce != nil {
		loaded = rows[:len(rows)-1]
	}
	results := loaded
	if t.Compress != nil {
		dense := make([]regfile.Row32, t.Tile.Registers)
		loaded = make([]*regfile.Row32, len(dense))
		for i := range dense {
			loaded[i] = &dense[i]
		}
	}
	t.Tile.Load(w.CTA.AsyncState.Tensor.Memory, a, loaded)
	if t.Compress != nil {
		machine.CompressRows(t.Compress, loaded, results)
	}
	if t.Reduce != nil {
		reduceRows(t.Reduce, loaded, rows[len(rows)-1])
	}
	if !w.CTA.Grid.EagerEffects {
		s := tensorWarpOf(w, h)
		if len(s.Loads) == MaxPendingTensor {
			s.Loads = slices.Delete(s.Loads, 0, 1)
		}
		s.Loads = append(s.Loads, machine.PendingTensorLoad{Src: w.SourceOf(instr), Regions: regions})
	}
}

// TensorStore executes tcgen05.st.
func TensorStore(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.RequireAllLanes(h, instr, m) {
		return
	}
	frags := &w.CTA.Code.Fragments[instr.Side]
	a, regions, ok := accessedRegions(w, h, f, instr, m, frags.Memory)
	if !ok {
		return
	}
	rows := TensorRows(f, frags.A, false)
	st := machine.PendingTensorStore{IssueOrigin: issueOrigin(w, h, instr, m), Regions: regions, Tile: frags.Memory.Tile, Address: a, Values: make([]regfile.Row32, len(rows))}
	for i, row := range rows {
		st.Values[i] = *row
	}
	w.CTA.Changed = true
	if w.CTA.Grid.EagerEffects {
		w.Err = executeTensorStore(&st, w.CTA)
		return
	}
	s := tensorWarpOf(w, h)
	if len(s.Stores) == MaxPendingTensor {
		oldest := s.Stores[0]
		s.Stores = slices.Delete(s.Stores, 0, 1)
		if w.Err = executeTensorStore(&oldest, w.CTA); w.Err != nil {
			return
		}
	}
	s.Stores = append(s.Stores, st)
}

// executeTensorStore executes a pending store of CTA c. The error is a *probe.Trap.
func executeTensorStore(st *machine.PendingTensorStore, c *machine.CTA) error {
	st.CTA = c
	if err := checkTensorAccess(&st.IssueOrigin, c, nil, st.Regions); err != nil {
		return err
	}
	st.Tile.Store(c.AsyncState.Tensor.Memory, st.Address, st.Values)
	c.Changed = true
	return nil
}

// TensorWait executes tcgen05.wait.
func TensorWait(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.RequireAllLanes(h, instr, m) {
		return
	}
	s := tensorWarpOf(w, h)
	if !code.TensorImmOf(instr.Imm).Store {
		s.Loads = nil
		return
	}
	stores := s.Stores
	s.Stores = nil
	for i := range stores {
		if w.Err = executeTensorStore(&stores[i], w.CTA); w.Err != nil {
			return
		}
	}
}

// accessedRegions returns the address and the regions that a warp accesses. It traps and returns false unless they are
// allocated and in the warp's quarter of the lanes (manual 9.7.16.8.1). A lane below 32 counts from the beginning of the
// quarter, as on GPUs; programs rely on it.
func accessedRegions(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32, t *code.TensorAccess) (matrix.TensorAddress, []matrix.Region, bool) {
	v, ok := uniformValue(w, h, f, instr, w.CTA.Code.Fragments[instr.Side].E[0].Row, "the address")
	if !ok {
		return 0, nil, false
	}
	a, firstLane := matrix.TensorAddress(v), warpNumber(w, h)%matrix.Warps*matrix.Lanes
	if a.Lane() < matrix.Lanes {
		a += matrix.TensorAddress(firstLane) << 16
	}
	issued := issueOrigin(w, h, instr, m)
	if lane := a.Lane() - firstLane; lane < 0 || lane+t.Tile.Rows > matrix.Lanes || lane%16 != 0 {
		w.Err = originTrap(&issued, probe.ErrTensorMemory, "it accesses %d lanes beginning at %v; warp %d can access lanes %d to %d, beginning at a multiple of 16", t.Tile.Rows, a, warpNumber(w, h), firstLane, firstLane+matrix.Lanes-1)
		return 0, nil, false
	}
	regions := t.Tile.Regions(a)
	if bad := unallocatedColumns(&w.CTA.AsyncState.Tensor, regions); bad != "" {
		w.Err = originTrap(&issued, probe.ErrTensorMemory, "it accesses %s", bad)
		return 0, nil, false
	}
	return a, regions, true
}

// TensorRows returns the listed rows. If written is set, the rows are to be written: an element without a register has a
// row of its own.
func TensorRows(f *regfile.File, list []code.Elem, written bool) []*regfile.Row32 {
	rows := make([]*regfile.Row32, len(list))
	for i, e := range list {
		switch {
		case written && e.Row < 0:
			rows[i] = new(regfile.Row32)
		case written:
			rows[i] = f.Row32(e.Row)
		default:
			rows[i] = f.Src32(e.Row)
		}
	}
	return rows
}

// reduceRows combines the values of rows lane by lane, with the operations of redux, into the row last.
func reduceRows(r *code.TensorReduction, rows []*regfile.Row32, last *regfile.Row32) {
	step := func(a, b uint64) uint64 { return access.ApplyReduction(r.Integer, access.WidthMask(ptx.B32), a, b, 0) }
	if r.Float.Op != code.Invalid {
		step = func(a, b uint64) uint64 {
			v, _ := alu.Single[r.Float.Op](a, b, 0, 0, uint64(r.Float.Imm))
			return v
		}
	}
	for lane := range last {
		v := uint64(rows[0][lane])
		for _, row := range rows { // the first row takes part twice, so that .abs also applies to it
			v = step(v, uint64(row[lane]))
		}
		if x := math.Float32frombits(uint32(v)); r.Float.Op != code.Invalid && x != x {
			v = 0x7fffffff
		}
		last[lane] = uint32(v)
	}
}
