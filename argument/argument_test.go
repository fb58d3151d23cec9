package argument

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gemu/interp"
	"gemu/ptx"
)

// TestParseArguments shows the value of each form of an argument.
func TestParseArguments(t *testing.T) {
	for text, want := range map[string]Value{
		"8":                Number("8"),
		"-1.5":             Number("-1.5"),
		"bytes:00ff":       Bytes{0, 255},
		"&2":               Reference(2),
		"f32[16]":          Filled{ptx.F32, []int{16}, Fill{}},
		"s8[2x3]=-1":       Filled{ptx.S8, []int{2, 3}, Fill{Constant, 0xff}},
		"f32[2,3]=1":       Filled{ptx.F32, []int{2, 3}, Fill{Constant, 0x3f800000}},
		"u64[1]=iota":      Filled{ptx.U64, []int{1}, Fill{Kind: Iota}},
		"bf16[0]=rand:0x9": Filled{ptx.BF16, []int{0}, Fill{Random, 9}},
		"@x.npy":           File{Name: "x.npy"},
		"@a[1].bin:f16":    File{"a[1].bin", "f16"},
		"@C:x":             File{Name: "C:x"},
		"@x.png:gray":      File{"x.png", "gray"},
		"tma(1,f16[8x8],box=8x8)": TensorMap{
			Buffer: Reference(1), Map: "f16[8x8],box=8x8", offset: 6,
		},
		"tma( u32[4x4]=iota , box=2x2)": TensorMap{
			Buffer: Filled{ptx.U32, []int{4, 4}, Fill{Kind: Iota}}, Map: "box=2x2", offset: 21,
		},
	} {
		if got, err := Parse(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, %v, want %#v", text, got, err, want)
		}
	}
	for text, want := range map[string]Object{
		"tex.1d(f32[3]=iota)":                {Fill: Fill{Kind: Iota}},
		"surf.2d(u8x4[2x2])":                 {},
		"tex(@in.png:gray,filter=linear)":    {File: &File{"in.png", "gray"}},
		"sampler(filter=linear)":             {},
		"tex.2d(u8x2[4x4]=255,address=wrap)": {Fill: Fill{Constant, 255}},
	} {
		v, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		o := v.(Object)
		if o.Fill != want.Fill || !reflect.DeepEqual(o.File, want.File) {
			t.Errorf("%s: got %+v, %v", text, o.Fill, o.File)
		}
	}
}

// TestErrorPlaces checks the places of errors. In each case the mark ^ is the wanted place; it is not part of the text.
func TestErrorPlaces(t *testing.T) {
	for marked, want := range map[string]string{
		"^&x":                                "& must be followed by the number",
		"^&-1":                               "& must be followed by the number",
		"bytes:^0":                           "two hexadecimal digits",
		"@^":                                 "name of a file",
		"^f33[4]":                            "want TYPE[N]",
		"^f32[4":                             "want TYPE[N]",
		"f32[^4y4]":                          `bad size "4y4"`,
		"f32[^]":                             `bad size ""`,
		"f32[^9999999x9999999]":              "too large",
		"f32[4]^7":                           `unexpected "7"`,
		"u8[4]=^256":                         "256 does not fit in 8 bits",
		"u8[4]=^1.5":                         "1.5 is not an integer",
		"u8[4]=^iot":                         `"iot" is not a number`,
		"u8[4]=rand:^one":                    `bad seed "one"`,
		"tex^.4d(u8[4])":                     "want one of 1d 2d",
		"tex.2d(^)":                          "no texels",
		"tex.2d( ^u9[4])":                    "want texels such as",
		"tex.2d(u8[^4])":                     "2d has 2 extents",
		"tex.1d(u8[4]=^300)":                 "300 does not fit",
		"tex.1d(u8[4],norm, ^filter=cubic)":  "want nearest or linear",
		"sampler(^size=2)":                   "unknown option size",
		"^tma(1":                             "want tma(",
		"tma(^missing,u8[4],box=4)":          "is not a buffer",
		"tma(^-1,u8[4],box=4)":               "is not a buffer",
		"^tex(":                              "want tex.GEOMETRY",
		"^sampler(":                          "want tex.GEOMETRY",
		"f32[^4,,2]":                         "bad size",
		"f32[^x8]":                           "bad size",
		"f32[^0x10]":                         "sizes are decimal",
		"tma(^q[4],box=4)":                   "want TYPE[N]",
		"tma(u32[4x4],^box=4)":               "box=4",
		"tma(u32[4x4], box=4x4,^swizzle=31)": "want 32, 64",
		"tma(u8[8x8],u32[2x8],box=2x2,^fill=one)": "want zero or nan",
	} {
		offset := strings.Index(marked, "^")
		text := strings.Replace(marked, "^", "", 1)
		_, err := Parse(text)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: error %v of type %T", text, err, err)
			continue
		}
		if e.Offset != offset || e.Text != text || e.Index != -1 || !strings.Contains(e.Error(), want) {
			t.Errorf("%s: error at %d of %q (%d): %v; want %q at %d", text, e.Offset, e.Text, e.Index, e, want, offset)
		}
		snippet := ""
		if offset > 0 {
			snippet = "   " + text + "\n   " + strings.Repeat(" ", offset) + "^"
		}
		if got := e.Snippet(); got != snippet {
			t.Errorf("%s: snippet\n%s", text, got)
		}
	}
}

