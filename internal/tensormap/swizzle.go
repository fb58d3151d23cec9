package tensormap

// Swizzle is how lines of shared memory are mixed (manual 5.5.7): a pattern of addresses, and
// not of boxes.
type Swizzle struct {
	Mode      SwizzleMode
	Atomicity Atomicity // of Swizzle128; else Atom16
}

// SwizzleMode is the number of bytes within which pieces change their places, with the numbers
// that tensormap.replace has.
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

// Span is the bytes within which pieces change their places; 0 if none do.
func (m SwizzleMode) Span() uint64 { return [...]uint64{0, 32, 64, 128, 96}[m] }

// Atomicity is the bytes that stay together.
type Atomicity uint8

// The atomicities.
const (
	Atom16 Atomicity = iota
	Atom32
	Atom32Flip8 // in every other line the halves of 16 bytes change their places, too
	Atom64
	AtomicityCount
)

// Swizzles are the swizzles as CUDA's driver numbers them: by CUtensorMapSwizzle.
var Swizzles = []Swizzle{
	{}, {Mode: Swizzle32}, {Mode: Swizzle64}, {Mode: Swizzle128},
	{Mode: Swizzle128, Atomicity: Atom32}, {Mode: Swizzle128, Atomicity: Atom32Flip8}, {Mode: Swizzle128, Atomicity: Atom64},
}

// Apply is where in shared memory a byte is that without a swizzle would be at an address: some
// bits of the number of the 128-byte line are added, modulo 2, to those of the place in it.
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
