package async

// This file executes the multiplications of a warpgroup (manual 9.7.15): four warps that execute the same instructions. Each
// warp multiplies its own rows. It reads and writes registers and shared memory at the wait for the group of the
// multiplication, or at issue with Launch.EagerEffects. A multiplication belongs to the whole warpgroup: a wait for it
// waits until all four warps have issued it, and then shared memory is read for all four.

import (
	"fmt"
	"slices"

	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/matrix"
	"gemu/probe"
	"gemu/regfile"
)

// rankInWarpgroup returns the number of a warp of 32 lanes in the CTA. Each half of a warp of 64 lanes has its own number.
func rankInWarpgroup(w *machine.Warp, h int) int { return w.ID*len(w.Files) + h }

// warpgroupOf returns the warpgroup of half h and the number of the warp in it. It traps and returns false if the
// warpgroup is incomplete.
func warpgroupOf(w *machine.Warp, h int, instr *code.Instr, m uint32) (g *machine.Warpgroup, i int, ok bool) {
	if !w.RequireAllLanes(h, instr, m) {
		return nil, 0, false
	}
	c, rank := w.CTA, rankInWarpgroup(w, h)
	first, threads := rank/matrix.Warps*matrix.Warps*matrix.Lanes, matrix.Warps*matrix.Lanes
	switch {
	case w.Mask != w.Live: // halves of a warp of 64 lanes
		t := w.Fail(w.SourceOf(instr), w.Mask, probe.ErrDivergent, "%v: all warps of a warpgroup must execute %s together; missing: %s of warp %d", probe.ErrDivergent, w.SourceOf(instr).Text, probe.LaneText(w.Live&^w.Mask), w.ID)
		t.Notes = append(t.Notes, w.Whereabouts(w.Live&^w.Mask)...)
		return nil, 0, false
	case first+threads > c.Grid.Threads:
		w.Fail(w.SourceOf(instr), uint64(m)<<(32*h), probe.ErrDivergent, "%v: %s needs a warpgroup of %d threads, but the CTA has only %d for it", probe.ErrDivergent, w.SourceOf(instr).Text, threads, c.Grid.Threads-first)
		return nil, 0, false
	}
	if n := rank/matrix.Warps + 1; len(c.AsyncState.Warpgroups) < n {
		c.AsyncState.Warpgroups = append(c.AsyncState.Warpgroups, make([]machine.Warpgroup, n-len(c.AsyncState.Warpgroups))...)
	}
	return &c.AsyncState.Warpgroups[rank/matrix.Warps], rank % matrix.Warps, true
}

// issueInGroup records that a warp executes an instruction of its warpgroup. The remaining warps must execute the same
// instruction at this position, with the same matrices.
func issueInGroup(w *machine.Warp, h int, instr *code.Instr, m uint32, a, b matrix.Descriptor) (g *machine.Warpgroup, member *machine.WarpgroupWarp, j *machine.GroupInstr, ok bool) {
	g, i, ok := warpgroupOf(w, h, instr, m)
	if !ok {
		return nil, nil, nil, false
	}
	member, src := &g.Warps[i], w.SourceOf(instr)
	if k := member.Executed - g.FirstNumber; k < len(g.Pending) {
		j = g.Pending[k]
		other := slices.IndexFunc(g.Warps[:], func(o machine.WarpgroupWarp) bool { return o.Executed > member.Executed })
		name := fmt.Sprintf("warp %d of its warpgroup", rankInWarpgroup(w, h)/matrix.Warps*matrix.Warps+other)
		switch {
		case j.Source != src:
			w.Fail(src, w.Mask, probe.ErrDivergent, "%v: all warps of a warpgroup must execute %s together, but %s has come to %s at %s", probe.ErrDivergent, src.Text, name, j.Source.Text, j.Source.Pos)
			return nil, nil, nil, false
		case j.A != a || j.B != b:
			w.Fail(src, w.Mask, probe.ErrAsync, "%v: its matrix descriptors are %s, but %s has %s", probe.ErrAsync, descriptors(a, b), name, descriptors(j.A, j.B))
			return nil, nil, nil, false
		}
	} else {
		j = &machine.GroupInstr{Number: member.Executed, Source: src, A: a, B: b}
		g.Pending = append(g.Pending, j)
	}
	member.Executed++
	for n := issuedByAll(g); g.FirstNumber < n; g.FirstNumber++ {
		g.Pending = g.Pending[1:]
	}
	c := w.CTA
	c.Changed = true
	for k := range c.Warps { // a warp may wait for this instruction
		if other := &c.Warps[k]; other.State == machine.AtGroup && rankInWarpgroup(other, 0)/matrix.Warps == rankInWarpgroup(w, h)/matrix.Warps {
			other.State = machine.ReadyToRun
		}
	}
	return g, member, j, true
}

func descriptors(a, b matrix.Descriptor) string {
	return fmt.Sprintf("%#x and %#x", uint64(a), uint64(b))
}

// issuedByAll returns the number of instructions that all four warps have executed.
func issuedByAll(g *machine.Warpgroup) int {
	n := g.Warps[0].Executed
	for i := range g.Warps {
		n = min(n, g.Warps[i].Executed)
	}
	return n
}

// awaitedInstr returns the pending multiplications that a wait completes.
func awaitedInstr(p *machine.WarpgroupWarp, a code.WaitGroups) []*machine.PendingProduct {
	n := 0
	for n < len(p.Pending) && (a.All || p.Pending[n].Group < p.Groups-a.Last) {
		n++
	}
	return p.Pending[:n]
}

func WgmmaFence(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if _, member, _, ok := issueInGroup(w, h, instr, m, 0, 0); ok {
		member.Fenced = true
	}
}

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
	uniform := func(row int32, what string) matrix.Descriptor {
		list := f.Src64(row)
		for lane, v := range list {
			if v != list[0] && w.Err == nil {
				w.Fail(src, (1|1<<lane)<<(32*h), probe.ErrAsync, "%v: the descriptor of matrix %s differs between the lanes of a warp", probe.ErrAsync, what)
			}
		}
		return matrix.Descriptor(list[0])
	}
	a, b, scale := uniform(instr.A, "A"), uniform(instr.B, "B"), f.SrcP(instr.E)
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
	emitProduct(w.CTA, rankInWarpgroup(w, h)%matrix.Warps, p, machine.StageIssued)
	if w.CTA.Grid.EagerEffects {
		multiplyProduct(w, h, f, p)
	}
	member.Pending = append(member.Pending, p)
}

// checkWgmmaMemory traps unless the matrices lie in shared memory.
func checkWgmmaMemory(w *machine.Warp, h int, o *matrix.Wgmma, p *machine.PendingProduct, inShared bool) bool {
	size := uint64(len(w.CTA.Shared))
	what, d := "A", p.A
	addr, outside := uint64(0), false
	if inShared {
		addr, outside = o.SharedA.Outside(p.A.Placement(), rankInWarpgroup(w, h)%matrix.Warps*matrix.WarpRows, matrix.WarpRows, size)
	}
	if !outside {
		what, d = "B", p.B
		addr, outside = o.SharedB.Outside(p.B.Placement(), 0, o.N, size)
	}
	if !outside {
		return true
	}
	t := w.Fail(p.Source, w.Mask, probe.ErrOutOfBounds, "%v: matrix %s, which begins at shared memory %s, has elements at %s, but the CTA has %d bytes: descriptor %#x, leading dimension byte offset %d, stride dimension byte offset %d, %s",
		probe.ErrOutOfBounds, what, machine.HexAddr(d.Start()), machine.HexAddr(addr), size, uint64(d), d.Leading(), d.Stride(), swizzling(d))
	t.Addr, t.Bytes = addr, matrix.Chunk
	return false
}

