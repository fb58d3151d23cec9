// Memory, events and pools that processes share by handles.

#include "cudart.h"

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *p) { RETURN(cuIpcGetMemHandle((CUipcMemHandle *)handle, address(p))); }
cudaError_t cudaIpcOpenMemHandle(void **p, cudaIpcMemHandle_t handle, unsigned flags) { RETURN(cuIpcOpenMemHandle_v2((CUdeviceptr *)p, *(CUipcMemHandle *)&handle, flags)); }
cudaError_t cudaIpcCloseMemHandle(void *p) { RETURN(cuIpcCloseMemHandle(address(p))); }
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t e) { RETURN(cuIpcGetEventHandle((CUipcEventHandle *)handle, e)); }
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *e, cudaIpcEventHandle_t handle) { RETURN(cuIpcOpenEventHandle(e, *(CUipcEventHandle *)&handle)); }

cudaError_t cudaMemPoolExportToShareableHandle(void *to, cudaMemPool_t pool, int kind, unsigned flags) { RETURN(cuMemPoolExportToShareableHandle(to, pool, kind, flags)); }
cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *pool, void *fd, int kind, unsigned flags) { RETURN(cuMemPoolImportFromShareableHandle(pool, (uintptr_t)fd, kind, flags)); }
cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *data, void *p) { RETURN(cuMemPoolExportPointer((CUmemPoolPtrExportData *)data, address(p))); }
cudaError_t cudaMemPoolImportPointer(void **p, cudaMemPool_t pool, struct cudaMemPoolPtrExportData *data) { RETURN(cuMemPoolImportPointer((CUdeviceptr *)p, pool, (CUmemPoolPtrExportData *)data)); }
