// The threads of a process, by number.

#ifndef PROCESS_THREAD_H
#define PROCESS_THREAD_H

#include <stdint.h>

// process_thread returns the number of the calling thread. Numbers count from 1, and no number is used twice.
uint64_t process_thread(void);

// process_thread_ended returns the number of a thread that has ended, or 0 if there is none. It returns each number
// once.
uint64_t process_thread_ended(void);

// process_forked is the result of all calls into Go in a child of fork: CUDA_ERROR_NOT_INITIALIZED. It is written as four
// bytes, so a function of a library with a result of another size must be written in C.
enum { process_forked = 3 };

// process_enter begins a call of the library. It gives the thread an alternate signal stack if the thread has none. At a
// thread's first call, Go's runtime makes such a stack, or uses the existing one. If a later signal finds no such stack, the
// runtime ends the process. That could happen because programs remove their stack: for example, Python's faulthandler
// removes its stack before the last calls of the process.
void process_enter(void);

// process_at_exit makes the process call process_exit once when it ends by exit, by quick_exit or by returning from
// main.
void process_at_exit(void);

// process_exit_now does at once what process_at_exit has registered, for a process that ends by _exit. In a process that has not
// used the library, and in a signal handler that has interrupted a call of the library, it does nothing.
void process_exit_now(void);

#endif
