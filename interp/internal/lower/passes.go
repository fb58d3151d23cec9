// Package lower turns a kernel in IR, and the functions it can call, into the code that
// the machine runs.
package lower

// This file is what is done, in order. Read it first.

import (
	"fmt"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/ptx"
)

// Options choose between ways to lower.
type Options struct {
	Width int  // lanes of a warp
	Pack  bool // let registers that are not alive together share a row

	ExplicitCluster bool // the launch says what clusters it has
	Cluster         bool // … of several CTAs: an address in shared memory says of which one it is

	// Reference wants the same code a second time, with rows that are not shared, and
	// never compact: see code.Program.Ref. The code is verified then: the error may be a
	// Fault.
	Reference bool

	TID           [3]Spacing    // of the thread index, in the worst of the launch's warps
	Reconvergence Reconvergence // when lanes that have diverged are together again

	Affine bool // for affine mode:
	Eager  bool // keep compact what may be, whatever it costs
}

// Reconvergence is when lanes that a branch has diverged are together again behind its immediate
// post-dominator.
type Reconvergence uint8

// The answers.
const (
	Always        Reconvergence = iota // but for barriers that lanes may come to apart
	UnlessWaiting                      // unless they may wait for something in between
	Never
)

// Env is what lowering wants to know of the device that the module is loaded into.
type Env interface {
	// Address is that of a variable of the module or of a function; false for what has
	// none, or one for each CTA or thread.
	Address(s ptx.Symbol) (uint64, bool)
	// Params makes room for so many bytes of parameters, at mem.ParamBase.
	Params(bytes int)
	// AddressTaken is the functions whose address the module uses: see the function of
	// this name.
	AddressTaken() []*ptx.Func
	// SM is the compute capability of the device.
	SM() int
	// Memory is what lies at an address; nil if nothing does.
	Memory(addr uint64) *mem.Allocation
}

// pass is a step of lowering a function.
type pass struct {
	name   string
	after  []string // passes that must have run before
	affine bool     // only for affine mode
	run    func(l *lowerer)
}

var passes = []pass{
	// The instructions of the machine that each PTX instruction becomes. Every register
	// and every temporary has a row of its own.
	{name: "select", run: (*lowerer).selectCode},

	// How far apart the values of neighbouring lanes are, where that is the same number always,
	// and so how the lanes of a memory access lie.
	{name: "space", after: []string{"select"}, run: (*lowerer).findSpacings},

	// Which registers are kept compactly, which have one value in the whole launch, and
	// how each instruction executes then.
	{name: "plan", after: []string{"space"}, affine: true, run: (*lowerer).plan},

	// The rows of the register file: what is not alive together shares them.
	{name: "allocate", after: []string{"space"}, run: (*lowerer).allocate},

	// The function's place in the program, and so what its branches go to.
	{name: "link", after: []string{"allocate"}, run: (*lowerer).link},
}

// lowerer lowers the functions of one kernel.
type lowerer struct {
	prog   *code.Program
	module *ptx.Module
	kernel *ptx.Func
	env    Env
	opt    Options

	byFunc          map[*ptx.Func]int32
	sharedAddresses map[*ptx.Var]uint64 // addresses of shared variables
	moduleLocals    map[*ptx.Var]uint64 // addresses of the module's variables in local memory
	constR          map[uint32]int32
	constQ          map[uint64]int32
	constP          map[uint32]int32
	orderFree       bool // global atomics of this kernel commute
	callsMayWait    bool // a loop with a call may wait for other threads

	draft
	referenceDraft   *draft // of the reference; nil without
	beforeAllocation *draft // as it was before allocation, for Verify
}

// draft is the function being lowered. Until it is allocated, each of its registers and
// each temporary has a row of its own: operands name those. Until it is linked, control
// goes to indices of blocks.
type draft struct {
	fn      *code.Func
	blocks  []block
	tables  code.Tables
	folded  []folded // what a launch executes once, before it begins
	rows    []rowRef // by RegID
	virtual [code.P + 1]virtual
	live    *ptx.Liveness

	// Of the pass space.
	nodes          []node // what there is in blocks, in order
	firstNode      []int  // by block, and one behind the last: the index of its first
	mayBeDivergent []bool // by block: some live lanes may execute it without the others
	unspaced       bool   // the function is too large to follow how far apart values are

	// Of the pass select.
	carry          int32            // predicate row of CC.CF
	locals         map[*ptx.Var]int // byte offset in the local frame
	starts         []int32          // first block of each IR block
	postDominators []int            // immediate post-dominators of IR blocks
	block          *block
	curIR          int
	fixups         []func()
	guard          int32
	countSkipped   bool // what is emitted next is to count the lanes that the guard holds back
	src            *ptx.Instr

	unusedElems map[*ptx.Instr]int   // loads of vectors whose last elements are not read: how many
	products    map[*ptx.Instr]int32 // multiplications that may be pending: their indices in tables.Fragments
}

// folded is an instruction that a launch executes once, before it begins, and where it
// was: before an instruction of a block.
type folded struct {
	code.Instr
	block, index int32
}

// block is a block of a draft: its instructions and its end.
type block struct {
	code.Block
	instrs []code.Instr
	end    code.Instr
}

// virtual is the rows of one kind before allocation.
type virtual struct {
	residence   []code.Storage // by row: how the plan wants it
	temporaryOf []int32        // by row: the PTX instruction whose temporary it is, counted from 1; 0: none
	zero        []int32        // rows that may be read before they are written
	globals     []int32        // rows that keep their value all the time
}

// rowRef is the row of a virtual register.
type rowRef struct {
	Slot code.Slot
	Row  int32
	High int32 // of the upper half, if it is wide
	wide bool  // 128 bits
}

// Kernel lowers a kernel of a module. The error is a *ptx.Unsupported, or a *Fault.
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
		ref.Consts = l.prog.Consts // as they were written down
		ref.Link()
	}
	l.prog.Link()
	if err := l.layoutConstants(); err != nil {
		return nil, err
	}
	return l.prog, nil
}

// layoutConstants lays the constants out.
func (l *lowerer) layoutConstants() (err error) {
	pass := "lay"
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

// recoverError makes an error of a panic in a pass, where a reference is wanted to find faults.
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

// unsupported is the answer to legal PTX that is not run.
type unsupported struct {
	pos              ptx.Pos
	description, why string
}

// refuse stops lowering at the present instruction. It is caught in function.
func (l *lowerer) refuse(format string, args ...any) {
	panic(unsupported{l.src.Pos, fmt.Sprintf(format, args...), ""})
}
