package ptx

// This file computes live registers.
//
// A function can have a million registers, so a table of blocks by registers would be too large. Most registers are
// live within a single block, and take no part in the data flow. The remaining registers cross blocks. They are
// processed 64 at a time by the usual backward data flow, with a bit for each register, over the blocks where one of
// them is used or live. For each register the result is a list of ranges of blocks (spans).

import (
	"iter"
	"math/bits"
	"slices"
	"sort"
)

// Liveness contains the registers live at the start and end of blocks. A register that is live after a guarded
// instruction is live before it, even if the instruction writes it: skipped lanes keep their value.
type Liveness struct {
	f        *Func
	index    []int32    // for each register, its index in regs if it crosses blocks, else -1
	regs     []RegID    // the registers that cross blocks
	spans    [][]span   // for each of regs: the blocks on whose entry it is live, in order
	extents  [][2]int32 // for each of regs: the first and the last place where it is live (see Extent); -1 if nowhere
	returned []bool     // for each of regs: whether it is read when the function ends
}

// span is the range of blocks from index from to index to, which is not included.
type span struct{ from, to int32 }

// LiveIn reports whether register r is live on entry to block b.
func (l *Liveness) LiveIn(b int, r RegID) bool {
	p := l.index[r]
	if p < 0 {
		return false
	}
	list := l.spans[p]
	i := sort.Search(len(list), func(i int) bool { return int(list[i].to) > b })
	return i < len(list) && int(list[i].from) <= b
}

// LiveOut reports whether register r is live at the end of block b.
func (l *Liveness) LiveOut(b int, r RegID) bool {
	p := l.index[r]
	if p < 0 {
		return false
	}
	block := l.f.Blocks[b]
	return l.returned[p] && l.f.MayLeave(block) || slices.ContainsFunc(block.Succs, func(s *Block) bool { return l.LiveIn(s.Index, r) })
}

// EachLiveIn iterates over the registers live on entry to block b, in order.
func (l *Liveness) EachLiveIn(b int) iter.Seq[RegID] {
	return func(yield func(RegID) bool) {
		for _, r := range l.regs {
			if l.LiveIn(b, r) && !yield(r) {
				return
			}
		}
	}
}

