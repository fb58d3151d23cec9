package papers

// This file has the speed-ups of the CABA paper. docs/caba.md defines the columns and interpretations.

import (
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
	}
	return s
}

// cabaSpeed runs a program on the machines of all designs, and returns the values of its row.
func cabaSpeed(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
	return measureOnce(m, "caba2016 speed "+row.Name+" "+r.Name, func() (map[string]float64, error) {
		spec := cabaClockSpec(r)
		var clocks []*machine.Clock
		var consumers stream.Consumers
		add := func(s machine.Spec) error {
			c, err := machine.NewClock(s, 0)
			clocks, consumers = append(clocks, c), append(consumers, c)
			return err
		}
		if err := add(spec); err != nil {
			return nil, err
		}
		for _, d := range cabaDesigns {
			list, err := systems.Find("caba="+d.value, nil)
			if err != nil {
				return nil, err
			}
			with := spec
			with.Systems = list
			if err := add(with); err != nil {
				return nil, err
			}
		}
		recorder := stream.NewDataRecorder(consumers)
		recorder.RecordInstructions()
		if err := m.run(row.Workload, row.Size, func(*interp.Launch) {}, recorder); err != nil {
			return nil, err
		}
		values := map[string]float64{}
		var cycles, bursts []float64
		for i, c := range clocks {
			if err := m.verify.clock(c); err != nil {
				return nil, err
			}
			sum := int64(0)
			for _, l := range c.Launches() {
				sum += l.Cycles
			}
			n := c.Memory().Total().Memory
			cycles, bursts = append(cycles, float64(sum)), append(bursts, float64(n.ReadBursts+n.WriteBursts))
			share := 100 * c.Memory().BusShare(sum)
			switch {
			case i == 0:
				values["bus"] = share
				continue
			case cabaDesigns[i-1].column == "bdi":
				values["bus_bdi"] = share
				values["traffic"] = over(bursts[0], bursts[i])
			case cabaDesigns[i-1].column == "best":
				values["best_traffic"] = over(bursts[0], bursts[i])
			}
			put(values, cabaDesigns[i-1].column, over(cycles[0], cycles[i]))
		}
		return values, nil
	})
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
	for i := range rows {
		if size, ok := cabaSpeeds[rows[i].Name]; ok {
			rows[i].Size = size
		}
	}
	return summarised(Table{
		Name: "speed", Title: "speed-ups of compressed lines (figures 8, 9, 12 and 14)",
		Note:    "The paper states means only, over programs that compress by at least 10 %: CABA-BDI is 9.9 % faster than HW-BDI-Mem, 1.6 % slower than HW-BDI and 2.8 % slower than Ideal-BDI, from which the values of these designs follow.",
		Columns: columns, Rows: rows, OnlyIfNamed: true,
		Interpretations: readings,
	}, func(m *Meter, row *Row, reading int) (map[string]float64, error) {
		return cabaSpeed(m, row, &readings[reading])
	}, map[string]func(string, map[string]float64) bool{cabaCompressible: func(_ string, v map[string]float64) bool { return v["best_traffic"] >= 1.1 }})
}
