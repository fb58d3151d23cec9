package observe

import (
	"math/bits"
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

// LoggableLoads returns which instructions machine code may log, by index: loads with a single event, of an access, whose sinks are
// all probe.LoadFilters. sole is the result of SoleAccesses.
func LoggableLoads(w *machine.Warp, sole []*machine.SoleAccess) []bool {
	list := make([]bool, len(sole))
	s := w.CTA.Stream
	if len(s.Sinks) > 64 {
		return list
	}
	for i, x := range sole {
		if x == nil || !native.CanLog(x.Instr, w.AccessOf(x.Instr)) || x.Accesses[0].SpareBytes > 0 {
			continue
		}
		list[i] = true
		for k := range s.Sinks {
			if _, ok := s.Sinks[k].Sink.(probe.LoadFilter); !ok && event.Receives(s, k, w.ReducedSinks, x.Source.Index, probe.OnAccess) {
				list[i] = false
			}
		}
	}
	return list
}

// OpenWindow asks the sinks for their conditions for loads of an instruction, whose event was EventStream.Step, and opens its window
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
	window := native.LoadWindow{}
	for k := range s.Sinks {
		if !event.Receives(s, k, u.ReducedSinks, x.Source.Index, probe.OnAccess) {
			continue
		}
		c, ok := s.Sinks[k].Sink.(probe.LoadFilter).FilterLoads(&s.Step, a)
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
			if _, ok := s.Sinks[k].Sink.(probe.LoadReceiver); ok {
				x.Listed |= 1 << k
			}
		}
	}
	if begin >= end || end-begin < uint64(a.Bytes) {
		return
	}
	window.Begin, window.Last = begin, end-begin-uint64(a.Bytes)
	if uint64(len(marks)) >= end-marksBegin && (a.Bytes < 3 || a.Bytes%4 == 0) {
		window.Marks = &marks[begin-marksBegin]
	}
	x.Lasts = lasts
	u.Log.Open(int(number), window, x.Late != 0)
}

// EmitLogged emits the loads of a log to the sinks that receive them late: to some sinks their events, to others a list. It emits
// no load after an event at which a sink ends the launch. count counts, at a load, the instructions that the warp has begun.
func EmitLogged(s *machine.EventStream, w *machine.Warp, u *machine.EventUnion, list []native.LoggedLoad, count func(x *machine.LoggableLoad, l *native.LoggedLoad)) {
	p := &s.LoadsPlace
	p.Stream, p.Warp, p.Union, p.Steps = s, w, u, p.Steps[:0]
	receivers := uint64(0)
	for i := 0; i < len(list) && s.StopErr == nil; i++ {
		l := &list[i]
		x := &u.Loggable[l.Number()]
		count(x, l)
		p.Steps = append(p.Steps, w.CTA.Grid.Steps)
		if others := x.Late &^ x.Listed; others != 0 {
			setLogged(s, w, x, l)
			event.EmitLate(s, &s.Step, others)
		}
		receivers |= x.Listed
	}
	p.Logged = list[:len(p.Steps)]
	for ; receivers != 0; receivers &= receivers - 1 {
		s.Current = bits.TrailingZeros64(receivers)
		emitLoads(s)
	}
}

// emitLoads emits the list of the logged loads to the current sink.
func emitLoads(s *machine.EventStream) {
	p, loads := &s.LoadsPlace, &s.Loads
	w := p.Warp
	p.Places, loads.List = p.Places[:0], loads.List[:0]
	for i := range p.Logged {
		l := &p.Logged[i]
		x := &p.Union.Loggable[l.Number()]
		if x.Listed>>s.Current&1 == 0 {
			continue
		}
		lanes := uint64(l.Mask)
		stride, strided := strideOf(w.AccessOf(x.Instr), l.Addresses[:], lanes)
		p.Places = append(p.Places, int32(i))
		loads.List = append(loads.List, probe.Load{
			Index: int(x.Source.Index), Request: &x.Accesses[0].Request, Lanes: lanes, Addr: l.Addresses[:], Stride: stride, Strided: strided,
		})
	}
	loads.Warp, loads.Machine = w.ID, (*loadsMachine)(p)
	s.Sinks[s.Current].Sink.(probe.LoadReceiver).OnLoads(loads)
}

// loadsMachine is the state of the machine at a list of loads: probe.LoadsMachine.
type loadsMachine machine.LoadsPlace

// LoadEvent returns the event of load i of a list.
func (m *loadsMachine) LoadEvent(_ *probe.Loads, i int) *probe.Event {
	k := m.Places[i]
	l, e := &m.Logged[k], &m.Stream.Step
	setLogged(m.Stream, m.Warp, &m.Union.Loggable[l.Number()], l)
	e.Kind, e.Step = probe.OnAccess, m.Steps[k]
	return e
}

// setLogged sets EventStream.Step to the event of a load that machine code has executed.
func setLogged(s *machine.EventStream, w *machine.Warp, x *machine.LoggableLoad, l *native.LoggedLoad) {
	lanes := uint64(l.Mask)
	w.Mask = lanes
	event.BeginReconvergingStep(s, w, x.Source, lanes, l.ReconvergeAt)
	x.Place.Warp = w
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
	x.Place.Warp = w
	to := &x.Accesses[0]
	to.Renew(lanes)
	describeLanes(s, w, x.Instr, w.AccessOf(x.Instr), to)
	s.Step.Accesses, s.Step.Reads = x.Accesses, nil
	event.Emit(s, &s.Step, probe.OnAccess)
}
