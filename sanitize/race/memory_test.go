package race

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// growing is a kernel whose CTAs pass their knowledge on to later CTAs: through a counter with fences, or with
// acq_rel. Each CTA also uses an mbarrier and asynchronous copies of its own.
const growing = `.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 counter;
.visible .entry last(.param .u64 x)
{
	.shared .align 8 .b64 bar; .shared .align 16 .b8 tile[512]; .shared .u32 flag;
	.reg .u32 %r<8>; .reg .u64 %rd<6>; .reg .pred %p;
	ld.param.u64 %rd0, [x];
	mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;
	mad.lo.u32 %r3, %r1, %r2, %r0; mul.wide.u32 %rd2, %r3, 16; add.u64 %rd2, %rd0, %rd2;
	shl.b32 %r4, %r0, 4; mov.u32 %r5, tile; add.u32 %r5, %r5, %r4;
	cp.async.ca.shared.global [%r5], [%rd2], 16;
	cp.async.wait_all;
	setp.ne.u32 %p, %r0, 0;
	@!%p mbarrier.init.shared.b64 [bar], 32;
	bar.sync 0;
	mbarrier.arrive.shared.b64 _, [bar];
	bar.sync 0;
	@%p ret;
	st.release.cta.shared.u32 [flag], 1;
	FENCE
	ATOM.u32 %r6, [counter], 1;
	FENCE
	ret;
}
`

// spy inspects the run at the end of a launch.
type spy struct {
	*Probe
	look func(r *run)
}

func (s *spy) OnEvent(e *probe.Event) {
	if e.Kind == probe.OnLaunchEnd {
		s.look(s.run(e.Launch))
	}
	s.Probe.OnEvent(e)
}

// grown runs such a kernel. It returns the allocated bytes and the number of entries in the remaining clocks.
func grown(t *testing.T, src string, ctas int) (bytes uint64, entries int) {
	t.Helper()
	var log finding.Log
	observer := &spy{Probe: New(&log, 0), look: func(r *run) {
		seen := map[*clockTree]bool{}
		var count func(c *clockTree)
		count = func(c *clockTree) {
			if c != nil && !seen[c] {
				seen[c] = true
				entries++
				count(c.withoutBit)
				count(c.withBit)
			}
		}
		for _, at := range r.syncs {
			for _, v := range at {
				count(v.deviceClock.all)
				for _, x := range v.releases {
					count(x.all)
				}
				entries += len(v.releases)
			}
		}
		if len(r.runningCTAs)+len(r.clusters)+len(r.mbarriers) > 0 {
			t.Errorf("of %d CTAs that have ended %d are alive, in %d clusters, with %d mbarriers", ctas, len(r.runningCTAs), len(r.clusters), len(r.mbarriers))
		}
		if len(r.syncs) != 1 {
			t.Errorf("variables in %d allocations are left, want 1", len(r.syncs))
		}
	}}
	dev := interp.NewDevice(interp.Config{Workers: 1, Probes: []probe.Probe{observer}})
	m, err := dev.Load("growing.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	x, err := dev.Alloc(ctas * 32 * 16)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := m.Run(context.Background(), &interp.Launch{Kernel: "last", Grid: ptx.Dim(ctas), Block: ptx.Dim(32), Args: []any{x}, Mode: interp.Vector}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := len(log.Findings()); n > 0 {
		t.Errorf("%d races found", n)
	}
	return after.TotalAlloc - before.TotalAlloc, entries
}

// TestMemoryGrowsLinearly checks that memory use is linear in the number of CTAs.
func TestMemoryGrowsLinearly(t *testing.T) {
	part.SkipShort(t)
	for name, r := range map[string]*strings.Replacer{
		"fences":  strings.NewReplacer("FENCE", "fence.acq_rel.gpu;", "ATOM", "atom.relaxed.gpu.global.add"),
		"acq_rel": strings.NewReplacer("FENCE", "", "ATOM", "atom.acq_rel.gpu.global.add"),
	} {
		src := r.Replace(growing)
		const n, times = 256, 8
		few, fewEntries := grown(t, src, n)
		many, manyEntries := grown(t, src, times*n)
		t.Logf("%s: %d CTAs %d bytes, %d entries; %d CTAs %d bytes, %d entries", name, n, few, fewEntries, times*n, many, manyEntries)
		if many > times*few*9/8 {
			t.Errorf("%s: %d CTAs took %d bytes, and %d of them %d", name, n, few, times*n, many)
		}
		if manyEntries > 2*times*n+100 || fewEntries < n {
			t.Errorf("%s: %d clocks are left of %d CTAs, and of %d of them %d", name, fewEntries, n, times*n, manyEntries)
		}
	}
}

