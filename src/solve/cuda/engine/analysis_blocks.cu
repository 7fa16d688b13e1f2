/* analysis_blocks.cu - runs of rows become blocks; for each block, the blocks it depends on.
 *
 * The number of rows just before a row that it depends on decides whether it joins the block
 * before it.  A block of threads takes a window of TRS_BLOCK_WINDOW rows, one thread per row.  For
 * full blocks each thread finds where a block that begins with its row would end; pointer doubling
 * along these ends marks the rows that do begin a block.  Chains are cut every few rows from their
 * first rows on, which may be in windows before.  Block numbers pass from window to window: each
 * window publishes its count and looks back until it finds a sum of all windows before.
 *
 * The rows of a block share most of their columns.  Of each row's entries the list keeps only the
 * blocks that the first row of its own block does not depend on, and one entry per block.  The
 * walk along the levels then reads a fraction of the entries.  O(nnz). */
#include "solve/cuda/engine/analysis.cuh"

namespace {

using namespace trs;

enum { WINDOW = TRS_BLOCK_WINDOW, WINDOW_WARPS = WINDOW / WARP };

/* The number of rows just before row k that it depends on, without a gap; at most `most`. */
__device__ int32_t run_before(const pattern_view &t, const row_view &row, int64_t k, int32_t most) {
  int32_t run = 0;
  while (run < most && run < row.count &&
         t.column(row.origin, row.count - 1 - run) == int32_t(k - 1 - run))
    run++;
  return run;
}

/* ---- Block numbers, from window to window. ---- */

const uint64_t COUNT = uint64_t(1) << 32, SUM = uint64_t(2)
                                                << 32; /* flags of a word: count of the window;
                                                          sum up to the window */

/* The number of blocks in all windows before.  Run by the first warp, 32 windows at a time.  Past
 * the limit of waits the result is incomplete. */
__device__ int32_t look_back(const uint64_t *windows, int32_t window, trs_fault *fault) {
  int32_t found = 0;
  for (int32_t last = window - 1; last >= 0; last -= WARP) {
    int32_t at = last - this_lane();
    uint64_t word = at < 0 ? SUM : 0;
    wait w(fault);
    bool goes_on = true;
    while (word == 0 && goes_on) {
      word = load_relaxed(windows + at);
      goes_on = w.goes_on(-1);
    }
    unsigned sums = __ballot_sync(~0u, word >= SUM);
    unsigned counted = sums ? sums ^ (sums - 1) : ~0u; /* up to the nearest sum */
    found += int32_t(
        __reduce_add_sync(~0u, counted >> this_lane() & 1 ? unsigned(word & 0xffffffffu) : 0u));
    if (sums) break;
  }
  return found;
}

/* Run by the first warp: publishes `count`, the blocks that begin in this window, and returns the
 * number in the windows before. */
__device__ int32_t hand_on(uint64_t *windows, int32_t window, int32_t count, trs_fault *fault) {
  if (window > 0 && this_lane() == 0) store_relaxed(windows + window, COUNT | uint32_t(count));
  int32_t before = look_back(windows, window, fault);
  if (this_lane() == 0) store_relaxed(windows + window, SUM | uint32_t(before + count));
  return before;
}

/* ---- A window. ---- */

struct cut_view {
  pattern_view t;
  const uint8_t *block_starts; /* or NULL */
  int32_t most_block;
  bool dense, loose;
  uint64_t *windows;
  int32_t *number, *start, *length;
  uint32_t *near_count, *known;
  analysis_state *state;
};

struct window_memory {
  uint8_t run[WINDOW];  /* rows just before each row that it depends on */
  int16_t next[WINDOW]; /* first row of the block that is 2^k blocks on, in step k; or WINDOW */
  uint8_t begins[WINDOW];
  int32_t counts[WINDOW_WARPS];
  int32_t window, before, chain;
};

/* ---- Full blocks. ---- */

/* The end of a block that would begin with row t. */
__device__ int32_t block_end(const cut_view &v, const window_memory &m, int32_t t, int32_t rows) {
  int32_t end = t + 1;
  while (end < rows && end - t < v.most_block && m.run[end] >= end - t) end++;
  return end;
}

/* Sets begins[] of all rows that are reached from row 0.  Each step doubles the reach. */
__device__ void mark_begins(window_memory &m, int32_t t) {
  for (int reached = 1; reached < WINDOW; reached *= 2) {
    __syncthreads();
    int32_t next = m.next[t], further = next < WINDOW ? m.next[next] : int32_t(WINDOW);
    bool begins = m.begins[t] != 0;
    __syncthreads();
    if (begins && next < WINDOW) m.begins[next] = 1;
    m.next[t] = int16_t(further);
  }
  __syncthreads();
}

__device__ void mark_full_blocks(const cut_view &v, window_memory &m, int32_t t, int32_t rows) {
  const int32_t end = t < rows ? block_end(v, m, t, rows) : rows;
  m.next[t] = int16_t(end < rows ? end : int32_t(WINDOW));
  m.begins[t] = t == 0;
  mark_begins(m, t);
}

/* ---- Chains: blocks of most_block rows, from the first row of the chain on. ---- */

__device__ bool starts_block(const cut_view &v, int64_t k) {
  return v.block_starts && v.block_starts[k];
}

/* True if row k is in the chain of the row before it. */
__device__ bool continues(const cut_view &v, int64_t k) {
  return k > 0 && !starts_block(v, k) && (v.loose || run_before(v.t, v.t.row(k), k, 1) > 0);
}

/* The first row of the chain of row k, the first of the window; k if that is too far. */
__device__ int64_t chain_begin(const cut_view &v, window_memory &m, int32_t t, int64_t k) {
  if (t == 0) m.chain = m.run[0] ? -1 : 0;
  __syncthreads();
  for (int64_t first = k - WINDOW; m.chain < 0 && first >= k - TRS_CHAIN_LOOK && first >= 0;
       first -= WINDOW) {
    __syncthreads();
    if (!continues(v, first + t)) atomicMax(&m.chain, WINDOW + t);
    __syncthreads();
    if (m.chain >= WINDOW) return first + m.chain - WINDOW;
  }
  return k;
}

__device__ void mark_chains(const cut_view &v, window_memory &m, int32_t t, int32_t rows,
                            int64_t first) {
  const int64_t before = chain_begin(v, m, t, first);
  const int32_t warp = t / WARP, lane = this_lane();
  const unsigned starts = __ballot_sync(~0u, t < rows && m.run[t] == 0);
  if (lane == 0) m.counts[warp] = starts ? warp * WARP + (WARP - 1 - __clz(int(starts))) : -1;
  __syncthreads();
  const unsigned upto = starts & (~0u >> (WARP - 1 - lane));
  int32_t start = upto ? warp * WARP + (WARP - 1 - __clz(int(upto))) : -1;
  for (int w = warp - 1; w >= 0 && start < 0; w--) start = m.counts[w];
  const int64_t offset = start >= 0 ? t - start : first + t - before;
  m.begins[t] = t < rows && offset % v.most_block == 0;
  __syncthreads();
}

/* The number of blocks that begin in the window up to row t, inclusive.  *all: in the whole
 * window. */
__device__ int32_t count_begins(window_memory &m, int32_t t, int32_t *all) {
  int32_t warp = t / WARP, before = 0;
  unsigned begins = __ballot_sync(~0u, m.begins[t] != 0);
  if (this_lane() == 0) m.counts[warp] = __popc(begins);
  __syncthreads();
  *all = 0;
  for (int w = 0; w < WINDOW_WARPS; w++) {
    before += w < warp ? m.counts[w] : 0;
    *all += m.counts[w];
  }
  return before + __popc(begins & (~0u >> (WARP - 1 - this_lane())));
}

__global__ void __launch_bounds__(WINDOW) cut_windows(const __grid_constant__ cut_view v) {
  __shared__ window_memory m;
  const int32_t t = int32_t(threadIdx.x);
  if (t == 0) m.window = int32_t(atomicAdd(&v.state->window_ticket, 1u));
  __syncthreads();
  const int32_t window = m.window;
  const int64_t first = int64_t(window) * WINDOW, k = first + t;
  const int32_t rows = int32_t(min(int64_t(WINDOW), v.t.n - first));
  if (t >= rows || starts_block(v, k))
    m.run[t] = 0;
  else if (v.dense)
    m.run[t] = uint8_t(run_before(v.t, v.t.row(k), k, min(v.most_block - 1, t)));
  else
    m.run[t] = continues(v, k);
  __syncthreads();
  if (v.dense)
    mark_full_blocks(v, m, t, rows);
  else
    mark_chains(v, m, t, rows, first);
  int32_t all, number = count_begins(m, t, &all) - 1;
  if (t < WARP) {
    int32_t before = hand_on(v.windows, window, all, &v.state->fault);
    if (t == 0) m.before = before;
  }
  __syncthreads();
  number += m.before;
  if (t >= rows) return;
  v.number[k] = number;
  if (m.begins[t]) { /* the rows before the first are in the last block of the window before */
    v.start[number] = int32_t(k);
    v.near_count[number] = v.known[number] = 0;
    v.length[number] = 0;
  }
  if (k + 1 < v.t.n) return;
  v.start[number + 1] = int32_t(v.t.n);
  v.state->nblocks = number + 1;
}

/* ---- The blocks that each block depends on. ---- */

enum {
  AHEAD = 4,      /* entries that a lane loads at once */
  LONG_ROW = 128, /* entries per lane from which on the whole warp takes the row */
};
const uint32_t CHAINED = 1u << 31;

struct near_view {
  pattern_view t;
  const int32_t *number, *start;
  int32_t *near, *length;
  uint32_t *near_count;
};

/* One row of a block, walked by a team of LANES of a warp. */
template <int LANES>
struct row_walk {
  const near_view &v;
  int64_t k;
  row_view row;
  int32_t block = v.number[k], first = v.start[block]; /* of the row; its first row */
  bool is_first = k == first;
  row_view first_row = is_first ? row : v.t.row(first);
  int32_t *out = v.near + v.t.ptr[v.t.lower ? first : v.t.n - v.start[block + 1]];
  int32_t lane = this_lane() % LANES, outside = 0; /* entries outside the block */
  unsigned team = ~0u >> (WARP - LANES) << (this_lane() - lane);
  bool chained = false; /* depends on the block just before */

