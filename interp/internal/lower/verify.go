package lower

// This file verifies the function being lowered after each pass.

import (
	"errors"
	"fmt"
	"slices"

	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// Verify requests the verification of all functions after every pass. Tests set it.
var Verify bool

// VerifyError is a mistake in this package: lowered code that differs from the selected code, or a failed pass.
type VerifyError struct {
	Func *ptx.Func
	Pass string // the last pass before the fault was found
	Err  error  // the fault and its place
}

func (f *VerifyError) Error() string {
	return fmt.Sprintf("the lowered code differs from the selected code: after pass %s: %v", f.Pass, f.Err)
}

// Unwrap returns the fault.
func (f *VerifyError) Unwrap() error { return f.Err }

// maxReplayed is the largest number of rows times blocks for which check mode replays code. The memory of a replay is
// proportional to this product.
const maxReplayed = 1 << 24

// verify returns the faults of the function after a pass. A launch in check mode verifies less than the tests do: it
// checks only after allocation, and replays only the checked code. The reference needs no replay, because the launch
// compares it with the checked code.
func (l *lowerer) verify(pass string) error {
	switch {
	case Verify:
		return l.verifyAll(pass)
	case !l.opt.Reference:
		return nil
	case pass == "select" || pass == "plan":
		l.beforeAllocation = l.annotatedCopy()
	case pass == "allocate":
		p, fn := l.referenceDraft.standaloneProgram(l)
		if err := p.VerifyReference(fn); err != nil {
			return err
		}
		p, fn = l.standaloneProgram(l)
		if err := p.VerifyShape(fn); err != nil {
			return err
		}
		if n := fn.Frame; (n.R+n.Q+n.P)*len(l.blocks) <= maxReplayed {
			before, selected := l.beforeAllocation.standaloneProgram(l)
			return p.Replay(fn, before, selected)
		}
	}
	return nil
}

// verifyAll returns all faults of the function after a pass.
func (l *lowerer) verifyAll(pass string) error {
	switch pass {
	case "allocate":
		before, selected := l.beforeAllocation.standaloneProgram(l)
		p, fn := l.standaloneProgram(l)
		err := errors.Join(p.Verify(fn), p.Replay(fn, before, selected))
		if l.referenceDraft != nil {
			p, fn = l.referenceDraft.standaloneProgram(l)
			before, selected = l.beforeAllocation.unplannedCopy().standaloneProgram(l)
			err = errors.Join(err, p.Verify(fn), p.VerifyReference(fn), p.Replay(fn, before, selected))
		}
		return err
	case "link":
		l.prog.Link()
		err := l.prog.Verify(l.fn)
		if l.referenceDraft != nil {
			l.prog.Reference.Consts = l.prog.Consts
			l.prog.Reference.Link()
			err = errors.Join(err, l.prog.Reference.Verify(l.referenceDraft.fn))
		}
		return err
	}
	l.beforeAllocation = l.annotatedCopy()
	p, fn := l.beforeAllocation.standaloneProgram(l)
	return p.Verify(fn)
}

// annotatedCopy returns a copy of the draft before allocation. The copy's function has the number and the storage of the
// virtual rows, as package code expects of an allocated function.
func (d *draft) annotatedCopy() *draft {
	fn := new(code.Func)
	c := d.clone(fn)
	fn.Frame = regfile.Size{R: len(d.virtual[code.R].residence), Q: len(d.virtual[code.Q].residence), P: len(d.virtual[code.P].residence)}
	for s := range d.virtual {
		fn.Keeping[s] = d.virtual[s].residence
		for _, row := range d.virtual[s].zero {
			fn.Zero = append(fn.Zero, code.Row{Slot: code.Slot(s), Row: row})
		}
	}
	return c
}

// unplannedCopy returns an annotated copy without a plan.
func (d *draft) unplannedCopy() *draft {
	c := d.clone(new(code.Func))
	c.fn.Keeping = [code.P + 1][]code.Storage{}
	c.clearPlan()
	return c
}

// standaloneProgram returns a program whose only code is the draft's, and its function, which has the same index as in
// the kernel.
func (d *draft) standaloneProgram(l *lowerer) (*code.Program, *code.Func) {
	fn := *d.fn
	p := &code.Program{Width: l.opt.Width, Sources: l.prog.Sources, Consts: l.prog.Consts, Funcs: slices.Clone(l.prog.Funcs)}
	p.Funcs[fn.Index] = &fn
	d.append(p, &fn)
	p.Link()
	return p, &fn
}
