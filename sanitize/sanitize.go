// Package sanitize finds faults of kernels that run to their end: each tool is a probe that looks
// at one kind, and tells a log of what it finds. None changes what a kernel does.
package sanitize

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"gemu/interp"
	"gemu/sanitize/finding"
	"gemu/sanitize/validity"
)

// Options are those of the tools.
type Options struct {
	WarpSync int // lanes of a warp that execute in lockstep and are ordered by that, whatever .target says; 0: it does
}

// Tool is a sanitizer.
type Tool struct {
	Name    string
	Aliases []string // what NVIDIA's compute-sanitizer calls it
	Doc     string   // what it finds

	probe func(log *finding.Log, o Options) interp.Probe
}

// Tools are all of them.
var Tools = []*Tool{
	{
		Name: "init", Aliases: []string{"initcheck"}, Doc: "uses of values that nothing has written",
		probe: func(log *finding.Log, _ Options) interp.Probe { return validity.New(log) },
	},
}

// Names lists what they are called.
func Names() string {
	var names []string
	for _, t := range Tools {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

// Parse reads a list of tools: "race,init". "all" is those that are not only of use now and then.
func Parse(list string) ([]*Tool, error) {
	var tools []*Tool
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		if name == "all" {
			tools = append(tools, Tools...)
			continue
		}
		i := slices.IndexFunc(Tools, func(t *Tool) bool { return t.Name == name || slices.Contains(t.Aliases, name) })
		if i < 0 {
			return nil, fmt.Errorf("no sanitizer %q: want some of %s, or all", name, Names())
		}
		tools = append(tools, Tools[i])
	}
	slices.SortFunc(tools, func(a, b *Tool) int { return slices.Index(Tools, a) - slices.Index(Tools, b) })
	return slices.Compact(tools), nil
}

// Sanitizer is tools at work on a device.
type Sanitizer struct {
	finding.Log
	Probes []interp.Probe // the device's
}

// New makes tools ready.
func New(tools []*Tool, o Options) *Sanitizer {
	s := &Sanitizer{}
	for _, t := range tools {
		s.Probes = append(s.Probes, t.probe(&s.Log, o))
	}
	return s
}

// Print writes what has been found, up to limit findings (0: all).
func (s *Sanitizer) Print(w io.Writer, limit int) error { return finding.Print(w, s.Findings(), limit) }
