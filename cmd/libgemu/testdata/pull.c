// A simulator that requests the steps of a launch, a few at a time. Usage: pull FILE.ptx.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gemu.h"

#define WANT(x) ((x) ? (void)0 : (fprintf(stderr, "%s:%d: not %s (%s)\n", __FILE__, __LINE__, #x, gemu_last_error()), exit(1)))

enum { THREADS = 64 };

int main(int argc, char **argv)
{
	static char text[1 << 16];
	FILE *ptx = fopen(argv[argc - 1], "rb");
	gemu_module module;
	gemu_kernel kernel;
	gemu_address out;
	gemu_run run, other;
	gemu_counts counts;
	gemu_step steps[64];
	uint32_t result[THREADS], zeros[THREADS] = { 0 };
	size_t n, room, i;

	WANT(ptx != NULL);
	text[fread(text, 1, sizeof text - 1, ptx)] = 0;
	WANT(gemu_load(text, 0, &module) == GEMU_OK);
	WANT(gemu_get_kernel(module, NULL, &kernel) == GEMU_OK);
	WANT(gemu_alloc(sizeof result, &out) == GEMU_OK);
	void *args[] = { &out };
	gemu_launch_params p = { kernel, { 2, 1, 1 }, { THREADS, 1, 1 }, 0, args, NULL, NULL };
	WANT(gemu_next(1, steps, 1, &n) == GEMU_INVALID_HANDLE);

	// The steps are the same for any number of steps per request.
	for (room = 1; room <= 64; room += 21) {
		int64_t kinds[11] = { 0 }, result_returns = 0, results_released = 0;
		WANT(gemu_start(&p, &run) == GEMU_OK);
		WANT(gemu_start(&p, &other) == GEMU_NOT_PERMITTED);
		WANT(gemu_copy_out(result, out, sizeof result) == GEMU_NOT_PERMITTED);
		do {
			WANT(gemu_next(run, steps, room, &n) == GEMU_OK);
			for (i = 0; i < n; i++) {
				const gemu_step *s = &steps[i];
				WANT(s->kind < 11);
				kinds[s->kind]++;
				if (s->kind == GEMU_STEP_INSTRUCTION && strcmp(s->event.instruction, "add.u32 %o, %i, %i") == 0) {
					WANT(s->depth == 1 && strcmp(s->unit, "int") == 0 && s->event.n_results == 1);
					WANT(s->event.results[0].low[9] == 2 * s->event.sources[0].low[9]);
				}
				if (s->kind == GEMU_STEP_RETURN)
					result_returns += s->event.n_results == 1 && s->event.results[0].low[20] == 2 * (20 + 32 * s->event.warp);
				if (s->kind == GEMU_STEP_RELEASE) {
					WANT(s->barrier == 0);
					results_released += s->event.n_results == 1 && s->event.results[0].low[3] == 7;
				}
			}
		} while (n == room);
		WANT(gemu_next(run, steps, room, &n) == GEMU_OK && n == 0);
		WANT(gemu_stop(run, &counts) == GEMU_OK);
		WANT(gemu_stop(run, &counts) == GEMU_INVALID_HANDLE);
		WANT(kinds[GEMU_STEP_INSTRUCTION] == counts.warp_instructions);
		WANT(kinds[GEMU_STEP_CTA] == 2 && kinds[GEMU_STEP_CTA_END] == 2);
		WANT(kinds[GEMU_STEP_RETURN] == 4 && result_returns == 4);
		WANT(kinds[GEMU_STEP_SPLIT] == 2 && kinds[GEMU_STEP_RECONVERGE] >= 2);
		WANT(kinds[GEMU_STEP_RELEASE] == kinds[GEMU_STEP_WAIT] && results_released == kinds[GEMU_STEP_RELEASE] && results_released > 0);
		WANT(kinds[GEMU_STEP_EXIT] == 4);
		WANT(gemu_copy_out(result, out, sizeof result) == GEMU_OK && result[40] == 7);
	}

	// Memory is in the state after the last step: a store is visible after its step, and not before; and a
	// step has all effects of its instruction on memory.
	WANT(gemu_copy_in(out, zeros, sizeof zeros) == GEMU_OK);
	WANT(gemu_start(&p, &run) == GEMU_OK);
	WANT(gemu_read(run, result, out, sizeof result) == GEMU_OK && result[0] == 0 && result[40] == 0);
	int stores = 0;
	do {
		WANT(gemu_next(run, steps, 1, &n) == GEMU_OK);
		const gemu_step *s = steps;
		uint32_t before[THREADS];
		memcpy(before, result, sizeof before);
		WANT(gemu_read(run, result, out, sizeof result) == GEMU_OK);
		if (n && s->kind == GEMU_STEP_INSTRUCTION && strcmp(s->event.instruction, "st.global.u32 [%p], %v") == 0) {
			const gemu_access *a = s->accesses;
			WANT(s->n_accesses == 1 && a->kind == GEMU_STORE && a->bytes == 4 && a->n_stored == 1 && a->lanes == s->event.lanes && !a->compared && !a->data);
			for (i = 0; i < 32; i++)
				if (a->lanes >> i & 1)
					WANT(result[(a->addresses[i] - out) / 4] == a->stored[i]);
			stores++;
		} else {
			WANT(memcmp(before, result, sizeof before) == 0);
		}
	} while (n == 1);
	WANT(stores == 4);
	WANT(gemu_read(run, result, out + (1 << 20), 4) == GEMU_INVALID_VALUE && gemu_read(run, NULL, out, 4) == GEMU_INVALID_VALUE);
	WANT(gemu_read_shared(run, 0, result, 0, 4) == GEMU_INVALID_VALUE); // the block has ended
	WANT(gemu_stop(run, NULL) == GEMU_OK);
	WANT(gemu_read(run, result, out, 4) == GEMU_INVALID_HANDLE);

	// A stopped launch releases the device.
	WANT(gemu_start(&p, &run) == GEMU_OK);
	WANT(gemu_next(run, steps, 10, &n) == GEMU_OK && n == 10);
	WANT(gemu_stop(run, NULL) == GEMU_OK);
	WANT(gemu_start(&p, &run) == GEMU_OK);
	WANT(gemu_stop(run, NULL) == GEMU_OK);
	WANT(gemu_launch(&p, &counts) == GEMU_OK);

	// A trap is a step, and then the result of the launch.
	p.block[0] = 2 * THREADS;
	WANT(gemu_start(&p, &run) == GEMU_OK);
	for (;;) {
		int error = gemu_next(run, steps, 64, &n);
		if (n < 64) {
			WANT(error == GEMU_ILLEGAL_ADDRESS);
			WANT(n > 0 && steps[n - 1].kind == GEMU_STEP_TRAP && strstr(steps[n - 1].message, "out-of-bounds global store"));
			WANT(strcmp(steps[n - 1].event.instruction, "st.global.u32 [%p], %v") == 0);
			break;
		}
		WANT(error == GEMU_OK);
	}
	WANT(gemu_next(run, steps, 64, &n) == GEMU_ILLEGAL_ADDRESS && n == 0);
	WANT(gemu_stop(run, NULL) == GEMU_OK);

	// A refused launch does not occupy the device.
	p.block[0] = 4000;
	WANT(gemu_start(&p, &run) == GEMU_INVALID_VALUE);
	puts("ok");
	return 0;
}
