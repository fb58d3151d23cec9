package driver

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	"gemu/sanitize"
)

// TestLinkedVariableBounds: in linked modules bounds finds an access after a variable through a pointer to it, for each order of the module
// that declares the variable and the module that defines it. The access is in bounds of the variable that follows it, so it does not trap.
func TestLinkedVariableBounds(t *testing.T) {
	const head = ".version 8.0\n.target sm_80\n.address_size 64\n"
	uses := head + `.extern .global .align 4 .u32 g[];
.extern .const .align 4 .u32 c[];
.visible .entry k(.param .u64 skip)
{
	.reg .u32 %x; .reg .u64 %g, %c, %skip;
	ld.param.u64 %skip, [skip];
	mov.u64 %c, c;
	add.u64 %c, %c, %skip;
	ld.const.u32 %x, [%c];
	mov.u64 %g, g;
	add.u64 %g, %g, %skip;
	st.global.u32 [%g], %x;
	ret;
}
`
	defines := head + `.visible .global .align 4 .u32 g[64];
.visible .global .align 4 .u32 after[1024];
.visible .const .align 4 .u32 c[64];
.visible .const .align 4 .u32 next[1024];
.visible .func touch() { .reg .u64 %r; mov.u64 %r, after; ret; }
`
	tools, err := sanitize.Parse("bounds")
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range [][]string{{uses, defines}, {defines, uses}} {
		c := newClient(t, func(s *Settings) { s.Sanitize = tools })
		l := must(c.LinkCreate())(t)
		for _, text := range order {
			c.ok(c.LinkAddData(l, LinkPTX, cString(text), uint64(len(text)), "part"))
		}
		image := must(c.LinkComplete(l))(t)
		c.mod = must(c.ModuleLoadData(unsafe.Pointer(&image[0]), 0))(t)
		c.ok(c.LinkDestroy(l))
		c.ok(c.launch("k", 1, 1, uint64(252)))
		c.ok(c.CtxSynchronize(0))
		if list := c.d.sanitizer.Findings(); len(list) != 0 {
			t.Errorf("in bounds: %+v", list)
		}
		c.ok(c.launch("k", 1, 1, uint64(1024)))
		c.ok(c.CtxSynchronize(0))
		var got []string
		for _, f := range c.d.sanitizer.Findings() {
			message, _, _ := strings.Cut(f.Message, " bytes (")
			got = append(got, message)
		}
		slices.Sort(got)
		want := []string{
			"load of 4 bytes 768 bytes after the end of c, a const variable of 256 bytes",
			"store of 4 bytes 768 bytes after the end of g, a global variable of 256 bytes",
		}
		if !slices.Equal(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}
