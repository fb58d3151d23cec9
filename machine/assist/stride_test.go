package assist

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/machine/codec"
)

// strideEntry is an entry of the table of a warp, for TestStride.
type strideEntry struct {
	instr  uint32
	last   uint64 // number of the line
	stride int64  // in lines
}

// TestStride compares stride_ahead with a table in Go for random loads: those with a stride, with a repeated line, and with any line. Instructions
// share entries.
func TestStride(t *testing.T) {
	s, err := NewSandbox(Stride())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := s.Miss()
	random := rand.New(rand.NewPCG(part.Seed(t), 0))
	var register codec.Line
	table := map[uint32]*strideEntry{}
	next := map[uint32]uint64{}
	strides := map[uint32]int64{}
	used := 0
	for range part.Count(500, 3000, 100_000) {
		instr := []uint32{0, 3, 7, 8, 11, 1000}[random.IntN(6)]
		if random.IntN(8) == 0 || next[instr] == 0 {
			next[instr], strides[instr] = 1<<20+random.Uint64()%(1<<36), random.Int64N(9)-4
			if random.IntN(8) == 0 {
				strides[instr] = random.Int64N(1<<20) - 1<<19
			}
		}
		line := next[instr]
		next[instr] += uint64(strides[instr])

		var want []uint64
		e := table[instr%8]
		if e == nil || e.instr != instr {
			table[instr%8] = &strideEntry{instr: instr, last: line}
		} else {
			stride := int64(line - e.last)
			stride = int64(int32(stride)) // the routine has the lines modulo 2^32
			if stride == e.stride && stride != 0 {
				want = []uint64{(line + uint64(stride)) * codec.LineBytes, (line + uint64(2*stride)) * codec.LineBytes}
				used++
			}
			*e = strideEntry{instr, line, stride}
		}
		o, err := s.RunMiss(t.Context(), r, &register, line*codec.LineBytes, instr)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(o.Ahead, want) {
			t.Fatalf("instruction %d, line %#x: %#x, want %#x", instr, line, o.Ahead, want)
		}
		if o.Instructions != 23 { // those of the text, which has no branch
			t.Fatalf("%d instructions", o.Instructions)
		}
	}
	if used < 50 {
		t.Errorf("%d loads with a stride", used)
	}
}

// TestWrongMisses: a routine for misses that returns too many addresses, that never ends, or that writes past its places is an error.
func TestWrongMisses(t *testing.T) {
	for body, want := range map[string]string{
		"\tmov.u32 %count, 17;\n\tret;\n":                               "f returns 17 addresses: want at most 16",
		"\tmov.u32 %count, -1;\n\tret;\n":                               "f returns -1 addresses: want at most 16",
		"L:\n\tbra L;\n":                                                "p.ptx:8:2: trap in kernel gemu_assist_f: endless loop",
		"\tst.b64 [%addresses+128], 0;\n\tmov.u32 %count, 0;\n\tret;\n": "p.ptx:7:2: trap in kernel gemu_assist_f: out-of-bounds generic store of 8 bytes",
		"\tst.b32 [%register+-4], 0;\n\tmov.u32 %count, 0;\n\tret;\n":   "p.ptx:7:2: trap in kernel gemu_assist_f: out-of-bounds generic store of 4 bytes",
	} {
		s, err := NewSandbox(Source{"p.ptx", []byte(head + ".func (.reg .b32 %count) f(.reg .b64 %register, .reg .b64 %addresses, .reg .b64 %address, .reg .b32 %instruction)\n{\n\t.pragma \"gemu.assist priority=low trigger=miss:l1\";\n" + body + "}\n")})
		if err != nil {
			t.Fatal(err)
		}
		var register codec.Line
		if _, err := s.RunMiss(t.Context(), s.Miss(), &register, 128, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", body, err, want)
		}
		s.Close()
	}
}
