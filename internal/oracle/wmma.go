package oracle

// This file executes wmma (manual 9.7.14.4). The manual does not specify the positions of elements in threads;
// docs/tensor.md describes them. From sm_75 on a matrix consists of the fragments of mma, on Volta of the fragments
// of mma.m8n8k4.

import (
	"fmt"
	"strings"

	"gemu/ptx"
)

// wmmaShape returns the shape of the instruction, as text and as m, n and k.
func (t *thread) wmmaShape() (shape string, m, n, k int) {
	for _, mod := range strings.Split(t.instr.Variant.Canonical(), ".") {
		if c, _ := fmt.Sscanf(mod, "m%dn%dk%d", &m, &n, &k); c == 3 {
			return mod, m, n, k
		}
	}
	panic("BUG: wmma without a shape")
}

// wmmaFragment returns the position in the matrix of element i of a lane, for matrix A, B or C of m×n×k.
func wmmaFragment(sm int, name byte, typ ptx.Type, m, n, k int, col bool) position {
	if sm < 75 && (typ == ptx.F16 || typ == ptx.F32) {
		return voltaFragment(name, typ, m, n, col)
	}
	if m < n && !(sm < 80 && typ == ptx.S32) { // the transpose of m32n8
		otherMatrix := map[byte]byte{'a': 'b', 'b': 'a', 'c': 'c'}[name]
		pos := wmmaFragment(sm, otherMatrix, typ, n, m, k, col)
		return func(l, g, t, i int) (int, int) {
			c, r := pos(l, g, t, i)
			return r, c
		}
	}
	if name == 'c' {
		return func(l, g, t, i int) (int, int) {
			rows := min(m, 16) / 8 // groups of 8 rows, in a part of 8 columns
			r, c := fragmentsC(l, g, t, i%(2*rows))
			segment := i / (2 * rows)
			return r + choose(m == 32, 16*segment, 0), c + choose(m == 32, 0, 8*segment)
		}
	}
	suffix := map[ptx.Type]string{
		ptx.F16: "m16n8k16 16", ptx.BF16: "m16n8k16 16", ptx.TF32: "m16n8k8 32", ptx.F64: "m8n8k4 64",
		ptx.S8: "m16n8k16 8", ptx.U8: "m16n8k16 8", ptx.S4: "m8n8k32 4", ptx.U4: "m8n8k32 4", ptx.B1: "m8n8k128 1",
	}[typ]
	if name == 'a' {
		each := min(m, 16) * k / tensorLanes
		return func(l, g, t, i int) (int, int) {
			i %= m * k / tensorLanes
			r, c := fragmentsA[suffix](l, g, t, i%each)
			return r + i/each*16, c
		}
	}
	each := 8 * k / tensorLanes
	return func(l, g, t, i int) (int, int) {
		i %= n * k / tensorLanes
		r, c := fragmentsB[suffix](l, g, t, i%each)
		return r, c + i/each*8
	}
}

// voltaFragment is wmmaFragment for Volta: each of the four groups of eight threads, which multiply separate matrices
// in mma.m8n8k4, has 8 rows and 8 columns of A and B.
func voltaFragment(name byte, typ ptx.Type, m, n int, col bool) position {
	place := func(l int) (row, col int) {
		low, high := l>>2&1, l>>3&1
		switch {
		case m == n:
			return 8 * low, 8 * high
		case m < n:
			return 0, 8*low + 16*high
		}
		return 8*low + 16*high, 0
	}
	switch name {
	case 'a':
		return func(l, g, t, i int) (int, int) {
			r, c := smallA[col](l, g, t, i%4)
			dr, _ := place(l)
			return r + dr, c + i/4*4
		}
	case 'b':
		return func(l, g, t, i int) (int, int) {
			r, c := smallB[col](l, g, t, i%4)
			_, dc := place(l)
			return r + i/4*4, c + dc
		}
	}
	return func(l, g, t, i int) (int, int) {
		r, c := smallC[typ](l, g, t, i)
		dr, dc := place(l)
		return r + dr, c + dc
	}
}

func wmma(g group) {
	g.checkWholeWarp()
	if instr := g[0].instr; instr.Has("mma") {
		g.wmmaMultiply()
	} else {
		g.wmmaMemory(instr.Has("store"))
	}
}

// wmmaSegment returns the largest size in bytes of adjacent elements in a row of memory of a lane, for a fragment of
// perLane elements.
func wmmaSegment(pos position, perLane, bits int, col bool) int {
	limit := 1
	for l := range tensorLanes {
		present := map[[2]int]bool{}
		for i := range perLane {
			r, c := pos(l, l/4, l%4, i)
			present[[2]int{choose(col, c, r), choose(col, r, c)}] = true
		}
		for pos := range present {
			n := 1
			for present[[2]int{pos[0], pos[1] + n}] {
				n++
			}
			limit = max(limit, n*bits/8)
		}
	}
	return limit
}

