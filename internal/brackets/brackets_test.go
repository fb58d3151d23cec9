package brackets

import (
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
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

func TestFields(t *testing.T) {
	if got, want := Fields(" a,, [b,c] ,\td, "), []string{"a", "[b,c]", "d"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Fields(" "); got != nil {
		t.Errorf("got %q of nothing", got)
	}
}

func TestCut(t *testing.T) {
	if a, b, ok := Cut("x[1:2]:y:z", ":"); a != "x[1:2]" || b != "y:z" || !ok {
		t.Errorf("got %q, %q, %t", a, b, ok)
	}
	if a, b, ok := Cut("x[1:2]", ":"); a != "x[1:2]" || b != "" || ok {
		t.Errorf("got %q, %q, %t", a, b, ok)
	}
}
