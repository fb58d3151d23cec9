package ptx

import (
	"slices"
	"strings"
	"testing"
)

// TestFormsOfOpcodeParts checks that FormsOf finds the form of every opcode from the whole opcode, and from each part
// that ends before a dot.
func TestFormsOfOpcodeParts(t *testing.T) {
	for _, op := range Ops() {
		for _, f := range op.Forms() {
			variants := f.Variants()
			for _, v := range variants[:min(len(variants), 20)] {
				if v.Form != f {
					continue
				}
				if list, err := FormsOf(v.Text); err != nil || strings.Contains(v.Text, ".") && !slices.Equal(list, []*Form{f}) {
					t.Errorf("%s: %d forms, %v; want the one of %s", v.Text, len(list), err, f.Syntax)
				}
				words := strings.Split(v.Text, ".")
				for n := range len(words) - 1 {
					part := strings.Join(words[:n+1], ".")
					if _, err := LookupVariant(part); n > 0 && err == nil {
						continue // the part is a whole opcode, too
					}
					if list, err := FormsOf(part); err != nil || !slices.Contains(list, f) {
						t.Errorf("%s is not among the forms of %s: %v", f.Syntax, part, err)
					}
				}
			}
		}
	}
	for opcode, want := range map[string]string{
		"ad":          "unknown instruction ad (did you mean add?)",
		"cp.async.bu": "unknown instruction cp.async.bu (did you mean .bulk?)",
		"add.rn.x32":  "unknown instruction add.rn.x32: modifier .x32 is not allowed after add.rn",
		".f32":        "unknown instruction .f32",
		"add.":        "unknown instruction add.",
	} {
		if _, err := FormsOf(opcode); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", opcode, err, want)
		}
	}
}
