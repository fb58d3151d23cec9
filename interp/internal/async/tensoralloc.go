package async

// This file executes the allocation and deallocation of tensor memory: tcgen05.alloc, .dealloc and .relinquish_alloc_permit.

import (
	"fmt"
	"slices"

	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/matrix"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/regfile"
)

// TensorAlloc executes tcgen05.alloc, except its store to shared memory. If there are not enough free columns, the warp
// blocks.
func TensorAlloc(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.RequireAllLanes(h, instr, m) {
		return
	}
	c, imm := w.CTA, code.TensorImmOf(instr.Imm)
	n, ok := columnsOf(w, h, f, instr)
	if !ok {
		return
	}
	place, ok := placeOfMbarrier(w, h, instr, 0, &mem.Access{Request: probe.Request{Space: imm.Space, Bytes: 4, Kind: probe.AccessStore}}, f.Src64(instr.A)[0])
	if !ok {
		return
	}
	issued := issueOrigin(w, h, instr, m)
	fromPair := imm.Pair && len(c.AsyncState.Tensor.FromPair) > 0 // the other CTA has allocated for the pair, and may have exited since
	ctas, bad := ctasOf(c, imm.Pair && !fromPair)
	switch {
	case place.Alloc == nil || place.Alloc != c.SharedMem:
		w.Err = originTrap(&issued, probe.ErrWrongSpace, "%s is not in the shared memory of the CTA", machine.HexAddr(f.Src64(instr.A)[0]))
	case bad != "":
		w.Err = originTrap(&issued, probe.ErrCTARank, "%s", bad)
	case c.AsyncState.Tensor.Relinquished:
		w.Err = originTrap(&issued, probe.ErrTensorMemory, "the CTA has given up the right to allocate (tcgen05.relinquish_alloc_permit)")
	}
	if w.Err != nil {
		return
	}
	b, ok := machine.TensorBlock{}, true
	if s := &c.AsyncState.Tensor; fromPair {
		if b = s.FromPair[0]; b.Columns != n || b.Exclusive != imm.Exclusive {
			manner := ""
			if b.Exclusive {
				manner = "exclusively "
			}
			w.Err = originTrap(&issued, probe.ErrDivergent, "%d columns, but the other CTA of the pair has allocated %d %sat %s", n, b.Columns, manner, b.Src.Pos)
			return
		}
		s.FromPair = s.FromPair[1:]
	} else if b, ok = freeColumns(ctas, n, imm.Exclusive); !ok {
		w.Err, w.BlockedInstr = machine.ErrNoTensorMemory, instr
		if len(w.Files) > 1 { // halves of a warp of 64 lanes cannot wait for each other
			w.Err = originTrap(&issued, probe.ErrDeadlock, "%s", TensorMemoryWait(w, instr))
		}
		return
	} else {
		b.Pair, b.Exclusive, b.Src, b.Rank, b.Warp = imm.Pair, imm.Exclusive, w.SourceOf(instr), c.Rank, w.ID
		for _, owner := range ctas {
			t := &owner.AsyncState.Tensor
			if t.Memory == nil {
				t.Memory = new(matrix.TensorMemory)
			}
			t.Blocks = append(t.Blocks, b)
			if owner != c {
				t.FromPair = append(t.FromPair, b)
			}
		}
	}
	row := f.Row32(instr.D)
	for lane := range row {
		row[lane] = uint32(b.Column)
	}
	c.Changed = true
}

// columnsOf returns the number of columns of an instruction. It traps and returns false if the number is invalid.
func columnsOf(w *machine.Warp, h int, f *regfile.File, instr *code.Instr) (int, bool) {
	n, ok := uniformValue(w, h, f, instr, instr.B, "the number of columns")
	if imm := code.TensorImmOf(instr.Imm); imm.Exclusive {
		if ok && (n == 0 || n > uint32(imm.Columns) || n%matrix.TensorUnit != 0) {
			w.Fail(w.SourceOf(instr), 0, probe.ErrTensorMemory, "%v: %d columns: with .exclusive the number must be a multiple of %d, at most %d for the module's .target", probe.ErrTensorMemory, n, matrix.TensorUnit, imm.Columns)
			return 0, false
		}
		return int(n), ok
	}
	if ok && (n < matrix.TensorUnit || n > matrix.TensorColumns || n&(n-1) != 0) {
		w.Fail(w.SourceOf(instr), 0, probe.ErrTensorMemory, "%v: %d columns: the number must be a power of two from %d to %d", probe.ErrTensorMemory, n, matrix.TensorUnit, matrix.TensorColumns)
		return 0, false
	}
	return int(n), ok
}

// freeColumns finds n neighbouring columns that are free in all given CTAs. An exclusive allocation needs CTAs without any
// allocation, and excludes further allocations while it exists (manual of PTX 9.4, 9.7.18.7.1).
func freeColumns(ctas []*machine.CTA, n int, exclusive bool) (machine.TensorBlock, bool) {
	if exclusive {
		free := !slices.ContainsFunc(ctas, func(c *machine.CTA) bool { return len(c.AsyncState.Tensor.Blocks) > 0 })
		return machine.TensorBlock{Columns: n}, free
	}
	for column := 0; column+n <= matrix.TensorColumns; column += matrix.TensorUnit {
		taken := false
		for _, c := range ctas {
			for _, b := range c.AsyncState.Tensor.Blocks {
				taken = taken || b.Exclusive || b.Column < column+n && column < b.Column+b.Columns
			}
		}
		if !taken {
			return machine.TensorBlock{Column: column, Columns: n}, true
		}
	}
	return machine.TensorBlock{}, false
}

