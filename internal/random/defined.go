package random

// This file makes programs for any implementation of PTX: their results are defined to the bit, for any order of
// threads. By construction they have none of the following (Differences lists more):
//
//   - a register, or local or shared memory, that is read before it is written;
//   - integer division by zero, or with overflow;
//   - the bits of a NaN that an instruction has made: each NaN is replaced by a fixed NaN before use, and none is
//     converted to an integer;
//   - the sign of a zero where the manual is unclear, .ftz, approximations;
//   - floating-point operations without a rounding mode, which may be contracted;
//   - a carry flag that does not come from the previous instruction;
//   - access to memory written by a second thread, except after a barrier, or by atomic operations that commute and whose
//     result is unused;
//   - a barrier, or an instruction of a whole warp, where threads may be diverged.

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"gemu/ptx"
)

// Features are the parts of PTX allowed in programs, in addition to moves, integer conversions, some arithmetic for
// addresses, and global loads and stores.
type Features uint32

// Features of defined programs.
const (
	Arith      Features = 1 << iota // integer arithmetic, logic, comparison
	Carry                           // extended precision: add.cc, addc …
	Float                           // .f32
	Double                          // .f64
	Half                            // .f16 and .bf16, alone and in pairs
	Video                           // video instructions, and integers packed in pairs
	Memory                          // loads and stores of all widths, of .global, .const and .param space
	Local                           // .local space
	Generic                         // generic addresses
	Divergence                      // branches, loops and exits that differ between threads of a warp
	Indirect                        // brx.idx; with Calls, calls of addresses
	Shared                          // .shared space, and barriers
	Calls                           // functions
	Atomics                         // atomic operations
	Warp                            // vote, shfl, match and redux
	Variables                       // variables of the module: .global and .const, and .shared of functions
	Convert                         // cvt

	AllFeatures Features = 1<<iota - 1
)

// FeatureNames are the names of the features, in their order.
var FeatureNames = []string{"arith", "carry", "float", "double", "half", "video", "memory", "local", "generic", "divergence", "indirect", "shared", "calls", "atomics", "warp", "variables", "convert"}

// typeFeatures has the features that instructions on a type require; all other types are unused.
var typeFeatures = map[ptx.Type]Features{
	ptx.Pred: 0, ptx.F32: Float, ptx.F64: Double, ptx.F16: Half, ptx.BF16: Half, ptx.F16x2: Half, ptx.BF16x2: Half, ptx.U16x2: Video, ptx.S16x2: Video,
	ptx.B8: 0, ptx.B16: 0, ptx.B32: 0, ptx.B64: 0, ptx.U8: 0, ptx.U16: 0, ptx.U32: 0, ptx.U64: 0, ptx.S8: 0, ptx.S16: 0, ptx.S32: 0, ptx.S64: 0,
}

// featuresOf returns the features that an opcode and its types require. defined reports whether defined programs can
// have the opcode, unless sh.avoided excludes it.
func featuresOf(v *ptx.Variant) (features Features, defined bool) {
	f := v.Form
	switch f.Class {
	case ptx.ClassVideo:
		features = Video
	case ptx.ClassInt, ptx.ClassMul, ptx.ClassSFU:
		features = Arith
	case ptx.ClassFP:
	default:
		return 0, false
	}
	switch f.Family {
	case ptx.FamilyConvert:
		features = Convert
	case ptx.FamilyPack:
		features |= Convert
	}
	if f.Effects.Any(ptx.CarryIn | ptx.CarryOut) {
		features = Carry
	}
	for _, t := range v.Types() {
		required, ok := typeFeatures[t]
		if !ok {
			return 0, false
		}
		if required.any(Float | Double | Half) {
			features &^= Arith
		}
		features |= required
	}
	if f.Effects.HasAll(ptx.CarryIn | ptx.CarryOut) {
		return 0, false // in the middle of a chain of three
	}
	return features, true
}

func (f Features) any(features Features) bool { return f&features != 0 }

// Shape describes a kind of defined program.
type Shape struct {
	Features Features
	Version  ptx.Version // .version
	SM       int         // .target
	Grid     int         // CTAs
	Block    [3]int      // threads of a CTA
	Length   int         // approximate number of statements

	Semantics Semantics

	Runs func(v *ptx.Variant) bool // reports whether an opcode is legal and runs; called only for chosen opcodes
}

