package native

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gemu/internal/part"
	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// multiplications has all forms of mma with machine code, on the compute capabilities whose tensor cores differ.
func multiplications() (list []matrix.Mma) {
	for _, t := range []struct {
		t       ptx.Type
		ks      []int
		firstSM int
	}{{ptx.F16, []int{8, 16}, 75}, {ptx.BF16, []int{8, 16}, 80}, {ptx.TF32, []int{4, 8}, 80}} {
		for _, k := range t.ks {
			for _, sm := range []int{70, 75, 80, 89, 90, 120} {
				if sm >= t.firstSM {
					list = append(list, matrix.Mma{SM: sm, M: 16, N: 8, K: k, D: ptx.F32, A: t.t, B: t.t, C: ptx.F32})
				}
			}
		}
	}
	for _, a := range []ptx.Type{ptx.S8, ptx.U8} {
		for _, b := range []ptx.Type{ptx.S8, ptx.U8} {
			for _, shape := range [][2]int{{8, 16}, {16, 16}, {16, 32}} {
				list = append(list, matrix.Mma{SM: 80, M: shape[0], N: 8, K: shape[1], D: ptx.S32, A: a, B: b, C: ptx.S32})
			}
		}
	}
	return list
}

// randomFloat returns the bits of a number near 1 or, if wide, of any exponent, rarely of an infinity or a NaN. Often it is
// zero.
func randomFloat(rng *rand.Rand, t ptx.Type, wide bool) uint64 {
	var fraction, bias int
	switch t {
	case ptx.F16:
		fraction, bias = 10, 15
	case ptx.BF16:
		fraction, bias = 7, 127
	case ptx.TF32, ptx.F32:
		fraction, bias = 23, 127
	}
	e := bias + rng.IntN(5) - 2
	switch {
	case wide && rng.IntN(200) == 0:
		e = 2*bias + 1
	case rng.IntN(8) == 0:
		return rng.Uint64N(2) << (t.Bits() - 1)
	case wide:
		e = max(0, min(2*bias, bias+rng.IntN(bias)-bias/2))
		if t == ptx.F16 || rng.IntN(20) == 0 {
			e = rng.IntN(2*bias + 1)
		}
	}
	sign := rng.Uint64N(2) << (min(t.Bits(), 32) - 1)
	if t == ptx.TF32 {
		sign = rng.Uint64N(2) << 31
	}
	return sign | uint64(e)<<fraction | rng.Uint64N(1<<fraction)
}

// TestMultiplications compares machine code of mma with package matrix, whose results are those of GPUs (testdata/hw) and
// models (docs/tensor.md). Machine code may leave only if an operand or result is infinite, a NaN or subnormal.
func TestMultiplications(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	defer func(size regfile.Size) { frame = size }(frame)
	frame.R, frame.Q = 20, 20
	rng := rand.New(rand.NewPCG(part.Seed(t), 11))
	list := multiplications()
	executed := make([]int, len(list))
	for range part.Count(4000, 20000, 200000) {
		number := rng.IntN(len(list))
		m := list[number]
		multiply := m.Multiply()
		frags := code.Fragments{Multiply: multiply}
		row := int32(0)
		registers := func(o *matrix.Operand, shuffled []int) (list []code.Elem) {
			for range o.Registers() {
				list = append(list, code.Elem{Slot: code.R, Row: int32(shuffled[row])})
				row++
			}
			return list
		}
		places := rng.Perm(20)
		frags.A, frags.B, frags.C = registers(&multiply.A, places), registers(&multiply.B, places), registers(&multiply.C, places)
		if row = int32(rng.IntN(16)); rng.IntN(2) == 0 {
			frags.D = registers(&multiply.D, places) // some are sources
		} else {
			frags.D = frags.C
		}
		p, f := fragmentProgram(rng, &frags)
		wide := rng.IntN(2) == 0
		for _, operand := range []struct {
			t     ptx.Type
			elems []code.Elem
		}{{m.A, frags.A}, {m.B, frags.B}, {m.C, frags.C}} {
			for _, e := range operand.elems {
				if e.Row < 0 {
					continue
				}
				for lane := range regfile.Lanes {
					v := rng.Uint32()
					switch operand.t {
					case ptx.F16, ptx.BF16:
						v = uint32(randomFloat(rng, operand.t, wide) | randomFloat(rng, operand.t, wide)<<16)
					case ptx.TF32, ptx.F32:
						v = uint32(randomFloat(rng, operand.t, wide))
					}
					f.Row32(e.Row)[lane] = v
				}
			}
		}
		want := copied(p, f)
		var operands [4]matrix.Registers
		special := false
		for i, elems := range [][]code.Elem{frags.D, frags.A, frags.B, frags.C} {
			for k, e := range elems {
				operands[i].R[k] = want.Src32(e.Row)
			}
		}
		for i, typ := range []ptx.Type{m.A, m.B, m.C} {
			for _, r := range operands[1+i].R {
				special = special || r != nil && hasSpecial(typ, r)
			}
		}
		smallC := false
		for _, r := range operands[3].R {
			smallC = smallC || r != nil && hasSubnormal(r)
		}
		if u := multiply.Execute(&operands[0], &operands[1], &operands[2], &operands[3], &matrix.Registers{}); u != nil {
			t.Fatal(u.Description)
		}
		for _, r := range operands[0].R {
			special = special || r != nil && m.D == ptx.F32 && (hasSpecial(m.D, r) || hasSubnormal(r))
		}
		ctx := &Context{Mask: regfile.Full, Live: regfile.Full, ReconvergeAt: -1, CountLimit: 1 << 40}
		ctx.SetFragments(new(Fragments))
		New(p).RunBlock(ctx, f, 0)
		if ctx.PC == 0 && ctx.Reason == Unsupported {
			// The sum of the first blocks may be subnormal although the result is not: of small factors, or with a small C.
			if !special && (!wide || m.A == ptx.F16 && !smallC) {
				t.Fatalf("%+v leaves with ordinary numbers", m)
			}
			continue
		}
		executed[number]++
		if diff := differs(p, f, want, ctx, true); diff != "" {
			t.Fatalf("%+v: %s", m, diff)
		}
	}
	for i, n := range executed {
		if n < 10 {
			t.Errorf("%+v is executed %d times", list[i], n)
		}
	}
}

