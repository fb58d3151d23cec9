package random

// This file makes programs whose values have structure.

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"gemu/ptx"
)

// structured writes a program whose values have structure: mostly arithmetic with affine rules; guards, branches and
// loops on uniform, affine and generic conditions; tables of labels, calls, memory of all state spaces, and lanes that
// end early.
type structured struct {
	program
	inFunc     bool // writes the body of a function, not of the kernel
	warps      bool // allows instructions that lanes of a warp execute together: for warps of 32
	lanesEnded bool // some lanes may have ended, and some may be diverged until the end

	unshared    bool // no shared memory
	unnamed     bool // no variables of the module
	unconverted bool // no cvt; %hx is a free register

	// mostlyAffine programs seldom make generic values. The plan of affine mode has a single class for a register,
	// from all its writers; in programs without structure hardly any register stays compact.
	mostlyAffine bool
}

// Sizes of a structured program's memory, in bytes.
const (
	tableBytes   = 256 // read by all threads
	scratchBytes = 64  // bytes of each thread
	sharedBytes  = 16  // bytes of each thread
)

// withAffineRule returns the opcodes with an affine rule of their own.
func withAffineRule(variants []*ptx.Variant) (list []*ptx.Variant) {
	for _, v := range variants {
		if a := v.Form.Affine; a != ptx.AffineNone && a != ptx.AffineUniform {
			list = append(list, v)
		}
	}
	return list
}

func (s *structured) wordReg() string { return s.reg(ptx.B32) }
func (s *structured) wideReg() string { return s.reg(ptx.B64) }
func (s *structured) halfReg() string { return s.reg(ptx.B16) }
func (s *structured) predReg() string { return s.reg(ptx.Pred) }

// guard returns a guard with probability 1 in 4; else "".
func (s *structured) guard() string { return s.program.guard(4) }

// indices are the special registers with a thread's position. The last depends on more than the thread's index.
var indices = []string{"%tid.x", "%tid.x", "%tid.y", "%tid.z", "%laneid", "%ctaid.x", "%ntid.x", "%nctaid.y", "%warpid"}

// loadValue writes a structured value, or a value from memory, to a register.
func (s *structured) loadValue() { s.seedFrom(indices) }

func (s *structured) seedFrom(indices []string) {
	switch s.r.IntN(12) {
	case 0, 1, 2:
		s.printf("\t%smov.u32 %s, %s;\n", s.guard(), s.wordReg(), pickOne(s.r, indices...))
	case 3:
		s.printf("\t%smov.u32 %s, %d;\n", s.guard(), s.wordReg(), uint32(s.value()))
	case 4:
		s.printf("\t%smov.b64 %s, %d;\n", s.guard(), s.wideReg(), int64(s.value()))
	case 5:
		if s.unconverted {
			s.printf("\t%s%s\n", s.guard(), s.lowHalf(s.halfReg(), s.wordReg()))
			return
		}
		s.printf("\t%scvt.%s.%s %s, %s;\n", s.guard(), pickOne(s.r, "u16", "s16", "u8", "s8"), pickOne(s.r, "u32", "s32"), s.halfReg(), s.wordReg())
	case 6:
		if s.unconverted {
			s.printf("\t%smul.wide.%s %s, %s, 1;\n", s.guard(), pickOne(s.r, "u32", "s32"), s.wideReg(), s.wordReg())
			return
		}
		s.printf("\t%scvt.%s %s, %s;\n", s.guard(), pickOne(s.r, "u64.u32", "s64.s32", "u64.s32"), s.wideReg(), s.wordReg())
	case 7:
		s.printf("\t%smov.b32 %s, {%s, %s};\n", s.guard(), s.wordReg(), s.halfReg(), s.halfReg())
	case 8:
		s.printf("\t%smov.b64 %s, {%s, %s};\n", s.guard(), s.wideReg(), s.wordReg(), s.wordReg())
	case 9:
		s.printf("\t%smov.b64 {%s, _}, %s;\n", s.guard(), s.wordReg(), s.wideReg())
	case 10:
		s.printf("\t%sadd.u32 %s, %s, %%tx;\n", s.guard(), s.wordReg(), s.wordReg())
	case 11:
		t := pickOne(s.r, "u32", "s32")
		s.printf("\t%ssetp.%s.%s %s, %s, %s;\n", s.guard(), pickOne(s.r, "lt", "le", "gt", "ge", "eq", "ne"), t, s.predReg(), s.wordReg(), pickOne(s.r, "0", "5", "16", "31", "32", s.wordReg()))
	}
}

