package fpenv

const (
	defaultControl = 0x1f80      // all exceptions are masked
	controlBits    = 0xffff_ffc0 // without the flags of past exceptions

	// Bits of other environments, for tests: rounding toward positive infinity, and flushing of subnormal numbers.
	Upward, FlushSubnormals = 2 << 13, 0x8040
)
