package random

// This file makes programs whose values have structure.

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"gemu/ptx"
)

// structured writes a program of structured values: arithmetic, mostly such as has
// affine rules, guards, branches and loops on uniform, affine and any conditions,
// tables of labels, calls, memory of all state spaces, lanes that end early.
type structured struct {
	program
	inFunc bool // the body of a function, not the kernel's
	warps  bool // what lanes of a warp do together: for warps of 32
	ended  bool // some lanes may have ended, and others diverged until they end

	unshared    bool // there is no shared memory
	unnamed     bool // there are no variables of the module
	unconverted bool // there is no cvt; %hx is a register to spare

	// tame programs do little that gives a register no structure. The plan of affine
	// mode has one class for a register, from all that writes it: in others hardly
	// any stays compact.
	tame bool
}

// Sizes of a structured program's memory, in bytes.
const (
	tableBytes   = 256 // read by everybody
	scratchBytes = 64  // of a thread
	sharedBytes  = 16  // of a thread
)

// ruled are the opcodes that have an affine rule of their own.
func ruled(variants []*ptx.Variant) (list []*ptx.Variant) {
	for _, v := range variants {
		if a := v.Form.Affine; a != ptx.AffineNone && a != ptx.AffineUniform {
			list = append(list, v)
		}
	}
	return list
}

func (s *structured) word() string { return s.reg(ptx.B32) }
func (s *structured) wide() string { return s.reg(ptx.B64) }
func (s *structured) half() string { return s.reg(ptx.B16) }
func (s *structured) pred() string { return s.reg(ptx.Pred) }

// guard is sometimes a guard.
func (s *structured) guard() string { return s.program.guard(4) }

// indices are what a thread is told of where it is; the last is not defined by its index alone.
var indices = []string{"%tid.x", "%tid.x", "%tid.y", "%tid.z", "%laneid", "%ctaid.x", "%ntid.x", "%nctaid.y", "%warpid"}

// seed gives a register a value with structure, or a new one out of memory.
func (s *structured) seed() { s.seedFrom(indices) }

func (s *structured) seedFrom(indices []string) {
	switch s.r.IntN(12) {
	case 0, 1, 2:
		s.f("\t%smov.u32 %s, %s;\n", s.guard(), s.word(), pick(s.r, indices...))
	case 3:
		s.f("\t%smov.u32 %s, %d;\n", s.guard(), s.word(), uint32(s.value()))
	case 4:
		s.f("\t%smov.b64 %s, %d;\n", s.guard(), s.wide(), int64(s.value()))
	case 5:
		if s.unconverted {
			s.f("\t%s%s\n", s.guard(), s.low(s.half(), s.word()))
			return
		}
		s.f("\t%scvt.%s.%s %s, %s;\n", s.guard(), pick(s.r, "u16", "s16", "u8", "s8"), pick(s.r, "u32", "s32"), s.half(), s.word())
	case 6:
		if s.unconverted {
			s.f("\t%smul.wide.%s %s, %s, 1;\n", s.guard(), pick(s.r, "u32", "s32"), s.wide(), s.word())
			return
		}
		s.f("\t%scvt.%s %s, %s;\n", s.guard(), pick(s.r, "u64.u32", "s64.s32", "u64.s32"), s.wide(), s.word())
	case 7:
		s.f("\t%smov.b32 %s, {%s, %s};\n", s.guard(), s.word(), s.half(), s.half())
	case 8:
		s.f("\t%smov.b64 %s, {%s, %s};\n", s.guard(), s.wide(), s.word(), s.word())
	case 9:
		s.f("\t%smov.b64 {%s, _}, %s;\n", s.guard(), s.word(), s.wide())
	case 10:
		s.f("\t%sadd.u32 %s, %s, %%tx;\n", s.guard(), s.word(), s.word())
	case 11:
		t := pick(s.r, "u32", "s32")
		s.f("\t%ssetp.%s.%s %s, %s, %s;\n", s.guard(), pick(s.r, "lt", "le", "gt", "ge", "eq", "ne"), t, s.pred(), s.word(), pick(s.r, "0", "5", "16", "31", "32", s.word()))
	}
}

