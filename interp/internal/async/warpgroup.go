package async

// This file has the warpgroups of wgmma: which warps have executed which instructions, waits for the remaining warps, and
// deadlocks.

import (
	"fmt"
	"slices"

	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/matrix"
	"gemu/probe"
)

// warpNumber returns the number of a warp of 32 lanes in the CTA. Each half of a warp of 64 lanes has a number of its own.
func warpNumber(w *machine.Warp, h int) int { return w.ID*len(w.Files) + h }

// warpgroupOf returns the warpgroup of half h, and the index of the warp in the warpgroup. It traps and returns false if
// the CTA has too few threads for the warpgroup, or lanes are missing.
func warpgroupOf(w *machine.Warp, h int, instr *code.Instr, m uint32) (g *machine.Warpgroup, i int, ok bool) {
	if !w.RequireAllLanes(h, instr, m) {
		return nil, 0, false
	}
	c, rank := w.CTA, warpNumber(w, h)
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

// issueInGroup records that a warp executes the next instruction of its warpgroup. It traps and returns false if another
// warp of the warpgroup has executed a different instruction at this position, or the same with other matrices.
func issueInGroup(w *machine.Warp, h int, instr *code.Instr, m uint32, a, b matrix.Descriptor) (g *machine.Warpgroup, member *machine.WarpgroupWarp, j *machine.GroupInstr, ok bool) {
	g, i, ok := warpgroupOf(w, h, instr, m)
	if !ok {
		return nil, nil, nil, false
	}
	member, src := &g.Warps[i], w.SourceOf(instr)
	if k := member.Executed - g.FirstNumber; k < len(g.Pending) {
		j = g.Pending[k]
		other := slices.IndexFunc(g.Warps[:], func(o machine.WarpgroupWarp) bool { return o.Executed > member.Executed })
		name := fmt.Sprintf("warp %d of its warpgroup", warpNumber(w, h)/matrix.Warps*matrix.Warps+other)
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
		if other := &c.Warps[k]; other.State == machine.AtGroup && warpNumber(other, 0)/matrix.Warps == warpNumber(w, h)/matrix.Warps {
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

// productGroup returns the warpgroup of half h, and the index of the warp in the warpgroup; nil if the warpgroup has
// executed no instruction.
func productGroup(w *machine.Warp, h int) (*machine.Warpgroup, int) {
	n := warpNumber(w, h)
	if list := w.CTA.AsyncState.Warpgroups; n/matrix.Warps < len(list) {
		return &list[n/matrix.Warps], n % matrix.Warps
	}
	return nil, 0
}

// IsGrouped reports whether a warp may execute the wait at the beginning of a block: all warps of its warpgroup have issued
// the multiplications of the wait.
func IsGrouped(w *machine.Warp, b *code.Block) bool { return unissuedProduct(w, b) == nil }

// unissuedProduct returns a multiplication of the wait at the beginning of a block that not all warps of the warpgroup have
// issued; nil if there is none.
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
		for _, p := range awaitedProducts(&g.Warps[i], code.WaitGroupsOf(instr.Imm)) {
			if p.Number >= issuedByAll(g) {
				return p
			}
		}
	}
	return nil
}

// missingWarps returns the indices of the warps of a warpgroup that have not executed the instruction of the given number.
func missingWarps(g *machine.Warpgroup, number int) (list []int) {
	for i := range g.Warps {
		if g.Warps[i].Executed <= number {
			list = append(list, i)
		}
	}
	return list
}

// warpsHave begins a sentence about warps of a warpgroup, given by their indices: "warp 5 has", "warps 4-5 have".
func warpsHave(group int, list []int) string {
	all := make([]int, len(list))
	for i, n := range list {
		all[i] = group*matrix.Warps + n
	}
	if len(all) == 1 {
		return fmt.Sprintf("warp %d has", all[0])
	}
	return fmt.Sprintf("warps %s have", machine.IntRanges(all))
}

// finishGroups returns a trap if a warp has ended without an instruction that another warp of its warpgroup has executed.
func finishGroups(c *machine.CTA) error {
	for k := range c.AsyncState.Warpgroups {
		g := &c.AsyncState.Warpgroups[k]
		if len(g.Pending) > 0 {
			j := g.Pending[0]
			return c.NewTrap(j.Source, probe.ErrDivergent, "%v: all warps of a warpgroup must execute %s together, but %s not executed it", probe.ErrDivergent, j.Source.Text, warpsHave(k, missingWarps(g, j.Number)))
		}
	}
	return nil
}

// GroupStandstill returns the trap of a warp that waits for its warpgroup or for tensor memory although no warp can run.
func GroupStandstill(c *machine.CTA, w *machine.Warp) *probe.Trap {
	if instr := AwaitedAllocation(w); instr != nil {
		return tensorMemoryDeadlock(w, instr)
	}
	return groupDeadlock(c, w)
}

// groupDeadlock returns the trap of a warp that waits for its warpgroup.
func groupDeadlock(c *machine.CTA, w *machine.Warp) *probe.Trap {
	b := c.Code.Block(w.PC)
	p := unissuedProduct(w, b)
	src := c.Code.Source(b.Sources.First)
	h := 0
	for ; ; h++ {
		if g, i := productGroup(w, h); g != nil && slices.Contains(g.Warps[i].Pending, p) {
			t := w.Fail(src, w.Mask, probe.ErrDeadlock, "%v: it waits for %s at %s, which %s not executed", probe.ErrDeadlock, p.Source.Text, p.Source.Pos, warpsHave(warpNumber(w, h)/matrix.Warps, missingWarps(g, p.Number)))
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

// cloneGroups returns a copy that shares nothing that changes with the original.
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
