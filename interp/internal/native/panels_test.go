package native

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gemu/internal/part"
	"gemu/interp/internal/matrix"
	"gemu/ptx"
	"gemu/regfile"
)

// TestPanels compares the multiplications of wgmma in machine code with package matrix, which reads elements from shared memory and
// adds them one by one. Specials and sums that machine code does not know are included.
func TestPanels(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	rng := rand.New(rand.NewPCG(part.Seed(t), 14))
	types := []struct {
		a, b, d    ptx.Type
		k          int
		transposes bool
	}{
		{ptx.F16, ptx.F16, ptx.F32, 16, true}, {ptx.F16, ptx.F16, ptx.F16, 16, true}, {ptx.BF16, ptx.BF16, ptx.F32, 16, true}, {ptx.TF32, ptx.TF32, ptx.F32, 8, false},
		{ptx.E4M3, ptx.E5M2, ptx.F32, 32, false}, {ptx.E5M2, ptx.E4M3, ptx.F16, 32, false}, {ptx.S8, ptx.U8, ptx.S32, 32, false}, {ptx.B1, ptx.B1, ptx.S32, 256, false},
	}
	for range part.Count(200, 1000, 10000) {
		x, n := types[rng.IntN(len(types))], 8*(1+rng.IntN(6))
		o := matrix.NewWgmma(n, x.k, x.d, x.a, x.b, false, 0)
		o.Negate, o.Saturate = x.a.IsFloat() && rng.IntN(3) == 0, x.a == ptx.S8 && rng.IntN(2) == 0
		o.SharedA.Transposed, o.SharedB.Transposed = x.transposes && rng.IntN(2) == 0, x.transposes && rng.IntN(2) == 0
		s := NewPanels(o.Panel(), n/matrix.PanelColumns)
		if s == nil {
			t.Fatalf("%+v is not multiplied in machine code", x)
		}
		memory := make([]byte, 64<<10)
		spread := spread(rng.IntN(5))
		put := func(memory []byte, e ptx.Type, bits int) {
			for i := 0; i < len(memory); i += bits / 8 {
				v := randomElement(rng, e, spread)
				for k := range bits / 8 {
					memory[i+k] = byte(v >> (8 * k))
				}
			}
		}
		put(memory[:32<<10], x.a, o.SharedA.Bits)
		put(memory[32<<10:], x.b, o.SharedB.Bits)
		place := func(start uint64) matrix.Placement {
			return matrix.Placement{Start: start, Leading: 2048, Stride: 1024, Base: rng.Uint64N(8), Width: []int{16, 32, 64, 128}[rng.IntN(4)]}
		}
		placeA, placeB := place(0), place(32<<10)
		first := matrix.WarpRows * rng.IntN(2)
		a, b := o.SharedA.Load(memory, placeA, first, matrix.WarpRows), o.SharedB.Load(memory, placeB, 0, n)
		registersA, registersB := o.LoadA(memory, placeA, first), o.SharedB.LoadRegisters(memory, placeB, 0, n)
		o.NegateRegisters(registersA)
		var want, got []*regfile.Row32
		for range o.D.Registers() {
			var r regfile.Row32
			for lane := range r {
				r[lane] = uint32(randomElement(rng, x.d, spread))
				if x.d == ptx.F16 {
					r[lane] |= uint32(randomElement(rng, x.d, spread)) << 16
				}
			}
			other := r
			want, got = append(want, &r), append(got, &other)
		}
		o.Execute(want, nil, a, b, nil, true)
		s.Execute(got, registersA, registersB)
		for i := range want {
			if *got[i] != *want[i] {
				t.Fatalf("%s: register %d of D is %#x, not %#x", fmt.Sprintf("%+v, n %d, negate %v, placements %+v %+v", x, n, o.Negate, placeA, placeB), i, *got[i], *want[i])
			}
		}
	}
}
