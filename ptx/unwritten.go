package ptx

// This file finds reads of possibly unwritten values.

import (
	"fmt"
	"slices"
)

// UnwrittenRead is a read of a value that the function may not have written: a path without a write leads from the
// function's first instruction to the read. PTX leaves such a value undefined.
type UnwrittenRead struct {
	Instr *Instr // the reading instruction; nil if the function's caller reads the value as a result
	Value string // "register %r1", "the carry flag", "byte 4 of parameter z"
	Carry bool   // the value is the carry flag
}

// String returns the place and the value.
func (u UnwrittenRead) String() string {
	if u.Instr == nil {
		return "where the function ends: " + u.Value
	}
	return fmt.Sprintf("%s: %s: %s", u.Instr.Pos, u.Instr.Text, u.Value)
}

// UnwrittenReads returns reads of registers, of the carry flag and of parameters in memory that have no preceding write
// on some path of the control-flow graph. For each register, flag or byte of a parameter it returns the first such read
// in each block.
//
// A guarded instruction does not count as a write, because skipped lanes keep the old value. A call leaves the carry
// flag unwritten (manual 9.7.2). Parameters are tracked byte by byte where instructions name them: parameters of calls
// from st.param to the call, results from the call to ld.param and from st.param to the return. Kernel parameters,
// parameters of the function and the module's registers count as written. Other memory is not tracked: its addresses are
// known only when the program runs.
func (f *Func) UnwrittenReads() []UnwrittenRead {
	if len(f.Blocks) == 0 {
		return nil
	}
	d := &definiteAssignment{f: f, index: map[storedValue]int{}}
	for r := range f.Liveness().EachLiveIn(0) {
		if !f.isSetOnEntry(r) {
			d.track(storedValue{reg: r})
		}
	}
	f.EachInstr(func(instr *Instr) {
		if instr.Form.Effects.Any(CarryIn) {
			d.track(storedValue{reg: carryFlag})
		}
		d.eachParam(instr, func(p storedValue, _ Access) { d.track(p) })
	})
	for _, v := range f.memoryResults() {
		for i := range v.Size() {
			d.track(storedValue{v: v, byte: i})
		}
	}
	if len(d.values) == 0 {
		return nil
	}
	return d.find()
}

// isSetOnEntry reports whether a register has a value before the function's first instruction.
func (f *Func) isSetOnEntry(r RegID) bool {
	isSet := func(v *Var) bool { return v.Reg != NoReg && v.Reg <= r && r < v.Reg+RegID(max(v.Vec, 1)) }
	return slices.ContainsFunc(f.Params, isSet) || slices.Contains(f.staticRegs, r)
}

// memoryResults returns the function's results in .param space.
func (f *Func) memoryResults() (list []*Var) {
	for _, v := range f.Rets {
		if v.Reg == NoReg {
			list = append(list, v)
		}
	}
	return list
}

// carryFlag represents the flag CC.CF as a register.
const carryFlag = RegID(-2)

// storedValue is a register, the carry flag, or a byte of a parameter in memory.
type storedValue struct {
	reg  RegID
	v    *Var // nil for a register
	byte int
}

// describe returns the description of a value for messages.
func (f *Func) describe(p storedValue) string {
	switch {
	case p.v != nil:
		return fmt.Sprintf("byte %d of parameter %s", p.byte, p.v.Name)
	case p.reg == carryFlag:
		return "the carry flag"
	}
	return "register " + f.Regs[p.reg].Name
}

// definiteAssignment is the data flow of values written on every path. It tracks only values that are read possibly
// before a write.
type definiteAssignment struct {
	f      *Func
	index  map[storedValue]int // index of each value in values
	values []storedValue       // the tracked values
}

// track adds a value to the tracked values.
func (d *definiteAssignment) track(p storedValue) {
	if _, ok := d.index[p]; !ok {
		d.index[p] = len(d.values)
		d.values = append(d.values, p)
	}
}

