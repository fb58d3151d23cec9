package validity

// This file determines by trials how the bits of a result depend on the bits of the sources. It knows no
// instruction by name.

import (
	"math/bits"
	"math/rand/v2"

	"gemu/probe"
)

// dependence is the way the bits of a result depend on the bits of the sources.
type dependence uint8

const (
	unknown    dependence = iota // not determined yet
	anyToAll                     // each bit on all bits
	positional                   // once the control sources (rule.control), such as a shift's amount, are known, each bit on at most one bit of every other source: logic, shifts, moves
	fromBelow                    // each bit on the bits at its position and below: sums, products
	inBlocks                     // each bit on the bits of its block of rule.block bits: packed arithmetic
)

// rule describes an operation.
type rule struct {
	dependence
	control uint8 // set of sources that select positions: bit i is source i
	block   int
	copies  bool // positional, and the result is the only source
}

// ruleTrial is an operation under trial.
type ruleTrial struct {
	o       *probe.Operation
	inBits  [4]int // bits of each source
	outBits int
	rnd     *rand.Rand
}

// corners are values with special behaviour: infinities and NaNs of all formats, smallest and largest integers.
var corners = [...]uint64{
	0, ^uint64(0), 1, 1 << 31, 1 << 63, 1<<31 - 1, 1<<63 - 1, 0x7f80_0000, 0x7fc0_0000, 0xff80_0001, 0x7ff0_0000_0000_0000, 0xfff8_0000_0000_0001,
	0x7c00_7c00_7e00_fc01, 0x7f80_7fc0_ff81_7f7f, 0x8000_8000_8000_8000, 0x8080_8080_8080_8080, 0x7f7f_7f7f_7f7f_7f7f, 0x5555_5555_5555_5555,
}

func (t *ruleTrial) value(i int) uint64 {
	v := t.rnd.Uint64()
	switch t.rnd.IntN(8) {
	case 0:
		v = corners[t.rnd.IntN(len(corners))]
	case 1:
		v &= t.rnd.Uint64() & t.rnd.Uint64()
	case 2:
		v |= t.rnd.Uint64() | t.rnd.Uint64()
	case 3:
		v >>= t.rnd.IntN(64)
	}
	return v & lowBits(t.inBits[i])
}

func (t *ruleTrial) compute(v *[4]uint64) uint64 {
	d, _ := t.o.Compute(v[0], v[1], v[2], v[3])
	return d & lowBits(t.outBits)
}

// lowBits returns a mask of the lowest n bits.
func lowBits(n int) uint64 {
	if n >= 64 {
		return ^uint64(0)
	}
	return 1<<n - 1
}

// ruleOf determines the rule of a computation by trials.
func ruleOf(o *probe.Operation) rule {
	t := ruleTrial{o: o, outBits: outBits(o), rnd: rand.New(rand.NewPCG(1, 2))}
	n := min(len(o.Sources), 4)
	for i := range n {
		t.inBits[i] = o.Sources[i].Bits
	}
	if n == 0 || t.outBits == 0 {
		return rule{dependence: anyToAll}
	}
	for size := 0; size < n; size++ {
		for c := range uint8(1) << n {
			if bits.OnesCount8(c) == size && t.positional(n, c) {
				return rule{dependence: positional, control: c, copies: n == 1 && c == 0 && t.isIdentity()}
			}
		}
	}
	for _, block := range [...]int{8, 16, 32} {
		if block < t.outBits && t.dependsWithin(n, block, func(in, out int) bool { return in/block == out/block }) {
			return rule{dependence: inBlocks, block: block}
		}
	}
	if t.outBits > 1 && t.dependsWithin(n, 1, func(in, out int) bool { return in <= out }) {
		return rule{dependence: fromBelow}
	}
	return rule{dependence: anyToAll}
}

// outBits returns the number of bits of the first result.
func outBits(o *probe.Operation) int {
	if len(o.Results) == 0 {
		return 0
	}
	if n := int(o.Out); n > 0 && n < o.Results[0].Bits {
		return n
	}
	return o.Results[0].Bits
}

const (
	controls = 40 // number of trial values of the control sources
	samples  = 24 // number of trial values of the remaining sources, for each control value
)

