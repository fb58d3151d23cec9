package systems

import (
	"math/bits"
	"math/rand/v2"

	"gemu/machine/codec"
	"gemu/machine/dram"
	"gemu/machine/locality"
	"gemu/machine/stream"
)

// inferredPlacement places pages in zones and banks by the descriptors of their buffers. Frames have numbers in the order of the first accesses to their
// pages; the place of a frame is that of its number in a zone, a channel and a bank, as far as these are chosen.
type inferredPlacement struct {
	dram.Placement // zones of pages without a chosen zone
	p              *inferredParts
	m              *dram.Map // channels and banks of the whole memory
	zone           *dram.Map // those of a zone
	zones          int
	channels       int // of a zone
	pageBits       uint
	single         bool // a page is in one channel
	random         *rand.Rand

	frames  []frame
	slots   map[frame]uint64 // number of frames, by place: their own slot is 0
	placed  int              // number of the buffers in p.buffers that have been considered
	first   int              // first bank of other data
	banks   map[stream.Buffer]bankRange
	turns   map[turn]int // pages so far
	largest uint64       // frames of the memory
}

// frame is the place of a frame. A number of -1 is not chosen: a page is spread over all zones or channels, or the bank is that of the address map of a zone.
type frame struct {
	zone, channel, bank int
	slot                uint64 // number in this place
}

// bankRange is the banks of a buffer.
type bankRange struct{ first, n int }

// turn identifies the pages of a buffer in a zone.
type turn struct {
	buffer stream.Buffer
	zone   int
}

// placement returns the placement of pages in an empty memory.
func (p *inferredParts) placement(s *dram.Spec, m *dram.Map) dram.Placement {
	plain := *s
	plain.Policy = nil
	base := dram.NewPages(plain)
	p.n = max(s.Zones, 1)
	if p.uses.zones && p.n > 1 && bits.OnesCount(uint(p.n)) == 1 && p.pageZones == nil {
		p.pageZones = locality.NewPageZones(p.n, s.PageBytes)
	}
	if p.pageZones == nil && !p.uses.banks {
		return base
	}
	if plain.Map == m.Name { // a map of letters has its own number of channels
		plain.Channels = m.Channels / p.n
	}
	plain.Zones = 0
	zone, err := plain.AddressMap()
	if err != nil || zone.Channels*p.n != m.Channels {
		zone = m
	}
	p.place = &inferredPlacement{
		Placement: base, p: p, m: m, zone: zone, zones: p.n, channels: m.Channels / p.n, pageBits: uint(bits.TrailingZeros(uint(s.PageBytes))),
		single: p.uses.channel || m.Channels*codec.LineBytes > s.PageBytes || bits.OnesCount(uint(m.Channels)) != 1,
		random: rand.New(rand.NewPCG(1, 0)), slots: map[frame]uint64{}, banks: map[stream.Buffer]bankRange{}, turns: map[turn]int{}, largest: m.Bytes / uint64(s.PageBytes),
	}
	return p.place
}

// choose gives banks to the regular buffers that launches have accessed since the last call: by their shares of the accesses of their first launch, of the banks
// that no buffer has, all but one.
func (f *inferredPlacement) choose() {
	list := f.p.buffers
	for f.placed < len(list) {
		end, all := f.placed, int64(0)
		for ; end < len(list) && list[end].launch == list[f.placed].launch; end++ {
			all += list[end].accesses
		}
		free := f.m.Banks - f.first
		for _, d := range list[f.placed:end] {
			left := f.m.Banks - f.first
			if !d.regular || left <= 1 {
				continue
			}
			n := min(max(1, int(d.accesses*int64(free)/max(all, 1))), left-1)
			f.banks[d.buffer] = bankRange{f.first, n}
			f.first += n
		}
		f.placed = end
	}
}

// Frame implements dram.Placement.
func (f *inferredPlacement) Frame(page uint64, of *dram.Structure) uint64 {
	at := frame{-1, -1, -1, 0}
	b := stream.Buffer(*of)
	if f.p.pageZones != nil {
		if at.zone = int(page % uint64(f.zones)); of.Bytes > 0 {
			at.zone = f.p.pageZones.Of(page<<f.pageBits, b)
		}
	}
	if f.p.uses.banks {
		f.choose()
		f.bank(&at, b)
	}
	at.slot = f.slots[at]
	key := at
	key.slot = 0
	f.slots[key]++
	if at.slot >= f.limit(&at) {
		return f.largest // beyond the memory: an error of dram.Pages
	}
	f.frames = append(f.frames, at)
	return uint64(len(f.frames) - 1)
}

// bank chooses the bank of the next page of a buffer, and its channel if a page is in one channel.
func (f *inferredPlacement) bank(at *frame, b stream.Buffer) {
	channels := f.channels
	if at.zone < 0 {
		channels = f.m.Channels
	}
	channel := 0
	if of, ok := f.banks[b]; ok {
		n := f.turns[turn{b, at.zone}]
		f.turns[turn{b, at.zone}]++
		if f.single {
			channel, n = n%channels, n/channels
		}
		at.bank = of.first + n%of.n
	} else {
		if f.single {
			channel = f.random.IntN(channels)
		}
		at.bank = f.first + f.random.IntN(f.m.Banks-f.first)
	}
	if f.single {
		at.channel = channel % f.channels
		if at.zone < 0 {
			at.zone = channel / f.channels
		}
	}
}

// limit returns the number of frames in a place.
func (f *inferredPlacement) limit(at *frame) uint64 {
	perBank := f.m.Bytes / uint64(f.m.Channels*f.m.Banks) >> f.pageBits
	switch {
	case at.bank < 0:
		return f.zone.Bytes >> f.pageBits
	case at.channel >= 0:
		return perBank
	case at.zone >= 0:
		return perBank * uint64(f.channels)
	}
	return perBank * uint64(f.m.Channels)
}

// Zone implements dram.Placement.
func (f *inferredPlacement) Zone(addr uint64) int {
	if at := &f.frames[addr>>f.pageBits]; at.zone >= 0 {
		return at.zone
	}
	return f.Placement.Zone(addr)
}

// Map implements dram.Placement.
func (f *inferredPlacement) Map(addr uint64) dram.Place {
	at, offset := &f.frames[addr>>f.pageBits], addr&(1<<f.pageBits-1)
	if at.bank < 0 {
		return f.zone.Place(at.slot<<f.pageBits | offset)
	}
	if at.channel >= 0 {
		return f.inBank(at.channel, at.bank, at.slot<<f.pageBits|offset)
	}
	spread := uint64(f.m.Channels) // channels that have a part of the page
	if at.zone >= 0 {
		spread = uint64(f.channels)
	}
	line, part := offset/codec.LineBytes, 1<<f.pageBits/spread
	return f.inBank(int(line%spread)%f.channels, at.bank, at.slot*part+line/spread*codec.LineBytes+offset%codec.LineBytes)
}

// inBank returns the place of a byte of a bank.
func (f *inferredPlacement) inBank(channel, bank int, n uint64) dram.Place {
	return dram.Place{Channel: channel, Bank: bank, Row: n / f.m.RowBytes, Column: n % f.m.RowBytes}
}
