package fpenv

const (
	defaultControl = 0
	controlBits    = 0xffff_ffff

	// Bits of other environments, for tests: rounding toward positive infinity, and flushing of subnormal numbers.
	Upward, FlushSubnormals = 1 << 22, 1 << 24
)
