package debug

// This file is what conditions come to, lane by lane.

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
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
	truth
)

// valueOf is what bits are as a type.
func valueOf(t ptx.Type, bits uint64) value {
	v := value{typ: t}
	switch {
	case t == ptx.Pred:
		v.class, v.bits = truth, bits&1
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

func (v value) holds() bool {
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

func truthOf(b bool) value {
	if b {
		return value{class: truth, bits: 1}
	}
	return value{class: truth}
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

// scope is where expressions are evaluated: lanes of a warp at an instruction.
type scope struct {
	s      *Session
	fn     *ptx.Func
	cta    int
	id     interp.Dim3
	warp   int
	active uint64 // lanes that are together
	frame  int    // bytes in local memory where the function's frame begins

	read   func(r ptx.RegID) (interp.Value, bool)
	find   func(addr uint64) *interp.Allocation
	shared *interp.Allocation
	local  func(p []byte, lane int, off uint64) int

	rows map[ptx.RegID]interp.Value
}

// scopeOf is that of an event.
func (s *Session) scopeOf(e *interp.Event) *scope {
	return &scope{
		s: s, fn: e.Func, cta: e.CTA, id: e.ID, warp: e.Warp, active: e.Active, frame: e.Local,
		read: e.Read, find: e.Find, shared: e.Shared(), local: e.LocalBytes,
	}
}

// scope is that of lanes that stand somewhere.
func (c *Context) scope(s *Session) *scope {
	return &scope{
		s: s, fn: c.Func, cta: c.CTA, id: c.ID, warp: c.Warp, active: c.Lanes, frame: c.Frame(),
		read: c.Read, find: s.exec.Find, shared: c.Shared(), local: c.Local,
	}
}

// lanes is those of which a condition holds. One that cannot be told of a lane, for a register is not
// live, say, holds: whoever has asked will see why.
func (c *Condition) lanes(sc *scope) (m uint64) {
	for rest := sc.active; rest != 0; rest &= rest - 1 {
		lane := lowest(rest)
		if v, err := sc.eval(c, c.root, lane); err != nil || v.holds() {
			m |= 1 << lane
		}
	}
	return m
}

// fail is an error at a node.
func (c *Condition) fail(n *node, format string, args ...any) error {
	return &ConditionError{c.Text, n.column, fmt.Sprintf(format, args...)}
}

// eval is what a node comes to in a lane.
func (sc *scope) eval(c *Condition, n *node, lane int) (value, error) {
	switch n.kind {
	case constNode:
		return n.value, nil
	case nameNode:
		return sc.name(c, n, lane)
	case memoryNode:
		where, err := sc.memory(c, n, lane)
		if err != nil {
			return value{}, err
		}
		return sc.load(c, n, where, lane)
	case anyNode, allNode:
		for rest := sc.active; rest != 0; rest &= rest - 1 {
			v, err := sc.eval(c, n.left, lowest(rest))
			if err != nil {
				return v, err
			}
			if v.holds() == (n.kind == anyNode) {
				return truthOf(n.kind == anyNode), nil
			}
		}
		return truthOf(n.kind == allNode), nil
	case signNode:
		v, err := sc.eval(c, n.left, lane)
		if err != nil {
			return v, err
		}
		switch {
		case n.op == "!":
			return truthOf(!v.holds()), nil
		case v.class == float && n.op == "~":
			return v, c.fail(n, "~ is for integers")
		case v.class == float:
			return value{class: float, f: -v.f}, nil
		case n.op == "~":
			return value{bits: ^v.bits, signed: v.signed}, nil
		}
		return value{bits: -v.bits, signed: true}, nil
	}
	a, err := sc.eval(c, n.left, lane)
	if err != nil {
		return a, err
	}
	switch {
	case n.op == "&&" && !a.holds():
		return truthOf(false), nil
	case n.op == "||" && a.holds():
		return truthOf(true), nil
	}
	b, err := sc.eval(c, n.right, lane)
	if err != nil {
		return b, err
	}
	return c.binary(n, a, b)
}

func (c *Condition) binary(n *node, a, b value) (value, error) {
	switch n.op {
	case "&&", "||":
		return truthOf(b.holds()), nil
	case "==", "!=", "<", "<=", ">", ">=":
		order, ok := a.compareTo(b)
		holds := map[string]bool{"==": order == 0, "!=": order != 0, "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[n.op]
		if !ok {
			holds = n.op == "!="
		}
		return truthOf(holds), nil
	}
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

// name is a register, a parameter, a variable, or an element of one.
func (sc *scope) name(c *Condition, n *node, lane int) (value, error) {
	if v, ok := sc.special(n.name, lane); ok && n.left == nil {
		return v, nil
	}
	if r, ok := sc.register(n.name); ok {
		if n.left != nil {
			i, err := sc.eval(c, n.left, lane)
			if err != nil {
				return i, err
			}
			if i.class == float || i.bits >= uint64(sc.s.info.WarpSize) {
				return i, c.fail(n, "%s: there are lanes 0 to %d", i, sc.s.info.WarpSize-1)
			}
			lane = int(i.bits)
		}
		row, ok := sc.row(r)
		if !ok {
			return value{}, c.fail(n, "register %s is not live here", sc.fn.Regs[r].Name)
		}
		t := sc.fn.Regs[r].Type
		if n.typ != ptx.NoType {
			t = n.typ
		}
		return valueOf(t, row.Low[lane]), nil
	}
	where, err := sc.element(c, n, lane)
	if err != nil {
		return value{}, err
	}
	return sc.load(c, n, where, lane)
}

// row is a register in all lanes.
func (sc *scope) row(r ptx.RegID) (interp.Value, bool) {
	v, ok := sc.rows[r]
	if ok {
		return v, true
	}
	if v, ok = sc.read(r); ok {
		if sc.rows == nil {
			sc.rows = map[ptx.RegID]interp.Value{}
		}
		sc.rows[r] = v
	}
	return v, ok
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

// special is a special register of a lane, or what this package calls its place.
func (sc *scope) special(name string, lane int) (value, bool) {
	s, info := sc.s, sc.s.info
	thread := at(sc.warp*info.WarpSize+lane, info.Block)
	cluster, rank := s.clusterOf(sc.id)
	threads := info.Block.Count()
	name, axis, vector := strings.Cut(strings.TrimPrefix(name, "%"), ".")
	if vector {
		d, ok := map[string]interp.Dim3{
			"tid": thread, "ntid": info.Block, "ctaid": sc.id, "nctaid": info.Grid,
			"clusterid": cluster, "cluster_ctaid": rank, "cluster_nctaid": info.Cluster,
		}[name]
		v, known := map[string]int{"x": d.X, "y": d.Y, "z": d.Z, "w": 0}[axis]
		return value{bits: uint64(v), typ: ptx.U32}, ok && known
	}
	v, ok := map[string]int{
		"laneid": lane, "lane": lane, "warpid": sc.warp, "warp": sc.warp, "nwarpid": (threads + info.WarpSize - 1) / info.WarpSize,
		"cta": sc.cta, "gridid": int(info.ID), "cluster_ctarank": linear(rank, info.Cluster),
	}[name]
	return value{bits: uint64(v), typ: ptx.U32}, ok
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

// memory is the memory that a node names by its address.
func (sc *scope) memory(c *Condition, n *node, lane int) (Location, error) {
	v, err := sc.eval(c, n.left, lane)
	if err != nil {
		return Location{}, err
	}
	if v.class == float {
		return Location{}, c.fail(n, "an address is an integer")
	}
	return sc.place(memorySpaces[n.name], v.bits, n.typ), nil
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

// element is the memory that a node names by a parameter or variable.
func (sc *scope) element(c *Condition, n *node, lane int) (Location, error) {
	index := uint64(0)
	if n.left != nil {
		v, err := sc.eval(c, n.left, lane)
		if err != nil {
			return Location{}, err
		}
		if v.class == float {
			return Location{}, c.fail(n, "an index is an integer")
		}
		index = v.bits
	}
	for _, p := range sc.s.info.Program.Params() {
		if p.Var.Name != n.name {
			continue
		}
		param := Location{Space: ptx.Global, Addr: interp.ParamBase + uint64(p.Off), Type: p.Var.Type}
		if n.left == nil || len(p.Var.Dims) > 0 {
			return sc.of(c, n, param, p.Var, index)
		}
		if n.typ == ptx.NoType {
			return param, c.fail(n, "say what is behind the parameter %s, as in %s[0].f32", n.name, n.name)
		}
		base, err := sc.load(c, n, param, lane)
		if err != nil {
			return param, err
		}
		return sc.place(0, base.bits+index*uint64(n.typ.Size()), n.typ), nil
	}
	for _, v := range sc.s.info.Program.Shared() {
		if v.Var.Name == n.name {
			return sc.of(c, n, Location{Space: ptx.Shared, CTA: sc.cta, Addr: uint64(v.Off), Type: v.Var.Type}, v.Var, index)
		}
	}
	for _, v := range sc.s.info.Program.Locals(sc.fn) {
		if v.Var.Name == n.name {
			return sc.of(c, n, Location{Local: true, Addr: uint64(sc.frame + v.Off), Type: v.Var.Type}, v.Var, index)
		}
	}
	if v, ok := sc.s.info.Module.Lookup(n.name).(*ptx.Var); ok {
		if b := sc.s.exec.Module().Var(n.name); b != nil {
			return sc.of(c, n, Location{Space: ptx.Global, Addr: b.Addr(), Type: v.Type}, v, index)
		}
	}
	return Location{}, c.nothing(sc, n)
}

// nothing is the error of a name that is none.
func (c *Condition) nothing(sc *scope, n *node) error {
	return c.fail(n, "function %s has no register %s, and there is no parameter or variable of that name", sc.fn.Name, n.name)
}

// knows reports whether a name is of a register, a parameter or a variable.
func (sc *scope) knows(name string) bool {
	named := func(v interp.Variable) bool { return v.Var.Name == name }
	p := sc.s.info.Program
	_, special := sc.special(name, 0)
	_, register := sc.register(name)
	return special || register || slices.ContainsFunc(p.Params(), named) || slices.ContainsFunc(p.Shared(), named) ||
		slices.ContainsFunc(p.Locals(sc.fn), named) || sc.s.exec.Module().Var(name) != nil
}

// of is an element of a variable.
func (sc *scope) of(c *Condition, n *node, at Location, v *ptx.Var, index uint64) (Location, error) {
	if n.typ != ptx.NoType {
		at.Type = n.typ
	}
	size := uint64(at.size())
	if n.left == nil && uint64(v.Size()) > size {
		return at, c.fail(n, "%s has %d bytes: say which element, as in %s[0]", v.Name, v.Size(), v.Name)
	}
	if v.Size() > 0 && index >= uint64(v.Size())/size {
		return at, c.fail(n, "%s has %d elements", v.Name, uint64(v.Size())/size)
	}
	at.Addr += index * size
	return at, nil
}

// load reads memory.
func (sc *scope) load(c *Condition, n *node, at Location, lane int) (value, error) {
	p, err := sc.bytes(at, lane, at.size())
	if err != nil {
		return value{}, c.fail(n, "%v", err)
	}
	var b [8]byte
	copy(b[:], p)
	return valueOf(at.Type, binary.LittleEndian.Uint64(b[:])), nil
}

// bytes are n of them at a location.
func (sc *scope) bytes(at Location, lane, n int) ([]byte, error) {
	switch {
	case at.Local:
		p := make([]byte, n)
		if sc.local(p, lane, at.Addr) < n {
			return nil, fmt.Errorf("%d bytes at %#x are not in local memory", n, at.Addr)
		}
		return p, nil
	case at.Space == ptx.Shared:
		return within(sc.shared, at.Addr, n)
	}
	a := sc.find(at.Addr)
	if a == nil {
		return nil, fmt.Errorf("nothing is at address %#x", at.Addr)
	}
	return within(a, at.Addr-a.Base, n)
}

// within is bytes of an allocation.
func within(a *interp.Allocation, off uint64, n int) ([]byte, error) {
	switch {
	case a == nil:
		return nil, ErrNoLaunch
	case a.Dead:
		return nil, fmt.Errorf("%v was freed", a)
	case off > uint64(len(a.Data)) || uint64(n) > uint64(len(a.Data))-off:
		return nil, fmt.Errorf("%d bytes at offset %#x are not in %v", n, off, a)
	}
	return a.Data[off:][:n], nil
}

// in is a copy of the location's bytes in the allocation that has it.
func (l *Location) in(a *interp.Allocation) []byte {
	off := l.Addr
	if l.Space != ptx.Shared {
		off -= a.Base
	}
	p, _ := within(a, off, l.size())
	return bytes.Clone(p)
}

// overlaps reports whether bytes of an allocation that an event is about are of the location.
func (l *Location) overlaps(s *Session, e *interp.Event, in *interp.Allocation, off uint64, n int) bool {
	if in == nil || l.Local {
		return false
	}
	if shared := in.Space() == ptx.Shared; shared != (l.Space == ptx.Shared) {
		return false
	} else if shared {
		if in != e.Shared() && !s.sharedIs(l.CTA, e, in) || in == e.Shared() && e.CTA != l.CTA {
			return false
		}
	} else {
		off += in.Base
	}
	return off < l.Addr+uint64(l.size()) && l.Addr < off+uint64(n)
}

// sharedIs reports whether shared memory of the cluster that an event is of is a CTA's.
func (s *Session) sharedIs(cta int, e *interp.Event, in *interp.Allocation) bool {
	cluster, rank := s.clusterOf(at(cta, s.info.Grid))
	own, _ := s.clusterOf(e.ID)
	return cluster == own && in.Base == interp.SharedWindow+uint64(linear(rank, s.info.Cluster))<<interp.RankShift
}

// clusterOf is the cluster that a CTA is of, and its place there.
func (s *Session) clusterOf(id interp.Dim3) (cluster, rank interp.Dim3) {
	k := s.info.Cluster
	return interp.Dim3{X: id.X / k.X, Y: id.Y / k.Y, Z: id.Z / k.Z}, interp.Dim3{X: id.X % k.X, Y: id.Y % k.Y, Z: id.Z % k.Z}
}
