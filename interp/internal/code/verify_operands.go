package code

import (
	"slices"

	"gemu/interp/internal/matrix"
	"gemu/ptx"
)

var sourceNames = [...]string{"source 0", "source 1", "source 2", "source 3"}

// operands checks the operands of an instruction: their rows must exist, their slots must fit the operation, and there must
// be as many of them as Reads and Writes return.
func (v *verifier) operands(pc int32, instr *Instr) {
	s := instr.Op.Signature()
	rows := 0
	check := func(noun string, slot Slot, row int32, source bool) {
		if slot == NoSlot {
			return
		}
		if row >= 0 {
			rows++
		}
		n, k := 0, 0
		switch slot {
		case R:
			n, k = v.fn.Frame.R, v.Consts.Size().R
		case Q:
			n, k = v.fn.Frame.Q, v.Consts.Size().Q
		case P:
			n, k = v.fn.Frame.P, v.Consts.Size().P
		}
		switch {
		case row == NoRow && (!source || s.Kind == Control):
		case row < 0 && (!source || int(^row) >= k), row >= 0 && int(row) >= n:
			v.fault(pc, "%s is row %s%d, of %d", noun, slot, row, n)
		}
	}
	if instr.Src >= 0 && int(instr.Src) < len(v.Sources) {
		if g := v.Sources[instr.Src].Instr.Guard; instr.Guard != 0 != (g.Reg != ptx.NoReg) || instr.Guard < 0 != g.Neg {
			v.fault(pc, "its guard is %d, and not that of the PTX instruction", instr.Guard)
		}
	}
	check("D", s.Dst, instr.D, false)
	check("F", s.Dst2, instr.F, false)
	if (s.Kind == Arithmetic && !s.Compares() || s.Kind == Read) && instr.D == NoRow {
		v.fault(pc, "it has no result")
	}
	for i, row := range instr.Sources() {
		if s.Src[i] != NoSlot {
			check(sourceNames[i], s.Src[i], row, true)
		}
	}
	elems := func(noun string, list []Elem, size int, source bool) {
		for _, e := range list {
			check(noun, e.Slot, e.Row, source)
			if size == 16 {
				check(noun, e.Slot, e.High, source)
			}
			if size == 8 && e.Slot == R {
				v.fault(pc, "%s of 8 bytes is in a 32-bit row", noun)
			}
		}
	}
	places := func(list []ParamPlace, source bool) {
		for _, p := range list {
			check("a place", p.Slot, p.Row, source)
		}
	}
	switch {
	case s.Side == AccessSide:
		a := &v.Access[instr.Side]
		check("the address", a.Addr, instr.A, true)
		if a.Addr == P {
			v.fault(pc, "addresses in predicates")
		}
		elems("an element", a.Elems, a.Size, a.Store)
		if a.Atom != nil {
			elems("an operand", a.Atom.B, a.Size, true)
			elems("an operand", a.Atom.C, a.Size, true)
		}
		switch matrix := instr.Op == LoadMatrix || instr.Op == StoreMatrix; {
		case matrix != (a.Tile != nil):
			v.fault(pc, "it accesses rows of matrices: %v", a.Tile != nil)
		case matrix && a.Tile.Registers() != len(a.Elems):
			v.fault(pc, "%d registers hold the rows of %d", len(a.Elems), a.Tile.Registers())
		case a.SpareBytes < 0 || a.SpareBytes > 0 && (a.SpareBytes >= a.Bytes || a.SpareBytes%a.Size != 0 || a.Writes()):
			v.fault(pc, "the last %d of %d bytes are not read", a.SpareBytes, a.Bytes)
		case !matrix && a.Bytes != a.Size*len(a.Elems):
			v.fault(pc, "%d elements of %d bytes are %d bytes", len(a.Elems), a.Size, a.Bytes)
		}
		load := s.Kind == Load || instr.Op == LoadWide || instr.Op == LoadMatrix
		if stores := s.Kind == Store || instr.Op == StoreWide || instr.Op == StoreBulk || instr.Op == StoreMatrix; load && a.Store || stores != a.Store {
			v.fault(pc, "it stores: %v", a.Store)
		}
	case s.Side == CallSide:
		places(v.Calls[instr.Side].Args, true)
		places(v.Calls[instr.Side].Rets, false)
	case s.Side == FragmentSide:
		f := &v.Fragments[instr.Side]
		m := f.Multiply
		if (instr.Op == Sparse) != (f.Sparse != nil) {
			v.fault(pc, "it compresses: %v", f.Sparse != nil)
			break
		}
		if c := f.Sparse; c != nil {
			elems("a result", f.D, 0, false)
			elems("a source", f.A, 0, true)
			elems("a source", f.B, 0, true)
			elems("a descriptor", f.E, 0, true)
			packed := c.Indices() + c.Stored()
			if whole := len(f.E) == 0; whole && (len(f.D) != c.Dense || len(f.A) != c.Indices() || len(f.B) != c.Stored()) ||
				!whole && (len(f.D) != packed || len(f.A) != c.Dense || len(f.B) != 0 || len(f.E) != 1) {
				v.fault(pc, "%d, %d, %d and %d registers, for %d and %d", len(f.D), len(f.A), len(f.B), len(f.E), c.Dense, packed)
			}
			break
		}
		if f.Memory != nil {
			elems("a result", f.D, 0, false)
			elems("an operand", f.A, 0, true)
			elems("an address", f.E, 0, true)
			v.tensor(pc, instr, f)
			break
		}
		if m == nil {
			v.pending(pc, instr, f, check)
			break
		}
		for i, list := range [][]Elem{f.D, f.A, f.B, f.C} {
			matrix := []*matrix.Operand{&m.D, &m.A, &m.B, &m.C}[i]
			for _, e := range list {
				if check("a fragment", e.Slot, e.Row, i > 0); e.Slot.Bits() != max(matrix.Bits, 32) || e.Slot == P {
					v.fault(pc, "a fragment of %s is in row %s%d", matrix.Type, e.Slot, e.Row)
				}
			}
			if len(list) != matrix.Registers() {
				v.fault(pc, "%d registers hold the fragment of %d", len(list), matrix.Registers())
			}
		}
		for _, e := range f.E {
			if check("an additional operand of fragments", e.Slot, e.Row, true); e.Slot != R {
				v.fault(pc, "an additional operand of fragments is in row %s%d", e.Slot, e.Row)
			}
		}
		if len(f.E) != m.Extra() {
			v.fault(pc, "it has %d additional operands of fragments, want %d", len(f.E), m.Extra())
		}
	}
	if s.Side == TextureSide {
		x := &v.Textures[instr.Side]
		elems("a result", x.D, 0, false)
		for i, list := range x.Sources {
			elems("a source", list, 0, true)
			for _, e := range list {
				if wide := i == TextureObject || i == TextureSampler; e.Slot == P || wide && e.Slot != Q || !wide && i != TextureData && e.Slot != R {
					v.fault(pc, "source %d is in row %s%d", i, e.Slot, e.Row)
				}
			}
		}
		if len(x.Sources[TextureObject]) != 1 || len(x.Sources[TextureSampler]) > 1 || len(x.Sources[TextureCoord]) == 0 {
			v.fault(pc, "it has %d objects, %d samplers and %d coordinates, want 1, at most 1 and at least 1", len(x.Sources[TextureObject]), len(x.Sources[TextureSampler]), len(x.Sources[TextureCoord]))
		}
	}
	if listed := len(v.Reads(nil, instr)) + len(v.Writes(nil, instr)); rows != listed {
		v.fault(pc, "it has %d rows as operands, but Reads and Writes return %d", rows, listed)
	}
	if instr.Guard != 0 {
		p, _ := GuardRow(instr.Guard)
		check("the guard", P, p, false)
	}
}

