#include "environment.h"

#include <stdlib.h>
#include <string.h>

// The program may change the environment at any time from another thread. Therefore the variables are copied while the
// library is loaded: the loading thread waits for that.
#ifndef _WIN32 // there, stdlib.h defines it
extern char **environ;
#endif

static char **variables; // each NAME=VALUE; NULL-terminated

__attribute__((constructor)) static void copy_environment(void)
{
	size_t n = 0;
	while (environ != NULL && environ[n] != NULL)
		n++;
	variables = calloc(n + 1, sizeof *variables);
	if (variables == NULL)
		abort();
	for (size_t i = 0; i < n; i++)
		if ((variables[i] = strdup(environ[i])) == NULL)
			abort();
}

const char *process_getenv(const char *name)
{
	size_t length = strlen(name);
	for (char **v = variables; *v != NULL; v++)
		if (strncmp(*v, name, length) == 0 && (*v)[length] == '=')
			return *v + length + 1;
	return NULL;
}
