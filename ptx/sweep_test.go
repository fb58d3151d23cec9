package ptx

import (
	"slices"
	"strings"
	"testing"
)

// TestCombinationsHavePairs checks a sample of a form's combinations: it has only valid combinations, none twice, and every
// pair of modifiers that any combination has.
func TestCombinationsHavePairs(t *testing.T) {
	const sampleLimit = 20
	// pairs returns the pairs of modifiers at two places of the opcodes; "" means no modifier.
	pairs := func(f *Form, opcodes []string) map[[4]any]bool {
		set := map[[4]any]bool{}
		for _, o := range opcodes {
			slots, _, ok := f.match(strings.Split(o, ".")[1:])
			if !ok {
				t.Fatalf("%s is no form of %s", o, f.Syntax)
			}
			for i := range slots {
				for j := range i {
					set[[4]any{i, slots[i], j, slots[j]}] = true
				}
			}
		}
		return set
	}
	for _, op := range Ops() {
		for _, f := range op.Forms() {
			every, all := f.Combinations(2000)
			sample, whole := f.Combinations(sampleLimit)
			if !all || whole {
				continue
			}
			for i, o := range sample {
				if !slices.Contains(every, o) || slices.Contains(sample[:i], o) {
					t.Errorf("%s: %s is not among all combinations, or occurs twice", f.Syntax, o)
				}
			}
			has := pairs(f, sample)
			for p := range pairs(f, every) {
				if !has[p] {
					t.Errorf("%s: no sample has %q at %d and %q at %d", f.Syntax, p[1], p[0], p[3], p[2])
				}
			}
		}
	}
}

// TestOpcodeWithAlteredModifier shows that the opcode with a replaced modifier is an opcode of the table, or nil if the
// modifier is not allowed there.
func TestOpcodeWithAlteredModifier(t *testing.T) {
	for _, c := range []struct {
		opcode string
		i      int // modifier
		mod    string
		want   string // "" for nil
		slot   string
	}{
		{"atom.global.min.u32", 1, "max", "atom.global.max.u32", "op"},
		{"add.cc.u32", 1, "f64", "add.cc.f64", "type"},
		{"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 5, "f16", "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f32", "dtype"},
		{"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 7, "u8", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.u8.f32", "btype"},
		{"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 8, "f16", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f16", "ctype"},
		{"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 2, "m16n8k16", "", ""},
	} {
		v, err := LookupVariant(c.opcode)
		if err != nil {
			t.Fatal(err)
		}
		w := v.Altered(c.i, c.mod)
		switch {
		case w == nil && c.want == "":
		case w == nil || w.Text != c.want || w.Slot(c.slot) != c.mod:
			t.Errorf("%s with .%s as modifier %d: got %v, want %s", c.opcode, c.mod, c.i, w, c.want)
		}
	}
}
