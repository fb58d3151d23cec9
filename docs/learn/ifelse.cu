// Even threads triple their number, odd threads add 100.
extern "C" __global__ void ifelse(unsigned *out, const unsigned *in) {
	unsigned i = threadIdx.x;
	unsigned x = in[i];
	if (i % 2 == 0)
		x = x * 3;
	else
		x = x + 100;
	out[i] = x;
}
