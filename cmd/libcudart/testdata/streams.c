// Kernels on two streams wait for each other: the default stream of a thread, a blocking and a non-blocking stream.

#include "client.h"

void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, dim3 *, dim3 *, int *);
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t), cudaMalloc(void **, size_t), cudaMemset(void *, int, size_t);
cudaError_t cudaStreamCreate(cudaStream_t *), cudaStreamCreateWithFlags(cudaStream_t *, unsigned), cudaStreamSynchronize(cudaStream_t), cudaDeviceSynchronize(void);
cudaError_t cudaMemcpy(void *, const void *, size_t, int);

static const char ptx[] =
	".version 7.8\n.target sm_80\n.address_size 64\n"
	".visible .entry await(.param .u64 flag, .param .u32 value, .param .u64 next)\n"
	"{\n"
	"  .reg .u32 %r<3>; .reg .u64 %rd<2>; .reg .pred %p;\n"
	"  ld.param.u64 %rd0, [flag]; ld.param.u32 %r1, [value]; ld.param.u64 %rd1, [next];\n"
	"L: ld.volatile.global.u32 %r0, [%rd0];\n"
	"  setp.ne.u32 %p, %r0, %r1;\n"
	"  @%p bra L;\n"
	"  add.u32 %r2, %r1, 1;\n"
	"  st.volatile.global.u32 [%rd1], %r2;\n"
	"  ret;\n"
	"}\n";

static struct {
	int magic, version;
	const void *image;
	void **parts;
} wrapper = {0x466243b1, 1, ptx, NULL};

static char await; // its address stands for the kernel

// launch makes a stream wait until words[flag] is value, and then store value+1 in words[next].
static void launch(unsigned *words, cudaStream_t s, int flag, unsigned value, int next)
{
	void *from = words + flag, *to = words + next, *args[] = {&from, &value, &to};
	OK(cudaLaunchKernel(&await, (dim3){1, 1, 1}, (dim3){1, 1, 1}, args, 0, s));
}

int main(void)
{
	void **h = __cudaRegisterFatBinary(&wrapper), *memory;
	__cudaRegisterFunction(h, &await, "await", "await", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFatBinaryEnd(h);
	const cudaStream_t of_thread = (cudaStream_t)2; // cudaStreamPerThread
	cudaStream_t blocking, other;
	OK(cudaStreamCreate(&blocking));
	OK(cudaStreamCreateWithFlags(&other, 1)); // cudaStreamNonBlocking
	OK(cudaMalloc(&memory, 64));
	cudaStream_t pairs[][2] = {{of_thread, blocking}, {blocking, of_thread}, {other, blocking}, {0, other}, {other, 0}, {of_thread, other}};
	for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		for (int last = 0; last < 2; last++) {
			unsigned got[4];
			OK(cudaMemset(memory, 0, 64));
			OK(cudaDeviceSynchronize());
			// The first stream waits for word 1, sets word 2 and waits for word 3; the second stream sets words 1 and 3.
			launch(memory, pairs[i][0], 1, 1, 2);
			launch(memory, pairs[i][0], 3, 3, 0);
			launch(memory, pairs[i][1], 4, 0, 1);
			launch(memory, pairs[i][1], 2, 2, 3);
			OK(cudaStreamSynchronize(pairs[i][last]));
			OK(cudaStreamSynchronize(pairs[i][1 - last]));
			OK(cudaMemcpy(got, memory, sizeof got, 2)); // cudaMemcpyDeviceToHost
			HOLDS(got[0] == 4 && got[1] == 1 && got[2] == 2 && got[3] == 3);
		}
	printf("ok\n");
	return 0;
}
