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
	"gemu/probe"
	"gemu/regfile"
)

// compareSources compares rows that instructions under way read on the lanes with those of the
// reference; they then need not run a second time. What is only in a shadow does not count.
func (w *warp) compareSources(list []rowPair) {
	k := w.check
	f, g, m := k.engineFile, k.referenceFile, k.lanes
	for i := range list {
		r := &list[i]
		bad := uint32(0)
		switch r.ref.Slot {
		case code.R:
			bad = differingLanes(f.Src32(r.row.Row), g.Row32(r.ref.Row), m)
		case code.Q:
			bad = differingLanes(f.Src64(r.row.Row), g.Row64(r.ref.Row), m)
		default:
			bad = (f.SrcP(r.row.Row) ^ g.Pred(r.ref.Row)) & m
		}
		if bad != 0 {
			w.failSource(k.reader(r), bad, r)
			return
		}
	}
}

// reader is the first of the instructions under way that reads a register.
func (k *check) reader(rows *rowPair) *instrPair {
	return k.findPair(func(p *instrPair) bool { return slices.Contains(p.reads, *rows) })
}

// writer is the one of the instructions under way that writes a register.
func (k *check) writer(rows *rowPair) *instrPair {
	return k.findPair(func(p *instrPair) bool { return slices.Contains(p.writes, *rows) })
}

// findPair is the first of the instructions under way that is as said.
func (k *check) findPair(match func(*instrPair) bool) *instrPair {
	list := k.run.pairs
	for i := range list {
		if match(&list[i]) {
			return &list[i]
		}
	}
	return &list[0]
}

// failSource reports that what an instruction reads is not what the reference has.
func (w *warp) failSource(p *instrPair, bad uint32, r *rowPair) {
	k, lane := w.check, bits.TrailingZeros32(bad)
	w.mismatch(p, bad, "it reads %s in lane %d, which holds %#x", laneText(k.engineFile, r.row, lane), lane, laneValue(k.referenceFile, r.ref, lane))
}

// compareReads compares what an instruction reads, wherever it is kept, with the
// reference.
func (w *warp) compareReads(p *instrPair) {
	f, g, m := w.check.engineFile, w.check.referenceFile, w.check.lanes
	for i := range p.reads {
		r := &p.reads[i]
		if bad := differences(f, g, r, m); bad != 0 {
			w.failSource(p, bad, r)
			return
		}
	}
}

// compareProved compares what is proved of an instruction that has executed with what is so:
// all lanes of the half that live have executed it, on operands that their rows' shadows hold
// for them, and the result is kept as one value. The other half may be elsewhere, for what is
// uniform in each need not be the same.
func (w *warp) compareProved(p *instrPair) {
	k, m := w.check, w.check.lanes
	if k.idle != 0 {
		w.mismatch(p, m, "its result is taken to be that of all lanes, but lanes %s do not execute it", probe.LaneList(uint64(k.idle)<<(32*k.half)))
		return
	}
	if p.instr.Plan.Exec >= code.ProvedOne {
		for i := range p.reads {
			if c := k.operandBefore(p, i); c.Stride != 0 || !c.Holds(m) {
				w.mismatch(p, m, "operand %d is taken to be uniform, and is %s for lanes %s", i, valueOf(c), probe.LaneList(uint64(c.Mask)))
				return
			}
		}
	}
	for i := range p.writes {
		row := p.writes[i].row
		if w.frame.fn.KeepingOf(row)&code.StorageProved == 0 {
			continue
		}
		if c := shadowAt(k.engineFile, row.Slot, row.Row); c.Stride != 0 || !c.Holds(m) {
			w.mismatch(p, m, "its result is taken to be uniform, and is %s for lanes %s", valueOf(c), probe.LaneList(uint64(c.Mask)))
			return
		}
	}
}

// operandBefore is the shadow of an operand before the run of the instruction's.
func (k *check) operandBefore(p *instrPair, i int) *regfile.Compact {
	row := p.reads[i].row
	switch {
	case row.Slot == code.P:
		return &regfile.Compact{}
	case k.phase >= prepared && !k.onLanes && p.overwrittenReads>>i&1 != 0:
		return &k.operands[int(p.operandIndex)+i]
	}
	return shadowAt(k.engineFile, row.Slot, row.Row)
}

