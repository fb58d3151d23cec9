package async

// This file executes wgmma, the multiplications of a warpgroup (manual 9.7.15): four warps that execute the same
// instructions.
//
// Each warp multiplies its own rows. It reads and writes registers and shared memory at the wait for the group of the
// multiplication, or at issue with Launch.EagerEffects. A wait for a multiplication waits until all four warps have issued
// it; then shared memory is read for all four.

import (
	"fmt"
	"slices"

	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/matrix"
	"gemu/interp/internal/native"
	"gemu/probe"
	"gemu/regfile"
)

// WgmmaFence executes wgmma.fence.
func WgmmaFence(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if _, member, _, ok := issueInGroup(w, h, instr, m, 0, 0); ok {
		member.Fenced = true
	}
}

// WgmmaCommit executes wgmma.commit_group.
func WgmmaCommit(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if _, member, _, ok := issueInGroup(w, h, instr, m, 0, 0); ok {
		member.Groups++
	}
}

// WgmmaIssue executes wgmma.mma_async.
func WgmmaIssue(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.RequireAllLanes(h, instr, m) {
		return
	}
	src, lanes := w.SourceOf(instr), uint64(m)<<(32*h)
	uniformDescriptor := func(row int32, name string) matrix.Descriptor {
		list := f.Src64(row)
		for lane, v := range list {
			if v != list[0] && w.Err == nil {
				w.Fail(src, (1|1<<lane)<<(32*h), probe.ErrAsync, "%v: the descriptor of matrix %s differs between the lanes of a warp", probe.ErrAsync, name)
			}
		}
		return matrix.Descriptor(list[0])
	}
	a, b, scale := uniformDescriptor(instr.A, "A"), uniformDescriptor(instr.B, "B"), f.SrcP(instr.E)
	if scale != 0 && scale != regfile.Full && w.Err == nil {
		w.Fail(src, uint64(scale)<<(32*h), probe.ErrAsync, "%v: scale-d differs between the lanes of a warp", probe.ErrAsync)
	}
	if w.Err != nil {
		return
	}
	_, member, j, ok := issueInGroup(w, h, instr, m, a, b)
	if !ok {
		return
	}
	if !member.Fenced {
		w.Fail(src, lanes, probe.ErrAsync, "%v: wgmma.fence is missing before it: the instruction may not see earlier writes of its registers", probe.ErrAsync)
		return
	}
	p := &machine.PendingProduct{GroupInstr: j, Side: instr.Side, Group: member.Groups, Accumulate: scale != 0}
	frags := &w.CTA.Code.Fragments[instr.Side]
	if !checkWgmmaMemory(w, h, frags.Wgmma, p, len(frags.A) == 0) {
		return
	}
	if frags.Wgmma.Sparse != nil {
		var u *matrix.Undefined
		if p.Stored, u = frags.Wgmma.Sparse.SelectedIndices((*[matrix.Lanes]uint32)(f.Src32(instr.C))); u != nil {
			w.Fail(src, uint64(u.Lanes)<<(32*h), probe.ErrMatrix, "%v: %s: the manual does not define the result", probe.ErrMatrix, u.Description)
			return
		}
	}
	cl := w.CTA.Cluster
	p.Sequence, p.Warp, p.Active, p.Depth = cl.Sequence, w.ID, lanes, w.Frame.Depth
	cl.Sequence++
	emitProduct(w.CTA, warpNumber(w, h)%matrix.Warps, p, machine.StageIssued)
	if w.CTA.Grid.EagerEffects {
		multiplyProduct(w, h, f, p)
	}
	member.Pending = append(member.Pending, p)
}