func swizzling(d matrix.Descriptor) string {
	if n := d.Swizzle(); n > matrix.Chunk {
		return fmt.Sprintf("%d-byte swizzling", n)
	}
	return "no swizzling"
}

// readOperands reads the operands of a multiplication in shared memory, for a warp of its group.
func readOperands(c *machine.CTA, i int, p *machine.PendingProduct) {
	frags := &c.Code.Fragments[p.Side]
	if !p.ReadReported {
		p.ReadReported = true
		emitProduct(c, i, p, machine.StageReads)
	}
	if p.Rows == nil && len(frags.A) == 0 {
		p.Rows = frags.Wgmma.SharedA.Load(c.Shared, p.A.Placement(), i*matrix.WarpRows, matrix.WarpRows)
	}
	if p.Columns == nil {
		p.Columns = frags.Wgmma.SharedB.Load(c.Shared, p.B.Placement(), 0, frags.Wgmma.N)
	}
}

// multiplyProduct multiplies for a warp. It may overwrite the matrices, which have no further use.
func multiplyProduct(w *machine.Warp, h int, f *regfile.File, p *machine.PendingProduct) {
	readOperands(w.CTA, rankInWarpgroup(w, h)%matrix.Warps, p)
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
	frags.Wgmma.Execute(rows(frags.D, d[:]), rows(frags.A, a[:]), p.Rows, p.Columns, p.Stored, p.Accumulate)
	p.Executed, p.Rows, p.Columns, p.Stored = true, nil, nil, nil
	emitProduct(w.CTA, rankInWarpgroup(w, h)%matrix.Warps, p, machine.StageWrites)
}

// WgmmaWait executes wgmma.wait_group. It also completes pending multiplications before a call of a function with groups of
// its own.
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
	list := awaitedInstr(member, a)
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

// readOperandsOf reads the operands of a multiplication in shared memory for all warps, after a wait of a warp.
func readOperandsOf(c *machine.CTA, g *machine.Warpgroup, p *machine.PendingProduct) {
	for i := range g.Warps {
		for _, other := range g.Warps[i].Pending {
			if other.GroupInstr == p.GroupInstr {
				other.Columns = p.Columns // all warps have the same B, which is read once
				readOperands(c, i, other)
				p.Columns = other.Columns
			}
		}
	}
}

// productGroup returns the warpgroup of half h and the number of the warp in it; nil if it has executed no instruction.
func productGroup(w *machine.Warp, h int) (*machine.Warpgroup, int) {
	n := rankInWarpgroup(w, h)
	if list := w.CTA.AsyncState.Warpgroups; n/matrix.Warps < len(list) {
		return &list[n/matrix.Warps], n % matrix.Warps
	}
	return nil, 0
}

// IsGrouped reports whether a warp may execute the wait at the beginning of a block: its warpgroup has issued all
// multiplications of the wait.
func IsGrouped(w *machine.Warp, b *code.Block) bool { return unissuedProduct(w, b) == nil }

