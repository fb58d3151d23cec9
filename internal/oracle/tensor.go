package oracle

// This file executes the matrix instructions of a warp (manual 9.7.14). The threads with %laneid 0 to 31, or 32 to 63,
// wait for each other as at any collective; all must take part. Matrices are collected from the threads by the formulas
// in the manual's section for each shape, multiplied element by element, and distributed again.

import (
	"fmt"
	"math/big"
	"strings"

	"gemu/ptx"
)

// tensorLanes is the number of threads that share a matrix.
const tensorLanes = 32

// tensor begins to wait for the remaining threads.
func tensor(t *thread) {
	if t.machine.warpSize%tensorLanes != 0 {
		t.unsupported()
	}
	t.state = atCollective
}

// isTensor reports whether the thread is at a matrix instruction.
func (t *thread) isTensor() bool { return t.instr.Form.Class == ptx.ClassTensor }

// halfMask is the mask of the threads that share a matrix with t.
func (t *thread) halfMask() uint64 { return 0xffff_ffff << (t.lane / tensorLanes * tensorLanes) }

// checkWholeWarp traps unless all 32 threads that share a matrix take part.
func (g group) checkWholeWarp() {
	if len(g) != tensorLanes {
		g[0].trap(KindDivergent, "%d of 32 threads execute it", len(g))
	}
}

// position returns the position of element i of a lane in a matrix. group and thread are the manual's groupID and
// threadID_in_group.
type position func(lane, group, thread, i int) (row, col int)

func choose[T any](p bool, yes, no T) T {
	if p {
		return yes
	}
	return no
}

// fragmentsA and fragmentsB map shape and bits of an element to the position of each element of a fragment of A and B (sections
// 9.7.14.5.2 to 9.7.14.5.13).
var fragmentsA = map[string]position{
	"m8n8k4 64":  func(l, g, t, i int) (int, int) { return l >> 2, l % 4 },
	"m8n8k16 8":  func(l, g, t, i int) (int, int) { return g, t*4 + i },
	"m8n8k32 4":  func(l, g, t, i int) (int, int) { return g, t*8 + i },
	"m8n8k128 1": func(l, g, t, i int) (int, int) { return g, t*32 + i },
	"m16n8k4 32": func(l, g, t, i int) (int, int) { return choose(i == 0, g, g+8), t },
	"m16n8k4 64": func(l, g, t, i int) (int, int) { return choose(i == 0, g, g+8), t },
	"m16n8k8 16": func(l, g, t, i int) (int, int) { return choose(i < 2, g, g+8), t*2 + i&1 },
	"m16n8k8 32": func(l, g, t, i int) (int, int) { return choose(i == 0 || i == 2, g, g+8), choose(i < 2, t, t+4) },
	"m16n8k8 64": func(l, g, t, i int) (int, int) { return choose(i == 0 || i == 2, g, g+8), choose(i < 2, t, t+4) },
	"m16n8k16 16": func(l, g, t, i int) (int, int) {
		return choose(i < 2 || 4 <= i && i < 6, g, g+8), t*2 + i&1 + choose(i < 4, 0, 8)
	},
	"m16n8k16 64": func(l, g, t, i int) (int, int) { return choose(i%2 == 0, g, g+8), choose(i%2 == 0, i*2+t, i*2-2+t) },
	"m16n8k16 8":  func(l, g, t, i int) (int, int) { return choose(i < 4, g, g+8), t*4 + i&3 },
	"m16n8k32 4":  func(l, g, t, i int) (int, int) { return choose(i < 8, g, g+8), t*8 + i&7 },
	"m16n8k32 8": func(l, g, t, i int) (int, int) {
		return choose(i < 4 || 8 <= i && i < 12, g, g+8), t*4 + i&3 + choose(i < 8, 0, 16)
	},
	"m16n8k64 4": func(l, g, t, i int) (int, int) {
		return choose(i < 8 || 16 <= i && i < 24, g, g+8), t*8 + i&7 + choose(i < 16, 0, 32)
	},
	"m16n8k128 1": func(l, g, t, i int) (int, int) { return choose(i < 32, g, g+8), t*32 + i&0x1f },
	// For elements 32 to 63 the manual's formula omits that i is i & 0x1f; its figure has it.
	"m16n8k256 1": func(l, g, t, i int) (int, int) {
		return choose(i < 32 || 64 <= i && i < 96, g, g+8), t*32 + i&0x1f + choose(i < 64, 0, 128)
	},
}

