// The sort of a directory of Mars by its keys.
#include "mars.h"

// Whether a record belongs after another: keys are numbers; the offset of the value decides between equal keys.
GEMU_INLINE int after(struct record a, struct record b, const uchar *keys) {
  uint x = *(const uint *)(keys + a.key), y = *(const uint *)(keys + b.key);
  return x > y || x == y && a.value > b.value;
}

GEMU_INLINE void order(struct record *list, int low, int high, int up, const uchar *keys) {
  struct record a = list[low], b = list[high];
  if (up ? after(a, b, keys) : after(b, a, keys)) {
    list[low] = b;
    list[high] = a;
  }
}

// A step of a bitonic sort (Batcher 1968): records that are span apart are ordered within parts of size records, which ascend and
// descend in turn. A thread orders two records.
extern "C" __global__ void mars_step(struct record *list, const uchar *keys, int size, int span) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, low = 2 * i - (i & (span - 1));
  order(list, low, low + span, (low & size) == 0, keys);
}

// All steps that fit into a tile, which has two records for each thread: those for parts from size first to size last.
extern "C" __global__ void mars_tile(struct record *list, const uchar *keys, int first, int last) {
  extern __shared__ struct record tile[];
  int t = threadIdx.x, threads = blockDim.x, start = 2 * threads * blockIdx.x;
  tile[t] = list[start + t];
  tile[t + threads] = list[start + t + threads];
  for (int size = first; size <= last; size *= 2)
    for (int span = min(size / 2, threads); span > 0; span /= 2) {
      __syncthreads();
      int low = 2 * t - (t & (span - 1));
      order(tile, low, low + span, (start + low & size) == 0, keys);
    }
  __syncthreads();
  list[start + t] = tile[t];
  list[start + t + threads] = tile[t + threads];
}
