package affinetrack_test

// This file checks the lattice of the package comment: the meaning of descriptions, and that Describe finds the least one.

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	. "gemu/affinetrack"
)

// matchesLanes reports whether the lanes of mask are in γ(v); their values have width bits.
func matchesLanes(v Value, mask uint32, width int, at func(i int) uint64) bool {
	for i := range 32 {
		if mask>>i&1 == 0 {
			continue
		}
		want := modulo(add(integer(v.Base), mul(big.NewInt(int64(i)), integer(v.Stride))), width)
		if want.Cmp(integer(at(i))) != 0 {
			return false
		}
	}
	return true
}

// TestValueTextAndClass shows the text, the class and the lanes of compact values.
func TestValueTextAndClass(t *testing.T) {
	for _, c := range []struct {
		v       Value
		text    string
		class   Class
		uniform bool
		at3     uint64
	}{
		{Value{}, "uniform(0x0)", Uniform, true, 0},
		{Value{Base: 255}, "uniform(0xff)", Uniform, true, 255},
		{Value{Base: 16, Stride: 4}, "affine(0x10, 0x4)", Affine, false, 28},
		{Value{Base: 1, Stride: ^uint64(0)}, "affine(0x1, 0xffffffffffffffff)", Affine, false, 1<<64 - 2},
	} {
		if got := c.v.String(); got != c.text {
			t.Errorf("%#v is written %s, want %s", c.v, got, c.text)
		}
		if c.v.Class() != c.class || c.v.Uniform() != c.uniform || c.v.At(3) != c.at3 {
			t.Errorf("%s: class %s, uniform %v, lane 3 %#x; want %s, %v, %#x", c.text, c.v.Class(), c.v.Uniform(), c.v.At(3), c.class, c.uniform, c.at3)
		}
	}
}

// TestOrderOfClasses checks uniform ⊑ affine ⊑ generic for the classes.
func TestOrderOfClasses(t *testing.T) {
	if !(Unknown < Uniform && Uniform < Affine && Affine < Generic) {
		t.Error("classes are not ordered by structure")
	}
	for c, want := range map[Class]string{Unknown: "-", Uniform: "u", Affine: "a", Generic: "g"} {
		if c.String() != want {
			t.Errorf("class %d is written %s, want %s", c, c, want)
		}
	}
}

// TestDescribeExhaustively compares Describe with a search through all descriptions, for all vectors of three lanes out
// of five with three bits.
func TestDescribeExhaustively(t *testing.T) {
	const width, size = 3, 1 << 3
	for mask := uint32(1); mask < 1<<5; mask++ {
		var active []int
		for i := range 5 {
			if mask>>i&1 != 0 {
				active = append(active, i)
			}
		}
		var lanes [5]uint64
		at := func(i int) uint64 { return lanes[i] }
		n := 1
		for range active {
			n *= size
		}
		for vector := range n {
			for _, i := range active {
				lanes[i] = uint64(vector % size)
				vector /= size
			}
			uniform, affine := false, false
			for b := range uint64(size) {
				for s := range uint64(size) {
					in := true
					for _, i := range active {
						in = in && (b+uint64(i)*s)%size == lanes[i]
					}
					uniform = uniform || in && s == 0
					affine = affine || in
				}
			}
			v, ok := Describe(mask, width, at)
			switch {
			case ok != affine:
				t.Fatalf("mask %05b lanes %v: Describe finds a description: %v, want %v", mask, lanes, ok, affine)
			case !ok:
			case !matchesLanes(v, mask, width, at):
				t.Fatalf("mask %05b lanes %v: %s does not allow them", mask, lanes, v)
			case v.Uniform() != uniform:
				t.Fatalf("mask %05b lanes %v: %s, want uniform: %v", mask, lanes, v, uniform)
			case v.Base >= size || v.Stride >= size:
				t.Fatalf("mask %05b lanes %v: %s is not reduced", mask, lanes, v)
			}
		}
	}
}

// TestDescribe checks that Describe finds the least description of the lanes of a description, and a different
// description or none if a lane is changed.
func TestDescribe(t *testing.T) {
	for _, width := range []int{32, 64} {
		rapid.Check(t, func(t *rapid.T) {
			mask := rapid.Uint32Range(1, 1<<32-1).Draw(t, "mask")
			if rapid.Bool().Draw(t, "few") {
				mask &= rapid.Uint32().Draw(t, "and") & rapid.Uint32().Draw(t, "and too")
			}
			if mask == 0 {
				mask = 1 << rapid.IntRange(0, 31).Draw(t, "lane")
			}
			v := values(width, 0, 31).Draw(t, "value").Truncate(width)
			var lanes [32]uint64
			for i := range lanes {
				lanes[i] = modulo(add(integer(v.Base), mul(big.NewInt(int64(i)), integer(v.Stride))), width).Uint64()
			}
			at := func(i int) uint64 { return lanes[i] }
			got, ok := Describe(mask, width, at)
			if !ok || !matchesLanes(got, mask, width, at) || v.Uniform() && !got.Uniform() {
				t.Fatalf("lanes %032b of %s: %s, %v", mask, v, got, ok)
			}
			i := rapid.IntRange(0, 31).Draw(t, "change")
			lanes[i] = Value{Base: lanes[i] + 1}.Truncate(width).Base
			got, ok = Describe(mask, width, at)
			if ok && !matchesLanes(got, mask, width, at) {
				t.Fatalf("lanes %032b of %s, lane %d one more: %s", mask, v, i, got)
			}
			if mask == 1<<32-1 && ok {
				t.Fatalf("all lanes of %s, lane %d one more: %s", v, i, got)
			}
		})
	}
}
