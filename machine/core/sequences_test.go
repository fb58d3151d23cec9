package core_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"gemu/machine/cache"
	"gemu/machine/core"
	"gemu/machine/memory"
	"gemu/ptx"
)

// watched is a policy that notes the cycle and the slot of each issue.
func watched(p *core.Policy, list *[]string) *core.Policy {
	return &core.Policy{Name: "watched", New: func(slots uint64) core.Scheduler { return &watcher{p.New(slots), list} }}
}

type watcher struct {
	core.Scheduler
	list *[]string
}

func (w *watcher) Pick(v *core.Warps, ready uint64, now int64) int {
	slot := w.Scheduler.Pick(v, ready, now)
	*w.list = append(*w.list, fmt.Sprintf("%d:%d", now, slot))
	return slot
}

// simple is a multiprocessor with one scheduler and easy numbers: integers take 4 cycles, multiplications 6, their unit is taken for 2; special
// functions 20 and 8; parameters and constants 3; branches 5; a barrier 7; the L1 10, shared memory 12, memory 50.
func simple() core.Spec {
	s := core.Volta
	s.Schedulers, s.Policy = 1, core.GTO
	for c := range core.Memory {
		s.Units[c] = core.Unit{Of: c, Count: 1, Cycles: 1, Latency: 4}
	}
	s.Units[core.Mul] = core.Unit{Of: core.Mul, Count: 1, Cycles: 2, Latency: 6}
	s.Units[core.Special] = core.Unit{Of: core.Special, Count: 1, Cycles: 8, Latency: 20}
	s.Units[core.Constant].Latency = 3
	s.Units[core.Control].Latency = 5
	s.Barrier, s.L1, s.Shared, s.MSHRs, s.Merges, s.Queue = 7, 10, 12, 2, 2, 2
	return s
}

