package simt

// This file brings the events of a CTA to those who want them.

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// eventStream is the events of a CTA. There is none where nobody wants to know.
type eventStream struct {
	cta          *cta
	sinks        []subscriber
	subscription probe.Subscription // of all of them

	unions       []eventUnion // by which sinks have eased a warp, what any of them is told of instructions
	reducedSinks uint64       // as warp.eased, when the instruction began that is told of
	current      int          // the sink that is told

	step           probe.Event // of an instruction, before and after
	stepPlace      eventPlace
	accessPlaces   []*accessPlace // of accesses
	accesses       []probe.Access   // room for those of step
	texels         []probe.Texel
	reads          []probe.Value
	writes         []probe.Value
	rows           []code.Row  // and for those of its operations
	event          probe.Event // of anything else
	eventPlace     eventPlace // of event
	groups         []probe.LaneGroup
	previousSinks  []subscriber    // room for the sinks of the CTA before
	valueBuffer    []probe.Value   // room for those of event
	effect         probe.Effect    // of event
	segments       []probe.Segment // room for those of effect

	materialised probe.Value

	stopErr error // the launch is to end with it
}

// subscriber is a sink, and what the probe that it is of wants.
type subscriber struct {
	probe.Sink
	subscription probe.Subscription
	watcher      *probeState    // the probe
	selected     []probe.Events // what it is told of instructions; nil: all
	reduced      []probe.Events // … of warps that it has eased; nil: it eases none
}

// maxReducers is how many sinks of a CTA may ease warps: the first.
const maxReducers = 64

// eventUnion is what somebody is told of instructions in warps that these sinks have eased.
type eventUnion struct {
	reducedSinks uint64
	selected     []probe.Events // nil: all
	next         []int32        // by instruction, the first from it on of which somebody is told something
	buffer       []probe.Events
}

// probeState is a probe, and what it wants.
type probeState struct {
	probe.Probe
	subscription probe.Subscription
}

// emit tells the probes of something that is no CTA's.
func (g *Grid) emit(kind probe.Events, err error) {
	for _, p := range g.probes {
		if p.subscription.Events&kind != 0 {
			t, _ := err.(*probe.Trap)
			p.OnEvent(&probe.Event{Kind: kind, Launch: g.info, CTA: -1, Warp: -1, Index: -1, Reconverge: -1, Trap: t, Err: err})
		}
	}
}

// Emit tells the device's probes what the host does to memory.
func (d *Device) Emit(kind probe.Events, a *mem.Allocation, offset uint64, bytes int, order *probe.HostOrder) {
	for _, p := range d.Probes {
		if p.Subscription().Events&kind != 0 {
			p.OnEvent(&probe.Event{Kind: kind, CTA: -1, Warp: -1, Index: -1, Reconverge: -1, Memory: a.Public(), Offset: offset, Bytes: bytes, Order: order})
		}
	}
}

// emit tells all who want to know.
func (s *eventStream) emit(e *probe.Event, kind probe.Events) {
	e.Kind = kind
	for i := range s.sinks {
		l := &s.sinks[i]
		if l.subscription.Events&kind == 0 {
			continue
		}
		if kind&probe.Selectable != 0 {
			if list := l.selectedEvents(i, s.reducedSinks); list != nil && list[e.Index]&kind == 0 {
				continue
			}
		}
		s.current = i
		l.OnEvent(e)
	}
}

// openStream asks the probes of the launch who wants to know of the CTA that begins.
func (c *cta) openStream() {
	c.stream = nil
	if len(c.grid.probes) == 0 {
		return
	}
	s := c.idleStream
	if s == nil {
		s = &eventStream{cta: c}
		c.idleStream = s
	}
	before := append(s.previousSinks[:0], s.sinks...)
	s.sinks, s.subscription, s.stopErr = s.sinks[:0], probe.Subscription{}, nil
	same := true // as in the CTA before
	for i := range c.grid.probes {
		p := &c.grid.probes[i]
		if sink := p.CTA(c.grid.info, c.index, c.id); sink != nil {
			n := len(s.sinks)
			s.sinks = append(s.sinks, subscriber{Sink: sink, subscription: p.subscription, watcher: p})
			s.selectEvents(n)
			s.subscription = s.subscription.Union(p.subscription)
			same = same && n < len(before) && before[n].sameSelection(&s.sinks[n])
		}
	}
	if !same || len(before) != len(s.sinks) {
		s.unions = s.unions[:0]
	}
	clear(before) // which would keep them alive
	s.previousSinks = before
	if len(s.sinks) > 0 {
		c.stream = s
	}
}

