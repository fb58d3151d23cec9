package papers

// This file has Kim et al., ISCA 2013. docs/kim2013.md defines the columns and interpretations.

import (
	_ "embed"
	"slices"

	"gemu/affinetrack"
	"gemu/interp"
	"gemu/kernels"
	"gemu/models/kim"
	"gemu/ptx"
	"gemu/structure"
)

//go:embed data/kim2013_table1.csv
var kim2013Table1 []byte

//go:embed data/kim2013_table3.csv
var kim2013Table3 []byte

// kim2013 returns the paper.
func kim2013() *Paper {
	return &Paper{
		Name: "kim2013", Title: "Kim et al., Microarchitectural Mechanisms to Exploit Value Structure in SIMT Architectures, ISCA 2013",
		Tables: []*Table{
			timedTable1(structureTable(Table{
				Name: "table1", Title: "GP-SIMT benchmarks",
				Columns: kimColumns(kimTable1), Rows: kimTable1Rows(),
				Interpretations: gpsimt("kim", "kim-wide", "kim-const", "kim-leaves", "gemu"),
				Note:            "avg iss and warp issue are the values of real16 in the table issue.",
			}, kimValues(kimTable1))),
			structureTable(Table{
				Name: "compiled", Title: "table 1 with other compilations of the benchmarks",
				Columns: kimColumns(kimTable1), Rows: kimTable1Rows(),
				Interpretations: compilations(),
				PrintRows:       true, OnlyIfNamed: true,
				Note: "Loops that the sources unroll, and conditions without an if, stay as they are.",
			}, kimValues(kimTable1)),
			timedTable3(structureTable(Table{
				Name: "table3", Title: "FG-SIMT benchmarks",
				Columns: kimColumns(kimTable3), Rows: kimTable3Rows(),
				Interpretations: fgsimt(),
				Note:            "Not compared: mcore; and power, which cannot be measured without a chip.",
			}, kimValues(kimTable3))),
			issueTable(),
			figure5Table(),
			figure6Table(),
			figure9Table(),
			gpUses(),
			fgUses(),
			{
				Name: "figure2", Title: "value structure in FG-SIMT kernels, on an infinitely long warp with ideal reconvergence",
				Columns: figure2Columns(),
				Rows:    []Row{{Name: "sgemm", Workload: "sgemm", Size: 64}, {Name: "viterbi", Workload: "viterbi", Size: 16}, {Name: "bfs", Workload: "bfs", Size: 4096}, {Name: "mfilt", Workload: "mfilt", Size: 64}},
				Interpretations: []Interpretation{
					{"launch", "threads of the launch that execute an instruction for the n-th time, n counted by thread, execute it together"},
					{"threads", "as launch, each instruction counted once for each thread that executes it"},
					{"block", "as launch, with the threads of a block instead of the launch"},
				},
				Measure: measureFigure2,
				Note:    "The paper has bars without numbers. It says that sgemm and viterbi have significant control structure, and bfs and mfilt much less; that all but bfs have significant memory-access structure; and that values in memory are well structured in viterbi and mfilt.",
			},
		},
	}
}

// modelMachine is a policy, a reconvergence policy, and a compilation of the benchmarks.
type modelMachine struct {
	policy     string // policy of package affinetrack
	reconverge string // reconvergence policy
	compiled   string // an element of kernels.Compilations; "": the library's own
}

// kimMachines are the machines of interpretations, by the interpretations' names.
var kimMachines = func() map[string]modelMachine {
	machines := map[string]modelMachine{
		"kim-leaves":    {policy: "kim", reconverge: "stack"},
		"fgsimt-leaves": {policy: "fgsimt", reconverge: "pc2"},
		"compiled":      {policy: "kim", reconverge: "stack-wait"},
	}
	for _, policy := range []string{"kim", "kim-wide", "kim-const", "gemu"} {
		machines[policy] = modelMachine{policy: policy, reconverge: "stack-wait"}
	}
	for _, policy := range []string{"fgsimt", "fgsimt-narrow", "fgsimt-wide", "fgsimt-const"} {
		machines[policy] = modelMachine{policy: policy, reconverge: "pc2-wait"}
	}
	for _, c := range kernels.Compilations {
		machines[c.Name] = modelMachine{policy: "kim", reconverge: "stack-wait", compiled: c.Name}
	}
	return machines
}()

