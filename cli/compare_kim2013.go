package cli

// This file is Kim et al., ISCA 2013: what is compared with it, and by which reading, is in
// docs/kim2013.md.

import (
	_ "embed"
	"slices"

	"gemu/affinetrack"
	"gemu/interp"
	"gemu/kernels"
	"gemu/models/kim"
	"gemu/ptx"
)

//go:embed papers/kim2013_table1.csv
var kim2013Table1 []byte

//go:embed papers/kim2013_table3.csv
var kim2013Table3 []byte

func init() {
	papers = append(papers, &paper{
		name: "kim2013", title: "Kim et al., Microarchitectural Mechanisms to Exploit Value Structure in SIMT Architectures, ISCA 2013",
		tables: []*paperTable{
			timedTable1(structureTable(paperTable{
				name: "table1", title: "GP-SIMT benchmarks",
				columns: kimColumns(kimTable1), rows: kimTable1Rows(),
				interpretations: gpsimt("kim", "kim-wide", "kim-const", "kim-leaves", "gemu"),
				note:            "avg iss and warp issue are those of real16 in the table issue.",
			}, kimValues(kimTable1))),
			structureTable(paperTable{
				name: "compiled", title: "table 1 with the benchmarks compiled otherwise",
				columns: kimColumns(kimTable1), rows: kimTable1Rows(),
				interpretations: compilations(),
				printRows:       true, onlyIfNamed: true,
				note: "What the sources themselves say stays: loops that they want unrolled, and conditions without an if.",
			}, kimValues(kimTable1)),
			timedTable3(structureTable(paperTable{
				name: "table3", title: "FG-SIMT benchmarks",
				columns: kimColumns(kimTable3), rows: kimTable3Rows(),
				interpretations: fgsimt(),
				note:            "Not compared: mcore, and power, which takes silicon.",
			}, kimValues(kimTable3))),
			issueTable(),
			figure5Table(),
			figure6Table(),
			figure9Table(),
			gpUses(),
			fgUses(),
			{
				name: "figure2", title: "structure in FG-SIMT kernels, an infinitely long warp with ideal reconvergence",
				columns: figure2Columns(),
				rows:    []paperRow{{name: "sgemm", workload: "sgemm", size: 64}, {name: "viterbi", workload: "viterbi", size: 16}, {name: "bfs", workload: "bfs", size: 4096}, {name: "mfilt", workload: "mfilt", size: 64}},
				interpretations: []paperInterpretation{
					{"launch", "threads of the launch that execute an instruction for the n-th time, n counted by thread, execute it together"},
					{"threads", "as launch, each instruction counted once for each thread that executes it"},
					{"block", "as launch, with the threads of a block for those of the launch"},
				},
				measure: measureFigure2,
				note:    "The paper has bars and no numbers; it says of sgemm and viterbi that they have significant control structure, of bfs and mfilt that they have much less; of all but bfs that they have significant memory-access structure; of viterbi and mfilt that values in memory are well structured.",
			},
		},
	})
}

// modelMachine is what counts the structure of values, of which programs.
type modelMachine struct {
	policy     string // of affinetrack
	reconverge string // where lanes meet
	compiled   string // one of kernels.Compilations; "": as the library has them
}

// kimMachines are those of the readings of tables that show the structure of values, by readings' names.
var kimMachines = map[string]modelMachine{}

// kimInterpretation is a reading of a machine.
func kimInterpretation(name, doc string, m modelMachine) paperInterpretation {
	kimMachines[name] = m
	return paperInterpretation{name, doc}
}

// gpsimt are readings of the GP-SIMT machine (section 3.1) by name, each that of a policy on a stack whose
// lanes wait at the kernel's end. On one where they leave, kim is called kim-leaves.
func gpsimt(names ...string) (list []paperInterpretation) {
	for _, name := range names {
		if name == "kim-leaves" {
			list = append(list, kimInterpretation(name, "as kim, with lanes that have ended nowhere", modelMachine{policy: "kim", reconverge: "stack"}))
			continue
		}
		list = append(list, kimInterpretation(name, affinetrack.PolicyByName(name).Doc, modelMachine{policy: name, reconverge: "stack-wait"}))
	}
	return list
}

