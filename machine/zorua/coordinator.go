// Package zorua gives the resources of a multiprocessor to warps: thread slots, sets of shared memory and sets of registers,
// for a phase of their kernel (Vijaykumar, "Enhancing Programmability, Portability, and Performance with Rich Cross-Layer
// Abstractions", 2019, chapter 4), or registers for their life (warp-level management; Xiang, Yang and Zhou, HPCA 2014).
// docs/zorua.md has the definitions, and the interpretations of what the thesis leaves open.
//
// A [Plan] is a launch; [Plan.Coordinator] is the coordinator of a multiprocessor, a core.Residency.
package zorua

import (
	"fmt"
	"math/bits"
	"slices"

	"gemu/machine/core"
	"gemu/machine/stream"
	"gemu/phases"
)

// Numbers of the thesis, sections 4.4.3 and 4.4.5 and table 5.
const (
	LogicalWarps  = 64
	LogicalBlocks = 16
	SharedSet     = 1 << 10 // bytes of a set of shared memory
	tableSets     = 16      // register sets of a warp in the table: 64 registers of a thread

	FirstThreshold = 10 // percent of the physical resource
	ThresholdStep  = 4  // percent
	IdleChange     = 16 // cycles
	LeastParallel  = 5  // the least parallelism is 1/5 of the warps of a multiprocessor
)

// TableBits returns the sizes in bits of the mapping tables of registers, shared memory and thread slots for a register file and a shared memory of
// some sets: an entry has the physical place and a valid bit (figure 34).
func TableBits(registerSets, sharedSets, warps int) (registers, shared, slots int) {
	entry := func(n int) int { return bits.Len(uint(n-1)) + 1 }
	return LogicalWarps * tableSets * entry(registerSets), LogicalBlocks * sharedSets * entry(sharedSets), LogicalWarps * entry(warps)
}

// threshold is the oversubscription threshold (algorithm 3), in percent of the physical resource.
type threshold struct {
	percent      int
	idle, memory int64 // cycles of the latest epoch
	lastIdle     int64 // cycles up to it
	lastMemory   int64
}

// end ends an epoch; idle and memory are the cycles so far.
func (t *threshold) end(idle, memory int64) {
	newIdle, newMemory := idle-t.lastIdle, memory-t.lastMemory
	change := (newIdle - t.idle) - (newMemory - t.memory)
	t.idle, t.memory, t.lastIdle, t.lastMemory = newIdle, newMemory, idle, memory
	switch {
	case change > IdleChange:
		t.percent += ThresholdStep
	case change < -IdleChange:
		t.percent = max(0, t.percent-ThresholdStep)
	}
}

// pool is the sets of a resource of a multiprocessor.
type pool struct {
	physical, free int
	swapped        int // sets in memory
	most           int // sets of the table
}

// may reports whether n more sets may be given with some sets in memory.
func (p *pool) may(n, percent int) bool {
	return p.swapped+n-p.free <= min(p.physical*percent/100, p.most-p.physical)
}

// set is a set of a resource that a warp or a block holds.
type set struct {
	accesses int64 // since it was given
	swapped  bool  // it is in memory
}

// maxRegisterSets is the maximum number of register sets of a warp: those of 256 registers.
const maxRegisterSets = 64

// state is the state of a warp.
type state uint8

const (
	noWarp state = iota
	starts       // it has never had its resources
	runs         // it can be scheduled
	waits        // at a barrier
	lacks        // it lacks resources
)

// queues of the coordinator, in the order in which a warp goes through them.
const (
	slotQueue = iota
	sharedQueue
	registerQueue
	queues
)

// warp is a warp in a logical slot.
type warp struct {
	state     state
	place     int
	phase     int
	registers []set
	assist    int  // resident register sets for its assist warps
	hasSlot   bool // a physical slot, which it may have lent
	lent      bool
	stored    bool // its state is in memory
	loads     []uint64
	queue     int   // queues: it is in none
	since     int64 // number of the event with which it entered its queue
	first     int64 // number of the warp among all of the multiprocessor
}

