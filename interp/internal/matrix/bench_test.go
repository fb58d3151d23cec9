package matrix

import (
	"testing"

	"gemu/ptx"
	"gemu/regfile"
)

// BenchmarkMultiply measures the work of one warp for an mma.
func BenchmarkMultiply(b *testing.B) {
	for _, c := range []struct {
		name string
		mma  Mma
	}{
		{"m16n8k16.f16", Mma{M: 16, N: 8, K: 16, D: ptx.F32, A: ptx.F16, B: ptx.F16, C: ptx.F32}},
		{"m16n8k32.s8", Mma{M: 16, N: 8, K: 32, D: ptx.S32, A: ptx.S8, B: ptx.S8, C: ptx.S32}},
		{"sp.m16n8k32.f16", Mma{M: 16, N: 8, K: 32, D: ptx.F32, A: ptx.F16, B: ptx.F16, C: ptx.F32, Sparse: true}},
	} {
		c.mma.SM = 90
		o := c.mma.Multiply()
		var d, x, y, z, e Registers
		for _, r := range []*Registers{&d, &x, &y, &z, &e} {
			for i := range r.R {
				r.R[i] = filled(0x3c003c00 + uint32(i))
			}
		}
		meta := regfile.Row32{}
		for i := range meta {
			meta[i] = 0x44444444
		}
		e.R[0] = &meta
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if u := o.Execute(&d, &x, &y, &z, &e); u != nil {
					b.Fatal(u.Description)
				}
			}
		})
	}
}

// BenchmarkWgmma measures the work of one of four warps for a wgmma.mma_async.
func BenchmarkWgmma(b *testing.B) {
	for _, c := range []struct {
		name string
		k    int
		d, a ptx.Type
	}{{"m64n8k16.f16", 16, ptx.F32, ptx.F16}, {"m64n8k32.s8", 32, ptx.S32, ptx.S8}} {
		o := NewWgmma(8, c.k, c.d, c.a, c.a, false, 0)
		var d, x []*regfile.Row32
		for range 4 {
			d, x = append(d, filled(0)), append(x, filled(0x3c003c00))
		}
		columns := make([]uint32, 8*c.k)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				o.Execute(d, x, nil, columns, nil, true)
			}
		})
	}
}

func filled(v uint32) *regfile.Row32 {
	var row regfile.Row32
	for i := range row {
		row[i] = v + uint32(i)<<16
	}
	return &row
}
