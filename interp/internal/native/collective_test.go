package native

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"gemu/internal/part"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/native/harness/epilogue"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// followed adds the epilogue to a program of one instruction.
func followed(rng *rand.Rand, p *code.Program, instr code.Instr) {
	p.Instrs = append([]code.Instr{instr}, epilogue.Instrs(rng, &p.Consts, frame)...)
	p.Blocks = []code.Block{{First: 0, Last: int32(len(p.Instrs))}}
	p.Instrs = append(p.Instrs, code.Instr{Op: code.Exit})
}

// single is a program of one instruction with random registers. Some operands may be constants.
func single(rng *rand.Rand, instr code.Instr, constants func(*code.Instr, *regfile.Constants)) (*code.Program, *regfile.File) {
	p := &code.Program{Width: regfile.Lanes, Funcs: []*code.Func{{Frame: frame}}}
	if constants != nil {
		constants(&instr, &p.Consts)
	}
	followed(rng, p, instr)
	p.Consts.Layout()
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

// copied returns a copy of the registers.
func copied(p *code.Program, f *regfile.File) *regfile.File {
	c := regfile.New(&p.Consts, false)
	c.CopyFrom(f)
	c.Open(regfile.Size{}, frame)
	return c
}

// differs describes the first difference after the machine code of one instruction has exited: the code must execute all of the
// program if it can, else exit before the instruction. want has the expected registers after the instruction; differs applies
// the epilogue to them.
func differs(p *code.Program, f, want *regfile.File, ctx *Context, may bool) string {
	pc, reason := p.Blocks[0].Last, OtherEnd
	if !may {
		pc, reason = 0, Unsupported
	} else {
		epilogue.Execute(p.Instrs[1:1+epilogue.Len], want, ctx.Mask)
	}
	if ctx.PC != pc || ctx.Reason != reason || ctx.Lanes != ctx.Mask {
		return fmt.Sprintf("it stops at %d for %d with lanes %#x, not at %d for %d", ctx.PC, ctx.Reason, ctx.Lanes, pc, reason)
	}
	return differentRegisters(p, f, want)
}

// differentRegisters describes the first difference of two register files; "" if they are equal.
func differentRegisters(p *code.Program, f, want *regfile.File) string {
	for i := range p.Consts.Size().R {
		if got, want := *f.Src32(^int32(i)), *want.Src32(^int32(i)); got != want {
			return fmt.Sprintf("a constant is %#x, not %#x", got, want)
		}
	}
	for i := range p.Consts.Size().Q {
		if got, want := *f.Src64(^int32(i)), *want.Src64(^int32(i)); got != want {
			return fmt.Sprintf("a constant is %#x, not %#x", got, want)
		}
	}
	var a, b bytes.Buffer
	f.WriteTo(&a, frame)
	want.WriteTo(&b, frame)
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		for i := range int32(frame.R) {
			for lane := range regfile.Lanes {
				if got, want := f.Row32(i)[lane], want.Row32(i)[lane]; got != want {
					return fmt.Sprintf("row %d of lane %d is %#x, not %#x", i, lane, got, want)
				}
				if got, want := f.Row64(i)[lane], want.Row64(i)[lane]; got != want {
					return fmt.Sprintf("wide row %d of lane %d is %#x, not %#x", i, lane, got, want)
				}
			}
		}
		return fmt.Sprintf("registers differ: %x, not %x", a.Bytes(), b.Bytes())
	}
	return ""
}

// everywhere returns the bits of a predicate that is the same in all lanes.
func everywhere(b bool) uint32 {
	if b {
		return regfile.Full
	}
	return 0
}

// members returns a membermask for lanes m, sometimes with one lane more or fewer.
func members(rng *rand.Rand, m uint32) uint32 {
	return m ^ uint32(rng.IntN(5)/4)<<rng.IntN(regfile.Lanes)
}

// someLanes returns a random mask.
func someLanes(rng *rand.Rand) uint32 {
	return []uint32{regfile.Full, rng.Uint32() | 1, 1 << rng.IntN(32)}[rng.IntN(3)]
}

