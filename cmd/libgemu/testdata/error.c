// A client of libgemu that makes calls fail and reads the places of the errors. It prints "ok" and ends with status 0. Lines,
// columns, lanes and addresses are counted by hand in the texts below.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gemu.h"

#define EQUAL(got, want) do { long g_ = (long)(got), w_ = (long)(want); if (g_ != w_) { printf("error.c:%d: %s is %ld, want %ld (%s)\n", __LINE__, #got, g_, w_, gemu_last_error()); exit(1); } } while (0)
#define OK(call) EQUAL(call, GEMU_OK)
#define TEXT(got, want) do { if (strcmp(got, want) != 0) { printf("error.c:%d: %s is \"%s\", want \"%s\"\n", __LINE__, #got, got, want); exit(1); } } while (0)
#define CONTAINS(got, want) do { if (strstr(got, want) == NULL) { printf("error.c:%d: %s is \"%s\", want \"%s\" in it\n", __LINE__, #got, got, want); exit(1); } } while (0)

// Threads 3 to 31 of block 1 load behind x, which has 140 bytes: thread 3 is the first, at x + 4*(32 + 3).
static const char *const fault_ptx =
	".version 7.8\n.target sm_80\n.address_size 64\n.file 1 \"scale.cu\"\n"
	".visible .entry scale(.param .u64 x)\n"
	"{\n"
	"  .reg .u32 %r<6>; .reg .u64 %rd<3>;\n"
	"  .loc 1 42 7\n"
	"  ld.param.u64 %rd0, [x];\n"
	"  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;\n"
	"  mad.lo.u32 %r3, %r1, 32, %r2;\n"
	"  mul.wide.u32 %rd1, %r3, 4; add.u64 %rd0, %rd0, %rd1;\n"
	"  .loc 1 43 11\n"
	"    ld.global.u32 %r4, [%rd0];\n"
	"  ret;\n"
	"}\n";

static const char *const invalid_ptx =
	".version 7.8\n.target sm_80\n.address_size 64\n"
	".visible .entry k()\n"
	"{\n"
	"  .reg .u32 %r<6>;\n"
	"  add.u32 %r1, %r2;\n"
	"  sub.u32 %r1;\n"
	"  ret;\n"
	"}\n";

static const char *const unsupported_ptx =
	".version 9.3\n.target sm_100\n.address_size 64\n"
	".visible .entry later()\n"
	"{ .reg .b32 %r<5>; .reg .b64 %d;\n"
	"  fabric.try_get.async.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.b128 [%r0], [%r1, %d], %r2, [%r3];\n"
	"  ret;\n"
	"}\n";

static gemu_error last(void)
{
	gemu_error e = {.size = sizeof e};
	OK(gemu_get_error(&e));
	EQUAL(e.size, sizeof e);
	return e;
}

static void none(void)
{
	gemu_error e = last();
	EQUAL(e.number, GEMU_OK);
	EQUAL(e.kind, GEMU_ERROR_NONE);
	EQUAL(e.warp, -1);
	TEXT(e.message, "");
	TEXT(e.file, "");
}

static void *other_thread(void *unused)
{
	none();
	return unused;
}

static void wrong_sizes(void)
{
	EQUAL(gemu_free(1), GEMU_INVALID_VALUE);
	EQUAL(gemu_get_error(NULL), GEMU_INVALID_VALUE);
	gemu_error e = {.number = 77};
	EQUAL(gemu_get_error(&e), GEMU_INVALID_VALUE);
	e.size = sizeof e - 1;
	EQUAL(gemu_get_error(&e), GEMU_INVALID_VALUE);
	e.size = 1 << 20;
	EQUAL(gemu_get_error(&e), GEMU_INVALID_VALUE);
	EQUAL(e.number, 77); // nothing is stored

	// A newer program has a larger structure.
	struct { gemu_error known; uint64_t newer[2]; } newer = {.known.size = sizeof newer, .newer = {1, 2}};
	OK(gemu_get_error(&newer.known));
	EQUAL(newer.known.size, sizeof newer);
	EQUAL(newer.known.number, GEMU_INVALID_VALUE);
	EQUAL(newer.known.kind, GEMU_ERROR_CALL);
	EQUAL(newer.newer[0], 0);
	EQUAL(newer.newer[1], 0);
	EQUAL(newer.known.line, 0);
	TEXT(newer.known.message, gemu_last_error());
	TEXT(newer.known.kernel, "");
}

