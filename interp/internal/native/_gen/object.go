package main

// This file reads the machine code and the relocations of object files.

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// isHole reports whether a symbol stands for an operand or a number.
func isHole(symbol string) bool { return len(symbol) == 2 && symbol[0] == 'H' }

// isPlace reports whether a symbol stands for a place at which code continues after a stencil.
func isPlace(symbol string) bool { return symbol == "next" || symbol == "other" || symbol == "leave" }

// readObject reads the functions of an object file. If package native cannot apply a relocation, the function has no code,
// and the reason as its name.
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

// constant makes r a constant of a section and reports whether it could: in a section of equally sized constants, or in
// .rodata, where size bytes are read.
func (r *ref) constant(sec *elf.Section, sym *elf.Symbol, size int) bool {
	at := int(sym.Value)
	switch {
	case strings.HasPrefix(sec.Name, ".rodata.cst"):
		size = int(sec.Entsize)
		if elf.ST_TYPE(sym.Info) == elf.STT_SECTION { // the addend selects the constant
			at = int(r.addend) / size * size
			r.addend -= int64(at)
		}
	case sec.Name == ".rodata" && size > 0:
		to := at + int(r.addend)
		at = (to + size - 1) / size * size            // the constant may begin after the address
		if r.addend = int64(to - at); r.addend < -4 { // the address is in the middle of a constant
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

// cut removes a jump at the end of a stencil to the code after it.
func (t *target) cut(s *stencil) {
	slices.SortFunc(s.refs, func(a, b ref) int { return a.offset - b.offset })
	n, end := len(s.refs)-1, len(s.code)-4
	if n >= 0 && s.refs[n].symbol == "next" && s.refs[n].offset == end && bytes.HasSuffix(s.code[:end], t.jump) {
		s.code, s.refs = s.code[:end-len(t.jump)], s.refs[:n]
	}
}
