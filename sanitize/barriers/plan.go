package barriers

// This file finds out which instructions of a program there is something to say about.

import (
	"sync"

	"gemu/interp"
	"gemu/ptx"
)

// concern is what is looked at in an instruction.
type concern uint16

const (
	aligned  concern = 1 << iota // all lanes that are there must execute it: it has a guard
	whole                        // … and all that live: the machine makes nothing of it
	collects                     // it has a membermask
	shuffles                     // … and takes values from other lanes
	copies                       // it begins a copy that its thread waits for
	commits                      // … makes them a group
	waits                        // … waits for groups
	tells                        // … leaves the wait to an mbarrier
	makes                        // it makes an mbarrier, or ends one
	accesses                     // it accesses memory that can be shared
)

// action is what is looked at in an instruction.
type action struct {
	concern
	member ptx.RegID    // the membermask; ptx.NoReg: the constant
	mask   uint32       // that
	addr   *ptx.Operand // of a copy or an mbarrier
	space  ptx.Space
	bytes  uint64
	group  int // that a wait leaves; -1: none
	inval  bool
	mode   func(lane, b, c int) (source int, ok bool) // of a shuffle
}

// plan is what is looked at in a program.
type plan struct {
	actions   []action
	chosen    []interp.Events // what is told of them
	any       bool            // there is something
	counted   bool            // … barriers with counts
	copies    bool
	mbarriers bool
	meets     bool // … that warps must come to together
	remote    bool // shared memory of other CTAs is accessed, and barriers alone order that
	shared    []interp.Variable
	ways      sync.Map // by barrier and exit: see passed
}

// The section of the manual that has copies which threads wait for by groups of their own.
const copySection = "9.7.9.25.3"

func newPlan(l *interp.LaunchInfo) *plan {
	prog := l.Program
	p := &plan{actions: make([]action, prog.Len()), shared: prog.Shared()}
	mapped, told := false, false
	for i := range p.actions {
		in, _ := prog.At(i)
		a := &p.actions[i]
		a.look(in)
		p.copies = p.copies || a.concern&copies != 0
		p.mbarriers = p.mbarriers || a.concern&makes != 0
		if in.Form.Family == ptx.FamilyBarrier && in.Form.Operand("b") >= 0 && in.Arg("b").Kind != ptx.NoOperand {
			p.counted = true
		}
		p.meets = p.meets || in.Form.Family == ptx.FamilyBarrier && in.Form.Effects.Has(ptx.Aligned)
		s, sub := in.Space()
		mapped = mapped || in.Form.Family == ptx.FamilyMapa || s == ptx.Shared && sub == "cluster"
		told = told || in.Form.Family == ptx.FamilyMbarrier || in.Form.Effects.Has(ptx.Atomic) || in.Form.Effects.Has(ptx.Strong)
	}
	p.remote = mapped && !told
	for i := range p.actions {
		if a := &p.actions[i]; a.concern == accesses && !p.copies && !p.mbarriers && !p.remote {
			a.concern = 0
		} else {
			p.any = p.any || a.concern != 0
		}
		kinds := interp.Events(0)
		if p.actions[i].concern != 0 {
			kinds = interp.OnAfter
		}
		if p.actions[i].concern&collects != 0 {
			kinds |= interp.OnBefore
		}
		p.chosen = append(p.chosen, kinds)
	}
	p.any = p.any || p.counted || p.meets
	return p
}

// look says what is looked at in an instruction.
func (a *action) look(in *ptx.Instr) {
	form := in.Form
	effects := form.Effects
	a.member = ptx.NoReg
	if effects.Has(ptx.Aligned) && in.Guard.Reg != ptx.NoReg {
		a.concern |= aligned
	}
	if effects.Has(ptx.Aligned) && form.Family == ptx.FamilyNothing {
		a.concern |= whole
	}
	constant := func(name string) *ptx.Operand {
		if i := form.Operand(name); i >= 0 && in.Ops[i].Kind != ptx.NoOperand {
			return &in.Ops[i]
		}
		return nil
	}
	if effects.Has(ptx.Collective|ptx.MayTrap) && form.Class != ptx.ClassTensor {
		name := "b"
		switch form.Family {
		case ptx.FamilyBarrier:
			name = "a"
		case ptx.FamilyShfl:
			name = "e"
		}
		if o := constant(name); o != nil {
			a.concern |= collects
			switch o.Kind {
			case ptx.RegOperand:
				a.member = o.Reg
			case ptx.ImmOperand:
				a.mask = uint32(o.Imm.Bits)
			}
		}
		if form.Family == ptx.FamilyShfl {
			a.concern |= shuffles
			a.mode = sources[in.Slot("mode")]
		}
	}
	switch {
	case form.Family == ptx.FamilyAsync && form.Section == copySection:
		switch {
		case effects.Has(ptx.Writes):
			a.concern |= copies
			a.addr, a.bytes, a.space = in.Arg("a"), constant("c").Imm.Bits, ptx.Shared
		case effects.Has(ptx.Waits):
			a.concern |= waits
			if a.group = -1; form.Operand("a") >= 0 {
				a.group = int(in.Arg("a").Imm.Bits)
			}
		default:
			a.concern |= commits
		}
	case form.Family == ptx.FamilyAsync && effects.Has(ptx.Barrier):
		a.concern |= tells
	case form.Family == ptx.FamilyMbarrier && !effects.Has(ptx.Barrier):
		a.concern |= makes
		a.addr, a.bytes, a.inval = in.Arg("a"), 8, constant("b") == nil
		a.space, _ = in.Space()
	case effects.Any(ptx.Reads|ptx.Writes) && form.Family != ptx.FamilyMbarrier:
		if s, _ := in.Space(); s == ptx.Shared || s == ptx.Generic {
			a.concern |= accesses
		}
	}
}

// sources is from which lane one gets its value in a shuffle of a mode, if from any other than
// itself (manual 9.7.9.6): b and c are its operands.
var sources = map[string]func(lane, b, c int) (int, bool){
	"up":   func(lane, b, c int) (int, bool) { return lane - b, lane-b >= lane&(c>>8&31)|c&31&^(c>>8&31) },
	"down": func(lane, b, c int) (int, bool) { return lane + b, lane+b <= lane&(c>>8&31)|c&31&^(c>>8&31) },
	"bfly": func(lane, b, c int) (int, bool) { return lane ^ b, lane^b <= lane&(c>>8&31)|c&31&^(c>>8&31) },
	"idx": func(lane, b, c int) (int, bool) {
		m := c >> 8 & 31
		j := lane&m | b&^m
		return j, j <= lane&m|c&31&^m
	},
}
