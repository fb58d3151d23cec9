//go:build unix

package record

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"syscall"
	"testing"

	"github.com/klauspost/compress/flate"

	"gemu/interp"
	"gemu/kernels"
	"gemu/probe"
)

// BenchmarkWorkloads reports the speed of the workloads with a recording, in millions of warp instructions a second of processor
// time, and the bytes of the file for an event. "mean" is the geometric mean of the speeds before it.
func BenchmarkWorkloads(b *testing.B) {
	for _, contents := range []Contents{{}, {Results: true, Accesses: true}} {
		b.Run("contents="+contents.String(), func(b *testing.B) {
			logs, count := 0.0, 0
			for _, w := range kernels.All() {
				speed := 0.0
				b.Run(w.Name, func(b *testing.B) {
					instructions, events, size, seconds := int64(0), uint64(0), uint64(0), 0.0
					for b.Loop() {
						n, r, time := recordWorkload(b, w, contents, io.Discard)
						instructions, events, size, seconds = instructions+n, events+r.Events(), size+r.Bytes(), seconds+time
					}
					speed = float64(instructions) / seconds / 1e6
					b.ReportMetric(speed, "Mwarpinstr/s")
					b.ReportMetric(float64(size)/float64(events), "bytes/event")
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
				speeds, sizes, times := 0.0, 0.0, 0
				for b.Loop() {
					for _, columns := range recordings {
						begin, from, to := processorTime(b), 0, 0
						for _, c := range columns {
							out.Reset()
							w.Reset(&out)
							w.Write(c)
							w.Close()
							from, to = from+len(c), to+min(out.Len(), len(c))
						}
						speeds += math.Log(float64(from) / 1e6 / (processorTime(b) - begin))
						sizes += math.Log(float64(to) / float64(from))
						times++
					}
				}
				b.ReportMetric(math.Exp(speeds/float64(times)), "MB/s")
				b.ReportMetric(100*math.Exp(sizes/float64(times)), "%")
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
	return instructions, r, seconds
}

// processorTime returns the processor time of the process so far, in seconds.
func processorTime(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
