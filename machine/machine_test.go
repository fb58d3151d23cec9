package machine

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gemu/internal/corpus"
	"gemu/internal/part"
	"gemu/interp"
	"gemu/machine/core"
	"gemu/machine/dispatch"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/occupancy"
	"gemu/probe"
	"gemu/ptx"
)

// small is a machine in which most kernels of the tests have misses. Its caches have exact LRU.
var small = Spec{Name: "small", SMs: 3, SM: 70, L1: Level{1 << 10, 2, lru, "xor"}, L2: Level{768, 2, lru, "xor"}}

// naive is a second implementation of the machine, with lists in place of sets and heaps. It keeps all CTAs until the end of a launch.
type naive struct {
	spec Spec
	ctas []*stream.CTA
	l2   [][]*naiveLine // by set, the least recently used line first
	all  []Counts       // of each launch
	by   []map[int32]Counts
}

type naiveLine struct {
	line         uint64
	valid, dirty [4]bool
}

func (n *naive) BeginLaunch(*stream.Launch)          { n.ctas = nil }
func (n *naive) CTA(_ *stream.Launch, c *stream.CTA) { n.ctas = append(n.ctas, c) }

// use returns a line of a cache, as the most recently used one. It adds the line if it is absent, and returns the line that leaves.
func use(cache [][]*naiveLine, l Level, line uint64, add bool) (at, left *naiveLine) {
	set := int(line % uint64(len(cache)))
	if l.Index == "xor" {
		set = 0
		for v := int(line); v > 0; v /= len(cache) {
			if digit := v % len(cache); len(cache)&(len(cache)-1) == 0 {
				set ^= digit
			} else {
				set = (set + digit) % len(cache)
			}
		}
	}
	for i, c := range cache[set] {
		if c.line == line {
			cache[set] = append(slices.Delete(cache[set], i, i+1), c)
			return c, nil
		}
	}
	if !add {
		return nil, nil
	}
	if len(cache[set]) == l.Ways {
		left, cache[set] = cache[set][0], cache[set][1:]
	}
	at = &naiveLine{line: line}
	cache[set] = append(cache[set], at)
	return at, left
}

func (n *naive) EndLaunch(l *stream.Launch, _ error) {
	type warp struct {
		sm, place, number int
		at, begun         int64
		next, met         int
		cta               *stream.CTA
		parked            bool // it waits for the other warps of its last meeting
	}
	resident, _ := occupancy.LimitsOf(n.spec.SM).Resident(occupancy.Block{Threads: l.Block.Count(), Registers: l.Kernel.MaxRegisters(), Shared: l.SharedBytes})
	var warps []*warp
	var dispatcher dispatch.Dispatcher
	if n.spec.Dispatcher != nil {
		dispatcher = n.spec.Dispatcher.New(&dispatch.Launch{Grid: l.Grid, SMs: n.spec.SMs, Places: max(resident, 1)})
	}
	begin := func(sm, place int, at int64) {
		if len(n.ctas) == 0 {
			return
		}
		next := 0
		if dispatcher != nil {
			index, ok := dispatcher.Next(sm)
			if !ok {
				return
			}
			next = slices.IndexFunc(n.ctas, func(c *stream.CTA) bool { return c.Index == index })
		}
		for i := range n.ctas[next].Warps {
			warps = append(warps, &warp{sm: sm, place: place, number: i, begun: at, cta: n.ctas[next]})
		}
		n.ctas = slices.Delete(n.ctas, next, next+1)
	}
	for place := range max(resident, 1) {
		for sm := range n.spec.SMs {
			begin(sm, place, 0)
		}
	}
	if n.l2 == nil {
		n.l2 = make([][]*naiveLine, n.spec.L2.Bytes/128/n.spec.L2.Ways)
	}
	l1 := make([][][]*naiveLine, n.spec.SMs)
	for i := range l1 {
		l1[i] = make([][]*naiveLine, n.spec.L1.Bytes/128/n.spec.L1.Ways)
	}
	by, total := map[int32]Counts{}, Counts{}
	for len(warps) > 0 {
		var first *warp
		for _, w := range warps {
			if w.parked {
				continue
			}
			t := &w.cta.Warps[w.number]
			w.at = w.begun + t.Instructions
			if w.next < len(t.Requests) {
				w.at = w.begun + t.Requests[w.next].Step
			}
			if w.met < len(t.Meetings) {
				w.at = min(w.at, w.begun+t.Meetings[w.met].Step)
			}
			if first == nil || slices.Compare([]int64{w.at, int64(w.sm), int64(w.place), int64(w.number)}, []int64{first.at, int64(first.sm), int64(first.place), int64(first.number)}) < 0 {
				first = w
			}
		}
		t := &first.cta.Warps[first.number]
		if first.met < len(t.Meetings) && (first.next == len(t.Requests) || t.Requests[first.next].Step > t.Meetings[first.met].Step) {
			meeting := t.Meetings[first.met]
			first.met++
			first.parked = meeting.Waits
			missing := slices.ContainsFunc(warps, func(w *warp) bool {
				return w.cta == first.cta && slices.ContainsFunc(w.cta.Warps[w.number].Meetings[w.met:], func(m stream.Meeting) bool { return m.Number == meeting.Number })
			})
			for _, w := range warps {
				if w.cta == first.cta && w.parked && !missing && w.cta.Warps[w.number].Meetings[w.met-1].Number == meeting.Number {
					w.parked = false
					w.begun += first.at - w.at
				}
			}
			continue
		}
		if first.next == len(t.Requests) {
			warps = slices.DeleteFunc(warps, func(w *warp) bool { return w == first })
			if !slices.ContainsFunc(warps, func(w *warp) bool { return w.cta == first.cta }) {
				begin(first.sm, first.place, first.at)
			}
			continue
		}
		q := t.Requests[first.next]
		first.next++
		c := Counts{Requests: 1}
		for _, x := range t.Transactions[q.First : q.First+q.N] {
			if x.Local { // the local memory of the place of the warp, in the order of CTAs that begin first
				warps, size := len(first.cta.Warps), max(int(l.LocalLines), 1)
				place := first.place*n.spec.SMs + first.sm
				depth, inFrame := int(x.Line)/size, int(x.Line)%size
				x.Line = 1<<50 + uint64((depth*max(resident, 1)*n.spec.SMs*warps+place*warps+first.number)*size+inFrame)
			}
			c.UsedBytes += int64(x.Bytes)
			store := q.Kind != probe.AccessLoad
			mine, _ := use(l1[first.sm], n.spec.L1, x.Line, q.Kind == probe.AccessLoad && !q.BypassL1 && !q.KeepOutOfL1 && !has(l1[first.sm], n.spec.L1, x))
			for s := range 4 {
				if x.Sectors>>s&1 == 0 {
					continue
				}
				whole := x.Whole>>s&1 != 0
				switch q.Kind {
				case probe.AccessLoad:
					c.Loads++
					if q.BypassL1 {
						c.L1Bypasses++
					} else if mine != nil && mine.valid[s] {
						c.L1Hits++
						continue
					} else if mine != nil {
						mine.valid[s] = true
					}
					c.L1Misses++
				case probe.AccessStore:
					c.Stores++
					if mine != nil && mine.valid[s] {
						c.L1StoreHits++
					}
					if mine != nil && whole {
						mine.valid[s] = true
					}
				case probe.AccessAtomic:
					c.Atomics++
					if mine != nil {
						mine.valid[s] = false
					}
				}
				below, left := use(n.l2, n.spec.L2, x.Line, true)
				if left != nil {
					for _, dirty := range left.dirty {
						if dirty {
							total.WriteBacks++
						}
					}
				}
				if below.valid[s] {
					c.L2Hits++
					if store {
						c.L2WriteHits++
					}
				} else {
					c.L2Misses++
					if q.Kind != probe.AccessStore || !whole {
						c.Reads++
						if q.Kind == probe.AccessStore {
							c.StoreReads++
						}
					}
				}
				below.valid[s] = true
				below.dirty[s] = below.dirty[s] || store
			}
		}
		sum := by[q.Instr]
		sum.Add(&c)
		by[q.Instr] = sum
		total.Add(&c)
	}
	n.all, n.by = append(n.all, total), append(n.by, by)
}

