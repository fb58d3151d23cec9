package simt

// This file is asynchronous operations (manual 9.7.9.25, 9.7.9.12, 9.7.13.7): their effects
// happen as late as may be, which is at the wait that orders them; the source is read then.
// Those that an mbarrier is told of happen when somebody has looked at it in vain and they
// complete its phase. What nobody has waited for happens when the CTA ends, or when more is to
// come than a CTA keeps. With Launch.EagerEffects all happen where they are issued.

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// effect is one that an instruction has for a lane, and that is still to come.
type effect struct {
	cta    *cta  // that has issued it
	seq    int64 // in the order of issue in its cluster
	src    *code.Source
	warp   int
	lane   int
	active uint64
	group  int // of its thread, as many as were committed before

	op           code.Async
	arrives      bool        // at the mbarrier, and that is all
	to, from     uint64      // addresses
	bytes        uint64      // that are copied or stored
	fill         uint64      // zeros behind them
	data         []byte      // of a store, or read already; nil: it is read from the source
	persistent   bool        // it has always been there: it is not memory's
	unwritten    uint16      // which bytes of each 16 it leaves as they are
	mbarrier     uint64      // address of the mbarrier in .shared space
	ignoredBytes uint64      // bytes beside those copied, of which the mbarrier is told all the same
	patternFound bool        // its source has the pattern that it looks for
	keptBytes    uint64      // bytes that it takes, while it is to come
	tensor       *tensorCopy // what it is of a tensor; nil: nothing
	pipeOp       *pipeOp     // what it is of tensor cores and their memory; nil: nothing
	commits      bool        // it arrives when what came before it in the pipeline has happened
	readsA       bool        // … or when matrices A in shared memory, of multiplications before it, have been read
	factorA      [][]uint32  // of a multiplication: matrix A of each CTA, if a commit has had it read
	done         bool
}

// asyncThread is what a thread has issued.
type asyncThread struct {
	pending    [2][]*effect // of cp.async, of bulk operations with groups; in the order of issue
	groups     [2]int       // committed
	groupsRead int          // groups of bulk operations, whose sources have been read
}

// asyncState is what the threads of a CTA have issued, beside what mbarriers are told of.
type asyncState struct {
	keptBytes uint64        // bytes that effects to come take
	lanes     []asyncThread // by thread; none before one has issued something

	warpgroups []warpgroup // those up to the last that has executed something of wgmma
	tensor     tensorState // tensor memory
}

// isUsed reports whether a thread of the CTA has issued something, or had tensor memory.
func (a *asyncState) isUsed() bool {
	return a.keptBytes != 0 || a.lanes != nil || a.warpgroups != nil || a.tensor.memory != nil || a.tensor.relinquished || a.tensor.warps != nil
}

// queueIndex is which of a thread's a kind of operation is in.
func queueIndex(op code.Async) int {
	if op.Bulk {
		return 1
	}
	return 0
}

// thread is what a thread has issued.
func (a *asyncState) thread(c *cta, i int) *asyncThread {
	if a.lanes == nil {
		a.lanes = make([]asyncThread, len(c.warps)*c.code.Width)
	}
	return &a.lanes[i]
}

// effect is one of an instruction for a lane.
func (w *warp) effect(h int, instr *code.Instr, lane int, op code.Async) *effect {
	return &effect{cta: w.cta, src: w.sourceOf(instr), warp: w.id, lane: 32*h + lane, active: w.mask, op: op}
}

// failAsync stops the warp for what a lane would do.
func (w *warp) failAsync(e *effect, format string, args ...any) {
	w.fail(e.src, 1<<e.lane, probe.ErrAsync, "%v: %s", probe.ErrAsync, fmt.Sprintf(format, args...))
}

// issueAll notes effects, or has them now, up to the first that traps.
func (w *warp) issueAll(list []*effect) {
	for _, e := range list {
		if w.err != nil || !w.resolveEffect(e) {
			return
		}
		w.issue(e)
	}
}

