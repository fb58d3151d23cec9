package simt

// This file is a CTA: its warps take turns, and meet at barriers.

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/regfile"
)

// quantum is the share of a warp: about so many instructions, then the next
// warp of its CTA has its turn, so that a warp may wait for another by looking
// at memory.
const quantum = 2048

// cta is a CTA on its way through the kernel, or a context ready for one.
type cta struct {
	grid  *Grid
	code  *Kernel
	shape shape
	index int // linear
	id    Dim3
	rank  int // in its cluster
	warps []warp

	shared    []byte
	sharedMem *mem.Allocation // shared memory at its generic window
	hits      []*mem.Allocation
	barriers  [16]barrier
	met       bool // a warp has arrived at one
	async     async
	cluster   *cluster
	alone     cluster // of this CTA only

	frame  frame          // of the kernel, in all warps
	open   map[int32]bool // blocks where lanes that have parted do not wait for each other any more
	parted bool           // lanes have gone on without others that they were to meet: patterns of accesses do not hold any more

	native  machine  // what machine code is told
	ahead   []flight // CTAs that it may go on with where all warps have ended
	passed  int      // … that have ended so
	counted Counts   // of them
	runner  runner   // of its warps
	stream  *stream  // nil if nobody watches
	room    *stream  // for one

	out bytes.Buffer // what the CTA has printed

	tolerated tolerated
	changed   bool   // memory has changed since the last time somebody looked
	noted     bool   // … or before
	timed     bool   // somebody has looked at the clock
	slept     int64  // nanoseconds that warps have spent in nanosleep
	turn      bool   // the CTA may execute visible instructions
	next      int    // warp whose turn is next
	random    uint64 // of a launch with a seed: what the shares of warps come from
	slice            // under way
	err       error
	done      bool
}

// newCTA makes a context for CTAs of the grid.
func newCTA(g *Grid) *cta {
	c := &cta{open: map[int32]bool{}, grid: g, code: g.code, shape: g.shape(), hits: make([]*mem.Allocation, g.code.Hits)}
	c.sharedMem = g.dev.Memory.NewShared(g.sharedLen)
	c.shared = c.sharedMem.Data
	c.alone.ctas = []*cta{c}
	c.cluster = &c.alone
	c.frame = frame{fn: g.code.entry, local: g.code.entry.Align}
	width := g.code.Width
	c.warps = make([]warp, (g.threads+width-1)/width)
	for i := range c.warps {
		w := &c.warps[i]
		w.cta, w.id, w.rc, w.heeds, w.stays = c, i, g.reconverge.new(), g.reconverge.heeds, g.reconverge.waits
		if s, ok := w.rc.(stacked); ok && !w.heeds && !w.stays {
			w.ways = s.stacks()
		}
		w.files = make([]regfile.File, (width+31)/32)
		for h := range w.files {
			w.files[h] = *regfile.New(&g.code.Consts, g.mode != Vector)
		}
		w.unit = affinetrack.NewUnit(affinetrack.Policies[0], g.rules)
		if g.mode != Check {
			continue
		}
		w.check = &check{reference: g.ref, native: g.native(), files: make([]regfile.File, len(w.files)), own: w.files}
		for h := range w.files {
			if w.check.files[h] = *regfile.New(&g.ref.Consts, false); g.code.adjoins() {
				w.check.files[h] = *w.files[h].Beside(&g.ref.Consts, g.code.entry.Frame, g.ref.entry.Frame)
			}
		}
	}
	if g.mode == Check {
		twin := &frame{fn: g.ref.entry, local: c.frame.local, twin: &c.frame}
		c.frame.twin = twin
	}
	return c
}

// native reports whether check mode is given a backend with functions of its own, which it compares with Go's.
func (g *Grid) native() bool {
	_, checks := g.backend.(checker)
	return g.backend != Portable && !checks
}

// start readies the context for a CTA of the grid, by its place in the order in which they
// begin.
func (c *cta) start(order int) {
	c.at(order)
	if c.grid.clustered() {
		c.sharedMem.Give(c.rank)
		clear(c.hits) // other clusters had the CTAs that they may be of
	}
	clear(c.shared)
	clear(c.sharedMem.Shadow)
	c.out.Reset()
	c.tolerated = c.tolerated[:0]
	c.begin()
	if c.random = c.grid.seed; c.random != 0 {
		c.random = c.grid.seed<<32 ^ uint64(order)
		c.next = int(c.draw() % uint64(len(c.warps)))
	}
	c.watch()
	c.runner = c.runnerOf()
	if len(c.grid.probes) > 0 || c.grid.mode == Check {
		c.demote() // what is told and counted does not depend on the CTAs that the context had before
	}
	c.tell(OnCTA)
	for i := range c.warps {
		w := &c.warps[i]
		w.fresh()
		w.tellLanes(OnWarp, nil, w.live)
	}
}

// at says which CTA it is, by its place in the order in which they begin.
func (c *cta) at(order int) {
	c.index = order
	c.id = c.grid.dim.at(order)
	if c.grid.clustered() {
		c.id = c.grid.place(order)
		c.index = c.grid.dim.index(c.id)
	}
}

