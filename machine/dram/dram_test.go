package dram

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// gtx480 is the address map of GPGPU-Sim's configuration of a GTX 480.
const gtx480 = "dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS"

// TestParseMap has places by hand.
func TestParseMap(t *testing.T) {
	for _, c := range []struct {
		text     string
		channels int
		addr     uint64
		want     Place
	}{
		// 0x12345678 >> 8 = 1193046 = 6·198841 + 0, and 198841 = 0x308b9, so the letters map 0x308b978. Its last bits are
		// 101 1100 1 01 111000: bank 101 and 1, column 1100, 01 and 111000.
		{gtx480, 6, 0x12345678, Place{0, 0b1011, 0x308, 0b110001111000}},
		{gtx480, 6, 0x100, Place{Channel: 1}},
		{gtx480, 6, 0x5ff, Place{Channel: 5, Column: 0xff}},
		{gtx480, 6, 0x600, Place{Bank: 1}}, // the quotient 1 sets bit 8
		{gtx480, 4, 0x400, Place{Bank: 1}},
		// Bit 28 of the quotient is above the letters: 0x10000000·6 + 0.
		{gtx480, 6, 0x60000000, Place{Row: 0x1000}},
		{strings.Repeat("0", 52) + "RRDBBCCSSSSS", 9, 0b101110110101, Place{1, 0b11, 0b10, 0b0110101}},
	} {
		m, err := ParseMap(c.text, c.channels)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Place(c.addr); got != c.want {
			t.Errorf("%#x: %+v, want %+v", c.addr, got, c.want)
		}
	}
	m, _ := ParseMap(gtx480, 6)
	if m.Channels != 6 || m.Banks != 16 || m.RowBytes != 4096 || m.Bytes != 6<<28 {
		t.Errorf("%+v", m)
	}
}

