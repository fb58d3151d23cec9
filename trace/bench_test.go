//go:build unix

package trace_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"gemu/internal/benchtest"
	"gemu/kernels"
	"gemu/trace"
)

// BenchmarkWorkloads reports the speed of the workloads with a log, in millions of warp instructions a second of processor time, and the
// bytes of the log for a warp instruction. "mean" is the geometric mean of the speeds before it.
func BenchmarkWorkloads(b *testing.B) {
	for format, name := range map[trace.Format]string{trace.Binary: "binary", trace.Bare: "bare"} {
		b.Run(name, func(b *testing.B) {
			benchtest.RunWorkloads(b, func(b *testing.B, w *kernels.Workload) (instructions int64, seconds float64) {
				var size counter
				instructions, seconds = writeLog(b, w, format, &size)
				b.ReportMetric(float64(size)/float64(instructions), "bytes/instr")
				return instructions, seconds
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
				to := make([]byte, 0, 2*frame)
				benchtest.RunEncoder(b, len(logs), func(input int) (from, size int) {
					for c := range slices.Chunk(logs[input], frame) {
						size += len(e.append(to[:0], c))
					}
					return len(logs[input]), size
				})
			})
		}
	}
}

// writeLog runs a workload with a log, which it writes to out. It returns the number of warp instructions, and the processor time in seconds.
func writeLog(b *testing.B, w *kernels.Workload, f trace.Format, out io.Writer) (instructions int64, seconds float64) {
	log, err := trace.NewWriter(out, f, &trace.Header{})
	if err != nil {
		b.Fatal(err)
	}
	r := trace.NewRecorder(log, trace.Filter{})
	return benchtest.RunWorkload(b, w, r, r.Close)
}

// counter is a writer that counts bytes.
type counter int64

func (c *counter) Write(b []byte) (int, error) { *c += counter(len(b)); return len(b), nil }
