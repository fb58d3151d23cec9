package simt

// This file brings the events of a CTA to those who want them.

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// stream is the events of a CTA. There is none where nobody wants to know.
type stream struct {
	cta   *cta
	sinks []listener
	wants Wants // of all of them

	unions  []union // by which sinks have eased a warp, what any of them is told of instructions
	eased   uint64  // as warp.eased, when the instruction began that is told of
	telling int     // the sink that is told

	step     Event    // of an instruction, before and after
	accesses []Access // room for those of step
	texels   []Texel
	reads    []Value
	writes   []Value
	rows     []code.Row // and for those of its operations
	event    Event      // of anything else
	ways     []Way
	before   []listener // room for the sinks of the CTA before
	values   []Value    // room for those of event
	effect   Effect     // of event
	pieces   []Piece    // room for those of effect

	expanded Value

	stop error // the launch is to end with it
}

// listener is a sink, and what the probe that it is of wants.
type listener struct {
	Sink
	wants  Wants
	of     *watcher // the probe
	chosen []Events // what it is told of instructions; nil: all
	eased  []Events // … of warps that it has eased; nil: it eases none
}

// mostEasers is how many sinks of a CTA may ease warps: the first.
const mostEasers = 64

// union is what somebody is told of instructions in warps that these sinks have eased.
type union struct {
	by     uint64
	chosen []Events // nil: all
	next   []int32  // by instruction, the first from it on of which somebody is told something
	room   []Events
}

// watcher is a probe, and what it wants.
type watcher struct {
	Probe
	wants Wants
}

// tell tells the probes of something that is no CTA's.
func (g *Grid) tell(kind Events, err error) {
	for _, p := range g.probes {
		if p.wants.Events&kind != 0 {
			t, _ := err.(*Trap)
			p.Tell(&Event{Kind: kind, Launch: g.info, CTA: -1, Warp: -1, Index: -1, Meet: -1, Trap: t, Err: err})
		}
	}
}

// Tell tells the device's probes what the host does to memory.
func (d *Device) Tell(kind Events, a *mem.Allocation, off uint64, bytes int, order *Order) {
	for _, p := range d.Probes {
		if p.Wants().Events&kind != 0 {
			p.Tell(&Event{Kind: kind, CTA: -1, Warp: -1, Index: -1, Meet: -1, Memory: a, Offset: off, Bytes: bytes, Order: order})
		}
	}
}

// tell tells all who want to know.
func (s *stream) tell(e *Event, kind Events) {
	e.Kind = kind
	for i := range s.sinks {
		l := &s.sinks[i]
		if l.wants.Events&kind == 0 {
			continue
		}
		if kind&chosenKinds != 0 {
			if list := l.list(i, s.eased); list != nil && list[e.Index]&kind == 0 {
				continue
			}
		}
		s.telling = i
		l.Tell(e)
	}
}

// watch asks the probes of the launch who wants to know of the CTA that begins.
func (c *cta) watch() {
	c.stream = nil
	if len(c.grid.probes) == 0 {
		return
	}
	s := c.room
	if s == nil {
		s = &stream{cta: c}
		c.room = s
	}
	before := append(s.before[:0], s.sinks...)
	s.sinks, s.wants, s.stop = s.sinks[:0], Wants{}, nil
	same := true // as in the CTA before
	for i := range c.grid.probes {
		p := &c.grid.probes[i]
		if sink := p.CTA(c.grid.info, c.index, c.id); sink != nil {
			n := len(s.sinks)
			s.sinks = append(s.sinks, listener{Sink: sink, wants: p.wants, of: p})
			s.ask(n)
			s.wants = s.wants.with(p.wants)
			same = same && n < len(before) && before[n].alike(&s.sinks[n])
		}
	}
	if !same || len(before) != len(s.sinks) {
		s.unions = s.unions[:0]
	}
	clear(before) // which would keep them alive
	s.before = before
	if len(s.sinks) > 0 {
		c.stream = s
	}
}

