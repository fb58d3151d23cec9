package papers

import (
	"context"
	"math/rand/v2"
	"testing"

	"gemu/internal/part"
	"gemu/internal/recount"
	"gemu/interp"
	"gemu/machine"
	"gemu/machine/assist"
	"gemu/machine/codec"
	"gemu/machine/stream"
	"gemu/models/gscalar"
	"gemu/probe"
	"gemu/ptx"
)

// onceSmall are programs of the library and their sizes for tests.
var onceSmall = []struct {
	workload string
	size     int
}{{"caba/sla", 1 << 13}, {"caba/mm", 64}, {"nw", 64}, {"caba/bfs", 1 << 10}}

// onceStores writes lines by encoded stores and by others. Each warp has lines of its own.
const onceStores = `.version 7.0
.target sm_70
.address_size 64
.visible .entry stores(.param .u64 to)
{
	.reg .b32 %lane, %warp, %v, %w, %odd, %back;
	.reg .b64 %base, %at, %long, %lanes, %step;
	.reg .pred %p, %first;
	ld.param.u64 %base, [to];
	mov.u32 %lane, %laneid;
	mov.u32 %warp, %ctaid.x;
	mul.wide.u32 %step, %warp, 4096;
	add.u64 %base, %base, %step;
	mul.wide.u32 %lanes, %lane, 4;
	sub.s32 %v, %lane, 16; // both signs
	add.u64 %at, %base, %lanes;
	st.global.u32 [%at], %v;
	st.global.u32 [%at+128], 77; // a constant
	mad.lo.u32 %w, %lane, 1000, 305419896;
	st.global.u32 [%at+256], %w;
	mul.wide.u32 %lanes, %lane, 8;
	add.u64 %at, %base, %lanes;
	mul.wide.s32 %long, %v, 3;
	st.global.u64 [%at+384], %long; // two lines of 64-bit numbers
	st.global.v2.u32 [%at+640], {%v, %warp};
	sub.u32 %back, 31, %lane;
	mul.wide.u32 %lanes, %back, 4;
	add.u64 %at, %base, %lanes;
	st.global.u32 [%at+896], %lane; // in reverse
	st.global.u32 [%at+1028], %lane; // no whole line
	and.b32 %odd, %lane, 1;
	setp.eq.u32 %p, %odd, 0;
	mov.u32 %w, 5;
	@%p mov.u32 %w, 6; // written by some lanes last
	st.global.u32 [%at+1280], %w;
	@%p st.global.u32 [%at+1408], %v;
	st.global.u32 [%at+1536], %v;
	add.u32 %w, %lane, 100000;
	neg.s32 %back, %w;
	selp.u32 %w, %w, %back, %p;
	st.global.u32 [%at+1664], %w; // near a number and its negative
	setp.eq.u32 %first, %lane, 0;
	@%first st.global.u8 [%at+1536], %v; // a part of a line that was encoded
	mul.wide.u32 %lanes, %lane, 16;
	add.u64 %at, %base, %lanes;
	st.global.v4.u32 [%at+2048], {%lane, %warp, 9, %v};
	mul.wide.u32 %lanes, %lane, 8;
	add.u64 %at, %base, %lanes;
	setp.lt.u32 %p, %lane, 16;
	@%p st.global.v2.u32 [%at+2560], {%lane, %warp}; // a whole line by half of the warp
	ret;
}`

