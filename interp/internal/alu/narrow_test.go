package alu

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"gemu/internal/part"
	"gemu/interp/internal/fp"
	"gemu/ptx"
)

var narrowTypes = []ptx.Type{ptx.F32, ptx.F16, ptx.BF16, ptx.TF32, ptx.E5M2, ptx.E4M3, ptx.E3M2, ptx.E2M3, ptx.E2M1, ptx.UE5M3, ptx.UE8M0, ptx.S2F6}

// narrowSpecs returns the conversions that NarrowImm accepts, with one source.
func narrowSpecs() (list []ConvertSpec) {
	for _, dst := range narrowTypes {
		for _, src := range narrowTypes {
			for _, r := range []fp.Rounding{fp.RN, fp.RZ, fp.RM, fp.RP, fp.RNA} {
				for flags := range 1 << 5 {
					if bits.OnesCount(uint(flags)) > 2 {
						continue
					}
					on := func(i int) bool { return flags>>i&1 != 0 }
					s := ConvertSpec{Dst: dst, Src: src, Rnd: r, FTZ: on(0), Sat: on(1), Relu: on(2), SatFinite: on(3), PlusZero: on(4)}
					if _, ok := NarrowImm(s); ok {
						list = append(list, s)
					}
				}
			}
		}
	}
	return list
}

// TestNarrow compares the conversions of narrow.go with the general conversion: all numbers of narrower sources, and for f32
// numbers with lower halves at midpoints and next to them.
func TestNarrow(t *testing.T) {
	specs := narrowSpecs()
	step := uint32(part.Count(251, 61, 1))
	if len(specs) < 500 {
		t.Fatalf("only %d conversions", len(specs))
	}
	// Of f16 and tf32 the last 13 bits are lost, of bf16 the last 16: midpoints below even and odd numbers.
	lower := []uint32{0, 1, 0x0fff, 0x1000, 0x1001, 0x2fff, 0x3000, 0x3001, 0x7fff, 0x8000, 0x8001, 0xffff}
	for n, s := range specs {
		imm, _ := NarrowImm(s)
		check := func(x uint64, got uint32) {
			if want := uint32(convert(x, s.Imm())); got != want {
				t.Fatalf("%+v: %#x becomes %#x, want %#x", s, x, got, want)
			}
		}
		width := pairWidth(imm)
		mask := uint32(1)<<width - 1
		for x := uint32(n) % min(step, 1<<(s.Src.Bits()/2)); x < 1<<min(16, s.Src.Bits()); x += min(step, 1<<(s.Src.Bits()/2)) {
			switch {
			case s.Src == ptx.F32:
				u := x<<16 | lower[(x+uint32(n))%uint32(len(lower))]
				check(uint64(u), narrowed(u, imm))
			case s.Dst == ptx.F16 || s.Dst == ptx.BF16:
				d := widenPairB32(x<<width|(x^1)&mask, imm)
				check(uint64(x), d>>16)
				check(uint64((x^1)&(1<<s.Src.Bits()-1)), d&0xffff)
			default:
				d := narrowPairB32(x<<16|x^1, imm)
				check(uint64(x), d>>width)
				check(uint64(x^1), d&mask)
			}
		}
	}
}

// TestRandomRounding compares conversions with random bits, and conversions of powers of two, with the general conversion.
func TestRandomRounding(t *testing.T) {
	rng := rand.New(rand.NewPCG(part.Seed(t), 1))
	types := []ptx.Type{ptx.F16, ptx.BF16, ptx.E5M2, ptx.E4M3, ptx.E3M2, ptx.E2M3, ptx.E2M1}
	for range part.Count(200_000, 2_000_000, 50_000_000) {
		u, random := rng.Uint32(), rng.Uint32()
		if rng.IntN(2) == 0 { // near the numbers of the narrow formats
			u = u&0x80ffffff | (96+rng.Uint32N(40))<<23
		}
		switch rng.IntN(8) {
		case 0:
			u &= 0x807fffff
		case 1:
			u |= 0x7f800000
		case 2:
			u &= 0xffff0000
		}
		s := ConvertSpec{Dst: types[rng.IntN(len(types))], Src: ptx.F32, Rnd: fp.RS, Relu: rng.IntN(2) == 0, SatFinite: rng.IntN(2) == 0}
		imm, ok := NarrowImm(s)
		if random &= 1<<RandomBits(s.Dst) - 1; rng.IntN(4) == 0 {
			random = -(random & 1) & (1<<RandomBits(s.Dst) - 1)
		}
		s.HasSecond = true
		if got, want := narrowedBy(u, random, imm), convertWith(u, random, s.Imm()); !ok || got != want {
			t.Fatalf("%+v: %#x with random bits %#x becomes %#x, want %#x", s, u, random, got, want)
		}

		powers := ConvertSpec{Dst: ptx.UE8M0, Src: ptx.F32, Rnd: fp.RZ, SatFinite: s.SatFinite}
		imm = 0
		if rng.IntN(2) == 0 {
			powers.Rnd, imm = fp.RP, PowersUp
		}
		if s.SatFinite {
			imm |= PowersSatFinite
		}
		if got, want := powerOf(u, imm), uint32(convert(uint64(u), powers.Imm())); got != want {
			t.Fatalf("%+v: %#x becomes %#x, want %#x", powers, u, got, want)
		}
	}
	for e := range uint32(256) {
		spec := ConvertSpec{Dst: ptx.BF16, Src: ptx.UE8M0}
		if got, want := widenPowers(e<<8|255-e), convert(uint64(e), spec.Imm())<<16|convert(uint64(255-e), spec.Imm()); uint64(got) != want {
			t.Fatalf("powers %d and %d become %#x, want %#x", e, 255-e, got, want)
		}
	}
}