// policyInterpretation returns the interpretation that is a policy of the same name.
func policyInterpretation(name string) Interpretation {
	return Interpretation{name, affinetrack.PolicyByName(name).Doc}
}

// gpsimt returns interpretations on the GP-SIMT machine (section 3.1) by name. Each is a policy, on a reconvergence stack on which
// exited lanes wait at the kernel's end. "kim-leaves" is the policy kim on a stack that they leave.
func gpsimt(names ...string) (list []Interpretation) {
	for _, name := range names {
		if name == "kim-leaves" {
			list = append(list, Interpretation{name, "as kim, but lanes do not wait at the end of the kernel"})
			continue
		}
		list = append(list, policyInterpretation(name))
	}
	return list
}

// fgsimt returns the interpretations on the FG-SIMT machine (section 3.2), likewise.
func fgsimt() (list []Interpretation) {
	for _, name := range []string{"fgsimt", "fgsimt-narrow", "fgsimt-wide", "fgsimt-const"} {
		list = append(list, policyInterpretation(name))
	}
	return append(list, Interpretation{"fgsimt-leaves", "as fgsimt, but lanes do not wait at the end of the kernel"})
}

// compilations returns interpretations of kim by the compilation of the benchmarks.
func compilations() []Interpretation {
	list := []Interpretation{{"compiled", "as kim, with the benchmarks of table1, compiled by clang 19 at -O2"}}
	for _, c := range kernels.Compilations {
		list = append(list, Interpretation{c.Name, "as kim, with the benchmarks " + c.Doc})
	}
	return list
}

// kimColumn is a column computed from the value structure of launches, in percent except for the first two columns of
// table 1.
type kimColumn struct {
	Column
	ours func(s *structure.Structure) float64
}

// summaryColumn returns a column of the structure's summary.
func summaryColumn(of func(t structure.Summary) float64) func(s *structure.Structure) float64 {
	return func(s *structure.Structure) float64 { return of(s.Summary()) }
}

