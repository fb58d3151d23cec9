package catalog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/affinetrack"
	"gemu/interp"
	"gemu/kernels"
	"gemu/models"
	"gemu/models/gscalar"
	"gemu/probe"
	"gemu/ptx"
	"gemu/structure"
)

// runWith runs a workload of the library under several models at the same time.
func runWith(t *testing.T, name string, size int, list string) (*models.Comparison, []*interp.Result) {
	t.Helper()
	entries, err := Parse(list)
	if err != nil {
		t.Fatal(err)
	}
	side := Watch(entries)
	dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{side}})
	s, err := kernels.Start(t.Context(), kernels.Lookup(name), dev, size)
	if err != nil {
		t.Fatal(err)
	}
	s.Prepare = func(l *interp.Launch) {
		l.Mode, l.Reconverge = interp.Vector, interp.ReconvergerNamed("stack")
		l.Policy, l.Structure = affinetrack.PolicyByName("kim"), true
	}
	if err := kernels.Lookup(name).Run(s); err != nil {
		t.Fatal(err)
	}
	return side, s.Results
}

// TestModelsCountAsAlone: the counts by instruction add up to each model's totals, and a model counts the same with
// other models as alone.
func TestModelsCountAsAlone(t *testing.T) {
	for _, c := range []struct {
		name string
		size int
	}{{"bfs", 300}, {"hotspot", 32}, {"reduce", 3000}} {
		side, results := runWith(t, c.name, c.size, "kim,avc,gscalar,combined")
		total := models.InstrCounts{Stored: make([]int64, 4), Compressed: make(models.CompressedWrites, 16)}
		for _, n := range side.Instrs() {
			sum := int64(0)
			for _, k := range n.Compressed {
				sum += k
			}
			if sum != n.Writes || n.Compressed.ByAny()+n.Compressed[0] != n.Writes {
				t.Errorf("%s, line %d: %d writes, %v kept", c.name, n.Pos.Line, n.Writes, n.Compressed)
			}
			for i, stored := range n.Stored {
				if stored > n.Bytes || n.Compressed.OnlyBy(i) > n.Compressed.By(i) || (n.Compressed.By(i) == 0) != (stored == n.Bytes) {
					t.Errorf("%s, line %d: model %d stores %d of %d bytes, and keeps %d of %d", c.name, n.Pos.Line, i, stored, n.Bytes, n.Compressed.By(i), n.Writes)
				}
			}
			total.Add(n)
		}
		if total.Writes == 0 {
			t.Errorf("%s: nothing was counted", c.name)
		}

		// The policy's own counts, of separate launches.
		var kim structure.Structure
		for _, r := range results {
			kim.Add(r.Structure)
		}
		b := kim.Breakdown()
		if got, want := total.Compressed.By(0), b.RegisterWrites.Uniform+b.RegisterWrites.Affine; got != want || total.Writes != b.RegisterWrites.Total() {
			t.Errorf("%s: kim keeps %d of %d, by itself %d of %d", c.name, got, total.Writes, want, b.RegisterWrites.Total())
		}
		n := side.Models()[2].(*gscalar.Model).Counts(32)
		for i, scheme := range map[int]int{2: gscalar.Bytewise, 3: gscalar.Affine} {
			if s := n.Scheme(scheme); total.Stored[i] != s.Bytes || total.Bytes != s.FullWrites {
				t.Errorf("%s: model %d stores %d of %d bytes, by itself %d of %d", c.name, i, total.Stored[i], total.Bytes, s.Bytes, s.FullWrites)
			}
		}
		for i, name := range []string{"kim", "avc", "gscalar", "combined"} {
			single, _ := runWith(t, c.name, c.size, name)
			if diff := cmp.Diff(single.Reports()[0], side.Reports()[i]); diff != "" {
				t.Errorf("%s: %s (-alone +beside):\n%s", c.name, name, diff)
			}
		}
	}
}

