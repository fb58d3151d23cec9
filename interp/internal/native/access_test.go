package native

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"gemu/internal/part"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// accessHarness is a program of one memory instruction, with its registers and memory, and its model in Go.
type accessHarness struct {
	*rand.Rand
	prog               *code.Program
	in                 *code.Instr
	access             *code.Access
	file               *regfile.File
	allocation, shared *mem.Allocation
	hits               []*mem.Allocation // allocations that the access remembers
	local              mem.Local
	localFrom, localTo uint64 // bounds of local memory, in bytes
	frame              uint64
	addresses          [regfile.Lanes]uint64 // addresses of the lanes, from the registers
}

// allocation is an allocation of random bytes.
func allocation(rng *rand.Rand, base uint64, size int) *mem.Allocation {
	data := mem.AlignedBytes(uint64(size))
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	return &mem.Allocation{Allocation: probe.Allocation{Base: base, Size: uint64(size), Span: uint64(size), Data: data, Ptr: unsafe.Pointer(unsafe.SliceData(data))}}
}

// accessKinds has the kinds of memory instructions, by name: loads and stores.
var accessKinds = map[string][2]code.Op{
	"element": {}, "vector": {code.LoadVector, code.StoreVector}, "fixed": {code.LoadFixed, code.StoreEach},
	"local": {code.LoadLocal, code.StoreLocal}, "frame": {code.LoadFrame, code.StoreFrame}, "atomic": {code.Atomic, code.Atomic},
}

