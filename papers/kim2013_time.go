package papers

// This file has the results of Kim et al., ISCA 2013, in cycles, from the machines of package kim: figures 5, 6 and
// 9, and the columns of tables 1 and 3 with cycles. docs/kim2013-time.md defines them.

import (
	"slices"
	"strings"

	"gemu/affinetrack"
	"gemu/interp"
	"gemu/models/kim"
	"gemu/structure"
)

// gpPair is a GP-SIMT machine with and without affine execution.
type gpPair struct {
	name   string
	lanes  int
	few    bool // measured without the benchmarks of gpMany
	change []func(c *kim.GPConfig)
}

// gpMany are the benchmarks with more than a million and a half warp instructions at their size. Pairs that are few leave
// them out: they would take most of the time.
var gpMany = []string{"bfs", "bilat", "lps", "mfilt", "nnet", "nqueens"}

// gpColumns are the machines of figures 5 and 6, by table: a column each.
var gpColumns = map[string][]struct {
	column, pair string
	lanes        int
	few          bool
	change       func(c *kim.GPConfig)
}{
	"figure5": {
		{"l16", "real16", 16, false, func(c *kim.GPConfig) { c.Memory = true }},
		{"l8", "real8", 8, false, func(c *kim.GPConfig) { c.Memory = true }},
	},
	"figure6": {
		{"l16", "warm16", 16, false, func(*kim.GPConfig) {}},
		{"l8", "warm8", 8, false, func(*kim.GPConfig) {}},
		{"l16_slow", "warm16 slow", 16, true, func(c *kim.GPConfig) { c.FrontEnd = 2 }},
		{"l8_slow", "warm8 slow", 8, true, func(c *kim.GPConfig) { c.FrontEnd = 4 }},
		{"l32", "warm32", 32, true, func(*kim.GPConfig) {}},
	},
}

// gpReadings are the interpretations of figures 5 and 6 that change a machine.
var gpReadings = []struct {
	Interpretation
	tables string // figures that have it
	column string // the only column that it changes; "" for all
	change func(c *kim.GPConfig)
}{
	{Interpretation{"same-banks", "as kim, register r of every warp in bank r modulo 16"}, "figure5 figure6", "", func(c *kim.GPConfig) { c.SameBanks = true }},
	{Interpretation{"banks", "as kim, banks of registers without conflicts"}, "figure5 figure6", "", func(c *kim.GPConfig) { c.BankConflicts = false }},
	{Interpretation{"far", "as kim, 100 cycles to the L2"}, "figure5", "", func(c *kim.GPConfig) { c.L2 = 100 }},
	{Interpretation{"bandwidth", "as kim, without a limit of bandwidth"}, "figure5", "", func(c *kim.GPConfig) { c.LineCycles = 0 }},
	{Interpretation{"l2-total", "as kim, an L2 of 786,432 bytes in all instead of 786 KB in each bank"}, "figure5", "", func(c *kim.GPConfig) { c.L2Bytes = 786432 / c.L2Banks }},
	{Interpretation{"mshrs", "as kim, at most 32 lines under way to a cache, with 8 requests each to an L1 and 4 to a bank of the L2"}, "figure5", "", func(c *kim.GPConfig) {
		c.L1MSHRs, c.L2MSHRs = kim.MSHRs{Lines: 32, Requests: 8}, kim.MSHRs{Lines: 32, Requests: 4}
	}},
	{Interpretation{"latency", "as kim, results have twice the latency"}, "figure6", "", func(c *kim.GPConfig) { double(c.Results[:]) }},
	{Interpretation{"hit", "as kim, 20 cycles to data in the L1 and in shared memory"}, "figure6", "", func(c *kim.GPConfig) { c.Hit = 20 }},
	{Interpretation{"ctas", "as kim, at most 8 blocks on a multiprocessor"}, "figure6", "", func(c *kim.GPConfig) { c.CTAs = 8 }},
	{Interpretation{"turns", "as kim, warps issue in turn"}, "figure6", "", func(c *kim.GPConfig) { c.Schedule = kim.InTurn }},
	{Interpretation{"slow2", "as kim, a slow front end of half the speed also with 8 lanes"}, "figure6", "l8_slow", func(c *kim.GPConfig) { c.FrontEnd = 2 }},
}

