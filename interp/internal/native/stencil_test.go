package native

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"gemu/internal/part"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// corners are values that operations may take in a way of their own.
var corners = []uint64{
	0, 1, 2, 3, 31, 32, 33, 63, 64, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
	0x3f800000, 0xbf800000, 0x00000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345, // f32
	0x4f000000, 0x4effffff, 0xcf000000, 0xcf000001, 0x5f000000, 0x3effffff, 0x3f000000, 0x42fe0000, 0xc3160000,
	0x3c003c00, 0x7c00fc00, 0x7e007c01, 0x04000001, 0x3f803f80, // f16, bf16
	0x3ff0000000000000, 0xbff0000000000000, 1 << 63, 1<<63 - 1, 1<<64 - 1, 0x000fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff, // f64
	0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001, 0x41dfffffffc00000, 0x41e0000000000000, 0xc1e0000000000000, 0x43e0000000000000,
}

// masks are those that every stencil is tried with, beside random ones.
var masks = []uint32{regfile.Full, 1, 1 << 31, 0x55555555, 0xffff0000, 0x7fffffff, 0x00018000}

// TestStencils: each stencil of an operation does what the operation's Go function does, on rows of corner values
// and random ones, for all lanes and some, on registers and constants, and changes no other register.
func TestStencils(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rounds, has, compared := part.Of(1, 3, 100), 0, 0
	for op := code.Op(0); op < code.Count; op++ {
		if alu.Vec[op] == nil {
			continue
		}
		if !Has(op) {
			continue
		}
		ran := false
		for round := range rounds {
			for _, m := range append(masks, rng.Uint32()|1<<(rng.Uint32()&31)) {
				r := newRig(rng, op, round)
				ok, diff := r.same(m)
				if !ok {
					continue // no such form
				}
				ran = true
				compared++
				if diff != "" {
					t.Errorf("%v, lanes %#x: %s", op, m, diff)
					break
				}
			}
		}
		if ran {
			has++
		}
	}
	t.Logf("%d operations, %d rows", has, compared)
	if has < 500 {
		t.Errorf("only %d operations have stencils", has)
	}
}

// rig is a program of one instruction, with registers.
type rig struct {
	prog *code.Program
	in   *code.Instr
	file *regfile.File
}

var frame = regfile.Size{R: 6, Q: 6, P: 5}

// newRig makes one for an operation, with operands drawn.
func newRig(rng *rand.Rand, op code.Op, round int) *rig {
	p := &code.Program{Width: regfile.Lanes, Instrs: make([]code.Instr, 2), Funcs: []*code.Func{{Frame: frame}}}
	in := &p.Instrs[0]
	in.Op = op
	s := op.Signature()
	value := func() uint64 {
		switch rng.IntN(3) {
		case 0:
			return corners[rng.IntN(len(corners))]
		case 1:
			return corners[rng.IntN(len(corners))] + uint64(rng.IntN(3)) - 1
		}
		return rng.Uint64()
	}
	var constants []*int32
	source := func(to *int32, slot code.Slot) {
		switch {
		case slot == code.NoSlot:
		case rng.IntN(5) == 0:
			switch slot {
			case code.R:
				*to = p.Consts.Add32(uint32(value()))
			case code.Q:
				*to = p.Consts.Add64(value())
			case code.P:
				*to = p.Consts.AddP(-(rng.Uint32() & 1))
			}
			constants = append(constants, to)
		case slot == code.P:
			*to = rng.Int32N(int32(frame.P))
		default:
			*to = rng.Int32N(int32(frame.R))
		}
	}
	source(&in.A, s.Src[0])
	source(&in.B, s.Src[1])
	source(&in.C, s.Src[2])
	source(&in.E, s.Src[3])
	in.D = rng.Int32N(5)
	in.F = code.NoRow
	if s.Dst2 == code.P {
		in.F = (in.D + 1) % 5
	}
	if s.Compares() {
		in.Imm = []uint64{alu.BoolNone, alu.BoolAnd, alu.BoolOr, alu.BoolXor}[rng.IntN(4)] | uint64(rng.IntN(2))*alu.ComplementC
		if in.Imm == alu.ComplementC {
			in.Imm = 0
		}
		switch rng.IntN(3) {
		case 0:
			in.F = code.NoRow
		case 1:
			in.D = code.NoRow
		}
	} else {
		in.Imm = imms[rng.IntN(len(imms))]
	}
	p.Consts.Lay()
	p.Instrs[1].Op = code.Exit
	p.Blocks = []code.Block{{First: 0, Last: 1}}
	p.Link()
	f := regfile.New(&p.Consts, false)
	f.Reset(frame)
	for i := range int32(frame.R) {
		for lane := range regfile.Lanes {
			f.Row32(i)[lane] = uint32(value())
			f.Row64(i)[lane] = value()
		}
	}
	narrow(f, in, s)
	for i := range int32(frame.P) {
		f.SetP(i, regfile.Full, rng.Uint32())
	}
	return &rig{p, in, f}
}