// has reports whether a cache has all sectors of a transaction. It does not count as a use.
func has(cache [][]*naiveLine, l Level, x stream.Transaction) bool {
	for _, set := range cache {
		for _, c := range set {
			if c.line == x.Line {
				return true
			}
		}
	}
	return false
}

// programs returns a sample of the corpus that runs without an error.
func programs(t *testing.T, few, sample, all int) (list []*corpus.Program) {
	t.Helper()
	every, err := corpus.Programs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	isTried := part.Share(t, few, sample, all)
	for i, p := range every {
		if isTried(i) {
			list = append(list, p)
		}
	}
	return list
}

// record runs a program and gives its launches to a consumer.
func record(p *corpus.Program, c stream.Consumer) {
	r := stream.NewRecorder(c)
	p.Run(func(l *interp.Launch) { l.Probes = []probe.Probe{r} })
}

// TestMachineAgainstNaive compares the counts of programs with those of the second implementation, and verifies the equations of Counts.
func TestMachineAgainstNaive(t *testing.T) {
	part.SkipShort(t)
	var mu sync.Mutex
	total := Counts{}
	t.Cleanup(func() {
		if !part.TryAll() { // a sample may be without stores that the L1 takes
			return
		}
		v := reflect.ValueOf(total)
		for i := range v.NumField() {
			if v.Field(i).Int() == 0 {
				t.Errorf("no program has %s", v.Type().Field(i).Name)
			}
		}
	})
	for _, p := range programs(t, 512, 64, 1) {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			m, n := New(small, 0), &naive{spec: small}
			largeL1, largeL2 := small, small
			largeL1.L1, largeL2.L2 = Level{1 << 22, 1 << 15, lru, "modulo"}, Level{1 << 22, 1 << 15, lru, "modulo"}
			withL1, withL2 := New(largeL1, 0), New(largeL2, 0)
			transferred, sum := Counts{}, Counts{}
			m.OnTransfer(func(t *Transfer) {
				if t.Write {
					transferred.WriteBacks += sectors(t.Sectors)
				} else {
					transferred.Reads += sectors(t.Sectors)
				}
			})
			record(p, stream.Consumers{m, n, withL1, withL2})
			for i, l := range m.Launches() {
				sum.Add(&l.Counts)
				if want := withL1.Launches()[i]; l.L1Compulsory != want.L1Misses-want.L1Bypasses {
					t.Errorf("launch %d: %d compulsory misses of the L1, want %d", i, l.L1Compulsory, want.L1Misses-want.L1Bypasses)
				}
				if want := withL2.Launches()[i]; l.CompulsoryReads != want.Reads-want.StoreReads {
					t.Errorf("launch %d: %d compulsory reads, want %d", i, l.CompulsoryReads, want.Reads-want.StoreReads)
				}
			}
			if transferred.Reads != sum.Reads || transferred.WriteBacks != sum.WriteBacks {
				t.Errorf("transfers of %d and %d sectors, want %d and %d", transferred.Reads, transferred.WriteBacks, sum.Reads, sum.WriteBacks)
			}
			for i, l := range m.Launches() {
				got := l.Counts
				var buffers Counts
				for k := range l.Buffers {
					buffers.Add(&l.Buffers[k].Counts)
				}
				if buffers.Requests = got.Requests; buffers != got { // a request may access several buffers
					t.Errorf("launch %d of %s: buffers %+v, want %+v", i, l.Kernel.Name, buffers, got)
				}
				if got.withoutCompulsory() != n.all[i] {
					t.Fatalf("launch %d of %s: %+v, want %+v", i, l.Kernel.Name, got, n.all[i])
				}
				for instr, c := range n.by[i] {
					mine := l.Instrs[instr].withoutCompulsory()
					if mine.WriteBacks = 0; mine != c {
						t.Fatalf("launch %d of %s, instruction %d: %+v, want %+v", i, l.Kernel.Name, instr, mine, c)
					}
				}
				mu.Lock()
				total.Add(&got)
				mu.Unlock()
			}
		})
	}
}

