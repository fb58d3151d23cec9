package core_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gemu/internal/part"
	"gemu/machine/cache"
	"gemu/machine/core"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/ptx"
)

// observed keeps what an observer receives.
type observed struct {
	begin, end int64
	last       int64
	warps      []core.WarpSpan
	ctas       []core.CTASpan
}

func (o *observed) Begin(_ *stream.Launch, at int64) { o.begin = at }
func (o *observed) CTA(c *core.CTASpan)              { o.ctas = append(o.ctas, *c) }
func (o *observed) Warp(w *core.WarpSpan)            { o.warps = append(o.warps, *w) }
func (o *observed) Cycle(now int64)                  { o.last = now }
func (o *observed) End(at int64)                     { o.end = at }

// TestObservedSequences has the states of the warps by hand, on the machine of TestSequences.
func TestObservedSequences(t *testing.T) {
	for _, test := range []struct {
		name, body string
		block      int
		want       []string
	}{
		// The sum of cycle 4 waits for the constant of cycle 0. The return waits for nothing, and the warp for the sum.
		{"dependent integers", "\tmov.u32 %x0, 1;\n\tadd.u32 %x1, %x0, 1;\n", 32, []string{
			"0: 0+1 issue mov", "0: 1+3 data add for mov", "0: 4+1 issue add", "0: 5+1 issue ret", "0: 6+2 data end for add"}},
		// The second product finds its unit busy in cycle 1. The sum that comes after it is not held up.
		{"a busy unit", "\tmul.lo.u32 %x0, %x3, 3;\n\tmul.lo.u32 %x1, %x3, 3;\n", 32, []string{
			"0: 0+1 issue mul", "0: 1+1 compute mul", "0: 2+1 issue mul", "0: 3+1 issue ret", "0: 4+4 data end for mul"}},
		// Warp 2 arrives in cycle 2, in which the barrier completes, and all go on in 9: warp 2 first, which has issued last.
		{"a barrier", "\tbar.sync 0;\n", 96, []string{
			"0: 0+1 issue bar", "0: 1+1 barrier bar", "0: 2+7 data ret for bar", "0: 9+1 other warp ret", "0: 10+1 issue ret",
			"1: 0+1 other warp bar", "1: 1+1 issue bar", "1: 2+7 data ret for bar", "1: 9+2 other warp ret", "1: 11+1 issue ret",
			"2: 0+2 other warp bar", "2: 2+1 issue bar", "2: 3+6 data ret for bar", "2: 9+1 issue ret"}},
		// The memory unit takes the first of 32 passes in cycle 9 and has two places: the third store is issued in cycle 10, when the
		// first has left. The second leaves in 41, when the banks are free, so the fourth is issued in 42.
		{"a full memory unit", "\tmov.u32 %t, %tid.x;\n\tshl.b32 %x0, %t, 7;\n" + "\tst.shared.u32 [%x0], %t;\n\tst.shared.u32 [%x0], %t;\n\tst.shared.u32 [%x0], %t;\n\tst.shared.u32 [%x0], %t;\n", 32, []string{
			"0: 0+1 issue mov", "0: 1+3 data shl for mov", "0: 4+1 issue shl", "0: 5+3 data st for shl", "0: 8+1 issue st", "0: 9+1 issue st", "0: 10+1 issue st", "0: 11+30 memory st", "0: 41+1 issue st",
			"0: 42+1 issue ret"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := &observed{}
			c := config(simple(), 1, 1, cache.Shape{Sets: 4, Ways: 2}, memory.NewFixed(50))
			c.Observer = o
			m := core.New(c)
			record(t, program(test.body), ptx.Dim(1), ptx.Dim(test.block), m)
			if m.Err() != nil {
				t.Fatal(m.Err())
			}
			l := m.Launches()[0]
			name := func(i int32) string {
				if i < 0 {
					return "end"
				}
				instr, _ := l.Program.At(int(i))
				return instr.Form.Op.Name
			}
			slices.SortStableFunc(o.warps, func(a, b core.WarpSpan) int { return cmp.Compare(a.Warp, b.Warp) })
			var got []string
			for _, w := range o.warps {
				text := fmt.Sprintf("%d: %d+%d %s %s", w.Warp, w.From, w.To-w.From, w.Reason, name(w.Instr))
				if w.Reason == core.WaitsForData {
					text += " for " + name(w.Cause)
				}
				got = append(got, text)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("\n%q, want\n%q", got, test.want)
			}
		})
	}
}

