package oracle

// This file executes spcompress and spdecompress (manual of PTX 9.4, 9.7.10.30 and 9.7.10.31), and the compression of
// tcgen05.ld.spcompress (9.7.18.8.3).

import (
	"fmt"
	"slices"
	"strings"

	"gemu/ptx"
)

// fields cuts registers into fields of the given number of bits.
func fields(words []uint64, bits int) (list []uint64) {
	for _, w := range words {
		for shift := 0; shift < 32; shift += bits {
			list = append(list, low(w>>shift, bits))
		}
	}
	return list
}

// joined packs fields into n registers; unused bits are 0.
func joined(list []uint64, bits, n int) []uint64 {
	words := make([]uint64, n)
	for i, v := range list {
		words[i/(32/bits)] |= v << (i % (32 / bits) * bits)
	}
	return words
}

// words reads the registers of a vector.
func (t *thread) words(name string) (list []uint64) {
	o, _ := t.operand(name)
	for _, e := range elements(o) {
		list = append(list, t.read(e, ptx.B32).lo)
	}
	return list
}

// putWords writes fields to the registers of a vector.
func (t *thread) putWords(name string, list []uint64, bits int) {
	o, _ := t.operand(name)
	to := elements(o)
	for i, w := range joined(list, bits, len(to)) {
		t.write(to[i], ptx.B32, value{lo: w})
	}
}

// sparseBits and indexBits return the sizes that the qualifiers specify.
func (t *thread) sparseBits() int { return choose(t.hasModifier("b16"), 16, 8) }
func (t *thread) indexBits() int  { return choose(t.hasModifier("b4"), 4, 2) }

// selection is the rule by which spcompress selects elements of a type.
type selection struct {
	typ      ptx.Type
	min, abs bool
}

// selectionOf decodes a sparsity descriptor (table 38).
func (t *thread) selectionOf(desc uint64) selection {
	types := map[uint64]ptx.Type{0: ptx.U8, 1: ptx.S8, 2: ptx.E5M2, 3: ptx.E4M3, 4: ptx.E3M2, 5: ptx.E2M3}
	if t.hasModifier("b16") {
		types = map[uint64]ptx.Type{0: ptx.F16, 1: ptx.BF16}
	}
	typ, ok := types[desc>>2%8]
	if !ok || desc >= 1<<5 {
		t.trap(KindMatrix, "sparsity descriptor %#x", desc)
	}
	return selection{typ, desc%4 >= 2, desc%2 == 1}
}

// number returns the value of an element, or its magnitude.
func (s selection) number(v uint64) (n number) {
	switch table := tables[s.typ]; {
	case table != nil:
		n = table.numbers[v%uint64(len(table.numbers))]
	case s.typ == ptx.U8 || s.typ == ptx.S8:
		n = fromInt(integer(v, 8, s.typ == ptx.S8))
	default:
		n = formatOf(s.typ).decode(v)
	}
	if s.abs {
		n.neg = false
	}
	return n
}

// before returns -1 if x is selected before y, 1 if after, 0 if they are equal.
func (s selection) before(x, y uint64) int {
	a, b := s.number(x), s.number(y)
	switch {
	case a.class == notANumber || b.class == notANumber:
		return int(bit(b.class == notANumber)) - int(bit(a.class == notANumber))
	case a.class == zero && b.class == zero:
		return choose(s.min, -1, 1) * (int(bit(a.neg)) - int(bit(b.neg)))
	}
	return choose(s.min, 1, -1) * order(a, b)
}

// compressed returns two of each four elements, in their order, with their indices. The manual does not specify the
// choice among equal elements, and among three NaNs: here the first elements are chosen.
func (s selection) compressed(all []uint64) (kept, indices []uint64) {
	for ; len(all) > 0; all = all[4:] {
		selected := []int{0, 1, 2, 3}
		slices.SortStableFunc(selected, func(i, j int) int { return s.before(all[i], all[j]) })
		selected = selected[:2]
		slices.Sort(selected)
		for _, i := range selected {
			kept, indices = append(kept, all[i]), append(indices, uint64(i))
		}
	}
	return kept, indices
}

func spcompress(t *thread) {
	s := t.selectionOf(t.operandValue("b"))
	kept, indices := s.compressed(fields(t.words("a"), t.sparseBits()))
	t.putWords("d", indices, t.indexBits())
	t.putWords("p", kept, t.sparseBits())
}

// spdecompress: an index beyond its sequence traps; the manual leaves its meaning to implementations.
func spdecompress(t *thread) {
	var from, to int
	for _, mod := range strings.Split(t.instr.Text, ".") {
		if n, err := fmt.Sscanf(mod, "sp::%d:%d", &from, &to); n == 2 && err == nil {
			break
		}
	}
	indices, kept := fields(t.words("a"), t.indexBits()), fields(t.words("b"), t.sparseBits())
	d, _ := t.operand("d")
	data := make([]uint64, len(elements(d))*32/t.sparseBits())
	for n := 0; n < len(data)/to; n++ {
		for s := range from {
			i := indices[n*from+s]
			if i >= uint64(to) {
				t.trap(KindMatrix, "index %d of %d", i, to)
			}
			data[n*to+int(i)] = kept[n*from+s]
		}
	}
	t.putWords("d", data, t.sparseBits())
}
