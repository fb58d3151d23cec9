package simt

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/regfile"
)

// reg is a register.
func reg(i int32) rowPair {
	return rowPair{code.Row{Slot: code.R, Row: i}, code.Row{Slot: code.R, Row: 10 + i}}
}

// madeOf is an addition.
func madeOf(exec code.Exec, guard int32, d rowPair, reads ...rowPair) instrPair {
	instr := &code.Instr{Op: code.OpNamed("add.s32"), Plan: code.ExecPlan{Exec: exec}, Guard: guard}
	return instrPair{instr: instr, ref: instr, computes: exec != code.OnLanes, combinable: true, onLanes: exec == code.OnLanes, reads: reads, writes: []rowPair{d}}
}

// onLanes is one that runs on the lanes.
func onLanes(d rowPair, reads ...rowPair) instrPair { return madeOf(code.OnLanes, 0, d, reads...) }

// voting is a collective.
var voting = instrPair{instr: &code.Instr{Op: code.VoteSync}, ref: &code.Instr{Op: code.VoteSync}, onLanes: true}

// TestSettle: what an instruction on the lanes reads is compared, but for rows that have
// been compared or copied in the block and are what they were.
func TestSettle(t *testing.T) {
	moved := rowPair{reg(1).row, reg(7).ref} // another register in the row of register 1
	a, b, c, d := reg(1), reg(2), reg(3), reg(4)
	for _, e := range []struct {
		name  string
		block []instrPair // the last one is looked at
		fresh []rowPair
	}{
		{"first", []instrPair{onLanes(d, a, b)}, []rowPair{a, b}},
		{"read", []instrPair{onLanes(d, a, b), onLanes(d, b, c)}, []rowPair{c}},
		{"written", []instrPair{onLanes(c, a, b), onLanes(d, c, b)}, nil},
		{"overwritten by another register", []instrPair{onLanes(d, a, b), onLanes(moved, b, b), onLanes(d, a, b)}, []rowPair{a}},
		{"in another row", []instrPair{onLanes(d, a, b), onLanes(rowPair{reg(5).row, a.ref}, b, b), onLanes(d, a, b)}, []rowPair{a}},
		{"read with a guard", []instrPair{madeOf(code.OnLanes, 1, c, a, b), onLanes(d, a, c)}, []rowPair{a, c}},
		{"written with a guard", []instrPair{onLanes(c, a, b), madeOf(code.OnLanes, 1, c, a, b), onLanes(d, c, b)}, nil},
		{"overwritten with a guard", []instrPair{onLanes(d, a, b), madeOf(code.OnLanes, 1, moved, b, b), onLanes(d, a, b)}, []rowPair{a}},
		{"written compactly", []instrPair{onLanes(d, a, b), madeOf(code.CompactTwo, 0, a, c, c), onLanes(d, a, b)}, []rowPair{a}},
		{"read compactly", []instrPair{onLanes(d, a, b), madeOf(code.CompactTwo, 0, c, a, a), onLanes(d, a, b)}, []rowPair{a}},
		{"a constant, computed again", []instrPair{onLanes(d, a, b), {ref: &code.Instr{}, writes: []rowPair{{code.Row{Slot: code.R, Row: -3}, a.ref}}}, onLanes(d, a, b)}, []rowPair{a}},
		{"behind a collective", []instrPair{onLanes(d, a, b), voting, onLanes(d, a, b)}, []rowPair{a, b}},
		{"compact itself", []instrPair{onLanes(d, a, b), madeOf(code.CompactTwo, 0, d, a, b)}, []rowPair{a, b}},
	} {
		findUncheckedReads(e.block)
		if got := e.block[len(e.block)-1].uncheckedReads; !slices.Equal(got, e.fresh) {
			t.Errorf("%s: compared are %v, want %v", e.name, got, e.fresh)
		}
	}
}

