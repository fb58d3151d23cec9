package debug

// This file is what conditions come to, lane by lane.

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"gemu/interp"
	"gemu/ptx"
)

// value is a number.
type value struct {
	class  class
	bits   uint64 // of an integer; 0 or 1 of a truth
	signed bool   // the integer is int64(bits)
	f      float64
	typ    ptx.Type // that it has as it was read; NoType: it was computed
}

type class uint8

const (
	integer class = iota
	float
	boolClass
)

// valueOf is what bits are as a type.
func valueOf(t ptx.Type, bits uint64) value {
	v := value{typ: t}
	switch {
	case t == ptx.Pred:
		v.class, v.bits = boolClass, bits&1
	case t == ptx.F64:
		v.class, v.f = float, math.Float64frombits(bits)
	case t == ptx.F32:
		v.class, v.f = float, float64(math.Float32frombits(uint32(bits)))
	case t == ptx.F16:
		v.class, v.f = float, interp.Float16(uint16(bits))
	case t == ptx.BF16:
		v.class, v.f = float, interp.BFloat16(uint16(bits))
	case t.IsSigned():
		shift := 64 - t.Bits()
		v.bits, v.signed = uint64(int64(bits<<shift)>>shift), true
	default:
		v.bits = bits
		if n := t.Bits(); n < 64 {
			v.bits &= 1<<n - 1
		}
	}
	return v
}

// String is the value as the type it has is written.
func (v value) String() string {
	switch {
	case v.class == float && v.typ == ptx.F64, v.class == float && v.typ == ptx.NoType:
		return strconv.FormatFloat(v.f, 'g', -1, 64)
	case v.class == float && v.typ == ptx.F32:
		return strconv.FormatFloat(v.f, 'g', -1, 32)
	case v.class == float:
		return strconv.FormatFloat(v.f, 'g', 5, 64)
	case v.signed:
		return strconv.FormatInt(int64(v.bits), 10)
	case v.typ.Kind() == ptx.Bits && v.typ != ptx.NoType:
		return fmt.Sprintf("%#x", v.bits)
	}
	return strconv.FormatUint(v.bits, 10)
}

func (v value) isTrue() bool {
	if v.class == float {
		return v.f != 0
	}
	return v.bits != 0
}

func (v value) float() float64 {
	switch {
	case v.class == float:
		return v.f
	case v.signed:
		return float64(int64(v.bits))
	}
	return float64(v.bits)
}

func boolValue(b bool) value {
	if b {
		return value{class: boolClass, bits: 1}
	}
	return value{class: boolClass}
}

// compareTo is -1, 0 or 1; ok is false of NaN.
func (v value) compareTo(o value) (c int, ok bool) {
	if v.class == float || o.class == float {
		a, b := v.float(), o.float()
		switch {
		case a < b:
			return -1, true
		case a > b:
			return 1, true
		}
		return 0, a == b
	}
	negative := func(v value) bool { return v.signed && int64(v.bits) < 0 }
	switch {
	case negative(v) != negative(o):
		if negative(v) {
			return -1, true
		}
		return 1, true
	case v.bits < o.bits:
		return -1, true
	case v.bits > o.bits:
		return 1, true
	}
	return 0, true
}

// scope is where expressions are evaluated: lanes of a warp, at an event or where they stand, or nobody,
// who has no registers.
type scope struct {
	s     *Session
	fn    *ptx.Func
	cta   int
	id    interp.Dim3
	warp  int
	mask  uint64 // lanes that are together
	frame int    // bytes in local memory where the function's frame begins

	e       *interp.Event // or
	context *Context      // …; nil both: nobody is there

	rows   []registerRow   // that the expression reads, as often as it may
	whole  []memoizedValue // what any and all have come to
	varies bool            // what the expression has come to may be another value in other lanes
}

// registerRow is a register in all lanes.
type registerRow struct {
	interp.Value
	isRead, live, isUniform bool // same: in all lanes that are together
}

// memoizedValue is a value that was computed already.
type memoizedValue struct {
	value
	err   error
	known bool
}

// setEvent makes it that of an event.
func (sc *scope) setEvent(s *Session, e *interp.Event) {
	sc.s, sc.fn, sc.cta, sc.id, sc.warp, sc.mask, sc.frame, sc.e = s, e.Func, e.CTA, e.ID, e.Warp, e.Active, e.Local, e
}