// imms are values of Imm that general forms of operations may have.
var imms = []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 0x10, 0x96, 0xca, 0xff, 0x100, 0x101}

// narrow cuts sources to their widths: rows keep values zero-extended.
func narrow(f *regfile.File, in *code.Instr, s *code.Signature) {
	if s.Width != 16 && s.Width != 8 {
		return
	}
	for i, row := range in.Sources() {
		if s.Src[i] == code.R && row >= 0 {
			for lane := range regfile.Lanes {
				f.Row32(row)[lane] &= 1<<s.Width - 1
			}
		}
	}
}

// same executes the instruction natively and in Go for lanes m, and says what differs. It is not ok
// if there is no stencil for it.
func (r *rig) same(m uint32) (ok bool, diff string) {
	c := New(r.prog)
	ctx := &Context{Mask: m, Stop: -1, Enough: 1 << 40}
	if !c.Ready(ctx) || c.Next(ctx, 0) != 0 {
		return false, ""
	}
	want := *regfile.New(&r.prog.Consts, false)
	want.Assume(r.file)
	want.Open(regfile.Size{}, frame)
	alu.Vec[r.in.Op](&want, r.in, m)
	c.Block(ctx, r.file, 0)
	if ctx.Reason != Control || ctx.PC != 1 {
		return true, fmt.Sprintf("it stops at %d for %d", ctx.PC, ctx.Reason)
	}
	var a, b bytes.Buffer
	r.file.Write(&a, frame)
	want.Write(&b, frame)
	if bytes.Equal(a.Bytes(), b.Bytes()) {
		return true, ""
	}
	for i := range int32(frame.R) {
		for lane := range regfile.Lanes {
			if g, w := r.file.Row32(i)[lane], want.Row32(i)[lane]; g != w {
				return true, fmt.Sprintf("%v: row %d of lane %d is %#x, Go gives %#x", r.describe(lane), i, lane, g, w)
			}
			if g, w := r.file.Row64(i)[lane], want.Row64(i)[lane]; g != w {
				return true, fmt.Sprintf("%v: wide row %d of lane %d is %#x, Go gives %#x", r.describe(lane), i, lane, g, w)
			}
		}
	}
	return true, fmt.Sprintf("%v: predicates differ", r.describe(0))
}

// describe is the operands of a lane.
func (r *rig) describe(lane int) string {
	s := r.in.Op.Signature()
	text := fmt.Sprintf("d %d f %d imm %#x", r.in.D, r.in.F, r.in.Imm)
	for i, row := range r.in.Sources() {
		switch s.Src[i] {
		case code.R:
			text += fmt.Sprintf(" %#x", r.file.Src32(row)[lane])
		case code.Q:
			text += fmt.Sprintf(" %#x", r.file.Src64(row)[lane])
		}
	}
	return text
}