// unissuedProduct returns a multiplication of the wait at the beginning of a block not yet issued by all warps of the
// warpgroup; nil if there is none.
func unissuedProduct(w *machine.Warp, b *code.Block) *machine.PendingProduct {
	k := slices.IndexFunc(b.Body, func(instr code.Instr) bool { return instr.Op == code.WgmmaWait })
	instr := &b.Body[k]
	for h := range w.Files {
		m := w.Files[h].Active()
		if instr.Guard != 0 {
			m &= machine.GuardMask(&w.Files[h], instr.Guard)
		}
		g, i := productGroup(w, h)
		if m == 0 || g == nil {
			continue
		}
		for _, p := range awaitedInstr(&g.Warps[i], code.WaitGroupsOf(instr.Imm)) {
			if p.Number >= issuedByAll(g) {
				return p
			}
		}
	}
	return nil
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

// missingWarps returns the warps of a warpgroup that have not executed an instruction.
func missingWarps(g *machine.Warpgroup, number int) (list []int) {
	for i := range g.Warps {
		if g.Warps[i].Executed <= number {
			list = append(list, i)
		}
	}
	return list
}

// ranks formats numbers of warps in a warpgroup as numbers in the CTA.
func ranks(group int, list []int) string {
	all := make([]int, len(list))
	for i, n := range list {
		all[i] = group*matrix.Warps + n
	}
	if len(all) == 1 {
		return fmt.Sprintf("warp %d has", all[0])
	}
	return fmt.Sprintf("warps %s have", machine.IntRanges(all))
}

// finishGroups traps if a warp has ended without an instruction that another warp of its warpgroup has executed.
func finishGroups(c *machine.CTA) error {
	for k := range c.AsyncState.Warpgroups {
		g := &c.AsyncState.Warpgroups[k]
		if len(g.Pending) > 0 {
			j := g.Pending[0]
			return c.NewTrap(j.Source, probe.ErrDivergent, "%v: all warps of a warpgroup must execute %s together, but %s not executed it", probe.ErrDivergent, j.Source.Text, ranks(k, missingWarps(g, j.Number)))
		}
	}
	return nil
}

// GroupStandstill returns the trap of a warp that waits for its warpgroup or for tensor memory while no warp can run.
func GroupStandstill(c *machine.CTA, w *machine.Warp) *probe.Trap {
	if instr := AwaitedAllocation(w); instr != nil {
		return tensorMemoryDeadlock(w, instr)
	}
	return groupDeadlock(c, w)
}

// groupDeadlock makes a deadlock trap for a warp that waits for its warpgroup.
func groupDeadlock(c *machine.CTA, w *machine.Warp) *probe.Trap {
	b := c.Code.Block(w.PC)
	p := unissuedProduct(w, b)
	src := c.Code.Source(b.Sources.First)
	h := 0
	for ; ; h++ {
		if g, i := productGroup(w, h); g != nil && slices.Contains(g.Warps[i].Pending, p) {
			t := w.Fail(src, w.Mask, probe.ErrDeadlock, "%v: it waits for %s at %s, which %s not executed", probe.ErrDeadlock, p.Source.Text, p.Source.Pos, ranks(rankInWarpgroup(w, h)/matrix.Warps, missingWarps(g, p.Number)))
			for n := range c.Warps {
				switch other := &c.Warps[n]; {
				case other == w:
				case other.State == machine.HasEnded:
					t.Notes = append(t.Notes, fmt.Sprintf("warp %d has ended", n))
				case other.State == machine.AtGroup:
					t.Notes = append(t.Notes, fmt.Sprintf("warp %d waits at %s:%s", n, c.Code.Module.Name, c.Code.Source(c.Code.Block(other.PC).Sources.First).Pos))
				default:
					for k := range other.WaitingSplits {
						if wait := other.WaitingSplits[k].Wait; wait != nil {
							t.Notes = append(t.Notes, fmt.Sprintf("warp %d: %s at barrier %d, %s:%s", n, machine.LanesDo(other.WaitingSplits[k].Mask, "wait"), wait.ID, c.Code.Module.Name, wait.Src.Pos))
						}
					}
				}
			}
			return t
		}
	}
}

// cloneGroups returns a copy that shares nothing mutable with the original.
func cloneGroups(list []machine.Warpgroup) []machine.Warpgroup {
	list = slices.Clone(list)
	for k := range list {
		g := &list[k]
		g.Pending = slices.Clone(g.Pending) // the instructions themselves never change
		for i := range g.Warps {
			pending := slices.Clone(g.Warps[i].Pending)
			for n, p := range pending {
				q := *p
				pending[n] = &q
			}
			g.Warps[i].Pending = pending
		}
	}
	return list
}