// begin has the CTA be where it begins, but for its memory and registers.
func (c *cta) begin() {
	if !c.grid.clustered() {
		c.alone = cluster{ctas: c.alone.ctas, live: len(c.warps), missing: len(c.warps)}
	}
	if c.met {
		for i := range c.barriers {
			b := &c.barriers[i]
			*b = barrier{waiting: b.waiting[:0], spare: b.spare[:0]}
		}
		c.met = false
	}
	clear(c.open)
	c.async = async{}
	c.next, c.err, c.done, c.turn, c.slept, c.slice, c.parted = 0, nil, false, false, 0, slice{}, false
	c.frame.last = nil
	sliced := c.grid.takesTurns()
	for i := range c.warps {
		c.warps[i].begin(sliced)
	}
}

// demote has memory instructions not know what they have hit last, but before.
func (c *cta) demote() {
	for known := range slices.Chunk(c.hits, code.Known) {
		if known[0] != nil {
			copy(known[1:], known)
			known[0] = nil
		}
	}
}

// begin has the warp be where it begins.
func (w *warp) begin(sliced bool) {
	c := w.cta
	lanes := w.all()
	w.life = life{live: lanes, sliced: sliced}
	w.others, w.latest, w.shadow = w.others[:0], w.latest[:0], nil
	w.strand, w.stop = strand{pc: c.code.entry.Begin, mask: lanes, frame: &c.frame}, noBlock
	w.shown, w.left = &c.frame, turnLength
}

// all is the lanes that there are threads for.
func (w *warp) all() uint64 {
	c := w.cta
	return ^uint64(0) >> (64 - min(c.code.Width, c.grid.threads-w.tid(0)))
}

// fresh has registers and local memory be as they are when a warp begins.
func (w *warp) fresh() {
	c := w.cta
	fn, words := c.code.entry, c.code.localWords()
	for h := range w.files {
		f := &w.files[h]
		f.Reset(fn.Frame)
		zero(fn, f)
		if len(w.local[h]) < words {
			w.growLocal(words)
		} else if words > kernelFrame {
			clear(w.local[h][kernelFrame:words])
		}
		if w.check != nil {
			g := &w.check.files[h]
			g.Reset(w.check.entry.Frame)
			zero(w.check.entry, g)
		}
	}
	if w.files[0].Tracked() {
		w.listen()
	}
}

// localWords is how much local memory a thread begins with, in words.
func (c *Kernel) localWords() int { return c.entry.Align + c.entry.Local }

// rest readies the context, which no CTA has any more, to wait for another launch: it keeps nothing of this one
// alive.
func (c *cta) rest() {
	clear(c.hits)
	c.grid, c.async = nil, async{}
	c.native.forget() // the block's shape stays, and so do thread indices
}

