#include "gemu.h"

#define BYTES 256

// Search of several words in many texts with automata (Knuth, Morris and Pratt). The bytes of
// text t are text[first[t]] … text[first[t + 1] - 1], and likewise for words. In state j of a
// word's automaton its first j bytes have just been seen; states are rows of BYTES; the
// states of a word follow the states of the previous word, and a word has one state more than
// bytes.

// Makes the automata, one thread per word.
extern "C" __global__ void strsearch_build(int words, const uchar *word, const int *first, uchar *automata) {
  int w = blockIdx.x * blockDim.x + threadIdx.x;
  if (w >= words)
    return;
  const uchar *p = word + first[w];
  int length = first[w + 1] - first[w];
  uchar *next = automata + (first[w] + w) * BYTES;
  for (int c = 0; c < BYTES; c++)
    next[c] = 0;
  next[p[0]] = 1;
  int fallback = 0; // the state after all but the first byte
  for (int j = 1; j <= length; j++) {
    for (int c = 0; c < BYTES; c++)
      next[j * BYTES + c] = next[fallback * BYTES + c];
    if (j < length) {
      next[j * BYTES + p[j]] = j + 1;
      fallback = next[fallback * BYTES + p[j]];
    }
  }
}

// count[w·texts + t] = how often word w occurs in text t. One thread per text.
extern "C" __global__ void strsearch(int words, const int *firstWord, const uchar *automata, int texts, const uchar *text, const int *firstText, int *count) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= texts)
    return;
  for (int w = 0; w < words; w++) {
    const uchar *next = automata + (firstWord[w] + w) * BYTES;
    int length = firstWord[w + 1] - firstWord[w];
    int state = 0, found = 0;
    for (int i = firstText[t]; i < firstText[t + 1]; i++) {
      state = next[state * BYTES + text[i]];
      if (state == length)
        found++;
    }
    count[w * texts + t] = found;
  }
}
