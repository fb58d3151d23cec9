package ptx

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// This file generates instructions to test against an assembler: every combination of a form's modifiers, and opcodes
// close to them.

// Combinations returns the opcodes of the form with every combination of its modifiers. If there are more than limit,
// it returns about limit of them, with every possible pair of modifiers in at least one of them, and all is false. The
// choice is deterministic.
func (f *Form) Combinations(limit int) (list []string, all bool) {
	choices := make([][]string, len(f.mods))
	total := 1
	for i, m := range f.mods {
		choices[i] = m.values
		if m.optional {
			choices[i] = append([]string{""}, m.values...)
		}
		total = min(total*len(choices[i]), 1<<40)
	}
	row := make([]int, len(choices))
	// together reports whether the row has joined modifiers only together.
	together := func() bool {
		for i := range row {
			if f.mods[i].joined && (row[i] == 0) != (row[i-1] == 0) {
				return false
			}
		}
		return true
	}
	add := func() {
		text := f.Op.Name
		for i, c := range row {
			if m := choices[i][c]; m != "" {
				text += "." + m
			}
		}
		list = append(list, text)
	}
	if total <= limit {
		for range total {
			if together() {
				add()
			}
			for i := len(row) - 1; i >= 0; i-- {
				if row[i]++; row[i] < len(choices[i]) {
					break
				}
				row[i] = 0
			}
		}
		return list, true
	}
	random := rand.New(rand.NewPCG(uint64(total), uint64(len(choices))))
	shuffle := func() {
		for i := range row {
			row[i] = random.IntN(len(choices[i]))
		}
	}
	seen := map[[4]int]bool{}
	addMarked := func() {
		for i := range row {
			for j := range i {
				seen[[4]int{i, row[i], j, row[j]}] = true
			}
		}
		add()
	}
	const tries = 100 // number of attempts after which a pair counts as impossible
	for i := range choices {
		for j := range i {
			for a := range choices[i] {
				for b := range choices[j] {
					for n := 0; n < tries && !seen[[4]int{i, a, j, b}]; n++ {
						shuffle()
						if row[i], row[j] = a, b; together() {
							addMarked()
						}
					}
				}
			}
		}
	}
	for len(list) < limit {
		if shuffle(); together() {
			addMarked()
		}
	}
	slices.Sort(list)
	return slices.Compact(list), false
}

// Altered returns the variant with its i-th modifier replaced by mod, which need not belong to the form. Its operands
// have the resulting types. It returns nil if the modifier is a matrix shape, which determines the number of registers,
// or if it is a repetition without a slot.
func (v *Variant) Altered(i int, mod string) *Variant {
	old := v.mods[i]
	if _, isShape := parseShape(old); isShape {
		return nil
	}
	altered := &Variant{Op: v.Op, Form: v.Form, mods: slices.Clone(v.mods), slots: slices.Clone(v.slots)}
	// Equal modifiers fill their slots in the order in which they are written.
	nth := 0
	for _, m := range v.mods[:i] {
		if m == old {
			nth++
		}
	}
	for slot, s := range v.slots {
		if s != old {
			continue
		}
		if nth--; nth < 0 {
			altered.mods[i], altered.slots[slot] = mod, mod
			altered.Text = v.Op.Name + "." + strings.Join(altered.mods, ".")
			return altered
		}
	}
	return nil // the modifier repeats an earlier modifier (repeatable)
}

// Modifiers returns the modifiers as written.
func (v *Variant) Modifiers() []string { return v.mods }

// Modifiers returns the modifiers of all forms of the instruction, sorted.
func (o *Op) Modifiers() []string {
	var list []string
	for _, f := range o.Forms() {
		for _, m := range f.mods {
			list = append(list, m.values...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Slot is a modifier of a form: a set of words with a name, or a literal word.
type Slot struct {
	Name     string   // name of the slot in the form; "" for a literal word
	Values   []string // words of which one is written
	Optional bool     // may be left out
}

// Slots returns the modifiers of the form in their order.
func (f *Form) Slots() []Slot {
	list := make([]Slot, len(f.mods))
	for i, m := range f.mods {
		list[i] = Slot{m.slot, m.values, m.optional}
	}
	return list
}
