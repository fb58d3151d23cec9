// Package planted tests a sanitizer with kernels that have planted faults, and with correct kernels.
package planted

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gemu/internal/cases"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// expected matches the note of an expected finding on its line:
//
//	st.shared.u32 [%a], %b;  //! write after read
//
// On a line of a function the note names the kernel: "//! KERNEL: write after read".
var expected = regexp.MustCompile(`//!\s*(.*?)\s*$`)

// Tool creates the sanitizer under test.
type Tool func(log *finding.Log) probe.Probe

// CheckFiles runs the "// sanitize" cases of all matching files, in every mode, under every reconvergence policy, on both engines,
// and on one and several host threads. The findings must equal the notes (//!) in the source by line and kind.
func CheckFiles(t *testing.T, pattern string, tool Tool) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases %s: %v", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".ptx"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			mod, err := ptx.Parse(filepath.Base(file), src)
			if err != nil {
				t.Fatal(err)
			}
			list, err := cases.Read(string(src))
			if err != nil {
				t.Fatal(err)
			}
			if len(list) == 0 {
				t.Fatal("no cases")
			}
			for i := range list {
				runFile(t, mod, &list[i], tool)
			}
		})
	}
}

// setting is a way to run a case.
type setting struct {
	mode       interp.Mode
	reconverge *interp.Reconverger
	workers    int
	engine     interp.Engine
}

func settings() []setting {
	list := []setting{{interp.Affine, nil, 2, interp.Portable}, {interp.Check, nil, 1, interp.Portable}, {interp.Vector, nil, 1, interp.Auto}}
	for _, r := range interp.Reconvergers() {
		list = append(list, setting{interp.Vector, r, 1, interp.Auto})
	}
	return list
}

func runFile(t *testing.T, m *ptx.Module, c *cases.Case, tool Tool) {
	t.Helper()
	k, _ := m.Lookup(c.Kernel).(*ptx.Func)
	if k == nil {
		t.Fatalf("line %d: no kernel %s", c.Line, c.Kernel)
	}
	want := notes(m, k)
	var first []finding.Finding
	for _, s := range settings() {
		name := fmt.Sprintf("line %d, %s in mode %s", c.Line, c.Kernel, s.mode)
		if s.reconverge != nil {
			name += " under " + s.reconverge.Name()
		}
		found, err := run(m, k, c, s, tool)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for i := range found {
			got = append(got, fmt.Sprintf("%d: %s", found[i].Place.Line, found[i].Kind))
		}
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			var b strings.Builder
			finding.Print(&b, found, nil, 0)
			t.Errorf("%s: found %q, want %q\n%s", name, got, want, b.String())
		}
		if s.reconverge == nil { // same schedule
			if first == nil {
				first = found
			} else if a, b := printed(first), printed(found); a != b {
				t.Errorf("%s: found\n%s\nand before\n%s", name, b, a)
			}
		}
	}
}

func printed(list []finding.Finding) string {
	var b strings.Builder
	finding.Print(&b, list, nil, 0)
	return b.String()
}

// notes returns the expected findings of a kernel as "LINE: KIND", sorted.
func notes(m *ptx.Module, k *ptx.Func) []string {
	var list []string
	inSection := false
	for n := 1; n <= 1+strings.Count(m.Source(), "\n"); n++ {
		line := m.Line(n)
		inSection = inSection || n == int(k.Pos.Line)
		if found := expected.FindStringSubmatch(line); found != nil {
			for _, kind := range strings.Split(found[1], ",") {
				name, file, named := strings.Cut(strings.TrimSpace(kind), ": ")
				switch {
				case named && name == k.Name:
					list = append(list, fmt.Sprintf("%d: %s", n, file))
				case !named && inSection:
					list = append(list, fmt.Sprintf("%d: %s", n, name))
				}
			}
		}
		inSection = inSection && !strings.HasPrefix(line, "}")
	}
	slices.Sort(list)
	return list
}

// run runs a case with a sanitizer.
func run(m *ptx.Module, k *ptx.Func, c *cases.Case, s setting, tool Tool) ([]finding.Finding, error) {
	var log finding.Log
	dev := interp.NewDevice(interp.Config{SM: c.SM, Workers: s.workers, Engine: s.engine, Probes: []probe.Probe{tool(&log)}})
	mod, err := dev.LoadModule(m)
	if err != nil {
		return nil, err
	}
	args, _, err := c.Arguments(k.Params, func(data []byte) (any, error) { return interp.NewBuffer(dev, data) },
		func(o cases.Object) (any, error) { return mod.MakeObject(o.Name, o.Text, cases.Values) })
	if err != nil {
		return nil, err
	}
	_, err = mod.Run(context.Background(), &interp.Launch{
		Kernel: k.Name, Grid: ptx.Dim(c.Grid[:]...), Block: ptx.Dim(c.Blocks[0][:]...), Args: args, Shared: c.Shared,
		Cooperative: c.Cooperative, Cluster: ptx.Dim3{X: c.Cluster[0], Y: c.Cluster[1], Z: c.Cluster[2]}, WarpSize: c.Widths[0],
		MaxSteps: 1 << 21, Mode: s.mode, Reconverge: s.reconverge, EagerEffects: c.EarlyOnly,
	})
	return log.Findings(), err
}

// Selected is a probe for the launches of a sanitizer. It must follow the sanitizer in the list of probes.
type Selected struct {
	Of      probe.EventSelector // the sanitizer
	Opcodes []string            // of the instructions of the latest launch with selected events, in their order
}

// Subscription asks for the begin of launches.
func (*Selected) Subscription() probe.Subscription { return probe.Subscription{Events: probe.OnLaunch} }

// CTA returns nil: events of CTAs are ignored.
func (*Selected) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return nil }

// OnEvent notes the selection of a launch.
func (s *Selected) OnEvent(e *probe.Event) {
	if e.Kind != probe.OnLaunch {
		return
	}
	s.Opcodes = nil
	for i, kinds := range s.Of.SelectEvents(e.Launch) {
		if instr, _ := e.Launch.Program.At(i); kinds != 0 {
			s.Opcodes = append(s.Opcodes, strings.Fields(instr.Text)[0])
		}
	}
}
