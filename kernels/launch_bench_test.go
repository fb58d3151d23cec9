package kernels

import (
	"context"
	"fmt"
	"testing"

	"gemu/interp"
	"gemu/ptx"
)

// BenchmarkLaunch measures a repeated launch with the memory and the code of the previous launch. Most of the time is the
// overhead of a launch and of a warp, because saxpy executes only 20 instructions.
func BenchmarkLaunch(b *testing.B) {
	w := Lookup("saxpy")
	for _, e := range interp.Engines()[1:] { // except auto, which stands for another engine of the list
		if !e.Available() {
			continue // not on this host
		}
		for _, n := range []int{1, 256, 1 << 20} {
			b.Run(fmt.Sprintf("%v/threads=%d", e, n), func(b *testing.B) {
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
				l := &interp.Launch{Grid: ptx.Dim(blocks(n, 256)), Block: ptx.Dim(min(n, 256)), Args: []any{n, float32(2), x, y}, Mode: interp.Vector, Engine: e}
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

// BenchmarkLaunchFirst measures the first launch of a module: loading, lowering and assembling.
func BenchmarkLaunchFirst(b *testing.B) {
	for _, name := range []string{"saxpy", "lud"} {
		m, err := ptx.Parse(name, []byte(Lookup(name).PTX()))
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range interp.Engines()[1:] { // except auto, which stands for another engine of the list
			if !e.Available() {
				continue // not on this host
			}
			b.Run(name+"/"+e.String(), func(b *testing.B) {
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
					l := &interp.Launch{Kernel: k.Name, Grid: ptx.Dim(1), Block: ptx.Dim(1), Args: args, Mode: interp.Vector, Engine: e}
					mod.Run(context.Background(), l) // may trap: the pointers are zero
				}
			})
		}
	}
}
