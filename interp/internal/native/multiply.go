package native

// This file executes a single mma or wmma.mma in machine code for Go, which executes some blocks one instruction after the other. It
// copies the operands to rows of its own, runs a program of this one instruction on them, and copies the result back.

import (
	"sync"

	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/regfile"
)

// Multiplication is the machine code of an mma or wmma.mma on registers of its own.
type Multiplication struct {
	code     *Code
	operands code.Fragments // registers of the states
	states   sync.Pool      // of *multiplicationState
}

// multiplicationState has the registers of a Multiplication, and the working memory.
type multiplicationState struct {
	file      *regfile.File
	context   Context
	fragments Fragments
}

// newMultiplication returns the machine code of a multiplication with operands in registers as those of frags.
func (l *Library) newMultiplication(frags *code.Fragments) *Multiplication {
	s := &Multiplication{operands: code.Fragments{Multiply: frags.Multiply}}
	var size regfile.Size
	own := func(list []code.Elem) (out []code.Elem) {
		for _, e := range list {
			n := &size.R
			if e.Slot == code.Q {
				n = &size.Q
			}
			out = append(out, code.Elem{Slot: e.Slot, Row: int32(*n)})
			*n++
		}
		return out
	}
	s.operands.D, s.operands.A, s.operands.B, s.operands.C, s.operands.E = own(frags.D), own(frags.A), own(frags.B), own(frags.C), own(frags.E)
	p := &code.Program{
		Width: regfile.Lanes, Funcs: []*code.Func{{Frame: size}}, Blocks: []code.Block{{First: 0, Last: 1}},
		Instrs: []code.Instr{{Op: code.Multiply, D: code.NoRow, F: code.NoRow}, {Op: code.Exit}},
	}
	p.Fragments = []code.Fragments{s.operands}
	p.Consts.Layout()
	p.Link()
	s.code = l.New(p)
	s.states.New = func() any {
		x := &multiplicationState{file: regfile.New(&p.Consts, false)}
		x.file.Reset(size)
		return x
	}
	return s
}

// Execute multiplies matrices in registers, as matrix.Multiply.Execute does. It returns false, and writes nothing, if machine code does
// not know the result.
func (s *Multiplication) Execute(d, a, b, c, e *matrix.Registers) bool {
	x := s.states.Get().(*multiplicationState)
	defer s.states.Put(x)
	o := &s.operands
	x.read(o.A, a)
	x.read(o.B, b)
	x.read(o.C, c)
	x.read(o.E, e)
	x.context = Context{Mask: regfile.Full, Live: regfile.Full, ReconvergeAt: -1, CountLimit: Stretch}
	x.context.SetFragments(&x.fragments)
	if !s.code.Ready(&x.context) || !s.code.TryInstr(&x.context, x.file, 0) || x.context.Reason == Unsupported {
		return false
	}
	for i, e := range o.D {
		if e.Slot == code.Q {
			*d.Q[i] = *x.file.Row64(e.Row)
		} else {
			*d.R[i] = *x.file.Row32(e.Row)
		}
	}
	return true
}

// read copies registers to the rows of a list.
func (x *multiplicationState) read(list []code.Elem, from *matrix.Registers) {
	for i, e := range list {
		if e.Slot == code.Q {
			*x.file.Row64(e.Row) = *from.Q[i]
		} else {
			*x.file.Row32(e.Row) = *from.R[i]
		}
	}
}

// Multiplication returns the multiplication of an mma or wmma.mma, by the index of its operands.
func (c *Code) Multiplication(side int32) *Multiplication { return c.multiplications[side]() }

// newMultiplications returns, for each of the operands, a function that makes the multiplication once; nil for operands of other
// instructions.
func (l *Library) newMultiplications(list []code.Fragments) []func() *Multiplication {
	out := make([]func() *Multiplication, len(list))
	for i := range list {
		if f := &list[i]; f.Multiply != nil {
			out[i] = sync.OnceValue(func() *Multiplication { return l.newMultiplication(f) })
		}
	}
	return out
}
