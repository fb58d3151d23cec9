package kernels

import (
	"fmt"
	"math"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "mriq", Doc: "the matrix Q of a reconstruction of magnetic resonance images",
		N: 1 << 11, Max: 1 << 18, SizeDoc: "places, and ⅛ as many samples, from 16 up to 3072",
		Origin: "Stone et al., Accelerating advanced MRI reconstructions on GPUs (2008); mri-q of Parboil",
		Papers: []string{"liu2017"},
		Run:    mriq,
	})
}

func mriq(s *Session) error { return mriqOf(s, min(max(s.N/8, 16), 3072)) }

// mriqOf runs mriq with the given number of samples.
func mriqOf(s *Session, samples int) error {
	const chunk, block = 1024, 256
	n := s.N
	r := newRNG(1)
	var place, sample [3][]float32
	var dPlace [3]*interp.Buffer
	for d := range place {
		place[d], sample[d] = r.floats(n, -0.5, 0.5), r.floats(samples, -8, 8)
		dPlace[d] = upload(s, place[d])
	}
	phiReal, phiImaginary := r.floats(samples, -1, 1), r.floats(samples, -1, 1)
	dMagnitude := alloc[float32](s, samples)
	if err := s.Launch("mriq_magnitude", ptx.Dim(blocks(samples, 512)), ptx.Dim(512), samples, upload(s, phiReal), upload(s, phiImaginary), dMagnitude); err != nil {
		return err
	}
	magnitude, sum := interp.Slice[float32](dMagnitude), 0.0
	for k, m := range magnitude {
		if want := fma32(phiImaginary[k], phiImaginary[k], phiReal[k]*phiReal[k]); m != want {
			return Equal("magnitude", magnitude[k:k+1], []float32{want})
		}
		sum += float64(m)
	}
	re, im := alloc[float32](s, n), alloc[float32](s, n)
	for from := 0; from < samples; from += chunk {
		var flat []float32
		for k := from; k < min(from+chunk, samples); k++ {
			flat = append(flat, sample[0][k], sample[1][k], sample[2][k], magnitude[k])
		}
		setVar(s, "samples", flat)
		if err := s.Launch("mriq", ptx.Dim(blocks(n, block)), ptx.Dim(block), n, len(flat)/4, dPlace[0], dPlace[1], dPlace[2], re, im); err != nil {
			return err
		}
	}
	// The reference computes in float64. The kernel rounds angles, up to 12 turns, three times, by up to 2^-21 each;
	// together with the error of sin.approx and cos.approx, 2^-20.5, this is below 10^-5. It rounds its sums, which are at
	// most the sum of the magnitudes, by 2^-24 of themselves with each sample.
	tolerance := (1e-5 + float64(samples)/(1<<24)) * sum
	wantRe, wantIm := make([]float32, n), make([]float32, n)
	for i := range n {
		var sumRe, sumIm float64
		for k, m := range magnitude {
			turns := 0.0
			for d := range place {
				turns += float64(sample[d][k]) * float64(place[d][i])
			}
			sin, cos := math.Sincos(2 * math.Pi * turns)
			sumRe += float64(m) * cos
			sumIm += float64(m) * sin
		}
		wantRe[i], wantIm[i] = float32(sumRe), float32(sumIm)
	}
	s.Summary = fmt.Sprintf("%d places, %d samples", n, samples)
	if err := Close("real", interp.Slice[float32](re), wantRe, tolerance); err != nil {
		return err
	}
	return Close("imaginary", interp.Slice[float32](im), wantIm, tolerance)
}
