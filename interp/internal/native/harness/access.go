package harness

// This file tries loads and stores of one element, by addresses in a row and from a fixed address.

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/native"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// shape is an access of one element.
type shape struct {
	size       int
	signed     bool
	addr, data code.Slot
	store      bool
}

// shapes are those of the operations that have one.
var shapes = func() map[code.Op]shape {
	list := map[code.Op]shape{}
	for s := range eachShape {
		op := code.LoadOp(s.size, s.signed, s.addr, s.data)
		if s.store {
			op = code.StoreOp(s.size, s.addr, s.data)
		}
		list[op] = s
	}
	return list
}()

// eachShape has all shapes, in order.
func eachShape(yield func(shape) bool) {
	for _, size := range []int{1, 2, 4, 8} {
		for _, addr := range []code.Slot{code.R, code.Q} {
			for _, data := range []code.Slot{code.R, code.Q} {
				if !yield(shape{size, false, addr, data, false}) || !yield(shape{size, true, addr, data, false}) || !yield(shape{size, false, addr, data, true}) {
					return
				}
			}
		}
	}
}

// isAccess reports whether an operation is a load or store that is tried.
func isAccess(op code.Op) bool {
	_, ok := shapes[op]
	return ok || op == code.LoadFixed
}

// testAccesses tries an operation that accesses memory.
func (t *tester) testAccesses(op code.Op, round int) bool {
	if op == code.LoadFixed {
		return t.testFixed(round)
	}
	s, any := shapes[op], false
	for _, space := range []ptx.Space{ptx.Global, ptx.Shared} {
		for i := range addressings {
			for set := range 4 {
				if set&2 != 0 && !s.store {
					continue // a result is no constant
				}
				for _, m := range []uint32{regfile.Full, t.mask(i + set + 3*round)} {
					supported := t.testAccess(op, s, space, i, set, m)
					any = any || supported
					if t.Differs != "" {
						return false
					}
				}
			}
		}
	}
	return any
}

// margin is memory on both sides of an allocation, which nobody may touch.
const margin = 256

// newAllocation makes an allocation of so many bytes, drawn, inside a larger piece of memory.
func (t *tester) newAllocation(base uint64, size int) (a *mem.Allocation, around []byte) {
	around = mem.AlignedBytes(uint64(size + 2*margin))
	for i := range around {
		around[i] = byte(t.Uint32())
	}
	a = &mem.Allocation{Allocation: probe.Allocation{Base: base, Size: uint64(size), Span: uint64(size), Data: around[margin : margin+size]}}
	a.Ptr = unsafe.Pointer(&around[margin])
	return a, around
}

