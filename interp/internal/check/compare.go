package check

// This file compares registers of the engine, in rows or in shadows, with the registers of the reference.

import (
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/regfile"
)

// compareSources compares rows of a run on the lanes with the rows of the reference, before the run: a run on the lanes
// executes once, so equal operands suffice. It reads rows only, no shadows: an instruction on the lanes reads only rows.
func compareSources(w *machine.Warp, list []machine.RowPair) {
	k := w.Check
	f, g, m := k.EngineFile, k.ReferenceFile, k.Lanes
	for i := range list {
		r := &list[i]
		bad := uint32(0)
		switch r.Reference.Slot {
		case code.R:
			bad = differingLanes(f.Src32(r.Row.Row), g.Row32(r.Reference.Row), m)
		case code.Q:
			bad = differingLanes(f.Src64(r.Row.Row), g.Row64(r.Reference.Row), m)
		default:
			bad = (f.SrcP(r.Row.Row) ^ g.Pred(r.Reference.Row)) & m
		}
		if bad != 0 {
			failSource(w, readerOf(k, r), bad, r)
			return
		}
	}
}

// readerOf returns the first instruction of the step that reads a register.
func readerOf(k *machine.WarpCheck, rows *machine.RowPair) *machine.InstrPair {
	return findPair(k, func(p *machine.InstrPair) bool { return slices.Contains(p.Reads, *rows) })
}

// writerOf returns the instruction of the step that writes a register.
func writerOf(k *machine.WarpCheck, rows *machine.RowPair) *machine.InstrPair {
	return findPair(k, func(p *machine.InstrPair) bool { return slices.Contains(p.Writes, *rows) })
}

// findPair returns the first instruction of the step that matches, or the first instruction of the step if none matches.
func findPair(k *machine.WarpCheck, match func(*machine.InstrPair) bool) *machine.InstrPair {
	list := k.Run.Pairs
	for i := range list {
		if match(&list[i]) {
			return &list[i]
		}
	}
	return &list[0]
}

// failSource reports an operand that differs from the reference in the lanes of bad.
func failSource(w *machine.Warp, p *machine.InstrPair, bad uint32, r *machine.RowPair) {
	k, lane := w.Check, bits.TrailingZeros32(bad)
	FailMismatch(w, p, bad, "it reads %s in lane %d, which holds %#x", machine.ValueText(k.EngineFile, r.Row, lane), lane, machine.LaneValue(k.ReferenceFile, r.Reference, lane))
}

// compareReads compares the operands of an instruction, in rows and shadows, with the reference.
func compareReads(w *machine.Warp, p *machine.InstrPair) {
	f, g, m := w.Check.EngineFile, w.Check.ReferenceFile, w.Check.Lanes
	for i := range p.Reads {
		r := &p.Reads[i]
		if bad := differences(f, g, r, m); bad != 0 {
			failSource(w, p, bad, r)
			return
		}
	}
}

// CompareProved checks the claims of the plan about an executed instruction: all live lanes of the half have executed it,
// the shadows of its operands hold a uniform value for these lanes, and so do the shadows of its results. Each half is
// checked alone, because the other half may be at another instruction: a register that is uniform in each half may differ
// between the halves.
func CompareProved(w *machine.Warp, p *machine.InstrPair) {
	k, m := w.Check, w.Check.Lanes
	if k.Idle != 0 {
		FailMismatch(w, p, m, "the plan expects all lanes to execute it, but %s", machine.LanesDo(uint64(k.Idle)<<(32*k.Half), "idle"))
		return
	}
	if p.Instr.Plan.Exec >= code.ProvedOne {
		for i := range p.Reads {
			if c := operandBefore(k, p, i); c.Stride != 0 || !c.Holds(m) {
				FailMismatch(w, p, m, "the plan expects operand %d to be uniform, but it is %s for %s", i, machine.ValueOfShadow(c), probe.LaneText(uint64(c.Mask)))
				return
			}
		}
	}
	for i := range p.Writes {
		row := p.Writes[i].Row
		if w.Frame.Func.KeepingOf(row)&code.StorageProved == 0 {
			continue
		}
		if c := machine.ShadowAt(k.EngineFile, row.Slot, row.Row); c.Stride != 0 || !c.Holds(m) {
			FailMismatch(w, p, m, "the plan expects its result to be uniform, but it is %s for %s", machine.ValueOfShadow(c), probe.LaneText(uint64(c.Mask)))
			return
		}
	}
}

