package cli

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// fullDevice takes some bytes, and no more.
type fullDevice struct{ remaining int }

func (d *fullDevice) Write(b []byte) (int, error) {
	n := min(d.remaining, len(b))
	if d.remaining -= n; n < len(b) {
		return n, errors.New("no space left on device")
	}
	return n, nil
}

// TestWriteErrors: what every command prints may fail to be written.
func TestWriteErrors(t *testing.T) {
	const saxpy = "../kernels/cuda/saxpy.ptx"
	launch := []string{saxpy, "-g", "1", "-b", "8", "-a", "8", "2.0", "f32[8]", "f32[8]"}
	with := func(command string, args ...string) []string {
		return append(append([]string{command}, launch...), args...)
	}
	for _, args := range [][]string{
		with("run", "--out", "3=-"), with("run", "--stats"), with("run", "--json", "-"), {"run", "@saxpy", "--size", "100"},
		with("structure"), with("structure", "--json", "-"), with("trace"), with("trace", "--format", "binary"),
		{"check", saxpy}, {"isa"}, {"isa", "--json", "mov"}, {"kernels"}, {"kernels", "@saxpy"}, {"--help"},
		{"dump", "--stage", "ast", saxpy}, {"dump", "--stage", "ir", saxpy}, {"dump", "--stage", "cfg", saxpy}, {"dump", "--stage", "lowered", saxpy},
	} {
		var stderr bytes.Buffer
		status := run(context.Background(), args, strings.NewReader(""), &fullDevice{3}, &stderr)
		if want := "gemu: cannot write standard output: no space left on device\n"; status != exitBad || stderr.String() != want {
			t.Errorf("gemu %s: status %d, %q", strings.Join(args, " "), status, stderr.String())
		}
	}
}

// TestEndless: what has no end, or too much, is refused.
func TestEndless(t *testing.T) {
	if runtime.GOOS != "linux" || testing.Short() {
		t.Skip("reads /dev/zero to the limit")
	}
	const saxpy = "../kernels/cuda/saxpy.ptx"
	sparse := filepath.Join(t.TempDir(), "sparse.bin")
	if err := os.WriteFile(sparse, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(sparse, 1<<40); err != nil {
		t.Skip(err)
	}
	zeros, err := os.Open("/dev/zero")
	if err != nil {
		t.Skip(err)
	}
	defer zeros.Close()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"check", "/dev/zero"}, "cannot read /dev/zero: more than 256 MiB"},
		{[]string{"check", "-"}, "cannot read standard input: more than 256 MiB"},
		{[]string{"check", sparse}, "cannot read " + sparse + ": more than 256 MiB"},
		{[]string{"run", saxpy, "-g", "1", "-b", "8", "-a", "8", "2.0", "@/dev/zero", "f32[8]"}, "cannot read /dev/zero: more than 256 MiB"},
		{[]string{"run", saxpy, "-g", "1", "-b", "8", "-a", "8", "2.0", "@" + sparse, "f32[8]"}, "cannot read " + sparse + ": more than 16384 MiB"},
		{[]string{"run", saxpy, "-g", "1", "-b", "8", "-a", "8", "2.0", "f32[8]", "f32[99999999999]"}, `argument 3 (.u64 saxpy_param_3) "f32[99999999999]": out of device memory`},
		{[]string{"run", saxpy, "-g", "1", "-b", "8", "-a", "8", "2.0", "f32[8]", "u8[20000000000]"}, `argument 3 (.u64 saxpy_param_3) "u8[20000000000]": out of device memory`},
	} {
		var stderr bytes.Buffer
		status := run(context.Background(), c.args, zeros, io.Discard, &stderr)
		if status != exitBad || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("gemu %s: status %d, %q", strings.Join(c.args, " "), status, stderr.String())
		}
	}
}

// TestPictureTooLarge: a header may promise what nobody can hold.
func TestPictureTooLarge(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	bomb := b.Bytes()
	head := bomb[12:29] // IHDR, width, height …
	binary.BigEndian.PutUint32(head[4:], 100000)
	binary.BigEndian.PutUint32(head[8:], 100000)
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(head))
	_, err := readPNG(bomb, "")
	if err == nil || !strings.Contains(err.Error(), "a picture of 100000×100000 pixels") {
		t.Errorf("got %v", err)
	}
}

// TestDeepGray: gray pictures of 16 bits stay what they are.
func TestDeepGray(t *testing.T) {
	img := image.NewGray16(image.Rect(0, 0, 3, 2))
	want := []uint64{0, 1, 255, 256, 0x1234, 65535}
	for i, v := range want {
		img.SetGray16(i%3, i/3, color.Gray16{Y: uint16(v)})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	a, err := readPNG(b.Bytes(), "")
	if err != nil {
		t.Fatal(err)
	}
	values := func(a *array) []uint64 {
		var v []uint64
		for i := range a.len() {
			v = append(v, a.bits(i))
		}
		return v
	}
	if a.typ.String() != ".u16" || !slices.Equal(a.shape, []int{2, 3}) || !slices.Equal(values(a), want) {
		t.Errorf("%s %v %v", a.typ, a.shape, values(a))
	}
	out, err := writePNG(a)
	if err != nil {
		t.Fatal(err)
	}
	back, err := png.Decode(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if g, ok := back.(*image.Gray16); !ok || !bytes.Equal(g.Pix, img.Pix) {
		t.Errorf("written back: %T", back)
	}
	// Bytes, if they are asked for: the upper ones.
	if a, err = readPNG(b.Bytes(), "gray"); err != nil || !slices.Equal(values(a), []uint64{0, 0, 0, 1, 0x12, 255}) {
		t.Errorf("gray: %v, %v", values(a), err)
	}
}
