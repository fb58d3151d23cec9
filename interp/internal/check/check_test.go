package check

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/regfile"
)

// reg returns 32-bit register i: row i of the engine, row 10 + i of the reference.
func reg(i int32) machine.RowPair {
	return machine.RowPair{Row: code.Row{Slot: code.R, Row: i}, Reference: code.Row{Slot: code.R, Row: 10 + i}}
}

// addition returns an addition with the given execution and guard, which writes d and reads the given registers.
func addition(exec code.Exec, guard int32, d machine.RowPair, reads ...machine.RowPair) machine.InstrPair {
	instr := &code.Instr{Op: code.OpNamed("add.s32"), Plan: code.ExecPlan{Exec: exec}, Guard: guard}
	return machine.InstrPair{Instr: instr, Reference: instr, Computes: exec != code.OnLanes, Combinable: true, OnLanes: exec == code.OnLanes, Reads: reads, Writes: []machine.RowPair{d}}
}

// onLanes returns an addition that executes on the lanes.
func onLanes(d machine.RowPair, reads ...machine.RowPair) machine.InstrPair {
	return addition(code.OnLanes, 0, d, reads...)
}

// voting is a collective instruction.
var voting = machine.InstrPair{Instr: &code.Instr{Op: code.VoteSync}, Reference: &code.Instr{Op: code.VoteSync}, OnLanes: true}

// TestComparedRows checks which operands of an instruction on the lanes must be compared: all except rows that the block
// has compared or copied, and not changed since.
func TestComparedRows(t *testing.T) {
	moved := machine.RowPair{Row: reg(1).Row, Reference: reg(7).Reference} // another register in the row of register 1
	a, b, c, d := reg(1), reg(2), reg(3), reg(4)
	for _, e := range []struct {
		name     string
		block    []machine.InstrPair // the last instruction is tested
		compared []machine.RowPair
	}{
		{"first", []machine.InstrPair{onLanes(d, a, b)}, []machine.RowPair{a, b}},
		{"read", []machine.InstrPair{onLanes(d, a, b), onLanes(d, b, c)}, []machine.RowPair{c}},
		{"written", []machine.InstrPair{onLanes(c, a, b), onLanes(d, c, b)}, nil},
		{"overwritten by another register", []machine.InstrPair{onLanes(d, a, b), onLanes(moved, b, b), onLanes(d, a, b)}, []machine.RowPair{a}},
		{"in another row", []machine.InstrPair{onLanes(d, a, b), onLanes(machine.RowPair{Row: reg(5).Row, Reference: a.Reference}, b, b), onLanes(d, a, b)}, []machine.RowPair{a}},
		{"read with a guard", []machine.InstrPair{addition(code.OnLanes, 1, c, a, b), onLanes(d, a, c)}, []machine.RowPair{a, c}},
		{"written with a guard", []machine.InstrPair{onLanes(c, a, b), addition(code.OnLanes, 1, c, a, b), onLanes(d, c, b)}, nil},
		{"overwritten with a guard", []machine.InstrPair{onLanes(d, a, b), addition(code.OnLanes, 1, moved, b, b), onLanes(d, a, b)}, []machine.RowPair{a}},
		{"written compactly", []machine.InstrPair{onLanes(d, a, b), addition(code.CompactTwo, 0, a, c, c), onLanes(d, a, b)}, []machine.RowPair{a}},
		{"read compactly", []machine.InstrPair{onLanes(d, a, b), addition(code.CompactTwo, 0, c, a, a), onLanes(d, a, b)}, []machine.RowPair{a}},
		{"a constant, computed again", []machine.InstrPair{onLanes(d, a, b), {Reference: &code.Instr{}, Writes: []machine.RowPair{{Row: code.Row{Slot: code.R, Row: -3}, Reference: a.Reference}}}, onLanes(d, a, b)}, []machine.RowPair{a}},
		{"after a collective", []machine.InstrPair{onLanes(d, a, b), voting, onLanes(d, a, b)}, []machine.RowPair{a, b}},
		{"compact itself", []machine.InstrPair{onLanes(d, a, b), addition(code.CompactTwo, 0, d, a, b)}, []machine.RowPair{a, b}},
	} {
		findUncheckedReads(e.block)
		if got := e.block[len(e.block)-1].UncheckedReads; !slices.Equal(got, e.compared) {
			t.Errorf("%s: compares %v, want %v", e.name, got, e.compared)
		}
	}
}

