package cli

// This file has the commands that execute no kernels: check, dump, isa and kernels.

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"

	"gemu/interp"
	"gemu/kernels"
	"gemu/ptx"
)

type checkCmd struct {
	Files []string `arg:"" predictor:"source" help:"PTX files (- for standard input)."`
}

// Run checks every file, and continues after an invalid file.
func (c *checkCmd) Run(a *app) error {
	// The data of a large file is needed until the end of its check. Collecting garbage before the
	// memory has doubled costs little.
	defer collectAt(collectAt(15))
	failures := 0
	for _, name := range c.Files {
		src, err := a.readSource(name, compileFlags{})
		var m *ptx.Module
		if err == nil {
			m, err = ptx.ParseString(sourceName(name), src)
		}
		if err != nil {
			a.report(err)
			failures++
			continue
		}
		fmt.Fprintf(a.stdout, "%s: PTX %s, %s\n", name, m.Version, counted(len(m.Kernels()), "kernel"))
		c.coverage(a, m)
	}
	if failures > 0 {
		return &failure{fmt.Errorf("%d of %s with errors", failures, counted(len(c.Files), "file")), exitBad}
	}
	return nil
}

// unboundedDevice makes a device for modules that are only inspected: its memory does not bound the
// size of variables.
func unboundedDevice() *interp.Device { return interp.NewDevice(interp.Config{Memory: math.MaxInt64}) }

// coverage reports the kernels that gemu does not run.
func (c *checkCmd) coverage(a *app, m *ptx.Module) {
	mod, err := unboundedDevice().LoadModule(m)
	if err != nil {
		if !errors.As(err, new(*interp.MemoryError)) { // a memory error names the file already
			err = fmt.Errorf("%s: %w", m.Name, err)
		}
		fmt.Fprintf(a.stderr, "note: %v\n", err)
		return
	}
	for _, k := range m.Kernels() {
		if err := mod.Prepare(k.Name); err != nil {
			fmt.Fprintf(a.stderr, "note: %v\n", err)
		}
	}
}

func counted(n int, noun string) string { return fmt.Sprintf("%d %s%s", n, noun, plural(n)) }

type dumpCmd struct {
	File  string `arg:"" predictor:"source" help:"PTX file (- for standard input)."`
	Stage string `default:"ir" enum:"ast,ir,cfg,lowered" help:"Stage to print: ast (syntax tree), ir (checked program, as PTX), cfg (control flow), lowered (code that the engines execute)." placeholder:"STAGE"`
	compileFlags
	Kernel string `short:"k" help:"Print only this function (ir, cfg) or kernel (lowered)." placeholder:"NAME"`
}

func (c *dumpCmd) Run(a *app) error {
	src, err := a.readSource(c.File, c.compileFlags)
	if err != nil {
		return err
	}
	if c.Stage == "ast" {
		if c.Kernel != "" {
			return errors.New("-k does not apply to --stage=ast")
		}
		return ptx.FprintSyntax(dataOf(a.stdout), sourceName(c.File), []byte(src))
	}
	m, err := ptx.ParseString(sourceName(c.File), src)
	if err != nil {
		return err
	}
	var funcs []*ptx.Func
	for _, d := range m.Decls {
		if f, ok := d.(*ptx.Func); ok && f.Defined && (c.Kernel == "" || f.Name == c.Kernel) {
			funcs = append(funcs, f)
		}
	}
	if c.Kernel != "" && len(funcs) == 0 {
		return fmt.Errorf("%s has no function %s", c.File, c.Kernel)
	}
	switch c.Stage {
	case "ir":
		if c.Kernel == "" {
			return ptx.Fprint(dataOf(a.stdout), m)
		}
		_, err := fmt.Fprint(dataOf(a.stdout), funcs[0])
		return err
	case "cfg":
		for i, f := range funcs {
			if i > 0 {
				fmt.Fprintln(a.stdout)
			}
			ptx.FprintCFG(a.stdout, f)
		}
		return nil
	}
	mod, err := unboundedDevice().LoadModule(m)
	if err != nil {
		return err
	}
	for _, f := range funcs {
		if !f.Entry {
			if c.Kernel != "" {
				return fmt.Errorf("%s is not a kernel: --stage=lowered prints kernels, with the functions that they call", f.Name)
			}
			continue
		}
		if err := mod.FprintLowered(a.stdout, f); err != nil {
			return err
		}
	}
	return nil
}

type isaCmd struct {
	Opcode string `arg:"" optional:"" help:"Instruction to describe in full: an opcode or its beginning, such as mad, cp.async.bulk or ld.global.v4.f32."`
	JSON   bool   `name:"json" help:"Print JSON instead of text."`
}

// isaJSON is the report of --json.
type isaJSON struct {
	Schema string     `json:"schema"` // "gemu-isa/1"
	Forms  []formJSON `json:"forms"`  // the requested forms of instructions; all without a request
}

