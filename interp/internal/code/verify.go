package code

// This file verifies programs: what lowering must have kept to.

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"gemu/interp/internal/matrix"
	"gemu/ptx"
	"gemu/regfile"
)

// Verify reports what is wrong with a function, as an error for each fault: types and
// rows that do not agree, control that leaves the function, blocks that do not end,
// registers read before they are written that are not known for it, and decisions of
// the plan that do not fit the operands.
func (p *Program) Verify(f *Func) error {
	v := newVerifier(p, f)
	v.shape()
	if len(v.faults) == 0 {
		v.definitions()
	}
	return errors.Join(v.faults...)
}

// VerifyShape is Verify without looking for what is read before it is written: it takes
// time by the length of the function alone.
func (p *Program) VerifyShape(f *Func) error {
	v := newVerifier(p, f)
	v.shape()
	return errors.Join(v.faults...)
}

// VerifyReference is VerifyShape of code that is for reference: it runs on lanes, and
// computes all in its place.
func (p *Program) VerifyReference(f *Func) error {
	v := newVerifier(p, f)
	v.shape()
	for b := f.Blocks.First; b < f.Blocks.End; b++ {
		for pc := p.Blocks[b].First; pc <= p.Blocks[b].Last; pc++ {
			if p.Instrs[pc].Plan != (ExecPlan{}) {
				v.fault(pc, "it executes otherwise than on the lanes")
			}
			if instr := &p.Instrs[pc]; instr.Op.Signature().Side == AccessSide && p.Access[instr.Side].Pattern != AnyPattern {
				v.fault(pc, "something is proved of its addresses")
			}
		}
	}
	for i := range p.Fixed {
		in := &p.Fixed[i]
		if slices.ContainsFunc(p.Results(nil, &in.Instr), func(r Row) bool { return r.Slot != NoSlot && r.Row < 0 && r.Row != NoRow }) {
			v.fault(in.BeforePC, "it has a constant as its result")
		}
	}
	return errors.Join(v.faults...)
}

func (v *verifier) shape() {
	p, f := v.Program, v.fn
	if !v.starts[f.Begin] || !v.starts[f.Exit] {
		v.fault(f.Begin, "the function enters at %d and leaves at %d, which begin no blocks", f.Begin, f.Exit)
	}
	for b := f.Blocks.First; b < f.Blocks.End; b++ {
		v.block(&p.Blocks[b])
	}
	v.constants()
	v.places()
}

// constants checks that what a launch computes before it begins needs nothing else, and
// gives each constant one value.
func (v *verifier) constants() {
	computed := map[Row]bool{}
	for i := range v.Fixed {
		in := &v.Fixed[i]
		results := v.Results(nil, &in.Instr)
		if !slices.ContainsFunc(results, func(r Row) bool { return r.Slot != NoSlot && r.Row < 0 && r.Row != NoRow }) {
			continue // the reference computes it in its place
		}
		if in.Guard != 0 {
			v.fault(in.BeforePC, "a constant of the launch has a guard")
		}
		for _, r := range v.Operands(nil, &in.Instr) {
			if r.Slot != NoSlot && r.Row >= 0 {
				v.fault(in.BeforePC, "%s%d is no constant of the launch", r.Slot, r.Row)
			}
		}
		for _, r := range results {
			if r.Slot != NoSlot && computed[r] {
				v.fault(in.BeforePC, "the constant %s%d has another value already", r.Slot, r.Row)
			}
			computed[r] = true
		}
	}
}

// places checks the rows that the function itself names: they exist, and those that are
// written otherwise than by an instruction of a block are in their rows.
func (v *verifier) places() {
	size := [P + 1]int{R: v.fn.Frame.R, Q: v.fn.Frame.Q, P: v.fn.Frame.P}
	check := func(what string, r Row) {
		if r.Slot != NoSlot && (r.Row < 0 || int(r.Row) >= size[r.Slot]) {
			v.fault(v.fn.Begin, "%s is in row %s%d, of %d", what, r.Slot, r.Row, size[r.Slot])
		}
	}
	checkFrame := func(what string, r Row) {
		check(what, r)
		if r.Slot != NoSlot && v.fn.KeepingOf(r) != StorageLanes {
			v.fault(v.fn.Begin, "%s is not always in its row, %s%d", what, r.Slot, r.Row)
		}
	}
	for _, r := range v.fn.Zero {
		check("what may be read before it is written", r)
	}
	for _, p := range v.fn.Formals {
		checkFrame("a parameter", Row{p.Slot, p.Row})
	}
	for _, p := range v.fn.Results {
		checkFrame("a result", Row{p.Slot, p.Row})
	}
	if v.fn.Allocates {
		checkFrame("the size of the stack", Row{R, v.fn.AddressTaken})
	}
	for b := v.fn.Blocks.First; b < v.fn.Blocks.End; b++ {
		for _, r := range v.Writes(nil, v.End(&v.Blocks[b])) {
			checkFrame("the result of a call or a barrier", r)
		}
	}
}

