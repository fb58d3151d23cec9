// A program that changes its environment before and after it loads the driver library,
// and prints the compute capability and the version that the library then reports.

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int major = 0, minor = 0, version = 0;
	if (argc != 2)
		return 2;
	setenv("GEMU_SM", "9.0", 1);
	setenv("GEMU_DRIVER", "13.0", 1);
	void *lib = dlopen(argv[1], RTLD_NOW);
	setenv("GEMU_SM", "8.0", 1);
	if (lib == NULL) {
		printf("%s\n", dlerror());
		return 1;
	}
	int (*init)(unsigned), (*capability)(int *, int *, int), (*driver_version)(int *);
	*(void **)&init = dlsym(lib, "cuInit");
	*(void **)&capability = dlsym(lib, "cuDeviceComputeCapability");
	*(void **)&driver_version = dlsym(lib, "cuDriverGetVersion");
	if (init(0) != 0 || capability(&major, &minor, 0) != 0 || driver_version(&version) != 0)
		return 1;
	printf("%d.%d %d\n", major, minor, version);
	return 0;
}
