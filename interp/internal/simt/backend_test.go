package simt_test

import (
	"fmt"
	"strings"
	"testing"

	"gemu/internal/corpus"
	"gemu/interp"
	"gemu/interp/internal/simt"
)

// TestBackends: on a backend that has few instructions, and hands back the others, all
// programs do and count the same as on the portable one.
func TestBackends(t *testing.T) {
	programs, err := corpus.Programs("../../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range programs {
		if testing.Short() && !strings.HasPrefix(p.File, "control/") {
			continue
		}
		for _, mode := range []interp.Mode{interp.Vector, interp.Affine} {
			outcome := func() string {
				o := p.Run(func(l *interp.Launch) { l.Mode = mode })
				s := fmt.Sprintf("memory %#x, error %v", o.Memory, o.Err)
				for _, r := range o.Results {
					s += fmt.Sprintf(", %+v", r.Counts)
				}
				return s
			}
			want, got := outcome(), ""
			simt.WithFew(func() { got = outcome() })
			if got != want {
				t.Errorf("%v, %v mode: with few instructions\n%s, portable\n%s", p, mode, got, want)
			}
			n++
		}
	}
	if n < 300 || simt.FewExecuted < 1e5 {
		t.Errorf("only %d programs, in which it has executed %d instructions", n, simt.FewExecuted)
	}
}
