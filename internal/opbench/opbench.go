package opbench

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"gemu/interp"
	"gemu/ptx"
)

// Case is a kind of operands: how the lanes of a warp access memory, or take a branch.
type Case string

// The cases.
const (
	NoCase     Case = ""           // the instruction has no addresses, or its lanes access memory together
	Contiguous Case = "contiguous" // neighbouring lanes access neighbouring elements
	Gathered   Case = "gathered"   // each lane accesses another sector
	Uniform    Case = "uniform"    // all lanes access the same element: for atomics, contention
	Divergent  Case = "divergent"  // half of the lanes take the branch
)

// Op is an instruction with a kind of operands.
type Op struct {
	Variant *ptx.Variant
	Case    Case
}

// List returns the instructions to measure whose opcodes match, in the order of the table: variants of all forms that gemu
// runs, except abolished ones.
func List(match func(opcode string) bool) (list []Op) {
	for _, op := range ptx.Ops() {
		for _, f := range op.Forms() {
			if f.Abolished() || f.Family == ptx.FamilyNone {
				continue
			}
			for _, v := range variantsOf(f) {
				if !match(v.Text) {
					continue
				}
				if _, runs := interp.SupportsVariant(v); runs {
					list = append(list, Of(v)...)
				}
			}
		}
	}
	return list
}

// Of returns the instruction with each of its cases.
func Of(v *ptx.Variant) (list []Op) {
	for _, c := range casesOf(v) {
		list = append(list, Op{v, c})
	}
	return list
}

// casesOf returns the cases of a variant.
func casesOf(v *ptx.Variant) []Case {
	switch v.Form.Family {
	case ptx.FamilyLoad, ptx.FamilyStore, ptx.FamilyAtomic:
		if v.Has("bulk") {
			break
		}
		if s, _ := v.Space(); s == ptx.Param {
			return []Case{Uniform}
		}
		return []Case{Contiguous, Gathered, Uniform}
	case ptx.FamilyBra, ptx.FamilyBrx:
		return []Case{Uniform, Divergent}
	}
	return []Case{NoCase}
}

// Kernel is a module that measures an instruction.
type Kernel struct {
	Source string // PTX, with the kernels Measured and Empty
	Copies int    // copies of the instruction in an iteration of the loop
	With   string // the instructions that are measured together with it, such as waits; "" if it is alone
	Warps  int    // number of warps that execute it

	Inputs     []byte // contents of the buffer in
	Output     int    // size of the buffer out, in bytes
	Images     string // the geometry of the texture and the surface: the kernels have their handles as parameters; "" without
	WideTexels bool   // the texels of the surface have 8 bytes
	Map        int    // the number of dimensions of the tensor map, which is a parameter; 0 without
}

// Memory is the size of the buffer mem, in bytes: addresses of global memory lie in it.
const Memory = 1 << 16

// Kernels of a module. Their parameters are
//
//	in, out, mem (.u64)  buffers
//	n (.u32)             iterations of the loop
//	tex, surf (.u64)     handles, if Kernel.Images is set
//	map (.b8[128])       a tensor map of mem, if Kernel.Map is set
const (
	Measured = "measured" // executes the copies in each iteration
	Empty    = "empty"    // executes the same without the copies
)

// source is a register that the instruction reads.
type source struct {
	name string
	typ  ptx.Type
}

// register matches the registers that Variant.Write declares.
var register = regexp.MustCompile(`%x\d+\b`)

