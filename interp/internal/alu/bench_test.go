package alu

import (
	"testing"

	"gemu/interp/internal/code"
	"gemu/regfile"
)

// BenchmarkKernels measures each kernel on full rows. An example:
//
//	go test ./interp/internal/alu -bench 'Kernels/(add.u32|fma.rn.f32)$'
func BenchmarkKernels(b *testing.B) {
	var k regfile.Constants
	k.Layout()
	f := regfile.New(&k, false)
	f.Reset(regfile.Size{R: 5, Q: 5, P: 5})
	for r := range int32(4) {
		for i := range regfile.Lanes {
			f.Row32(r)[i] = 0x3f800000 + uint32(i)*0x12fd1*uint32(r) // floats of 1 and more
			f.Row64(r)[i] = 0x3ff<<52 + uint64(i)*0xb5140f8f71*uint64(r)
		}
		f.SetP(r, regfile.Full, 0x0f0f00ff<<r)
	}
	for op, kernel := range Vec {
		if kernel == nil {
			continue
		}
		b.Run(code.Op(op).String(), func(b *testing.B) {
			instr := &code.Instr{Op: code.Op(op), A: 1, B: 2, C: 3, E: 0, D: 4, F: 4}
			for b.Loop() {
				kernel(f, instr, regfile.Full)
			}
			b.ReportMetric(float64(b.N)*regfile.Lanes/b.Elapsed().Seconds(), "lane-instr/s")
		})
	}
}