// LiveAfter iterates over the instructions of a block from the last to the first. For each instruction it yields the
// index in the block, and a function that reports whether a register is live after the instruction. The function is
// valid only during this step of the iteration.
func (l *Liveness) LiveAfter(b *Block) iter.Seq2[int, func(RegID) bool] {
	return func(yield func(int, func(RegID) bool) bool) {
		known := map[RegID]bool{} // registers read or written by the instructions visited so far
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

// Extent returns the first and the last place between blocks where the register is live: place b is the start of the
// block with index b, and place b+1 its end. ok is false if the register is live only within a single block, or nowhere.
func (l *Liveness) Extent(r RegID) (first, last int, ok bool) {
	p := l.index[r]
	if p < 0 || l.extents[p][1] < 0 {
		return 0, 0, false
	}
	return int(l.extents[p][0]), int(l.extents[p][1]), true
}

// Liveness computes the live registers of the function.
func (f *Func) Liveness() *Liveness {
	l := &Liveness{f: f}
	l.findCrossing()
	n := len(l.regs)
	l.spans, l.extents, l.returned = make([][]span, n), make([][2]int32, n), make([]bool, n)
	for r := range f.results() {
		l.returned[l.index[r]] = true
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

// results iterates over the registers with the function's return values, which are read when the function ends.
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

// findCrossing finds the registers possibly live across blocks: registers named in several blocks, and registers
// possibly read by a block before they are written.
func (l *Liveness) findCrossing() {
	const none, crossing = -1, -2
	home := make([]int32, len(l.f.Regs)) // for each register, the only block so far that names it; none; or crossing
	written := make([]int32, len(home))  // for each register, the last block with an unguarded write of it, or none
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
	l.index = home
	for r, h := range home {
		l.index[r] = -1
		if h == crossing {
			l.index[r] = int32(len(l.regs))
			l.regs = append(l.regs, RegID(r))
		}
	}
}

// event says how a block uses a register.
type event struct {
	block int32
	reads bool // the block reads the register before writing it in all lanes
	kills bool // the block writes the register in all lanes
}

// events lists the events of the registers that cross blocks, in the order of the blocks. The events of register
// l.regs[p] are list[first[p]:first[p+1]].
func (l *Liveness) events() (first []int32, list []event) {
	n := len(l.regs)
	first = make([]int32, n+1)
	last := make([]int32, n) // block of the register's last event
	each := func(do func(p int32, b int32, e event)) {
		for p := range last {
			last[p] = -1
		}
		for i, b := range l.f.Blocks {
			for _, instr := range b.Instrs {
				for r := range instr.Uses() {
					if p := l.index[r]; p >= 0 {
						do(p, int32(i), event{block: int32(i), reads: true})
						last[p] = int32(i)
					}
				}
				for r := range instr.Defs() {
					if p := l.index[r]; p >= 0 {
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

// livenessFlow is the data flow of up to 64 registers, with a bit for each.
type livenessFlow struct {
	f          *Func
	blocks     []flowBlock
	liveAtExit uint64  // registers read when the function ends
	exitBlocks []int32 // blocks at whose end control may leave the function
	touched    []int32 // blocks with a nonzero state
	work       []int32 // blocks whose predecessors must be updated
}

// flowBlock is the state of a block: sets of registers, and whether the block is in livenessFlow.touched.
type flowBlock struct {
	reads, kills uint64 // see event
	in, out      uint64 // registers live at the start and at the end
	touched      bool
}

// newFlow returns a data flow of the function without registers.
func newFlow(f *Func) *livenessFlow {
	flow := &livenessFlow{f: f, blocks: make([]flowBlock, len(f.Blocks))}
	for i, b := range f.Blocks {
		if f.MayLeave(b) {
			flow.exitBlocks = append(flow.exitBlocks, int32(i))
		}
	}
	return flow
}

// touch returns the state of block b, and adds the block to touched.
func (flow *livenessFlow) touch(b int32) *flowBlock {
	t := &flow.blocks[b]
	if !t.touched {
		t.touched = true
		flow.touched = append(flow.touched, b)
	}
	return t
}

// enter adds the events of the register with the given bit.
func (flow *livenessFlow) enter(events []event, bit uint64) {
	for _, e := range events {
		t := flow.touch(e.block)
		if e.reads {
			t.reads |= bit
		}
		if e.kills {
			t.kills |= bit
		}
	}
}

// solve propagates liveness backwards from the reads.
func (flow *livenessFlow) solve() {
	for _, b := range flow.touched {
		if t := &flow.blocks[b]; t.reads != 0 {
			t.in = t.reads
			flow.work = append(flow.work, b)
		}
	}
	for _, b := range flow.exitBlocks {
		if flow.liveAtExit != 0 {
			flow.flowOut(b, flow.liveAtExit)
		}
	}
	for len(flow.work) > 0 {
		b := flow.work[len(flow.work)-1]
		flow.work = flow.work[:len(flow.work)-1]
		for _, p := range flow.f.Blocks[b].Preds {
			flow.flowOut(int32(p.Index), flow.blocks[b].in)
		}
	}
}

// flowOut marks registers as live at the end of a block, and updates the registers live at its start.
func (flow *livenessFlow) flowOut(b int32, regs uint64) {
	t := &flow.blocks[b]
	if regs&^t.out == 0 {
		return
	}
	flow.touch(b)
	t.out |= regs
	if in := t.reads | t.out&^t.kills; in != t.in {
		t.in = in
		flow.work = append(flow.work, b)
	}
}

// collect stores the spans and the extent of each register, and clears the flow for the next registers. It goes through
// all blocks in touched, and through the bits of a set only where they change.
func (flow *livenessFlow) collect(spans [][]span, extents [][2]int32) {
	eachBit := func(regs uint64, do func(i int)) {
		for ; regs != 0; regs &= regs - 1 {
			do(bits.TrailingZeros64(regs))
		}
	}
	for i := range extents {
		extents[i] = [2]int32{-1, -1}
	}
	flow.order()
	var live, seen uint64
	end := int32(0) // end of the blocks visited so far
	// stop ends the current spans of regs.
	stop := func(regs uint64, place int32) { eachBit(regs, func(i int) { spans[i][len(spans[i])-1].to = place }) }
	first := func(regs uint64, place int32) {
		eachBit(regs&^seen, func(i int) { extents[i][0] = place })
		seen |= regs
	}
	for _, b := range flow.touched {
		t := &flow.blocks[b]
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
	for _, b := range slices.Backward(flow.touched) {
		t := &flow.blocks[b]
		last(t.out, b+1)
		last(t.in, b)
		*t = flowBlock{}
	}
	flow.touched, flow.liveAtExit = flow.touched[:0], 0
}

// order sorts touched by block.
func (flow *livenessFlow) order() {
	if len(flow.touched) < len(flow.blocks)/16 {
		slices.Sort(flow.touched)
		return
	}
	flow.touched = flow.touched[:0]
	for b := range flow.blocks {
		if flow.blocks[b].touched {
			flow.touched = append(flow.touched, int32(b))
		}
	}
}

// Pressure returns the maximum size, in words of 4 bytes, of the registers that are live at the same time. A machine
// with no free registers has to save at most this much at a call. Predicates count 0. A register that crosses blocks
// counts in its whole Extent.
func (l *Liveness) Pressure() int {
	words := func(r RegID) int {
		if l.f.Regs[r].Type == Pred {
			return 0
		}
		return (l.f.Regs[r].Type.Bits() + 31) / 32
	}
	// crossing has the words of the registers that cross blocks, for each place between blocks. At first it has the
	// change at the place; then the changes are added up.
	crossing := make([]int, len(l.f.Blocks)+2)
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
	live := make([]bool, len(l.f.Regs)) // registers live within a single block
	for i, b := range l.f.Blocks {
		liveWords, mostWords := 0, 0
		set := func(r RegID, isLive bool) {
			if l.index[r] >= 0 || live[r] == isLive {
				return
			}
			if live[r] = isLive; isLive {
				liveWords += words(r)
			} else {
				liveWords -= words(r)
			}
		}
		for _, instr := range slices.Backward(b.Instrs) {
			for r := range instr.Defs() {
				set(r, true)
			}
			mostWords = max(mostWords, liveWords)
			if instr.Guard.Reg == NoReg {
				for r := range instr.Defs() {
					set(r, false)
				}
			}
			for r := range instr.Uses() {
				set(r, true)
			}
			mostWords = max(mostWords, liveWords)
		}
		for _, instr := range b.Instrs { // clear live for the next block
			for r := range instr.Uses() {
				set(r, false)
			}
			for r := range instr.Defs() {
				set(r, false)
			}
		}
		maximum = max(maximum, mostWords+max(crossing[i], crossing[i+1]))
	}
	return maximum
}
