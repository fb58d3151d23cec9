package papers

// This file has the speed-ups of the CABA paper. docs/caba.md defines the columns and interpretations.

import (
	"context"
	"slices"
	"strings"

	"gemu/interp"
	"gemu/machine"
	"gemu/machine/stream"
	"gemu/machine/systems"
)

// cabaDesigns are the designs of section 6 and their columns.
var cabaDesigns = []struct{ column, value, head, doc string }{
	{"hw_mem", "hw-mem", "HW-Mem", "forms of BDI in memory, and logic in its controllers (HW-BDI-Mem)"},
	{"hw", "hw", "HW", "forms of BDI in memory, the L2 and the network, and logic in multiprocessors (HW-BDI)"},
	{"bdi", "bdi", "BDI", "the same and assist warps (CABA-BDI)"},
	{"fpc", "fpc", "FPC", "assist warps for FPC (CABA-FPC)"},
	{"c_pack", "c-pack", "C-Pack", "assist warps for C-Pack (CABA-CPack)"},
	{"best", "best", "best", "assist warps for the best algorithm of each line (CABA-BestOfAll)"},
	{"ideal", "ideal", "ideal", "forms of BDI in no time (Ideal-BDI)"},
}

// Interpretations of table "speed".
const (
	cabaHalf   = "half bandwidth"
	cabaDouble = "double bandwidth"
)

// cabaSpeeds are the sizes of programs in table "speed", if they are not those of the other tables: a clock takes longer.
var cabaSpeeds = map[string]int{
	"BFS": 1 << 14, "CONS": 1 << 17, "JPEG": 512, "LPS": 64, "MUM": 1 << 14, "RAY": 256, "SLA": 1 << 18, "TRA": 512, "hs": 384, "nw": 256,
	"KM": 1 << 13, "MM": 192, "PVC": 1 << 14, "PVR": 1 << 14, "SS": 192, "bfs": 1 << 14, "bh": 1 << 10, "mst": 1 << 14, "sp": 1 << 12, "sssp": 1 << 14,
}

// cabaClockSpec returns the machine of the paper under an interpretation.
func cabaClockSpec(r *Interpretation) machine.Spec {
	s, _ := machine.Find("caba")
	s.L1Lines = true
	fast, slow := s.ClockEnds()
	switch r.Name {
	case clockReadings[clockFast].Name:
		return fast
	case clockReadings[clockSlow].Name:
		return slow
	case cabaHalf:
		s.Timing.BusBytes /= 2
	case cabaDouble:
		s.Timing.BusBytes *= 2
	case cabaCombined:
		s.CombineStores = true
	}
	return s
}

// cabaClock is a machine with a design, "" for none, after a program.
type cabaClock struct {
	cycles, bursts float64
	bus            float64 // share of the cycles in which the data buses of memory transfer, in percent
}

// cabaClocks runs a program on a machine with each of some designs. A value of a design ends in "+combine" if stores of parts of a line are combined
// (assist.partial=combine).
func cabaClocks(m *Meter, row *Row, spec machine.Spec, designs ...string) ([]cabaClock, error) {
	var clocks []*machine.Clock
	var consumers stream.Consumers
	for _, design := range designs {
		with := spec
		value, combine := strings.CutSuffix(design, "+combine")
		with.CombineStores = with.CombineStores || combine
		if value != "" {
			list, err := systems.Find("caba="+value, nil)
			if err != nil {
				return nil, err
			}
			with.Systems = list
			defer with.CloseSystems()
			defer context.AfterFunc(m.ctx, func() { with.CloseSystems() })()
		}
		c, err := machine.NewClock(with, 0)
		if err != nil {
			return nil, err
		}
		clocks, consumers = append(clocks, c), append(consumers, c)
	}
	recorder := stream.NewDataRecorder(consumers)
	recorder.RecordInstructions()
	if err := m.run(row.Workload, row.Size, func(*interp.Launch) {}, recorder); err != nil {
		return nil, err
	}
	var list []cabaClock
	for _, c := range clocks {
		if err := m.verify.clock(c); err != nil {
			return nil, err
		}
		sum := int64(0)
		for _, l := range c.Launches() {
			sum += l.Cycles
		}
		n := c.Memory().Total().Memory
		list = append(list, cabaClock{float64(sum), float64(n.ReadBursts + n.WriteBursts), 100 * c.Memory().BusShare(sum)})
	}
	return list, nil
}