// low writes the lower half of a word to a register of 16 bits.
func (s *structured) low(half, word string) string {
	if s.unconverted {
		return fmt.Sprintf("mov.b32 {%s, %%hx}, %s;", half, word)
	}
	return fmt.Sprintf("cvt.u16.u32 %s, %s;", half, word)
}

// memory is an access to memory that no other thread writes.
func (s *structured) memory() {
	kind := s.r.IntN(14)
	if s.tame {
		kind = pick(s.r, 0, 2, 3, 4, 7, 9, 10, 13)
	}
	s.access(kind, ".global", ".global", "", ".global.nc", ".volatile.global")
}

// access is an access of a kind; spaces are those by which the table may be read.
func (s *structured) access(kind int, spaces ...string) {
	off := 4 * s.r.IntN(scratchBytes/4)
	switch kind {
	case 0:
		s.f("\t%sst.global.u32 [%%scratch+%d], %s;\n", s.guard(), off, s.word())
	case 1:
		s.f("\t%sld.global.u32 %s, [%%scratch+%d];\n", s.guard(), s.word(), off)
	case 2:
		s.f("\t%sst.global.v2.u32 [%%scratch+%d], {%s, %s};\n", s.guard(), off&^7, s.word(), s.word())
	case 3: // the address a register of any structure
		t := pick(s.r, "u8", "s8", "u16", "s16", "b32", "b32", "v2.b32", "b64")
		d := s.word()
		switch t {
		case "v2.b32":
			a := s.r.IntN(nWord)
			d = fmt.Sprintf("{%%w%d, %%w%d}", a, (a+1)%nWord)
		case "b64":
			d = s.wide()
		}
		widen := "cvt.u64.u32 %addr, %at"
		if s.unconverted {
			widen = "mul.wide.u32 %addr, %at, 1"
		}
		s.f("\tand.b32 %%at, %s, %d;\n\t%s;\n\tadd.u64 %%addr, %%addr, %%table;\n\t%sld%s.%s %s, [%%addr];\n",
			s.word(), pick(s.r, tableBytes-8, 56, 8), widen, s.guard(), pick(s.r, spaces...), t, d)
	case 4:
		s.f("\t%sld.global.%s %s, [%%table+%d];\n", s.guard(), pick(s.r, "u32", "u16", "s16", "s8"), s.word(), off)
	case 5:
		s.f("\t%sld.global.%s %s, [%%table+%d];\n", s.guard(), pick(s.r, "u16", "s16", "u8", "s8"), s.half(), off)
	case 6:
		s.f("\t%sst.shared.u32 [%%sh+%d], %s;\n\tld.shared.%s %s, [%%sh+%d];\n", s.guard(), off%sharedBytes, s.word(), pick(s.r, "u32", "s16", "u8"), s.word(), off%sharedBytes)
	case 7:
		s.f("\t%sst.local.u32 [loc+%d], %s;\n", s.guard(), off, s.word())
	case 8:
		s.f("\t%sld.local.u32 %s, [loc+%d];\n", s.guard(), s.word(), off)
	case 9: // a uniform address, but every thread has its own memory there
		s.f("\tmov.u64 %%addr, loc;\n\tcvta.local.u64 %%addr, %%addr;\n\t%sst.u32 [%%addr+%d], %s;\n\tld.u32 %s, [%%addr+%d];\n", s.guard(), off, s.word(), s.word(), off)
	case 10:
		s.f("\t%sld.const.u32 %s, [ctab+%d];\n", s.guard(), s.word(), off)
	case 11:
		s.f("\t%satom.shared.%s %s, [%%sh], %s;\n", s.guard(), pick(s.r, "add.u32", "exch.b32", "min.s32", "and.b32"), s.word(), s.word())
	case 12:
		s.f("\t%sred.global.add.u32 [%%scratch+%d], %s;\n", s.guard(), off, s.word())
	case 13:
		if s.inFunc {
			return
		}
		s.f("\t%sld.param.%s;\n", s.guard(), pick(s.r, "u32 "+s.word()+", [n]", "s16 "+s.half()+", [n]", "u64 "+s.wide()+", [m]", "u8 "+s.word()+", [m+3]"))
	}
}

