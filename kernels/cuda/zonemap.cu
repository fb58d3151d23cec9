// The zone map of a column of integers, as databases have it: the minimum, the maximum, the sum and the union of the
// bits of each 128 elements, and those of the whole column. A warp computes a zone, with redux.sync. The kernel needs
// warps of 32 lanes.

#define ITEMS 4 // elements of a lane
#define ZONE (32 * ITEMS)

struct summary {
  int least, greatest;
  unsigned sum, bits; // the sum modulo 2^32
};

extern "C" __global__ void __launch_bounds__(256) zonemap(int n, const int *column, summary *zones, summary *all) {
  int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  summary total = {0x7fffffff, -0x7fffffff - 1, 0, 0};
  for (int zone = (blockIdx.x * blockDim.x + threadIdx.x) / 32; zone * ZONE < n; zone += warps) {
    summary s = {0x7fffffff, -0x7fffffff - 1, 0, 0};
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      int place = zone * ZONE + i * 32 + lane;
      if (place < n) {
        int v = column[place];
        s.least = min(s.least, v);
        s.greatest = max(s.greatest, v);
        s.sum += v;
        s.bits |= v;
      }
    }
    s.least = __reduce_min_sync(0xffffffff, s.least);
    s.greatest = __reduce_max_sync(0xffffffff, s.greatest);
    s.sum = __reduce_add_sync(0xffffffff, s.sum);
    s.bits = __reduce_or_sync(0xffffffff, s.bits);
    if (lane == 0)
      zones[zone] = s;
    total.least = min(total.least, s.least);
    total.greatest = max(total.greatest, s.greatest);
    total.sum += s.sum;
    total.bits |= s.bits;
  }
  if (lane == 0) {
    atomicMin(&all->least, total.least);
    atomicMax(&all->greatest, total.greatest);
    atomicAdd(&all->sum, total.sum);
    atomicOr(&all->bits, total.bits);
  }
}
