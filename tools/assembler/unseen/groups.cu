// Cooperative groups.
// with N = 1 | 2 | 4 | 8 | 16 | 32
// with T = int | unsigned | float | double | long long
// from 70
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(T* a, T* out)
{
  __shared__ T s[256];
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<N>(block);
  cg::memcpy_async(block, s, a, sizeof(T) * 256);
  cg::wait(block);
  T x = s[block.thread_rank()];
  x = cg::reduce(tile, x, cg::plus<T>()) + cg::inclusive_scan(tile, x) + cg::exclusive_scan(tile, x, cg::plus<T>());
  x += tile.shfl(x, 0) + tile.shfl_xor(x, 1) + T(tile.any(x > T(1))) + T(tile.ballot(x > T(2)));
  auto active = cg::coalesced_threads();
  if (x > T(3)) { auto some = cg::coalesced_threads(); x += T(some.size()) + some.shfl(x, 0) + cg::reduce(some, x, cg::less<T>()); }
  auto labeled = cg::labeled_partition(active, (int)x & 3);
  x += T(labeled.num_threads()) + T(cg::binary_partition(tile, x > T(5)).size());
  cg::invoke_one(tile, [&] { out[tile.meta_group_rank()] = x; });
  tile.sync(); block.sync();
  cg::grid_group grid = cg::this_grid();
  grid.sync();
#if __CUDA_ARCH__ >= 900
  auto cluster = cg::this_cluster();
  T* other = cluster.map_shared_rank(s, 0);
  cluster.sync();
  x += other[0] + T(cluster.block_rank());
#endif
  out[grid.thread_rank()] = x;
}
