package interp

// This file runs random programs whose values have structure: what lies in a
// thread's registers comes from its index, from parameters and constants as
// often as from memory. Compact execution must leave the same in memory as the
// vectors, and show probes the same values on the way: concrete ∈ γ(shadow),
// whenever somebody looks.

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
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

// affineForms are the opcodes of random programs that have an affine rule of their
// own.
func affineForms() []*ptx.Variant {
	var list []*ptx.Variant
	for _, v := range randomProgramVariants() {
		if a := v.Form.Affine; a != ptx.AffineNone && a != ptx.AffineUniform {
			list = append(list, v)
		}
	}
	return list
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func (s *structured) word() string { return s.reg(ptx.B32) }
func (s *structured) wide() string { return s.reg(ptx.B64) }
func (s *structured) half() string { return s.reg(ptx.B16) }
func (s *structured) pred() string { return s.reg(ptx.Pred) }

// guard is sometimes a guard.
func (s *structured) guard() string {
	if s.r.IntN(4) > 0 {
		return ""
	}
	return "@" + pick(s.r, "", "!") + s.pred() + " "
}

// seed gives a register a value with structure, or a new one out of memory.
func (s *structured) seed() {
	switch s.r.IntN(12) {
	case 0, 1, 2:
		s.f("\t%smov.u32 %s, %s;\n", s.guard(), s.word(), pick(s.r, "%tid.x", "%tid.x", "%tid.y", "%tid.z", "%laneid", "%ctaid.x", "%ntid.x", "%nctaid.y", "%warpid"))
	case 3:
		s.f("\t%smov.u32 %s, %d;\n", s.guard(), s.word(), uint32(s.value()))
	case 4:
		s.f("\t%smov.b64 %s, %d;\n", s.guard(), s.wide(), int64(s.value()))
	case 5:
		s.f("\t%scvt.%s.%s %s, %s;\n", s.guard(), pick(s.r, "u16", "s16", "u8", "s8"), pick(s.r, "u32", "s32"), s.half(), s.word())
	case 6:
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

// memory is an access to memory that no other thread writes.
func (s *structured) memory() {
	off := 4 * s.r.IntN(scratchBytes/4)
	kind := s.r.IntN(14)
	if s.tame {
		kind = pick(s.r, 0, 2, 3, 4, 7, 9, 10, 13)
	}
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
		s.f("\tand.b32 %%at, %s, %d;\n\tcvt.u64.u32 %%addr, %%at;\n\tadd.u64 %%addr, %%addr, %%table;\n\t%sld%s.%s %s, [%%addr];\n",
			s.word(), pick(s.r, tableBytes-8, 56, 8), s.guard(), pick(s.r, ".global", ".global", "", ".global.nc", ".volatile.global"), t, d)
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
			s.instr(affineForms())
		case k < 17:
			s.instr(randomProgramVariants())
		case k < 25:
			s.seed()
		case k < 30:
			s.memory()
		case k < 32 && !s.tame:
			s.call()
		case k < 35 && depth < 3:
			n := s.labels
			s.labels++
			s.f("\t@%s%s bra ELSE%d;\n", pick(s.r, "", "!"), s.pred(), n)
			s.block(depth + 1)
			s.f("\tbra END%d;\nELSE%d:\n", n, n)
			if s.r.IntN(2) == 0 {
				s.block(depth + 1)
			}
			s.f("END%d:\n", n)
		case k < 37 && depth < 2:
			n, c := s.labels, s.loops
			s.labels++
			s.loops++
			s.f("\tand.b32 %%c%d, %s, 3;\nLOOP%d:\n", c, pick(s.r, s.word(), "2", "3"), n)
			s.block(depth + 1)
			if s.r.IntN(3) == 0 {
				s.f("\t@%s bra OUT%d;\n", s.pred(), n)
			}
			s.f("\tadd.u32 %%c%d, %%c%d, -1;\n\tsetp.gt.s32 %%q, %%c%d, 0;\n\t@%%q bra LOOP%d;\nOUT%d:\n", c, c, c, n, n)
		case k == 37 && depth < 3:
			n := s.labels
			s.labels++
			s.f("\tand.b32 %%at, %s, 1;\nlist%d: .branchtargets CASE%d, OTHER%d;\n\tbrx.idx %%at, list%d;\nCASE%d:\n", s.word(), n, n, n, n, n)
			s.block(depth + 1)
			s.f("OTHER%d:\n", n)
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
	body := &structured{program: program{r: s.r, budget: 12, labels: s.labels, constants: s.constants}, inFunc: true, warps: s.warps}
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
	mul.wide.u32 %%scratch, %%lin, %d;
	mov.u64 %%addr, scratch;
	add.u64 %%scratch, %%scratch, %%addr;
	mul.lo.u32 %%sh, %%sh, %d;
	mov.u32 %%at, sh;
	add.u32 %%sh, %%sh, %%at;
`, scratchBytes, sharedBytes)
}

// structuredProgram makes a program and the inputs of its threads.
func structuredProgram(seed uint64, threads int, warps bool) (src string, in []byte) {
	s := &structured{program: program{r: rand.New(rand.NewPCG(seed, 2)), constants: 1}, warps: warps, tame: seed%2 == 0}
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

	body := &structured{program: program{r: s.r, budget: budget, constants: s.constants}, warps: warps, tame: s.tame}
	body.block(0)
	s.f(".entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u64 m)\n{\n")
	s.registers(body.loops)
	s.f("\t.local .align 8 .b8 loc[%d];\n\t.reg .u64 %%in, %%out;\n\t.reg .u32 %%one;\nproto: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b64 _);\n", scratchBytes)
	s.f("\tmov.u64 %%table, tab;\n")
	s.threadIndex()
	s.f("\tld.param.u64 %%in, [in];\n\tld.param.u64 %%out, [out];\n\tmad.wide.u32 %%in, %%lin, %d, %%in;\n\tmad.wide.u32 %%out, %%lin, %d, %%out;\n", stride, stride)
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
		s.f("\tselp.u32 %%one, 1, 0, %%p%d;\n\tst.global.u32 [%%out+%d], %%one;\n", i, stride-4*nPred+4*i)
	}
	s.f("\tret;\n}\n")
	in = make([]byte, threads*stride)
	for i := 0; i+8 <= len(in); i += 4 {
		binary.LittleEndian.PutUint32(in[i:], uint32(s.value()))
	}
	return s.String(), in
}

// digest condenses what a watcher of a CTA has seen: instructions, lanes, operands
// and addresses of those that execute.
type digest struct {
	hash   maphash.Hash
	events int
	stop   int      // write down event number stop
	text   []string // … here
	all    *digests
	index  int
}

// digests are those of a launch, by CTA.
type digests struct {
	seed maphash.Seed
	stop map[int]int // by CTA
	ctas map[int]*digest
	sums map[int][]uint64 // after each event
}

func newDigests() *digests {
	return &digests{seed: maphash.MakeSeed(), ctas: map[int]*digest{}, sums: map[int][]uint64{}}
}

func (d *digests) Wants() Wants {
	return Wants{Events: OnAfter, Values: true, Addresses: true, InOrder: true}
}

func (d *digests) Tell(*Event) {}

func (d *digests) CTA(_ *LaunchInfo, index int, id Dim3) Sink {
	c := &digest{all: d, index: index, stop: -1}
	if n, ok := d.stop[index]; ok {
		c.stop = n
	}
	c.hash.SetSeed(d.seed)
	d.ctas[index] = c
	return c
}

func (d *digest) Tell(e *Event) {
	put := func(list ...uint64) {
		for _, v := range list {
			maphash.WriteComparable(&d.hash, v)
		}
		if d.events == d.stop {
			d.text = append(d.text, fmt.Sprintf("%#x", list))
		}
	}
	if d.events == d.stop {
		d.text = append(d.text, fmt.Sprintf("line %d: %s", e.Instr.Pos.Line, e.Instr.Text))
	}
	put(uint64(e.Instr.Pos.Line), uint64(e.Warp), e.Active, e.Lanes)
	values := func(list []Value) {
		for i := range list {
			v := &list[i]
			put(uint64(v.Reg))
			for lane := range 64 {
				if e.Lanes>>lane&1 == 0 {
					continue
				}
				if put(v.Low[lane]); v.High != nil {
					put(v.High[lane])
				}
			}
		}
	}
	values(e.Reads)
	if c := e.Instr.Form.Class; e.Instr.Call == nil && c != ptx.ClassBarrier {
		values(e.Writes)
	}
	for _, a := range e.Accesses {
		put(uint64(a.Space), uint64(a.Bytes))
		for lane := range 64 {
			if e.Lanes>>lane&1 != 0 {
				put(a.Addr[lane])
			}
		}
	}
	d.events++
	d.all.sums[d.index] = append(d.all.sums[d.index], d.hash.Sum64())
}

// structuredRun is a launch of a structured program and what came of it.
type structuredRun struct {
	name   string
	memory []byte // output and scratch
	events *digests
}

func runStructured(m *ptx.Module, in []byte, block Dim3, e engine, width int, observe *digests) (*structuredRun, error) {
	mod, err := NewDevice(Config{Workers: 1}).LoadModule(m)
	if err != nil {
		return nil, err
	}
	bin, err1 := NewBuffer(mod.dev, in)
	bout, err2 := mod.dev.Alloc(len(in))
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	l := &Launch{Kernel: "k", Grid: Dim(structuredGrid), Block: block, Args: []any{bin, bout, uint32(12), uint64(1) << 40}, WarpSize: width, MaxSteps: 1 << 20}
	if observe != nil {
		l.Probes = []Probe{observe}
	}
	name := fmt.Sprintf("%s, block %s, warp %d", e.name, block, width)
	if err := e.run(mod, l); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	scratch := mod.Var("scratch")
	if scratch == nil {
		return nil, errors.New("no scratch memory") // shrunk too far
	}
	return &structuredRun{name, slices.Concat(bout.Bytes(), scratch.Bytes()), observe}, nil
}

const structuredGrid = 2

// structuredBlocks are blocks that do not fill their warps, and whose warps hold
// several rows.
var structuredBlocks = []Dim3{Dim(40), Dim(7), Dim(64), Dim(5, 3), Dim(33, 2), Dim(4, 4, 3), Dim(1, 9, 2), Dim(16, 3), Dim(2, 2, 9), Dim(8, 5)}

// same compares a run with the first.
func (r *structuredRun) same(want *structuredRun) error {
	if bytes.Equal(r.memory, want.memory) {
		return nil
	}
	i := 0
	for r.memory[i] == want.memory[i] {
		i++
	}
	return fmt.Errorf("%w: memory at %d (thread %d offset %d): %s has %#x, %s %#x", errDisagree, i, i/stride, i%stride, r.name, r.memory[i], want.name, want.memory[i])
}

// agreeStructured runs a program on all engines and reports the first difference.
// What probes see it compares for warps of the first width.
func agreeStructured(src string, in []byte, block Dim3, widths []int, skip func(engine) bool) error {
	m, err := ptx.Parse("structured.ptx", []byte(src))
	if err != nil {
		return fmt.Errorf("%w\n%s", err, err.(ptx.ErrorList)[0].Snippet())
	}
	for _, width := range widths {
		var want *structuredRun // what lanes and warps are, programs see
		for _, e := range engines() {
			if skip(e) {
				continue
			}
			r, err := runStructured(m, in, block, e, width, nil)
			if err != nil {
				return err
			}
			if want == nil {
				want = r
			}
			if err := r.same(want); err != nil {
				return err
			}
		}
	}
	return agreeEvents(m, in, block, widths[0])
}

// agreeEvents compares what a probe sees of a program in compact execution
// with what it sees in vector execution.
func agreeEvents(m *ptx.Module, in []byte, block Dim3, width int) error {
	want := newDigests()
	if _, err := runStructured(m, in, block, inMode("vector", Launch{Mode: Vector}), width, want); err != nil {
		return err
	}
	for _, e := range []engine{inMode("affine", Launch{Mode: Affine}), inMode("check eagerly", Launch{Mode: Check, Eager: true, Stats: true})} {
		got := newDigests()
		got.seed = want.seed
		if _, err := runStructured(m, in, block, e, width, got); err != nil {
			return err
		}
		for cta, sums := range want.sums {
			if slices.Equal(sums, got.sums[cta]) {
				continue
			}
			at := 0
			for at < len(sums) && at < len(got.sums[cta]) && sums[at] == got.sums[cta][at] {
				at++
			}
			var text [2][]string
			for i, e := range []engine{inMode("vector", Launch{Mode: Vector}), e} {
				again := newDigests()
				again.stop = map[int]int{cta: at}
				if _, err := runStructured(m, in, block, e, width, again); err != nil {
					return err
				}
				text[i] = again.ctas[cta].text
			}
			return fmt.Errorf("%w: warp %d, cta %d, event %d:\nvector: %s\n%s: %s", errDisagree, width, cta, at, strings.Join(text[0], " "), e.name, strings.Join(text[1], " "))
		}
	}
	return nil
}

// shrinkStructured leaves out lines as long as the program still fails.
func shrinkStructured(src string, fails func(src string) bool) string {
	lines := strings.Split(src, "\n")
	for size := 16; size > 0; size /= 2 {
		for i := len(lines) - size; i >= 0; i -= size {
			without := slices.Delete(slices.Clone(lines), i, i+size)
			if fails(strings.Join(without, "\n")) {
				lines = without
			}
		}
	}
	return strings.Join(lines, "\n")
}

// TestStructuredPrograms: compact execution of random programs is vector execution,
// under every policy and for warps of every width.
func TestStructuredPrograms(t *testing.T) {
	first := part.Seed(t)
	for _, c := range []struct {
		name   string
		warps  bool
		widths []int
		skip   func(engine) bool
	}{
		{"alone", false, []int{32, 4, 8, 16, 64}, func(e engine) bool { return false }},
		// Programs that tell where lanes meet: not the same on the oracle and under all policies.
		{"together", true, []int{32}, func(e engine) bool {
			return e.name == "oracle" || e.reconverge != nil && !e.reconverge.Joins()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range part.Of(20, 40, 500) {
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					t.Parallel()
					seed := first + uint64(i)
					block := structuredBlocks[i%len(structuredBlocks)]
					src, in := structuredProgram(seed, structuredGrid*block.Count(), c.warps)
					turn := i % len(c.widths)
					widths := slices.Concat(c.widths[turn:], c.widths[:turn])
					err := agreeStructured(src, in, block, widths, c.skip)
					if err == nil {
						return
					}
					small := shrinkStructured(src, func(src string) bool {
						err2 := agreeStructured(src, in, block, widths, c.skip)
						return errors.Is(err, errDisagree) && errors.Is(err2, errDisagree) || errors.Is(err, ErrMismatch) && errors.Is(err2, ErrMismatch)
					})
					err = agreeStructured(small, in, block, widths, c.skip)
					var trap *Trap
					if errors.As(err, &trap) {
						err = errors.New(trap.Report())
					}
					t.Fatalf("seed %#x: %v\nshrunk:\n%s", seed, err, small)
				})
			}
		})
	}
}

// everyInstruction writes a kernel for every time that one of the variants runs on
// affine and uniform operands. It leaves what is then in the registers.
func everyInstruction(seed uint64, variants []*ptx.Variant) (src string, kernels []*ptx.Variant) {
	p := &program{r: rand.New(rand.NewPCG(seed, 3)), constants: 1}
	p.f(".version 8.8\n.target sm_100\n.address_size 64\n")
	var list []*ptx.Variant
	for _, v := range variants {
		times := 2
		if a := v.Form.Affine; a != ptx.AffineUniform && a != ptx.AffineNone {
			times = 8 // it has a rule, with conditions
		}
		list = append(list, slices.Repeat([]*ptx.Variant{v}, times)...)
	}
	for _, v := range list {
		p.f(".entry k%d(.param .u64 out)\n{\n", len(kernels))
		p.f("\t.reg .b16 %%h<%d>;\n\t.reg .b32 %%w<%d>, %%t, %%one;\n\t.reg .b64 %%d<%d>, %%wide, %%out;\n\t.reg .pred %%p<%d>;\n", nHalf, nWord, nWide, nPred)
		p.f("\tmov.u32 %%t, %%tid.x;\n\tcvt.u64.u32 %%wide, %%t;\n\tld.param.u64 %%out, [out];\n\tmad.wide.u32 %%out, %%t, %d, %%out;\n", stride)
		pool(func(name, typ string, off int) {
			by, from := pick(p.r, 0, 0, 1, 1, 4, -1, int32(p.value())), p.value()
			if p.r.IntN(2) == 0 {
				from = uint64(p.r.IntN(64))
			}
			// In several steps: a register that is written once and stored once is not
			// worth being compact.
			switch {
			case by == 0 && typ != "b16":
				p.f("\tmov.%s %s, %d;\n\tadd.%[1]s %[2]s, %[2]s, 1;\n\tadd.%[1]s %[2]s, %[2]s, 1;\n", strings.Replace(typ, "b", "s", 1), name, int32(from))
			case typ == "b64":
				p.f("\tmul.lo.s64 %s, %%wide, %d;\n\tadd.s64 %[1]s, %[1]s, %[3]d;\n\tadd.s64 %[1]s, %[1]s, 1;\n", name, by, int64(from))
			case typ == "b32":
				p.f("\tmul.lo.s32 %s, %%t, %d;\n\tadd.s32 %[1]s, %[1]s, %[3]d;\n\tadd.s32 %[1]s, %[1]s, 1;\n", name, by, int32(from))
			default:
				p.f("\tmad.lo.s32 %%one, %%t, %d, %d;\n\tcvt.u16.u32 %s, %%one;\n", by, int32(from), name)
			}
		})
		for i := range nPred {
			p.f("\tsetp.lt.s32 %%p%d, %%t, %d;\n", i, pick(p.r, 0, 100, 7, 7))
		}
		p.instr([]*ptx.Variant{v})
		pool(func(name, typ string, off int) { p.f("\tst.global.%s [%%out+%d], %s;\n", typ, off, name) })
		for i := range nPred {
			p.f("\tselp.u32 %%one, 1, 0, %%p%d;\n\tst.global.u32 [%%out+%d], %%one;\n", i, stride-4*nPred+4*i)
		}
		p.f("\tret;\n}\n")
		kernels = append(kernels, v)
	}
	return p.String(), kernels
}

// TestEveryInstruction runs every opcode of random programs on affine operands, on
// every engine.
func TestEveryInstruction(t *testing.T) {
	const threads = 32
	seed, share := part.Seed(t), uint64(part.Of(10, 3, 1))
	for i, variants := range slices.Collect(slices.Chunk(randomProgramVariants(), 24)) {
		if (uint64(i)+seed)%share > 0 {
			continue
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			src, kernels := everyInstruction(seed+uint64(i), variants)
			m, err := ptx.Parse("every.ptx", []byte(src))
			if err != nil {
				t.Fatalf("%v\n%s", err, err.(ptx.ErrorList)[0].Snippet())
			}
			mod, err := NewDevice(Config{Workers: 1}).LoadModule(m)
			if err != nil {
				t.Fatal(err)
			}
			out, err := mod.dev.Alloc(threads * stride)
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range kernels {
				var want []byte
				for _, e := range engines() {
					if e.reconverge != nil {
						continue // the lanes stay together
					}
					clear(out.Bytes())
					err = e.run(mod, &Launch{Kernel: fmt.Sprint("k", k), Grid: Dim(1), Block: Dim(threads), Args: []any{out}})
					var trap *Trap
					if errors.As(err, &trap) {
						err = errors.New(trap.Report())
					}
					if err != nil {
						t.Errorf("seed %#x, kernel %d of program %d, %s on %s: %v", seed, k, i, v.Text, e.name, err)
						continue
					}
					if want == nil {
						want = slices.Clone(out.Bytes())
					}
					if got := out.Bytes(); !bytes.Equal(got, want) {
						at := 0
						for got[at] == want[at] {
							at++
						}
						t.Errorf("seed %#x, kernel %d of program %d: after %s, thread %d, offset %d: %s has %#x, vectors %#x", seed, k, i, v.Text, at/stride, at%stride, e.name, got[at], want[at])
					}
				}
			}
		})
	}
}