// fgsimt are the readings of the FG-SIMT machine (section 3.2), likewise.
func fgsimt() (list []paperInterpretation) {
	for _, name := range []string{"fgsimt", "fgsimt-narrow", "fgsimt-wide", "fgsimt-const"} {
		list = append(list, kimInterpretation(name, affinetrack.PolicyByName(name).Doc, modelMachine{policy: name, reconverge: "pc2-wait"}))
	}
	return append(list, kimInterpretation("fgsimt-leaves", "as fgsimt, with lanes that have ended nowhere", modelMachine{policy: "fgsimt", reconverge: "pc2"}))
}

// compilations are readings of kim by how the benchmarks are compiled.
func compilations() []paperInterpretation {
	list := []paperInterpretation{kimInterpretation("compiled", "as kim, of the benchmarks as table1 has them, compiled by clang 19 at -O2", modelMachine{policy: "kim", reconverge: "stack-wait"})}
	for _, c := range kernels.Compilations {
		list = append(list, kimInterpretation(c.Name, "as kim, of the benchmarks "+c.Doc, modelMachine{policy: "kim", reconverge: "stack-wait", compiled: c.Name}))
	}
	return list
}

// kimColumn is a column of a table of the paper that the structure of launches gives, in percent
// but for the first two of table 1.
type kimColumn struct {
	paperColumn
	ours func(s *interp.Structure) float64
}

// summaryColumn is a column that gemu's summary has.
func summaryColumn(of func(t interp.Summary) float64) func(s *interp.Structure) float64 {
	return func(s *interp.Structure) float64 { return of(s.Summary()) }
}

var kimTable1 = []kimColumn{
	// GPGPU-Sim counts instructions of threads.
	{paperColumn{name: "dyn_inst_M", head: [2]string{"dyn", "inst"}, digits: 1, notRanked: true, doc: "instructions of threads, in millions"}, func(s *interp.Structure) float64 { return float64(s.Total().Lanes) / 1e6 }},
	{paperColumn{name: "act_thds", head: [2]string{"act", "thds"}, digits: 1, doc: "active lanes of an instruction, in the mean"}, summaryColumn(func(t interp.Summary) float64 { return t.ActiveLanes })},
	{paperColumn{name: "ll", head: [2]string{"", "ll"}, doc: "multiplications, floating point, special functions and divisions, of instructions"}, summaryColumn(func(t interp.Summary) float64 { return t.LongLatency })},
	{paperColumn{name: "ctrl", head: [2]string{"", "ctrl"}, doc: "branches, calls, returns and exits, of instructions"}, summaryColumn(func(t interp.Summary) float64 { return t.Control })},
	{paperColumn{name: "mem", head: [2]string{"", "mem"}, doc: "loads, stores and atomics, of instructions"}, summaryColumn(func(t interp.Summary) float64 { return t.Memory })},
	{paperColumn{name: "div", head: [2]string{"", "div"}, doc: "executed by part of the warp's threads, of instructions"}, summaryColumn(func(t interp.Summary) float64 { return t.Diverged })},
	{paperColumn{name: "aff_inst", head: [2]string{"aff", "inst"}, doc: "results that were all written compactly, of instructions"}, summaryColumn(func(t interp.Summary) float64 { return t.Affine })},
	{paperColumn{name: "supp_aff", head: [2]string{"supp", "aff"}, doc: "suppressed by divergence or a guard, of what could have been written compactly"}, summaryColumn(func(t interp.Summary) float64 { return t.Suppressed })},
	{paperColumn{name: "exp_inst", head: [2]string{"exp", "inst"}, doc: "lazy expansions, over instructions"}, summaryColumn(func(t interp.Summary) float64 { return t.Expansion })},
	{paperColumn{name: "aff_rds", head: [2]string{"aff", "rds"}, doc: "compact, of register operands"}, summaryColumn(func(t interp.Summary) float64 { return t.ReadsSaved })},
	{paperColumn{name: "aff_wrs", head: [2]string{"aff", "wrs"}, doc: "compact, less expansions, of register results"}, summaryColumn(func(t interp.Summary) float64 { return t.WritesSaved })},
	{paperColumn{name: "aff_bra", head: [2]string{"aff", "bra"}, doc: "decided by compact values, of conditional branches"}, summaryColumn(func(t interp.Summary) float64 { return t.Branches })},
	{paperColumn{name: "aff_bra_not_uniform", wholeColumn: "aff_bra", head: [2]string{"aff", "bra-"}, doc: "decided by comparing an affine value, of conditional branches"}, func(s *interp.Structure) float64 { t := s.Total(); return share(t.Affine, t.Branches) }},
	{paperColumn{name: "aff_mem", head: [2]string{"aff", "mem"}, doc: "at compact addresses, of loads not of parameters"}, summaryColumn(func(t interp.Summary) float64 { return t.Loads })},
	{paperColumn{name: "aff_mem_not_uniform", wholeColumn: "aff_mem", head: [2]string{"aff", "mem-"}, doc: "at affine addresses that are not uniform, of loads not of parameters"}, func(s *interp.Structure) float64 {
		b := s.Breakdown()
		return share(b.LoadAddresses.Affine, b.LoadAddresses.Total())
	}},
}

