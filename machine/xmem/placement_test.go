package xmem

import (
	"testing"

	"gemu/machine/dram"
)

// specOf returns a memory of two channels of eight banks with XMem's placement of atoms.
func specOf(atoms []Atom) dram.Spec {
	s := dram.Default
	s.Channels, s.Banks, s.Map = 2, 8, "scheme4"
	s.Policy = &dram.Policy{Name: "xmem", New: func(s *dram.Spec, m *dram.Map) dram.Placement {
		plain := *s
		plain.Policy = nil
		return NewPlacement(atoms, m, s.PageBytes, dram.NewPages(plain))
	}}
	return s
}

// TestPlacement: of 8 banks the atom with half of the accesses has 4, that with a quarter has 2, and one without accesses has 1, by hand.
// The last bank has irregular and unknown data. Pages of an atom go to the channels, then to its banks.
func TestPlacement(t *testing.T) {
	atoms := []Atom{{0, 1 << 20, true, 200}, {1 << 20, 1 << 20, false, 199}, {2 << 20, 1 << 20, true, 400}, {3 << 20, 1 << 20, true, 1}}
	p := dram.NewPages(specOf(atoms))
	p.Structure = func(addr uint64) dram.Structure { return dram.Structure{Base: addr >> 20 << 20, Bytes: 1 << 20} }
	for _, c := range []struct {
		base        uint64
		bank, banks int
	}{{2 << 20, 0, 4}, {0, 4, 2}, {3 << 20, 6, 1}, {1 << 20, 7, 1}, {4 << 20, 7, 1}} {
		channels := [2]int{}
		for page := range 64 {
			place := p.Place(c.base + uint64(page)<<12)
			channels[place.Channel]++
			want := c.bank + page/2%c.banks
			if place.Bank != want || c.bank < 7 && place.Channel != page%2 {
				t.Errorf("page %d of %#x: channel %d, bank %d, want bank %d", page, c.base, place.Channel, place.Bank, want)
			}
		}
		if channels[0] < 16 || channels[1] < 16 {
			t.Errorf("%#x: pages of channels %v", c.base, channels)
		}
	}
	if err := p.Err(); err != nil {
		t.Error(err)
	}
}

// TestLastBank: an atom with all accesses leaves a bank for other data.
func TestLastBank(t *testing.T) {
	p := dram.NewPages(specOf([]Atom{{0, 1 << 20, true, 10}, {1 << 20, 1 << 20, true, 0}}))
	p.Structure = func(addr uint64) dram.Structure { return dram.Structure{Base: addr >> 20 << 20, Bytes: 1 << 20} }
	for page := range uint64(32) {
		if place := p.Place(page << 12); place.Bank != int(page/2%7) {
			t.Errorf("page %d: bank %d", page, place.Bank)
		}
		if place := p.Place(1<<20 + page<<12); place.Bank != 7 {
			t.Errorf("page %d of other data: bank %d", page, place.Bank)
		}
	}
}

// TestKeepsPages: scheme4 keeps pages in a bank; other named maps do not, or have another order of channels and banks.
func TestKeepsPages(t *testing.T) {
	for _, scheme := range dram.Schemes {
		s := dram.Default
		s.Map = scheme.Name
		m, err := s.AddressMap()
		if err != nil || KeepsPages(m, 4096) != (scheme.Name == "scheme4") {
			t.Errorf("%s: %v, %v", scheme.Name, KeepsPages(m, 4096), err)
		}
	}
}
