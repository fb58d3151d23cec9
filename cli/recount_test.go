package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/internal/part"
	"gemu/internal/recount"
	"gemu/interp"
	"gemu/kernels"
	"gemu/probe"
)

// TestRegfileRecount recounts the output of "gemu regfile": bytes, and compact writes by model, by line and in total, as
// JSON and as text.
func TestRegfileRecount(t *testing.T) {
	part.SkipShort(t)
	names := []string{"kim", "avc", "gscalar", "combined"}
	for _, c := range []struct {
		workload string
		size     int
	}{{"bfs", 80}, {"lps", 16}, {"rsort", 40}, {"nqueens", 5}} {
		var text, object bytes.Buffer
		for file, out := range map[string]*bytes.Buffer{"": &text, "-": &object} {
			cmd := &regfileCmd{launchFlags: launchFlags{sourceArg: sourceArg{"@" + c.workload}, kernelFlags: kernelFlags{programFlags{Size: c.size}, deviceFlags{Warp: 32, Workers: 1}}}, Model: strings.Join(names, ","), Reconverge: "stack", reportFlags: reportFlags{JSON: file}}
			if err := cmd.Run(&app{Extensions: new(Extensions), ctx: t.Context(), stdout: out, stderr: io.Discard}); err != nil {
				t.Fatal(err)
			}
		}
		var got regfileReport
		if err := json.Unmarshal(object.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		w := kernels.Lookup(c.workload)
		s, err := kernels.Start(t.Context(), w, interp.NewDevice(interp.Config{}), c.size)
		if err != nil {
			t.Fatal(err)
		}
		again := &recount.MachineAndWrites{Machine: recount.Machine{IgnoresExited: true}}
		s.Prepare = func(l *interp.Launch) {
			l.Mode, l.Reconverge, l.Probes = interp.Vector, interp.ReconvergerNamed("stack"), []probe.Probe{again}
		}
		if err := w.Run(s); err != nil {
			t.Fatal(err)
		}
		counted := func(k *storageCounts) recount.Written {
			w := recount.Written{Writes: int(k.Writes), Bytes: int(k.Bytes), Stored: map[string]int{}, Sets: map[string]int{}}
			for name, n := range k.ByModel {
				w.Stored[name] = int(n.Bytes)
			}
			for _, set := range k.Sets {
				w.Sets[strings.Join(set.Models, " ")] = int(set.Writes)
			}
			return w
		}
		if len(got.Lines) != len(again.Written) {
			t.Errorf("%s: %d lines, again %d", c.workload, len(got.Lines), len(again.Written))
		}
		for i := range got.Lines {
			line := &got.Lines[i]
			if again.Written[int32(line.Line)] == nil {
				t.Errorf("%s, line %d: has written nothing", c.workload, line.Line)
			} else if diff := cmp.Diff(*again.Written[int32(line.Line)], counted(&line.storageCounts)); diff != "" {
				t.Errorf("%s, line %d, %s (-again +regfile):\n%s", c.workload, line.Line, line.Text, diff)
			}
		}
		total := again.Total()
		if diff := cmp.Diff(total, counted(&got.Total)); diff != "" {
			t.Errorf("%s, in all (-again +regfile):\n%s", c.workload, diff)
		}
		for _, name := range names {
			kept, alone := 0, total.Sets[name]
			for set, n := range total.Sets {
				if slices.Contains(strings.Fields(set), name) {
					kept += n
				}
			}
			by := got.Total.ByModel[name]
			if int(by.Compact) != kept || int(by.OnlyThis) != alone {
				t.Errorf("%s, %s: keeps %d, %d of them alone; again %d, %d", c.workload, name, by.Compact, by.OnlyThis, kept, alone)
			}
			of := func(part, all int) string {
				if part > 0 && 2000*part < all {
					return "<0.1 %"
				}
				return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(all))
			}
			want := strings.Join([]string{name, of(kept, total.Writes), of(alone, total.Writes), of(total.Stored[name], total.Bytes)}, " ")
			if !slices.ContainsFunc(strings.Split(text.String(), "\n"), func(line string) bool { return strings.Join(strings.Fields(line), " ") == want }) {
				t.Errorf("%s: no line %q in\n%s", c.workload, want, text.String()[:400])
			}
		}
	}
}