type verifier struct {
	*Program
	fn     *Func
	starts map[int32]bool    // pcs where blocks of the function begin
	fixed  map[int32][]int32 // by pc, those of Program.Fixed that stood before it
	faults []error
}

func newVerifier(p *Program, f *Func) *verifier {
	v := &verifier{Program: p, fn: f, starts: map[int32]bool{}, fixed: map[int32][]int32{}}
	for b := f.Blocks.First; b < f.Blocks.End; b++ {
		v.starts[p.Blocks[b].First] = true
	}
	for i := range p.Fixed {
		v.fixed[p.Fixed[i].BeforePC] = append(v.fixed[p.Fixed[i].BeforePC], int32(i))
	}
	return v
}

// Fault is something that is wrong with a function.
type Fault struct {
	Func  *Func
	PC    int32
	Op    Op
	Instr *ptx.Instr // that the instruction is part of; nil if it is none's
	Msg   string
}

func (f *Fault) Error() string {
	return fmt.Sprintf("%s, instruction %d (%s): %s", f.Func.Name, f.PC, f.Op, f.Msg)
}

// maxFaults is how many are reported: the first ones tell.
const maxFaults = 8

func (v *verifier) fault(pc int32, format string, args ...any) {
	if len(v.faults) == maxFaults {
		return
	}
	f := &Fault{Func: v.fn, PC: pc, Msg: fmt.Sprintf(format, args...)}
	if int(pc) < len(v.Instrs) {
		instr := &v.Instrs[pc]
		if f.Op = instr.Op; instr.Src >= 0 && int(instr.Src) < len(v.Sources) {
			f.Instr = v.Sources[instr.Src].Instr
		}
	}
	v.faults = append(v.faults, f)
}

func (v *verifier) block(b *Block) {
	for pc := b.First; pc <= b.Last; pc++ {
		instr := &v.Instrs[pc]
		if instr.Op == Invalid || instr.Op >= Count {
			v.fault(pc, "no operation")
			return
		}
		if control := instr.Op.Signature().Kind == Control; control != (pc == b.Last) {
			v.fault(pc, "a block ends at %d", b.Last)
			return
		}
		if instr.Src >= 0 && (instr.Src < b.Sources.First || instr.Src >= b.Sources.End) {
			v.fault(pc, "it is part of PTX instruction %d; the block has %d to %d", instr.Src, b.Sources.First, b.Sources.End-1)
		}
		first := pc == b.First || v.Instrs[pc-1].Src != instr.Src
		if instr.CountsSkipped != (first && instr.Guard != 0 && instr.Src >= 0 && !v.Sources[instr.Src].EndsBlock()) {
			v.fault(pc, "it is %v that it counts the lanes that its guard holds back", instr.CountsSkipped)
		}
		v.operands(pc, instr)
		v.plan(pc, instr)
	}
	var next []int32
	for _, pc := range append(v.Successors(next, b, v.End(b)), b.Next) {
		if !v.starts[pc] {
			v.fault(b.Last, "control goes to %d, where no block of the function begins", pc)
		}
	}
	switch v.End(b).Op {
	case Branch, BranchIndex, Return:
		if !v.starts[b.Reconverge] {
			v.fault(b.Last, "its lanes reconverge at %d, where no block of the function begins", b.Reconverge)
		}
	}
}

var sourceNames = [...]string{"source 0", "source 1", "source 2", "source 3"}