func (s *structured) call() {
	if s.inFunc {
		return
	}
	switch s.r.IntN(4) {
	case 0:
		s.f("\t%scall (%s), freg, (%s, %s);\n", s.guard(), s.word(), s.word(), s.wide())
	case 1:
		s.f("\t%scall (%s), freg, (%d, %s);\n", s.guard(), s.word(), s.r.IntN(100), s.wide())
	case 2:
		s.f("\t{\n\t.param .b32 x;\n\t.param .b64 y;\n\t.param .b32 z;\n\tst.param.b32 [x], %s;\n\tst.param.b64 [y], %s;\n\tcall (z), fparam, (x, y);\n\tld.param.b32 %s, [z];\n\t}\n", s.word(), s.wide(), s.word())
	case 3: // through an address
		s.f("\tmov.u64 %%addr, freg;\n\t@%s mov.u64 %%addr, fother;\n\tcall (%s), %%addr, (%s, %s), proto;\n", s.pred(), s.word(), s.word(), s.wide())
	}
}

// together is what the lanes of a warp do in one step.
func (s *structured) together() {
	switch s.r.IntN(4) {
	case 0:
		s.f("\tactivemask.b32 %s;\n", s.word())
	case 1:
		s.f("\tactivemask.b32 %%at;\n\tvote.sync.ballot.b32 %s, %s, %%at;\n", s.word(), s.pred())
	case 2:
		s.f("\tactivemask.b32 %%at;\n\tvote.sync.%s.pred %s, %s, %%at;\n", pick(s.r, "all", "any", "uni"), s.pred(), s.pred())
	case 3:
		s.f("\tactivemask.b32 %%at;\n\tredux.sync.%s.u32 %s, %s, %%at;\n", pick(s.r, "add", "min", "max", "add"), s.word(), s.word())
	}
}

func (s *structured) block(depth int) {
	for range 3 + s.r.IntN(6) {
		if s.budget--; s.budget < 0 {
			return
		}
		switch k := s.r.IntN(40); {
		case k < 12 || s.tame && k < 17:
			s.instr(ruled(s.variants))
		case k < 17:
			s.instr(s.variants)
		case k < 25:
			s.seed()
		case k < 30:
			s.memory()
		case k < 32 && !s.tame:
			s.call()
		case k < 35 && depth < 3:
			s.branch(depth, pick(s.r, "", "!"), s.pred(), s.block)
		case k < 37 && depth < 2:
			s.loop(depth, pick(s.r, s.word(), "2", "3"), s.block)
		case k == 37 && depth < 3:
			s.table(depth, s.block)
		case k == 38 && depth > 0:
			s.ended = true
			s.f("\t@%s %s;\n", s.pred(), pick(s.r, "ret", "exit"))
		case k == 38 && !s.tame:
			if !s.inFunc {
				name := "bar"
				if s.ended {
					name = "barrier" // does not want warps to be converged
				}
				s.f("\t%s.red.%s, 0, %s;\n", name, pick(s.r, "popc.u32 "+s.word(), "and.pred "+s.pred(), "or.pred "+s.pred()), s.pred())
			}
		case k == 39 && s.warps:
			s.together()
		}
	}
}

// table writes a branch by a table of labels.
func (s *structured) table(depth int, block func(depth int)) {
	n := s.labels
	s.labels++
	s.f("\tand.b32 %%at, %s, 1;\nlist%d: .branchtargets CASE%d, OTHER%d;\n\tbrx.idx %%at, list%d;\nCASE%d:\n", s.word(), n, n, n, n, n)
	block(depth + 1)
	s.f("OTHER%d:\n", n)
}