// runOnceStores runs kernel stores with 24 warps twice; the host overwrites a part between the launches.
func runOnceStores(t *testing.T, probes ...probe.Probe) {
	t.Helper()
	dev := interp.NewDevice(interp.Config{Workers: 1, Probes: probes})
	defer dev.Close()
	module, err := dev.Load("stores.ptx", []byte(onceStores))
	if err != nil {
		t.Fatal(err)
	}
	to, err := dev.Alloc(24 * 4096)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if _, err := module.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(24 - 16*i), Block: ptx.Dim(32), Args: []any{to}}); err != nil {
			t.Fatal(err)
		}
		if err := to.Write(20*4096, make([]byte, 4096)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOnceAgainstNaive counts the lines of tables bursts, origin and lost a second time, from docs/compress-once.md.
func TestOnceAgainstNaive(t *testing.T) {
	part.SkipShort(t)
	found := map[string]int64{}
	t.Run("stores", func(t *testing.T) {
		compareOnce(t, found, func(probes ...probe.Probe) { runOnceStores(t, probes...) })
	})
	for _, name := range []string{"copies", "registers", "whole", "parts", "once", "zero", "sign", "words"} {
		if found[name] == 0 {
			t.Errorf("no line of stores has %s", name)
		}
	}
	m := NewMeter(t.Context(), 1, 0, nil)
	defer m.Close()
	for _, p := range onceSmall {
		t.Run(p.workload, func(t *testing.T) {
			compareOnce(t, found, func(probes ...probe.Probe) {
				if err := m.run(p.workload, p.size, func(*interp.Launch) {}, probes...); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// compareOnce compares the counts of a program with those of recount.Once, and notes in found which lines there are.
func compareOnce(t *testing.T, found map[string]int64, run func(probes ...probe.Probe)) {
	spec := onceMachine()
	spec.L2.Bytes = 32 << 10 // lines leave the L2
	on := machine.New(spec, 0)
	counts := machine.NewCompression(on)
	naive := recount.NewOnce()
	var launch uint64
	write := func() {} // of the latest access: its transfers come before it
	on.OnL2(func(a *machine.L2Access) {
		write()
		write = func() {}
		if a.Kind != probe.AccessLoad && !a.Local {
			launch, atomic, a := launch, a.Kind == probe.AccessAtomic, *a.Access
			write = func() { naive.Write(launch, a.CTA, a.Warp, a.Instr, a.Line, atomic) }
		}
	})
	var want, wantEnd [machine.Origins]machine.OriginCounts
	count := func(x *machine.Transfer, to *[machine.Origins]machine.OriginCounts) {
		of, written := naive.Origins[x.Line]
		origin := machine.StoredParts
		switch {
		case !written:
			origin, of.Bytes = machine.Copied, [3]int{128, 128, 128}
		case of.Whole && of.Shares:
			origin = machine.FromRegisters
		case of.Whole:
			origin = machine.StoredWhole
		}
		bdi, bytewise := int64(4), int64(4)
		var line stream.Line
		if x.Bytes(&line) {
			n := recount.BurstsOf((*[128]byte)(&line))
			bdi, bytewise = n.BDI, n.Bytewise
		}
		c := &to[origin]
		c.Lines++
		c.BDI += bdi
		c.Bytewise += bytewise
		for b, bytes := range of.Bytes {
			n := int64((bytes + 31) / 32)
			if c.Once[b] += n; b == 0 {
				c.ByBursts[n]++
				c.Single += map[bool]int64{true: n, false: 4}[of.Words == 1]
			}
			c.Weaker[b] += max(n-bdi, 0)
			c.Stronger[b] += max(bdi-n, 0)
			if n == 4 {
				n = bdi
			}
			c.OnceOrBDI[b] += n
		}
	}
	on.OnTransfer(func(x *machine.Transfer) { count(x, &want) })
	recorder := stream.NewDataRecorder(stream.Consumers{launchNumber{&launch}, on})
	recorder.Encode(gscalar.NewEncodings())
	run(recorder, naive)
	write()
	on.Drain(func(x *machine.Transfer) { count(x, &wantEnd) })
	if err := counts.Verify(); err != nil {
		t.Fatal(err)
	}
	if n := naive.Left(); n > 0 {
		t.Errorf("%d stores have not reached the L2", n)
	}
	var got, gotEnd [machine.Origins]machine.OriginCounts
	list := counts.Buffers()
	for i := range list {
		for o := range got {
			got[o].Add(&list[i].ByOrigin[o])
			gotEnd[o].Add(&list[i].DrainByOrigin[o])
		}
	}
	for o := range got {
		if got[o] != want[o] || gotEnd[o] != wantEnd[o] {
			t.Errorf("%s: %+v, again %+v; at the end %+v, again %+v", machine.Origin(o), got[o], want[o], gotEnd[o], wantEnd[o])
		}
		n := got[o]
		n.Add(&gotEnd[o])
		found[machine.Origin(o).String()] += n.Lines
		found["once"] += 4*n.Lines - n.Once[codec.SharedBase]
		found["zero"] += n.Once[codec.SharedBase] - n.Once[codec.ZeroBase]
		found["sign"] += n.Once[codec.ZeroBase] - n.Once[codec.SignMagnitude]
		found["words"] += n.Single - n.Once[codec.SharedBase]
	}
}

// launchNumber notes the number of the launch whose requests run.
type launchNumber struct{ of *uint64 }

func (n launchNumber) BeginLaunch(l *stream.Launch)        { *n.of = l.ID }
func (n launchNumber) CTA(l *stream.Launch, _ *stream.CTA) { *n.of = l.ID }
func (n launchNumber) EndLaunch(*stream.Launch, error)     {}

// TestAssistCostByEncoding: the instructions of a routine depend on the encodings of the previous line and of the line alone, which table assist takes
// for granted.
func TestAssistCostByEncoding(t *testing.T) {
	sandbox, err := assist.NewSandbox(assist.Standard()...)
	if err != nil {
		t.Fatal(err)
	}
	defer sandbox.Close()
	c := &onceCosts{ctx: context.Background(), sandbox: sandbox, costs: map[assistPath]int64{}}
	r := rand.New(rand.NewPCG(5, 6))
	byEncoding := map[codec.Encoding][]codec.Line{}
	for range 4000 {
		var l codec.Line
		size := 1 << r.IntN(4)
		base, spread := r.Uint64()>>r.IntN(64), uint64(1)<<r.IntN(8*size)
		for at := range codec.LineBytes {
			if at%size == 0 {
				v := r.Uint64N(spread)
				if r.IntN(3) > 0 {
					v += base
				}
				for b := range size {
					l[at+b] = byte(v >> (8 * b))
				}
			}
		}
		_, e := codec.BDI.Size(&l)
		if len(byEncoding[e]) < 8 {
			byEncoding[e] = append(byEncoding[e], l)
		}
	}
	if len(byEncoding) < int(codec.Base2Diff1) {
		t.Fatalf("%d encodings", len(byEncoding))
	}
	for e := codec.Raw; e <= codec.Base2Diff1; e++ {
		for hint := codec.Raw; hint <= codec.Base2Diff1; hint++ {
			for i := range byEncoding[e] {
				l := &byEncoding[e][i]
				key := e
				var form codec.Line
				if codec.EncodeBDI(&form, l, hint) < codec.LineBytes {
					key = codec.Encoding(form[0])
				}
				outcomes, err := sandbox.Run(t.Context(), sandbox.Store(codec.BDI), []codec.Line{*l}, []codec.Encoding{hint})
				if err != nil {
					t.Fatal(err)
				}
				if n := c.cost(assist.Store, l, hint, key); n != int64(outcomes[0].Instructions) {
					t.Errorf("%s after %s: %d instructions, and %d", key, hint, outcomes[0].Instructions, n)
				}
			}
		}
	}
	if c.err != nil {
		t.Fatal(c.err)
	}
}

// onceLoads has a kernel that stores the lane to a line, and to the first word of the next one, and a kernel that loads both lines.
const onceLoads = `.version 7.0
.target sm_70
.address_size 64
.visible .entry store(.param .u64 to)
{
	.reg .b32 %lane;
	.reg .b64 %base, %at, %lanes;
	.reg .pred %first;
	ld.param.u64 %base, [to];
	mov.u32 %lane, %laneid;
	mul.wide.u32 %lanes, %lane, 4;
	add.u64 %at, %base, %lanes;
	st.global.u32 [%at], %lane;
	setp.eq.u32 %first, %lane, 0;
	@%first st.global.u32 [%base+128], %lane;
	ret;
}
.visible .entry load(.param .u64 to)
{
	.reg .b32 %lane, %x, %y;
	.reg .b64 %base, %at, %lanes;
	ld.param.u64 %base, [to];
	mov.u32 %lane, %laneid;
	mul.wide.u32 %lanes, %lane, 4;
	add.u64 %at, %base, %lanes;
	ld.global.u32 %x, [%at];
	ld.global.u32 %y, [%at+128];
	ret;
}`

// TestOnceAssistsByHand counts the routines of an encoded line, and of a part of a raw line, which are loaded, overwritten by the host and loaded again.
// A line that the host has written is a copy: it has its form of BDI in both designs.
func TestOnceAssistsByHand(t *testing.T) {
	on := machine.New(onceMachine(), 0)
	c, err := newOnceAssists(t.Context(), on)
	if err != nil {
		t.Fatal(err)
	}
	defer c.sandbox.Close()
	recorder := stream.NewDataRecorder(on)
	recorder.Encode(gscalar.NewEncodings())
	dev := interp.NewDevice(interp.Config{Workers: 1, Probes: []probe.Probe{recorder}})
	defer dev.Close()
	module, err := dev.Load("loads.ptx", []byte(onceLoads))
	if err != nil {
		t.Fatal(err)
	}
	to, err := dev.Alloc(256)
	if err != nil {
		t.Fatal(err)
	}
	var lanes, zeros codec.Line
	for i := range 32 {
		lanes[4*i] = byte(i)
	}
	raw := make([]byte, 256)
	r := rand.New(rand.NewPCG(7, 8))
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	compress := c.cost(assist.Store, &lanes, codec.Raw, encodingOf(&lanes))
	decompress, decompressZeros := c.decompress(&lanes), c.decompress(&zeros)
	if compress == 0 || decompress == 0 || decompressZeros == 0 {
		t.Fatalf("routines of %d, %d and %d instructions", compress, decompress, decompressZeros)
	}
	var caba, once onceAssists
	for _, step := range []struct {
		name       string
		write      []byte // by the host, before the launch
		kernel     string
		caba, once onceAssists // that the launch adds
	}{
		{"stores", raw, "store", onceAssists{compress: compress}, onceAssists{}},
		{"loads of stored lines", nil, "load", onceAssists{decompress: decompress}, onceAssists{}},
		{"loads of copies", make([]byte, 256), "load", onceAssists{decompress: 2 * decompressZeros}, onceAssists{decompress: 2 * decompressZeros}},
	} {
		if step.write != nil {
			if err := to.Write(0, step.write); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := module.Run(t.Context(), &interp.Launch{Kernel: step.kernel, Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{to}}); err != nil {
			t.Fatal(err)
		}
		caba.compress, caba.decompress = caba.compress+step.caba.compress, caba.decompress+step.caba.decompress
		once.compress, once.decompress = once.compress+step.once.compress, once.decompress+step.once.decompress
		if got := c.counts(); c.err != nil || got[onceCABA] != caba || got[onceShared] != once {
			t.Errorf("%s: %+v, want %+v and %+v: %v", step.name, got, caba, once, c.err)
		}
	}
}

// encodingOf returns the encoding of the smallest form of BDI.
func encodingOf(l *codec.Line) codec.Encoding {
	_, e := codec.BDI.Size(l)
	return e
}

// onceRaw stores i times an odd number, whose lanes share no byte and which BDI does not compress, to word i of a buffer.
const onceRaw = `.version 7.0
.target sm_70
.address_size 64
.visible .entry raw(.param .u64 to)
{
	.reg .b32 %t, %b, %n, %i, %x;
	.reg .b64 %base, %at;
	ld.param.u64 %base, [to];
	mov.u32 %t, %tid.x;
	mov.u32 %b, %ctaid.x;
	mov.u32 %n, %ntid.x;
	mad.lo.u32 %i, %b, %n, %t;
	mad.wide.u32 %at, %i, 4, %base;
	mul.lo.u32 %x, %i, 0x9e3779b1;
	st.global.u32 [%at], %x;
	ret;
}`

// TestOnceMetadataOfRawLines writes 5 MB of raw lines, more than the caches of metadata reach, over copies: of raw lines, which changes the metadata of
// no design, and of zeros, whose metadata with BDI change from one burst to four, and with codec once stay raw.
func TestOnceMetadataOfRawLines(t *testing.T) {
	const size = 5 << 20
	raw := make([]byte, size)
	rand.NewChaCha8([32]byte{1}).Read(raw)
	spec := onceMachine()
	spec.L2.Bytes = 0
	on := machine.New(spec, 0)
	c := newOnceMetadata(on)
	recorder := stream.NewDataRecorder(on)
	recorder.Encode(gscalar.NewEncodings())
	dev := interp.NewDevice(interp.Config{Workers: 1, Probes: []probe.Probe{recorder}})
	defer dev.Close()
	module, err := dev.Load("raw.ptx", []byte(onceRaw))
	if err != nil {
		t.Fatal(err)
	}
	to, err := dev.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	const left = size/stream.LineBytes/128 - 256 // lines of metadata that have left their cache of 256
	for i, want := range [][onceMetadatas]int64{{}, {metadataBDI: left, metadataBDIPages: left}} {
		if err := to.Write(0, [][]byte{raw, make([]byte, size)}[i]); err != nil {
			t.Fatal(err)
		}
		if _, err := module.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(size / 4 / 256), Block: ptx.Dim(256), Args: []any{to}}); err != nil {
			t.Fatal(err)
		}
		for cache, n := range c.counts() {
			if n.Writes != want[cache] || cache == metadataBDI && n.Lookups != int64(i+1)*size/stream.LineBytes {
				t.Errorf("launch %d, cache %d: %+v, want %d lines written", i, cache, n, want[cache])
			}
		}
	}
}