// issue notes an effect whose places have been found to be right, or has it now.
func (w *warp) issue(e *effect) {
	c := w.cta
	cl, l := c.cluster, c.asyncState.thread(c, w.tid(e.lane))
	c.changed = true
	q := queueIndex(e.op)
	e.seq, e.group = cl.seq, l.groups[q]
	cl.seq++
	e.emit(stageIssued)
	// The order of reductions on global memory can be seen by other CTAs: it is that of issue.
	if c.grid.eagerEffects || e.op.Reduces && e.op.To == ptx.Global {
		if err := e.execute(); err != nil {
			w.err = err
		}
		return
	}
	if e.isPipeOp() {
		if cl.pipes == nil {
			cl.pipes = make([][]*effect, (len(cl.ctas)+1)/2)
		}
		cl.pipes[c.rank/2] = append(cl.pipes[c.rank/2], e)
	}
	if e.arrives || e.op.NotifiesMbarrier {
		if cl.pending == nil {
			cl.pending = map[uint64][]*effect{}
		}
		cl.pending[e.mbarrier] = append(cl.pending[e.mbarrier], e)
	}
	if e.tensor != nil { // its group is told that the map has been read, also where an mbarrier is told of it
		l.pending[q] = slices.DeleteFunc(l.pending[q], func(e *effect) bool { return e.done && e.tensor != nil })
	}
	if !e.isPipeOp() && (e.arrives || !e.op.NotifiesMbarrier || e.tensor != nil) {
		l.pending[q] = append(l.pending[q], e)
	}
	e.charge(uint64(unsafe.Sizeof(*e)) + uint64(len(e.data)))
	w.err = c.limitEffects()
}

// charge notes that the effect takes n bytes more until it happens.
func (e *effect) charge(n uint64) {
	e.keptBytes += n
	e.cta.asyncState.keptBytes += n
}

// maxEffectBytes is how many bytes effects to come of a CTA may take.
func (g *Grid) maxEffectBytes() uint64 { return 1<<20 + uint64(g.threads)<<13 }

// limitEffects has the older half of the effects to come, if they take more memory than they may.
// They may happen at any time.
func (c *cta) limitEffects() error {
	maxAddr := c.grid.maxEffectBytes()
	if c.asyncState.keptBytes <= maxAddr {
		return nil
	}
	for _, e := range c.pendingEffects() {
		if c.asyncState.keptBytes <= maxAddr/2 {
			break
		}
		if err := e.execute(); err != nil {
			return err
		}
	}
	for i := range c.asyncState.lanes {
		for q, list := range c.asyncState.lanes[i].pending {
			c.asyncState.lanes[i].pending[q] = slices.DeleteFunc(list, func(e *effect) bool { return e.done })
		}
	}
	c.cluster.dropEffects(func(e *effect) bool { return e.done })
	return nil
}

// dropEffects drops effects that mbarriers are told of.
func (cl *cluster) dropEffects(match func(*effect) bool) {
	for addr := range cl.pending {
		cl.dropEffectsAt(addr, match)
	}
}

// dropEffectsAt drops effects that one mbarrier is told of.
func (cl *cluster) dropEffectsAt(addr uint64, match func(*effect) bool) {
	if cl.pending[addr] = slices.DeleteFunc(cl.pending[addr], match); len(cl.pending[addr]) == 0 {
		delete(cl.pending, addr)
	}
}

// region is n bytes at an address that is to be a multiple of align, and the memory that they
// are of.
func (c *cta) region(space ptx.Space, kind probe.AccessKind, addr, n, align uint64) (*mem.Allocation, []byte, *mem.Fault) {
	if n == 0 {
		return nil, nil, nil
	}
	view := mem.View{Map: c.grid.dev.Memory, Shared: c.sharedMem, Cluster: c.cluster.shared}
	request := mem.Access{Request: probe.Request{Space: space, Bytes: int(align), Kind: kind}}
	if addr%align != 0 {
		_, fault := view.Resolve(&request, addr)
		return nil, nil, fault
	}
	request.Bytes = 1
	first, fault := view.Resolve(&request, addr)
	last := first
	if fault == nil && n > 1 {
		last, fault = view.Resolve(&request, addr+n-1)
	}
	switch {
	case fault == nil && (first.Alloc == nil || last.Alloc != first.Alloc || last.Offset-first.Offset != n-1):
		fault = &mem.Fault{Kind: probe.ErrWrongSpace, Msg: fmt.Sprintf("%s at %s, which is not in one piece of memory", &request, hexAddr(addr))}
		fallthrough
	case fault != nil:
		fault.Msg += fmt.Sprintf(": one of %d bytes from %s on", n, hexAddr(addr))
		return nil, nil, fault
	}
	return first.Alloc, unsafe.Slice((*byte)(unsafe.Add(first.Alloc.Ptr, first.Offset)), n), nil
}

