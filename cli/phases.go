package cli

// This file is "gemu phases": PTX with a directive for each phase of its kernels, or a list of the phases.

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"

	"gemu/phases"
	"gemu/ptx"
)

type phasesCmd struct {
	sourceArg
	compileFlags
	Only    []string `short:"k" name:"kernel" help:"Divide only these kernels." unset:"all" placeholder:"NAME"`
	Dynamic int      `name:"dynamic-shared" default:"-1" help:"Size of the dynamic shared memory of a block in bytes; required if a kernel has such memory." placeholder:"BYTES" unset:"unknown"`
	Out     string   `short:"o" default:"-" help:"Write the PTX to FILE (- for standard output)." placeholder:"FILE"`
	List    bool     `help:"Write no PTX, and list the phases of each kernel: the first line, the registers of a thread, and the shared memory of a block."`
	JSON    string   `name:"json" help:"Write the phases as JSON to FILE (- for standard output, instead of the text)." placeholder:"FILE"`
}

// phasesJSON is the report of --json about a module.
type phasesJSON struct {
	Schema  string        `json:"schema"`  // "gemu-phases/1"
	File    string        `json:"file"`    // name of the module in messages
	Kernels []kernelPhase `json:"kernels"` // kernels in the order of the source
}

// kernelPhase is the report of --json about a kernel.
type kernelPhase struct {
	Name      string      `json:"name"`      // name of the kernel
	Line      int         `json:"line"`      // line of its beginning in the source
	Registers int         `json:"registers"` // most registers of 32 bits of a thread that are live at once
	Shared    int         `json:"shared"`    // most bytes of shared memory that are live at once
	Phases    []phaseJSON `json:"phases"`    // phases in the order of the source
	Waits     []int       `json:"waits"`     // lines of barriers and fences, after which the phase begins anew
}

// phaseJSON is a phase in the report of --json.
type phaseJSON struct {
	Line      int    `json:"line"`      // line of the first instruction
	Registers int    `json:"registers"` // registers of 32 bits of a thread
	Shared    int    `json:"shared"`    // bytes of shared memory of a block
	By        string `json:"by"`        // "pragma" if a directive of the source declares the phase, else "inferred"
}

func (c *phasesCmd) Run(a *app) error {
	if c.List && c.Out != "-" {
		return errors.New("--out does not apply: --list writes no PTX")
	}
	if c.Dynamic < -1 {
		return fmt.Errorf("--dynamic-shared %d: want 0 or more bytes", c.Dynamic)
	}
	files := outputs{{"--json", c.JSON}}
	if c.Out != "-" {
		files = append(files, outputs{{"--out", c.Out}}...)
	}
	if err := files.check(); err != nil {
		return err
	}
	name, src, err := a.readModule(c.File, c.compileFlags)
	if err != nil {
		return err
	}
	m, err := ptx.ParseString(name, src)
	if err != nil {
		return err
	}
	for _, name := range c.Only {
		if !slices.ContainsFunc(m.Kernels(), func(f *ptx.Func) bool { return f.Name == name }) {
			return fmt.Errorf("-k %s: %s has no such kernel with a body", name, m.Name)
		}
	}
	var list []*phases.Kernel
	for _, f := range m.Kernels() {
		if len(c.Only) > 0 && !slices.Contains(c.Only, f.Name) {
			continue
		}
		k, err := phases.Divide(f, c.Dynamic)
		if err != nil {
			return err
		}
		list = append(list, k)
	}
	if c.JSON != "" {
		if err := writeJSON(a, c.JSON, newPhasesJSON(m, list)); err != nil || c.JSON == "-" {
			return err
		}
	}
	if c.List {
		return c.print(a, list)
	}
	out, err := phases.Annotate(name, src, list)
	if err != nil {
		return err
	}
	return writeOutput(a, c.Out, []byte(out))
}

// newPhasesJSON returns the report of --json.
func newPhasesJSON(m *ptx.Module, list []*phases.Kernel) phasesJSON {
	out := phasesJSON{"gemu-phases/1", m.Name, []kernelPhase{}}
	for _, k := range list {
		r := kernelPhase{k.Func.Name, int(k.Func.Pos.Line), k.Most.Registers, k.Most.Shared, []phaseJSON{}, []int{}}
		for _, p := range k.Phases {
			by := "inferred"
			if p.Pragma != (ptx.Pos{}) {
				by = "pragma"
			}
			r.Phases = append(r.Phases, phaseJSON{int(p.First.Pos.Line), p.Registers, p.Shared, by})
		}
		for i := range k.Instrs {
			if o := &k.Instrs[i]; o.Waits {
				r.Waits = append(r.Waits, int(o.Pos.Line))
			}
		}
		out.Kernels = append(out.Kernels, r)
	}
	return out
}

// print prints the phases of kernels.
func (c *phasesCmd) print(a *app, list []*phases.Kernel) error {
	for i, k := range list {
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		fmt.Fprintf(a.stdout, "%s: %s and %s of shared memory at most\n", k.Func.Name, counted(k.Most.Registers, "register"), counted(k.Most.Shared, "byte"))
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "line\tregisters\tshared\t  begins")
		type row struct {
			line  int32
			cells string
		}
		var rows []row
		for _, p := range k.Phases {
			begins := "inferred"
			if p.Pragma != (ptx.Pos{}) {
				begins = fmt.Sprintf(".pragma in line %d", p.Pragma.Line)
			}
			rows = append(rows, row{p.First.Pos.Line, fmt.Sprintf("%d\t%d\t  %s", p.Registers, p.Shared, begins)})
		}
		for i := range k.Instrs {
			if o := &k.Instrs[i]; o.Waits {
				rows = append(rows, row{o.Pos.Line, "\t\t  " + o.Text + ": anew"})
			}
		}
		slices.SortStableFunc(rows, func(x, y row) int { return cmp.Compare(x.line, y.line) })
		for _, r := range rows {
			fmt.Fprintf(w, "%d\t%s\n", r.line, r.cells)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}
