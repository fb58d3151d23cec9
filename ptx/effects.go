package ptx

import "strings"

// Effects are what an instruction does apart from writing its destinations. Each row
// of the instruction table states them.
type Effects uint32

// The effects.
const (
	Pure       Effects = 1 << iota // computes destinations from sources, lane by lane, and does nothing else
	CarryIn                        // reads the carry flag CC.CF
	CarryOut                       // writes it
	Jumps                          // goes to the label, or to one of the list, that its operand names
	Calls                          // goes to a function and comes back
	Returns                        // leaves the function
	Exits                          // ends the thread
	Collective                     // the lanes of the warp that it names, or all, execute it together
	Aligned                        // all lanes of the warp must execute the same one
	Barrier                        // arrives at a barrier, or looks at one
	Waits                          // can wait for other threads or for asynchronous operations
	Reads                          // reads memory
	Writes                         // writes memory
	Atomic                         // reads and writes as one operation
	Commutes                       // with others of its operation and type: the order is not seen in memory
	Strong                         // a volatile, relaxed, acquire or release operation (manual 8.3): sees other threads, or is seen
	Fences                         // orders accesses to memory
	Async                          // starts what goes on behind the next instruction
	Yields                         // gives other threads time
	MayTrap                        // can fail: a bad address, lane mask or barrier, or trap itself
	Stack                          // moves the stack pointer
	Hint                           // may do nothing
	SideEffect                     // is seen outside the grid's threads, or changes how they run
	Partial                        // has operands for which PTX defines no result
	effectsEnd
)

// endsBlock are the effects of instructions that control does not fall through.
const endsBlock = Jumps | Returns | Exits

var effectNames = []string{
	"pure", "carry in", "carry out", "jumps", "calls", "returns", "exits", "collective", "aligned", "barrier", "waits", "reads", "writes",
	"atomic", "commutes", "strong", "fences", "async", "yields", "may trap", "stack", "hint", "side effect", "partial",
}

// HasAll reports whether all of the given effects are there.
func (e Effects) HasAll(all Effects) bool { return e&all == all }

// Any reports whether one of the given effects is there.
func (e Effects) Any(effects Effects) bool { return e&effects != 0 }

// String lists the effects.
func (e Effects) String() string {
	var list []string
	for i, name := range effectNames {
		if e>>i&1 != 0 {
			list = append(list, name)
		}
	}
	return strings.Join(list, ", ")
}

// EndsBlock reports whether control goes elsewhere behind the instruction, in the
// lanes that its guard lets execute it.
func (instr *Instr) EndsBlock() bool { return instr.Form.Effects.Any(endsBlock) }

// GlobalOnly reports whether the instruction's address is one of global memory even if it
// names no state space: vector atomics, and multimem (manual 9.7.13.5, 9.7.9.14).
func (instr *Instr) GlobalOnly() bool {
	return instr.Op.Name == "multimem" || instr.Form.Effects.HasAll(Atomic) && instr.Form.HasSlot("vec")
}

// MayTouchGlobal reports whether the instruction accesses memory that other CTAs can
// see: it names global memory, or no state space. Mbarriers are in shared memory.
func (instr *Instr) MayTouchGlobal() bool {
	s, _ := instr.Space()
	return instr.Form.Effects.Any(Reads|Writes) && instr.Form.Class != ClassBarrier && (s == Global || s == Generic)
}
