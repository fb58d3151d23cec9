// Package oracle is the slow, clear engine of gemu: it executes checked PTX one
// thread at a time, straight from the manual, so that the fast warp-vector
// engine has something independent to be compared with. It shares nothing with that
// engine but the IR: it loads modules itself, and puts everything that a kernel can see
// where docs/addresses.md says, in code of its own.
//
// The mental model is a grid of little computers. A thread is a program
// counter, a stack of frames with registers and local memory, and a carry flag;
// it runs alone until it exits, has used up its time slice, or must wait for
// others: at a barrier for its CTA, at a collective instruction (shfl, vote,
// match, redux, elect, activemask, bar.warp.sync) for its warp. There is no SIMT
// stack and no divergence: a warp is only the set of threads that collectives
// exchange values between. Which of them goes next is an Order's choice, which a
// program can see only where it depends on order. A Step tells what a thread has done.
//
// Integers are computed exactly with math/big and then cut to their width;
// floating-point numbers are exact values (number, in ieee.go) that are rounded
// once, explicitly, to their format. device.go and load.go are what there is before a
// launch, machine.go and order.go run one. The other files follow the chapters of the
// manual, the functions in them its sections: int.go (9.7.1, 9.7.2), float.go
// (9.7.3), cmp.go (9.7.6), logic.go (9.7.8), mov.go, cvt.go and mem.go (9.7.9),
// texture.go (9.7.10, 9.7.11), ctrl.go and call.go (9.7.12), barrier.go, cluster.go, mbarrier.go, async.go, atom.go and warp.go (9.7.13), tensor.go (9.7.14), wgmma.go (9.7.15), tcgen05Warp.go and fifthmma.go (9.7.16),
// stack.go (9.7.17) and misc.go (9.7.19). An instruction function reads its
// operands by the names the instruction table gives them.
//
// What it is not: fast, or a model of how warps execute. Programs whose result
// depends on threads of a warp running in lockstep without synchronisation (an
// undefined result since sm_70) may compute something else here. It does not run copies of
// interleaved tensors, .ashift of tcgen05.mma, and exchanges in warps of more than 32 threads:
// they end the launch with an *Unsupported error when a thread reaches one.
//
// Where the manual leaves a result open, the choices made here are:
//
//   - integer division and remainder by zero give all ones;
//   - arithmetic on a NaN gives the canonical NaN; on .f64 that of an operand, made
//     quiet: the second, the third, the first, but the first of a quotient, and the second
//     of min and max; abs and neg leave its sign; conversions from and to .f64 keep sign
//     and payload, and all bits from .f32 to .f32 and from .bf16 to .f32; atom.add.f64 in
//     global memory leaves a NaN as it is, b's before that in memory (an H200);
//   - .sat turns -0 into +0, like any value that is not above zero;
//   - .ftz flushes results that are subnormal after rounding as though the
//     exponent had no lower bound;
//   - atom.add.f32 and red.add.f32 flush subnormals in global memory and keep
//     them in shared memory, as the manual says current hardware does;
//   - shfl from a lane that takes no part gives the thread its own value;
//   - memory and registers that were never written read as zero, and so does a
//     function's frame each time it is entered;
//   - %clock and %globaltimer count the instructions of the thread and the
//     nanoseconds it has slept.
package oracle

import (
	"context"
	"fmt"

	"gemu/ptx"
)

// Launch is one launch of a kernel.
type Launch struct {
	Kernel      string
	Grid, Block [3]int
	Args        [][]byte // one per parameter, of its size
	Shared      int      // bytes of dynamic shared memory
	Cooperative bool     // with a workspace for a barrier of the grid
	Cluster     [3]int   // CTAs of a cluster; zero: what the kernel requires
	WarpSize    int      // 1 to 64; 0 means 32
	MaxSteps    int64    // instructions a thread may execute, skipped ones included; 0 means no limit

	Order func() Order // makes the order of each warp; nil means Alone
	Log   func(*Step)  // is told of every instruction of every thread, unless nil
}

// Stats counts what a launch did.
type Stats struct {
	ThreadInstructions int64 // executed by threads whose guard was true; every branch, return and exit met
	Tolerated          int64 // accesses that Config has let go on
}