// block is a block in a logical place.
type block struct {
	running int    // warps
	started bool   // a warp has had its resources
	slots   uint64 // of them
	shared  []set
	turn    int
}

// Coordinator is the coordinator of a multiprocessor.
type Coordinator struct {
	*Plan
	sm          int
	registers   pool
	shared      pool
	assist      int // register sets for assist warps, all resident
	slots       int // free physical slots
	warps       [LogicalWarps]warp
	blocks      []block
	threshold   threshold
	schedulable int
	counts      core.ResourceCounts
	last        int64 // cycle up to which counts has all
	events      int64
	ready       uint64
	loads       []uint64
	stores      []uint64
	err         error
}

// Begin begins a block.
func (c *Coordinator) Begin(_ *stream.CTA, place int, slots uint64, now int64) {
	c.count(now)
	c.blocks[place] = block{running: bits.OnesCount64(slots), slots: slots}
	for m := slots; m != 0; m &= m - 1 {
		c.events++
		c.warps[bits.TrailingZeros64(m)] = warp{state: starts, place: place, queue: queues, since: c.events, first: c.events}
	}
}

// count adds the cycles up to now.
func (c *Coordinator) count(now int64) {
	if slices.ContainsFunc(c.blocks, func(b block) bool { return b.running > 0 }) {
		c.counts.Cycles += now - c.last
		c.counts.Schedulable += int64(c.schedulable) * (now - c.last)
	}
	c.last = now
}

// Enter brings a warp to an instruction.
func (c *Coordinator) Enter(slot int, instr int32, now int64) bool {
	w := &c.warps[slot]
	phase := c.instrs[instr].begins
	isEvent := w.state != runs || phase >= 0 && phase != w.phase
	if !isEvent {
		return true
	}
	c.count(now)
	if phase >= 0 {
		w.phase = phase
		c.shrink(slot)
	}
	if w.state == runs {
		c.schedulable--
	}
	if w.lent {
		w.lent = false
	}
	if w.state != starts {
		w.state = lacks
	}
	c.events++
	w.since = c.events
	admitted := c.try(slot)
	c.serve()
	return admitted
}

// wants returns the register sets of a warp, and the sets of shared memory of its block, for the present phases.
func (c *Coordinator) wants(w *warp) (registers, shared int) {
	if !c.mode.byPhase() {
		return c.registerSets, 0
	}
	b := &c.blocks[w.place]
	for m := b.slots; m != 0; m &= m - 1 {
		if o := &c.warps[bits.TrailingZeros64(m)]; o.state > starts || o == w {
			shared = max(shared, c.phases[o.phase].shared)
		}
	}
	return c.phases[w.phase].registers, shared
}

// shrink takes the sets that a warp and its block do not need.
func (c *Coordinator) shrink(slot int) {
	w := &c.warps[slot]
	registers, shared := c.wants(w)
	c.registers.shrink(&w.registers, registers)
	c.shared.shrink(&c.blocks[w.place].shared, shared)
}

// shrink takes the sets from n on.
func (p *pool) shrink(list *[]set, n int) {
	for ; len(*list) > n; *list = (*list)[:len(*list)-1] {
		if (*list)[len(*list)-1].swapped {
			p.swapped--
		} else {
			p.free++
		}
	}
}

