package oracle

// This file is the log of what threads have done.

import (
	"slices"

	"gemu/ptx"
)

// Step is an instruction that a thread has executed. One that waits for others, at a
// barrier or a collective, is executed when its wait is over.
type Step struct {
	Cta, Thread int // linear index of the CTA in the grid, of the thread in the CTA
	Func        *ptx.Func
	Instr       *ptx.Instr // nil for the return at the end of a body
	Skipped     bool       // its guard was false

	Writes   []Write  // to registers, in order
	Accesses []Access // to memory, in order
}

// Write is a value that a register has got. A call gives values to registers of the
// function that is called, a return to those of the caller.
type Write struct {
	Func      *ptx.Func
	Reg       ptx.RegID
	Low, High uint64 // bits 0 to 63; 64 to 127, of .b128
}

// Access is an access to memory. The address is an offset in .shared and .local, which
// is where parameters of functions are, and otherwise generic.
type Access struct {
	Space  ptx.Space // that the address is in: never generic
	Addr   uint64
	Loaded []byte // what was there, nil for stores
	Stored []byte // what is there now, nil for loads

	// Of what does both: what is combined with what was there; of .cas what comes in its place if
	// Compared is there.
	Operand, Compared []byte

	current []byte // the memory itself
}

// beginStep begins the record of an instruction.
func (t *thread) beginStep() {
	if t.machine.Log != nil {
		t.log = &Step{Cta: t.cta.index, Thread: t.index, Func: t.currentFrame().fn, Instr: t.instr}
	}
}

// skipStep ends the record of an instruction whose guard is false.
func (t *thread) skipStep() {
	if t.log != nil {
		t.log.Skipped = true
		t.endStep()
	}
}

// endStep hands out the record.
func (t *thread) endStep() {
	if t.log == nil {
		return
	}
	for i := range t.log.Accesses {
		if a := &t.log.Accesses[i]; a.Stored != nil {
			copy(a.Stored, a.current)
		}
	}
	t.machine.Log(t.log)
}

func (t *thread) logWrite(fn *ptx.Func, r ptx.RegID, v value) {
	if t.log != nil {
		t.log.Writes = append(t.log.Writes, Write{fn, r, v.lo, v.hi})
	}
}

// logOperand notes an operand of the update that has been logged last, element by element.
func (t *thread) logOperand(v value, n int) {
	if t.log == nil {
		return
	}
	a := &t.log.Accesses[len(t.log.Accesses)-1]
	if t.hasModifier("cas") {
		c, typ := t.operand("c")
		a.Compared = append(a.Compared, bytesOf(v, n)...)
		v = t.read(c, typ)
	}
	a.Operand = append(a.Operand, bytesOf(v, n)...)
}

// logAccess notes an access to the memory p, before it happens.
func (t *thread) logAccess(space ptx.Space, addr uint64, p []byte, rw accessKind) {
	if t.log == nil {
		return
	}
	a := Access{Space: space, Addr: addr, current: p}
	if rw != writeAccess {
		a.Loaded = slices.Clone(p)
	}
	if rw != readAccess {
		a.Stored = make([]byte, len(p))
	}
	t.log.Accesses = append(t.log.Accesses, a)
}
