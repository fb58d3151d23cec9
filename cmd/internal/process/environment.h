// process_getenv returns the value that an environment variable had when the library was loaded, or NULL if it was not
// set. Go's os.Getenv would give the value from the start of the process, which misses the changes that the program made
// before it loaded the library.
const char *process_getenv(const char *name);
