package occupancy

import (
	"encoding/csv"
	"os"
	"strconv"
	"testing"
)

// TestResultsOfCalculator compares with the results of NVIDIA's occupancy calculator: testdata/reference.c, with
// cuda_occupancy.h of CUDA 13.5.
func TestResultsOfCalculator(t *testing.T) {
	f, err := os.Open("testdata/reference.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma = '\t'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, row := range rows[1:] {
		var n [5]int
		for i := range n {
			if n[i], err = strconv.Atoi(row[i]); err != nil {
				t.Fatal(err)
			}
		}
		sm, want := n[0], n[4]
		seen[sm] = true
		l := LimitsOf(sm)
		if l.SM != sm {
			t.Fatalf("no limits of %d", sm)
		}
		if got, limiter := l.Resident(Block{Threads: n[1], Registers: n[2], Shared: n[3]}); got != want {
			t.Errorf("sm_%d, blocks of %d threads, %d registers, %d bytes: %d by %s, want %d", sm, n[1], n[2], n[3], got, limiter, want)
		}
	}
	for i := range Generations {
		if sm := Generations[i].SM; seen[sm] != (sm >= 35 && sm != 37) { // CUDA 13.5 supports none of the others
			t.Errorf("the reference has %d: %v", sm, seen[sm])
		}
	}
}

// TestSpecifications compares the older generations with the table "Technical Specifications per Compute Capability" of the
// CUDA C Programming Guide (CUDA 7 and 8). The warps, blocks and registers of 2.0 are also those of Vijaykumar et al. (CABA,
// table 6) and of GPGPU-Sim's configuration of a GTX 480.
func TestSpecifications(t *testing.T) {
	type specification struct{ Warps, Blocks, FileSize, Registers, PerThread, Shared, PerBlock int }
	for sm, want := range map[int]specification{
		20: {48, 8, 32768, 32768, 63, 49152, 49152},
		21: {48, 8, 32768, 32768, 63, 49152, 49152},
		30: {64, 16, 65536, 65536, 63, 49152, 49152},
		32: {64, 16, 65536, 32768, 255, 49152, 49152},
		35: {64, 16, 65536, 65536, 255, 49152, 49152},
		37: {64, 16, 131072, 65536, 255, 114688, 49152},
	} {
		l := LimitsOf(sm)
		if got := (specification{l.Warps, l.Blocks, l.FileSize, l.Registers, l.PerThread, l.Shared, l.PerBlock}); l.SM != sm || got != want {
			t.Errorf("sm_%d: %+v, want %+v", sm, got, want)
		}
	}
}

