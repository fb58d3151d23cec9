package validity

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"gemu/internal/corpus"
	"gemu/internal/part"
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

// relies is programs of the corpus that rely on registers and shared memory being zero, which no
// manual says.
var relies = map[string]string{
	"control/barrier.ptx":   "bar.cta.red.or.pred %q, 5, %q, which is about its spelling",
	"insn/address_wrap.ptx": "red.shared.add on a word that is not set to zero",
}

// TestCorpus: programs that compute what they should use nothing that nothing has written, but for
// those of which we know.
func TestCorpus(t *testing.T) {
	share, seed := uint64(part.Of(256, 64, 1)), part.Seed(t)
	list, err := corpus.Programs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range list {
		if (uint64(i)+seed)%share > 0 || relies[p.File] != "" {
			continue
		}
		var log finding.Log
		p.Run(func(l *interp.Launch) { l.Probes = append(l.Probes, New(&log)) })
		if list := log.Findings(); len(list) > 0 {
			var b strings.Builder
			finding.Print(&b, list, 0)
			t.Errorf("%s\n%s", p, b.String())
		}
	}
}