// cabaSpeed runs a program on the machines of all designs, and returns the values of its row.
func cabaSpeed(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
	return measureOnce(m, "caba2016 speed "+row.Name+" "+r.Name, func() (map[string]float64, error) {
		designs := []string{""}
		for _, d := range cabaDesigns {
			designs = append(designs, d.value)
		}
		list, err := cabaClocks(m, row, cabaClockSpec(r), designs...)
		if err != nil {
			return nil, err
		}
		values := map[string]float64{"bus": list[0].bus}
		for i, c := range list[1:] {
			column := cabaDesigns[i].column
			switch column {
			case "bdi":
				values["bus_bdi"] = c.bus
				values["traffic"] = over(list[0].bursts, c.bursts)
			case "best":
				values["best_traffic"] = over(list[0].bursts, c.bursts)
			}
			put(values, column, over(list[0].cycles, c.cycles))
		}
		return values, nil
	})
}

// cabaVariants are the variants of CABA-BDI in sections 7.5 and 7.6, and their columns.
var cabaVariants = []struct {
	column, value string
	head          [2]string
	doc           string
}{
	{"l1x2", "bdi-l1x2", [2]string{"L1", "2x"}, "forms in the L1, with twice the tags"},
	{"l1x4", "bdi-l1x4", [2]string{"L1", "4x"}, "the same with four times the tags"},
	{"l2x2", "bdi-l2x2", [2]string{"L2", "2x"}, "an L2 of as many lines as fit in their forms, with twice the tags"},
	{"l2x4", "bdi-l2x4", [2]string{"L2", "4x"}, "the same with four times the tags"},
	{"uncompressed", "bdi-uncompressed", [2]string{"uncompr.", "L2"}, "an L2 that keeps lines uncompressed from their first reply on"},
	{"direct", "bdi-direct", [2]string{"direct", "load"}, "Direct-Load"},
}

// cabaDirections are the programs that the text of sections 7.5 and 7.6 names as faster or slower with a variant. The text does not say with how many tags: the
// largest of the columns counts.
var cabaDirections = []struct{ columns, faster, slower []string }{
	{[]string{"l1x2", "l1x4"}, []string{"bfs", "sssp"}, []string{"LPS"}},
	{[]string{"l2x2", "l2x4"}, []string{"TRA", "KM"}, nil},
	{[]string{"uncompressed"}, []string{"RAY"}, nil},
}

// countDirections returns the number of effects of a program that have the direction that the text names, by at least 1 %, and the number of effects that it names.
func countDirections(program string, values map[string]float64) (agree, named int) {
	for _, d := range cabaDirections {
		largest := 0.0
		for _, c := range d.columns {
			largest = max(largest, values[c])
		}
		faster, slower := slices.Contains(d.faster, program), slices.Contains(d.slower, program)
		if faster || slower {
			named++
		}
		if faster && largest >= 1.01 || slower && largest <= 0.99 {
			agree++
		}
	}
	return agree, named
}

// cabaCombined is the interpretation in which stores of parts of a line are combined.
const cabaCombined = "combined stores"

// cabaSized gives rows the sizes of table "speed".
func cabaSized(rows []Row) []Row {
	for i := range rows {
		if size, ok := cabaSpeeds[rows[i].Name]; ok {
			rows[i].Size = size
		}
	}
	return rows
}

