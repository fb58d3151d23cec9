#include "marssort.h"

// Finds the nearest centre of each point. Writes its number as the key, and the point as the value of a record; records from n on
// have the largest key.
extern "C" __global__ void km_map(int n, int dims, int k, const int *points, const int *centres, uint *keys, struct record *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint nearest = 0xffffffff;
  if (i < n) {
    int least = 0x7fffffff;
    for (int c = 0; c < k; c++) {
      int distance = 0;
      for (int d = 0; d < dims; d++) {
        int x = points[i * dims + d] - centres[c * dims + d];
        distance += x * x;
      }
      if (distance < least) {
        least = distance;
        nearest = c;
      }
    }
  }
  keys[i] = nearest;
  struct record r = {(uint)(4 * i), 4, (uint)(4 * dims * i), (uint)(4 * dims)};
  out[i] = r;
}

// Finds the first record of each key in the sorted directory, and the first after its last.
extern "C" __global__ void km_group(int n, const struct record *list, const uchar *keys, uint *first, uint *end) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  uint key = *(const uint *)(keys + list[i].key);
  if (i == 0 || *(const uint *)(keys + list[i - 1].key) != key)
    first[key] = i;
  if (i == n - 1 || *(const uint *)(keys + list[i + 1].key) != key)
    end[key] = i + 1;
}

// Sets each centre to the mean of the points of its records, rounded down. A centre without points stays.
extern "C" __global__ void km_reduce(int k, int dims, const struct record *list, const uchar *points, const uint *first, const uint *end, int *centres) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= k || first[c] == end[c])
    return;
  for (int d = 0; d < dims; d++) {
    int sum = 0;
    for (uint i = first[c]; i < end[c]; i++)
      sum += ((const int *)(points + list[i].value))[d];
    centres[c * dims + d] = sum / (int)(end[c] - first[c]);
  }
}
