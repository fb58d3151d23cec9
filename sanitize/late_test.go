package sanitize_test

import (
	"strings"
	"testing"

	"gemu/internal/corpus"
	"gemu/internal/part"
	"gemu/interp"
	"gemu/sanitize"
	"gemu/sanitize/finding"
)

// TestEnginesFindTheSame compares the findings on the native engine, which executes most loads without an exit for a sanitizer,
// with those on the portable engine: of each sanitizer, and of all together, in their order, with their counts and values.
func TestEnginesFindTheSame(t *testing.T) {
	part.SkipShort(t)
	if !interp.Native.Available() {
		t.Skip("this host has no native engine")
	}
	list, err := corpus.Programs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := sanitize.Parse("all")
	if err != nil {
		t.Fatal(err)
	}
	sets := [][]*sanitize.Tool{tools}
	for _, tool := range tools {
		sets = append(sets, []*sanitize.Tool{tool})
	}
	isTried := part.Share(t, 48, 48, 1)
	findings := 0
	for i, p := range list {
		if p.Width != 32 || !isTried(i) && !strings.HasPrefix(p.File, "sanitize/") {
			continue
		}
		for _, set := range sets {
			found := func(engine interp.Engine) string {
				s := sanitize.New(set, sanitize.Options{})
				p.Run(func(l *interp.Launch) { l.Mode, l.Engine, l.Probes = interp.Vector, engine, s.Probes })
				s.Finish()
				var b strings.Builder
				finding.Print(&b, s.Findings(), nil, 0)
				findings += len(s.Findings())
				return b.String()
			}
			if want, got := found(interp.Portable), found(interp.Native); want != got {
				t.Errorf("%s: the native engine found\n%s\nthe portable engine\n%s", p, got, want)
			}
		}
	}
	if t.Logf("%d findings", findings); findings < 100 {
		t.Errorf("only %d findings", findings)
	}
}
