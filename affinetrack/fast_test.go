package affinetrack_test

// This file compares the fast forms with the rules they stand for.

import (
	"testing"

	"pgregory.net/rapid"

	. "gemu/affinetrack"
	"gemu/ptx"
)

// drawValue draws a compact register of a slot, wrapping and other corners included.
func drawValue(t *rapid.T, slot int, name string) Value {
	mask := ^uint64(0) >> (64 - slot)
	small := rapid.SampledFrom([]uint64{0, 1, 4, ^uint64(0), ^uint64(3), 1 << 31, 1<<31 - 1, 1<<32 - 1, 1 << 63, 1<<63 - 1})
	number := rapid.OneOf(small, rapid.Map(rapid.IntRange(-200, 200), func(n int) uint64 { return uint64(n) }), rapid.Uint64())
	return Value{Base: number.Draw(t, name) & mask, Stride: rapid.OneOf(rapid.Just(uint64(0)), number).Draw(t, name+" stride") & mask}
}

func TestFast(t *testing.T) {
	type form struct {
		rule             ptx.Affine
		width, out, slot int
		operands         []int // their slots
	}
	var forms []form
	for _, w := range []int{32, 64} {
		forms = append(forms,
			form{ptx.AffineMove, w, w, w, []int{w}}, form{ptx.AffineConvert, w, w, w, []int{w}},
			form{ptx.AffineAdd, w, w, w, []int{w, w}}, form{ptx.AffineSub, w, w, w, []int{w, w}}, form{ptx.AffineMul, w, w, w, []int{w, w}},
			form{ptx.AffineMad, w, w, w, []int{w, w, w}}, form{ptx.AffineShl, w, w, w, []int{w, 32}})
	}
	forms = append(forms, form{ptx.AffineConvert, 32, 64, 64, []int{32}}, form{ptx.AffineMul, 32, 64, 64, []int{32, 32}}, form{ptx.AffineMad, 32, 64, 64, []int{32, 32, 64}})
	for _, f := range forms {
		fast := FastOf(f.rule, f.width, f.out, f.slot)
		if fast == NoFast {
			t.Errorf("%v of %d bits to %d has no fast form", f.rule, f.width, f.out)
			continue
		}
		found := 0
		rapid.Check(t, func(t *rapid.T) {
			a := Args{Width: f.width, Signed: rapid.Bool().Draw(t, "signed"), Out: f.out, Slot: f.slot}
			a.First = rapid.IntRange(0, 31).Draw(t, "first")
			a.Last = rapid.IntRange(a.First, 31).Draw(t, "last")
			for i, slot := range f.operands {
				a.V[i] = drawValue(t, slot, "operand")
			}
			var v Value
			var ok bool
			switch len(f.operands) {
			case 1:
				v, ok = fast.Unary(a.V[0], a.Signed, a.First, a.Last)
			case 2:
				v, ok = fast.Binary(a.V[0], a.V[1], a.Signed, a.First, a.Last)
			case 3:
				v, ok = fast.Ternary(a.V[0], a.V[1], a.V[2], a.Signed, a.First, a.Last)
			}
			want, has := Rules.Rules[f.rule](&a)
			if ok != has {
				t.Fatalf("%v of %v, lanes %d to %d: the fast form says %v, the rule %v", f.rule, a.V[:len(f.operands)], a.First, a.Last, ok, has)
			}
			if !ok {
				return
			}
			found++
			if mask := ^uint64(0) >> (64 - f.slot); v.Base&mask != want.Base || v.Stride&mask != want.Stride {
				t.Fatalf("%v of %v, lanes %d to %d: %v, want %v", f.rule, a.V[:len(f.operands)], a.First, a.Last, v, want)
			}
		})
		if found == 0 {
			t.Errorf("%v of %d bits to %d never had a result", f.rule, f.width, f.out)
		}
	}
}

func TestCompare32(t *testing.T) {
	decided := 0
	rapid.Check(t, func(t *rapid.T) {
		a := Args{Width: 32, Out: 32, Slot: 32, Signed: rapid.Bool().Draw(t, "signed"), Cmp: rapid.SampledFrom([]Cmp{Eq, Ne, Lt, Le, Gt, Ge}).Draw(t, "cmp")}
		a.First = rapid.IntRange(0, 31).Draw(t, "first")
		a.Last = rapid.IntRange(a.First, 31).Draw(t, "last")
		a.V[0], a.V[1] = drawValue(t, 32, "x"), drawValue(t, 32, "y")
		if rapid.Bool().Draw(t, "same stride") {
			a.V[1].Stride = a.V[0].Stride
		}
		holds, ok := Compare32(a.Cmp, a.V[0], a.V[1], a.Signed, a.First, a.Last)
		if !ok {
			return
		}
		decided++
		if want, has := Rules.Compare(&a); !has || holds != want {
			t.Fatalf("%v and %v, %v, lanes %d to %d: %v, want %v %v", a.V[0], a.V[1], a.Cmp, a.First, a.Last, holds, want, has)
		}
	})
	if decided == 0 {
		t.Error("no comparison was decided")
	}
}
