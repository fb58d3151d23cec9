package kernels

import (
	"fmt"
	"math/bits"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "viterbi", Doc: "decoding of a convolutional code of rate 1/2 and 64 states",
		N: 128, Max: 1 << 17, SizeDoc: "frames",
		Origin: "Viterbi, Error bounds for convolutional codes (1967), for the code of Voyager (CCSDS 131.0-B); viterbi of Kim et al. 2013",
		Papers: []string{"kim2013"},
		Run:    viterbi,
	})
}

func viterbi(s *Session) error {
	const states, message, steps = 64, 192, 192 + 6 // six zeros lead back to state 0
	sent := make([]uint8, 2*states)
	for i := range sent {
		parity := func(mask int) uint8 { return uint8(bits.OnesCount(uint(i&mask)) & 1) }
		sent[i] = parity(0o171)<<1 | parity(0o133)
	}
	r := newRNG(1)
	want, received := make([]uint8, s.N*steps), make([]uint8, s.N*steps)
	wrong := 0
	for f := range s.N {
		register := 0
		for step := range steps {
			i := f*steps + step
			if step < message {
				want[i] = uint8(r.intn(2))
			}
			register = int(want[i])<<6 | register>>1
			received[i] = sent[register]
			// The code corrects errors at this distance.
			if step%16 == f%16 {
				received[i] ^= 1 << r.intn(2)
				wrong++
			}
		}
	}
	setVar(s, "sent", sent)
	dReceived, survivor, decoded := upload(s, received), alloc[uint8](s, s.N*steps*states), alloc[uint8](s, s.N*steps)
	if err := s.Launch("viterbi", ptx.Dim(blocks(s.N, 4)), ptx.Dim(32, 4), s.N, steps, dReceived, survivor); err != nil {
		return err
	}
	if err := s.Launch("viterbi_trace", ptx.Dim(blocks(s.N, 64)), ptx.Dim(64), s.N, steps, survivor, decoded); err != nil {
		return err
	}
	s.Summary = fmt.Sprintf("decoded %d frames of %d bits, corrected %d errors", s.N, message, wrong)
	return Equal("decoded", interp.Slice[uint8](decoded), want)
}
