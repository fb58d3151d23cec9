package native

import (
	"encoding/base64"
	"encoding/binary"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// TestTables checks that every line is a comment or a stencil, that a stencil is parsed once, and that stencils share equal
// constants.
func TestTables(t *testing.T) {
	named := regexp.MustCompile(`^[a-z0-9_]+$`)
	for _, level := range Levels() {
		l := level.Library()
		for name := range l.Names() {
			if !named.MatchString(name) {
				t.Errorf("%s: %q is no name of a stencil", level.Name, name)
			}
			if s := l.stencil(name); s == nil || s != l.stencil(name) {
				t.Errorf("%s: %s is read again", level.Name, name)
			}
		}
		for i, bytes := range l.constants() {
			if j := slices.Index(l.constants(), bytes); j != i {
				t.Errorf("%s: constants %d and %d are %x", level.Name, j, i, bytes)
			}
		}
		if LevelByMark(level.Mark) != level {
			t.Errorf("mark %q is not that of %s", level.Mark, level.Name)
		}
	}
	if l := LevelByMark("no such"); l != nil {
		t.Errorf("there is a level %s without a mark", l.Name)
	}
	for text, want := range map[string]int32{"0": 0, "9": 9, "10x": 10, "907 5": 907} {
		if n, rest := parseNumber(text); n != want || text[len(text)-len(rest):] != rest {
			t.Errorf("%q begins with %d, before %q", text, n, rest)
		}
	}
}

// TestLine checks the parts of a stencil's line: operands that cannot be constants, the cost, and the holes.
func TestLine(t *testing.T) {
	l := &Library{poolIndex: map[string]int32{}}
	machine := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	a, b := l.addConstant("ff"), l.addConstant("00010203")
	got := l.parse(base64.RawStdEncoding.EncodeToString(machine) + "\tD0 F12+8 A3-130 B4 C5 E6 07+1 18 _n9-4 _o10+2 _l111 _p12:00010203 _p13+4:aa a64^176 e1^1 B!no !takes63")
	want := &stencil{
		code: machine, cost: 63, neverConstant: 1 << 1,
		refs: []ref{
			{0, 0, 0, holeD}, {12, 8, 0, holeF}, {3, -130, 0, holeA}, {4, 0, 0, holeB}, {5, 0, 0, holeC}, {6, 0, 0, holeE}, {7, 1, 0, hole0}, {8, 0, 0, hole1},
			{9, -4, 0, toNext}, {10, 2, 0, toOther}, {111, 0, 0, toLeave}, {12, 0, b, toPool}, {13, 4, 2, toPool},
		},
		flips: []flip{{64, 176, 1 << 0}, {1, 1, 1 << 4}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("it is %+v\nwant %+v", got, want)
	}
	if pool := l.constants(); a != 0 || b != 1 || !slices.Equal(pool, []string{"\xff", "\x00\x01\x02\x03", "\xaa"}) {
		t.Errorf("constants: %q", pool)
	}
	for _, holes := range []string{"_x5", "_D5", "_5"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is taken for a hole", holes)
				}
			}()
			l.parse("AAAA\t" + holes)
		}()
	}
	if got := l.parse("AAAA\t"); !reflect.DeepEqual(got, &stencil{code: make([]byte, 3), refs: []ref{}}) {
		t.Errorf("without holes it is %+v", got)
	}
}

