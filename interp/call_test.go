package interp

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gemu/ptx"
)

// TestBuiltinSignatures: gemu does not run a module that declares a function of the device runtime with wrong
// parameters, or takes the address of a function without a body, which NVIDIA's assembler refuses.
func TestBuiltinSignatures(t *testing.T) {
	for _, c := range []struct{ decls, body, want string }{
		{".extern .func (.param .b64 r) malloc(.param .b32 n);", "{ .param .b64 r; .param .b32 n; st.param.b32 [n], 4; call (r), malloc, (n); }", "malloc"},
		{".extern .func (.param .b32 r) malloc(.param .b64 n);", "{ .param .b32 r; .param .b64 n; st.param.b64 [n], 4; call (r), malloc, (n); }", "result 1 has 4 bytes instead of 8"},
		{".extern .func (.param .b32 r) vprintf(.param .b64 f);", "{ .param .b32 r; .param .b64 f; call (r), vprintf, (f); }", "1 parameter instead of 2"},
		{".extern .func (.param .b32 r) free(.param .b64 p);", "{ .param .b32 r; .param .b64 p; call (r), free, (p); }", "1 result instead of 0"},
		{".extern .func __assertfail(.param .b64 m);", "{ .param .b64 m; call __assertfail, (m); }", "1 parameter instead of 5"},
		{".extern .func free(.param .b64 p);", "mov.u64 %a, free; st.global.u64 [%o], %a;", "the address of free"},
		{".extern .func free(.param .b64 p);", "{ .param .b64 p; st.param.b64 [p], 0; call free, (p); }", ""},
		{".extern .func malloc(.param .b64 n);", "{ .param .b64 n; st.param.b64 [n], 4; call malloc, (n); }", ""}, // its result is ignored
	} {
		dev := NewDevice(Config{})
		m, err := dev.Load("builtin.ptx", []byte(".version 8.0\n.target sm_80\n.address_size 64\n"+c.decls+`
.visible .entry k(.param .u64 out) {
	.reg .u64 %o, %a;
	ld.param.u64 %o, [out];
	`+c.body+`
	ret;
}`))
		if err != nil {
			t.Fatal(err)
		}
		output, err := NewBuffer(dev, []uint64{0})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Launch(context.Background(), "k", ptx.Dim(1), ptx.Dim(1), output)
		var unsupported *ptx.Unsupported
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.decls, err)
		case c.want != "" && (!errors.As(err, &unsupported) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want what does not run, with %q", c.decls, err, c.want)
		}
	}
}

// TestHeapCountsBlocks: a heap of 64 KiB holds as many blocks of a byte as fit with their headers, and freed blocks make
// room again.
func TestHeapCountsBlocks(t *testing.T) {
	const src = `.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.visible .entry k(.param .u64 out) {
	.reg .u64 %o, %a, %b;
	.reg .u32 %n;
	.reg .pred %p;
	ld.param.u64 %o, [out];
	mov.u32 %n, 0;
	mov.u64 %b, 0;
L:	{ .param .b64 n; .param .b64 r; st.param.b64 [n], 1; call (r), malloc, (n); ld.param.b64 %a, [r]; }
	setp.eq.u64 %p, %a, 0;
@%p	bra E;
	add.u32 %n, %n, 1;
	mov.u64 %b, %a;
	bra L;
E:	{ .param .b64 p; st.param.b64 [p], %b; call free, (p); }
	{ .param .b64 n; .param .b64 r; st.param.b64 [n], 1; call (r), malloc, (n); ld.param.b64 %a, [r]; }
	setp.ne.u64 %p, %a, 0;
@%p	st.global.u32 [%o], %n;
	ret;
}`
	for _, mode := range Modes() {
		dev := NewDevice(Config{Heap: 64 << 10})
		m, err := dev.Load("heap.ptx", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		output, err := NewBuffer(dev, []uint32{0})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Run(context.Background(), &Launch{Grid: ptx.Dim(1), Block: ptx.Dim(1), Args: []any{output}, Mode: mode}); err != nil {
			t.Fatal(err)
		}
		if n := Slice[uint32](output)[0]; n != 64<<10/(256+1) {
			t.Errorf("%v: %d blocks", mode, n)
		}
	}
}
