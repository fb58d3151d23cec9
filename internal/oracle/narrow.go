package oracle

// This file executes conversions to and from formats of 8 and fewer bits (manual 5.2.2 to 5.2.4), .tf32 and random
// rounding. A format is the list of all its numbers, and rounding searches the neighbours of the exact number.

import (
	"math/big"
	"math/bits"

	"gemu/ptx"
)

// tensorFloat is .tf32, without the 13 bits of .f32 that it omits.
var tensorFloat = format{8, 10, 1<<18 - 1}

// code is a finite number of a format with its bits.
type code struct {
	bits      uint64
	magnitude *big.Rat
	neg       bool
}

// table is a format as a list of all its numbers.
type table struct {
	numbers []number // by code
	codes   []code   // codes of finite numbers, by magnitude
	nan     uint64   // canonical
	hasNaN  bool
	inf     [2]uint64 // positive and negative infinity; 0: none
}

var tables = map[ptx.Type]*table{
	ptx.E5M2: floatTable(5, 2, "ieee"), ptx.E4M3: floatTable(4, 3, "nan"), ptx.E3M2: floatTable(3, 2, ""), ptx.E2M3: floatTable(2, 3, ""), ptx.E2M1: floatTable(2, 1, ""),
	ptx.UE8M0: newTable(8, func(c uint64) number {
		if c == 0xff {
			return nan
		}
		return number{class: finite, mant: big.NewInt(1), exp: int(c) - 127}
	}, 0xff, true),
	ptx.UE5M3: newTable(8, func(c uint64) number {
		e, m := int(c>>3), c&7
		switch {
		case c == 0xff:
			return nan
		case c == 0:
			return number{}
		case e == 0:
			e = 1
		default:
			m |= 8
		}
		return number{class: finite, mant: new(big.Int).SetUint64(m), exp: e - 15 - 3}
	}, 0xff, true),
	ptx.S2F6: newTable(8, func(c uint64) number {
		n := fromInt(big.NewInt(int64(int8(c))))
		if n.class == finite {
			n.exp = -6
		}
		return n
	}, 0, false),
}

// floatTable is a format of a sign, exp and frac bits. special selects its special values: "ieee" has infinities and
// NaNs with the largest exponent, "nan" a NaN with all bits set.
func floatTable(exp, frac int, special string) *table {
	f := format{exp, frac, f8NaN}
	n := 1 + exp + frac
	return newTable(n, func(c uint64) number {
		magnitude := c &^ f.sign()
		e, m := int(magnitude>>frac), magnitude&(1<<frac-1)
		switch {
		case special == "ieee":
			return f.decode(c)
		case special == "nan" && magnitude == f8NaN:
			return nan
		case magnitude == 0:
			return number{neg: c != 0}
		case e == 0:
			e = 1
		default:
			m |= 1 << frac
		}
		return number{class: finite, neg: c&f.sign() != 0, mant: new(big.Int).SetUint64(m), exp: e - f.bias() - frac}
	}, f8NaN, special != "")
}

const f8NaN = 0x7f

func newTable(width int, decode func(c uint64) number, nan uint64, hasNaN bool) *table {
	t := &table{nan: nan, hasNaN: hasNaN}
	for c := range uint64(1) << width {
		n := decode(c)
		t.numbers = append(t.numbers, n)
		switch {
		case n.class == infinite && n.neg:
			t.inf[1] = c
		case n.class == infinite:
			t.inf[0] = c
		}
		if n.class == finite || n.class == zero {
			t.codes = append(t.codes, code{c, n.rational(), n.neg})
		}
	}
	return t
}

// rational returns the magnitude of a finite number.
func (n number) rational() *big.Rat {
	if n.class == zero {
		return new(big.Rat)
	}
	r := new(big.Rat).SetInt(n.mant)
	two := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(n.exp, -n.exp))))
	if n.exp < 0 {
		return r.Quo(r, two)
	}
	return r.Mul(r, two)
}

