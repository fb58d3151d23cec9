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

// BenchmarkWorkloads compares launches that are watched with those that are not.
func BenchmarkWorkloads(b *testing.B) {
	for _, w := range kernels.All() {
		for _, watched := range []string{"unwatched", "bounds"} {
			b.Run(w.Name+"/"+watched, func(b *testing.B) {
				var threads, seconds float64
				for b.Loop() {
					cfg := interp.Config{Workers: 1}
					if watched != "unwatched" {
						cfg.Probes = []interp.Probe{New(new(finding.Log))}
					}
					s, err := kernels.Start(b.Context(), w, interp.NewDevice(cfg), 0)
					if err != nil {
						b.Fatal(err)
					}
					s.Prepare = func(l *interp.Launch) { l.Mode = interp.Vector }
					if err := w.Run(s); err != nil {
						b.Fatal(err)
					}
					for _, r := range s.Results {
						threads += float64(r.ThreadInstructions)
						seconds += r.Duration.Seconds()
					}
				}
				b.ReportMetric(threads/seconds, "thread-instr/s")
			})
		}
	}
}
