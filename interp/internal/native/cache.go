package native

// This file caches machine code, for modules loaded again. A body depends on the content of its program alone: it takes the
// addresses of constants, allocations and registers from the context.

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"

	"gemu/interp/internal/code"
)

// cacheBytes is the capacity, in bytes, of the cache of this host's library: the code of one or two hundred kernels in
// check mode, the mode with the most code.
const cacheBytes = 64 << 20

// content identifies the input of a body by its checksum.
type content struct {
	sum    [sha256.Size]byte
	masked bool
}

// bodyCache is a cache of bodies by content; it drops the least recently used body first.
type bodyCache struct {
	mu        sync.Mutex
	capacity  int // in bytes; 0: nothing is cached
	used      int
	lru       list.List // elements are *cachedBody, the most recently used first
	byContent map[content]*list.Element
}

type cachedBody struct {
	content content
	*body
}

// get returns the body with this content, or nil if it is not cached.
func (k *bodyCache) get(key content) *body {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.byContent[key]
	if e == nil {
		return nil
	}
	k.lru.MoveToFront(e)
	return e.Value.(*cachedBody).body
}

// add caches a body unless it alone exceeds the capacity, and drops the least recently used bodies to make room.
func (k *bodyCache) add(key content, b *body) {
	k.mu.Lock()
	defer k.mu.Unlock()
	size := b.size()
	if k.byContent[key] != nil || size > k.capacity {
		return
	}
	if k.byContent == nil {
		k.byContent = map[content]*list.Element{}
	}
	k.byContent[key] = k.lru.PushFront(&cachedBody{key, b})
	for k.used += size; k.used > k.capacity; {
		last := k.lru.Remove(k.lru.Back()).(*cachedBody)
		k.used -= last.size()
		delete(k.byContent, last.content)
	}
}

// clear drops all bodies.
func (k *bodyCache) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.used, k.byContent = 0, nil
	k.lru.Init()
}

// size returns the size of a body in bytes.
func (b *body) size() int {
	return len(b.text.memory) + 4*(len(b.blocks)+len(b.afterCaution)+len(b.instrs)+len(b.steps)+len(b.ends)) + 8*len(b.addresses)
}

// bodyOf returns a program's code, for all lanes or masked, from the cache or newly assembled.
func (l *Library) bodyOf(sum func() [sha256.Size]byte, masked bool, assemble func(masked bool) *body) *body {
	key := content{sum(), masked}
	b := l.cache.get(key)
	if b == nil {
		b = assemble(masked)
		l.cache.add(key, b)
	}
	return b
}

// digest encodes the input of machine code: different inputs have different bytes.
type digest struct{ bytes []byte }

// addInteger adds an integer.
func addInteger[T ~int | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr](d *digest, v T) {
	d.bytes = binary.AppendVarint(d.bytes, int64(v))
}

func (d *digest) addBool(v bool) {
	b := byte(0)
	if v {
		b = 1
	}
	d.bytes = append(d.bytes, b)
}

func (d *digest) sum() [sha256.Size]byte { return sha256.Sum256(d.bytes) }

// addProgram adds a program. It omits tables derived from the operations alone.
func (d *digest) addProgram(p *code.Program) {
	n := p.Consts.Size()
	for _, v := range []int{n.R, n.Q, n.P, len(p.Blocks), len(p.Instrs), len(p.Barriers)} {
		addInteger(d, v)
	}
	for _, b := range p.Barriers {
		addInteger(d, b.Kind)
	}
	for i := range p.Blocks {
		b := &p.Blocks[i]
		for _, v := range []int32{b.First, b.Last, int32(b.Sources.Len()), b.Next, b.Target, b.Reconverge} {
			addInteger(d, v)
		}
		addInteger(d, b.Caution)
		d.addBool(b.EndsLanes)
	}
	for i := range p.Instrs {
		d.addInstr(&p.Instrs[i])
	}
	d.addAccesses(p.Access)
	d.addFragments(p.Fragments)
}