// round converts the number to bits of the format. random holds the 16 random bits of .rs.
func (f *table) round(n number, rnd string, random uint64, satfinite bool) uint64 {
	signed, zeroRun := false, 0
	for _, c := range f.codes {
		signed = signed || c.neg
		if c.magnitude.Sign() == 0 {
			zeroRun++
		}
	}
	neg := n.neg && signed
	if n.class == notANumber {
		if f.hasNaN {
			return f.nan
		}
		neg = false
	}
	// The neighbours of the exact number with its sign: low has at most its magnitude, high a larger one.
	var low, high, largest *code
	exact := new(big.Rat)
	if n.class == finite {
		exact = n.rational()
	}
	for i := range f.codes {
		c := &f.codes[i]
		if c.neg != neg && !(c.magnitude.Sign() == 0 && zeroRun == 1) {
			continue
		}
		if c.magnitude.Cmp(exact) <= 0 && (low == nil || c.magnitude.Cmp(low.magnitude) > 0) {
			low = c
		}
		if c.magnitude.Cmp(exact) > 0 && (high == nil || c.magnitude.Cmp(high.magnitude) < 0) {
			high = c
		}
		if largest == nil || c.magnitude.Cmp(largest.magnitude) > 0 {
			largest = c
		}
	}
	overflow := largest.bits
	switch {
	case !satfinite && f.inf[0] != 0:
		overflow = f.inf[bit(neg)]
	case !satfinite && f.hasNaN:
		overflow = f.nan
	}
	switch {
	case n.class == notANumber:
		return largest.bits
	case n.class == infinite:
		return overflow
	case low == nil: // a format without zero
		return high.bits
	case low.magnitude.Cmp(exact) == 0:
		return low.bits
	case high == nil:
		// The next number after the largest would follow at the same distance as the largest after its predecessor.
		var before *big.Rat
		for i := range f.codes {
			if m := f.codes[i].magnitude; m.Cmp(largest.magnitude) < 0 && (before == nil || m.Cmp(before) > 0) {
				before = m
			}
		}
		half := new(big.Rat).Sub(largest.magnitude, before)
		half.Add(largest.magnitude, half.Quo(half, big.NewRat(2, 1)))
		if c := exact.Cmp(half); rnd == "rp" || rnd == "rn" && (c > 0 || c == 0 && largest.bits&1 == 1) {
			return overflow
		}
		return largest.bits // all other modes saturate or cut
	}
	fraction := new(big.Rat).Sub(exact, low.magnitude)
	fraction.Quo(fraction, new(big.Rat).Sub(high.magnitude, low.magnitude))
	up := false
	switch rnd {
	case "rn":
		c := fraction.Cmp(big.NewRat(1, 2))
		up = c > 0 || c == 0 && low.bits&1 == 1
	case "rp":
		up = true
	case "rs":
		up = roundsUp(fraction, random)
	}
	if up {
		return high.bits
	}
	return low.bits
}

// roundsUp reports whether the sum of 16 random bits and the first 16 bits that are lost has a carry.
func roundsUp(fraction *big.Rat, random uint64) bool {
	cut := new(big.Int).Quo(new(big.Int).Lsh(fraction.Num(), 16), fraction.Denom())
	return cut.Uint64()+random >= 1<<16
}

// roundRandomly rounds by random bits.
func (f format) roundRandomly(n number, random uint64) uint64 {
	low := f.round(n, "rz")
	if n.class != finite {
		return low
	}
	decode := func(bits uint64) *big.Rat { return f.decode(bits &^ f.sign()).rational() }
	step := new(big.Rat)
	if low&^f.sign() == f.inf()-1 { // the largest number, and its hypothetical successor
		step.Sub(decode(low), decode(low-1))
	} else {
		step.Sub(decode(low+1), decode(low))
	}
	fraction := new(big.Rat).Sub(n.rational(), decode(low))
	if fraction.Quo(fraction, step); fraction.Cmp(big.NewRat(1, 1)) >= 0 || roundsUp(fraction, random) {
		return low + 1
	}
	return low
}

