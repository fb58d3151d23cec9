package cli

// This file is "gemu bench --watch", which measures the cost of observing launches.

import (
	"fmt"
	"io"
	"math"
	"time"

	"gemu/interp"
	"gemu/kernels"
	"gemu/probe"
	"gemu/profile"
	"gemu/record"
	"gemu/sanitize"
	"gemu/trace"
)

// watchJSON is the report of --watch --json.
type watchJSON struct {
	Schema    string     `json:"schema"`    // "gemu-bench-watch/1"
	Repeat    int        `json:"repeat"`    // number of runs with each observer; the median counts
	Workers   int        `json:"workers"`   // number of host threads; 0: all
	Engine    string     `json:"engine"`    // the engine: "portable" or "native"
	Workloads []watchRow `json:"workloads"` // a row for each workload

	Geomean []watchCost `json:"geometric_mean"`                   // geometric means over all workloads
	Classic []watchCost `json:"geometric_mean_classic,omitempty"` // geometric means over the classic workloads, if there are others
	Current []watchCost `json:"geometric_mean_current,omitempty"` // geometric means over the workloads of current programs, if there are others
}

// watchRow is the result of a workload.
type watchRow struct {
	Name    string      `json:"name"`    // name of the workload
	Size    int         `json:"size"`    // size of its input
	Current bool        `json:"current"` // a workload of current programs: tensor cores, asynchronous copies, narrow types
	Seconds float64     `json:"seconds"` // time of its launches in vector mode without an observer
	Costs   []watchCost `json:"costs"`   // the cost of each observer
}

// watchCost is the cost of an observer.
type watchCost struct {
	Observer string  `json:"observer"` // a sanitizer, "sanitizers" for all of them together, "profile", "trace", "record" or "structure"
	Times    float64 `json:"times"`    // the time with the observer, divided by the time without
}

// observer is a set of probes, or the count of structure, whose cost is measured.
type observer struct {
	name string
	// start returns the probes of a run, and finish, which completes their reports and files; nil if there is nothing to complete.
	start     func() (probes []probe.Probe, finish func() error, err error)
	structure bool // the machine counts the structure of values; there are no probes
}

// nothing is the observer that watches nothing.
var nothing = observer{name: "", start: func() ([]probe.Probe, func() error, error) { return nil, nil, nil }}

// observers lists the observers: each sanitizer that "all" stands for, all of them together, and the probes of other commands.
func (a *app) observers() ([]observer, error) {
	tools, err := sanitize.Parse("all", a.Sanitizers...)
	if err != nil {
		return nil, err
	}
	sanitizers := func(name string, tools ...*sanitize.Tool) observer {
		return observer{name: name, start: func() ([]probe.Probe, func() error, error) {
			s := sanitize.New(tools, sanitize.Options{})
			return s.Probes, func() error { s.Finish(); return nil }, nil
		}}
	}
	var list []observer
	for _, t := range tools {
		list = append(list, sanitizers(t.Name, t))
	}
	return append(list,
		sanitizers("sanitizers", tools...),
		observer{name: "profile", start: func() ([]probe.Probe, func() error, error) {
			p := profile.New()
			return []probe.Probe{p}, func() error { p.Profile(); return nil }, nil
		}},
		observer{name: "trace", start: func() ([]probe.Probe, func() error, error) {
			w, err := trace.NewWriter(io.Discard, trace.Binary, &trace.Header{Version: trace.Version})
			if err != nil {
				return nil, nil, err
			}
			r := trace.NewRecorder(w, trace.Filter{})
			return []probe.Probe{r}, r.Close, nil
		}},
		observer{name: "record", start: func() ([]probe.Probe, func() error, error) {
			r, err := record.NewRecorder(io.Discard, record.Options{MaxEvents: -1, MaxBytes: math.MaxInt64})
			if err != nil {
				return nil, nil, err
			}
			return []probe.Probe{r}, r.Close, nil
		}},
		observer{name: "structure", start: nothing.start, structure: true},
	), nil
}

// runWatch measures each workload without an observer and with each.
func (c *benchCmd) runWatch(a *app, list []*kernels.Workload) error {
	observers, err := a.observers()
	if err != nil {
		return err
	}
	s, quiet := newScreen(a.stdout), c.JSON == "-"
	if !quiet {
		text := fitted("workload", 16)
		for _, o := range observers {
			text += fitted(o.name, -watchWidth)
		}
		s.printf("%s\n", s.paint(bold, text))
	}
	output := &watchJSON{Schema: "gemu-bench-watch/1", Repeat: c.Repeat, Workers: c.Workers, Engine: c.Engine}
	for _, w := range list {
		row, err := c.watch(a, w, observers)
		if err != nil {
			return err
		}
		output.Workloads = append(output.Workloads, *row)
		if !quiet {
			printCosts(s, "@"+row.Name, row.Costs)
		}
	}
	current, classic := partition(output.Workloads, func(r *watchRow) bool { return r.Current })
	output.Geomean = meanCosts(output.Workloads)
	if len(classic) > 0 && len(current) > 0 {
		output.Classic, output.Current = meanCosts(classic), meanCosts(current)
	}
	if !quiet {
		if len(list) > 1 {
			printCosts(s, "geometric mean", output.Geomean)
		}
		if output.Classic != nil {
			printCosts(s, "… classic", output.Classic)
			printCosts(s, "… current", output.Current)
		}
		s.printf("\nTime of a launch under an observer, relative to vector mode without one; median of\n%d runs. trace and record write to no file. The engine is %s.\n", c.Repeat, c.Engine)
	}
	if c.JSON != "" {
		return writeJSON(a, c.JSON, output)
	}
	return nil
}

// watch measures a workload. Runs without and with observers take turns: changes of the host's speed then affect all of them.
func (c *benchCmd) watch(a *app, w *kernels.Workload, observers []observer) (*watchRow, error) {
	row := &watchRow{Name: w.Name, Current: w.Current}
	seconds := map[string][]float64{}
	engine := c.Engine
	if engine == "native" {
		engine = "auto" // with native, each observed launch would print that it runs in Go
	}
	for range c.Repeat {
		for _, o := range append([]observer{nothing}, observers...) {
			probes, finish, err := o.start()
			if err != nil {
				return nil, err
			}
			j, err := c.once(a, w, setting{engine, interp.Vector}, o.structure, probes)
			if err != nil {
				return nil, err
			}
			took := j.total().Duration
			if finish != nil {
				start := time.Now()
				if err := finish(); err != nil {
					return nil, err
				}
				took += time.Since(start)
			}
			row.Size = j.session.N
			seconds[o.name] = append(seconds[o.name], took.Seconds())
		}
	}
	row.Seconds = median(seconds[nothing.name])
	for _, o := range observers {
		row.Costs = append(row.Costs, watchCost{o.name, median(seconds[o.name]) / row.Seconds})
	}
	return row, nil
}

// meanCosts returns the geometric mean of the cost of each observer.
func meanCosts(rows []watchRow) []watchCost {
	list := make([]watchCost, len(rows[0].Costs))
	for i := range list {
		list[i] = watchCost{rows[0].Costs[i].Observer, geometricMean(rows, func(r *watchRow) float64 { return r.Costs[i].Times })}
	}
	return list
}

// watchWidth is the width of a column of costs.
const watchWidth = 12

func printCosts(s *screen, name string, costs []watchCost) {
	text := fitted(name, 16)
	for _, cost := range costs {
		text += fitted(fmt.Sprintf("%.2f", cost.Times), -watchWidth)
	}
	s.printf("%s\n", text)
}
