package cli

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"

	"gemu/affinetrack"
	"gemu/fuzz"
	"gemu/internal/version"
	"gemu/interp"
	"gemu/machine"
	"gemu/machine/core"
	"gemu/machine/dispatch"
	"gemu/machine/systems"
	"gemu/models/catalog"
	"gemu/papers"
	"gemu/probe"
	"gemu/record"
	"gemu/sanitize"
)

// Extensions are additions to the command gemu. Each has a name, by which command lines choose it: a word without spaces
// and commas. The name must be unique among extensions of its kind, including gemu's own. The zero value adds nothing.
type Extensions struct {
	// Models of register files: gemu regfile --model NAME. A model with Default runs if the command line names none.
	Models []catalog.Entry
	// Sanitizers: gemu run --sanitize NAME. A sanitizer that is not Rare is part of --sanitize=all.
	Sanitizers []*sanitize.Tool
	// Probes: gemu run --probe NAME.
	Probes []Probe
	// Policies of reconvergence, as interp.NewReconverger makes them, for --reconverge NAME of the commands with this flag. gemu
	// reconverge compares them with gemu's own.
	Policies []*interp.Reconverger
	// Replacements are replacement policies of caches, for gemu machine.
	Replacements []*machine.Replacement
	// Dispatchers choose the multiprocessors of CTAs, for gemu machine.
	Dispatchers []*dispatch.Policy
	// Schedulers choose the warps that issue on a machine with a clock, for gemu machine.
	Schedulers []*core.Policy
	// Systems replace parts of a machine, for gemu machine --with.
	Systems []System
}

// Probe is a probe for gemu run --probe.
type Probe struct {
	Name string          // name on the command line: see Extensions
	Doc  string          // a line for --help
	New  func() Reporter // makes the probe of a run; must not return nil
}

// Reporter is a probe that prints a report.
type Reporter interface {
	probe.Probe

	// Report writes the report. It is called once, after the launches that the probe observes, also if they have failed. It is not
	// called if no launch began.
	Report(w io.Writer) error
}

// check returns an error if a name cannot be chosen, or if a function is missing.
func (x *Extensions) check() error {
	if slices.Contains(x.Sanitizers, nil) || slices.Contains(x.Policies, nil) || slices.Contains(x.Replacements, nil) || slices.Contains(x.Dispatchers, nil) || slices.Contains(x.Schedulers, nil) {
		return errors.New("this command has a sanitizer, a reconvergence policy, a replacement policy, a dispatcher or a scheduler that is nil")
	}
	var models, sanitizers, replacements []string
	for _, r := range slices.Concat(machine.Replacements, x.Replacements) {
		replacements = append(replacements, r.Name)
	}
	var systemNames []string
	for _, s := range slices.Concat(systems.Makers, x.Systems) {
		systemNames = append(systemNames, s.Name)
	}
	dispatchers := []string{dispatch.Rotation.Name, dispatch.Pairs.Name}
	for _, d := range x.Dispatchers {
		dispatchers = append(dispatchers, d.Name)
	}
	var schedulers []string
	for _, p := range slices.Concat(core.Policies, x.Schedulers) {
		schedulers = append(schedulers, p.Name)
	}
	for _, e := range catalog.All(x.Models...) {
		models = append(models, e.Name)
	}
	for _, t := range slices.Concat(sanitize.Tools, x.Sanitizers) {
		sanitizers = append(append(sanitizers, t.Name), t.Aliases...)
	}
	return errors.Join(
		checkNames("model", models),
		checkNames("sanitizer", append(sanitizers, "all")),
		checkNames("probe", x.probeNames()),
		checkNames("reconvergence policy", x.reconvergerNames()),
		checkNames("replacement policy", replacements),
		checkNames("dispatcher", dispatchers),
		checkNames("scheduler", schedulers),
		checkNames("system", systemNames),
		x.checkDocs(),
		checkNew("model", x.Models, func(e catalog.Entry) (string, bool) { return e.Name, e.New != nil }),
		checkNew("sanitizer", x.Sanitizers, func(t *sanitize.Tool) (string, bool) { return t.Name, t.New != nil }),
		checkNew("replacement policy", x.Replacements, func(r *machine.Replacement) (string, bool) { return r.Name, r.New != nil }),
		checkNew("system", x.Systems, func(s System) (string, bool) { return s.Name, s.New != nil }),
		checkNew("dispatcher", x.Dispatchers, func(d *dispatch.Policy) (string, bool) { return d.Name, d.New != nil }),
		checkNew("scheduler", x.Schedulers, func(p *core.Policy) (string, bool) { return p.Name, p.New != nil }),
		checkNew("probe", x.Probes, func(p Probe) (string, bool) { return p.Name, p.New != nil }),
	)
}

