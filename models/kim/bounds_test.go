package kim_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/affinetrack"
	"gemu/interp"
	"gemu/kernels"
	"gemu/models/kim"
	"gemu/ptx"
)

// TestCycleBounds has cycles worked out by hand.
func TestCycleBounds(t *testing.T) {
	// 100 instructions: 60 on the arithmetic units, of which 30 affine and 10 decided comparisons, 2
	// special functions, 20 loads of which 15 with unit stride, 5 stores, 10 branches, all decided; 4
	// expansions.
	u := kim.Use{Instructions: 100, Arithmetic: 60, Special: 2, Loads: 20, Stores: 5, Branches: 10, AffineArithmetic: 30, Comparisons: 10, Decided: 10, UnitStride: 15, Materialisations: 4}
	for _, c := range []struct {
		m    interface{ Cycles(kim.Use) float64 }
		want float64
	}{
		{kim.FGSIMT{}, 40 + 124},                                               // 62 for four cycles on two units
		{kim.FGSIMT{Arithmetic: true}, 40 + 100},                               // 36 would take 72, 25 addresses and the 100 places to issue 100
		{kim.FGSIMT{Arithmetic: true, Branches: true}, 10 + 100},               // a cycle for each branch
		{kim.FGSIMT{Arithmetic: true, Branches: true, Memory: true}, 10 + 100}, // issue still
		{kim.GPSIMT{Lanes: 8}, 120},                                            // 60 for four cycles on two units
		{kim.GPSIMT{Lanes: 8, Affine: true}, 100},                              // 25 loads and stores for four cycles
		{kim.GPSIMT{Lanes: 16}, 60},
		{kim.GPSIMT{Lanes: 16, Affine: true}, 50}, // issue and memory
		{kim.GPSIMT{Lanes: 32}, 50},
	} {
		if got := c.m.Cycles(u); got != c.want {
			t.Errorf("%+v: %v cycles, want %v", c.m, got, c.want)
		}
	}
	special := kim.Use{Instructions: 10, Special: 10, AffineSpecial: 9}
	if got := (kim.GPSIMT{Lanes: 8, Affine: true}).Cycles(special); got != 5 {
		t.Errorf("of ten special functions nine are affine: %v cycles, want 5, two in a cycle", got)
	}
}

// TestUseOfThePapersExample counts the paper's example (figure 1) by hand: 16 warps, no value of y above the threshold,
// so that the last three instructions are not executed. Under kim the computation of the address is affine (cvta, mov
// three times, mad, shl, add), and so is the load of y; the product and its comparison are not.
func TestUseOfThePapersExample(t *testing.T) {
	const warps = 16
	dev := interp.NewDevice(interp.Config{})
	b, err := interp.NewBuffer(dev, make([]uint32, 32*warps))
	if err != nil {
		t.Fatal(err)
	}
	m, err := dev.Load("threshold.ptx", []byte(kernels.Lookup("threshold").PTX()))
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Run(t.Context(), &interp.Launch{Kernel: "ex_gpsimt_kernel", Grid: ptx.Dim(4), Block: ptx.Dim(128), Args: []any{b, 3}, Structure: true, Policy: affinetrack.PolicyByName("fgsimt")})
	if err != nil {
		t.Fatal(err)
	}
	want := kim.Use{
		Instructions: 15 * warps, Arithmetic: 9 * warps, Loads: 3 * warps, Stores: warps, Branches: warps,
		AffineArithmetic: 7 * warps, UnitStride: warps,
	}
	if diff := cmp.Diff(want, kim.ComputeUse(r.Structure)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
