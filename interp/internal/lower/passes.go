// Package lower translates a kernel in IR, with the functions it can call, into lowered code (package code).
//
//	IR of a function
//	   │ select     instructions on virtual rows       select.go; data.go, mov.go, convert.go, compare.go, control.go,
//	   │                                               memory.go, async.go, matrix.go, tensor.go, texture.go, video.go …
//	   │ space      spacings and access patterns       spacing.go, node.go
//	   │ plan       compact execution (affine mode)    plan.go
//	   │ allocate   rows of the register file          allocate.go, rows.go
//	   │ link       place in the program               link.go
//	   ▼
//	code.Program
//
// Before the passes, reach.go finds the functions of the kernel, and layout.go places parameters and shared variables.
// layout.go also places the local variables of a function, for the pass select. verify.go checks the result of each pass.
package lower

// This file defines the passes in their order. Read it first.

import (
	"fmt"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/ptx"
)

// Options control the lowering of a kernel.
type Options struct {
	Width int  // lanes of a warp
	Pack  bool // let registers share a row if they are not live at the same time

	ExplicitCluster bool // the launch specifies the cluster size
	Cluster         bool // clusters have several CTAs: an address in shared memory contains the rank of its CTA

	// Reference requests a second version of the code whose rows are neither shared nor compact
	// (code.Program.Reference). The code is then verified: the error may be a VerifyError.
	Reference bool

	TID           [3]affinetrack.Spacing // spacings of %tid.x, %tid.y and %tid.z in the least regular warp of the launch
	Reconvergence Reconvergence          // when diverged lanes reconverge

	SingleInstrs bool // each block has a single PTX instruction, so that warp splits can switch after each

	Affine bool // lower for affine mode
	Eager  bool // keep values compact wherever possible, regardless of cost
}

// Reconvergence states when the lanes that diverged at a branch are together again at its immediate post-dominator.
type Reconvergence uint8

// The cases.
const (
	Always        Reconvergence = iota // always, except after barriers where lanes may arrive separately
	UnlessWaiting                      // unless the lanes may have waited for other threads in between
	Never                              // it is never guaranteed
)

// Env is the device into which the module is loaded.
type Env interface {
	// Address returns the address of a module variable or function. ok is false if the symbol has no address, or a
	// different address in each CTA or thread.
	Address(s ptx.Symbol) (addr uint64, ok bool)
	// Params makes room for parameters of the given size in bytes at probe.ParamBase.
	Params(bytes int)
	// AddressTaken returns the result of the function AddressTaken for the module.
	AddressTaken() []*ptx.Func
	// SM returns the compute capability of the device.
	SM() int
	// Memory returns the allocation at an address; nil if there is none.
	Memory(addr uint64) *mem.Allocation
}

// pass is a step of lowering a function.
type pass struct {
	name   string
	after  []string // passes that must have run before
	affine bool     // runs only for affine mode
	run    func(l *lowerer)
}

var passes = []pass{
	// Select the lowered instructions of each PTX instruction. Every register and every temporary has a row of its own.
	{name: "select", run: (*lowerer).selectCode},

	// Find the constant distances of values from lane to lane, and from them the patterns of memory accesses.
	{name: "space", after: []string{"select"}, run: (*lowerer).findSpacings},

	// Decide which registers are kept compactly, which have one value in the whole launch, and how each instruction
	// executes.
	{name: "plan", after: []string{"space"}, affine: true, run: (*lowerer).plan},

	// Assign rows of the register file. Registers share a row if they are not live at the same time.
	{name: "allocate", after: []string{"space"}, run: (*lowerer).allocate},

	// Place the function in the program, and resolve its branches.
	{name: "link", after: []string{"allocate"}, run: (*lowerer).link},
}

// lowerer lowers the functions of one kernel.
type lowerer struct {
	prog   *code.Program
	module *ptx.Module
	kernel *ptx.Func
	env    Env
	opt    Options

	byFunc          map[*ptx.Func]int32 // index in prog.Funcs of each reachable function
	sharedAddresses map[*ptx.Var]uint64 // addresses of shared variables
	moduleLocals    map[*ptx.Var]uint64 // addresses of the module's variables in local memory
	constR          map[uint32]int32    // rows of 32-bit constants, by value
	constQ          map[uint64]int32    // rows of 64-bit constants, by value
	constP          map[uint32]int32    // rows of constant predicates, by lane mask
	orderFree       bool                // the order of the kernel's global atomics is unobservable: see isOrderFree
	callsMayWait    bool                // a loop with a call may wait for other threads

	draft
	referenceDraft   *draft // draft of the reference; nil if there is none
	beforeAllocation *draft // the draft before allocation, for verification
}

// draft is the function being lowered. Before the pass allocate, operands are virtual rows: each register and each
// temporary has one of its own. Before the pass link, the targets of branches are indices of blocks, not pcs.
type draft struct {
	fn      *code.Func
	blocks  []block
	tables  code.Tables
	folded  []folded            // instructions executed once, before a launch begins
	rows    []rowRef            // virtual row of each register, by RegID
	virtual [code.P + 1]virtual // virtual rows, by slot
	live    *ptx.Liveness

	// Results of the pass space.
	nodes          []node // all instructions of the blocks, in order
	firstNode      []int  // for each block, the index of its first node; then the number of nodes
	mayBeDivergent []bool // for each block: a part of the live lanes may execute it alone
	unspaced       bool   // the function is too large to track spacings

	// State of the pass select.
	carry          int32            // predicate row of CC.CF
	locals         map[*ptx.Var]int // offset in the local frame in bytes
	starts         []int32          // first block of each IR block
	postDominators []int            // immediate post-dominators of IR blocks
	block          *block           // the current block, which is the last
	curIR          int              // index of the current IR block
	fixups         []func()         // functions to call when all blocks exist
	guard          int32            // guard of the current PTX instruction, encoded as code.Instr.Guard
	countSkipped   bool             // the next emitted instruction must count the lanes in which the guard does not hold
	src            *ptx.Instr       // the current PTX instruction

	unusedElems map[*ptx.Instr]int   // number of unneeded trailing elements of a vector load
	products    map[*ptx.Instr]int32 // index in tables.Fragments of each possibly pending multiplication
}

