package tensormap

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestWalkRows: all bytes inside the tensor are within Extent. WalkRows passes the same bytes as Walk, in the same order, as at most three segments for each row if nothing
// separates the elements of a row.
func TestWalkRows(t *testing.T) {
	type part struct {
		shared, global uint64
		inside         bool
	}
	bytes := func(walk func(c *Copy, shared uint64, yield func(p Segment) bool), c *Copy) (list []part, segments int) {
		walk(c, 1<<20, func(p Segment) bool {
			segments++
			for i := range uint64(p.Bytes) {
				at := part{p.Shared + i, p.Global + i, p.Inside}
				if !p.Inside {
					at.global = 0
				}
				list = append(list, at)
			}
			return true
		})
		return list, segments
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		m := &Map{Type: []Type{U8, U16, F32, F64, B4x16, B4x16P64, B6x16P32}[r.IntN(7)], Rank: 1 + r.IntN(3), Address: 1 << 30}
		m.Swizzle.Mode = SwizzleMode(r.IntN(4)) / 2 * 3 // none, or 128 bytes
		unit := 1
		if m.Type.Padded() {
			unit = 128
		} else if m.Type == B4x16 {
			unit = 32
		}
		c := &Copy{Dims: m.Rank}
		for i := range m.Rank {
			m.Dim[i], m.Box[i], m.Step[i] = uint64(1+r.IntN(9)), uint32(1+r.IntN(6)), uint32(1+r.IntN(2))
			c.Position[i] = int32(r.IntN(12) - 4)
			if i > 0 {
				m.Stride[i-1] = uint64(4096 << i)
			}
		}
		m.Step[0], m.Dim[0], m.Box[0], c.Position[0] = 1, m.Dim[0]*16, m.Box[0]*16, c.Position[0]*8
		if unit > 1 {
			m.Box[0], c.Position[0] = uint32(unit), int32(unit)*int32(r.IntN(3)-1)
		}
		want, _ := bytes(m.Walk, c)
		extent, ok := m.Extent()
		for _, at := range want {
			if ok = ok && (!at.inside || at.global-m.Address < extent); !ok {
				t.Fatalf("%+v, %+v: %#x is not among the %d bytes of the tensor", m, c, at.global, extent)
			}
		}
		got, segments := bytes(m.WalkRows, c)
		if !slices.Equal(got, want) {
			t.Fatalf("%+v, %+v: other bytes", m, c)
		}
		if whole := m.Swizzle.Mode == NoSwizzle && !m.Type.Padded(); whole && segments > 3*m.rows(c) {
			t.Errorf("%+v, %+v: %d segments", m, c, segments)
		}
	}
}
