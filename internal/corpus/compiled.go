package corpus

// This file states how the compiler-made kernels of testdata/corpus are launched, and their expected results:
// references on the host. Inputs of matrices are small integers, so products and sums are exact in any order.

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"gemu/interp"
	"gemu/ptx"
)

// compiled describes a launch of a compiler-made kernel.
type compiled struct {
	grid    []int
	block   []int // nil: as the kernel requires
	shared  int   // dynamic, in bytes
	cluster int   // CTAs of a cluster; 0: as the kernel requires
	run     func(c *call)
}

// compiledKernels are the launches by file, or by kernel for kernels in several files.
var compiledKernels = map[string]compiled{
	"corpus/triton_softmax_80.ptx":     {grid: []int{3}, shared: 16, run: softmax},
	"corpus/triton_layernorm_90.ptx":   {grid: []int{3}, shared: 16, run: layernorm},
	"corpus/triton_histogram_80.ptx":   {grid: []int{4}, run: counts},
	"corpus/triton_scan_80.ptx":        {grid: []int{2}, shared: 64, run: scan},
	"corpus/triton_matmul_f16_80.ptx":  {grid: []int{2, 1}, shared: 32 << 10, run: func(c *call) { matmul[float32](c, 4, addHalf) }},
	"corpus/triton_matmul_bf16_80.ptx": {grid: []int{2, 1}, shared: 32 << 10, run: func(c *call) { matmul[float32](c, 4, toBF16) }},
	"corpus/triton_matmul_tf32_80.ptx": {grid: []int{2, 1}, shared: 64 << 10, run: func(c *call) { matmul[float32](c, 4, addFloat32) }},
	"corpus/triton_matmul_s8_80.ptx":   {grid: []int{2, 1}, shared: 32 << 10, run: func(c *call) { matmul[int32](c, 127, addInt8) }},
	"corpus/triton_transpose_90.ptx":   {grid: []int{2, 2}, shared: 4104, run: transpose},
	"corpus/triton_attention_80.ptx":   {grid: []int{1}, shared: 32 << 10, run: attention},
	"corpus/triton_matmul_f16_90.ptx":  {grid: []int{2, 1}, shared: 32 << 10, run: func(c *call) { matmul[float32](c, 4, addHalf) }},
	"corpus/triton_matmul_tf32_90.ptx": {grid: []int{2, 1}, shared: 64 << 10, run: func(c *call) { matmul[float32](c, 4, addFloat32) }},
	"corpus/triton_matmul_e4m3_90.ptx": {grid: []int{2, 1}, shared: 32 << 10, run: func(c *call) { matmul[float32](c, 4, addE4M3) }},
	"corpus/triton_attention_90.ptx":   {grid: []int{1}, shared: 32 << 10, run: attention},

	"corpus/triton_matmul_f16_100.ptx":   {grid: []int{2, 1}, shared: 32 << 10, run: func(c *call) { matmul[float32](c, 4, addHalf) }},
	"corpus/triton_matmul_tf32_100.ptx":  {grid: []int{2, 1}, shared: 64 << 10, run: func(c *call) { matmul[float32](c, 4, addFloat32) }},
	"corpus/triton_matmul_e4m3_100.ptx":  {grid: []int{2, 1}, shared: 32 << 10, run: func(c *call) { matmul[float32](c, 4, addE4M3) }},
	"corpus/triton_attention_100.ptx":    {grid: []int{1}, shared: 32 << 10, run: attention},
	"corpus/triton_matmul_warps_100.ptx": {grid: []int{1}, shared: 64 << 10, run: specialized},
	"corpus/triton_scaled_mxfp8_100.ptx": {grid: []int{1}, shared: 32 << 10, run: func(c *call) { scaled(c, 32, eights) }},
	"corpus/triton_scaled_nvfp4_100.ptx": {grid: []int{1}, shared: 32 << 10, run: func(c *call) { scaled(c, 16, fours) }},

	"corpus/cutlass_mma_80.ptx":   {grid: []int{2}, block: []int{128}, shared: 48 << 10, run: column},
	"corpus/cutlass_wgmma_90.ptx": {grid: []int{2}, block: []int{384}, shared: 64 << 10, run: column},
	"corpus/cutlass_tma_90.ptx":   {grid: []int{2}, block: []int{256}, shared: 64 << 10, run: func(c *call) { mapped(c, 64) }},
	"corpus/cutlass_umma_100.ptx": {grid: []int{1}, block: []int{128}, shared: 32 << 10, run: func(c *call) { mapped(c, 128) }},

	"mixture": {grid: []int{3}, block: []int{128}, run: mixture},
	"shapes":  {grid: []int{2}, block: []int{64}, run: shapes},
	"sort":    {grid: []int{2}, block: []int{256}, run: sorted},
	"tiles":   {grid: []int{2, 2}, block: []int{32}, run: tiles},
	"opcodes": {grid: []int{2}, block: []int{64}, run: opcodes},

	"corpus/numba_tiled_75.ptx":   {grid: []int{3, 2}, block: []int{16, 16}, run: tiled},
	"corpus/numba_escape_80.ptx":  {grid: []int{3}, block: []int{64}, run: escape},
	"corpus/numba_ballots_90.ptx": {grid: []int{2}, block: []int{64}, run: ballots},

	"resize": {grid: []int{2, 3}, block: []int{16, 8}, run: resize},
	"blur":   {grid: []int{1, 2}, block: []int{16, 4}, run: blur},
	"levels": {grid: []int{2}, block: []int{32}, run: levels},

	"polynomial": {grid: []int{2}, block: []int{64}, run: polynomial},
	"radix":      {grid: []int{2}, block: []int{256}, shared: 4 * 256, run: radix},
	"digest":     {grid: []int{2}, block: []int{64}, run: digest},

	"spread":  {grid: []int{8}, block: []int{64}, run: spread},
	"running": {grid: []int{4}, block: []int{64}, cluster: 4, run: running},
}

