package avc

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

const allLanes = ^uint32(0)

// lanes makes a vector of a function.
func lanes(f func(i uint32) uint32) (d Vector) {
	for i := range d {
		d[i] = f(uint32(i))
	}
	return d
}

// TestClassesOfThePaper has the examples of sections 2.3 and 3: listing 1's variables, 16-wide blocks, the valid
// strides and bases.
func TestClassesOfThePaper(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(i uint32) uint32
		m    uint32
		want Class
		xor  bool
	}{
		{"nothing", func(i uint32) uint32 { return 0 }, allLanes, Zero, true},
		{"alpha", func(i uint32) uint32 { return 7 }, allLanes, Uniform, true},
		{"i of saxpy", func(i uint32) uint32 { return 64 + i }, allLanes, Affine, true},
		{"its address", func(i uint32) uint32 { return 0x1000 + 4*i }, allLanes, Affine, true},
		{"an odd base", func(i uint32) uint32 { return 1 + i }, allLanes, Affine, false}, // 1 xor 2 is 3
		{"a base that is no multiple", func(i uint32) uint32 { return 2 + 4*i }, allLanes, Generic, true},
		{"stride 3", func(i uint32) uint32 { return 3 * i }, allLanes, Generic, false},
		{"stride -1", func(i uint32) uint32 { return 31 - i }, allLanes, Generic, false},
		{"stride 64", func(i uint32) uint32 { return 64 * i }, allLanes, Affine, true},
		{"stride 128", func(i uint32) uint32 { return 128 * i }, allLanes, Generic, false},
		{"blocks of 16 wide", func(i uint32) uint32 { return i%16 + 100*(i/16) }, allLanes, Generic, false},
		{"one row of them", func(i uint32) uint32 { return i%16 + 100*(i/16) }, 0xffff0000, Affine, true},
		{"one lane", func(i uint32) uint32 { return i * i }, 1 << 9, Uniform, true},
		{"two lanes", func(i uint32) uint32 { return i * i }, 1<<9 | 1<<11, Generic, false},
		{"wrapping round", func(i uint32) uint32 { return 0xfffffff0 + i }, allLanes, Affine, true},
		{"inactive lanes", func(i uint32) uint32 { return i & 1 }, 0x55555555, Zero, true},
	} {
		d := lanes(c.f)
		if got := Classify(&d, c.m); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if _, got := EncodeXor(&d, c.m); got != c.xor {
			t.Errorf("%s: the xor encoder finds it: %v, want %v", c.name, got, c.xor)
		}
	}
}

// TestEncoderTriesAllStrides compares the encoder with trying all strides.
func TestEncoderTriesAllStrides(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		m := r.Uint32() & r.Uint32()
		if r.IntN(2) == 0 {
			m |= r.Uint32()
		}
		if m == 0 {
			continue
		}
		step, base := uint32(1)<<r.IntN(9)>>1, r.Uint32()
		if r.IntN(2) == 0 && step > 0 {
			base = base / step * step
		}
		d := lanes(func(i uint32) uint32 { return base + i*step })
		if r.IntN(4) == 0 {
			d[r.IntN(32)]++
		}
		want, found := Code{}, false
		first := bits.TrailingZeros32(m)
		for shift := range uint8(8) {
			s := []uint32{0, 1, 2, 4, 8, 16, 32, 64}[shift]
			b := d[first] - uint32(first)*s
			fits := s == 0 || b%s == 0
			for i := range d {
				fits = fits && (m>>i&1 == 0 || d[i] == b+uint32(i)*s)
			}
			if fits && !found {
				want, found = Code{b, shift}, true
			}
		}
		got, ok := Encode(&d, m)
		if ok != found || ok && got != want {
			t.Fatalf("%#x of %#x: %v %v, want %v %v", m, d, got, ok, want, found)
		}
		if ok && !got.Holds(&d, m) {
			t.Fatalf("%v is not %#x", got, d)
		}
		decoded := got.Decode()
		for i := range d {
			if ok && m>>i&1 != 0 && decoded[i] != d[i] {
				t.Fatalf("%v gives lane %d back as %#x, want %#x", got, i, decoded[i], d[i])
			}
		}
	}
}