// TestCodeNeededForDivergence checks which code must exist before lanes may diverge, and before the scheduler switches warps, in
// machine code.
func TestCodeNeededForDivergence(t *testing.T) {
	code := func() *body { return &body{text: &text{memory: make([]byte, 1)}, addresses: make([]uintptr, 1)} }
	full, part := code(), code()
	none := &body{text: &text{}, addresses: make([]uintptr, 1)} // the host gave no executable memory
	at := func(b *body) unsafe.Pointer {
		if b == nil || b == none {
			return nil
		}
		return unsafe.Pointer(&b.addresses[0])
	}
	for _, c := range []struct {
		all, some, full, part *body
		live                  uint32
	}{
		{full, part, full, part, regfile.Full},
		{full, part, full, part, 7},
		{nil, part, nil, nil, regfile.Full},
		{nil, part, part, part, 7},
		{none, part, nil, nil, regfile.Full},
		{full, nil, nil, nil, regfile.Full},
		{full, none, nil, nil, 7},
		{nil, nil, nil, nil, 7},
		{nil, nil, nil, nil, regfile.Full},
	} {
		scheduler, ctx := new(Scheduler), &Context{Live: c.live}
		for range 2 { // without a scheduler, then with one
			if ctx.setTables(c.all, c.some); ctx.full != at(c.full) || ctx.masked != at(c.part) {
				t.Errorf("with code for all %v, for some %v, live lanes %#x: lanes part in code for all %v, for some %v", at(c.all), at(c.some), c.live, ctx.full, ctx.masked)
			}
			ctx.SetScheduler(scheduler)
		}
		if scheduler.full != at(c.all) || scheduler.masked != at(c.some) {
			t.Errorf("with code for all %v, for some %v: warps take turns in %v, %v", at(c.all), at(c.some), scheduler.full, scheduler.masked)
		}
	}
}

// TestReadSources checks that Code.Sources has each special register that a program reads compactly, once, and nothing else.
func TestReadSources(t *testing.T) {
	compactly := code.ExecPlan{Exec: code.CompactSource}
	p := &code.Program{Instrs: []code.Instr{
		{Op: code.Sreg32, Imm: uint64(ptx.CtaidY), Plan: compactly}, {Op: code.Frame32, Imm: 408, Plan: compactly}, {Op: code.Sreg32, Imm: uint64(ptx.LaneID)},
		{Op: code.Sreg64, Imm: uint64(ptx.CtaidY), Plan: compactly}, {Op: code.Sreg32, Imm: uint64(ptx.Clock), Plan: compactly}, {Op: code.Sreg32, Imm: uint64(ptx.TidX), Plan: compactly},
	}}
	if got, want := sourcesOf(p), []ptx.SpecialReg{ptx.CtaidY, ptx.TidX}; !slices.Equal(got, want) {
		t.Errorf("it reads %v compactly, want %v", got, want)
	}
}

// TestParallel checks that the context says whether CTAs run in parallel.
func TestParallel(t *testing.T) {
	ctx := new(Context)
	for _, yes := range []bool{true, false} {
		if ctx.SetParallel(yes); (ctx.parallel == 1) != yes || ctx.parallel > 1 {
			t.Errorf("in parallel: %v; the context has %d", yes, ctx.parallel)
		}
	}
}

// TestNumbersOfSteps checks that steps are numbered across blocks, and that a block's end is its last step.
func TestNumbersOfSteps(t *testing.T) {
	k := &Check{firstStep: []int32{0, 1, 4, 6}}
	for n, want := range [][2]int32{{0, 0}, {1, 0}, {1, 1}, {1, 2}, {2, 0}, {2, 1}} {
		if block, i := k.LocateStep(int32(n)); [2]int32{block, i} != want {
			t.Errorf("step %d is %d of block %d, want %v", n, i, block, want)
		}
	}
}

