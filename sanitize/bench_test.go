package sanitize_test

import (
	"testing"

	"gemu/interp"
	"gemu/kernels"
	"gemu/sanitize"
)

// BenchmarkWorkloads compares launches that tools watch with those that nobody does.
func BenchmarkWorkloads(b *testing.B) {
	for _, w := range kernels.All() {
		for _, list := range []string{"", "bounds", "sync", "bounds,sync"} {
			name := list
			if name == "" {
				name = "unwatched"
			}
			b.Run(w.Name+"/"+name, func(b *testing.B) {
				var threads, seconds float64
				for b.Loop() {
					cfg := interp.Config{Workers: 1}
					if list != "" {
						tools, err := sanitize.Parse(list)
						if err != nil {
							b.Fatal(err)
						}
						cfg.Probes = sanitize.New(tools, sanitize.Options{}).Probes
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
