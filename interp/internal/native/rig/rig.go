// Package rig executes programs of one or a few instructions as machine code and in Go, and says what differs:
// each stencil by itself, on the values and masks where it may go wrong. It is for tests, and for what tries mutants of
// the machine code.
//
// What is compared with is not machine code's: of operations, the functions of package alu that the
// stencils are made of; of memory and control flow, some lines that are written here from what package simt says they do.
package rig

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
	"gemu/interp/internal/native/rig/tail"
	"gemu/regfile"
)

// Subject is what programs are about: an operation, a kind of access, the ways between blocks.
type Subject struct {
	Name string
	// programs are those of a round. They give false if there is no machine code for one.
	programs func(t *trier, round int) bool
}

// Subjects are all there are.
func Subjects() iter.Seq[Subject] {
	return func(yield func(Subject) bool) {
		for op := range code.Count {
			switch {
			case alu.Vec[op] != nil:
				if !yield(Subject{op.String(), func(t *trier, round int) bool { return t.operation(op, round) }}) {
					return
				}
			case accesses(op):
				if !yield(Subject{op.String(), func(t *trier, round int) bool { return t.accesses(op, round) }}) {
					return
				}
			}
		}
		yield(Subject{"control", (*trier).control})
		yield(Subject{"turns", (*trier).turns})
	}
}

// compact are the names of stencils of compact execution that TestCompact has.
var compact = regexp.MustCompile(`^(scalar|affine|held|level|keep|expand|uncompact|proved|row|one)_|^reach_(q|r|none|fixed)|^(alike|changes)$`)

// unwanted are those of them that no program wants: comparisons of 32 bits and selections of which affinetrack has fast forms,
// and addresses that no plan has compact.
var unwanted = regexp.MustCompile(`^(scalar_(cmp_(eq|ne|lt|le|gt|ge|lo|ls|hi|hs)_[bsu]32|selp_b\d+)|reach_fixed|reach_r_hit_(full|masked))$`)

// Unwanted reports whether a stencil is one that no program wants.
func Unwanted(stencil string) bool { return unwanted.MatchString(stencil) }

// Compact reports whether a stencil is one of them.
func Compact(stencil string) bool { return compact.MatchString(stencil) }

// Tests are tests of a package that execute stencils beside Go.
type Tests struct {
	Package string // its folder
	Run     string // a pattern of their names
}

// elsewhere are the names of stencils that no subject is about.
var elsewhere = []struct {
	Tests
	names *regexp.Regexp
}{
	{Tests{"interp/internal/simt", "^TestCompact$"}, compact},
	{Tests{"interp/internal/simt", "^TestCompactSources$"}, regexp.MustCompile(`^source_`)},
	{Tests{"interp/internal/simt", "^TestChecked"}, regexp.MustCompile(`_agreed$|^(call|agree|agreed|still|same|copy|holds|idle|idled|generic|note|before|after|as_proved)_|^(tally|tally_level|told|alone)$`)},
	{Tests{"interp/internal/native", "^TestAccesses$"}, regexp.MustCompile(`^(load|store)_(element|fixed|frame|local|shared)_|^(atom|red|recall)_|^reach_[0-9]`)},
	{Tests{"interp/internal/native", "^Test(Shuffles|Votes|Special|Addresses)$"}, regexp.MustCompile(`^(shfl|vote|ballot|activemask|joined|alike|sreg|frame|shared)_`)},
}

