// A substitute for NVIDIA's linker in the tests: its LTO-IR is four bytes followed by PTX. It returns the PTX
// of the last input, and refuses an empty input, or none.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_(name, major) __nvJitLink##name##_##major##_0
#define JOIN(name, major) JOIN_(name, major)
#define NAME(name) JOIN(name, MAJOR)

enum { success, unrecognized_option, missing_arch, invalid_input, LTOIR = 3 };

static char text[1000];

int NAME(Create)(void **link, uint32_t n, const char **options)
{
	int lto = 0, ptx = 0, arch = 0;
	for (uint32_t i = 0; i < n; i++) {
		lto += strcmp(options[i], "-lto") == 0;
		ptx += strcmp(options[i], "-ptx") == 0;
		arch += strcmp(options[i], "-arch=sm_90a") == 0;
	}
	*link = text;
	text[0] = 0;
	return lto == 1 && ptx == 1 && arch == 1 ? success : unrecognized_option;
}

int NAME(AddData)(void *link, int kind, const void *data, size_t size, const char *name)
{
	(void)name;
	if (link != text || kind != LTOIR || size <= 4)
		return invalid_input;
	return snprintf(text, sizeof text, "%.*s", (int)size - 4, (const char *)data + 4) > 0 ? success : invalid_input;
}

int NAME(Complete)(void *link) { return link == text && text[0] != 0 ? success : invalid_input; }

int NAME(GetLinkedPtxSize)(void *link, size_t *size)
{
	*size = strlen(link) + 1;
	return success;
}

int NAME(GetLinkedPtx)(void *link, char *to)
{
	strcpy(to, link);
	return success;
}

static const char log[] = "this is empty";

int NAME(GetErrorLogSize)(void *link, size_t *size)
{
	(void)link;
	*size = sizeof log;
	return success;
}

int NAME(GetErrorLog)(void *link, char *to)
{
	(void)link;
	strcpy(to, log);
	return success;
}

int NAME(Destroy)(void **link)
{
	*link = NULL;
	return success;
}
