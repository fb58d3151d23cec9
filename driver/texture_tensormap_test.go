package driver

import (
	"testing"
	"unsafe"

	"gemu/ptx"
)

// moves copies a box of 8×8 halves at (x, y) of a tensor to the same place of a second tensor.
const moves = `.version 8.0
.target sm_90
.address_size 64
.visible .entry moves(.param .align 64 .b8 from[128], .param .align 64 .b8 to[128], .param .u32 x, .param .u32 y)
{
	.shared .align 1024 .b8 box[256];
	.shared .align 8 .b64 full;
	.reg .u64 %m; .reg .u32 %x, %y; .reg .pred %p;
	ld.param.u32 %x, [x]; ld.param.u32 %y, [y];
	mbarrier.init.shared.b64 [full], 1;
	mbarrier.arrive.expect_tx.shared.b64 _, [full], 128;
	mov.b64 %m, from; cvta.param.u64 %m, %m;
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [box], [%m, {%x, %y}], [full];
L:	mbarrier.try_wait.parity.shared.b64 %p, [full], 0;
	@!%p bra L;
	mov.b64 %m, to; cvta.param.u64 %m, %m;
	cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%m, {%x, %y}], [box];
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
	ret;
}
`

// TestTensorMapsInKernels: a kernel moves a box with maps made by the driver, one of them with a replaced address;
// invalid maps are refused.
func TestTensorMapsInKernels(t *testing.T) {
	c := newClient(t, nil)
	c.mod = c.load(moves)
	const rows, columns = 20, 12 // in words
	from, to := c.alloc(4*rows*columns), c.alloc(4*rows*columns)
	in, want := make([]uint32, rows*columns), make([]uint32, rows*columns)
	for i := range in {
		if in[i] = uint32(i + 1); i/columns >= 15 && i%columns >= 6 && i%columns < 10 {
			want[i] = in[i]
		}
	}
	c.write(from, in...)
	c.write(to, make([]uint32, rows*columns)...)
	tensor := Tensor{Type: 6, Address: from, Dims: []uint64{2 * columns, rows}, Strides: []uint64{4 * columns}, Steps: []uint32{0, 1}, Swizzle: 1}
	a := must(c.TensorMapEncodeTiled(&tensor, []uint32{8, 8}))(t)
	b := must(c.TensorMapReplaceAddress(&a, to))(t)
	x, y := int32(12), int32(15)
	params := []unsafe.Pointer{unsafe.Pointer(&a), unsafe.Pointer(&b), unsafe.Pointer(&x), unsafe.Pointer(&y)}
	c.ok(c.LaunchKernel(&LaunchParams{Func: c.function("moves"), Grid: ptx.Dim(1), Block: ptx.Dim(1), Params: unsafe.Pointer(&params[0])}, 0))
	c.expect(to, want...)

	bad := func(what string, change func(s *Tensor)) {
		t.Helper()
		s := tensor
		change(&s)
		_, err := c.TensorMapEncodeTiled(&s, []uint32{8, 8})
		c.want(InvalidValue, what, err)
	}
	bad("one of these numbers is invalid", func(s *Tensor) { s.Type = 16 })
	bad("one of these numbers is invalid", func(s *Tensor) { s.Swizzle = 7 })
	bad("want a multiple of 16", func(s *Tensor) { s.Address += 8 })
	bad("a stride of 24 bytes", func(s *Tensor) { s.Strides = []uint64{24} })
	bad("a traversal stride of 9", func(s *Tensor) { s.Steps = []uint32{1, 9} })
	bad("NaN cannot fill the elements outside a tensor of .u16", func(s *Tensor) { s.Type, s.OOB = 1, 1 })
	bad("a tensor of 6 dimensions", func(s *Tensor) { s.Dims = make([]uint64, 6) })
	_, err := c.TensorMapEncodeTiled(&tensor, []uint32{8, 1<<16 + 8})
	c.want(InvalidValue, "a box of 65544 elements", err)
	image := Tensor{Type: 6, Address: from, Dims: []uint64{8, 3, 4, 5}, Strides: []uint64{16, 48, 192}, Steps: []uint32{1, 1, 1, 1}}
	if _, err := c.TensorMapEncodeIm2col(&image, []int32{-1, -1}, []int32{-1, -1}, 8, 16); err != nil {
		t.Error(err)
	}
	if _, err := c.TensorMapEncodeIm2col(&image, []int32{0, -129}, []int32{0, 0}, 8, 16); ResultOf(err) != InvalidValue {
		t.Error(err)
	}
	image.Dims, image.Strides, image.Swizzle = []uint64{64, 3, 5}, []uint64{128, 384}, 3
	for _, wide := range []struct {
		pixels, mode uint32
		want         Result
	}{{16, 0, 0}, {0, 1, 0}, {0, 0, InvalidValue}, {16, 2, InvalidValue}} {
		if _, err := c.TensorMapEncodeIm2colWide(&image, -1, 0, 64, wide.pixels, wide.mode); ResultOf(err) != wide.want {
			t.Errorf("%+v: %v", wide, err)
		}
	}
	if _, err := c.TensorMapReplaceAddress(&a, from+4); ResultOf(err) != InvalidValue {
		t.Error(err)
	}
	if _, err := c.TensorMapReplaceAddress(&TensorMap{}, from); ResultOf(err) != InvalidValue {
		t.Error(err)
	}
}
