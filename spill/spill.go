// Package spill rewrites the functions of a PTX module so that a thread needs no more than N
// physical registers, as the assembler behind a compiler does (nvcc's -maxrregcount, ptxas's
// --maxrregcount): registers are allocated, and what does not fit is kept in local memory.
//
// A physical register has 32 bits. A virtual register of 8, 16 or 32 bits takes one, one of 64
// bits two and one of 128 bits four, which need not lie side by side: vectors and pairs are any
// registers. Predicates are not counted; they have registers of their own, as on the hardware.
//
// The steps, a file each:
//
//   - program.go: a function as operations on variables. Each web of definitions and uses that
//     belong together is a variable.
//   - place.go: which variables are in registers where. What has to go is the one whose next use
//     is farthest (Belady), over blocks by Braun and Hack, "Register Spilling and Live-Range
//     Splitting for SSA-Form Programs" (2009). What a constant, a parameter or the address of one,
//     or a special register gives again is made again and not stored (rematerialisation).
//   - color.go: which registers they are, by colouring the graph of interferences (Briggs, Cooper
//     and Torczon, "Improvements to Graph Coloring Register Allocation", 1994). A variable
//     that finds no colour is one in memory from then on, and both steps are done again.
//   - rewrite.go: the module with that put into effect.
//
// A variable that is loaded back anywhere is stored wherever it is written, so that
// memory has its value at all times. A function that is called may use all registers; what lives
// across a call is in memory.
//
// It does no scheduling: the order of instructions is the source's.
package spill

import (
	"context"
	"fmt"
	"slices"

	"gemu/ptx"
)

// MaxRegs is the most registers that a thread can be given: more than any machine has.
const MaxRegs = 4096

// Func is what became of a function.
type Func struct {
	Name string `json:"name"` // of the function
	Line int    `json:"line"` // where it begins in the source

	Pressure int `json:"pressure"` // registers that are needed at once, where most are
	Min      int `json:"min_regs"` // registers that its instructions need: the fewest it can be given
	Used     int `json:"used"`     // registers that it has been given

	Spilled        int `json:"spilled"`        // variables with a place in local memory
	Bytes          int `json:"bytes"`          // that these places take, of each thread
	Loads          int `json:"loads"`          // instructions that load one back
	Stores         int `json:"stores"`         // … that store one
	Rematerialized int `json:"rematerialized"` // … that make a value again instead
	Removed        int `json:"removed"`        // … of the source that are left out: what they move is there, or made again elsewhere
}

// Error is a function that cannot be rewritten, with the instruction that is why.
type Error struct {
	File string
	Pos  ptx.Pos
	Func string
	Msg  string
	Line string // the source line
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%s: %s: %s", e.File, e.Pos, e.Func, e.Msg)
}

// Snippet is the source line with a caret under the column, as two lines.
func (e *Error) Snippet() string { return ptx.Snippet(e.Line, e.Pos) }

func newError(f *ptx.Func, pos ptx.Pos, format string, args ...any) error {
	m := f.Module()
	return &Error{m.Name, pos, f.Name, fmt.Sprintf(format, args...), m.Line(int(pos.Line))}
}

// Module rewrites the functions of a module to regs registers of 32 bits a thread: those that are
// named, or all that have a body. The result is PTX, which parses, and what became of each, in order. The error is an *Error
// if a function cannot have so few, or has what is not dealt with: multiplications and loads that
// go on behind the next instruction (wgmma, tcgen05.ld), parameters and variables of the module
// in registers; or that of the context: some seconds for a function of
// 50 000 instructions.
func Module(ctx context.Context, m *ptx.Module, regs int, names ...string) (src string, funcs []Func, err error) {
	if regs < 1 || regs > MaxRegs {
		return "", nil, fmt.Errorf("%d registers: want 1 to %d", regs, MaxRegs)
	}
	// What is rewritten is another copy: modules are shared.
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

// Range is how many registers a function can make use of.
type Range struct {
	Min      int // the fewest that its instructions need
	Base     int // the fewest with which nothing is loaded back from memory that is not so with any number (what lives across calls): r_base
	Pressure int // that are live at once, where most are
}

// RangeOf finds it. The error is an *Error, as that of Module.
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

// MinRegs is the fewest registers that a function's instructions need.
func MinRegs(ctx context.Context, f *ptx.Func) (int, error) {
	a, err := newAnalysis(ctx, f)
	if err != nil {
		return 0, err
	}
	return max(a.minRegs, 1), nil
}
