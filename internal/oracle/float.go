package oracle

// This file executes floating-point arithmetic (manual 9.7.3 to 9.7.5).

import (
	"math"

	"gemu/ptx"
)

// arith executes an arithmetic instruction on each number of its operands. op returns the exact result, which is
// rounded in the mode of the instruction.
func (t *thread) arith(op func(rnd string, x []number) number, operands ...string) {
	f, count := packing(t.instr.Type())
	width := f.exp + f.frac + 1
	args := make([]uint64, len(operands))
	for i, name := range operands {
		args[i] = t.operandValue(name)
	}
	d := uint64(0)
	for i := range count {
		elems := make([]uint64, len(args))
		for j, a := range args {
			elems[j] = low(a>>(i*width), width)
		}
		if t.hasModifier("oob") && (elems[0]&0x7fff == oobNaN || elems[1]&0x7fff == oobNaN) {
			continue // a zero
		}
		d |= t.rounded(f, op, elems) << (i * width)
	}
	t.setOperand("d", d)
}

// oobNaN is the value that tensor copies write for halves outside of the tensor. The manual does not specify which NaN
// it is.
const oobNaN = 0x7ff7

// mixed executes mixed-precision arithmetic (9.7.5) in .f32, on operands of .f32 and of the type .atype.
func (t *thread) mixed(op func(rnd string, x []number) number, operands ...string) {
	x := make([]number, len(operands))
	for i, name := range operands {
		f := single
		if name != "c" {
			f = formatOf(t.instr.SlotType("atype"))
		}
		x[i] = f.decode(t.operandValue(name))
	}
	d := single.round(op(t.rounding(), x), t.rounding())
	if t.hasModifier("sat") {
		d = single.saturate(d)
	}
	t.setOperand("d", d)
}

// addMixed (9.7.5.1): d = a + c.
func addMixed(t *thread) {
	if t.instr.Form.Family == ptx.FamilyMixed {
		t.packedMixed(exactSum, "a", "c")
		return
	}
	t.mixed(func(rnd string, x []number) number { return sum(x[0], x[1], rnd) }, "a", "c")
}

// subMixed (9.7.5.2): d = a - c.
func subMixed(t *thread) {
	if t.instr.Form.Family == ptx.FamilyMixed {
		t.packedMixed(exactDifference, "a", "c")
		return
	}
	t.mixed(func(rnd string, x []number) number { return sum(x[0], x[1].negate(), rnd) }, "a", "c")
}

// fmaMixed (9.7.5.3): d = a * b + c.
func fmaMixed(t *thread) {
	if t.instr.Form.Family == ptx.FamilyMixed {
		t.packedMixed(exactFma, "a", "b", "c")
		return
	}
	t.mixed(func(rnd string, x []number) number { return sum(product(x[0], x[1]), x[2], rnd) }, "a", "b", "c")
}

// packing returns the format and count of the numbers in an operand of the type.
func packing(t ptx.Type) (format, int) {
	switch t {
	case ptx.F32x2:
		return single, 2
	case ptx.F16x2:
		return half, 2
	case ptx.BF16x2:
		return bfloat, 2
	}
	return formatOf(t), 1
}

// rounded applies op to numbers in format f, with the instruction's rounding mode, .ftz, .sat and .relu.
func (t *thread) rounded(f format, op func(rnd string, x []number) number, args []uint64) uint64 {
	rnd := t.rounding()
	x := make([]number, len(args))
	for i, a := range args {
		x[i] = f.decode(t.ftz(f, a))
	}
	exact := op(rnd, x)
	if f == double && exact.class == notANumber {
		return t.doubleNaN(args)
	}
	d := f.round(exact, rnd)
	if t.hasModifier("ftz") && f.isTiny(exact, rnd) {
		d = f.signed(exact.neg, 0)
	}
	if t.hasModifier("sat") {
		d = f.saturate(d)
	}
	if t.hasModifier("relu") && !f.isNaN(d) && d&f.sign() != 0 {
		d = 0
	}
	return d
}

// doubleNaN returns the NaN of an operation on doubles: the NaN of the operand that it prefers.
func (t *thread) doubleNaN(args []uint64) uint64 {
	switch {
	case len(args) == 3:
		return double.firstNaN(args[1], args[2], args[0])
	case len(args) == 2 && t.instr.Mnemonic() != "div":
		return double.firstNaN(args[1], args[0])
	}
	return double.firstNaN(args...)
}

// rounding returns the rounding mode of the instruction; by default to nearest even.
func (t *thread) rounding() string {
	for _, rnd := range []string{"rz", "rm", "rp"} {
		if t.hasModifier(rnd) {
			return rnd
		}
	}
	return "rn"
}

// ftz flushes subnormals to zero if the instruction has .ftz.
func (t *thread) ftz(f format, bits uint64) uint64 {
	if t.hasModifier("ftz") {
		return f.flush(bits)
	}
	return bits
}

