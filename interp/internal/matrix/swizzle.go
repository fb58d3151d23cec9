package matrix

// Chunk is the number of bytes that a swizzled layout in shared memory keeps together.
const Chunk = 16

// Swizzle returns the address at which a swizzled layout in shared memory has the byte at addr of the plain layout.
//
// A pattern has eight lines of 128 bytes. In each line, 16-byte chunks exchange places within rows of 16 (no swizzling),
// 32, 64 or 128 bytes (the argument bytes), depending on the number of the line in its pattern. phase is the number of the
// first line of a pattern: 0 if patterns begin at multiples of their size. CuTe calls this Swizzle<B,4,3> (manual
// 9.7.15.5.1.2.1.3).
func Swizzle(addr uint64, bytes int, phase uint64) uint64 {
	return addr ^ (addr>>7-phase)&uint64(bytes/Chunk-1)<<4
}

// SwizzlePairs is Swizzle for rows of 128 bytes in which pairs of chunks (32 bytes) stay together, in patterns of four
// lines: Swizzle<2,5,2> (manual 9.7.16.10.6).
func SwizzlePairs(addr uint64, phase uint64) uint64 { return addr ^ (addr>>7-phase)&3<<5 }
