/* gemu_recording.c: reads recordings of gemu. docs/recording.md describes the format. */
#include "gemu_recording.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { constant, plain, differences, texts };

enum {
	oldest_version = 1,
	newest_version = 2,
	deflated = 1,
	header_size = 32,
	descriptor_size = 24,
	directory_table = 0xfffe,
	max_block_size = 64 << 20,
	max_block_rows = 1 << 20,
	max_blocks = 1 << 22,
	max_columns = 1 << 16,
	max_inflation = 4 * 258, /* a match of 258 bytes takes at least two bits */
	max_decoded = 64 << 20   /* bytes of decoded numbers that a recording keeps, apart from the latest block */
};

/* column is a column of a block: its descriptor, and the offset of its stored bytes. */
typedef struct {
	unsigned encoding, width, flags;
	uint32_t stored, plain, sum;
	uint64_t base, at;
	const char **texts; /* decoded texts, which stay until the recording is closed; NULL before */
	char *letters;      /* memory of texts */
} column;

typedef struct {
	uint64_t at, first, end;
	uint32_t rows;
	unsigned table;
	int columns;
	column *column;
} block;

/* decoded is the latest block of a column whose numbers were read. */
typedef struct {
	int block; /* index in the table */
	uint64_t *numbers;
} decoded;

typedef struct {
	char *name;
	char **column_names;
	char **types;
	int columns;
	uint64_t rows;
	block *blocks;
	int block_count;
	decoded *latest; /* of each column; NULL before the first read */
} table;

struct gemu_recording {
	FILE *file;
	uint64_t size;
	int complete;
	table *tables;
	int table_count;
	uint64_t decoded; /* bytes of all decoded numbers */
	char error[256];
};

static int fail(gemu_recording *r, const char *format, ...) {
	va_list list;
	va_start(list, format);
	vsnprintf(r->error, sizeof r->error, format, list);
	va_end(list);
	return -1;
}

static uint64_t number(const unsigned char *b, int bytes) {
	uint64_t v = 0;
	for (int i = bytes - 1; i >= 0; i--)
		v = v << 8 | b[i];
	return v;
}

static int read_at(gemu_recording *r, uint64_t at, void *to, size_t n) {
	if (at > r->size || n > r->size - at)
		return fail(r, "at byte %llu: the file ends here", (unsigned long long)at);
	if (fseeko(r->file, (off_t)at, SEEK_SET) != 0 || fread(to, 1, n, r->file) != n)
		return fail(r, "at byte %llu: the file cannot be read", (unsigned long long)at);
	return 0;
}

/* read_block reads the header of a block and its descriptors. */
static int read_block(gemu_recording *r, uint64_t at, block *b) {
	unsigned char h[header_size];
	memset(b, 0, sizeof *b);
	if (read_at(r, at, h, sizeof h) < 0)
		return -1;
	uint64_t size = number(h + 4, 4);
	b->at = at;
	b->table = (unsigned)number(h + 8, 2);
	b->columns = (int)number(h + 10, 2);
	b->rows = (uint32_t)number(h + 12, 4);
	b->first = number(h + 16, 8);
	b->end = at + header_size + size;
	if (memcmp(h, "gblk", 4) != 0)
		return fail(r, "at byte %llu: no block header at this place", (unsigned long long)at);
	if (size > max_block_size || b->end > r->size || (uint64_t)b->columns * descriptor_size > size ||
	    (b->rows > max_block_rows && b->table != directory_table) || b->rows > max_blocks || b->rows == 0)
		return fail(r, "at byte %llu: the block does not fit the file", (unsigned long long)at);
	size_t n = (size_t)b->columns * descriptor_size;
	unsigned char *d = malloc(n + 1);
	b->column = calloc((size_t)b->columns + 1, sizeof *b->column);
	if (!d || !b->column || read_at(r, at + header_size, d, n) < 0) {
		free(d);
		return -1;
	}
	int good = crc32(crc32(0, h, 24), d, (uInt)n) == number(h + 24, 4);
	uint64_t next = at + header_size + n;
	for (int i = 0; i < b->columns && good; i++) {
		const unsigned char *p = d + (size_t)i * descriptor_size;
		column *c = &b->column[i];
		c->encoding = p[0];
		c->width = p[1];
		c->flags = (unsigned)number(p + 2, 2);
		c->stored = (uint32_t)number(p + 4, 4);
		c->plain = (uint32_t)number(p + 8, 4);
		c->sum = (uint32_t)number(p + 12, 4);
		c->base = number(p + 16, 8);
		c->at = next;
		good = c->at + c->stored <= b->end && c->plain <= max_block_size;
		next += ((uint64_t)c->stored + 7) & ~(uint64_t)7;
	}
	free(d);
	if (!good)
		return fail(r, "at byte %llu: the header of a block is damaged", (unsigned long long)at);
	return 0;
}

/* stored_bytes reads the stored bytes of a column, inflated, and a zero byte after them. The caller frees them. */
static unsigned char *stored_bytes(gemu_recording *r, const block *b, const column *c) {
	unsigned char *in = NULL, *out = NULL;
	if (c->plain > (uint64_t)c->stored * max_inflation) {
		fail(r, "at byte %llu: a column is larger than its stored bytes can hold", (unsigned long long)b->at);
		return NULL;
	}
	in = malloc((size_t)c->stored + 1);
	if (!in || read_at(r, c->at, in, c->stored) < 0)
		goto done;
	in[c->stored] = 0;
	if (crc32(0, in, c->stored) != c->sum) {
		fail(r, "at byte %llu: a column is damaged: its checksum is wrong", (unsigned long long)b->at);
		goto done;
	}
	if (!(c->flags & deflated)) {
		if (c->stored == c->plain)
			return in;
		fail(r, "at byte %llu: the stored size of an uncompressed column differs from its size", (unsigned long long)b->at);
		goto done;
	}
	out = malloc((size_t)c->plain + 1);
	z_stream z;
	memset(&z, 0, sizeof z);
	if (!out || inflateInit2(&z, -15) != Z_OK)
		goto done;
	z.next_in = in;
	z.avail_in = c->stored;
	z.next_out = out;
	z.avail_out = c->plain;
	int status = inflate(&z, Z_FINISH);
	uLong n = z.total_out;
	inflateEnd(&z);
	if (status != Z_STREAM_END || n != c->plain) {
		fail(r, "at byte %llu: a column cannot be decompressed", (unsigned long long)b->at);
		free(out);
		out = NULL;
		goto done;
	}
	out[c->plain] = 0;
done:
	free(in);
	return out;
}

/* decode_numbers decodes a column of numbers. */
static uint64_t *decode_numbers(gemu_recording *r, const block *b, int index, const char *type) {
	const column *c = &b->column[index];
	uint64_t want = c->encoding == constant ? 0 : (uint64_t)b->rows * c->width;
	if (c->encoding > differences || c->plain != want ||
	    (c->encoding != constant && c->width != 1 && c->width != 2 && c->width != 4 && c->width != 8)) {
		fail(r, "at byte %llu: a column has an unknown encoding, or its size is wrong", (unsigned long long)b->at);
		return NULL;
	}
	unsigned char *s = stored_bytes(r, b, c);
	uint64_t *v = s ? malloc(((size_t)b->rows + 1) * sizeof *v) : NULL;
	uint64_t before = c->base;
	int bits = atoi(type + 1), is_signed = type[0] == 'i';
	for (uint32_t i = 0; v && i < b->rows; i++) {
		uint64_t x = c->encoding == constant ? 0 : number(s + (size_t)i * c->width, (int)c->width);
		if (c->encoding == differences) {
			unsigned shift = 64 - 8 * c->width;
			before += (uint64_t)((int64_t)(x << shift) >> shift);
			v[i] = before;
		} else {
			v[i] = c->base + x;
		}
		v[i] <<= 64 - bits; /* the low bits are the value of the type */
		v[i] = is_signed ? (uint64_t)((int64_t)v[i] >> (64 - bits)) : v[i] >> (64 - bits);
	}
	free(s);
	return v;
}

