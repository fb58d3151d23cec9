package cli

// This file makes, prints and compares typed arrays, and reads and writes them
// as files.

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"

	"gemu/internal/hostmem"
	"gemu/interp"
	"gemu/ptx"
)

// elementTypes are the types that buffers on the command line can have.
var elementTypes = map[string]ptx.Type{
	"u8": ptx.U8, "s8": ptx.S8, "u16": ptx.U16, "s16": ptx.S16, "f16": ptx.F16, "bf16": ptx.BF16,
	"u32": ptx.U32, "s32": ptx.S32, "f32": ptx.F32, "u64": ptx.U64, "s64": ptx.S64, "f64": ptx.F64,
}

// len is the number of elements.
func (a *array) len() int { return len(a.data) / a.typ.Size() }

func (a *array) bits(i int) uint64 {
	p := a.data[i*a.typ.Size():]
	switch a.typ.Size() {
	case 1:
		return uint64(p[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(p))
	case 4:
		return uint64(binary.LittleEndian.Uint32(p))
	}
	return binary.LittleEndian.Uint64(p)
}

func (a *array) setBits(i int, v uint64) {
	p := a.data[i*a.typ.Size():]
	switch a.typ.Size() {
	case 1:
		p[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(p, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(p, uint32(v))
	default:
		binary.LittleEndian.PutUint64(p, v)
	}
}

// float is element i as a float64, exactly but for 64-bit integers.
func (a *array) float(i int) float64 {
	v := a.bits(i)
	switch a.typ {
	case ptx.F16:
		return interp.Float16(uint16(v))
	case ptx.BF16:
		return interp.BFloat16(uint16(v))
	case ptx.F32:
		return float64(math.Float32frombits(uint32(v)))
	case ptx.F64:
		return math.Float64frombits(v)
	}
	if a.typ.IsSigned() {
		n := 64 - a.typ.Bits()
		return float64(int64(v<<n) >> n)
	}
	return float64(v)
}

// setFloat sets element i to a value, rounded to the type.
func (a *array) setFloat(i int, f float64) {
	switch a.typ {
	case ptx.F16:
		a.setBits(i, uint64(interp.Float16Bits(f)))
	case ptx.BF16:
		a.setBits(i, uint64(interp.BFloat16Bits(f)))
	case ptx.F32:
		a.setBits(i, uint64(math.Float32bits(float32(f))))
	case ptx.F64:
		a.setBits(i, math.Float64bits(f))
	default:
		a.setBits(i, uint64(int64(f)))
	}
}

// format prints element i.
func (a *array) format(i int) string {
	switch {
	case a.typ == ptx.F64:
		return strconv.FormatFloat(a.float(i), 'g', -1, 64)
	case a.typ == ptx.F16 || a.typ == ptx.BF16:
		return strconv.FormatFloat(a.float(i), 'g', 5, 32)
	case a.typ.IsFloat():
		return strconv.FormatFloat(a.float(i), 'g', -1, 32)
	case a.typ.IsSigned():
		n := 64 - a.typ.Bits()
		return strconv.FormatInt(int64(a.bits(i)<<n)>>n, 10)
	}
	return strconv.FormatUint(a.bits(i), 10)
}

// print writes the elements, rows of the last dimension (or of 16) a line.
func (a *array) print(w io.Writer) {
	row := 16
	if n := len(a.shape); n > 1 && a.shape[n-1] > 0 {
		row = a.shape[n-1]
	}
	var b bytes.Buffer
	for i := range a.len() {
		b.WriteString(a.format(i))
		if (i+1)%row == 0 || i+1 == a.len() {
			b.WriteByte('\n')
		} else {
			b.WriteByte(' ')
		}
	}
	w.Write(b.Bytes())
}

// maxMadeBytes is the limit of texels that are made of few words, in bytes. All of them are there once more, in the memory of the
// device.
const maxMadeBytes = 4 << 30

// maxBuffer is the limit of a buffer in bytes, which no memory of a device comes to.
const maxBuffer = 1 << 46

// allocator provides zero bytes.
type allocator func(n uint64) ([]byte, error)

// newArray makes an array of zeros.
func newArray(allocate allocator, t ptx.Type, shape ...int) (*array, error) {
	n := t.Size()
	for _, d := range shape {
		if d < 0 || d > 0 && n > maxBuffer/d {
			return nil, fmt.Errorf("a buffer of that size is too large: at most %d bytes are made", maxBuffer)
		}
		n *= d
	}
	data, err := allocate(uint64(n))
	if err != nil {
		return nil, err
	}
	return &array{t, shape, data}, nil
}

// makeArray makes an array from TYPE[N], TYPE[N]=iota, =VALUE or =rand:SEED.
// N may have dimensions: TYPE[4x8]. Random integers are uniform over their type,
// random floats over [0, 1).
func makeArray(spec string, allocate allocator) (*array, error) {
	name, rest, ok := strings.Cut(spec, "[")
	t := elementTypes[name]
	size, init, closed := strings.Cut(rest, "]")
	if !ok || !closed || t == ptx.NoType {
		return nil, fmt.Errorf("want TYPE[N]{=iota|=VALUE|=rand:SEED}, with TYPE one of u8 s8 u16 s16 f16 bf16 u32 s32 f32 u64 s64 f64")
	}
	var shape []int
	for _, s := range strings.FieldsFunc(size, func(r rune) bool { return r == 'x' || r == ',' }) {
		d, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || d < 0 {
			return nil, fmt.Errorf("bad size %q", size)
		}
		shape = append(shape, d)
	}
	if len(shape) == 0 {
		return nil, fmt.Errorf("bad size %q", size)
	}
	a, err := newArray(allocate, t, shape...)
	if err != nil || init == "" {
		return a, err
	}
	value, ok := strings.CutPrefix(init, "=")
	if !ok {
		return nil, fmt.Errorf("unexpected %q after the size", init)
	}
	if seedText, ok := strings.CutPrefix(value, "rand:"); ok {
		seed, err := strconv.ParseUint(seedText, 0, 64)
		if err != nil {
			return nil, fmt.Errorf("bad seed %q", seedText)
		}
		r := rand.New(rand.NewPCG(seed, 0))
		for i := range a.len() {
			if t.IsFloat() {
				a.setFloat(i, r.Float64())
			} else {
				a.setBits(i, r.Uint64())
			}
		}
		return a, nil
	}
	if value == "iota" {
		for i := range a.len() {
			if t.IsFloat() {
				a.setFloat(i, float64(i))
			} else {
				a.setBits(i, uint64(i))
			}
		}
		return a, nil
	}
	bits, err := parseNumber(value, t)
	if err != nil {
		return nil, err
	}
	for i := range a.len() {
		a.setBits(i, bits)
	}
	return a, nil
}

// parseNumber reads a number as the bits of a type.
func parseNumber(s string, t ptx.Type) (uint64, error) {
	tmp := array{typ: t, data: make([]byte, t.Size())}
	if t.IsFloat() {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			u, uerr := strconv.ParseInt(s, 0, 64) // 0x2a is a fine float
			if uerr != nil {
				return 0, fmt.Errorf("%q is not a number", s)
			}
			f = float64(u)
		}
		tmp.setFloat(0, f)
		return tmp.bits(0), nil
	}
	bits := t.Bits()
	if u, err := strconv.ParseUint(s, 0, 64); err == nil {
		if bits < 64 && u>>bits != 0 {
			return 0, fmt.Errorf("%s does not fit in %d bits", s, bits)
		}
		return u, nil
	}
	i, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		if _, ferr := strconv.ParseFloat(s, 64); ferr == nil {
			return 0, fmt.Errorf("%s is not an integer", s)
		}
		return 0, fmt.Errorf("%q is not a number", s)
	}
	if bits < 64 && i < -1<<(bits-1) {
		return 0, fmt.Errorf("%s does not fit in %d bits", s, bits)
	}
	return uint64(i) & (1<<bits - 1), nil
}

// readArray reads FILE.npy, FILE.png or a raw file; "FILE:TYPE" gives the
// elements of a raw file a type, "FILE.png:gray" the one-byte luma of a picture.
func readArray(ctx context.Context, spec string) (*array, error) {
	name, suffix := spec, ""
	if i := strings.LastIndexByte(spec, ':'); i > 0 {
		if s := spec[i+1:]; elementTypes[s] != ptx.NoType || s == "gray" || s == "rgba" {
			name, suffix = spec[:i], s
		}
	}
	b, err := readFile(ctx, name, maxData)
	if err != nil {
		return nil, err
	}
	var a *array
	switch strings.ToLower(filepath.Ext(name)) {
	case ".npy":
		a, err = readNpy(b)
	case ".png":
		a, err = readPNG(b, suffix)
	default:
		a = &array{typ: ptx.U8, data: b}
		if t := elementTypes[suffix]; t != ptx.NoType {
			a.typ = t
		}
		if len(b)%a.typ.Size() != 0 {
			err = fmt.Errorf("%d bytes are no whole number of %s elements", len(b), a.typ)
		}
		a.shape = []int{len(b) / a.typ.Size()}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return a, nil
}

// maxPixels bounds the pictures that are decoded: few bytes can stand for many pixels.
const maxPixels = 1 << 27

// readPNG decodes a picture to bytes: one per pixel (h×w) if it is gray or
// wanted so, else four (h×w×4, red green blue alpha, not premultiplied). A gray
// one of 16 bits gives .u16, unless bytes are wanted.
func readPNG(b []byte, mode string) (*array, error) {
	head, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	if int64(head.Width)*int64(head.Height) > maxPixels {
		return nil, fmt.Errorf("a picture of %d×%d pixels; at most %d pixels are read", head.Width, head.Height, maxPixels)
	}
	if err := hostmem.Check(16 * uint64(head.Width) * uint64(head.Height)); err != nil { // 8 bytes of the picture, and copies
		return nil, err
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	r := img.Bounds()
	w, h := r.Dx(), r.Dy()
	if gray, ok := img.(*image.Gray16); ok && mode == "" {
		a := &array{ptx.U16, []int{h, w}, make([]byte, 2*w*h)}
		for i := range w * h {
			a.setBits(i, uint64(gray.Gray16At(r.Min.X+i%w, r.Min.Y+i/w).Y))
		}
		return a, nil
	}
	_, gray := img.(*image.Gray)
	if mode == "gray" || gray && mode != "rgba" {
		a := &array{ptx.U8, []int{h, w}, make([]byte, w*h)}
		for y := range h {
			for x := range w {
				a.data[y*w+x] = color.GrayModel.Convert(img.At(r.Min.X+x, r.Min.Y+y)).(color.Gray).Y
			}
		}
		return a, nil
	}
	a := &array{ptx.U8, []int{h, w, 4}, make([]byte, 4*w*h)}
	for y := range h {
		for x := range w {
			c := color.NRGBAModel.Convert(img.At(r.Min.X+x, r.Min.Y+y)).(color.NRGBA)
			copy(a.data[4*(y*w+x):], []byte{c.R, c.G, c.B, c.A})
		}
	}
	return a, nil
}

// writePNG encodes bytes of shape h×w or h×w×4, or .u16 of shape h×w, as a picture.
func writePNG(a *array) ([]byte, error) {
	var img image.Image
	switch {
	case a.typ == ptx.U16 && len(a.shape) == 2:
		gray := image.NewGray16(image.Rect(0, 0, a.shape[1], a.shape[0]))
		for i := range a.len() {
			gray.SetGray16(i%a.shape[1], i/a.shape[1], color.Gray16{Y: uint16(a.bits(i))})
		}
		img = gray
	case a.typ != ptx.U8:
		return nil, fmt.Errorf("a picture is made of u8, or of u16 if it is gray, not %s", a.typ)
	case len(a.shape) == 2:
		img = &image.Gray{Pix: a.data, Stride: a.shape[1], Rect: image.Rect(0, 0, a.shape[1], a.shape[0])}
	case len(a.shape) == 3 && a.shape[2] == 4:
		img = &image.NRGBA{Pix: a.data, Stride: 4 * a.shape[1], Rect: image.Rect(0, 0, a.shape[1], a.shape[0])}
	default:
		return nil, fmt.Errorf("the size of the picture is unknown: say FILE.png:WIDTHxHEIGHT")
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// difference is where two arrays differ.
type difference struct {
	index     int
	got, want string
}

// compareArrays lists the first differences, and their number. Floats may
// differ by atol + rtol·|want|; NaN equals NaN.
func compareArrays(got, want *array, rtol, atol float64) (first []difference, n int) {
	for i := range min(got.len(), want.len()) {
		same := false
		if got.typ.IsFloat() || want.typ.IsFloat() {
			g, w := got.float(i), want.float(i)
			same = g == w || g != g && w != w || math.Abs(g-w) <= atol+rtol*math.Abs(w)
		} else if got.typ == want.typ {
			same = got.bits(i) == want.bits(i)
		} else {
			same = got.format(i) == want.format(i)
		}
		if same {
			continue
		}
		if n++; len(first) < 10 {
			first = append(first, difference{i, got.format(i), want.format(i)})
		}
	}
	return first, n
}
