package grid

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gemu/affinetrack"
	"gemu/internal/part"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/exchange"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/native"
	"gemu/interp/internal/native/harness"
	"gemu/interp/internal/native/harness/epilogue"
	"gemu/interp/internal/warp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// testWarp is a warp before a program with one tested instruction, with drawn registers and memory.
type testWarp struct {
	*programGenerator
	prog   *code.Program
	sum    code.Instr // a sum of constants, which may be a launch constant in check mode
	file   *regfile.File
	mask   uint32 // active lanes
	live   uint32
	memory []byte // contents of the buffer; its beginning is also that of shared memory
	since  int    // index of the buffer among the last hits of the access
	rules  *affinetrack.Table
	block  ptx.Dim3
	warp   int // index of the warp in the CTA
	cta    ptx.Dim3
}

// testFrame is the size of the programs' register frame. The last register of each kind belongs to the epilogue.
var testFrame = regfile.Size{R: 7, Q: 7, P: 5}

// newProgram returns a program of one instruction, which the caller must set, followed by the epilogue.
func (r *programGenerator) newProgram() *code.Program {
	p := &code.Program{Instrs: make([]code.Instr, 1)}
	p.Instrs = append(p.Instrs, epilogue.Instrs(r.Rand, &p.Consts, testFrame)...)
	p.Blocks = []code.Block{{First: 0, Last: int32(len(p.Instrs))}}
	p.Instrs = append(p.Instrs, code.Instr{Op: code.Exit})
	return p
}

// programGenerator draws programs with a single instruction.
type programGenerator struct {
	harness.Values
	drawn, native int // number of drawn programs, and of programs with machine code
	many          int // number of programs with machine code that suffices for a stencil; 0: 1000
	late          int // number of mismatches found only after later instructions
}

// value draws a value that is often a special case of a rule or of the operation.
func (r *programGenerator) value() uint64 {
	switch n := r.IntN(8); {
	case n < 2 && !r.HasFormat():
		return uint64(r.IntN(70))
	case n < 5:
		return r.Value()
	case n == 5:
		return []uint64{1 << 31, 1<<31 - 1, 1<<32 - 1, 1 << 32, 1 << 63, 1<<63 - 1, 1<<64 - 1, 0x3f800000, 0x7f800001, 0x3ff0000000000000}[r.IntN(10)] + uint64(r.IntN(40)) - 20
	}
	return r.Uint64() >> r.IntN(64)
}

// stride draws the stride of a register, often 0.
func (r *programGenerator) stride() uint64 {
	switch r.IntN(4) {
	case 0, 1:
		return 0
	case 2:
		return uint64(r.IntN(33)) - 16
	}
	return r.value()
}

// lanes draws lanes of a warp: often all lanes, or consecutive lanes in each half of the row.
func (r *programGenerator) lanes() uint32 {
	switch r.IntN(9) {
	case 0, 1, 2:
		return regfile.Full
	case 3, 4:
		return 1<<r.IntN(32)*(1<<r.IntN(5)-1) | 1<<r.IntN(32)
	case 5, 6:
		run := func() uint32 { return (1<<r.IntN(17) - 1) << r.IntN(16) & 0xffff }
		return run() | run()<<16 | 1<<(31*r.IntN(2))
	}
	return r.Uint32() | 1<<r.IntN(32)
}

// source draws the row of an operand: a register or a constant.
func (r *programGenerator) source(k *regfile.Constants, slot code.Slot) int32 {
	if r.IntN(5) != 0 {
		return r.Int32N(map[code.Slot]int32{code.R: int32(testFrame.R) - 1, code.Q: int32(testFrame.Q) - 1, code.P: int32(testFrame.P) - 1}[slot])
	}
	return r.constant(k, slot)
}

// constant draws a constant.
func (r *programGenerator) constant(k *regfile.Constants, slot code.Slot) int32 {
	switch slot {
	case code.R:
		return k.Add32(uint32(r.value()))
	case code.Q:
		return k.Add64(r.value())
	}
	return k.AddP(-(r.Uint32() & 1))
}

