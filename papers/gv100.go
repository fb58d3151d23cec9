package papers

// This file has the counters of a Quadro GV100 (Kandiah et al., MICRO 2021). docs/gv100.md defines the counts, and says
// which kernels are regular.

import (
	_ "embed"
	"fmt"
	"slices"

	"gemu/interp"
)

//go:embed data/gv100.csv
var gv100Values []byte

// gv100 returns the comparison with the GPU.
func gv100() *Paper {
	return &Paper{Name: "gv100", Study: "kandiah2021", Title: "Kandiah et al., MICRO 2021: counters of a Quadro GV100", Tables: append(gv100Tables(), gv100Cycles())}
}

// gv100Kernels has the workload and the kernel of each row.
var gv100Kernels = map[string]struct{ workload, kernel string }{
	"forward":   {"gv100/backprop", "backprop_forward"},
	"adjust":    {"gv100/backprop", "backprop_adjust"},
	"hotspot":   {"gv100/hotspot", "hotspot"},
	"kmeans":    {"gv100/kmeans", "kmeans_point"},
	"srad":      {"gv100/srad", "srad"},
	"sgemm":     {"gv100/sgemm", "sgemm"},
	"mriq":      {"gv100/mriq", "mriq"},
	"dct1D":     {"gv100/dct8x8", "dct8x8_texture"},
	"dct2D":     {"gv100/dct8x8", "dct8x8"},
	"binomial":  {"gv100/binomial", "binomial"},
	"fwtBatch2": {"gv100/fwt", "fwt_global"},
	"fwtBatch1": {"gv100/fwt", "fwt_shared"},
	"histogram": {"gv100/histogram64", "histogram64"},
	"mergeSort": {"gv100/mergesort", "mergesort_shared"},
	"random":    {"gv100/quasirandom", "quasirandom"},
	"inverse":   {"gv100/quasirandom", "inverse_normal"},
	"sobol":     {"gv100/sobol", "sobol"},
}

// gv100Absent has the reasons for rows without a workload.
var gv100Absent = map[string]string{
	"rangeK":         "irregular: keys and queries of files decide which nodes are loaded",
	"findK":          "irregular, as rangeK",
	"sad":            "regular, but not yet written: it is long, and loads by textures",
	"mergeIntervals": "irregular: samples of the keys decide the lengths of intervals",
	"cutlass1":       "impossible: only the code of CUTLASS states its accesses",
	"cutlass2":       "impossible, as cutlass1",
	"cutlass3":       "impossible, as cutlass1",
	"tensorGemm":     "regular, but not yet written: 1.4e11 operations of tensor cores take too long",
}

// gv100Column is a column: gemu's count, and the counters of which the GPU's is the sum.
type gv100Column struct {
	Column
	count    func(n *accessCounts) int64
	counters []string
	placed   func(n *accessCounts) int64 // gemu's count under the interpretation "placed"; nil if it is the same
}

// gv100Tables returns the tables.
func gv100Tables() []*Table {
	column := func(name, head1, head2, doc string, count func(n *accessCounts) int64, counters ...string) gv100Column {
		return gv100Column{Column{Name: name, Head: [2]string{head1, head2}, Doc: doc, NotRanked: true}, count, counters, nil}
	}
	loads := func(n *accessCounts) int64 { return n.loads }
	stores := func(n *accessCounts) int64 { return n.stores }
	l2 := column("l2_reads", "L2", "reads", "sectors that a CTA loads for the first time, summed over CTAs", func(n *accessCounts) int64 { return n.first }, "L2_RH", "L2_RM")
	l2.placed = func(n *accessCounts) int64 { return n.placed }
	return []*Table{
		gv100Table(Table{
			Name: "sectors", Title: "sectors of 32 bytes of global memory, mean of the kernel's launches",
			Note: "docs/gv100.md explains each difference.",
		}, column("l1_reads", "L1", "reads", "sectors of global loads, by warp instruction", loads, "L1_RH", "L1_RM"),
			column("l1_writes", "L1", "writes", "sectors of global stores, by warp instruction", stores, "L1_WH", "L1_WM"),
			l2,
			column("l2_writes", "L2", "writes", "sectors of global stores, by warp instruction: L1 writes through", stores, "L2_WH", "L2_WM"),
			column("distinct", "distinct", "sectors", "distinct sectors that the launch loads; the GPU's are the misses of reads in L2", func(n *accessCounts) int64 { return n.distinct }, "L2_RM")),
		gv100Table(Table{
			Name: "shared", Title: "accesses to shared memory, mean of the kernel's launches",
			Note: "The GPU counted instructions, not passes.",
		}, column("instructions", "", "instructions", "warp instructions that access shared memory", func(n *accessCounts) int64 { return n.shared }, "SHRD_ACC"),
			column("passes", "", "passes", "passes of these instructions over the banks", func(n *accessCounts) int64 { return n.passes })),
	}
}

// gv100Table completes a table with columns.
func gv100Table(t Table, columns ...gv100Column) *Table {
	t.Source, t.Exact = "GV100", true
	t.Interpretations = []Interpretation{{"headline", "an L1 of its own for each CTA, which never evicts; no other cache"}}
	for i := range columns {
		t.Columns = append(t.Columns, columns[i].Column)
		if columns[i].placed != nil {
			t.Interpretations = append(t.Interpretations, Interpretation{"placed", "CTA i is on multiprocessor i modulo 80, whose CTAs share an L1, which never evicts; only L2 reads differ"})
		}
	}
	for _, row := range readRows(gv100Values, nil) {
		counters := row.Values
		row.Workload, row.Absent, row.Values = gv100Kernels[row.Name].workload, gv100Absent[row.Name], map[string]float64{}
		for _, c := range columns {
			for _, name := range c.counters {
				row.Values[c.Name] += counters[name]
			}
		}
		if slices.ContainsFunc(columns, func(c gv100Column) bool { return row.Values[c.Name] > 0 }) { // else the kernel has no such accesses
			t.Rows = append(t.Rows, row)
		}
	}
	t.Measure = func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
		kernels, err := gv100Counts(m, row)
		if err != nil {
			return nil, err
		}
		n, values := kernels[gv100Kernels[row.Name].kernel], map[string]float64{}
		for _, c := range columns {
			switch {
			case r.Name == "headline":
				values[c.Name] = n.mean(c.count(n))
			case c.placed != nil:
				values[c.Name] = n.mean(c.placed(n))
			}
		}
		return values, nil
	}
	return &t
}

// gv100Key is a run of a workload.
type gv100Key struct{ workload string }

// gv100Counts runs the workload of a row and returns its counts, by kernel.
func gv100Counts(m *Meter, row *Row) (map[string]*accessCounts, error) {
	return measureOnce(m, gv100Key{row.Workload}, func() (map[string]*accessCounts, error) {
		watch := newAccessProbe()
		err := m.run(row.Workload, row.Size, func(*interp.Launch) {}, watch)
		for name, n := range watch.kernels {
			if e := m.verify.accesses(n); err == nil && e != nil {
				err = fmt.Errorf("@%s: kernel %s: %w", row.Workload, name, e)
			}
		}
		return watch.kernels, err
	})
}