// gpTableReadings returns the interpretations of a figure that change a machine.
func gpTableReadings(table string) (list []Interpretation) {
	for _, r := range gpReadings {
		if strings.Contains(r.tables, table) {
			list = append(list, r.Interpretation)
		}
	}
	return list
}

// gpInterpretation is the pair of each column, by column.
type gpInterpretation map[string]string

// gpPairs are the pairs, and gpInterpretations the pairs by table and interpretation.
var gpPairs, gpInterpretations = func() (pairs []gpPair, tables map[string]map[string]gpInterpretation) {
	tables = map[string]map[string]gpInterpretation{
		"table1": {"kim": {"issue": "real16"}},
		"issue": {
			"real16": {"issue": "real16"}, "real8": {"issue": "real8"}, "warm16": {"issue": "warm16"}, "warm8": {"issue": "warm8"},
			"slow16": {"issue": "warm16 slow"}, "slow8": {"issue": "warm8 slow"}, "busy": {"busy": "real16"},
			"same-banks": {"issue": "real16 same-banks"}, "l2-total": {"issue": "real16 l2-total"}, "mshrs": {"issue": "real16 mshrs"},
		},
		"uses-gp": {"gpsimt": {"uses": "real16"}, "gpsimt+abm": {"uses": "real16"}},
	}
	for _, table := range []string{"figure5", "figure6"} {
		tables[table] = map[string]gpInterpretation{gpHeadline: {}}
		for _, c := range gpColumns[table] {
			tables[table][gpHeadline][c.column] = c.pair
			pairs = append(pairs, gpPair{c.pair, c.lanes, c.few, []func(*kim.GPConfig){c.change}})
			for _, r := range gpReadings {
				if !strings.Contains(r.tables, table) || r.column != "" && r.column != c.column {
					continue
				}
				if tables[table][r.Name] == nil {
					tables[table][r.Name] = gpInterpretation{}
				}
				name := c.pair + " " + r.Name
				tables[table][r.Name][c.column] = name
				pairs = append(pairs, gpPair{name, c.lanes, c.lanes != 16 || c.few, []func(*kim.GPConfig){c.change, r.change}})
			}
		}
	}
	return pairs, tables
}()

func double(cycles []int64) {
	for i := range cycles {
		cycles[i] *= 2
	}
}

// gpTime is the cycles of a pair.
type gpTime struct{ base, affine kim.Time }

// gpTimes is the cycles of pairs for a benchmark, by the pairs' names, and the structure of its values under the
// headline.
type gpTimes struct {
	pairs     map[string]gpTime
	structure *structure.Structure
}

// gpHeadline is the headline of the GP-SIMT tables. The cycles of its machine (in kimMachines) are counted.
const gpHeadline = "kim"

// gpKey identifies a replay.
type gpKey structureKey

// gpTimes runs a row's benchmark on the pairs that tables need for it.
func (m *Meter) gpTimes(row *Row) (*gpTimes, error) {
	of := kimMachines[gpHeadline]
	key := of.key(row)
	return measureOnce(m, gpKey(key), func() (*gpTimes, error) {
		var pairs []gpPair
		var machines []*kim.GPMachine
		for _, p := range gpPairs {
			if p.few && slices.Contains(gpMany, row.Workload) || !m.needsPair(p.name) {
				continue
			}
			pairs = append(pairs, p)
			for _, affine := range []bool{false, true} {
				c := kim.NewGPConfig(p.lanes, affine)
				for _, change := range p.change {
					change(&c)
				}
				machines = append(machines, kim.NewGPMachine(c))
			}
		}
		r := kim.GPReplay(affinetrack.PolicyByName(of.policy), machines...)
		if err := m.replay(key, r); err != nil {
			return nil, err
		}
		times := &gpTimes{map[string]gpTime{}, r.Structure()}
		for i, p := range pairs {
			times.pairs[p.name] = gpTime{machines[2*i].Time(), machines[2*i+1].Time()}
		}
		return times, nil
	})
}

