#include "gemu.h"

#define SIDE 16 // pixels along the side of a macroblock
#define SUMS 41 // of a macroblock, for each place

// The search for motion in H.264 video: the difference of each macroblock of a frame from the
// previous frame, at all places that are at most `reach` pixels away from its own in x and y: the
// sums of the absolute differences, of the macroblock and of all its possible parts. sad has, for
// each macroblock, (2·reach + 1)² sums of each part: 16 of 4×4 pixels, then 8 of 8×4, 8 of 4×8, 4 of
// 8×8, 2 of 16×8, 2 of 8×16, and the whole. One macroblock per block. Threads iterate over the
// places.

// The parts of 4×4 pixels. frame is width pixels across; before has reach more on each side.
extern "C" __global__ void sad_4(int reach, int width, const uchar *frame, const uchar *before, ushort *sad) {
  __shared__ uchar own[SIDE][SIDE];
  int t = threadIdx.x, stride = width + 2 * reach, across = 2 * reach + 1, places = across * across;
  for (int i = t; i < SIDE * SIDE; i += blockDim.x)
    own[i / SIDE][i % SIDE] = frame[(blockIdx.y * SIDE + i / SIDE) * width + blockIdx.x * SIDE + i % SIDE];
  before += blockIdx.y * SIDE * stride + blockIdx.x * SIDE;
  sad += (blockIdx.y * gridDim.x + blockIdx.x) * SUMS * places;
  __syncthreads();
#pragma unroll 1
  for (int p = t; p < places; p += blockDim.x) {
    const uchar *there = before + p / across * stride + p % across;
#pragma unroll 1
    for (int part = 0; part < 16; part++) {
      int x = part % 4 * 4, y = part / 4 * 4, sum = 0;
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
          sum += abs(own[y + i][x + j] - there[(y + i) * stride + x + j]);
      sad[part * places + p] = sum;
    }
  }
}

// The parts of 8×4, 4×8 and 8×8, from 4×4.
extern "C" __global__ void sad_8(int places, ushort *sad) {
  sad += blockIdx.x * SUMS * places;
#pragma unroll 1
  for (int p = threadIdx.x; p < places; p += blockDim.x)
#pragma unroll 1
    for (int part = 0; part < 4; part++) {
      const ushort *quarter = sad + (part / 2 * 8 + part % 2 * 2) * places + p;
      int a = quarter[0], b = quarter[places], c = quarter[4 * places], d = quarter[5 * places];
      sad[(16 + 2 * part) * places + p] = a + b;
      sad[(17 + 2 * part) * places + p] = c + d;
      sad[(24 + 2 * part) * places + p] = a + c;
      sad[(25 + 2 * part) * places + p] = b + d;
      sad[(32 + part) * places + p] = a + b + c + d;
    }
}

// The parts of 16×8, 8×16 and 16×16, from 8×8.
extern "C" __global__ void sad_16(int places, ushort *sad) {
  sad += blockIdx.x * SUMS * places;
#pragma unroll 1
  for (int p = threadIdx.x; p < places; p += blockDim.x) {
    int a = sad[32 * places + p], b = sad[33 * places + p], c = sad[34 * places + p], d = sad[35 * places + p];
    sad[36 * places + p] = a + b;
    sad[37 * places + p] = c + d;
    sad[38 * places + p] = a + c;
    sad[39 * places + p] = b + d;
    sad[40 * places + p] = a + b + c + d;
  }
}
