package ptx

// This file computes which registers hold values still to be read.
//
// A function can have a million registers, so nothing here is a table of blocks by
// registers. Most registers live within a block, and take no part. The others are done
// 64 at a time, by the usual data flow over the blocks that they reach, and what comes
// of it is kept as spans of blocks.

import (
	"iter"
	"math/bits"
	"slices"
	"sort"
)

// Liveness says which registers hold values still to be read where blocks begin and end.
// A guarded instruction does not end the life of what it writes: lanes it skips keep
// their value.
type Liveness struct {
	f        *Func
	place    []int32    // by register: its place among those that live across blocks, or -1
	regs     []RegID    // those, by place
	spans    [][]span   // by place: where it is live on entry, in order
	extents  [][2]int32 // by place
	returned []bool     // by place: read when the function ends
}

// span is a range of blocks, the last not included.
type span struct{ from, to int32 }

// LiveIn reports whether register r is live into block b.
func (l *Liveness) LiveIn(b int, r RegID) bool {
	p := l.place[r]
	if p < 0 {
		return false
	}
	list := l.spans[p]
	i := sort.Search(len(list), func(i int) bool { return int(list[i].to) > b })
	return i < len(list) && int(list[i].from) <= b
}

// LiveOut reports whether register r is live out of block b.
func (l *Liveness) LiveOut(b int, r RegID) bool {
	p := l.place[r]
	if p < 0 {
		return false
	}
	block := l.f.Blocks[b]
	return l.returned[p] && l.f.mayLeave(block) || slices.ContainsFunc(block.Succs, func(s *Block) bool { return l.LiveIn(s.Index, r) })
}

// EachLiveIn goes through the registers that are live into block b, in order.
func (l *Liveness) EachLiveIn(b int) iter.Seq[RegID] {
	return func(yield func(RegID) bool) {
		for _, r := range l.regs {
			if l.LiveIn(b, r) && !yield(r) {
				return
			}
		}
	}
}

// LiveAfter goes through the instructions of a block from the last to the first, and gives for each
// whether registers are live behind it: asked while it is at that instruction.
func (l *Liveness) LiveAfter(b *Block) iter.Seq2[int, func(RegID) bool] {
	return func(yield func(int, func(RegID) bool) bool) {
		known := map[RegID]bool{} // those that the instructions gone through read or write
		live := func(r RegID) bool {
			if state, ok := known[r]; ok {
				return state
			}
			return l.LiveOut(b.Index, r)
		}
		for i, instr := range slices.Backward(b.Instrs) {
			if !yield(i, live) {
				return
			}
			if instr.Guard.Reg == NoReg {
				for r := range instr.Defs() {
					known[r] = false
				}
			}
			for r := range instr.Uses() {
				known[r] = true
			}
		}
	}
}

// Extent returns the first and the last place between blocks where the register is live:
// place b is where block b begins, b+1 where it ends. ok is false if it lives within a
// block.
func (l *Liveness) Extent(r RegID) (first, last int, ok bool) {
	p := l.place[r]
	if p < 0 || l.extents[p][1] < 0 {
		return 0, 0, false
	}
	return int(l.extents[p][0]), int(l.extents[p][1]), true
}

// Liveness computes live registers.
func (f *Func) Liveness() *Liveness {
	l := &Liveness{f: f}
	l.findCrossing()
	n := len(l.regs)
	l.spans, l.extents, l.returned = make([][]span, n), make([][2]int32, n), make([]bool, n)
	for r := range f.results() {
		l.returned[l.place[r]] = true
	}
	first, events := l.events()
	flow := newFlow(f)
	for from := 0; from < n; from += 64 {
		to := min(from+64, n)
		for p := from; p < to; p++ {
			flow.enter(events[first[p]:first[p+1]], 1<<(p-from))
			if l.returned[p] {
				flow.liveAtExit |= 1 << (p - from)
			}
		}
		flow.solve()
		flow.collect(l.spans[from:to], l.extents[from:to])
	}
	return l
}

// Returned reports whether the register is read when the function ends.
func (f *Func) Returned(r RegID) bool {
	for result := range f.results() {
		if result == r {
			return true
		}
	}
	return false
}

// results goes through the registers that are read when the function ends: return
// values.
func (f *Func) results() iter.Seq[RegID] {
	return func(yield func(RegID) bool) {
		for _, v := range f.Rets {
			for i := range max(v.Vec, 1) {
				if v.Reg != NoReg && !yield(v.Reg+RegID(i)) {
					return
				}
			}
		}
	}
}