var fragmentsB = map[string]position{
	"m8n8k4 64":   func(l, g, t, i int) (int, int) { return l % 4, l >> 2 },
	"m8n8k16 8":   func(l, g, t, i int) (int, int) { return t*4 + i, g },
	"m8n8k32 4":   func(l, g, t, i int) (int, int) { return t*8 + i, g },
	"m8n8k128 1":  func(l, g, t, i int) (int, int) { return t*32 + i, g },
	"m16n8k4 32":  func(l, g, t, i int) (int, int) { return t, g },
	"m16n8k4 64":  func(l, g, t, i int) (int, int) { return t, g },
	"m16n8k8 16":  func(l, g, t, i int) (int, int) { return t*2 + i, g },
	"m16n8k8 32":  func(l, g, t, i int) (int, int) { return choose(i == 0, t, t+4), g },
	"m16n8k8 64":  func(l, g, t, i int) (int, int) { return choose(i == 0, t, t+4), g },
	"m16n8k16 16": func(l, g, t, i int) (int, int) { return t*2 + i&1 + choose(i < 2, 0, 8), g },
	"m16n8k16 64": func(l, g, t, i int) (int, int) { return t + i*4, g },
	"m16n8k16 8":  func(l, g, t, i int) (int, int) { return t*4 + i, g },
	"m16n8k32 4":  func(l, g, t, i int) (int, int) { return t*8 + i&7, g },
	"m16n8k32 8":  func(l, g, t, i int) (int, int) { return t*4 + i&3 + choose(i < 4, 0, 16), g },
	"m16n8k64 4":  func(l, g, t, i int) (int, int) { return t*8 + i&7 + choose(i < 8, 0, 32), g },
	"m16n8k128 1": func(l, g, t, i int) (int, int) { return t*32 + i, g },
	"m16n8k256 1": func(l, g, t, i int) (int, int) { return t*32 + i&0x1f + choose(i < 32, 0, 128), g },
}

// fragmentsC is the fragment of C and D of all shapes. Shapes of eight rows have at most two elements, so i < 2 there.
func fragmentsC(l, g, t, i int) (int, int) { return choose(i < 2, g, g+8), t*2 + i&1 }

// Fragments of mma.m8n8k4 with f16 (9.7.14.5.1).
var (
	smallA = map[bool]position{ // by whether the layout is column-major
		false: func(l, g, t, i int) (int, int) { return choose(l < 16, l%4, l%4+4), i },
		true:  func(l, g, t, i int) (int, int) { return choose(l < 16, i%4, i%4+4), l % 4 },
	}
	smallB = map[bool]position{
		false: func(l, g, t, i int) (int, int) { return l % 4, choose(l < 16, i, i+4) },
		true:  func(l, g, t, i int) (int, int) { return i, choose(l < 16, l%4, l%4+4) },
	}
	smallC = map[ptx.Type]position{
		ptx.F16: func(l, g, t, i int) (int, int) { return choose(l < 16, l%4, l%4+4), i },
		ptx.F32: func(l, g, t, i int) (int, int) {
			x := l&1 + i&2
			return choose(l < 16, x, x+4), i&4 + l&2 + i&1
		},
	}
)

// matrix holds elements by matrix, row and column.
type matrix map[[3]int]uint64