// compareAddresses compares the addresses of an access that may be compact.
func (w *warp) compareAddresses(p *instrPair) {
	k := w.check
	if k.Access[p.ref.Side].Addr == code.NoSlot || len(p.reads) == 0 {
		return
	}
	rows := &p.reads[0]
	if p.addressChecked && !k.nativeFuncs && k.isStillCompact(rows) {
		return
	}
	if bad := differences(k.engineFile, k.referenceFile, rows, k.lanes); bad != 0 {
		lane, v := bits.TrailingZeros32(bad), "generic"
		if held, ok := w.shadowValue(k.engineFile, rows.row, 1<<lane); ok {
			v = held.String()
		}
		w.mismatch(p, bad, "the compact address is %s, but lane %d has %#x", v, lane, laneValue(k.referenceFile, rows.ref, lane))
	}
}

// isStillCompact reports whether a register that was compact, and what the reference has, is so: two
// lanes that are next to each other tell, for what has the same values there has the same base
// and stride.
func (k *check) isStillCompact(rows *rowPair) bool {
	c, lane := shadowAt(k.engineFile, rows.row.Slot, rows.row.Row), bits.TrailingZeros32(k.lanes)&31
	next := lane
	if k.lanes&(k.lanes-1) != 0 {
		if next++; k.lanes>>next&1 == 0 {
			return false
		}
	}
	width := uint64(1)<<rows.ref.Slot.Bits() - 1
	return c.Holds(k.lanes) && c.At(lane)&width == rowLane(k.referenceFile, rows.ref, lane) && c.At(next)&width == rowLane(k.referenceFile, rows.ref, next)
}

// differingLanes is the lanes of m where two rows differ.
func differingLanes[T mem.Slot](a, b *[regfile.Lanes]T, m uint32) (bad uint32) {
	if *a == *b || bits.OnesCount32(m) > maxLaneByLane && m != regfile.Full && equalRows(a, b, m) {
		return 0
	}
	for n := m; n != 0; n &= n - 1 {
		if i := bits.TrailingZeros32(n) & 31; a[i] != b[i] {
			bad |= 1 << i
		}
	}
	return bad
}

// maxLaneByLane is for how many lanes at most it pays to look at each.
const maxLaneByLane = 10

