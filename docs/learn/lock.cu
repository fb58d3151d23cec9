// Each thread takes the lock, counts, and gives the lock back.
extern "C" __global__ void lock(int *mutex, volatile unsigned *count) {
	while (atomicCAS(mutex, 0, 1) != 0)
		;
	*count = *count + 1;
	__threadfence();
	atomicExch(mutex, 0);
}