// Variants returns the opcodes that programs of the shape may have if they run.
func (sh *Shape) Variants() []*ptx.Variant {
	return Variants(func(v *ptx.Variant) bool {
		features, defined := featuresOf(v)
		return defined && !sh.isAvoided(v) && features&^sh.Features == 0 && v.Form.MinSM <= sh.SM && !sh.Version.Less(v.Form.MinPTX)
	})
}

// cells is the number of words at the end of the output. Atomic operations of all threads update each of them.
const cells = 8

// Record is the number of result bytes of each thread of a defined program.
const Record = Stride + scratchBytes

// InBytes is the size of a program's input buffer.
func (sh *Shape) InBytes() int {
	if sh.Features&Variables == 0 {
		return sh.threads()*Stride + tableBytes
	}
	return sh.threads() * Stride
}

// OutBytes is the size of a program's output buffer.
func (sh *Shape) OutBytes() int { return sh.threads()*Record + 8*cells }

func (sh *Shape) threads() int      { return sh.Grid * sh.blockThreads() }
func (sh *Shape) blockThreads() int { return sh.Block[0] * sh.Block[1] * sh.Block[2] }

// Arguments of a defined program after its buffers.
const (
	ArgN uint32 = 12
	ArgM uint64 = 1 << 40
)

// defined writes a defined program.
type defined struct {
	structured
	*Shape
	any    [][]*ptx.Variant // by instruction; all instructions are equally likely
	affine [][]*ptx.Variant // instructions with an affine rule of their own
	first  []*ptx.Variant   // opcodes that set the carry flag
	second []*ptx.Variant   // opcodes that read it
}