// compiledAs returns the launch of a kernel of a file; ok is false if it is not compiler-made.
func compiledAs(file, kernel string) (compiled, bool) {
	if c, ok := compiledKernels[file]; ok || !strings.HasPrefix(file, "corpus/") {
		return c, ok
	}
	c, ok := compiledKernels[kernel]
	return c, ok
}

// call collects the arguments and the expected results of a launch.
type call struct {
	dev    *interp.Device
	random *rand.Rand
	args   []any
	checks []func() error
	err    error
}

// runCompiled runs a kernel and compares it with its reference.
func (r *run) runCompiled(m *ptx.Module, k *ptx.Func, kernel compiled) error {
	l := &interp.Launch{Kernel: k.Name, Grid: ptx.Dim(kernel.grid...), Shared: kernel.shared}
	if kernel.cluster > 0 {
		l.Cluster = ptx.Dim(kernel.cluster)
	}
	return r.launch(m, l, func(dev *interp.Device, k *ptx.Func) ([]any, func() error, error) {
		c := &call{dev: dev, random: rand.New(rand.NewPCG(1, 2))}
		kernel.run(c)
		for _, p := range k.Params[len(c.args):] { // scratch memory of the compiler, which is not used
			c.args = append(c.args, make([]byte, p.Size()))
		}
		return c.args, func() error {
			for _, check := range c.checks {
				if err := check(); err != nil {
					return err
				}
			}
			return nil
		}, c.err
	})
}

// number is the union of the element types of buffers.
type number interface {
	int8 | uint16 | int32 | int64 | float32
}

// addBuffer adds a buffer to the arguments.
func addBuffer[T number](c *call, data []T) {
	b, err := interp.NewBuffer(c.dev, data)
	if c.err == nil {
		c.err = err
	}
	c.args = append(c.args, b)
}

