/* gemu_recording.h: reads recordings of gemu (docs/recording.md).
 *
 * Compile gemu_recording.c with a program, and link zlib (-lz). A recording belongs to one thread at a time.
 */
#ifndef GEMU_RECORDING_H
#define GEMU_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* gemu_recording is an open recording. */
typedef struct gemu_recording gemu_recording;

/* gemu_recording_open opens the recording of a name. It returns NULL on an error, and then writes the reason to error, of
 * error_size bytes. */
gemu_recording *gemu_recording_open(const char *name, char *error, size_t error_size);

/* gemu_recording_close frees a recording. NULL is allowed. */
void gemu_recording_close(gemu_recording *recording);

/* gemu_recording_complete returns 0 if the file has no end, because its writer was stopped. */
int gemu_recording_complete(const gemu_recording *recording);

/* gemu_recording_tables returns the number of tables. */
int gemu_recording_tables(const gemu_recording *recording);

/* gemu_recording_table returns the number of the table of a name; -1 if there is none. */
int gemu_recording_table(const gemu_recording *recording, const char *name);

/* gemu_recording_table_name returns the name of a table; NULL if the number is out of range. */
const char *gemu_recording_table_name(const gemu_recording *recording, int table);

/* gemu_recording_rows returns the number of rows of a table. */
uint64_t gemu_recording_rows(const gemu_recording *recording, int table);

/* gemu_recording_columns returns the number of columns of a table. */
int gemu_recording_columns(const gemu_recording *recording, int table);

/* gemu_recording_column returns the number of the column of a name; -1 if there is none. */
int gemu_recording_column(const gemu_recording *recording, int table, const char *name);

/* gemu_recording_column_name returns the name of a column; NULL if a number is out of range. */
const char *gemu_recording_column_name(const gemu_recording *recording, int table, int column);

/* gemu_recording_column_type returns the type of a column: "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64" or "text". */
const char *gemu_recording_column_type(const gemu_recording *recording, int table, int column);

/* gemu_recording_numbers writes up to count values of a column from row from on to values. Values of signed types are
 * sign-extended. It returns the number of values, which is smaller at the table's end; -1 on an error. Reading row by row is fast
 * enough for several columns at once: each keeps its latest block. */
int64_t gemu_recording_numbers(gemu_recording *recording, int table, int column, uint64_t from, uint64_t count, uint64_t *values);

/* gemu_recording_texts is gemu_recording_numbers for a column of texts. The texts end with a zero byte, and are valid until the
 * recording is closed: they take memory until then. */
int64_t gemu_recording_texts(gemu_recording *recording, int table, int column, uint64_t from, uint64_t count, const char **texts);

/* gemu_recording_error returns the reason of the latest error of the recording; "" if there was none. */
const char *gemu_recording_error(const gemu_recording *recording);

#ifdef __cplusplus
}
#endif

#endif
