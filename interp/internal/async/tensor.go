package async

// This file has the state of tensor memory and the checks that all its operations share (manual 9.7.16).
//
// A warp loads and stores a quarter of the lanes of tensor memory. A load happens at issue, because a program must wait
// before it uses a loaded register (9.7.16.6.4.5). A store happens at tcgen05.wait::st. Copies, shifts and multiplications
// happen in the order of issue, after a failed test of an mbarrier at which a later tcgen05.commit arrives. With
// Launch.EagerEffects every operation happens at issue.

import (
	"fmt"
	"math/bits"
	"slices"

	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/matrix"
	"gemu/probe"
	"gemu/regfile"
)

// MaxPendingTensor is the maximum number of pending loads, and of pending stores, of a warp. When it is exceeded, the
// oldest store happens, which is permitted at any time, and the oldest load is no longer checked against later writes.
const MaxPendingTensor = 32

// originTrap makes a trap for an operation. Its place is the instruction that issued the operation.
func originTrap(issued *machine.IssueOrigin, kind error, format string, args ...any) *probe.Trap {
	c := issued.CTA
	t := c.NewTrap(issued.Src, kind, "%v: %s", kind, fmt.Sprintf(format, args...))
	t.Warp, t.Lanes, t.Active = issued.Warp, issued.Lanes, issued.Active
	if issued.Lanes != 0 {
		t.Thread = c.ThreadID(issued.Warp*c.Code.Width + bits.TrailingZeros64(issued.Lanes))
	}
	return t
}

// cloneTensorState returns a copy that shares nothing that changes with the original. The caller must set the CTA of its
// stores.
func cloneTensorState(s machine.TensorState) machine.TensorState {
	if s.Memory != nil {
		m := *s.Memory
		s.Memory = &m
	}
	s.Blocks, s.FromPair, s.Warps = slices.Clone(s.Blocks), slices.Clone(s.FromPair), slices.Clone(s.Warps)
	for i := range s.Warps {
		w := &s.Warps[i]
		w.Loads, w.Stores = slices.Clone(w.Loads), slices.Clone(w.Stores)
	}
	return s
}

// pairedCTA returns the other CTA of the CTA's pair; nil if there is none (manual 9.7.16.5.1).
func pairedCTA(c *machine.CTA) *machine.CTA {
	if r := c.Rank ^ 1; c.Grid.Clustered() && r < len(c.Cluster.CTAs) {
		return c.Cluster.CTAs[r]
	}
	return nil
}

// ctasOf returns the CTAs that an instruction concerns: this CTA or, if pair is set, both CTAs of its pair, the even rank
// first. If there is no pair, the text is the reason.
func ctasOf(c *machine.CTA, pair bool) ([]*machine.CTA, string) {
	if !pair {
		return []*machine.CTA{c}, ""
	}
	p := pairedCTA(c)
	switch {
	case p == nil:
		return nil, fmt.Sprintf("cta %s has no other CTA for its pair in a cluster of %s", c.ID, c.Grid.ClusterSizeText())
	case p.Done:
		return nil, fmt.Sprintf("cta %s, the other CTA of the pair, has exited", p.ID)
	case c.Rank%2 == 0:
		return []*machine.CTA{c, p}, ""
	}
	return []*machine.CTA{p, c}, ""
}

// tensorWarpOf returns the pending loads and stores of half h of a warp.
func tensorWarpOf(w *machine.Warp, h int) *machine.TensorWarp {
	s, n := &w.CTA.AsyncState.Tensor, warpNumber(w, h)
	if len(s.Warps) <= n {
		s.Warps = append(s.Warps, make([]machine.TensorWarp, n+1-len(s.Warps))...)
	}
	return &s.Warps[n]
}

// unallocatedColumns returns a text about the first region that is not in allocated tensor memory; "" if all regions are.
func unallocatedColumns(s *machine.TensorState, list []matrix.Region) string {
	columns := matrix.TensorColumns
	for _, b := range s.Blocks {
		columns = max(columns, b.Column+b.Columns)
	}
	for _, r := range list {
		if r.Lane < 0 || r.Lane+r.Lanes > matrix.TensorLanes || r.Column < 0 || r.Column+r.Columns > columns {
			return fmt.Sprintf("%v: tensor memory has %d lanes and %d columns", r, matrix.TensorLanes, columns)
		}
		for column := r.Column; column < r.Column+r.Columns; column++ {
			if !slices.ContainsFunc(s.Blocks, func(b machine.TensorBlock) bool { return b.Column <= column && column < b.Column+b.Columns }) {
				text := fmt.Sprintf("%v: column %d is not allocated", r, column)
				for i := range s.Blocks {
					text += "; " + s.Blocks[i].String()
				}
				return text
			}
		}
	}
	return ""
}

// pendingLoadOf returns a pending load of a region in the list; nil if there is none.
func pendingLoadOf(s *machine.TensorState, list []matrix.Region) *machine.PendingTensorLoad {
	for i := range s.Warps {
		for k := range s.Warps[i].Loads {
			l := &s.Warps[i].Loads[k]
			for _, r := range l.Regions {
				if slices.ContainsFunc(list, r.Overlaps) {
					return l
				}
			}
		}
	}
	return nil
}

// checkTensorAccess returns a trap if a region is not allocated, or if a written region has a pending load.
func checkTensorAccess(issued *machine.IssueOrigin, c *machine.CTA, read, written []matrix.Region) error {
	s := &c.AsyncState.Tensor
	for i, list := range [][]matrix.Region{read, written} {
		verb := [...]string{"reads", "writes"}[i]
		if bad := unallocatedColumns(s, list); bad != "" {
			return originTrap(issued, probe.ErrTensorMemory, "it %s %s", verb, bad)
		}
	}
	if l := pendingLoadOf(s, written); l != nil {
		return originTrap(issued, probe.ErrAsync, "it overwrites tensor memory that %s at %s reads: tcgen05.wait::ld is missing", l.Src.Text, l.Src.Pos)
	}
	return nil
}

// uniformValue returns the value that all lanes of a row hold. It traps and returns false if lanes hold different values.
func uniformValue(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, row int32, name string) (uint32, bool) {
	list := f.Src32(row)
	for lane, v := range list {
		if v != list[0] {
			w.Fail(w.SourceOf(instr), (1|1<<lane)<<(32*h), probe.ErrTensorMemory, "%v: %s differs between the lanes of a warp: %#x and %#x", probe.ErrTensorMemory, name, list[0], v)
			return 0, false
		}
	}
	return list[0], true
}

// issueOrigin returns the place of issue of an instruction, for lanes m of half h.
func issueOrigin(w *machine.Warp, h int, instr *code.Instr, m uint32) machine.IssueOrigin {
	return machine.IssueOrigin{CTA: w.CTA, Src: w.SourceOf(instr), Warp: w.ID, Lanes: uint64(m) << (32 * h), Active: w.Mask}
}
