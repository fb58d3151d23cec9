#include "measured.h"

#define LENGTH 1024 // elements of a block of half as many threads

// The number of elements of a sorted array of length elements, a power of two, that are smaller than x, or with equal
// also those that are equal to it. The number of steps depends on the length alone.
GEMU_INLINE uint rank(uint x, uint *sorted, uint length, bool equal) {
  uint n = 0;
#pragma unroll 1
  for (uint step = length; step > 0; step >>= 1) {
    uint next = min(n + step, length);
    if (sorted[next - 1] < x || equal && sorted[next - 1] == x)
      n = next;
  }
  return n;
}

// Sorts each LENGTH elements by their keys, equal keys in their present order: merges pairs of sorted runs in shared
// memory, where the rank of an element in the other run gives its new place.
extern "C" __global__ void mergesort_shared(uint *toKey, uint *toValue, uint *fromKey, uint *fromValue) {
  SHARED uint key[LENGTH], value[LENGTH];
  const uint half = LENGTH / 2;
  uint t = threadIdx.x, at = blockIdx.x * LENGTH + t;
  key[t] = fromKey[at];
  value[t] = fromValue[at];
  key[t + half] = fromKey[at + half];
  value[t + half] = fromValue[at + half];
#pragma unroll 1
  for (uint run = 1; run < LENGTH; run <<= 1) {
    uint i = t & (run - 1), base = 2 * (t - i);
    __syncthreads();
    uint keyA = key[base + i], valueA = value[base + i], keyB = key[base + run + i], valueB = value[base + run + i];
    uint a = base + i + rank(keyA, key + base + run, run, false), b = base + i + rank(keyB, key + base, run, true);
    __syncthreads();
    key[a] = keyA;
    value[a] = valueA;
    key[b] = keyB;
    value[b] = valueB;
  }
  __syncthreads();
  toKey[at] = key[t];
  toValue[at] = value[t];
  toKey[at + half] = key[t + half];
  toValue[at + half] = value[t + half];
}