// TestShuffles checks shfl against the pseudo-code of the manual (9.7.9.6). Machine code must exit if a lane of the membermask
// is missing, or an executing lane is not in it.
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
		instr := code.Instr{Op: code.ShflSync, Imm: mode, A: 0, B: 1, C: 2, E: 3, D: rng.Int32N(4), F: rng.Int32N(2)}
		if instr.F == 0 {
			instr.F = code.NoRow
		}
		p, f := single(rng, instr, func(instr *code.Instr, k *regfile.Constants) {
			values := [...]uint32{rng.Uint32(), rng.Uint32N(40), []uint32{0x1f, 0x181f, 0x1c1f, 0}[rng.IntN(4)], members(rng, m)}
			for i, row := range []*int32{&instr.A, &instr.B, &instr.C, &instr.E} {
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
		if rng.IntN(2) == 0 { // segments of a random width
			c := []uint32{0x1f, 0x181f, 0x1c1f, 0x1800, 0}[rng.IntN(5)]
			for lane := range regfile.Lanes {
				f.Row32(1)[lane], f.Row32(2)[lane] = uint32(rng.IntN(8)), c
			}
		}
		now := p.Instrs[0]
		a, b, c, e, want := *f.Src32(now.A), *f.Src32(now.B), *f.Src32(now.C), *f.Src32(now.E), copied(p, f)
		may := true
		for lane, member := range e {
			may = may && (m>>lane&1 == 0 || member>>lane&1 == 1 && member&live&^m == 0)
		}
		for lane := range regfile.Lanes {
			if m>>lane&1 == 0 || !may {
				continue
			}
			by, clamp, segment := int(b[lane]&0x1f), int(c[lane]&0x1f), int(c[lane]>>8&0x1f)
			limit, least := lane&segment|clamp&^segment, lane&segment
			j := least | by&^segment
			inside := j <= limit
			switch mode {
			case code.ShflUp:
				j = lane - by
				inside = j >= limit
			case code.ShflDown:
				j = lane + by
				inside = j <= limit
			case code.ShflBfly:
				j = lane ^ by
				inside = j <= limit
			}
			if instr.F != code.NoRow {
				want.SetP(instr.F, 1<<lane, everywhere(inside))
			}
			if !inside || m>>j&1 == 0 {
				j = lane
			}
			want.Row32(instr.D)[lane] = a[j]
		}
		if !may {
			left++
		}
		ctx := &Context{Mask: m, Live: live, ReconvergeAt: -1, CountLimit: 1 << 40}
		New(p).RunBlock(ctx, f, 0)
		if diff := differs(p, f, want, ctx, may); diff != "" {
			t.Fatalf("mode %d, lanes %#x of %#x, members %#x, %#x by %#x in %#x: %s", mode, m, live, e, a, b, c, diff)
		}
	}
	if left < 50 {
		t.Errorf("%d leave", left)
	}
}

// TestVotes checks vote, vote.sync and activemask (manual 9.7.13.9, 9.7.13.11) if all lanes have the same membermask.
func TestVotes(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	rng := rand.New(rand.NewPCG(part.Seed(t), 5))
	ops := []code.Op{code.Vote, code.VoteSync, code.Ballot, code.BallotSync, code.Activemask}
	left := 0
	for range 3000 {
		m := someLanes(rng)
		instr := code.Instr{Op: ops[rng.IntN(len(ops))], Imm: []uint64{code.VoteAll, code.VoteAny, code.VoteUni}[rng.IntN(3)], A: 0, B: 1, D: 2, F: code.NoRow}
		p, f := single(rng, instr, func(instr *code.Instr, k *regfile.Constants) {
			if rng.IntN(8) == 0 {
				instr.A = k.AddP(-(rng.Uint32() & 1))
			}
			if rng.IntN(4) == 0 {
				instr.B = k.Add32(members(rng, m))
			}
		})
		now := p.Instrs[0]
		for lane := range regfile.Lanes {
			f.Row32(1)[lane] = m
		}
		if rng.IntN(4) == 0 { // a membermask with fewer or more lanes
			f.Row32(1)[rng.IntN(regfile.Lanes)] ^= 1 << rng.IntN(regfile.Lanes)
		}
		may := true
		if instr.Op == code.VoteSync || instr.Op == code.BallotSync {
			for lane, member := range f.Src32(now.B) {
				may = may && (m>>lane&1 == 0 || member == m)
			}
		}
		yes, want := f.SrcP(now.A)&m, copied(p, f)
		switch {
		case !may:
			left++
		case instr.Op == code.Vote || instr.Op == code.VoteSync:
			want.SetP(2, m, everywhere(map[uint64]bool{code.VoteAll: yes == m, code.VoteAny: yes != 0, code.VoteUni: yes == m || yes == 0}[instr.Imm]))
		default:
			for lane := range regfile.Lanes {
				if v := map[bool]uint32{false: yes, true: m}[instr.Op == code.Activemask]; m>>lane&1 == 1 {
					want.Row32(2)[lane] = v
				}
			}
		}
		ctx := &Context{Mask: m, Live: regfile.Full, ReconvergeAt: -1, CountLimit: 1 << 40}
		New(p).RunBlock(ctx, f, 0)
		if diff := differs(p, f, want, ctx, may); diff != "" {
			t.Fatalf("%v, %d, lanes %#x, members %#x: %#x: %s", instr.Op, instr.Imm, m, *f.Src32(now.B), yes, diff)
		}
	}
	if left < 50 {
		t.Errorf("%d leave", left)
	}
}

// agreeing puts lanes m into the membermasks of a row, sometimes with a lane more or fewer in one of them. It reports whether
// machine code may execute a collective instruction with these membermasks.
func agreeing(rng *rand.Rand, row *regfile.Row32, m uint32) (may bool) {
	for lane := range row {
		row[lane] = m
	}
	if rng.IntN(4) == 0 {
		row[rng.IntN(regfile.Lanes)] ^= 1 << rng.IntN(regfile.Lanes)
	}
	may = true
	for lane, member := range row {
		may = may && (m>>lane&1 == 0 || member == m)
	}
	return may
}

// collective is an instruction whose executing lanes must have the same membermask. Its operand is register 2 of 32 or of 64 bits,
// its membermask register 1.
type collective struct {
	instr  code.Instr
	result func(lane int, lanes uint32, operand func(lane int) uint64) (d uint32, p bool) // the register and the predicate of a lane
}

// testCollective compares machine code of collective instructions with their results. The lanes' operands are different, or few
// values, or one value except for a bit of a lane, or a constant.
func testCollective(t *testing.T, rng *rand.Rand, list []collective) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	left := 0
	for range 6000 {
		c, m := list[rng.IntN(len(list))], someLanes(rng)
		c.instr.D = rng.Int32N(4)
		slot := c.instr.Op.Signature().Src[0]
		variety := []uint64{1, 3, 1 << 40}[rng.IntN(3)]
		p, f := single(rng, c.instr, func(instr *code.Instr, k *regfile.Constants) {
			switch {
			case instr.A != 2 || rng.IntN(4) > 0:
			case slot == code.Q:
				instr.A = k.Add64(rng.Uint64())
			default:
				instr.A = k.Add32(rng.Uint32())
			}
		})
		for lane := range regfile.Lanes {
			if high, low := rng.Uint64N(variety), rng.Uint32N(3); variety < 1<<32 {
				f.Row64(2)[lane], f.Row32(2)[lane] = high<<32|uint64(low), uint32(high)<<31|uint32(high)
			}
		}
		if rng.IntN(2) == 0 { // a bit of a lane
			f.Row64(2)[rng.IntN(regfile.Lanes)] ^= 1 << rng.IntN(64)
			f.Row32(2)[rng.IntN(regfile.Lanes)] ^= 1 << rng.IntN(32)
		}
		if c.instr.Op == code.ReduxFloat && rng.IntN(2) == 0 { // few values, some of them no numbers
			few := [3]uint32{}
			for i := range few {
				few[i] = uint32(corners[rng.IntN(len(corners))])
			}
			for lane := range regfile.Lanes {
				f.Row32(2)[lane] = few[rng.IntN(len(few))]
			}
		}
		may := agreeing(rng, f.Row32(1), m)
		now, want := p.Instrs[0], copied(p, f)
		operand := func(lane int) uint64 {
			if slot == code.Q {
				return f.Src64(now.A)[lane]
			}
			return uint64(f.Src32(now.A)[lane])
		}
		for lane := range regfile.Lanes {
			if m>>lane&1 == 0 || !may {
				continue
			}
			d, predicate := c.result(lane, m, operand)
			want.Row32(c.instr.D)[lane] = d
			if c.instr.F != code.NoRow {
				want.SetP(c.instr.F, 1<<lane, everywhere(predicate))
			}
		}
		if !may {
			left++
		}
		ctx := &Context{Mask: m, Live: regfile.Full, ReconvergeAt: -1, CountLimit: 1 << 40}
		New(p).RunBlock(ctx, f, 0)
		if diff := differs(p, f, want, ctx, may); diff != "" {
			t.Fatalf("%v, %d, lanes %#x, members %#x: %s", c.instr.Op, c.instr.Imm, m, *f.Src32(1), diff)
		}
	}
	if left < 50 {
		t.Errorf("%d leave", left)
	}
}

