// Devices: properties, limits and peer access.

#include <stdint.h>
#include <string.h>

#include "cudart.h"

// Members of a cudaDeviceProp, each with the number of the driver's attribute that is its value. The elements of an array
// have consecutive attributes.
#define MEMBER(attribute, member) {attribute, offsetof(struct cudaDeviceProp, member), sizeof(((struct cudaDeviceProp *)0)->member), 0}
#define WIDE(attribute, member) {attribute, offsetof(struct cudaDeviceProp, member), sizeof(size_t), 1}

static const struct {
	int attribute;
	size_t offset, bytes;
	int wide; // the member is a size_t
} members[] = {
	WIDE(8, sharedMemPerBlock),
	MEMBER(12, regsPerBlock),
	MEMBER(10, warpSize),
	WIDE(11, memPitch),
	MEMBER(1, maxThreadsPerBlock),
	MEMBER(2, maxThreadsDim),
	MEMBER(5, maxGridSize),
	ONLY12(MEMBER(13, clockRate), )
	WIDE(9, totalConstMem),
	MEMBER(75, major),
	MEMBER(76, minor),
	WIDE(14, textureAlignment),
	WIDE(51, texturePitchAlignment),
	ONLY12(MEMBER(15, deviceOverlap), )
	MEMBER(16, multiProcessorCount),
	ONLY12(MEMBER(17, kernelExecTimeoutEnabled), )
	MEMBER(18, integrated),
	MEMBER(19, canMapHostMemory),
	ONLY12(MEMBER(20, computeMode), )
	MEMBER(21, maxTexture1D),
	MEMBER(77, maxTexture1DMipmap),
	ONLY12(MEMBER(69, maxTexture1DLinear), )
	MEMBER(22, maxTexture2D),
	MEMBER(73, maxTexture2DMipmap),
	MEMBER(70, maxTexture2DLinear),
	MEMBER(45, maxTexture2DGather),
	MEMBER(24, maxTexture3D),
	MEMBER(47, maxTexture3DAlt),
	MEMBER(52, maxTextureCubemap),
	MEMBER(42, maxTexture1DLayered),
	MEMBER(27, maxTexture2DLayered),
	MEMBER(53, maxTextureCubemapLayered),
	MEMBER(55, maxSurface1D),
	MEMBER(56, maxSurface2D),
	MEMBER(58, maxSurface3D),
	MEMBER(61, maxSurface1DLayered),
	MEMBER(63, maxSurface2DLayered),
	MEMBER(66, maxSurfaceCubemap),
	MEMBER(67, maxSurfaceCubemapLayered),
	WIDE(30, surfaceAlignment),
	MEMBER(31, concurrentKernels),
	MEMBER(32, ECCEnabled),
	MEMBER(33, pciBusID),
	MEMBER(34, pciDeviceID),
	MEMBER(50, pciDomainID),
	MEMBER(35, tccDriver),
	MEMBER(40, asyncEngineCount),
	MEMBER(41, unifiedAddressing),
	ONLY12(MEMBER(36, memoryClockRate), )
	MEMBER(37, memoryBusWidth),
	MEMBER(38, l2CacheSize),
	MEMBER(108, persistingL2CacheMaxSize),
	MEMBER(39, maxThreadsPerMultiProcessor),
	MEMBER(78, streamPrioritiesSupported),
	MEMBER(79, globalL1CacheSupported),
	MEMBER(80, localL1CacheSupported),
	WIDE(81, sharedMemPerMultiprocessor),
	MEMBER(82, regsPerMultiprocessor),
	MEMBER(83, managedMemory),
	MEMBER(84, isMultiGpuBoard),
	MEMBER(85, multiGpuBoardGroupID),
	MEMBER(86, hostNativeAtomicSupported),
	ONLY12(MEMBER(87, singleToDoublePrecisionPerfRatio), )
	MEMBER(88, pageableMemoryAccess),
	MEMBER(89, concurrentManagedAccess),
	MEMBER(90, computePreemptionSupported),
	MEMBER(91, canUseHostPointerForRegisteredMem),
	MEMBER(95, cooperativeLaunch),
	ONLY12(MEMBER(96, cooperativeMultiDeviceLaunch), )
	WIDE(97, sharedMemPerBlockOptin),
	MEMBER(100, pageableMemoryAccessUsesHostPageTables),
	MEMBER(101, directManagedMemAccessFromHost),
	MEMBER(106, maxBlocksPerMultiProcessor),
	MEMBER(109, accessPolicyMaxWindowSize),
	WIDE(111, reservedSharedMemPerBlock),
	MEMBER(99, hostRegisterSupported),
	MEMBER(112, sparseCudaArraySupported),
	MEMBER(113, hostRegisterReadOnlySupported),
	MEMBER(114, timelineSemaphoreInteropSupported),
	MEMBER(115, memoryPoolsSupported),
	MEMBER(116, gpuDirectRDMASupported),
	MEMBER(117, gpuDirectRDMAFlushWritesOptions),
	MEMBER(118, gpuDirectRDMAWritesOrdering),
	MEMBER(119, memoryPoolSupportedHandleTypes),
	MEMBER(121, deferredMappingCudaArraySupported),
	MEMBER(125, ipcEventSupported),
	MEMBER(120, clusterLaunch),
	MEMBER(129, unifiedFunctionPointers),
	ONLY13(MEMBER(130, deviceNumaConfig), )
	ONLY13(MEMBER(131, deviceNumaId), )
	ONLY13(MEMBER(133, mpsEnabled), )
	ONLY13(MEMBER(134, hostNumaId), )
	ONLY13(MEMBER(139, gpuPciDeviceID), )
	ONLY13(MEMBER(140, gpuPciSubsystemID), )
	ONLY13(MEMBER(143, hostNumaMultinodeIpcSupported), )
};

