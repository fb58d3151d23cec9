package native

// This file multiplies matrices for Go, with the stencils of mma.

import (
	"math"
	"runtime"
	"sync"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/regfile"
)

// Panels is the machine code of a multiplication of 16 rows of A by panels of B.
type Panels struct {
	*matrix.Panels
	columns matrix.Columns
	code    *Code
	body    *body
	size    regfile.Size
	b       [][]code.Elem // registers of B, by panel
	a       []code.Elem   // registers of A
	d       [][]code.Elem // registers of D, by panel, unless D is in rows
	states  sync.Pool     // of *PanelState
}

// decodesA and multiplies return the numbers of steps. The first steps decode the panels of B; an exit follows. The next step decodes
// A; an exit follows. The remaining steps multiply by a panel each; an exit follows each part of the panels.
func (s *Panels) decodesA() int        { return s.Count + 1 }
func (s *Panels) multiplies(i int) int { return s.decodesA() + 2 + i + i/s.perPart() }

// perPart is the number of panels of a part.
func (s *Panels) perPart() int { return s.Count / s.Parts }

// NewPanels returns the machine code of a multiplication; nil if this host has none.
func NewPanels(p *matrix.Panels) *Panels {
	if !Supported() {
		return nil
	}
	return HostLibrary().newPanels(p)
}

func (l *Library) newPanels(p *matrix.Panels) *Panels {
	columns, ok := p.Multiply.ByColumns()
	if !ok || len(columns.Products) != 1 || p.Multiply.A.Bits > 32 || p.Count%p.Parts != 0 {
		return nil
	}
	s := &Panels{Panels: p, columns: columns}
	registers := func(o *matrix.Operand) (list []code.Elem) {
		for range o.Registers() {
			list = append(list, code.Elem{Slot: code.R, Row: int32(s.size.R)})
			s.size.R++
		}
		return list
	}
	s.a = registers(&p.Multiply.A)
	for range p.Count {
		s.b = append(s.b, registers(&p.Multiply.B))
		if !p.InRows {
			s.d = append(s.d, registers(&p.Multiply.D))
		}
	}
	prog := &code.Program{Width: regfile.Lanes, Instrs: make([]code.Instr, s.multiplies(p.Count)+1), Funcs: []*code.Func{{Frame: s.size}}}
	prog.Consts.Layout()
	s.code = l.New(prog)
	if s.body = s.assemble(); s.body == nil || s.body.text.memory == nil {
		return nil
	}
	s.states.New = func() any {
		x := &PanelState{Panels: s, file: regfile.New(&prog.Consts, false), panels: make([]rightPanel, p.Count)}
		x.file.Reset(s.size)
		x.fragments.panels = unsafe.Pointer(unsafe.SliceData(x.panels))
		return x
	}
	return s
}

// assemble makes the code. It returns nil if a stencil is missing.
func (s *Panels) assemble() *body {
	a := newAssembler(s.code, false)
	defer a.release()
	pc := 0
	step := func(emit func(exit int)) {
		a.placeIsland()
		a.instrs[pc] = int32(len(a.buf))
		if emit == nil {
			a.putExit(int32(pc), OtherEnd)
		} else {
			emit(a.exitLabel(int32(pc), Unsupported))
		}
		pc++
	}
	m := &s.columns
	product := &m.Products[0]
	selectPanel := func(i int) {
		a.put("matrix_panel", holes{n0: int64(i) * int64(unsafe.Sizeof(rightPanel{}))})
	}
	for i := range s.Count {
		step(func(exit int) {
			selectPanel(i)
			a.put("matrix_empty_panel", holes{})
			a.decodeMatrix("_b", m.B, s.b[i], product.B, m, exit)
		})
	}
	step(nil)
	step(func(exit int) {
		a.put("matrix_left", holes{})
		a.decodeMatrix("_a", m.A, s.a, product.A, m, exit)
	})
	step(nil)
	name, n0, n1 := multiplyFunction(m)
	for i := range s.Count {
		step(func(exit int) {
			selectPanel(i)
			column := int64(i % s.perPart() * matrix.ProductColumns * 4)
			if s.InRows {
				a.callFunction("load_rows_"+sumType(m.C), column, 0, exit)
				if s.Divisor != 0 {
					a.callFunction("divide", int64(s.Divisor), leastDivided(m), exit)
				}
			} else {
				for _, p := range product.C {
					a.decodePart("decode_"+sumType(m.C)+"_c", s.d[i], p, holes{n0: int64(p.Column)})
				}
			}
			a.callFunction(name, n0, n1, exit)
			if s.InRows {
				a.callFunction("store_rows_"+sumType(m.D), column, 0, exit)
				return
			}
			for _, p := range product.D {
				x, y := s.d[i][p.Registers[0]], s.d[i][p.Registers[1]]
				h := holes{n0: int64(p.Column), other: a.function("encode_" + sumType(m.D))}
				a.setRegister(&h, 'D', x.Slot, x.Row)
				a.setRegister(&h, 'F', y.Slot, y.Row)
				a.putOrLeave("matrix_encode_r", h)
			}
		})
		if (i+1)%s.perPart() == 0 {
			step(nil)
		}
	}
	if a.leftToGo {
		return nil
	}
	a.putStubs()
	return a.newBody(s.code.prog)
}