// TestReductions checks redux.sync (manual 9.7.13.12).
func TestReductions(t *testing.T) {
	var list []collective
	for _, o := range []struct {
		op    code.AtomicOp
		types []ptx.Type
		apply func(a, b int64) int64
	}{
		{code.AtomAdd, []ptx.Type{ptx.U32, ptx.S32}, func(a, b int64) int64 { return a + b }},
		{code.AtomMin, []ptx.Type{ptx.U32, ptx.S32}, func(a, b int64) int64 { return min(a, b) }},
		{code.AtomMax, []ptx.Type{ptx.U32, ptx.S32}, func(a, b int64) int64 { return max(a, b) }},
		{code.AtomAnd, []ptx.Type{ptx.B32}, func(a, b int64) int64 { return a & b }},
		{code.AtomOr, []ptx.Type{ptx.B32}, func(a, b int64) int64 { return a | b }},
		{code.AtomXor, []ptx.Type{ptx.B32}, func(a, b int64) int64 { return a ^ b }},
	} {
		for _, typ := range o.types {
			instr := code.Instr{Op: code.Redux, Imm: code.Reduction{Op: o.op, Type: typ}.Imm(), A: 2, B: 1, F: code.NoRow}
			list = append(list, collective{instr, func(_ int, lanes uint32, operand func(int) uint64) (uint32, bool) {
				value := func(lane int) int64 {
					if typ == ptx.S32 {
						return int64(int32(operand(lane)))
					}
					return int64(operand(lane))
				}
				sum := value(bits.TrailingZeros32(lanes))
				for n := lanes & (lanes - 1); n != 0; n &= n - 1 {
					sum = o.apply(sum, value(bits.TrailingZeros32(n)))
				}
				return uint32(sum), false
			}})
		}
	}
	less := func(a, b float32) bool { // -0 is less than +0
		return a < b || a == b && math.Signbit(float64(a)) && !math.Signbit(float64(b))
	}
	for _, op := range []string{"min", "max"} {
		for _, m := range []alu.Modifiers{{}, {Abs: true}, {NaN: true}, {Abs: true, NaN: true}} {
			imm := code.FloatReduction{Op: code.OpNamed(op + ".any.f32"), Imm: uint32(m.Imm())}.Packed()
			instr := code.Instr{Op: code.ReduxFloat, Imm: imm, A: 2, B: 1, F: code.NoRow}
			list = append(list, collective{instr, func(_ int, lanes uint32, operand func(int) uint64) (uint32, bool) {
				best := float32(math.NaN())
				for n := lanes; n != 0; n &= n - 1 {
					v := math.Float32frombits(uint32(operand(bits.TrailingZeros32(n))))
					if m.Abs {
						v = math.Float32frombits(math.Float32bits(v) &^ (1 << 31))
					}
					switch {
					case v != v && m.NaN:
						return 0x7fffffff, false
					case v != v:
					case best != best, op == "min" && less(v, best), op == "max" && less(best, v):
						best = v
					}
				}
				if best != best {
					return 0x7fffffff, false
				}
				return math.Float32bits(best), false
			}})
		}
	}
	testCollective(t, rand.New(rand.NewPCG(part.Seed(t), 8)), list)
}

