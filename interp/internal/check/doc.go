// Package check is check mode: every instruction executes with the code, plan and compact operands of affine mode, and
// again in a reference. Check mode compares every result, guard, branch, address and idle lane.
//
// A warp has its registers twice. The engine (also called the checked code) has the register files, plan and backend of
// affine mode. The reference has register files with one value per lane, never compact, allocated without the plan; the
// portable functions execute on them. Three words recur:
//
//	pair   an instruction of the engine with its counterpart in the reference (machine.InstrPair)
//	run    up to 32 neighbouring pairs that are compared together (machine.InstrRun)
//	step   the execution of a run in one half of a warp; a warp of 32 threads has a single half
//
// A step calls these functions:
//
//	checkHalf ─► compareGuards  guards compared; they select the executing lanes
//	checkRun  ─► prepare        operands compared, overwritten state saved
//	             runEngine      the backend executes the run
//	             runReference   the reference executes the run, or gets a copy of the results
//	             compareRun     results, memory, claims of the plan, idle lanes
//
// An instruction that only computes, and a load, executes twice: in the engine and in the reference. Any other operation,
// such as a store or an atomic, executes once, in the engine, after its operands were compared; the reference gets a copy
// of its results. An instruction that the engine executes on the lanes by a portable function also executes once: the
// reference would call the same function.
//
// Read check.go, reference.go (pairs and runs), compare.go, stored.go (memory), engine.go (counts).
package check
