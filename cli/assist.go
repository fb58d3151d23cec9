package cli

// This file is "gemu assist": PTX with assist routines at program points.

import (
	"os"

	"gemu/internal/input"
	"gemu/machine/assist"
)

type assistCmd struct {
	sourceArg
	compileFlags
	Assist string `required:"" help:"Insert the assist routines in FILE: functions with .pragma \"gemu.assist trigger=pc:LABEL …\" (docs/caba.md)." placeholder:"FILE.ptx"`
	Out    string `short:"o" default:"-" help:"Write the PTX to FILE (- for standard output)." placeholder:"FILE"`
}

func (c *assistCmd) Run(a *app) error {
	if c.Out != "-" {
		if err := (outputs{{"--out", c.Out}}).check(); err != nil {
			return err
		}
	}
	name, src, err := a.readModule(c.File, c.compileFlags)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(c.Assist)
	if err != nil {
		return input.FileError("read", c.Assist, err)
	}
	out, err := assist.Insert(name, src, assist.Source{Name: c.Assist, Text: text})
	if err != nil {
		return err
	}
	return writeOutput(a, c.Out, []byte(out))
}