// TestValueOfEachModel has, for each model, a value that only this model compresses.
func TestValueOfEachModel(t *testing.T) {
	const kernel = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u32 n)
{
	.reg .u32 %t, %r<6>;
	.reg .pred %p;
	mov.u32 %t, %tid.x;
	ld.param.u32 %r0, [n];
	mul.lo.u32 %r1, %t, 3;
	xor.b32 %r2, %t, 5;
	mul.lo.u32 %r3, %t, 0x10001000;
	mul.lo.u32 %r4, %r2, 0x01010101;
	setp.lt.u32 %p, %t, 7;
@%p	mov.u32 %r5, 9;
	setp.gt.u32 %p, %t, 99;
@%p	mov.u32 %r5, 9;
	ret;
}
`
	entries, err := Parse("kim, avc, gscalar, combined")
	if err != nil {
		t.Fatal(err)
	}
	side := Watch(entries)
	dev := interp.NewDevice(interp.Config{})
	mod, err := dev.Load("k.ptx", []byte(kernel))
	if err != nil {
		t.Fatal(err)
	}
	l := &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{uint32(8)}, Mode: interp.Vector, Reconverge: interp.ReconvergerNamed("stack"), Probes: []probe.Probe{side}}
	if _, err := mod.Run(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	const kim, avc, bytes, both = 1, 2, 4, 8
	want := map[int]int{ // by line
		8:  kim | avc | bytes | both, // tid
		9:  kim | avc | bytes | both, // a parameter
		10: kim | bytes | both,       // the stride is not a power of two
		11: bytes | both,             // not affine, but three bytes are the same
		12: both,                     // a stride of all bytes, too wide for Kim's 16 bits
		13: 0,
		15: avc, // some lanes
	}
	for _, n := range side.Instrs() {
		set := -1
		for i, k := range n.Compressed {
			if k > 0 {
				set = i
			}
		}
		if w, ok := want[int(n.Pos.Line)]; !ok || set != w || n.Writes != 1 {
			t.Errorf("line %d, %s: kept by %04b, want %04b", n.Pos.Line, n.Text, set, w)
		}
		delete(want, int(n.Pos.Line))
		// A base, or a base and a stride, of two bytes in kim and of four in combined; eight bytes in the cache.
		if tag, ok := map[int][2]int64{8: {6, 8}, 9: {4, 4}}[int(n.Pos.Line)]; ok && (n.Stored[0] != tag[0] || n.Stored[1] != 8 || n.Stored[3] != tag[1]) {
			t.Errorf("line %d, %s: stored in %v bytes", n.Pos.Line, n.Text, n.Stored)
		}
	}
	if len(want) > 0 {
		t.Errorf("lines %v have written nothing", want)
	}
}

// TestPartialWritesAreWhole: all models charge a write of some lanes together with the values of the remaining lanes.
func TestPartialWritesAreWhole(t *testing.T) {
	const kernel = `.version 8.0
