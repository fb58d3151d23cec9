// Each thread writes the square of its number.
extern "C" __global__ void threads(unsigned *out) {
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	out[i] = i * i;
}
