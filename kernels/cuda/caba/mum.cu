#include "../gemu.h"

// A node of a suffix tree: its child for each letter, the first and the end of the text on the edge to it, and the node of its text without
// the first letter. Node 0 is the root, and stands for a missing child.
struct node {
  int child[4];
  int start, end, link, parent;
};

// The length of the longest match of each place of a query with the text; a thread has a query. A query has size letters, 0 to 3, and so
// has the text before its end, which is another number.
extern "C" __global__ void mum_match(int queries, int size, const struct node *tree, const uchar *text, const uchar *query, uchar *length) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= queries)
    return;
  const uchar *letters = query + q * size;
  int node = 0, edge = 0, on = 0; // the match ends after on letters of the edge below node that leads to node edge
  int end = 0;                    // of the match, in the query
  for (int start = 0; start < size; start++) {
    while (end < size) {
      if (on == 0) {
        edge = tree[node].child[letters[end]];
        if (edge == 0)
          break;
      }
      if (text[tree[edge].start + on] != letters[end])
        break;
      on++;
      end++;
      if (on == tree[edge].end - tree[edge].start) {
        node = edge;
        on = 0;
      }
    }
    length[q * size + start] = end - start;
    if (end == start) { // not even a letter
      end++;
      continue;
    }
    // The match without its first letter: from the linked node down, by whole edges.
    if (node == 0)
      on--;
    else
      node = tree[node].link;
    int rest = on;
    on = 0;
    while (rest > 0) {
      edge = tree[node].child[letters[end - rest]];
      int whole = tree[edge].end - tree[edge].start;
      if (rest < whole) {
        on = rest;
        break;
      }
      node = edge;
      rest -= whole;
    }
  }
}