// positional reports whether each bit of the result depends on at most one bit of each source, for any fixed
// values of the control sources. At least one bit must depend on a source.
func (t *ruleTrial) positional(n int, control uint8) bool {
	var v [4]uint64
	any := false
	settings, width := controls, samples
	if control == 0 {
		settings, width = 1, 16*samples
	}
	for k := range settings {
		for i := range n {
			if control>>i&1 != 0 {
				if v[i] = t.value(i); k%2 == 0 {
					v[i] = t.rnd.Uint64N(70) & lowBits(t.inBits[i])
				}
			}
		}
		var dependsOn [4][64]uint64 // source bits that changed the result, by source and result bit
		for range width {
			for i := range n {
				if control>>i&1 == 0 {
					v[i] = t.value(i)
				}
			}
			before := t.compute(&v)
			for i := range n {
				if control>>i&1 != 0 {
					continue
				}
				for b := range t.inBits[i] {
					w := v
					w[i] ^= 1 << b
					for diff := t.compute(&w) ^ before; diff != 0; diff &= diff - 1 {
						any = true
						to := &dependsOn[i][bits.TrailingZeros64(diff)]
						if *to |= 1 << b; *to&(*to-1) != 0 {
							return false
						}
					}
				}
			}
		}
	}
	return any
}

// isIdentity reports whether the result of a positional operation with a single source is this source.
func (t *ruleTrial) isIdentity() bool {
	for b := -1; b < t.inBits[0]; b++ { // 0, and each bit
		v := [4]uint64{1 << (b & 63)}
		if b < 0 {
			v[0] = 0
		}
		if t.compute(&v) != v[0]&lowBits(t.outBits) {
			return false
		}
	}
	return true
}

// dependsWithin reports whether each bit of the result depends only on source bits allowed by ok. A block
// that never changed fails: it might change for values that were not tried.
func (t *ruleTrial) dependsWithin(n, block int, ok func(in, out int) bool) bool {
	var v [4]uint64
	changed := uint64(0)
	for range 8 * samples {
		for i := range n {
			v[i] = t.value(i)
		}
		before := t.compute(&v)
		for i := range n {
			for b := range t.inBits[i] {
				w := v
				w[i] ^= 1 << b
				diff := t.compute(&w) ^ before
				changed |= diff
				for ; diff != 0; diff &= diff - 1 {
					if !ok(b, bits.TrailingZeros64(diff)) {
						return false
					}
				}
			}
		}
	}
	for bit := 0; bit < t.outBits; bit += block {
		if changed>>bit&lowBits(block) == 0 {
			return false
		}
	}
	return true
}

// invalid returns the bits of the result that depend on invalid (uninitialised) source bits in a lane, and whether each of
// them is a copy of such a bit. At least one source bit must be invalid.
func (r *rule) invalid(o *probe.Operation, v, inv *[4]uint64) (out uint64, copied bool) {
	mask := lowBits(outBits(o))
	n := min(len(o.Sources), 4)
	switch r.dependence {
	case positional:
		// The invalid bits of each source are all 0 or all 1, in every combination: bits of the result that change are invalid. They
		// are copies if all 0 gives 0, and all 1 gives 1.
		unsure := 0 // number of sources with invalid bits
		var which [4]int
		for i := range n {
			switch {
			case inv[i] == 0:
			case r.control>>i&1 != 0:
				return mask, false
			default:
				which[unsure] = i
				unsure++
			}
		}
		first, last := uint64(0), uint64(0)
		for c := range 1 << unsure {
			w := *v
			for k := range unsure {
				i := which[k]
				if w[i] &^= inv[i]; c>>k&1 != 0 {
					w[i] |= inv[i]
				}
			}
			d, _ := o.Compute(w[0], w[1], w[2], w[3])
			if last = d & mask; c == 0 {
				first = last
			}
			out |= (d ^ first) & mask
		}
		return out, first&out == 0 && last&out == out
	case fromBelow:
		all := inv[0] | inv[1] | inv[2] | inv[3]
		return mask &^ (all&-all - 1), false
	case inBlocks:
		all := inv[0] | inv[1] | inv[2] | inv[3]
		for bit := 0; bit < 64; bit += r.block {
			if all>>bit&lowBits(r.block) != 0 {
				out |= lowBits(r.block) << bit
			}
		}
		return out & mask, false
	}
	return mask, false
}

// combined reports whether the result of a comparison combined with a predicate is invalid. It is valid if a
// valid part alone decides it.
func combined(o *probe.Operation, cmp, pred bool, invalidCmp, invalidPred bool) bool {
	if pred = pred != o.Not; o.Bool == "and" || o.Bool == "or" {
		decides := o.Bool == "or"
		if !invalidCmp && cmp == decides || !invalidPred && pred == decides {
			return false
		}
	}
	return invalidCmp || invalidPred
}
