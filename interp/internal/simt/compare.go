package simt

// This file is what check mode compares: registers of the code that is checked, wherever they
// are kept, with those of the reference.

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/interp/internal/lower"
	"gemu/interp/internal/mem"
	"gemu/regfile"
)

// compareSources compares rows that instructions under way read on the lanes with those of the
// reference; they then need not run a second time. What is only in a shadow does not count.
func (w *warp) compareSources(list []rowPair) {
	k := w.check
	f, g, m := k.f, k.g, k.lanes
	for i := range list {
		r := &list[i]
		bad := uint32(0)
		switch r.ref.Slot {
		case code.R:
			bad = differ(f.Src32(r.row.Row), g.Row32(r.ref.Row), m)
		case code.Q:
			bad = differ(f.Src64(r.row.Row), g.Row64(r.ref.Row), m)
		default:
			bad = (f.SrcP(r.row.Row) ^ g.Pred(r.ref.Row)) & m
		}
		if bad != 0 {
			w.wrongSource(k.reader(r), bad, r)
			return
		}
	}
}

// reader is the first of the instructions under way that reads a register.
func (k *check) reader(o *rowPair) *pair {
	return k.first(func(p *pair) bool { return slices.Contains(p.reads, *o) })
}

// writer is the one of the instructions under way that writes a register.
func (k *check) writer(o *rowPair) *pair {
	return k.first(func(p *pair) bool { return slices.Contains(p.writes, *o) })
}

// first is the first of the instructions under way that is as said.
func (k *check) first(is func(*pair) bool) *pair {
	list := k.run.pairs
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return &list[0]
}

// wrongSource reports that what an instruction reads is not what the reference has.
func (w *warp) wrongSource(p *pair, bad uint32, r *rowPair) {
	k, lane := w.check, bits.TrailingZeros32(bad)
	w.mismatch(p, bad, "it reads %s in lane %d, which holds %#x", laneText(k.f, r.row, lane), lane, laneOf(k.g, r.ref, lane))
}

// compareReads compares what an instruction reads, wherever it is kept, with the
// reference.
func (w *warp) compareReads(p *pair) {
	f, g, m := w.check.f, w.check.g, w.check.lanes
	for i := range p.reads {
		r := &p.reads[i]
		if bad := differences(f, g, r, m); bad != 0 {
			w.wrongSource(p, bad, r)
			return
		}
	}
}

// compareProved compares what is proved of an instruction that has executed with what is so:
// all lanes of the half that live have executed it, on operands that their rows' shadows hold
// for them, and the result is kept as one value. The other half may be elsewhere, for what is
// uniform in each need not be the same.
func (w *warp) compareProved(p *pair) {
	k, m := w.check, w.check.lanes
	if k.idle != 0 {
		w.mismatch(p, m, "its result is taken to be that of all lanes, but lanes %s do not execute it", LaneList(uint64(k.idle)<<(32*k.half)))
		return
	}
	if p.in.How.Exec >= code.ProvedOne {
		for i := range p.reads {
			if c := k.operandOf(p, i); c.Stride != 0 || !c.Holds(m) {
				w.mismatch(p, m, "operand %d is taken to be uniform, and is %s for lanes %s", i, valueOf(c), LaneList(uint64(c.Mask)))
				return
			}
		}
	}
	for i := range p.writes {
		o := p.writes[i].row
		if w.frame.fn.KeptIn(o)&code.IsProved == 0 {
			continue
		}
		if c := shadowAt(k.f, o.Slot, o.Row); c.Stride != 0 || !c.Holds(m) {
			w.mismatch(p, m, "its result is taken to be uniform, and is %s for lanes %s", valueOf(c), LaneList(uint64(c.Mask)))
			return
		}
	}
}

// operandOf is the shadow of an operand before the run of the instruction's.
func (k *check) operandOf(p *pair, i int) *regfile.Compact {
	o := p.reads[i].row
	switch {
	case o.Slot == code.P:
		return &regfile.Compact{}
	case k.noted && p.kept>>i&1 != 0:
		return &k.operands[int(p.operand)+i]
	}
	return shadowAt(k.f, o.Slot, o.Row)
}

// compareAddresses compares the addresses of an access that may be compact.
func (w *warp) compareAddresses(p *pair) {
	k := w.check
	if k.Access[p.ref.Side].Addr == code.NoSlot || len(p.reads) == 0 {
		return
	}
	o := &p.reads[0]
	if p.known && !k.native && k.still(o) {
		return
	}
	if bad := differences(k.f, k.g, o, k.lanes); bad != 0 {
		lane, v := bits.TrailingZeros32(bad), "generic"
		if held, ok := w.held(k.f, o.row, 1<<lane); ok {
			v = held.String()
		}
		w.mismatch(p, bad, "the compact address is %s, but lane %d has %#x", v, lane, laneOf(k.g, o.ref, lane))
	}
}

