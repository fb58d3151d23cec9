package cli

// This file is "gemu bench", which measures the speed of the modes.

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"gemu/internal/notation"
	"gemu/interp"
	"gemu/kernels"
	"gemu/probe"
)

type benchCmd struct {
	Workloads []string `arg:"" optional:"" name:"@workload" help:"Workloads to run; with --ops names of instructions, opcodes or patterns, such as 'mma*'." unset:"all"`

	Engine  string   `group:"device" default:"auto" env:"GEMU_ENGINE" help:"Engine that executes instructions: auto, portable or native; see gemu run." placeholder:"ENGINE"`
	Mode    []string `group:"device" default:"affine,check" enum:"vector,affine,check" help:"Modes to compare with vector mode: affine, check; see gemu run." placeholder:"MODE"`
	Repeat  int      `default:"3" help:"Number of runs of each mode; the result is their median." placeholder:"N"`
	Size    int      `help:"Size of the inputs; gemu kernels NAME says what it counts." unset:"each workload's own size" placeholder:"N"`
	Workers int      `group:"device" default:"1" help:"Number of host threads; 0: all cores." placeholder:"N"`

	TimeLimit notation.Span `group:"device" env:"GEMU_TIME_LIMIT" help:"Time limit of each launch, such as 90s or 5m; a number without a unit is in seconds." unset:"no limit" placeholder:"TIME"`

	Ops   bool `help:"Measure single instructions instead of workloads: nanoseconds of an instruction of a warp, the slowest first."`
	Check bool `help:"With --ops: compare the results of each mode with those of the portable engine in vector mode, bit by bit."`

	Watch bool `help:"Measure what sanitizers, profile, trace, record and structure cost: their time relative to vector mode."`

	Structure bool `help:"Count instructions with compact results (see gemu structure), and print two means: of the workloads where they are 25 percent or more, and of all others."`
	policyFlag
	JSON string `name:"json" help:"Write JSON to FILE (- for standard output, instead of the text)." placeholder:"FILE"`

	products bool // some workload is a matrix product
}

// benchJSON is the report of --json. Rates are thread instructions per second, without the time
// outside launches.
type benchJSON struct {
	Schema    string      `json:"schema"`         // "gemu-bench/1"
	Repeat    int         `json:"repeat"`         // number of runs in each mode; the median counts
	Workers   int         `json:"workers"`        // number of host threads; 0: all
	Engine    string      `json:"engine"`         // the engine: "portable" or "native"
	Workloads []benchRow  `json:"workloads"`      // a row for each workload
	Geomean   *benchRates `json:"geometric_mean"` // geometric means over all workloads

	Classic *benchRates `json:"geometric_mean_classic,omitempty"` // geometric means over the classic workloads, if there are others
	Current *benchRates `json:"geometric_mean_current,omitempty"` // geometric means over the workloads of current programs, if there are others

	Structured   *benchRates `json:"geometric_mean_structured,omitempty"`   // with --structure: geometric means over workloads with at least 25 percent compact results
	Unstructured *benchRates `json:"geometric_mean_unstructured,omitempty"` // with --structure: geometric means over workloads with less than 25 percent compact results
}

// benchRow is the result of a workload.
type benchRow struct {
	Name               string `json:"name"`                // name of the workload
	Size               int    `json:"size"`                // size of its input
	ThreadInstructions int64  `json:"thread_instructions"` // thread instructions of a run
	benchRates

	Current bool     `json:"current"`                   // a workload of current programs: tensor cores, asynchronous copies, narrow types
	Gflops  float64  `json:"gflops,omitempty"`          // of matrix products: billions of floating-point operations per second in vector mode
	Compact *float64 `json:"compact_percent,omitempty"` // with --structure: share of warp instructions with compact results
}

// structured is the minimum percentage of compact results of a workload with structure.
const structured = 25

// benchRates are the speed of vector mode, and speeds relative to it; 0: not measured.
type benchRates struct {
	Vector   float64 `json:"vector_per_second"`         // thread instructions per second in vector mode
	Portable float64 `json:"vector_portable,omitempty"` // speed of vector mode relative to the portable engine's, if another engine was measured
	Affine   float64 `json:"affine_vector,omitempty"`   // speed of affine mode relative to vector mode
	Check    float64 `json:"check_vector,omitempty"`    // speed of check mode relative to vector mode
}

