// The environment of the process when the library was loaded.

// process_getenv is the value that a variable had then, NULL if it was not set. Unlike
// Go's os.Getenv, which knows the variables that the process began with, it has seen what
// the program changed before it loaded the library.
const char *process_getenv(const char *name);
