package debug

// This file compiles conditions to Go functions and evaluates them lane by lane.

import (
	"fmt"
	"slices"

	"gemu/ptx"
)

// lanes returns the lanes of the scope for which the condition holds. A condition that cannot be evaluated, for example
// because a register is not live, counts as true: then the launch stops, and the user sees the reason.
func (c *Condition) lanes(sc *scope) (m uint64) {
	p, err := c.programFor(sc)
	if err != nil {
		return sc.mask
	}
	sc.prepare(p)
	for remaining := sc.mask; remaining != 0; remaining &= remaining - 1 {
		lane := lowestLane(remaining)
		v, err := p.eval(sc, lane)
		holds := err != nil || v.isTrue()
		if !sc.varies { // the result is the same in all lanes
			if holds {
				m = sc.mask
			}
			return m
		}
		if holds {
			m |= 1 << lane
		}
	}
	return m
}

// candidateCTAs returns a function that reports whether the condition may hold for any thread of a CTA. It evaluates only
// the conjuncts (operands of &&) before the first whose value may differ between threads of a CTA. The evaluation of that
// conjunct may fail, and then the condition counts as true, whatever the later conjuncts are.
func (c *Condition) candidateCTAs(s *Session) func(cta int) bool {
	sc := &scope{s: s, fn: s.info.Kernel, mask: 1, context: new(Context)}
	b := builder{c: c, sc: sc, p: new(program)}
	var list []eval
	for _, n := range c.root.conjuncts(nil) {
		if !n.sameInCTA() {
			break
		}
		list = append(list, b.node(n))
	}
	return func(cta int) bool {
		sc.cta, sc.id = cta, indexAt(cta, s.info.Grid)
		for _, holds := range list {
			if v, err := holds(sc, 0); err != nil || !v.isTrue() {
				return err != nil
			}
		}
		return true
	}
}

// conjuncts appends the conjuncts of the expression to list.
func (n *node) conjuncts(list []*node) []*node {
	if n.kind == binaryNode && n.op == "&&" {
		return n.right.conjuncts(n.left.conjuncts(list))
	}
	return append(list, n)
}

// sameInCTA reports whether the expression has the same value in all threads of a CTA, at any instruction.
func (n *node) sameInCTA() bool {
	switch n.kind {
	case constNode:
		return true
	case nameNode:
		f, ok := findSpecial(n.name)
		return ok && n.left == nil && f.extent >= ofCTA
	case signNode:
		return n.left.sameInCTA()
	case binaryNode:
		return n.left.sameInCTA() && n.right.sameInCTA()
	}
	return false
}

// fail returns an error at a node.
func (c *Condition) fail(n *node, format string, args ...any) error {
	return &ConditionError{c.Text, n.column, fmt.Sprintf(format, args...)}
}

// eval evaluates an expression for a lane.
type eval func(sc *scope, lane int) (value, error)

// program is an expression compiled for a function.
type program struct {
	eval
	location   func(sc *scope, lane int) (Location, error) // location of an expression that names memory; else nil
	regs       []ptx.RegID                                 // registers read, in the order of scope.rows
	reductions int                                         // number of calls of any and all, in the order of scope.whole
}

// prepare resizes and resets a scope for an evaluation of a program.
func (sc *scope) prepare(p *program) {
	for len(sc.rows) < len(p.regs) {
		sc.rows = append(sc.rows, registerRow{})
	}
	for i := range p.regs {
		sc.rows[i].isRead = false
	}
	sc.varies = false
	sc.whole = slices.Grow(sc.whole[:0], p.reductions)[:p.reductions]
	clear(sc.whole)
}

// programFor returns the condition's program for the function of a scope. The error for an unknown name is a
// *ConditionError.
func (c *Condition) programFor(sc *scope) (*program, error) {
	if p, ok := c.programs[sc.fn]; ok && c.launch == sc.s.info {
		return p.program, p.err
	}
	if c.launch != sc.s.info {
		c.launch, c.programs = sc.s.info, map[*ptx.Func]compiled{}
	}
	p := &program{}
	b := builder{c: c, sc: sc, p: p}
	p.eval = b.node(c.root)
	if n := c.root; b.err == nil && (n.kind == memoryNode || n.kind == nameNode && b.memory(n.name)) {
		p.location = b.location(n)
	}
	c.programs[sc.fn] = compiled{p, b.err}
	return p, b.err
}

// compiled is a program or the error of its compilation.
type compiled struct {
	*program
	err error
}

// builder compiles programs.
type builder struct {
	c   *Condition
	sc  *scope // a scope of the function; only its session and function are used
	p   *program
	err error // the first error
}

// fail notes an error at a node.
func (b *builder) fail(n *node, format string, args ...any) {
	if b.err == nil {
		b.err = b.c.fail(n, format, args...)
	}
}