// try gives a warp all that it lacks, or puts it in the queue of the first resource that is missing.
func (c *Coordinator) try(slot int) bool {
	w := &c.warps[slot]
	b := &c.blocks[w.place]
	registers, shared := c.wants(w)
	moreRegisters, moreShared := max(0, registers-len(w.registers)), max(0, shared-len(b.shared))
	assist := 0
	if !b.started {
		assist = b.running * c.assistSets
	}
	w.queue = queues
	percent := -1 // no oversubscription
	if c.mode.byPhase() {
		if c.mode == Phases {
			percent = c.threshold.percent
		}
		if LeastParallel*c.schedulable < c.limits.Warps {
			percent = 1 << 20
		}
	}
	enough := func(p *pool, n int) bool { return n <= p.free || percent >= 0 && p.may(n, percent) }
	switch {
	case !w.hasSlot && c.slots == 0 && c.lender() < 0:
		w.queue = slotQueue
	case !enough(&c.shared, moreShared):
		w.queue = sharedQueue
	case c.assist+assist > c.registers.physical, !enough(&c.registers, moreRegisters+assist):
		w.queue = registerQueue
	}
	if w.queue < queues {
		return false
	}
	if !w.hasSlot {
		c.takeSlot(slot)
	}
	for ; moreShared > 0; moreShared-- {
		c.take(&c.shared, &b.shared, func(do func([]set, uint64)) {
			for i := range c.blocks {
				if o := &c.blocks[i]; o != b {
					do(o.shared, c.sharedLine(i))
				}
			}
		}, SharedSet/stream.LineBytes)
	}
	others := func(do func([]set, uint64)) {
		for i := range c.warps {
			if o := &c.warps[i]; o != w && o.state != noWarp {
				do(o.registers, c.registerLine(i))
			}
		}
	}
	if !b.started {
		b.started = true
		c.takeAssist(b, others)
	}
	for ; moreRegisters > 0; moreRegisters-- {
		c.take(&c.registers, &w.registers, others, phases.SetRegisters)
	}
	w.state = runs
	c.schedulable++
	c.check()
	return true
}

// lender returns the slot of the warp that has lent its physical slot for the longest time; -1: none.
func (c *Coordinator) lender() int {
	found := -1
	for i := range c.warps {
		if c.warps[i].lent && (found < 0 || c.warps[i].since < c.warps[found].since) {
			found = i
		}
	}
	return found
}

// takeSlot gives a warp a physical slot. Without a free one the state of a warp that has lent its slot moves to memory.
func (c *Coordinator) takeSlot(slot int) {
	w := &c.warps[slot]
	if c.slots > 0 {
		c.slots--
	} else {
		i := c.lender()
		o := &c.warps[i]
		o.lent, o.hasSlot, o.stored = false, false, true
		c.stores = append(c.stores, c.stateLine(i))
		c.counts.Stored++
	}
	w.hasSlot = true
	if w.stored {
		w.stored = false
		w.loads = append(w.loads, c.stateLine(slot))
	}
}

// takeAssist gives all warps of a block the register sets for their assist warps, which are never in memory.
func (c *Coordinator) takeAssist(b *block, others func(do func(list []set, line uint64))) {
	for m := b.slots; m != 0; m &= m - 1 {
		for range c.assistSets {
			if c.registers.free > 0 {
				c.registers.free--
			} else {
				c.evict(&c.registers, others, phases.SetRegisters) // try has compared the sets for assist warps with those that there are
			}
			c.warps[bits.TrailingZeros64(m)].assist++
			c.assist++
		}
	}
}

// take gives a holder a further set. If none is free, it moves a set of the other holders to memory. If they have none, the new set is in memory.
func (c *Coordinator) take(p *pool, to *[]set, others func(do func(list []set, line uint64)), lines int) {
	inMemory := false
	if p.free > 0 {
		p.free--
	} else {
		inMemory = !c.evict(p, others, lines)
	}
	*to = append(*to, set{swapped: inMemory})
}

// evict moves the resident set with the fewest accesses of some holders to memory. It returns false if they have none, so that a set of the caller is
// in memory instead. others calls do with the sets of each holder, and the line of the first of them.
func (c *Coordinator) evict(p *pool, others func(do func(list []set, line uint64)), lines int) bool {
	victim, first := (*set)(nil), uint64(0)
	others(func(list []set, line uint64) {
		for i := range list {
			if s := &list[i]; !s.swapped && (victim == nil || s.accesses < victim.accesses) {
				victim, first = s, line+uint64(i*lines)
			}
		}
	})
	p.swapped++
	c.counts.Spilled++
	if victim == nil {
		return false
	}
	victim.swapped = true
	for i := range lines {
		c.stores = append(c.stores, first+uint64(i))
	}
	return true
}

