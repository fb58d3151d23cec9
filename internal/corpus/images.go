package corpus

// This file holds the references of kernels with textures and surfaces: the formulas of the CUDA C++ Programming Guide,
// "Texture Fetching", with coordinates as the kernels compute them.

import (
	"encoding/binary"
	"fmt"
	"math"

	"gemu/interp"
	"gemu/texture"
)

// object adds a texture or surface to the arguments.
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

// bytes returns random bytes.
func (c *call) bytes(n int) []byte {
	list := make([]byte, n)
	for i := range list {
		list[i] = byte(c.random.IntN(256))
	}
	return list
}

// words returns numbers as bytes.
func words(list []float32) []byte {
	var data []byte
	for _, v := range list {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return data
}

// linear interpolates between the texels of an axis at u, in texels; the edge is extended. Weights have eight
// fractional bits.
func linear(u float64, n int, at func(i int) float64) float64 {
	b := u - 0.5
	i := math.Floor(b)
	w := math.Floor((b-i)*256+0.5) / 256
	clamped := func(i int) float64 { return at(min(max(i, 0), n-1)) }
	return (1-w)*clamped(int(i)) + w*clamped(int(i)+1)
}

// bilinear is linear in two dimensions.
func bilinear(u, v float64, w, h int, at func(x, y int) float64) float64 {
	return linear(v, h, func(y int) float64 {
		return linear(u, w, func(x int) float64 { return at(x, y) })
	})
}

// resize scales a picture: each byte is the rounded interpolation.
func resize(c *call) {
	const fw, fh, w, h = 20, 13, 31, 18
	data := c.bytes(fw * fh * 4)
	c.object(fmt.Sprintf("tex.2d(u8x4[%dx%d],float,norm,filter=linear)", fh, fw), data)
	to := c.object(fmt.Sprintf("surf.2d(u8x4[%dx%d])", h, w), nil)
	c.args = append(c.args, w, h)
	c.checks = append(c.checks, func() error {
		for i, got := range to.Bytes() {
			x, y := i/4%w, i/4/w
			u, v := (float32(x)+0.5)/w, (float32(y)+0.5)/h
			want := bilinear(float64(u)*fw, float64(v)*fh, fw, fh, func(x, y int) float64 { return float64(data[(y*fw+x)*4+i%4]) })
			if math.Abs(float64(got)-want) > 0.5+1e-3 {
				return fmt.Errorf("byte %d is %d, want nearly %v", i, got, want)
			}
		}
		return nil
	})
}

// blur computes the mean of nine texels, with the edge extended.
func blur(c *call) {
	const w, h = 11, 7
	data := c.floats(w*h, -1, 1)
	c.object(fmt.Sprintf("surf.2d(f32[%dx%d])", h, w), words(data))
	addOutput[float32](c, w*h, 1e-6, func(i int) float64 {
		sum := 0.0
		for k := range 9 {
			x, y := min(max(i%w+k%3-1, 0), w-1), min(max(i/w+k/3-1, 0), h-1)
			sum += float64(data[y*w+x])
		}
		return sum / 9
	})
	c.args = append(c.args, w, h)
}

// levels reads a mipmapped array whose first level has 8×4 texels, a table and layers.
func levels(c *call) {
	const n = 50
	mip, rows, table := c.bytes(64), c.floats(3*n, -1, 1), c.integers(4*n, -9, 9)
	c.object("tex.2d(u8[4x8],float,norm,levels=3,filter=linear,mip=linear)", mip)
	var integers []byte
	for _, v := range table {
		integers = binary.LittleEndian.AppendUint32(integers, uint32(v))
	}
	c.object(fmt.Sprintf("tex.linear(s32x4[%d])", n), integers)
	c.object(fmt.Sprintf("tex.a1d(f32[3x%d],filter=linear)", n), words(rows))
	first := []int{0, 32, 40} // first texel of each level
	addOutput[float32](c, n, 1e-5, func(i int) float64 {
		u := float32(i) / n
		at := func(level int) float64 {
			w, h := 8>>level, 4>>level
			return bilinear(float64(u)*float64(w), float64(1-u)*float64(h), w, h, func(x, y int) float64 { return float64(mip[first[level]+y*w+x]) / 255 })
		}
		lod := min(max(math.Floor(float64(3*u)*256+0.5)/256, 0), 2)
		base := math.Floor(lod)
		v := at(int(base))
		if rest := lod - base; rest > 0 {
			v = (1-rest)*v + rest*at(int(base)+1)
		}
		row := rows[i%3*n:][:n]
		return v + float64(table[4*i+1])*linear(float64(i)+0.25, n, func(x int) float64 { return float64(row[x]) })
	})
	c.args = append(c.args, n)
}
