package main

// This file knows the hosts that stencils are compiled for.

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
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

// hole reports whether a symbol stands for an operand or a number.
func isHole(symbol string) bool { return len(symbol) == 2 && symbol[0] == 'H' }

// place reports whether a symbol is where a stencil goes on.
func isPlace(symbol string) bool { return symbol == "next" || symbol == "other" || symbol == "leave" }

// readObject reads the functions of an object file. One with relocations that a patcher
// cannot do has no code, and the reason for a name.
func (t *target) readObject(path string) (map[string]*stencil, error) {
	o, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	symbols, err := o.Symbols()
	if err != nil {
		return nil, err
	}
	out := map[string]*stencil{}
	for _, sec := range o.Sections {
		name, ok := strings.CutPrefix(sec.Name, ".text.")
		if !ok {
			continue
		}
		code, err := sec.Data()
		if err != nil {
			return nil, err
		}
		out[name] = &stencil{name: name, code: code}
	}
	for _, sec := range o.Sections {
		name, ok := strings.CutPrefix(sec.Name, ".rela.text.")
		if !ok {
			continue
		}
		data, err := sec.Data()
		if err != nil {
			return nil, err
		}
		st := out[name]
		for ; len(data) > 0 && st.code != nil; data = data[24:] {
			info := binary.LittleEndian.Uint64(data[8:])
			sym, typ := symbols[info>>32-1], uint32(info)
			r := ref{offset: int(binary.LittleEndian.Uint64(data)), symbol: sym.Name, addend: int64(binary.LittleEndian.Uint64(data[16:]))}
			kind := t.kind(st.code, &r, typ)
			if kind.value == distance {
				r.addend -= t.base
			}
			switch {
			case kind.value == number && isHole(r.symbol):
			case kind.value == number:
				*st = stencil{name: "an absolute address of " + sym.Name}
				continue
			case kind.value == distance && isPlace(r.symbol) && (!kind.calls || r.symbol == "other"):
				st.calls = st.calls || kind.calls
			case kind.value == distance && sym.Section < elf.SHN_LORESERVE && r.constant(o.Sections[sym.Section], &sym, kind.bytes):
			default:
				*st = stencil{name: fmt.Sprintf("it wants %s (relocation %d)", sym.Name, typ)}
				continue
			}
			st.refs = append(st.refs, r)
		}
	}
	for _, st := range out {
		t.cut(st)
	}
	return out, nil
}

// constant has r be a constant of a section, if that is one of constants of one size, or the one for all others, of which
// so many bytes are read.
func (r *ref) constant(sec *elf.Section, sym *elf.Symbol, size int) bool {
	at := int(sym.Value)
	switch {
	case strings.HasPrefix(sec.Name, ".rodata.cst"):
		size = int(sec.Entsize)
		if elf.ST_TYPE(sym.Info) == elf.STT_SECTION { // the addend says which, too
			at = int(r.addend) / size * size
			r.addend -= int64(at)
		}
	case sec.Name == ".rodata" && size > 0:
		to := at + int(r.addend)
		at = (to + size - 1) / size * size            // an operand may be behind the address
		if r.addend = int64(to - at); r.addend < -4 { // it begins in the middle of one
			return false
		}
	default:
		return false
	}
	pool, err := sec.Data()
	if err != nil || at+size > len(pool) {
		return false
	}
	r.symbol, r.pool = "pool", fmt.Sprintf("%x", pool[at:][:size])
	return true
}

// cut cuts off a jump to what is behind.
func (t *target) cut(s *stencil) {
	slices.SortFunc(s.refs, func(a, b ref) int { return a.offset - b.offset })
	n, end := len(s.refs)-1, len(s.code)-4
	if n >= 0 && s.refs[n].symbol == "next" && s.refs[n].offset == end && bytes.HasSuffix(s.code[:end], t.jump) {
		s.code, s.refs = s.code[:end-len(t.jump)], s.refs[:n]
	}
}
