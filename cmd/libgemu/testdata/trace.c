// A program that uses gemu_trace.h like a simulator: it writes a log of the events that its observer receives. Usage:
// trace FILE.ptx LOG.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gemu.h"
#include "gemu_trace.h"

enum { CTAS = 3, THREADS = 40 };

static uint64_t seq[CTAS][(THREADS + 31) / 32];

static void write_event(const gemu_event *e, void *user)
{
	gemu_trace *t = user;
	uint32_t i;
	gemu_trace_record(t, e->cta[0], e->warp, seq[e->cta[0]][e->warp]++, e->line, "", e->lanes, e->active);
	if (e->lanes) {
		for (i = 0; i < e->n_results; i++) {
			const gemu_value *v = &e->results[i];
			uint32_t bits = strcmp(v->type, ".pred") == 0 ? 1 : (uint32_t)atoi(v->type + 2);
			gemu_trace_result(t, v->name, bits, v->low);
		}
		if (e->addresses && e->bytes) {
			int kind = strncmp(e->instruction, "st", 2) == 0 || strstr(e->instruction, " st.") ? GEMU_TRACE_STORE : GEMU_TRACE_LOAD;
			gemu_trace_access(t, kind, *e->space ? e->space + 1 : "generic", e->bytes, e->addresses, NULL, 0);
		}
	}
	gemu_trace_record_end(t);
}

static int check(int error)
{
	if (error) {
		fprintf(stderr, "%s\n", gemu_last_error());
		exit(1);
	}
	return error;
}

int main(int argc, char **argv)
{
	static char text[1 << 16];
	static const char *lacks[] = { "stored", "operands", NULL };
	gemu_module module;
	gemu_kernel kernel;
	gemu_address out;
	gemu_trace t;
	FILE *ptx = fopen(argv[1], "rb"), *log = fopen(argv[2], "wb");
	if (argc != 3 || !ptx || !log)
		return 2;
	text[fread(text, 1, sizeof text - 1, ptx)] = 0;
	check(gemu_load(text, 0, &module));
	check(gemu_get_kernel(module, NULL, &kernel));
	check(gemu_alloc(4 * CTAS * THREADS, &out));
	void *args[] = { &out };
	gemu_launch_params p = { kernel, { CTAS, 1, 1 }, { THREADS, 1, 1 }, 0, args, write_event, &t };
	gemu_trace_begin(&t, log, "observer", lacks);
	gemu_trace_launch(&t, 0, "k", argv[1], p.grid, p.block, 32);
	check(gemu_launch(&p, NULL));
	gemu_trace_end(&t, 0, NULL);
	return gemu_trace_finish(&t) || fclose(log);
}
