package grid

import (
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/check"
	"gemu/interp/internal/code"
	"gemu/interp/internal/event"
	"gemu/interp/internal/exchange"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/native"
	"gemu/interp/internal/native/harness"
	"gemu/interp/internal/warp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// checkHarness is a testWarp in check mode: with a reference, and optionally with a fault.
type checkHarness struct {
	*testWarp
	wrong func(f, ref *regfile.File, memory []byte) // plants the fault before the execution; nil: none
	known bool                                      // the address was compared earlier in the block
	lib   *native.Library                           // stencils, which may have faults; nil: the host's library
}

// refFrame is the size of the reference's registers: one 32-bit row more.
var refFrame = regfile.Size{R: testFrame.R + 1, Q: testFrame.Q, P: testFrame.P}

// newCheckHarness adds a reference with the same instructions to the program.
func (g *testWarp) newCheckHarness() *checkHarness {
	p := g.prog
	ref := &code.Program{Width: p.Width, Instrs: append([]code.Instr(nil), p.Instrs...), Blocks: append([]code.Block(nil), p.Blocks...), Sources: p.Sources, Tables: p.Tables}
	ref.Instrs[0].Plan = code.ExecPlan{}
	ref.Access = slices.Clone(p.Access)
	for i := range ref.Access {
		ref.Access[i].Pattern, ref.Access[i].Stride = code.AnyPattern, 0
	}
	if p.Fixed = nil; g.IntN(2) == 0 { // sometimes with a launch constant: then pairs and instructions have different indices
		sum := g.sum
		p.Fixed = []code.FixedInstr{{Instr: sum}}
		sum.D = int32(testFrame.R)
		ref.Fixed = []code.FixedInstr{{Instr: sum}}
	}
	ref.Consts = p.Consts
	ref.Funcs = []*code.Func{{Frame: refFrame, Func: p.Funcs[0].Func}}
	ref.Link()
	p.Reference = ref
	return &checkHarness{testWarp: g}
}

// runOn executes the program in check mode on a backend, and returns a description of registers, shadows and memory
// afterwards.
func (g *checkHarness) runOn(b machine.Backend) (outcome string) {
	device := &machine.Device{Memory: mem.NewMap(testBase, 1<<20, func(n uint64) ([]byte, func(), error) { return make([]byte, n), func() {}, nil })}
	hit, err := device.Memory.Alloc(uint64(len(g.memory)), probe.BufferMemory, "")
	if err != nil {
		return err.Error()
	}
	copy(hit.Data, g.memory)
	k := g.kernel()
	grid := &machine.Grid{
		Kernel: k, Device: device, Extents: machine.Extents{Block: ptx.Dim3{X: 32, Y: 1, Z: 1}, Threads: 32}, GridMemory: machine.GridMemory{SharedLen: 256},
		Execution: machine.Execution{Mode: machine.Check, VerifyProofs: true, Backend: b, Rules: g.rules, Reference: k.CheckReference, Reconverge: warp.Reconvergers[0]},
	}
	c := newCTA(grid)
	copy(c.SharedMem.Data, g.memory)
	c.LastHits = g.hits(hit)
	w := &c.Warps[0]
	w.Live, w.ReconvergeAt, w.Mask = uint64(g.live), -1, uint64(g.mask)
	w.Frame, w.ShownFrame = &c.Frame, &c.Frame
	c.Frame.Func = g.prog.Funcs[0]
	f, ref := &w.Files[0], &w.Check.Files[0]
	f.Reset(testFrame)
	ref.Reset(refFrame)
	for i := range int32(testFrame.R) {
		*f.Row32(i), *f.Shadow32(i) = *g.file.Row32(i), *g.file.Shadow32(i)
		for lane := range regfile.Lanes {
			ref.Row32(i)[lane] = uint32(machine.LaneValue(g.file, code.Row{Slot: code.R, Row: i}, lane))
		}
	}
	for i := range int32(testFrame.Q) {
		*f.Row64(i), *f.Shadow64(i) = *g.file.Row64(i), *g.file.Shadow64(i)
		for lane := range regfile.Lanes {
			ref.Row64(i)[lane] = machine.LaneValue(g.file, code.Row{Slot: code.Q, Row: i}, lane)
		}
	}
	for i := range int32(testFrame.P) {
		f.SetP(i, regfile.Full, g.file.Pred(i))
		ref.SetP(i, regfile.Full, g.file.Pred(i))
	}
	if g.prog.Consts.Set32(g.sum.D, 12); g.wrong != nil {
		g.wrong(f, ref, hit.Data)
	}
	event.SetOnMaterialise(w)
	grid.Seed = 1 // with a seed machine code does not continue with other warps
	reason := runnerOf(c).Run(w, 1)
	outcome = fmt.Sprintf("why %v at %d, error %v, changed %v", reason, w.PC, w.Err, c.Changed)
	if t, ok := w.Err.(*probe.Trap); ok {
		if i := slices.Index(t.Notes, check.LateNote); i >= 0 { // machine code compares after each instruction
			t.Notes = slices.Delete(t.Notes, i, i+1)
			g.late++
		}
		return outcome + fmt.Sprintf(" lanes %#x notes %q", t.Lanes, t.Notes)
	}
	outcome += fmt.Sprintf("\ncounts %+v", w.Count)
	for i := range int32(testFrame.R) {
		outcome += fmt.Sprintf("\nr%d %x %+v", i, *f.Row32(i), *f.Shadow32(i))
		for lane := range regfile.Lanes {
			if g.live>>lane&1 != 0 {
				outcome += fmt.Sprintf(" %x", ref.Row32(i)[lane])
			}
		}
	}
	for i := range int32(testFrame.Q) {
		outcome += fmt.Sprintf("\nq%d %x %+v", i, *f.Row64(i), *f.Shadow64(i))
		for lane := range regfile.Lanes {
			if g.live>>lane&1 != 0 {
				outcome += fmt.Sprintf(" %x", ref.Row64(i)[lane])
			}
		}
	}
	for i := range int32(testFrame.P) {
		outcome += fmt.Sprintf("\np%d %x %x", i, f.Pred(i), ref.Pred(i)&g.live)
	}
	return outcome + fmt.Sprintf("\nmemory %x\nshared %x", hit.Data, c.SharedMem.Data)
}

// kernel returns the program and its reference as a kernel.
func (g *checkHarness) kernel() *machine.Kernel {
	k := NewKernel(testModule, testModule.Kernels()[0], g.prog)
	if k.CheckReference.Pairs[0][0].AddressChecked = g.known; g.lib != nil {
		k.Native = g.lib.New(g.prog)
	}
	return k
}

// wanted is testWarp.wanted for the machine code of check mode.
func (g *checkHarness) wanted() bool {
	stencil := part.Stencil()
	if stencil == "" {
		return true
	}
	native.HostLibrary().TakeUsed()
	g.kernel().CheckOnce().Make(g.mask != regfile.Full)
	return slices.Contains(native.HostLibrary().TakeUsed(), stencil)
}

// compareChecked executes the program in check mode on both backends, without and with faults, and compares the outcomes.
func (r *programGenerator) compareChecked(t *testing.T, g *checkHarness) bool {
	t.Helper()
	if !g.wanted() {
		return true
	}
	r.native++
	faults := 2
	if part.Stencil() != "" {
		faults = 20
	}
	for range 1 + faults {
		want, got := g.runOn(warp.Portable), g.runOn(exchange.Native)
		if got != want {
			t.Errorf("%+v\nlanes %#x of %#x%s", g.prog.Instrs[0], g.mask, g.live, linesOf(g.before(), got, want))
			return false
		}
		lane, row, which, offset := r.IntN(32), r.Int32N(6), r.IntN(6), uint64(0x1_0000_0001)<<r.IntN(32) // the fault changes a bit of each half of a value
		if r.IntN(2) == 0 {
			offset &= 1<<63 | 1<<32 - 1 // a bit of the lower half, and perhaps the sign
		}
		if o := g.read(r.Rand); o.Row >= 0 && r.IntN(2) == 0 { // the fault is in an operand
			faults := map[code.Slot][]int{code.R: {0, 2}, code.Q: {1, 3, 4}, code.P: {5}}[o.Slot]
			row, which = o.Row, faults[r.IntN(len(faults))]
		}
		if o := g.writes(r.Rand); (o.Slot == code.R || o.Slot == code.Q) && r.IntN(8) == 0 { // the fault is in the mask of a result's shadow
			row, which = o.Row, map[code.Slot]int{code.R: 6, code.Q: 7}[o.Slot]
		}
		if e := g.stores(r.Rand); e.Slot != code.NoSlot && r.IntN(2) == 0 { // the fault is in a stored value
			row, which = e.Row, map[code.Slot]int{code.R: 0, code.Q: 1}[e.Slot]
		}
		if r.IntN(20) == 0 {
			which = 8
		}
		g.wrong = func(f, ref *regfile.File, memory []byte) {
			switch which {
			case 0:
				ref.Row32(row)[lane] ^= uint32(offset)
			case 1:
				ref.Row64(row)[lane] ^= offset
			case 2:
				f.Shadow32(row).Base ^= offset & 0xffffffff
			case 3:
				f.Shadow64(row).Stride ^= offset
			case 4:
				f.Row64(row)[lane] ^= offset
			case 6:
				f.Shadow32(row).Mask ^= 1 << lane
			case 7:
				f.Shadow64(row).Mask ^= 1 << lane
			case 8: // the fault is in a launch constant
				g.prog.Consts.Set32(g.sum.D, 13)
			default:
				f.SetP(row%int32(testFrame.P), 1<<lane, ^f.Pred(row%int32(testFrame.P)))
			}
		}
	}
	return true
}

// TestCheckedBlockEnds checks that machine code finds differences in the operands of a block's end, as Go does.
func TestCheckedBlockEnds(t *testing.T) {
	if exchange.Native == nil {
		t.Skip("no machine code for this host")
	}
	r := &programGenerator{Values: harness.Values{Rand: rand.New(rand.NewPCG(12, part.Seed(t)))}}
	found, good := map[code.Op]int{}, map[code.Op]int{}
	for range part.Count(300, 1000, 20000) {
		p := r.newProgram()
		p.Instrs[0] = code.Instr{Op: code.OpNamed("add.s32"), D: 0, F: code.NoRow, A: 1, B: 2, Plan: code.ExecPlan{Exec: code.CompactTwo, Materialise: 15, LeavesStale: true}}
		last := int32(len(p.Instrs) - 1)
		end := &p.Instrs[last]
		*end = code.Instr{Op: []code.Op{code.Branch, code.Exit, code.Barrier}[r.IntN(3)]}
		if end.Op != code.Barrier || r.IntN(2) == 0 {
			end.Guard = code.Guard(r.Int32N(int32(testFrame.P)-1), r.IntN(2) == 0)
		}
		if end.Op == code.Barrier {
			p.Barriers = make([]code.BarrierOp, 1)
			end.A, end.B = r.Int32N(3), code.NoRow
		}
		op, row := end.Op, end.A
		p.Instrs = append(p.Instrs, code.Instr{Op: code.Exit}, code.Instr{Op: code.Exit})
		p.Blocks[0].Next, p.Blocks[0].Target, p.Blocks[0].Reconverge = last+1, last+2, last+2
		p.Blocks = append(p.Blocks, code.Block{First: last + 1, Last: last + 1}, code.Block{First: last + 2, Last: last + 2})
		g := r.new(p)
		g.prog.Instrs[0].Guard, g.prog.Instrs[0].CountsSkipped = 0, false
		known := op == code.Barrier && row != 0 && r.IntN(2) == 0
		if known { // the number is a launch constant
			p.Instrs[last].A = g.sum.D
		}
		c, lane := g.newCheckHarness(), r.IntN(regfile.Lanes)
		c.prog.Reference.Instrs[last].A = row
		guard, negated := code.GuardRow(p.Instrs[last].Guard)
		holds := -uint32(guard & 1) // lanes of the reference for which the guard holds
		if negated {
			holds = ^holds
		}
		holds ^= 1 << lane
		guarded := p.Instrs[last].Guard != 0
		if guarded && r.IntN(4) == 0 { // the guard is a launch constant and holds
			p.Instrs[last].Guard = 0
		} else {
			holds = ^(1 << lane) // lanes of the program
		}
		c.wrong = func(f, ref *regfile.File, _ []byte) {
			for i := range int32(testFrame.P) { // many predicates hold in all lanes, or in none
				all := -uint32(i & 1)
				f.SetP(i, regfile.Full, all)
				ref.SetP(i, regfile.Full, all)
			}
			if known {
				regfile.Fill32(f.Row32(row), 12, 0, regfile.Full)
				regfile.Fill32(ref.Row32(row), 12, 0, regfile.Full)
				*f.Shadow32(row) = regfile.Compact{}
			}
			if guarded {
				ref.SetP(guard, 1<<lane, ^ref.Pred(guard))
			} else {
				ref.Row32(row)[lane] ^= 1 << 7
			}
		}
		want, got := c.runOn(warp.Portable), c.runOn(exchange.Native)
		if got != want {
			t.Fatalf("%v, lanes %#x of %#x%s", p.Instrs[last], g.mask, g.live, linesOf("", got, want))
		}
		if strings.Contains(got, "error <nil>") != (g.mask&^holds == 0) && (guarded || row != 0) { // the addition has already compared row 0
			t.Fatalf("%v, lanes %#x, lane %d is wrong: %.300s", p.Instrs[last], g.mask, lane, got)
		}
		if strings.Contains(got, "error <nil>") {
			good[op]++
		} else {
			found[op]++
		}
	}
	if len(found) != 3 || len(good) != 3 {
		t.Errorf("faults found: %v, none: %v", found, good)
	}
}

// withStencil returns the host's stencils, in which the code of stencil name is replaced by the code of stencil by.
func withStencil(name, by string) *native.Library {
	for _, table := range native.HostLevel().Tables {
		for line := range strings.Lines(table) {
			if stencil, fields, _ := strings.Cut(line, "\t"); stencil == by {
				return native.HostLevel().Library(name + "\t" + fields)
			}
		}
	}
	panic("no stencil " + by)
}

// TestCheckedFalseAlarms checks the case that machine code reports a difference that Go does not find. This is an error,
// except for a load, because memory may have changed in between. To cause it, the stencil that compares idle lanes is
// replaced by the check for changed memory.
func TestCheckedFalseAlarms(t *testing.T) {
	if exchange.Native == nil {
		t.Skip("no machine code for this host")
	}
	lib := withStencil("idled_r", "memory_changed")
	r := &programGenerator{Values: harness.Values{Rand: rand.New(rand.NewPCG(15, part.Seed(t)))}}
	p := r.newProgram()
	instr := &p.Instrs[0]
	*instr = code.Instr{Op: code.OpNamed("add.s32"), D: 0, F: code.NoRow, A: 1, B: 2, Plan: code.ExecPlan{Exec: code.CompactTwo, Materialise: 15, LeavesStale: true}}
	g := r.new(p)
	instr.Guard, instr.CountsSkipped = 0, false
	g.mask, g.live = 1<<5, regfile.Full
	c := g.newCheckHarness()
	if c.lib = lib; !strings.Contains(c.runOn(exchange.Native), "machine code reported a difference that does not exist") {
		t.Errorf("%+v: %s", *instr, c.runOn(exchange.Native))
	}
	c = r.sharedLoad(code.Q, 1<<5).newCheckHarness()
	want := c.runOn(exchange.Native)
	if c.lib = lib; c.runOn(exchange.Native) != want || c.runOn(warp.Portable) != want {
		t.Errorf("%+v: %s\nwant %s\nand in Go %s", c.prog.Instrs[0], c.runOn(exchange.Native), want, c.runOn(warp.Portable))
	}
}

// TestCheckedStoreIsReported checks that a store that does not set the flag for changed memory is found. To cause it, the
// stencil that sets the flag is replaced by a check of the active lanes.
func TestCheckedStoreIsReported(t *testing.T) {
	if exchange.Native == nil {
		t.Skip("no machine code for this host")
	}
	r := &programGenerator{Values: harness.Values{Rand: rand.New(rand.NewPCG(16, part.Seed(t)))}}
	c := r.sharedStore(regfile.Full).newCheckHarness()
	if got := c.runOn(exchange.Native); !strings.Contains(got, "error <nil>, changed true") {
		t.Errorf("a store: %s", got)
	}
	c.lib = withStencil("changes", "all_active")
	if got := c.runOn(exchange.Native); !strings.Contains(got, "it stores without marking memory as changed") {
		t.Errorf("a store that does not mark memory as changed: %s", got)
	}
}

// TestCheckedPanics checks that the kernel traps if an instruction of the program panics in Go, with machine code as
// without.
func TestCheckedPanics(t *testing.T) {
	if exchange.Native == nil {
		t.Skip("no machine code for this host")
	}
	r := &programGenerator{Values: harness.Values{Rand: rand.New(rand.NewPCG(14, part.Seed(t)))}}
	p := r.newProgram()
	p.Instrs[0] = code.Instr{Op: code.Sreg32, D: 1000, F: code.NoRow, Imm: uint64(ptx.Clock)} // a row that does not exist
	g := r.new(p)
	p.Instrs[0].Guard, p.Instrs[0].CountsSkipped = 0, false
	c := g.newCheckHarness()
	c.prog.Reference.Instrs[0].D = 1
	for _, b := range []machine.Backend{warp.Portable, exchange.Native} {
		if got := c.runOn(b); !strings.Contains(got, "fails: runtime error: index out of range [1000]") {
			t.Errorf("%T: %s", b, got)
		}
	}
}

// read draws an operand of the tested instruction, which may be a constant. Its Row is negative if the instruction has no
// operand.
func (g *checkHarness) read(rng *rand.Rand) code.Row {
	instr := &g.prog.Instrs[0]
	i := rng.IntN(max(1, instr.Op.Signature().Sources()))
	row := code.Row{Slot: instr.Op.Signature().Src[i], Row: instr.Sources()[i]}
	if row.Slot == code.NoSlot {
		row.Row = -1
	}
	return row
}

// writes draws a result of the tested instruction.
func (g *checkHarness) writes(rng *rand.Rand) code.Row {
	list := g.prog.Results(nil, &g.prog.Instrs[0])
	if len(list) == 0 {
		return code.Row{}
	}
	return list[rng.IntN(len(list))]
}

// stores draws a register that the tested instruction stores; Slot is NoSlot if there is none.
func (g *checkHarness) stores(rng *rand.Rand) code.Elem {
	if len(g.prog.Access) == 0 || !g.prog.Access[0].Store {
		return code.Elem{}
	}
	elems := g.prog.Access[0].Elems
	if e := elems[rng.IntN(len(elems))]; e.Row >= 0 {
		return e
	}
	return code.Elem{}
}

// TestCheckedKernels checks that machine code checks operations that only compute as Go does: with the same results, counts
// and reported differences.
func TestCheckedKernels(t *testing.T) {
	if exchange.Native == nil {
		t.Skip("no machine code for this host")
	}
	r := &programGenerator{Values: harness.Values{Rand: rand.New(rand.NewPCG(5, part.Seed(t)))}, many: 250} // if GEMU_STENCIL is set, each program runs with twenty faults
	for op := code.Op(0); op < code.Count; op++ {
		s := op.Signature()
		if alu.Vec[op] == nil || s.Sources() == 0 || !native.HasKernel(op) {
			continue
		}
		rounds := part.Count(1, 2, 50)
		if s.Rule == ptx.AffineSelect { // selections have counters of their own
			rounds = part.Count(20, 20, 50)
		} else if part.Stencil() == "" && r.IntN(part.Count(12, 8, 1)) > 0 {
			continue
		}
		for _, target := range append(execsOf(s), code.OnLanes) {
			if !r.often(rounds, op.String(), func() bool { return r.compareChecked(t, r.proves(r.kernel(op, target)).newCheckHarness()) }) {
				return
			}
		}
	}
	if part.Stencil() == "" && r.late == 0 {
		t.Error("no mismatch says that later instructions executed")
	}
}

// proves draws whether the plan claims uniform results for the instruction, and whether this is true.
func (r *programGenerator) proves(g *testWarp) *testWarp {
	instr := &g.prog.Instrs[0]
	if instr.Plan.LeavesStale && (instr.Plan.Exec >= code.ProvedOne || r.IntN(4) == 0) {
		f := g.prog.Funcs[0]
		for _, row := range g.prog.Results(nil, instr) {
			if row.Slot != code.P && row.Row >= 0 && (instr.Plan.Exec >= code.ProvedOne || r.IntN(4) > 0) { // or of a part of them
				if f.Keeping[row.Slot] == nil {
					f.Keeping[row.Slot] = make([]code.Storage, testFrame.R)
				}
				f.Keeping[row.Slot][row.Row] = code.StorageShadow | code.StorageProved
			}
		}
		g.mask = g.live // unless lanes diverged
		if r.IntN(8) == 0 {
			g.mask = r.lanes()
			g.live |= g.mask
		}
	}
	return g
}

// drawPattern draws the pattern that the plan claims for the addresses of an access, and whether this is true.
func (r *programGenerator) drawPattern(g *testWarp) {
	a := &g.prog.Access[0]
	if len(a.Elems) != 1 || a.Addr == code.NoSlot {
		return
	}
	a.Pattern = code.Pattern(r.IntN(4))
	if a.Pattern == code.AnyStride {
		a.Stride = 2 * a.Bytes
	}
	first, instr := uint64(0), &g.prog.Instrs[0]
	for lane := range regfile.Lanes {
		v := machine.LaneValue(g.file, code.Row{Slot: a.Addr, Row: instr.A}, lane&^15)
		if lane%16 == 0 {
			first = v
		}
		if r.IntN(40) == 0 {
			continue
		}
		g.file.Row64(instr.A)[lane] = first + uint64(lane%16)*uint64(a.Distance())
		g.file.Row32(instr.A)[lane] = uint32(g.file.Row64(instr.A)[lane])
	}
}

// overwrites draws whether a load overwrites its address register: in the program, in the reference, in both or in neither.
func (r *programGenerator) overwrites(c *checkHarness) {
	a, ref := &c.prog.Access[0], &c.prog.Reference.Access[0]
	if a.Store || len(a.Elems) != 1 || a.Addr != a.Elems[0].Slot || r.IntN(3) > 0 {
		return
	}
	address, n := []code.Elem{{Slot: a.Addr, Row: c.prog.Instrs[0].A}}, r.IntN(3)
	if n != 0 {
		a.Elems = address
	}
	if n != 1 {
		ref.Elems = address
	}
}

// TestCheckedAccesses checks that machine code checks loads and stores, and the plan's claims about their addresses, as Go
// does.
func TestCheckedAccesses(t *testing.T) {
	if exchange.Native == nil {
		t.Skip("no machine code for this host")
	}
	r := &programGenerator{Values: harness.Values{Rand: rand.New(rand.NewPCG(6, part.Seed(t)))}, many: 250} // if GEMU_STENCIL is set, each program runs with twenty faults
	for range part.Count(200, 300, 100000) {
		if !r.often(1, "", func() bool {
			g := r.access()
			r.drawPattern(g)
			c := r.proves(g).newCheckHarness()
			r.overwrites(c)
			c.known = r.IntN(2) == 0
			return r.compareChecked(t, c)
		}) {
			return
		}
	}
}

// withoutMasks returns the host's stencils with a fault: masked stencils whose names begin with one of the prefixes have
// the code for all lanes.
func withoutMasks(prefixes ...string) *native.Library {
	wrong := ""
	for _, table := range native.HostLevel().Tables {
		for line := range strings.Lines(table) {
			name, rest, _ := strings.Cut(line, "\t")
			if some, ok := strings.CutSuffix(name, "_full"); ok && slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
				wrong += some + "_masked\t" + rest
			}
		}
	}
	return native.HostLevel().Library(wrong)
}

