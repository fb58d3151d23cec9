// Package occupancy has the resources of a multiprocessor, by compute capability, and computes the number of blocks of a
// kernel that can be resident.
//
// [LimitsOf] returns the [Limits] of a compute capability, from 2.0 on; [Limits.Resident] the number of blocks, and the
// resource that limits it. [Limits.Surface] returns the resident warps of all sizes of a block, and [Limits.Cliffs] the
// smallest changes of a block that change them. Limits is plain data: another machine, such as that of a paper, is a copy with other numbers.
//
// No function returns an error or changes its arguments, so all are safe for concurrent use. Generations, and fields of
// Limits, may be added at any time.
package occupancy

// Limits has the resources of a multiprocessor of a compute capability: CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability" (for 2.x and 3.0 of CUDA 7, for 3.2 and 3.7 of CUDA 8). Registers and shared
// memory are rounded as in NVIDIA's occupancy calculator, cuda_occupancy.h of CUDA 13.5, and for 2.x of CUDA 7. A machine
// with other resources is a Limits of its own. All its fields but SM, Reserved and DoubleUnit must be positive.
type Limits struct {
	SM           int // compute capability, 86 for 8.6; 0 for another machine
	WarpSize     int // threads of a warp
	Warps        int // resident warps
	Blocks       int // resident blocks
	Shared       int // bytes of shared memory
	PerBlock     int // bytes of shared memory available to a block if its kernel requests them
	Reserved     int // bytes of shared memory reserved by the system for each block
	Unit         int // allocation unit of shared memory in bytes
	FileSize     int // registers of 32 bits
	Registers    int // maximum registers of a block
	PerThread    int // maximum registers of a thread
	RegisterUnit int // allocation unit of the registers of a warp
	Partitions   int // partitions, each with a share of the warps and of FileSize

	// DoubleUnit is the set of numbers of registers of a thread (bit i for i registers) that are allocated in units of twice
	// RegisterUnit.
	DoubleUnit uint64
}

// MaxThreads is the maximum number of threads of a block, in each of the Generations: CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability".
const MaxThreads = 1024

// MaxRegisters is the maximum of PerThread in Generations.
const MaxRegisters = 255

const kib = 1 << 10

// fermiDoubled is the DoubleUnit of compute capability 2.x (cudaOccRegAllocationGranularity).
const fermiDoubled = 1<<21 | 1<<22 | 1<<29 | 1<<30 | 1<<37 | 1<<38 | 1<<45 | 1<<46