  /* True if the first row of this row's block has an entry in block m. */
  __device__ bool in_first_row(int32_t m) const {
    const int32_t from = v.start[m], at = first_not(0, first_row.count, [&](int32_t k) {
                                       return v.t.column(first_row.origin, k) < from;
                                     });
    return at < first_row.count && v.t.column(first_row.origin, at) < v.start[m + 1];
  }

  /* Adds the lane's entry, which is in block m (-1: in none), to the block's list.  left: block of
   * the entry before.  listed: the first row is known to have an entry in block m.  Rows of one
   * block add to its list in any order. */
  __device__ void add(int32_t m, int32_t left, bool listed) {
    bool is_new = m >= 0 && m != left && !listed;
    if (is_new && !is_first) is_new = !in_first_row(m);
    unsigned news = __ballot_sync(team, is_new);
    outside += __popc(__ballot_sync(team, m >= 0));
    chained = chained || (m >= 0 && m == block - 1);
    if (news == 0) return;
    uint32_t at = 0;
    int leader = __ffs(int(news)) - 1;
    if (this_lane() == leader) at = atomicAdd(v.near_count + block, uint32_t(__popc(news)));
    at = __shfl_sync(team, at, leader) & ~CHAINED;
    if (is_new) out[at + uint32_t(__popc(news & ((1u << this_lane()) - 1)))] = m;
  }

