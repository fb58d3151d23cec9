// Streams and events: creation and destruction.

#include "cudart.h"

cudaError_t cudaStreamCreate(cudaStream_t *s) { RETURN(cuStreamCreate(s, 0)); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags) { RETURN(cuStreamCreate(s, flags)); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority) { RETURN(cuStreamCreateWithPriority(s, flags, priority)); }
cudaError_t cudaStreamDestroy(cudaStream_t s) { RETURN(cuStreamDestroy_v2(s)); }

cudaError_t cudaEventCreate(cudaEvent_t *e) { RETURN(cuEventCreate(e, 0)); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags) { RETURN(cuEventCreate(e, flags)); }
cudaError_t cudaEventDestroy(cudaEvent_t e) { RETURN(cuEventDestroy_v2(e)); }
cudaError_t cudaEventQuery(cudaEvent_t e) { RETURN(cuEventQuery(e)); }
cudaError_t cudaEventSynchronize(cudaEvent_t e) { RETURN(cuEventSynchronize(e)); }
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end) { RETURN(cuEventElapsedTime(ms, start, end)); }
#if MAJOR == 12
cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t start, cudaEvent_t end) { RETURN(cuEventElapsedTime(ms, start, end)); }
#endif
