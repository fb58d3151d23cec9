package machine

import (
	"testing"

	"gemu/interp"
	"gemu/kernels"
	"gemu/machine/stream"
	"gemu/probe"
)

// BenchmarkMachine measures a workload on a machine without a clock: execution in vector mode on one host thread, recording, and the caches.
func BenchmarkMachine(b *testing.B) {
	for _, name := range clockWorkloads {
		w := kernels.Lookup(name)
		b.Run(name, func(b *testing.B) {
			instructions := int64(0)
			for b.Loop() {
				d := interp.NewDevice(interp.Config{Workers: 1})
				module, err := d.Load(name+".ptx", []byte(w.PTX()))
				if err != nil {
					b.Fatal(err)
				}
				r := stream.NewRecorder(New(Specs[0], 0))
				s := &kernels.Session{Context: b.Context(), Module: module, N: w.N, Block: w.Block, Warp: 32, Prepare: func(l *interp.Launch) {
					l.Mode, l.Probes = interp.Vector, []probe.Probe{r}
				}}
				if err := w.Run(s); err != nil {
					b.Fatal(err)
				}
				for _, result := range s.Results {
					instructions += result.Counts.WarpInstructions
				}
				d.Close()
			}
			b.ReportMetric(float64(instructions)/b.Elapsed().Seconds()/1e6, "Mwarpinstr/s")
		})
	}
}

// BenchmarkTransfers measures the compression of a transferred line: the bytes of the image, all algorithms, and the cache of metadata.
func BenchmarkTransfers(b *testing.B) {
	spec, _ := Find("caba")
	m := New(spec, 0)
	c := NewCompression(m)
	d := interp.NewDevice(interp.Config{Probes: []probe.Probe{stream.NewDataRecorder(m)}})
	defer d.Close()
	w := kernels.Lookup("transpose")
	s, err := kernels.Start(b.Context(), w, d, 0)
	if err != nil {
		b.Fatal(err)
	}
	var list []Transfer
	m.OnTransfer(func(t *Transfer) { list = append(list, *t) })
	s.Prepare = func(l *interp.Launch) { l.Mode = interp.Vector }
	if err := w.Run(s); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for i := range b.N {
		c.transfer(&list[i%len(list)])
	}
}
