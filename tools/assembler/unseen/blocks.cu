// CUB, in blocks and warps.
// with T = int | float | double | unsigned char | long long
// with N = 0 | 1 | 2 | 3 | 4 | 5
// from 60
#include <cuda/functional>
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_exchange.cuh>
struct Less { template <class U> __device__ bool operator()(const U& a, const U& b) const { return a < b; } };
extern "C" __global__ void k(T* a, T* out, int* n)
{
  constexpr int threads = 128, items = 4;
  T x[items];
#if N == 0
  using Load = cub::BlockLoad<T, threads, items, cub::BLOCK_LOAD_WARP_TRANSPOSE>; using Store = cub::BlockStore<T, threads, items, cub::BLOCK_STORE_TRANSPOSE>; using Reduce = cub::BlockReduce<T, threads, cub::BLOCK_REDUCE_RAKING>;
  __shared__ union { Load::TempStorage l; Store::TempStorage s; Reduce::TempStorage r; } t;
  Load(t.l).Load(a, x, n[0], T(0)); __syncthreads(); T sum = Reduce(t.r).Sum(x); __syncthreads(); x[0] += sum; Store(t.s).Store(out, x);
#elif N == 1
  using Scan = cub::BlockScan<T, threads, cub::BLOCK_SCAN_WARP_SCANS>; using Reduce = cub::BlockReduce<T, threads>;
  __shared__ Scan::TempStorage s; __shared__ Reduce::TempStorage r;
  cub::LoadDirectBlockedVectorized(threadIdx.x, a, x); T all; Scan(s).ExclusiveSum(x, x, all); x[1] += all; x[2] = Reduce(r).Reduce(x[0], Less{} (x[1], x[2]) ? cuda::maximum<>() : cuda::maximum<>()); cub::StoreDirectStriped<threads>(threadIdx.x, out, x);
#elif N == 2
  using Sort = cub::BlockRadixSort<T, threads, items, int>; __shared__ Sort::TempStorage s; int v[items];
  cub::LoadDirectStriped<threads>(threadIdx.x, a, x); cub::LoadDirectBlocked(threadIdx.x, n, v); Sort(s).SortDescending(x, v); cub::StoreDirectBlocked(threadIdx.x, out, x); cub::StoreDirectBlocked(threadIdx.x, n, v);
#elif N == 3
  using Sort = cub::BlockMergeSort<T, threads, items>; using Exchange = cub::BlockExchange<T, threads, items>; __shared__ union { Sort::TempStorage s; Exchange::TempStorage e; } t;
  cub::LoadDirectBlocked(threadIdx.x, a, x); Sort(t.s).Sort(x, Less()); __syncthreads(); Exchange(t.e).BlockedToStriped(x); cub::StoreDirectStriped<threads>(threadIdx.x, out, x);
#elif N == 4
  using Head = cub::BlockDiscontinuity<T, threads>; using Diff = cub::BlockAdjacentDifference<T, threads>; using Shuffle = cub::BlockShuffle<T, threads>; using Histogram = cub::BlockHistogram<unsigned char, threads, items, 256>;
  __shared__ union { Head::TempStorage h; Diff::TempStorage d; Shuffle::TempStorage s; Histogram::TempStorage g; } t; __shared__ unsigned bins[256]; int flags[items]; unsigned char c[items];
  cub::LoadDirectBlocked(threadIdx.x, a, x); Head(t.h).FlagHeads(flags, x, cub::Inequality()); __syncthreads(); Diff(t.d).SubtractLeft(x, x, cub::Difference()); __syncthreads(); Shuffle(t.s).Up(x, x); __syncthreads();
  for (int i = 0; i < items; i++) c[i] = (unsigned char)x[i]; Histogram(t.g).Histogram(c, bins); __syncthreads(); cub::StoreDirectBlocked(threadIdx.x, out, x); n[threadIdx.x] = flags[0] + bins[threadIdx.x];
#else
  using Reduce = cub::WarpReduce<T>; using Scan = cub::WarpScan<T, 16>; using Sort = cub::WarpMergeSort<T, items, 32>; using Exchange = cub::WarpExchange<T, items, 32>;
  __shared__ Reduce::TempStorage r[4]; __shared__ Scan::TempStorage s[8]; __shared__ Sort::TempStorage o[4]; __shared__ Exchange::TempStorage e[4]; int w = threadIdx.x / 32;
  cub::LoadDirectBlocked(threadIdx.x, a, x); x[0] = Reduce(r[w]).Sum(x[0]); x[1] = Reduce(r[w]).HeadSegmentedSum(x[1], n[threadIdx.x]); Scan(s[threadIdx.x / 16]).InclusiveSum(x[2], x[2]); Sort(o[w]).Sort(x, Less()); Exchange(e[w]).StripedToBlocked(x, x); cub::StoreDirectBlocked(threadIdx.x, out, x);
#endif
}
