package native

// This file keeps machine code for programs that are the same, as those of a module are that is loaded again: a body has
// nothing of one program but what it was made of. Where constants, allocations and registers are, the context says.

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"gemu/interp/internal/code"
)

// cacheBytes is how many bytes of machine code the library of this host keeps: that of a hundred kernels or two in check mode,
// where there is most.
const cacheBytes = 64 << 20

// content is what a body is made of, as a sum.
type content struct {
	sum    [sha256.Size]byte
	masked bool
}

// bodyCache keeps bodies, those that were wanted last, by their content.
type bodyCache struct {
	mu        sync.Mutex
	capacity  int // bytes that there may be; 0: it keeps nothing
	used      int
	lru       list.List // of *keeping, the one that was wanted last first
	byContent map[content]*list.Element
}

type cachedBody struct {
	content content
	*body
}

// get is the body of a content; nil if it is not kept.
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

// add keeps a body, as far as there is room: it goes to those that were wanted longest ago.
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

// clear forgets all.
func (k *bodyCache) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.used, k.byContent = 0, nil
	k.lru.Init()
}

// size is how many bytes it takes.
func (b *body) size() int {
	return len(b.text.memory) + 4*(len(b.blocks)+len(b.afterCaution)+len(b.instrs)+len(b.steps)+len(b.ends)) + 8*len(b.addresses)
}

// bodyOf is a form of a program's code: one that is kept, or one that is made now.
func (l *Library) bodyOf(sum func() [sha256.Size]byte, masked bool, assemble func(masked bool) *body) *body {
	key := content{sum(), masked}
	b := l.cache.get(key)
	if b == nil {
		b = assemble(masked)
		l.cache.add(key, b)
	}
	return b
}

// digest has what machine code is made of, so that what differs has other bytes.
type digest struct{ bytes []byte }

// addInteger adds one.
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

// addProgram adds one. What is made of its operations, and of nothing else, is not added again.
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
			d.addBool(t.Global)
			d.addElems(t.B)
			if d.addBool(t.C != nil); t.C != nil {
				d.addElems(t.C)
			}
		}
	}
}

func (d *digest) addElems(list []code.Elem) {
	addInteger(d, len(list))
	for _, e := range list {
		addInteger(d, e.Slot)
		addInteger(d, e.Row)
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

// addStep adds one of check mode.
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
