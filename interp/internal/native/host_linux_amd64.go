package native

import (
	_ "embed"
	"slices"

	"golang.org/x/sys/cpu"
)

// The tables of stencils.
var (
	//go:embed lanes_amd64.txt
	lanes string
	//go:embed halves_amd64.txt
	halves string
	//go:embed conversions_amd64.txt
	conversions string
	//go:embed narrow_amd64.txt
	narrow string
	//go:embed agreed_amd64.txt
	agreed string
	//go:embed scalar_amd64.txt
	scalar string
	//go:embed machine_amd64.txt
	machine string
	//go:embed memory_amd64.txt
	memory string
	//go:embed patterns_amd64.txt
	patterns string
	//go:embed vectors_amd64.txt
	vectors string

	//go:embed lanes_amd64_v4.txt
	lanesV4 string
	//go:embed halves_amd64_v4.txt
	halvesV4 string
	//go:embed conversions_amd64_v4.txt
	conversionsV4 string
	//go:embed agreed_amd64_v4.txt
	agreedV4 string
	//go:embed machine_amd64_v4.txt
	machineV4 string
	//go:embed memory_amd64_v4.txt
	memoryV4 string
	//go:embed patterns_amd64_v4.txt
	patternsV4 string
	//go:embed vectors_amd64_v4.txt
	vectorsV4 string
)

var levels = levelsOf(atLeastV4())

// levelsOf returns the levels of a processor, with the AVX-512 level if v4.
func levelsOf(v4 bool) []*Level {
	v3 := &Level{Name: "x86-64-v3", Tables: []string{lanes, halves, conversions, narrow, agreed, scalar, machine, memory, patterns, vectors}}
	if !v4 {
		return []*Level{v3}
	}
	return []*Level{v3, {Name: "x86-64-v4", Mark: "_v4", PartialVectors: true, Tables: slices.Concat(v3.Tables, []string{lanesV4, halvesV4, conversionsV4, agreedV4, machineV4, memoryV4, patternsV4, vectorsV4})}}
}

// host is the encoding of the stencils' instructions.
var host = &amd64

// Supported reports whether this host's processor supports the baseline of the stencils: x86-64-v3.
func Supported() bool {
	x := &cpu.X86
	const lzcnt, f16c = 1 << 5, 1 << 29 // package cpu does not report these
	return x.HasAVX2 && x.HasBMI1 && x.HasBMI2 && x.HasFMA && x.HasPOPCNT && x.HasSSE42 && cpuid(1)&f16c != 0 && cpuid(0x80000001)&lzcnt != 0
}

// atLeastV4 reports whether this host's processor supports x86-64-v4 (AVX-512).
func atLeastV4() bool {
	x := &cpu.X86
	return x.HasAVX512F && x.HasAVX512BW && x.HasAVX512CD && x.HasAVX512DQ && x.HasAVX512VL
}

// cpuid returns the ECX output of the CPUID instruction for a leaf.
func cpuid(leaf uint32) (ecx uint32)

// syncInstructionCache does nothing: amd64 keeps its instruction cache coherent with written code.
func syncInstructionCache([]byte) {}
