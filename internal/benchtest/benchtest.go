//go:build unix

package benchtest

import (
	"math"
	"syscall"
	"testing"

	"gemu/interp"
	"gemu/kernels"
	"gemu/probe"
)

// RunWorkloads runs a benchmark for each workload of the library. run runs the workload once, and returns the number of warp instructions and
// the processor time in seconds; it may report further metrics of b. The benchmarks report millions of warp instructions a second, and "mean"
// their geometric mean.
func RunWorkloads(b *testing.B, run func(b *testing.B, w *kernels.Workload) (instructions int64, seconds float64)) {
	logs, count := 0.0, 0
	for _, w := range kernels.All() {
		speed := 0.0
		b.Run(w.Name, func(b *testing.B) {
			instructions, seconds := int64(0), 0.0
			for b.Loop() {
				n, time := run(b, w)
				instructions, seconds = instructions+n, seconds+time
			}
			speed = float64(instructions) / seconds / 1e6
			b.ReportMetric(speed, "Mwarpinstr/s")
		})
		if speed > 0 {
			logs, count = logs+math.Log(speed), count+1
		}
	}
	b.Run("mean", func(b *testing.B) {
		for b.Loop() {
		}
		if count > 0 {
			b.ReportMetric(math.Exp(logs/float64(count)), "Mwarpinstr/s")
		}
	})
}

// RunWorkload runs a workload with a probe, in vector mode on one host thread, and then finish. It returns the number of warp instructions, and the
// processor time in seconds.
func RunWorkload(b *testing.B, w *kernels.Workload, p probe.Probe, finish func() error) (instructions int64, seconds float64) {
	s, err := kernels.Start(b.Context(), w, interp.NewDevice(interp.Config{Workers: 1, Engine: interp.Auto, Probes: []probe.Probe{p}}), w.N)
	if err != nil {
		b.Fatal(err)
	}
	s.Prepare = func(l *interp.Launch) { l.Mode = interp.Vector }
	begin := processorTime(b)
	if err := w.Run(s); err != nil {
		b.Fatal(err)
	}
	if err := finish(); err != nil {
		b.Fatal(err)
	}
	seconds = processorTime(b) - begin
	for _, r := range s.Results {
		instructions += r.WarpInstructions
	}
	return instructions, seconds
}

// RunEncoder measures an encoder of some inputs. encode encodes an input by its index, and returns the numbers of bytes before and after. It reports
// geometric means: megabytes a second of processor time, and the size afterwards in percent.
func RunEncoder(b *testing.B, inputs int, encode func(input int) (from, to int)) {
	speeds, sizes, times := 0.0, 0.0, 0
	for b.Loop() {
		for i := range inputs {
			begin := processorTime(b)
			from, to := encode(i)
			speeds += math.Log(float64(from) / 1e6 / (processorTime(b) - begin))
			sizes += math.Log(float64(to) / float64(from))
			times++
		}
	}
	b.ReportMetric(math.Exp(speeds/float64(times)), "MB/s")
	b.ReportMetric(100*math.Exp(sizes/float64(times)), "%")
}

// processorTime returns the processor time of the process so far, in seconds.
func processorTime(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
