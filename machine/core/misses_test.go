package core_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gemu/machine/cache"
	"gemu/machine/core"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/ptx"
)

// aheads is a routine of a test for misses: it reads the next line ahead. The first byte of the register counts the misses of a warp.
type aheads struct {
	execution *core.Execution
	counts    []byte // of the warp, after each miss
}

func (a *aheads) Miss(register *stream.Line, _ int32, line uint64) (*core.Execution, []uint64) {
	register[0]++
	a.counts = append(a.counts, register[0])
	return a.execution, []uint64{line + 1}
}

// TestMissSequences has the cycles of routines for misses by hand, on the machine of TestAssistSequences. A routine that is triggered in a
// cycle is staged in the next one.
func TestMissSequences(t *testing.T) {
	const sum = "\tadd.u32 %x0, %x0, 1;\n" // four cycles
	const load = "\tld.param.u64 %b, [in];\n\tld.global.u32 %x0, [%b];\n"
	for _, c := range []struct {
		name   string
		body   string
		sums   int // instructions of the routine, each of which waits for the one before
		high   bool
		want   []string // issues of the kernel; nil: not compared
		cycles int64    // 0: not compared
		counts string   // routines, misses without one, routines without effect, sectors that are read ahead, those of lines that are used, instructions of routines
		states []byte
	}{
		// The load is taken in 4 and answered in 54. The routine issues in 5 and 9 and ends in 13, when the next line is read, which arrives in 63. The load of
		// that line is issued in 55 and taken in 56, as the first to access it, so that a routine issues in 57 and 61, and reads a line in 65. It arrives in 115.
		{"the next line is read ahead", load + "\tadd.u32 %x1, %x0, 1;\n\tld.global.u32 %x2, [%b+128];\n\tadd.u32 %x1, %x2, 1;\n", 2, false,
			[]string{"0:0", "3:0", "54:0", "55:0", "63:0", "64:0"}, 116, "2 0 0 8 4 4", []byte{1, 2}},
		// The warp ends in 54, between the thirteenth instruction and its result.
		{"the parent ends first", load, 13, false, []string{"0:0", "3:0", "4:0"}, 55, "1 0 1 0 0 13", []byte{1}},
		// Sums of the parent would issue in 4, 8 and 12. Of low priority, the routine issues in cycles in which they do not.
		{"the parent comes before a routine of low priority", load + strings.Repeat("\tadd.u32 %x1, %x1, 1;\n", 3), 2, false,
			[]string{"0:0", "3:0", "4:0", "8:0", "12:0", "13:0"}, 64, "1 0 0 4 0 2", []byte{1}},
		// The routine is staged in 5, and the parent waits until it ends in 13.
		{"the parent waits for a routine of high priority", load + strings.Repeat("\tadd.u32 %x1, %x1, 1;\n", 3), 2, true,
			[]string{"0:0", "3:0", "4:0", "13:0", "17:0", "18:0"}, 64, "1 0 0 4 0 2", []byte{1}},
		// Two MSHRs: two loads in 4 and 5, two more in 54 and 55, two in 104 and 105. The first routine would end in 165, after its warp.
		{"a warp has at most four routines", load + "\tld.global.u32 %x1, [%b+512];\n\tld.global.u32 %x2, [%b+1024];\n\tld.global.u32 %x3, [%b+1536];\n\tld.global.u32 %x4, [%b+2048];\n\tld.global.u32 %x5, [%b+2560];\n", 40, false,
			nil, 0, "4 2 4 0 0", []byte{1, 2, 3, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := simple()
			misses := &aheads{execution: execution(t, &spec, strings.Repeat(sum, c.sums), c.high)}
			var issues []string
			spec.Policy = watched(spec.Policy, &issues)
			config := config(spec, 1, 1, cache.Shape{Sets: 4, Ways: 2}, memory.NewFixed(50))
			plan := config.Plan
			config.Plan = func(l *stream.Launch) core.Plan {
				p := plan(l)
				p.Misses, p.Assist = misses, &core.Assist{}
				return p
			}
			m := core.New(config)
			second := config
			second.Policy, second.Memory = simple().Policy, memory.NewFixed(50)
			n := newNaive(second)
			record(t, program(c.body), ptx.Dim(1), ptx.Dim(32), stream.Consumers{m, n})
			if m.Err() != nil {
				t.Fatal(m.Err())
			}
			l := m.Launches()[0]
			states := slices.Clone(misses.counts)
			if cycles := n.run(); cycles != l.Cycles || n.counts.AssistCounts != l.AssistCounts {
				t.Errorf("the naive machine takes %d cycles, want %d; %+v, want %+v", cycles, l.Cycles, n.counts.AssistCounts, l.AssistCounts)
			}
			counts := fmt.Sprint(l.AssistMisses, l.DroppedMisses, l.EndedMisses, l.Prefetches, l.UsedPrefetches, l.AssistInstructions)
			if c.want != nil && !slices.Equal(issues, c.want) || c.cycles > 0 && l.Cycles != c.cycles || !strings.HasPrefix(counts, c.counts) || !slices.Equal(states, c.states) {
				t.Errorf("%q in %d cycles, want %q in %d; counts %s, want %s; register %v, want %v", issues, l.Cycles, c.want, c.cycles, counts, c.counts, states, c.states)
			}
		})
	}
}

// none is no routine for any miss.
type none struct{}

func (none) Miss(*stream.Line, int32, uint64) (*core.Execution, []uint64) { return nil, nil }

// TestMissesLeaveCompressionAlone: dedicated logic compresses whole stores, and no store of a part comes back, also on a machine whose assist warps run for
// misses.
func TestMissesLeaveCompressionAlone(t *testing.T) {
	const body = "\tld.param.u64 %b, [in];\n\tmov.u32 %t, %tid.x;\n\tmul.wide.u32 %p, %t, 4;\n\tadd.u64 %p, %b, %p;\n" +
		"\tld.global.u32 %x0, [%p];\n\tst.global.u32 [%p+128], %x0;\n\tst.global.u32 [%b+256], 1;\n"
	run := func(misses core.Misses) (*core.Launch, []string) {
		mem := &formMemory{memory.NewFixed(50), map[int64]bool{}, nil}
		config := config(simple(), 1, 1, cache.Shape{Sets: 4, Ways: 2}, mem)
		plan := config.Plan
		config.Plan = func(l *stream.Launch) core.Plan {
			p := plan(l)
			p.Forms, p.Misses = &forms{bursts: 2}, misses
			return p
		}
		m := core.New(config)
		recordData(t, program(body), ptx.Dim(1), ptx.Dim(32), m)
		if m.Err() != nil {
			t.Fatal(m.Err())
		}
		return m.Launches()[0], mem.sent
	}
	want, stores := run(nil)
	got, sent := run(none{})
	if got.Cycles != want.Cycles || got.Counts != want.Counts || !slices.Equal(sent, stores) || len(sent) != 2 || !strings.HasSuffix(sent[0], "1111 in 2") || !strings.HasSuffix(sent[1], "0001 in 0") {
		t.Errorf("%d cycles, %+v, stores %q; without misses %d, %+v, %q", got.Cycles, got.Counts, sent, want.Cycles, want.Counts, stores)
	}
}
