package regfile

// This file compares the shadow register file with a model that keeps every lane of every register.

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// lane32 and lane64 return a lane's value from the shadow or the row.
func lane32(f *File, row int32, i int) uint32 {
	if c := f.Shadow32(row); c.Mask>>i&1 != 0 {
		return uint32(c.At(i))
	}
	return f.Src32(row)[i]
}

func lane64(f *File, row int32, i int) uint64 {
	if c := f.Shadow64(row); c.Mask>>i&1 != 0 {
		return c.At(i)
	}
	return f.Src64(row)[i]
}

// model contains the registers of all windows, lane by lane.
type model struct {
	r [][]Row32
	q [][]Row64
}

// TestRandomShadowAccesses calls and returns, writes registers compactly or to the lanes, and materialises them, in any
// order. A lane must keep its last value, and after materialising the row must contain it.
func TestRandomShadowAccesses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frames, base := []Size{{R: 3, Q: 2, P: 1}}, []Size{{}}
		f := New(&Constants{}, true)
		f.Reset(frames[0])
		m := model{}
		enter := func(n Size) {
			m.r, m.q = append(m.r, append([]Row32{}, f.r...)), append(m.q, append([]Row64{}, f.q...))
		}
		enter(frames[0])
		top := func() (r []Row32, q []Row64) { return m.r[len(m.r)-1], m.q[len(m.q)-1] }
		check := func(*rapid.T) {
			r, q := top()
			for row := range r {
				for i := range Lanes {
					if got := lane32(f, int32(row), i); got != r[row][i] {
						t.Fatalf("register %d lane %d is %#x, want %#x", row, i, got, r[row][i])
					}
				}
			}
			for row := range q {
				for i := range Lanes {
					if got := lane64(f, int32(row), i); got != q[row][i] {
						t.Fatalf("wide register %d lane %d is %#x, want %#x", row, i, got, q[row][i])
					}
				}
			}
		}
		drawRow := func(t *rapid.T, n int) int32 { return int32(rapid.IntRange(0, n-1).Draw(t, "row")) }
		mask := rapid.OneOf(rapid.Just(uint32(Full)), rapid.Uint32())
		t.Repeat(map[string]func(*rapid.T){
			"": check,
			"compact32": func(t *rapid.T) {
				r, _ := top()
				row, lanes := drawRow(t, len(r)), mask.Draw(t, "lanes")
				b, s := rapid.Uint32().Draw(t, "base"), rapid.Uint32().Draw(t, "stride")
				f.Materialise32(row, ^lanes) // the other lanes keep their values
				f.sr[row] = Compact{Base: uint64(b), Stride: uint64(s), Mask: lanes}
				for i := range Lanes {
					if lanes>>i&1 != 0 {
						r[row][i] = b + uint32(i)*s
					}
				}
			},
			"compact64": func(t *rapid.T) {
				_, q := top()
				row, lanes := drawRow(t, len(q)), mask.Draw(t, "lanes")
				b, s := rapid.Uint64().Draw(t, "base"), rapid.Uint64().Draw(t, "stride")
				f.Materialise64(row, ^lanes)
				f.sq[row] = Compact{Base: b, Stride: s, Mask: lanes}
				for i := range Lanes {
					if lanes>>i&1 != 0 {
						q[row][i] = b + uint64(i)*s
					}
				}
			},
			"write32": func(t *rapid.T) {
				r, _ := top()
				row, i, v := drawRow(t, len(r)), rapid.IntRange(0, Lanes-1).Draw(t, "lane"), rapid.Uint32().Draw(t, "value")
				f.r[row][i], r[row][i] = v, v
				f.sr[row].Mask &^= 1 << i
				f.sr[row].Materialised &^= 1 << i
			},
			"materialise32": func(t *rapid.T) {
				r, _ := top()
				row, lanes := drawRow(t, len(r)), mask.Draw(t, "lanes")
				before := *f.Shadow32(row)
				f.Materialise32(row, lanes)
				c := f.Shadow32(row)
				if c.Mask != before.Mask || c.Materialised != before.Materialised|before.Mask&lanes {
					t.Fatalf("materialising lanes %#x turns %+v into %+v", lanes, before, *c)
				}
				for i := range Lanes {
					if c.Mask&lanes>>i&1 != 0 && f.r[row][i] != r[row][i] {
						t.Fatalf("after materialising lanes %#x lane %d of the row has %#x, want %#x", lanes, i, f.r[row][i], r[row][i])
					}
				}
			},
			"materialise64": func(t *rapid.T) {
				_, q := top()
				row, lanes := drawRow(t, len(q)), mask.Draw(t, "lanes")
				before := *f.Shadow64(row)
				f.Materialise64(row, lanes)
				c := f.Shadow64(row)
				if c.Mask != before.Mask || c.Materialised != before.Materialised|before.Mask&lanes {
					t.Fatalf("materialising lanes %#x turns %+v into %+v", lanes, before, *c)
				}
				for i := range Lanes {
					if c.Mask&lanes>>i&1 != 0 && f.q[row][i] != q[row][i] {
						t.Fatalf("after materialising lanes %#x lane %d of the row has %#x, want %#x", lanes, i, f.q[row][i], q[row][i])
					}
				}
			},
			"call": func(t *rapid.T) {
				n := Size{R: rapid.IntRange(1, 40).Draw(t, "R"), Q: rapid.IntRange(1, 40).Draw(t, "Q"), P: 1}
				base = append(base, base[len(base)-1].Add(frames[len(frames)-1]))
				frames = append(frames, n)
				f.Open(base[len(base)-1], n)
				f.ClearShadows()
				enter(n)
			},
			"return": func(t *rapid.T) {
				if len(frames) == 1 {
					t.Skip("no caller")
				}
				frames, base = frames[:len(frames)-1], base[:len(base)-1]
				m.r, m.q = m.r[:len(frames)], m.q[:len(frames)]
				f.Open(base[len(base)-1], frames[len(frames)-1])
			},
		})
	})
}

