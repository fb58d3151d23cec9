// gemu_trace.h: write a log from C or C++, which gemu compares with its own run (gemu replay). The header needs no
// library and no further file of gemu: it is for simulators, and for test benches of hardware. docs/simulators.md has
// an example, docs/trace.md the meaning of the fields.
//
// A log is written by gemu_trace_begin; for each launch gemu_trace_launch, its records, gemu_trace_end; and
// gemu_trace_finish, without which the log is incomplete. Records of several CTAs may be interleaved; records of one
// thread must be in order. A record is written by gemu_trace_record, or by gemu_trace_return, _wake, _effect or _trap,
// then its results, then its accesses, then gemu_trace_record_end. Arrays of lanes have 64 elements; elements of lanes
// that do not execute the instruction are not read.
//
// The log consists of protocol buffers (trace/trace.proto), each after its length. A gemu_trace must not be used by
// several threads at the same time.

#ifndef GEMU_TRACE_H
#define GEMU_TRACE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// gemu_trace is a log under construction. Its fields are private, except failed: whether writing has failed, or memory
// is exhausted.
typedef struct {
	FILE *file;
	unsigned char *data; // the entry under construction
	size_t size, room;
	size_t record;       // start of the record in it
	uint64_t lanes, records;
	int failed;
} gemu_trace;

// The kinds of access. GEMU_TRACE_ZERO is for st.bulk: bytes is 0, and stored holds lengths.
enum { GEMU_TRACE_LOAD = 0, GEMU_TRACE_STORE = 1, GEMU_TRACE_ATOMIC = 2, GEMU_TRACE_ZERO = 3 };

// The phases of an asynchronous operation.
enum { GEMU_TRACE_ISSUED = 1, GEMU_TRACE_READS = 2, GEMU_TRACE_WRITES = 4 };

// gemu_trace_memory is an access to memory, with all information that a log can have about it. Fields that are zero are
// omitted.
typedef struct {
	int kind;
	const char *space;         // as "global"
	uint32_t bytes;            // per lane
	uint64_t lanes;            // the accessing lanes; 0: all lanes of the record
	const uint64_t *addresses; // addresses[lane]
	const uint64_t *stored;    // elements that are stored, or that atomics combine with the memory: 64 values each, of up to 64 bits
	int n_stored;
	uint64_t left_out;         // elements that are not stored, bit 0 for the first: a vector operand with _
	const uint64_t *compared;  // elements that .cas compares with the memory, in the form of stored
	int n_compared;
	const void *data;          // of asynchronous operations instead: the bytes written
} gemu_trace_memory;

static inline void gemu_trace__byte(gemu_trace *t, unsigned char b)
{
	if (t->size == t->room) {
		size_t room = t->room ? 2 * t->room : 4096;
		unsigned char *data = (unsigned char *)realloc(t->data, room);
		if (!data) {
			t->failed = 1;
			return;
		}
		t->data = data;
		t->room = room;
	}
	t->data[t->size++] = b;
}

static inline void gemu_trace__varint(gemu_trace *t, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		gemu_trace__byte(t, (unsigned char)(v | 0x80));
	gemu_trace__byte(t, (unsigned char)v);
}

// A field that is 0 or "" is omitted.
static inline void gemu_trace__number(gemu_trace *t, int field, uint64_t v)
{
	if (v) {
		gemu_trace__varint(t, (uint64_t)field << 3);
		gemu_trace__varint(t, v);
	}
}

static inline void gemu_trace__fixed(gemu_trace *t, int field, uint64_t v)
{
	if (v) {
		int i;
		gemu_trace__varint(t, (uint64_t)field << 3 | 1);
		for (i = 0; i < 64; i += 8)
			gemu_trace__byte(t, (unsigned char)(v >> i));
	}
}

static inline void gemu_trace__text(gemu_trace *t, int field, const char *s)
{
	if (s && *s) {
		gemu_trace__varint(t, (uint64_t)field << 3 | 2);
		gemu_trace__varint(t, strlen(s));
		for (; *s; s++)
			gemu_trace__byte(t, (unsigned char)*s);
	}
}