// formJSON is a form of the instruction table as "gemu isa --json" writes it.
type formJSON struct {
	Instruction string      `json:"instruction"`            // the mnemonic
	Syntax      string      `json:"syntax"`                 // form in the instruction table's notation
	Section     string      `json:"section"`                // section of NVIDIA's manual
	Class       string      `json:"class"`                  // class of functional unit
	Affine      string      `json:"affine"`                 // affine rule
	MinPTX      string      `json:"min_ptx,omitempty"`      // first .version with this form
	MinSM       int         `json:"min_sm,omitempty"`       // first sm_NN with this form
	Newer       []newerJSON `json:"newer,omitempty"`        // constants of operands introduced later than the form
	Assembler   bool        `json:"undocumented,omitempty"` // NVIDIA's assembler accepts the form, and the manual does not have it
	Variants    int         `json:"variants"`               // number of legal combinations of modifiers
	Runs        int         `json:"runs"`                   // number of variants with an implementation in gemu

	MachineCode machineCodeJSON `json:"machine_code"` // numbers of variants in machine code of this host; the portable engine executes all others
}

// machineCodeJSON counts the variants of a form in the native engine, by form of machine code.
type machineCodeJSON struct {
	AllLanes  int      `json:"all_lanes"`  // variants for warps with all lanes
	SomeLanes int      `json:"some_lanes"` // variants for some lanes of a warp: under a guard, or in a warp split
	Lanewise  int      `json:"lanewise"`   // variants with an independent result in each lane
	Constants int      `json:"constants"`  // lane-by-lane variants whose source operands may all be constants; in others some must be registers
	Compact   int      `json:"compact"`    // lane-by-lane variants with a compact version, which computes the base and stride of the result
	Types     []string `json:"types"`      // the types of the variants
}

// machineCode counts the variants of a form in machine code.
func machineCode(f *ptx.Form) machineCodeJSON {
	m := machineCodeJSON{Types: []string{}}
	for _, v := range f.Variants() {
		forms := interp.MachineCodeOf(v)
		if !forms.AllLanes && !forms.SomeLanes {
			continue
		}
		for _, count := range []struct {
			has bool
			to  *int
		}{{forms.AllLanes, &m.AllLanes}, {forms.SomeLanes, &m.SomeLanes}, {forms.Lanewise, &m.Lanewise}, {forms.Constants, &m.Constants}, {forms.Compact, &m.Compact}} {
			if count.has {
				*count.to++
			}
		}
		if t := v.Type(); t != ptx.NoType {
			m.Types = append(m.Types, "."+strings.TrimPrefix(t.String(), "."))
		}
	}
	slices.Sort(m.Types)
	m.Types = slices.Compact(m.Types)
	return m
}

// text describes the counts of a form with n supported variants.
func (m *machineCodeJSON) text(n int) string {
	has := max(m.AllLanes, m.SomeLanes)
	switch {
	case !interp.Native.Available():
		return "none on this host"
	case has == 0:
		return "no"
	}
	text := runsText(has, n)
	if len(m.Types) > 0 {
		text += " (" + strings.Join(m.Types, " ") + ")"
	}
	// part describes the share of variants with a property.
	part := func(n, all int, every, some, none string) {
		switch {
		case all == 0:
		case n == all:
			text += "; " + every
		case n > 0:
			text += fmt.Sprintf("; %d %s", n, some)
		default:
			text += "; " + none
		}
	}
	part(m.SomeLanes, has, "all lanes or some", "also for some lanes", "all lanes only")
	part(m.Constants, m.Lanewise, "registers or constants", "with constants", "registers only")
	part(m.Compact, m.Lanewise, "also on compact operands", "also on compact operands", "not on compact operands")
	return text
}

// newerJSON is the smallest constant of an operand with a newer required .version and sm_NN.
type newerJSON struct {
	Operand string `json:"operand"` // name of the operand in the syntax
	Least   int64  `json:"least"`   // least constant introduced later
	MinPTX  string `json:"min_ptx"` // first .version with these constants
	MinSM   int    `json:"min_sm"`  // first sm_NN with these constants
}

// since returns the .version and sm_NN required by a form, "" if every version has it.
func (f *formJSON) since() string {
	var parts []string
	if f.MinPTX != "" {
		parts = append(parts, "PTX "+f.MinPTX)
	}
	if f.MinSM > 0 {
		parts = append(parts, fmt.Sprintf("sm_%d", f.MinSM))
	}
	since := strings.Join(parts, ", ")
	for _, n := range f.Newer {
		since += fmt.Sprintf("; with %s of %d or more PTX %s, sm_%d", n.Operand, n.Least, n.MinPTX, n.MinSM)
	}
	return since
}

// runs counts the legal variants of a form, and the supported variants among them.
func runs(f *ptx.Form) (run, all int) {
	for _, v := range f.Variants() {
		legal, runs := interp.SupportsVariant(v)
		if legal {
			all++
		}
		if runs {
			run++
		}
	}
	return run, all
}

// runsVariant reports whether gemu runs an opcode.
func runsVariant(v *ptx.Variant) bool {
	_, runs := interp.SupportsVariant(v)
	return runs
}

