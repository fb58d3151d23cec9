package bounds

import (
	"os"
	"testing"

	"gemu/interp"
	"gemu/kernels"
	"gemu/sanitize/finding"
)

// TestWorkloads: the workload library is clean.
func TestWorkloads(t *testing.T) {
	for _, w := range kernels.All() {
		var log finding.Log
		dev := interp.NewDevice(interp.Config{Probes: []interp.Probe{New(&log)}})
		s, err := kernels.Start(t.Context(), w, dev, min(33, w.N))
		if err != nil {
			t.Fatal(err)
		}
		s.Prepare = func(l *interp.Launch) { l.Mode = interp.Vector }
		if err := w.Run(s); err != nil {
			t.Errorf("%s: %v", w.Name, err)
		}
		if list := log.Findings(); len(list) > 0 {
			t.Errorf("%s is not clean", w.Name)
			finding.Print(os.Stderr, list, 10)
		}
	}
}
