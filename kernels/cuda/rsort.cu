#include "gemu.h"

// Radix sort of integers, least significant digit first, in three launches per digit.
// Each thread has its own stretch of the array, so equal digits keep their order.

#define BITS 4
#define DIGITS (1 << BITS)
#define BLOCK 64

// Digits compare as the integers do: the sign bit is inverted.
GEMU_INLINE int digit(int v, int shift) { return ((uint)v ^ 0x80000000u) >> shift & (DIGITS - 1); }

// Counts the digits of each thread's stretch: count[digit·threads + thread], and of
// the array: total[digit].
extern "C" __global__ void rsort_count(int n, int stretch, int shift, const int *in, int *count, int *total) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  int local[DIGITS];
  for (int d = 0; d < DIGITS; d++)
    local[d] = 0;
  for (int i = t * stretch; i < min(n, (t + 1) * stretch); i++)
    local[digit(in[i], shift)]++;
  for (int d = 0; d < DIGITS; d++) {
    count[d * threads + t] = local[d];
    if (local[d] > 0)
      atomicAdd(&total[d], local[d]);
  }
}

// Turns the counts into places in the sorted array, one block per digit: a digit begins at the end
// of the smaller digits, a thread at the end of the threads before it.
extern "C" __global__ void rsort_scan(int threads, int *count, const int *total) {
  __shared__ int sum[BLOCK];
  int t = threadIdx.x, d = blockIdx.x;
  int base = 0;
  for (int e = 0; e < d; e++)
    base += total[e];
  for (int first = 0; first < threads; first += BLOCK) {
    int own = first + t < threads ? count[d * threads + first + t] : 0;
    sum[t] = own;
    for (int s = 1; s < BLOCK; s *= 2) { // Hillis and Steele's prefix sum
      __syncthreads();
      int left = t >= s ? sum[t - s] : 0;
      __syncthreads();
      sum[t] += left;
    }
    __syncthreads();
    if (first + t < threads)
      count[d * threads + first + t] = base + sum[t] - own;
    base += sum[BLOCK - 1];
    __syncthreads();
  }
}

// Moves the elements to their places.
extern "C" __global__ void rsort_move(int n, int stretch, int shift, const int *in, int *place, int *out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int i = t * stretch; i < min(n, (t + 1) * stretch); i++)
    out[place[digit(in[i], shift) * threads + t]++] = in[i];
}
