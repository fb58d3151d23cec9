package interp

// This file says how lowered instructions execute on compact operands: which
// rule of package affinetrack applies, read with which types; and it executes
// memory accesses at compact addresses.

import (
	"math/bits"
	"strings"
	"unsafe"

	"gemu/affinetrack"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// compactForm is how an instruction executes on compact operands.
type compactForm struct {
	kind compactKind

	// Of arithmetic: the rule, and the types it is read with.
	rule   ptx.Affine
	width  int  // bits of the type operands are read as
	signed bool // … as two's complement
	out    int  // bits of the result
	cmp    affinetrack.Cmp

	source  func(w *warp, h int, in *inst, m uint32) (affinetrack.Value, bool)
	special bool         // source reads a special register; width is how many bits of it
	move    *mem.Strided // of loads and stores

	// Of instructions that affine mode executes by this form: how it does on the
	// lanes, if not by a kernel; registers it reads that may be only in their shadows,
	// and those it writes that may have been; whether results go to their rows too.
	fast   affinetrack.Fast
	lane   lane
	expand []operandRef
	dirty  []operandRef
	both   bool
}

type compactKind uint8

const (
	asVector     compactKind = iota // never compact
	asArithmetic                    // a kernel of package alu
	asSource                        // reads a special register or the address of a local variable
	asLoad
	asStore
	asWarp // one result for all lanes, computed from the lanes
)

// stepRules are the rules of kernels that lowering uses as steps of an
// instruction, by the first part of their key. Others execute once on uniform
// operands.
var stepRules = map[string]ptx.Affine{
	"mov": ptx.AffineMove, "add": ptx.AffineAdd, "cvt": ptx.AffineConvert, "widen": ptx.AffineConvert, "zext": ptx.AffineConvert, "cmp": ptx.AffineCompare,
}

func stepRule(key string) ptx.Affine {
	name, _, _ := strings.Cut(key, ".")
	if r, ok := stepRules[name]; ok {
		return r
	}
	return ptx.AffineUniform
}

// arithmeticForm is the form of the operation that a key spells, with its types:
// mad.wide.s32 reads 32 bits, signed, and writes 64.
func arithmeticForm(key string, rule ptx.Affine) *compactForm {
	f := &compactForm{kind: asArithmetic, rule: rule}
	if rule == ptx.AffineAddress {
		f.rule = ptx.AffineMove
	}
	parts := strings.Split(key, ".")
	var types []ptx.Type
	wide := false
	for _, p := range parts[1:] {
		if t := ptx.TypeByName(p); t != ptx.NoType {
			types = append(types, t)
		}
		wide = wide || p == "wide"
	}
	if len(types) == 0 {
		return f
	}
	src := types[len(types)-1]
	f.out = src.Bits()
	switch parts[0] {
	case "cvt":
		f.out = types[0].Bits()
	case "widen":
		src = types[0]
	case "zext":
		src = ptx.U32
	case "cmp":
		if src.IsInt() || src.Kind() == ptx.Bits {
			f.cmp = affinetrack.CmpByName(parts[1])
		}
	}
	if wide {
		f.out *= 2
	}
	f.width, f.signed = src.Bits(), src.IsSigned()
	return f
}

// formOf is the form of an instruction that is no kernel.
func formOf(in *inst) *compactForm {
	f := &compactForm{}
	switch {
	case in.mem != nil && in.mem.size > 8: // 128 bits are no element of a row
	case in.src.Form.Affine == ptx.AffineLoad && in.mem != nil:
		f.kind = asLoad
		f.move = mem.StridedOf(in.mem.size, in.mem.signed)
	case in.src.Form.Affine == ptx.AffineStore && in.mem != nil:
		f.kind = asStore
		f.move = mem.StridedOf(in.mem.size, false)
	case in.src.Form.Affine == ptx.AffineWarp && !writesPredicates(in):
		f.kind = asWarp
	}
	return f
}

func writesPredicates(in *inst) bool {
	for _, o := range in.uses.writes {
		if o.slot == alu.P {
			return true
		}
	}
	return false
}

// loadRows executes a load whose lane i reads at p + (i − first)·step.
func (in *inst) loadRows(f *regfile.File, p unsafe.Pointer, first, step int, m uint32) {
	for i, e := range in.mem.elems {
		switch at := unsafe.Add(p, i*in.mem.size); e.slot {
		case alu.R:
			in.form.move.Load32(&f.R[e.row], at, first, step, m)
		case alu.Q:
			in.form.move.Load64(&f.Q[e.row], at, first, step, m)
		}
	}
}

// storeRows is loadRows' counterpart; what is compact of the data is expanded.
func (w *warp) storeRows(f *regfile.File, in *inst, p unsafe.Pointer, first, step int, m uint32) {
	w.cta.changed = true
	in.mem.expandData(f, m)
	for i, e := range in.mem.elems {
		switch at := unsafe.Add(p, i*in.mem.size); e.slot {
		case alu.R:
			in.form.move.Store32(f.Src32(e.row), at, first, step, m)
		case alu.Q:
			in.form.move.Store64(f.Src64(e.row), at, first, step, m)
		}
	}
}

// compactAddress reads the address of an access whose address register is v, for
// the lanes of m: the first of them, the addresses of the first and the last, and
// the step between lanes. ok is false where the addresses wrap.
func (a *access) compactAddress(v affinetrack.Value, m uint32) (first int, from, to uint64, step int64, ok bool) {
	width := 64
	if a.addr == alu.R {
		width = 32
	}
	first = bits.TrailingZeros32(m)
	last := 31 - bits.LeadingZeros32(m)
	from, to, step, ok = v.Numbers(width, false, first, last)
	return first, from + a.off, to + a.off, step, ok
}

// memoryAt is the memory that the lanes of m access at the compact address v:
// that of lane i is at p + (i − first)·step. It only looks where this instruction
// accessed memory the last time; ok is false if that is not it, or the addresses
// wrap, and the plain way has to find out more.
func (w *warp) memoryAt(a *access, v affinetrack.Value, m uint32) (p unsafe.Pointer, first, step int, ok bool) {
	block := w.cta.hits[a.hit]
	base := uint64(0)
	switch {
	case a.space == ptx.Local:
		return nil, 0, 0, false
	case a.space == ptx.Shared:
		block = w.cta.sharedMem
	case a.addr == alu.NoSlot:
		p = a.atFixed()
		return p, 0, 0, p != nil
	case block == nil:
		return nil, 0, 0, false
	default:
		base = block.Base
	}
	first = bits.TrailingZeros32(m)
	span := int64(31 - bits.LeadingZeros32(m) - first)
	by := int64(v.Stride)
	from := v.At(first)
	if a.addr == alu.R {
		by, from = int64(int32(v.Stride)), from&0xffff_ffff
		if uint64(int64(from)+span*by)>>32 != 0 {
			return nil, 0, 0, false
		}
	} else if by != int64(int32(by)) {
		return nil, 0, 0, false
	}
	from += a.off - base
	if !block.Holds(from, by, span, a.bytes) {
		return nil, 0, 0, false
	}
	return unsafe.Add(block.Ptr, from), first, int(by), true
}

// extend extends a loaded element as its type says.
func (a *access) extend(v uint64) uint64 {
	if a.signed {
		n := 64 - 8*a.size
		return uint64(int64(v<<n) >> n)
	}
	return v
}
