#include "thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"

// ended is a thread that has ended, as an element of a list.
struct ended {
	uint64_t number;
	struct ended *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;    // makes key
static pthread_once_t started = PTHREAD_ONCE_INIT; // waits until Go has started
static pthread_key_t key; // each thread's struct ended
static struct ended *list;
static uint64_t last;
static int forked;

static void end(void *p)
{
	struct ended *e = p;
	pthread_mutex_lock(&mutex);
	e->next = list;
	list = e;
	pthread_mutex_unlock(&mutex);
}

extern void (*x_crosscall2_ptr)(void (*)(void *), void *, int, size_t); // of runtime/cgo: enters Go at the end of a thread

static void in_child(void)
{
	forked = 1;
	x_crosscall2_ptr = NULL;
	mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; // another thread may have held it at the fork
}

// A call into Go waits until Go has started, which happens in a separate thread when the library is loaded. A child of
// fork would wait for ever.
static void before_fork(void) { pthread_once(&started, process_started); }

// A child forked before the first call also lacks Go's threads.
__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(before_fork, NULL, in_child); }

void __real_crosscall2(void (*)(void *), void *, int, size_t);

// __wrap_crosscall2 is the function by which cgo enters Go (linker option -wrap). The n bytes at a are the arguments,
// followed by the result, an int. A child of fork lacks Go's threads, and any lock of the runtime may be held for ever.
// So in a child a call does not enter Go, and its result, if any, is process_forked.
void __wrap_crosscall2(void (*fn)(void *), void *a, int n, size_t context)
{
	const int32_t result = process_forked;
	if (!forked)
		__real_crosscall2(fn, a, n, context);
	else if (n >= (int)sizeof result)
		memcpy((char *)a + n - sizeof result, &result, sizeof result);
}

static void make_key(void) { pthread_key_create(&key, end); }

void process_enter(void)
{
	enum { size = 64 << 10 };
	stack_t stack;
	if (sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_DISABLE) != 0) {
		// never freed: few threads lose their stack, and a signal may come at any time
		stack = (stack_t){.ss_sp = malloc(size), .ss_size = size};
		if (stack.ss_sp == NULL || sigaltstack(&stack, NULL) != 0)
			abort();
	}
}

uint64_t process_thread(void)
{
	pthread_once(&once, make_key);
	struct ended *e = pthread_getspecific(key);
	if (e == NULL) {
		e = malloc(sizeof *e);
		if (e == NULL)
			abort();
		pthread_mutex_lock(&mutex);
		e->number = ++last;
		pthread_mutex_unlock(&mutex);
		pthread_setspecific(key, e);
	}
	return e->number;
}

uint64_t process_thread_ended(void)
{
	uint64_t number = 0;
	pthread_mutex_lock(&mutex);
	struct ended *e = list;
	if (e != NULL) {
		number = e->number;
		list = e->next;
	}
	pthread_mutex_unlock(&mutex);
	free(e);
	return number;
}

static void run_exit(void)
{
	process_enter();
	process_exit();
}

// The process may end by exit and by quick_exit, and each may be called in a handler of the second.
static void at_exit(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, run_exit);
}

void process_at_exit(void)
{
	atexit(at_exit);
#ifdef __linux__
	at_quick_exit(at_exit);
#endif
}