// TestParseMapErrors has maps that cannot be read.
func TestParseMapErrors(t *testing.T) {
	rest := strings.Repeat("0", 59)
	for _, c := range []struct{ text, want string }{
		{"RBCS", "4 letters"},
		{rest + "SSSSSS", "65 letters"},
		{rest + "SSSXS", "character 63 is 'X'"},
		{rest + "RSSSS", "bit 4 is 'R'"},
		{"dramid@8;" + rest[1:] + "DSSSSS", "character 68: D with dramid@"},
		{"dramid@3;" + rest + "SSSSS", `"dramid@3": want dramid@N`},
		{"id@8;" + rest + "SSSSS", `"id@8"`},
		{"dramid@9;" + rest + "SSSSS", "dramid@9 is above all 5 bits"},
		{rest[9:] + "DDDDDDDDDSSSSS", "512 channels"},
		{rest[11:] + "BBBBBBBBBBBSSSSS", "2048 banks"},
	} {
		if _, err := ParseMap(c.text, 6); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
}

// letters returns the letters of the map with fields of the given names and widths, from the highest on, on lines of 128 bytes.
func letters(order string, width map[string]int) string {
	text := ""
	for _, name := range strings.Fields(order) {
		text += strings.Repeat(map[string]string{"channel": "D", "rank": "B", "bank": "B", "row": "R", "column": "C", "four": "C", "rest": "C"}[name], width[name])
	}
	text += "SSSSSSS"
	return strings.Repeat("0", 64-len(text)) + text
}

// TestSchemes compares the maps with names with letters that this test makes from the order of the sources.
func TestSchemes(t *testing.T) {
	width := map[string]int{"channel": 3, "rank": 1, "bank": 3, "row": 14, "column": 4, "four": 2, "rest": 2}
	for i, order := range []string{
		"channel rank row column bank", "channel row column bank rank", "channel rank bank column row", "channel rank bank row column",
		"channel row column rank bank", "channel row bank rank column", "row column rank bank channel", "row rest rank bank channel four",
		"row rank bank channel column",
	} {
		s := Default
		s.Map = Schemes[i].Name
		got, err := s.AddressMap()
		if err != nil {
			t.Fatal(err)
		}
		want, err := ParseMap(letters(order, width), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got.Bytes != 4<<30 || got.Channels != 8 || got.Banks != 16 || got.RowBytes != 2048 {
			t.Errorf("%s: %+v", s.Map, got)
		}
		r := rand.New(rand.NewPCG(1, 0))
		for range 1000 {
			addr := r.Uint64N(1 << 36)
			p := want.Place(addr)
			if i >= 7 {
				p.Bank ^= int(p.Row & 15)
			}
			if got.Place(addr) != p {
				t.Fatalf("%s: address %#x: %+v, want %+v", s.Map, addr, got.Place(addr), p)
			}
		}
	}
}

// TestPlacesAreDistinct: a map gives each address of the memory a place of its own, also with six channels.
func TestPlacesAreDistinct(t *testing.T) {
	for _, scheme := range Schemes {
		for _, channels := range []int{1, 4, 6} {
			s := Spec{Channels: channels, Banks: 4, RowBytes: 1024, Rows: 8, Map: scheme.Name, Pages: "identity", PageBytes: 4096}
			m, err := s.AddressMap()
			if err != nil {
				t.Fatal(err)
			}
			seen := map[Place]bool{}
			for addr := uint64(0); addr < m.Bytes; addr += BurstBytes {
				p := m.Place(addr)
				if seen[p] || p.Channel >= channels || p.Bank >= 4 || p.Row >= 8 || p.Column >= 1024 {
					t.Fatalf("%s, %d channels: %#x has place %+v", scheme.Name, channels, addr, p)
				}
				seen[p] = true
			}
			if m.Bytes != uint64(channels)*4*8*1024 {
				t.Errorf("%s, %d channels: %d bytes", scheme.Name, channels, m.Bytes)
			}
		}
	}
}

// TestHandWorked has sequences of reads, as "channel bank row" of each, with the outcome of each by hand: o opens a row, h hits, c conflicts.
func TestHandWorked(t *testing.T) {
	// Two channels of two banks: addresses have row, bank, channel and a column of 32 bytes.
	text := strings.Repeat("0", 49) + "RRRRRRRRBDSSSSS"
	for _, c := range []struct{ name, list, want string }{
		{"a bank has no open row at first", "000", "o"},
		{"the same row hits", "000 000 000", "ohh"},
		{"another row conflicts", "000 001", "oc"},
		{"a conflict closes the row before", "000 001 000", "occ"},
		{"the row after a conflict is open", "000 001 001", "och"},
		{"banks have rows of their own", "000 010 000 010", "oohh"},
		{"channels have rows of their own", "000 100 000 100", "oohh"},
		{"bank 0 of both channels and bank 1 of both", "000 110 001 111 000 110", "oocccc"},
		{"two streams in a bank conflict each time", "000 001 000 001 000 001", "occccc"},
		{"two streams in two banks never do", "000 011 000 011 000 011", "oohhhh"},
		{"two accesses to each row in turn", "000 000 001 001 000 000", "ohchch"},
	} {
		m := New(Spec{Channels: 1, Banks: 1, RowBytes: 128, Rows: 1, Map: text, Pages: "identity", PageBytes: 128})
		got := ""
		for _, a := range strings.Fields(c.list) {
			before := m.Total()
			addr := uint64(a[0]-'0')<<5 | uint64(a[1]-'0')<<6 | uint64(a[2]-'0')<<7
			m.Access(addr, false, 0)
			switch after := m.Total(); {
			case after.Hits > before.Hits:
				got += "h"
			case after.Opens > before.Opens:
				got += "o"
			case after.Conflicts > before.Conflicts:
				got += "c"
			}
		}
		if err := m.Verify(); got != c.want || err != nil {
			t.Errorf("%s: %s, %v; want %s", c.name, got, err, c.want)
		}
	}
}

// TestPairs: conflicts belong to the buffers of the access and of the access before it, and the balance of channels.
func TestPairs(t *testing.T) {
	text := strings.Repeat("0", 49) + "RRRRRRRRBDSSSSS"
	m := New(Spec{Channels: 1, Banks: 1, RowBytes: 128, Rows: 1, Map: text, Pages: "identity", PageBytes: 128})
	m.Access(0, false, 7)    // opens
	m.Access(1<<7, true, 8)  // conflict of 8 with 7
	m.Access(1<<7, false, 7) // hit
	m.Access(2<<7, false, 8) // conflict of 8 with 7
	m.Access(3<<7, false, 8) // conflict of 8 with 8
	m.Access(1<<5, false, 7) // opens, on channel 1
	want := map[[2]int]int64{{8, 7}: 2, {8, 8}: 1}
	if !reflect.DeepEqual(m.Pairs, want) || *m.Buffers[7] != (Counts{Reads: 3, Hits: 1, Opens: 2}) || *m.Buffers[8] != (Counts{Reads: 2, Writes: 1, Conflicts: 3}) {
		t.Errorf("%v, %+v, %+v", m.Pairs, m.Buffers[7], m.Buffers[8])
	}
	if got := m.Balance(); got != 5.0/3 { // five of six bursts on one of two channels
		t.Errorf("balance %v", got)
	}
}

// TestPages: pages have frames of their own, and first-touch gives the frames 0, 1, 2 in the order of first accesses.
func TestPages(t *testing.T) {
	s := Default
	s.Pages = "first-touch"
	p := NewPages(s)
	for i, c := range []struct{ addr, want uint64 }{{0x10005123, 0x123}, {0x20000000, 0x1000}, {0x10005000, 0}, {0x7fff, 0x2fff}} {
		if got := p.Physical(c.addr); got != c.want {
			t.Errorf("access %d: %#x, want %#x", i, got, c.want)
		}
	}
	frames := map[string][]uint64{}
	for _, pages := range []string{"random:1", "random:1 ", "random:2"} {
		s.Pages = strings.TrimSpace(pages)
		s.Channels, s.Banks, s.Rows = 1, 2, 64 // 64 pages
		p := NewPages(s)
		seen := map[uint64]bool{}
		for page := range uint64(64) { // all frames
			at := p.Physical(page<<12|5) >> 12
			if seen[at] || at >= 64 || p.Err() != nil {
				t.Fatalf("%s: page %d has frame %d", pages, page, at)
			}
			seen[at] = true
			frames[pages] = append(frames[pages], at)
		}
		if p.Physical(64 << 12); p.Err() == nil {
			t.Errorf("%s: 65 pages in 64 frames", pages)
		}
	}
	if !reflect.DeepEqual(frames["random:1"], frames["random:1 "]) || reflect.DeepEqual(frames["random:1"], frames["random:2"]) {
		t.Errorf("%v", frames)
	}
}

// twoPages gives the same frame to all pages, or frames beyond the memory, and keeps the structures of the pages.
type twoPages struct {
	*standard
	add  uint64
	seen []Structure
}

func (p *twoPages) Frame(page uint64, of *Structure) uint64 {
	p.seen = append(p.seen, *of)
	return p.add * page
}

// TestPolicy: a policy of another module sees the buffer of each page once, and a wrong one is an error.
func TestPolicy(t *testing.T) {
	var made *twoPages
	s := Default
	s.Zones = 2
	s.Policy = &Policy{Name: "two", New: func(s *Spec, m *Map) Placement {
		made.standard, _ = newStandard(s, m)
		return made
	}}
	for _, c := range []struct {
		add  uint64
		fail bool
	}{{1, false}, {0, true}, {1 << 20, true}} {
		made = &twoPages{add: c.add}
		p := NewPages(s)
		p.Structure = func(addr uint64) Structure { return Structure{Base: addr} }
		for _, addr := range []uint64{0x1004, 0x1008, 0x2010, 0x1000} {
			p.Place(addr)
		}
		if len(made.seen) != 2 || made.seen[1].Base != 0x2010 || (p.Err() != nil) != c.fail {
			t.Errorf("%d: structures %v, %v", c.add, made.seen, p.Err())
		}
	}
}

// TestZones: a zone has an equal part of the channels, and lines are spread over zones and channels.
func TestZones(t *testing.T) {
	s := Default
	s.Zones = 4
	p := NewPages(s)
	channels := map[int]int{}
	for line := range uint64(1024) {
		place := p.Place(line * lineBytes)
		if zone := p.Zone(line * lineBytes); place.Channel/2 != zone {
			t.Fatalf("line %d: zone %d, channel %d", line, zone, place.Channel)
		}
		channels[place.Channel]++
	}
	for c := range s.Channels {
		if channels[c] != 128 {
			t.Errorf("channels %v", channels)
			break
		}
	}
}

// TestKeepsLines: a line of 128 bytes is in one row with the named maps, and not if a letter below bit 7 is no column.
func TestKeepsLines(t *testing.T) {
	for _, c := range []struct {
		letters string
		want    bool
	}{
		{strings.Repeat("0", 32) + "RRRRRRRRRRRRRRRRBBBBCCCCCCCSSSSS", true},
		{strings.Repeat("0", 32) + "RRRRRRRRRRRRRRRRCCCCBBBBCCCSSSSS", true},
		{strings.Repeat("0", 32) + "RRRRRRRRRRRRRRRRCCCCCCBBBBCSSSSS", false},
	} {
		m, err := ParseMap(c.letters, 2)
		if err != nil || m.KeepsLines() != c.want {
			t.Errorf("%s: %v, %v", c.letters, m.KeepsLines(), err)
		}
	}
	for _, scheme := range Schemes {
		if m, err := named(scheme.Name, &Default); err != nil || !m.KeepsLines() {
			t.Errorf("%s: %v", scheme.Name, err)
		}
	}
}

// naive counts accesses with a list of the rows of each bank, after all accesses.
type naive map[string][]uint64

func (n naive) counts() (c Counts) {
	for _, rows := range n {
		for i, row := range rows {
			switch {
			case i == 0:
				c.Opens++
			case row == rows[i-1]:
				c.Hits++
			default:
				c.Conflicts++
			}
		}
	}
	return c
}

// TestAgainstNaive compares random accesses with the second counter, for each map.
func TestAgainstNaive(t *testing.T) {
	for _, scheme := range Schemes {
		s := Default
		s.Map, s.Channels, s.Pages, s.PageBytes = scheme.Name, 6, "random:5", 64<<10
		m, n, pages := New(s), naive{}, map[uint64]uint64{}
		r := rand.New(rand.NewPCG(2, 3))
		frames := rand.New(rand.NewPCG(5, 0))
		list := make([]uint64, m.Map.Bytes>>16) // frames, shuffled as far as pages have one
		for i := range list {
			list[i] = uint64(i)
		}
		total := Counts{}
		for range 20000 {
			addr, write := r.Uint64N(1<<22)&^31, r.IntN(4) == 0
			if r.IntN(3) > 0 { // mostly near
				addr = addr & (1<<14 - 1)
			}
			frame, ok := pages[addr>>16]
			if !ok {
				i := uint64(len(pages))
				k := i + frames.Uint64N(uint64(len(list))-i)
				list[i], list[k] = list[k], list[i]
				frame = list[i]
				pages[addr>>16] = frame
			}
			p := m.Map.Place(frame<<16 | addr&(1<<16-1))
			bank := fmt.Sprint(p.Channel, p.Bank)
			n[bank] = append(n[bank], p.Row)
			if m.Access(addr, write, int(addr>>18)); write {
				total.Writes++
			} else {
				total.Reads++
			}
		}
		want := n.counts()
		want.Reads, want.Writes = total.Reads, total.Writes
		if got := m.Total(); got != want {
			t.Errorf("%s: %+v, want %+v", scheme.Name, got, want)
		}
		if err := m.Verify(); err != nil || want.Hits == 0 || want.Conflicts == 0 {
			t.Errorf("%s: %v, %+v", scheme.Name, err, want)
		}
	}
}

// TestSetErrors has memories that cannot be built.
func TestSetErrors(t *testing.T) {
	for _, c := range []struct{ name, value string }{
		{"channels", "0"}, {"channels", "257"}, {"channels", "x"}, {"banks", "3"}, {"banks", "2K"}, {"row", "64"}, {"row", "3000"}, {"rows", "0"}, {"map", "scheme8"},
		{"map", strings.Repeat("0", 64)}, {"pages", "best"}, {"pages", "random"}, {"pages", "random:x"}, {"page", "3K"}, {"page", "64"}, {"speed", "1"},
	} {
		s := Default
		if err := s.Set(c.name, c.value); err == nil && s.Check() == nil {
			t.Errorf("%s=%s has no error", c.name, c.value)
		}
	}
	if err := Default.Check(); err != nil {
		t.Error(err)
	}
}
