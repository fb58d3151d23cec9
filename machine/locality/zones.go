package locality

import (
	"maps"
	"math/bits"

	"gemu/machine/stream"
	"gemu/ptx"
)

// The bits of an address that can select its zone: from 128 bytes to a page of 64 KB.
const (
	firstBit = 7
	lastBit  = 16
)

// Zones places buffers in the zones of a machine, and CTAs with the data that they access (algorithm 2). A buffer keeps its place from the
// first launch that accesses it.
type Zones struct {
	n    int                    // number of zones, a power of two
	bits map[stream.Buffer]uint // lowest bit of the zone in an address of a buffer

	// limits returns the range of the bit of a buffer.
	limits   func(b stream.Buffer) (first, last uint)
	balanced bool // a zone takes at most an equal part of the CTAs, rounded up
}

// NewZones returns a placement in n zones. n must be a power of two.
func NewZones(n int) *Zones {
	return &Zones{n: n, bits: map[stream.Buffer]uint{}, limits: func(stream.Buffer) (first, last uint) { return firstBit, lastBit }}
}

// NewPageZones returns a placement of whole pages in n zones, whose parts of the grid are of equal size: a CTA beyond the share of its zone goes to
// the next zone with room. Each zone has a part of a buffer that has at least n pages. n and pageBytes must be powers of two.
func NewPageZones(n, pageBytes int) *Zones {
	page, digits := uint(bits.TrailingZeros(uint(pageBytes))), uint(bits.TrailingZeros(uint(n)))
	return &Zones{n: n, bits: map[stream.Buffer]uint{}, balanced: true, limits: func(b stream.Buffer) (first, last uint) {
		highest := uint(bits.Len64(b.Bytes|1)) - 1 // bit of the size
		return page, max(page, highest-min(highest, digits))
	}}
}

// Bit returns the lowest bit of the zone in an address of a buffer. ok is false if no launch has placed the buffer.
func (z *Zones) Bit(b stream.Buffer) (bit uint, ok bool) {
	bit, ok = z.bits[b]
	return bit, ok
}

// zoneOf returns the zone of an address whose zone begins at a bit.
func (z *Zones) zoneOf(addr uint64, bit uint) int { return int(addr >> bit & uint64(z.n-1)) }

// Of returns the zone of an address of a buffer. A buffer that no launch has placed has the first bit of its range.
func (z *Zones) Of(addr uint64, b stream.Buffer) int {
	bit, ok := z.bits[b]
	if !ok {
		bit, _ = z.limits(b)
	}
	return z.zoneOf(addr, bit)
}

// Partition returns the zone of each CTA of a launch, and places its buffers. The descriptors are in the order of their priority, as Infer
// returns them.
func (z *Zones) Partition(l *Launch, list []Descriptor) []int {
	if len(list) == 0 {
		return z.contiguous(l.Grid)
	}
	candidates := func(b stream.Buffer) (from, to uint) {
		if bit, ok := z.bits[b]; ok {
			return bit, bit
		}
		return z.limits(b)
	}
	var best []int
	bestUtility, bestBits := -1.0, map[stream.Buffer]uint{}
	from, to := candidates(list[0].Buffer)
	for b := from; b <= to; b++ {
		part := z.part(l, &list[0], b)
		shares := z.localShares(l, part)
		utility, chosen := 0.0, map[stream.Buffer]uint{list[0].Buffer: b}
		for i := range list {
			share := shares[list[i].Buffer]
			first, _ := z.limits(list[i].Buffer)
			low, high := candidates(list[i].Buffer)
			if bit, ok := chosen[list[i].Buffer]; ok {
				low, high = bit, bit
			}
			most := -1.0
			for bit := low; bit <= high; bit++ {
				if share[bit-first] > most {
					most, chosen[list[i].Buffer] = share[bit-first], bit
				}
			}
			utility += float64(len(list)-i) * most
		}
		if utility > bestUtility {
			best, bestUtility, bestBits = part, utility, chosen
		}
	}
	maps.Copy(z.bits, bestBits)
	return best
}

// contiguous cuts a grid in parts of equal size.
func (z *Zones) contiguous(grid ptx.Dim3) []int {
	part := make([]int, grid.Count())
	for i := range part {
		part[i] = i * z.n / len(part)
	}
	return part
}

// part returns the zone of each CTA: that of the first byte of the D-tile that it accesses.
func (z *Zones) part(l *Launch, d *Descriptor, bit uint) []int {
	if !d.Regular || tilesOf(l.Grid, d.CTile) < z.n {
		return z.contiguous(l.Grid)
	}
	part := make([]int, l.Grid.Count())
	for i := range part {
		part[i] = z.zoneOf(uint64(d.form.first(l.Grid.At(i))), bit)
	}
	if z.balanced {
		z.balance(part)
	}
	return part
}

// balance moves CTAs, in the order of their indices, from zones with more than an equal part of them, rounded up, to the next zone with room.
func (z *Zones) balance(part []int) {
	room := make([]int, z.n)
	for i := range room {
		room[i] = (len(part) + z.n - 1) / z.n
	}
	for i := range part {
		for room[part[i]] == 0 {
			part[i] = (part[i] + 1) % z.n
		}
		room[part[i]]--
	}
}

// first returns the lowest address that a CTA accesses, if all coefficients of threads are positive.
func (f *Form) first(cta ptx.Dim3) int64 {
	addr, least := f.Base, int64(0)
	for d, c := range cta.Dims() {
		addr += f.CTA[d]*int64(c) + f.Thread[d]*int64(f.Low[d])
	}
	for _, step := range f.Steps {
		least = min(least, step)
	}
	return addr + least
}

// localShares returns, for each buffer and each bit of its range, the share of the lines that the CTAs access in their own zones.
func (z *Zones) localShares(l *Launch, part []int) map[stream.Buffer][]float64 {
	local, total, first := make([][]int64, len(l.Buffers)), make([]int64, len(l.Buffers)), make([]uint, len(l.Buffers))
	for i, b := range l.Buffers {
		low, high := z.limits(b)
		local[i], first[i] = make([]int64, high-low+1), low
	}
	for cta, lines := range l.CTAs {
		for _, n := range lines {
			line := &l.Lines[n]
			total[line.Buffer]++
			counts, low := local[line.Buffer], first[line.Buffer]
			for b := range counts {
				if z.zoneOf(line.Number*stream.LineBytes, low+uint(b)) == part[cta] {
					counts[b]++
				}
			}
		}
	}
	shares := map[stream.Buffer][]float64{}
	for i, b := range l.Buffers {
		s := make([]float64, len(local[i]))
		for bit := range s {
			if total[i] > 0 {
				s[bit] = float64(local[i][bit]) / float64(total[i])
			}
		}
		shares[b] = s
	}
	return shares
}
