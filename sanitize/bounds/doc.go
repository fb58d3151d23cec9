// Package bounds finds accesses outside the variable or buffer that their address was derived from. The
// machine lets them pass because other memory is there: the next array of shared memory or of a frame, a
// parameter, another buffer. A pointer argument of the kernel stands for the buffer that it points into at
// the beginning of the launch.
//
// Origins of addresses are tracked through registers. An origin begins where an instruction takes the address
// of a variable or loads a pointer parameter. Additions, selections, shuffles, calls and local memory pass it
// on. A value derived from two variables, or by any other operation, has an unknown origin and is never
// reported. Neither are addresses loaded from memory, except local memory.
//
// Origins are tracked by lane at run time. A register that always points into the buffer of a single
// argument, or into a single variable of shared memory, costs nothing before its use: newPlan finds such
// registers beforehand, and they are the majority.
//
//	before the launch: program ──► spread ──► function.rows, fixedOrigin ──► action of each instruction
//	during the launch: event ──► follow ──► check, compare ──► finding
//	                                └─────► row.set, row.copy: origins of the results
//
// Read the files in this order: bounds.go (CTAs, execution), row.go and origins.go (origins), plan.go,
// spread.go and action.go (analysis before the launch), check.go (comparison and reports).
package bounds
