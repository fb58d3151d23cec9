package race

import (
	"strings"
	"testing"

	"gemu/internal/corpus"
	"gemu/internal/part"
	"gemu/interp"
	"gemu/probe"
	"gemu/sanitize/finding"
)

// TestDeferredRecordingFindsTheSame compares deferred with immediate recording over all programs of the test data; both
// must find the same. In most of the programs, threads race with each other. The number of bytes in a finding may
// differ: a word with a single-byte access is reported by bytes from then on, unless a barrier has cleared it.
func TestDeferredRecordingFindsTheSame(t *testing.T) {
	part.SkipShort(t)
	list, err := corpus.Programs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	isTried := part.Share(t, 128, 16, 1)
	races := 0
	for i, p := range list {
		if !isTried(i) {
			continue
		}
		found := func(eager bool) string {
			var log finding.Log
			tool := New(&log, 0)
			tool.eager = eager
			p.Run(func(l *interp.Launch) { l.Mode, l.Probes = interp.Vector, []probe.Probe{tool} })
			list := log.Findings()
			for i := range list {
				f := &list[i]
				f.Count, f.Memory.Bytes, f.Place.Value, f.OtherPlace.Value = 0, 0, "", ""
			}
			var b strings.Builder
			finding.Print(&b, list, nil, 0)
			return b.String()
		}
		put, noted := found(false), found(true)
		if put != noted {
			t.Errorf("%s: found\n%s\nand noted at once\n%s", p, put, noted)
		}
		if put != "" {
			races++
		}
	}
	t.Logf("something in %d programs", races)
}