// TestRuns: instructions execute together as far as what each reads and writes can be looked
// at before the first or behind the last.
func TestRuns(t *testing.T) {
	compact := func(d rowPair, reads ...rowPair) instrPair { return madeOf(code.CompactTwo, 0, d, reads...) }
	a, b, c, d, e := reg(1), reg(2), reg(3), reg(4), reg(5)
	sameRow, sameRef := rowPair{d.row, e.ref}, rowPair{e.row, d.ref}
	guarded := madeOf(code.CompactTwo, 1, e, a)
	folded := instrPair{ref: &code.Instr{}, computes: true, combinable: true, writes: []rowPair{{code.Row{Slot: code.R, Row: -3}, e.ref}}}
	waits := compact(e, a)
	waits.combinable = false
	for _, x := range []struct {
		name  string
		block []instrPair
		runs  []int
	}{
		{"one", []instrPair{compact(c, a, b)}, []int{1}},
		{"on the lanes behind", []instrPair{compact(c, a, b), onLanes(d, a, b)}, []int{1, 1}},
		{"on the lanes first", []instrPair{onLanes(d, a, b), compact(c, a, b)}, []int{1, 1}},
		{"a chain of compact ones", []instrPair{compact(c, a, b), compact(d, c, b), compact(e, d, c)}, []int{3}},
		{"a chain on the lanes", []instrPair{onLanes(c, a, b), onLanes(d, c, b), onLanes(e, d, c)}, []int{3}},
		{"read behind in the row of another", []instrPair{onLanes(d, a, b), onLanes(a, b, rowPair{d.row, e.ref})}, []int{1, 1}},
		{"folded", []instrPair{folded, compact(c, a, b), folded, compact(d, a, b)}, []int{2, 2}}, // the same is written
		{"folded, then on the lanes", []instrPair{folded, onLanes(c, a, b)}, []int{1, 1}},
		{"written twice", []instrPair{compact(d, a, b), compact(d, a, d)}, []int{1, 1}},
		{"a row written twice", []instrPair{compact(d, a, b), compact(sameRow, a, b)}, []int{1, 1}},
		{"a row of the reference written twice", []instrPair{compact(d, a, b), compact(sameRef, a, b)}, []int{1, 1}},
		{"overwritten behind", []instrPair{compact(d, a, b), compact(a, b, b)}, []int{2}},
		{"a guard", []instrPair{compact(c, a, b), guarded, compact(d, a, b)}, []int{1, 1, 1}},
		{"one that may wait", []instrPair{compact(c, a, b), waits, compact(d, a, b)}, []int{1, 1, 1}},
	} {
		findUncheckedReads(x.block)
		var runs []int
		for _, r := range divideIntoRuns(x.block, nil) {
			runs = append(runs, len(r.pairs))
		}
		if !slices.Equal(runs, x.runs) {
			t.Errorf("%s: runs of %v, want %v", x.name, runs, x.runs)
		}
	}

	// What is kept, and what is compared.
	block := []instrPair{compact(c, a, b), compact(d, c, b), compact(a, d, a), onLanes(e, a, b), onLanes(d, e, c)}
	findUncheckedReads(block)
	runs := divideIntoRuns(block, nil)
	for i, want := range []struct {
		len, sources, results int
		kept                  bool
	}{{3, 0, 3, true}, {2, 3, 2, false}} {
		if r := &runs[i]; len(r.pairs) != want.len || len(r.sources) != want.sources || len(r.results) != want.results || r.savesOperands != want.kept {
			t.Errorf("run %d: %d instructions, %d sources, %d results, kept %v, want %+v", i, len(r.pairs), len(r.sources), len(r.results), r.savesOperands, want)
		}
	}
	for i, want := range []uint64{1, 0, 2, 0, 0} {
		if got := block[i].overwrittenReads; got != want {
			t.Errorf("instruction %d: kept %b, want %b", i, got, want)
		}
	}
}

// TestUnwanted: the reference need not have what is computed and read on the lanes alone, in one
// block, without a comparison.
func TestUnwanted(t *testing.T) {
	a, b, c := reg(1), reg(2), reg(3)
	for _, x := range []struct {
		name   string
		blocks [][]instrPair // the first instruction is looked at
		ends   []rowPair
		want   bool // unwanted
	}{
		{"read on the lanes", [][]instrPair{{onLanes(c, a, b), onLanes(a, c, b)}}, nil, true},
		{"read by nobody", [][]instrPair{{onLanes(c, a, b)}}, nil, true},
		{"read compactly", [][]instrPair{{onLanes(c, a, b), madeOf(code.CompactTwo, 0, a, c, b)}}, nil, false},
		{"read in another block", [][]instrPair{{onLanes(c, a, b)}, {onLanes(a, c, b)}}, nil, false},
		{"written in another block", [][]instrPair{{onLanes(c, a, b)}, {onLanes(c, a, b)}}, nil, false},
		{"read before, in a loop", [][]instrPair{{onLanes(c, c, b)}}, nil, false},
		{"read at the end", [][]instrPair{{onLanes(c, a, b)}}, []rowPair{c}, false},
		{"with a guard", [][]instrPair{{madeOf(code.OnLanes, 1, c, a, b), onLanes(a, c, b)}}, nil, false},
		{"compared", [][]instrPair{{onLanes(c, a, b), madeOf(code.CompactTwo, 0, rowPair{c.row, b.ref}, a), onLanes(a, c, b)}}, nil, false},
	} {
		r := &reference{Kernel: &Kernel{Program: &code.Program{}}, pairs: x.blocks, blocks: make([]checkedBlock, len(x.blocks))}
		for i := range x.blocks {
			findUncheckedReads(x.blocks[i])
			r.Blocks = append(r.Blocks, code.Block{First: int32(i), Last: int32(i)})
			r.Instrs = append(r.Instrs, code.Instr{})
		}
		r.blocks[0].endReads = x.ends
		r.findNeededResults()
		if got := len(x.blocks[0][0].needed) == 0; got != x.want {
			t.Errorf("%s: unwanted %v, want %v", x.name, got, x.want)
		}
	}
}