// operands checks that rows exist, of the slots that the operation wants, and that they are
// what the instruction is said to read and write.
func (v *verifier) operands(pc int32, instr *Instr) {
	s := instr.Op.Signature()
	rows := 0
	check := func(what string, slot Slot, row int32, source bool) {
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
			v.fault(pc, "%s is row %s%d, of %d", what, slot, row, n)
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
	elems := func(what string, list []Elem, size int, source bool) {
		for _, e := range list {
			check(what, e.Slot, e.Row, source)
			if size == 16 {
				check(what, e.Slot, e.High, source)
			}
			if size == 8 && e.Slot == R {
				v.fault(pc, "%s of 8 bytes is in a 32-bit row", what)
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
			if check("what goes with fragments", e.Slot, e.Row, true); e.Slot != R {
				v.fault(pc, "what goes with fragments is in row %s%d", e.Slot, e.Row)
			}
		}
		if len(f.E) != m.Extra() {
			v.fault(pc, "%d operands go with the fragments, and not %d", len(f.E), m.Extra())
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
			v.fault(pc, "it goes to no object, or to no place")
		}
	}
	if listed := len(v.Reads(nil, instr)) + len(v.Writes(nil, instr)); rows != listed {
		v.fault(pc, "it has %d rows, and is said to read and write %d", rows, listed)
	}
	if instr.Guard != 0 {
		p, _ := GuardRow(instr.Guard)
		check("the guard", P, p, false)
	}
}

// tensor checks that what accesses tensor memory has the operands for it.
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

// pending checks the operands of what has to do with multiplications that may be pending.
func (v *verifier) pending(pc int32, instr *Instr, f *Fragments, check func(what string, slot Slot, row int32, source bool)) {
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
			v.fault(pc, "it completes what is no multiplication")
			return
		}
		if instr.Op == WgmmaDisturb {
			continue
		}
		for i, list := range [...][]Elem{v.Fragments[side].D, v.Fragments[side].A} {
			for _, e := range list {
				if e.Slot != NoSlot && e.Row >= 0 && (!read[e] || i == 0 && !written[e]) {
					v.fault(pc, "it does not name %s%d, which a multiplication has that it completes", e.Slot, e.Row)
				}
			}
		}
	}
}

// plan recomputes what the plan's decision does to the operands.
func (v *verifier) plan(pc int32, instr *Instr) {
	s := instr.Op.Signature()
	ok := true
	switch e := instr.Plan.Exec; {
	case e >= ExecCount:
		ok = false
	case e >= ProvedOne:
		ok = s.Kind == Arithmetic && int(e-ProvedOne) == s.Sources()-1
	case e == Materialised:
		ok = instr.Plan.Materialise != 0
	case e == CompactLocal:
		ok = s.Kind == Load || s.Kind == Store
	case e == CompactLoad:
		ok = s.Kind == Load
	case e == CompactStore:
		ok = s.Kind == Store
	case e == CompactSource:
		ok = s.Kind == Read
	case e == CompactCompare:
		ok = s.Compares()
	case e >= CompactOne && e <= CompactThree:
		ok = s.Kind == Arithmetic && int(e-CompactOne)+1 == s.Sources() && !hasMixedWidths(s)
	case e == CompactMixed:
		ok = s.Kind == Arithmetic && hasMixedWidths(s)
	}
	if e := instr.Plan.Exec; ok && (e == CompactLoad || e == CompactStore || e == CompactLocal) {
		a := &v.Access[instr.Side]
		ok = (e == CompactLocal) == (a.Space == ptx.Local) && a.Size <= 8 && (a.Strided != nil || e == CompactLocal) && (e == CompactLoad || a.Addr != NoSlot)
	}
	if !ok {
		v.fault(pc, "it cannot execute as %s", instr.Plan.Exec)
	}
	if want := v.PlanOf(instr, instr.Plan.Exec, v.fn.KeepingOf); instr.Plan != want {
		v.fault(pc, "it executes as %+v, its operands want %+v", instr.Plan, want)
	}
	v.storage(pc, instr)
}

