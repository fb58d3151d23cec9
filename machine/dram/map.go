// Package dram is a model of a GPU's memory without a clock: which channel, bank and row an address is in, and which accesses find
// their row open. Accesses happen in the order of their arrival. Each bank keeps the row of its last access open.
package dram

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Place is the place of an address in memory.
type Place struct {
	Channel int    // number of the channel
	Bank    int    // in the channel, ranks included
	Row     uint64 // in the bank
	Column  uint64 // byte in the row
}

// field is a digit of an address: part of one of the numbers of a Place. Fields follow each other from the last digit of the address.
type field struct {
	of    byte   // 'D' channel, 'B' bank, 'R' row, 'C' column, '0' none
	radix uint64 // number of values
}

// Map maps physical addresses to places. A number whose digits are in several places of the address has them in the same order. The
// digits before the first field belong to the row.
type Map struct {
	Name     string // name of Schemes, or letters
	Channels int    // number of channels
	Banks    int    // of a channel
	RowBytes uint64 // size of a row
	Bytes    uint64 // size of the memory, at most 2^64-1: addresses up to it use the fields alone
	fields   []field
	permuted bool // the bank is combined with the last digits of the row by exclusive or
}

// newMap returns a map with fields.
func newMap(name string, permuted bool, fields []field) *Map {
	m := &Map{Name: name, Channels: 1, Banks: 1, RowBytes: 1, Bytes: 1, permuted: permuted}
	for _, f := range fields {
		if f.radix == 1 {
			continue
		}
		m.fields = append(m.fields, f)
		if high, low := bits.Mul64(m.Bytes, f.radix); high == 0 {
			m.Bytes = low
		} else {
			m.Bytes = math.MaxUint64
		}
		switch f.of {
		case 'D':
			m.Channels *= int(f.radix)
		case 'B':
			m.Banks *= int(f.radix)
		case 'C':
			m.RowBytes *= f.radix
		}
	}
	return m
}

// Place returns the place of an address.
func (m *Map) Place(addr uint64) Place {
	var p Place
	channel, bank, row, column, none := uint64(1), uint64(1), uint64(1), uint64(1), uint64(1) // weights of the next digits
	add := func(to *uint64, weight *uint64, f field) {
		*to += addr % f.radix * *weight
		*weight *= f.radix
		addr /= f.radix
	}
	var d, b, unused uint64
	for _, f := range m.fields {
		switch f.of {
		case 'D':
			add(&d, &channel, f)
		case 'B':
			add(&b, &bank, f)
		case 'R':
			add(&p.Row, &row, f)
		case 'C':
			add(&p.Column, &column, f)
		default:
			add(&unused, &none, f)
		}
	}
	p.Row += addr * row
	if m.permuted {
		b ^= p.Row % uint64(m.Banks)
	}
	p.Channel, p.Bank = int(d), int(b)
	return p
}

// KeepsLines reports whether each line of 128 bytes is in one row.
func (m *Map) KeepsLines() bool {
	low := uint64(1)
	for _, f := range m.fields {
		if low >= lineBytes {
			break
		}
		if f.of != 'C' {
			return false
		}
		low *= f.radix
	}
	return true
}

// Limits of a map.
const (
	maxChannels = 256
	maxBanks    = 1024
	maxRowBytes = 1 << 20
	minColumn   = 5 // the last bits of an address select a byte of a burst of 32 bytes
)

