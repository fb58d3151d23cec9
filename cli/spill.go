package cli

// This file is "gemu spill": a module rewritten to a number of physical registers.

import (
	"errors"
	"fmt"
	"slices"

	"gemu/ptx"
	"gemu/spill"
)

type spillCmd struct {
	sourceArg
	compileFlags
	Only  []string `short:"k" name:"kernel" help:"Rewrite only these functions." unset:"all" placeholder:"NAME"`
	Regs  int      `help:"Number of 32-bit registers of a thread in the rewritten PTX; required without --range." placeholder:"N"`
	Out   string   `short:"o" default:"-" help:"Write the PTX to FILE (- for standard output)." placeholder:"FILE"`
	Range bool     `help:"Write no PTX, and print three register counts of each function: the minimum, the minimum without spills (r_base), and the maximum of registers that are live at once."`
	JSON  string   `name:"json" help:"Write the counts of each function as JSON to FILE (- for standard output, instead of the text)." placeholder:"FILE"`
}

// spillJSON is the report of --json about a module.
type spillJSON struct {
	Schema    string       `json:"schema"`              // "gemu-spill/2"
	File      string       `json:"file"`                // name of the module in messages
	Regs      int          `json:"regs,omitempty"`      // registers of 32 bits available to a thread
	Functions []spill.Func `json:"functions,omitempty"` // result for each function, in the order of the source
	Ranges    []spillRange `json:"ranges,omitempty"`    // with --range: useful numbers of registers of each function
}

// spillRange is the report of --range about a function.
type spillRange struct {
	Name     string `json:"name"`     // name of the function
	Line     int    `json:"line"`     // line of its beginning in the source
	Min      int    `json:"min_regs"` // minimum number of registers, given by its instructions
	Base     int    `json:"base"`     // minimum number of registers without avoidable reloads (r_base)
	Pressure int    `json:"pressure"` // maximum number of registers needed at the same time
}

func (c *spillCmd) Run(a *app) error {
	if (c.Regs != 0) == c.Range {
		return errors.New("give one of --regs N and --range")
	}
	if c.Range && c.Out != "-" {
		return errors.New("--out does not apply: --range writes no PTX")
	}
	if c.Regs < 0 || c.Regs > spill.MaxRegs {
		return fmt.Errorf("--regs %d: want 1 to %d registers of a thread", c.Regs, spill.MaxRegs)
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
		if f, ok := m.Lookup(name).(*ptx.Func); !ok || !f.Defined {
			return fmt.Errorf("-k %s: %s has no such function with a body", name, m.Name)
		}
	}
	files := outputs{{"--json", c.JSON}}
	if c.Out != "-" { // JSON on standard output replaces the PTX there
		files = append(files, outputs{{"--out", c.Out}}...)
	}
	if err := files.check(); err != nil {
		return err
	}
	if c.Range {
		return c.printRange(a, m)
	}
	out, funcs, err := spill.Module(a.ctx, m, c.Regs, c.Only...)
	if err != nil {
		return explained(err)
	}
	if c.JSON != "" {
		err = writeJSON(a, c.JSON, spillJSON{"gemu-spill/2", name, c.Regs, funcs, nil})
	}
	if c.JSON == "-" && c.Out == "-" {
		return err
	}
	return all(err, writeOutput(a, c.Out, []byte(out)))
}

// explained returns an error with the source line of the error.
func explained(err error) error {
	var e *spill.Error
	if errors.As(err, &e) && e.Line != "" {
		return fmt.Errorf("%w\n%s", err, e.Snippet())
	}
	return err
}

// printRange prints the report of --range.
func (c *spillCmd) printRange(a *app, m *ptx.Module) error {
	var list []spillRange
	for _, d := range m.Decls {
		f, ok := d.(*ptx.Func)
		if !ok || !f.Defined || len(c.Only) > 0 && !slices.Contains(c.Only, f.Name) {
			continue
		}
		r, err := spill.RangeOf(a.ctx, f)
		if err != nil {
			return explained(err)
		}
		list = append(list, spillRange{f.Name, int(f.Pos.Line), r.Min, r.Base, r.Pressure})
	}
	if c.JSON != "" {
		if err := writeJSON(a, c.JSON, spillJSON{Schema: "gemu-spill/2", File: m.Name, Ranges: list}); err != nil || c.JSON == "-" {
			return err
		}
	}
	fmt.Fprintln(a.stdout, "least  base  at once  function")
	for _, r := range list {
		fmt.Fprintf(a.stdout, "%5d %5d %8d  %s\n", r.Min, r.Base, r.Pressure, r.Name)
	}
	return nil
}
