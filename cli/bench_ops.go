package cli

// This file is "gemu bench --ops", which measures single instructions.

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"gemu/internal/opbench"
	"gemu/interp"
	"gemu/ptx"
)

// opsJSON is the report of --ops --json. Times are nanoseconds of a warp instruction, medians of the runs; 0: not measured.
type opsJSON struct {
	Schema       string      `json:"schema"`       // "gemu-bench-ops/1"
	Repeat       int         `json:"repeat"`       // number of runs in each mode; the median counts
	Engine       string      `json:"engine"`       // the engine: "portable" or "native"
	Instructions []opRow     `json:"instructions"` // the measured instructions, the slowest first
	Skipped      []skippedOp `json:"skipped"`      // instructions that are not measured
}

// opRow is the result of an instruction.
type opRow struct {
	Opcode    string       `json:"opcode"`                // opcode with its modifiers
	Case      opbench.Case `json:"case,omitempty"`        // addresses of the lanes: "contiguous", "gathered" or "uniform"; of branches "uniform" or "divergent"
	With      string       `json:"with,omitempty"`        // opcodes that are measured together with it, such as waits
	Class     string       `json:"class"`                 // functional unit: "int", "memory" …
	Section   string       `json:"section"`               // section of the manual
	Code      bool         `json:"machine_code"`          // the native engine has machine code for it, in vector mode with all lanes
	Vector    float64      `json:"vector_ns"`             // time in vector mode
	Portable  float64      `json:"portable_ns,omitempty"` // time in vector mode on the portable engine, if another engine was measured
	Affine    float64      `json:"affine_ns,omitempty"`   // time in affine mode
	Check     float64      `json:"check_ns,omitempty"`    // time in check mode
	Different []string     `json:"different,omitempty"`   // with --check: the modes whose results differ from those of the portable engine in vector mode
	Error     string       `json:"error,omitempty"`       // the error of a launch, after which the instruction is not measured any more
}

// skippedOp is an instruction that is not measured.
type skippedOp struct {
	Opcode string `json:"opcode"` // opcode with its modifiers
	Reason string `json:"reason"` // the reason
}

// slow is the time of a warp instruction, in nanoseconds, above which it is marked.
const slow = 1000

func (c *benchCmd) runOps(a *app) error {
	ops, err := selectOps(c.Workloads)
	if err != nil {
		return err
	}
	output := &opsJSON{Schema: "gemu-bench-ops/1", Repeat: c.Repeat, Engine: c.Engine, Instructions: []opRow{}, Skipped: []skippedOp{}}
	different, failed := 0, 0
	var done atomic.Int64
	stop := a.progress("instructions", func() (int64, int64) { return done.Load(), int64(len(ops)) })
	defer stop()
	for _, op := range ops {
		done.Add(1)
		k, err := op.Kernel()
		if err != nil {
			output.Skipped = append(output.Skipped, skippedOp{op.Variant.Text, err.Error()})
			continue
		}
		row, err := c.measureOp(a, op, k)
		switch {
		case a.ctx.Err() != nil:
			return cmp.Or(err, a.ctx.Err())
		case err != nil:
			row.Error = err.Error()
			failed++
		case len(row.Different) > 0:
			different++
		}
		output.Instructions = append(output.Instructions, *row)
	}
	stop()
	slices.SortStableFunc(output.Instructions, func(a, b opRow) int { return cmp.Compare(b.Vector, a.Vector) })
	if c.JSON != "-" {
		c.printOps(newScreen(a.stdout), output)
	}
	if c.JSON != "" {
		if err := writeJSON(a, c.JSON, output); err != nil {
			return err
		}
	}
	switch n := len(output.Instructions); {
	case failed > 0:
		return &failure{fmt.Errorf("%d of %d instructions failed", failed, n), exitFailed}
	case different > 0:
		return &failure{fmt.Errorf("%d of %d instructions have different results", different, n), exitFailed}
	}
	return nil
}

// selectOps returns the instructions that the patterns select: all without patterns. The name of an instruction selects its
// opcodes. A pattern that is a complete opcode may be any that gemu runs; other patterns select from the list.
func selectOps(patterns []string) ([]opbench.Op, error) {
	if len(patterns) == 0 {
		return opbench.List(func(string) bool { return true }), nil
	}
	var list []opbench.Op
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			return nil, fmt.Errorf("%s is not a pattern: * stands for any text, ? for a character, [ab] for one of several", p)
		}
		ops := opbench.List(func(opcode string) bool {
			matches, _ := path.Match(p, opcode)
			return matches || strings.HasPrefix(opcode, p+".")
		})
		if v, err := ptx.LookupVariant(p); err == nil && !slices.Contains(ops, opbench.Of(v)[0]) {
			if !runsVariant(v) {
				return nil, fmt.Errorf("gemu does not run %s", p)
			}
			ops = append(opbench.Of(v), ops...)
		} else if err != nil && len(ops) == 0 {
			if strings.ContainsAny(p, "*?[") {
				return nil, fmt.Errorf("no instruction matches %s; gemu isa lists all", p)
			}
			return nil, fmt.Errorf("%w; gemu isa lists all", err)
		}
		for _, op := range ops {
			if !slices.Contains(list, op) {
				list = append(list, op)
			}
		}
	}
	return list, nil
}