// ask has the probe of sink i say which instructions the sink is told of.
func (s *stream) ask(i int) {
	l := &s.sinks[i]
	if l.chosen, l.eased = l.of.chosen(s.cta.grid.info); i >= mostEasers {
		l.eased = nil
	}
}

// rechoose asks the probes anew which instructions of the CTAs in flight they are told of.
func (g *Grid) rechoose() {
	for i := range g.flights {
		if c := g.flights[i].cta; c != nil && c.stream != nil {
			for k := range c.stream.sinks {
				c.stream.ask(k)
			}
			c.stream.unions = c.stream.unions[:0]
		}
	}
}

// chosen is what the probe is told of instructions; nil if that is all. eased is that of warps
// that its sinks ease.
func (p *watcher) chosen(l *LaunchInfo) (chosen, eased []Events) {
	if p.wants.Events&chosenKinds == 0 {
		return nil, nil
	}
	if c, ok := p.Probe.(Chooser); ok {
		chosen = c.Chosen(l)
	}
	if c, ok := p.Probe.(Easer); ok {
		eased = c.Eased(l)
	}
	return chosen, eased
}

// alike reports whether both are of the same probe, and told the same of instructions.
func (l *listener) alike(o *listener) bool {
	return l.of == o.of && sameList(l.chosen, o.chosen) && sameList(l.eased, o.eased)
}

func sameList(a, b []Events) bool {
	return len(a) == len(b) && (a == nil) == (b == nil) && unsafe.SliceData(a) == unsafe.SliceData(b)
}

// list is what sink i is told of instructions in a warp that these have eased; nil: all.
func (l *listener) list(i int, eased uint64) []Events {
	if eased>>i&1 != 0 {
		return l.eased
	}
	return l.chosen
}

// choice is what somebody is told of instructions in a warp. It is good until the next choice.
func (s *stream) choice(w *warp) *union {
	for i := range s.unions {
		if u := &s.unions[i]; u.by == w.eased {
			return u
		}
	}
	return s.unite(w.eased)
}

// unite finds what somebody is told of instructions in warps that these sinks have eased.
func (s *stream) unite(eased uint64) *union {
	n := len(s.unions)
	if n == cap(s.unions) {
		s.unions = append(s.unions, union{})
	}
	s.unions = s.unions[:n+1]
	u := &s.unions[n]
	u.by, u.chosen = eased, nil
	for i := range s.sinks {
		if l := &s.sinks[i]; l.wants.Events&chosenKinds != 0 && l.list(i, eased) == nil {
			return u
		}
	}
	size := len(s.cta.code.Sources)
	if u.room = u.room[:0]; cap(u.room) < size {
		u.room, u.next = make([]Events, size), make([]int32, size)
	}
	u.chosen, u.next = u.room[:size], u.next[:size]
	clear(u.chosen)
	for i := range s.sinks {
		if l := &s.sinks[i]; l.wants.Events&chosenKinds != 0 {
			for k, kinds := range l.list(i, eased) {
				u.chosen[k] |= kinds & l.wants.Events & chosenKinds
			}
		}
	}
	next := int32(size)
	for k := size - 1; k >= 0; k-- {
		if u.chosen[k] != 0 {
			next = int32(k)
		}
		u.next[k] = next
	}
	return u
}

// hears reports whether somebody wants to be told of events of a kind.
func (c *cta) hears(kind Events) bool { return c.stream != nil && c.stream.wants.Events&kind != 0 }

// tell tells of something that is no warp's.
func (c *cta) tell(kind Events) {
	if c.hears(kind) {
		c.stream.tell(c.stream.none(), kind)
	}
}

// none is an event of the CTA that is about no warp.
func (s *stream) none() *Event {
	c := s.cta
	s.event = Event{Launch: c.grid.info, Step: c.grid.steps, CTA: c.index, ID: c.id, Warp: -1, Index: -1, Meet: -1, stream: s}
	return &s.event
}

