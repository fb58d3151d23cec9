package core_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/machine/cache"
	"gemu/machine/core"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/probe"
	"gemu/ptx"
)

// This file has the controller of assist warps of the naive machine, from docs/caba.md and docs/design/assist-warps.md alone: a list of assist
// warps in the order of their triggers, which each step looks through. It has no forms in the L1 and no combined stores.

// naiveAssists is the controller of a multiprocessor.
type naiveAssists struct {
	table    []*naiveAssist // in the order of triggers
	triggers int
	turn     int   // trigger from which on an assist warp is staged next
	port     int64 // cycle in which a port of the memory unit serves an assist warp
	buffered int   // stores in the buffer
	unsent   []*naiveStore
}

// naiveAssist is an assist warp.
type naiveAssist struct {
	*core.Execution
	*naiveRoutine
	number    int
	parent    *naiveWarp
	instr     int32
	deployed  bool
	miss      bool
	fills     uint64 // line that it decompresses for the L1; 0: none
	next      int    // in Path
	staged    int
	from, end int64
	results   map[ptx.RegID]int64 // cycle of the latest result, by register
	done      func(now int64)
}

// naiveRoutine is the program of a routine.
type naiveRoutine struct {
	high bool
	info *probe.LaunchInfo
}

// naiveRoutines has the programs of the routines of tests.
var naiveRoutines = map[*core.Routine]*naiveRoutine{}

// naiveStore is a store in the buffer, or one of a part of a line.
type naiveStore struct {
	memory.Request
	content *stream.Content
	load    *naiveLoad
}

// begin begins an assist warp, or ends it at once if there is no routine.
func (m *naive) begin(s *naiveSM, x *core.Execution, load *naiveLoad, now int64, done func(now int64)) *naiveAssist {
	if x == nil {
		done(now)
		return nil
	}
	w := &naiveAssist{Execution: x, naiveRoutine: naiveRoutines[x.Routine], number: s.triggers, parent: load.warp, instr: load.instr, from: now, results: map[ptx.RegID]int64{}, done: done}
	s.triggers++
	s.table = append(s.table, w)
	return w
}

// arrive notes the data of a transaction of a load.
func (l *naiveLoad) arrive(now int64) {
	l.missing--
	l.at = max(l.at, now)
}

// startFill takes a reply with a form, or to a store of a part of a line. It returns false for other replies.
func (m *naive) startFill(plan core.Plan, r memory.Reply, now int64) bool {
	s := m.sms[r.SM]
	fill := func(load *naiveLoad, done func(now int64)) *naiveAssist {
		x := plan.Forms.Fill(s.number, r.Line)
		if x != nil {
			m.counts.AssistFills++
		}
		return m.begin(s, x, load, now, done)
	}
	if p := m.parts[r.ID]; p != nil {
		delete(m.parts, r.ID)
		if !r.Returned {
			m.sent--
			p.load.arrive(now)
			return true
		}
		m.counts.MergedStores++
		fill(p.load, func(now int64) {
			m.sent--
			bursts, x := plan.Forms.Store(s.number, p.Line, p.content)
			p.Sectors, p.Whole, p.Bytes, p.Bursts, p.Acknowledged = 0xf, 0xf, 128, bursts, false
			s.buffered++
			m.begin(s, x, p.load, now, func(int64) { s.unsent = append(s.unsent, p) })
		})
		return true
	}
	if r.ID == -1 && slices.ContainsFunc(s.table, func(w *naiveAssist) bool { return w.fills == r.Line }) && r.Bursts > 0 {
		m.sent-- // the line is there
		return true
	}
	load := m.loads[r.ID]
	for _, miss := range s.misses {
		for _, w := range miss.waiters {
			if r.ID == -1 && miss.line == r.Line && load == nil {
				load = w.load // nil for a prefetch
			}
		}
	}
	if r.Bursts == 0 || load == nil {
		return false
	}
	if w := fill(load, func(now int64) { m.deliver(plan, &r, now) }); w != nil && r.ID == -1 {
		w.fills = r.Line
	}
	return true
}

