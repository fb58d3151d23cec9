package papers

// This file has XMem and the Locality Descriptor (Vijaykumar 2019). docs/thesis2019.md defines the columns and
// interpretations.

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"gemu/interp"
	"gemu/machine"
	"gemu/machine/cache"
	"gemu/machine/dispatch"
	"gemu/machine/locality"
	"gemu/machine/stream"
	"gemu/machine/xmem"
	"gemu/probe"
	"gemu/ptx"
)

// thesis2019 returns the comparison with the thesis.
func thesis2019() *Paper {
	return &Paper{Name: "thesis2019", Title: "Vijaykumar 2019: XMem, the Locality Descriptor and Zorua", Tables: slices.Concat(thesisTables(), clockTables(), zoruaTables())}
}

// thesisProgram is a program of the thesis with its workload.
type thesisProgram struct{ name, workload string }

// thesisSizes are the sizes of workloads, if not the default.
var thesisSizes = map[string]int{"thesis/libor": 1 << 12}

// thesisXMem are the programs of figure 6 from Rodinia and Parboil.
var thesisXMem = []thesisProgram{
	{"backprop", "backprop"}, {"bfsRod", "bfs"}, {"cfd", "cfd"}, {"hotspot", "hotspot"}, {"hotspot3D", "thesis/hotspot3d"}, {"lud", "lud"}, {"nw", "nw"}, {"pathfind", "pathfinder"},
	{"sc", "thesis/streamcluster"}, {"srad_v1", "thesis/srad1"}, {"srad_v2", "srad"}, {"histo", "thesis/histo"}, {"lbm", "lbm"}, {"sgemm", "sgemm"}, {"spmv", "spmv"}, {"stencil", "stencil"},
}

// thesisLocality are the programs of table 4.
var thesisLocality = []thesisProgram{
	{"SK", "thesis/syrk"}, {"DT", "thesis/doitgen"}, {"D2D", "thesis/dwt2d"}, {"C2D", "thesis/conv2d"}, {"SPMV", "spmv"}, {"LIB", "thesis/libor"}, {"LMD", "thesis/lavamd"}, {"HS", "thesis/histo"},
	{"ATX", "thesis/atax"}, {"MVT", "thesis/mvt"}, {"PF", "thesis/particlefilter"}, {"SC", "thesis/streamcluster"}, {"TRA", "transpose"}, {"SP", "thesis/scalarprod"}, {"LPS", "lps"}, {"PT", "pathfinder"},
}

// thesisFive are the programs of the thesis's mean of working sets.
var thesisFive = map[string]bool{"SK": true, "DT": true, "HS": true, "D2D": true, "C2D": true}

// thesisRows returns the rows of programs.
func thesisRows(list []thesisProgram, more ...Row) (rows []Row) {
	for _, p := range list {
		rows = append(rows, Row{Name: p.name, Workload: p.workload, Size: thesisSizes[p.workload]})
	}
	return append(rows, more...)
}

// sensitiveShare is the change of the working set, in percent, from which on a program is sensitive.
const sensitiveShare = -10

// albEntries are the sizes of lookaside buffers.
var albEntries = []int{16, 64, 256, 1024}

// zoneCount is the number of zones.
const zoneCount = 4

// thesisSpec returns the machine of the thesis's table 3 with a number of multiprocessors and the size of its L2.
func thesisSpec(sms, l2 int) machine.Spec {
	s := machine.Specs[0]
	s.Name, s.SMs, s.SM, s.Shared = fmt.Sprintf("%d SMs", sms), sms, 20, nil
	s.L1.Bytes, s.L1.Ways, s.L2.Bytes, s.L2.Ways = 32<<10, 4, l2, 16
	return s
}

// albReadings are the streams of lookups, in the order of the interpretations.
const (
	albL2 = iota
	albCoalesced
	albMemory
	albLargePages
	albReadings
)

// Mechanisms of the machine with zones.
const (
	numaBaseline = iota
	numaFirstTouch
	numaPlacement
	numaDescriptor
	numaMechanisms
)

// setReadings are the interpretations of working sets.
const (
	setsHeadline = iota
	setsLoads
	setsWhole
	setReadings
)