// needsPair reports whether a measured table needs a pair.
func (m *Meter) needsPair(pair string) bool {
	for _, t := range m.tables {
		for _, r := range t.Interpretations {
			for _, name := range gpInterpretations[t.Name][r.Name] {
				if name == pair {
					return true
				}
			}
		}
	}
	return false
}

// replay runs a benchmark with a replay as probe.
func (m *Meter) replay(key structureKey, r *kim.Replay) error {
	return m.run(key.workload, key.size, func(l *interp.Launch) { l.Reconverge = interp.ReconvergerNamed(key.reconverge) }, r)
}

// addGPTime adds the cycles of an interpretation of a table to a row's values.
func (m *Meter) addGPTime(table string, row *Row, r *Interpretation, measured map[string]float64) error {
	columns := gpInterpretations[table][r.Name]
	if len(columns) == 0 {
		return nil
	}
	times, err := m.gpTimes(row)
	if err != nil {
		return err
	}
	for column, name := range columns {
		switch t, ok := times.pairs[name]; {
		case !ok:
		case column == "issue":
			measured["avg_iss"], measured["warp_issue"] = quotient(t.base.Issued, t.base.Issues), quotient(t.affine.Issued, t.affine.Issues)
		case column == "uses":
			addUses(measured, map[string]kim.Time{"gpsimt": t.base, "gpsimt+abm": t.affine}[r.Name])
		case column == "busy":
			measured["avg_iss"], measured["warp_issue"] = quotient(t.base.Issued, t.base.BusyCycles), quotient(t.affine.Issued, t.affine.BusyCycles)
		default:
			measured[column] = quotient(t.base.Cycles, t.affine.Cycles)
		}
	}
	return nil
}

func quotient(n, of int64) float64 { return float64(n) / float64(max(of, 1)) }

// issueColumns returns the two columns of table 1 that are rates.
func issueColumns() []Column {
	return []Column{
		{Name: "avg_iss", Head: [2]string{"avg", "iss"}, Digits: 2, Doc: "instructions that gpsimt issues, per cycle of a multiprocessor"},
		{Name: "warp_issue", Head: [2]string{"warp", "issue"}, Digits: 2, Doc: "the same for gpsimt+abm"},
	}
}

// timedTable1 adds the rates of issue, on the headline's machine, to table 1.
func timedTable1(t *Table) *Table {
	structure := t.Measure
	t.Columns = append(t.Columns, issueColumns()...)
	t.Measure = func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
		measured, err := structure(m, row, r)
		if err != nil {
			return nil, err
		}
		return measured, m.addGPTime("table1", row, r, measured)
	}
	return t
}

// issueTable returns the rates of issue under the other interpretations.
func issueTable() *Table {
	return &Table{
		Name: "issue", Title: "the issue rates of table 1", Columns: issueColumns(), Rows: kimTable1Rows(),
		Interpretations: []Interpretation{
			{"real16", "16 lanes, a fast front end, a memory with misses: figure 5"},
			{"real8", "8 lanes"},
			{"warm16", "16 lanes, all data in the L1 cache: figure 6"},
			{"warm8", "8 lanes, all data in the L1 cache"},
			{"slow16", "16 lanes, all data in the L1 cache, a front end of half the speed, per cycle of the front end"},
			{"slow8", "8 lanes, all data in the L1 cache, a front end of a quarter of the speed, per cycle of the front end"},
			{"busy", "as real16, per cycle in which the multiprocessor has a warp"},
			{"same-banks", "as real16, register r of every warp in bank r modulo 16"},
			{"l2-total", "as real16, an L2 of 786,432 bytes in all instead of 786 KB in each bank"},
			{"mshrs", "as real16, at most 32 lines under way to a cache, with 8 requests each to an L1 and 4 to a bank of the L2"},
		},
		Measure: func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
			measured := map[string]float64{}
			return measured, m.addGPTime("issue", row, r, measured)
		},
		Note: "The paper does not say which machine the two columns describe. Slow front ends are measured only for benchmarks with up to 1.5 million warp instructions.",
	}
}