// TestLineOfAnyStride: a line of any stride and base is found from any lanes, and returns the lanes' values.
func TestLineOfAnyStride(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for k := range 20000 {
		m, from, step := r.Uint32()&r.Uint32()&r.Uint32(), r.Uint32(), r.Uint32()
		if k == 0 {
			m, from, step = 0b1101, 0, ^uint32(0) // 0, 2 and 3: the first two are an even distance apart
		}
		if m == 0 {
			continue
		}
		d := lanes(func(i uint32) uint32 { return from + i*step })
		base, got, ok := line(&d, m)
		if !ok {
			t.Fatalf("%#x + i·%#x in lanes %#x: no line", from, step, m)
		}
		for remaining := m; remaining != 0; remaining &= remaining - 1 {
			if i := bits.TrailingZeros32(remaining); base+uint32(i)*got != d[i] {
				t.Fatalf("%#x + i·%#x in lanes %#x: %#x + i·%#x", from, step, m, base, got)
			}
		}
	}
}

// TestCacheProtocol follows algorithms 1 and 2 through the cases of section 4.3, by hand.
func TestCacheProtocol(t *testing.T) {
	tid, twice, generic := lanes(func(i uint32) uint32 { return i }), lanes(func(i uint32) uint32 { return 2 * i }), lanes(func(i uint32) uint32 { return i * i * i })
	const low, high = 0xffff, 0xffff0000
	for _, c := range []struct {
		name string
		do   func(c *Caches)
		want Stats
	}{
		{"an affine store and load", func(c *Caches) { c.Write(0, allLanes, &tid); c.Read(0, allLanes) },
			Stats{Writes: 1, AVCWrites: 1, Reads: 1, Lookups: 1, AVCHits: 1}},
		{"a generic store and load", func(c *Caches) { c.Write(0, allLanes, &generic); c.Read(0, allLanes) },
			Stats{Writes: 1, L1Writes: 1, Reads: 1, Lookups: 1, L1Hits: 1}},
		{"figure 5, a partial miss", func(c *Caches) { c.Write(0, low, &tid); c.Read(0, allLanes) },
			Stats{Writes: 1, AVCWrites: 1, Reads: 1, Lookups: 2, AVCHits: 1, Replays: 1, Fills: 1, Conflicts: 1, WriteBacks: 1}}, // memory has zeros, which is another code
		{"half in each", func(c *Caches) { c.Write(0, low, &tid); c.Write(0, high, &generic); c.Read(0, allLanes) },
			Stats{Writes: 2, AVCWrites: 1, L1Writes: 1, Reads: 1, Lookups: 2, AVCHits: 1, Replays: 1, L1Hits: 1}},
		{"the same code in two parts", func(c *Caches) { c.Write(0, low, &tid); c.Write(0, high, &tid); c.Read(0, allLanes) },
			Stats{Writes: 2, AVCWrites: 2, Reads: 1, Lookups: 1, AVCHits: 1}},
		{"a conflict", func(c *Caches) { c.Write(0, low, &tid); c.Write(0, high, &twice); c.Read(0, high) },
			Stats{Writes: 2, AVCWrites: 2, Conflicts: 1, WriteBacks: 1, Reads: 1, Lookups: 1, AVCHits: 1}},
		{"a conflict with part of it in L1", func(c *Caches) {
			c.Write(0, 0xff, &generic)
			c.Write(0, 0xff00, &tid)
			c.Write(0, high, &twice)
			c.Read(0, 0xff)
		}, Stats{Writes: 3, L1Writes: 1, AVCWrites: 2, Conflicts: 1, WriteBacks: 1, Reads: 1, Lookups: 1, Fills: 1}},
		{"a conflict with what is dirty in L1 only", func(c *Caches) { c.Read(0, low); c.Write(0, 0xff0000, &generic); c.Write(0, 0xff000000, &tid) },
			Stats{Reads: 1, Lookups: 1, Fills: 1, Writes: 2, L1Writes: 1, AVCWrites: 1, Conflicts: 1, WriteBacks: 1}},
		{"another code over all of it", func(c *Caches) { c.Write(0, low, &tid); c.Write(0, allLanes, &twice) },
			Stats{Writes: 2, AVCWrites: 2}},
		{"a generic store over an affine one", func(c *Caches) { c.Write(0, allLanes, &tid); c.Write(0, allLanes, &generic); c.Read(0, allLanes) },
			Stats{Writes: 2, AVCWrites: 1, L1Writes: 1, Reads: 1, Lookups: 1, L1Hits: 1}},
		{"an affine store over a generic one", func(c *Caches) { c.Write(0, allLanes, &generic); c.Write(0, allLanes, &tid); c.Read(0, allLanes) },
			Stats{Writes: 2, AVCWrites: 1, L1Writes: 1, Reads: 1, Lookups: 1, AVCHits: 1}},
		{"a line of the AVC that leaves takes its vectors along", func(c *Caches) {
			for k := range uint64(3) { // three lines of one set of two ways
				c.Write(k*Sets*LineVectors, allLanes, &tid)
				c.Write(k*Sets*LineVectors+1, allLanes, &twice)
			}
		}, Stats{Writes: 6, AVCWrites: 6, WriteBacks: 2}},
	} {
		caches := NewCaches(Configs[2])
		c.do(caches)
		if diff := cmp.Diff(c.want, caches.Stats); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestDirtyWordMovesToAVC: a dirty word of L1 that becomes affine together with a word from memory is dirty in the AVC.
func TestDirtyWordMovesToAVC(t *testing.T) {
	c := NewCaches(Configs[2])
	c.Write(0, 0b1011, &Vector{9, 7, 0, 5})
	for k := range uint64(4) { // other blocks of its set
		c.Write((k+1)*Sets, 0b111, &Vector{1, 5, 2})
	}
	c.Write(0, 0b0111, &Vector{5, 7, 1})
	c.Read(0, 0b1001) // 5 and 5
	c.Write(0, 0b0110, &Vector{0, 1, 2})
	if got := c.Read(0, 1); got[0] != 5 {
		t.Errorf("%d, want 5", got[0])
	}
}

// TestOrderOfWarps has the order in which warps of 5, 2 and 3 instructions run on two slots: the numbers are
// slot, warp and step.
func TestOrderOfWarps(t *testing.T) {
	var warps []*Warp
	for i, n := range []int64{5, 2, 3} {
		w := &Warp{Instructions: n, index: i}
		for step := range w.Instructions {
			w.Accesses = append(w.Accesses, Access{Step: step, codeIndex: -1})
		}
		warps = append(warps, w)
	}
	for _, c := range []struct {
		schedule Schedule
		want     [][3]int
	}{
		{Schedule{Regs: 256}, [][3]int{{0, 0, 0}, {1, 1, 0}, {0, 0, 1}, {1, 1, 1}, {0, 0, 2}, {1, 2, 0}, {0, 0, 3}, {1, 2, 1}, {0, 0, 4}, {1, 2, 2}}},
		{Schedule{Regs: 256, Greedy: true}, [][3]int{{0, 0, 0}, {0, 0, 1}, {0, 0, 2}, {0, 0, 3}, {0, 0, 4}, {1, 1, 0}, {1, 1, 1}, {0, 2, 0}, {0, 2, 1}, {0, 2, 2}}},
		{Schedule{Regs: 512}, [][3]int{{0, 0, 0}, {0, 0, 1}, {0, 0, 2}, {0, 0, 3}, {0, 0, 4}, {0, 1, 0}, {0, 1, 1}, {0, 2, 0}, {0, 2, 1}, {0, 2, 2}}},
	} {
		r := &replay{schedule: c.schedule, frameBlocks: LineVectors}
		var got [][3]int
		if err := r.runLaunch(&Recording{Warps: warps, PerCTA: 1}, func(slotIndex int, s *slot) error {
			got = append(got, [3]int{slotIndex, s.warp.index, int(s.warp.Accesses[s.next].Step)})
			s.next++
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.schedule, diff)
		}
	}
}

// TestCachesKeepMemory stores and loads at random and compares with a plain memory; counters add up, and no
// word is valid in both caches.
func TestCachesKeepMemory(t *testing.T) {
	configs := append([]Config{}, Configs...)
	for _, c := range Configs {
		c.LRU = true
		configs = append(configs, c)
	}
	for _, config := range configs {
		r := rand.New(rand.NewPCG(3, uint64(config.AVC)))
		c := NewCaches(config)
		memory := map[uint64]*Vector{}
		for n := range 60000 {
			block := uint64(r.IntN(40))*Sets + uint64(r.IntN(3))
			m := []uint32{allLanes, 0xffff, r.Uint32(), 1 << r.IntN(32)}[r.IntN(4)]
			if memory[block] == nil {
				memory[block] = new(Vector)
			}
			if r.IntN(2) == 0 {
				d := []Vector{lanes(func(i uint32) uint32 { return i << r.IntN(3) }), lanes(func(uint32) uint32 { return uint32(n) }), lanes(func(i uint32) uint32 { return i }), {}}[r.IntN(4)]
				c.Write(block, m, &d)
				merge(memory[block], &d, m)
				continue
			}
			got := c.Read(block, m)
			for i := range got {
				if m>>i&1 != 0 && got[i] != memory[block][i] {
					t.Fatalf("%+v, request %d: block %d lane %d: %#x, want %#x", config, n, block, i, got[i], memory[block][i])
				}
			}
		}
		s := &c.Stats
		if s.Lookups != s.AVCHits+s.L1Hits+s.Fills || s.Lookups != s.Reads+s.Replays || s.Writes != s.AVCWrites+s.L1Writes || s.WriteBacks == 0 || s.Fills == 0 {
			t.Errorf("%+v: %+v", config, s)
		}
		if config.AVC == 0 && s.AVCHits+s.AVCWrites+s.Conflicts+s.Replays > 0 || config.AVC > 0 && (s.AVCHits == 0 || s.Conflicts == 0 || s.Replays == 0) {
			t.Errorf("%+v: %+v", config, s)
		}
		c.l1.All(func(block uint64, line *l1Line) {
			if v := c.peek(block); line.dirty&^line.valid != 0 || v != nil && v.valid&line.valid != 0 {
				t.Errorf("%+v: block %d is valid in both, or dirty and not valid", config, block)
			}
		})
	}
}

// TestTransactionsOfBytes: lanes that access several bytes of a word make one transaction; lanes that access two words
// make two.
func TestTransactionsOfBytes(t *testing.T) {
	const kernel = `.version 8.0
.target sm_80
.address_size 64
.entry k()
{
	.local .align 8 .b8 frame[8];
	.reg .u32 %t, %f;
	.reg .u64 %w;
	mov.u32 %t, %tid.x;
	and.b32 %t, %t, 7;
	mov.u32 %f, frame;
	add.u32 %f, %f, %t;
	cvt.u64.u32 %w, %f;
	st.local.u8 [%w], %t;
	ret;
}
`
	mod, err := interp.NewDevice(interp.Config{}).Load("k.ptx", []byte(kernel))
	if err != nil {
		t.Fatal(err)
	}
	r := &Recorder{Warps: 1}
	if _, err := mod.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Probes: []probe.Probe{r}}); err != nil {
		t.Fatal(err)
	}
	k := r.Kernels()[0]
	var masks []uint32
	for _, a := range k.Launches[0].Warps[0].Accesses {
		masks = append(masks, a.Mask)
	}
	if diff := cmp.Diff([]uint32{0x0f0f0f0f, 0xf0f0f0f0}, masks); diff != "" || k.Transactions() != 2 {
		t.Errorf("%d transactions (-want +got):\n%s", k.Transactions(), diff)
	}
}