// source is where the effect reads.
func (e *effect) source() ([]byte, *mem.Fault) {
	_, data, fault := e.cta.region(e.op.From, probe.AccessLoad, e.from, e.bytes, e.align())
	return data, fault
}

// target is where the effect writes: if an mbarrier is told of it, in the shared memory that has
// that.
func (e *effect) target() ([]byte, *mem.Fault) {
	alloc, data, fault := e.cta.region(e.op.To, probe.AccessStore, e.to, e.bytes+e.fill, e.align())
	if owner := e.cta.ctaAt(e.mbarrier); fault == nil && alloc != nil && e.op.NotifiesMbarrier && alloc != owner.sharedMem {
		return nil, &mem.Fault{Kind: probe.ErrWrongSpace, Msg: fmt.Sprintf("%d bytes at %s: not in the shared memory of cta %s, whose mbarrier counts them", e.bytes, hexAddr(e.to), owner.id)}
	}
	return data, fault
}

// align is what the addresses must be multiples of.
func (e *effect) align() uint64 {
	switch {
	case e.op.IgnoreOutOfBounds: // its addresses have been looked at
		return 1
	case e.op.Bulk:
		return 16
	}
	return uint64(e.op.Bytes)
}

// resolveEffect traps if the effect cannot go where it should.
func (w *warp) resolveEffect(e *effect) bool {
	_, fault := e.target()
	addr := e.to
	if fault == nil && e.data == nil {
		_, fault = e.source()
		addr = e.from
	}
	if fault != nil {
		w.err = e.faultTrap(fault, addr)
		return false
	}
	return true
}

// faultTrap is the trap of an effect, where it was issued.
func (e *effect) faultTrap(fault *mem.Fault, addr uint64) *probe.Trap {
	t := e.trap(fault.Kind, "%s", fault.Msg)
	t.Addr, t.Bytes, t.Nearby = addr, int(e.bytes+e.fill), fault.Near
	return t
}

// trap is one of an effect, where it was issued.
func (e *effect) trap(kind error, format string, args ...any) *probe.Trap {
	c := e.cta
	t := c.newTrap(e.src, kind, format, args...)
	t.Warp, t.Lanes, t.Active, t.Thread = e.warp, 1<<e.lane, e.active, c.thread(e.warp*c.code.Width+e.lane)
	return t
}

// execute has an effect.
//
//go:norace
func (e *effect) execute() error {
	if e.done {
		return nil
	}
	c := e.cta
	if e.isPipeOp() {
		return c.cluster.runPipe(e)
	}
	e.done = true
	c.asyncState.keptBytes -= e.keptBytes
	c.changed = true
	if e.arrives {
		// What its thread had copied before comes first.
		l := &c.asyncState.lanes[e.warp*c.code.Width+e.lane]
		for len(l.pending[0]) > 0 && l.pending[0][0].seq < e.seq {
			p := l.pending[0][0]
			if l.pending[0] = l.pending[0][1:]; !p.arrives {
				if err := p.execute(); err != nil {
					return err
				}
			}
		}
		e.emit(stageWrites)
		return e.arriveAt()
	}
	stage := stageWrites
	if e.data == nil {
		stage |= stageReads
	}
	if err := e.read(); err != nil {
		return err
	}
	e.emit(stage)
	if e.tensor != nil {
		if err := e.writeTensor(); err != nil || !e.op.NotifiesMbarrier {
			return err
		}
		return e.complete()
	}
	to, fault := e.target()
	if fault != nil {
		return e.faultTrap(fault, e.to)
	}
	if e.op.Reduces {
		reduceBytes(to, e.data, e.op.Reduction)
	} else if e.unwritten != 0 {
		for i, v := range e.data {
			if e.unwritten>>(i%16)&1 == 0 {
				to[i] = v
			}
		}
	} else {
		copy(to, e.data)
		clear(to[e.bytes:])
	}
	if e.op.NotifiesMbarrier {
		return e.complete()
	}
	return nil
}

// complete reports the pattern that was looked for, and tells the mbarrier of the bytes.
func (e *effect) complete() error {
	return e.notify(func(b mbarrier) (mbarrier, string) {
		if e.patternFound {
			b = b.withReport()
		}
		return b.completeTx(e.transactions())
	})
}

// transactions is how many bytes the mbarrier is told of.
func (e *effect) transactions() uint64 { return e.bytes + e.ignoredBytes }

// read reads the source, if that has not been done.
//
//go:norace
func (e *effect) read() error {
	switch {
	case e.data != nil || e.arrives:
		return nil
	case e.tensor != nil:
		return e.readTensor()
	}
	from, fault := e.source()
	if fault != nil {
		return e.faultTrap(fault, e.from)
	}
	e.data = make([]byte, len(from))
	copy(e.data, from)
	e.patternFound = e.op.ReportPattern.Matches(e.data)
	if !e.done {
		e.charge(uint64(len(from)))
	}
	return nil
}

// arriveAt arrives at the mbarrier.
func (e *effect) arriveAt() error {
	return e.notify(func(b mbarrier) (mbarrier, string) { return b.arrive(1) })
}

// notify has an effect on its mbarrier.
func (e *effect) notify(update func(mbarrier) (mbarrier, string)) error {
	c := e.cta
	b, bad := c.mbarrier(e.mbarrier), notAnMbarrier
	if b.valid() {
		*b, bad = update(*b)
	}
	if bad != "" {
		return e.trap(probe.ErrBarrier, "%v: %s: %s", probe.ErrBarrier, c.mbarrierName(e.mbarrier), bad)
	}
	return nil
}

// reduceBytes combines arrays of elements (manual 9.7.9.25.4.2).
//
//go:norace
func reduceBytes(to, data []byte, r code.Reduction) {
	size := r.Type.Size()
	mask := widthMask(r.Type)
	for i := 0; i+size <= len(to); i += size {
		p := unsafe.Pointer(&to[i])
		mem.StoreBits(p, size, applyReduction(r, mask, mem.LoadBits(p, size), mem.LoadBits(unsafe.Pointer(&data[i]), size), 0))
	}
}

// checkMbarrierWait has the effects that complete a phase of an mbarrier, which somebody has looked
// at before they did: those up to the one that completes it. If they do not, none.
func (c *cta) checkMbarrierWait(addr uint64) error {
	pending := c.cluster.pending
	list := pending[addr]
	if len(list) == 0 {
		return nil
	}
	b := *c.mbarrier(addr)
	phase, n := b.phase(), 0
	for bad := ""; b.phase() == phase; n++ {
		if n == len(list) {
			return nil
		}
		if list[n].arrives {
			b, bad = b.arrive(1)
		} else {
			b, bad = b.completeTx(list[n].transactions())
		}
		if bad != "" { // which will be a trap
			n++
			break
		}
	}
	if pending[addr] = list[n:]; n == len(list) {
		delete(pending, addr)
	}
	for _, e := range list[:n] {
		if err := e.execute(); err != nil {
			return err
		}
	}
	return nil
}

// pendingText says what the mbarrier at an address will be told of, and has not yet.
func (cl *cluster) pendingText(addr uint64) string {
	arrivals, bytes := 0, uint64(0)
	for _, e := range cl.pending[addr] {
		if e.arrives {
			arrivals++
		}
		bytes += e.transactions()
	}
	s := ""
	if bytes > 0 {
		s += fmt.Sprintf("; pending operations bring %d bytes", bytes)
	}
	if arrivals > 0 {
		s += fmt.Sprintf("; %d arrivals come with pending copies", arrivals)
	}
	return s
}

// awaitEffects has the effects of a thread's groups but the last ones, or reads their sources.
func (c *cta) awaitEffects(l *asyncThread, op code.Async, keepGroups int) error {
	q := queueIndex(op)
	if op.All {
		l.groups[q]++
	}
	for len(l.pending[q]) > 0 && l.pending[q][0].group < l.groups[q]-keepGroups && !op.Read {
		e := l.pending[q][0]
		l.pending[q] = l.pending[q][1:]
		switch {
		case e.arrives, e.done: // it has no other to wait for now, and happens when somebody looks
		case e.op.NotifiesMbarrier:
			if err := e.readMap(); err != nil {
				return err
			}
		default:
			if err := e.execute(); err != nil {
				return err
			}
		}
	}
	if !op.Read || l.groups[q]-keepGroups <= l.groupsRead {
		return nil
	}
	i, _ := slices.BinarySearchFunc(l.pending[q], l.groupsRead, func(e *effect, group int) int { return cmp.Compare(e.group, group) })
	l.groupsRead = l.groups[q] - keepGroups
	for _, e := range l.pending[q][i:] {
		if e.group >= l.groupsRead {
			break
		}
		if e.done {
			continue
		}
		unread := e.data == nil && !e.op.NotifiesMbarrier
		err := error(nil)
		if e.op.NotifiesMbarrier {
			err = e.readMap()
		} else {
			err = e.read()
		}
		if err != nil {
			return err
		}
		if unread {
			e.emit(stageReads)
		}
	}
	return c.limitEffects()
}

// finishAsync has all effects that nobody has waited for, in the order of issue.
func (c *cta) finishAsync() error {
	if err := c.finishGroups(); err != nil {
		return err
	}
	if c.asyncState.lanes == nil {
		return c.finishTensor()
	}
	for _, e := range c.pendingEffects() {
		if err := e.execute(); err != nil {
			return err
		}
	}
	c.cluster.dropEffects(func(e *effect) bool { return e.cta == c })
	err := c.finishTensor()
	c.asyncState = asyncState{}
	return err
}

// pendingEffects is all effects of the CTA that are still to come, in the order of issue.
func (c *cta) pendingEffects() []*effect {
	all := map[*effect]bool{}
	for i := range c.asyncState.lanes {
		for _, q := range c.asyncState.lanes[i].pending {
			for _, e := range q {
				all[e] = !e.done
			}
		}
	}
	for _, list := range c.cluster.pending {
		for _, e := range list {
			all[e] = !e.done && e.cta == c
		}
	}
	if piped := c.cluster.pipes; piped != nil {
		for _, e := range piped[c.rank/2] {
			all[e] = e.cta == c
		}
	}
	maps.DeleteFunc(all, func(_ *effect, left bool) bool { return !left })
	return slices.SortedFunc(maps.Keys(all), func(a, b *effect) int { return int(a.seq - b.seq) })
}

// copyEffects makes what the CTAs have issued that of others, of the same ranks, and shares nothing
// with them that changes.
func (cl *cluster) copyEffects(other *cluster) {
	copies := map[*effect]*effect{}
	list := func(old []*effect) (list []*effect) {
		for _, e := range old {
			if copies[e] == nil {
				c := *e
				c.cta = cl.ctas[e.cta.rank]
				if e.tensor != nil {
					t := *e.tensor
					c.tensor = &t
				}
				copies[e] = &c
			}
			list = append(list, copies[e])
		}
		return list
	}
	for r, c := range cl.ctas {
		c.asyncState.warpgroups = cloneGroups(other.ctas[r].asyncState.warpgroups)
		c.asyncState.tensor = other.ctas[r].asyncState.tensor.clone()
		if old := other.ctas[r].asyncState; old.lanes != nil {
			c.asyncState.lanes = slices.Clone(old.lanes)
			for i := range c.asyncState.lanes {
				for q := range c.asyncState.lanes[i].pending {
					c.asyncState.lanes[i].pending[q] = list(old.lanes[i].pending[q])
				}
			}
		}
	}
	ctas, shared := cl.ctas, cl.shared
	*cl = *other
	cl.ctas, cl.shared, cl.instrsLeft, cl.pending = ctas, shared, slices.Clone(other.instrsLeft), nil
	cl.pipes = nil
	for _, old := range other.pipes {
		cl.pipes = append(cl.pipes, list(old))
	}
	if other.pending != nil {
		cl.pending = map[uint64][]*effect{}
		for addr, old := range other.pending {
			cl.pending[addr] = list(old)
		}
	}
}

