package profile

// This file recounts, byte by byte and lane by lane, by the text of docs/profile.md: in sets, by event.

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/internal/corpus"
	"gemu/internal/part"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// naive is a probe that counts by instruction, without branches and calls.
type naive struct {
	mu     sync.Mutex
	counts map[*ptx.Instr]*Counts
	bulk   map[*ptx.Instr]bool // accesses of different lengths: not counted here
}

func (p *naive) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnWarp | probe.OnExit | probe.OnAfter, Addresses: true}
}

func (p *naive) OnEvent(*probe.Event) {}

func (p *naive) CTA(l *probe.LaunchInfo, _ int, _ ptx.Dim3) probe.Sink {
	return &naiveCTA{p, l.WarpSize, map[int]map[int]bool{}}
}

// naiveCTA is a CTA: its live lanes, by warp.
type naiveCTA struct {
	*naive
	width int
	live  map[int]map[int]bool
}

// set returns the lanes of a mask.
func set(m uint64) map[int]bool {
	s := map[int]bool{}
	for lane := range 64 {
		if m>>lane&1 != 0 {
			s[lane] = true
		}
	}
	return s
}

func (c *naiveCTA) OnEvent(e *probe.Event) {
	switch e.Kind {
	case probe.OnWarp:
		c.live[e.Warp] = set(e.Lanes)
		return
	case probe.OnExit:
		for lane := range set(e.Lanes) {
			delete(c.live[e.Warp], lane)
		}
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.counts[e.Instr]
	if n == nil {
		n = new(Counts)
		c.counts[e.Instr] = n
	}
	n.Execs++
	active, lanes := set(e.Active), set(e.Lanes)
	n.Active += int64(len(active))
	n.Lanes += int64(len(lanes))
	if effects := e.Instr.Form.Effects; effects.Any(ptx.Jumps | ptx.Returns | ptx.Exits) {
		n.Taken += int64(len(lanes))
		n.Lanes += int64(len(active) - len(lanes))
	}
	if len(active) != len(c.live[e.Warp]) {
		n.Diverged++
	}
	switch e.Instr.Op.Name {
	case "tex", "tld4", "suld", "sust", "sured":
		n.Texture += int64(min(len(lanes), 1))
		return
	}
	for i := range e.Accesses {
		a := &e.Accesses[i]
		if a.Bulk() {
			c.bulk[e.Instr] = true
			continue
		}
		bySpace := map[ptx.Space][]int{}
		for lane := range c.width {
			if !lanes[lane] || a.Lanes>>lane&1 == 0 {
				continue
			}
			space, ok := a.Space, true
			if space == ptx.Generic || space == ptx.Param {
				space, _, _, ok = a.PlaceOf(lane)
			}
			switch {
			case !ok, space == ptx.Local && a.Space == ptx.Param:
				continue
			case space == ptx.Param:
				space = ptx.Const
			case space != ptx.Shared && space != ptx.Local && space != ptx.Const:
				space = ptx.Global
			}
			bySpace[space] = append(bySpace[space], lane)
		}
		for space, list := range bySpace {
			c.request(n, a, space, list)
		}
	}
}

// request counts a request of lanes, ascending, to a space.
func (c *naiveCTA) request(n *Counts, a *probe.Access, space ptx.Space, lanes []int) {
	atomics, sameAddress := int64(0), int64(0)
	if a.Kind == probe.AccessAtomic {
		atomics = 1
		same := map[uint64]int64{}
		for _, lane := range lanes {
			same[a.Addr[lane]]++
			sameAddress = max(sameAddress, same[a.Addr[lane]])
		}
	}
	bytes, sectors, lines := map[uint64]bool{}, map[uint64]bool{}, map[uint64]bool{}
	type bankWord struct {
		bank, word  uint64
		sameAddress int // for an atomic operation, 1 + the lane
	}
	groups := map[int]map[bankWord]bool{}
	words := map[uint64]bool{} // first words of the lanes
	for _, lane := range lanes {
		words[a.Addr[lane]/4] = true
		group := lane / min(32, 128/max(a.Bytes, 1))
		if groups[group] == nil {
			groups[group] = map[bankWord]bool{}
		}
		for i := range uint64(a.Bytes) {
			at := a.Addr[lane] + i
			w := bankWord{at / 4 % 32, at / 4, int(atomics) * (1 + lane)}
			groups[group][w] = true
			if space == ptx.Local { // word by word of all lanes
				at = at/4*4*uint64(c.width) + uint64(4*lane) + at%4
			}
			bytes[at], sectors[at/32], lines[at/128] = true, true, true
		}
	}
	if space == ptx.Shared || space == ptx.Const {
		t := Banked{Requests: 1, Bytes: int64(len(bytes)), Passes: int64(len(words)), Ideal: 1, Atomics: atomics, SameAddress: sameAddress}
		if space == ptx.Const {
			n.Constant.Add(&t)
			return
		}
		t.Passes, t.Ideal = 0, int64(len(groups))
		for _, g := range groups {
			maximum, count := int64(0), map[uint64]int64{}
			for w := range g {
				count[w.bank]++
				maximum = max(maximum, count[w.bank])
			}
			t.Passes += maximum
		}
		n.Shared.Add(&t)
		return
	}
	t := Traffic{Requests: 1, Bytes: int64(len(bytes)), Sectors: int64(len(sectors)), Ideal: int64(len(bytes)+31) / 32, Lines: int64(len(lines)), Atomics: atomics, SameAddress: sameAddress}
	if space == ptx.Local {
		n.Local.Add(&t)
	} else {
		n.Global.Add(&t)
	}
}

func newNaive() *naive {
	return &naive{counts: map[*ptx.Instr]*Counts{}, bulk: map[*ptx.Instr]bool{}}
}

// wide has accesses of all widths, with conflicting strides and with equal addresses.
const wide = `
	mul.lo.u32 %i, %t, 48;
	add.u32 %s, %s, %i;
	st.shared.v4.u32 [%s], {%t, %t, %t, %t};
	ld.shared.v2.u32 {%x, %y}, [%s+8];
	ld.shared.f64 %d, [%s];
	ld.shared.u16 %x, [%s+2];
	and.b32 %j, %t, 5;
	atom.shared.add.u32 %x, [tile], 1;
	mad.wide.u32 %a, %j, 20, %p;
	atom.global.add.u32 %x, [%a], 1;
	ld.global.u8 %x, [%a+31];
	mad.wide.u32 %a, %i, 2, %p;
	st.global.v4.u32 [%a], {%t, %t, %t, %t};
	mul.wide.u32 %b, %j, 8;
	mov.u64 %a, own;
	add.u64 %a, %a, %b;
	st.local.v2.u32 [%a], {%t, %t};
	mov.u64 %a, table;
	add.u64 %a, %a, %b;
	ld.const.u32 %x, [%a];
	setp.lt.u32 %q, %t, 9;
	@%q ld.shared.v2.u32 {%x, %y}, [%s];
	@%q bra HERE;
	st.global.u32 [%p+4], %t;
HERE:
	call (), inner, (%t);
`

// TestProfileEqualsNaiveCount: each column of each instruction, for programs of the corpus, equals a count without the
// shortcuts of the profile. It leaves out counts of branches, which TestProfileAddsUpToCounts compares, and
// asynchronous and bulk copies, which async_test.go compares.
func TestProfileEqualsNaiveCount(t *testing.T) {
	part.SkipShort(t)
	list, err := corpus.Programs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	isTried := part.Share(t, 1536, 256, 1)
	var total Counts
	compare := func(name string, got *Profile, reference *naive) {
		for _, f := range got.Functions() {
			for _, in := range f.Instrs {
				if in.Form.Effects.HasAll(ptx.Async) || reference.bulk[in.Instr] {
					continue
				}
				want := Counts{}
				if n := reference.counts[in.Instr]; n != nil {
					want = *n
				}
				got := in.Counts
				got.Branches, got.Divergent = 0, 0
				total.Add(&got)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s, line %d: %s (-naive +profile):\n%s", name, in.Pos.Line, in.Text, diff)
				}
			}
		}
	}
	reference := newNaive()
	compare("wide", profiled(t, kernel(wide), func(l *interp.Launch) { l.Probes = append(l.Probes, reference) }), reference)
	for i, p := range list {
		if !isTried(i) {
			continue
		}
		observer, reference := New(), newNaive()
		o := p.Run(func(l *interp.Launch) { l.Mode, l.Probes = interp.Vector, []probe.Probe{observer, reference} })
		if o.Err == nil {
			compare(p.String(), observer.Profile(), reference)
		}
	}
	t.Logf("%d instructions, %d requests to global, %d to shared, %d to local, %d to constant memory",
		total.Execs, total.Global.Requests, total.Shared.Requests, total.Local.Requests, total.Constant.Requests)
}
