package papers

// This file has the results of Vijaykumar 2019 that need a clock. docs/thesis2019.md defines the columns and interpretations.

import (
	"fmt"
	"math"
	"slices"

	"gemu/interp"
	"gemu/kernels"
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
	{"headline", "all readings as in the machine"}, {"fast", "as the headline; all readings at the end of the faster machine; a corner, no bound"}, {"slow", "as the headline; all readings at the other end; a corner, no bound"},
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
	fast, slow := s.ClockEnds()
	return [clockEnds]machine.Spec{s, fast, slow}[reading]
}

// clocked is a machine with a clock, and its sums over launches.
type clocked struct {
	cycles int64
	core.Counts
	*machine.Clock
}

// clockRun runs the launches of a workload on machines with a clock.
type clockRun struct {
	forms      map[*probe.LaunchInfo][]locality.Form
	structures map[uint64]dram.Structure // buffers, by page of smallPage bytes
	list       []locality.Descriptor     // of the launch in progress
	treatment  *locality.Treatment       // of list
	machines   []*clocked
	begin      func(l *locality.Launch) // prepares a launch
	verify     verifiers
	err        error
}

// add adds a machine.
func (t *clockRun) add(s machine.Spec) *clocked {
	m, err := machine.NewClock(s, 0)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	c := &clocked{Clock: m}
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
	t.verify = m.verify
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
		m.BeginLaunch(l.Launch)
		for _, c := range l.Requests {
			m.CTA(l.Launch, c)
		}
		m.EndLaunch(l.Launch, nil)
		for _, done := range m.TakeLaunches() {
			m.cycles += done.Cycles
			m.Counts.Add(&done.Counts)
		}
		if err := t.verify.clock(m.Clock); t.err == nil && err != nil {
			t.err = fmt.Errorf("kernel %s: %w", l.Kernel.Name, err)
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

// rateQuotients are the columns of ldesc-l1 that are quotients of rates, with the columns of these rates.
var rateQuotients = map[string][2]string{"hits": {"hits_ldesc", "hits_rotation"}, "best": {"flight_best", "flight_rotation"}, "groups": {"flight_groups", "flight_rotation"}}

// putRates sets the quotients of rates to those of the rates in v.
func putRates(v map[string]float64) {
	for name, of := range rateQuotients {
		delete(v, name)
		if a, ok := v[of[0]]; ok {
			put(v, name, over(a, v[of[1]]))
		}
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
			if err := m.verify.machine(first); t.err == nil {
				t.err = err
			}
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
				n := c.Memory().Total().Memory
				out[i][r] = rowsClock{float64(c.cycles), c.Memory().ReadLatency(), 100 * over(float64(n.Hits), float64(n.Requests()))}
			}
		}
		return out, nil
	})
}

// xmemMap is the address map of XMem's placement, which keeps a page in a bank.
const xmemMap = "scheme4"

// factor returns a column of quotients, of which 1 is no effect.
func factor(name, head1, head2, doc string) Column {
	return Column{Name: name, Head: [2]string{head1, head2}, Digits: 3, Neutral: 1, Doc: doc, NotRanked: true}
}

// percent returns a column of shares in percent.
func percent(name, head1, head2, doc string) Column {
	return Column{Name: name, Head: [2]string{head1, head2}, Digits: 1, Doc: doc, NotRanked: true}
}

