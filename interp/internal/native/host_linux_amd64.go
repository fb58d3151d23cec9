package native

import (
	_ "embed"
	"runtime"
	"unsafe"

	"golang.org/x/sys/cpu"

	"gemu/regfile"
)

// The tables of stencils.
var (
	//go:embed lanes_amd64.txt
	lanes string
	//go:embed scalar_amd64.txt
	scalar string
	//go:embed machine_amd64.txt
	machine string
	//go:embed memory_amd64.txt
	memory string
	//go:embed vectors_amd64.txt
	vectors string
)

var tables = []string{lanes, scalar, machine, memory, vectors}

// Supported reports whether this host has what the stencils are compiled for: x86-64-v3.
func Supported() bool {
	x := &cpu.X86
	const lzcnt, f16c = 1 << 5, 1 << 29 // which package cpu does not know
	return x.HasAVX2 && x.HasBMI1 && x.HasBMI2 && x.HasFMA && x.HasPOPCNT && x.HasSSE42 && cpuid(1)&f16c != 0 && cpuid(0x80000001)&lzcnt != 0
}

// cpuid is what the processor says of itself in ECX.
func cpuid(leaf uint32) (ecx uint32)

//go:noescape
func enter(code unsafe.Pointer, c *Context)

// run executes from a place of the code on, until native code comes back.
func (c *Code) run(ctx *Context, f *regfile.File, b *body, place int32) {
	ctx.r, ctx.q, ctx.p = f.Begin()
	ctx.shadowR, ctx.shadowQ = f.BeginShadows()
	ctx.constants, ctx.fixed = c.k, unsafe.Pointer(unsafe.SliceData(c.fixed))
	enter(b.text.at(place), ctx)
	runtime.KeepAlive(b)
}
