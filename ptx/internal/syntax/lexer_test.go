package syntax

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUnclosedString checks that an unclosed string ends with its line, also after .file, where strings may span
// several lines, and that places after strings are right.
func TestUnclosedString(t *testing.T) {
	for src, want := range map[string][]Pos{
		".version 7.8\n.target sm_80\n.file 1 \"a\nb\"\n.file 2 \"c.cuh;\n.global .u32 x\n.version": {{5, 9}, {7, 9}},
		".version 7.8\n.target sm_80\n.file 1 \"a\\\nb\" ?\n":                                       {{4, 4}},
	} {
		_, errs := Parse("s.ptx", src)
		var got []Pos
		for _, e := range errs {
			got = append(got, e.Pos)
		}
		if d := cmp.Diff(want, slices.Compact(got)); d != "" {
			t.Errorf("%q (-want +got):\n%s\n%v", src, d, errs)
		}
	}
}

// TestUnexpectedCharacters checks that messages quote invalid input as written: a character of any number of bytes, or a
// byte that is not valid UTF-8.
func TestUnexpectedCharacters(t *testing.T) {
	for src, want := range map[string]string{
		".version 7.8\n é":           "2:2: unexpected character 'é'",
		".version 7.8\n \xe9":        "2:2: unexpected byte 0xe9",
		".version 7.8\n \x03":        `2:2: unexpected character '\x03'`,
		"\ufeff.version 7.8\n":       `1:1: unexpected character '\ufeff'`,
		"\xff\xfe.\x00v\x00e\x00r":   "1:1: unexpected byte 0xff",
		".version 7.8\n\ufffd\ufffd": "2:1: unexpected character '\ufffd'",
	} {
		_, errs := Parse("s.ptx", src)
		if len(errs) == 0 {
			t.Errorf("%q: no error", src)
		} else if got := errs[0].Pos.String() + ": " + errs[0].Msg; got != want {
			t.Errorf("%q: %s, want %s", src, got, want)
		}
	}
}