const kernel = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.local .align 8 .b8 frame[32];
	.reg .u32 %t, %x, %y, %f;
	.reg .u64 %o, %w;
	.reg .pred %q;
	mov.u32 %t, %tid.x;
	mul.lo.u32 %x, %t, %t;
	st.local.u32 [frame], %t;
	st.local.u32 [frame+4], %x;
	ld.param.u64 %o, [out];
	st.local.u64 [frame+8], %o;
	setp.lt.u32 %q, %t, 5;
	@%q ld.local.u32 %y, [frame];
	and.b32 %f, %t, 1;
	shl.b32 %f, %f, 2;
	mov.u32 %x, frame;
	add.u32 %f, %f, %x;
	cvt.u64.u32 %w, %f;
	ld.local.u32 %y, [%w];
	st.global.u32 [%o], %y;
	ret;
}
`

// TestCountsOfRecorder compares counts with those worked by hand: of each warp, %t is affine, its square generic,
// the address of 64 bits two words of which the low one is uniform and the high one zero;
// the last load has even lanes load %t, which the xor encoder does not find, and odd ones squares.
func TestCountsOfRecorder(t *testing.T) {
	dev := interp.NewDevice(interp.Config{})
	mod, err := dev.Load("k.ptx", []byte(kernel))
	if err != nil {
		t.Fatal(err)
	}
	b, err := dev.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	r := &Recorder{Warps: 4}
	if _, err := mod.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(3), Block: ptx.Dim(64), Args: []any{b}, Probes: []probe.Probe{r}}); err != nil {
		t.Fatal(err)
	}
	k := r.Kernels()[0]
	// Of the second warp of a CTA no lane is below 5: it loads one word less.
	want := Counts{
		Instructions: 6 * 16, Global: 6, NonDense: 6,
		Stores: [Classes]int64{Zero: 6, Uniform: 6, Affine: 6, Generic: 6},
		Loads:  [Classes]int64{Affine: 3 + 6, Generic: 6},
		First:  [Classes]int64{Uniform: 6, Affine: 6 + 3 + 6, Generic: 6 + 6},
		Xor:    6 + 6 + 6 + 3,
	}
	if diff := cmp.Diff(want, k.Counts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	compressed := &Recorder{Warps: 2, RecordedOnly: true}
	if _, err := mod.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(3), Block: ptx.Dim(64), Args: []any{b}, Probes: []probe.Probe{compressed}}); err != nil {
		t.Fatal(err)
	}
	if k := compressed.Kernels()[0]; k.Instructions != 2*16 || k.Transactions() != want.Transactions()/3 || len(k.Launches[0].Warps) != 2 {
		t.Errorf("kept only: %+v", k)
	}
	if len(k.Launches) != 1 || len(k.Launches[0].Warps) != 4 || k.Launches[0].PerCTA != 2 {
		t.Fatalf("%+v", k.Launches)
	}
	for _, s := range []Schedule{{Regs: 10}, {Regs: 512}, {Regs: 10, Greedy: true}, {Regs: 512, WarpByWarp: true}, {Regs: 512, WholeCTAs: true}} {
		list, err := ReplayAll(k, s, Configs...)
		if err != nil {
			t.Fatal(err)
		}
		little, err := Negligible(k, s, 1e-4, Configs...)
		if err != nil || slices.Contains(little, false) {
			t.Errorf("%+v: %v, %v, want little traffic of what fits", s, little, err)
		}
		for i, o := range list {
			if single, err := Replay(k, Configs[i], s); err != nil || *single != o {
				t.Errorf("%+v %+v: alone %+v, %v", Configs[i], s, single, err)
			}
			if o.Reads != 2*4+2 || o.Writes != 4*4 || o.Instructions != 4*16 {
				t.Errorf("%+v %+v: %+v", Configs[i], s, o)
			}
			if o.Traffic() != 0 {
				t.Errorf("%+v %+v: traffic of what fits: %+v", Configs[i], s, o)
			}
		}
	}
}

// TestWorkingSet counts by hand: %b, %c and %d are wanted at once and generic, %a is not wanted then and
// %e uniform again. Where one lane goes nothing is generic.
func TestWorkingSet(t *testing.T) {
	const kernel = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .u32 %t, %a, %b, %c, %d, %e;
	.reg .u64 %o, %w;
	.reg .pred %q;
	mov.u32 %t, %tid.x;
	ld.param.u64 %o, [out];
	setp.eq.u32 %q, %t, 3;
@%q	bra L;
	mul.lo.u32 %a, %t, %t;
	mul.lo.u32 %b, %a, 7;
	st.global.u32 [%o], %a;
	mul.lo.u32 %e, %b, 3;
	st.global.u32 [%o], %e;
	mov.u32 %e, 5;
	mul.lo.u32 %c, %b, 11;
	mul.lo.u32 %d, %c, 13;
	mov.u32 %a, 6;
	add.u32 %a, %a, %e;
	add.u32 %a, %a, %b;
	add.u32 %a, %a, %c;
	add.u32 %a, %a, %d;
	st.global.u32 [%o], %a;
	ret;
L:
	mul.lo.u32 %a, %t, %t;
	mul.wide.u32 %w, %a, 5;
	mul.lo.u32 %b, %a, 7;
	mul.lo.u32 %c, %a, 9;
	st.global.v4.u32 [%o], {%a, %b, %c, %c};
	st.global.u64 [%o], %w;
	ret;
}
`
	dev := interp.NewDevice(interp.Config{})
	mod, err := dev.Load("k.ptx", []byte(kernel))
	if err != nil {
		t.Fatal(err)
	}
	b, err := dev.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	for warps, want := range []int{0, 3} {
		p := &WorkingSet{Warps: warps}
		if _, err := mod.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(2), Block: ptx.Dim(32), Args: []any{b}, Probes: []probe.Probe{p}, Reconverge: interp.ReconvergerNamed("stack")}); err != nil {
			t.Fatal(err)
		}
		if got := p.Generic("k"); got != want {
			t.Errorf("%d warps: %d generic at once, want %d", warps, got, want)
		}
	}
}
