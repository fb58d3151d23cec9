package kernels

import (
	"fmt"
	"math"

	"gemu/interp"
)

func init() {
	register(&Workload{
		Name: "tpacf", Doc: "how many pairs of points of the sky there are, by their angle",
		N: 272, Max: 1 << 15, SizeDoc: "points of each of 3 sets",
		Origin: "Landy and Szalay, Bias and variance of angular correlation functions (1993); tpacf of Parboil",
		Papers: []string{"liu2017"},
		Run:    tpacf,
	})
}

func tpacf(s *Session) error {
	const sets, bins, threads = 3, 20, 256 // of the sky, and two at random
	n := s.N
	r := newRNG(1)
	var p [3][]float32 // x, y, z
	for i := range sets * n {
		height, turn := float64(2*r.float()-1), 2*math.Pi*float64(r.float())
		if i < n && i%4 > 0 { // stars are near to others
			height, turn = 0.01*height+0.5, 0.01*turn
		}
		across := math.Sqrt(1 - height*height)
		for d, v := range []float64{across * math.Cos(turn), across * math.Sin(turn), height} {
			p[d] = append(p[d], float32(v))
		}
	}
	bound := make([]float32, bins+1)
	for k := range bound { // five bins to a factor of ten, from one minute of arc
		bound[k] = float32(math.Cos(math.Pi / 180 / 60 * math.Pow(10, float64(k)/5)))
	}
	setVar(s, "bound", bound)
	count := alloc[uint32](s, (2*sets-1)*bins)
	if err := s.Launch("tpacf", interp.Dim(2*sets-1), interp.Dim(threads), n, sets, upload(s, p[0]), upload(s, p[1]), upload(s, p[2]), count); err != nil {
		return err
	}
	want := make([]uint32, (2*sets-1)*bins)
	pair := func(kind, i, j int) {
		cosine := fma32(p[2][i], p[2][j], fma32(p[1][i], p[1][j], p[0][i]*p[0][j]))
		for k := range bins {
			if bound[k] >= cosine && cosine > bound[k+1] {
				want[kind*bins+k]++
			}
		}
	}
	for i := range n {
		for set := range sets {
			for j := i + 1; j < n; j++ {
				kind := 0
				if set > 0 {
					kind = sets - 1 + set
				}
				pair(kind, set*n+i, set*n+j)
			}
			if set > 0 {
				for j := range n {
					pair(set, i, set*n+j)
				}
			}
		}
	}
	total := uint32(0)
	for _, v := range want {
		total += v
	}
	s.Summary = fmt.Sprintf("counted %d pairs of points of %d sets of %d", total, sets, n)
	return Equal("count", interp.Slice[uint32](count), want)
}
