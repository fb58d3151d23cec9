package async

// This file emits the events of asynchronous operations: at issue, when an effect reads memory and when it writes memory.

import (
	"math/bits"
	"unsafe"

	"gemu/internal/tensormap"
	"gemu/interp/internal/event"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/matrix"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/native"
	"gemu/probe"
)

// emitEffect emits an event for stages of an effect. The addresses of the effect must be valid.
func emitEffect(e *machine.AsyncEffect, stage machine.EffectStage) {
	c := e.CTA
	if !c.IsSubscribed(probe.OnEffect) || e.PipeOp != nil && e.PipeOp.Access == nil { // a shift accesses only tensor memory
		return
	}
	s := c.Stream
	s.Segments = s.Segments[:0]
	switch {
	case e.Arrives:
	case e.PipeOp != nil:
		pipedSegments(e, stage)
	case e.Tensor != nil:
		tensorSegments(e)
	default:
		plainSegments(e)
	}
	s.Effect = probe.Effect{
		Number: e.Sequence, Issued: stage&machine.StageIssued != 0, Reads: stage&machine.StageReads != 0, Writes: stage&machine.StageWrites != 0, Segments: s.Segments, Reduces: e.Op.Reduces,
		TensorCore: e.PipeOp != nil, Arrives: e.Arrives, Commits: e.Commits, Bulk: e.Op.Bulk, Group: e.Group, FurtherDestination: e.FurtherDestination,
	}
	v := event.NewCTAEvent(s)
	if e.Arrives || e.Op.NotifiesMbarrier {
		s.Effect.Barrier, s.Effect.BarrierOffset = c.CTAAt(e.Mbarrier).SharedMem.Public(), machine.AddressInRank(e.Mbarrier, 0)
		if b := *mbarrierOf(c, e.Mbarrier); s.Effect.Writes && b.valid() {
			after, bad := notify(e, b)
			s.EffectUse[0] = probe.MbarrierUse{Kind: probe.MbarrierChange, Lanes: 1 << e.Lane, Address: e.Mbarrier, Completes: bad == "" && after.phase() != b.phase()}
			v.Mbarriers = s.EffectUse[:]
		}
	}
	v.Warp, v.Active, v.Lanes, v.Effect = e.Warp, e.Active, 1<<e.Lane, &s.Effect
	v.Instr, v.Func, v.Index = e.Src.Instr, e.Src.Func.Func, int(e.Src.Index)
	event.Emit(s, v, probe.OnEffect)
}

// receivesCopies reports whether all subscribers to effects receive the copies of a warp's lanes together.
func receivesCopies(c *machine.CTA) bool {
	if len(c.Warps[0].Files) != 1 {
		return false
	}
	for i := range c.Stream.Sinks {
		if l := &c.Stream.Sinks[i]; l.Subscription.Events&probe.OnEffect != 0 {
			if _, ok := l.Sink.(probe.CopyReceiver); !ok {
				return false
			}
		}
	}
	return true
}

// canEmitCopies reports whether emitCopies can emit the pending copies of a list in the lanes of m.
func canEmitCopies(c *machine.CTA, list []int32, m uint32) bool {
	for _, i := range list {
		if p := c.AsyncState.Objects[i]; p.Lanes != p.Issued || p.Issued&^m != 0 || !haveSeparateTargets(p) {
			return false
		}
	}
	return receivesCopies(c)
}

// haveSeparateTargets reports whether the issued lanes write separate bytes, as far as a set of targets near each other tells.
// The memory of p must be located.
func haveSeparateTargets(p *native.WarpCopy) bool {
	if p.IsContiguous {
		return true
	}
	var written [64]uint64
	for m := p.Issued; m != 0; m &= m - 1 {
		i := (p.To[bits.TrailingZeros32(m)&31] - p.To[bits.TrailingZeros32(p.Issued)&31]) / uint64(p.Size) % (64 * 64)
		if written[i/64]>>(i%64)&1 != 0 {
			return false // perhaps not the same target
		}
		written[i/64] |= 1 << (i % 64)
	}
	return true
}