// lowHalf returns code to copy the lower half of a word to a 16-bit register.
func (s *structured) lowHalf(half, word string) string {
	if s.unconverted {
		return fmt.Sprintf("mov.b32 {%s, %%hx}, %s;", half, word)
	}
	return fmt.Sprintf("cvt.u16.u32 %s, %s;", half, word)
}

// writeMemoryAccess writes an access to memory written by no other thread.
func (s *structured) writeMemoryAccess() {
	kind := s.r.IntN(14)
	if s.mostlyAffine {
		kind = pickOne(s.r, 0, 2, 3, 4, 7, 9, 10, 13)
	}
	s.writeAccess(kind, ".global", ".global", "", ".global.nc", ".volatile.global")
}

// writeAccess writes an access of a kind; the table may be read through several spaces.
func (s *structured) writeAccess(kind int, spaces ...string) {
	offset := 4 * s.r.IntN(scratchBytes/4)
	switch kind {
	case 0:
		s.printf("\t%sst.global.u32 [%%scratch+%d], %s;\n", s.guard(), offset, s.wordReg())
	case 1:
		s.printf("\t%sld.global.u32 %s, [%%scratch+%d];\n", s.guard(), s.wordReg(), offset)
	case 2:
		s.printf("\t%sst.global.v2.u32 [%%scratch+%d], {%s, %s};\n", s.guard(), offset&^7, s.wordReg(), s.wordReg())
	case 3: // the address comes from a register of any structure
		t := pickOne(s.r, "u8", "s8", "u16", "s16", "b32", "b32", "v2.b32", "b64")
		d := s.wordReg()
		switch t {
		case "v2.b32":
			a := s.r.IntN(nWord)
			d = fmt.Sprintf("{%%w%d, %%w%d}", a, (a+1)%nWord)
		case "b64":
			d = s.wideReg()
		}
		widen := "cvt.u64.u32 %addr, %at"
		if s.unconverted {
			widen = "mul.wide.u32 %addr, %at, 1"
		}
		s.printf("\tand.b32 %%at, %s, %d;\n\t%s;\n\tadd.u64 %%addr, %%addr, %%table;\n\t%sld%s.%s %s, [%%addr];\n",
			s.wordReg(), pickOne(s.r, tableBytes-8, 56, 8), widen, s.guard(), pickOne(s.r, spaces...), t, d)
	case 4:
		s.printf("\t%sld.global.%s %s, [%%table+%d];\n", s.guard(), pickOne(s.r, "u32", "u16", "s16", "s8"), s.wordReg(), offset)
	case 5:
		s.printf("\t%sld.global.%s %s, [%%table+%d];\n", s.guard(), pickOne(s.r, "u16", "s16", "u8", "s8"), s.halfReg(), offset)
	case 6:
		s.printf("\t%sst.shared.u32 [%%sh+%d], %s;\n\tld.shared.%s %s, [%%sh+%d];\n", s.guard(), offset%sharedBytes, s.wordReg(), pickOne(s.r, "u32", "s16", "u8"), s.wordReg(), offset%sharedBytes)
	case 7:
		s.printf("\t%sst.local.u32 [loc+%d], %s;\n", s.guard(), offset, s.wordReg())
	case 8:
		s.printf("\t%sld.local.u32 %s, [loc+%d];\n", s.guard(), s.wordReg(), offset)
	case 9: // a uniform address, at which every thread has memory of its own
		s.printf("\tmov.u64 %%addr, loc;\n\tcvta.local.u64 %%addr, %%addr;\n\t%sst.u32 [%%addr+%d], %s;\n\tld.u32 %s, [%%addr+%d];\n", s.guard(), offset, s.wordReg(), s.wordReg(), offset)
	case 10:
		s.printf("\t%sld.const.u32 %s, [ctab+%d];\n", s.guard(), s.wordReg(), offset)
	case 11:
		s.printf("\t%satom.shared.%s %s, [%%sh], %s;\n", s.guard(), pickOne(s.r, "add.u32", "exch.b32", "min.s32", "and.b32"), s.wordReg(), s.wordReg())
	case 12:
		s.printf("\t%sred.global.add.u32 [%%scratch+%d], %s;\n", s.guard(), offset, s.wordReg())
	case 13:
		if s.inFunc {
			return
		}
		s.printf("\t%sld.param.%s;\n", s.guard(), pickOne(s.r, "u32 "+s.wordReg()+", [n]", "s16 "+s.halfReg()+", [n]", "u64 "+s.wideReg()+", [m]", "u8 "+s.wordReg()+", [m+3]"))
	}
}

