package ptx

import "strings"

// Effects is the set of effects of an instruction apart from writing its destinations. Each row of the instruction
// table states them.
type Effects uint32

// The effects.
const (
	Pure       Effects = 1 << iota // computes destinations from sources, lane by lane, without any other effect
	CarryIn                        // reads the carry flag CC.CF
	CarryOut                       // writes the carry flag CC.CF
	Jumps                          // jumps to the label of its operand, or to a label of the list
	Calls                          // calls a function, which returns here
	Returns                        // leaves the function
	Exits                          // ends the thread
	Collective                     // the lanes of its membermask, or all lanes of the warp, execute it together
	Aligned                        // all lanes of the warp must execute the same instruction
	Barrier                        // arrives at a barrier or reads its state
	Waits                          // can wait for other threads or for asynchronous operations
	Reads                          // reads memory
	Writes                         // writes memory
	Atomic                         // reads and writes memory as one operation
	Commutes                       // several with the same operation and type leave the same memory in any order
	Strong                         // volatile, relaxed, acquire or release (manual 8.3): can observe other threads and be observed
	Fences                         // orders memory accesses
	Async                          // starts an operation which continues after the next instruction
	Yields                         // gives other threads time to run
	MayTrap                        // can fail: a bad address, lane mask or barrier, or trap itself
	Stack                          // moves the stack pointer
	Hint                           // does not change results: it may do nothing
	SideEffect                     // is visible outside the threads of the grid, or changes how they run
	Partial                        // has operands for which PTX defines no result
	effectsEnd
)

// endsBlock contains the effects at which a basic block ends.
const endsBlock = Jumps | Returns | Exits

var effectNames = []string{
	"pure", "carry in", "carry out", "jumps", "calls", "returns", "exits", "collective", "aligned", "barrier", "waits", "reads", "writes",
	"atomic", "commutes", "strong", "fences", "async", "yields", "may trap", "stack", "hint", "side effect", "partial",
}

// HasAll reports whether e contains all of the given effects.
func (e Effects) HasAll(all Effects) bool { return e&all == all }

// Any reports whether e contains at least one of the given effects.
func (e Effects) Any(effects Effects) bool { return e&effects != 0 }

// String returns the names of the effects, separated by commas.
func (e Effects) String() string {
	var list []string
	for i, name := range effectNames {
		if e>>i&1 != 0 {
			list = append(list, name)
		}
	}
	return strings.Join(list, ", ")
}

// EndsBlock reports whether the instruction transfers control, in the lanes for which its guard holds.
func (instr *Instr) EndsBlock() bool { return instr.Form.Effects.Any(endsBlock) }

// GlobalOnly reports whether the instruction's address is in global memory even without a state space: vector atomics,
// and multimem (manual 9.7.13.5, 9.7.9.14).
func (instr *Instr) GlobalOnly() bool {
	return instr.IsMulticast() || instr.Form.Effects.HasAll(Atomic) && instr.Form.HasSlot("vec")
}

// IsMulticast reports whether the instruction's address is in a multicast object, whose memory is that of several allocations (multimem,
// manual 9.7.9.14).
func (instr *Instr) IsMulticast() bool { return instr.Op.Name == "multimem" }

// MayTouchGlobal reports whether the instruction accesses memory visible to several CTAs: it names global memory, or no
// state space. Mbarriers are in shared memory.
func (instr *Instr) MayTouchGlobal() bool {
	s, _ := instr.Space()
	return instr.Form.Effects.Any(Reads|Writes) && instr.Form.Class != ClassBarrier && (s == Global || s == Generic)
}
