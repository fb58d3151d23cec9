package code

// This file is the program: a kernel with everything it can call.

import (
	"fmt"
	"slices"
	"strings"

	"gemu/ptx"
	"gemu/regfile"
)

// Program is a kernel with everything it can call.
type Program struct {
	Tables
	Width           int // lanes of a warp
	Instrs          []Instr
	Blocks          []Block // in the order of their instructions
	Funcs           []*Func // the kernel first
	Sources         []Source
	Fixed           []FixedInstr
	Reference       *Program // the same with rows of its own, none of them compact or shared; or nil
	Consts          regfile.Constants
	NumHits         int  // allocations that memory instructions remember, Known each
	HasOrdered      bool // some instruction lets a CTA see what other CTAs did
	CancelsClusters bool // some instruction takes clusters that have not begun out of the launch

	Params    []Variable // in the parameter block
	ParamLen  int        // bytes
	Shared    []Variable // in shared memory, those without a size behind the others
	SharedLen uint64     // bytes of static shared variables
	SharedDyn uint64     // where dynamic shared memory begins

	blockAt []*Block // by pc
}

// Variable is a variable and its place in a piece of memory.
type Variable struct {
	Var    *ptx.Var
	Offset int // bytes
}

// FrameAlign is the least alignment, in words, of what a function has in local memory:
// 16 bytes.
const FrameAlign = 4

// Block is a basic block. A pc is an index of Program.Instrs; where control goes it is
// the first of a block. Calls, barriers and instructions that CTAs must run in order end
// or begin blocks.
type Block struct {
	Index       int32   // in Program.Blocks
	First, Last int32   // its instructions; the last says how it ends
	Body        []Instr // those before the last
	Sources     Range   // the PTX instructions in it
	Func        int32   // index of the function

	// Of the end: where control goes on; where the lanes of a branch's guard go; and
	// where lanes that have diverged meet again, at the immediate post-dominator.
	Next, Target, Reconverge int32

	EndsLanes bool    // it is no more than the end of its lanes
	Caution   Caution // before it runs
	MayWait   bool    // it is in a loop that may wait for other threads
	Order     int32   // in the reverse postorder of the function
}

// Caution is what must be looked at before a block runs.
type Caution uint8

const (
	GloballyOrdered Caution = 1 << iota // its first instruction lets the CTA see what others did
	EndlessLoop                         // from here control goes round for ever, without an effect
	SeparateCalls                       // it is a call that each lane may make in a way of its own
	GroupWait                           // its first instruction waits for the warp's warpgroup: it is a WgmmaWait
)

// FixedInstr is an instruction that a launch executes once, before it begins: its result is a
// constant.
type FixedInstr struct {
	Instr
	BeforePC int32 // the pc of the instruction that it stood before
}

// Range is the indices from First on, below End.
type Range struct{ First, End int32 }

// Len is the number of indices.
func (r Range) Len() int { return int(r.End - r.First) }

// Func is a lowered function.
type Func struct {
	*ptx.Func
	Index       int32 // in Program.Funcs
	Begin, Exit int32 // pcs: its first instruction, and where returning lanes meet
	Blocks      Range
	Sources     Range

	Frame        regfile.Size     // rows of its window
	Saved        int              // words that its registers take of a thread's stack; the same in every mode
	Keeping      [P + 1][]Storage // by row: how affine mode keeps it
	Zero         []Row            // rows that may be read before they are written
	Local        int              // words (4 bytes) of its static local frame
	Locals       []Variable       // in it: variables, parameters and results
	Align        int              // what the frame begins at a multiple of, in words
	Multiply     bool             // it has multiplications that may be pending: WgmmaIssue
	Allocates    bool             // it has alloca or stackrestore: lanes' stacks may end at different places
	AddressTaken int32            // if it has: the row of how many bytes above the static frame are taken
	Formals      []ParamPlace     // of its parameters
	Results      []ParamPlace     // … and results
	Regs         []Location       // by ptx.RegID
	Err          error            // why it could not be lowered; raised when it is called
	Addr         uint64           // that calls through pointers name
}

// Location is where a register of a function is: a row, or a constant of the launch, from
// one PTX instruction to another; elsewhere nobody reads it.
type Location struct {
	Slot        Slot // NoSlot: it is not used
	Wide        bool // 128 bits: its upper half is in row High
	Row, High   int32
	First, Last int32 // indices of Program.Sources
}

// LocationOf is where a register is at a PTX instruction; ok is false where it is dead.
func (f *Func) LocationOf(r ptx.RegID, source int32) (loc Location, ok bool) {
	loc = f.Regs[r]
	return loc, loc.Slot != NoSlot && source >= loc.First && source <= loc.Last
}

// Source is a PTX instruction of the program.
type Source struct {
	*ptx.Instr
	Func          *Func
	Index         int32       // in Program.Sources
	Guard         int32       // as Instr.Guard
	Code          Range       // its instructions, those that end a block included
	Reads, Writes []ptx.RegID // registers it names, guard left out
}

// Storage is how the registers of a row are kept in affine mode. Rows are only shared by
// registers that are kept in the same way.
type Storage uint8

// The ways, which combine.
const (
	StorageLanes  Storage = 0         // in its row, always
	StorageShadow Storage = 1 << iota // in its shadow, if the shadow's tag says so
	StorageBoth                       // … and then in its row as well: its readers want the lanes as often as not
	StorageProved                     // … and the tag always says so
	StorageFixed                      // among the constants: it has one value in the whole launch
)

// Link finds the blocks of a program's instructions and the instructions of its blocks, when
// all its functions are lowered.
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

// Refusal says why a call through a pointer must not reach a function (manual 9.7.12.5); "" if it may.
func (s *CallSite) Refusal(f *ptx.Func) string {
	place := func(g *ptx.Func) string { return fmt.Sprintf("%s at %s", g.Name, g.Pos) }
	if targets, known := s.Call.Targets(); known {
		var names []string
		for _, g := range targets {
			if g.Name == f.Name { // one of them may be a declaration
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

// Block is the block that an instruction is in.
func (p *Program) Block(pc int32) *Block { return p.blockAt[pc] }

// End is the instruction that ends a block.
func (p *Program) End(b *Block) *Instr { return &p.Instrs[b.Last] }

// Successors appends where control can go from a block with an end within its function:
// as the block says it, pcs in a program.
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