// draw is the next of the numbers that a schedule with a seed comes from (splitmix64, Steele et
// al. 2014).
func (c *cta) draw() uint64 {
	c.random += 0x9e3779b97f4a7c15
	v := c.random
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// share is how many instructions a warp may execute in its turn: with a seed, any power of two
// up to the quantum.
func (c *cta) share() int {
	if c.grid.seed == 0 {
		return quantum
	}
	return quantum >> (c.draw() % uint64(bits.Len(quantum)))
}

// slice is the share of a CTA under way: its warps have their turns, pass after pass.
type slice struct {
	left   int   // instructions; of the turn under way they are not taken off
	began  int64 // instructions that the warp had executed when its turn began
	seen   int   // warps in this pass
	idle   bool  // none of them could run
	paused bool  // in the turn of warp next
}

// status is why a CTA stopped running.
type status uint8

const (
	hasFinished status = iota
	wantsTurn          // every warp that can run stands before a visible instruction
	outOfBudget
	failed
	hasPaused     // for a probe
	awaitsCluster // every warp waits, and some for the barrier of the cluster
)

// run executes the warps in turn until the CTA ends, cannot go on without
// executing a visible instruction out of turn, or has executed about budget
// instructions; in a cluster, and not in its turn, until its warps have had theirs. If it has
// paused it goes on with the share that it had.
func (c *cta) run(budget int, turn bool) status {
	s := c.takeTurns(budget, turn)
	c.recalls()
	return s
}

// takeTurns is run, behind which machine code may have warps that wait.
func (c *cta) takeTurns(budget int, turn bool) status {
	if !c.paused {
		c.slice = slice{left: budget, seen: len(c.warps)}
		c.turn = turn
		if turn {
			for i := range c.warps {
				if w := &c.warps[i]; w.state == atVisible {
					w.state = ready
				}
			}
		}
	}
	for c.left > 0 || c.paused {
		if c.grid.cancelled.Load() {
			return outOfBudget
		}
		if !c.paused {
			c.seen, c.idle = 0, true
		}
		for c.seen < len(c.warps) && (c.left > 0 || c.paused) {
			if w := &c.warps[c.next]; w.state == ready {
				if c.idle = false; !c.takeTurn(w) {
					if c.paused {
						return hasPaused
					}
					return failed
				}
			}
			c.seen++
			if c.next++; c.next == len(c.warps) {
				c.next = 0
			}
		}
		if ended := c.cluster == &c.alone && c.alone.live == 0 && c.left > 0; !c.idle && !ended {
			if c.grid.clustered() && !turn && c.lives() {
				return outOfBudget
			}
			continue
		}
		c.recalls()
		waiting, cluster, group := false, false, (*warp)(nil)
		for i := range c.warps {
			switch w := &c.warps[i]; w.state {
			case atVisible:
				return wantsTurn
			case atBarrier:
				waiting, cluster = true, cluster || w.atClusterBarrier()
			case atGroup:
				group = w
			}
		}
		if cluster && c.grid.clustered() {
			return awaitsCluster
		}
		if cluster {
			c.err = c.clusterDeadlock()
			return failed
		}
		if group != nil {
			c.err = c.standstill(group)
			return failed
		}
		if waiting {
			c.err = c.deadlock()
			return failed
		}
		if c.err = c.finishAsync(); c.err != nil {
			return failed
		}
		c.done = true
		c.tell(OnCTAEnd)
		if c.grid.clustered() {
			c.sharedMem.Leave()
		}
		if c.stream != nil && c.stream.stop != nil {
			c.err = c.stream.stop
			return failed
		}
		return hasFinished
	}
	return outOfBudget
}

// lives reports whether a warp has not ended.
func (c *cta) lives() bool {
	for i := range c.warps {
		if c.warps[i].state != ended {
			return true
		}
	}
	return false
}

// takeTurn has a warp run for its share, and others that a backend has take their turns behind it. It reports whether the
// CTA can go on.
func (c *cta) takeTurn(w *warp) bool {
	c.began = w.count.WarpInstructions
	if !c.paused {
		w.share = int(min(int64(min(c.share(), c.left)), max(c.grid.maxSteps-c.began+1, 1)))
	}
	w = w.run()
	c.next = w.id
	c.left -= int(w.count.WarpInstructions - c.began)
	if c.paused = w.paused; c.paused {
		return false
	}
	if c.err = w.err; c.err != nil {
		return false
	}
	if w.state == ended {
		c.recalls()
		if c.met {
			c.release()
		}
		c.cluster.leave(w)
	}
	return true
}

// note forgets that memory has changed, but for those who look at the whole CTA.
func (c *cta) note() {
	c.noted = c.noted || c.changed
	c.changed = false
}

// newTrap makes a trap at an instruction.
func (c *cta) newTrap(in *code.Source, kind error, format string, args ...any) *Trap {
	m := c.code.mod
	t := &Trap{Kind: kind, Msg: fmt.Sprintf(format, args...), Kernel: c.code.kernel.Name, File: m.Name, Grid: c.grid.dim, CTA: c.id, Warp: -1, Width: c.code.Width}
	if in != nil {
		t.at = in
		t.Pos = in.Pos
		t.Line = m.Line(int(in.Pos.Line))
		t.Instr = in.Text
		t.Func = in.Func.Name
		t.Source = in.Func.Func.Origin(in.Instr)
	} else {
		t.Pos = c.code.kernel.Pos
		t.Line = m.Line(int(t.Pos.Line))
	}
	return t
}

// thread is the tid of the thread with a linear index.
func (c *cta) thread(i int) Dim3 { return c.grid.block.at(i) }

// whereabouts says where lanes of the warp are that do not execute the present
// instruction.
func (w *warp) whereabouts(lanes uint64) []string {
	var notes []string
	if m := lanes & w.mask; m != 0 {
		notes = append(notes, fmt.Sprintf("lanes %s are here, but held back by the instruction's guard", LaneList(m)))
		lanes &^= m
	}
	before := func(lanes uint64, pc int32) {
		b := w.cta.code.Block(pc)
		place := "at the end of function " + w.cta.code.Funcs[b.Func].Name
		if in := w.cta.code.anchor(b); in != nil {
			place = fmt.Sprintf("before %s:%s", w.cta.code.mod.Name, in.Pos)
		}
		notes = append(notes, fmt.Sprintf("lanes %s wait %s", LaneList(lanes), place))
	}
	for i := len(w.others) - 1; i >= 0; i-- {
		c := &w.others[i]
		switch m := c.mask & lanes; {
		case m == 0:
		case c.wait != nil:
			notes = append(notes, fmt.Sprintf("lanes %s wait at %s:%s", LaneList(m), w.cta.code.mod.Name, c.wait.src.Pos))
		default:
			before(m, c.pc)
		}
		lanes &^= c.mask
		for j := c.join; j != nil; j = j.outer {
			if m := j.here & lanes; m != 0 {
				before(m, j.pc)
				lanes &^= m
			}
		}
	}
	for j := w.join; j != nil; j = j.outer {
		if m := j.here & lanes; m != 0 {
			before(m, j.pc)
			lanes &^= m
		}
	}
	return notes
}

// intRanges writes sorted numbers as ranges: "0-3, 7".
func intRanges(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if j > i {
			parts = append(parts, fmt.Sprintf("%d-%d", list[i], list[j]))
		} else {
			parts = append(parts, fmt.Sprint(list[i]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}
