package native

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"gemu/internal/part"
	"gemu/interp/internal/matrix"
	"gemu/ptx"
	"gemu/regfile"
)

// TestPanels compares the multiplications of wgmma in machine code, dense and sparse, with Multiply.Execute of package matrix, which
// multiplies and adds element by element. Some inputs are NaNs, infinities, or so far apart that machine code reports their panels as
// unknown; ExecutePanel multiplies these panels in Go.
func TestPanels(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	rng := rand.New(rand.NewPCG(part.Seed(t), 14))
	types := []struct {
		a, b, d    ptx.Type
		k          int
		transposes bool
	}{
		{ptx.F16, ptx.F16, ptx.F32, 16, true}, {ptx.F16, ptx.F16, ptx.F16, 16, true}, {ptx.BF16, ptx.BF16, ptx.F32, 16, true}, {ptx.TF32, ptx.TF32, ptx.F32, 8, false},
		{ptx.E4M3, ptx.E5M2, ptx.F32, 32, false}, {ptx.E5M2, ptx.E4M3, ptx.F16, 32, false}, {ptx.S8, ptx.U8, ptx.S32, 32, false}, {ptx.B1, ptx.B1, ptx.S32, 256, false},
	}
	for range part.Count(200, 1000, 10000) {
		x, n := types[rng.IntN(len(types))], 8*(1+rng.IntN(6))
		sparse := rng.IntN(2) == 0 && x.a != ptx.B1
		if sparse {
			x.k *= 2
		}
		o := matrix.NewWgmma(n, x.k, x.d, x.a, x.b, sparse, 0)
		o.Negate, o.Saturate = x.a.IsFloat() && rng.IntN(3) == 0, x.a == ptx.S8 && rng.IntN(2) == 0
		o.SharedA.Transposed, o.SharedB.Transposed = x.transposes && rng.IntN(2) == 0, x.transposes && rng.IntN(2) == 0
		p := o.Panels()
		s := randomLibrary(rng).newPanels(&p)
		if s == nil {
			t.Fatalf("%+v is not multiplied in machine code", x)
		}
		memory := make([]byte, 64<<10)
		spread := spread(rng.IntN(5))
		put := func(memory []byte, e ptx.Type, bits int) {
			for i := 0; i < len(memory); i += bits / 8 {
				v := randomElement(rng, e, spread)
				for k := range bits / 8 {
					memory[i+k] = byte(v >> (8 * k))
				}
			}
		}
		put(memory[:32<<10], x.a, o.SharedA.Bits)
		put(memory[32<<10:], x.b, o.SharedB.Bits)
		place := func(start uint64) matrix.Placement {
			return matrix.Placement{Start: start, Leading: 2048, Stride: 1024, Base: rng.Uint64N(8), Width: []int{16, 32, 64, 128}[rng.IntN(4)]}
		}
		placeA, placeB := place(0), place(32<<10)
		first := matrix.WarpRows * rng.IntN(2)
		a, b := o.SharedA.Load(memory, placeA, first, matrix.WarpRows), o.SharedB.Load(memory, placeB, 0, n)
		registersA, registersB := o.LoadPanelA(memory, placeA, first), o.SharedB.LoadRegisters(memory, placeB, 0, n)
		o.NegateRegisters(registersA)
		var want, got []*regfile.Row32
		for range o.D.Registers() {
			var r regfile.Row32
			for lane := range r {
				r[lane] = uint32(randomElement(rng, x.d, spread))
				if x.d == ptx.F16 {
					r[lane] |= uint32(randomElement(rng, x.d, spread)) << 16
				}
			}
			other := r
			want, got = append(want, &r), append(got, &other)
		}
		var stored []uint8
		m := s.Begin()
		if sparse {
			for i := range matrix.WarpRows * o.K / max(1, o.Sparse.Chunk/2) {
				chunk := i * o.Sparse.Chunk % o.SharedB.K
				first := rng.IntN(o.Sparse.Chunk)
				if stored = append(stored, uint8(chunk+first)); o.Sparse.Chunk > 2 {
					stored = append(stored, uint8(chunk+(first+1+rng.IntN(3))%4))
				}
			}
			o.SetMetadata(m.Metadata(), stored)
		}
		o.Execute(want, nil, a, b, stored, true)
		m.leaveFlags(rng)
		m.SetB(registersB)
		m.SetA(registersA)
		unknown := m.MultiplyRegisters(got)
		m.End()
		if len(unknown) > 0 && spread == near {
			t.Fatalf("%+v: panels %v of ordinary numbers are unknown", x, unknown)
		}
		for _, i := range unknown {
			perB, perD := len(registersB)/s.Count, len(got)/s.Count
			s.Multiply.ExecutePanel(got[i*perD:][:perD], registersA, registersB[i*perB:][:perB], stored)
		}
		for i := range want {
			if *got[i] != *want[i] {
				t.Fatalf("%s: register %d of D is %#x, not %#x", fmt.Sprintf("%+v, n %d, negate %v, placements %+v %+v", x, n, o.Negate, placeA, placeB), i, *got[i], *want[i])
			}
		}
	}
}

