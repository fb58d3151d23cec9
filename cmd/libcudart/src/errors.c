// Errors: names and texts. If the driver API has a result with the same number, it has the same meaning, and the text
// is the driver's.

#include "cudart.h"

static const struct error {
	int number;
	const char *name;
	const char *text; // for errors that the driver does not have
} errors[] = {
	{0, "cudaSuccess", 0},
	{1, "cudaErrorInvalidValue", 0},
	{2, "cudaErrorMemoryAllocation", 0},
	{3, "cudaErrorInitializationError", 0},
	{4, "cudaErrorCudartUnloading", "driver shutting down"},
	{5, "cudaErrorProfilerDisabled", 0},
	{6, "cudaErrorProfilerNotInitialized", 0},
	{7, "cudaErrorProfilerAlreadyStarted", 0},
	{8, "cudaErrorProfilerAlreadyStopped", 0},
	{9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
	{10, "cudaErrorVersionTranslation", "version translation failed"},
	{12, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
	{13, "cudaErrorInvalidSymbol", "invalid device symbol"},
	{16, "cudaErrorInvalidHostPointer", "invalid host pointer"},
	{17, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
	{18, "cudaErrorInvalidTexture", "invalid texture reference"},
	{19, "cudaErrorInvalidTextureBinding", "texture is not bound to a pointer"},
	{20, "cudaErrorInvalidChannelDescriptor", "invalid channel descriptor"},
	{21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
	{22, "cudaErrorAddressOfConstant", "address of a constant"},
	{23, "cudaErrorTextureFetchFailed", "fetch from texture failed"},
	{24, "cudaErrorTextureNotBound", "texture is not bound"},
	{25, "cudaErrorSynchronizationError", "synchronization failed"},
	{26, "cudaErrorInvalidFilterSetting", "linear filtering is not supported for this type of texture"},
	{27, "cudaErrorInvalidNormSetting", "reading as normalized float is not supported for this type of texture"},
	{28, "cudaErrorMixedDeviceExecution", "device emulation and device execution do not mix"},
	{31, "cudaErrorNotYetImplemented", "feature not yet implemented"},
	{32, "cudaErrorMemoryValueTooLarge", "memory size or pointer value too large"},
	{34, "cudaErrorStubLibrary", 0},
	{35, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
	{36, "cudaErrorCallRequiresNewerDriver", "API call is not supported in the installed CUDA driver"},
	{37, "cudaErrorInvalidSurface", "invalid surface reference"},
	{43, "cudaErrorDuplicateVariableName", "duplicate global variable looked up by string name"},
	{44, "cudaErrorDuplicateTextureName", "duplicate texture looked up by string name"},
	{45, "cudaErrorDuplicateSurfaceName", "duplicate surface looked up by string name"},
	{46, "cudaErrorDevicesUnavailable", 0},
	{49, "cudaErrorIncompatibleDriverContext", "incompatible driver context"},
	{52, "cudaErrorMissingConfiguration", "__global__ function call is not configured"},
	{53, "cudaErrorPriorLaunchFailure", "unspecified launch failure in prior launch"},
	{65, "cudaErrorLaunchMaxDepthExceeded", "launch would exceed maximum depth of nested launches"},
	{66, "cudaErrorLaunchFileScopedTex", "launch failed because kernel uses unregistered, file-scoped textures"},
	{67, "cudaErrorLaunchFileScopedSurf", "launch failed because kernel uses unregistered, file-scoped surfaces"},
	{68, "cudaErrorSyncDepthExceeded", "cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth"},
	{69, "cudaErrorLaunchPendingCountExceeded", "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"},
	{98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
	{100, "cudaErrorNoDevice", 0},
	{101, "cudaErrorInvalidDevice", 0},
	{102, "cudaErrorDeviceNotLicensed", 0},
	{103, "cudaErrorSoftwareValidityNotEstablished", "integrity checks failed"},
	{127, "cudaErrorStartupFailure", "startup failure in cuda runtime"},
	{200, "cudaErrorInvalidKernelImage", 0},
	{201, "cudaErrorDeviceUninitialized", 0},
	{205, "cudaErrorMapBufferObjectFailed", 0},
	{206, "cudaErrorUnmapBufferObjectFailed", 0},
	{207, "cudaErrorArrayIsMapped", 0},
	{208, "cudaErrorAlreadyMapped", 0},
	{209, "cudaErrorNoKernelImageForDevice", 0},
	{210, "cudaErrorAlreadyAcquired", 0},
	{211, "cudaErrorNotMapped", 0},
	{212, "cudaErrorNotMappedAsArray", 0},
	{213, "cudaErrorNotMappedAsPointer", 0},
	{214, "cudaErrorECCUncorrectable", 0},
	{215, "cudaErrorUnsupportedLimit", 0},
	{216, "cudaErrorDeviceAlreadyInUse", 0},
	{217, "cudaErrorPeerAccessUnsupported", 0},
	{218, "cudaErrorInvalidPtx", 0},
	{219, "cudaErrorInvalidGraphicsContext", 0},
	{220, "cudaErrorNvlinkUncorrectable", 0},
	{221, "cudaErrorJitCompilerNotFound", 0},
	{222, "cudaErrorUnsupportedPtxVersion", 0},
	{223, "cudaErrorJitCompilationDisabled", 0},
	{224, "cudaErrorUnsupportedExecAffinity", 0},
	{225, "cudaErrorUnsupportedDevSideSync", 0},
	{226, "cudaErrorContained", 0},
	{227, "cudaErrorInsufficientLoaderVersion", "the loader is too old for this binary"},
	{300, "cudaErrorInvalidSource", 0},
	{301, "cudaErrorFileNotFound", 0},
	{302, "cudaErrorSharedObjectSymbolNotFound", 0},
	{303, "cudaErrorSharedObjectInitFailed", 0},
	{304, "cudaErrorOperatingSystem", 0},
	{400, "cudaErrorInvalidResourceHandle", 0},
	{401, "cudaErrorIllegalState", 0},
	{402, "cudaErrorLossyQuery", 0},
	{500, "cudaErrorSymbolNotFound", 0},
	{600, "cudaErrorNotReady", 0},
	{700, "cudaErrorIllegalAddress", 0},
	{701, "cudaErrorLaunchOutOfResources", 0},
	{702, "cudaErrorLaunchTimeout", 0},
	{703, "cudaErrorLaunchIncompatibleTexturing", 0},
	{704, "cudaErrorPeerAccessAlreadyEnabled", 0},
	{705, "cudaErrorPeerAccessNotEnabled", 0},
	{708, "cudaErrorSetOnActiveProcess", 0},
	{709, "cudaErrorContextIsDestroyed", 0},
	{710, "cudaErrorAssert", 0},
	{711, "cudaErrorTooManyPeers", 0},
	{712, "cudaErrorHostMemoryAlreadyRegistered", 0},
	{713, "cudaErrorHostMemoryNotRegistered", 0},
	{714, "cudaErrorHardwareStackError", 0},
	{715, "cudaErrorIllegalInstruction", 0},
	{716, "cudaErrorMisalignedAddress", 0},
	{717, "cudaErrorInvalidAddressSpace", 0},
	{718, "cudaErrorInvalidPc", 0},
	{719, "cudaErrorLaunchFailure", 0},
	{720, "cudaErrorCooperativeLaunchTooLarge", 0},
	{721, "cudaErrorTensorMemoryLeak", 0},
	{800, "cudaErrorNotPermitted", 0},
	{801, "cudaErrorNotSupported", 0},
	{802, "cudaErrorSystemNotReady", 0},
	{803, "cudaErrorSystemDriverMismatch", 0},
	{804, "cudaErrorCompatNotSupportedOnDevice", 0},
	{805, "cudaErrorMpsConnectionFailed", 0},
	{806, "cudaErrorMpsRpcFailure", 0},
	{807, "cudaErrorMpsServerNotReady", 0},
	{808, "cudaErrorMpsMaxClientsReached", 0},
	{809, "cudaErrorMpsMaxConnectionsReached", 0},
	{810, "cudaErrorMpsClientTerminated", 0},
	{811, "cudaErrorCdpNotSupported", 0},
	{812, "cudaErrorCdpVersionMismatch", 0},
	{900, "cudaErrorStreamCaptureUnsupported", 0},
	{901, "cudaErrorStreamCaptureInvalidated", 0},
	{902, "cudaErrorStreamCaptureMerge", 0},
	{903, "cudaErrorStreamCaptureUnmatched", 0},
	{904, "cudaErrorStreamCaptureUnjoined", 0},
	{905, "cudaErrorStreamCaptureIsolation", 0},
	{906, "cudaErrorStreamCaptureImplicit", 0},
	{907, "cudaErrorCapturedEvent", 0},
	{908, "cudaErrorStreamCaptureWrongThread", 0},
	{909, "cudaErrorTimeout", 0},
	{910, "cudaErrorGraphExecUpdateFailure", 0},
	{911, "cudaErrorExternalDevice", 0},
	{912, "cudaErrorInvalidClusterSize", 0},
	{913, "cudaErrorFunctionNotLoaded", 0},
	{914, "cudaErrorInvalidResourceType", 0},
	{915, "cudaErrorInvalidResourceConfiguration", 0},
	{917, "cudaErrorStreamDetached", "the stream is detached"},
	{918, "cudaErrorGraphRecaptureFailure", "graph recapture failed"},
	{919, "cudaErrorFabricNotReady", "the fabric is not ready"},
	{999, "cudaErrorUnknown", 0},
	{10000, "cudaErrorApiFailureBase", "api failure base"},
};

static const struct error *find_error(cudaError_t e)
{
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].number == e)
			return &errors[i];
	return NULL;
}

static const char unknown[] = "unrecognized error code";

const char *cudaGetErrorName(cudaError_t e)
{
	const struct error *f = find_error(e);
	return f != NULL ? f->name : unknown;
}

const char *cudaGetErrorString(cudaError_t e)
{
	const struct error *f = find_error(e);
	const char *text;
	if (f == NULL)
		return unknown;
	if (f->text != NULL)
		return f->text;
	return cuGetErrorString(e, &text) == 0 ? text : f->name;
}