// about fills in an event about lanes of the running strand of a warp, at an instruction,
// which may be nil.
func (s *stream) about(e *Event, w *warp, src *code.Source, lanes uint64) {
	c := s.cta
	*e = Event{Launch: c.grid.info, Step: c.grid.steps, CTA: c.index, ID: c.id, Warp: w.id, Index: -1, Meet: -1, Active: w.mask, Lanes: lanes, stream: s, warp: w, source: src, frame: w.frame}
	if w.frame != nil {
		e.Depth, e.Local = w.frame.depth, 4*w.frame.local
	}
	if w.join != nil {
		e.Meet = int(c.code.sourceAt(w.join.pc))
	}
	if src != nil {
		e.Instr, e.Func, e.Index = src.Instr, src.Func.Func, int(src.Index)
	}
}

// tellLanes tells of lanes of the running strand.
func (w *warp) tellLanes(kind Events, src *code.Source, lanes uint64) {
	if w.cta.stream != nil { // not worth a call where nobody watches
		w.cta.stream.tellLanes(w, kind, src, lanes)
	}
}

func (s *stream) tellLanes(w *warp, kind Events, src *code.Source, lanes uint64) {
	if s.wants.Events&kind != 0 {
		s.about(&s.event, w, src, lanes)
		s.tell(&s.event, kind)
	}
}

// tellWays tells where groups of lanes go.
func (w *warp) tellWays(kind Events, src *code.Source, lanes uint64, groups ...group) {
	s := w.cta.stream
	if !w.cta.hears(kind) {
		return
	}
	s.about(&s.event, w, src, lanes)
	s.ways = s.ways[:0]
	for _, g := range groups {
		if g.mask != 0 {
			owed := int32(0)
			if g.pc == w.pc { // they part where they are
				owed = w.owed
			}
			s.ways = append(s.ways, Way{g.mask, int(w.cta.code.nextSource(g.pc, owed))})
		}
	}
	s.event.Ways = s.ways
	s.tell(&s.event, kind)
}

// tellStrand tells of a strand, which need not be the one that runs, and of registers that
// its lanes have got otherwise than by executing an instruction just now.
func (w *warp) tellStrand(kind Events, c *strand, src *code.Source, results []ptx.RegID) {
	s := w.cta.stream
	if !w.cta.hears(kind) {
		return
	}
	running := w.strand
	w.strand = *c
	e := &s.event
	s.about(e, w, src, c.mask)
	if c.wait != nil {
		e.Waits = c.wait.told(w.cta.code.Width)
	}
	if len(results) > 0 {
		w.show(c.frame)
		s.values = w.registers(s.values, src, results)
		e.Writes = s.values
	}
	s.tell(e, kind)
	w.strand = running
	if running.mask != 0 {
		w.show(running.frame)
	}
}

// told is a wait as probes are told.
func (b *wait) told(width int) Waiting {
	if b.collects() {
		return Waiting{Barrier: -1, Members: b.member}
	}
	return Waiting{Barrier: b.id, Threads: b.want * width, Generation: b.generation}
}

// tellMemory tells what an instruction has done to memory, by a lane.
func (w *warp) tellMemory(kind Events, in *code.Instr, lane int, a *mem.Allocation) {
	if s := w.cta.stream; w.cta.hears(kind) {
		e := &s.event
		s.about(e, w, w.src(in), 1<<lane)
		e.Memory, e.Bytes = a, int(a.Size)
		s.tell(e, kind)
	}
}

// tellTrap tells of the trap that has stopped the CTA.
func (c *cta) tellTrap(t *Trap) {
	if !c.hears(OnTrap) {
		return
	}
	e := c.stream.none()
	switch src := t.at; {
	case t.Warp >= 0:
		c.stream.about(e, &c.warps[t.Warp], src, t.Lanes)
	case src != nil:
		e.Instr, e.Func, e.Index = src.Instr, src.Func.Func, int(src.Index)
	}
	e.Trap = t
	c.stream.tell(e, OnTrap)
}

