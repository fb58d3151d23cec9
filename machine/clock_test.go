package machine

import (
	"testing"

	"gemu/interp"
	"gemu/kernels"
	"gemu/machine/core"
	"gemu/machine/dram"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/probe"
)

// clockWorkloads are the workloads of the benchmarks of clocks.
var clockWorkloads = []string{"conv", "sgemm", "spmv", "hotspot"}

// BenchmarkClock measures a workload on the multiprocessors of a machine with a clock alone: without its execution and recording, and with a
// memory of fixed latency. BenchmarkClockRun has all of these.
func BenchmarkClock(b *testing.B) {
	for _, name := range clockWorkloads {
		w := kernels.Lookup(name)
		b.Run(name, func(b *testing.B) {
			k := &kept{}
			recordWorkload(b, w, k)
			instructions := int64(0)
			var cycles int64
			for b.Loop() {
				m := newClock(Specs[0], &Parts{}, 0, memory.NewFixed(200))
				k.play(m)
				if m.Err() != nil {
					b.Fatal(m.Err())
				}
				cycles = 0
				for _, l := range m.Launches() {
					instructions += l.Instructions
					cycles += l.Cycles
				}
			}
			b.ReportMetric(float64(instructions)/b.Elapsed().Seconds()/1e6, "Mwarpinstr/s")
			b.ReportMetric(float64(cycles), "cycles")
		})
	}
}

// BenchmarkClockRun measures a workload on the machine v100 with a clock from the PTX to the cycles: execution in vector mode on one host
// thread, recording, multiprocessors, network, L2 and memory.
func BenchmarkClockRun(b *testing.B) {
	for _, name := range clockWorkloads {
		w := kernels.Lookup(name)
		b.Run(name, func(b *testing.B) {
			spec, _ := Find("v100")
			instructions, cycles := int64(0), int64(0)
			for b.Loop() {
				m, err := NewClock(spec, 0)
				if err != nil {
					b.Fatal(err)
				}
				recordWorkload(b, w, m)
				if err := m.Err(); err != nil {
					b.Fatal(err)
				}
				for _, l := range m.Launches() {
					instructions += l.Instructions
					cycles += l.Cycles
				}
			}
			b.ReportMetric(float64(instructions)/b.Elapsed().Seconds()/1e6, "Mwarpinstr/s")
			b.ReportMetric(float64(cycles)/b.Elapsed().Seconds()/1e3, "kcycles/s")
		})
	}
}

// BenchmarkRecord measures the execution of a workload in vector mode, without a probe and with a recorder of requests and instructions.
// The difference is the time of the recorder.
func BenchmarkRecord(b *testing.B) {
	w := kernels.Lookup("hotspot")
	n := &kept{}
	recordWorkload(b, w, n)
	instructions := int64(0)
	for _, f := range n.calls {
		f(&counted{&instructions})
	}
	for name, c := range map[string]stream.Consumer{"plain": nil, "recorded": &counted{new(int64)}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				recordWorkload(b, w, c)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(int64(b.N)*instructions), "ns/warpinstr")
		})
	}
}

// counted counts instructions.
type counted struct{ n *int64 }

func (c *counted) BeginLaunch(*stream.Launch)      {}
func (c *counted) EndLaunch(*stream.Launch, error) {}
func (c *counted) CTA(_ *stream.Launch, cta *stream.CTA) {
	for i := range cta.Warps {
		*c.n += cta.Warps[i].Instructions
	}
}

// recordWorkload runs a workload on one host thread, and records its launches. Without a consumer it only runs the workload.
func recordWorkload(b testing.TB, w *kernels.Workload, c stream.Consumer) {
	d := interp.NewDevice(interp.Config{Workers: 1})
	defer d.Close()
	module, err := d.Load(w.Name+".ptx", []byte(w.PTX()))
	if err != nil {
		b.Fatal(err)
	}
	var probes []probe.Probe
	if c != nil {
		r := stream.NewRecorder(c)
		r.RecordInstructions()
		probes = append(probes, r)
	}
	s := &kernels.Session{Context: b.Context(), Module: module, N: w.N, Block: w.Block, Warp: 32, Prepare: func(l *interp.Launch) {
		l.Mode, l.Probes = interp.Vector, probes
	}}
	if err := w.Run(s); err != nil {
		b.Fatal(err)
	}
}

