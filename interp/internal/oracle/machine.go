package oracle

// This file holds the machine: CTAs, warps, threads and frames, and who runs
// when.

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"gemu/ptx"
)

// A thread that neither exits nor waits runs threadSlice instructions, then the
// next thread of its CTA has its turn; after slicesPerTurn rounds the next CTA
// has. Threads thus may spin on one another, and CTAs too, while CTAs that
// finish in one turn run strictly one after another.
const (
	threadSlice   = 2000
	slicesPerTurn = 10
)

// patience is the number of turns after which threads that wait at a collective
// without .sync go on without those of their warp that still run elsewhere:
// they may be spinning on what the waiting ones are to do next.
const patience = 50

type machine struct {
	*Launch
	ctx       context.Context
	warpSize  int
	localSize uint64
	params    map[*ptx.Var]uint64 // device addresses of the kernel's parameters
	stats     Stats
}

func newMachine(ctx context.Context, l *Launch) (*machine, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	m := &machine{
		Launch:    l,
		ctx:       ctx,
		warpSize:  cmp.Or(l.WarpSize, 32),
		localSize: uint64(cmp.Or(l.LocalSize, 512<<10)),
		params:    map[*ptx.Var]uint64{},
	}
	at := l.ParamBase
	for _, p := range l.Kernel.Params {
		at = align(at, uint64(p.Alignment()))
		m.params[p] = at
		at += uint64(p.Size())
	}
	return m, nil
}

// align rounds up to a multiple of a.
func align(n, a uint64) uint64 { return (n + a - 1) / a * a }

// run gives the CTAs turns until all have finished. A CTA is made when its
// first turn comes.
func (m *machine) run() error {
	next, total := 0, m.Grid[0]*m.Grid[1]*m.Grid[2]
	var unfinished []*cta
	for next < total || len(unfinished) > 0 {
		var still []*cta
		for _, c := range unfinished {
			done, err := c.turn()
			if err != nil {
				return err
			}
			if !done {
				still = append(still, c)
			}
		}
		unfinished = still
		// Begin new CTAs until one does not finish in its turn.
		for next < total {
			c := m.newCTA(next)
			next++
			done, err := c.turn()
			if err != nil {
				return err
			}
			if !done {
				unfinished = append(unfinished, c)
				break
			}
		}
	}
	return nil
}

// cta is a cooperative thread array.
type cta struct {
	m        *machine
	id       [3]int
	linear   int
	shared   []byte
	warps    []*warp
	threads  []*thread
	barriers [16]barrier
}

// warp is the set of threads that collectives exchange values between, by lane.
// The last warp of a CTA may have fewer than the warp size.
type warp struct {
	cta     *cta
	id      int
	threads []*thread
	starved int // turns since threads began to wait at a collective without .sync
}

// coordinates splits a linear index, x fastest.
func coordinates(i int, dim [3]int) [3]int {
	return [3]int{i % dim[0], i / dim[0] % dim[1], i / dim[0] / dim[1]}
}

func (m *machine) newCTA(linear int) *cta {
	c := &cta{m: m, linear: linear, id: coordinates(linear, m.Grid), shared: make([]byte, m.SharedSize)}
	n := m.Block[0] * m.Block[1] * m.Block[2]
	for i := range n {
		if i%m.warpSize == 0 {
			c.warps = append(c.warps, &warp{cta: c, id: len(c.warps)})
		}
		w := c.warps[len(c.warps)-1]
		t := &thread{m: m, cta: c, warp: w, lane: len(w.threads), tid: coordinates(i, m.Block), sp: stackBottom}
		t.push(m.Kernel, nil)
		w.threads = append(w.threads, t)
		c.threads = append(c.threads, t)
	}
	return c
}

// fault carries a guest fault, or an instruction that is not run, out of an
// instruction function: it is the only thing this package panics with, but for
// bugs.
type fault struct{ err error }

// turn lets the threads of the CTA run for some rounds. It reports whether all
// have exited.
func (c *cta) turn() (done bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(fault)
			if !ok {
				panic(r)
			}
			err = f.err
		}
	}()
	for range slicesPerTurn {
		if err := c.m.ctx.Err(); err != nil {
			return false, err
		}
		ran, live := false, false
		for _, t := range c.threads {
			if t.state == ready {
				ran = true
				t.run(threadSlice)
			}
			live = live || t.state != exited
		}
		if !live {
			return true, nil
		}
		if !ran {
			c.deadlock()
		}
	}
	for _, w := range c.warps {
		w.endTurn()
	}
	return false, nil
}

