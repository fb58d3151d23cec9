// Package occupancy has the resources of a multiprocessor, by compute capability, and computes the number of blocks of a
// kernel that can be resident.
package occupancy

// Limits has the resources of a multiprocessor of a compute capability: CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability". Registers and shared memory are rounded as in NVIDIA's occupancy calculator,
// cuda_occupancy.h of CUDA 13.5.
type Limits struct {
	SM         int // compute capability, 86 for 8.6
	Warps      int // resident warps
	Blocks     int // resident blocks
	Shared     int // bytes of shared memory
	PerBlock   int // bytes of shared memory available to a block if its kernel requests them
	Reserved   int // bytes of shared memory reserved by the system for each block
	Unit       int // allocation unit of shared memory in bytes
	Registers  int // maximum registers of a block
	Partitions int // partitions, each with a share of the warps and of FileSize
}

// Limits of all compute capabilities.
const (
	WarpSize     = 32
	FileSize     = 64 << 10 // registers of 32 bits of a multiprocessor
	MaxRegisters = 255      // registers of a thread
	RegisterUnit = 256      // allocation unit of registers of a warp
)

const kib = 1 << 10

// Generations are the limits, by compute capability.
var Generations = []Limits{
	{35, 64, 16, 48 * kib, 48 * kib, 0, 256, 64 * kib, 4},
	{50, 64, 32, 64 * kib, 48 * kib, 0, 256, 64 * kib, 4},
	{52, 64, 32, 96 * kib, 48 * kib, 0, 256, 64 * kib, 4},
	{53, 64, 32, 64 * kib, 48 * kib, 0, 256, 32 * kib, 4},
	{60, 64, 32, 64 * kib, 48 * kib, 0, 256, 64 * kib, 2},
	{61, 64, 32, 96 * kib, 48 * kib, 0, 256, 64 * kib, 4},
	{62, 64, 32, 64 * kib, 48 * kib, 0, 256, 32 * kib, 4},
	{70, 64, 32, 96 * kib, 96 * kib, 0, 256, 64 * kib, 4},
	{72, 64, 32, 96 * kib, 96 * kib, 0, 256, 64 * kib, 4},
	{75, 32, 16, 64 * kib, 64 * kib, 0, 256, 64 * kib, 4},
	{80, 64, 32, 164 * kib, 163 * kib, kib, 128, 64 * kib, 4},
	{86, 48, 16, 100 * kib, 99 * kib, kib, 128, 64 * kib, 4},
	{87, 48, 16, 164 * kib, 163 * kib, kib, 128, 64 * kib, 4},
	{89, 48, 24, 100 * kib, 99 * kib, kib, 128, 64 * kib, 4},
	{90, 64, 32, 228 * kib, 227 * kib, kib, 128, 64 * kib, 4},
	{100, 64, 32, 228 * kib, 227 * kib, kib, 128, 64 * kib, 4},
	{103, 64, 32, 228 * kib, 227 * kib, kib, 128, 64 * kib, 4},
	{110, 48, 24, 228 * kib, 227 * kib, kib, 128, 64 * kib, 4},
	{120, 48, 24, 100 * kib, 99 * kib, kib, 128, 64 * kib, 4},
	{121, 48, 24, 100 * kib, 99 * kib, kib, 128, 64 * kib, 4},
}

// LimitsOf returns the limits of a compute capability: of the last of the Generations up to it, or of the first for an
// older capability.
func LimitsOf(sm int) *Limits {
	l := &Generations[0]
	for i := range Generations {
		if Generations[i].SM <= sm {
			l = &Generations[i]
		}
	}
	return l
}

// Threads returns the maximum number of resident threads.
func (l *Limits) Threads() int { return l.Warps * WarpSize }

// Limit is the resource that limits the number of resident blocks.
type Limit string

// The limits.
const (
	LimitedByBlocks    Limit = "blocks"
	LimitedByWarps     Limit = "warps"
	LimitedByShared    Limit = "shared memory"
	LimitedByRegisters Limit = "registers"
)

// Block has the resources that a block needs.
type Block struct {
	Threads   int
	Registers int // registers of a thread; 0 means unknown, and no limit
	Shared    int // bytes, static and dynamic
}

// Warps returns the number of warps of the block.
func (b Block) Warps() int { return (b.Threads + WarpSize - 1) / WarpSize }

// Resident returns the number of blocks that can be resident, 0 if a single block does not fit on the multiprocessor, and
// the resource that limits it: the first in the order above if there are several. It does not check the limit of 1024
// threads per block.
func (l *Limits) Resident(b Block) (n int, limiter Limit) {
	n, limiter = l.Blocks, LimitedByBlocks
	limit := func(m int, reason Limit) {
		if m < n {
			n, limiter = m, reason
		}
	}
	warps := b.Warps()
	limit(l.Warps/max(warps, 1), LimitedByWarps)
	if shared := roundUp(b.Shared+l.Reserved, l.Unit); b.Shared > l.PerBlock || shared > l.Shared {
		limit(0, LimitedByShared)
	} else if shared > 0 {
		limit(l.Shared/shared, LimitedByShared)
	}
	if b.Registers > 0 {
		// The registers of a warp are in the register file of its partition. The check of a block's registers assumes
		// that its warps are spread over all partitions.
		warpRegisters := roundUp(b.Registers*WarpSize, RegisterUnit)
		if b.Registers > MaxRegisters || warpRegisters*roundUp(warps, l.Partitions) > l.Registers {
			limit(0, LimitedByRegisters)
		} else {
			limit(FileSize/l.Partitions/warpRegisters*l.Partitions/max(warps, 1), LimitedByRegisters)
		}
	}
	return n, limiter
}

// Occupancy returns the warps of the given number of blocks as a share of the maximum number of resident warps.
func (l *Limits) Occupancy(b Block, blocks int) float64 {
	return float64(blocks*b.Warps()) / float64(l.Warps)
}

// roundUp rounds n up to a multiple of unit.
func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }
