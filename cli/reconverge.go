package cli

// This file is "gemu reconverge": the execution of a kernel under each reconvergence policy, side
// by side.

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"gemu/interp"
	"gemu/probe"
)

type reconvergeCmd struct {
	launchFlags

	JSON string `name:"json" help:"Write JSON to FILE (- for standard output, instead of the text)." placeholder:"FILE"`
}

// reconvergeJSON is the report of --json.
type reconvergeJSON struct {
	Schema     string          `json:"schema"`      // "gemu-reconverge/1"
	File       string          `json:"file"`        // name of the PTX file or workload, as on the command line
	Policies   []reconvergeRow `json:"policies"`    // a row for each reconvergence policy
	SameMemory bool            `json:"same_memory"` // whether all runs that finished left the same memory
}

// reconvergeRow is the result of the kernel under a policy.
type reconvergeRow struct {
	Policy string `json:"policy"`         // name of the policy
	Trap   string `json:"trap,omitempty"` // trap of the kernel, which has not finished; the counts are then 0

	WarpInstructions  int64   `json:"warp_instructions"`  // as in gemu-run
	ActiveLanesMean   float64 `json:"active_lanes_mean"`  // as in gemu-run
	DivergentBranches int64   `json:"divergent_branches"` // as in gemu-run
	Splits            int64   `json:"splits"`             // as in gemu-run
	Reconvergences    int64   `json:"reconvergences"`     // as in gemu-run

	memory [][]byte // contents of the buffers
}

func (c *reconvergeCmd) Run(a *app) error {
	if err := checkOutput(c.JSON); err != nil {
		return fmt.Errorf("--json %s: %w", c.JSON, err)
	}
	output := &reconvergeJSON{Schema: "gemu-reconverge/1", File: c.File, SameMemory: true}
	var finished *reconvergeRow
	for _, r := range a.reconvergers() {
		row, err := c.measure(a, r)
		if err != nil {
			return err
		}
		output.Policies = append(output.Policies, *row)
		switch {
		case row.Trap != "":
		case finished == nil:
			finished = row
		default:
			output.SameMemory = output.SameMemory && slices.EqualFunc(row.memory, finished.memory, bytes.Equal)
		}
	}
	if c.JSON != "-" {
		s := newScreen(a.stdout)
		output.print(s)
		if filepath.Ext(c.File) == ".cu" && !c.Branches && !slices.ContainsFunc(output.Policies, func(r reconvergeRow) bool { return r.DivergentBranches > 0 }) {
			s.printf("No branch diverged. The compiler may have turned branches into selections: --branches keeps them.\n")
		}
	}
	if c.JSON != "" {
		return writeJSON(a, c.JSON, output)
	}
	return nil
}

// measure runs the kernel under a policy, from the beginning.
func (c *reconvergeCmd) measure(a *app, r *interp.Reconverger) (*reconvergeRow, error) {
	j, err := c.open(a, dataOf(a.stderr))
	if err != nil {
		return nil, err
	}
	row := &reconvergeRow{Policy: r.Name()}
	var trap *probe.Trap
	switch err := j.run(a, func(l *interp.Launch) { l.Mode, l.Reconverge = interp.Vector, r }); {
	case errors.As(err, &trap):
		row.Trap = trap.Error()
		return row, nil
	case err != nil:
		return nil, err
	}
	t := j.total()
	row.WarpInstructions, row.ActiveLanesMean, row.DivergentBranches = t.WarpInstructions, t.ActiveLanesMean(), t.DivergentBranches
	row.Splits, row.Reconvergences = t.Splits, t.Reconvergences
	for _, name := range slices.Sorted(maps.Keys(j.arguments.Bindings)) {
		row.memory = append(row.memory, j.arguments.Bindings[name].Bytes())
	}
	return row, nil
}

func (r *reconvergeJSON) print(s *screen) {
	s.printf("%s\n", s.paint(bold, fitted("policy", 10)+fitted("instructions", -14)+fitted("active lanes", -14)+fitted("divergent", -12)+fitted("splits", -12)+fitted("reconverged", -13)))
	for _, p := range r.Policies {
		if p.Trap != "" {
			s.printf("%s  %s\n", fitted(p.Policy, 10), p.Trap)
			continue
		}
		s.printf("%s%s%s%s%s%s\n", fitted(p.Policy, 10), fitted(countText(p.WarpInstructions), -14), fitted(fmt.Sprintf("%.2f", p.ActiveLanesMean), -14),
			fitted(countText(p.DivergentBranches), -12), fitted(countText(p.Splits), -12), fitted(countText(p.Reconvergences), -13))
	}
	s.printf(`
instructions: executed by warps in the whole launch; active lanes: their mean number of lanes;
divergent: branches at which the lanes of a warp took different paths; splits: warp splits that were
made; reconverged: how often warp splits became one again. The fewer instructions, the more lanes ran
together. Waiting loops count, too, and the order of the lanes is not counted: see gemu trace.
`)
	if !r.SameMemory {
		s.printf("The buffers differ: the result depends on the order in which lanes execute.\n")
	}
}
