package code

// This file derives the rows that an instruction reads and writes from the signature of its operation and its entry in
// the side tables.

// Tables are the side tables of a program, indexed by Instr.Side. The constants of type Side say which operations use them.
type Tables struct {
	Access    []Access
	Calls     []CallSite
	Targets   [][]int32 // pcs of the target blocks
	Barriers  []BarrierOp
	Fragments []Fragments
	Textures  []Texture
}

// Reads appends the rows that the instruction reads, without its guard and constants.
func (t *Tables) Reads(list []Row, instr *Instr) []Row {
	return registers(t.Operands(list, instr), len(list))
}

// Writes appends the rows that the instruction writes.
func (t *Tables) Writes(list []Row, instr *Instr) []Row {
	return registers(t.Results(list, instr), len(list))
}

// Operands appends the operands that the instruction reads, without its guard but with constants. An absent operand
// gives an entry without a row.
func (t *Tables) Operands(list []Row, instr *Instr) []Row {
	s := &Signatures[instr.Op]
	for i, row := range instr.Sources() {
		if s.Src[i] != NoSlot {
			list = append(list, Row{s.Src[i], row})
		}
	}
	switch s.Side {
	case AccessSide:
		a := &t.Access[instr.Side]
		list = append(list, Row{a.Addr, instr.A})
		switch {
		case a.Atom != nil:
			list = ElemRows(list, a.Atom.B, a.Size)
			list = ElemRows(list, a.Atom.C, a.Size)
		case a.Store:
			list = ElemRows(list, a.Elems, a.Size)
		}
	case CallSide:
		list = PlaceRows(list, t.Calls[instr.Side].Args)
	case FragmentSide:
		f := &t.Fragments[instr.Side]
		for _, elems := range [][]Elem{f.A, f.B, f.C, f.E} {
			list = ElemRows(list, elems, 0)
		}
	case TextureSide:
		for _, elems := range t.Textures[instr.Side].Sources {
			list = ElemRows(list, elems, 0)
		}
	}
	return list
}

// Results appends the operands that the instruction writes. An absent result gives an entry without a row.
func (t *Tables) Results(list []Row, instr *Instr) []Row {
	s := &Signatures[instr.Op]
	list = append(list, Row{s.Dst, instr.D}, Row{s.Dst2, instr.F})
	switch s.Side {
	case AccessSide:
		if a := &t.Access[instr.Side]; !a.Store {
			list = ElemRows(list, a.Elems, a.Size)
		}
	case CallSide:
		list = PlaceRows(list, t.Calls[instr.Side].Rets)
	case FragmentSide:
		list = ElemRows(list, t.Fragments[instr.Side].D, 0)
	case TextureSide:
		list = ElemRows(list, t.Textures[instr.Side].D, 0)
	}
	return list
}

// registers removes entries that are no rows from list[start:]: constants and absent operands.
func registers(list []Row, start int) []Row {
	n := start
	for _, r := range list[start:] {
		if r.Slot != NoSlot && r.Row >= 0 {
			list[n] = r
			n++
		}
	}
	return list[:n]
}
