package models

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/affinetrack"
	"gemu/interp"
	"gemu/kernels"
	"gemu/regfile/gscalar"
	"gemu/regfile/model"
)

// watch runs a workload of the library with models beside each other.
func watch(t *testing.T, name string, size int, list string) (*model.Side, []*interp.Result) {
	t.Helper()
	entries, err := Parse(list)
	if err != nil {
		t.Fatal(err)
	}
	side := Beside(entries)
	dev := interp.NewDevice(interp.Config{Probes: []interp.Probe{side}})
	s, err := kernels.Start(t.Context(), kernels.Lookup(name), dev, size)
	if err != nil {
		t.Fatal(err)
	}
	s.Prepare = func(l *interp.Launch) {
		l.Mode, l.Reconverge = interp.Vector, interp.ReconvergerNamed("stack")
		l.Policy, l.Stats = affinetrack.PolicyByName("kim"), true
	}
	if err := kernels.Lookup(name).Run(s); err != nil {
		t.Fatal(err)
	}
	return side, s.Results
}

// TestBeside: what is counted by instruction adds up to what each model counts for itself, and
// models count beside others what they count alone.
func TestBeside(t *testing.T) {
	for _, c := range []struct {
		name string
		size int
	}{{"bfs", 300}, {"hotspot", 32}, {"reduce", 3000}} {
		side, results := watch(t, c.name, c.size, "kim,avc,gscalar,combined")
		total := model.Instr{Stored: make([]int64, 4), Keep: make(model.Keep, 16)}
		for _, n := range side.Instrs() {
			sum := int64(0)
			for _, k := range n.Keep {
				sum += k
			}
			if sum != n.Writes || n.Keep.Any()+n.Keep[0] != n.Writes {
				t.Errorf("%s, line %d: %d writes, %v kept", c.name, n.Pos.Line, n.Writes, n.Keep)
			}
			for i, stored := range n.Stored {
				if stored > n.Bytes || n.Keep.Alone(i) > n.Keep.Kept(i) || (n.Keep.Kept(i) == 0) != (stored == n.Bytes) {
					t.Errorf("%s, line %d: model %d stores %d of %d bytes, and keeps %d of %d", c.name, n.Pos.Line, i, stored, n.Bytes, n.Keep.Kept(i), n.Writes)
				}
			}
			total.Add(n)
		}
		if total.Writes == 0 {
			t.Errorf("%s: nothing was counted", c.name)
		}

		// The policy's own counts, of launches that were watched for themselves.
		var kim interp.Structure
		for _, r := range results {
			kim.Add(r.Structure)
		}
		b := kim.Breakdown()
		if got, want := total.Keep.Kept(0), b.RegisterWrites.Uniform+b.RegisterWrites.Affine; got != want || total.Writes != b.RegisterWrites.Total() {
			t.Errorf("%s: kim keeps %d of %d, by itself %d of %d", c.name, got, total.Writes, want, b.RegisterWrites.Total())
		}
		n := side.Models()[2].(*gscalar.Model).Counts(32)
		for i, scheme := range map[int]int{2: gscalar.Bytewise, 3: gscalar.Affine} {
			if s := n.Scheme(scheme); total.Stored[i] != s.Bytes || total.Bytes != s.Whole {
				t.Errorf("%s: model %d stores %d of %d bytes, by itself %d of %d", c.name, i, total.Stored[i], total.Bytes, s.Bytes, s.Whole)
			}
		}
		for i, name := range []string{"kim", "avc", "gscalar", "combined"} {
			alone, _ := watch(t, c.name, c.size, name)
			if diff := cmp.Diff(alone.Reports()[0], side.Reports()[i]); diff != "" {
				t.Errorf("%s: %s (-alone +beside):\n%s", c.name, name, diff)
			}
		}
	}
}

// TestWho has a value that each model keeps and others do not.
func TestWho(t *testing.T) {
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
	side := Beside(entries)
	dev := interp.NewDevice(interp.Config{})
	mod, err := dev.Load("k.ptx", []byte(kernel))
	if err != nil {
		t.Fatal(err)
	}
	l := &interp.Launch{Grid: interp.Dim(1), Block: interp.Dim(32), Args: []any{uint32(8)}, Mode: interp.Vector, Reconverge: interp.ReconvergerNamed("stack"), Probes: []interp.Probe{side}}
	if _, err := mod.Run(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	const kim, avc, bytes, both = 1, 2, 4, 8
	want := map[int]int{ // by line
		8:  kim | avc | bytes | both, // tid
		9:  kim | avc | bytes | both, // a parameter
		10: kim | bytes | both,       // a stride that is no power of two
		11: bytes | both,             // not affine, but three bytes are the same
		12: both,                     // a stride of all bytes, too wide for Kim's 16 bits
		13: 0,
		15: avc, // some lanes
	}
	for _, n := range side.Instrs() {
		set := -1
		for i, k := range n.Keep {
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

// TestFor: the cache is for warps of 32 lanes, the others for all, and of no list it is left out.
func TestFor(t *testing.T) {
	for _, e := range Known {
		for _, lanes := range []int{1, 16, 32, 64} {
			of, err := For(e.Name, lanes)
			if fits := e.Name != "avc" || lanes == 32; (err == nil) != fits || fits && (len(of) != 1 || of[0].Name != e.Name) {
				t.Errorf("%s, warps of %d: %v, %v", e.Name, lanes, of, err)
			}
		}
	}
	for lanes, want := range map[int]string{32: "kim,avc,gscalar", 64: "kim,gscalar", 1: "kim,gscalar"} {
		of, err := For("", lanes)
		if got := names(of, ","); err != nil || got != want {
			t.Errorf("warps of %d: %s, %v, want %s", lanes, got, err, want)
		}
	}
	if _, err := For("nobody", 32); err == nil {
		t.Error("a model that is none is not refused")
	}
}

// TestParse: what is wrong with lists of models is told.
func TestParse(t *testing.T) {
	for list, want := range map[string]string{
		"":                `no model ""`,
		"kim,nobody":      `no model "nobody": there are kim, avc, gscalar`,
		"gscalar,gscalar": "model gscalar is there twice",
	} {
		if _, err := Parse(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", list, err, want)
		}
	}
}
