package oracle

import (
	"context"
	"fmt"

	"gemu/ptx"
)

// Launch is a launch of a kernel.
type Launch struct {
	Kernel      string
	Grid, Block [3]int
	Args        [][]byte // an element per parameter, of the parameter's size
	Shared      int      // bytes of dynamic shared memory
	Cooperative bool     // provides a workspace for a grid barrier
	Cluster     [3]int   // CTAs of a cluster; zero: as the kernel requires
	WarpSize    int      // 1 to 64; 0 means 32
	MaxSteps    int64    // instructions that a thread may execute, skipped instructions included; 0: no limit

	Order func() Order // makes the order of each warp; nil: Sequential
	Log   func(*Step)  // receives every instruction of every thread; may be nil
}

// Stats counts the work of a launch.
type Stats struct {
	ThreadInstructions int64 // executed by threads with a true guard; branches, returns and exits count even if their guard is false
	Tolerated          int64 // accesses that Config tolerated
}

// Kinds of Trap.
const (
	KindMemory     = "memory"          // an access outside memory, or not allowed by the memory
	KindMisaligned = "misaligned"      // an address that is no multiple of the access size
	KindStack      = "stack overflow"  // local memory or call depth exhausted
	KindCall       = "bad call"        // a call of a value that is not such a function
	KindBranch     = "bad branch"      // a brx.idx outside its list
	KindDivergent  = "threads missing" // in a matrix instruction that all threads must execute together
	KindMatrix     = "bad matrix operand"
	KindTensor     = "bad use of tensor memory"
	KindBarrier    = "bad barrier" // a barrier that does not exist, or whose counts disagree
	KindAsync      = "bad asynchronous operation"
	KindCluster    = "bad cta rank" // a CTA that is not in the cluster
	KindExited     = "exited"       // shared memory of a CTA that has exited
	KindDeadlock   = "deadlock"     // no thread of a CTA can run
	KindSteps      = "step limit"   // Launch.MaxSteps exceeded
	KindHeap       = "bad free"     // free of an address that is not on the heap
	KindAssert     = "assertion"    // __assertfail was called
	KindTexture    = "bad texture access"
	KindSurface    = "bad surface access"
	KindTrap       = "trap"       // the trap instruction
	KindBreak      = "breakpoint" // the brkpt instruction
)

// Trap is a guest fault with its instruction and thread.
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

// Unsupported is the error of a thread that reaches an instruction which the oracle does not run.
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

// Run executes a launch to its end. The error is a *Trap, an *Unsupported, the context's error, or describes an invalid
// launch.
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

// check refuses invalid launches.
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