// checkWgmmaMemory traps and returns false unless matrix B, and matrix A if aInShared is set, lie in shared memory.
func checkWgmmaMemory(w *machine.Warp, h int, o *matrix.Wgmma, p *machine.PendingProduct, aInShared bool) bool {
	size := uint64(len(w.CTA.Shared))
	name, d := "A", p.A
	addr, outside := uint64(0), false
	if aInShared {
		addr, outside = o.SharedA.Outside(p.A.Placement(), warpNumber(w, h)%matrix.Warps*matrix.WarpRows, matrix.WarpRows, size)
	}
	if !outside {
		name, d = "B", p.B
		addr, outside = o.SharedB.Outside(p.B.Placement(), 0, o.N, size)
	}
	if !outside {
		return true
	}
	t := w.Fail(p.Source, w.Mask, probe.ErrOutOfBounds, "%v: matrix %s, which begins at shared memory %s, has elements at %s, but the CTA has %d bytes: descriptor %#x, leading dimension byte offset %d, stride dimension byte offset %d, %s",
		probe.ErrOutOfBounds, name, machine.HexAddr(d.Start()), machine.HexAddr(addr), size, uint64(d), d.Leading(), d.Stride(), swizzling(d))
	t.Addr, t.Bytes = addr, matrix.Chunk
	return false
}

func swizzling(d matrix.Descriptor) string {
	if n := d.Swizzle(); n > matrix.Chunk {
		return fmt.Sprintf("%d-byte swizzling", n)
	}
	return "no swizzling"
}

// multiplyProduct executes a multiplication for half h of a warp. It may overwrite the matrices read from shared memory,
// which are not used again.
func multiplyProduct(w *machine.Warp, h int, f *regfile.File, p *machine.PendingProduct) {
	readOperands(w.CTA, warpNumber(w, h)%matrix.Warps, p)
	frags := &w.CTA.Code.Fragments[p.Side]
	var noLanes regfile.Row32
	rows := func(list []code.Elem, to []*regfile.Row32) []*regfile.Row32 {
		for i, e := range list {
			if to[i] = &noLanes; e.Slot == code.R {
				to[i] = f.Src32(e.Row)
			}
		}
		return to[:len(list)]
	}
	var d, a [matrix.GroupRegisters]*regfile.Row32
	rowsD, rowsA := rows(frags.D, d[:]), rows(frags.A, a[:])
	if s := panelsOf(w.CTA, p.Side); s != nil {
		multiplyPanels(s, frags.Wgmma, rowsD, rowsA, p)
	} else {
		frags.Wgmma.Execute(rowsD, rowsA, p.Rows, p.Columns, p.Stored, p.Accumulate)
	}
	p.Executed, p.Rows, p.Columns, p.RowRegisters, p.ColumnRegisters, p.Stored = true, nil, nil, nil, nil, nil
	emitProduct(w.CTA, warpNumber(w, h)%matrix.Warps, p, machine.StageWrites)
}

// panelsOf returns the machine code of a multiplication; nil if Go multiplies.
func panelsOf(c *machine.CTA, side int32) *native.Panels {
	if !c.Grid.MatricesInMachineCode {
		return nil
	}
	return c.Code.Native.Panels(side)
}

// multiplyPanels executes a multiplication in machine code.
func multiplyPanels(s *native.Panels, o *matrix.Wgmma, d, a []*regfile.Row32, p *machine.PendingProduct) {
	registers := p.RowRegisters
	if registers == nil {
		for _, r := range a {
			registers = append(registers, *r)
		}
		o.NegateRegisters(registers)
	}
	if !p.Accumulate {
		for _, r := range d {
			clear(r[:])
		}
	}
	x := s.Begin()
	defer x.End()
	x.SetB(p.ColumnRegisters)
	if o.Sparse != nil {
		o.SetMetadata(x.Metadata(), p.Stored)
	}
	x.SetA(registers)
	for _, i := range x.MultiplyRegisters(d) {
		perPanelB, perPanelD := len(p.ColumnRegisters)/s.Count, len(d)/s.Count
		s.Multiply.ExecutePanel(d[i*perPanelD:][:perPanelD], registers, p.ColumnRegisters[i*perPanelB:][:perPanelB], p.Stored)
	}
}

