package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gemu/ptx"
)

// block is a basic block with translated instructions.
type block struct {
	f          *ptx.Func
	instrs     []*ptx.Instr
	code       []string               // the C statement of each instruction; "" if it is not translated
	live       []func(ptx.RegID) bool // registers that are read after each instruction
	translated float64                // number of translated instructions
	execs      float64                // executions by warps
}

// findBlocks returns the blocks with two translated instructions or more.
func findBlocks(f *ptx.Func) (list []*block) {
	live := f.Liveness()
	for _, b := range f.Blocks {
		found := &block{f: f, instrs: b.Instrs, live: make([]func(ptx.RegID) bool, len(b.Instrs))}
		for i, isLive := range live.LiveAfter(b) {
			set := map[ptx.RegID]bool{}
			for r := range f.Regs {
				set[ptx.RegID(r)] = isLive(ptx.RegID(r))
			}
			found.live[i] = func(r ptx.RegID) bool { return set[r] }
		}
		for _, instr := range b.Instrs {
			code := translate(f, instr)
			if found.code = append(found.code, code); code != "" {
				found.translated++
			}
		}
		if found.translated > 1 {
			list = append(list, found)
		}
	}
	return list
}

// cType returns the name of the C type of a PTX type's rows, "" for types that are not translated: all but predicates, and
// numbers of 32 and 64 bits.
func cType(t ptx.Type) string {
	if t == ptx.Pred {
		return "p"
	}
	kind := "u"
	if t.IsFloat() {
		kind = "f"
	} else if t.IsSigned() {
		kind = "s"
	}
	if _, n := t.Elements(); n > 1 || t.Bits() != 32 && t.Bits() != 64 {
		return ""
	}
	return kind + strconv.Itoa(t.Bits())
}

// bitsType returns the C type of a register's bits, "" if it is not translated.
func bitsType(f *ptx.Func, r ptx.RegID) string {
	switch name := cType(f.Regs[r].Type); name {
	case "", "p":
		return name
	default:
		return "u" + name[1:]
	}
}

// operators has C's operators of mnemonics with two operands, and of comparisons.
var operators = map[string]string{
	"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>",
	"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">=",
}

// translate returns the C statement of an instruction, "" if the instruction is not translated.
func translate(f *ptx.Func, instr *ptx.Instr) string {
	if instr.Guard.Reg != ptx.NoReg || len(instr.Ops) < 2 || instr.Ops[0].Kind != ptx.RegOperand || bitsType(f, instr.Ops[0].Reg) == "" {
		return ""
	}
	if slices.ContainsFunc(instr.Types(), func(t ptx.Type) bool { return cType(t) == "" }) {
		return ""
	}
	for _, mod := range []string{"sat", "cc", "rm", "rp"} {
		if instr.Has(mod) {
			return ""
		}
	}
	known := true
	as := func(i int, typ string) string { // operand i in a C type
		switch o := &instr.Ops[i]; {
		case o.Kind == ptx.RegOperand && o.Sel() == "" && typ != "" && bitsType(f, o.Reg) != "":
			v := fmt.Sprintf("V(%s,%d)", typ, o.Reg)
			if o.Neg {
				v = "(~" + v + ")"
			}
			return v
		case o.Kind == ptx.ImmOperand && typ != "" && typ != "p":
			return fmt.Sprintf("K(%s,%#xull)", typ, o.Imm.Encode(instr.OperandType(i)))
		}
		known = false
		return ""
	}
	arg := func(i int) string { return as(i, cType(instr.OperandType(i))) }
	typ, name, n := cType(instr.OperandType(0)), instr.Mnemonic(), len(instr.Ops)
	code := ""
	switch {
	case name == "mov" && n == 2:
		code = arg(1)
	case name == "mul" && !instr.Has("hi") && !instr.Has("wide"):
		code = arg(1) + "*" + arg(2)
	case (name == "mul" || name == "mad") && instr.Has("wide"):
		code = fmt.Sprintf("CVT(%s,%s)*CVT(%s,%s)", typ, arg(1), typ, arg(2))
		if name == "mad" {
			code += "+" + arg(3)
		}
	case name == "mad" && instr.Has("lo"):
		code = arg(1) + "*" + arg(2) + "+" + arg(3)
	case name == "fma" || name == "mad" && instr.Type().IsFloat():
		code = fmt.Sprintf("__builtin_elementwise_fma(%s,%s,%s)", arg(1), arg(2), arg(3))
	case name == "not":
		code = "~" + arg(1)
	case name == "neg":
		code = "-" + arg(1)
	case name == "abs":
		code = "__builtin_elementwise_abs(" + arg(1) + ")"
	case (name == "min" || name == "max") && n == 3:
		code = fmt.Sprintf("__builtin_elementwise_%s(%s,%s)", name, arg(1), arg(2))
	case name == "shl" || name == "shr":
		if instr.Ops[2].Kind != ptx.ImmOperand {
			return ""
		}
		code = fmt.Sprintf("%s%s%d", arg(1), operators[name], instr.Ops[2].Imm.Bits&uint64(instr.Type().Bits()-1))
	case operators[name] != "" && n == 3:
		code = arg(1) + operators[name] + arg(2)
	case name == "setp" && n == 3:
		for _, mod := range instr.Modifiers() {
			if operators[mod] != "" && code == "" {
				code = fmt.Sprintf("BOOL(%s%s%s)", arg(1), operators[mod], arg(2))
			}
		}
		known = known && code != ""
	case name == "selp":
		code = fmt.Sprintf("SELECT(%s,%s,%s,%s)", typ, arg(3), arg(1), arg(2))
	case name == "cvt" && n == 2 && !instr.Has("ftz"):
		code = fmt.Sprintf("CVT(%s,%s)", typ, arg(1))
	default:
		return ""
	}
	if !known || typ == "" {
		return ""
	}
	return fmt.Sprintf("SET(%s,%s,%d,%s)", bitsType(f, instr.Ops[0].Reg), typ, instr.Ops[0].Reg, code)
}