// emitCopies emits the issue of the copies of p, whose Group and Sequence are set, or the moment before they read and write. At the
// issue it may return false without an effect, if an event for each lane is necessary.
func emitCopies(c *machine.CTA, p *native.WarpCopy, issued bool) bool {
	if issued && (!p.IsLocated || !haveSeparateTargets(p) || !receivesCopies(c)) {
		return false
	}
	s := c.Stream
	x := &s.Copies
	x.Number, x.Issued, x.Group, x.Bytes, x.To, x.From = p.Sequence, issued, int(p.Group), int(p.Size), c.SharedMem.Public(), nil
	source := sourceOf(c, p)
	if p.Reads != 0 {
		x.From = source.Public()
	}
	toBase, fromBase := c.SharedMem.Base-probe.SharedWindow, source.Base
	for i := range x.ToOffset {
		to, from := addressesOf(p, i)
		x.ToOffset[i], x.FromOffset[i], x.Read[i] = to-toBase, from-fromBase, uint8(bytesOf(p, i))
	}
	v := event.NewCTAEvent(s)
	v.Warp, v.Active, v.Lanes, v.Kind = int(p.Warp), p.Active, uint64(p.Issued), probe.OnEffect
	src := &c.Code.Sources[p.Src]
	v.Instr, v.Func, v.Index = src.Instr, src.Func.Func, int(src.Index)
	x.Event = v
	for i := range s.Sinks {
		if l := &s.Sinks[i]; l.Subscription.Events&probe.OnEffect != 0 {
			s.Current = i
			l.Sink.(probe.CopyReceiver).OnCopies(x)
		}
	}
	return true
}

// pipedSegments lists the reads of a tensor-core operation from shared memory, in one CTA or in both CTAs of a pair. If a
// commit has made a multiplication read its matrix A earlier, only matrix B is listed when the multiplication executes.
func pipedSegments(e *machine.AsyncEffect, stage machine.EffectStage) {
	p := e.PipeOp
	ctas, _ := ctasOf(e.CTA, p.Pair)
	for _, c := range ctas {
		read := func(addr uint64, n int) { addReadSegment(e.CTA.Stream, c, addr, n) }
		if p.Product != nil {
			p.Product.Reads(&p.Operands, e.FactorA == nil, stage != machine.StageReads, read)
		} else {
			place, _ := p.From.Placement()
			p.Access.Copy.Reads(place, read)
		}
	}
}

// addReadSegment adds n bytes of a CTA's shared memory to the read segments. If they follow the last segment, it extends
// this segment.
func addReadSegment(s *machine.EventStream, c *machine.CTA, addr uint64, n int) {
	if k := len(s.Segments); k > 0 {
		if p := &s.Segments[k-1]; p.From == c.SharedMem.Public() && p.FromOffset+uint64(p.Read) == addr {
			p.Read += n
			return
		}
	}
	s.Segments = append(s.Segments, probe.Segment{From: c.SharedMem.Public(), FromOffset: addr, Read: n})
}

// emitProduct emits an event for stages of a multiplication by wgmma, for warp i of the warpgroup.
func emitProduct(c *machine.CTA, i int, p *machine.PendingProduct, stage machine.EffectStage) {
	if !c.IsSubscribed(probe.OnEffect) {
		return
	}
	s, frags := c.Stream, &c.Code.Fragments[p.Side]
	read := func(addr uint64, n int) { addReadSegment(s, c, addr, n) }
	s.Segments = s.Segments[:0]
	if len(frags.A) == 0 {
		frags.Wgmma.SharedA.Reads(p.A.Placement(), i*matrix.WarpRows, matrix.WarpRows, read)
	}
	frags.Wgmma.SharedB.Reads(p.B.Placement(), 0, frags.Wgmma.N, read)
	s.Effect = probe.Effect{Number: p.Sequence, Issued: stage&machine.StageIssued != 0, Reads: stage&machine.StageReads != 0, Writes: stage&machine.StageWrites != 0, Segments: s.Segments, TensorCore: true, Group: p.Group}
	v := event.NewCTAEvent(s)
	v.Warp, v.Active, v.Lanes, v.Depth, v.Effect = p.Warp, p.Active, p.Active&-p.Active, p.Depth, &s.Effect
	s.EventPlace.Warp = &c.Warps[p.Warp]
	v.Instr, v.Func, v.Index = p.Source.Instr, p.Source.Func.Func, int(p.Source.Index)
	if stage&machine.StageWrites != 0 {
		s.ValueBuffer = event.ReadResults(s.EventPlace.Warp, s.ValueBuffer, p.Source, p.Source.Writes)
		v.Writes = s.ValueBuffer
	}
	event.Emit(s, v, probe.OnEffect)
}

