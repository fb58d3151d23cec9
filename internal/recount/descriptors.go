package recount

import (
	"maps"
	"slices"

	"gemu/probe"
	"gemu/ptx"
)

// This file infers descriptors of buffers from docs/descriptors.md: the codec of their lines, their banks, and the zones of their pages. No code of packages locality,
// codec and systems is used.

// DescribedBuffer is a buffer with what its first launch says of it.
type DescribedBuffer struct {
	Base, Bytes uint64
	Launch      int    // number of the first launch that accesses it, from 1 on
	Accesses    int64  // lines of requests of this launch
	Bursts      Bursts // of the lines that this launch accesses, and again of those that it writes
	Codec       string // "bdi", "fpc", "c-pack", or "" for raw lines
}

// Descriptors is a probe that follows the accesses to buffers, for launches without asynchronous copies.
type Descriptors struct {
	Buffers []*DescribedBuffer // in the order of their first accesses

	memory   map[*probe.Allocation]bool
	before   map[*probe.Allocation][]byte // bytes at the start of the launch
	launches int
	touched  map[uint64]map[int]bool // CTAs of the launch, by line
	written  map[uint64]bool         // lines
	least    map[[2]uint64]uint64    // lowest address, by buffer and CTA
	ctas     int
}

// NewDescriptors returns an empty counter.
func NewDescriptors() *Descriptors { return &Descriptors{memory: map[*probe.Allocation]bool{}} }

// Subscription returns the events of launches, instructions and allocations.
func (d *Descriptors) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnLaunch | probe.OnLaunchEnd | probe.OnAfter | probe.OnAlloc | probe.OnFree, Addresses: true, InOrder: true}
}

// CTA returns the counter.
func (d *Descriptors) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return d }

// OnEvent follows accesses.
func (d *Descriptors) OnEvent(e *probe.Event) {
	switch e.Kind {
	case probe.OnAlloc:
		d.memory[e.Memory] = true
	case probe.OnFree:
		delete(d.memory, e.Memory)
	case probe.OnLaunch:
		d.launches++
		d.before, d.touched, d.written, d.least = map[*probe.Allocation][]byte{}, map[uint64]map[int]bool{}, map[uint64]bool{}, map[[2]uint64]uint64{}
		d.ctas = e.Launch.Grid.Count()
		for m := range d.memory {
			d.before[m] = slices.Clone(m.Data)
		}
	case probe.OnLaunchEnd:
		d.end()
	case probe.OnAfter:
		for i := range e.Accesses {
			d.access(e, &e.Accesses[i])
		}
	}
}

// access counts the lines of a request.
func (d *Descriptors) access(e *probe.Event, a *probe.Access) {
	lines := map[uint64]*DescribedBuffer{}
	for lane := range 32 {
		if a.Lanes>>lane&1 == 0 {
			continue
		}
		space, of, offset, ok := a.PlaceOf(lane)
		if !ok || space != ptx.Global || of == nil {
			return
		}
		b := d.buffer(of)
		address := of.Base + offset
		for k := range a.Bytes {
			lines[(address+uint64(k))/128] = b
		}
		key := [2]uint64{b.Base, uint64(e.CTA)}
		if least, ok := d.least[key]; !ok || address < least {
			d.least[key] = address
		}
	}
	for line, b := range lines {
		if b.Launch == d.launches {
			b.Accesses++
		}
		if d.touched[line] == nil {
			d.touched[line] = map[int]bool{}
		}
		d.touched[line][e.CTA] = true
		if a.Kind != probe.AccessLoad {
			d.written[line] = true
		}
	}
}

// buffer returns the buffer of an allocation.
func (d *Descriptors) buffer(of *probe.Allocation) *DescribedBuffer {
	for _, b := range d.Buffers {
		if b.Base == of.Base && b.Bytes == of.Span {
			return b
		}
	}
	b := &DescribedBuffer{Base: of.Base, Bytes: of.Span, Launch: d.launches}
	d.Buffers = append(d.Buffers, b)
	return b
}