// Defined makes a defined program of the shape's opcodes, and its input. Its kernel is k(in, out, n, m), with pointers
// to InBytes of input and OutBytes of output, which must be zero, then ArgN and ArgM. Each line is a unit that can be
// removed.
func Defined(sh *Shape, variants []*ptx.Variant, seed uint64) (src string, in []byte) {
	p := &defined{Shape: sh, structured: structured{program: program{r: rand.New(rand.NewPCG(seed, 4)), constants: 1, documented: true}}}
	p.unshared, p.unnamed, p.unconverted = !p.has(Shared), !p.has(Variables), !p.has(Convert)
	for _, v := range variants {
		switch e := v.Form.Effects; {
		case e.HasAll(ptx.CarryOut):
			p.first = append(p.first, v)
		case e.HasAll(ptx.CarryIn):
			p.second = append(p.second, v)
		default:
			p.variants = append(p.variants, v)
		}
	}
	p.any, p.affine = byInstruction(p.variants), byInstruction(withAffineRule(p.variants))
	if seed%2 == 0 {
		p.constants = 4
	}
	p.printf(".version %s\n.target sm_%d\n.address_size 64\n", sh.Version, sh.SM)
	if p.has(Variables) {
		p.printf(".global .align 16 .b8 scratch[%d];\n.global .align 8 .u32 tab[%d] = {", p.threads()*scratchBytes, tableBytes/4)
		for i := range tableBytes / 4 {
			p.printf("%s%d", []string{"", ", "}[min(i, 1)], uint32(p.value()))
		}
		p.printf("};\n.const .align 8 .u32 ctab[%d] = {1, 2, 3};\n", scratchBytes/4)
		p.declareShared("")
	}
	if p.has(Calls) {
		p.writeFunction("fone")
		p.writeFunction("ftwo")
	}

	body := p.body(sh.Length)
	body.writeStatements(0)
	p.printf(".entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u64 m)\n{\n")
	p.declareRegisters(body.loops)
	if !p.has(Variables) {
		p.declareShared("\t")
	}
	p.printf("\t.reg .u64 %%in, %%out, %%cells;\n\t.reg .u32 %%one, %%n, %%mask, %%tcta, %%threads;\n")
	if p.has(Calls | Indirect) {
		p.printf("proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);\n")
	}
	if p.has(Variables) {
		p.printf("\tmov.u64 %%table, tab;\n")
	}
	p.computeThreadIndex()
	p.printf("\tld.param.u64 %%in, [in];\n\tld.param.u64 %%out, [out];\n\tld.param.u32 %%n, [n];\n\tadd.u64 %%cells, %%out, %d;\n", p.threads()*Record)
	if !p.has(Variables) { // the buffers hold the contents of variables
		p.printf("\tadd.u64 %%table, %%in, %d;\n", p.threads()*Stride)
	}
	p.printf("\tmad.wide.u32 %%in, %%lin, %d, %%in;\n\tmad.wide.u32 %%out, %%lin, %d, %%out;\n", Stride, Record)
	if !p.has(Variables) {
		p.printf("\tadd.u64 %%scratch, %%out, %d;\n", Stride)
	}
	if p.has(Shared) || p.has(Warp) { // the thread's index in its CTA
		p.printf("\tmov.u32 %%threads, %d;\n\trem.u32 %%tcta, %%lin, %%threads;\n", p.blockThreads())
	}
	if p.has(Warp) { // the lanes of the thread's warp
		p.printf("\tsub.u32 %%mask, %%threads, %%tcta; add.u32 %%mask, %%mask, %%lane; min.u32 %%mask, %%mask, 32; sub.u32 %%mask, 32, %%mask; shr.u32 %%mask, -1, %%mask;\n")
	}
	forEachRegister(func(name, typ string, offset int) {
		switch {
		case p.r.IntN(2) == 0:
			p.printf("\tld.global.%s %s, [%%in+%d];\n", typ, name, offset)
		case typ == "b64":
			p.printf("\tmul.wide.u32 %s, %s, %d;\n", name, pickOne(p.r, "%lin", "%tx", "%ty", "%cta"), uint32(p.value()))
		case typ == "b32":
			p.printf("\tmul.lo.u32 %s, %s, %d;\n", name, pickOne(p.r, "%lin", "%tx", "%ty", "%lane"), pickOne(p.r, 1, 1, 4, -1, int32(p.value())))
		default:
			p.printf("\t%s\n", p.lowHalf(name, "%lin"))
		}
	})
	p.setPredicates()
	p.initialiseMemory()
	p.WriteString(body.String())
	forEachRegister(func(name, typ string, offset int) { p.printf("\tst.global.%s [%%out+%d], %s;\n", typ, offset, name) })
	for i := range nPred {
		p.printf("\tselp.u32 %%one, 1, 0, %%p%d; st.global.u32 [%%out+%d], %%one;\n", i, Stride-4*nPred+4*i)
	}
	for i := 0; p.has(Variables) && i < scratchBytes; i += 8 {
		p.printf("\tld.global.u64 %%addr, [%%scratch+%d]; st.global.u64 [%%out+%d], %%addr;\n", i, Stride+i)
	}
	p.printf("\tret;\n}\n")
	in = make([]byte, sh.InBytes())
	for i := 0; i+4 <= len(in); i += 4 {
		v := p.value()
		if p.r.IntN(3) == 0 {
			v = corners[i/4%len(corners)] // the same value in many threads
		}
		binary.LittleEndian.PutUint32(in[i:], uint32(v))
	}
	return p.String(), in
}

// byInstruction groups opcodes, which must be in the order of the table.
func byInstruction(variants []*ptx.Variant) (list [][]*ptx.Variant) {
	for i, v := range variants {
		if i == 0 || variants[i-1].Op != v.Op {
			list = append(list, nil)
		}
		list[len(list)-1] = append(list[len(list)-1], v)
	}
	return list
}

func (p *defined) has(all Features) bool { return p.Features&all == all }

// body returns a writer for budget statements of a function or the kernel.
func (p *defined) body(budget int) *defined {
	b := *p
	b.structured.program = program{variants: p.variants, r: p.r, budget: budget, labels: p.labels, constants: p.constants, documented: p.documented}
	return &b
}

// declareRegisters declares the registers of a function or the kernel.
func (p *defined) declareRegisters(loops int) {
	p.structured.declareRegisters(loops)
	p.printf("\t.reg .b16 %%hx, %%hy;\n\t.reg .b32 %%wx, %%wy;\n\t.reg .b64 %%dx;\n\t.reg .pred %%u;\n")
	if p.has(Local) {
		p.printf("\t.local .align 16 .b8 loc[%d];\n", scratchBytes)
	}
}