// counterColumn is a count of a machine: of a unit, a bank or a cache.
type counterColumn struct {
	Column
	gpOnly bool // FG-SIMT lacks it
	value  func(t *kim.Time) int64
}

// uses are the counts of machines from which energy would be computed.
var uses = []counterColumn{
	{Column{Name: "arithmetic_K", Head: [2]string{"arith", "k cyc"}, Doc: "thousands of cycles in which arithmetic units are busy"}, false, func(t *kim.Time) int64 { return t.Arithmetic }},
	{Column{Name: "special_K", Head: [2]string{"spec", "k cyc"}, Doc: "the same for units for special functions"}, true, func(t *kim.Time) int64 { return t.Special }},
	{Column{Name: "memory_K", Head: [2]string{"mem", "k cyc"}, Doc: "the same for units for loads and stores"}, false, func(t *kim.Time) int64 { return t.Memory }},
	{Column{Name: "affine_K", Head: [2]string{"aff", "k inst"}, Doc: "thousands of instructions that execute compactly"}, false, func(t *kim.Time) int64 { return t.Affine }},
	{Column{Name: "bank_reads_K", Head: [2]string{"bank", "k rds"}, Doc: "thousands of registers of 32 bits that are read from banks"}, true, func(t *kim.Time) int64 { return t.BankReads }},
	{Column{Name: "bank_writes_K", Head: [2]string{"bank", "k wrs"}, Doc: "thousands of registers of 32 bits that are written to banks"}, true, func(t *kim.Time) int64 { return t.BankWrites }},
	{Column{Name: "lines_K", Head: [2]string{"", "k lines"}, Doc: "thousands of lines that warps access: for GP-SIMT after the L1 cache, for FG-SIMT requests"}, false, func(t *kim.Time) int64 { return t.Lines }},
	{Column{Name: "l1_misses_K", Head: [2]string{"L1", "k miss"}, Doc: "thousands of misses of the L1 cache"}, true, func(t *kim.Time) int64 { return t.L1Misses }},
	{Column{Name: "l2_misses_K", Head: [2]string{"L2", "k miss"}, Doc: "thousands of misses of the L2 cache"}, true, func(t *kim.Time) int64 { return t.L2Misses }},
}

// addUses adds a machine's counts to a row's values.
func addUses(measured map[string]float64, t kim.Time) {
	for _, u := range uses {
		measured[u.Name] = float64(u.value(&t)) / 1000
	}
}

// usesTable makes a table of the machines' counts.
func usesTable(name, title string, rows []Row, gp bool, readings []Interpretation, measure func(m *Meter, row *Row, r *Interpretation, measured map[string]float64) error) *Table {
	t := &Table{
		Name: name, Title: title, Rows: bareRows(rows), Interpretations: readings, PrintRows: true,
		Measure: func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
			measured := map[string]float64{}
			return measured, measure(m, row, r, measured)
		},
		Note: "The paper has energies and powers, but not the energy of any event. These are the numbers of the events.",
	}
	for _, u := range uses {
		if u.NotRanked = true; gp || !u.gpOnly {
			t.Columns = append(t.Columns, u.Column)
		}
	}
	return t
}

// gpUses returns the counts of GP-SIMT.
func gpUses() *Table {
	return usesTable("uses-gp", "use of resources in GP-SIMT, 16 lanes and a real memory", kimTable1Rows(), true,
		[]Interpretation{{"gpsimt", "without affine execution"}, {"gpsimt+abm", "with affine execution"}},
		func(m *Meter, row *Row, r *Interpretation, measured map[string]float64) error {
			return m.addGPTime("uses-gp", row, r, measured)
		})
}

