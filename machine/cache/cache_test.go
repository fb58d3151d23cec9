package cache

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gemu/internal/part"
)

// access accesses a line and inserts it if it is absent. It returns the line that leaves, or none.
func access(c *Lines[int], line uint64) (hit bool, left uint64) {
	left = none
	if c.Access(&Access{Line: line}) != nil {
		return true, left
	}
	c.Insert(&Access{Line: line}, func(line uint64, _ *int) { left = line })
	return false, left
}

const none = 1 << 63

// TestTreePLRU has the choices of the tree for 3, 5 and 6 ways, worked out by hand: the halves are 2+1, 3+2 and 3+3.
func TestTreePLRU(t *testing.T) {
	for _, c := range []struct {
		ways int
		uses []int
		want int
	}{
		{1, []int{0}, 0},
		{2, []int{0, 1, 0}, 1},
		{3, nil, 0},
		{3, []int{0, 1, 2}, 0},
		{3, []int{0, 1, 2, 0}, 2},       // exact LRU has 1
		{3, []int{2, 0, 1}, 2},          //
		{5, []int{0, 1, 2, 3, 4}, 0},    //
		{5, []int{3, 4, 0, 1, 2}, 3},    // right half, its older one
		{5, []int{0, 1, 2, 3, 4, 0}, 3}, // away from 0: right, away from 4: 3
		{6, []int{0, 1, 2, 3, 4, 5}, 0},
		{6, []int{0, 1, 2, 3, 4, 5, 0}, 3},
		{6, []int{5, 4, 3, 2, 1, 0}, 5},
		{6, []int{0, 3, 1, 4, 2, 5}, 0},
	} {
		p := TreePLRU(Shape{Sets: 2, Ways: c.ways})
		for _, w := range c.uses {
			p.Hit(1, w, nil)
		}
		if got, _ := p.Victim(1, nil); got != c.want {
			t.Errorf("%d ways, after %v: %d leaves, want %d", c.ways, c.uses, got, c.want)
		}
	}
}

// byLetter pins the lines s to w softly and x to z hard; n bypasses the cache.
func byLetter(s Shape) Policy {
	return Pinned(s, func(a *Access) Priority {
		switch line := byte(a.Line); {
		case line >= 'x':
			return HardPin
		case line >= 's':
			return SoftPin
		case line == 'n':
			return Bypass
		}
		return Normal
	})
}

// reserveK reserves the lines k and l.
func reserveK(s Shape) Policy {
	return NewReserved(s, func(a *Access) bool { return a.Line == 'k' || a.Line == 'l' })
}

// TestPinsEnd: after PinPeriod accesses pinned lines leave as others do, and released lines too.
func TestPinsEnd(t *testing.T) {
	lines := New[int](Shape{Sets: 1, Ways: 2}, byLetter)
	access(lines, 'x')
	for range PinPeriod - 2 {
		access(lines, 'a')
	}
	if _, left := access(lines, 'b'); left != 'a' { // access PinPeriod
		t.Errorf("%c leaves before the period has ended, want a", rune(left))
	}
	if _, left := access(lines, 'c'); left != 'x' {
		t.Errorf("%c leaves after the period, want x", rune(left))
	}
	var reserved *Reserved
	lines = New[int](Shape{Sets: 1, Ways: 2}, func(s Shape) Policy {
		reserved = reserveK(s).(*Reserved)
		return reserved
	})
	access(lines, 'k')
	access(lines, 'l')
	reserved.Release()
	if _, left := access(lines, 'd'); left != 'k' {
		t.Errorf("%c leaves after Release, want k", rune(left))
	}
}

