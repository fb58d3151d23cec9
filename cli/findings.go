package cli

// This file has the flags for reports to CI systems, of gemu exec and gemu run.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gemu/internal/input"
	"gemu/internal/version"
	"gemu/report"
)

// findingsFlags select reports of findings, and the findings that count.
type findingsFlags struct {
	Suppress      []string `group:"reports" sep:"none" help:"Read rules from FILE: a finding that matches one does not count. May be given several times. docs/reports.md describes the format." placeholder:"FILE"`
	Baseline      string   `group:"reports" help:"Read known findings from FILE, as --write-baseline writes it: they do not count." placeholder:"FILE"`
	WriteBaseline string   `group:"reports" help:"Write all findings to FILE as known findings, and do not count them." placeholder:"FILE"`
	JUnit         string   `group:"reports" name:"junit" help:"Write the findings as JUnit XML to FILE: a test case for each kernel." placeholder:"FILE"`
	SARIF         string   `group:"reports" name:"sarif" help:"Write the findings as SARIF 2.1.0 to FILE." placeholder:"FILE"`
	GitHub        *bool    `group:"reports" name:"github" help:"Print a workflow command of GitHub for each finding: an annotation of the line. --github=false prints none." unset:"on if the variable GITHUB_ACTIONS is true"`
}

// rules are the rules of findingsFlags.
type rules struct{ suppressions, baseline []*report.Rule }

// readRules reads the rules, and checks the names of the outputs of these flags and of others. It is called before anything runs.
func (f *findingsFlags) readRules(a *app, others outputs) (*rules, error) {
	r := new(rules)
	for _, name := range f.Suppress {
		list, err := readRuleFile(a, "--suppress", name)
		if err != nil {
			return nil, err
		}
		r.suppressions = append(r.suppressions, list...)
	}
	if f.Baseline != "" {
		var err error
		if r.baseline, err = readRuleFile(a, "--baseline", f.Baseline); err != nil {
			return nil, err
		}
	}
	if f.Baseline != "" && f.WriteBaseline != "" {
		return nil, errors.New("--baseline and --write-baseline: want one of both; --write-baseline replaces the file")
	}
	flags := map[string]string{}
	for _, out := range append(others, outputs{{"--write-baseline", f.WriteBaseline}, {"--junit", f.JUnit}, {"--sarif", f.SARIF}}...) {
		if out.name == "" {
			continue
		}
		file, _ := filepath.Abs(out.name)
		if other := flags[file]; other != "" {
			return nil, fmt.Errorf("%s and %s: both name %s; want different files", other, out.flag, out.name)
		}
		flags[file] = out.flag
		if err := checkOutput(out.name); err != nil {
			return nil, fmt.Errorf("%s %s: %w", out.flag, out.name, err)
		}
	}
	return r, nil
}

// maxRules is the largest size of a file of rules, in bytes.
const maxRules = 16 << 20

// readRuleFile reads a file of rules.
func readRuleFile(a *app, flag, name string) ([]*report.Rule, error) {
	b, err := input.ReadFile(a.ctx, name, maxRules)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	list, err := report.ParseRules(name, string(b))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return list, nil
}

// apply marks the findings that do not count, and writes a new baseline.
func (f *findingsFlags) apply(a *app, rules *rules, r *report.Report) error {
	r.Apply(rules.suppressions, rules.baseline)
	if f.WriteBaseline == "" {
		return nil
	}
	text := r.Baseline()
	if err := writeOutput(a, f.WriteBaseline, []byte(text)); err != nil {
		return fmt.Errorf("--write-baseline: %w", err)
	}
	baseline, err := report.ParseRules(f.WriteBaseline, text)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	r.Apply(rules.suppressions, baseline)
	return nil
}

// write writes the reports of the flags.
func (f *findingsFlags) write(a *app, r *report.Report) error {
	r.Root = os.Getenv("GITHUB_WORKSPACE") // GitHub resolves names of files there
	for _, out := range []struct {
		flag, name string
		write      func(w io.Writer) error
	}{
		{"--junit", f.JUnit, r.JUnit},
		{"--sarif", f.SARIF, func(w io.Writer) error { return r.SARIF(w, version.Number()) }},
	} {
		if out.name == "" {
			continue
		}
		var b strings.Builder
		err := out.write(&b)
		if err == nil {
			err = writeOutput(a, out.name, []byte(b.String()))
		}
		if err != nil {
			return &failure{fmt.Errorf("%s %s: %w", out.flag, out.name, err), exitBad}
		}
	}
	github := os.Getenv("GITHUB_ACTIONS") == "true"
	if f.GitHub != nil {
		github = *f.GitHub
	}
	if github {
		return r.GitHub(dataOf(a.stderr)) // GitHub reads both outputs, and standard output may have data
	}
	return nil
}
