// Package harness executes programs of one or a few instructions as machine code and in Go, and compares the results. It
// tests each stencil by itself, on values and masks at which it may fail. Tests use it, and the runner of machine-code
// mutants.
//
// The expected results do not come from machine code. For operations they come from the functions of package alu, from which
// the stencils are translated. For memory and control flow they come from short models in this package, written from the
// description of package lanes.
//
// Read harness.go first (suites, programs, comparison), then operation.go, access.go and control.go (the suites), and
// values.go (random values). Package epilogue has the instructions after the tested one.
package harness

import (
	"bytes"
	"fmt"
	"iter"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/native"
	"gemu/interp/internal/native/harness/epilogue"
	"gemu/regfile"
)

// Suite is a set of random programs with one subject: an operation, a kind of access, or control flow.
type Suite struct {
	Name string
	// runRound executes and compares the programs of a round. It returns false if the suite has no machine code or a program
	// differed.
	runRound func(t *tester, round int) bool
}

// Suites returns all suites.
func Suites() iter.Seq[Suite] {
	return func(yield func(Suite) bool) {
		for op := range code.Count {
			switch {
			case alu.Vec[op] != nil:
				if !yield(Suite{op.String(), func(t *tester, round int) bool { return t.testOperation(op, round) }}) {
					return
				}
			case isAccess(op):
				if !yield(Suite{op.String(), func(t *tester, round int) bool { return t.testAccesses(op, round) }}) {
					return
				}
			}
		}
		yield(Suite{"control", (*tester).testControl})
	}
}

// compactNames matches the names of the stencils of compact execution covered by TestCompactInMachineCode.
var compactNames = regexp.MustCompile(`^(scalar|affine|compact|uniform|keep|materialise|uncompact|proved|row|one)_|^reach_(q|r|none|fixed)|^changes$`)

// unused matches the unused stencils of compact execution: comparisons of 32 bits and selections, for which affinetrack has
// fast forms, and addresses never made compact by a plan.
var unused = regexp.MustCompile(`^(scalar_(cmp_(eq|ne|lt|le|gt|ge|lo|ls|hi|hs)_[bsu]32|selp_b\d+)|reach_fixed|reach_r_hit_(full|masked))$`)

// IsUnused reports whether no program uses a stencil.
func IsUnused(stencil string) bool { return unused.MatchString(stencil) }

// IsCompact reports whether TestCompactInMachineCode covers a stencil of compact execution.
func IsCompact(stencil string) bool { return compactNames.MatchString(stencil) }

// Tests selects tests of a package for comparing stencils with Go.
type Tests struct {
	Package string // folder of the package, from the module's root
	Run     string // regular expression of the tests' names, as for go test -run
}

// schedulerStencils matches the names of the stencils of the warp scheduler. Tests of package grid compare them with the
// scheduler in Go.
var schedulerStencils = regexp.MustCompile(`^(wait_at_barrier|warp_end|check_ordered|switch_warp)$`)

// otherTests has the tests of the stencils without a suite.
var otherTests = []struct {
	Tests
	names *regexp.Regexp
}{
	{Tests{"interp/internal/grid", "^Test(SchedulerOnRandomPrograms|Scheduler|NextCTAs)$"}, schedulerStencils},
	{Tests{"interp/internal/grid", "^TestCompactInMachineCode$"}, compactNames},
	{Tests{"interp/internal/grid", "^TestCompactSources$"}, regexp.MustCompile(`^source_`)},
	{Tests{"interp/internal/grid", "^TestChecked"}, regexp.MustCompile(`_agreed$|^(call|agree|agreed|still|same|copy|holds|idle|idled|generic|note|before|after|as_proved)_|^(tally|tally_uniform|memory_changed|all_active)$`)},
	{Tests{"interp", "^TestFaultsInMachineCode$"}, regexp.MustCompile(`^(exit_at_fault|save_addresses_[rq])$`)},
	{Tests{"interp", "^Test(CopiesOfWarps|CopyCases|FaultsOfCopies|FreedSourceOfCopies|ManyCopySources)$"}, regexp.MustCompile(`^async_(copy|commit|wait)`)},
	{Tests{"interp/internal/native", "^TestLoggedAccesses$"}, regexp.MustCompile(`^log_(load|store|row)_`)},
	{Tests{"interp/internal/native", "^TestAccesses$"}, regexp.MustCompile(`^(load|store)_(element|fixed|frame|local|shared|vector)_|^(atom|red|recall|pointers|alike|if_shared)_|^reach_[0-9]`)},
	{Tests{"interp/internal/native", "^Test(Multiplications|Panels|TensorPanels|Tiles|MovedMatrices)$"}, regexp.MustCompile(`^(matrix|multiply|decode|encode|normalise|check_metadata|select_scales|load_rows|store_rows|load_matrix|store_matrix|move_matrix)|^(clear|divide|add_f16|add_f32)$`)},
	{Tests{"interp/internal/native", "^Test(Fragments|SameValues)$"}, regexp.MustCompile(`^((load_|store_)?fragment|check_same)_`)},
	{Tests{"interp/internal/native", "^Test(Shuffles|Votes|Reductions|Matches|Elections|Special|Addresses)$"}, regexp.MustCompile(`^(shfl|vote|ballot|activemask|redux|match|elect|members|equal_members|sreg|frame|shared)_`)},
}

