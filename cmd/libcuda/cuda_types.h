// The types of the CUDA driver API for the functions of this library, as far as the binary interface needs them:
// handles are 64-bit numbers, which C passes like pointers; enums are ints; structures have the layout of version 12.

#ifndef GEMU_CUDA_TYPES_H
#define GEMU_CUDA_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef uint64_t CUcontext, CUmodule, CUfunction, CUlibrary, CUkernel, CUstream, CUevent;
typedef uint64_t CUgraph, CUgraphNode, CUgraphExec, CUlinkState;
typedef uint64_t CUmemoryPool, CUgreenCtx, CUdevResourceDesc, CUgraphConditionalHandle;
typedef uint64_t CUmemGenericAllocationHandle, CUuserObject;

typedef struct { char bytes[16]; } CUuuid;
typedef struct { char reserved[64]; } CUipcMemHandle;
typedef struct { char reserved[64]; } CUipcEventHandle;
typedef struct { unsigned char reserved[64]; } CUmemPoolPtrExportData;

typedef struct { uint64_t opaque[16]; } CUtensorMap; // aligned to 64 bytes

typedef void (*CUhostFn)(void *user);
typedef void (*CUstreamCallback)(CUstream stream, CUresult status, void *user);
typedef size_t (*CUoccupancyB2DSize)(int block);

