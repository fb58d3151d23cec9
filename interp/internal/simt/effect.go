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

	Pieces  []Piece // of memory, in the order of what is written
	Reduces bool    // what is read is combined with what is there, and not copied

	// Matrices is that it is of tensor cores (wgmma.mma_async, tcgen05.mma, tcgen05.cp): it reads
	// matrices in shared memory, and what it writes, registers and tensor memory, are no Pieces.
	// Each warp of a warpgroup has effects of its own, of its first lane; as they write, the event's
	// Active are those whose registers have got Event.Writes.
	Matrices bool

	// Barrier is the shared memory with the mbarrier that is told, and BarrierOff where; nil if none
	// is. Arrives is that it does nothing else. Commits is that it is tcgen05.commit,
	// which tells the mbarrier that what its thread has issued to tensor cores before has happened.
	Barrier    *mem.Allocation
	BarrierOff uint64
	Arrives    bool
	Commits    bool
	Bulk       bool // it is of the asynchronous proxy, and of its groups
	Group      int  // the groups of its thread and kind committed before
}

// Piece is bytes of an effect that lie together.
type Piece struct {
	To      *mem.Allocation // nil if it is of Matrices
	ToOff   uint64
	From    *mem.Allocation // nil if they come from registers or the machine, or are fillers: Fill
	FromOff uint64
	Bytes   int // written
	Read    int // read; other than Bytes only of elements of 6 bits, which are packed
	Fill    bool

	// Data is what is written, or combined with what is there, as that happens. Of fillers nothing
	// stands for zeros.
	Data []byte
}

// moment is a set of what can happen to an effect.
type moment uint8

const (
	issued moment = 1 << iota
	reads
	writes
)

// inform tells probes of the effect, whose places have been found to be right.
func (e *effect) inform(now moment) {
	c := e.cta
	if !c.hears(OnEffect) || e.piped != nil && e.piped.access == nil { // a shift has to do with tensor memory only
		return
	}
	s := c.stream
	s.pieces = s.pieces[:0]
	switch {
	case e.arrives:
	case e.piped != nil:
		e.pipedPieces(now)
	case e.tensor != nil:
		e.tensorPieces()
	default:
		e.plainPieces()
	}
	s.effect = Effect{
		Number: e.seq, Issued: now&issued != 0, Reads: now&reads != 0, Writes: now&writes != 0, Pieces: s.pieces, Reduces: e.op.Reduces,
		Matrices: e.piped != nil, Arrives: e.arrives, Commits: e.commits, Bulk: e.op.Bulk, Group: e.group,
	}
	if e.arrives || e.op.Tells {
		s.effect.Barrier, s.effect.BarrierOff = c.holder(e.told).sharedMem, alongside(e.told, 0)
	}
	v := s.none()
	v.Warp, v.Active, v.Lanes, v.Effect = e.warp, e.active, 1<<e.lane, &s.effect
	v.Instr, v.Func, v.Index = e.src.Instr, e.src.Func.Func, int(e.src.Index)
	s.tell(v, OnEffect)
}

// pipedPieces lists what an operation of tensor cores reads, in one or both CTAs of a pair. A multiplication whose
// matrix A a commit has had read reads that before B.
func (e *effect) pipedPieces(now moment) {
	p := e.piped
	ctas, _ := e.cta.pairOf(p.pair)
	for _, c := range ctas {
		read := func(addr uint64, n int) { e.cta.stream.reading(c, addr, n) }
		if p.product != nil {
			p.product.Reads(&p.operands, e.factorA == nil, now != reads, read)
		} else {
			place, _ := p.from.Placement()
			p.access.Copy.Reads(place, read)
		}
	}
}

// reading adds bytes of a CTA's shared memory to the pieces that are read, if need be.
func (s *stream) reading(c *cta, addr uint64, n int) {
	if k := len(s.pieces); k > 0 {
		if p := &s.pieces[k-1]; p.From == c.sharedMem && p.FromOff+uint64(p.Read) == addr {
			p.Read += n
			return
		}
	}
	s.pieces = append(s.pieces, Piece{From: c.sharedMem, FromOff: addr, Read: n})
}

