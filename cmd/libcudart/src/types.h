// The types of the CUDA runtime API for the functions of this library, as far as the binary interface needs them:
// handles are 64-bit numbers, which C passes like pointers; enums are ints. Structures and members have CUDA's names,
// so that a program can compare both layouts (testdata/layout.c). MAJOR is the version of CUDA.

#ifndef GEMU_CUDART_TYPES_H
#define GEMU_CUDART_TYPES_H

#include <stddef.h>
#include <stdint.h>

#if MAJOR != 12 && MAJOR != 13
#error "MAJOR is 12 or 13"
#endif

// VERSION is the CUDART_VERSION of the corresponding headers.
#if MAJOR == 12
#define VERSION 12090
#else
#define VERSION 13050
#endif

typedef int cudaError_t;
typedef uint64_t cudaStream_t, cudaEvent_t, cudaArray_t, cudaMipmappedArray_t, cudaMemPool_t;
typedef uint64_t cudaGraph_t, cudaGraphNode_t, cudaGraphExec_t, cudaGraphConditionalHandle;
typedef uint64_t cudaFunction_t, cudaKernel_t, cudaLibrary_t;
typedef uint64_t cudaTextureObject_t, cudaSurfaceObject_t, cudaUserObject_t;
typedef void (*cudaHostFn_t)(void *user);

typedef struct { unsigned x, y, z; } dim3;

struct cudaChannelFormatDesc { int x, y, z, w, f; };
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };

struct cudaMemcpy3DParms {
	cudaArray_t srcArray;
	struct cudaPos srcPos;
	struct cudaPitchedPtr srcPtr;
	cudaArray_t dstArray;
	struct cudaPos dstPos;
	struct cudaPitchedPtr dstPtr;
	struct cudaExtent extent;
	int kind;
};

struct cudaMemcpy3DPeerParms {
	cudaArray_t srcArray;
	struct cudaPos srcPos;
	struct cudaPitchedPtr srcPtr;
	int srcDevice;
	cudaArray_t dstArray;
	struct cudaPos dstPos;
	struct cudaPitchedPtr dstPtr;
	int dstDevice;
	struct cudaExtent extent;
};

struct cudaMemsetParams {
	void *dst;
	size_t pitch;
	unsigned value, elementSize;
	size_t width, height;
};

struct cudaHostNodeParams {
	void (*fn)(void *);
	void *userData;
};

struct cudaKernelNodeParams {
	void *func;
	dim3 gridDim, blockDim;
	unsigned sharedMemBytes;
	void **kernelParams, **extra;
};

struct cudaConditionalNodeParams {
	cudaGraphConditionalHandle handle;
	int type;
	unsigned size;
	cudaGraph_t *phGraph_out;
#if MAJOR >= 13
	uint64_t ctx;
#endif
};

struct cudaMemcpyNodeParams {
	int flags, reserved;
	uint64_t ctx;
	struct cudaMemcpy3DParms copyParams;
};

typedef struct {
	unsigned char from_port, to_port, type, reserved[5];
} cudaGraphEdgeData;

typedef struct {
	int result;
	cudaGraphNode_t errorNode, errorFromNode;
} cudaGraphExecUpdateResultInfo;

typedef struct {
	unsigned long long flags;
	cudaStream_t uploadStream;
	cudaGraphNode_t errNode_out;
	int result_out;
} cudaGraphInstantiateParams;

struct cudaResourceDesc {
	int resType;
	union {
		struct { cudaArray_t array; } array;
		struct { cudaMipmappedArray_t mipmap; } mipmap;
		struct {
			void *devPtr;
			struct cudaChannelFormatDesc desc;
			size_t sizeInBytes;
		} linear;
		struct {
			void *devPtr;
			struct cudaChannelFormatDesc desc;
			size_t width, height, pitchInBytes;
		} pitch2D;
#if MAJOR >= 13
		struct { int reserved[32]; } reserved;
#endif
	} res;
#if MAJOR >= 13
	unsigned flags;
#endif
};

struct cudaTextureDesc {
	int addressMode[3];
	int filterMode, readMode, sRGB;
	float borderColor[4];
	int normalizedCoords;
	unsigned maxAnisotropy;
	int mipmapFilterMode;
	float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
	int disableTrilinearOptimization, seamlessCubemap;
};

struct cudaResourceViewDesc {
	int format;
	size_t width, height, depth;
	unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
#if MAJOR >= 13
	unsigned reserved[16];
#endif
};

struct cudaPointerAttributes {
	int type, device;
	void *devicePointer, *hostPointer;
#if MAJOR >= 13
	long unused;
	long reserved[7];
#endif
};

struct cudaFuncAttributes {
	size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
	int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
	int maxDynamicSharedSizeBytes, preferredShmemCarveout;
	int clusterDimMustBeSet, requiredClusterWidth, requiredClusterHeight, requiredClusterDepth;
	int clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed;
	int reserved[16]; // shorter in later versions, after members that are 0 here
};

