package debug

// This file compiles the names of registers and special registers in conditions.

import (
	"slices"
	"strings"

	"gemu/probe"
	"gemu/ptx"
)

// name compiles the name of a register, in this lane or in another lane, or of a special register.
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
		b.fail(n, "register %s has %d bits, but numbers have 64: %s.b64 is the lower half", reg.Name, t.Bits(), n.name)
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
			chosen, err := index(sc, lane)
			if err != nil {
				return chosen, err
			}
			if chosen.class == float || chosen.bits >= uint64(sc.s.info.WarpSize) {
				return chosen, c.fail(n, "%s: want a lane from 0 to %d", chosen, sc.s.info.WarpSize-1)
			}
			lane = int(chosen.bits)
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

// sameIn reports whether the lanes have the same value in row.
func sameIn(row []uint64, lanes uint64) bool {
	first := row[lowestLane(lanes)]
	for ; lanes != 0; lanes &= lanes - 1 {
		if row[lowestLane(lanes)] != first {
			return false
		}
	}
	return true
}

// memory reports whether a name is that of a parameter or variable, and not of a register or special register.
func (b *builder) memory(name string) bool {
	sc := b.sc
	if _, ok := findSpecial(name); ok {
		return false
	}
	if _, ok := sc.register(name); ok {
		return false
	}
	p := sc.s.info.Program
	named := func(v probe.Variable) bool { return v.Var.Name == name }
	return slices.ContainsFunc(p.Params(), named) || slices.ContainsFunc(p.Shared(), named) ||
		slices.ContainsFunc(p.Locals(sc.fn), named) || sc.s.exec.Module().Var(name) != nil
}

// register finds a register of the scope's function by name. The "%" of the register's name may be left out.
func (sc *scope) register(name string) (ptx.RegID, bool) {
	found := ptx.NoReg
	for i, r := range sc.fn.Regs {
		if r.Name == name || found == ptx.NoReg && strings.TrimPrefix(r.Name, "%") == name {
			found = ptx.RegID(i)
		}
	}
	return found, found != ptx.NoReg
}

// specialRegister is a special register of PTX, or one of the names lane, warp and cta.
type specialRegister struct {
	extent // the threads in which it has the same value
	value  func(sc *scope, lane int) int
}

// extent is the set of threads in which a special register has the same value.
type extent uint8

const (
	ofLane extent = iota
	ofWarp
	ofCTA
	ofLaunch
)

// vectors has the special registers with components.
var vectors = map[string]struct {
	extent
	value func(sc *scope, lane int) ptx.Dim3
}{
	"tid": {ofLane, func(sc *scope, lane int) ptx.Dim3 {
		return indexAt(sc.warp*sc.s.info.WarpSize+lane, sc.s.info.Block)
	}},
	"ntid":           {ofLaunch, func(sc *scope, _ int) ptx.Dim3 { return sc.s.info.Block }},
	"ctaid":          {ofCTA, func(sc *scope, _ int) ptx.Dim3 { return sc.id }},
	"nctaid":         {ofLaunch, func(sc *scope, _ int) ptx.Dim3 { return sc.s.info.Grid }},
	"clusterid":      {ofCTA, func(sc *scope, _ int) ptx.Dim3 { cluster, _ := sc.s.clusterOf(sc.id); return cluster }},
	"cluster_ctaid":  {ofCTA, func(sc *scope, _ int) ptx.Dim3 { _, rank := sc.s.clusterOf(sc.id); return rank }},
	"cluster_nctaid": {ofLaunch, func(sc *scope, _ int) ptx.Dim3 { return sc.s.info.Cluster }},
}

// scalars has the special registers without components.
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

// findSpecial finds a special register by name.
func findSpecial(name string) (specialRegister, bool) {
	name, axis, vector := strings.Cut(strings.TrimPrefix(name, "%"), ".")
	if !vector {
		f, ok := scalars[name]
		return f, ok
	}
	v, ok := vectors[name]
	component, known := map[string]func(d ptx.Dim3) int{
		"x": func(d ptx.Dim3) int { return d.X }, "y": func(d ptx.Dim3) int { return d.Y }, "z": func(d ptx.Dim3) int { return d.Z }, "w": func(ptx.Dim3) int { return 0 },
	}[axis]
	return specialRegister{v.extent, func(sc *scope, lane int) int { return component(v.value(sc, lane)) }}, ok && known
}