func (s *structured) writeCall() {
	if s.inFunc {
		return
	}
	switch s.r.IntN(4) {
	case 0:
		s.printf("\t%scall (%s), freg, (%s, %s);\n", s.guard(), s.wordReg(), s.wordReg(), s.wideReg())
	case 1:
		s.printf("\t%scall (%s), freg, (%d, %s);\n", s.guard(), s.wordReg(), s.r.IntN(100), s.wideReg())
	case 2:
		s.printf("\t{\n\t.param .b32 x;\n\t.param .b64 y;\n\t.param .b32 z;\n\tst.param.b32 [x], %s;\n\tst.param.b64 [y], %s;\n\tcall (z), fparam, (x, y);\n\tld.param.b32 %s, [z];\n\t}\n", s.wordReg(), s.wideReg(), s.wordReg())
	case 3: // through an address
		s.printf("\tmov.u64 %%addr, freg;\n\t@%s mov.u64 %%addr, fother;\n\tcall (%s), %%addr, (%s, %s), proto;\n", s.predReg(), s.wordReg(), s.wordReg(), s.wideReg())
	}
}

// writeCollective writes an instruction that the lanes of a warp execute together.
func (s *structured) writeCollective() {
	switch s.r.IntN(4) {
	case 0:
		s.printf("\tactivemask.b32 %s;\n", s.wordReg())
	case 1:
		s.printf("\tactivemask.b32 %%at;\n\tvote.sync.ballot.b32 %s, %s, %%at;\n", s.wordReg(), s.predReg())
	case 2:
		s.printf("\tactivemask.b32 %%at;\n\tvote.sync.%s.pred %s, %s, %%at;\n", pickOne(s.r, "all", "any", "uni"), s.predReg(), s.predReg())
	case 3:
		s.printf("\tactivemask.b32 %%at;\n\tredux.sync.%s.u32 %s, %s, %%at;\n", pickOne(s.r, "add", "min", "max", "add"), s.wordReg(), s.wordReg())
	}
}

func (s *structured) writeBlock(depth int) {
	for range 3 + s.r.IntN(6) {
		if s.budget--; s.budget < 0 {
			return
		}
		switch k := s.r.IntN(40); {
		case k < 12 || s.mostlyAffine && k < 17:
			s.writeInstr(withAffineRule(s.variants))
		case k < 17:
			s.writeInstr(s.variants)
		case k < 25:
			s.loadValue()
		case k < 30:
			s.writeMemoryAccess()
		case k < 32 && !s.mostlyAffine:
			s.writeCall()
		case k < 35 && depth < 3:
			s.writeBranch(depth, pickOne(s.r, "", "!"), s.predReg(), s.writeBlock)
		case k < 37 && depth < 2:
			s.writeLoop(depth, pickOne(s.r, s.wordReg(), "2", "3"), s.writeBlock)
		case k == 37 && depth < 3:
			s.writeTableBranch(depth, s.writeBlock)
		case k == 38 && depth > 0:
			s.lanesEnded = true
			s.printf("\t@%s %s;\n", s.predReg(), pickOne(s.r, "ret", "exit"))
		case k == 38 && !s.mostlyAffine:
			if !s.inFunc {
				name := "bar"
				if s.lanesEnded {
					name = "barrier" // accepts diverged warps
				}
				s.printf("\t%s.red.%s, 0, %s;\n", name, pickOne(s.r, "popc.u32 "+s.wordReg(), "and.pred "+s.predReg(), "or.pred "+s.predReg()), s.predReg())
			}
		case k == 39 && s.warps:
			s.writeCollective()
		}
	}
}

