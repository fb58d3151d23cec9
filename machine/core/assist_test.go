package core_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gemu/interp"
	"gemu/machine/cache"
	"gemu/machine/core"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/probe"
	"gemu/ptx"
)

// forms is the compressed lines of a test: each line that comes is decompressed by an execution, and each store that covers a line is compressed
// by another into a number of bursts.
type forms struct {
	fill, store *core.Execution
	bursts      int
}

func (f *forms) Fill(int, uint64) *core.Execution { return f.fill }
func (f *forms) Store(int, uint64, *stream.Content) (int, *core.Execution) {
	return f.bursts, f.store
}

// formMemory is a memory whose lines come in forms of a burst. It returns stores of a part of a line.
type formMemory struct {
	*memory.Fixed
	parts map[int64]bool // requests that are stores of a part
	sent  []string       // stores: cycle, sectors, bursts
}

func (f *formMemory) Send(now int64, r *memory.Request) bool {
	if r.Kind == probe.AccessStore {
		f.sent = append(f.sent, fmt.Sprintf("%d: %04b in %d", now, r.Sectors, r.Bursts))
	}
	if r.Acknowledged {
		f.parts[r.ID] = true
	}
	return f.Fixed.Send(now, r)
}

func (f *formMemory) Advance(now int64, replies []memory.Reply) []memory.Reply {
	replies = f.Fixed.Advance(now, replies)
	for i := range replies {
		replies[i].Bursts, replies[i].Returned = 1, f.parts[replies[i].ID]
	}
	return replies
}

// execution returns the execution of all instructions of a body but its return.
func execution(t *testing.T, spec *core.Spec, body string, high bool) *core.Execution {
	t.Helper()
	m := core.New(config(*spec, 1, 1, cache.Shape{Sets: 4, Ways: 2}, memory.NewFixed(50)))
	record(t, program(body), ptx.Dim(1), ptx.Dim(32), m)
	info := m.Launches()[0].LaunchInfo
	x := &core.Execution{Routine: core.NewRoutine(spec, info, "routine", high)}
	naiveRoutines[x.Routine] = &naiveRoutine{high, info}
	for i := range strings.Count(body, ";") {
		x.Path = append(x.Path, int32(i))
	}
	return x
}

// runAssist runs a kernel of a block on the machine of TestAssistSequences. It returns the issues of the kernel and the requests with their cycles. fill and store are routines,
// "" for none; those of fill have high priority if high is true.
func runAssist(t *testing.T, body string, block int, assist core.Assist, fill string, high bool, store string) (issues, sent []string, l *core.Launch) {
	t.Helper()
	spec := simple()
	f := &forms{bursts: 2}
	if fill != "" {
		f.fill = execution(t, &spec, fill, high)
	}
	if store != "" {
		f.store = execution(t, &spec, store, false)
	}
	spec.Policy = watched(spec.Policy, &issues)
	mem := &formMemory{memory.NewFixed(50), map[int64]bool{}, nil}
	config := config(spec, 1, 1, cache.Shape{Sets: 4, Ways: 2}, mem)
	plan := config.Plan
	config.Plan = func(l *stream.Launch) core.Plan {
		p := plan(l)
		p.Forms, p.Assist = f, &assist
		return p
	}
	m := core.New(config)
	second := config
	second.Policy = simple().Policy
	second.Memory = &formMemory{memory.NewFixed(50), map[int64]bool{}, nil}
	n := newNaive(second)
	recordData(t, program(body), ptx.Dim(1), ptx.Dim(block), stream.Consumers{m, n})
	if m.Err() != nil {
		t.Fatal(m.Err())
	}
	l = m.Launches()[0]
	if assist.L1Tags == 0 && !assist.DirectLoad && !assist.CombineStores { // the naive machine has none of these
		if cycles := n.run(); cycles != l.Cycles || n.counts.AssistCounts != l.AssistCounts {
			t.Errorf("the naive machine takes %d cycles, want %d; %+v, want %+v", cycles, l.Cycles, n.counts.AssistCounts, l.AssistCounts)
		}
	}
	return issues, mem.sent, l
}