// thesisResult is the measurement of a workload.
type thesisResult struct {
	alb        [albReadings][]*xmem.Lookaside
	buffers    int
	threads    int64 // instructions of all threads
	warps      int64
	sets       [setReadings]struct{ rotation, best, tiles float64 } // sums over all launches
	local, all [numaMechanisms]int64                                // sectors
}

// coalescedPages looks up the pages of all requests.
type coalescedPages []*xmem.Lookaside

func (c coalescedPages) BeginLaunch(*stream.Launch)      {}
func (c coalescedPages) EndLaunch(*stream.Launch, error) {}
func (c coalescedPages) CTA(_ *stream.Launch, cta *stream.CTA) {
	for w := range cta.Warps {
		for _, t := range cta.Warps[w].Transactions {
			if !t.Local {
				lookup(c, t.Line*stream.LineBytes/smallPage)
			}
		}
	}
}

func lookup(list []*xmem.Lookaside, page uint64) {
	for _, l := range list {
		l.Lookup(page)
	}
}

// Sizes of pages.
const (
	smallPage = 4 << 10
	largePage = 64 << 10
)

// thesisMeasure measures a workload for all tables, in a single run.
func thesisMeasure(m *Meter, row *Row) (*thesisResult, error) {
	return measureOnce(m, "thesis2019 "+row.Workload, func() (*thesisResult, error) {
		out := &thesisResult{}
		for i := range out.alb {
			for _, n := range albEntries {
				out.alb[i] = append(out.alb[i], xmem.NewLookaside(n))
			}
		}
		single := machine.New(thesisSpec(15, 768<<10), 0)
		single.OnL2(func(a *machine.L2Access) {
			if !a.Local {
				lookup(out.alb[albL2], a.Line*stream.LineBytes/smallPage)
				lookup(out.alb[albLargePages], a.Line*stream.LineBytes/largePage)
			}
		})
		single.OnTransfer(func(t *machine.Transfer) {
			if !t.Local {
				lookup(out.alb[albMemory], t.Line*stream.LineBytes/smallPage)
			}
		})
		t := &thesisRun{thesisResult: out, forms: map[*probe.LaunchInfo][]locality.Form{}, shapes: map[shapeKey]ptx.Dim3{}, buffers: map[stream.Buffer]bool{}, zones: locality.NewZones(zoneCount), pages: map[uint64]int{}}
		for i := range t.numa {
			t.numa[i] = t.newZoned(i)
		}
		fitter := locality.NewFitter(func(l *probe.LaunchInfo, list []locality.Form) { t.forms[l] = list })
		loads := locality.NewCollector(func(l *locality.Launch) { t.loads = l })
		loads.LoadsOnly = true
		all := locality.NewCollector(t.ended)
		recorder := stream.NewRecorder(stream.Consumers{single, coalescedPages(out.alb[albCoalesced]), loads, all})
		counts := &countProbe{}
		err := m.run(row.Workload, row.Size, func(*interp.Launch) {}, fitter, recorder, counts)
		out.buffers, out.threads, out.warps = len(t.buffers), counts.threads, counts.warps
		if err == nil {
			err = t.err
		}
		for _, on := range append(t.numa[:], single) {
			if err == nil {
				err = m.verify.machine(on)
			}
		}
		return out, err
	})
}

// countProbe counts instructions.
type countProbe struct {
	mu             sync.Mutex
	threads, warps int64
}

func (c *countProbe) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAfter}
}
func (c *countProbe) OnEvent(*probe.Event)                            {}
func (c *countProbe) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return countSink{c} }

type countSink struct{ *countProbe }

func (c countSink) OnEvent(e *probe.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.warps++
	c.threads += int64(bits.OnesCount64(e.Lanes))
}

// shapeKey identifies launches with the same groups.
type shapeKey struct {
	reading int
	kernel  string
	grid    ptx.Dim3
}

// thesisRun is the measurement of a workload in progress.
type thesisRun struct {
	*thesisResult
	forms   map[*probe.LaunchInfo][]locality.Form
	loads   *locality.Launch // of the launch that ends
	shapes  map[shapeKey]ptx.Dim3
	buffers map[stream.Buffer]bool
	zones   *locality.Zones
	part    []int          // zone of each CTA of the launch in progress
	pages   map[uint64]int // zone of each page, by first touch
	numa    [numaMechanisms - 1]*machine.Machine
	err     error
}

