// libredirect.so is both an audit library of the loader and a preloaded library (LD_AUDIT, LD_PRELOAD): gemu exec sets both.
//
// The loader's audit interface (rtld-audit(7)): la_objsearch is called for each name under which the loader looks for a library,
// by dlopen or for another library, also with a path or a run path. If gemu has a library with this file name in the directory of
// this library, the loader takes it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

// names are the libraries that programs bring with them, in places that precede LD_LIBRARY_PATH.
static const char *const names[] = {
	"libcuda.so.1", "libcuda.so", "libcudart.so.12", "libcudart.so.13", "libnvJitLink.so.12", "libnvJitLink.so.13",
};

enum { count = sizeof names / sizeof names[0] };

static char directory[PATH_MAX];          // of this library, with a slash at the end
static char paths[count][PATH_MAX + 32];  // of gemu's libraries; "": gemu has none

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash == NULL ? path : slash + 1;
}

EXPORT unsigned la_version(unsigned version)
{
	Dl_info self;
	if (dladdr(names, &self) == 0 || self.dli_fname == NULL || realpath(self.dli_fname, directory) == NULL)
		return 0; // the loader unloads this library
	*(char *)(file_name(directory)) = '\0';
	for (int i = 0; i < count; i++) {
		snprintf(paths[i], sizeof paths[i], "%s%s", directory, names[i]);
		FILE *library = fopen(paths[i], "re");
		if (library == NULL)
			paths[i][0] = '\0';
		else
			fclose(library);
	}
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

// la_objopen marks gemu's own libraries by their cookie: gemu's nvJitLink loads NVIDIA's library of the same name.
EXPORT unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	(void)space;
	char path[PATH_MAX];
	*cookie = realpath(map->l_name, path) != NULL && strncmp(path, directory, strlen(directory)) == 0;
	return 0; // no audit of symbols
}

// la_objsearch returns the path that the loader tries for a name. The loader calls it again for each directory in which it
// looks, so only the original name is replaced. cookie is that of the library that needs the name, or calls dlopen.
EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
	if (flag != LA_SER_ORIG || *cookie != 0)
		return (char *)name;
	const char *file = file_name(name);
	for (int i = 0; i < count; i++)
		if (paths[i][0] != '\0' && strcmp(file, names[i]) == 0)
			return paths[i];
	return (char *)name;
}

// end_driver ends gemu's driver, if this process has used it, as the exit handlers of libcuda.so.1 do.
static void end_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (library == NULL)
		return;
	void (*end)(void);
	*(void **)&end = dlsym(library, "process_exit_now"); // NULL: another library of this name
	if (end != NULL)
		end();
}

// _exit replaces that of the C library in programs that preload this library, because it calls no exit handlers. Python's
// multiprocessing ends its processes by _exit.
EXPORT void _exit(int status)
{
	end_driver();
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORT void _Exit(int status) { _exit(status); }
