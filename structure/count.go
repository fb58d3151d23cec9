package structure

// This file counts instructions.

import (
	"math/bits"

	"gemu/affinetrack"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// step is the state of the PTX instruction that executes, for both halves of the warp.
type step struct {
	active     uint64            // active lanes
	counted    bool              // an operation was tracked; false for a collective instruction of several warp splits
	compact    bool              // every operation so far was compact
	suppressed bool              // every compact result so far was kept compact
	class      affinetrack.Class // the least structured operand or result
	addr       affinetrack.Class // class of the address of a memory instruction
	data       affinetrack.Class // class of the data of a memory instruction
	expand     int64             // number of materialisations
}

// addClass includes the class of an operand or result.
func (s *step) addClass(c affinetrack.Class) { s.class = max(s.class, c) }

// begin starts a PTX instruction. It counts the operands before the instruction changes them.
func (t *tracker) begin(e *probe.Event) {
	t.step = step{active: e.Active, compact: true, suppressed: true}
	n := &t.counts[e.Index]
	t.countsBefore = *n
	n.Execs++
	n.Lanes += int64(bits.OnesCount64(e.Active))
	t.lanes[bits.OnesCount64(e.Active)]++
	if e.Active != t.warps[e.Warp].live {
		n.Diverged++
	}
	t.countRegisters(&n.Reads, e, e.Launch.Program.Operations(e.Index).Reads, e.Reads)
}

// countRegisters counts register operands by class, for the lanes that execute the instruction.
func (t *tracker) countRegisters(n *affinetrack.ClassCounts, e *probe.Event, list []probe.Operand, values []probe.Value) {
	if len(list) == 0 {
		return
	}
	for h := range t.warps[e.Warp].halves {
		m := uint32(e.Lanes >> (32 * h))
		if m == 0 {
			continue
		}
		x := t.selectHalf(e, h, m)
		class := func(slot, row, width int, values []uint64) affinetrack.Class {
			if t.Ideal {
				return classOf(describe((*regfile.Row64)(values[regfile.Lanes*h:]), width, m))
			}
			v := x.tag(slot, row)
			return classOf(v.Value, v.mask&m == m)
		}
		for i := range list {
			operand := &list[i]
			if operand.Bits == 1 {
				continue
			}
			var v probe.Value
			if t.Ideal {
				v = values[i]
			}
			c := class(operand.Bits, operand.Row, t.width(e, operand), v.Low)
			if operand.Kind == probe.WideOperand {
				c = max(c, class(operand.Bits, operand.High, operand.Bits, v.High))
			}
			n.Count(c)
		}
	}
}

// end counts the results of a PTX instruction after it has executed.
func (t *tracker) end(e *probe.Event) {
	step, instr, operations := &t.step, e.Instr, e.Launch.Program.Operations(e.Index)
	if !step.counted && len(operations.Operations) > 0 {
		step.compact = false
		t.receive(e)
	}
	if e.Lanes == 0 && instr.Form.Class != ptx.ClassControl { // a branch that no lane takes counts as decided
		return
	}
	n := &t.counts[e.Index]
	n.Materialisations += step.expand
	if instr.Call == nil {
		t.countRegisters(&n.Writes, e, operations.Writes, e.Writes)
	}
	label := affinetrack.Uniform
	switch c := instr.Form.Class; {
	case c == ptx.ClassControl || c == ptx.ClassBarrier || c == ptx.ClassMisc:
		step.compact = false // the instruction computes nothing
	case c == ptx.ClassMemory && step.addr != affinetrack.Unknown:
		label = step.addr
		n.Addresses.Count(step.addr)
		n.Data.Count(step.data)
		step.compact = step.compact && instr.Form.Affine == ptx.AffineLoad
	case !step.compact:
		label = affinetrack.Generic
	default:
		label = max(label, step.class)
	}
	n.Label.Count(label)
	if c := instr.Form.Class; bits.OnesCount64(e.Lanes) < 3 && c != ptx.ClassControl && c != ptx.ClassBarrier && c != ptx.ClassMisc {
		t.paths[e.Index].FewLanes++
	}
	switch {
	case !step.compact || len(operations.Writes) == 0:
	case step.suppressed:
		n.Compact++
	default:
		n.Suppressed++
	}
}

// branch counts a conditional branch, and whether a compact predicate decides it.
func (t *tracker) branch(e *probe.Event) {
	places := 0
	for _, g := range e.Groups {
		if g.Lanes != 0 {
			places++
		}
	}
	if places > 1 {
		t.paths[e.Index].Divergent++
	}
	guard := e.Instr.Guard
	if guard.Reg == ptx.NoReg || e.Instr.Form.Effects != ptx.Jumps {
		return // not a conditional branch, but a return, or a branch with a list of labels
	}
	n := &t.counts[e.Index]
	n.Branches++
	if !t.Rules.Has(ptx.AffineBranch) {
		return
	}
	decided, value, class := true, false, affinetrack.Uniform
	for h := range t.warps[e.Warp].halves {
		m := uint32(e.Active >> (32 * h))
		if m == 0 {
			continue
		}
		x := t.selectHalf(e, h, m)
		var v, ok bool
		if set := uint32(e.Lanes>>(32*h)) & m; t.Ideal {
			v, ok = (set != 0) != guard.Neg, set == 0 || set == m
		} else {
			p := x.predicateTag(&e.Launch.Program.Operations(e.Index).Guard)
			v, ok = p.value, p.mask&m == m
			class = max(class, p.class)
		}
		if !ok || h > 0 && uint32(e.Active) != 0 && v != value {
			decided = false
		}
		value = v
	}
	if !decided {
		return
	}
	n.Decided++
	if class == affinetrack.Affine {
		n.Affine++
	}
	want := uint64(0)
	if value != guard.Neg {
		want = e.Active
	}
	if e.Lanes != want && t.verify {
		e.Stop(e.NewTrap(probe.ErrMismatch, e.Lanes^want, "%v: the predicate of the branch is %v in every lane, but the branch differs in %s", probe.ErrMismatch, value, probe.LaneText(e.Lanes^want)))
	}
}
