package opbench

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gemu/interp"
	"gemu/ptx"
	"gemu/texture"
)

// Run is a kernel loaded into a device of its own.
type Run struct {
	Kernel *Kernel

	module       *interp.Module
	in, out, mem *interp.Buffer
	args         []any  // after n
	initial      []byte // see start
	executed     int64  // warp instructions of the last launch
}

// Load loads a kernel into a new device that has one host thread.
func (k *Kernel) Load() (*Run, error) {
	dev := interp.NewDevice(interp.Config{Workers: 1})
	m, err := dev.Load("op.ptx", []byte(k.Source))
	if err != nil {
		return nil, fmt.Errorf("BUG: %w in\n%s", err, k.Source)
	}
	r := &Run{Kernel: k, module: m}
	if r.in, err = interp.NewBuffer(dev, k.Inputs); err != nil {
		return nil, err
	}
	if r.out, err = dev.Alloc(k.Output); err != nil {
		return nil, err
	}
	if r.mem, err = dev.Alloc(Memory); err != nil {
		return nil, err
	}
	if k.Images != "" {
		tex, surf, err := images(dev, texture.GeometryNamed(k.Images), k.WideTexels)
		if err != nil {
			return nil, err
		}
		r.args = append(r.args, tex, surf)
	}
	if k.Map > 0 {
		data, err := r.mem.TensorMap("u32[" + tiles[k.Map] + "],box=" + tiles[k.Map])
		if err != nil {
			return nil, fmt.Errorf("BUG: %w", err)
		}
		r.args = append(r.args, data)
	}
	return r, nil
}

// images makes a texture of floats and a surface of integers, of 4 bytes or of 8 if wide is set.
func images(dev *interp.Device, g texture.Geometry, wide bool) (tex, surf *interp.Object, err error) {
	shape := texture.Image{Geometry: g, Format: texture.Format{Channels: 4, Bits: 32, Kind: texture.Float}, Width: 16, Height: 1, Depth: 1, Layers: 1, Levels: 1, Samples: 1}
	switch {
	case g.Dimensions() == 3:
		shape.Height, shape.Depth = 16, 8
	case g.Dimensions() == 2:
		shape.Height = 16
	}
	switch {
	case g == texture.ImageCubes:
		shape.Layers = 12
	case g.Cube():
		shape.Layers = 6
	case g.Layered():
		shape.Layers = 8
	}
	if g.Multisample() {
		shape.Samples = 8
	}
	array, err := dev.NewArray("image", shape)
	if err != nil {
		return nil, nil, err
	}
	if tex, err = dev.NewTexture(interp.TextureDesc{Name: "tex", Array: array, Normalized: g.Cube()}); err != nil {
		return nil, nil, err
	}
	shape.Format = texture.Format{Channels: 1, Bits: 32}
	if wide {
		shape.Format.Channels = 2
	}
	if array, err = dev.NewArray("image of integers", shape); err != nil {
		return nil, nil, err
	}
	surf, err = dev.NewSurface("surf", array, 0, false)
	return tex, surf, err
}

// Launch runs a kernel with n iterations of its loop, after it has cleared the memory. prepare changes the launch: it
// chooses the engine and the mode.
func (r *Run) Launch(ctx context.Context, kernel string, n int, prepare func(l *interp.Launch)) (time.Duration, error) {
	clear(r.out.Bytes())
	copy(r.mem.Bytes(), r.start())
	l := &interp.Launch{Kernel: kernel, Grid: ptx.Dim(1), Block: ptx.Dim(32 * r.Kernel.Warps), MaxSteps: 1 << 40}
	l.Args = append([]any{r.in, r.out, r.mem, n}, r.args...)
	prepare(l)
	result, err := r.module.Run(ctx, l)
	if err != nil {
		return 0, err
	}
	r.executed = result.WarpInstructions
	return result.Duration, nil
}

// start returns the contents of the buffer mem before a launch: numbers in every format, as in Kernel.Inputs.
func (r *Run) start() []byte {
	if r.initial == nil {
		r.initial = make([]byte, Memory)
		for i := 0; i < Memory; i += 2 {
			r.initial[i], r.initial[i+1] = byte(i>>1)&0x7f, 0x3f
		}
	}
	return r.initial
}

// Results returns the buffers out and mem after a launch.
func (r *Run) Results() []byte { return slices.Concat(r.out.Bytes(), r.mem.Bytes()) }

// Measure returns the times of an instruction in nanoseconds, one for each of the runs. A run takes the shortest of several
// launches of Measured and of Empty: whatever else the host executes only adds time. Their difference is the time of the
// copies. Launches are so long that the copies take about launchTime.
func (r *Run) Measure(ctx context.Context, runs int, prepare func(l *interp.Launch)) ([]float64, error) {
	n := 16
	for {
		// The first launch lowers the kernel, and the host may interrupt a launch: the shortest of three counts.
		d := time.Duration(math.MaxInt64)
		for range 3 {
			took, err := r.Launch(ctx, Measured, n, prepare)
			if err != nil {
				return nil, err
			}
			d = min(d, took)
		}
		if d >= launchTime/4 || n >= maxIterations {
			n = int(min(max(float64(n)*float64(launchTime)/float64(max(d, 1)), 1), maxIterations))
			break
		}
		n *= 4
	}
	var list []float64
	for range runs {
		shortest := map[string]time.Duration{}
		for range launches {
			for _, kernel := range []string{Empty, Measured} {
				d, err := r.Launch(ctx, kernel, n, prepare)
				if err != nil {
					return nil, err
				}
				if old, ok := shortest[kernel]; !ok || d < old {
					shortest[kernel] = d
				}
			}
		}
		list = append(list, float64(shortest[Measured]-shortest[Empty])/float64(n*r.Kernel.Copies*r.Kernel.Warps))
	}
	return list, nil
}

const (
	launches   = 5                      // launches of a run
	launchTime = 300 * time.Microsecond // a time shorter than the host's time slices
)

// maxIterations bounds the iterations of a loop.
const maxIterations = 1 << 20

// Compare runs two iterations with both settings, and reports whether the results are equal to the bit.
func (r *Run) Compare(ctx context.Context, prepare, reference func(l *interp.Launch)) (equal bool, err error) {
	if _, err := r.Launch(ctx, Measured, 2, reference); err != nil {
		return false, err
	}
	want := r.Results()
	if _, err := r.Launch(ctx, Measured, 2, prepare); err != nil {
		return false, err
	}
	return bytes.Equal(want, r.Results()), nil
}