// buffers takes a store of a whole line into the buffer, and returns true. It numbers stores of a part.
func (m *naive) buffers(plan core.Plan, s *naiveSM, load *naiveLoad, x *naiveTransaction, q *memory.Request, now int64) bool {
	if plan.Assist == nil || q.Kind != probe.AccessStore || x.t.Local {
		return false
	}
	if q.Whole != 0xf {
		q.ID, q.Acknowledged = -1000-m.part, true
		return false
	}
	if s.buffered < plan.Assist.StoreBuffer {
		if bursts, compress := plan.Forms.Store(s.number, q.Line, x.content); compress != nil {
			p := &naiveStore{*q, x.content, load}
			p.Bursts = bursts
			s.buffered++
			m.counts.AssistStores++
			load.missing++
			m.begin(s, compress, load, now, func(int64) { s.unsent = append(s.unsent, p) })
			return true
		}
	}
	return false
}

// sendPart notes a store that the memory has taken.
func (m *naive) sendPart(x *naiveTransaction, q *memory.Request, load *naiveLoad) {
	switch {
	case q.Acknowledged:
		m.parts[q.ID] = &naiveStore{*q, x.content, load}
		m.part++
		m.sent++
		load.missing++
	case q.Kind == probe.AccessStore && q.Whole == 0xf && !x.t.Local && load != nil:
		m.counts.RawStores++
	}
}

// sendStores sends the stores whose compression has ended.
func (m *naive) sendStores(s *naiveSM, now int64) {
	for len(s.unsent) > 0 && m.Memory.Send(now, &s.unsent[0].Request) {
		s.unsent[0].load.arrive(now)
		s.unsent = s.unsent[1:]
		s.buffered--
	}
}

// startMiss starts an assist warp for a load that misses a line.
func (m *naive) startMiss(plan core.Plan, s *naiveSM, a *naiveAccess, line uint64, now int64) {
	n := 0
	for _, w := range s.table {
		if w.miss && w.parent == a.warp {
			n++
		}
	}
	if n == 4 {
		m.counts.DroppedMisses++
		return
	}
	x, ahead := plan.Misses.Miss(&a.warp.state, a.instr, line)
	if x == nil {
		return
	}
	m.counts.AssistMisses++
	m.begin(s, x, a.load, now, func(now int64) {
		for _, line := range ahead {
			m.prefetch(plan, s, line, now)
		}
	}).miss = true
}

// endMisses ends the assist warps for misses of a warp that ends.
func (m *naive) endMisses(s *naiveSM, parent *naiveWarp) {
	s.table = slices.DeleteFunc(s.table, func(w *naiveAssist) bool {
		if w.miss && w.parent == parent {
			m.counts.EndedMisses++
			return true
		}
		return false
	})
}

// blocks reports whether a warp waits for an assist warp of high priority.
func (s *naiveSM) blocks(parent *naiveWarp) bool {
	return slices.ContainsFunc(s.table, func(w *naiveAssist) bool { return w.deployed && w.high && w.parent == parent })
}

// stepAssists ends assist warps, and stages instructions of the next one in turn.
func (m *naive) stepAssists(s *naiveSM, now int64) {
	for _, w := range slices.Clone(s.table) {
		if w.next == len(w.Path) && w.from <= now && w.end <= now {
			s.table = slices.DeleteFunc(s.table, func(o *naiveAssist) bool { return o == w })
			w.done(now)
		}
	}
	low := 0
	for _, w := range s.table {
		if !w.high {
			low += w.staged
		}
	}
	for round := range 2 {
		for _, w := range s.table {
			if (w.number >= s.turn) != (round == 0) || !w.deployed && slices.ContainsFunc(s.table, func(o *naiveAssist) bool { return o.deployed && o.high == w.high && o.parent == w.parent }) {
				continue
			}
			n := min(m.Schedulers, len(w.Path)-w.next) - w.staged
			if !w.high {
				n = min(n, 2-low)
			}
			if n > 0 {
				w.staged += n
				w.deployed, s.turn = true, w.number+1
				return
			}
		}
	}
}

