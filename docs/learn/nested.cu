// An if in an if: three paths.
extern "C" __global__ void nested(unsigned *out) {
	unsigned i = threadIdx.x;
	unsigned x;
	if (i < 16) {
		if (i < 8)
			x = i + 100;
		else
			x = i + 200;
		x = x * 2;
	} else {
		x = i;
	}
	out[i] = x;
}
