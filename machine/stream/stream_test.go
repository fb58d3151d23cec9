package stream_test

import (
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"sync"
	"testing"

	"gemu/internal/corpus"
	"gemu/internal/part"
	"gemu/interp"
	"gemu/machine/stream"
	"gemu/probe"
	"gemu/ptx"
)

// warp identifies a warp of a launch.
type warp struct {
	launch    uint64
	cta, warp int
}

// requests are requests as texts, by warp: direction, and marked sectors of global memory in ascending order.
type requests map[warp][]string

// counter finds the sectors of each request byte by byte.
type counter struct {
	mu      sync.Mutex
	list    requests
	effects bool // the program has asynchronous copies
}

func (c *counter) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAfter | probe.OnEffect, Addresses: true}
}
func (c *counter) OnEvent(*probe.Event) {}
func (c *counter) CTA(l *probe.LaunchInfo, index int, _ ptx.Dim3) probe.Sink {
	return sink(func(e *probe.Event) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if e.Kind == probe.OnEffect {
			c.effects = true
			return
		}
		for i := range e.Accesses {
			a := &e.Accesses[i]
			if a.Surface {
				continue
			}
			sectors := map[uint64]uint32{} // accessed bytes
			for m := a.Lanes & e.Lanes; m != 0; m &= m - 1 {
				lane := bits.TrailingZeros64(m)
				if space, _, _, ok := a.PlaceOf(lane); !ok || space != ptx.Global {
					continue
				}
				for b := range uint64(a.Length(lane)) {
					sectors[(a.Addr[lane]+b)/32] |= 1 << ((a.Addr[lane] + b) % 32)
				}
			}
			var list []uint64
			accessed := 0
			for number, bytes := range sectors {
				list = append(list, marked(number, bytes == math.MaxUint32))
				accessed += bits.OnesCount32(bytes)
			}
			if len(list) > 0 {
				slices.Sort(list)
				at := warp{l.ID, index, e.Warp}
				c.list[at] = append(c.list[at], fmt.Sprint(a.Kind, list, accessed))
			}
		}
	})
}

// marked returns twice the number of a sector, and one more for a sector that is accessed whole.
func marked(sector uint64, whole bool) uint64 {
	if whole {
		return 2*sector + 1
	}
	return 2 * sector
}

type sink func(e *probe.Event)

func (s sink) OnEvent(e *probe.Event) { s(e) }

// collector makes texts of recorded requests.
type collector struct {
	list    requests
	arrived map[uint64]int  // number of CTAs by launch
	ctas    map[[2]int]bool // the CTAs: launch and index
	err     error
}

func (c *collector) BeginLaunch(*stream.Launch)      {}
func (c *collector) EndLaunch(*stream.Launch, error) {}
func (c *collector) CTA(l *stream.Launch, cta *stream.CTA) {
	if want := l.Grid.Linear(l.CTAAt(c.arrived[l.ID])); cta.Index != want {
		c.err = fmt.Errorf("CTA %d arrived, want %d", cta.Index, want)
	}
	c.arrived[l.ID]++
	c.ctas[[2]int{int(l.ID), cta.Index}] = true
	for i, w := range cta.Warps {
		step := int64(0)
		for _, q := range w.Requests {
			if q.Step < step || q.Step > w.Instructions {
				c.err = fmt.Errorf("step %d of %d follows %d", q.Step, w.Instructions, step)
			}
			step = q.Step
			var list []uint64
			accessed := 0
			for _, t := range w.Transactions[q.First:][:q.N] {
				if t.Local {
					continue
				}
				accessed += int(t.Bytes)
				b := l.Buffers[t.Buffer]
				for s := range uint64(4) {
					if t.Sectors>>s&1 != 0 {
						list = append(list, marked(t.Line*4+s, t.Whole>>s&1 != 0))
						if at := t.Line*128 + s*32; at+32 <= b.Base || at >= b.Base+b.Bytes {
							c.err = fmt.Errorf("address %#x is not in %+v", at, b)
						}
					}
				}
			}
			if len(list) > 0 {
				slices.Sort(list)
				at := warp{l.ID, cta.Index, i}
				c.list[at] = append(c.list[at], fmt.Sprint(q.Kind, list, accessed))
			}
		}
	}
}