// issueAssist issues an instruction of the assist warp of a priority with the oldest trigger that can.
func (m *naive) issueAssist(s *naiveSM, scheduler int, high bool, now int64) bool {
	for _, w := range s.table {
		if w.staged == 0 || w.high != high || w.parent.slot%m.Schedulers != scheduler || w.from > now {
			continue
		}
		in, _ := w.info.Program.At(int(w.Path[w.next]))
		ready := true
		for r := range in.Uses() {
			ready = ready && w.results[r] <= now
		}
		for r := range in.Defs() {
			ready = ready && w.results[r] <= now
		}
		class := core.ClassOf(in)
		var at int64
		from := now + 1
		switch {
		case !ready || class == core.Memory && s.port > now || class != core.Memory && *m.unitOf(s, scheduler, m.Units[class].Of) > now:
			continue
		case class == core.Memory:
			s.port = now + 1
			at = now + 1 + m.L1
		default:
			*m.unitOf(s, scheduler, m.Units[class].Of) = now + m.Units[class].Cycles
			if at = now + m.Units[class].Latency; class == core.Control {
				from = at
			}
		}
		for r := range in.Defs() {
			w.results[r] = at
		}
		w.next, w.staged, w.from, w.end = w.next+1, w.staged-1, from, max(w.end, at)
		m.instrs[w.instr].Assist++
		m.counts.AssistInstructions++
		return true
	}
	return false
}

// randomForms is the compressed lines and the routines for misses of a test. Routines depend on the line, so that two machines with accesses in
// another order have the same.
type randomForms struct {
	fills, stores, misses []*core.Execution // nil: none
}

// executionFor returns an execution for a line.
func executionFor(list []*core.Execution, line uint64) *core.Execution {
	return list[line*0x9e3779b97f4a7c15>>33%uint64(len(list))]
}

func (f *randomForms) Fill(_ int, line uint64) *core.Execution { return executionFor(f.fills, line) }
func (f *randomForms) Store(_ int, line uint64, _ *stream.Content) (int, *core.Execution) {
	return 1 + int(line%3), executionFor(f.stores, line)
}

// Miss reads the lines after a miss ahead, and more of them with each miss of the warp.
func (f *randomForms) Miss(state *stream.Line, instr int32, line uint64) (*core.Execution, []uint64) {
	state[0] = (state[0] + 1) % 3
	var ahead []uint64
	for i := range uint64(state[0]) {
		ahead = append(ahead, line+i+uint64(instr%2))
	}
	return executionFor(f.misses, line+uint64(state[0])), ahead
}

// checkedMemory checks the controllers of a machine before each cycle.
type checkedMemory struct {
	memory.Memory
	check func()
}

func (c *checkedMemory) Next() int64 {
	c.check()
	return c.Memory.Next()
}

// randomExecutions returns executions of random routines, each with random paths of at most a number of instructions.
func randomExecutions(t *testing.T, rng *rand.Rand, spec *core.Spec, most int) (list []*core.Execution) {
	for range 1 + rng.IntN(4) {
		if rng.IntN(4) == 0 {
			list = append(list, nil)
			continue
		}
		var body strings.Builder
		for range 1 + rng.IntN(6) {
			x := func() int { return rng.IntN(3) }
			switch rng.IntN(6) {
			case 0, 1:
				fmt.Fprintf(&body, "\tadd.u32 %%x%d, %%x%d, %%x%d;\n", x(), x(), x())
			case 2:
				fmt.Fprintf(&body, "\tmul.lo.u32 %%x%d, %%x%d, 3;\n", x(), x())
			case 3:
				fmt.Fprintf(&body, "\tsqrt.approx.f32 %%f%d, %%f%d;\n", x(), x())
			case 4:
				fmt.Fprintf(&body, "\tld.shared.u32 %%x%d, [tile];\n", x())
			case 5:
				fmt.Fprint(&body, "\tbar.warp.sync -1;\n")
			}
		}
		whole := execution(t, spec, body.String(), rng.IntN(2) == 0)
		for range 1 + rng.IntN(3) {
			x := &core.Execution{Routine: whole.Routine}
			for range 1 + rng.IntN(most) {
				x.Path = append(x.Path, int32(rng.IntN(len(whole.Path))))
			}
			list = append(list, x)
		}
	}
	return list
}

