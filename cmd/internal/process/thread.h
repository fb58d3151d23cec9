// The threads of a process, by number.

#include <stdint.h>

// process_thread is the number of the calling thread, from 1; numbers are never used
// twice.
uint64_t process_thread(void);

// process_thread_ended is the number of a thread that has ended, and that it has not
// returned before; 0 if there is none.
uint64_t process_thread_ended(void);

// process_forked reports whether this is a child of the process that has loaded the
// library.
int process_forked(void);

// process_at_exit makes the process call process_exit when it ends by exit or by
// returning from main.
void process_at_exit(void);