// newAccessHarness draws one of a kind: the instruction from shape, and its registers, what is in them and in memory, and where it
// accesses it, from rng.
func newAccessHarness(shape, rng *rand.Rand, kind string) *accessHarness {
	a := code.Access{Size: 1 << shape.IntN(4), Space: []ptx.Space{ptx.Global, ptx.Shared}[shape.IntN(2)], Addr: []code.Slot{code.R, code.Q}[shape.IntN(2)], Store: shape.IntN(2) == 0}
	a.Signed = !a.Store && shape.IntN(3) == 0
	r := &accessHarness{Rand: rng, prog: &code.Program{Width: regfile.Lanes, Funcs: []*code.Func{{Frame: frame}}}}
	size := func() int { // some memory is smaller than an access
		if rng.IntN(8) == 0 {
			return []int{0, 0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32}[rng.IntN(12)]
		}
		return 200 + rng.IntN(1200)
	}
	r.allocation = allocation(rng, 0x1000_0200, size())
	r.shared = allocation(rng, probe.SharedWindow+uint64(rng.IntN(2))<<probe.RankShift, size())
	r.hits = make([]*mem.Allocation, code.HitsPerAccess)
	for i := range r.hits {
		if rng.IntN(2) == 0 {
			r.hits[i] = allocation(rng, 0x2000_0000+uint64(i)<<12, 64<<rng.IntN(7))
		}
	}
	r.hits[max(0, rng.IntN(2*code.HitsPerAccess)-code.HitsPerAccess)] = r.allocation
	followed(rng, r.prog, code.Instr{})
	r.local, r.localFrom, r.localTo = make(mem.Local, 40), 16, 16+4*rng.Uint64N([]uint64{36, 36, 36, 4}[rng.IntN(4)])
	for i := range r.local {
		for lane := range r.local[i] {
			r.local[i][lane] = rng.Uint32()
		}
	}
	r.frame = r.localFrom + 8*uint64(rng.IntN(4))
	n, draw := 1, func() code.Elem { // a row that fits the elements
		slot := code.Slot(code.R + code.Slot(shape.IntN(2)))
		if a.Size == 8 || a.Atom != nil {
			slot = map[int]code.Slot{2: code.R, 4: code.R, 8: code.Q, 16: code.Q}[a.Size]
		}
		rows := rng.Perm(frame.R)
		return code.Elem{Slot: slot, Row: int32(rows[0]), High: int32(rows[1])}
	}
	source := func() code.Elem {
		e := draw()
		switch {
		case rng.IntN(4) > 0:
		case e.Slot == code.R:
			e.Row = r.prog.Consts.Add32(rng.Uint32() & -rng.Uint32N(2))
		default:
			e.Row = r.prog.Consts.Add64(rng.Uint64() & -rng.Uint64N(2))
			e.High = r.prog.Consts.Add64(rng.Uint64() & -rng.Uint64N(2))
		}
		return e
	}
	switch kind {
	case "vector":
		n = 2 << shape.IntN(2)
	case "fixed":
		n, a.Addr = 1<<shape.IntN(3), code.NoSlot
		if a.Space == ptx.Global {
			a.Fixed = r.allocation
		}
	case "local":
		n, a.Space = 1<<shape.IntN(3), ptx.Local
	case "frame":
		n, a.Space, a.Addr, a.Frame = 1<<shape.IntN(3), ptx.Local, code.NoSlot, true
	case "atomic":
		a.Size, a.Store, a.Signed = 4<<shape.IntN(2), false, false
		if a.Space == ptx.Global && shape.IntN(4) == 0 {
			if a.Space = ptx.Generic; rng.IntN(2) == 0 {
				r.shared = r.allocation // a generic address may be in shared memory
			}
		}
		if shape.IntN(4) == 0 { // vector atomics have at most 16 bytes
			if n = 2; a.Size == 4 {
				n = 2 << shape.IntN(2)
			}
		}
		if a.Space != ptx.Generic && shape.IntN(4) == 0 {
			a.Addr = code.NoSlot
			if a.Space == ptx.Global {
				a.Fixed = r.allocation
			}
		}
		t := [...][2]ptx.Type{{ptx.U32, ptx.U64}, {ptx.S32, ptx.S64}, {ptx.B32, ptx.B64}}[shape.IntN(3)][a.Size/8]
		a.Atom = &code.Atom{Reduction: code.Reduction{Op: code.AtomicOp(shape.IntN(int(code.AtomFloat))), Type: t}}
		if shape.IntN(4) == 0 {
			a.Atom.Reduction = code.ReductionOn(code.AtomAdd, []ptx.Type{4: ptx.F32, 8: ptx.F64}[a.Size], a.Space)
		}
		onHalves := []code.AtomicOp{code.AtomAdd, code.AtomMin, code.AtomMax}[shape.IntN(3)]
		if a.Size == 4 && shape.IntN(4) == 0 {
			a.Atom.Reduction = code.ReductionOn(onHalves, []ptx.Type{ptx.F16x2, ptx.BF16x2}[shape.IntN(2)], a.Space)
		}
		switch shape.IntN(8) {
		case 0, 1:
			a.Size, n = 2, 1<<shape.IntN(4)
			a.Atom.Reduction = code.ReductionOn(onHalves, []ptx.Type{ptx.F16, ptx.BF16}[shape.IntN(2)], a.Space)
		case 2:
			a.Size, n = 2, 1
			a.Atom.Reduction = code.Reduction{Op: code.AtomCas, Type: ptx.B16}
		case 3:
			a.Size, n = 16, 1
			a.Atom.Reduction = code.Reduction{Op: []code.AtomicOp{code.AtomCas, code.AtomExch}[shape.IntN(2)], Type: ptx.B128}
		}
		for range n {
			a.Atom.B = append(a.Atom.B, source())
			if a.Atom.Op == code.AtomCas {
				a.Atom.C = append(a.Atom.C, source())
			}
		}
	}
	a.Bytes = a.Size * n
	rows := rng.Perm(frame.R)
	for i := range n {
		switch e := draw(); {
		case a.Store:
			a.Elems = append(a.Elems, source())
		case a.Atom != nil && shape.IntN(3) == 0, n > 1 && shape.IntN(6) == 0: // the element has no register
			a.Elems = append(a.Elems, code.Elem{})
		default:
			if n > 1 {
				e.Row = int32(rows[i]) // two results must not share a row
			}
			a.Elems = append(a.Elems, e)
		}
	}
	r.in, r.access = &r.prog.Instrs[0], &a
	r.in.A, r.in.D, r.in.F = rng.Int32N(int32(frame.R)), code.NoRow, code.NoRow
	ops := accessKinds[kind]
	if r.in.Op = ops[0]; a.Store {
		r.in.Op = ops[1]
	}
	if kind == "element" {
		if r.in.Op = code.LoadOp(a.Size, a.Signed, a.Addr, a.Elems[0].Slot); a.Store {
			r.in.Op = code.StoreOp(a.Size, a.Addr, a.Elems[0].Slot)
		}
	}
	r.setPlace(&a)
	constant := a.Addr != code.NoSlot && rng.IntN(6) == 0
	if constant {
		for lane := range r.addresses {
			r.addresses[lane] = r.addresses[0]
		}
		if v := r.addresses[0] - a.Offset; a.Addr == code.R {
			r.in.A = r.prog.Consts.Add32(uint32(v))
		} else {
			r.in.A = r.prog.Consts.Add64(v)
		}
	}
	r.prog.Consts.Layout()
	r.file = regfile.New(&r.prog.Consts, false)
	r.file.Reset(frame)
	for i := range int32(frame.R) {
		for lane := range regfile.Lanes {
			r.file.Row32(i)[lane], r.file.Row64(i)[lane] = rng.Uint32(), rng.Uint64()
		}
	}
	if a.Atom != nil {
		r.applyAtomic(a.Atom)
	}
	for lane, at := range r.addresses {
		switch v := at - a.Offset; {
		case constant:
		case a.Addr == code.R:
			r.file.Row32(r.in.A)[lane] = uint32(v)
		case a.Addr == code.Q:
			r.file.Row64(r.in.A)[lane] = v
		}
	}
	r.prog.Access = []code.Access{a}
	r.access = &r.prog.Access[0]
	r.prog.Link()
	return r
}