// deadlock traps with who waits where.
func (c *cta) deadlock() {
	var first *thread
	var places []string
	count := map[string]int{}
	for _, t := range c.threads {
		if t.state == exited {
			continue
		}
		if first == nil {
			first = t
		}
		p := fmt.Sprintf("%s (%s)", t.in.Text, t.in.Pos)
		if count[p] == 0 {
			places = append(places, p)
		}
		count[p]++
	}
	for i, p := range places {
		places[i] = fmt.Sprintf("%d at %s", count[p], p)
	}
	first.trap(KindDeadlock, "no thread can run; waiting: %s", strings.Join(places, ", "))
}

// settle lets the waiting threads of a warp go on where their wait is over. It
// is called when one of its threads begins to wait or exits.
func (w *warp) settle() {
	for w.completeSync() || w.arrive() || w.allWait() && w.completeEarliest() {
	}
}

// allWait reports whether no thread of the warp can run.
func (w *warp) allWait() bool {
	for _, t := range w.threads {
		if t.state == ready {
			return false
		}
	}
	return true
}

// live are the threads that have not exited.
func (w *warp) live() []*thread {
	var live []*thread
	for _, t := range w.threads {
		if t.state != exited {
			live = append(live, t)
		}
	}
	return live
}

// state is what a thread does.
type state uint8

const (
	ready        state = iota
	atCollective       // waits for its warp
	atBarrier          // waits for its CTA
	exited
)

type thread struct {
	m      *machine
	cta    *cta
	warp   *warp
	lane   int
	tid    [3]int
	state  state
	in     *ptx.Instr // being executed, or waited at
	frames []*frame
	local  []byte // the stack, by offset
	sp     uint64 // its end
	carry  bool   // CC.CF (9.7.2)
	steps  int64

	arrival arrival // of a thread at a barrier
}

// frame is an activation of a function.
type frame struct {
	fn     *ptx.Func
	block  *ptx.Block
	index  int // of the next instruction in the block
	regs   []value
	vars   map[*ptx.Var]uint64 // .local and .param variables, parameters, results: offsets in local memory
	base   uint64              // stack pointer to return to
	caller *ptx.Instr          // the call; nil for a kernel
}

func (t *thread) top() *frame { return t.frames[len(t.frames)-1] }

// run executes up to n instructions.
func (t *thread) run(n int) {
	for ; n > 0 && t.state == ready; n-- {
		t.step()
	}
	if t.state != ready {
		t.warp.settle()
	}
}

// step executes one instruction.
func (t *thread) step() {
	f := t.top()
	for f.index == len(f.block.Instrs) { // falls through
		if f.block.Index+1 == len(f.fn.Blocks) {
			t.leave() // the end of a body is a return
			return
		}
		f.goTo(f.fn.Blocks[f.block.Index+1])
	}
	t.in = f.block.Instrs[f.index]
	f.index++
	t.steps++
	if t.m.MaxSteps > 0 && t.steps > t.m.MaxSteps {
		t.trap(KindSteps, "more than %d instructions", t.m.MaxSteps)
	}
	if g := t.in.Guard; g.Reg != ptx.NoReg && (f.regs[g.Reg].lo != 0) == g.Neg {
		return
	}
	t.m.stats.ThreadInstructions++
	execute := handlers[t.in.Form]
	if execute == nil {
		t.unsupported()
	}
	execute(t)
}

func (f *frame) goTo(b *ptx.Block) { f.block, f.index = b, 0 }

// compare orders waiting threads by their place in the program: outer frames
// first, then the order of the source.
func (t *thread) compare(u *thread) int {
	for i := range min(len(t.frames), len(u.frames)) {
		a, b := t.frames[i], u.frames[i]
		if c := cmp.Or(
			cmp.Compare(a.fn.Pos.Line, b.fn.Pos.Line), cmp.Compare(a.fn.Pos.Col, b.fn.Pos.Col), // an indirect call
			cmp.Compare(a.block.Index, b.block.Index), cmp.Compare(a.index, b.index)); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(t.frames), len(u.frames))
}

// trap ends the launch with a guest fault of the thread.
func (t *thread) trap(kind, format string, args ...any) {
	panic(fault{t.newTrap(kind, fmt.Sprintf(format, args...))})
}

// trapErr is trap with the error of an outside function.
func (t *thread) trapErr(kind string, err error) {
	trap := t.newTrap(kind, err.Error())
	trap.Err = err
	panic(fault{trap})
}

func (t *thread) newTrap(kind, msg string) *Trap {
	trap := &Trap{Kind: kind, Msg: msg, Instr: t.in, Func: t.m.Kernel, Cta: t.cta.id, Tid: t.tid}
	if len(t.frames) > 0 {
		trap.Func = t.top().fn
	}
	return trap
}

// unsupported ends the launch because the current instruction is not run.
func (t *thread) unsupported() { panic(fault{&Unsupported{t.in}}) }
