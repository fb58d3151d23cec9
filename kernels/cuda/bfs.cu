#include "gemu.h"

// A breadth-first search runs level by level, in two launches each. The graph has n nodes; the
// successors of node v are edges[first[v]] … edges[first[v + 1] - 1].

// Sets the distance of the frontier's neighbours, which was -1, and empties the frontier. Several
// threads may find the same node. They write the same value, but plain stores would still be a data
// race: hence the atomics.
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

// Makes the found nodes the next frontier; *more reports whether there are any.
extern "C" __global__ void bfs_commit(int n, uchar *frontier, uchar *visited, int *found, int *more) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || !found[v])
    return;
  found[v] = 0;
  frontier[v] = 1;
  visited[v] = 1;
  atomicOr(more, 1);
}
