package lower

// This file verifies the function being lowered, between the passes.

import (
	"errors"
	"slices"

	"gemu/interp/internal/code"
	"gemu/regfile"
)

// check is what is wrong with the function after a pass.
func (l *lowerer) check(pass string) error {
	switch pass {
	case "allocate":
		q, selected := l.before.alone(l)
		p, fn := l.alone(l)
		err := errors.Join(p.Verify(fn), p.Replay(fn, q, selected))
		if l.twin != nil {
			p, fn = l.twin.alone(l)
			err = errors.Join(err, p.Verify(fn), p.Replay(fn, q, selected))
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
	fn := *d.fn
	fn.Frame = regfile.Size{R: len(d.virtual[code.R].kept), Q: len(d.virtual[code.Q].kept), P: len(d.virtual[code.P].kept)}
	for s := range d.virtual {
		fn.Kept[s] = d.virtual[s].kept
		for _, row := range d.virtual[s].zero {
			fn.Zero = append(fn.Zero, code.Row{Slot: code.Slot(s), Row: row})
		}
	}
	return d.clone(&fn)
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
