/* syncfree.cu - in-degrees, the only preprocessing of L17's methods (Algorithm 3): one atomic
 * addition per entry.  O(nnz). */
#include "L17/syncfree.cuh"

namespace {

constexpr int64_t BLOCK = 256, MOST_BLOCKS = 65536;

unsigned blocks_for(int64_t count) {
  const int64_t blocks = (count + BLOCK - 1) / BLOCK;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks > MOST_BLOCKS ? MOST_BLOCKS : blocks);
}

__global__ void count_entries(trs_syncfree s) {
  for (int64_t p = int64_t(blockIdx.x) * BLOCK + threadIdx.x; p < s.nnz;
       p += int64_t(gridDim.x) * BLOCK)
    atomicAdd(&s.in_degree[s.idx[p]], 1);
}

__global__ void discount_diagonals(trs_syncfree s) {
  for (int64_t j = int64_t(blockIdx.x) * BLOCK + threadIdx.x; j < s.n;
       j += int64_t(gridDim.x) * BLOCK)
    s.in_degree[j] -= trs::syncfree::stores_diagonal(s, j);
}

}  // namespace

extern "C" trs_status trs_syncfree_count(const trs_syncfree *s, trs_stream stream) {
  const auto to = static_cast<cudaStream_t>(stream);
  count_entries<<<blocks_for(s->nnz), BLOCK, 0, to>>>(*s);
  discount_diagonals<<<blocks_for(s->n), BLOCK, 0, to>>>(*s);
  return trs_device_check(cudaGetLastError(), "counting in-degrees");
}
