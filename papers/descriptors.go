package papers

// This file has the experiment of one inferred descriptor for order, zones, banks and codec. docs/descriptors.md defines the columns and interpretations.

import (
	"fmt"
	"slices"
	"strings"

	"gemu/interp"
	"gemu/machine"
	"gemu/machine/locality"
	"gemu/machine/stream"
	"gemu/machine/systems"
	"gemu/probe"
)

// descriptorPrograms are the programs of the experiment, with their sizes.
var descriptorPrograms = []Row{
	{Name: "SPMV", Workload: "spmv", Size: 8192}, {Name: "HS", Workload: "thesis/histo", Size: 65536}, {Name: "SC", Workload: "thesis/streamcluster", Size: 8192},
	{Name: "PT", Workload: "pathfinder", Size: 4096}, {Name: "TRA", Workload: "transpose", Size: 512}, {Name: "LPS", Workload: "lps", Size: 32},
	{Name: "bfs", Workload: "bfs", Size: 8192}, {Name: "hotspot", Workload: "hotspot", Size: 192}, {Name: "nw", Workload: "nw", Size: 256},
	{Name: "SK", Workload: "thesis/syrk", Size: 96}, {Name: "DT", Workload: "thesis/doitgen", Size: 64}, {Name: "C2D", Workload: "thesis/conv2d", Size: 512},
	{Name: "D2D", Workload: "thesis/dwt2d", Size: 256}, {Name: "MM", Workload: "caba/mm", Size: 96}, {Name: "PVC", Workload: "caba/pvc", Size: 16384}, {Name: "PVR", Workload: "caba/pvr", Size: 4096},
}

// descriptorReadings are the interpretations of the tables, besides those with a clock.
var descriptorReadings = append(clockReadings[:clockEnds:clockEnds],
	Interpretation{"channel", "as the headline; use banks has each page in one channel"},
	Interpretation{"large L2", "as the headline; the L2 has 1 MB"})

// The interpretations of descriptorReadings after those with a clock.
const (
	descriptorChannel = clockEnds + iota
	descriptorLargeL2
)

// useSet is a set of the uses of descriptors, a bit each, or a machine without descriptors.
type useSet int

// The uses.
const (
	useOrder useSet = 1 << iota
	useZones
	useBanks
	useCodec
	allUses = useOrder | useZones | useBanks | useCodec
)

// Machines without descriptors.
const (
	useBDI    useSet = -1 - iota // BDI for all lines
	useFrames                    // frames of pages in the order of their first accesses
)

// useNames are the names of the uses, by bit.
var useNames = []string{"order", "zones", "banks", "codec"}

// value returns the value of inferred=VALUE for some uses.
func (u useSet) value(reading int) string {
	value := u.name("-")
	if reading == descriptorChannel && u&useBanks != 0 {
		value += "-channel"
	}
	return value
}

// usePairs are all pairs of uses.
func usePairs() (pairs []useSet) {
	for i := range useNames {
		for k := range i {
			pairs = append(pairs, 1<<k|1<<i)
		}
	}
	return pairs
}

// name returns the names of uses, with a word between them.
func (u useSet) name(between string) string {
	var list []string
	for i, name := range useNames {
		if u>>i&1 != 0 {
			list = append(list, name)
		}
	}
	return strings.Join(list, between)
}

// descriptorSets returns the sets of uses that are measured under an interpretation, the empty set first.
func descriptorSets(reading int) []useSet {
	list := []useSet{0, allUses}
	for i := range useNames {
		list = append(list, 1<<i, allUses&^(1<<i))
	}
	if reading < clockEnds {
		list = append(list, usePairs()...)
	}
	return append(list, useBDI)
}

// descriptorSpec returns the machine under an interpretation.
func descriptorSpec(reading int) machine.Spec {
	s := thesisClock(zoneCount, min(reading, clockEnds)%clockEnds)
	s.SMs, s.DRAM.Channels, s.L2.Bytes = 16, 8, 128<<10
	s.Timing.LinkBytes /= 4
	if reading == descriptorLargeL2 {
		s.L2.Bytes = 1 << 20
	}
	s.L1Lines, s.WholeLines = true, true
	return s
}

