#include "gemu.h"

#define KERNEL 5

// 1.7159·tanh(⅔x) (LeCun), with tanh y = 1 - 2 / (e^2y + 1).
GEMU_INLINE float activation(float x) {
  float e = expf(x * (4 / 3.f));
  return 1.7159f * (1 - 2 / (e + 1));
}

// A convolutional layer: feature maps of side×side neurons, each connected to 5×5 neurons
// of every map below, two further on for each neuron. One block per map and image, one
// thread per neuron. The weights of a map are its bias, then the weights of each map
// below.
extern "C" __global__ void nnet_conv(int mapsBelow, int sideBelow, const float *below, const float *weight, float *out) {
  int map = blockIdx.x, maps = gridDim.x, image = blockIdx.y, side = blockDim.x;
  const float *w = weight + map * (1 + mapsBelow * KERNEL * KERNEL);
  const float *in = below + image * mapsBelow * sideBelow * sideBelow;
  float sum = *w++;
  for (int m = 0; m < mapsBelow; m++)
    for (int ky = 0; ky < KERNEL; ky++)
      for (int kx = 0; kx < KERNEL; kx++)
        sum += *w++ * in[(m * sideBelow + 2 * threadIdx.y + ky) * sideBelow + 2 * threadIdx.x + kx];
  out[((image * maps + map) * side + threadIdx.y) * side + threadIdx.x] = activation(sum);
}

// A fully connected layer, one block of one thread per neuron and image. The weights of a neuron
// are its bias, then the weights of the neurons below.
extern "C" __global__ void nnet_full(int neuronsBelow, const float *below, const float *weight, float *out) {
  int neuron = blockIdx.x, neurons = gridDim.x, image = blockIdx.y;
  const float *w = weight + neuron * (1 + neuronsBelow);
  float sum = *w++;
  for (int i = 0; i < neuronsBelow; i++)
    sum += w[i] * below[image * neuronsBelow + i];
  out[image * neurons + neuron] = activation(sum);
}