// addressings are ways in which lanes address memory of n elements, in elements, and in bytes beside.
var addressings = []func(t *tester, lane, n int) (element, bytes int){
	func(*tester, int, int) (int, int) { return 0, 0 },                                     // all one, the first
	func(_ *tester, _, n int) (int, int) { return n - 1, 0 },                               // … the last
	func(_ *tester, _, n int) (int, int) { return n, 0 },                                   // … behind it
	func(*tester, int, int) (int, int) { return -1, 0 },                                    // … before it
	func(*tester, int, int) (int, int) { return 1, 1 },                                     // … misaligned
	func(_ *tester, lane, _ int) (int, int) { return lane, 0 },                             // side by side, from the first
	func(_ *tester, lane, n int) (int, int) { return n - 32 + lane, 0 },                    // … to the last
	func(_ *tester, lane, n int) (int, int) { return n - 31 + lane, 0 },                    // … one too far
	func(_ *tester, lane, _ int) (int, int) { return lane - 1, 0 },                         // … from one too early
	func(_ *tester, lane, _ int) (int, int) { return lane, 1 },                             // … misaligned
	func(_ *tester, lane, _ int) (int, int) { return 31 - lane, 0 },                        // the other way
	func(_ *tester, lane, n int) (int, int) { return n - 64 + 2*lane, 0 },                  // each second
	func(_ *tester, lane, n int) (int, int) { return lane * (n / 32), 0 },                  // as far apart as may be
	func(_ *tester, lane, n int) (int, int) { return n%33 + 2*(lane%16) - lane/16, 0 },     // … in each half of the warp
	func(_ *tester, lane, n int) (int, int) { return lane%16 + (n-16)*(lane/16), 0 },       // side by side there
	func(_ *tester, lane, n int) (int, int) { return (n - 1) * (lane / 16), 0 },            // … all one
	func(_ *tester, lane, n int) (int, int) { return (n + lane/31) % (n + 1), 0 },          // the last lane elsewhere: the first is out
	func(_ *tester, lane, _ int) (int, int) { return 5 + lane/31, 0 },                      // … the last lane beside the others
	func(_ *tester, lane, _ int) (int, int) { return 3 + lane ^ lane>>4&1, 0 },             // two are exchanged
	func(t *tester, _, n int) (int, int) { return t.IntN(n), 0 },                           // anywhere, and several at one
	func(t *tester, lane, n int) (int, int) { return t.IntN(n), lane / 31 },                // … the last lane misaligned
	func(t *tester, lane, n int) (int, int) { return t.IntN(n) + lane/17%2*(lane%2)*n, 0 }, // … some of them outside
	func(t *tester, lane, n int) (int, int) { return t.IntN(n) - lane/31*2*n, 0 },          // … the last lane before it
	func(t *tester, _, _ int) (int, int) { return int(t.Uint64() >> 3), 0 },                // anywhere in the address space

	// One half of the warp is side by side, or each second, and the other one otherwise.
	func(_ *tester, lane, _ int) (int, int) { return byHalf(lane, lane, 31-lane), 0 },          // the other way
	func(_ *tester, lane, _ int) (int, int) { return byHalf(lane, 15-lane, lane), 0 },          // …
	func(t *tester, lane, n int) (int, int) { return byHalf(lane, lane, t.IntN(n)), 0 },        // anywhere
	func(t *tester, lane, n int) (int, int) { return byHalf(lane, t.IntN(n), lane), 0 },        // …
	func(_ *tester, lane, n int) (int, int) { return byHalf(lane, lane, n-31+lane), 0 },        // one too far
	func(_ *tester, lane, n int) (int, int) { return byHalf(lane, n-15+lane, lane), 0 },        // …
	func(_ *tester, lane, _ int) (int, int) { return byHalf(lane, lane, lane-17), 0 },          // from one too early
	func(_ *tester, lane, _ int) (int, int) { return byHalf(lane, lane-1, lane), 0 },           // …
	func(_ *tester, lane, _ int) (int, int) { return lane, byHalf(lane, 0, 1) },                // misaligned
	func(_ *tester, lane, _ int) (int, int) { return lane, byHalf(lane, 1, 0) },                // …
	func(_ *tester, lane, n int) (int, int) { return byHalf(lane, 2*lane, n-62+2*lane), 0 },    // one too far
	func(_ *tester, lane, n int) (int, int) { return byHalf(lane, n-30+2*lane, 2*lane-32), 0 }, // …
	func(_ *tester, lane, _ int) (int, int) { return byHalf(lane, 2*lane, 62-2*lane), 0 },      // the other way
	func(_ *tester, lane, _ int) (int, int) { return byHalf(lane, 30-2*lane, 2*lane-32), 0 },   // …
	func(_ *tester, lane, _ int) (int, int) { return byHalf(lane, 2*lane, 2*lane-34), 0 },      // from one too early
	func(_ *tester, lane, _ int) (int, int) { return byHalf(lane, 2*lane-1, 2*lane-32), 0 },    // …
	func(_ *tester, lane, _ int) (int, int) { return 2 * (lane % 16), byHalf(lane, 0, 1) },     // misaligned
	func(_ *tester, lane, _ int) (int, int) { return 2 * (lane % 16), byHalf(lane, 1, 0) },     // …
	func(_ *tester, lane, n int) (int, int) { return byHalf(lane, 0, n), 0 },                   // all one, one too far
	func(_ *tester, lane, n int) (int, int) { return byHalf(lane, n, 0), 0 },                   // …
}