// Generations are the limits, by compute capability. 2.0 is the GTX 480 of many papers. On 2.x and 3.x shared memory has
// its largest share of the memory that it has in common with L1.
var Generations = []Limits{
	{20, 32, 48, 8, 48 * kib, 48 * kib, 0, 128, 32 * kib, 32 * kib, 63, 64, 2, fermiDoubled},
	{21, 32, 48, 8, 48 * kib, 48 * kib, 0, 128, 32 * kib, 32 * kib, 63, 64, 2, fermiDoubled},
	{30, 32, 64, 16, 48 * kib, 48 * kib, 0, 256, 64 * kib, 64 * kib, 63, 256, 4, 0},
	{32, 32, 64, 16, 48 * kib, 48 * kib, 0, 256, 64 * kib, 32 * kib, 255, 256, 4, 0},
	{35, 32, 64, 16, 48 * kib, 48 * kib, 0, 256, 64 * kib, 64 * kib, 255, 256, 4, 0},
	{37, 32, 64, 16, 112 * kib, 48 * kib, 0, 256, 128 * kib, 64 * kib, 255, 256, 4, 0},
	{50, 32, 64, 32, 64 * kib, 48 * kib, 0, 256, 64 * kib, 64 * kib, 255, 256, 4, 0},
	{52, 32, 64, 32, 96 * kib, 48 * kib, 0, 256, 64 * kib, 64 * kib, 255, 256, 4, 0},
	{53, 32, 64, 32, 64 * kib, 48 * kib, 0, 256, 64 * kib, 32 * kib, 255, 256, 4, 0},
	{60, 32, 64, 32, 64 * kib, 48 * kib, 0, 256, 64 * kib, 64 * kib, 255, 256, 2, 0},
	{61, 32, 64, 32, 96 * kib, 48 * kib, 0, 256, 64 * kib, 64 * kib, 255, 256, 4, 0},
	{62, 32, 64, 32, 64 * kib, 48 * kib, 0, 256, 64 * kib, 32 * kib, 255, 256, 4, 0},
	{70, 32, 64, 32, 96 * kib, 96 * kib, 0, 256, 64 * kib, 64 * kib, 255, 256, 4, 0},
	{72, 32, 64, 32, 96 * kib, 96 * kib, 0, 256, 64 * kib, 64 * kib, 255, 256, 4, 0},
	{75, 32, 32, 16, 64 * kib, 64 * kib, 0, 256, 64 * kib, 64 * kib, 255, 256, 4, 0},
	{80, 32, 64, 32, 164 * kib, 163 * kib, kib, 128, 64 * kib, 64 * kib, 255, 256, 4, 0},
	{86, 32, 48, 16, 100 * kib, 99 * kib, kib, 128, 64 * kib, 64 * kib, 255, 256, 4, 0},
	{87, 32, 48, 16, 164 * kib, 163 * kib, kib, 128, 64 * kib, 64 * kib, 255, 256, 4, 0},
	{89, 32, 48, 24, 100 * kib, 99 * kib, kib, 128, 64 * kib, 64 * kib, 255, 256, 4, 0},
	{90, 32, 64, 32, 228 * kib, 227 * kib, kib, 128, 64 * kib, 64 * kib, 255, 256, 4, 0},
	{100, 32, 64, 32, 228 * kib, 227 * kib, kib, 128, 64 * kib, 64 * kib, 255, 256, 4, 0},
	{103, 32, 64, 32, 228 * kib, 227 * kib, kib, 128, 64 * kib, 64 * kib, 255, 256, 4, 0},
	{110, 32, 48, 24, 228 * kib, 227 * kib, kib, 128, 64 * kib, 64 * kib, 255, 256, 4, 0},
	{120, 32, 48, 24, 100 * kib, 99 * kib, kib, 128, 64 * kib, 64 * kib, 255, 256, 4, 0},
	{121, 32, 48, 24, 100 * kib, 99 * kib, kib, 128, 64 * kib, 64 * kib, 255, 256, 4, 0},
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
func (l *Limits) Threads() int { return l.Warps * l.WarpSize }

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
	Threads   int // threads of the block
	Registers int // registers of a thread; 0 means unknown, and no limit
	Shared    int // bytes, static and dynamic
}

// WarpsOf returns the number of warps of a block.
func (l *Limits) WarpsOf(b Block) int { return (b.Threads + l.WarpSize - 1) / l.WarpSize }

// Resident returns the number of blocks that can be resident, 0 if a single block does not fit on the multiprocessor, and
// the resource that limits it: the first in the order above if there are several. It does not check MaxThreads.
func (l *Limits) Resident(b Block) (n int, limiter Limit) {
	n, limiter = l.Blocks, LimitedByBlocks
	limit := func(m int, reason Limit) {
		if m < n {
			n, limiter = m, reason
		}
	}
	warps := l.WarpsOf(b)
	limit(l.Warps/max(warps, 1), LimitedByWarps)
	if shared := roundUp(b.Shared+l.Reserved, l.Unit); b.Shared > l.PerBlock || shared > l.Shared {
		limit(0, LimitedByShared)
	} else if shared > 0 {
		limit(l.Shared/shared, LimitedByShared)
	}
	if b.Registers > 0 {
		// The registers of a warp are in the register file of its partition. The check of a block's registers assumes
		// that its warps are spread over all partitions.
		warpRegisters := l.warpRegisters(b.Registers)
		if b.Registers > l.PerThread || warpRegisters*roundUp(warps, l.Partitions) > l.Registers {
			limit(0, LimitedByRegisters)
		} else {
			limit(l.FileSize/l.Partitions/warpRegisters*l.Partitions/max(warps, 1), LimitedByRegisters)
		}
	}
	return n, limiter
}

// warpRegisters returns the number of registers that are allocated for a warp.
func (l *Limits) warpRegisters(registers int) int {
	unit := l.RegisterUnit
	if registers < 64 && l.DoubleUnit>>registers&1 != 0 {
		unit *= 2
	}
	return roundUp(registers*l.WarpSize, unit)
}

// Occupancy returns the warps of the given number of blocks as a share of the maximum number of resident warps.
func (l *Limits) Occupancy(b Block, blocks int) float64 {
	return float64(blocks*l.WarpsOf(b)) / float64(l.Warps)
}

// roundUp rounds n up to a multiple of unit.
func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }
