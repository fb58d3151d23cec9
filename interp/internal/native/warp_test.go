package native

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gemu/internal/part"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// tail are instructions behind the one that is tried. They need all that one has to leave as it was: where rows of
// each kind and constants begin.
var tail = []code.Instr{
	{Op: code.Named("add.s32"), D: 5, F: code.NoRow, A: 5},
	{Op: code.Named("add.s64"), D: 5, F: code.NoRow, A: 5},
	{Op: code.Named("xor.pred"), D: 4, F: code.NoRow, A: 4},
}

// followed has a program of one instruction have the tail, on constants that are drawn.
func followed(rng *rand.Rand, p *code.Program, in code.Instr) {
	p.Instrs = append([]code.Instr{in}, tail...)
	p.Instrs[1].B, p.Instrs[2].B, p.Instrs[3].B = p.Consts.Add32(rng.Uint32()), p.Consts.Add64(rng.Uint64()), p.Consts.AddP(-(rng.Uint32() & 1))
	p.Blocks = []code.Block{{First: 0, Last: int32(len(p.Instrs))}}
	p.Instrs = append(p.Instrs, code.Instr{Op: code.Exit})
}

// finish executes the tail in Go.
func finish(p *code.Program, f *regfile.File, m uint32) {
	for i := range tail {
		in := &p.Instrs[1+i]
		alu.Vec[in.Op](f, in, m)
	}
}

// single is a program of one instruction, with registers drawn. Some of its operands may be made constants before.
func single(rng *rand.Rand, in code.Instr, constants ...func(*code.Instr, *regfile.Constants)) (*code.Program, *regfile.File) {
	p := &code.Program{Width: regfile.Lanes, Funcs: []*code.Func{{Frame: frame}}}
	for _, make := range constants {
		make(&in, &p.Consts)
	}
	followed(rng, p, in)
	p.Consts.Lay()
	p.Link()
	f := regfile.New(&p.Consts, false)
	f.Reset(frame)
	for i := range int32(frame.R) {
		for lane := range regfile.Lanes {
			f.Row32(i)[lane], f.Row64(i)[lane] = rng.Uint32(), rng.Uint64()
		}
	}
	for i := range int32(frame.P) {
		f.SetP(i, regfile.Full, rng.Uint32()&-(rng.Uint32()&1))
	}
	return p, f
}

// copied is a file with the same registers.
func copied(p *code.Program, f *regfile.File) *regfile.File {
	c := regfile.New(&p.Consts, false)
	c.Assume(f)
	c.Open(regfile.Size{}, frame)
	return c
}

// disturbed says what an instruction has left otherwise than it was that the tail needs: was is the registers before.
func disturbed(p *code.Program, f, was *regfile.File, ctx *Context) string {
	if ctx.Lanes != ctx.Mask {
		return fmt.Sprintf("lanes %#x execute behind it, not %#x", ctx.Lanes, ctx.Mask)
	}
	if ctx.Reason == Control {
		finish(p, was, ctx.Mask)
	}
	if *f.Row32(5) != *was.Row32(5) || *f.Row64(5) != *was.Row64(5) || f.Pred(4) != was.Pred(4) {
		return "what is behind it has other results"
	}
	return ""
}

// someLanes draws a mask.
func someLanes(rng *rand.Rand) uint32 {
	return []uint32{regfile.Full, rng.Uint32() | 1, 1 << rng.IntN(32)}[rng.IntN(3)]
}

