// Plain memory, launches of templates, constants and other symbols.

#include <vector>

#include "check.h"

template <typename T> __global__ void axpy(int n, T a, const T *x, T *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = a * x[i] + y[i];
}

template <typename T> static void run_axpy(int n, T a)
{
	std::vector<T> x(n), y(n);
	for (int i = 0; i < n; i++) {
		x[i] = T(i % 17);
		y[i] = T(i % 5);
	}
	T *dx, *dy;
	CHECK(cudaMalloc(&dx, n * sizeof(T)));
	CHECK(cudaMalloc(&dy, n * sizeof(T)));
	CHECK(cudaMemcpy(dx, x.data(), n * sizeof(T), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dy, y.data(), n * sizeof(T), cudaMemcpyDefault));
	axpy<<<(n + 127) / 128, 128>>>(n, a, dx, dy);
	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
	std::vector<T> got(n);
	CHECK(cudaMemcpy(got.data(), dy, n * sizeof(T), cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++)
		EXPECT(got[i] == T(a * x[i] + y[i]));
	CHECK(cudaFree(dx));
	CHECK(cudaFree(dy));
}

// weights has 3 floats more than are used at first; each of the further symbols is of another kind.
__constant__ float weights[8];
__constant__ struct {
	int rows, columns;
	double scale;
} shape = {3, 5, 0.5};
__device__ int counter = 40;
static __device__ unsigned char bytes[100];

__global__ void symbols(float *out)
{
	int i = threadIdx.x;
	out[i] = weights[i] * float(shape.rows * shape.columns * shape.scale);
	atomicAdd(&counter, 1);
	bytes[i] = bytes[50 + i] + 1;
}

static void run_symbols()
{
	float host[8] = {1, 2, 3, 4, 5, 6, 7, 8}, *out, got[8];
	CHECK(cudaMalloc(&out, sizeof got));
	CHECK(cudaMemcpyToSymbol(weights, host, 5 * sizeof(float)));
	CHECK(cudaMemcpyToSymbolAsync(weights, host + 5, 3 * sizeof(float), 5 * sizeof(float), cudaMemcpyHostToDevice, 0));
	void *address;
	size_t size;
	CHECK(cudaGetSymbolAddress(&address, bytes));
	CHECK(cudaGetSymbolSize(&size, bytes));
	EXPECT(size == 100);
	CHECK(cudaMemset((char *)address + 50, 7, 50));
	symbols<<<1, 8>>>(out);
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 8; i++)
		EXPECT(got[i] == host[i] * 7.5f);
	int count;
	CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
	EXPECT(count == 48);
	unsigned char some[10];
	CHECK(cudaMemcpyFromSymbolAsync(some, bytes, 10, 0, cudaMemcpyDeviceToHost, 0));
	CHECK(cudaStreamSynchronize(0));
	for (int i = 0; i < 10; i++)
		EXPECT(some[i] == (i < 8 ? 8 : 0));
	FAILS(cudaErrorInvalidValue, cudaMemcpyToSymbol(weights, host, 8 * sizeof(float), 4));
	FAILS(cudaErrorInvalidMemcpyDirection, cudaMemcpyToSymbol(weights, host, 4, 0, cudaMemcpyDeviceToHost));
	FAILS(cudaErrorInvalidSymbol, cudaMemcpyToSymbol((const void *)host, host, 4));
	CHECK(cudaFree(out));
}

