package interp_test

// This file compares each thread's execution on the engine and on the oracle, in all programs, instruction by instruction.

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gemu/internal/corpus"
	"gemu/internal/oracle"
	"gemu/internal/part"
	"gemu/interp"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
)

// traceAccess is one instruction executed by a thread.
type traceAccess struct {
	in      *ptx.Instr
	skipped bool // its guard was false
	space   ptx.Space
	addr    uint64 // memory address; an offset in .shared and .local
	bytes   int
	stores  string // stored bytes, of a plain store
	writes  string // registers and their values
}

func (d traceAccess) String() string {
	s := fmt.Sprintf("%s %s", d.in.Pos, d.in.Text)
	if d.skipped {
		return s + ", skipped"
	}
	if d.bytes > 0 {
		s += fmt.Sprintf(", %d bytes at %s %#x", d.bytes, d.space, d.addr)
	}
	if d.stores != "" {
		s += fmt.Sprintf(", stores %x", d.stores)
	}
	return s + d.writes
}

// quiet returns the access without its stored bytes, which events have for plain stores only.
func (d traceAccess) quiet() traceAccess {
	d.stores = ""
	return d
}

// at records the accessed memory. All device memory counts as global.
func (d *traceAccess) at(space ptx.Space, addr uint64, bytes int) {
	switch {
	case space != ptx.Generic:
	case mem.InShared(addr, 16): // of any CTA of a cluster; device memory lies above
		space, addr = ptx.Shared, addr-probe.SharedWindow
	default:
		space, addr = mem.Window(addr)
	}
	if space != ptx.Shared && space != ptx.Local {
		space = ptx.Global
	}
	d.space, d.addr, d.bytes = space, addr, bytes
}

// result is a register written by an instruction.
type result struct {
	reg       ptx.RegID
	low, high uint64
}

// write records the registers written by an instruction.
func (d *traceAccess) write(list []result) {
	slices.SortFunc(list, func(a, b result) int { return cmp.Compare(a.reg, b.reg) })
	var s strings.Builder
	for _, r := range list {
		fmt.Fprintf(&s, ", register %d = %#x %#x", r.reg, r.high, r.low)
	}
	d.writes = s.String()
}

// writesLater reports whether an instruction writes its results when other instructions execute: calls, returns and barriers.
func writesLater(instr *ptx.Instr) bool {
	return instr.Call != nil || instr.Form.Class == ptx.ClassControl || instr.Form.Class == ptx.ClassBarrier
}

// trace has the executed instructions, by CTA and thread.
type trace map[[2]int][]traceAccess

// engineTrace is a probe that records the trace of a launch in warps of a width.
type engineTrace struct {
	trace
	width int
	cta   int // the running CTA, in a launch with one worker
}

func (t *engineTrace) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAfter, Values: true, Addresses: true, InOrder: true}
}

func (t *engineTrace) CTA(_ *probe.LaunchInfo, index int, _ ptx.Dim3) probe.Sink {
	return &engineTrace{t.trace, t.width, index}
}

func (t *engineTrace) OnEvent(e *probe.Event) {
	for lane := range t.width {
		if e.Active>>lane&1 == 0 {
			continue
		}
		d := traceAccess{in: e.Instr, skipped: e.Lanes>>lane&1 == 0}
		if !d.skipped {
			for _, a := range e.Accesses {
				if a.Lanes>>lane&1 != 0 { // ldmatrix uses only some lanes
					d.at(a.Space, a.Addr[lane], a.Length(lane))
					stored, ok := a.Stored(nil, lane)
					if ok {
						d.stores = string(stored)
					} else if d.in.Op.Name == "st" && !a.Bulk() && !slices.ContainsFunc(d.in.Ops[1].Elems(), func(o ptx.Operand) bool { return o.Kind == ptx.SinkOperand }) {
						d.stores = "?"
					}
				}
			}
			var list []result
			for _, v := range e.Writes {
				r := result{reg: v.Reg, low: v.Low[lane]}
				if v.High != nil {
					r.high = v.High[lane]
				}
				list = append(list, r)
			}
			if !writesLater(e.Instr) {
				d.write(list)
			}
		}
		key := [2]int{t.cta, e.Warp*t.width + lane}
		t.trace[key] = append(t.trace[key], d)
	}
}