// declareShared declares shared memory.
func (p *defined) declareShared(indent string) {
	if p.has(Shared) {
		p.printf("%[1]s.shared .align 16 .b8 sh[%[2]d];\n%[1]s.shared .align 4 .b8 others[%[3]d];\n", indent, p.blockThreads()*sharedBytes, p.blockThreads()*4)
	}
}

// initialiseMemory initialises the thread's local and shared memory.
func (p *defined) initialiseMemory() {
	if p.has(Local) {
		for i := 0; i < scratchBytes; i += 8 {
			p.printf("\tst.local.u64 [loc+%d], %%d%d;\n", i, i/8%nWide)
		}
	}
	if p.has(Shared) && !p.inFunc {
		for i := 0; i < sharedBytes; i += 4 {
			p.printf("\tst.shared.u32 [%%sh+%d], %%w%d;\n", i, i/4)
		}
	}
}

// writeFunction writes a function with a body of its own.
func (p *defined) writeFunction(name string) {
	body := p.body(12)
	body.inFunc = true
	body.writeStatements(1)
	p.labels = body.labels
	p.printf(".func (.param .b32 z) %s(.param .b32 x, .param .b64 y)\n{\n", name)
	p.declareRegisters(body.loops)
	p.printf("\t.reg .b32 %%ra;\n\t.reg .b64 %%rb;\n\tld.param.b32 %%ra, [x];\n\tld.param.b64 %%rb, [y];\n\tst.param.b32 [z], %%ra;\n")
	if p.has(Variables) {
		p.printf("\tmov.u64 %%table, tab;\n")
	}
	f := *p
	f.unshared = !p.has(Shared | Variables)
	f.structured.program = program{}
	f.computeThreadIndex()
	p.WriteString(f.String())
	for i := range nWord {
		p.printf("\tmad.lo.u32 %%w%d, %%ra, %d, %%tx;\n", i, i)
	}
	for i := range nWide {
		p.printf("\tadd.u64 %%d%d, %%rb, %d;\n", i, i*i)
	}
	for i := range nHalf {
		p.printf("\t%s\n", p.lowHalf(fmt.Sprintf("%%h%d", i), fmt.Sprintf("%%w%d", i)))
	}
	p.setPredicates()
	p.inFunc = true
	p.initialiseMemory()
	p.inFunc = false
	p.WriteString(body.String())
	p.printf("\tst.param.b32 [z], %%w3;\n\tret;\n}\n")
}

// writeStatements writes random statements.
func (p *defined) writeStatements(depth int) {
	for range 3 + p.r.IntN(6) + 4*max(0, 2-depth) {
		if p.budget--; p.budget < 0 {
			return
		}
		switch k := p.r.IntN(40); {
		case k < 7:
			p.writeStatement(p.affine)
		case k < 16:
			p.writeStatement(p.any)
		case k < 17 && len(p.first) > 0 && len(p.second) > 0:
			p.writeCarryPair()
		case k < 21:
			p.seedFrom(indices[:len(indices)-1])
		case k < 27:
			p.writeAccess(depth)
		case k < 29 && p.has(Calls) && !p.inFunc:
			p.writeCall()
		case k < 32 && depth < 3:
			if negation, pred := p.condition(); pred != "" {
				p.writeBranch(depth, negation, pred, p.writeStatements)
			}
		case k < 34 && depth < 2:
			if p.has(Divergence) {
				p.writeLoop(depth, pickOne(p.r, p.wordReg(), "2", "3"), p.writeStatements)
			} else {
				p.writeUniformLoop(depth)
			}
		case k == 34 && depth < 3 && p.has(Divergence|Indirect):
			p.writeTableBranch(depth, p.writeStatements)
		case k == 35 && depth > 0 && p.has(Divergence):
			statement := "ret"
			if !p.inFunc {
				p.lanesEnded, statement = true, pickOne(p.r, "ret", "exit")
			}
			p.printf("\t@%s %s;\n", p.predReg(), statement)
		case k < 38 && depth == 0 && !p.inFunc && !p.lanesEnded && p.has(Shared):
			p.writeExchange()
		case depth == 0 && !p.inFunc && !p.lanesEnded && p.has(Warp):
			p.writeCollective()
		}
	}
}