// collectMatrix collects elements of the given number of bits. pos is their position. lanePart gives the matrix
// of a lane: a warp has four for m8n8k4, and otherwise one.
func (g group) collectMatrix(name string, bits int, pos position, lanePart func(lane int) int) matrix {
	m := matrix{}
	g.eachElement(name, bits, pos, lanePart, func(t *thread, e *ptx.Operand, shift int, pos [3]int) {
		if bits == 64 {
			m[pos] = t.read(e, ptx.F64).lo
		} else {
			m[pos] = low(t.read(e, ptx.B32).lo>>shift, bits)
		}
	})
	return m
}

// distributeMatrix writes the elements of a matrix to the threads.
func (g group) distributeMatrix(name string, bits int, pos position, lanePart func(lane int) int, m matrix) {
	type place struct {
		t *thread
		e *ptx.Operand
	}
	words := map[place]uint64{}
	g.eachElement(name, bits, pos, lanePart, func(t *thread, e *ptx.Operand, shift int, pos [3]int) {
		words[place{t, e}] |= m[pos] << shift
	})
	typ := ptx.B32
	if bits == 64 {
		typ = ptx.F64
	}
	for _, t := range g {
		o, _ := t.operand(name)
		for _, e := range elements(o) {
			t.write(e, typ, value{lo: words[place{t, e}]})
		}
	}
}

// eachElement calls f for each element of an operand, with its register, its shift in the register, and its position in
// the matrix.
func (g group) eachElement(name string, bits int, pos position, lanePart func(lane int) int, f func(t *thread, e *ptx.Operand, shift int, pos [3]int)) {
	perUnit := max(32/bits, 1)
	for _, t := range g {
		o, _ := t.operand(name)
		lane := t.lane % tensorLanes
		for r, e := range elements(o) {
			for k := range perUnit {
				row, col := pos(lane, lane>>2, lane%4, r*perUnit+k)
				f(t, e, k*bits, [3]int{lanePart(lane), row, col})
			}
		}
	}
}

// mma (9.7.14.5.14).
func mma(g group) {
	g.checkWholeWarp()
	instr := g[0].instr
	var types []ptx.Type
	shape, m, n, k := "", 0, 0, 0
	for _, mod := range strings.Split(instr.Variant.Canonical(), ".") {
		if typ := ptx.TypeByName(mod); typ != ptx.NoType {
			types = append(types, typ)
		}
		if c, _ := fmt.Sscanf(mod, "m%dn%dk%d", &m, &n, &k); c == 3 {
			shape = mod
		}
	}
	d, a, b, c := types[0], types[1], types[2], types[3]
	bits := a.Bits()
	if instr.Has("kind::f8f6f4") || instr.Has("kind::mxf8f6f4") {
		bits = 8 // each element fills 8 bits, whatever its type
	}
	key := fmt.Sprintf("%s %d", shape, bits)
	pa, pb, pc, pd := fragmentsA[key], fragmentsB[key], position(fragmentsC), position(fragmentsC)
	lanePart, count := func(int) int { return 0 }, 1
	if a == ptx.F16 && m == 8 {
		pa, pb, pc, pd = smallA[instr.Slot("alayout") == "col"], smallB[instr.Slot("blayout") == "col"], smallC[c], smallC[d]
		lanePart, count = func(lane int) int { return lane % 16 / 4 }, 4
	}
	mb, mc := g.collectMatrix("b", bits, pb, lanePart), g.collectMatrix("c", c.Bits(), pc, lanePart)
	var ma matrix
	var rows []sparseRow
	if instr.Slot("sp") != "" {
		rows = g.sparseRows(key, a, bits, m, k)
	} else {
		ma = g.collectMatrix("a", bits, pa, lanePart)
	}
	var scales scaling
	if instr.Has("block_scale") {
		vec := choose(instr.Has("scale_vec::4X"), 4, choose(bits == 8, 1, 2))
		scales = g.scaling(choose(rows == nil, []string{"e", "f", "g", "h"}, []string{"g", "h", "i", "j"}), vec)
	}
	md := matrix{}
	for x := range count {
		for row := range m {
			for col := range n {
				var va, vb []uint64
				if rows != nil { // only stored elements take part
					va = rows[row].values
					for _, i := range rows[row].cols {
						vb = append(vb, mb[[3]int{x, i, col}])
					}
				} else {
					for i := range k {
						va, vb = append(va, ma[[3]int{x, row, i}]), append(vb, mb[[3]int{x, i, col}])
					}
				}
				pos := [3]int{x, row, col}
				if instr.Has("block_scale") {
					md[pos] = g[0].scaledDot(va, vb, mc[pos], a, b, bits, scales.a[row], scales.b[col])
				} else {
					md[pos] = g[0].dotProduct(va, vb, mc[pos], d, a, b, c)
				}
			}
		}
	}
	g.distributeMatrix("d", d.Bits(), pd, lanePart, md)
}