// TestRequests compares the requests of programs with sectors that are found byte by byte.
func TestRequests(t *testing.T) {
	part.SkipShort(t)
	every, err := corpus.Programs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	isTried := part.Share(t, 512, 64, 1)
	for i, p := range every {
		if !isTried(i) {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			want, got := &counter{list: requests{}}, &collector{list: requests{}, arrived: map[uint64]int{}, ctas: map[[2]int]bool{}}
			r := stream.NewRecorder(got)
			outcome := p.Run(func(l *interp.Launch) { l.Probes = []probe.Probe{want, r} })
			if got.err != nil {
				t.Error(got.err)
			}
			if outcome.Err != nil { // CTAs after that of the trap do not arrive, even if they have begun
				maps.DeleteFunc(want.list, func(at warp, _ []string) bool { return !got.ctas[[2]int{int(at.launch), at.cta}] })
			}
			if want.effects {
				return // TestKindsOfRequests has copies
			}
			if len(got.list) != len(want.list) {
				t.Errorf("%d warps with requests, want %d", len(got.list), len(want.list))
			}
			for at, list := range want.list {
				if !slices.Equal(got.list[at], list) {
					t.Fatalf("%+v: %v, want %v", at, got.list[at], list)
				}
			}
		})
	}
}

// text has a load that reads from the L2 by a cache operator, a copy through the L1 and one past it, a store of some bytes, and local memory.
const text = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 in)
{
	.shared .align 16 .b8 tile[512];
	.local .align 4 .b8 frame[8];
	.reg .u32 %t, %s, %x;
	.reg .u64 %p, %q, %r;
	mov.u32 %t, %tid.x;
	ld.param.u64 %p, [in];
	mad.wide.u32 %q, %t, 16, %p;
	mad.wide.u32 %r, %t, 4, %p;
	mov.u32 %s, tile;
	mad.lo.u32 %s, %t, 16, %s;
	ld.global.u32 %x, [%r];
	ld.global.cg.u32 %x, [%r];
	cp.async.ca.shared.global [%s], [%q], 16;
	cp.async.cg.shared.global [%s], [%q], 16;
	st.global.u8 [%r], %x;
	atom.global.add.u32 %x, [%p], 1;
	st.local.u32 [frame+4], %x;
	ret;
}
`

// TestKindsOfRequests has the requests of a warp of 32 lanes, by hand: sectors, whole sectors, and whether they read from the L2.
func TestKindsOfRequests(t *testing.T) {
	d := interp.NewDevice(interp.Config{})
	defer d.Close()
	m, err := d.Load("k.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Alloc(4096)
	if err != nil {
		t.Fatal(err)
	}
	c := &kept{}
	if _, err := m.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(2), Block: ptx.Dim(32), Args: []any{b}, Probes: []probe.Probe{stream.NewRecorder(c)}}); err != nil {
		t.Fatal(err)
	}
	for i, cta := range c.ctas {
		w := cta.Warps[0]
		var got []string
		for _, q := range w.Requests {
			for _, x := range w.Transactions[q.First:][:q.N] {
				line, of := x.Line-b.Addr()/128, "global"
				if x.Local {
					line, of = x.Line, "local"
				}
				got = append(got, fmt.Sprintf("%s %s %d %b %b %v, %d bytes", of, q.Kind, line, x.Sectors, x.Whole, q.BypassL1, x.Bytes))
			}
		}
		want := []string{
			"global load 0 1111 1111 false, 128 bytes",
			"global load 0 1111 1111 true, 128 bytes",
			"global load 0 1111 1111 false, 128 bytes", "global load 1 1111 1111 false, 128 bytes", "global load 2 1111 1111 false, 128 bytes", "global load 3 1111 1111 false, 128 bytes",
			"global load 0 1111 1111 true, 128 bytes", "global load 1 1111 1111 true, 128 bytes", "global load 2 1111 1111 true, 128 bytes", "global load 3 1111 1111 true, 128 bytes",
			"global store 0 1111 0 false, 32 bytes",
			"global atomic 0 1 0 false, 4 bytes",
			"local store 5 1111 1111 false, 128 bytes", // 16 bytes are unused, and a word of all lanes is a line
		}
		if !slices.Equal(got, want) {
			t.Errorf("CTA %d: %q, want %q", i, got, want)
		}
	}
}

// bulk copies 160 bytes from global to shared memory and back, and adds them to global memory.
const bulk = `.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 data)
{
	.shared .align 16 .b8 tile[160];
	.shared .align 8 .b64 arrived;
	.reg .pred %p;
	.reg .u32 %t, %m;
	.reg .u64 %d, %state;
	ld.param.u64 %d, [data];
	mov.u32 %t, tile;
	mov.u32 %m, arrived;
	mbarrier.init.shared.b64 [%m], 1;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%t], [%d], 160, [%m];
	mbarrier.arrive.expect_tx.shared.b64 %state, [%m], 160;