static int read_properties(struct cudaDeviceProp *p, int device)
{
	*p = (struct cudaDeviceProp){0};
	int r = start();
	if (r == 0)
		r = cuDeviceGetName(p->name, sizeof p->name, device);
	if (r == 0)
		r = cuDeviceGetUuid((CUuuid *)&p->uuid, device);
	if (r == 0)
		r = cuDeviceTotalMem_v2(&p->totalGlobalMem, device);
	for (size_t i = 0; r == 0 && i < sizeof members / sizeof *members; i++) {
		char *to = (char *)p + members[i].offset;
		if (members[i].wide) {
			int value;
			r = cuDeviceGetAttribute(&value, members[i].attribute, device);
			*(size_t *)to = value;
			continue;
		}
		for (size_t j = 0; r == 0 && j < members[i].bytes / sizeof(int); j++)
			r = cuDeviceGetAttribute((int *)to + j, members[i].attribute + j, device);
	}
	return r;
}

#if MAJOR == 12
cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *p, int device)
#else
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
#endif
{
	return RESULT(p == NULL ? invalidValue : read_properties(p, device));
}

#if MAJOR == 12
// Programs built before version 12 have a shorter structure, which ends before hostRegisterSupported.
cudaError_t cudaGetDeviceProperties(void *p, int device)
{
	struct cudaDeviceProp all;
	if (p == NULL)
		return RESULT(invalidValue);
	int r = read_properties(&all, device);
	if (r == 0)
		memcpy(p, &all, offsetof(struct cudaDeviceProp, hostRegisterSupported));
	return RESULT(r);
}
#endif

// All devices have the same properties, so the current device is as good as any other.
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *properties)
{
	if (device == NULL || properties == NULL)
		return RESULT(invalidValue);
	return RESULT(current_device(device));
}

// RETURN_WITHOUT_CONTEXT returns the result of a driver call that needs no context. If valid is 0, the result is
// invalidValue.
#define RETURN_WITHOUT_CONTEXT(valid, call)                \
	do {                                               \
		int r_ = (valid) ? start() : invalidValue; \
		return RESULT(r_ != 0 ? r_ : (call));      \
	} while (0)