// clockTables returns the tables with a clock.
func clockTables() []*Table {
	programs := func(more ...Row) []Row {
		rows := thesisRows(thesisLocality, more...)
		for i := range rows {
			if rows[i].Name == "SK" { // its loads take 32 lines each: the default size takes a minute
				rows[i].Size = 128
			}
		}
		return rows
	}
	speed := programs(
		Row{Name: "mean", Summary: true, Values: map[string]float64{"ldesc": 1.266, "zones": 1.537, "touch": 1.312}}, Row{Name: "five", Summary: true, Values: map[string]float64{"groups": 1.021}},
		Row{Name: geometric, Summary: true})
	l1 := programs(Row{Name: "mean", Summary: true, Values: map[string]float64{"hits": 1.411, "points": 41.1, "best": 1.2}}, Row{Name: "five", Summary: true, Values: map[string]float64{"groups": 1.17}},
		Row{Name: geometric, Summary: true}, Row{Name: "rates", Summary: true}, Row{Name: "five rates", Summary: true})
	isFive := func(row string, _ map[string]float64) bool { return thesisFive[row] }
	five := map[string]func(string, map[string]float64) bool{"five": isFive, "five rates": isFive}
	descriptors := append(clockReadings[:clockEnds:clockEnds], Interpretation{"no prefetch", "as the headline; no prefetches"})
	return []*Table{
		tileTable(),
		summarised(Table{
			Name: "xmem-rows", Title: "time and latency of memory with the best address map and random pages, against placement by XMem",
			Note: "The thesis has CPU programs. Its speed-up is up to 1.319, its latency falls by 12.6 % on average, and by up to 31.4 %.",
			Columns: []Column{
				factor("speed", "speed", "-up", "cycles of the baseline over those with XMem"),
				factor("latency", "read", "latency", "mean latency of reads of memory in the baseline over that with XMem"),
				percent("base_hits", "row hits", "base", "requests to memory that find their row open in the baseline, of all"),
				percent("xmem_hits", "row hits", "XMem", "the same with XMem"),
			},
			Rows:            thesisRows(thesisXMem, Row{Name: "mean", Summary: true, Values: map[string]float64{"speed": 1.085, "latency": 1 / 0.874}}, Row{Name: geometric, Summary: true}),
			Interpretations: clockReadings, OnlyIfNamed: true,
		}, func(m *Meter, row *Row, reading int) (map[string]float64, error) {
			r, err := measureRowsClock(m, row)
			if err != nil {
				return nil, err
			}
			base, with := &r[0][reading], &r[1][reading]
			v := map[string]float64{}
			put(v, "speed", over(base.cycles, with.cycles))
			put(v, "latency", over(base.latency, with.latency))
			put(v, "base_hits", base.hits)
			put(v, "xmem_hits", with.hits)
			return v, nil
		}, nil),
		summarised(Table{
			Name: "ldesc-l1", Title: "hits of the L1 and of lines in flight with the Locality Descriptor, against rotation",
			Columns: []Column{
				factor("hits", "", "hits", "hit rate of the L1 with the descriptors, over that with rotation"),
				percent("points", "hits,", "points", "the same as a difference, in percent of the loaded sectors"),
				factor("best", "in flight,", "best shape", "share of loaded sectors that are in flight with the best shape of groups, over that with rotation"),
				factor("groups", "in flight,", "groups", "the same with the groups of the descriptors"),
				percent("hits_rotation", "hits,", "rotation", "hits of the L1 with rotation, of the loaded sectors"),
				percent("hits_ldesc", "hits,", "ldesc", "the same with the descriptors"),
				percent("flight_rotation", "in flight,", "rotation", "loaded sectors that are in flight with rotation, of all"),
				percent("flight_best", "in flight,", "best", "the same with the best shape of groups"),
				percent("flight_groups", "in flight,", "groups", "the same with the groups of the descriptors"),
			},
			Rows: l1, Interpretations: descriptors, OnlyIfNamed: true,
		}, func(m *Meter, row *Row, reading int) (map[string]float64, error) {
			r, err := measureLdescClock(m, row)
			if err != nil {
				return nil, err
			}
			v := map[string]float64{}
			rotation, full := r.rotation[reading%clockEnds], r.noPrefetch
			if reading < clockEnds {
				full = r.full[reading]
				put(v, "flight_rotation", 100*rotation.inFlightRate())
				put(v, "flight_best", 100*r.best[reading].inFlightRate())
				put(v, "flight_groups", 100*r.groups[reading].inFlightRate())
			}
			put(v, "hits_rotation", 100*rotation.hitRate())
			put(v, "hits_ldesc", 100*full.hitRate())
			put(v, "points", 100*(full.hitRate()-rotation.hitRate()))
			putRates(v)
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
			Rows: speed, Interpretations: descriptors, OnlyIfNamed: true,
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

// tilePrograms are the programs with tiles.
var tilePrograms = []thesisProgram{{"gemm", "thesis/tiledgemm"}, {"syrk", "thesis/tiledsyrk"}, {"stencil", "thesis/tiledstencil"}}

// tileRows are the sizes of tiles in rows of 1 KiB.
var tileRows = []int{2, 4, 8, 16, 32, 64, 128, 256}

// tileCaches are the sizes of the L2.
var tileCaches = [3]int{256 << 10, 128 << 10, 64 << 10}

// tileClock returns an eighth of the machine for tiles, with an L2 of some bytes.
func tileClock(l2, reading int) machine.Spec {
	s := thesisClock(1, reading)
	s.SMs, s.DRAM.Channels, s.L2.Bytes = 2, 1, l2
	s.L2.Policy = findReplacement("drrip")
	return s
}

// findReplacement returns a replacement policy of the machine.
func findReplacement(name string) *machine.Replacement {
	for _, r := range machine.Replacements {
		if r.Name == name {
			return r
		}
	}
	panic("BUG: no policy " + name)
}

// tileRun runs a program with tiles.
type tileRun struct {
	clockRun
	program  string
	rows     int
	launches int
	atom     []xmem.Range // of the launch in progress: the data of its tile that are used again
	bytes    uint64       // of them
	policies []*cache.Reserved
}

// addXMem adds a machine whose L2 keeps lines of the atom, as many as fit in a share of the cache.
func (t *tileRun) addXMem(s machine.Spec) *clocked {
	l2 := float64(s.L2.Bytes)
	s.L2.Policy = &machine.Replacement{Name: "xmem", New: func(shape cache.Shape) cache.Policy {
		p := cache.NewReserved(shape, func(a *cache.Access) bool {
			addr := a.Line * stream.LineBytes
			for _, r := range t.atom {
				if addr >= r.Start && addr < r.Start+r.Bytes {
					return xmem.Kept(a.Line, xmem.PinnedShare*l2/float64(t.bytes))
				}
			}
			return false
		})
		t.policies = append(t.policies, p)
		return p
	}}
	return t.add(s)
}

// next begins a launch: it maps and activates the atom of its tile.
func (t *tileRun) next(l *locality.Launch) {
	const row = kernels.TiledRows * 4
	var bases []uint64
	for _, b := range l.Buffers {
		bases = append(bases, b.Base)
	}
	slices.Sort(bases)
	of := func(buffer, tile int) xmem.Range {
		first := tile * t.rows
		return xmem.Range{Start: bases[buffer] + uint64(first*row), Bytes: uint64(min(t.rows, kernels.TiledRows-first) * row)}
	}
	before := t.atom
	switch t.program {
	case "gemm":
		t.atom = []xmem.Range{of(1, t.launches)}
	case "syrk":
		t.atom = []xmem.Range{of(0, t.launches)}
	default:
		tile := t.launches / kernels.TiledSteps
		t.atom = []xmem.Range{of(0, tile), of(1, tile)}
	}
	t.launches++
	if slices.Equal(before, t.atom) {
		return
	}
	t.bytes = 0
	for _, r := range t.atom {
		t.bytes += r.Bytes
	}
	for _, p := range t.policies {
		p.Release()
	}
}

// Systems of tile results.
const (
	tilesDRRIP = iota
	tilesXMem
	tileSystems
)

// tileResult is the cycles of a program with tiles.
type tileResult struct {
	sizes [tileSystems][]float64                           // by size, with the largest L2, under the headline
	best  [tileSystems]int                                 // index of the fastest of these
	tuned [clockEnds][tileSystems][len(tileCaches)]float64 // with this size, by L2
	reads [tileSystems][len(tileCaches)]float64            // sectors between the L2 and memory, under the headline
}

// measureTiles measures a program with tiles.
func measureTiles(m *Meter, row *Row) (*tileResult, error) {
	return measureOnce(m, "thesis2019 tiles "+row.Workload, func() (*tileResult, error) {
		out := &tileResult{}
		run := func(rows int, add func(t *tileRun)) error {
			t := &tileRun{program: row.Name, rows: rows}
			t.begin = t.next
			add(t)
			return t.run(m, &Row{Workload: row.Workload, Size: rows})
		}
		for i, rows := range tileRows {
			var list [tileSystems]*clocked
			err := run(rows, func(t *tileRun) {
				s := tileClock(tileCaches[0], clockHeadline)
				list = [tileSystems]*clocked{t.add(s), t.addXMem(s)}
			})
			if err != nil {
				return nil, err
			}
			for k, c := range list {
				out.sizes[k] = append(out.sizes[k], float64(c.cycles))
				if out.sizes[k][i] < out.sizes[k][out.best[k]] {
					out.best[k] = i
				}
			}
		}
		for k := range tileSystems {
			var list [clockEnds][len(tileCaches)]*clocked
			err := run(tileRows[out.best[k]], func(t *tileRun) {
				for r := range clockEnds {
					for i, l2 := range tileCaches {
						add := t.add
						if k == tilesXMem {
							add = t.addXMem
						}
						list[r][i] = add(tileClock(l2, r))
					}
				}
			})
			if err != nil {
				return nil, err
			}
			for r := range list {
				for i, c := range list[r] {
					out.tuned[r][k][i] = float64(c.cycles)
					if n := c.Memory().Total(); r == clockHeadline {
						out.reads[k][i] = float64(n.Reads + n.WriteBacks)
					}
				}
			}
		}
		return out, nil
	})
}

// tileTable returns the table of tiles.
func tileTable() *Table {
	cost := func(name, head1, head2, doc string) Column {
		c := factor(name, head1, head2, doc)
		c.Cost = true
		return c
	}
	return summarised(Table{
		Name: "xmem-tiles", Title: "time of the tiles that are best for the largest L2 on smaller ones, and of all sizes of tiles",
		Columns: []Column{
			cost("base", "smaller", "L2", "largest time over that with the largest L2, with DRRIP"),
			cost("xmem", "with", "XMem", "the same with XMem"),
			factor("gain", "", "gain", "base over xmem"),
			cost("base_traffic", "traffic,", "base", "sectors between the L2 and memory: the largest over that with the largest L2, with DRRIP"),
			cost("xmem_traffic", "traffic,", "XMem", "the same with XMem"),
			cost("small", "small", "tiles", "time of the smallest tile over that of the best, with DRRIP"),
			cost("large", "large", "tiles", "time of the largest tile over that of the best, with DRRIP"),
			cost("xmem_large", "large,", "XMem", "the same with XMem"),
		},
		Rows:            thesisRows(tilePrograms, Row{Name: "mean", Summary: true, Values: map[string]float64{"base": 1.55, "xmem": 1.06, "gain": 1.55 / 1.06, "small": 1.287, "large": 1.648, "xmem_large": 1.269}}, Row{Name: geometric, Summary: true}),
		Interpretations: clockReadings, OnlyIfNamed: true,
	}, func(m *Meter, row *Row, reading int) (map[string]float64, error) {
		r, err := measureTiles(m, row)
		if err != nil {
			return nil, err
		}
		worst := func(list [len(tileCaches)]float64) float64 { return slices.Max(list[:]) / list[0] }
		v := map[string]float64{"base": worst(r.tuned[reading][tilesDRRIP]), "xmem": worst(r.tuned[reading][tilesXMem])}
		v["gain"] = v["base"] / v["xmem"]
		if reading == clockHeadline {
			v["base_traffic"], v["xmem_traffic"] = worst(r.reads[tilesDRRIP]), worst(r.reads[tilesXMem])
			for name, k := range map[string]int{"large": tilesDRRIP, "xmem_large": tilesXMem} {
				v[name] = r.sizes[k][len(tileRows)-1] / r.sizes[k][r.best[k]]
			}
			v["small"] = r.sizes[tilesDRRIP][0] / r.sizes[tilesDRRIP][r.best[tilesDRRIP]]
		}
		return v, nil
	}, nil)
}