// addOutput adds an output buffer of n numbers. Number i must be close to want(i): within the tolerance, relative to
// the maximum of 1 and its magnitude.
func addOutput[T number](c *call, n int, tolerance float64, want func(i int) float64) {
	expectValues(c, n, func(i int, got T) bool {
		return math.Abs(float64(got)-want(i)) <= tolerance*max(1, math.Abs(want(i)))
	}, func(i int) any { return want(i) })
}

// expectExact adds an output buffer of n numbers, which must be want(i).
func expectExact[T number](c *call, n int, want func(i int) T) {
	expectValues(c, n, func(i int, got T) bool { return got == want(i) }, func(i int) any { return want(i) })
}

// expectValues adds an output buffer of n numbers. right reports whether number i is correct; want is for messages.
func expectValues[T number](c *call, n int, right func(i int, got T) bool, want func(i int) any) {
	addBuffer(c, make([]T, n))
	b, _ := c.args[len(c.args)-1].(*interp.Buffer)
	c.checks = append(c.checks, func() error {
		for i, got := range interp.Slice[T](b) {
			if !right(i, got) {
				return fmt.Errorf("element %d is %v, want %v", i, got, want(i))
			}
		}
		return nil
	})
}

// floats returns n numbers between low and high.
func (c *call) floats(n int, low, high float32) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = low + (high-low)*c.random.Float32()
	}
	return list
}

func softmax(c *call) {
	const rows, n, stride = 3, 200, 256
	x := c.floats(rows*stride, -4, 4)
	addOutput[float32](c, rows*stride, 1e-6, func(i int) float64 {
		row, col := x[i/stride*stride:], i%stride
		if col >= n {
			return 0
		}
		sum := 0.0
		for _, v := range row[:n] {
			sum += math.Exp(float64(v))
		}
		return math.Exp(float64(row[col])) / sum
	})
	addBuffer(c, x)
	c.args = append(c.args, n, stride)
}

func layernorm(c *call) {
	const rows, n, eps = 3, 300, 1e-5
	x, weight, bias := c.floats(rows*n, -2, 3), c.floats(n, 0.5, 2), c.floats(n, -1, 1)
	addOutput[float32](c, rows*n, 1e-5, func(i int) float64 {
		row, col := x[i/n*n:][:n], i%n
		mean, variance := 0.0, 0.0
		for _, v := range row {
			mean += float64(v) / n
		}
		for _, v := range row {
			variance += (float64(v) - mean) * (float64(v) - mean) / n
		}
		return (float64(row[col])-mean)/math.Sqrt(variance+eps)*float64(weight[col]) + float64(bias[col])
	})
	addBuffer(c, x)
	addBuffer(c, weight)
	addBuffer(c, bias)
	c.args = append(c.args, n, float32(eps))
}

func counts(c *call) {
	const n, bins = 1000, 16
	x, want := make([]int32, n), [bins]int32{}
	for i := range x {
		x[i] = int32(c.random.IntN(bins))
		want[x[i]]++
	}
	expectExact(c, bins, func(i int) int32 { return want[i] })
	addBuffer(c, x)
	c.args = append(c.args, n)
}

// spread counts numbers below 256 in clusters.
func spread(c *call) {
	const n, bins = 2000, 256
	x, want := make([]int32, n), [bins]int32{}
	for i := range x {
		x[i] = int32(c.random.IntN(bins))
		want[x[i]]++
	}
	addBuffer(c, x)
	c.args = append(c.args, n)
	expectExact(c, bins, func(i int) int32 { return want[i] })
}

// running computes running sums in a cluster.
func running(c *call) {
	const n = 250
	x, want, sum := make([]int32, n), make([]int32, n), int32(0)
	for i := range x {
		x[i] = int32(c.random.IntN(1000) - 500)
		sum += x[i]
		want[i] = sum
	}
	addBuffer(c, x)
	expectExact(c, n, func(i int) int32 { return want[i] })
	c.args = append(c.args, n)
}

