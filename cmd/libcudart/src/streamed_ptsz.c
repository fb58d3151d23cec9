// See streamed.c.

#define PER_THREAD
#include "streamed.c"
