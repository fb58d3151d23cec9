package profile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/internal/corpus"
	"gemu/internal/part"
	"gemu/interp"
	"gemu/kernels"
	"gemu/probe"
)

// tree returns the whole profile as text.
func tree(p *Profile) string {
	var b strings.Builder
	for _, l := range p.Launches {
		fmt.Fprintln(&b, l.Kernel.Name, l.Grid, l.Block, l.Count)
	}
	var write func(n *Node, indent string)
	write = func(n *Node, indent string) {
		fmt.Fprintln(&b, indent, n.Func.Name, n.Calls, n.branches)
		for i := range n.Counts {
			if n.Counts[i] != (Counts{}) {
				fmt.Fprintf(&b, "%s %d %v\n", indent, n.fn.instrs[i].Pos.Line, n.Counts[i])
			}
		}
		for _, c := range n.Children {
			if c.Calls > 0 {
				write(c, indent+"  ")
			}
		}
	}
	for _, r := range p.Roots {
		write(r, "")
	}
	return b.String()
}

// TestProfileAddsUpToCounts: for programs of the corpus, the counts add up to the counts of the launches, and are
// the same in every mode.
func TestProfileAddsUpToCounts(t *testing.T) {
	part.SkipShort(t)
	list, err := corpus.Programs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	isTried := part.Share(t, 512, 96, 1)
	for i, p := range list {
		if !isTried(i) {
			continue
		}
		want := ""
		for _, mode := range []interp.Mode{interp.Vector, interp.Affine, interp.Check} {
			observer := New()
			o := p.Run(func(l *interp.Launch) { l.Mode, l.Probes = mode, []probe.Probe{observer} })
			if o.Err != nil {
				break
			}
			got := observer.Profile()
			var n probe.Counts
			for _, r := range o.Results {
				n.Add(&r.Counts)
			}
			c := got.Total()
			sum := [5]int64{c.Execs, c.Active, c.Lanes, c.Branches, c.Divergent}
			if all := [5]int64{n.WarpInstructions, n.LaneSlots, n.ThreadInstructions, n.Branches, n.DivergentBranches}; sum != all {
				t.Errorf("%s, %s: warp instructions, active lanes, thread instructions, branches, divergent ones are %d, the launch counts %d", p, mode, sum, all)
			}
			if err := conserved(got); err != nil {
				t.Errorf("%s: %v", p, err)
			}
			for _, l := range got.Loops() {
				if l.Entries <= 0 || l.Iterations < l.Entries {
					t.Errorf("%s: loop of %s at block %d: %d lanes enter, %d go round", p, l.Func.Name, l.Headers[0].Index, l.Entries, l.Iterations)
				}
			}
			if text := tree(got); want == "" {
				want = text
			} else if diff := cmp.Diff(want, text); diff != "" {
				t.Errorf("%s: vector mode and %s (-vector +%s):\n%s", p, mode, mode, diff)
			}
		}
	}
}

// conserved checks that the lanes entering a block equal the lanes leaving its predecessors for it; fewer are
// allowed after calls in which lanes may end.
func conserved(p *Profile) error {
	for _, f := range p.Functions() {
		flow := newFlow(f)
		calls := slices.ContainsFunc(f.Instrs, func(in Instr) bool { return in.Call != nil })
		for _, b := range f.Blocks[1:] {
			if len(b.Instrs) == 0 {
				continue
			}
			came := int64(0)
			for _, from := range b.Preds {
				came += flow.lanesAlong(from, b)
			}
			if lanes := flow.lanesThrough(b); lanes != came && !(calls && lanes < came) {
				return fmt.Errorf("line %d: %d lanes are there, %d have come", b.Instrs[0].Pos.Line, lanes, came)
			}
		}
	}
	return nil
}

// TestProfileDoesNotDependOnWorkers: counts do not depend on the number of the host's cores.
func TestProfileDoesNotDependOnWorkers(t *testing.T) {
	for _, name := range []string{"bfs", "nqueens", "transpose", "histogram"} {
		var want string
		for workers := 1; workers <= 2; workers++ {
			p := New()
			s, err := kernels.Start(t.Context(), kernels.Lookup(name), interp.NewDevice(interp.Config{Workers: workers, Probes: []probe.Probe{p}}), map[string]int{"bfs": 2048, "nqueens": 6, "transpose": 64, "histogram": 4096}[name])
			if err != nil {
				t.Fatal(err)
			}
			s.Prepare = func(l *interp.Launch) { l.Mode = interp.Vector }
			if err := kernels.Lookup(name).Run(s); err != nil {
				t.Fatal(err)
			}
			if got := tree(p.Profile()); workers == 1 {
				want = got
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("@%s (-1 worker +%d workers):\n%s", name, workers, diff)
			}
		}
	}
}
