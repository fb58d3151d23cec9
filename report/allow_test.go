package report

import (
	"strings"
	"testing"

	"gemu/driver"
	"gemu/sanitize/finding"
)

// A finding that tests expect does not count, with and without rules, unless it occurred more often or in another process.
func TestAllow(t *testing.T) {
	trap := finding.Finding{Tool: "launch", Kind: "out-of-bounds access", Message: "trap", Count: 2, Place: finding.Place{Role: "trap", Kernel: "k", File: "m.ptx", Line: 3}}
	other := trap
	other.OtherPlace = &finding.Place{Role: "write", Line: 3}
	for name, c := range map[string]struct {
		process, count int
		allowed        finding.Finding
		want           State
	}{
		"allowed":        {5, 2, trap, StateSuppressed},
		"only once":      {5, 1, trap, StateNew},
		"process":        {6, 2, trap, StateNew},
		"other place":    {5, 2, race, StateNew},
		"further places": {5, 2, other, StateNew},
	} {
		r := New(nil, 0, []*driver.ProcessReport{process(5, true, nil, trap)})
		c.allowed.Count = c.count
		r.Allow(c.process, []finding.Finding{c.allowed})
		for range 2 {
			if f := r.Findings[0]; f.State != c.want || (r.Suppressed == 1) != (c.want == StateSuppressed) {
				t.Errorf("%s: the state is %s: %+v", name, f.State, r)
			}
			r.Apply(nil, nil)
		}
	}
}

// The summary counts failed launches, and says how the program has ended.
func TestSummary(t *testing.T) {
	trap := finding.Finding{Tool: "launch", Kind: "out-of-bounds access", Message: "trap", Count: 2, Place: finding.Place{Role: "trap", Kernel: "other", File: "m.ptx", Line: 3}}
	known := trap
	known.Place.Kernel, known.Place.File = "k", "" // as a refused launch
	unjudged := trap
	unjudged.Kind = "launch not judged"
	for _, c := range []struct {
		status, signal int
		processes      []*driver.ProcessReport
		want           string
	}{
		{0, 0, []*driver.ProcessReport{process(5, true, nil, trap)}, "1 process, 4 launches of 2 kernels, 2 failed: 1 error, "},
		{0, 0, []*driver.ProcessReport{process(5, true, nil, known, unjudged)}, "1 process, 4 launches of 1 kernel, 2 failed: 2 errors, "},
		{0, 0, []*driver.ProcessReport{process(5, false, nil)}, "1 process, 2 launches of 1 kernel: 0 errors, 1 notice; no sanitizers (--sanitize), so only failed launches are errors|"},
		{5, 0, []*driver.ProcessReport{process(5, true, []string{"race"})}, "sanitizers: race; the program ended with status 5|"},
		{139, 11, []*driver.ProcessReport{process(5, true, nil)}, "are errors; the program ended by signal 11|"},
		{1, 0, nil, "looked at; the program ended with status 1|"},
	} {
		r := New([]string{"p"}, c.status, c.processes)
		r.Signal = c.signal
		if got := r.Summary() + "|"; !strings.Contains(got, c.want) {
			t.Errorf("%q is not in %q", c.want, got)
		}
	}
}
