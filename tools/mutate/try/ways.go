package main

// This file makes inputs for a plan's claims about control flow: a kernel for each kind of divergence
// and wait, including code that only looks divergent. At each place the kernels compute values that
// are uniform if all lanes are together there.

import (
	"fmt"
	"strings"

	"gemu/internal/trial"
	"gemu/interp"
)

const pathGroup = "ways"

// pathHead is the beginning of the kernels. %p is true in lanes 0 to 3; %q is true in no lane, which a
// plan cannot prove; %c is uniform. Registers %s are for uniform results, each written in a single place.
const pathHead = `	mov.u32 %t, %tid.x;
	mov.u32 %c, %ctaid.x;
	setp.lt.u32 %p, %t, 4;
	mul.lo.u32 %g, %t, %t;
	setp.ne.u32 %q, %g, %g;
`

// pathKernels are the kernels and their names. A kernel that begins with the label AGAIN has no head; a
// text that begins with .version is a whole module.
var pathKernels = []struct{ name, text string }{
	{"lanes spin for a store of other lanes after the join", `
	@!%p bra JOIN;
SPIN:
	ld.volatile.global.u32 %w, [flag];
	setp.eq.u32 %r, %w, 0;
	@%r bra SPIN;
JOIN:
	add.u32 %s0, %c, 1;
	st.volatile.global.u32 [flag], 1;`},
	{"lanes could spin, and do not", `
	@!%p bra JOIN;
SPIN:
	ld.volatile.global.u32 %w, [flag];
	setp.ne.u32 %r, %w, 0;
	@%r bra SPIN;
JOIN:
	add.u32 %s0, %c, 1;`},
	{"all lanes execute a loop that may wait", `
	mov.u32 %k, 0;
AGAIN:
	ld.volatile.global.u32 %w, [flag];
	add.u32 %k, %k, 1;
	add.u32 %s0, %c, 1;
	setp.lt.u32 %r, %k, 3;
	@%r bra AGAIN;
	add.u32 %s1, %c, 1;`},
	{"a collective instruction waits for lanes after the join", `
	@!%p bra JOIN;
	vote.sync.any.pred %r, %p, 0xffffffff;
JOIN:
	add.u32 %s0, %c, 1;
	vote.sync.any.pred %r, %p, 0xffffffff;`},
	{"a collective instruction whose lanes are there", `
	@!%p bra JOIN;
	vote.sync.any.pred %r, %p, 0xf;
	add.u32 %s1, %c, 1;
JOIN:
	add.u32 %s0, %c, 1;`},
	{"a collective instruction of all lanes", `
	vote.sync.any.pred %r, %p, 0xffffffff;
	add.u32 %s0, %c, 1;`},
	{"a guarded collective instruction that waits", `
	@%p vote.sync.any.pred %r, %p, 0xffffffff;
	add.u32 %s0, %c, 1;
	@!%p vote.sync.any.pred %r, %p, 0xffffffff;`},
	{"a guarded collective instruction whose lanes are there", `
	@%p vote.sync.any.pred %r, %p, 0xf;
	add.u32 %s0, %c, 1;`},
	{"a collective instruction with a uniform guard", `
	setp.eq.u32 %r, %c, 0;
	@%r vote.sync.any.pred %p, %p, 0xffffffff;
	add.u32 %s0, %c, 1;`},
	{"other guarded instructions", `
	@%p add.u32 %g, %g, 1;
	add.u32 %s0, %c, 1;`},
	{"a guarded barrier", `
	@%p barrier.sync 0;
	add.u32 %s0, %c, 1;
	@!%p barrier.sync 0;`},
	{"a guarded barrier of all remaining lanes", `
	@%p bar.sync 0;
	add.u32 %s0, %c, 1;
	@!%p exit;
	add.u32 %s1, %c, 1;`},
	{"a barrier with a uniform guard", `
	setp.eq.u32 %r, %c, 0;
	@%r barrier.sync 0;
	add.u32 %s0, %c, 1;`},
	{"a barrier before the join", `
	@!%p bra JOIN;
	barrier.sync 0;
JOIN:
	add.u32 %s0, %c, 1;
	@!%p barrier.sync 0;`},
	{"a barrier before the branch and before the join", `
	bra PART;
SIDE:
	barrier.sync 0;
	bra JOIN;
PART:
	@%p bra SIDE;
JOIN:
	add.u32 %s0, %c, 1;
	@!%p barrier.sync 0;`},
	{"a barrier that all lanes reach together", `
	@%q bra SKIP;
	bar.sync 0;
SKIP:
	add.u32 %s0, %c, 1;`},
	{"a barrier that all lanes reach, perhaps diverged", `
	@%q bra SKIP;
	barrier.sync 0;
SKIP:
	add.u32 %s0, %c, 1;`},
	{"a barrier of all lanes", `
	barrier.sync 0;
	add.u32 %s0, %c, 1;
	bar.warp.sync 0xffffffff;
	add.u32 %s1, %c, 1;`},
	{"the join stands before a side in the text", `
	@%p bra SIDE;
JOIN:
	add.u32 %s0, %c, 1;
	bra END;
SIDE:
	add.u32 %s1, %c, 1;
	bra JOIN;`},
	{"both sides", `
	@%p bra SIDE;
	add.u32 %s0, %c, 1;
	bra JOIN;
SIDE:
	add.u32 %s1, %c, 1;
JOIN:
	add.u32 %s2, %c, 1;`},
	{"one of several sides", `
	and.b32 %w, %t, 1;
T:	.branchtargets A, B;
	brx.idx %w, T;
A:
	add.u32 %s0, %c, 1;
	bra JOIN;
B:
	add.u32 %s1, %c, 1;
JOIN:
	add.u32 %s2, %c, 1;`},
	{"lanes leave a loop in sequence", `
	and.b32 %w, %t, 3;
	mov.u32 %k, 0;
AGAIN:
	add.u32 %s0, %c, 1;
	mov.u32 %y, %nctaid.x;
	add.u32 %k, %k, 1;
	setp.lt.u32 %r, %k, %w;
	@%r bra AGAIN;
	add.u32 %s1, %c, %y;`},
	{"lanes wait, and others go back to the beginning", `
AGAIN:
	mov.u32 %t, %tid.x;
	mov.u32 %c, %ctaid.x;
	setp.lt.u32 %p, %t, 4;
	add.u32 %s0, %c, 1;
	add.u32 %k, %k, 1;
	setp.lt.u32 %r, %k, 2;
	@%p barrier.sync 0;
	@%r bra AGAIN;`},
	{"a call that may wait", `
	call spins;
	add.u32 %s0, %c, 1;
	st.volatile.global.u32 [flag], 1;`},
	{"a call", `
	call (%w), lane, (%t);
	add.u32 %s0, %c, 1;`},
	{"a guarded call", `
	@%p call (%w), lane, (%t);
	add.u32 %s0, %c, 1;`},
	{"a call in a loop that may wait", `
	mov.u32 %k, 0;
AGAIN:
	ld.volatile.global.u32 %w, [flag];
	add.u32 %s0, %c, 1;
	add.u32 %k, %k, 1;
	setp.lt.u32 %r, %k, 3;
	call (%w), lane, (%t);
	@%r bra AGAIN;
	add.u32 %s1, %c, 1;`},
	{"some lanes end", `
	@%p exit;
	add.u32 %s0, %c, 1;`},
	{"some lanes branch to the end", `
	@%p bra END;
	add.u32 %s0, %c, 1;`},
	{"some lanes branch around the end", `
	@%p bra ON;
	exit;
ON:
	add.u32 %s0, %c, 1;`},
	{"some lanes reach the end through further blocks", `
	@%p bra AWAY;
	add.u32 %s0, %c, 1;
	bra END;
AWAY:
	add.u32 %s1, %c, 1;`},
	{"a result that differs in the next iteration", `
	mov.u32 %k, 0;
	mov.u32 %w, 5;
AGAIN:
	add.u32 %s0, %w, 1;
	@%p mov.u32 %w, %c;
	add.u32 %k, %k, 1;
	setp.lt.u32 %r, %k, 3;
	@%r bra AGAIN;`},
	{"a result of a register written later in the loop", `
	mov.u32 %k, 0;
AGAIN:
	add.u32 %s0, %s1, 1;
	add.u32 %s1, %c, 1;
	add.u32 %k, %k, 1;
	setp.lt.u32 %r, %k, 3;
	@%r bra AGAIN;`},
	{"predicates of predicates", `
	setp.eq.u32 %r, %c, 0;
	not.pred %u, %r;
	and.pred %r, %r, %u;
	@%r bra JOIN;
	add.u32 %s0, %c, 1;
JOIN:
	and.pred %u, %p, %r;
	or.pred %u, %u, %p;
	@%u bra END;
	add.u32 %s1, %c, 1;
	bra ON;
ON:
	add.u32 %s2, %c, 1;`},
	{"a branch by the result of a call", `
	call (%w), lane, (%t);
	setp.lt.u32 %r, %w, 4;
	@%r bra JOIN;
	add.u32 %s0, %c, 1;
JOIN:
	add.u32 %s1, %c, 1;`},
	{"a branch by the result of a barrier", `
	setp.eq.u32 %r, %c, 7;
	@%p barrier.red.or.pred %r, 0, %p;
	@!%p barrier.sync 0;
	@%r bra JOIN;
	add.u32 %s0, %c, 1;
JOIN:
	add.u32 %s1, %c, 1;`},
	{"a branch by local memory", `
	st.local.u32 [mine], %t;
	ld.local.u32 %w, [mine];
	setp.lt.u32 %r, %w, 4;
	@%r bra JOIN;
	add.u32 %s0, %c, 1;
JOIN:
	add.u32 %s1, %c, 1;`},
	{"a branch by a generic address", `
	st.local.u32 [mine], %t;
	cvta.local.u64 %l, mine;
	ld.u32 %w, [%l];
	setp.lt.u32 %r, %w, 4;
	@%r bra JOIN;
	add.u32 %s0, %c, 1;
JOIN:
	add.u32 %s1, %c, 1;`},
	{"a branch by global memory", `
	ld.global.u32 %w, [flag];
	setp.lt.u32 %r, %w, 4;
	@%r bra JOIN;
	add.u32 %s0, %c, 1;
JOIN:
	add.u32 %s1, %c, 1;`},
	{"a branch by an atomic", `
	atom.global.add.u32 %w, [flag], 1;
	setp.lt.u32 %r, %w, 4;
	@%r bra JOIN;
	add.u32 %s0, %c, 1;
JOIN:
	add.u32 %s1, %c, 1;`},
	{"a branch by a shuffle", `
	shfl.sync.up.b32 %w|%r, %c, 4, 0, 0xffffffff;
	@%r bra JOIN;
	add.u32 %s0, %c, 1;
JOIN:
	add.u32 %s1, %c, 1;`},
	{"a branch by a carry", `
	neg.s32 %w, %t;
	add.cc.u32 %w, %w, 4;
	addc.u32 %w, %c, 0;
	setp.ne.u32 %r, %w, 0;
	@%r bra JOIN;
	add.u32 %s0, %c, 1;
JOIN:
	add.u32 %s1, %c, 1;`},
	{"a guarded predicate", `
	setp.eq.u32 %r, %c, 7;
	@%p setp.eq.u32 %r, %c, 0;
	@%r bra JOIN;
	add.u32 %s0, %c, 1;
JOIN:
	add.u32 %s1, %c, 1;`},
	{"results that no instruction reads", `
	@%p mov.u32 %z, 5;
	ld.param.v2.u32 {_, %y}, [par];
	ld.param.v2.u32 {_, %s0}, [par];
	add.u32 %s1, %s0, %c;
	ld.param.v2.u32 {%w, %y}, [par];`},
	{"upper halves", `
	cvt.u64.u32 %l, %c;
	add.u64 %m, %l, 5;
	mov.b128 %b, {%l, %m};
	mov.u64 %l, all;
	mad.wide.u32 %l, %t, 16, %l;
	st.global.b128 [%l], %b;
	@%p mov.b128 %b, {%m, %m};
	st.global.b128 [%l], %b;`},
	{"a builtin function", `
	cvt.u64.u32 %l, %c;
	add.u64 %l, %l, 64;
	call (%m), malloc, (%l);
	call free, (%m);`},
	{"a parameter and a result that a function writes", `
	call (%w), constant, (%t);
	add.u32 %s0, %w, 1;
	call frames;`},
	{"a register of the module that a function does not mention", `
.version 2.3
.target sm_20
.address_size 64
.reg .u32 %sum;
.func (.reg .u32 %r) sum(.reg .u32 %x)
{
	.reg .u32 %a, %b;
	add.u32 %a, %x, 1;
	add.u32 %b, %a, %x;
	mov.u32 %r, %b;
	ret;
}
.entry k0(.param .align 8 .b8 par[16])
{
	.reg .u32 %t;
	mov.u32 %t, %tid.x;
	mov.u32 %sum, %t;
	call (%t), sum, (%t);
	add.u32 %t, %sum, %t;
	ret;
}`},
}