func cabaLevels() *Table {
	readings := append(clockReadings[:clockEnds:clockEnds], Interpretation{cabaCombined, "as the headline; stores of parts of a line are combined in the buffer of stores"})
	var columns []Column
	for _, v := range cabaVariants {
		columns = append(columns, Column{Name: v.column, Head: v.head, Digits: 3, Neutral: 1, Doc: "cycles with CABA-BDI over those with " + v.doc})
	}
	columns = append(columns, Column{Name: "as_named", Head: [2]string{"as", "named"}, Doc: "effects of a compressed L1, a compressed L2 and an uncompressed L2 of at least 1 % that have the direction in the text of the paper, with the better number of tags; the paper's value is the number of effects that the text names", NotRanked: true})
	rows := cabaRows(func(p *cabaProgram) map[string]float64 {
		values := map[string]float64{}
		if _, named := countDirections(p.name, nil); named > 0 {
			values["as_named"] = float64(named)
		}
		if p.name == "MM" {
			values["direct"] = 1.046
		}
		return values
	}, Row{Name: cabaMean, Values: map[string]float64{"direct": 1.025}}, Row{Name: geometric, Summary: true})
	return summarised(Table{
		Name: "levels", Title: "CABA-BDI with compressed caches, an uncompressed L2, and Direct-Load (figures 15 and 16)",
		Note:    "The paper states values of Direct-Load only. For other columns the text names programs that are faster or slower.",
		Columns: columns, Rows: cabaSized(rows), OnlyIfNamed: true, Interpretations: readings,
	}, func(m *Meter, row *Row, reading int) (map[string]float64, error) {
		r := &readings[reading]
		return measureOnce(m, "caba2016 levels "+row.Name+" "+r.Name, func() (map[string]float64, error) {
			designs := []string{"bdi"}
			for _, v := range cabaVariants {
				designs = append(designs, v.value)
			}
			list, err := cabaClocks(m, row, cabaClockSpec(r), designs...)
			if err != nil {
				return nil, err
			}
			values := map[string]float64{}
			for i, v := range cabaVariants {
				put(values, v.column, over(list[0].cycles, list[1+i].cycles))
			}
			if agree, named := countDirections(row.Name, values); named > 0 {
				values["as_named"] = float64(agree)
			}
			return values, nil
		})
	}, nil)
}

// cabaLarge are the programs of table "large", with more than 4 MB of data: those whose data buses are in use for at least 10 % of the time in table
// "speed" without compression.
var cabaLarge = map[string]int{"CONS": 1 << 20, "JPEG": 1536, "LPS": 100, "SLA": 1 << 20, "TRA": 1024, "hs": 1024, "MM": 512}