// writeTableBranch writes a branch through a table of labels.
func (s *structured) writeTableBranch(depth int, block func(depth int)) {
	n := s.labels
	s.labels++
	s.printf("\tand.b32 %%at, %s, 1;\nlist%d: .branchtargets CASE%d, OTHER%d;\n\tbrx.idx %%at, list%d;\nCASE%d:\n", s.wordReg(), n, n, n, n, n)
	block(depth + 1)
	s.printf("OTHER%d:\n", n)
}

// forEachRegister calls f for each register that random instructions use.
func forEachRegister(f func(name, typ string, offset int)) {
	offset := 0
	for i := range nWide {
		f(fmt.Sprintf("%%d%d", i), "b64", offset)
		offset += 8
	}
	for i := range nWord {
		f(fmt.Sprintf("%%w%d", i), "b32", offset)
		offset += 4
	}
	for i := range nHalf {
		f(fmt.Sprintf("%%h%d", i), "b16", offset)
		offset += 4
	}
}

// writeFunction writes a function of the common signature, with a body of its own.
func (s *structured) writeFunction(head, load, store string) {
	body := &structured{program: program{variants: s.variants, r: s.r, budget: 12, labels: s.labels, constants: s.constants}, inFunc: true, warps: s.warps}
	body.writeBlock(1)
	s.labels = body.labels
	s.printf("%s\n{\n", head)
	s.declareRegisters(body.loops)
	s.printf("\t.local .align 8 .b8 loc[%d];\n\t.reg .b32 %%ra;\n\t.reg .b64 %%rb;\n%s", scratchBytes, load)
	s.printf("\tmov.u64 %%table, tab;\n\tmov.u32 %%sh, %%tid.x;\n")
	s.computeThreadIndex()
	for i := range nWord {
		s.printf("\tmad.lo.u32 %%w%d, %%ra, %d, %%tx;\n", i, i)
	}
	for i := range nWide {
		s.printf("\tadd.u64 %%d%d, %%rb, %d;\n", i, i*i)
	}
	for i := range nHalf {
		s.printf("\tcvt.u16.u32 %%h%d, %%w%d;\n", i, i)
	}
	s.setPredicates()
	s.WriteString(body.String())
	s.printf("%s\tret;\n}\n", store)
}

func (s *structured) declareRegisters(loops int) {
	s.printf("\t.reg .b16 %%h<%d>;\n\t.reg .b32 %%w<%d>;\n\t.reg .b64 %%d<%d>;\n\t.reg .pred %%p<%d>, %%q;\n\t.reg .u32 %%c<%d>;\n", nHalf, nWord, nWide, nPred, loops+1)
	s.printf("\t.reg .u64 %%table, %%scratch, %%addr;\n\t.reg .u32 %%lin, %%sh, %%at, %%tx, %%ty, %%lane, %%cta;\n")
}

func (s *structured) setPredicates() {
	for i := range nPred {
		s.printf("\tsetp.lt.s32 %%p%d, %%w%d, %%w%d;\n", i, i, i+1)
	}
}

