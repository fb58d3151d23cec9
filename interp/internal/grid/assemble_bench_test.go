package grid_test

import (
	"testing"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/interp/internal/exchange"
	"gemu/interp/internal/grid"
	"gemu/interp/internal/lower"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/native"
	"gemu/kernels"
	"gemu/probe"
	"gemu/ptx"
)

// place provides the addresses of a module's variables: all variables have the same allocation.
type place struct{ mem.Allocation }

func (p *place) Address(s ptx.Symbol) (uint64, bool) {
	v, ok := s.(*ptx.Var)
	return p.Base, ok && (v.Space == ptx.Global || v.Space == ptx.Const)
}

func (*place) Params(int) {}

func (*place) AddressTaken() []*ptx.Func { return nil }

func (*place) SM() int { return 90 }

func (p *place) Memory(uint64) *mem.Allocation { return &p.Allocation }

// BenchmarkAssemble measures the time to assemble the machine code of the workload library, by mode, with and without the
// cache of the stencil library.
func BenchmarkAssemble(b *testing.B) {
	if exchange.Native == nil {
		b.Skip("this host executes no machine code of ours")
	}
	linear := [3]affinetrack.Spacing{{Stride: 1, Group: affinetrack.WholeRow}, {Group: affinetrack.WholeRow}, {Group: affinetrack.WholeRow}}
	for _, mode := range []struct {
		name string
		opt  lower.Options
	}{
		{"vector", lower.Options{Width: 32, Pack: true, TID: linear}},
		{"affine", lower.Options{Width: 32, Pack: true, Affine: true, TID: linear}},
		{"check", lower.Options{Width: 32, Pack: true, Affine: true, TID: linear, Reference: true}},
	} {
		type kernel struct {
			m *ptx.Module
			k *ptx.Func
			p *code.Program
		}
		var list []kernel
		instrs := 0
		for _, w := range kernels.All() {
			m, err := ptx.Parse(w.Name, []byte(w.PTX()))
			if err != nil {
				b.Fatal(err)
			}
			for _, k := range m.Kernels() {
				p, err := lower.Kernel(m, k, &place{mem.Allocation{Allocation: probe.Allocation{Base: probe.FirstAddress, Size: 1 << 20}}}, mode.opt)
				if err != nil {
					b.Fatal(err)
				}
				list = append(list, kernel{m, k, p})
				instrs += len(p.Instrs)
			}
		}
		for _, cached := range []bool{false, true} {
			name := "new"
			if cached {
				name = "cached"
			}
			b.Run(mode.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if !cached {
						native.HostLibrary().ClearCache()
					}
					for _, k := range list {
						if !grid.Assemble(k.m, k.k, k.p) {
							b.Fatal("the host gives no memory for machine code")
						}
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(list)), "ns/kernel")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(instrs), "ns/instr")
			})
		}
	}
}
