#include "../gemu.h"

// Distances from a node, in edges, by rounds over all nodes. Edges from u have the places first[u] to first[u + 1] - 1 in target.

// Offers the neighbours of each active node the path through it.
extern "C" __global__ void bfs_relax(int n, const int *first, const int *target, const uchar *active, const int *distance, int *next) {
  int u = blockIdx.x * blockDim.x + threadIdx.x;
  if (u >= n || !active[u])
    return;
  int beyond = distance[u] + 1;
  for (int k = first[u]; k < first[u + 1]; k++)
    atomicMin(&next[target[k]], beyond);
}

// Takes shorter paths over; their nodes are active in the next round.
extern "C" __global__ void bfs_commit(int n, const int *next, int *distance, uchar *active, int *changed) {
  int u = blockIdx.x * blockDim.x + threadIdx.x;
  if (u >= n)
    return;
  int shorter = next[u] < distance[u];
  if (shorter) {
    distance[u] = next[u];
    atomicAdd(changed, 1);
  }
  active[u] = shorter;
}
