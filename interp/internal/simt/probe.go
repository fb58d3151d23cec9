package simt

// This file is the machine's part of package probe: what events, accesses, cells and programs ask it.

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// eventMachine is the state of the machine at an event: probe.Machine.
type eventMachine eventPlace

// eventPlace is the place of an event in the machine.
type eventPlace struct {
	stream *eventStream
	warp   *warp        // nil if the event belongs to no warp
	frame  *frame       // the call that the lanes are in
	source *code.Source // the instruction; nil if there is none
	pair   *instrPair   // the operation
}

// ReadRegister reads a register of the function of the event.
func (m *eventMachine) ReadRegister(v *probe.Value, r ptx.RegID) bool {
	return m.warp != nil && m.source != nil && m.warp.readRegister(v, m.frame, m.source, r)
}

// Shared returns the shared memory of the CTA.
func (m *eventMachine) Shared() *probe.Allocation { return m.stream.cta.sharedMem.Public() }

// Find returns the allocation of global memory that contains an address.
func (m *eventMachine) Find(addr uint64) *probe.Allocation {
	return m.stream.cta.grid.dev.Memory.Find(addr).Public()
}

// ReadLocal copies local memory of a lane.
func (m *eventMachine) ReadLocal(p []byte, lane int, offset uint64) int {
	if m.warp == nil {
		return 0
	}
	return m.warp.copyLocal(p, lane, offset)
}

// LocalWords returns a word of the local memory of the first half of the warp.
func (m *eventMachine) LocalWords(i uint64) *[mem.Lanes]uint32 {
	if m.warp == nil || i >= uint64(len(m.warp.local[0])) {
		return nil
	}
	return &m.warp.local[0][i]
}

// Source locates source i of the operation.
func (m *eventMachine) Source(i int) probe.Cell { return m.cell(i, (*code.Tables).Operands) }

// Result locates result i of the operation.
func (m *eventMachine) Result(i int) probe.Cell {
	if m.pair.original.Op.Signature().Side == code.AccessSide {
		i += 2
	}
	return m.cell(i, (*code.Tables).Results)
}

func (m *eventMachine) cell(i int, list func(t *code.Tables, rows []code.Row, instr *code.Instr) []code.Row) probe.Cell {
	s := m.stream
	s.rows = list(&m.warp.cta.code.Tables, s.rows[:0], m.pair.original)
	row := s.rows[i]
	return probe.Cell{Machine: m, Bits: cellBits[row.Slot], Row: row.Row}
}

// ReduceEvents switches the selection of the sink that receives the event.
func (m *eventMachine) ReduceEvents(reduce bool) {
	s, w := m.stream, m.warp
	switch l := &s.sinks[s.current]; {
	case l.reduced == nil || w == nil:
	case reduce:
		w.reducedSinks |= 1 << s.current
	default:
		w.reducedSinks &^= 1 << s.current
	}
}

// Stop ends the launch before the next instruction of the CTA. The first error wins.
func (m *eventMachine) Stop(err error) {
	if m.stream.stopErr == nil {
		m.stream.stopErr = err
	}
}

// NewTrap returns a trap with the place of the event.
func (m *eventMachine) NewTrap(kind error, lanes uint64, message string) *probe.Trap {
	if m.warp == nil {
		return m.stream.cta.newTrap(nil, kind, "%s", message)
	}
	return m.warp.newTrap(m.source, lanes, kind, "%s", message)
}

// Pause pauses the launch, if it can pause.
func (m *eventMachine) Pause() {
	g := m.stream.cta.grid
	g.pauseRequested = g.mayPause && g.inOrder
}

// readRegister reads a register of a frame at an instruction. It returns false for a dead register.
func (w *warp) readRegister(v *probe.Value, fr *frame, src *code.Source, r ptx.RegID) bool {
	if _, ok := src.Func.LocationOf(r, src.Index); !ok {
		return false
	}
	shown := w.shownFrame
	w.show(fr)
	w.register(v, src.Func, r, &probe.Subscription{Values: true, Tags: true})
	w.show(shown)
	return true
}