// hasSpecial reports whether an element of a register has the greatest exponent.
func hasSpecial(t ptx.Type, r *regfile.Row32) bool {
	for _, v := range r {
		switch t {
		case ptx.F16:
			if v&0x7c00 == 0x7c00 || v>>16&0x7c00 == 0x7c00 {
				return true
			}
		case ptx.BF16:
			if v&0x7f80 == 0x7f80 || v>>16&0x7f80 == 0x7f80 {
				return true
			}
		case ptx.TF32, ptx.F32:
			if v&0x7f800000 == 0x7f800000 {
				return true
			}
		}
	}
	return false
}

// hasSubnormal reports whether a register has a subnormal f32.
func hasSubnormal(r *regfile.Row32) bool {
	for _, v := range r {
		if x := math.Float32frombits(v); x != 0 && math.Abs(float64(x)) < 0x1p-126 {
			return true
		}
	}
	return false
}

// fragmentProgram is single for a multiplication. Some sources become constants.
func fragmentProgram(rng *rand.Rand, frags *code.Fragments) (*code.Program, *regfile.File) {
	instr := code.Instr{Op: code.Multiply, D: code.NoRow, F: code.NoRow}
	p, f := single(rng, instr, func(_ *code.Instr, k *regfile.Constants) {
		for _, elems := range [][]code.Elem{frags.A, frags.B} {
			for i := range elems {
				if rng.IntN(10) == 0 {
					elems[i].Row = k.Add32(0x3f803f80)
				}
			}
		}
	})
	p.Fragments = []code.Fragments{*frags}
	return p, f
}

