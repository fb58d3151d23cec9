package sanitize

import (
	"bytes"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/kernels"
)

// TestNoFindingsInWorkloads checks that the workload library has no findings, with each tool and with all together: a third
// of the workloads, with GEMU_TEST=ci every workload.
func TestNoFindingsInWorkloads(t *testing.T) {
	part.SkipShort(t)
	isTried := part.Share(t, 3, 1, 1)
	for i, w := range kernels.All() {
		if !isTried(i) {
			continue
		}
		t.Run(w.Name, func(t *testing.T) {
			clean := func(n int, tools ...*Tool) {
				t.Helper()
				s := New(tools, Options{})
				session, err := kernels.Start(t.Context(), w, interp.NewDevice(interp.Config{Probes: s.Probes}), n)
				if err != nil {
					t.Fatal(err)
				}
				session.Prepare = func(l *interp.Launch) { l.Mode = interp.Vector }
				if err := w.Run(session); err != nil {
					t.Error(err)
				}
				if s.Finish(); len(s.Findings()) > 0 {
					var b bytes.Buffer
					s.Print(&b, 0)
					t.Error(b.String())
				}
			}
			for _, tool := range Tools {
				clean(min(w.N, 33), tool)
			}
			clean(max(w.N/64, min(w.N, 64)), Tools...)
			if n := part.Count(0, 1+w.N/16, w.N); n > 0 {
				clean(n, Tools...)
			}
		})
	}
}
