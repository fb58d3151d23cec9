package machine

import (
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/probe"
)

// Reference is a kernel lowered for reference, and how its instructions correspond to
// those of the code that is checked. Blocks, functions, sources and accesses have the
// same indices in both.
type Reference struct {
	*Kernel
	Pairs         [][]InstrPair      // by block
	CheckedBlocks []CheckedBlock     // by block
	Operations    []probe.Operations // by PTX instruction, once somebody wants to know
}

// InstrPair is an instruction of the reference, and the same in the code that is checked.
type InstrPair struct {
	Instr     *code.Instr // nil: it was folded into a constant of the launch
	Reference *code.Instr
	Kernel    alu.Kernel // of ref, if it is one of package alu
	Writes    []RowPair

	OnLanes        bool  // it runs as in vector mode
	Computes       bool  // it does not, and only computes: kernels of package alu, special registers, what was folded
	Combinable     bool  // it computes, or waits for no others
	Guarded        bool  // in one of the ways at least
	Proved         bool  // a result is taken to be uniform without a look at tags
	AddressChecked bool  // the address of its access has been compared in the block: see settle
	From, To       int32 // its pc and the next; of what was folded, the pc where it was, and that again

	Reads            []RowPair
	UncheckedReads   []RowPair   // of reads, those to compare before it runs on the lanes: see settle
	Needed           []RowPair   // of writes, those that the reference needs if it runs on the lanes: see want
	OverwrittenReads uint64      // bits i: reads[i] is a row that its run overwrites
	Original         *code.Instr // in, or what was folded

	SingleRun *InstrRun // of this alone

	OperandIndex, ResultIndex int32 // where what is kept of its operands and results is, in a run
	OperationIndex            int32 // of its PTX instruction's Parts
}

// InstrRun is instructions that execute together: see DivideIntoRuns.
type InstrRun struct {
	Pairs         []InstrPair
	Instrs        []code.Instr // of the code that is checked
	Kind          runKind
	Guarded       bool // it is one with a guard
	SavesOperands bool // there are operands to be kept
	Counts        RunCounts
	ProvedEnd     int       // behind the last that is, from the first on
	Sources       []RowPair // to be compared before they run on the lanes
	Results       []RowPair
	Needed        []RowPair // of results, those that the reference needs if they have run on the lanes
}

// runKind is how a run executes in both ways.
type runKind uint8

const (
	singleRun runKind = iota // by the engine, and by the reference if that can be
	BatchRun                 // by the engine, then by the reference: they only compute
	SharedRun                // on the lanes, once for both
)

// CheckedBlock is what a block executes in both ways.
type CheckedBlock struct {
	Runs     []InstrRun
	EndGuard int32     // of the reference's end
	EndReads []RowPair // what the end reads besides
}

// RowPair is the places of a register: in the code that is checked, where it may be a
// constant, and in the reference.
type RowPair struct{ Row, Reference code.Row }

// PairOperands pairs the rows that an instruction reads and writes with those of its
// reference.
func (c *Kernel) PairOperands(instr *code.Instr, ref *Kernel, rin *code.Instr) (reads, writes []RowPair) {
	read, written := namedRows(&c.Tables, instr)
	refRead, refWritten := namedRows(&ref.Tables, rin)
	return pairRows(read, refRead), pairRows(written, refWritten)
}

// namedRows lists what an instruction reads, its guard left out, and writes. It is written
// down here once more, for what package code derives is among what is checked.
func namedRows(t *code.Tables, instr *code.Instr) (reads, writes []code.Row) {
	s := instr.Op.Signature()
	for i, row := range instr.Sources() {
		if slot := s.Src[i]; slot != code.NoSlot {
			reads = append(reads, code.Row{Slot: slot, Row: row})
		}
	}
	writes = []code.Row{{Slot: s.Dst, Row: instr.D}, {Slot: s.Dst2, Row: instr.F}}
	elems := func(rows *[]code.Row, list []code.Elem, size int) {
		for _, e := range list {
			if *rows = append(*rows, code.Row{Slot: e.Slot, Row: e.Row}); size > 8 {
				*rows = append(*rows, code.Row{Slot: e.Slot, Row: e.High})
			}
		}
	}
	places := func(rows *[]code.Row, list []code.ParamPlace) {
		for _, p := range list {
			*rows = append(*rows, code.Row{Slot: p.Slot, Row: p.Row})
		}
	}
	switch s.Side {
	case code.AccessSide:
		a := &t.Access[instr.Side]
		reads = append(reads, code.Row{Slot: a.Addr, Row: instr.A})
		if a.Store {
			elems(&reads, a.Elems, a.Size)
		} else {
			elems(&writes, a.Elems, a.Size)
		}
		if a.Atom != nil {
			elems(&reads, a.Atom.B, a.Size)
			elems(&reads, a.Atom.C, a.Size)
		}
	case code.CallSide:
		places(&reads, t.Calls[instr.Side].Args)
		places(&writes, t.Calls[instr.Side].Rets)
	case code.FragmentSide:
		f := &t.Fragments[instr.Side]
		elems(&reads, f.A, 0)
		elems(&reads, f.B, 0)
		elems(&reads, f.C, 0)
		elems(&reads, f.E, 0)
		elems(&writes, f.D, 0)
	case code.TextureSide:
		x := &t.Textures[instr.Side]
		for _, list := range x.Sources {
			elems(&reads, list, 0)
		}
		elems(&writes, x.D, 0)
	}
	return reads, writes
}

// pairRows pairs rows, constants of the reference left out.
func pairRows(list, ref []code.Row) []RowPair {
	var pairs []RowPair
	for i, row := range list {
		if row.Slot != code.NoSlot && ref[i].Row >= 0 {
			pairs = append(pairs, RowPair{row, ref[i]})
		}
	}
	return pairs
}

// Find returns the pair of an instruction of the block that contains pc.
func (r *Reference) Find(pc int32, instr *code.Instr) *InstrPair {
	block := r.Pairs[r.Block(pc).Index]
	for i := range block {
		if block[i].Instr == instr {
			return &block[i]
		}
	}
	panic("BUG: an instruction without a reference")
}
