#include "thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "_cgo_export.h"

// thread is a thread with a number. After its end it is an element of the list of ended threads.
struct thread {
	uint64_t number;
	struct thread *next; // next element of the list
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // guards ended_threads and last
static pthread_once_t once = PTHREAD_ONCE_INIT;    // makes key
static pthread_key_t key; // each thread's struct thread
static struct thread *ended_threads;
static uint64_t last; // the last number of a thread

// end_thread runs at the end of a thread: it puts the thread into the list of ended threads.
static void end_thread(void *p)
{
	struct thread *t = p;
	pthread_mutex_lock(&mutex);
	t->next = ended_threads;
	ended_threads = t;
	pthread_mutex_unlock(&mutex);
}

#ifndef _WIN32 // Windows has neither fork nor signal stacks
static int forked;                                 // 1 in a child of fork
static pthread_once_t started = PTHREAD_ONCE_INIT; // waits until Go has started

// x_crosscall2_ptr is a variable of runtime/cgo: the function that enters Go at the end of a thread. NULL: none.
extern void (*x_crosscall2_ptr)(void (*)(void *), void *, int, size_t);

static void in_child(void)
{
	forked = 1;
	x_crosscall2_ptr = NULL;
	mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; // another thread may have held it at the fork
}

// before_fork waits until Go has started, which happens in a separate thread when the library is loaded. A child that is
// forked earlier lacks that thread, and would wait for Go for ever.
static void before_fork(void) { pthread_once(&started, process_started); }

// watch_forks runs when the library is loaded, not at the first call: a child forked before the first call lacks Go's
// threads, too.
__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(before_fork, NULL, in_child); }

static _Thread_local int inside; // calls of the library that have not returned, in this thread

void __real_crosscall2(void (*)(void *), void *, int, size_t);

// __wrap_crosscall2 replaces crosscall2, the function by which cgo enters Go (linker option -wrap). The n bytes at a are
// the arguments, followed by the result, an int. A child of fork lacks Go's threads, and any lock of the runtime may be
// held for ever. Therefore a call in a child does not enter Go. Its result, if it has one, is process_forked.
void __wrap_crosscall2(void (*fn)(void *), void *a, int n, size_t context)
{
	const int32_t result = process_forked;
	if (!forked) {
		inside++;
		__real_crosscall2(fn, a, n, context);
		inside--;
	} else if (n >= (int)sizeof result)
		memcpy((char *)a + n - sizeof result, &result, sizeof result);
}
#endif

static void make_key(void) { pthread_key_create(&key, end_thread); }

void process_enter(void)
{
#ifndef _WIN32
	enum { size = 64 << 10 };
	stack_t stack;
	if (sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_DISABLE) != 0) {
		// The stack is never freed, because a signal may come at any time. Few threads lose their stack.
		stack = (stack_t){.ss_sp = malloc(size), .ss_size = size};
		if (stack.ss_sp == NULL || sigaltstack(&stack, NULL) != 0)
			abort();
	}
#endif
}

uint64_t process_thread(void)
{
	pthread_once(&once, make_key);
	struct thread *t = pthread_getspecific(key);
	if (t == NULL) {
		t = malloc(sizeof *t);
		if (t == NULL)
			abort();
		pthread_mutex_lock(&mutex);
		t->number = ++last;
		pthread_mutex_unlock(&mutex);
		pthread_setspecific(key, t);
	}
	return t->number;
}

uint64_t process_thread_ended(void)
{
	uint64_t number = 0;
	pthread_mutex_lock(&mutex);
	struct thread *t = ended_threads;
	if (t != NULL) {
		number = t->number;
		ended_threads = t->next;
	}
	pthread_mutex_unlock(&mutex);
	free(t);
	return number;
}

static volatile int ending; // 1: run_exit has begun

static void run_exit(void)
{
	ending = 1;
	process_enter();
	process_exit();
}

// at_exit ends the driver once. It may be called twice: the process may end by exit or by quick_exit, and a handler of one
// may call the other.
static void at_exit(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, run_exit);
}

static pid_t user; // the process that has registered at_exit; 0: none

// may_enter reports whether this thread can call the library: a signal handler cannot if it has interrupted a call, or runs on
// the alternate stack, which Go does not know as the stack of the thread.
static int may_enter(void)
{
#ifdef _WIN32
	return 1;
#else
	stack_t stack;
	return inside == 0 && (sigaltstack(NULL, &stack) != 0 || (stack.ss_flags & SS_ONSTACK) == 0);
#endif
}

void process_exit_now(void)
{
	// user is another process in a child of fork. process_exit itself may end the process by _exit.
	if (user == getpid() && !ending && may_enter())
		at_exit();
}

void process_at_exit(void)
{
	user = getpid();
	atexit(at_exit);
#ifdef __linux__
	at_quick_exit(at_exit);
#endif
}