// TestShuffles: shfl does what the pseudo-code of the manual does (9.7.9.6), and leaves where lanes are missing that a
// membermask names, or one that executes it is not named.
func TestShuffles(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	rng := rand.New(rand.NewPCG(part.Seed(t), 4))
	left := 0
	for range 3000 {
		mode, m, live := []uint64{code.ShflUp, code.ShflDown, code.ShflBfly, code.ShflIdx}[rng.IntN(4)], someLanes(rng), uint32(regfile.Full)
		if rng.IntN(2) == 0 {
			live = m
		}
		in := code.Instr{Op: code.ShflSync, Imm: mode, A: 0, B: 1, C: 2, E: 3, D: rng.Int32N(4), F: rng.Int32N(2)}
		if in.F == 0 {
			in.F = code.NoRow
		}
		p, f := single(rng, in, func(in *code.Instr, k *regfile.Constants) {
			values := [...]uint32{rng.Uint32(), rng.Uint32N(40), []uint32{0x1f, 0x181f, 0x1c1f, 0}[rng.IntN(4)], m}
			for i, row := range []*int32{&in.A, &in.B, &in.C, &in.E} {
				if rng.IntN(4) == 0 {
					*row = k.Add32(values[i])
				}
			}
		})
		for lane := range regfile.Lanes {
			member := m
			switch rng.IntN(400) {
			case 0:
				member &^= 1 << lane
			case 1:
				member = rng.Uint32() | 1<<lane
			}
			f.Row32(3)[lane] = member
		}
		if rng.IntN(2) == 0 { // segments of some width
			c := []uint32{0x1f, 0x181f, 0x1c1f, 0x1800, 0}[rng.IntN(5)]
			for lane := range regfile.Lanes {
				f.Row32(1)[lane], f.Row32(2)[lane] = uint32(rng.IntN(8)), c
			}
		}
		now := p.Instrs[0]
		a, b, c, d, e, pred := *f.Src32(now.A), *f.Src32(now.B), *f.Src32(now.C), *f.Row32(in.D), *f.Src32(now.E), f.Pred(1)
		may := true
		for lane, member := range e {
			may = may && (m>>lane&1 == 0 || member>>lane&1 == 1 && member&live&^m == 0)
		}
		want, ok := d, pred
		for lane := range regfile.Lanes {
			if m>>lane&1 == 0 {
				continue
			}
			by, clamp, segment := int(b[lane]&0x1f), int(c[lane]&0x1f), int(c[lane]>>8&0x1f)
			most, least := lane&segment|clamp&^segment, lane&segment
			j := least | by&^segment
			in := j <= most
			switch mode {
			case code.ShflUp:
				j = lane - by
				in = j >= most
			case code.ShflDown:
				j = lane + by
				in = j <= most
			case code.ShflBfly:
				j = lane ^ by
				in = j <= most
			}
			ok &^= 1 << lane
			if in {
				ok |= 1 << lane
			}
			if !in || m>>j&1 == 0 {
				j = lane
			}
			want[lane] = a[j]
		}
		if !may {
			want, ok = d, pred
			left++
		}
		if in.F == code.NoRow {
			ok = pred
		}
		ctx := &Context{Mask: m, Live: live, Stop: -1, Enough: 1 << 40}
		was := copied(p, f)
		New(p).Block(ctx, f, 0)
		if diff := disturbed(p, f, was, ctx); diff != "" {
			t.Fatalf("%+v: %s", p.Instrs[0], diff)
		}
		if got := *f.Row32(in.D); got != want || f.Pred(1) != ok || may != (ctx.Reason == Control) {
			t.Fatalf("mode %d, lanes %#x of %#x, members %#x: %#x gives %#x, %#x, want %#x, %#x", mode, m, live, e, a, got, f.Pred(1), want, ok)
		}
	}
	if left < 50 {
		t.Errorf("%d leave", left)
	}
}

// TestVotes: vote, vote.sync and activemask (manual 9.7.13.9, 9.7.13.11), where all lanes name the same.
func TestVotes(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	rng := rand.New(rand.NewPCG(part.Seed(t), 5))
	ops := []code.Op{code.Vote, code.VoteSync, code.Ballot, code.BallotSync, code.Activemask}
	left := 0
	for range 3000 {
		m := someLanes(rng)
		in := code.Instr{Op: ops[rng.IntN(len(ops))], Imm: []uint64{code.VoteAll, code.VoteAny, code.VoteUni}[rng.IntN(3)], A: 0, B: 1, D: 2, F: code.NoRow}
		p, f := single(rng, in, func(in *code.Instr, k *regfile.Constants) {
			if rng.IntN(8) == 0 {
				in.A = k.AddP(-(rng.Uint32() & 1))
			}
			if rng.IntN(4) == 0 {
				in.B = k.Add32(m)
			}
		})
		now := p.Instrs[0]
		sync, may := in.Op == code.VoteSync || in.Op == code.BallotSync, true
		for lane := range regfile.Lanes {
			f.Row32(1)[lane] = m
		}
		if rng.IntN(4) == 0 { // one that names fewer or more
			lane := rng.IntN(regfile.Lanes)
			f.Row32(1)[lane] ^= 1 << rng.IntN(regfile.Lanes)
			may = !sync || m>>lane&1 == 0 || f.Src32(now.B)[lane] == m
		}
		if in.Op == code.Activemask || in.Op == code.Ballot || in.Op == code.BallotSync {
			in.Imm = 0
		}
		yes, row, pred := f.SrcP(now.A)&m, *f.Row32(2), f.Pred(2)
		t1 := map[uint64]bool{code.VoteAll: yes == m, code.VoteAny: yes != 0, code.VoteUni: yes == m || yes == 0}[in.Imm]
		ctx := &Context{Mask: m, Live: regfile.Full, Stop: -1, Enough: 1 << 40}
		was := copied(p, f)
		New(p).Block(ctx, f, 0)
		if diff := disturbed(p, f, was, ctx); diff != "" {
			t.Fatalf("%+v: %s", p.Instrs[0], diff)
		}
		if !may {
			left++
		} else if in.Op == code.Vote || in.Op == code.VoteSync {
			if pred &^= m; t1 {
				pred |= m
			}
		} else {
			for lane := range regfile.Lanes {
				if v := map[bool]uint32{false: yes, true: m}[in.Op == code.Activemask]; m>>lane&1 == 1 {
					row[lane] = v
				}
			}
		}
		if *f.Row32(2) != row || f.Pred(2) != pred || may != (ctx.Reason == Control) {
			t.Fatalf("%v, %d, lanes %#x, members %#x: %#x gives %#x, %#x, want %#x, %#x", in.Op, in.Imm, m, *f.Row32(1), yes, *f.Row32(2), f.Pred(2), row, pred)
		}
	}
	if left < 50 {
		t.Errorf("%d leave", left)
	}
}

