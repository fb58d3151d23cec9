package main

// This file makes inputs of control flow: random programs in which lanes diverge and reconverge,
// exit, call functions and wait for further lanes. They compute uniform values before, between and
// after these statements, because a plan's proofs of uniformity depend on the lanes at each place.

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"

	"gemu/internal/trial"
	"gemu/interp"
	"gemu/ptx"
)

const flows = "flows"

// flow writes a random program. Registers %u are uniform unless diverged lanes have written them; registers
// %a are affine, and %g is generic.
type flow struct {
	*rand.Rand
	strings.Builder
	labels      int  // number of labels so far
	loops       int  // number of loops around the current statement
	divergence  int  // number of statements around the current statement that only some lanes execute
	inCall      bool // the text is of a called function
	flags       int  // number of words of buf used as flags
	writtenOnce int  // number of used registers that are written in a single place
	wide        bool // warps have 64 lanes, without collective instructions
	exits       bool // lanes may exit early
	waits       bool // diverged lanes may wait for lanes elsewhere
	mayDeadlock bool // the awaited lanes may never come
}

func (f *flow) line(format string, args ...any) { fmt.Fprintf(f, "\t"+format+";\n", args...) }

func (f *flow) label() string {
	f.labels++
	return fmt.Sprintf("L%d", f.labels)
}

func (f *flow) pick(list ...string) string { return list[f.IntN(len(list))] }

// generalReg, affineReg and destReg return random registers; destReg is for results. In diverged
// code destReg rarely returns a register that converged code reads: otherwise a plan could prove
// hardly anything.
func (f *flow) generalReg() string { return fmt.Sprintf("%%u%d", f.IntN(6)) }
func (f *flow) affineReg() string  { return fmt.Sprintf("%%a%d", f.IntN(3)) }
func (f *flow) destReg() string {
	if f.divergence > 0 && f.IntN(6) > 0 {
		return fmt.Sprintf("%%u%d", 4+f.IntN(2))
	}
	return f.generalReg()
}

// divergentPred computes a predicate that usually differs between lanes, and returns its guard.
func (f *flow) divergentPred() string {
	switch f.IntN(5) {
	case 0:
		f.line("setp.lt.u32 %%p, %%t, %d", f.IntN(40))
	case 1:
		f.line("and.b32 %%w, %%t, %d; setp.eq.u32 %%p, %%w, %d", 1+f.IntN(7), f.IntN(3))
	case 2:
		f.line("setp.gt.s32 %%p, %s, %s", f.affineReg(), f.generalReg())
	case 3:
		f.line("setp.ne.u32 %%p, %%t, %d", f.IntN(32))
	default:
		f.line("setp.lt.u32 %%p, %%g, 50")
	}
	return f.pick("%p", "!%p")
}

// uniformPred computes a predicate that is the same in all lanes, and returns its guard.
func (f *flow) uniformPred() string {
	f.line("and.b32 %%w, %s, %d", f.pick(f.generalReg(), f.uniformReg(), f.uniformReg()), 1+f.IntN(3))
	f.line("setp.ne.u32 %%q, %%w, 0")
	return f.pick("%q", "!%q")
}

// uniformReg returns a register that is written only where all lanes are together.
func (f *flow) uniformReg() string { return fmt.Sprintf("%%s%d", f.IntN(4)) }

// uniformInstr writes an instruction with a result that can be proved uniform if all lanes are
// together. Where they have diverged it uses different result registers.
func (f *flow) uniformInstr() {
	d := f.uniformReg()
	if f.divergence > 0 {
		d = fmt.Sprintf("%%v%d", f.IntN(2))
	}
	switch f.IntN(7) {
	case 0, 1:
		f.line("%s %s, %s, %s", f.pick("add.u32", "sub.u32", "mul.lo.u32", "xor.b32", "max.s32"), d, f.uniformReg(), f.uniformReg())
	case 2:
		f.line("%s %s, %s, %s, %s", f.pick("mad.lo.u32", "bfe.u32", "mad.lo.s32"), d, f.uniformReg(), f.uniformReg(), f.uniformReg())
	case 3:
		f.line("bfi.b32 %s, %s, %s, 3, %d", d, f.uniformReg(), f.uniformReg(), f.IntN(9))
	case 4:
		f.line("not.b32 %s, %s", d, f.uniformReg())
	case 5:
		f.line("ld.global.u32 %s, [buf+%d]", d, 4*f.IntN(8))
	default:
		f.line("mov.u32 %s, %s", d, f.pick("%ctaid.x", "%nctaid.x", "4"))
	}
	f.line("add.u32 %s, %s, %s", f.affineReg(), f.affineReg(), d)
}

