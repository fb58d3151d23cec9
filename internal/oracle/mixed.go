package oracle

// This file executes arithmetic on two or four numbers of different types (manual of PTX 9.4, 9.7.5 and 9.7.6), and set
// on packed integers (9.7.7.1).

import "gemu/ptx"

// packedMixed executes an operation on each element of the sources.
func (t *thread) packedMixed(op func(rnd string, x []number) number, sources ...string) {
	types := t.instr.Types()
	elem, count := types[0].Elements()
	width := types[0].Bits() / count
	d := uint64(0)
	for i := range count {
		x := make([]number, len(sources))
		for j, name := range sources {
			typ := types[0]
			if j+1 < len(types) {
				typ = types[j+1]
			}
			x[j] = t.elementAt(t.operandValue(name), typ, i)
			// A product of the two 16-bit formats is a product of numbers of the first format.
			if from, _ := typ.Elements(); from.Bits() == 16 && elem.Bits() == 16 && from != elem {
				to := formatOf(elem)
				x[j] = to.decode(to.round(x[j], "rn"))
			}
		}
		n, rnd := op(t.rounding(), x), t.rounding()
		var bits uint64
		if f := tables[elem]; f != nil {
			bits = f.round(n, rnd, 0, t.hasModifier("satfinite"))
		} else {
			bits = t.ftz(formatOf(elem), formatOf(elem).round(n, rnd))
		}
		d |= bits << (i * width)
	}
	t.setOperand("d", d)
}

// elementAt returns the i-th number of a packed source, from the lowest on.
func (t *thread) elementAt(bits uint64, typ ptx.Type, i int) number {
	elem, count := typ.Elements()
	bits >>= i * typ.Bits() / count
	if f := tables[elem]; f != nil {
		return f.numbers[low(bits, indexBits(len(f.numbers)))]
	}
	f := formatOf(elem)
	return f.decode(t.ftz(f, low(bits, elem.Bits())))
}

func exactSum(rnd string, x []number) number        { return sum(x[0], x[1], rnd) }
func exactDifference(rnd string, x []number) number { return sum(x[0], x[1].negate(), rnd) }
func exactProduct(_ string, x []number) number      { return product(x[0], x[1]) }
func exactFma(rnd string, x []number) number        { return sum(product(x[0], x[1]), x[2], rnd) }

// addFours, subFours, mulFours and fmaFours execute 9.7.6.1 to 9.7.6.4.
func addFours(t *thread) { t.packedMixed(exactSum, "a", "c") }
func subFours(t *thread) { t.packedMixed(exactDifference, "a", "c") }
func mulFours(t *thread) { t.packedMixed(exactProduct, "a", "b") }
func fmaFours(t *thread) { t.packedMixed(exactFma, "a", "b", "c") }

// mulMixed (9.7.5.4): d = a * c.
func mulMixed(t *thread) { t.packedMixed(exactProduct, "a", "c") }

// setPacked (9.7.7.1): all bits set in each integer of d if the comparison of its sources is true.
func setPacked(t *thread) {
	elem, count := t.instr.Type().Elements()
	width, d := t.instr.Type().Bits()/count, uint64(0)
	for i := range count {
		if t.compareBits(elem, low(t.operandValue("a")>>(i*width), width), low(t.operandValue("b")>>(i*width), width)) {
			d |= (1<<width - 1) << (i * width)
		}
	}
	t.setOperand("d", d)
}