// source is the PTX instruction with an index, nil if it is below zero.
func (k *Kernel) source(i int32) *code.Source {
	if i < 0 {
		return nil
	}
	return &k.Sources[i]
}

// sourceAt is the PTX instruction that lanes at a pc come to next; -1 if it is the end of
// the function.
func (k *Kernel) sourceAt(pc int32) int32 {
	if pc == noBlock {
		return -1
	}
	if src := k.Instrs[pc].Src; src >= 0 && pc != k.Block(pc).First {
		return src
	}
	for {
		b := k.Block(pc)
		switch end := k.End(b); {
		case b.Sources.Len() > 0:
			return b.Sources.First
		case end.Op != code.Jump:
			return -1
		}
		pc = b.Next
	}
}

// nextSource is sourceAt for a strand that has yet to execute so many PTX instructions of
// its block, if it has executed some; else owed is 0.
func (k *Kernel) nextSource(pc, owed int32) int32 {
	if owed == 0 {
		return k.sourceAt(pc)
	}
	b := k.Block(pc)
	if first := k.owedSource(b, pc, owed); first < b.Sources.End {
		return first
	}
	return k.sourceAt(b.Next)
}

// owedSource is the first of the PTX instructions of a block that a strand at a pc in it has
// yet to execute, after some others; the end of them if it has executed all.
func (k *Kernel) owedSource(b *code.Block, pc, owed int32) int32 {
	first := b.Sources.End - owed
	if k.Instrs[pc].Src != first { // it was executed together with others
		first++
	}
	return first
}

// accessing is the instructions that access memory, of a PTX instruction.
type accessing struct {
	folded []*code.Instr // a launch has executed them before it began
	run    []int32       // the pcs of the others
	start  int32         // the pc in the block from which on there is what is part of the PTX instruction, or behind it
}

// accessKinds are what instructions do to memory that have no code.Access: on surfaces, and
// on mbarriers.
var accessKinds = map[code.Op]mem.AccessKind{
	code.SurfaceLoad: mem.Load, code.SurfaceStore: mem.Store, code.SurfaceReduce: mem.Atomic,
	code.MbarrierInit: mem.Store, code.MbarrierInval: mem.Store, code.MbarrierArrive: mem.Atomic, code.MbarrierTx: mem.Atomic,
	code.MbarrierTest: mem.Load, code.MbarrierParity: mem.Load, code.MbarrierLayout: mem.Load, code.MbarrierMany: mem.Atomic,
}

// accesses are the instructions that access memory, by PTX instruction.
func (k *Kernel) accesses() []accessing {
	if k.accessOf == nil {
		k.accessOf = make([]accessing, len(k.Sources))
		accesses := func(in *code.Instr) bool {
			_, ok := accessKinds[in.Op]
			return in.Src >= 0 && (ok || in.Op == code.TextureFetch || in.Op.Signature().Side == code.AccessSide)
		}
		for i := range k.Fixed {
			if in := &k.Fixed[i].Instr; accesses(in) {
				list := &k.accessOf[in.Src].folded
				*list = append(*list, in)
			}
		}
		for i := range k.Instrs {
			if in := &k.Instrs[i]; accesses(in) {
				list := &k.accessOf[in.Src].run
				*list = append(*list, int32(i))
			}
		}
		for i := range k.Blocks {
			b := &k.Blocks[i]
			pc := b.First
			for src := b.Sources.First; src < b.Sources.End; src++ {
				for pc < b.Last && k.Instrs[pc].Src < src {
					pc++
				}
				k.accessOf[src].start = pc
			}
		}
	}
	return k.accessOf
}

