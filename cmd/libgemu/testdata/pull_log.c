// A simulator that requests steps, and writes a log of them, with gemu_trace.h. Usage:
//
//	pull_log FILE.ptx LOG KERNEL GX GY GZ BX BY BZ SHARED ARG …
//
// An ARG is b:FILE, a buffer with the contents of the file, or v:FILE, the bytes of a parameter. A launch
// that traps is logged, and does not fail the program.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gemu.h"
#include "gemu_trace.h"

#define WANT(x) ((x) ? (void)0 : (fprintf(stderr, "%s:%d: not %s (%s)\n", __FILE__, __LINE__, #x, gemu_last_error()), exit(1)))

enum { MOST_WARPS = 1 << 16, STEPS = 37 };

static uint64_t seq[MOST_WARPS]; // number of instructions of each warp, over all CTAs

// contents returns the contents of a file, with a zero at the end.
static char *contents(const char *name, size_t *size)
{
	FILE *f = fopen(name, "rb");
	char *b;
	WANT(f && !fseek(f, 0, SEEK_END));
	*size = (size_t)ftell(f);
	rewind(f);
	b = calloc(1, *size + 1);
	WANT(b && fread(b, 1, *size, f) == *size);
	fclose(f);
	return b;
}

static const char *space(const char *s) { return *s ? s + 1 : "generic"; }

static void results(gemu_trace *t, const gemu_event *e)
{
	uint32_t i;
	for (i = 0; i < e->n_results; i++) {
		const gemu_value *v = &e->results[i];
		if (v->high)
			gemu_trace_result128(t, v->name, v->low, v->high);
		else
			gemu_trace_result(t, v->name, strcmp(v->type, ".pred") == 0 ? 1 : (uint32_t)atoi(v->type + 1 + strcspn(v->type + 1, "0123456789")), v->low);
	}
}

static void step(gemu_trace *t, const gemu_step *s, const gemu_launch_params *p)
{
	const gemu_event *e = &s->event;
	uint64_t cta = e->cta[0] + (uint64_t)p->grid[0] * (e->cta[1] + (uint64_t)p->grid[1] * e->cta[2]);
	uint32_t warps = (p->block[0] * p->block[1] * p->block[2] + 31) / 32, i;
	uint64_t *n = &seq[cta * warps + e->warp];
	switch (s->kind) {
	case GEMU_STEP_INSTRUCTION:
		gemu_trace_record(t, cta, e->warp, (*n)++, e->line, "", e->lanes, e->active);
		if (e->lanes)
			results(t, e);
		break;
	case GEMU_STEP_RETURN:
	case GEMU_STEP_RELEASE:
		if (!e->n_results)
			return;
		(s->kind == GEMU_STEP_RETURN ? gemu_trace_return : gemu_trace_wake)(t, cta, e->warp, *n, e->line, e->lanes);
		results(t, e);
		break;
	case GEMU_STEP_EFFECT:
		gemu_trace_effect(t, cta, e->warp, *n, e->line, e->lanes, s->effect, (int)s->effect_now);
		results(t, e);
		break;
	case GEMU_STEP_TRAP:
		gemu_trace_trap(t, cta, e->instruction ? e->warp : 0, e->instruction ? *n : 0, e->line, e->lanes, s->message);
		break;
	default:
		return;
	}
	gemu_trace_depth(t, s->depth);
	for (i = 0; i < s->n_accesses; i++) {
		const gemu_access *a = &s->accesses[i];
		gemu_trace_memory m = { (int)a->kind, space(a->space), a->bytes, a->lanes, a->addresses, a->stored, (int)a->n_stored, a->left_out, a->compared, (int)a->n_compared, a->data };
		gemu_trace_memory_access(t, &m);
	}
	gemu_trace_record_end(t);
}

int main(int argc, char **argv)
{
	gemu_module module;
	gemu_kernel kernel;
	gemu_trace t;
	gemu_run run;
	gemu_step steps[STEPS];
	gemu_address *buffers = calloc((size_t)argc, sizeof *buffers);
	void **args = calloc((size_t)argc, sizeof *args);
	size_t size, n, i;
	int k, error;
	WANT(argc >= 11);
	FILE *log = fopen(argv[2], "wb");
	WANT(log && gemu_load(contents(argv[1], &size), 0, &module) == GEMU_OK);
	WANT(gemu_get_kernel(module, argv[3], &kernel) == GEMU_OK);
	gemu_launch_params p = { kernel, { 0 }, { 0 }, (uint32_t)atoi(argv[10]), args, NULL, NULL };
	for (k = 0; k < 3; k++) {
		p.grid[k] = (uint32_t)atoi(argv[4 + k]);
		p.block[k] = (uint32_t)atoi(argv[7 + k]);
	}
	for (k = 11; k < argc; k++) {
		char *b = contents(argv[k] + 2, &size);
		args[k - 11] = b;
		if (argv[k][0] == 'b') {
			WANT(gemu_alloc(size, &buffers[k]) == GEMU_OK && gemu_copy_in(buffers[k], b, size) == GEMU_OK);
			args[k - 11] = &buffers[k];
		}
	}
	gemu_trace_begin(&t, log, "pull", NULL);
	gemu_trace_launch(&t, 0, argv[3], argv[1], p.grid, p.block, 32);
	WANT(gemu_start(&p, &run) == GEMU_OK);
	do {
		error = gemu_next(run, steps, STEPS, &n);
		for (i = 0; i < n; i++)
			step(&t, &steps[i], &p);
	} while (n == STEPS);
	WANT(gemu_stop(run, NULL) == GEMU_OK);
	gemu_trace_end(&t, 0, error ? "a trap" : NULL);
	return gemu_trace_finish(&t) || fclose(log);
}