// TestDispatchers compares the machine with the second implementation under each dispatcher.
func TestDispatchers(t *testing.T) {
	d := interp.NewDevice(interp.Config{})
	defer d.Close()
	module, err := d.Load("k.ptx", []byte(sharing))
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Alloc(1 << 16)
	if err != nil {
		t.Fatal(err)
	}
	hits := map[string]int64{}
	for _, name := range []string{"rotation", "pairs", "cluster:1x8", "cluster:3x3", "cluster:8", "parts:3"} {
		spec := small
		if spec.Dispatcher, err = dispatch.Find(name, nil); err != nil {
			t.Fatal(err)
		}
		m, n := New(spec, 0), &naive{spec: spec}
		if _, err := module.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(13, 8), Block: ptx.Dim(32), Args: []any{b}, Probes: []probe.Probe{stream.NewRecorder(stream.Consumers{m, n})}}); err != nil {
			t.Fatal(err)
		}
		got := m.Launches()[0]
		if got.withoutCompulsory() != n.all[0] || m.Err() != nil {
			t.Errorf("%s: %+v, %v; want %+v", name, got.Counts, m.Err(), n.all[0])
		}
		hits[name] = got.L1Hits
	}
	// All CTAs of a column load the same four lines, and the L1 has eight lines: groups of columns hit more often.
	if hits["cluster:1x8"] <= hits["rotation"] {
		t.Errorf("hits in the L1: %v", hits)
	}
}

// sharing has each CTA load four lines that its x selects, twice.
const sharing = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 in)
{
	.reg .pred %p;
	.reg .u32 %c, %t, %n, %v;
	.reg .u64 %p0, %o;
	mov.u32 %t, %tid.x;
	mov.u32 %c, %ctaid.x;
	ld.param.u64 %p0, [in];
	mad.lo.u32 %t, %c, 128, %t;
	mad.wide.u32 %o, %t, 4, %p0;
	mov.u32 %n, 0;
AGAIN:
	ld.global.u32 %v, [%o];
	ld.global.u32 %v, [%o+128];
	ld.global.u32 %v, [%o+256];
	ld.global.u32 %v, [%o+384];
	add.u32 %n, %n, 1;
	setp.lt.u32 %p, %n, 2;
	@%p bra AGAIN;
	ret;
}
`

// TestWrongDispatcher: a dispatcher that leaves out a CTA is an error.
func TestWrongDispatcher(t *testing.T) {
	spec := small
	spec.Dispatcher = &dispatch.Policy{Name: "none", New: func(*dispatch.Launch) dispatch.Dispatcher { return dispatch.NewZones(3, [][]int{{0}}) }}
	m := New(spec, 0)
	l := &stream.Launch{LaunchInfo: &probe.LaunchInfo{Grid: ptx.Dim(2), Cluster: ptx.Dim(), Block: ptx.Dim(32), WarpSize: 32, Program: instructions{n: 1}, Kernel: &ptx.Func{Name: "k"}}}
	m.BeginLaunch(l)
	for i := range 2 {
		m.CTA(l, &stream.CTA{Index: i, Warps: []stream.Warp{{}}})
	}
	m.EndLaunch(l, nil)
	if err := m.Err(); err == nil || err.Error() != "kernel k on machine small: dispatcher none has left out 1 of 2 CTAs, among them CTA 1" {
		t.Error(err)
	}
}

// withoutCompulsory returns the counts that the second implementation has.
func (c *Counts) withoutCompulsory() Counts {
	n := *c
	n.L1Compulsory, n.CompulsoryReads = 0, 0
	return n
}

// TestVerify: each wrong count is an error.
func TestVerify(t *testing.T) {
	for _, change := range []func(l *Launch){
		func(*Launch) {},
		func(l *Launch) { l.Reads++ },
		func(l *Launch) { l.Instrs[0].Loads++ },
		func(l *Launch) { l.Buffers[0].WriteBacks++ },
		func(l *Launch) { l.Image = ImageCounts{Loads: 1, Changed: 1} }, // no instruction has such a load
		func(l *Launch) { l.Image, l.Changed = ImageCounts{Loads: 1, Changed: 2}, map[int]int64{0: 2} },
		func(l *Launch) { // a contradiction of which all sums know
			for _, c := range []*Counts{&l.Counts, &l.Instrs[0], &l.Buffers[0].Counts} {
				c.L1Hits++
			}
		},
		func(l *Launch) {
			for _, c := range []*Counts{&l.Counts, &l.Instrs[0], &l.Buffers[0].Counts} {
				c.StoreExtra, c.CompulsoryReads = 1, 0
			}
		},
	} {
		c := Counts{Requests: 1, Loads: 2, L1Hits: 1, L1Misses: 1, L2Misses: 1, Reads: 1, UsedBytes: 64, L1Compulsory: 1, CompulsoryReads: 1}
		l := &Launch{LaunchInfo: &probe.LaunchInfo{Kernel: &ptx.Func{}}, Counts: c, Instrs: []Counts{c}, Buffers: []Buffer{{Counts: c}}}
		m := New(small, 0)
		m.launches = []*Launch{l}
		before := l.Counts
		change(l)
		unchanged := before == l.Counts && l.Image == ImageCounts{} && l.Instrs[0] == before && l.Buffers[0].Counts == before
		if err := m.Verify(); (err == nil) != unchanged {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

// TestUnlimitedCaches: in caches that hold everything, each sector is missed once.
func TestUnlimitedCaches(t *testing.T) {
	part.SkipShort(t)
	large := Spec{Name: "large", SMs: 1, SM: 70, L1: Level{1 << 22, 1 << 15, lru, "modulo"}, L2: Level{1 << 22, 1 << 15, lru, "modulo"}}
	for _, p := range programs(t, 1024, 128, 4) {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			m, d := New(large, 0), &distinct{seen: map[uint64]bool{}}
			record(p, stream.Consumers{m, d})
			if d.local {
				return
			}
			var got Counts
			for _, l := range m.Launches() {
				got.Add(&l.Counts)
			}
			if int(got.L2Misses) != len(d.seen) || got.WriteBacks != 0 {
				t.Errorf("%d misses and %d write-backs of %d distinct sectors", got.L2Misses, got.WriteBacks, len(d.seen))
			}
		})
	}
}

// distinct collects the distinct sectors of launches.
type distinct struct {
	seen  map[uint64]bool
	local bool // there are sectors of local memory, whose addresses are the machine's
}

func (d *distinct) BeginLaunch(*stream.Launch)      {}
func (d *distinct) EndLaunch(*stream.Launch, error) {}
func (d *distinct) CTA(_ *stream.Launch, c *stream.CTA) {
	for _, w := range c.Warps {
		for _, t := range w.Transactions {
			d.local = d.local || t.Local
			for s := range 4 {
				if t.Sectors>>s&1 != 0 {
					d.seen[t.Line*4+uint64(s)] = true
				}
			}
		}
	}
}

// instructions is a program of as many instructions.
type instructions struct {
	probe.Program
	n int
}

func (p instructions) Len() int { return p.n }

// kernel writes a row of a matrix per CTA, with the sums of elements of two other rows.
const kernel = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .u32 %c, %n, %t, %i, %a, %b;
	.reg .u64 %p, %o, %q;
	mov.u32 %t, %tid.x;
	mov.u32 %c, %ctaid.x;
	mad.lo.u32 %i, %c, 64, %t;
	ld.param.u64 %p, [out];
	mad.wide.u32 %o, %i, 4, %p;
	xor.b32 %n, %i, 192;
	mad.wide.u32 %q, %n, 4, %p;
	ld.global.u32 %a, [%q+65536];
	ld.global.u32 %b, [%q+66048];
	add.u32 %a, %a, %b;
	st.global.u32 [%o], %a;
	red.global.add.u32 [%p+131072], 1;
	ret;
}
`

