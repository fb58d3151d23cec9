package event

// This file implements probe.Machine, the interface of events and cells to the machine, and probe.Program.

import (
	"gemu/interp/internal/access"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// eventMachine is the state of the machine at an event: probe.Machine.
type eventMachine machine.EventPlace

// ReadRegister reads a register in the call of the event into v; false if it is dead or the event has no instruction.
func (m *eventMachine) ReadRegister(v *probe.Value, r ptx.RegID) bool {
	return m.Warp != nil && m.SourceInstr != nil && ReadRegister(m.Warp, v, m.Frame, m.SourceInstr, r)
}

// Shared returns the shared memory of the CTA.
func (m *eventMachine) Shared() *probe.Allocation { return m.Stream.CTA.SharedMem.Public() }

// Find returns the allocation of global memory that contains an address.
func (m *eventMachine) Find(addr uint64) *probe.Allocation {
	return m.Stream.CTA.Grid.Device.Memory.Find(addr).Public()
}

// ReadLocal copies local memory of a lane to p: see CopyLocal.
func (m *eventMachine) ReadLocal(p []byte, lane int, offset uint64) int {
	if m.Warp == nil {
		return 0
	}
	return CopyLocal(m.Warp, p, lane, offset)
}

// LocalWords returns word i of the local memory of lanes 0 to 31; nil if there is no such word.
func (m *eventMachine) LocalWords(i uint64) *[mem.Lanes]uint32 {
	if m.Warp == nil || i >= uint64(len(m.Warp.Local[0])) {
		return nil
	}
	return &m.Warp.Local[0][i]
}

// Source locates source i of the operation.
func (m *eventMachine) Source(i int) probe.Cell { return m.cell(i, (*code.Tables).Operands) }

// Result locates result i of the operation.
func (m *eventMachine) Result(i int) probe.Cell {
	if m.Pair.Original.Op.Signature().Side == code.AccessSide {
		i += 2
	}
	return m.cell(i, (*code.Tables).Results)
}

// cell returns operand i of the list that list makes for the operation of the event.
func (m *eventMachine) cell(i int, list func(t *code.Tables, rows []code.Row, instr *code.Instr) []code.Row) probe.Cell {
	s := m.Stream
	s.Rows = list(&m.Warp.CTA.Code.Tables, s.Rows[:0], m.Pair.Original)
	row := s.Rows[i]
	return probe.Cell{Machine: m, Bits: cellBits[row.Slot], Row: row.Row}
}

// ReduceEvents switches between the full and the reduced event set of the sink that receives the event, for the warp of the
// event.
func (m *eventMachine) ReduceEvents(reduce bool) {
	s, w := m.Stream, m.Warp
	switch l := &s.Sinks[s.Current]; {
	case l.Reduced == nil || w == nil:
	case reduce:
		w.ReducedSinks |= 1 << s.Current
	default:
		w.ReducedSinks &^= 1 << s.Current
	}
}

// Stop ends the launch with an error, before the next instruction of the CTA. Of several errors, the first counts.
func (m *eventMachine) Stop(err error) {
	if m.Stream.StopErr == nil {
		m.Stream.StopErr = err
	}
}

// NewTrap returns a trap of the given lanes at the place of the event.
func (m *eventMachine) NewTrap(kind error, lanes uint64, message string) *probe.Trap {
	if m.Warp == nil {
		return m.Stream.CTA.NewTrap(nil, kind, "%s", message)
	}
	return m.Warp.NewTrap(m.SourceInstr, lanes, kind, "%s", message)
}

// Pause pauses the launch, if it can pause.
func (m *eventMachine) Pause() {
	g := m.Stream.CTA.Grid
	g.PauseRequested = g.MayPause && g.InOrder
}

// ReadRegister reads a register of a frame at an instruction. It returns false for a dead register.
func ReadRegister(w *machine.Warp, v *probe.Value, fr *machine.Frame, src *code.Source, r ptx.RegID) bool {
	if _, ok := src.Func.LocationOf(r, src.Index); !ok {
		return false
	}
	shown := w.ShownFrame
	w.ShowWindow(fr)
	readValue(w, v, src.Func, r, true, true)
	w.ShowWindow(shown)
	return true
}

// cellBits maps a slot to the width of a cell in bits; cellSlots is the inverse.
var (
	cellBits  = [...]int32{code.NoSlot: 0, code.R: 32, code.Q: 64, code.P: 1}
	cellSlots = [...]code.Slot{0: code.NoSlot, 1: code.P, 32: code.R, 64: code.Q}
)

// cellRow returns the row of a cell.
func cellRow(c probe.Cell) code.Row { return code.Row{Slot: cellSlots[c.Bits], Row: c.Row} }

// ReadLanes copies the values of a cell in half 0 or 1 of the warp.
func (m *eventMachine) ReadLanes(c probe.Cell, half int, to *[regfile.Lanes]uint64) {
	access.ReadRow(m.Warp, to, half, cellRow(c))
}

// ReadLane returns the value of a lane of a cell.
func (m *eventMachine) ReadLane(c probe.Cell, lane int) uint64 {
	return machine.LaneValue(&m.Warp.Files[lane/regfile.Lanes], cellRow(c), lane%regfile.Lanes)
}

// ReadTag returns the compact copy of a cell in half 0 or 1 of the warp; the zero value if it has none.
func (m *eventMachine) ReadTag(c probe.Cell, half int) probe.Tag {
	f, row := &m.Warp.Files[half], cellRow(c)
	if row.Slot == code.P || !f.Tracked() {
		return probe.Tag{}
	}
	s := machine.ShadowAt(f, row.Slot, row.Row)
	return probe.Tag{Value: machine.ValueOfShadow(s), Mask: s.Mask}
}

// Program is a kernel as probes see it: probe.Program.
type Program struct{ K *machine.Kernel }

// Len returns the number of instructions.
func (p Program) Len() int { return len(p.K.Sources) }

// At returns an instruction and the function that contains it.
func (p Program) At(index int) (*ptx.Instr, *ptx.Func) {
	s := &p.K.Sources[index]
	return s.Instr, s.Func.Func
}

// Writes returns the registers that an instruction writes.
func (p Program) Writes(index int) []ptx.RegID { return p.K.Sources[index].Writes }

// Shared returns the variables in shared memory.
func (p Program) Shared() []probe.Variable { return p.K.Shared }

// Globals returns the variables in global and constant memory.
func (p Program) Globals() []probe.Variable { return p.K.Globals }

// Params returns the parameters of the kernel.
func (p Program) Params() []probe.Variable { return p.K.Params }

// Locals returns the variables in the local frame of a function.
func (p Program) Locals(f *ptx.Func) []probe.Variable {
	for _, fn := range p.K.Funcs {
		if fn.Func == f {
			return fn.Locals
		}
	}
	return nil
}

// LocationOf returns the place of a register at an instruction.
func (p Program) LocationOf(index int, r ptx.RegID) probe.Location {
	loc, ok := p.K.Sources[index].Func.LocationOf(r, int32(index))
	switch {
	case !ok:
		return probe.Location{}
	case loc.Row < 0:
		return probe.Location{Kind: probe.ConstantLocation, Bits: machine.SlotBits(loc.Slot)}
	}
	return probe.Location{Kind: probe.RowLocation, Bits: machine.SlotBits(loc.Slot), Row: int(loc.Row)}
}

// Operations returns the operations of an instruction, or nil if no probe subscribes to them.
func (p Program) Operations(index int) *probe.Operations {
	if p.K.CheckReference == nil || p.K.CheckReference.Operations == nil {
		return nil
	}
	return &p.K.CheckReference.Operations[index]
}

// Frame returns the number of register rows of a function in the reference; 0 without a reference.
func (p Program) Frame(f *ptx.Func) probe.FrameSize {
	if p.K.CheckReference != nil {
		for _, fn := range p.K.CheckReference.Funcs {
			if fn.Func == f {
				return probe.FrameSize(fn.Frame)
			}
		}
	}
	return probe.FrameSize{}
}

// Arguments returns the places of a function's parameters and results in the reference; nil without a reference.
func (p Program) Arguments(f *ptx.Func) (params, results []probe.Operand) {
	if p.K.CheckReference != nil {
		for _, fn := range p.K.CheckReference.Funcs {
			if fn.Func == f {
				return argumentOperands(fn.Formals), argumentOperands(fn.Results)
			}
		}
	}
	return nil, nil
}
