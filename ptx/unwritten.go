package ptx

// This file finds reads of values that may never have been written.

import (
	"fmt"
	"slices"
)

// UnwrittenRead is a read of something that the function may not have written: a path leads from the function's
// first instruction to the read without a write. PTX leaves such a value open.
type UnwrittenRead struct {
	Instr *Instr // reads it; nil if the function's caller does, as the function returns
	What  string // "register %r1", "the carry flag", "byte 4 of parameter z"
	Carry bool   // it is the carry flag
}

// String is the place and the value.
func (u UnwrittenRead) String() string {
	if u.Instr == nil {
		return "where the function ends: " + u.What
	}
	return fmt.Sprintf("%s: %s: %s", u.Instr.Pos, u.Instr.Text, u.What)
}

// UnwrittenReads lists reads of registers, of the carry flag and of parameters in memory that are not preceded by
// a write on every path of the control-flow graph. It gives each register, flag or parameter at its first such read in
// each block.
//
// A guarded instruction does not count as a write, because the lanes that it skips keep the old value. A call
// leaves the carry flag unwritten (manual 9.7.2). Parameters are followed byte by byte where instructions name them: those
// of calls from st.param to the call, those of results from the call to ld.param and from st.param to the
// return. Kernel parameters, parameters of the function and the registers that the module declares count as written. Other memory
// is not followed: an address is known only as the program runs.
func (f *Func) UnwrittenReads() []UnwrittenRead {
	if len(f.Blocks) == 0 {
		return nil
	}
	d := &definite{f: f, places: map[valuePlace]int{}}
	for r := range f.Liveness().Into(0) {
		if !f.isGiven(r) {
			d.place(valuePlace{reg: r})
		}
	}
	f.EachInstr(func(in *Instr) {
		if in.Form.Effects.Any(CarryIn) {
			d.place(valuePlace{reg: carryFlag})
		}
		d.eachParam(in, func(p valuePlace, _ Access) { d.place(p) })
	})
	for _, v := range f.memoryResults() {
		for i := range v.Size() {
			d.place(valuePlace{v: v, at: i})
		}
	}
	if len(d.names) == 0 {
		return nil
	}
	return d.find()
}

// isGiven reports whether a register has a value before the function's first instruction.
func (f *Func) isGiven(r RegID) bool {
	given := func(v *Var) bool { return v.Reg != NoReg && v.Reg <= r && r < v.Reg+RegID(max(v.Vec, 1)) }
	return slices.ContainsFunc(f.Params, given) || slices.Contains(f.staticRegs, r)
}

// memoryResults are the results of the function that it stores to parameters in memory.
func (f *Func) memoryResults() (list []*Var) {
	for _, v := range f.Rets {
		if v.Reg == NoReg {
			list = append(list, v)
		}
	}
	return list
}

// carryFlag stands for the flag CC.CF among registers.
const carryFlag = RegID(-2)

// valuePlace is a register, the carry flag, or a byte of a parameter in memory.
type valuePlace struct {
	reg RegID
	v   *Var // nil of a register
	at  int
}

func (f *Func) nameOf(p valuePlace) string {
	switch {
	case p.v != nil:
		return fmt.Sprintf("byte %d of parameter %s", p.at, p.v.Name)
	case p.reg == carryFlag:
		return "the carry flag"
	}
	return "register " + f.Regs[p.reg].Name
}

// definite is the data flow of values that are written on every path. Only values that are in doubt take part.
type definite struct {
	f      *Func
	places map[valuePlace]int // index of each value
	names  []valuePlace
}

func (d *definite) place(p valuePlace) {
	if _, ok := d.places[p]; !ok {
		d.places[p] = len(d.names)
		d.names = append(d.names, p)
	}
}

// find solves the data flow and lists the reads of values that are not written.
func (d *definite) find() (list []UnwrittenRead) {
	n := len(d.f.Blocks)
	entry := make([][]bool, n) // by block: values written on every path there; nil: not reached
	entry[0] = make([]bool, len(d.names))
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
			for i, is := range written {
				if entry[s.Index][i] && !is {
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
		seen := make([]bool, len(d.names))
		d.walk(b, entry[i], func(in *Instr, p int) {
			if !seen[p] {
				seen[p] = true
				list = append(list, UnwrittenRead{in, d.f.nameOf(d.names[p]), d.names[p].reg == carryFlag})
			}
		})
	}
	return list
}

// walk goes through a block and keeps written up to date. It reports reads of values that are not written.
func (d *definite) walk(b *Block, written []bool, report func(in *Instr, place int)) {
	read := func(in *Instr, p valuePlace) {
		if i, ok := d.places[p]; ok && !written[i] && report != nil {
			report(in, i)
		}
	}
	write := func(p valuePlace, is bool) {
		if i, ok := d.places[p]; ok {
			written[i] = is
		}
	}
	results := func(in *Instr) {
		for _, v := range d.f.memoryResults() {
			for i := range v.Size() {
				read(in, valuePlace{v: v, at: i})
			}
		}
		for r := range d.f.results() {
			read(in, valuePlace{reg: r})
		}
	}
	for _, in := range b.Instrs {
		for r := range in.Uses() {
			read(in, valuePlace{reg: r})
		}
		e := in.Form.Effects
		if e.Has(CarryIn) {
			read(in, valuePlace{reg: carryFlag})
		}
		d.eachParam(in, func(p valuePlace, how Access) {
			if how == Read {
				read(in, p)
			}
		})
		if e.Has(Returns) {
			results(in)
		}
		if e.Has(Calls) {
			write(valuePlace{reg: carryFlag}, false)
		}
		if in.Guard.Reg != NoReg {
			continue
		}
		for r := range in.Defs() {
			write(valuePlace{reg: r}, true)
		}
		d.eachParam(in, func(p valuePlace, how Access) {
			if how == Write {
				write(p, true)
			}
		})
		if e.Has(CarryOut) {
			write(valuePlace{reg: carryFlag}, true)
		}
	}
	if t := b.Terminator(); b.Index == len(d.f.Blocks)-1 && (t == nil || t.Guard.Reg != NoReg) {
		results(nil)
	}
}

// eachParam goes through the bytes of parameters in memory that an instruction names and reads or writes. Those of kernels, and
// those that the function is called with, are left out.
func (d *definite) eachParam(in *Instr, do func(p valuePlace, how Access)) {
	bytes := func(o *Operand, from, n int, how Access) {
		v, ok := o.Sym().(*Var)
		if !ok || v.Space != Param || slices.Contains(d.f.Params, v) {
			return
		}
		if n < 0 {
			n = v.Size()
		}
		for i := from; i < from+n; i++ {
			do(valuePlace{v: v, at: i}, how)
		}
	}
	if c := in.Call; c != nil {
		for i := range c.Args {
			bytes(&c.Args[i], 0, -1, Read)
		}
		for i := range c.Rets {
			bytes(&c.Rets[i], 0, -1, Write)
		}
		return
	}
	how := Read
	switch in.Form.Family {
	case FamilyLoad:
	case FamilyStore:
		how = Write
	default:
		return
	}
	if s, _ := in.Space(); s != Param {
		return
	}
	for i := range in.Ops {
		if o := &in.Ops[i]; o.Kind == AddrOperand && o.Reg == NoReg {
			bytes(o, int(o.Off()), in.VecLen()*in.Type().Size(), how)
		}
	}
}
