package native

// This file puts stencils into a buffer, fills their holes, and places constants and labels.

import (
	"encoding/binary"
	"sync"

	"gemu/interp/internal/code"
	"gemu/ptx"
)

// assembler assembles the code of one body: it appends stencils to a buffer and fills their holes.
type assembler struct {
	prog            *code.Program
	exits           []byte           // Code.exits
	sources         []ptx.SpecialReg // special registers read compactly
	lib             *Library
	suffix          string
	consts          [code.P + 1]int64 // offset of the constants of each kind, in bytes
	shadows         [code.P + 1]int64 // offset of the constants' shadows of each kind, in bytes
	buf             []byte
	poolIndex       []int32          // by a constant's number in the library: 1 + its index in pool; 0: not in pool since the last island
	usedConstants   []int32          // library numbers of the constants whose poolIndex is not 0
	numbers         map[uint32]int32 // indexes in pool of numbers too large for an instruction
	pool            []string         // constants of the code
	poolPlaces      []int            // offsets in buf of the placed constants, by index in pool
	poolEnd         int              // end of the last placed constants
	outOfReach      bool             // some place is beyond the reach of the host's jumps
	fixups          []fixup
	labels          []int32     // offsets in buf, by label; noPlace if not bound
	stubs           []stub      // exits, for the end of the block
	hitLookups      []hitLookup // placed before stubs
	coldCode        []coldCode  // placed before hitLookups
	leftToGo        bool        // the current instruction is left to Go: see leaveToGo
	sinceExit       int         // cost, in instructions, since the last possible exit in this block
	reconvergeLabel int         // label of the code for arrivals at a reconvergence point
	catching        bool        // the code of Code.Catching
	switchLabel     int         // label of the code for a switch to another warp
	blockLabels     []int32     // labels of blocks
	afterCaution    []int32
	instrs          []int32

	// Of check mode.
	check    *Check
	step     int32  // number of the current step
	goReason Reason // reason of the exit before an instruction for Go

	functionLabels map[string]int // labels of the functions that stencils call
	functions      []string       // their names
}

// fixup is a hole for a jump or constant whose place is not known yet.
type fixup struct {
	offset, addend int32
	label          int32 // label of a jump; below 0: complement of a constant's index in pool
}

// stub is code after a block: an exit, or the handling of a divergence or reconvergence.
type stub struct {
	label  int
	pc     int32
	reason Reason

	block    *code.Block // for Diverges: the block of the branch
	target   int32       // for Reconverges: pc of the block at the reconvergence point
	branches int64       // for Reconverges: number of executed branches to count
}

// hitLookup is a stencil, placed after the block, that searches an address in the access's remembered allocations.
type hitLookup struct {
	label int
	name  string
	holes
}

// newAssembler returns an assembler for a program's code, for all lanes or masked. The caller must release it.
func newAssembler(c *Code, masked bool) *assembler {
	a, p := assemblers.Get().(*assembler), c.prog
	a.prog, a.lib, a.sources, a.suffix, a.exits, a.catching = p, c.lib, c.Sources, "_full", c.exits, c.catching
	if masked {
		a.suffix = "_masked"
	}
	a.consts[code.R], a.consts[code.Q], a.consts[code.P] = p.Consts.Offsets()
	a.shadows[code.R], a.shadows[code.Q] = p.Consts.ShadowOffsets()
	a.blockLabels, a.afterCaution, a.instrs = make([]int32, len(p.Blocks)), make([]int32, len(p.Blocks)), make([]int32, len(p.Instrs))
	for i := range a.blockLabels {
		a.blockLabels[i] = int32(a.newLabel())
	}
	for i := range a.instrs {
		a.instrs[i] = noPlace
	}
	return a
}

// function returns the label of a function that stencils call. The code has each function once. Without such a function it leaves the
// current instruction to Go.
func (a *assembler) function(name string) int {
	if a.lib.stencil(name) == nil {
		a.leaveToGo()
		return 0
	}
	label, ok := a.functionLabels[name]
	if !ok {
		if a.functionLabels == nil {
			a.functionLabels = map[string]int{}
		}
		label = a.newLabel()
		a.functionLabels[name], a.functions = label, append(a.functions, name)
	}
	return label
}