// A message within a message, or an entry: close inserts the length before the content written after open.
static inline size_t gemu_trace__open(gemu_trace *t, int field)
{
	gemu_trace__varint(t, (uint64_t)field << 3 | 2);
	return t->size;
}

static inline void gemu_trace__close(gemu_trace *t, size_t from)
{
	size_t n = t->size - from, head, i;
	for (i = n; i >= 0x80; i >>= 7)
		gemu_trace__byte(t, 0);
	gemu_trace__byte(t, 0);
	if (t->failed)
		return;
	head = t->size - from - n;
	memmove(t->data + from + head, t->data + from, n);
	for (i = 0; i < head; i++)
		t->data[from + i] = (unsigned char)(n >> 7 * i & 0x7f) | (i + 1 < head ? 0x80 : 0);
}

static inline void gemu_trace__numbers(gemu_trace *t, int field, const uint32_t *v, int n)
{
	size_t from = gemu_trace__open(t, field);
	int i;
	for (i = 0; i < n; i++)
		gemu_trace__varint(t, v[i]);
	gemu_trace__close(t, from);
}

// gemu_trace__put writes the entry under construction.
static inline void gemu_trace__put(gemu_trace *t)
{
	gemu_trace__close(t, 0);
	if (!t->failed && fwrite(t->data, 1, t->size, t->file) != t->size)
		t->failed = 1;
	t->size = 0;
}

// gemu_trace_begin begins a log. by is the simulator's name; lacks is a NULL-terminated list of the kinds of
// information that the log does not have (docs/trace.md).
static inline void gemu_trace_begin(gemu_trace *t, FILE *file, const char *by, const char *const *lacks)
{
	size_t from;
	memset(t, 0, sizeof *t);
	t->file = file;
	from = gemu_trace__open(t, 1);
	gemu_trace__number(t, 1, 2);
	gemu_trace__text(t, 2, by);
	for (; lacks && *lacks; lacks++)
		gemu_trace__text(t, 3, *lacks);
	gemu_trace__close(t, from);
	gemu_trace__put(t);
}

// gemu_trace_launch begins launch number of the log, from 0 on. file is the PTX.
static inline void gemu_trace_launch(gemu_trace *t, uint64_t number, const char *kernel, const char *file, const uint32_t grid[3], const uint32_t block[3], uint32_t warp_size)
{
	size_t from = gemu_trace__open(t, 2);
	gemu_trace__number(t, 1, number);
	gemu_trace__text(t, 2, kernel);
	gemu_trace__text(t, 3, file);
	gemu_trace__numbers(t, 4, grid, 3);
	gemu_trace__numbers(t, 5, block, 3);
	gemu_trace__number(t, 7, warp_size);
	gemu_trace__close(t, from);
	gemu_trace__put(t);
}

// gemu_trace_record begins an instruction that a warp has executed. cta is its linear index in the grid, seq the number
// of instructions that the warp has executed before, line the line in the PTX, name the opcode or "". active are the
// lanes that are active together; lanes are those for which the guard holds.
static inline void gemu_trace_record(gemu_trace *t, uint64_t cta, uint32_t warp, uint64_t seq, uint32_t line, const char *name, uint64_t lanes, uint64_t active)
{
	t->record = gemu_trace__open(t, 5);
	t->lanes = lanes;
	t->records++;
	gemu_trace__number(t, 2, cta);
	gemu_trace__number(t, 3, warp);
	gemu_trace__number(t, 4, seq);
	gemu_trace__number(t, 6, line);
	gemu_trace__text(t, 7, name);
	gemu_trace__fixed(t, 8, lanes);
	if (active != lanes)
		gemu_trace__fixed(t, 9, active);
}

// gemu_trace__about begins a record that is not the execution of an instruction.
static inline void gemu_trace__about(gemu_trace *t, int kind, uint64_t cta, uint32_t warp, uint64_t seq, uint32_t line, uint64_t lanes, const char *note)
{
	gemu_trace_record(t, cta, warp, seq, line, "", lanes, lanes);
	gemu_trace__number(t, 1, (uint64_t)kind);
	gemu_trace__text(t, 14, note);
}