  __device__ void run() {
    int32_t before = -1;
    for (int64_t begin = 0; begin < row.count; begin += AHEAD * LANES) {
      int32_t place[AHEAD], same[AHEAD], m[AHEAD], same_m[AHEAD];
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        int64_t e = begin + u * LANES + lane;
        place[u] = e < row.count ? v.t.column(row.origin, e) : first;
        same[u] = !is_first && e < first_row.count ? v.t.column(first_row.origin, e) : first;
      }
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        m[u] = place[u] < first ? v.number[place[u]] : -1;
        same_m[u] = same[u] < first ? v.number[same[u]] : -1;
      }
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        int32_t left = __shfl_up_sync(team, m[u], 1, LANES);
        if (lane == 0) left = before;
        before = __shfl_sync(team, m[u], LANES - 1, LANES);
        /* The first row's entry in block m is mostly at the same place, or at the next. */
        const int32_t next =
            LANES > 1 ? __shfl_down_sync(team, same_m[u], 1, LANES) : same_m[min(u + 1, AHEAD - 1)];
        add(m[u], left, same_m[u] == m[u] || next == m[u]);
      }
    }
    if (chained) atomicOr(v.near_count + block, CHAINED);
    if (lane == 0) atomicMax(v.length + block, outside);
  }
};

