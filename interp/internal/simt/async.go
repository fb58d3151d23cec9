package simt

// This file is asynchronous operations (manual 9.7.9.25, 9.7.9.12, 9.7.13.7): their effects
// happen as late as may be, which is at the wait that orders them; the source is read then.
// Those that an mbarrier is told of happen when somebody has looked at it in vain and they
// complete its phase. What nobody has waited for happens when the CTA ends, or when more is to
// come than a CTA keeps. With Launch.Early all happen where they are issued.

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

	op       code.Async
	arrives  bool        // at the mbarrier, and that is all
	to, from uint64      // addresses
	bytes    uint64      // that are copied or stored
	fill     uint64      // zeros behind them
	data     []byte      // of a store, or read already; nil: it is read from the source
	held     bool        // it has always been there: it is not memory's
	leaves   uint16      // which bytes of each 16 it leaves as they are
	told     uint64      // address of the mbarrier in .shared space
	ignored  uint64      // bytes beside those copied, of which the mbarrier is told all the same
	reports  bool        // its source has the pattern that it looks for
	kept     uint64      // bytes that it takes, while it is to come
	tensor   *tensorCopy // what it is of a tensor; nil: nothing
	piped    *piped      // what it is of tensor cores and their memory; nil: nothing
	commits  bool        // it arrives when what came before it in the pipeline has happened
	readsA   bool        // … or when matrices A in shared memory, of multiplications before it, have been read
	factorA  [][]uint32  // of a multiplication: matrix A of each CTA, if a commit has had it read
	done     bool
}

// asyncLane is what a thread has issued.
type asyncLane struct {
	pending [2][]*effect // of cp.async, of bulk operations with groups; in the order of issue
	groups  [2]int       // committed
	read    int          // groups of bulk operations, whose sources have been read
}

// async is what the threads of a CTA have issued, beside what mbarriers are told of.
type async struct {
	kept  uint64      // bytes that effects to come take
	lanes []asyncLane // by thread; none before one has issued something

	warpgroups []warpgroup // those up to the last that has executed something of wgmma
	tensor     tensorState // tensor memory
}

// used reports whether a thread of the CTA has issued something, or had tensor memory.
func (a *async) used() bool {
	return a.kept != 0 || a.lanes != nil || a.warpgroups != nil || a.tensor.memory != nil || a.tensor.ended || a.tensor.warps != nil
}

// queue is which of a thread's a kind of operation is in.
func queue(op code.Async) int {
	if op.Bulk {
		return 1
	}
	return 0
}

// thread is what a thread has issued.
func (a *async) thread(c *cta, i int) *asyncLane {
	if a.lanes == nil {
		a.lanes = make([]asyncLane, len(c.warps)*c.code.Width)
	}
	return &a.lanes[i]
}

// effect is one of an instruction for a lane.
func (w *warp) effect(h int, in *code.Instr, lane int, op code.Async) *effect {
	return &effect{cta: w.cta, src: w.src(in), warp: w.id, lane: 32*h + lane, active: w.mask, op: op}
}

// badAsync stops the warp for what a lane would do.
func (w *warp) badAsync(e *effect, format string, args ...any) {
	w.fail(e.src, 1<<e.lane, ErrAsync, "%v: %s", ErrAsync, fmt.Sprintf(format, args...))
}

// issueAll notes effects, or has them now, up to the first that traps.
func (w *warp) issueAll(list []*effect) {
	for _, e := range list {
		if w.err != nil || !w.places(e) {
			return
		}
		w.issue(e)
	}
}

// issue notes an effect whose places have been found to be right, or has it now.
func (w *warp) issue(e *effect) {
	c := w.cta
	cl, l := c.cluster, c.async.thread(c, w.tid(e.lane))
	c.changed = true
	q := queue(e.op)
	e.seq, e.group = cl.seq, l.groups[q]
	cl.seq++
	e.inform(issued)
	// The order of reductions on global memory can be seen by other CTAs: it is that of issue.
	if c.grid.early || e.op.Reduces && e.op.To == ptx.Global {
		if err := e.happen(); err != nil {
			w.err = err
		}
		return
	}
	if e.pipes() {
		if cl.piped == nil {
			cl.piped = make([][]*effect, (len(cl.ctas)+1)/2)
		}
		cl.piped[c.rank/2] = append(cl.piped[c.rank/2], e)
	}
	if e.arrives || e.op.Tells {
		if cl.told == nil {
			cl.told = map[uint64][]*effect{}
		}
		cl.told[e.told] = append(cl.told[e.told], e)
	}
	if e.tensor != nil { // its group is told that the map has been read, also where an mbarrier is told of it
		l.pending[q] = slices.DeleteFunc(l.pending[q], func(e *effect) bool { return e.done && e.tensor != nil })
	}
	if !e.pipes() && (e.arrives || !e.op.Tells || e.tensor != nil) {
		l.pending[q] = append(l.pending[q], e)
	}
	e.keep(uint64(unsafe.Sizeof(*e)) + uint64(len(e.data)))
	w.err = c.relieve()
}