const kernels = `.version 7.0
.target sm_80
.address_size 64
.global .align 4 .b8 table[8];
.entry k(.param .u64 p, .param .f32 x, .param .align 4 .b8 pair[8], .param .u64 q) { ret; }
.entry map(.param .align 64 .b8 m[128], .param .u64 t) { ret; }
`

func load(t *testing.T, kernel string) (*interp.Module, *ptx.Func) {
	t.Helper()
	m, err := interp.NewDevice(interp.Config{}).Load("k.ptx", []byte(kernels))
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel(kernel)
	if err != nil {
		t.Fatal(err)
	}
	return m, k
}

// TestBindArguments shows that arguments become buffers, numbers and references of a launch.
func TestBindArguments(t *testing.T) {
	m, k := load(t, "k")
	l, err := Bind(t.Context(), m, k, []string{"u16[3]=iota", "1", "bytes:0102030405060708", "&0"})
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Bindings["0"].Array(); got.Type != ptx.U16 || got.Len() != 3 || got.Format(2) != "2" {
		t.Errorf("argument 0 is %v", got)
	}
	if want := []any{l.Bindings["0"].Buffer, []byte{0, 0, 0x80, 0x3f}, []byte{1, 2, 3, 4, 5, 6, 7, 8}, l.Bindings["0"].Buffer}; !reflect.DeepEqual(l.Values, want) {
		t.Errorf("values %v", l.Values)
	}
	if err := l.Set(t.Context(), "table=u32[2]=7"); err != nil {
		t.Fatal(err)
	}
	if b, err := l.Lookup("table"); err != nil || b.Array().Format(1) != "7" {
		t.Errorf("table: %v, %v", b, err)
	}
}

// TestBindErrors shows the place and the text of the error for each argument that does not fit its parameter.
func TestBindErrors(t *testing.T) {
	for _, c := range []struct {
		kernel string
		texts  []string
		index  int // index of the wrong argument; -1: the error is a CountError
		offset int
		want   string
	}{
		{"k", []string{"1"}, -1, 0, "kernel k has 4 parameters, 1 given\n   0: .u64 p\n   1: .f32 x\n   2: .b8 pair[8]\n   3: .u64 q"},
		{"k", []string{"u8[1]", "u8[1]", "bytes:0102030405060708", "&0"}, 1, 0, `argument 1 (.f32 x) "u8[1]": the address of a buffer does not fit in this parameter`},
		{"k", []string{"u8[1]", "1", "3", "&0"}, 2, 0, "a parameter of 8 bytes with several elements must be given as bytes:HEX"},
		{"k", []string{"u8[1]", "1", "bytes:01", "&0"}, 2, 0, "1 bytes given for a parameter of 8 bytes"},
		{"k", []string{"u8[1]", "1", "bytes:0102030405060708", "&3"}, 3, 0, "& must be followed by the number"},
		{"k", []string{"u8[1]", "1", "bytes:0102030405060708", "&1"}, 3, 0, "argument 1 is not a buffer"},
		{"k", []string{"@missing.npy", "1", "bytes:0102030405060708", "&0"}, 0, 0, "cannot read missing.npy: no such file"},
		{"k", []string{"tma(u8[16],box=16)", "1", "bytes:0102030405060708", "u8[1]"}, 0, 0, "a tensor map has 128 bytes, but the parameter has 8"},
		{"map", []string{"tma(1,u8[16],box=16)", "tex.1d(u8[16])"}, 0, 0, "argument 1 is not a buffer"},
		{"map", []string{"tma(1,u8[16],hox=16)", "u8[16]"}, 0, 13, "hox=16: unknown"},
	} {
		m, k := load(t, c.kernel)
		_, err := Bind(t.Context(), m, k, c.texts)
		var count *CountError
		var e *Error
		switch {
		case err == nil || !strings.Contains(err.Error(), c.want):
			t.Errorf("%q: %v, want %s", c.texts, err, c.want)
		case c.index < 0:
			if !errors.As(err, &count) || count.Given != len(c.texts) {
				t.Errorf("%q: %T", c.texts, err)
			}
		case !errors.As(err, &e) || e.Index != c.index || e.Offset != c.offset || e.Param != k.Params[c.index]:
			t.Errorf("%q: %#v, want argument %d, byte %d", c.texts, e, c.index, c.offset)
		}
	}
}

