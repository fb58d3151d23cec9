// This file holds the benchmarks. Each runs over the 32 lanes of a warp and reports the time per lane.

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

// BenchmarkAddRN32 measures additions of 32 lanes.
func BenchmarkAddRN32(b *testing.B) {
	benchLanes(b, func(d, x, y, z *lanes) {
		for i := range d {
			d[i] = Add32(x[i], y[i], RN)
		}
	})
}

// BenchmarkFmaRN32 measures fused multiply-adds of 32 lanes, rounded to nearest.
func BenchmarkFmaRN32(b *testing.B) {
	benchLanes(b, func(d, x, y, z *lanes) {
		for i := range d {
			d[i] = FmaRN32(x[i], y[i], z[i])
		}
	})
}

// BenchmarkSumHard32 measures the slow path of fused multiply-adds alone.
func BenchmarkSumHard32(b *testing.B) {
	benchLanes(b, func(d, x, y, z *lanes) {
		for i := range d {
			d[i] = sumHard32(math.Float64bits(float64(x[i])*float64(y[i])), float64(z[i]))
		}
	})
}

// BenchmarkFma32RZ measures fused multiply-adds of 32 lanes, rounded toward zero.
func BenchmarkFma32RZ(b *testing.B) {
	benchLanes(b, func(d, x, y, z *lanes) {
		for i := range d {
			d[i] = Fma32(x[i], y[i], z[i], RZ)
		}
	})
}

// BenchmarkFma64RZ measures fused multiply-adds of float64, rounded toward zero.
func BenchmarkFma64RZ(b *testing.B) {
	benchLanes(b, func(d, x, y, z *lanes) {
		for i := range d {
			d[i] = float32(Fma64(float64(x[i]), float64(y[i]), float64(z[i]), RZ))
		}
	})
}

// BenchmarkF32ToF16 measures conversions from float32 to binary16.
func BenchmarkF32ToF16(b *testing.B) {
	var h [32]uint16
	benchLanes(b, func(d, x, y, z *lanes) {
		for i := range d {
			h[i] = F32ToF16(x[i], RN)
		}
	})
}

// BenchmarkF16ToF32 measures conversions from binary16 to float32.
func BenchmarkF16ToF32(b *testing.B) {
	benchLanes(b, func(d, x, y, z *lanes) {
		for i := range d {
			d[i] = F16ToF32(uint16(0x3c00 + i<<8))
		}
	})
}

// BenchmarkSinApprox32 measures sin.approx.f32 of 32 lanes.
func BenchmarkSinApprox32(b *testing.B) {
	benchLanes(b, func(d, x, y, z *lanes) {
		for i := range d {
			d[i] = SinApprox32(x[i])
		}
	})
}

// BenchmarkEx2Approx32 measures ex2.approx.f32 of 32 lanes.
func BenchmarkEx2Approx32(b *testing.B) {
	benchLanes(b, func(d, x, y, z *lanes) {
		for i := range d {
			d[i] = Ex2Approx32(x[i])
		}
	})
}

// BenchmarkLg2Approx32 measures lg2.approx.f32 of 32 lanes.
func BenchmarkLg2Approx32(b *testing.B) {
	benchLanes(b, func(d, x, y, z *lanes) {
		for i := range d {
			d[i] = Lg2Approx32(x[i] + 2)
		}
	})
}