// keep notes that the effect takes n bytes more until it happens.
func (e *effect) keep(n uint64) {
	e.kept += n
	e.cta.async.kept += n
}

// mostKept is how many bytes effects to come of a CTA may take.
func (g *Grid) mostKept() uint64 { return 1<<20 + uint64(g.threads)<<13 }

// relieve has the older half of the effects to come, if they take more memory than they may.
// They may happen at any time.
func (c *cta) relieve() error {
	most := c.grid.mostKept()
	if c.async.kept <= most {
		return nil
	}
	for _, e := range c.outstanding() {
		if c.async.kept <= most/2 {
			break
		}
		if err := e.happen(); err != nil {
			return err
		}
	}
	for i := range c.async.lanes {
		for q, list := range c.async.lanes[i].pending {
			c.async.lanes[i].pending[q] = slices.DeleteFunc(list, func(e *effect) bool { return e.done })
		}
	}
	c.cluster.forget(func(e *effect) bool { return e.done })
	return nil
}

// forget drops effects that mbarriers are told of.
func (cl *cluster) forget(which func(*effect) bool) {
	for at := range cl.told {
		cl.forgetAt(at, which)
	}
}

// forgetAt drops effects that one mbarrier is told of.
func (cl *cluster) forgetAt(at uint64, which func(*effect) bool) {
	if cl.told[at] = slices.DeleteFunc(cl.told[at], which); len(cl.told[at]) == 0 {
		delete(cl.told, at)
	}
}

// region is n bytes at an address that is to be a multiple of align, and the memory that they
// are of.
func (c *cta) region(space ptx.Space, kind mem.AccessKind, addr, n, align uint64) (*mem.Allocation, []byte, *mem.Fault) {
	if n == 0 {
		return nil, nil, nil
	}
	view := mem.View{Map: c.grid.dev.Memory, Shared: c.sharedMem, Cluster: c.cluster.shared}
	request := mem.Access{Space: space, Bytes: int(align), Kind: kind}
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
	case fault == nil && (first.Alloc == nil || last.Alloc != first.Alloc || last.Off-first.Off != n-1):
		fault = &mem.Fault{Kind: ErrWrongSpace, Msg: fmt.Sprintf("%s at %s, which is not in one piece of memory", &request, hexAddr(addr))}
		fallthrough
	case fault != nil:
		fault.Msg += fmt.Sprintf(": one of %d bytes from %s on", n, hexAddr(addr))
		return nil, nil, fault
	}
	return first.Alloc, unsafe.Slice((*byte)(unsafe.Add(first.Alloc.Ptr, first.Off)), n), nil
}

// source is where the effect reads.
func (e *effect) source() ([]byte, *mem.Fault) {
	_, data, fault := e.cta.region(e.op.From, mem.Load, e.from, e.bytes, e.align())
	return data, fault
}

// target is where the effect writes: if an mbarrier is told of it, in the shared memory that has
// that.
func (e *effect) target() ([]byte, *mem.Fault) {
	in, data, fault := e.cta.region(e.op.To, mem.Store, e.to, e.bytes+e.fill, e.align())
	if told := e.cta.holder(e.told); fault == nil && in != nil && e.op.Tells && in != told.sharedMem {
		return nil, &mem.Fault{Kind: ErrWrongSpace, Msg: fmt.Sprintf("%d bytes at %s: not in the shared memory of cta %s, whose mbarrier is told of them", e.bytes, hexAddr(e.to), told.id)}
	}
	return data, fault
}

