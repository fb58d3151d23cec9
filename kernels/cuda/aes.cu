#include "gemu.h"

#define ROUNDS 10
#define BLOCK 256

// Set by the host: the round keys; SubBytes and MixColumns of a byte in row 0 as a column
// (Rijndael's table T0; the tables of further rows are its rotations); and SubBytes alone. Words
// are little-endian: byte r is row r of the state.
__constant__ uint keys[4 * (ROUNDS + 1)];
__constant__ uint table[256];
__constant__ uchar sbox[256];

GEMU_INLINE uint rotate(uint v, int n) { return v << n | v >> (32 - n); }

// Encrypts n blocks of 16 bytes with AES-128, each separately (ECB). Four threads per block, each
// for a column of the state; the tables and the state are in shared memory, with separate states
// for consecutive rounds.
extern "C" __global__ void aes(int n, const uint *in, uint *out) {
  __shared__ uint mix[256];
  __shared__ uchar sub[256];
  __shared__ uint state[2][BLOCK];
  int t = threadIdx.x, first = t & ~3, column = t & 3;
  int i = blockIdx.x * BLOCK + t;
  bool inside = i < 4 * n;
  mix[t] = table[t];
  sub[t] = sbox[t];
  state[0][t] = inside ? in[i] ^ keys[column] : 0;
  __syncthreads();
  // ShiftRows takes the byte in row r from r columns further.
  int from[4];
  for (int r = 0; r < 4; r++)
    from[r] = first | ((column + r) & 3);
  for (int round = 1; round < ROUNDS; round++) {
    const uint *s = state[(round + 1) & 1];
    state[round & 1][t] = mix[s[from[0]] & 255] ^ rotate(mix[s[from[1]] >> 8 & 255], 8) ^ rotate(mix[s[from[2]] >> 16 & 255], 16) ^
                          rotate(mix[s[from[3]] >> 24], 24) ^ keys[4 * round + column];
    __syncthreads();
  }
  const uint *s = state[(ROUNDS + 1) & 1];
  if (inside)
    out[i] = (sub[s[from[0]] & 255] | sub[s[from[1]] >> 8 & 255] << 8 | sub[s[from[2]] >> 16 & 255] << 16 | (uint)sub[s[from[3]] >> 24] << 24) ^
             keys[4 * ROUNDS + column];
}
