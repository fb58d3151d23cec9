package matrix

// This file has scales: factors for each block of a row of A and of a column of B (manual 9.7.14.3).

import (
	"fmt"

	"gemu/interp/internal/fp"
)

// Scales describes the scales of mma with .block_scale.
type Scales struct {
	PerRow int  // number of scales for each row of A, and for each column of B: 1, 2 or 4
	UE4M3  bool // the scales have type .ue4m3; false: .ue8m0
}

// decode reads a scale in the low bits of v. Bit 7 of a .ue4m3 is ignored.
func (s *Scales) decode(v uint32) number {
	switch {
	case s.UE4M3:
		f := format{&fp.E4M3, 0}
		return f.decode(uint64(v & 0x7f))
	case v&0xff == 0xff:
		return number{1, nan}
	}
	return number{1, int32(v&0xff) - 127}
}

// fraction is the number of fraction bits of a scale.
func (s *Scales) fraction() int {
	if s.UE4M3 {
		return fp.E4M3.Fraction()
	}
	return 0
}

// selectors are the indices of three registers: with the scales of a matrix, with the selection of a byte, and with the
// selection of a thread.
type selectors struct{ data, byteID, threadID int }

// selectedScales reads the selectors of a matrix: the first byte of its scales in a register, and the thread, of four, that
// holds them. All lanes must have the same selectors. thread must be less than limit (manual table 37).
func (s *Scales) selectedScales(e *Registers, regs selectors, limit int, matrix string) (first, thread int, u *Undefined) {
	for _, x := range []struct {
		register, step, below int
		name                  string
	}{{regs.byteID, s.PerRow, 5 - s.PerRow, "byte-id"}, {regs.threadID, 1, limit, "thread-id"}} {
		row := e.R[x.register]
		v, other := row[0]&0xffff, uint32(0)
		for lane, w := range row {
			if w&0xffff != v {
				other |= 1 << lane
			}
		}
		switch {
		case other != 0:
			return 0, 0, &Undefined{other, fmt.Sprintf("a %s of %s that differs from lane 0", x.name, matrix)}
		case int(v) >= x.below || int(v)%x.step != 0:
			return 0, 0, &Undefined{^uint32(0), fmt.Sprintf("%s %d of %s", x.name, v, matrix)}
		}
		if x.name == "byte-id" {
			first = int(v)
		} else {
			thread = int(v)
		}
	}
	return first, thread, nil
}

// read returns the scales of the rows of A and of the columns of B, PerRow of each. extra is the index of the first
// register of scales. In each group of four lanes, two lanes hold the scales of a row of A and of the row eight below, and
// one lane holds the scales of a column of B.
func (s *Scales) read(e *Registers, extra int) (a, b []number, u *Undefined) {
	scales := func(register, lane, first int) (list []number) {
		for i := range s.PerRow {
			list = append(list, s.decode(e.R[register][lane]>>(8*(first+i))))
		}
		return list
	}
	first, thread, u := s.selectedScales(e, selectors{extra, extra + 1, extra + 2}, 2, "A")
	if u != nil {
		return nil, nil, u
	}
	for row := range 16 {
		a = append(a, scales(extra, row%8*4+2*thread+row/8, first)...)
	}
	if first, thread, u = s.selectedScales(e, selectors{extra + 3, extra + 4, extra + 5}, 4, "B"); u != nil {
		return nil, nil, u
	}
	for col := range 8 {
		b = append(b, scales(extra+3, col*4+thread, first)...)
	}
	return a, b, nil
}

// sumFraction is the number of fraction bits of a sum of products of .e2m1 times its scales.
func (s *Scales) sumFraction() int { return 2 * (fp.E2M1.Fraction() + s.fraction()) }

// firstScaledSM is the compute capability of the first device with mma with scales.
const firstScaledSM = 120

// exactGroup is the number of products of .e2m1 elements that are added exactly. Their sum times the scales is one term.
// The exponent of the term is the sum of the scales' exponents, even if the products add up to zero.
const exactGroup = 16

// applyScales multiplies numbers by scales of .ue8m0, which change only exponents. Each scale applies to a block of
// neighbouring numbers; all blocks have the same length.
func applyScales(list, scales []number) {
	blockLength := len(list) / len(scales)
	for i := range list {
		switch s := scales[i/blockLength]; {
		case s.exp == nan:
			list[i] = s
		case list[i].exp < inf:
			list[i].exp += s.exp
		}
	}
}

// multiplyPacked multiplies A and B of .e2m1 with scales.
func (o *multiplication) multiplyPacked(n *Numerics, a, b []number, c []uint64, to *format) {
	vec := o.Scales.PerRow
	forEachElement(o, a, b, c, func(index int, a, b []number, c uint64) uint64 {
		return o.Scales.dotPacked(n, a, b, o.rowScales[index/o.N*vec:][:vec], o.colScales[index%o.N*vec:][:vec], c, to)
	})
}

// dotPacked computes a row times a column of .e2m1, plus c. x has the scales of the row, and y the scales of the column.
func (s *Scales) dotPacked(n *Numerics, a, b, x, y []number, c uint64, to *format) uint64 {
	var terms, ones [8]number
	groups, top := len(a)/exactGroup, n.minExponent(to)
	for g := range groups {
		sum, anyNonzero := int32(0), int32(0)
		for k := g * exactGroup; k < (g+1)*exactGroup; k++ {
			p := a[k].mant << a[k].exp * (b[k].mant << b[k].exp)
			sum, anyNonzero = sum+p, anyNonzero|p
		}
		block := g * s.PerRow / groups
		x, y := x[block], y[block]
		terms[g], ones[g] = number{sum * x.mant * y.mant, x.exp + y.exp}, number{1, 0}
		if x.exp == nan || y.exp == nan {
			terms[g].exp = nan
		} else if anyNonzero != 0 && x.mant != 0 && y.mant != 0 {
			top = max(top, terms[g].exp)
		}
	}
	return n.addBlock(terms[:groups], ones[:groups], s.sumFraction(), top, to.decode(c), to, to)
}