// TestHostThreads: the counts do not depend on the number of host threads, and are those of the second implementation. The grid has more
// CTAs than the machine has places.
func TestHostThreads(t *testing.T) {
	var want []*Launch
	for _, workers := range []int{1, 2, 7} {
		d := interp.NewDevice(interp.Config{Workers: workers})
		defer d.Close()
		module, err := d.Load("k.ptx", []byte(kernel))
		if err != nil {
			t.Fatal(err)
		}
		b, err := d.Alloc(131076)
		if err != nil {
			t.Fatal(err)
		}
		m, n := New(small, 0), &naive{spec: small}
		for range 2 {
			if _, err := module.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(200), Block: ptx.Dim(64), Args: []any{b}, Probes: []probe.Probe{stream.NewRecorder(stream.Consumers{m, n})}}); err != nil {
				t.Fatal(err)
			}
		}
		got := m.Launches()
		for i, l := range got {
			l.LaunchInfo = nil
			if l.Counts.withoutCompulsory() != n.all[i] {
				t.Errorf("launch %d: %+v, want %+v", i, l.Counts, n.all[i])
			}
		}
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d host threads: %+v, want %+v", workers, got[0].Counts, want[0].Counts)
		}
		if n := got[0].Counts; n.Stores != 200*2*4 || n.Loads != 200*2*8 || n.Atomics != 200*2 || n.WriteBacks == 0 || len(got[0].Buffers) != 1 {
			t.Errorf("%+v", n)
		}
	}
}