// offset returns the offset in bytes of a slice in its allocation.
func offset(alloc *mem.Allocation, data []byte) uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(data))) - uintptr(alloc.Ptr))
}

// plainSegments lists the segments of an effect without a tensor map.
func plainSegments(e *machine.AsyncEffect) {
	c, s := e.CTA, e.CTA.Stream
	to, data, fault := c.RegionOf(e.Op.To, probe.AccessStore, e.To, e.Bytes+e.Fill, e.Align())
	if fault != nil || to == nil {
		return
	}
	whole := probe.Segment{To: to.Public(), ToOffset: offset(to, data), Bytes: int(e.Bytes)}
	if !e.Persistent {
		if alloc, data, fault := c.RegionOf(e.Op.From, probe.AccessLoad, e.From, e.Bytes, e.Align()); fault == nil && alloc != nil {
			whole.From, whole.FromOffset = alloc.Public(), offset(alloc, data)
		}
	}
	addSegment := func(addr, n uint64) {
		p := whole
		p.ToOffset, p.FromOffset, p.Bytes, p.Read = p.ToOffset+addr, p.FromOffset+addr, int(n), int(n)
		if e.Data != nil {
			p.Data = e.Data[addr:][:n]
		}
		if p.From == nil {
			p.Read = 0
		}
		s.Segments = append(s.Segments, p)
	}
	switch {
	case e.Unwritten == 0 && e.Bytes > 0:
		addSegment(0, e.Bytes)
	case e.Unwritten != 0:
		for i := uint64(0); i < e.Bytes; {
			n := i
			for n < e.Bytes && e.Unwritten>>(n%16)&1 == 0 {
				n++
			}
			if n > i {
				addSegment(i, n-i)
			}
			i = n + 1
		}
	}
	if e.Fill > 0 {
		s.Segments = append(s.Segments, probe.Segment{To: to.Public(), ToOffset: offset(to, data) + e.Bytes, Bytes: int(e.Fill), Zeros: true})
	}
}

// tensorSegments lists the segments of a tensor copy. It lists none if the tensor map is no longer valid for the copy.
func tensorSegments(e *machine.AsyncEffect) {
	c, s, t := e.CTA, e.CTA.Stream, e.Tensor
	m := t.Map
	if m == nil {
		var err error
		if m, err = tensorMapOf(e); err != nil {
			return
		}
	}
	kind, space, addr := probe.AccessStore, e.Op.To, sharedAddressOf(e)
	if t.Copy.Store {
		kind, space = probe.AccessLoad, e.Op.From
	}
	box, data, fault := c.RegionOf(space, kind, addr, m.Span(&t.Copy), tensormap.SharedAlign)
	if fault != nil || box == nil {
		return
	}
	first, rest := offset(box, data), e.Data
	kind = probe.AccessLoad
	if t.Copy.Store {
		kind = probe.AccessStore
	}
	r := sharedView(c, kind)
	m.Walk(&t.Copy, addr, func(p tensormap.Segment) bool {
		boxOffset := first + p.Shared - addr
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
		case !t.Copy.Store && !p.Inside:
			segment.Read, segment.Zeros = 0, true
			fallthrough
		case !t.Copy.Store:
			segment.To, segment.ToOffset = box.Public(), boxOffset
		case !p.Inside:
			return true
		default:
			segment.To, segment.ToOffset, segment.From, segment.FromOffset = segment.From, segment.FromOffset, box.Public(), boxOffset
			if m.Type == tensormap.B6x16P32 {
				segment.Read = 16
			}
		}
		s.Segments = append(s.Segments, segment)
		return true
	})
}
