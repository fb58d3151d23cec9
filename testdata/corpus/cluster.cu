// Kernels in clusters, as people write them: see make_nvrtc.py.

#define BINS 256
#define RANKS 4

// spread counts numbers below BINS: each block of a cluster has a part of the bins in its shared
// memory, and the clusters add up.
extern "C" __global__ void __cluster_dims__(RANKS, 1, 1) spread(const int *x, int n, int *bins)
{
	__shared__ int part[BINS / RANKS];
	for (int i = threadIdx.x; i < BINS / RANKS; i += blockDim.x)
		part[i] = 0;
	__cluster_barrier_arrive();
	__cluster_barrier_wait();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		int *there = (int *)__cluster_map_shared_rank(part, x[i] / (BINS / RANKS));
		atomicAdd(there + x[i] % (BINS / RANKS), 1);
	}
	__cluster_barrier_arrive();
	__cluster_barrier_wait();
	for (int i = threadIdx.x; i < BINS / RANKS; i += blockDim.x)
		atomicAdd(bins + __clusterRelativeBlockRank() * (BINS / RANKS) + i, part[i]);
}

// running makes the running sums of n numbers, one cluster for all of them: of the blocks before
// its own a block has the sums from their shared memory.
extern "C" __global__ void running(const int *x, int *sums, int n)
{
	__shared__ int ends[32], total;
	int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	int sum = i < n ? x[i] : 0;
	for (int d = 1; d < 32; d *= 2) {
		int before = __shfl_up_sync(~0u, sum, d);
		if (lane >= d)
			sum += before;
	}
	if (lane == 31)
		ends[warp] = sum;
	__syncthreads();
	for (int w = 0; w < warp; w++)
		sum += ends[w];
	if (threadIdx.x == blockDim.x - 1)
		total = sum;
	__cluster_barrier_arrive();
	__cluster_barrier_wait();
	unsigned rank = __clusterRelativeBlockRank();
	for (unsigned r = 0; r < rank; r++)
		sum += *(int *)__cluster_map_shared_rank(&total, r);
	if (i < n)
		sums[i] = sum;
	__cluster_barrier_arrive_relaxed();
	__cluster_barrier_wait();
}