// operandBefore returns the shadow of an operand from before the step.
func operandBefore(k *machine.WarpCheck, p *machine.InstrPair, i int) *regfile.Compact {
	row := p.Reads[i].Row
	switch {
	case row.Slot == code.P:
		return &regfile.Compact{}
	case k.Phase >= machine.Prepared && !k.OnLanes && p.OverwrittenReads>>i&1 != 0:
		return &k.Operands[int(p.OperandIndex)+i]
	}
	return machine.ShadowAt(k.EngineFile, row.Slot, row.Row)
}

// compareAddresses compares the address register of an access whose address may be compact.
func compareAddresses(w *machine.Warp, p *machine.InstrPair) {
	k := w.Check
	if k.Access[p.Reference.Side].Addr == code.NoSlot || len(p.Reads) == 0 {
		return
	}
	rows := &p.Reads[0]
	if p.AddressChecked && !k.NativeFuncs && isStillCompact(k, rows) {
		return
	}
	if bad := differences(k.EngineFile, k.ReferenceFile, rows, k.Lanes); bad != 0 {
		lane, v := bits.TrailingZeros32(bad), "generic"
		if held, ok := shadowValue(w, k.EngineFile, rows.Row, 1<<lane); ok {
			v = held.String()
		}
		FailMismatch(w, p, bad, "the compact address is %s, but lane %d has %#x", v, lane, machine.LaneValue(k.ReferenceFile, rows.Reference, lane))
	}
}

// isStillCompact reports whether a register, which was compact and equal to the reference earlier in the block, still is.
// It compares two neighbouring lanes: base and stride follow from their values.
func isStillCompact(k *machine.WarpCheck, rows *machine.RowPair) bool {
	c, lane := machine.ShadowAt(k.EngineFile, rows.Row.Slot, rows.Row.Row), bits.TrailingZeros32(k.Lanes)&31
	next := lane
	if k.Lanes&(k.Lanes-1) != 0 {
		if next++; k.Lanes>>next&1 == 0 {
			return false
		}
	}
	width := uint64(1)<<rows.Reference.Slot.Bits() - 1
	return c.Holds(k.Lanes) && c.At(lane)&width == machine.RowLane(k.ReferenceFile, rows.Reference, lane) && c.At(next)&width == machine.RowLane(k.ReferenceFile, rows.Reference, next)
}

// differingLanes returns the lanes of m in which two rows differ.
func differingLanes[T mem.Slot](a, b *[regfile.Lanes]T, m uint32) (bad uint32) {
	if *a == *b || bits.OnesCount32(m) > machine.MaxLaneByLane && m != regfile.Full && equalRows(a, b, m) {
		return 0
	}
	for n := m; n != 0; n &= n - 1 {
		if i := bits.TrailingZeros32(n) & 31; a[i] != b[i] {
			bad |= 1 << i
		}
	}
	return bad
}

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

// twoLanes maps a mask of two 32-bit lanes to all bits of these lanes.
var twoLanes = *(*[4]uint64)(unsafe.Pointer(&[4][2]uint32{{0, 0}, {^uint32(0), 0}, {0, ^uint32(0)}, {^uint32(0), ^uint32(0)}}))

// shadowLanes returns the lanes of the step that have a result in a shadow.
func shadowLanes(k *machine.WarpCheck, list []machine.RowPair) (m uint32) {
	for i := range list {
		switch row := list[i].Row; row.Slot {
		case code.R:
			m |= k.EngineFile.Shadow32(row.Row).Mask
		case code.Q:
			m |= k.EngineFile.Shadow64(row.Row).Mask
		}
	}
	return m & k.Lanes
}

