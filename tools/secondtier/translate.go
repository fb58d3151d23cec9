package main

import (
	"fmt"
	"maps"
	"slices"
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

// bits returns the width of a register: 1 for a predicate.
func bits(f *ptx.Func, r ptx.RegID) int {
	t := f.Regs[r].Type
	if t == ptx.Pred {
		return 1
	}
	return t.Bits()
}

// kinds of C types of the lanes, by the letter of a PTX type
var kinds = map[byte]string{'f': "f", 's': "s", 'u': "u", 'b': "u"}

// comparisons has C's operators of setp.
var comparisons = map[string]string{"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}

// translate returns the C expression of an instruction's result, "" if the instruction is not translated.
func translate(f *ptx.Func, instr *ptx.Instr) string {
	if instr.Guard.Reg != ptx.NoReg || instr.Call != nil || len(instr.Ops) < 2 || instr.Ops[0].Kind != ptx.RegOperand {
		return ""
	}
	parts := strings.Split(instr.Text, ".")
	name, types := parts[0], []string{}
	for _, p := range parts[1:] {
		if len(p) > 2 && kinds[p[0]] != "" && (p[1:] == "32" || p[1:] == "64") {
			types = append(types, kinds[p[0]]+p[1:])
		}
		if p == "pred" {
			types = append(types, "p")
		}
	}
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(parts, w) })
	}
	if len(types) == 0 || has("sat", "cc", "hi", "x2", "rm", "rp") {
		return ""
	}
	typ := types[len(types)-1]
	result := map[int]string{1: "p", 32: "u32", 64: "u64"}[bits(f, instr.Ops[0].Reg)]
	if result == "" {
		return ""
	}
	known := true
	value := func(i int, typ string) string {
		o := &instr.Ops[i]
		switch {
		case o.Kind == ptx.RegOperand && o.Sel() == "" && bits(f, o.Reg) != 16 && bits(f, o.Reg) != 128 && bits(f, o.Reg) != 8:
			v := fmt.Sprintf("V(%s,%d)", typ, o.Reg)
			if o.Neg {
				v = "(~" + v + ")"
			}
			return v
		case o.Kind == ptx.ImmOperand && typ != "p":
			of := map[string]ptx.Type{"u32": ptx.U32, "s32": ptx.S32, "f32": ptx.F32, "u64": ptx.U64, "s64": ptx.S64, "f64": ptx.F64}[typ]
			return fmt.Sprintf("K(%s,%#xull)", typ, o.Imm.Encode(of))
		}
		known = false
		return ""
	}
	arg := func(i int) string { return value(i, typ) }
	n := len(instr.Ops)
	code := ""
	isFloat := typ[0] == 'f'
	switch {
	case name == "mov" && n == 2 && typ != "p":
		code = arg(1)
	case typ == "p" && n == 3 && slices.Contains([]string{"and", "or", "xor"}, name):
		code = arg(1) + map[string]string{"and": "&", "or": "|", "xor": "^"}[name] + arg(2)
	case typ == "p":
		return ""
	case name == "add" || name == "sub":
		code = arg(1) + map[string]string{"add": "+", "sub": "-"}[name] + arg(2)
	case name == "mul" && (isFloat || has("lo")):
		code = arg(1) + "*" + arg(2)
	case (name == "mul" || name == "mad") && has("wide") && bits(f, instr.Ops[0].Reg) == 64:
		wide := typ[:1] + "64"
		code = fmt.Sprintf("CVT(%s,%s)*CVT(%s,%s)", wide, arg(1), wide, arg(2))
		if typ = wide; name == "mad" {
			code += "+" + value(3, wide)
		}
	case name == "mad" && has("lo"):
		code = arg(1) + "*" + arg(2) + "+" + arg(3)
	case (name == "fma" || name == "mad") && isFloat:
		code = fmt.Sprintf("__builtin_elementwise_fma(%s,%s,%s)", arg(1), arg(2), arg(3))
	case (name == "and" || name == "or" || name == "xor") && n == 3:
		code = arg(1) + map[string]string{"and": "&", "or": "|", "xor": "^"}[name] + arg(2)
	case name == "not":
		code = "~" + arg(1)
	case name == "neg":
		code = "-" + arg(1)
	case name == "abs":
		code = "__builtin_elementwise_abs(" + arg(1) + ")"
	case name == "min" || name == "max":
		code = fmt.Sprintf("__builtin_elementwise_%s(%s,%s)", name, arg(1), arg(2))
	case (name == "shl" || name == "shr") && instr.Ops[2].Kind == ptx.ImmOperand:
		code = fmt.Sprintf("%s%s%d", arg(1), map[string]string{"shl": "<<", "shr": ">>"}[name], instr.Ops[2].Imm.Bits&31)
	case name == "setp" && n == 3 && comparisons[parts[1]] != "":
		code, typ = fmt.Sprintf("BOOL(%s%s%s)", arg(1), comparisons[parts[1]], arg(2)), "p"
	case name == "selp":
		code = fmt.Sprintf("SELECT(%s,%s,%s,%s)", typ, value(3, "p"), arg(1), arg(2))
	case name == "cvt" && len(types) == 2 && !has("ftz"):
		to := types[0]
		code, typ = fmt.Sprintf("CVT(%s,%s)", to, value(1, types[1])), to
	default:
		return ""
	}
	if !known {
		return ""
	}
	return fmt.Sprintf("SET(%s,%s,%d,%s)", result, typ, instr.Ops[0].Reg, code)
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
			fmt.Fprintf(b, "\t\tROW(%s, %d) = v%d;\n", k.ctype(r), r, r)
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
			fmt.Fprintf(b, "\t\t%s v%d;\n", k.ctype(r), r)
		}
	}
	for i, instr := range k.instrs {
		switch {
		case k.code[i] != "":
			for r := range instr.Uses() {
				if declare(r); !held[r] {
					held[r] = true
					fmt.Fprintf(b, "\t\tv%d = ROW(%s, %d);\n", r, k.ctype(r), r)
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

// ctype returns the C type of a register's bits.
func (k *block) ctype(r ptx.RegID) string {
	return map[int]string{1: "p", 32: "u32", 64: "u64"}[bits(k.f, r)]
}
