package cli

// This file is the command "gemu compare".

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gemu/internal/notation"
	"gemu/kernels"
	"gemu/papers"
)

type compareCmd struct {
	Paper   string   `arg:"" predictor:"paper" help:"Paper or experiment: ${papers}."`
	List    bool     `help:"List the tables of the paper and their interpretations, and measure nothing."`
	Table   []string `predictor:"table" help:"Print only these tables and figures of the paper. Without --table, those are left out that take minutes: --list marks them as long. The papers have:${papertables}" placeholder:"NAME"`
	Reading []string `predictor:"reading" help:"Measure only these interpretations of the paper's text, and leave out tables without them. --list prints their names. The tables print the values of the first interpretation, and those of the others below." unset:"all" placeholder:"NAME"`
	Workers int      `group:"device" help:"Number of host threads. Results do not depend on it." unset:"all cores" placeholder:"N"`

	TimeLimit notation.Span `group:"device" env:"GEMU_TIME_LIMIT" help:"Time limit of each launch, such as 90s or 5m; a number without a unit is in seconds." unset:"no limit" placeholder:"TIME"`
	reportFlags
	tablesFlag
	CSV string `name:"csv" help:"Write a line for each value to FILE (- for standard output, instead of the text)." placeholder:"FILE"`
}

// tableNames lists the tables of each paper, for --help.
func tableNames() string {
	var list []string
	for _, p := range papers.All() {
		list = append(list, p.Name+": "+strings.Join(p.TableNames(), ", "))
	}
	return helpList(list...)
}

// namesForShells lists names of all papers, without names that need quotes in a shell.
func namesForShells(namesOf func(p *papers.Paper) []string) (list []string) {
	for _, p := range papers.All() {
		for _, name := range namesOf(p) {
			if !strings.ContainsAny(name, " %") && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

func (c *compareCmd) Run(a *app) error {
	p := papers.Named(c.Paper)
	if p == nil {
		return fmt.Errorf("unknown paper %s; want one of %s", c.Paper, strings.Join(papers.Names(), ", "))
	}
	if c.List {
		return printInterpretations(a.stdout, p, newScreen(a.stdout).chart())
	}
	tables, err := c.tables(p)
	if err != nil {
		return err
	}
	if err := checkMinimums(minimum{"--workers", int64(c.Workers), 0}); err != nil {
		return err
	}
	files := append(c.outputs(), outputs{{"--csv", c.CSV}}...)
	if err := files.check(); err != nil {
		return err
	}
	if err := c.tablesFlag.check(); err != nil {
		return err
	}
	output, err := c.compare(a, p, tables, files.stdout())
	if err != nil {
		return err
	}
	err = all(c.reportFlags.write(a, func() ([]byte, error) { return comparisonPage(output, tables) }, func() any { return output }), c.tablesFlag.write(a, comparisonFiles(output, tables)))
	if c.CSV != "" {
		err = all(err, writeOutput(a, c.CSV, output.CSV()))
	}
	return err
}

// printInterpretations prints the tables of a paper and their interpretations, in lines of at most width columns.
func printInterpretations(w io.Writer, p *papers.Paper, width int) error {
	print := func(indent, text string) {
		for _, line := range wrap(text, width-len(indent)) {
			fmt.Fprintf(w, "%s%s\n", indent, line)
		}
	}
	long := map[bool]string{true: " (long: measured only if named)"}
	print("", fmt.Sprintf("%s: %s", p.Name, p.Title))
	for _, t := range p.Tables {
		fmt.Fprintln(w)
		print("", fmt.Sprintf("%s: %s%s", t.Name, t.Title, long[t.OnlyIfNamed]))
		for _, i := range t.Interpretations {
			print("  ", fmt.Sprintf("%s: %s", i.Name, i.Doc))
		}
	}
	return nil
}

// tables returns the tables of a paper selected by the flags, with their interpretations.
func (c *compareCmd) tables(p *papers.Paper) ([]*papers.Table, error) {
	tables := p.Tables
	if len(c.Table) > 0 {
		tables = nil
		for _, name := range c.Table {
			t := p.Table(name)
			if t == nil {
				return nil, fmt.Errorf("--table %s: unknown; the tables of %s are %s", name, p.Name, strings.Join(p.TableNames(), ", "))
			}
			if !slices.Contains(tables, t) {
				tables = append(tables, t)
			}
		}
	}
	if len(c.Table)+len(c.Reading) == 0 {
		tables = papers.DefaultTables(tables)
	}
	tables, err := papers.SelectInterpretations(tables, c.Reading)
	if err != nil {
		return nil, fmt.Errorf("--reading %w", err)
	}
	return tables, nil
}

// compare measures tables, and prints them unless quiet.
func (c *compareCmd) compare(a *app, p *papers.Paper, tables []*papers.Table, quiet bool) (*papers.Comparison, error) {
	m := papers.NewMeter(a.ctx, c.Workers, time.Duration(c.TimeLimit), tables)
	defer m.Close()
	started := make([]*papers.Measurement, len(tables))
	for i, t := range tables {
		started[i] = t.Start(m)
	}
	s := newScreen(a.stdout)
	output := &papers.Comparison{Schema: "gemu-compare/3", Paper: p.Name, Title: p.Title}
	for i, t := range tables {
		printer := &tablePrinter{t, s}
		show := printer.row
		if quiet {
			show = nil
		} else {
			printer.head(p, i == 0)
		}
		result, err := started[i].Compare(show)
		if err != nil {
			var mismatch *kernels.Mismatch
			if errors.As(err, &mismatch) {
				return nil, &failure{err, exitFailed}
			}
			return nil, err
		}
		output.Tables = append(output.Tables, *result)
		if !quiet {
			printer.agreement(result)
		}
	}
	return output, nil
}
