package memory

import (
	"fmt"
	"testing"

	"gemu/machine/cache"
)

// TestCompressedSequences has sequences of compressed lines whose cycles are worked out by hand, on the system of small with transfers of whole
// lines. A load of a line starts in cycle 1, is at the channel in 7, which opens the row, and reads in 19. The first burst is there in 32, the
// fourth in 35. The reply of 8 bytes and a line takes five cycles at its port and two on the way, and that of 8 bytes and a burst two and two.
func TestCompressedSequences(t *testing.T) {
	const all = 0b1111
	line := send{sectors: all}
	whole := send{sectors: all, kind: store, whole: all, bytes: 128}
	part := send{kind: store, whole: 1, bytes: 32, ack: true}
	at := func(s send, cycle int64, line uint64) send { s.at, s.line = cycle, line; return s }
	form := func(s send, bursts int) send { s.bursts = bursts; return s }
	one := func(uint64) int { return 1 }
	counts := func(n *Counts) string {
		return fmt.Sprint(n.Bursts, n.Memory.ReadBursts, n.Memory.WriteBursts, n.MetadataLookups, n.MetadataMisses, n.MetadataWrites, n.Returned)
	}
	for _, c := range []struct {
		name   string
		with   *Compression
		ways   int // of the L2, of 4 lines
		sends  []send
		want   string
		expect string
	}{
		{"a raw line", &Compression{Bursts: func(uint64) int { return 4 }, L2: true, Decompress: 9}, 4, []send{line}, "0@42", "4 4 0 0 0 0 0"},
		{"one burst, without latency", &Compression{Bursts: one, L2: true}, 4, []send{line}, "0@36", "1 1 0 0 0 0 0"},
		// The request has a sector. A raw line replies with it: 35 + 2 + 2, as the L2 reads a whole line. A form of two bursts has all: 33 + 3 + 2.
		{"a sector of a raw line", &Compression{Bursts: func(uint64) int { return 4 }, L2: true}, 4, []send{{}}, "0@39", "4 4 0 0 0 0 0"},
		{"a sector of a form", &Compression{Bursts: func(uint64) int { return 2 }, L2: true}, 4, []send{{}}, "0@38", "2 2 0 0 0 0 0"},
		{"two bursts", &Compression{Bursts: func(uint64) int { return 2 }, L2: true}, 4, []send{line}, "0@38", "2 2 0 0 0 0 0"},
		{"decompressed next to the multiprocessor", &Compression{Bursts: one, L2: true, Decompress: 3}, 4, []send{line}, "0@39", "1 1 0 0 0 0 0"},
		{"decompressed in the controller: the reply has a line", &Compression{Bursts: one, Decompress: 3}, 4, []send{line}, "0@42", "1 1 0 0 0 0 0"},
		// At the slice in 44, out of the L2 in 49, decompressed in 52, and four cycles on the way.
		{"a hit is decompressed, too", &Compression{Bursts: one, L2: true, Decompress: 3}, 4, []send{line, at(line, 40, 0)}, "0@39 1@56", "1 1 0 0 0 0 0"},
		// The metadata are in bank 0, read in 19, there in 32. The row of the line is opened in 47 (RC) and read in 59; 59 + 12 + 1 + 4 = 76.
		{"a miss of metadata comes first", &Compression{Bursts: one, L2: true, Metadata: cache.Shape{Sets: 1, Ways: 1}, MetadataLine: 128}, 4, []send{line}, "0@76", "2 2 0 1 1 0 0"},
		// The next line has its metadata: at the channel in 107, bank 1 opened in 107, read in 119, there in 132.
		{"a hit of metadata", &Compression{Bursts: one, L2: true, Metadata: cache.Shape{Sets: 1, Ways: 1}, MetadataLine: 128}, 4, []send{line, at(line, 100, 1)}, "0@76 1@136", "3 3 0 2 1 0 0"},
		// The store of line 0 changes its metadata. Those of line 128 replace them: they are read, and the changed line of metadata is written.
		{"changed metadata are written", &Compression{Bursts: one, L2: true, Kept: true, Metadata: cache.Shape{Sets: 1, Ways: 1}, MetadataLine: 128}, 0, []send{form(whole, 2), at(form(whole, 1), 500, 128)}, "", "6 2 4 2 2 1 0"},
		{"a first store with the bursts of the bytes before it changes none", &Compression{Bursts: one, L2: true, Metadata: cache.Shape{Sets: 1, Ways: 1}, MetadataLine: 128}, 0, []send{form(whole, 1), at(whole, 500, 128)}, "", "4 2 2 2 2 0 0"},
		// 40 bytes take two cycles: at the slice in 5, at the channel in 8, read in 20, there in 33, and four cycles with the form.
		{"a store of a part of a compressed line is returned", &Compression{Bursts: one, L2: true, Kept: true}, 4, []send{part}, "0@37", "1 1 0 0 0 0 1"},
		// A form of two bursts overwrites the line; then the load hits, at the slice in 204, out of the L2 in 209, and 3 + 2 with 72 bytes.
		{"a line keeps the form of a store", &Compression{Bursts: one, L2: true, Kept: true}, 4, []send{form(whole, 2), at(line, 200, 0)}, "1@214", "0 0 0 0 0 0 0"},
		// A store without a form leaves the line raw: the store of a part is at the slice in 105, out of the L2 in 110, and 1 + 2 with 8 bytes.
		{"a raw store stays raw", &Compression{Bursts: one, L2: true, Kept: true}, 4, []send{whole, at(part, 100, 0)}, "1@113", "0 0 0 0 0 0 0"},
		{"a raw line is written back raw", &Compression{Bursts: one, L2: true, Kept: true}, 0, []send{whole}, "", "4 0 4 0 0 0 0"},
		{"a form is written back", &Compression{Bursts: one, L2: true, Kept: true}, 0, []send{form(whole, 3)}, "", "3 0 3 0 0 0 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := small()
			config.WholeLines, config.Compression = true, c.with
			config.L2.Ways = c.ways
			s, got := play(t, config, c.sends)
			n := s.Total()
			if text := counts(&n); got != c.want || text != c.expect {
				t.Errorf("replies %q, want %q; counts %s, want %s", got, c.want, text, c.expect)
			}
		})
	}
}