// computeThreadIndex computes %lin, the index of the thread in the grid, and the addresses of the thread's memory.
func (s *structured) computeThreadIndex() {
	s.printf(`	mov.u32 %%tx, %%tid.x;
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
		s.printf("\tmul.wide.u32 %%scratch, %%lin, %d;\n\tmov.u64 %%addr, scratch;\n\tadd.u64 %%scratch, %%scratch, %%addr;\n", scratchBytes)
	}
	if s.unshared {
		return
	}
	s.printf(`	mul.lo.u32 %%sh, %%sh, %d;
	mov.u32 %%at, sh;
	add.u32 %%sh, %%sh, %%at;
`, sharedBytes)
}

// Structured makes a program of some opcodes, and the inputs of all threads of a one-dimensional grid with blocks of
// any shape: Stride bytes for each. warps allows instructions that the lanes of a warp execute together; their result
// depends on reconvergence. The kernel is k(in, out, n, m), with two pointers, a .u32 and a .u64.
func Structured(variants []*ptx.Variant, seed uint64, threads int, warps bool) (src string, in []byte) {
	s := &structured{program: program{variants: variants, r: rand.New(rand.NewPCG(seed, 2)), constants: 1}, warps: warps, mostlyAffine: seed%2 == 0}
	budget := 50
	if s.mostlyAffine {
		s.constants, budget = 4, 25
	}
	s.printf(".version 8.8\n.target sm_100\n.address_size 64\n")
	s.printf(".global .align 8 .b8 scratch[%d];\n.shared .align 16 .b8 sh[%d];\n.global .align 8 .u32 tab[%d] = {", threads*scratchBytes, threads*sharedBytes, tableBytes/4)
	for i := range tableBytes / 4 {
		s.printf("%s%d", pickOne(s.r, ", ", ",")[min(1, 2*max(0, 1-i)):], uint32(s.value()))
	}
	s.printf("};\n.const .u32 ctab[%d] = {1, 2, 3};\n", scratchBytes/4)
	param := func(name string) (head, load, store string) {
		return ".func (.param .b32 z) " + name + "(.param .b32 x, .param .b64 y)", "\tld.param.b32 %ra, [x];\n\tld.param.b64 %rb, [y];\n", "\tst.param.b32 [z], %w3;\n"
	}
	reg := func(name string) (head, load, store string) {
		return ".func (.reg .b32 %z) " + name + "(.reg .b32 %x, .reg .b64 %y)", "\tmov.b32 %z, 5;\n\tmov.b32 %ra, %x;\n\tmov.b64 %rb, %y;\n", "\tmov.b32 %z, %w3;\n"
	}
	s.writeFunction(param("fparam"))
	s.writeFunction(reg("freg"))
	s.writeFunction(reg("fother"))

	body := &structured{program: program{variants: variants, r: s.r, budget: budget, constants: s.constants}, warps: warps, mostlyAffine: s.mostlyAffine}
	body.writeBlock(0)
	s.printf(".entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u64 m)\n{\n")
	s.declareRegisters(body.loops)
	s.printf("\t.local .align 8 .b8 loc[%d];\n\t.reg .u64 %%in, %%out;\n\t.reg .u32 %%one;\nproto: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b64 _);\n", scratchBytes)
	s.printf("\tmov.u64 %%table, tab;\n")
	s.computeThreadIndex()
	s.printf("\tld.param.u64 %%in, [in];\n\tld.param.u64 %%out, [out];\n\tmad.wide.u32 %%in, %%lin, %d, %%in;\n\tmad.wide.u32 %%out, %%lin, %d, %%out;\n", Stride, Stride)
	forEachRegister(func(name, typ string, offset int) {
		switch {
		case s.r.IntN(4) == 0 && !s.mostlyAffine:
			s.printf("\tld.global.%s %s, [%%in+%d];\n", typ, name, offset)
		case typ == "b64":
			s.printf("\tmul.wide.u32 %s, %s, %d;\n", name, pickOne(s.r, "%lin", "%tx", "%ty", "%cta"), uint32(s.value()))
		case typ == "b32":
			s.printf("\tmul.lo.u32 %s, %s, %d;\n", name, pickOne(s.r, "%lin", "%tx", "%tx", "%ty", "%lane", "%cta"), pickOne(s.r, 1, 1, 4, -1, int32(s.value())))
		default:
			s.printf("\tcvt.u16.u32 %s, %s;\n", name, pickOne(s.r, "%lin", "%at", "%sh"))
		}
	})
	s.setPredicates()
	s.WriteString(body.String())
	forEachRegister(func(name, typ string, offset int) { s.printf("\tst.global.%s [%%out+%d], %s;\n", typ, offset, name) })
	for i := range nPred {
		s.printf("\tselp.u32 %%one, 1, 0, %%p%d;\n\tst.global.u32 [%%out+%d], %%one;\n", i, Stride-4*nPred+4*i)
	}
	s.printf("\tret;\n}\n")
	in = make([]byte, threads*Stride)
	for i := 0; i+8 <= len(in); i += 4 {
		binary.LittleEndian.PutUint32(in[i:], uint32(s.value()))
	}
	return s.String(), in
}
