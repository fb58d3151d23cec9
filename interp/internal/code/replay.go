package code

import (
	"errors"
	"slices"

	"gemu/regfile"
)

// Replay verifies the row allocation of function f of p. selected is the function before allocation, in program q, where
// each register has a row of its own. Replay follows the control flow and tracks which register each place contains. It
// reports operands whose place contains a different register, or the right register with a different storage.
func (p *Program) Replay(f *Func, q *Program, selected *Func) error {
	v := newVerifier(p, f)
	if len(p.Instrs) != len(q.Instrs) || len(p.Fixed) != len(q.Fixed) {
		v.fault(f.Begin, "%d instructions have become %d", len(q.Instrs), len(p.Instrs))
		return errors.Join(v.faults...)
	}
	r := replay{verifier: v, q: q, places: spaceOf(f.Frame), registers: spaceOf(selected.Frame), consts: map[Row]int32{}}
	for i := range p.Fixed {
		for _, row := range p.Results(nil, &p.Fixed[i].Instr) {
			if row.Slot != NoSlot && row.Row < 0 {
				r.consts[row] = r.places.size() + int32(len(r.consts))
			}
		}
	}
	begin := make([]int32, int(r.places.size())+len(r.consts))
	setRows := func(holds, before []Row) {
		for i := range holds {
			if place := r.place(holds[i]); place >= 0 && holds[i].Row >= 0 {
				begin[place] = r.register(before[i])
			}
		}
	}
	setRows(f.Zero, selected.Zero)
	setRows(PlaceRows(nil, f.Formals), PlaceRows(nil, selected.Formals))
	blockIndex := func(pc int32) int32 { return v.blockAt[pc].Index - f.Blocks.First }
	in := make([][]int32, f.Blocks.Len())
	in[blockIndex(f.Begin)] = begin
	v.fixpoint(blockIndex(f.Begin), func(b *Block) func(next int32) bool {
		out := slices.Clone(in[blockIndex(b.First)])
		r.block(b, out, selected, false)
		return func(next int32) (changed bool) {
			k := blockIndex(next)
			if in[k] == nil {
				in[k] = slices.Clone(out)
				return true
			}
			for i, held := range in[k] {
				if held != 0 && out[i] != held {
					in[k][i], changed = 0, true
				}
			}
			return changed
		}
	})
	for i := range in {
		if in[i] != nil {
			r.block(&p.Blocks[f.Blocks.First+int32(i)], in[i], selected, true)
		}
	}
	return errors.Join(v.faults...)
}

// replay tracks the register that each place contains. A place is a row of the allocated function, or a constant whose
// value each launch sets. A register is a row of the function before allocation.
type replay struct {
	*verifier
	q                 *Program
	places, registers space           // numbers of the rows after and before allocation
	consts            map[Row]int32   // places of constants
	holds, heldBefore []Row           // buffers for the operands of an instruction, after and before allocation
	guarded           map[int32]int32 // registers written by guarded instructions of the current PTX instruction, by place
}

// space maps the rows of a function to consecutive numbers: row 0 of slot s has the number space[s].
type space [P + 2]int32

// spaceOf returns the space of a function with n rows.
func spaceOf(n regfile.Size) (s space) {
	s[R+1], s[Q+1], s[P+1] = int32(n.R), int32(n.Q), int32(n.P)
	for i := 1; i < len(s); i++ {
		s[i] += s[i-1]
	}
	return s
}

// size returns the number of rows.
func (s *space) size() int32 { return s[P+1] }

// place returns the number of the place of an operand; −1 if the operand is neither a row nor a constant set by a launch.
func (r *replay) place(row Row) int32 {
	if row.Slot == NoSlot {
		return -1
	}
	if row.Row >= 0 {
		return r.places[row.Slot] + row.Row
	}
	if i, ok := r.consts[row]; ok {
		return i
	}
	return -1
}

// register returns the number of a register, from 1; 0 if there is none.
func (r *replay) register(row Row) int32 {
	if row.Slot == NoSlot || row.Row < 0 {
		return 0
	}
	return r.registers[row.Slot] + row.Row + 1
}

// block tracks the instructions of a block. holds contains the register in each place, 0 if it is unknown. report states
// whether to report faults.
func (r *replay) block(b *Block, holds []int32, selected *Func, report bool) {
	source := int32(-1)
	for pc := b.First; pc <= b.Last; pc++ {
		for _, k := range r.fixed[pc] {
			r.results(&r.Fixed[k].Instr, &r.q.Fixed[k].Instr, holds)
		}
		i, j := &r.Instrs[pc], &r.q.Instrs[pc]
		if i.Src != source {
			clear(r.guarded)
			source = i.Src
		}
		if report {
			r.reads(pc, i, j, holds, selected)
		}
		r.results(i, j, holds)
	}
}

// reads reports the operands of instruction i whose place does not contain the register that instruction j, its
// counterpart before allocation, reads.
func (r *replay) reads(pc int32, i, j *Instr, holds []int32, selected *Func) {
	r.holds, r.heldBefore = r.Operands(r.holds[:0], i), r.q.Operands(r.heldBefore[:0], j)
	if i.Guard < 0 != (j.Guard < 0) || i.Guard > 0 != (j.Guard > 0) {
		r.fault(pc, "its guard is %d, and was %d", i.Guard, j.Guard)
	}
	if i.Guard != 0 && j.Guard != 0 {
		p, _ := GuardRow(i.Guard)
		s, _ := GuardRow(j.Guard)
		r.holds, r.heldBefore = append(r.holds, Row{P, p}), append(r.heldBefore, Row{P, s})
	}
	for k, row := range r.holds {
		want := r.heldBefore[k]
		switch place := r.place(row); {
		case want.Slot == NoSlot || want.Row < 0:
			if row != want {
				r.fault(pc, "operand %d is %s%d, and not the constant %s%d", k, row.Slot, row.Row, want.Slot, want.Row)
			}
		case place < 0 || holds[place] != r.register(want) && r.guarded[place] != r.register(want):
			r.fault(pc, "operand %d is %s%d, which does not hold %s%d there", k, row.Slot, row.Row, want.Slot, want.Row)
		case row.Row >= 0 && r.fn.KeepingOf(row) != selected.KeepingOf(want):
			r.fault(pc, "operand %d, %s%d, does not have the storage of %s%d", k, row.Slot, row.Row, want.Slot, want.Row)
		}
	}
}

// results tracks the writes of instruction i, whose counterpart before allocation is j.
func (r *replay) results(i, j *Instr, holds []int32) {
	r.holds, r.heldBefore = r.Results(r.holds[:0], i), r.q.Results(r.heldBefore[:0], j)
	for k, row := range r.holds {
		place, before := r.place(row), r.register(r.heldBefore[k])
		switch {
		case place < 0:
		case i.Guard == 0:
			holds[place] = before
		case holds[place] != before:
			holds[place] = 0
			if r.guarded == nil {
				r.guarded = map[int32]int32{}
			}
			r.guarded[place] = before
		}
	}
}
