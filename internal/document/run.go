package document

import (
	"errors"
	"fmt"

	"gemu/interp"
	"gemu/probe"
	"gemu/sanitize"
	"gemu/structure"
)

// Run is the report of a run.
type Run struct {
	Schema string `json:"schema"` // "gemu-run/2"
	Launch
	Exit    string  `json:"exit"`           // "ok", "trap", "expectation failed", "findings" or "stopped"
	Trap    *Trap   `json:"trap,omitempty"` // trap at the end of the last launch
	Seconds float64 `json:"seconds"`        // duration of the launches in seconds, without loading

	ThreadInstructions int64   `json:"thread_instructions"` // instructions executed by lanes with a true guard; branches, returns and exits count for all lanes at their place
	WarpInstructions   int64   `json:"warp_instructions"`   // instructions executed by warps
	ActiveLanesMean    float64 `json:"active_lanes_mean"`   // mean number of active lanes of a warp instruction
	Branches           int64   `json:"branches"`            // branches executed by warps
	DivergentBranches  int64   `json:"divergent_branches"`  // conditional branches with diverging lanes
	Splits             int64   `json:"splits"`              // divergences of lanes, at branches and elsewhere
	Reconvergences     int64   `json:"reconvergences"`      // reconvergences of diverged lanes

	Structure *structure.Summary `json:"structure,omitempty"` // with --stats: columns of table 1 of Kim et al. 2013
	Tolerated []Tolerated        `json:"tolerated,omitempty"` // with --tolerate: faults after which kernels have continued
	Findings  *sanitize.Report   `json:"findings,omitempty"`  // with --sanitize: findings of the sanitizers
}

// Trap is a trap.
type Trap struct {
	Message   string `json:"message"`                      // kind of the trap with its details
	Kind      string `json:"kind"`                         // kind of the trap, such as "out-of-bounds access"
	File      string `json:"file"`                         // name of the PTX file
	Line      int    `json:"line"`                         // line of the instruction in the PTX, from 1 on
	Column    int    `json:"column"`                       // column of the instruction in the PTX, from 1 on
	CTA       [3]int `json:"cta"`                          // index of the CTA in x, y and z
	Warp      int    `json:"warp"`                         // index of the warp in its CTA; -1 if the trap concerns no single warp
	Lanes     string `json:"lanes"`                        // faulty lanes of the warp in hexadecimal: bit 0 is lane 0
	Address   string `json:"address,omitempty"`            // address of the first faulty lane, if the instruction accesses memory
	Source    string `json:"source,omitempty"`             // "file:line:col" of the .loc in force
	Nearest   string `json:"nearest_allocation,omitempty"` // description of the nearest allocation, with its end
	Tolerable string `json:"tolerable,omitempty"`          // values of --tolerate with which the kernel continues after this fault
}

// Tolerated is a fault after which kernels have continued.
type Tolerated struct {
	Severity string `json:"severity"` // severity of the fault: "notice"
	Names    string `json:"names"`    // values of --tolerate for this fault
	Times    int64  `json:"times"`    // number of faulty lanes, summed over executions; of an access to a matrix in memory, faulty rows
	First    Trap   `json:"first"`    // trap of the first CTA and warp, as it would be without --tolerate
}

// NewTrap describes a trap.
func NewTrap(t *probe.Trap) *Trap {
	n := &Trap{
		Message: t.Msg, Kind: t.Kind.Error(), File: t.File, Line: int(t.Pos.Line), Column: int(t.Pos.Col), CTA: Dims(t.CTA), Warp: t.Warp,
		Lanes: fmt.Sprintf("%#x", t.Lanes), Source: t.Source, Nearest: t.Nearby,
	}
	if t.Bytes > 0 {
		n.Address = fmt.Sprintf("%#x", t.Addr)
	}
	if t.Tolerable != probe.Strict {
		n.Tolerable = t.Tolerable.String()
	}
	return n
}

// NewRun returns the report of launches. total is their sum, tolerated has the faults after which they have continued, and err is
// the error of the last launch: a trap, or another error, with which Exit is "stopped".
func NewRun(launch Launch, total *interp.Result, tolerated []*probe.Tolerated, err error) *Run {
	r := &Run{
		Schema: "gemu-run/2", Launch: launch, Exit: "ok", Seconds: total.Duration.Seconds(),
		ThreadInstructions: total.ThreadInstructions, WarpInstructions: total.WarpInstructions, ActiveLanesMean: total.ActiveLanesMean(), Branches: total.Branches, DivergentBranches: total.DivergentBranches,
	}
	if total.Structure != nil {
		s := total.Structure.Summary()
		r.Structure = &s
	}
	for _, t := range tolerated {
		r.Tolerated = append(r.Tolerated, Tolerated{Severity: "notice", Names: t.Tolerance.String(), Times: t.Count, First: *NewTrap(t.First)})
	}
	var trap *probe.Trap
	switch {
	case errors.As(err, &trap):
		r.Exit, r.Trap = "trap", NewTrap(trap)
	case err != nil:
		r.Exit = "stopped"
	}
	return r
}