// measureOp measures an instruction in each setting in turn.
func (c *benchCmd) measureOp(a *app, op opbench.Op, k *opbench.Kernel) (*opRow, error) {
	v := op.Variant
	row := &opRow{Opcode: v.Text, Case: op.Case, With: k.With, Class: v.Form.Class.String(), Section: v.Form.Section, Code: interp.MachineCodeOf(v).AllLanes}
	r, err := k.Load()
	if err != nil {
		return row, err
	}
	prepare := func(in setting) func(l *interp.Launch) {
		return func(l *interp.Launch) {
			l.Mode, l.Engine, l.Reconverge = in.mode, interp.Native, a.reconverger(c.Reconverge)
			if in.engine == "portable" {
				l.Engine = interp.Portable
			}
		}
	}
	reference := setting{"portable", interp.Vector}
	for _, in := range c.settings() {
		if c.Check && in != reference {
			equal, err := r.Compare(a.ctx, prepare(in), prepare(reference))
			if err != nil {
				return row, err
			}
			if !equal {
				row.Different = append(row.Different, in.engine+" "+in.mode.String())
			}
		}
		times, err := r.Measure(a.ctx, c.Repeat, prepare(in))
		if err != nil {
			return row, err
		}
		time := max(median(times), 0.01)
		switch {
		case in == reference && c.Engine != "portable":
			row.Portable = time
		case in.mode == interp.Vector:
			row.Vector = time
		case in.mode == interp.Affine:
			row.Affine = time
		default:
			row.Check = time
		}
	}
	return row, nil
}

// opColumns are the columns of times.
var opColumns = []struct {
	head  string
	value func(*opRow) float64
}{
	{"vector, ns", func(r *opRow) float64 { return r.Vector }},
	{"portable", func(r *opRow) float64 { return r.Portable }},
	{"affine", func(r *opRow) float64 { return r.Affine }},
	{"check", func(r *opRow) float64 { return r.Check }},
}

// printOps prints a line for each instruction.
func (c *benchCmd) printOps(s *screen, output *opsJSON) {
	if len(output.Instructions) > 0 {
		head := " "
		for _, col := range opColumns {
			head += fitted(col.head, -12)
		}
		s.printf("%s\n", s.paint(bold, head+"  "+fitted("case", 12)+"instruction"))
	}
	slowOps := 0
	for i := range output.Instructions {
		row := &output.Instructions[i]
		mark, look := " ", plain
		if row.Vector > slow {
			slowOps++
			mark, look = "!", bold
		}
		text := mark
		for _, col := range opColumns {
			time := "-"
			if v := col.value(row); v != 0 {
				time = fmt.Sprintf("%.1f", v)
			}
			text += fitted(time, -12)
		}
		text += "  " + fitted(string(row.Case), 12) + row.Opcode
		if row.With != "" {
			text += " (with " + row.With + ")"
		}
		if len(row.Different) > 0 {
			text += "  DIFFERENT RESULTS: " + strings.Join(row.Different, ", ")
		}
		s.printf("%s\n", s.paint(look, text))
		if row.Error != "" {
			s.printf("    %s\n", strings.ReplaceAll(row.Error, "\n", "\n    "))
		}
	}
	s.printf("\nNanoseconds of an instruction of a warp, median of %d runs, without the loop around it.\n", c.Repeat)
	s.printf("%d of %d take more than %d ns in vector mode, and are marked (!).\n", slowOps, len(output.Instructions), slow)
	if c.Check {
		s.printf("Results are compared with those of the portable engine in vector mode, bit by bit.\n")
	}
	if c.Engine == "native" {
		s.printf("The engine is native.\n")
	}
	reasons := map[string][]string{}
	for _, o := range output.Skipped {
		reasons[o.Reason] = append(reasons[o.Reason], o.Opcode)
	}
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		list := reasons[reason]
		s.printf("Not measured, because %s: %s", reason, list[0])
		if len(list) > 1 {
			s.printf(" and %d others", len(list)-1)
		}
		s.printf("\n")
	}
}
