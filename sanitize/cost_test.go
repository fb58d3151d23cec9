package sanitize

import (
	"context"
	"testing"
	"time"

	"gemu/interp"
	"gemu/kernels"
)

// BenchmarkCost tells how much longer a workload runs in vector mode that a tool watches.
func BenchmarkCost(b *testing.B) {
	for _, tool := range Tools {
		for _, name := range []string{"saxpy", "sgemm", "reduce", "histogram", "transpose", "conv", "bfs", "nnet", "rsort"} {
			b.Run(tool.Name+"/"+name, func(b *testing.B) {
				w := kernels.Lookup(name)
				var plain, watched time.Duration
				for b.Loop() {
					plain += timed(b, w, nil)
					watched += timed(b, w, New([]*Tool{tool}, Options{}).Probes)
				}
				b.ReportMetric(float64(watched)/float64(plain), "ratio")
			})
		}
	}
}

// timed runs a workload on one core of the host.
func timed(b *testing.B, w *kernels.Workload, probes []interp.Probe) time.Duration {
	dev := interp.NewDevice(interp.Config{Workers: 1, Probes: probes})
	session, err := kernels.Start(context.Background(), w, dev, 0)
	if err != nil {
		b.Fatal(err)
	}
	session.Prepare = func(l *interp.Launch) { l.Mode = interp.Vector }
	start := time.Now()
	if err := w.Run(session); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}
