// A client that calls functions in any order with handles, addresses and counts that may be wrong: hostile SEED CALLS.
// Each call must return a result. Pointers to memory of the host are valid, as the API demands.

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"

static const char *const ptx =
	".version 7.8\n.target sm_80\n.address_size 64\n"
	".global .align 4 .u32 v[4];\n"
	".visible .entry poke(.param .u64 at, .param .u32 value)\n"
	"{\n"
	"  .reg .u32 %r; .reg .u64 %rd;\n"
	"  ld.param.u64 %rd, [at]; ld.param.u32 %r, [value];\n"
	"  st.global.u32 [%rd], %r;\n"
	"  ret;\n"
	"}\n";

// The functions, with a letter for each argument:
//	h a handle   o where a handle is stored   O where an address is stored   a an address
//	n any number   z a size of at most 4096   i a small number   0 nothing
//	p memory of the host of 4096 bytes   s a name   d numbers of a descriptor   k the arguments of a kernel
static const struct {
	const char *name, *args;
} functions[] = {
	{"cuDeviceGet", "oi"}, {"cuDeviceGetAttribute", "pni"}, {"cuDeviceTotalMem_v2", "pi"}, {"cuDeviceGetName", "pzi"}, {"cuDeviceCanAccessPeer", "pni"},
	{"cuCtxCreate_v2", "oni"}, {"cuCtxDestroy_v2", "h"}, {"cuCtxPushCurrent_v2", "h"}, {"cuCtxPopCurrent_v2", "o"}, {"cuCtxGetCurrent", "o"}, {"cuCtxSetLimit", "in"}, {"cuCtxGetLimit", "pn"},
	{"cuCtxSynchronize", ""}, {"cuCtxGetApiVersion", "hp"}, {"cuDevicePrimaryCtxRetain", "oi"}, {"cuDevicePrimaryCtxRelease_v2", "i"}, {"cuDevicePrimaryCtxSetFlags_v2", "in"},
	{"cuModuleLoadData", "os"}, {"cuModuleUnload", "h"}, {"cuModuleGetFunction", "ohs"}, {"cuModuleGetGlobal_v2", "Ophs"}, {"cuModuleGetLoadingMode", "p"}, {"cuLibraryLoadData", "os000000"},
	{"cuLibraryUnload", "h"}, {"cuLibraryGetKernel", "ohs"}, {"cuLibraryGetModule", "oh"}, {"cuKernelGetFunction", "oh"}, {"cuKernelGetParamInfo", "hnpp"}, {"cuFuncGetAttribute", "pnh"},
	{"cuFuncSetAttribute", "hnn"}, {"cuFuncGetModule", "oh"}, {"cuFuncGetParamInfo", "hnpp"}, {"cuFuncSetBlockShape", "hnnn"}, {"cuFuncSetSharedSize", "hn"}, {"cuParamSetSize", "hn"}, {"cuParamSeti", "hnn"}, {"cuParamSetv", "hnpz"},
	{"cuLaunch", "h"}, {"cuLaunchGrid", "hnn"}, {"cuLaunchKernel", "hiiiiiinhk0"}, {"cuLaunchKernel", "hnnnnnnnhk0"}, {"cuLaunchCooperativeKernel", "hiiiiiinhk"},
	{"cuOccupancyMaxActiveBlocksPerMultiprocessor", "phnn"}, {"cuOccupancyAvailableDynamicSMemPerBlock", "phnn"},
	{"cuMemAlloc_v2", "On"}, {"cuMemAlloc_v2", "Oz"}, {"cuMemAllocPitch_v2", "Opnnn"}, {"cuMemAllocManaged", "Onn"}, {"cuMemFree_v2", "a"}, {"cuMemGetAddressRange_v2", "Opa"}, {"cuMemGetInfo_v2", "pp"},
	{"cuMemcpyHtoD_v2", "apz"}, {"cuMemcpyDtoH_v2", "paz"}, {"cuMemcpyDtoD_v2", "aan"}, {"cuMemcpyHtoDAsync_v2", "apzh"}, {"cuMemcpyDtoDAsync_v2", "aanh"}, {"cuMemcpyAtoA_v2", "hnhnn"}, {"cuMemcpyDtoA_v2", "hnan"}, {"cuMemcpyAtoD_v2", "ahnn"},
	{"cuMemsetD8_v2", "ann"}, {"cuMemsetD16_v2", "ann"}, {"cuMemsetD32_v2", "ann"}, {"cuMemsetD2D8_v2", "annnn"}, {"cuMemsetD2D32_v2", "annnn"}, {"cuMemsetD32Async", "annh"},
	{"cuMemHostAlloc", "pnn"}, {"cuMemHostRegister_v2", "pzn"}, {"cuMemHostUnregister", "p"}, {"cuMemHostGetDevicePointer_v2", "Opi"}, {"cuMemHostGetFlags", "pp"},
	{"cuArrayCreate_v2", "od"}, {"cuArray3DCreate_v2", "od"}, {"cuArrayDestroy", "h"}, {"cuArrayGetDescriptor_v2", "ph"}, {"cuMipmappedArrayCreate", "odn"}, {"cuMipmappedArrayDestroy", "h"}, {"cuMipmappedArrayGetLevel", "ohn"},
	{"cuStreamCreate", "on"}, {"cuStreamCreateWithPriority", "onn"}, {"cuStreamDestroy_v2", "h"}, {"cuStreamQuery", "h"}, {"cuStreamSynchronize", "h"}, {"cuStreamGetFlags", "hp"}, {"cuStreamGetPriority", "hp"}, {"cuStreamGetCtx", "ho"},
	{"cuStreamWaitEvent", "hhn"}, {"cuStreamBeginCapture_v2", "hi"}, {"cuStreamEndCapture", "ho"}, {"cuStreamIsCapturing", "hp"}, {"cuStreamAttachMemAsync", "hann"}, {"cuStreamWriteValue32_v2", "hann"},
	{"cuEventCreate", "on"}, {"cuEventDestroy_v2", "h"}, {"cuEventRecord", "hh"}, {"cuEventQuery", "h"}, {"cuEventSynchronize", "h"}, {"cuEventElapsedTime_v2", "phh"},
	{"cuGraphCreate", "on"}, {"cuGraphDestroy", "h"}, {"cuGraphClone", "oh"}, {"cuGraphAddEmptyNode", "oh00"}, {"cuGraphAddChildGraphNode", "oh00h"}, {"cuGraphAddMemFreeNode", "oh00a"}, {"cuGraphAddEventRecordNode", "oh00h"},
	{"cuGraphInstantiateWithFlags", "ohn"}, {"cuGraphLaunch", "hh"}, {"cuGraphExecDestroy", "h"}, {"cuGraphUpload", "hh"}, {"cuGraphDestroyNode", "h"}, {"cuGraphNodeGetType", "hp"}, {"cuGraphExecGetFlags", "hp"}, {"cuGraphNodeSetEnabled", "hhn"},
	{"cuMemPoolDestroy", "h"}, {"cuMemPoolTrimTo", "hn"}, {"cuMemPoolSetAttribute", "hip"}, {"cuMemPoolGetAttribute", "hip"}, {"cuDeviceGetDefaultMemPool", "oi"}, {"cuMemAllocAsync", "Onh"}, {"cuMemAllocAsync", "Ozh"}, {"cuMemAllocFromPoolAsync", "Onhh"}, {"cuMemFreeAsync", "ah"},
	{"cuMemAddressReserve", "Onnan"}, {"cuMemAddressFree", "an"}, {"cuMemUnmap", "an"}, {"cuMemMap", "annhn"}, {"cuMemRelease", "h"}, {"cuMemRetainAllocationHandle", "oa"}, {"cuMemAdvise", "anni"}, {"cuMemPrefetchAsync", "anih"},
	{"cuPointerGetAttribute", "pna"}, {"cuPointerSetAttribute", "pna"}, {"cuTexRefCreate", "o"}, {"cuTexRefDestroy", "h"}, {"cuTexRefSetArray", "hhn"}, {"cuTexRefSetAddress_v2", "phan"}, {"cuTexRefGetArray", "oh"}, {"cuTexObjectDestroy", "h"}, {"cuSurfObjectDestroy", "h"}, {"cuTexObjectGetTextureDesc", "ph"},
	{"cuLinkCreate_v2", "000o"}, {"cuLinkDestroy", "h"}, {"cuLinkComplete", "hOp"}, {"cuUserObjectRelease", "hn"}, {"cuUserObjectRetain", "hn"}, {"cuProfilerStart", ""}, {"cuGetErrorName", "np"}, {"cuGetErrorString", "np"},
	{"cuGraphicsUnregisterResource", "h"}, {"cuExternalMemoryGetMappedBuffer", "Ohd"}, {"cuDestroyExternalMemory", "h"}, {"cuIpcCloseMemHandle", "a"}, {"cuIpcGetMemHandle", "pa"}, {"cuIpcGetEventHandle", "ph"},
};