// add records a step of the oracle.
func (t trace) add(s *oracle.Step) {
	if s.Instr == nil {
		return // the end of a body is not an instruction
	}
	d := traceAccess{in: s.Instr, skipped: s.Skipped}
	if !d.skipped {
		for _, a := range s.Accesses {
			d.at(a.Space, a.Addr, max(len(a.Loaded), len(a.Stored)))
			d.stores = string(a.Stored)
		}
	}
	if !d.skipped && !writesLater(s.Instr) {
		var list []result
		for _, w := range s.Writes {
			list = append(list, result{w.Reg, w.Low, w.High})
		}
		d.write(list)
	}
	key := [2]int{s.Cta, s.Thread}
	t[key] = append(t[key], d)
}

// difference returns the first difference between traces.
func difference(engine, oracle trace) error {
	threads := maps.Clone(engine)
	maps.Copy(threads, oracle)
	for key := range threads {
		got, want := engine[key], oracle[key]
		for i := range max(len(got), len(want)) {
			switch where := fmt.Sprintf("cta %d, thread %d, step %d", key[0], key[1], i); {
			case i >= len(got):
				return fmt.Errorf("%s: the oracle goes on with %v", where, want[i])
			case i >= len(want):
				return fmt.Errorf("%s: the engine goes on with %v", where, got[i])
			case got[i].stores == "" && got[i] == want[i].quiet(), got[i] == want[i]:
			default:
				return fmt.Errorf("%s:\nengine: %v\noracle: %v", where, got[i], want[i])
			}
		}
	}
	return nil
}

// beside is a program that runs on the engine and on the oracle, launch by launch.
type beside struct {
	order func() oracle.Order
	trace bool  // compare the threads' traces, too
	count int64 // thread instructions of the oracle
	errs  []error
	trap  error // of the oracle

	raced bool // ignore bytes to which threads have stored different values
	found int  // number of ignored bytes with differences
}

// launch prepares a launch.
func (b *beside) launch(t *testing.T, m *interp.Module, l *interp.Launch) {
	engine := &engineTrace{trace: trace{}, width: cmp.Or(l.WarpSize, 32)}
	steps, stores := trace{}, writers{}
	log := stores.add
	l.Mode = interp.Vector
	if b.trace {
		l.Probes, log = []probe.Probe{engine}, steps.add
	}
	l.Progress = func(func() (int64, int64)) func() {
		twin, err := interp.NewTwin(m)
		if err != nil {
			b.errs = append(b.errs, err)
			return func() {}
		}
		var n int64
		n, b.trap = twin.Run(t.Context(), l, b.order, log)
		b.count += n
		return func() {
			if b.trap != nil {
				return // the progress of other threads is undefined
			}
			twin.Each(func(a *mem.Allocation, engine, oracle []byte) {
				if bytes.Equal(engine, oracle) {
					return
				}
				for i := range engine {
					switch at := stores[a.Base+uint64(i)]; {
					case engine[i] == oracle[i]:
						continue
					case b.raced && at != nil && at.race && at.has(engine[i]) && at.has(oracle[i]):
						b.found++
						continue
					}
					b.errs = append(b.errs, fmt.Errorf("%s differs: byte %d is %#x on the engine, on the oracle %#x", a, i, engine[i], oracle[i]))
					return
				}
			})
			b.errs = append(b.errs, difference(engine.trace, steps))
		}
	}
}

// run runs the program.
func (b *beside) run(t *testing.T, p *corpus.Program) {
	o := p.RunModule(func(m *interp.Module, l *interp.Launch) { b.launch(t, m, l) })
	var unsupported *ptx.Unsupported
	var refused *interp.LaunchError
	switch {
	case errors.As(o.Err, &unsupported) || errors.As(o.Err, &refused):
		t.Skip(o.Err)
	case (o.Err == nil) != (b.trap == nil):
		t.Errorf("engine: %v\noracle: %v", o.Err, b.trap)
	case o.Err == nil && b.trace:
		for _, r := range o.Results {
			b.count -= r.ThreadInstructions
		}
		if b.count != 0 {
			t.Errorf("the oracle counts %d instructions of threads more than the engine", b.count)
		}
	}
}

// programs returns all programs, in warps of these widths.
func programs(t *testing.T, widths ...int) []*corpus.Program {
	t.Helper()
	list, err := corpus.Programs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list, func(p *corpus.Program) bool { return !slices.Contains(widths, p.Width) })
}