// drawRegisters gives registers random values and shadows. In materialised lanes the row has the value of the shadow. all
// are the executing lanes.
func (r *programGenerator) drawRegisters(f *regfile.File, all uint32) {
	for i := range testFrame.R {
		f.Row32(int32(i))[0] = 0
		c := regfile.Compact{Base: uint64(uint32(r.value())), Stride: uint64(uint32(r.stride())), Mask: r.held(all)}
		c.Materialised = c.Mask & r.lanes()
		*f.Shadow32(int32(i)) = c
		for lane := range regfile.Lanes {
			f.Row32(int32(i))[lane] = uint32(r.value())
			if c.Materialised>>lane&1 != 0 {
				f.Row32(int32(i))[lane] = uint32(c.At(lane))
			}
		}
	}
	for i := range testFrame.Q {
		c := regfile.Compact{Base: r.value(), Stride: r.stride(), Mask: r.held(all)}
		c.Materialised = c.Mask & r.lanes()
		*f.Shadow64(int32(i)) = c
		for lane := range regfile.Lanes {
			f.Row64(int32(i))[lane] = r.value()
			if c.Materialised>>lane&1 != 0 {
				f.Row64(int32(i))[lane] = c.At(lane)
			}
		}
	}
	for i := range testFrame.P {
		f.SetP(int32(i), regfile.Full, []uint32{0, regfile.Full, r.Uint32()}[r.IntN(3)])
	}
}

// held draws the lanes of a shadow: often all lanes, or the executing lanes m.
func (r *programGenerator) held(m uint32) uint32 {
	switch r.IntN(6) {
	case 0:
		return 0
	case 1:
		return r.Uint32()
	case 2:
		return m
	}
	return regfile.Full
}

// new returns a warp before the program p, whose tested instruction must be set. It may add a guard to the instruction.
func (r *programGenerator) new(p *code.Program) *testWarp {
	if instr := &p.Instrs[0]; r.IntN(4) == 0 {
		instr.Guard = code.Guard(r.Int32N(int32(testFrame.P)-1), r.IntN(2) == 0)
		instr.CountsSkipped = true
	}
	sum := code.Instr{Op: code.OpNamed("add.s32"), D: p.Consts.Add32(12), F: code.NoRow, A: p.Consts.Add32(7), B: p.Consts.Add32(5)}
	p.Consts.Layout()
	p.Width = regfile.Lanes
	fn := testModule.Kernels()[0]
	p.Funcs = []*code.Func{{Frame: testFrame, Func: fn}}
	p.Sources = []code.Source{{Instr: fn.Blocks[0].Instrs[0], Func: p.Funcs[0]}}
	p.Link()
	r.drawn++
	g := &testWarp{programGenerator: r, prog: p, sum: sum, file: regfile.New(&p.Consts, true), mask: r.lanes(), block: ptx.Dim3{X: 32, Y: 1, Z: 1}, rules: affinetrack.Rules}
	g.live = g.mask | r.Uint32()
	g.file.Reset(testFrame)
	r.drawRegisters(g.file, g.mask)
	*g.file.Shadow32(6), *g.file.Shadow64(6) = regfile.Compact{}, regfile.Compact{}
	g.memory = make([]byte, 4096)
	for i := range g.memory {
		g.memory[i] = byte(r.Uint32())
	}
	return g
}

// testModule is the module of the tested instruction.
var testModule = func() *ptx.Module {
	m, err := ptx.ParseString("harness.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n\tret;\n}\n")
	if err != nil {
		panic(err)
	}
	return m
}()

// testBase is the address of the buffer, the first allocation.
const testBase = 1 << 32

