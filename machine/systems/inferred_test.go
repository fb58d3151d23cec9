package systems

import (
	"strings"
	"testing"

	"gemu/machine/codec"
	"gemu/machine/dram"
	"gemu/machine/stream"
)

// TestInferredPlacement: for all sets of zones, banks and channel, no two lines of five buffers and of local memory have the same place, and the lines of a page are in the
// zone and the bank that docs/descriptors.md gives it.
func TestInferredPlacement(t *testing.T) {
	buffers := []*described{ // of 16 banks: 8 for a half of the accesses, 4 for a quarter, none for irregular data; in the second launch 1 of the remaining 4 for a quarter
		{buffer: stream.Buffer{Base: 1 << 20, Bytes: 256 << 10}, launch: 1, accesses: 400, regular: true},
		{buffer: stream.Buffer{Base: 2 << 20, Bytes: 64 << 10}, launch: 1, accesses: 200, regular: true},
		{buffer: stream.Buffer{Base: 3 << 20, Bytes: 64 << 10}, launch: 1, accesses: 200},
		{buffer: stream.Buffer{Base: 4 << 20, Bytes: 64 << 10}, launch: 2, accesses: 9, regular: true},
		{buffer: stream.Buffer{Base: 5 << 20, Bytes: 64 << 10}, launch: 2, accesses: 27},
	}
	wantBanks := [][2]int{{0, 8}, {8, 4}, {13, 3}, {12, 1}, {13, 3}}
	for _, value := range []string{"zones", "banks", "zones-banks", "banks-channel", "zones-banks-channel"} {
		s, err := Find("inferred="+value, nil)
		if err != nil {
			t.Fatal(err)
		}
		spec := dram.Default
		spec.Zones, spec.Policy = 4, s[0].New().Pages
		var parts *inferredParts
		policy := *spec.Policy
		policy.New = func(of *dram.Spec, m *dram.Map) dram.Placement {
			p := spec.Policy.New(of, m).(*inferredPlacement)
			parts = p.p
			return p
		}
		with := spec
		with.Policy = &policy
		pages := dram.NewPages(with)
		parts.buffers = buffers
		for _, d := range buffers {
			parts.known[d.buffer] = d
		}
		pages.Structure = func(addr uint64) (of dram.Structure) {
			for _, d := range buffers {
				if addr-d.buffer.Base < d.buffer.Bytes {
					return dram.Structure{Base: d.buffer.Base, Bytes: d.buffer.Bytes}
				}
			}
			return of
		}
		seen := map[dram.Place]uint64{}
		hasZones, hasBanks, single := strings.Contains(value, "zones"), strings.Contains(value, "banks"), strings.Contains(value, "channel")
		check := func(base uint64, n int, bank [2]int) {
			for page := range n {
				zones, banks, channels := map[int]int{}, map[int]int{}, map[int]int{}
				for line := range 32 {
					addr := base + uint64(page)<<12 + uint64(line)*128
					place := pages.Place(addr)
					if other, ok := seen[place]; ok {
						t.Fatalf("%s: lines %#x and %#x are both in %+v", value, other, addr, place)
					}
					seen[place] = addr
					zones[place.Channel/2]++
					banks[place.Bank]++
					channels[place.Channel]++
				}
				want := 8
				switch {
				case single:
					want = 1
				case hasZones:
					want = 2
				}
				if len(channels) != want || hasBanks && len(banks) != 1 {
					t.Errorf("%s: page %d of %#x has channels %v and banks %v", value, page, base, channels, banks)
				}
				if value == "banks-channel" && bank[0] < 13 && channels[page%8] == 0 {
					t.Errorf("%s: page %d of %#x is in channels %v, want %d", value, page, base, channels, page%8)
				}
				if zone := int(base>>12+uint64(page)) % 4; hasZones && zones[zone] != 32 { // b is 12 for all
					t.Errorf("%s: page %d of %#x is in zones %v, want %d", value, page, base, zones, zone)
				}
				for b := range banks {
					if hasBanks && (b < bank[0] || b >= bank[0]+bank[1]) {
						t.Errorf("%s: page %d of %#x is in bank %d, want one from %d on of %d", value, page, base, b, bank[0], bank[1])
					}
				}
			}
		}
		for i, d := range buffers {
			check(d.buffer.Base, int(d.buffer.Bytes>>12), wantBanks[i])
		}
		check(1<<50, 40, wantBanks[2])
		if err := pages.Err(); err != nil {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// TestInferredValues has values of inferred=VALUE, and the parts that they replace.
func TestInferredValues(t *testing.T) {
	for value, want := range map[string]string{
		"inferred": "dispatcher pages codec", "inferred=order": "dispatcher", "inferred=zones": "pages", "inferred=banks-channel": "pages", "inferred=codec": "codec", "inferred=codec-order": "dispatcher codec",
	} {
		s, err := Find(value, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := s[0].New()
		var got []string
		for _, part := range []struct {
			name string
			has  bool
		}{{"dispatcher", p.Dispatcher != nil}, {"pages", p.Pages != nil}, {"codec", p.Codec != nil && p.Compressed != nil}} {
			if part.has {
				got = append(got, part.name)
			}
		}
		if strings.Join(got, " ") != want || p.Infer == nil || s[0].Name != value {
			t.Errorf("%s: %s has %v, want %s", value, s[0].Name, got, want)
		}
	}
	for _, value := range []string{"inferred=", "inferred=channel", "inferred=order-", "inferred=order+inferred=codec-order", "inferred=codec+caba=hw"} {
		if _, err := Find(value, nil); err == nil != (value == "inferred=") {
			t.Errorf("%s: %v", value, err)
		}
	}
	if _, err := Find("inferred=order+caba=hw", nil); err != nil { // different parts
		t.Error(err)
	}
}

// TestInferredForms: each buffer has its algorithm, the latest buffer at an address counts, and other lines are raw. A line of small numbers of 8 bytes has 41 bytes with BDI and more with FPC.
func TestInferredForms(t *testing.T) {
	p := &inferredParts{known: map[stream.Buffer]*described{}}
	for i, c := range []codec.Codec{codec.BDI, codec.Count, codec.FPC} {
		p.buffers = append(p.buffers, &described{buffer: stream.Buffer{Base: uint64(i+1) << 12, Bytes: 4096}, codec: c})
	}
	var line codec.Line
	for i := range 32 {
		line[4*i] = byte(i)
	}
	bdi, _ := codec.BDI.Size(&line)
	fpc, _ := codec.FPC.Size(&line)
	if bdi == fpc {
		t.Fatalf("%d bytes with both", bdi)
	}
	for number, want := range map[uint64]int{31: 128, 32: bdi, 63: bdi, 64: 128, 96: fpc, 127: fpc, 128: 128} {
		if got := p.form(number, &line); got != want {
			t.Errorf("line %d: %d bytes, want %d", number, got, want)
		}
	}
	p.buffers = append(p.buffers, &described{buffer: stream.Buffer{Base: 1 << 12, Bytes: 128}, codec: codec.FPC})
	p.last = nil // as at the beginning of a launch, which adds buffers
	if got := p.form(32, &line); got != fpc {
		t.Errorf("a new buffer at an address: %d bytes, want %d", got, fpc)
	}
}