// The kinds of Trap.
const (
	KindMemory     = "memory"          // an access outside memory, or refused by it
	KindMisaligned = "misaligned"      // an address that is no multiple of the access size
	KindStack      = "stack overflow"  // local memory or call depth used up
	KindCall       = "bad call"        // a call of something that is not such a function
	KindBranch     = "bad branch"      // a brx.idx outside its list
	KindDivergent  = "threads missing" // of those that execute a matrix instruction together
	KindMatrix     = "bad matrix operand"
	KindTensor     = "bad use of tensor memory"
	KindBarrier    = "bad barrier" // a barrier that does not exist, or whose counts disagree
	KindAsync      = "bad asynchronous operation"
	KindCluster    = "bad cta rank" // a CTA that the cluster does not have
	KindExited     = "exited"       // shared memory of a CTA that has exited
	KindDeadlock   = "deadlock"     // no thread of a CTA can run
	KindSteps      = "step limit"   // Launch.MaxSteps used up
	KindHeap       = "bad free"     // of what is not on the heap
	KindAssert     = "assertion"    // __assertfail was called
	KindTexture    = "bad texture access"
	KindSurface    = "bad surface access"
	KindTrap       = "trap"       // the trap instruction
	KindBreak      = "breakpoint" // the brkpt instruction
)

// Trap is a guest fault: what happened, at which instruction, in which thread.
type Trap struct {
	Kind, Msg string
	Instr     *ptx.Instr
	Func      *ptx.Func
	Cta, Tid  [3]int
}

func (t *Trap) Error() string {
	place := "?"
	if t.Func != nil {
		place = t.Func.Module().Name
		if t.Instr != nil {
			place += ":" + t.Instr.Pos.String()
		}
	}
	text := ""
	if t.Instr != nil {
		text = " at " + t.Instr.Text
	}
	return fmt.Sprintf("%s: trap: %s: %s%s, cta (%d,%d,%d) thread (%d,%d,%d)", place, t.Kind, t.Msg, text,
		t.Cta[0], t.Cta[1], t.Cta[2], t.Tid[0], t.Tid[1], t.Tid[2])
}

// Unsupported is an instruction that a thread reached and the oracle does not
// run.
type Unsupported struct{ Instr *ptx.Instr }

func (u *Unsupported) Error() string {
	query := u.Instr.Text
	if c := u.Instr.Call; c != nil {
		if f, ok := c.Target.Sym().(*ptx.Func); ok {
			query += " " + f.Name
		}
	}
	return fmt.Sprintf("%s: the oracle does not run %s", u.Instr.Pos, query)
}

// Run executes a launch to its end. The error is a *Trap, an *Unsupported, the
// context's error, or says what is wrong with the launch.
func (m *Module) Run(ctx context.Context, l *Launch) (Stats, error) {
	run, err := newMachine(ctx, m, l)
	if err != nil {
		return Stats{}, err
	}
	err = run.run()
	run.flushPrinted()
	m.dev.Free(workspace)
	m.dev.Free(run.ctaMemory)
	return run.stats, err
}

// check refuses launches that make no sense.
func (l *Launch) check(k *ptx.Func) error {
	switch {
	case k == nil || !k.Entry || !k.Defined:
		return fmt.Errorf("oracle: %q is not a kernel with a body", l.Kernel)
	case l.WarpSize < 0 || l.WarpSize > 64:
		return fmt.Errorf("oracle: warp size %d is not in 1..64", l.WarpSize)
	case len(l.Args) != len(k.Params):
		return fmt.Errorf("oracle: %d arguments for the %d parameters of %s", len(l.Args), len(k.Params), k.Name)
	}
	for i := range 3 {
		if l.Grid[i] < 1 || l.Block[i] < 1 {
			return fmt.Errorf("oracle: empty launch: grid %v, block %v", l.Grid, l.Block)
		}
		if n := l.clusterDim(k)[i]; n < 1 || l.Grid[i]%n != 0 {
			return fmt.Errorf("oracle: a grid of %v CTAs in clusters of %v", l.Grid, l.clusterDim(k))
		}
	}
	for i, p := range k.Params {
		if len(l.Args[i]) != p.Size() {
			return fmt.Errorf("oracle: %d bytes for parameter %s of %d", len(l.Args[i]), p.Name, p.Size())
		}
	}
	return nil
}