// ready makes the event of an instruction that the running strand is about to execute with
// some of its lanes.
func (s *stream) ready(w *warp, src *code.Source, lanes uint64) {
	// As about has it. Most of an event stays zero in one of an instruction, and clearing it each
	// time would take as long as all else that telling of it takes.
	e, c := &s.step, s.cta
	s.eased = w.eased
	e.Launch, e.Step, e.CTA, e.ID, e.Warp, e.Meet, e.Active, e.Lanes = c.grid.info, c.grid.steps, c.index, c.id, w.id, -1, w.mask, lanes
	e.Depth, e.Local, e.stream, e.warp, e.source, e.frame = w.frame.depth, 4*w.frame.local, s, w, src, w.frame
	e.Instr, e.Func, e.Index = src.Instr, src.Func.Func, int(src.Index)
	if w.join != nil {
		e.Meet = int(c.code.sourceAt(w.join.pc))
	}
	e.Writes, e.Accesses, e.Operation, e.pair = nil, nil, nil, nil
	s.reads = w.registers(s.reads, src, src.Reads)
	e.Reads = s.reads
}

// tellAfter tells that it has executed it.
func (s *stream) tellAfter(w *warp, src *code.Source) {
	s.writes = w.registers(s.writes, src, src.Writes)
	s.step.Writes, s.step.Operation = s.writes, nil
	s.tell(&s.step, OnAfter)
}

// tellAccess tells what a memory instruction is about to access.
func (s *stream) tellAccess(w *warp, in *code.Instr) {
	if in.Op == code.TextureFetch {
		s.tellTexels(w, in)
		return
	}
	s.describe(w, in)
	if s.step.Lanes != 0 {
		s.tell(&s.step, OnAccess)
	}
}

// describe says what a memory instruction accesses, beside what its PTX instruction has
// accessed before.
func (s *stream) describe(w *warp, in *code.Instr) {
	n := len(s.step.Accesses)
	if s.accesses = s.accesses[:n]; n == cap(s.accesses) {
		s.accesses = append(s.accesses, Access{})
	}
	s.accesses = s.accesses[:n+1]
	s.step.Accesses = s.accesses
	s.accesses[n].runsOf = 0
	switch to := &s.accesses[n]; in.Op.Signature().Side {
	case code.TextureSide:
		w.describeSurface(in, to, s.step.Lanes, s.wants.Addresses)
		return
	case code.NoSide:
		w.describeMbarrier(in, to, s.step.Lanes, s.wants.Addresses)
		return
	}
	a, to := w.access(in), &s.accesses[n]
	to.Access, to.w, to.in, to.Lanes, to.lengths = w.request(a), w, in, s.step.Lanes, nil
	if a.Once {
		to.Lanes &= -to.Lanes
	}
	if a.Tile != nil {
		half := uint64(providing(a))
		to.Lanes &= half<<32 | half
	}
	if !s.wants.Addresses {
		to.Addr = nil
		return
	}
	to.makeRoom()
	for h := range w.files {
		list := (*regfile.Row64)(to.Addr[regfile.Lanes*h:])
		if a.Addr == code.NoSlot {
			mem.FillRow(list, 0, regfile.Full)
		} else {
			w.read(list, h, code.Row{Slot: a.Addr, Row: in.A})
		}
		switch { // a.At, which is for one
		case a.Addr == code.R:
			for i, v := range list {
				list[i] = uint64(uint32(v + a.Off))
			}
		case a.Off != 0:
			for i := range list {
				list[i] += a.Off
			}
		}
		if a.Frame {
			for i := range list {
				list[i] += 4 * uint64(w.frame.local)
			}
		}
	}
	if in.Op == code.StoreBulk {
		to.lengths = make([]uint64, len(to.Addr))
		for h := range w.files {
			w.read((*regfile.Row64)(to.lengths[regfile.Lanes*h:]), h, code.Row{Slot: a.Elems[0].Slot, Row: a.Elems[0].Row})
		}
	}
}