// TestKnown: the address of an access is known where an instruction that does not run on the
// lanes has left it for all of them, and nothing has changed it since.
func TestKnown(t *testing.T) {
	a, b, c := reg(1), reg(2), reg(3)
	load := madeOf(code.CompactLoad, 0, c, a)
	for _, x := range []struct {
		name  string
		block []instrPair // before the load
		known bool
	}{
		{"nothing", nil, false},
		{"computed", []instrPair{madeOf(code.CompactTwo, 0, a, b)}, true},
		{"computed on the lanes", []instrPair{madeOf(code.OnLanes, 0, a, b)}, false},
		{"only read", []instrPair{madeOf(code.CompactTwo, 0, b, a)}, false},
		{"computed for some", []instrPair{madeOf(code.CompactTwo, 1, a, b)}, false},
		{"overwritten for some on the lanes", []instrPair{madeOf(code.CompactTwo, 0, a, b), madeOf(code.OnLanes, 1, a, b)}, false},
		{"its row is another's", []instrPair{madeOf(code.CompactTwo, 0, a, b), madeOf(code.CompactTwo, 0, rowPair{a.row, b.ref}, b)}, false},
		{"its row of the reference is another's", []instrPair{madeOf(code.CompactTwo, 0, a, b), madeOf(code.CompactTwo, 0, rowPair{c.row, a.ref}, b)}, false},
		{"behind a collective", []instrPair{madeOf(code.CompactTwo, 0, a, b), voting}, false},
		{"read since", []instrPair{madeOf(code.CompactTwo, 0, a, b), madeOf(code.Materialised, 0, b, a)}, true},
	} {
		block := append(slices.Clone(x.block), load)
		findUncheckedReads(block)
		if got := block[len(block)-1].addressChecked; got != x.known {
			t.Errorf("%s: known %v, want %v", x.name, got, x.known)
		}
	}
}

// TestStill: lanes next to each other tell whether a compact register is what the reference has.
func TestStill(t *testing.T) {
	rows := rowPair{code.Row{Slot: code.R, Row: 0}, code.Row{Slot: code.R, Row: 0}}
	for _, x := range []struct {
		name         string
		lanes, held  uint32
		base, stride uint64
		still        bool
	}{
		{"all", regfile.Full, regfile.Full, 0xfffffff0, 4, true},
		{"another base", regfile.Full, regfile.Full, 0xfffffff4, 4, false},
		{"another stride", regfile.Full, regfile.Full, 0xfffffff0, 8, false},
		{"a lane is not held", regfile.Full, regfile.Full &^ 8, 0xfffffff0, 4, false},
		{"one lane", 8, regfile.Full, 0xfffffff0, 4, true},
		{"one lane, another stride", 8, regfile.Full, 0xfffffff0, 8, false},
		{"lanes apart", 5, regfile.Full, 0xfffffff0, 4, false}, // these two would not tell
		{"the last two", 3 << 30, regfile.Full, 0xfffffff0, 4, true},
		{"the last", 1 << 31, regfile.Full, 0xfffffff0, 4, true},
	} {
		f, g := regfile.New(nil, true), regfile.New(nil, false)
		f.Reset(regfile.Size{R: 1})
		g.Reset(regfile.Size{R: 1})
		for i := range g.Row32(0) {
			g.Row32(0)[i] = 0xfffffff0 + 4*uint32(i) // it wraps
		}
		*f.Shadow32(0) = regfile.Compact{Base: x.base, Stride: x.stride, Mask: x.held}
		k := &check{step: step{engineFile: f, referenceFile: g, lanes: x.lanes}}
		if got := k.isStillCompact(&rows); got != x.still {
			t.Errorf("%s: still %v, want %v", x.name, got, x.still)
		}
	}
}

// TestLanesDiffer: what compares rows, several lanes at a time, finds the same lanes as a look
// at each.
func TestLanesDiffer(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	lanesDiffer[uint32](t, random)
	lanesDiffer[uint64](t, random)
}

func lanesDiffer[T mem.Slot](t *testing.T, random *rand.Rand) {
	for range 20000 {
		base, stride, m := T(random.Uint64()), T(random.Uint64()), random.Uint32()
		switch random.IntN(4) {
		case 0:
			stride = 0
		case 1:
			base, stride = T(random.Uint32N(1<<16)), T(random.Uint32N(1<<10))
		case 2:
			base, stride = ^T(0)-T(random.Uint32N(64)), T(random.Uint32N(4)) // it wraps
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
		t.Errorf("a base that is not reduced differs in lanes %b, want all of 101", got)
	}
}
