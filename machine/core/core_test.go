package core_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/kernels"
	"gemu/machine/cache"
	"gemu/machine/core"
	"gemu/machine/dispatch"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/probe"
	"gemu/ptx"
)

// slow is a memory that answers after a time that depends on the line, and takes a number of requests at a time. A store stays for the time
// of a load.
type slow struct {
	room    int
	base    int64
	spread  uint64
	forms   bool // three of four lines arrive in a form, and half of the stores of a part of a line are returned
	waiting []slowReply
}

type slowReply struct {
	memory.Reply
	answered bool
}

func (s *slow) Refuses(int) bool { return s.room > 0 && len(s.waiting) >= s.room }

func (s *slow) Send(now int64, r *memory.Request) bool {
	if s.Refuses(r.SM) {
		return false
	}
	at := now + s.base
	if s.spread > 0 {
		at += int64(r.Line * 0x9e3779b97f4a7c15 >> 32 % s.spread)
	}
	reply := memory.Reply{SM: r.SM, ID: r.ID, Line: r.Line, Sectors: r.Sectors, At: at}
	if s.forms && r.Kind != probe.AccessAtomic {
		if reply.Bursts = int(r.Line % 4); reply.Bursts > 0 {
			reply.Sectors = 0xf
		}
		reply.Returned = r.Acknowledged && r.Line%2 > 0
	}
	s.waiting = append(s.waiting, slowReply{reply, r.Kind != probe.AccessStore || r.Acknowledged})
	return true
}

func (s *slow) Next() int64 {
	next := int64(memory.Never)
	for _, r := range s.waiting {
		next = min(next, r.At)
	}
	return next
}

func (s *slow) Advance(now int64, replies []memory.Reply) []memory.Reply {
	s.waiting = slices.DeleteFunc(s.waiting, func(r slowReply) bool {
		if r.At > now {
			return false
		}
		if r.answered {
			replies = append(replies, r.Reply)
		}
		return true
	})
	return replies
}

// config returns a machine with CTAs in rotation.
func config(spec core.Spec, sms, resident int, l1 cache.Shape, m memory.Memory) core.Config {
	if l1.Index == nil {
		l1.Index = cache.Modulo
	}
	return core.Config{Spec: spec, SMs: sms, Memory: m, Plan: func(l *stream.Launch) core.Plan {
		places := max(1, min(resident, 64/((l.Block.Count()+31)/32)))
		d := dispatch.NewChecked(dispatch.Rotation, &dispatch.Launch{Grid: l.Grid, SMs: sms, Places: places})
		return core.Plan{Resident: places, L1: l1, Policy: cache.LRU, Dispatcher: d}
	}}
}

// consumers is a function that makes the consumers of a launch.
type perLaunch struct {
	stream.Consumer
	make func() stream.Consumer
	done func(stream.Consumer)
}

func (p *perLaunch) BeginLaunch(l *stream.Launch) {
	p.Consumer = p.make()
	p.Consumer.BeginLaunch(l)
}
func (p *perLaunch) EndLaunch(l *stream.Launch, err error) {
	p.Consumer.EndLaunch(l, err)
	p.done(p.Consumer)
}

// agree returns a consumer that runs each launch on the machine and on the naive machine, and compares them.
func agree(t *testing.T, newConfig func() core.Config) (c *perLaunch, launches *int) {
	launches = new(int)
	c = &perLaunch{make: func() stream.Consumer { return stream.Consumers{core.New(newConfig()), newNaive(newConfig())} }}
	c.done = func(list stream.Consumer) {
		m, n := list.(stream.Consumers)[0].(*core.Machine), list.(stream.Consumers)[1].(*naive)
		*launches++
		if err := m.Err(); err != nil {
			t.Error(err)
			return
		}
		got := m.Launches()[0]
		if cycles := n.run(); got.Cycles != cycles {
			t.Errorf("%d cycles, want %d", got.Cycles, cycles)
		}
		n.counts.Instructions = got.Instructions
		if got.Counts != n.counts {
			t.Errorf("%+v, want %+v", got.Counts, n.counts)
		}
		if got.Idle != n.idle {
			t.Errorf("%d idle cycles, want %d", got.Idle, n.idle)
		}
		for i := range got.Instrs {
			if got.Instrs[i] != n.instrs[i] {
				in, _ := got.Program.At(i)
				t.Errorf("%d, %s: %+v, want %+v", i, in.Text, got.Instrs[i], n.instrs[i])
			}
		}
	}
	return c, launches
}