// leastDivided returns the least number of C that is divided exactly, as the bits of f32: the least normal number of its type.
func leastDivided(m *matrix.Columns) int64 {
	if m.SumF16 {
		return int64(math.Float32bits(0x1p-14))
	}
	return int64(math.Float32bits(0x1p-126))
}

// PanelState executes multiplications. It implements matrix.PanelMultiplier.
type PanelState struct {
	*Panels
	file      *regfile.File
	context   Context
	fragments Fragments
	panels    []rightPanel
	unknownA  bool // A has elements that machine code does not multiply
}

var _ matrix.PanelMultiplier = (*PanelState)(nil)

// Begin returns a state. The caller must call its End.
func (s *Panels) Begin() *PanelState { return s.states.Get().(*PanelState) }

// End returns the state to its pool.
func (x *PanelState) End() {
	x.fragments.rows = nil
	x.states.Put(x)
}

// run executes the code from a place on, up to the next exit. It calls unknown with the number of each step that machine code does not
// know.
func (x *PanelState) run(pc int, unknown func(pc int)) {
	x.context = Context{Mask: regfile.Full, Live: regfile.Full, ReconvergeAt: -1}
	x.context.SetFragments(&x.fragments)
	for {
		x.code.run(&x.context, x.file, x.body, x.body.instrs[pc])
		if x.context.Reason != Unsupported {
			return
		}
		pc = int(x.context.PC)
		unknown(pc)
		pc++
	}
}

// SetB sets the registers of B, of all panels.
func (x *PanelState) SetB(registers []regfile.Row32) {
	for _, elems := range x.b {
		for i, e := range elems {
			*x.file.Row32(e.Row) = registers[i]
		}
		registers = registers[len(elems):]
	}
	x.run(0, func(pc int) { x.panels[pc].special = 1 })
}

// ScalesOfB has the scales of a panel of B.
func (x *PanelState) ScalesOfB(panel int) *matrix.ColumnScales[[matrix.ProductColumns]int32] {
	return &x.panels[panel].scales
}

// SetA sets the registers of A. The metadata must be set before.
func (x *PanelState) SetA(registers []regfile.Row32) {
	for i, e := range x.a {
		*x.file.Row32(e.Row) = registers[i]
	}
	x.unknownA = false
	x.run(x.decodesA(), func(int) { x.unknownA = true })
}

// Metadata has the metadata of A.
func (x *PanelState) Metadata() *matrix.PanelMetadata { return &x.fragments.metadata }

// ScalesOfA has the scales of A.
func (x *PanelState) ScalesOfA() *matrix.ColumnScales[[matrix.ProductRows]int32] {
	return &x.fragments.scales
}

// Multiply multiplies by the panels of a part, for D in rows: see matrix.PanelMultiplier.
func (x *PanelState) Multiply(part int, rows []uint32, stride int) (unknown []int) {
	_ = rows[(matrix.ProductRows-1)*stride+x.perPart()*matrix.ProductColumns-1] // in bounds
	x.fragments.rows, x.fragments.rowSize = unsafe.Pointer(unsafe.SliceData(rows)), uintptr(4*stride)
	unknown = x.multiply(part)
	runtime.KeepAlive(rows)
	return unknown
}

// MultiplyRegisters multiplies by all panels, for D in registers, and returns the panels whose result is unknown.
func (x *PanelState) MultiplyRegisters(d []*regfile.Row32) (unknown []int) {
	for i, elems := range x.d {
		for k, e := range elems {
			*x.file.Row32(e.Row) = *d[i*len(elems)+k]
		}
	}
	unknown = x.multiply(0)
	for i, elems := range x.d {
		for k, e := range elems {
			*d[i*len(elems)+k] = *x.file.Row32(e.Row)
		}
	}
	return unknown
}

// multiply multiplies by the panels of a part, and returns those whose result is unknown, counted in the part.
func (x *PanelState) multiply(part int) (unknown []int) {
	first := part * x.perPart()
	if x.unknownA {
		for i := range x.perPart() {
			unknown = append(unknown, i)
		}
		return unknown
	}
	begin := x.multiplies(first)
	x.run(begin, func(pc int) { unknown = append(unknown, pc-begin) })
	return unknown
}

// tensorPanels is a cache of the machine code of tcgen05.mma.
var tensorPanels struct {
	mu    sync.Mutex
	byKey map[matrix.PanelKey]*Panels // nil elements: there is no machine code
}

// maxTensorPanels is the maximum number of multiplications in the cache.
const maxTensorPanels = 256

// TensorPanels returns the machine code of a multiplication of tcgen05.mma; nil if there is none.
func TensorPanels(p matrix.Panels) *Panels {
	c := &tensorPanels
	c.mu.Lock()
	defer c.mu.Unlock()
	key := p.Key()
	s, ok := c.byKey[key]
	if !ok {
		if len(c.byKey) >= maxTensorPanels || c.byKey == nil {
			c.byKey = map[matrix.PanelKey]*Panels{}
		}
		s = NewPanels(&p)
		c.byKey[key] = s
	}
	return s
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
// other instructions.
func wgmmaPanels(list []code.Fragments) []func() *Panels {
	out := make([]func() *Panels, len(list))
	for i := range list {
		if w := list[i].Wgmma; w != nil {
			out[i] = sync.OnceValue(func() *Panels {
				p := w.Panels()
				return NewPanels(&p)
			})
		}
	}
	return out
}
