package observe

import (
	"math/bits"
	"slices"
	"unsafe"

	"gemu/interp/internal/access"
	"gemu/interp/internal/async"
	"gemu/interp/internal/code"
	"gemu/interp/internal/event"
	"gemu/interp/internal/lanes"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/native"
	"gemu/probe"
	"gemu/regfile"
)

// emitAccess emits the accesses of a memory instruction before they happen.
func emitAccess(s *machine.EventStream, w *machine.Warp, instr *code.Instr) {
	if instr.Op == code.TextureFetch {
		emitTexels(s, w, instr)
		return
	}
	describeAccess(s, w, instr)
	if s.Step.Lanes != 0 {
		event.Emit(s, &s.Step, probe.OnAccess)
	}
}

// describeAccess adds the accesses of a memory instruction to the earlier accesses of the same PTX instruction.
func describeAccess(s *machine.EventStream, w *machine.Warp, instr *code.Instr) {
	n := len(s.Step.Accesses)
	if s.Accesses = s.Accesses[:n]; n == cap(s.Accesses) {
		s.Accesses = append(s.Accesses, probe.Access{})
	}
	if n == len(s.AccessPlaces) {
		s.AccessPlaces = append(s.AccessPlaces, new(machine.AccessPlace))
	}
	s.Accesses = s.Accesses[:n+1]
	s.Step.Accesses = s.Accesses
	to, m := &s.Accesses[n], s.AccessPlaces[n]
	m.Warp, m.Instr, to.Machine = w, instr, (*event.AccessMachine)(m)
	switch instr.Op.Signature().Side {
	case code.TextureSide:
		access.DescribeSurface(w, instr, to, s.Step.Lanes, s.Subscription.Addresses)
		return
	case code.NoSide:
		async.DescribeMbarrier(w, instr, to, s.Step.Lanes, s.Subscription.Addresses)
		return
	}
	a := w.AccessOf(instr)
	request := setRequest(w, a, m)
	to.Reset(request, s.Step.Lanes, (*event.AccessMachine)(m))
	describeLanes(s, w, instr, a, to)
}

// setRequest returns the request of an access, and sets the fields of m that belong to it.
func setRequest(w *machine.Warp, a *code.Access, m *machine.AccessPlace) probe.Request {
	request := w.RequestOf(a)
	m.Tolerate, m.Hardware, m.Unit = request.Tolerate, request.Hardware, request.Unit
	return request.Request
}

// describeLanes sets the lanes and addresses of an access whose request is set.
func describeLanes(s *machine.EventStream, w *machine.Warp, instr *code.Instr, a *code.Access, to *probe.Access) {
	if a.SingleLane {
		to.Lanes &= -to.Lanes
	}
	if a.Tile != nil {
		half := uint64(lanes.ProvidingLanes(a))
		to.Lanes &= half<<32 | half
	}
	if !s.Subscription.Addresses {
		return
	}
	to.Reserve(regfile.Lanes * len(w.Files))
	for h := range w.Files {
		list := (*regfile.Row64)(to.Addr[regfile.Lanes*h:])
		if a.Addr == code.NoSlot {
			mem.FillRow(list, 0, regfile.Full)
		} else {
			access.ReadRow(w, list, h, code.Row{Slot: a.Addr, Row: instr.A})
		}
		switch { // the address computation of the access, for all lanes
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
				list[i] += 4 * uint64(w.Frame.Local)
			}
		}
	}
	if len(w.Files) == 1 {
		findStride(to, a, to.Lanes)
	}
	if instr.Op == code.StoreBulk {
		to.Lengths = make([]uint64, len(to.Addr))
		for h := range w.Files {
			access.ReadRow(w, (*regfile.Row64)(to.Lengths[regfile.Lanes*h:]), h, code.Row{Slot: a.Elems[0].Slot, Row: a.Elems[0].Row})
		}
	}
}