// runOn executes the program on a backend, and returns a description of the registers, their shadows and memory afterwards.
func (g *testWarp) runOn(b machine.Backend) (outcome string) {
	f := regfile.New(&g.prog.Consts, true)
	f.CopyFrom(g.file)
	f.Open(regfile.Size{}, testFrame)
	memory := slices.Clone(g.memory)
	device := &machine.Device{Memory: mem.NewMap(1<<32, 1<<20, func(n uint64) ([]byte, func(), error) { return make([]byte, n), func() {}, nil })}
	k := NewKernel(testModule, testModule.Kernels()[0], g.prog)
	grid := &machine.Grid{
		Kernel: k, Device: device, Extents: machine.Extents{Block: g.block}, Execution: machine.Execution{Mode: machine.Affine, Backend: b, Rules: g.rules},
	}
	c := &machine.CTA{Grid: grid, Code: k, ID: g.cta, Index: g.cta.X, CTAShared: machine.CTAShared{SharedMem: device.Memory.NewShared(256)}}
	copy(c.SharedMem.Data, memory)
	hit, err := device.Memory.Alloc(uint64(len(memory)), probe.BufferMemory, "")
	if err != nil || hit.Base != testBase {
		return fmt.Sprintf("memory at %#x, %v", hit.Base, err)
	}
	copy(hit.Data, memory)
	memory = hit.Data
	c.LastHits = g.hits(hit)
	for i := range g.prog.Access {
		if g.prog.Access[i].Addr == code.NoSlot && g.prog.Access[i].Space != ptx.Shared {
			g.prog.Access[i].Fixed = hit
		}
	}
	c.Warps = make([]machine.Warp, g.warp+1)
	w := &c.Warps[g.warp]
	*w = machine.Warp{CTA: c, ID: g.warp, Files: []regfile.File{*f}, WarpProgress: machine.WarpProgress{Live: uint64(g.live)}, ReconvergeAt: -1}
	w.Mask = uint64(g.mask)
	c.OwnCluster.CTAs = []*machine.CTA{c}
	c.Cluster = &c.OwnCluster
	c.Frame.Func = g.prog.Funcs[0]
	w.Frame = &c.Frame
	w.Unit = affinetrack.NewUnit(affinetrack.Policies[0], g.rules)
	reason := b.Run(w, 1)
	outcome = fmt.Sprintf("why %v at %d, error %v, counts %+v", reason, w.PC, w.Err, w.Count)
	outcome += fmt.Sprintf(", changed %v", c.Changed)
	h := &w.Files[0]
	for i := range int32(testFrame.R) {
		outcome += fmt.Sprintf("\nr%d %x %+v", i, *h.Row32(i), *h.Shadow32(i))
	}
	for i := range int32(testFrame.Q) {
		outcome += fmt.Sprintf("\nq%d %x %+v", i, *h.Row64(i), *h.Shadow64(i))
	}
	for i := range int32(testFrame.P) {
		outcome += fmt.Sprintf("\np%d %x", i, h.Pred(i))
	}
	if !bytes.Equal(memory, g.memory) {
		outcome += fmt.Sprintf("\nmemory %x", memory)
	}
	return outcome + fmt.Sprintf("\nshared %x", c.SharedMem.Data)
}

// hits returns the last hits of the program's accesses: the buffer is where the tested access finds it.
func (g *testWarp) hits(buffer *mem.Allocation) []*mem.Allocation {
	list := make([]*mem.Allocation, g.prog.NumHits)
	for i := range g.prog.Access {
		list[g.prog.Access[i].HitIndex+g.since] = buffer
	}
	return list
}

// compare executes the program on both backends and compares the outcomes.
func (g *testWarp) compare(t *testing.T) (same bool) {
	t.Helper()
	if !g.wanted() {
		return true
	}
	instr, isNative := &g.prog.Instrs[0], native.New(g.prog).NextSupported(&native.Context{Mask: g.mask}, 0) == 0
	if isNative {
		g.native++
	}
	sources, s := instr.Sources(), instr.Op.Signature()
	if s.Compares() && isNative == leavesToGo(instr) || s.Kind == code.Arithmetic && !s.Compares() && !isNative && slices.Min(sources[:]) >= 0 { // some operations have no kernel for constants
		t.Errorf("%+v is machine code: %v", instr, isNative)
		return false
	}
	want, got := g.runOn(warp.Portable), g.runOn(exchange.Native)
	if got != want {
		t.Errorf("%+v\nlanes %#x of %#x%s", *instr, g.mask, g.live, linesOf(g.before(), got, want))
	}
	return got == want
}

// wanted reports whether the program is to be tried. If GEMU_STENCIL names a stencil, the program's machine code must
// contain it.
func (g *testWarp) wanted() bool {
	stencil := part.Stencil()
	if stencil == "" {
		return true
	}
	native.HostLibrary().TakeUsed()
	native.New(g.prog).Ready(&native.Context{Mask: g.mask})
	return slices.Contains(native.HostLibrary().TakeUsed(), stencil)
}