// byHalf is the one for lanes of the first half of the warp, the other for those of the second.
func byHalf(lane, first, second int) int {
	if lane < regfile.Lanes/2 {
		return first
	}
	return second
}

// testAccess tries one access. The first of the set is the address as a constant, the second what is
// stored.
func (t *tester) testAccess(op code.Op, s shape, space ptx.Space, addressing, set int, m uint32) (supported bool) {
	n := []int{33, 64, 200}[t.IntN(3)]
	size := n*s.size + t.IntN(s.size)
	base := []uint64{probe.FirstAddress, 512, 1<<32 - 512}[t.IntN(3)] // the last one goes on where addresses of 32 bits end
	if s.addr == code.Q && t.IntN(2) == 0 {
		base = 0x7f00_0000_0000
	}
	begin := base // the address of the first byte, as addresses of the space say it
	if space == ptx.Shared {
		rank := uint64(t.IntN(2))
		base, begin = mem.SharedAddress(int(rank)), mem.SharedAddress(int(rank))-probe.SharedWindow
	}
	a, around := t.newAllocation(base, size)
	switch t.IntN(12) {
	case 0:
		a.Size = 0 // freed
	case 1:
		a.Size = uint64(t.IntN(s.size))
	case 2:
		a.Size = uint64(t.IntN(size)) // of what lanes address, in part
	}
	p, row := &code.Program{NumHits: 2 + code.HitsPerAccess}, t.Int32N(int32(frame.R))
	instr := code.Instr{Op: op, A: t.Int32N(int32(frame.R)), D: code.NoRow, B: code.NoRow, Side: 1}
	offset := uint64([]int{0, 0, 16, -16, 1 << 20, -1 << 20}[t.IntN(6)])
	addresses := make([]uint64, regfile.Lanes)
	for lane := range addresses {
		element, extra := addressings[addressing](t, lane, n)
		addresses[lane] = begin - offset + uint64(element*s.size+extra)
	}
	switch t.IntN(8) { // what only the upper bits tell is out of bounds
	case 0:
		addresses[t.IntN(regfile.Lanes)] ^= 1 << (16 + t.IntN(48))
	case 1:
		bit := t.IntN(48)
		for lane := range addresses {
			addresses[lane] ^= 1 << (16 + bit)
		}
	}
	if set&1 == 0 && t.IntN(2) == 0 { // what lanes have that do not execute is nothing
		for lane := range addresses {
			if m>>lane&1 == 0 {
				addresses[lane] = t.Uint64()
			}
		}
	}
	if set&1 != 0 {
		if s.addr == code.R {
			instr.A = p.Consts.Add32(uint32(addresses[0]))
		} else {
			instr.A = p.Consts.Add64(addresses[0])
		}
	}
	if set&2 != 0 {
		t.drawSource(p, &row, s.data, true)
	}
	if s.store {
		instr.B = row
	} else {
		instr.D = row
	}
	p.Access = []code.Access{{}, {
		Space: space, Addr: s.addr, Offset: offset, Size: s.size, Bytes: s.size, Signed: s.signed, Store: s.store, HitIndex: 2, Elems: []code.Elem{{Slot: s.data, Row: row}},
	}}
	if set&1 != 0 {
		addresses = slices.Repeat(addresses[:1], regfile.Lanes)
	}
	t.setPattern(&p.Access[1], addresses, m)
	prog := t.newSingle(p, instr)
	if set&1 == 0 {
		for lane, v := range addresses {
			if s.addr == code.R {
				prog.file.Row32(instr.A)[lane] = uint32(v)
			} else {
				prog.file.Row64(instr.A)[lane] = v
			}
		}
	}

	c, ctx := t.assemble(prog, m)
	if c == nil {
		return false
	}
	hits, changed := make([]*mem.Allocation, 2+code.HitsPerAccess), false
	hits[2+max(0, t.IntN(2*code.HitsPerAccess)-code.HitsPerAccess)] = a // the instruction remembers it, if not always first
	if hits[2] == nil && t.IntN(2) == 0 {
		hits[2], _ = t.newAllocation(1<<46, 64)
	}
	shared := a
	if space != ptx.Shared {
		shared = nil
	} else {
		clear(hits)
	}
	if t.IntN(20) == 0 && space != ptx.Shared {
		clear(hits) // nothing is hit yet
	}
	ctx.SetMemory(hits, shared, &changed)

	// What it should be.
	want, copied, memory := prog.copied(), prog.copied(), slices.Clone(around)
	good := space == ptx.Shared || slices.Contains(hits, a)
	offsets := make([]uint64, regfile.Lanes)
	for lane := range offsets {
		offsets[lane] = addresses[lane]&(1<<s.addr.Bits()-1) + offset - begin
		if m>>lane&1 != 0 && (offsets[lane]%uint64(s.size) != 0 || a.Size < uint64(s.size) || offsets[lane] > a.Size-uint64(s.size)) {
			good = false
		}
	}
	for lane, o := range offsets {
		if !good || m>>lane&1 == 0 {
			continue
		}
		element := memory[margin+o:][:s.size]
		switch {
		case s.store && s.data == code.R:
			copy(element, binary.LittleEndian.AppendUint32(nil, want.Src32(row)[lane]))
		case s.store:
			copy(element, binary.LittleEndian.AppendUint64(nil, want.Src64(row)[lane]))
		default:
			load(want, row, lane, s, element)
		}
	}

	found := space == ptx.Shared || hits[2] == a
	diff := t.execute(c, ctx, prog, want, good)
	switch {
	case diff == "" && !slices.Equal(memory, around):
		diff = "memory differs"
	case diff == "" && good && space != ptx.Shared && hits[2] != a:
		diff = "what it has hit is not what it remembers first"
	case diff == "" && good && (ctx.CountLimit == countLimit) != s.isQuick(offsets, m, a.Size, &p.Access[1], found, t.lib.Level.PartialVectors):
		diff = fmt.Sprintf("it counts as %d more", countLimit-ctx.CountLimit)
	case diff == "" && changed != (good && s.store):
		diff = fmt.Sprintf("it says that memory is changed: %v", changed)
	}
	if diff == "" && good && s.usesPattern(offsets, m, a.Size, &p.Access[1], found, t.lib.Level.PartialVectors) {
		prog.file = copied
		diff = t.runWithPatternsOnly(prog, m, func(ctx *native.Context) { ctx.SetMemory(hits, shared, &changed) })
	}
	if diff != "" {
		t.Differs = fmt.Sprintf("%v, %v, lanes %#x, row %d, %v, at %#x of [%#x, +%#x), from %#x %+d: %s", op, space, m, row, p.Access[1].Pattern, offsets, begin, a.Size, instr.A, int64(offset), diff)
	}
	return true
}

