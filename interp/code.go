package interp

// This file is the lowered code: what the machine runs. Everything that does
// not depend on lane values is resolved: rows of registers, constants,
// addresses of variables, branch targets, post-dominators.

import (
	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// prepared is a kernel ready to run, with everything it can call.
type prepared struct {
	code.Tables
	mod    *Module
	kernel *ptx.Func
	width  int // lanes of a warp
	blocks []block
	funcs  []*function
	consts regfile.Constants
	fixed  []fixedInstr // that write constants of a launch, and execute before it
	ref    *reference   // of check mode; nil until it is wanted

	entry     *function
	instrs    []*instr // the PTX instructions of all functions
	hits      int      // memory instructions: each remembers the allocation it hit
	ordered   bool     // some instruction lets a CTA see what other CTAs did
	shared    map[*ptx.Var]uint64
	sharedLen uint64 // of the static variables
	sharedDyn uint64 // where dynamic shared memory begins
	params    []param
	paramLen  int
}

// fixedInstr is an instruction that executes before the launch, and where it would have
// been: before instruction index of a block.
type fixedInstr struct {
	code.Instr
	block, index int32
}

// param is a kernel parameter's place in the parameter block.
type param struct {
	v   *ptx.Var
	off int
}

// function is a lowered function.
type function struct {
	fn        *ptx.Func
	entry     int32        // first block
	exit      int32        // block where returning lanes meet
	frame     regfile.Size // rows of its window
	local     int          // words (4 bytes) of its static local frame
	align     int          // what the frame begins at a multiple of, in words
	allocates bool         // it has alloca or stackrestore: lanes' stacks may end at different places
	taken     int32        // if it has: the row of how many bytes above the static frame are taken
	zeroR     []int32      // rows that may be read before they are written
	zeroQ     []int32
	zeroP     []int32
	params    []code.Place // of formal parameters
	rets      []code.Place
	err       error // why it could not be lowered; raised when it is called
	codeAddr  uint64
}

// instr is a PTX instruction of the lowered code.
type instr struct {
	*ptx.Instr
	fn     *function
	index  int        // in code.instrs
	guard  int32      // as Instr.Guard
	reads  []register // guard left out
	writes []register
}

// register is a virtual register that an instruction names.
type register struct {
	id ptx.RegID
	rowRef
}

// terminator is how a block ends.
type terminator uint8

const (
	termNext    terminator = iota // go to next
	termBranch                    // lanes of the guard go to target, others to next
	termIndex                     // brx.idx: lane by lane into targets
	termReturn                    // lanes of the guard go to the function's exit, others to next
	termPop                       // the function's exit block: return to the caller
	termExit                      // lanes of the guard end, others go to next
	termCall                      // call, then next
	termBarrier                   // bar, barrier: then next
)

// block is a basic block of lowered code. Calls, barriers and instructions
// that CTAs must run in order end or begin blocks, so that a warp is only ever
// suspended between two.
type block struct {
	insts   []code.Instr
	n       int      // PTX instructions in it, the terminator included
	srcs    []*instr // the same; insts of one lie together
	term    terminator
	leaves  bool // it is no more than the end of its lanes
	visible bool // its first instruction lets the CTA see what others did
	mayWait bool // it is in a loop that may wait for other threads
	order   int  // in the reverse postorder of the function
	endless bool // from here control goes round for ever, without an effect
	fn      *function
	guard   int32 // of the terminator
	next    int32
	target  int32
	join    int32 // where diverged lanes meet: the immediate post-dominator
	src     *instr
	index   code.Row // of termIndex
	targets []int32
	call    *callSite
	bar     *barrierOp
}

// callSite is a call.
type callSite struct {
	code.Call
	target  *function // direct
	pointer code.Row  // indirect: the row that holds the function's address
}

// barrierOp is bar or barrier, bar.warp.sync too.
type barrierOp struct {
	kind    barrierKind
	aligned bool     // the lanes of a warp come together
	id      code.Row // of bar.warp.sync: the membermask
	count   code.Row // NoSlot: all threads
	pred    int32    // of red: the predicate combined
	neg     bool
	dst     int32 // of red: the row or predicate written
}

type barrierKind uint8

const (
	barSync barrierKind = iota
	barArrive
	barWarp // between the lanes of a warp
	barPopc
	barAnd
	barOr
)

// guardMask is the lanes of half a warp where the guard lets an instruction run.
func guardMask(f *regfile.File, g int32) uint32 {
	if g > 0 {
		return f.P[g-1]
	}
	return ^f.P[-g-1]
}