// often calls try, which draws and tries a program, up to the given number of times, until it returns false. It reports
// whether all calls have returned true.
//
// If GEMU_STENCIL names a stencil, often calls try more often, until enough programs have used the stencil. If the first
// programs do not use it, often stops; it waits longer if the stencil has the operation's name, and then tries at least half as
// many programs as suffice.
func (r *programGenerator) often(times int, name string, try func() bool) bool {
	few, many := 20, cmp.Or(r.many, 1000)
	if name != "" && strings.Contains(part.Stencil(), strings.ReplaceAll(name, ".", "_")) {
		few = 60
	}
	before := r.native
	if part.Stencil() != "" {
		times *= 20
	}
	if few == 60 {
		times = max(times, many/2)
	}
	for n := range times {
		if part.Stencil() != "" && (n >= few && r.native == before || r.native >= many) {
			break
		}
		if !try() {
			return false
		}
	}
	return true
}

// linesOf returns the registers before the program, and the lines in which two outcomes differ.
func linesOf(before, native, portable string) string {
	a, b := strings.Split(native, "\n"), strings.Split(portable, "\n")
	text := "\nbefore" + before
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			text += "\nnative " + a[i] + "\nportable " + b[i]
		}
	}
	return text
}

// before describes the registers before the program.
func (g *testWarp) before() string {
	text := ""
	for i := range int32(testFrame.R) {
		text += fmt.Sprintf("\nr%d %x %+v", i, *g.file.Row32(i), *g.file.Shadow32(i))
	}
	for i := range int32(testFrame.Q) {
		text += fmt.Sprintf("\nq%d %x %+v", i, *g.file.Row64(i), *g.file.Shadow64(i))
	}
	return text
}

// TestCompactInMachineCode compares compact execution in machine code with the portable backend, and checks that every
// stencil of compact execution is used.
func TestCompactInMachineCode(t *testing.T) {
	if exchange.Native == nil {
		t.Skip("no machine code for this host")
	}
	native.HostLibrary().TakeUsed()
	generators := [2]programGenerator{}
	for i, name := range []string{"kernels", "accesses"} {
		generators[i].Rand = rand.New(rand.NewPCG(uint64(3+i), part.Seed(t)))
		t.Run(name, func(t *testing.T) {
			[]func(*programGenerator, *testing.T){(*programGenerator).compactKernels, (*programGenerator).compactAccesses}[i](&generators[i], t)
		})
	}
	if part.Stencil() != "" && generators[0].native+generators[1].native == 0 {
		t.Errorf("no program uses the stencil %s", part.Stencil())
	}
	if tried := native.HostLibrary().TakeUsed(); part.TryAll() {
		for name := range native.HostLibrary().Names() {
			if harness.IsCompact(name) && slices.Contains(tried, name) == harness.IsUnused(name) {
				t.Errorf("stencil %s is tried: %v", name, harness.IsUnused(name))
			}
		}
	}
}

// execsOf returns the executions of a plan that are possible for an operation.
func execsOf(s *code.Signature) []code.Exec {
	mixed := s.Dst2 != code.NoSlot || slices.Contains(s.Src[:], code.P)
	switch {
	case s.Compares():
		return []code.Exec{code.CompactCompare, code.Materialised}
	case s.Dst == code.P:
		return []code.Exec{code.Materialised}
	case mixed:
		return []code.Exec{code.CompactMixed, code.Materialised}
	}
	return []code.Exec{code.ProvedOne + code.Exec(s.Sources()-1), code.CompactOne + code.Exec(s.Sources()-1), code.Materialised}
}

// ruled reports whether an operation uses an affine rule in an execution.
func ruled(s *code.Signature, exec code.Exec) bool {
	return exec != code.OnLanes && exec != code.Materialised && exec < code.ProvedOne && affinetrack.Rules[s.Rule].Apply != nil
}

