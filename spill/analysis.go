package spill

// This file analyses a function before allocation: its variables, the instructions that recompute them, the loop depth
// of blocks, and the distances to next uses.

import (
	"context"
	"math"
	"slices"

	"gemu/ptx"
)

// analysis is a function with the results needed to allocate any number of registers.
type analysis struct {
	ctx               context.Context
	f                 *ptx.Func
	program           *program       // operations on variables
	regs              []int32        // by variable: its register in the source
	rematerialization [][]*ptx.Instr // by variable: instructions that recompute its value in a single register; nil if that is impossible
	live              *liveness
	depth             []int           // by block: number of enclosing loops
	inner             []*ptx.Loop     // by block: the innermost enclosing loop, or nil
	order             []int           // blocks; each after its predecessors, except along the back edges of loops
	rank              []int           // by block: its position in order
	nextUse           []map[int32]int // by block: for each variable live at its start, the distance to the next use

	minRegs, pressure int
}

// exitDistance is added to the distance of a use after a loop. It exceeds all distances within a loop.
const exitDistance = 1 << 20

// noNextUse is the position of a missing next use.
const noNextUse = math.MaxInt

func newAnalysis(ctx context.Context, f *ptx.Func) (*analysis, error) {
	if err := check(f); err != nil {
		return nil, err
	}
	a := &analysis{ctx: ctx, f: f, program: newProgram(f)}
	a.regs = a.program.webs()
	a.live = a.program.liveness()
	a.findRematerializations()
	a.findLoops()
	a.findDistances()
	a.findPressure()
	return a, ctx.Err()
}

// check rejects functions that are not supported.
func check(f *ptx.Func) error {
	if regs, vars := f.Statics(); len(regs)+len(vars) > 0 {
		return newError(f, f.Pos, "registers and local variables at module level are not supported")
	}
	for _, list := range [][]*ptx.Var{f.Rets, f.Params} {
		for _, v := range list {
			if v.Reg != ptx.NoReg {
				return newError(f, v.Pos, "parameters and results in registers are not supported: use .param space")
			}
		}
	}
	var err error
	f.EachInstr(func(instr *ptx.Instr) {
		if err != nil {
			return
		}
		if instr.Form.Family == ptx.FamilyWgmma || instr.Form.Family == ptx.FamilyTensorLoad || instr.Pending != nil && len(instr.Pending.Reads)+len(instr.Pending.Writes) > 0 {
			err = newError(f, instr.Pos, "%s uses its registers after the next instruction, which is not supported", instr.Text)
		}
	})
	return err
}

// findRematerializations finds the variables whose values can be recomputed everywhere, and how.
func (a *analysis) findRematerializations() {
	n := a.program.n
	writer := make([]*op, n)
	writes := make([]int, n)
	for b := range a.program.blocks {
		for i := range a.program.blocks[b].ops {
			o := &a.program.blocks[b].ops[i]
			for _, v := range o.defs {
				writer[v] = o
				writes[v]++
			}
		}
	}
	a.rematerialization = make([][]*ptx.Instr, n)
	const deepest = 3
	var find func(v int32, deep int) []*ptx.Instr
	find = func(v int32, deep int) []*ptx.Instr {
		o := writer[v]
		if writes[v] != 1 || deep == deepest || !o.unguarded || len(o.defs) != 1 {
			return nil
		}
		switch o.instr.Form.Family {
		case ptx.FamilyLoad:
			if o.instr.Ops[0].Kind == ptx.RegOperand && a.isParameter(o.instr) {
				return []*ptx.Instr{o.instr}
			}
		case ptx.FamilyMove, ptx.FamilyAddress:
			switch src := &o.instr.Ops[1]; {
			case o.instr.Ops[0].Kind != ptx.RegOperand:
			case src.Kind == ptx.ImmOperand, src.Kind == ptx.SymOperand, src.Kind == ptx.SRegOperand && isConstant(src.SReg):
				return []*ptx.Instr{o.instr}
			case src.Kind == ptx.RegOperand && len(o.reads) == 1 && a.bits(o.reads[0]) == a.bits(v):
				if first := find(o.reads[0], deep+1); first != nil {
					return append(slices.Clone(first), o.instr)
				}
			}
		}
		return nil
	}
	for v := range int32(n) {
		if writer[v] != nil {
			a.rematerialization[v] = find(v, 0)
		}
	}
}

// bits returns the width of a variable's register.
func (a *analysis) bits(v int32) int { return a.f.Regs[a.regs[v]].Type.Bits() }