WAIT:
	mbarrier.try_wait.shared.b64 %p, [%m], %state;
	@!%p bra WAIT;
	cp.async.bulk.global.shared::cta.bulk_group [%d+256], [%t], 160;
	cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d+512], [%t], 160;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
	ret;
}
`

// TestBulkCopies has the requests of bulk copies by hand: 160 bytes are a line and a sector.
func TestBulkCopies(t *testing.T) {
	d := interp.NewDevice(interp.Config{SM: 90})
	defer d.Close()
	m, err := d.Load("k.ptx", []byte(bulk))
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Alloc(4096)
	if err != nil {
		t.Fatal(err)
	}
	c := &kept{}
	if _, err := m.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(1), Args: []any{b}, Probes: []probe.Probe{stream.NewRecorder(c)}}); err != nil {
		t.Fatal(err)
	}
	var got []string
	w := c.ctas[0].Warps[0]
	for _, q := range w.Requests {
		for _, x := range w.Transactions[q.First:][:q.N] {
			got = append(got, fmt.Sprintf("%d %s %d %b %b %v", q.Step, q.Kind, x.Line-b.Addr()/128, x.Sectors, x.Whole, q.BypassL1))
		}
	}
	want := []string{"5 load 0 1111 1111 true", "5 load 1 1 1 true", "11 store 2 1111 1111 true", "11 store 3 1 1 true", "12 atomic 4 1111 1111 true", "12 atomic 5 1 1 true"} // the loop waits twice
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// multicast copies 16 bytes to both CTAs of a cluster, twice.
const multicast = `.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 data)
{
	.shared .align 16 .b8 tile[16];
	.shared .align 8 .b64 arrived;
	.reg .pred %p;
	.reg .b16 %both;
	.reg .u32 %t, %m, %rank;
	.reg .u64 %d, %state;
	ld.param.u64 %d, [data];
	mov.u32 %t, tile;
	mov.u32 %m, arrived;
	mbarrier.init.shared.b64 [%m], 1;
	mbarrier.arrive.expect_tx.shared.b64 %state, [%m], 32;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	mov.u32 %rank, %cluster_ctarank;
	setp.ne.u32 %p, %rank, 0;
	@%p bra WAIT;
	mov.b16 %both, 3;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%t], [%d], 16, [%m], %both;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%t], [%d], 16, [%m], %both;