// storage checks what instructions rely on without a look at tags, and what they owe to
// those that do.
func (v *verifier) storage(pc int32, instr *Instr) {
	proved := func(r Row) bool { return r.Row < 0 || v.fn.KeepingOf(r)&(StorageProved|StorageFixed) != 0 }
	if instr.Op.Signature().Kind == Control {
		return // it looks at shadows by itself, and places checks what it writes
	}
	all, predicates := true, false // what it reads is proved; there are predicates among it
	for _, r := range v.Reads(nil, instr) {
		all, predicates = all && (r.Slot == P || proved(r)), predicates || r.Slot == P
		if instr.Plan.Exec == OnLanes && v.fn.KeepingOf(r)&(StorageShadow|StorageBoth) == StorageShadow {
			v.fault(pc, "%s%d may not be in its row", r.Slot, r.Row)
		}
	}
	for _, r := range v.Writes(nil, instr) {
		storage := v.fn.KeepingOf(r)
		if instr.Plan.Exec == OnLanes && storage != StorageLanes {
			v.fault(pc, "%s%d may be in its shadow as well", r.Slot, r.Row)
		}
		if storage&StorageProved == 0 {
			if instr.Plan.Exec >= ProvedOne {
				v.fault(pc, "%s%d is not proved to be uniform", r.Slot, r.Row)
			}
			continue
		}
		ok := all && instr.Guard == 0
		switch s := instr.Op.Signature(); s.Kind {
		case Arithmetic:
			ok = ok && instr.Plan.Exec != OnLanes && instr.Plan.Exec != Materialised // by tags it is uniform, too
		case Load:
			a := &v.Access[instr.Side]
			ok = ok && instr.Plan.Exec == CompactLoad && a.Space != ptx.Generic && a.Space != ptx.Local && !a.Frame
		case Read:
			ok = ok && instr.Plan.Exec == CompactSource
		default:
			ok = false
		}
		if !ok {
			v.fault(pc, "%s%d is proved to be uniform, but not by this", r.Slot, r.Row)
		}
	}
	if instr.Plan.Exec >= ProvedOne && (!all || predicates) {
		v.fault(pc, "it reads what is not proved to be uniform")
	}
}

// hasMixedWidths reports whether a kernel has operands that only CompactMixed knows.
func hasMixedWidths(s *Signature) bool {
	return s.Dst2 != NoSlot || s.Src[0] == NoSlot || s.Src[3] != NoSlot || slices.Contains(s.Src[:], P)
}

// KeepingOf is how a row is kept.
func (f *Func) KeepingOf(r Row) Storage {
	if list := f.Keeping[r.Slot]; r.Row >= 0 && int(r.Row) < len(list) {
		return list[r.Row]
	}
	return StorageLanes
}

// PlanOf is how an instruction executes in the way given, with what that does to its
// operands: kept says how rows are kept.
func (t *Tables) PlanOf(instr *Instr, exec Exec, storageOf func(Row) Storage) ExecPlan {
	h := ExecPlan{Exec: exec}
	if exec == OnLanes {
		return h
	}
	s := instr.Op.Signature()
	named := s.Sources()
	if s.Side == AccessSide {
		named = 1 // the address
	}
	var buffer [24]Row
	for i, r := range t.Operands(buffer[:0], instr) {
		switch {
		case r.Slot == NoSlot || r.Row < 0 || storageOf(r)&(StorageShadow|StorageBoth) != StorageShadow:
		case i < named:
			h.Materialise |= 1 << i
		default:
			h.Materialise |= OperandList
		}
	}
	results := StorageLanes
	for _, r := range t.Writes(buffer[:0], instr) {
		results |= storageOf(r)
	}
	h.LeavesStale, h.WritesBoth = results&StorageShadow != 0, results&StorageBoth != 0
	return h
}

