package oracle

// This file has the machine: CTAs, warps, threads and frames, and their schedule.

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"gemu/ptx"
)

// A warp runs threadSlice instructions for each thread that can run, unless all threads wait before. Then the next warp
// of its CTA runs, and after roundsPerCluster rounds the next cluster. So threads and CTAs may spin on each other, while
// clusters run strictly in sequence if they finish within their rounds.
const (
	threadSlice      = 2000
	roundsPerCluster = 10
)

// starvationLimit is the number of turns of a cluster (of roundsPerCluster rounds each) after which threads that wait at
// a collective without .sync go on without the threads of their warp that still run elsewhere: the running threads may be
// spinning on a store that the waiting threads will do next.
const starvationLimit = 50

// machine is the state of a launch.
type machine struct {
	*Launch
	mod         *Module
	dev         *Device
	ctx         context.Context
	kernel      *ptx.Func
	warpSize    int
	stackLimit  uint64              // maximum bytes of local memory of a thread
	params      map[*ptx.Var]uint64 // addresses of the kernel's parameters
	shared      sharedVarLayout
	sharedSize  int            // shared memory of a CTA in bytes
	clusterDim  [3]int         // CTAs of a cluster
	nextCluster int            // index of the cluster that begins next
	printed     map[int]string // printed text by CTA
	stats       Stats

	ctaMemory uint64 // address of the per-CTA memory of the first CTA; 0: the kernel has none
	sliceSize uint64 // bytes of per-CTA memory of each CTA
}

func newMachine(ctx context.Context, mod *Module, l *Launch) (*machine, error) {
	k, _ := mod.Lookup(l.Kernel).(*ptx.Func)
	l = l.withGridInCTAs(k)
	if err := l.check(k); err != nil {
		return nil, err
	}
	m := &machine{
		Launch:     l,
		mod:        mod,
		dev:        mod.dev,
		ctx:        ctx,
		kernel:     k,
		warpSize:   cmp.Or(l.WarpSize, 32),
		stackLimit: uint64(mod.dev.cfg.Stack),
		params:     map[*ptx.Var]uint64{},
		shared:     mod.sharedLayout(k),
		printed:    map[int]string{},
	}
	m.clusterDim = l.clusterDim(k)
	m.sharedSize = int(m.shared.static)
	if l.Shared > 0 {
		m.sharedSize = int(m.shared.dynamic) + l.Shared
	}
	if m.Order == nil {
		m.Order = Sequential
	}
	if l.Cooperative {
		m.dev.Map(workspace, []byte{8, 0, 0, 0, 0, 0, 0, 0}, false) // its size, and the barrier
	}
	if n := k.PerCTAMemory(); n > 0 {
		m.sliceSize = align(n, 1024) // manual 10.35
		var err error
		if m.ctaMemory, err = m.dev.Alloc(m.sliceSize * uint64(m.Grid[0]*m.Grid[1]*m.Grid[2])); err != nil {
			return nil, fmt.Errorf("oracle: per-CTA memory: %w", err)
		}
	}
	m.dev.launches++
	address := uint64(paramBlock)
	block := &m.dev.params.data
	*block = nil
	for i, p := range k.Params { // manual 5.1.6.1
		address = align(address, uint64(p.Alignment()))
		m.params[p] = address
		*block = append(*block, make([]byte, address-m.dev.params.end())...)
		*block = append(*block, l.Args[i]...)
		address += uint64(p.Size())
	}
	return m, nil
}

// varSize returns the size of a variable in bytes. A parameter that is an unbounded array has the size of the largest
// argument in the module.
func (m *machine) varSize(v *ptx.Var) int {
	if v.Space == ptx.Param && v.Unbounded() {
		return m.mod.maxArgSize
	}
	return v.Size()
}

// flushPrinted writes the printed text, CTA by CTA.
func (m *machine) flushPrinted() {
	if m.dev.cfg.Stdout == nil {
		return
	}
	for _, cta := range slices.Sorted(maps.Keys(m.printed)) {
		io.WriteString(m.dev.cfg.Stdout, m.printed[cta])
	}
}

// align rounds up to a multiple of a.
func align(n, a uint64) uint64 { return (n + a - 1) / a * a }

// clusterCount is the number of clusters in the grid.
func (m *machine) clusterCount() int { return m.Grid[0] * m.Grid[1] * m.Grid[2] / m.clusterSize() }