// condition returns the condition of a branch; "" if there is none.
func (p *defined) condition() (negation, pred string) {
	switch {
	case p.has(Divergence):
		return pickOne(p.r, "", "!"), p.predReg()
	case p.inFunc:
		return "", ""
	}
	p.printf("\tsetp.%s.u32 %%u, %s, %d;\n", pickOne(p.r, "lt", "ge", "ne"), pickOne(p.r, "%n", "%cta"), p.r.IntN(20))
	return pickOne(p.r, "", "!"), "%u"
}

// writeUniformLoop writes a loop that all threads leave together.
func (p *defined) writeUniformLoop(depth int) {
	n, c := p.labels, p.loops
	p.labels++
	p.loops++
	p.printf("\tmov.b32 %%c%d, %d;\nLOOP%d:\n", c, 1+p.r.IntN(3), n)
	p.writeStatements(depth + 1)
	p.printf("\tadd.u32 %%c%d, %%c%d, -1;\n\tsetp.gt.s32 %%q, %%c%d, 0;\n\t@%%q bra LOOP%d;\n", c, c, c, n)
}

// writeStatement writes an instruction with some opcode of the list, in a line with code for a defined result.
func (p *defined) writeStatement(instructions [][]*ptx.Variant) {
	if len(instructions) == 0 {
		return
	}
	v := pickOne(p.r, pickOne(p.r, instructions...)...)
	if !p.Runs(v) {
		return
	}
	ops := p.operands(v)
	if ops == nil {
		return
	}
	before, after := "", ""
	if v.Form.Effects.HasAll(ptx.Partial) && v.Form.Affine != ptx.AffineUniform {
		before, ops[2] = p.divisor(v.OperandType(2))
	}
	for i, temp := 0, []string{"%wx", "%wy"}; i < len(ops); i++ {
		if !p.isNarrowed(v, i) {
			continue
		}
		if n, err := strconv.ParseUint(ops[i], 10, 64); err == nil {
			ops[i] = fmt.Sprint(n & 255)
			continue
		}
		before += fmt.Sprintf("and.b32 %s, %s, 255; ", temp[0], ops[i])
		ops[i], temp = temp[0], temp[1:]
	}
	guard := ""
	if p.mayGuard(v) {
		guard = p.guard()
	}
	result := v.OperandType(0)
	if v.Form.Family == ptx.FamilyConvert {
		to, from := v.Conversion()
		result = to
		if a := ops[1]; floats[from] != nil && floats[to] == nil && strings.HasPrefix(a, "%") {
			before = floats[from].replaceNaN(a, floats[from].zero)
		}
	}
	if f := floats[result]; f != nil {
		after = f.replaceNaN(ops[0], f.nan)
		if v.Has("sat") || v.Has("relu") {
			after += f.clearSign(ops[0])
		} else if !v.Form.HasSlot("rnd") {
			after += f.clearZeroSign(ops[0])
		}
	}
	p.printf("\t%s%s%s %s;%s\n", before, guard, v.Text, strings.Join(ops, ", "), after)
}

// divisor returns code to put a positive number into a register.
func (p *defined) divisor(t ptx.Type) (text, reg string) {
	switch t.Bits() {
	case 16:
		return fmt.Sprintf("and.b16 %%hx, %s, 32767; or.b16 %%hx, %%hx, 1; ", p.halfReg()), "%hx"
	case 32:
		return fmt.Sprintf("and.b32 %%wx, %s, 2147483647; or.b32 %%wx, %%wx, 1; ", p.wordReg()), "%wx"
	}
	return fmt.Sprintf("and.b64 %%dx, %s, 9223372036854775807; or.b64 %%dx, %%dx, 1; ", p.wideReg()), "%dx"
}

// float describes the bits of a floating-point type, to recognise NaNs and zeros.
type float struct {
	bits      int
	pair      bool
	infinity  uint64
	nan, zero uint64
	temp      string
}