func (c *benchCmd) Run(a *app) error {
	if err := checkMinimums(minimum{"--repeat", int64(c.Repeat), 1}, minimum{"--size", int64(c.Size), 0}, minimum{"--workers", int64(c.Workers), 0}); err != nil {
		return err
	}
	engine, err := interp.EngineNamed(c.Engine)
	if err != nil {
		return fmt.Errorf("--engine (GEMU_ENGINE) %s: %w", c.Engine, err)
	}
	if c.Engine = "portable"; engine != interp.Portable && interp.Native.Available() {
		c.Engine = "native"
	}
	if err := checkOutput(c.JSON); err != nil {
		return fmt.Errorf("--json %s: %w", c.JSON, err)
	}
	if c.Ops && c.Watch {
		return fmt.Errorf("--ops and --watch measure different things: choose one")
	}
	if c.Ops {
		if c.Size != 0 || c.Structure || c.Workers != 1 {
			return fmt.Errorf("--ops does not go with --size, --structure and --workers, which are about workloads")
		}
		return c.runOps(a)
	}
	if c.Watch && c.Structure {
		return fmt.Errorf("--watch does not go with --structure: it has a column for structure")
	}
	if c.Check {
		return fmt.Errorf("--check needs --ops: gemu run @NAME compares the result of a workload")
	}
	list := kernels.All()
	if len(c.Workloads) > 0 {
		list = nil
		for _, name := range c.Workloads {
			w, err := lookupWorkload(strings.TrimPrefix(name, "@"))
			if err != nil {
				return err
			}
			list = append(list, w)
		}
	}
	if c.Watch {
		return c.runWatch(a, list)
	}
	c.products = slices.ContainsFunc(list, func(w *kernels.Workload) bool { return w.Flops != nil })
	s := newScreen(a.stdout)
	quiet := c.JSON == "-"
	if !quiet {
		c.printHead(s)
	}
	output := &benchJSON{Schema: "gemu-bench/1", Repeat: c.Repeat, Workers: c.Workers, Engine: c.Engine}
	for _, w := range list {
		row, err := c.measure(a, w)
		if err != nil {
			return err
		}
		output.Workloads = append(output.Workloads, *row)
		if !quiet {
			c.printRow(s, "@"+row.Name, &row.benchRates, row)
		}
	}
	output.Geomean = meanRates(output.Workloads)
	if current, classic := partition(output.Workloads, func(r *benchRow) bool { return r.Current }); len(current) > 0 && len(classic) > 0 {
		output.Classic, output.Current = meanRates(classic), meanRates(current)
	}
	if c.Structure {
		withStructure, withoutStructure := partition(output.Workloads, func(r *benchRow) bool { return *r.Compact >= structured })
		if len(withStructure) > 0 {
			output.Structured = meanRates(withStructure)
		}
		if len(withoutStructure) > 0 {
			output.Unstructured = meanRates(withoutStructure)
		}
	}
	if !quiet {
		if len(list) > 1 {
			c.printRow(s, "geometric mean", output.Geomean, nil)
		}
		for _, o := range []struct {
			name string
			mean *benchRates
		}{{"… classic", output.Classic}, {"… current", output.Current}, {"… structured", output.Structured}, {"… others", output.Unstructured}} {
			if o.mean != nil {
				c.printRow(s, o.name, o.mean, nil)
			}
		}
		s.printf("\nThread instructions per second in vector mode, median of %d runs. A ratio above 1:\nthe mode is faster than vector mode, or the engine than the portable engine.\n", c.Repeat)
		if output.Current != nil {
			s.printf("Current: workloads with tensor cores, asynchronous copies or narrow types.\n")
		}
		if c.products {
			s.printf("GFLOP/s: of matrix products, in vector mode.\n")
		}
		if c.Structure {
			s.printf("Structured: workloads with compact results of %d percent of the instructions or more.\n", structured)
		}
		if c.Engine == "native" {
			s.printf("The engine is native.\n")
		}
	}
	if c.JSON != "" {
		return writeJSON(a, c.JSON, output)
	}
	return nil
}

// setting is a configuration of a measurement.
type setting struct {
	engine string
	mode   interp.Mode
}

// settings returns the configurations to measure: first vector mode on the engine.
func (c *benchCmd) settings() []setting {
	list := []setting{{c.Engine, interp.Vector}}
	if c.Engine != "portable" {
		list = append(list, setting{"portable", interp.Vector})
	}
	for _, mode := range []interp.Mode{interp.Affine, interp.Check} {
		if slices.Contains(c.Mode, mode.String()) {
			list = append(list, setting{c.Engine, mode})
		}
	}
	return list
}