var kimTable1 = []kimColumn{
	// GPGPU-Sim counts instructions of threads.
	{Column{Name: "dyn_inst_M", Head: [2]string{"dyn", "inst"}, Digits: 1, NotRanked: true, Doc: "thread instructions, in millions"}, func(s *structure.Structure) float64 { return float64(s.Total().Lanes) / 1e6 }},
	{Column{Name: "act_thds", Head: [2]string{"act", "thds"}, Digits: 1, Doc: "active lanes of an instruction, on average"}, summaryColumn(func(t structure.Summary) float64 { return t.ActiveLanes })},
	{Column{Name: "ll", Head: [2]string{"", "ll"}, Doc: "multiplications, floating point, special functions and divisions, of instructions"}, summaryColumn(func(t structure.Summary) float64 { return t.LongLatency })},
	{Column{Name: "ctrl", Head: [2]string{"", "ctrl"}, Doc: "branches, calls, returns and exits, of instructions"}, summaryColumn(func(t structure.Summary) float64 { return t.Control })},
	{Column{Name: "mem", Head: [2]string{"", "mem"}, Doc: "loads, stores and atomics, of instructions"}, summaryColumn(func(t structure.Summary) float64 { return t.Memory })},
	{Column{Name: "div", Head: [2]string{"", "div"}, Doc: "executed by part of the warp's threads, of instructions"}, summaryColumn(func(t structure.Summary) float64 { return t.Diverged })},
	{Column{Name: "aff_inst", Head: [2]string{"aff", "inst"}, Doc: "results that were all written compactly, of instructions"}, summaryColumn(func(t structure.Summary) float64 { return t.Affine })},
	{Column{Name: "supp_aff", Head: [2]string{"supp", "aff"}, Doc: "suppressed by divergence or a guard, of results that could be compact"}, summaryColumn(func(t structure.Summary) float64 { return t.Suppressed })},
	{Column{Name: "exp_inst", Head: [2]string{"exp", "inst"}, Doc: "lazy expansions, over instructions"}, summaryColumn(func(t structure.Summary) float64 { return t.Expansion })},
	{Column{Name: "aff_rds", Head: [2]string{"aff", "rds"}, Doc: "compact, of register operands"}, summaryColumn(func(t structure.Summary) float64 { return t.ReadsSaved })},
	{Column{Name: "aff_wrs", Head: [2]string{"aff", "wrs"}, Doc: "compact, less expansions, of register results"}, summaryColumn(func(t structure.Summary) float64 { return t.WritesSaved })},
	{Column{Name: "aff_bra", Head: [2]string{"aff", "bra"}, Doc: "decided by compact values, of conditional branches"}, summaryColumn(func(t structure.Summary) float64 { return t.Branches })},
	{Column{Name: "aff_bra_not_uniform", WholeColumn: "aff_bra", Head: [2]string{"aff", "bra-"}, Doc: "decided by comparing an affine value, of conditional branches"}, func(s *structure.Structure) float64 { t := s.Total(); return share(t.Affine, t.Branches) }},
	{Column{Name: "aff_mem", Head: [2]string{"aff", "mem"}, Doc: "at compact addresses, of loads not of parameters"}, summaryColumn(func(t structure.Summary) float64 { return t.Loads })},
	{Column{Name: "aff_mem_not_uniform", WholeColumn: "aff_mem", Head: [2]string{"aff", "mem-"}, Doc: "at affine addresses that are not uniform, of loads not of parameters"}, func(s *structure.Structure) float64 {
		b := s.Breakdown()
		return share(b.LoadAddresses.Affine, b.LoadAddresses.Total())
	}},
}

var kimTable3 = []kimColumn{
	{Column{Name: "act_thds", Head: [2]string{"act", "thds"}, Digits: 1, Doc: "active lanes of an instruction, on average"}, summaryColumn(func(t structure.Summary) float64 { return t.ActiveLanes })},
	{Column{Name: "int", Head: [2]string{"", "int"}, Doc: "all other instructions: not floating point, control or memory"}, func(s *structure.Structure) float64 { return kimMix(s).share(kimInt) }},
	{Column{Name: "fp", Head: [2]string{"", "fp"}, Doc: "floating point, of instructions"}, func(s *structure.Structure) float64 { return kimMix(s).share(kimFP) }},
	{Column{Name: "ctrl", Head: [2]string{"", "ctrl"}, Doc: "branches, calls, returns and exits, of instructions"}, func(s *structure.Structure) float64 { return kimMix(s).share(kimControl) }},
	{Column{Name: "mem", Head: [2]string{"", "mem"}, Doc: "loads, stores and atomics, of instructions"}, func(s *structure.Structure) float64 { return kimMix(s).share(kimMemory) }},
	{Column{Name: "shared_loads", Head: [2]string{"SL", "inst"}, Doc: "loads of parameters, of instructions"}, func(s *structure.Structure) float64 { m := kimMix(s); return share(m.params, m.all()) }},
	{Column{Name: "a_aff_inst", Head: [2]string{"+a", "inst"}, Doc: "results that were all written compactly, of instructions, comparisons left out"}, func(s *structure.Structure) float64 { m := kimMix(s); return share(m.compact-m.compares, m.all()) }},
	{Column{Name: "a_aff_rds", Head: [2]string{"+a", "rds"}, Doc: "compact, of register operands"}, summaryColumn(func(t structure.Summary) float64 { return t.ReadsSaved })},
	{Column{Name: "a_aff_wrs", Head: [2]string{"+a", "wrs"}, Doc: "compact, less expansions, of register results"}, summaryColumn(func(t structure.Summary) float64 { return t.WritesSaved })},
	{Column{Name: "ab_aff_inst", Head: [2]string{"+ab", "inst"}, Doc: "results that were all written compactly, of instructions"}, func(s *structure.Structure) float64 { m := kimMix(s); return share(m.compact, m.all()) }},
	{Column{Name: "abm_aff_mem", Head: [2]string{"+abm", "mem"}, Doc: "loads with unit stride, of loads and stores not of parameters"}, func(s *structure.Structure) float64 {
		b := s.Breakdown()
		return share(b.LoadAddresses.Affine, b.LoadAddresses.Total()+b.StoreAddresses.Total())
	}},
	{Column{Name: "abm_aff_mem_loads", WholeColumn: "abm_aff_mem", Head: [2]string{"+abm", "lds"}, Doc: "with unit stride, of loads not of parameters"}, func(s *structure.Structure) float64 {
		b := s.Breakdown()
		return share(b.LoadAddresses.Affine, b.LoadAddresses.Total())
	}},
}

