package papers

// This file has Zorua (chapter 4 of Vijaykumar 2019). docs/zorua.md defines the columns and interpretations.

import (
	"fmt"
	"math"
	"strings"

	"gemu/interp"
	"gemu/kernels"
	"gemu/machine"
	"gemu/machine/core"
	"gemu/machine/stream"
	"gemu/machine/systems"
	"gemu/machine/zorua"
	"gemu/phases"
	"gemu/ptx"
)

// Programs of the tables. zorua-warps has all, and zorua-range those with several block sizes.
var (
	zoruaSingle = []thesisProgram{{"NQU", "nqueens"}, {"DCT", "gv100/dct8x8"}, {"SLA", "caba/sla"}} // programs of the thesis with one block size here
	zoruaBlocks = []thesisProgram{
		{"MST", "caba/mst"}, {"BH", "caba/bh"}, {"SSSP", "caba/sssp"}, {"SP", "caba/sp"}, // of the thesis
		{"C2D", "thesis/conv2d"}, {"HS", "thesis/histo"}, {"D2D", "thesis/dwt2d"}, {"MVT", "thesis/mvt"}, {"PF", "thesis/particlefilter"}, {"H3D", "thesis/hotspot3d"}, {"SRAD", "thesis/srad1"}, {"SC", "thesis/streamcluster"},
	}
)

// zoruaSizes are sizes with which a table takes minutes.
var zoruaSizes = map[string]int{
	"nqueens": 10, "gv100/dct8x8": 256, "caba/sla": 1 << 17, "caba/mst": 1 << 13, "caba/bh": 1 << 10, "caba/sssp": 1 << 13, "caba/sp": 1 << 11, "thesis/conv2d": 256, "thesis/histo": 1 << 14, "thesis/dwt2d": 256, "thesis/mvt": 256, "thesis/particlefilter": 1 << 11, "thesis/hotspot3d": 96, "thesis/srad1": 128, "thesis/streamcluster": 1 << 12,
}

// zoruaRows returns the rows of programs.
func zoruaRows(programs []thesisProgram, more ...Row) (rows []Row) {
	for _, p := range programs {
		rows = append(rows, Row{Name: p.name, Workload: p.workload, Size: zoruaSizes[p.workload]})
	}
	return append(rows, more...)
}

// zoruaSystems are the systems of zoruaRun.
var zoruaSystems = []struct {
	name string
	mode zorua.Mode
}{{"static", zorua.Blocks}, {"wlm", zorua.Registers}, {"zorua", zorua.Phases}, {"zorua=noswap", zorua.Resident}}

// Indices in zoruaSystems.
const (
	zoruaStatic = iota
	zoruaWarps
	zoruaFull
	zoruaNoSwap
	zoruaSystemCount
)

// zoruaMachines are the compute capabilities of the three machines: Fermi, Kepler, Maxwell.
var zoruaMachines = [...]int{20, 30, 50}

// zoruaReadings are the interpretations, in the order of the constants of clockReadings, and further ones.
var zoruaReadings = append(clockReadings[:clockEnds:clockEnds], Interpretation{"noswap", "as the headline; a part of the resources is in memory for the least parallelism only"}, Interpretation{"share", "as the headline; a loss is a share of the time on the second machine"})

// Indices in zoruaReadings after clockEnds.
const (
	zoruaResident = clockEnds + iota
	zoruaShare
)

// zoruaRun is a specification of a program: a block size.
type zoruaRun struct {
	cycles [len(zoruaMachines)][zoruaSystemCount][clockEnds]float64 // noswap, Kepler and Maxwell have the headline only
	counts [zoruaSystemCount][clockEnds]core.ResourceCounts         // on Fermi
}

// zoruaMachine returns a machine: a third of gtx480 with the limits of a compute capability, and a system.
func zoruaMachine(sm, system, reading int, registers func(*ptx.Func) int) machine.Spec {
	s, ok := machine.Find("gtx480")
	if !ok {
		panic("BUG: no gtx480")
	}
	s.SMs, s.L2.Bytes, s.DRAM.Channels = s.SMs/3, s.L2.Bytes/3, s.DRAM.Channels/3
	s.SM, s.Registers = sm, registers
	s.Systems = []*machine.System{systems.WarpResources(zoruaSystems[system].name, zoruaSystems[system].mode)}
	fast, slow := s.ClockEnds()
	return [clockEnds]machine.Spec{s, fast, slow}[reading]
}

// measureZorua measures the specifications of a program: its versions with other block sizes, and itself.
func measureZorua(m *Meter, row *Row) ([]*zoruaRun, error) {
	return measureOnce(m, "thesis2019 zorua "+row.Workload, func() (list []*zoruaRun, err error) {
		w := kernels.Lookup(row.Workload)
		names := []string{w.Name}
		for _, v := range w.Versions() {
			if v.Block != w.Block && strings.TrimLeft(strings.TrimPrefix(v.Name, w.Name), "0123456789") == "" {
				names = append(names, v.Name)
			}
		}
		for _, name := range names {
			run, err := zoruaSpecification(m, name, row.Size)
			if err != nil {
				return nil, err
			}
			list = append(list, run)
		}
		return list, nil
	})
}