// TestDivisionIntoRuns checks which instructions form a run: the operands of all must be comparable before the first
// instruction, and the results of all after the last.
func TestDivisionIntoRuns(t *testing.T) {
	compact := func(d machine.RowPair, reads ...machine.RowPair) machine.InstrPair {
		return addition(code.CompactTwo, 0, d, reads...)
	}
	a, b, c, d, e := reg(1), reg(2), reg(3), reg(4), reg(5)
	sameRow, sameRef := machine.RowPair{Row: d.Row, Reference: e.Reference}, machine.RowPair{Row: e.Row, Reference: d.Reference}
	guarded := addition(code.CompactTwo, 1, e, a)
	folded := machine.InstrPair{Reference: &code.Instr{}, Computes: true, Combinable: true, Writes: []machine.RowPair{{Row: code.Row{Slot: code.R, Row: -3}, Reference: e.Reference}}}
	waits := compact(e, a)
	waits.Combinable = false
	for _, x := range []struct {
		name  string
		block []machine.InstrPair
		runs  []int
	}{
		{"one", []machine.InstrPair{compact(c, a, b)}, []int{1}},
		{"on the lanes, second", []machine.InstrPair{compact(c, a, b), onLanes(d, a, b)}, []int{1, 1}},
		{"on the lanes, first", []machine.InstrPair{onLanes(d, a, b), compact(c, a, b)}, []int{1, 1}},
		{"a chain of compact instructions", []machine.InstrPair{compact(c, a, b), compact(d, c, b), compact(e, d, c)}, []int{3}},
		{"a chain on the lanes", []machine.InstrPair{onLanes(c, a, b), onLanes(d, c, b), onLanes(e, d, c)}, []int{3}},
		{"read later in the row of another register", []machine.InstrPair{onLanes(d, a, b), onLanes(a, b, machine.RowPair{Row: d.Row, Reference: e.Reference})}, []int{1, 1}},
		{"folded", []machine.InstrPair{folded, compact(c, a, b), folded, compact(d, a, b)}, []int{2, 2}}, // both write the same register
		{"folded, then on the lanes", []machine.InstrPair{folded, onLanes(c, a, b)}, []int{1, 1}},
		{"written twice", []machine.InstrPair{compact(d, a, b), compact(d, a, d)}, []int{1, 1}},
		{"a row written twice", []machine.InstrPair{compact(d, a, b), compact(sameRow, a, b)}, []int{1, 1}},
		{"a row of the reference written twice", []machine.InstrPair{compact(d, a, b), compact(sameRef, a, b)}, []int{1, 1}},
		{"an operand overwritten later", []machine.InstrPair{compact(d, a, b), compact(a, b, b)}, []int{2}},
		{"a guard", []machine.InstrPair{compact(c, a, b), guarded, compact(d, a, b)}, []int{1, 1, 1}},
		{"an instruction that may wait", []machine.InstrPair{compact(c, a, b), waits, compact(d, a, b)}, []int{1, 1, 1}},
	} {
		findUncheckedReads(x.block)
		var runs []int
		for _, r := range divideIntoRuns(x.block, nil) {
			runs = append(runs, len(r.Pairs))
		}
		if !slices.Equal(runs, x.runs) {
			t.Errorf("%s: runs of %v, want %v", x.name, runs, x.runs)
		}
	}

	// The saved registers and the compared registers.
	block := []machine.InstrPair{compact(c, a, b), compact(d, c, b), compact(a, d, a), onLanes(e, a, b), onLanes(d, e, c)}
	findUncheckedReads(block)
	runs := divideIntoRuns(block, nil)
	for i, want := range []struct {
		len, sources, results int
		savesOperands         bool
	}{{3, 0, 3, true}, {2, 3, 2, false}} {
		if r := &runs[i]; len(r.Pairs) != want.len || len(r.Sources) != want.sources || len(r.Results) != want.results || r.SavesOperands != want.savesOperands {
			t.Errorf("run %d: %d instructions, %d sources, %d results, saves operands %v, want %+v", i, len(r.Pairs), len(r.Sources), len(r.Results), r.SavesOperands, want)
		}
	}
	for i, want := range []uint64{1, 0, 2, 0, 0} {
		if got := block[i].OverwrittenReads; got != want {
			t.Errorf("instruction %d: overwritten operands %b, want %b", i, got, want)
		}
	}
}

