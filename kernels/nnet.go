package kernels

import (
	"fmt"
	"math"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "nnet", Doc: "a convolutional neural network for handwritten digits",
		N: 12, Max: 1 << 12, SizeDoc: "images",
		Origin: "Simard, Steinkraus and Platt, Best practices for convolutional neural networks (ICDAR 2003): the layers and their sizes; nnet of Kim et al. 2013",
		Papers: []string{"kim2013"},
		Run:    nnet,
	})
}

// layer is a layer of the network: maps of side×side neurons, and the maps of sideBelow×sideBelow neurons in the layer below.
// A layer with side 1 is fully connected; other layers are convolutions with 5×5 weights.
type layer struct {
	maps, side, mapsBelow, sideBelow int
}

func (l layer) inputs() int { return l.mapsBelow * l.sideBelow * l.sideBelow }

func nnet(s *Session) error {
	layers := []layer{{5, 13, 1, 29}, {50, 5, 5, 13}, {100, 1, 50, 5}, {10, 1, 100, 1}}
	r := newRNG(1)
	images := digits(r, s.N, 29)
	below, want := upload(s, images), images
	for _, l := range layers {
		fan := l.inputs() // number of connections of a neuron
		if l.side > 1 {
			fan = l.mapsBelow * 25
		}
		bound := 1 / float32(math.Sqrt(float64(fan)))
		weights := r.floats(l.maps*(1+fan), -bound, bound) // not trained
		dWeights, output := upload(s, weights), alloc[float32](s, s.N*l.maps*l.side*l.side)
		var err error
		if l.side > 1 {
			err = s.Launch("nnet_conv", ptx.Dim(l.maps, s.N), ptx.Dim(l.side, l.side), l.mapsBelow, l.sideBelow, below, dWeights, output)
		} else {
			err = s.Launch("nnet_full", ptx.Dim(l.maps, s.N), ptx.Dim(1), fan, below, dWeights, output)
		}
		if err != nil {
			return err
		}
		want = l.forward(want, weights)
		below = output
	}
	got := interp.Slice[float32](below)
	votes := [10]int{}
	for i := range s.N {
		best := 0
		for d := range votes {
			if got[10*i+d] > got[10*i+best] {
				best = d
			}
		}
		votes[best]++
	}
	s.Summary = fmt.Sprintf("%d images of 29×29 pixels, classified as 0 … 9: %v", s.N, votes)
	// ex2.approx.ftz.f32 has an error of 2^-22.5, and sums have up to 1250 terms.
	return Close("out", got, want, 1e-5)
}

// forward computes the layer from the neurons below it, in float64.
func (l layer) forward(below, weights []float32) []float32 {
	fan := len(weights)/l.maps - 1
	var out []float32
	for ; len(below) > 0; below = below[l.inputs():] {
		for i := range l.maps * l.side * l.side {
			w := weights[i/(l.side*l.side)*(1+fan):][:1+fan]
			x, y := i%l.side, i/l.side%l.side
			sum := float64(w[0])
			for j, weight := range w[1:] {
				in := j
				if l.side > 1 {
					in = (j/25*l.sideBelow+2*y+j/5%5)*l.sideBelow + 2*x + j%5
				}
				sum += float64(weight) * float64(below[in])
			}
			out = append(out, float32(1.7159*math.Tanh(sum*2/3)))
		}
	}
	return out
}

// digits makes n images of side×side pixels: a curved line on an empty background.
func digits(r *rng, n, side int) []float32 {
	images := make([]float32, n*side*side)
	for i := range n {
		image := images[i*side*side:][:side*side]
		x, y := float64(side)/2, float64(side)/4
		turn, bend := 6.3*float64(r.float()), 0.3*float64(r.float())
		for range 2 * side {
			image[clamp(int(y), side)*side+clamp(int(x), side)] = 1
			x, y = x+math.Cos(turn)/2, y+math.Sin(turn)/2
			turn += bend
		}
	}
	return images
}