// elementNumber returns the i-th number of a packed source, from the uppermost on, or the number of the i-th source of
// another type.
func (t *thread) elementNumber(typ ptx.Type, i int) number {
	elem, count := typ.Elements()
	bits := uint64(0)
	switch {
	case count > 1:
		width := typ.Bits() / count
		bits = low(t.operandValue("a")>>((count-1-i)*width), width)
	case t.instr.Arg("a").Kind == ptx.VecOperand:
		bits = t.read(&t.instr.Arg("a").Elems()[i], typ).lo
	default:
		bits = t.operandValue([]string{"a", "b"}[i])
	}
	if f := tables[elem]; f != nil {
		return f.numbers[low(bits, indexBits(len(f.numbers)))]
	}
	return formatOf(elem).decode(bits)
}

// withoutSubnormals returns n, or a zero of its sign if n is subnormal in the format.
func (f format) withoutSubnormals(n number) number {
	if n.class == finite && f.isSubnormal(f.round(n, "rz")) {
		return number{neg: n.neg}
	}
	return n
}

func indexBits(n int) int { return bits.Len(uint(n)) - 1 }

// convertPacked executes cvt to packed types.
func (t *thread) convertPacked(to, from ptx.Type) {
	elem, count := to.Elements()
	width := to.Bits() / count
	d := uint64(0)
	for i := range count {
		n := t.elementNumber(from, i)
		if isN1 := t.hasModifier("scaled::n1::ue8m0"); isN1 || t.hasModifier("scaled::n2::ue8m0") {
			name := "b"
			if from == ptx.F32 {
				name = "c"
			}
			scale := tables[ptx.UE8M0].numbers[low(t.operandValue(name)>>(8*(count-1-i)), 8)]
			if isN1 {
				scale = tables[ptx.UE8M0].numbers[low(t.operandValue(name), 8)]
				elemType, _ := from.Elements()
				n = formatOf(elemType).withoutSubnormals(n)
			}
			if tables[elem] != nil {
				n = quotient(n, scale)
			} else {
				n = product(n, scale)
			}
		}
		d |= t.packedNumber(n, elem, count, i) << ((count - 1 - i) * width)
	}
	t.setOperand("d", d)
}

// packedNumber rounds the i-th of count numbers.
func (t *thread) packedNumber(n number, to ptx.Type, count, i int) uint64 {
	rnd, random := t.rounding(), uint64(0)
	if t.hasModifier("rs") {
		rnd, random = "rs", t.randomBits(to, count, i)
	}
	f := tables[to]
	if f == nil {
		g := formatOf(to)
		if rnd == "rs" {
			return t.modified(g.roundRandomly(n, random), g)
		}
		return t.toFloat(n, to)
	}
	if t.hasModifier("relu") && n.neg && n.class != notANumber {
		n = number{}
	}
	d := f.round(n, rnd, random, t.hasModifier("satfinite"))
	if t.hasModifier("pzo") && f.numbers[d].class == zero {
		return 0
	}
	return d
}

// randomBits returns the random bits for the i-th of count numbers: see docs/design/arithmetic.md.
func (t *thread) randomBits(to ptx.Type, count, i int) uint64 {
	c := t.operandValue("c")
	if count == 2 {
		random := low(c>>(16*(1-i)), 16)
		if to == ptx.F16 {
			return low(random, 13) << 3
		}
		return random
	}
	upper := i < 2
	random := low(c, 16)
	switch {
	case to == ptx.E2M1 && upper:
		random = low(c>>24, 8)<<8 | low(c>>8, 8)
	case to == ptx.E2M1:
		random = low(c>>16, 8)<<8 | low(c, 8)
	case upper:
		random = c >> 16
	}
	if i%2 == 0 {
		return uint64(bits.Reverse16(uint16(random)))
	}
	return random
}