// serve gives resources to waiting warps, queue by queue: first registers, then shared memory, then slots. In a queue the warp comes first that has
// waited for the longest time.
func (c *Coordinator) serve() {
	if c.mode == Registers {
		c.serveInOrder()
		return
	}
	for queue := registerQueue; queue >= slotQueue; queue-- {
		var list []int
		for i := range c.warps {
			if w := &c.warps[i]; (w.state == starts || w.state == lacks) && w.queue == queue {
				list = append(list, i)
			}
		}
		slices.SortFunc(list, func(a, b int) int { return int(c.warps[a].since - c.warps[b].since) })
		for _, i := range list {
			if c.try(i) {
				c.ready |= 1 << i
			}
		}
	}
	if c.mode.byPhase() {
		c.reload()
	}
}

// serveInOrder gives registers to the warps in the order in which their blocks began, so that blocks with a part of their warps cannot wait for
// each other.
func (c *Coordinator) serveInOrder() {
	for {
		next := -1
		for i := range c.warps {
			if w := &c.warps[i]; w.state == starts && w.queue < queues && (next < 0 || w.first < c.warps[next].first) {
				next = i
			}
		}
		if next < 0 || !c.try(next) {
			return
		}
		c.ready |= 1 << next
	}
}

// reload loads the sets in memory with the most accesses while sets are free.
func (c *Coordinator) reload() {
	for _, r := range []struct {
		p      *pool
		lines  int
		number int
		of     func(i int) ([]set, uint64)
	}{
		{&c.shared, SharedSet / stream.LineBytes, len(c.blocks), func(i int) ([]set, uint64) { return c.blocks[i].shared, c.sharedLine(i) }},
		{&c.registers, phases.SetRegisters, len(c.warps), func(i int) ([]set, uint64) { return c.warps[i].registers, c.registerLine(i) }},
	} {
		for r.p.free > 0 && r.p.swapped > 0 {
			best, first := (*set)(nil), uint64(0)
			for i := range r.number {
				list, line := r.of(i)
				for k := range list {
					if s := &list[k]; s.swapped && (best == nil || s.accesses > best.accesses) {
						best, first = s, line+uint64(k*r.lines)
					}
				}
			}
			best.swapped = false
			r.p.free--
			r.p.swapped--
			c.counts.Reloaded++
			for i := range r.lines {
				c.loads = append(c.loads, first+uint64(i))
			}
		}
	}
}

// Ready returns the slots that have got their resources.
func (c *Coordinator) Ready() (slots uint64) {
	slots, c.ready = c.ready, 0
	return slots
}

// Moves returns the lines of sets that have moved.
func (c *Coordinator) Moves() (loads, stores []uint64) {
	loads, stores = c.loads, c.stores
	c.loads, c.stores = nil, nil
	return loads, stores
}

// Access counts the accesses of an instruction to sets.
func (c *Coordinator) Access(slot int, instr int32) (loads, stores []uint64) {
	w := &c.warps[slot]
	loads, w.loads = w.loads, nil
	if !c.mode.byPhase() {
		return loads, nil
	}
	o := &c.instrs[instr]
	use := func(mask uint64, to *[]uint64) {
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros64(mask)
			if i >= len(w.registers) {
				continue
			}
			s := &w.registers[i]
			s.accesses++
			c.counts.Registers.Accesses++
			if !s.swapped {
				c.counts.Registers.Hits++
			} else {
				*to = append(*to, c.registerLine(slot)+uint64(i*phases.SetRegisters))
			}
		}
	}
	use(o.reads, &loads)
	use(o.writes, &stores)
	if b := &c.blocks[w.place]; o.shared != noShared && len(b.shared) > 0 {
		i := b.turn % len(b.shared)
		b.turn = i + 1
		s := &b.shared[i]
		s.accesses++
		c.counts.Shared.Accesses++
		line := c.sharedLine(w.place) + uint64(i*SharedSet/stream.LineBytes)
		switch {
		case !s.swapped:
			c.counts.Shared.Hits++
		case o.shared == sharedStore:
			stores = append(stores, line)
		default:
			loads = append(loads, line)
		}
	}
	return loads, stores
}