// SoleAccesses returns, by instruction, those whose exit from machine code has a single event, of a single access: see
// machine.SoleAccess. selected has the selected events, by instruction.
func SoleAccesses(w *machine.Warp, selected []probe.Events) []*machine.SoleAccess {
	p, sub := w.CTA.Code, &w.CTA.Stream.Subscription
	list := make([]*machine.SoleAccess, len(selected))
	if sub.Values || sub.Tags {
		return list
	}
	accesses := p.Accesses()
	for i, kinds := range selected {
		a := &accesses[i]
		if kinds != probe.OnAccess || len(a.Folded) > 0 || len(a.Run) != 1 || a.Run[0] != a.Start {
			continue
		}
		instr := &p.Instrs[a.Start]
		if instr.Op.Signature().Side != code.AccessSide || instr.Op == code.StoreBulk || p.Access[instr.Side].Tile != nil {
			continue
		}
		x := &machine.SoleAccess{Source: &p.Sources[i], Instr: instr, Accesses: make([]probe.Access, 1)}
		x.Place.Instr = instr
		x.Accesses[0].Reset(setRequest(w, &p.Access[instr.Side], &x.Place), 0, (*event.AccessMachine)(&x.Place))
		list[i] = x
	}
	return list
}

// LoggableAccesses returns which instructions machine code may log, by index: loads and stores with a single event, of an access, whose
// sinks are all filters (isFilter). sole is the result of SoleAccesses.
func LoggableAccesses(w *machine.Warp, sole []*machine.SoleAccess) []bool {
	list := make([]bool, len(sole))
	s := w.CTA.Stream
	if len(s.Sinks) > 64 {
		return list
	}
	for i, x := range sole {
		if x == nil || !native.CanLog(x.Instr, w.AccessOf(x.Instr)) || x.Accesses[0].SpareBytes > 0 || x.IsStore() && !s.Subscription.InOrder {
			continue // out of order, another CTA may load a value before the sinks have received the event of its store
		}
		list[i] = true
		for k := range s.Sinks {
			if !isFilter(s.Sinks[k].Sink, x) && event.Receives(s, k, w.ReducedSinks, x.Source.Index, probe.OnAccess) {
				list[i] = false
			}
		}
	}
	return list
}

// isFilter reports whether a sink may have conditions for an access: it is a probe.LoadFilter or, for a store, a probe.StoreFilter.
func isFilter(s probe.Sink, x *machine.SoleAccess) bool {
	if x.IsStore() {
		_, ok := s.(probe.StoreFilter)
		return ok
	}
	_, ok := s.(probe.LoadFilter)
	return ok
}

// filter returns the condition of a sink for the access of x, whose event was EventStream.Step.
func filter(s *machine.EventStream, sink probe.Sink, x *machine.LoggableAccess) (c probe.AccessCondition, ok bool) {
	if x.IsStore() {
		return sink.(probe.StoreFilter).FilterStores(&s.Step, &x.Accesses[0])
	}
	return sink.(probe.LoadFilter).FilterLoads(&s.Step, &x.Accesses[0])
}

// storedMemory returns the memory of a store, whose event was EventStream.Step, and the address of its first byte. It returns nil if
// the memory may change its place, or belongs to the host, which may take it away.
func storedMemory(s *machine.EventStream, x *machine.LoggableAccess) (data []byte, begin uint64) {
	a := &x.Accesses[0]
	first := bits.TrailingZeros64(a.Lanes)
	_, alloc, offset, ok := a.PlaceOf(first)
	if !ok || alloc == nil {
		return nil, 0
	}
	switch alloc.Kind {
	case probe.BufferMemory, probe.VariableMemory:
	case probe.SharedMemory:
		if s.CTA.Grid.Info.Cluster.Count() > 1 { // a generic address depends on the CTA's rank
			return nil, 0
		}
	default:
		return nil, 0
	}
	return alloc.Data, a.Addr[first] - offset
}

