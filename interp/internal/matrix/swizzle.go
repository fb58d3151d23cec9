package matrix

// Chunk is the number of bytes that stay together in a swizzled layout in shared memory.
const Chunk = 16

// Swizzle returns the position of the byte at an address of a layout in shared memory. In a pattern of eight 128-byte
// lines, 16-byte chunks of neighbouring rows of 16 (no swizzling), 32, 64 or 128 bytes change places, by the number of
// the line in the pattern. phase is the number of the pattern's first line: 0 if patterns begin at multiples of their
// size. CuTe calls this Swizzle<B,4,3> (manual 9.7.15.5.1.2.1.3).
func Swizzle(addr uint64, bytes int, phase uint64) uint64 {
	return addr ^ (addr>>7-phase)&uint64(bytes/Chunk-1)<<4
}

// SwizzlePairs is Swizzle for rows of 128 bytes of which 32 stay together, in patterns of four lines: Swizzle<2,5,2>
// (manual 9.7.16.10.6).
func SwizzlePairs(addr uint64, phase uint64) uint64 { return addr ^ (addr>>7-phase)&3<<5 }