// TestAgainstNaive compares random programs, and workloads, with the naive machine.
func TestAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(part.Seed(t), 7))
	for i := range part.Count(16, 16, 400) {
		text, block := randomProgram(rng)
		spec := randomSpec(rng)
		sms, resident := 1+rng.IntN(3), 1+rng.IntN(4)
		shape := cache.Shape{Sets: 1 + rng.IntN(8), Ways: rng.IntN(4)}
		if shape.Ways == 0 {
			shape.Sets = 1
		}
		room, base, spread := rng.IntN(12), 1+rng.Int64N(200), uint64(rng.IntN(100))
		lines, evict := rng.IntN(3) == 0, rng.IntN(3) == 0
		ahead := rng.IntN(5) - 1 // lines from a miss to the line that is read ahead; -1: no prefetches
		c, _ := agree(t, func() core.Config {
			out := config(spec, sms, resident, shape, &slow{room: room, base: base, spread: spread})
			out.L1Lines, out.StoresEvict = lines, evict
			if plan := out.Plan; ahead >= 0 {
				out.Plan = func(l *stream.Launch) core.Plan {
					p := plan(l)
					p.Prefetch = func(line uint64) (uint64, bool) { return line + uint64(ahead), line%3 > 0 }
					return p
				}
			}
			return out
		})
		record(t, text, ptx.Dim(1+rng.IntN(9)), block, c)
		if t.Failed() {
			t.Fatalf("program %d: %s\n%+v, %d SMs, %d CTAs, L1 %+v, memory %d %d %d, lines %v, evict %v, ahead %d", i, text, spec, sms, resident, shape, room, base, spread, lines, evict, ahead)
		}
	}
}

// TestWorkloadsAgainstNaive compares workloads with the naive machine.
func TestWorkloadsAgainstNaive(t *testing.T) {
	part.SkipShort(t)
	for name, n := range map[string]int{"saxpy": 2000, "reduce": 2000, "sgemm": 32, "histogram": 2000, "spmv": 64, "bfs": 200, "transpose": 64} {
		w := kernels.Lookup(name)
		if w == nil {
			t.Errorf("no workload %s", name)
			continue
		}
		spec := core.Volta
		if name == "spmv" || name == "bfs" {
			spec = core.Fermi
		}
		c, launches := agree(t, func() core.Config {
			return config(spec, 2, 2, cache.Shape{Sets: 16, Ways: 4}, &slow{room: 40, base: 100, spread: 50})
		})
		runWorkload(t, w, n, c)
		if *launches == 0 {
			t.Errorf("%s: no launch", name)
		}
	}
}

func runWorkload(t *testing.T, w *kernels.Workload, n int, c stream.Consumer) {
	d := interp.NewDevice(interp.Config{})
	defer d.Close()
	m, err := d.Load(w.Name+".ptx", []byte(w.PTX()))
	if err != nil {
		t.Fatal(err)
	}
	r := stream.NewRecorder(c)
	r.RecordInstructions()
	s := &kernels.Session{Context: t.Context(), Module: m, N: n, Block: w.Block, Warp: 32, Prepare: func(l *interp.Launch) {
		l.Mode, l.Probes = interp.Vector, []probe.Probe{r}
	}}
	if err := w.Run(s); err != nil {
		t.Fatal(err)
	}
}

// kept keeps the calls of a recorder.
type kept []func(stream.Consumer)

