// The environment of the process when the library was loaded.

// process_getenv returns the value of a variable at that time, NULL if it was not set. Unlike Go's os.Getenv, which has
// the variables from the start of the process, it includes changes by the program before it loaded the library.
const char *process_getenv(const char *name);
