package main

// This file translates branches and loops.

import (
	_ "embed"
	"go/ast"
	"go/constant"
	"go/token"
	"maps"
)

// branches translates an if. Both branches start with the values known before it. After it, a value is known if all
// continuing branches agree on it. It reports whether both branches end in a jump.
func (c *context) branches(cond value, pos token.Pos, then, els func() bool) bool {
	if cond.num != nil {
		if constant.BoolVal(cond.num) {
			return c.scope("", then)
		}
		if els == nil {
			return false
		}
		return c.scope("", els)
	}
	name := c.fresh("cond")
	c.line("bool %s = %s;", name, cond.c)
	before := maps.Clone(c.env)
	end := c.scope("if ("+name+") ", then)
	after := c.env
	c.env = before
	endElse := false
	if els != nil {
		endElse = c.scope("else ", els)
	}
	switch {
	case end:
	case endElse:
		c.env = after
	default:
		for o := range before {
			a, b := after[o], c.env[o]
			if a.fn != b.fn || a.alt != b.alt {
				c.env[o] = value{typ: a.typ, alt: &alternative{name, a, b}}
			}
		}
	}
	return end && endElse
}

func (c *context) ifs(s *ast.IfStmt) bool {
	var els func() bool
	if s.Else != nil {
		els = func() bool { return c.stmt(s.Else) }
	}
	return c.branches(c.expr(s.Cond), s.Pos(), func() bool { return c.block(s.Body.List) }, els)
}

func (c *context) switches(s *ast.SwitchStmt) bool {
	tag := boolean(true)
	if s.Tag != nil {
		if tag = c.expr(s.Tag); tag.c != "" {
			n := c.fresh("tag")
			c.line("%s %s = %s;", c.ctype(tag.typ, s.Pos()), n, tag.c)
			tag.c, tag.tag = n, true
		}
	}
	var cases []*ast.CaseClause
	var last *ast.CaseClause
	for _, b := range s.Body.List {
		if b := b.(*ast.CaseClause); b.List == nil {
			last = b
		} else {
			cases = append(cases, b)
		}
	}
	c.inside++
	defer func() { c.inside-- }()
	var rest func(i int) bool
	rest = func(i int) bool {
		if i == len(cases) {
			if last == nil {
				return false
			}
			return c.block(last.Body)
		}
		cond := boolean(false)
		for _, e := range cases[i].List {
			x := c.expr(e)
			if s.Tag != nil {
				x = c.binary(e, token.EQL, tag, x, nil)
			}
			cond = c.binary(e, token.LOR, cond, x, nil)
		}
		els := func() bool { return rest(i + 1) }
		if i+1 == len(cases) && last == nil {
			els = nil
		}
		return c.branches(cond, cases[i].Pos(), func() bool { return c.block(cases[i].Body) }, els)
	}
	return rest(0)
}

// maxIterations bounds the iterations of unrolled loops.
const maxIterations = 64

// loop translates a loop, after its initial statement. It unrolls the loop if the variable's values are known and only the
// loop's own clauses change it.
func (c *context) loop(s *ast.ForStmt) bool {
	if s.Init != nil && s.Post != nil && s.Cond != nil {
		if c.unrolled(s) {
			return false
		}
	}
	inside := c.inside
	c.inside = 0
	defer func() { c.inside = inside }()
	// The values in env hold in every iteration: loops in which a function value changes are refused below.
	before := maps.Clone(c.env)
	c.scope("for (;;) ", func() bool {
		if s.Cond != nil {
			c.line("if (!%s) break;", c.text(c.expr(s.Cond), s.Cond.Pos()))
		}
		if s.Post != nil && jumps(s.Body, token.CONTINUE) {
			c.refuse(s, "a loop with continue")
		}
		if !c.block(s.Body.List) && s.Post != nil {
			c.stmt(s.Post)
		}
		return false
	})
	for o, v := range before {
		if a := c.env[o]; a.fn != v.fn || a.alt != v.alt {
			c.refuse(s, "a loop that changes a function")
		}
	}
	c.env = before
	return s.Cond == nil && !jumps(s.Body, token.BREAK)
}

// jumps reports whether n contains a jump with this token.
func jumps(n ast.Node, tok token.Token) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		b, ok := n.(*ast.BranchStmt)
		found = found || ok && b.Tok == tok
		return true
	})
	return found
}

// unrolled writes the iterations of a loop in sequence, if it can, and reports whether it did.
func (c *context) unrolled(s *ast.ForStmt) bool {
	init, ok := s.Init.(*ast.AssignStmt)
	if !ok || init.Tok != token.DEFINE || len(init.Lhs) != 1 {
		return false
	}
	o := c.info().Defs[init.Lhs[0].(*ast.Ident)]
	v := c.expr(init.Rhs[0])
	if v.num == nil || !isInt(v.typ) || c.sets[o] != 2 || jumps(s.Body, token.BREAK) || jumps(s.Body, token.CONTINUE) {
		return false
	}
	// next returns the value of the variable after the post statement.
	next := func() (value, bool) {
		switch p := s.Post.(type) {
		case *ast.IncDecStmt:
			op := token.ADD
			if p.Tok == token.DEC {
				op = token.SUB
			}
			return c.binary(p, op, c.env[o], value{typ: v.typ, num: constant.MakeInt64(1)}, v.typ), true
		case *ast.AssignStmt:
			if p.Tok == token.ADD_ASSIGN {
				return c.binary(p, token.ADD, c.env[o], c.expr(p.Rhs[0]), v.typ), true
			}
		}
		return value{}, false
	}
	saved := c.env[o]
	var turns []value
	for {
		c.env[o] = v
		cond := c.expr(s.Cond)
		n, ok := next()
		if cond.num == nil || !ok || n.num == nil || len(turns) > maxIterations {
			c.env[o] = saved
			return false
		}
		if !constant.BoolVal(cond.num) {
			break
		}
		turns = append(turns, v)
		v = n
	}
	for _, v := range turns {
		c.env[o] = v
		if c.scope("", func() bool { return c.block(s.Body.List) }) {
			break
		}
	}
	return true
}