// folded is an instruction that a launch executes once, before it begins.
type folded struct {
	code.Instr
	block, index int32 // its former place: block, and index of the following instruction in the block
}

// block is a block of a draft: its instructions and its end.
type block struct {
	code.Block
	instrs []code.Instr
	end    code.Instr
}

// virtual describes the virtual rows of one slot.
type virtual struct {
	residence   []code.Storage // planned storage of each row
	temporaryOf []int32        // for each row, the PTX instruction using it as a temporary, counted from 1; 0 if it is no temporary
	zero        []int32        // rows that may be read before they are written
	kept        []int32        // rows whose value must be kept during the whole function
}

// rowRef is the virtual row of a register.
type rowRef struct {
	Slot code.Slot
	Row  int32
	High int32 // row of the upper half, if wide
	wide bool  // the register has 128 bits
}

// Kernel lowers a kernel of a module. The error is a *ptx.Unsupported, or a *VerifyError.
func Kernel(m *ptx.Module, k *ptx.Func, env Env, opt Options) (*code.Program, error) {
	l := &lowerer{
		prog: &code.Program{Width: opt.Width}, module: m, kernel: k, env: env, opt: opt,
		byFunc: map[*ptx.Func]int32{}, sharedAddresses: map[*ptx.Var]uint64{}, moduleLocals: map[*ptx.Var]uint64{},
		constR: map[uint32]int32{}, constQ: map[uint64]int32{}, constP: map[uint32]int32{},
	}
	if opt.Reference {
		l.prog.Reference = &code.Program{Width: opt.Width}
	}
	reach := reachable(m, k, env)
	l.layoutParams()
	l.layoutShared(reach)
	l.listGlobals(reach)
	for i, r := range reach {
		l.byFunc[r.fn] = int32(i)
		addr, _ := env.Address(r.fn)
		l.prog.Funcs = append(l.prog.Funcs, &code.Func{Func: r.fn, Index: int32(i), Addr: addr})
	}
	l.orderFree = isOrderFree(reach)
	l.callsMayWait = anyMayWait(reach[1:])
	if ref := l.prog.Reference; ref != nil {
		for _, f := range l.prog.Funcs {
			g := *f
			ref.Funcs = append(ref.Funcs, &g)
		}
	}
	for i, r := range reach {
		err := l.lowerFunction(l.prog.Funcs[i])
		if _, fault := err.(*VerifyError); fault || err != nil && r.direct {
			return nil, err
		}
		l.prog.Funcs[i].Err = err
	}
	if ref := l.prog.Reference; ref != nil {
		ref.Consts = l.prog.Consts // a copy from before Layout
		ref.Link()
	}
	l.prog.Link()
	if err := l.layoutConstants(); err != nil {
		return nil, err
	}
	return l.prog, nil
}

// layoutConstants assigns places to the constants.
func (l *lowerer) layoutConstants() (err error) {
	pass := "layout of constants"
	defer l.recoverError(l.kernel, &pass, &err)
	l.prog.Consts.Layout()
	return nil
}

// lowerFunction runs the passes on a function.
func (l *lowerer) lowerFunction(fn *code.Func) (err error) {
	pass := ""
	defer l.recoverError(fn.Func, &pass, &err)
	l.draft, l.referenceDraft = draft{fn: fn}, nil
	fn.Sources.First = int32(len(l.prog.Sources))
	for _, p := range passes {
		if p.affine && !l.opt.Affine {
			continue
		}
		pass = p.name
		p.run(l)
		if err := l.verify(pass); err != nil {
			return &VerifyError{Func: fn.Func, Pass: pass, Err: err}
		}
	}
	return nil
}

// recoverError converts the panic of refuse to a *ptx.Unsupported. If a reference is requested, it also converts an error
// with which a pass panics to a *VerifyError, because a reference serves to find faults of this package.
func (l *lowerer) recoverError(fn *ptx.Func, pass *string, err *error) {
	switch r := recover().(type) {
	case nil:
	case unsupported:
		*err = &ptx.Unsupported{File: l.module.Name, Pos: r.pos, Feature: r.description, Why: r.why, Line: l.module.Line(int(r.pos.Line)), Kernel: l.kernel.Name}
	case error:
		if !l.opt.Reference {
			panic(r)
		}
		*err = &VerifyError{Func: fn, Pass: *pass, Err: r}
	default:
		panic(r)
	}
}

// unsupported is the panic value for legal PTX outside gemu's support.
type unsupported struct {
	pos              ptx.Pos
	description, why string
}

// refuse stops lowering, because gemu does not support the described feature of the current PTX instruction.
// recoverError handles its panic.
func (l *lowerer) refuse(format string, args ...any) {
	panic(unsupported{l.src.Pos, fmt.Sprintf(format, args...), ""})
}
