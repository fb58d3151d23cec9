package regfile

import "unsafe"

// Constants contains the rows that no instruction writes: immediate operands, and values that are the same in a whole
// launch. Each row has the same value in all lanes. All warps of a launch share the rows. The Add functions return the
// numbers of the rows as operands: -1, -2 and so on for each kind.
type Constants struct {
	rows
}

// Add32 adds a row of 32-bit slots.
func (k *Constants) Add32(v uint32) int32 {
	k.r = append(k.r, Row32{})
	Fill32(&k.r[len(k.r)-1], v, 0, Full)
	return ^int32(len(k.r) - 1)
}

// Add64 adds a row of 64-bit slots.
func (k *Constants) Add64(v uint64) int32 {
	k.q = append(k.q, Row64{})
	Fill64(&k.q[len(k.q)-1], v, 0, Full)
	return ^int32(len(k.q) - 1)
}

// AddP adds a predicate.
func (k *Constants) AddP(mask uint32) int32 {
	k.p = append(k.p, mask)
	return ^int32(len(k.p) - 1)
}

// Layout moves the constants to a new block, with shadows.
func (k *Constants) Layout() {
	b := newBlock(k.size(), true)
	b.copyFrom(&k.rows)
	k.rows = b.rows
	for i := range k.r {
		k.sr[i] = Compact{Base: uint64(k.r[i][0]), Mask: Full, Materialised: Full}
	}
	for i := range k.q {
		k.sq[i] = Compact{Base: k.q[i][0], Mask: Full, Materialised: Full}
	}
}

// Size returns the number of constants of each kind.
func (k *Constants) Size() Size { return k.size() }

// Value32 returns the value of a row of 32-bit slots.
func (k *Constants) Value32(i int32) uint32 { return k.r[^i][0] }

// Value64 returns the value of a row of 64-bit slots.
func (k *Constants) Value64(i int32) uint64 { return k.q[^i][0] }

// ValueP returns the value of a predicate.
func (k *Constants) ValueP(i int32) bool { return k.p[^i] != 0 }

// Set32 changes the value of a row of 32-bit slots.
func (k *Constants) Set32(i int32, v uint32) {
	Fill32(&k.r[^i], v, 0, Full)
	k.sr[^i].Base = uint64(v)
}

// Set64 changes the value of a row of 64-bit slots.
func (k *Constants) Set64(i int32, v uint64) {
	Fill64(&k.q[^i], v, 0, Full)
	k.sq[^i].Base = v
}

// Offsets returns, for each kind, the offset in bytes of the constants from Pointer. Layout must have been called.
func (k *Constants) Offsets() (r, q, p int64) {
	l := layoutOf(k.size(), true)
	return int64(l.R), int64(l.Q), int64(l.P)
}

// ShadowOffsets returns the offsets of the shadows; see Offsets.
func (k *Constants) ShadowOffsets() (r, q int64) {
	l := layoutOf(k.size(), true)
	return int64(l.ShadowR), int64(l.ShadowQ)
}

// Pointer returns the start of the block of constants; nil if there are none.
func (k *Constants) Pointer() unsafe.Pointer {
	l := layoutOf(k.size(), true)
	switch {
	case len(k.r) > 0:
		return unsafe.Add(unsafe.Pointer(unsafe.SliceData(k.r)), -int(l.R))
	case len(k.q) > 0:
		return unsafe.Add(unsafe.Pointer(unsafe.SliceData(k.q)), -int(l.Q))
	case len(k.p) > 0:
		return unsafe.Add(unsafe.Pointer(unsafe.SliceData(k.p)), -int(l.P))
	}
	return nil
}