// transpose makes its tensor maps in memory that it receives: 256 bytes for each CTA. Tiles are 32×32, so all CTAs but
// the first have tiles partly outside.
func transpose(c *call) {
	const rows, columns = 40, 44
	x := c.floats(rows*columns, -4, 4)
	expectExact(c, rows*columns, func(i int) float32 { return x[i%rows*columns+i/rows] })
	addBuffer(c, x)
	c.args = append(c.args, rows, columns)
	addBuffer(c, make([]int8, 4*256))
}

func scan(c *call) {
	const rows, n = 2, 250
	x, want := make([]int32, rows*n), make([]int32, rows*n)
	for i := range x {
		x[i] = int32(c.random.IntN(1000) - 500)
		if want[i] = x[i]; i%n > 0 {
			want[i] += want[i-1]
		}
	}
	expectExact(c, rows*n, func(i int) int32 { return want[i] })
	addBuffer(c, x)
	c.args = append(c.args, n)
}

// Elements of matrices: small integers in a format.
func addHalf(c *call, list []int) { addBuffer(c, convert(list, f16Of)) }
func toBF16(c *call, list []int)  { addBuffer(c, convert(list, bf16Of)) }
func addFloat32(c *call, list []int) {
	addBuffer(c, convert(list, func(v int) float32 { return float32(v) }))
}
func addInt8(c *call, list []int) { addBuffer(c, convert(list, func(v int) int8 { return int8(v) })) }
func addE4M3(c *call, list []int) { addBuffer(c, convert(list, e4m3Of)) }

func convert[V, T number | int](list []V, f func(V) T) []T {
	converted := make([]T, len(list))
	for i, v := range list {
		converted[i] = f(v)
	}
	return converted
}

// e4m3Of returns an integer below 16 in 8 bits: sign, exponent of 4 bits, 3 bits of the significand.
func e4m3Of(v int) int8 {
	h := f16Of(v)
	if v == 0 {
		return 0
	}
	return int8(h>>8&0x80 | (h>>7&0xff - 8<<3))
}

// f16Of returns an integer below 2048 in half precision: sign, exponent of 5 bits, 10 bits of the significand.
func f16Of(v int) uint16 {
	b := math.Float32bits(float32(v))
	if v == 0 {
		return 0
	}
	return uint16(b>>16&0x8000) | uint16(b>>23&0xff-112)<<10 | uint16(b>>13&0x3ff)
}

// bf16Of returns an integer below 256 in bfloat16, the upper half of a float.
func bf16Of(v int) uint16 { return uint16(math.Float32bits(float32(v)) >> 16) }

// matmul multiplies matrices of integers between -limit and limit in a format; T is the type of sums.
func matmul[T number](c *call, limit int, addMatrix func(*call, []int)) {
	a, b := c.matrix(m*k, limit), c.matrix(k*n, limit)
	expectExact(c, m*n, func(i int) T {
		sum := 0
		for j := range k {
			sum += a[i/n*k+j] * b[j*n+i%n]
		}
		return T(sum)
	})
	addMatrix(c, a)
	addMatrix(c, b)
	c.args = append(c.args, k, k, n, n)
}

// m, n and k are the extents of matrices: the product is m×n, sums have k terms.
const m, n, k = 128, 64, 96

// matrix returns size integers between -limit and limit.
func (c *call) matrix(size, limit int) []int {
	list := make([]int, size)
	for i := range list {
		list[i] = c.random.IntN(2*limit+1) - limit
	}
	return list
}

// column multiplies matrices of halves; the second is stored column by column.
func column(c *call) {
	a, b := c.matrix(m*k, 4), c.matrix(n*k, 4)
	addHalf(c, a)
	addHalf(c, b)
	expectExact(c, m*n, func(i int) float32 {
		sum := 0
		for j := range k {
			sum += a[i/n*k+j] * b[i%n*k+j]
		}
		return float32(sum)
	})
	c.args = append(c.args, m, n, k)
}