// selectEvents has the probe of sink i say which instructions the sink is told of.
func (s *eventStream) selectEvents(i int) {
	l := &s.sinks[i]
	if l.selected, l.reduced = l.watcher.selectEvents(s.cta.grid.info); i >= maxReducers {
		l.reduced = nil
	}
}

// reselectEvents asks the probes anew which instructions of the CTAs in flight they are told of.
func (g *Grid) reselectEvents() {
	for i := range g.flights {
		if c := g.flights[i].cta; c != nil && c.stream != nil {
			for k := range c.stream.sinks {
				c.stream.selectEvents(k)
			}
			c.stream.unions = c.stream.unions[:0]
		}
	}
}

// selectEvents is what the probe is told of instructions; nil if that is all. eased is that of warps
// that its sinks ease.
func (p *probeState) selectEvents(l *probe.LaunchInfo) (chosen, eased []probe.Events) {
	if p.subscription.Events&probe.Selectable == 0 {
		return nil, nil
	}
	if c, ok := p.Probe.(probe.EventSelector); ok {
		chosen = c.SelectEvents(l)
	}
	if c, ok := p.Probe.(probe.EventReducer); ok {
		eased = c.ReducedEvents(l)
	}
	return chosen, eased
}

// sameSelection reports whether both are of the same probe, and told the same of instructions.
func (l *subscriber) sameSelection(other *subscriber) bool {
	return l.watcher == other.watcher && sameSlice(l.selected, other.selected) && sameSlice(l.reduced, other.reduced)
}

func sameSlice(a, b []probe.Events) bool {
	return len(a) == len(b) && (a == nil) == (b == nil) && unsafe.SliceData(a) == unsafe.SliceData(b)
}

// selectedEvents is what sink i is told of instructions in a warp that these have eased; nil: all.
func (l *subscriber) selectedEvents(i int, eased uint64) []probe.Events {
	if eased>>i&1 != 0 {
		return l.reduced
	}
	return l.selected
}

// unionFor is what somebody is told of instructions in a warp. It is good until the next choice.
func (s *eventStream) unionFor(w *warp) *eventUnion {
	for i := range s.unions {
		if u := &s.unions[i]; u.reducedSinks == w.reducedSinks {
			return u
		}
	}
	return s.newUnion(w.reducedSinks)
}

// newUnion finds what somebody is told of instructions in warps that these sinks have eased.
func (s *eventStream) newUnion(eased uint64) *eventUnion {
	n := len(s.unions)
	if n == cap(s.unions) {
		s.unions = append(s.unions, eventUnion{})
	}
	s.unions = s.unions[:n+1]
	u := &s.unions[n]
	u.reducedSinks, u.selected = eased, nil
	for i := range s.sinks {
		if l := &s.sinks[i]; l.subscription.Events&probe.Selectable != 0 && l.selectedEvents(i, eased) == nil {
			return u
		}
	}
	size := len(s.cta.code.Sources)
	if u.buffer = u.buffer[:0]; cap(u.buffer) < size {
		u.buffer, u.next = make([]probe.Events, size), make([]int32, size)
	}
	u.selected, u.next = u.buffer[:size], u.next[:size]
	clear(u.selected)
	for i := range s.sinks {
		if l := &s.sinks[i]; l.subscription.Events&probe.Selectable != 0 {
			for k, kinds := range l.selectedEvents(i, eased) {
				u.selected[k] |= kinds & l.subscription.Events & probe.Selectable
			}
		}
	}
	next := int32(size)
	for k := size - 1; k >= 0; k-- {
		if u.selected[k] != 0 {
			next = int32(k)
		}
		u.next[k] = next
	}
	return u
}

// isSubscribed reports whether somebody wants to be told of events of a kind.
func (c *cta) isSubscribed(kind probe.Events) bool {
	return c.stream != nil && c.stream.subscription.Events&kind != 0
}

// emit tells of something that is no warp's.
func (c *cta) emit(kind probe.Events) {
	if c.isSubscribed(kind) {
		c.stream.emit(c.stream.newCTAEvent(), kind)
	}
}

