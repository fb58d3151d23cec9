// Package phases divides a kernel into phases: parts that need different amounts of registers and of shared memory, as
// the compiler of Zorua does (Vijaykumar, "Enhancing Programmability, Portability, and Performance with Rich Cross-Layer
// Abstractions", 2019, section 4.4.7). docs/zorua.md has the definitions.
//
// [Divide] finds the phases of a kernel, or takes those that its .pragma directives name. [Annotate] writes such
// directives. Registers are live virtual registers, in units of 32 bits; predicates count 0. All sizes of shared memory
// are in bytes of a block.
package phases

import (
	"fmt"
	"math/bits"
	"slices"

	"gemu/ptx"
)

// Numbers of the thesis, section 4.4.7.
const (
	Change  = 0.25 // least change of registers or of shared memory, as a share of the present number, at which a phase begins
	Minimum = 10   // least number of instructions of a phase, in the order of the text
)

// Resources are the resources of a phase.
type Resources struct {
	Registers int // of a thread, of 32 bits
	Shared    int // bytes of a block
}

// Phase is a part of a kernel that begins at an instruction.
type Phase struct {
	First     *ptx.Instr // the first instruction
	Resources            // declared resources: the most that are live until the next phase begins, on all paths
	Pragma    ptx.Pos    // place of the directive that declares them; the zero Pos: they are inferred
}

// Kernel is a kernel that is divided into phases.
type Kernel struct {
	Func   *ptx.Func // the kernel
	Phases []Phase   // in the order of the text; the first begins at the first instruction
	Instrs []Instr   // all instructions, in the order of the text
	Most   Resources // the most that are live at an instruction

	dynamic int
	vars    []*ptx.Var // of shared memory
	index   map[*ptx.Instr]int
}

// Instr is an instruction of a divided kernel.
type Instr struct {
	*ptx.Instr
	Live      Resources       // before and after the instruction, whichever is more
	Divergent bool            // lanes of a warp may have taken another path (see divergentBlocks)
	Waits     bool            // a barrier or a fence: a phase begins after it, with the same resources
	Reads     RegisterSets    // sets of the registers that it reads
	Writes    RegisterSets    // sets of the registers that it writes
	Numbers   RegisterNumbers // numbers of the registers that it reads or writes

	block      int
	live       []ptx.RegID
	shared     uint64 // accessed variables of shared memory
	liveShared uint64
}

// RegisterSets is a set of register sets of a warp: bit i has registers 4i to 4i+3 of all lanes.
type RegisterSets uint64

// RegisterNumbers is a set of registers of a warp: bit i%64 of word i/64 has register i. The last one stands for all further registers.
type RegisterNumbers [4]uint64

// Add adds the registers of another set.
func (n *RegisterNumbers) Add(o *RegisterNumbers) {
	for i := range n {
		n[i] |= o[i]
	}
}

// Count returns the number of registers.
func (n *RegisterNumbers) Count() (count int) {
	for _, word := range n {
		count += bits.OnesCount64(word)
	}
	return count
}

// SetRegisters is the number of registers of a set (section 4.4.5).
const SetRegisters = 4

// Error is a kernel that cannot be divided, or a directive that is wrong.
type Error struct {
	File string  // name of the module
	Pos  ptx.Pos // place in it
	Text string  // the fault and its remedy
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Pos.Line, e.Text) }

// errorAt returns an error at a place of the kernel's module.
func errorAt(f *ptx.Func, at ptx.Pos, format string, args ...any) error {
	return &Error{f.Module().Name, at, fmt.Sprintf(format, args...)}
}

// Divide divides a kernel. dynamic is the size of its dynamic shared memory in bytes; less than 0 means that it is unknown, which is
// an error if the kernel accesses such memory. A kernel that calls functions is an error of type *Error, and so is a wrong directive.
func Divide(f *ptx.Func, dynamic int) (*Kernel, error) {
	k := &Kernel{Func: f, dynamic: dynamic, index: map[*ptx.Instr]int{}}
	for b, block := range f.Blocks {
		for _, instr := range block.Instrs {
			k.index[instr] = len(k.Instrs)
			k.Instrs = append(k.Instrs, Instr{Instr: instr, block: b, Waits: instr.Form.Effects.Any(ptx.Barrier | ptx.Fences)})
			if instr.Form.Effects.HasAll(ptx.Calls) {
				return nil, errorAt(f, instr.Pos, "%s calls a function: kernels with calls have no phases. Compile with inlining", f.Name)
			}
		}
	}
	if len(k.Instrs) == 0 {
		return nil, errorAt(f, f.Pos, "%s has no instructions", f.Name)
	}
	if err := k.findShared(); err != nil {
		return nil, err
	}
	k.findLive()
	for b, divergent := range divergentBlocks(f) {
		for _, instr := range f.Blocks[b].Instrs {
			k.Instrs[k.index[instr]].Divergent = divergent
		}
	}
	for i := range k.Instrs {
		live := &k.Instrs[i].Live
		k.Most = Resources{max(k.Most.Registers, live.Registers), max(k.Most.Shared, live.Shared)}
	}
	declared, err := k.declared()
	if err != nil {
		return nil, err
	}
	if declared != nil {
		k.Phases = declared
	} else {
		k.infer()
	}
	k.numberRegisters()
	return k, nil
}

