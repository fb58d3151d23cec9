package argument

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"
)

// TestHugePicture checks that a small file whose header states a huge size is rejected before it is decoded.
func TestHugePicture(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	bomb := b.Bytes()
	head := bomb[12:29] // IHDR, width, height …
	binary.BigEndian.PutUint32(head[4:], 100000)
	binary.BigEndian.PutUint32(head[8:], 100000)
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(head))
	_, err := DecodePNG(bomb, "")
	if err == nil || !strings.Contains(err.Error(), "the picture has 100000×100000 pixels") {
		t.Errorf("got %v", err)
	}
}

// TestGrayOf16Bits checks that gray pictures of 16 bits are read and written without loss.
func TestGrayOf16Bits(t *testing.T) {
	img := image.NewGray16(image.Rect(0, 0, 3, 2))
	want := []uint64{0, 1, 255, 256, 0x1234, 65535}
	for i, v := range want {
		img.SetGray16(i%3, i/3, color.Gray16{Y: uint16(v)})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	a, err := DecodePNG(b.Bytes(), "")
	if err != nil {
		t.Fatal(err)
	}
	values := func(a *Array) []uint64 {
		var v []uint64
		for i := range a.Len() {
			v = append(v, a.Bits(i))
		}
		return v
	}
	if a.Type.String() != ".u16" || !slices.Equal(a.Shape, []int{2, 3}) || !slices.Equal(values(a), want) {
		t.Errorf("%s %v %v", a.Type, a.Shape, values(a))
	}
	out, err := EncodePNG(a)
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
	// With the view gray, each pixel is its upper byte.
	if a, err = DecodePNG(b.Bytes(), "gray"); err != nil || !slices.Equal(values(a), []uint64{0, 0, 0, 1, 0x12, 255}) {
		t.Errorf("gray: %v, %v", values(a), err)
	}
}