// equalRows reports whether two rows are the same in the lanes of m.
func equalRows[T mem.Slot](a, b *[regfile.Lanes]T, m uint32) bool {
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

// shadowLanes is the lanes under way that shadows speak for in what they have got.
func (k *check) shadowLanes(list []rowPair) (m uint32) {
	for i := range list {
		switch row := list[i].row; row.Slot {
		case code.R:
			m |= k.engineFile.Shadow32(row.Row).Mask
		case code.Q:
			m |= k.engineFile.Shadow64(row.Row).Mask
		}
	}
	return m & k.lanes
}

// copyToReference gives the reference results that are in rows.
func (k *check) copyToReference(list []rowPair) {
	f, g, m := k.engineFile, k.referenceFile, k.lanes
	if k.idle == 0 {
		m = regfile.Full // nobody has the other lanes
	}
	for i := range list {
		switch rows := &list[i]; rows.ref.Slot {
		case code.R:
			mem.CopyRow(g.Row32(rows.ref.Row), f.Row32(rows.row.Row), m)
		case code.Q:
			mem.CopyRow(g.Row64(rows.ref.Row), f.Row64(rows.row.Row), m)
		default:
			g.SetP(rows.ref.Row, m, f.Pred(rows.row.Row))
		}
	}
}

// compareResults compares what the lanes have got, wherever it is kept, with the reference,
// and counts what shadows speak for.
func (w *warp) compareResults(list []rowPair) {
	k, kept := w.check, 0
	f, g, m := k.engineFile, k.referenceFile, k.lanes
	for i := range list {
		rows := &list[i]
		bad := uint32(0)
		switch rows.ref.Slot {
		case code.P:
			bad = (f.SrcP(rows.row.Row) ^ g.Pred(rows.ref.Row)) & m
		case code.R:
			c := f.Shadow32(rows.row.Row)
			kept += bits.OnesCount32(c.Mask & m)
			if want := g.Row32(rows.ref.Row); c.Mask&m == m && c.Materialised&m == 0 { // as nearly always
				bad = lanesUnlikeShadow(want, c, m)
			} else {
				bad = lanesUnlikeFile(f.Src32(rows.row.Row), want, c, m)
			}
		default:
			c := f.Shadow64(rows.row.Row)
			kept += bits.OnesCount32(c.Mask & m)
			if want := g.Row64(rows.ref.Row); c.Mask&m == m && c.Materialised&m == 0 {
				bad = lanesUnlikeShadow(want, c, m)
			} else {
				bad = lanesUnlikeFile(f.Src64(rows.row.Row), want, c, m)
			}
		}
		if bad != 0 {
			w.failResult(k.writer(rows), bad, rows)
			return
		}
	}
	w.count.Engine.ShadowLanes += int64(kept)
}

// differences is the lanes of m where a register does not hold what the reference has:
// in its shadow for the lanes that the shadow speaks for, and in its row for the others
// and for those that the shadow says are there too.
func differences(f, g *regfile.File, rows *rowPair, m uint32) uint32 {
	switch rows.ref.Slot {
	case code.P:
		return (f.SrcP(rows.row.Row) ^ g.Pred(rows.ref.Row)) & m
	case code.R:
		return lanesUnlikeFile(f.Src32(rows.row.Row), g.Row32(rows.ref.Row), f.Shadow32(rows.row.Row), m)
	}
	return lanesUnlikeFile(f.Src64(rows.row.Row), g.Row64(rows.ref.Row), f.Shadow64(rows.row.Row), m)
}

// lanesUnlikeFile is differences for a row and its shadow.
func lanesUnlikeFile[T mem.Slot](row, want *[regfile.Lanes]T, c *regfile.Compact, m uint32) (bad uint32) {
	held := c.Mask & m
	if held != 0 {
		bad = lanesUnlikeShadow(want, c, held)
	}
	if in := m&^held | held&c.Materialised; in != 0 {
		bad |= differingLanes(row, want, in)
	}
	return bad
}

// isUniformRow reports whether a row holds one value.
func isUniformRow[T mem.Slot](row *[regfile.Lanes]T, v T) bool {
	diff := uint64(0)
	if unsafe.Sizeof(v) == 8 {
		r := (*[regfile.Lanes]uint64)(unsafe.Pointer(row))
		for i := 0; i < len(r); i += 4 {
			diff |= (r[i] ^ uint64(v)) | (r[i+1] ^ uint64(v)) | (r[i+2] ^ uint64(v)) | (r[i+3] ^ uint64(v))
		}
		return diff == 0
	}
	r, twice := (*[regfile.Lanes / 2]uint64)(unsafe.Pointer(row)), lanePair(v, v) // two lanes at a time
	for i := 0; i < len(r); i += 4 {
		diff |= (r[i] ^ twice) | (r[i+1] ^ twice) | (r[i+2] ^ twice) | (r[i+3] ^ twice)
	}
	return diff == 0
}

// isAffineRow reports whether a row of 32-bit slots holds v, v + s, and so on, none of which wraps.
func isAffineRow[T mem.Slot](row *[regfile.Lanes]T, v, s T) bool {
	r, want, step := (*[regfile.Lanes / 2]uint64)(unsafe.Pointer(row)), lanePair(v, v+s), lanePair(2*s, 2*s) // two lanes at a time
	diff := uint64(0)
	for i := 0; i < len(r); i += 4 {
		diff |= (r[i] ^ want) | (r[i+1] ^ (want + step)) | (r[i+2] ^ (want + 2*step)) | (r[i+3] ^ (want + 3*step))
		want += 4 * step
	}
	return diff == 0
}

// lanePair is two 32-bit lanes, as they are in a row.
func lanePair[T mem.Slot](a, b T) uint64 {
	return (uint64(a)<<32|uint64(a))&twoLanes[1] | (uint64(b)<<32|uint64(b))&twoLanes[2]
}

// lanesUnlikeShadow is the lanes i of m where a row does not hold base + i·stride of a shadow, which
// has to keep them reduced.
func lanesUnlikeShadow[T mem.Slot](row *[regfile.Lanes]T, c *regfile.Compact, m uint32) (bad uint32) {
	base, stride := T(c.Base), T(c.Stride)
	if uint64(base) != c.Base || uint64(stride) != c.Stride {
		return m
	}
	if m == regfile.Full {
		if stride == 0 {
			if isUniformRow(row, base) {
				return 0
			}
		} else if unsafe.Sizeof(base) == 4 && (c.Base+(regfile.Lanes-1)*c.Stride)>>32 == 0 && isAffineRow(row, base, stride) {
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

// laneValue is the value of a lane: what its shadow says, if it speaks for the lane, else
// what the row holds.
func laneValue(f *regfile.File, row code.Row, lane int) uint64 {
	if row.Slot != code.P && (f.Tracked() || row.Row < 0) {
		if c := shadowAt(f, row.Slot, row.Row); c.Mask>>lane&1 != 0 {
			return c.At(lane) & (1<<row.Slot.Bits() - 1)
		}
	}
	return rowLane(f, row, lane)
}

// rowLane is what a row holds in a lane.
func rowLane(f *regfile.File, row code.Row, lane int) uint64 {
	switch row.Slot {
	case code.P:
		return uint64(f.SrcP(row.Row) >> lane & 1)
	case code.R:
		return uint64(f.Src32(row.Row)[lane])
	}
	return f.Src64(row.Row)[lane]
}

// laneText is what a register holds in a lane, for messages.
func laneText(f *regfile.File, row code.Row, lane int) string {
	return fmt.Sprintf("%#x", laneValue(f, row, lane))
}

// failResult reports that a result is not that of the reference.
func (w *warp) failResult(p *instrPair, bad uint32, rows *rowPair) {
	f, g := w.check.engineFile, w.check.referenceFile
	lane := bits.TrailingZeros32(bad)
	want := rowLane(g, rows.ref, lane)
	switch {
	case rows.ref.Slot == code.P:
		w.mismatch(p, bad, "the predicate is %v in lanes %s, where it should be %v", want == 0, probe.LaneList(uint64(bad)), want != 0)
	default:
		if v, ok := w.shadowValue(f, rows.row, 1<<lane); ok {
			w.mismatch(p, bad, "the compact result is %s, but lane %d has %#x", v, lane, want)
			return
		}
		w.mismatch(p, bad, "the result is %s in lane %d, which should have %#x", laneText(f, rows.row, lane), lane, want)
	}
}

// comparePattern compares the addresses of an access that executes on the lanes with what is proved of them.
func (w *warp) comparePattern(h int, f *regfile.File, instr *code.Instr, a *code.Access, m uint32) {
	if w.cta.releasedEarly {
		return
	}
	apart, width := uint64(a.Distance()), ^uint64(0)
	if a.Addr == code.R {
		width = math.MaxUint32
	}
	for _, lanes := range []uint32{m & (1<<lower.HalfRow - 1), m &^ (1<<lower.HalfRow - 1)} {
		if lanes == 0 {
			continue
		}
		first, last := bits.TrailingZeros32(lanes), bits.Len32(lanes)-1
		offsetOf := func(lane int) uint64 { return (address(f, instr, a, lane) - address(f, instr, a, first)) & width }
		if apart != 0 && offsetOf(last) != uint64(last-first)*apart {
			continue
		}
		for n := lanes; n != 0; n &= n - 1 {
			if lane := bits.TrailingZeros32(n); offsetOf(lane) != uint64(lane-first)*apart {
				src := &w.cta.code.Sources[instr.Src]
				w.fail(src, uint64(lanes)<<(32*h), probe.ErrMismatch, "%v: the addresses of %s are taken to be %s: lane %d has %s, lane %d %s",
					probe.ErrMismatch, src.Text, a.Pattern, first, hexAddr(address(f, instr, a, first)), lane, hexAddr(address(f, instr, a, lane)))
				return
			}
		}
	}
}

// shadowValue is what the shadow of a register holds for the lanes of m.
func (w *warp) shadowValue(f *regfile.File, row code.Row, m uint32) (affinetrack.Value, bool) {
	c := shadowAt(f, row.Slot, row.Row)
	return valueOf(c), c.Mask&m == m
}

// lateNote is of a mismatch that was found late.
const lateNote = "instructions behind it have executed before it was looked at"

// mismatch stops the warp: compact execution went wrong.
func (w *warp) mismatch(p *instrPair, lanes uint32, format string, args ...any) {
	k := w.check
	src := &w.cta.code.Sources[p.ref.Src]
	t := w.fail(src, uint64(lanes)<<(32*k.half), probe.ErrMismatch, "%v: rule %s of %s: "+format, append([]any{probe.ErrMismatch, p.ref.Op.Signature().Rule, src.Text}, args...)...)
	if n := len(k.run.pairs) - 1; n > 0 && p != &k.run.pairs[n] && !k.onLanes {
		t.Notes = append(t.Notes, lateNote)
	}
	for i := range p.reads {
		rows := &p.reads[i]
		if rows.ref.Slot == code.P {
			set := "no lane"
			if m := k.referenceFile.Pred(rows.ref.Row) & uint32(w.mask>>(32*k.half)); m != 0 {
				set = "lanes " + probe.LaneList(uint64(m))
			}
			t.Notes = append(t.Notes, fmt.Sprintf("operand %d: a predicate, set in %s", i, set))
			continue
		}
		if c := k.operandBefore(p, i); c.Holds(lanes) {
			t.Notes = append(t.Notes, fmt.Sprintf("operand %d: %s", i, valueOf(c)))
			continue
		}
		t.Notes = append(t.Notes, fmt.Sprintf("operand %d: generic", i))
	}
}
