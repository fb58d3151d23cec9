//go:build unix

package sanitize

import (
	"math"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"gemu/interp"
	"gemu/kernels"
	"gemu/probe"
	"gemu/ptx"
)

// costRounds is the number of runs of a workload, each way, in an iteration of the benchmark. The shortest
// counts, because other load on the host only lengthens a run.
const costRounds = 3

// BenchmarkCostOfTools reports the processor time of a workload's launches with a tool, and with all tools of "all",
// relative to the time without, in vector mode on one core, with the engine that gemu chooses. "mean" is the geometric mean over the workloads
// before it. The runs with and without tools alternate.
func BenchmarkCostOfTools(b *testing.B) {
	all, err := Parse("all")
	if err != nil {
		b.Fatal(err)
	}
	sets := map[string][]*Tool{"all": all}
	names := []string{"all"}
	for _, tool := range all {
		sets[tool.Name], names = []*Tool{tool}, append(names, tool.Name)
	}
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			logs, count := 0.0, 0
			for _, w := range kernels.All() {
				ratio := 0.0
				b.Run(w.Name, func(b *testing.B) {
					plain, watched := math.Inf(1), math.Inf(1)
					for b.Loop() {
						for range costRounds {
							plain = min(plain, launches(b, w, nil))
							watched = min(watched, launches(b, w, New(sets[name], Options{}).Probes))
						}
					}
					ratio = watched / plain
					b.ReportMetric(ratio, "times")
				})
				if ratio > 0 {
					logs, count = logs+math.Log(ratio), count+1
				}
			}
			b.Run("mean", func(b *testing.B) {
				for b.Loop() {
				}
				if count > 0 {
					b.ReportMetric(math.Exp(logs/float64(count)), "times")
				}
			})
		})
	}
}

// launches returns the processor time of a workload's launches in vector mode, in seconds.
func launches(b *testing.B, w *kernels.Workload, probes []probe.Probe) float64 {
	runtime.GC()
	c := &clock{b: b}
	s, err := kernels.Start(b.Context(), w, interp.NewDevice(interp.Config{Workers: 1, Engine: interp.Auto, Probes: slices.Concat([]probe.Probe{c}, probes)}), w.N)
	if err != nil {
		b.Fatal(err)
	}
	s.Prepare = func(l *interp.Launch) { l.Mode = interp.Vector }
	if err := w.Run(s); err != nil {
		b.Fatal(err)
	}
	return c.seconds
}

// clock is a probe that adds up the time of launches.
type clock struct {
	b              *testing.B
	begin, seconds float64
}

func (c *clock) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnLaunch | probe.OnLaunchEnd}
}

func (c *clock) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return nil }

func (c *clock) OnEvent(e *probe.Event) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		c.b.Fatal(err)
	}
	now := float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
	if e.Kind == probe.OnLaunch {
		c.begin = now
	} else {
		c.seconds += now - c.begin
	}
}