// findCrossing finds the registers that may live across blocks: those that several
// blocks name, or that a block reads before it has surely written them.
func (l *Liveness) findCrossing() {
	const none, crossing = -1, -2
	home := make([]int32, len(l.f.Regs)) // the block that names it
	written := make([]int32, len(home))  // the last block that surely wrote it
	for r := range home {
		home[r], written[r] = none, none
	}
	for r := range l.f.results() {
		home[r] = crossing
	}
	for i, b := range l.f.Blocks {
		i := int32(i)
		for _, instr := range b.Instrs {
			for r := range instr.Uses() {
				if written[r] != i || home[r] != i {
					home[r] = crossing
				}
			}
			for r := range instr.Defs() {
				if home[r] == none {
					home[r] = i
				} else if home[r] != i {
					home[r] = crossing
				}
				if instr.Guard.Reg == NoReg {
					written[r] = i
				}
			}
		}
	}
	l.place = home
	for r, h := range home {
		l.place[r] = -1
		if h == crossing {
			l.place[r] = int32(len(l.regs))
			l.regs = append(l.regs, RegID(r))
		}
	}
}

// event is what a block does with a register.
type event struct {
	block int32
	reads bool // before it writes it
	kills bool // writes it in all lanes
}

// events lists what blocks do with the registers that live across them: those of the
// register at place p are from first[p] to first[p+1].
func (l *Liveness) events() (first []int32, list []event) {
	n := len(l.regs)
	first = make([]int32, n+1)
	last := make([]int32, n) // the block of the register's last event
	each := func(do func(p int32, b int32, e event)) {
		for p := range last {
			last[p] = -1
		}
		for i, b := range l.f.Blocks {
			for _, instr := range b.Instrs {
				for r := range instr.Uses() {
					if p := l.place[r]; p >= 0 {
						do(p, int32(i), event{block: int32(i), reads: true})
						last[p] = int32(i)
					}
				}
				for r := range instr.Defs() {
					if p := l.place[r]; p >= 0 {
						do(p, int32(i), event{block: int32(i), kills: instr.Guard.Reg == NoReg})
						last[p] = int32(i)
					}
				}
			}
		}
	}
	each(func(p, b int32, _ event) {
		if last[p] != b {
			first[p+1]++
		}
	})
	for p := range n {
		first[p+1] += first[p]
	}
	list = make([]event, first[n])
	next := slices.Clone(first[:n])
	each(func(p, b int32, e event) {
		if last[p] != b {
			list[next[p]] = e
			next[p]++
			return
		}
		old := &list[next[p]-1]
		old.reads = old.reads || e.reads && !old.kills
		old.kills = old.kills || e.kills
	})
	return first, list
}

// livenessFlow is the data flow of up to 64 registers, a bit each.
type livenessFlow struct {
	f          *Func
	blocks     []flowBlock
	liveAtExit uint64 // read when the function ends
	exitBlocks []int32
	touched    []int32 // blocks that are not zero
	work       []int32
}

type flowBlock struct {
	reads, kills, in, out uint64
	touched               bool
}

func newFlow(f *Func) *livenessFlow {
	w := &livenessFlow{f: f, blocks: make([]flowBlock, len(f.Blocks))}
	for i, b := range f.Blocks {
		if f.mayLeave(b) {
			w.exitBlocks = append(w.exitBlocks, int32(i))
		}
	}
	return w
}

func (w *livenessFlow) touch(b int32) *flowBlock {
	t := &w.blocks[b]
	if !t.touched {
		t.touched = true
		w.touched = append(w.touched, b)
	}
	return t
}

// enter notes what blocks do with a register.
func (w *livenessFlow) enter(events []event, bit uint64) {
	for _, e := range events {
		t := w.touch(e.block)
		if e.reads {
			t.reads |= bit
		}
		if e.kills {
			t.kills |= bit
		}
	}
}

// solve finds what is live, backwards from the reads.
func (w *livenessFlow) solve() {
	for _, b := range w.touched {
		if t := &w.blocks[b]; t.reads != 0 {
			t.in = t.reads
			w.work = append(w.work, b)
		}
	}
	for _, b := range w.exitBlocks {
		if w.liveAtExit != 0 {
			w.flowOut(b, w.liveAtExit)
		}
	}
	for len(w.work) > 0 {
		b := w.work[len(w.work)-1]
		w.work = w.work[:len(w.work)-1]
		for _, p := range w.f.Blocks[b].Preds {
			w.flowOut(int32(p.Index), w.blocks[b].in)
		}
	}
}