// zoruaSpecification measures a workload on all machines.
func zoruaSpecification(m *Meter, workload string, size int) (*zoruaRun, error) {
	type key struct{ machine, system, reading int }
	clocks := map[key]*machine.Clock{}
	var consumers stream.Consumers
	registers := machine.EstimateRegisters()
	for i, sm := range zoruaMachines {
		for system := range zoruaSystemCount {
			for reading := range clockEnds {
				if (system == zoruaNoSwap || i > 0) && reading != clockHeadline {
					continue
				}
				c, err := machine.NewClock(zoruaMachine(sm, system, reading, registers), 0)
				if err != nil {
					panic("BUG: " + err.Error())
				}
				clocks[key{i, system, reading}] = c
				consumers = append(consumers, c)
			}
		}
	}
	recorder := stream.NewRecorder(consumers)
	recorder.RecordInstructions()
	if err := m.run(workload, size, func(*interp.Launch) {}, recorder); err != nil {
		return nil, err
	}
	out := &zoruaRun{}
	for k, c := range clocks {
		if err := m.verify.clock(c); err != nil {
			return nil, fmt.Errorf("%s: %w", workload, err)
		}
		for _, l := range c.Launches() {
			out.cycles[k.machine][k.system][k.reading] += float64(l.Cycles)
			if k.machine == 0 {
				out.counts[k.system][k.reading].Add(l.Resources)
			}
		}
	}
	return out, nil
}

// zoruaReading returns the system in the place of Zorua, and the reading of clocks, of an interpretation.
func zoruaReading(reading int) (system, clock int) {
	switch reading {
	case zoruaResident:
		return zoruaNoSwap, clockHeadline
	case zoruaShare:
		return zoruaFull, clockHeadline
	}
	return zoruaFull, reading
}

// spread returns the time of the worst specification over that of the best, minus 1, in percent.
func spread(times []float64) float64 {
	best, worst := math.Inf(1), 0.0
	for _, t := range times {
		best, worst = min(best, t), max(worst, t)
	}
	return 100 * (worst/best - 1)
}

// portingLoss returns the largest loss in percent: over all pairs of machines, and all specifications within 5 % of the best on the first, the time on the
// second over the best there, minus 1; or, as a share, 1 minus its inverse. times has the times of the specifications by machine.
func portingLoss(times [][]float64, isShare bool) float64 {
	best := make([]float64, len(times))
	for i, list := range times {
		best[i] = math.Inf(1)
		for _, t := range list {
			best[i] = min(best[i], t)
		}
	}
	loss := 0.0
	for from := range times {
		for to := range times {
			for i, t := range times[from] {
				if t <= 1.05*best[from] {
					loss = max(loss, times[to][i]/best[to]-1)
				}
			}
		}
	}
	if isShare {
		loss = 1 - 1/(1+loss)
	}
	return 100 * loss
}

