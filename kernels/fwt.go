package kernels

import (
	"fmt"
	"math/bits"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "fwt", Doc: "dyadic convolution by fast Walsh transforms",
		N: 1 << 15, Max: 1 << 25, SizeDoc: "elements, rounded up to a power of two",
		Origin: "Fino and Algazi, Unified matrix treatment of the fast Walsh-Hadamard transform (1976); fastWalshTransform of the CUDA SDK",
		Papers: []string{"collange2011"},
		Run:    fwt,
	})
}

func fwt(s *Session) error {
	const shared, taps = 10, 128 // a block has 2^shared elements in shared memory
	log := max(2, bits.Len(uint(s.N-1)))
	n := 1 << log
	r := newRNG(1)
	a, b := make([]float32, n), make([]float32, n)
	copy(a, r.floats(s.N, -1, 1))
	copy(b, r.floats(min(s.N, taps), -1, 1))
	data, tap := upload(s, a), upload(s, b)
	transform := func(d *interp.Buffer) error {
		levels := log // levels of the transform that remain
		for ; levels > shared; levels -= 2 {
			if err := s.Launch("fwt_global", ptx.Dim(n/4/256), ptx.Dim(256), 1<<levels>>2, d); err != nil {
				return err
			}
		}
		return s.Launch("fwt_shared", ptx.Dim(n>>levels), ptx.Dim(1<<levels>>2), levels, d)
	}
	for _, d := range []*interp.Buffer{data, tap} {
		if err := transform(d); err != nil {
			return err
		}
	}
	if err := s.Launch("fwt_modulate", ptx.Dim(min(128, blocks(n, 256))), ptx.Dim(256), n, 1/float32(n), data, tap); err != nil {
		return err
	}
	if err := transform(data); err != nil {
		return err
	}
	walsh(a)
	walsh(b)
	for i := range a {
		a[i] = a[i] * b[i] * (1 / float32(n))
	}
	walsh(a)
	s.Summary = fmt.Sprintf("convolved %d elements with %d", n, min(s.N, taps))
	return Equal("convolution", interp.Slice[float32](data), a)
}

// walsh replaces d by its Walsh transform. The number of elements must be a power of two.
func walsh(d []float32) {
	for h := len(d) / 2; h > 0; h /= 2 {
		for i := range d {
			if i&h == 0 {
				d[i], d[i+h] = d[i]+d[i+h], d[i]-d[i+h]
			}
		}
	}
}