// makeRoom gives the access addresses, for all lanes.
func (a *Access) makeRoom() {
	if a.room == nil {
		a.room = make([]uint64, regfile.Lanes*len(a.w.files))
	}
	a.Addr = a.room
}

// Stored appends the bytes that a lane is about to store to p. ok is false of what is no store of
// registers, element by element, by the lane: of atomics, matrices, st.bulk, and vectors of which
// elements are left out.
func (a *Access) Stored(p []byte, lane int) (to []byte, ok bool) {
	if a.in == nil || a.in.Op.Signature().Side != code.AccessSide || a.Kind != mem.Store {
		return p, false
	}
	x := a.w.access(a.in)
	if x.Tile != nil || a.lengths != nil {
		return p, false
	}
	f := &a.w.files[lane/regfile.Lanes]
	from := len(p)
	for _, e := range x.Elems {
		if e.Slot == code.NoSlot {
			return p[:from], false
		}
		p = appendElem(p, f, e, lane%regfile.Lanes, x.Size)
	}
	return p, true
}

// Given is what a lane gives to an access that writes.
type Given struct {
	// Data is what is stored, or what an atomic operation combines with what is there, of .cas what
	// comes in its place; in elements of Size bytes.
	Data []byte
	Size int

	Compare []byte // of .cas: what has to be there
	Left    uint64 // the elements of a vector, bit 0 for the first, that are not stored
}

// Given tells what a lane is about to give to the access, into room from an earlier one: what Stored
// has, and also the operands of atomics, the rows of matrices, which the registers of all lanes
// make, and texels of surfaces. ok is false of what gives nothing: loads, st.bulk, and mbarriers, whose bytes are
// the machine's own.
func (a *Access) Given(g *Given, lane int) (ok bool) {
	g.Data, g.Compare, g.Left = g.Data[:0], g.Compare[:0], 0
	if a.in == nil || a.lengths != nil || a.Kind == mem.Load {
		return false
	}
	h, one := lane/regfile.Lanes, lane%regfile.Lanes
	switch a.in.Op.Signature().Side {
	case code.TextureSide:
		g.Data, g.Size = a.w.texelOf(g.Data, h, a.in, one)
		return g.Size > 0
	case code.NoSide:
		return false
	}
	x, f := a.w.access(a.in), &a.w.files[h]
	g.Size = x.Size
	switch {
	case x.Tile != nil:
		g.Data, g.Size = append(g.Data, a.w.rowsOf(h, x)[one]...), min(x.Bytes, 8)
	case x.Atom == nil:
		for i, e := range x.Elems {
			if e.Slot == code.NoSlot {
				g.Left |= 1 << i
			}
			g.Data = appendElem(g.Data, f, e, one, x.Size)
		}
	case x.Atom.Op == code.AtomCas:
		for i, e := range x.Atom.C {
			g.Data = appendElem(g.Data, f, e, one, x.Size)
			g.Compare = appendElem(g.Compare, f, x.Atom.B[i], one, x.Size)
		}
	default:
		for _, e := range x.Atom.B {
			g.Data = appendElem(g.Data, f, e, one, x.Size)
		}
	}
	return len(g.Data) > 0
}

// appendElem appends an element of an access as a lane has it: zeros if it is left out.
func appendElem(p []byte, f *regfile.File, e code.Elem, lane, size int) []byte {
	var b [16]byte
	if e.Slot != code.NoSlot {
		binary.LittleEndian.PutUint64(b[:], laneOf(f, code.Row{Slot: e.Slot, Row: e.Row}, lane))
		if size == 16 {
			binary.LittleEndian.PutUint64(b[8:], laneOf(f, code.Row{Slot: e.Slot, Row: e.High}, lane))
		}
	}
	return append(p, b[:size]...)
}

