package machine

import (
	"gemu/machine/codec"
	"gemu/machine/stream"
)

// Origin is how the bytes of a line of memory were written last (docs/compress-once.md).
type Origin uint8

// The origins.
const (
	Copied        Origin = iota // by the host, or not at all
	FromRegisters               // whole, by a store of registers whose encodings share bytes
	StoredWhole                 // whole, by another store
	StoredParts                 // by stores of parts, atomics and asynchronous copies
	Origins                     // number of origins
)

// String returns the name: "copies", "registers", "whole" or "parts".
func (o Origin) String() string { return [...]string{"copies", "registers", "whole", "parts"}[o] }

// lineOrigin is the origin of a line, and the encodings of its registers if an encoded store wrote it whole: also of those that the extension alone encodes,
// whose origin is StoredWhole.
type lineOrigin struct {
	Origin
	registers codec.Registers
}

// origins are the origins of the lines of memory in the order of a machine, from launch to launch.
type origins struct{ stream.Table[lineOrigin] }

// begin begins a launch: the host has written lines.
func (o *origins) begin(l *stream.Launch) {
	for _, r := range l.HostWrites {
		o.Clear(r)
	}
}

// write notes a store or an atomic.
func (o *origins) write(line uint64, c *stream.Content) {
	at := o.At(line)
	*at = lineOrigin{Origin: StoredParts}
	switch {
	case c.Atomic != 0 || c.Bytes != stream.WholeLine:
	case c.Registers.ShareBytes():
		*at = lineOrigin{FromRegisters, c.Registers}
	default:
		*at = lineOrigin{StoredWhole, c.Registers}
	}
}

// of returns the origin of a line.
func (o *origins) of(line uint64) *lineOrigin {
	if at := o.Find(line); at != nil {
		return at
	}
	return &lineOrigin{}
}

// OriginCounts are transferred lines of an origin, and their bursts. Once <= 4 Lines, and each entry of Once and OnceOrBDI is at most the one before it.
type OriginCounts struct {
	Lines    int64 // known and unknown
	BDI      int64 // bursts in forms of BDI
	Bytewise int64 // bursts in byte-wise forms
	// Bursts in forms of codec once, by base; lines without are raw.
	Once [codec.Bases]int64
	// Bursts in forms of codec once that save a burst, by base; lines without are in forms of BDI.
	OnceOrBDI [codec.Bases]int64
	Single    int64                       // bursts as Once, where only registers of 32 bits have encodings
	Weaker    [codec.Bases]int64          // bursts that forms of codec once have more than those of BDI, by base
	Stronger  [codec.Bases]int64          // bursts that they have less
	ByBursts  [codec.LineBursts + 1]int64 // lines by the bursts in forms of codec once
}

// Add adds the counts of o.
func (c *OriginCounts) Add(o *OriginCounts) {
	c.Lines += o.Lines
	c.BDI += o.BDI
	c.Bytewise += o.Bytewise
	c.Single += o.Single
	for b := range codec.Bases {
		c.Once[b] += o.Once[b]
		c.OnceOrBDI[b] += o.OnceOrBDI[b]
		c.Weaker[b] += o.Weaker[b]
		c.Stronger[b] += o.Stronger[b]
	}
	for i := range c.ByBursts {
		c.ByBursts[i] += o.ByBursts[i]
	}
}

// count counts a line, nil if its bytes are unknown, with its bursts in forms of BDI and byte-wise forms. It returns the bursts in forms of codec once.
func (c *OriginCounts) count(registers *codec.Registers, line *codec.Line, bdi, bytewise int) (once int, err error) {
	if line == nil {
		registers = &codec.Registers{}
	} else {
		err = registers.Check(line)
	}
	c.Lines++
	c.BDI += int64(bdi)
	c.Bytewise += int64(bytewise)
	for b := range codec.Bases {
		n := codec.Bursts(registers.Size(b))
		c.Once[b] += int64(n)
		if b == codec.SharedBase {
			once = n
			c.ByBursts[n]++
			if registers.Words != 1 {
				n = codec.LineBursts
			}
			c.Single += int64(n)
			n = once
		}
		c.Weaker[b] += int64(max(n-bdi, 0))
		c.Stronger[b] += int64(max(bdi-n, 0))
		if n == codec.LineBursts {
			n = bdi
		}
		c.OnceOrBDI[b] += int64(n)
	}
	return once, err
}
