package cases

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/ptx"
)

// TestBinary16RoundTrip: conversions from and to binary16 are inverse, for all values.
func TestBinary16RoundTrip(t *testing.T) {
	for b := range uint64(1 << 16) {
		v := halfValue(b)
		got, err := halfBits(v)
		if err != nil || got != b && v == v {
			t.Fatalf("%#x has value %v, whose bits are %#x, %v", b, v, got, err)
		}
	}
	for _, f := range []float64{65536, 1e-9, 0.1, math.MaxFloat64} {
		if b, err := halfBits(f); err == nil {
			t.Errorf("%v is binary16 %#x", f, b)
		}
	}
}

// TestReadCases shows the cases that comments of a PTX file describe.
func TestReadCases(t *testing.T) {
	got, err := Read("// run block=8x4 grid=2 shared=64 warp=16: k(u8{1..3 7*2}, -1) == s32 0 0x10\n\n  // trap: k$(nan) \"text\"\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []Case{
		{Line: 1, Kernel: "k", Args: []string{"u8{1..3 7*2}", "-1"}, Type: ptx.S32, Want: []string{"0", "0x10"}, Blocks: []Extent{{8, 4, 1}}, Grid: Extent{2, 1, 1}, Shared: 64, Widths: []int{16}},
		{Line: 3, Kernel: "k$", Args: []string{"nan"}, Trap: "text", Blocks: []Extent{{1, 1, 1}, {7, 1, 1}, {32, 1, 1}}, Grid: Extent{1, 1, 1}, Widths: []int{32, 4, 8, 16, 64, 1}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for src, text := range map[string]string{
		"// run k() == u32 1":          `line 1: cannot read "// run k() == u32 1"`,
		"\n// run: k() == u31 1":       "line 2: no type u31",
		"// run: add3(1,2,3) == 6":     `line 1: the type of the result 6 is missing: write it after ==, as in "== u32 6"`,
		"// run: k() == 1..3 2*7":      `line 1: the type of the result 1..3 2*7 is missing`,
		"// run: k() == 1.5":           `line 1: the type of the result 1.5 is missing`,
		"// run: k() == -1 nan":        `line 1: the type of the result -1 nan is missing`,
		"// run: k() == 0f3f800000":    `line 1: the type of the result 0f3f800000 is missing`,
		"// run: k() == u32":           `line 1: cannot read "// run: k() == u32"`,
		"// run blocks=3: k() == u8 1": "line 1: unknown option blocks",
	} {
		if _, err := Read(src); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v, want %s", src, err, text)
		}
	}
}

// TestArgumentsOfCases: buffers and numbers become memory, and differences of a result are reported.
func TestArgumentsOfCases(t *testing.T) {
	list, err := Read("// run: k(u16{1..2}, 1.5, -2) == u16 7 nan\n// run: k(1, 2, 3, 4) == u8 1\n// run: k(u8{x}, 0, 0) == u8 1\n")
	if err != nil {
		t.Fatal(err)
	}
	params := []*ptx.Var{{Type: ptx.U64}, {Type: ptx.B32}, {Type: ptx.S16}, {Type: ptx.U64}}
	buffer := func(data []byte) (any, error) { return string(data), nil }
	args, result, err := list[0].Arguments(params, buffer, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []any{"\x01\x00\x02\x00", []byte{0, 0, 0xc0, 0x3f}, []byte{0xfe, 0xff}, strings.Repeat("\xa5", 16)}
	if diff := cmp.Diff(want, args); diff != "" || result != args[3] {
		t.Errorf("result %v, -want +got:\n%s", result, diff)
	}
	bad := list[0].Compare([]byte{8, 0, 0, 0})
	if len(bad) != 2 || bad[0].Error() != "element 0 is 0x0008, want 0x0007 (7)" || bad[1].Error() != "element 1 is 0x0, want a NaN" {
		t.Errorf("got %v", bad)
	}
	for _, c := range list[1:] {
		if _, _, err := c.Arguments(params[:3], buffer, nil); err == nil {
			t.Errorf("line %d: no error", c.Line)
		}
	}
}

// TestBlocksAndWidths: cases of single instructions begin at the width for which they are written, and together have
// all pairs of block and width.
func TestBlocksAndWidths(t *testing.T) {
	files, err := filepath.Glob("../../testdata/insn/*.ptx")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	pairs := map[Shape]bool{}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list, err := Read(string(src))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range list {
			shapes := c.Shapes(false)
			if shapes[0].Width != c.Widths[0] {
				t.Errorf("%s:%d: it begins at width %d, not %d", file, c.Line, shapes[0].Width, c.Widths[0])
			}
			for _, s := range shapes {
				if !slices.Contains(c.Widths, s.Width) || !slices.Contains(c.Blocks, s.Block) {
					t.Errorf("%s:%d: %v is none of its shapes", file, c.Line, s)
				}
				pairs[s] = true
			}
		}
	}
	for _, width := range []int{32, 4, 8, 16, 64, 1} {
		for _, threads := range []int{1, 7, 32} {
			if s := (Shape{Extent{threads, 1, 1}, width}); !pairs[s] {
				t.Errorf("no case has %v", s)
			}
		}
	}
}