// measure runs a workload in each setting in turn: changes of the host's speed then affect all
// settings.
func (c *benchCmd) measure(a *app, w *kernels.Workload) (*benchRow, error) {
	row := &benchRow{Name: w.Name, Current: w.Current}
	seconds := map[setting][]float64{}
	for range c.Repeat {
		for _, in := range c.settings() {
			j, err := c.once(a, w, in, false, nil)
			if err != nil {
				return nil, err
			}
			r := j.total()
			row.Size, row.ThreadInstructions = j.session.N, r.ThreadInstructions
			seconds[in] = append(seconds[in], r.Duration.Seconds())
		}
	}
	if c.Structure {
		j, err := c.once(a, w, setting{"portable", interp.Vector}, true, nil)
		if err != nil {
			return nil, err
		}
		summary := j.total().Structure.Summary()
		row.Compact = &summary.Affine
	}
	vector := median(seconds[setting{c.Engine, interp.Vector}])
	portable := 0.0
	if c.Engine != "portable" {
		portable = median(seconds[setting{"portable", interp.Vector}])
	}
	row.Vector = float64(row.ThreadInstructions) / vector
	if w.Flops != nil {
		row.Gflops = w.Flops(row.Size) / vector / 1e9
	}
	for _, o := range []struct {
		rate             *float64
		workloads, under float64
	}{
		{&row.Portable, portable, vector},
		{&row.Affine, vector, median(seconds[setting{c.Engine, interp.Affine}])},
		{&row.Check, vector, median(seconds[setting{c.Engine, interp.Check}])},
	} {
		if o.workloads != 0 && o.under != 0 {
			*o.rate = o.workloads / o.under
		}
	}
	return row, nil
}

// once runs a workload in a setting under probes, and counts the structure of its values if structure is set.
func (c *benchCmd) once(a *app, w *kernels.Workload, in setting, structure bool, probes []probe.Probe) (*job, error) {
	f := launchFlags{sourceArg: sourceArg{"@" + w.Name}, kernelFlags: kernelFlags{
		programFlags{Size: c.Size}, deviceFlags{Warp: 32, Workers: c.Workers, Engine: in.engine, TimeLimit: c.TimeLimit},
	}}
	j, err := f.open(a, dataOf(a.stderr), probes...)
	if err != nil {
		return nil, err
	}
	runtime.GC() // collects the garbage of earlier runs before the clock starts
	return j, j.run(a, func(l *interp.Launch) {
		l.Mode, l.Reconverge, l.Structure = in.mode, a.reconverger(c.Reconverge), structure
	})
}

// median returns the median of a list, 0 for an empty list. It changes the order of the list.
func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}

// partition divides rows into the rows that satisfy a condition and the other rows.
func partition[R any](rows []R, condition func(r *R) bool) (satisfy, others []R) {
	for _, r := range rows {
		if condition(&r) {
			satisfy = append(satisfy, r)
		} else {
			others = append(others, r)
		}
	}
	return satisfy, others
}

// geometricMean returns the geometric mean of a value of rows.
func geometricMean[R any](rows []R, value func(r *R) float64) float64 {
	sum := 0.0
	for i := range rows {
		sum += math.Log(value(&rows[i]))
	}
	return math.Exp(sum / float64(len(rows)))
}

// meanRates returns the geometric mean of each rate.
func meanRates(rows []benchRow) *benchRates {
	mean := func(rate func(r *benchRow) float64) float64 { return geometricMean(rows, rate) }
	return &benchRates{
		Vector:   mean(func(r *benchRow) float64 { return r.Vector }),
		Portable: mean(func(r *benchRow) float64 { return r.Portable }),
		Affine:   mean(func(r *benchRow) float64 { return r.Affine }),
		Check:    mean(func(r *benchRow) float64 { return r.Check }),
	}
}

// benchColumns are the columns of relative rates.
var benchColumns = []struct {
	head  string
	value func(*benchRates) float64
}{
	{"vector/portable", func(r *benchRates) float64 { return r.Portable }},
	{"affine/vector", func(r *benchRates) float64 { return r.Affine }},
	{"check/vector", func(r *benchRates) float64 { return r.Check }},
}

func (c *benchCmd) printHead(s *screen) {
	text := fitted("workload", 16) + fitted("vector, instr/s", -17)
	for _, col := range benchColumns {
		text += fitted(col.head, -17)
	}
	if c.products {
		text += fitted("GFLOP/s", -17)
	}
	if c.Structure {
		text += fitted("compact, %", -17)
	}
	s.printf("%s\n", s.paint(bold, text))
}

// printRow prints rates; w is the workload, or nil for a mean.
func (c *benchCmd) printRow(s *screen, name string, r *benchRates, w *benchRow) {
	text := fitted(name, 16) + fitted(countText(int64(r.Vector)), -17)
	for _, col := range benchColumns {
		rate := "-"
		if v := col.value(r); v != 0 {
			rate = fmt.Sprintf("%.2f", v)
		}
		text += fitted(rate, -17)
	}
	if c.products && w != nil {
		rate := "-"
		if w.Gflops != 0 {
			rate = fmt.Sprintf("%.2f", w.Gflops)
		}
		text += fitted(rate, -17)
	}
	if c.Structure && w != nil {
		text += fitted(fmt.Sprintf("%.1f", *w.Compact), -17)
	}
	s.printf("%s\n", text)
}
