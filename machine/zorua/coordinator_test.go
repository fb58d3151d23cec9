package zorua

import (
	"slices"
	"testing"

	"gemu/occupancy"
)

// TestTableSizes: the sizes of the mapping tables in section 4.4.5 of the thesis.
func TestTableSizes(t *testing.T) {
	registers, shared, slots := TableBits(256, 48, 64)
	if registers != 1152*8 || shared != 672*8 || slots != 56*8 {
		t.Errorf("%d, %d and %d bits, want 1.125 KB, 672 B and 56 B", registers, shared, slots)
	}
}

// TestThresholdStep: the threshold changes by 4 % if the difference is more than 16, and not if it is 16; it is never less than 0.
func TestThresholdStep(t *testing.T) {
	for _, test := range []struct {
		idle, memory int64
		want         int
	}{{17, 0, 14}, {16, 0, 10}, {0, 16, 10}, {0, 17, 6}, {100, 84, 10}, {100, 83, 14}} {
		c := threshold{percent: FirstThreshold}
		c.end(500, 500) // the epoch before
		c.end(500+500+test.idle, 500+500+test.memory)
		if c.percent != test.want {
			t.Errorf("idle cycles grow by %d, memory by %d: %d %%, want %d", test.idle, test.memory, c.percent, test.want)
		}
	}
	c := threshold{percent: 2}
	c.end(0, 1000)
	if c.percent != 0 {
		t.Errorf("%d %%, want 0", c.percent)
	}
}

// small returns a coordinator with 4 sets of registers, 2 sets of shared memory and some slots. Instruction i begins phase i.
func small(warps, places int, list ...needs) *Coordinator {
	p := &Plan{Places: places, mode: Phases, entries: LogicalWarps * tableSets, limits: &occupancy.Limits{Warps: warps, WarpSize: 32, FileSize: 4 * 128, Shared: 2 * SharedSet}, phases: list}
	for i := range list {
		p.instrs = append(p.instrs, instruction{begins: i, reads: 1<<min(list[i].registers, 64) - 1})
	}
	return p.Coordinator(0, 0)
}

// enter enters a warp and fails the test if the outcome is another one.
func enter(t *testing.T, c *Coordinator, slot int, instr int32, want bool) {
	t.Helper()
	if got := c.Enter(slot, instr, 0); got != want {
		t.Errorf("warp %d enters instruction %d: %t, want %t", slot, instr, got, want)
	}
	if c.err != nil {
		t.Fatal(c.err)
	}
}

// lines returns the lines of register sets.
func lines(c *Coordinator, slot int, sets ...int) (list []uint64) {
	for _, set := range sets {
		for i := range uint64(4) {
			list = append(list, c.registerLine(slot)+uint64(set)*4+i)
		}
	}
	return list
}

// TestOversubscription is a sequence worked out by hand. Three warps want 3 of 4 sets each. Up to 2 of 10 warps the least parallelism lets the second have
// them, so the 2 least accessed sets of the first move to memory. The third waits until the second ends. When it ends, the first has its sets back.
func TestOversubscription(t *testing.T) {
	c := small(10, 3, needs{3, 0})
	for place := range 3 {
		c.Begin(nil, place, 1<<place, 0)
	}
	enter(t, c, 0, 0, true)
	for i, n := range []int64{2, 0, 1} {
		c.warps[0].registers[i].accesses = n
	}
	enter(t, c, 1, 0, true)
	if loads, stores := c.Moves(); loads != nil || !slices.Equal(stores, lines(c, 0, 1, 2)) {
		t.Errorf("loads %d, stores %d, want those of sets 1 and 2", loads, stores)
	}
	enter(t, c, 2, 0, false)
	if loads, _ := c.Access(0, 0); !slices.Equal(loads, []uint64{c.registerLine(0) + 4, c.registerLine(0) + 8}) {
		t.Errorf("loads %d, want a line of sets 1 and 2", loads)
	}
	if r := c.counts.Registers; r.Accesses != 3 || r.Hits != 1 {
		t.Errorf("%+v, want 1 hit of 3", r)
	}
	c.End(1, 0)
	if ready := c.Ready(); ready != 1<<2 || c.registers.free != 0 || c.registers.swapped != 2 {
		t.Errorf("ready %b, %+v", ready, c.registers)
	}
	c.End(2, 0)
	if loads, stores := c.Moves(); !slices.Equal(loads, lines(c, 0, 2, 1)) || stores != nil { // accesses 2 and 1
		t.Errorf("loads %d, stores %d, want those of sets 2 and 1", loads, stores)
	}
	c.End(0, 0)
	if c.registers != (pool{physical: 4, free: 4, most: 1024}) || c.slots != 10 || c.schedulable != 0 || c.err != nil {
		t.Errorf("at the end %+v, %d slots, %d schedulable warps, %v", c.registers, c.slots, c.schedulable, c.err)
	}
}