.target sm_80
.address_size 64
.func f(.param .u32 n)
{
	.reg .u32 %x, %y;
	.reg .pred %p;
	ld.param.u32 %x, [n];
	setp.lt.u32 %p, %x, 7;
@%p	mov.u32 %y, 5;
@!%p	mov.u32 %y, 6;
	ret;
}
.entry k()
{
	.reg .u32 %t, %r;
	.reg .u64 %d;
	.reg .pred %p;
	.param .u32 n;
	mov.u32 %t, %tid.x;
	setp.lt.u32 %p, %t, 7;
@%p	mov.u32 %r, 9;
@!%p	mov.u32 %r, 9;
@%p	mov.u32 %r, 10;
@!%p	mov.u32 %r, 10;
@%p	add.u32 %r, %t, 0;
@!%p	add.u32 %r, %t, 0;
	mov.u64 %d, 3;
@%p	mov.u64 %d, 4;
	st.param.u32 [n], %t;
	call f, (n);
	st.param.u32 [n], %t;
	call f, (n);
	ret;
}
`
	entries, err := Parse("avc, gscalar")
	if err != nil {
		t.Fatal(err)
	}
	side := Watch(entries)
	mod, err := interp.NewDevice(interp.Config{}).Load("k.ptx", []byte(kernel))
	if err != nil {
		t.Fatal(err)
	}
	l := &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Mode: interp.Vector, Reconverge: interp.ReconvergerNamed("stack"), Probes: []probe.Probe{side}}
	if _, err := mod.Run(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	want := map[int]int64{ // bytes, by line
		10: 2 * 8,   // no further value: in the second call the first call's values are gone
		11: 2 * 128, // 5 and 6
		22: 8,       // as on line 10
		23: 8,       // the same in the remaining lanes: a single code again
		24: 128,     // 10 and 9
		25: 8,
		26: 128, // thread indices and tens
		27: 8,
		29: 128 + 8, // 4 and 3; of the high words both are 0
	}
	for _, n := range side.Instrs() {
		if w, ok := want[int(n.Pos.Line)]; ok && n.Stored[0] != w {
			t.Errorf("line %d, %s: stored in %d bytes, want %d", n.Pos.Line, n.Text, n.Stored[0], w)
		}
		delete(want, int(n.Pos.Line))
	}
	if len(want) > 0 {
		t.Errorf("lines %v have written nothing", want)
	}
}

// TestCacheAfterRestore: after a restore, a CTA of the cache has its earlier knowledge of the registers.
func TestCacheAfterRestore(t *testing.T) {
	s := &cacheSink{frames: map[frame]map[ptx.RegID]*register{}}
	write := func(lanes uint64, value uint64) int {
		v := probe.Value{Type: ptx.U32, Low: make([]uint64, 32)}
		for i := range v.Low {
			v.Low[i] = value
		}
		return s.StoredBytes(&probe.Event{Launch: &probe.LaunchInfo{WarpSize: 32}, Lanes: lanes, Writes: []probe.Value{v}}, 0)
	}
	write(0xffffffff, 5)
	state := s.Save()
	for range 3 { // later execution must not change the saved state, neither before nor after it is restored
		if got := write(0xff, 6); got != 128 {
			t.Errorf("6 in some lanes, 5 in others: %d bytes, want 128", got)
		}
		if got := write(0xffffff00, 6); got != 8 {
			t.Errorf("6 in all: %d bytes, want 8", got)
		}
		s.Restore(state)
	}
}

// TestModelsForWarpWidth: the cache supports warps of 32 lanes only, the other models all widths; the empty list omits
// unsupported models.
func TestModelsForWarpWidth(t *testing.T) {
	for _, e := range Known {
		for _, lanes := range []int{1, 16, 32, 64} {
			entries, err := Select(e.Name, lanes)
			if fits := e.Name != "avc" || lanes == 32; (err == nil) != fits || fits && (len(entries) != 1 || entries[0].Name != e.Name) {
				t.Errorf("%s, warps of %d: %v, %v", e.Name, lanes, entries, err)
			}
		}
	}
	for lanes, want := range map[int]string{32: "kim,avc,gscalar", 64: "kim,gscalar", 1: "kim,gscalar"} {
		entries, err := Select("", lanes)
		if got := joinNames(entries, ","); err != nil || got != want {
			t.Errorf("warps of %d: %s, %v, want %s", lanes, got, err, want)
		}
	}
	if _, err := Select("nobody", 32); err == nil {
		t.Error("a model that is none is not refused")
	}
}

// TestFaultyListsOfModels: faulty lists of models give errors.
func TestFaultyListsOfModels(t *testing.T) {
	for list, want := range map[string]string{
		"":                `unknown model ""`,
		"kim,nobody":      `unknown model "nobody": want some of kim, avc, gscalar`,
		"gscalar,gscalar": "model gscalar is given twice",
	} {
		if _, err := Parse(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", list, err, want)
		}
	}
}