cudaError_t cudaDeviceGetAttribute(int *value, int attribute, int device) { RETURN_WITHOUT_CONTEXT(value != NULL, cuDeviceGetAttribute(value, attribute, device)); }
cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id) { RETURN_WITHOUT_CONTEXT(device != NULL && id != NULL, cuDeviceGetByPCIBusId(device, (char *)id)); }
cudaError_t cudaDeviceGetPCIBusId(char *id, int n, int device) { RETURN_WITHOUT_CONTEXT(id != NULL, cuDeviceGetPCIBusId(id, n, device)); }
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) { RETURN_WITHOUT_CONTEXT(can != NULL, cuDeviceCanAccessPeer(can, device, peer)); }
cudaError_t cudaDeviceGetP2PAttribute(int *value, int attribute, int from, int to) { RETURN_WITHOUT_CONTEXT(value != NULL, cuDeviceGetP2PAttribute(value, attribute, from, to)); }
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) { RETURN_WITHOUT_CONTEXT(pool != NULL, cuDeviceGetDefaultMemPool(pool, device)); }
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) { RETURN_WITHOUT_CONTEXT(pool != NULL, cuDeviceGetMemPool(pool, device)); }
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) { RETURN_WITHOUT_CONTEXT(1, cuDeviceSetMemPool(device, pool)); }

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *width, const struct cudaChannelFormatDesc *desc, int device)
{
	unsigned format, channels;
	if (width == NULL || desc == NULL)
		return RESULT(invalidValue);
	int r = format_of(desc, &format, &channels);
	if (r == 0)
		r = start();
	return RESULT(r != 0 ? r : cuDeviceGetTexture1DLinearMaxWidth(width, format, channels, device));
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
	CUcontext c;
	ENTER();
	int r = primary_context(peer, &c);
	return RESULT(r != 0 ? r : cuCtxEnablePeerAccess(c, flags));
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
	CUcontext c;
	ENTER();
	int r = primary_context(peer, &c);
	return RESULT(r != 0 ? r : cuCtxDisablePeerAccess(c));
}

cudaError_t cudaDeviceGetLimit(size_t *value, int limit) { RETURN(cuCtxGetLimit(value, limit)); }
cudaError_t cudaDeviceSetLimit(int limit, size_t value) { RETURN(cuCtxSetLimit(limit, value)); }
cudaError_t cudaDeviceGetCacheConfig(int *config) { RETURN(cuCtxGetCacheConfig(config)); }
cudaError_t cudaDeviceSetCacheConfig(int config) { RETURN(cuCtxSetCacheConfig(config)); }
cudaError_t cudaDeviceGetSharedMemConfig(int *config) { RETURN(cuCtxGetSharedMemConfig(config)); }
cudaError_t cudaDeviceSetSharedMemConfig(int config) { RETURN(cuCtxSetSharedMemConfig(config)); }
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { RETURN(cuCtxGetStreamPriorityRange(least, greatest)); }
cudaError_t cudaCtxResetPersistingL2Cache(void) { RETURN(cuCtxResetPersistingL2Cache()); }

#if MAJOR == 12
cudaError_t cudaThreadGetLimit(size_t *value, int limit) { return cudaDeviceGetLimit(value, limit); }
cudaError_t cudaThreadSetLimit(int limit, size_t value) { return cudaDeviceSetLimit(limit, value); }
cudaError_t cudaThreadGetCacheConfig(int *config) { return cudaDeviceGetCacheConfig(config); }
cudaError_t cudaThreadSetCacheConfig(int config) { return cudaDeviceSetCacheConfig(config); }

// Devices support double precision, so no conversion is needed.
cudaError_t cudaSetDoubleForDevice(double *d) { return RESULT(d == NULL ? invalidValue : 0); }
cudaError_t cudaSetDoubleForHost(double *d) { return RESULT(d == NULL ? invalidValue : 0); }
#endif