// checkNames returns an error if a name is no word, or is used twice in a kind.
func checkNames(kind string, names []string) error {
	for i, name := range names {
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r == ',' || unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
			return fmt.Errorf("this command has a %s with the name %q: want a word without spaces and commas", kind, name)
		}
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("this command has the %s %s twice: rename the added one", kind, name)
		}
	}
	return nil
}

// checkDocs returns an error if a line for --help has a variable of kong: kong expands the texts of flags more than once,
// and would remove any escape.
func (x *Extensions) checkDocs() error {
	docs := map[string]string{}
	for _, p := range x.Probes {
		docs["probe "+p.Name] = p.Doc
	}
	for _, r := range x.Policies {
		docs["reconvergence policy "+r.Name()] = r.Doc()
	}
	for _, r := range x.Replacements {
		docs["replacement policy "+r.Name] = r.Doc
	}
	for _, s := range x.Systems {
		docs["system "+s.Name] = s.Doc
	}
	for _, d := range x.Dispatchers {
		docs["dispatcher "+d.Name] = d.Doc
	}
	for _, p := range x.Schedulers {
		docs["scheduler "+p.Name] = p.Doc
	}
	for name, doc := range docs {
		if strings.Contains(doc, "${") {
			return fmt.Errorf("the help text of the %s contains \"${\", which is reserved: change the text", name)
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

// machinePolicies are the added policies of the machine model.
func (x *Extensions) machinePolicies() machine.Policies {
	return machine.Policies{Replacements: x.Replacements, Dispatchers: x.Dispatchers, Schedulers: x.Schedulers}
}

// reconvergers are the reconvergence policies, gemu's own first.
func (x *Extensions) reconvergers() []*interp.Reconverger {
	return slices.Concat(interp.Reconvergers(), x.Policies)
}

func (x *Extensions) reconvergerNames() (names []string) {
	for _, r := range x.reconvergers() {
		names = append(names, r.Name())
	}
	return names
}

// parseReconverger returns the reconvergence policy of a name, such as stack or its:8.
func (x *Extensions) parseReconverger(name string) (*interp.Reconverger, error) {
	return interp.ParseReconverger(name, x.Policies...)
}

// reconverger is parseReconverger for a name that the parser of the command line has accepted.
func (x *Extensions) reconverger(name string) *interp.Reconverger {
	r, _ := x.parseReconverger(name)
	return r
}

// decodeReconverger reads the value of a flag for a reconvergence policy. The flag's field gets the name.
func (x *Extensions) decodeReconverger(line *kong.DecodeContext, field reflect.Value) error {
	var name string
	if err := line.Scan.PopValueInto("policy", &name); err != nil {
		return err
	}
	if _, err := x.parseReconverger(name); err != nil {
		return err
	}
	field.SetString(name)
	return nil
}

// probes makes the probes of a list of names.
func (x *Extensions) probes(names []string) (list []Reporter, err error) {
	for i, name := range names {
		found := slices.IndexFunc(x.Probes, func(p Probe) bool { return p.Name == name })
		switch {
		case len(x.Probes) == 0:
			return nil, fmt.Errorf("unknown probe %q: this command has no probes; docs/go.md shows how another module adds some", name)
		case found < 0:
			return nil, fmt.Errorf("unknown probe %q: want some of %s", name, strings.Join(x.probeNames(), ", "))
		case slices.Contains(names[:i], name):
			return nil, fmt.Errorf("probe %s is given twice", name)
		}
		r := x.Probes[found].New()
		if r == nil {
			return nil, fmt.Errorf("the function New of probe %s has returned nil", name)
		}
		list = append(list, r)
	}
	return list, nil
}

func (x *Extensions) probeNames() (names []string) {
	for _, p := range x.Probes {
		names = append(names, p.Name)
	}
	return names
}

// probeDocs completes the sentence "This command has …" of the help of --probe.
func (x *Extensions) probeDocs() string {
	if len(x.Probes) == 0 {
		return "none."
	}
	var list []string
	for _, p := range x.Probes {
		list = append(list, p.Name+": "+p.Doc)
	}
	return "these:" + helpList(list...)
}

// vars returns the lists of names in the help of flags.
func (x *Extensions) vars() kong.Vars {
	var reconvergence, policies, sanitizers, orders []string
	for _, r := range x.reconvergers() {
		reconvergence = append(reconvergence, r.Name()+": "+r.Doc())
		if r.Name() == "its" {
			reconvergence = append(reconvergence, "its:N, such as its:8: as its, with time slices of exactly N instructions, to see how lanes interleave")
		}
	}
	for _, p := range slices.Concat(affinetrack.Policies, affinetrack.Variants) {
		policies = append(policies, p.Name+": "+p.Doc)
	}
	for _, t := range slices.Concat(sanitize.Tools, x.Sanitizers) {
		item := t.Name + ": " + t.Doc
		if t.Rare {
			item += " (not part of all)"
		}
		sanitizers = append(sanitizers, item)
	}
	for _, o := range profileOrders {
		orders = append(orders, o.name+": "+o.doc)
	}
	var replacements []string
	for _, r := range slices.Concat(machine.Replacements, x.Replacements) {
		replacements = append(replacements, "policy "+r.Name+": "+r.Doc)
	}
	var dispatchers, systemDocs []string
	for _, s := range slices.Concat(systems.Makers, x.Systems) {
		systemDocs = append(systemDocs, s.Name+": "+s.Doc)
	}
	for _, form := range dispatch.Forms {
		dispatchers = append(dispatchers, "dispatcher "+form)
	}
	for _, d := range x.Dispatchers {
		dispatchers = append(dispatchers, "dispatcher "+d.Name+": "+d.Doc)
	}
	var schedulers []string
	for _, p := range slices.Concat(core.Policies, x.Schedulers) {
		schedulers = append(schedulers, "scheduler "+p.Name+": "+p.Doc)
	}
	machinePartNames, machineShown := machinePartNames()
	return kong.Vars{
		"version":         version.Text(),
		"arguments":       "An argument is one of:" + helpList(argumentForms...),
		"engines":         helpList(engines...),
		"modes":           helpList(modes...),
		"logformats":      helpList(logFormats...),
		"sanitizers":      helpList(sanitizers...),
		"probes":          x.probeDocs(),
		"tolerables":      tolerables(),
		"recording_parts": strings.Join(record.ContentNames(), ", "),
		"features":        strings.Join(fuzz.FeatureNames(), ", "),
		"profileorders":   profileOrderNames(),
		"machines":        strings.Join(machine.Names(), ", "), "machineparameters": helpList("parameters: " + strings.Join(machine.ParameterNames(), ", ")), "replacements": helpList(replacements...), "dispatchers": helpList(dispatchers...), "schedulers": helpList(schedulers...), "machinesystems": helpList(systemDocs...),
		"machineparts":     strings.Join(machinePartNames, ","),
		"machineshow":      strings.Join(machineShown, ","),
		"machinepartdocs":  machinePartDocs(),
		"profileorderdocs": helpList(orders...),
		"policies":         helpList(policies...),
		"ctaorders":        helpList(dispatch.Syntax...),
		"papers":           strings.Join(papers.Names(), ", "),
		"papertables":      tableNames(),
		"models":           catalog.Names(x.Models...),
		"defaultmodels":    catalog.DefaultNames(x.Models...),
		"reconvergence":    "Reconvergence policy: the rule that chooses the warp split of a warp that runs next, and the place where warp splits reconverge (docs/reconvergence.md). One of:" + helpList(reconvergence...),
	}
}

// predictors returns the completions of arguments and flags.
func (x *Extensions) predictors() map[string]predictor {
	return map[string]predictor{
		"source":  func(prefix string) []string { return append(files("*.ptx")(prefix), workloadNames()...) },
		"paper":   words(papers.Names()...),
		"table":   words(namesForShells((*papers.Paper).TableNames)...),
		"reading": words(namesForShells((*papers.Paper).InterpretationNames)...),
		"model":   words(strings.Split(catalog.Names(x.Models...), ", ")...),
		"probe":   words(x.probeNames()...),

		"reconverger": words(append(x.reconvergerNames(), "its:8")...),
	}
}