// find solves the data flow and returns the reads of unwritten values.
func (d *definiteAssignment) find() (list []UnwrittenRead) {
	n := len(d.f.Blocks)
	entry := make([][]bool, n) // for each block, the values written on every path to it; nil if not reached
	entry[0] = make([]bool, len(d.values))
	work := []*Block{d.f.Blocks[0]}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		written := slices.Clone(entry[b.Index])
		d.walk(b, written, nil)
		for _, s := range b.Succs {
			if entry[s.Index] == nil {
				entry[s.Index] = slices.Clone(written)
				work = append(work, s)
				continue
			}
			changed := false
			for i, state := range written {
				if entry[s.Index][i] && !state {
					entry[s.Index][i], changed = false, true
				}
			}
			if changed {
				work = append(work, s)
			}
		}
	}
	for i, b := range d.f.Blocks {
		if entry[i] == nil {
			continue
		}
		seen := make([]bool, len(d.values))
		d.walk(b, entry[i], func(instr *Instr, p int) {
			if !seen[p] {
				seen[p] = true
				list = append(list, UnwrittenRead{instr, d.f.describe(d.values[p]), d.values[p].reg == carryFlag})
			}
		})
	}
	return list
}

// walk visits the instructions of a block and updates written, which says for each tracked value whether it is written.
// It calls report, unless that is nil, with each read of an unwritten value and the value's index.
func (d *definiteAssignment) walk(b *Block, written []bool, report func(instr *Instr, place int)) {
	read := func(instr *Instr, p storedValue) {
		if i, ok := d.index[p]; ok && !written[i] && report != nil {
			report(instr, i)
		}
	}
	write := func(p storedValue, state bool) {
		if i, ok := d.index[p]; ok {
			written[i] = state
		}
	}
	readResults := func(instr *Instr) {
		for _, v := range d.f.memoryResults() {
			for i := range v.Size() {
				read(instr, storedValue{v: v, byte: i})
			}
		}
		for r := range d.f.results() {
			read(instr, storedValue{reg: r})
		}
	}
	for _, instr := range b.Instrs {
		for r := range instr.Uses() {
			read(instr, storedValue{reg: r})
		}
		e := instr.Form.Effects
		if e.HasAll(CarryIn) {
			read(instr, storedValue{reg: carryFlag})
		}
		d.eachParam(instr, func(p storedValue, accessMode Access) {
			if accessMode == Read {
				read(instr, p)
			}
		})
		if e.HasAll(Returns) {
			readResults(instr)
		}
		if e.HasAll(Calls) {
			write(storedValue{reg: carryFlag}, false)
		}
		if instr.Guard.Reg != NoReg {
			continue
		}
		for r := range instr.Defs() {
			write(storedValue{reg: r}, true)
		}
		d.eachParam(instr, func(p storedValue, accessMode Access) {
			if accessMode == Write {
				write(p, true)
			}
		})
		if e.HasAll(CarryOut) {
			write(storedValue{reg: carryFlag}, true)
		}
	}
	if t := b.Terminator(); b.Index == len(d.f.Blocks)-1 && (t == nil || t.Guard.Reg != NoReg) {
		readResults(nil)
	}
}

// eachParam calls do with each byte of a parameter in memory that an instruction reads or writes by the parameter's name.
// It omits the parameters of the function or kernel itself.
func (d *definiteAssignment) eachParam(instr *Instr, do func(p storedValue, accessMode Access)) {
	eachByte := func(o *Operand, from, n int, accessMode Access) {
		v, ok := o.Sym().(*Var)
		if !ok || v.Space != Param || slices.Contains(d.f.Params, v) {
			return
		}
		if n < 0 {
			n = v.Size()
		}
		for i := from; i < from+n; i++ {
			do(storedValue{v: v, byte: i}, accessMode)
		}
	}
	if c := instr.Call; c != nil {
		for i := range c.Args {
			eachByte(&c.Args[i], 0, -1, Read)
		}
		for i := range c.Rets {
			eachByte(&c.Rets[i], 0, -1, Write)
		}
		return
	}
	accessMode := Read
	switch instr.Form.Family {
	case FamilyLoad:
	case FamilyStore:
		accessMode = Write
	default:
		return
	}
	if s, _ := instr.Space(); s != Param {
		return
	}
	for i := range instr.Ops {
		if o := &instr.Ops[i]; o.Kind == AddrOperand && o.Reg == NoReg {
			eachByte(o, int(o.Offset()), instr.VecLen()*instr.Type().Size(), accessMode)
		}
	}
}
