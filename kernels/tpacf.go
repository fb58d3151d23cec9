package kernels

import (
	"fmt"
	"math"
	"slices"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "tpacf", Doc: "number of pairs of points of the sky, by their angle",
		N: 272, Max: 1 << 15, SizeDoc: "points of each of 3 sets",
		Origin: "Landy and Szalay, Bias and variance of angular correlation functions (1993); tpacf of Parboil",
		Papers: []string{"liu2017", "thesis2019"},
		Run:    tpacf,
	})
}

func tpacf(s *Session) error {
	const sets, bins, bounds, threads = 3, 22, 31, 256 // the sets are the sky and two random sets
	n := s.N
	r := newRNG(1)
	p := make([][3]float32, sets*n)
	for i := range p {
		height, turn := float64(2*r.float()-1), 2*math.Pi*float64(r.float())
		if i < n && i%4 > 0 { // stars form clusters
			height, turn = 0.5+height/128, turn/128
		}
		across := math.Sqrt(1 - height*height)
		for d, v := range []float64{across * math.Cos(turn), across * math.Sin(turn), height} {
			p[i][d] = float32(v)
		}
	}
	bound := slices.Repeat([]float32{-2}, bounds)
	for k := range bins - 1 { // five bins for each factor of ten, from one minute of arc on
		bound[k] = float32(math.Cos(math.Pi / 180 / 60 * math.Pow(10, float64(k)/5)))
	}
	setVar(s, "bound", bound)
	dimension := func(d int) *interp.Buffer {
		v := make([]float32, len(p))
		for i := range v {
			v[i] = p[i][d]
		}
		return upload(s, v)
	}
	count := alloc[uint32](s, (2*sets-1)*bins)
	if err := s.Launch("tpacf", ptx.Dim(2*sets-1), ptx.Dim(threads), n, sets, dimension(0), dimension(1), dimension(2), count); err != nil {
		return err
	}
	want := make([]uint32, (2*sets-1)*bins)
	pair := func(kind, i, j int) {
		cosine := dot32(p[i], p[j])
		bin := 0
		for bin < bins-1 && cosine <= bound[bin] {
			bin++
		}
		want[kind*bins+bin]++
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
	near := uint32(0)
	for _, v := range want[:bins/2] {
		near += v
	}
	s.Summary = fmt.Sprintf("%d of the %d pairs of %d points are nearer to each other than %.1f degrees", near, n*(n-1)/2, n, 180/math.Pi*math.Acos(float64(bound[bins/2-1])))
	return Equal("count", interp.Slice[uint32](count), want)
}
