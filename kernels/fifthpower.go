package kernels

import (
	"encoding/binary"
	"fmt"
	"math/big"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "fifthpower", Doc: "fifth powers modulo a prime of 254 bits, by chains of carries",
		N: 16384, Max: 1 << 22, SizeDoc: "numbers",
		Origin:  "Montgomery, Modular multiplication without trial division (1985); the S-box of Poseidon (Grassi et al. 2021) over BN254",
		Current: true,
		Run:     fifthpower,
	})
}

func fifthpower(s *Session) error {
	const words = 8
	prime, _ := new(big.Int).SetString("30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001", 16)
	r := newRNG(1)
	// store writes x·2^256 modulo the prime as number t of an array.
	store := func(array []uint32, t int, x *big.Int) {
		form := new(big.Int).Lsh(x, 32*words)
		var b [4 * words]byte
		form.Mod(form, prime).FillBytes(b[:])
		for i := range words {
			array[i*s.N+t] = binary.BigEndian.Uint32(b[4*(words-1-i):])
		}
	}
	in, want := make([]uint32, words*s.N), make([]uint32, words*s.N)
	five := big.NewInt(5)
	for t := range s.N {
		var b [4 * words]byte
		for i := range words / 2 {
			binary.BigEndian.PutUint64(b[8*i:], r.uint64())
		}
		x := new(big.Int).SetBytes(b[:])
		if t == 0 {
			x.Sub(prime, big.NewInt(1))
		}
		store(in, t, x)
		store(want, t, x.Exp(x, five, prime))
	}
	src, dst := upload(s, in), alloc[uint32](s, len(in))
	if err := s.Launch("fifthpower", ptx.Dim(blocks(s.N, 128)), ptx.Dim(128), s.N, src, dst); err != nil {
		return err
	}
	s.Summary = fmt.Sprintf("%d fifth powers", s.N)
	return Equal("powers", interp.Slice[uint32](dst), want)
}