struct cudaMemLocation { int type, id; };
struct cudaMemcpyAttributes {
	int srcAccessOrder;
	struct cudaMemLocation srcLocHint, dstLocHint;
	unsigned flags;
};
struct cudaMemAccessDesc { struct cudaMemLocation location; int flags; };

struct cudaMemPoolProps {
	int allocType, handleTypes;
	struct cudaMemLocation location;
	void *win32SecurityAttributes;
	size_t maxSize;
	unsigned short usage;
	unsigned char reserved[54];
};

struct cudaMemPoolPtrExportData { unsigned char reserved[64]; };

typedef struct { char reserved[64]; } cudaIpcMemHandle_t;
typedef struct { char reserved[64]; } cudaIpcEventHandle_t;

struct cudaMemAllocNodeParams {
	struct cudaMemPoolProps poolProps;
	const struct cudaMemAccessDesc *accessDescs;
	size_t accessDescCount, bytesize;
	void *dptr;
};

struct cudaGraphNodeParams {
	int type, reserved0[3];
	union {
		long long reserved1[29];
		struct cudaKernelNodeParams kernel; // CUDA's structure has further members
		struct cudaMemcpyNodeParams memcpy;
		struct cudaMemsetParams memset; // CUDA's structure has further members
		struct cudaHostNodeParams host; // CUDA's structure has further members
		struct { cudaGraph_t graph; } graph;
		struct cudaMemAllocNodeParams alloc;
		struct { void *dptr; } free;
		struct cudaConditionalNodeParams conditional;
		struct { cudaEvent_t event; } eventRecord, eventWait;
	};
	long long reserved2;
};

typedef struct {
	unsigned id;
	char pad[4];
	union {
		char pad[64];
		struct { unsigned x, y, z; } clusterDim;
	} val;
} cudaLaunchAttribute;

typedef struct {
	dim3 gridDim, blockDim;
	size_t dynamicSmemBytes;
	cudaStream_t stream;
	cudaLaunchAttribute *attrs;
	unsigned numAttrs;
} cudaLaunchConfig_t;

// cudaDeviceProp as a list: ONLY12(member) exists in version 12, ONLY13 in version 13.
#if MAJOR == 12
#define ONLY12(...) __VA_ARGS__
#define ONLY13(...)
#else
#define ONLY12(...)
#define ONLY13(...) __VA_ARGS__
#endif

struct cudaDeviceProp {
	char name[256];
	struct { char bytes[16]; } uuid;
	char luid[8];
	unsigned luidDeviceNodeMask;
	size_t totalGlobalMem, sharedMemPerBlock;
	int regsPerBlock, warpSize;
	size_t memPitch;
	int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
	ONLY12(int clockRate;)
	size_t totalConstMem;
	int major, minor;
	size_t textureAlignment, texturePitchAlignment;
	ONLY12(int deviceOverlap;)
	int multiProcessorCount;
	ONLY12(int kernelExecTimeoutEnabled;)
	int integrated, canMapHostMemory;
	ONLY12(int computeMode;)
	int maxTexture1D, maxTexture1DMipmap;
	ONLY12(int maxTexture1DLinear;)
	int maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2];
	int maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap;
	int maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2];
	int maxSurface1D, maxSurface2D[2], maxSurface3D[3];
	int maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
	size_t surfaceAlignment;
	int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver;
	int asyncEngineCount, unifiedAddressing;
	ONLY12(int memoryClockRate;)
	int memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
	int maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
	size_t sharedMemPerMultiprocessor;
	int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;
	ONLY12(int singleToDoublePrecisionPerfRatio;)
	int pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported;
	int canUseHostPointerForRegisteredMem, cooperativeLaunch;
	ONLY12(int cooperativeMultiDeviceLaunch;)
	size_t sharedMemPerBlockOptin;
	int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
	int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
	size_t reservedSharedMemPerBlock;
	// The following members are not in the structure for cudaGetDeviceProperties of version 12.
	int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;
	int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
	unsigned gpuDirectRDMAFlushWritesOptions;
	int gpuDirectRDMAWritesOrdering;
	unsigned memoryPoolSupportedHandleTypes;
	int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers;
	ONLY13(int deviceNumaConfig, deviceNumaId, mpsEnabled, hostNumaId;)
	ONLY13(unsigned gpuPciDeviceID, gpuPciSubsystemID;)
	ONLY13(int hostNumaMultinodeIpcSupported;)
	int reserved[MAJOR == 12 ? 63 : 56];
};

enum { // cudaGraphNodeType
	nodeKernel = 0, nodeMemcpy = 1, nodeMemset = 2,
};

enum {
	copyHostToHost, copyHostToDevice, copyDeviceToHost, copyDeviceToDevice, copyDefault, // cudaMemcpyKind
};

#endif
