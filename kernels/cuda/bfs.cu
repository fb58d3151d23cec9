#include "gemu.h"

// A breadth-first search goes level by level, each in two launches. The graph has
// n nodes; those that node v leads to are edges[first[v]] … edges[first[v + 1] - 1].

// Gives the neighbours of the frontier their distance, which was -1, and empties the
// frontier. Several threads may find the same node. They write the same, but
// plain stores would still be a data race: hence the atomics.
extern "C" __global__ void bfs_expand(int n, const int *first, const int *edges, uchar *frontier, const uchar *visited, int *found, int *distance) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || !frontier[v])
    return;
  frontier[v] = 0;
  for (int e = first[v]; e < first[v + 1]; e++) {
    int u = edges[e];
    if (!visited[u]) {
      atomicMax(&distance[u], distance[v] + 1);
      atomicOr(&found[u], 1);
    }
  }
}

// Makes what was found the next frontier; *more says whether there is any.
extern "C" __global__ void bfs_commit(int n, uchar *frontier, uchar *visited, int *found, int *more) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || !found[v])
    return;
  found[v] = 0;
  frontier[v] = 1;
  visited[v] = 1;
  atomicOr(more, 1);
}
