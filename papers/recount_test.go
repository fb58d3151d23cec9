package papers

// This file recounts, with package recount, the values in the tables of papers.

import (
	"maps"
	"math"
	"slices"
	"testing"

	"gemu/internal/part"
	"gemu/internal/recount"
	"gemu/interp"
	"gemu/kernels"
	"gemu/probe"
	"gemu/ptx"
	"gemu/spill"
)

// tableOf returns a table of a paper.
func tableOf(t *testing.T, paper, name string) *Table {
	t.Helper()
	table := Named(paper).Table(name)
	if table == nil {
		t.Fatalf("%s has no %s", paper, name)
	}
	return table
}

// sameValues compares the values of a row with recounted values.
func sameValues(t *testing.T, noun string, got, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		if g, ok := got[name]; !ok || math.Abs(g-v) > 1e-9*(1+math.Abs(v)) {
			t.Errorf("%s: %s is %v, again %v", noun, name, g, v)
		}
	}
	for name, v := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s is %v, which is not counted again", noun, name, v)
		}
	}
}

// TestRecountOfAVCTables recounts figures 1, 2 and 6 and table 4 for a single workload: for each number of registers
// from r_base down, the spilled module is run and its warps are replayed through the caches of package recount.
func TestRecountOfAVCTables(t *testing.T) {
	part.SkipShort(t)
	const name, size = "srad", 48
	defer func(n int) { avcSizes[name] = n }(avcSizes[name])
	avcSizes[name] = size

	w := kernels.Lookup(name)
	module, err := ptx.ParseString(name+".ptx", w.PTX())
	if err != nil {
		t.Fatal(err)
	}
	spilled := map[int]map[string]*recount.PrivateKernel{} // by registers
	at := func(regs int) map[string]*recount.PrivateKernel {
		if spilled[regs] != nil {
			return spilled[regs]
		}
		src, _, err := spill.Module(t.Context(), module, regs)
		if err != nil {
			t.Fatal(err)
		}
		observer := &recount.Private{}
		dev := interp.NewDevice(interp.Config{Workers: 1, Probes: []probe.Probe{observer}})
		s, err := kernels.Start(t.Context(), w, dev, size)
		if err != nil {
			t.Fatal(err)
		}
		if s.Module, err = dev.Load(name+".ptx", []byte(src)); err != nil {
			t.Fatal(err)
		}
		s.Prepare = func(l *interp.Launch) { l.Reconverge = interp.ReconvergerNamed("stack") }
		if err := w.Run(s); err != nil {
			t.Fatal(err)
		}
		spilled[regs] = observer.Kernels
		return observer.Kernels
	}
	m := NewMeter(t.Context(), 1, 0, nil)
	defer m.Close()
	measured := func(table string, row, reading int) map[string]float64 {
		of := tableOf(t, "avc2011", table)
		v, err := of.Measure(m, &of.Rows[row], &of.Interpretations[reading])
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	// Rows of table 3 on the page.
	configs := []struct {
		name    string
		l1, avc int
	}{{"B", 6, 0}, {"c1", 5, 1}, {"c2", 4, 2}, {"c3", 3, 3}}
	rows := []recount.CacheSetup{{}, {LRU: true}, {WarpByWarp: true}, {Greedy: true}, {WholeCTAs: true}}

	for i, row := range tableOf(t, "avc2011", "table4").Rows {
		if row.Workload != name {
			continue
		}
		kernel := map[string]string{"srad1": "srad_coefficient", "srad2": "srad_diffuse"}[row.Name]
		again := func(regs int) *recount.PrivateKernel { return at(regs)[kernel] }
		base, minimum := 0, 0
		for _, f := range module.Kernels() {
			r, err := spill.RangeOf(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			if f.Name == kernel {
				base = r.Base
			}
			minimum = max(minimum, r.Min)
		}
		if n := len(again(base).Loads) + len(again(base).Stores); n > 0 {
			t.Errorf("%s: spills with r_base, %d registers", kernel, base)
		}
		if n := len(again(base - 1).Loads); n == 0 {
			t.Errorf("%s: spills nothing with less than r_base, %d registers", kernel, base)
		}
		share := func(of float64) int { return max(minimum, int(math.Floor(of*float64(base)+0.5))) }
		sum := func(lists ...map[string]int) (n float64) {
			for _, list := range lists {
				for _, k := range list {
					n += float64(k)
				}
			}
			return n
		}
		of := func(k *recount.PrivateKernel, class string) float64 { return float64(k.Loads[class] + k.Stores[class]) }
		half, most := again(share(0.5)), again(share(0.75))
		all := sum(half.Loads, half.Stores)
		sameValues(t, "figure 1, "+row.Name, measured("figure1", i, 0), map[string]float64{
			"r_base": float64(base), "zero": 100 * of(half, "zero") / all, "uniform": 100 * of(half, "uniform") / all, "affine": 100 * of(half, "affine") / all,
			"ratio":      100 - 100*of(half, "generic")/all,
			"ratio75":    100 - 100*of(most, "generic")/sum(most.Loads, most.Stores),
			"ratio_low":  100 - 100*float64(half.LowWords["generic"])/sum(half.LowWords),
			"ratio_xor":  100 * float64(half.Xor) / all,
			"any_stride": 100 * float64(half.AnyStride) / (all - of(half, "generic") + float64(half.AnyStride)),
			"non_dense":  100 * float64(half.NonDense) / (all - of(half, "generic")),
		})
		for j, s := range []float64{0.5, 0.75, 0.25} {
			k := again(share(s))
			per := 1000 / float64(k.Instructions)
			sameValues(t, "figure 2, "+row.Name, measured("figure2", i, j), map[string]float64{
				"zero": per * of(k, "zero"), "uniform": per * of(k, "uniform"), "affine": per * of(k, "affine"), "generic": per * of(k, "generic"), "global": per * float64(k.Global),
			})
		}
		traffic := func(regs int, setup recount.CacheSetup, l1, avc int) float64 {
			setup.L1, setup.AVC, setup.Regs, setup.Warps = l1, avc, regs, 3*48
			c, err := again(regs).Replay(setup)
			if err != nil {
				t.Fatal(err)
			}
			return float64(c.Misses+c.WriteBacks) / float64(c.Instructions)
		}
		for j, s := range []float64{0.5, 0.75, 0.25} {
			want := map[string]float64{}
			for _, c := range configs {
				want[c.name] = 1e4 * traffic(share(s), recount.CacheSetup{}, c.l1, c.avc)
			}
			sameValues(t, "figure 6, "+row.Name, measured("figure6", i, j), want)
		}
		for j, setup := range rows {
			want := map[string]float64{"r_base": float64(base), "least": float64(minimum)}
			for _, c := range configs {
				regs := minimum
				for regs < base && traffic(regs, setup, c.l1, c.avc) >= 1e-4 {
					regs++
				}
				want[c.name] = float64(regs)
			}
			sameValues(t, "table 4, "+row.Name, measured("table4", i, j), want)
		}
		stable := map[string]float64{"r_base": float64(base), "least": float64(minimum)}
		for _, c := range configs {
			regs := base
			for regs > minimum && traffic(regs-1, recount.CacheSetup{}, c.l1, c.avc) < 1e-4 {
				regs--
			}
			stable[c.name] = float64(regs)
		}
		sameValues(t, "table 4 with all greater counts, "+row.Name, measured("table4", i, len(rows)), stable)
	}
}

// kimRun is a small run under an interpretation of tables 1 or 3.
type kimRun struct {
	table, interpretation, workload string
	size                            int
}

// TestRecountOfKimTables recounts the columns of tables 1 and 3 for small runs, and the counts of each instruction.
func TestRecountOfKimTables(t *testing.T) {
	part.SkipShort(t)
	runs := []kimRun{
		{"table1", "kim", "bfs", 80}, {"table1", "kim", "nqueens", 5}, {"table1", "kim", "bsearch", 64}, {"table1", "kim", "lps", 20}, {"table1", "kim", "cp", 16},
		{"table1", "kim", "kmeansum", 60}, {"table1", "kim-leaves", "bfs", 80}, {"table1", "kim-leaves", "lps", 20}, {"table3", "fgsimt", "sgemm", 16},
		{"table3", "fgsimt", "bfs", 80}, {"table3", "fgsimt", "viterbi", 2}, {"table3", "fgsimt", "rsort", 100}, {"table3", "fgsimt", "rgb2cmyk", 40},
		{"table1", "kim-wide", "bfs", 80}, {"table1", "kim-wide", "nqueens", 5}, {"table1", "kim-wide", "lps", 20}, {"table1", "kim-const", "cp", 16}, {"table1", "kim-const", "conv", 64},
	}
	if part.TryAll() {
		runs = nil
		for _, name := range []string{"table1", "table3"} {
			table := tableOf(t, "kim2013", name)
			for _, row := range table.Rows {
				for _, reading := range table.Interpretations {
					if reading.Name != "gemu" {
						runs = append(runs, kimRun{name, reading.Name, row.Workload, map[string]int{"aes": 0, "bilat": 16, "bsearch": 300, "bfs": 300, "conv": 100, "cmult": 100, "cp": 32, "dither": 32, "kmeans": 100, "kmeansum": 100, "lps": 33, "median": 33, "mfilt": 33, "nqueens": 7, "rgb2cmyk": 33, "rsort": 500, "sgemm": 33, "viterbi": 8}[row.Workload]})
					}
				}
			}
		}
	}
	for _, c := range runs {
		t.Run(c.table+" "+c.interpretation+" "+c.workload, func(t *testing.T) { c.check(t) })
	}
}

func (c kimRun) check(t *testing.T) {
	table := *tableOf(t, "kim2013", c.table)
	row := Row{Name: c.workload, Workload: c.workload, Size: c.size}
	table.Rows, table.Interpretations = []Row{row}, []Interpretation{{Name: c.interpretation}}
	m := NewMeter(t.Context(), 1, 0, []*Table{&table})
	defer m.Close()
	got, err := table.Measure(m, &row, &table.Interpretations[0])
	if err != nil {
		t.Fatal(err)
	}
	of := kimMachines[c.interpretation]
	structure, err := m.structureOf(&row, c.interpretation)
	if err != nil {
		t.Fatal(err)
	}
	w := kernels.Lookup(c.workload)
	s, err := kernels.Start(t.Context(), w, interp.NewDevice(interp.Config{}), c.size)
	if err != nil {
		t.Fatal(err)
	}
	again := &recount.Machine{IgnoresExited: c.interpretation == "kim-leaves", FGSIMT: c.interpretation == "fgsimt", Wide: c.interpretation == "kim-wide" || c.interpretation == "kim-const", Const: c.interpretation == "kim-const"}
	s.Prepare = func(l *interp.Launch) {
		l.Mode, l.Reconverge, l.Probes = interp.Vector, interp.ReconvergerNamed(of.reconverge), []probe.Probe{again}
	}
	if err := w.Run(s); err != nil {
		t.Fatal(err)
	}
	share := func(part, all int) float64 {
		if all == 0 {
			return 0
		}
		return 100 * float64(part) / float64(all)
	}
	n := again.Total()
	want := map[string]float64{
		"dyn_inst_M": float64(n.Lanes) / 1e6, "act_thds": float64(n.Lanes) / float64(n.Instructions),
		"ll": share(n.LongLatency, n.Instructions), "ctrl": share(n.Control, n.Instructions), "mem": share(n.Memory, n.Instructions), "div": share(n.Divergent, n.Instructions),
		"aff_inst": share(n.Compact, n.Instructions), "supp_aff": share(n.Suppressed, n.Compact+n.Suppressed), "exp_inst": share(n.Materialisations, n.Instructions),
		"aff_rds": share(n.CompactReads, n.Reads), "aff_wrs": share(n.CompactWrites-n.Materialisations, n.Writes),
		"aff_bra": share(n.Decided, n.Branches), "aff_bra_not_uniform": share(n.DecidedAffine, n.Branches),
		"aff_mem": share(n.CompactLoads, n.Loads), "aff_mem_not_uniform": share(n.AffineLoads, n.Loads),
	}
	if c.table == "table3" {
		want = map[string]float64{
			"act_thds": float64(n.Lanes) / float64(n.Instructions), "int": share(n.Int, n.Instructions), "fp": share(n.FP, n.Instructions), "ctrl": share(n.Control, n.Instructions),
			"mem": share(n.Memory, n.Instructions), "shared_loads": share(n.Params, n.Instructions), "a_aff_inst": share(n.Compact-n.Compares, n.Instructions),
			"a_aff_rds": share(n.CompactReads, n.Reads), "a_aff_wrs": share(n.CompactWrites-n.Materialisations, n.Writes), "ab_aff_inst": share(n.Compact, n.Instructions),
			"abm_aff_mem": share(n.AffineLoads, n.Loads+n.Stores), "abm_aff_mem_loads": share(n.AffineLoads, n.Loads),
		}
	}
	columns := map[string][]kimColumn{"table1": kimTable1, "table3": kimTable3}[c.table]
	maps.DeleteFunc(got, func(name string, _ float64) bool { // columns about time are not recounted
		return !slices.ContainsFunc(columns, func(k kimColumn) bool { return k.Name == name })
	})
	sameValues(t, c.table, got, want)
	for _, diff := range again.Differences(structure) {
		t.Error(diff)
	}
}