// TestAssistSequences has the cycles of a multiprocessor with assist warps by hand, on the machine of simple. A routine of two integers takes
// eight cycles: the first is staged and issued in the cycle of its trigger, the second four cycles later, and its result is there after four more.
func TestAssistSequences(t *testing.T) {
	const two = "\tmov.u32 %x0, 1;\n\tadd.u32 %x1, %x0, 1;\n"
	const load = "\tld.param.u64 %b, [in];\n\tld.global.u32 %x0, [%b];\n"
	const address = "\tld.param.u64 %b, [in];\n\tmov.u32 %t, %tid.x;\n\tmul.wide.u32 %p, %t, 4;\n\tadd.u64 %p, %b, %p;\n"
	counts := func(l *core.Launch) string {
		return fmt.Sprint(l.AssistFills, l.AssistStores, l.MergedStores, l.RawStores, l.AssistInstructions, l.Stalls.Assist)
	}
	for _, c := range []struct {
		name        string
		body        string
		fill, store string // routines; "": none
		high        bool   // of fill
		buffer      int
		want        []string // issues of the kernel
		sent        []string
		cycles      int64
		counts      string
	}{
		// Taken in 4, answered in 54. The routine ends in 62: then the sum, and the return. The last result is there in 66.
		{"a load waits for its line", load + "\tadd.u32 %x1, %x0, 1;\n", two, "", true, 1, []string{"0:0", "3:0", "62:0", "63:0"}, nil, 67, "1 0 0 0 2 2"},
		{"dedicated logic takes no time", load + "\tadd.u32 %x1, %x0, 1;\n", "", "", true, 1, []string{"0:0", "3:0", "54:0", "55:0"}, nil, 59, "0 0 0 0 0 0"},
		// A chain of 14 sums from cycle 4 on: that of cycle 56 waits for the assist warp, and its result until 66, when the return has issued.
		{"the parent of a warp of high priority waits", load + strings.Repeat("\tadd.u32 %x1, %x1, 1;\n", 14), two, "", true, 1,
			[]string{"0:0", "3:0", "4:0", "8:0", "12:0", "16:0", "20:0", "24:0", "28:0", "32:0", "36:0", "40:0", "44:0", "48:0", "52:0", "62:0", "63:0"}, nil, 67, "1 0 0 0 2 2"},
		// Of low priority it issues in 54, and in 58: then the sum of cycle 56 has issued, and the next would come in 60.
		{"the parent of a warp of low priority goes on", load + strings.Repeat("\tadd.u32 %x1, %x1, 1;\n", 14), two, "", false, 1,
			[]string{"0:0", "3:0", "4:0", "8:0", "12:0", "16:0", "20:0", "24:0", "28:0", "32:0", "36:0", "40:0", "44:0", "48:0", "52:0", "56:0", "57:0"}, nil, 63, "1 0 0 0 2 2"},
		// An access of an assist warp takes the port in 55, and the L1 has its data in 65.
		{"an access of an assist warp", load + "\tadd.u32 %x1, %x0, 1;\n", "\tld.shared.u32 %x0, [tile];\n", "", true, 1, []string{"0:0", "3:0", "65:0", "66:0"}, nil, 70, "1 0 0 0 1 1"},
		// The store is issued in 15 and taken in 16, when the return issues. The routine is staged in 17 and ends in 25, which is the 26th cycle.
		{"a store is compressed", address + "\tst.global.u32 [%p], %t;\n", "", two, true, 1, []string{"0:0", "1:0", "5:0", "11:0", "15:0", "16:0"}, []string{"25: 1111 in 2"}, 26, "0 1 0 0 2 2"},
		{"without a place it is sent raw", address + "\tst.global.u32 [%p], %t;\n", "", two, true, 0, []string{"0:0", "1:0", "5:0", "11:0", "15:0", "16:0"}, []string{"16: 1111 in 0"}, 17, "0 0 0 1 0 0"},
		// Two stores, issued in 15 and 16 and taken in 16 and 17: the second finds no place.
		{"a full buffer", address + "\tst.global.u32 [%p], %t;\n\tst.global.u32 [%p+128], %t;\n", "", two, true, 1, []string{"0:0", "1:0", "5:0", "11:0", "15:0", "16:0", "17:0"}, []string{"17: 1111 in 0", "26: 1111 in 2"}, 27, "0 1 0 1 2 2"},
		// With two places the second store waits for the assist warp of the first, since both have the same parent: staged in 25, when the first ends, and
		// ended in 33.
		{"one assist warp at a time", address + "\tst.global.u32 [%p], %t;\n\tst.global.u32 [%p+128], %t;\n", "", two, true, 2, []string{"0:0", "1:0", "5:0", "11:0", "15:0", "16:0", "17:0"}, []string{"26: 1111 in 2", "34: 1111 in 2"}, 35, "0 2 0 0 4 4"},
		// A store of a lane is taken in 4 and returned in 54, decompressed until 62, compressed until 70, and sent as a whole.
		{"a store of a part is merged", "\tld.param.u64 %b, [in];\n\tst.global.u32 [%b], 1;\n", two, two, true, 1, []string{"0:0", "3:0", "4:0"}, []string{"4: 0001 in 0", "70: 1111 in 2"}, 71, "1 0 1 0 4 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, sent, l := runAssist(t, c.body, 32, core.Assist{StoreBuffer: c.buffer}, c.fill, c.high, c.store)
			if text := counts(l); !slices.Equal(got, c.want) || l.Cycles != c.cycles || text != c.counts || !slices.Equal(sent, c.sent) {
				t.Errorf("%q in %d cycles, want %q in %d; counts %s, want %s; sent %q, want %q", got, l.Cycles, c.want, c.cycles, text, c.counts, sent, c.sent)
			}
		})
	}
}