// isParameter reports whether an instruction loads a parameter of the kernel, which never changes.
func (a *analysis) isParameter(instr *ptx.Instr) bool {
	space, _ := instr.Space()
	if !a.f.Entry || space != ptx.Param || instr.VecLen() != 1 {
		return false
	}
	for i := range instr.Ops {
		if o := &instr.Ops[i]; o.Kind == ptx.AddrOperand {
			v, ok := o.Sym().(*ptx.Var)
			return ok && o.Reg == ptx.NoReg && slices.Contains(a.f.Params, v)
		}
	}
	return false
}

// isConstant reports whether a special register keeps a single value in each thread.
func isConstant(r ptx.SpecialReg) bool {
	return r.PerLane() || r.Fixed() || r >= ptx.CtaidX && r <= ptx.CtaidZ || r >= ptx.ClusterIDX && r <= ptx.ClusterNctarank
}

func (a *analysis) findLoops() {
	n := len(a.program.blocks)
	a.depth, a.inner = make([]int, n), make([]*ptx.Loop, n)
	for _, l := range a.f.Loops() {
		for _, b := range l.Blocks {
			if l.Depth > a.depth[b.Index] {
				a.depth[b.Index], a.inner[b.Index] = l.Depth, l
			}
		}
	}
	a.order = make([]int, n)
	for b := range n {
		a.order[b] = b
	}
	number := a.f.ReversePostorder()
	slices.SortStableFunc(a.order, func(x, y int) int { return number[x] - number[y] })
	a.rank = make([]int, n)
	for i, b := range a.order {
		a.rank[b] = i
	}
}

// leavesLoop reports whether the edge between two blocks leaves a loop.
func (a *analysis) leavesLoop(from, to int) bool {
	l := a.inner[from]
	return l != nil && !l.Has(a.f.Blocks[to])
}

// findDistances computes the number of operations from the start of each block to the next use of its live variables,
// on the shortest path.
func (a *analysis) findDistances() {
	blocks := a.program.blocks
	a.nextUse = make([]map[int32]int, len(blocks))
	for b := range blocks {
		a.nextUse[b] = map[int32]int{}
	}
	for changed := true; changed && a.ctx.Err() == nil; {
		changed = false
		for _, b := range slices.Backward(a.order) {
			next := a.atEnd(b)
			for i := len(blocks[b].ops) - 1; i >= 0; i-- {
				o := &blocks[b].ops[i]
				if o.unguarded {
					for _, v := range o.defs {
						delete(next, v)
					}
				}
				for _, v := range o.reads {
					next[v] = i
				}
			}
			for v, d := range next {
				if old, ok := a.nextUse[b][v]; !ok || d < old {
					a.nextUse[b][v] = d
					changed = true
				}
			}
		}
	}
}

// atEnd returns the distances from the start of a block to the next uses of the variables live at its end,
// through its end.
func (a *analysis) atEnd(b int) map[int32]int {
	next := map[int32]int{}
	for _, s := range a.program.blocks[b].succs {
		far := len(a.program.blocks[b].ops)
		if a.leavesLoop(b, s) {
			far += exitDistance
		}
		for v, d := range a.nextUse[s] {
			if old, ok := next[v]; !ok || far+d < old {
				next[v] = far + d
			}
		}
	}
	return next
}

// findPressure computes the register pressure and the minimum number of registers.
func (a *analysis) findPressure() {
	p := a.program
	for b := range p.blocks {
		live := a.live.out[b].clone()
		a.pressure = max(a.pressure, p.size(live))
		for i := len(p.blocks[b].ops) - 1; i >= 0; i-- {
			o := &p.blocks[b].ops[i]
			for _, v := range o.defs {
				live.add(v)
			}
			a.pressure = max(a.pressure, p.size(live))
			live.before(o)
			a.pressure = max(a.pressure, p.size(live))
			a.minRegs = max(a.minRegs, o.registersNeeded(p))
		}
	}
}

// registersNeeded returns the number of registers for the operation's sources or destinations, whichever is larger.
func (o *op) registersNeeded(p *program) int { return max(p.total(o.reads), p.total(o.defs)) }

// total returns the number of registers of a list of variables.
func (p *program) total(list []int32) (units int) {
	for _, v := range list {
		units += p.units[v]
	}
	return units
}

// size returns the number of registers of a set of variables.
func (p *program) size(s set) (units int) {
	s.each(func(v int32) { units += p.units[v] })
	return units
}
