package native

// This file multiplies matrices for Go, with the stencils of mma.

import (
	"math"
	"sync"

	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/regfile"
)

// Panels multiplies a matrix A by panels of B, D = A·B + D, each as an mma.
type Panels struct {
	multiply *matrix.Multiply
	count    int
	code     *Code
	size     regfile.Size
	a, b, d  []code.Elem // registers of A, and of B and D of all panels
	states   sync.Pool   // of panelState
}

// panelState is the state of an execution.
type panelState struct {
	file      *regfile.File
	context   Context
	fragments *Fragments
}

// NewPanels returns the multiplication by count panels; nil if this host has no machine code for it.
func NewPanels(m *matrix.Multiply, count int) *Panels {
	if _, ok := m.ByColumns(); !ok || !Supported() || m.A.Bits > 32 || m.D.Bits > 32 {
		return nil
	}
	s := &Panels{multiply: m, count: count}
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
		x := &panelState{file: regfile.New(&p.Consts, false), fragments: new(Fragments)}
		x.file.Reset(s.size)
		return x
	}
	return s
}

// Execute multiplies. a has the registers of A, b those of the panels of B, and d those of the panels of D, which also hold the
// accumulators.
func (s *Panels) Execute(d []*regfile.Row32, a, b []regfile.Row32) {
	x := s.states.Get().(*panelState)
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

// executeInGo multiplies by a panel whose result machine code does not know.
func (s *Panels) executeInGo(x *panelState, i int32) {
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

// Panels returns the multiplication of a wgmma.mma_async by panels, by the index of its operands; nil if there is no machine code
// for it.
func (c *Code) Panels(side int32) *Panels {
	if multiplication := c.panels[side]; multiplication != nil {
		return multiplication()
	}
	return nil
}

// wgmmaPanels returns, for each of the operands, a function that makes the multiplication by panels once; nil for operands of
// other instructions, and for sparse multiplications.
func wgmmaPanels(list []code.Fragments) []func() *Panels {
	out := make([]func() *Panels, len(list))
	for i := range list {
		if w := list[i].Wgmma; w != nil && w.Sparse == nil {
			out[i] = sync.OnceValue(func() *Panels { return NewPanels(w.Panel(), w.N/matrix.PanelColumns) })
		}
	}
	return out
}
