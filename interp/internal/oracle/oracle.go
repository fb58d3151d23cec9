// Package oracle is the slow, clear engine of gemu: it executes checked PTX one
// thread at a time, straight from the manual, so that the fast warp-vector
// engine has something independent to be compared with.
//
// The mental model is a grid of little computers. A thread is a program
// counter, a stack of frames with registers and local memory, and a carry flag;
// it runs alone until it exits, has used up its time slice, or must wait for
// others: at a barrier for its CTA, at a collective instruction (shfl, vote,
// match, redux, elect, activemask, bar.warp.sync) for its warp. There is no SIMT
// stack and no divergence: a warp is only the set of threads that collectives
// exchange values between.
//
// Integers are computed exactly with math/big and then cut to their width;
// floating-point numbers are exact values (number, in ieee.go) that are rounded
// once, explicitly, to their format. The files follow the chapters of the
// manual, the functions in them its sections: int.go (9.7.1, 9.7.2), float.go
// (9.7.3), cmp.go (9.7.6), logic.go (9.7.8), mov.go, cvt.go and mem.go (9.7.9),
// ctrl.go and call.go (9.7.12), barrier.go, atom.go and warp.go (9.7.13),
// stack.go (9.7.17) and misc.go (9.7.19). An instruction function reads its
// operands by the names the instruction table gives them.
//
// What it is not: fast, or a model of how warps execute. Programs whose result
// depends on threads of a warp running in lockstep without synchronisation (an
// undefined result since sm_70) may compute something else here. It does not run
// the half-precision arithmetic (9.7.4, 9.7.5, 9.7.7), textures and surfaces,
// matrix and video instructions, asynchronous copies, mbarriers and clusters:
// they end the launch with an *Unsupported error when a thread reaches one.
//
// Where the manual leaves a result open, the choices made here are:
//
//   - integer division and remainder by zero give all ones;
//   - arithmetic on a NaN gives the canonical NaN, but abs.f32 and neg.f32 change
//     only its sign (and abs.f64 and neg.f64 nothing, which the manual says);
//   - .sat turns -0 into +0, like any value that is not above zero;
//   - .ftz flushes results that are subnormal after rounding;
//   - atom.add.f32 and red.add.f32 flush subnormals in global memory and keep
//     them in shared memory, as the manual says current hardware does;
//   - shfl from a lane that takes no part gives the thread its own value;
//   - memory and registers that were never written read as zero, and so does a
//     function's frame each time it is entered;
//   - %clock and %globaltimer count the instructions of the thread.
package oracle

import (
	"context"
	"errors"
	"fmt"

	"gemu/ptx"
)

// Memory is device memory: global and constant variables, allocations, and the
// parameter block, by address. Load and Store return a guest fault as an error.
// The space is Generic for accesses by generic address.
type Memory interface {
	Load(space ptx.Space, addr uint64, p []byte) error
	Store(space ptx.Space, addr uint64, p []byte) error
	// SpaceOf says in which space a device address lies (Global, Const, Param),
	// for isspacep; Generic if in none.
	SpaceOf(addr uint64) ptx.Space
}

// Launch is one launch of a kernel.
type Launch struct {
	Module      *ptx.Module
	Kernel      *ptx.Func
	Grid, Block [3]int
	WarpSize    int // 1 to 64; 0 means 32
	SharedBytes int // dynamic shared memory
	Memory      Memory
	Workspace   uint64 // its address, of a cooperative launch; or 0

	// ParamBase is the device address of the parameter block. Parameters lie in
	// it in order, each aligned to its Var.Alignment.
	ParamBase uint64

	// Symbol gives the device address of a module-scope .global or .const
	// variable, or the code address of a function.
	Symbol func(s ptx.Symbol) uint64
	// FuncAt is its inverse for functions; nil where no function is.
	FuncAt func(addr uint64) *ptx.Func

	// An address in [SharedWindow, SharedWindow+WindowSize) is the generic
	// address of shared memory, and so on.
	SharedWindow, LocalWindow uint64
	WindowSize                uint64

	// SharedAddr gives the offset of a .shared variable, of module or function
	// scope, in the CTA's shared memory.
	SharedAddr func(v *ptx.Var) (uint64, bool)
	SharedSize int // bytes of shared memory of a CTA: static and dynamic
	LocalSize  int // limit of a thread's stack in bytes; 0 means 512 KiB

	Printf func(ctaid int, s string)
	Malloc func(size uint64) uint64
	Free   func(addr uint64) error

	MaxSteps int64 // instructions a thread may execute, skipped ones included; 0 means no limit
}

