// Functions that work in a child of fork: gemu_abi_version, gemu_release, and those that return a text. In such a child, a call into Go
// returns process_forked instead of entering Go (see cmd/internal/process): then the text is a constant.

#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"

#ifdef _WIN32 // Go exports its own functions
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED
#endif

EXPORTED int gemu_abi_version(void) { return GEMU_ABI_VERSION; }

EXPORTED void gemu_release(void *memory) { free(memory); }

EXPORTED const char *gemu_last_error(void)
{
	char *text;
	return last_error(&text) == 0 ? text : "gemu does not work in a child of fork that has not called exec";
}

EXPORTED char *gemu_statistics(void)
{
	char *text;
	return statistics(&text) == 0 ? text : strdup("{}");
}