// TestCheckedStoresOfIdleLanes checks that a store of machine code for too many lanes is found. To cause it, the masked
// stencils of stores have the code for all lanes.
func TestCheckedStoresOfIdleLanes(t *testing.T) {
	if exchange.Native == nil {
		t.Skip("no machine code for this host")
	}
	lib := withoutMasks("row_store_")
	r := &programGenerator{Values: harness.Values{Rand: rand.New(rand.NewPCG(7, part.Seed(t)))}}
	for _, space := range []ptx.Space{ptx.Global, ptx.Shared} {
		from := map[ptx.Space]uint64{ptx.Global: testBase + 128, ptx.Shared: 0}[space]
		for size := 1; size <= 8; size *= 2 {
			for _, n := range []int{1, 2} {
				if space == ptx.Shared && n*size > 8 {
					continue // the memory has 256 bytes
				}
				p := r.newProgram()
				a := code.Access{Space: space, Addr: code.Q, Size: size, Bytes: size * n, Store: true, Strided: mem.StridedOf(size, false)}
				for i := range n {
					a.Elems = append(a.Elems, code.Elem{Slot: code.Q, Row: int32(i)})
				}
				p.Access, p.NumHits = []code.Access{a}, code.HitsPerAccess
				instr := &p.Instrs[0]
				instr.Op, instr.A, instr.Plan = code.StoreOp(size, code.Q, code.Q), 4, code.ExecPlan{Exec: code.CompactStore, Materialise: 1 | code.OperandList}
				if n > 1 {
					instr.Op = code.StoreVector
				}
				g := r.new(p)
				instr.Guard, instr.CountsSkipped = 0, false
				g.mask, g.live = 0xff, regfile.Full
				*g.file.Shadow64(instr.A) = regfile.Compact{Base: from, Stride: uint64(a.Bytes), Mask: regfile.Full}
				good := g.newCheckHarness()
				if got, want := good.runOn(exchange.Native), good.runOn(warp.Portable); got != want || strings.Contains(got, "does not execute it") {
					t.Errorf("%d times %d bytes: %s\nand in Go: %s", n, size, got, want)
				}
				bad := g.newCheckHarness()
				bad.lib = lib
				if got := bad.runOn(exchange.Native); !strings.Contains(got, "does not execute it, but memory changed") {
					t.Errorf("%d times %d bytes, stored for too many lanes: %s", n, size, got)
				}
			}
		}
	}
}