// testp (9.7.3.1): a property of a; zeros count as normal.
func testp(t *thread) {
	f := formatOf(t.instr.Type())
	a := t.operandValue("a")
	class := f.decode(a).class
	p := false
	switch t.instr.Slot("op") {
	case "finite":
		p = class == finite || class == zero
	case "infinite":
		p = class == infinite
	case "number":
		p = class != notANumber
	case "notanumber":
		p = class == notANumber
	case "normal":
		p = (class == finite || class == zero) && !f.isSubnormal(a)
	case "subnormal":
		p = f.isSubnormal(a)
	}
	t.setPred("p", p)
}

// copysign (9.7.3.2): b with the sign of a.
func copysign(t *thread) {
	sign := formatOf(t.instr.Type()).sign()
	t.setOperand("d", t.operandValue("a")&sign|t.operandValue("b")&^sign)
}

// fadd (9.7.3.3): d = a + b.
func fadd(t *thread) {
	t.arith(func(rnd string, x []number) number { return sum(x[0], x[1], rnd) }, "a", "b")
}

// fsub (9.7.3.4): d = a - b.
func fsub(t *thread) {
	t.arith(func(rnd string, x []number) number { return sum(x[0], x[1].negate(), rnd) }, "a", "b")
}

// fmul (9.7.3.5): d = a * b.
func fmul(t *thread) {
	t.arith(func(_ string, x []number) number { return product(x[0], x[1]) }, "a", "b")
}

// ffma (9.7.3.6, 9.7.3.7): d = a * b + c, rounded once; mad is the same since
// sm_20.
func ffma(t *thread) {
	t.arith(func(rnd string, x []number) number { return sum(product(x[0], x[1]), x[2], rnd) }, "a", "b", "c")
}

// fdiv (9.7.3.8): d = a / b.
func fdiv(t *thread) {
	switch {
	case t.hasModifier("full"):
		t.approx2(func(a, b float64) float64 { return a / b })
	case t.hasModifier("approx"):
		t.approx2(approxQuotient)
	default:
		t.arith(func(_ string, x []number) number { return quotient(x[0], x[1]) }, "a", "b")
	}
}

// approxQuotient is div.approx, a · (1/b): a subnormal 1/b counts as zero.
func approxQuotient(a, b float64) float64 {
	if math.Abs(b) > 0x1p126 && !math.IsInf(b, 0) {
		return a * math.Copysign(0, b)
	}
	return a / b
}

// fabs (9.7.3.9): d = |a|.
func fabs(t *thread) {
	t.signOp(func(f format, bits uint64) uint64 { return bits &^ f.sign() })
}

// fneg (9.7.3.10): d = -a.
func fneg(t *thread) {
	t.signOp(func(f format, bits uint64) uint64 { return bits ^ f.sign() })
}

// signOp changes the sign bit of a. A NaN of .f64 keeps its sign; for all other types it is unspecified, and becomes
// the canonical NaN.
func (t *thread) signOp(op func(f format, bits uint64) uint64) {
	t.applyUnary(func(f format, a uint64) uint64 {
		switch a = t.ftz(f, a); {
		case !f.isNaN(a):
			return op(f, a)
		case f == double:
			return f.quiet(a)
		}
		return f.nan
	})
}

// applyUnary applies op to each number of a.
func (t *thread) applyUnary(op func(f format, a uint64) uint64) {
	f, count := packing(t.instr.Type())
	width := f.exp + f.frac + 1
	a, d := t.operandValue("a"), uint64(0)
	for i := range count {
		d |= op(f, low(a>>(i*width), width)) << (i * width)
	}
	t.setOperand("d", d)
}

// fmin (9.7.3.11): d = min(a, b) or min(a, b, c); -0 is less than +0.
func fmin(t *thread) { t.fpick(smaller) }

// fmax (9.7.3.12): d = max(a, b) or max(a, b, c).
func fmax(t *thread) { t.fpick(larger) }

// fpick selects the smallest or largest operand. A number is preferred to a NaN, or with .NaN a NaN to a number. With
// .xorsign.abs magnitudes are compared, and the sign of the result is the exclusive or of the operands' signs.
func (t *thread) fpick(dir int) {
	operands := []string{"a", "b"}
	if t.hasOperand("c") {
		operands = append(operands, "c")
	}
	t.arith(func(_ string, x []number) number {
		neg := false
		for i := range x {
			neg = neg != x[i].neg
			if t.hasModifier("abs") {
				x[i].neg = false
			}
		}
		d := x[0]
		for _, n := range x[1:] {
			d = minOrMax(d, n, dir, t.hasModifier("NaN"))
		}
		if t.hasModifier("xorsign") && d.class != notANumber {
			d.neg = neg
		}
		return d
	}, operands...)
}

// Directions of minOrMax and fpick.
const (
	smaller = -1
	larger  = 1
)