// newCTAEvent is an event of the CTA that is about no warp.
func (s *eventStream) newCTAEvent() *probe.Event {
	c := s.cta
	s.event = probe.Event{Launch: c.grid.info, Step: c.grid.steps, CTA: c.index, ID: c.id, Warp: -1, Index: -1, Reconverge: -1, Machine: (*eventMachine)(&s.eventPlace)}
	s.eventPlace = eventPlace{stream: s}
	return &s.event
}

// fillEvent fills in an event about lanes of the running warp split of a warp, at an instruction,
// which may be nil.
func (s *eventStream) fillEvent(e *probe.Event, w *warp, src *code.Source, lanes uint64) {
	c := s.cta
	*e = probe.Event{Launch: c.grid.info, Step: c.grid.steps, CTA: c.index, ID: c.id, Warp: w.id, Index: -1, Reconverge: -1, Active: w.mask, Lanes: lanes, Machine: (*eventMachine)(&s.eventPlace)}
	s.eventPlace = eventPlace{stream: s, warp: w, source: src, frame: w.frame}
	if w.frame != nil {
		e.Depth, e.Local = w.frame.depth, 4*w.frame.local
	}
	if w.reconvergence != nil {
		e.Reconverge = int(c.code.sourceAt(w.reconvergence.pc))
	}
	if src != nil {
		e.Instr, e.Func, e.Index = src.Instr, src.Func.Func, int(src.Index)
	}
}

// emitLanes tells of lanes of the running warp split.
func (w *warp) emitLanes(kind probe.Events, src *code.Source, lanes uint64) {
	if w.cta.stream != nil { // not worth a call where nobody watches
		w.cta.stream.emitLanes(w, kind, src, lanes)
	}
}

func (s *eventStream) emitLanes(w *warp, kind probe.Events, src *code.Source, lanes uint64) {
	if s.subscription.Events&kind != 0 {
		s.fillEvent(&s.event, w, src, lanes)
		s.emit(&s.event, kind)
	}
}

// emitGroups tells where groups of lanes go.
func (w *warp) emitGroups(kind probe.Events, src *code.Source, lanes uint64, groups ...laneGroup) {
	s := w.cta.stream
	if !w.cta.isSubscribed(kind) {
		return
	}
	s.fillEvent(&s.event, w, src, lanes)
	s.groups = s.groups[:0]
	for _, g := range groups {
		if g.mask != 0 {
			uncounted := int32(0)
			if g.pc == w.pc { // they part where they are
				uncounted = w.uncounted
			}
			s.groups = append(s.groups, probe.LaneGroup{Lanes: g.mask, To: int(w.cta.code.nextSource(g.pc, uncounted))})
		}
	}
	s.event.Groups = s.groups
	s.emit(&s.event, kind)
}

// emitSplit tells of a warp split, which need not be the one that runs, and of registers that
// its lanes have got otherwise than by executing an instruction just now.
func (w *warp) emitSplit(kind probe.Events, c *warpSplit, src *code.Source, results []ptx.RegID) {
	s := w.cta.stream
	if !w.cta.isSubscribed(kind) {
		return
	}
	running := w.warpSplit
	w.warpSplit = *c
	e := &s.event
	s.fillEvent(e, w, src, c.mask)
	if c.wait != nil {
		e.Wait = c.wait.described(w.cta.code.Width)
	}
	if len(results) > 0 {
		w.show(c.frame)
		s.valueBuffer = w.registers(s.valueBuffer, src, results)
		e.Writes = s.valueBuffer
	}
	s.emit(e, kind)
	w.warpSplit = running
	if running.mask != 0 {
		w.show(running.frame)
	}
}

// described is a wait as probes are told.
func (b *wait) described(width int) probe.WaitState {
	if b.isCollective() {
		return probe.WaitState{Barrier: -1, Members: b.membermask}
	}
	return probe.WaitState{Barrier: b.id, Threads: b.expected * width, Generation: b.generation}
}

// emitMemory tells what an instruction has done to memory, by a lane.
func (w *warp) emitMemory(kind probe.Events, instr *code.Instr, lane int, a *mem.Allocation) {
	if s := w.cta.stream; w.cta.isSubscribed(kind) {
		e := &s.event
		s.fillEvent(e, w, w.sourceOf(instr), 1<<lane)
		e.Memory, e.Bytes = a.Public(), int(a.Size)
		s.emit(e, kind)
	}
}