// TestThresholdLimits: beyond the least parallelism a warp gets sets in memory up to the threshold: one of 4 with 25 %, and not two.
func TestThresholdLimits(t *testing.T) {
	for _, test := range []struct {
		percent int
		want    bool
	}{{24, false}, {25, true}} {
		c := small(1, 2, needs{3, 0}, needs{2, 0})
		c.threshold.percent = test.percent
		c.slots = 2
		c.Begin(nil, 0, 1, 0)
		c.Begin(nil, 1, 2, 0)
		enter(t, c, 0, 0, true)
		enter(t, c, 1, 1, test.want)
	}
}

// TestManySets: two blocks with 70 of 100 sets of shared memory each, more than the bits of a word. The second has its sets when the 40 with the
// fewest accesses of the first are in memory: the last ones, if each other set has been accessed.
func TestManySets(t *testing.T) {
	c := small(10, 2, needs{1, 70})
	c.shared = pool{physical: 100, free: 100, most: 200}
	c.instrs[0].shared = sharedLoad
	c.Begin(nil, 0, 1, 0)
	c.Begin(nil, 1, 2, 0)
	enter(t, c, 0, 0, true)
	for range 30 {
		c.Access(0, 0)
	}
	enter(t, c, 1, 0, true)
	for i, s := range c.blocks[0].shared {
		if s.swapped != (i >= 30) {
			t.Errorf("set %d is in memory: %t", i, s.swapped)
		}
	}
	c.End(1, 0)
	c.End(0, 0)
	if c.shared != (pool{physical: 100, free: 100, most: 200}) || c.err != nil {
		t.Errorf("at the end %+v, %v", c.shared, c.err)
	}
}

// TestPhaseChange: a warp that needs fewer sets gives back those from the end; its block keeps the shared memory that another warp needs.
func TestPhaseChange(t *testing.T) {
	c := small(10, 1, needs{1, 2}, needs{2, 1})
	c.Begin(nil, 0, 3, 0)
	enter(t, c, 0, 0, true)
	enter(t, c, 1, 0, true)
	enter(t, c, 0, 1, true)
	if c.registers.free != 1 || c.shared.free != 0 {
		t.Errorf("%+v, %+v", c.registers, c.shared)
	}
	enter(t, c, 1, 1, true)
	if c.registers.free != 0 || c.shared.free != 1 {
		t.Errorf("%+v, %+v", c.registers, c.shared)
	}
}

