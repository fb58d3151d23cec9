//go:build unix

package trace_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"syscall"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

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

// BenchmarkEncoders reports, for encoders of the frames of a Binary log, the speed in megabytes of entries a second of processor time,
// and the size after compression, in percent: geometric means of some workloads' logs.
func BenchmarkEncoders(b *testing.B) {
	withZstd := func(options ...zstd.EOption) func(to, from []byte) []byte {
		e, err := zstd.NewWriter(nil, append([]zstd.EOption{zstd.WithEncoderConcurrency(1)}, options...)...)
		if err != nil {
			b.Fatal(err)
		}
		return func(to, from []byte) []byte { return e.EncodeAll(from, to) }
	}
	var logs [][]byte
	for _, w := range kernels.All() {
		if slices.Contains([]string{"aes", "bfs", "hotspot", "gemm_f16"}, w.Name) {
			var out bytes.Buffer
			writeLog(b, w, trace.Bare, &out)
			logs = append(logs, out.Bytes()[:min(out.Len(), 8<<20)])
		}
	}
	for _, e := range []struct {
		name   string
		append func(to, from []byte) []byte
	}{
		{"zstd-fastest", withZstd(zstd.WithEncoderLevel(zstd.SpeedFastest))},
		{"zstd-fastest-no-entropy", withZstd(zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithNoEntropyCompression(true))},
		{"zstd-default", withZstd(zstd.WithEncoderLevel(zstd.SpeedDefault))},
		{"s2", func(to, from []byte) []byte { return s2.Encode(to[:cap(to)], from) }},
	} {
		for _, frame := range []int{128 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%s/%dK", e.name, frame>>10), func(b *testing.B) {
				speeds, sizes, times := 0.0, 0.0, 0
				to := make([]byte, 0, 2*frame)
				for b.Loop() {
					for _, log := range logs {
						begin, size := processorTime(b), 0
						for from := range slices.Chunk(log, frame) {
							size += len(e.append(to[:0], from))
						}
						speeds += math.Log(float64(len(log)) / 1e6 / (processorTime(b) - begin))
						sizes += math.Log(float64(size) / float64(len(log)))
						times++
					}
				}
				b.ReportMetric(math.Exp(speeds/float64(times)), "MB/s")
				b.ReportMetric(100*math.Exp(sizes/float64(times)), "%")
			})
		}
	}
}

// recordLog runs a workload with a log. It returns the number of warp instructions, the size of the log in bytes, and the processor time in seconds.
func recordLog(b *testing.B, w *kernels.Workload, f trace.Format) (instructions, size int64, seconds float64) {
	var out counter
	instructions, seconds = writeLog(b, w, f, &out)
	return instructions, int64(out), seconds
}

// writeLog runs a workload with a log, which it writes to out. It returns the number of warp instructions, and the processor time in seconds.
func writeLog(b *testing.B, w *kernels.Workload, f trace.Format, out io.Writer) (instructions int64, seconds float64) {
	log, err := trace.NewWriter(out, f, &trace.Header{})
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
	return instructions, seconds
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