// wmmaMemory executes wmma.load (9.7.14.4.3) and wmma.store (9.7.14.4.4).
func (g group) wmmaMemory(store bool) {
	first := g[0]
	_, m, n, k := first.wmmaShape()
	name, typ, col := byte('c'), first.instr.Type(), first.hasModifier("col")
	rows, cols := m, n
	if !store && first.hasModifier("a") {
		name, rows, cols = 'a', m, k
	} else if !store && first.hasModifier("b") {
		name, rows, cols = 'b', k, n
	}
	registers, strideName := "d", "b"
	if store {
		registers, strideName = "b", "c"
	}
	lines, length := rows, cols
	if col {
		lines, length = cols, rows
	}
	stride := uint64(length)
	space, base := first.address("a")
	if first.hasOperand(strideName) {
		stride = first.operandValue(strideName)
	}
	for _, t := range g {
		_, address := t.address("a")
		if address != base || t.hasOperand(strideName) && t.operandValue(strideName) != stride {
			t.trap(KindMatrix, "not the address and stride of the first thread")
		}
	}
	inSpace := space
	if space == ptx.Generic {
		inSpace, _ = first.machine.resolve(base)
	}
	if inSpace == ptx.Local || space != ptx.Generic && inSpace != ptx.Global && inSpace != ptx.Shared {
		first.trap(KindMemory, "%#x is neither in global nor in shared memory", base)
	}
	bits := typ.Bits()
	o, _ := first.operand(registers)
	count := len(elements(o)) * max(bits, 32) / bits
	align := min(max(count*bits/8, 4), 16)
	pos := wmmaFragment(first.machine.dev.cfg.SM, name, typ, m, n, k, col)
	perLane := max(1, len(elements(o))*max(bits, 32)/bits) // elements of a lane
	enough := align
	for segment := wmmaSegment(pos, perLane, bits, col); segment < enough; {
		enough /= 2
	}
	memory := make([][]byte, lines)
	for i := range memory {
		rw := readAccess
		if store {
			rw = writeAccess
		}
		memory[i] = g[i].accessTolerant(space, base+uint64(i)*(stride*uint64(bits)/8), length*bits/8, align, enough, rw)
		if !store {
			memory[i] = append([]byte(nil), memory[i]...)
		}
	}
	onePart := func(int) int { return 0 }
	all := matrix{}
	if store {
		all = g.collectMatrix(registers, bits, pos, onePart)
	}
	for r := range rows {
		for c := range cols {
			line, bit := memory[choose(col, c, r)], choose(col, r, c)*bits
			switch {
			case store:
				copy(line[bit/8:], bytesOf(value{lo: all[[3]int{0, r, c}]}, bits/8))
			case bits < 8:
				all[[3]int{0, r, c}] = low(uint64(line[bit/8])>>(bit%8), bits)
			default:
				all[[3]int{0, r, c}] = valueOf(line[bit/8:][:bits/8]).lo
			}
		}
	}
	if !store {
		g.distributeMatrix(registers, bits, pos, onePart, all)
	}
}

// wmmaMultiply executes wmma.mma (9.7.14.4.5).
func (g group) wmmaMultiply() {
	first := g[0]
	_, m, n, k := first.wmmaShape()
	var types []ptx.Type
	for _, mod := range strings.Split(first.instr.Variant.Canonical(), ".") {
		if typ := ptx.TypeByName(mod); typ != ptx.NoType {
			types = append(types, typ)
		}
	}
	if len(types) == 2 {
		types = []ptx.Type{types[0], ptx.F16, ptx.F16, types[1]}
	}
	d, a, b, c := types[0], types[1], types[2], types[3]
	sm, onePart := first.machine.dev.cfg.SM, func(int) int { return 0 }
	ma := g.collectMatrix("a", a.Bits(), wmmaFragment(sm, 'a', a, m, n, k, first.instr.Slot("alayout") == "col"), onePart)
	mb := g.collectMatrix("b", b.Bits(), wmmaFragment(sm, 'b', b, m, n, k, first.instr.Slot("blayout") == "col"), onePart)
	mc := g.collectMatrix("c", c.Bits(), wmmaFragment(sm, 'c', c, m, n, k, false), onePart)
	md := matrix{}
	for row := range m {
		for col := range n {
			va, vb := make([]uint64, k), make([]uint64, k)
			for i := range k {
				va[i], vb[i] = ma[[3]int{0, row, i}], mb[[3]int{0, i, col}]
			}
			pos := [3]int{0, row, col}
			md[pos] = first.dotProduct(va, vb, mc[pos], d, a, b, c)
		}
	}
	g.distributeMatrix("d", d.Bits(), wmmaFragment(sm, 'c', d, m, n, k, false), onePart, md)
}