// TestNPYFilesOfNumPy reads files that NumPy has written (testdata/npy/make.py has the values), and shows that the header
// and the data that gemu writes for the same array are NumPy's, up to the padding.
func TestNPYFilesOfNumPy(t *testing.T) {
	for _, c := range []struct {
		file, elements string // elements in decimal
		typ            ptx.Type
		shape          []int
		other          bool // a form that gemu reads and does not write
	}{
		{"f2", "1 -2 0.5 65504 +Inf 5.9605e-08", ptx.F16, []int{2, 3}, false}, // the last is 2^-24, 5.96046·10^-8
		{"f4", "3.25", ptx.F32, nil, false},
		{"f8", "1e+300 -0.1", ptx.F64, []int{2}, false},
		{"i1", "-128 127", ptx.S8, []int{2}, false},
		{"u1", "1 2 3 255", ptx.U8, []int{2, 2, 1}, false},
		{"i2", "-2 3", ptx.S16, []int{2}, false},
		{"u2", "65535", ptx.U16, []int{1}, false},
		{"i4", "-70000 5", ptx.S32, []int{2}, false},
		{"u4", "4294967295 0", ptx.U32, []int{2}, false},
		{"i8", "-4611686018427387904 1", ptx.S64, []int{2}, false},
		{"u8", "18446744073709551615 1", ptx.U64, []int{2}, false},
		{"b1", "1 0 1", ptx.U8, []int{3}, true},
		{"empty", "", ptx.F32, []int{0, 3}, false},
		{"big", "1 -2 3 70000", ptx.S32, []int{2, 2}, true},
		{"column", "0 1 2", ptx.S32, []int{3}, false},
		{"version2", "-70000 5", ptx.S32, []int{2}, true},
		{"version3", "-70000 5", ptx.S32, []int{2}, true},
	} {
		file, err := os.ReadFile("testdata/npy/" + c.file + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		a, err := DecodeNPY(slices.Clone(file))
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		var elements []string
		for i := range a.Len() {
			elements = append(elements, a.Format(i))
		}
		if got := strings.Join(elements, " "); a.Type != c.typ || !slices.Equal(a.Shape, c.shape) || got != c.elements {
			t.Errorf("%s is %v %v %s, want %v %v %s", c.file, a.Type, a.Shape, got, c.typ, c.shape, c.elements)
		}
		written := EncodeNPY(a)
		if head, wantHead := headerNPY(written), headerNPY(file); !c.other && head != wantHead || len(written)%64 != len(a.Data)%64 {
			t.Errorf("%s: gemu writes the header %s, NumPy %s", c.file, head, wantHead)
		}
		if back, err := DecodeNPY(written); err != nil || !bytes.Equal(back.Data, a.Data) || !c.other && !bytes.HasSuffix(file, back.Data) {
			t.Errorf("%s is read back as %v, %v", c.file, back, err)
		}
	}
	for file, want := range map[string]string{"fortran": "the array is in Fortran order", "complex": "elements of type c8"} {
		b, err := os.ReadFile("testdata/npy/" + file + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeNPY(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", file, err, want)
		}
	}
}

// headerNPY returns the dictionary of a file of version 1, without padding.
func headerNPY(file []byte) string {
	head, _, _ := strings.Cut(string(file[10:]), "\n")
	return strings.TrimRight(head, " ")
}