// runWithPatternsOnly tries a program whose access is one of which so much is proved that it needs no stencil for any other: without these.
func (t *tester) runWithPatternsOnly(prog *program, m uint32, room func(*native.Context)) string {
	if t.patternsOnly == nil {
		t.patternsOnly = t.lib.WithSubstitute("out", generalAccess.MatchString)
	}
	all := t.lib
	t.lib = t.patternsOnly
	defer func() { t.lib = all }()
	c, ctx := t.assemble(prog, m)
	room(ctx)
	c.RunBlock(ctx, prog.file, 0)
	if ctx.PC != prog.Blocks[0].Last || ctx.Reason != native.OtherEnd {
		return fmt.Sprintf("it leaves although its lanes are as is proved: at %d for %d", ctx.PC, ctx.Reason)
	}
	return ""
}

// generalAccess are the stencils of accesses of which nothing is proved.
var generalAccess = regexp.MustCompile(`^(load|store)_[us]\d+_[rq]_[rq]_(hit|shared)_(full|masked)$`)

// setPattern says how addresses lie, in a way that is true.
func (t *tester) setPattern(a *code.Access, addresses []uint64, m uint32) {
	first, last := outermost(m)
	between := func(i, j int) int64 { // two lanes
		if a.Addr == code.R {
			return int64(uint32(addresses[j] - addresses[i]))
		}
		return int64(addresses[j] - addresses[i])
	}
	holds := func(p code.Pattern, apart int64) bool {
		for half := range 2 {
			f, l := first[half], last[half]
			if p != code.SameAddress && between(f, l) != int64(l-f)*apart {
				continue // whatever they are
			}
			for lane := f; lane <= l; lane++ {
				if m>>lane&1 != 0 && between(f, lane) != int64(lane-f)*apart {
					return false
				}
			}
		}
		return true
	}
	const limit = 1 << 20
	size := int64(a.Size)
	list := []code.Access{{}}
	if holds(code.SameAddress, 0) {
		list = append(list, code.Access{Pattern: code.SameAddress})
	}
	if holds(code.Contiguous, size) {
		list = append(list, code.Access{Pattern: code.Contiguous})
	}
	for _, apart := range []int64{between(0, 1), between(16, 17), size * int64(2+t.IntN(5))} {
		if apart > size && apart%size == 0 && apart <= limit && holds(code.AnyStride, apart) {
			list = append(list, code.Access{Pattern: code.AnyStride, Stride: int(apart)})
		}
	}
	proved := list[t.IntN(len(list))]
	a.Pattern, a.Stride = proved.Pattern, proved.Stride
}

