// Prints what NVIDIA's occupancy calculator says, a header of the CUDA toolkit, for reference.tsv.
//
//	cc -I CUDA/include reference.c -o reference && ./reference >reference.tsv
//
// What a multiprocessor has is from the CUDA C++ Programming Guide, "Technical Specifications per
// Compute Capability".

#include <stdio.h>
#include <cuda_occupancy.h>

#define K 1024

static const struct { int major, minor, threads, shared, per_block, reserved, registers; } devices[] = {
  {3, 5, 2048, 48 * K, 48 * K, 0, 64 * K}, {5, 0, 2048, 64 * K, 48 * K, 0, 64 * K}, {5, 2, 2048, 96 * K, 48 * K, 0, 64 * K}, {5, 3, 2048, 64 * K, 48 * K, 0, 32 * K},
  {6, 0, 2048, 64 * K, 48 * K, 0, 64 * K}, {6, 1, 2048, 96 * K, 48 * K, 0, 64 * K}, {6, 2, 2048, 64 * K, 48 * K, 0, 32 * K},
  {7, 0, 2048, 96 * K, 96 * K, 0, 64 * K}, {7, 2, 2048, 96 * K, 96 * K, 0, 64 * K}, {7, 5, 1024, 64 * K, 64 * K, 0, 64 * K},
  {8, 0, 2048, 164 * K, 163 * K, K, 64 * K}, {8, 6, 1536, 100 * K, 99 * K, K, 64 * K}, {8, 7, 1536, 164 * K, 163 * K, K, 64 * K},
  {8, 9, 1536, 100 * K, 99 * K, K, 64 * K}, {9, 0, 2048, 228 * K, 227 * K, K, 64 * K}, {10, 0, 2048, 228 * K, 227 * K, K, 64 * K},
  {10, 3, 2048, 228 * K, 227 * K, K, 64 * K}, {11, 0, 1536, 228 * K, 227 * K, K, 64 * K}, {12, 0, 1536, 100 * K, 99 * K, K, 64 * K},
  {12, 1, 1536, 100 * K, 99 * K, K, 64 * K},
};

static const struct { int threads, registers, shared; } blocks[] = {
  {32, 16, 0}, {64, 32, 0}, {96, 40, 1000}, {128, 32, 0}, {128, 64, 16 * K}, {128, 255, 0}, {160, 33, 5000}, {192, 72, 3 * K}, {256, 32, 0}, {256, 37, 12345},
  {256, 64, 24 * K}, {256, 128, 48 * K}, {288, 56, 0}, {384, 40, 1}, {512, 64, 32 * K}, {512, 65, 0}, {640, 48, 40000}, {768, 80, 0}, {1024, 32, 0}, {1024, 33, 48 * K},
  {1024, 64, 0}, {1024, 65, 0}, {32, 24, 23 * K}, {64, 20, 48 * K}, {64, 20, 64 * K}, {64, 20, 96 * K}, {64, 20, 99 * K}, {64, 20, 163 * K}, {64, 20, 227 * K}, {992, 16, 0},
  {1, 255, 0}, {33, 8, 255}, {128, 16, 3200}, {128, 16, 3201}, {128, 16, 2113}, {128, 16, 7168}, {288, 96, 0},
};

int main(void) {
  printf("sm\tthreads\tregisters\tshared\tblocks\n");
  for (int d = 0; d < (int)(sizeof devices / sizeof *devices); d++)
    for (int b = 0; b < (int)(sizeof blocks / sizeof *blocks); b++) {
      cudaOccDeviceProp device = {0};
      device.computeMajor = devices[d].major, device.computeMinor = devices[d].minor;
      device.maxThreadsPerBlock = 1024, device.maxThreadsPerMultiprocessor = devices[d].threads;
      device.regsPerBlock = devices[d].registers, device.regsPerMultiprocessor = 64 * K;
      device.warpSize = 32, device.numSms = 1;
      device.sharedMemPerBlock = 48 * K, device.sharedMemPerMultiprocessor = devices[d].shared;
      device.sharedMemPerBlockOptin = devices[d].per_block, device.reservedSharedMemPerBlock = devices[d].reserved;
      cudaOccFuncAttributes function = {0};
      function.maxThreadsPerBlock = 1024, function.numRegs = blocks[b].registers;
      function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN, function.maxDynamicSharedSizeBytes = devices[d].per_block;
      cudaOccDeviceState state = {0};
      state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
      cudaOccResult result;
      cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state, blocks[b].threads, blocks[b].shared);
      if (error != CUDA_OCC_SUCCESS) {
        fprintf(stderr, "%d.%d: error %d\n", devices[d].major, devices[d].minor, error);
        return 1;
      }
      printf("%d\t%d\t%d\t%d\t%d\n", 10 * devices[d].major + devices[d].minor, blocks[b].threads, blocks[b].registers, blocks[b].shared, result.activeBlocksPerMultiprocessor);
    }
  return 0;
}