// compute writes a few random instructions.
func (f *flow) compute() {
	f.uniformInstr()
	for range f.IntN(4) {
		switch f.IntN(13) {
		case 0, 1, 2:
			f.line("%s %s, %s, %s", f.pick("add.u32", "sub.u32", "mul.lo.u32", "xor.b32", "min.u32"), f.destReg(), f.generalReg(), f.generalReg())
		case 3:
			f.line("%s %s, %s, %s, 3", f.pick("mad.lo.u32", "bfe.u32", "prmt.b32"), f.destReg(), f.generalReg(), f.generalReg())
			f.line("bfi.b32 %s, %s, %s, %s, 3", f.destReg(), f.generalReg(), f.generalReg(), f.generalReg())
		case 4:
			f.line("mov.u32 %s, %d", f.destReg(), f.IntN(9))
		case 5:
			f.line("add.u32 %s, %s, %s", f.affineReg(), f.affineReg(), f.generalReg())
		case 6:
			f.line("mad.lo.u32 %s, %%t, %d, %s", f.affineReg(), f.IntN(5), f.generalReg())
		case 7:
			f.line("mad.lo.u32 %%g, %%g, %s, %s", f.affineReg(), f.generalReg())
		case 8:
			operands := f.pick("global.u32 %s, [buf", "global.u32 %s, [buf", "shared.u32 %s, [ours", "local.u32 %s, [mine", "const.u32 %s, [fixed", "u32 %s, [%%l")
			f.line("ld."+operands+"+%d]", f.destReg(), 4*f.IntN(8))
		case 9:
			f.line("ld.global.v2.u32 {%s, %s}, [buf+%d]", f.destReg(), f.pick("%e", "%a0", "%u4"), 8*f.IntN(4))
		case 10:
			f.line("selp.b32 %s, %s, %s, %%q", f.destReg(), f.generalReg(), f.generalReg())
		case 11:
			f.line("@%s add.u32 %s, %s, 1", f.pick("%p", "%q", "!%p"), f.destReg(), f.generalReg())
		default:
			f.line("mov.u32 %s, %s", f.destReg(), f.pick("%ctaid.x", "%ntid.x", "%nctaid.x", "%warpid"))
		}
	}
}

// storeResult stores registers to memory, so that they are live.
func (f *flow) storeResult() {
	f.line("st.global.v2.u32 [%%out+%d], {%s, %s}", 8*f.IntN(2), f.generalReg(), f.uniformReg())
	f.line("st.global.v2.u32 [%%out+8], {%s, %s}", f.generalReg(), f.affineReg())
}

// block writes random statements, nested at most depth deep.
func (f *flow) block(depth int) {
	for range 1 + f.IntN(3) + depth {
		f.compute()
		if depth > 0 {
			f.statement(depth - 1)
		}
		if f.IntN(2) == 0 {
			f.storeResult()
		}
	}
}

// divergentBlock is block for code that only some lanes execute.
func (f *flow) divergentBlock(depth int) {
	f.divergence++
	f.block(depth)
	f.divergence--
}

