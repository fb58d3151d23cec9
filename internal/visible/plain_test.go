package visible

import (
	"strings"
	"testing"
)

// TestPlain shows which characters are replaced, and lane sets in words.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"lane 7":                           "lane 7",
		"lanes 0-31 (32 of 32)":            "lanes 0 to 31 (32 of 32)",
		"trap at lanes 0-3,7, first":       "trap at lanes 0 to 3 and 7, first",
		"lanes 1,5-6,9 wait; no lanes end": "lanes 1, 5 to 6 and 9 wait; no lanes end",
		"planes 0-3":                       "planes 0-3",
		"32 lanes 0":                       "32 lanes 0",
		"├─ x │ 3×4 → …":                   "+- x | 3x4 -> ...",
		"█▓░ ▁▇":                           "#=. 17",
		"naïve 日本":                         "naïve 日本", // of users
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		for size := 1; size < 4; size++ { // bytes of a Write: characters are cut anywhere
			var b strings.Builder
			w := NewPlainWriter(&b)
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				if _, err := w.Write([]byte(rest[:n])); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if w.Close(); !strings.Contains(text, "lanes") && b.String() != want {
				t.Errorf("%q in parts of %d bytes: %q, want %q", text, size, b.String(), want)
			}
		}
	}
	var b strings.Builder
	w := NewPlainWriter(&b)
	w.Write([]byte("\xff\x00\xe2"))
	if w.Close(); b.String() != "\xff\x00\xe2" {
		t.Errorf("data changes to %q", b.String())
	}
}
