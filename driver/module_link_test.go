package driver

// This file tests the linker.

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"gemu/internal/cubin"
)

// TestLinkModules shows that linked modules call each other's functions, and that missing and duplicate functions are
// errors.
func TestLinkModules(t *testing.T) {
	c := newClient(t, nil)
	const head = ".version 7.8\n.target sm_80\n.address_size 64\n"
	main := head + ".extern .func (.param .u32 r) seven(); .visible .entry k(.param .u64 x) { .reg .u64 %rd; .reg .u32 %r; ld.param.u64 %rd, [x]; { .param .u32 p; call (p), seven, (); ld.param.u32 %r, [p]; } st.global.u32 [%rd], %r; ret; }"
	other := strings.NewReplacer("7.8", "8.0", "sm_80", "sm_90").Replace(head) + ".visible .func (.param .u32 r) seven() { st.param.u32 [r], 7; ret; }"
	l := must(c.LinkCreate())(t)
	c.ok(c.LinkAddData(l, LinkPTX, cString(main), uint64(len(main)+1), "main"))
	one := must(c.LinkComplete(l))(t)
	if text, err := cubin.Unpack(one, maxImage); err != nil || string(text) != main {
		t.Errorf("one input is not handed through: %q, %v", text, err)
	}
	c.ok(c.LinkDestroy(l))
	l = must(c.LinkCreate())(t)
	c.ok(c.LinkAddData(l, LinkPTX, cString(main), uint64(len(main)), "main"))
	c.ok(c.LinkAddData(l, LinkPTX, cString(other), uint64(len(other)), "other"))
	image := must(c.LinkComplete(l))(t)
	c.mod = must(c.ModuleLoadData(unsafe.Pointer(&image[0]), 0))(t)
	c.ok(c.LinkDestroy(l))
	x := c.alloc(4)
	c.ok(c.launch("k", 1, 1, x))
	c.expect(x, 7)
	if got := must(c.FuncGetAttribute(FuncPTXVersion, c.function("k")))(t); got != 80 {
		t.Errorf("linked with a function for a newer device: PTX version %d, want 80", got)
	}
	// A declaration without results is linked with a definition that has results.
	void := head + ".extern .func note(.param .u64 x); .visible .entry k(.param .u64 x) { .reg .u64 %rd; .param .u64 p; ld.param.u64 %rd, [x]; st.param.u64 [p], %rd; call.uni note, (p); ret; }"
	note := head + ".visible .func (.param .align 8 .b8 r[16]) note(.param .u64 x) { .reg .u64 %rd; ld.param.u64 %rd, [x]; st.u32 [%rd], 9; st.param.u64 [r+8], %rd; ret; }"
	for _, order := range [][]string{{void, note}, {note, void}} {
		l = must(c.LinkCreate())(t)
		for _, text := range order {
			c.ok(c.LinkAddData(l, LinkPTX, cString(text), uint64(len(text)), "part"))
		}
		image = must(c.LinkComplete(l))(t)
		c.mod = must(c.ModuleLoadData(unsafe.Pointer(&image[0]), 0))(t)
		c.write(x, 0)
		c.ok(c.launch("k", 1, 1, x))
		c.expect(x, 9)
		c.ok(c.LinkDestroy(l))
	}
	// A declaration with results is linked with a definition without results.
	some := head + ".extern .func (.param .b32 r) note(.param .u64 x); .visible .entry k(.param .u64 x) { .reg .u64 %rd; .param .u64 p; .param .b32 q; ld.param.u64 %rd, [x]; st.param.u64 [p], %rd; call.uni (q), note, (p); ret; }"
	none := head + ".visible .func note(.param .u64 x) { .reg .u64 %rd; ld.param.u64 %rd, [x]; st.u32 [%rd], 8; ret; }"
	// One of several weak definitions is kept, and none if there is a strong one.
	weak := func(n int) string {
		return head + fmt.Sprintf("\n/* { */ .weak .func (.param .u32 r) number() {\n{ st.param.u32 [r], %d; } ret; }\n.visible .func other%d() { ret; }", n, n)
	}
	same := head + ".weak .func (.param .u32 r) number() { st.param.u32 [r], 3; ret; }"
	strong := head + ".visible .func (.param .u32 r) number() { st.param.u32 [r], 5; ret; }"
	number := head + ".extern .func (.param .u32 r) number(); .visible .entry k(.param .u64 x) { .reg .u64 %rd; .reg .u32 %r; .param .u32 p; ld.param.u64 %rd, [x]; call.uni (p), number; ld.param.u32 %r, [p]; st.u32 [%rd], %r; ret; }"
	for _, parts := range []struct {
		want  uint32
		texts []string
	}{
		{8, []string{some, none}}, {8, []string{none, some}},
		{1, []string{weak(1), weak(2), number}}, {2, []string{number, weak(2), weak(1)}},
		{5, []string{weak(1), strong, number, weak(2)}}, {5, []string{number, strong, weak(1)}},
		{3, []string{same, same, number}}, {3, []string{number, same, same}},
	} {
		l = must(c.LinkCreate())(t)
		for _, text := range parts.texts {
			c.ok(c.LinkAddData(l, LinkPTX, cString(text), uint64(len(text)), "part"))
		}
		image = must(c.LinkComplete(l))(t)
		c.mod = must(c.ModuleLoadData(unsafe.Pointer(&image[0]), 0))(t)
		c.write(x, 0)
		c.ok(c.launch("k", 1, 1, x))
		c.expect(x, parts.want)
		c.ok(c.LinkDestroy(l))
	}
	l = must(c.LinkCreate())(t)
	for range 2 {
		c.ok(c.LinkAddData(l, LinkPTX, cString(strong), uint64(len(strong)), "part"))
	}
	_, err := c.LinkComplete(l)
	c.want(InvalidPTX, "declared twice", err)
	// Internal names of modules do not collide, and similar words are not changed.
	own := func(kernel, value string) string {
		return head + ".global .align 4 .u32 global = " + value + ";\n.func (.param .u32 r) $own() { .reg .u32 %r; ld.global.u32 %r, [global]; st.param.u32 [r], %r; ret; } // $own\n" +
			".visible .entry " + kernel + "(.param .u64 x) { .reg .u64 %rd; .reg .u32 %r; .param .u32 p; ld.param.u64 %rd, [x]; call (p), $own, (); ld.param.u32 %r, [p]; st.global.u32 [%rd], %r; ret; }\n"
	}
	l = must(c.LinkCreate())(t)
	for _, text := range []string{own("k", "11"), own("other", "12") + ".visible .global .u32 global__0;"} {
		c.ok(c.LinkAddData(l, LinkPTX, cString(text), uint64(len(text)), "part"))
	}
	image = must(c.LinkComplete(l))(t)
	c.mod = must(c.ModuleLoadData(unsafe.Pointer(&image[0]), 0))(t)
	c.ok(c.launch("k", 1, 1, x))
	c.expect(x, 11)
	c.ok(c.launch("other", 1, 1, x))
	c.expect(x, 12)
	c.ok(c.LinkDestroy(l))
	// Output of gemu's assembler or linker is linked as the PTX in it.
	packed := cubin.Pack([]byte(main), 80, true)
	file := filepath.Join(t.TempDir(), "other.cubin")
	if err := os.WriteFile(file, cubin.Pack([]byte(other), 80, true), 0o666); err != nil {
		t.Fatal(err)
	}
	l = must(c.LinkCreate())(t)
	c.ok(c.LinkAddData(l, LinkCubin, unsafe.Pointer(&packed[0]), uint64(len(packed)), "main"))
	c.ok(c.LinkAddFile(l, LinkCubin, file))
	image = must(c.LinkComplete(l))(t)
	c.mod = must(c.ModuleLoadData(unsafe.Pointer(&image[0]), 0))(t)
	c.write(x, 0)
	c.ok(c.launch("k", 1, 1, x))
	c.expect(x, 7)
	c.ok(c.LinkDestroy(l))
	l = must(c.LinkCreate())(t)
	machine := bytes.Clone(packed)
	copy(machine[bytes.Index(machine, []byte(".gemu.ptx")):], ".text.k\x00")
	c.want(NoBinaryForGPU, "machine code", c.LinkAddData(l, LinkCubin, unsafe.Pointer(&machine[0]), uint64(len(machine)), "x"))
	_, err = c.LinkComplete(l)
	c.want(InvalidImage, "nothing to link: no PTX was added", err)
}