func (f *flow) statement(depth int) {
	switch f.IntN(17) {
	case 0, 1, 2: // if
		end := f.label()
		f.line("@%s bra %s", f.divergentPred(), end)
		if f.writtenOnce < 8 { // a register that is written once, and not by all lanes
			f.line("mov.u32 %%z%d, %s", f.writtenOnce, f.pick("5", "%ctaid.x", "%ntid.x", "%s0"))
		}
		f.divergentBlock(depth)
		fmt.Fprintf(f, "%s:\n", end)
		f.line("add.u32 %%g, %%g, %%z%d", min(f.writtenOnce, 7))
		f.writtenOnce++
	case 3, 4: // if and else
		other, end := f.label(), f.label()
		f.line("@%s bra %s", f.divergentPred(), other)
		barrier := f.waits && !f.inCall && f.IntN(2) == 0 // the two branches wait for each other at barriers
		for _, suffix := range []string{"", other} {
			if suffix != "" {
				f.line("bra %s", end)
				fmt.Fprintf(f, "%s:\n", suffix)
			}
			f.divergentBlock(depth)
			if barrier {
				f.line("barrier.sync 0")
				f.divergentBlock(0)
			}
		}
		fmt.Fprintf(f, "%s:\n", end)
	case 5: // if with a uniform condition
		end := f.label()
		f.line("@%s bra %s", f.uniformPred(), end)
		f.block(depth)
		fmt.Fprintf(f, "%s:\n", end)
	case 6, 7: // a loop that lanes leave together or in sequence
		if f.loops == 2 {
			f.compute()
			return
		}
		f.loops++
		start, k := f.label(), fmt.Sprintf("%%k%d", f.loops)
		diverges := f.IntN(3) == 0
		if diverges {
			f.divergence++
			f.line("and.b32 %s, %%t, 3", k)
		} else {
			f.line("mov.u32 %s, %d", k, 2+f.IntN(2))
		}
		fmt.Fprintf(f, "%s:\n", start)
		f.block(depth)
		if f.waits && f.IntN(4) == 0 {
			f.line("atom.global.add.u32 %%e, [buf+64], 1")
		}
		f.line("sub.s32 %s, %s, 1; setp.gt.s32 %%p, %s, 0; @%%p bra %s", k, k, k, start)
		f.loops--
		if diverges {
			f.divergence--
		}
	case 8: // an early exit
		if !f.exits {
			f.compute()
			return
		}
		f.line("@%s %s", f.divergentPred(), f.pick("ret", "exit", "bra END", "bra END"))
	case 9: // an indexed branch
		f.labels++
		n, end := f.labels, f.label()
		f.line("and.b32 %%w, %s, 3; min.u32 %%w, %%w, 2", f.pick("%t", "%g", "%u0"))
		fmt.Fprintf(f, "T%[1]d: .branchtargets T%[1]da, T%[1]db, T%[1]dc;\n", n)
		f.line("brx.idx %%w, T%d", n)
		for _, suffix := range []string{"a", "b", "c"} {
			fmt.Fprintf(f, "T%d%s:\n", n, suffix)
			f.divergence++
			f.compute()
			f.divergence--
			f.line("bra %s", end)
		}
		fmt.Fprintf(f, "%s:\n", end)
	case 10:
		if f.wide || !f.waits && (f.divergence > 0 || f.inCall) {
			return
		}
		if !f.mayDeadlock && (f.divergence > 0 || f.loops > 0 || f.inCall) {
			f.line("activemask.b32 %%w; bar.warp.sync %%w")
			return
		}
		f.line("%s", f.pick("bar.warp.sync 0xffffffff", "barrier.sync 0"))
	case 11:
		if f.wide || !f.waits && (f.divergence > 0 || f.inCall) {
			return
		}
		f.line("activemask.b32 %%w; %s", f.pick("vote.sync.ballot.b32 %e, %p, %w", "shfl.sync.idx.b32 %e, %t, 0, 31, %w", "vote.sync.any.pred %q, %p, %w"))
		if f.mayDeadlock {
			f.line("%s", f.pick("@%p vote.sync.any.pred %q, %p, 0xffffffff", "shfl.sync.up.b32 %e, %u1, 1, 0, 0xffffffff"))
		}
		if f.waits {
			f.line("activemask.b32 %%w; vote.sync.ballot.b32 %%e, %%p, %%w; @%%p shfl.sync.idx.b32 %%w, %%t, 0, 31, %%e")
		}
		f.line("add.u32 %%g, %%g, %%e")
	case 12: // some lanes spin for a store that other lanes execute after the reconvergence point
		if !f.waits || f.flags == 8 {
			return
		}
		f.flags++
		end, flag := f.label(), 96+4*f.flags
		f.line("setp.lt.u32 %%p, %%t, %d", 1+f.IntN(9))
		f.line("@%%p bra %s", end)
		f.compute()
		if f.IntN(2) == 0 {
			f.line("call await, (%d)", flag)
		} else {
			start := f.label()
			fmt.Fprintf(f, "%s:\n", start)
			f.line("ld.volatile.global.u32 %%w, [buf+%d]; setp.eq.u32 %%p, %%w, 0; @%%p bra %s", flag, start)
		}
		fmt.Fprintf(f, "%s:\n", end)
		f.uniformInstr()
		f.line("st.volatile.global.u32 [buf+%d], 1", flag)
		f.uniformInstr()
	case 13:
		if f.mayDeadlock || f.divergence == 0 && f.loops == 0 && !f.inCall {
			f.line("%sbar.sync 0", f.pick("", "", "@"+f.uniformPred()+" "))
		}
	default:
		if f.inCall {
			f.compute()
			return
		}
		guard := ""
		if f.IntN(3) == 0 {
			guard = "@" + f.divergentPred() + " "
		}
		f.line("%scall (%s), %s, (%s, %s)", guard, f.pick("%u0", "%u1", "%e"), f.pick("twice", "loops", "parts"), f.generalReg(), f.pick("%t", "%u2"))
	}
}