// TestCheckedResultsOfIdleLanes checks that a result written for idle lanes is found, in shadows and in rows, for every
// idle lane. To cause it, the masked stencils of results have the code for all lanes.
func TestCheckedResultsOfIdleLanes(t *testing.T) {
	if exchange.Native == nil {
		t.Skip("no machine code for this host")
	}
	cases := []struct {
		exec code.Exec
		held uint32 // lanes of the result's shadow before the instruction
		lib  *native.Library
	}{
		{code.CompactTwo, 0, withoutMasks("keep_")}, {code.CompactTwo, regfile.Full, withoutMasks("keep_")}, {code.Materialised, 0, withoutMasks("mul_hi_")},
	}
	r := &programGenerator{Values: harness.Values{Rand: rand.New(rand.NewPCG(10, part.Seed(t)))}}
	for _, op := range []code.Op{code.OpNamed("mul.hi.u32"), code.OpNamed("mul.hi.u64")} { // some compute single values
		for lane := range regfile.Lanes {
			for _, x := range cases {
				p := r.newProgram()
				instr := &p.Instrs[0]
				*instr = code.Instr{Op: op, D: 0, F: code.NoRow, A: 1, B: 2, Plan: code.ExecPlan{Exec: x.exec, Materialise: 15, LeavesStale: true}}
				g := r.new(p)
				instr.Guard, instr.CountsSkipped = 0, false
				g.mask, g.live = ^(uint32(1) << lane), regfile.Full
				slot := op.Signature().Dst
				for _, row := range []int32{1, 2} {
					*machine.ShadowAt(g.file, slot, row) = regfile.Compact{Base: uint64(1)<<(slot.Bits()-1) + uint64(r.IntN(1000)), Mask: regfile.Full}
				}
				*machine.ShadowAt(g.file, slot, 0) = regfile.Compact{Base: uint64(r.IntN(1000)), Mask: x.held}
				g.file.Row32(0)[lane], g.file.Row64(0)[lane] = 0x1234567, 0x123456789abcdef // lanes without a product
				good, bad, worse := g.newCheckHarness(), g.newCheckHarness(), g.newCheckHarness()
				bad.lib, worse.lib = x.lib, x.lib
				worse.wrong = func(_, ref *regfile.File, _ []byte) { // for an executing lane, which the message must name
					other := (lane + 1) % regfile.Lanes
					ref.Row32(1)[other], ref.Row64(1)[other] = 0, 0
				}
				if got := worse.runOn(exchange.Native); !strings.Contains(got, "differs") || strings.Contains(got, "does not execute it") {
					t.Errorf("%v, lane %d idle, and an executing lane wrong: %.300s", op, lane, got)
				}
				if got, want := good.runOn(exchange.Native), good.runOn(warp.Portable); got != want || strings.Contains(got, "differs") {
					t.Errorf("%v, lane %d idle: %s\nand in Go: %s", op, lane, got, want)
				}
				if got := bad.runOn(exchange.Native); !strings.Contains(got, "does not execute it") {
					t.Errorf("%v, lane %d idle, execution %v, shadow for lanes %#x: the result written for the idle lane is not found: %.300s", op, lane, x.exec, x.held, got)
				}
			}
		}
	}
}