// putFunctions puts the functions that stencils call.
func (a *assembler) putFunctions() {
	for _, name := range a.functions {
		a.placeIsland()
		a.bind(a.functionLabels[name])
		a.put(name, holes{})
	}
}

// newBody finishes the code and returns its body.
func (a *assembler) newBody(p *code.Program) *body {
	a.putFunctions()
	b := &body{blocks: make([]int32, len(p.Blocks)), afterCaution: a.afterCaution, instrs: a.instrs, addresses: make([]uintptr, len(p.Instrs))}
	if b.text = newText(a.finish()); a.catching && b.text.memory != nil && !b.text.catchFaults() {
		b.text = &text{}
	}
	for i, l := range a.blockLabels {
		b.blocks[i] = a.labels[l]
		if b.text.memory != nil {
			b.addresses[p.Blocks[i].First] = uintptr(b.text.address(b.blocks[i]))
		}
	}
	return b
}

// assemblers is a pool of assemblers, to reuse their buffers.
var assemblers = sync.Pool{New: func() any { return &assembler{numbers: map[uint32]int32{}} }}

// release empties the assembler and returns it to the pool.
func (a *assembler) release() {
	a.forgetConstants()
	*a = assembler{buf: a.buf[:0], poolIndex: a.poolIndex, usedConstants: a.usedConstants, numbers: a.numbers, pool: a.pool[:0], poolPlaces: a.poolPlaces[:0], fixups: a.fixups[:0], labels: a.labels[:0], stubs: a.stubs[:0], hitLookups: a.hitLookups[:0], coldCode: a.coldCode[:0]}
	assemblers.Put(a)
}

// newLabel returns a new label, not bound yet.
func (a *assembler) newLabel() int {
	a.labels = append(a.labels, noPlace)
	return len(a.labels) - 1
}

// bind sets the place of a label: the end of the buffer.
func (a *assembler) bind(label int) { a.labels[label] = int32(len(a.buf)) }

// holes has the values for a stencil's holes: places of operands (offsets in bytes), numbers, and labels.
type holes struct {
	d, f, a, b, c, e int64
	n0, n1           int64
	constant         operandSet // constant operands
	other, leave     int
}

// operand returns the hole of the operand with this letter.
func (h *holes) operand(letter byte) *int64 {
	switch letter {
	case 'D':
		return &h.d
	case 'F':
		return &h.f
	case 'A':
		return &h.a
	case 'B':
		return &h.b
	case 'C':
		return &h.c
	case 'E':
		return &h.e
	}
	panic("BUG: no operand " + string(letter))
}

// put appends a stencil, which must exist.
func (a *assembler) put(name string, h holes) {
	if !a.tryPut(name, h) {
		panic("BUG: no stencil " + name)
	}
}

// putOrLeave appends a stencil if it exists, else it leaves the current instruction to Go.
func (a *assembler) putOrLeave(name string, h holes) {
	if !a.tryPut(name, h) {
		a.leaveToGo()
	}
}

// leaveToGo leaves the current instruction to Go: no more of it is put, and attempt removes the part already put.
func (a *assembler) leaveToGo() { a.leftToGo = true }

// tryPut appends a stencil with filled holes and reports whether the stencil exists. It appends nothing, and returns true,
// if the current instruction is left to Go.
func (a *assembler) tryPut(name string, h holes) bool {
	if a.leftToGo {
		return true
	}
	s := a.lib.stencil(name)
	if s == nil || h.constant&s.neverConstant != 0 {
		return false
	}
	base := len(a.buf)
	a.buf = append(a.buf, s.code...)
	code := a.buf[base:]
	values := [...]int64{holeD: h.d, holeF: h.f, holeA: h.a, holeB: h.b, holeC: h.c, holeE: h.e, hole0: h.n0, hole1: h.n1}
	for i := range s.refs {
		r := &s.refs[i]
		if r.kind >= toNext {
			a.fillJump(r, base, len(code), &h)
			continue
		}
		v := values[r.kind] + int64(r.addend)
		if v != int64(int32(v)) {
			panic("BUG: a number that does not fit")
		}
		if !host.putNumber(code[r.offset:r.offset+4], int32(v)) {
			a.fixups = append(a.fixups, fixup{offset: int32(base) + r.offset, label: ^a.addNumber(uint32(v))})
		}
	}
	if h.constant != 0 {
		for _, f := range s.flips {
			if h.constant&f.operand != 0 {
				code[f.offset] ^= f.xor
			}
		}
	}
	return true
}

