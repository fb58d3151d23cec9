#include "thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "_cgo_export.h"

// ended is a thread that has ended: an element of a list.
struct ended {
	uint64_t number;
	struct ended *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; // of a thread's struct ended
static struct ended *list;
static uint64_t last;
static pid_t process;

static void end(void *p)
{
	struct ended *e = p;
	pthread_mutex_lock(&mutex);
	e->next = list;
	list = e;
	pthread_mutex_unlock(&mutex);
}

static void make_key(void) { pthread_key_create(&key, end); }

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

// at_exit does nothing in a child of fork: there the driver is not alive.
static void at_exit(void)
{
	if (getpid() == process)
		process_exit();
}

void process_at_exit(void)
{
	process = getpid();
	atexit(at_exit);
}
