// The tables in zsymbols.c: the exported functions and the results.

#ifndef GEMU_SYMBOLS_H
#define GEMU_SYMBOLS_H

// symbol is an exported function.
struct symbol {
	const char *request; // name for cuGetProcAddress
	int since;           // version of CUDA that introduced it; 0 if it does not matter
	int per_thread;      // 1 for a variant that uses the thread's own default stream
	void *address;
};

// gemu_symbols lists all functions; the last entry has a null request.
extern const struct symbol gemu_symbols[];

// result is a result code with its name and its description.
struct result {
	int code;
	const char *name, *description;
};

// gemu_results lists all results; the last entry has a null name.
extern const struct result gemu_results[];

// gemu_unsupported returns the result of a function that the library does not have. main.go defines it.
int gemu_unsupported(char *name);

#endif
