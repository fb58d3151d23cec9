package machine

import (
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/probe"
)

// Reference is the reference lowering of a kernel, with the correspondence of its instructions to the checked code.
// Blocks, functions, sources and accesses have the same indices in both.
type Reference struct {
	*Kernel
	Pairs         [][]InstrPair      // instructions of each block, by Block.Index
	CheckedBlocks []CheckedBlock     // by Block.Index
	Operations    []probe.Operations // by PTX instruction; nil until a probe needs them
}

// InstrPair is an instruction of the reference and its counterpart in the checked code.
type InstrPair struct {
	Instr     *code.Instr // instruction of the checked code; nil: folded into a constant of the launch
	Reference *code.Instr
	Kernel    alu.Kernel // kernel of Reference, if package alu has it
	Writes    []RowPair  // rows that the instruction writes

	OnLanes        bool  // the instruction executes on lanes, as in vector mode
	Computes       bool  // not OnLanes, and only computes: kernels of package alu, special registers, folded instructions
	Combinable     bool  // the instruction may be in a run of several instructions
	Guarded        bool  // the reference or the checked code has a guard
	Proved         bool  // a result is taken as uniform without a check of tags
	AddressChecked bool  // the address of its access was compared earlier in the block: see findUncheckedReads
	From, To       int32 // its pc and the next pc; the same for a folded instruction

	Reads            []RowPair   // rows that the instruction reads, without its guard
	UncheckedReads   []RowPair   // part of Reads to compare before the instruction executes on lanes: see findUncheckedReads
	Needed           []RowPair   // part of Writes needed by the reference if the instruction executes on lanes
	OverwrittenReads uint64      // bit i: the run overwrites the row of Reads[i]
	Original         *code.Instr // Instr, or the folded instruction

	SingleRun *InstrRun // run of this instruction alone

	OperandIndex, ResultIndex int32 // indices of its saved operands and results in the run
	OperationIndex            int32 // index in probe.Operations.Operations of its PTX instruction
}

// InstrRun is a sequence of instructions that check mode executes together: see divideIntoRuns of package check.
type InstrRun struct {
	Pairs         []InstrPair
	Instrs        []code.Instr // instructions of the checked code
	OnLanes       bool         // the run executes once, on the lanes, for the engine and the reference
	Guarded       bool         // the run is a single instruction with a guard
	SavesOperands bool         // the run overwrites operands, which must be saved
	Counts        RunCounts
	ProvedEnd     int       // index in Pairs after the last instruction for which the plan claims a proof
	Sources       []RowPair // rows to compare before the run executes on lanes
	Results       []RowPair // rows that the run writes
	Needed        []RowPair // part of Results that the reference needs if the run has executed on lanes
}

// CheckedBlock is a block as check mode executes it.
type CheckedBlock struct {
	Runs     []InstrRun
	EndGuard int32     // guard of the block's end in the reference
	EndReads []RowPair // rows read at the block's end, without the guard
}

// RowPair is the pair of rows of a register: in the checked code, where it may be a constant, and in the reference.
type RowPair struct{ Row, Reference code.Row }

// PairOperands pairs the rows that an instruction reads and writes with the rows of refInstr, its counterpart in ref.
func (c *Kernel) PairOperands(instr *code.Instr, ref *Kernel, refInstr *code.Instr) (reads, writes []RowPair) {
	read, written := namedRows(&c.Tables, instr)
	refRead, refWritten := namedRows(&ref.Tables, refInstr)
	return pairRows(read, refRead), pairRows(written, refWritten)
}

// namedRows returns the rows that an instruction reads, without its guard, and the rows that it writes. It does not use
// Tables.Operands and Tables.Results, because check mode checks these functions, too.
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

// pairRows pairs the rows of two lists of the same length, except absent operands and constants of the reference.
func pairRows(list, ref []code.Row) []RowPair {
	var pairs []RowPair
	for i, row := range list {
		if row.Slot != code.NoSlot && ref[i].Row >= 0 {
			pairs = append(pairs, RowPair{row, ref[i]})
		}
	}
	return pairs
}

// Find returns the pair of an instruction of the checked code, which is in the block that contains pc.
func (r *Reference) Find(pc int32, instr *code.Instr) *InstrPair {
	block := r.Pairs[r.Block(pc).Index]
	for i := range block {
		if block[i].Instr == instr {
			return &block[i]
		}
	}
	panic("BUG: an instruction without a reference")
}