// still reports whether a register that was compact, and what the reference has, is so: two
// lanes that are next to each other tell, for what has the same values there has the same base
// and stride.
func (k *check) still(o *rowPair) bool {
	c, lane := shadowAt(k.f, o.row.Slot, o.row.Row), bits.TrailingZeros32(k.lanes)&31
	next := lane
	if k.lanes&(k.lanes-1) != 0 {
		if next++; k.lanes>>next&1 == 0 {
			return false
		}
	}
	width := uint64(1)<<o.ref.Slot.Bits() - 1
	return c.Holds(k.lanes) && c.At(lane)&width == inRow(k.g, o.ref, lane) && c.At(next)&width == inRow(k.g, o.ref, next)
}

// differ is the lanes of m where two rows differ.
func differ[T mem.Slot](a, b *[regfile.Lanes]T, m uint32) (bad uint32) {
	if *a == *b || bits.OnesCount32(m) > lanesEach && m != regfile.Full && sameIn(a, b, m) {
		return 0
	}
	for n := m; n != 0; n &= n - 1 {
		if i := bits.TrailingZeros32(n) & 31; a[i] != b[i] {
			bad |= 1 << i
		}
	}
	return bad
}

// lanesEach is for how many lanes at most it pays to look at each.
const lanesEach = 10

// sameIn reports whether two rows are the same in the lanes of m.
func sameIn[T mem.Slot](a, b *[regfile.Lanes]T, m uint32) bool {
	diff := uint64(0)
	if unsafe.Sizeof(a[0]) == 8 {
		x, y := (*[regfile.Lanes]uint64)(unsafe.Pointer(a)), (*[regfile.Lanes]uint64)(unsafe.Pointer(b))
		for i := 0; i < len(x); i += 4 {
			n := uint64(m >> i)
			diff |= (x[i]^y[i])&-(n&1) | (x[i+1]^y[i+1])&-(n>>1&1) | (x[i+2]^y[i+2])&-(n>>2&1) | (x[i+3]^y[i+3])&-(n>>3&1)
		}
		return diff == 0
	}
	x, y := (*[regfile.Lanes / 2]uint64)(unsafe.Pointer(a)), (*[regfile.Lanes / 2]uint64)(unsafe.Pointer(b)) // two lanes at a time
	for i := 0; i < len(x); i += 2 {
		n := m >> (2 * i)
		diff |= (x[i]^y[i])&twoLanes[n&3] | (x[i+1]^y[i+1])&twoLanes[n>>2&3]
	}
	return diff == 0
}

// twoLanes is all bits of those of two 32-bit lanes that are in a mask.
var twoLanes = *(*[4]uint64)(unsafe.Pointer(&[4][2]uint32{{0, 0}, {^uint32(0), 0}, {0, ^uint32(0)}, {^uint32(0), ^uint32(0)}}))

// shadowed is the lanes under way that shadows speak for in what they have got.
func (k *check) shadowed(list []rowPair) (m uint32) {
	for i := range list {
		switch row := list[i].row; row.Slot {
		case code.R:
			m |= k.f.Shadow32(row.Row).Mask
		case code.Q:
			m |= k.f.Shadow64(row.Row).Mask
		}
	}
	return m & k.lanes
}

// copies gives the reference results that are in rows.
func (k *check) copies(list []rowPair) {
	f, g, m := k.f, k.g, k.lanes
	if k.idle == 0 {
		m = regfile.Full // nobody has the other lanes
	}
	for i := range list {
		switch o := &list[i]; o.ref.Slot {
		case code.R:
			mem.CopyRow(g.Row32(o.ref.Row), f.Row32(o.row.Row), m)
		case code.Q:
			mem.CopyRow(g.Row64(o.ref.Row), f.Row64(o.row.Row), m)
		default:
			g.SetP(o.ref.Row, m, f.Pred(o.row.Row))
		}
	}
}

// compareResults compares what the lanes have got, wherever it is kept, with the reference,
// and counts what shadows speak for.
func (w *warp) compareResults(list []rowPair) {
	k, kept := w.check, 0
	f, g, m := k.f, k.g, k.lanes
	for i := range list {
		o := &list[i]
		bad := uint32(0)
		switch o.ref.Slot {
		case code.P:
			bad = (f.SrcP(o.row.Row) ^ g.Pred(o.ref.Row)) & m
		case code.R:
			c := f.Shadow32(o.row.Row)
			kept += bits.OnesCount32(c.Mask & m)
			if want := g.Row32(o.ref.Row); c.Mask&m == m && c.Clean&m == 0 { // as nearly always
				bad = differing(want, c, m)
			} else {
				bad = unlike(f.Src32(o.row.Row), want, c, m)
			}
		default:
			c := f.Shadow64(o.row.Row)
			kept += bits.OnesCount32(c.Mask & m)
			if want := g.Row64(o.ref.Row); c.Mask&m == m && c.Clean&m == 0 {
				bad = differing(want, c, m)
			} else {
				bad = unlike(f.Src64(o.row.Row), want, c, m)
			}
		}
		if bad != 0 {
			w.wrong(k.writer(o), bad, o)
			return
		}
	}
	w.count.Engine.Kept += int64(kept)
}

