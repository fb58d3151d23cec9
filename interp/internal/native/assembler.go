package native

// This file puts stencils into a buffer, fills their holes, and places constants and labels.

import (
	"encoding/binary"
	"sync"

	"gemu/interp/internal/code"
	"gemu/ptx"
)

// assembler puts stencils one behind the other.
type assembler struct {
	prog            *code.Program
	sources         []ptx.SpecialReg // that are read compactly
	lib             *Library
	suffix          string
	consts          [code.P + 1]int64 // where constants of each kind begin
	shadows         [code.P + 1]int64 // … and their shadows
	buf             []byte
	poolIndex       []int32          // by a constant's number in the library: 1 + its number among those of the code; 0: it has no place yet
	usedConstants   []int32          // … of those that have one
	numbers         map[uint32]int32 // numbers that are no part of an instruction, likewise
	pool            []string         // constants
	poolPlaces      []int            // of those that have one in the code
	poolEnd         int              // the end of the code where they were placed last
	outOfReach      bool             // some place is further than the host jumps
	fixups          []fixup
	labels          []int32     // places by number
	stubs           []stub      // at the end of the block
	hitLookups      []hitLookup // … before them
	coldCode        []coldCode  // … and before these
	leftToGo        bool        // what is under way is Go's: see leaveToGo
	sinceExit       int         // instructions since it could come back in the block under way
	reconvergeLabel int         // label of what is done where lanes meet
	switchLabel     int         // … where a warp has stopped
	blockLabels     []int32     // labels
	afterCaution    []int32
	instrs          []int32

	// Of check mode.
	check    *Check
	step     int32  // under way
	goReason Reason // what an instruction leaves for that cannot go on

	functionLabels map[string]int // labels of what its stencils call
}

// fixup is a jump or constant whose place is not known yet.
type fixup struct {
	offset, addend int32
	label          int32 // of a jump; below 0: the complement of a constant's number
}

// stub is a way out.
type stub struct {
	label  int
	pc     int32
	reason Reason

	block    *code.Block // of Parts
	target   int32       // of Meets: the block that lanes come to
	branches int64       // … how many that is
}

// hitLookup is what an instruction does before it leaves: a stencil at a label.
type hitLookup struct {
	label int
	name  string
	holes
}

// newAssembler readies one for a program.
func newAssembler(c *Code, masked bool) *assembler {
	a, p := assemblers.Get().(*assembler), c.prog
	a.prog, a.lib, a.sources, a.suffix = p, c.lib, c.Sources, "_full"
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

// newBody is what has been made.
func (a *assembler) newBody(p *code.Program) *body {
	b := &body{blocks: make([]int32, len(p.Blocks)), afterCaution: a.afterCaution, instrs: a.instrs, addresses: make([]uintptr, len(p.Instrs))}
	b.text = newText(a.finish())
	for i, l := range a.blockLabels {
		b.blocks[i] = a.labels[l]
		if b.text.memory != nil {
			b.addresses[p.Blocks[i].First] = uintptr(b.text.address(b.blocks[i]))
		}
	}
	return b
}

// assemblers have room that others have made.
var assemblers = sync.Pool{New: func() any { return &assembler{numbers: map[uint32]int32{}} }}

// release is the end of the assembler's work; its room is for another.
func (a *assembler) release() {
	a.forgetConstants()
	*a = assembler{buf: a.buf[:0], poolIndex: a.poolIndex, usedConstants: a.usedConstants, numbers: a.numbers, pool: a.pool[:0], poolPlaces: a.poolPlaces[:0], fixups: a.fixups[:0], labels: a.labels[:0], stubs: a.stubs[:0], hitLookups: a.hitLookups[:0], coldCode: a.coldCode[:0]}
	assemblers.Put(a)
}

// newLabel is a new one.
func (a *assembler) newLabel() int {
	a.labels = append(a.labels, noPlace)
	return len(a.labels) - 1
}

// bind is where a label is.
func (a *assembler) bind(label int) { a.labels[label] = int32(len(a.buf)) }

// holes is what fills a stencil's holes: places of operands, in bytes, numbers, labels.
type holes struct {
	d, f, a, b, c, e int64
	n0, n1           int64
	constant         operandSet // that are constants
	other, leave     int
}

// operand is the hole of an operand, by its letter.
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

// put puts a stencil that there must be.
func (a *assembler) put(name string, h holes) {
	if !a.tryPut(name, h) {
		panic("BUG: no stencil " + name)
	}
}

// putOrLeave puts a stencil, if there is one. Otherwise what is under way is Go's.
func (a *assembler) putOrLeave(name string, h holes) {
	if !a.tryPut(name, h) {
		a.leaveToGo()
	}
}

// leaveToGo has what is under way be Go's: undone takes back what has been put of it, and nothing more is.
func (a *assembler) leaveToGo() { a.leftToGo = true }

// tryPut puts a stencil, if there is one; nothing if what is under way is Go's.
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

// fillJump fills a hole for a jump or a constant, in a stencil of some length that begins at base, or notes it for when
// it is known where that is.
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

// addConstant is the number of a constant among those of the code, by its number in the library.
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

// addNumber is that of a constant of four bytes.
func (a *assembler) addNumber(v uint32) int32 {
	n, ok := a.numbers[v]
	if !ok {
		n = int32(len(a.pool))
		a.pool = append(a.pool, string(binary.LittleEndian.AppendUint32(nil, v)))
		a.numbers[v] = n
	}
	return n
}

// codeAlign is what instructions begin at multiples of, on any host.
const codeAlign = 4

// placeConstants places those that have no place yet.
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

// forgetConstants has constants that are wanted from now on be others.
func (a *assembler) forgetConstants() {
	for _, n := range a.usedConstants {
		a.poolIndex[n] = 0
	}
	a.usedConstants = a.usedConstants[:0]
	clear(a.numbers)
}

// placeIsland places the constants between instructions, if the code since they were placed last is as long as a quarter of
// how far from it they can be: an instruction's code and the constants are not as long as the rest.
func (a *assembler) placeIsland() {
	if len(a.buf)-a.poolEnd < host.reach/4 {
		return
	}
	after := a.newLabel()
	a.put("jump", holes{other: after})
	a.placeConstants()
	a.bind(after)
}

// finish places the constants, and fills in jumps and where constants are. It gives nothing if some place is
// further than the host jumps.
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