func (d *digest) addInstr(instr *code.Instr) {
	addInteger(d, instr.Op)
	addInteger(d, instr.Plan.Exec)
	addInteger(d, instr.Plan.Materialise)
	d.addBool(instr.Plan.LeavesStale)
	d.addBool(instr.Plan.WritesBoth)
	d.addBool(instr.CountsSkipped)
	for _, v := range []int32{instr.Guard, instr.Side, instr.D, instr.F, instr.A, instr.B, instr.C, instr.E} {
		addInteger(d, v)
	}
	addInteger(d, instr.Imm)
	if instr.Op == code.AsyncCopy {
		addInteger(d, instr.Src)
	}
}

func (d *digest) addAccesses(list []code.Access) {
	addInteger(d, len(list))
	for i := range list {
		a := &list[i]
		addInteger(d, a.Space)
		addInteger(d, a.Addr)
		addInteger(d, a.Pattern)
		addInteger(d, a.Stride)
		for _, v := range []int{a.Size, a.Bytes, a.HitIndex} {
			addInteger(d, v)
		}
		if a.Tile != nil {
			t := a.Tile
			d.bytes = fmt.Appendf(d.bytes, "%s %v %v ", t.Shape, t.Transposed, t.Signed)
			addInteger(d, t.Packed)
			for _, v := range []int{t.Count, t.Rows, t.Bits, t.Bytes, t.Align} {
				addInteger(d, v)
			}
			if t.Shape == "" { // of wmma
				d.bytes = fmt.Appendf(d.bytes, "%v %v ", t.LaneSteps(), t.ElementSteps())
			}
		}
		fixed := a.FixedPointer() != nil
		for _, v := range []bool{a.Cluster, a.Frame, a.Signed, a.Store, a.Strided != nil, a.Tile != nil, a.Atom != nil, fixed} {
			d.addBool(v)
		}
		if fixed && a.Addr == code.NoSlot {
			addInteger(d, a.Offset-a.Fixed.Base)
			d.addBool(a.Offset%uint64(a.Bytes) == 0)
		} else {
			addInteger(d, a.Offset)
		}
		d.addElems(a.Elems)
		if t := a.Atom; t != nil {
			addInteger(d, t.Op)
			addInteger(d, t.Type)
			addInteger(d, t.Float)
			d.addBool(t.Global)
			d.addElems(t.B)
			if d.addBool(t.C != nil); t.C != nil {
				d.addElems(t.C)
			}
		}
	}
}

// addFragments adds the operands of matrix instructions with machine code.
func (d *digest) addFragments(list []code.Fragments) {
	addInteger(d, len(list))
	for i := range list {
		f := &list[i]
		if f.Multiply == nil {
			continue
		}
		m, ok := f.Multiply.ByColumns()
		if d.addBool(ok); !ok {
			continue
		}
		d.bytes = fmt.Appendf(d.bytes, "%+v", m)
		for _, elems := range [][]code.Elem{f.D, f.A, f.B, f.C, f.E} {
			d.addElems(elems)
		}
	}
}

func (d *digest) addElems(list []code.Elem) {
	addInteger(d, len(list))
	for _, e := range list {
		addInteger(d, e.Slot)
		addInteger(d, e.Row)
		addInteger(d, e.High)
	}
}

func (d *digest) addPairs(pairs []Pair) {
	addInteger(d, len(pairs))
	for _, pair := range pairs {
		addInteger(d, pair.Row.Slot)
		addInteger(d, pair.Row.Row)
		addInteger(d, pair.Ref.Slot)
		addInteger(d, pair.Ref.Row)
	}
}

// addStep adds a step of check mode.
func (d *digest) addStep(s *Step) {
	addInteger(d, s.PC)
	addInteger(d, s.Exec)
	addInteger(d, s.Overwritten)
	addInteger(d, s.Counter)
	d.addBool(s.IsEnd)
	d.addBool(s.ProvedUniform)
	d.addBool(s.AddressCompared)
	if d.addBool(s.Instr != nil); s.Instr != nil {
		d.addInstr(s.Instr)
	}
	d.addInstr(s.Ref)
	for _, pairs := range [][]Pair{s.Reads, s.Writes, s.ComparedFirst, s.Copied, s.UniformResults} {
		d.addPairs(pairs)
	}
}