// copyToReference copies results from the rows of the engine to the reference.
func copyToReference(k *machine.WarpCheck, list []machine.RowPair) {
	f, g, m := k.EngineFile, k.ReferenceFile, k.Lanes
	if k.Idle == 0 {
		m = regfile.Full // no lane is idle
	}
	for i := range list {
		switch rows := &list[i]; rows.Reference.Slot {
		case code.R:
			mem.CopyRow(g.Row32(rows.Reference.Row), f.Row32(rows.Row.Row), m)
		case code.Q:
			mem.CopyRow(g.Row64(rows.Reference.Row), f.Row64(rows.Row.Row), m)
		default:
			g.SetP(rows.Reference.Row, m, f.Pred(rows.Row.Row))
		}
	}
}

// CompareResults compares the results of the step, in rows and shadows, with the reference, and counts the lanes with a
// result in a shadow.
func CompareResults(w *machine.Warp, list []machine.RowPair) {
	k, kept := w.Check, 0
	f, g, m := k.EngineFile, k.ReferenceFile, k.Lanes
	for i := range list {
		rows := &list[i]
		bad := uint32(0)
		switch rows.Reference.Slot {
		case code.P:
			bad = (f.SrcP(rows.Row.Row) ^ g.Pred(rows.Reference.Row)) & m
		case code.R:
			c := f.Shadow32(rows.Row.Row)
			kept += bits.OnesCount32(c.Mask & m)
			if want := g.Row32(rows.Reference.Row); c.Mask&m == m && c.Materialised&m == 0 { // the usual case
				bad = lanesUnlikeShadow(want, c, m)
			} else {
				bad = lanesUnlikeFile(f.Src32(rows.Row.Row), want, c, m)
			}
		default:
			c := f.Shadow64(rows.Row.Row)
			kept += bits.OnesCount32(c.Mask & m)
			if want := g.Row64(rows.Reference.Row); c.Mask&m == m && c.Materialised&m == 0 {
				bad = lanesUnlikeShadow(want, c, m)
			} else {
				bad = lanesUnlikeFile(f.Src64(rows.Row.Row), want, c, m)
			}
		}
		if bad != 0 {
			failResult(w, writerOf(k, rows), bad, rows)
			return
		}
	}
	w.Count.Engine.ShadowLanes += int64(kept)
}

// differences returns the lanes of m in which a register differs from the reference. For lanes of its shadow it compares
// the shadow; for all further lanes, and for materialised lanes, it compares the row.
func differences(f, g *regfile.File, rows *machine.RowPair, m uint32) uint32 {
	switch rows.Reference.Slot {
	case code.P:
		return (f.SrcP(rows.Row.Row) ^ g.Pred(rows.Reference.Row)) & m
	case code.R:
		return lanesUnlikeFile(f.Src32(rows.Row.Row), g.Row32(rows.Reference.Row), f.Shadow32(rows.Row.Row), m)
	}
	return lanesUnlikeFile(f.Src64(rows.Row.Row), g.Row64(rows.Reference.Row), f.Shadow64(rows.Row.Row), m)
}

// lanesUnlikeFile is differences for a row and its shadow c. want is the row of the reference.
func lanesUnlikeFile[T mem.Slot](row, want *[regfile.Lanes]T, c *regfile.Compact, m uint32) (bad uint32) {
	shadowed := c.Mask & m
	if shadowed != 0 {
		bad = lanesUnlikeShadow(want, c, shadowed)
	}
	if inRow := m&^shadowed | shadowed&c.Materialised; inRow != 0 {
		bad |= differingLanes(row, want, inRow)
	}
	return bad
}

// isUniformRow reports whether a row holds the same value in all lanes.
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