// gemu_trace_return begins the results of the call at line, from which lanes have returned.
static inline void gemu_trace_return(gemu_trace *t, uint64_t cta, uint32_t warp, uint64_t seq, uint32_t line, uint64_t lanes)
{
	gemu_trace__about(t, 1, cta, warp, seq, line, lanes, NULL);
}

// gemu_trace_wake begins the results of the barrier at line, which lanes have passed.
static inline void gemu_trace_wake(gemu_trace *t, uint64_t cta, uint32_t warp, uint64_t seq, uint32_t line, uint64_t lanes)
{
	gemu_trace__about(t, 2, cta, warp, seq, line, lanes, NULL);
}

// gemu_trace_effect begins a phase of an asynchronous operation that lanes have issued at line. number counts the
// operations of the CTA; now is a set of GEMU_TRACE_ISSUED and so on. When it writes, its accesses have data, and the
// registers that it writes are results.
static inline void gemu_trace_effect(gemu_trace *t, uint64_t cta, uint32_t warp, uint64_t seq, uint32_t line, uint64_t lanes, uint64_t number, int now)
{
	char note[64];
	snprintf(note, sizeof note, "%llu%s%s%s", (unsigned long long)number, now & GEMU_TRACE_ISSUED ? " issued" : "",
		!(now & GEMU_TRACE_READS) ? "" : now & GEMU_TRACE_ISSUED ? ",reads" : " reads",
		!(now & GEMU_TRACE_WRITES) ? "" : now & (GEMU_TRACE_ISSUED | GEMU_TRACE_READS) ? ",writes" : " writes");
	gemu_trace__about(t, 3, cta, warp, seq, line, lanes, note);
}

// gemu_trace_trap begins a trap of lanes at line, which ends the launch. It needs only gemu_trace_record_end.
static inline void gemu_trace_trap(gemu_trace *t, uint64_t cta, uint32_t warp, uint64_t seq, uint32_t line, uint64_t lanes, const char *message)
{
	gemu_trace__about(t, 4, cta, warp, seq, line, lanes, message);
}

// gemu_trace_depth sets the call depth of the lanes of a record.
static inline void gemu_trace_depth(gemu_trace *t, uint32_t depth)
{
	gemu_trace__number(t, 11, depth);
}

// gemu_trace__value writes the values of lanes: one value if they are uniform, otherwise one for each lane. high is
// NULL except for 128 bits.
static inline void gemu_trace__value(gemu_trace *t, const char *name, uint32_t bits, uint64_t lanes, const uint64_t *v, const uint64_t *high)
{
	uint64_t cut = bits >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1, mask = 0;
	int i, first = -1, same = 1;
	size_t from;
	for (i = 0; i < 64; i++) {
		if (!(lanes >> i & 1))
			continue;
		if (first < 0)
			first = i;
		same = same && (v[i] & cut) == (v[first] & cut) && (!high || high[i] == high[first]);
		mask |= (v[i] & 1) << i;
	}
	gemu_trace__text(t, 1, name);
	gemu_trace__number(t, 2, name ? bits : 0);
	if (same) {
		gemu_trace__number(t, 4, first < 0 ? 0 : v[first] & cut);
		gemu_trace__number(t, 5, first < 0 || !high ? 0 : high[first]);
		return;
	}
	gemu_trace__number(t, 3, 2);
	from = gemu_trace__open(t, 7);
	if (bits == 1)
		gemu_trace__varint(t, mask);
	else
		for (i = 0; i < 64; i++)
			if (lanes >> i & 1)
				gemu_trace__varint(t, v[i] & cut);
	gemu_trace__close(t, from);
	if (!high)
		return;
	from = gemu_trace__open(t, 8);
	for (i = 0; i < 64; i++)
		if (lanes >> i & 1)
			gemu_trace__varint(t, high[i]);
	gemu_trace__close(t, from);
}

// gemu_trace_result adds a register that the lanes have received, of up to 64 bits; a predicate has 1 bit.
static inline void gemu_trace_result(gemu_trace *t, const char *name, uint32_t bits, const uint64_t *values)
{
	size_t from = gemu_trace__open(t, 12);
	gemu_trace__value(t, name, bits, t->lanes, values, NULL);
	gemu_trace__close(t, from);
}