// newZoned returns a machine with zones: with rotation for the baseline and the placement, with parts for first touch, and with the
// partition of the descriptors.
func (t *thesisRun) newZoned(i int) *machine.Machine {
	spec := thesisSpec(64, 4<<20)
	switch i {
	case numaFirstTouch:
		spec.Dispatcher = dispatch.Parts(zoneCount)
	case numaDescriptor - 1:
		spec.Dispatcher = &dispatch.Policy{Name: "descriptors", New: func(l *dispatch.Launch) dispatch.Dispatcher {
			list := make([][]int, zoneCount)
			for cta, zone := range t.part {
				list[zone] = append(list[zone], cta)
			}
			return dispatch.NewZones(l.SMs, list)
		}}
	}
	m := machine.New(spec, 0)
	count := func(mechanism int, a *machine.L2Access, zone int) {
		n := int64(bits.OnesCount8(a.Sectors))
		t.all[mechanism] += n
		if zone == dispatch.Zone(a.SM, spec.SMs, zoneCount) {
			t.local[mechanism] += n
		}
	}
	m.OnL2(func(a *machine.L2Access) {
		if a.Local {
			return
		}
		addr := a.Line * stream.LineBytes
		switch i {
		case numaBaseline:
			count(numaBaseline, a, cache.XOR(a.Line, zoneCount))
			count(numaPlacement, a, t.zones.Of(addr, a.Buffer))
		case numaFirstTouch:
			zone, ok := t.pages[addr/largePage]
			if !ok {
				zone = dispatch.Zone(a.SM, spec.SMs, zoneCount)
				t.pages[addr/largePage] = zone
			}
			count(numaFirstTouch, a, zone)
		default:
			count(numaDescriptor, a, t.zones.Of(addr, a.Buffer))
		}
	})
	return m
}

// ended measures a launch at its end.
func (t *thesisRun) ended(l *locality.Launch) {
	forms := t.forms[l.LaunchInfo]
	delete(t.forms, l.LaunchInfo)
	if t.err != nil {
		return
	}
	if l.TooLarge || l.Requests == nil {
		t.err = fmt.Errorf("kernel %s: the launch is too large to be measured", l.Kernel.Name)
		return
	}
	list := locality.Infer(l, forms)
	for _, d := range list {
		t.buffers[d.Buffer] = true
	}
	for reading := range setReadings {
		from, policy := l, dispatch.Clusters
		switch reading {
		case setsLoads:
			from = t.loads
		case setsWhole:
			policy = dispatch.WholeClusters
		}
		t.workingSets(reading, from, list, policy)
	}
	t.part = t.zones.Partition(l, list)
	for _, m := range t.numa {
		m.BeginLaunch(l.Launch)
		for _, c := range l.Requests {
			m.CTA(l.Launch, c)
		}
		m.EndLaunch(l.Launch, nil)
	}
}

// workingSets adds the working sets of a launch. The best shape is that of the first launch of its kernel and grid.
func (t *thesisRun) workingSets(reading int, l *locality.Launch, list []locality.Descriptor, policy func(ptx.Dim3) *dispatch.Policy) {
	const sms = 15
	measure := func(shape ptx.Dim3) float64 {
		p := policy(shape)
		if shape == ptx.Dim(1) {
			p = dispatch.Rotation
		}
		n, err := l.Measure(p, sms)
		if t.err == nil {
			t.err = err
		}
		return n
	}
	rotation := measure(ptx.Dim(1))
	key := shapeKey{reading, l.Kernel.Name, l.Grid}
	best, ok := t.shapes[key]
	if !ok {
		best = bestShape(l.Grid, rotation, measure, func(s ptx.Dim3) bool {
			return reading != setsWhole || dispatch.GroupCount(l.Grid, s) >= sms // otherwise multiprocessors would have no CTA
		})
		t.shapes[key] = best
	}
	tiles := locality.Clusters(l.Grid, list, sms)
	sum := &t.sets[reading]
	sum.rotation += rotation
	sum.best += measure(best)
	sum.tiles += measure(tiles)
}

