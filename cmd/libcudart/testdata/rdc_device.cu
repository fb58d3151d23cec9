// The second object of rdc.cu.

__device__ int shared_counter;
__constant__ int table[4];

__device__ __noinline__ int cube(int x) { return x * x * x; }
__device__ __noinline__ int apply(int (*f)(int), int x) { return f(x); }

__global__ void elsewhere(int *out) { out[threadIdx.x] = shared_counter * threadIdx.x; }