static void not_ptx(void)
{
	gemu_module m;
	EQUAL(gemu_load(invalid_ptx, 0, &m), GEMU_INVALID_PTX);
	gemu_error e = last();
	EQUAL(e.number, GEMU_INVALID_PTX);
	EQUAL(e.kind, GEMU_ERROR_PTX);
	EQUAL(e.line, 7);
	EQUAL(e.n_problems, 2);
	TEXT(e.text, "  add.u32 %r1, %r2;");
	CONTAINS(e.file, "module-");
	CONTAINS(e.message, e.reason);
	CONTAINS(e.message, "sub.u32");
	EQUAL(strchr(e.reason, '\n') == NULL, 1);
	EQUAL(strstr(e.reason, e.file) == NULL, 1); // without its place

	EQUAL(gemu_load("\177ELF", 4, &m) != GEMU_OK, 1);
	EQUAL(last().kind, GEMU_ERROR_PTX);
}

static void unsupported(void)
{
	gemu_module m;
	gemu_kernel k;
	OK(gemu_load(unsupported_ptx, 0, &m));
	OK(gemu_get_kernel(m, "later", &k));
	gemu_launch_params launch = {.kernel = k};
	EQUAL(gemu_launch(&launch, NULL), GEMU_NOT_SUPPORTED);
	gemu_error e = last();
	EQUAL(e.number, GEMU_NOT_SUPPORTED);
	EQUAL(e.kind, GEMU_ERROR_UNSUPPORTED);
	EQUAL(e.line, 6);
	EQUAL(e.column, 3);
	TEXT(e.kernel, "later");
	CONTAINS(e.reason, "is legal PTX that gemu does not run");
	OK(gemu_unload(m));
}

static void fault(void)
{
	gemu_module m;
	gemu_kernel k;
	gemu_address x;
	OK(gemu_load(fault_ptx, 0, &m));
	OK(gemu_get_kernel(m, "scale", &k));
	OK(gemu_alloc(140, &x));
	void *args[] = {&x};
	gemu_launch_params launch = {.kernel = k, .grid = {2}, .block = {32}, .args = args};
	EQUAL(gemu_launch(&launch, NULL), GEMU_ILLEGAL_ADDRESS);
	gemu_error e = last();
	EQUAL(e.number, GEMU_ILLEGAL_ADDRESS);
	EQUAL(e.kind, GEMU_ERROR_FAULT);
	TEXT(e.fault, "out-of-bounds access");
	EQUAL(e.line, 14);
	EQUAL(e.column, 5);
	TEXT(e.text, "    ld.global.u32 %r4, [%rd0];");
	TEXT(e.instruction, "ld.global.u32");
	TEXT(e.source, "scale.cu:43:11");
	TEXT(e.kernel, "scale");
	TEXT(e.function, "scale");
	EQUAL(e.cta[0], 1);
	EQUAL(e.warp, 0);
	EQUAL(e.thread[0], 3);
	EQUAL(e.lanes, 0xfffffff8);
	EQUAL(e.active, 0xffffffff);
	EQUAL(e.address, x + 140);
	EQUAL(e.bytes, 4);
	TEXT(e.message, gemu_last_error());

	// A call that works does not change the last error.
	OK(gemu_free(x));
	TEXT(last().source, "scale.cu:43:11");

	gemu_run run;
	gemu_step steps[16];
	size_t n = 16;
	int result = GEMU_OK;
	OK(gemu_start(&launch, &run));
	while (result == GEMU_OK)
		result = gemu_next(run, steps, 16, &n);
	EQUAL(result, GEMU_ILLEGAL_ADDRESS);
	e = last(); // between gemu_start and gemu_stop
	TEXT(e.fault, "use after free");
	EQUAL(e.cta[0], 0);
	EQUAL(e.lanes, 0xffffffff);
	OK(gemu_stop(run, NULL));
	OK(gemu_unload(m));
}

// wrong_descriptors: a wrong description of data is described with its line.
static void wrong_descriptors(void)
{
	EQUAL(gemu_descriptors("{\"schema\": \"gemu-descriptors/1\",\n\"tiles\": []}"), GEMU_INVALID_VALUE);
	gemu_error e = last();
	EQUAL(e.kind, GEMU_ERROR_CALL);
	EQUAL(strstr(e.message, "descriptors:2: unknown field \"tiles\": want schema, locality or atoms") != NULL, 1);
	OK(gemu_descriptors("{\"schema\": \"gemu-descriptors/1\", \"locality\": [{\"base\": 4096, \"type\": \"NO_REUSE\"}]}"));
	OK(gemu_descriptors(NULL));
}

int main(void)
{
	pthread_t t;
	EQUAL(gemu_abi_version(), GEMU_ABI_VERSION);
	none();
	wrong_sizes();
	not_ptx();
	unsupported();
	fault();
	wrong_descriptors();
	EQUAL(pthread_create(&t, NULL, other_thread, NULL), 0);
	EQUAL(pthread_join(t, NULL), 0);
	pid_t child = fork();
	if (child == 0) {
		gemu_error e = {.size = sizeof e};
		_exit(gemu_abi_version() != GEMU_ABI_VERSION || gemu_get_error(&e) != GEMU_NOT_INITIALIZED);
	}
	int status;
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
	puts("ok");
	return 0;
}
