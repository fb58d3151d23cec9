package corpus

// This file computes the reference results of kernels with textures and surfaces. They use the formulas of the CUDA C++
// Programming Guide, "Texture Fetching", with coordinates rounded to float32, as in the kernels
// (testdata/corpus/texture.cu).

import (
	"encoding/binary"
	"fmt"
	"math"

	"gemu/interp"
	"gemu/texture"
)

// object adds the texture or surface described by text, in the notation of interp.ObjectText, to the arguments. Its
// texels are data.
func (c *call) object(text string, data []byte) *interp.Object {
	t, err := interp.ParseObject(text, texture.DefaultSampler(), false)
	var o *interp.Object
	if err == nil {
		o, err = t.Make(c.dev, text, data)
	}
	if c.err == nil {
		c.err = err
	}
	c.args = append(c.args, o)
	return o
}

// bytes returns n random bytes.
func (c *call) bytes(n int) []byte {
	list := make([]byte, n)
	for i := range list {
		list[i] = byte(c.random.IntN(256))
	}
	return list
}

// float32Bytes returns the little-endian bytes of the numbers of list.
func float32Bytes(list []float32) []byte {
	var data []byte
	for _, v := range list {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return data
}

// linear returns the interpolated value at coordinate u, in texels, of an axis of n texels; texel(i) is the value of
// texel i. Indices outside of the axis are clamped. Weights have eight fractional bits.
func linear(u float64, n int, texel func(i int) float64) float64 {
	b := u - 0.5
	i := math.Floor(b)
	weight := math.Floor((b-i)*256+0.5) / 256
	clamped := func(i int) float64 { return texel(min(max(i, 0), n-1)) }
	return (1-weight)*clamped(int(i)) + weight*clamped(int(i)+1)
}

// bilinear is linear in two dimensions, for w×h texels.
func bilinear(u, v float64, w, h int, texel func(x, y int) float64) float64 {
	return linear(v, h, func(y int) float64 {
		return linear(u, w, func(x int) float64 { return texel(x, y) })
	})
}

// resize scales a picture of fromW×fromH pixels to w×h, with 4 bytes for each pixel: each byte is the rounded
// interpolation.
func resize(c *call) {
	const fromW, fromH, w, h = 20, 13, 31, 18
	data := c.bytes(fromW * fromH * 4)
	c.object(fmt.Sprintf("tex.2d(u8x4[%dx%d],float,norm,filter=linear)", fromH, fromW), data)
	to := c.object(fmt.Sprintf("surf.2d(u8x4[%dx%d])", h, w), nil)
	c.args = append(c.args, w, h)
	c.checks = append(c.checks, func() error {
		for i, got := range to.Bytes() {
			x, y := i/4%w, i/4/w
			u, v := (float32(x)+0.5)/w, (float32(y)+0.5)/h
			want := bilinear(float64(u)*fromW, float64(v)*fromH, fromW, fromH, func(x, y int) float64 { return float64(data[(y*fromW+x)*4+i%4]) })
			if math.Abs(float64(got)-want) > 0.5+1e-3 {
				return fmt.Errorf("byte %d is %d, want nearly %v", i, got, want)
			}
		}
		return nil
	})
}

// blur computes, for each texel, the mean of the 3×3 texels around it. Coordinates outside are clamped.
func blur(c *call) {
	const w, h = 11, 7
	data := c.floats(w*h, -1, 1)
	c.object(fmt.Sprintf("surf.2d(f32[%dx%d])", h, w), float32Bytes(data))
	addOutput[float32](c, w*h, 1e-6, func(i int) float64 {
		sum := 0.0
		for neighbour := range 9 {
			x, y := min(max(i%w+neighbour%3-1, 0), w-1), min(max(i/w+neighbour/3-1, 0), h-1)
			sum += float64(data[y*w+x])
		}
		return sum / 9
	})
	c.args = append(c.args, w, h)
}

// levels reads three textures: a mipmap (level 0 has 8×4 texels), a table in linear memory, and a layered array.
func levels(c *call) {
	const n = 50
	mip := c.bytes(64) // more than the 32+8+2 texels of the three levels
	layers, table := c.floats(3*n, -1, 1), c.integers(4*n, -9, 9)
	c.object("tex.2d(u8[4x8],float,norm,levels=3,filter=linear,mip=linear)", mip)
	var integers []byte
	for _, v := range table {
		integers = binary.LittleEndian.AppendUint32(integers, uint32(v))
	}
	c.object(fmt.Sprintf("tex.linear(s32x4[%d])", n), integers)
	c.object(fmt.Sprintf("tex.a1d(f32[3x%d],filter=linear)", n), float32Bytes(layers))
	first := []int{0, 32, 40} // first texel of each level
	addOutput[float32](c, n, 1e-5, func(i int) float64 {
		u := float32(i) / n
		valueIn := func(level int) float64 {
			w, h := 8>>level, 4>>level
			return bilinear(float64(u)*float64(w), float64(1-u)*float64(h), w, h, func(x, y int) float64 { return float64(mip[first[level]+y*w+x]) / 255 })
		}
		lod := min(max(math.Floor(float64(3*u)*256+0.5)/256, 0), 2)
		base := math.Floor(lod)
		v := valueIn(int(base))
		if fraction := lod - base; fraction > 0 {
			v = (1-fraction)*v + fraction*valueIn(int(base)+1)
		}
		layer := layers[i%3*n:][:n]
		return v + float64(table[4*i+1])*linear(float64(i)+0.25, n, func(x int) float64 { return float64(layer[x]) })
	})
	c.args = append(c.args, n)
}