var floats = map[ptx.Type]*float{
	ptx.F16:    {16, false, 0x7c00, 0x7fff, 0, "%hx"},
	ptx.BF16:   {16, false, 0x7f80, 0x7fff, 0, "%hx"},
	ptx.F32:    {32, false, 0x7f800000, 0x7fffffff, 0, "%wx"},
	ptx.F64:    {64, false, 0x7ff0000000000000, 0x7fffffffffffffff, 0, "%dx"},
	ptx.F16x2:  {16, true, 0x7c00, 0x7fff, 0, "%hx"},
	ptx.BF16x2: {16, true, 0x7f80, 0x7fff, 0, "%hx"},
}

// forEachNumber returns code for a register, or for both of its halves.
func (f *float) forEachNumber(reg string, code func(reg, temp string) string) string {
	if !f.pair {
		return code(reg, f.temp)
	}
	return fmt.Sprintf(" mov.b32 {%%hx, %%hy}, %s;%s%s mov.b32 %s, {%%hx, %%hy};", reg, code("%hx", ""), code("%hy", ""), reg)
}

// replaceWhere returns code to replace a register by a value if its magnitude compares as cmp with a bound.
func (f *float) replaceWhere(reg, cmp string, bound, value uint64) string {
	return f.forEachNumber(reg, func(reg, temp string) string {
		if temp == "" {
			return fmt.Sprintf(" mov.b32 %%wx, {%s, %s}; and.b32 %%wx, %%wx, %d; setp.%s.u32 %%q, %%wx, %d; @%%q mov.b16 %s, %d;", reg, reg, 0x7fff, cmp, bound, reg, value)
		}
		return fmt.Sprintf(" and.b%d %s, %s, %d; setp.%s.u%d %%q, %s, %d; @%%q mov.b%d %s, %d;", f.bits, temp, reg, f.magnitude(), cmp, f.bits, temp, bound, f.bits, reg, value)
	})
}

func (f *float) magnitude() uint64 { return 1<<(f.bits-1) - 1 }

// replaceNaN returns code to replace a NaN by a value.
func (f *float) replaceNaN(reg string, value uint64) string {
	return f.replaceWhere(reg, "gt", f.infinity, value)
}

// clearZeroSign returns code to make a zero positive.
func (f *float) clearZeroSign(reg string) string { return f.replaceWhere(reg, "eq", 0, 0) }

// clearSign returns code to clear the sign.
func (f *float) clearSign(reg string) string {
	if f.pair {
		return fmt.Sprintf(" and.b32 %s, %s, %d;", reg, reg, 0x7fff7fff)
	}
	return fmt.Sprintf(" and.b%d %s, %s, %d;", f.bits, reg, reg, f.magnitude())
}

// writeCarryPair writes an instruction that sets the carry flag, and a reader of the flag.
func (p *defined) writeCarryPair() {
	a := pickOne(p.r, p.first...)
	var readers []*ptx.Variant
	for _, v := range p.second {
		if p.canPair(a, v) {
			readers = append(readers, v)
		}
	}
	if len(readers) == 0 {
		return
	}
	b := pickOne(p.r, readers...)
	if !p.Runs(a) || !p.Runs(b) {
		return
	}
	p.printf("\t%s %s; %s %s;\n", a.Text, strings.Join(p.operands(a), ", "), b.Text, strings.Join(p.operands(b), ", "))
}

// writeAccess writes an access to memory that the features allow.
func (p *defined) writeAccess(depth int) {
	var kinds []int
	add := func(f Features, list ...int) {
		if p.has(f) {
			kinds = append(kinds, list...)
		}
	}
	add(Local, 7, 8)
	add(Local|Generic, 9)
	add(Memory|Variables, 10)
	if !p.inFunc || p.has(Variables) { // functions do not know the buffers
		add(Memory, 0, 1, 2, 3, 3, 4, 5)
		add(Shared, 6)
		add(Shared|Atomics, 11)
		add(Atomics, 12)
	}
	if !p.inFunc {
		add(Memory, 13)
		add(Atomics, 14, 14)
	}
	if len(kinds) == 0 {
		return
	}
	switch kind := pickOne(p.r, kinds...); {
	case kind == 14:
		// Operations in a cell commute.
		i := p.r.IntN(cells)
		p.printf("\t%sred.global.%s [%%cells+%d], %s;\n", p.guard(), []string{"add.u32", "max.u32", "min.s32", "max.s32", "or.b32", "xor.b32", "add.u64", "max.s64"}[i], 8*i, []string{p.wordReg(), p.wideReg()}[i/6])
	case p.has(Generic):
		p.structured.writeAccess(kind, ".global", "", ".volatile.global")
	default:
		p.structured.writeAccess(kind, ".global", ".volatile.global")
	}
}

