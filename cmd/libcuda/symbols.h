// The names of the library.

#ifndef GEMU_SYMBOLS_H
#define GEMU_SYMBOLS_H

// symbol is an exported function.
struct symbol {
	const char *request; // what cuGetProcAddress is asked for
	int since;           // version of CUDA that brought it; 0 if it does not matter
	int per_thread;      // its default stream is that of the thread
	void *address;
};

// gemu_symbols are all of them, with a null request behind the last.
extern const struct symbol gemu_symbols[];

// result is what a result is called, and what it means.
struct result {
	int code;
	const char *name, *description;
};

// gemu_results are all of them, with a null name behind the last.
extern const struct result gemu_results[];

// gemu_unsupported is the result of a function that the library does not have.
int gemu_unsupported(char *name);

#endif
