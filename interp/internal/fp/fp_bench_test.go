// This file holds the benchmarks. Each runs over a warp of 32 lanes and reports the time of a lane.

package fp

import (
	"math"
	"math/rand/v2"
	"testing"
)

type lanes [32]float32

func benchLanes(b *testing.B, f func(d, x, y, z *lanes)) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var d, x, y, z lanes
	for i := range d {
		x[i], y[i], z[i] = rnd.Float32()*4-2, rnd.Float32()*4-2, rnd.Float32()*4-2
	}
	for b.Loop() {
		f(&d, &x, &y, &z)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(d)), "ns/lane")
}

func BenchmarkAddRN32(b *testing.B) {
	benchLanes(b, func(d, x, y, z *lanes) {
		for i := range d {
			d[i] = Add32(x[i], y[i], RN)
		}
	})
}

func BenchmarkFmaRN32(b *testing.B) {
	benchLanes(b, func(d, x, y, z *lanes) {
		for i := range d {
			d[i] = FmaRN32(x[i], y[i], z[i])
		}
	})
}

func BenchmarkSumHard32(b *testing.B) { // the slow path alone
	benchLanes(b, func(d, x, y, z *lanes) {
		for i := range d {
			d[i] = sumHard32(math.Float64bits(float64(x[i])*float64(y[i])), float64(z[i]))
		}
	})
}

func BenchmarkFma32RZ(b *testing.B) {
	benchLanes(b, func(d, x, y, z *lanes) {
		for i := range d {
			d[i] = Fma32(x[i], y[i], z[i], RZ)
		}
	})
}

func BenchmarkFma64RZ(b *testing.B) {
	benchLanes(b, func(d, x, y, z *lanes) {
		for i := range d {
			d[i] = float32(Fma64(float64(x[i]), float64(y[i]), float64(z[i]), RZ))
		}
	})
}

func BenchmarkF32ToF16(b *testing.B) {
	var h [32]uint16
	benchLanes(b, func(d, x, y, z *lanes) {
		for i := range d {
			h[i] = F32ToF16(x[i], RN)
		}
	})
}

func BenchmarkF16ToF32(b *testing.B) {
	benchLanes(b, func(d, x, y, z *lanes) {
		for i := range d {
			d[i] = F16ToF32(uint16(0x3c00 + i<<8))
		}
	})
}

func BenchmarkSinApprox32(b *testing.B) {
	benchLanes(b, func(d, x, y, z *lanes) {
		for i := range d {
			d[i] = SinApprox32(x[i])
		}
	})
}

func BenchmarkEx2Approx32(b *testing.B) {
	benchLanes(b, func(d, x, y, z *lanes) {
		for i := range d {
			d[i] = Ex2Approx32(x[i])
		}
	})
}

func BenchmarkLg2Approx32(b *testing.B) {
	benchLanes(b, func(d, x, y, z *lanes) {
		for i := range d {
			d[i] = Lg2Approx32(x[i] + 2)
		}
	})
}