// TestSpecial: special registers are those that the context has, and the lane's own, cut to their width.
func TestSpecial(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	rng := rand.New(rand.NewPCG(part.Seed(t), 6))
	var tid [3]regfile.Row32
	var uniform [Registers]uint64
	for i := range uniform {
		uniform[i] = rng.Uint64()
	}
	for i := range tid {
		for lane := range tid[i] {
			tid[i][lane] = rng.Uint32()
		}
	}
	lane := func(r ptx.SpecialReg, i int) uint64 {
		switch r {
		case ptx.LaneID:
			return uint64(i)
		case ptx.LanemaskEq:
			return 1 << i
		case ptx.LanemaskLe:
			return uint64(^uint32(0) >> (31 - i))
		case ptx.LanemaskLt:
			return uint64(^uint32(0) >> (31 - i) >> 1)
		case ptx.LanemaskGe:
			return uint64(^uint32(0) << i)
		case ptx.LanemaskGt:
			return uint64(^uint32(0) << i << 1)
		case ptx.TidX, ptx.TidY, ptx.TidZ:
			return uint64(tid[r-ptx.TidX][i])
		}
		return uniform[r]
	}
	for op, width := range map[code.Op]int{code.Sreg16: 16, code.Sreg32: 32, code.Sreg64: 64} {
		for r := ptx.TidX; r < Registers; r++ {
			m := someLanes(rng)
			p, f := single(rng, code.Instr{Op: op, Imm: uint64(r), D: 1, F: code.NoRow})
			was32, was64 := *f.Row32(1), *f.Row64(1)
			ctx := &Context{Mask: m, Stop: -1, Enough: 1 << 40}
			ctx.Special(&tid, &uniform)
			was := copied(p, f)
			New(p).Block(ctx, f, 0)
			if diff := disturbed(p, f, was, ctx); diff != "" {
				t.Fatalf("%+v: %s", p.Instrs[0], diff)
			}
			if (ctx.Reason == Lacks) != r.Measures() {
				t.Errorf("%v, %v: reason %d", op, r, ctx.Reason)
			}
			for i := range regfile.Lanes {
				got, want := uint64(f.Row32(1)[i]), uint64(was32[i])
				if width == 64 {
					got, want = f.Row64(1)[i], was64[i]
				}
				if m>>i&1 == 1 && !r.Measures() {
					want = lane(r, i) & (1<<width - 1)
				}
				if got != want {
					t.Errorf("%v, %v, lane %d of %#x: %#x, want %#x", op, r, i, m, got, want)
				}
			}
		}
	}
}

// TestAddresses: addresses in the running function's frame and in the CTA's shared memory are those that the context says.
func TestAddresses(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	rng := rand.New(rand.NewPCG(part.Seed(t), 7))
	for range 200 {
		shared := allocation(rng, mem.SharedOf(rng.IntN(16)), 16)
		frame, offset, m := rng.Uint64N(1<<40), rng.Int32N(1<<20), someLanes(rng)
		for _, op := range []code.Op{code.Frame32, code.Frame64, code.Shared32, code.Shared64} {
			begin := frame
			if op == code.Shared32 || op == code.Shared64 {
				begin = shared.Base - mem.SharedWindow
			}
			p, f := single(rng, code.Instr{Op: op, Imm: uint64(offset), D: 1, F: code.NoRow})
			was := copied(p, f)
			ctx := &Context{Mask: m, Stop: -1, Enough: 1 << 40}
			changed := false
			ctx.Room(nil, shared, &changed)
			ctx.Local(make(mem.Local, 1), 0, 4, frame)
			New(p).Block(ctx, f, 0)
			if diff := disturbed(p, f, was, ctx); diff != "" || ctx.Reason != Control {
				t.Fatalf("%v: reason %d, %s", op, ctx.Reason, diff)
			}
			for lane := range regfile.Lanes {
				want32, want64 := was.Row32(1)[lane], was.Row64(1)[lane]
				switch at := begin + uint64(offset); {
				case m>>lane&1 == 0:
				case op.Signature().Dst == code.R:
					want32 = uint32(at)
				default:
					want64 = at
				}
				if got32, got64 := f.Row32(1)[lane], f.Row64(1)[lane]; got32 != want32 || got64 != want64 {
					t.Fatalf("%v %#x, lane %d of %#x: %#x, %#x, want %#x, %#x", op, offset, lane, m, got32, got64, want32, want64)
				}
			}
		}
	}
}