enum { functions_n = sizeof functions / sizeof *functions, pool = 256, size = 4096 };

static uint64_t state, handles[pool], addresses[pool];
static int handles_n, addresses_n;
static unsigned char memory[8][2 * size];

static uint64_t next(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33;
}

static int below(int n) { return next() % n; }

static uint64_t number(void)
{
	static const uint64_t some[] = {0, 1, 2, 3, 4, 16, 64, 256, 4096, 65536, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
	switch (below(4)) {
	case 0:
		return (uint64_t)1 << below(64);
	case 1:
		return -(uint64_t)below(17);
	}
	return some[below(sizeof some / sizeof *some)];
}

static void keep(uint64_t *list, int *n, uint64_t v)
{
	if (v)
		list[*n < pool ? (*n)++ : below(pool)] = v;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	state = strtoull(argv[1], 0, 0);
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	if (!library)
		library = dlopen(NULL, RTLD_NOW); /* under the race detector the library is part of the program */
	if (!library || !load(ptx, "poke")) {
		printf("%s\n", library ? "no kernel" : dlerror());
		return 1;
	}
	for (int calls = atoi(argv[2]); calls > 0; calls--) {
		int f = below(functions_n);
		uint64_t (*call)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
		*(void **)&call = dlsym(library, functions[f].name);
		if (!call) {
			printf("no %s\n", functions[f].name);
			return 1;
		}
		uint64_t a[11] = {0}, out[4] = {0}, argument[2] = {addresses_n ? addresses[below(addresses_n)] : 0, 7};
		void *arguments[] = {&argument[0], &argument[1]};
		for (int i = 0; functions[f].args[i]; i++) {
			unsigned char *m = memory[i % 8];
			switch (functions[f].args[i]) {
			case 'h':
				a[i] = !handles_n || below(8) == 0 ? number() : handles[below(handles_n)] + (below(12) == 0);
				break;
			case 'o':
			case 'O':
				a[i] = (uintptr_t)&out[functions[f].args[i] == 'O'];
				break;
			case 'a':
				a[i] = !addresses_n || below(6) == 0 ? ((uint64_t)1 << 48) + number() : addresses[below(addresses_n)] + (below(4) ? 0 : below(5000));
				break;
			case 'n':
				a[i] = number();
				break;
			case 'z':
				a[i] = below(size + 1);
				break;
			case 'i':
				a[i] = below(3);
				break;
			case 'd':
				for (int k = 0; k < 16; k++)
					((uint64_t *)m)[k] = below(2) ? (uint64_t)below(40) : number();
				a[i] = (uintptr_t)m;
				break;
			case 'p':
				a[i] = (uintptr_t)m;
				break;
			case 'k':
				a[i] = (uintptr_t)arguments;
				break;
			case 's':
				a[i] = (uintptr_t)(below(2) ? ptx : below(2) ? "poke" : below(2) ? "v" : "");
				break;
			}
		}
		if (getenv("HOSTILE_VERBOSE")) {
			fprintf(stderr, "%s", functions[f].name);
			for (int i = 0; functions[f].args[i]; i++)
				fprintf(stderr, " %#llx", (unsigned long long)a[i]);
			fputc('\n', stderr);
		}
		unsigned result = call(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10]);
		if (result > 999) {
			printf("%s returns %u\n", functions[f].name, result);
			return 1;
		}
		if (result == 0) {
			keep(handles, &handles_n, out[0]);
			keep(addresses, &addresses_n, out[1]);
		}
	}
	printf("ok\n");
	return 0;
}
