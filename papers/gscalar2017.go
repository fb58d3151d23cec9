package papers

// This file has Liu et al., HPCA 2017 (G-Scalar). docs/gscalar.md defines the columns and interpretations.

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"strconv"

	"gemu/interp"
	"gemu/kernels"
	"gemu/models/gscalar"
)

//go:embed data/gscalar2017.csv
var gscalarValues []byte

// gscalar2017 returns the paper.
func gscalar2017() *Paper {
	return &Paper{Name: "gscalar2017", Study: "liu2017", Title: "Liu et al., HPCA 2017: G-Scalar", Tables: gscalarTables()}
}

// gscalarBenchmarks are the benchmarks of table 2 with their workloads, at the sizes of the first comparison.
var gscalarBenchmarks = []struct {
	name, workload string
	size           int
}{
	{"BT", "btree", 1 << 16},
	{"BP", "backprop", 1 << 12},
	{"HW", "heartwall", 20},
	{"HS", "hotspot", 192},
	{"LC", "leukocyte", 0},
	{"PF", "pathfinder", 1 << 12},
	{"SR1", "srad_v1", 0},
	{"SR2", "srad", 128},
	{"CC", "cutcp", 340},
	{"LBM", "lbm", 32},
	{"MG", "mri-gridding", 0},
	{"MQ", "mriq", 1 << 11},
	{"SAD", "sad", 8},
	{"MM", "sgemm", 256},
	{"MV", "spmv", 1 << 13},
	{"ST", "stencil", 64},
	{"ACF", "tpacf", 272},
}

// gscalarValue is the place of a value of the paper; row "" is the mean.
type gscalarValue struct{ metric, table, row, column string }

var gscalarPlaces = []gscalarValue{
	{"divergent_instructions", "figure1", "", "divergent"},
	{"rf_operand_scalar", "figure8", "", "scalar"},
	{"rf_operand_3byte", "figure8", "", "3-byte"},
	{"rf_operand_2byte", "figure8", "", "2-byte"},
	{"rf_operand_1byte", "figure8", "", "1-byte"},
	{"alu_scalar_eligible", "figure9", "", "alu"},
	{"plus_sfu_and_memory", "figure9", "", "others"},
	{"plus_half_warp", "figure9", "", "half"},
	{"plus_divergent_scalar", "figure9", "", "divergent"},
	{"gscalar_total", "figure9", "", "total"},
	{"backprop_half_warp", "figure9", "BP", "half"},
	{"hotspot_divergent_scalar", "figure9", "HS", "divergent"},
	{"lbm_divergent_scalar", "figure9", "LBM", "divergent"},
	{"sad_divergent_scalar", "figure9", "SAD", "divergent"},
	{"plus_half_warp", "figure10", "", "warp32"},
	{"half_scalar_warp64_16thread_granularity", "figure10", "", "warp64"},
	{"ipc_with_3_more_cycles", "figure11", "", "ipc"},
	{"rf_power_vs_baseline_scalar_rf", "figure12", "", "scalar_file"},
	{"rf_power_vs_baseline_gscalar", "figure12", "", "gscalar"},
	{"special_move_overhead", "figure12", "", "moves"},
	{"compression_ratio_bytewise", "ratio", "", "bytewise"},
	{"compression_ratio_bdi", "ratio", "", "bdi"},
}

// gscalarMetrics reads the paper's values.
func gscalarMetrics() map[string]float64 {
	r := csv.NewReader(bytes.NewReader(gscalarValues))
	r.Comment = '#'
	table, err := r.ReadAll()
	if err != nil {
		panic("BUG: " + err.Error())
	}
	values := map[string]float64{}
	for _, record := range table[1:] {
		v, err := strconv.ParseFloat(record[1], 64)
		if err != nil {
			panic("BUG: " + err.Error())
		}
		values[record[0]] = v
	}
	return values
}

// gscalarRows returns the rows of a table: the benchmarks, and their mean.
func gscalarRows(table string) []Row {
	metrics := gscalarMetrics()
	values := func(row string) map[string]float64 {
		m := map[string]float64{}
		for _, p := range gscalarPlaces {
			if p.table == table && p.row == row {
				m[p.column] = metrics[p.metric]
			}
		}
		if table == "figure1" && row == "" { // share of divergent instructions, in the text
			m["scalar"] = m["divergent"] * metrics["divergent_scalar_of_divergent"] / 100
		}
		return m
	}
	var rows []Row
	for _, b := range gscalarBenchmarks {
		row := Row{Name: b.name, Workload: b.workload, Size: b.size, Values: values(b.name)}
		if kernels.Lookup(b.workload) == nil {
			row.Absent = b.workload + " is not in the library"
		}
		rows = append(rows, row)
	}
	return append(rows, Row{Name: "mean", Summary: true, Values: values("")})
}

// gscalarKey is a run of a benchmark.
type gscalarKey struct {
	workload string
	warp     int
}

