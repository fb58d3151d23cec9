package xmem

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gemu/machine/dram"
)

// Atom is what XMem knows of a buffer, for the placement of its pages.
type Atom struct {
	Base, Bytes uint64 // addresses
	Regular     bool   // the pattern of its accesses is regular, so that it has row hits if nothing else is in its banks
	Accesses    int64  // intensity
}

// Placement places the pages of atoms in banks (section 2.6 of the thesis). Each regular atom has banks of its own, the same in each
// channel, by its share of all accesses. Its pages go to the channels in turn, and then to its banks in turn. Other data are in random
// channels and in random banks of those that remain. It needs an address map that keeps a page in a bank (dram.Map): the
// digits from a page on are those of the row, then of the bank, then of the channel, as in scheme4.
type Placement struct {
	dram.Placement // zones and the address map
	m              *dram.Map
	pageBytes      uint64
	atoms          []placed
	first          int // first bank of other data
	random         *rand.Rand
	used           []uint64 // pages by channel and bank
}

// placed is an atom with its banks.
type placed struct {
	Atom
	bank, banks int
	next        int // number of its pages so far
}

// NewPlacement returns the placement of atoms in an empty memory whose pages have some bytes. base has the zones and the address map.
func NewPlacement(atoms []Atom, m *dram.Map, pageBytes int, base dram.Placement) *Placement {
	p := &Placement{Placement: base, m: m, pageBytes: uint64(pageBytes), random: rand.New(rand.NewPCG(1, 0)), used: make([]uint64, m.Channels*m.Banks)}
	regular := slices.DeleteFunc(slices.Clone(atoms), func(a Atom) bool { return !a.Regular })
	slices.SortStableFunc(regular, func(a, b Atom) int { return cmp.Compare(b.Accesses, a.Accesses) })
	all := int64(0)
	for i := range atoms {
		all += atoms[i].Accesses
	}
	for _, a := range regular {
		left := m.Banks - p.first
		if left == 1 { // a bank for other data
			break
		}
		n := min(max(1, int(a.Accesses*int64(m.Banks)/max(all, 1))), left-1)
		p.atoms = append(p.atoms, placed{Atom: a, bank: p.first, banks: n})
		p.first += n
	}
	return p
}

// Frame implements dram.Placement.
func (p *Placement) Frame(_ uint64, of *dram.Structure) uint64 {
	for i := range p.atoms {
		a := &p.atoms[i]
		if a.Base != of.Base || a.Bytes != of.Bytes {
			continue
		}
		n := a.next
		a.next++
		return p.frame(n%p.m.Channels, a.bank+n/p.m.Channels%a.banks)
	}
	return p.frame(p.random.IntN(p.m.Channels), p.first+p.random.IntN(p.m.Banks-p.first))
}

// frame returns the next frame of a bank.
func (p *Placement) frame(channel, bank int) uint64 {
	at := channel*p.m.Banks + bank
	n := p.used[at]
	p.used[at]++
	perBank := p.m.Bytes / uint64(len(p.used)) / p.pageBytes
	return uint64(at)*perBank + n
}

// KeepsPages reports whether a map keeps each page of some bytes in a bank, in whole rows and in the order that Placement needs.
func KeepsPages(m *dram.Map, pageBytes int) bool {
	if bits.OnesCount(uint(pageBytes)) != 1 || m.Bytes%uint64(m.Channels*m.Banks*pageBytes) != 0 {
		return false
	}
	if m.Place(0).Row != m.Place(m.RowBytes-1).Row {
		return false
	}
	perBank := m.Bytes / uint64(m.Channels*m.Banks)
	for at := range m.Channels * m.Banks {
		for _, addr := range []uint64{0, uint64(pageBytes) - 1, perBank / 2, perBank - 1} {
			if place := m.Place(uint64(at)*perBank + addr); place.Channel != at/m.Banks || place.Bank != at%m.Banks {
				return false
			}
		}
	}
	return true
}
