// Functions for asynchronous copies of boxes of tensors, and for the mbarriers that tell their end, for the kernels of current
// workloads.
#ifndef GEMU_TMA
#define GEMU_TMA
#include "asm.h"

// A tensor map: the shape of a matrix, and of the boxes that are copied. The host makes it.
struct __align__(64) tensor_map {
  char bytes[128];
};

INSTRUCTION void init_mbarrier(unsigned long long *b, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(arrivals) : "memory");
}
// Makes the initial mbarriers visible to asynchronous copies.
INSTRUCTION void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
INSTRUCTION void arrive(unsigned long long *b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(b)) : "memory");
}
// Arrives, and has the phase also wait for bytes of copies.
INSTRUCTION void expect_bytes(unsigned long long *b, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(b)), "r"(bytes) : "memory");
}
// Waits for the end of a phase with the given parity.
INSTRUCTION void wait_mbarrier(unsigned long long *b, uint parity) {
  uint done = 0;
  while (!done)
    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t"
                 "}"
                 : "=r"(done) : "r"(shared_address(b)), "r"(parity) : "memory");
}
// Begins to copy the box of a matrix at a column and a row. The mbarrier counts its bytes.
INSTRUCTION void copy_box(uint to, const tensor_map *map, int column, int row, unsigned long long *b) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               ::"r"(to), "l"(map), "r"(column), "r"(row), "r"(shared_address(b)) : "memory");
}

#endif