func cabaLargeTable() *Table {
	designs := []struct{ column, value, head, doc string }{
		{"bdi", "bdi", "BDI", "CABA-BDI"},
		{"bdi_combine", "bdi+combine", "+combine", "CABA-BDI and combined stores of parts of a line"},
		{"best", "best+combine", "best", "CABA-BestOfAll and combined stores"},
		{"ideal", "ideal", "ideal", "Ideal-BDI"},
	}
	readings := clockReadings[:clockEnds]
	var columns []Column
	for _, d := range designs {
		columns = append(columns, Column{Name: d.column, Head: [2]string{"", d.head}, Digits: 3, Neutral: 1, Doc: "cycles without compression over those with " + d.doc, NotRanked: true})
	}
	columns = append(columns, percent("bus", "bus", "base", "cycles in which the data buses of memory transfer, without compression"), percent("bus_bdi", "bus", "+combine", "the same with CABA-BDI and combined stores"),
		Column{Name: "traffic", Head: [2]string{"traffic", "+combine"}, Digits: 2, Doc: "bursts of memory without compression over those with CABA-BDI and combined stores", NotRanked: true},
		Column{Name: "best_traffic", Head: [2]string{"traffic", "best"}, Digits: 2, Doc: "the same with CABA-BestOfAll", NotRanked: true})
	var rows []Row
	for _, row := range cabaRows(nil, Row{Name: cabaMean, Values: map[string]float64{}},
		Row{Name: cabaCompressible, Values: map[string]float64{"bdi": 1.417, "bdi_combine": 1.417, "ideal": 1.417 / 0.972, "bus": 53.6, "bus_bdi": 35.6, "traffic": 2.1}}) {
		size, ok := cabaLarge[row.Name]
		if row.Size = size; ok || row.Summary {
			rows = append(rows, row)
		}
	}
	return summarised(Table{
		Name: "large", Title: "speed-ups of compressed lines for more than 4 MB of data (figures 8 and 9)",
		Note:    "The paper's values are those of table speed: means of programs that compress by at least 10 %.",
		Columns: columns, Rows: rows, OnlyIfNamed: true, Interpretations: readings,
	}, func(m *Meter, row *Row, reading int) (map[string]float64, error) {
		r := &readings[reading]
		return measureOnce(m, "caba2016 large "+row.Name+" "+r.Name, func() (map[string]float64, error) {
			values := []string{""}
			for _, d := range designs {
				values = append(values, d.value)
			}
			list, err := cabaClocks(m, row, cabaClockSpec(r), values...)
			if err != nil {
				return nil, err
			}
			out := map[string]float64{"bus": list[0].bus, "bus_bdi": list[2].bus, "traffic": over(list[0].bursts, list[2].bursts), "best_traffic": over(list[0].bursts, list[3].bursts)}
			for i, d := range designs {
				put(out, d.column, over(list[0].cycles, list[1+i].cycles))
			}
			return out, nil
		})
	}, map[string]func(string, map[string]float64) bool{cabaCompressible: func(_ string, v map[string]float64) bool { return v["best_traffic"] >= 1.1 }})
}

func cabaSpeedTable() *Table {
	readings := append(clockReadings[:clockEnds:clockEnds], Interpretation{cabaHalf, "as the headline; the data buses of memory have half the width"}, Interpretation{cabaDouble, "as the headline; they have twice the width"})
	var columns []Column
	for _, d := range cabaDesigns {
		columns = append(columns, Column{Name: d.column, Head: [2]string{"", d.head}, Digits: 3, Neutral: 1, Doc: "cycles without compression over those with " + d.doc, NotRanked: true})
	}
	columns = append(columns,
		percent("bus", "bus", "base", "cycles in which the data buses of memory transfer, without compression"), percent("bus_bdi", "bus", "BDI", "the same with CABA-BDI"),
		Column{Name: "traffic", Head: [2]string{"traffic", "BDI"}, Digits: 2, Doc: "bursts of memory without compression over those with CABA-BDI", NotRanked: true},
		Column{Name: "best_traffic", Head: [2]string{"traffic", "best"}, Digits: 2, Doc: "the same with CABA-BestOfAll", NotRanked: true})
	rows := cabaRows(nil,
		Row{Name: cabaMean, Values: map[string]float64{}},
		Row{Name: cabaCompressible, Values: map[string]float64{"hw_mem": 1.417 / 1.099, "hw": 1.417 / 0.984, "bdi": 1.417, "fpc": 1.207, "c_pack": 1.352, "ideal": 1.417 / 0.972, "bus": 53.6, "bus_bdi": 35.6, "traffic": 2.1}},
		Row{Name: geometric, Summary: true})
	return summarised(Table{
		Name: "speed", Title: "speed-ups of compressed lines (figures 8, 9, 12 and 14)",
		Note:    "The paper states means only, over programs that compress by at least 10 %: CABA-BDI is 9.9 % faster than HW-BDI-Mem, 1.6 % slower than HW-BDI and 2.8 % slower than Ideal-BDI, from which the values of these designs follow.",
		Columns: columns, Rows: cabaSized(rows), OnlyIfNamed: true,
		Interpretations: readings,
	}, func(m *Meter, row *Row, reading int) (map[string]float64, error) {
		return cabaSpeed(m, row, &readings[reading])
	}, map[string]func(string, map[string]float64) bool{cabaCompressible: func(_ string, v map[string]float64) bool { return v["best_traffic"] >= 1.1 }})
}
