#include "gemu.h"

#define CELL 8  // lattice points along the side of a cell, and the cutoff
#define ATOMS 8 // places for atoms in a cell

struct atom {
  float x, y, z, charge;
};

// potential[(z·n + y)·n + x] = Σ q/r·(1 - r²/c²)² over the atoms nearer than the
// cutoff c = CELL, at the points of an n×n×n lattice of spacing 1. The atoms are
// sorted into cells³ cubes; unused places in them have charge 0. A block of 8×8×4
// threads lies in a cell, so all its atoms are in this cell and the 26 cells around
// it.
extern "C" __global__ void cutcp(int n, int cells, const atom *atoms, float *potential) {
  __shared__ atom near[ATOMS];
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z * 4 + threadIdx.z;
  int t = (threadIdx.z * 8 + threadIdx.y) * 8 + threadIdx.x;
  int cx = blockIdx.x, cy = blockIdx.y, cz = blockIdx.z / 2;
  float sum = 0;
  for (int kz = max(cz - 1, 0); kz <= min(cz + 1, cells - 1); kz++)
    for (int ky = max(cy - 1, 0); ky <= min(cy + 1, cells - 1); ky++)
      for (int kx = max(cx - 1, 0); kx <= min(cx + 1, cells - 1); kx++) {
        __syncthreads();
        if (t < ATOMS)
          near[t] = atoms[((kz * cells + ky) * cells + kx) * ATOMS + t];
        __syncthreads();
        for (int i = 0; i < ATOMS; i++) {
          float dx = near[i].x - x, dy = near[i].y - y, dz = near[i].z - z;
          float r2 = dx * dx + dy * dy + dz * dz;
          float s = fmaxf(0, 1 - r2 * (1.f / (CELL * CELL)));
          sum += near[i].charge * rsqrtf(r2) * s * s;
        }
      }
  if (x < n && y < n && z < n)
    potential[(z * n + y) * n + x] = sum;
}
