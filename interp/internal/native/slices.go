package native

// This file multiplies matrices for Go, with the stencils of mma.

import (
	"math"
	"sync"

	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/regfile"
)

// Slices multiplies a matrix A by slices of B, D = A·B + D, each as an mma.
type Slices struct {
	multiply *matrix.Multiply
	count    int
	code     *Code
	size     regfile.Size
	a, b, d  []code.Elem // registers of A, and of B and D of all slices
	states   sync.Pool   // of sliceState
}

// sliceState is the state of an execution.
type sliceState struct {
	file      *regfile.File
	context   Context
	fragments *Fragments
}

// NewSlices returns the multiplication by count slices; nil if this host has no machine code for it.
func NewSlices(m *matrix.Multiply, count int) *Slices {
	if _, ok := m.ByColumns(); !ok || !Supported() || m.A.Bits > 32 || m.D.Bits > 32 {
		return nil
	}
	s := &Slices{multiply: m, count: count}
	registers := func(o *matrix.Operand) (list []code.Elem) {
		for range o.Registers() {
			list = append(list, code.Elem{Slot: code.R, Row: int32(s.size.R)})
			s.size.R++
		}
		return list
	}
	s.a = registers(&m.A)
	p := &code.Program{Width: regfile.Lanes}
	for i := range count {
		f := code.Fragments{Multiply: m, A: s.a, B: registers(&m.B), D: registers(&m.D)}
		f.C = f.D
		s.b, s.d = append(s.b, f.B...), append(s.d, f.D...)
		p.Fragments = append(p.Fragments, f)
		p.Instrs = append(p.Instrs, code.Instr{Op: code.Multiply, Side: int32(i), D: code.NoRow, F: code.NoRow})
	}
	p.Funcs = []*code.Func{{Frame: s.size}}
	p.Blocks = []code.Block{{First: 0, Last: int32(count)}}
	p.Instrs = append(p.Instrs, code.Instr{Op: code.Exit})
	p.Consts.Layout()
	p.Link()
	s.code = New(p)
	s.states.New = func() any {
		x := &sliceState{file: regfile.New(&p.Consts, false), fragments: new(Fragments)}
		x.file.Reset(s.size)
		return x
	}
	return s
}

// Execute multiplies. a has the registers of A, b those of the slices of B, and d those of the slices of D, which also hold the
// accumulators.
func (s *Slices) Execute(d []*regfile.Row32, a, b []regfile.Row32) {
	x := s.states.Get().(*sliceState)
	defer s.states.Put(x)
	for i, e := range s.a {
		*x.file.Row32(e.Row) = a[i]
	}
	for i, e := range s.b {
		*x.file.Row32(e.Row) = b[i]
	}
	for i, e := range s.d {
		*x.file.Row32(e.Row) = *d[i]
	}
	x.context = Context{Mask: regfile.Full, Live: regfile.Full, ReconvergeAt: -1, CountLimit: math.MaxInt64}
	x.context.SetFragments(x.fragments)
	for s.code.RunBlock(&x.context, x.file, 0); x.context.Reason != OtherEnd; s.code.RunInstr(&x.context, x.file, x.context.PC) {
		if x.context.Reason == Unsupported {
			s.executeInGo(x, x.context.PC)
			x.context.PC++
		}
	}
	for i, e := range s.d {
		*d[i] = *x.file.Row32(e.Row)
	}
}

// executeInGo multiplies by a slice whose result machine code does not know.
func (s *Slices) executeInGo(x *sliceState, i int32) {
	f := &s.code.prog.Fragments[i]
	var operands [3]matrix.Registers
	for k, elems := range [][]code.Elem{f.D, f.A, f.B} {
		for j, e := range elems {
			operands[k].R[j] = x.file.Row32(e.Row)
		}
	}
	if u := s.multiply.Execute(&operands[0], &operands[1], &operands[2], &operands[0], &matrix.Registers{}); u != nil {
		panic("BUG: " + u.Description)
	}
}

// Slices returns the multiplication of a wgmma.mma_async by slices, by the index of its operands; nil if there is no machine code for
// it.
func (c *Code) Slices(side int32) *Slices { return c.slices[side]() }

// wgmmaSlices returns the functions of Code.Slices.
func wgmmaSlices(list []code.Fragments) map[int32]func() *Slices {
	m := map[int32]func() *Slices{}
	for i := range list {
		w := list[i].Wgmma
		m[int32(i)] = sync.OnceValue(func() *Slices {
			if w == nil || w.Sparse != nil {
				return nil
			}
			return NewSlices(w.Slice(), w.N/matrix.SliceColumns)
		})
	}
	return m
}