// tensorTypes are the types of A and B of tcgen05.mma, by kind, and their numbers in the instruction descriptor (manual 9.7.16.4.2).
var tensorTypes = map[matrix.TensorKind][]struct {
	number uint32
	typ    ptx.Type
}{
	matrix.KindF16: {{0, ptx.F16}, {1, ptx.BF16}}, matrix.KindTF32: {{2, ptx.TF32}}, matrix.KindI8: {{0, ptx.U8}, {1, ptx.S8}},
	matrix.KindF8F6F4:   {{0, ptx.E4M3}, {1, ptx.E5M2}, {3, ptx.E2M3}, {4, ptx.E3M2}, {5, ptx.E2M1}},
	matrix.KindMXF8F6F4: {{0, ptx.E4M3}, {1, ptx.E5M2}, {3, ptx.E2M3}, {4, ptx.E3M2}, {5, ptx.E2M1}},
	matrix.KindMXF4:     {{1, ptx.E2M1}}, matrix.KindMXF4NVF4: {{1, ptx.E2M1}},
}

// TestTensorPanels compares the multiplications of tcgen05.mma in machine code with package matrix, which multiplies element by element:
// all kinds, shapes and places of D, sparse and scaled matrices, disabled lanes, and masks of zero columns.
func TestTensorPanels(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	rng := rand.New(rand.NewPCG(part.Seed(t), 15))
	executed := map[string]int{}
	for n := 0; n < part.Count(150, 400, 10000); {
		o := &matrix.TensorMma{Kind: matrix.TensorKind(rng.IntN(int(matrix.KindMXF4NVF4) + 1)), Pair: rng.IntN(3) == 0, Sparse: rng.IntN(2) == 0, InTensor: rng.IntN(2) == 0, Stationary: rng.IntN(4) == 0}
		types := tensorTypes[o.Kind]
		a, b := types[rng.IntN(len(types))], types[rng.IntN(len(types))]
		flag := func(of, bit int) uint32 {
			if rng.IntN(of) == 0 {
				return 1 << bit
			}
			return 0
		}
		d := a.number<<7 | b.number<<10 | flag(3, 13) | flag(3, 14) | flag(3, 15) | flag(3, 16) | uint32(1+rng.IntN(8))<<17
		if o.Sparse {
			d |= 1 << 2
		}
		m, scaled := uint32(32<<rng.IntN(4)), false
		switch o.Kind {
		case matrix.KindMXF8F6F4:
			o.ScalesPerRow, scaled = 1, true
			d |= 1 << 23
		case matrix.KindMXF4:
			o.ScalesPerRow, scaled = 2, true
			d |= 1 << 23
		case matrix.KindMXF4NVF4:
			o.ScalesPerRow, scaled = 4, true
			d |= flag(2, 23)
		case matrix.KindI8:
			d |= 2<<4 | flag(2, 3)
		case matrix.KindTF32:
			d |= 1 << 4
		default:
			d |= flag(2, 4)
		}
		if scaled {
			d |= m/128<<27 | uint32(rng.IntN(4/o.ScalesPerRow)*o.ScalesPerRow)<<4 | uint32(rng.IntN(4/o.ScalesPerRow)*o.ScalesPerRow)<<29
		} else {
			d |= m / 16 << 24
		}
		if scaled || o.Kind != matrix.KindF16 && rng.IntN(2) == 0 {
			d &^= 3 << 15
		}
		if o.Stationary {
			d = d&^(63<<17) | []uint32{8, 16}[rng.IntN(2)]<<17
		}
		if !scaled && !o.Stationary && o.Kind != matrix.KindI8 && rng.IntN(4) == 0 {
			o.InputScaleExponent = rng.IntN(16)
		}
		p, refused := o.Product(d)
		if refused != nil {
			continue
		}
		spread := spread(rng.IntN(5))
		word := func(t ptx.Type) (v uint32) {
			bits := t.Bits()
			switch {
			case o.Kind == matrix.KindMXF4 || o.Kind == matrix.KindMXF4NVF4:
				return rng.Uint32()
			case bits < 8:
				bits = 8
			case bits == 19:
				bits = 32
			}
			for shift := 0; shift < 32; shift += bits {
				v |= uint32(randomElement(rng, t, spread)) << shift
			}
			return v
		}
		descriptor := func(start uint64) matrix.TensorDescriptor {
			return matrix.TensorDescriptor(start/16 | 2048/16<<16 | 1024/16<<32 | 1<<46 | []uint64{0, 2, 4, 6}[rng.IntN(4)]<<61)
		}
		x := &matrix.TensorOperands{A: 128, Meta: 256, ScaleA: 300, ScaleB: 320, DescA: descriptor(0), DescB: descriptor(64 << 10), Add: rng.IntN(3) != 0}
		if p.M == 64 && rng.IntN(2) == 0 && !o.Pair && !o.Stationary {
			x.D, x.A, x.Meta = 16<<16, 16<<16|128, 16<<16|256
		}
		if rng.IntN(3) == 0 {
			for i := range x.Disabled {
				x.Disabled[i] = rng.Uint32() & rng.Uint32()
			}
		}
		if o.Stationary && rng.IntN(2) == 0 {
			x.Zero = matrix.ZeroMask(rng.Uint64()&0x0f0f0f1f1f1f1f | 1<<39 | rng.Uint64N(3)*8<<56)
		}
		if bad := p.Check(x); bad != nil {
			continue
		}
		panels, ok := p.Panels(x)
		s := randomLibrary(rng).newPanels(&panels)
		if !ok || s == nil {
			t.Fatalf("%+v %#x is not multiplied in machine code", o, d)
		}
		undefined := rng.IntN(16) == 0
		var want, got []matrix.TensorCTA
		{
			c := matrix.TensorCTA{Memory: new(matrix.TensorMemory), Shared: make([]byte, 228<<10)}
			for i := 0; i < len(c.Shared); i += 4 {
				typ := a.typ
				if i >= 64<<10 {
					typ = b.typ
				}
				binary.LittleEndian.PutUint32(c.Shared[i:], word(typ))
			}
			for lane := range c.Memory {
				row := &c.Memory[lane]
				for i := range row {
					switch {
					case i < 128 && p.D == ptx.F16:
						row[i] = uint32(randomElement(rng, p.D, spread))
					case i < 128:
						row[i] = uint32(randomElement(rng, ptx.F32, min(spread, far)))
					case i < 256:
						row[i] = word(a.typ)
					case i < 300:
						for k := range 8 {
							chunk := []uint32{0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110, 0b0110}[rng.IntN(7)]
							if a.typ == ptx.TF32 {
								chunk = []uint32{0b0100, 0b1110}[rng.IntN(2)]
							}
							if undefined && rng.IntN(1000) == 0 {
								chunk = rng.Uint32N(16)
							}
							row[i] |= chunk << (4 * k)
						}
					case p.UE4M3:
						row[i] = rng.Uint32() &^ 0x40404040
					default:
						for k := range 4 {
							row[i] |= (120 + rng.Uint32N(15)) << (8 * k)
						}
						if undefined && rng.IntN(50) == 0 {
							row[i] |= 0xff << (8 * rng.IntN(4))
						}
					}
				}
			}
			memory := *c.Memory
			want, got = append(want, c), append(got, matrix.TensorCTA{Memory: &memory, Shared: c.Shared})
		}
		if o.Pair && len(want) == 1 {
			other := *want[0].Memory
			again := other
			want, got = append(want, matrix.TensorCTA{Memory: &other, Shared: want[0].Shared[1024:]}), append(got, matrix.TensorCTA{Memory: &again, Shared: want[0].Shared[1024:]})
		}
		if !o.InTensor && rng.IntN(3) == 0 {
			for i := range got {
				got[i].A = p.LoadA(got[i].Shared, x)
			}
		}
		u := p.Execute(want, x)
		m2 := &counted{PanelState: s.Begin()}
		m2.leaveFlags(rng)
		v := p.ExecuteByPanels(got, x, m2)
		m2.End()
		name := fmt.Sprintf("%+v, descriptor %#x, operands %+v, spread %d", *p.TensorMma, d, x, spread)
		if (u == nil) != (v == nil) || u != nil && *u != *v {
			t.Fatalf("%s: %v, not %v", name, v, u)
		}
		if m2.unknown > 0 && spread == near && !undefined && p.D != ptx.F16 {
			t.Fatalf("%s: %d panels of ordinary numbers are unknown", name, m2.unknown)
		}
		for i := range want {
			for lane := range want[i].Memory {
				for column, w := range want[i].Memory[lane] {
					if g := got[i].Memory[lane][column]; g != w {
						t.Fatalf("%s: lane %d, column %d of CTA %d is %#x, not %#x", name, lane, column, i, g, w)
					}
				}
			}
		}
		executed[matrix.TensorKinds[o.Kind]]++
		n++
	}
	if len(executed) != len(tensorTypes) {
		t.Errorf("kinds executed: %v", executed)
	}
}

