// Thread i loads element i * stride, and passes it through word i * width of shared memory.
extern "C" __global__ void memory(unsigned *out, const unsigned *in, unsigned stride, unsigned width) {
	__shared__ unsigned tile[32 * 33];
	unsigned i = threadIdx.x;
	tile[i * width] = in[i * stride];
	__syncthreads();
	out[i] = tile[i * width];
}