// TestHandWorked has sequences of requests of a warp on one multiprocessor, with the counts worked out by hand. The L1 has two lines, and
// the L2 four, in a single set each.
func TestHandWorked(t *testing.T) {
	type access struct {
		kind           probe.AccessKind
		line           uint64
		sectors, whole uint8
		bypass         bool
		keepOut        bool
	}
	load, store, atomic := probe.AccessLoad, probe.AccessStore, probe.AccessAtomic
	for _, c := range []struct {
		name      string
		list      []access
		want      Counts
		transfers string // line and sectors in binary, of reads and writes of memory
	}{
		{"a second load hits", []access{{load, 1, 0b11, 0b11, false, false}, {load, 1, 0b01, 0b01, false, false}}, Counts{Loads: 3, L1Hits: 1, L1Misses: 2, L2Misses: 2, Reads: 2, L1Compulsory: 2, CompulsoryReads: 2}, "R1:11"},
		{"sectors are filled one by one", []access{{load, 1, 0b0001, 0, false, false}, {load, 1, 0b0011, 0, false, false}}, Counts{Loads: 3, L1Hits: 1, L1Misses: 2, L2Misses: 2, Reads: 2, L1Compulsory: 2, CompulsoryReads: 2}, "R1:1 R1:10"},
		{"a third line replaces the first in the L1, not in the L2", []access{{load, 1, 1, 0, false, false}, {load, 2, 1, 0, false, false}, {load, 3, 1, 0, false, false}, {load, 1, 1, 0, false, false}}, Counts{Loads: 4, L1Misses: 4, L2Hits: 1, L2Misses: 3, Reads: 3, L1Compulsory: 3, CompulsoryReads: 3}, "R1:1 R2:1 R3:1"},
		{"a bypass does not fill the L1", []access{{load, 1, 1, 0, true, false}, {load, 1, 1, 0, false, false}}, Counts{Loads: 2, L1Misses: 2, L1Bypasses: 1, L2Hits: 1, L2Misses: 1, Reads: 1, L1Compulsory: 1, CompulsoryReads: 1}, "R1:1"},
		{"a load that is kept out of the L1 fills no line", []access{{load, 1, 1, 0, false, true}, {load, 1, 1, 0, false, false}, {load, 1, 1, 0, false, true}}, Counts{Loads: 3, L1Hits: 1, L1Misses: 2, L2Hits: 1, L2Misses: 1, Reads: 1, L1Compulsory: 2, CompulsoryReads: 1}, "R1:1"},
		{"a whole store reads nothing, and allocates no line of the L1", []access{{store, 1, 0b1111, 0b1111, false, false}, {load, 1, 0b1111, 0, false, false}}, Counts{Stores: 4, Loads: 4, L1Misses: 4, L2Hits: 4, L2Misses: 4, L1Compulsory: 4}, ""},
		{"a store of some bytes reads its sector", []access{{store, 1, 0b11, 0b01, false, false}}, Counts{Stores: 2, L2Misses: 2, Reads: 1, StoreReads: 1}, "R1:10"},
		{"a store updates the L1", []access{{load, 1, 1, 0, false, false}, {store, 1, 0b11, 0b11, false, false}, {load, 1, 0b11, 0, false, false}}, Counts{Loads: 3, Stores: 2, L1Hits: 2, L1Misses: 1, L2Hits: 1, L2Misses: 2, Reads: 1, L1StoreHits: 1, L2WriteHits: 1, L1Compulsory: 1, CompulsoryReads: 1}, "R1:1"},
		{"a store of some bytes does not fill its sector of the L1", []access{{load, 1, 1, 0, false, false}, {store, 1, 0b10, 0, false, false}, {load, 1, 0b10, 0, false, false}}, Counts{Loads: 2, Stores: 1, L1Misses: 2, L2Hits: 1, L2Misses: 2, Reads: 2, L1Compulsory: 2, StoreReads: 1, CompulsoryReads: 1}, "R1:1 R1:10"},
		{"two stores dirty two sectors", []access{{store, 1, 0b01, 0b01, false, false}, {store, 1, 0b10, 0b10, false, false}, {load, 2, 1, 0, true, false}, {load, 3, 1, 0, true, false}, {load, 4, 1, 0, true, false}, {load, 5, 1, 0, true, false}}, Counts{Stores: 2, Loads: 4, L1Misses: 4, L1Bypasses: 4, L2Misses: 6, Reads: 4, WriteBacks: 2, CompulsoryReads: 4}, "R2:1 R3:1 R4:1 W1:11 R5:1"},
		{"an atomic removes its sector from the L1", []access{{load, 1, 0b11, 0, false, false}, {atomic, 1, 0b01, 0, false, false}, {load, 1, 0b11, 0, false, false}}, Counts{Loads: 4, Atomics: 1, L1Hits: 1, L1Misses: 3, L2Hits: 2, L2Misses: 2, Reads: 2, L2WriteHits: 1, L1Compulsory: 3, CompulsoryReads: 2}, "R1:11"},
		{"dirty sectors are written back", []access{{store, 1, 0b11, 0b11, false, false}, {load, 2, 1, 0, true, false}, {load, 3, 1, 0, true, false}, {load, 4, 1, 0, true, false}, {load, 5, 1, 0, true, false}}, Counts{Stores: 2, Loads: 4, L1Misses: 4, L1Bypasses: 4, L2Misses: 6, Reads: 4, WriteBacks: 2, CompulsoryReads: 4}, "R2:1 R3:1 R4:1 W1:11 R5:1"},
	} {
		spec := Spec{Name: "hand", SMs: 1, SM: 70, L1: Level{256, 2, lru, "modulo"}, L2: Level{512, 4, lru, "modulo"}}
		m := New(spec, 0)
		var transfers []string
		m.OnTransfer(func(t *Transfer) {
			transfers = append(transfers, fmt.Sprintf("%s%d:%b", map[bool]string{false: "R", true: "W"}[t.Write], t.Line, t.Sectors))
		})
		var w stream.Warp
		for i, a := range c.list {
			w.Requests = append(w.Requests, stream.Request{Step: int64(i + 1), Kind: a.kind, BypassL1: a.bypass, KeepOutOfL1: a.keepOut, First: int32(i), N: 1})
			w.Transactions = append(w.Transactions, stream.Transaction{Line: a.line, Sectors: a.sectors, Whole: a.whole})
			w.Instructions++
		}
		l := &stream.Launch{LaunchInfo: &probe.LaunchInfo{Grid: ptx.Dim(1), Cluster: ptx.Dim(), Block: ptx.Dim(32), WarpSize: 32, Program: instructions{n: 1}, Kernel: &ptx.Func{}}, Buffers: []stream.Buffer{{Name: "b"}}}
		m.BeginLaunch(l)
		m.CTA(l, &stream.CTA{Warps: []stream.Warp{w}})
		m.EndLaunch(l, nil)
		c.want.Requests = int64(len(c.list))
		if got := m.Launches()[0].Counts; got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		if got := strings.Join(transfers, " "); got != c.transfers {
			t.Errorf("%s: transfers %s, want %s", c.name, got, c.transfers)
		}
		if err := m.Verify(); err != nil {
			t.Error(err)
		}
	}
}