// emitTrap tells of the trap that has stopped the CTA.
func (c *cta) emitTrap(t *probe.Trap) {
	if !c.isSubscribed(probe.OnTrap) {
		return
	}
	e := c.stream.newCTAEvent()
	switch src := c.code.source(int32(t.Index)); {
	case t.Warp >= 0:
		c.stream.fillEvent(e, &c.warps[t.Warp], src, t.Lanes)
	case src != nil:
		e.Instr, e.Func, e.Index = src.Instr, src.Func.Func, int(src.Index)
	}
	e.Trap = t
	c.stream.emit(e, probe.OnTrap)
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

// nextSource is sourceAt for a warp split that has yet to execute so many PTX instructions of
// its block, if it has executed some; else owed is 0.
func (k *Kernel) nextSource(pc, uncounted int32) int32 {
	if uncounted == 0 {
		return k.sourceAt(pc)
	}
	b := k.Block(pc)
	if first := k.uncountedSource(b, pc, uncounted); first < b.Sources.End {
		return first
	}
	return k.sourceAt(b.Next)
}

// uncountedSource is the first of the PTX instructions of a block that a warp split at a pc in it has
// yet to execute, after some others; the end of them if it has executed all.
func (k *Kernel) uncountedSource(b *code.Block, pc, uncounted int32) int32 {
	first := b.Sources.End - uncounted
	if k.Instrs[pc].Src != first { // it was executed together with others
		first++
	}
	return first
}

// accessedSources is the instructions that access memory, of a PTX instruction.
type accessedSources struct {
	folded []*code.Instr // a launch has executed them before it began
	run    []int32       // the pcs of the others
	start  int32         // the pc in the block from which on there is what is part of the PTX instruction, or behind it
}

// accessKinds are what instructions do to memory that have no code.Access: on surfaces, and
// on mbarriers.
var accessKinds = map[code.Op]probe.AccessKind{
	code.SurfaceLoad: probe.AccessLoad, code.SurfaceStore: probe.AccessStore, code.SurfaceReduce: probe.AccessAtomic,
	code.MbarrierInit: probe.AccessStore, code.MbarrierInval: probe.AccessStore, code.MbarrierArrive: probe.AccessAtomic, code.MbarrierTx: probe.AccessAtomic,
	code.MbarrierTest: probe.AccessLoad, code.MbarrierParity: probe.AccessLoad, code.MbarrierLayout: probe.AccessLoad, code.MbarrierMany: probe.AccessAtomic,
}

// accesses are the instructions that access memory, by PTX instruction.
func (k *Kernel) accesses() []accessedSources {
	if k.accessOf == nil {
		k.accessOf = make([]accessedSources, len(k.Sources))
		accesses := func(instr *code.Instr) bool {
			_, ok := accessKinds[instr.Op]
			return instr.Src >= 0 && (ok || instr.Op == code.TextureFetch || instr.Op.Signature().Side == code.AccessSide)
		}
		for i := range k.Fixed {
			if instr := &k.Fixed[i].Instr; accesses(instr) {
				list := &k.accessOf[instr.Src].folded
				*list = append(*list, instr)
			}
		}
		for i := range k.Instrs {
			if instr := &k.Instrs[i]; accesses(instr) {
				list := &k.accessOf[instr.Src].run
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

// beginStep makes the event of an instruction that the running warp split is about to execute with
// some of its lanes.
func (s *eventStream) beginStep(w *warp, src *code.Source, lanes uint64) {
	// As about has it. Most of an event stays zero in one of an instruction, and clearing it each
	// time would take as long as all else that telling of it takes.
	e, c := &s.step, s.cta
	s.reducedSinks = w.reducedSinks
	e.Launch, e.Step, e.CTA, e.ID, e.Warp, e.Reconverge, e.Active, e.Lanes = c.grid.info, c.grid.steps, c.index, c.id, w.id, -1, w.mask, lanes
	e.Depth, e.Local, e.Machine = w.frame.depth, 4*w.frame.local, (*eventMachine)(&s.stepPlace)
	s.stepPlace = eventPlace{stream: s, warp: w, source: src, frame: w.frame}
	e.Instr, e.Func, e.Index = src.Instr, src.Func.Func, int(src.Index)
	if w.reconvergence != nil {
		e.Reconverge = int(c.code.sourceAt(w.reconvergence.pc))
	}
	e.Writes, e.Accesses, e.Operation = nil, nil, nil
	s.reads = w.registers(s.reads, src, src.Reads)
	e.Reads = s.reads
}

// emitAfter tells that it has executed it.
func (s *eventStream) emitAfter(w *warp, src *code.Source) {
	s.writes = w.registers(s.writes, src, src.Writes)
	s.step.Writes, s.step.Operation = s.writes, nil
	s.emit(&s.step, probe.OnAfter)
}

// emitAccess tells what a memory instruction is about to access.
func (s *eventStream) emitAccess(w *warp, instr *code.Instr) {
	if instr.Op == code.TextureFetch {
		s.emitTexels(w, instr)
		return
	}
	s.describe(w, instr)
	if s.step.Lanes != 0 {
		s.emit(&s.step, probe.OnAccess)
	}
}

// describe says what a memory instruction accesses, beside what its PTX instruction has
// accessed before.
func (s *eventStream) describe(w *warp, instr *code.Instr) {
	n := len(s.step.Accesses)
	if s.accesses = s.accesses[:n]; n == cap(s.accesses) {
		s.accesses = append(s.accesses, probe.Access{})
	}
	if n == len(s.accessPlaces) {
		s.accessPlaces = append(s.accessPlaces, new(accessPlace))
	}
	s.accesses = s.accesses[:n+1]
	s.step.Accesses = s.accesses
	to, m := &s.accesses[n], s.accessPlaces[n]
	m.warp, m.instr, to.Machine = w, instr, (*accessMachine)(m)
	switch instr.Op.Signature().Side {
	case code.TextureSide:
		w.describeSurface(instr, to, s.step.Lanes, s.subscription.Addresses)
		return
	case code.NoSide:
		w.describeMbarrier(instr, to, s.step.Lanes, s.subscription.Addresses)
		return
	}
	a := w.access(instr)
	request := w.request(a)
	m.tolerate, m.hardware, m.unit = request.Tolerate, request.Hardware, request.Unit
	to.Reset(request.Request, s.step.Lanes, (*accessMachine)(m))
	if a.SingleLane {
		to.Lanes &= -to.Lanes
	}
	if a.Tile != nil {
		half := uint64(providingLanes(a))
		to.Lanes &= half<<32 | half
	}
	if !s.subscription.Addresses {
		return
	}
	to.Reserve(regfile.Lanes * len(w.files))
	for h := range w.files {
		list := (*regfile.Row64)(to.Addr[regfile.Lanes*h:])
		if a.Addr == code.NoSlot {
			mem.FillRow(list, 0, regfile.Full)
		} else {
			w.read(list, h, code.Row{Slot: a.Addr, Row: instr.A})
		}
		switch { // a.At, which is for one
		case a.Addr == code.R:
			for i, v := range list {
				list[i] = uint64(uint32(v + a.Offset))
			}
		case a.Offset != 0:
			for i := range list {
				list[i] += a.Offset
			}
		}
		if a.Frame {
			for i := range list {
				list[i] += 4 * uint64(w.frame.local)
			}
		}
	}
	if instr.Op == code.StoreBulk {
		to.Lengths = make([]uint64, len(to.Addr))
		for h := range w.files {
			w.read((*regfile.Row64)(to.Lengths[regfile.Lanes*h:]), h, code.Row{Slot: a.Elems[0].Slot, Row: a.Elems[0].Row})
		}
	}
}

// accessMachine is the state of the machine at an access: probe.AccessMachine.
type accessMachine accessPlace

// accessPlace is the place of an access in the machine.
type accessPlace struct {
	warp  *warp
	instr *code.Instr // the operation of the machine that accesses memory

	// The rest of the request: see mem.Access.
	tolerate probe.Tolerance
	hardware int
	unit     uint64
}

// request returns the whole request of an access.
func (m *accessMachine) request(a *probe.Access) mem.Access {
	return mem.Access{Request: a.Request, Tolerate: m.tolerate, Hardware: m.hardware, Unit: m.unit}
}

// BytesLeft returns the number of bytes of a lane's access that lie in memory.
func (m *accessMachine) BytesLeft(a *probe.Access, lane int) int {
	view, request := m.warp.view(), m.request(a)
	place, err := view.Find(&request, a.Addr[lane])
	if err != nil {
		return a.Bytes
	}
	size := uint64(m.warp.access(m.instr).Size)
	return int(min(view.BytesLeft(&request, place)/size*size, uint64(a.Bytes)))
}

// AppendStored appends the bytes that a lane is about to store to p, for stores of registers element by element.
func (m *accessMachine) AppendStored(a *probe.Access, p []byte, lane int) (to []byte, ok bool) {
	if m.instr == nil || m.instr.Op.Signature().Side != code.AccessSide || a.Kind != probe.AccessStore {
		return p, false
	}
	x := m.warp.access(m.instr)
	if x.Tile != nil || a.Lengths != nil {
		return p, false
	}
	f := &m.warp.files[lane/regfile.Lanes]
	from := len(p)
	for _, e := range x.Elems {
		if e.Slot == code.NoSlot {
			return p[:from], false
		}
		p = appendElem(p, f, e, lane%regfile.Lanes, x.Size)
	}
	return p, true
}

// StoredBy describes the operands of a lane's writing access.
func (m *accessMachine) StoredBy(a *probe.Access, g *probe.Stored, lane int) (ok bool) {
	g.Data, g.Compare, g.Left = g.Data[:0], g.Compare[:0], 0
	if m.instr == nil || a.Lengths != nil || a.Kind == probe.AccessLoad {
		return false
	}
	h, one := lane/regfile.Lanes, lane%regfile.Lanes
	switch m.instr.Op.Signature().Side {
	case code.TextureSide:
		g.Data, g.Size = m.warp.texelOf(g.Data, h, m.instr, one)
		return g.Size > 0
	case code.NoSide:
		return false
	}
	x, f := m.warp.access(m.instr), &m.warp.files[h]
	g.Size = x.Size
	switch {
	case x.Tile != nil:
		g.Data, g.Size = append(g.Data, m.warp.rowsOf(h, x)[one]...), min(x.Bytes, 8)
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
		binary.LittleEndian.PutUint64(b[:], laneValue(f, code.Row{Slot: e.Slot, Row: e.Row}, lane))
		if size == 16 {
			binary.LittleEndian.PutUint64(b[8:], laneValue(f, code.Row{Slot: e.Slot, Row: e.High}, lane))
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
		return laneValue(&w.files[h], code.Row{Slot: e.Slot, Row: e.Row}, lane)
	})
	return rows
}

// AllocationAt returns the memory of an access to an address.
func (m *accessMachine) AllocationAt(a *probe.Access, addr uint64) (space ptx.Space, alloc *probe.Allocation, offset uint64, ok bool) {
	view, request := m.warp.view(), m.request(a)
	place, fault := view.Resolve(&request, addr)
	switch {
	case fault != nil, place.Tolerated.Has(probe.SharedUnit): // no memory of the CTA
		return a.Space, nil, 0, false
	case place.Alloc == nil:
		return ptx.Local, nil, place.Offset, true
	}
	return place.Alloc.Space(), place.Alloc.Public(), place.Offset, true
}

// Shadow returns the shadow bytes of the memory that a lane accesses.
func (m *accessMachine) Shadow(a *probe.Access, lane int) []byte {
	n := m.warp.cta.grid.dev.Memory.ShadowBytes
	_, alloc, offset, ok := a.PlaceOf(lane)
	if !ok || n == 0 {
		return nil
	}
	from, to := n*int(offset), n*(int(offset)+a.Length(lane))
	if alloc != nil && to > len(alloc.Shadow) { // it traps
		return nil
	}
	if alloc != nil {
		return alloc.Shadow[from:to]
	}
	if m.warp.shadow == nil {
		m.warp.shadow = make([][]byte, 64)
	}
	s := &m.warp.shadow[lane]
	if len(*s) < to {
		*s = append(*s, make([]byte, to-len(*s))...)
	}
	return (*s)[from:to]
}

// registers reads registers that an instruction names, into room for them.
func (w *warp) registers(room []probe.Value, src *code.Source, list []ptx.RegID) []probe.Value {
	sub := &w.cta.stream.subscription
	room = room[:0]
	if !sub.Values && !sub.Tags {
		return room
	}
	for _, r := range list {
		if len(room) < cap(room) {
			room = room[:len(room)+1]
		} else {
			room = append(room, probe.Value{})
		}
		w.register(&room[len(room)-1], src.Func, r, sub)
	}
	return room
}

// register reads a register of a function into room for it.
func (w *warp) register(v *probe.Value, fn *code.Func, r ptx.RegID, sub *probe.Subscription) {
	loc := &fn.Regs[r]
	v.Reset(r, fn.Func.Regs[r].Type)
	if sub.Values {
		v.Reserve(regfile.Lanes*len(w.files), loc.Wide)
		for h := range w.files {
			w.read((*regfile.Row64)(v.Low[regfile.Lanes*h:]), h, code.Row{Slot: loc.Slot, Row: loc.Row})
			if loc.Wide {
				w.read((*regfile.Row64)(v.High[regfile.Lanes*h:]), h, code.Row{Slot: loc.Slot, Row: loc.High})
			}
		}
	}
	if sub.Tags && w.files[0].Tracked() && loc.Slot != code.P && loc.Slot != code.NoSlot && !loc.Wide {
		for h := range w.files {
			c := shadowAt(&w.files[h], loc.Slot, loc.Row)
			v.Tags[h] = probe.Tag{Value: valueOf(c), Mask: c.Mask}
		}
	}
}

// read copies a row of half h of the warp, wherever its lanes are kept.
func (w *warp) read(to *regfile.Row64, h int, row code.Row) {
	f := &w.files[h]
	switch row.Slot {
	case code.P:
		p := f.SrcP(row.Row)
		for i := range to {
			to[i] = uint64(p >> i & 1)
		}
	case code.R:
		for i, v := range f.Src32(row.Row) {
			to[i] = uint64(v)
		}
		if f.Tracked() && row.Row >= 0 {
			c := f.Shadow32(row.Row)
			for m := c.Mask; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				to[i] = c.At(i) & 0xffff_ffff
			}
		}
	case code.Q:
		*to = *f.Src64(row.Row)
		if f.Tracked() && row.Row >= 0 {
			c := f.Shadow64(row.Row)
			regfile.Fill64(to, c.Base, c.Stride, c.Mask)
		}
	default:
		*to = regfile.Row64{}
	}
}

// setOnMaterialise has the warp's files tell of expansions, if somebody wants to know.
func (w *warp) setOnMaterialise() {
	for h := range w.files {
		f := &w.files[h]
		if f.OnMaterialise = nil; w.check != nil || w.cta.isSubscribed(probe.OnMaterialise) {
			if w.onMaterialise[h] == nil {
				w.onMaterialise[h] = func(bits int, row int32, lanes uint32) { w.emitMaterialise(h, bits, row, lanes) }
			}
			f.OnMaterialise = w.onMaterialise[h]
		}
	}
}

// emitMaterialise counts and tells that a row of half h of the warp has been written from its shadow.
func (w *warp) emitMaterialise(h, width int, row int32, lanes uint32) {
	if w.check != nil {
		w.count.Engine.MaterialisedLanes += int64(bits.OnesCount32(lanes))
	}
	if !w.cta.isSubscribed(probe.OnMaterialise) {
		return
	}
	o := code.Row{Slot: code.R, Row: row}
	if width == 64 {
		o.Slot = code.Q
	}
	s, fn := w.cta.stream, w.shownFrame.fn
	src := s.stepPlace.source
	if src != nil && src.Func != fn { // results on their way to the caller
		src = nil
	}
	s.fillEvent(&s.event, w, src, uint64(lanes)<<(32*h))
	s.eventPlace.frame = w.shownFrame
	c := shadowAt(&w.files[h], o.Slot, o.Row)
	s.materialised = probe.Value{Reg: registerIn(fn, o, src)}
	s.materialised.Tags[h] = probe.Tag{Value: valueOf(c), Mask: c.Mask}
	if s.materialised.Reg != ptx.NoReg {
		s.materialised.Type = fn.Func.Regs[s.materialised.Reg].Type
	}
	s.event.Materialised, s.event.Row = &s.materialised, probe.Location{Kind: probe.RowLocation, Bits: width, Row: int(row)}
	s.emit(&s.event, probe.OnMaterialise)
}

// registerIn is the register that a row of the function holds at an instruction: one that it
// names, if there is one, else one that somebody will read; where src is nil, at the
// function's end. It is none if the row is a temporary's.
func registerIn(fn *code.Func, row code.Row, src *code.Source) ptx.RegID {
	in := func(loc *code.Location) bool {
		return loc.Slot == row.Slot && (loc.Row == row.Row || loc.Wide && loc.High == row.Row)
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
		switch loc := &fn.Regs[r]; {
		case !in(loc):
		case src != nil && (src.Index < loc.First || src.Index > loc.Last):
		case found == ptx.NoReg || loc.Last > fn.Regs[found].Last:
			found = ptx.RegID(r)
		}
	}
	return found
}