// gscalarCounts runs a benchmark under the paper's reconvergence.
func gscalarCounts(m *Meter, row *Row, warp int) (*gscalar.Counts, error) {
	return measureOnce(m, gscalarKey{row.Workload, warp}, func() (*gscalar.Counts, error) {
		watch := &gscalar.Model{}
		err := m.run(row.Workload, row.Size, func(l *interp.Launch) {
			l.WarpSize, l.Reconverge = warp, interp.ReconvergerNamed("stack")
		}, watch)
		n := watch.Counts(warp)
		return &n, err
	})
}

// gscalarTable makes a table whose columns ours computes from a benchmark's counts. The mean gives each available
// benchmark the same weight.
func gscalarTable(t Table, ours func(c *gscalar.Counts, reading int) []float64) *Table {
	t.Rows = gscalarRows(t.Name)
	t.Measure = withMean(t.Rows, func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
		c, err := gscalarCounts(m, row, 32)
		if err != nil {
			return nil, err
		}
		list := ours(c, t.interpretation(r))
		if t.Name == "figure10" {
			c, err := gscalarCounts(m, row, 64)
			if err != nil {
				return nil, err
			}
			list = append(list, ours(c, t.interpretation(r))...)
		}
		v := map[string]float64{}
		for i := range t.Columns {
			v[t.Columns[i].Name] = list[i]
		}
		return v, nil
	})
	return &t
}

// withMean returns a function for Table.Measure: measure for a benchmark, and for the row about all of them the mean over
// the available benchmarks in rows.
func withMean(rows []Row, measure func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error)) func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
	return func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
		if !row.Summary {
			return measure(m, row, r)
		}
		sum, n := map[string]float64{}, 0
		for i := range rows {
			if rows[i].Summary || rows[i].Absent != "" {
				continue
			}
			v, err := measure(m, &rows[i], r)
			if err != nil {
				return nil, err
			}
			for name, x := range v {
				sum[name] += x
			}
			n++
		}
		for name := range sum {
			sum[name] /= float64(n)
		}
		return sum, nil
	}
}

// gscalarInterpretations returns the interpretations of scalar execution.
func gscalarInterpretations() (list []Interpretation) {
	for r := range gscalar.InterpretationCount {
		list = append(list, Interpretation{r.String(), map[gscalar.Interpretation]string{
			gscalar.Headline:       "a 64-bit register counts as two; branches, %tid and atomics are never scalar; instructions with constant sources only are scalar",
			gscalar.WithControl:    "branches and other control instructions are scalar if their predicate is scalar",
			gscalar.NoConstants:    "instructions without a source register are not scalar",
			gscalar.SpecialByValue: "%tid and similar registers are scalar if all lanes have the same value",
			gscalar.NoPredicates:   "source predicates do not count",
			gscalar.LowWords:       "only the low word of a 64-bit register counts",
		}[r]})
	}
	return list
}

func gscalarColumn(name, head1, head2, doc string) Column {
	return Column{Name: name, Head: [2]string{head1, head2}, Digits: 1, Doc: doc}
}

// stacked makes plots stack the first n columns.
func stacked(noun string, n int, columns []Column) []Column {
	for i := range columns[:n] {
		columns[i].Stack, columns[i].Series = noun, columns[i].Label()
	}
	return columns
}

