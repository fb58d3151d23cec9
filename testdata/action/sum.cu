// Each block adds up its part of in.
#define THREADS 64

extern "C" __global__ void sum(const unsigned *in, unsigned *out) {
	__shared__ unsigned part[THREADS];
	unsigned i = threadIdx.x;
	part[i] = in[blockIdx.x * THREADS + i];
	for (unsigned n = THREADS / 2; n > 0; n /= 2) {
		__syncthreads();
		if (i < n)
			part[i] += part[i + n];
	}
	if (i == 0)
		out[blockIdx.x] = part[0];
}
