package lower

// This file is the pass link, which makes an allocated function part of the program.

import (
	"slices"

	"gemu/interp/internal/code"
	"gemu/ptx"
)

// link appends the function to the program.
func (l *lowerer) link() {
	l.append(l.prog, l.fn)
	locate(l.prog, l.fn)
	if d := l.referenceDraft; d != nil {
		ref := l.prog.Reference
		for _, s := range l.prog.Sources[len(ref.Sources):] {
			s.Func = d.fn
			ref.Sources = append(ref.Sources, s)
		}
		d.append(ref, d.fn)
		locate(ref, d.fn)
	}
}

// append appends the draft's code to program p as the code of fn. The PTX instructions of fn must be in p.Sources already.
func (d *draft) append(p *code.Program, fn *code.Func) {
	fn.Sources.End = int32(len(p.Sources))
	fn.Blocks.First = int32(len(p.Blocks))
	access, calls, targets, barriers := int32(len(p.Access)), int32(len(p.Calls)), int32(len(p.Targets)), int32(len(p.Barriers))
	fragments, textures := int32(len(p.Fragments)), int32(len(p.Textures))
	relocated := func(instr code.Instr) code.Instr {
		switch instr.Op.Signature().Side {
		case code.AccessSide:
			instr.Side += access
		case code.CallSide:
			instr.Side += calls
		case code.TargetSide:
			instr.Side += targets
		case code.BarrierSide:
			instr.Side += barriers
		case code.FragmentSide:
			instr.Side += fragments
		case code.TextureSide:
			instr.Side += textures
		}
		return instr
	}
	total := len(p.Instrs)
	for i := range d.blocks {
		total += len(d.blocks[i].instrs) + 1
	}
	p.Instrs = slices.Grow(p.Instrs, total-len(p.Instrs))
	for i := range d.blocks {
		b := &d.blocks[i]
		b.First = int32(len(p.Instrs))
		for _, instr := range b.instrs {
			p.Instrs = append(p.Instrs, relocated(instr))
		}
		b.Last = int32(len(p.Instrs))
		p.Instrs = append(p.Instrs, relocated(b.end))
	}
	pc := func(block int32) int32 { return d.blocks[block].First }
	for i := range d.blocks {
		b := d.blocks[i].Block
		b.Target, b.Reconverge = pc(b.Target), pc(b.Reconverge)
		b.Next = pc(min(b.Next, d.exit()))
		p.Blocks = append(p.Blocks, b)
	}
	for _, list := range d.tables.Targets {
		pcs := make([]int32, len(list))
		for i, block := range list {
			pcs[i] = pc(block)
		}
		p.Targets = append(p.Targets, pcs)
	}
	p.Access = append(p.Access, d.tables.Access...)
	p.Calls = append(p.Calls, d.tables.Calls...)
	p.Barriers = append(p.Barriers, d.tables.Barriers...)
	for _, f := range d.tables.Fragments {
		f.Pending = slices.Clone(f.Pending)
		for i := range f.Pending {
			f.Pending[i] += fragments
		}
		p.Fragments = append(p.Fragments, f)
	}
	p.Textures = append(p.Textures, d.tables.Textures...)
	for _, instr := range d.folded {
		p.Fixed = append(p.Fixed, code.FixedInstr{Instr: relocated(instr.Instr), BeforePC: pc(instr.block) + instr.index})
	}
	fn.Blocks.End = int32(len(p.Blocks))
	fn.Begin, fn.Exit = pc(0), pc(d.exit())
}

// locations returns the places of the function's registers, by RegID, for probes and listings.
func (d *draft) locations(a *allocation) []code.Location {
	list := make([]code.Location, len(d.rows))
	var users [code.P + 1][]int32 // by slot and place: the number of its virtual rows
	for s := range a.rows {
		users[s] = make([]int32, len(a.residence[s]))
		for _, place := range a.rows[s] {
			if place >= 0 {
				users[s][place]++
			}
		}
	}
	shared := func(s code.Slot, place int32) bool { return place >= 0 && users[s][place] > 1 }
	for r, ref := range d.rows {
		if place := a.row(ref.Slot, ref.Row); place != code.NoRow {
			live := a.liveRanges[ref.Slot][ref.Row]
			first := d.fn.Sources.First - 1
			list[r] = code.Location{
				Slot: ref.Slot, Row: place, High: a.row(ref.Slot, ref.High), Wide: ref.wide,
				Shared: shared(ref.Slot, place) || ref.wide && shared(ref.Slot, a.row(ref.Slot, ref.High)),
				First:  first + int32(max(live.first, 1)), Last: first + int32(max(live.last, 1)),
			}
		}
	}
	return list
}

// locate sets Code and Guard of each PTX instruction of a function.
func locate(p *code.Program, fn *code.Func) {
	for i := fn.Blocks.First; i < fn.Blocks.End; i++ {
		b := &p.Blocks[i]
		pc := b.First
		for s := b.Sources.First; s < b.Sources.End; s++ {
			src := &p.Sources[s]
			src.Code.First = pc
			for pc <= b.Last && p.Instrs[pc].Src == s {
				pc++
			}
			src.Code.End = pc
			if g := src.Instr.Guard; g.Reg != ptx.NoReg {
				src.Guard = code.Guard(fn.Regs[g.Reg].Row, g.Neg)
			}
		}
	}
}
