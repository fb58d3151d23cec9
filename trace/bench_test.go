//go:build unix

package trace_test

import (
	"math"
	"syscall"
	"testing"

	"gemu/interp"
	"gemu/kernels"
	"gemu/probe"
	"gemu/trace"
)

// BenchmarkWorkloads reports the speed of the workloads with a log, in millions of warp instructions a second of processor time, and the
// bytes of the log for a warp instruction. "mean" is the geometric mean of the speeds before it.
func BenchmarkWorkloads(b *testing.B) {
	for format, name := range map[trace.Format]string{trace.Binary: "binary", trace.Bare: "bare"} {
		b.Run(name, func(b *testing.B) {
			logs, count := 0.0, 0
			for _, w := range kernels.All() {
				speed := 0.0
				b.Run(w.Name, func(b *testing.B) {
					instructions, size, seconds := int64(0), int64(0), 0.0
					for b.Loop() {
						n, bytes, time := recordLog(b, w, format)
						instructions, size, seconds = instructions+n, size+bytes, seconds+time
					}
					speed = float64(instructions) / seconds / 1e6
					b.ReportMetric(speed, "Mwarpinstr/s")
					b.ReportMetric(float64(size)/float64(instructions), "bytes/instr")
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
		})
	}
}

// recordLog runs a workload with a log. It returns the number of warp instructions, the size of the log in bytes, and the processor time in seconds.
func recordLog(b *testing.B, w *kernels.Workload, f trace.Format) (instructions, size int64, seconds float64) {
	var out counter
	log, err := trace.NewWriter(&out, f, &trace.Header{})
	if err != nil {
		b.Fatal(err)
	}
	r := trace.NewRecorder(log, trace.Filter{})
	s, err := kernels.Start(b.Context(), w, interp.NewDevice(interp.Config{Workers: 1, Engine: interp.Auto, Probes: []probe.Probe{r}}), w.N)
	if err != nil {
		b.Fatal(err)
	}
	s.Prepare = func(l *interp.Launch) { l.Mode = interp.Vector }
	begin := processorTime(b)
	if err := w.Run(s); err != nil {
		b.Fatal(err)
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
	seconds = processorTime(b) - begin
	for _, r := range s.Results {
		instructions += r.WarpInstructions
	}
	return instructions, int64(out), seconds
}

// counter is a writer that counts bytes.
type counter int64

func (c *counter) Write(b []byte) (int, error) { *c += counter(len(b)); return len(b), nil }

// processorTime returns the processor time of the process so far, in seconds.
func processorTime(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
