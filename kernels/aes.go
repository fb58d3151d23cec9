package kernels

import (
	"crypto/aes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "aes", Doc: "AES-128 encryption by tables",
		N: 1 << 14, Max: 1 << 26, SizeDoc: "blocks of 16 bytes",
		Origin: "FIPS 197, with the tables of Daemen and Rijmen, AES Proposal: Rijndael (1999), section 5.2; aes of Kim et al. 2013",
		Papers: []string{"kim2013"},
		Run:    aes128,
	})
}

func aes128(s *Session) error {
	r := newRNG(1)
	key, in := make([]byte, 16), make([]byte, 16*s.N)
	for i := range key {
		key[i] = byte(r.uint64())
	}
	for i := range in {
		in[i] = byte(r.uint64())
	}
	sbox := aesSBox()
	table := make([]uint32, 256)
	for i, v := range sbox {
		twice := uint32(aesDouble(v))
		table[i] = twice | uint32(v)<<8 | uint32(v)<<16 | (twice^uint32(v))<<24
	}
	setVar(s, "keys", aesKeys(key, sbox))
	setVar(s, "table", table)
	setVar(s, "sbox", sbox)
	src, dst := upload(s, in), alloc[uint8](s, len(in))
	if err := s.Launch("aes", ptx.Dim(blocks(4*s.N, 256)), ptx.Dim(256), s.N, src, dst); err != nil {
		return err
	}
	cipher, err := aes.NewCipher(key)
	if err != nil {
		return err
	}
	want := make([]byte, len(in))
	for i := 0; i < len(in); i += 16 {
		cipher.Encrypt(want[i:], in[i:])
	}
	s.Summary = fmt.Sprintf("encrypted %d bytes", len(in))
	return Equal("out", interp.Slice[uint8](dst), want)
}

// aesDouble multiplies by x in the field of AES.
func aesDouble(v byte) byte { return v<<1 ^ v>>7*0x1b }

// aesSBox returns SubBytes: the inverse in the field, then an affine map of its bits (FIPS 197, section 5.1.1).
func aesSBox() []byte {
	// 3 generates the field: p runs through its powers, q through their inverses.
	var inverse [256]byte
	var powers [255]byte
	p := byte(1)
	for i := range powers {
		powers[i] = p
		p ^= aesDouble(p)
	}
	for i, p := range powers {
		inverse[p] = powers[(255-i)%255]
	}
	sbox := make([]byte, 256)
	for i, v := range inverse {
		sbox[i] = v ^ bits.RotateLeft8(v, 1) ^ bits.RotateLeft8(v, 2) ^ bits.RotateLeft8(v, 3) ^ bits.RotateLeft8(v, 4) ^ 0x63
	}
	return sbox
}

// aesKeys expands a key into the words of the round keys, little-endian (FIPS 197, section 5.2).
func aesKeys(key, sbox []byte) []uint32 {
	w := make([]uint32, 44)
	round := byte(1)
	for i := range w {
		if i < 4 {
			w[i] = binary.LittleEndian.Uint32(key[4*i:])
			continue
		}
		t := w[i-1]
		if i%4 == 0 {
			t = bits.RotateLeft32(t, -8)
			t = uint32(sbox[t&255]) | uint32(sbox[t>>8&255])<<8 | uint32(sbox[t>>16&255])<<16 | uint32(sbox[t>>24])<<24
			t ^= uint32(round)
			round = aesDouble(round)
		}
		w[i] = w[i-4] ^ t
	}
	return w
}