// outermost is the first and the last of lanes m in each half of a warp, or of all of them where a half has none.
func outermost(m uint32) (first, last [2]int) {
	for half, lanes := range []uint32{m & 0xffff, m &^ 0xffff} {
		if lanes == 0 {
			lanes = m
		}
		first[half], last[half] = bits.TrailingZeros32(lanes), 31-bits.LeadingZeros32(lanes)
	}
	return first, last
}

// isQuick reports whether lanes m of a warp access offsets of memory of so many bytes in a way that counts as one instruction: few
// lanes, or each half of the warp the same element, or elements side by side. In a load of some lanes, those of the others
// have to be there as well; and the host stores no parts of eight small elements. What is proved of the addresses is for the
// memory that has been found, and matters if the outermost lanes are as expected: then other lanes' elements need not
// be there, if the host loads parts of eight or the lanes are neighbours; but elements that are spread take their time. Some
// hosts load and store parts of vectors of any elements.
func (s shape) isQuick(offsets []uint64, m uint32, size uint64, a *code.Access, found, parts bool) bool {
	if s.usesPattern(offsets, m, size, a, found, parts) {
		return a.Pattern != code.AnyStride
	}
	first, last := outermost(m)
	n := uint64(s.size)
	if m != regfile.Full && bits.OnesCount32(m) <= 6 {
		return true
	}
	apart := func(n uint64) bool { // by n bytes from lane to lane
		for lane := range regfile.Lanes {
			if f := first[lane/16]; m>>lane&1 != 0 && offsets[lane] != offsets[f]+uint64(lane-f)*n {
				return false
			}
		}
		return true
	}
	if s.store {
		return (m == regfile.Full || parts || s.size >= 4) && apart(n)
	}
	if offsets[first[0]] == offsets[last[0]] && offsets[first[1]] == offsets[last[1]] {
		return apart(0)
	}
	return (s.allInBounds(offsets, m, size) || parts) && apart(n)
}