// TestCheckedPredicatesOfIdleLanes checks that a predicate written for idle lanes is found. To cause it, the masked
// stencils of predicates have the code for all lanes.
func TestCheckedPredicatesOfIdleLanes(t *testing.T) {
	if exchange.Native == nil {
		t.Skip("no machine code for this host")
	}
	lib := withoutMasks("compared", "uncompared")
	r := &programGenerator{Values: harness.Values{Rand: rand.New(rand.NewPCG(11, part.Seed(t)))}}
	for lane := range regfile.Lanes {
		for _, less := range []bool{false, true} {
			p := r.newProgram()
			instr := &p.Instrs[0]
			*instr = code.Instr{Op: code.OpNamed("cmp.lt.s32"), D: 1, F: 2, A: 1, B: 2, C: 0, Imm: alu.BoolNone, Plan: code.ExecPlan{Exec: code.CompactCompare, Materialise: 3}}
			g := r.new(p)
			instr.Guard, instr.CountsSkipped = 0, false
			g.mask, g.live = ^(uint32(1) << lane), regfile.Full
			base := uint64(1000)
			if less {
				base = 10
			}
			*g.file.Shadow32(1) = regfile.Compact{Base: base, Mask: regfile.Full}
			*g.file.Shadow32(2) = regfile.Compact{Base: 500, Mask: regfile.Full}
			for other := range regfile.Lanes { // the result of the comparison, except in the idle lane
				outcome := less == (other != lane)
				g.file.SetP(1, 1<<other, uint32(machine.BoolBit(outcome))<<other)
				g.file.SetP(2, 1<<other, uint32(machine.BoolBit(!outcome))<<other) // and the second result
			}
			good, bad := g.newCheckHarness(), g.newCheckHarness()
			bad.lib = lib
			if got, want := good.runOn(exchange.Native), good.runOn(warp.Portable); got != want || strings.Contains(got, "does not execute it") {
				t.Errorf("lane %d idle: %s\nand in Go: %s", lane, got, want)
			}
			if got, want := bad.runOn(exchange.Native), fmt.Sprintf("lane %d does not execute it, but its register changed from %#x", lane, machine.BoolBit(!less)); !strings.Contains(got, want) {
				t.Errorf("lane %d idle: %.300s\nwant: %s", lane, got, want)
			}
		}
	}
}

