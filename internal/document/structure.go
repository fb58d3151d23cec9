package document

import (
	"fmt"
	"slices"

	"gemu/affinetrack"
	"gemu/ptx"
	"gemu/structure"
)

// Structure is the report of the value structure. Names and meanings do not change; counts are of warp instructions.
type Structure struct {
	Schema string `json:"schema"` // "gemu-structure/2"
	Launch
	Groups       []Group           `json:"kernels"`      // numbers of launches, by kernel and extents
	Summary      structure.Summary `json:"summary"`      // columns of table 1 of Kim et al. 2013
	Bars         map[string]Shares `json:"bars"`         // counts of figure 2 of Kim et al. 2013, by bar: "load_addresses", "store_addresses", "load_data", "store_data", "register_reads", "register_writes", "instructions"
	ActiveLanes  []int64           `json:"active_lanes"` // numbers of warp instructions; the index is the number of active lanes
	Instructions []Instruction     `json:"instructions"` // executed instructions, in the order of the source
}

// Shares has counts by class.
type Shares struct {
	Uniform int64 `json:"uniform"` // uniform items of the bar's subject, such as addresses or register reads
	Affine  int64 `json:"affine"`  // affine items of the bar's subject
	Generic int64 `json:"generic"` // generic items of the bar's subject
}

// Instruction is an instruction of the listing. U, A and G are its numbers of uniform, affine
// and generic executions; Class is the most frequent, "-" without executions.
type Instruction struct {
	Kernel string  `json:"kernel,omitempty"` // kernel of the instruction, unless it is in a device function
	Func   string  `json:"func,omitempty"`   // device function of the instruction, if it is in one
	Line   int     `json:"line"`             // line of the instruction in the PTX
	Text   string  `json:"text"`             // text of this line
	Class  string  `json:"class"`            // most frequent class of the executions: "u", "a" or "g"; "" without results
	U      int64   `json:"u"`                // number of uniform executions
	A      int64   `json:"a"`                // number of affine executions
	G      int64   `json:"g"`                // number of generic executions
	Execs  int64   `json:"execs"`            // number of warp instructions
	Lanes  float64 `json:"lanes"`            // mean number of active lanes
	Source string  `json:"source,omitempty"` // "file:line" of the .loc in force

	Address   *Shares `json:"address,omitempty"`   // of a load or store: executions by the class of the address
	Value     *Shares `json:"value,omitempty"`     // of a load or store: executions by the class of the loaded or stored value
	FewLanes  int64   `json:"few_lanes"`           // executions by one or two lanes, whose values are always uniform or affine
	Divergent int64   `json:"divergent,omitempty"` // executions of a branch at which the lanes took different paths
}

// Bar is a bar of figure 2 of Kim et al. 2013: an operand or result of instructions, and the classes of its values.
type Bar struct {
	Name, Key string // names in text and in JSON
	Kinds     [3]string
	Shares    affinetrack.ClassCounts
}

// The words of Kim et al. 2013 for uniform, affine and generic values and addresses.
var (
	ValueKinds   = [3]string{"uniform", "affine", "generic"}
	addressKinds = [3]string{"shared", "strided", "indexed"}
)

// Bars returns the bars of a structure.
func Bars(s *structure.Structure) []Bar {
	b := s.Breakdown()
	return []Bar{
		{"load addresses", "load_addresses", addressKinds, b.LoadAddresses},
		{"store addresses", "store_addresses", addressKinds, b.StoreAddresses},
		{"load data", "load_data", ValueKinds, b.LoadData},
		{"store data", "store_data", ValueKinds, b.StoreData},
		{"register reads", "register_reads", ValueKinds, b.RegisterReads},
		{"register writes", "register_writes", ValueKinds, b.RegisterWrites},
		{"instructions", "instructions", ValueKinds, b.Instructions},
	}
}

// Classes lists the classes, the most structured first.
var Classes = [3]affinetrack.Class{affinetrack.Uniform, affinetrack.Affine, affinetrack.Generic}

// ClassShares returns the counts in the order of Classes.
func ClassShares(s affinetrack.ClassCounts) []int64 { return []int64{s.Uniform, s.Affine, s.Generic} }

// MainClass returns the most frequent class.
func MainClass(s affinetrack.ClassCounts) affinetrack.Class {
	if s.Total() == 0 {
		return affinetrack.Unknown
	}
	list := ClassShares(s)
	return Classes[slices.Index(list, slices.Max(list))]
}

// PlaceOf returns file:line of the .loc in force, "" if there is none.
func PlaceOf(f *ptx.Func, instr *ptx.Instr) string {
	if instr.Loc < 0 || f.Locs[instr.Loc].Line <= 0 {
		return ""
	}
	loc := &f.Locs[instr.Loc]
	return fmt.Sprintf("%s:%d", f.Module().FileName(loc.File), loc.Line)
}

// NewStructure returns the report of the value structure of launches.
func NewStructure(launch Launch, groups []Group, s *structure.Structure) *Structure {
	r := &Structure{Schema: "gemu-structure/2", Launch: launch, Groups: groups, Summary: s.Summary(), Bars: map[string]Shares{}, ActiveLanes: s.Lanes, Instructions: []Instruction{}}
	for _, b := range Bars(s) {
		r.Bars[b.Key] = Shares(b.Shares)
	}
	counts := map[*ptx.Func]map[*ptx.Instr]*structure.Instr{}
	var functions []*ptx.Func // in the order in which launches reached them
	for i := range s.Instrs {
		instr := &s.Instrs[i]
		if counts[instr.Func] == nil {
			counts[instr.Func] = map[*ptx.Instr]*structure.Instr{}
			functions = append(functions, instr.Func)
		}
		counts[instr.Func][instr.Instr] = instr
	}
	for _, f := range functions {
		f.EachInstr(func(instr *ptx.Instr) {
			if n := counts[f][instr]; n != nil {
				r.Instructions = append(r.Instructions, newInstruction(n))
			}
		})
	}
	return r
}

// newInstruction describes an instruction.
func newInstruction(n *structure.Instr) Instruction {
	in := Instruction{
		Line: int(n.Pos.Line), Text: n.Format(n.Func) + ";", Class: MainClass(n.Label).String(), U: n.Label.Uniform, A: n.Label.Affine, G: n.Label.Generic,
		Execs: n.Execs, Lanes: MeanLanes(&n.Counts), Source: PlaceOf(n.Func, n.Instr), FewLanes: n.FewLanes, Divergent: n.Divergent,
	}
	if n.Data.Total() > 0 {
		address, value := Shares(n.Addresses), Shares(n.Data)
		in.Address, in.Value = &address, &value
	}
	if n.Func.Entry {
		in.Kernel = n.Func.Name
	} else {
		in.Func = n.Func.Name
	}
	return in
}

// MeanLanes returns the mean number of active lanes of an instruction.
func MeanLanes(c *affinetrack.Counts) float64 {
	if c.Execs == 0 {
		return 0
	}
	return float64(c.Lanes) / float64(c.Execs)
}