// TestPolicies follows sequences of accesses by hand, in a cache of a single set. A letter is a line; a capital letter is a hit.
// Misses in a full set name the line that leaves, after a dash.
func TestPolicies(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy func(Shape) Policy
		ways   int
		want   []string
	}{
		{"one way", LRU, 1, []string{"a", "A", "b-a", "a-b"}},
		{"the oldest access leaves", LRU, 2, []string{"a", "b", "A", "c-b", "b-a", "a-c"}},
		{"a scan removes all", LRU, 4, []string{"a", "b", "B", "A", "c", "d", "e-b", "f-a", "a-c", "b-d"}},
		{"a loop longer than the set never hits", LRU, 2, []string{"a", "b", "c-a", "a-b", "b-c", "c-a"}},
		{"the tree is not exact", TreePLRU, 4, []string{"a", "b", "c", "d", "A", "e-c", "B", "f-d"}},
		// Predictions after each access: a2, a2 b2, a2 b0, a0 b0, c2, d2; the misses of e find no "distant": a1 b1 c3 d3.
		{"SRRIP keeps accessed lines in a scan", SRRIP, 4, []string{"a", "b", "B", "A", "c", "d", "e-c", "f-d", "A", "B"}},
		{"SRRIP replaces the first distant line", SRRIP, 2, []string{"a", "b", "c-a", "d-b", "D", "e-c", "f-e"}},
		{"SRRIP ages all lines until one is distant", SRRIP, 2, []string{"a", "A", "b", "B", "c-a", "d-b", "e-c", "E", "b-d"}},
		{"BRRIP replaces its newest line", BRRIP, 4, []string{"a", "b", "A", "B", "c", "d", "e-c", "f-e", "A", "B", "D", "g-f"}},
		{"soft-pinned lines leave after the others", byLetter, 2, []string{"s", "a", "b-a", "c-b", "S", "t-c", "a-s"}},
		{"hard-pinned lines that do not fit share way 0", byLetter, 2, []string{"x", "y", "z-x", "x-z", "Y"}},
		{"hard-pinned lines stay longer than soft-pinned ones", byLetter, 2, []string{"x", "s", "a-s", "b-a", "X"}},
		{"a line without priority takes way 0 of a pinned set", byLetter, 2, []string{"x", "y", "a-x", "b-a", "Y"}},
		{"bypassing lines do not enter an empty cache", byLetter, 2, []string{"n", "n", "a", "b", "n", "A", "B"}},
		// The prediction of b, of c and so on ages from 2 to 3; those of k and l do not.
		{"reserved lines stay, and a full set keeps others out", reserveK, 2, []string{"k", "a", "b-a", "c-b", "K", "l-c", "d", "d", "K", "L"}},
		{"DRRIP of few sets is SRRIP", DRRIP, 4, []string{"a", "b", "B", "A", "c", "d", "e-c", "f-d", "A", "B"}},
	} {
		lines := New[int](Shape{Sets: 1, Ways: c.ways}, c.policy)
		for i, step := range c.want {
			line := step[0] | 0x20
			hit, left := access(lines, uint64(line))
			got := string(line)
			if hit {
				got = string(line &^ 0x20)
			}
			if left != none {
				got += "-" + string(rune(left))
			}
			if got != step {
				t.Errorf("%s: access %d of %v: %s", c.name, i, c.want, got)
				break
			}
		}
	}
}

// TestBRRIPInsertsLong: lines replace each other in one way of a set, until the 32nd line is predicted as "long" and stays.
func TestBRRIPInsertsLong(t *testing.T) {
	lines := New[int](Shape{Sets: 1, Ways: 2}, BRRIP)
	var left []uint64
	for line := range uint64(36) {
		if _, l := access(lines, line); l != none {
			left = append(left, l)
		}
	}
	want := []uint64{} // line 31 is the 32nd
	for line := range uint64(31) {
		want = append(want, line)
	}
	want = slices.DeleteFunc(want, func(l uint64) bool { return l == 1 }) // way 1 keeps its line: way 0 is the first distant one
	want = append(want, 1, 32, 33, 34)[:len(left)]
	if !slices.Equal(left, want) {
		t.Errorf("%v leave, want %v", left, want)
	}
}