// tensor checks the operands of operations on tensor memory.
func (v *verifier) tensor(pc int32, instr *Instr, f *Fragments) {
	t := f.Memory
	registers, others := 0, 1
	switch instr.Op {
	case TensorLoad, TensorStore:
		if t.Tile == nil {
			v.fault(pc, "it accesses no tile")
			return
		}
		if registers = t.Tile.Registers; t.Compress != nil {
			if t.Compress.Dense != registers {
				v.fault(pc, "%d registers are loaded, and %d are compressed", registers, t.Compress.Dense)
			}
			registers = t.Compress.Indices() + t.Compress.Stored()
		}
		if t.Reduce != nil {
			registers++
		}
	case TensorCopy:
		others = 0
	case TensorMma:
		others = TensorE
	}
	if len(f.D)+len(f.A) != registers || len(f.E) != others || (instr.Op == TensorMma) != (t.Mma != nil) || (instr.Op == TensorCopy) != (t.Copy != nil) {
		v.fault(pc, "%d registers and %d other operands, want %d and %d", len(f.D)+len(f.A), len(f.E), registers, others)
	}
}

// pending checks the operands of operations on pending multiplications.
func (v *verifier) pending(pc int32, instr *Instr, f *Fragments, check func(noun string, slot Slot, row int32, source bool)) {
	lists := [...][]Elem{f.D, f.A, f.C}
	for i, list := range lists {
		for _, e := range list {
			if check("a fragment", e.Slot, e.Row, i > 0); e.Slot != R && e.Slot != NoSlot {
				v.fault(pc, "a fragment is in row %s%d", e.Slot, e.Row)
			}
		}
	}
	if o := f.Wgmma; (instr.Op == WgmmaIssue) != (o != nil) {
		v.fault(pc, "it multiplies: %v", o != nil)
	} else if o != nil && (len(f.D) != o.D.Registers() || len(f.A) != 0 && len(f.A) != o.A.Registers()) {
		v.fault(pc, "%d and %d registers hold the fragments of %d and %d", len(f.D), len(f.A), o.D.Registers(), o.A.Registers())
	}
	read, written := map[Elem]bool{}, map[Elem]bool{}
	for i, list := range lists {
		for _, e := range list {
			if i == 0 {
				written[e] = true
			} else {
				read[e] = true
			}
		}
	}
	for e := range written {
		if !read[e] {
			v.fault(pc, "it writes the accumulator %s%d and does not read it", e.Slot, e.Row)
		}
	}
	for _, side := range f.Pending {
		if side < 0 || int(side) >= len(v.Fragments) || v.Fragments[side].Wgmma == nil {
			v.fault(pc, "it completes an instruction other than a multiplication")
			return
		}
		if instr.Op == WgmmaDisturb {
			continue
		}
		for i, list := range [...][]Elem{v.Fragments[side].D, v.Fragments[side].A} {
			for _, e := range list {
				if e.Slot != NoSlot && e.Row >= 0 && (!read[e] || i == 0 && !written[e]) {
					v.fault(pc, "it does not name %s%d, an operand of a multiplication that it completes", e.Slot, e.Row)
				}
			}
		}
	}
}

// hasMixedWidths reports whether a kernel has operands that only CompactMixed supports: a second result, no source or four
// sources, or a predicate.
func hasMixedWidths(s *Signature) bool {
	return s.Dst2 != NoSlot || s.Src[0] == NoSlot || s.Src[3] != NoSlot || slices.Contains(s.Src[:], P)
}
