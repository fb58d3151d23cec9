package occupancy

import (
	"fmt"
	"slices"
	"testing"
)

// machines are the limits of the tests below: all generations, and a machine with warps of 64 threads.
func machines() []*Limits {
	other := *LimitsOf(20)
	other.SM, other.WarpSize, other.Warps, other.RegisterUnit, other.PerBlock = 0, 64, 24, 96, 20000
	list := []*Limits{&other}
	for i := range Generations {
		list = append(list, &Generations[i])
	}
	return list
}

// blocks are the blocks of the tests below: ordinary ones, at edges of allocation units, the least and the largest, and
// some that do not fit on some generations.
var blocks = []Block{
	{256, 32, 0}, {256, 33, 4096}, {1024, 64, 0}, {1024, 65, 0}, {96, 21, 6145}, {100, 40, 12 << 10}, {1, 1, 0}, {32, 255, 48 << 10},
	{640, 48, 0}, {128, 128, 100 << 10}, {64, 63, 227 << 10}, {1024, 255, 300 << 10}, {736, 22, 1}, {544, 29, 49152}, {1100, 16, 0},
}

// TestCliffsByHand computes from the limits of the CUDA C++ Programming Guide.
func TestCliffsByHand(t *testing.T) {
	for _, c := range []struct {
		sm int
		Block
		want []string
	}{
		// 64 warps and 32 blocks, 65536 registers in units of 256, 96 KiB in units of 256. 8 blocks of 8 warps are all 64
		// warps. With 7 warps 9 blocks have 63, with 9 warps 7 have 63. With 33 registers a warp has 1280, and a
		// quarter of the file 12 warps: 6 blocks. 8 blocks have 12288 bytes each.
		{70, Block{256, 32, 0}, []string{"threads -32: 63 by warps", "threads +1: 63 by warps", "registers +1: 48 by registers", "shared memory +12289: 56 by shared memory"}},
		// With 40 registers 48 warps are resident, in 6 blocks. 7 warps: 6 blocks are 42. 6 warps: 8 blocks are 48 again;
		// 5: 9 blocks are 45; 4, 3, 2, 1: 12, 16, 24 and 32 blocks, so 48, 48, 48 and 32. No size has more. 9 warps: 5
		// blocks are 45. 32 registers: 64 warps. 41: 1536 of a warp, 10 in a quarter, so 40 warps in 5 blocks. 96 KiB / 6 = 16384.
		{70, Block{256, 40, 0}, []string{"threads -32: 42 by registers", "threads +1: 45 by registers", "registers -8: 64 by warps", "registers +1: 40 by registers", "shared memory +16385: 40 by shared memory"}},
		// 48 warps: a block of 32 warps is alone. 24 warps are two blocks (-256), and 33 are too many for a block. 31 warps
		// are alone, too (-32). A block of 32 warps has at most 65536 registers: 64 of each thread.
		{86, Block{1024, 32, 0}, []string{"threads -32: 31 by warps", "threads -256: 48 by warps", "registers +33: 0 by registers"}},
		// 100 KiB, and 1 KiB of each block for the system: 2 blocks with 49 KiB of their own, 3 with 33194 rounded down to
		// units of 128 with the 1024: 266 units are 34048, so 33024 bytes; 1 above 50176. 1 warp less is 2·7, and 9 are 2·9.
		{86, Block{256, 32, 48 << 10}, []string{"threads -32: 14 by shared memory", "threads +1: 18 by shared memory", "registers +97: 8 by registers",
			"shared memory -16128: 24 by shared memory", "shared memory +1025: 8 by shared memory"}},
		// 2.0: 8 blocks of 6 warps are all 48 warps. 5 warps: 40 in 8 blocks; 7: 42 in 6. 21 registers: 768 of a warp, 42 warps,
		// 7 blocks. 48 KiB / 8 = 6144.
		{20, Block{192, 20, 0}, []string{"threads -32: 40 by blocks", "threads +1: 42 by warps", "registers +1: 42 by registers", "shared memory +6145: 42 by shared memory"}},
		// Unknown registers.
		{20, Block{192, 0, 0}, []string{"threads -32: 40 by blocks", "threads +1: 42 by warps", "shared memory +6145: 42 by shared memory"}},
		// A block that does not fit: 65 registers are 2304 of a warp, 32 warps of 73728. 28 warps of 64512 fit, 64 registers fit.
		{70, Block{1024, 65, 0}, []string{"threads -128: 28 by registers", "registers -1: 32 by registers"}},
		// More registers than a thread of 2.0 has: 63 are 2016 of a warp, 8 in a half of the file.
		{20, Block{256, 70, 0}, []string{"registers -7: 16 by registers"}},
	} {
		var got []string
		for _, f := range LimitsOf(c.sm).Cliffs(c.Block) {
			got = append(got, fmt.Sprintf("%s %+d: %d by %s", f.Resource, f.Change, f.To.Warps, f.To.Limit))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("sm_%d, %+v:\n%q, want\n%q", c.sm, c.Block, got, c.want)
		}
	}
}

