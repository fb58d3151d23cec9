package main

// This file knows the hosts that stencils are compiled for.

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"
)

// target is a host that stencils are compiled for.
type target struct {
	name         string   // as Go calls it
	level        string   // of processors that have more than the others of the name; what they have is in tables beside those of all
	tables       []string // those it has
	march, model string   // flags of the compiler: which processors, and how it addresses symbols
	extraFlags   []string // flags that only it has
	headers      []string // … and headers
	jump         []byte   // what is in a jump before the four bytes that say where to

	// base is what the addend of a relocation has for a place relative to the code, if nothing is added.
	base int64

	// kind is what a relocation asks for.
	kind func(code []byte, r *ref, typ uint32) relocation
}

// relocation is what the linker would fill in.
type relocation struct {
	value holeValue
	bytes int // of a constant that lies among others of other sizes, how many are read
	calls bool
}

// wanted is what goes into a hole.
type holeValue int

const (
	_        holeValue = iota
	number             // the address of a symbol
	distance           // that of a symbol or a constant from here
)

// targets are all there are.
var targets = []*target{
	{
		name:       "amd64",
		tables:     tables,
		march:      "-march=x86-64-v3",
		model:      "-mcmodel=small",
		extraFlags: []string{"-mno-red-zone", "-mllvm", "-x86-use-vzeroupper=0"},
		jump:       []byte{0xe9},
		base:       -4, // from the end of the instruction
		kind:       kindAMD64,
	},
	// AVX-512, in vectors of 512 bits: of all that handles rows, for what one has written in narrower vectors another reads late.
	{
		name:       "amd64",
		level:      "v4",
		tables:     []string{lanes, agreed, machine, memory, patterns, vectors},
		march:      "-march=x86-64-v4",
		model:      "-mcmodel=small",
		extraFlags: []string{"-mprefer-vector-width=512", "-mno-red-zone", "-mllvm", "-x86-use-vzeroupper=0"},
		jump:       []byte{0xe9},
		base:       -4,
		kind:       kindAMD64,
	},
	// In the tiny model the address of a symbol is one instruction, ADR, of which the patcher makes one that has a number, or
	// loads it. The large model has four for each. X28 is g. Strength reduction of loops would find what two operands in rows
	// have in common, which is not there if one is a constant.
	{
		name:       "arm64",
		tables:     tables,
		march:      "-march=armv8-a",
		model:      "-mcmodel=tiny",
		extraFlags: []string{"--target=aarch64-linux-gnu", "-ffixed-x28", "-mno-outline-atomics", "-mllvm", "-disable-lsr", "-I."},
		headers:    []string{"c/arm64/immintrin.h"},
		kind:       kindARM64,
	},
}

// String is the name, with the level.
func (t *target) String() string { return strings.TrimSuffix(t.name+"_"+t.level, "_") }

// table is the file of one of its tables.
func (t *target) table(name string) string { return fmt.Sprintf("%s_%v.txt", name, t) }

// beneath is what has the stencils that its tables are beside; nil if it has all.
func (t *target) baseline() *target {
	if t.level == "" {
		return nil
	}
	return targets[slices.IndexFunc(targets, func(b *target) bool { return b.name == t.name && b.level == "" })]
}

func kindAMD64(code []byte, r *ref, typ uint32) relocation {
	switch elf.R_X86_64(typ) {
	case elf.R_X86_64_32S, elf.R_X86_64_32:
		return relocation{value: number}
	case elf.R_X86_64_PLT32, elf.R_X86_64_PC32:
		return relocation{value: distance, bytes: constantBytes(code, r.offset), calls: code[r.offset-1] == 0xe8}
	}
	return relocation{}
}

// reads is how many bytes an instruction reads whose address is at off, if it is one of those whose constants lie among others:
// a vpbroadcastb or vpbroadcastw, or one of a vector of 512 bits; 0 if it is something else.
func constantBytes(code []byte, offset int) int {
	if offset < 5 || code[offset-1]&0xc7 != 0x05 {
		return 0
	}
	const vex, evex, maps, map2 = 0xc4, 0x62, 7, 2
	op := code[offset-2]
	switch narrow := op == 0x78 || op == 0x79; {
	case narrow && code[offset-5] == vex && code[offset-4]&maps == map2:
		return int(op-0x78) + 1
	case offset < 6 || code[offset-6] != evex:
		return 0
	case narrow && code[offset-5]&maps == map2:
		return int(op-0x78) + 1
	}
	const length, to512, broadcast = 0x60, 0x40, 0x10
	if code[offset-3]&(length|broadcast) == to512 {
		return 64
	}
	return 0
}

func kindARM64(_ []byte, r *ref, typ uint32) relocation {
	switch elf.R_AARCH64(typ) {
	case elf.R_AARCH64_ADR_PREL_LO21:
		if isHole(r.symbol) {
			return relocation{value: number}
		}
		return relocation{value: distance}
	case elf.R_AARCH64_LD_PREL_LO19, elf.R_AARCH64_JUMP26:
		return relocation{value: distance}
	case elf.R_AARCH64_CALL26:
		return relocation{value: distance, calls: true}
	}
	return relocation{}
}