// applyAtomic draws what atomic operations are on: sums of numbers and of what is none, and else often values that show the work of
// one lane when others have been there: single bits, or few values, which comparisons find.
func (r *accessHarness) applyAtomic(t *code.Atom) {
	from := corners
	switch n := r.IntN(4); {
	case t.Type.IsFloat():
	case n == 0:
		return
	case n <= 2:
		from = nil
		for i := range t.Type.Bits() {
			bit := uint64(1) << i
			from = append(from, map[int]uint64{1: bit, 2: ^bit}[n])
		}
	default:
		top := uint64(1) << (t.Type.Bits() - 1)
		from = []uint64{0, 0x0101_0101_0101_0101, 1<<64 - 1, top, top - 1}
	}
	draw := func() uint64 { return from[r.IntN(len(from))] }
	if r.IntN(2) == 0 {
		for _, memory := range [][]byte{r.allocation.Data, r.shared.Data} {
			for n := min(t.Type.Bits()/8, 8); len(memory) >= n; memory = memory[n:] {
				copy(memory[:n], binary.LittleEndian.AppendUint64(nil, draw()))
			}
		}
	}
	for _, e := range append(slices.Clone(t.B), t.C...) {
		for lane := range regfile.Lanes {
			if v := draw(); e.Row >= 0 && e.Slot == code.R {
				r.file.Row32(e.Row)[lane] = uint32(v)
			} else if e.Row >= 0 {
				r.file.Row64(e.Row)[lane], r.file.Row64(e.High)[lane] = v, draw()
			}
		}
	}
}

// setPlace draws addresses: shapes that are looked for, others, and some that are out of reach.
func (r *accessHarness) setPlace(a *code.Access) {
	begin, size := r.allocation.Base, r.allocation.Size
	switch a.Space {
	case ptx.Shared:
		begin, size = r.shared.Base-probe.SharedWindow, r.shared.Size
	case ptx.Local:
		begin, size = r.localFrom, r.localTo-r.localFrom
	}
	n := uint64(a.Bytes)
	a.Offset = uint64(r.IntN(64)) - 32
	if a.Addr == code.NoSlot {
		if a.Frame {
			begin -= r.frame
		}
		if a.Offset = begin + n*(r.Uint64N(size/n+2)) - n*uint64(r.IntN(8)/7); r.IntN(6) == 0 { // near the end
			a.Offset = begin + size/n*n - n*r.Uint64N(2)
		}
		return
	}
	places := max(size/n, 1)
	starts := [4]uint64{r.Uint64N(places), r.Uint64N(places), r.Uint64N(places), r.Uint64N(places)}
	shapes := [4]int{r.IntN(3), 0, r.IntN(3), 0}
	if r.IntN(2) == 0 { // all lanes in one shape, often at the end
		for i := range starts {
			starts[i], shapes[i] = min(starts[0], max(places, 32)-32+uint64(r.IntN(40)/39)), shapes[0]
		}
	} else {
		starts[1], starts[3], shapes[1], shapes[3] = starts[0], starts[2], shapes[0], shapes[2] // one shape for each half
	}
	for lane := range r.addresses {
		place := starts[lane/8]
		switch shapes[lane/8] {
		case 1:
			place += uint64(lane)
		case 2:
			place = r.Uint64N(places)
		}
		r.addresses[lane] = begin + n*place
	}
	switch lane := r.IntN(regfile.Lanes); r.IntN(7) {
	case 5, 6: // a single lane is not in the shape, or the lanes of a whole warp are contiguous from an earlier place on
		if r.IntN(2) == 0 {
			for i := range r.addresses {
				r.addresses[i] = begin + n*(max(places, 32)-32) + n*uint64(i)
			}
		}
		if r.IntN(4) > 0 {
			r.addresses[lane] = r.addresses[r.IntN(regfile.Lanes)]
		}
	case 0:
		r.addresses[lane] = begin + n*places
	case 1:
		r.addresses[lane] = begin - n
	case 2:
		r.addresses[lane] += uint64(r.IntN(2) * r.IntN(int(n)))
	case 3:
		if r.IntN(4) == 0 { // addresses far away that the offset brings back by wrapping around
			for i := range r.addresses {
				r.addresses[i] = -n*uint64(regfile.Lanes-lane) + n*uint64(i)
			}
		}
	}
}

