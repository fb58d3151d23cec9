//go:build !js

package argument

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"

	"gemu/internal/hostmem"
	"gemu/ptx"
)

// maxPixels is the limit of a decoded picture: a small file can expand to any size.
const maxPixels = 1 << 27

// DecodePNG decodes a picture. A view "gray" gives a byte for each pixel, with shape h×w; "rgba" gives four (red, green,
// blue and alpha, not premultiplied), with shape h×w×4. Without a view (""), a gray picture is decoded as with "gray", but
// gives u16 if it has 16 bits; any other picture is decoded as with "rgba".
func DecodePNG(b []byte, view string) (*Array, error) {
	head, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	if int64(head.Width)*int64(head.Height) > maxPixels {
		return nil, fmt.Errorf("the picture has %d×%d pixels; at most %d pixels are supported", head.Width, head.Height, maxPixels)
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
	if gray, ok := img.(*image.Gray16); ok && view == "" {
		a := &Array{ptx.U16, []int{h, w}, make([]byte, 2*w*h)}
		for i := range w * h {
			a.SetBits(i, uint64(gray.Gray16At(r.Min.X+i%w, r.Min.Y+i/w).Y))
		}
		return a, nil
	}
	_, gray := img.(*image.Gray)
	if view == "gray" || gray && view != "rgba" {
		a := &Array{ptx.U8, []int{h, w}, make([]byte, w*h)}
		for y := range h {
			for x := range w {
				a.Data[y*w+x] = color.GrayModel.Convert(img.At(r.Min.X+x, r.Min.Y+y)).(color.Gray).Y
			}
		}
		return a, nil
	}
	a := &Array{ptx.U8, []int{h, w, 4}, make([]byte, 4*w*h)}
	for y := range h {
		for x := range w {
			c := color.NRGBAModel.Convert(img.At(r.Min.X+x, r.Min.Y+y)).(color.NRGBA)
			copy(a.Data[4*(y*w+x):], []byte{c.R, c.G, c.B, c.A})
		}
	}
	return a, nil
}

// EncodePNG encodes an array as a picture: u8 of shape h×w or h×w×4, or u16 of shape h×w.
func EncodePNG(a *Array) ([]byte, error) {
	var img image.Image
	switch {
	case a.Type == ptx.U16 && len(a.Shape) == 2:
		gray := image.NewGray16(image.Rect(0, 0, a.Shape[1], a.Shape[0]))
		for i := range a.Len() {
			gray.SetGray16(i%a.Shape[1], i/a.Shape[1], color.Gray16{Y: uint16(a.Bits(i))})
		}
		img = gray
	case a.Type != ptx.U8:
		return nil, fmt.Errorf("a picture needs elements of type u8, or u16 if it is gray, not %s", a.Type)
	case len(a.Shape) == 2:
		img = &image.Gray{Pix: a.Data, Stride: a.Shape[1], Rect: image.Rect(0, 0, a.Shape[1], a.Shape[0])}
	case len(a.Shape) == 3 && a.Shape[2] == 4:
		img = &image.NRGBA{Pix: a.Data, Stride: 4 * a.Shape[1], Rect: image.Rect(0, 0, a.Shape[1], a.Shape[0])}
	default:
		return nil, fmt.Errorf("the size of the picture is unknown: use FILE.png:WIDTHxHEIGHT")
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