// align is what the addresses must be multiples of.
func (e *effect) align() uint64 {
	switch {
	case e.op.IgnoreOOB: // its addresses have been looked at
		return 1
	case e.op.Bulk:
		return 16
	}
	return uint64(e.op.Bytes)
}

// places traps if the effect cannot go where it should.
func (w *warp) places(e *effect) bool {
	_, fault := e.target()
	addr := e.to
	if fault == nil && e.data == nil {
		_, fault = e.source()
		addr = e.from
	}
	if fault != nil {
		w.err = e.faulty(fault, addr)
		return false
	}
	return true
}

// faulty is the trap of an effect, where it was issued.
func (e *effect) faulty(fault *mem.Fault, addr uint64) *Trap {
	t := e.trap(fault.Kind, "%s", fault.Msg)
	t.Addr, t.Bytes, t.Near = addr, int(e.bytes+e.fill), fault.Near
	return t
}

// trap is one of an effect, where it was issued.
func (e *effect) trap(kind error, format string, args ...any) *Trap {
	c := e.cta
	t := c.newTrap(e.src, kind, format, args...)
	t.Warp, t.Lanes, t.Active, t.Thread = e.warp, 1<<e.lane, e.active, c.thread(e.warp*c.code.Width+e.lane)
	return t
}

// happen has an effect.
//
//go:norace
func (e *effect) happen() error {
	if e.done {
		return nil
	}
	c := e.cta
	if e.pipes() {
		return c.cluster.runPipe(e)
	}
	e.done = true
	c.async.kept -= e.kept
	c.changed = true
	if e.arrives {
		// What its thread had copied before comes first.
		l := &c.async.lanes[e.warp*c.code.Width+e.lane]
		for len(l.pending[0]) > 0 && l.pending[0][0].seq < e.seq {
			p := l.pending[0][0]
			if l.pending[0] = l.pending[0][1:]; !p.arrives {
				if err := p.happen(); err != nil {
					return err
				}
			}
		}
		e.inform(writes)
		return e.arriveAt()
	}
	now := writes
	if e.data == nil {
		now |= reads
	}
	if err := e.read(); err != nil {
		return err
	}
	e.inform(now)
	if e.tensor != nil {
		if err := e.writeTensor(); err != nil || !e.op.Tells {
			return err
		}
		return e.completes()
	}
	to, fault := e.target()
	if fault != nil {
		return e.faulty(fault, e.to)
	}
	if e.op.Reduces {
		reduceBytes(to, e.data, e.op.Reduction)
	} else if e.leaves != 0 {
		for i, v := range e.data {
			if e.leaves>>(i%16)&1 == 0 {
				to[i] = v
			}
		}
	} else {
		copy(to, e.data)
		clear(to[e.bytes:])
	}
	if e.op.Tells {
		return e.completes()
	}
	return nil
}

// completes reports the pattern that was looked for, and tells the mbarrier of the bytes.
func (e *effect) completes() error {
	return e.tell(func(b mbarrier) (mbarrier, string) {
		if e.reports {
			b = b.reportOn()
		}
		return b.completeTx(e.transactions())
	})
}

// transactions is how many bytes the mbarrier is told of.
func (e *effect) transactions() uint64 { return e.bytes + e.ignored }

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
		return e.faulty(fault, e.from)
	}
	e.data = make([]byte, len(from))
	copy(e.data, from)
	e.reports = e.op.Report.Found(e.data)
	if !e.done {
		e.keep(uint64(len(from)))
	}
	return nil
}

// arriveAt arrives at the mbarrier.
func (e *effect) arriveAt() error {
	return e.tell(func(b mbarrier) (mbarrier, string) { return b.arrive(1) })
}

// tell has an effect on its mbarrier.
func (e *effect) tell(do func(mbarrier) (mbarrier, string)) error {
	c := e.cta
	b, bad := c.mbarrier(e.told), notAnMbarrier
	if b.valid() {
		*b, bad = do(*b)
	}
	if bad != "" {
		return e.trap(ErrBarrier, "%v: %s: %s", ErrBarrier, c.mbarrierName(e.told), bad)
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
		mem.StoreBits(p, size, apply(r, mask, mem.LoadBits(p, size), mem.LoadBits(unsafe.Pointer(&data[i]), size), 0))
	}
}

