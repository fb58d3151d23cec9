// libcu++: barriers, pipelines, asynchronous copies.
// with T = int | double | int4
// with STAGES = 1 | 2 | 3
// from 80
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cooperative_groups.h>
extern "C" __global__ void k(const T* a, T* out, int n)
{
  __shared__ T s[STAGES][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  auto block = cooperative_groups::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, blockDim.x);
  block.sync();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int i = 0; i < n; i++) {
    pipe.producer_acquire(); cuda::memcpy_async(block, s[i % STAGES], a + i * 128, cuda::aligned_size_t<16>(sizeof(T) * 128), pipe); pipe.producer_commit();
    pipe.consumer_wait(); out[i * 128 + threadIdx.x] = s[i % STAGES][threadIdx.x ^ 1]; pipe.consumer_release();
  }
  cuda::memcpy_async(block, s[0], a, sizeof(T) * 128, bar);
  auto token = bar.arrive(); bar.wait(static_cast<decltype(token)&&>(token)); bar.arrive_and_wait();
  auto alone = cuda::make_pipeline(); cuda::memcpy_async(s[0] + threadIdx.x, a + threadIdx.x, sizeof(T), alone); cuda::pipeline_consumer_wait_prior<0>(alone);
  out[threadIdx.x] = s[0][threadIdx.x ^ 3];
}
