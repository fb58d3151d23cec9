package papers

// This file has the performance cliffs of Zorua's programs (section 4.2.1 of Vijaykumar 2019). docs/zorua.md has the definitions.

import (
	"fmt"

	"gemu/interp"
	"gemu/kernels"
	"gemu/machine"
	"gemu/machine/stream"
	"gemu/occupancy"
	"gemu/phases"
	"gemu/ptx"
)

// cliffRegisters is the number of registers of a thread at the upper end of the sweeps in figures 25 and 26.
const cliffRegisters = 48

// cliffPrograms are the programs that take any block size, with their sizes.
var cliffPrograms = []Row{
	{Name: "MST", Workload: "caba/mst", Size: 1 << 14, Values: map[string]float64{"base": 50}},
	{Name: "BH", Workload: "caba/bh", Size: 1 << 12},
	{Name: "SSSP", Workload: "caba/sssp", Size: 1 << 14},
	{Name: "SP", Workload: "caba/sp", Size: 1 << 12},
}

// cliffBlocks returns block sizes on a machine without shared memory, in steps of a warp: the least and the largest with two resident blocks, and
// the least of which the register file as a whole cannot hold two.
func cliffBlocks(limits *occupancy.Limits) (list [3]int) {
	for threads := limits.WarpSize; threads <= occupancy.MaxThreads; threads += limits.WarpSize {
		n, _ := limits.Resident(occupancy.Block{Threads: threads, Registers: cliffRegisters})
		if n == 2 && list[0] == 0 {
			list[0] = threads
		}
		if n == 2 {
			list[1] = threads
		}
		if 2*threads*cliffRegisters > limits.FileSize && list[2] == 0 {
			list[2] = threads
		}
	}
	return list
}

// cliffModule returns the PTX of a workload with directives of its phases. Their registers are scaled so that the largest phase of each kernel has
// cliffRegisters, as a thread has with the other systems. The program does not access the additional ones.
func cliffModule(w *kernels.Workload) (string, error) {
	module, err := ptx.ParseString(w.Name, w.PTX())
	if err != nil {
		return "", err
	}
	var list []*phases.Kernel
	for _, f := range module.Kernels() {
		k, err := phases.Divide(f, 0)
		if err != nil {
			return "", err
		}
		for i := range k.Phases {
			n := &k.Phases[i].Registers
			*n = (*n*cliffRegisters + k.Most.Registers - 1) / k.Most.Registers
		}
		list = append(list, k)
	}
	return phases.Annotate(w.Name, w.PTX(), list)
}

// cliffRun is the cycles of a program, by block size of cliffBlocks.
type cliffRun [3][zoruaSystemCount][clockEnds]float64

// cliffMachine returns zoruaMachine with the limits of Maxwell, two multiprocessors, and half of its L2 and channels.
func cliffMachine(system, reading int) machine.Spec {
	s := zoruaMachine(zoruaMachines[2], system, reading, func(*ptx.Func) int { return cliffRegisters })
	s.SMs, s.L2.Bytes, s.DRAM.Channels = s.SMs/2, s.L2.Bytes/2, s.DRAM.Channels/2
	return s
}

// measureCliff measures a program at the block sizes of its cliff.
func measureCliff(m *Meter, row *Row) (*cliffRun, error) {
	return measureOnce(m, "thesis2019 cliffs "+row.Workload, func() (*cliffRun, error) {
		out := &cliffRun{}
		src, err := cliffModule(kernels.Lookup(row.Workload))
		if err != nil {
			return nil, err
		}
		for i, threads := range cliffBlocks(occupancy.LimitsOf(zoruaMachines[2])) {
			w := *kernels.Lookup(row.Workload)
			w.Block = threads
			var consumers stream.Consumers
			var clocks [zoruaSystemCount][clockEnds]*machine.Clock
			for system := range zoruaSystemCount {
				for reading := range clockEnds {
					if system == zoruaNoSwap && reading != clockHeadline {
						continue
					}
					c, err := machine.NewClock(cliffMachine(system, reading), 0)
					if err != nil {
						panic("BUG: " + err.Error())
					}
					clocks[system][reading], consumers = c, append(consumers, c)
				}
			}
			recorder := stream.NewRecorder(consumers)
			recorder.RecordInstructions()
			if err := m.runModule(&w, src, row.Size, func(*interp.Launch) {}, recorder); err != nil {
				return nil, err
			}
			for system := range clocks {
				for reading, c := range clocks[system] {
					if c == nil {
						continue
					}
					if err := m.verify.clock(c); err != nil {
						return nil, fmt.Errorf("%s with blocks of %d threads: %w", row.Workload, threads, err)
					}
					for _, l := range c.Launches() {
						out[i][system][reading] += float64(l.Cycles)
					}
				}
			}
		}
		return out, nil
	})
}

// zoruaCliffs returns the table of cliffs.
func zoruaCliffs() *Table {
	return &Table{
		Name: "zorua-cliffs", Title: "Zorua: time from two resident blocks to one on Maxwell, with 48 registers of a thread (figure 25)",
		Note: "The thesis has the value of MST only, for a step that its figure has at 640 threads; its time falls from 480 to 640.",
		Columns: []Column{
			{Name: "edge", Head: [2]string{"", "edge"}, Doc: "largest block size with two resident blocks, by a formula of the limits", NotRanked: true},
			percent("warps", "", "warps", "change of resident warps from the edge to the least block size of which the register file cannot hold two, with allocation to blocks"),
			percent("before", "time", "before", "change of time from the least block size with two resident blocks to the edge, with allocation to blocks"),
			percent("base", "time,", "base", "change of time from the edge to that block size, with allocation to blocks"),
			percent("wlm", "time,", "WLM", "the same with registers by warp"),
			percent("zorua", "time,", "Zorua", "the same with Zorua"),
		},
		Rows: cliffPrograms, Interpretations: zoruaReadings[:zoruaShare], OnlyIfNamed: true,
		Measure: func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
			run, err := measureCliff(m, row)
			if err != nil {
				return nil, err
			}
			reading := 0
			for zoruaReadings[reading].Name != r.Name {
				reading++
			}
			limits := occupancy.LimitsOf(zoruaMachines[2])
			blocks := cliffBlocks(limits)
			point := func(i int) float64 {
				return float64(limits.Point(occupancy.Block{Threads: blocks[i], Registers: cliffRegisters}).Warps)
			}
			system, clock := zoruaReading(reading)
			change := func(from, to, system int) float64 {
				return 100 * (run[to][system][clock]/run[from][system][clock] - 1)
			}
			return map[string]float64{
				"edge": float64(blocks[1]), "warps": 100 * (point(2)/point(1) - 1),
				"before": change(0, 1, zoruaStatic), "base": change(1, 2, zoruaStatic), "wlm": change(1, 2, zoruaWarps), "zorua": change(1, 2, system),
			}, nil
		},
	}
}