// TestBarrier: a warp at a barrier lends its slot. Its state moves to memory when another takes the slot, and returns with the slot.
func TestBarrier(t *testing.T) {
	c := small(1, 2, needs{1, 0})
	c.Begin(nil, 0, 1, 0)
	c.Begin(nil, 1, 2, 0)
	enter(t, c, 0, 0, true)
	enter(t, c, 1, 0, false)
	c.Wait(0, 0)
	if ready := c.Ready(); ready != 2 {
		t.Errorf("ready %b, want warp 1", ready)
	}
	if _, stores := c.Moves(); !slices.Equal(stores, []uint64{c.stateLine(0)}) {
		t.Errorf("stores %d, want the state of warp 0", stores)
	}
	enter(t, c, 0, 0, false)
	c.End(1, 0)
	if ready := c.Ready(); ready != 1 {
		t.Errorf("ready %b, want warp 0", ready)
	}
	if loads, _ := c.Access(0, 0); !slices.Equal(loads, []uint64{c.stateLine(0)}) {
		t.Errorf("loads %d, want the state of warp 0", loads)
	}
	c.Wait(0, 0)
	enter(t, c, 0, 0, true) // no other warp has taken the slot
	if _, stores := c.Moves(); stores != nil {
		t.Errorf("stores %d, want none", stores)
	}
}

// TestAssistSets is a sequence worked out by hand: 7 sets of registers, blocks of two warps, a set for the assist warps of each warp, and 2 sets of a
// phase. The least parallelism is never reached, so that all may be in memory but sets for assist warps. The first warp of a block takes these for both
// warps, and they are free when their warp ends.
func TestAssistSets(t *testing.T) {
	c := small(20, 3, needs{2, 0})
	c.assistSets = 1
	c.registers = pool{physical: 7, free: 7, most: 100}
	for place := range 3 {
		c.Begin(nil, place, 3<<(2*place), 0)
	}
	enter(t, c, 0, 0, true) // 2 sets for assist warps, 2 others
	if c.assist != 2 || c.registers.free != 3 {
		t.Errorf("%d sets for assist warps, %+v", c.assist, c.registers)
	}
	c.warps[0].registers[0].accesses = 1
	enter(t, c, 2, 0, true) // 2 and 2: one is taken from warp 0
	if _, stores := c.Moves(); c.assist != 4 || c.registers.free != 0 || !slices.Equal(stores, lines(c, 0, 1)) {
		t.Errorf("%d sets for assist warps, %+v, stores %d", c.assist, c.registers, stores)
	}
	enter(t, c, 4, 0, true) // 6 of 7 sets are for assist warps: one set of a program remains
	if c.assist != 6 || c.registers.swapped != 5 {
		t.Errorf("%d sets for assist warps, %+v", c.assist, c.registers)
	}
	c.assistSets = 3
	c.Begin(nil, 0, 1<<10, 0) // 9 of 7 sets
	enter(t, c, 10, 0, false)
	c.assistSets = 1
	c.End(4, 0)
	c.End(5, 0)
	c.End(2, 0)
	c.End(3, 0)
	c.End(10, 0)
	if c.Moves(); c.assist != 2 || c.registers.swapped != 0 || c.registers.free != 3 {
		t.Errorf("%d sets for assist warps, %+v", c.assist, c.registers)
	}
	c.End(0, 0)
	c.End(1, 0)
	if c.registers != (pool{physical: 7, free: 7, most: 100}) || c.assist != 0 || c.err != nil {
		t.Errorf("at the end %+v, %d sets for assist warps, %v", c.registers, c.assist, c.err)
	}
}

// TestRegistersInOrder: with registers by warp, the warps of an older block come first, and a part of a block can begin.
func TestRegistersInOrder(t *testing.T) {
	c := small(10, 2)
	c.mode, c.registerSets, c.instrs = Registers, 2, []instruction{{begins: -1}}
	c.Begin(nil, 0, 1, 0)
	c.Begin(nil, 1, 6, 0)
	enter(t, c, 0, 0, true)
	enter(t, c, 1, 0, true)
	enter(t, c, 2, 0, false)
	c.Wait(1, 0)
	if c.Ready() != 0 {
		t.Error("a warp at a barrier has given back registers")
	}
	c.End(0, 0)
	if ready := c.Ready(); ready != 4 {
		t.Errorf("ready %b, want warp 2", ready)
	}
}
