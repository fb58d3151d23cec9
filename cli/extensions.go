package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"gemu/fuzz"
	"gemu/interp"
	"gemu/models/catalog"
	"gemu/papers"
	"gemu/probe"
	"gemu/sanitize"
)

// Extensions are additions to the command gemu. Each has a name, by which command lines choose it: a word without spaces and
// commas that no other of its kind has, in gemu itself or here. The zero value adds nothing.
type Extensions struct {
	// Models of register files: gemu regfile --model NAME. A model with Default runs if the command line names none.
	Models []catalog.Entry
	// Sanitizers: gemu run --sanitize NAME. One that is not Rare is part of --sanitize=all.
	Sanitizers []*sanitize.Tool
	// Probes: gemu run --probe NAME.
	Probes []Probe
	// Policies of reconvergence, as interp.NewReconverger makes them: --reconverge NAME of all commands that run kernels.
	// gemu reconverge compares them with gemu's own.
	Policies []*interp.Reconverger
}

// Probe is a probe for gemu run --probe.
type Probe struct {
	Name string
	Doc  string          // one line for --help
	New  func() Reporter // makes the probe of one run
}

// Reporter is a probe that prints a report.
type Reporter interface {
	probe.Probe

	// Report writes the report. It is called once, after the last launch, also if that has failed.
	Report(w io.Writer) error
}

// check returns an error if a name cannot be chosen, or if a function is missing.
func (x *Extensions) check() error {
	var sanitizers []string
	for _, t := range slices.Concat(sanitize.Tools, x.Sanitizers) {
		sanitizers = append(append(sanitizers, t.Name), t.Aliases...)
	}
	return errors.Join(
		checkNames("model", strings.Split(catalog.Names(x.Models...), ", ")),
		checkNames("sanitizer", append(sanitizers, "all")),
		checkNames("probe", x.probeNames()),
		checkNames("reconvergence policy", x.reconvergerNames()),
		checkNew("model", x.Models, func(e catalog.Entry) (string, bool) { return e.Name, e.New != nil }),
		checkNew("sanitizer", x.Sanitizers, func(t *sanitize.Tool) (string, bool) { return t.Name, t.New != nil }),
		checkNew("probe", x.Probes, func(p Probe) (string, bool) { return p.Name, p.New != nil }),
	)
}

// checkNames returns an error if a name is no word, or stands for two things of a kind.
func checkNames(kind string, names []string) error {
	for i, name := range names {
		if name == "" || strings.ContainsAny(name, " \t\n,") {
			return fmt.Errorf("this command has a %s with the name %q: want a word without spaces and commas", kind, name)
		}
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("this command has two of the name %s %s: rename the one that was added", kind, name)
		}
	}
	return nil
}

// checkNew returns an error if an extension has no function New.
func checkNew[T any](kind string, list []T, isComplete func(T) (name string, complete bool)) error {
	for _, e := range list {
		if name, complete := isComplete(e); !complete {
			return fmt.Errorf("this command has a %s %s without a function New", kind, name)
		}
	}
	return nil
}

// reconvergers are the reconvergence policies, gemu's own first.
func (x *Extensions) reconvergers() []*interp.Reconverger {
	return slices.Concat(interp.Reconvergers, x.Policies)
}

func (x *Extensions) reconvergerNames() (names []string) {
	for _, r := range x.reconvergers() {
		names = append(names, r.Name)
	}
	return names
}

// reconverger finds a reconvergence policy by name; nil if there is none.
func (x *Extensions) reconverger(name string) *interp.Reconverger {
	for _, r := range x.reconvergers() {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// probes makes the probes of a list of names.
func (x *Extensions) probes(names []string) (list []Reporter, err error) {
	for i, name := range names {
		at := slices.IndexFunc(x.Probes, func(p Probe) bool { return p.Name == name })
		switch {
		case len(x.Probes) == 0:
			return nil, fmt.Errorf("no probe %q: this command has none; docs/go.md shows how another module adds some", name)
		case at < 0:
			return nil, fmt.Errorf("no probe %q: want some of %s", name, strings.Join(x.probeNames(), ", "))
		case slices.Contains(names[:i], name):
			return nil, fmt.Errorf("probe %s is there twice", name)
		}
		list = append(list, x.Probes[at].New())
	}
	return list, nil
}

func (x *Extensions) probeNames() (names []string) {
	for _, p := range x.Probes {
		names = append(names, p.Name)
	}
	return names
}

// probeDocs lists the probes with their lines of help.
func (x *Extensions) probeDocs() string {
	if len(x.Probes) == 0 {
		return "this command has none"
	}
	var list []string
	for _, p := range x.Probes {
		list = append(list, fmt.Sprintf("%s (%s)", p.Name, p.Doc))
	}
	return strings.Join(list, ", ")
}

// vars are the lists of names in the help of flags.
func (x *Extensions) vars() kong.Vars {
	var reconvergence []string
	for _, r := range x.reconvergers() {
		reconvergence = append(reconvergence, fmt.Sprintf("%s (%s)", r.Name, r.Doc))
	}
	return kong.Vars{
		"version":       version(),
		"sanitizers":    sanitize.Names(x.Sanitizers...),
		"probes":        x.probeDocs(),
		"tolerables":    tolerables(),
		"features":      strings.Join(fuzz.FeatureNames(), ", "),
		"profileorders": profileOrderNames(),
		"policies":      policyNames(),
		"papers":        strings.Join(papers.Names(), ", "),
		"papertables":   eachPaper((*papers.Paper).TableNames),
		"paperreadings": eachPaper((*papers.Paper).InterpretationNames),
		"models":        catalog.Names(x.Models...),
		"defaultmodels": catalog.DefaultNames(x.Models...),
		"reconvergers":  strings.Join(x.reconvergerNames(), ","),
		"reconvergence": strings.Join(reconvergence, ", "),
	}
}

// predictors complete arguments and flags.
func (x *Extensions) predictors() map[string]predictor {
	return map[string]predictor{
		"source":  func(begun string) []string { return append(files("*.ptx")(begun), workloadNames()...) },
		"paper":   words(papers.Names()...),
		"table":   words(namesForShells((*papers.Paper).TableNames)...),
		"reading": words(namesForShells((*papers.Paper).InterpretationNames)...),
		"model":   words(strings.Split(catalog.Names(x.Models...), ", ")...),
	}
}