// TestUnneededResults checks that the reference need not have a value that one block computes and reads on the lanes,
// without a comparison.
func TestUnneededResults(t *testing.T) {
	a, b, c := reg(1), reg(2), reg(3)
	for _, x := range []struct {
		name   string
		blocks [][]machine.InstrPair // the first instruction is tested
		ends   []machine.RowPair
		want   bool // the reference does not need the result
	}{
		{"read on the lanes", [][]machine.InstrPair{{onLanes(c, a, b), onLanes(a, c, b)}}, nil, true},
		{"never read", [][]machine.InstrPair{{onLanes(c, a, b)}}, nil, true},
		{"read compactly", [][]machine.InstrPair{{onLanes(c, a, b), addition(code.CompactTwo, 0, a, c, b)}}, nil, false},
		{"read in another block", [][]machine.InstrPair{{onLanes(c, a, b)}, {onLanes(a, c, b)}}, nil, false},
		{"written in another block", [][]machine.InstrPair{{onLanes(c, a, b)}, {onLanes(c, a, b)}}, nil, false},
		{"read before, in a loop", [][]machine.InstrPair{{onLanes(c, c, b)}}, nil, false},
		{"read at the end", [][]machine.InstrPair{{onLanes(c, a, b)}}, []machine.RowPair{c}, false},
		{"with a guard", [][]machine.InstrPair{{addition(code.OnLanes, 1, c, a, b), onLanes(a, c, b)}}, nil, false},
		{"compared", [][]machine.InstrPair{{onLanes(c, a, b), addition(code.CompactTwo, 0, machine.RowPair{Row: c.Row, Reference: b.Reference}, a), onLanes(a, c, b)}}, nil, false},
	} {
		r := &machine.Reference{Kernel: &machine.Kernel{Program: &code.Program{}}, Pairs: x.blocks, CheckedBlocks: make([]machine.CheckedBlock, len(x.blocks))}
		for i := range x.blocks {
			findUncheckedReads(x.blocks[i])
			r.Blocks = append(r.Blocks, code.Block{First: int32(i), Last: int32(i)})
			r.Instrs = append(r.Instrs, code.Instr{})
		}
		r.CheckedBlocks[0].EndReads = x.ends
		findNeededResults(r)
		if got := len(x.blocks[0][0].Needed) == 0; got != x.want {
			t.Errorf("%s: unneeded %v, want %v", x.name, got, x.want)
		}
	}
}

// TestKnownAddresses checks that the address of an access counts as compared if an instruction that does not execute on the
// lanes has computed it for all lanes, and it is unchanged since.
func TestKnownAddresses(t *testing.T) {
	a, b, c := reg(1), reg(2), reg(3)
	load := addition(code.CompactLoad, 0, c, a)
	for _, x := range []struct {
		name  string
		block []machine.InstrPair // before the load
		known bool
	}{
		{"nothing", nil, false},
		{"computed", []machine.InstrPair{addition(code.CompactTwo, 0, a, b)}, true},
		{"computed on the lanes", []machine.InstrPair{addition(code.OnLanes, 0, a, b)}, false},
		{"only read", []machine.InstrPair{addition(code.CompactTwo, 0, b, a)}, false},
		{"computed for some lanes", []machine.InstrPair{addition(code.CompactTwo, 1, a, b)}, false},
		{"overwritten for some lanes, on the lanes", []machine.InstrPair{addition(code.CompactTwo, 0, a, b), addition(code.OnLanes, 1, a, b)}, false},
		{"its row overwritten by another register", []machine.InstrPair{addition(code.CompactTwo, 0, a, b), addition(code.CompactTwo, 0, machine.RowPair{Row: a.Row, Reference: b.Reference}, b)}, false},
		{"its row of the reference overwritten by another register", []machine.InstrPair{addition(code.CompactTwo, 0, a, b), addition(code.CompactTwo, 0, machine.RowPair{Row: c.Row, Reference: a.Reference}, b)}, false},
		{"after a collective", []machine.InstrPair{addition(code.CompactTwo, 0, a, b), voting}, false},
		{"read since", []machine.InstrPair{addition(code.CompactTwo, 0, a, b), addition(code.Materialised, 0, b, a)}, true},
	} {
		block := append(slices.Clone(x.block), load)
		findUncheckedReads(block)
		if got := block[len(block)-1].AddressChecked; got != x.known {
			t.Errorf("%s: known %v, want %v", x.name, got, x.known)
		}
	}
}