// differences is the lanes of m where a register does not hold what the reference has:
// in its shadow for the lanes that the shadow speaks for, and in its row for the others
// and for those that the shadow says are there too.
func differences(f, g *regfile.File, o *rowPair, m uint32) uint32 {
	switch o.ref.Slot {
	case code.P:
		return (f.SrcP(o.row.Row) ^ g.Pred(o.ref.Row)) & m
	case code.R:
		return unlike(f.Src32(o.row.Row), g.Row32(o.ref.Row), f.Shadow32(o.row.Row), m)
	}
	return unlike(f.Src64(o.row.Row), g.Row64(o.ref.Row), f.Shadow64(o.row.Row), m)
}

// unlike is differences for a row and its shadow.
func unlike[T mem.Slot](row, want *[regfile.Lanes]T, c *regfile.Compact, m uint32) (bad uint32) {
	held := c.Mask & m
	if held != 0 {
		bad = differing(want, c, held)
	}
	if in := m&^held | held&c.Clean; in != 0 {
		bad |= differ(row, want, in)
	}
	return bad
}

// uniform reports whether a row holds one value.
func uniform[T mem.Slot](row *[regfile.Lanes]T, v T) bool {
	diff := uint64(0)
	if unsafe.Sizeof(v) == 8 {
		r := (*[regfile.Lanes]uint64)(unsafe.Pointer(row))
		for i := 0; i < len(r); i += 4 {
			diff |= (r[i] ^ uint64(v)) | (r[i+1] ^ uint64(v)) | (r[i+2] ^ uint64(v)) | (r[i+3] ^ uint64(v))
		}
		return diff == 0
	}
	r, two := (*[regfile.Lanes / 2]uint64)(unsafe.Pointer(row)), pairOf(v, v) // two lanes at a time
	for i := 0; i < len(r); i += 4 {
		diff |= (r[i] ^ two) | (r[i+1] ^ two) | (r[i+2] ^ two) | (r[i+3] ^ two)
	}
	return diff == 0
}

// rises reports whether a row of 32-bit slots holds v, v + s, and so on, none of which wraps.
func rises[T mem.Slot](row *[regfile.Lanes]T, v, s T) bool {
	r, want, step := (*[regfile.Lanes / 2]uint64)(unsafe.Pointer(row)), pairOf(v, v+s), pairOf(2*s, 2*s) // two lanes at a time
	diff := uint64(0)
	for i := 0; i < len(r); i += 4 {
		diff |= (r[i] ^ want) | (r[i+1] ^ (want + step)) | (r[i+2] ^ (want + 2*step)) | (r[i+3] ^ (want + 3*step))
		want += 4 * step
	}
	return diff == 0
}

// pairOf is two 32-bit lanes, as they are in a row.
func pairOf[T mem.Slot](a, b T) uint64 {
	return (uint64(a)<<32|uint64(a))&twoLanes[1] | (uint64(b)<<32|uint64(b))&twoLanes[2]
}

// differing is the lanes i of m where a row does not hold base + i·stride of a shadow, which
// has to keep them reduced.
func differing[T mem.Slot](row *[regfile.Lanes]T, c *regfile.Compact, m uint32) (bad uint32) {
	base, stride := T(c.Base), T(c.Stride)
	if uint64(base) != c.Base || uint64(stride) != c.Stride {
		return m
	}
	if m == regfile.Full {
		if stride == 0 {
			if uniform(row, base) {
				return 0
			}
		} else if unsafe.Sizeof(base) == 4 && (c.Base+(regfile.Lanes-1)*c.Stride)>>32 == 0 && rises(row, base, stride) {
			return 0
		}
		diff, want := T(0), base
		for i := 0; i < len(row); i += 4 { // four at a time: most of check mode's time is here
			diff |= (row[i] ^ want) | (row[i+1] ^ (want + stride)) | (row[i+2] ^ (want + 2*stride)) | (row[i+3] ^ (want + 3*stride))
			want += 4 * stride
		}
		if diff == 0 {
			return 0
		}
	}
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		if row[i] != base+T(i)*stride {
			bad |= 1 << i
		}
	}
	return bad
}

