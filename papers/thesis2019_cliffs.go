package papers

// This file has the performance cliffs of Zorua's programs (section 4.2.1 of Vijaykumar 2019). docs/zorua.md has the definitions.

import (
	"cmp"
	"fmt"
	"sync"

	"gemu/interp"
	"gemu/kernels"
	"gemu/machine"
	"gemu/machine/core"
	"gemu/machine/stream"
	"gemu/occupancy"
	"gemu/phases"
	"gemu/probe"
	"gemu/ptx"
)

// cliffRegisters is the number of registers of a thread at the upper end of the sweeps in figures 25 and 26.
const cliffRegisters = 48

// cliffCTAs is the number of CTAs of a launch that are measured, the first ones: places of the two multiprocessors of cliffMachine with two resident blocks,
// twice, and with one, four times.
const cliffCTAs = 8

// cliffPrograms are the programs that take any block size, with their sizes: powers of two for which each launch has at least cliffCTAs blocks of all sizes.
var cliffPrograms = []Row{
	{Name: "MST", Workload: "caba/mst", Size: 1 << 14, Values: map[string]float64{"base": 50}},
	{Name: "BH", Workload: "caba/bh", Size: 1 << 13},
	{Name: "SSSP", Workload: "caba/sssp", Size: 1 << 14},
	{Name: "SP", Workload: "caba/sp", Size: 1 << 13},
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

// firstCTAs is a recorder that records the first cliffCTAs CTAs of each launch, as if the grid had no others.
type firstCTAs struct{ *stream.Recorder }

// cut returns a launch with a one-dimensional grid without the CTAs that are not recorded.
func (firstCTAs) cut(l *probe.LaunchInfo) *probe.LaunchInfo {
	if l == nil {
		return nil
	}
	part := *l
	part.Grid.X = min(part.Grid.X, cliffCTAs)
	return &part
}

// OnEvent passes an event on.
func (f firstCTAs) OnEvent(e *probe.Event) {
	part := *e
	part.Launch = f.cut(e.Launch)
	f.Recorder.OnEvent(&part)
}

// CTA returns the sink of a CTA that is recorded.
func (f firstCTAs) CTA(l *probe.LaunchInfo, index int, id ptx.Dim3) probe.Sink {
	if index >= cliffCTAs {
		return nil
	}
	return f.Recorder.CTA(f.cut(l), index, id)
}

// cliffRun is the measurement of a program with a block size.
type cliffRun struct {
	time      [zoruaSystemCount][clockEnds]float64 // cycles by executed warp instructions
	bus, unit float64                              // columns, with allocation to blocks under the headline
}

// cliffMachine returns zoruaMachine with the limits of Maxwell, two multiprocessors, and half of its L2 and channels.
func cliffMachine(system, reading int) machine.Spec {
	s := zoruaMachine(zoruaMachines[2], system, reading, func(*ptx.Func) int { return cliffRegisters })
	s.SMs, s.L2.Bytes, s.DRAM.Channels = s.SMs/2, s.L2.Bytes/2, s.DRAM.Channels/2
	return s
}

// cliffNeeds reports whether the table has a value of a machine with the block size of an index of cliffBlocks.
func cliffNeeds(block, system, reading int) bool {
	return (system != zoruaNoSwap || reading == clockHeadline) && (block > 0 || system == zoruaStatic)
}

// measureCliff measures a program with the block size of an index of cliffBlocks.
func measureCliff(m *Meter, row *Row, block int) (*cliffRun, error) {
	return measureOnce(m, fmt.Sprint("thesis2019 cliffs ", row.Workload, block), func() (*cliffRun, error) {
		w := *kernels.Lookup(row.Workload)
		src, err := cliffModule(&w)
		if err != nil {
			return nil, err
		}
		w.Block = cliffBlocks(occupancy.LimitsOf(zoruaMachines[2]))[block]
		var consumers stream.Consumers
		var clocks [zoruaSystemCount][clockEnds]*machine.Clock
		for system := range zoruaSystemCount {
			for reading := range clockEnds {
				if !cliffNeeds(block, system, reading) {
					continue
				}
				c, err := machine.NewClock(cliffMachine(system, reading), 0)
				if err != nil {
					panic("BUG: " + err.Error())
				}
				clocks[system][reading], consumers = c, append(consumers, c)
			}
		}
		recorder := firstCTAs{stream.NewRecorder(consumers)}
		recorder.RecordInstructions()
		if err := m.runModule(&w, src, row.Size, func(*interp.Launch) {}, recorder); err != nil {
			return nil, err
		}
		out := &cliffRun{}
		for system := range clocks {
			for reading, c := range clocks[system] {
				if c == nil {
					continue
				}
				if err := m.verify.clock(c); err != nil {
					return nil, fmt.Errorf("%s with blocks of %d threads: %w", row.Workload, w.Block, err)
				}
				var cycles, instructions int64
				var stalls core.Stalls
				for _, l := range c.Launches() {
					if n := l.Grid.Count(); n != cliffCTAs {
						return nil, fmt.Errorf("%s with blocks of %d threads: a launch has %d blocks, want at least %d", row.Workload, w.Block, n, cliffCTAs)
					}
					cycles += l.Cycles
					instructions += l.Instructions
					stalls.Add(&l.Stalls)
				}
				out.time[system][reading] = float64(cycles) / float64(instructions)
				if system == zoruaStatic && reading == clockHeadline {
					out.bus, out.unit = 100*c.Memory().BusShare(cycles), 100*float64(stalls.Memory)/float64(stalls.Total())
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
		Note: "Time of a warp instruction in the first 8 blocks of each launch. The thesis has the value of MST only, for a step that its figure has at 640 threads; its time falls from 480 to 640.",
		Columns: []Column{
			{Name: "edge", Head: [2]string{"", "edge"}, Doc: "largest block size with two resident blocks, by a formula of the limits", NotRanked: true},
			percent("warps", "", "warps", "change of resident warps from the edge to the least block size of which the register file cannot hold two, with allocation to blocks"),
			percent("before", "time", "before", "change of time from the least block size with two resident blocks to the edge, with allocation to blocks"),
			percent("base", "time,", "base", "change of time from the edge to that block size, with allocation to blocks"),
			percent("wlm", "time,", "WLM", "the same with registers by warp"),
			percent("zorua", "time,", "Zorua", "the same with Zorua"),
			percent("bus", "edge,", "bus", "cycles in which the data buses of memory transfer at the edge, with allocation to blocks"),
			percent("unit", "edge,", "unit", "cycles of schedulers at the edge in which a warp could issue but for the full memory unit, with allocation to blocks"),
		},
		Rows: cliffPrograms, Interpretations: zoruaReadings[:zoruaShare], OnlyIfNamed: true,
		Measure: func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
			var run [3]*cliffRun
			var errs [3]error
			var wait sync.WaitGroup
			for i := range run {
				wait.Go(func() { run[i], errs[i] = measureCliff(m, row, i) })
			}
			wait.Wait()
			if err := cmp.Or(errs[:]...); err != nil {
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
				if run[from].time[system][clock] == 0 || run[to].time[system][clock] == 0 {
					panic("BUG: cliffNeeds leaves out a machine whose time the table has")
				}
				return 100 * (run[to].time[system][clock]/run[from].time[system][clock] - 1)
			}
			return map[string]float64{
				"edge": float64(blocks[1]), "warps": 100 * (point(2)/point(1) - 1),
				"before": change(0, 1, zoruaStatic), "base": change(1, 2, zoruaStatic), "wlm": change(1, 2, zoruaWarps), "zorua": change(1, 2, system),
				"bus": run[1].bus, "unit": run[1].unit,
			}, nil
		},
	}
}
