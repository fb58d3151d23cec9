package kernels

import (
	"fmt"
	"math"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "binomial", Doc: "prices of European options by binomial trees",
		N: 256, Max: 1 << 12, SizeDoc: "steps of each tree, rounded up to 32s, and ⅛ as many options",
		Origin: "Cox, Ross and Rubinstein, Option pricing: a simplified approach (1979); binomialOptions of the CUDA SDK",
		Papers: []string{"collange2011"},
		Run:    binomial,
	})
}

func binomial(s *Session) error {
	const cache, delta, rate, volatility = 256, 32, 0.06, 0.1
	steps, count := blocks(s.N, delta)*delta, blocks(s.N, 8)
	r := newRNG(1)
	options := make([]float32, 0, 5*count) // price, strike, rise, up, down of each
	for range count {
		years := 0.2 + float64(1.8*float64(r.float()))
		step := years / float64(steps)
		rise := volatility * math.Sqrt(step)
		up := (math.Exp(rate*step) - math.Exp(-rise)) / (math.Exp(rise) - math.Exp(-rise))
		discount := math.Exp(-rate * step)
		options = append(options, 5+float32(25*r.float()), 1+float32(40*r.float()), float32(rise), float32(up*discount), float32((1-up)*discount))
	}
	tree, value := alloc[float32](s, count*(steps+cache)), alloc[float32](s, count)
	if err := s.Launch("binomial", ptx.Dim(count), ptx.Dim(cache), steps, upload(s, options), tree, value); err != nil {
		return err
	}
	// The reference computes in float64. The kernel rounds twice in a step, by 2^-24 each, so the relative error of its
	// values is up to steps·2^-23. At the leaves it rounds the exponent a few times, and ex2.approx has an error of 2^-22:
	// together as much as about 100 steps.
	want, node := make([]float32, count), make([]float64, steps+1)
	for i := range want {
		price, strike, rise, up, down := float64(options[5*i]), float64(options[5*i+1]), float64(options[5*i+2]), float64(options[5*i+3]), float64(options[5*i+4])
		for j := range node {
			node[j] = max(0, price*math.Exp(rise*float64(2*j-steps))-strike)
		}
		for last := steps; last > 0; last-- {
			for j := range last {
				node[j] = up*node[j+1] + down*node[j]
			}
		}
		want[i] = float32(node[0])
	}
	s.Summary = fmt.Sprintf("%d options by trees of %d steps", count, steps)
	return Close("value", interp.Slice[float32](value), want, float64(steps+100)/(1<<23))
}