// dotProduct returns a row times a column, plus c.
func (t *thread) dotProduct(a, b []uint64, c uint64, td, ta, tb, tc ptx.Type) uint64 {
	switch {
	case ta == ptx.F64:
		rnd := t.rounding()
		for i := range a {
			exact := sum(product(double.decode(a[i]), double.decode(b[i])), double.decode(c), rnd)
			if exact.class == notANumber {
				c = double.firstNaN(b[i], c, a[i])
			} else {
				c = double.round(exact, rnd)
			}
		}
		return c
	case ta == ptx.B1:
		n := uint64(0)
		for i := range a {
			if t.hasModifier("xor") {
				n += a[i] ^ b[i]
			} else {
				n += a[i] & b[i]
			}
		}
		return low(c+n, 32)
	case ta.IsInt():
		acc := integer(c, 32, true)
		for i := range a {
			acc.Add(acc, new(big.Int).Mul(integer(a[i], ta.Bits(), ta.IsSigned()), integer(b[i], tb.Bits(), tb.IsSigned())))
		}
		if t.hasModifier("satfinite") {
			acc = clamp(acc, 32, true)
		}
		return wrap(acc, 32)
	}
	return t.blockDot(a, b, c, td, ta, tb, tc)
}

// adder describes how tensor cores add products (docs/tensor.md): blockSize products at once, each
// aligned to the largest exponent and truncated to fractionBits fraction bits; a sum in f32 keeps sumBits bits. The exponent of
// the alignment is never below that of minExponents.
type adder struct {
	blockSize, fractionBits, sumBits int
	minExponents                     map[ptx.Type]int // by the type of the sum
}

// Least exponents of Hopper and later, of Turing to Ada, and of Volta.
var (
	minExponentsHopper = map[ptx.Type]int{ptx.F32: -133, ptx.F16: -21}
	minExponentsTuring = map[ptx.Type]int{ptx.F32: -132, ptx.F16: -20}
	minExponentsVolta  = map[ptx.Type]int{ptx.F32: -131, ptx.F16: -19}
)

// adderFor returns the adder of a device for factors of a type: TF32, a type of 16 bits, or a narrower one.
func adderFor(sm int, t ptx.Type) adder {
	switch {
	case t == ptx.TF32 && sm >= 90:
		return adder{8, 25, 23, minExponentsHopper}
	case t == ptx.TF32:
		return adder{4, 24, 23, minExponentsTuring}
	case t.Bits() == 16 && sm >= 90:
		return adder{16, 25, 23, minExponentsHopper}
	case t.Bits() == 16 && sm >= 75:
		return adder{8, 24, 23, minExponentsTuring}
	case t.Bits() == 16:
		return adder{4, 23, 23, minExponentsVolta}
	case sm >= 120:
		return adder{32, 25, 23, minExponentsHopper}
	}
	return adder{16, 13, 13, minExponentsTuring}
}

