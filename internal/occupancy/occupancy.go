// Package occupancy has what a multiprocessor holds at once, by compute capability, and how many
// blocks of a kernel that is.
package occupancy

// Limits are those of the multiprocessors of a compute capability: CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability". How registers and shared memory are rounded is NVIDIA's occupancy
// calculator's, cuda_occupancy.h of CUDA 13.5.
type Limits struct {
	SM         int // compute capability, 86 for 8.6
	Warps      int // resident
	Blocks     int // resident
	Shared     int // bytes of shared memory
	PerBlock   int // … that a block may have, if its kernel asks for them
	Reserved   int // … that the system takes for each block
	Unit       int // … of which each block has a multiple
	Registers  int // that a block may have
	Partitions int // partitions, each with a share of the warps and of FileSize
}

// Limits that all share.
const (
	WarpSize     = 32
	FileSize     = 64 << 10 // registers of 32 bits of a multiprocessor
	MaxRegisters = 255      // of a thread
	RegisterUnit = 256      // of which each warp has a multiple
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

// LimitsOf is the limits of a compute capability; those of the last one before it, if it is not among the
// Generations, and of the first of them for older ones.
func LimitsOf(sm int) *Limits {
	l := &Generations[0]
	for i := range Generations {
		if Generations[i].SM <= sm {
			l = &Generations[i]
		}
	}
	return l
}

// Threads is how many can be resident.
func (l *Limits) Threads() int { return l.Warps * WarpSize }

// Limit is what keeps more blocks from being resident.
type Limit string

// The limits.
const (
	LimitedByBlocks    Limit = "blocks"
	LimitedByWarps     Limit = "warps"
	LimitedByShared    Limit = "shared memory"
	LimitedByRegisters Limit = "registers"
)

// Block is what a block takes.
type Block struct {
	Threads   int
	Registers int // of a thread; 0: they are not known, and no limit
	Shared    int // bytes, static and dynamic
}

// Warps is how many warps the block has.
func (b Block) Warps() int { return (b.Threads + WarpSize - 1) / WarpSize }

// Resident is how many blocks can be resident, and what keeps more from it, the first of several in the
// order above. It is 0 if the multiprocessor cannot hold one; that a block has at most 1024 threads is
// another matter.
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
		// A warp has its registers in the file of its partition; whether a block's fit is found out as if
		// its warps were spread over all of them.
		warpRegisters := roundUp(b.Registers*WarpSize, RegisterUnit)
		if b.Registers > MaxRegisters || warpRegisters*roundUp(warps, l.Partitions) > l.Registers {
			limit(0, LimitedByRegisters)
		} else {
			limit(FileSize/l.Partitions/warpRegisters*l.Partitions/max(warps, 1), LimitedByRegisters)
		}
	}
	return n, limiter
}

// Occupancy is the warps of so many blocks, of all that can be resident.
func (l *Limits) Occupancy(b Block, blocks int) float64 {
	return float64(blocks*b.Warps()) / float64(l.Warps)
}

// roundUp rounds up.
func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }
