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

// costRounds is how often a workload is run each way in an iteration of the benchmark. The shortest
// counts: whatever else the host does only makes one longer.
const costRounds = 3

// BenchmarkCost tells how many times the time of the host's processors launches of a workload take in
// vector mode, on one core, that a tool watches, and that all but the rare ones do; "mean" is the
// geometric mean of those run before it. Both ways take turns.
func BenchmarkCost(b *testing.B) {
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

// launches is how many seconds of the host's processors the launches of a workload take, in vector
// mode.
func launches(b *testing.B, w *kernels.Workload, probes []probe.Probe) float64 {
	runtime.GC()
	c := &clock{b: b}
	s, err := kernels.Start(b.Context(), w, interp.NewDevice(interp.Config{Workers: 1, Probes: slices.Concat([]probe.Probe{c}, probes)}), w.N)
	if err != nil {
		b.Fatal(err)
	}
	s.Prepare = func(l *interp.Launch) { l.Mode = interp.Vector }
	if err := w.Run(s); err != nil {
		b.Fatal(err)
	}
	return c.seconds
}

// clock is a probe that adds up what launches take, and watches no CTA.
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
