// Package rig executes programs of one or a few instructions as machine code and in Go, and says what differs:
// each stencil by itself, on the values and masks where it may go wrong. It is for tests, and for what tries mutants of
// the machine code.
//
// What is compared with is not machine code's: of operations, the functions of package alu that the
// stencils are made of; of memory and control flow, some lines that are written here from what package lanes says they do.
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

// Suite is what programs are about: an operation, a kind of access, the ways between blocks.
type Suite struct {
	Name string
	// runRound are those of a round. They give false if there is no machine code for one.
	runRound func(t *tester, round int) bool
}

// Suites are all there are.
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

// compactNames are the names of stencils of compact execution that TestCompact has.
var compactNames = regexp.MustCompile(`^(scalar|affine|compact|uniform|keep|materialise|uncompact|proved|row|one)_|^reach_(q|r|none|fixed)|^(alike|changes)$`)

// unused are those of them that no program wants: comparisons of 32 bits and selections of which affinetrack has fast forms,
// and addresses that no plan has compact.
var unused = regexp.MustCompile(`^(scalar_(cmp_(eq|ne|lt|le|gt|ge|lo|ls|hi|hs)_[bsu]32|selp_b\d+)|reach_fixed|reach_r_hit_(full|masked))$`)

// IsUnused reports whether a stencil is one that no program wants.
func IsUnused(stencil string) bool { return unused.MatchString(stencil) }

// IsCompact reports whether a stencil is one of them.
func IsCompact(stencil string) bool { return compactNames.MatchString(stencil) }

// Tests are tests of a package that execute stencils beside Go.
type Tests struct {
	Package string // its folder
	Run     string // a pattern of their names
}

// schedulerStencils are the names of the stencils of the warp scheduler. Package simt compares them with the scheduler of Go.
var schedulerStencils = regexp.MustCompile(`^(wait_at_barrier|warp_end|check_ordered|switch_warp)$`)

// otherTests are the names of stencils that no subject is about.
var otherTests = []struct {
	Tests
	names *regexp.Regexp
}{
	{Tests{"interp/internal/grid", "^Test(SchedulerOnRandomPrograms|Scheduler|NextCTAs)$"}, schedulerStencils},
	{Tests{"interp/internal/grid", "^TestCompact$"}, compactNames},
	{Tests{"interp/internal/grid", "^TestCompactSources$"}, regexp.MustCompile(`^source_`)},
	{Tests{"interp/internal/grid", "^TestChecked"}, regexp.MustCompile(`_agreed$|^(call|agree|agreed|still|same|copy|holds|idle|idled|generic|note|before|after|as_proved)_|^(tally|tally_uniform|memory_changed|all_active)$`)},
	{Tests{"interp/internal/native", "^TestAccesses$"}, regexp.MustCompile(`^(load|store)_(element|fixed|frame|local|shared)_|^(atom|red|recall)_|^reach_[0-9]`)},
	{Tests{"interp/internal/native", "^Test(Shuffles|Votes|Special|Addresses)$"}, regexp.MustCompile(`^(shfl|vote|ballot|activemask|joined|alike|sreg|frame|shared)_`)},
}

// TestsOf is the tests that a stencil has of which no subject is; ok is false if there are none.
func TestsOf(stencil string) (t Tests, ok bool) {
	for _, e := range otherTests {
		if e.names.MatchString(stencil) {
			return e.Tests, true
		}
	}
	return Tests{}, false
}

// Result is what came of a subject.
type Result struct {
	Compared int      // programs that have been executed in both ways
	Differs  string   // how the first one differed; "" for none
	Stencils []string // that machine code of these was made of, sorted
}

// Run executes so many rounds of a subject's programs with a library's stencils, up to the first that
// differs.
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

// tester tries programs.
type tester struct {
	Values
	Result
	lib *native.Library
	// … without the stencils of accesses of which nothing is proved
	patternsOnly *native.Library
	constantMask uint32 // the bits that constants of 32-bit slots may have: values are kept zero-extended
}

// masks are those that programs run with, besides random ones.
var masks = []uint32{1, 1 << 31, 0x55555555, 0xffff0000, 0x7fffffff, 0x00018000, 0xfffffffe}

// mask is one of some lanes, the next of masks or a random one.
func (t *tester) mask(n int) uint32 {
	if n %= len(masks) + 1; n < len(masks) {
		return masks[n]
	}
	return t.Uint32()&t.Uint32() | 1<<t.IntN(31)
}

// program is one with registers.
type program struct {
	*code.Program
	file *regfile.File
}

var frame = regfile.Size{R: 6, Q: 6, P: 5}

// newSingle makes a program of one instruction and the tail.
func (t *tester) newSingle(p *code.Program, instr code.Instr) *program {
	p.Instrs = append([]code.Instr{instr}, epilogue.Instrs(t.Rand, &p.Consts, frame)...)
	p.Blocks = []code.Block{{First: 0, Last: int32(len(p.Instrs))}}
	p.Instrs = append(p.Instrs, code.Instr{Op: code.Exit})
	return t.newProgram(p)
}

// commonStencils are stencils that every program has.
var commonStencils = []string{"begin", "out", "arrive", "switch_warp", "warp_end"}

// isOwn reports whether a stencil is that of a subject of which a program begins with an instruction, and not one
// that every program has.
func isOwn(p *program, stencil string) bool {
	instr, last := &p.Instrs[0], p.Instrs[1:1+epilogue.Len]
	name, _, _ := strings.Cut(strings.ReplaceAll(stencil, "_", "."), ".full")
	name, _, _ = strings.Cut(name, ".masked")
	return name == instr.Op.String() || !slices.Contains(commonStencils, stencil) && !slices.ContainsFunc(last, func(e code.Instr) bool { return e.Op.String() == name })
}

// newProgram gives a program registers.
func (t *tester) newProgram(p *code.Program) *program {
	p.Width, p.Funcs = regfile.Lanes, []*code.Func{{Frame: frame}}
	p.Consts.Layout()
	p.Link()
	f := regfile.New(&p.Consts, false)
	f.Reset(frame)
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

// copied is a file with the same registers.
func (p *program) copied() *regfile.File {
	f := regfile.New(&p.Consts, false)
	f.CopyFrom(p.file)
	f.Open(regfile.Size{}, frame)
	return f
}

// countLimit is up to when machine code goes on, but for what counts as several instructions.
const countLimit = 1 << 40

// assemble is a context for lanes m of a program that is at its beginning, and the machine code. It is nil if the first
// instruction has none.
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

// execute executes the machine code of a program that begins with what is tried, and says what is not as it should be: it goes on if it
// may, and leaves before the instruction if not. want is the registers behind the instruction; the tail is executed on them.
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

// differs says where registers differ from what they should be, and constants from what they were; "" if they
// do not.
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

// drawSource draws a source operand of a slot: a register, or a constant.
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
