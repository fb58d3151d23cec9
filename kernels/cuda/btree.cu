#include "gemu.h"

#define ORDER 256

// Searches in a B+ tree, a block of ORDER threads for each: all keys of a node are compared at once. Node i
// has the keys key[i·ORDER] …, in order, and where each leads to in child: for height levels
// from the root, node 0, to the node that has the keys from this one on; in a leaf to a record.
// Places that are not used have the largest key of all, and the first key of all is
// the smallest, but in leaves.

// Goes from node to the leaf where key x is or would be, and then to this thread's place in it.
GEMU_INLINE int descend(int height, const int *key, const int *child, int x, int *node) {
  int t = threadIdx.x;
#pragma unroll 1
  for (int level = 0;; level++) {
    __syncthreads();
    int at = *node * ORDER + t;
    if (level == height)
      return at;
    __syncthreads();
    if (key[at] <= x && (t == ORDER - 1 || x < key[at + 1]))
      *node = child[at];
  }
}

// found[b] becomes what the record of key x[b] holds, and stays what it was if there is none.
extern "C" __global__ void btree_find(int height, const int *key, const int *child, const int *record, const int *x, int *found) {
  __shared__ int node;
  if (threadIdx.x == 0)
    node = 0;
  int wanted = x[blockIdx.x], at = descend(height, key, child, wanted, &node);
  if (key[at] == wanted)
    found[blockIdx.x] = record[child[at]];
}

// The keys from[b] … to[b]: in place[b] how many are smaller than these, in count[b] how many
// there are. Records are in the order of their keys.
extern "C" __global__ void btree_range(int height, const int *key, const int *child, const int *from, const int *to, int *place, int *count) {
  __shared__ int nodes[2], rank[2];
  int t = threadIdx.x;
  if (t < 2) {
    nodes[t] = 0;
    rank[t] = -1;
  }
#pragma unroll 1
  for (int end = 0; end < 2; end++) {
    int x = end == 0 ? from[blockIdx.x] - 1 : to[blockIdx.x];
    int at = descend(height, key, child, x, &nodes[end]);
    if (key[at] <= x && (t == ORDER - 1 || x < key[at + 1]))
      rank[end] = child[at];
  }
  __syncthreads();
  if (t == 0) {
    place[blockIdx.x] = rank[0] + 1;
    count[blockIdx.x] = rank[1] - rank[0];
  }
}
