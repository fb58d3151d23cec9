package probe

import "gemu/ptx"

// LaunchInfo describes a launch.
type LaunchInfo struct {
	// ID is the number of the launch among the launches of the device, in the order in which they began.
	ID uint64
	// Device is the number of the device among the devices of the process, from 1 on.
	Device uint64
	// SM is the compute capability of the device: 90 for 9.0.
	SM int
	// Kernel is the kernel.
	Kernel *ptx.Func
	// Module is the module of the kernel.
	Module *ptx.Module
	// Grid is the number of CTAs.
	Grid ptx.Dim3
	// Block is the number of threads of a CTA.
	Block ptx.Dim3
	// Cluster is the number of CTAs of a cluster: 1 without clusters.
	Cluster ptx.Dim3
	// WarpSize is the number of lanes of a warp.
	WarpSize int
	// Shared is the dynamic shared memory of a CTA in bytes.
	Shared int
	// SharedBytes is the shared memory of a CTA in bytes: static variables, padding, and then dynamic shared memory.
	SharedBytes int
	// Cooperative means that all CTAs are in flight at once.
	Cooperative bool
	// Seed selects the schedule.
	Seed uint64
	// Dispatch has the linear indices of the clusters, or of the CTAs without clusters, in the order in which they begin; nil means
	// ascending indices. See CTAAt.
	Dispatch []int
	// MaxSteps is the limit of instructions of a warp.
	MaxSteps int64
	// EagerEffects means that asynchronous effects happen when they are issued, not as late as possible.
	EagerEffects bool
	// Mode is the mode of execution: "check", "affine" or "vector".
	Mode string
	// Reconverge is the reconvergence policy.
	Reconverge ReconvergencePolicy
	// Program has the instructions of the kernel and of the functions that it can call.
	Program Program
	// Order is the place of the launch among the operations of the device; nil if the launch follows all operations before it
	// and precedes all operations after it.
	Order *HostOrder

	// Parameters is the contents of the parameter block: the arguments, at the offsets of Program.Params.
	Parameters []byte
	// Pointers has the words of the parameters whose values, when the launch begins, are addresses in the range of device memory, in
	// the order of their offsets. A word is as wide as an address of the module.
	Pointers []Pointer
}

// Clusters returns the dimensions of the grid in clusters.
func (l *LaunchInfo) Clusters() ptx.Dim3 {
	return ptx.Dim3{X: l.Grid.X / l.Cluster.X, Y: l.Grid.Y / l.Cluster.Y, Z: l.Grid.Z / l.Cluster.Z}
}

// Ascending reports whether CTAs begin in the order of their indices.
func (l *LaunchInfo) Ascending() bool { return l.Dispatch == nil && l.Cluster.Count() == 1 }

// CTAAt returns the ID of the CTA at a position, from 0 on, in the order in which CTAs begin: cluster by cluster, by rank. Among
// CTAs that fail, the first in this order ends the launch.
func (l *LaunchInfo) CTAAt(position int) ptx.Dim3 {
	c := l.Cluster
	index, rank := position/c.Count(), position%c.Count()
	if l.Dispatch != nil {
		index = l.Dispatch[index]
	}
	k, r := l.Clusters().At(index), c.At(rank)
	return ptx.Dim3{X: k.X*c.X + r.X, Y: k.Y*c.Y + r.Y, Z: k.Z*c.Z + r.Z}
}

// ReconvergencePolicy describes a rule that decides which warp split of a warp runs next, and where warp splits reconverge.
type ReconvergencePolicy struct {
	// Name selects the policy (interp.Launch.Reconverge).
	Name string
	// Doc is a one-line description.
	Doc string
	// LanesMayWait means that lanes of a warp can wait for each other, as in a spin lock.
	LanesMayWait bool
	// WaitsAtExit means that lanes wait at the kernel's end for the remaining lanes of the warp.
	WaitsAtExit bool
	// AtPostDominators means that lanes reconverge at the immediate post-dominator of the branch where they diverged.
	AtPostDominators bool
}