// kernel returns a warp before an operation that only computes, with the given execution.
func (r *programGenerator) kernel(op code.Op, exec code.Exec) *testWarp {
	s := op.Signature()
	r.SetOperation(op)
	r.SetModerate()
	p := r.newProgram()
	instr := &p.Instrs[0]
	instr.Op, instr.Plan = op, code.ExecPlan{Exec: exec, Materialise: 15, LeavesStale: s.Dst != code.P, WritesBoth: s.Dst != code.P && r.IntN(4) == 0}
	for i, field := range []*int32{&instr.A, &instr.B, &instr.C, &instr.E} {
		if s.Src[i] != code.NoSlot {
			*field = r.source(&p.Consts, s.Src[i])
		}
	}
	instr.D, instr.F = r.Int32N(3), code.NoRow
	if s.Dst2 == code.P {
		instr.F = (instr.D + 1) % int32(testFrame.P-1)
	}
	if instr.Imm = uint64(r.IntN(256)); r.IntN(2) == 0 { // a truth table, for some operations
		instr.Imm = r.Imm(op)
	}
	if s.Compares() {
		instr.Imm = []uint64{alu.BoolNone, alu.BoolAnd, alu.BoolOr, alu.BoolXor}[r.IntN(4)] | uint64(r.IntN(2))*alu.ComplementC
		if instr.Imm == alu.ComplementC {
			instr.Imm = 0
		}
		if r.IntN(2) == 0 {
			instr.F = code.NoRow
		}
	}
	g := r.new(p)
	g.narrow(instr)
	forRule := ruled(s, exec) && r.IntN(4) > 0 // operands often satisfy the rule
	for i, row := range instr.Sources() {
		switch {
		case s.Src[i] == code.NoSlot || s.Src[i] == code.P || row < 0:
		case forRule:
			r.forRule(g, instr, i)
		case exec >= code.ProvedOne: // the plan has proved the operands
			c := machine.ShadowAt(g.file, s.Src[i], row)
			c.Stride, c.Mask, c.Materialised = 0, regfile.Full, 0
		case exec == code.OnLanes: // the operands are in rows
			machine.ShadowAt(g.file, s.Src[i], row).Mask = 0
			machine.ShadowAt(g.file, s.Src[i], row).Materialised = 0
		}
	}
	if exec == code.OnLanes {
		instr.Plan = code.ExecPlan{}
		if s.Dst != code.P {
			machine.ShadowAt(g.file, s.Dst, instr.D).Mask = 0
			machine.ShadowAt(g.file, s.Dst, instr.D).Materialised = 0
		}
	}
	return g
}

// forRule draws operand i so that it often satisfies a rule: a small uniform number, a progression, or the value of the
// first operand with the same or the opposite stride.
func (r *programGenerator) forRule(g *testWarp, instr *code.Instr, i int) {
	s, rows := instr.Op.Signature(), instr.Sources()
	c := machine.ShadowAt(g.file, s.Src[i], rows[i])
	c.Mask, c.Materialised = regfile.Full, 0
	switch {
	case i == 1 && rows[0] >= 0 && s.Src[0] == s.Src[1] && s.Width >= 32 && r.IntN(4) == 0:
		first := machine.ShadowAt(g.file, s.Src[0], rows[0])
		if c.Base, c.Stride = first.Base, first.Stride; r.IntN(2) == 0 {
			c.Stride = -c.Stride & (1<<s.Src[i].Bits() - 1)
		}
	case i > 0 && r.IntN(2) == 0:
		c.Base, c.Stride = uint64(r.IntN(40)), 0
	case s.Width >= 32 && r.IntN(2) == 0:
		c.Base, c.Stride = uint64(r.IntN(4000)), uint64(r.IntN(9))
	}
}

// compactKernels compares operations that only compute, in each execution, with the portable backend.
func (r *programGenerator) compactKernels(t *testing.T) {
	for op := code.Op(0); op < code.Count; op++ {
		s := op.Signature()
		if alu.Vec[op] == nil || s.Sources() == 0 || !native.HasKernel(op) {
			continue
		}
		for _, exec := range execsOf(s) {
			rounds := part.Count(2, 3, 400)
			if ruled(s, exec) {
				rounds *= 10
			}
			if !r.often(rounds, op.String(), func() bool { return r.kernel(op, exec).compare(t) }) {
				return
			}
		}
	}
	r.covered(t, 97)
}

// leavesToGo reports whether machine code leaves a comparison to Go: its first result overwrites the predicate with which
// the second result is combined.
func leavesToGo(instr *code.Instr) bool {
	return instr.F != code.NoRow && instr.C == instr.D && instr.Imm&^alu.ComplementC != alu.BoolNone
}

// covered fails the test unless at least the given percentage of the programs has machine code.
func (r *programGenerator) covered(t *testing.T, percent int) {
	t.Helper()
	t.Logf("%d programs of %d are machine code", r.native, r.drawn)
	if part.Stencil() == "" && 100*r.native < percent*r.drawn {
		t.Errorf("%d programs of %d are machine code", r.native, r.drawn)
	}
}

