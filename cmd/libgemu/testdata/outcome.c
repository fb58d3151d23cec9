// A client of libgemu that launches with options and reads the results as JSON. It prints "ok" and ends with status 0. Counts
// of instructions are counted by hand in the texts below.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gemu.h"

#define EQUAL(got, want) do { long g_ = (long)(got), w_ = (long)(want); if (g_ != w_) { printf("outcome.c:%d: %s is %ld, want %ld (%s)\n", __LINE__, #got, g_, w_, gemu_last_error()); exit(1); } } while (0)
#define OK(call) EQUAL(call, GEMU_OK)
#define HAS(text, part, want) do { if ((strstr(text, part) != NULL) != (want)) { printf("outcome.c:%d: \"%s\" is%s in\n%s\n", __LINE__, part, want ? " not" : "", text); exit(1); } } while (0)

static const char *const ptx =
	".version 7.8\n.target sm_80\n.address_size 64\n"
	// 7 instructions. Warps read what other warps write, without a barrier.
	".visible .entry race()\n"
	"{\n"
	"  .reg .u32 %r<6>; .shared .align 4 .u32 s[64];\n"
	"  mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2;\n"
	"  mov.u32 %r3, s; add.u32 %r3, %r3, %r2;\n"
	"  st.shared.u32 [%r3], %r1;\n"
	"  ld.shared.u32 %r4, [s];\n"
	"  ret;\n"
	"}\n"
	".visible .entry long(.param .u64 x)\n"
	"{\n"
	"  .reg .u32 %r<6>; .reg .u64 %rd<3>; .reg .pred %p;\n"
	"  ld.param.u64 %rd0, [x]; mov.u32 %r1, 0;\n"
	"again:\n"
	"  add.u32 %r1, %r1, 1; st.global.u32 [%rd0], %r1;\n"
	"  setp.ne.u32 %p, %r1, 0xffffffff; @%p bra again;\n"
	"  ret;\n"
	"}\n";

static gemu_kernel race, forever;

// report_has launches the kernel race. The report must have all texts of has, which ends with NULL, and not the text lacks.
static void report_has(const char *options, const char *name, const char *const *has, const char *lacks)
{
	gemu_launch_params launch = {.kernel = race, .block = {64}};
	gemu_outcome outcome;
	char *json;
	OK(gemu_launch_with(&launch, options, NULL, &outcome));
	OK(gemu_report(outcome, name, &json));
	OK(gemu_forget(outcome));
	for (; *has; has++)
		HAS(json, *has, 1);
	HAS(json, lacks, 0);
	free(json);
}

// stepped_instructions launches the kernel race by steps. It returns the number of executed instructions.
static int stepped_instructions(const char *options)
{
	gemu_launch_params launch = {.kernel = race, .block = {64}};
	gemu_run run;
	gemu_step steps[256];
	size_t n;
	int executed = 0;
	OK(gemu_start_with(&launch, options, &run));
	OK(gemu_next(run, steps, 256, &n));
	OK(gemu_stop(run, NULL));
	for (size_t i = 0; i < n; i++)
		executed += steps[i].kind == GEMU_STEP_INSTRUCTION;
	return executed;
}

static void options(void)
{
	gemu_launch_params launch = {.kernel = race, .block = {64}};
	gemu_counts counts;
	OK(gemu_launch_with(&launch, NULL, &counts, NULL));
	EQUAL(counts.warp_instructions, 2 * 7);
	OK(gemu_launch_with(&launch, " warp=16\nmode=check\tseed=3 engine=portable workers=1 reconverge=its:8 async=early policy=kim ", &counts, NULL));
	EQUAL(counts.warp_instructions, 4 * 7);
	EQUAL(counts.thread_instructions, 64 * 7);
	gemu_error e = {.size = sizeof e};
	gemu_address x;
	OK(gemu_alloc(4, &x));
	void *args[] = {&x};
	gemu_launch_params slow = {.kernel = forever, .args = args};
	EQUAL(gemu_launch_with(&slow, "steps=10000", NULL, NULL), GEMU_TIMEOUT);
	OK(gemu_get_error(&e));
	HAS(e.fault, "step limit", 1);
	EQUAL(gemu_launch_with(&slow, "time_limit=10ms steps=1000000000000", NULL, NULL), GEMU_TIMEOUT);
	OK(gemu_get_error(&e));
	HAS(e.fault, "time limit", 1);
	OK(gemu_free(x));

	// A launch by steps has options, too.
	EQUAL(stepped_instructions("warp=32 seed=1"), 2 * 7);
	EQUAL(stepped_instructions("warp=16"), 4 * 7);
}