// minOrMax returns the smaller or larger of two numbers. If one is a NaN, the result is the NaN if nanWins, else the
// number. -0 is smaller than +0.
func minOrMax(a, b number, dir int, nanWins bool) number {
	switch {
	case a.class == notANumber && b.class == notANumber:
		return nan
	case a.class == notANumber || b.class == notANumber:
		if nanWins {
			return nan
		}
		if a.class == notANumber {
			return b
		}
		return a
	}
	c := order(a, b)
	if a.class == zero && b.class == zero {
		c = int(bit(b.neg)) - int(bit(a.neg))
	}
	if c*dir >= 0 {
		return a
	}
	return b
}

// rcp (9.7.3.13, 9.7.3.14): d = 1 / a.
func rcp(t *thread) {
	reciprocal := func(x float64) float64 { return 1 / x }
	switch {
	case t.hasModifier("approx") && t.instr.Type() == ptx.F64:
		t.approxUpper(func(x number) number { return quotient(double.decode(double.one()), x) })
	case t.hasModifier("approx"):
		t.approx(reciprocal)
	default:
		t.arith(func(_ string, x []number) number {
			return quotient(double.decode(double.one()), x[0])
		}, "a")
	}
}

// sqrt (9.7.3.15): d = √a.
func sqrt(t *thread) {
	if t.hasModifier("approx") {
		t.approx(math.Sqrt)
		return
	}
	t.arith(func(_ string, x []number) number { return root(x[0]) }, "a")
}

// rsqrt (9.7.3.16, 9.7.3.17): d = 1 / √a.
func rsqrt(t *thread) {
	f := func(x float64) float64 { return 1 / math.Sqrt(x) }
	switch {
	case t.instr.Type() == ptx.F32:
		t.approx(f)
	case t.hasModifier("ftz"):
		t.approxUpper(func(x number) number { return quotient(double.decode(double.one()), root(x)) })
	default:
		d := math.Float64bits(f(math.Float64frombits(t.operandValue("a"))))
		if double.isNaN(d) {
			d = double.firstNaN(t.operandValue("a"))
		}
		t.setOperand("d", d)
	}
}

// sin (9.7.3.18): d = sin a, in radians, or with .2pi in turns.
func sin(t *thread) { t.approx(t.reduceAngle(math.Sin)) }

// cos (9.7.3.19): d = cos a.
func cos(t *thread) { t.approx(t.reduceAngle(math.Cos)) }

// reduceAngle adapts a function of an angle to .2pi, where the angle is in turns. Multiples of a quarter turn are
// exact.
func (t *thread) reduceAngle(f func(x float64) float64) func(x float64) float64 {
	if !t.hasModifier("2pi") {
		return f
	}
	return func(x float64) float64 {
		fraction := math.Mod(x, 1)
		if x != 0 {
			fraction += 0 // a zero fraction is negative only for a negative zero
		}
		if y := f(2 * math.Pi * fraction); math.Mod(fraction, 0.25) != 0 || fraction == 0 {
			return y
		} else {
			return math.Round(y) + 0
		}
	}
}

// lg2 (9.7.3.20): d = log2 a.
func lg2(t *thread) { t.approx(math.Log2) }

// ex2 (9.7.3.21): d = 2^a.
func ex2(t *thread) { t.approx(math.Exp2) }

// tanh (9.7.3.22): d = tanh a.
func tanh(t *thread) { t.approx(math.Tanh) }

// approx computes an approximate function in double precision, and rounds it to .f32 and then to the type. The manual
// only bounds the error; both engines make this choice.
func (t *thread) approx(f func(x float64) float64) {
	t.applyUnary(func(to format, a uint64) uint64 {
		if to == single {
			return t.approximated(f(float64(math.Float32frombits(uint32(t.ftz(single, a))))))
		}
		x := single.round(to.decode(t.ftz(to, a)), "rn")
		y := single.decode(uint64(math.Float32bits(float32(f(float64(math.Float32frombits(uint32(x))))))))
		if t.hasModifier("ftz") && to.isTiny(y, "rn") {
			return to.signed(y.neg, 0)
		}
		return to.round(y, "rn")
	})
}

// approx2 is approx for two operands.
func (t *thread) approx2(f func(a, b float64) float64) {
	t.setOperand("d", t.approximated(f(t.float32("a"), t.float32("b"))))
}

// float32 reads a .f32 operand.
func (t *thread) float32(name string) float64 {
	return float64(math.Float32frombits(uint32(t.ftz(single, t.operandValue(name)))))
}

func (t *thread) approximated(y float64) uint64 {
	d := uint64(math.Float32bits(float32(y)))
	if single.isNaN(d) {
		return single.nan
	}
	return t.ftz(single, d)
}

// approxUpper executes rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: the lower 32 bits of the operand are ignored, and
// the lower 32 bits of the result are zero.
func (t *thread) approxUpper(f func(x number) number) {
	a := upper.decode(upper.flush(t.operandValue("a") >> 32))
	t.setOperand("d", upper.flush(upper.round(f(a), "rn"))<<32)
}
