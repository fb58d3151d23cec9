package debug

// This file compiles the memory that expressions name, and reads its bytes.

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"gemu/probe"
	"gemu/ptx"
)

// Location is the memory that an expression names.
type Location struct {
	Space ptx.Space // Shared for shared memory, else Global
	Local bool      // local memory of a lane
	CTA   int       // linear index of the CTA, for shared memory
	Addr  uint64    // generic address; for shared and local memory an offset in bytes
	Type  ptx.Type  // type of the value, which determines its size
}

// size returns the size in bytes.
func (l *Location) size() int { return max(l.Type.Size(), 1) }

// location compiles a node that names memory: by address, or as a parameter, a variable, or an element of a variable.
func (b *builder) location(n *node) func(sc *scope, lane int) (Location, error) {
	c := b.c
	index := func(*scope, int) (value, error) { return value{}, nil }
	if n.left != nil {
		index = b.node(n.left)
	}
	operand := "an address"
	find := func(sc *scope, v value, _ int) (Location, error) {
		return sc.place(memorySpaces[n.name], v.bits, n.typ), nil
	}
	if n.kind == nameNode {
		operand, find = "an index", b.element(n)
	}
	return func(sc *scope, lane int) (Location, error) {
		v, err := index(sc, lane)
		if err != nil {
			return Location{}, err
		}
		if v.class == float {
			return Location{}, c.fail(n, "%s is an integer", operand)
		}
		return find(sc, v, lane)
	}
}

// place returns the location of a value of type t at an address of a state space; space 0 means a generic address.
func (sc *scope) place(space ptx.Space, addr uint64, t ptx.Type) Location {
	l := Location{Space: ptx.Global, Addr: addr, Type: t}
	switch {
	case space == ptx.Shared:
		l.Space, l.CTA = ptx.Shared, sc.cta
	case space == ptx.Local:
		l.Local = true
	case space == ptx.Param:
		l.Addr += probe.ParamBase
	case space == 0 && addr-probe.SharedWindow < probe.WindowSize:
		l.Space, l.CTA, l.Addr = ptx.Shared, sc.cta, addr-probe.SharedWindow
	case space == 0 && addr-probe.LocalWindow < probe.WindowSize:
		l.Local, l.Addr = true, addr-probe.LocalWindow
	}
	return l
}

// element compiles an element of a parameter or variable. It is an error if neither exists.
func (b *builder) element(n *node) func(sc *scope, index value, lane int) (Location, error) {
	c, s := b.c, b.sc.s
	for _, p := range s.info.Program.Params() {
		if p.Var.Name != n.name {
			continue
		}
		param := Location{Space: ptx.Global, Addr: probe.ParamBase + uint64(p.Offset), Type: p.Var.Type}
		if n.left == nil || len(p.Var.Dims) > 0 {
			return func(_ *scope, index value, _ int) (Location, error) { return c.elementLocation(n, param, p.Var, index) }
		}
		if n.typ == ptx.NoType {
			b.fail(n, "the element type of parameter %s is missing, as in %s[0].f32", n.name, n.name)
		}
		return func(sc *scope, index value, lane int) (Location, error) {
			base, err := sc.load(c, n, param, lane)
			if err != nil {
				return param, err
			}
			addr, ok := elementAt(base.bits, index, n.typ.Size())
			if !ok {
				return param, c.fail(n, "the address of %s[%s] is out of range", n.name, index)
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
		b.fail(n, "%s is not a variable", n.name)
		return nil
	}
	return func(_ *scope, index value, _ int) (Location, error) {
		return c.elementLocation(n, Location{Space: ptx.Global, Addr: memory.Addr(), Type: v.Type}, v, index)
	}
}

// elementAt returns the address of an element of size bytes; false if the address overflows.
func elementAt(base uint64, index value, size int) (uint64, bool) {
	if index.signed && int64(index.bits) < 0 {
		over, offset := bits.Mul64(-index.bits, uint64(size))
		return base - offset, over == 0 && offset <= base
	}
	over, offset := bits.Mul64(index.bits, uint64(size))
	addr, carry := bits.Add64(base, offset, 0)
	return addr, over == 0 && carry == 0
}

// elementLocation returns the location of an element of a variable.
func (c *Condition) elementLocation(n *node, location Location, v *ptx.Var, index value) (Location, error) {
	if n.typ != ptx.NoType {
		location.Type = n.typ
	}
	size := uint64(location.size())
	if n.left == nil && uint64(v.Size()) > size {
		return location, c.fail(n, "%s has %d bytes: choose an element, as in %s[0]", v.Name, v.Size(), v.Name)
	}
	if v.Size() > 0 && index.bits >= uint64(v.Size())/size {
		return location, c.fail(n, "%s has %d elements", v.Name, uint64(v.Size())/size)
	}
	addr, ok := elementAt(location.Addr, index, location.size())
	if !ok {
		return location, c.fail(n, "the address of %s[%s] is out of range", v.Name, index)
	}
	location.Addr = addr
	return location, nil
}

// load reads a value from memory.
func (sc *scope) load(c *Condition, n *node, location Location, lane int) (value, error) {
	if location.size() > 8 {
		return value{}, c.fail(n, "the value has %d bits, but numbers have 64: choose a part, as .b64", 8*location.size())
	}
	p, err := sc.bytes(location, lane, location.size())
	if err != nil {
		return value{}, c.fail(n, "%v", err)
	}
	var b [8]byte
	copy(b[:], p)
	return valueOf(location.Type, binary.LittleEndian.Uint64(b[:])), nil
}

// bytes returns n bytes at a location, for a lane.
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
		return nil, fmt.Errorf("there is no memory at address %#x", location.Addr)
	}
	return bytesOf(a, location.Addr-a.Base, n)
}

// bytesOf returns n bytes of an allocation at an offset in bytes.
func bytesOf(a *probe.Allocation, offset uint64, n int) ([]byte, error) {
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

// bytesIn returns a copy of the location's bytes; a is the allocation that contains them.
func (l *Location) bytesIn(a *probe.Allocation) []byte {
	offset := l.Addr
	if l.Space != ptx.Shared {
		offset -= a.Base
	}
	p, _ := bytesOf(a, offset, l.size())
	return bytes.Clone(p)
}

// overlaps reports whether n bytes at an offset in an allocation, accessed by an event, overlap the location.
func (l *Location) overlaps(s *Session, e *probe.Event, alloc *probe.Allocation, offset uint64, n int) bool {
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

// ownsShared reports whether alloc is the shared memory of a CTA in the cluster of the event's CTA.
func (s *Session) ownsShared(cta int, e *probe.Event, alloc *probe.Allocation) bool {
	cluster, rank := s.clusterOf(indexAt(cta, s.info.Grid))
	eventCluster, _ := s.clusterOf(e.ID)
	return cluster == eventCluster && alloc.Base == probe.SharedWindow+uint64(linear(rank, s.info.Cluster))<<probe.RankShift
}

// clusterOf returns the index of a CTA's cluster, and the CTA's index in it.
func (s *Session) clusterOf(id ptx.Dim3) (cluster, rank ptx.Dim3) {
	size := s.info.Cluster
	return ptx.Dim3{X: id.X / size.X, Y: id.Y / size.Y, Z: id.Z / size.Z}, ptx.Dim3{X: id.X % size.X, Y: id.Y % size.Y, Z: id.Z % size.Z}
}
