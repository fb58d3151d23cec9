package event

// This file delivers the events of a CTA to its sinks.

import (
	"bytes"
	"math/bits"
	"unsafe"

	"gemu/interp/internal/access"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// maxReducers is the number of sinks of a CTA that may reduce their event sets: the first 64, because
// WarpProgress.ReducedSinks has a bit for each.
const maxReducers = 64

// EmitGrid emits an event of the whole launch to the probes.
func EmitGrid(g *machine.Grid, kind probe.Events, err error) {
	for _, p := range g.Probes {
		if p.Subscription.Events&kind != 0 {
			t, _ := err.(*probe.Trap)
			p.OnEvent(&probe.Event{Kind: kind, Launch: g.Info, CTA: -1, Warp: -1, Index: -1, Reconverge: -1, Trap: t, Err: err})
		}
	}
}

// EmitHost emits an event of a memory operation of the host to the device's probes.
func EmitHost(d *machine.Device, kind probe.Events, a *mem.Allocation, offset uint64, bytes int, order *probe.HostOrder) {
	for _, p := range d.Probes {
		if p.Subscription().Events&kind != 0 {
			p.OnEvent(&probe.Event{Kind: kind, Device: d.Number, CTA: -1, Warp: -1, Index: -1, Reconverge: -1, Memory: a.Public(), Offset: offset, Bytes: bytes, Order: order})
		}
	}
}

// Emit delivers an event to all sinks that subscribe to its kind.
func Emit(s *machine.EventStream, e *probe.Event, kind probe.Events) {
	e.Kind = kind
	for i := range s.Sinks {
		l := &s.Sinks[i]
		if l.Subscription.Events&kind == 0 {
			continue
		}
		if kind&probe.Selectable != 0 {
			if list := selectedEvents(l, i, s.ReducedSinks); list != nil && list[e.Index]&kind == 0 {
				continue
			}
		}
		s.Current = i
		l.OnEvent(e)
	}
}

// EmitLate delivers the event of an executed load to a set of sinks.
func EmitLate(s *machine.EventStream, e *probe.Event, sinks uint64) {
	e.Kind = probe.OnAccess
	for ; sinks != 0; sinks &= sinks - 1 {
		s.Current = bits.TrailingZeros64(sinks)
		s.Sinks[s.Current].OnEvent(e)
	}
}

// OpenStream sets the event stream of a CTA that begins, with the sinks that the probes of the launch return for it. A CTA
// without sinks has none.
func OpenStream(c *machine.CTA) {
	c.Stream = nil
	if len(c.Grid.Probes) == 0 {
		return
	}
	s := c.IdleStream
	if s == nil {
		s = &machine.EventStream{CTA: c}
		c.IdleStream = s
	}
	before := append(s.PreviousSinks[:0], s.Sinks...)
	s.Sinks, s.Subscription, s.StopErr = s.Sinks[:0], probe.Subscription{}, nil
	same := true // the subscribers are the same as in the previous CTA
	for i := range c.Grid.Probes {
		p := &c.Grid.Probes[i]
		if sink := p.CTA(c.Grid.Info, c.Index, c.ID); sink != nil {
			n := len(s.Sinks)
			s.Sinks = append(s.Sinks, machine.Subscriber{Sink: sink, Subscription: p.Subscription, Probe: p})
			selectStreamEvents(s, n)
			s.Subscription = s.Subscription.Union(p.Subscription)
			same = same && n < len(before) && hasSameSelection(&before[n], &s.Sinks[n])
		}
	}
	if !same || len(before) != len(s.Sinks) {
		s.Unions = s.Unions[:0]
	}
	scope := machine.AccessScope{Turn: c.Grid.Turn, Shared: c.SharedMem.Public()}
	for i := range s.Unions {
		s.Unions[i].CloseWindows(scope == s.Filtered)
	}
	s.Filtered = scope
	clear(before) // releases the old sinks to the garbage collector
	s.PreviousSinks = before
	if len(s.Sinks) > 0 {
		c.Stream = s
	}
}

// selectStreamEvents sets the instruction events that sink i receives, as its probe selects them.
func selectStreamEvents(s *machine.EventStream, i int) {
	l := &s.Sinks[i]
	if l.Selected, l.Reduced = selectProbeEvents(l.Probe, s.CTA.Grid.Info); i >= maxReducers {
		l.Reduced = nil
	}
}

// ReselectEvents lets the probes select again the instruction events of all CTAs in flight. It ends the conditions of sinks for loads.
func ReselectEvents(g *machine.Grid) {
	g.Turn++
	for i := range g.Flights {
		if c := g.Flights[i].CTA; c != nil && c.Stream != nil {
			for k := range c.Stream.Sinks {
				selectStreamEvents(c.Stream, k)
			}
			c.Stream.Unions = c.Stream.Unions[:0]
		}
	}
}

// selectProbeEvents returns the events that a probe selects, by instruction; nil means all. reduced is the reduced event
// set of its sinks; nil if they reduce none.
func selectProbeEvents(p *machine.ProbeState, l *probe.LaunchInfo) (selected, reduced []probe.Events) {
	if p.Subscription.Events&probe.Selectable == 0 {
		return nil, nil
	}
	if c, ok := p.Probe.(probe.EventSelector); ok {
		selected = c.SelectEvents(l)
	}
	if c, ok := p.Probe.(probe.EventReducer); ok {
		reduced = c.ReducedEvents(l)
	}
	return selected, reduced
}

// hasSameSelection reports whether both subscribers have the same probe and receive the same instruction events.
func hasSameSelection(l *machine.Subscriber, other *machine.Subscriber) bool {
	return l.Probe == other.Probe && sameSlice(l.Selected, other.Selected) && sameSlice(l.Reduced, other.Reduced)
}

// sameSlice reports whether two slices are the same part of the same array.
func sameSlice(a, b []probe.Events) bool {
	return len(a) == len(b) && (a == nil) == (b == nil) && unsafe.SliceData(a) == unsafe.SliceData(b)
}

// selectedEvents returns the instruction events of sink i in a warp with the given ReducedSinks; nil means all.
func selectedEvents(l *machine.Subscriber, i int, reducedSinks uint64) []probe.Events {
	if reducedSinks>>i&1 != 0 {
		return l.Reduced
	}
	return l.Selected
}

// Receives reports whether sink i receives events of a kind at an instruction, in warps with the given ReducedSinks.
func Receives(s *machine.EventStream, i int, reducedSinks uint64, index int32, kind probe.Events) bool {
	l := &s.Sinks[i]
	if l.Subscription.Events&kind == 0 {
		return false
	}
	list := selectedEvents(l, i, reducedSinks)
	return list == nil || list[index]&kind != 0
}

// UnionFor returns the union of the instruction events of all sinks for a warp. It is valid until events are
// selected again.
func UnionFor(s *machine.EventStream, w *machine.Warp) *machine.EventUnion {
	for i := range s.Unions {
		if u := &s.Unions[i]; u.ReducedSinks == w.ReducedSinks {
			return u
		}
	}
	return newUnion(s, w.ReducedSinks)
}

// newUnion computes the union of the instruction events of all sinks, for warps with the given ReducedSinks.
func newUnion(s *machine.EventStream, reducedSinks uint64) *machine.EventUnion {
	n := len(s.Unions)
	if n == cap(s.Unions) {
		s.Unions = append(s.Unions, machine.EventUnion{})
	}
	s.Unions = s.Unions[:n+1]
	u := &s.Unions[n]
	u.ReducedSinks, u.Selected, u.Native, u.NativeKnown, u.Log, u.Loggable = reducedSinks, nil, nil, false, nil, nil
	for i := range s.Sinks {
		if l := &s.Sinks[i]; l.Subscription.Events&probe.Selectable != 0 && selectedEvents(l, i, reducedSinks) == nil {
			return u
		}
	}
	size := len(s.CTA.Code.Sources)
	if u.Buffer = u.Buffer[:0]; cap(u.Buffer) < size {
		u.Buffer, u.Next = make([]probe.Events, size), make([]int32, size)
	}
	u.Selected, u.Next = u.Buffer[:size], u.Next[:size]
	clear(u.Selected)
	for i := range s.Sinks {
		if l := &s.Sinks[i]; l.Subscription.Events&probe.Selectable != 0 {
			for k, kinds := range selectedEvents(l, i, reducedSinks) {
				u.Selected[k] |= kinds & l.Subscription.Events & probe.Selectable
			}
		}
	}
	next := int32(size)
	for k := size - 1; k >= 0; k-- {
		if u.Selected[k] != 0 {
			next = int32(k)
		}
		u.Next[k] = next
	}
	return u
}

// EmitCTA emits an event of the CTA that belongs to no warp.
func EmitCTA(c *machine.CTA, kind probe.Events) {
	if c.IsSubscribed(kind) {
		Emit(c.Stream, NewCTAEvent(c.Stream), kind)
	}
}

// NewCTAEvent returns an event of the CTA that belongs to no warp. It is valid until the stream fills in its next event.
func NewCTAEvent(s *machine.EventStream) *probe.Event {
	c := s.CTA
	s.Event = probe.Event{Launch: c.Grid.Info, Step: c.Grid.Steps, CTA: c.Index, ID: c.ID, Warp: -1, Index: -1, Reconverge: -1, Machine: (*eventMachine)(&s.EventPlace)}
	s.EventPlace = machine.EventPlace{Stream: s}
	return &s.Event
}

// FillEvent fills in an event of lanes of the running warp split. The instruction may be nil.
func FillEvent(s *machine.EventStream, e *probe.Event, w *machine.Warp, src *code.Source, lanes uint64) {
	c := s.CTA
	*e = probe.Event{Launch: c.Grid.Info, Step: c.Grid.Steps, CTA: c.Index, ID: c.ID, Warp: w.ID, Index: -1, Reconverge: -1, Active: w.Mask, Lanes: lanes, Machine: (*eventMachine)(&s.EventPlace)}
	s.EventPlace = machine.EventPlace{Stream: s, Warp: w, SourceInstr: src, Frame: w.Frame}
	if w.Frame != nil {
		e.Depth, e.Local = w.Frame.Depth, 4*w.Frame.Local
	}
	if w.Reconvergence != nil {
		e.Reconverge = int(c.Code.SourceAt(w.Reconvergence.PC))
	}
	if src != nil {
		e.Instr, e.Func, e.Index = src.Instr, src.Func.Func, int(src.Index)
	}
}

// EmitLanes emits an event of lanes of the running warp split.
func EmitLanes(w *machine.Warp, kind probe.Events, src *code.Source, lanes uint64) {
	if w.CTA.Stream != nil { // saves the call in a launch without subscribers
		emitStreamLanes(w.CTA.Stream, w, kind, src, lanes)
	}
}

// emitStreamLanes is EmitLanes for a CTA with a stream.
func emitStreamLanes(s *machine.EventStream, w *machine.Warp, kind probe.Events, src *code.Source, lanes uint64) {
	if s.Subscription.Events&kind != 0 {
		FillEvent(s, &s.Event, w, src, lanes)
		Emit(s, &s.Event, kind)
	}
}

// EmitGroups emits an event with the next places of groups of lanes.
func EmitGroups(w *machine.Warp, kind probe.Events, src *code.Source, lanes uint64, groups ...machine.BranchGroup) {
	s := w.CTA.Stream
	if !w.CTA.IsSubscribed(kind) {
		return
	}
	FillEvent(s, &s.Event, w, src, lanes)
	s.Groups = s.Groups[:0]
	for _, g := range groups {
		if g.Mask != 0 {
			uncounted := int32(0)
			if g.PC == w.PC { // they diverge inside the block
				uncounted = w.Uncounted
			}
			s.Groups = append(s.Groups, probe.LaneGroup{Lanes: g.Mask, To: int(w.CTA.Code.NextSource(g.PC, uncounted))})
		}
	}
	s.Event.Groups = s.Groups
	Emit(s, &s.Event, kind)
}

// EmitSplit emits an event of warp split c, which need not be the running split. results are registers of src whose values
// the lanes have received without executing an instruction at this moment.
func EmitSplit(w *machine.Warp, kind probe.Events, c *machine.WarpSplit, src *code.Source, results []ptx.RegID) {
	s := w.CTA.Stream
	if !w.CTA.IsSubscribed(kind) {
		return
	}
	running := w.WarpSplit
	w.WarpSplit = *c
	e := &s.SplitEvent
	if src == nil || c.Frame == nil {
		e = &s.Event
		FillEvent(s, e, w, src, c.Mask)
	} else {
		reconverge := int32(machine.NoBlock)
		if c.Reconvergence != nil {
			reconverge = c.Reconvergence.PC
		}
		setEvent(s, e, &s.SplitPlace, w, src, c.Mask, reconverge)
	}
	if e.Wait = (probe.WaitState{}); c.Wait != nil {
		e.Wait = DescribeWait(c.Wait, w.CTA.Code.Width)
	}
	if len(results) > 0 {
		w.ShowWindow(c.Frame)
		s.ValueBuffer = ReadResults(w, s.ValueBuffer, src, results)
		e.Writes = s.ValueBuffer
	} else if e.Writes != nil {
		e.Writes = nil
	}
	Emit(s, e, kind)
	w.WarpSplit = running
	if running.Mask != 0 {
		w.ShowWindow(running.Frame)
	}
}

// DescribeWait returns the description of a wait for probes.
func DescribeWait(b *machine.SplitWait, width int) probe.WaitState {
	if b.IsCollective() {
		return probe.WaitState{Barrier: -1, Members: b.Membermask}
	}
	return probe.WaitState{Barrier: b.ID, Threads: b.Expected * width, Generation: b.Generation}
}

// EmitMemory emits an event of a lane's memory operation on an allocation.
func EmitMemory(w *machine.Warp, kind probe.Events, instr *code.Instr, lane int, a *mem.Allocation) {
	if s := w.CTA.Stream; w.CTA.IsSubscribed(kind) {
		e := &s.Event
		FillEvent(s, e, w, w.SourceOf(instr), 1<<lane)
		e.Memory, e.Bytes = a.Public(), int(a.Size)
		Emit(s, e, kind)
	}
}

// EmitTrap emits the event of the trap that has stopped the CTA.
func EmitTrap(c *machine.CTA, t *probe.Trap) {
	if !c.IsSubscribed(probe.OnTrap) {
		return
	}
	e := NewCTAEvent(c.Stream)
	switch src := c.Code.Source(int32(t.Index)); {
	case t.Warp >= 0:
		FillEvent(c.Stream, e, &c.Warps[t.Warp], src, t.Lanes)
	case src != nil:
		e.Instr, e.Func, e.Index = src.Instr, src.Func.Func, int(src.Index)
	}
	e.Trap = t
	Emit(c.Stream, e, probe.OnTrap)
}

// BeginStep fills in s.Step: the event of an instruction that lanes of the running warp split are about to execute.
func BeginStep(s *machine.EventStream, w *machine.Warp, src *code.Source, lanes uint64) {
	reconverge := int32(machine.NoBlock)
	if w.Reconvergence != nil {
		reconverge = w.Reconvergence.PC
	}
	BeginReconvergingStep(s, w, src, lanes, reconverge)
	s.Step.Accesses = nil
	s.Reads = readValues(w, s.Reads, src, src.Reads, s.Subscription.Values)
	s.Step.Reads = s.Reads
}

// BeginReconvergingStep fills in s.Step without Reads and Accesses, for lanes whose innermost reconvergence point is the block
// at pc reconverge; machine.NoBlock: none.
func BeginReconvergingStep(s *machine.EventStream, w *machine.Warp, src *code.Source, lanes uint64, reconverge int32) {
	e, p := &s.Step, &s.StepPlace
	s.ReducedSinks = w.ReducedSinks
	setEvent(s, e, p, w, src, lanes, reconverge)
	if p.Pair != nil {
		p.Pair = nil
	}
	if e.Operation != nil {
		e.Operation = nil
	}
	if s.Mbarriers = s.Mbarriers[:0]; e.Mbarriers != nil {
		e.Mbarriers = nil
	}
	e.Writes = nil
}

// setEvent sets the fields of e and of its place p that FillEvent sets, for the running warp split of a warp. All events in e must be
// of this kind: the other fields are not cleared. reconverge is as in BeginReconvergingStep.
func setEvent(s *machine.EventStream, e *probe.Event, p *machine.EventPlace, w *machine.Warp, src *code.Source, lanes uint64, reconverge int32) {
	// Most fields of the event are zero for every instruction; to clear the event each time would take as long as the whole remaining
	// work for it. A pointer is stored only if it changes, because during a garbage collection each store of a pointer takes as long as
	// the remaining work, too.
	c := s.CTA
	if e.Launch != c.Grid.Info || e.Machine == nil {
		e.Launch, e.Machine = c.Grid.Info, (*eventMachine)(p)
	}
	e.Step, e.CTA, e.ID, e.Warp, e.Active, e.Lanes, e.Reconverge = c.Grid.Steps, c.Index, c.ID, w.ID, w.Mask, lanes, -1
	e.Depth, e.Local = w.Frame.Depth, 4*w.Frame.Local
	if p.Stream != s || p.Warp != w || p.Frame != w.Frame {
		*p = machine.EventPlace{Stream: s, Warp: w, Frame: w.Frame}
	}
	if p.SourceInstr != src {
		p.SourceInstr = src
	}
	if e.Instr != src.Instr || e.Index != int(src.Index) {
		e.Instr, e.Func, e.Index = src.Instr, src.Func.Func, int(src.Index)
	}
	if reconverge != machine.NoBlock {
		e.Reconverge = int(c.Code.SourceAt(reconverge))
	}
}

// EmitAfter emits the event after the execution of the instruction of BeginStep.
func EmitAfter(s *machine.EventStream, w *machine.Warp, src *code.Source) {
	s.Writes = ReadResults(w, s.Writes, src, src.Writes)
	s.Step.Writes, s.Step.Operation = s.Writes, nil
	if len(s.Mbarriers) > 0 {
		s.Step.Mbarriers = s.Mbarriers
	}
	Emit(s, &s.Step, probe.OnAfter)
}

// AccessMachine is the state of the machine at an access: probe.AccessMachine.
type AccessMachine machine.AccessPlace

// request returns the whole request of an access.
func (m *AccessMachine) request(a *probe.Access) mem.Access {
	return mem.Access{Request: a.Request, Tolerate: m.Tolerate, Hardware: m.Hardware, Unit: m.Unit}
}

// BytesLeft returns the number of bytes of a lane's access that are inside the allocation, in whole elements; all bytes if
// the access faults.
func (m *AccessMachine) BytesLeft(a *probe.Access, lane int) int {
	view, request := access.View(m.Warp), m.request(a)
	place, err := view.Find(&request, a.Addr[lane])
	if err != nil {
		return a.Bytes
	}
	size := uint64(m.Warp.AccessOf(m.Instr).Size)
	return int(min(view.BytesLeft(&request, place)/size*size, uint64(a.Bytes)))
}

// AppendStored appends the bytes that a lane is about to store to p. ok is false unless the access is a store of registers
// element by element, with all elements present.
func (m *AccessMachine) AppendStored(a *probe.Access, p []byte, lane int) (to []byte, ok bool) {
	if m.Instr == nil || m.Instr.Op.Signature().Side != code.AccessSide || a.Kind != probe.AccessStore {
		return p, false
	}
	x := m.Warp.AccessOf(m.Instr)
	if x.Tile != nil || a.Lengths != nil {
		return p, false
	}
	if m.Late != nil {
		return m.Late.Union.Log.Stored(m.Entry).AppendStored(p, x, lane), true
	}
	f := &m.Warp.Files[lane/regfile.Lanes]
	from := len(p)
	for _, e := range x.Elems {
		if e.Slot == code.NoSlot {
			return p[:from], false
		}
		p = access.AppendElem(p, f, e, lane%regfile.Lanes, x.Size)
	}
	return p, true
}

// MemoryBefore returns n bytes of an allocation, from offset on, as they were before the access: without the bytes that the access and
// later accesses of its list have stored.
func (m *AccessMachine) MemoryBefore(_ *probe.Access, alloc *probe.Allocation, offset uint64, n int) []byte {
	now := alloc.Data[offset:][:n]
	if m.Late == nil {
		return now
	}
	p, before := m.Late, bytes.Clone(now)
	for i := len(p.Logged) - 1; i >= m.Entry; i-- {
		l := &p.Logged[i]
		x := &p.Union.Loggable[l.Number()]
		if !x.IsStore() {
			continue
		}
		x.Place.Warp = p.Warp
		stored, size := p.Union.Log.Stored(i), x.Accesses[0].Bytes
		for lanes := l.Mask; lanes != 0; lanes &= lanes - 1 {
			lane := bits.TrailingZeros32(lanes)
			_, to, at, ok := (*AccessMachine)(&x.Place).AllocationAt(&x.Accesses[0], l.Addresses[lane])
			if !ok || to != alloc {
				continue
			}
			first, end := max(at, offset), min(at+uint64(size), offset+uint64(n))
			if first < end {
				copy(before[first-offset:end-offset], stored.Before[lane][first-at:])
			}
		}
	}
	return before
}

// StoredBy sets g to the operands of a lane's access that writes memory. It returns false if they are not registers of the
// instruction.
func (m *AccessMachine) StoredBy(a *probe.Access, g *probe.Stored, lane int) (ok bool) {
	g.Data, g.Compare, g.Left = g.Data[:0], g.Compare[:0], 0
	if m.Instr == nil || a.Lengths != nil || a.Kind == probe.AccessLoad {
		return false
	}
	if m.Late != nil { // only stores with all elements are late
		g.Data, _ = m.AppendStored(a, g.Data, lane)
		g.Size = m.Warp.AccessOf(m.Instr).Size
		return true
	}
	h, one := lane/regfile.Lanes, lane%regfile.Lanes
	switch m.Instr.Op.Signature().Side {
	case code.TextureSide:
		g.Data, g.Size = access.TexelOf(m.Warp, g.Data, h, m.Instr, one)
		return g.Size > 0
	case code.NoSide:
		return false
	}
	x, f := m.Warp.AccessOf(m.Instr), &m.Warp.Files[h]
	g.Size = x.Size
	switch {
	case x.Tile != nil:
		g.Data, g.Size = append(g.Data, access.MatrixRowsOf(m.Warp, h, x)[one]...), min(x.Bytes, 8)
	case x.Atom == nil:
		for i, e := range x.Elems {
			if e.Slot == code.NoSlot {
				g.Left |= 1 << i
			}
			g.Data = access.AppendElem(g.Data, f, e, one, x.Size)
		}
	case x.Atom.Op == code.AtomCas:
		for i, e := range x.Atom.C {
			g.Data = access.AppendElem(g.Data, f, e, one, x.Size)
			g.Compare = access.AppendElem(g.Compare, f, x.Atom.B[i], one, x.Size)
		}
	default:
		for _, e := range x.Atom.B {
			g.Data = access.AppendElem(g.Data, f, e, one, x.Size)
		}
	}
	return len(g.Data) > 0
}

// AllocationAt returns the allocation that an access to an address reaches, nil for local memory, and the offset in it. ok is
// false if the access faults there.
func (m *AccessMachine) AllocationAt(a *probe.Access, addr uint64) (space ptx.Space, alloc *probe.Allocation, offset uint64, ok bool) {
	view, request := access.View(m.Warp), m.request(a)
	place, fault := view.Resolve(&request, addr)
	switch {
	case fault != nil, place.Tolerated.Has(probe.SharedUnit): // a fault, or a tolerated access after the CTA's shared memory
		return a.Space, nil, 0, false
	case place.Alloc == nil:
		return ptx.Local, nil, place.Offset, true
	}
	return place.Alloc.Space(), place.Alloc.Public(), place.Offset, true
}

// Shadow returns the shadow bytes of the memory that a lane accesses; nil if the memory has none or the access faults.
func (m *AccessMachine) Shadow(a *probe.Access, lane int) []byte {
	n := m.Warp.CTA.Grid.Device.Memory.ShadowBytes
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
	if m.Warp.Shadow == nil {
		m.Warp.Shadow = make([][]byte, 64)
	}
	s := &m.Warp.Shadow[lane]
	if len(*s) < to {
		*s = append(*s, make([]byte, to-len(*s))...)
	}
	return (*s)[from:to]
}

// ReadResults reads the registers in list, which an instruction writes, and returns them in the array of room. It returns
// none if no sink subscribes to results or tags.
func ReadResults(w *machine.Warp, room []probe.Value, src *code.Source, list []ptx.RegID) []probe.Value {
	sub := &w.CTA.Stream.Subscription
	return readValues(w, room, src, list, sub.Values || sub.Results)
}

// readValues reads the registers in list, which an instruction names, with their lanes if lanes is set, and returns them in the
// array of room. It returns none if no sink subscribes to lanes or tags.
func readValues(w *machine.Warp, room []probe.Value, src *code.Source, list []ptx.RegID, lanes bool) []probe.Value {
	tags := w.CTA.Stream.Subscription.Tags
	room = room[:0]
	if !lanes && !tags {
		return room
	}
	for _, r := range list {
		if len(room) < cap(room) {
			room = room[:len(room)+1]
		} else {
			room = append(room, probe.Value{})
		}
		readValue(w, &room[len(room)-1], src.Func, r, lanes, tags)
	}
	return room
}

// readValue reads a register of a function into v, with its lanes and with its compact copies.
func readValue(w *machine.Warp, v *probe.Value, fn *code.Func, r ptx.RegID, lanes, tags bool) {
	loc := &fn.Regs[r]
	v.Reset(r, fn.Func.Regs[r].Type)
	if lanes {
		v.Reserve(regfile.Lanes*len(w.Files), loc.Wide)
		for h := range w.Files {
			access.ReadRow(w, (*regfile.Row64)(v.Low[regfile.Lanes*h:]), h, code.Row{Slot: loc.Slot, Row: loc.Row})
			if loc.Wide {
				access.ReadRow(w, (*regfile.Row64)(v.High[regfile.Lanes*h:]), h, code.Row{Slot: loc.Slot, Row: loc.High})
			}
		}
	}
	if tags && w.Files[0].Tracked() && loc.Slot != code.P && loc.Slot != code.NoSlot && !loc.Wide {
		for h := range w.Files {
			c := machine.ShadowAt(&w.Files[h], loc.Slot, loc.Row)
			v.Tags[h] = probe.Tag{Value: machine.ValueOfShadow(c), Mask: c.Mask}
		}
	}
}

// SetOnMaterialise sets OnMaterialise of the warp's register files if a sink subscribes to materialisations, and in check
// mode, which counts them.
func SetOnMaterialise(w *machine.Warp) {
	for h := range w.Files {
		f := &w.Files[h]
		if f.OnMaterialise = nil; w.Check != nil || w.CTA.IsSubscribed(probe.OnMaterialise) {
			if w.OnMaterialise[h] == nil {
				w.OnMaterialise[h] = func(bits int, row int32, lanes uint32) { emitMaterialise(w, h, bits, row, lanes) }
			}
			f.OnMaterialise = w.OnMaterialise[h]
		}
	}
}

// emitMaterialise counts the materialisation of a row of half h of the warp and emits its event.
func emitMaterialise(w *machine.Warp, h, width int, row int32, lanes uint32) {
	if w.Check != nil {
		w.Count.Engine.MaterialisedLanes += int64(bits.OnesCount32(lanes))
	}
	if !w.CTA.IsSubscribed(probe.OnMaterialise) {
		return
	}
	o := code.Row{Slot: code.R, Row: row}
	if width == 64 {
		o.Slot = code.Q
	}
	s, fn := w.CTA.Stream, w.ShownFrame.Func
	src := s.StepPlace.SourceInstr
	if src != nil && src.Func != fn { // the row holds results for the caller
		src = nil
	}
	FillEvent(s, &s.Event, w, src, uint64(lanes)<<(32*h))
	s.EventPlace.Frame = w.ShownFrame
	c := machine.ShadowAt(&w.Files[h], o.Slot, o.Row)
	s.Materialised = probe.Value{Reg: registerIn(fn, o, src)}
	s.Materialised.Tags[h] = probe.Tag{Value: machine.ValueOfShadow(c), Mask: c.Mask}
	if s.Materialised.Reg != ptx.NoReg {
		s.Materialised.Type = fn.Func.Regs[s.Materialised.Reg].Type
	}
	s.Event.Materialised, s.Event.Row = &s.Materialised, probe.Location{Kind: probe.RowLocation, Bits: width, Row: int(row)}
	Emit(s, &s.Event, probe.OnMaterialise)
}

// registerIn returns the register that a row of the function holds at instruction src: a register that the instruction
// names, if possible, otherwise a live register. If src is nil, it is the register that is live last. If the row holds a
// temporary, registerIn returns ptx.NoReg.
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
