// Both sides of the if call the barrier, at two places. This is wrong.
extern "C" __global__ void barrier(unsigned *out) {
	unsigned i = threadIdx.x;
	if (i < 16) {
		out[i] = 1;
		__syncthreads();
	} else {
		__syncthreads();
		out[i] = 2;
	}
}