// TestDRRIP: in the sets without a leader, DRRIP has about the misses of the better policy: BRRIP in a loop longer than a set, SRRIP for
// lines that are accessed twice, with another between.
func TestDRRIP(t *testing.T) {
	const sets, ways, rounds = 1024, 4, 60
	misses := func(policy func(Shape) Policy, lines func(round uint64) []uint64) (n int) {
		c := New[int](Shape{Sets: sets, Ways: ways}, policy)
		for round := range uint64(rounds) {
			for _, line := range lines(round) {
				for set := range uint64(sets) {
					if hit, _ := access(c, line*sets+set); !hit {
						n++
					}
				}
			}
		}
		return n
	}
	for _, c := range []struct {
		name          string
		lines         func(round uint64) []uint64
		better, worse func(Shape) Policy
	}{
		{"loop", func(uint64) []uint64 { return []uint64{1, 2, 3, 4, 5, 6} }, BRRIP, SRRIP},
		{"twice", func(round uint64) []uint64 { return []uint64{round + 1, round} }, SRRIP, BRRIP},
	} {
		better, worse, got := misses(c.better, c.lines), misses(c.worse, c.lines), misses(DRRIP, c.lines)
		if worse < better*5/4 {
			t.Errorf("%s: %d and %d misses do not differ enough", c.name, better, worse)
		}
		if got-better > (worse-better)/4 {
			t.Errorf("%s: %d misses; %d with the better policy, %d with the other", c.name, got, better, worse)
		}
	}
}

// TestLRUAgainstList compares LRU with a list in the order of accesses.
func TestLRUAgainstList(t *testing.T) {
	rng := rand.New(rand.NewPCG(part.Seed(t), 1))
	for range part.Count(20, 100, 1000) {
		s := Shape{Sets: 1 << rng.IntN(4), Ways: 1 + rng.IntN(6), Index: []Index{nil, Modulo, XOR}[rng.IntN(3)]}
		c := New[int](s, LRU)
		index := s.Index
		if index == nil {
			index = Modulo
		}
		lists := make([][]uint64, s.Sets) // the latest is last
		for range 400 {
			line := rng.Uint64N(uint64(3 * s.Sets * s.Ways))
			set := index(line, s.Sets)
			list, left := lists[set], uint64(none)
			i := slices.Index(list, line)
			switch {
			case rng.IntN(20) == 0:
				c.Remove(line)
				if i >= 0 {
					lists[set] = slices.Delete(list, i, i+1)
				}
				continue
			case i >= 0:
				list = slices.Delete(list, i, i+1)
			case len(list) == s.Ways:
				left, list = list[0], list[1:]
			}
			lists[set] = append(slices.Clip(list), line)
			if hit, got := access(c, line); hit != (i >= 0) || got != left {
				t.Fatalf("%+v, line %d: hit %v, %d leaves; want %v, %d", s, line, hit, got, i >= 0, left)
			}
		}
		n := 0
		c.All(func(line uint64, _ *int) {
			if n++; !slices.Contains(lists[index(line, s.Sets)], line) {
				t.Errorf("%+v: line %d is in the cache", s, line)
			}
			if c.Peek(line) == nil {
				t.Errorf("%+v: line %d is not found", s, line)
			}
		})
		for _, list := range lists {
			n -= len(list)
		}
		if n != 0 {
			t.Errorf("%+v: %d lines too many", s, n)
		}
	}
}