func kimColumns(columns []kimColumn) (list []Column) {
	for i := range columns {
		list = append(list, columns[i].Column)
	}
	return list
}

// kimKind is a class of instructions in table 3.
type kimKind int

const (
	kimInt kimKind = iota
	kimFP
	kimControl
	kimMemory
	kimKinds
)

// instructionMix counts the executed instructions of warps by class.
type instructionMix struct {
	kinds             [kimKinds]int64
	params            int64 // loads of parameters
	compact, compares int64 // instructions with all results written compactly; comparisons among them
}

func (m *instructionMix) all() (n int64) {
	for _, k := range m.kinds {
		n += k
	}
	return n
}

func (m *instructionMix) share(k kimKind) float64 { return share(m.kinds[k], m.all()) }

// kimMix counts the instructions of a structure by class.
func kimMix(s *structure.Structure) *instructionMix {
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

// kimKindOf returns the class of an instruction. Integer divisions share a unit with special functions.
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

// structureKey identifies a run of a benchmark.
type structureKey struct {
	workload   string // with its compilation
	size       int
	reconverge string
}

// key returns the run of a row's benchmark for a machine.
func (m modelMachine) key(row *Row) structureKey {
	k := structureKey{row.Workload, row.Size, m.reconverge}
	if m.compiled != "" {
		k.workload += "/" + m.compiled
	}
	return k
}

// structureTable makes a table whose columns ours computes from the structure of a benchmark's values.
func structureTable(t Table, ours func(s *structure.Structure) map[string]float64) *Table {
	t.Measure = func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
		s, err := m.structureOf(row, r.Name)
		if err != nil {
			return nil, err
		}
		return ours(s), nil
	}
	return &t
}