// head has the types and macros of the C code. LANES is the number of lanes of a vector.
const head = `
#define T(name, type) typedef type name __attribute__((ext_vector_type(LANES)));
T(u32, unsigned) T(s32, int) T(f32, float) T(u64, unsigned long) T(s64, long) T(f64, double) T(p, _Bool)
#define K(t, bits) ((t)(u##t)(bits))
#define uu32 u32
#define us32 u32
#define uf32 u32
#define uu64 u64
#define us64 u64
#define uf64 u64
#define CVT(t, v) __builtin_convertvector(v, t)
#define BOOL(v) __builtin_convertvector(-(v), p)
#define SELECT(t, c, a, b) ((t)((u##t)(a) & -CVT(u##t, c) | (u##t)(b) & ~-CVT(u##t, c)))
`

// forms of the translation
const (
	rows      = iota // each instruction loads and stores rows
	registers        // values stay in vector registers
	groups           // values stay in vector registers, one group of lanes after the other
)

// source returns the C of all blocks in a form, with vectors of lanes.
func source(blocks []*block, form, lanes int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#define LANES %d\n%s", lanes, head)
	fmt.Fprintln(&b, "#define BARRIER __asm__ volatile(\"\" ::: \"memory\")")
	fmt.Fprintln(&b, "#define ROW(t, i) (*(t *)(rows + (i) * 256 + group * sizeof(t)))")
	if form == rows {
		fmt.Fprintln(&b, "#define V(t, i) ROW(t, i)\n#define SET(r, t, i, x) ROW(t, i) = (t)(x); BARRIER;")
	} else {
		fmt.Fprintln(&b, "#define V(t, i) ((t)v##i)\n#define SET(r, t, i, x) v##i = (r)(t)(x);")
	}
	for i, k := range blocks {
		fmt.Fprintf(&b, "void block%d_%d(char *restrict rows) {\n\tfor (int group = 0; group < 32 / LANES; group++) {\n", i, form)
		if form == rows {
			fmt.Fprintf(&b, "%s\n", strings.Join(k.code, "\n"))
		} else {
			k.write(&b, form)
		}
		fmt.Fprint(&b, "\t}\n}\n")
	}
	return b.String()
}

// write writes a block whose values stay in vector registers. An instruction that is not translated reads and writes rows; it
// also ends the loop over the groups of lanes.
func (k *block) write(b *strings.Builder, form int) {
	var held, changed, declared = map[ptx.RegID]bool{}, map[ptx.RegID]bool{}, map[ptx.RegID]bool{}
	store := func(r ptx.RegID) {
		if changed[r] {
			delete(changed, r)
			fmt.Fprintf(b, "\t\tROW(%s, %d) = v%d;\n", bitsType(k.f, r), r, r)
		}
	}
	storeLive := func(after int) {
		for _, r := range slices.Sorted(maps.Keys(changed)) {
			if k.live[after](r) {
				store(r)
			}
		}
		clear(changed)
	}
	declare := func(r ptx.RegID) {
		if !declared[r] {
			declared[r] = true
			fmt.Fprintf(b, "\t\t%s v%d;\n", bitsType(k.f, r), r)
		}
	}
	for i, instr := range k.instrs {
		switch {
		case k.code[i] != "":
			for r := range instr.Uses() {
				if declare(r); !held[r] {
					held[r] = true
					fmt.Fprintf(b, "\t\tv%d = ROW(%s, %d);\n", r, bitsType(k.f, r), r)
				}
			}
			for r := range instr.Defs() {
				declare(r)
				held[r], changed[r] = true, true
			}
			fmt.Fprintf(b, "\t\t%s\n", k.code[i])
		case form == registers:
			for r := range instr.Uses() {
				store(r)
			}
			for r := range instr.Defs() {
				store(r) // lanes that do not execute the instruction keep the value
				delete(held, r)
			}
			fmt.Fprint(b, "\t\tBARRIER;\n")
		case len(held) > 0:
			if i > 0 {
				storeLive(i - 1)
			}
			clear(held)
			clear(declared)
			fmt.Fprint(b, "\t}\n\tfor (int group = 0; group < 32 / LANES; group++) {\n")
		}
	}
	storeLive(len(k.instrs) - 1)
}

// results returns registers that translated instructions write and that are read after the block, at most 63.
func (k *block) results() (list []ptx.RegID) {
	for i, instr := range k.instrs {
		for r := range instr.Defs() {
			if k.code[i] != "" && k.live[len(k.instrs)-1](r) && !slices.Contains(list, r) && len(list) < 63 {
				list = append(list, r)
			}
		}
	}
	return list
}
