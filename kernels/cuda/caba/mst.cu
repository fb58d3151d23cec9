#include "../gemu.h"

// A minimum spanning forest by rounds (Boruvka 1926). component[u] is a node of the component of node u that stands for it. Edges from u have
// the places first[u] to first[u + 1] - 1 in target, weight and edge; edge is the number of the undirected edge.

// Finds the lightest edge of each component to another one: its weight above its number.
extern "C" __global__ void mst_find(int n, const int *first, const int *target, const uint *weight, const uint *edge, const int *component, ull *lightest) {
  int u = blockIdx.x * blockDim.x + threadIdx.x;
  if (u >= n)
    return;
  ull least = ~0ull;
  int own = component[u];
  for (int k = first[u]; k < first[u + 1]; k++)
    if (component[target[k]] != own) {
      ull e = (ull)weight[k] << 32 | edge[k];
      least = e < least ? e : least;
    }
  if (least != ~0ull)
    atomicMin(&lightest[own], least);
}

// Gives each component with such an edge the component at its other end as parent, and chooses the edge. Of two components with the same
// edge, the one with the smaller number stays.
extern "C" __global__ void mst_join(int n, const int *ends, const int *component, const ull *lightest, int *parent, uchar *chosen, int *joins) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= n)
    return;
  int to = component[c];
  if (to == c && lightest[c] != ~0ull) {
    uint e = (uint)lightest[c];
    int a = component[ends[2 * e]], b = component[ends[2 * e + 1]], other = a == c ? b : a;
    if (lightest[other] != lightest[c] || other < c) {
      to = other;
      chosen[e] = 1;
      atomicAdd(joins, 1);
    }
  }
  parent[c] = to;
}

// Follows the parents of each node to the last one, its component in the next round, which has no lightest edge yet.
extern "C" __global__ void mst_follow(int n, const int *parent, int *component, ull *lightest) {
  int u = blockIdx.x * blockDim.x + threadIdx.x;
  if (u >= n)
    return;
  int c = parent[u];
  while (parent[c] != c)
    c = parent[c];
  component[u] = c;
  lightest[u] = ~0ull;
}