// HostOrder is the place of a launch, or of a host operation, among the operations of a device. gemu runs all operations of a
// device in sequence; HostOrder states which of them the program has ordered. Each operation belongs to a line, such as a
// stream. The operations of a line are ordered.
type HostOrder struct {
	// Line is the line of the operation, from 0 on.
	Line int
	// Clock is the number of the operation on its line, from 1 on.
	Clock uint64
	// Before has, for each line, the clock of the last operation that the program orders before this operation. Missing lines
	// count as 0.
	Before []uint64

	// Ended has, for each line, the clock of the last operation that the host knew to have ended when it submitted this
	// operation. Such operations also precede all operations that are submitted later, and later events.
	Ended []uint64

	// Name is the kind of operation for messages, such as "a copy".
	Name string
	// Stream is the name of the operation's stream for messages.
	Stream string
}

// IsAfter reports whether the program orders the other operation before this operation.
func (o *HostOrder) IsAfter(other *HostOrder) bool { return other.isCovered(o.Before) }

// EndedBefore reports whether the host knew that the other operation had ended when it submitted this operation.
func (o *HostOrder) EndedBefore(other *HostOrder) bool { return other.isCovered(o.Ended) }

func (o *HostOrder) isCovered(upTo []uint64) bool {
	return o.Line < len(upTo) && o.Clock <= upTo[o.Line]
}

// Program is the PTX instructions of a kernel and of all functions that it can call, numbered as Event.Index. Programs of the same
// lowered kernel are equal, so a program can be a map key. Methods can be called at any time, from several goroutines.
type Program interface {
	// Len returns the number of instructions.
	Len() int
	// At returns an instruction and the function that contains it.
	At(index int) (*ptx.Instr, *ptx.Func)
	// Writes returns the registers of Event.Writes at an instruction: those of Instr.Defs and, at a call, the registers of the module
	// (ptx.Func.Statics), which the called function may write.
	Writes(index int) []ptx.RegID
	// Shared returns the variables in shared memory that the kernel and its callees name, by offset. Dynamic shared memory comes
	// last, as variables without a size.
	Shared() []Variable
	// Globals returns the variables in global and constant memory, and the references to textures, surfaces and samplers, that the
	// kernel and its callees name, in the order of declaration. Their offsets are addresses.
	Globals() []Variable
	// Params returns the parameters of the kernel, by offset from ParamBase.
	Params() []Variable
	// Locals returns the variables, parameters and results in the local frame of a function.
	Locals(f *ptx.Func) []Variable
	// LocationOf returns the place of a register of the function at an instruction, in the code that the mode executes.
	LocationOf(index int, r ptx.RegID) Location

	// Operations returns the operations of an instruction. Unless a probe of the launch subscribes to OnOperation or OnResult, it
	// returns nil, and Frame and Arguments return zero values.
	Operations(index int) *Operations
	// Frame returns the number of rows that operands of a function use.
	Frame(f *ptx.Func) FrameSize
	// Arguments returns the places of a function's parameters when it begins, and of its results when it returns.
	Arguments(f *ptx.Func) (params, results []Operand)
}

// Variable is a variable and its place in a block of memory.
type Variable struct {
	// Var is the variable.
	Var *ptx.Var
	// Offset is its offset in bytes.
	Offset int
}

// Location is the place of a register at an instruction.
type Location struct {
	// Kind is the kind of place.
	Kind LocationKind
	// Bits is the width of the row: 32 or 64, 1 for predicates.
	Bits int
	// Row is, for RowLocation, the number of the row among the running function's rows of this width.
	Row int
}

// LocationKind is a kind of place.
type LocationKind uint8

// The kinds of place.
const (
	// NoLocation means that the register is dead.
	NoLocation LocationKind = iota
	// RowLocation is a row of the register file. In affine mode the row may hold only a compact copy.
	RowLocation
	// ConstantLocation means that the register has a single value, for all threads, during the whole launch.
	ConstantLocation
)