// sharedLoad returns a warp before a compact load by the given lanes. Lane i loads word i after address 16 of shared
// memory.
func (r *programGenerator) sharedLoad(slot code.Slot, lanes uint32) *testWarp {
	p := r.newProgram()
	p.NumHits, p.Access = code.HitsPerAccess, []code.Access{{Space: ptx.Shared, Addr: slot, Size: 4, Bytes: 4, Strided: mem.StridedOf(4, false), Elems: []code.Elem{{Slot: code.R}}}}
	instr := &p.Instrs[0]
	instr.Op, instr.A, instr.Plan = code.LoadOp(4, false, slot, code.R), 4, code.ExecPlan{Exec: code.CompactLoad, Materialise: 1 | code.OperandList}
	g := r.new(p)
	instr.Guard, instr.CountsSkipped = 0, false
	g.mask, g.live = lanes, regfile.Full
	*machine.ShadowAt(g.file, slot, instr.A) = regfile.Compact{Base: 16, Stride: 4, Mask: regfile.Full}
	return g
}

// sharedStore returns a warp before a compact store by the given lanes, to the addresses of sharedLoad.
func (r *programGenerator) sharedStore(lanes uint32) *testWarp {
	g := r.sharedLoad(code.Q, lanes)
	instr, a := &g.prog.Instrs[0], &g.prog.Access[0]
	instr.Op, instr.Plan.Exec, a.Store = code.StoreOp(4, code.Q, code.R), code.CompactStore, true
	return g
}

