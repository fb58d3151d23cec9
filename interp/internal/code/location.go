package code

// This file tells where a function's registers are, and where a row that several registers share has the value of one of them.

import (
	"slices"
	"sort"
	"sync"

	"gemu/ptx"
)

// Location is the place of a register: a row, or a constant of the launch. Before PTX instruction First and after Last,
// other registers may have the row.
type Location struct {
	Slot        Slot // NoSlot if the register is not used
	Wide        bool // 128 bits: the upper half is in row High
	Shared      bool // other registers or temporaries have the same rows at other times
	Row, High   int32
	First, Last int32 // indices of Program.Sources
}

// LocationOf returns the place of a register at a PTX instruction. ok is false if the row may have the value of another
// register there: outside First to Last, and where control has come from outside while the register was dead.
func (f *Func) LocationOf(r ptx.RegID, source int32) (loc Location, ok bool) {
	loc = f.Regs[r]
	switch {
	case loc.Slot == NoSlot || source < loc.First || source > loc.Last:
		return loc, false
	case !loc.Shared:
		return loc, true
	}
	flow := f.flow()
	b := sort.Search(len(flow.ends), func(i int) bool { return flow.ends[i] > source })
	block := f.Func.Blocks[b]
	first := flow.ends[b] - int32(len(block.Instrs))
	return loc, givesRow(block.Instrs[:source-first+1], r) || flow.ownsAt(block, r, &loc)
}

// givesRow reports whether the row of a register has the register's value in all lanes after consecutive instructions of a block: an
// instruction reads the register, or writes it without a guard.
func givesRow(list []*ptx.Instr, r ptx.RegID) bool {
	for _, instr := range slices.Backward(list) {
		for x := range instr.Uses() {
			if x == r {
				return true
			}
		}
		for x := range instr.Defs() {
			if x == r && instr.Guard.Reg == ptx.NoReg {
				return true
			}
		}
	}
	return false
}

// dataFlow is the data flow of a function's registers, for LocationOf.
type dataFlow struct {
	live *ptx.Liveness
	ends []int32 // by block of the PTX function: index in Program.Sources after its last instruction

	mu   sync.Mutex
	owns map[ownership]bool // the results of ownsAt
}

// ownership is a register and the index of a block.
type ownership struct {
	r     ptx.RegID
	block int
}

// ownsAt reports whether the row of a register has the register's value at the start of a block: the register is live
// there, or all paths to the block since the register was live, read or written are inside the location's range.
func (d *dataFlow) ownsAt(block *ptx.Block, r ptx.RegID, loc *Location) bool {
	if d.live.LiveIn(block.Index, r) {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	key := ownership{r, block.Index}
	owns, ok := d.owns[key]
	if !ok {
		owns = d.follow(block, r, loc)
		d.owns[key] = owns
	}
	return owns
}

// follow goes back from the start of a block along all paths, for ownsAt.
func (d *dataFlow) follow(block *ptx.Block, r ptx.RegID, loc *Location) bool {
	seen := map[*ptx.Block]bool{block: true}
	for work := []*ptx.Block{block}; len(work) > 0; {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if d.live.LiveIn(b.Index, r) {
			continue
		}
		if b.Index == 0 {
			return false
		}
		for _, p := range b.Preds {
			if last := d.ends[p.Index] - 1; last < loc.First || last > loc.Last {
				return false
			}
			if !seen[p] && !givesRow(p.Instrs, r) {
				seen[p] = true
				work = append(work, p)
			}
		}
	}
	return true
}

// SetRegs sets the places of the registers. Sources.First must be set.
func (f *Func) SetRegs(list []Location) {
	f.Regs = list
	f.flow = sync.OnceValue(func() *dataFlow {
		d := &dataFlow{live: f.Func.Liveness(), ends: make([]int32, len(f.Func.Blocks)), owns: map[ownership]bool{}}
		end := f.Sources.First
		for i, b := range f.Func.Blocks {
			end += int32(len(b.Instrs))
			d.ends[i] = end
		}
		return d
	})
}
