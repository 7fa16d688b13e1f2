/* analysis_blocks.cu - runs of rows into blocks, and the blocks that each depends on.
 *
 * A row joins the block before it by how many of the rows just before it it needs.  Those runs are
 * counted by a thread a row; the cuts, a short chain within a window of TRS_BLOCK_WINDOW rows, by a
 * thread a window; numbers are a scan.  The rows of a block share most of their columns, and those
 * of one block stand side by side: a warp a row reduces its entries to the blocks behind them that
 * the block's first row does not need, so that the walk along the levels reads a fraction of the
 * entries.  O(nnz). */
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/transform_iterator.h>

#include "solve/cuda/analysis.cuh"

namespace {

using namespace trs;

enum { VECTOR = 16 }; /* runs that are read at once */

/* How many of the rows just before row k it depends on, without a gap; most at most. */
__device__ int32_t run_before(const pattern_view &t, const row_view &row, int64_t k, int32_t most) {
  int32_t run = 0;
  while (run < most && run < row.count &&
         t.column(row.origin, row.count - 1 - run) == int32_t(k - 1 - run))
    run++;
  return run;
}

/* run[] is as long as whole windows are. */
__global__ void find_runs(pattern_view t, int32_t most, int64_t padded, uint8_t *run) {
  int64_t k = this_thread();
  if (k >= padded) return;
  int32_t inside = int32_t(k % TRS_BLOCK_WINDOW);
  run[k] = k < t.n ? uint8_t(run_before(t, t.row(k), k, min(most, inside))) : uint8_t(0);
}

/* Runs of a window become 1 where a block begins, else 0. */
__global__ void cut_windows(int64_t windows, int32_t most_block, bool dense, uint8_t *run) {
  int64_t window = this_thread();
  if (window >= windows) return;
  uint4 *vectors = reinterpret_cast<uint4 *>(run + window * TRS_BLOCK_WINDOW);
  int32_t rows = 0;
  for (int v = 0; v < TRS_BLOCK_WINDOW / VECTOR; v++) {
    uint4 vector = vectors[v];
    uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
    for (int w = 0; w < 4; w++) {
      uint32_t begins = 0;
#pragma unroll
      for (int b = 0; b < 4; b++) {
        int32_t before = int32_t(words[w] >> 8 * b & 0xff);
        bool joins = rows > 0 && rows < most_block && before >= (dense ? rows : 1);
        rows = joins ? rows + 1 : 1;
        begins |= uint32_t(!joins) << 8 * b;
      }
      words[w] = begins;
    }
    vectors[v] = {words[0], words[1], words[2], words[3]};
  }
}

/* number[] holds how many blocks have begun up to each row, that one included. */
__global__ void number_rows(int64_t n, const uint8_t *begins, int32_t *number, int32_t *start,
                            analysis_state *state) {
  int64_t k = this_thread();
  if (k >= n) return;
  int32_t block = number[k] - 1;
  if (begins[k]) start[block] = int32_t(k);
  number[k] = block;
  if (k < n - 1) return;
  start[block + 1] = int32_t(n);
  state->nblocks = block + 1;
}

struct as_number {
  __host__ __device__ int32_t operator()(uint8_t flag) const { return flag; }
};

/* ---- Which blocks each depends on. ---- */

enum { CHUNKS = 4 /* of a row's entries that a warp has under way */ };
const uint32_t CHAINED = 1u << 31;

/* A row of a block, walked by a warp. */
struct row_walk {
  const pattern_view &t;
  const int32_t *number, *start;
  int32_t block, first; /* the row's, and its first row */
  row_view row, first_row;
  bool is_first;
  int32_t *out;
  int32_t count, outside; /* blocks found, entries of them */
  bool chained;           /* depends on the block just before */

  /* Has the block's first row an entry in block m?  Mostly at the same place as this row. */
  __device__ bool in_first_row(int32_t m) const {
    int32_t low = 0, high = first_row.count, from = start[m];
    while (low < high) {
      int32_t middle = low + (high - low) / 2;
      if (t.column(first_row.origin, middle) < from)
        low = middle + 1;
      else
        high = middle;
    }
    return low < first_row.count && t.column(first_row.origin, low) < start[m + 1];
  }

