package visible

import (
	"strings"
	"testing"
)

// texts has texts and their visible forms.
var texts = []struct{ text, want string }{
	{"", ""},
	{"plain\ttext, äöü 日本 🙂\n", "plain\ttext, äöü 日本 🙂\n"},
	{"\x1b[2J\x1b]0;title\a", `\x1b[2J\x1b]0;title\x07`},
	{"over\rwritten", `over\x0dwritten`},
	{"line\r\n", "line\r\n"},
	{"back\b\b\x7f\x00", `back\x08\x08\x7f\x00`},
	{"C1 \u009b31m", `C1 \u009b31m`},
	{"bytes \x9b\xff", `bytes \x9b\xff`},
	{"right to left \u202e \u2066", `right to left \u202e \u2066`},
	{"\U000e0041", `\U000e0041`},
	{"ends \xe2\x82", `ends \xe2\x82`},
	{"\ufffd", "\ufffd"},
	{"\x1b[1mbold\x1b[0m", `\x1b[1mbold\x1b[0m`},
	{"end\r", `end\x0d`},
	{"end\x1b", `end\x1b`},
}

// TestControlCharactersInText shows how control characters and invalid text are shown.
func TestControlCharactersInText(t *testing.T) {
	for _, c := range texts {
		if got := Text(c.text); got != c.want {
			t.Errorf("%q is shown as %q, want %q", c.text, got, c.want)
		}
	}
}

// TestControlCharactersInPieces writes each text in pieces of every size.
func TestControlCharactersInPieces(t *testing.T) {
	for _, c := range texts {
		for size := 1; size <= len(c.text); size++ {
			var b strings.Builder
			w := NewWriter(&b)
			for rest := c.text; rest != ""; {
				n := min(size, len(rest))
				if n, err := w.Write([]byte(rest[:n])); n != min(size, len(rest)) || err != nil {
					t.Fatal(n, err)
				}
				rest = rest[n:]
			}
			w.Close()
			if b.String() != c.want {
				t.Errorf("%q in pieces of %d is shown as %q, want %q", c.text, size, b.String(), c.want)
			}
		}
	}
}

// TestKeptSequences: only the sequences in keep are unchanged.
func TestKeptSequences(t *testing.T) {
	const text = "\x1b[1mbold\x1b[0m \x1b[31mred\x1b[0m\x1b[1"
	for size := 1; size <= len(text); size++ {
		var b strings.Builder
		w := NewWriter(&b, "\x1b[1m", "\x1b[0m")
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			w.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		w.Close()
		if want := "\x1b[1mbold\x1b[0m \\x1b[31mred\x1b[0m\\x1b\\x5b\\x31"; b.String() != want {
			t.Errorf("in pieces of %d: %q, want %q", size, b.String(), want)
		}
	}
}