static void reports(void)
{
#define TEXTS(...) (const char *const[]){__VA_ARGS__, NULL}
	report_has("", "statistics", TEXTS("\"schema\": \"gemu-statistics/2\"", "\"launches\": 1,", "\"warp_instructions\": 14,"), "\"structure\"");
	report_has("structure=1 policy=kim mode=affine", "statistics", TEXTS("\"dynamic_instructions\": 14,", "\"policy\": \"kim\"", "\"mode\": \"affine\""), "\"mode\": \"vector\"");
	report_has("sanitize=init,sync", "findings", TEXTS("\"schema\": \"gemu-findings/1\"", "\"errors\": 0,", "\"complete\": true"), "\"tool\"");
	report_has("sanitize=race", "findings", TEXTS("\"tool\": \"race\"", "\"kernel\": \"race\""), "\"errors\": 0,");

	report_has("", "run", TEXTS("\"schema\": \"gemu-run/2\"", "\"exit\": \"ok\"", "\"kernel\": \"race\"", "\"warp_instructions\": 14,"), "\"structure\"");
	report_has("sanitize=race structure=1", "run", TEXTS("\"exit\": \"findings\"", "\"tool\": \"race\"", "\"dynamic_instructions\": 14,"), "\"exit\": \"ok\"");
	// The seven instructions in order; both warps execute each. The last one returns.
	report_has("structure=1", "structure", TEXTS("\"schema\": \"gemu-structure/2\"", "\"text\": \"st.shared.u32 [%r3], %r1;\"", "\"execs\": 2,", "\"text\": \"ret;\""), "\"execs\": 1,");
	// A store of 32 lanes in a row has a pass, and so has a load of the same word.
	report_has("profile=1", "profile", TEXTS("\"schema\": \"gemu-profile/2\"", "\"execs\": 14,", "\"threads\": 64,", "\"occupancy\""), "\"u\": 2,");
	report_has("profile=1 structure=1", "profile", TEXTS("\"u\": 2,"), "\"trapped\"");
	report_has("machine=v100 regfile=kim", "statistics", TEXTS("\"machines\": [", "\"name\": \"v100\"", "\"models\": ["), "\"launches\": 0,");
	report_has("sm=9.0", "run", TEXTS("\"exit\": \"ok\""), "\"trap\"");

	// The options of launches do not change the statistics of the process.
	char *json = gemu_statistics();
	HAS(json, "\"mode\": \"vector\"", 1);
	HAS(json, "\"structure\"", 0);
	free(json);
}

static void after_a_fault(void)
{
	gemu_launch_params launch = {.kernel = forever};
	gemu_address null = 0;
	void *args[] = {&null};
	launch.args = args;
	gemu_outcome outcome = 7;
	gemu_counts counts = {.branches = 7};
	char *json;
	EQUAL(gemu_launch_with(&launch, "sanitize=all", &counts, &outcome), GEMU_ILLEGAL_ADDRESS);
	EQUAL(counts.branches, 7); // unchanged
	OK(gemu_report(outcome, "findings", &json));
	HAS(json, "\"kind\": \"out-of-bounds access\"", 1);
	free(json);
	OK(gemu_report(outcome, "statistics", &json));
	HAS(json, "\"launches\": 0,", 1);
	free(json);
	OK(gemu_forget(outcome));
	EQUAL(gemu_launch_with(&launch, "profile=1 structure=1 record=all", NULL, &outcome), GEMU_ILLEGAL_ADDRESS);
	OK(gemu_report(outcome, "run", &json));
	HAS(json, "\"exit\": \"trap\"", 1);
	HAS(json, "\"kind\": \"out-of-bounds access\"", 1);
	free(json);
	OK(gemu_report(outcome, "profile", &json));
	HAS(json, "\"trapped\": \"", 1);
	HAS(json, "\"execs\": 3,", 1); // ld.param, mov, add
	free(json);
	EQUAL(gemu_report(outcome, "structure", &json), GEMU_NOT_FOUND);
	HAS(gemu_last_error(), "a launch that has failed has no structure", 1);
	void *data;
	size_t size;
	OK(gemu_get_recording(outcome, &data, &size));
	EQUAL(size > 8 && memcmp(data, "gemurec", 7) == 0, 1);
	free(data);
	OK(gemu_forget(outcome));
	launch.block[0] = 2000;
	EQUAL(gemu_launch_with(&launch, "sanitize=all", NULL, &outcome), GEMU_INVALID_VALUE);
	EQUAL(outcome, 0); // the launch did not begin
	OK(gemu_forget(outcome));
	HAS(gemu_last_error(), "2000", 1); // the error of the launch
}