// run runs the clusters round by round until all have finished. A cluster is made when it first runs.
func (m *machine) run() error {
	total := m.clusterCount()
	var unfinished []*cluster
	for m.nextCluster < total || len(unfinished) > 0 {
		var remaining []*cluster
		for _, g := range unfinished {
			done, err := g.runRounds()
			if err != nil {
				return err
			}
			if !done {
				remaining = append(remaining, g)
			}
		}
		unfinished = remaining
		// Begin new clusters until a cluster does not finish within its rounds.
		for m.nextCluster < total {
			g := m.newCluster(m.nextCluster)
			m.nextCluster++
			done, err := g.runRounds()
			if err != nil {
				return err
			}
			if !done {
				unfinished = append(unfinished, g)
				break
			}
		}
	}
	return nil
}

// cta is a cooperative thread array.
type cta struct {
	machine  *machine
	id       [3]int
	index    int
	cluster  *cluster
	rank     int // rank in the cluster
	shared   []byte
	warps    []*Warp
	threads  []*thread
	barriers [16]barrier
	groups   map[groupKey]int // numbers of committed groups of asynchronous copies
	done     bool

	warpgroups map[int]*warpgroup
	tmem       *tensorMemory // nil until first use
}

// Warp is the set of threads between which collectives exchange values, by lane. The last warp of a CTA may have fewer
// threads than the warp size.
type Warp struct {
	cta          *cta
	id           int
	threads      []*thread
	order        Order
	starvedTurns int // turns since threads began to wait at a collective without .sync
}

// coordinates converts a linear index to coordinates, x fastest.
func coordinates(i int, dim [3]int) [3]int {
	return [3]int{i % dim[0], i / dim[0] % dim[1], i / dim[0] / dim[1]}
}

func (m *machine) newCTA(id [3]int) *cta {
	c := &cta{machine: m, index: (id[2]*m.Grid[1]+id[1])*m.Grid[0] + id[0], id: id, shared: make([]byte, m.sharedSize)}
	n := m.Block[0] * m.Block[1] * m.Block[2]
	for i := range n {
		if i%m.warpSize == 0 {
			c.warps = append(c.warps, &Warp{cta: c, id: len(c.warps), order: m.Order()})
		}
		w := c.warps[len(c.warps)-1]
		t := &thread{machine: m, cta: c, warp: w, lane: len(w.threads), index: i, tid: coordinates(i, m.Block), sp: stackBottom}
		t.pushFrame(m.kernel, nil)
		w.threads = append(w.threads, t)
		c.threads = append(c.threads, t)
	}
	return c
}

// fault carries a guest fault or an unsupported instruction out of an instruction function. Apart from bugs, it is the
// only value with which this package panics.
type fault struct{ err error }

// runRound runs the threads of the CTA for a round. It reports whether any thread could run.
func (c *cta) runRound() (progressed bool) {
	anyLive := false
	for _, w := range c.warps {
		progressed = w.runRound() || progressed
		anyLive = anyLive || len(w.liveThreads()) > 0
	}
	if !anyLive {
		c.checkWarpgroups()
		c.finishTasks()
		c.checkTensorMemory()
		c.done = true
	}
	return progressed
}

