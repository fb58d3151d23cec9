package oracle

// This file has the scales of mma with .block_scale (manual 9.7.14.3).

import (
	"math/big"

	"gemu/ptx"
)

// scale is a scale with its exponent.
type scale struct {
	number
	exponent int
}

// decodeScale decodes a scale, .ue4m3 or .ue8m0.
func decodeScale(v uint64, kind string) scale {
	if kind == "ue4m3" {
		n, exp := factor(v&0x7f, ptx.E4M3)
		return scale{n, exp}
	}
	if v == 0xff {
		return scale{nan, 0}
	}
	n := fromInt(big.NewInt(1))
	n.exp = int(v) - 127
	return scale{n, n.exp}
}

// scaling has the scales of rows of A and of columns of B.
type scaling struct{ a, b [][]scale }

// scaling reads the scales from the named operands: data and selectors (byte, thread) of A, then of B.
func (g group) scaling(names []string, count int) scaling {
	kind := choose(g[0].hasModifier("ue4m3"), "ue4m3", "ue8m0")
	selector := func(name string, index, below, step int) int {
		o, _ := g[0].operand(name)
		v := g[0].read(elements(o)[index], ptx.U16).lo
		for _, t := range g {
			o, _ := t.operand(name)
			if t.read(elements(o)[index], ptx.U16).lo != v {
				t.trap(KindMatrix, "not the selector of the first thread")
			}
		}
		if v >= uint64(below) || int(v)%step != 0 {
			g[0].trap(KindMatrix, "selector %d", v)
		}
		return int(v)
	}
	below := map[int]int{1: 4, 2: 3, 4: 1}[count] // byte-id: 0 to 3; 0 and 2; 0
	read := func(lane int, name string, first int) (list []scale) {
		o, _ := g[lane].operand(name)
		word := g[lane].read(elements(o)[0], ptx.B32).lo
		for i := range count {
			list = append(list, decodeScale(word>>(8*(first+i))&0xff, kind))
		}
		return list
	}
	var s scaling
	byteA, threadA := selector(names[1], 0, below, count), selector(names[1], 1, 2, 1)
	byteB, threadB := selector(names[3], 0, below, count), selector(names[3], 1, 4, 1)
	for row := range 16 { // figure 43
		lane := row%8*4 + choose(row < 8, 0, 1) + 2*threadA
		s.a = append(s.a, read(lane, names[0], byteA))
	}
	for col := range 8 { // figure 44
		s.b = append(s.b, read(col*4+threadB, names[2], byteB))
	}
	return s
}

// scaledDot returns a row times a column with scales, plus c.
func (t *thread) scaledDot(a, b []uint64, c uint64, ta, tb ptx.Type, bits int, sa, sb []scale) uint64 {
	acc, exp := factor(c, ptx.F32)
	terms, exps := []number{acc}, []int{exp}
	block := func(k int) int { return k * len(sa) / len(a) }
	if bits == 8 {
		h := adder{32, 25, 23, minExponentsHopper}
		for k := range a {
			if k > 0 && k%h.blockSize == 0 {
				acc, exp = factor(h.sum(terms, exps, ptx.F32), ptx.F32)
				terms, exps = []number{acc}, []int{exp}
			}
			x, ex := factor(a[k], ta)
			y, ey := factor(b[k], tb)
			p, q := sa[block(k)], sb[block(k)]
			terms = append(terms, product(product(x, p.number), product(y, q.number)))
			exps = append(exps, ex+ey+p.exponent+q.exponent)
		}
		return h.sum(terms, exps, ptx.F32)
	}
	// Sixteen products of .e2m1 form a single term.
	for k := 0; k < len(a); k += 16 {
		n, any := number{}, false
		for i := k; i < k+16; i++ {
			x, _ := factor(a[i]<<2, ta)
			y, _ := factor(b[i]<<2, tb)
			p := product(x, y)
			any = any || p.class == finite
			n = sum(n, p, "rn")
		}
		if any && n.class == zero { // a zero sum has an exponent
			n = number{class: finite, mant: new(big.Int)}
		}
		p, q := sa[block(k)], sb[block(k)]
		terms, exps = append(terms, product(n, product(p.number, q.number))), append(exps, p.exponent+q.exponent)
	}
	return adder{4, 35, 23, map[ptx.Type]int{ptx.F32: -139}}.sum(terms, exps, ptx.F32)
}
