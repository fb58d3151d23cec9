package native

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/cpu"

	"gemu/regfile"
)

// Supported reports whether this host has what the stencils are compiled for: x86-64-v3.
func Supported() bool {
	x := &cpu.X86
	return x.HasAVX2 && x.HasBMI1 && x.HasBMI2 && x.HasFMA && x.HasPOPCNT && x.HasOSXSAVE && x.HasSSE42
}

//go:noescape
func enter(code unsafe.Pointer, c *Context)

// Block executes from the beginning of a block on, by its index.
func (c *Code) Block(ctx *Context, f *regfile.File, index int32) {
	b := c.form(ctx)
	c.run(ctx, f, b, b.blocks[index])
}

// Instr executes from an instruction on, which has a stencil or ends its block.
func (c *Code) Instr(ctx *Context, f *regfile.File, pc int32) {
	b := c.form(ctx)
	c.run(ctx, f, b, b.instrs[pc])
}

func (c *Code) run(ctx *Context, f *regfile.File, b *body, place int32) {
	ctx.r, ctx.q, ctx.p = f.Begin()
	ctx.k = c.prog.Consts.Begin()
	enter(b.text.at(place), ctx)
	runtime.KeepAlive(b)
}