// structureOf returns the structure of a row's benchmark under an interpretation that is a machine. The headlines use
// the launches that are replayed for their cycles.
func (m *Meter) structureOf(row *Row, reading string) (*structure.Structure, error) {
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

// structure returns the structures of a run, by policy. All policies that the tables need watch the same launches.
func (m *Meter) structure(key structureKey) (map[string]*structure.Structure, error) {
	return measureOnce(m, key, func() (map[string]*structure.Structure, error) {
		sums := map[string]*structure.Structure{}
		for _, name := range m.policies(key) {
			sums[name] = &structure.Structure{Policy: affinetrack.PolicyByName(name)}
		}
		var probes []*structure.Probe // probes of the launch in progress
		end := func() {
			for _, p := range probes {
				sums[p.Name].Add(p.Structure())
			}
			probes = nil
		}
		err := m.run(key.workload, key.size, func(l *interp.Launch) {
			end()
			l.Reconverge = interp.ReconvergerNamed(key.reconverge)
			for _, s := range sums {
				observer := structure.NewProbe(s.Policy)
				probes, l.Probes = append(probes, observer), append(l.Probes, observer)
			}
		})
		if err != nil {
			return nil, err
		}
		end()
		return sums, nil
	})
}

// policies returns the policies that the tables need of a run, without the headlines'.
func (m *Meter) policies(key structureKey) (names []string) {
	for _, t := range m.tables {
		for _, r := range t.Interpretations {
			of, ok := kimMachines[r.Name]
			if ok && r.Name != gpHeadline && r.Name != fgHeadline && !slices.Contains(names, of.policy) && slices.ContainsFunc(t.Rows, func(o Row) bool { return of.key(&o) == key }) {
				names = append(names, of.policy)
			}
		}
	}
	return names
}

// kimValues returns a function that computes the columns of a table.
func kimValues(columns []kimColumn) func(s *structure.Structure) map[string]float64 {
	return func(s *structure.Structure) map[string]float64 {
		measured := map[string]float64{}
		for i := range columns {
			measured[columns[i].Name] = columns[i].ours(s)
		}
		return measured
	}
}

// bareRows removes the paper's values from rows, for a figure without numbers.
func bareRows(rows []Row) []Row {
	for i := range rows {
		rows[i].Values = nil
	}
	return rows
}

// kimTable1Rows returns the benchmarks of table 1.
func kimTable1Rows() []Row {
	return readRows(kim2013Table1, map[string]string{"cutcp": "cp", "kmeans": "kmeansum"})
}

// kimTable3Rows returns the benchmarks of table 3.
func kimTable3Rows() []Row {
	return readRows(kim2013Table3, map[string]string{"bilateral": "bilat"})
}

// figure9Rows returns the speed-ups that follow from the execution times of table 3.
func figure9Rows() []Row {
	rows := kimTable3Rows()
	for i := range rows {
		v := rows[i].Values
		rows[i].Values = map[string]float64{"a": v["exec_K"] / v["a_exec_K"], "ab": v["exec_K"] / v["ab_exec_K"], "abm": v["exec_K"] / v["abm_exec_K"]}
	}
	return rows
}

// figure2Bars are the bars of figure 2. A bar is two columns, its uniform and its affine share; the rest is generic.
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

func figure2Columns() []Column {
	list := []Column{{Name: "active", Head: [2]string{"act", "%"}, Doc: "threads that execute an instruction together, share of the threads of the launch, on average", NotRanked: true}}
	for _, b := range figure2Bars {
		list = append(list,
			Column{Name: b.name + "_uniform", Head: [2]string{b.head, "u"}, Doc: b.doc + ": uniform", NotRanked: true, Stack: b.doc, Series: "uniform"},
			Column{Name: b.name + "_affine", Head: [2]string{"", "a"}, Doc: b.doc + ": affine", NotRanked: true, Stack: b.doc, Series: "affine"})
	}
	return list
}

// figure2Key identifies a run of a benchmark of figure 2.
type figure2Key struct {
	workload string
	size     int
	blocks   bool
}

// measureFigure2 measures the bars of figure 2.
func measureFigure2(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
	key := figure2Key{row.Workload, row.Size, r.Name == "block"}
	f, err := measureOnce(m, key, func() (*kim.Figure2, error) {
		f := &kim.Figure2{Blocks: key.blocks}
		return f, m.run(row.Workload, row.Size, func(*interp.Launch) {}, f)
	})
	if err != nil {
		return nil, err
	}
	g := f.Groups()
	if r.Name == "threads" {
		g = f.Threads()
	}
	measured := map[string]float64{"active": 100 * g.Parts / float64(max(g.Count(), 1))}
	for _, b := range figure2Bars {
		s := b.sharesOf(&g)
		measured[b.name+"_uniform"], measured[b.name+"_affine"] = share(s.Uniform, s.Total()), share(s.Affine, s.Total())
	}
	return measured, nil
}