// AwaitedAllocation returns the allocation at which the warp waits for tensor memory; nil if it does not.
func AwaitedAllocation(w *machine.Warp) *code.Instr {
	if w.State != machine.AtGroup || w.Uncounted == 0 { // a warp that waits for its warpgroup is before a block
		return nil
	}
	return &w.CTA.Code.Instrs[w.PC]
}

// TensorMemoryWait describes an allocation that waits for tensor memory, and all present allocations.
func TensorMemoryWait(w *machine.Warp, instr *code.Instr) string {
	c, imm := w.CTA, code.TensorImmOf(instr.Imm)
	pair := imm.Pair
	text := fmt.Sprintf("it waits for %d free columns of tensor memory", w.Files[0].Src32(instr.B)[0])
	if imm.Exclusive {
		text += ", and for the deallocation of all other columns"
	}
	ctas, _ := ctasOf(c, pair)
	for _, owner := range ctas {
		for i := range owner.AsyncState.Tensor.Blocks {
			b := &owner.AsyncState.Tensor.Blocks[i]
			text += "; "
			if pair {
				text += fmt.Sprintf("of cta %s ", owner.ID)
			}
			text += fmt.Sprintf("%v by warp %d", b, b.Warp)
			if b.Rank != c.Rank {
				text += fmt.Sprintf(" of cta %s", c.Cluster.CTAs[b.Rank].ID)
			}
		}
	}
	return text
}

// tensorMemoryDeadlock makes a trap for a warp that waits for tensor memory which no warp can deallocate.
func tensorMemoryDeadlock(w *machine.Warp, instr *code.Instr) *probe.Trap {
	return w.Fail(w.SourceOf(instr), w.Mask, probe.ErrDeadlock, "%v: %s", probe.ErrDeadlock, TensorMemoryWait(w, instr))
}

// TensorDealloc executes tcgen05.dealloc. The columns of a pair are free when both CTAs have executed it.
func TensorDealloc(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.RequireAllLanes(h, instr, m) {
		return
	}
	n, ok := columnsOf(w, h, f, instr)
	if !ok {
		return
	}
	address, ok := uniformValue(w, h, f, instr, instr.A, "the address")
	if !ok {
		return
	}
	issued, imm := issueOrigin(w, h, instr, m), code.TensorImmOf(instr.Imm)
	s := &w.CTA.AsyncState.Tensor
	i := slices.IndexFunc(s.Blocks, func(b machine.TensorBlock) bool {
		return uint32(b.Column) == address && b.Columns == n && !b.DeallocatedHere
	})
	switch {
	case i < 0:
		text := fmt.Sprintf("no allocation of %d columns begins at %v", n, matrix.TensorAddress(address))
		for k := range s.Blocks {
			text += "; " + s.Blocks[k].String()
		}
		w.Err = originTrap(&issued, probe.ErrTensorMemory, "%s", text)
		return
	case s.Blocks[i].Pair != imm.Pair:
		w.Err = originTrap(&issued, probe.ErrTensorMemory, "%v: the allocation has a different .cta_group", &s.Blocks[i])
		return
	case s.Blocks[i].Exclusive != imm.Exclusive:
		w.Err = originTrap(&issued, probe.ErrTensorMemory, "%v: an allocation and its deallocation must both have .exclusive, or neither", &s.Blocks[i])
		return
	}
	free := func(c *machine.CTA, column int) {
		t := &c.AsyncState.Tensor
		t.Blocks = slices.DeleteFunc(t.Blocks, func(b machine.TensorBlock) bool { return b.Column == column })
		for k := range c.Warps {
			if other := &c.Warps[k]; other.State == machine.AtGroup { // the warp may have waited for free columns
				other.State = machine.ReadyToRun
			}
		}
		c.Changed = true
	}
	if !imm.Pair {
		free(w.CTA, s.Blocks[i].Column)
		return
	}
	p := pairedCTA(w.CTA)
	column := s.Blocks[i].Column
	s.Blocks[i].DeallocatedHere = true
	if k := slices.IndexFunc(p.AsyncState.Tensor.Blocks, func(b machine.TensorBlock) bool { return b.Column == column }); k < 0 || p.AsyncState.Tensor.Blocks[k].DeallocatedHere {
		free(w.CTA, column)
		free(p, column)
	}
	w.CTA.Changed = true
}

// TensorRelinquish executes tcgen05.relinquish_alloc_permit.
func TensorRelinquish(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if w.RequireAllLanes(h, instr, m) {
		w.CTA.AsyncState.Tensor.Relinquished = true
	}
}

// finishTensor returns a trap if the CTA ends with allocated tensor memory.
func finishTensor(c *machine.CTA) error {
	for i := range c.AsyncState.Tensor.Blocks {
		if b := &c.AsyncState.Tensor.Blocks[i]; !b.DeallocatedHere {
			issued := machine.IssueOrigin{CTA: c, Src: b.Src, Warp: b.Warp}
			return originTrap(&issued, probe.ErrTensorMemory, "the CTA ends without deallocating %v", b)
		}
	}
	return nil
}
