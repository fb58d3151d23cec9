package native

import (
	_ "embed"
	"unsafe"
)

// The tables of stencils.
var (
	//go:embed lanes_arm64.txt
	lanes string
	//go:embed narrow_arm64.txt
	narrow string
	//go:embed agreed_arm64.txt
	agreed string
	//go:embed scalar_arm64.txt
	scalar string
	//go:embed machine_arm64.txt
	machine string
	//go:embed memory_arm64.txt
	memory string
	//go:embed patterns_arm64.txt
	patterns string
	//go:embed vectors_arm64.txt
	vectors string
)

var levels = []*Level{{Name: "armv8-a", Tables: []string{lanes, narrow, agreed, scalar, machine, memory, patterns, vectors}}}

// host is how the stencils' instructions are encoded.
var host = &arm64

// Supported reports whether this host has what the stencils are compiled for: all of Armv8-A have it.
func Supported() bool { return true }

// syncInstructionCache has the host execute code that has been written.
func syncInstructionCache(memory []byte) {
	from := uintptr(unsafe.Pointer(unsafe.SliceData(memory)))
	synchronize(from, from+uintptr(len(memory)))
}

// synchronize has the host fetch what is in [from, to) anew.
func synchronize(from, to uintptr)