// laneOf is the value of a lane: what its shadow says, if it speaks for the lane, else
// what the row holds.
func laneOf(f *regfile.File, o code.Row, lane int) uint64 {
	if o.Slot != code.P && (f.Tracked() || o.Row < 0) {
		if c := shadowAt(f, o.Slot, o.Row); c.Mask>>lane&1 != 0 {
			return c.At(lane) & (1<<o.Slot.Bits() - 1)
		}
	}
	return inRow(f, o, lane)
}

// inRow is what a row holds in a lane.
func inRow(f *regfile.File, o code.Row, lane int) uint64 {
	switch o.Slot {
	case code.P:
		return uint64(f.SrcP(o.Row) >> lane & 1)
	case code.R:
		return uint64(f.Src32(o.Row)[lane])
	}
	return f.Src64(o.Row)[lane]
}

// laneText is what a register holds in a lane, for messages.
func laneText(f *regfile.File, o code.Row, lane int) string {
	return fmt.Sprintf("%#x", laneOf(f, o, lane))
}

// wrong reports that a result is not that of the reference.
func (w *warp) wrong(p *pair, bad uint32, o *rowPair) {
	f, g := w.check.f, w.check.g
	lane := bits.TrailingZeros32(bad)
	want := inRow(g, o.ref, lane)
	switch {
	case o.ref.Slot == code.P:
		w.mismatch(p, bad, "the predicate is %v in lanes %s, where it should be %v", want == 0, LaneList(uint64(bad)), want != 0)
	default:
		if v, ok := w.held(f, o.row, 1<<lane); ok {
			w.mismatch(p, bad, "the compact result is %s, but lane %d has %#x", v, lane, want)
			return
		}
		w.mismatch(p, bad, "the result is %s in lane %d, which should have %#x", laneText(f, o.row, lane), lane, want)
	}
}

// comparePattern compares the addresses of an access that executes on the lanes with what is proved of them.
func (w *warp) comparePattern(h int, f *regfile.File, in *code.Instr, a *code.Access, m uint32) {
	if w.cta.parted {
		return
	}
	apart, width := uint64(a.Distance()), ^uint64(0)
	if a.Addr == code.R {
		width = math.MaxUint32
	}
	for _, lanes := range []uint32{m & (1<<lower.Half - 1), m &^ (1<<lower.Half - 1)} {
		if lanes == 0 {
			continue
		}
		first, last := bits.TrailingZeros32(lanes), bits.Len32(lanes)-1
		off := func(lane int) uint64 { return (address(f, in, a, lane) - address(f, in, a, first)) & width }
		if apart != 0 && off(last) != uint64(last-first)*apart {
			continue
		}
		for n := lanes; n != 0; n &= n - 1 {
			if lane := bits.TrailingZeros32(n); off(lane) != uint64(lane-first)*apart {
				src := &w.cta.code.Sources[in.Src]
				w.fail(src, uint64(lanes)<<(32*h), ErrMismatch, "%v: the addresses of %s are taken to be %s: lane %d has %s, lane %d %s",
					ErrMismatch, src.Text, a.Pattern, first, hexAddr(address(f, in, a, first)), lane, hexAddr(address(f, in, a, lane)))
				return
			}
		}
	}
}

// held is what the shadow of a register holds for the lanes of m.
func (w *warp) held(f *regfile.File, o code.Row, m uint32) (affinetrack.Value, bool) {
	c := shadowAt(f, o.Slot, o.Row)
	return valueOf(c), c.Mask&m == m
}

// noteBehind is of a mismatch that was found late.
const noteBehind = "instructions behind it have executed before it was looked at"

// mismatch stops the warp: compact execution went wrong.
func (w *warp) mismatch(p *pair, lanes uint32, format string, args ...any) {
	k := w.check
	src := &w.cta.code.Sources[p.ref.Src]
	t := w.fail(src, uint64(lanes)<<(32*k.half), ErrMismatch, "%v: rule %s of %s: "+format, append([]any{ErrMismatch, p.ref.Op.Signature().Rule, src.Text}, args...)...)
	if n := len(k.run.pairs) - 1; n > 0 && p != &k.run.pairs[n] && !k.forBoth {
		t.Notes = append(t.Notes, noteBehind)
	}
	for i := range p.reads {
		o := &p.reads[i]
		if o.ref.Slot == code.P {
			set := "no lane"
			if m := k.g.Pred(o.ref.Row) & uint32(w.mask>>(32*k.half)); m != 0 {
				set = "lanes " + LaneList(uint64(m))
			}
			t.Notes = append(t.Notes, fmt.Sprintf("operand %d: a predicate, set in %s", i, set))
			continue
		}
		if c := k.operandOf(p, i); c.Holds(lanes) {
			t.Notes = append(t.Notes, fmt.Sprintf("operand %d: %s", i, valueOf(c)))
			continue
		}
		t.Notes = append(t.Notes, fmt.Sprintf("operand %d: generic", i))
	}
}