typedef struct {
	size_t srcXInBytes, srcY;
	unsigned srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	uint64_t srcArray;
	size_t srcPitch;
	size_t dstXInBytes, dstY;
	unsigned dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	uint64_t dstArray;
	size_t dstPitch;
	size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;

typedef struct {
	size_t srcXInBytes, srcY, srcZ, srcLOD;
	unsigned srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	uint64_t srcArray;
	uint64_t srcContext; // reserved except in CUDA_MEMCPY3D_PEER
	size_t srcPitch, srcHeight;
	size_t dstXInBytes, dstY, dstZ, dstLOD;
	unsigned dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	uint64_t dstArray;
	uint64_t dstContext;
	size_t dstPitch, dstHeight;
	size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D;

typedef uint64_t CUarray, CUmipmappedArray, CUtexref, CUsurfref;
typedef uint64_t CUtexObject, CUsurfObject;

typedef struct {
	size_t Width, Height;
	unsigned Format, NumChannels;
} CUDA_ARRAY_DESCRIPTOR;

typedef struct {
	size_t Width, Height, Depth;
	unsigned Format, NumChannels, Flags;
} CUDA_ARRAY3D_DESCRIPTOR;

// A union in CUDA's header: array, mipmap, linear and pitch2D begin at the same offset.
typedef struct {
	unsigned resType;
	union {
		uint64_t array;
		struct {
			CUdeviceptr devPtr;
			unsigned format, numChannels;
			size_t sizeInBytes;
		} linear;
		struct {
			CUdeviceptr devPtr;
			unsigned format, numChannels;
			size_t width, height, pitchInBytes;
		} pitch2D;
		int reserved[32];
	} res;
	unsigned flags;
} CUDA_RESOURCE_DESC;

typedef struct {
	unsigned addressMode[3];
	unsigned filterMode, flags, maxAnisotropy, mipmapFilterMode;
	float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
	float borderColor[4];
	int reserved[12];
} CUDA_TEXTURE_DESC;

typedef struct {
	unsigned format;
	size_t width, height, depth;
	unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
	unsigned reserved[16];
} CUDA_RESOURCE_VIEW_DESC;

typedef struct {
	int type, id;
} CUmemLocation;

typedef struct {
	CUmemLocation location;
	int flags;
} CUmemAccessDesc;

typedef struct {
	int srcAccessOrder;
	CUmemLocation srcLocHint, dstLocHint;
	unsigned flags;
} CUmemcpyAttributes;

// A union in CUDA's header. For linear memory, place is its address, and the length of rows and the height of layers
// follow, in elements. For an array, place is its handle, and the offset x, y, z follows.
typedef struct {
	int type;
	uint64_t place;
	size_t xOrRowLength, yOrLayerHeight, z;
} CUmemcpy3DOperand;

typedef struct {
	CUmemcpy3DOperand src, dst;
	size_t width, height, depth;
	int srcAccessOrder;
	unsigned flags;
} CUDA_MEMCPY3D_BATCH_OP;

// A union in CUDA's header: sm is the resource of type 1.
typedef struct CUdevResource {
	int type;
	unsigned char pad[92];
	struct {
		unsigned smCount, minSmPartitionSize, smCoscheduledAlignment, flags, localityDomainId;
		unsigned char reserved[20];
	} sm;
	struct CUdevResource *nextResource;
} CUdevResource;

typedef struct {
	int allocType, handleTypes;
	CUmemLocation location;
	void *win32SecurityAttributes;
	size_t maxSize;
	unsigned short usage;
	unsigned char reserved[54];
} CUmemPoolProps;

typedef struct {
	int type, requestedHandleTypes;
	CUmemLocation location;
	void *win32HandleMetaData;
	struct {
		unsigned char compressionType, gpuDirectRDMACapable;
		unsigned short usage;
		unsigned char reserved[4];
	} allocFlags;
} CUmemAllocationProp;

// A union in CUDA's header: barrierFlags is for memory barriers, and the members after it are for waits and writes.
typedef struct {
	int operation;
	unsigned barrierFlags;
	CUdeviceptr address;
	uint64_t value;
	unsigned flags;
	CUdeviceptr alias;
	uint64_t pad;
} CUstreamBatchMemOpParams;

typedef struct {
	CUdeviceptr dst;
	size_t pitch;
	unsigned value, elementSize;
	size_t width, height;
} CUDA_MEMSET_NODE_PARAMS;

typedef struct {
	CUhostFn fn;
	void *userData;
} CUDA_HOST_NODE_PARAMS;

// Version 2 of the structure has two more members than version 1.
typedef struct {
	CUfunction func;
	unsigned gridDimX, gridDimY, gridDimZ;
	unsigned blockDimX, blockDimY, blockDimZ;
	unsigned sharedMemBytes;
	void **kernelParams;
	void **extra;
	CUkernel kern;
	CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS;

typedef struct {
	CUmemPoolProps poolProps;
	const CUmemAccessDesc *accessDescs;
	size_t accessDescCount, bytesize;
	CUdeviceptr dptr;
} CUDA_MEM_ALLOC_NODE_PARAMS;

typedef struct {
	CUgraphConditionalHandle handle;
	int type;
	unsigned size;
	CUgraph *phGraph_out;
	CUcontext ctx;
} CUDA_CONDITIONAL_NODE_PARAMS;

typedef struct {
	int flags, reserved;
	CUcontext copyCtx;
	CUDA_MEMCPY3D copyParams;
} CUDA_MEMCPY_NODE_PARAMS;

// CUgraphNodeParams is a union in CUDA's header: params has the members for the kind in type.
typedef struct {
	int type, reserved0[3];
	union {
		long long words[29];
		CUDA_KERNEL_NODE_PARAMS kernel;
		CUDA_MEMCPY_NODE_PARAMS memcpy;
		CUDA_MEMSET_NODE_PARAMS memset;
		CUDA_HOST_NODE_PARAMS host;
		CUgraph graph;
		CUDA_MEM_ALLOC_NODE_PARAMS alloc;
		CUdeviceptr dptr;
		CUevent event;
		CUDA_CONDITIONAL_NODE_PARAMS conditional;
	} params;
	long long reserved2;
} CUgraphNodeParams;

typedef struct {
	uint64_t flags;
	CUstream uploadStream;
	CUgraphNode errNode;
	int result;
} CUDA_GRAPH_INSTANTIATE_PARAMS;

typedef struct {
	unsigned char from_port, to_port, type, reserved[5];
} CUgraphEdgeData;

typedef struct {
	int result;
	CUgraphNode errorNode, errorFromNode;
} CUgraphExecUpdateResultInfo;

typedef union {
	char bytes[64];
	unsigned dim[3];
	int value;
} CUlaunchAttributeValue;

typedef struct {
	unsigned id;
	char pad[4];
	CUlaunchAttributeValue value;
} CUlaunchAttribute;

typedef struct {
	unsigned gridDimX, gridDimY, gridDimZ;
	unsigned blockDimX, blockDimY, blockDimZ;
	unsigned sharedMemBytes;
	CUstream hStream;
	CUlaunchAttribute *attrs;
	unsigned numAttrs;
} CUlaunchConfig;

typedef struct {
	int maxThreadsPerBlock;
	int maxThreadsDim[3];
	int maxGridSize[3];
	int sharedMemPerBlock;
	int totalConstantMemory;
	int SIMDWidth;
	int memPitch;
	int regsPerBlock;
	int clockRate;
	int textureAlign;
} CUdevprop;

// These functions are in C, because a child of fork cannot enter Go.
CUresult cuGetErrorName(CUresult result, const char **name);
CUresult cuGetErrorString(CUresult result, const char **description);

#endif