// fgUses returns the counts of FG-SIMT.
func fgUses() *Table {
	var readings []Interpretation
	machines := map[string]string{} // column prefixes, by interpretation
	for _, f := range fgMachines {
		name, doc := "fgsimt-plain", "without affine execution"
		if f.name != "" {
			name, doc = "fgsimt+"+f.name, "with affine execution, as in table3's +"+f.name
		}
		machines[name] = f.name
		readings = append(readings, Interpretation{name, doc})
	}
	return usesTable("uses-fg", "use of resources in FG-SIMT", kimTable3Rows(), false, readings, func(m *Meter, row *Row, r *Interpretation, measured map[string]float64) error {
		times, err := m.fgTimes(row)
		if err != nil {
			return err
		}
		addUses(measured, times.interpretations[fgHeadline][machines[r.Name]])
		return nil
	})
}

// speedup returns a column with the speed-ups of a figure without numbers.
func speedup(name, head1, head2, doc string) Column {
	return Column{Name: name, Head: [2]string{head1, head2}, Digits: 2, Doc: doc, NotRanked: true, Neutral: 1}
}

// figure5Table returns speed-ups with a memory hierarchy.
func figure5Table() *Table {
	return &Table{
		Name: "figure5", Title: "GP-SIMT with affine execution, speed-up with a real memory",
		Columns: []Column{
			speedup("l16", "", "L16", "cycles of gpsimt over those of gpsimt+abm, 16 lanes"),
			speedup("l8", "", "L8", "the same, 8 lanes"),
		},
		Rows:            bareRows(kimTable1Rows()),
		Interpretations: append(gpsimt("kim"), gpTableReadings("figure5")...),
		Measure: func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
			measured := map[string]float64{}
			return measured, m.addGPTime("figure5", row, r, measured)
		},
		Note: "120 cycles to memory, a fast front end. The paper has bars without numbers: 4 to 17 %. Other interpretations with 8 lanes are measured only for benchmarks with up to 1.5 million warp instructions.",
	}
}

// figure6Table returns speed-ups with warm caches, and lower bounds of the busiest unit.
func figure6Table() *Table {
	bound := func(s *structure.Structure, lanes int) float64 {
		u := kim.ComputeUse(s)
		return kim.GPSIMT{Lanes: lanes}.Cycles(u) / kim.GPSIMT{Lanes: lanes, Affine: true}.Cycles(u)
	}
	return &Table{
		Name: "figure6", Title: "GP-SIMT with affine execution, speed-up with warm caches",
		Columns: []Column{
			speedup("l16", "", "L16", "cycles of gpsimt over those of gpsimt+abm, 16 lanes, a fast front end"),
			speedup("l8", "", "L8", "the same, 8 lanes"),
			speedup("l16_slow", "slow", "L16", "16 lanes, a slow front end"),
			speedup("l8_slow", "slow", "L8", "8 lanes, a slow front end"),
			speedup("l32", "", "L32", "32 lanes, a fast front end"),
			speedup("l16_bound", "unit", "L16", "16 lanes, a bound: the least time of the busiest unit"),
			speedup("l8_bound", "unit", "L8", "8 lanes, a bound: the least time of the busiest unit"),
		},
		Rows:            bareRows(kimTable1Rows()),
		Interpretations: append(gpsimt("kim", "kim-wide"), gpTableReadings("figure6")...),
		Measure: func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
			measured := map[string]float64{}
			if _, ok := kimMachines[r.Name]; ok {
				s, err := m.structureOf(row, r.Name)
				if err != nil {
					return nil, err
				}
				measured["l16_bound"], measured["l8_bound"] = bound(s, 16), bound(s, 8)
			}
			return measured, m.addGPTime("figure6", row, r, measured)
		},
		Note: "The unit columns are bounds without latencies; kim-wide has only these. The paper has bars without numbers: 8 to 30 % for about half of the applications, a quarter with marginal or no speed-up, the rest slightly worse. Slow front ends, 32 lanes, and other interpretations with 8 lanes are measured only for benchmarks with up to 1.5 million warp instructions.",
	}
}

