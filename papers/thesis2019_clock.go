package papers

// This file has the results of Vijaykumar 2019 that need a clock. docs/thesis2019.md defines the columns and interpretations.

import (
	"fmt"
	"math"

	"gemu/interp"
	"gemu/machine"
	"gemu/machine/cache"
	"gemu/machine/core"
	"gemu/machine/dispatch"
	"gemu/machine/dram"
	"gemu/machine/locality"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/machine/xmem"
	"gemu/probe"
	"gemu/ptx"
)

// clockReadings are the interpretations of all tables with a clock: the machine, and the ends of the ranges of its readings.
var clockReadings = []Interpretation{
	{"headline", "all readings as in the machine"}, {"fast", "as the headline; all readings at the end of the faster machine"}, {"slow", "as the headline; all readings at the other end"},
}

// numbers of clockReadings
const (
	clockHeadline = iota
	clockFast
	clockSlow
	clockEnds
)

// thesisClock returns the thesis's machine with a clock, under a reading: with one zone, or with four.
func thesisClock(zones, reading int) machine.Spec {
	s := thesisSpec(15, 768<<10)
	s.DRAM = dram.Default
	s.DRAM.Channels = 6
	s.Clock, s.Timing = core.Fermi, memory.Fermi
	if zones > 1 {
		s = thesisSpec(64, 4<<20)
		s.DRAM = dram.Default
		s.DRAM.Channels, s.DRAM.Zones = 32, zones
		s.Clock, s.Timing = core.Fermi, memory.Fermi
		s.Timing.MemoryMHz, s.Timing.LinkBytes, s.Timing.LinkLatency = 750, 274, 150
	}
	switch reading {
	case clockFast:
		s.Clock, _ = s.Clock.Ends()
		s.Timing, _ = s.Timing.Ends()
	case clockSlow:
		_, s.Clock = s.Clock.Ends()
		_, s.Timing = s.Timing.Ends()
	}
	return s
}

// clocked is a machine with a clock, and its sums over launches.
type clocked struct {
	cycles int64
	core.Counts
	core   *core.Machine
	memory *memory.System
}

// clockRun runs the launches of a workload on machines with a clock.
type clockRun struct {
	forms      map[*probe.LaunchInfo][]locality.Form
	structures map[uint64]dram.Structure // by page of the smallest size: buffers
	list       []locality.Descriptor     // of the launch in progress
	treatment  *locality.Treatment       // of list
	machines   []*clocked
	begin      func(l *locality.Launch) // prepares a launch
	err        error
}

// add adds a machine.
func (t *clockRun) add(s machine.Spec) *clocked {
	m, err := machine.NewMemory(s, func(addr uint64) dram.Structure { return t.structures[addr/smallPage] })
	if err != nil {
		panic("BUG: " + err.Error())
	}
	c := &clocked{core: machine.NewClock(s, 0, m), memory: m}
	t.machines = append(t.machines, c)
	return c
}

// addDescriptors adds a machine whose L1 has the treatment of lines by descriptors, and prefetches if prefetch is true.
func (t *clockRun) addDescriptors(s machine.Spec, prefetch bool) *clocked {
	s.L1.Policy = &machine.Replacement{Name: "descriptors", New: func(s cache.Shape) cache.Policy { return cache.Pinned(s, t.treatment.Priority) }}
	if prefetch {
		s.Prefetch = func(l1, resident int) func(uint64) (uint64, bool) {
			of := t.treatment
			return func(line uint64) (uint64, bool) { return of.Prefetch(line, l1, resident) }
		}
	}
	return t.add(s)
}

// run runs a workload.
func (t *clockRun) run(m *Meter, row *Row) error {
	t.forms, t.structures = map[*probe.LaunchInfo][]locality.Form{}, map[uint64]dram.Structure{}
	fitter := locality.NewFitter(func(l *probe.LaunchInfo, list []locality.Form) { t.forms[l] = list })
	recorder := stream.NewRecorder(locality.NewCollector(t.ended))
	recorder.RecordInstructions()
	if err := m.run(row.Workload, row.Size, func(*interp.Launch) {}, fitter, recorder); err != nil {
		return err
	}
	return t.err
}

