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
	aligned           concern = 1 << iota // all lanes that are there must execute it: it has a guard
	whole                                 // … and all that live: the machine makes nothing of it
	collects                              // it has a membermask
	shuffles                              // … and takes values from other lanes
	copies                                // it begins a copy that its thread waits for
	commits                               // … makes them a group
	waitsForGroups                        // … waits for groups
	arrivesOnMbarrier                     // … leaves the wait to an mbarrier
	initsMbarrier                         // it makes an mbarrier, or ends one
	accesses                              // it accesses memory that can be shared
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
	actions     []action
	chosen      []interp.Events // what is told of them
	isNeeded    bool            // there is something
	counted     bool            // … barriers with counts
	copies      bool
	mbarriers   bool
	syncsWarps  bool // … that warps must come to together
	remote      bool // shared memory of other CTAs is accessed, and barriers alone order that
	shared      []interp.Variable
	passedCache sync.Map // by barrier and exit: see passed
}

// The section of the manual that has copies which threads wait for by groups of their own.
const copySection = "9.7.9.25.3"

func newPlan(l *interp.LaunchInfo) *plan {
	prog := l.Program
	p := &plan{actions: make([]action, prog.Len()), shared: prog.Shared()}
	mapped, notified := false, false
	for i := range p.actions {
		instr, _ := prog.At(i)
		a := &p.actions[i]
		a.look(instr)
		p.copies = p.copies || a.concern&copies != 0
		p.mbarriers = p.mbarriers || a.concern&initsMbarrier != 0
		if instr.Form.Family == ptx.FamilyBarrier && instr.Form.Operand("b") >= 0 && instr.Arg("b").Kind != ptx.NoOperand {
			p.counted = true
		}
		p.syncsWarps = p.syncsWarps || instr.Form.Family == ptx.FamilyBarrier && instr.Form.Effects.HasAll(ptx.Aligned)
		s, sub := instr.Space()
		mapped = mapped || instr.Form.Family == ptx.FamilyMapa || s == ptx.Shared && sub == "cluster"
		notified = notified || instr.Form.Family == ptx.FamilyMbarrier || instr.Form.Effects.HasAll(ptx.Atomic) || instr.Form.Effects.HasAll(ptx.Strong)
	}
	p.remote = mapped && !notified
	for i := range p.actions {
		if a := &p.actions[i]; a.concern == accesses && !p.copies && !p.mbarriers && !p.remote {
			a.concern = 0
		} else {
			p.isNeeded = p.isNeeded || a.concern != 0
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
	p.isNeeded = p.isNeeded || p.counted || p.syncsWarps
	return p
}

// look says what is looked at in an instruction.
func (a *action) look(instr *ptx.Instr) {
	form := instr.Form
	effects := form.Effects
	a.member = ptx.NoReg
	if effects.HasAll(ptx.Aligned) && instr.Guard.Reg != ptx.NoReg {
		a.concern |= aligned
	}
	if effects.HasAll(ptx.Aligned) && form.Family == ptx.FamilyNothing {
		a.concern |= whole
	}
	constant := func(name string) *ptx.Operand {
		if i := form.Operand(name); i >= 0 && instr.Ops[i].Kind != ptx.NoOperand {
			return &instr.Ops[i]
		}
		return nil
	}
	if effects.HasAll(ptx.Collective|ptx.MayTrap) && form.Class != ptx.ClassTensor {
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
			a.mode = sources[instr.Slot("mode")]
		}
	}
	switch {
	case form.Family == ptx.FamilyAsync && form.Section == copySection:
		switch {
		case effects.HasAll(ptx.Writes):
			a.concern |= copies
			a.addr, a.bytes, a.space = instr.Arg("a"), constant("c").Imm.Bits, ptx.Shared
		case effects.HasAll(ptx.Waits):
			a.concern |= waitsForGroups
			if a.group = -1; form.Operand("a") >= 0 {
				a.group = int(instr.Arg("a").Imm.Bits)
			}
		default:
			a.concern |= commits
		}
	case form.Family == ptx.FamilyAsync && effects.HasAll(ptx.Barrier):
		a.concern |= arrivesOnMbarrier
	case form.Family == ptx.FamilyMbarrier && !effects.HasAll(ptx.Barrier):
		a.concern |= initsMbarrier
		a.addr, a.bytes, a.inval = instr.Arg("a"), 8, constant("b") == nil
		a.space, _ = instr.Space()
	case effects.Any(ptx.Reads|ptx.Writes) && form.Family != ptx.FamilyMbarrier:
		if s, _ := instr.Space(); s == ptx.Shared || s == ptx.Generic {
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