// TestsOf returns the tests of a stencil without a suite; ok is false if there are none.
func TestsOf(stencil string) (t Tests, ok bool) {
	for _, e := range otherTests {
		if e.names.MatchString(stencil) {
			return e.Tests, true
		}
	}
	return Tests{}, false
}

// Result is the result of a suite.
type Result struct {
	Compared int      // number of programs executed as machine code and in Go
	Differs  string   // description of the first difference; "" if there is none
	Stencils []string // names of the tested stencils, sorted
}

// Run executes rounds rounds of a suite's programs with a library's stencils. It stops at the first difference.
func (s *Suite) Run(l *native.Library, rng *rand.Rand, rounds int) *Result {
	t := &tester{Values: Values{Rand: rng}, lib: l}
	for round := range rounds {
		if !s.runRound(t, round) {
			break
		}
	}
	slices.Sort(t.Stencils)
	t.Stencils = slices.Compact(t.Stencils)
	return &t.Result
}

// tester executes and compares the programs of a suite.
type tester struct {
	Values
	Result
	lib *native.Library
	// the library without the stencils of accesses without a proved pattern; nil until the first use
	patternsOnly *native.Library
	constantMask uint32 // permitted bits of constants in 32-bit slots: narrower values are zero-extended
}

// masks has the active masks of programs, in addition to random masks and the full mask.
var masks = []uint32{1, 1 << 31, 0x55555555, 0xffff0000, 0x7fffffff, 0x00018000, 0xfffffffe}

// mask returns an active mask of some lanes: by n, an element of masks or a random mask.
func (t *tester) mask(n int) uint32 {
	if n %= len(masks) + 1; n < len(masks) {
		return masks[n]
	}
	return t.Uint32()&t.Uint32() | 1<<t.IntN(31)
}

// program is a program with its registers.
type program struct {
	*code.Program
	file *regfile.File
}

var frame = regfile.Size{R: 6, Q: 6, P: 5}

// newSingle returns a program of one instruction and the epilogue.
func (t *tester) newSingle(p *code.Program, instr code.Instr) *program {
	p.Instrs = append([]code.Instr{instr}, epilogue.Instrs(t.Rand, &p.Consts, frame)...)
	p.Blocks = []code.Block{{First: 0, Last: int32(len(p.Instrs))}}
	p.Instrs = append(p.Instrs, code.Instr{Op: code.Exit})
	return t.newProgram(p)
}

// commonStencils has the stencils of every program.
var commonStencils = []string{"begin", "out", "arrive", "switch_warp", "warp_end"}

// isOwn reports whether a program uses a stencil for its first instruction, and not for its epilogue or as every program does.
func isOwn(p *program, stencil string) bool {
	instr, last := &p.Instrs[0], p.Instrs[1:1+epilogue.Len]
	name, _, _ := strings.Cut(strings.ReplaceAll(stencil, "_", "."), ".full")
	name, _, _ = strings.Cut(name, ".masked")
	return name == instr.Op.String() || !slices.Contains(commonStencils, stencil) && !slices.ContainsFunc(last, func(e code.Instr) bool { return e.Op.String() == name })
}

// newProgram links a program and gives it random registers.
func (t *tester) newProgram(p *code.Program) *program {
	p.Width, p.Funcs = regfile.Lanes, []*code.Func{{Frame: frame}}
	p.Consts.Layout()
	p.Link()
	f := regfile.New(&p.Consts, false)
	f.Reset(frame)
	t.SetModerate()
	for i := range int32(frame.R) {
		for lane := range regfile.Lanes {
			f.Row32(i)[lane] = uint32(t.Value())
			f.Row64(i)[lane] = t.Value()
		}
	}
	for i := range int32(frame.P) {
		f.SetP(i, regfile.Full, t.Uint32())
	}
	return &program{p, f}
}