// bytes returns the memory that a lane accesses, and whether it is in bounds.
func (r *accessHarness) bytes(lane int) ([]byte, bool) {
	a, v := r.access, uint64(0)
	switch a.Addr {
	case code.R:
		v = uint64(r.file.Src32(r.in.A)[lane])
	case code.Q:
		v = r.file.Src64(r.in.A)[lane]
	}
	data, o := r.allocation.Data[:min(r.allocation.Size, uint64(len(r.allocation.Data)))], v+a.Offset-r.allocation.Base
	switch a.Space {
	case ptx.Shared:
		data, o = r.shared.Data, v+a.Offset-(r.shared.Base-probe.SharedWindow)
	case ptx.Local:
		at := v + a.Offset
		if a.Addr == code.R {
			at = uint64(uint32(at))
		}
		if a.Frame {
			at += r.frame
		}
		return nil, at-r.localFrom < r.localTo-r.localFrom && at+uint64(a.Bytes) <= r.localTo && at%uint64(a.Bytes) == 0
	}
	n := uint64(a.Bytes)
	if o%n != 0 || o >= uint64(len(data)) || o+n > uint64(len(data)) {
		return nil, false
	}
	return data[o : o+n], true
}

// localAt returns the place of a lane's access in local memory, if it is in bounds.
func (r *accessHarness) localAt(lane int) int {
	if r.access.Frame {
		return int(r.frame + r.access.Offset)
	}
	if r.access.Addr == code.Q {
		return int(uint32(r.file.Src64(r.in.A)[lane] + r.access.Offset))
	}
	return int(r.file.Src32(r.in.A)[lane] + uint32(r.access.Offset))
}

// execute executes the instruction in Go for lanes m on a copy of the registers, lane after lane, and reports whether all lanes
// are in bounds.
func (r *accessHarness) execute(f *regfile.File, m uint32) (may, changed bool) {
	a := r.access
	for lane := range regfile.Lanes {
		if _, ok := r.bytes(lane); m>>lane&1 == 1 && !ok {
			return false, false
		}
	}
	get := func(e code.Elem, lane int) uint64 {
		if e.Slot == code.Q {
			return f.Src64(e.Row)[lane]
		}
		return uint64(f.Src32(e.Row)[lane])
	}
	put := func(e code.Elem, lane int, v uint64) {
		switch e.Slot {
		case code.R:
			f.Row32(e.Row)[lane] = uint32(v)
		case code.Q:
			f.Row64(e.Row)[lane] = v
		}
	}
	for lane := range regfile.Lanes {
		if m>>lane&1 == 0 {
			continue
		}
		data, _ := r.bytes(lane)
		for i, e := range a.Elems {
			var v uint64
			load := func() uint64 {
				if a.Space == ptx.Local {
					return r.local.Load(r.localAt(lane)+i*a.Size, lane, a.Size)
				}
				return mem.LoadBits(unsafe.Pointer(&data[i*a.Size]), a.Size)
			}
			store := func(v uint64) {
				if a.Space == ptx.Local {
					r.local.Store(r.localAt(lane)+i*a.Size, lane, a.Size, v)
				} else {
					mem.StoreBits(unsafe.Pointer(&data[i*a.Size]), a.Size, v)
					changed = true
				}
			}
			switch {
			case a.Size == 16:
				changed = atomically128(a, f, data, lane) || changed
			case a.Atom != nil:
				v = load()
				t := a.Atom.Reduction
				t.Global = t.Global && !(a.Space == ptx.Generic && r.shared == r.allocation)
				now, was := atomically(t, v, get(a.Atom.B[i], lane), func() uint64 { return get(a.Atom.C[i], lane) }), changed
				store(now)
				changed = was || now != v
				put(e, lane, v)
			case a.Store:
				store(get(e, lane))
			default:
				if v = load(); a.Signed {
					v = uint64(int64(v<<(64-8*a.Size)) >> (64 - 8*a.Size))
				}
				put(e, lane, v)
			}
		}
	}
	return true, changed
}

