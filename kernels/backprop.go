package kernels

import (
	"fmt"
	"math"
	"math/bits"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "backprop", Doc: "training of a neural network with one hidden layer, with as many units as a block is wide",
		N: 1 << 12, Max: 1 << 20, SizeDoc: "input units",
		Origin: "Rumelhart, Hinton and Williams, Learning representations by back-propagating errors (Nature 1986); backprop of Rodinia",
		Papers: []string{"collange2011", "liu2017", "thesis2019"},
		Blocks: []int{16, 32},
		Run:    backprop,
	})
}

func backprop(s *Session) error {
	const rounds = 2
	side := s.Block
	levels := bits.Len(uint(side)) - 1 // of the tree that sums the products of a tile
	const rate, momentum, target = float32(0.3), float32(0.3), 0.9
	tiles := blocks(s.N, side)
	units := tiles * side
	r := newRNG(1)
	in := make([]float32, 1+units) // elements beyond N are 0
	copy(in, r.floats(1+s.N, 0, 1))
	in[0] = 1
	bound := 1 / float32(math.Sqrt(float64(s.N)))
	// before has the change of each weight in the round before.
	weight, before := r.floats((1+units)*(side+1), -bound, bound), make([]float32, (1+units)*(side+1))
	output := r.floats(1+side, -1, 1) // weights from the hidden units to the output
	dIn, dWeight, dBefore := upload(s, in), upload(s, weight), upload(s, before)
	partial, dDelta := alloc[float32](s, units), alloc[float32](s, 1+side)
	for range rounds {
		if err := s.Launch("backprop_forward", ptx.Dim(tiles), ptx.Dim(side, side), levels, dIn, dWeight, partial); err != nil {
			return err
		}
		// The host computes the output and the errors of the hidden units.
		got, w := interp.Slice[float32](partial), interp.Slice[float32](dWeight)
		delta, _ := deltas(got, w, output, target)
		copy(interp.Slice[float32](dDelta), delta)
		if err := s.Launch("backprop_adjust", ptx.Dim(tiles), ptx.Dim(side, side), rate, momentum, dIn, dDelta, dWeight, dBefore); err != nil {
			return err
		}
	}
	var out float64
	for range rounds {
		sums := make([]float32, units)
		for i := range sums {
			tile, j := i/side, i%side
			tree := make([]float32, side)
			for k := range tree {
				unit := tile*side + k + 1
				tree[k] = weight[unit*(side+1)+j+1] * in[unit]
			}
			for span := 2; span <= side; span *= 2 {
				for k := 0; k < side; k += span {
					tree[k] += tree[k+span/2]
				}
			}
			sums[i] = tree[0]
		}
		var delta []float32
		delta, out = deltas(sums, weight, output, target)
		for i := range weight {
			unit, j := i/(side+1), i%(side+1)
			if j > 0 {
				before[i] = fma32(momentum, before[i], rate*delta[j]*in[unit])
				weight[i] += before[i]
			}
		}
	}
	s.Summary = fmt.Sprintf("%d input units, an output of %.4f after %d rounds", s.N, out, rounds)
	if err := Equal("weight", interp.Slice[float32](dWeight), weight); err != nil {
		return err
	}
	return Equal("change", interp.Slice[float32](dBefore), before)
}

// deltas returns the output of the network and the error of each hidden unit, from the partial sums of tiles of input
// units, the weights of the bias (the first row of weight), and the weights to the output.
func deltas(partial, weight, output []float32, target float64) (delta []float32, out float64) {
	side := len(output) - 1
	hidden := make([]float64, 1+side)
	hidden[0] = 1
	sum := float64(output[0])
	for j := 1; j <= side; j++ {
		h := float64(weight[j])
		for i := j - 1; i < len(partial); i += side {
			h += float64(partial[i])
		}
		hidden[j] = 1 / (1 + math.Exp(-h))
		sum += float64(float64(output[j]) * hidden[j])
	}
	out = 1 / (1 + math.Exp(-sum))
	delta = make([]float32, 1+side)
	for j := 1; j <= side; j++ {
		delta[j] = float32(hidden[j] * (1 - hidden[j]) * float64(output[j]) * out * (1 - out) * (target - out))
	}
	return delta, out
}
