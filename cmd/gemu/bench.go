package main

// This file is "gemu bench": how fast the modes are.

import (
	"fmt"
	"math"
	"runtime"
	"strings"

	"gemu/interp"
	"gemu/kernels"
)

type benchCmd struct {
	Workloads []string `arg:"" optional:"" name:"@workload" help:"Workloads to run (default all)."`

	Engine  string `default:"portable" env:"GEMU_ENGINE" help:"What executes instructions: portable or native; see gemu run." placeholder:"ENGINE"`
	Repeat  int    `default:"3" help:"Runs of each mode; the fastest counts."`
	Size    int    `help:"Size of the inputs (default each workload's own)."`
	Workers int    `default:"1" help:"Host threads; 0 means all."`
	policyFlag
	JSON string `name:"json" help:"Write JSON to FILE (- for standard output, instead of the table)." placeholder:"FILE"`
}

// benchJSON is what --json writes. Rates are thread instructions per second, of
// launches alone.
type benchJSON struct {
	Schema    string      `json:"schema"`         // "gemu-bench/1"
	Repeat    int         `json:"repeat"`         // runs of each mode, the fastest of which counts
	Workers   int         `json:"workers"`        // 0: all
	Engine    string      `json:"engine"`         // what executes instructions: "portable" or "native", which check mode does not use
	Workloads []benchRow  `json:"workloads"`      // by name
	Geomean   *benchRates `json:"geometric_mean"` // of all of them
}

// benchRow is a workload.
type benchRow struct {
	Name               string `json:"name"`                // of the workload
	Size               int    `json:"size"`                // of its input
	ThreadInstructions int64  `json:"thread_instructions"` // of a run
	benchRates
}

// benchRates are the speed of vector mode, and that of the others relative to it.
type benchRates struct {
	Vector float64 `json:"vector_per_second"` // thread instructions
	Affine float64 `json:"affine_vector"`     // the speed of affine mode over that of vector mode
	Check  float64 `json:"check_vector"`      // … of check mode
}

func (c *benchCmd) Run(a *app) error {
	if c.Repeat < 1 || c.Size < 0 || c.Workers < 0 {
		return fmt.Errorf("--repeat wants a number from 1 on, --size and --workers from 0 on")
	}
	if _, err := interp.EngineNamed(c.Engine); err != nil {
		return fmt.Errorf("--engine: %w", err)
	}
	if err := checkOutput(c.JSON); err != nil {
		return fmt.Errorf("--json %s: %w", c.JSON, err)
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
	s := newScreen(a.stdout)
	quiet := c.JSON == "-"
	if !quiet {
		c.printHead(s)
	}
	out := &benchJSON{Schema: "gemu-bench/1", Repeat: c.Repeat, Workers: c.Workers, Engine: c.Engine}
	for _, w := range list {
		row, err := c.measure(a, w)
		if err != nil {
			return err
		}
		out.Workloads = append(out.Workloads, *row)
		if !quiet {
			c.printRow(s, "@"+row.Name, &row.benchRates)
		}
	}
	out.Geomean = geomean(out.Workloads)
	if !quiet {
		if len(list) > 1 {
			c.printRow(s, "geometric mean", out.Geomean)
		}
		s.printf("\nThread instructions per second in vector mode, best of %d; above 1, a mode is\nfaster than that.\n", c.Repeat)
		if c.Engine == "native" {
			s.printf("The engine is native, but in check mode, which is always portable.\n")
		}
	}
	if c.JSON != "" {
		return writeJSON(a, c.JSON, out)
	}
	return nil
}

// measure runs a workload in each mode in turn, so that what happens to the host
// meanwhile happens to all.
func (c *benchCmd) measure(a *app, w *kernels.Workload) (*benchRow, error) {
	modes := []interp.Mode{interp.Vector, interp.Affine, interp.Check}
	row := &benchRow{Name: w.Name}
	best := map[interp.Mode]float64{} // seconds
	for range c.Repeat {
		for _, mode := range modes {
			f := launchFlags{sourceArg: sourceArg{"@" + w.Name}, kernelFlags: kernelFlags{Size: c.Size, Warp: 32, Workers: c.Workers, Engine: c.Engine}}
			j, err := f.open(a, a.stderr)
			if err != nil {
				return nil, err
			}
			runtime.GC() // of what came before, not while the clock runs
			if err := j.run(a, func(l *interp.Launch) {
				l.Mode, l.Reconverge = mode, interp.ReconvergerNamed(c.Reconverge)
			}); err != nil {
				return nil, err
			}
			r := j.total()
			row.Size, row.ThreadInstructions = j.session.N, r.ThreadInstructions
			if t, ok := best[mode]; !ok || r.Duration.Seconds() < t {
				best[mode] = r.Duration.Seconds()
			}
		}
	}
	row.Vector = float64(row.ThreadInstructions) / best[interp.Vector]
	row.Affine = best[interp.Vector] / best[interp.Affine]
	row.Check = best[interp.Vector] / best[interp.Check]
	return row, nil
}

// geomean is the geometric mean of each rate.
func geomean(rows []benchRow) *benchRates {
	mean := func(of func(r *benchRow) float64) float64 {
		sum := 0.0
		for i := range rows {
			sum += math.Log(of(&rows[i]))
		}
		return math.Exp(sum / float64(len(rows)))
	}
	return &benchRates{
		mean(func(r *benchRow) float64 { return r.Vector }),
		mean(func(r *benchRow) float64 { return r.Affine }),
		mean(func(r *benchRow) float64 { return r.Check }),
	}
}

func (c *benchCmd) printHead(s *screen) {
	text := fitted("workload", 16) + fitted("vector, instr/s", -17) + fitted("affine/vector", -15) + fitted("check/vector", -15)
	s.printf("%s\n", s.paint(bold, text))
}

func (c *benchCmd) printRow(s *screen, name string, r *benchRates) {
	s.printf("%s%s%s%s\n", fitted(name, 16), fitted(countText(int64(r.Vector)), -17), fitted(fmt.Sprintf("%.2f", r.Affine), -15), fitted(fmt.Sprintf("%.2f", r.Check), -15))
}