// gemu_trace_result128 adds a register of 128 bits: low[lane] holds bits 0 to 63.
static inline void gemu_trace_result128(gemu_trace *t, const char *name, const uint64_t *low, const uint64_t *high)
{
	size_t from = gemu_trace__open(t, 12);
	gemu_trace__value(t, name, 128, t->lanes, low, high);
	gemu_trace__close(t, from);
}

// gemu_trace__elements writes elements of an access as a field.
static inline void gemu_trace__elements(gemu_trace *t, int field, const gemu_trace_memory *m, uint64_t lanes, const uint64_t *v, int n, uint64_t left_out)
{
	int i;
	for (i = 0; i < n; i++) {
		size_t value = gemu_trace__open(t, field);
		if (i < 64 && left_out >> i & 1)
			gemu_trace__number(t, 3, 3);
		else
			gemu_trace__value(t, NULL, m->kind == GEMU_TRACE_ZERO ? 64 : 8 * m->bytes / (uint32_t)n, lanes, v + 64 * i, NULL);
		gemu_trace__close(t, value);
	}
}

// gemu_trace_memory_access adds an access to memory by some lanes of the record.
static inline void gemu_trace_memory_access(gemu_trace *t, const gemu_trace_memory *m)
{
	size_t from = gemu_trace__open(t, 13), value;
	uint64_t lanes = m->lanes ? m->lanes : t->lanes;
	gemu_trace__number(t, 1, (uint64_t)m->kind);
	gemu_trace__text(t, 2, m->space);
	gemu_trace__number(t, 3, m->bytes);
	if (lanes != t->lanes)
		gemu_trace__number(t, 4, lanes);
	value = gemu_trace__open(t, 5);
	gemu_trace__value(t, NULL, 64, lanes, m->addresses, NULL);
	gemu_trace__close(t, value);
	gemu_trace__elements(t, 6, m, lanes, m->stored, m->n_stored, m->left_out);
	gemu_trace__elements(t, 7, m, lanes, m->compared, m->n_compared, 0);
	if (m->data) {
		uint32_t i;
		value = gemu_trace__open(t, 8);
		for (i = 0; i < m->bytes; i++)
			gemu_trace__byte(t, ((const unsigned char *)m->data)[i]);
		gemu_trace__close(t, value);
	}
	gemu_trace__close(t, from);
}

// gemu_trace_access adds an access to memory by all lanes of the record, of bytes per lane at addresses, in a state
// space such as "global". For stores, stored holds n elements of 64 values each; n is 0 if they are unknown.
static inline void gemu_trace_access(gemu_trace *t, int kind, const char *space, uint32_t bytes, const uint64_t *addresses, const uint64_t *stored, int n)
{
	gemu_trace_memory m;
	memset(&m, 0, sizeof m);
	m.kind = kind;
	m.space = space;
	m.bytes = bytes;
	m.addresses = addresses;
	m.stored = stored;
	m.n_stored = n;
	gemu_trace_memory_access(t, &m);
}

// gemu_trace_record_end ends the record.
static inline void gemu_trace_record_end(gemu_trace *t)
{
	gemu_trace__close(t, t->record);
	gemu_trace__put(t);
}

// gemu_trace_end ends the launch; error is its error, or NULL.
static inline void gemu_trace_end(gemu_trace *t, uint64_t number, const char *error)
{
	size_t from = gemu_trace__open(t, 6);
	gemu_trace__number(t, 1, number);
	gemu_trace__text(t, 2, error);
	gemu_trace__close(t, from);
	gemu_trace__put(t);
}

// gemu_trace_finish ends the log and does not close the file. It returns 0 if the whole log was written.
static inline int gemu_trace_finish(gemu_trace *t)
{
	size_t from = gemu_trace__open(t, 7);
	gemu_trace__number(t, 1, t->records);
	gemu_trace__close(t, from);
	gemu_trace__put(t);
	free(t->data);
	t->data = NULL;
	return t->failed || fflush(t->file) ? -1 : 0;
}

#endif
