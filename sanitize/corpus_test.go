package sanitize_test

import (
	"os"
	"strings"
	"testing"

	"gemu/internal/corpus"
	"gemu/interp"
	"gemu/sanitize/barriers"
	"gemu/sanitize/bounds"
	"gemu/sanitize/finding"
)

// explained are the kernels of the test data in which something is found, and why it is there.
var explained = map[string]string{
	"control/barrier.ptx leave_early":    "goes past a barrier that others of the warp wait at",
	"control/barrier_early.ptx kinds":    "arrives at a barrier that takes two warps, alone",
	"control/clusters_async.ptx reduced": "is left with the bytes that nobody sends in a cluster of one",
	"good/form.ptx good":                 "has all its threads make one mbarrier",
	"insn/cp_async.ptx groups":           "reads what has not come yet, to see that it has not",
	"insn/mbarrier.ptx transactions":     "looks at a phase that stays incomplete",
	"insn/shfl_idle.ptx ended":           "takes values of lanes that have exited",
}

// TestCorpus: of all programs there are, nothing is found in any but those that are wrong on
// purpose.
func TestCorpus(t *testing.T) {
	list, err := corpus.Programs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, p := range list {
		name := p.File + " " + p.Name
		if p.Width != 32 || strings.HasPrefix(p.File, "insn/") && seen[name] {
			continue
		}
		seen[name] = true
		var log finding.Log
		tools := []interp.Probe{bounds.New(&log), barriers.New(&log)}
		p.Run(func(l *interp.Launch) { l.Mode, l.Probes = interp.Vector, tools })
		if found := log.Findings(); len(found) > 0 && explained[name] == "" {
			t.Errorf("%s is not clean", p)
			finding.Print(os.Stderr, found, 3)
		}
	}
}