// fgHeadline is the headline of the FG-SIMT tables, likewise.
const fgHeadline = "fgsimt"

// fgInterpretation is an interpretation of FG-SIMT with cycles.
type fgInterpretation struct {
	Interpretation
	change func(c *kim.FGConfig)
}

var fgInterpretations = []fgInterpretation{
	{fgsimt()[0], nil},
	{Interpretation{"queue16", "as fgsimt, 16 instructions between control processor and issue"}, func(c *kim.FGConfig) { c.Queue = 16 }},
	{Interpretation{"refetch4", "as fgsimt, 4 cycles more after a branch that lanes decide"}, func(c *kim.FGConfig) { c.Refetch += 4 }},
	{Interpretation{"latency", "as fgsimt, multiplications, floating point and divisions take twice as long"}, func(c *kim.FGConfig) { double(c.Results[1:]) }},
	{Interpretation{"hit6", "as fgsimt, 6 cycles to data"}, func(c *kim.FGConfig) { c.Hit = 6 }},
	{Interpretation{"skips", "as fgsimt, units skip groups of eight without active lanes"}, func(c *kim.FGConfig) { c.SkipIdleGroups = true }},
}

// figure9Interpretations returns the interpretations of table 3, and the further interpretations with cycles.
func figure9Interpretations() []Interpretation {
	list := fgsimt()
	for _, r := range fgInterpretations[1:] {
		list = append(list, r.Interpretation)
	}
	return list
}

// fgMachines are the machines of table 3, by column prefix.
var fgMachines = []struct {
	name   string
	affine kim.FGSIMT
}{
	{"", kim.FGSIMT{}},
	{"a", kim.FGSIMT{Arithmetic: true}},
	{"ab", kim.FGSIMT{Arithmetic: true, Branches: true}},
	{"abm", kim.FGSIMT{Arithmetic: true, Branches: true, Memory: true}},
}

// fgKey identifies a replay.
type fgKey structureKey

// fgTimes is the cycles of machines for a benchmark, by interpretation and column prefix, and the structure of its
// values under the headline.
type fgTimes struct {
	interpretations map[string]map[string]kim.Time
	structure       *structure.Structure
}

// fgTimes runs a row's benchmark on FG-SIMT machines.
func (m *Meter) fgTimes(row *Row) (*fgTimes, error) {
	baseline := kimMachines[fgHeadline]
	key := baseline.key(row)
	return measureOnce(m, fgKey(key), func() (*fgTimes, error) {
		var names []string
		var machines []*kim.FGMachine
		for _, r := range fgInterpretations {
			if r.Name != fgHeadline && !m.hasReading("figure9", r.Name) {
				continue
			}
			names = append(names, r.Name)
			for _, f := range fgMachines {
				c := kim.NewFGConfig(f.affine)
				if r.change != nil {
					r.change(&c)
				}
				machines = append(machines, kim.NewFGMachine(c))
			}
		}
		replay := kim.FGReplay(affinetrack.PolicyByName(baseline.policy), machines...)
		if err := m.replay(key, replay); err != nil {
			return nil, err
		}
		times := &fgTimes{map[string]map[string]kim.Time{}, replay.Structure()}
		for i, name := range names {
			byName := map[string]kim.Time{}
			for k, f := range fgMachines {
				byName[f.name] = machines[i*len(fgMachines)+k].Time()
			}
			times.interpretations[name] = byName
		}
		return times, nil
	})
}

// hasReading reports whether the measured table of a name has an interpretation.
func (m *Meter) hasReading(table, name string) bool {
	return slices.ContainsFunc(m.tables, func(t *Table) bool {
		return t.Name == table && slices.ContainsFunc(t.Interpretations, func(r Interpretation) bool { return r.Name == name })
	})
}

