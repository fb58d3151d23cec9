//go:build unix

package record

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/klauspost/compress/flate"

	"gemu/internal/benchtest"
	"gemu/kernels"
)

// BenchmarkWorkloads reports the speed of the workloads with a recording, in millions of warp instructions a second of processor
// time, and the bytes of the file for an event. "mean" is the geometric mean of the speeds before it.
func BenchmarkWorkloads(b *testing.B) {
	for _, contents := range []Contents{{}, {Results: true, Accesses: true}} {
		b.Run("contents="+contents.String(), func(b *testing.B) {
			benchtest.RunWorkloads(b, func(b *testing.B, w *kernels.Workload) (instructions int64, seconds float64) {
				instructions, r, seconds := recordWorkload(b, w, contents, io.Discard)
				b.ReportMetric(float64(r.Bytes())/float64(r.Events()), "bytes/event")
				return instructions, seconds
			})
		})
	}
}

// BenchmarkEncoders reports, for levels of the encoder of columns, the speed in megabytes of columns a second of processor time, and
// the size of the deflated columns, in percent: geometric means of some workloads' recordings, with and without optional parts.
func BenchmarkEncoders(b *testing.B) {
	for _, contents := range []Contents{{}, {Results: true, Accesses: true}} {
		var recordings [][][]byte // columns of each recording
		for _, w := range kernels.All() {
			if !slices.Contains([]string{"sgemm", "bfs", "lbm", "hotspot", "gemm_f16"}, w.Name) {
				continue
			}
			var file bytes.Buffer
			recordWorkload(b, w, contents, &file)
			f, err := Open(w.Name, bytes.NewReader(file.Bytes()), int64(file.Len()))
			if err != nil {
				b.Fatal(err)
			}
			var columns [][]byte
			for _, t := range f.Tables() {
				for _, block := range t.blocks {
					for i := range block.columns {
						c, err := f.readStored(block, i)
						if err != nil {
							b.Fatal(err)
						}
						column, err := c.inflated()
						if err != nil {
							b.Fatal(err)
						}
						if len(column) >= smallestDeflated {
							columns = append(columns, column)
						}
					}
				}
			}
			recordings = append(recordings, columns)
		}
		for level := flate.HuffmanOnly; level <= 9; level++ {
			b.Run(fmt.Sprintf("contents=%s/level=%d", contents.String(), level), func(b *testing.B) {
				w, err := flate.NewWriter(nil, level)
				if err != nil {
					b.Fatal(err)
				}
				var out bytes.Buffer
				benchtest.RunEncoder(b, len(recordings), func(input int) (from, to int) {
					for _, c := range recordings[input] {
						out.Reset()
						w.Reset(&out)
						w.Write(c)
						w.Close()
						from, to = from+len(c), to+min(out.Len(), len(c))
					}
					return from, to
				})
			})
		}
	}
}

// recordWorkload runs a workload with a recording, which it writes to out. It returns the number of warp instructions, the recorder, and the processor time in seconds.
func recordWorkload(b *testing.B, w *kernels.Workload, contents Contents, out io.Writer) (instructions int64, _ *Recorder, seconds float64) {
	r, err := NewRecorder(out, Options{Contents: contents, MaxEvents: -1, MaxBytes: math.MaxInt64})
	if err != nil {
		b.Fatal(err)
	}
	instructions, seconds = benchtest.RunWorkload(b, w, r, r.Close)
	return instructions, r, seconds
}