// narrow truncates the operands of an instruction to their width.
func (g *testWarp) narrow(instr *code.Instr) {
	s := instr.Op.Signature()
	if s.Width != 16 && s.Width != 8 {
		return
	}
	for i, row := range instr.Sources() {
		if s.Src[i] != code.R || row < 0 {
			continue
		}
		c := g.file.Shadow32(row)
		c.Base &= 1<<s.Width - 1
		c.Stride, c.Materialised = 0, 0
		for lane := range regfile.Lanes {
			g.file.Row32(row)[lane] &= 1<<s.Width - 1
		}
	}
}

// access returns a warp before a load or store, often at a compact address.
func (r *programGenerator) access() *testWarp {
	p := r.newProgram()
	instr := &p.Instrs[0]
	size := 1 << r.IntN(4)
	n := 1
	if size > 1 {
		n = 1 << r.IntN(3)
	}
	a := code.Access{Space: []ptx.Space{ptx.Global, ptx.Shared, ptx.Generic}[r.IntN(3)], Addr: []code.Slot{code.R, code.Q, code.Q}[r.IntN(3)], Size: size, Bytes: size * n, Store: r.IntN(2) == 0}
	a.Signed = !a.Store && r.IntN(3) == 0
	a.Strided = mem.StridedOf(size, a.Signed)
	if a.Space != ptx.Shared && a.Addr == code.R {
		a.Addr = code.Q
	}
	data := code.R
	if size == 8 || n == 1 && r.IntN(2) == 0 {
		data = code.Q
	}
	switch {
	case n > 1 && a.Store:
		instr.Op = code.StoreVector
	case n > 1:
		instr.Op = code.LoadVector
	case a.Store:
		instr.Op = code.StoreOp(size, a.Addr, data)
	default:
		instr.Op = code.LoadOp(size, a.Signed, a.Addr, data)
	}
	first := r.IntN(5 - n)
	for i := range n {
		e := code.Elem{Slot: data, Row: int32(first + i)}
		if n > 1 && !a.Store && r.IntN(8) == 0 {
			e.Slot = code.NoSlot
		}
		if a.Store && e.Slot != code.NoSlot && r.IntN(4) == 0 {
			e.Row = r.constant(&p.Consts, e.Slot)
		}
		a.Elems = append(a.Elems, e)
	}
	instr.Plan = code.ExecPlan{Materialise: 1 | code.OperandList, LeavesStale: !a.Store && r.IntN(2) == 0}
	instr.Plan.WritesBoth = instr.Plan.LeavesStale && r.IntN(4) == 0
	instr.Plan.Exec = code.CompactLoad
	if a.Store {
		instr.Plan.Exec = code.CompactStore
	}
	instr.A = r.Int32N(2) + 4
	g := r.new(p)
	shadow, room, base := machine.ShadowAt(g.file, a.Addr, instr.A), uint64(len(g.memory)), uint64(testBase)
	if a.Space == ptx.Shared {
		room, base = 256, 0
	}
	if r.IntN(3) > 0 {
		shadow.Stride = []uint64{0, uint64(a.Bytes), -uint64(a.Bytes), 4 * uint64(a.Bytes), 3}[r.IntN(5)]
		if instr.Plan.LeavesStale {
			shadow.Stride = 0
		}
		shadow.Mask = regfile.Full
	}
	a.Offset = uint64(r.IntN(64)) * uint64(a.Bytes)
	shadow.Base = base + uint64(r.IntN(int(room)))&^uint64(a.Bytes-1) - a.Offset
	if r.IntN(4) == 0 { // at an end of the memory
		shadow.Base = base + []uint64{0, room - uint64(a.Bytes)}[r.IntN(2)] - a.Offset + uint64(r.IntN(3)) - 1
	}
	if a.Addr == code.R {
		shadow.Base, shadow.Stride = uint64(uint32(shadow.Base)), uint64(uint32(shadow.Stride))
	}
	if instr.Plan.LeavesStale && shadow.Stride != 0 {
		shadow.Mask = 0 // the plan keeps such addresses compact only if they are uniform
	}
	shadow.Materialised = 0
	for lane := range regfile.Lanes { // the lanes' own addresses are in bounds, too
		v := base + uint64(lane)*uint64(a.Bytes) - a.Offset
		g.file.Row32(instr.A)[lane] = uint32(v)
		if a.Addr == code.Q {
			g.file.Row64(instr.A)[lane] = v
		}
	}
	if a.Space == ptx.Shared && n == 1 && instr.Plan.LeavesStale && r.IntN(2) == 0 { // a variable, or an address beyond the memory
		instr.Op, a.Addr, a.Offset = code.LoadFixed, code.NoSlot, uint64(r.IntN(256/size)*size)
		if r.IntN(4) == 0 {
			a.Offset = uint64(256 + r.IntN(3)*size)
		}
		instr.Plan.Materialise = 0
	}
	p.NumHits = 3 * code.HitsPerAccess // hits of this instruction, and of an instruction before and after it
	a.HitIndex = r.IntN(3) * code.HitsPerAccess
	if r.IntN(4) == 0 {
		g.since = r.IntN(code.HitsPerAccess)
	}
	p.Access = []code.Access{a}
	return g
}