  /* The lane's entry: in block m, or -1; left: block of the entry before. */
  __device__ void add(int32_t m, int32_t left, bool same_place) {
    bool is_new = m >= 0 && m != left && !same_place;
    if (is_new && !is_first) is_new = !in_first_row(m);
    unsigned news = __ballot_sync(~0u, is_new);
    if (is_new) out[count + __popc(news & ((1u << this_lane()) - 1))] = m;
    count += __popc(news);
    outside += __popc(__ballot_sync(~0u, m >= 0));
    chained = chained || __any_sync(~0u, m == block - 1 && m >= 0);
  }

  __device__ void run() {
    int32_t before = -1;
    for (int64_t begin = 0; begin < row.count; begin += CHUNKS * WARP) {
      int32_t place[CHUNKS], same[CHUNKS], m[CHUNKS];
#pragma unroll
      for (int u = 0; u < CHUNKS; u++) {
        int64_t e = begin + u * WARP + this_lane();
        place[u] = e < row.count ? t.column(row.origin, e) : first;
        same[u] = !is_first && e < first_row.count ? t.column(first_row.origin, e) : -1;
      }
#pragma unroll
      for (int u = 0; u < CHUNKS; u++) m[u] = place[u] < first ? number[place[u]] : -1;
#pragma unroll
      for (int u = 0; u < CHUNKS; u++) {
        int32_t left = __shfl_up_sync(~0u, m[u], 1);
        if (this_lane() == 0) left = before;
        before = __shfl_sync(~0u, m[u], WARP - 1);
        add(m[u], left, same[u] == place[u]);
      }
    }
  }
};

/* Row i's list goes to near + ptr[i]; its length to row_count[i], with the sign bit where the block
 * needs the one just before. */
__global__ void __launch_bounds__(ANALYSIS_THREADS)
    list_rows(pattern_view t, const int32_t *number, const int32_t *start, int32_t *near,
              uint32_t *row_count, int32_t *length) {
  int64_t k = this_thread() / WARP;
  if (k >= t.n) return;
  int32_t block = number[k], first = start[block], i = t.mirror(k);
  row_view first_row = t.row(first), row = k == first ? first_row : t.row(k);
  row_walk w = {t,         number,     start,           block, first, row,
                first_row, k == first, near + t.ptr[i], 0,     0,     false};
  w.run();
  if (this_lane() > 0) return;
  row_count[i] = uint32_t(w.count) | (w.chained ? CHAINED : 0);
  atomicMax(length + block, w.outside);
}

/* The lists of a block's rows one behind the other; a warp a block. */
__global__ void __launch_bounds__(ANALYSIS_THREADS)
    join_lists(pattern_view t, blocks_view blocks, const uint32_t *row_count, int32_t *near,
               uint32_t *near_count) {
  int64_t b = this_thread() / WARP;
  if (b >= blocks.count) return;
  int32_t first = blocks.first(int32_t(b)), rows = blocks.rows(int32_t(b)), lane = this_lane();
  int64_t low = t.lower ? first : t.n - first - rows, mine = low + min(lane, rows - 1);
  uint32_t counted = lane < rows ? row_count[mine] : 0, count = counted & ~CHAINED, joined = 0;
  int64_t from = t.ptr[mine];
  int32_t *to = near + __shfl_sync(~0u, from, 0);
  for (int r = 0; r < rows; r++) {
    const int32_t *list = near + __shfl_sync(~0u, from, r);
    uint32_t entries = __shfl_sync(~0u, count, r);
    for (uint32_t e = 0; e < entries && list != to + joined; e += WARP) {
      int32_t m = e + lane < entries ? list[e + lane] : 0;
      __syncwarp(); /* what was read here is now written over */
      if (e + lane < entries) to[joined + e + lane] = m;
    }
    joined += entries;
  }
  bool chained = __any_sync(~0u, counted != count);
  if (lane == 0) near_count[b] = joined | (chained ? CHAINED : 0);
}

/* ---- Features. ---- */

enum { MOST_WINDOWS = 4096, LONG_ROW = 1 << 23 /* so that sums of a block of threads fit */ };

/* A warp a window of 32 rows, windows spread evenly. */
__global__ void __launch_bounds__(ANALYSIS_THREADS)
    sample_rows(pattern_view t, int64_t windows, int64_t all, unsigned long long *sums) {
  __shared__ unsigned mine[4];
  if (threadIdx.x < 4) mine[threadIdx.x] = 0;
  __syncthreads();
  int64_t window = this_thread() / WARP;
  int64_t k = all * window / windows * WARP + this_lane();
  unsigned values[4] = {0, 0, 0, 0};
  if (window < windows && k < t.n) {
    row_view row = t.row(k);
    int32_t run = run_before(t, row, k, TRS_MOST_BLOCK);
    values[0] = 1;
    values[1] = unsigned(min(row.count, int32_t(LONG_ROW)));
    values[2] = run > 0;
    values[3] = unsigned(run);
  }
  for (int v = 0; v < 4; v++) atomicAdd(&mine[v], __reduce_add_sync(~0u, values[v]));
  __syncthreads();
  if (threadIdx.x < 4) atomicAdd(&sums[threadIdx.x], (unsigned long long)(mine[threadIdx.x]));
}

trs_status find_near(analysis &a) {
  const int32_t count = a.blocks.count;
  uint32_t *row_count;
  TRS_TRY(a.space.get(&row_count, a.t.n));
  TRS_TRY(a.space.get(&a.near, a.nnz));
  TRS_TRY(a.space.get(&a.near_count, count));
  TRS_TRY(a.space.get(&a.length, count));
  TRS_TRY(trs_device_fill(a.length, 0, count * int64_t(sizeof *a.length), a.stream));
  list_rows<<<blocks_for(a.t.n * WARP), ANALYSIS_THREADS, 0, a.stream>>>(
      a.t, a.number, a.blocks.start, a.near, row_count, a.length);
  join_lists<<<blocks_for(int64_t(count) * WARP), ANALYSIS_THREADS, 0, a.stream>>>(
      a.t, a.blocks, row_count, a.near, a.near_count);
  return trs_device_check(cudaGetLastError(), "finding what blocks depend on");
}

}  // namespace