/* decode_texts decodes a column of texts, once. */
static int decode_texts(gemu_recording *r, block *b, int index) {
	column *c = &b->column[index];
	if (c->texts)
		return 0;
	if (c->encoding != texts || c->plain < 4 * (uint64_t)b->rows) {
		fail(r, "at byte %llu: a column of texts has an unknown encoding, or its size is wrong", (unsigned long long)b->at);
		return -1;
	}
	unsigned char *s = stored_bytes(r, b, c);
	if (!s)
		return -1;
	const char **list = malloc(((size_t)b->rows + 1) * sizeof *list);
	char *room = malloc((size_t)c->plain + b->rows + 1), *next = room;
	uint64_t at = 4 * (uint64_t)b->rows;
	for (uint32_t i = 0; list && room && i < b->rows; i++) {
		uint64_t n = number(s + 4 * (size_t)i, 4);
		if (n > c->plain - at) {
			fail(r, "at byte %llu: a text is longer than its column", (unsigned long long)b->at);
			free(list);
			list = NULL;
			break;
		}
		list[i] = next;
		memcpy(next, s + at, n);
		next += n;
		*next++ = 0;
		at += n;
	}
	free(s);
	if (!list || !room) {
		free(list);
		free(room);
		return -1;
	}
	c->texts = list;
	c->letters = room;
	return 0;
}

/* free_columns frees the columns of a block. */
static void free_columns(block *b) {
	for (int i = 0; b->column && i < b->columns; i++) {
		free(b->column[i].texts);
		free(b->column[i].letters);
	}
	free(b->column);
}

static char *copy(const char *s) {
	char *c = malloc(strlen(s) + 1);
	return c ? strcpy(c, s) : NULL;
}

