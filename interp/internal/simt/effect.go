package simt

// This file tells probes of asynchronous operations: as they are issued, as their effects read
// memory, and as they write it.

import (
	"unsafe"

	"gemu/internal/tensormap"
	"gemu/interp/internal/matrix"
	"gemu/interp/internal/mem"
	"gemu/probe"
)

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
	if !c.isSubscribed(probe.OnEffect) || e.pipeOp != nil && e.pipeOp.access == nil { // a shift has to do with tensor memory only
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
	s.effect = probe.Effect{
		Number: e.seq, Issued: stage&stageIssued != 0, Reads: stage&stageReads != 0, Writes: stage&stageWrites != 0, Segments: s.segments, Reduces: e.op.Reduces,
		TensorCore: e.pipeOp != nil, Arrives: e.arrives, Commits: e.commits, Bulk: e.op.Bulk, Group: e.group,
	}
	if e.arrives || e.op.NotifiesMbarrier {
		s.effect.Barrier, s.effect.BarrierOffset = c.ctaAt(e.mbarrier).sharedMem.Public(), addressInRank(e.mbarrier, 0)
	}
	v := s.newCTAEvent()
	v.Warp, v.Active, v.Lanes, v.Effect = e.warp, e.active, 1<<e.lane, &s.effect
	v.Instr, v.Func, v.Index = e.src.Instr, e.src.Func.Func, int(e.src.Index)
	s.emit(v, probe.OnEffect)
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
		if p := &s.segments[k-1]; p.From == c.sharedMem.Public() && p.FromOffset+uint64(p.Read) == addr {
			p.Read += n
			return
		}
	}
	s.segments = append(s.segments, probe.Segment{From: c.sharedMem.Public(), FromOffset: addr, Read: n})
}

// emitProduct tells probes of a multiplication of a warpgroup, for warp i of it.
func (c *cta) emitProduct(i int, p *pendingProduct, stage effectStage) {
	if !c.isSubscribed(probe.OnEffect) {
		return
	}
	s, frags := c.stream, &c.code.Fragments[p.side]
	read := func(addr uint64, n int) { s.addRead(c, addr, n) }
	s.segments = s.segments[:0]
	if len(frags.A) == 0 {
		frags.Wgmma.SharedA.Reads(p.a.Placement(), i*matrix.WarpRows, matrix.WarpRows, read)
	}
	frags.Wgmma.SharedB.Reads(p.b.Placement(), 0, frags.Wgmma.N, read)
	s.effect = probe.Effect{Number: p.seq, Issued: stage&stageIssued != 0, Reads: stage&stageReads != 0, Writes: stage&stageWrites != 0, Segments: s.segments, TensorCore: true, Group: p.group}
	v := s.newCTAEvent()
	v.Warp, v.Active, v.Lanes, v.Depth, v.Effect = p.warp, p.active, p.active&-p.active, p.depth, &s.effect
	s.eventPlace.warp = &c.warps[p.warp]
	v.Instr, v.Func, v.Index = p.source.Instr, p.source.Func.Func, int(p.source.Index)
	if stage&stageWrites != 0 {
		s.valueBuffer = s.eventPlace.warp.registers(s.valueBuffer, p.source, p.source.Writes)
		v.Writes = s.valueBuffer
	}
	s.emit(v, probe.OnEffect)
}

// offset is where a slice of an allocation begins in it.
func offset(alloc *mem.Allocation, data []byte) uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(data))) - uintptr(alloc.Ptr))
}

// plainSegments lists the pieces of a copy of bytes.
func (e *effect) plainSegments() {
	c, s := e.cta, e.cta.stream
	to, data, fault := c.region(e.op.To, probe.AccessStore, e.to, e.bytes+e.fill, e.align())
	if fault != nil || to == nil {
		return
	}
	whole := probe.Segment{To: to.Public(), ToOffset: offset(to, data), Bytes: int(e.bytes)}
	if !e.persistent {
		if alloc, data, fault := c.region(e.op.From, probe.AccessLoad, e.from, e.bytes, e.align()); fault == nil && alloc != nil {
			whole.From, whole.FromOffset = alloc.Public(), offset(alloc, data)
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
		s.segments = append(s.segments, probe.Segment{To: to.Public(), ToOffset: offset(to, data) + e.bytes, Bytes: int(e.fill), Zeros: true})
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
	kind, space, addr := probe.AccessStore, e.op.To, e.shared()
	if t.copy.Store {
		kind, space = probe.AccessLoad, e.op.From
	}
	box, data, fault := c.region(space, kind, addr, m.Span(&t.copy), tensormap.SharedAlign)
	if fault != nil || box == nil {
		return
	}
	first, rest := offset(box, data), e.data
	kind = probe.AccessLoad
	if t.copy.Store {
		kind = probe.AccessStore
	}
	r := c.view(kind)
	m.Walk(&t.copy, addr, func(p tensormap.Segment) bool {
		in := first + p.Shared - addr
		segment := probe.Segment{Bytes: p.Bytes, Read: p.Bytes}
		if len(rest) >= p.Bytes {
			segment.Data, rest = rest[:p.Bytes], rest[p.Bytes:]
		}
		if p.Inside {
			data, fault := r.bytes(&p)
			if fault != nil {
				return false
			}
			segment.From, segment.FromOffset = r.alloc.Public(), offset(r.alloc, data)
		}
		switch {
		case !t.copy.Store && !p.Inside:
			segment.Read, segment.Zeros = 0, true
			fallthrough
		case !t.copy.Store:
			segment.To, segment.ToOffset = box.Public(), in
		case !p.Inside:
			return true
		default:
			segment.To, segment.ToOffset, segment.From, segment.FromOffset = segment.From, segment.FromOffset, box.Public(), in
			if m.Type == tensormap.B6x16P32 {
				segment.Read = 16
			}
		}
		s.segments = append(s.segments, segment)
		return true
	})
}
