package xmem

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAddressMap has the sizes of the thesis: 16 MB for 8 GB (0.2 %), and 0.07 % for 1 KB and 6 bits. A map of 256 atoms of 1 bit, the atom
// status table, has 32 bytes.
func TestAddressMap(t *testing.T) {
	if got := Fine.Bytes(8 << 30); got != 16<<20 {
		t.Errorf("%d bytes", got)
	}
	if fine, coarse := Fine.Share(), Coarse.Share(); fine != 1.0/512 || coarse != 6.0/8192 {
		t.Errorf("%v and %v", fine, coarse)
	}
	if got := (AddressMap{1, 1}).Bytes(256); got != 32 {
		t.Errorf("%d bytes for the states of 256 atoms", got)
	}
}

// TestMap2D: a block of 4 rows of 128 bytes in rows of 1024 has ranges at 0, 1024, 2048 and 3072, in the units 0, 2, 4 and 6.
func TestMap2D(t *testing.T) {
	ranges := Map2D(0, 1024, 128, 4)
	if want := []Range{{0, 128}, {1024, 128}, {2048, 128}, {3072, 128}}; !slices.Equal(ranges, want) {
		t.Errorf("ranges %v", ranges)
	}
	if units := Fine.Units(ranges); !slices.Equal(units, []uint64{0, 2, 4, 6}) {
		t.Errorf("units %v", units)
	}
	if units := Fine.Units([]Range{{500, 13}, {600, 10}, {2000, 0}}); !slices.Equal(units, []uint64{0, 1}) { // 500 to 512, and 600 in unit 1
		t.Errorf("units %v", units)
	}
}

// TestLookaside has lookups by hand in two entries, and compares random lookups with a list.
func TestLookaside(t *testing.T) {
	l := NewLookaside(2)
	for _, page := range []uint64{1, 2, 1, 3, 2, 1} { // 1 hits; 3 replaces 2, 2 replaces 1, 1 replaces 3
		l.Lookup(page)
	}
	if l.Hits != 1 || l.Lookups != 6 {
		t.Errorf("%d hits of %d", l.Hits, l.Lookups)
	}
	l = NewLookaside(16)
	var naive []uint64
	hits, r := int64(0), rand.New(rand.NewPCG(1, 2))
	for range 10000 {
		page := r.Uint64N(12) * r.Uint64N(4)
		l.Lookup(page)
		i := slices.Index(naive, page)
		if i >= 0 {
			hits++
			naive = slices.Delete(naive, i, i+1)
		} else if len(naive) == 16 {
			naive = naive[1:]
		}
		naive = append(naive, page)
	}
	if l.Hits != hits || hits == 10000 {
		t.Errorf("%d hits, want %d", l.Hits, hits)
	}
}