// TestFillRows compares fills with base + i·stride lane by lane.
func TestFillRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lanes := rapid.OneOf(rapid.Just(uint32(Full)), rapid.Just(uint32(0)), rapid.Uint32()).Draw(t, "lanes")
		base, stride := rapid.Uint64().Draw(t, "base"), rapid.Uint64().Draw(t, "stride")
		var r Row32
		var q Row64
		for i := range Lanes {
			r[i], q[i] = 0xaaaaaaaa, 0xaaaaaaaaaaaaaaaa
		}
		wantR, wantQ := r, q
		for i := range Lanes {
			if lanes>>i&1 != 0 {
				wantR[i] = uint32(base) + uint32(i)*uint32(stride)
				wantQ[i] = base + uint64(i)*stride
			}
		}
		Fill32(&r, uint32(base), uint32(stride), lanes)
		Fill64(&q, base, stride, lanes)
		if r != wantR || q != wantQ {
			t.Fatalf("base %#x stride %#x lanes %#x: got %x and %x", base, stride, lanes, r, q)
		}
	})
}

// TestCompactHoldsLanes shows for which lanes a compact copy holds the value, and the value of a lane: base +
// lane·stride.
func TestCompactHoldsLanes(t *testing.T) {
	c := Compact{Base: 10, Stride: 3, Mask: 0b1101}
	for m, want := range map[uint32]bool{0: true, 0b1: true, 0b1100: true, 0b1101: true, 0b10: false, 0b1111: false} {
		if c.Holds(m) != want {
			t.Errorf("Holds(%04b) is %v", m, !want)
		}
	}
	if c.At(0) != 10 || c.At(31) != 103 {
		t.Errorf("lanes 0 and 31 are %d and %d, want 10 and 103", c.At(0), c.At(31))
	}
}

// TestConstantRows checks that constants are uniform and need no materialising.
func TestConstantRows(t *testing.T) {
	k := &Constants{}
	k.Add32(0)
	k.Add32(7)
	k.Add64(1 << 40)
	k.AddP(0)
	k.AddP(Full)
	k.Layout()
	f := New(k, true)
	f.Reset(Size{})
	for row, want := range map[int32]uint64{^0: 0, ^1: 7} {
		if diff := cmp.Diff(Compact{Base: want, Mask: Full, Materialised: Full}, *f.Shadow32(row)); diff != "" {
			t.Errorf("constant %d (-want +got):\n%s", ^row, diff)
		}
		f.Materialise32(row, Full)
	}
	if diff := cmp.Diff(Compact{Base: 1 << 40, Mask: Full, Materialised: Full}, *f.Shadow64(^0)); diff != "" {
		t.Errorf("wide constant (-want +got):\n%s", diff)
	}
	f.Materialise64(^0, Full)
}
