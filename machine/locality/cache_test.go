package locality

import (
	"testing"

	"gemu/machine/cache"
	"gemu/machine/stream"
	"gemu/ptx"
)

// TestTreatment: the descriptor of the highest priority decides. Distances by hand: the next line of neighbours; for rows of 4 KiB whose
// tiles have 512 bytes, with 8 CTAs in C-tiles of 2 on an L1 of 32 KiB, 16 rows (thesis, section 3.4.2).
func TestTreatment(t *testing.T) {
	of := func(first uint64, kind Type, s Sharing, regular bool) Descriptor {
		return Descriptor{Buffer: stream.Buffer{Base: first * stream.LineBytes, Bytes: 16*stream.LineBytes - 4}, Element: 4, Type: kind, Sharing: s, Regular: regular, DTile: ptx.Dim(32), CTile: ptx.Dim(1)}
	}
	rows := of(1024, InterThread, CoAccessed, true)
	rows.Buffer.Bytes, rows.DTile, rows.CTile, rows.Stride = 1<<20, ptx.Dim(128, 10), ptx.Dim(1, 2), 1024
	tr := NewTreatment([]Descriptor{
		of(64, InterThread, Nearby, false), of(16, NoReuse, "", true), rows, of(32, InterThread, CoAccessed, false), of(48, IntraThread, "", true), of(48, NoReuse, "", true),
		of(80, InterThread, CoAccessed, true),
	})
	for _, c := range []struct {
		line     uint64
		priority cache.Priority
		next     uint64 // 0: none
	}{
		{15, cache.Normal, 0}, {16, cache.Bypass, 0}, {31, cache.Bypass, 0}, {32, cache.SoftPin, 0}, {48, cache.HardPin, 0}, {63, cache.HardPin, 0}, {64, cache.Normal, 65}, {79, cache.Normal, 0},
		{80, cache.Normal, 0}, {96, cache.Normal, 0}, {1024, cache.Normal, 1024 + 16*32}, {1024 + 8191, cache.Normal, 0}, {1 << 40, cache.Normal, 0},
	} {
		next, ok := tr.Prefetch(c.line, 32<<10, 8)
		if !ok {
			next = 0
		}
		if got := tr.Priority(&cache.Access{Line: c.line}); got != c.priority || next != c.next {
			t.Errorf("line %d: priority %d, next line %d; want %d, %d", c.line, got, next, c.priority, c.next)
		}
	}
}