func (c *isaCmd) Run(a *app) error {
	var forms []formJSON
	var selected []*ptx.Form
	ops := ptx.Ops()
	if c.Opcode == "" {
		for _, op := range ops {
			selected = append(selected, op.Forms()...)
		}
	} else {
		var err error
		if selected, err = ptx.FormsOf(c.Opcode); err != nil {
			return fmt.Errorf("%w; gemu isa lists all", err)
		}
	}
	for _, f := range selected {
		j := formJSON{Instruction: f.Op.Name, Syntax: f.Syntax, Section: f.Section, Class: f.Class.String(), Affine: f.Affine.String(), MinSM: f.MinSM, Assembler: f.Undocumented}
		if f.MinPTX != (ptx.Version{}) {
			j.MinPTX = f.MinPTX.String()
		}
		for _, n := range f.Newer {
			j.Newer = append(j.Newer, newerJSON{n.Operand, n.Smallest, n.MinPTX.String(), n.MinSM})
		}
		forms = append(forms, j)
	}
	var wg sync.WaitGroup
	var next atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(selected)); i = next.Add(1) - 1 {
				forms[i].Runs, forms[i].Variants = runs(selected[i])
				if c.JSON || c.Opcode != "" {
					forms[i].MachineCode = machineCode(selected[i])
				}
			}
		})
	}
	wg.Wait()
	if c.JSON {
		e := json.NewEncoder(dataOf(a.stdout))
		e.SetIndent("", "  ")
		return e.Encode(isaJSON{"gemu-isa/1", forms})
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	if c.Opcode != "" {
		for _, f := range forms {
			fmt.Fprintf(w, "%s\n", f.Syntax)
			fmt.Fprintf(w, "  manual section\t%s\n  class\t%s\n  affine rule\t%s\n", f.Section, f.Class, f.Affine)
			if since := f.since(); since != "" {
				fmt.Fprintf(w, "  since\t%s\n", since)
			}
			if f.Assembler {
				fmt.Fprintf(w, "  not in the manual\taccepted by NVIDIA's assembler\n")
			}
			fmt.Fprintf(w, "  runs\t%s\n", runsText(f.Runs, f.Variants))
			fmt.Fprintf(w, "  machine code\t%s\n", f.MachineCode.text(f.Runs))
			if v, err := ptx.LookupVariant(c.Opcode); err == nil && strings.Contains(c.Opcode, ".") {
				fmt.Fprintf(w, "  %s\t%s\n", c.Opcode, map[bool]string{true: "runs", false: "does not run"}[runsVariant(v)])
			}
		}
		return nil
	}
	fmt.Fprintln(w, "INSTRUCTION\tRUNS\tCLASS\tAFFINE\tSECTION")
	for _, op := range ops {
		var n, r int
		var sections, classes, rules []string
		for _, f := range forms {
			if f.Instruction == op.Name {
				n += f.Variants
				r += f.Runs
				sections = append(sections, f.Section)
				classes = append(classes, f.Class)
				rules = append(rules, f.Affine)
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", op.Name, runsText(r, n), distinct(classes), distinct(rules), strings.Join(slices.Compact(sections), " "))
	}
	return nil
}

// distinct returns the different words, sorted.
func distinct(words []string) string {
	slices.Sort(words)
	return strings.Join(slices.Compact(words), " ")
}

func runsText(run, all int) string {
	switch {
	case run == all:
		return "all"
	case run == 0:
		return "no"
	}
	return fmt.Sprintf("%d of %d", run, all)
}

type kernelsCmd struct {
	Name   string `arg:"" optional:"" help:"Workload to describe."`
	Source bool   `help:"Print the workload's CUDA C."`
	PTX    bool   `name:"ptx" help:"Print the workload's PTX."`
}

func (c *kernelsCmd) Run(a *app) error {
	if c.Name == "" {
		if c.Source || c.PTX {
			return errors.New("--source and --ptx need the name of a workload")
		}
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		for _, k := range kernels.All() {
			group := strings.Join(k.Papers, ",")
			if k.Current {
				group = "current"
			}
			fmt.Fprintf(w, "@%s\t%s\t%s\n", k.Name, group, k.Doc)
		}
		return w.Flush()
	}
	k, err := lookupWorkload(strings.TrimPrefix(c.Name, "@"))
	if err != nil {
		return err
	}
	switch {
	case c.Source:
		fmt.Fprint(dataOf(a.stdout), k.Source())
	case c.PTX:
		fmt.Fprint(dataOf(a.stdout), k.PTX())
	default:
		fmt.Fprintf(a.stdout, "@%s: %s\norigin: %s\nsize: %d %s\n", k.Name, k.Doc, k.Origin, k.N, k.SizeDoc)
		if k.Current {
			fmt.Fprintln(a.stdout, "class: current")
		}
		if k.Warp != 0 {
			fmt.Fprintf(a.stdout, "warps: %d threads\n", k.Warp)
		}
		for _, paper := range k.Papers {
			fmt.Fprintf(a.stdout, "paper: %s\n", paper)
		}
		for _, v := range k.Versions() {
			fmt.Fprintf(a.stdout, "also: @%s, %s\n", v.Name, v.Version)
		}
	}
	return nil
}
