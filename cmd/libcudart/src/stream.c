// Streams and events: creation and destruction.

#include "cudart.h"

cudaError_t cudaStreamCreate(cudaStream_t *s) { IN(cuStreamCreate(s, 0)); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags) { IN(cuStreamCreate(s, flags)); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority) { IN(cuStreamCreateWithPriority(s, flags, priority)); }
cudaError_t cudaStreamDestroy(cudaStream_t s) { IN(cuStreamDestroy_v2(s)); }

cudaError_t cudaEventCreate(cudaEvent_t *e) { IN(cuEventCreate(e, 0)); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags) { IN(cuEventCreate(e, flags)); }
cudaError_t cudaEventDestroy(cudaEvent_t e) { IN(cuEventDestroy_v2(e)); }
cudaError_t cudaEventQuery(cudaEvent_t e) { IN(cuEventQuery(e)); }
cudaError_t cudaEventSynchronize(cudaEvent_t e) { IN(cuEventSynchronize(e)); }
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end) { IN(cuEventElapsedTime(ms, start, end)); }
#if MAJOR == 12
cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t start, cudaEvent_t end) { IN(cuEventElapsedTime(ms, start, end)); }
#endif