// compactAccesses compares loads and stores with the portable backend.
func (r *programGenerator) compactAccesses(t *testing.T) {
	for range part.Count(1000, 3000, 400000) {
		if !r.often(1, "", func() bool { return r.access().compare(t) }) {
			return
		}
	}
	r.covered(t, 100)
}

// TestCompactWithOtherRules checks that Go executes a launch whose affine rules differ from those of the stencils.
func TestCompactWithOtherRules(t *testing.T) {
	if exchange.Native == nil {
		t.Skip("no machine code for this host")
	}
	r := &programGenerator{Values: harness.Values{Rand: rand.New(rand.NewPCG(13, part.Seed(t)))}}
	less := *affinetrack.Rules
	less[ptx.AffineAdd].Apply = func(*affinetrack.Args) (affinetrack.Value, bool) { return affinetrack.Value{}, false }
	different := 0
	for range part.Count(100, 100, 1000) {
		g := r.kernel(code.OpNamed("add.s32"), code.CompactTwo)
		with := g.runOn(exchange.Native)
		if g.rules = &less; with != g.runOn(exchange.Native) {
			different++
		}
		if !g.compare(t) || !r.compareChecked(t, g.newCheckHarness()) {
			return
		}
	}
	if different == 0 {
		t.Error("no outcome depends on the rules")
	}
}

// TestCompactSources compares reads of uniform or affine special registers with the portable backend.
func TestCompactSources(t *testing.T) {
	if exchange.Native == nil {
		t.Skip("no machine code for this host")
	}
	r := &programGenerator{Values: harness.Values{Rand: rand.New(rand.NewPCG(5, part.Seed(t)))}}
	for range part.Count(300, 1000, 20000) {
		p := r.newProgram()
		instr := &p.Instrs[0]
		instr.Op = []code.Op{code.Sreg16, code.Sreg32, code.Sreg64}[r.IntN(3)]
		instr.Imm = uint64([]ptx.SpecialReg{ptx.TidX, ptx.TidY, ptx.TidZ, ptx.CtaidX, ptx.CtaidY, ptx.LaneID, ptx.WarpID, ptx.SMID, ptx.NtidX}[r.IntN(9)])
		instr.D = r.Int32N(3)
		instr.Plan = code.ExecPlan{Exec: code.CompactSource, LeavesStale: true, WritesBoth: r.IntN(4) == 0}
		g := r.new(p)
		g.block = []ptx.Dim3{{X: 32, Y: 1, Z: 1}, {X: 64, Y: 2, Z: 2}, {X: 1, Y: 32, Z: 2}, {X: 128, Y: 1, Z: 1}, {X: 20, Y: 1, Z: 1}, {X: 32, Y: 1, Z: 3}, {X: 33, Y: 1, Z: 1}}[r.IntN(7)]
		if spacing := affinetrack.ThreadSpacing(g.block.Dims(), regfile.Lanes); ptx.SpecialReg(instr.Imm) <= ptx.TidZ && spacing[instr.Imm-uint64(ptx.TidX)].Class() == affinetrack.Generic {
			continue
		}
		warps := (g.block.Count() + regfile.Lanes - 1) / regfile.Lanes
		g.warp, g.cta = r.IntN(warps), ptx.Dim3{X: r.IntN(5) << r.IntN(17), Y: r.IntN(3)}
		if n := g.block.Count() - regfile.Lanes*g.warp; n < regfile.Lanes { // existing threads
			present := uint32(1)<<n - 1
			g.mask, g.live = g.mask&present|1, g.live&present|1
		}
		if narrow, before := instr.Op == code.Sreg16, r.native; !g.compare(t) {
			return
		} else if part.Stencil() == "" && narrow == (r.native > before) { // a 32-bit read takes the lower half
			t.Fatalf("%v has machine code: %v", instr.Op, narrow)
		}
	}
}