// copied returns a copy of the program's registers.
func (p *program) copied() *regfile.File {
	f := regfile.New(&p.Consts, false)
	f.CopyFrom(p.file)
	f.Open(regfile.Size{}, frame)
	return f
}

// countLimit is the Context.CountLimit before a program. The cost of slow instructions lowers it.
const countLimit = 1 << 40

// assemble returns the machine code of a program, and a context for its beginning with active mask m. Both are nil if the first
// instruction has no stencil. It adds the program's own stencils to t.Stencils.
func (t *tester) assemble(p *program, m uint32) (*native.Code, *native.Context) {
	c := t.lib.New(p.Program)
	ctx := &native.Context{Mask: m, ReconvergeAt: -1, CountLimit: countLimit}
	t.lib.TakeUsed()
	if !c.Ready(ctx) {
		return nil, nil
	}
	if c.NextSupported(ctx, 0) != 0 {
		return nil, nil
	}
	for _, name := range t.lib.TakeUsed() {
		if isOwn(p, name) {
			t.Stencils = append(t.Stencils, name)
		}
	}
	return c, ctx
}

// execute executes the machine code of a program, which begins with the tested instruction, and describes the first
// difference; "" if there is none. If supported, the code must execute all of the program, else it must exit before the
// instruction. want has the expected registers after the instruction; execute applies the epilogue to them.
func (t *tester) execute(c *native.Code, ctx *native.Context, p *program, want *regfile.File, supported bool) string {
	pc, reason := p.Blocks[0].Last, native.OtherEnd
	if supported {
		epilogue.Execute(p.Instrs[1:1+epilogue.Len], want, ctx.Mask)
	} else {
		pc, reason = 0, native.Unsupported
	}
	c.RunBlock(ctx, p.file, 0)
	t.Compared++
	if ctx.PC != pc || ctx.Reason != reason || ctx.Lanes != ctx.Mask {
		return fmt.Sprintf("it stops at %d for %d with lanes %#x, not at %d for %d", ctx.PC, ctx.Reason, ctx.Lanes, pc, reason)
	}
	return p.differs(want)
}

// differs describes the first difference between the registers and want, or the first constant that changed; "" if there is
// none.
func (p *program) differs(want *regfile.File) string {
	for i := range p.Consts.Size().R {
		row := p.file.Src32(^int32(i))
		for _, v := range row {
			if v != row[0] {
				return fmt.Sprintf("a constant is not uniform any more: %#x", row)
			}
		}
	}
	for i := range p.Consts.Size().Q {
		row := p.file.Src64(^int32(i))
		for _, v := range row {
			if v != row[0] {
				return fmt.Sprintf("a constant is not uniform any more: %#x", row)
			}
		}
	}
	var a, b bytes.Buffer
	p.file.WriteTo(&a, frame)
	want.WriteTo(&b, frame)
	if bytes.Equal(a.Bytes(), b.Bytes()) {
		return ""
	}
	for i := range int32(frame.R) {
		for lane := range regfile.Lanes {
			if g, w := p.file.Row32(i)[lane], want.Row32(i)[lane]; g != w {
				return fmt.Sprintf("row %d of lane %d is %#x, not %#x", i, lane, g, w)
			}
			if g, w := p.file.Row64(i)[lane], want.Row64(i)[lane]; g != w {
				return fmt.Sprintf("wide row %d of lane %d is %#x, not %#x", i, lane, g, w)
			}
		}
	}
	for i := range int32(frame.P) {
		if g, w := p.file.Pred(i), want.Pred(i); g != w {
			return fmt.Sprintf("predicate %d is %#x, not %#x", i, g, w)
		}
	}
	panic("BUG: files differ where they have no rows")
}

// drawSource sets to to a random source operand of a slot: a register, or a new constant.
func (t *tester) drawSource(p *code.Program, to *int32, slot code.Slot, constant bool) {
	switch {
	case slot == code.NoSlot:
	case constant && slot == code.R:
		*to = p.Consts.Add32(uint32(t.Value()) & t.constantMask)
	case constant && slot == code.Q:
		*to = p.Consts.Add64(t.Value())
	case constant:
		*to = p.Consts.AddP(-(t.Uint32() & 1))
	case slot == code.P:
		*to = t.Int32N(int32(frame.P))
	default:
		*to = t.Int32N(int32(frame.R))
	}
}