// deviceWith returns the compute capability of the device, raised, if needed, to the first that supports all the types.
func (t *thread) deviceWith(types ...ptx.Type) int {
	sm := t.machine.dev.cfg.SM
	for _, typ := range types {
		switch typ {
		case ptx.BF16, ptx.TF32:
			sm = max(sm, 80)
		case ptx.E4M3, ptx.E5M2:
			sm = max(sm, 89)
		case ptx.E3M2, ptx.E2M3, ptx.E2M1:
			sm = max(sm, 120)
		}
	}
	return sm
}

// blockDot adds products of floats to c.
func (t *thread) blockDot(a, b []uint64, c uint64, td, ta, tb, tc ptx.Type) uint64 {
	sm := t.deviceWith(ta, tb)
	small := t.hasModifier("m8n8k4")
	single, half := formatOf(ptx.F32), formatOf(ptx.F16)
	switch {
	case small && sm >= 80:
		return sequentialDot(a, b, c, td, tc)
	case small && sm >= 70:
		sm = 70 // Turing executes m8n8k4 as Volta does
	case ta.Bits() == 8 && sm >= 90 && sm < 120: // Hopper converts factors to f16, and sums k%4 = 0 and 1 first, then 2 and 3
		sum := uint64(0)
		for _, chosen := range [...]func(k int) bool{func(k int) bool { return k%4 < 2 }, func(k int) bool { return k%4 >= 2 }} {
			var x, y []uint64
			for k := range a {
				if chosen(k) {
					p, _ := factor(a[k], ta)
					q, _ := factor(b[k], tb)
					x, y = append(x, half.round(p, "rn")), append(y, half.round(q, "rn"))
				}
			}
			sum = adderFor(sm, ptx.F16).chain(x, y, sum, td, ptx.F16, ptx.F16, td)
		}
		to := formatOf(td)
		return to.round(nearestSum(to.decode(c), to.decode(sum)), "rn")
	case td == ptx.F16 && tc == ptx.F32:
		return half.round(single.decode(adderFor(sm, ta).chain(a, b, c, tc, ta, tb, tc)), "rn")
	case td == ptx.F32 && tc == ptx.F16 && sm >= 75:
		c, tc = single.round(half.decode(c), "rn"), td
	}
	h := adderFor(sm, ta)
	if t.instr.Op.Name == "wmma" && ta == ptx.TF32 {
		h.blockSize = 4 // two machine instructions with half of k each
	}
	return h.chain(a, b, c, td, ta, tb, tc)
}

// nearestSum returns the sum of two numbers, for rounding to nearest.
func nearestSum(a, b number) number { return sum(a, b, "rn") }

// sequentialDot adds products of f16 all in f32, as the instruction sequence for mma.m8n8k4 on sm_80 and later does.
// If D is f16, each pair of products is summed, and then added to c.
func sequentialDot(a, b []uint64, c uint64, td, tc ptx.Type) uint64 {
	single, half := formatOf(ptx.F32), formatOf(ptx.F16)
	rounded := func(n number) number { return single.decode(single.round(n, "rn")) }
	term := func(k int) number { return product(half.decode(a[k]), half.decode(b[k])) }
	acc := formatOf(tc).decode(c)
	if td == ptx.F32 {
		s := number{}
		for k := range a {
			s = rounded(nearestSum(term(k), s))
		}
		return single.round(nearestSum(acc, s), "rn")
	}
	for k := 0; k < len(a); k += 2 {
		acc = rounded(nearestSum(acc, rounded(nearestSum(term(k+1), rounded(term(k))))))
	}
	return half.round(acc, "rn")
}

// chain adds block after block.
func (h adder) chain(a, b []uint64, c uint64, td, ta, tb, tc ptx.Type) uint64 {
	for len(a) > 0 {
		n := min(h.blockSize, len(a))
		c, tc = h.add(a[:n], b[:n], c, td, ta, tb, tc), td
		a, b = a[n:], b[n:]
	}
	return c
}