// lookedInVain has the effects that complete a phase of an mbarrier, which somebody has looked
// at before they did: those up to the one that completes it. If they do not, none.
func (c *cta) lookedInVain(at uint64) error {
	told := c.cluster.told
	list := told[at]
	if len(list) == 0 {
		return nil
	}
	b := *c.mbarrier(at)
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
	if told[at] = list[n:]; n == len(list) {
		delete(told, at)
	}
	for _, e := range list[:n] {
		if err := e.happen(); err != nil {
			return err
		}
	}
	return nil
}

// stillTold says what the mbarrier at an address will be told of, and has not yet.
func (cl *cluster) stillTold(at uint64) string {
	arrivals, bytes := 0, uint64(0)
	for _, e := range cl.told[at] {
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

// await has the effects of a thread's groups but the last ones, or reads their sources.
func (c *cta) await(l *asyncLane, op code.Async, but int) error {
	q := queue(op)
	if op.All {
		l.groups[q]++
	}
	for len(l.pending[q]) > 0 && l.pending[q][0].group < l.groups[q]-but && !op.Read {
		e := l.pending[q][0]
		l.pending[q] = l.pending[q][1:]
		switch {
		case e.arrives, e.done: // it has no other to wait for now, and happens when somebody looks
		case e.op.Tells:
			if err := e.readMap(); err != nil {
				return err
			}
		default:
			if err := e.happen(); err != nil {
				return err
			}
		}
	}
	if !op.Read || l.groups[q]-but <= l.read {
		return nil
	}
	i, _ := slices.BinarySearchFunc(l.pending[q], l.read, func(e *effect, group int) int { return cmp.Compare(e.group, group) })
	l.read = l.groups[q] - but
	for _, e := range l.pending[q][i:] {
		if e.group >= l.read {
			break
		}
		read := e.read
		switch {
		case e.done:
			continue
		case e.op.Tells:
			read = e.readMap
		}
		unread := e.data == nil && !e.op.Tells
		if err := read(); err != nil {
			return err
		}
		if unread {
			e.inform(reads)
		}
	}
	return c.relieve()
}

// finishAsync has all effects that nobody has waited for, in the order of issue.
func (c *cta) finishAsync() error {
	if err := c.finishGroups(); err != nil {
		return err
	}
	if c.async.lanes == nil {
		return c.finishTensor()
	}
	for _, e := range c.outstanding() {
		if err := e.happen(); err != nil {
			return err
		}
	}
	c.cluster.forget(func(e *effect) bool { return e.cta == c })
	err := c.finishTensor()
	c.async = async{}
	return err
}

// outstanding is all effects of the CTA that are still to come, in the order of issue.
func (c *cta) outstanding() []*effect {
	all := map[*effect]bool{}
	for i := range c.async.lanes {
		for _, q := range c.async.lanes[i].pending {
			for _, e := range q {
				all[e] = !e.done
			}
		}
	}
	for _, list := range c.cluster.told {
		for _, e := range list {
			all[e] = !e.done && e.cta == c
		}
	}
	if piped := c.cluster.piped; piped != nil {
		for _, e := range piped[c.rank/2] {
			all[e] = e.cta == c
		}
	}
	maps.DeleteFunc(all, func(_ *effect, left bool) bool { return !left })
	return slices.SortedFunc(maps.Keys(all), func(a, b *effect) int { return int(a.seq - b.seq) })
}

// assume makes what the CTAs have issued that of others, of the same ranks, and shares nothing
// with them that changes.
func (cl *cluster) assume(o *cluster) {
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
		c.async.warpgroups = cloneGroups(o.ctas[r].async.warpgroups)
		c.async.tensor = o.ctas[r].async.tensor.clone()
		if old := o.ctas[r].async; old.lanes != nil {
			c.async.lanes = slices.Clone(old.lanes)
			for i := range c.async.lanes {
				for q := range c.async.lanes[i].pending {
					c.async.lanes[i].pending[q] = list(old.lanes[i].pending[q])
				}
			}
		}
	}
	ctas, shared := cl.ctas, cl.shared
	*cl = *o
	cl.ctas, cl.shared, cl.left, cl.told = ctas, shared, slices.Clone(o.left), nil
	cl.piped = nil
	for _, old := range o.piped {
		cl.piped = append(cl.piped, list(old))
	}
	if o.told != nil {
		cl.told = map[uint64][]*effect{}
		for at, old := range o.told {
			cl.told[at] = list(old)
		}
	}
}

// asyncCopy executes cp.async.
func asyncCopy(w *warp, h int, f *regfile.File, in *code.Instr, m uint32) {
	op := code.AsyncOf(in.Imm)
	for ; m != 0 && w.err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := w.effect(h, in, lane, op)
		e.to, e.from, e.bytes = f.Src64(in.A)[lane], f.Src64(in.B)[lane], uint64(f.Src32(in.C)[lane])
		if e.bytes > uint64(op.Bytes) {
			w.badAsync(e, "a source of %d bytes for a copy of %d", e.bytes, op.Bytes)
			return
		}
		if e.fill = uint64(op.Bytes) - e.bytes; w.places(e) {
			w.issue(e)
		}
	}
}