// descriptorRun is a program on the machines of all sets of uses, under an interpretation.
type descriptorRun struct {
	machines map[useSet]descriptorCounts
	report   *systems.InferredReport // descriptors of allUses
}

// descriptorCounts are the counts of a program on a machine.
type descriptorCounts struct {
	cycles  float64
	bursts  float64 // that memory transfers
	rowHits float64 // requests to memory that find their row open, in percent
	remote  float64 // bytes of the network that pass between zones, in percent
	l1      float64 // loaded sectors that the L1 has, in percent
}

// descriptorCounts returns the counts after a program.
func (c *clocked) descriptorCounts() descriptorCounts {
	n := c.Memory().Total()
	return descriptorCounts{
		cycles: float64(c.cycles), bursts: float64(n.Memory.ReadBursts + n.Memory.WriteBursts), rowHits: 100 * over(float64(n.Memory.Hits), float64(n.Memory.Requests())),
		remote: 100 * over(float64(n.LinkBytes), float64(n.BytesSent+n.ReplyBytes)), l1: 100 * c.hitRate(),
	}
}

// descriptorMeasure runs a program on the machines of all sets of uses.
func descriptorMeasure(m *Meter, row *Row, reading int) (*descriptorRun, error) {
	return descriptorMeasureSets(m, row, reading, "", descriptorSets(reading))
}

// descriptorMeasureSets runs a program on machines with sets of uses, which have a name of their own.
func descriptorMeasureSets(m *Meter, row *Row, reading int, name string, sets []useSet) (*descriptorRun, error) {
	return measureOnce(m, fmt.Sprintf("descriptors %s %d %s", row.Name, reading, name), func() (*descriptorRun, error) {
		out := &descriptorRun{machines: map[useSet]descriptorCounts{}, report: &systems.InferredReport{}}
		machines := map[useSet]*clocked{}
		for _, u := range sets {
			spec := descriptorSpec(reading)
			switch u {
			case 0:
			case useFrames:
				spec.DRAM.Pages = "first-touch"
			case useBDI:
				list, err := systems.Find("caba=hw", nil)
				if err != nil {
					return nil, err
				}
				spec.Systems = list
			default:
				var report *systems.InferredReport
				if u == allUses {
					report = out.report
				}
				s, err := systems.InferredUses(u.value(reading), report)
				if err != nil {
					return nil, err
				}
				spec.Systems = []*machine.System{s}
			}
			c, err := machine.NewClock(spec, 0)
			if err != nil {
				return nil, err
			}
			machines[u] = &clocked{Clock: c}
		}
		forms := map[*probe.LaunchInfo][]locality.Form{}
		fitter := locality.NewFitter(func(l *probe.LaunchInfo, list []locality.Form) { forms[l] = list })
		var failed error
		recorder := stream.NewDataRecorder(locality.NewCollector(func(l *locality.Launch) {
			of := forms[l.LaunchInfo]
			delete(forms, l.LaunchInfo)
			if l.TooLarge || l.Requests == nil {
				failed = fmt.Errorf("kernel %s: the launch is too large to be measured", l.Kernel.Name)
			}
			for _, u := range sets {
				if failed == nil {
					failed = machines[u].replay(m, l, of)
				}
			}
		}))
		recorder.RecordInstructions()
		if err := m.run(row.Workload, row.Size, func(*interp.Launch) {}, fitter, recorder); err != nil {
			return nil, err
		}
		for u, c := range machines {
			out.machines[u] = c.descriptorCounts()
		}
		return out, failed
	})
}

// replay runs a launch that has ended.
func (c *clocked) replay(m *Meter, l *locality.Launch, forms []locality.Form) error {
	c.Replay(l, forms)
	for _, done := range c.TakeLaunches() {
		c.cycles += done.Cycles
		c.Counts.Add(&done.Counts)
	}
	if err := m.verify.clock(c.Clock); err != nil {
		return fmt.Errorf("kernel %s: %w", l.Kernel.Name, err)
	}
	return nil
}

// gain returns the cycles without descriptors over those with some uses.
func (r *descriptorRun) gain(u useSet) float64 {
	return over(r.machines[0].cycles, r.machines[u].cycles)
}