func (k *kept) BeginLaunch(l *stream.Launch) {
	*k = append(*k, func(c stream.Consumer) { c.BeginLaunch(l) })
}
func (k *kept) CTA(l *stream.Launch, cta *stream.CTA) {
	*k = append(*k, func(c stream.Consumer) { c.CTA(l, cta) })
}
func (k *kept) EndLaunch(l *stream.Launch, err error) {
	*k = append(*k, func(c stream.Consumer) { c.EndLaunch(l, err) })
}

// TestRefused: a launch whose CTAs have more warps than a multiprocessor has slots gives an error, in any order of its calls and those of
// another launch at the same time.
func TestRefused(t *testing.T) {
	d := interp.NewDevice(interp.Config{})
	defer d.Close()
	m, err := d.Load("k.ptx", []byte(".version 8.0\n.target sm_80\n.entry k()\n{\n\tret;\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var launches [2]kept
	for i, warp := range []int{8, 32} { // 128 warps, and 32
		r := stream.NewRecorder(&launches[i])
		r.RecordInstructions()
		if _, err := m.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(2), Block: ptx.Dim(1024), WarpSize: warp, Probes: []probe.Probe{r}}); err != nil {
			t.Fatal(err)
		}
	}
	if len(launches[0]) != 4 || len(launches[1]) != 4 {
		t.Fatalf("%d and %d calls", len(launches[0]), len(launches[1]))
	}
	for order := range uint(1 << 8) { // 1: a call of the second launch
		if bits.OnesCount(order) != 4 {
			continue
		}
		c := core.New(config(core.Volta, 1, 1, cache.Shape{Sets: 1, Ways: 1}, memory.NewFixed(100)))
		next := [2]int{}
		for i := range 8 {
			k := order >> i & 1
			launches[k][next[k]](c)
			next[k]++
		}
		if err := c.Err(); err == nil || err.Error() != "kernel k: a CTA has 128 warps; a multiprocessor with a clock has 64 slots" {
			t.Errorf("order %08b: %v", order, err)
		}
		if n := len(c.Launches()); n != 2 {
			t.Errorf("order %08b: %d launches have ended, want 2", order, n)
		}
	}
}

// exchanged is a machine that exchanges the numbers of the first two meetings of each CTA's warp 1.
type exchanged struct{ *core.Machine }

func (e exchanged) CTA(l *stream.Launch, cta *stream.CTA) {
	m := cta.Warps[1].Meetings
	m[0].Number, m[1].Number = m[1].Number, m[0].Number
	e.Machine.CTA(l, cta)
}

// TestContradictingBarriers: a recording in which warps wait for each other gives an error, and the next launch runs.
func TestContradictingBarriers(t *testing.T) {
	const grid = 3
	text := program("\tbar.sync 0;\n\tbar.sync 1;\n\tmov.u32 %t, 1;\n")
	m := core.New(config(core.Volta, 1, 1, cache.Shape{Sets: 1, Ways: 1}, memory.NewFixed(100)))
	record(t, text, ptx.Dim(grid), ptx.Dim(64), exchanged{m})
	// Cycle 0 issues both barriers 0, from which no warp returns.
	const want = "kernel k: warps wait for each other after cycle 0: the orders of their recorded barriers contradict each other"
	if err := m.Err(); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	record(t, text, ptx.Dim(grid), ptx.Dim(64), m)
	launches := m.Launches()
	if len(launches) != 2 {
		t.Fatalf("%d launches have ended, want 2", len(launches))
	}
	// Each CTA has two warps with two barriers, a move and an exit.
	if n := launches[1].Instructions; n != grid*2*4 {
		t.Errorf("the second launch has %d instructions, want %d", n, grid*2*4)
	}
}

// record runs a program with a buffer of 64 KiB, and records its instructions.
func record(t *testing.T, text string, grid, block ptx.Dim3, c stream.Consumer) {
	t.Helper()
	recordLaunch(t, text, 0, &interp.Launch{Grid: grid, Block: block}, stream.NewRecorder(c))
}