// timedTable3 adds the columns with cycles to table 3.
func timedTable3(t *Table) *Table {
	structure := t.Measure
	for _, f := range fgMachines {
		name, head := "exec_K", "exec"
		if f.name != "" {
			name, head = f.name+"_"+name, "+"+f.name
		}
		t.Columns = append(t.Columns, Column{Name: name, Head: [2]string{head, "k cycles"}, Digits: 1, NotRanked: true, Doc: "thousands of cycles of fgsimt, without and with affine execution"})
	}
	t.Columns = append(t.Columns,
		Column{Name: "cycles", Head: [2]string{"cyc/", "inst"}, Digits: 2, Doc: "cycles of fgsimt per thread instruction"},
		Column{Name: "mem_B_per_cyc", Head: [2]string{"mem", "B/c"}, Digits: 1, Doc: "bytes that lanes load and store per cycle"})
	for i := range t.Rows {
		v := t.Rows[i].Values
		v["cycles"] = v["exec_K"] / v["inst_K"]
	}
	t.Measure = func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
		measured, err := structure(m, row, r)
		if err != nil || r.Name != fgHeadline {
			return measured, err
		}
		times, err := m.fgTimes(row)
		if err != nil {
			return nil, err
		}
		byName := times.interpretations[r.Name]
		for _, f := range fgMachines {
			name := "exec_K"
			if f.name != "" {
				name = f.name + "_" + name
			}
			measured[name] = float64(byName[f.name].Cycles) / 1000
		}
		measured["cycles"] = quotient(byName[""].Cycles, times.structure.Total().Lanes)
		measured["mem_B_per_cyc"] = quotient(byName[""].Bytes, byName[""].Cycles)
		return measured, nil
	}
	return t
}

// figure9Table returns speed-ups of FG-SIMT, and lower bounds of the busiest unit.
func figure9Table() *Table {
	t := &Table{
		Name: "figure9", Title: "FG-SIMT with affine execution, speed-up",
		Columns: []Column{
			{Name: "a", Head: [2]string{"", "+a"}, Digits: 2, Neutral: 1, Doc: "cycles of fgsimt over those of fgsimt+a"},
			{Name: "ab", Head: [2]string{"", "+ab"}, Digits: 2, Neutral: 1, Doc: "the same for fgsimt+ab"},
			{Name: "abm", Head: [2]string{"", "+abm"}, Digits: 2, Neutral: 1, Doc: "the same for fgsimt+abm"},
			{Name: "a_bound", WholeColumn: "a", Head: [2]string{"unit", "+a"}, Digits: 2, Neutral: 1, Doc: "a bound for fgsimt+a: the least time of the busiest unit"},
			{Name: "ab_bound", WholeColumn: "ab", Head: [2]string{"unit", "+ab"}, Digits: 2, Neutral: 1, Doc: "the same bound for fgsimt+ab"},
			{Name: "abm_bound", WholeColumn: "abm", Head: [2]string{"unit", "+abm"}, Digits: 2, Neutral: 1, Doc: "the same bound for fgsimt+abm"},
		},
		Rows: figure9Rows(), Interpretations: figure9Interpretations(),
		Note: "The unit columns are bounds without latencies; other policies and other reconvergence have only these. The paper's speed-ups are quotients of the execution times in table 3, which it prints in thousands.",
	}
	t.Measure = func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
		measured := map[string]float64{}
		if slices.ContainsFunc(fgInterpretations, func(f fgInterpretation) bool { return f.Name == r.Name }) {
			times, err := m.fgTimes(row)
			if err != nil {
				return nil, err
			}
			byName := times.interpretations[r.Name]
			for _, f := range fgMachines[1:] {
				measured[f.name] = quotient(byName[""].Cycles, byName[f.name].Cycles)
			}
		}
		if _, ok := kimMachines[r.Name]; ok {
			s, err := m.structureOf(row, r.Name)
			if err != nil {
				return nil, err
			}
			u := kim.ComputeUse(s)
			for _, f := range fgMachines[1:] {
				measured[f.name+"_bound"] = kim.FGSIMT{}.Cycles(u) / f.affine.Cycles(u)
			}
		}
		return measured, nil
	}
	return t
}