// TestCheckedKnownAddress checks the comparison of an address that its block has compared already: two lanes suffice to
// find a changed base or stride, for every set of executing lanes.
func TestCheckedKnownAddress(t *testing.T) {
	if exchange.Native == nil {
		t.Skip("no machine code for this host")
	}
	r := &programGenerator{Values: harness.Values{Rand: rand.New(rand.NewPCG(8, part.Seed(t)))}}
	for _, m := range []uint32{regfile.Full, 0xff0, 1 << 31, 1 << 7, 0x80000001, 0x55555555} {
		for _, slot := range []code.Slot{code.R, code.Q} {
			shadows := map[string]regfile.Compact{
				"unchanged": {Base: 16, Stride: 4}, "another base": {Base: 20, Stride: 4}, "another stride": {Base: 16, Stride: 8}, "uniform, right in the first lane": {Base: 16 + 4*uint64(bits.TrailingZeros32(m))},
				"uniform, right in the second lane": {Base: 20 + 4*uint64(bits.TrailingZeros32(m))},
			}
			for _, name := range slices.Sorted(maps.Keys(shadows)) {
				now := shadows[name]
				g := r.sharedLoad(slot, m)
				now.Mask = regfile.Full
				at, before := g.prog.Instrs[0].A, *machine.ShadowAt(g.file, slot, g.prog.Instrs[0].A)
				c := g.newCheckHarness()
				c.known = true
				c.wrong = func(f, ref *regfile.File, _ []byte) {
					*machine.ShadowAt(f, slot, at), *machine.ShadowAt(f, slot, 0) = now, before // and no difference in another register
					for lane := range regfile.Lanes {                                           // and no difference in idle lanes
						f.Row32(0)[lane], f.Row64(0)[lane] = uint32(now.At(lane)), now.At(lane)
						if m>>lane&1 == 0 {
							ref.Row32(at)[lane], ref.Row64(at)[lane] = uint32(now.At(lane)), now.At(lane)
						}
					}
				}
				differs := false
				for n := m; n != 0; n &= n - 1 {
					lane := bits.TrailingZeros32(n)
					differs = differs || before.At(lane) != now.At(lane)
				}
				for _, b := range []machine.Backend{warp.Portable, exchange.Native} {
					if got := c.runOn(b); strings.Contains(got, "the compact address is") != differs {
						t.Errorf("%v, lanes %#x, %s, %T: %s", slot, m, name, b, got)
					}
				}
			}
		}
	}
}

