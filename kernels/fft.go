package kernels

import (
	"fmt"
	"math"
	"math/cmplx"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "fft", Doc: "Fourier transforms of 1024 complex numbers in shared memory",
		N: 128, Max: 1 << 16, SizeDoc: "transforms",
		Origin:  "Govindaraju et al., High performance discrete Fourier transforms on graphics processors (SC 2008); twiddles by sin.approx and cos.approx",
		Current: true,
		Run:     fft,
	})
}

func fft(s *Session) error {
	const points = 1024
	in := newRNG(1).floats(2*points*s.N, -1, 1)
	src, dst := upload(s, in), alloc[float32](s, len(in))
	if err := s.Launch("fft", ptx.Dim(s.N), ptx.Dim(points/4), src, dst); err != nil {
		return err
	}
	want, bound := make([]float64, len(in)), make([]float64, len(in))
	for first := 0; first < len(in); first += 2 * points {
		x, sum := make([]complex128, points), 0.0
		for i := range x {
			x[i] = complex(float64(in[first+2*i]), float64(in[first+2*i+1]))
			sum += cmplx.Abs(x[i])
		}
		for i, y := range transform(x) {
			want[first+2*i], want[first+2*i+1] = real(y), imag(y)
			// In each of the five steps a number is multiplied by a factor, which has at most three times the error of
			// sin.approx and cos.approx (2^-20.5 each), and is rounded a few times, by 2^-24 of its magnitude. No number
			// exceeds the sum of the magnitudes of the input.
			bound[first+2*i] = 5 * (3*math.Sqrt2*0x1p-20 + 0x1p-21) * sum
			bound[first+2*i+1] = bound[first+2*i]
		}
	}
	s.Summary = fmt.Sprintf("%d transforms", s.N)
	return within("spectrum", doubles(interp.Slice[float32](dst)), want, func(i int) float64 { return bound[i] })
}

// transform returns the discrete Fourier transform of x, whose length is a power of two.
func transform(x []complex128) []complex128 {
	n := len(x)
	if n == 1 {
		return x
	}
	even, odd := make([]complex128, n/2), make([]complex128, n/2)
	for i := range even {
		even[i], odd[i] = x[2*i], x[2*i+1]
	}
	even, odd = transform(even), transform(odd)
	y := make([]complex128, n)
	for i := range even {
		t := cmplx.Rect(1, -2*math.Pi*float64(i)/float64(n)) * odd[i]
		y[i], y[i+n/2] = even[i]+t, even[i]-t
	}
	return y
}