// TestCompactRegisterByNeighbours checks that two neighbouring lanes suffice to compare a compact register with the
// reference.
func TestCompactRegisterByNeighbours(t *testing.T) {
	rows := machine.RowPair{Row: code.Row{Slot: code.R, Row: 0}, Reference: code.Row{Slot: code.R, Row: 0}}
	for _, x := range []struct {
		name              string
		lanes, shadowMask uint32
		base, stride      uint64
		still             bool
	}{
		{"all", regfile.Full, regfile.Full, 0xfffffff0, 4, true},
		{"another base", regfile.Full, regfile.Full, 0xfffffff4, 4, false},
		{"another stride", regfile.Full, regfile.Full, 0xfffffff0, 8, false},
		{"a lane is not in the shadow", regfile.Full, regfile.Full &^ 8, 0xfffffff0, 4, false},
		{"one lane", 8, regfile.Full, 0xfffffff0, 4, true},
		{"one lane, another stride", 8, regfile.Full, 0xfffffff0, 8, false},
		{"lanes apart", 5, regfile.Full, 0xfffffff0, 4, false}, // these two lanes would not show the difference
		{"the last two", 3 << 30, regfile.Full, 0xfffffff0, 4, true},
		{"the last", 1 << 31, regfile.Full, 0xfffffff0, 4, true},
	} {
		f, g := regfile.New(nil, true), regfile.New(nil, false)
		f.Reset(regfile.Size{R: 1})
		g.Reset(regfile.Size{R: 1})
		for i := range g.Row32(0) {
			g.Row32(0)[i] = 0xfffffff0 + 4*uint32(i) // wraps
		}
		*f.Shadow32(0) = regfile.Compact{Base: x.base, Stride: x.stride, Mask: x.shadowMask}
		k := &machine.WarpCheck{CheckStep: machine.CheckStep{EngineFile: f, ReferenceFile: g, Lanes: x.lanes}}
		if got := isStillCompact(k, &rows); got != x.still {
			t.Errorf("%s: still %v, want %v", x.name, got, x.still)
		}
	}
}

// TestDifferingLanes checks that the comparison of several lanes at a time finds the same lanes as the comparison lane by
// lane.
func TestDifferingLanes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	testDifferingLanes[uint32](t, random)
	testDifferingLanes[uint64](t, random)
}

// testDifferingLanes tries random rows of slots of type T.
func testDifferingLanes[T mem.Slot](t *testing.T, random *rand.Rand) {
	for range 20000 {
		base, stride, m := T(random.Uint64()), T(random.Uint64()), random.Uint32()
		switch random.IntN(4) {
		case 0:
			stride = 0
		case 1:
			base, stride = T(random.Uint32N(1<<16)), T(random.Uint32N(1<<10))
		case 2:
			base, stride = ^T(0)-T(random.Uint32N(64)), T(random.Uint32N(4)) // wraps
		}
		if random.IntN(2) == 0 {
			m = regfile.Full
		}
		var row, same [regfile.Lanes]T
		for i := range row {
			row[i] = base + T(i)*stride
		}
		same = row
		want := uint32(0)
		for range random.IntN(4) {
			i := random.IntN(regfile.Lanes)
			row[i] ^= T(1) << random.IntN(int(8*unsafe.Sizeof(base)))
		}
		for i := range row {
			if row[i] != base+T(i)*stride {
				want |= 1 << i
			}
		}
		if got := lanesUnlikeShadow(&row, &regfile.Compact{Base: uint64(base), Stride: uint64(stride)}, m); got != want&m {
			t.Fatalf("differing from %#x + i·%#x for lanes %032b: %032b, want %032b", base, stride, m, got, want&m)
		}
		if got := differingLanes(&row, &same, m); got != want&m {
			t.Fatalf("rows differ for lanes %032b: %032b, want %032b", m, got, want&m)
		}
	}
	if got := lanesUnlikeShadow(new([regfile.Lanes]uint32), &regfile.Compact{Base: 1 << 32}, 5); got != 5 {
		t.Errorf("a base with more bits than a slot differs in lanes %b, want 101", got)
	}
}
