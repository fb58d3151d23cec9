package locality

import (
	"maps"

	"gemu/machine/stream"
	"gemu/ptx"
)

// The bits of an address that can select its zone: from 128 bytes to a page of 64 KB.
const (
	firstBit = 7
	lastBit  = 16
	bitCount = lastBit - firstBit + 1
)

// Zones places buffers in the zones of a machine, and CTAs with the data that they access (algorithm 2). A buffer keeps its place from the
// first launch that accesses it.
type Zones struct {
	n    int                    // number of zones, a power of two
	bits map[stream.Buffer]uint // lowest bit of the zone in an address of a buffer
}

// NewZones returns a placement in n zones. n must be a power of two.
func NewZones(n int) *Zones { return &Zones{n, map[stream.Buffer]uint{}} }

// zoneOf returns the zone of an address whose zone begins at a bit.
func (z *Zones) zoneOf(addr uint64, bit uint) int { return int(addr >> bit & uint64(z.n-1)) }

// Of returns the zone of an address of a buffer that a launch before has accessed, or firstBit for another.
func (z *Zones) Of(addr uint64, b stream.Buffer) int {
	bit, ok := z.bits[b]
	if !ok {
		bit = firstBit
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
		return firstBit, lastBit
	}
	var best []int
	bestUtility, bestBits := -1.0, map[stream.Buffer]uint{}
	from, to := candidates(list[0].Buffer)
	for b := from; b <= to; b++ {
		part := z.part(l, &list[0], b)
		shares := z.localShares(l, part)
		utility, bits := 0.0, map[stream.Buffer]uint{list[0].Buffer: b}
		for i := range list {
			share := shares[list[i].Buffer]
			low, high := candidates(list[i].Buffer)
			if bit, ok := bits[list[i].Buffer]; ok {
				low, high = bit, bit
			}
			most := -1.0
			for bit := low; bit <= high; bit++ {
				if share[bit-firstBit] > most {
					most, bits[list[i].Buffer] = share[bit-firstBit], bit
				}
			}
			utility += float64(len(list)-i) * most
		}
		if utility > bestUtility {
			best, bestUtility, bestBits = part, utility, bits
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
	return part
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

// localShares returns, for each buffer and each bit, the share of the lines that the CTAs access in their own zones.
func (z *Zones) localShares(l *Launch, part []int) map[stream.Buffer][bitCount]float64 {
	local, total := make([][bitCount]int64, len(l.Buffers)), make([]int64, len(l.Buffers))
	for cta, lines := range l.CTAs {
		for _, n := range lines {
			line := &l.Lines[n]
			total[line.Buffer]++
			for b := range bitCount {
				if z.zoneOf(line.Number*stream.LineBytes, uint(firstBit+b)) == part[cta] {
					local[line.Buffer][b]++
				}
			}
		}
	}
	shares := map[stream.Buffer][bitCount]float64{}
	for i, b := range l.Buffers {
		var s [bitCount]float64
		for bit := range s {
			if total[i] > 0 {
				s[bit] = float64(local[i][bit]) / float64(total[i])
			}
		}
		shares[b] = s
	}
	return shares
}