// TestCliffsOneByOne compares with a search that tries each number of threads, registers and bytes.
func TestCliffsOneByOne(t *testing.T) {
	for _, l := range machines() {
		for _, b := range blocks {
			warps := func(b Block) int {
				n, _ := l.Resident(b)
				return n * ((b.Threads + l.WarpSize - 1) / l.WarpSize)
			}
			type key struct {
				Resource
				sign, rise int
			}
			want := map[key]int{}
			try := func(r Resource, change int, to Block) {
				k := key{r, 1, 0}
				if change < 0 {
					k.sign = -1
				}
				if n, now := warps(to), warps(b); n != now {
					k.rise = -1
					if n > now {
						k.rise = 1
					}
					if old, ok := want[k]; !ok || change*k.sign < old*k.sign {
						want[k] = change
					}
				}
			}
			for n := 1; n <= 1024; n++ {
				try(Threads, n-b.Threads, Block{n, b.Registers, b.Shared})
			}
			for n := 1; n <= l.PerThread; n++ {
				try(Registers, n-b.Registers, Block{b.Threads, n, b.Shared})
			}
			for n := 0; n <= l.PerBlock; n++ {
				if n%128 > 1 && n != l.PerBlock { // all units are multiples of 128, and the warps change next to them
					continue
				}
				try(Shared, n-b.Shared, Block{b.Threads, b.Registers, n})
			}
			got := map[key]int{}
			for _, c := range l.Cliffs(b) {
				k := key{c.Resource, 1, 1}
				if c.Change < 0 {
					k.sign = -1
				}
				if c.To.Warps < warps(b) {
					k.rise = -1
				}
				got[k] = c.Change
				if c.To.Warps != warps(c.To.Block) {
					t.Errorf("sm_%d, %+v: %+v, want %d warps", l.SM, b, c, warps(c.To.Block))
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("sm_%d, %+v: %v, want %v", l.SM, b, got, want)
			}
		}
	}
}

// TestSurfaceIsComplete: the cell of each block has its resident warps.
func TestSurfaceIsComplete(t *testing.T) {
	for _, l := range machines() {
		for _, shared := range []int{0, 5000, 300 << 10} {
			s := l.Surface(shared)
			for threads := 1; threads <= MaxThreads; threads += 31 {
				for registers := 1; registers <= l.PerThread; registers++ {
					b := Block{threads, registers, shared}
					row, column := s.Cell(b)
					n, limit := l.Resident(b)
					if p := s.Points[row][column]; p.Blocks != n || p.Limit != limit || p.Warps != n*l.WarpsOf(b) {
						t.Fatalf("sm_%d, %+v: %+v, want %d blocks by %s", l.SM, b, p, n, limit)
					}
				}
			}
			for _, row := range s.Points { // more registers never have more warps
				for i := range row[1:] {
					if row[i].Warps < row[i+1].Warps {
						t.Errorf("sm_%d: %+v, and then %+v", l.SM, row[i], row[i+1])
					}
				}
			}
		}
	}
	s := LimitsOf(70).Surface(0)
	if row, column := s.Cell(Block{Threads: 33}); row != 1 || column != -1 {
		t.Errorf("33 threads: %d, %d", row, column)
	}
	if row, column := s.Cell(Block{Threads: 1025, Registers: 256}); row != len(s.Threads) || column != len(s.Registers) {
		t.Errorf("1025 threads, 256 registers: %d, %d", row, column)
	}
	if len(s.Threads) != 32 || len(s.Registers) != 32 || s.Registers[0] != 8 || s.Registers[31] != 255 {
		t.Errorf("threads %v, registers %v", s.Threads, s.Registers)
	}
	// 2.0: 21 to 24 registers are all 768 of a warp; so are 29 to 32, 37 to 40 and 45 to 48, with 1024, 1280 and 1536.
	if s := LimitsOf(20).Surface(0); len(s.Registers) != 28 || slices.Contains(s.Registers, 22) || !slices.Contains(s.Registers, 24) {
		t.Errorf("registers of 2.0: %v", s.Registers)
	}
}