// TestMatches checks match.any.sync and match.all.sync (manual 9.7.13.10).
func TestMatches(t *testing.T) {
	var list []collective
	for _, op := range []code.Op{code.Match32, code.Match64} {
		equals := func(lane int, lanes uint32, operand func(int) uint64) (same uint32) {
			for other := range regfile.Lanes {
				if lanes>>other&1 == 1 && operand(other) == operand(lane) {
					same |= 1 << other
				}
			}
			return same
		}
		instr := code.Instr{Op: op, A: 2, B: 1, F: code.NoRow}
		list = append(list, collective{instr, func(lane int, lanes uint32, operand func(int) uint64) (uint32, bool) {
			return equals(lane, lanes, operand), false
		}})
		instr.Imm = 1
		for _, instr.F = range []int32{code.NoRow, 1} {
			list = append(list, collective{instr, func(lane int, lanes uint32, operand func(int) uint64) (uint32, bool) {
				if equals(lane, lanes, operand) == lanes {
					return lanes, true
				}
				return 0, false
			}})
		}
	}
	testCollective(t, rand.New(rand.NewPCG(part.Seed(t), 9)), list)
}

// TestElections checks elect.sync (manual 9.7.13.14): any lane may be elected; gemu elects the lowest.
func TestElections(t *testing.T) {
	var list []collective
	instr := code.Instr{Op: code.Elect, A: 1}
	for _, instr.F = range []int32{code.NoRow, 1} {
		list = append(list, collective{instr, func(lane int, lanes uint32, _ func(int) uint64) (uint32, bool) {
			leader := bits.TrailingZeros32(lanes)
			return uint32(leader), lane == leader
		}})
	}
	testCollective(t, rand.New(rand.NewPCG(part.Seed(t), 10)), list)
}

