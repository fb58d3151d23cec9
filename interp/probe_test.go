package interp_test

// This file checks the events of all programs: they are the same in every mode and on any number of cores, agree with the
// counts of the launch, and come in matching pairs.

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gemu/internal/corpus"
	"gemu/internal/part"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// script is a probe that records all events of a launch, by CTA.
type script struct {
	wants probe.Subscription
	seed  maphash.Seed
	some  bool // the probe may receive only a part of an instruction's events

	mu     sync.Mutex
	ctas   map[int]*scene
	launch []string
}

func newScript(sub probe.Subscription) *script {
	return &script{wants: sub, seed: maphash.MakeSeed(), ctas: map[int]*scene{}}
}

func (s *script) Subscription() probe.Subscription { return s.wants }

func (s *script) OnEvent(e *probe.Event) {
	s.launch = append(s.launch, e.Kind.String())
}

func (s *script) CTA(_ *probe.LaunchInfo, index int, _ ptx.Dim3) probe.Sink {
	c := &scene{script: s, kinds: map[probe.Events]int{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctas[index] = c
	return c
}

// scene has the events of a CTA.
type scene struct {
	*script
	sums  []uint64 // hash after each event
	texts []string // text of the first few events
	kinds map[probe.Events]int
	ways  int // number of splits, minus 1 each
	lanes int64
	did   int64              // thread instructions
	wrote int64              // materialised lanes
	open  map[int]*ptx.Instr // by warp: the instruction with an event before it, and none after it yet
	errs  []error
}

// values writes registers, for the lanes of m.
func values(b *strings.Builder, list []probe.Value, m uint64) {
	for i := range list {
		v := &list[i]
		fmt.Fprintf(b, " %d", v.Reg)
		for n := m; n != 0; n &= n - 1 {
			lane := bits.TrailingZeros64(n)
			fmt.Fprintf(b, " %x", v.Low[lane])
			if v.High != nil {
				fmt.Fprintf(b, ":%x", v.High[lane])
			}
			// The engine's compact values equal the values of the lanes.
			if t := v.Tags[lane/32]; t.Mask>>(lane%32)&1 != 0 && (t.At(lane%32)^v.Low[lane])&0xffff_ffff != 0 {
				fmt.Fprintf(b, " but its tag says %x", t.At(lane%32))
			}
		}
	}
}

func (c *scene) OnEvent(e *probe.Event) {
	c.kinds[e.Kind]++
	if e.Kind == probe.OnMaterialise { // of the mode, not of the program
		c.wrote += int64(bits.OnesCount64(e.Lanes))
		if t := e.Materialised.Tags; e.Lanes == 0 || e.Lanes&^(uint64(t[0].Mask)|uint64(t[1].Mask)<<32) != 0 {
			c.errs = append(c.errs, fmt.Errorf("register %d of tags %+v is expanded for lanes %#x", e.Materialised.Reg, t, e.Lanes))
		}
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s warp %d instruction %d active %#x lanes %#x meet %d depth %d", e.Kind, e.Warp, e.Index, e.Active, e.Lanes, e.Reconverge, e.Depth)
	if e.Instr != nil {
		fmt.Fprintf(&b, " (%s)", e.Instr.Text)
	}
	if c.wants.InOrder && e.Kind&probe.Selectable != 0 {
		fmt.Fprintf(&b, " step %d", e.Step)
	}
	later := e.Kind == probe.OnAfter && writesLater(e.Instr)
	values(&b, e.Reads, e.Lanes)
	if !later {
		b.WriteString(" ->")
		values(&b, e.Writes, e.Lanes)
	}
	for i := range e.Accesses {
		a := &e.Accesses[i]
		fmt.Fprintf(&b, " %s", a.String())
		for n := e.Lanes; n != 0; n &= n - 1 {
			lane := bits.TrailingZeros64(n)
			fmt.Fprintf(&b, " %x", a.Addr[lane])
			if e.Kind == probe.OnAccess {
				space, alloc, offset, ok := a.PlaceOf(lane)
				fmt.Fprintf(&b, " %s %x %v", space, offset, ok)
				if alloc != nil && alloc.Base+offset != a.Addr[lane] && a.Space != ptx.Shared {
					c.errs = append(c.errs, fmt.Errorf("%#x is at %#x of %v", a.Addr[lane], offset, alloc))
				}
			}
		}
	}
	for _, x := range e.Texels {
		fmt.Fprintf(&b, " texel %d %d %d", x.Lane, x.Offset, x.Bytes)
		if e.Lanes>>x.Lane&1 == 0 || x.Offset+uint64(x.Bytes) > x.Memory.Size {
			c.errs = append(c.errs, fmt.Errorf("%v of lanes %#x reads %+v", e.Instr, e.Lanes, x))
		}
	}
	if e.Kind == probe.OnOperation || e.Kind == probe.OnResult {
		c.part(&b, e)
	}
	if e.Effect != nil {
		b.WriteString(effectText(e.Effect))
		if f := e.Effect; e.Instr == nil || bits.OnesCount64(e.Lanes) != 1 || !f.Issued && !f.Reads && !f.Writes {
			c.errs = append(c.errs, fmt.Errorf("of lanes %#x of %v: %+v", e.Lanes, e.Instr, f))
		}
	}
	fmt.Fprint(&b, " ", e.Groups, e.Wait)
	if e.Trap != nil {
		fmt.Fprintf(&b, " %v", e.Trap)
	}
	c.sums = append(c.sums, maphash.String(c.seed, b.String()))
	if len(c.texts) < 1<<14 {
		c.texts = append(c.texts, b.String())
	}
	if !c.some {
		c.follow(e)
	}
}

// part writes an operation and its operands or results.
func (c *scene) part(b *strings.Builder, e *probe.Event) {
	o := e.Operation
	list, cell := o.Sources, e.Source
	if e.Kind == probe.OnResult {
		list, cell = o.Results, e.Result
	}
	fmt.Fprintf(b, " %s %v", o.Name, list)
	for i := range list {
		if list[i].Kind == probe.NoOperand {
			continue
		}
		var row regfile.Row64
		for n := e.Lanes; n != 0; n &= n - 1 {
			lane := bits.TrailingZeros64(n)
			cell(i).Lanes(lane/32, &row)
			fmt.Fprintf(b, " %x", row[lane%32])
			if list[i].Kind == probe.ConstantOperand && list[i].Value != row[lane%32] {
				c.errs = append(c.errs, fmt.Errorf("%v: constant %#x is %#x", e.Instr, list[i].Value, row[lane%32]))
			}
			if got := cell(i).Lane(lane); got != row[lane%32] {
				c.errs = append(c.errs, fmt.Errorf("%v: lane %d is %#x, and in its row %#x", e.Instr, lane, got, row[lane%32]))
			}
			if t := cell(i).Tag(lane / 32); t.Mask>>(lane%32)&1 != 0 && (t.At(lane%32)^row[lane%32])&0xffff_ffff != 0 {
				c.errs = append(c.errs, fmt.Errorf("%v: lane %d is %#x, but its tag says %#x", e.Instr, lane, row[lane%32], t.At(lane%32)))
			}
		}
	}
}

// effectText writes an effect.
func effectText(f *probe.Effect) string {
	var b strings.Builder
	fmt.Fprintf(&b, " %d", f.Number)
	for _, part := range []struct {
		has  bool
		text string
	}{{f.Issued, "issued"}, {f.Reads, "reads"}, {f.Writes, "writes"}, {f.Reduces, "reduces"}, {f.Arrives, "arrives"}} {
		if part.has {
			b.WriteString(" " + part.text)
		}
	}
	for _, p := range f.Segments {
		if p.To != nil {
			fmt.Fprintf(&b, ", %d bytes to %s %#x", p.Bytes, p.To.Space(), p.ToOffset)
		} else if !f.TensorCore || p.Bytes != 0 {
			b.WriteString(", bytes to nowhere")
		}
		switch {
		case p.From != nil:
			fmt.Fprintf(&b, " from %s %#x", p.From.Space(), p.FromOffset)
		case p.Zeros:
			b.WriteString(" filled")
		}
		if p.Read != p.Bytes {
			fmt.Fprintf(&b, " (%d read)", p.Read)
		}
	}
	if f.Barrier != nil {
		fmt.Fprintf(&b, ", told %#x", f.BarrierOffset)
	}
	return b.String()
}

// asyncKernel has all kinds of asynchronous copy, by lane 0 only; lane 1 copies bytes, too.
const asyncKernel = `.version 8.6
.target sm_100
.address_size 64
.entry k(.param .u64 data)
{
	.reg .u32 %t, %s, %b, %x;
	.reg .u64 %p, %q, %st;
	.reg .b16 %m;
	.reg .pred %other, %done;
	.shared .align 16 .b8 room[128];
	.shared .align 8 .b64 bar;
	ld.param.u64 %p, [data];
	mov.u32 %t, %tid.x;
	mov.u32 %s, room;
	mov.u32 %b, bar;
	mov.b16 %m, 0x00ff;
	setp.ne.u32 %other, %t, 0;
	cp.async.ca.shared.global [%s], [%p], 8, 4;
	cp.async.wait_all;
	@%other bra END;
	mbarrier.init.shared.b64 [%b], 1;
	mbarrier.arrive.expect_tx.shared.b64 %st, [%b], 36;
	cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s+16], [%p+32], 32, [%b];
	st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%s+64], %t, [%b];
W:
	mbarrier.test_wait.shared.b64 %done, [%b], %st;
	@!%done bra W;
	cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%p+64], [%s], 32, %m;
	cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%p+96], [%s], 16;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group.read 0;
	cp.async.bulk.wait_group 0;
END:
	ret;
}
`

// TestAsynchronousEffectEvents: in every mode, asynchronous operations have events with the memory they read and write,
// both when they are issued and when their effects happen.
func TestAsynchronousEffectEvents(t *testing.T) {
	// The issued operations of asyncKernel, by number, and the order of their effects.
	what := []string{
		"line 18 lane 0", "line 18 lane 1", "line 23 lane 0", "line 24 lane 0", "line 28 lane 0", "line 29 lane 0",
	}
	pieces := []string{
		", 4 bytes to shared 0x0 from global 0x0, 4 bytes to shared 0x4 filled (0 read)",
		", 4 bytes to shared 0x0 from global 0x0, 4 bytes to shared 0x4 filled (0 read)",
		", 32 bytes to shared 0x10 from global 0x20, told 0x80",
		", 4 bytes to shared 0x40 (0 read), told 0x80",
		", 8 bytes to global 0x40 from shared 0x0, 8 bytes to global 0x50 from shared 0x10",
		" reduces, 16 bytes to global 0x60 from shared 0x0",
	}
	late := "0 issued, 1 issued, 0 reads writes, 1 reads writes, 2 issued, 3 issued, 2 reads writes, 3 writes, 4 issued, 5 issued, 5 reads writes, 4 reads, 4 writes"
	early := "0 issued, 0 reads writes, 1 issued, 1 reads writes, 2 issued, 2 reads writes, 3 issued, 3 writes, 4 issued, 4 reads writes, 5 issued, 5 reads writes"
	for _, mode := range interp.Modes() {
		name := mode.String()
		for i, order := range []string{late, early} {
			var got, want []string
			for _, what1 := range strings.Split(order, ", ") {
				n := what1[0] - '0'
				want = append(want, what[n]+": "+what1+pieces[n])
			}
			mod, b := linker(t, interp.Config{}, asyncKernel, 128)
			l := &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(2), Args: []any{b}, Mode: mode, EagerEffects: i == 1, Probes: []probe.Probe{&effects{&got}}}
			if _, err := mod.Run(t.Context(), l); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, early %v: got\n%s\nwant\n%s", name, l.EagerEffects, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// passingKernel calls a function with parameters in a register and in memory, and prints.
const passingKernel = `.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 ret) vprintf (.param .b64 format, .param .b64 args);
.global .align 1 .b8 format[6] = {37, 100, 37, 102, 10, 0};
.func (.reg .u32 %out) pass(.reg .u32 %in, .param .align 8 .b8 more[16])
{
	mov.u32 %out, %in;
	ret;
}
.entry k()
{
	.reg .u32 %x, %y;
	.reg .u64 %f, %a;
	.local .align 8 .b8 args[16];
	.shared .b32 room[5];
	.param .align 8 .b8 more[16];
	.param .b64 f, p;
	.param .b32 ret;
	mov.u32 %x, %tid.x;
	st.shared.u32 [room], %x;
	call (%y), pass, (%x, more);
	mov.u64 %f, format;
	cvta.global.u64 %f, %f;
	mov.u64 %a, args;
	cvta.local.u64 %a, %a;
	st.param.b64 [f], %f;
	st.param.b64 [p], %a;
	call (ret), vprintf, (f, p);
	ret;
}
`

// TestEventsOfCallsAndCTAs: the event of a CTA's begin has its shared memory; the event of a call has the places of the
// parameters on both sides; vprintf has an event for each printed argument.
func TestEventsOfCallsAndCTAs(t *testing.T) {
	for _, mode := range interp.Modes() {
		name := mode.String()
		var got []string
		mod, _ := linker(t, interp.Config{}, passingKernel, 128)
		kinds := func(list []probe.Operand) (s string) {
			for _, o := range list {
				s += fmt.Sprintf(" %d:%d", o.Kind, o.Bits)
			}
			return s
		}
		watch := &passing{func(e *probe.Event) {
			switch e.Kind {
			case probe.OnCTA:
				got = append(got, fmt.Sprint("cta ", len(e.Shared().Data), e.Shared().Space()))
			case probe.OnCall:
				parts := e.Launch.Program.Operations(e.Index)
				params, results := e.Launch.Program.Arguments(e.Callee)
				got = append(got, fmt.Sprint("call", kinds(parts.Args), kinds(params), kinds(parts.Rets), kinds(results)))
			case probe.OnPrint:
				parts := e.Launch.Program.Operations(e.Index)
				at := -1
				for _, v := range e.Launch.Program.Locals(e.Func) {
					if v.Var.Name == "args" {
						at = int(v.Offset)
					}
				}
				got = append(got, fmt.Sprint("print ", e.Lanes, int(e.Offset)-e.Local-at, e.Bytes, e.Memory == nil, kinds(parts.Args), kinds(parts.Rets)))
			}
		}}
		if _, err := mod.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(2), Mode: mode, Probes: []probe.Probe{watch}}); err != nil {
			t.Fatal(err)
		}
		// A register and 16 bytes are passed, a register comes back; of vprintf two addresses, and 4 bytes.
		row, frame := probe.RowOperand, probe.FrameOperand
		passes := fmt.Sprintf(" %d:32 %d:128", row, frame)
		prints := fmt.Sprintf(" %d:64 %d:64 %d:32", frame, frame, frame)
		want := []string{"cta 20 shared", "call" + passes + passes + fmt.Sprintf(" %d:32 %d:32", row, row)}
		for lane := range 2 { // "%d%f": an int, and a double at a multiple of 8
			want = append(want, fmt.Sprint("print ", 1<<lane, " ", 0, " ", 4, " true")+prints, fmt.Sprint("print ", 1<<lane, " ", 8, " ", 8, " true")+prints)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// passing is a probe that calls a function with each event.
type passing struct{ tell func(e *probe.Event) }

func (p *passing) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnCTA | probe.OnCall | probe.OnPrint | probe.OnOperation}
}
func (p *passing) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return p }
func (p *passing) OnEvent(e *probe.Event)                          { p.tell(e) }

// effects is a probe that records effects.
type effects struct{ list *[]string }

func (p *effects) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnEffect}
}
func (p *effects) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return p }