static void wrong_calls(void)
{
	static const char *const wrong[][2] = {
		{"sanitise=race", "unknown: want some of mode, engine,"}, {"Mode=check", "unknown"}, {"=", "NAME=VALUE"}, {"mode", "NAME=VALUE"},
		{"mode=", "NAME=VALUE"}, {"mode = check", "NAME=VALUE"}, {"mode=fast", "want vector, affine or check"},
		{"mode=check mode=check", "given twice"}, {"warp=3", "want 1, 2, 4"}, {"warp=128", "want 1, 2, 4"}, {"seed=-1", "want a number"},
		{"workers=0", "want a number"}, {"time_limit=soon", "time_limit=soon"}, {"policy=none", "want one of"}, {"reconverge=never", "reconverge=never"},
		{"structure=2", "structure=2"}, {"sm=9", "sm=9"}, {"memory=1G", "set GEMU_MEMORY before"}, {"profile=2", "profile=2"}, {"record=everything", "record=everything"}, {"machine=none", "machine=none"}, {"machine=v100 warp=8", "warps of 32 lanes"}, {"id=0", "want a number from 1"}, {"sanitize=leak", "GEMU_SANITIZE"}, {"sanitize=x", "unknown sanitizer"},
	};
	gemu_launch_params launch = {.kernel = race, .block = {64}};
	gemu_outcome outcome = 7;
	gemu_run run;
	char *json = (char *)wrong;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		EQUAL(gemu_launch_with(&launch, wrong[i][0], NULL, &outcome), GEMU_INVALID_VALUE);
		HAS(gemu_last_error(), wrong[i][1], 1);
		EQUAL(outcome, 0);
		EQUAL(gemu_start_with(&launch, wrong[i][0], &run), GEMU_INVALID_VALUE);
	}
	EQUAL(gemu_launch_with(NULL, "", NULL, &outcome), GEMU_INVALID_VALUE);
	EQUAL(gemu_launch_with(&launch, "sanitize=race", NULL, NULL), GEMU_INVALID_VALUE);
	EQUAL(gemu_start_with(&launch, "sanitize=race", &run), GEMU_INVALID_VALUE);
	EQUAL(gemu_start_with(&launch, "", NULL), GEMU_INVALID_VALUE);
	EQUAL(gemu_report(0, "statistics", &json), GEMU_INVALID_HANDLE);
	EQUAL(json == NULL, 1);
	OK(gemu_launch_with(&launch, "", NULL, &outcome));
	EQUAL(gemu_report(outcome, NULL, &json), GEMU_INVALID_VALUE);
	EQUAL(gemu_report(outcome, "statistics", NULL), GEMU_INVALID_VALUE);
	EQUAL(gemu_report(outcome, "everything", &json), GEMU_INVALID_VALUE);
	EQUAL(gemu_report(outcome, "findings", &json), GEMU_NOT_FOUND);
	HAS(gemu_last_error(), "the launch option sanitize makes it", 1);
	void *data = json;
	size_t size;
	EQUAL(gemu_get_recording(outcome, &data, &size), GEMU_NOT_FOUND);
	EQUAL(data == NULL, 1);
	EQUAL(gemu_get_recording(outcome, NULL, &size), GEMU_INVALID_VALUE);
	EQUAL(gemu_get_recording(0, &data, &size), GEMU_INVALID_HANDLE);
	OK(gemu_forget(outcome));
	EQUAL(gemu_forget(outcome), GEMU_INVALID_HANDLE);
}

int main(void)
{
	gemu_module m;
	OK(gemu_load(ptx, 0, &m));
	OK(gemu_get_kernel(m, "race", &race));
	OK(gemu_get_kernel(m, "long", &forever));
	wrong_calls();
	options();
	reports();
	after_a_fault();
	OK(gemu_unload(m));
	puts("ok");
	return 0;
}
