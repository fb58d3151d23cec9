package observe

import (
	"gemu/interp/internal/access"
	"gemu/interp/internal/async"
	"gemu/interp/internal/code"
	"gemu/interp/internal/event"
	"gemu/interp/internal/lanes"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
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
	request := w.RequestOf(a)
	m.Tolerate, m.Hardware, m.Unit = request.Tolerate, request.Hardware, request.Unit
	to.Reset(request.Request, s.Step.Lanes, (*event.AccessMachine)(m))
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
	if instr.Op == code.StoreBulk {
		to.Lengths = make([]uint64, len(to.Addr))
		for h := range w.Files {
			access.ReadRow(w, (*regfile.Row64)(to.Lengths[regfile.Lanes*h:]), h, code.Row{Slot: a.Elems[0].Slot, Row: a.Elems[0].Row})
		}
	}
}
