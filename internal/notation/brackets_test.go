package notation

import (
	"slices"
	"testing"
)

// TestSplitOutsideBrackets shows that commas within brackets do not split.
func TestSplitOutsideBrackets(t *testing.T) {
	for s, want := range map[string][]string{
		"":                    {""},
		"a, b":                {"a", "b"},
		"[a, b], {c, (d, e)}": {"[a, b]", "{c, (d, e)}"},
		"v<1, 2>, x":          {"v<1, 2>", "x"},
		"a, , b":              {"a", "", "b"},
		"(a, b":               {"(a, b"},
	} {
		if got := Split(s, ", "); !slices.Equal(got, want) {
			t.Errorf("Split(%q) is %q, want %q", s, got, want)
		}
	}
}

// TestFieldsOutsideBrackets shows that spaces and empty fields are dropped.
func TestFieldsOutsideBrackets(t *testing.T) {
	if got, want := Fields(" a,, [b,c] ,\td, "), []string{"a", "[b,c]", "d"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Fields(" "); got != nil {
		t.Errorf("got %q of nothing", got)
	}
}

// TestCutOutsideBrackets shows that a separator within brackets does not count.
func TestCutOutsideBrackets(t *testing.T) {
	if a, b, ok := Cut("x[1:2]:y:z", ":"); a != "x[1:2]" || b != "y:z" || !ok {
		t.Errorf("got %q, %q, %t", a, b, ok)
	}
	if a, b, ok := Cut("x[1:2]", ":"); a != "x[1:2]" || b != "" || ok {
		t.Errorf("got %q, %q, %t", a, b, ok)
	}
}