// OpenWindow asks the sinks for their conditions for accesses of an instruction, whose event was EventStream.Step, and opens its window
// in the log of the union if all sinks have one.
func OpenWindow(s *machine.EventStream, w *machine.Warp, u *machine.EventUnion, number int32) {
	x := &u.Loggable[number]
	if x.Asked {
		return
	}
	x.Asked, x.Lasts, x.Late, x.Listed = true, false, 0, 0
	a := &x.Accesses[0]
	begin, end, lasts := uint64(0), uint64(1)<<63, true
	marks, marksBegin := []byte(nil), uint64(0)
	window := native.AccessWindow{}
	for k := range s.Sinks {
		if !event.Receives(s, k, u.ReducedSinks, x.Source.Index, probe.OnAccess) {
			continue
		}
		c, ok := filter(s, s.Sinks[k].Sink, x)
		if !ok || c.Unless != nil && window.Closed != nil {
			return
		}
		lasts = lasts && c.Lasting
		if begin, end = max(begin, c.Begin), min(end, c.End); c.Unless != nil {
			window.Closed = (*int64)(unsafe.Pointer(c.Unless))
			marks, marksBegin = c.Marks, c.Begin
			window.Mark, window.Bytes = uint32(c.Mark)*0x01010101, uint32(a.Bytes)
		}
		if c.Late {
			window.Quiet = nil // several sinks are quiet at different moments
			if x.Late == 0 {
				window.Quiet = (*int64)(unsafe.Pointer(c.Quiet))
			}
			x.Late |= 1 << k
			if _, ok := s.Sinks[k].Sink.(probe.AccessReceiver); ok {
				x.Listed |= 1 << k
			}
		}
	}
	memory, memoryBegin := []byte(nil), uint64(0)
	if x.IsStore() {
		memory, memoryBegin = storedMemory(s, x)
		begin, end = max(begin, memoryBegin), min(end, memoryBegin+uint64(len(memory)))
	}
	if begin >= end || end-begin < uint64(a.Bytes) {
		return
	}
	if memory != nil {
		window.Memory, window.Bytes = &memory[begin-memoryBegin], uint32(a.Bytes)
	}
	window.Begin, window.Last = begin, end-begin-uint64(a.Bytes)
	if uint64(len(marks)) >= end-marksBegin && (a.Bytes < 3 || a.Bytes%4 == 0) {
		window.Marks = &marks[begin-marksBegin]
	}
	x.Lasts = lasts
	u.Log.Open(int(number), window, x.Late != 0)
}

// EmitLogged emits the accesses of a log to the sinks that receive them late: to some sinks their events, to others a list. It emits
// none after an event at which a sink ends the launch. count counts, at an access, the instructions that the warp has begun.
func EmitLogged(s *machine.EventStream, w *machine.Warp, u *machine.EventUnion, list []native.LoggedAccess, count func(x *machine.LoggableAccess, l *native.LoggedAccess)) {
	p := &s.AccessListPlace
	p.Stream, p.Warp, p.Union, p.Logged, p.Steps = s, w, u, list, p.Steps[:0]
	receivers := uint64(0)
	for i := 0; i < len(list) && s.StopErr == nil; i++ {
		l := &list[i]
		x := &u.Loggable[l.Number()]
		count(x, l)
		p.Steps = append(p.Steps, w.CTA.Grid.Steps)
		if others := x.Late &^ x.Listed; others != 0 {
			setLogged(p, i)
			event.EmitLate(s, &s.Step, others)
		}
		receivers |= x.Listed
	}
	for ; receivers != 0; receivers &= receivers - 1 {
		s.Current = bits.TrailingZeros64(receivers)
		emitList(s)
	}
}