// scope is that of lanes that stand somewhere.
func (c *Context) scope(s *Session) *scope {
	return &scope{s: s, fn: c.Func, cta: c.CTA, id: c.ID, warp: c.Warp, mask: c.Lanes, frame: c.Frame(), context: c}
}

// focusScope is the scope of the thread in focus, or of nobody.
func (s *Session) focusScope() *scope {
	if c, err := s.Context(); err == nil {
		return c.scope(s)
	}
	return &scope{s: s, fn: s.info.Kernel}
}

// isEmpty reports whether no lanes are there.
func (sc *scope) isEmpty() bool { return sc.e == nil && sc.context == nil }

// read reads a register.
func (sc *scope) read(v *interp.Value, r ptx.RegID) (ok bool) {
	switch {
	case sc.e != nil:
		return sc.e.ReadTo(v, r)
	case sc.context != nil:
		*v, ok = sc.context.Read(r)
	}
	return ok
}

// find is the allocation that an address is in; nil if there is none.
func (sc *scope) find(addr uint64) *interp.Allocation {
	if sc.e != nil {
		return sc.e.Find(addr)
	}
	return sc.s.exec.Find(addr)
}

// shared is the shared memory of the CTA; nil if there is none.
func (sc *scope) shared() *interp.Allocation {
	switch {
	case sc.e != nil:
		return sc.e.Shared()
	case sc.context != nil:
		return sc.context.Shared()
	}
	return nil
}

// local copies local memory of a lane, and gives how many bytes there were.
func (sc *scope) local(p []byte, lane int, offset uint64) int {
	if sc.e != nil {
		return sc.e.LocalBytes(p, lane, offset)
	}
	return sc.context.Local(p, lane, offset)
}