/* read_schema makes the tables of the block with the names of columns. */
static int read_schema(gemu_recording *r, block *b) {
	if (b->rows > max_columns)
		return fail(r, "at byte %llu: %u columns; a recording has at most %d", (unsigned long long)b->at, (unsigned)b->rows, max_columns);
	const char **list[3] = {0};
	int good = b->columns == 3;
	for (int i = 0; i < 3 && good; i++) {
		good = decode_texts(r, b, i) == 0;
		list[i] = b->column[i].texts;
	}
	for (uint32_t i = 0; good && i < b->rows; i++) {
		table *t = r->table_count ? &r->tables[r->table_count - 1] : NULL;
		if (!t || strcmp(t->name, list[0][i]) != 0) {
			table *tables = realloc(r->tables, ((size_t)r->table_count + 1) * sizeof *tables);
			if (!(good = tables != NULL))
				break;
			r->tables = tables;
			t = &r->tables[r->table_count++];
			memset(t, 0, sizeof *t);
			t->name = copy(list[0][i]);
		}
		char **names = realloc(t->column_names, ((size_t)t->columns + 1) * sizeof *names);
		if (names)
			t->column_names = names;
		char **types = realloc(t->types, ((size_t)t->columns + 1) * sizeof *types);
		if (types)
			t->types = types;
		if (!(good = names && types && t->name))
			break;
		t->column_names[t->columns] = copy(list[1][i]);
		t->types[t->columns++] = copy(list[2][i]);
		static const char *const known[] = {"u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "text"};
		good = 0;
		for (size_t k = 0; k < sizeof known / sizeof *known; k++)
			good |= strcmp(list[2][i], known[k]) == 0;
	}
	return good ? 0 : fail(r, "at byte %llu: the names of columns are damaged", (unsigned long long)b->at);
}

/* add_block adds a block to its table. The first block of a file has the names of columns. */
static int add_block(gemu_recording *r, uint64_t at, int first) {
	block b;
	if (read_block(r, at, &b) < 0)
		goto bad;
	if (first) {
		int status = read_schema(r, &b);
		free_columns(&b);
		return status;
	}
	if (b.table >= (unsigned)r->table_count || b.columns != r->tables[b.table].columns || b.first != r->tables[b.table].rows) {
		fail(r, "at byte %llu: a block does not continue the blocks before it", (unsigned long long)at);
		goto bad;
	}
	table *t = &r->tables[b.table];
	block *blocks = realloc(t->blocks, ((size_t)t->block_count + 1) * sizeof *blocks);
	if (!blocks)
		goto bad;
	t->blocks = blocks;
	t->blocks[t->block_count++] = b;
	t->rows += b.rows;
	return 0;
bad:
	free(b.column);
	return -1;
}

static int read_file(gemu_recording *r) {
	unsigned char head[8], tail[16] = {0};
	if (fseeko(r->file, 0, SEEK_END) != 0)
		return fail(r, "the file cannot be read");
	r->size = (uint64_t)ftello(r->file);
	if (r->size < 8 || read_at(r, 0, head, 8) < 0 || memcmp(head, "gemurec", 7) != 0)
		return fail(r, "this is not a recording");
	if (head[7] < oldest_version || head[7] > newest_version)
		return fail(r, "the recording has format version %d; this program reads versions %d to %d", head[7], oldest_version, newest_version);
	if (r->size >= 24 && read_at(r, r->size - 16, tail, 16) == 0 && memcmp(tail + 8, "gemurec\n", 8) == 0) {
		block directory;
		r->complete = 1;
		if (read_block(r, number(tail, 8), &directory) < 0 || directory.table != directory_table || directory.columns < 1) {
			free(directory.column);
			return fail(r, "the directory is missing at the place that the end of the file states");
		}
		if (directory.rows > r->size / header_size) {
			free(directory.column);
			return fail(r, "the directory has more blocks than the file has room for");
		}
		uint64_t *at = decode_numbers(r, &directory, 0, "u64");
		int status = at && directory.rows > 0 ? 0 : -1;
		for (uint32_t i = 0; i < directory.rows && status == 0; i++)
			status = add_block(r, at[i], i == 0);
		free(at);
		free(directory.column);
		return status;
	}
	uint64_t at = 8;
	for (int n = 0;; n++) {
		block b;
		int status = read_block(r, at, &b);
		free(b.column);
		if (status < 0 || b.table == directory_table) /* the last block is not whole, or the place of the directory is missing */
			return n ? (r->error[0] = 0) : fail(r, "the recording ends before its first block");
		if (add_block(r, at, n == 0) < 0)
			return -1;
		at = b.end;
	}
}

gemu_recording *gemu_recording_open(const char *name, char *error, size_t error_size) {
	gemu_recording *r = calloc(1, sizeof *r);
	if (r && (r->file = fopen(name, "rb")) && read_file(r) == 0)
		return r;
	if (error_size)
		snprintf(error, error_size, "%s: %s", name, !r ? "out of memory" : !r->file ? "the file cannot be opened" : r->error[0] ? r->error : "out of memory");
	gemu_recording_close(r);
	return NULL;
}

/* forget_numbers frees the decoded numbers of a table. */
static void forget_numbers(gemu_recording *r, table *t) {
	for (int k = 0; t->latest && k < t->columns; k++)
		if (t->latest[k].numbers) {
			r->decoded -= t->blocks[t->latest[k].block].rows * sizeof(uint64_t);
			free(t->latest[k].numbers);
			t->latest[k].numbers = NULL;
		}
}

void gemu_recording_close(gemu_recording *r) {
	if (!r)
		return;
	for (int i = 0; i < r->table_count; i++) {
		table *t = &r->tables[i];
		for (int k = 0; k < t->columns; k++) {
			free(t->column_names[k]);
			free(t->types[k]);
		}
		for (int k = 0; k < t->block_count; k++)
			free_columns(&t->blocks[k]);
		forget_numbers(r, t);
		free(t->latest);
		free(t->column_names);
		free(t->types);
		free(t->blocks);
		free(t->name);
	}
	free(r->tables);
	if (r->file)
		fclose(r->file);
	free(r);
}

int gemu_recording_complete(const gemu_recording *r) { return r->complete; }

int gemu_recording_tables(const gemu_recording *r) { return r->table_count; }

static const table *table_of(const gemu_recording *r, int i) { return i >= 0 && i < r->table_count ? &r->tables[i] : NULL; }

int gemu_recording_table(const gemu_recording *r, const char *name) {
	for (int i = 0; i < r->table_count; i++)
		if (strcmp(r->tables[i].name, name) == 0)
			return i;
	return -1;
}

const char *gemu_recording_table_name(const gemu_recording *r, int i) {
	const table *t = table_of(r, i);
	return t ? t->name : NULL;
}

uint64_t gemu_recording_rows(const gemu_recording *r, int i) {
	const table *t = table_of(r, i);
	return t ? t->rows : 0;
}

int gemu_recording_columns(const gemu_recording *r, int i) {
	const table *t = table_of(r, i);
	return t ? t->columns : 0;
}

int gemu_recording_column(const gemu_recording *r, int i, const char *name) {
	const table *t = table_of(r, i);
	for (int k = 0; t && k < t->columns; k++)
		if (strcmp(t->column_names[k], name) == 0)
			return k;
	return -1;
}

const char *gemu_recording_column_name(const gemu_recording *r, int i, int k) {
	const table *t = table_of(r, i);
	return t && k >= 0 && k < t->columns ? t->column_names[k] : NULL;
}

const char *gemu_recording_column_type(const gemu_recording *r, int i, int k) {
	const table *t = table_of(r, i);
	return t && k >= 0 && k < t->columns ? t->types[k] : NULL;
}

/* block_of returns the index of the block with a row. */
static int block_of(const table *t, uint64_t row) {
	int low = 0, high = t->block_count;
	while (low < high) {
		int middle = low + (high - low) / 2;
		if (t->blocks[middle].first + t->blocks[middle].rows > row)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* decode decodes a column of block n of a table, unless it is decoded. Each column keeps its latest block, so that a program can read
 * several columns row by row. If all take too much memory, the others are freed. */
static int decode(gemu_recording *r, table *t, int n, int k) {
	block *b = &t->blocks[n];
	r->error[0] = 0;
	if (strcmp(t->types[k], "text") == 0)
		return decode_texts(r, b, k) == 0 ? 0 : r->error[0] ? -1 : fail(r, "out of memory");
	if (!t->latest && !(t->latest = calloc((size_t)t->columns, sizeof *t->latest)))
		return fail(r, "out of memory");
	decoded *d = &t->latest[k];
	if (d->numbers && d->block == n)
		return 0;
	if (d->numbers) {
		r->decoded -= t->blocks[d->block].rows * sizeof(uint64_t);
		free(d->numbers);
		d->numbers = NULL;
	}
	if (r->decoded + b->rows * sizeof(uint64_t) > max_decoded)
		for (int i = 0; i < r->table_count; i++)
			forget_numbers(r, &r->tables[i]);
	if (!(d->numbers = decode_numbers(r, b, k, t->types[k])))
		return r->error[0] ? -1 : fail(r, "out of memory");
	d->block = n;
	r->decoded += b->rows * sizeof(uint64_t);
	return 0;
}

static int64_t read_column(gemu_recording *r, int i, int k, uint64_t from, uint64_t count, uint64_t *numbers, const char **list) {
	const char *type = gemu_recording_column_type(r, i, k);
	if (!type)
		return fail(r, "there is no column %d of table %d", k, i);
	table *t = &r->tables[i];
	if ((strcmp(type, "text") == 0) != (list != NULL))
		return fail(r, "column %s of table %s has the type %s", t->column_names[k], t->name, type);
	uint64_t done = 0;
	for (int n = block_of(t, from); n < t->block_count && done < count; n++) {
		const block *b = &t->blocks[n];
		if (decode(r, t, n, k) < 0)
			return -1;
		for (; done < count && from - b->first < b->rows; done++, from++)
			if (list)
				list[done] = b->column[k].texts[from - b->first];
			else
				numbers[done] = t->latest[k].numbers[from - b->first];
	}
	return (int64_t)done;
}

int64_t gemu_recording_numbers(gemu_recording *r, int i, int k, uint64_t from, uint64_t count, uint64_t *values) {
	return read_column(r, i, k, from, count, values, NULL);
}

int64_t gemu_recording_texts(gemu_recording *r, int i, int k, uint64_t from, uint64_t count, const char **list) {
	return read_column(r, i, k, from, count, NULL, list);
}

const char *gemu_recording_error(const gemu_recording *r) { return r->error; }