// definitions checks that every row is written before it is read, on every way there, or
// known as one that may not be. What a guard may keep from being written is only there
// for what else the PTX instruction does.
func (v *verifier) definitions() {
	known := rowSet{}
	for _, r := range v.fn.Zero {
		known[r] = true
	}
	for _, p := range v.fn.Formals {
		known[Row{p.Slot, p.Row}] = true
	}
	in := make([]rowSet, v.fn.Blocks.Len()) // by block; nil: not reached yet
	at := func(pc int32) int32 { return v.blockAt[pc].Index - v.fn.Blocks.First }
	in[at(v.fn.Begin)] = known
	var rows []Row
	transfer := func(b *Block, report bool) rowSet {
		out := in[at(b.First)].clone()
		guarded, source := rowSet{}, int32(-1)
		for pc := b.First; pc <= b.Last; pc++ {
			for _, k := range v.fixed[pc] {
				for _, r := range v.Writes(nil, &v.Fixed[k].Instr) {
					out[r] = true
				}
			}
			i := &v.Instrs[pc]
			if i.Src != source {
				guarded, source = rowSet{}, i.Src
			}
			rows = v.Reads(rows[:0], i)
			if i.Guard != 0 {
				p, _ := GuardRow(i.Guard)
				rows = append(rows, Row{P, p})
			}
			for _, r := range rows {
				if report && !out[r] && !guarded[r] {
					v.fault(pc, "row %s%d is read before it is written", r.Slot, r.Row)
				}
			}
			rows = v.Writes(rows[:0], i)
			for _, r := range rows {
				if i.Guard == 0 {
					out[r] = true
				} else {
					guarded[r] = true
				}
			}
		}
		return out
	}
	v.fixpoint(at(v.fn.Begin), func(b *Block) func(next int32) bool {
		out := transfer(b, false)
		return func(next int32) bool {
			if k := at(next); in[k] == nil {
				in[k] = out.clone()
			} else {
				return in[k].intersect(out)
			}
			return true
		}
	})
	for i := range in {
		if in[i] != nil {
			transfer(&v.Blocks[v.fn.Blocks.First+int32(i)], true)
		}
	}
}

// fixpoint calls visit for blocks of the function, the first at first, and what it gives
// for where control goes from there, until nothing changes: of those that wait always the
// foremost, for control mostly goes on.
func (v *verifier) fixpoint(first int32, visit func(b *Block) func(next int32) (changed bool)) {
	waits := make([]bool, v.fn.Blocks.Len())
	waits[first] = true
	var list []int32
	for i := int32(0); int(i) < len(waits); {
		if !waits[i] {
			i++
			continue
		}
		waits[i] = false
		b := &v.Blocks[v.fn.Blocks.First+i]
		propagate := visit(b)
		i++
		list = v.Successors(list[:0], b, v.End(b))
		for _, pc := range list {
			if propagate(pc) {
				k := v.blockAt[pc].Index - v.fn.Blocks.First
				waits[k] = true
				i = min(i, k)
			}
		}
	}
}

// Replay compares a function with what it was before its rows were allocated, in program
// q: it follows which register each row holds, and reports where an instruction wants
// another, or one that is kept in another way.
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
	at := func(pc int32) int32 { return v.blockAt[pc].Index - f.Blocks.First }
	in := make([][]int32, f.Blocks.Len())
	in[at(f.Begin)] = begin
	v.fixpoint(at(f.Begin), func(b *Block) func(next int32) bool {
		out := slices.Clone(in[at(b.First)])
		r.block(b, out, selected, false)
		return func(next int32) (changed bool) {
			k := at(next)
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

// replay follows which register each place holds: a row, or a constant of the launch.
type replay struct {
	*verifier
	q                 *Program
	places, registers space
	consts            map[Row]int32 // places of constants
	holds, heldBefore []Row
	guarded           map[int32]int32 // what this PTX instruction has written, where its guard let it
}

// space numbers the rows of a function.
type space [P + 2]int32

func spaceOf(n regfile.Size) (s space) {
	s[R+1], s[Q+1], s[P+1] = int32(n.R), int32(n.Q), int32(n.P)
	for i := 1; i < len(s); i++ {
		s[i] += s[i-1]
	}
	return s
}

func (s *space) size() int32 { return s[P+1] }

// place numbers a place; −1 for what is none.
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

// register numbers a register, from 1; 0 stands for none.
func (r *replay) register(row Row) int32 {
	if row.Slot == NoSlot || row.Row < 0 {
		return 0
	}
	return r.registers[row.Slot] + row.Row + 1
}

// block follows the instructions of a block. holds is the register in each place.
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

// reads reports operands that are not where the instruction looks for them.
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
			r.fault(pc, "operand %d is kept in another way than %s%d", k, want.Slot, want.Row)
		}
	}
}

// results follows what an instruction writes.
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

// rowSet is a set of rows.
type rowSet map[Row]bool

func (s rowSet) clone() rowSet { return maps.Clone(s) }

// intersect leaves out what is not in o, and reports whether that changed the set.
func (s rowSet) intersect(other rowSet) bool {
	n := len(s)
	for r := range s {
		if !other[r] {
			delete(s, r)
		}
	}
	return len(s) != n
}