// pathFunctions has the functions and variables of the kernels.
var pathFunctions = `.global .align 16 .b32 flag;
.global .align 16 .b8 all[1024];
.extern .func (.reg .b64 %r) malloc(.reg .b64 %n);
.extern .func free(.reg .b64 %a);
.func (.reg .u32 %r) lane(.reg .u32 %x)
{
	.reg .pred %p;
	setp.lt.u32 %p, %x, 4;
	@%p bra SIDE;
	add.u32 %x, %x, 1;
	ret;
SIDE:
	mov.u32 %r, %x;
	ret;
}
.func (.reg .u32 %r) constant(.reg .u32 %x)
{
	.reg .u32 %y, %z, %n;
	add.u32 %y, %x, 1;
	mov.u32 %x, 5;
	add.u32 %z, %x, %y;
	mov.u32 %n, %nctaid.x;
	add.u32 %z, %z, %n;
	mov.u32 %r, 7;
	ret;
}
` + func() string {
	var b strings.Builder
	b.WriteString(".func frames()\n{\n\t.local .align 16 .b8 mine[128];\n\t.reg .u64 %l<128>;\n\t.reg .u32 %w<128>;\n")
	for i := range 120 { // about the number of special registers
		fmt.Fprintf(&b, "\tmov.u64 %%l%[1]d, mine+%[1]d;\n\tmov.u32 %%w%[1]d, mine+%[1]d;\n", i)
	}
	b.WriteString("\tret;\n}\n")
	return b.String()
}() + spins