var kimTable3 = []kimColumn{
	{paperColumn{name: "act_thds", head: [2]string{"act", "thds"}, digits: 1, doc: "active lanes of an instruction, in the mean"}, summaryColumn(func(t interp.Summary) float64 { return t.ActiveLanes })},
	{paperColumn{name: "int", head: [2]string{"", "int"}, doc: "what is not floating point, control or memory, of instructions"}, func(s *interp.Structure) float64 { return kimMix(s).share(kimInt) }},
	{paperColumn{name: "fp", head: [2]string{"", "fp"}, doc: "floating point, of instructions"}, func(s *interp.Structure) float64 { return kimMix(s).share(kimFP) }},
	{paperColumn{name: "ctrl", head: [2]string{"", "ctrl"}, doc: "branches, calls, returns and exits, of instructions"}, func(s *interp.Structure) float64 { return kimMix(s).share(kimControl) }},
	{paperColumn{name: "mem", head: [2]string{"", "mem"}, doc: "loads, stores and atomics, of instructions"}, func(s *interp.Structure) float64 { return kimMix(s).share(kimMemory) }},
	{paperColumn{name: "shared_loads", head: [2]string{"SL", "inst"}, doc: "loads of parameters, of instructions"}, func(s *interp.Structure) float64 { m := kimMix(s); return share(m.params, m.all()) }},
	{paperColumn{name: "a_aff_inst", head: [2]string{"+a", "inst"}, doc: "results that were all written compactly, of instructions, comparisons left out"}, func(s *interp.Structure) float64 { m := kimMix(s); return share(m.compact-m.compares, m.all()) }},
	{paperColumn{name: "a_aff_rds", head: [2]string{"+a", "rds"}, doc: "compact, of register operands"}, summaryColumn(func(t interp.Summary) float64 { return t.ReadsSaved })},
	{paperColumn{name: "a_aff_wrs", head: [2]string{"+a", "wrs"}, doc: "compact, less expansions, of register results"}, summaryColumn(func(t interp.Summary) float64 { return t.WritesSaved })},
	{paperColumn{name: "ab_aff_inst", head: [2]string{"+ab", "inst"}, doc: "results that were all written compactly, of instructions"}, func(s *interp.Structure) float64 { m := kimMix(s); return share(m.compact, m.all()) }},
	{paperColumn{name: "abm_aff_mem", head: [2]string{"+abm", "mem"}, doc: "loads with unit stride, of loads and stores not of parameters"}, func(s *interp.Structure) float64 {
		b := s.Breakdown()
		return share(b.LoadAddresses.Affine, b.LoadAddresses.Total()+b.StoreAddresses.Total())
	}},
	{paperColumn{name: "abm_aff_mem_loads", wholeColumn: "abm_aff_mem", head: [2]string{"+abm", "lds"}, doc: "with unit stride, of loads not of parameters"}, func(s *interp.Structure) float64 {
		b := s.Breakdown()
		return share(b.LoadAddresses.Affine, b.LoadAddresses.Total())
	}},
}

func kimColumns(columns []kimColumn) (list []paperColumn) {
	for i := range columns {
		list = append(list, columns[i].paperColumn)
	}
	return list
}

// kimKind is what table 3 divides instructions into.
type kimKind int

const (
	kimInt kimKind = iota
	kimFP
	kimControl
	kimMemory
	kimKinds
)

// instructionMix is the instructions that warps have executed, by what they are.
type instructionMix struct {
	kinds             [kimKinds]int64
	params            int64 // loads of parameters
	compact, compares int64 // all results were written compactly; … of comparisons
}

func (m *instructionMix) all() (n int64) {
	for _, k := range m.kinds {
		n += k
	}
	return n
}