// bestShape returns the shape of groups with the smallest working set: a single CTA if none is below that of rotation.
func bestShape(grid ptx.Dim3, rotation float64, measure func(ptx.Dim3) float64, allowed func(ptx.Dim3) bool) ptx.Dim3 {
	best, least := ptx.Dim(1), rotation
	for _, s := range locality.Shapes(grid) {
		if !allowed(s) {
			continue
		}
		if n := measure(s); n < least {
			least, best = n, s
		}
	}
	return best
}

// change returns the change from a to b in percent.
func change(a, b float64) float64 {
	if a == 0 {
		return 0
	}
	return 100 * (b/a - 1)
}

// thesisTable is summarised for values of thesisMeasure.
func thesisTable(t Table, values func(r *thesisResult, reading int) map[string]float64, keep map[string]func(row string, v map[string]float64) bool) *Table {
	return summarised(t, func(m *Meter, row *Row, reading int) (map[string]float64, error) {
		result, err := thesisMeasure(m, row)
		if err != nil {
			return nil, err
		}
		return values(result, reading), nil
	}, keep)
}

// geometric is the name of the row with geometric means.
const geometric = "geometric"

// summarised completes a table whose values are those of a workload, with summaries of all rows, by name: values of the rows that keep
// selects. The summary "max" has maxima, others have means of the rows with a value: geometric means of the quotients, or, in a row whose name ends
// in "rates", quotients of the mean rates.
func summarised(t Table, measure func(m *Meter, row *Row, reading int) (map[string]float64, error), keep map[string]func(row string, v map[string]float64) bool) *Table {
	out := &t
	out.Measure = func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
		reading := out.interpretation(r)
		if !row.Summary {
			return measure(m, row, reading)
		}
		sum, n := map[string]float64{}, map[string]float64{}
		for i := range out.Rows {
			other := &out.Rows[i]
			if other.Summary {
				continue
			}
			v, err := measure(m, other, reading)
			if err != nil {
				return nil, err
			}
			if k := keep[row.Name]; k != nil && !k(other.Name, v) {
				continue
			}
			for name, x := range v {
				switch {
				case row.Name == "max":
					sum[name] = max(sum[name], x)
				case row.Name != geometric:
					sum[name] += x
				case slices.ContainsFunc(out.Columns, func(c Column) bool { return c.Name == name && c.Neutral == 1 }) && x > 0:
					sum[name] += math.Log(x)
				default:
					continue
				}
				n[name]++
			}
		}
		for name := range sum {
			if row.Name != "max" {
				sum[name] /= n[name]
			}
			if row.Name == geometric {
				sum[name] = math.Exp(sum[name])
			}
		}
		if strings.HasSuffix(row.Name, "rates") {
			putRates(sum)
		}
		return sum, nil
	}
	return out
}