// pool calls f with the registers that random instructions use.
func pool(f func(name, typ string, off int)) {
	off := 0
	for i := range nWide {
		f(fmt.Sprintf("%%d%d", i), "b64", off)
		off += 8
	}
	for i := range nWord {
		f(fmt.Sprintf("%%w%d", i), "b32", off)
		off += 4
	}
	for i := range nHalf {
		f(fmt.Sprintf("%%h%d", i), "b16", off)
		off += 4
	}
}

// function writes a function of the signature all have, with a body of its own.
func (s *structured) function(head, load, store string) {
	body := &structured{program: program{variants: s.variants, r: s.r, budget: 12, labels: s.labels, constants: s.constants}, inFunc: true, warps: s.warps}
	body.block(1)
	s.labels = body.labels
	s.f("%s\n{\n", head)
	s.registers(body.loops)
	s.f("\t.local .align 8 .b8 loc[%d];\n\t.reg .b32 %%ra;\n\t.reg .b64 %%rb;\n%s", scratchBytes, load)
	s.f("\tmov.u64 %%table, tab;\n\tmov.u32 %%sh, %%tid.x;\n")
	s.threadIndex()
	for i := range nWord {
		s.f("\tmad.lo.u32 %%w%d, %%ra, %d, %%tx;\n", i, i)
	}
	for i := range nWide {
		s.f("\tadd.u64 %%d%d, %%rb, %d;\n", i, i*i)
	}
	for i := range nHalf {
		s.f("\tcvt.u16.u32 %%h%d, %%w%d;\n", i, i)
	}
	s.predicates()
	s.WriteString(body.String())
	s.f("%s\tret;\n}\n", store)
}

func (s *structured) registers(loops int) {
	s.f("\t.reg .b16 %%h<%d>;\n\t.reg .b32 %%w<%d>;\n\t.reg .b64 %%d<%d>;\n\t.reg .pred %%p<%d>, %%q;\n\t.reg .u32 %%c<%d>;\n", nHalf, nWord, nWide, nPred, loops+1)
	s.f("\t.reg .u64 %%table, %%scratch, %%addr;\n\t.reg .u32 %%lin, %%sh, %%at, %%tx, %%ty, %%lane, %%cta;\n")
}

func (s *structured) predicates() {
	for i := range nPred {
		s.f("\tsetp.lt.s32 %%p%d, %%w%d, %%w%d;\n", i, i, i+1)
	}
}

// threadIndex computes %lin, the index of the thread in the grid, and the
// addresses of its memory.
func (s *structured) threadIndex() {
	s.f(`	mov.u32 %%tx, %%tid.x;
	mov.u32 %%ty, %%tid.y;
	mov.u32 %%lane, %%laneid;
	mov.u32 %%cta, %%ctaid.x;
	mov.u32 %%sh, %%tid.z;
	mov.u32 %%lin, %%ntid.y;
	mad.lo.u32 %%lin, %%lin, %%sh, %%ty;
	mov.u32 %%sh, %%tid.x;
	mov.u32 %%at, %%ntid.x;
	mad.lo.u32 %%sh, %%lin, %%at, %%sh;
	mov.u32 %%lin, %%ntid.y;
	mul.lo.u32 %%at, %%at, %%lin;
	mov.u32 %%lin, %%ntid.z;
	mul.lo.u32 %%at, %%at, %%lin;
	mov.u32 %%lin, %%ctaid.x;
	mad.lo.u32 %%lin, %%lin, %%at, %%sh;
`)
	if !s.unnamed {
		s.f("\tmul.wide.u32 %%scratch, %%lin, %d;\n\tmov.u64 %%addr, scratch;\n\tadd.u64 %%scratch, %%scratch, %%addr;\n", scratchBytes)
	}
	if s.unshared {
		return
	}
	s.f(`	mul.lo.u32 %%sh, %%sh, %d;
	mov.u32 %%at, sh;
	add.u32 %%sh, %%sh, %%at;
`, sharedBytes)
}

