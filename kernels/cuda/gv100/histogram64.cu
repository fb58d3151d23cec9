#include "measured.h"

#define BLOCK 64 // threads, and bins

struct vector {
  uint x, y, z, w;
} __attribute__((aligned(16)));

// Counts the upper six bits of a byte in a thread's column of counters.
GEMU_INLINE void count(uchar *column, uint byte) { column[(byte >> 2 & 63) * BLOCK]++; }

GEMU_INLINE void countWord(uchar *column, uint word) {
  count(column, word);
  count(column, word >> 8);
  count(column, word >> 16);
  count(column, word >> 24);
}

// Counts the upper six bits of each byte of n vectors. Each thread of a block has 64 counters of a byte: thread t's are
// in column (t mod 16)·4 + t/16 of shared memory, so that threads of half a warp use words of their own. A thread may
// count at most 255 bytes. partial[b·64 + i] is the count of block b for bin i.
extern "C" __global__ void histogram64(uint *partial, vector *data, int n) {
  SHARED uchar counter[BLOCK * BLOCK];
  int t = threadIdx.x;
#pragma unroll
  for (int i = 0; i < BLOCK / 4; i++)
    ((uint *)counter)[t + i * BLOCK] = 0;
  uchar *column = counter + (4 * (t & 15) | t >> 4);
  __syncthreads();
#pragma unroll 1
  for (int i = blockIdx.x * BLOCK + t; i < n; i += BLOCK * gridDim.x) {
    vector v = data[i];
    countWord(column, v.x);
    countWord(column, v.y);
    countWord(column, v.z);
    countWord(column, v.w);
  }
  __syncthreads();
  // The bin's counters of all threads, from a column on that differs from lane to lane.
  uchar *row = counter + t * BLOCK;
  uint sum = 0;
  int at = 4 * (t & 15);
#pragma unroll 1
  for (int i = 0; i < BLOCK / 4; i++, at = (at + 4) & (BLOCK - 1))
    sum += row[at] + row[at + 1] + row[at + 2] + row[at + 3];
  partial[blockIdx.x * BLOCK + t] = sum;
}