// readOperands reads the operands of a multiplication that are in shared memory, for warp i of the warpgroup.
func readOperands(c *machine.CTA, i int, p *machine.PendingProduct) {
	frags := &c.Code.Fragments[p.Side]
	if !p.ReadReported {
		p.ReadReported = true
		emitProduct(c, i, p, machine.StageReads)
	}
	if panelsOf(c, p.Side) != nil {
		if p.RowRegisters == nil && len(frags.A) == 0 {
			p.RowRegisters = frags.Wgmma.LoadPanelA(c.Shared, p.A.Placement(), i*matrix.WarpRows)
			frags.Wgmma.NegateRegisters(p.RowRegisters) // from here on they do not change: saved states share them
		}
		if p.ColumnRegisters == nil {
			p.ColumnRegisters = frags.Wgmma.SharedB.LoadRegisters(c.Shared, p.B.Placement(), 0, frags.Wgmma.N)
		}
		return
	}
	if p.Rows == nil && len(frags.A) == 0 {
		p.Rows = frags.Wgmma.SharedA.Load(c.Shared, p.A.Placement(), i*matrix.WarpRows, matrix.WarpRows)
	}
	if p.Columns == nil {
		p.Columns = frags.Wgmma.SharedB.Load(c.Shared, p.B.Placement(), 0, frags.Wgmma.N)
	}
}

// WgmmaWait executes wgmma.wait_group. It also completes the pending multiplications of a function before a call of a
// function that has its own wgmma instructions.
func WgmmaWait(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	a := code.WaitGroupsOf(instr.Imm)
	if !a.All {
		if _, _, _, ok := issueInGroup(w, h, instr, m, 0, 0); !ok {
			return
		}
	}
	g, i := productGroup(w, h)
	if a.All {
		if g == nil || len(g.Warps[i].Pending) == 0 {
			return
		}
		if _, _, ok := warpgroupOf(w, h, instr, m); !ok {
			return
		}
	}
	member := &g.Warps[i]
	list := awaitedProducts(member, a)
	for _, p := range list {
		switch {
		case p.Executed:
			continue
		case !a.All:
			readOperandsOf(w.CTA, g, p)
		}
		multiplyProduct(w, h, f, p)
	}
	member.Pending = member.Pending[len(list):]
}

// awaitedProducts returns the pending multiplications of a warp that a wait completes.
func awaitedProducts(p *machine.WarpgroupWarp, a code.WaitGroups) []*machine.PendingProduct {
	n := 0
	for n < len(p.Pending) && (a.All || p.Pending[n].Group < p.Groups-a.Last) {
		n++
	}
	return p.Pending[:n]
}

// readOperandsOf reads the operands of a multiplication that are in shared memory, for all warps of the warpgroup, when the
// first warp waits for it.
func readOperandsOf(c *machine.CTA, g *machine.Warpgroup, p *machine.PendingProduct) {
	for i := range g.Warps {
		for _, other := range g.Warps[i].Pending {
			if other.GroupInstr == p.GroupInstr {
				other.Columns, other.ColumnRegisters = p.Columns, p.ColumnRegisters // all warps have the same matrix B, which is read once
				readOperands(c, i, other)
				p.Columns, p.ColumnRegisters = other.Columns, other.ColumnRegisters
			}
		}
	}
}

// WgmmaDisturb traps at an access to registers of a pending multiplication.
func WgmmaDisturb(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	g, i := productGroup(w, h)
	if g == nil {
		return
	}
	for _, p := range g.Warps[i].Pending {
		if !p.Executed && slices.Contains(w.CTA.Code.Fragments[instr.Side].Pending, p.Side) {
			t := w.Fail(w.SourceOf(instr), uint64(m)<<(32*h), probe.ErrAsync, "%v: it accesses registers of %s at %s before wgmma.wait_group", probe.ErrAsync, p.Source.Text, p.Source.Pos)
			t.Notes = append(t.Notes, "the manual does not define the values of these registers before wgmma.wait_group; with early effects they hold the result")
			return
		}
	}
}

// ForgetProducts drops the pending multiplications of a function from which the running split returns: their registers no
// longer exist.
func ForgetProducts(w *machine.Warp) {
	for h := range w.Files {
		if g, i := productGroup(w, h); g != nil && uint32(w.Mask>>(32*h)) != 0 {
			g.Warps[i].Pending = nil
		}
	}
}
