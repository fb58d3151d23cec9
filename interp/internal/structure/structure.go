// Package structure finds out what structure the values of a launch have under a policy: what
// a machine with a shadow affine register file would hold compactly. It is a probe, which
// knows of the machine what all probes are told.
package structure

import (
	"gemu/affinetrack"
	"gemu/internal/percent"
	"gemu/ptx"
)

// Structure is the value structure that a launch, or several, found: what its
// instructions did under a policy.
type Structure struct {
	Policy *affinetrack.Policy
	Instrs []InstrStructure // the PTX instructions of the kernel and all it can call, in the order of the file
	Lanes  []int64          // warp instructions by number of active lanes
}

// InstrStructure is an instruction and its counts.
type InstrStructure struct {
	*ptx.Instr
	Func *ptx.Func
	affinetrack.Counts
}

// Add adds the counts of another launch under the same policy. Instructions of
// kernels that are not in s yet are appended.
func (s *Structure) Add(other *Structure) {
	index := map[*ptx.Instr]int{}
	for i := range s.Instrs {
		index[s.Instrs[i].Instr] = i
	}
	for i := range other.Instrs {
		instr := &other.Instrs[i]
		if j, ok := index[instr.Instr]; ok {
			s.Instrs[j].Counts.Add(&instr.Counts)
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

// Total adds up the counts of all instructions.
func (s *Structure) Total() affinetrack.Counts {
	var t affinetrack.Counts
	for i := range s.Instrs {
		t.Add(&s.Instrs[i].Counts)
	}
	return t
}

// Summary is a launch in the columns of table 1 of Kim et al. 2013, those that a
// functional run can give.
type Summary struct {
	Instructions int64   `json:"dynamic_instructions"`    // executed by warps
	ActiveLanes  float64 `json:"active_lanes_mean"`       // of them
	LongLatency  float64 `json:"long_latency_percent"`    // multiplications, floating point, special functions
	Control      float64 `json:"control_percent"`         // branches, calls, returns, exits
	Memory       float64 `json:"memory_percent"`          // loads, stores, atomics
	Diverged     float64 `json:"divergent_percent"`       // executed while lanes of the warp were elsewhere
	Affine       float64 `json:"affine_percent"`          // whose results were kept compact
	Suppressed   float64 `json:"suppressed_percent"`      // of those that could have been, the part that divergence or a guard suppressed
	Expansion    float64 `json:"materialisation_percent"` // expansions of a compact value that is overwritten for some lanes, over instructions
	ReadsSaved   float64 `json:"reads_saved_percent"`     // reads of the vector register file, of all reads of registers
	WritesSaved  float64 `json:"writes_saved_percent"`    // writes of it, less one for every expansion
	Branches     float64 `json:"affine_branch_percent"`   // conditional branches decided by a compact predicate
	MemoryOps    float64 `json:"affine_memory_percent"`   // loads and stores, but of parameters, with a compact address
	Loads        float64 `json:"affine_load_percent"`     // of them the loads
}

// Summary computes the launch's line of the table.
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
	r.LongLatency = percent.Percentage(long, t.Execs)
	r.Control = percent.Percentage(control, t.Execs)
	r.Memory = percent.Percentage(memory, t.Execs)
	r.Diverged = percent.Percentage(t.Diverged, t.Execs)
	r.Affine = percent.Percentage(t.Compact, t.Execs)
	r.Suppressed = percent.Percentage(t.Suppressed, t.Compact+t.Suppressed)
	r.Expansion = percent.Percentage(t.Materialisations, t.Execs)
	r.ReadsSaved = percent.Percentage(t.Reads.Compact(), t.Reads.Total())
	r.WritesSaved = percent.Percentage(t.Writes.Compact()-t.Materialisations, t.Writes.Total())
	r.Branches = percent.Percentage(t.Decided, t.Branches)
	r.MemoryOps = percent.Percentage(ops.Compact(), ops.Total())
	r.Loads = percent.Percentage(loads.Compact(), loads.Total())
	return r
}

// Breakdown is a launch in the bars of figure 2 of Kim et al. 2013: what was
// uniform, affine and generic. Of addresses the paper says shared, strided and
// indexed. Accesses to parameters are left out of the first four.
type Breakdown struct {
	LoadAddresses, StoreAddresses affinetrack.ClassCounts
	LoadData, StoreData           affinetrack.ClassCounts
	RegisterReads, RegisterWrites affinetrack.ClassCounts // predicates left out
	Instructions                  affinetrack.ClassCounts // by what they can exploit, as in figure 1
}

// Breakdown adds up the counts of all instructions by what they are about.
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