// descriptorRows returns the programs and their means.
func descriptorRows() []Row {
	return append(slices.Clone(descriptorPrograms), Row{Name: "mean", Summary: true}, Row{Name: geometric, Summary: true})
}

// descriptors returns the experiment.
func descriptors() *Paper {
	return &Paper{Name: "descriptors", Experiment: true, Title: "One descriptor for order, placement, banks and codec (docs/descriptors.md)",
		Tables: []*Table{descriptorSpeed(), descriptorWithout(), descriptorCountTable(), descriptorBuffers(), descriptorFrames()}}
}

// descriptorTable completes a table.
func descriptorTable(t Table, values func(r *descriptorRun, v map[string]float64)) *Table {
	t.Rows = descriptorRows()
	return summarised(t, func(m *Meter, row *Row, reading int) (map[string]float64, error) {
		r, err := descriptorMeasure(m, row, reading)
		if err != nil {
			return nil, err
		}
		v := map[string]float64{}
		values(r, v)
		return v, nil
	}, nil)
}

func descriptorSpeed() *Table {
	var columns []Column
	for _, name := range useNames {
		columns = append(columns, factor(name, "", name, "cycles without descriptors over those with use "+name+" alone"))
	}
	columns = append(columns,
		factor("all", "", "all", "the same with all four uses"),
		factor("product", "pro-", "duct", "product of the gains of the four uses alone"),
		factor("together", "to-", "gether", "gain of all four over the product: more than 1 if the uses help each other"),
		factor("bdi", "", "BDI", "cycles without descriptors over those with BDI for all lines (caba=hw)"))
	return descriptorTable(Table{
		Name: "speed", Title: "speed-up by each use of inferred descriptors, and by all",
		Columns: columns, Interpretations: descriptorReadings,
	}, speedValues)
}

// speedValues sets the values of table "speed".
func speedValues(r *descriptorRun, v map[string]float64) {
	product := 1.0
	for i, name := range useNames {
		g := r.gain(1 << i)
		product *= g
		put(v, name, g)
	}
	put(v, "all", r.gain(allUses))
	put(v, "product", product)
	put(v, "together", over(r.gain(allUses), product))
	put(v, "bdi", r.gain(useBDI))
}

func descriptorWithout() *Table {
	var columns []Column
	for _, name := range useNames {
		columns = append(columns, factor(name, "without", name, "cycles with all uses but "+name+" over those with all four"))
	}
	for _, u := range usePairs() {
		columns = append(columns, factor(u.name("_"), strings.Split(u.name(" "), " ")[0]+"+", strings.Split(u.name(" "), " ")[1], "gain of uses "+u.name(" and ")+" over the product of their gains alone"))
	}
	return descriptorTable(Table{
		Name: "without", Title: "time without one use of four, and pairs of uses",
		Note:    "Interpretations channel and large L2 have no pairs.",
		Columns: columns, Interpretations: descriptorReadings,
	}, withoutValues)
}

// withoutValues sets the values of table "without".
func withoutValues(r *descriptorRun, v map[string]float64) {
	for i, name := range useNames {
		put(v, name, over(r.machines[allUses&^(1<<i)].cycles, r.machines[allUses].cycles))
	}
	for _, u := range usePairs() {
		if _, ok := r.machines[u]; !ok {
			continue
		}
		product := 1.0
		for i := range useNames {
			if u>>i&1 != 0 {
				product *= r.gain(1 << i)
			}
		}
		put(v, u.name("_"), over(r.gain(u), product))
	}
}

