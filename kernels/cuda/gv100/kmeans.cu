#include "measured.h"

#define FEATURES 34 // of an object
#define CLUSTERS 32 // at most

__constant__ float centre[CLUSTERS * FEATURES]; // the features of cluster 0, then those of cluster 1, and so on

// Element i of an array of floats that is a texture.
GEMU_INLINE float element(ull array, int i) {
  float value, green, blue, alpha;
  asm volatile("tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];" : "=f"(value), "=f"(green), "=f"(blue), "=f"(alpha) : "l"(array), "r"(i));
  return value;
}

// Assigns each object to the cluster whose centre is nearest to its features, the first of several. The array of features has feature 0 of all objects, then feature 1 of
// all, and so on. The grid has two dimensions.
extern "C" __global__ void kmeans_point(ull feature, int features, int objects, int clusters, int *cluster) {
  int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= objects)
    return;
  int nearest = -1;
  float least = 3.402823466e38f;
  for (int c = 0; c < clusters; c++) {
    float distance = 0;
    for (int k = 0; k < features; k++) {
      float d = element(feature, k * objects + i) - centre[c * features + k];
      distance += d * d;
    }
    if (distance < least) {
      least = distance;
      nearest = c;
    }
  }
  cluster[i] = nearest;
}