// Wait lends the slot of a warp at a barrier.
func (c *Coordinator) Wait(slot int, now int64) {
	c.count(now)
	w := &c.warps[slot]
	c.events++
	w.state, w.since = waits, c.events
	w.lent = c.mode.byPhase()
	c.schedulable--
	c.serve()
}

// End takes the resources of a warp, and with its last warp those of a block.
func (c *Coordinator) End(slot int, now int64) {
	c.count(now)
	w := &c.warps[slot]
	b := &c.blocks[w.place]
	c.registers.shrink(&w.registers, 0)
	c.registers.free += w.assist
	c.assist -= w.assist
	if w.hasSlot {
		c.slots++
	}
	if w.state == runs {
		c.schedulable--
	}
	*w = warp{}
	b.slots &^= 1 << slot
	if b.running--; b.running == 0 {
		c.shared.shrink(&b.shared, 0)
	}
	c.check()
	c.serve()
}

// Epoch ends an epoch.
func (c *Coordinator) Epoch(idle, memory int64) {
	c.threshold.end(idle, memory)
	most := 100 * (c.registers.most - c.registers.physical) / c.registers.physical
	c.threshold.percent = min(c.threshold.percent, most)
	c.counts.Threshold = max(c.counts.Threshold, c.threshold.percent)
}

// check notes an error if more sets are resident than there are.
func (c *Coordinator) check() {
	held := [2]int{}
	add := func(n *int, list []set) {
		for i := range list {
			if !list[i].swapped {
				*n++
			}
		}
	}
	for i := range c.warps {
		add(&held[0], c.warps[i].registers)
		held[0] += c.warps[i].assist
	}
	for i := range c.blocks {
		add(&held[1], c.blocks[i].shared)
	}
	for i, p := range []*pool{&c.registers, &c.shared} {
		if c.err == nil && (held[i] != p.physical-p.free || p.free < 0 || c.slots < 0) {
			c.err = fmt.Errorf("BUG: multiprocessor %d has %d sets of %s in use of %d, and %d free", c.sm, held[i], []string{"registers", "shared memory"}[i], p.physical, p.free)
		}
	}
}

// Close ends the launch.
func (c *Coordinator) Close(now int64) (core.ResourceCounts, error) {
	c.count(now)
	return c.counts, c.err
}

// firstLine is the number of the first line of resources in memory, after the local memory of all machines (stream.FirstLocalLine).
const firstLine = stream.FirstLocalLine << 1

// registerLine returns the first line of the register sets of a warp. A register of a warp has a line.
func (c *Coordinator) registerLine(slot int) uint64 {
	return firstLine + uint64((c.sm*LogicalWarps+slot)*maxRegisterSets*phases.SetRegisters)
}

// sharedLine returns the first line of the shared memory of a place.
func (c *Coordinator) sharedLine(place int) uint64 {
	most := (c.shared.physical + 63) / 64 * 64 // sets of a block
	return firstLine + 1<<32 + uint64((c.sm*LogicalWarps+place)*most*SharedSet/stream.LineBytes)
}

// stateLine returns the line of the state of a warp.
func (c *Coordinator) stateLine(slot int) uint64 {
	return firstLine + 1<<33 + uint64(c.sm*LogicalWarps+slot)
}