// Index returns the index of an instruction in Instrs; -1 if it is not of the kernel.
func (k *Kernel) Index(instr *ptx.Instr) int {
	if i, ok := k.index[instr]; ok {
		return i
	}
	return -1
}

// isChange reports whether a phase with the resources to begins after from.
func isChange(from, to Resources) bool {
	differs := func(a, b int) bool { return float64(max(a-b, b-a)) >= Change*float64(max(a, 1)) }
	return differs(from.Registers, to.Registers) || differs(from.Shared, to.Shared)
}

// window returns the most resources of the instructions of a phase of the least length that begins at instruction i.
func (k *Kernel) window(i int) (most Resources) {
	for _, instr := range k.Instrs[i:min(i+Minimum, len(k.Instrs))] {
		most = Resources{max(most.Registers, instr.Live.Registers), max(most.Shared, instr.Live.Shared)}
	}
	return most
}

// begins reports whether the phase that begins at instruction last ends before instruction i.
func (k *Kernel) begins(last, i int) bool {
	from, live, next := k.window(last), k.Instrs[i].Live, k.window(i)
	grows := Resources{max(from.Registers, live.Registers), max(from.Shared, live.Shared)}
	shrinks := Resources{min(from.Registers, next.Registers), min(from.Shared, next.Shared)}
	return isChange(from, grows) || isChange(from, shrinks)
}

// infer finds the phases. It goes through the text: a phase begins at the first instruction after at least Minimum instructions of the phase
// before it, where the lanes of a warp are together, and where the instruction needs more than the window of that phase, or its window
// less. Then it removes phases whose resources differ from those of no phase before them.
func (k *Kernel) infer() {
	short := map[int]bool{} // blocks of loops with less than Minimum instructions
	for _, l := range k.Func.Loops() {
		n := 0
		for _, b := range l.Blocks {
			n += len(b.Instrs)
		}
		for _, b := range l.Blocks {
			short[b.Index] = short[b.Index] || n < Minimum
		}
	}
	begins := []int{0}
	for i := range k.Instrs {
		last := begins[len(begins)-1]
		if o := &k.Instrs[i]; i-last >= Minimum && !o.Divergent && !short[o.block] && k.begins(last, i) {
			begins = append(begins, i)
		}
	}
	for {
		needs, before := k.needs(begins)
		remove := slices.IndexFunc(begins, func(i int) bool {
			n := slices.Index(begins, i)
			return n > 0 && !slices.ContainsFunc(before[n], func(p int) bool { return isChange(needs[p], needs[n]) })
		})
		if remove < 0 {
			for n, i := range begins {
				k.Phases = append(k.Phases, Phase{First: k.Instrs[i].Instr, Resources: needs[n]})
			}
			return
		}
		begins = slices.Delete(begins, remove, remove+1)
	}
}

// needs returns, for phases that begin at some instructions, the most resources that are live until the next phase begins, on all paths, and
// the phases that can be before each of them.
func (k *Kernel) needs(begins []int) (needs []Resources, before [][]int) {
	needs, before = make([]Resources, len(begins)), make([][]int, len(begins))
	isBegin := map[int]int{}
	for n, i := range begins {
		isBegin[i] = n
	}
	for n, i := range begins {
		seen := map[int]bool{} // first instructions of the visited parts of blocks
		work := []int{i}
		for len(work) > 0 {
			at := work[len(work)-1]
			work = work[:len(work)-1]
			if seen[at] {
				continue
			}
			seen[at] = true
			block := k.Instrs[at].block
			end := true
			for j := at; j < len(k.Instrs) && k.Instrs[j].block == block; j++ {
				if next, ok := isBegin[j]; ok && !(j == i && j == at) {
					if !slices.Contains(before[next], n) {
						before[next] = append(before[next], n)
					}
					end = false
					break
				}
				live := &k.Instrs[j].Live
				needs[n] = Resources{max(needs[n].Registers, live.Registers), max(needs[n].Shared, live.Shared)}
			}
			if end {
				work = append(work, k.after(block)...)
			}
		}
	}
	return needs, before
}

// after returns the first instructions after a block.
func (k *Kernel) after(block int) (list []int) {
	for _, s := range k.Func.Blocks[block].Succs {
		if len(s.Instrs) > 0 {
			list = append(list, k.index[s.Instrs[0]])
		}
	}
	return list
}

// AccessesShared reports whether the instruction can access shared memory.
func (o *Instr) AccessesShared() bool { return o.shared != 0 }
