package native

import (
	_ "embed"
	"unsafe"
)

// The tables of stencils.
var (
	//go:embed lanes_arm64.txt
	lanes string
	//go:embed halves_arm64.txt
	halves string
	//go:embed conversions_arm64.txt
	conversions string
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

var levels = []*Level{{Name: "armv8-a", Tables: []string{lanes, halves, conversions, narrow, agreed, scalar, machine, memory, patterns, vectors}}}

// host is the encoding of the stencils' instructions.
var host = &arm64

// Supported reports true: the stencils need only the baseline of Armv8-A.
func Supported() bool { return true }

// syncInstructionCache makes written code visible to the instruction cache.
func syncInstructionCache(memory []byte) {
	from := uintptr(unsafe.Pointer(unsafe.SliceData(memory)))
	synchronize(from, from+uintptr(len(memory)))
}

// synchronize makes the host fetch the instructions in [from, to) again from memory.
func synchronize(from, to uintptr)
