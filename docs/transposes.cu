// Three transpositions, for docs/profile.md: out = in transposed; in is n×n, n a multiple of 32.

#define TILE 32
#define LANE __nvvm_read_ptx_sreg_tid_x()
#define ROW __nvvm_read_ptx_sreg_tid_y()
#define LEFT __nvvm_read_ptx_sreg_ctaid_x()
#define TOP __nvvm_read_ptx_sreg_ctaid_y()

// at is the index of an element of a matrix.
static __device__ int at(int row, int column, int n) {
  return row * n + column;
}

// Writes go down a column: each lane of a warp writes to a sector of its own.
extern "C" __global__ void naive(const float *in, float *out, int n) {
  int x = LEFT * TILE + LANE, y = TOP * TILE + ROW;
  out[at(x, y, n)] = in[at(y, x, n)];
}

// Reads and writes go along rows, by way of a tile. A column of it is in one bank.
extern "C" __global__ void tiled(const float *in, float *out, int n) {
  __shared__ float tile[TILE][TILE];
  int x = LEFT * TILE + LANE, y = TOP * TILE + ROW;
  tile[ROW][LANE] = in[at(y, x, n)];
  __syncthreads();
  x = TOP * TILE + LANE, y = LEFT * TILE + ROW;
  out[at(y, x, n)] = tile[LANE][ROW];
}

// The tile has one more column, and a column of it is in 32 banks.
extern "C" __global__ void padded(const float *in, float *out, int n) {
  __shared__ float tile[TILE][TILE + 1];
  int x = LEFT * TILE + LANE, y = TOP * TILE + ROW;
  tile[ROW][LANE] = in[at(y, x, n)];
  __syncthreads();
  x = TOP * TILE + LANE, y = LEFT * TILE + ROW;
  out[at(y, x, n)] = tile[LANE][ROW];
}
