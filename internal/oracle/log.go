package oracle

// This file has the log of executed instructions.

import (
	"slices"

	"gemu/ptx"
)

// Step is an instruction that a thread has executed. An instruction that waits, at a barrier or a collective, is
// executed when its wait is over.
type Step struct {
	Cta, Thread int // linear index of the CTA in the grid, and of the thread in the CTA
	Func        *ptx.Func
	Instr       *ptx.Instr // nil for the return at the end of a body
	Skipped     bool       // its guard was false

	Writes   []Write  // register writes, in order
	Accesses []Access // memory accesses, in order
}

// Write is a register write. A call writes registers of the called function, a return writes registers of the caller.
type Write struct {
	Func      *ptx.Func
	Reg       ptx.RegID
	Low, High uint64 // bits 0 to 63, and bits 64 to 127 of .b128
}

// Access is a memory access. The address is an offset in .shared and in .local, which also holds parameters of
// functions; otherwise it is generic.
type Access struct {
	Space  ptx.Space // space of the address: never generic
	Addr   uint64
	Loaded []byte // bytes before the access; nil for stores
	Stored []byte // bytes after the access; nil for loads

	// Operand is combined with the old value by an atomic operation; for .cas it replaces the old value if that equals
	// Compared.
	Operand, Compared []byte

	current []byte // the memory itself
}

// beginStep starts the record of an instruction.
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

// endStep passes the record to Launch.Log.
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

// logOperand adds an operand to the last logged update, element by element.
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

// logAccess logs an access to the memory p, before it happens.
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
