package lower

// This file verifies the function being lowered, between the passes.

import (
	"errors"
	"fmt"
	"slices"

	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// Verify has all functions verified after every pass, as the tests want it.
var Verify bool

// VerifyError is code that is not what was selected, or a pass that failed: a mistake in this
// package.
type VerifyError struct {
	Func *ptx.Func
	Pass string // after which it was found
	Err  error  // what is wrong, where
}

func (f *VerifyError) Error() string {
	return fmt.Sprintf("the lowered code is not what was selected: after pass %s: %v", f.Pass, f.Err)
}

// Unwrap is what is wrong.
func (f *VerifyError) Unwrap() error { return f.Err }

// maxReplayed bounds what is replayed of code with a reference, in rows times blocks:
// the replay takes memory by it.
const maxReplayed = 1 << 24

// verify is what is wrong with the function after a pass. What a launch in check mode
// waits for is less than the tests ask for: rows are looked at after they are allocated,
// and it is only the code that is checked that is replayed, for it is compared with the
// other as it runs.
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
			q, selected := l.beforeAllocation.standaloneProgram(l)
			return p.Replay(fn, q, selected)
		}
	}
	return nil
}

// verifyAll is all that is wrong with the function after a pass.
func (l *lowerer) verifyAll(pass string) error {
	switch pass {
	case "allocate":
		q, selected := l.beforeAllocation.standaloneProgram(l)
		p, fn := l.standaloneProgram(l)
		err := errors.Join(p.Verify(fn), p.Replay(fn, q, selected))
		if l.referenceDraft != nil {
			p, fn = l.referenceDraft.standaloneProgram(l)
			q, selected = l.beforeAllocation.unplannedCopy().standaloneProgram(l)
			err = errors.Join(err, p.Verify(fn), p.VerifyReference(fn), p.Replay(fn, q, selected))
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

// annotatedCopy is a copy of the draft before allocation, with what is known of its rows.
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

// unplannedCopy is an annotated copy, with nothing planned.
func (d *draft) unplannedCopy() *draft {
	c := d.clone(new(code.Func))
	c.fn.Keeping = [code.P + 1][]code.Storage{}
	c.clearPlan()
	return c
}

// standaloneProgram is a program of the draft alone, in the place of its function.
func (d *draft) standaloneProgram(l *lowerer) (*code.Program, *code.Func) {
	fn := *d.fn
	q := &code.Program{Width: l.opt.Width, Sources: l.prog.Sources, Consts: l.prog.Consts, Funcs: slices.Clone(l.prog.Funcs)}
	q.Funcs[fn.Index] = &fn
	d.append(q, &fn)
	q.Link()
	return q, &fn
}
