package syntax

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUnclosedString: a string that does not end is meant to end with its line, also behind
// .file, where strings may go over several; places behind strings are right.
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