// TestCompressedLevels has the counts of an L2 that holds compressed lines, by hand: sectors read, hits, bursts written, returned stores, and bytes
// of replies, which have 8 bytes in addition to their data. The accesses are 300 cycles apart. A line has the bursts of its number.
func TestCompressedLevels(t *testing.T) {
	const all = 0b1111
	list := func(sends ...send) []send {
		for i := range sends {
			sends[i].at = int64(300 * i)
		}
		return sends
	}
	read := func(line uint64) send { return send{line: line, sectors: all} }
	write := func(line uint64, bursts int) send {
		return send{line: line, sectors: all, whole: all, kind: store, bytes: 128, bursts: bursts}
	}
	part := func(line uint64) send { return send{line: line, kind: store, whole: 1, bytes: 32, ack: true} }
	for _, c := range []struct {
		name         string
		tags         int
		uncompressed bool
		ways         int
		sends        []send
		want         string
	}{
		{"a line in each place", 0, false, 1, list(read(1), read(11), read(1)), "12 0 0 0 120"},
		{"four lines of a burst in the place of one", 4, false, 1, list(read(1), read(11), read(21), read(31), read(1), read(11)), "16 8 0 0 240"},
		{"no more lines than tags", 2, false, 1, list(read(1), read(11), read(21), read(1)), "16 0 0 0 160"},
		{"no more lines than bytes", 4, false, 1, list(read(2), read(12), read(2), read(21), read(2), read(12)), "16 8 0 0 400"},
		{"a written line leaves for the bytes of another", 4, false, 1, list(write(1, 1), read(2), read(12)), "8 0 1 0 144"},
		{"a raw store takes a whole place", 4, false, 1, list(read(1), read(11), write(11, 0), read(1)), "12 4 4 0 120"},
		{"a line is sent whole after its first reply", 0, true, 4, list(read(1), read(1)), "4 4 0 0 176"},
		{"without it each reply has the form", 0, false, 4, list(read(1), read(1)), "4 4 0 0 80"},
		{"a form that is stored is sent in its form once", 0, true, 4, list(write(1, 1), read(1), read(1)), "0 8 0 0 176"},
		{"a store of a part of a whole line is not returned", 0, true, 1, list(read(1), part(1), read(2)), "8 1 4 0 120"},
		{"a store of a part of a form is returned", 0, false, 1, list(read(1), part(1), read(2)), "8 1 0 1 152"},
	} {
		config := small()
		config.WholeLines, config.L2.Ways = true, c.ways
		config.Compression = &Compression{Bursts: func(line uint64) int { return int(line % 10) }, Write: func(uint64, any) {}, L2: true, Kept: true, Tags: c.tags, Uncompressed: c.uncompressed}
		s, _ := play(t, config, c.sends)
		n := s.Total()
		if text := fmt.Sprint(n.Reads, n.Hits, n.Memory.WriteBursts, n.Returned, n.ReplyBytes); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
	config := small()
	config.WholeLines, config.Policy, config.Compression = true, cache.SRRIP, &Compression{L2: true, Tags: 2}
	if err := config.Check(); err == nil {
		t.Error("an L2 with further tags has a policy that does not order its lines")
	}
}