func (m *instructionMix) share(k kimKind) float64 { return share(m.kinds[k], m.all()) }

// kimMix divides the instructions of a structure.
func kimMix(s *interp.Structure) *instructionMix {
	m := &instructionMix{}
	for i := range s.Instrs {
		instr := &s.Instrs[i]
		m.kinds[kimKindOf(instr.Instr)] += instr.Execs
		m.compact += instr.Compact
		if instr.Form.Affine == ptx.AffineCompare {
			m.compares += instr.Compact
		}
		if space, _ := instr.Space(); space == ptx.Param && instr.Form.Affine == ptx.AffineLoad {
			m.params += instr.Execs
		}
	}
	return m
}

// kimKindOf is what an instruction is. Divisions of integers share a unit with special functions.
func kimKindOf(instr *ptx.Instr) kimKind {
	switch instr.Form.Class {
	case ptx.ClassControl:
		return kimControl
	case ptx.ClassMemory, ptx.ClassTexture:
		return kimMemory
	case ptx.ClassFP:
		return kimFP
	case ptx.ClassSFU:
		if !instr.OperandType(0).IsInt() {
			return kimFP
		}
	}
	return kimInt
}

// structureKey says how a benchmark was run.
type structureKey struct {
	workload   string // and how it is compiled
	size       int
	reconverge string
}

// key is how a machine runs a row's benchmark.
func (m modelMachine) key(row *paperRow) structureKey {
	k := structureKey{row.workload, row.size, m.reconverge}
	if m.compiled != "" {
		k.workload += "/" + m.compiled
	}
	return k
}

// structureTable makes a table of what ours gives of the structure of a benchmark's values.
func structureTable(t paperTable, ours func(s *interp.Structure) map[string]float64) *paperTable {
	t.measure = func(m *meter, row *paperRow, r *paperInterpretation) (map[string]float64, error) {
		s, err := m.structureOf(row, r.name)
		if err != nil {
			return nil, err
		}
		return ours(s), nil
	}
	return &t
}

// structureOf is what a row's benchmark shows under a reading that is of a machine. Those of the headlines watch what
// is replayed for its time, which is the same launches.
func (m *meter) structureOf(row *paperRow, reading string) (*interp.Structure, error) {
	switch reading {
	case gpHeadline:
		times, err := m.gpTimes(row)
		if err != nil {
			return nil, err
		}
		return times.structure, nil
	case fgHeadline:
		times, err := m.fgTimes(row)
		if err != nil {
			return nil, err
		}
		return times.structure, nil
	}
	baseline := kimMachines[reading]
	all, err := m.structure(baseline.key(row))
	return all[baseline.policy], err
}

// structure is what a benchmark shows that was run so, by policies' names. All policies that tables have
// of it watch the same launches.
func (m *meter) structure(key structureKey) (map[string]*interp.Structure, error) {
	return measureOnce(m, key, func() (map[string]*interp.Structure, error) {
		j, err := m.flags(key.workload, key.size).open(m.app, m.app.stderr)
		if err != nil {
			return nil, err
		}
		sums := map[string]*interp.Structure{}
		for _, name := range m.policies(key) {
			sums[name] = &interp.Structure{Policy: affinetrack.PolicyByName(name)}
		}
		var probes []*interp.StructureProbe // of the launch under way
		end := func() {
			for _, p := range probes {
				sums[p.Name].Add(p.Structure())
			}
			probes = nil
		}
		err = j.run(m.app, func(l *interp.Launch) {
			end()
			l.Mode, l.Reconverge = interp.Vector, interp.ReconvergerNamed(key.reconverge)
			for _, s := range sums {
				probe := interp.NewStructureProbe(s.Policy)
				probes, l.Probes = append(probes, probe), append(l.Probes, probe)
			}
		})
		if err != nil {
			return nil, err
		}
		end()
		return sums, nil
	})
}

// policies are those that tables have of a benchmark that was run so, but for the headlines'.
func (m *meter) policies(key structureKey) (names []string) {
	for _, t := range m.tables {
		for _, r := range t.interpretations {
			of, ok := kimMachines[r.name]
			if ok && r.name != gpHeadline && r.name != fgHeadline && !slices.Contains(names, of.policy) && slices.ContainsFunc(t.rows, func(o paperRow) bool { return of.key(&o) == key }) {
				names = append(names, of.policy)
			}
		}
	}
	return names
}

