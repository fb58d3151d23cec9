package machine

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gemu/internal/part"
	"gemu/internal/recount"
	"gemu/interp"
	"gemu/kernels"
	"gemu/machine/codec"
	"gemu/machine/stream"
	"gemu/probe"
	"gemu/ptx"
)

// This file counts transfers a second time, with the bursts of package recount.

// naiveBursts returns the bursts of all forms of a line.
func naiveBursts(l *stream.Line) BurstCounts {
	n := recount.BurstsOf((*[128]byte)(l))
	return BurstCounts{Once: 4, BDI: n.BDI, FPC: n.FPC, CPack: n.CPack, Bytewise: n.Bytewise, Listing: n.Listing, Best: n.Best, Raw: n.Raw}
}

// naiveCompression counts the transfers of a machine. A set of its cache of metadata is a list, the latest access last.
type naiveCompression struct {
	total    BurstCounts
	metadata MetadataCounts
	sets     map[uint64][]*naiveMetadata
	bursts   map[uint64]int64
}

type naiveMetadata struct {
	number uint64
	dirty  bool
}

// watch counts the transfers of a machine whose cache of metadata has some sets of ways lines of 32 bytes.
func (n *naiveCompression) watch(m *Machine, sets uint64, ways int) {
	n.sets, n.bursts = map[uint64][]*naiveMetadata{}, map[uint64]int64{}
	m.OnHostWrite(func(r stream.LineRange) {
		for line := range n.bursts {
			if r.First <= line && line < r.End {
				delete(n.bursts, line)
			}
		}
	})
	m.OnL2(func(a *L2Access) { // the first access finds the bytes of the host
		if _, ok := n.bursts[a.Line]; !ok {
			var line stream.Line
			if n.bursts[a.Line] = 4; a.Bytes(&line) {
				n.bursts[a.Line] = naiveBursts(&line).BDI
			}
		}
	})
	m.OnTransfer(func(t *Transfer) {
		c := BurstCounts{Once: 4, BDI: 4, FPC: 4, CPack: 4, Bytewise: 4, Best: 4, Listing: 4, Raw: 1, Unknown: 1}
		var line stream.Line
		if t.Bytes(&line) {
			c = naiveBursts(&line)
		}
		if c.Reads = 1; t.Write {
			c.Reads, c.Writes = 0, 1
		}
		n.total.Add(&c)
		n.metadata.Lookups++
		number := t.Line / 128
		set := n.sets[number%sets]
		at := slices.IndexFunc(set, func(e *naiveMetadata) bool { return e.number == number })
		entry := &naiveMetadata{number: number}
		if at >= 0 {
			n.metadata.Hits++
			entry = set[at]
			set = slices.Delete(set, at, at+1)
		} else if len(set) == ways {
			if set[0].dirty {
				n.metadata.Writes++
			}
			set = set[1:]
		}
		if before, ok := n.bursts[t.Line]; t.Write && ok && before != c.BDI {
			entry.dirty = true
		}
		if t.Write {
			n.bursts[t.Line] = c.BDI
		}
		n.sets[number%sets] = append(set, entry)
	})
}

// TestCompressionAgainstNaive counts the transfers of workloads twice.
func TestCompressionAgainstNaive(t *testing.T) {
	part.SkipShort(t)
	for name, size := range map[string]int{"backprop": 256, "nw": 64, "transpose": 64, "histogram": 1 << 14, "mandelbrot": 64, "bfs": 256, "kmeans": 256} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := small
			spec.WholeLines, spec.Metadata = true, Metadata{Bytes: 128, Ways: 4, LineBytes: 32}
			m := New(spec, 0)
			var want, further naiveCompression
			want.watch(m, 1, 4)
			further.watch(m, 2, 2)
			got := NewCompression(m)
			metadata := got.AddMetadata(Metadata{Bytes: 128, Ways: 2, LineBytes: 32})
			d := interp.NewDevice(interp.Config{Probes: []probe.Probe{stream.NewDataRecorder(m)}})
			defer d.Close()
			w := kernels.Lookup(name)
			s, err := kernels.Start(t.Context(), w, d, size)
			if err != nil {
				t.Fatal(err)
			}
			s.Prepare = func(l *interp.Launch) { l.Mode = interp.Vector }
			if err := w.Run(s); err != nil {
				t.Fatal(err)
			}
			if err := got.Verify(); err != nil {
				t.Error(err)
			}
			drained := int64(0)
			for _, b := range got.Buffers() {
				drained += b.Drain.Writes
			}
			if l := m.Launches(); 4*drained != l[len(l)-1].Dirty {
				t.Errorf("%d lines at the end, want %d sectors", drained, l[len(l)-1].Dirty)
			}
			if got.Total() != want.total || got.Metadata != want.metadata || want.metadata.Hits == 0 || want.total.Best == want.total.Bursts() {
				t.Errorf("%+v, %+v, want %+v, %+v", got.Total(), got.Metadata, want.total, want.metadata)
			}
			if *metadata != further.metadata {
				t.Errorf("%+v with two sets, want %+v", *metadata, further.metadata)
			}
		})
	}
}

