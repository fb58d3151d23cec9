#include "../gemu.h"

// An entry of a web log: the address and the length of its URL, the visitor, and the time in seconds.
struct entry {
  ull url;
  uint length, visitor;
  ull time;
};

// A view of a page: the address of its URL, the hash of the URL, and its length.
struct view {
  ull url;
  uint hash, length;
};

// Makes a view of each entry: the map of a map-reduce program that counts the views of pages. The hash is FNV-1a.
extern "C" __global__ void pvc_map(int n, const struct entry *log, struct view *views) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const uchar *url = (const uchar *)log[i].url;
  uint length = log[i].length, hash = 2166136261u;
  for (uint k = 0; k < length; k++)
    hash = (hash ^ url[k]) * 16777619u;
  struct view v = {log[i].url, hash, length};
  views[i] = v;
}

// Counts the views by the last bits of the hash: the reduction.
extern "C" __global__ void pvc_reduce(int n, const struct view *views, uint *counts, uint mask) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&counts[views[i].hash & mask], 1u);
}