// head declares registers and initialises them.
const head = `	.reg .b32 %t, %w, %e, %g, %u<6>, %s<4>, %v<2>, %z<8>, %a<3>, %k<4>;
	.reg .b64 %out, %l;
	.local .align 16 .b32 mine[9];
	.reg .pred %p, %q;
	mov.u32 %t, %tid.x;
	mov.u64 %out, all;
	mad.wide.u32 %out, %t, 16, %out;
	cvta.global.u64 %l, buf;
	cvta.local.u64 %l, mine;
	st.local.u32 [mine+4], %t;
	mov.u32 %u0, %ctaid.x;
	mov.u32 %s0, %ctaid.x;
	ld.global.u32 %s1, [buf+8];
	mov.u32 %s2, 6;
	add.u32 %s3, %s1, 1;
	mov.u32 %u4, 1;
	mov.u32 %u5, 2;
	mov.u32 %u1, 5;
	ld.global.u32 %u2, [buf];
	mov.u32 %u3, %ntid.x;
	mov.u32 %a0, %t;
	mad.lo.u32 %a1, %t, 3, %u2;
	sub.u32 %a2, %u3, %t;
	mul.lo.u32 %g, %t, %t;
	mov.u32 %e, 0;
	setp.eq.u32 %p, %t, 3;
	setp.eq.u32 %q, %u0, 0;
`