// rowsOf is the rows that a store of matrices makes of the registers of half h, by the lanes that
// provide their addresses.
func (w *warp) rowsOf(h int, a *code.Access) (rows [matrix.Lanes][]byte) {
	n := a.Tile.Addresses()
	all := make([]byte, n*a.Bytes)
	for i := range n {
		rows[i] = all[i*a.Bytes:][:a.Bytes]
	}
	a.Tile.Store(&rows, func(register, lane int) uint64 {
		e := a.Elems[register]
		return laneOf(&w.files[h], code.Row{Slot: e.Slot, Row: e.Row}, lane)
	})
	return rows
}

// Place is the memory that a lane accesses: the state space, the allocation (nil: the
// thread's local memory) and the offset there, in bytes; that of shared memory is the one of the
// CTA that is accessed, which may be another of the cluster. ok is false if the access traps.
// The access must have addresses.
func (a *Access) Place(lane int) (space ptx.Space, in *mem.Allocation, off uint64, ok bool) {
	return a.At(a.Addr[lane])
}

// At is the memory that an access to an address would go to, as Place has it.
func (a *Access) At(addr uint64) (space ptx.Space, in *mem.Allocation, off uint64, ok bool) {
	view := a.w.view()
	place, fault := view.Resolve(&a.Access, addr)
	switch {
	case fault != nil, place.Tolerated.Has(mem.SharedUnit): // no memory of the CTA
		return a.Space, nil, 0, false
	case place.Alloc == nil:
		return ptx.Local, nil, place.Off, true
	}
	return place.Alloc.Space(), place.Alloc, place.Off, true
}

// Shadow is the shadow bytes of the memory that a lane accesses, interp.Config.ShadowBytes for
// each byte, zero where memory is new: as it is allocated, as the CTA begins, as a function is
// called that has it on the stack. It is nil if there are none, or the access traps. The access must
// have addresses. CTAs that run at the same time share those of global memory.
func (a *Access) Shadow(lane int) []byte {
	n := a.w.cta.grid.dev.Memory.ShadowBytes
	_, in, off, ok := a.Place(lane)
	if !ok || n == 0 {
		return nil
	}
	from, to := n*int(off), n*(int(off)+a.Length(lane))
	if in != nil && to > len(in.Shadow) { // it traps
		return nil
	}
	if in != nil {
		return in.Shadow[from:to]
	}
	if a.w.shadow == nil {
		a.w.shadow = make([][]byte, 64)
	}
	s := &a.w.shadow[lane]
	if len(*s) < to {
		*s = append(*s, make([]byte, to-len(*s))...)
	}
	return (*s)[from:to]
}

// registers reads registers that an instruction names, into room for them.
func (w *warp) registers(room []Value, src *code.Source, list []ptx.RegID) []Value {
	wants := &w.cta.stream.wants
	room = room[:0]
	if !wants.Values && !wants.Tags {
		return room
	}
	for _, r := range list {
		if len(room) < cap(room) {
			room = room[:len(room)+1]
		} else {
			room = append(room, Value{})
		}
		w.register(&room[len(room)-1], src.Func, r, wants)
	}
	return room
}

// register reads a register of a function into room for it.
func (w *warp) register(v *Value, fn *code.Func, r ptx.RegID, wants *Wants) {
	at := &fn.Regs[r]
	v.Reg, v.Type, v.Low, v.High, v.Tags = r, fn.Func.Regs[r].Type, nil, nil, [2]Tag{}
	if wants.Values {
		n := regfile.Lanes * len(w.files)
		if v.low == nil {
			v.low = make([]uint64, n)
		}
		v.Low = v.low
		for h := range w.files {
			w.read((*regfile.Row64)(v.Low[regfile.Lanes*h:]), h, code.Row{Slot: at.Slot, Row: at.Row})
		}
		if at.Wide {
			if v.high == nil {
				v.high = make([]uint64, n)
			}
			v.High = v.high
			for h := range w.files {
				w.read((*regfile.Row64)(v.High[regfile.Lanes*h:]), h, code.Row{Slot: at.Slot, Row: at.High})
			}
		}
	}
	if wants.Tags && w.files[0].Tracked() && at.Slot != code.P && at.Slot != code.NoSlot && !at.Wide {
		for h := range w.files {
			c := shadowAt(&w.files[h], at.Slot, at.Row)
			v.Tags[h] = Tag{valueOf(c), c.Mask}
		}
	}
}