// lanes is those of which a condition holds. One that cannot be told of a lane, for a register is not
// live, say, holds: whoever has asked will see why.
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
		if !sc.varies { // it is so in all lanes
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

// candidateCTAs gives what says of a CTA whether the condition may hold for a thread of it, by what is the same for all
// of them: by what has to hold first. What comes behind something else is not asked, for that may not be to be told,
// and then the condition holds.
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

// conjuncts adds to a list what must hold for the expression to hold.
func (n *node) conjuncts(list []*node) []*node {
	if n.kind == binaryNode && n.op == "&&" {
		return n.right.conjuncts(n.left.conjuncts(list))
	}
	return append(list, n)
}

// sameInCTA reports whether an expression comes to the same in all threads of a CTA, wherever they are.
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

// fail is an error at a node.
func (c *Condition) fail(n *node, format string, args ...any) error {
	return &ConditionError{c.Text, n.column, fmt.Sprintf(format, args...)}
}

// eval is what an expression comes to in a lane.
type eval func(sc *scope, lane int) (value, error)

// program is an expression as it is evaluated in a function: its names are found.
type program struct {
	eval
	location   func(sc *scope, lane int) (Location, error) // of one that names memory; nil: it does not
	regs       []ptx.RegID                                 // that it reads: rows of the scope
	reductions int                                         // any and all in it
}

// prepare readies a scope for a program.
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

// programFor is the program of a condition in the function that a scope is of. The error, a *ConditionError,
// is that of a name that is nothing there.
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

// compiled is the program of a function, or why there is none.
type compiled struct {
	*program
	err error
}

// builder makes programs.
type builder struct {
	c   *Condition
	sc  *scope // for what is the same in all scopes of the function
	p   *program
	err error // the first
}

// fail notes what is wrong with a node.
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
		in, i := b.node(n.left), b.p.reductions
		b.p.reductions++
		return func(sc *scope, _ int) (value, error) { // the same in all lanes
			if m := &sc.whole[i]; m.known {
				return m.value, m.err
			}
			v, err := sc.overLanes(c, n, in)
			sc.whole[i] = memoizedValue{v, err, true}
			return v, err
		}
	case signNode:
		in := b.node(n.left)
		return func(sc *scope, lane int) (value, error) {
			v, err := in(sc, lane)
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
	do := c.binary(n)
	return func(sc *scope, lane int) (value, error) {
		v, err := left(sc, lane)
		if err != nil {
			return v, err
		}
		w, err := right(sc, lane)
		if err != nil {
			return w, err
		}
		return do(v, w)
	}
}

// overLanes is whether something holds for any, or all, of the lanes that are together.
func (sc *scope) overLanes(c *Condition, n *node, in eval) (value, error) {
	if sc.isEmpty() {
		return value{}, c.fail(n, "%v", ErrNoLaunch)
	}
	outside := sc.varies
	defer func() { sc.varies = outside }()
	sc.varies = false
	decides := n.kind == anyNode
	for remaining := sc.mask; remaining != 0; remaining &= remaining - 1 {
		v, err := in(sc, lowestLane(remaining))
		if err != nil {
			return v, err
		}
		if v.isTrue() == decides || !sc.varies {
			return boolValue(v.isTrue()), nil
		}
	}
	return boolValue(!decides), nil
}

// signed is a value behind an operator.
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

// orders are, of comparisons, whether they hold of what is less, equal, greater, and not ordered.
var orders = map[string][4]bool{
	"==": {false, true, false, false}, "!=": {true, false, true, true},
	"<": {true, false, false, false}, "<=": {true, true, false, false}, ">": {false, false, true, false}, ">=": {false, true, true, false},
}

// binary is what an operator but && and || makes of two values.
func (c *Condition) binary(n *node) func(a, b value) (value, error) {
	if holds, ok := orders[n.op]; ok {
		return func(a, b value) (value, error) {
			order, ok := a.compareTo(b)
			if !ok {
				return boolValue(holds[3]), nil
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
		v.signed = a.signed && b.signed // of addresses
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

// name is a register, in the lane or in another, or a special register.
func (b *builder) name(n *node) eval {
	c := b.c
	if f, ok := findSpecial(n.name); ok && n.left == nil {
		return func(sc *scope, lane int) (value, error) {
			if sc.isEmpty() && f.extent < ofLaunch {
				return value{}, c.fail(n, "%v", ErrNoLaunch)
			}
			sc.varies = sc.varies || f.extent == ofLane
			return value{bits: uint64(f.value(sc, lane)), typ: ptx.U32}, nil
		}
	}
	r, ok := b.sc.register(n.name)
	if !ok {
		b.fail(n, "function %s has no register %s, and there is no parameter or variable of that name", b.sc.fn.Name, n.name)
		return nil
	}
	reg := &b.sc.fn.Regs[r]
	t := reg.Type
	if n.typ != ptx.NoType {
		t = n.typ
	}
	if t.Bits() > 64 {
		b.fail(n, "register %s has %d bits, and numbers have 64: %s.b64 is the lower half", reg.Name, t.Bits(), n.name)
		return nil
	}
	var index eval
	if n.left != nil {
		index = b.node(n.left)
	}
	i := slices.Index(b.p.regs, r)
	if i < 0 {
		i, b.p.regs = len(b.p.regs), append(b.p.regs, r)
	}
	return func(sc *scope, lane int) (value, error) {
		if index != nil {
			at, err := index(sc, lane)
			if err != nil {
				return at, err
			}
			if at.class == float || at.bits >= uint64(sc.s.info.WarpSize) {
				return at, c.fail(n, "%s: there are lanes 0 to %d", at, sc.s.info.WarpSize-1)
			}
			lane = int(at.bits)
		}
		row := &sc.rows[i]
		if !row.isRead {
			row.isRead, row.live = true, sc.read(&row.Value, r)
			row.isUniform = row.live && sameIn(row.Low, sc.mask)
		}
		sc.varies = sc.varies || !row.isUniform && row.live && index == nil
		switch {
		case sc.isEmpty():
			return value{}, c.fail(n, "%v", ErrNoLaunch)
		case !row.live:
			return value{}, c.fail(n, "register %s is not live here", reg.Name)
		}
		return valueOf(t, row.Low[lane]), nil
	}
}

// sameIn reports whether lanes of a row are alike.
func sameIn(row []uint64, lanes uint64) bool {
	first := row[lowestLane(lanes)]
	for ; lanes != 0; lanes &= lanes - 1 {
		if row[lowestLane(lanes)] != first {
			return false
		}
	}
	return true
}

// memory reports whether a name is that of a parameter or a variable, and no register's.
func (b *builder) memory(name string) bool {
	sc := b.sc
	if _, ok := findSpecial(name); ok {
		return false
	}
	if _, ok := sc.register(name); ok {
		return false
	}
	p := sc.s.info.Program
	named := func(v interp.Variable) bool { return v.Var.Name == name }
	return slices.ContainsFunc(p.Params(), named) || slices.ContainsFunc(p.Shared(), named) ||
		slices.ContainsFunc(p.Locals(sc.fn), named) || sc.s.exec.Module().Var(name) != nil
}

// register finds a register of the function by name, with or without its "%".
func (sc *scope) register(name string) (ptx.RegID, bool) {
	found := ptx.NoReg
	for i, r := range sc.fn.Regs {
		if r.Name == name || found == ptx.NoReg && strings.TrimPrefix(r.Name, "%") == name {
			found = ptx.RegID(i)
		}
	}
	return found, found != ptx.NoReg
}

// specialRegister is one, or what this package calls a lane's place.
type specialRegister struct {
	extent
	value func(sc *scope, lane int) int
}

// extent is what threads it is the same for.
type extent uint8

const (
	ofLane extent = iota
	ofWarp
	ofCTA
	ofLaunch
)

// vectors are the special registers that are vectors.
var vectors = map[string]struct {
	extent
	value func(sc *scope, lane int) interp.Dim3
}{
	"tid": {ofLane, func(sc *scope, lane int) interp.Dim3 {
		return indexAt(sc.warp*sc.s.info.WarpSize+lane, sc.s.info.Block)
	}},
	"ntid":           {ofLaunch, func(sc *scope, _ int) interp.Dim3 { return sc.s.info.Block }},
	"ctaid":          {ofCTA, func(sc *scope, _ int) interp.Dim3 { return sc.id }},
	"nctaid":         {ofLaunch, func(sc *scope, _ int) interp.Dim3 { return sc.s.info.Grid }},
	"clusterid":      {ofCTA, func(sc *scope, _ int) interp.Dim3 { cluster, _ := sc.s.clusterOf(sc.id); return cluster }},
	"cluster_ctaid":  {ofCTA, func(sc *scope, _ int) interp.Dim3 { _, rank := sc.s.clusterOf(sc.id); return rank }},
	"cluster_nctaid": {ofLaunch, func(sc *scope, _ int) interp.Dim3 { return sc.s.info.Cluster }},
}

// scalars are the others.
var scalars = map[string]specialRegister{
	"laneid": {ofLane, func(_ *scope, lane int) int { return lane }},
	"lane":   {ofLane, func(_ *scope, lane int) int { return lane }},
	"warpid": {ofWarp, func(sc *scope, _ int) int { return sc.warp }},
	"warp":   {ofWarp, func(sc *scope, _ int) int { return sc.warp }},
	"nwarpid": {ofLaunch, func(sc *scope, _ int) int {
		return (sc.s.info.Block.Count() + sc.s.info.WarpSize - 1) / sc.s.info.WarpSize
	}},
	"cta":    {ofCTA, func(sc *scope, _ int) int { return sc.cta }},
	"gridid": {ofLaunch, func(sc *scope, _ int) int { return int(sc.s.info.ID) }},
	"cluster_ctarank": {ofCTA, func(sc *scope, _ int) int {
		_, rank := sc.s.clusterOf(sc.id)
		return linear(rank, sc.s.info.Cluster)
	}},
}

// findSpecial is the special register of a name, if it is one.
func findSpecial(name string) (specialRegister, bool) {
	name, axis, vector := strings.Cut(strings.TrimPrefix(name, "%"), ".")
	if !vector {
		f, ok := scalars[name]
		return f, ok
	}
	v, ok := vectors[name]
	part, known := map[string]func(d interp.Dim3) int{
		"x": func(d interp.Dim3) int { return d.X }, "y": func(d interp.Dim3) int { return d.Y }, "z": func(d interp.Dim3) int { return d.Z }, "w": func(interp.Dim3) int { return 0 },
	}[axis]
	return specialRegister{v.extent, func(sc *scope, lane int) int { return part(v.value(sc, lane)) }}, ok && known
}

// Location is memory that an expression names.
type Location struct {
	Space ptx.Space // Global, of all that is the device's; Shared; Param
	Local bool      // it is local memory of a lane
	CTA   int       // of shared memory
	Addr  uint64    // the address of global memory, and the offset in others
	Type  ptx.Type
}

// size is how many bytes it has.
func (l *Location) size() int { return max(l.Type.Size(), 1) }

// location is the memory that a node names: by its address, or as a parameter or variable, or an element
// of one.
func (b *builder) location(n *node) func(sc *scope, lane int) (Location, error) {
	c := b.c
	index := func(*scope, int) (value, error) { return value{}, nil }
	if n.left != nil {
		index = b.node(n.left)
	}
	what := "an address"
	find := func(sc *scope, v value, _ int) (Location, error) {
		return sc.place(memorySpaces[n.name], v.bits, n.typ), nil
	}
	if n.kind == nameNode {
		what, find = "an index", b.element(n)
	}
	return func(sc *scope, lane int) (Location, error) {
		v, err := index(sc, lane)
		if err != nil {
			return Location{}, err
		}
		if v.class == float {
			return Location{}, c.fail(n, "%s is an integer", what)
		}
		return find(sc, v, lane)
	}
}

// place is memory at an address of a state space.
func (sc *scope) place(space ptx.Space, addr uint64, t ptx.Type) Location {
	l := Location{Space: ptx.Global, Addr: addr, Type: t}
	switch {
	case space == ptx.Shared:
		l.Space, l.CTA = ptx.Shared, sc.cta
	case space == ptx.Local:
		l.Local = true
	case space == ptx.Param:
		l.Addr += interp.ParamBase
	case space == 0 && addr-interp.SharedWindow < interp.WindowSize:
		l.Space, l.CTA, l.Addr = ptx.Shared, sc.cta, addr-interp.SharedWindow
	case space == 0 && addr-interp.LocalWindow < interp.WindowSize:
		l.Local, l.Addr = true, addr-interp.LocalWindow
	}
	return l
}

// element is the memory that a node names by a parameter or variable, which there is, and an index.
func (b *builder) element(n *node) func(sc *scope, index value, lane int) (Location, error) {
	c, s := b.c, b.sc.s
	for _, p := range s.info.Program.Params() {
		if p.Var.Name != n.name {
			continue
		}
		param := Location{Space: ptx.Global, Addr: interp.ParamBase + uint64(p.Offset), Type: p.Var.Type}
		if n.left == nil || len(p.Var.Dims) > 0 {
			return func(_ *scope, index value, _ int) (Location, error) { return c.elementLocation(n, param, p.Var, index) }
		}
		if n.typ == ptx.NoType {
			b.fail(n, "say what is behind the parameter %s, as in %s[0].f32", n.name, n.name)
		}
		return func(sc *scope, index value, lane int) (Location, error) {
			base, err := sc.load(c, n, param, lane)
			if err != nil {
				return param, err
			}
			addr, ok := elementAt(base.bits, index, n.typ.Size())
			if !ok {
				return param, c.fail(n, "%s[%s] is at no address", n.name, index)
			}
			return sc.place(0, addr, n.typ), nil
		}
	}
	for _, v := range s.info.Program.Shared() {
		if v.Var.Name == n.name {
			return func(sc *scope, index value, _ int) (Location, error) {
				return c.elementLocation(n, Location{Space: ptx.Shared, CTA: sc.cta, Addr: uint64(v.Offset), Type: v.Var.Type}, v.Var, index)
			}
		}
	}
	for _, v := range s.info.Program.Locals(b.sc.fn) {
		if v.Var.Name == n.name {
			return func(sc *scope, index value, _ int) (Location, error) {
				return c.elementLocation(n, Location{Local: true, Addr: uint64(sc.frame + v.Offset), Type: v.Var.Type}, v.Var, index)
			}
		}
	}
	v, _ := s.info.Module.Lookup(n.name).(*ptx.Var)
	memory := s.exec.Module().Var(n.name)
	if v == nil || memory == nil {
		b.fail(n, "%s is no variable", n.name)
		return nil
	}
	return func(_ *scope, index value, _ int) (Location, error) {
		return c.elementLocation(n, Location{Space: ptx.Global, Addr: memory.Addr(), Type: v.Type}, v, index)
	}
}

// elementAt is the address of an element of so many bytes; false if it is none.
func elementAt(base uint64, index value, size int) (uint64, bool) {
	if index.signed && int64(index.bits) < 0 {
		over, offset := bits.Mul64(-index.bits, uint64(size))
		return base - offset, over == 0 && offset <= base
	}
	over, offset := bits.Mul64(index.bits, uint64(size))
	addr, carry := bits.Add64(base, offset, 0)
	return addr, over == 0 && carry == 0
}

// elementLocation is an element of a variable, which is at a location.
func (c *Condition) elementLocation(n *node, location Location, v *ptx.Var, index value) (Location, error) {
	if n.typ != ptx.NoType {
		location.Type = n.typ
	}
	size := uint64(location.size())
	if n.left == nil && uint64(v.Size()) > size {
		return location, c.fail(n, "%s has %d bytes: say which element, as in %s[0]", v.Name, v.Size(), v.Name)
	}
	if v.Size() > 0 && index.bits >= uint64(v.Size())/size {
		return location, c.fail(n, "%s has %d elements", v.Name, uint64(v.Size())/size)
	}
	addr, ok := elementAt(location.Addr, index, location.size())
	if !ok {
		return location, c.fail(n, "%s[%s] is at no address", v.Name, index)
	}
	location.Addr = addr
	return location, nil
}

// load reads memory.
func (sc *scope) load(c *Condition, n *node, location Location, lane int) (value, error) {
	if location.size() > 8 {
		return value{}, c.fail(n, "%d bits are there, and numbers have 64: say which, as .b64", 8*location.size())
	}
	p, err := sc.bytes(location, lane, location.size())
	if err != nil {
		return value{}, c.fail(n, "%v", err)
	}
	var b [8]byte
	copy(b[:], p)
	return valueOf(location.Type, binary.LittleEndian.Uint64(b[:])), nil
}

// bytes are n of them at a location.
func (sc *scope) bytes(location Location, lane, n int) ([]byte, error) {
	switch {
	case location.Local && sc.isEmpty():
		return nil, ErrNoLaunch
	case location.Local:
		sc.varies = true
		p := make([]byte, n)
		if sc.local(p, lane, location.Addr) < n {
			return nil, fmt.Errorf("%d bytes at %#x are not in local memory", n, location.Addr)
		}
		return p, nil
	case location.Space == ptx.Shared:
		return bytesOf(sc.shared(), location.Addr, n)
	}
	a := sc.find(location.Addr)
	if a == nil {
		return nil, fmt.Errorf("nothing is at address %#x", location.Addr)
	}
	return bytesOf(a, location.Addr-a.Base, n)
}

// bytesOf is bytes of an allocation.
func bytesOf(a *interp.Allocation, offset uint64, n int) ([]byte, error) {
	switch {
	case a == nil:
		return nil, ErrNoLaunch
	case a.Freed:
		return nil, fmt.Errorf("%v was freed", a)
	case offset > uint64(len(a.Data)) || uint64(n) > uint64(len(a.Data))-offset:
		return nil, fmt.Errorf("%d bytes at offset %#x are not in %v", n, offset, a)
	}
	return a.Data[offset:][:n], nil
}

// bytesIn is a copy of the location's bytes in the allocation that has it.
func (l *Location) bytesIn(a *interp.Allocation) []byte {
	offset := l.Addr
	if l.Space != ptx.Shared {
		offset -= a.Base
	}
	p, _ := bytesOf(a, offset, l.size())
	return bytes.Clone(p)
}

// overlaps reports whether bytes of an allocation that an event is about are of the location.
func (l *Location) overlaps(s *Session, e *interp.Event, alloc *interp.Allocation, offset uint64, n int) bool {
	if alloc == nil || l.Local {
		return false
	}
	if shared := alloc.Space() == ptx.Shared; shared != (l.Space == ptx.Shared) {
		return false
	} else if shared {
		if alloc != e.Shared() && !s.ownsShared(l.CTA, e, alloc) || alloc == e.Shared() && e.CTA != l.CTA {
			return false
		}
	} else {
		offset += alloc.Base
	}
	return offset < l.Addr+uint64(l.size()) && l.Addr < offset+uint64(n)
}

// ownsShared reports whether shared memory of the cluster that an event is of is a CTA's.
func (s *Session) ownsShared(cta int, e *interp.Event, alloc *interp.Allocation) bool {
	cluster, rank := s.clusterOf(indexAt(cta, s.info.Grid))
	ownID, _ := s.clusterOf(e.ID)
	return cluster == ownID && alloc.Base == interp.SharedWindow+uint64(linear(rank, s.info.Cluster))<<interp.RankShift
}

// clusterOf is the cluster that a CTA is of, and its place there.
func (s *Session) clusterOf(id interp.Dim3) (cluster, rank interp.Dim3) {
	k := s.info.Cluster
	return interp.Dim3{X: id.X / k.X, Y: id.Y / k.Y, Z: id.Z / k.Z}, interp.Dim3{X: id.X % k.X, Y: id.Y % k.Y, Z: id.Z % k.Z}
}