// atomically128 executes exch or cas of 128 bits and reports whether it changes the memory.
func atomically128(a *code.Access, f *regfile.File, data []byte, lane int) (changed bool) {
	get := func(e code.Elem) [2]uint64 { return [2]uint64{f.Src64(e.Row)[lane], f.Src64(e.High)[lane]} }
	was := [2]uint64{binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])}
	now := get(a.Atom.B[0])
	if a.Atom.Op == code.AtomCas {
		if now == was {
			now = get(a.Atom.C[0])
		} else {
			now = was
		}
	}
	binary.LittleEndian.PutUint64(data, now[0])
	binary.LittleEndian.PutUint64(data[8:], now[1])
	if d := a.Elems[0]; d.Slot == code.Q {
		f.Row64(d.Row)[lane], f.Row64(d.High)[lane] = was[0], was[1]
	}
	return now != was
}

// atomically computes an atomic operation (manual 9.7.13.5).
func atomically(t code.Reduction, x, y uint64, z func() uint64) uint64 {
	cut := ^uint64(0) >> (64 - t.Type.Bits())
	y &= cut
	sign := uint64(0)
	if t.Type.IsSigned() {
		sign = 1 << (t.Type.Bits() - 1)
	}
	switch t.Op {
	case code.AtomFloat:
		sum, _ := alu.Single[t.Float](x, y, 0, 0, 0)
		return sum
	case code.AtomAdd:
		if t.Type == ptx.F64 {
			isNaN := func(u uint64) bool { return u<<1 > 0x7ff<<53 }
			switch s := math.Float64frombits(x) + math.Float64frombits(y); {
			case t.Global && isNaN(y):
				return y
			case isNaN(x) && t.Global:
				return x
			case isNaN(x):
				return x | 1<<51
			case isNaN(y):
				return y | 1<<51
			case s != s:
				return 0xfff8 << 48
			default:
				return math.Float64bits(s)
			}
		}
		if t.Type == ptx.F32 {
			flush := func(f float32) float32 {
				if t.Global && math.Abs(float64(f)) < 0x1p-126 {
					f = float32(math.Copysign(0, float64(f)))
				}
				return f
			}
			s := flush(flush(math.Float32frombits(uint32(x))) + flush(math.Float32frombits(uint32(y))))
			if s != s {
				return 0x7fffffff
			}
			return uint64(math.Float32bits(s))
		}
		return (x + y) & cut
	case code.AtomAnd:
		return x & y
	case code.AtomOr:
		return x | y
	case code.AtomXor:
		return x ^ y
	case code.AtomExch:
		return y
	case code.AtomCas:
		if x == y {
			return z() & cut
		}
		return x
	case code.AtomInc:
		if x >= y {
			return 0
		}
		return x + 1
	case code.AtomDec:
		if x == 0 || x > y {
			return y
		}
		return x - 1
	case code.AtomMin:
		if x^sign < y^sign {
			return x
		}
		return y
	}
	if x^sign > y^sign {
		return x
	}
	return y
}