// isAffineRow reports whether lane i of a row of 32-bit slots holds v + i·s. The sum must not wrap in any lane.
func isAffineRow[T mem.Slot](row *[regfile.Lanes]T, v, s T) bool {
	r, want, step := (*[regfile.Lanes / 2]uint64)(unsafe.Pointer(row)), lanePair(v, v+s), lanePair(2*s, 2*s) // two lanes at a time
	diff := uint64(0)
	for i := 0; i < len(r); i += 4 {
		diff |= (r[i] ^ want) | (r[i+1] ^ (want + step)) | (r[i+2] ^ (want + 2*step)) | (r[i+3] ^ (want + 3*step))
		want += 4 * step
	}
	return diff == 0
}

// lanePair returns two neighbouring 32-bit lanes, a and b, as they lie in a 64-bit word of a row.
func lanePair[T mem.Slot](a, b T) uint64 {
	return (uint64(a)<<32|uint64(a))&twoLanes[1] | (uint64(b)<<32|uint64(b))&twoLanes[2]
}

// lanesUnlikeShadow returns the lanes i of m in which a row of the reference does not hold base + i·stride of a shadow. It
// returns m if base or stride of the shadow has bits above the width of a slot.
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
		for i := 0; i < len(row); i += 4 { // four lanes at a time: check mode spends most of its time here
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

// failResult reports a result that differs from the reference in the lanes of bad.
func failResult(w *machine.Warp, p *machine.InstrPair, bad uint32, rows *machine.RowPair) {
	f, g := w.Check.EngineFile, w.Check.ReferenceFile
	lane := bits.TrailingZeros32(bad)
	want := machine.RowLane(g, rows.Reference, lane)
	switch {
	case rows.Reference.Slot == code.P:
		FailMismatch(w, p, bad, "the predicate is %v in %s, want %v", want == 0, probe.LaneText(uint64(bad)), want != 0)
	default:
		if v, ok := shadowValue(w, f, rows.Row, 1<<lane); ok {
			FailMismatch(w, p, bad, "the compact result is %s, but lane %d has %#x", v, lane, want)
			return
		}
		FailMismatch(w, p, bad, "the result is %s in lane %d, want %#x", machine.ValueText(f, rows.Row, lane), lane, want)
	}
}

// shadowValue returns the value of a register's shadow, and whether the shadow holds all lanes of m.
func shadowValue(w *machine.Warp, f *regfile.File, row code.Row, m uint32) (affinetrack.Value, bool) {
	c := machine.ShadowAt(f, row.Slot, row.Row)
	return machine.ValueOfShadow(c), c.Mask&m == m
}

// LateNote is the note of a mismatch that was found only after later instructions of the run had executed.
const LateNote = "later instructions executed before its result was compared"

// FailMismatch stops the warp with a mismatch of instruction p in lanes of the step's half. Its notes list the operands as
// they were before the step.
func FailMismatch(w *machine.Warp, p *machine.InstrPair, lanes uint32, format string, args ...any) {
	k := w.Check
	src := &w.CTA.Code.Sources[p.Reference.Src]
	t := w.Fail(src, uint64(lanes)<<(32*k.Half), probe.ErrMismatch, "%v: rule %s of %s: "+format, append([]any{probe.ErrMismatch, p.Reference.Op.Signature().Rule, src.Text}, args...)...)
	if n := len(k.Run.Pairs) - 1; n > 0 && p != &k.Run.Pairs[n] && !k.OnLanes {
		t.Notes = append(t.Notes, LateNote)
	}
	for i := range p.Reads {
		rows := &p.Reads[i]
		if rows.Reference.Slot == code.P {
			set := uint64(k.ReferenceFile.Pred(rows.Reference.Row) & uint32(w.Mask>>(32*k.Half)))
			t.Notes = append(t.Notes, fmt.Sprintf("operand %d: a predicate, set in %s", i, probe.LaneText(set)))
			continue
		}
		if c := operandBefore(k, p, i); c.Holds(lanes) {
			t.Notes = append(t.Notes, fmt.Sprintf("operand %d: %s", i, machine.ValueOfShadow(c)))
			continue
		}
		t.Notes = append(t.Notes, fmt.Sprintf("operand %d: generic", i))
	}
}
