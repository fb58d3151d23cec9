// Kernels: attributes, occupancy and libraries.

#include <pthread.h>

#include "cudart.h"

// RETURN_FOR_KERNEL returns the result of a driver call that uses k, the kernel of a host function.
#define RETURN_FOR_KERNEL(function, call)             \
	do {                                          \
		CUkernel k;                           \
		ENTER();                              \
		int r_ = kernel_of(function, &k);     \
		return RESULT(r_ != 0 ? r_ : (call)); \
	} while (0)

static int read_attributes(struct cudaFuncAttributes *a, CUkernel k)
{
	*a = (struct cudaFuncAttributes){0};
	int shared = 0, constant = 0, local = 0;
	int *to[] = {
		&a->maxThreadsPerBlock, &shared, &constant, &local, &a->numRegs, &a->ptxVersion, &a->binaryVersion, &a->cacheModeCA,
		&a->maxDynamicSharedSizeBytes, &a->preferredShmemCarveout, &a->clusterDimMustBeSet,
		&a->requiredClusterWidth, &a->requiredClusterHeight, &a->requiredClusterDepth,
		&a->nonPortableClusterSizeAllowed, &a->clusterSchedulingPolicyPreference,
	}; // by CUfunction_attribute
	for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
		int r = cuFuncGetAttribute(to[i], i, k);
		if (r != 0)
			return r;
	}
	a->sharedSizeBytes = shared;
	a->constSizeBytes = constant;
	a->localSizeBytes = local;
	return 0;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *f)
{
	if (a == NULL)
		return RESULT(invalidValue);
	RETURN_FOR_KERNEL(f, read_attributes(a, k));
}

cudaError_t cudaFuncSetAttribute(const void *f, int attribute, int value) { RETURN_FOR_KERNEL(f, cuFuncSetAttribute(k, attribute, value)); }
cudaError_t cudaFuncSetCacheConfig(const void *f, int config) { RETURN_FOR_KERNEL(f, cuFuncSetCacheConfig(k, config)); }
cudaError_t cudaFuncSetSharedMemConfig(const void *f, int config) { RETURN_FOR_KERNEL(f, cuFuncSetSharedMemConfig(k, config)); }
cudaError_t cudaFuncGetName(const char **name, const void *f) { RETURN_FOR_KERNEL(f, cuKernelGetName((char **)name, k)); }
cudaError_t cudaFuncGetParamInfo(const void *f, size_t i, size_t *offset, size_t *size) { RETURN_FOR_KERNEL(f, cuKernelGetParamInfo(k, i, offset, size)); }

#if MAJOR >= 13
static int count_parameters(CUkernel k, size_t *n)
{
	size_t offset, size;
	for (*n = 0; cuKernelGetParamInfo(k, *n, &offset, &size) == 0;)
		++*n;
	return 0;
}

cudaError_t cudaFuncGetParamCount(const void *f, size_t *n) { RETURN_FOR_KERNEL(f, n == NULL ? invalidValue : count_parameters(k, n)); }
#endif

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t k, int attribute, int value, int device) { RETURN(cuKernelSetAttribute(attribute, value, k, device)); }

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *f, int threads, size_t shared) { RETURN_FOR_KERNEL(f, cuOccupancyMaxActiveBlocksPerMultiprocessor(n, k, threads, shared)); }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *f, int threads, size_t shared, unsigned flags) { RETURN_FOR_KERNEL(f, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(n, k, threads, shared, flags)); }
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *size, const void *f, int blocks, int threads) { RETURN_FOR_KERNEL(f, cuOccupancyAvailableDynamicSMemPerBlock(size, k, blocks, threads)); }

int launch_config(const cudaLaunchConfig_t *c, CUlaunchConfig *to)
{
	if (c == NULL || c->dynamicSmemBytes > UINT32_MAX)
		return invalidValue;
	*to = (CUlaunchConfig){
		c->gridDim.x, c->gridDim.y, c->gridDim.z, c->blockDim.x, c->blockDim.y, c->blockDim.z,
		c->dynamicSmemBytes, c->stream, (CUlaunchAttribute *)c->attrs, c->numAttrs,
	};
	return 0;
}

