// The threads of a process, by number.

#ifndef PROCESS_THREAD_H
#define PROCESS_THREAD_H

#include <stdint.h>

// process_thread returns the number of the calling thread, from 1. No number is used twice.
uint64_t process_thread(void);

// process_thread_ended returns the number of a thread that has ended, each once; 0 if there is none.
uint64_t process_thread_ended(void);

// process_forked is the result of all calls into Go in a child of fork, CUDA_ERROR_NOT_INITIALIZED. A function of a
// library whose result does not have four bytes must be written in C.
enum { process_forked = 3 };

// process_enter begins a call of the library. It gives the thread an alternate signal stack if it has none. Go's
// runtime does so at the first call of a thread, or uses the existing stack, and ends the process if a signal finds
// none later. For example, the stack of Python's faulthandler is removed before the last calls of the process.
void process_enter(void);

// process_at_exit makes the process call process_exit once when it ends by exit, by quick_exit or by returning from
// main.
void process_at_exit(void);

#endif