// usesPattern reports whether an access is executed by what is proved of its addresses.
func (s shape) usesPattern(offsets []uint64, m uint32, size uint64, a *code.Access, found, parts bool) bool {
	parts = parts || s.size >= 4
	if !found || !(a.Pattern == code.SameAddress && !s.store || a.Pattern >= code.Contiguous && m == regfile.Full || a.Pattern == code.Contiguous && (parts || contiguous(m) || !s.store && s.allInBounds(offsets, m, size)) || a.Pattern == code.AnyStride) {
		return false
	}
	first, last := outermost(m)
	apart := uint64(a.Distance())
	return offsets[last[0]]-offsets[first[0]] == uint64(last[0]-first[0])*apart && offsets[last[1]]-offsets[first[1]] == uint64(last[1]-first[1])*apart
}

// allInBounds reports whether elements side by side are there of all lanes of each half.
func (s shape) allInBounds(offsets []uint64, m uint32, size uint64) bool {
	first, _ := outermost(m)
	n := uint64(s.size)
	for half, f := range first {
		if begin := offsets[f] - uint64(f)*n + uint64(16*half)*n; begin > size || begin+16*n > size {
			return false
		}
	}
	return true
}

// contiguous reports whether lanes m of each half are neighbours.
func contiguous(m uint32) bool {
	for _, half := range []uint32{m & 0xffff, m >> 16} {
		if run := half >> (bits.TrailingZeros32(half) & 31); run&(run+1) != 0 {
			return false
		}
	}
	return true
}

// load puts an element that is loaded into a row.
func load(f *regfile.File, row int32, lane int, s shape, from []byte) {
	v := uint64(0)
	for i, b := range from {
		v |= uint64(b) << (8 * i)
	}
	if free := 64 - 8*s.size; s.signed {
		v = uint64(int64(v<<free) >> free)
	}
	if s.data == code.R {
		f.Row32(row)[lane] = uint32(v)
	} else {
		f.Row64(row)[lane] = v
	}
}

// testFixed tries loads from an address that is the same in all lanes: of an allocation that is there, and of
// one that has been freed since.
func (t *tester) testFixed(round int) bool {
	any := false
	for s := range eachShape {
		if s.store || s.addr == code.R {
			continue
		}
		for i := range 12 {
			m := uint32(regfile.Full)
			if i%2 == 1 {
				m = t.mask(i/2 + 3*round)
			}
			n := 1 + t.IntN(40)
			a, around := t.newAllocation(probe.FirstAddress+uint64(t.IntN(2))<<40, n*s.size)
			at := t.IntN(n) * s.size
			if i < 4 {
				at = (n - 1) * s.size // the last
			}
			row := t.Int32N(int32(frame.R))
			p := &code.Program{}
			p.Access = []code.Access{{}, {
				Space: ptx.Global, Offset: a.Base + uint64(at), Size: s.size, Bytes: s.size, Signed: s.signed, Fixed: a, Elems: []code.Elem{{Slot: s.data, Row: row}},
			}}
			prog := t.newSingle(p, code.Instr{Op: code.LoadFixed, D: code.NoRow, Side: 1})
			c, ctx := t.assemble(prog, m)
			if c == nil {
				continue
			}
			any = true
			want, memory, good := prog.copied(), slices.Clone(around), t.IntN(4) > 0
			if !good {
				a.Size = uint64(t.IntN(2) * (at + s.size - 1)) // all that it had, or the end
			}
			for lane := range regfile.Lanes {
				if good && m>>lane&1 != 0 {
					load(want, row, lane, s, memory[margin+at:][:s.size])
				}
			}
			diff := t.execute(c, ctx, prog, want, good)
			if diff == "" && !slices.Equal(memory, around) {
				diff = "memory differs"
			}
			if diff != "" {
				t.Differs = fmt.Sprintf("load of %d bytes, signed %v, from byte %d of %d to row %d (%v): %s", s.size, s.signed, at, a.Size, row, s.data, diff)
				return false
			}
		}
	}
	return any
}
