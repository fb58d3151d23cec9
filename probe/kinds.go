package probe

import "strings"

// Events is a set of kinds of event.
type Events uint32

// The kinds of event. Each comment names the fields of Event that belong to the kind.
const (
	// OnLaunch reports that a launch begins: Launch.
	OnLaunch Events = 1 << iota
	// OnLaunchEnd reports that a launch has ended, also a launch that could not begin: Err, and Trap if the error is a trap. If
	// the launch ended with an error, CTAs in flight send no OnCTAEnd.
	OnLaunchEnd

	// OnCTA reports that a CTA begins: CTA, ID.
	OnCTA
	// OnCTAEnd reports that a CTA has ended.
	OnCTAEnd
	// OnWarp reports that a warp begins: Warp, Lanes.
	OnWarp
	// OnWarpEnd reports that a warp has ended.
	OnWarpEnd

	// OnBefore reports that a warp is about to execute a PTX instruction: Instr, Lanes, Reads. It arrives for every instruction,
	// also for an instruction without cost for the engine, and for an instruction whose guard excludes all lanes.
	OnBefore

	// OnAccess reports that the instruction is about to access memory: the last element of Accesses. An instruction can access
	// memory several times.
	OnAccess

	// OnOperation reports that the machine is about to execute an operation of the instruction: Operation, whose operands
	// Event.Source and Event.Result locate. Instructions that lanes at different places execute together have no such event.
	OnOperation
	// OnResult reports that the machine has executed the operation.
	OnResult

	// OnAfter reports that the warp has executed the instruction: Reads (the values before the instruction), Accesses, Writes,
	// Mbarriers. If the instruction ends a basic block (a branch, call, barrier or exit), its lanes have not moved yet: the following events
	// report their move. For a call or a barrier, Writes has the old values; the results arrive with OnReturn or OnWake.
	OnAfter

	// OnUndo reports that the instruction of the last OnBefore did not execute, because it waits for lanes that are at other
	// instructions; OnWait reports the wait. A new OnBefore reports its execution.
	OnUndo

	// OnBranch reports that lanes branch: Groups, with a single element if the lanes stay together.
	OnBranch
	// OnSplit reports that lanes diverge: Groups. The running warp split continues with exactly one group.
	OnSplit
	// OnReconverge reports that the lanes of Lanes are together again.
	OnReconverge
	// OnCall reports that the lanes of Lanes have entered Callee.
	OnCall
	// OnReturn reports that the lanes of Lanes have returned from Callee to the instruction after the call: Writes.
	OnReturn
	// OnWait reports that the lanes of Lanes wait at the instruction: Wait.
	OnWait
	// OnWake reports that the lanes of Lanes continue after a wait: Wait, Writes.
	OnWake
	// OnExit reports that the lanes of Lanes have ended.
	OnExit

	// OnMaterialise reports that the engine has written a compact register to lanes of its register row: Lanes, Materialised, Row.
	// Index is -1 at the end of a function. The mode decides whether and where such events arrive.
	OnMaterialise

	// OnTrap reports that the CTA stops with a trap: Trap.
	OnTrap

	// OnTexels reports that an instruction of the texture unit is about to read texels for the lanes of Lanes: Texels.
	OnTexels

	// OnEffect reports a stage of an asynchronous operation: Effect, and the CTA, Warp, Lanes and Instr that issued it. The
	// stage Issued arrives between OnBefore and OnAfter of the instruction. The remaining stages arrive when the operation
	// is about to read or write memory, at any point of its CTA or of another CTA of the cluster. In the stage Writes, Mbarriers has
	// the mbarrier that the operation notifies.
	OnEffect

	// OnPrint reports that the lane of Lanes is about to print an argument of vprintf: Memory (nil for local memory), Offset, Bytes.
	OnPrint

	// OnAlloc reports that memory was allocated by the host, for a launch, or by malloc in the lane of Lanes: Memory.
	OnAlloc
	// OnFree reports that memory is freed: Memory.
	OnFree
	// OnHostWrite reports that the host has written memory: Memory, Offset, Bytes.
	OnHostWrite
	// OnHostRead reports that the host reads memory: Memory, Offset, Bytes.
	OnHostRead

	// AllEvents is the set of all kinds.
	AllEvents Events = 1<<iota - 1
)

var eventNames = [...]string{
	"launch", "launch end", "cta", "cta end", "warp", "warp end", "before", "access", "operation", "result", "after", "undo", "branch", "split", "reconverge",
	"call", "return", "wait", "wake", "exit", "materialise", "trap", "texels", "effect", "print", "alloc", "free", "host write", "host read",
}

// String returns the names of the kinds in the set, separated by commas.
func (s Events) String() string {
	var list []string
	for i, name := range eventNames {
		if s>>i&1 != 0 {
			list = append(list, name)
		}
	}
	return strings.Join(list, ", ")
}

// Has reports whether the set contains all kinds of the other set.
func (s Events) Has(other Events) bool { return s&other == other }
