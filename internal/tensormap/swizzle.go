package tensormap

// Swizzle is a permutation of the bytes in lines of shared memory (manual 5.5.7). It depends on addresses, not on
// boxes.
type Swizzle struct {
	Mode      SwizzleMode
	Atomicity Atomicity // atomicity of Swizzle128; otherwise Atom16
}

// SwizzleMode is the number of bytes within which pieces are permuted, with the numbers of tensormap.replace.
type SwizzleMode uint8

// The modes.
const (
	NoSwizzle SwizzleMode = iota
	Swizzle32
	Swizzle64
	Swizzle128
	Swizzle96
	SwizzleModeCount
)

// Span returns the number of bytes within which pieces are permuted; 0 without a permutation.
func (m SwizzleMode) Span() uint64 { return [...]uint64{0, 32, 64, 128, 96}[m] }

// Atomicity is the number of bytes that stay together.
type Atomicity uint8

// The atomicities.
const (
	Atom16 Atomicity = iota
	Atom32
	Atom32Flip8 // in every second line, the halves of 16 bytes are exchanged, too
	Atom64
	AtomicityCount
)

// Swizzles lists the swizzles in the order of CUtensorMapSwizzle.
var Swizzles = []Swizzle{
	{}, {Mode: Swizzle32}, {Mode: Swizzle64}, {Mode: Swizzle128},
	{Mode: Swizzle128, Atomicity: Atom32}, {Mode: Swizzle128, Atomicity: Atom32Flip8}, {Mode: Swizzle128, Atomicity: Atom64},
}

// Apply returns the address in shared memory of a byte whose address without swizzle is addr: some bits of the number
// of the 128-byte line are added, modulo 2, to bits of the offset in the line.
func (s Swizzle) Apply(addr uint64) uint64 {
	line := addr >> 7
	switch s.Mode {
	case Swizzle32, Swizzle96:
		return addr ^ line&1<<4
	case Swizzle64:
		return addr ^ line&3<<4
	case Swizzle128:
		switch s.Atomicity {
		case Atom32:
			return addr ^ line&3<<5
		case Atom32Flip8:
			return addr ^ line&3<<5 ^ line&1<<3
		case Atom64:
			return addr ^ line&1<<6
		}
		return addr ^ line&7<<4
	}
	return addr
}