// TestOlderGenerations computes by hand. On 2.x (cuda_occupancy.h of CUDA 7) a warp's registers are allocated in units of
// 64, or of 128 for 21, 22, 29, 30, 37, 38, 45 and 46 registers of a thread, in either of two halves of the file with 16384
// each. On 3.x they are in units of 256, in quarters of the file. Shared memory is in units of 128 bytes, and 256 on 3.x.
func TestOlderGenerations(t *testing.T) {
	for _, c := range []struct {
		sm int
		Block
		blocks int
		by     Limit
	}{
		{20, Block{Threads: 256, Registers: 20}, 6, LimitedByWarps},      // 640 of a warp: 2·25 warps; 48/8
		{20, Block{Threads: 256, Registers: 21}, 5, LimitedByRegisters},  // 672, so 768: 2·21 = 42 warps, of 8
		{20, Block{Threads: 96, Registers: 21}, 8, LimitedByBlocks},      // 42 warps, of 3
		{20, Block{Threads: 192, Registers: 23}, 7, LimitedByRegisters},  // 736, so 768: 42 warps, of 6
		{20, Block{Threads: 192, Registers: 25}, 6, LimitedByRegisters},  // 800, so 832: 2·19 = 38 warps, of 6
		{20, Block{Threads: 736, Registers: 22}, 1, LimitedByRegisters},  // 704, so 768: 42 warps, of 23
		{20, Block{Threads: 544, Registers: 29}, 1, LimitedByRegisters},  // 928, so 1024: 32 warps, of 17
		{20, Block{Threads: 544, Registers: 28}, 2, LimitedByWarps},      // 896: 2·18 = 36 warps, of 17
		{20, Block{Threads: 544, Registers: 30}, 1, LimitedByRegisters},  // 960, so 1024
		{20, Block{Threads: 416, Registers: 37}, 1, LimitedByRegisters},  // 1184, so 1280: 24 warps, of 13
		{20, Block{Threads: 352, Registers: 46}, 1, LimitedByRegisters},  // 1472, so 1536: 20 warps, of 11
		{20, Block{Threads: 64, Registers: 45}, 8, LimitedByBlocks},      // 1440, so 1536: 2·10 = 20 warps, of 2
		{20, Block{Threads: 64, Registers: 63}, 8, LimitedByBlocks},      // 2016: 2·8 = 16 warps, of 2
		{20, Block{Threads: 128, Registers: 63}, 4, LimitedByRegisters},  // 16 warps, of 4
		{20, Block{Threads: 128, Registers: 64}, 0, LimitedByRegisters},  // at most 63
		{20, Block{Threads: 1024, Registers: 32}, 1, LimitedByWarps},     // 32 warps of 1024: the whole file
		{20, Block{Threads: 1024, Registers: 33}, 0, LimitedByRegisters}, // 1056, so 1088, of 32 warps
		{20, Block{Threads: 64, Shared: 6272}, 7, LimitedByShared},       // 49·128: 384/49
		{20, Block{Threads: 64, Shared: 6144}, 8, LimitedByBlocks},       // 48·128
		{20, Block{Threads: 64, Shared: 6145}, 7, LimitedByShared},       // rounded up to 49·128
		{30, Block{Threads: 256, Registers: 32}, 8, LimitedByWarps},      // 1024: 4·16 warps, of 8
		{30, Block{Threads: 256, Registers: 33}, 6, LimitedByRegisters},  // 1056, so 1280: 4·12 = 48 warps, of 8
		{30, Block{Threads: 256, Registers: 63}, 4, LimitedByRegisters},  // 2016, so 2048: 4·8 = 32 warps, of 8
		{30, Block{Threads: 256, Registers: 64}, 0, LimitedByRegisters},  // at most 63
		{32, Block{Threads: 512, Registers: 64}, 2, LimitedByRegisters},  // 2048: 32 warps, of 16; a block has 32768
		{32, Block{Threads: 512, Registers: 65}, 0, LimitedByRegisters},  // 2080, so 2304, of 16 warps: 36864
		{37, Block{Threads: 256, Registers: 64}, 8, LimitedByWarps},      // 2048: 4·16 warps; 64/8
		{37, Block{Threads: 256, Shared: 40 << 10}, 2, LimitedByShared},  // 112/40
	} {
		if n, limiter := LimitsOf(c.sm).Resident(c.Block); n != c.blocks || limiter != c.by {
			t.Errorf("sm_%d, %+v: %d blocks by %s, want %d by %s", c.sm, c.Block, n, limiter, c.blocks, c.by)
		}
	}
}

// TestOtherMachine: a machine of a paper is a copy with other numbers. With warps of 64 threads a block of 256 has 4 warps.
func TestOtherMachine(t *testing.T) {
	l := *LimitsOf(20)
	l.WarpSize, l.Warps, l.FileSize = 64, 24, 64<<10
	if n, limiter := l.Resident(Block{Threads: 256, Registers: 32}); n != 6 || limiter != LimitedByWarps || l.Threads() != 1536 || l.WarpsOf(Block{Threads: 65}) != 2 {
		t.Errorf("%d blocks by %s, %d threads", n, limiter, l.Threads())
	}
	if n, limiter := l.Resident(Block{Threads: 256, Registers: 60}); n != 4 || limiter != LimitedByRegisters { // 3840: 2·8 warps, of 4
		t.Errorf("%d blocks by %s", n, limiter)
	}
}

// TestLimitingResource: the reported limit.
func TestLimitingResource(t *testing.T) {
	for _, c := range []struct {
		Block
		blocks int
		by     Limit
	}{
		{Block{Threads: 32}, 16, LimitedByBlocks}, // as sm_86 has it: 1536 threads, 16 blocks, 100 KiB, 64 Ki registers
		{Block{Threads: 512}, 3, LimitedByWarps},
		{Block{Threads: 128, Shared: 24 << 10}, 4, LimitedByShared},
		{Block{Threads: 128, Shared: 100 << 10}, 0, LimitedByShared},
		{Block{Threads: 256, Registers: 128}, 2, LimitedByRegisters},
		{Block{Threads: 1024, Registers: 65}, 0, LimitedByRegisters},
	} {
		if n, limiter := LimitsOf(86).Resident(c.Block); n != c.blocks || limiter != c.by {
			t.Errorf("%+v: %d blocks by %s, want %d by %s", c.Block, n, limiter, c.blocks, c.by)
		}
	}
	for sm, want := range map[int]int{10: 20, 25: 21, 30: 30, 34: 32, 86: 86, 88: 87, 101: 100, 200: 121} {
		if got := LimitsOf(sm).SM; got != want {
			t.Errorf("sm_%d has the limits of %d, want %d", sm, got, want)
		}
	}
}