// asyncArrive executes cp.async.mbarrier.arrive.
func asyncArrive(w *warp, h int, f *regfile.File, in *code.Instr, m uint32) {
	op := code.AsyncOf(in.Imm)
	for ; m != 0 && w.err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := w.effect(h, in, lane, op)
		e.arrives = true
		if !w.tells(h, in, e, op.To, f.Src64(in.A)[lane], true) {
			return
		}
		if !op.NoInc {
			b := w.cta.mbarrier(e.told)
			now, bad := b.increase()
			if bad != "" {
				w.badMbarrier(h, in, lane, e.told, bad)
				return
			}
			*b = now
		}
		w.issue(e)
	}
}

// tells finds the mbarrier that an effect tells, or traps. It may be another CTA's, unless own.
func (w *warp) tells(h int, in *code.Instr, e *effect, space ptx.Space, addr uint64, own bool) (ok bool) {
	if e.told, ok = w.mbarrierAt(h, in, e.lane&31, space, addr, own); ok && !w.cta.mbarrier(e.told).valid() {
		w.badMbarrier(h, in, e.lane&31, e.told, notAnMbarrier)
		return false
	}
	return ok
}

// asyncCommit executes cp.async.commit_group, of bulk operations too.
func asyncCommit(w *warp, h int, f *regfile.File, in *code.Instr, m uint32) {
	q := queue(code.AsyncOf(in.Imm))
	for ; m != 0; m &= m - 1 {
		w.cta.async.thread(w.cta, w.tid(32*h+bits.TrailingZeros32(m)&31)).groups[q]++
	}
}

// asyncWait executes cp.async.wait_group and .wait_all, of bulk operations too.
func asyncWait(w *warp, h int, f *regfile.File, in *code.Instr, m uint32) {
	op, c := code.AsyncOf(in.Imm), w.cta
	if c.async.lanes == nil {
		return
	}
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		but := min(f.Src32(in.A)[lane], 1<<30)
		if err := c.await(c.async.thread(c, w.tid(32*h+lane)), op, int(but)); err != nil {
			w.err = err
			return
		}
	}
}

// asyncBulk executes cp.async.bulk and cp.reduce.async.bulk.
func asyncBulk(w *warp, h int, f *regfile.File, in *code.Instr, m uint32) {
	op, masked := code.AsyncOf(in.Imm), in.Op == code.AsyncMasked
	for ; m != 0 && w.err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := w.effect(h, in, lane, op)
		e.to, e.from = f.Src64(in.A)[lane], f.Src64(in.B)[lane]
		mask := uint64(0)
		if masked {
			mask = f.Src64(in.C)[lane]
			e.bytes, mask = mask&math.MaxUint32, mask>>32
		} else {
			e.bytes = uint64(f.Src32(in.C)[lane])
		}
		switch {
		case e.bytes%16 != 0:
			w.badAsync(e, "a size of %d, which is no multiple of 16", e.bytes)
			return
		case op.Tells && e.bytes > mostCount:
			w.badAsync(e, "a size of %d, of which an mbarrier can be told %d", e.bytes, mostCount)
			return
		}
		if op.Tells && !w.tells(h, in, e, op.Told, f.Src64(in.E)[lane], false) {
			return
		}
		if op.Report != code.NoReport && !w.reportsTo(h, in, e) {
			return
		}
		list := []*effect{e}
		switch {
		case op.IgnoreOOB:
			if !w.ignoreEnds(e, mask&0xff, mask>>8) {
				return
			}
		case masked && op.Tells:
			list = w.multicast(e, uint32(mask))
		case masked:
			e.leaves = ^uint16(mask)
		}
		w.issueAll(list)
	}
}