// inTurns lists the files (or file:kernel) of programs whose threads observe the order in which they run: the first
// thread at a word, the number of polls of a flag, the time. Their final memory does not depend on the order, except in
// races, where the value of the first or last thread stays.
var (
	inTurns = []string{"@bfs", "control/clusters_async.ptx", "control/clusters_cancel.ptx", "control/cp_async.ptx", "control/flag.ptx", "control/lock.ptx", "control/mbarrier.ptx", "control/tensor_async.ptx", "control/tensor_multicast.ptx", "corpus/triton_transpose_90.ptx", "insn/atom_contention.ptx", "insn/bulk_forms.ptx:multicast", "insn/clock.ptx", "insn/cp_async.ptx", "nvcc/grid.ptx"}
	looking = regexp.MustCompile(`^insn/tcgen05_(cp|mma)|^control/tensor_memory|^corpus/triton_.*_100|^corpus/cutlass_(wgmma|tma|umma)|^@gemm_(wgmma|tcgen05)$`) // these poll an mbarrier, and are many
	races   = []string{"cas_once", "exch_chain"}
	endless = []string{"short", "starved"} // these wait in vain, which the oracle detects only by the limit of steps
)

// observesOrder reports whether the program is in inTurns, by its file or by file and kernel.
func observesOrder(p *corpus.Program) bool {
	return slices.Contains(inTurns, p.File) || slices.Contains(inTurns, p.File+":"+p.Name)
}

// TestThreadsMatchOracle: in each program, every thread executes the same on the engine and on the oracle
// (instructions, addresses, results) and leaves the same memory.
func TestThreadsMatchOracle(t *testing.T) {
	part.SkipShort(t)
	seed := part.Seed(t)
	for i, p := range programs(t, 32, 8) {
		share := uint64(part.Count(96, 8, 1))
		if p.Width != 32 {
			share *= 3
			if strings.HasPrefix(p.File, "@") {
				share *= 3
			}
		}
		if observesOrder(p) || looking.MatchString(p.File) || (uint64(i)+seed)%share > 0 {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			b := &beside{order: oracle.Lockstep, trace: true}
			b.run(t, p)
			if err := errors.Join(b.errs...); err != nil {
				t.Error(err)
			}
		})
	}
}

// writers has the threads that have stored to memory shared by all threads, byte by byte.
type writers map[uint64]*written

type written struct {
	cta, thread int       // the last writer
	values      [4]uint64 // set of all stored values
	race        bool      // different values by different threads, without atomics
}

// has reports whether a value has been stored.
func (w *written) has(v byte) bool { return w.values[v/64]>>(v%64)&1 != 0 }

func (w writers) add(s *oracle.Step) {
	if s.Instr == nil || s.Instr.Op.Name != "st" {
		return
	}
	for _, a := range s.Accesses {
		if a.Space == ptx.Local || a.Space == ptx.Param || a.Space == ptx.Shared {
			continue
		}
		for i, v := range a.Stored {
			at := w[a.Addr+uint64(i)]
			if at == nil {
				at = &written{cta: s.Cta, thread: s.Thread}
				w[a.Addr+uint64(i)] = at
			}
			alone := [4]uint64{}
			alone[v/64] = 1 << (v % 64)
			at.race = at.race || (at.cta != s.Cta || at.thread != s.Thread) && at.values != alone
			at.cta, at.thread = s.Cta, s.Thread
			at.values[v/64] |= alone[v/64]
		}
	}
}

// TestMemoryDoesNotDependOnOrder: the final memory does not depend on the order in which threads run, except for bytes
// to which several threads store: each has one of the stored values.
func TestMemoryDoesNotDependOnOrder(t *testing.T) {
	part.SkipShort(t)
	seed, share := part.Seed(t), uint64(part.Count(768, 48, 1))
	for i, p := range programs(t, 32) {
		if p.Name == "rotate" && !part.TryAll() { // 200,000 instructions of waiting
			continue
		}
		if slices.Contains(races, p.Name) || slices.Contains(endless, p.Name) || !observesOrder(p) && (uint64(i)+seed)%share > 0 {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			for name, order := range map[string]func() oracle.Order{"alone": oracle.Sequential, fmt.Sprintf("random %#x", seed): oracle.Random(seed)} {
				t.Run(name, func(t *testing.T) {
					b := &beside{order: order, raced: true}
					b.run(t, p)
					if err := errors.Join(b.errs...); err != nil {
						t.Error(err)
					}
					if b.found > 0 {
						t.Logf("%d bytes have another of the values that threads store there", b.found)
					}
				})
			}
		})
	}
}