func (p *effects) OnEvent(e *probe.Event) {
	*p.list = append(*p.list, fmt.Sprintf("line %d lane %d:%s", e.Instr.Pos.Line, bits.TrailingZeros64(e.Lanes), effectText(e.Effect)))
}

// follow checks that the order of events is valid.
func (c *scene) follow(e *probe.Event) {
	if c.open == nil {
		c.open = map[int]*ptx.Instr{}
	}
	open := c.open[e.Warp]
	bad := false
	switch e.Kind {
	case probe.OnBefore:
		bad = open != nil
		c.open[e.Warp] = e.Instr
	case probe.OnAccess, probe.OnOperation, probe.OnResult:
		bad = open != e.Instr
	case probe.OnAfter:
		bad = open != e.Instr
		c.open[e.Warp] = nil
		c.lanes += int64(bits.OnesCount64(e.Active))
		if e.Instr.Form.Effects.Any(ptx.Jumps | ptx.Returns | ptx.Exits) { // under every guard
			c.did += int64(bits.OnesCount64(e.Active))
		} else {
			c.did += int64(bits.OnesCount64(e.Lanes))
		}
	case probe.OnUndo:
		bad = open != e.Instr
		c.open[e.Warp] = nil
	case probe.OnCall:
		bad = e.Callee == nil || e.Callee.Entry
	case probe.OnSplit:
		c.ways += len(e.Groups) - 1
	}
	if all := e.Lanes; e.Kind == probe.OnSplit || e.Kind == probe.OnBranch {
		if e.Kind == probe.OnBranch {
			all = e.Active
		}
		together := uint64(0)
		for _, w := range e.Groups {
			bad = bad || w.Lanes&together != 0 || w.Lanes == 0
			together |= w.Lanes
		}
		bad = bad || together != all
	}
	if bad {
		c.errs = append(c.errs, fmt.Errorf("%s of %v, after %v: %+v", e.Kind, e.Instr, open, e.Groups))
	}
}

