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

// room is how many bytes of machine code the library of this host keeps: that of a hundred kernels or two in check mode,
// where there is most.
const room = 64 << 20

// content is what a body is made of, as a sum.
type content struct {
	sum    [sha256.Size]byte
	masked bool
}

// keeper keeps bodies, those that were wanted last, by their content.
type keeper struct {
	mu    sync.Mutex
	room  int // bytes that there may be; 0: it keeps nothing
	taken int
	order list.List // of *keeping, the one that was wanted last first
	by    map[content]*list.Element
}

type keeping struct {
	of content
	*body
}

// find is the body of a content; nil if it is not kept.
func (k *keeper) find(of content) *body {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.by[of]
	if e == nil {
		return nil
	}
	k.order.MoveToFront(e)
	return e.Value.(*keeping).body
}

// keep keeps a body, as far as there is room: it goes to those that were wanted longest ago.
func (k *keeper) keep(of content, b *body) {
	k.mu.Lock()
	defer k.mu.Unlock()
	size := b.size()
	if k.by[of] != nil || size > k.room {
		return
	}
	if k.by == nil {
		k.by = map[content]*list.Element{}
	}
	k.by[of] = k.order.PushFront(&keeping{of, b})
	for k.taken += size; k.taken > k.room; {
		last := k.order.Remove(k.order.Back()).(*keeping)
		k.taken -= last.size()
		delete(k.by, last.of)
	}
}

// forget forgets all.
func (k *keeper) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.taken, k.by = 0, nil
	k.order.Init()
}

// size is how many bytes it takes.
func (b *body) size() int {
	return len(b.text.memory) + 4*(len(b.blocks)+len(b.behind)+len(b.instrs)+len(b.steps)+len(b.ends)) + 8*len(b.begins)
}

// body is a form of a program's code: one that is kept, or one that is made now.
func (l *Library) body(sum func() [sha256.Size]byte, masked bool, assemble func(masked bool) *body) *body {
	of := content{sum(), masked}
	b := l.kept.find(of)
	if b == nil {
		b = assemble(masked)
		l.kept.keep(of, b)
	}
	return b
}

// digest has what machine code is made of, so that what differs has other bytes.
type digest struct{ bytes []byte }

// integer adds one.
func integer[T ~int | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr](d *digest, v T) {
	d.bytes = binary.AppendVarint(d.bytes, int64(v))
}

func (d *digest) bool(v bool) {
	b := byte(0)
	if v {
		b = 1
	}
	d.bytes = append(d.bytes, b)
}

func (d *digest) sum() [sha256.Size]byte { return sha256.Sum256(d.bytes) }

// program adds one. What is made of its operations, and of nothing else, is not added again.
func (d *digest) program(p *code.Program) {
	n := p.Consts.Len()
	for _, v := range []int{n.R, n.Q, n.P, len(p.Blocks), len(p.Instrs), len(p.Barriers)} {
		integer(d, v)
	}
	for _, b := range p.Barriers {
		integer(d, b.Kind)
	}
	for i := range p.Blocks {
		b := &p.Blocks[i]
		for _, v := range []int32{b.First, b.Last, int32(b.Sources.Len()), b.Next, b.Target, b.Join} {
			integer(d, v)
		}
		integer(d, b.Caution)
		d.bool(b.Leaves)
	}
	for i := range p.Instrs {
		d.instr(&p.Instrs[i])
	}
	d.accesses(p.Access)
}

func (d *digest) instr(in *code.Instr) {
	integer(d, in.Op)
	integer(d, in.How.Exec)
	integer(d, in.How.Expand)
	d.bool(in.How.Dirty)
	d.bool(in.How.Both)
	d.bool(in.Skips)
	for _, v := range []int32{in.Guard, in.Side, in.D, in.F, in.A, in.B, in.C, in.E} {
		integer(d, v)
	}
	integer(d, in.Imm)
}

func (d *digest) accesses(list []code.Access) {
	integer(d, len(list))
	for i := range list {
		a := &list[i]
		integer(d, a.Space)
		integer(d, a.Addr)
		integer(d, a.Pattern)
		integer(d, a.Apart)
		for _, v := range []int{a.Size, a.Bytes, a.Hit} {
			integer(d, v)
		}
		fixed := a.AtFixed() != nil
		for _, v := range []bool{a.Cluster, a.Frame, a.Signed, a.Store, a.Move != nil, a.Tile != nil, a.Atom != nil, fixed} {
			d.bool(v)
		}
		if fixed && a.Addr == code.NoSlot {
			integer(d, a.Off-a.Fixed.Base)
			d.bool(a.Off%uint64(a.Bytes) == 0)
		} else {
			integer(d, a.Off)
		}
		d.elems(a.Elems)
		if t := a.Atom; t != nil {
			integer(d, t.Op)
			integer(d, t.Type)
			d.bool(t.Global)
			d.elems(t.B)
			if d.bool(t.C != nil); t.C != nil {
				d.elems(t.C)
			}
		}
	}
}

func (d *digest) elems(list []code.Elem) {
	integer(d, len(list))
	for _, e := range list {
		integer(d, e.Slot)
		integer(d, e.Row)
	}
}

func (d *digest) pairs(list []Pair) {
	integer(d, len(list))
	for _, o := range list {
		integer(d, o.Row.Slot)
		integer(d, o.Row.Row)
		integer(d, o.Ref.Slot)
		integer(d, o.Ref.Row)
	}
}

// step adds one of check mode.
func (d *digest) step(s *Step) {
	integer(d, s.PC)
	integer(d, s.Way)
	integer(d, s.Kept)
	integer(d, s.Count)
	d.bool(s.Ends)
	d.bool(s.Proved)
	d.bool(s.Known)
	if d.bool(s.In != nil); s.In != nil {
		d.instr(s.In)
	}
	d.instr(s.Ref)
	for _, list := range [][]Pair{s.Reads, s.Writes, s.Fresh, s.Wanted, s.Uniform} {
		d.pairs(list)
	}
}
