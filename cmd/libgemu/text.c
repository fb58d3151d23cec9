// Functions that return a text: the call into Go returns a number. A child of fork does not enter Go.

#include <string.h>

#include "_cgo_export.h"

const char *gemu_last_error(void)
{
	char *text;
	return last_error(&text) == 0 ? text : "gemu does not work in a child of fork that has not called exec";
}

char *gemu_statistics(void)
{
	char *text;
	return statistics(&text) == 0 ? text : strdup("{}");
}