// agrees compares the events with the counts of the launch.
func (s *script) agrees(n *probe.Counts) error {
	var after, branches, splits, reconvergences int
	var lanes, executed int64
	for _, c := range s.ctas {
		after += c.kinds[probe.OnAfter]
		branches += c.kinds[probe.OnBranch]
		splits += c.ways
		reconvergences += c.kinds[probe.OnReconverge]
		lanes, executed = lanes+c.lanes, executed+c.did
		if c.kinds[probe.OnCTA] != 1 || c.kinds[probe.OnCTAEnd] != 1 || c.kinds[probe.OnWarp] != c.kinds[probe.OnWarpEnd] {
			return fmt.Errorf("a CTA with %v", c.kinds)
		}
	}
	got := probe.Counts{WarpInstructions: int64(after), ThreadInstructions: executed, LaneSlots: lanes, Branches: int64(branches), Splits: int64(splits), Reconvergences: int64(reconvergences)}
	want := probe.Counts{WarpInstructions: n.WarpInstructions, ThreadInstructions: n.ThreadInstructions, LaneSlots: n.LaneSlots, Branches: n.Branches, Splits: n.Splits, Reconvergences: n.Reconvergences}
	if got != want {
		return fmt.Errorf("the events add up to %+v, the launch counts %+v", got, want)
	}
	return nil
}

// same compares scripts of the same launch.
func (s *script) same(o *script) error {
	if !slices.Equal(slices.Sorted(maps.Keys(s.ctas)), slices.Sorted(maps.Keys(o.ctas))) {
		return fmt.Errorf("%d CTAs and %d", len(s.ctas), len(o.ctas))
	}
	for index, c := range s.ctas {
		if err := errors.Join(c.errs...); err != nil {
			return err
		}
		other := o.ctas[index]
		for i := range max(len(c.sums), len(other.sums)) {
			if i < len(c.sums) && i < len(other.sums) && c.sums[i] == other.sums[i] {
				continue
			}
			return fmt.Errorf("cta %d, event %d:\n%s\n%s", index, i, c.text(i), other.text(i))
		}
	}
	return nil
}

func (c *scene) text(i int) string {
	if i < len(c.texts) {
		return c.texts[i]
	}
	return fmt.Sprintf("one of %d", len(c.sums))
}

// scripts runs a program and returns the scripts of its launches.
func scripts(p *corpus.Program, events probe.Events, seed maphash.Seed, prepare func(l *interp.Launch)) (list []*script, o *corpus.Outcome) {
	o = p.Run(func(l *interp.Launch) {
		s := newScript(probe.Subscription{Events: events, Values: true, Tags: true, Addresses: true})
		s.seed = seed
		list = append(list, s)
		l.Probes = []probe.Probe{s}
		prepare(l)
	})
	return list, o
}

// expanded returns the number of lanes that were materialised.
func (s *script) expanded() (n int64) {
	for _, c := range s.ctas {
		n += c.wrote
	}
	return n
}

