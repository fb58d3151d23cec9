// Package structure measures the value structure of a launch under a policy: it counts the values that a machine with an
// affine shadow register file would hold compactly. Its Probe uses only events, as any other probe.
//
//	events of a CTA ──► tracker ── tags: for each register, its form in the policy's machine
//	                       │       half: the current operation in half a warp (32 lanes)
//	                       │       step: the current PTX instruction, in all lanes
//	                       ▼
//	                    tally ──► Probe (sum over CTAs) ──► Structure ──► Summary, Breakdown
//
// Read the files in this order: structure.go, probe.go, tracker.go (tags), operation.go (rules applied to tags),
// count.go and keep.go.
//
// # Errors, concurrency and compatibility
//
// The functions return no errors. A Probe is safe for the concurrent CTAs of its launch. A Structure is plain data that no
// longer changes. Fields may be added at any time: name the fields of composite literals.
package structure

import (
	"gemu/affinetrack"
	"gemu/internal/notation"
	"gemu/ptx"
)

// Structure is the value structure of any number of launches under a policy.
type Structure struct {
	Policy *affinetrack.Policy // the policy whose rules were applied
	Instrs []Instr             // the PTX instructions of the kernel and of all functions it can call, in source order
	Lanes  []int64             // number of warp instructions by number of active lanes
}

// Instr is an instruction and its counts.
type Instr struct {
	*ptx.Instr
	Func *ptx.Func // the function of the instruction
	affinetrack.Counts
	Paths
}

// Paths counts executions of an instruction by the lanes that take part.
type Paths struct {
	FewLanes  int64 // executions by one or two lanes, of the executions in Label; any two values are uniform or affine
	Divergent int64 // executions of a branch after which lanes of the warp continue at different places
}

// Add adds the counts of o.
func (p *Paths) Add(o *Paths) {
	p.FewLanes += o.FewLanes
	p.Divergent += o.Divergent
}

// Add adds the counts of other, which must be under the same policy. Instructions that s does not have are appended.
func (s *Structure) Add(other *Structure) {
	index := map[*ptx.Instr]int{}
	for i := range s.Instrs {
		index[s.Instrs[i].Instr] = i
	}
	for i := range other.Instrs {
		instr := &other.Instrs[i]
		if j, ok := index[instr.Instr]; ok {
			s.Instrs[j].Counts.Add(&instr.Counts)
			s.Instrs[j].Paths.Add(&instr.Paths)
		} else {
			s.Instrs = append(s.Instrs, *instr)
		}
	}
	for len(s.Lanes) < len(other.Lanes) {
		s.Lanes = append(s.Lanes, 0)
	}
	for i, n := range other.Lanes {
		s.Lanes[i] += n
	}
}

// Total returns the sum of the counts of all instructions.
func (s *Structure) Total() affinetrack.Counts {
	var t affinetrack.Counts
	for i := range s.Instrs {
		t.Add(&s.Instrs[i].Counts)
	}
	return t
}

// Summary contains the columns of table 1 of Kim et al. 2013 that a functional run can give.
type Summary struct {
	Instructions int64   `json:"dynamic_instructions"`    // instructions executed by warps
	ActiveLanes  float64 `json:"active_lanes_mean"`       // mean number of active lanes of an instruction
	LongLatency  float64 `json:"long_latency_percent"`    // share of multiplications, floating-point arithmetic and special functions
	Control      float64 `json:"control_percent"`         // share of branches, calls, returns and exits
	Memory       float64 `json:"memory_percent"`          // share of loads, stores and atomics
	Diverged     float64 `json:"divergent_percent"`       // share of instructions executed while other lanes of the warp were at another instruction
	Affine       float64 `json:"affine_percent"`          // share of instructions with compact results
	Suppressed   float64 `json:"suppressed_percent"`      // share of possibly compact results suppressed by divergence or a guard
	Expansion    float64 `json:"materialisation_percent"` // materialisations for partial writes, relative to instructions
	ReadsSaved   float64 `json:"reads_saved_percent"`     // saved reads of the vector register file, relative to all register reads
	WritesSaved  float64 `json:"writes_saved_percent"`    // saved writes of the vector register file, minus one for every materialisation
	Branches     float64 `json:"affine_branch_percent"`   // share of conditional branches decided by a compact predicate
	MemoryOps    float64 `json:"affine_memory_percent"`   // share of loads and stores with a compact address, except of parameters
	Loads        float64 `json:"affine_load_percent"`     // share of loads with a compact address, except of parameters
}

// Summary returns the launch's row of the table.
func (s *Structure) Summary() Summary {
	var r Summary
	t := s.Total()
	var long, control, memory int64
	var ops, loads affinetrack.ClassCounts
	for i := range s.Instrs {
		instr := &s.Instrs[i]
		switch c := instr.Form.Class; {
		case c.LongLatency():
			long += instr.Execs
		case c == ptx.ClassControl:
			control += instr.Execs
		case c == ptx.ClassMemory:
			memory += instr.Execs
		}
		if space, _ := instr.Space(); space != ptx.Param {
			ops.Add(instr.Addresses)
			if instr.Form.Affine == ptx.AffineLoad {
				loads.Add(instr.Addresses)
			}
		}
	}
	r.Instructions = t.Execs
	if t.Execs > 0 {
		r.ActiveLanes = float64(t.Lanes) / float64(t.Execs)
	}
	r.LongLatency = notation.Percentage(long, t.Execs)
	r.Control = notation.Percentage(control, t.Execs)
	r.Memory = notation.Percentage(memory, t.Execs)
	r.Diverged = notation.Percentage(t.Diverged, t.Execs)
	r.Affine = notation.Percentage(t.Compact, t.Execs)
	r.Suppressed = notation.Percentage(t.Suppressed, t.Compact+t.Suppressed)
	r.Expansion = notation.Percentage(t.Materialisations, t.Execs)
	r.ReadsSaved = notation.Percentage(t.Reads.Compact(), t.Reads.Total())
	r.WritesSaved = notation.Percentage(t.Writes.Compact()-t.Materialisations, t.Writes.Total())
	r.Branches = notation.Percentage(t.Decided, t.Branches)
	r.MemoryOps = notation.Percentage(ops.Compact(), ops.Total())
	r.Loads = notation.Percentage(loads.Compact(), loads.Total())
	return r
}

// Breakdown contains the bars of figure 2 of Kim et al. 2013: uniform, affine and generic counts. For addresses the
// paper's terms are shared, strided and indexed. The counts of loads and stores leave out accesses to parameters.
type Breakdown struct {
	LoadAddresses, StoreAddresses affinetrack.ClassCounts // addresses, by class
	LoadData, StoreData           affinetrack.ClassCounts // loaded and stored values, by class
	RegisterReads, RegisterWrites affinetrack.ClassCounts // without predicates
	Instructions                  affinetrack.ClassCounts // by usable structure, as in figure 1
}

// Breakdown returns the sums of the counts of all instructions.
func (s *Structure) Breakdown() Breakdown {
	var b Breakdown
	for i := range s.Instrs {
		instr := &s.Instrs[i]
		b.RegisterReads.Add(instr.Reads)
		b.RegisterWrites.Add(instr.Writes)
		b.Instructions.Add(instr.Label)
		if space, _ := instr.Space(); space == ptx.Param {
			continue
		}
		switch instr.Form.Affine {
		case ptx.AffineLoad:
			b.LoadAddresses.Add(instr.Addresses)
			b.LoadData.Add(instr.Data)
		case ptx.AffineStore:
			b.StoreAddresses.Add(instr.Addresses)
			b.StoreData.Add(instr.Data)
		}
	}
	return b
}