// TestBarriersByHand has the order of loads of warps that meet at barriers, worked out by hand. A load has the number of its line. The
// multiprocessor has a CTA at a time.
func TestBarriersByHand(t *testing.T) {
	type load struct{ step, line int64 }
	type warp struct {
		loads    []load
		meetings []stream.Meeting
	}
	waits := func(step int64, number int32) stream.Meeting {
		return stream.Meeting{Step: step, Number: number, Waits: true}
	}
	arrives := func(step int64, number int32) stream.Meeting {
		return stream.Meeting{Step: step, Number: number}
	}
	for _, c := range []struct {
		name, want string
		warps      []warp
	}{
		// The barrier completes in step 6. Line 3 follows line 2 in step 7, and line 4 two steps later.
		{"a warp waits", "1 2 3 4; 1 2 3 4", []warp{{[]load{{5, 1}, {7, 2}}, []stream.Meeting{waits(6, 0)}}, {[]load{{2, 3}, {4, 4}}, []stream.Meeting{waits(1, 0)}}}},
		{"a warp does not wait after the others have come", "1 3 4 2; 1 3 4 2", []warp{{[]load{{2, 1}, {9, 2}}, []stream.Meeting{arrives(1, 0)}}, {[]load{{3, 3}, {5, 4}}, []stream.Meeting{waits(4, 0)}}}},
		{"a warp that arrives does not wait", "1 2 3 4; 1 2 3 4", []warp{{[]load{{2, 1}, {3, 2}}, []stream.Meeting{arrives(1, 0)}}, {[]load{{4, 3}}, []stream.Meeting{waits(9, 0)}}, {[]load{{2, 4}}, []stream.Meeting{waits(1, 0)}}}},
		{"a warp waits for the end of another", "1 2; 1 2", []warp{{[]load{{8, 1}}, []stream.Meeting{arrives(8, 0)}}, {[]load{{2, 2}}, []stream.Meeting{waits(1, 0)}}}},
		// The second warp comes to its second barrier in step 7+2, after the third warp's step 5, and line 3 of the third follows line 2.
		{"two barriers", "1 2 3; 1 2 3", []warp{{[]load{{6, 1}}, []stream.Meeting{waits(7, 0)}}, {[]load{{4, 2}}, []stream.Meeting{waits(1, 0), waits(3, 1)}}, {[]load{{6, 3}}, []stream.Meeting{waits(5, 1)}}}},
		{"a request of the same instruction is before the meeting", "1 2; 1 2", []warp{{[]load{{3, 1}}, []stream.Meeting{waits(3, 0)}}, {[]load{{2, 2}}, []stream.Meeting{waits(1, 0)}}}},
	} {
		m := New(Spec{Name: "hand", SMs: 1, SM: 70, L1: Level{0, 1, lru, "modulo"}, L2: Level{0, 1, lru, "modulo"}}, 0)
		var order []string
		last := 0
		m.OnL2(func(a *L2Access) {
			if a.CTA != last {
				order[len(order)-1] += ";"
			}
			last = a.CTA
			order = append(order, fmt.Sprint(a.Line))
		})
		l := &stream.Launch{LaunchInfo: &probe.LaunchInfo{Grid: ptx.Dim(2), Cluster: ptx.Dim(), Block: ptx.Dim(1024), WarpSize: 32, Program: instructions{n: 1}, Kernel: &ptx.Func{}, SharedBytes: 90 << 10}, Buffers: []stream.Buffer{{Name: "b"}}}
		m.BeginLaunch(l)
		for index := range 2 {
			cta := &stream.CTA{Index: index, Meetings: 2}
			for _, w := range c.warps {
				var out stream.Warp
				for i, a := range w.loads {
					out.Requests = append(out.Requests, stream.Request{Step: a.step, First: int32(i), N: 1})
					out.Transactions = append(out.Transactions, stream.Transaction{Line: uint64(a.line), Sectors: 1})
					out.Instructions = a.step
				}
				out.Meetings = w.meetings
				out.Instructions = max(out.Instructions, w.meetings[len(w.meetings)-1].Step)
				cta.Warps = append(cta.Warps, out)
			}
			m.CTA(l, cta)
		}
		m.EndLaunch(l, nil)
		if got := strings.Join(order, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestFermiL1 has the counts of an L1 of whole lines whose lines leave at a store, by hand: a load of a sector reads four, a load of
// another sector hits, a store to the line removes it, and the next load reads four again, from the L2.
func TestFermiL1(t *testing.T) {
	m := New(Spec{Name: "fermi", SMs: 1, SM: 20, L1: Level{256, 2, lru, "modulo"}, L2: Level{512, 4, lru, "modulo"}, L1Lines: true, StoresEvict: true}, 0)
	var w stream.Warp
	for i, a := range []struct {
		kind    probe.AccessKind
		sectors uint8
	}{{probe.AccessLoad, 0b0001}, {probe.AccessLoad, 0b1000}, {probe.AccessStore, 0b0001}, {probe.AccessLoad, 0b0010}} {
		w.Requests = append(w.Requests, stream.Request{Step: int64(i + 1), Kind: a.kind, First: int32(i), N: 1})
		w.Transactions = append(w.Transactions, stream.Transaction{Line: 1, Sectors: a.sectors, Whole: a.sectors, Bytes: 32})
		w.Instructions++
	}
	l := &stream.Launch{LaunchInfo: &probe.LaunchInfo{Grid: ptx.Dim(1), Cluster: ptx.Dim(), Block: ptx.Dim(32), WarpSize: 32, Program: instructions{n: 1}, Kernel: &ptx.Func{}}, Buffers: []stream.Buffer{{Name: "b"}}}
	m.BeginLaunch(l)
	m.CTA(l, &stream.CTA{Warps: []stream.Warp{w}})
	m.EndLaunch(l, nil)
	want := Counts{Requests: 4, Loads: 3, Stores: 1, L1Hits: 1, L1Misses: 2, L1Extra: 6, L1StoreHits: 1, L2Hits: 5, L2WriteHits: 1, L2Misses: 4, Reads: 4, UsedBytes: 128, L1Compulsory: 2, CompulsoryReads: 4}
	if got := m.Launches()[0].Counts; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// trapping stores a row in each CTA. CTA 5 traps, long after other host threads have run later CTAs.
const trapping = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .pred %p;
	.reg .u32 %c, %t, %i, %n;
	.reg .u64 %p0, %o;
	mov.u32 %t, %tid.x;
	mov.u32 %c, %ctaid.x;
	mad.lo.u32 %i, %c, 64, %t;
	ld.param.u64 %p0, [out];
	mad.wide.u32 %o, %i, 4, %p0;
	st.global.u32 [%o], %t;
	setp.ne.u32 %p, %c, 5;
	@%p bra END;
	mov.u32 %n, 0;
AGAIN:
	add.u32 %n, %n, 1;
	setp.lt.u32 %p, %n, 40000;
	@%p bra AGAIN;
	mov.u64 %p0, 0;
	st.global.u32 [%p0], %t;
END:
	ret;
}
`

// TestTrappedLaunch: the counts of a launch that traps do not depend on the number of host threads.
func TestTrappedLaunch(t *testing.T) {
	var want *Launch
	for _, workers := range []int{1, 2, 7} {
		d := interp.NewDevice(interp.Config{Workers: workers})
		defer d.Close()
		module, err := d.Load("k.ptx", []byte(trapping))
		if err != nil {
			t.Fatal(err)
		}
		b, err := d.Alloc(200 * 256)
		if err != nil {
			t.Fatal(err)
		}
		m := New(small, 0)
		_, err = module.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(200), Block: ptx.Dim(64), Args: []any{b}, Probes: []probe.Probe{stream.NewRecorder(m)}})
		if trap := (*probe.Trap)(nil); !errors.As(err, &trap) {
			t.Fatal(err)
		}
		got := m.Launches()[0]
		got.LaunchInfo, got.Err = nil, nil
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(got, want) || got.Stores != 6*8 { // a row has eight sectors
			t.Errorf("%d host threads: %+v, want %+v", workers, got.Counts, want.Counts)
		}
	}
}

// TestLocalMemory: a CTA has the local memory of the CTA before it at its place, and the frames of warps and multiprocessors are apart. A
// frame has two lines. By hand: two multiprocessors with 16 places each for CTAs of two warps; the first 32 CTAs miss in all lines.
func TestLocalMemory(t *testing.T) {
	spec := Spec{Name: "local", SMs: 2, SM: 70, L1: Level{0, 1, lru, "modulo"}, L2: Level{1 << 20, 1 << 13, lru, "modulo"}}
	m := New(spec, 0)
	l := &stream.Launch{LocalLines: 2, LaunchInfo: &probe.LaunchInfo{Grid: ptx.Dim(100), Cluster: ptx.Dim(), Block: ptx.Dim(128), WarpSize: 64, Program: instructions{n: 1}, Kernel: &ptx.Func{}}, Buffers: []stream.Buffer{{Name: "local memory"}}}
	m.BeginLaunch(l)
	for i := range 100 {
		c := &stream.CTA{Index: i}
		for range 2 {
			w := stream.Warp{Instructions: 3}
			for k, line := range []uint64{0, 1, 2} { // the third line is beyond the frame
				w.Requests = append(w.Requests, stream.Request{Step: int64(k + 1), First: int32(k), N: 1})
				w.Transactions = append(w.Transactions, stream.Transaction{Line: line, Sectors: 1, Local: true})
			}
			c.Warps = append(c.Warps, w)
		}
		m.CTA(l, c)
	}
	m.EndLaunch(l, nil)
	got := m.Launches()[0]
	if got.Resident != 16 || got.L2Misses != 32*2*3 || got.L2Hits != 68*2*3 {
		t.Errorf("%d CTAs on a multiprocessor, %d misses and %d hits, want 16, %d and %d", got.Resident, got.L2Misses, got.L2Hits, 32*2*3, 68*2*3)
	}
}

// TestLaunchesTakeTurns: two launches whose CTAs arrive in turns have the counts of launches one after the other, for lines that they do not
// share. A launch that evicts the other's line writes it back for the buffer of the line.
func TestLaunchesTakeTurns(t *testing.T) {
	spec := Spec{Name: "turns", SMs: 1, SM: 70, L1: Level{0, 1, lru, "modulo"}, L2: Level{512, 4, lru, "modulo"}}
	m := New(spec, 0)
	launch := func(name string) *stream.Launch {
		return &stream.Launch{LaunchInfo: &probe.LaunchInfo{Grid: ptx.Dim(2), Cluster: ptx.Dim(), Block: ptx.Dim(32), WarpSize: 32, Program: instructions{n: 1}, Kernel: &ptx.Func{}}, Buffers: []stream.Buffer{{Name: name}}}
	}
	cta := func(index int, kind probe.AccessKind, lines ...uint64) *stream.CTA {
		w := stream.Warp{Instructions: int64(len(lines))}
		for i, line := range lines {
			w.Requests = append(w.Requests, stream.Request{Step: int64(i + 1), Kind: kind, First: int32(i), N: 1})
			w.Transactions = append(w.Transactions, stream.Transaction{Line: line, Sectors: 1, Whole: 1})
		}
		return &stream.CTA{Index: index, Warps: []stream.Warp{w}}
	}
	a, b := launch("a"), launch("b")
	m.BeginLaunch(a)
	m.BeginLaunch(b)
	m.CTA(b, cta(0, probe.AccessLoad, 11, 12))
	m.CTA(a, cta(0, probe.AccessStore, 1, 2))
	m.CTA(a, cta(1, probe.AccessStore, 1))
	m.EndLaunch(a, nil)
	m.CTA(b, cta(1, probe.AccessLoad, 13, 14, 15, 16))
	m.EndLaunch(b, nil)
	list := m.Launches()
	wantA, wantB := Counts{Requests: 3, Stores: 3, L2Hits: 1, L2WriteHits: 1, L2Misses: 2}, Counts{Requests: 6, Loads: 6, L1Misses: 6, L2Misses: 6, Reads: 6, WriteBacks: 2, L1Compulsory: 6, CompulsoryReads: 6}
	if list[0].Counts != wantA || list[1].Counts != wantB {
		t.Errorf("%+v and %+v, want %+v and %+v", list[0].Counts, list[1].Counts, wantA, wantB)
	}
	if bs := list[1].Buffers; len(bs) != 2 || bs[0].Name != "a" || bs[1].Name != "b" || bs[0].WriteBacks != 2 || bs[1].WriteBacks != 0 {
		t.Errorf("buffers %+v", bs)
	}
}

// TestSharedMemoryReducesL1 has the L1 of a V100 by hand: 128 KiB less 0, 8, 16, 32, 64 or 96 KiB.
func TestSharedMemoryReducesL1(t *testing.T) {
	for _, c := range []struct{ shared, want int }{{0, 128}, {1, 120}, {8 << 10, 120}, {8<<10 + 1, 112}, {33 << 10, 64}, {96 << 10, 32}, {97 << 10, 32}} {
		if got := Specs[0].l1(c.shared).Bytes >> 10; got != c.want {
			t.Errorf("%d bytes of shared memory: %d KiB, want %d", c.shared, got, c.want)
		}
	}
}

// TestSpecs: the known machines can be built.
func TestSpecs(t *testing.T) {
	for _, s := range append(Specs, small) {
		if err := s.Check(); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	for _, s := range []Spec{
		{SMs: 0, SM: 70, L1: small.L1, L2: small.L2},
		{SMs: 1, SM: 10, L1: small.L1, L2: small.L2},
		{SMs: 1, SM: 70, L1: Level{100, 4, lru, "xor"}, L2: small.L2},
		{SMs: 1, SM: 70, L1: small.L1, L2: Level{4096, 0, lru, "xor"}},
		{SMs: 1, SM: 70, L1: small.L1, L2: Level{4096, 4, lru, "sum"}},
		{SMs: 1, SM: 70, L1: small.L1, Shared: []int{8}, L2: small.L2},
		{SMs: 3, SM: 70, L1: small.L1, L2: small.L2, Dispatcher: dispatch.Parts(4)},
		{SMs: 1, SM: 70, L1: Level{512, 4, nil, "xor"}, L2: small.L2},
		{SMs: 1, SM: 70, L1: small.L1, L2: Level{1 << 30, 4, lru, "xor"}},
	} {
		if s.Check() == nil {
			t.Errorf("%+v has no error", s)
		}
	}
}

// TestParse reads machines from texts, and has the errors with their lines.
func TestParse(t *testing.T) {
	const text = "# mine\nbase = a100\nsms=2 # two\n\nl1 = 16K\nl2=1M\nl2.ways = 8\nl2.policy = newest\nl2.index = modulo\n"
	newest := &Replacement{Name: "newest", New: lru.New}
	got, err := Parse("m", text, Policies{Replacements: []*Replacement{newest}})
	want := Spec{Name: "m", SMs: 2, SM: 80, L1: Level{16 << 10, 4, lru, "xor"}, L2: Level{1 << 20, 8, newest, "modulo"}, Clock: core.Ampere, DRAM: memoryOf(40), Timing: memory.Ampere}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, c := range []struct{ text, want string }{
		{"", "m: no machine"},
		{"sms = 2", "m:1: the first parameter must be base"},
		{"base = b100", "m:1: base must be the first"},
		{"base = v100\nbase = a100", "m:2: base must be the first"},
		{"base = v100\nsms", "m:2: want NAME = VALUE"},
		{"base = v100\nsms = x", "m:2: sms=x: want a number"},
		{"base = v100\n\nl1 = 3", "m: l1"},
		{"base = v100\ndispatch = spiral", "m:2: dispatch=spiral: unknown dispatcher; want rotation, pairs"},
		{"base = v100\nl2 = 1Q", "m:2: l2=1Q: want a number of bytes, or a size"},
		{"base = v100\nl2.policy = newest", "m:2: l2.policy=newest: unknown policy; want one of lru, plru"},
		{"base = v100\nl2 = 1M\nl2 = 2M", "m:3: l2 has a value in line 2"},
		{"base = v100\nnet.bytes = 0", "m:2: net.bytes=0: want a number from 1"},
		{"base = v100\ndram.low = 30", "m: dram.low = 30"},
		{"base = v100\nl3 = 1M", `m:2: unknown parameter "l3" (did you mean l1?); want one of sms`},
	} {
		if _, err := Parse("m", c.text, Policies{}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s …", c.text, err, c.want)
		}
	}
}
