package kernels

import (
	"context"
	"fmt"
	"testing"

	"gemu/interp"
	"gemu/ptx"
)

// BenchmarkLaunch counts what a launch costs that has been there before, and what a warp does in it: saxpy
// executes 20 instructions, so what is around them shows. Memory and code are those of the launch before.
func BenchmarkLaunch(b *testing.B) {
	w := Lookup("saxpy")
	for _, e := range interp.Engines[1:] { // but auto, which is one of the others
		backend, err := interp.EngineNamed(e)
		if err != nil {
			continue // not on this host
		}
		for _, n := range []int{1, 256, 1 << 20} {
			b.Run(fmt.Sprintf("%s/threads=%d", e, n), func(b *testing.B) {
				d := interp.NewDevice(interp.Config{})
				m, err := d.Load("saxpy.ptx", []byte(w.PTX()))
				if err != nil {
					b.Fatal(err)
				}
				x, errX := d.Alloc(4 * n)
				y, errY := d.Alloc(4 * n)
				if errX != nil || errY != nil {
					b.Fatal(errX, errY)
				}
				l := &interp.Launch{Grid: interp.Dim(blocks(n, 256)), Block: interp.Dim(min(n, 256)), Args: []any{n, float32(2), x, y}, Mode: interp.Vector, Backend: backend}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := m.Run(context.Background(), l); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(blocks(n, 32)), "ns/warp")
			})
		}
	}
}

// BenchmarkLaunchFirst counts what the first launch of a module costs: to load, lower and assemble it.
func BenchmarkLaunchFirst(b *testing.B) {
	for _, name := range []string{"saxpy", "lud"} {
		m, err := ptx.Parse(name, []byte(Lookup(name).PTX()))
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range interp.Engines[1:] { // but auto, which is one of the others
			backend, err := interp.EngineNamed(e)
			if err != nil {
				continue // not on this host
			}
			b.Run(name+"/"+e, func(b *testing.B) {
				for b.Loop() {
					mod, err := interp.NewDevice(interp.Config{}).LoadModule(m)
					if err != nil {
						b.Fatal(err)
					}
					k := mod.Kernels()[0]
					var args []any
					for _, p := range k.Params {
						args = append(args, make([]byte, p.Size()))
					}
					l := &interp.Launch{Kernel: k.Name, Grid: interp.Dim(1), Block: interp.Dim(1), Args: args, Mode: interp.Vector, Backend: backend}
					mod.Run(context.Background(), l) // which may trap: it is not given memory
				}
			})
		}
	}
}