// module returns the text of a module with a kernel and the functions that it calls.
func (f *flow) module() string {
	f.WriteString(".version 8.0\n.target sm_80\n.address_size 64\n.global .align 16 .b8 all[2048];\n.shared .align 16 .b32 ours[9];\n.const .align 16 .b32 fixed[9] = {7, 5, 3};\n.global .align 16 .b32 buf[40] = {3, 1, 4, 1, 5, 9, 2, 6};\n")
	f.WriteString(`.func await(.reg .u32 %x)
{
	.reg .b64 %l, %b;
	.reg .b32 %w;
	.reg .pred %p;
	mov.u64 %l, buf;
	cvt.u64.u32 %b, %x;
	add.u64 %l, %l, %b;
AGAIN:
	ld.volatile.global.u32 %w, [%l];
	setp.eq.u32 %p, %w, 0;
	@%p bra AGAIN;
	ret;
}
`)
	f.inCall = true
	for _, fn := range []string{"twice", "loops", "parts"} {
		fmt.Fprintf(f, ".func (.reg .u32 %%r) %s(.reg .u32 %%x, .reg .u32 %%y)\n{\n%s", fn, head)
		f.line("add.u32 %%u0, %%x, 1; add.u32 %%a0, %%y, 2")
		if fn != "twice" {
			f.block(2)
		}
		f.WriteString("END:\n")
		f.line("add.u32 %%r, %%u0, %%u1")
		f.WriteString("\tret;\n}\n")
	}
	f.inCall = false
	f.flags, f.writtenOnce = 0, 0
	f.WriteString(".entry k(.param .align 8 .b8 par[16], .param .u32 n)\n{\n\t.reg .u32 %f<10>, %y<5>;\n\t.reg .b64 %m, %n;\n\t.reg .b128 %b;\n" + head)
	// Constants of the launch, and values that only look like such a constant.
	f.line("ld.param.u32 %%f0, [n]; ld.param.u32 %%f1, [par+4]; add.u32 %%f2, %%f0, %%f1; mov.u32 %%f3, %%nctaid.x; mad.lo.u32 %%f4, %%f3, %%f2, %%f0")
	f.line("ld.global.u32 %%y3, [buf+16]; add.u32 %%u1, %%u1, %%y3; st.global.u32 [buf+16], %%u3; mov.u64 %%n, mine; st.local.u32 [%%n], %%t; mov.u32 %%f9, %%clock; add.u32 %%f9, %%f9, 1")
	f.line("mov.u32 %%k0, 10")
	f.WriteString("AGAIN:\n")
	f.line("ld.global.u32 %%y4, [buf+20]; st.global.u32 [buf+20], %%k0; add.u32 %%k0, %%y4, 1; setp.lt.u32 %%q, %%k0, 12; @%%q bra AGAIN")
	f.line("ld.param.v2.u32 {%%f5, %%f6}, [par]; add.u32 %%a0, %%a0, %%f5; add.u32 %%s3, %%s3, %%f6")
	f.line("mov.b64 %%m, par; ld.param.u32 %%f7, [%%m+8]; add.u32 %%f7, %%f7, %%f4; add.u32 %%f8, %%f7, 1; add.u32 %%a1, %%a1, %%f8")
	f.line("@%%p ld.param.u32 %%y0, [n]; add.u32 %%g, %%g, %%y0; @!%%p mov.u32 %%y1, %%f2; add.u32 %%a2, %%a2, %%y1; add.u32 %%s2, %%s2, %%f4; mov.u32 %%y2, %%warpid; add.u32 %%s1, %%s1, %%y2")
	f.line("mov.b128 %%b, {%%l, %%out}; mov.b128 {_, %%m}, %%b; st.global.b128 [%%out], %%b; ld.global.b128 %%b, [%%out]; st.global.u64 [%%out], %%m")
	f.block(3)
	f.storeResult()
	f.WriteString("END:\n")
	if f.IntN(4) == 0 {
		f.storeResult()
	}
	f.WriteString("\tret;\n}\n")
	return f.String()
}

// flowInputs returns the inputs of random programs.
func flowInputs() ([]trial.Input, error) {
	var list []trial.Input
	for i := range 300 {
		wide := i%4 == 2
		module := sync.OnceValue(func() *interp.Module {
			f := &flow{Rand: rand.New(rand.NewPCG(uint64(i), 7)), wide: wide, exits: i%4 == 1, waits: i%3 == 0, mayDeadlock: i%12 == 0}
			mod, err := load(fmt.Sprintf("flow %d", i), f.module())
			if err != nil {
				panic(err)
			}
			return mod
		})
		for n, rc := range interp.Reconvergers() {
			l := &interp.Launch{Args: []any{make([]byte, 16), uint32(3)}, Grid: ptx.Dim(1), Block: ptx.Dim([]int{32, 20, 64, 40}[(i+n)%4]), Reconverge: rc, CompileEagerly: (i+n)%3 > 0, MaxSteps: 1 << 11}
			if wide {
				l.WarpSize = 64
			}
			name := fmt.Sprintf("flow %d under %s, block %d", i, rc.Name(), l.Block.X)
			list = append(list, trial.Input{Name: name, Kind: trial.Check, Run: func() trial.Result { return run(name, module(), l) }})
		}
	}
	return list, nil
}
