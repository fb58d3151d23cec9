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

// Fault is code that is not what was selected, or a pass that failed: a mistake in this
// package.
type Fault struct {
	Func *ptx.Func
	Pass string // after which it was found
	Err  error  // what is wrong, where
}

func (f *Fault) Error() string {
	return fmt.Sprintf("the lowered code is not what was selected: after pass %s: %v", f.Pass, f.Err)
}

// Unwrap is what is wrong.
func (f *Fault) Unwrap() error { return f.Err }

// mostReplayed bounds what is replayed of code with a reference, in rows times blocks:
// the replay takes memory by it.
const mostReplayed = 1 << 24

// verify is what is wrong with the function after a pass. What a launch in check mode
// waits for is less than the tests ask for: rows are looked at after they are allocated,
// and it is only the code that is checked that is replayed, for it is compared with the
// other as it runs.
func (l *lowerer) verify(pass string) error {
	switch {
	case Verify:
		return l.everything(pass)
	case !l.opt.Reference:
		return nil
	case pass == "select" || pass == "plan":
		l.before = l.annotated()
	case pass == "allocate":
		p, fn := l.twin.alone(l)
		if err := p.VerifyReference(fn); err != nil {
			return err
		}
		p, fn = l.alone(l)
		if err := p.VerifyShape(fn); err != nil {
			return err
		}
		if n := fn.Frame; (n.R+n.Q+n.P)*len(l.blocks) <= mostReplayed {
			q, selected := l.before.alone(l)
			return p.Replay(fn, q, selected)
		}
	}
	return nil
}

// everything is all that is wrong with the function after a pass.
func (l *lowerer) everything(pass string) error {
	switch pass {
	case "allocate":
		q, selected := l.before.alone(l)
		p, fn := l.alone(l)
		err := errors.Join(p.Verify(fn), p.Replay(fn, q, selected))
		if l.twin != nil {
			p, fn = l.twin.alone(l)
			q, selected = l.before.unplanned().alone(l)
			err = errors.Join(err, p.Verify(fn), p.VerifyReference(fn), p.Replay(fn, q, selected))
		}
		return err
	case "link":
		l.prog.Link()
		err := l.prog.Verify(l.fn)
		if l.twin != nil {
			l.prog.Ref.Consts = l.prog.Consts
			l.prog.Ref.Link()
			err = errors.Join(err, l.prog.Ref.Verify(l.twin.fn))
		}
		return err
	}
	l.before = l.annotated()
	p, fn := l.before.alone(l)
	return p.Verify(fn)
}

// annotated is a copy of the draft before allocation, with what is known of its rows.
func (d *draft) annotated() *draft {
	fn := new(code.Func)
	c := d.clone(fn)
	fn.Frame = regfile.Size{R: len(d.virtual[code.R].kept), Q: len(d.virtual[code.Q].kept), P: len(d.virtual[code.P].kept)}
	for s := range d.virtual {
		fn.Kept[s] = d.virtual[s].kept
		for _, row := range d.virtual[s].zero {
			fn.Zero = append(fn.Zero, code.Row{Slot: code.Slot(s), Row: row})
		}
	}
	return c
}

// unplanned is an annotated copy, with nothing planned.
func (d *draft) unplanned() *draft {
	c := d.clone(new(code.Func))
	c.fn.Kept = [code.P + 1][]code.Keeping{}
	c.unplan()
	return c
}

// alone is a program of the draft alone, in the place of its function.
func (d *draft) alone(l *lowerer) (*code.Program, *code.Func) {
	fn := *d.fn
	q := &code.Program{Width: l.opt.Width, Sources: l.prog.Sources, Consts: l.prog.Consts, Funcs: slices.Clone(l.prog.Funcs)}
	q.Funcs[fn.Index] = &fn
	d.append(q, &fn)
	q.Link()
	return q, &fn
}