// TestTiles compares machine code of ldmatrix and stmatrix with package matrix. It must exit if a row is out of bounds or not
// aligned.
func TestTiles(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	defer func(size regfile.Size) { frame = size }(frame)
	frame.R, frame.Q = 8, 8
	rng := rand.New(rand.NewPCG(part.Seed(t), 12))
	left := 0
	for range part.Count(4000, 20000, 200000) {
		count, transposed, store := 1<<rng.IntN(3), rng.IntN(2) == 0, rng.IntN(2) == 0
		tile := matrix.NewTile("m8n8", transposed, count, 0)
		shared := allocation(rng, mem.SharedAddress(rng.IntN(4)), 2048)
		acc := code.Access{Space: ptx.Shared, Addr: []code.Slot{code.R, code.Q}[rng.IntN(2)], Size: 4, Bytes: matrix.RowBytes, Store: store, Tile: tile, Offset: uint64(int64(rng.IntN(9)-4) * 16)}
		places := rng.Perm(8)
		for i := range count {
			acc.Elems = append(acc.Elems, code.Elem{Slot: code.R, Row: int32(places[i])})
		}
		instr := code.Instr{Op: code.LoadMatrix, A: int32(places[count-rng.IntN(2)]), D: code.NoRow, F: code.NoRow}
		if store {
			instr.Op = code.StoreMatrix
		}
		p, f := single(rng, instr, nil)
		p.Access = []code.Access{acc}
		bad := rng.IntN(6) == 0
		rows, may := [matrix.Lanes][]byte{}, true
		for lane := range matrix.Lanes {
			at := int64(16 * rng.IntN(128))
			switch {
			case bad && rng.IntN(32) == 0:
				at += 1 << rng.IntN(4)
			case bad && rng.IntN(32) == 0:
				at = int64(rng.Uint32())
			}
			v := uint64(at) + shared.Base - probe.SharedWindow - acc.Offset
			if acc.Addr == code.R {
				v = uint64(uint32(v))
				f.Row32(instr.A)[lane] = uint32(v)
			} else {
				f.Row64(instr.A)[lane] = v
			}
			o := v + acc.Offset + probe.SharedWindow - shared.Base
			switch {
			case lane >= tile.Addresses():
			case o > shared.Size-16 || o%16 != 0:
				may = false
			default:
				rows[lane] = shared.Data[o:][:16]
			}
		}
		want, memory := copied(p, f), slices.Clone(shared.Data)
		if may && store {
			before := slices.Clone(shared.Data)
			tile.Store(&rows, func(register, lane int) uint64 { return uint64(f.Row32(acc.Elems[register].Row)[lane]) })
			memory = slices.Clone(shared.Data)
			copy(shared.Data, before)
		} else if may {
			tile.Load(&rows, func(register, lane int, v uint64) { want.Row32(acc.Elems[register].Row)[lane] = uint32(v) })
		} else {
			left++
		}
		// A load that overwrites its addresses before the last matrix is left to Go.
		for i, e := range acc.Elems {
			may = may && (store || acc.Addr != code.R || e.Row != instr.A || i == count-1)
		}
		if !may {
			want = copied(p, f)
		}
		changed := false
		ctx := &Context{Mask: regfile.Full, Live: regfile.Full, ReconvergeAt: -1, CountLimit: 1 << 40}
		ctx.SetMemory(nil, shared, &changed)
		New(p).RunBlock(ctx, f, 0)
		if diff := differs(p, f, want, ctx, may); diff != "" {
			t.Fatalf("%d matrices, transposed %v, store %v, addresses in %v: %s", count, transposed, store, acc.Addr, diff)
		}
		if !bytes.Equal(shared.Data, memory) || changed != (store && may) {
			t.Fatalf("%d matrices, transposed %v, store %v: memory differs, or its change is not reported: %v", count, transposed, store, changed)
		}
	}
	if left < 50 {
		t.Errorf("%d leave", left)
	}
}

// TestMovedMatrices compares machine code of movmatrix with the manual (9.7.14.5.17): element (i, j) goes to (j, i), where lane
// 4·i + j has elements 2·j and 2·j + 1 of row i.
func TestMovedMatrices(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	rng := rand.New(rand.NewPCG(part.Seed(t), 13))
	for range 200 {
		instr := code.Instr{Op: code.MoveMatrix, A: rng.Int32N(4), D: rng.Int32N(4), F: code.NoRow}
		p, f := single(rng, instr, func(instr *code.Instr, k *regfile.Constants) {
			if rng.IntN(4) == 0 {
				instr.A = k.Add32(rng.Uint32())
			}
		})
		want, a := copied(p, f), *f.Src32(p.Instrs[0].A)
		element := func(row, col int) uint32 { return a[4*row+col/2] >> (16 * (col % 2)) & 0xffff }
		for lane := range regfile.Lanes {
			row, col := lane/4, lane%4*2
			want.Row32(instr.D)[lane] = element(col, row) | element(col+1, row)<<16
		}
		ctx := &Context{Mask: regfile.Full, Live: regfile.Full, ReconvergeAt: -1, CountLimit: 1 << 40}
		New(p).RunBlock(ctx, f, 0)
		if diff := differs(p, f, want, ctx, true); diff != "" {
			t.Fatalf("from %d to %d: %s", p.Instrs[0].A, instr.D, diff)
		}
	}
}
