package record

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gemu/interp"
	"gemu/ptx"
)

// loopAndCall has a kernel with a loop, an early return and a call, and the called function with a branch.
const loopAndCall = `.version 7.0
.target sm_80
.address_size 64
.file 1 "source.cu"
.file 2 "header.h"
.file 3 "other.cu"
.func f(.reg .u32 %x)
{
	.reg .pred %p;
	.loc 2 7 1
	setp.eq.u32 %p, %x, 0;
	@%p bra ZERO;
	bar.warp.sync 1;
ZERO:
	ret;
}
.visible .entry k(.param .u64 out)
{
	.reg .pred %p;
	.reg .u32 %i;
	.loc 1 3 1
	mov.u32 %i, %tid.x;
	setp.gt.u32 %p, %i, 5;
	@%p ret;
AGAIN:
	sub.u32 %i, %i, 1;
	setp.lt.u32 %p, %i, 5;
	@%p bra AGAIN;
	call f, (%i);
	bra LAST;
UNREACHED:
	bra UNREACHED;
LAST:
END:
}
.visible .entry second()
{
	.loc 3 1 1
	ret;
}
`

// launchKernels launches kernels of loopAndCall with one lane.
func launchKernels(names ...string) func(dev *interp.Device) error {
	return func(dev *interp.Device) error {
		m, err := dev.Load("test.ptx", []byte(loopAndCall))
		if err != nil {
			return err
		}
		for _, name := range names {
			l := &interp.Launch{Kernel: name, Grid: ptx.Dim(1), Block: ptx.Dim(1)}
			if name == "k" {
				l.Args = []any{uint64(0)}
			}
			if _, err := m.Run(context.Background(), l); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestBlocks: the blocks and edges of a launch follow from its PTX: a block begins at a label or after a jump, control leaves a
// guarded jump in two directions, and lanes reconverge where all paths to the end meet.
func TestBlocks(t *testing.T) {
	f := opened(t, recorded(t, Options{}, launchKernels("second", "k")))
	l := all[LaunchRow](t, f)[1]
	blocks, edges, instructions := all[BlockRow](t, f), all[EdgeRow](t, f), all[InstructionRow](t, f)
	name := func(i int32) string {
		if i < 0 {
			return "end"
		}
		return fmt.Sprint(i - int32(l.FirstBlock))
	}
	if l.FirstBlock != 1 || int(l.FirstBlock+l.Blocks) != len(blocks) {
		t.Errorf("blocks %d to %d of %d", l.FirstBlock, l.FirstBlock+l.Blocks, len(blocks))
	}
	var got []string
	for i, b := range blocks[l.FirstBlock:][:l.Blocks] {
		line := fmt.Sprintf("%d %s", i, b.Function)
		if b.Labels != "" {
			line += " (" + b.Labels + ")"
		}
		line += ":"
		for _, x := range instructions[b.First:][:b.Instructions] {
			if x.Function != b.Function {
				t.Errorf("block %d of %s has an instruction of %s", i, b.Function, x.Function)
			}
			line += " " + strings.Fields(strings.TrimPrefix(x.Text, "@%p "))[0]
		}
		line += " →"
		for _, e := range edges {
			if e.From == l.FirstBlock+uint32(i) {
				line += " " + name(e.To)
			}
		}
		got = append(got, line+", post-dominator "+name(b.PostDominator))
	}
	want := []string{
		"0 k: mov.u32 setp.gt.u32 ret → 1 end, post-dominator end",
		"1 k (AGAIN): sub.u32 setp.lt.u32 bra → 2 1, post-dominator 2",
		"2 k: call bra → 4, post-dominator 4",
		"3 k (UNREACHED): bra → 3, post-dominator end",
		"4 k (LAST END): → end, post-dominator end",
		"5 f: setp.eq.u32 bra → 6 7, post-dominator 7",
		"6 f: bar.warp.sync → 7, post-dominator 7",
		"7 f (ZERO): ret → end, post-dominator end",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !slices.IsSortedFunc(edges, func(a, b EdgeRow) int { return int(a.From) - int(b.From) }) {
		t.Errorf("edges are not in the order of blocks: %v", edges)
	}
}

// TestSources: the texts of a module and of the files that it names are recorded once for all its launches, if they may be read.
func TestSources(t *testing.T) {
	var asked []string
	o := Options{Contents: Contents{Source: true}, ReadSource: func(name string) (string, bool) {
		asked = append(asked, name)
		return "text \xff of " + name, name != "header.h"
	}}
	f := opened(t, recorded(t, o, launchKernels("second", "k", "k")))
	list := all[SourceRow](t, f)
	want := []SourceRow{{PTXSource, "test.ptx", loopAndCall}, {CompiledSource, "source.cu", "text \uFFFD of source.cu"}, {CompiledSource, "other.cu", "text \uFFFD of other.cu"}}
	if !slices.Equal(list, want) {
		t.Errorf("got\n%q\nwant\n%q", list, want)
	}
	if !slices.Equal(asked, []string{"header.h", "source.cu", "other.cu"}) {
		t.Errorf("asked for %q", asked)
	}
	for i, l := range all[LaunchRow](t, f) {
		if l.FirstSource != 0 || l.Sources != 3 {
			t.Errorf("launch %d: %d sources from %d on", i, l.Sources, l.FirstSource)
		}
	}
	for _, o := range []Options{{ReadSource: o.ReadSource}, {Contents: Contents{Source: true}}} {
		f := opened(t, recorded(t, o, launchKernels("k")))
		want := 0
		if o.Source {
			want = 1 // of the PTX
		}
		if list := all[SourceRow](t, f); len(list) != want || all[LaunchRow](t, f)[0].Sources != uint32(want) {
			t.Errorf("%+v: %d sources", o.Contents, len(list))
		}
	}
}