// writeCall writes a call of a function.
func (p *defined) writeCall() {
	before, target, proto := "", pickOne(p.r, "fone", "ftwo"), ""
	if p.has(Indirect) && p.r.IntN(3) == 0 {
		before, target, proto = fmt.Sprintf("mov.u64 %%addr, fone; @%s mov.u64 %%addr, ftwo; ", p.predReg()), "%addr", ", proto"
	}
	p.printf("\t%s{ .param .b32 x; .param .b64 y; .param .b32 z; st.param.b32 [x], %s; st.param.b64 [y], %s; call (z), %s, (x, y)%s; ld.param.b32 %s, [z]; }\n", before, p.wordReg(), p.wideReg(), target, proto, p.wordReg())
}

// writeExchange writes a barrier: with a predicate of all threads, or to read a word of another thread.
func (p *defined) writeExchange() {
	if p.r.IntN(3) == 0 {
		p.printf("\tbar.red.%s, 0, %s;\n", pickOne(p.r, "popc.u32 "+p.wordReg(), "and.pred "+p.predReg(), "or.pred "+p.predReg()), p.predReg())
		return
	}
	p.printf("\tmov.u32 %%at, others; mad.lo.u32 %%at, %%tcta, 4, %%at; st.shared.u32 [%%at], %s;\n\tbar.sync 0;\n", p.wordReg())
	p.printf("\tadd.u32 %%at, %%tcta, %d; rem.u32 %%at, %%at, %%threads; mov.u32 %%one, others; mad.lo.u32 %%at, %%at, 4, %%one; ld.shared.u32 %s, [%%at];\n\tbar.sync 0;\n", p.r.IntN(p.blockThreads()), p.wordReg())
}

// writeCollective writes an instruction that all lanes of a warp execute.
func (p *defined) writeCollective() {
	available := func(version ptx.Version, sm int) bool { return p.SM >= sm && !p.Version.Less(version) }
	switch k := p.r.IntN(8); {
	case k == 0:
		p.printf("\tvote.sync.ballot.b32 %s, %s, %%mask;\n", p.wordReg(), p.predReg())
	case k == 1:
		p.printf("\tvote.sync.%s.pred %s, %s, %%mask;\n", pickOne(p.r, "all", "any", "uni"), p.predReg(), p.predReg())
	case k == 2 && available(ptx.Version{Major: 7}, 80):
		p.printf("\tredux.sync.%s %s, %s, %%mask;\n", pickOne(p.r, "add.u32", "min.s32", "max.u32", "and.b32", "xor.b32"), p.wordReg(), p.wordReg())
	case k == 3 && available(ptx.Version{Major: 6}, 70):
		t := pickOne(p.r, ptx.B32, ptx.B64)
		p.printf("\tmatch.any.sync%s %s, %s, %%mask;\n", t, p.wordReg(), p.reg(t))
	case k == 4 && available(ptx.Version{Major: 6}, 70):
		p.printf("\tmatch.all.sync.b32 %s|%s, %s, %%mask;\n", p.wordReg(), p.predReg(), p.wordReg())
	case p.blockThreads()%32 == 0: // all lanes exist
		mode := pickOne(p.r, "up", "down", "bfly", "idx")
		clamp := pickOne(p.r, 0x1f, 0x1f, 0x181f)
		if mode == "up" {
			clamp &^= 0x1f
		}
		p.printf("\tshfl.sync.%s.b32 %s|%s, %s, %s, %d, %%mask;\n", mode, p.wordReg(), p.predReg(), p.wordReg(), pickOne(p.r, "1", "3", "16", "31", p.wordReg()), clamp)
	}
}