// mapped is column with a and b read through tensor maps, rows rows of a at a time.
func mapped(c *call, rows int) {
	column(c)
	for i, text := range []string{fmt.Sprintf("f16[%dx%d],box=%dx64,swizzle=128", m, k, rows), fmt.Sprintf("f16[%dx%d],box=64x64,swizzle=128", n, k)} {
		tensor, err := c.args[i].(*interp.Buffer).TensorMap(text)
		if c.err == nil {
			c.err = err
		}
		c.args[i] = tensor
	}
	c.args = slices.Delete(c.args, 3, 4)
}

// specialized is matmul with tensor maps that the kernel makes in memory that it receives.
func specialized(c *call) {
	matmul[float32](c, 4, addHalf)
	c.args = append(c.args[:3], m, n, k)
	addBuffer(c, make([]int8, 4*256))
}

// scaled multiplies matrices with scales: groups of each neighbouring elements in a row of a, and in a column of b,
// have a common scale. draw returns the bytes of a row, its scales, and the values.
func scaled(c *call, each int, draw func(c *call, k, each int) (row, scales []int8, values []float64)) {
	const m, n, k = 128, 64, 256
	var bytes, scales [2][]int8
	var values [2][][]float64
	for i, rows := range [...]int{m, n} {
		for range rows {
			row, s, v := draw(c, k, each)
			bytes[i], scales[i], values[i] = append(bytes[i], row...), append(scales[i], s...), append(values[i], v)
		}
	}
	expectExact(c, m*n, func(i int) float32 {
		sum := 0.0
		for j, v := range values[0][i/n] {
			sum += v * values[1][i%n][j]
		}
		return float32(sum)
	})
	for i := range bytes {
		addBuffer(c, bytes[i])
		addBuffer(c, scales[i])
	}
	c.args = append(c.args, k, len(bytes[0])/m, len(bytes[1])/n, k/each, k/each, n)
}

// eights draws integers in .e4m3 and scales in .ue8m0.
func eights(c *call, k, each int) (row, scales []int8, values []float64) {
	for i := range k {
		if i%each == 0 {
			scales = append(scales, int8(126+c.random.IntN(3)))
		}
		v := c.random.IntN(9) - 4
		row, values = append(row, e4m3Of(v)), append(values, math.Ldexp(float64(v), int(uint8(scales[len(scales)-1]))-127))
	}
	return row, scales, values
}

// fours draws numbers in .e2m1, two in a byte, and integer scales in .ue4m3.
func fours(c *call, k, each int) (row, scales []int8, values []float64) {
	scale := 0
	for i := range k {
		if i%each == 0 {
			scale = 1 + c.random.IntN(12)
			scales = append(scales, e4m3Of(scale))
		}
		bits := c.random.IntN(16)
		v := [...]float64{0, 0.5, 1, 1.5, 2, 3, 4, 6}[bits%8] * float64(scale)
		if bits >= 8 {
			v = -v
		}
		if values = append(values, v); i%2 == 0 {
			row = append(row, 0)
		}
		row[i/2] |= int8(bits << (i % 2 * 4))
	}
	return row, scales, values
}

// tiles is 2·c + a·b, with b in columns.
func tiles(c *call) {
	const m, n, k = 32, 32, 48
	draw := func(n int) []int {
		list := make([]int, n)
		for i := range list {
			list[i] = c.random.IntN(9) - 4
		}
		return list
	}
	a, b, before := draw(m*k), draw(n*k), draw(m*n)
	addHalf(c, a)
	addHalf(c, b)
	expectExact(c, m*n, func(i int) float32 {
		sum := 2 * before[i]
		for j := range k {
			sum += a[i/n*k+j] * b[i%n*k+j]
		}
		return float32(sum)
	})
	to, _ := c.args[2].(*interp.Buffer)
	copy(interp.Slice[float32](to), convert(before, func(v int) float32 { return float32(v) }))
	c.args = append(c.args, k)
}

