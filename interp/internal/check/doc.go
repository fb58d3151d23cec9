// Package check is check mode: it executes the code, plan and compact operands of affine mode beside a reference, and compares
// every result, guard, branch, address and idle lane.
//
// A warp has its registers twice. The files of the engine are the same as in affine mode. The files of the reference hold
// one value per lane, and the portable functions work on them. A run of instructions is a step:
//
//	checkHalf ─► guards compared, lanes chosen
//	checkRun  ─► prepare        operands compared, overwritten state saved
//	             runEngine      the backend executes the run
//	             runReference   the reference executes it, or gets a copy of the results
//	             compareRun     results, memory, claims of the plan, idle lanes
//
// Instructions that only compute, and loads, run twice. All other operations, such as stores and atomics, happen once, by
// the engine, after their operands were compared; the reference gets their results. Read check.go, reference.go (pairs of
// instructions, and runs), compare.go, stored.go (memory), engine.go (counts).
package check
