package regfile

import (
	"testing"
	"unsafe"
)

// blockOf returns the start and the layout of the block of a file. They are valid until a window is opened that needs more
// room.
func blockOf(f *File) (start unsafe.Pointer, l layout) {
	return unsafe.Pointer(f.block.active), layoutOf(f.block.size(), f.block.tracked)
}

// TestRowLayout checks the layout in the package comment.
func TestRowLayout(t *testing.T) {
	if n := unsafe.Sizeof(Compact{}); n != 24 {
		t.Errorf("a shadow has %d bytes", n)
	}
	var c Compact
	if unsafe.Offsetof(c.Stride) != 8 || unsafe.Offsetof(c.Mask) != 16 || unsafe.Offsetof(c.Materialised) != 20 {
		t.Error("the fields of a shadow do not have the documented offsets")
	}
	for _, c := range []struct {
		n       Size
		tracked bool
		want    layout
	}{
		{Size{R: 3, Q: 2, P: 17}, false, layout{P: 64, R: 192, Q: 576, ShadowR: 1088, ShadowQ: 1088, Bytes: 1088}},
		{Size{R: 3, Q: 2, P: 17}, true, layout{P: 64, R: 192, Q: 576, ShadowR: 1088, ShadowQ: 1216, Bytes: 1280}},
	} {
		f := New(&Constants{}, c.tracked)
		f.SetActive(0x1234)
		f.Open(Size{}, c.n)
		start, l := blockOf(f)
		if l != c.want {
			t.Errorf("%+v: the layout is %+v, want %+v", c.n, l, c.want)
		}
		if uintptr(start)%alignment != 0 {
			t.Errorf("the block begins at %p", start)
		}
		for _, r := range []struct {
			name string
			got  unsafe.Pointer
			want uintptr
		}{
			{"predicate 16", unsafe.Pointer(&f.p[16]), l.P + 64},
			{"row 2", unsafe.Pointer(f.Row32(2)), l.R + 256},
			{"wide row 1", unsafe.Pointer(f.Row64(1)), l.Q + 256},
		} {
			if r.got != unsafe.Add(start, r.want) {
				t.Errorf("%s is at %p, want offset %#x from %p", r.name, r.got, r.want, start)
			}
		}
		if *(*uint32)(unsafe.Add(start, l.Active)) != 0x1234 {
			t.Error("the active lanes are not in the block")
		}
		if c.tracked && (unsafe.Pointer(f.Shadow32(2)) != unsafe.Add(start, l.ShadowR+48) || unsafe.Pointer(f.Shadow64(1)) != unsafe.Add(start, l.ShadowQ+24)) {
			t.Error("the shadows do not have the documented offsets")
		}
		// Open a higher window, and check the earlier values.
		f.Row32(2)[31], f.Row64(1)[31] = 5, 6
		f.Open(Size{R: 2, Q: 1, P: 1}, Size{R: 30, Q: 30, P: 30})
		start, l = blockOf(f)
		if unsafe.Pointer(f.Row32(0)) != unsafe.Add(start, l.R+256) || f.Row32(0)[31] != 5 || unsafe.Pointer(f.Row64(0)) != unsafe.Add(start, l.Q+256) || f.Row64(0)[31] != 6 || f.Active() != 0x1234 {
			t.Error("growing the block has changed values")
		}
	}
}