// cellBits is the width of a cell by slot, and cellSlots its inverse.
var (
	cellBits  = [...]int32{code.NoSlot: 0, code.R: 32, code.Q: 64, code.P: 1}
	cellSlots = [...]code.Slot{0: code.NoSlot, 1: code.P, 32: code.R, 64: code.Q}
)

func cellRow(c probe.Cell) code.Row { return code.Row{Slot: cellSlots[c.Bits], Row: c.Row} }

// ReadLanes copies the lanes of half 0 or 1 of a cell.
func (m *eventMachine) ReadLanes(c probe.Cell, half int, to *[regfile.Lanes]uint64) {
	m.warp.read(to, half, cellRow(c))
}

// ReadLane returns the value of a lane of a cell.
func (m *eventMachine) ReadLane(c probe.Cell, lane int) uint64 {
	return laneValue(&m.warp.files[lane/regfile.Lanes], cellRow(c), lane%regfile.Lanes)
}

// ReadTag returns the compact copy of half 0 or 1 of a cell.
func (m *eventMachine) ReadTag(c probe.Cell, half int) probe.Tag {
	f, row := &m.warp.files[half], cellRow(c)
	if row.Slot == code.P || !f.Tracked() {
		return probe.Tag{}
	}
	s := shadowAt(f, row.Slot, row.Row)
	return probe.Tag{Value: valueOf(s), Mask: s.Mask}
}

// program is a kernel as probes see it: probe.Program.
type program struct{ k *Kernel }

// Len returns the number of instructions.
func (p program) Len() int { return len(p.k.Sources) }

// At returns an instruction and the function that contains it.
func (p program) At(index int) (*ptx.Instr, *ptx.Func) {
	s := &p.k.Sources[index]
	return s.Instr, s.Func.Func
}

// Shared returns the variables in shared memory.
func (p program) Shared() []probe.Variable { return p.k.Shared }

// Params returns the parameters of the kernel.
func (p program) Params() []probe.Variable { return p.k.Params }

// Locals returns the variables in the local frame of a function.
func (p program) Locals(f *ptx.Func) []probe.Variable {
	for _, fn := range p.k.Funcs {
		if fn.Func == f {
			return fn.Locals
		}
	}
	return nil
}

// LocationOf returns the place of a register at an instruction.
func (p program) LocationOf(index int, r ptx.RegID) probe.Location {
	loc, ok := p.k.Sources[index].Func.LocationOf(r, int32(index))
	switch {
	case !ok:
		return probe.Location{}
	case loc.Row < 0:
		return probe.Location{Kind: probe.ConstantLocation, Bits: slotBits(loc.Slot)}
	}
	return probe.Location{Kind: probe.RowLocation, Bits: slotBits(loc.Slot), Row: int(loc.Row)}
}

// Operations returns the operations of an instruction, nil if no probe subscribes to them.
func (p program) Operations(index int) *probe.Operations {
	if p.k.ref == nil || p.k.ref.operations == nil {
		return nil
	}
	return &p.k.ref.operations[index]
}

// Frame returns the number of rows that operands of a function use.
func (p program) Frame(f *ptx.Func) probe.FrameSize {
	if p.k.ref != nil {
		for _, fn := range p.k.ref.Funcs {
			if fn.Func == f {
				return probe.FrameSize(fn.Frame)
			}
		}
	}
	return probe.FrameSize{}
}

// Arguments returns the places of a function's parameters and results.
func (p program) Arguments(f *ptx.Func) (params, results []probe.Operand) {
	if p.k.ref != nil {
		for _, fn := range p.k.ref.Funcs {
			if fn.Func == f {
				return argumentOperands(fn.Formals), argumentOperands(fn.Results)
			}
		}
	}
	return nil, nil
}

func slotBits(s code.Slot) int {
	if s == code.P {
		return 1
	}
	return s.Bits()
}