// TestStreamDoesNotDependOnMode: the events of each program are the same in every mode and agree with its counts. The
// exceptions are materialisations, which depend on the mode; check mode counts the same ones.
func TestStreamDoesNotDependOnMode(t *testing.T) {
	part.SkipShort(t)
	share, seed, hash := uint64(part.Count(768, 96, 1)), part.Seed(t), maphash.MakeSeed()
	var expanded [interp.Vector + 1]atomic.Int64
	t.Cleanup(func() {
		for _, mode := range interp.Modes() {
			name := mode.String()
			if n := expanded[mode].Load(); (n == 0) != (mode == interp.Vector) {
				t.Errorf("%s: %d lanes are expanded", name, n)
			}
		}
	})
	for i, p := range programs(t, 4, 32, 64) {
		if (uint64(i)+seed)%share > 0 || strings.HasPrefix(p.File, "@") && (uint64(i)%2 > 0 || !part.TrySample()) {
			continue
		}
		number := (uint64(i) + seed) / share // successive programs of the sample have successive numbers
		events := probe.AllEvents
		if i%2 == 0 {
			events &^= probe.OnOperation | probe.OnResult // without them less is prepared
		}
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			want, o := scripts(p, events, hash, func(l *interp.Launch) { l.Mode = interp.Vector })
			if o.Err == nil {
				for k, s := range want {
					if err := s.agrees(&o.Results[k].Counts); err != nil {
						t.Error(err)
					}
					expanded[interp.Vector].Add(s.expanded())
				}
			}
			for _, mode := range []interp.Mode{interp.Affine, interp.Check} {
				got, o := scripts(p, events, hash, func(l *interp.Launch) { l.Mode, l.CompileEagerly, l.Structure = mode, number%2 == 0, number%3 == 0 })
				if len(got) != len(want) {
					t.Fatalf("%s: %d launches, want %d", mode, len(got), len(want))
				}
				for k := range got {
					n := got[k].expanded()
					expanded[mode].Add(n)
					if mode == interp.Check && o.Err == nil && n != o.Results[k].Engine.MaterialisedLanes {
						t.Errorf("%d lanes are expanded, the launch counts %d", n, o.Results[k].Engine.MaterialisedLanes)
					}
					if err := want[k].same(got[k]); err != nil {
						t.Fatalf("%s, launch %d: %v", mode, k, err)
					}
				}
			}
		})
	}
}

// guardedKernel has guards on instructions that lower to several operations, to none, or to the end of a block; odd lanes
// execute votes together, from two places.
const guardedKernel = `.version 8.0
.target sm_80
.address_size 64
.func f() { ret; }
.entry k(.param .u64 out)
{
	.reg .b32 %t, %a;
	.reg .pred %p, %q, %r, %s;
	mov.u32 %t, %tid.x;
	setp.lt.u32 %p, %t, 5;
	@%p setp.lt.f16x2 %q|%r, %a, %a;
	@%p membar.gl;
	@%p call f;
	setp.lt.u32 %q, %t, 16;
	and.b32 %a, %t, 1;
	setp.ne.u32 %r, %a, 0;
	@%q bra LOW;
	@%r vote.sync.any.pred %s, !%p, 0xaaaaaaaa;
	bra MEET;
LOW:
	@%r vote.sync.any.pred %s, !%p, 0xaaaaaaaa;
MEET:
	@%q bra LOW2;
	@%r vote.sync.any.pred %s, %p, 0xaaaaaaaa;
	bra MEET2;
LOW2:
	@%r vote.sync.any.pred %s, %p, 0xaaaaaaaa;
MEET2:
	@%p bar.warp.sync 0x1f;
	@%p bar.arrive 1, 128;
	@%p ret;
	ret;
}
`

// TestThreadInstructions: an instruction counts for the lanes with a true guard, however it is lowered; a branch,
// return or exit counts for all lanes that reach it. This holds in every mode, with and without probes, and on the
// oracle.
func TestThreadInstructions(t *testing.T) {
	// By hand. By 5 lanes each: the first setp with a guard, membar, call, ret, bar.arrive, and bar.warp.sync.
	want := map[int]int64{
		32: 2*32 + 6*5 + 3*32 + 2*(32+8+16+8) + 32 + 27,
		64: 2*64 + 5*5 + 3*64 + 2*(64+48) + 64 + 59,
	}
	warps32 := regexp.MustCompile(`(?m)^.*(vote|bar\.warp)\.sync.*$`) // not in warps of 64
	for width, n := range want {
		src := guardedKernel
		if width != 32 {
			src = warps32.ReplaceAllString(src, "")
		}
		launch := func(mod *interp.Module, b *interp.Buffer) *interp.Launch {
			return &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(width), WarpSize: width, Args: []any{b}}
		}
		mod, b := linker(t, interp.Config{}, src, 4)
		for _, mode := range interp.Modes() {
			for _, r := range interp.Policies() {
				if !r.Properties().LanesMayWait {
					continue
				}
				for _, probes := range [][]probe.Probe{nil, {newScript(probe.Subscription{Events: probe.OnAfter})}} {
					l := launch(mod, b)
					l.Mode, l.Reconverge, l.Probes = mode, r, probes
					res, err := mod.Run(t.Context(), l)
					if err != nil {
						t.Fatalf("%s: %v", r.Name(), err)
					}
					if res.ThreadInstructions != n {
						t.Errorf("%s, %s, %d probes, warps of %d: %d instructions, want %d", mode, r.Name(), len(probes), width, res.ThreadInstructions, n)
					}
				}
			}
		}
		twin, err := interp.NewTwin(mod)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := twin.Run(t.Context(), launch(mod, b), nil, nil); err != nil || got != n {
			t.Errorf("the oracle, warps of %d: %d instructions, want %d (%v)", width, got, n, err)
		}
	}
}

// every is a probe that selects a share of the instructions, and the events of each.
type every struct {
	*script
	n, of int
}

// choices has the events selected for instructions, the second choice first.
var choices = [...]probe.Events{probe.AllEvents, probe.OnAccess | probe.OnTexels, probe.OnAfter, probe.OnBefore | probe.OnUndo}

// told returns the selected events of an instruction.
func (p every) told(i int) probe.Events {
	if i%p.of != p.n {
		return 0
	}
	return choices[i/p.of%len(choices)]
}

func (p every) SelectEvents(l *probe.LaunchInfo) []probe.Events {
	list := make([]probe.Events, l.Program.Len())
	for i := range list {
		list[i] = p.told(i)
	}
	return list
}

// listens is a probe that filters all events down to the selection of a selecting probe.
type listens struct{ every }

func (p listens) SelectEvents(*probe.LaunchInfo) []probe.Events { return nil }

func (p listens) CTA(l *probe.LaunchInfo, index int, id ptx.Dim3) probe.Sink {
	to := p.script.CTA(l, index, id)
	return sink(func(e *probe.Event) {
		const chosen = probe.OnBefore | probe.OnAccess | probe.OnTexels | probe.OnOperation | probe.OnResult | probe.OnAfter | probe.OnUndo
		if e.Kind&chosen == 0 || e.Kind&p.told(e.Index) != 0 {
			to.OnEvent(e)
		}
	})
}

