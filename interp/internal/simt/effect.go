package simt

// This file tells probes of asynchronous operations: as they are issued, as their effects read
// memory, and as they write it.

import (
	"unsafe"

	"gemu/internal/tensormap"
	"gemu/interp/internal/matrix"
	"gemu/interp/internal/mem"
)

// Effect is what an asynchronous operation (cp.async, cp.async.bulk, copies of tensors, st.async,
// red.async, clusterlaunchcontrol.try_cancel, operations of tensor cores, and cp.async.mbarrier.arrive, which copies nothing) has
// or will have done, for the thread that has issued it. With multicast each of the CTAs that get it
// has an effect of its own.
type Effect struct {
	Number int64 // which of those that the event's CTA has issued: what is told of one has the same

	// What happens to it now: first it is issued, as part of its instruction, then it reads what
	// it reads and writes what it writes, mostly at once. One whose source wait_group.read has
	// waited for reads before it writes; one that copies registers reads nothing and only writes.
	Issued, Reads, Writes bool

	Segments []Segment // of memory, in the order of what is written
	Reduces  bool      // what is read is combined with what is there, and not copied

	// TensorCore is that it is of tensor cores (wgmma.mma_async, tcgen05.mma, tcgen05.cp): it reads
	// matrices in shared memory, and what it writes, registers and tensor memory, are no Pieces.
	// Each warp of a warpgroup has effects of its own, of its first lane; as they write, the event's
	// Active are those whose registers have got Event.Writes.
	TensorCore bool

	// Barrier is the shared memory with the mbarrier that is told, and BarrierOffset where; nil if none
	// is. Arrives is that it does nothing else. Commits is that it is tcgen05.commit,
	// which tells the mbarrier that what its thread has issued to tensor cores before has happened.
	Barrier       *mem.Allocation
	BarrierOffset uint64
	Arrives       bool
	Commits       bool
	Bulk          bool // it is of the asynchronous proxy, and of its groups
	Group         int  // the groups of its thread and kind committed before
}

// Segment is bytes of an effect that lie together.
type Segment struct {
	To         *mem.Allocation // nil if it is of Matrices
	ToOffset   uint64
	From       *mem.Allocation // nil if they come from registers or the machine, or are fillers: Fill
	FromOffset uint64
	Bytes      int // written
	Read       int // read; other than Bytes only of elements of 6 bits, which are packed
	Zeros      bool

	// Data is what is written, or combined with what is there, as that happens. Of fillers nothing
	// stands for zeros.
	Data []byte
}

// effectStage is a set of what can happen to an effect.
type effectStage uint8

const (
	stageIssued effectStage = 1 << iota
	stageReads
	stageWrites
)

// emit tells probes of the effect, whose places have been found to be right.
func (e *effect) emit(stage effectStage) {
	c := e.cta
	if !c.isSubscribed(OnEffect) || e.pipeOp != nil && e.pipeOp.access == nil { // a shift has to do with tensor memory only
		return
	}
	s := c.stream
	s.segments = s.segments[:0]
	switch {
	case e.arrives:
	case e.pipeOp != nil:
		e.pipedSegments(stage)
	case e.tensor != nil:
		e.tensorSegments()
	default:
		e.plainSegments()
	}
	s.effect = Effect{
		Number: e.seq, Issued: stage&stageIssued != 0, Reads: stage&stageReads != 0, Writes: stage&stageWrites != 0, Segments: s.segments, Reduces: e.op.Reduces,
		TensorCore: e.pipeOp != nil, Arrives: e.arrives, Commits: e.commits, Bulk: e.op.Bulk, Group: e.group,
	}
	if e.arrives || e.op.NotifiesMbarrier {
		s.effect.Barrier, s.effect.BarrierOffset = c.ctaAt(e.mbarrier).sharedMem, addressInRank(e.mbarrier, 0)
	}
	v := s.newCTAEvent()
	v.Warp, v.Active, v.Lanes, v.Effect = e.warp, e.active, 1<<e.lane, &s.effect
	v.Instr, v.Func, v.Index = e.src.Instr, e.src.Func.Func, int(e.src.Index)
	s.emit(v, OnEffect)
}

// pipedSegments lists what an operation of tensor cores reads, in one or both CTAs of a pair. A multiplication whose
// matrix A a commit has had read reads that before B.
func (e *effect) pipedSegments(stage effectStage) {
	p := e.pipeOp
	ctas, _ := e.cta.pairOf(p.pair)
	for _, c := range ctas {
		read := func(addr uint64, n int) { e.cta.stream.addRead(c, addr, n) }
		if p.product != nil {
			p.product.Reads(&p.operands, e.factorA == nil, stage != stageReads, read)
		} else {
			place, _ := p.from.Placement()
			p.access.Copy.Reads(place, read)
		}
	}
}

// addRead adds bytes of a CTA's shared memory to the pieces that are read, if need be.
func (s *eventStream) addRead(c *cta, addr uint64, n int) {
	if k := len(s.segments); k > 0 {
		if p := &s.segments[k-1]; p.From == c.sharedMem && p.FromOffset+uint64(p.Read) == addr {
			p.Read += n
			return
		}
	}
	s.segments = append(s.segments, Segment{From: c.sharedMem, FromOffset: addr, Read: n})
}