// memory returns all bytes that the instruction may change.
func (r *accessHarness) memory() []byte {
	all := append(bytes.Clone(r.allocation.Data), r.shared.Data...)
	for i := range r.local {
		for _, v := range r.local[i] {
			all = append(all, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
		}
	}
	return all
}

// snapshot returns a function that restores the memory.
func (r *accessHarness) snapshot() func() {
	hit, shared, local := bytes.Clone(r.allocation.Data), bytes.Clone(r.shared.Data), append(mem.Local{}, r.local...)
	return func() {
		copy(r.allocation.Data, hit)
		copy(r.shared.Data, shared)
		copy(r.local, local)
	}
}

// TestAccesses checks memory instructions lane by lane against the manual, at addresses of all shapes. If a lane is out of
// bounds, machine code must change nothing and exit.
func TestAccesses(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	rng := rand.New(rand.NewPCG(part.Seed(t), 3))
	if one := part.Stencil(); one != "" {
		tryStencil(t, rng, one)
		return
	}
	for _, kind := range slices.Sorted(maps.Keys(accessKinds)) {
		did, left := 0, 0
		for range part.Count(800, 1500, 100000) {
			tried, may := tryAccess(t, rng, kind, rng.Uint64(), "")
			if tried {
				did++
			}
			if tried && !may {
				left++
			}
		}
		t.Logf("%s: %d, of which %d leave", kind, did, left)
		if did < 400 || left == 0 || left == did {
			t.Errorf("%s: %d, of which %d leave", kind, did, left)
		}
	}
}

// tryStencil searches for random instructions that use a stencil, and runs several of them many times each.
func tryStencil(t *testing.T, rng *rand.Rand, stencil string) {
	kinds := slices.Sorted(maps.Keys(accessKinds))
	if strings.HasPrefix(stencil, "atom_") || strings.HasPrefix(stencil, "red_") {
		kinds = []string{"atomic"}
	}
	did, kind, seed, found := 0, "", uint64(0), 0
	for n := 0; n < 60000 && did < 1600; n++ {
		if did == 100*found {
			kind, seed = kinds[n%len(kinds)], rng.Uint64()
		}
		if tried, _ := tryAccess(t, rng, kind, seed, stencil); tried {
			if did == 100*found {
				found++
			}
			did++
		}
	}
	t.Logf("%s: %d of %d instructions", stencil, did, found)
}

// tryAccess compares the machine code of a random instruction, given by its kind and a seed, with the model. It does nothing if
// there is no machine code, or none that uses the named stencil. may is whether the access is in bounds.
func tryAccess(t *testing.T, rng *rand.Rand, kind string, seed uint64, stencil string) (tried, may bool) {
	t.Helper()
	r := newAccessHarness(rand.New(rand.NewPCG(seed, 0)), rng, kind)
	m := append(masks, rng.Uint32()|1, rng.Uint32()&rng.Uint32()&rng.Uint32()|1<<rng.IntN(32), ^uint32(0)<<rng.IntN(32), regfile.Full)[rng.IntN(len(masks)+4)]
	if strings.HasSuffix(stencil, "_full") {
		m = regfile.Full
	}
	c := New(r.prog)
	changed := false
	ctx := &Context{Mask: m, ReconvergeAt: -1, CountLimit: 1 << 40}
	ctx.SetMemory(r.hits, r.shared, &changed)
	ctx.SetLocal(r.local, r.localFrom, r.localTo, r.frame)
	ctx.SetParallel(rng.IntN(2) == 0)
	if stencil != "" && !wants(c, ctx, stencil) || !c.Ready(ctx) || c.NextSupported(ctx, 0) != 0 {
		return false, false
	}
	if r.access.FixedPointer() != nil && rng.IntN(5) == 0 { // the memory was freed, or became smaller, after the code was assembled
		r.allocation.Size = []uint64{0, r.access.Offset - r.allocation.Base, r.access.Offset - r.allocation.Base + uint64(r.access.Bytes) - 1}[rng.IntN(3)]
	}
	want := copied(r.prog, r.file)
	restore := r.snapshot()
	may, changes := r.execute(want, m)
	should := r.memory()
	restore()
	c.RunBlock(ctx, r.file, 0)
	says := fmt.Sprintf("%v, %v, lanes %#x (%d), addresses %#x, memory of %d and %d bytes", r.in.Op, fmt.Sprintf("%+v", *r.access), m, bits.OnesCount32(m), r.addresses, r.allocation.Size, r.shared.Size)
	diff := differs(r.prog, r.file, want, ctx, may)
	switch {
	case diff != "":
		t.Fatalf("%s: %s", says, diff)
	case !bytes.Equal(r.memory(), should):
		t.Fatalf("%s: memory differs", says)
	case may && r.access.Addr != code.NoSlot && r.access.Space != ptx.Shared && r.access.Space != ptx.Local && r.hits[0] != r.allocation:
		t.Fatalf("%s: what it has hit is not what it remembers first", says)
	case changed != changes && r.access.Space != ptx.Local:
		t.Fatalf("%s: memory has changed: %v", says, changed)
	}
	return true, may
}

// wants reports whether the code for a context uses a stencil.
func wants(c *Code, ctx *Context, stencil string) bool {
	c.lib.TakeUsed()
	return c.Ready(ctx) && slices.Contains(c.lib.TakeUsed(), stencil)
}

// compiled reports whether there is machine code for an instruction with this access.
func compiled(t *testing.T, instr code.Instr, access ...code.Access) bool {
	t.Helper()
	p, _ := single(rand.New(rand.NewPCG(1, 2)), instr, nil)
	p.Access = access
	c, ctx := New(p), &Context{Mask: regfile.Full}
	if !c.Ready(ctx) {
		t.Skip("this host executes no machine code of ours")
	}
	return c.NextSupported(ctx, 0) == 0
}

// TestAccessesLeftToGo checks the memory instructions that are left to Go: instructions other than loads and stores, elements of
// more than 8 bytes, loads that overwrite an address before its last use, and offsets that do not fit machine code.
func TestAccessesLeftToGo(t *testing.T) {
	for _, op := range []code.Op{code.StoreBulk, code.LoadWide, code.StoreWide, code.LoadEach, code.StoreEach} {
		for _, size := range []int{8, 16} {
			if compiled(t, code.Instr{Op: op, D: code.NoRow, F: code.NoRow}, code.Access{Space: ptx.Shared, Addr: code.R, Size: size, Bytes: size, Elems: []code.Elem{{Slot: code.Q}}, Store: op == code.StoreBulk || op == code.StoreWide || op == code.StoreEach}) {
				t.Errorf("%v of %d bytes has machine code", op, size)
			}
		}
	}
	for _, x := range []struct {
		shape      string
		transposed bool
		store      bool
		space      ptx.Space
	}{{"m16n8", true, false, ptx.Shared}, {"m8n16", false, true, ptx.Shared}, {"m16n16", true, true, ptx.Shared}, {"m8n8", false, false, ptx.Global}} {
		tile := code.Access{Space: x.space, Addr: code.R, Size: 4, Bytes: 16, Elems: []code.Elem{{Slot: code.R}}, Tile: matrix.NewTile(x.shape, x.transposed, 1, 0), Store: x.store}
		op := code.LoadMatrix
		if x.store {
			op = code.StoreMatrix
		}
		if compiled(t, code.Instr{Op: op, D: code.NoRow, F: code.NoRow}, tile) {
			t.Errorf("%v of %s in %v has machine code", op, x.shape, x.space)
		}
	}
	for at := range int32(3) {
		vector := code.Access{Space: ptx.Shared, Addr: code.R, Size: 2, Bytes: 4, Elems: []code.Elem{{Slot: code.R, Row: 0}, {Slot: code.R, Row: 1}}}
		if compiled(t, code.Instr{Op: code.LoadVector, D: code.NoRow, F: code.NoRow, A: at}, vector) != (at != 0) { // row 1 is loaded last
			t.Errorf("rows 0 and 1 from where row %d says: there is machine code: %v", at, at == 0)
		}
		if vector.Size, vector.Bytes = 4, 8; !compiled(t, code.Instr{Op: code.LoadVector, D: code.NoRow, F: code.NoRow, A: at}, vector) {
			t.Errorf("rows 0 and 1 of whole vectors from where row %d says: there is no machine code", at)
		}
	}
	for imm, room := range map[uint64]bool{0: true, math.MaxInt32: true, math.MaxInt32 + 1: false, 1 << 40: false} {
		if compiled(t, code.Instr{Op: code.OpNamed("add.s32"), F: code.NoRow, Imm: imm}) != room {
			t.Errorf("an operation on %#x has machine code: %v", imm, !room)
		}
	}
}

// TestInstructionsLeftToGo checks that instructions whose result has no register, and reads of clocks, are left to Go.
func TestInstructionsLeftToGo(t *testing.T) {
	second := 0
	for op := range code.Count {
		s := op.Signature()
		if s.Kind != code.Arithmetic || s.Compares() || s.Dst2 == code.NoSlot || !HasKernel(op) {
			continue
		}
		second++
		for _, exec := range []code.Exec{code.OnLanes, code.Materialised, code.CompactMixed} {
			instr := code.Instr{Op: op, Plan: code.ExecPlan{Exec: exec}}
			with := compiled(t, instr)
			if instr.F = code.NoRow; !with || compiled(t, instr) {
				t.Errorf("%v, executed as %v, has machine code: %v; without its second result: %v", op, exec, with, compiled(t, instr))
			}
		}
	}
	if second == 0 {
		t.Error("no operation has two results")
	}
	for _, op := range []code.Op{code.Shfl, code.ShflSync, code.Vote, code.VoteSync, code.Ballot, code.BallotSync, code.Activemask} {
		instr := code.Instr{Op: op, F: code.NoRow}
		with := compiled(t, instr)
		if instr.D = code.NoRow; !with || compiled(t, instr) {
			t.Errorf("%v has machine code: %v; without its result: %v", op, with, compiled(t, instr))
		}
	}
	for op, reg := range map[code.Op]ptx.SpecialReg{code.Sreg32: ptx.Clock, code.Sreg64: ptx.Clock64} {
		if compiled(t, code.Instr{Op: op, F: code.NoRow, Imm: uint64(reg), Plan: code.ExecPlan{Exec: code.CompactSource}}) {
			t.Errorf("%v of a clock has machine code", op)
		}
	}
}

// TestOffsets checks that an access is left to Go if its place does not fit the 32 bits of a stencil's hole.
func TestOffsets(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	rng := rand.New(rand.NewPCG(part.Seed(t), 8))
	tried := map[string]int{}
	for _, kind := range slices.Sorted(maps.Keys(accessKinds)) {
		for range 300 {
			r := newAccessHarness(rand.New(rand.NewPCG(rng.Uint64(), 0)), rng, kind)
			compiled := func(offset uint64) bool {
				r.access.Offset = offset
				if f := r.access.Fixed; f != nil { // a larger allocation
					r.access.Fixed = &mem.Allocation{Allocation: probe.Allocation{Base: f.Base, Size: 1 << 40, Data: f.Data}}
					r.access.Offset += f.Base
				}
				ctx := &Context{Mask: regfile.Full, ReconvergeAt: -1, CountLimit: 1 << 40}
				c := New(r.prog)
				return c.Ready(ctx) && c.NextSupported(ctx, 0) == 0
			}
			fixed := r.access.Fixed
			if !compiled(1 << 20) {
				continue
			}
			tried[kind]++
			if a := r.access; a.Addr == code.NoSlot && !a.Frame && a.Bytes > 1 && compiled(1<<20+uint64(1+r.IntN(a.Bytes-1))) {
				t.Errorf("%v, %+v has machine code where it is not aligned", r.in.Op, *a)
			}
			for _, offset := range []uint64{1 << 31, 1 << 35, -(1<<31 + 8) & (1<<64 - 1)} {
				if r.access.Fixed = fixed; fixed != nil && offset > 1<<40 {
					continue
				}
				if compiled(offset) {
					t.Errorf("%v, %+v has machine code", r.in.Op, *r.access)
				}
			}
		}
	}
	if len(tried) != len(accessKinds) {
		t.Errorf("tried: %v", tried)
	}
	a := &assembler{}
	for n, room := range map[int64]bool{0: true, -1: true, 1<<31 - 1: true, -1 << 31: true, 1 << 31: false, -1<<31 - 1: false, 1 << 40: false} {
		a.leftToGo = false
		if a.checkOffset(n); a.leftToGo == room {
			t.Errorf("there is room for %d: %v", n, !a.leftToGo)
		}
	}
	for place, room := range map[int64]bool{0: true, -1: false, 1<<31 - 1 - maxOperandBytes: true, 1<<31 - maxOperandBytes: false, 1 << 33: false} {
		to := int64(-1)
		a.leftToGo = false
		if a.setHole(&to, place); a.leftToGo == room || to != place {
			t.Errorf("there is room for what is at %d: %v; it is at %d", place, !a.leftToGo, to)
		}
	}
	for row, register := range map[int32]bool{0: true, 5: true, code.NoRow: true, -1: false, -2: false} {
		a.leftToGo = false
		if a.setRegister(&holes{}, 'D', code.R, row); a.leftToGo == register {
			t.Errorf("row %d is that of a register: %v", row, !a.leftToGo)
		}
	}
}

// frame is the number of registers of the test programs.
var frame = regfile.Size{R: 8, Q: 8, P: 5}

// corners has values that operations may treat specially.
var corners = []uint64{
	0, 1, 2, 3, 31, 32, 33, 63, 64, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
	0x3f800000, 0xbf800000, 0x00000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345, // f32
	0x4f000000, 0x4effffff, 0xcf000000, 0xcf000001, 0x5f000000, 0x3effffff, 0x3f000000, 0x42fe0000, 0xc3160000,
	0x3c003c00, 0x7c00fc00, 0x7e007c01, 0x04000001, 0x3f803f80, // f16, bf16
	0x3ff0000000000000, 0xbff0000000000000, 1 << 63, 1<<63 - 1, 1<<64 - 1, 0x000fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff, // f64
	0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001, 0x41dfffffffc00000, 0x41e0000000000000, 0xc1e0000000000000, 0x43e0000000000000,
}

// masks has the active masks for every stencil, besides random ones.
var masks = []uint32{regfile.Full, 1, 1 << 31, 0x55555555, 0xffff0000, 0x7fffffff, 0x00018000}