// emitList emits the list of the logged accesses to the current sink.
func emitList(s *machine.EventStream) {
	p, loads := &s.AccessListPlace, &s.AccessList
	w := p.Warp
	p.Places, loads.List = p.Places[:0], slices.Grow(loads.List[:0], len(p.Steps))[:len(p.Steps)]
	n := 0
	for i := range p.Steps {
		l := &p.Logged[i]
		x := &p.Union.Loggable[l.Number()]
		if x.Listed>>s.Current&1 == 0 {
			continue
		}
		p.Places = append(p.Places, int32(i))
		// Field by field, and pointers only if they change: during a garbage collection each store of a pointer takes as long as all others.
		to := &loads.List[n]
		n++
		to.Index, to.Lanes = int(x.Source.Index), uint64(l.Mask)
		if request := &x.Accesses[0].Request; to.Request != request {
			to.Request = request
		}
		if len(to.Addr) == 0 || &to.Addr[0] != &l.Addresses[0] {
			to.Addr = l.Addresses[:]
		}
		to.Stride, to.Strided = strideOf(w.AccessOf(x.Instr), l.Addresses[:], to.Lanes)
	}
	loads.List = loads.List[:n]
	loads.Warp, loads.Machine = w.ID, (*listMachine)(p)
	s.Sinks[s.Current].Sink.(probe.AccessReceiver).OnAccesses(loads)
}

// listMachine is the state of the machine at a list of loads: probe.AccessListMachine.
type listMachine machine.AccessListPlace

// AccessEvent returns the event of load i of a list.
func (m *listMachine) AccessEvent(_ *probe.AccessList, i int) *probe.Event {
	k := m.Places[i]
	e := &m.Stream.Step
	setLogged((*machine.AccessListPlace)(m), int(k))
	e.Kind, e.Step = probe.OnAccess, m.Steps[k]
	return e
}

// setLogged sets EventStream.Step to the event of entry i of a log.
func setLogged(p *machine.AccessListPlace, i int) {
	s, w, l := p.Stream, p.Warp, &p.Logged[i]
	x, lanes := &p.Union.Loggable[l.Number()], uint64(l.Mask)
	w.Mask = lanes
	event.BeginReconvergingStep(s, w, x.Source, lanes, l.ReconvergeAt)
	x.Place.Warp, x.Place.Late, x.Place.Entry = w, p, i
	to := &x.Accesses[0]
	to.Renew(lanes)
	to.Addr = l.Addresses[:]
	findStride(to, w.AccessOf(x.Instr), lanes)
	s.Step.Accesses, s.Step.Reads = x.Accesses, nil
}

// findStride sets the run of lanes of an access with a proved pattern.
func findStride(to *probe.Access, a *code.Access, lanes uint64) {
	if stride, ok := strideOf(a, to.Addr, lanes); ok {
		to.SetStride(lanes, stride)
	}
}

// strideOf returns the distance of the addresses of consecutive lanes, if the access has a proved pattern that gives it.
func strideOf(a *code.Access, addr []uint64, lanes uint64) (stride int64, ok bool) {
	if a.Addr == code.NoSlot && !a.Frame && lanes != 0 {
		return 0, true
	}
	if a.Pattern == code.AnyPattern || lanes == 0 {
		return 0, false
	}
	first, last := bits.TrailingZeros64(lanes), 63-bits.LeadingZeros64(lanes)
	stride = a.Distance()
	return stride, addr[last]-addr[first] == uint64(stride)*uint64(last-first)
}

// EmitSole emits the event of an instruction before which machine code has exited. reconverge is the pc of the block where the
// lanes reconverge; machine.NoBlock: none.
func EmitSole(s *machine.EventStream, w *machine.Warp, x *machine.SoleAccess, reconverge int32) {
	lanes := w.GuardedLanes(x.Source.Guard)
	event.BeginReconvergingStep(s, w, x.Source, lanes, reconverge)
	if lanes == 0 {
		return
	}
	if x.Place.Warp = w; x.Place.Late != nil {
		x.Place.Late = nil
	}
	to := &x.Accesses[0]
	to.Renew(lanes)
	describeLanes(s, w, x.Instr, w.AccessOf(x.Instr), to)
	s.Step.Accesses, s.Step.Reads = x.Accesses, nil
	event.Emit(s, &s.Step, probe.OnAccess)
}