// add adds a block: every term is cut to the adder's bits after the point of the largest, and the sum is rounded.
func (h adder) add(a, b []uint64, c uint64, td, ta, tb, tc ptx.Type) uint64 {
	acc, exp := factor(c, tc)
	terms, exps := []number{acc}, []int{exp}
	for i := range a {
		x, ex := factor(a[i], ta)
		y, ey := factor(b[i], tb)
		terms, exps = append(terms, product(x, y)), append(exps, ex+ey)
	}
	return h.sum(terms, exps, td)
}

// sum adds terms with the given exponents.
func (h adder) sum(terms []number, exps []int, td ptx.Type) uint64 {
	special, top := number{}, h.minExponents[td]
	for i, n := range terms {
		switch n.class {
		case notANumber, infinite:
			special = sum(special, n, "rn")
		case finite:
			top = max(top, exps[i])
		}
	}
	to := formatOf(td)
	if special.class != zero {
		return to.round(special, "rn")
	}
	total := new(big.Int)
	for _, n := range terms {
		if n.class == finite {
			q := n.quantise(top-h.fractionBits, "rz")
			if n.neg {
				q.Neg(q)
			}
			total.Add(total, q)
		}
	}
	n := fromInt(total)
	n.exp = top - h.fractionBits
	v := uint64(0)
	if td == ptx.F16 {
		v = to.round(n, "rn")
	} else {
		sumFormat := format{to.exp, h.sumBits, 0}
		v = sumFormat.round(n, "rz")
		if n.class == finite && n.mant.BitLen()+n.exp > to.bias()+1 {
			v = sumFormat.signed(n.neg, sumFormat.inf()) // an overflow gives infinity here; rz alone would give the largest finite number
		}
		v <<= to.frac - h.sumBits
	}
	if v == to.sign() {
		return 0 // -0 becomes +0
	}
	return v
}

// factor decodes a factor or an accumulator, with its exponent; a subnormal has the exponent of the least normal
// number.
func factor(v uint64, t ptx.Type) (number, int) {
	f, noSpecial := format{}, false
	switch t {
	case ptx.F16, ptx.BF16, ptx.F32:
		f = formatOf(t)
	case ptx.TF32:
		f, v = format{8, 10, 0}, v>>13
	case ptx.E5M2:
		f = format{5, 2, 0}
	case ptx.E4M3:
		f, noSpecial = format{4, 3, 0}, true
		if v&0x7f == 0x7f {
			return nan, 0
		}
	case ptx.E3M2:
		f, noSpecial, v = format{3, 2, 0}, true, low(v, 6)
	case ptx.E2M3:
		f, noSpecial, v = format{2, 3, 0}, true, low(v, 6)
	case ptx.E2M1:
		f, noSpecial, v = format{2, 1, 0}, true, low(v>>2, 4)
	}
	field := int(v >> f.frac & (1<<f.exp - 1))
	if noSpecial && field == 1<<f.exp-1 { // an exponent of ones is an ordinary number here, and an infinity or NaN for decode
		n := number{class: finite, neg: v&f.sign() != 0, mant: new(big.Int).SetUint64(1<<f.frac | v&(1<<f.frac-1)), exp: field - f.bias() - f.frac}
		return n, field - f.bias()
	}
	return f.decode(v), max(field, 1) - f.bias()
}

// rowsOf returns the rows of matrices in shared memory; the first n threads provide their addresses.
func (g group) rowsOf(n int, rw accessKind) [][]byte {
	rows, size := make([][]byte, n), 16
	if g[0].hasModifier("s4") { // sixteen elements of four bits
		size = 8
	}
	for i := range rows {
		t := g[i]
		space, addr := t.address("a")
		if space == ptx.Generic {
			if resolved, offset := t.machine.resolve(addr); resolved == ptx.Shared && offset>>rankShift == uint64(t.cta.rank) {
				space, addr = resolved, offset
			}
		}
		if space != ptx.Shared {
			t.trap(KindMemory, "%#x is not in shared memory", addr)
		}
		rows[i] = t.accessTolerant(space, addr, size, size, size, rw)
	}
	return rows
}