// Rows with a pitch, and boxes.
static void run_pitched()
{
	const size_t width = 37, height = 11, depth = 3;
	std::vector<unsigned char> host(width * height * depth), back(host.size());
	for (size_t i = 0; i < host.size(); i++)
		host[i] = (unsigned char)(i * 7);
	char *rows;
	size_t pitch;
	CHECK(cudaMallocPitch(&rows, &pitch, width, height));
	EXPECT(pitch >= width);
	CHECK(cudaMemcpy2D(rows, pitch, host.data(), width, width, height, cudaMemcpyHostToDevice));
	CHECK(cudaMemset2D(rows + pitch, pitch, 0xab, 5, 2));
	CHECK(cudaMemcpy2D(back.data(), width, rows, pitch, width, height, cudaMemcpyDeviceToHost));
	for (size_t y = 0; y < height; y++)
		for (size_t x = 0; x < width; x++)
			EXPECT(back[y * width + x] == (x < 5 && (y == 1 || y == 2) ? 0xab : host[y * width + x]));
	FAILS(cudaErrorInvalidPitchValue, cudaMemcpy2D(rows, width - 1, host.data(), width, width, height, cudaMemcpyHostToDevice));
	CHECK(cudaFree(rows));

	cudaPitchedPtr box;
	cudaExtent extent = make_cudaExtent(width, height, depth);
	CHECK(cudaMalloc3D(&box, extent));
	CHECK(cudaMemset3D(box, 1, extent));
	cudaMemcpy3DParms p = {};
	p.srcPtr = make_cudaPitchedPtr(host.data(), width, width, height);
	p.dstPtr = box;
	p.extent = make_cudaExtent(width - 2, height - 1, depth - 1);
	p.srcPos = p.dstPos = make_cudaPos(2, 1, 1);
	p.kind = cudaMemcpyHostToDevice;
	CHECK(cudaMemcpy3D(&p));
	p = {};
	p.srcPtr = box;
	p.dstPtr = make_cudaPitchedPtr(back.data(), width, width, height);
	p.extent = extent;
	p.kind = cudaMemcpyDeviceToHost;
	CHECK(cudaMemcpy3DAsync(&p, 0));
	CHECK(cudaDeviceSynchronize());
	for (size_t z = 0; z < depth; z++)
		for (size_t y = 0; y < height; y++)
			for (size_t x = 0; x < width; x++) {
				size_t i = (z * height + y) * width + x;
				EXPECT(back[i] == (x < 2 || y < 1 || z < 1 ? 1 : host[i]));
			}

	// Between devices; there may be a single device.
	cudaPitchedPtr other;
	CHECK(cudaMalloc3D(&other, extent));
	cudaMemcpy3DPeerParms peer = {};
	peer.srcPtr = box;
	peer.dstPtr = other;
	peer.extent = extent;
	CHECK(cudaMemcpy3DPeer(&peer));
	CHECK(cudaMemcpyPeerAsync(other.ptr, 0, box.ptr, 0, 1, 0));
	p.srcPtr = other;
	std::vector<unsigned char> again(back.size());
	p.dstPtr.ptr = again.data();
	CHECK(cudaMemcpy3D(&p));
	EXPECT(again == back);
	peer.dstDevice = 50;
	FAILS(cudaErrorInvalidDevice, cudaMemcpy3DPeerAsync(&peer, 0));
	FAILS(cudaErrorInvalidValue, cudaMemcpy3DPeer(nullptr));
	CHECK(cudaFree(other.ptr));
	CHECK(cudaFree(box.ptr));
}

int main()
{
	run_axpy<float>(1000, 2);
	run_axpy<double>(1, 3);
	run_axpy<int>(777, -4);
	run_axpy<unsigned long long>(300, 1ull << 40);
	run_symbols();
	run_pitched();
	int n, device, runtime, driver;
	CHECK(cudaGetDeviceCount(&n));
	CHECK(cudaGetDevice(&device));
	EXPECT(n >= 1 && device == 0);
	CHECK(cudaRuntimeGetVersion(&runtime));
	CHECK(cudaDriverGetVersion(&driver));
	EXPECT(runtime / 1000 == CUDART_VERSION / 1000 && driver > 0);
	cudaDeviceProp p;
	CHECK(cudaGetDeviceProperties(&p, 0));
	int threads;
	CHECK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, 0));
	EXPECT(p.warpSize == 32 && p.major > 0 && p.maxThreadsPerBlock == threads && p.totalGlobalMem > 0 && p.clusterLaunch <= 1);
#if CUDART_VERSION >= 13000
	size_t parameters;
	CHECK(cudaFuncGetParamCount((const void *)axpy<double>, &parameters));
	EXPECT(parameters == 4);
	cudaMemLocation where = {cudaMemLocationTypeDevice, {0}};
	cudaMemPool_t pool, usual;
	CHECK(cudaMemGetMemPool(&pool, &where, cudaMemAllocationTypePinned));
	CHECK(cudaMemGetDefaultMemPool(&usual, &where, cudaMemAllocationTypePinned));
	EXPECT(pool == usual && pool != nullptr);
	CHECK(cudaMemSetMemPool(&where, cudaMemAllocationTypePinned, pool));
#endif
	cudaPointerAttributes a;
	int on_stack;
	CHECK(cudaPointerGetAttributes(&a, &on_stack));
	EXPECT(a.type == cudaMemoryTypeUnregistered && a.device == -2);
	CHECK(cudaDeviceReset());
	run_axpy<float>(10, 1);
	puts("ok");
}
