/* print_recording.c prints each value of each table of a recording in a line: an example of gemu_recording.h.
 *
 *	cc print_recording.c gemu_recording.c -lz -o print_recording
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gemu_recording.h"

/* print_column prints a column, some rows at a time. It returns 0, or -1 on an error. */
static int print_column(gemu_recording *r, int table, int column) {
	enum { part = 1024 };
	const char *name = gemu_recording_table_name(r, table), *label = gemu_recording_column_name(r, table, column);
	const char *type = gemu_recording_column_type(r, table, column);
	int64_t n;
	for (uint64_t from = 0; from < gemu_recording_rows(r, table); from += (uint64_t)n) {
		uint64_t numbers[part];
		const char *texts[part];
		int is_text = strcmp(type, "text") == 0;
		n = is_text ? gemu_recording_texts(r, table, column, from, part, texts) : gemu_recording_numbers(r, table, column, from, part, numbers);
		if (n <= 0)
			return -1;
		for (int64_t i = 0; i < n; i++) {
			printf("%s.%s[%" PRIu64 "] = ", name, label, from + (uint64_t)i);
			if (is_text)
				printf("%s\n", texts[i]);
			else if (type[0] == 'i')
				printf("%" PRId64 "\n", (int64_t)numbers[i]);
			else
				printf("%" PRIu64 "\n", numbers[i]);
		}
	}
	return 0;
}

int main(int argc, char **argv) {
	char error[512];
	if (argc != 2) {
		fprintf(stderr, "usage: print_recording FILE.gemu\n");
		return 2;
	}
	gemu_recording *r = gemu_recording_open(argv[1], error, sizeof error);
	if (!r) {
		fprintf(stderr, "%s\n", error);
		return 2;
	}
	int status = 0;
	for (int table = 0; table < gemu_recording_tables(r) && status == 0; table++)
		for (int column = 0; column < gemu_recording_columns(r, table) && status == 0; column++)
			status = print_column(r, table, column);
	if (status < 0)
		fprintf(stderr, "%s: %s\n", argv[1], gemu_recording_error(r));
	gemu_recording_close(r);
	return status < 0 ? 2 : 0;
}
