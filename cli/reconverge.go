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

	"gemu/internal/strip"
	"gemu/interp"
	"gemu/play"
	"gemu/probe"
	"gemu/sanitize/finding"
	"gemu/trace"
)

type reconvergeCmd struct {
	launchFlags

	Policies []string     `help:"Run only these policies: some of those of gemu run --reconverge, such as stack,its:8." predictor:"reconverger" unset:"all" placeholder:"POLICY,…"`
	Show     []string     `default:"table" enum:"table,lanes" help:"Parts to print: table (counts), lanes (every step of every lane over time, a strip for each policy; in words with --plain)." placeholder:"PART"`
	CTA      trace.Ranges `name:"cta" help:"Strips: only the warps of these CTAs, by linear index in the grid, from 0, such as 0-3,7." unset:"all" placeholder:"N,…"`
	Warps    trace.Ranges `help:"Strips: only these warps of each CTA, by index, from 0, such as 0-3,7. The first four warps that begin have strips." unset:"all" placeholder:"N,…"`
	SVG      string       `name:"svg" help:"Write the strips as a picture to FILE (- for standard output, instead of the text)." placeholder:"FILE"`
	HTML     string       `name:"html" help:"Write a page with every step of each run to FILE (- for standard output, instead of the text); see docs/play.md." placeholder:"FILE"`
	JSON     string       `name:"json" help:"Write JSON to FILE (- for standard output, instead of the text)." placeholder:"FILE"`
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
	files := outputs{{"--svg", c.SVG}, {"--html", c.HTML}, {"--json", c.JSON}}
	if err := files.check(); err != nil {
		return err
	}
	policies, err := c.policies(a)
	if err != nil {
		return err
	}
	output := &reconvergeJSON{Schema: "gemu-reconverge/1", File: c.File, SameMemory: true}
	var finished *reconvergeRow
	var strips []*strip.Strip
	var recordings []play.Recording
	for _, r := range policies {
		row, err := c.measure(a, r, &strips, &recordings)
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
	groups := strip.Groups(strips)
	if !files.stdout() {
		screen := newScreen(a.stdout)
		if slices.Contains(c.Show, "table") {
			output.print(screen)
		}
		if slices.Contains(c.Show, "lanes") {
			if slices.Contains(c.Show, "table") {
				screen.printf("\n")
			}
			printStrips(a, screen, groups)
		}
		if filepath.Ext(c.File) == ".cu" && !c.Branches && !slices.ContainsFunc(output.Policies, func(r reconvergeRow) bool { return r.DivergentBranches > 0 }) {
			screen.printf("No branch diverged. The compiler may have turned branches into selections: --branches keeps them.\n")
		}
	}
	if c.SVG != "" {
		if err := writeOutput(a, c.SVG, strip.SVG(c.pictureTitle(groups), groups)); err != nil {
			return err
		}
	}
	if c.HTML != "" {
		if err := writePage(a, c.HTML, recordings); err != nil {
			return err
		}
	}
	if c.JSON != "" {
		return writeJSON(a, c.JSON, output)
	}
	return nil
}

// policies returns the policies of the flag --policies.
func (c *reconvergeCmd) policies(a *app) (list []*interp.Reconverger, err error) {
	if len(c.Policies) == 0 {
		return a.reconvergers(), nil
	}
	for i, name := range c.Policies {
		r, err := a.parseReconverger(name)
		if err != nil {
			return nil, fmt.Errorf("--policies: %w", err)
		}
		if slices.Contains(c.Policies[:i], name) {
			return nil, fmt.Errorf("--policies: %s is given twice", name)
		}
		list = append(list, r)
	}
	return list, nil
}

// wantsStrips reports whether strips are drawn.
func (c *reconvergeCmd) wantsStrips() bool { return slices.Contains(c.Show, "lanes") || c.SVG != "" }

// measure runs the kernel under a policy, from the beginning. It appends the strip of its first launch to strips, if strips are
// drawn, and its recording to recordings, if a page is written.
func (c *reconvergeCmd) measure(a *app, r *interp.Reconverger, strips *[]*strip.Strip, recordings *[]play.Recording) (*reconvergeRow, error) {
	var probes []probe.Probe
	recorder := strip.NewRecorder(strip.Options{CTAs: c.CTA, Warps: c.Warps, SourceOf: sourceOf})
	if c.wantsStrips() {
		probes = append(probes, recorder)
	}
	page, err := newPageRecorder(&c.launchFlags, trace.Filter{CTAs: c.CTA, Warps: c.Warps}, play.DefaultEvents)
	if err != nil {
		return nil, err
	}
	if c.HTML != "" {
		probes = append(probes, page)
	}
	j, err := c.open(a, dataOf(a.stderr), probes...)
	if err != nil {
		return nil, err
	}
	row := &reconvergeRow{Policy: r.Name()}
	var trap *probe.Trap
	err = j.run(a, func(l *interp.Launch) { l.Mode, l.Reconverge = interp.Vector, r })
	if list := recorder.Strips(); len(list) > 0 {
		*strips = append(*strips, list[0])
	}
	if c.HTML != "" {
		recording, err := page.close(a, r.Name())
		if err != nil {
			return nil, err
		}
		if len(recording.Base64) > 0 {
			*recordings = append(*recordings, recording)
		}
	}
	switch {
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

// pictureTitle returns the title of the picture of strips.
func (c *reconvergeCmd) pictureTitle(groups []strip.Group) string {
	if len(groups) == 0 {
		return filepath.Base(c.File)
	}
	return fmt.Sprintf("%s of %s: every step of every lane", finding.Name(groups[0].Kernel), filepath.Base(c.File))
}

// printStrips draws strips on a screen, or says them in words on an output of plain text.
func printStrips(a *app, s *screen, groups []strip.Group) {
	if a.isPlain() {
		strip.Describe(s, groups)
		return
	}
	strip.Print(s, groups, s.strips(s.width))
}

// isPlain reports whether standard output is plain text, for screen readers.
func (a *app) isPlain() bool {
	o, ok := a.stdout.(*output)
	return ok && o.plain != nil
}

// strips returns the place for strips of lanes in lines of at most width columns.
func (s *screen) strips(width int) strip.Screen {
	target := strip.Screen{Width: width, Bold: func(text string) string { return s.paint(bold, text) }}
	if s.color {
		target.Paint = func(n int, text string) string { return s.paint(blockPaints[n], text) }
	}
	return target
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