// easing returns a sink that now and then eases a warp, until two instructions have had events of the reduced set. With
// ease it calls Ease; otherwise it passes on only the events that would arrive.
func (p every) easing(to probe.Sink, ease bool) probe.Sink {
	count, eased := map[int]int{}, map[int]bool{} // eased: since the instruction's begin
	less := func(e *probe.Event) bool { return count[e.Warp]/2%2 == 1 }
	return sink(func(e *probe.Event) {
		const chosen = probe.OnBefore | probe.OnAccess | probe.OnTexels | probe.OnOperation | probe.OnResult | probe.OnAfter | probe.OnUndo
		if e.Kind&chosen != 0 {
			if e.Kind == probe.OnBefore {
				eased[e.Warp] = less(e)
			}
			mine := e.Kind&p.told(e.Index) != 0
			if !ease && eased[e.Warp] && !mine {
				return
			}
			if mine && e.Kind == probe.OnBefore {
				if count[e.Warp]++; ease {
					e.ReduceEvents(less(e))
				}
			}
		}
		to.OnEvent(e)
	})
}

// eases is a probe that eases warps.
type eases struct{ every }

func (p eases) SelectEvents(*probe.LaunchInfo) []probe.Events    { return nil }
func (p eases) ReducedEvents(l *probe.LaunchInfo) []probe.Events { return p.every.SelectEvents(l) }

func (p eases) CTA(l *probe.LaunchInfo, index int, id ptx.Dim3) probe.Sink {
	return p.easing(p.script.CTA(l, index, id), true)
}

// mayEase is a probe that passes on the events of a probe that eases warps.
type mayEase struct{ listens }

func (p mayEase) CTA(l *probe.LaunchInfo, index int, id ptx.Dim3) probe.Sink {
	return p.easing(p.script.CTA(l, index, id), false)
}

// TestChosenInstructions: a probe that selects instructions, or eases warps, receives exactly the selected part of all
// events, alone and together with other probes, with and without the events in between. On the native engine, machine code
// executes the instructions without selected events, and the events are those of the portable engine.
func TestChosenInstructions(t *testing.T) {
	share, seed, hash := uint64(part.Count(1024, 1024, 16)), part.Seed(t), maphash.MakeSeed()
	for i, p := range programs(t, 4, 32, 64) {
		if (uint64(i)+seed)%share > 0 || strings.HasPrefix(p.File, "@") && !part.TrySample() {
			continue
		}
		sub := probe.Subscription{Events: probe.AllEvents &^ probe.OnMaterialise, Values: true, Addresses: true}
		switch (i + i/3) % 5 {
		case 0:
			sub.Events = probe.OnBefore | probe.OnAfter | probe.OnAccess | probe.OnUndo | probe.OnExit | probe.OnWake
		case 1:
			sub.Events &^= probe.OnOperation | probe.OnResult
		case 2: // machine code may handle divergence and exits of lanes, and an exit may have a single event, of an access
			sub.Events, sub.InOrder, sub.Values = probe.OnAccess|probe.OnTexels|probe.OnEffect|probe.OnTrap, true, i%2 == 0
		case 3:
			sub.Events, sub.InOrder = sub.Events&^(probe.OnBranch|probe.OnSplit|probe.OnReconverge), true
		}
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			for _, mode := range interp.Modes() {
				run := func(engine interp.Engine, make func(every) probe.Probe) (list [2][]*script) {
					p.Run(func(l *interp.Launch) {
						l.Mode, l.Engine, l.Probes = mode, engine, nil
						for k := range list {
							s := newScript(sub)
							s.seed, s.some = hash, true
							list[k] = append(list[k], s)
							if l.Probes = append(l.Probes, make(every{s, k, 3 + 4*(i%2)})); i%3 == 0 {
								break // alone
							}
						}
					})
					return list
				}
				for _, makes := range [][2]func(e every) probe.Probe{
					{func(e every) probe.Probe { return listens{e} }, func(e every) probe.Probe { return e }},
					{func(e every) probe.Probe { return mayEase{listens{e}} }, func(e every) probe.Probe { return eases{e} }},
				} {
					want := run(interp.Portable, makes[0])
					for _, engine := range []interp.Engine{interp.Portable, interp.Auto} {
						got := run(engine, makes[1])
						for k := range want {
							for n := range want[k] {
								if err := want[k][n].same(got[k][n]); err != nil {
									t.Fatalf("%s, %s, launch %d of %T: %v", mode, engine, n, makes[1](every{}), err)
								}
							}
						}
					}
				}
			}
		})
	}
}