// read copies a row of half h of the warp, wherever its lanes are kept.
func (w *warp) read(to *regfile.Row64, h int, o code.Row) {
	f := &w.files[h]
	switch o.Slot {
	case code.P:
		p := f.SrcP(o.Row)
		for i := range to {
			to[i] = uint64(p >> i & 1)
		}
	case code.R:
		for i, v := range f.Src32(o.Row) {
			to[i] = uint64(v)
		}
		if f.Tracked() && o.Row >= 0 {
			c := f.Shadow32(o.Row)
			for m := c.Mask; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				to[i] = c.At(i) & 0xffff_ffff
			}
		}
	case code.Q:
		*to = *f.Src64(o.Row)
		if f.Tracked() && o.Row >= 0 {
			c := f.Shadow64(o.Row)
			regfile.Fill64(to, c.Base, c.Stride, c.Mask)
		}
	default:
		*to = regfile.Row64{}
	}
}

// listen has the warp's files tell of expansions, if somebody wants to know.
func (w *warp) listen() {
	for h := range w.files {
		f := &w.files[h]
		if f.OnExpand = nil; w.check != nil || w.cta.hears(OnExpand) {
			if w.expanding[h] == nil {
				w.expanding[h] = func(bits int, row int32, lanes uint32) { w.expands(h, bits, row, lanes) }
			}
			f.OnExpand = w.expanding[h]
		}
	}
}

// expands counts and tells that a row of half h of the warp has been written from its shadow.
func (w *warp) expands(h, width int, row int32, lanes uint32) {
	if w.check != nil {
		w.count.Engine.Expanded += int64(bits.OnesCount32(lanes))
	}
	if !w.cta.hears(OnExpand) {
		return
	}
	o := code.Row{Slot: code.R, Row: row}
	if width == 64 {
		o.Slot = code.Q
	}
	s, fn := w.cta.stream, w.shown.fn
	src := s.step.source
	if src != nil && src.Func != fn { // results on their way to the caller
		src = nil
	}
	s.about(&s.event, w, src, uint64(lanes)<<(32*h))
	s.event.frame = w.shown
	c := shadowAt(&w.files[h], o.Slot, o.Row)
	s.expanded = Value{Reg: registerIn(fn, o, src)}
	s.expanded.Tags[h] = Tag{valueOf(c), c.Mask}
	if s.expanded.Reg != ptx.NoReg {
		s.expanded.Type = fn.Func.Regs[s.expanded.Reg].Type
	}
	s.event.Expanded, s.event.Row = &s.expanded, Location{InRow, width, int(row)}
	s.tell(&s.event, OnExpand)
}

// registerIn is the register that a row of the function holds at an instruction: one that it
// names, if there is one, else one that somebody will read; where src is nil, at the
// function's end. It is none if the row is a temporary's.
func registerIn(fn *code.Func, o code.Row, src *code.Source) ptx.RegID {
	in := func(at *code.Location) bool {
		return at.Slot == o.Slot && (at.Row == o.Row || at.Wide && at.High == o.Row)
	}
	if src != nil {
		for _, list := range [][]ptx.RegID{src.Reads, src.Writes} {
			for _, r := range list {
				if in(&fn.Regs[r]) {
					return r
				}
			}
		}
	}
	found := ptx.NoReg
	for r := range fn.Regs {
		switch at := &fn.Regs[r]; {
		case !in(at):
		case src != nil && (src.Index < at.First || src.Index > at.Last):
		case found == ptx.NoReg || at.Last > fn.Regs[found].Last:
			found = ptx.RegID(r)
		}
	}
	return found
}
