package spill

import (
	"context"
	"fmt"
	"slices"

	"gemu/ptx"
)

// MaxRegs is the maximum number of registers of a thread: more than any machine has.
const MaxRegs = 4096

// Func is the result for a function.
type Func struct {
	Name string `json:"name"` // name of the function
	Line int    `json:"line"` // line of its beginning in the source

	Pressure int `json:"pressure"` // maximum number of registers needed at the same time
	Min      int `json:"min_regs"` // minimum number of registers, given by its instructions
	Used     int `json:"used"`     // number of allocated registers

	Spilled        int `json:"spilled"`        // number of variables with a slot in local memory
	Bytes          int `json:"bytes"`          // size of these slots for each thread in bytes
	Loads          int `json:"loads"`          // number of reloading instructions
	Stores         int `json:"stores"`         // number of storing instructions
	Rematerialized int `json:"rematerialized"` // number of instructions recomputing a value instead of loading it
	Removed        int `json:"removed"`        // number of removed source instructions: moves within a register, or instructions whose value is recomputed elsewhere
}

// Error is a function that cannot be rewritten, with the instruction responsible.
type Error struct {
	File string  // name of the source file
	Pos  ptx.Pos // place in the source
	Func string  // name of the function
	Msg  string  // reason
	Line string  // text of the source line at Pos
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%s: %s: %s", e.File, e.Pos, e.Func, e.Msg)
}

// Snippet returns the source line with a caret under the column, as two lines.
func (e *Error) Snippet() string { return ptx.Snippet(e.Line, e.Pos) }

func newError(f *ptx.Func, pos ptx.Pos, format string, args ...any) error {
	m := f.Module()
	return &Error{m.Name, pos, f.Name, fmt.Sprintf(format, args...), m.Line(int(pos.Line))}
}

// Module rewrites the named functions of a module, or all that have a body, to regs registers of 32 bits for each
// thread. It returns the new PTX, which parses, and the result for each function, in order. The error is an *Error if a
// function needs more registers or is not supported: multiplications and loads that continue after the next instruction
// (wgmma, tcgen05.ld), and parameters and module variables in registers. It can also be the error of the context: a
// function of 50 000 instructions takes some seconds.
func Module(ctx context.Context, m *ptx.Module, regs int, names ...string) (src string, funcs []Func, err error) {
	if regs < 1 || regs > MaxRegs {
		return "", nil, fmt.Errorf("%d registers: want 1 to %d", regs, MaxRegs)
	}
	// Rewrite a copy: modules are shared.
	own, err := ptx.ParseString(m.Name, m.Source())
	if err != nil {
		return "", nil, err
	}
	for _, d := range own.Decls {
		f, ok := d.(*ptx.Func)
		if !ok || !f.Defined || len(names) > 0 && !slices.Contains(names, f.Name) {
			continue
		}
		a, err := newAnalysis(ctx, f)
		if err != nil {
			return "", nil, err
		}
		p, err := a.allocate(regs)
		if err != nil {
			return "", nil, err
		}
		if err := p.rewrite(); err != nil {
			return "", nil, err
		}
		funcs = append(funcs, p.report())
	}
	src = own.String()
	if _, err := ptx.ParseString(m.Name, src); err != nil {
		return "", nil, fmt.Errorf("BUG: %s with %d registers does not parse: %w", m.Name, regs, err)
	}
	return src, funcs, nil
}

// Range is the range of useful numbers of registers for a function.
type Range struct {
	Min      int // minimum, given by its instructions
	Base     int // minimum without avoidable reloads, where only variables that live across calls are reloaded (r_base)
	Pressure int // maximum number of registers live at the same time
}

// RangeOf computes the range of a function. The error is an *Error, as in Module.
func RangeOf(ctx context.Context, f *ptx.Func) (r Range, err error) {
	a, err := newAnalysis(ctx, f)
	if err != nil {
		return r, err
	}
	best, err := a.allocate(MaxRegs)
	if err != nil {
		return r, err
	}
	good := func(n int) bool {
		if err != nil {
			return false
		}
		var p *plan
		p, err = a.allocate(n)
		return err == nil && p.loads() <= best.loads()
	}
	r = Range{Min: max(a.minRegs, 1), Pressure: a.pressure}
	for r.Base = max(r.Pressure, r.Min); !good(r.Base) && err == nil; r.Base++ {
	}
	for r.Base > r.Min && good(r.Base-1) {
		r.Base--
	}
	return r, err
}

// MinRegs returns the minimum number of registers that a function's instructions need.
func MinRegs(ctx context.Context, f *ptx.Func) (int, error) {
	a, err := newAnalysis(ctx, f)
	if err != nil {
		return 0, err
	}
	return max(a.minRegs, 1), nil
}