// TestObserverAgainstCounts: the spans of a warp have no gap, each instruction issues as often as it is counted, and the spans give the
// reasons of all cycles of all schedulers again.
func TestObserverAgainstCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(part.Seed(t), 11))
	for range part.Count(12, 12, 200) {
		text, block := randomProgram(rng)
		spec := randomSpec(rng)
		sms, resident := 1+rng.IntN(3), 1+rng.IntN(4)
		o := &observed{}
		c := config(spec, sms, resident, cache.Shape{Sets: 1 + rng.IntN(8), Ways: 1 + rng.IntN(4)}, &slow{room: rng.IntN(12), base: 1 + rng.Int64N(200), spread: uint64(rng.IntN(100))})
		c.Observer = o
		m := core.New(c)
		record(t, text, ptx.Dim(1+rng.IntN(9)), block, m)
		if m.Err() != nil {
			t.Fatal(m.Err())
		}
		l := m.Launches()[0]
		if o.begin != l.Begin || o.end != l.Begin+l.Cycles || o.last != o.end-1 {
			t.Fatalf("the launch is observed from %d to %d, last cycle %d; want %d to %d", o.begin, o.end, o.last, l.Begin, l.Begin+l.Cycles)
		}
		checkSpans(t, l, o, sms, spec.Schedulers)
		if t.Failed() {
			t.Fatalf("%s\n%+v, %d SMs, %d CTAs", text, spec, sms, resident)
		}
	}
}

// checkSpans compares spans with the counts of a launch.
func checkSpans(t *testing.T, l *core.Launch, o *observed, sms, schedulers int) {
	type warp struct{ cta, warp int }
	served := make([]map[int64]int32, sms) // by cycle, the instruction that the memory unit serves while warps wait for it
	for i := range served {
		served[i] = map[int64]int32{}
	}
	ctas, ends := map[int]core.CTASpan{}, map[warp]int64{}
	for _, c := range o.ctas {
		ctas[c.CTA] = c
	}
	if len(ctas) != l.Grid.Count() || len(o.ctas) != len(ctas) {
		t.Errorf("%d spans of %d CTAs, want %d", len(o.ctas), len(ctas), l.Grid.Count())
	}
	issued := make([]int64, len(l.Instrs))
	cycles := make([][]core.Reason, sms*schedulers) // the first reason of each scheduler in each cycle; idle is the last
	const idle = core.WaitsForBarrier + 1
	for i := range cycles {
		cycles[i] = slices.Repeat([]core.Reason{idle}, int(l.Cycles))
	}
	// A scheduler of which a warp waits for its turn issues, so that it has no such reason.
	order := map[core.Reason]int{core.Issues: 0, core.WaitsForTurn: 1, core.WaitsForUnit: 2, core.WaitsForMemory: 3, core.WaitsForData: 4, core.WaitsForBarrier: 5, idle: 6}
	for _, w := range o.warps {
		k, in := warp{w.CTA, w.Warp}, ctas[w.CTA]
		last, ok := ends[k]
		if !ok {
			last = in.From
		}
		if w.From != last || w.To <= w.From || w.To > in.To || w.SM != in.SM {
			t.Errorf("%+v comes after cycle %d, in %+v", w, last, in)
		}
		ends[k] = w.To
		if w.Reason == core.Issues {
			if issued[w.Instr]++; w.To != w.From+1 {
				t.Errorf("%+v", w)
			}
		}
		if w.Instr < 0 { // no further instruction: the scheduler has no reason to wait for it
			continue
		}
		for at := w.From; at < w.To; at++ {
			of := &cycles[w.SM*schedulers+w.Slot%schedulers][at-l.Begin]
			if order[w.Reason] < order[*of] {
				*of = w.Reason
			}
			if w.Reason == core.WaitsForMemory {
				served[w.SM][at-l.Begin] = w.Cause
			}
		}
	}
	if want := l.Grid.Count() * ((l.Block.Count() + l.WarpSize - 1) / l.WarpSize); len(ends) != want {
		t.Errorf("spans of %d warps, want %d", len(ends), want)
	}
	for i := range issued {
		if issued[i] != l.Instrs[i].Active {
			t.Errorf("instruction %d issues in %d spans, want %d", i, issued[i], l.Instrs[i].Active)
		}
	}
	counts := map[core.Reason]int64{}
	full := make([]int64, len(l.Instrs))
	for i, list := range cycles {
		for at, r := range list {
			if counts[r]++; r == core.WaitsForMemory {
				full[served[i/schedulers][int64(at)]]++
			}
		}
	}
	for i, n := range full {
		if want := l.Instrs[i].Full.Total(); n != want {
			t.Errorf("the memory unit serves instruction %d in %d cycles of schedulers, want %d", i, n, want)
		}
	}
	got := core.Stalls{Active: counts[core.Issues], Compute: counts[core.WaitsForUnit], Memory: counts[core.WaitsForMemory], Data: counts[core.WaitsForData], Barrier: counts[core.WaitsForBarrier], Idle: counts[idle]}
	if got != l.Stalls || counts[core.WaitsForTurn] != 0 {
		t.Errorf("the spans have %+v and %d cycles without an issue, want %+v", got, counts[core.WaitsForTurn], l.Stalls)
	}
}
