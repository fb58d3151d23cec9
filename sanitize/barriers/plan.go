package barriers

// This file determines the checks for each instruction of a program.

import (
	"sync"

	"gemu/probe"
	"gemu/ptx"
)

// concern is a set of checks for an instruction.
type concern uint16

const (
	aligned           concern = 1 << iota // a guarded instruction that all lanes must execute together
	whole                                 // must be executed by all live lanes, but the machine ignores it
	collects                              // has a membermask
	shuffles                              // reads values from other lanes
	copies                                // starts a cp.async copy
	commits                               // commits copies to a group
	waitsForGroups                        // waits for groups
	arrivesOnMbarrier                     // makes an mbarrier wait for the copies
	initsMbarrier                         // initialises or invalidates an mbarrier
	accesses                              // accesses memory that may be shared memory
)

// action describes the checks for an instruction.
type action struct {
	concern
	member ptx.RegID    // register with the membermask; ptx.NoReg: mask
	mask   uint32       // constant membermask
	addr   *ptx.Operand // operand of a copy or an mbarrier
	space  ptx.Space
	bytes  uint64
	group  int // number of groups that a wait leaves pending; -1: wait_all
	inval  bool
	mode   func(lane, b, c int) (source int, ok bool) // source lane of a shuffle
}

// plan describes the checks for a program.
type plan struct {
	actions     []action
	chosen      []probe.Events // the subscribed events, by index
	reduced     []probe.Events // the events in warps whose 32 lanes live: a shuffle that names all of them reads none outside
	isNeeded    bool           // there is something to check
	counted     bool           // there are barriers with thread counts
	copies      bool
	mbarriers   bool
	syncsWarps  bool // there are aligned barriers
	remote      bool // CTAs access each other's shared memory, ordered by barriers alone
	shared      []probe.Variable
	passedCache sync.Map // results of passed, by barrier and exit
}

// copySection is the section of the manual on copies that threads wait for in groups of their own.
const copySection = "9.7.9.25.3"

func newPlan(l *probe.LaunchInfo) *plan {
	prog := l.Program
	p := &plan{actions: make([]action, prog.Len()), shared: prog.Shared()}
	mapped, notified := false, false
	constants := map[*ptx.Func]map[ptx.RegID]uint32{}
	for i := range p.actions {
		instr, fn := prog.At(i)
		a := &p.actions[i]
		if constants[fn] == nil {
			constants[fn] = constantsOf(fn)
		}
		a.findChecks(instr, constants[fn])
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
		kinds := probe.Events(0)
		if p.actions[i].concern != 0 {
			kinds = probe.OnAfter
		}
		if p.actions[i].concern&collects != 0 {
			kinds |= probe.OnBefore
		}
		p.chosen = append(p.chosen, kinds)
		if p.actions[i].concern == collects|shuffles && p.actions[i].namesAll() {
			kinds = 0
		}
		p.reduced = append(p.reduced, kinds)
	}
	p.isNeeded = p.isNeeded || p.counted || p.syncsWarps
	return p
}

// namesAll reports whether the membermask is constant and names all lanes.
func (a *action) namesAll() bool { return a.member == ptx.NoReg && a.mask == 1<<32-1 }

// constantsOf returns the registers of 32 bits that always have the same value, and their values: a single instruction writes the
// register, a move of a number, on all paths to the reads (otherwise the register is live at the beginning). Compilers move membermasks to registers.
func constantsOf(fn *ptx.Func) map[ptx.RegID]uint32 {
	values, writes := map[ptx.RegID]uint32{}, map[ptx.RegID]int{}
	fn.EachInstr(func(instr *ptx.Instr) {
		for r := range instr.Defs() {
			writes[r]++
			if instr.Form.Family != ptx.FamilyMove || instr.Type().Bits() != 32 {
				continue
			}
			if o := instr.Arg("a"); o.Kind == ptx.ImmOperand {
				values[r] = uint32(o.Imm.Bits)
			}
		}
	})
	if len(values) == 0 {
		return values
	}
	live := fn.Liveness()
	for r := range values {
		if writes[r] > 1 || live.LiveIn(0, r) {
			delete(values, r)
		}
	}
	return values
}

// findChecks determines the checks for an instruction. constants are the registers of its function with a constant value.
func (a *action) findChecks(instr *ptx.Instr, constants map[ptx.RegID]uint32) {
	form := instr.Form
	effects := form.Effects
	a.member = ptx.NoReg
	if effects.HasAll(ptx.Aligned) && instr.Guard.Reg != ptx.NoReg {
		a.concern |= aligned
	}
	if effects.HasAll(ptx.Aligned) && form.Family == ptx.FamilyNothing {
		a.concern |= whole
	}
	operand := func(name string) *ptx.Operand {
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
		if o := operand(name); o != nil {
			a.concern |= collects
			switch o.Kind {
			case ptx.RegOperand:
				if value, ok := constants[o.Reg]; ok {
					a.mask = value
				} else {
					a.member = o.Reg
				}
			case ptx.ImmOperand:
				a.mask = uint32(o.Imm.Bits)
			}
		}
		if form.Family == ptx.FamilyShfl {
			a.concern |= shuffles
			a.mode = sources[instr.Slot("mode")]
		} else if a.member == ptx.NoReg {
			a.concern &^= collects // all lanes have the same membermask
		}
	}
	switch {
	case form.Family == ptx.FamilyAsync && form.Section == copySection:
		switch {
		case effects.HasAll(ptx.Writes):
			a.concern |= copies
			a.addr, a.bytes, a.space = instr.Arg("a"), operand("c").Imm.Bits, ptx.Shared
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
		a.addr, a.bytes, a.inval = instr.Arg("a"), 8, operand("b") == nil
		a.space, _ = instr.Space()
	case effects.Any(ptx.Reads|ptx.Writes) && form.Family != ptx.FamilyMbarrier:
		if s, _ := instr.Space(); s == ptx.Shared || s == ptx.Generic {
			a.concern |= accesses
		}
	}
}

// sources returns, by mode of the shuffle, the source lane of a lane; ok is false if it is out of bounds
// (manual 9.7.9.6). b and c are the operands.
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