// informProduct tells probes of a multiplication of a warpgroup, for warp i of it.
func (c *cta) informProduct(i int, p *product, now moment) {
	if !c.hears(OnEffect) {
		return
	}
	s, o := c.stream, &c.code.Fragments[p.side]
	read := func(addr uint64, n int) { s.reading(c, addr, n) }
	s.pieces = s.pieces[:0]
	if len(o.A) == 0 {
		o.Wgmma.From.Reads(p.a.Placement(), i*matrix.WarpRows, matrix.WarpRows, read)
	}
	o.Wgmma.To.Reads(p.b.Placement(), 0, o.Wgmma.N, read)
	s.effect = Effect{Number: p.seq, Issued: now&issued != 0, Reads: now&reads != 0, Writes: now&writes != 0, Pieces: s.pieces, Matrices: true, Group: p.group}
	v := s.none()
	v.Warp, v.Active, v.Lanes, v.Depth, v.Effect, v.warp = p.warp, p.active, p.active&-p.active, p.depth, &s.effect, &c.warps[p.warp]
	v.Instr, v.Func, v.Index = p.src.Instr, p.src.Func.Func, int(p.src.Index)
	if now&writes != 0 {
		s.values = v.warp.registers(s.values, p.src, p.src.Writes)
		v.Writes = s.values
	}
	s.tell(v, OnEffect)
}

// offset is where a slice of an allocation begins in it.
func offset(in *mem.Allocation, data []byte) uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(data))) - uintptr(in.Ptr))
}

// plainPieces lists the pieces of a copy of bytes.
func (e *effect) plainPieces() {
	c, s := e.cta, e.cta.stream
	to, data, fault := c.region(e.op.To, mem.Store, e.to, e.bytes+e.fill, e.align())
	if fault != nil || to == nil {
		return
	}
	whole := Piece{To: to, ToOff: offset(to, data), Bytes: int(e.bytes)}
	if !e.held {
		if in, data, fault := c.region(e.op.From, mem.Load, e.from, e.bytes, e.align()); fault == nil && in != nil {
			whole.From, whole.FromOff = in, offset(in, data)
		}
	}
	part := func(at, n uint64) {
		p := whole
		p.ToOff, p.FromOff, p.Bytes, p.Read = p.ToOff+at, p.FromOff+at, int(n), int(n)
		if e.data != nil {
			p.Data = e.data[at:][:n]
		}
		if p.From == nil {
			p.Read = 0
		}
		s.pieces = append(s.pieces, p)
	}
	switch {
	case e.leaves == 0 && e.bytes > 0:
		part(0, e.bytes)
	case e.leaves != 0:
		for i := uint64(0); i < e.bytes; {
			n := i
			for n < e.bytes && e.leaves>>(n%16)&1 == 0 {
				n++
			}
			if n > i {
				part(i, n-i)
			}
			i = n + 1
		}
	}
	if e.fill > 0 {
		s.pieces = append(s.pieces, Piece{To: to, ToOff: offset(to, data) + e.bytes, Bytes: int(e.fill), Fill: true})
	}
}

// tensorPieces lists the pieces of a copy of a box; none if its map has changed and does not fit any more.
func (e *effect) tensorPieces() {
	c, s, t := e.cta, e.cta.stream, e.tensor
	m := t.m
	if m == nil {
		var err error
		if m, err = e.mapOf(); err != nil {
			return
		}
	}
	kind, space, at := mem.Store, e.op.To, e.shared()
	if t.copy.Store {
		kind, space = mem.Load, e.op.From
	}
	box, data, fault := c.region(space, kind, at, m.Room(&t.copy), tensormap.SharedAlign)
	if fault != nil || box == nil {
		return
	}
	first, rest := offset(box, data), e.data
	kind = mem.Load
	if t.copy.Store {
		kind = mem.Store
	}
	r := c.reach(kind)
	m.Walk(&t.copy, at, func(p tensormap.Piece) bool {
		in := first + p.Shared - at
		piece := Piece{Bytes: p.Bytes, Read: p.Bytes}
		if len(rest) >= p.Bytes {
			piece.Data, rest = rest[:p.Bytes], rest[p.Bytes:]
		}
		if p.Inside {
			data, fault := r.bytes(&p)
			if fault != nil {
				return false
			}
			piece.From, piece.FromOff = r.alloc, offset(r.alloc, data)
		}
		switch {
		case !t.copy.Store && !p.Inside:
			piece.Read, piece.Fill = 0, true
			fallthrough
		case !t.copy.Store:
			piece.To, piece.ToOff = box, in
		case !p.Inside:
			return true
		default:
			piece.To, piece.ToOff, piece.From, piece.FromOff = piece.From, piece.FromOff, box, in
			if m.Type == tensormap.B6x16P32 {
				piece.Read = 16
			}
		}
		s.pieces = append(s.pieces, piece)
		return true
	})
}