// ended runs a launch that the program has ended.
func (t *clockRun) ended(l *locality.Launch) {
	forms := t.forms[l.LaunchInfo]
	delete(t.forms, l.LaunchInfo)
	switch {
	case t.err != nil:
		return
	case l.TooLarge || l.Requests == nil:
		t.err = fmt.Errorf("kernel %s: the launch is too large to be measured", l.Kernel.Name)
		return
	}
	for _, b := range l.Buffers {
		for page := b.Base / smallPage; b.Bytes > 0 && page <= (b.Base+b.Bytes-1)/smallPage; page++ {
			t.structures[page] = dram.Structure{Name: b.Name, Base: b.Base, Bytes: b.Bytes}
		}
	}
	t.list = locality.Infer(l, forms)
	t.treatment = locality.NewTreatment(t.list)
	t.begin(l)
	for _, m := range t.machines {
		m.core.BeginLaunch(l.Launch)
		for _, c := range l.Requests {
			m.core.CTA(l.Launch, c)
		}
		m.core.EndLaunch(l.Launch, nil)
		for _, done := range m.core.TakeLaunches() {
			m.cycles += done.Cycles
			m.Counts.Add(&done.Counts)
		}
		for _, err := range []error{m.core.Err(), m.memory.Err(), m.memory.Verify()} {
			if t.err == nil && err != nil {
				t.err = fmt.Errorf("kernel %s: %w", l.Kernel.Name, err)
			}
		}
	}
}