// kept keeps launches.
type kept struct{ calls []func(stream.Consumer) }

func (k *kept) BeginLaunch(l *stream.Launch) {
	k.calls = append(k.calls, func(c stream.Consumer) { c.BeginLaunch(l) })
}
func (k *kept) CTA(l *stream.Launch, cta *stream.CTA) {
	k.calls = append(k.calls, func(c stream.Consumer) { c.CTA(l, cta) })
}
func (k *kept) EndLaunch(l *stream.Launch, err error) {
	k.calls = append(k.calls, func(c stream.Consumer) { c.EndLaunch(l, err) })
}

// play gives the launches to a consumer.
func (k *kept) play(c stream.Consumer) {
	for _, f := range k.calls {
		f(c)
	}
}

// structures notes the structure of each page that is placed.
type structures struct {
	dram.Placement
	seen map[dram.Structure]int
}

func (s *structures) Frame(page uint64, of *dram.Structure) uint64 {
	s.seen[*of]++
	return page
}

// TestClockStructures: a placement of pages knows the buffer of each page, and places each page of a buffer once.
func TestClockStructures(t *testing.T) {
	s, _ := Find("v100")
	placed := &structures{seen: map[dram.Structure]int{}}
	s.DRAM.Policy = &dram.Policy{Name: "noting", New: func(spec *dram.Spec, _ *dram.Map) dram.Placement {
		plain := *spec
		plain.Policy = nil
		placed.Placement = dram.NewPages(plain)
		return placed
	}}
	c, err := NewClock(s, 0)
	if err != nil {
		t.Fatal(err)
	}
	recorder := stream.NewRecorder(c)
	recorder.RecordInstructions()
	w := kernels.Lookup("transpose")
	session, err := kernels.Start(t.Context(), w, interp.NewDevice(interp.Config{Probes: []probe.Probe{recorder}}), 64)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(session); err != nil || c.Err() != nil {
		t.Fatal(err, c.Err())
	}
	if len(placed.seen) != 2 {
		t.Errorf("pages %v", placed.seen)
	}
	for of, pages := range placed.seen {
		if n := int((of.Base+of.Bytes-1)>>12 - of.Base>>12 + 1); of.Name == "" || pages != n {
			t.Errorf("%+v has %d pages, want %d", of, pages, n)
		}
	}
}

// picks is a scheduler that counts its choices.
type picks struct {
	core.Scheduler
	n *int64
}

func (p picks) Pick(w *core.Warps, ready uint64, now int64) int {
	*p.n++
	return p.Scheduler.Pick(w, ready, now)
}

// TestSystemScheduler: the scheduler of a system chooses the warp of each instruction, also at the ends of the machine's readings, and two
// systems cannot both have one.
func TestSystemScheduler(t *testing.T) {
	spec, _ := Find("v100")
	var n int64
	policy := &core.Policy{Name: "counted", New: func(slots uint64) core.Scheduler { return picks{core.OldestFirst.New(slots), &n} }}
	own := &System{Name: "own", New: func() Parts { return Parts{Scheduler: policy} }}
	spec.Systems = []*System{own}
	w := kernels.Lookup("transpose")
	fast, slow := spec.ClockEnds()
	for _, s := range []Spec{spec, fast, slow} {
		c, err := NewClock(s, 0)
		if err != nil {
			t.Fatal(err)
		}
		recorder := stream.NewRecorder(c)
		recorder.RecordInstructions()
		session, err := kernels.Start(t.Context(), w, interp.NewDevice(interp.Config{Probes: []probe.Probe{recorder}}), 64)
		if err != nil {
			t.Fatal(err)
		}
		n = 0
		if err := w.Run(session); err != nil || c.Err() != nil {
			t.Fatal(err, c.Err())
		}
		instructions := int64(0)
		for _, l := range c.Launches() {
			instructions += l.Instructions
		}
		if n != instructions || n == 0 {
			t.Errorf("%d choices of the scheduler, want one for each of %d instructions", n, instructions)
		}
	}
	if spec.Clock.Policy == policy {
		t.Error("the machine itself has changed")
	}
	if _, err := CombineParts([]*System{own, {Name: "other", New: own.New}}); err == nil || err.Error() != "own and other both replace the scheduler: leave one of them out" {
		t.Error(err)
	}
}