// Kernel writes the module of an instruction. The error says why gemu does not measure it.
func (op Op) Kernel() (*Kernel, error) {
	v := op.Variant
	s := setupOf(op)
	if s.skip != "" {
		return nil, fmt.Errorf("%s", s.skip)
	}
	var declared []string
	text := s.text
	if text == "" {
		declared, text = v.Write(ptx.Writing{NoPair: true, AlternateShape: s.alternate, Text: s.operandText})
	}
	k := &Kernel{Copies: s.copies, With: s.with, Warps: max(s.warps, 1), Images: s.images, WideTexels: v.Type().Bits() == 64, Map: s.tensorMap}
	reads, writes, types, err := registersOf(s, declared, text)
	if err != nil {
		return nil, err
	}
	if k.Copies == 0 {
		if k.Copies = 8; len(writes) > 8 {
			k.Copies = 2
		}
	}

	// Each copy writes registers of its own, so that no result is dead.
	var decls, loads, copies, empty, stores strings.Builder
	var sources []source
	for _, name := range reads {
		sources = append(sources, source{name, types[name]})
	}
	offset := 0
	load := func(name string, t ptx.Type, i int) {
		if t == ptx.Pred {
			fmt.Fprintf(&loads, "\tld.global.u32 %%word, [%%in+%d];\n\tsetp.ne.u32 %s, %%word, 0;\n", slot*i, name)
			return
		}
		fmt.Fprintf(&loads, "\tld.global.b%d %s, [%%in+%d];\n", t.Bits(), name, slot*i)
	}
	declare := func(name string, t ptx.Type) { fmt.Fprintf(&decls, "\t.reg %s %s;\n", t, name) }
	for i, src := range sources {
		if !slices.Contains(writes, src.name) {
			declare(src.name, src.typ)
			load(src.name, src.typ, i)
		}
	}
	for n := range k.Copies {
		mine := func(name string) string {
			if !slices.Contains(writes, name) {
				return name
			}
			return fmt.Sprintf("%%y%d_%s", n, name[2:])
		}
		for _, name := range writes {
			t := types[name]
			declare(mine(name), t)
			if i := slices.Index(reads, name); i >= 0 {
				load(mine(name), t, i)
			}
			if t == ptx.Pred {
				fmt.Fprintf(&stores, "\tselp.u32 %%word, 1, 0, %s;\n\tst.global.u32 [%%out+%d], %%word;\n", mine(name), offset)
				offset += 4
				continue
			}
			size := t.Bits() / 8
			offset = (offset + size - 1) / size * size
			fmt.Fprintf(&stores, "\tst.global.b%d [%%out+%d], %s;\n", t.Bits(), offset, mine(name))
			offset += size
		}
		number := strings.NewReplacer("@N", fmt.Sprint(n))
		empty.WriteString(number.Replace(s.each))
		fmt.Fprintf(&copies, "%s%s\t%s%s;\n%s", number.Replace(s.each), number.Replace(s.table), s.guard,
			register.ReplaceAllStringFunc(number.Replace(text), mine), number.Replace(s.after))
	}
	offset = (offset + 15) / 16 * 16
	threads := 32 * k.Warps
	k.Inputs = inputs(op, s, sources, threads)
	k.Output = max(threads*offset, 16)
	if s.shared {
		k.Output += sharedSize
	}
	fill := strings.NewReplacer(
		"DECLS", decls.String()+s.decls, "MODULE", s.module, "PARAMS", s.params(),
		"INSIZE", fmt.Sprint(slot*max(len(sources), 1)), "OUTSIZE", fmt.Sprint(offset), "OUTBASE", fmt.Sprint(threads*offset),
		"ADDRESSES", addresses(op, s), "LOADS", loads.String(), "BEFORE", s.before, "STORES", stores.String(), "FINISH", s.finish,
	)
	head, kernel := head, kernel
	if s.shared {
		kernel = strings.Replace(kernel, "DUMP", dumpShared, 1)
		head += sharedVariable
	} else {
		kernel = strings.Replace(kernel, "DUMP", "", 1)
	}
	k.Source = fill.Replace(head)
	for name, loop := range map[string]string{Measured: copies.String(), Empty: empty.String()} {
		k.Source += strings.NewReplacer("NAME", name, "COPIES", loop).Replace(fill.Replace(kernel))
	}
	return k, nil
}

// registersOf returns the registers %xN that the instruction reads and writes, in their order, and their types.
func registersOf(s *setup, declared []string, text string) (reads, writes []string, types map[string]ptx.Type, err error) {
	if len(declared) == 0 {
		return nil, nil, nil, nil
	}
	src := fill(head+sharedVariable, "MODULE", s.module) +
		fill(kernel, "DECLS", strings.Join(declared, "\n")+"\n"+s.decls, "PARAMS", s.params(), "INSIZE", "0", "OUTSIZE", "0", "OUTBASE", "0", "COPIES", "\t"+strings.ReplaceAll(text, "@N", "0")+";\n", "NAME", Measured,
			"ADDRESSES", "", "LOADS", "", "BEFORE", "", "STORES", "", "FINISH", "", "DUMP", "")
	m, err := ptx.Parse("op.ptx", []byte(src))
	if err != nil {
		return nil, nil, nil, fmt.Errorf("BUG: %w in\n%s", err, src)
	}
	f := m.Kernels()[0]
	types = map[string]ptx.Type{}
	add := func(list *[]string, r ptx.RegID) {
		if name := f.Regs[r].Name; register.MatchString(name) && !slices.Contains(*list, name) {
			*list = append(*list, name)
			types[name] = f.Regs[r].Type
		}
	}
	for _, b := range f.Blocks {
		for _, instr := range b.Instrs {
			for r := range instr.Uses() {
				add(&reads, r)
			}
			for r := range instr.Defs() {
				add(&writes, r)
			}
		}
	}
	return reads, writes, types, nil
}

// fill replaces words of a template.
func fill(template string, words ...string) string {
	return strings.NewReplacer(words...).Replace(template)
}

// slot is the size of an input in the buffer in, in bytes.
const slot = 16

// inputs returns the values of the sources of all threads.
func inputs(op Op, s *setup, sources []source, threads int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, threads*slot*max(len(sources), 1))
	for t := range threads {
		for i, src := range sources {
			at := b[(t*len(sources)+i)*slot:][:slot]
			binary.LittleEndian.PutUint64(at, value(op, s, src.typ, i, t, r))
			binary.LittleEndian.PutUint64(at[8:], value(op, s, src.typ, i, t, r))
		}
	}
	return b
}

