package harness

// This file tests loads and stores of one element, at the addresses of a row and at a fixed address.

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

// shape is the shape of an access to one element.
type shape struct {
	size       int
	signed     bool
	addr, data code.Slot
	store      bool
}

// shapes has the shapes of loads and stores, by operation.
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

// eachShape yields all shapes, in a fixed order.
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

// isAccess reports whether a suite tests the operation as a load or store.
func isAccess(op code.Op) bool {
	_, ok := shapes[op]
	return ok || op == code.LoadFixed
}

// testAccesses tests a memory operation. It returns false if there is no machine code or a program differed.
func (t *tester) testAccesses(op code.Op, round int) bool {
	if op == code.LoadFixed {
		return t.testFixed(round)
	}
	s, any := shapes[op], false
	for _, space := range []ptx.Space{ptx.Global, ptx.Shared} {
		for i := range addressings {
			for set := range 4 {
				if set&2 != 0 && !s.store {
					continue // a result cannot be a constant
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

// margin is the number of bytes on each side of an allocation, which an access must not touch.
const margin = 256

// newAllocation returns an allocation of size random bytes, and the memory around it with both margins.
func (t *tester) newAllocation(base uint64, size int) (a *mem.Allocation, around []byte) {
	around = mem.AlignedBytes(uint64(size + 2*margin))
	for i := range around {
		around[i] = byte(t.Uint32())
	}
	a = &mem.Allocation{Allocation: probe.Allocation{Base: base, Size: uint64(size), Span: uint64(size), Data: around[margin : margin+size]}}
	a.Ptr = unsafe.Pointer(&around[margin])
	return a, around
}

// addressings has functions for the address of a lane in a memory of n elements: an index of an element, and an offset in
// bytes from it.
var addressings = []func(t *tester, lane, n int) (element, bytes int){
	func(*tester, int, int) (int, int) { return 0, 0 },                                     // all lanes at the first element
	func(_ *tester, _, n int) (int, int) { return n - 1, 0 },                               // all lanes at the last element
	func(_ *tester, _, n int) (int, int) { return n, 0 },                                   // all lanes after the last element
	func(*tester, int, int) (int, int) { return -1, 0 },                                    // all lanes before the first element
	func(*tester, int, int) (int, int) { return 1, 1 },                                     // all lanes misaligned
	func(_ *tester, lane, _ int) (int, int) { return lane, 0 },                             // contiguous, from the first element
	func(_ *tester, lane, n int) (int, int) { return n - 32 + lane, 0 },                    // contiguous, to the last element
	func(_ *tester, lane, n int) (int, int) { return n - 31 + lane, 0 },                    // contiguous, one element too far
	func(_ *tester, lane, _ int) (int, int) { return lane - 1, 0 },                         // contiguous, from one element too early
	func(_ *tester, lane, _ int) (int, int) { return lane, 1 },                             // contiguous, misaligned
	func(_ *tester, lane, _ int) (int, int) { return 31 - lane, 0 },                        // contiguous, downwards
	func(_ *tester, lane, n int) (int, int) { return n - 64 + 2*lane, 0 },                  // every second element
	func(_ *tester, lane, n int) (int, int) { return lane * (n / 32), 0 },                  // the largest stride in bounds
	func(_ *tester, lane, n int) (int, int) { return n%33 + 2*(lane%16) - lane/16, 0 },     // stride 2, each half of the warp elsewhere
	func(_ *tester, lane, n int) (int, int) { return lane%16 + (n-16)*(lane/16), 0 },       // contiguous in each half
	func(_ *tester, lane, n int) (int, int) { return (n - 1) * (lane / 16), 0 },            // an element for each half
	func(_ *tester, lane, n int) (int, int) { return (n + lane/31) % (n + 1), 0 },          // only the last lane of the warp elsewhere
	func(_ *tester, lane, _ int) (int, int) { return 5 + lane/31, 0 },                      // the last lane next to the common element
	func(_ *tester, lane, _ int) (int, int) { return 3 + lane ^ lane>>4&1, 0 },             // two lanes exchanged
	func(t *tester, _, n int) (int, int) { return t.IntN(n), 0 },                           // random elements, some of them equal
	func(t *tester, lane, n int) (int, int) { return t.IntN(n), lane / 31 },                // random, the last lane misaligned
	func(t *tester, lane, n int) (int, int) { return t.IntN(n) + lane/17%2*(lane%2)*n, 0 }, // random, some lanes out of bounds
	func(t *tester, lane, n int) (int, int) { return t.IntN(n) - lane/31*2*n, 0 },          // random, the last lane before the memory
	func(t *tester, _, _ int) (int, int) { return int(t.Uint64() >> 3), 0 },                // random in the address space

	// One half of the warp has stride 1 or 2. The comment states the addresses of the second half, on its line, and of the
	// first half, on the next line.
	func(_ *tester, lane, _ int) (int, int) { return byHalf(lane, lane, 31-lane), 0 }, // descending
	func(_ *tester, lane, _ int) (int, int) { return byHalf(lane, 15-lane, lane), 0 },
	func(t *tester, lane, n int) (int, int) { return byHalf(lane, lane, t.IntN(n)), 0 }, // anywhere
	func(t *tester, lane, n int) (int, int) { return byHalf(lane, t.IntN(n), lane), 0 },
	func(_ *tester, lane, n int) (int, int) { return byHalf(lane, lane, n-31+lane), 0 }, // ends one element too far
	func(_ *tester, lane, n int) (int, int) { return byHalf(lane, n-15+lane, lane), 0 },
	func(_ *tester, lane, _ int) (int, int) { return byHalf(lane, lane, lane-17), 0 }, // begins one element too early
	func(_ *tester, lane, _ int) (int, int) { return byHalf(lane, lane-1, lane), 0 },
	func(_ *tester, lane, _ int) (int, int) { return lane, byHalf(lane, 0, 1) }, // misaligned
	func(_ *tester, lane, _ int) (int, int) { return lane, byHalf(lane, 1, 0) },
	func(_ *tester, lane, n int) (int, int) { return byHalf(lane, 2*lane, n-62+2*lane), 0 }, // ends one element too far
	func(_ *tester, lane, n int) (int, int) { return byHalf(lane, n-30+2*lane, 2*lane-32), 0 },
	func(_ *tester, lane, _ int) (int, int) { return byHalf(lane, 2*lane, 62-2*lane), 0 }, // descending
	func(_ *tester, lane, _ int) (int, int) { return byHalf(lane, 30-2*lane, 2*lane-32), 0 },
	func(_ *tester, lane, _ int) (int, int) { return byHalf(lane, 2*lane, 2*lane-34), 0 }, // begins one element too early
	func(_ *tester, lane, _ int) (int, int) { return byHalf(lane, 2*lane-1, 2*lane-32), 0 },
	func(_ *tester, lane, _ int) (int, int) { return 2 * (lane % 16), byHalf(lane, 0, 1) }, // misaligned
	func(_ *tester, lane, _ int) (int, int) { return 2 * (lane % 16), byHalf(lane, 1, 0) },
	func(_ *tester, lane, n int) (int, int) { return byHalf(lane, 0, n), 0 }, // all at one element, which is one too far
	func(_ *tester, lane, n int) (int, int) { return byHalf(lane, n, 0), 0 },
}

// byHalf returns first for a lane in the first half of the warp, else second.
func byHalf(lane, first, second int) int {
	if lane < regfile.Lanes/2 {
		return first
	}
	return second
}

// testAccess tests an access. If bit 0 of set is 1, the address is a constant; if bit 1 is 1, the stored value is.
func (t *tester) testAccess(op code.Op, s shape, space ptx.Space, addressing, set int, m uint32) (supported bool) {
	n := []int{33, 64, 200}[t.IntN(3)]
	size := n*s.size + t.IntN(s.size)
	base := []uint64{probe.FirstAddress, 512, 1<<32 - 512}[t.IntN(3)] // the last base continues beyond the addresses of 32 bits
	if s.addr == code.Q && t.IntN(2) == 0 {
		base = 0x7f00_0000_0000
	}
	begin := base // address of the first byte in the state space
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
		a.Size = uint64(t.IntN(size)) // smaller than the addressed memory
	}
	p, row := &code.Program{NumHits: 2 + code.HitsPerAccess}, t.Int32N(int32(frame.R))
	instr := code.Instr{Op: op, A: t.Int32N(int32(frame.R)), D: code.NoRow, B: code.NoRow, Side: 1}
	offset := uint64([]int{0, 0, 16, -16, 1 << 20, -1 << 20}[t.IntN(6)])
	addresses := make([]uint64, regfile.Lanes)
	for lane := range addresses {
		element, extra := addressings[addressing](t, lane, n)
		addresses[lane] = begin - offset + uint64(element*s.size+extra)
	}
	switch t.IntN(8) { // out of bounds in an upper bit only
	case 0:
		addresses[t.IntN(regfile.Lanes)] ^= 1 << (16 + t.IntN(48))
	case 1:
		bit := t.IntN(48)
		for lane := range addresses {
			addresses[lane] ^= 1 << (16 + bit)
		}
	}
	if set&1 == 0 && t.IntN(2) == 0 { // addresses of idle lanes must not matter
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
	hits[2+max(0, t.IntN(2*code.HitsPerAccess)-code.HitsPerAccess)] = a // the access remembers the allocation, in half of the cases as its last hit
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
		clear(hits) // the access has hit no allocation yet
	}
	ctx.SetMemory(hits, shared, &changed)

	// The expected registers and memory.
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

// runWithPatternsOnly runs a program whose access matches its proved pattern, without the stencils for arbitrary addresses.
// It describes the exit if the code exits early; "" if it does not.
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

// generalAccess matches the stencils of accesses without a proved pattern.
var generalAccess = regexp.MustCompile(`^(load|store)_[us]\d+_[rq]_[rq]_(hit|shared)_(full|masked)$`)

// setPattern sets a random true pattern of an access's addresses.
func (t *tester) setPattern(a *code.Access, addresses []uint64, m uint32) {
	first, last := outermost(m)
	between := func(i, j int) int64 { // the distance in bytes from lane i to lane j
		if a.Addr == code.R {
			return int64(uint32(addresses[j] - addresses[i]))
		}
		return int64(addresses[j] - addresses[i])
	}
	holds := func(p code.Pattern, apart int64) bool {
		for half := range 2 {
			f, l := first[half], last[half]
			if p != code.SameAddress && between(f, l) != int64(l-f)*apart {
				continue // the outermost lanes are not as expected: a pattern promises nothing for this half
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

// outermost returns the first and the last lane of m in each half of a warp. For a half without lanes it returns the lanes
// of m.
func outermost(m uint32) (first, last [2]int) {
	for half, lanes := range []uint32{m & 0xffff, m &^ 0xffff} {
		if lanes == 0 {
			lanes = m
		}
		first[half], last[half] = bits.TrailingZeros32(lanes), 31-bits.LeadingZeros32(lanes)
	}
	return first, last
}

// isQuick reports whether an access of lanes m at offsets in a memory of size bytes counts as one instruction. It does for up to
// six lanes of a mask, and if each half of the warp accesses one element (loads only) or contiguous elements.
//
// For contiguous elements with a mask, a load needs the elements of all lanes in bounds, and a store needs elements of at
// least 4 bytes, unless the host loads and stores partial vectors of any elements (parts). If the access uses its proved
// pattern, it is quick unless the pattern is AnyStride. found must be true if the access has already hit this memory.
func (s shape) isQuick(offsets []uint64, m uint32, size uint64, a *code.Access, found, parts bool) bool {
	if s.usesPattern(offsets, m, size, a, found, parts) {
		return a.Pattern != code.AnyStride
	}
	first, last := outermost(m)
	n := uint64(s.size)
	if m != regfile.Full && bits.OnesCount32(m) <= 6 {
		return true
	}
	apart := func(n uint64) bool { // reports whether the lanes of each half are n bytes apart
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

// usesPattern reports whether an access executes by its proved pattern: it has already hit this memory, the host has a way to
// access these lanes alone, and the outermost lanes are where the pattern expects them.
func (s shape) usesPattern(offsets []uint64, m uint32, size uint64, a *code.Access, found, parts bool) bool {
	parts = parts || s.size >= 4
	if !found || !(a.Pattern == code.SameAddress && !s.store || a.Pattern >= code.Contiguous && m == regfile.Full || a.Pattern == code.Contiguous && (parts || contiguous(m) || !s.store && s.allInBounds(offsets, m, size)) || a.Pattern == code.AnyStride) {
		return false
	}
	first, last := outermost(m)
	apart := uint64(a.Distance())
	return offsets[last[0]]-offsets[first[0]] == uint64(last[0]-first[0])*apart && offsets[last[1]]-offsets[first[1]] == uint64(last[1]-first[1])*apart
}

// allInBounds reports whether contiguous elements of all lanes of each half, executing or not, are in bounds.
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

// contiguous reports whether the lanes of m in each half have no gap between them.
func contiguous(m uint32) bool {
	for _, half := range []uint32{m & 0xffff, m >> 16} {
		if run := half >> (bits.TrailingZeros32(half) & 31); run&(run+1) != 0 {
			return false
		}
	}
	return true
}

// load writes a loaded element to a lane of a row.
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

// testFixed tests loads from a fixed address, in a live allocation, a freed allocation and an allocation that is too small.
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
				at = (n - 1) * s.size // the last element
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
				a.Size = uint64(t.IntN(2) * (at + s.size - 1)) // freed, or one byte too small
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