/* A team of LANES per row.  The whole warp walks rows that are far longer than the others. */
template <int LANES>
__global__ void __launch_bounds__(ANALYSIS_THREADS) list_near(const __grid_constant__ near_view v) {
  int64_t k = this_thread() / LANES;
  bool exists = k < v.t.n;
  row_view row = exists ? v.t.row(k) : row_view{0, 0, 0};
  bool is_long = LANES < WARP && row.count > LONG_ROW * LANES;
  if (exists && !is_long) row_walk<LANES>{v, k, row}.run();
  if (LANES == WARP) return;
  __syncwarp();
  unsigned rows = __ballot_sync(~0u, is_long && this_lane() % LANES == 0);
  for (; rows; rows &= rows - 1) {
    int64_t its_k = __shfl_sync(~0u, k, __ffs(int(rows)) - 1);
    row_walk<WARP>{v, its_k, v.t.row(its_k)}.run();
  }
}

template <int LANES>
void launch_near(const cut &c, const near_view &v) {
  list_near<LANES><<<blocks_for(c.system.n * LANES), ANALYSIS_THREADS, 0, c.side>>>(v);
}

void find_near(const cut &c) {
  const near_view v = {pattern_view(c.system), c.number, c.start, c.near, c.length, c.near_count};
  switch (lanes_for(entries_a_row(c.system))) {
    case 1:
      return launch_near<1>(c, v);
    case 4:
      return launch_near<4>(c, v);
    case 8:
      return launch_near<8>(c, v);
    default:
      return launch_near<WARP>(c, v);
  }
}

/* ---- Features. ---- */

enum {
  MOST_WINDOWS = 4096,
  MOST_SAMPLERS = MOST_WINDOWS / ANALYSIS_WARPS,
  LONG_ROW_SAMPLED = 1 << 23, /* so that the sum over a block of threads fits 32 bits */
  OCTAVE_WINDOWS = 8,
  OCTAVE_ROW = 64 /* entries of a row that are looked at for octaves, the nearest */
};

enum { VALUES = 4, OCTAVES = 31, SUMS = VALUES + OCTAVES };
struct row_sums {
  unsigned value[SUMS]; /* rows, entries, chained rows, lengths of runs; rows with entries in each
                           octave of distances, of one window in OCTAVE_WINDOWS */
};
static_assert(MOST_SAMPLERS * sizeof(row_sums) <= TRS_STAGE_BYTES, "sums fit");

const double SOME = 0.01; /* share of rows by which an octave counts */

/* The octaves of the distances of a row's entries, as bits. */
__device__ unsigned octaves_of(const pattern_view &t, const row_view &row, int64_t k) {
  unsigned found = 0;
  for (int32_t e = max(row.count - OCTAVE_ROW, 0); e < row.count; e++)
    found |= 1u << (WARP - 1 - __clz(int(k) - t.column(row.origin, e)));
  return found;
}

/* One warp per window of 32 rows; windows are spread evenly.  sums: pinned host memory, per block
 * of threads. */