trs_status trs::find_blocks(analysis &a) {
  const int64_t n = a.t.n, windows = (n + TRS_BLOCK_WINDOW - 1) / TRS_BLOCK_WINDOW;
  const int64_t padded = windows * TRS_BLOCK_WINDOW;
  a.blocks = {int32_t(n), nullptr};
  if (a.rules.most_block == 1) return TRS_SUCCESS;
  uint8_t *run;
  int32_t *start;
  TRS_TRY(a.space.get(&run, padded));
  TRS_TRY(a.space.get(&a.number, n));
  TRS_TRY(a.space.get(&start, n + 1));
  const bool dense = a.rules.dense != 0;
  find_runs<<<blocks_for(padded), ANALYSIS_THREADS, 0, a.stream>>>(
      a.t, dense ? a.rules.most_block - 1 : 1, padded, run);
  cut_windows<<<blocks_for(windows), ANALYSIS_THREADS, 0, a.stream>>>(windows, a.rules.most_block,
                                                                      dense, run);
  TRS_TRY(with_space(a, "numbering blocks", [&](void *space, size_t &bytes) {
    auto begins = thrust::make_transform_iterator(static_cast<const uint8_t *>(run), as_number{});
    return cub::DeviceScan::InclusiveSum(space, bytes, begins, a.number, n, a.stream);
  }));
  number_rows<<<blocks_for(n), ANALYSIS_THREADS, 0, a.stream>>>(n, run, a.number, start, a.state);
  TRS_TRY(trs_device_check(cudaGetLastError(), "finding blocks"));
  TRS_TRY(fetch(a, &a.blocks.count, &a.state->nblocks));
  a.blocks.start = start;
  return find_near(a);
}

extern "C" trs_status trs_gpu_sample_rows(trs_row_sample *sample, trs_device *device,
                                          const trs_gpu_pattern *pattern, trs_stream stream) {
  unsigned long long *sums, found[4];
  *sample = trs_row_sample{};
  if (pattern->n == 0) return TRS_SUCCESS;
  int64_t all = (pattern->n + WARP - 1) / WARP, windows = all;
  if (windows > MOST_WINDOWS) windows = MOST_WINDOWS;
  temporaries space(device, stream);
  TRS_TRY(space.get(&sums, 4));
  TRS_TRY(trs_device_fill(sums, 0, sizeof found, stream));
  sample_rows<<<blocks_for(windows * WARP), ANALYSIS_THREADS, 0,
                static_cast<cudaStream_t>(stream)>>>(pattern_view(*pattern), windows, all, sums);
  TRS_TRY(trs_device_check(cudaGetLastError(), "looking at rows"));
  TRS_TRY(trs_device_copy(found, sums, sizeof found, stream));
  TRS_TRY(trs_device_wait(stream));
  *sample = {int64_t(found[0]), int64_t(found[1]), int64_t(found[2]), int64_t(found[3])};
  return TRS_SUCCESS;
}
