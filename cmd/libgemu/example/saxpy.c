// saxpy.c: y = a·x + y on the CPU, from PTX, in three ways.
//
//	cc saxpy.c $(pkg-config --cflags --libs gemu) -o saxpy && ./saxpy

#include <stdio.h>
#include <stdlib.h>

#include "gemu.h"

static const char ptx[] =
	".version 7.8\n.target sm_80\n.address_size 64\n"
	".visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)\n"
	"{\n"
	"	.reg .pred %p; .reg .u32 %r<5>; .reg .f32 %f<4>; .reg .u64 %rd<5>;\n"
	"	ld.param.u32 %r0, [n];\n"
	"	ld.param.f32 %f0, [a];\n"
	"	ld.param.u64 %rd0, [x];\n"
	"	ld.param.u64 %rd1, [y];\n"
	"	mov.u32 %r1, %ctaid.x;\n"
	"	mov.u32 %r2, %ntid.x;\n"
	"	mov.u32 %r3, %tid.x;\n"
	"	mad.lo.u32 %r1, %r1, %r2, %r3;\n"
	"	setp.ge.u32 %p, %r1, %r0;\n"
	"	@%p ret;\n"
	"	mul.wide.u32 %rd2, %r1, 4;\n"
	"	add.u64 %rd0, %rd0, %rd2;\n"
	"	add.u64 %rd1, %rd1, %rd2;\n"
	"	ld.global.f32 %f1, [%rd0];\n"
	"	ld.global.f32 %f2, [%rd1];\n"
	"	fma.rn.f32 %f2, %f0, %f1, %f2;\n"
	"	st.global.f32 [%rd1], %f2;\n"
	"	ret;\n"
	"}\n";

enum { N = 100 };

static void check(int result)
{
	if (result != GEMU_OK) {
		fprintf(stderr, "error %d: %s\n", result, gemu_last_error());
		exit(1);
	}
}

// print_branch counts the instructions of an observed launch, and prints the execution of @%p ret in block 3.
static void print_branch(const gemu_event *e, void *user)
{
	int *instructions = user;
	++*instructions;
	if (e->line == 16 && e->cta[0] == 3)
		printf("cta %u warp %u pc %u: %s: lanes %#llx of %#llx\n", e->cta[0], e->warp, e->pc, e->instruction, (unsigned long long)e->lanes, (unsigned long long)e->active);
}

int main(void)
{
	float x[N], y[N], a = 2;
	unsigned n = N;
	for (int i = 0; i < N; i++) {
		x[i] = i;
		y[i] = 1;
	}

	// ptx_run computes on host memory.
	union { float f; unsigned u; } bits = {a};
	void *values[] = {(void *)(uintptr_t)n, (void *)(uintptr_t)bits.u, x, y};
	if (ptx_run(ptx, 4, values, 32, 1, 1, 4, 1, 1, 0) != 0)
		return 1;
	printf("y[99] = %g\n", y[99]);

	// The other functions use device memory, where every access is checked.
	gemu_module module;
	gemu_kernel kernel;
	gemu_address dx, dy;
	check(gemu_load(ptx, 0, &module));
	check(gemu_get_kernel(module, "saxpy", &kernel));
	check(gemu_alloc(sizeof x, &dx));
	check(gemu_alloc(sizeof y, &dy));
	check(gemu_copy_in(dx, x, sizeof x));
	check(gemu_copy_in(dy, y, sizeof y));
	void *args[] = {&n, &a, &dx, &dy};
	gemu_launch_params launch = {.kernel = kernel, .grid = {4}, .block = {32}, .args = args};
	gemu_counts counts;
	check(gemu_launch(&launch, &counts));
	check(gemu_copy_out(y, dy, sizeof y));
	printf("y[99] = %g after %lld warp instructions\n", y[99], (long long)counts.warp_instructions);

	// An observer receives every instruction.
	int instructions = 0;
	launch.observer = print_branch;
	launch.user = &instructions;
	check(gemu_launch(&launch, NULL));
	printf("%d instructions were seen\n", instructions);

	// An access outside an allocation is an error.
	n = N + 1;
	if (gemu_launch(&launch, NULL) != GEMU_ILLEGAL_ADDRESS)
		return 1;
	printf("%s\n", gemu_last_error());
	check(gemu_free(dx));
	check(gemu_free(dy));
	check(gemu_unload(module));
	return 0;
}
