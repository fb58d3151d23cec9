package oracle

// This file has sparse matrices A (manual 9.7.14.6).

import "gemu/ptx"

// sparsePlace returns the place of element i of a lane's fragment of A, as far as the shape decides it (manual
// 9.7.14.6.2): its row, the first column of its chunk, and its number among the stored elements of the chunk.
type sparsePlace func(g, t, i int) (row, first, nth int)

var fragmentsSparse = map[string]sparsePlace{
	"m16n8k16 16": func(g, t, i int) (int, int, int) { return choose(i < 2, g, g+8), t * 4, i % 2 },
	"m16n8k32 16": func(g, t, i int) (int, int, int) {
		return choose(i < 2 || 4 <= i && i < 6, g, g+8), t*4 + choose(i < 4, 0, 16), i % 2
	},
	"m16n8k8 32": func(g, t, i int) (int, int, int) { return choose(i == 0, g, g+8), t * 2, 0 },
	"m16n8k16 32": func(g, t, i int) (int, int, int) {
		return choose(i == 0 || i == 2, g, g+8), t*2 + choose(i < 2, 0, 8), 0
	},
	"m16n8k32 8": func(g, t, i int) (int, int, int) { return choose(i < 4, g, g+8), t*8 + i%4/2*4, i % 2 },
	"m16n8k64 8": func(g, t, i int) (int, int, int) {
		return choose(i < 4 || 8 <= i && i < 12, g, g+8), t*8 + i%4/2*4 + choose(i < 8, 0, 32), i % 2
	},
	"m16n8k64 4": func(g, t, i int) (int, int, int) { return choose(i < 8, g, g+8), t*16 + i%8/4*8, i % 4 },
	"m16n8k128 4": func(g, t, i int) (int, int, int) {
		return choose(i < 8 || 16 <= i && i < 24, g, g+8), t*16 + i%8/4*8 + choose(i < 16, 0, 64), i % 4
	},
}

// Add the fragments of B that dense matrices do not have.
func init() {
	fragmentsB["m16n8k32 16"] = func(l, g, t, i int) (int, int) { return t*2 + i&1 + i/2*8, g }
	fragmentsB["m16n8k16 32"] = func(l, g, t, i int) (int, int) { return t + 4*i, g }
	fragmentsB["m16n8k64 8"] = func(l, g, t, i int) (int, int) { return t*4 + i&3 + i/4*16, g }
	fragmentsB["m16n8k128 4"] = func(l, g, t, i int) (int, int) { return t*8 + i&7 + i/8*32, g }
}

// sparseRow has the stored elements of a row of A, with their columns, in the order of chunks.
type sparseRow struct {
	cols   []int
	values []uint64
}

// sparseRows collects a sparse A of m rows and k columns.
func (g group) sparseRows(key string, typ ptx.Type, bits, m, k int) []sparseRow {
	chunk := 4
	if typ == ptx.TF32 {
		chunk = 2
	} else if bits == 4 {
		chunk = 8
	}
	type place struct{ row, first, nth int }
	selected := map[place]uint64{}
	perUnit := 32 / bits
	for lane, t := range g {
		o, _ := t.operand("a")
		for r, e := range elements(o) {
			for i := range perUnit {
				row, first, nth := fragmentsSparse[key](lane>>2, lane%4, r*perUnit+i)
				selected[place{row, first, nth}] = low(t.read(e, ptx.B32).lo>>(i*bits), bits)
			}
		}
	}
	selector := int(g[0].operandValue("f"))
	sharing := k / chunk / 4 // threads of four that have metadata
	if selector >= 4/sharing {
		g[0].trap(KindMatrix, "sparsity selector %d", selector)
	}
	rows := make([]sparseRow, m)
	for row := range rows {
		for first := 0; first < k; first += chunk {
			lane, shift, n := row%8*4, 0, first/chunk
			switch {
			case bits >= 16:
				shift = row/8*16 + n%4*4
				lane += choose(sharing == 1, selector, 2*selector+n/4)
			default:
				shift = n % 8 * 4
				lane += row/8 + choose(sharing == 2, 2*selector, n/8*2)
			}
			meta := g[lane].operandValue("e") >> shift & 15
			for nth, index := range g[lane].indices(meta, chunk) {
				rows[row].cols = append(rows[row].cols, first+index)
				rows[row].values = append(rows[row].values, selected[place{row, first, nth}])
			}
		}
	}
	return rows
}

// indices decodes the metadata of a chunk (9.7.14.6.1).
func (t *thread) indices(meta uint64, chunk int) []int {
	ordered := map[uint64]bool{0b0100: true, 0b1000: true, 0b1001: true, 0b1100: true, 0b1101: true, 0b1110: true}
	a, b := int(meta&3), int(meta>>2)
	bad := a == b || t.instr.Slot("sp") == "sp::ordered_metadata" && !ordered[meta]
	if chunk == 2 {
		bad = meta != 0b0100 && meta != 0b1110
	}
	if bad {
		t.trap(KindMatrix, "metadata %#x", meta)
	}
	switch chunk {
	case 2:
		return []int{choose(meta == 0b1110, 1, 0)}
	case 4:
		return []int{a, b}
	}
	return []int{2 * a, 2*a + 1, 2 * b, 2*b + 1}
}