// branchingKernel has lanes that diverge, reconverge, exit and trap, and pairs of instructions without machine code.
const branchingKernel = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out, .param .u32 last)
{
	.reg .u32 %t, %i, %x, %y, %last;
	.reg .u64 %p;
	.reg .pred %q, %r, %s;
	ld.param.u64 %p, [out];
	ld.param.u32 %last, [last];
	mov.u32 %t, %tid.x;
	mad.wide.u32 %p, %t, 4, %p;
	mov.u32 %i, 0;
	mov.u32 %x, %t;
NEXT:
	and.b32 %y, %x, 1;
	setp.ne.u32 %q, %y, 0;
	@%q bra ODD;
	vadd.s32.s32.s32.sat %x, %x, %t;
	vmax.s32.s32.s32 %x, %x, %i;
	bra MEET;
ODD:
	add.u32 %x, %x, 3;
	st.global.u32 [%p], %x;
MEET:
	vmin.s32.s32.s32 %x, %x, 1000;
	ld.global.u32 %y, [%p];
	vadd.s32.s32.s32 %x, %x, %y;
	setp.gt.u32 %r, %t, 20;
	setp.eq.u32 %s, %i, 2;
	and.pred %r, %r, %s;
	@%r bra END;
	add.u32 %i, %i, 1;
	setp.lt.u32 %q, %i, %last;
	@%q bra NEXT;
	setp.eq.u32 %q, %last, 7;
	@%q ld.global.u32 %x, [%p+4096];
	st.global.u32 [%p], %x;
END:
	ret;
}
`

// TestEventsOfBranchingKernel: on the native engine, a probe that selects some instructions receives the same events as on the
// portable engine, whichever events of control flow it subscribes to. The steps of the events are the same.
func TestEventsOfBranchingKernel(t *testing.T) {
	accesses := probe.OnAccess
	subscriptions := []probe.Events{
		accesses, accesses | probe.OnSplit, accesses | probe.OnReconverge, accesses | probe.OnExit, accesses | probe.OnTrap,
		probe.OnBefore | probe.OnExit, probe.OnAfter | probe.OnWarpEnd, probe.OnAfter | probe.OnBranch, probe.OnBefore | probe.OnOperation | probe.OnAfter,
	}
	for _, mode := range []interp.Mode{interp.Vector, interp.Affine} {
		for _, last := range []uint32{5, 7} {
			for _, events := range subscriptions {
				for n := range 5 {
					run := func(engine interp.Engine) *script {
						mod, b := linker(t, interp.Config{}, branchingKernel, 4*64)
						s := newScript(probe.Subscription{Events: events, Values: true, Addresses: true, InOrder: true})
						s.seed, s.some = maphash.MakeSeed(), true
						l := &interp.Launch{Grid: ptx.Dim(2), Block: ptx.Dim(64), Args: []any{b, last}, Mode: mode, Engine: engine, Probes: []probe.Probe{every{s, n, 5}}}
						if _, err := mod.Run(t.Context(), l); (err != nil) != (last == 7) {
							t.Fatal(err)
						}
						return s
					}
					want, got := run(interp.Portable), run(interp.Auto)
					for index, c := range want.ctas {
						if other := got.ctas[index]; other == nil || !slices.Equal(c.texts, other.texts) {
							t.Fatalf("%s, last %d, events %v, selection %d, cta %d: other events", mode, last, events, n, index)
						}
					}
				}
			}
		}
	}
}

// order is a probe that subscribes to the events of all CTAs in a single order.
type order []string

func (o *order) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.AllEvents, InOrder: true}
}

func (o *order) OnEvent(e *probe.Event) { *o = append(*o, e.Kind.String()) }

func (o *order) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink {
	return sink(func(e *probe.Event) { *o = append(*o, fmt.Sprint(e.CTA, e.Warp, e.Kind, e.Index)) })
}

// TestProbeWithOneOrder: a probe with one order over all CTAs receives the same on any number of cores. Probes without
// this order receive the same of each CTA, with and without it.
func TestProbeWithOneOrder(t *testing.T) {
	var first order
	var alone *script
	for _, workers := range []int{1, 4} {
		var o order
		beside := newScript(probe.Subscription{Events: probe.AllEvents &^ probe.OnMaterialise, Values: true, Addresses: true})
		if alone != nil {
			beside.seed = alone.seed
		}
		for _, probes := range [][]probe.Probe{{&o, beside}, {beside}} {
			beside.ctas = map[int]*scene{}
			mod, b := linker(t, interp.Config{Workers: workers}, pausedKernel, 256)
			l := &interp.Launch{Grid: ptx.Dim(40), Block: ptx.Dim(64), Args: []any{b}, Mode: interp.Affine, Probes: probes}
			if _, err := mod.Run(t.Context(), l); err != nil {
				t.Fatal(err)
			}
			if alone == nil {
				alone = beside.clone()
			} else if err := alone.same(beside); err != nil {
				t.Errorf("%d workers: %v", workers, err)
			}
		}
		if first == nil {
			first = o
		} else if !slices.Equal(first, o) {
			t.Errorf("%d workers: another order", workers)
		}
	}
}

// busy is a probe that subscribes to everything and does nothing.
type busy struct{ n int }

func (b *busy) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.AllEvents, Values: true, Tags: true, Addresses: true, InOrder: true}
}

func (b *busy) OnEvent(*probe.Event) { b.n++ }

func (b *busy) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return b }

// TestEventsAllocateNothing: events allocate no memory beyond the memory of the launch.
func TestEventsAllocateNothing(t *testing.T) {
	for _, mode := range interp.Modes() {
		name := mode.String()
		run := func(size uint32, watched bool) (events int, allocs float64) {
			mod, b := linker(t, interp.Config{}, loopKernel, 256)
			allocs = testing.AllocsPerRun(1, func() {
				p := &busy{}
				l := &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(64), Args: []any{b, size}, Mode: mode}
				if watched {
					l.Structure, l.Probes = true, []probe.Probe{p}
				}
				if _, err := mod.Run(t.Context(), l); err != nil {
					t.Fatal(err)
				}
				events = p.n
			})
			return events, allocs
		}
		few, with1 := run(100, true)
		many, with2 := run(1100, true)
		_, without1 := run(100, false)
		_, without2 := run(1100, false)
		if n := with2 - with1 - (without2 - without1); n > float64(many-few)/1000 {
			t.Errorf("%s: %d more events, and %.0f more pieces of memory", name, many-few, n)
		}
	}
}

// loopKernel diverges and reconverges in a loop, with loads and stores.
const loopKernel = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out, .param .u32 n)
{
	.reg .u32 %t, %x, %i, %n;
	.reg .u64 %p;
	.reg .pred %q;
	mov.u32 %t, %tid.x;
	ld.param.u64 %p, [out];
	ld.param.u32 %n, [n];
	mad.wide.u32 %p, %t, 4, %p;
	mov.u32 %i, 0;
LOOP:
	ld.global.u32 %x, [%p];
	and.b32 %x, %t, 1;
	setp.eq.u32 %q, %x, 0;
	@%q bra EVEN;
	add.u32 %x, %x, %i;
	mul.lo.u32 %x, %x, %t;
EVEN:
	st.global.u32 [%p], %x;
	bar.sync 0;
	add.u32 %i, %i, 1;
	setp.lt.u32 %q, %i, %n;
	@%q bra LOOP;
	ret;
}
`

// meetKernel: lanes 16 to 31 go elsewhere, and lanes 0 to 7 and 8 to 15 reach a shuffle after a fence, which takes no code.
// The first shuffle is among themselves, the second with the lanes elsewhere.
const meetKernel = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .u32 %t, %m, %x;
	.reg .pred %p, %q;
	mov.u32 %t, %tid.x;
	setp.lt.u32 %p, %t, 16;
	setp.lt.u32 %q, %t, 8;
	selp.b32 %m, 0xff, 0xffffff00, %q;
	@%p bra LOW;
	add.u32 %t, %t, 1;
	shfl.sync.idx.b32 %x, %t, 0, 31, %m;
	bra END;
LOW:
	membar.cta;
	shfl.sync.idx.b32 %x, %t, 0, 31, %m;