// Elsewhere is the tests that a stencil has of which no subject is; ok is false if there are none.
func Elsewhere(stencil string) (t Tests, ok bool) {
	for _, e := range elsewhere {
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

// Try executes so many rounds of a subject's programs with a library's stencils, up to the first that
// differs.
func (s *Subject) Try(l *native.Library, rng *rand.Rand, rounds int) *Result {
	t := &trier{Values: Values{Rand: rng}, lib: l}
	for round := range rounds {
		if !s.programs(t, round) {
			break
		}
	}
	slices.Sort(t.Stencils)
	t.Stencils = slices.Compact(t.Stencils)
	return &t.Result
}

// trier tries programs.
type trier struct {
	Values
	Result
	lib *native.Library
	// … without the stencils of accesses of which nothing is proved
	proofs *native.Library
	width  uint32 // the bits that constants of 32-bit slots may have: values are kept zero-extended
}

// masks are those that programs run with, besides random ones.
var masks = []uint32{1, 1 << 31, 0x55555555, 0xffff0000, 0x7fffffff, 0x00018000, 0xfffffffe}

// mask is one of some lanes, the next of masks or a random one.
func (t *trier) mask(n int) uint32 {
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

// single makes a program of one instruction and the tail.
func (t *trier) single(p *code.Program, in code.Instr) *program {
	p.Instrs = append([]code.Instr{in}, tail.Behind(t.Rand, &p.Consts, frame)...)
	p.Blocks = []code.Block{{First: 0, Last: int32(len(p.Instrs))}}
	p.Instrs = append(p.Instrs, code.Instr{Op: code.Exit})
	return t.newProgram(p)
}

// everywhere are stencils that every program has.
var everywhere = []string{"begin", "out", "arrive", "turn", "warp_end"}

// own reports whether a stencil is that of a subject of which a program begins with an instruction, and not one
// that every program has.
func own(p *program, stencil string) bool {
	in, behind := &p.Instrs[0], p.Instrs[1:1+tail.Len]
	name, _, _ := strings.Cut(strings.ReplaceAll(stencil, "_", "."), ".full")
	name, _, _ = strings.Cut(name, ".masked")
	return name == in.Op.String() || !slices.Contains(everywhere, stencil) && !slices.ContainsFunc(behind, func(last code.Instr) bool { return last.Op.String() == name })
}

// newProgram gives a program registers.
func (t *trier) newProgram(p *code.Program) *program {
	p.Width, p.Funcs = regfile.Lanes, []*code.Func{{Frame: frame}}
	p.Consts.Lay()
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
	f.Assume(p.file)
	f.Open(regfile.Size{}, frame)
	return f
}

// enough is up to when machine code goes on, but for what counts as several instructions.
const enough = 1 << 40

// begin is a context for lanes m of a program that is at its beginning, and the machine code. It is nil if the first
// instruction has none.
func (t *trier) begin(p *program, m uint32) (*native.Code, *native.Context) {
	c := t.lib.New(p.Program)
	ctx := &native.Context{Mask: m, Stop: -1, Enough: enough}
	t.lib.Take()
	if !c.Ready(ctx) {
		return nil, nil
	}
	if c.Next(ctx, 0) != 0 {
		return nil, nil
	}
	for _, name := range t.lib.Take() {
		if own(p, name) {
			t.Stencils = append(t.Stencils, name)
		}
	}
	return c, ctx
}

// execute executes the machine code of a program that begins with what is tried, and says what is not as it should be: it goes on if it
// may, and leaves before the instruction if not. want is the registers behind the instruction; the tail is executed on them.
func (t *trier) execute(c *native.Code, ctx *native.Context, p *program, want *regfile.File, may bool) string {
	pc, why := p.Blocks[0].Last, native.Control
	if may {
		tail.Finish(p.Instrs[1:1+tail.Len], want, ctx.Mask)
	} else {
		pc, why = 0, native.Lacks
	}
	c.Block(ctx, p.file, 0)
	t.Compared++
	if ctx.PC != pc || ctx.Reason != why || ctx.Lanes != ctx.Mask {
		return fmt.Sprintf("it stops at %d for %d with lanes %#x, not at %d for %d", ctx.PC, ctx.Reason, ctx.Lanes, pc, why)
	}
	return p.differs(want)
}

// differs says where registers differ from what they should be, and constants from what they were; "" if they
// do not.
func (p *program) differs(want *regfile.File) string {
	for i := range p.Consts.Len().R {
		row := p.file.Src32(^int32(i))
		for _, v := range row {
			if v != row[0] {
				return fmt.Sprintf("a constant is not uniform any more: %#x", row)
			}
		}
	}
	for i := range p.Consts.Len().Q {
		row := p.file.Src64(^int32(i))
		for _, v := range row {
			if v != row[0] {
				return fmt.Sprintf("a constant is not uniform any more: %#x", row)
			}
		}
	}
	var a, b bytes.Buffer
	p.file.Write(&a, frame)
	want.Write(&b, frame)
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

// source draws a source operand of a slot: a register, or a constant.
func (t *trier) source(p *code.Program, to *int32, slot code.Slot, constant bool) {
	switch {
	case slot == code.NoSlot:
	case constant && slot == code.R:
		*to = p.Consts.Add32(uint32(t.Value()) & t.width)
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