// emitProduct tells probes of a multiplication of a warpgroup, for warp i of it.
func (c *cta) emitProduct(i int, p *pendingProduct, stage effectStage) {
	if !c.isSubscribed(OnEffect) {
		return
	}
	s, frags := c.stream, &c.code.Fragments[p.side]
	read := func(addr uint64, n int) { s.addRead(c, addr, n) }
	s.segments = s.segments[:0]
	if len(frags.A) == 0 {
		frags.Wgmma.SharedA.Reads(p.a.Placement(), i*matrix.WarpRows, matrix.WarpRows, read)
	}
	frags.Wgmma.SharedB.Reads(p.b.Placement(), 0, frags.Wgmma.N, read)
	s.effect = Effect{Number: p.seq, Issued: stage&stageIssued != 0, Reads: stage&stageReads != 0, Writes: stage&stageWrites != 0, Segments: s.segments, TensorCore: true, Group: p.group}
	v := s.newCTAEvent()
	v.Warp, v.Active, v.Lanes, v.Depth, v.Effect, v.warp = p.warp, p.active, p.active&-p.active, p.depth, &s.effect, &c.warps[p.warp]
	v.Instr, v.Func, v.Index = p.source.Instr, p.source.Func.Func, int(p.source.Index)
	if stage&stageWrites != 0 {
		s.valueBuffer = v.warp.registers(s.valueBuffer, p.source, p.source.Writes)
		v.Writes = s.valueBuffer
	}
	s.emit(v, OnEffect)
}

// offset is where a slice of an allocation begins in it.
func offset(alloc *mem.Allocation, data []byte) uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(data))) - uintptr(alloc.Ptr))
}

// plainSegments lists the pieces of a copy of bytes.
func (e *effect) plainSegments() {
	c, s := e.cta, e.cta.stream
	to, data, fault := c.region(e.op.To, mem.Store, e.to, e.bytes+e.fill, e.align())
	if fault != nil || to == nil {
		return
	}
	whole := Segment{To: to, ToOffset: offset(to, data), Bytes: int(e.bytes)}
	if !e.persistent {
		if alloc, data, fault := c.region(e.op.From, mem.Load, e.from, e.bytes, e.align()); fault == nil && alloc != nil {
			whole.From, whole.FromOffset = alloc, offset(alloc, data)
		}
	}
	addSegment := func(addr, n uint64) {
		p := whole
		p.ToOffset, p.FromOffset, p.Bytes, p.Read = p.ToOffset+addr, p.FromOffset+addr, int(n), int(n)
		if e.data != nil {
			p.Data = e.data[addr:][:n]
		}
		if p.From == nil {
			p.Read = 0
		}
		s.segments = append(s.segments, p)
	}
	switch {
	case e.unwritten == 0 && e.bytes > 0:
		addSegment(0, e.bytes)
	case e.unwritten != 0:
		for i := uint64(0); i < e.bytes; {
			n := i
			for n < e.bytes && e.unwritten>>(n%16)&1 == 0 {
				n++
			}
			if n > i {
				addSegment(i, n-i)
			}
			i = n + 1
		}
	}
	if e.fill > 0 {
		s.segments = append(s.segments, Segment{To: to, ToOffset: offset(to, data) + e.bytes, Bytes: int(e.fill), Zeros: true})
	}
}

// tensorSegments lists the pieces of a copy of a box; none if its map has changed and does not fit any more.
func (e *effect) tensorSegments() {
	c, s, t := e.cta, e.cta.stream, e.tensor
	m := t.m
	if m == nil {
		var err error
		if m, err = e.mapOf(); err != nil {
			return
		}
	}
	kind, space, addr := mem.Store, e.op.To, e.shared()
	if t.copy.Store {
		kind, space = mem.Load, e.op.From
	}
	box, data, fault := c.region(space, kind, addr, m.Span(&t.copy), tensormap.SharedAlign)
	if fault != nil || box == nil {
		return
	}
	first, rest := offset(box, data), e.data
	kind = mem.Load
	if t.copy.Store {
		kind = mem.Store
	}
	r := c.view(kind)
	m.Walk(&t.copy, addr, func(p tensormap.Segment) bool {
		in := first + p.Shared - addr
		segment := Segment{Bytes: p.Bytes, Read: p.Bytes}
		if len(rest) >= p.Bytes {
			segment.Data, rest = rest[:p.Bytes], rest[p.Bytes:]
		}
		if p.Inside {
			data, fault := r.bytes(&p)
			if fault != nil {
				return false
			}
			segment.From, segment.FromOffset = r.alloc, offset(r.alloc, data)
		}
		switch {
		case !t.copy.Store && !p.Inside:
			segment.Read, segment.Zeros = 0, true
			fallthrough
		case !t.copy.Store:
			segment.To, segment.ToOffset = box, in
		case !p.Inside:
			return true
		default:
			segment.To, segment.ToOffset, segment.From, segment.FromOffset = segment.From, segment.FromOffset, box, in
			if m.Type == tensormap.B6x16P32 {
				segment.Read = 16
			}
		}
		s.segments = append(s.segments, segment)
		return true
	})
}