// readers is a kernel whose threads all read one word and then each write a word of their own.
const readers = `.version 7.0
.target sm_80
.address_size 64
.visible .entry readers(.param .u64 x, .param .u64 y)
{
	.shared .u32 tile[32];
	.reg .u32 %r<4>; .reg .u64 %rd<4>;
	ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [y];
	mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r1, %r1, 32, %r0;
	mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
	ld.global.u32 %r2, [%rd0];
	mov.u32 %r3, tile; st.shared.u32 [%r3], %r2;
	st.global.u32 [%rd1], %r2;
	ret;
}
`

// TestHistoryOfAccesses checks that accesses are kept exactly as long as they may matter.
func TestHistoryOfAccesses(t *testing.T) {
	var log finding.Log
	p := New(&log, 0)
	dev := interp.NewDevice(interp.Config{Workers: 1, Probes: []probe.Probe{p}})
	m, err := dev.Load("readers.ptx", []byte(readers))
	if err != nil {
		t.Fatal(err)
	}
	buffer := func() *interp.Buffer {
		b, err := dev.Alloc(4 * 4 * 32)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	at := [2]uint64{}
	run := func(line int, past []uint64, x, y *interp.Buffer) {
		t.Helper()
		at[line]++
		before := append([]uint64{0, 0}, past...)[len(past):]
		before[line] = at[line]
		o := &probe.HostOrder{Line: line, Clock: at[line], Before: before, Ended: past, Stream: "a stream"}
		if _, err := m.Run(context.Background(), &interp.Launch{Kernel: "readers", Grid: ptx.Dim(4), Block: ptx.Dim(32), Args: []any{x, y}, Mode: interp.Vector, Order: o}); err != nil {
			t.Fatal(err)
		}
	}
	shared, mine := buffer(), buffer()
	for range 20 { // ended operations are forgotten
		other := buffer()
		run(0, []uint64{at[0]}, shared, other)
		if n := len(p.history.operations); n != 1 {
			t.Fatalf("%d operations are known, want 1", n)
		}
		if n := len(p.history.shadows); n != 2 {
			t.Fatalf("there is shadow memory of %d allocations, want 2", n)
		}
	}
	run(1, []uint64{at[0]}, shared, mine) // this operation never ends for the host
	first := p.history.operations[0]
	for range 100 {
		other := buffer()
		run(0, []uint64{at[0], 0}, shared, other)
		other.Free()
	}
	if n := len(p.history.operations); n > 4 || p.history.operations[0] != first {
		t.Errorf("%d operations are known, want the first and few others", n)
	}
	if n := len(p.history.shadows); n != 2 {
		t.Errorf("there is shadow memory of %d allocations, want 2", n)
	}
	for cta, want := range map[int32]*operation{0: first, 3: first, 4: nil, 200: nil} {
		if got := p.history.operationOf(first.first + cta); got != want {
			t.Errorf("the CTA %d behind the first is of %v, want %v", cta, got, want)
		}
	}
	if n := len(p.history.links); n > 200 {
		t.Errorf("%d links are in lists, or were", n)
	}
	of := func(f finding.Finding) bool { return f.OtherPlace.Launch == first.launch.ID }
	if slices.ContainsFunc(log.Findings(), of) {
		t.Errorf("found %v", log.Findings())
	}
	if run(0, []uint64{at[0], 0}, buffer(), mine); !slices.ContainsFunc(log.Findings(), of) {
		t.Errorf("a race with the first launch is not found: %v", log.Findings())
	}
	at = [2]uint64{}
	if _, err := m.Run(context.Background(), &interp.Launch{Kernel: "readers", Grid: ptx.Dim(4), Block: ptx.Dim(32), Args: []any{shared, mine}, Mode: interp.Vector}); err != nil {
		t.Fatal(err)
	}
	if p.history != nil {
		t.Error("something is kept behind a launch that comes before all others")
	}
}

// TestSpareMemory checks that the memory kept for the next launch is bounded, and that memory within the bounds is kept.
func TestSpareMemory(t *testing.T) {
	lists := func(n, entries int) (h *history) {
		h = &history{shadows: map[*probe.Allocation]*shadow{}}
		for range n {
			s := &shadow{}
			s.backlog.list = make([]deferredAccess, 0, entries)
			h.shadows[&probe.Allocation{}] = s
		}
		return h
	}
	for _, tt := range []struct{ words, lists, entries, wantWords, wantLists int }{
		{1 << 10, 4, 64, 1 << 10, 4},
		{1 << 24, 4, 64, 0, 4}, // of 128 MiB
		{1 << 22, 40, 64, 1 << 22, 32},
		{1 << 22, 4, 1 << 19, 1 << 22, 1}, // of 32 MiB, and 20 MiB each
	} {
		var b buffers
		b.compaction.accesses = make([]keptReads, 0, tt.words)
		n := b.next(lists(tt.lists, tt.entries))
		if got := cap(n.compaction.accesses); got < tt.wantWords || tt.wantWords == 0 && got > 0 || len(n.lists) != tt.wantLists {
			t.Errorf("of %d words and %d lists of %d entries, %d words and %d lists are kept, want %d and %d", tt.words, tt.lists, tt.entries, got, len(n.lists), tt.wantWords, tt.wantLists)
		}
		if again := n.next(lists(tt.lists, tt.entries)); cap(again.compaction.accesses) != cap(n.compaction.accesses) || len(again.lists) > maxSpareLists {
			t.Errorf("of %d words and %d lists, %d and %d are kept after the next launch", cap(n.compaction.accesses), len(n.lists), cap(again.compaction.accesses), len(again.lists))
		}
	}
}

// TestListMemory checks that the list of a backlog takes little more memory than its limit, until compact leaves more.
func TestListMemory(t *testing.T) {
	var b backlog
	for b.size() <= minBacklog {
		b.enqueue(&deferredAccess{bytes: 4}, 1, 0, 0, 1<<10)
	}
	if got, want := cap(b.list)*accessBytes, minBacklog+maxWidth*accessBytes; got > want {
		t.Errorf("a list of %d bytes has %d bytes of memory, want at most %d", b.size(), got, want)
	}
}

// TestClockTree compares the clock tree with a plain map.
func TestClockTree(t *testing.T) {
	part.SkipShort(t)
	random := rand.New(rand.NewPCG(1, 2))
	model := func(c *clock) map[int32]moment {
		m := map[int32]moment{}
		c.before(math.MaxInt32, func(cta int32) bool {
			m[cta] = c.momentOf(cta, 0)
			return false
		})
		return m
	}
	clocks := []*clock{nil}
	for range 4000 {
		a, b := clocks[random.IntN(len(clocks))], clocks[random.IntN(len(clocks))]
		var n *clock
		want := model(a)
		if random.IntN(2) == 0 {
			cta, now := int32(random.Uint32()>>(1+random.IntN(28))), moment(1+random.IntN(1000))
			k := a.own(cta)
			k.learnAll(max(now, k.all))
			n = a.withKnown(cta, k)
			want[cta] = max(want[cta], now)
		} else {
			n = joinClocks(a, b)
			for cta, when := range model(b) {
				want[cta] = max(want[cta], when)
			}
			if maps.Equal(want, model(a)) && n != a {
				t.Fatal("a clock that knows all is not the join")
			}
		}
		if !maps.Equal(model(n), want) {
			t.Fatalf("got %v, want %v", model(n), want)
		}
		limit, when := int32(random.Uint32()>>(1+random.IntN(28))), moment(random.IntN(1000))
		below, since := 0, false
		n.before(limit, func(int32) bool { below++; return false })
		for cta, m := range want {
			if cta < limit {
				below--
			}
			since = since || cta != limit && m >= when
		}
		if below != 0 || since != n.knowsSince(when, limit) {
			t.Fatalf("of %v, %d too many are below %d; %t that one but it is known since %d, want %t", want, below, limit, n.knowsSince(when, limit), when, since)
		}
		if len(clocks) < 60 {
			clocks = append(clocks, n)
		} else {
			clocks[random.IntN(len(clocks))] = n
		}
	}
}