func descriptorCountTable() *Table {
	var columns []Column
	bursts := []useSet{useOrder, useZones, useCodec, allUses}
	sets := []struct {
		name, head string
		of         []useSet
		get        func(descriptorCounts) float64
		doc        string
	}{
		{"rows", "rows,", []useSet{0, useZones, useBanks, allUses}, func(c descriptorCounts) float64 { return c.rowHits }, "requests to memory that find their row open, of all, with "},
		{"remote", "remote,", []useSet{0, useOrder, useZones, useOrder | useZones, allUses}, func(c descriptorCounts) float64 { return c.remote }, "bytes of the network that pass between zones, of all, with "},
		{"l1", "L1 hits,", []useSet{0, useOrder, allUses}, func(c descriptorCounts) float64 { return c.l1 }, "loaded sectors that the L1 has, of all, with "},
	}
	short := func(u useSet) string {
		switch u {
		case 0:
			return "none"
		case allUses:
			return "all"
		}
		return u.name("+")
	}
	for _, u := range bursts {
		columns = append(columns, Column{Name: "bursts_" + strings.ReplaceAll(short(u), "+", "_"), Head: [2]string{"bursts,", short(u)}, Digits: 2, Neutral: 1, Doc: "bursts of memory without descriptors over those with " + short(u), NotRanked: true})
	}
	for _, s := range sets {
		for _, u := range s.of {
			columns = append(columns, percent(s.name+"_"+strings.ReplaceAll(short(u), "+", "_"), s.head, short(u), s.doc+short(u)))
		}
	}
	return descriptorTable(Table{
		Name: "counts", Title: "bursts of memory, row hits, bytes between zones and hits of the L1",
		Columns: columns, Interpretations: descriptorReadings[:1],
	}, func(r *descriptorRun, v map[string]float64) {
		for _, u := range bursts {
			put(v, "bursts_"+strings.ReplaceAll(short(u), "+", "_"), over(r.machines[0].bursts, r.machines[u].bursts))
		}
		for _, s := range sets {
			for _, u := range s.of {
				put(v, s.name+"_"+strings.ReplaceAll(short(u), "+", "_"), s.get(r.machines[u]))
			}
		}
	})
}

func descriptorBuffers() *Table {
	columns := []Column{
		percent("regular", "", "regular", "accesses to buffers all of whose descriptors are REGULAR, of all"),
		percent("shared", "inter", "thread", "accesses to buffers whose first descriptor is INTER_THREAD, of all"),
		percent("banks", "own", "banks", "accesses to buffers that have banks of their own, of all"),
		percent("bdi", "", "BDI", "accesses to buffers whose lines have forms of BDI, of all"),
		percent("fpc", "", "FPC", "the same with FPC"),
		percent("c_pack", "", "C-Pack", "the same with C-Pack"),
		percent("raw", "", "raw", "the same without forms"),
		percent("local", "", "local", "pairs of a CTA and a line that it accesses whose zones are the same, with uses order and zones, of all"),
	}
	return descriptorTable(Table{
		Name: "buffers", Title: "inferred descriptors of buffers, % of the accesses of the first launch of each buffer",
		Columns: columns, Interpretations: descriptorReadings[:1],
	}, func(r *descriptorRun, v map[string]float64) {
		all, sums := int64(0), map[string]int64{}
		for _, b := range r.report.Buffers {
			all += b.Accesses
			for name, is := range map[string]bool{
				"regular": b.Regular, "shared": b.Locality[0].Type == locality.InterThread, "banks": b.Banks > 0,
				"bdi": b.Codec == "bdi", "fpc": b.Codec == "fpc", "c_pack": b.Codec == "c-pack", "raw": b.Codec == "",
			} {
				if is {
					sums[name] += b.Accesses
				} else {
					sums[name] += 0
				}
			}
		}
		for name, n := range sums {
			v[name] = share(n, all)
		}
		v["local"] = share(r.report.Local, r.report.Lines)
	})
}

func descriptorFrames() *Table {
	return summarised(Table{
		Name: "frames", Title: "speed-up by frames in the order of the first accesses, without descriptors",
		Note:    "Uses zones and banks give frames in this order, too. Their gain by descriptors is their gain in table speed over this one.",
		Columns: []Column{factor("frames", "", "frames", "cycles without descriptors over those with frames of pages in the order of their first accesses")},
		Rows:    descriptorRows(), Interpretations: clockReadings[:clockEnds],
	}, func(m *Meter, row *Row, reading int) (map[string]float64, error) {
		r, err := descriptorMeasureSets(m, row, reading, "frames", []useSet{0, useFrames})
		if err != nil {
			return nil, err
		}
		v := map[string]float64{}
		put(v, "frames", r.gain(useFrames))
		return v, nil
	}, nil)
}