// ParseMap reads an address map as GPGPU-Sim writes it (-gpgpu_mem_addr_mapping): 64 letters, one for each bit of the address from the
// highest on: R row, B bank, C column, S byte of a burst, which is part of the column, D channel, 0 unused. Dots, spaces and bars are
// ignored. With "dramid@N;" before the letters, the address is divided at bit N by the number of channels: the remainder of the upper part
// is the channel, and the letters map the address with the quotient as its upper part. Bits above the first letter that is not 0 belong to the row; GPGPU-Sim ignores
// them. Errors name the character.
func ParseMap(text string, channels int) (*Map, error) {
	at, letters := -1, text
	if prefix, rest, ok := strings.Cut(text, ";"); ok {
		value, isID := strings.CutPrefix(prefix, "dramid@")
		n, err := strconv.Atoi(value)
		if !isID || err != nil || n < minColumn || n > 40 {
			return nil, fmt.Errorf("address map: %q: want dramid@N with a bit from %d to 40", prefix, minColumn)
		}
		at, letters = n, rest
	}
	var list []byte // from the highest bit on
	for i, c := range []byte(letters) {
		switch upper := c &^ 0x20; {
		case c == '.' || c == ' ' || c == '|':
		case c == '0':
			list = append(list, '0')
		case upper == 'D' && at >= 0:
			return nil, fmt.Errorf("address map: character %d: D with dramid@, which has the channel", len(text)-len(letters)+i+1)
		case upper == 'S':
			list = append(list, 'C')
		case upper == 'D' || upper == 'B' || upper == 'R' || upper == 'C':
			list = append(list, upper)
		default:
			return nil, fmt.Errorf("address map: character %d is %q; want one of R, B, C, S, D, 0, and dots", len(text)-len(letters)+i+1, c)
		}
	}
	if len(list) != 64 {
		return nil, fmt.Errorf("address map: %d letters; want one for each of 64 bits", len(list))
	}
	top := 0
	for top < 64 && list[top] == '0' {
		top++
	}
	var fields []field
	for bit := range max(64-top, minColumn) {
		if bit == at {
			fields = append(fields, field{'D', uint64(channels)})
		}
		of := list[63-bit]
		if bit < minColumn && of != 'C' {
			return nil, fmt.Errorf("address map: bit %d is %q; want S or C for the last %d bits", bit, of, minColumn)
		}
		if n := len(fields); n > 0 && fields[n-1].of == of && bit != at {
			fields[n-1].radix *= 2
			continue
		}
		fields = append(fields, field{of, 2})
	}
	if at >= 64-top {
		return nil, fmt.Errorf("address map: dramid@%d is above all %d bits", at, 64-top)
	}
	m := newMap(text, false, fields)
	return m, m.check()
}

// check returns an error if a number of the map is too large.
func (m *Map) check() error {
	switch {
	case m.Channels < 1 || m.Channels > maxChannels:
		return fmt.Errorf("address map: %d channels; want 1 to %d", m.Channels, maxChannels)
	case m.Banks > maxBanks:
		return fmt.Errorf("address map: %d banks; want at most %d", m.Banks, maxBanks)
	case m.RowBytes > maxRowBytes:
		return fmt.Errorf("address map: rows of %d bytes; want at most %d", m.RowBytes, maxRowBytes)
	}
	return nil
}

// Schemes are the maps with names. Fields are separated by colons, from the highest bits on. The first seven are those of DRAMSim2
// (Rosenfeld, Cooper-Balis and Jacob, IEEE CAL 2011). col1 is the lines of a quarter of a row, col2 the quarters.
// In minimalist a bank has four lines at a time (Kaseridis, Stuecheli and John, MICRO 2011). In permutation the bank is combined with the last digits of
// the row (Zhang, Zhu and Zhang, MICRO 2000).
var Schemes = []struct {
	Name, Fields string
	Permuted     bool
}{
	{"scheme1", "chan:rank:row:col:bank", false},
	{"scheme2", "chan:row:col:bank:rank", false},
	{"scheme3", "chan:rank:bank:col:row", false},
	{"scheme4", "chan:rank:bank:row:col", false},
	{"scheme5", "chan:row:col:rank:bank", false},
	{"scheme6", "chan:row:bank:rank:col", false},
	{"scheme7", "row:col:rank:bank:chan", false},
	{"minimalist", "row:high:rank:bank:chan:low", true},
	{"permutation", "row:rank:bank:chan:col", true},
}

// lowLines is the number of lines of "low", the part of a row that is contiguous in minimalist.
const lowLines = 4

// named returns the map of Schemes with a name, for a geometry.
func named(name string, g *Spec) (*Map, error) {
	var names []string
	for _, s := range Schemes {
		names = append(names, s.Name)
		if s.Name != name {
			continue
		}
		ranks := 1
		if g.Banks%2 == 0 {
			ranks = 2
		}
		lines := g.RowBytes / lineBytes
		low := min(lowLines, lines)
		radix := map[string]field{
			"chan": {'D', uint64(g.Channels)}, "rank": {'B', uint64(ranks)}, "bank": {'B', uint64(g.Banks / ranks)}, "row": {'R', uint64(g.Rows)},
			"col": {'C', uint64(lines)}, "low": {'C', uint64(low)}, "high": {'C', uint64(lines / low)},
		}
		fields := []field{{'C', lineBytes}}
		parts := strings.Split(s.Fields, ":")
		for i := len(parts) - 1; i >= 0; i-- {
			fields = append(fields, radix[parts[i]])
		}
		return newMap(name, s.Permuted, fields), nil
	}
	return nil, fmt.Errorf("address map %q: want one of %s, or 64 letters as in GPGPU-Sim", name, strings.Join(names, ", "))
}

// isPowerOfTwo reports whether n is a power of two.
func isPowerOfTwo(n int) bool { return n > 0 && bits.OnesCount(uint(n)) == 1 }