// matrices returns the number of matrices, from .num.
func (t *thread) matrices() int { return int(t.instr.Slot("num")[1] - '0') }

// ldmatrix (9.7.14.5.15).
func ldmatrix(g group) {
	g.checkWholeWarp()
	n, rows := g[0].matrices(), 8
	if g[0].hasModifier("m16n16") {
		rows = 16
	}
	memory := g.rowsOf(n*rows, readAccess)
	for i := range memory {
		memory[i] = append([]byte(nil), memory[i]...)
	}
	for lane, t := range g {
		o, _ := t.operand("d")
		for r, e := range elements(o) {
			var b [4]byte
			switch {
			case t.hasModifier("m8n8") && !t.hasModifier("trans"): // two elements of row lane/4
				copy(b[:], memory[8*r+lane/4][lane%4*4:])
			case t.hasModifier("m8n8"): // transposed
				for k := range 2 {
					copy(b[2*k:2*k+2], memory[8*r+lane%4*2+k][lane/4*2:])
				}
			case t.hasModifier("m8n16"):
				for k := range b {
					b[k] = t.unpackedByte(memory[8*r+lane/4], lane%4*4+k)
				}
			default: // m16n16: bytes lane/4 and lane/4+8 of two rows; the next register has the next two rows
				for k := range b {
					b[k] = t.unpackedByte(memory[16*(r/2)+lane%4*4+r%2*2+k%2], lane/4+k/2*8)
				}
			}
			t.write(e, ptx.B32, valueOf(b[:]))
		}
	}
}

// unpackedByte returns element i of a row of 16.
func (t *thread) unpackedByte(row []byte, i int) byte {
	bits := 8
	switch {
	case t.hasModifier("b6x16_p32"):
		bits = 6
	case t.hasModifier("b4x16_p64"):
		bits = 4
	case t.hasModifier("s4"): // two's complement, extended to eight bits
		v := int(row[i/2]) / choose(i%2 == 0, 1, 16) % 16
		return byte(v - choose(v < 8, 0, 16))
	}
	return unpackByte(row, bits, i)
}

// unpackByte returns element i of a row of 16 elements of the given number of bits.
func unpackByte(row []byte, bits, i int) byte {
	all := new(big.Int)
	for k, b := range row {
		all.Add(all, new(big.Int).Lsh(big.NewInt(int64(b)), uint(8*k)))
	}
	e := byte(new(big.Int).And(new(big.Int).Rsh(all, uint(bits*i)), big.NewInt(1<<bits-1)).Uint64())
	if bits == 4 {
		e <<= 2 // bits 2 to 5 of the byte (9.7.16.9.1.1)
	}
	return e
}

// stmatrix (9.7.14.5.16).
func stmatrix(g group) {
	g.checkWholeWarp()
	memory := g.rowsOf(8*g[0].matrices(), writeAccess)
	for lane, t := range g {
		o, _ := t.operand("b")
		for r, e := range elements(o) {
			b := bytesOf(t.read(e, ptx.B32), 4)
			for k := range b {
				switch {
				case t.hasModifier("m8n8") && !t.hasModifier("trans"):
					memory[8*r+lane/4][lane%4*4+k] = b[k]
				case t.hasModifier("m8n8"):
					memory[8*r+lane%4*2+k/2][lane/4*2+k%2] = b[k]
				default: // m16n8: each stored row is a column of the accumulator of mma
					memory[8*r+lane%4*2+k%2][lane/4+k/2*8] = b[k]
				}
			}
		}
	}
}

// movmatrix (9.7.14.5.17): thread i has two elements of row i/4, and receives two of column i/4.
func movmatrix(g group) {
	g.checkWholeWarp()
	a := g.operandValues("a")
	for lane, t := range g {
		d := uint64(0)
		for k := range 2 {
			row, col := lane%4*2+k, lane/4
			d |= low(a[row*4+col/2]>>(col%2*16), 16) << (16 * k)
		}
		t.setOperand("d", d)
	}
}