// trapDeadlock traps with the places where threads wait.
func (g *cluster) trapDeadlock() {
	var first *thread
	var places []string
	count := map[string]int{}
	for _, t := range g.threads() {
		if t.state == exited {
			continue
		}
		if first == nil {
			first = t
		}
		p := fmt.Sprintf("%s (%s)", t.instr.Text, t.instr.Pos)
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

// runRound runs the warp's threads for a round, in the warp's order. It reports whether any thread could run.
func (w *Warp) runRound() (progressed bool) {
	n := 0
	for _, t := range w.threads {
		if t.state == ready {
			n += threadSlice
		}
	}
	progressed = n > 0
	for n > 0 && !w.allWait() {
		lane, limit := w.order.Next(w)
		n -= w.threads[lane].runSlice(min(limit, n))
	}
	return progressed
}

// completeWaits releases the waiting threads of a warp whose wait is over. It is called when a thread of the warp
// begins to wait or exits.
func (w *Warp) completeWaits() {
	for w.completeSync() || w.arrive() || w.allWait() && w.completeEarliest() {
	}
}

// allWait reports whether no thread of the warp can run.
func (w *Warp) allWait() bool {
	for _, t := range w.threads {
		if t.state == ready {
			return false
		}
	}
	return true
}

// liveThreads returns the threads that have not exited.
func (w *Warp) liveThreads() []*thread {
	var threads []*thread
	for _, t := range w.threads {
		if t.state != exited {
			threads = append(threads, t)
		}
	}
	return threads
}

// state is the state of a thread.
type state uint8

const (
	ready        state = iota
	atCollective       // waits for its warp
	atBarrier          // waits for its CTA or its cluster
	exited
)

type thread struct {
	machine   *machine
	cta       *cta
	warp      *Warp
	lane      int
	index     int // linear index in the CTA
	tid       [3]int
	state     state
	instr     *ptx.Instr // instruction that it executes, or at which it waits
	frames    []*frame
	local     []byte // local memory, by offset: the stack
	sp        uint64 // end of the stack
	carry     bool   // CC.CF (9.7.2)
	steps     int64
	sleepTime int64 // nanoseconds
	log       *Step // record of the current instruction; nil without Launch.Log

	arrival        arrival // arrival of the thread at a barrier
	clusterArrival clusterArrival
}

// frame is an activation of a function.
type frame struct {
	fn     *ptx.Func
	block  *ptx.Block
	index  int // index of the next instruction in the block
	regs   []value
	vars   map[*ptx.Var]uint64 // offsets in local memory of .local and .param variables, parameters and results
	base   uint64              // stack pointer of the caller
	caller *ptx.Instr          // call instruction; nil for a kernel
}

func (t *thread) currentFrame() *frame { return t.frames[len(t.frames)-1] }

// runSlice executes up to n instructions and returns their number.
func (t *thread) runSlice(n int) int {
	executed := 0
	for ; executed < n && t.state == ready; executed++ {
		t.step()
	}
	if t.state != ready {
		t.warp.completeWaits()
	}
	return executed
}

// step executes an instruction.
func (t *thread) step() {
	f := t.currentFrame()
	for f.index == len(f.block.Instrs) { // falls through
		if f.block.Index+1 == len(f.fn.Blocks) {
			t.instr = nil
			t.beginStep()
			t.popFrame() // the end of a body is a return
			t.endStep()
			return
		}
		f.jumpTo(f.fn.Blocks[f.block.Index+1])
	}
	t.instr = f.block.Instrs[f.index]
	f.index++
	t.steps++
	if t.machine.MaxSteps > 0 && t.steps > t.machine.MaxSteps {
		t.trap(KindSteps, "more than %d instructions", t.machine.MaxSteps)
	}
	t.beginStep()
	if g := t.instr.Guard; g.Reg != ptx.NoReg && (f.regs[g.Reg].lo != 0) == g.Neg {
		if t.instr.EndsBlock() {
			t.machine.stats.ThreadInstructions++
		}
		t.skipStep()
		return
	}
	t.machine.stats.ThreadInstructions++
	if len(t.cta.warpgroups) > 0 {
		t.checkPendingRegs()
	}
	execute := handlers()[t.instr.Form]
	if execute == nil {
		t.unsupported()
	}
	execute(t)
	if t.state == ready || t.state == exited {
		t.endStep()
	}
}

// endWait ends the wait of a thread, and its instruction.
func (t *thread) endWait() {
	t.state = ready
	t.endStep()
}

func (f *frame) jumpTo(b *ptx.Block) { f.block, f.index = b, 0 }

// compare orders threads by their places in the program: by the order of the source, outer frames first. At the same
// call, a thread in the called function comes before a thread that has returned.
func (t *thread) compare(u *thread) int {
	for i := range min(len(t.frames), len(u.frames)) {
		a, b := t.frames[i], u.frames[i]
		if c := cmp.Or(
			cmp.Compare(a.fn.Pos.Line, b.fn.Pos.Line), cmp.Compare(a.fn.Pos.Col, b.fn.Pos.Col), // an indirect call
			cmp.Compare(a.block.Index, b.block.Index), cmp.Compare(a.index, b.index)); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(u.frames), len(t.frames))
}

// trap ends the launch with a guest fault of the thread.
func (t *thread) trap(kind, format string, args ...any) {
	trap := &Trap{Kind: kind, Msg: fmt.Sprintf(format, args...), Instr: t.instr, Func: t.machine.kernel, Cta: t.cta.id, Tid: t.tid}
	if len(t.frames) > 0 {
		trap.Func = t.currentFrame().fn
	}
	panic(fault{trap})
}

// unsupported ends the launch because the oracle does not run the current instruction.
func (t *thread) unsupported() { panic(fault{&Unsupported{t.instr}}) }
