#include "gemu.h"

#define ORDER 256

// Searches in a B+ tree, a block of ORDER threads for each: all keys of a node are compared at
// once. Node i has the keys key[i·ORDER] …, in order, and their targets in child: for height levels
// from the root, node 0, the node with the keys from this key on; in a leaf a record. Unused places
// have the largest key of all, and the first key of a node is the smallest of all, except in
// leaves.

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

// found[b] becomes the value of the record with key x[b]; it stays unchanged if there is no such record.
extern "C" __global__ void btree_find(int height, const int *key, const int *child, const int *record, const int *x, int *found) {
  __shared__ int node;
  if (threadIdx.x == 0)
    node = 0;
  int wanted = x[blockIdx.x], at = descend(height, key, child, wanted, &node);
  if (key[at] == wanted)
    found[blockIdx.x] = record[child[at]];
}

// The keys from[b] … to[b]: place[b] is the number of smaller keys, count[b] the number of keys in the
// range. Records are in the order of their keys.
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