// TestAssistLevels has the cycles of forms in the L1 and of stores that wait for each other, by hand, on the machine of TestAssistSequences.
func TestAssistLevels(t *testing.T) {
	const two = "\tmov.u32 %x0, 1;\n\tadd.u32 %x1, %x0, 1;\n"
	const load = "\tld.param.u64 %b, [in];\n\tld.global.u32 %x0, [%b];\n"
	const again = load + "\tadd.u32 %x1, %x0, 1;\n\tld.global.u32 %x2, [%b];\n\tadd.u32 %x1, %x2, 1;\n"
	const address = "\tld.param.u64 %b, [in];\n\tmov.u32 %t, %tid.x;\n\tmul.wide.u32 %p, %t, 4;\n\tadd.u64 %p, %b, %p;\n"
	const uncoalesced = address + "\tld.global.u32 %x0, [%p+64];\n\tadd.u32 %x1, %x0, 1;\n"
	for _, c := range []struct {
		name   string
		body   string
		block  int
		assist core.Assist
		fill   string // routine; "": none
		store  string
		want   []string // issues of the kernel
		sent   []string
		cycles int64
		counts string // lines decompressed, of them in the L1, lines compressed, combined stores, merged ones
	}{
		// The second load is issued in 63 and taken in 64. The L1 has the line: its data are there in 74.
		{"the L1 has the line", again, 32, core.Assist{}, two, "", []string{"0:0", "3:0", "62:0", "63:0", "74:0", "75:0"}, nil, 79, "1 0 0 0 0"},
		// It has the form, so a routine is staged in 65 and ends in 73.
		{"the L1 has the form", again, 32, core.Assist{L1Tags: 2}, two, "", []string{"0:0", "3:0", "62:0", "63:0", "73:0", "74:0"}, nil, 78, "2 1 0 0 0"},
		// A store removes the form: the load is taken in 65, and answered in 115. The store comes back in 114, and is decompressed first, until 122; the
		// load's routine ends in 130.
		{"a store removes a form", load + "\tadd.u32 %x1, %x0, 1;\n\tst.global.u32 [%b], %t;\n\tld.global.u32 %x2, [%b];\n\tadd.u32 %x1, %x2, 1;\n", 32, core.Assist{L1Tags: 2}, two, "",
			[]string{"0:0", "3:0", "62:0", "63:0", "64:0", "130:0", "131:0"}, []string{"64: 0001 in 0", "122: 1111 in 2"}, 135, "3 0 0 0 1"},
		// The load is issued in 15. Its two lines are taken in 16 and 17 and answered in 66 and 67; the second routine begins with the end of the first, in 74.
		{"lines of a load", uncoalesced, 32, core.Assist{}, two, "", []string{"0:0", "1:0", "5:0", "11:0", "15:0", "82:0", "83:0"}, nil, 87, "2 0 0 0 0"},
		{"an uncoalesced load takes its bytes from the forms", uncoalesced, 32, core.Assist{DirectLoad: true}, two, "", []string{"0:0", "1:0", "5:0", "11:0", "15:0", "67:0", "68:0"}, nil, 72, "0 0 0 0 0"},
		{"a coalesced load does not", again, 32, core.Assist{DirectLoad: true}, two, "", []string{"0:0", "3:0", "62:0", "63:0", "74:0", "75:0"}, nil, 79, "1 0 0 0 0"},
		// The first half is taken in 16, the second in 17. The routine is staged in 18 and ends in 26.
		{"halves of a line are compressed together", address + "\tst.global.u32 [%p], %t;\n\tst.global.u32 [%p+64], %t;\n", 16, core.Assist{StoreBuffer: 1, CombineStores: true}, two, two,
			[]string{"0:0", "1:0", "5:0", "11:0", "15:0", "16:0", "17:0"}, []string{"26: 1111 in 2"}, 27, "0 0 1 1 0"},
		// The warp returns in 16, so the half is sent in 17. It comes back in 67, and is decompressed until 75 and compressed until 83.
		{"a half is sent at the end of its warp", address + "\tst.global.u32 [%p], %t;\n", 16, core.Assist{StoreBuffer: 1, CombineStores: true}, two, two,
			[]string{"0:0", "1:0", "5:0", "11:0", "15:0", "16:0"}, []string{"17: 0011 in 0", "83: 1111 in 2"}, 84, "1 0 0 0 1"},
		// The second half is of another line and needs the place in 17. It is sent in 18. Without routines they are merged as they come back.
		{"a half is sent for another line", address + "\tst.global.u32 [%p], %t;\n\tst.global.u32 [%p+128], %t;\n", 16, core.Assist{StoreBuffer: 1, CombineStores: true}, "", "",
			[]string{"0:0", "1:0", "5:0", "11:0", "15:0", "16:0", "17:0"}, []string{"17: 0011 in 0", "18: 0011 in 0", "67: 1111 in 2", "68: 1111 in 2"}, 69, "0 0 0 0 2"},
		// The load is taken in 17, and the first half is sent before it. The second half is taken in 18, when the warp returns, and sent in 19.
		{"a half is sent before a load of its line", address + "\tst.global.u32 [%p], %t;\n\tld.global.u32 %x0, [%p];\n\tst.global.u32 [%p+64], %t;\n", 16, core.Assist{StoreBuffer: 1, CombineStores: true}, "", "",
			[]string{"0:0", "1:0", "5:0", "11:0", "15:0", "16:0", "17:0", "18:0"}, []string{"17: 0011 in 0", "19: 1100 in 0", "67: 1111 in 2", "69: 1111 in 2"}, 70, "0 0 0 0 2"},
		{"a half is sent before a load that passes the L1", address + "\tst.global.u32 [%p], %t;\n\tld.global.cg.u32 %x0, [%p];\n\tst.global.u32 [%p+64], %t;\n", 16, core.Assist{StoreBuffer: 1, CombineStores: true}, "", "",
			[]string{"0:0", "1:0", "5:0", "11:0", "15:0", "16:0", "17:0", "18:0"}, []string{"17: 0011 in 0", "19: 1100 in 0", "67: 1111 in 2", "69: 1111 in 2"}, 70, "0 0 0 0 2"},
		// A load of another line leaves the half in the buffer: the second is taken in 18, and the line, which has no routine, is sent in the same cycle.
		{"a half waits during a load of another line", address + "\tst.global.u32 [%p], %t;\n\tld.global.u32 %x0, [%p+128];\n\tst.global.u32 [%p+64], %t;\n", 16, core.Assist{StoreBuffer: 1, CombineStores: true}, "", "",
			[]string{"0:0", "1:0", "5:0", "11:0", "15:0", "16:0", "17:0", "18:0"}, []string{"18: 1111 in 2"}, 68, "0 0 0 1 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, sent, l := runAssist(t, c.body, c.block, c.assist, c.fill, true, c.store)
			text := fmt.Sprint(l.AssistFills, l.AssistHits, l.AssistStores, l.CombinedStores, l.MergedStores)
			if !slices.Equal(got, c.want) || l.Cycles != c.cycles || text != c.counts || !slices.Equal(sent, c.sent) {
				t.Errorf("%q in %d cycles, want %q in %d; counts %s, want %s; sent %q, want %q", got, l.Cycles, c.want, c.cycles, text, c.counts, sent, c.sent)
			}
		})
	}
}

// recordData runs a kernel for a consumer of requests with their bytes.
func recordData(t *testing.T, text string, grid, block ptx.Dim3, c stream.Consumer) {
	t.Helper()
	recordLaunch(t, text, 0, &interp.Launch{Grid: grid, Block: block}, stream.NewDataRecorder(c))
}
