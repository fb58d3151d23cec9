package bounds

// This file finds registers of a kernel that are derived from the same variable wherever they are read:
// most that have to do with shared memory. Nobody has to follow them as the kernel runs.

import "gemu/ptx"

// settle leaves out instructions whose results are derived from the same variable in shared memory
// whenever they are read, and has the others say so.
func (p *plan) settle(instrs []*ptx.Instr) {
	if p.spills {
		return
	}
	for _, in := range instrs {
		if in.Call != nil {
			return
		}
	}
	// By function and row: what all instructions that write it make it; 0 as long as none does.
	made := map[*function][]uint32{}
	for _, f := range p.funcs {
		list := make([]uint32, f.n)
		for r := range f.Liveness().Into(0) { // what nothing has written is derived from nothing
			if row := f.row(r); row >= 0 {
				list[row] = lost
			}
		}
		made[f] = list
	}
	for changed := true; changed; {
		changed = false
		for i := range p.actions {
			a, list := &p.actions[i], made[p.of[i]]
			id := p.makes(a, list)
			for _, row := range a.results {
				switch old := list[row]; {
				case id == nothing || old == id || old == lost:
				case old == nothing:
					list[row], changed = id, true
				default:
					list[row], changed = lost, true
				}
			}
		}
	}
	for i := range p.actions {
		a, list := &p.actions[i], made[p.of[i]]
		settled := len(a.addr) == 0 && len(a.results) > 0
		for _, row := range a.results {
			settled = settled && list[row] >= firstID
		}
		if settled {
			*a = action{}
			continue
		}
		if len(a.results) > 0 { // otherwise there are no sources
			for k := range a.sources {
				a.sources[k].settle(list)
			}
			for k := range a.more {
				a.more[k].settle(list)
			}
		}
		for k := range a.addr {
			to := &a.addr[k]
			if to.source.settle(list); to.id == nothing {
				continue
			}
			if to.sym != nothing {
				to.id = lost // of two
			}
			to.sym = to.id
		}
	}
}

// settle has a source be the address of a variable where it is always derived from that.
func (s *source) settle(made []uint32) {
	if s.row >= 0 && made[s.row] >= firstID {
		*s = source{row: -1, id: made[s.row]}
	}
}

// makes is the variable in shared memory that an instruction's result is derived from, of registers that
// are made what a list says; lost if there is none or several, nothing if that is not known yet.
func (p *plan) makes(a *action, made []uint32) uint32 {
	if len(a.results) != 1 || len(a.more) > 0 {
		return lost
	}
	which, n := 0, 0 // the source that is derived from something, and how many are
	for i := range a.sources {
		if s := &a.sources[i]; s.id != nothing || s.row >= 0 {
			which, n = i, n+1
		}
	}
	switch {
	case n != 1:
		return lost
	case a.rule == same, a.rule == sum, a.rule == diff && which == 0, a.rule == addend && which == 2:
	default:
		return lost
	}
	s := &a.sources[which]
	if s.id == nothing {
		return made[s.row]
	}
	if v := &p.vars[s.id]; v.frame || v.Space != ptx.Shared {
		return lost
	}
	return s.id
}