// TestXOR has sets of lines in hexadecimal digits, by hand: 16 sets combine the digits.
func TestXOR(t *testing.T) {
	for _, c := range []struct {
		line uint64
		sets int
		want int
	}{{0, 16, 0}, {7, 16, 7}, {0x10, 16, 1}, {0x123, 16, 0}, {0x124, 16, 7}, {0xff00, 16, 0}, {0xf000, 16, 15}, {12345, 1, 0}, {0b110110, 4, 0b11 ^ 0b01 ^ 0b10}, {5*12 + 7, 12, 0}, {5*144 + 2*12 + 1, 12, 8}} {
		if got := XOR(c.line, c.sets); got != c.want {
			t.Errorf("line %#x of %d sets: set %d, want %d", c.line, c.sets, got, c.want)
		}
	}
}

// TestXORFillsSets: successive lines fill all sets, for the numbers of sets of the known machines and others.
func TestXORFillsSets(t *testing.T) {
	for _, sets := range []int{1, 2, 3, 56, 192, 256, 384, 3072, 20480, 25600} {
		for _, run := range []uint64{0, 1, 12345} {
			seen := make([]bool, sets)
			for i := range uint64(sets) {
				set := XOR(run*uint64(sets)+i, sets)
				if seen[set] {
					t.Fatalf("%d sets: two of the lines from %d have set %d", sets, run*uint64(sets), set)
				}
				seen[set] = true
			}
		}
	}
}

// bypass keeps all lines out of a full set.
type bypass struct{}

func (bypass) Hit(int, int, *Access)           {}
func (bypass) Fill(int, int, *Access)          {}
func (bypass) Victim(int, *Access) (int, bool) { return 0, true }

// TestBypass: a policy can keep a line out.
func TestBypass(t *testing.T) {
	c := New[int](Shape{Sets: 1, Ways: 2}, func(Shape) Policy { return bypass{} })
	for line := range uint64(2) {
		*c.Insert(&Access{Line: line}, nil) = int(line) + 10
	}
	if c.Insert(&Access{Line: 2}, nil) != nil || c.Peek(2) != nil || *c.Peek(0) != 10 || *c.Peek(1) != 11 {
		t.Error("the line enters, or another leaves")
	}
}

// TestTrim has lines of several sizes in a set of four tags whose lines may take eight units, by hand. A step is a line with its size.
func TestTrim(t *testing.T) {
	type step struct {
		line uint64
		size int
		want []uint64 // lines that leave
	}
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"small lines fill the tags", []step{{1, 1, nil}, {2, 1, nil}, {3, 1, nil}, {4, 1, nil}, {5, 1, []uint64{1}}}},
		{"large lines fill the bytes", []step{{1, 4, nil}, {2, 4, nil}, {3, 4, []uint64{1}}}},
		{"the least recently used lines leave until the new one fits", []step{{1, 2, nil}, {2, 2, nil}, {3, 3, nil}, {1, 2, nil}, {4, 4, []uint64{2, 3}}}},
		{"a line that grows stays", []step{{1, 1, nil}, {2, 4, nil}, {3, 3, nil}, {1, 4, []uint64{2}}}},
		{"a line without a size stays", []step{{1, 0, nil}, {2, 4, nil}, {3, 4, nil}, {4, 4, []uint64{2}}}},
	} {
		lines := New[int](Shape{Sets: 1, Ways: 4}, LRU)
		if !lines.Trims() {
			t.Fatal("LRU does not trim")
		}
		for i, s := range c.steps {
			var left []uint64
			leaves := func(line uint64, _ *int) { left = append(left, line) }
			at := lines.Access(&Access{Line: s.line})
			if at == nil {
				at = lines.Insert(&Access{Line: s.line}, leaves)
			}
			*at = s.size
			lines.Trim(s.line, 8, func(size *int) int { return *size }, leaves)
			if !slices.Equal(left, s.want) {
				t.Errorf("%s, step %d: %v leave, want %v", c.name, i, left, s.want)
			}
		}
	}
	if New[int](Shape{Sets: 1, Ways: 4}, SRRIP).Trims() || New[int](Shape{Sets: 1, Ways: 65}, LRU).Trims() {
		t.Error("a policy without an order, or more than 64 tags, can be trimmed")
	}
}
