package cli

// This file is the command "gemu compare".

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gemu/internal/notation"
	"gemu/kernels"
	"gemu/papers"
)

type compareCmd struct {
	Paper   string   `arg:"" predictor:"paper" help:"Paper: ${papers}."`
	Table   []string `predictor:"table" help:"Tables and figures of the paper to print (default: all except slow ones): ${papertables}." placeholder:"NAME"`
	Reading []string `predictor:"reading" help:"Interpretations of the paper to measure; tables without them are left out (default: all interpretations of the tables in --table, or all except slow ones). The first interpretation of a table gives its main values. Names: ${paperreadings}." placeholder:"NAME"`
	Workers int      `help:"Host threads (default: all cores); results do not depend on their number." placeholder:"N"`

	TimeLimit notation.Span `env:"GEMU_TIME_LIMIT" help:"Time limit of each launch (default: no limit)." placeholder:"TIME"`
	reportFlags
	tablesFlag
	CSV string `name:"csv" help:"Write a line for each value to FILE (- for standard output, instead of the text)." placeholder:"FILE"`
}

// eachPaper lists names of each paper, for --help.
func eachPaper(namesOf func(p *papers.Paper) []string) string {
	var list []string
	for _, p := range papers.All() {
		list = append(list, p.Name+" has "+strings.Join(namesOf(p), ", "))
	}
	return strings.Join(list, "; ")
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
		return fmt.Errorf("unknown paper %s: want one of %s", c.Paper, strings.Join(papers.Names(), ", "))
	}
	tables, err := c.tables(p)
	switch {
	case err != nil:
		return err
	case c.Workers < 0:
		return fmt.Errorf("--workers must be at least 0")
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

// tables returns the tables of a paper selected by the flags, with their interpretations.
func (c *compareCmd) tables(p *papers.Paper) ([]*papers.Table, error) {
	tables := p.Tables
	if len(c.Table) > 0 {
		tables = nil
		for _, name := range c.Table {
			t := p.Table(name)
			if t == nil {
				return nil, fmt.Errorf("--table %s: the tables of %s are %s", name, p.Name, strings.Join(p.TableNames(), ", "))
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
