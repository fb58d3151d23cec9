package sanitize_test

import (
	"slices"
	"strings"
	"testing"

	"gemu/internal/corpus"
	"gemu/internal/part"
	"gemu/interp"
	"gemu/sanitize"
	"gemu/sanitize/barriers"
	"gemu/sanitize/finding"
	"gemu/sanitize/outcome"
	"gemu/sanitize/race"
	"gemu/sanitize/validity"
)

// explained lists the programs of the test data with findings, by tool, and the reason. A program is a file, or
// a kernel of it.
var explained = map[string]map[string]string{
	barriers.Name: {
		"control/barrier.ptx leave_early":    "goes past a barrier that others of the warp wait at",
		"control/barrier_early.ptx away":     "has lanes exit while others of the warp wait",
		"control/barrier_early.ptx stay":     "has lanes exit while others of the warp wait",
		"control/exit.ptx exit_barrier":      "has lanes exit before a barrier",
		"control/barrier_early.ptx kinds":    "arrives at a barrier that takes two warps, alone",
		"control/clusters_async.ptx reduced": "is left with the bytes that nobody sends in a cluster of one",
		"good/form.ptx good":                 "has all its threads make one mbarrier",
		"insn/cp_async.ptx groups":           "reads what has not come yet, to see that it has not",
		"insn/mbarrier.ptx transactions":     "looks at a phase that stays incomplete",
		"insn/mbarrier_lanes.ptx":            "reads the states of phases that stay incomplete",
		"insn/shfl_idle.ptx ended":           "takes values of lanes that have exited",
	},
	validity.Name: { // registers and shared memory need not be zero: no manual says so
		"action/sum.ptx":                      "adds up the words of 64 threads, and runs with 32 here",
		"good/form.ptx":                       "sets none of its registers: it is about what is PTX",
		"good/shapes.ptx":                     "sets none of its registers: it is about what is PTX",
		"control/barrier.ptx":                 "bar.cta.red.or.pred %q, 5, %q, which is about its spelling",
		"control/static_functions.ptx arrays": "reads elements of a local variable that only some lanes have written",
		"insn/address_wrap.ptx":               "red.shared.add on a word that is not set to zero",
	},
}

// TestNoFindingsInTestPrograms checks that tools find nothing in any program of the test data, except in deliberately
// wrong ones. All run in vector mode with warps of 32 lanes, and a part of them as written, watched by init: barriers
// written for 32 lanes need not suit 64. Races are left out: tests of instructions let many threads write one word (but
// see TestCompiledKernelsHaveNoRaces).
func TestNoFindingsInTestPrograms(t *testing.T) {
	part.SkipShort(t)
	var tools []*sanitize.Tool
	for _, tool := range sanitize.Tools {
		if tool.Name != race.Name {
			tools = append(tools, tool)
		}
	}
	only, err := sanitize.Parse(validity.Name)
	if err != nil {
		t.Fatal(err)
	}
	list, err := corpus.Programs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	clean := func(p *corpus.Program, tools []*sanitize.Tool, prepare func(l *interp.Launch)) {
		t.Helper()
		s := sanitize.New(tools, sanitize.Options{})
		o := p.Run(func(l *interp.Launch) {
			l.Probes = s.Probes
			prepare(l)
		})
		fails, reported := o.Err != nil, slices.ContainsFunc(s.Findings(), func(f finding.Finding) bool { return f.Tool == outcome.Name })
		if fails != reported && s.Coverage().Judged > 0 { // a refused launch has no events
			t.Errorf("%s: the launch ended by %v, and a finding says that it failed: %t", p, o.Err, reported)
		}
		found := slices.DeleteFunc(s.Findings(), func(f finding.Finding) bool {
			of := explained[f.Tool]
			return f.Tool == outcome.Name || of[p.File] != "" || of[p.File+" "+p.Name] != ""
		})
		if len(found) > 0 {
			var b strings.Builder
			finding.Print(&b, found, nil, 3)
			t.Errorf("%s is not clean:\n%s", p, b.String())
		}
	}
	isTried := part.Share(t, 1024, 64, 1)
	seen := map[string]bool{}
	for i, p := range list {
		if name := p.File + " " + p.Name; p.Width == 32 && !(strings.HasPrefix(p.File, "insn/") && seen[name]) {
			seen[name] = true
			clean(p, tools, func(l *interp.Launch) { l.Mode = interp.Vector })
		}
		if isTried(i) {
			clean(p, only, func(*interp.Launch) {})
		}
	}
}
