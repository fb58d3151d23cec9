package main

// This file describes the hosts for which stencils are compiled.

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"
)

// target is a host, with a level of processors, for which stencils are compiled.
type target struct {
	name         string   // GOARCH
	level        string   // level of processors above the baseline, "" for the baseline; its tables add to the baseline's
	tables       []string // names of its tables
	march, model string   // flags of the compiler: the processors, and the addressing of symbols
	extraFlags   []string // further flags of the compiler
	headers      []string // headers for this target only
	jump         []byte   // bytes of a jump before the four bytes of its distance

	// base is the addend of a relative relocation whose source has no addend.
	base int64

	// kind returns the meaning of a relocation of type typ.
	kind func(code []byte, r *ref, typ uint32) relocation
}

// relocation is the meaning of a relocation: the value to fill in, as a linker would.
type relocation struct {
	value holeValue
	bytes int // for a constant in a section of several sizes: the number of bytes read
	calls bool
}

// holeValue is the kind of value in a hole.
type holeValue int

const (
	_        holeValue = iota
	number             // the address of a symbol
	distance           // the distance of a symbol or a constant from the hole
)

// targets has all targets; a baseline stands before its levels.
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
	// AVX-512, in vectors of 512 bits. It has stencils for all operations on rows: a wide vector is slow to read after it
	// was written in narrower vectors.
	{
		name:       "amd64",
		level:      "v4",
		tables:     []string{lanes, halves, conversions, agreed, machine, memory, patterns, vectors},
		march:      "-march=x86-64-v4",
		model:      "-mcmodel=small",
		extraFlags: []string{"-mprefer-vector-width=512", "-mno-red-zone", "-mllvm", "-x86-use-vzeroupper=0"},
		jump:       []byte{0xe9},
		base:       -4,
		kind:       kindAMD64,
	},
	// In the tiny model the address of a symbol is one instruction, ADR. Package native replaces it by an instruction with
	// the number, or by a load of the number. The large model would need four instructions. X28 is g. Loop strength
	// reduction is off: it would share work between two operands in rows, which is wrong if one of them is a constant.
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

// String returns the name with the level.
func (t *target) String() string { return strings.TrimSuffix(t.name+"_"+t.level, "_") }

// table returns the file name of a table.
func (t *target) table(name string) string { return fmt.Sprintf("%s_%v.txt", name, t) }

// baseline returns the target whose tables are extended by this level's tables; nil for a baseline.
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

// constantBytes returns the number of bytes read by the instruction with its address at offset, for instructions whose
// constants are in a section of several sizes: vpbroadcastb, vpbroadcastw, and instructions with a vector of 512 bits.
// Otherwise it returns 0.
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