// recordLaunch runs a program with a buffer of 64 KiB on a device with compute capability sm, or the default if it is 0, and records its
// instructions.
func recordLaunch(t *testing.T, text string, sm int, l *interp.Launch, r *stream.Recorder) {
	t.Helper()
	d := interp.NewDevice(interp.Config{SM: sm})
	defer d.Close()
	m, err := d.Load("k.ptx", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	b, err := d.Alloc(1 << 16)
	if err != nil {
		t.Fatal(err)
	}
	r.RecordInstructions()
	l.Args, l.Probes = []any{b}, []probe.Probe{r}
	if _, err := m.Run(t.Context(), l); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// program returns a kernel with the buffer in %b, %tid.x in %t, and %ctaid.x in %c.
func program(body string) string {
	return `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 in)
{
	.shared .align 16 .b8 tile[8192];
	.reg .u32 %t, %c, %s, %x<8>;
	.reg .f32 %f<4>;
	.reg .f64 %d<4>;
	.reg .u64 %b, %p, %q;
	.reg .pred %r;
` + body + "\tret;\n}\n"
}

// randomProgram returns a kernel, and its block.
func randomProgram(rng *rand.Rand) (text string, block ptx.Dim3) {
	var b strings.Builder
	b.WriteString("\tmov.u32 %t, %tid.x;\n\tmov.u32 %c, %ctaid.x;\n\tld.param.u64 %b, [in];\n\tmov.u32 %s, tile;\n")
	x := func() string { return fmt.Sprintf("%%x%d", rng.IntN(8)) }
	label := 0
	for range 3 + rng.IntN(20) {
		switch rng.IntN(14) {
		case 0, 1:
			fmt.Fprintf(&b, "\tadd.u32 %s, %s, %s;\n", x(), x(), x())
		case 2:
			fmt.Fprintf(&b, "\tmad.lo.u32 %s, %s, %s, %s;\n", x(), x(), x(), x())
		case 3:
			fmt.Fprintf(&b, "\tfma.rn.f32 %%f%d, %%f%d, %%f1, %%f0;\n", rng.IntN(4), rng.IntN(4))
		case 4:
			fmt.Fprintf(&b, "\tfma.rn.f64 %%d%d, %%d%d, %%d1, %%d0;\n", rng.IntN(4), rng.IntN(4))
		case 5:
			fmt.Fprintf(&b, "\tsqrt.approx.f32 %%f%d, %%f%d;\n", rng.IntN(4), rng.IntN(4))
		case 6, 7:
			fmt.Fprintf(&b, "\tmad.lo.u32 %%x0, %%t, %d, %%c;\n\tand.b32 %%x0, %%x0, 4095;\n\tmul.wide.u32 %%p, %%x0, 4;\n\tadd.u64 %%p, %%p, %%b;\n", []int{1, 2, 8, 33, 0}[rng.IntN(5)])
			switch rng.IntN(6) {
			case 0:
				fmt.Fprintf(&b, "\tst.global.u32 [%%p], %s;\n", x())
			case 1:
				fmt.Fprintf(&b, "\tatom.global.add.u32 %s, [%%p], 1;\n", x())
			case 2:
				fmt.Fprintf(&b, "\tred.global.add.u32 [%%p], 1;\n")
			case 3:
				fmt.Fprintf(&b, "\tld.global.cg.u32 %s, [%%p];\n", x())
			default:
				fmt.Fprintf(&b, "\tld.global.u32 %s, [%%p];\n", x())
			}
		case 8, 9:
			fmt.Fprintf(&b, "\tmad.lo.u32 %%x1, %%t, %d, 0;\n\tand.b32 %%x1, %%x1, 2044;\n\tadd.u32 %%x1, %%x1, %%s;\n", []int{4, 8, 128, 12}[rng.IntN(4)])
			if rng.IntN(2) == 0 {
				fmt.Fprintf(&b, "\tst.shared.u32 [%%x1], %s;\n", x())
			} else {
				fmt.Fprintf(&b, "\tld.shared.u32 %s, [%%x1];\n", x())
			}
		case 10:
			fmt.Fprint(&b, "\tbar.sync 0;\n")
		case 11:
			label++
			fmt.Fprintf(&b, "\tsetp.lt.u32 %%r, %%t, %d;\n\t@%%r bra L%d;\n\tadd.u32 %s, %s, 1;\nL%d:\n", rng.IntN(80), label, x(), x(), label)
		case 12:
			fmt.Fprintf(&b, "\tmul.wide.u32 %%q, %%t, 16;\n\tadd.u64 %%q, %%q, %%b;\n\tmad.lo.u32 %%x2, %%t, 16, %%s;\n\tcp.async.%s.shared.global [%%x2], [%%q], 16;\n", []string{"ca", "cg"}[rng.IntN(2)])
			if rng.IntN(2) == 0 {
				fmt.Fprint(&b, "\tcp.async.commit_group;\n")
			}
		case 13:
			fmt.Fprint(&b, []string{"\tcp.async.wait_group 1;\n", "\tcp.async.wait_group 0;\n", "\tcp.async.wait_all;\n"}[rng.IntN(3)])
		}
	}
	return program(b.String()), ptx.Dim([]int{1, 32, 40, 64, 96, 200, 480}[rng.IntN(7)])
}

// randomSpec returns a multiprocessor with random numbers.
func randomSpec(rng *rand.Rand) core.Spec {
	s := []core.Spec{core.Volta, core.Fermi}[rng.IntN(2)]
	s.Policy = []*core.Policy{core.GTO, core.Loose, core.OldestFirst, core.TwoLevel}[rng.IntN(4)]
	set := func(name string, n int64) {
		if err := s.Set(name, fmt.Sprint(n), nil); err != nil {
			panic(err)
		}
	}
	set("lsu.ports", 1+rng.Int64N(3))
	set("lsu.queue", 1+rng.Int64N(6))
	set("l1.latency", 1+rng.Int64N(100))
	set("l1.mshrs", rng.Int64N(6))
	set("l1.merges", rng.Int64N(4))
	set("barrier", 1+rng.Int64N(20))
	set("control.latency", 1+rng.Int64N(8))
	set("fp.latency", 1+rng.Int64N(90))
	set("special.cycles", 1+rng.Int64N(90))
	set("shared.latency", 1+rng.Int64N(30))
	return s
}

// TestAccess: a plan receives each transaction once, and the end of the launch; a launch that ends before it begins on the machine, because
// another is in progress, has neither.
func TestAccess(t *testing.T) {
	const text = "\tld.param.u64 %b, [in];\n\tmov.u32 %t, %tid.x;\n\tmul.wide.u32 %p, %t, 128;\n\tadd.u64 %p, %p, %b;\n\tld.global.u32 %x0, [%p];\n\tst.global.u32 [%b], %x0;\n" // 32 lines and one
	for _, late := range []bool{false, true} {
		var calls kept
		for range 2 {
			record(t, program(text), ptx.Dim(1), ptx.Dim(32), &calls)
		}
		c := config(core.Volta, 1, 1, cache.Shape{Sets: 1, Ways: 1}, memory.NewFixed(100))
		plan, accesses, ends := c.Plan, map[*stream.Launch]int{}, map[*stream.Launch]int{}
		c.Plan = func(l *stream.Launch) core.Plan {
			p, seen := plan(l), map[*stream.Transaction]bool{}
			p.Access = func(w *stream.Warp, q *stream.Request, transaction int32) {
				if at := &w.Transactions[transaction]; transaction >= q.First && transaction < q.First+q.N && !seen[at] {
					seen[at] = true
					accesses[l]++
				}
			}
			p.End = func(error) { ends[l]++ }
			return p
		}
		m := core.New(c)
		order := []int{0, 1, 2, 3, 4, 5} // begin, CTA and end of each launch
		if late {
			order = []int{0, 3, 4, 5, 1, 2}
		}
		for _, i := range order {
			calls[i](m)
		}
		var got []int
		for _, n := range accesses {
			got = append(got, n)
		}
		want := []int{33, 33}
		if late {
			want = want[:1]
		}
		if !slices.Equal(got, want) || len(ends) != len(want) || m.Err() != nil {
			t.Errorf("late %t: accesses %v, %d ends, %v; want %v", late, got, len(ends), m.Err(), want)
		}
	}
}