// TestCheckedRegistersByPlace checks that a register that differs from the reference is found, in its shadow and in its
// row.
func TestCheckedRegistersByPlace(t *testing.T) {
	if exchange.Native == nil {
		t.Skip("no machine code for this host")
	}
	r := &programGenerator{Values: harness.Values{Rand: rand.New(rand.NewPCG(9, part.Seed(t)))}}
	const full = regfile.Full
	for _, m := range []uint32{full, 0xff0, 1 << 9, 0x55555755} {
		for _, slot := range []code.Slot{code.R, code.Q} {
			cases := map[string]struct {
				shadow  regfile.Compact
				row     bool // the row differs in lane 9
				differs bool
			}{
				"right":                                   {regfile.Compact{Base: 16, Stride: 4, Mask: full}, false, false},
				"right in shadow and row":                 {regfile.Compact{Base: 16, Stride: 4, Mask: full, Materialised: full}, false, false},
				"wrong in a stale lane of the row":        {regfile.Compact{Base: 16, Stride: 4, Mask: full, Materialised: full &^ (1 << 9)}, true, false},
				"wrong in a materialised row":             {regfile.Compact{Base: 16, Stride: 4, Mask: full, Materialised: full}, true, true},
				"wrong in the only materialised lane":     {regfile.Compact{Base: 16, Stride: 4, Mask: full, Materialised: 1 << 9}, true, true},
				"a base with more bits than a register":   {regfile.Compact{Base: 1<<32 + 16, Stride: 4, Mask: full}, false, true},
				"a stride with more bits than a register": {regfile.Compact{Base: 16, Stride: 1<<32 + 4, Mask: full}, false, true},
			}
			for _, name := range slices.Sorted(maps.Keys(cases)) {
				x := cases[name]
				g := r.sharedLoad(slot, m)
				at, before := g.prog.Instrs[0].A, *machine.ShadowAt(g.file, slot, g.prog.Instrs[0].A)
				c := g.newCheckHarness()
				c.wrong = func(f, _ *regfile.File, _ []byte) {
					*machine.ShadowAt(f, slot, at) = x.shadow
					for lane := range regfile.Lanes {
						f.Row32(at)[lane], f.Row64(at)[lane] = uint32(before.At(lane)), before.At(lane)
					}
					if x.row {
						f.Row32(at)[9] ^= 4
						f.Row64(at)[9] ^= 4
					}
				}
				for _, b := range []machine.Backend{warp.Portable, exchange.Native} {
					if got := c.runOn(b); strings.Contains(got, "the compact address is") != x.differs {
						t.Errorf("%v, lanes %#x, %s, %T: %s", slot, m, name, b, got)
					}
				}
			}
		}
	}
}
