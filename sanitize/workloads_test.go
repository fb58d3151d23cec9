package sanitize

import (
	"bytes"
	"context"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/kernels"
)

// TestWorkloads: nothing is found in the workload library.
func TestWorkloads(t *testing.T) {
	for _, w := range kernels.All() {
		t.Run(w.Name, func(t *testing.T) {
			for _, tool := range Tools {
				s := New([]*Tool{tool}, Options{})
				dev := interp.NewDevice(interp.Config{Probes: s.Probes})
				session, err := kernels.Start(context.Background(), w, dev, part.Of(min(w.N, 33), 1+w.N/16, w.N))
				if err != nil {
					t.Fatal(err)
				}
				session.Prepare = func(l *interp.Launch) { l.Mode = interp.Vector }
				if err := w.Run(session); err != nil {
					t.Errorf("%s: %v", tool.Name, err)
				}
				if list := s.Findings(); len(list) > 0 {
					var b bytes.Buffer
					s.Print(&b, 0)
					t.Errorf("%s:\n%s", tool.Name, b.String())
				}
			}
		})
	}
}