// fillJump fills a hole for a jump or a constant, in a stencil of length bytes at base. If the place is not known yet, it
// adds a fixup.
func (a *assembler) fillJump(r *ref, base, length int, h *holes) {
	f := fixup{offset: int32(base) + r.offset, addend: r.addend}
	switch r.kind {
	case toNext:
		a.outOfReach = !host.putDistance(a.buf[f.offset:f.offset+4], length-int(r.offset)+int(r.addend)) || a.outOfReach
		return
	case toOther:
		f.label = int32(h.other)
	case toLeave:
		f.label = int32(h.leave)
	case toPool:
		f.label = ^a.addConstant(r.pool)
	}
	a.fixups = append(a.fixups, f)
}

// addConstant returns the index in pool of the constant with number n in the library, and adds it if it is missing.
func (a *assembler) addConstant(n int32) int32 {
	for int(n) >= len(a.poolIndex) {
		a.poolIndex = append(a.poolIndex, 0)
	}
	if a.poolIndex[n] == 0 {
		a.pool = append(a.pool, a.lib.constants()[n])
		a.usedConstants, a.poolIndex[n] = append(a.usedConstants, n), int32(len(a.pool))
	}
	return a.poolIndex[n] - 1
}

// addNumber returns the index in pool of a constant of four bytes, and adds it if it is missing.
func (a *assembler) addNumber(v uint32) int32 {
	n, ok := a.numbers[v]
	if !ok {
		n = int32(len(a.pool))
		a.pool = append(a.pool, string(binary.LittleEndian.AppendUint32(nil, v)))
		a.numbers[v] = n
	}
	return n
}

// codeAlign is an alignment, in bytes, sufficient for instructions of all hosts.
const codeAlign = 4

// placeConstants appends the constants without a place, each aligned to its size.
func (a *assembler) placeConstants() {
	for _, p := range a.pool[len(a.poolPlaces):] {
		for len(a.buf)%len(p) != 0 {
			a.buf = append(a.buf, 0xcc)
		}
		a.poolPlaces = append(a.poolPlaces, len(a.buf))
		a.buf = append(a.buf, p...)
	}
	for len(a.buf)%codeAlign != 0 {
		a.buf = append(a.buf, 0xcc)
	}
	a.forgetConstants()
	a.poolEnd = len(a.buf)
}

// forgetConstants starts a new group of constants: later code adds its constants again, to be within its reach.
func (a *assembler) forgetConstants() {
	for _, n := range a.usedConstants {
		a.poolIndex[n] = 0
	}
	a.usedConstants = a.usedConstants[:0]
	clear(a.numbers)
}

// placeIsland places the constants between two instructions once the code since the last constants is a quarter of the
// host's reach long. The remaining three quarters suffice for the code of one instruction and the constants.
func (a *assembler) placeIsland() {
	if len(a.buf)-a.poolEnd < host.reach/4 {
		return
	}
	after := a.newLabel()
	a.put("jump", holes{other: after})
	a.placeConstants()
	a.bind(after)
}

// finish places the constants, applies all fixups and returns the code. It returns nil if some place is beyond the reach of
// the host's jumps.
func (a *assembler) finish() []byte {
	a.placeConstants()
	for i := range a.fixups {
		f := &a.fixups[i]
		var to int
		if f.label < 0 {
			to = a.poolPlaces[^f.label]
		} else {
			to = int(a.labels[f.label])
		}
		a.outOfReach = !host.putDistance(a.buf[f.offset:f.offset+4], to+int(f.addend)-int(f.offset)) || a.outOfReach
	}
	if a.outOfReach {
		return nil
	}
	return a.buf
}
