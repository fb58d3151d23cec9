#include "gemu.h"

#define ROUNDS 10
#define BLOCK 256

// What the host fills in: the round keys, SubBytes and MixColumns of a byte in row 0
// as a column (Rijndael's table T0; those of the other rows are its rotations),
// and SubBytes alone. Words are little-endian: byte r is row r of the state.
__constant__ uint keys[4 * (ROUNDS + 1)];
__constant__ uint table[256];
__constant__ uchar sbox[256];

GEMU_INLINE uint rotate(uint v, int n) { return v << n | v >> (32 - n); }

// Encrypts n blocks of 16 bytes with AES-128, each by itself (ECB). One thread per
// block; the tables are looked up in shared memory.
extern "C" __global__ void aes(int n, const uint *in, uint *out) {
  __shared__ uint mix[256];
  __shared__ uchar sub[256];
  mix[threadIdx.x] = table[threadIdx.x];
  sub[threadIdx.x] = sbox[threadIdx.x];
  __syncthreads();
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n)
    return;
  uint s[4], t[4]; // the columns of the state
  for (int c = 0; c < 4; c++)
    s[c] = in[4 * i + c] ^ keys[c];
  for (int round = 1; round < ROUNDS; round++) {
    // ShiftRows takes the byte in row r from r columns further.
    for (int c = 0; c < 4; c++)
      t[c] = mix[s[c] & 255] ^ rotate(mix[s[(c + 1) % 4] >> 8 & 255], 8) ^ rotate(mix[s[(c + 2) % 4] >> 16 & 255], 16) ^
             rotate(mix[s[(c + 3) % 4] >> 24], 24) ^ keys[4 * round + c];
    for (int c = 0; c < 4; c++)
      s[c] = t[c];
  }
  for (int c = 0; c < 4; c++)
    out[4 * i + c] = (sub[s[c] & 255] | sub[s[(c + 1) % 4] >> 8 & 255] << 8 | sub[s[(c + 2) % 4] >> 16 & 255] << 16 |
                      (uint)sub[s[(c + 3) % 4] >> 24] << 24) ^
                     keys[4 * ROUNDS + c];
}