// TestSpecial checks reads of special registers, from the context and per lane, cut to the width of the result.
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
	for i, op := range []code.Op{code.Sreg16, code.Sreg32, code.Sreg64} {
		width := 16 << i
		for r := ptx.TidX; r < Registers; r++ {
			m := someLanes(rng)
			p, f := single(rng, code.Instr{Op: op, Imm: uint64(r), D: 1, F: code.NoRow}, nil)
			want, may := copied(p, f), !r.Measures()
			for i := range regfile.Lanes {
				switch v := lane(r, i) & (1<<width - 1); {
				case m>>i&1 == 0 || !may:
				case width == 64:
					want.Row64(1)[i] = v
				default:
					want.Row32(1)[i] = uint32(v)
				}
			}
			ctx := &Context{Mask: m, ReconvergeAt: -1, CountLimit: 1 << 40}
			ctx.SetSpecials(&tid, &uniform)
			New(p).RunBlock(ctx, f, 0)
			if diff := differs(p, f, want, ctx, may); diff != "" {
				t.Errorf("%v, %v, lanes %#x: %s", op, r, m, diff)
			}
		}
	}
}

// TestAddresses checks addresses in the running function's frame and in the CTA's shared memory against the context.
func TestAddresses(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	rng := rand.New(rand.NewPCG(part.Seed(t), 7))
	for range 200 {
		shared := allocation(rng, mem.SharedAddress(rng.IntN(16)), 16)
		frame, offset, m := rng.Uint64N(1<<40), int64(rng.Int32N(1<<21)-1<<20), someLanes(rng)
		for _, op := range []code.Op{code.Frame32, code.Frame64, code.Shared32, code.Shared64} {
			begin := frame
			if op == code.Shared32 || op == code.Shared64 {
				begin = shared.Base - probe.SharedWindow
			}
			p, f := single(rng, code.Instr{Op: op, Imm: uint64(offset), D: 1, F: code.NoRow}, nil)
			want, at := copied(p, f), begin+uint64(offset)
			for lane := range regfile.Lanes {
				switch {
				case m>>lane&1 == 0:
				case op.Signature().Dst == code.R:
					want.Row32(1)[lane] = uint32(at)
				default:
					want.Row64(1)[lane] = at
				}
			}
			ctx := &Context{Mask: m, ReconvergeAt: -1, CountLimit: 1 << 40}
			changed := false
			ctx.SetMemory(nil, shared, &changed)
			ctx.SetLocal(make(mem.Local, 1), 0, 4, frame)
			New(p).RunBlock(ctx, f, 0)
			if diff := differs(p, f, want, ctx, true); diff != "" {
				t.Fatalf("%v %#x, lanes %#x: %s", op, offset, m, diff)
			}
			p.Instrs[0].Imm = 1 << 31
			if New(p).NextSupported(ctx, 0) == 0 {
				t.Errorf("%v %#x has machine code", op, p.Instrs[0].Imm)
			}
		}
	}
}