// value returns a value for the i-th source of a thread. Halves of words are numbers from 1 to 2 in both formats of 16 bits, and
// bytes are finite in all formats of 8 bits, so words are ordinary numbers in every format. Integers have fewer bits in later
// operands: divisors and shifts are small.
func value(op Op, s *setup, t ptx.Type, i, thread int, r *rand.Rand) uint64 {
	x := r.Uint64()
	switch {
	case t == ptx.Pred:
		return uint64(thread & 1)
	case s.integers != nil && !t.IsFloat():
		return uint64(s.integers[thread%len(s.integers)])
	}
	switch {
	case t == ptx.F64:
		return 0x3ff0000000000000 | x>>12
	case t == ptx.F32:
		return 0x3f800000 | x>>41
	case t.IsFloat() || t.Kind() == ptx.Bits:
		return 0x3f803f803f803f80 | x&0x001f001f001f001f
	case i == 0:
		return x >> (64 - min(t.Bits(), 64) + 2)
	case i == 1 && t.Bits() == op.Variant.Type().Bits() && t == op.Variant.Type():
		return 1 + x>>(64-min(t.Bits(), 64)*3/8)
	}
	return x >> 59
}

const head = `.version 8.8
.target sm_100a
.address_size 64
.global .align 16 .b8 g[16];
.const .align 16 .b8 c[33792];
MODULE`

// sharedSize is the size of the variable s in shared memory, in bytes.
const sharedSize = 33792

const sharedVariable = ".shared .align 1024 .b8 s[33792];\n"

const kernel = `.entry NAME(.param .u64 in, .param .u64 out, .param .u64 mem, .param .u32 nPARAMS)
{
	.reg .u32 %tid, %word, %n, %sa, %i;
	.reg .u64 %in, %out, %outbase, %mem, %ga, %ca, %la, %gs, %wide, %wa;
	.reg .pred %more, %lead;
	.local .align 16 .b8 l[1024];
DECLS	ld.param.u64 %in, [in];
	ld.param.u64 %outbase, [out];
	ld.param.u64 %mem, [mem];
	ld.param.u32 %n, [n];
	mov.u32 %tid, %tid.x;
	setp.eq.u32 %lead, %tid, 0;
	mad.wide.u32 %in, %tid, INSIZE, %in;
	mad.wide.u32 %out, %tid, OUTSIZE, %outbase;
ADDRESSESLOADSBEFORELOOP:
COPIES	add.u32 %n, %n, -1;
	setp.ne.u32 %more, %n, 0;
	@%more bra LOOP;
FINISHSTORESDUMP	ret;
}
`

// dumpShared stores shared memory after the registers of all threads.
const dumpShared = `	bar.sync 0;
	mov.u32 %i, %tid;
DUMP:
	mul.lo.u32 %word, %i, 4;
	cvt.u64.u32 %wide, %word;
	add.u64 %wide, %wide, %outbase;
	mov.u32 %sa, s;
	add.u32 %sa, %sa, %word;
	ld.shared.u32 %word, [%sa];
	st.global.u32 [%wide+OUTBASE], %word;
	mov.u32 %word, %ntid.x;
	add.u32 %i, %i, %word;
	setp.lt.u32 %more, %i, 8448;
	@%more bra DUMP;
`

// addresses writes the computation of %ga, %sa, %ca and %la, the addresses of the thread in mem and in the variables s, c
// and l, and of %gs, the generic address of %sa. The address of a lane is a multiple of 16, or of the size of an access if
// accesses are contiguous.
func addresses(op Op, s *setup) string {
	offset := "\tmov.u32 %word, 0;\n"
	local := "\tmov.u64 %la, l;\n"
	switch op.Case {
	case Contiguous:
		offset = fmt.Sprintf("\tmul.lo.u32 %%word, %%tid, %d;\n", op.size())
	case Gathered:
		offset = "\tmul.lo.u32 %word, %tid, 21;\n\tadd.u32 %word, %word, 7;\n\tand.b32 %word, %word, 31;\n\tmul.lo.u32 %word, %word, 1056;\n"
		local = "\tmul.lo.u32 %word, %tid, 21;\n\tand.b32 %word, %word, 31;\n\tmul.lo.u32 %word, %word, 32;\n\tmov.u64 %la, l;\n\tcvt.u64.u32 %wide, %word;\n\tadd.u64 %la, %la, %wide;\n"
	case NoCase:
		if s.rows > 0 {
			offset = fmt.Sprintf("\tmul.lo.u32 %%word, %%tid, %d;\n", s.rows)
		}
	}
	text := offset + "\tcvt.u64.u32 %wide, %word;\n\tadd.u64 %ga, %mem, %wide;\n\tmov.u64 %ca, c;\n\tadd.u64 %ca, %ca, %wide;\n"
	if s.shared {
		text += "\tmov.u32 %sa, s;\n\tadd.u32 %sa, %sa, %word;\n\tmov.u64 %gs, s;\n\tadd.u64 %gs, %gs, %wide;\n\tcvta.shared.u64 %gs, %gs;\n"
	}
	return text + local
}

// size returns the number of bytes that a lane accesses.
func (op Op) size() int {
	v := op.Variant
	return max(v.Type().Bits()/8, 1) * v.VecLen()
}