WAIT:
	mbarrier.try_wait.shared.b64 %p, [%m], %state;
	@!%p bra WAIT;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	ret;
}
`

// TestPhases has the phases of the program above by hand: step, number, and whether the warp waits.
//
// Each CTA's mbarrier has a phase, of its arrival and of both copies, which rank 0 issues in steps 12 and 13. The barrier of the cluster has a
// phase before the copies, to which the ends of warps do not belong, one after them, and one of the ends.
func TestPhases(t *testing.T) {
	c := &kept{}
	runMulticast(t, c)
	first, second := c.ctas[0], c.ctas[1]
	if first.Cluster != second.Cluster || first.Cluster.CTAs != 2 {
		t.Fatalf("clusters %+v and %+v, want one", first.Cluster, second.Cluster)
	}
	// Numbers of phases follow the order of their first uses.
	number := map[string]int32{"mbarrier 0": first.Warps[0].Phases[0].Number, "mbarrier 1": second.Warps[0].Phases[0].Number, "begin": first.Warps[0].Phases[1].Number, "end": 3, "ends": 4}
	want := [][]stream.PhaseUse{
		{{Step: 5, Number: number["mbarrier 0"]}, {Step: 6, Number: number["begin"]}, {Step: 7, Number: number["begin"], Waits: true}},
		{{Step: 5, Number: number["mbarrier 1"]}, {Step: 6, Number: number["begin"]}, {Step: 7, Number: number["begin"], Waits: true}},
	}
	for i, cta := range c.ctas {
		w := &cta.Warps[0]
		k := len(w.Phases) - 4 // the number of failed tests depends on the schedule
		if !slices.Equal(w.Phases[:3], want[i]) {
			t.Errorf("CTA %d: begins with %v, want %v", i, w.Phases, want[i])
		}
		n := w.Instructions
		rest := []stream.PhaseUse{{Step: n - 4, Number: number[fmt.Sprintf("mbarrier %d", i)], Waits: true}, {Step: n - 2, Number: number["end"]}, {Step: n - 1, Number: number["end"], Waits: true}, {Step: n, Number: number["ends"]}}
		if !slices.Equal(w.Phases[k:], rest) || k != 3 {
			t.Errorf("CTA %d: ends with %v, want %v", i, w.Phases, rest)
		}
	}
	wantArrivals := []stream.Arrival{{Step: 12, Number: number["mbarrier 0"]}, {Step: 12, Number: number["mbarrier 1"]}, {Step: 13, Number: number["mbarrier 0"]}, {Step: 13, Number: number["mbarrier 1"]}}
	if got := first.Warps[0].Arrivals; !slices.Equal(got, wantArrivals) || second.Warps[0].Arrivals != nil {
		t.Errorf("arrivals %v and %v, want %v and none", got, second.Warps[0].Arrivals, wantArrivals)
	}
	phases := make([]int32, 5)
	for _, name := range []string{"mbarrier 0", "mbarrier 1"} {
		phases[number[name]] = 3
	}
	for _, name := range []string{"begin", "end", "ends"} {
		phases[number[name]] = 2
	}
	if !slices.Equal(first.Cluster.Phases, phases) {
		t.Errorf("phases %v, want %v", first.Cluster.Phases, phases)
	}
}

// runMulticast runs the program multicast.
func runMulticast(t *testing.T, c stream.Consumer) {
	t.Helper()
	d := interp.NewDevice(interp.Config{SM: 90})
	defer d.Close()
	m, err := d.Load("k.ptx", []byte(multicast))
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Alloc(16)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(2), Block: ptx.Dim(1), Cluster: ptx.Dim(2), Args: []any{b}, Probes: []probe.Probe{stream.NewRecorder(c)}}); err != nil {
		t.Fatal(err)
	}
}

// TestMulticastCopies: a multicast copy reads its source once, and each of two copies of the same source does.
func TestMulticastCopies(t *testing.T) {
	c := &kept{}
	runMulticast(t, c)
	if first, second := len(c.ctas[0].Warps[0].Requests), len(c.ctas[1].Warps[0].Requests); first != 2 || second != 0 {
		t.Errorf("%d and %d requests, want 2 and 0", first, second)
	}
}

// barriers has four warps. Warp 2 ends at once. The others meet at barrier 0, at the beginning and at the end; the end of warp 2 counts at
// the last meeting. Between, warps 0 and 1 meet twice at barrier 2 of 64 threads: at the first meeting warp 1 arrives without a wait.
const barriers = `.version 8.0
.target sm_80
.address_size 64
.entry k()
{
	.reg .pred %p, %q, %r;
	.reg .u32 %t;
	mov.u32 %t, %tid.x;
	shr.u32 %t, %t, 5;
	setp.eq.u32 %p, %t, 2;
	@%p bra END;
	setp.eq.u32 %q, %t, 1;
	setp.eq.u32 %r, %t, 3;
	bar.sync 0;
	@%r bra LAST;
	@%q bra ONE;
	barrier.sync 2, 64;
	barrier.sync 2, 64;
	bra LAST;
ONE:
	barrier.arrive 2, 64;
	barrier.sync 2, 64;
LAST:
	bar.red.or.pred %p, 0, %q;
	bar.warp.sync 0xffffffff;
END:
	ret;
}
`

// TestMeetings has the meetings of barriers by hand: step, number, and whether the warp waits.
func TestMeetings(t *testing.T) {
	d := interp.NewDevice(interp.Config{})
	defer d.Close()
	m, err := d.Load("k.ptx", []byte(barriers))
	if err != nil {
		t.Fatal(err)
	}
	c := &kept{}
	if _, err := m.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(2), Block: ptx.Dim(128), Probes: []probe.Probe{stream.NewRecorder(c)}}); err != nil {
		t.Fatal(err)
	}
	want := [][]stream.Meeting{
		{{Step: 7, Number: 0, Waits: true}, {Step: 10, Number: 1, Waits: true}, {Step: 11, Number: 2, Waits: true}, {Step: 13, Number: 3, Waits: true}},
		{{Step: 7, Number: 0, Waits: true}, {Step: 10, Number: 1}, {Step: 11, Number: 2, Waits: true}, {Step: 12, Number: 3, Waits: true}},
		{{Step: 5, Number: 0}, {Step: 5, Number: 3}},
		{{Step: 7, Number: 0, Waits: true}, {Step: 9, Number: 3, Waits: true}},
	}
	for _, cta := range c.ctas {
		for i, w := range cta.Warps {
			if !slices.Equal(w.Meetings, want[i]) || cta.Meetings != 4 {
				t.Errorf("CTA %d, warp %d: %v of %d, want %v", cta.Index, i, w.Meetings, cta.Meetings, want[i])
			}
		}
	}
}

// kept keeps CTAs.
type kept struct{ ctas []*stream.CTA }

func (c *kept) BeginLaunch(*stream.Launch)            {}
func (c *kept) EndLaunch(*stream.Launch, error)       {}
func (c *kept) CTA(_ *stream.Launch, cta *stream.CTA) { c.ctas = append(c.ctas, cta) }