// TestCostOfNextCTA checks the cost of starting the next CTA: the bytes that are cleared (shared memory, last hits, each warp's
// shadows), one row for each register that begins with zeros, and two rows for each warp.
func TestCostOfNextCTA(t *testing.T) {
	for _, c := range []struct {
		warps, shared, hits, zeros int
		tracked                    bool
		want                       int64
	}{
		{1, 0, 0, 0, false, 2},
		{3, 0, 0, 0, false, 6},
		{1, 5 * clearedBytesPerInstr, 0, 0, false, 2 + 5},
		{1, clearedBytesPerInstr - 8*code.HitsPerAccess, code.HitsPerAccess, 0, false, 2 + 1},
		{1, clearedBytesPerInstr - 8*code.HitsPerAccess - 1, code.HitsPerAccess, 0, false, 2},
		{2, 0, 0, 7, false, 2 * (2 + 7)},
		{2, 0, 0, 0, true, 2 * (2 + (1010+4000)*int64(unsafe.Sizeof(regfile.Compact{}))/512)}, // of the rows below
	} {
		prog := &code.Program{}
		file := regfile.New(&prog.Consts, c.tracked)
		file.Reset(regfile.Size{R: 1010, Q: 4000})
		scheduler := &Scheduler{size: uint32(c.warps)}
		(&Code{prog: prog, Sources: []ptx.SpecialReg{ptx.CtaidY, ptx.TidX, ptx.CtaidX}}).SetNextCTAs(scheduler, file, &mem.Allocation{Allocation: probe.Allocation{Data: make([]byte, c.shared)}}, make([]code.Row, c.zeros), new([Registers]uint64), make([]*mem.Allocation, c.hits))
		if scheduler.cost != c.want {
			t.Errorf("%+v: counts as %d", c, scheduler.cost)
		}
		if want := [2]uint64{1010 * uint64(unsafe.Sizeof(regfile.Compact{})), 4000 * uint64(unsafe.Sizeof(regfile.Compact{}))}; c.tracked && scheduler.shadowBytes != want || !c.tracked && scheduler.shadowBytes != [2]uint64{} {
			t.Errorf("%+v: shadows have %d bytes", c, scheduler.shadowBytes)
		}
		if want := [3]int64{2 * int64(unsafe.Sizeof(Source{})), 0, -1}; scheduler.ctaidSources != want {
			t.Errorf("ctaid.x, .y and .z are read from %v, want %v", scheduler.ctaidSources, want)
		}
		if scheduler.hitSlots != uint64(c.hits/code.HitsPerAccess) || scheduler.numZeroRows != uint64(c.zeros) {
			t.Errorf("%+v: forgets %d, zeros %d", c, scheduler.hitSlots, scheduler.numZeroRows)
		}
	}
}

// TestIdleNotes checks that a lane's note is after the notes of operands, and is read only if the lane's bit is set.
func TestIdleNotes(t *testing.T) {
	const operands, bytes = 3, 4
	notes := make([]byte, MaxNoteBytes)
	note := notes[operands*NoteSize:]
	binary.LittleEndian.PutUint32(note, 1<<0|1<<5|1<<31)
	for lane := range byte(regfile.Lanes) {
		copy(note[idleHeader+bytes*int(lane):], []byte{lane, 1, 2, 3})
	}
	for lane := range regfile.Lanes {
		want := []byte{byte(lane), 1, 2, 3}
		if lane != 0 && lane != 5 && lane != 31 {
			want = nil
		}
		if got := IdleBytes(notes, operands, lane, bytes); !slices.Equal(got, want) {
			t.Errorf("lane %d had %v, want %v", lane, got, want)
		}
	}
}

// TestOperationsOfRules checks the assumptions of the stencils of affine rules about the operations with these rules.
func TestOperationsOfRules(t *testing.T) {
	selects, ruling := 0, 0
	for op := code.Op(0); op < code.Count; op++ {
		s := op.Signature()
		if s.Rule == ptx.AffineSelect {
			if selects++; s.Src != [...]code.Slot{s.Dst, s.Dst, code.P, code.NoSlot} || int(s.Width) != s.Dst.Bits() || s.Out != s.Width {
				t.Errorf("%v is of %v, %d bits to %d", op, s.Src, s.Width, s.Out)
			}
		}
		if ruleName(s) != "" {
			if ruling++; s.Src != [...]code.Slot{code.R, code.R, code.NoSlot, code.NoSlot} || s.Dst != code.R || s.Dst2 != code.NoSlot || s.Out != 32 || s.Fast != nil {
				t.Errorf("%v is of %v, to %v of %d bits, with fast form %v", op, s.Src, s.Dst, s.Out, s.Fast != nil)
			}
		}
	}
	if selects == 0 || ruling == 0 {
		t.Errorf("%d select, %d have rules", selects, ruling)
	}
}