// storing stores zero in the first warp, and 0x40 in the second.
const storing = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .u32 %t, %x;
	.reg .u64 %a, %p;
	mov.u32 %t, %tid.x;
	ld.param.u64 %a, [out];
	mad.wide.u32 %p, %t, 4, %a;
	mov.u32 %x, %t;
	shr.u32 %x, %x, 5;
	mul.lo.u32 %x, %x, 0x40;
	st.global.u32 [%p], %x;
	ret;
}
`

// ownCodec returns a system whose forms of lines of zeros have a number of bytes, and of all other lines 97.
func ownCodec(zeros int) *System {
	return &System{Name: "own", New: func() Parts {
		return Parts{Codec: func(_ uint64, l *codec.Line) int {
			if *l == (codec.Line{}) {
				return zeros
			}
			return 97
		}}
	}}
}

// TestDrainByHand: two lines are dirty at the end, and none is transferred. All words of the first are zero, a
// burst in each form and two (33 bytes) in that of a system, whose other forms have four (97 bytes), and of the second 0x40: a burst with BDI and byte-wise; 34 bytes with FPC and 48 with C-Pack. Freed memory, and a second
// launch on another buffer, change nothing.
func TestDrainByHand(t *testing.T) {
	spec := small
	spec.WholeLines, spec.Metadata, spec.Systems = true, Metadata{Bytes: 128, Ways: 4, LineBytes: 32}, []*System{ownCodec(33)}
	m := New(spec, 0)
	c := NewCompression(m)
	spec.Systems = []*System{ownCodec(0)}
	bad := New(spec, 0)
	wrong := NewCompression(bad)
	d := interp.NewDevice(interp.Config{Probes: []probe.Probe{stream.NewDataRecorder(stream.Consumers{m, bad})}})
	defer d.Close()
	module, err := d.Load("k.ptx", []byte(storing))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		out, err := d.Alloc(256)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := module.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(64), Args: []any{out}}); err != nil {
			t.Fatal(err)
		}
		if err := out.Free(); err != nil {
			t.Fatal(err)
		}
	}
	list := c.Buffers()
	want := BurstCounts{Writes: 2, BDI: 2, FPC: 3, CPack: 3, Bytewise: 2, Best: 2, Listing: 2, Once: 8, System: 6}
	for _, b := range list {
		if b.Drain != want || b.BurstCounts != (BurstCounts{}) || b.DrainEncodings[codec.Zeros] != 1 || b.DrainEncodings[codec.Repeat] != 1 || b.DrainByOrigin[StoredWhole].Lines != 2 {
			t.Errorf("%+v", b)
		}
	}
	if len(list) != 2 || c.Total() != (BurstCounts{}) {
		t.Errorf("%d buffers, %+v", len(list), c.Total())
	}
	if err := c.Verify(); err != nil {
		t.Error(err)
	}
	if err := wrong.Verify(); err == nil || err.Error() != "the codec of a system has returned a form of 0 bytes; want 1 to 128" {
		t.Error(err)
	}
}

// TestSizesAgainstNaive compares the bursts of lines with many structures.
func TestSizesAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	for range 20000 {
		var l stream.Line
		size := 1 << r.IntN(4)
		base, spread := r.Uint64()>>r.IntN(64), uint64(1)<<r.IntN(8*size)
		for at := 0; at < len(l); at += size {
			v := r.Uint64N(spread) - spread/2
			if r.IntN(3) > 0 {
				v += base
			}
			var word [8]byte
			binary.LittleEndian.PutUint64(word[:], v)
			copy(l[at:at+size], word[:])
		}
		b := CompressedBuffer{}
		bdi, bytewise := b.count((*codec.Line)(&l))
		got, want := b.BurstCounts, naiveBursts(&l)
		want.Once = 0 // the bytes of a line do not say whether it comes from registers
		if got != want || int64(bdi) != want.BDI || int64(bytewise) != want.Bytewise {
			t.Fatalf("%x: %+v, want %+v", l, got, want)
		}
		seen[fmt.Sprint(got)] = true
	}
	if len(seen) < 30 {
		t.Errorf("only %d combinations of bursts", len(seen))
	}
}

// TestMetadataSize has the sizes of section 5.3.2: two bits for each line of 4 GB are 8 MB. By arithmetic, a cache of 8 KB reaches 4 MB.
func TestMetadataSize(t *testing.T) {
	m := MetadataOfCABA
	if bytes := 4 << 30 / stream.LineBytes / m.Lines() * m.LineBytes; bytes != 8<<20 {
		t.Errorf("%d bytes of metadata", bytes)
	}
	if reach := m.Bytes / m.LineBytes * m.Lines() * stream.LineBytes; reach != 4<<20 {
		t.Errorf("the cache reaches %d bytes", reach)
	}
}

// TestMetadataByHand has a cache of one set of two lines, each for 128 lines of data.
func TestMetadataByHand(t *testing.T) {
	m := New(Spec{Name: "md", SMs: 1, SM: 70, L1: small.L1, L2: small.L2, Metadata: Metadata{Bytes: 64, Ways: 2, LineBytes: 32}}, 0)
	c := NewCompression(m)
	for i, a := range []struct {
		line   uint64
		write  bool
		bursts int
		want   MetadataCounts
	}{
		{0, false, 4, MetadataCounts{1, 0, 0}},
		{127, false, 4, MetadataCounts{2, 1, 0}},  // the same line of metadata
		{128, true, 3, MetadataCounts{3, 1, 0}},   // raw before: dirty
		{0, true, 4, MetadataCounts{4, 2, 0}},     // as many bursts as before: clean
		{256, false, 4, MetadataCounts{5, 2, 1}},  // 128 leaves, and is written
		{384, false, 4, MetadataCounts{6, 2, 1}},  // 0 leaves, and is not written
		{256, true, 2, MetadataCounts{7, 3, 1}},   // dirty
		{0, false, 4, MetadataCounts{8, 3, 1}},    // 384 leaves
		{512, false, 4, MetadataCounts{9, 3, 2}},  // 256 leaves
		{256, false, 2, MetadataCounts{10, 3, 2}}, // 0 leaves
	} {
		changed := c.bursts.Transfer(&Transfer{Line: a.line, Write: a.write}, a.bursts)
		if c.caches[0].lookUp(a.line, a.write, changed); c.Metadata != a.want {
			t.Fatalf("lookup %d: %+v, want %+v", i, c.Metadata, a.want)
		}
	}
}

// rawStores stores i times an odd number, which no algorithm makes smaller, to word i of a buffer.
const rawStores = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .u32 %t, %b, %n, %i, %x;
	.reg .u64 %a, %p;
	mov.u32 %t, %tid.x;
	mov.u32 %b, %ctaid.x;
	mov.u32 %n, %ntid.x;
	ld.param.u64 %a, [out];
	mad.lo.u32 %i, %b, %n, %t;
	mad.wide.u32 %p, %i, 4, %a;
	mul.lo.u32 %x, %i, 0x9e3779b1;
	st.global.u32 [%p], %x;
	ret;
}
`