// archive makes an ar archive with a long name for its only member.
func archive(name, content string) string {
	names := name + "/\n"
	member := func(name, content string) string {
		return fmt.Sprintf("%-16s%-12d%-6d%-6d%-8o%-10d`\n%s%s", name, 0, 0, 0, 0o644, len(content), content, strings.Repeat("\n", len(content)%2))
	}
	return "!<arch>\n" + member("/", "\x00\x00\x00\x00") + member("//", names) + member("/0", content)
}

// groups uses the device runtime's functions for cooperative groups as Numba's code does: sync stores 1 into its
// element of x, synchronises the grid, and adds the element of its right neighbour; about stores the properties of a
// group.
const groups = `.version 7.8
.target sm_80
.address_size 64
.extern .func (.param .b64 func_retval0) cudaCGGetIntrinsicHandle(.param .b32 a);
.extern .func cudaCGSynchronize(.param .b64 a, .param .b32 b);
.extern .func (.param .b32 func_retval0) cudaCGSynchronizeGrid(.param .b64 a, .param .b32 b);
.extern .func (.param .b32 func_retval0) cudaCGGetSize(.param .b64 a, .param .b64 b, .param .b64 c);
.extern .func (.param .b32 func_retval0) cudaCGGetRank(.param .b64 a, .param .b64 b, .param .b64 c);
.visible .entry sync(.param .u64 x)
{
	.reg .u32 %i, %n, %a, %b, %c; .reg .u64 %x, %at, %h; .reg .pred %p;
	.param .b32 scope; .param .b64 handle; .param .b64 h; .param .b32 flags; .param .b32 status;
	ld.param.u64 %x, [x];
	st.param.b32 [scope], 1;
	call.uni (handle), cudaCGGetIntrinsicHandle, (scope);
	ld.param.b64 %h, [handle];
	mov.u32 %a, %ctaid.x; mov.u32 %b, %ntid.x; mov.u32 %c, %tid.x; mad.lo.u32 %i, %a, %b, %c;
	mov.u32 %n, %nctaid.x; mul.lo.u32 %n, %n, %b;
	mad.wide.u32 %at, %i, 4, %x;
	add.u32 %a, %i, 1;
	st.global.u32 [%at], %a;
	st.param.b64 [h], %h; st.param.b32 [flags], 0;
	call.uni cudaCGSynchronize, (h, flags);
	add.u32 %b, %i, 1; rem.u32 %b, %b, %n;
	mad.wide.u32 %h, %b, 4, %x;
	ld.global.u32 %c, [%h];
	ld.param.b64 %h, [handle]; st.param.b64 [h], %h;
	call.uni (status), cudaCGSynchronizeGrid, (h, flags);
	add.u32 %a, %a, %c;
	st.global.u32 [%at], %a;
	ret;
}
.visible .entry about(.param .u64 x, .param .u32 scope, .param .u32 block, .param .u32 thread)
{
	.reg .u32 %r<8>; .reg .u64 %x, %h; .reg .pred %p, %q;
	.param .b32 scope1; .param .b64 handle; .param .b64 a; .param .b64 b; .param .b64 c; .param .b32 status;
	mov.u32 %r0, %ctaid.x; ld.param.u32 %r1, [block]; setp.ne.u32 %p, %r0, %r1;
	mov.u32 %r0, %tid.x; ld.param.u32 %r1, [thread]; setp.ne.or.u32 %p, %r0, %r1, %p;
	@%p ret;
	ld.param.u64 %x, [x]; ld.param.u32 %r0, [scope];
	st.param.b32 [scope1], %r0;
	call.uni (handle), cudaCGGetIntrinsicHandle, (scope1);
	ld.param.b64 %h, [handle];
	st.param.b64 [c], %h;
	st.param.b64 [a], %x; add.u64 %x, %x, 4; st.param.b64 [b], %x; add.u64 %x, %x, 4;
	call.uni (status), cudaCGGetSize, (a, b, c);
	ld.param.b32 %r0, [status]; st.global.u32 [%x], %r0; add.u64 %x, %x, 4;
	st.param.b64 [a], %x; add.u64 %x, %x, 4; st.param.b64 [b], 0;
	call.uni (status), cudaCGGetRank, (a, b, c);
	ld.param.b32 %r0, [status]; st.global.u32 [%x], %r0;
	ret;
}
`

