// A client of libgemu that loads modules with names, describes them, shares memory with kernels and interrupts launches. It
// prints "ok" and ends with status 0.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gemu.h"

#define EQUAL(got, want) do { long g_ = (long)(got), w_ = (long)(want); if (g_ != w_) { printf("module.c:%d: %s is %ld, want %ld (%s)\n", __LINE__, #got, g_, w_, gemu_last_error()); exit(1); } } while (0)
#define OK(call) EQUAL(call, GEMU_OK)
#define HAS(text, part, want) do { if ((strstr(text, part) != NULL) != (want)) { printf("module.c:%d: \"%s\" is%s in\n%s\n", __LINE__, part, want ? " not" : "", text); exit(1); } } while (0)

static const char *const ptx =
	".version 7.8\n.target sm_80\n.address_size 64\n"
	".const .align 4 .f32 weights[3][5];\n"
	// Adds 1 to n words.
	".visible .entry add(.param .u64 .ptr .global .align 4 x, .param .b8 pair[12])\n"
	".reqntid 32, 2\n"
	"{\n"
	"  .reg .u32 %r<6>; .reg .u64 %rd<3>;\n"
	"  ld.param.u64 %rd0, [x]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y;\n"
	"  mad.lo.u32 %r1, %r2, 32, %r1; mul.wide.u32 %rd1, %r1, 4; add.u64 %rd0, %rd0, %rd1;\n"
	"  ld.global.u32 %r3, [%rd0]; add.u32 %r3, %r3, 1;\n"
	"  st.global.u32 [%rd0], %r3;\n"
	"  ret;\n"
	"}\n"
	".visible .entry endless(.param .u64 x)\n"
	"{\n"
	"  .reg .u32 %r<6>; .reg .u64 %rd<3>;\n"
	"  ld.param.u64 %rd0, [x]; mov.u32 %r1, 0;\n"
	"again: add.u32 %r1, %r1, 1; st.global.u32 [%rd0], %r1; bra again;\n"
	"}\n";

static gemu_module module;

static void names(void)
{
	gemu_module m = 7;
	OK(gemu_load_named("kernels.ptx", ptx, 0, &module));
	EQUAL(gemu_load_named("wrong.ptx", ".version 7.8\n.target sm_80\nnonsense", 0, &m), GEMU_INVALID_PTX);
	HAS(gemu_last_error(), "wrong.ptx:3:1: ", 1);
	char *json, *long_name = calloc(1, 5000);
	memset(long_name, 'x', 4999);
	EQUAL(gemu_load_named(long_name, ptx, 0, &m), GEMU_INVALID_VALUE);
	free(long_name);
	OK(gemu_describe(module, &json));
	static const char *const parts[] = {"\"schema\": \"gemu-module/1\"", "\"name\": \"kernels.ptx\"", "\"name\": \"endless\"", "\"type\": \"b8\"", "\"size\": 12,",
		"\"pointer\": true,\n          \"space\": \"global\"", "\"space\": \"const\"", "\"dims\": [\n        3,\n        5\n      ],\n      \"size\": 60", "\"block\": [\n        32,\n        2,\n        1\n      ]"};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		HAS(json, parts[i], 1);
	gemu_release(json);
	EQUAL(gemu_describe(module, NULL), GEMU_INVALID_VALUE);
	gemu_release(NULL);
	EQUAL(gemu_describe(0, &json), GEMU_INVALID_HANDLE);
	EQUAL(json == NULL, 1);
	gemu_load(ptx, 0, &m); // a module without a name has one made from its text
	OK(gemu_describe(m, &json));
	HAS(json, "\"name\": \"module-", 1);
	free(json);
	OK(gemu_unload(m));
}

static int add(gemu_address x, const char *options)
{
	gemu_launch_params launch = {.block = {32, 2}};
	char pair[12] = "";
	void *args[] = {&x, pair};
	launch.args = args;
	OK(gemu_get_kernel(module, "add", &launch.kernel));
	return gemu_launch_with(&launch, options, NULL, NULL);
}