__global__ void __launch_bounds__(ANALYSIS_THREADS)
    sample_rows(pattern_view t, int64_t windows, int64_t all, row_sums *sums) {
  __shared__ row_sums mine;
  if (threadIdx.x < SUMS) mine.value[threadIdx.x] = 0;
  __syncthreads();
  unsigned octaves = 0;
  int64_t window = this_thread() / WARP;
  int64_t k = all * window / windows * WARP + this_lane();
  unsigned values[VALUES] = {0, 0, 0, 0};
  if (window < windows && k < t.n) {
    row_view row = t.row(k);
    int32_t run = run_before(t, row, k, TRS_MOST_BLOCK);
    values[0] = 1;
    values[1] = unsigned(min(row.count, int32_t(LONG_ROW_SAMPLED)));
    values[2] = run > 0;
    values[3] = unsigned(run);
    if (window % OCTAVE_WINDOWS == 0) octaves = octaves_of(t, row, k);
  }
  for (int o = 0; o < OCTAVES && window % OCTAVE_WINDOWS == 0; o++) {
    const int rows = __popc(__ballot_sync(~0u, octaves >> o & 1));
    if (this_lane() == 0 && rows > 0) atomicAdd(&mine.value[VALUES + o], unsigned(rows));
  }
  for (int v = 0; v < VALUES; v++) {
    unsigned sum = __reduce_add_sync(~0u, values[v]);
    if (this_lane() == 0) atomicAdd(&mine.value[v], sum);
  }
  __syncthreads();
  if (threadIdx.x < SUMS) sums[blockIdx.x].value[threadIdx.x] = mine.value[threadIdx.x];
}

int64_t windows_of(int64_t n) { return (n + WARP - 1) / WARP; }
int64_t windows_sampled(int64_t n) {
  const int64_t all = windows_of(n), most = MOST_WINDOWS;
  return all < most ? all : most;
}

}  // namespace

trs_status trs::find_blocks(const cut &c) {
  if (!c.start) return TRS_SUCCESS;
  const cut_view v = {pattern_view(c.system),
                      c.block_starts,
                      c.rules.most_block,
                      c.rules.dense != 0,
                      c.rules.loose != 0,
                      c.windows,
                      c.number,
                      c.start,
                      c.length,
                      c.near_count,
                      c.known,
                      c.state};
  const unsigned windows = unsigned((c.system.n + WINDOW - 1) / WINDOW);
  cut_windows<<<windows, WINDOW, 0, c.side>>>(v);
  find_near(c);
  return trs_device_check(cudaGetLastError(), "finding blocks");
}

extern "C" trs_status trs_gpu_begin_features(void **stage, trs_device *device,
                                             const trs_system *system, trs_stream stream) {
  const pattern_view t(*system);
  const int64_t windows = windows_sampled(t.n);
  *stage = nullptr;
  if (t.n == 0) return TRS_SUCCESS;
  TRS_TRY(trs_device_alloc_stage(device, stage));
  sample_rows<<<blocks_for(windows * WARP), ANALYSIS_THREADS, 0,
                static_cast<cudaStream_t>(stream)>>>(t, windows, windows_of(t.n),
                                                     static_cast<row_sums *>(*stage));
  trs_status status = trs_device_check(cudaGetLastError(), "looking at rows");
  if (status) trs_device_free_stage(device, *stage);
  return status;
}

extern "C" trs_status trs_gpu_end_features(trs_pattern_features *features, void *stage,
                                           trs_device *device, int64_t n, trs_stream stream) {
  *features = trs_pattern_features{};
  if (!stage) return TRS_SUCCESS;
  trs_status status = trs_device_wait(stream);
  const auto *sums = static_cast<const row_sums *>(stage);
  const unsigned blocks = blocks_for(windows_sampled(n) * WARP);
  double total[SUMS] = {};
  for (unsigned b = 0; b < blocks && !status; b++)
    for (int v = 0; v < SUMS; v++) total[v] += sums[b].value[v];
  if (!status) *features = {n, total[1] / total[0], total[2] / total[0], total[3] / total[0], 0};
  for (int o = 0; o < OCTAVES; o++)
    if (total[VALUES + o] * OCTAVE_WINDOWS > SOME * total[0]) features->octaves |= 1u << o;
  trs_device_free_stage(device, stage);
  return status;
}
