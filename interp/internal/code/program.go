package code

// This file defines the program: a kernel with all functions it can call.

import (
	"fmt"
	"slices"
	"strings"

	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// Program is a kernel with all functions it can call.
type Program struct {
	Tables
	Width           int // lanes of a warp
	Instrs          []Instr
	Blocks          []Block           // in the order of their instructions
	Funcs           []*Func           // the kernel first
	Sources         []Source          // the PTX instructions
	Fixed           []FixedInstr      // instructions that a launch executes once before it begins
	Reference       *Program          // the same program for execution on lanes, whose rows are neither compact nor shared; nil if there is none
	Consts          regfile.Constants // constants of all functions
	NumHits         int               // number of allocations that memory instructions remember, HitsPerAccess for each
	HasOrdered      bool              // some instruction is globally ordered
	CancelsClusters bool              // some instruction removes clusters that have not begun from the launch

	Globals   []probe.Variable // named variables in global and constant memory, by address
	Params    []probe.Variable // variables in the parameter block
	ParamLen  int              // size of the parameter block in bytes
	Shared    []probe.Variable // variables in shared memory, with dynamic shared memory last
	SharedLen uint64           // size of static shared variables in bytes
	SharedDyn uint64           // offset of dynamic shared memory in bytes

	blockAt []*Block // block of each pc
}

// FrameAlign is the minimum alignment of a function's local frame in words: 16 bytes.
const FrameAlign = 4

// Block is a basic block. A pc is an index of Program.Instrs. Control can be transferred only to the first pc of a block. A
// call or a barrier ends a block, and a globally ordered instruction begins one.
type Block struct {
	Index       int32   // in Program.Blocks
	First, Last int32   // pcs of its instructions; the last transfers control
	Body        []Instr // all instructions except the last
	Sources     Range   // its PTX instructions
	Func        int32   // index of the function

	// The pcs of the blocks that may follow: Next without a branch, Target for the lanes of a branch's guard, and Reconverge
	// as the reconvergence point of diverged lanes, which is the immediate post-dominator.
	Next, Target, Reconverge int32

	EndsLanes bool    // the block does nothing but end its lanes
	Caution   Caution // conditions to check before it runs
	MayWait   bool    // it is in a loop that may be a spin-wait
	Order     int32   // position in the reverse postorder of the function
}

// Caution is the set of conditions to check before a block runs.
type Caution uint8

const (
	GloballyOrdered Caution = 1 << iota // its first instruction is globally ordered: it lets the CTA observe the effects of other CTAs
	EndlessLoop                         // lanes that enter the block loop forever without an effect
	SeparateCalls                       // the block is a call in which each lane may have a different target
	GroupWait                           // its first instruction, a WgmmaWait, waits for the warp's warpgroup
)

// FixedInstr is an instruction that a launch executes once before it begins. Its result is a constant.
type FixedInstr struct {
	Instr
	BeforePC int32 // the pc of the instruction before which it stood
}

// Range is a range of indices: from First up to, but not including, End.
type Range struct{ First, End int32 }

// Len returns the number of indices.
func (r Range) Len() int { return int(r.End - r.First) }

// Func is a lowered function.
type Func struct {
	*ptx.Func
	Index       int32 // in Program.Funcs
	Begin, Exit int32 // pcs of its first instruction and of its exit, where lanes that return reconverge
	Blocks      Range // indices in Program.Blocks
	Sources     Range // indices in Program.Sources

	Frame        regfile.Size     // number of rows in its register window
	Saved        int              // stack space of a thread for its registers during a call, in words; the same in every mode
	Keeping      [P + 1][]Storage // storage in affine mode, by slot and row
	Zero         []Row            // rows that may be read before they are written
	Local        int              // size of its local frame without allocations of alloca, in words of 4 bytes
	Locals       []probe.Variable // variables, parameters and results in the local frame
	Align        int              // alignment of the local frame in words
	Multiply     bool             // it has multiplications that may be pending (WgmmaIssue)
	Allocates    bool             // it has alloca or stackrestore, so the stacks of lanes may have different sizes
	AddressTaken int32            // if Allocates is set, the row with the number of bytes that alloca has allocated above the frame
	Formals      []ParamPlace     // places of its parameters
	Results      []ParamPlace     // places of its results
	Regs         []Location       // by ptx.RegID; set by SetRegs
	Err          error            // the reason why it could not be lowered, with which a call of it ends the launch; nil: none
	Addr         uint64           // address for calls through pointers

	flow func() *dataFlow // for LocationOf; computed at the first call
}

// Source is a PTX instruction of the program.
type Source struct {
	*ptx.Instr
	Func          *Func
	Index         int32       // in Program.Sources
	Guard         int32       // same encoding as Instr.Guard
	Code          Range       // its instructions, including an end of a block
	Reads, Writes []ptx.RegID // registers it reads, without its guard, and writes
}

// Storage says where the values of a row are in affine mode. Only registers with the same storage share a row.
type Storage uint8

// The places, which can be combined.
const (
	StorageLanes  Storage = 0         // always in its row
	StorageShadow Storage = 1 << iota // in its shadow for the lanes of the shadow's mask, in its row for the others
	StorageBoth                       // compact values are also written to the row, because instructions on lanes often read it
	StorageProved                     // in its shadow, whose mask always includes the executing lanes
	StorageFixed                      // among the constants: it has the same value in the whole launch
)

// Link sets the fields that depend on the whole program: Index and Body of its blocks, the block of each pc, and
// CallSite.Callable. All functions must have been lowered.
func (p *Program) Link() {
	p.blockAt = slices.Grow(p.blockAt[:0], len(p.Instrs))
	for i := range p.Blocks {
		b := &p.Blocks[i]
		b.Index, b.Body = int32(i), p.Instrs[b.First:b.Last]
		for range b.Last - b.First + 1 {
			p.blockAt = append(p.blockAt, b)
		}
	}
	for i := range p.Calls {
		if site := &p.Calls[i]; site.Call != nil {
			site.Callable = make([]bool, len(p.Funcs))
			for j, f := range p.Funcs {
				site.Callable[j] = !f.Entry && site.Refusal(f.Func) == ""
			}
		}
	}
}

// Refusal returns the reason why a call through a pointer must not call a function (manual 9.7.12.5); "" if it may.
func (s *CallSite) Refusal(f *ptx.Func) string {
	place := func(g *ptx.Func) string { return fmt.Sprintf("%s at %s", g.Name, g.Pos) }
	if targets, known := s.Call.Targets(); known {
		var names []string
		for _, g := range targets {
			if g.Name == f.Name { // either may be a declaration
				return ""
			}
			names = append(names, g.Name)
		}
		return fmt.Sprintf("call of %s, which is not among the targets of the call: %s", place(f), strings.Join(names, ", "))
	}
	proto := s.Call.List
	if msg := f.Mismatch(proto.Proto); msg != "" {
		return fmt.Sprintf("the prototype %s at %s is %s, and %s is %s: %s", proto.Name, proto.Pos, proto.Proto.Signature(), place(f), f.Signature(), msg)
	}
	return ""
}

// Block returns the block of an instruction.
func (p *Program) Block(pc int32) *Block { return p.blockAt[pc] }

// End returns the last instruction of a block.
func (p *Program) End(b *Block) *Instr { return &p.Instrs[b.Last] }

// Successors appends the pcs that control can reach from a block within its function; end is the block's last
// instruction.
func (t *Tables) Successors(list []int32, b *Block, end *Instr) []int32 {
	switch end.Op {
	case Pop:
		return list
	case Branch, Return:
		list = append(list, b.Target)
	case BranchIndex:
		list = append(list, t.Targets[end.Side]...)
	case Exit:
	default:
		return append(list, b.Next)
	}
	if end.Guard != 0 {
		list = append(list, b.Next)
	}
	return list
}