// asyncCopy executes cp.async.
func asyncCopy(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op := code.AsyncOf(instr.Imm)
	for ; m != 0 && w.err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := w.effect(h, instr, lane, op)
		e.to, e.from, e.bytes = f.Src64(instr.A)[lane], f.Src64(instr.B)[lane], uint64(f.Src32(instr.C)[lane])
		if e.bytes > uint64(op.Bytes) {
			w.failAsync(e, "a source of %d bytes for a copy of %d", e.bytes, op.Bytes)
			return
		}
		if e.fill = uint64(op.Bytes) - e.bytes; w.resolveEffect(e) {
			w.issue(e)
		}
	}
}

// asyncArrive executes cp.async.mbarrier.arrive.
func asyncArrive(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op := code.AsyncOf(instr.Imm)
	for ; m != 0 && w.err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := w.effect(h, instr, lane, op)
		e.arrives = true
		if !w.findMbarrier(h, instr, e, op.To, f.Src64(instr.A)[lane], true) {
			return
		}
		if !op.NoInc {
			b := w.cta.mbarrier(e.mbarrier)
			after, bad := b.increase()
			if bad != "" {
				w.failMbarrier(h, instr, lane, e.mbarrier, bad)
				return
			}
			*b = after
		}
		w.issue(e)
	}
}

// findMbarrier finds the mbarrier that an effect tells, or traps. It may be another CTA's, unless own.
func (w *warp) findMbarrier(h int, instr *code.Instr, e *effect, space ptx.Space, addr uint64, own bool) (ok bool) {
	if e.mbarrier, ok = w.mbarrierAt(h, instr, e.lane&31, space, addr, own); ok && !w.cta.mbarrier(e.mbarrier).valid() {
		w.failMbarrier(h, instr, e.lane&31, e.mbarrier, notAnMbarrier)
		return false
	}
	return ok
}

// asyncCommit executes cp.async.commit_group, of bulk operations too.
func asyncCommit(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	q := queueIndex(code.AsyncOf(instr.Imm))
	for ; m != 0; m &= m - 1 {
		w.cta.asyncState.thread(w.cta, w.tid(32*h+bits.TrailingZeros32(m)&31)).groups[q]++
	}
}

// asyncWait executes cp.async.wait_group and .wait_all, of bulk operations too.
func asyncWait(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op, c := code.AsyncOf(instr.Imm), w.cta
	if c.asyncState.lanes == nil {
		return
	}
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		keepGroups := min(f.Src32(instr.A)[lane], 1<<30)
		if err := c.awaitEffects(c.asyncState.thread(c, w.tid(32*h+lane)), op, int(keepGroups)); err != nil {
			w.err = err
			return
		}
	}
}

// asyncBulk executes cp.async.bulk and cp.reduce.asyncState.bulk.
func asyncBulk(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op, masked := code.AsyncOf(instr.Imm), instr.Op == code.AsyncMasked
	for ; m != 0 && w.err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := w.effect(h, instr, lane, op)
		e.to, e.from = f.Src64(instr.A)[lane], f.Src64(instr.B)[lane]
		mask := uint64(0)
		if masked {
			mask = f.Src64(instr.C)[lane]
			e.bytes, mask = mask&math.MaxUint32, mask>>32
		} else {
			e.bytes = uint64(f.Src32(instr.C)[lane])
		}
		switch {
		case e.bytes%16 != 0:
			w.failAsync(e, "a size of %d, which is no multiple of 16", e.bytes)
			return
		case op.NotifiesMbarrier && e.bytes > maxMbarrierCount:
			w.failAsync(e, "a size of %d, and an mbarrier can count at most %d", e.bytes, maxMbarrierCount)
			return
		}
		if op.NotifiesMbarrier && !w.findMbarrier(h, instr, e, op.MbarrierSpace, f.Src64(instr.E)[lane], false) {
			return
		}
		if op.ReportPattern != code.NoReport && !w.setMbarrier(h, instr, e) {
			return
		}
		list := []*effect{e}
		switch {
		case op.IgnoreOutOfBounds:
			if !w.setIgnoredBytes(e, mask&0xff, mask>>8) {
				return
			}
		case masked && op.NotifiesMbarrier:
			list = w.multicast(e, uint32(mask))
		case masked:
			e.unwritten = ^uint16(mask)
		}
		w.issueAll(list)
	}
}