static void shared(void)
{
	static const char *const modes[] = {"mode=vector engine=native", "mode=vector engine=portable", "mode=affine", "mode=check"};
	gemu_address x, y;
	uint32_t *words = aligned_alloc(64, 512);
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		memset(words, 0, 512);
		words[63] = 40;
		OK(gemu_share(words, 256, 0, "words", &x));
		OK(gemu_share(words, 512, GEMU_READ_ONLY, NULL, &y));
		EQUAL(x == y, 0);
		OK(add(x, modes[i]));
		OK(add(x, modes[i]));
		EQUAL(words[63], 42);
		EQUAL(words[64], 0);
		EQUAL(add(x + 4, modes[i]), GEMU_ILLEGAL_ADDRESS); // the last thread is outside
		HAS(gemu_last_error(), "nearest allocation: buffer words [", 1);
		EQUAL(words[64], 0);
		EQUAL(add(y, modes[i]), GEMU_ILLEGAL_ADDRESS);
		HAS(gemu_last_error(), "read-only memory", 1);
		uint32_t copy;
		OK(gemu_copy_out(&copy, x + 252, 4));
		EQUAL(copy, words[63]);
		OK(gemu_free(x));
		EQUAL(add(x, modes[i]), GEMU_ILLEGAL_ADDRESS);
		HAS(gemu_last_error(), "which has been freed", 1);
		OK(gemu_free(y));
		EQUAL(gemu_free(y), GEMU_INVALID_VALUE);
	}
	EQUAL(gemu_share((char *)words + 8, 8, 0, NULL, &x), GEMU_INVALID_VALUE);
	EQUAL(gemu_share(NULL, 8, 0, NULL, &x), GEMU_INVALID_VALUE);
	EQUAL(gemu_share(words, 0, 0, NULL, &x), GEMU_INVALID_VALUE);
	EQUAL(gemu_share(words, 8, 2, NULL, &x), GEMU_INVALID_VALUE);
	EQUAL(gemu_share(words, 8, 0, NULL, NULL), GEMU_INVALID_VALUE);
	EQUAL(gemu_share(words, (size_t)-16, 0, NULL, &x), GEMU_INVALID_VALUE);
	EQUAL(gemu_share(words, (size_t)1 << 40, 0, NULL, &x), GEMU_OUT_OF_MEMORY); // more than the device has
	free(words);
}

static void *interrupt(void *unused)
{
	while (gemu_interrupt(5) == GEMU_NOT_FOUND) // until the launch has begun
		;
	return unused;
}

static void interrupts(void)
{
	gemu_launch_params launch = {0};
	gemu_address x;
	gemu_outcome outcome;
	void *args[] = {&x};
	pthread_t other;
	launch.args = args;
	OK(gemu_get_kernel(module, "endless", &launch.kernel));
	OK(gemu_alloc(4, &x));
	EQUAL(gemu_interrupt(5), GEMU_NOT_FOUND);
	EQUAL(pthread_create(&other, NULL, interrupt, NULL), 0);
	EQUAL(gemu_launch_with(&launch, "id=5 steps=1000000000000", NULL, &outcome), GEMU_TIMEOUT);
	gemu_error e = {.size = sizeof e};
	OK(gemu_get_error(&e));
	EQUAL(e.kind, GEMU_ERROR_CALL);
	HAS(e.message, "kernel endless stopped: the program has interrupted the launch", 1);
	OK(pthread_join(other, NULL));
	EQUAL(gemu_interrupt(5), GEMU_NOT_FOUND);
	OK(gemu_forget(outcome));
	EQUAL(gemu_launch_with(&launch, "id=0", NULL, NULL), GEMU_INVALID_VALUE);
	OK(gemu_free(x));
}

static void compilations(void)
{
	char *text = (char *)ptx, *messages = text;
	EQUAL(gemu_compile("missing.cu", NULL, 0, &text, &messages), GEMU_FILE_NOT_FOUND);
	EQUAL(text == NULL, 1);
	free(messages);
	EQUAL(gemu_compile(NULL, NULL, 0, &text, NULL), GEMU_INVALID_VALUE);
	EQUAL(gemu_compile("missing.cu", NULL, 0, NULL, NULL), GEMU_INVALID_VALUE);
	EQUAL(gemu_compile("missing.cu", NULL, 2, &text, NULL), GEMU_INVALID_VALUE);
}

int main(void)
{
	names();
	shared();
	interrupts();
	compilations();
	OK(gemu_unload(module));
	puts("ok");
	return 0;
}