// thesisTables returns the tables.
func thesisTables() []*Table {
	var alb []Column
	for _, n := range albEntries {
		alb = append(alb, Column{Name: fmt.Sprintf("alb%d", n), Head: [2]string{fmt.Sprint(n), "entries"}, Digits: 1, Doc: fmt.Sprintf("lookups that hit in %d entries, of all", n), NotRanked: true})
	}
	numa := []string{"baseline", "first_touch", "placement", "ldesc"}
	numaDocs := []string{
		"accesses in the own zone, of all, with zones by exclusive or of address bits", "the same, with pages in the zone of their first access, and a part of the grid in each zone",
		"the same, with the addresses of ldesc, and CTAs in rotation", "the same, with CTAs and addresses by algorithm 2",
	}
	var numaColumns []Column
	for i, name := range numa {
		numaColumns = append(numaColumns, Column{Name: name, Head: [][2]string{{"", "baseline"}, {"first", "touch"}, {"place-", "ment"}, {"", "ldesc"}}[i], Digits: 1, Doc: numaDocs[i], NotRanked: true})
	}
	return []*Table{
		thesisTable(Table{
			Name: "xmem-alb", Title: "lookups that hit in the atom lookaside buffer, in percent",
			Note:    "The thesis has a mean of CPU programs, without Gramschmidt.",
			Columns: alb, Rows: thesisRows(thesisXMem, Row{Name: "mean", Summary: true, Values: map[string]float64{"alb256": 98.9}}),
			Interpretations: []Interpretation{
				{"headline", "a lookup for each line of an access to the L2; pages of 4 KB"}, {"coalesced", "for each line of a request of a warp"},
				{"memory", "for each line between the L2 and memory"}, {"64K pages", "as the headline; pages of 64 KB"},
			},
		}, func(r *thesisResult, reading int) map[string]float64 {
			v := map[string]float64{}
			for i, l := range r.alb[reading] {
				if l.Lookups > 0 {
					v[alb[i].Name] = 100 * float64(l.Hits) / float64(l.Lookups)
				}
			}
			return v
		}, nil),
		thesisTable(Table{
			Name: "xmem-overhead", Title: "memory of the atom address map, and further instructions, in percent",
			Note: "max has the maximum of all programs. The map does not depend on the program.",
			Columns: []Column{
				{Name: "map", Head: [2]string{"", "map"}, Digits: 3, Doc: "8 bits for each 512 bytes, of memory", NotRanked: true},
				{Name: "coarse", Head: [2]string{"coarse", "map"}, Digits: 3, Doc: "6 bits for each KB, of memory", NotRanked: true},
				{Name: "instructions", Head: [2]string{"instruc-", "tions"}, Digits: 4, Doc: "four instructions for each buffer, of all", NotRanked: true},
			},
			Rows:            thesisRows(thesisXMem, Row{Name: "mean", Summary: true, Values: map[string]float64{"map": 0.2, "coarse": 0.07, "instructions": 0.014}}, Row{Name: "max", Summary: true, Values: map[string]float64{"instructions": 0.2}}),
			Interpretations: []Interpretation{{"headline", "of the instructions of all threads"}, {"warp", "of the instructions of all warps"}},
		}, func(r *thesisResult, reading int) map[string]float64 {
			return map[string]float64{"map": 100 * xmem.Fine.Share(), "coarse": 100 * xmem.Coarse.Share(), "instructions": 100 * 4 * float64(r.buffers) / float64([]int64{r.threads, r.warps}[reading])}
		}, nil),
		thesisTable(Table{
			Name: "ldesc-sets", Title: "change of the working set of a multiprocessor against rotation, in percent",
			Note: "sensitive: programs whose best shape has at least 10 % fewer lines. five: SK, DT, HS, D2D and C2D.",
			Columns: []Column{
				{Name: "best", Head: [2]string{"best", "shape"}, Digits: 1, Doc: "change with the groups of the best shape", NotRanked: true},
				{Name: "ldesc", Head: [2]string{"", "ldesc"}, Digits: 1, Doc: "change with the groups of algorithm 1, by inferred descriptors", NotRanked: true},
			},
			Rows:            thesisRows(thesisLocality, Row{Name: "sensitive", Summary: true, Values: map[string]float64{"best": -54.5}}, Row{Name: "five", Summary: true, Values: map[string]float64{"ldesc": -67.8}}),
			Interpretations: []Interpretation{{"headline", "loaded and stored lines; the groups of the last turn are spread CTA by CTA"}, {"loads", "loaded lines only"}, {"whole tail", "all groups are given as a whole"}},
		}, func(r *thesisResult, reading int) map[string]float64 {
			s := r.sets[reading]
			return map[string]float64{"best": change(s.rotation, s.best), "ldesc": change(s.rotation, s.tiles)}
		}, map[string]func(string, map[string]float64) bool{
			"sensitive": func(_ string, v map[string]float64) bool { return v["best"] <= sensitiveShare },
			"five":      func(row string, _ map[string]float64) bool { return thesisFive[row] },
		}),
		thesisTable(Table{
			Name: "ldesc-numa", Title: "accesses to the L2 in the own zone, in percent",
			Columns: numaColumns, Rows: thesisRows(thesisLocality, Row{Name: "mean", Summary: true, Values: map[string]float64{"baseline": 22, "first_touch": 49.7, "placement": 32, "ldesc": 76}}),
			Interpretations: []Interpretation{{"headline", "four zones of 16 multiprocessors"}},
		}, func(r *thesisResult, _ int) map[string]float64 {
			v := map[string]float64{}
			for i, name := range numa {
				if r.all[i] > 0 {
					v[name] = 100 * float64(r.local[i]) / float64(r.all[i])
				}
			}
			return v
		}, nil),
	}
}