// ignoreEnds leaves bytes at both ends out of a copy, or traps. What is there in shared memory stays.
func (w *warp) ignoreEnds(e *effect, left, right uint64) bool {
	for _, n := range [...]uint64{left, right} {
		if n > 15 {
			w.badAsync(e, "%d bytes to ignore at an end, want 0 to 15", n)
			return false
		}
	}
	for _, addr := range [...]uint64{e.to, e.from} {
		if addr%16 != 0 {
			w.err = e.faulty(&mem.Fault{Kind: ErrMisaligned, Msg: fmt.Sprintf("%v: %s, want a multiple of 16", ErrMisaligned, hexAddr(addr))}, addr)
			return false
		}
	}
	left = min(left, e.bytes)
	e.ignored = min(left+right, e.bytes)
	e.to, e.from, e.bytes = e.to+left, e.from+left, e.bytes-e.ignored
	return true
}

// reportsTo looks whether an effect that reports something tells an mbarrier that can have reports, or
// traps.
func (w *warp) reportsTo(h int, in *code.Instr, e *effect) bool {
	if w.cta.mbarrier(e.told).v1() {
		return true
	}
	w.badMbarrier(h, in, e.lane&31, e.told, "a copy reports to it, which wants .layout::v1")
	return false
}

// asyncCancel executes clusterlaunchcontrol.try_cancel. Which cluster it takes out of the launch is
// settled here, where CTAs take turns; the answer comes as other effects do.
func asyncCancel(w *warp, h int, f *regfile.File, in *code.Instr, m uint32) {
	op := code.AsyncOf(in.Imm)
	for ; m != 0 && w.err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := w.effect(h, in, lane, op)
		e.to, e.bytes = f.Src64(in.A)[lane], uint64(op.Bytes)
		if !w.tells(h, in, e, op.Told, f.Src64(in.B)[lane], true) {
			return
		}
		e.data, e.held = w.cta.grid.cancel(), true
		w.cta.turn = false // the others have theirs before the next
		list := []*effect{e}
		if op.All {
			list = w.multicast(e, 1<<w.cta.grid.size-1)
		}
		w.issueAll(list)
	}
}

// multicast is an effect on shared memory for each of the CTAs of the cluster whose ranks a mask
// has: at the same place of their shared memory, and they tell the mbarrier at the same place. It
// traps for a place that is not in shared memory, and for a rank that the cluster does not have.
func (w *warp) multicast(e *effect, ranks uint32) (list []*effect) {
	if e.op.To == ptx.Shared {
		e.to, e.op.To = e.to+mem.SharedWindow, ptx.Generic
	}
	if !mem.InShared(e.to, w.cta.grid.size) {
		w.err = e.faulty(&mem.Fault{Kind: ErrWrongSpace, Msg: fmt.Sprintf("%s, from where it is copied on to other CTAs, is not in shared memory", hexAddr(e.to))}, e.to)
		return nil
	}
	for ; ranks != 0; ranks &= ranks - 1 {
		rank := bits.TrailingZeros32(ranks)
		if rank >= w.cta.grid.size {
			w.fail(e.src, 1<<e.lane, ErrCTARank, "%v: %d, in a cluster of %s", ErrCTARank, rank, w.cta.grid.teamSize())
			return nil
		}
		to := *e
		to.to, to.told = alongside(e.to, rank), alongside(e.told, rank)
		list = append(list, &to)
	}
	return list
}

// asyncStore executes st.async and red.async.
func asyncStore(w *warp, h int, f *regfile.File, in *code.Instr, m uint32) {
	op := code.AsyncOf(in.Imm)
	for ; m != 0 && w.err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := w.effect(h, in, lane, op)
		e.to, e.bytes, e.held = f.Src64(in.A)[lane], uint64(op.Bytes), true
		for _, word := range [...]uint64{f.Src64(in.C)[lane], f.Src64(in.E)[lane]} {
			for i := 0; i < 8; i++ {
				e.data = append(e.data, byte(word>>(8*i)))
			}
		}
		e.data = e.data[:op.Bytes]
		if !w.tells(h, in, e, op.Told, f.Src64(in.B)[lane], false) {
			return
		}
		if w.places(e) {
			w.issue(e)
		}
	}
}
