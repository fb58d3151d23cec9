// Radix sort of keys, least significant digit first, in three launches per digit of eight bits. A block has 256
// threads, one per digit, and sorts a tile of 2048 keys. match.any finds the lanes of a warp with equal digits. The
// kernels need warps of 32 lanes.

#define DIGITS 256
#define WARPS (DIGITS / 32)
#define ITEMS 8 // keys of a thread
#define TILE (DIGITS * ITEMS)

typedef unsigned int uint;

static __device__ __forceinline__ int digit(uint key, int shift) { return key >> shift & (DIGITS - 1); }

// The place in the array of a thread's key: each warp has a contiguous part of the tile, and each item of it the lanes
// in their order, so equal digits keep their order.
static __device__ __forceinline__ int place_of(int item) {
  return blockIdx.x * TILE + threadIdx.x / 32 * (32 * ITEMS) + item * 32 + threadIdx.x % 32;
}

// Counts the digits of each tile: count[digit·blocks + block].
extern "C" __global__ void __launch_bounds__(DIGITS) radixsort_count(int n, int shift, const uint *keys, uint *count) {
  __shared__ uint local[DIGITS];
  local[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    int place = place_of(i);
    if (place < n)
      atomicAdd(&local[digit(keys[place], shift)], 1u);
  }
  __syncthreads();
  count[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x];
}

// Replaces each count by the sum of all counts before it. A single block; a thread has the counts of a digit.
extern "C" __global__ void __launch_bounds__(DIGITS) radixsort_scan(int blocks, uint *count) {
  __shared__ uint sums[WARPS];
  uint *own = count + threadIdx.x * blocks;
  uint total = 0;
  for (int i = 0; i < blocks; i++)
    total += own[i];
  uint sum = total; // of this lane and all before it
  for (int distance = 1; distance < 32; distance *= 2) {
    uint left = __shfl_up_sync(0xffffffff, sum, distance);
    if (threadIdx.x % 32 >= distance)
      sum += left;
  }
  if (threadIdx.x % 32 == 31)
    sums[threadIdx.x / 32] = sum;
  __syncthreads();
  uint next = sum - total;
  for (int i = 0; i < threadIdx.x / 32; i++)
    next += sums[i];
  for (int i = 0; i < blocks; i++) {
    uint here = own[i];
    own[i] = next;
    next += here;
  }
}

// Moves the keys of each tile to their places: count is the first place of each digit of the tile.
extern "C" __global__ void __launch_bounds__(DIGITS) radixsort_move(int n, int shift, const uint *keys, const uint *count, uint *sorted) {
  __shared__ uint next[WARPS][DIGITS];
  int warp = threadIdx.x / 32;
  uint before; // lanes before this one
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(before));
#pragma unroll
  for (int i = 0; i < WARPS; i++)
    next[i][threadIdx.x] = 0;
  __syncthreads();

  // The rank of each key among the keys of its warp with the same digit. Places after the array have the last digit and
  // are behind all keys, so they change no rank of a key.
  uint key[ITEMS], rank[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    int place = place_of(i);
    key[i] = place < n ? keys[place] : ~0u;
    int d = digit(key[i], shift);
    uint equal = __match_any_sync(0xffffffff, d);
    uint earlier = next[warp][d];
    __syncwarp();
    rank[i] = earlier + __popc(equal & before);
    if ((equal & before) == 0)
      next[warp][d] = earlier + __popc(equal);
    __syncwarp();
  }
  __syncthreads();

  // The first place of each digit for each warp.
  uint first = count[threadIdx.x * gridDim.x + blockIdx.x];
#pragma unroll
  for (int i = 0; i < WARPS; i++) {
    uint own = next[i][threadIdx.x];
    next[i][threadIdx.x] = first;
    first += own;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < ITEMS; i++)
    if (place_of(i) < n)
      sorted[next[warp][digit(key[i], shift)] + rank[i]] = key[i];
}