// kimValues gives the columns of a table.
func kimValues(columns []kimColumn) func(s *interp.Structure) map[string]float64 {
	return func(s *interp.Structure) map[string]float64 {
		measured := map[string]float64{}
		for i := range columns {
			measured[columns[i].name] = columns[i].ours(s)
		}
		return measured
	}
}

// bareRows are rows without the paper's values, of a figure that has none.
func bareRows(rows []paperRow) []paperRow {
	for i := range rows {
		rows[i].values = nil
	}
	return rows
}

// kimTable1Rows are the benchmarks of table 1.
func kimTable1Rows() []paperRow {
	return readRows(kim2013Table1, map[string]string{"cutcp": "cp", "kmeans": "kmeansum"})
}

// kimTable3Rows are the benchmarks of table 3.
func kimTable3Rows() []paperRow {
	return readRows(kim2013Table3, map[string]string{"bilateral": "bilat"})
}

// figure9Rows have the speed-ups that follow from the execution times of table 3.
func figure9Rows() []paperRow {
	rows := kimTable3Rows()
	for i := range rows {
		v := rows[i].values
		rows[i].values = map[string]float64{"a": v["exec_K"] / v["a_exec_K"], "ab": v["exec_K"] / v["ab_exec_K"], "abm": v["exec_K"] / v["abm_exec_K"]}
	}
	return rows
}

// A bar of figure 2 is two columns: what is uniform of it, and what is affine; the rest is generic.
var figure2Bars = []struct {
	name, head, doc string
	sharesOf        func(g *kim.Groups) affinetrack.ClassCounts
}{
	{"lda", "LDA", "addresses of loads", func(g *kim.Groups) affinetrack.ClassCounts { return g.LoadAddresses }},
	{"sta", "STA", "addresses of stores", func(g *kim.Groups) affinetrack.ClassCounts { return g.StoreAddresses }},
	{"ldd", "LDD", "loaded values", func(g *kim.Groups) affinetrack.ClassCounts { return g.LoadData }},
	{"std", "STD", "stored values", func(g *kim.Groups) affinetrack.ClassCounts { return g.StoreData }},
	{"rrd", "RRD", "register operands", func(g *kim.Groups) affinetrack.ClassCounts { return g.RegisterReads }},
	{"rwr", "RWR", "register results", func(g *kim.Groups) affinetrack.ClassCounts { return g.RegisterWrites }},
	{"inst", "INST", "instructions", func(g *kim.Groups) affinetrack.ClassCounts { return g.Instructions }},
}

func figure2Columns() []paperColumn {
	list := []paperColumn{{name: "active", head: [2]string{"act", "%"}, doc: "threads that execute an instruction together, of the launch's, in the mean", notRanked: true}}
	for _, b := range figure2Bars {
		list = append(list,
			paperColumn{name: b.name + "_uniform", head: [2]string{b.head, "u"}, doc: b.doc + ": uniform", notRanked: true, stack: b.doc, series: "uniform"},
			paperColumn{name: b.name + "_affine", head: [2]string{"", "a"}, doc: b.doc + ": affine", notRanked: true, stack: b.doc, series: "affine"})
	}
	return list
}

// figure2Key says how a benchmark of figure 2 was run.
type figure2Key struct {
	workload string
	size     int
	blocks   bool
}

// measureFigure2 measures the bars of figure 2.
func measureFigure2(m *meter, row *paperRow, r *paperInterpretation) (map[string]float64, error) {
	key := figure2Key{row.workload, row.size, r.name == "block"}
	f, err := measureOnce(m, key, func() (*kim.Figure2, error) {
		f := &kim.Figure2{Blocks: key.blocks}
		j, err := m.flags(row.workload, row.size).open(m.app, m.app.stderr, f)
		if err != nil {
			return nil, err
		}
		return f, j.run(m.app, func(l *interp.Launch) { l.Mode = interp.Vector })
	})
	if err != nil {
		return nil, err
	}
	g := f.Groups()
	if r.name == "threads" {
		g = f.Threads()
	}
	measured := map[string]float64{"active": 100 * g.Parts / float64(max(g.Count(), 1))}
	for _, b := range figure2Bars {
		s := b.sharesOf(&g)
		measured[b.name+"_uniform"], measured[b.name+"_affine"] = share(s.Uniform, s.Total()), share(s.Affine, s.Total())
	}
	return measured, nil
}