END:
	ret;
}
`

// TestSplitAtCollective: if lanes diverge at an instruction because a part of them must wait there, their next instruction
// is this instruction, not an earlier one of its block; the places of warp splits show this.
func TestSplitAtCollective(t *testing.T) {
	for _, mode := range interp.Modes() {
		name := mode.String()
		mod, b := linker(t, interp.Config{}, meetKernel, 4)
		const shuffle = 18 // line
		diverged := 0
		p := &told{wants: probe.Subscription{Events: probe.OnSplit | probe.OnWait, InOrder: true}}
		p.tell = func(e *probe.Event) {
			switch {
			case e.Kind == probe.OnWait:
				e.Pause()
			case e.Lanes == 0xffff:
				diverged++
				for _, w := range e.Groups {
					if instr, _ := e.Launch.Program.At(w.To); instr.Pos.Line != shuffle {
						t.Errorf("%s: lanes %#x come to line %d, want %d", name, w.Lanes, instr.Pos.Line, shuffle)
					}
				}
			}
		}
		e, err := mod.Start(&interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{b}, Mode: mode, Probes: []probe.Probe{p}})
		if err != nil {
			t.Fatal(err)
		}
		for diverged == 0 {
			if ended, err := e.Continue(t.Context()); ended || err != nil {
				t.Fatalf("%s: the lanes do not part: %v", name, err)
			}
		}
		stand := map[uint64]int{}
		splits, err := e.WarpSplits()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range splits {
			stand[s.Lanes] = int(s.Instr.Pos.Line)
		}
		if stand[0xff] != shuffle || stand[0xff00] != shuffle+2 { // these lanes have merged with the lanes that came first
			t.Errorf("%s: lanes stand at lines %v", name, stand)
		}
		if err := finish(t, e); err != nil || diverged != 1 {
			t.Errorf("%s: lanes part %d times; %v", name, diverged, err)
		}
	}
}

// told is a probe that calls a function with each event.
type told struct {
	wants probe.Subscription
	tell  func(e *probe.Event)
}

func (p *told) Subscription() probe.Subscription { return p.wants }

func (p *told) OnEvent(e *probe.Event) { p.tell(e) }

func (p *told) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return p }

// expandedKernel needs the lanes of compact registers in a call, at a barrier, in a shuffle whose lanes come from two places, and
// in a store that traps.
const expandedKernel = `.version 8.0
.target sm_80
.address_size 64
.func f(.reg .u32 %arg)
{
	ret;
}
.entry k(.param .u64 out)
{
	.reg .u32 %t, %a, %b, %c, %d, %x;
	.reg .u64 %p;
	.reg .pred %q;
	mov.u32 %t, %tid.x;
	ld.param.u64 %p, [out];
	add.u32 %a, %t, 1;
	add.u32 %b, %t, 2;
	add.u32 %c, %t, 3;
	ld.global.u32 %d, [%p];
	call f, (%a);
	bar.sync %d;
	setp.lt.u32 %q, %t, 16;
	@%q bra LOW;
	shfl.sync.idx.b32 %x, %b, 0, 31, -1;
	bra END;
LOW:
	shfl.sync.idx.b32 %x, %b, 1, 31, -1;
END:
	st.global.u32 [%p+4096], %c;
	ret;
}
`

// TestMaterialisationEvents: each materialisation has an event, with the register.
func TestMaterialisationEvents(t *testing.T) {
	for _, mode := range interp.Modes() {
		name := mode.String()
		mod, b := linker(t, interp.Config{}, expandedKernel, 4)
		lanes := map[string]uint64{}
		p := &told{wants: probe.Subscription{Events: probe.OnMaterialise}}
		p.tell = func(e *probe.Event) {
			lanes[fmt.Sprint(e.Instr.Op.Name, " ", e.Func.Regs[e.Materialised.Reg].Name)] |= e.Lanes
		}
		_, err := mod.Run(t.Context(), &interp.Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{b}, Mode: mode, CompileEagerly: mode != interp.Vector, Probes: []probe.Probe{p}})
		if !errors.Is(err, probe.ErrOutOfBounds) {
			t.Errorf("%s: %v", name, err)
		}
		const all = 0xffff_ffff
		want := map[string]uint64{"call %a": all, "bar %d": all, "setp %t": all, "shfl %b": all, "st %c": all}
		if mode == interp.Vector {
			want = map[string]uint64{}
		}
		if !maps.Equal(lanes, want) {
			t.Errorf("%s: expanded are %v, want %v", name, lanes, want)
		}
	}
}

// shadowKernel reads unwritten memory of every space: half of an array in shared memory, the local memory of an earlier
// call, and the second word of the buffer.
const shadowKernel = `.version 8.0
.target sm_80
.address_size 64
.shared .align 4 .b8 array[192];
.func fill(.reg .u32 %x)
{
	.local .align 4 .b8 frame[8];
	st.local.u32 [frame+4], %x;
	ld.local.u32 %x, [frame+4];
	ret;
}
.func peep(.reg .u32 %x)
{
	.local .align 4 .b8 frame[8];
	ld.local.u32 %x, [frame+4];
	ret;
}
.entry k(.param .u64 out)
{
	.reg .u32 %t, %x;
	.reg .u64 %p, %a;
	.reg .pred %q;
	mov.u32 %t, %tid.x;
	ld.param.u64 %p, [out];
	cvta.shared.u64 %a, array;
	mad.wide.u32 %a, %t, 4, %a;
	setp.lt.u32 %q, %t, 16;
	@%q st.u32 [%a], %t;
	bar.sync 1;
	ld.u16 %x, [%a+2];
	call fill, (%t);
	bar.sync 1;
	@%q call peep, (%t);
	bar.sync 1;
	st.global.u32 [%p], %t;
	ld.global.v2.u32 {%t, %x}, [%p];
	ret;
}
`

// fresh is a probe that finds reads of unwritten memory: it has a shadow byte for each byte.
type fresh struct {
	lanes map[string]uint64 // by line, CTA and warp
	met   map[[2]int][]int  // by CTA and warp: generations of barrier 1
}

func (p *fresh) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAccess | probe.OnBefore | probe.OnWake, Addresses: true, InOrder: true}
}

func (p *fresh) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return sink(p.OnEvent) }

func (p *fresh) OnEvent(e *probe.Event) {
	switch e.Kind {
	case probe.OnBefore:
		if e.Instr.Op.Name == "bar" {
			e.Pause()
		}
		return
	case probe.OnWake:
		key := [2]int{e.CTA, e.Warp}
		p.met[key] = append(p.met[key], e.Wait.Generation)
		return
	}
	a := &e.Accesses[len(e.Accesses)-1]
	if a.Space == ptx.Param {
		return
	}
	for m := e.Lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		s := a.Shadow(lane)
		if len(s) != a.Bytes {
			p.lanes[fmt.Sprintf("%d shadow bytes", len(s))] |= 1
		}
		for i := range s {
			switch {
			case a.Kind == probe.AccessStore:
				s[i] = 1
			case s[i] == 0:
				p.lanes[fmt.Sprintf("line %d cta %d warp %d", e.Instr.Pos.Line, e.CTA, e.Warp)] |= 1 << lane
			}
		}
	}
}

// Save and Restore save the findings, so that they are found again.
func (p *fresh) Save() any { return [2]any{maps.Clone(p.lanes), maps.Clone(p.met)} }

func (p *fresh) Restore(state any) {
	s := state.([2]any)
	p.lanes, p.met = maps.Clone(s[0].(map[string]uint64)), maps.Clone(s[1].(map[[2]int][]int))
}

// TestShadowBytes: shadow bytes of all state spaces begin as zero, for each CTA and each call, and are restored with a
// launch; events of barriers have the lanes that have met.
func TestShadowBytes(t *testing.T) {
	for _, mode := range interp.Modes() {
		name := mode.String()
		mod, b := linker(t, interp.Config{ShadowBytes: 1}, shadowKernel, 8)
		p := &fresh{lanes: map[string]uint64{}, met: map[[2]int][]int{}}
		e, err := mod.Start(&interp.Launch{Kernel: "k", Grid: ptx.Dim(3), Block: ptx.Dim(48), Args: []any{b}, Mode: mode, Probes: []probe.Probe{p}})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]uint64{}
		met := map[[2]int][]int{}
		for cta := range 3 {
			want[fmt.Sprintf("line 30 cta %d warp 0", cta)] = 0xffff_0000
			want[fmt.Sprintf("line 30 cta %d warp 1", cta)] = 0xffff
			want[fmt.Sprintf("line 15 cta %d warp 0", cta)] = 0xffff
			want[fmt.Sprintf("line 36 cta %d warp 0", cta)] = 0xffff_ffff
			want[fmt.Sprintf("line 36 cta %d warp 1", cta)] = 0xffff
			for warp := range 2 {
				met[[2]int{cta, warp}] = []int{0, 1, 2}
			}
		}
		var states []*interp.State
		for {
			s, err := e.Save()
			if err != nil {
				t.Fatal(err)
			}
			states = append(states, s)
			if ended, err := e.Continue(t.Context()); err != nil {
				t.Fatal(err)
			} else if ended {
				break
			}
		}
		for i := len(states); ; i-- {
			if !maps.Equal(p.lanes, want) || fmt.Sprint(p.met) != fmt.Sprint(met) {
				t.Errorf("%s, from state %d: found %v, want %v; met %v", name, i, p.lanes, want, p.met)
			}
			if i == 0 {
				break
			}
			if err := e.Restore(states[i-1]); err != nil {
				t.Fatal(err)
			}
			if err := finish(t, e); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// variablesKernel accesses variables in shared and local memory, in the kernel and below it.
const variablesKernel = `.version 8.0
.target sm_80
.address_size 64
.shared .align 4 .b8 first[10];
.extern .shared .align 16 .b8 rest[];
.func below(.param .b32 arg)
{
	.local .align 4 .b8 inner[8];
	.reg .u32 %x;
	ld.param.u32 %x, [arg];
	st.local.u32 [inner+4], %x;
	ret;
}
.entry k()
{
	.shared .align 8 .b64 second[2];
	.local .align 16 .b8 outer[20];
	.reg .u64 %a;
	.reg .u32 %x;
	mov.u32 %x, 1;
	st.shared.u8 [first+9], %x;
	st.shared.u32 [second+8], %x;
	cvta.shared.u64 %a, rest;
	st.u32 [%a+4], %x;
	st.local.u32 [outer+16], %x;
	{
		.param .b32 p;
		st.param.b32 [p], %x;
		call below, (p);
	}
	ret;
}
`

// TestVariableOfAccess: the offset of an access is an offset in the variable that the instruction names, and identifies
// the element.
func TestVariableOfAccess(t *testing.T) {
	for _, mode := range interp.Modes() {
		name := mode.String()
		mod, _ := linker(t, interp.Config{}, variablesKernel, 4)
		var got []string
		p := &told{wants: probe.Subscription{Events: probe.OnAccess, Addresses: true}}
		p.tell = func(e *probe.Event) {
			space, _, offset, _ := e.Accesses[0].PlaceOf(0)
			list, base := e.Launch.Program.Shared(), 0
			if space == ptx.Local {
				list, base = e.Launch.Program.Locals(e.Func), e.Local
			}
			for i, v := range slices.Backward(list) {
				if at := int(offset) - base - v.Offset; at >= 0 {
					got = append(got, fmt.Sprintf("%s %s+%d of %d", e.Instr.Op.Name, v.Var.Name, at, v.Var.Size()))
					break
				} else if i == 0 {
					t.Errorf("%s: %s accesses %d in %s memory, before all variables", name, e.Instr.Text, offset, space)
				}
			}
		}
		if _, err := mod.Run(t.Context(), &interp.Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(32), Shared: 8, Mode: mode, Probes: []probe.Probe{p}}); err != nil {
			t.Fatal(err)
		}
		want := []string{"st first+9 of 10", "st second+8 of 16", "st rest+4 of 0", "st outer+16 of 20", "st p+0 of 4", "ld arg+0 of 4", "st inner+4 of 8"}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// lookKernel stores in shared memory, and allocates.
const lookKernel = `.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 n);
.entry k(.param .u64 out)
{
	.shared .b32 s[32];
	.reg .u32 %t, %x;
	.reg .pred %q;
	.param .b64 n, r;
	mov.u32 %t, %tid.x;
	mad.lo.u32 %x, %t, %t, 5;
	st.shared.u32 [s], %x;
	st.shared.u32 [s+4], 77;
	setp.gt.u32 %q, %t, 29;
	st.param.b64 [n], 8;
	@%q call (r), malloc, (n);
	ret;
}
`

// TestProbeReadsRegisters: a probe can read registers into its own memory, and read shared memory; the event of malloc
// has the allocating lane.
func TestProbeReadsRegisters(t *testing.T) {
	for _, mode := range interp.Modes() {
		name := mode.String()
		mod, b := linker(t, interp.Config{}, lookKernel, 4)
		var room probe.Value
		seen, lanes := 0, uint64(0)
		p := &told{wants: probe.Subscription{Events: probe.OnAfter | probe.OnAlloc | probe.OnCTAEnd, InOrder: true}}
		p.tell = func(e *probe.Event) {
			switch {
			case e.Kind == probe.OnAlloc:
				if e.Instr == nil || e.Instr.Call == nil || e.Memory.Kind != probe.HeapMemory || bits.OnesCount64(e.Lanes) != 1 {
					t.Errorf("%s: %v of %v by lanes %#x", name, e.Kind, e.Memory, e.Lanes)
				}
				lanes |= e.Lanes
			case e.Kind == probe.OnCTAEnd:
				if data := e.Shared().Data; len(data) != 128 || data[4] != 77 {
					t.Errorf("%s: shared memory is %v", name, data)
				}
			case e.Instr.Form.Affine == ptx.AffineMad:
				for reg := range e.Instr.Defs() {
					if !e.ReadTo(&room, reg) {
						continue // it is dead
					}
					seen++
					for i, v := range room.Low[:32] {
						if v != uint64(i*i+5) {
							t.Errorf("%s: lane %d has %d, want %d", name, i, v, i*i+5)
						}
					}
				}
			}
		}
		if _, err := mod.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{b}, Mode: mode, Probes: []probe.Probe{p}}); err != nil {
			t.Fatal(err)
		}
		if seen == 0 {
			t.Errorf("%s: the register is dead where it is written", name)
		}
		if lanes != 3<<30 {
			t.Errorf("%s: lanes %#x have allocated, want 30 and 31", name, lanes)
		}
	}
}