// The linker accepts CUDA's device runtime for cooperative groups, and links it with modules that need it. Numbers of
// threads and ranks follow CUDA C++'s grid_group; an invalid group has none, and returns cudaErrorUnknown.
func TestDeviceRuntime(t *testing.T) {
	c := newClient(t, nil)
	lib := archive("cuda_device_runtime.o", "\x7fELF machine code")
	file := filepath.Join(t.TempDir(), "libcudadevrt.a")
	if err := os.WriteFile(file, []byte(lib), 0o666); err != nil {
		t.Fatal(err)
	}
	l := must(c.LinkCreate())(t)
	c.ok(c.LinkAddFile(l, LinkLibrary, file))
	c.ok(c.LinkAddData(l, LinkPTX, cString(groups), uint64(len(groups)), "groups"))
	c.ok(c.LinkAddData(l, LinkLibrary, cString(lib), uint64(len(lib)), "again"))
	image := must(c.LinkComplete(l))(t)
	c.mod = must(c.ModuleLoadData(unsafe.Pointer(&image[0]), 0))(t)
	x := c.alloc(64)
	p := launchParams(c.function("sync"), 4, 4, x)
	p.Cooperative = true
	c.ok(c.LaunchKernel(p, 0))
	var want []uint32
	for i := range uint32(16) {
		want = append(want, i+1+(i+1)%16+1)
	}
	c.expect(x, want...)
	about := func(cooperative bool, scope int, want ...uint32) {
		t.Helper()
		p := launchParams(c.function("about"), 3, 8, x, scope, 2, 5)
		p.Cooperative = cooperative
		c.ok(c.LaunchKernel(p, 0))
		c.expect(x, want...)
	}
	about(true, 1, 3*8, 1, 0, 2*8+5, 0)
	about(true, 2, 0, 0, 999, 0, 999)
	about(false, 1, 0, 0, 999, 0, 999)

	// A module that needs nothing of a library gets nothing of it.
	l = must(c.LinkCreate())(t)
	c.ok(c.LinkAddFile(l, LinkLibrary, file))
	_, err := c.LinkComplete(l)
	c.want(InvalidImage, "nothing to link: no PTX was added", err)
	c.ok(c.LinkAddData(l, LinkPTX, cString(kernels), uint64(len(kernels)), "kernels"))
	image = must(c.LinkComplete(l))(t)
	if text, err := cubin.Unpack(image, maxImage); err != nil || string(text) != kernels {
		t.Errorf("linked: %q, %v", text, err)
	}
	l = must(c.LinkCreate())(t)
	c.want(FileNotFound, "", c.LinkAddFile(l, LinkLibrary, file+".none"))
	for text, want := range map[string]string{
		"no archive": "not an archive", lib[:40]: "a broken archive", lib[:len(lib)-2]: "size of member /0",
		archive("mathematics.o", "x"): "machine code (mathematics.o)",
	} {
		if err := c.LinkAddData(l, LinkLibrary, cString(text), uint64(len(text)), "lib"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50q: %v, want %q", text, err, want)
		}
	}
}
