package native

import (
	_ "embed"
	"runtime"
	"unsafe"

	"golang.org/x/sys/cpu"

	"gemu/regfile"
)

//go:embed stencils_amd64.txt
var table string

// Supported reports whether this host has what the stencils are compiled for: x86-64-v3.
func Supported() bool {
	x := &cpu.X86
	return x.HasAVX2 && x.HasBMI1 && x.HasBMI2 && x.HasFMA && x.HasPOPCNT && x.HasOSXSAVE && x.HasSSE42
}

//go:noescape
func enter(code unsafe.Pointer, c *Context)

// run executes from a place of the code on, until native code comes back.
func (c *Code) run(ctx *Context, f *regfile.File, b *body, place int32) {
	ctx.r, ctx.q, ctx.p = f.Begin()
	ctx.k = c.prog.Consts.Begin()
	ctx.fixed = unsafe.Pointer(unsafe.SliceData(c.fixed))
	enter(b.text.at(place), ctx)
	runtime.KeepAlive(b)
}
