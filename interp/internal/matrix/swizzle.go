package matrix

// Chunk is the bytes that stay together where a layout in shared memory is swizzled.
const Chunk = 16

// Swizzle is where a byte lies that a layout in shared memory has at an address: 16-byte chunks
// of neighbouring rows of so many bytes, 16 (none), 32, 64 or 128, change places within a
// pattern of eight 128-byte lines. What decides is the line, counted from the pattern's first,
// whose number is phase: 0 if patterns begin at multiples of their size. It is what CuTe calls
// Swizzle<B,4,3> (manual 9.7.15.5.1.2.1.3).
func Swizzle(addr uint64, bytes int, phase uint64) uint64 {
	return addr ^ (addr>>7-phase)&uint64(bytes/Chunk-1)<<4
}

// SwizzlePairs is the same for rows of 128 bytes of which 32 stay together, in patterns of four
// lines: Swizzle<2,5,2> (manual 9.7.16.10.6).
func SwizzlePairs(addr uint64, phase uint64) uint64 { return addr ^ (addr>>7-phase)&3<<5 }