// TestSequences has the cycle and the slot of each issue, and the number of cycles, by hand. The last issue of each warp is its return. A
// launch ends with the last result: a sum that is issued in cycle 8 is there in cycle 12, which is the thirteenth.
func TestSequences(t *testing.T) {
	address := "\tld.param.u64 %b, [in];\n" // cycle 0; the result is ready in cycle 3
	for _, test := range []struct {
		name   string
		body   string
		block  int
		change func(s *core.Spec)
		want   []string
		cycles int64
	}{
		{name: "dependent integers wait for four cycles", block: 32, // the return has no result, and the warp ends with the sum of cycle 8
			body: "\tmov.u32 %x0, 1;\n\tadd.u32 %x1, %x0, 1;\n\tadd.u32 %x2, %x1, 1;\n",
			want: []string{"0:0", "4:0", "8:0", "9:0"}, cycles: 13},
		{name: "a result that is written twice waits for the first", block: 32,
			body: "\tmul.lo.u32 %x0, %x3, 3;\n\tmov.u32 %x0, 1;\n\tmov.u32 %x1, 1;\n", // 0, then the product is there in 6
			want: []string{"0:0", "6:0", "7:0", "8:0"}, cycles: 12},
		{name: "a unit takes the next product after two cycles", block: 32,
			body: "\tmul.lo.u32 %x0, %x3, 3;\n\tmul.lo.u32 %x1, %x3, 3;\n\tmov.u32 %x2, 1;\n",
			want: []string{"0:0", "2:0", "3:0", "4:0"}, cycles: 9},
		{name: "greedy then oldest", block: 96, // warp 0 until it waits, then the oldest that can issue; a waiting warp comes back when it can and the greedy one cannot
			body: "\tmov.u32 %x0, 1;\n\tmov.u32 %x1, 2;\n\tadd.u32 %x2, %x0, %x1;\n",
			want: []string{"0:0", "1:0", "2:1", "3:1", "4:2", "5:2", "6:0", "7:0", "8:1", "9:1", "10:2", "11:2"}, cycles: 15},
		{name: "loose round robin", block: 96, change: func(s *core.Spec) { s.Policy = core.Loose },
			body: "\tmov.u32 %x0, 1;\n\tmov.u32 %x1, 2;\n\tadd.u32 %x2, %x0, %x1;\n", // the second constants come in 3, 4, 5, so sums in 7, 8, 9
			want: []string{"0:0", "1:1", "2:2", "3:0", "4:1", "5:2", "7:0", "8:1", "9:2", "10:0", "11:1", "12:2"}, cycles: 14},
		{name: "oldest first", block: 64, change: func(s *core.Spec) { s.Policy = core.OldestFirst },
			body: "\tmov.u32 %x0, 1;\n\tadd.u32 %x1, %x0, 1;\n\tmov.u32 %x2, 1;\n", // warp 1 issues in 1, and can go on in 5, when warp 0 is first
			want: []string{"0:0", "1:1", "4:0", "5:0", "6:0", "7:1", "8:1", "9:1"}, cycles: 13},
		{name: "a branch delays its warp", block: 32, // taken by no lane
			body: "\tsetp.eq.u32 %r, 1, 2;\n\t@%r bra L;\nL:\n\tmov.u32 %x0, 1;\n",
			want: []string{"0:0", "4:0", "9:0", "10:0"}, cycles: 14},
		{name: "a load that misses", block: 32, // issued in 3, taken in 4, answered in 54; the sum until 58
			body: address + "\tld.global.u32 %x0, [%b];\n\tadd.u32 %x1, %x0, 1;\n",
			want: []string{"0:0", "3:0", "54:0", "55:0"}, cycles: 59},
		{name: "a load that hits", block: 32, // the second is issued in 55, taken in 56, and ready in 66; the sum until 70
			body: address + "\tld.global.u32 %x0, [%b];\n\tadd.u32 %x0, %x0, 1;\n\tld.global.u32 %x1, [%b];\n\tadd.u32 %x2, %x1, %x0;\n",
			want: []string{"0:0", "3:0", "54:0", "55:0", "66:0", "67:0"}, cycles: 71},
		{name: "loads in flight merge, and wait for a place", block: 32, // taken in 4, 5 and, since an entry has two places, 54; the third hits then
			body: address + "\tld.global.u32 %x0, [%b];\n\tld.global.u32 %x1, [%b];\n\tld.global.u32 %x2, [%b];\n\tadd.u32 %x3, %x0, %x1;\n\tadd.u32 %x4, %x2, 1;\n",
			// the queue has two places: the third is issued in 5, when the first has left it in 4 and the second leaves it in 5
			want: []string{"0:0", "3:0", "4:0", "5:0", "54:0", "64:0", "65:0"}, cycles: 69},
		{name: "conflicts of banks", block: 32, // taken in 9, the last of 32 passes in 40, data in 52
			body: "\tmov.u32 %t, %tid.x;\n\tshl.b32 %x0, %t, 7;\n\tld.shared.u32 %x1, [%x0];\n\tadd.u32 %x2, %x1, 1;\n",
			want: []string{"0:0", "4:0", "8:0", "52:0", "53:0"}, cycles: 57},
		{name: "a barrier", block: 64, // warp 1 arrives in 1, so both go on in 8; warp 1 has issued last
			body: "\tbar.sync 0;\n\tmov.u32 %x0, 1;\n",
			want: []string{"0:0", "1:1", "8:1", "9:1", "10:0", "11:0"}, cycles: 15},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := simple()
			if test.change != nil {
				test.change(&spec)
			}
			var got []string
			spec.Policy = watched(spec.Policy, &got)
			m := core.New(config(spec, 1, 1, cache.Shape{Sets: 4, Ways: 2}, memory.NewFixed(50)))
			record(t, program(test.body), ptx.Dim(1), ptx.Dim(test.block), m)
			if m.Err() != nil {
				t.Fatal(m.Err())
			}
			if l := m.Launches()[0]; !slices.Equal(got, test.want) || l.Cycles != test.cycles {
				t.Errorf("%q in %d cycles, want %q in %d", got, l.Cycles, test.want, test.cycles)
			}
		})
	}
}

// TestCauseOfWait: a warp waits for a load, and for the end of a barrier. While the time of the load's data is unknown, the load is the cause; then
// the barrier, which ends later.
func TestCauseOfWait(t *testing.T) {
	spec := simple()
	spec.Barrier = 100
	m := core.New(config(spec, 1, 1, cache.Shape{Sets: 4, Ways: 2}, memory.NewFixed(50)))
	// The parameter is there in cycle 3. The load is issued in 3, taken in 4, and has its data in 54. The barrier is issued in 4 and ends in 104.
	record(t, program("\tld.param.u64 %b, [in];\n\tld.global.u32 %x0, [%b];\n\tbar.sync 0;\n\tadd.u32 %x1, %x0, 1;\n"), ptx.Dim(1), ptx.Dim(32), m)
	if m.Err() != nil {
		t.Fatal(m.Err())
	}
	causes := map[string]int64{}
	for i, n := range m.Launches()[0].Instrs {
		if in, _ := m.Launches()[0].Program.At(i); n.Causes > 0 {
			causes[in.Text] = n.Causes
		}
	}
	want := map[string]int64{"ld.param.u64": 3 - 1, "ld.global.u32": 54 - 5, "bar.sync": 104 - 54}
	if !maps.Equal(causes, want) {
		t.Errorf("causes %v, want %v", causes, want)
	}
}