// leaveFlags sets random flags, as earlier multiplications leave them.
func (x *PanelState) leaveFlags(rng *rand.Rand) {
	for i := range x.fragments.flags {
		x.fragments.flags[i] = rng.Int32N(3)
	}
	for i := range x.panels {
		x.panels[i].special = rng.Uint32N(2)
	}
}

// counted counts the panels with unknown results.
type counted struct {
	*PanelState
	unknown int
}

func (c *counted) Multiply(part int, rows []uint32, stride int) []int {
	list := c.PanelState.Multiply(part, rows, stride)
	c.unknown += len(list)
	return list
}

// BenchmarkTensorPanels measures multiplications of tcgen05.mma of 128 rows by 64 columns.
func BenchmarkTensorPanels(b *testing.B) {
	if !Supported() {
		b.Skip("this host executes no machine code of ours")
	}
	for _, x := range []struct {
		name       string
		kind       matrix.TensorKind
		descriptor uint32
	}{{"f16", matrix.KindF16, 1 << 4}, {"f8f6f4", matrix.KindF8F6F4, 1 << 4}, {"i8", matrix.KindI8, 2 << 4}} {
		p, refused := (&matrix.TensorMma{Kind: x.kind}).Product(x.descriptor | 8<<24 | 8<<17)
		if refused != nil {
			b.Fatal(refused.Description)
		}
		list := []matrix.TensorCTA{{Memory: new(matrix.TensorMemory), Shared: make([]byte, 64<<10)}}
		o := &matrix.TensorOperands{DescA: 64<<16 | 32<<32 | 1<<46, DescB: 64<<16 | 32<<32 | 1<<46}
		panels, _ := p.Panels(o)
		m := TensorPanels(panels).Begin()
		b.Run(x.name, func(b *testing.B) {
			for b.Loop() {
				p.ExecuteByPanels(list, o, m)
			}
		})
	}
}