// gscalarTables returns the figures.
func gscalarTables() []*Table {
	// Interpretations of figure 12 and of the ratio: a scheme, or omitted words.
	const (
		whole = iota
		halves
		lowWords
		warped
		last
	)
	file := func(reading int) (scheme, bdi int, low bool) {
		scheme, bdi, low = gscalar.Bytewise, gscalar.BDI, reading == lowWords
		switch reading {
		case halves:
			scheme = gscalar.Halves
		case warped:
			bdi = gscalar.Warped
		}
		return scheme, bdi, low
	}
	readings := []Interpretation{
		whole:    {"headline", "one base value for a register; a 64-bit register counts as two; differences of up to 3 bytes; special moves count"},
		halves:   {"halves", "a base value for each 16 lanes"},
		lowWords: {"low words only", "only the low word of a 64-bit register counts"},
		warped:   {"2-byte differences", "BDI as in warped compression, with differences of up to 2 bytes"},
	}
	return []*Table{
		gscalarTable(Table{
			Name: "figure1", Title: "divergent instructions, % of instructions",
			Columns: []Column{
				gscalarColumn("divergent", "", "divergent", "not executed by all lanes of the warp, share of instructions"),
				gscalarColumn("scalar", "divergent", "scalar", "divergent, with the same sources in all executing lanes, share of instructions"),
			},
			Interpretations: []Interpretation{{"headline", "by value; for a branch, by the lanes of its warp split"}},
		}, func(c *gscalar.Counts, _ int) []float64 {
			d, s := c.Divergence()
			return []float64{d, s}
		}),
		gscalarTable(Table{
			Name: "figure8", Title: "accesses to vector registers by the bytes that lanes share, %",
			Columns: stacked("accesses to vector registers", 6, []Column{
				gscalarColumn("scalar", "", "scalar", "the same value in all lanes, share of accesses"),
				gscalarColumn("3-byte", "3", "bytes", "the same upper three bytes, share of accesses"),
				gscalarColumn("2-byte", "2", "bytes", "the same upper two bytes, share of accesses"),
				gscalarColumn("1-byte", "1", "byte", "the same upper byte, share of accesses"),
				gscalarColumn("other", "", "other", "no common upper byte, share of accesses"),
				gscalarColumn("divergent", "", "diverg.", "by divergent instructions, share of accesses"),
			}),
			Interpretations: []Interpretation{
				{"headline", "reads and writes; a 64-bit register counts as two"},
				{"reads", "only reads"},
				{"writes", "only writes"},
				{"low words only", "only the low word of a 64-bit register counts"},
			},
		}, func(c *gscalar.Counts, reading int) []float64 {
			operands := gscalar.ReadsAndWrites
			if reading < 3 {
				operands = gscalar.Operands(reading)
			}
			s := c.Similar(operands, reading == 3)
			return []float64{s[gscalar.ScalarValue], s[gscalar.ThreeBytes], s[gscalar.TwoBytes], s[gscalar.OneByte], s[gscalar.Other], s[gscalar.DivergentAccess]}
		}),
		gscalarTable(Table{
			Name: "figure9", Title: "instructions that may execute as scalars, %",
			Columns: stacked("instructions", 4, []Column{
				gscalarColumn("alu", "", "ALU", "arithmetic and logic, not divergent, share of instructions"),
				gscalarColumn("others", "SFU,", "memory", "special functions, loads and stores, not divergent"),
				gscalarColumn("half", "", "half", "not divergent, scalar in 16 lanes"),
				gscalarColumn("divergent", "", "diverg.", "divergent, by the mask of the last write"),
				gscalarColumn("total", "", "all", "the sum of these"),
			}),
			Interpretations: gscalarInterpretations(),
		}, func(c *gscalar.Counts, reading int) []float64 {
			alu, others, half, divergent := c.Scalar(gscalar.Interpretation(reading))
			return []float64{alu, others, half, divergent, alu + others + half + divergent}
		}),
		gscalarTable(Table{
			Name: "figure10", Title: "half scalar instructions by width of warps, %",
			Columns: []Column{
				gscalarColumn("warp32", "warps", "of 32", "with warps of 32 lanes, groups of 16"),
				gscalarColumn("warp64", "warps", "of 64", "with warps of 64 lanes, groups of 16"),
			},
			Interpretations: gscalarInterpretations(),
		}, func(c *gscalar.Counts, reading int) []float64 {
			_, _, half, _ := c.Scalar(gscalar.Interpretation(reading))
			return []float64{half}
		}),
		gscalarFigure11(),
		gscalarTable(Table{
			Name: "figure12", Title: "energy of the register file, first order, % of a file of vectors",
			Note: "combined is a register file of gemu: tags for base and stride, and byte-wise compression of all other values.",
			Columns: []Column{
				gscalarColumn("scalar_file", "scalar", "file", "a scalar file next to the vector file"),
				gscalarColumn("bdi", "", "W-C", "a base and differences"),
				gscalarColumn("gscalar", "", "G-Scalar", "byte-wise"),
				gscalarColumn("combined", "", "combined", "affine tags, else byte-wise"),
				gscalarColumn("moves", "special", "moves", "% of instructions"),
			},
			Interpretations: append(readings[:last:last],
				Interpretation{"no moves", "special moves left out"},
				Interpretation{"free scalars", "an access to the scalar file costs nothing"}),
		}, func(c *gscalar.Counts, reading int) []float64 {
			scheme, bdi, low := file(reading)
			moves := reading != last
			scalars := c.Power(gscalar.ScalarFile, moves, low)
			if reading == last+1 {
				scalars = c.ArrayPower(gscalar.ScalarFile)
			}
			return []float64{scalars, c.Power(bdi, moves, low), c.Power(scheme, moves, low), c.Power(gscalar.Affine, moves, low), c.Moves()}
		}),
		gscalarTable(Table{
			Name: "ratio", Title: "compression ratio of register writes (section 5.3)",
			Columns: []Column{
				{Name: "bdi", Head: [2]string{"", "BDI"}, Digits: 2, Doc: "bytes as vectors over stored bytes, with a base and differences"},
				{Name: "bytewise", Head: [2]string{"", "G-Scalar"}, Digits: 2, Doc: "bytes as vectors over stored bytes, byte-wise"},
				{Name: "combined", Head: [2]string{"", "combined"}, Digits: 2, Doc: "bytes as vectors over stored bytes, with affine tags, else byte-wise"},
			},
			Interpretations: append(readings[:last:last],
				Interpretation{"with encodings", "six bits for each register count as stored"}),
		}, func(c *gscalar.Counts, reading int) []float64 {
			scheme, bdi, low := file(reading)
			encodings := reading == last
			return []float64{c.Ratio(bdi, low, encodings), c.Ratio(scheme, low, encodings), c.Ratio(gscalar.Affine, low, encodings)}
		}),
	}
}