// end chooses the codecs of new buffers.
func (d *Descriptors) end() {
	for m, before := range d.before {
		for _, b := range d.Buffers {
			if b.Base != m.Base || b.Bytes != m.Span || b.Launch != d.launches {
				continue
			}
			for line := b.Base / 128; line <= (b.Base+b.Bytes-1)/128; line++ {
				if d.touched[line] == nil {
					continue
				}
				b.Bursts.Add(burstsAt(before, line*128-b.Base))
				if d.written[line] {
					b.Bursts.Add(burstsAt(m.Data, line*128-b.Base))
				}
			}
			n := b.Bursts
			least := min(n.BDI, n.FPC, n.CPack)
			switch raw := 4 * n.Lines; {
			case 100*(raw-least) < raw:
			case n.BDI == least:
				b.Codec = "bdi"
			case n.FPC == least:
				b.Codec = "fpc"
			default:
				b.Codec = "c-pack"
			}
		}
	}
}

// burstsAt returns the bursts of the line at an offset; bytes after the memory are 0.
func burstsAt(memory []byte, offset uint64) Bursts {
	var line [128]byte
	if offset < uint64(len(memory)) {
		copy(line[:], memory[offset:])
	}
	return BurstsOf(&line)
}

// Banks returns the first bank and the number of banks of each buffer with banks of its own. regular reports whether all descriptors of a buffer are regular.
func (d *Descriptors) Banks(banks int, regular func(*DescribedBuffer) bool) map[*DescribedBuffer][2]int {
	out := map[*DescribedBuffer][2]int{}
	next := 0
	for launch := 1; launch <= d.launches; launch++ {
		var list []*DescribedBuffer
		all := int64(0)
		for _, b := range d.Buffers {
			if b.Launch == launch {
				list, all = append(list, b), all+b.Accesses
			}
		}
		slices.SortStableFunc(list, func(a, b *DescribedBuffer) int { return int(b.Accesses - a.Accesses) })
		free := banks - next
		for _, b := range list {
			if !regular(b) {
				continue
			}
			n := int(float64(free) * float64(b.Accesses) / float64(all))
			for n = max(n, 1); n > 0 && next+n >= banks; n-- { // a bank remains
			}
			if n > 0 {
				out[b] = [2]int{next, n}
				next += n
			}
		}
	}
	return out
}

// Zones places the buffers of the latest launch, the only one, in four zones: with the zone that algorithm 2 gives each CTA, the lowest bit of the zone of each buffer, and the number of pairs of a
// CTA and a line in the same zone, and of all. order has the buffers of the descriptors, of which the first is regular and has at least four C-tiles.
func (d *Descriptors) Zones(order []*DescribedBuffer) (bits map[*DescribedBuffer]uint, local, all int64) {
	highest := func(b *DescribedBuffer) uint {
		bit := uint(12)
		for uint64(4)<<(bit+1) <= b.Bytes {
			bit++
		}
		return bit
	}
	inZone := func(b *DescribedBuffer, bit uint, part []int) (local, all int64) {
		for line, ctas := range d.touched {
			if line*128 < b.Base || line*128 >= b.Base+b.Bytes {
				continue
			}
			for cta := range ctas {
				all++
				if int(line*128>>bit)%4 == part[cta] {
					local++
				}
			}
		}
		return local, all
	}
	best := -1.0
	for first := uint(12); first <= highest(order[0]); first++ {
		part, room := make([]int, d.ctas), [4]int{}
		for cta := range part {
			zone := int(d.least[[2]uint64{order[0].Base, uint64(cta)}] >> first % 4)
			for room[zone] == (d.ctas+3)/4 {
				zone = (zone + 1) % 4
			}
			part[cta] = zone
			room[zone]++
		}
		utility, chosen := 0.0, map[*DescribedBuffer]uint{order[0]: first}
		for i, b := range order {
			from, to := uint(12), highest(b)
			if bit, ok := chosen[b]; ok {
				from, to = bit, bit
			}
			most := -1.0
			for bit := from; bit <= to; bit++ {
				in, of := inZone(b, bit, part)
				if s := float64(in) / float64(of); s > most {
					most, chosen[b] = s, bit
				}
			}
			utility += float64(len(order)-i) * most
		}
		if utility <= best {
			continue
		}
		best, bits, local, all = utility, maps.Clone(chosen), 0, 0
		for _, b := range d.Buffers {
			in, of := inZone(b, chosen[b], part)
			local, all = local+in, all+of
		}
	}
	return bits, local, all
}
