// Figure 1(a) of Kim et al. (ISCA 2013): y = a * y, and results above 1000 become 1000.
extern "C" __global__ void ex_gpsimt_kernel(int y[], int a) {
	int idx = blockIdx.x * blockDim.x + threadIdx.x;
	y[idx] = a * y[idx];
	if (y[idx] > 1000)
		y[idx] = 1000;
}
