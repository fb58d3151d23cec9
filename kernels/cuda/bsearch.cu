#include "gemu.h"

struct pair {
  int key, value;
};

// out[i] = the value of keys[i] in a table of n pairs that is sorted by key, or -1.
extern "C" __global__ void bsearch(int n, const pair *table, int count, const int *keys, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  int key = keys[i];
  int lo = 0, hi = n - 1, value = -1;
  while (lo <= hi) {
    int mid = (lo + hi) / 2;
    int k = table[mid].key;
    if (k == key) {
      value = table[mid].value;
      break;
    }
    if (k < key)
      lo = mid + 1;
    else
      hi = mid - 1;
  }
  out[i] = value;
}