// Stats counts what a launch did.
type Stats struct {
	ThreadInstructions int64 // executed by threads whose guard was true
}

// The kinds of Trap.
const (
	KindMemory     = "memory"         // an access outside memory, or refused by it
	KindMisaligned = "misaligned"     // an address that is no multiple of the access size
	KindStack      = "stack overflow" // local memory or call depth used up
	KindCall       = "bad call"       // a call of something that is not such a function
	KindBranch     = "bad branch"     // a brx.idx outside its list
	KindBarrier    = "bad barrier"    // a barrier that does not exist, or whose counts disagree
	KindCluster    = "bad cta rank"   // a CTA that the cluster does not have
	KindDeadlock   = "deadlock"       // no thread of a CTA can run
	KindSteps      = "step limit"     // Launch.MaxSteps used up
	KindAssert     = "assertion"      // __assertfail was called
	KindTrap       = "trap"           // the trap instruction
	KindBreak      = "breakpoint"     // the brkpt instruction
)

// Trap is a guest fault: what happened, at which instruction, in which thread.
type Trap struct {
	Kind, Msg string
	Instr     *ptx.Instr
	Func      *ptx.Func
	Cta, Tid  [3]int
	Err       error // what Memory or Free answered; nil for other faults
}

func (t *Trap) Error() string {
	where := "?"
	if t.Func != nil {
		where = t.Func.Module().Name
		if t.Instr != nil {
			where += ":" + t.Instr.Pos.String()
		}
	}
	text := ""
	if t.Instr != nil {
		text = " at " + t.Instr.Text
	}
	return fmt.Sprintf("%s: trap: %s: %s%s, cta (%d,%d,%d) thread (%d,%d,%d)", where, t.Kind, t.Msg, text,
		t.Cta[0], t.Cta[1], t.Cta[2], t.Tid[0], t.Tid[1], t.Tid[2])
}

// Unwrap is the error of Memory or Free behind the fault.
func (t *Trap) Unwrap() error { return t.Err }

// Unsupported is an instruction that a thread reached and the oracle does not
// run.
type Unsupported struct{ Instr *ptx.Instr }

func (u *Unsupported) Error() string {
	what := u.Instr.Text
	if c := u.Instr.Call; c != nil {
		if f, ok := c.Target.Sym.(*ptx.Func); ok {
			what += " " + f.Name
		}
	}
	return fmt.Sprintf("%s: the oracle does not run %s", u.Instr.Pos, what)
}

// Run executes the launch to its end. The error is a *Trap, an *Unsupported,
// the context's error, or says what is wrong with the launch.
func Run(ctx context.Context, l *Launch) (Stats, error) {
	m, err := newMachine(ctx, l)
	if err != nil {
		return Stats{}, err
	}
	err = m.run()
	return m.stats, err
}

func (l *Launch) check() error {
	switch {
	case l.Module == nil || l.Kernel == nil || l.Memory == nil:
		return errors.New("oracle: a launch wants a module, a kernel and a memory")
	case !l.Kernel.Entry || !l.Kernel.Defined:
		return fmt.Errorf("oracle: %s is not a kernel with a body", l.Kernel.Name)
	case l.WarpSize < 0 || l.WarpSize > 64:
		return fmt.Errorf("oracle: warp size %d is not in 1..64", l.WarpSize)
	}
	for i := range 3 {
		if l.Grid[i] < 1 || l.Block[i] < 1 {
			return fmt.Errorf("oracle: empty launch: grid %v, block %v", l.Grid, l.Block)
		}
	}
	return nil
}
