package kernels

import (
	"fmt"
	"math"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "blackscholes", Doc: "prices of European options by a closed formula",
		N: 1 << 16, Max: 1 << 24, SizeDoc: "options",
		Origin: "Black and Scholes, The pricing of options and corporate liabilities (1973); BlackScholes of the CUDA SDK",
		Papers: []string{"collange2011"},
		Run:    blackscholes,
	})
}

func blackscholes(s *Session) error {
	const rate, volatility = float32(0.02), float32(0.3)
	r := newRNG(1)
	price, strike, years := r.floats(s.N, 5, 30), r.floats(s.N, 1, 100), r.floats(s.N, 0.25, 10)
	call, put := alloc[float32](s, s.N), alloc[float32](s, s.N)
	if err := s.Launch("blackscholes", ptx.Dim(min(480, blocks(s.N, 128))), ptx.Dim(128), s.N, rate, volatility, upload(s, price), upload(s, strike), upload(s, years), call, put); err != nil {
		return err
	}
	// The reference computes in float64, with the exact normal distribution. The kernel's formula for the distribution has
	// an error of up to 7.5·10^-8. The error of lg2.approx, below 2^-22, becomes about 2·10^-6 in d1 and, multiplied by the
	// density, 10^-6 in the distribution; ex2.approx and rounding add as much. The sum is multiplied by prices of up to 100.
	normal := func(d float64) float64 { return math.Erfc(-d/math.Sqrt2) / 2 }
	wantCall, wantPut := make([]float32, s.N), make([]float32, s.N)
	for i := range wantCall {
		p, x, t, rate, volatility := float64(price[i]), float64(strike[i]), float64(years[i]), float64(rate), float64(volatility)
		spread := volatility * math.Sqrt(t)
		d1 := (math.Log(p/x) + (rate+volatility*volatility/2)*t) / spread
		discounted := x * math.Exp(-rate*t)
		wantCall[i] = float32(p*normal(d1) - discounted*normal(d1-spread))
		wantPut[i] = float32(discounted*normal(spread-d1) - p*normal(-d1))
	}
	s.Summary = fmt.Sprintf("%d options, as calls and as puts", s.N)
	if err := Close("call", interp.Slice[float32](call), wantCall, 1e-4); err != nil {
		return err
	}
	return Close("put", interp.Slice[float32](put), wantPut, 1e-4)
}