// attention is softmax(q·kᵀ)·v for a single head. Weights are rounded to half precision before the multiplication.
func attention(c *call) {
	const n, d = 64, 64
	integers := func(limit int) []int {
		list := make([]int, n*d)
		for i := range list {
			list[i] = c.random.IntN(2*limit+1) - limit
		}
		return list
	}
	q, k, v := integers(1), integers(1), integers(8)
	want := make([]float64, n*d)
	for row := range n {
		var weights [n]float64
		maximum, sum := math.Inf(-1), 0.0
		for key := range n {
			for j := range d {
				weights[key] += float64(q[row*d+j] * k[key*d+j])
			}
			maximum = max(maximum, weights[key])
		}
		for key := range n {
			weights[key] = math.Exp(weights[key] - maximum)
			sum += weights[key]
		}
		for j := range d {
			for key := range n {
				want[row*d+j] += weights[key] / sum * float64(v[key*d+j])
			}
		}
	}
	addOutput[float32](c, n*d, 4e-3, func(i int) float64 { return want[i] })
	addHalf(c, q)
	addHalf(c, k)
	addHalf(c, v)
	c.args = append(c.args, n)
}

// integers returns n integers between low and high.
func (c *call) integers(n, low, high int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(low + c.random.IntN(high-low+1))
	}
	return list
}

// mixture computes the sum and the maximum of each block; threads beyond the end have 0.
func mixture(c *call) {
	const block, n = 128, 300
	x := c.integers(n, -1000, 1000)
	expectExact(c, 6, func(i int) int32 {
		part := slices.Clone(x[i/2*block : min(n, (i/2+1)*block)])
		if len(part) < block {
			part = append(part, 0)
		}
		if i%2 == 1 {
			return slices.Max(part)
		}
		sum := int32(0)
		for _, v := range part {
			sum += v
		}
		return sum
	})
	addBuffer(c, x)
	c.args = append(c.args, n)
}

func shapes(c *call) {
	const n = 100
	x := c.integers(n, 0, 50)
	expectExact(c, n, func(i int) float32 {
		area := x[i] * (x[i] + 1)
		if i%3 == 0 {
			area = 3 * x[i] * x[i]
		}
		m, n := i%3, i%5
		return float32(area) + float32([]int{n + 1, n + 2, 2*n + 3}[m]) // Ackermann's function of (m, n)
	})
	addBuffer(c, convert(x, func(v int32) float32 { return float32(v) }))
	c.args = append(c.args, n)
}

func sorted(c *call) {
	x := c.integers(512, -1<<31, 1<<31-1)
	want := slices.Clone(x)
	slices.Sort(want[:256])
	slices.Sort(want[256:])
	expectExact(c, len(x), func(i int) int32 { return want[i] })
	addBuffer(c, x)
}

func opcodes(c *call) {
	const n = 120
	x := make([]int64, n)
	for i := range x {
		x[i] = c.random.Int64N(1<<40) - 1<<39
	}
	expectExact(c, n, func(i int) int64 {
		a, b := x[i], int64(i)+1
		switch i % 8 {
		case 0:
			return a + b
		case 1:
			return a * b
		case 2:
			return a / b
		case 3:
			return a % b
		case 4:
			return int64(uint64(a) >> (b & 63))
		case 5:
			return int64(float64(a) * 0.5)
		case 6:
			return int64(bits.OnesCount64(uint64(a)))
		}
		return a ^ a<<7
	})
	addBuffer(c, x)
	c.args = append(c.args, n)
}

// array adds an array to the arguments as Numba does: before the address two Python objects, the number of elements and
// the element size; after it the extents and the strides in bytes. add adds the address.
func (c *call) array(size int, extents []int, add func()) {
	count, strides := 1, make([]any, len(extents))
	for i := len(extents) - 1; i >= 0; i-- {
		strides[i] = uint64(count * size)
		count *= extents[i]
	}
	c.args = append(c.args, uint64(0), uint64(0), uint64(count), uint64(size))
	add()
	for _, n := range extents {
		c.args = append(c.args, uint64(n))
	}
	c.args = append(c.args, strides...)
}