// zoruaTables returns the tables of Zorua.
func zoruaTables() []*Table {
	const missing = "The thesis does not name its eighth program, which is missing. NQU, DCT and SLA have one block size here."
	return []*Table{
		zoruaPhases(),
		zoruaCliffs(),
		zoruaUse(),
		summarised(Table{
			Name: "zorua-range", Title: "Zorua: range of performance over block sizes, and loss when a program is ported", Note: missing,
			Columns: []Column{
				percent("range_base", "range,", "base", "time of the worst block size over that of the best on Fermi, minus 1, with allocation to blocks"),
				percent("range_wlm", "range,", "WLM", "the same with registers by warp"),
				percent("range_zorua", "range,", "Zorua", "the same with Zorua"),
				percent("loss_base", "loss,", "base", "largest loss of block sizes within 5 % of the best of one machine on another, with allocation to blocks"),
				percent("loss_wlm", "loss,", "WLM", "the same with registers by warp"),
				percent("loss_zorua", "loss,", "Zorua", "the same with Zorua"),
				factor("best", "speed,", "best", "time of the best block size with allocation to blocks over that of the best with Zorua, on Fermi"),
				factor("all", "speed,", "all", "time with allocation to blocks over that with Zorua on Fermi, mean over block sizes"),
			},
			Rows:            zoruaRows(zoruaBlocks, Row{Name: "mean", Summary: true, Values: map[string]float64{"range_base": 96.6, "range_wlm": 88.3, "range_zorua": 48.2, "loss_base": 52.7, "loss_wlm": 51, "loss_zorua": 23.9, "best": 1.128, "all": 1.252}}),
			Interpretations: zoruaReadings, OnlyIfNamed: true,
		}, func(m *Meter, row *Row, reading int) (map[string]float64, error) {
			runs, err := measureZorua(m, row)
			if err != nil {
				return nil, err
			}
			system, clock := zoruaReading(reading)
			v := map[string]float64{}
			for name, system := range map[string]int{"base": zoruaStatic, "wlm": zoruaWarps, "zorua": system} {
				times := make([][]float64, len(zoruaMachines))
				for i := range times {
					for _, r := range runs {
						times[i] = append(times[i], r.cycles[i][system][clock])
					}
				}
				v["range_"+name] = spread(times[0])
				if clock == clockHeadline {
					v["loss_"+name] = portingLoss(times, reading == zoruaShare)
				}
			}
			best := [2]float64{math.Inf(1), math.Inf(1)}
			for _, r := range runs {
				base, with := r.cycles[0][zoruaStatic][clock], r.cycles[0][system][clock]
				best = [2]float64{min(best[0], base), min(best[1], with)}
				v["all"] += over(base, with) / float64(len(runs))
			}
			v["best"] = over(best[0], best[1])
			return v, nil
		}, nil),
		summarised(Table{
			Name: "zorua-warps", Title: "Zorua: schedulable warps on Fermi, and accesses to resources that are not in memory", Note: missing,
			Columns: []Column{
				percent("warps_wlm", "warps,", "WLM", "schedulable warps with registers by warp against allocation to blocks, mean over block sizes"),
				percent("warps_zorua", "warps,", "Zorua", "the same with Zorua"),
				percent("registers", "hits,", "registers", "accesses to sets of registers that are not in memory, of all"),
				percent("shared", "hits,", "shared", "the same for sets of shared memory; missing without accesses"),
			},
			Rows:            zoruaRows(append(zoruaSingle[:len(zoruaSingle):len(zoruaSingle)], zoruaBlocks...), Row{Name: "mean", Summary: true, Values: map[string]float64{"warps_wlm": 8.1, "warps_zorua": 32.8, "registers": 98.9, "shared": 99.6}}),
			Interpretations: zoruaReadings[:zoruaShare], OnlyIfNamed: true,
		}, func(m *Meter, row *Row, reading int) (map[string]float64, error) {
			runs, err := measureZorua(m, row)
			if err != nil {
				return nil, err
			}
			system, clock := zoruaReading(reading)
			v := map[string]float64{}
			var all core.ResourceCounts
			for _, r := range runs {
				base := r.counts[zoruaStatic][clock].Warps()
				v["warps_wlm"] += 100 * (r.counts[zoruaWarps][clock].Warps()/base - 1) / float64(len(runs))
				v["warps_zorua"] += 100 * (r.counts[system][clock].Warps()/base - 1) / float64(len(runs))
				all.Add(&r.counts[system][clock])
			}
			v["registers"] = 100 * all.Registers.Rate()
			if all.Shared.Accesses > 0 {
				v["shared"] = 100 * all.Shared.Rate()
			}
			return v, nil
		}, nil),
	}
}

// zoruaPhases returns the table of phases: of NQU those of gemu; of DCT the parts between its barriers, at which the thesis has its phases.
func zoruaPhases() *Table {
	t := &Table{
		Name: "zorua-phases", Title: "Zorua: resources of the phases of NQU and DCT (figures 30 and 31)",
		Note: "Registers are live ones of PTX; the thesis has those of a compiler. The programs of the thesis have blocks of 96 threads with 4224 bytes (NQU), and 1152 bytes (DCT).",
		Columns: []Column{
			{Name: "registers", Head: [2]string{"", "registers"}, Doc: "registers of a thread"},
			{Name: "shared", Head: [2]string{"", "shared"}, Doc: "bytes of shared memory of a block", NotRanked: true},
		},
		Interpretations: []Interpretation{{"headline", "live registers, and variables of shared memory that are live"}},
	}
	add := func(name, workload string, values ...[2]float64) {
		for i, v := range values {
			t.Rows = append(t.Rows, Row{Name: fmt.Sprintf("%s %d", name, i+1), Workload: workload, Values: map[string]float64{"registers": v[0], "shared": v[1]}})
		}
	}
	add("NQU", "nqueens", [2]float64{16, 0}, [2]float64{24, 4224}, [2]float64{12, 384})
	add("DCT", "gv100/dct8x8", [2]float64{16, 1152}, [2]float64{32, 1152}, [2]float64{32, 1152}, [2]float64{16, 1152})
	t.Measure = func(_ *Meter, row *Row, _ *Interpretation) (map[string]float64, error) {
		w := kernels.Lookup(row.Workload)
		module, err := ptx.ParseString(w.Name, w.PTX())
		if err != nil {
			return nil, err
		}
		number := int(row.Name[len(row.Name)-1] - '1')
		for _, f := range module.Kernels() {
			if f.Name != w.Name[strings.LastIndex(w.Name, "/")+1:] {
				continue
			}
			k, err := phases.Divide(f, 0)
			if err != nil {
				return nil, err
			}
			r := phases.Resources{}
			if strings.HasPrefix(row.Name, "NQU") {
				r = k.Phases[number].Resources
			} else {
				part := 0
				for i := range k.Instrs {
					if o := &k.Instrs[i]; part == number {
						r = phases.Resources{Registers: max(r.Registers, o.Live.Registers), Shared: max(r.Shared, o.Live.Shared)}
					}
					if k.Instrs[i].Waits {
						part++
					}
				}
			}
			return map[string]float64{"registers": float64(r.Registers), "shared": float64(r.Shared)}, nil
		}
		panic("BUG: no kernel of " + w.Name)
	}
	return t
}