// Structured makes a program of some opcodes, and the inputs of all threads of a grid of one
// dimension with blocks of any: Stride bytes for each. Lanes of a warp act together if warps is
// set; what comes of it depends on where they meet. The kernel is k(in, out, n, m), of two
// pointers, a .u32 and a .u64.
func Structured(variants []*ptx.Variant, seed uint64, threads int, warps bool) (src string, in []byte) {
	s := &structured{program: program{variants: variants, r: rand.New(rand.NewPCG(seed, 2)), constants: 1}, warps: warps, tame: seed%2 == 0}
	budget := 50
	if s.tame {
		s.constants, budget = 4, 25
	}
	s.f(".version 8.8\n.target sm_100\n.address_size 64\n")
	s.f(".global .align 8 .b8 scratch[%d];\n.shared .align 16 .b8 sh[%d];\n.global .align 8 .u32 tab[%d] = {", threads*scratchBytes, threads*sharedBytes, tableBytes/4)
	for i := range tableBytes / 4 {
		s.f("%s%d", pick(s.r, ", ", ",")[min(1, 2*max(0, 1-i)):], uint32(s.value()))
	}
	s.f("};\n.const .u32 ctab[%d] = {1, 2, 3};\n", scratchBytes/4)
	param := func(name string) (head, load, store string) {
		return ".func (.param .b32 z) " + name + "(.param .b32 x, .param .b64 y)", "\tld.param.b32 %ra, [x];\n\tld.param.b64 %rb, [y];\n", "\tst.param.b32 [z], %w3;\n"
	}
	reg := func(name string) (head, load, store string) {
		return ".func (.reg .b32 %z) " + name + "(.reg .b32 %x, .reg .b64 %y)", "\tmov.b32 %z, 5;\n\tmov.b32 %ra, %x;\n\tmov.b64 %rb, %y;\n", "\tmov.b32 %z, %w3;\n"
	}
	s.function(param("fparam"))
	s.function(reg("freg"))
	s.function(reg("fother"))

	body := &structured{program: program{variants: variants, r: s.r, budget: budget, constants: s.constants}, warps: warps, tame: s.tame}
	body.block(0)
	s.f(".entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u64 m)\n{\n")
	s.registers(body.loops)
	s.f("\t.local .align 8 .b8 loc[%d];\n\t.reg .u64 %%in, %%out;\n\t.reg .u32 %%one;\nproto: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b64 _);\n", scratchBytes)
	s.f("\tmov.u64 %%table, tab;\n")
	s.threadIndex()
	s.f("\tld.param.u64 %%in, [in];\n\tld.param.u64 %%out, [out];\n\tmad.wide.u32 %%in, %%lin, %d, %%in;\n\tmad.wide.u32 %%out, %%lin, %d, %%out;\n", Stride, Stride)
	pool(func(name, typ string, off int) {
		switch {
		case s.r.IntN(4) == 0 && !s.tame:
			s.f("\tld.global.%s %s, [%%in+%d];\n", typ, name, off)
		case typ == "b64":
			s.f("\tmul.wide.u32 %s, %s, %d;\n", name, pick(s.r, "%lin", "%tx", "%ty", "%cta"), uint32(s.value()))
		case typ == "b32":
			s.f("\tmul.lo.u32 %s, %s, %d;\n", name, pick(s.r, "%lin", "%tx", "%tx", "%ty", "%lane", "%cta"), pick(s.r, 1, 1, 4, -1, int32(s.value())))
		default:
			s.f("\tcvt.u16.u32 %s, %s;\n", name, pick(s.r, "%lin", "%at", "%sh"))
		}
	})
	s.predicates()
	s.WriteString(body.String())
	pool(func(name, typ string, off int) { s.f("\tst.global.%s [%%out+%d], %s;\n", typ, off, name) })
	for i := range nPred {
		s.f("\tselp.u32 %%one, 1, 0, %%p%d;\n\tst.global.u32 [%%out+%d], %%one;\n", i, Stride-4*nPred+4*i)
	}
	s.f("\tret;\n}\n")
	in = make([]byte, threads*Stride)
	for i := 0; i+8 <= len(in); i += 4 {
		binary.LittleEndian.PutUint32(in[i:], uint32(s.value()))
	}
	return s.String(), in
}