// TestMetadataOfOverwrittenCopies stores 5 MB, more than the 4 MB that a cache of 8 KB reaches, by a machine whose L2 writes each store back. A write that
// leaves the bursts of a copy changes no metadata. Over zeros, which take a burst, each line of metadata changes, and all but the 256 of the cache leave it.
func TestMetadataOfOverwrittenCopies(t *testing.T) {
	const size = 5 << 20
	lines := int64(size / stream.LineBytes)
	raw := make([]byte, size)
	for i := range size / 4 {
		binary.LittleEndian.PutUint32(raw[4*i:], uint32(i)*0x85ebca6b+0x12345)
	}
	spec := small
	spec.WholeLines, spec.Metadata, spec.L2.Bytes = true, MetadataOfCABA, 0
	m := New(spec, 0)
	c := NewCompression(m)
	d := interp.NewDevice(interp.Config{Probes: []probe.Probe{stream.NewDataRecorder(m)}})
	defer d.Close()
	module, err := d.Load("k.ptx", []byte(rawStores))
	if err != nil {
		t.Fatal(err)
	}
	rawLines, err := d.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	if err := rawLines.Write(0, raw); err != nil {
		t.Fatal(err)
	}
	zeros, err := d.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	want := int64(0)
	for i, out := range []*interp.Buffer{rawLines, zeros, rawLines} {
		if _, err := module.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(size / 4 / 256), Block: ptx.Dim(256), Args: []any{out}}); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			want = lines / 128 // in the launch over zeros, or when the next one takes their places
		}
		if i == 1 {
			want -= 256
		}
		if c.Metadata.Writes != want || c.Metadata.Lookups != int64(i+1)*lines {
			t.Errorf("launch %d: %+v, want %d lines written of %d lookups", i, c.Metadata, want, int64(i+1)*lines)
		}
	}
	if total := c.Total(); total.BDI != total.Bursts() {
		t.Errorf("stored lines have forms: %+v", total)
	}
}