// spins is a function in which lanes spin.
const spins = `.func spins()
{
	.reg .u32 %t, %w;
	.reg .pred %p;
	mov.u32 %t, %tid.x;
	setp.ge.u32 %p, %t, 4;
	@%p bra END;
AGAIN:
	ld.volatile.global.u32 %w, [flag];
	setp.eq.u32 %p, %w, 0;
	@%p bra AGAIN;
END:
	ret;
}
`

// pathModule returns the text of a module with a kernel.
func pathModule(kernel string) string {
	if strings.HasPrefix(kernel, "\n.version") {
		return kernel
	}
	var b strings.Builder
	b.WriteString(".version 8.5\n.target sm_90\n.address_size 64\n" + pathFunctions)
	b.WriteString(".entry k0(.param .align 8 .b8 par[16])\n{\n\t.local .align 16 .b32 mine[4];\n\t.reg .b32 %t, %c, %g, %k, %w, %y, %z, %s<3>;\n\t.reg .b64 %l, %m;\n\t.reg .b128 %b;\n\t.reg .pred %p, %q, %r, %u;\n")
	if !strings.HasPrefix(kernel, "\nAGAIN:") {
		b.WriteString(pathHead)
	}
	b.WriteString(kernel[1:] + "\nEND:\n\tret;\n}\n")
	return b.String()
}

// pathInputs returns the inputs of the kernels. Each run loads its module anew, so that every run
// lowers the kernel.
func pathInputs() ([]trial.Input, error) {
	var list []trial.Input
	for _, kernel := range pathKernels {
		text := pathModule(kernel.text)
		if _, err := load(kernel.name, text); err != nil {
			return nil, err
		}
		for _, rc := range interp.Reconvergers() {
			name := fmt.Sprintf("ways: %s, under %s", kernel.name, rc.Name())
			list = append(list, trial.Input{Name: name, Kind: trial.Targeted, Run: func() trial.Result {
				mod, err := load(kernel.name, text)
				if err != nil {
					panic(err)
				}
				l := warp(0, true, make([]byte, 16))
				l.Reconverge, l.MaxSteps = rc, 1<<11
				return run(name, mod, l)
			}})
		}
	}
	return list, nil
}
