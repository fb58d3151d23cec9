package oracle

// This file holds the machine: CTAs, warps, threads and frames, and who runs
// when.

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

// A warp runs threadSlice instructions for each of its threads that can run, unless none
// can any more; then the next warp of its CTA has its turn, and after roundsPerCluster rounds
// the next CTA. Threads thus may spin on one another, and CTAs too, while CTAs that
// finish in one turn run strictly one after another.
const (
	threadSlice      = 2000
	roundsPerCluster = 10
)

// starvationLimit is the number of turns after which threads that wait at a collective
// without .sync go on without those of their warp that still run elsewhere:
// they may be spinning on what the waiting ones are to do next.
const starvationLimit = 50

// machine is a launch under way.
type machine struct {
	*Launch
	mod         *Module
	dev         *Device
	ctx         context.Context
	kernel      *ptx.Func
	warpSize    int
	stackLimit  uint64              // bytes of local memory that a thread may have
	params      map[*ptx.Var]uint64 // addresses of the kernel's parameters
	shared      sharedVarLayout
	sharedSize  int            // bytes of shared memory of a CTA
	clusterDim  [3]int         // CTAs of a cluster
	nextCluster int            // the cluster that begins next
	printed     map[int]string // by CTA
	stats       Stats

	ctaMemory uint64 // the address of the per-CTA memory of the first CTA; 0: the kernel asks for none
	sliceSize uint64 // bytes of it that each CTA has
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

// varSize is the size of a variable; of a parameter that is an array without a bound, that
// of the largest argument in the module.
func (m *machine) varSize(v *ptx.Var) int {
	if v.Space == ptx.Param && v.Unbounded() {
		return m.mod.maxArgSize
	}
	return v.Size()
}

// flushPrinted writes what has been printed, CTA by CTA.
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

// clusterCount is how many clusters the grid has.
func (m *machine) clusterCount() int { return m.Grid[0] * m.Grid[1] * m.Grid[2] / m.clusterSize() }

// run gives the clusters turns until all have finished. A cluster is made when its first turn
// comes.
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
		// Begin new ones until one does not finish in its turn.
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
	rank     int // in it
	shared   []byte
	warps    []*Warp
	threads  []*thread
	barriers [16]barrier
	groups   map[groupKey]int // of asynchronous copies, committed
	done     bool

	warpgroups map[int]*warpgroup
	tmem       *tensorMemory // nil until it is used
}

// Warp is the set of threads that collectives exchange values between, by lane.
// The last warp of a CTA may have fewer than the warp size.
type Warp struct {
	cta           *cta
	id            int
	threads       []*thread
	order         Order
	starvedRounds int // turns since threads began to wait at a collective without .sync
}

// coordinates splits a linear index, x fastest.
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

// fault carries a guest fault, or an instruction that is not run, out of an
// instruction function: it is the only thing this package panics with, but for
// bugs.
type fault struct{ err error }

// runRound lets the threads of the CTA run for a round. It reports whether any could.
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

// trapDeadlock traps with who waits where.
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

// runRound gives the warp's threads their turn, in its order. It reports whether any could run.
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

// completeWaits lets the waiting threads of a warp go on where their wait is over. It
// is called when one of its threads begins to wait or exits.
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

// liveThreads are the threads that have not exited.
func (w *Warp) liveThreads() []*thread {
	var threads []*thread
	for _, t := range w.threads {
		if t.state != exited {
			threads = append(threads, t)
		}
	}
	return threads
}

// state is what a thread does.
type state uint8

const (
	ready        state = iota
	atCollective       // waits for its warp
	atBarrier          // waits for its CTA, or its cluster
	exited
)

type thread struct {
	machine   *machine
	cta       *cta
	warp      *Warp
	lane      int
	index     int // in the CTA
	tid       [3]int
	state     state
	instr     *ptx.Instr // being executed, or waited at
	frames    []*frame
	local     []byte // the stack, by offset
	sp        uint64 // its end
	carry     bool   // CC.CF (9.7.2)
	steps     int64
	sleepTime int64 // nanoseconds
	log       *Step // of the instruction, nil if nobody wants it

	arrival        arrival // of a thread at a barrier
	clusterArrival clusterArrival
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

func (t *thread) currentFrame() *frame { return t.frames[len(t.frames)-1] }

// runSlice executes up to n instructions. It returns how many.
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

// step executes one instruction.
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
	execute := handlers[t.instr.Form]
	if execute == nil {
		t.unsupported()
	}
	execute(t)
	if t.state == ready || t.state == exited {
		t.endStep()
	}
}

// endWait ends the wait of a thread, and with it its instruction.
func (t *thread) endWait() {
	t.state = ready
	t.endStep()
}

func (f *frame) jumpTo(b *ptx.Block) { f.block, f.index = b, 0 }

// compare orders threads by their place in the program: the order of the source, of
// the outer frames first; and behind a call what is called comes first.
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

// unsupported ends the launch because the current instruction is not run.
func (t *thread) unsupported() { panic(fault{&Unsupported{t.instr}}) }
