// How many bits of the thread's number are 1?
extern "C" __global__ void bits(unsigned *out) {
	unsigned x = threadIdx.x;
	unsigned n = 0;
	while (x != 0) {
		x = x & (x - 1); // clears the lowest 1
		n = n + 1;
	}
	out[threadIdx.x] = n;
}
