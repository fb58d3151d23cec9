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
	Files       []regfile.File // registers of the reference
	EngineFiles []regfile.File // registers of the checked code
	inReference bool           // the warp's files and code belong to the reference: see SwitchToReference
	NativeFuncs bool           // the backend has functions of its own also for instructions on the lanes
	CheckStep
	CheckSaved
}

// CheckStep is a run of instructions under way in one half of the warp.
type CheckStep struct {
	Run                       *InstrRun // nil: the end of a block
	Phase                     checkPhase
	Half                      int
	EngineFile, ReferenceFile *regfile.File // registers of the half
	Lanes                     uint32        // executing lanes of the run
	Idle                      uint32        // remaining live lanes of the half
	OnLanes                   bool          // the run executes once, on the lanes, for the checked code and for the reference
	RanOnce                   bool          // the same, because the checked code had no compact operands for it
	FellBack                  int           // instructions of the run with a compact form, executed on the lanes
	RepeatsLoad               bool          // a load executes again, because another CTA may have stored in between
	RulesApplied              int64         // w.Unit.Applied when instructions were counted last
}

// checkPhase is the progress of a step.
type checkPhase uint8

const (
	BetweenSteps  checkPhase = iota // code outside the step runs
	Preparing                       // the guard is evaluated; operands of a run on the lanes are compared
	Prepared                        // the state overwritten by the run is saved; addresses are compared
	EngineRuns                      // the checked code runs
	LanesRun                        // it runs an instruction on the lanes, for the reference, too
	ReferenceRuns                   // the reference runs
	Comparing                       // results are compared
)

// CheckSaved is the state from before a step, for mismatches and comparisons.
type CheckSaved struct {
	Operands        []regfile.Compact     // shadows of operands overwritten by the step
	Saved           []SavedResult         // result registers, for idle lanes of the step
	AddressRegister RegisterCopy          // the address register of a load
	AddressRow      regfile.Row64         // addresses of the reference's access, by lane
	MemoryBefore    [regfile.Lanes][]byte // memory at the addresses of idle lanes, by lane
	NativeNotes     []byte                // the same state as machine code saves it
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
	// AfterLanes is called after it has run, before any of its results is kept compactly.
	AfterLanes(w *Warp)
}

// SelectHalf chooses the half of the warp, and the lanes of it, for the next step.
func (w *Warp) SelectHalf(h int, lanes uint32) {
	k := w.Check
	k.Half, k.EngineFile, k.ReferenceFile, k.Lanes, k.Idle = h, &w.Files[h], &k.Files[h], lanes, uint32(w.Live>>(32*h))&^lanes
}

// BeginRun chooses the run of the next step.
func (k *WarpCheck) BeginRun(r *InstrRun) {
	k.Run, k.OnLanes, k.RanOnce, k.Phase = r, r.OnLanes && !k.NativeFuncs, false, BetweenSteps
}

// BeginInstr begins a step of one instruction, of the block with pc.
func (w *Warp) BeginInstr(pc int32, instr *code.Instr) *InstrPair {
	p := w.Check.Find(pc, instr)
	w.Check.BeginRun(p.SingleRun)
	return p
}

// InReference reports whether the reference is the warp's machine.
func (w *Warp) InReference() bool { return w.Check != nil && w.Check.inReference }

// SwitchToReference makes the reference the warp's machine, or gives it back.
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
