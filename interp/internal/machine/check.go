package machine

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/regfile"
)

// WarpCheck is the state of check mode of a warp.
type WarpCheck struct {
	*Reference
	Comparer
	Files       []regfile.File // registers of the reference, by half
	EngineFiles []regfile.File // registers of the checked code, by half
	inReference bool           // Warp.Files and CTA.Code are those of the reference: see SwitchToReference
	NativeFuncs bool           // the backend does not use the portable functions for instructions on lanes, so that check mode compares these, too
	CheckStep
	CheckSaved
}

// CheckStep is the execution of a run of instructions in one half of the warp.
type CheckStep struct {
	Run                       *InstrRun     // nil: the end of a block
	Phase                     checkPhase    // progress of the step
	Half                      int           // half of the warp, 0 or 1
	EngineFile, ReferenceFile *regfile.File // registers of the half
	Lanes                     uint32        // executing lanes of the run
	Idle                      uint32        // remaining live lanes of the half
	OnLanes                   bool          // the run executes once, on lanes, for the checked code and for the reference
	RanOnce                   bool          // as OnLanes, but decided during the run, because operands were not compact
	FellBack                  int           // number of instructions of the run with a compact form that executed on lanes
	RepeatsLoad               bool          // a load executes again, because another CTA may have stored in between
	RulesApplied              int64         // w.Unit.Applied when instructions were counted last
}

// checkPhase is the progress of a step.
type checkPhase uint8

const (
	BetweenSteps  checkPhase = iota // no step is under way
	Preparing                       // the guard is evaluated; operands of a run on lanes are compared
	Prepared                        // the state that the run will overwrite is saved; addresses are compared
	EngineRuns                      // the checked code runs
	LanesRun                        // the checked code runs on lanes, for the reference, too
	ReferenceRuns                   // the reference runs
	Comparing                       // results are compared
)

// CheckSaved is the state from before a step, for comparisons and for messages about differences.
type CheckSaved struct {
	Operands        []regfile.Compact     // shadows of operands that the step overwrites
	Saved           []SavedResult         // result registers, whose idle lanes must not change
	AddressRegister RegisterCopy          // the address register of a load
	AddressRow      regfile.Row64         // addresses of the reference's access, by lane
	MemoryBefore    [regfile.Lanes][]byte // memory at the addresses of idle lanes, by lane
	NativeNotes     []byte                // buffer in which machine code saves operands, results and memory
}

// Comparer compares the results of the checked code with the results of the reference, for instructions executed
// outside check mode.
type Comparer interface {
	// CompareSources compares the rows read on the lanes by the instructions under way.
	CompareSources(w *Warp, list []RowPair)
	// CompareResults compares the results of the instructions under way.
	CompareResults(w *Warp, list []RowPair)
	// BeforeLanes is called before an instruction with a compact form runs on the lanes of m. It reports whether the
	// instruction may run.
	BeforeLanes(w *Warp, m uint32) bool
	// AfterLanes is called after this instruction has run, before a result of it becomes compact.
	AfterLanes(w *Warp)
}

// SelectHalf chooses half h of the warp, and the executing lanes in this half, for the next step.
func (w *Warp) SelectHalf(h int, lanes uint32) {
	k := w.Check
	k.Half, k.EngineFile, k.ReferenceFile, k.Lanes, k.Idle = h, &w.Files[h], &k.Files[h], lanes, uint32(w.Live>>(32*h))&^lanes
}

// BeginRun chooses the run for the next step.
func (k *WarpCheck) BeginRun(r *InstrRun) {
	k.Run, k.OnLanes, k.RanOnce, k.Phase = r, r.OnLanes && !k.NativeFuncs, false, BetweenSteps
}

// BeginInstr begins a step with a single instruction, which is in the block that contains pc. It returns the pair of the
// instruction and its reference.
func (w *Warp) BeginInstr(pc int32, instr *code.Instr) *InstrPair {
	p := w.Check.Find(pc, instr)
	w.Check.BeginRun(p.SingleRun)
	return p
}

// InReference reports whether the warp executes the reference.
func (w *Warp) InReference() bool { return w.Check != nil && w.Check.inReference }

// SwitchToReference makes the warp execute the reference, with its code, registers and frame; if it executes the reference
// already, the checked code again.
func (w *Warp) SwitchToReference() {
	k := w.Check
	if k.inReference = !k.inReference; k.inReference {
		w.Files, w.CTA.Code = k.Files, k.Kernel
	} else {
		w.Files, w.CTA.Code = k.EngineFiles, w.CTA.Grid.Kernel
	}
	w.Frame = w.Frame.Counterpart
}

// SavedResult is a register and its shadow.
type SavedResult struct {
	RegisterCopy
	Shadow regfile.Compact
}

// Restore gives lanes of a register their saved values.
func (s *RegisterCopy) Restore(f *regfile.File, row code.Row, m uint32) {
	switch row.Slot {
	case code.R:
		mem.CopyRow(f.Row32(row.Row), &s.R, m)
	case code.Q:
		mem.CopyRow(f.Row64(row.Row), &s.Q, m)
	}
}
