package native

// This file says which instructions machine code has, for gemu isa.

import "gemu/interp/internal/code"

// Forms are the forms in which machine code has an instruction. The zero value stands for execution in Go.
type Forms struct {
	AllLanes  bool // for warps with all lanes
	SomeLanes bool // for some lanes of a warp: under a guard, or in a warp split

	Lanewise  bool // it only computes, lane by lane: Constants and Compact are known
	Constants bool // each source operand may be a constant; otherwise some must be registers
	Compact   bool // once, on the bases and strides of compact operands
}

// and returns the common forms.
func (f Forms) and(o Forms) Forms {
	return Forms{f.AllLanes && o.AllLanes, f.SomeLanes && o.SomeLanes, f.Lanewise && o.Lanewise, f.Constants && o.Constants, f.Compact && o.Compact}
}

// OpForms reads from the tables the forms of a lane-by-lane operation.
func (l *Library) OpForms(op code.Op) Forms {
	s := op.Signature()
	name, ok := l.kernels[s.Name]
	if !ok || s.Kind != code.Arithmetic {
		return Forms{}
	}
	full, masked := l.stencil(name+"_full"), l.stencil(name+"_masked")
	if s.Compares() { // the lanes' outcomes, which a second stencil combines with the old predicate
		full = l.stencil(name)
		masked = full
	}
	f := Forms{AllLanes: full != nil, SomeLanes: masked != nil, Lanewise: true, Compact: l.stencil("scalar_"+name) != nil}
	f.Constants = f.AllLanes && f.SomeLanes && full.neverConstant|masked.neverConstant == 0
	return f
}

// ProgramForms returns the forms common to all instructions of a program, up to the exits of its threads. Lane-by-lane
// operations are looked up in the tables. For other operations the answer depends on their operands: the assembler
// answers for this program.
func (l *Library) ProgramForms(p *code.Program) Forms {
	c := l.New(p)
	full, masked := c.assemble(false).instrs, c.assemble(true).instrs
	f := Forms{AllLanes: true, SomeLanes: true, Lanewise: true, Constants: true, Compact: true}
	for i := range p.Blocks {
		b := &p.Blocks[i]
		for pc := b.First; pc < b.Last; pc++ {
			if op := p.Instrs[pc].Op; op.Signature().Kind == code.Arithmetic {
				f = f.and(l.OpForms(op))
			} else {
				f = f.and(Forms{AllLanes: full[pc] != noPlace, SomeLanes: masked[pc] != noPlace})
			}
		}
		switch end := p.End(b); end.Op {
		case code.Jump, code.Exit:
		case code.Branch, code.Return:
			f = f.and(Forms{AllLanes: true, SomeLanes: true})
		case code.Barrier:
			waits := p.Barriers[end.Side].Kind == code.BarSync && end.B == code.NoRow
			f = f.and(Forms{AllLanes: waits}) // for some lanes, warps wait in Go
		case code.BarrierWarp:
			waits := waitsForMembers(end)
			f = f.and(Forms{AllLanes: waits, SomeLanes: waits})
		default:
			f = Forms{}
		}
	}
	if !f.AllLanes && !f.SomeLanes {
		return Forms{}
	}
	return f
}