// tiled multiplies matrices whose extents are not multiples of a tile.
func tiled(c *call) {
	const m, n, k = 20, 37, 25
	a, b := c.integers(m*k, -9, 9), c.integers(k*n, -9, 9)
	number := func(v int32) float32 { return float32(v) }
	c.array(4, []int{m, k}, func() { addBuffer(c, convert(a, number)) })
	c.array(4, []int{k, n}, func() { addBuffer(c, convert(b, number)) })
	c.array(4, []int{m, n}, func() {
		expectExact(c, m*n, func(i int) float32 {
			sum := int32(0)
			for j := range k {
				sum += a[i/n*k+j] * b[j*n+i%n]
			}
			return float32(sum)
		})
	})
}

func escape(c *call) {
	const width, height, most = 30, 20, 50
	c.array(4, []int{width * height}, func() {
		expectExact(c, width*height, func(i int) int32 {
			cx, cy := float64(i%width)*3/width-2, float64(i/width)*2/height-1
			x, y := 0.0, 0.0
			n := int32(0)
			// The compiler fuses operations, which rounds differently. That would only matter closer to the edge of the
			// set than any point here.
			for ; n < most && x*x+y*y < 4; n++ {
				x, y = x*x-y*y+cx, x*y+y*x+cy
			}
			return n
		})
	})
	c.args = append(c.args, int32(width), int32(height), int32(most))
}

func ballots(c *call) {
	const n = 128
	x := c.integers(n, 0, 1000)
	want := make([]int32, 2*n+1)
	for i, v := range x {
		if want[2*i] = v; i%32 > 0 {
			want[2*i] += want[2*i-2]
			want[2*i+1] = want[2*i-1] + x[i-1]%2
		}
	}
	want[2*n] = slices.Max(x)
	c.array(4, []int{len(want)}, func() { expectExact(c, len(want), func(i int) int32 { return want[i] }) })
	c.array(4, []int{n}, func() { addBuffer(c, x) })
}

func polynomial(c *call) {
	const n = 300
	x := c.floats(n, -2, 2)
	p := []float32{1, -0.5, 0.25, 3, -1}
	addOutput[float32](c, n, 1e-5, func(i int) float64 {
		y := 0.0
		for j := len(p) - 1; j >= 0; j-- {
			y = y*float64(x[i]) + float64(p[j])
		}
		return y
	})
	addBuffer(c, x)
	var raw []byte
	for _, v := range p {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	c.args = append(c.args, n, raw)
}

func radix(c *call) {
	x := c.integers(512, 0, 1<<16-1)
	want := slices.Clone(x)
	slices.Sort(want[:256])
	slices.Sort(want[256:])
	expectExact(c, len(x), func(i int) int32 { return want[i] })
	addBuffer(c, x)
}

func digest(c *call) {
	const n = 100
	x, primes := c.integers(n, -1<<31, 1<<31-1), []uint64{2, 3, 5, 7, 11, 13, 17, 19}
	expectExact(c, n, func(i int) int64 {
		x, h := uint32(x[i]), uint64(0xcbf29ce484222325)
		for k := range 8 {
			h = (h^uint64(byte(x>>(k%4*8))))*0x100000001b3 + primes[(x+uint32(k))&7]
			low := uint32(h)
			permuted := low>>8&0xff | x&0xff00 | low>>24<<16 | x&0xff000000 // bytes 5, 1, 7 and 3 of the two
			x = bits.RotateLeft32(x, 5) + permuted
			s := int32(int16(x >> 3))
			high, _ := bits.Mul32(x, uint32(h>>32))
			x ^= uint32(s/7) + high + bits.Reverse32(x)%1009
		}
		return int64(h ^ uint64(x))
	})
	addBuffer(c, x)
	c.args = append(c.args, n)
}