// TestAssistsAgainstNaive compares random programs on random machines with assist warps with the naive machine, and checks the limits of their controllers
// in each cycle.
func TestAssistsAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(part.Seed(t), 11))
	var all core.AssistCounts
	for i := range part.Count(20, 30, 1500) {
		text, block := randomProgram(rng)
		whole := func() (b string) {
			for range rng.IntN(4) {
				b += fmt.Sprintf("\tmul.wide.u32 %%p, %%t, 4;\n\tadd.u64 %%p, %%p, %%b;\n\t%s [%%p+%d], %%t;\n", []string{"st.global.u32", "st.global.u32", "st.global.u16"}[rng.IntN(3)], 128*rng.IntN(40))
				if rng.IntN(2) == 0 {
					b += fmt.Sprintf("\tld.global.u32 %%x3, [%%p+%d];\n", 64*rng.IntN(80))
				}
			}
			return b
		}
		const begin, end = "%s, tile;\n", "\tret;\n"
		text = strings.Replace(strings.Replace(text, begin, begin+whole(), 1), end, whole()+end, 1)
		spec := randomSpec(rng)
		sms, resident := 1+rng.IntN(3), 1+rng.IntN(4)
		shape := cache.Shape{Sets: 1 + rng.IntN(8), Ways: 1 + rng.IntN(3)}
		room, base, spread := rng.IntN(12), 1+rng.Int64N(200), uint64(rng.IntN(100))
		lines, evict := rng.IntN(3) == 0, rng.IntN(3) == 0
		compress, read := rng.IntN(5) > 0, rng.IntN(2) == 0
		f := &randomForms{randomExecutions(t, rng, &spec, 12), randomExecutions(t, rng, &spec, 12), randomExecutions(t, rng, &spec, 100)}
		assist := &core.Assist{StoreBuffer: rng.IntN(5)}
		makers := 0
		var checked *checkedMemory
		c, _ := agree(t, func() core.Config {
			var mem memory.Memory = &slow{room: room, base: base, spread: spread, forms: compress}
			if makers++; makers%2 == 1 {
				checked = &checkedMemory{Memory: mem}
				mem = checked
			}
			out := config(spec, sms, resident, shape, mem)
			out.L1Lines, out.StoresEvict = lines, evict
			plan := out.Plan
			out.Plan = func(l *stream.Launch) core.Plan {
				p := plan(l)
				if compress {
					p.Forms, p.Assist = f, assist
				}
				if read {
					p.Misses = f
				}
				return p
			}
			return out
		})
		made := c.make
		c.make = func() stream.Consumer {
			list := made()
			m := list.(stream.Consumers)[0].(*core.Machine)
			checked.check = func() {
				if err := core.CheckAssists(m); err != nil && !t.Failed() {
					t.Error(err)
				}
			}
			return list
		}
		done := c.done
		c.done = func(list stream.Consumer) {
			done(list)
			all.Add(&list.(stream.Consumers)[0].(*core.Machine).Launches()[0].AssistCounts)
		}
		recordData(t, text, ptx.Dim(1+rng.IntN(5)), block, c)
		if t.Failed() {
			t.Fatalf("program %d: %s\n%+v, %d SMs, %d CTAs, L1 %+v, memory %d %d %d, lines %v, evict %v, compress %v, read %v, %+v", i, text, spec, sms, resident, shape, room, base, spread, lines, evict, compress, read, *assist)
		}
	}
	if all.AssistFills == 0 || all.AssistStores == 0 || all.MergedStores == 0 || all.RawStores == 0 || all.AssistMisses == 0 {
		t.Errorf("no event of a kind: %+v", all) // TestMissSequences has the misses without a routine
	}
}
