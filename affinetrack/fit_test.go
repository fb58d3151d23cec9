package affinetrack_test

import (
	"testing"

	"pgregory.net/rapid"

	. "gemu/affinetrack"
)

// TestFitFindsProgression compares Fit with Describe, for places in any order and values of any width.
func TestFitFindsProgression(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.SampledFrom([]int{8, 16, 32, 64}).Draw(t, "width")
		m := ^uint64(0) >> (64 - width)
		v := Value{rapid.Uint64().Draw(t, "base"), rapid.SampledFrom([]uint64{0, 1, 4, 1 << 7, 1 << 31, ^uint64(0), 12345}).Draw(t, "stride")}
		var row [32]uint64
		for i := range row {
			row[i] = v.At(i) & m
		}
		if rapid.Bool().Draw(t, "broken") {
			row[rapid.IntRange(0, 31).Draw(t, "lane")] += 1 << rapid.IntRange(0, width-1).Draw(t, "bit")
		}
		order := rapid.Permutation([]int{0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 31}).Draw(t, "order")
		order = order[:rapid.IntRange(1, len(order)).Draw(t, "places")]
		var f Fit
		mask := uint32(0)
		for _, i := range order {
			f.Add(uint64(i), row[i]&m, width)
			mask |= 1 << i
		}
		want := Generic
		if d, ok := Describe(mask, width, func(i int) uint64 { return row[i] & m }); ok {
			want = d.Class()
		}
		if got := f.Class(); got != want {
			t.Fatalf("places %v, width %d, values %v: %s, want %s", order, width, row, got, want)
		}
	})
	if got := new(Fit).Class(); got != Unknown {
		t.Errorf("class without places: %s", got)
	}
}
