// The threads of a process, by number.

#ifndef PROCESS_THREAD_H
#define PROCESS_THREAD_H

#include <stdint.h>

// process_thread is the number of the calling thread, from 1; numbers are never used
// twice.
uint64_t process_thread(void);

// process_thread_ended is the number of a thread that has ended, and that it has not
// returned before; 0 if there is none.
uint64_t process_thread_ended(void);

// process_forked is the result of all calls into Go in a child of fork, CUDA_ERROR_NOT_INITIALIZED.
// A function of a library whose result is not of four bytes is one of C.
enum { process_forked = 3 };

// process_enter begins a call of the library. It sees to it that the thread has an alternate signal stack: Go's
// runtime gives it one when it first calls, or takes the one it has, and ends the process if a signal finds none
// later. That of Python's faulthandler is gone before the last calls of its process.
void process_enter(void);

// process_at_exit makes the process call process_exit once when it ends by exit, by quick_exit
// or by returning from main.
void process_at_exit(void);

#endif