// flowOut notes registers that are live out of a block.
func (w *livenessFlow) flowOut(b int32, regs uint64) {
	t := &w.blocks[b]
	if regs&^t.out == 0 {
		return
	}
	w.touch(b)
	t.out |= regs
	if in := t.reads | t.out&^t.kills; in != t.in {
		t.in = in
		w.work = append(w.work, b)
	}
}

// collect stores the result by register, and clears the flow for the next ones. It
// looks at registers one by one only where something changes.
func (w *livenessFlow) collect(spans [][]span, extents [][2]int32) {
	eachBit := func(regs uint64, do func(i int)) {
		for ; regs != 0; regs &= regs - 1 {
			do(bits.TrailingZeros64(regs))
		}
	}
	for i := range extents {
		extents[i] = [2]int32{-1, -1}
	}
	w.order()
	var live, seen uint64
	end := int32(0) // of the blocks looked at so far
	stop := func(regs uint64, place int32) { eachBit(regs, func(i int) { spans[i][len(spans[i])-1].to = place }) }
	first := func(regs uint64, place int32) {
		eachBit(regs&^seen, func(i int) { extents[i][0] = place })
		seen |= regs
	}
	for _, b := range w.touched {
		t := &w.blocks[b]
		if b != end {
			stop(live, end)
			live = 0
		}
		stop(live&^t.in, b)
		eachBit(t.in&^live, func(i int) { spans[i] = append(spans[i], span{from: b}) })
		first(t.in, b)
		first(t.out, b+1)
		live, end = t.in, b+1
	}
	stop(live, end)
	seen = 0
	last := func(regs uint64, place int32) {
		eachBit(regs&^seen, func(i int) { extents[i][1] = place })
		seen |= regs
	}
	for _, b := range slices.Backward(w.touched) {
		t := &w.blocks[b]
		last(t.out, b+1)
		last(t.in, b)
		*t = flowBlock{}
	}
	w.touched, w.liveAtExit = w.touched[:0], 0
}

// order sorts the blocks that are not zero.
func (w *livenessFlow) order() {
	if len(w.touched) < len(w.blocks)/16 {
		slices.Sort(w.touched)
		return
	}
	w.touched = w.touched[:0]
	for b := range w.blocks {
		if w.blocks[b].touched {
			w.touched = append(w.touched, int32(b))
		}
	}
}

// Pressure is how many words of 4 bytes the registers take that are live at once in the function, at most: what a
// machine without registers to spare would save at a call. Predicates take none. A register that is live in several
// blocks counts from the first to the last of them, in the order of the source.
func (l *Liveness) Pressure() int {
	words := func(r RegID) int {
		if l.f.Regs[r].Type == Pred {
			return 0
		}
		return (l.f.Regs[r].Type.Bits() + 31) / 32
	}
	crossing := make([]int, len(l.f.Blocks)+2) // by place between blocks: first what begins less what has ended there
	for p, r := range l.regs {
		if e := l.extents[p]; e[1] >= 0 {
			crossing[e[0]] += words(r)
			crossing[e[1]+1] -= words(r)
		}
	}
	for i := range len(crossing) - 1 {
		crossing[i+1] += crossing[i]
	}
	maximum := 0
	live := make([]bool, len(l.f.Regs)) // of those that live within a block
	for i, b := range l.f.Blocks {
		ownSet, inside := 0, 0
		set := func(r RegID, to bool) {
			if l.place[r] >= 0 || live[r] == to {
				return
			}
			if live[r] = to; to {
				ownSet += words(r)
			} else {
				ownSet -= words(r)
			}
		}
		for _, instr := range slices.Backward(b.Instrs) {
			for r := range instr.Defs() {
				set(r, true)
			}
			inside = max(inside, ownSet)
			if instr.Guard.Reg == NoReg {
				for r := range instr.Defs() {
					set(r, false)
				}
			}
			for r := range instr.Uses() {
				set(r, true)
			}
			inside = max(inside, ownSet)
		}
		for _, instr := range b.Instrs { // whatever is left is read before it is written
			for r := range instr.Uses() {
				set(r, false)
			}
			for r := range instr.Defs() {
				set(r, false)
			}
		}
		maximum = max(maximum, inside+max(crossing[i], crossing[i+1]))
	}
	return maximum
}