func (b *builder) node(n *node) eval {
	c := b.c
	switch n.kind {
	case constNode:
		v := n.value
		return func(*scope, int) (value, error) { return v, nil }
	case nameNode:
		if !b.memory(n.name) {
			return b.name(n)
		}
		fallthrough
	case memoryNode:
		locate := b.location(n)
		return func(sc *scope, lane int) (value, error) {
			location, err := locate(sc, lane)
			if err != nil {
				return value{}, err
			}
			return sc.load(c, n, location, lane)
		}
	case anyNode, allNode:
		operand, reduction := b.node(n.left), b.p.reductions
		b.p.reductions++
		return func(sc *scope, _ int) (value, error) { // the result is the same in all lanes
			if m := &sc.whole[reduction]; m.known {
				return m.value, m.err
			}
			v, err := sc.overLanes(c, n, operand)
			sc.whole[reduction] = memoizedValue{v, err, true}
			return v, err
		}
	case signNode:
		operand := b.node(n.left)
		return func(sc *scope, lane int) (value, error) {
			v, err := operand(sc, lane)
			if err != nil {
				return v, err
			}
			return c.signed(n, v)
		}
	}
	left, right := b.node(n.left), b.node(n.right)
	if n.op == "&&" || n.op == "||" {
		decides := n.op == "||"
		return func(sc *scope, lane int) (value, error) {
			v, err := left(sc, lane)
			if err != nil {
				return v, err
			}
			if v.isTrue() == decides {
				return boolValue(decides), nil
			}
			w, err := right(sc, lane)
			return boolValue(w.isTrue()), err
		}
	}
	operate := c.binary(n)
	return func(sc *scope, lane int) (value, error) {
		v, err := left(sc, lane)
		if err != nil {
			return v, err
		}
		w, err := right(sc, lane)
		if err != nil {
			return w, err
		}
		return operate(v, w)
	}
}

// overLanes evaluates node n, any or all of an operand, over the lanes of the warp split.
func (sc *scope) overLanes(c *Condition, n *node, operand eval) (value, error) {
	if sc.isEmpty() {
		return value{}, c.fail(n, "%v", ErrNoLaunch)
	}
	outside := sc.varies
	defer func() { sc.varies = outside }()
	sc.varies = false
	decides := n.kind == anyNode
	for remaining := sc.mask; remaining != 0; remaining &= remaining - 1 {
		v, err := operand(sc, lowestLane(remaining))
		if err != nil {
			return v, err
		}
		if v.isTrue() == decides || !sc.varies {
			return boolValue(v.isTrue()), nil
		}
	}
	return boolValue(!decides), nil
}

// signed applies a prefix operator.
func (c *Condition) signed(n *node, v value) (value, error) {
	switch {
	case n.op == "!":
		return boolValue(!v.isTrue()), nil
	case v.class == float && n.op == "~":
		return v, c.fail(n, "~ is for integers")
	case v.class == float:
		return value{class: float, f: -v.f}, nil
	case n.op == "~":
		return value{bits: ^v.bits, signed: v.signed}, nil
	}
	return value{bits: -v.bits, signed: true}, nil
}

// orders has, for each comparison a op b, whether it holds if a is less than, equal to, or greater than b, or if one of
// them is NaN (unordered).
var orders = map[string][4]bool{
	"==": {false, true, false, false}, "!=": {true, false, true, true},
	"<": {true, false, false, false}, "<=": {true, true, false, false}, ">": {false, false, true, false}, ">=": {false, true, true, false},
}

// binary returns the function of an operator except && and ||.
func (c *Condition) binary(n *node) func(a, b value) (value, error) {
	if holds, ok := orders[n.op]; ok {
		return func(a, b value) (value, error) {
			order, ok := a.compareTo(b)
			if !ok {
				const unordered = 3
				return boolValue(holds[unordered]), nil
			}
			return boolValue(holds[order+1]), nil
		}
	}
	return func(a, b value) (value, error) { return c.arithmetic(n, a, b) }
}

func (c *Condition) arithmetic(n *node, a, b value) (value, error) {
	if a.class == float || b.class == float {
		x, y := a.float(), b.float()
		switch n.op {
		case "+":
			x += y
		case "-":
			x -= y
		case "*":
			x *= y
		case "/":
			x /= y
		default:
			return a, c.fail(n, "%s is for integers", n.op)
		}
		return value{class: float, f: x}, nil
	}
	v := value{signed: a.signed || b.signed}
	if (a.typ.Kind() == ptx.Bits || b.typ.Kind() == ptx.Bits) && int64(a.bits|b.bits) < 0 {
		v.signed = a.signed && b.signed // large untyped bits are an address, which is unsigned
	}
	switch n.op {
	case "+":
		v.bits = a.bits + b.bits
	case "-":
		v.bits, v.signed = a.bits-b.bits, v.signed || a.bits < b.bits
	case "*":
		v.bits = a.bits * b.bits
	case "/", "%":
		if b.bits == 0 {
			return v, c.fail(n, "division by zero")
		}
		switch {
		case v.signed && n.op == "/":
			v.bits = uint64(int64(a.bits) / int64(b.bits))
		case v.signed:
			v.bits = uint64(int64(a.bits) % int64(b.bits))
		case n.op == "/":
			v.bits = a.bits / b.bits
		default:
			v.bits = a.bits % b.bits
		}
	case "<<":
		v.bits, v.signed = a.bits<<min(b.bits, 64), a.signed
	case ">>":
		if v.signed = a.signed; a.signed {
			v.bits = uint64(int64(a.bits) >> min(b.bits, 63))
		} else {
			v.bits = a.bits >> min(b.bits, 64)
		}
	case "&":
		v.bits = a.bits & b.bits
	case "|":
		v.bits = a.bits | b.bits
	case "^":
		v.bits = a.bits ^ b.bits
	}
	return v, nil
}