// setIgnoredBytes leaves bytes at both ends out of a copy, or traps. What is there in shared memory stays.
func (w *warp) setIgnoredBytes(e *effect, left, right uint64) bool {
	for _, n := range [...]uint64{left, right} {
		if n > 15 {
			w.failAsync(e, "%d bytes to ignore at an end, want 0 to 15", n)
			return false
		}
	}
	for _, addr := range [...]uint64{e.to, e.from} {
		if addr%16 != 0 {
			w.err = e.faultTrap(&mem.Fault{Kind: probe.ErrMisaligned, Msg: fmt.Sprintf("%v: %s, want a multiple of 16", probe.ErrMisaligned, hexAddr(addr))}, addr)
			return false
		}
	}
	left = min(left, e.bytes)
	e.ignoredBytes = min(left+right, e.bytes)
	e.to, e.from, e.bytes = e.to+left, e.from+left, e.bytes-e.ignoredBytes
	return true
}

// setMbarrier looks whether an effect that reports something tells an mbarrier that can have reports, or
// traps.
func (w *warp) setMbarrier(h int, instr *code.Instr, e *effect) bool {
	if w.cta.mbarrier(e.mbarrier).v1() {
		return true
	}
	w.failMbarrier(h, instr, e.lane&31, e.mbarrier, "a copy reports to it, which wants .layout::v1")
	return false
}

// asyncCancel executes clusterlaunchcontrol.try_cancel. Which cluster it takes out of the launch is
// settled here, where CTAs take turns; the answer comes as other effects do.
func asyncCancel(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op := code.AsyncOf(instr.Imm)
	for ; m != 0 && w.err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := w.effect(h, instr, lane, op)
		e.to, e.bytes = f.Src64(instr.A)[lane], uint64(op.Bytes)
		if !w.findMbarrier(h, instr, e, op.MbarrierSpace, f.Src64(instr.B)[lane], true) {
			return
		}
		e.data, e.persistent = w.cta.grid.cancel(), true
		w.cta.ordered = false // the others have theirs before the next
		list := []*effect{e}
		if op.All {
			list = w.multicast(e, 1<<w.cta.grid.clusterSize-1)
		}
		w.issueAll(list)
	}
}

// multicast is an effect on shared memory for each of the CTAs of the cluster whose ranks a mask
// has: at the same place of their shared memory, and they tell the mbarrier at the same place. It
// traps for a place that is not in shared memory, and for a rank that the cluster does not have.
func (w *warp) multicast(e *effect, ranks uint32) (list []*effect) {
	if e.op.To == ptx.Shared {
		e.to, e.op.To = e.to+probe.SharedWindow, ptx.Generic
	}
	if !mem.InShared(e.to, w.cta.grid.clusterSize) {
		w.err = e.faultTrap(&mem.Fault{Kind: probe.ErrWrongSpace, Msg: fmt.Sprintf("%s, from where it is copied on to other CTAs, is not in shared memory", hexAddr(e.to))}, e.to)
		return nil
	}
	for ; ranks != 0; ranks &= ranks - 1 {
		rank := bits.TrailingZeros32(ranks)
		if rank >= w.cta.grid.clusterSize {
			w.fail(e.src, 1<<e.lane, probe.ErrCTARank, "%v: %d, in a cluster of %s", probe.ErrCTARank, rank, w.cta.grid.clusterSizeText())
			return nil
		}
		to := *e
		to.to, to.mbarrier = addressInRank(e.to, rank), addressInRank(e.mbarrier, rank)
		list = append(list, &to)
	}
	return list
}

// asyncStore executes st.async and red.async.
func asyncStore(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op := code.AsyncOf(instr.Imm)
	for ; m != 0 && w.err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := w.effect(h, instr, lane, op)
		e.to, e.bytes, e.persistent = f.Src64(instr.A)[lane], uint64(op.Bytes), true
		for _, word := range [...]uint64{f.Src64(instr.C)[lane], f.Src64(instr.E)[lane]} {
			for i := 0; i < 8; i++ {
				e.data = append(e.data, byte(word>>(8*i)))
			}
		}
		e.data = e.data[:op.Bytes]
		if !w.findMbarrier(h, instr, e, op.MbarrierSpace, f.Src64(instr.B)[lane], false) {
			return
		}
		if w.resolveEffect(e) {
			w.issue(e)
		}
	}
}