// over returns a/b; NaN without b.
func over(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

// hitRate returns the share of loaded sectors that the L1 has.
func (c *clocked) hitRate() float64 { return over(float64(c.Hits), float64(c.Loads)) }

// inFlightRate returns the share of loaded sectors that are in flight to the L1.
func (c *clocked) inFlightRate() float64 { return over(float64(c.InFlight), float64(c.Loads)) }

// put adds values that exist.
func put(v map[string]float64, name string, x float64) {
	if !math.IsNaN(x) && !math.IsInf(x, 0) {
		v[name] = x
	}
}

// ldescClock has the machines of a workload for ldesc-l1 and ldesc-speed, by reading.
type ldescClock struct {
	rotation, best, groups, full [clockEnds]*clocked
	noPrefetch                   *clocked // under the headline
	baseline, touch, zones       [clockEnds]*clocked
}

// measureLdescClock measures a workload for ldesc-l1 and ldesc-speed.
func measureLdescClock(m *Meter, row *Row) (*ldescClock, error) {
	return measureOnce(m, "thesis2019 clock "+row.Workload, func() (*ldescClock, error) {
		out, t := &ldescClock{}, &clockRun{}
		var best, groups ptx.Dim3
		shape := func(of *ptx.Dim3) *dispatch.Policy {
			return &dispatch.Policy{Name: "groups", New: func(l *dispatch.Launch) dispatch.Dispatcher {
				if *of == ptx.Dim(1) {
					return dispatch.Rotation.New(l)
				}
				return dispatch.Clusters(*of).New(l)
			}}
		}
		var part []int
		zones, pages := locality.NewZones(zoneCount), map[uint64]int{}
		first := machine.New(func() machine.Spec {
			s := thesisSpec(64, 4<<20)
			s.Dispatcher = dispatch.Parts(zoneCount)
			return s
		}(), 0)
		first.OnL2(func(a *machine.L2Access) {
			if page := a.Line * stream.LineBytes / largePage; !a.Local {
				if _, ok := pages[page]; !ok {
					pages[page] = dispatch.Zone(a.SM, 64, zoneCount)
				}
			}
		})
		for r := range clockEnds {
			s := thesisClock(1, r)
			out.rotation[r] = t.add(s)
			s.Dispatcher = shape(&best)
			out.best[r] = t.add(s)
			s.Dispatcher = shape(&groups)
			out.groups[r] = t.add(s)
			out.full[r] = t.addDescriptors(s, true)
			if r == clockHeadline {
				out.noPrefetch = t.addDescriptors(s, false)
			}
			s = thesisClock(zoneCount, r)
			out.baseline[r] = t.add(s)
			s.Dispatcher, s.DRAM.Policy = dispatch.Parts(zoneCount), zonesBy("first touch", func(addr uint64, _ *dram.Structure) int { return pages[addr/largePage] }, t)
			out.touch[r] = t.add(s)
			s.DRAM.Policy = zonesBy("descriptors", func(addr uint64, of *dram.Structure) int {
				return zones.Of(addr, stream.Buffer{Name: of.Name, Base: of.Base, Bytes: of.Bytes})
			}, t)
			s.Dispatcher = &dispatch.Policy{Name: "descriptors", New: func(l *dispatch.Launch) dispatch.Dispatcher {
				list := make([][]int, zoneCount)
				for cta, zone := range part {
					list[zone] = append(list[zone], cta)
				}
				return dispatch.NewZones(l.SMs, list)
			}}
			out.zones[r] = t.addDescriptors(s, true)
		}
		shapes := map[shapeKey]ptx.Dim3{}
		t.begin = func(l *locality.Launch) {
			const sms = 15
			measure := func(shape ptx.Dim3) float64 {
				p := dispatch.Rotation
				if shape != ptx.Dim(1) {
					p = dispatch.Clusters(shape)
				}
				n, err := l.Measure(p, sms)
				if t.err == nil {
					t.err = err
				}
				return n
			}
			key := shapeKey{kernel: l.Kernel.Name, grid: l.Grid}
			if _, ok := shapes[key]; !ok {
				shapes[key] = bestShape(l.Grid, measure(ptx.Dim(1)), measure, func(ptx.Dim3) bool { return true })
			}
			best, groups = shapes[key], locality.Clusters(l.Grid, t.list, sms)
			part = zones.Partition(l, t.list)
			first.BeginLaunch(l.Launch)
			for _, c := range l.Requests {
				first.CTA(l.Launch, c)
			}
			first.EndLaunch(l.Launch, nil)
			first.TakeLaunches()
		}
		return out, t.run(m, row)
	})
}

// zoned is a placement whose frames are pages, with the zones of a function.
type zoned struct {
	dram.Placement
	of    func(addr uint64, of *dram.Structure) int
	run   *clockRun
	local uint64 // pages of local memory so far, which have the last frames
	all   uint64 // frames
}

// zonesBy returns the policy of zoned.
func zonesBy(name string, of func(addr uint64, of *dram.Structure) int, run *clockRun) *dram.Policy {
	return &dram.Policy{Name: name, New: func(s *dram.Spec, m *dram.Map) dram.Placement {
		plain := *s
		plain.Policy = nil
		return &zoned{Placement: dram.NewPages(plain), of: of, run: run, all: m.Bytes / uint64(s.PageBytes)}
	}}
}

func (z *zoned) Frame(page uint64, of *dram.Structure) uint64 {
	if of.Bytes > 0 {
		return page
	}
	z.local++
	return z.all - z.local
}

func (z *zoned) Zone(addr uint64) int {
	of, ok := z.run.structures[addr/smallPage]
	if !ok {
		return z.Placement.Zone(addr)
	}
	return z.of(addr, &of)
}

// rowsClock is the time and the reads of a workload for xmem-rows.
type rowsClock struct {
	cycles, latency, hits float64
}

// measureRowsClock measures a workload for xmem-rows: the baseline with the best address map, and XMem, by reading.
func measureRowsClock(m *Meter, row *Row) (*[2][clockEnds]rowsClock, error) {
	return measureOnce(m, "thesis2019 rows "+row.Workload, func() (*[2][clockEnds]rowsClock, error) {
		out := &[2][clockEnds]rowsClock{}
		t := &clockRun{}
		var atoms []xmem.Atom
		numbers := map[[2]uint64]int{} // index in atoms, by address and size
		t.begin = func(l *locality.Launch) {
			for i := range t.list {
				d := &t.list[i]
				key := [2]uint64{d.Buffer.Base, d.Buffer.Bytes}
				if _, ok := numbers[key]; !ok && d.Buffer.Bytes > 0 {
					numbers[key] = len(atoms)
					atoms = append(atoms, xmem.Atom{Base: key[0], Bytes: key[1], Regular: d.Regular})
				}
			}
			for i, b := range l.Buffers {
				if n, ok := numbers[[2]uint64{b.Base, b.Bytes}]; ok && i < len(l.Uses) {
					atoms[n].Accesses += l.Uses[i].Transactions
				}
			}
		}
		base := func(scheme string, reading int) machine.Spec {
			s := thesisClock(1, reading)
			s.DRAM.Map, s.DRAM.Pages = scheme, "random:1"
			return s
		}
		var maps []*clocked
		for _, scheme := range dram.Schemes {
			maps = append(maps, t.add(base(scheme.Name, clockHeadline)))
		}
		if err := t.run(m, row); err != nil {
			return nil, err
		}
		best := 0
		for i, c := range maps {
			if c.cycles < maps[best].cycles {
				best = i
			}
		}
		t = &clockRun{begin: func(*locality.Launch) {}}
		var runs [2][clockEnds]*clocked
		for r := range clockEnds {
			runs[0][r] = maps[best]
			if r != clockHeadline {
				runs[0][r] = t.add(base(dram.Schemes[best].Name, r))
			}
			s := base(xmemMap, r)
			s.DRAM.Policy = &dram.Policy{Name: "xmem", New: func(s *dram.Spec, m *dram.Map) dram.Placement {
				plain := *s
				plain.Policy = nil
				return xmem.NewPlacement(atoms, m, s.PageBytes, dram.NewPages(plain))
			}}
			runs[1][r] = t.add(s)
		}
		if err := t.run(m, row); err != nil {
			return nil, err
		}
		for i := range runs {
			for r, c := range runs[i] {
				n := c.memory.Total().Memory
				out[i][r] = rowsClock{float64(c.cycles), c.memory.ReadLatency(), 100 * over(float64(n.Hits), float64(n.Requests()))}
			}
		}
		return out, nil
	})
}

// xmemMap is the address map of XMem's placement, which keeps a page in a bank.
const xmemMap = "scheme4"

// clockTables returns the tables with a clock.
func clockTables() []*Table {
	factor := func(name, head1, head2, doc string) Column {
		return Column{Name: name, Head: [2]string{head1, head2}, Digits: 3, Neutral: 1, Doc: doc, NotRanked: true}
	}
	speed := thesisRows(thesisLocality,
		Row{Name: "mean", Summary: true, Values: map[string]float64{"ldesc": 1.266, "zones": 1.537, "touch": 1.312}}, Row{Name: "five", Summary: true, Values: map[string]float64{"groups": 1.021}})
	l1 := thesisRows(thesisLocality, Row{Name: "mean", Summary: true, Values: map[string]float64{"hits": 1.411, "points": 41.1, "best": 1.2}}, Row{Name: "five", Summary: true, Values: map[string]float64{"groups": 1.17}})
	five := map[string]func(string, map[string]float64) bool{"five": func(row string, _ map[string]float64) bool { return thesisFive[row] }}
	descriptors := append(clockReadings[:clockEnds:clockEnds], Interpretation{"no prefetch", "as the headline; no prefetches"})
	return []*Table{
		summarised(Table{
			Name: "xmem-rows", Title: "time and latency of memory with the best address map and random pages, against placement by XMem",
			Note: "The thesis has CPU programs. Its speed-up is up to 1.319, its latency down to 68.6 %.",
			Columns: []Column{
				factor("speed", "speed", "-up", "cycles of the baseline over those with XMem"),
				{Name: "latency", Head: [2]string{"read", "latency"}, Digits: 1, Neutral: 100, Doc: "mean latency of reads of memory with XMem, in percent of that of the baseline", NotRanked: true},
				{Name: "base_hits", Head: [2]string{"row hits", "base"}, Digits: 1, Doc: "requests to memory that find their row open in the baseline, of all", NotRanked: true},
				{Name: "xmem_hits", Head: [2]string{"row hits", "XMem"}, Digits: 1, Doc: "the same with XMem", NotRanked: true},
			},
			Rows:            thesisRows(thesisXMem, Row{Name: "mean", Summary: true, Values: map[string]float64{"speed": 1.085, "latency": 87.4}}),
			Interpretations: clockReadings,
		}, func(m *Meter, row *Row, reading int) (map[string]float64, error) {
			r, err := measureRowsClock(m, row)
			if err != nil {
				return nil, err
			}
			base, with := &r[0][reading], &r[1][reading]
			v := map[string]float64{}
			put(v, "speed", over(base.cycles, with.cycles))
			put(v, "latency", 100*over(with.latency, base.latency))
			put(v, "base_hits", base.hits)
			put(v, "xmem_hits", with.hits)
			return v, nil
		}, nil),
		summarised(Table{
			Name: "ldesc-l1", Title: "hits of the L1 and of lines in flight with the Locality Descriptor, against rotation",
			Columns: []Column{
				factor("hits", "", "hits", "hit rate of the L1 with the descriptors, over that with rotation"),
				{Name: "points", Head: [2]string{"hits,", "points"}, Digits: 1, Doc: "the same as a difference, in percent of the loaded sectors", WholeColumn: "points", NotRanked: true},
				factor("best", "in flight,", "best shape", "share of loaded sectors that are in flight with the best shape of groups, over that with rotation"),
				factor("groups", "in flight,", "groups", "the same with the groups of the descriptors"),
			},
			Rows: l1, Interpretations: descriptors,
		}, func(m *Meter, row *Row, reading int) (map[string]float64, error) {
			r, err := measureLdescClock(m, row)
			if err != nil {
				return nil, err
			}
			v := map[string]float64{}
			rotation, full := r.rotation[reading%clockEnds], r.noPrefetch
			if reading < clockEnds {
				full = r.full[reading]
				put(v, "best", over(r.best[reading].inFlightRate(), rotation.inFlightRate()))
				put(v, "groups", over(r.groups[reading].inFlightRate(), rotation.inFlightRate()))
			}
			put(v, "hits", over(full.hitRate(), rotation.hitRate()))
			put(v, "points", 100*(full.hitRate()-rotation.hitRate()))
			return v, nil
		}, five),
		summarised(Table{
			Name: "ldesc-speed", Title: "speed-up by the Locality Descriptor",
			Note: "The thesis's speed-ups are up to 1.466 without zones; with zones up to 2.8 over the baseline and 2.3 over first touch.",
			Columns: []Column{
				factor("ldesc", "", "ldesc", "cycles with rotation over those with groups, treatment of lines and prefetches by the descriptors"),
				factor("groups", "", "groups", "cycles with rotation over those with the groups of the descriptors"),
				factor("zones", "zones,", "baseline", "with four zones: cycles of the baseline over those with the descriptors"),
				factor("touch", "zones, first", "touch", "with four zones: cycles of first touch over those with the descriptors"),
			},
			Rows: speed, Interpretations: descriptors,
		}, func(m *Meter, row *Row, reading int) (map[string]float64, error) {
			r, err := measureLdescClock(m, row)
			if err != nil {
				return nil, err
			}
			v := map[string]float64{}
			of := func(name string, a, b *clocked) { put(v, name, over(float64(a.cycles), float64(b.cycles))) }
			if reading == clockEnds {
				of("ldesc", r.rotation[clockHeadline], r.noPrefetch)
				return v, nil
			}
			of("ldesc", r.rotation[reading], r.full[reading])
			of("groups", r.rotation[reading], r.groups[reading])
			of("zones", r.baseline[reading], r.zones[reading])
			of("touch", r.touch[reading], r.zones[reading])
			return v, nil
		}, five),
	}
}
