package papers

// This file has figure 11 of Liu et al., HPCA 2017: instructions per cycle, with the pipelines three cycles longer.
// docs/gscalar.md defines the machine and the interpretations.

import (
	"fmt"

	"gemu/affinetrack"
	"gemu/interp"
	"gemu/kernels"
	"gemu/models/kim"
	"gemu/probe"
	"gemu/ptx"
	"gemu/spill"
)

// gscalarLatency is the further latency of the compressed register file, in cycles.
const gscalarLatency = 3

// gscalarConfig is the machine of table 1 without compression.
func gscalarConfig() kim.GPConfig {
	c := kim.NewGPConfig(16, false)
	c.SMs, c.SpecialLanes, c.CTAs, c.Registers, c.Schedule = 15, 4, 8, 32768, kim.Greedy
	c.Memory, c.L2Banks, c.L2Bytes, c.Controllers, c.L2, c.DRAM, c.LineCycles = true, 12, 64<<10, 6, 120, 100, 6
	c.L1MSHRs, c.L2MSHRs = kim.MSHRs{Lines: 32, Requests: 8}, kim.MSHRs{Lines: 32, Requests: 4}
	return c
}

// gscalarTimes are the interpretations of figure 11: base changes both machines, longer the machine with compression.
var gscalarTimes = []struct {
	Interpretation
	base, longer func(c *kim.GPConfig)
}{
	{Interpretation{"headline", "results 3 cycles later; the machine of table 1 with the numbers of GPGPU-Sim's GTX 480"}, nil, nil},
	{Interpretation{"stages", "two cycles before the units, and results one cycle later"}, nil, func(c *kim.GPConfig) { c.ReadDelay, c.WriteDelay = 2, 1 }},
	{Interpretation{"turns", "warps issue in turn"}, func(c *kim.GPConfig) { c.Schedule = kim.InTurn }, nil},
	{Interpretation{"by number", "the warp with the lowest number issues first"}, func(c *kim.GPConfig) { c.Schedule = kim.ByNumber }, nil},
	{Interpretation{"lanes32", "units of 32 lanes, and of 8 for special functions"}, func(c *kim.GPConfig) { c.Lanes, c.SpecialLanes = 32, 8 }, nil},
	{Interpretation{"6 cycles", "results 6 cycles later: 3 cycles of half the frequency"}, nil, func(c *kim.GPConfig) { c.WriteDelay = 2 * gscalarLatency }},
	{Interpretation{"4 multiprocessors", "4 multiprocessors instead of 15"}, func(c *kim.GPConfig) { c.SMs = 4 }, nil},
	{Interpretation{"far data", "20 cycles to data in the L1 and in shared memory"}, func(c *kim.GPConfig) { c.Hit = 20 }, nil},
	{Interpretation{"near L2", "20 cycles to the L2, and 120 to memory"}, func(c *kim.GPConfig) { c.L2, c.DRAM = 20, 120 }, nil},
	{Interpretation{"division", "special functions and divisions take 145 cycles"}, func(c *kim.GPConfig) { c.Results[len(c.Results)-1] = 145 }, nil},
	{Interpretation{"same-banks", "register r of every warp in bank r modulo 16"}, func(c *kim.GPConfig) { c.SameBanks = true }, nil},
	{Interpretation{"no registers", "registers do not limit the CTAs"}, func(c *kim.GPConfig) { c.Registers = 0 }, nil},
	{Interpretation{"no mshrs", "any number of lines under way"}, func(c *kim.GPConfig) { c.L1MSHRs, c.L2MSHRs = kim.MSHRs{}, kim.MSHRs{} }, nil},
}

// gscalarTimeKey is a run of a benchmark on the machines.
type gscalarTimeKey struct{ workload string }

// gscalarTime runs a benchmark on the machines of the measured interpretations and returns the columns of figure 11 by
// interpretation.
func gscalarTime(m *Meter, row *Row) (map[string]map[string]float64, error) {
	return measureOnce(m, gscalarTimeKey{row.Workload}, func() (map[string]map[string]float64, error) {
		registers, err := baseRegisters(m, row.Workload)
		if err != nil {
			return nil, err
		}
		var names []string
		var machines []*kim.GPMachine
		for _, r := range gscalarTimes {
			if !m.hasReading("figure11", r.Name) {
				continue
			}
			base := gscalarConfig()
			if r.base != nil {
				r.base(&base)
			}
			longer := base
			longer.WriteDelay = gscalarLatency
			if r.longer != nil {
				r.longer(&longer)
			}
			names, machines = append(names, r.Name), append(machines, kim.NewGPMachine(base), kim.NewGPMachine(longer))
		}
		replay := kim.GPReplay(affinetrack.PolicyByName("kim"), machines...)
		replay.CountRegisters = func(l *probe.LaunchInfo) int { return registers[l.Kernel.Name] }
		if err := m.run(row.Workload, row.Size, func(l *interp.Launch) { l.Reconverge = interp.ReconvergerNamed("stack") }, replay); err != nil {
			return nil, err
		}
		columns := map[string]map[string]float64{}
		for i, name := range names {
			base, longer := machines[2*i].Time(), machines[2*i+1].Time()
			columns[name] = map[string]float64{"ipc": 100 * quotient(base.Cycles, longer.Cycles), "warps": quotient(base.WarpCycles, base.BusyCycles)}
		}
		return columns, nil
	})
}

// baseRegisters returns the registers of a thread of each kernel of a workload: r_base.
func baseRegisters(m *Meter, workload string) (map[string]int, error) {
	module, err := ptx.ParseString(workload+".ptx", kernels.Lookup(workload).PTX())
	if err != nil {
		return nil, err
	}
	registers := map[string]int{}
	for _, f := range module.Kernels() {
		r, err := spill.RangeOf(m.ctx, f)
		if err != nil {
			return nil, fmt.Errorf("@%s: %w", workload, err)
		}
		registers[f.Name] = r.Base
	}
	return registers, nil
}

// gscalarFigure11 returns figure 11, as far as it has no watts.
func gscalarFigure11() *Table {
	t := &Table{
		Name: "figure11", Title: "instructions per cycle with pipelines 3 cycles longer, % of those without",
		Columns: []Column{
			{Name: "ipc", Head: [2]string{"", "IPC"}, Digits: 1, Neutral: 100, Doc: "cycles of the machine over its cycles with the further latency"},
			{Name: "warps", Head: [2]string{"", "warps"}, Digits: 1, NotRanked: true, Doc: "warps on a multiprocessor that has any, on average, without the further latency"},
		},
		Rows: gscalarRows("figure11"),
		Note: "The paper has bars without numbers; 1.7 % is its mean, and LC its worst benchmark. Instructions per watt need a chip.",
	}
	for _, r := range gscalarTimes {
		t.Interpretations = append(t.Interpretations, r.Interpretation)
	}
	t.Measure = withMean(t.Rows, func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
		columns, err := gscalarTime(m, row)
		return columns[r.Name], err
	})
	return t
}
