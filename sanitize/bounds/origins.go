package bounds

// This file combines the origins of operands to the origin of a result.

import (
	"gemu/ptx"
)

// variable reports whether an id denotes a variable.
func (p *plan) variable(id uint32) bool { return id >= firstID && id < p.buffers }

func (p *plan) buffer(id uint32) bool { return id >= p.buffers && id < unset }

// isConstantOrigin reports whether a register that always has this origin needs no row, because the origin does
// not change during a launch.
func (p *plan) isConstantOrigin(id uint32) bool {
	return !p.variable(id) || p.vars[id].Space != ptx.Local && p.vars[id].Space != ptx.Param
}

// either returns the origin of a sum.
func (p *plan) either(x, y origin) origin {
	switch {
	case x.id == notPointer:
		return y
	case y.id == notPointer:
		return x
	case x.id == unknownBase || y.id == unknownBase || p.variable(x.id) && p.variable(y.id):
	case p.variable(x.id) && !p.buffer(y.id):
		return x
	case p.variable(y.id) && !p.buffer(x.id):
		return y
	case !p.variable(x.id) && !p.variable(y.id):
		return origin{id: maybePointer}
	}
	return origin{id: unknownBase}
}

// mergeOrigins returns the origin of a value that is either of two values, or is composed of both.
func (p *plan) mergeOrigins(x, y origin) origin {
	if x == y {
		return x
	}
	return p.either(x, y)
}

// combineOrigins returns the origin of a value that an untracked operation makes of two values.
func (p *plan) combineOrigins(x, y origin) origin {
	id := uint32(notPointer)
	for _, sourceID := range [2]uint32{x.id, y.id} {
		switch {
		case id == unknownBase || sourceID == unknownBase || p.variable(sourceID):
			id = unknownBase
		case p.buffer(sourceID):
			id = maybePointer
		default:
			id = max(id, sourceID)
		}
	}
	return origin{id: id}
}

// addSource extends the result of derive by a further source.
func (p *plan) addSource(r rule, o, x origin) origin {
	if r == ruleCopy || r == pack {
		return p.mergeOrigins(o, x)
	}
	return p.combineOrigins(o, x)
}

// derive returns the origin of the result of a rule with up to three sources.
func (p *plan) derive(r rule, x, y, z origin) origin {
	switch r {
	case sum:
		return p.either(x, y)
	case ruleIfEqual:
		if x == y {
			return x
		}
	case addend:
		return p.either(p.derive(scaling, x, y, origin{}), z)
	case diff:
		switch {
		case y.id == notPointer:
			return x
		case x == y && y.id >= firstID: // the distance of two pointers
			return origin{}
		case p.variable(x.id) && (y.id == loaded || y.id == maybePointer):
			return x
		case x.id == notPointer || x.id == unknownBase || y.id == unknownBase || y.id >= firstID:
		default:
			return origin{id: maybePointer}
		}
	case ruleCopy, exchange:
		return p.mergeOrigins(p.mergeOrigins(x, y), z)
	case pack:
		if o := p.mergeOrigins(p.mergeOrigins(x, y), z); o.id != notPointer {
			return o
		}
		return origin{id: loaded}
	}
	o := p.combineOrigins(p.combineOrigins(x, y), z)
	if r == scaling && o.id == loaded {
		o.id = notPointer
	}
	return o
}
