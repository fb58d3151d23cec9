package main

// This file is Kim et al., ISCA 2013: what is compared with it, and by which reading, is in
// docs/value-structure.md.

import (
	_ "embed"

	"gemu/affinetrack"
	"gemu/interp"
)

//go:embed papers/kim2013_table1.csv
var kim2013Table1 []byte

func init() {
	papers = append(papers, &paper{
		name: "kim2013", title: "Kim et al., ISCA 2013",
		tables: []*paperTable{
			{
				name: "table1", title: "GP-SIMT benchmarks",
				columns:  kimColumns(),
				rows:     readRows(kim2013Table1, nil),
				readings: []paperReading{{"kim", "policy kim, reconvergence auto"}},
				measure:  measureKim,
			},
		},
	})
}

// kimColumn is a column of table 1 that a launch's structure gives.
type kimColumn struct {
	paperColumn
	ours func(s *interp.Structure, t interp.Summary) float64
}

var kimTable1 = []kimColumn{
	// GPGPU-Sim counts instructions of threads.
	{paperColumn{name: "dyn_inst_M", head: [2]string{"dyn", "inst"}, digits: 1, apart: true, doc: "instructions of threads, in millions"}, func(s *interp.Structure, t interp.Summary) float64 { return float64(s.Total().Lanes) / 1e6 }},
	{paperColumn{name: "act_thds", head: [2]string{"act", "thds"}, digits: 1, doc: "active lanes of an instruction, in the mean"}, func(s *interp.Structure, t interp.Summary) float64 { return t.ActiveLanes }},
	{paperColumn{name: "ll", head: [2]string{"", "ll"}, doc: "multiplications, floating point and special functions, of instructions"}, func(s *interp.Structure, t interp.Summary) float64 { return t.LongLatency }},
	{paperColumn{name: "ctrl", head: [2]string{"", "ctrl"}, doc: "branches, calls, returns and exits, of instructions"}, func(s *interp.Structure, t interp.Summary) float64 { return t.Control }},
	{paperColumn{name: "mem", head: [2]string{"", "mem"}, doc: "loads, stores and atomics, of instructions"}, func(s *interp.Structure, t interp.Summary) float64 { return t.Memory }},
	{paperColumn{name: "div", head: [2]string{"", "div"}, doc: "executed with lanes of the warp elsewhere, of instructions"}, func(s *interp.Structure, t interp.Summary) float64 { return t.Diverged }},
	{paperColumn{name: "aff_inst", head: [2]string{"aff", "inst"}, doc: "results that all stayed compact, of instructions"}, func(s *interp.Structure, t interp.Summary) float64 { return t.Affine }},
	{paperColumn{name: "supp_aff", head: [2]string{"supp", "aff"}, doc: "suppressed by divergence or a guard, of what could have stayed compact"}, func(s *interp.Structure, t interp.Summary) float64 { return t.Suppressed }},
	{paperColumn{name: "exp_inst", head: [2]string{"exp", "inst"}, doc: "lazy expansions, over instructions"}, func(s *interp.Structure, t interp.Summary) float64 { return t.Expansion }},
	{paperColumn{name: "aff_rds", head: [2]string{"aff", "rds"}, doc: "compact, of register operands"}, func(s *interp.Structure, t interp.Summary) float64 { return t.ReadsSaved }},
	{paperColumn{name: "aff_wrs", head: [2]string{"aff", "wrs"}, doc: "compact, less expansions, of register results"}, func(s *interp.Structure, t interp.Summary) float64 { return t.WritesSaved }},
	{paperColumn{name: "aff_bra", head: [2]string{"aff", "bra"}, doc: "decided compactly, of conditional branches"}, func(s *interp.Structure, t interp.Summary) float64 { return t.Branches }},
	{paperColumn{name: "aff_mem", head: [2]string{"aff", "mem"}, doc: "at compact addresses, of loads not of parameters"}, func(s *interp.Structure, t interp.Summary) float64 { return t.Loads }},
}

func kimColumns() (list []paperColumn) {
	for i := range kimTable1 {
		list = append(list, kimTable1[i].paperColumn)
	}
	return list
}

// measureKim runs a benchmark of table 1.
func measureKim(m *meter, row *paperRow, r *paperReading) (map[string]float64, error) {
	j, err := m.flags(row.workload, row.size).open(m.app, m.app.stderr)
	if err != nil {
		return nil, err
	}
	if err := j.structure(m.app, affinetrack.PolicyByName(r.name), nil); err != nil {
		return nil, err
	}
	s := j.total().Structure
	t := s.Summary()
	ours := map[string]float64{}
	for i := range kimTable1 {
		ours[kimTable1[i].name] = kimTable1[i].ours(s, t)
	}
	return ours, nil
}
