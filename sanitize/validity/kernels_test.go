package validity

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"gemu/interp"
	"gemu/kernels"
	"gemu/sanitize/finding"
)

// seconds runs a workload of a size in vector mode on one of the host's cores, and is what its
// launches took.
func seconds(t testing.TB, w *kernels.Workload, n int, probes ...interp.Probe) (sum float64) {
	t.Helper()
	dev := interp.NewDevice(interp.Config{Workers: 1, Probes: probes})
	s, err := kernels.Start(t.Context(), w, dev, n)
	if err != nil {
		t.Fatal(err)
	}
	s.Prepare = func(l *interp.Launch) { l.Mode = interp.Vector }
	if err := w.Run(s); err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Results {
		sum += r.Duration.Seconds()
	}
	return sum
}

// short is a size at which a workload does all that it does, and soon.
func short(w *kernels.Workload) int { return max(w.N/64, min(w.N, 64)) }

// TestWorkloads: the workloads of package kernels use nothing that nothing has written.
func TestWorkloads(t *testing.T) {
	for _, w := range kernels.All() {
		t.Run(w.Name, func(t *testing.T) {
			var log finding.Log
			seconds(t, w, short(w), New(&log))
			if list := log.Findings(); len(list) > 0 {
				var b strings.Builder
				finding.Print(&b, list, 0)
				t.Error(b.String())
			}
		})
	}
}

// BenchmarkWorkloads is how much longer launches take with the sanitizer than without any.
func BenchmarkWorkloads(b *testing.B) {
	product, count := 1.0, 0
	for _, w := range kernels.All() {
		b.Run(w.Name, func(b *testing.B) {
			ratio := math.Inf(1)
			for b.Loop() {
				var log finding.Log
				without := math.Inf(1)
				for range 3 {
					without = min(without, seconds(b, w, w.N/8))
				}
				for range 3 {
					ratio = min(ratio, seconds(b, w, w.N/8, New(&log))/without)
				}
			}
			b.ReportMetric(ratio, "times")
			product, count = product*ratio, count+1
		})
	}
	fmt.Fprintf(os.Stderr, "geometric mean of %d: %.2f times\n", count, math.Pow(product, 1/float64(count)))
}