cudaError_t cudaOccupancyMaxActiveClusters(int *n, const void *f, const cudaLaunchConfig_t *c)
{
	CUlaunchConfig config;
	int r = launch_config(c, &config);
	if (r != 0)
		return RESULT(r);
	RETURN_FOR_KERNEL(f, cuOccupancyMaxActiveClusters(n, k, &config));
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *n, const void *f, const cudaLaunchConfig_t *c)
{
	CUlaunchConfig config;
	int r = launch_config(c, &config);
	if (r != 0)
		return RESULT(r);
	RETURN_FOR_KERNEL(f, cuOccupancyMaxPotentialClusterSize(n, k, &config));
}

// limits holds the limits of launches by CUdevice_attribute. All devices are equal.
static int limits[8];
static int limits_result; // result of querying the limits
static pthread_once_t limits_once = PTHREAD_ONCE_INIT;

static void query_limits(void)
{
	for (int i = 1; limits_result == 0 && i <= 7; i++)
		limits_result = cuDeviceGetAttribute(&limits[i], i, 0);
}

int check_extent(dim3 grid, dim3 block)
{
	pthread_once(&limits_once, query_limits);
	if (limits_result != 0)
		return limits_result;
	const unsigned extents[] = {block.x, block.y, block.z, grid.x, grid.y, grid.z};
	int fits = (uint64_t)block.x * block.y * block.z <= (uint64_t)limits[1];
	for (int i = 0; i < 6; i++)
		fits = fits && extents[i] != 0 && extents[i] <= (unsigned)limits[i + 2];
	if (fits)
		return 0;
	int r = check_context();
	return r != 0 ? r : invalidConfiguration;
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t *l, const void *code, int *options, void **values, unsigned n, int *libraryOptions, void **libraryValues, unsigned libraryN)
{
	RETURN(cuLibraryLoadData(l, (void *)code, options, values, n, libraryOptions, libraryValues, libraryN));
}
cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *l, const char *file, int *options, void **values, unsigned n, int *libraryOptions, void **libraryValues, unsigned libraryN)
{
	if (file == NULL)
		return RESULT(invalidValue);
	RETURN(cuLibraryLoadFromFile(l, (char *)file, options, values, n, libraryOptions, libraryValues, libraryN));
}
cudaError_t cudaLibraryUnload(cudaLibrary_t l) { RETURN(cuLibraryUnload(l)); }
cudaError_t cudaLibraryGetKernel(cudaKernel_t *k, cudaLibrary_t l, const char *name) { RETURN(name == NULL ? invalidValue : cuLibraryGetKernel(k, l, (char *)name)); }
cudaError_t cudaLibraryGetKernelCount(unsigned *n, cudaLibrary_t l) { RETURN(cuLibraryGetKernelCount(n, l)); }
cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *list, unsigned n, cudaLibrary_t l) { RETURN(cuLibraryEnumerateKernels(list, n, l)); }
cudaError_t cudaLibraryGetGlobal(void **p, size_t *size, cudaLibrary_t l, const char *name) { RETURN(name == NULL ? invalidValue : cuLibraryGetGlobal((CUdeviceptr *)p, size, l, (char *)name)); }

// The host can access the managed variables of a library.
cudaError_t cudaLibraryGetManaged(void **p, size_t *size, cudaLibrary_t l, const char *name)
{
	enum { isManaged = 8 };
	CUdeviceptr addr;
	size_t n;
	unsigned char is_managed = 0;
	ENTER();
	int r = name == NULL ? invalidValue : cuLibraryGetGlobal(&addr, &n, l, (char *)name);
	if (r == 0 && (cuPointerGetAttribute(&is_managed, isManaged, addr) != 0 || !is_managed))
		r = symbolNotFound;
	if (r == 0 && p != NULL)
		*p = pointer(addr);
	if (r == 0 && size != NULL)
		*size = n;
	return RESULT(r);
}
