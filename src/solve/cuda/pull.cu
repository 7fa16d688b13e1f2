/* pull.cu - rows in natural order; each reads the x it depends on as they become known.
 *
 * No analysis: rows come straight from the compressed arrays, a group of lanes per row, and poll x
 * that carries its own readiness (ready.cuh).  Blocks of threads take tickets in the order of the
 * sweep, so a block waits only for blocks that already run.  Rows of a warp may depend on each
 * other, so a warp repeats one loop until all its rows are solved.  In each step every lane polls
 * once what its batch lacks, and rows that lack nothing are published.  No atomic sums: the same
 * bits every time.
 *
 * O(nnz) work; the time is that of the longest chain of dependencies. */
#include "solve/cuda/pull.h"

#include "solve/cuda/ready.cuh"

namespace {

using namespace trs;

constexpr int THREADS = 256, BATCH = TRS_PULL_BATCH;

/* Off-diagonal entries of a row, from the farthest dependency to the nearest.  Entry q is at first
 * + q step. */
struct entries {
  int64_t first, diagonal;
  int32_t count;
  int step;
  __device__ int64_t at(int64_t q) const { return first + q * step; }
};

__device__ entries entries_of(const trs_pull &a, int64_t row) {
  int64_t begin = __ldg(a.system.ptr + row), end = __ldg(a.system.ptr + row + 1);
  int64_t diagonal = a.system.lower ? end - 1 : begin;
  bool stored = a.system.has_diagonal || (begin < end && __ldg(a.system.idx + diagonal) == row);
  return {a.system.lower ? begin : end - 1, diagonal, int32_t(end - begin - stored),
          a.system.lower ? 1 : -1};
}

/* One lane's share of its row's sum: every LANES-th entry, one batch at a time. */
template <class S, int LANES>
class share {
 public:
  __device__ share(const trs_pull &a, const entries &e, int lane, int64_t row)
      : idx_(a.system.idx),
        val_(static_cast<const S *>(a.system.val)),
        x_(static_cast<const S *>(a.known)),
        e_(e),
        next_(lane),
        row_(row),
        patience_(a.fault) {
    load();
  }
  __device__ bool over() const { return next_ >= e_.count; }
  __device__ S sum() const { return sum_; }

  /* Polls the missing values of the batch once.  Adds a complete batch in the order of the
   * entries, whatever arrived first.  Past the limit of waits the share ends. */
  __device__ void step() {
    if (over()) return;
    bool lacks = false;
#pragma unroll
    for (int u = 0; u < BATCH; u++) peek_if(is_pending(value_[u]), x_ + col_[u], value_[u]);
#pragma unroll
    for (int u = 0; u < BATCH; u++) lacks |= is_pending(value_[u]);
    if (lacks && patience_.goes_on(row_)) return;
    add();
    next_ = lacks ? e_.count : next_ + BATCH * LANES;
    load();
  }

 private:
  const int32_t *idx_;
  const S *val_, *x_;
  entries e_;
  int64_t next_, row_;
  wait patience_;
  int32_t col_[BATCH];
  S coefficient_[BATCH], value_[BATCH], sum_ = S{};

  /* The batch from next_ on.  Past the row's end no value is missing. */
  __device__ void load() {
#pragma unroll
    for (int u = 0; u < BATCH; u++) {
      int64_t q = next_ + u * LANES;
      bool there = q < e_.count;
      col_[u] = there ? __ldg(idx_ + e_.at(q)) : -1;
      coefficient_[u] = there ? val_[e_.at(q)] : S{};
      value_[u] = there ? pending_value<S>() : S{};
    }
    await_loads(col_);
  }
  __device__ void add() {
#pragma unroll
    for (int u = 0; u < BATCH; u++)
      if (col_[u] >= 0) sum_ = multiply_add(coefficient_[u], value_[u], sum_);
  }
};

/* A row without its sum. */
template <class S>
struct equation {
  int64_t row; /* -1: none */
  S b, inverse;

  __device__ void load(const trs_pull &a, const entries &e) {
    b = static_cast<const S *>(a.b)[row * a.b_row];
    inverse =
        a.system.unit ? one<S>() : reciprocal(static_cast<const S *>(a.system.val)[e.diagonal]);
  }
  __device__ void finish(const trs_pull &a, S sum) const {
    S x = encode((b - sum) * inverse);
    publish(static_cast<S *>(a.known) + row, x);
    static_cast<S *>(a.x)[row * a.x_row] = x;
  }
};

__device__ int64_t take_ticket(uint32_t *counter) {
  __shared__ uint32_t ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(counter, 1u) + 1u;
  __syncthreads();
  return ticket;
}

/* Every lane of a warp takes part in every step, also a lane whose row is solved or that has none.
 */
template <class S, int LANES>
__device__ void solve_rows(const trs_pull &a, share<S, LANES> &mine, const equation<S> &own) {
  constexpr int LOG_LANES = LANES == 1 ? 0 : LANES == 4 ? 2 : LANES == 8 ? 3 : 5;
  const int lane = int(threadIdx.x) % LANES, first = int(threadIdx.x) % WARP - lane;
  const lane_mask row_lanes = (ALL_LANES >> (WARP - LANES)) << first;
  bool done = own.row < 0;
  while (!all_lanes(done)) {
    mine.step();
    bool complete = (~lanes_where(mine.over()) & row_lanes) == 0 && !done;
    if (!any_lane(complete)) continue;
    S sum = sum_lanes(mine.sum(), LOG_LANES);
    if (complete && lane == 0) own.finish(a, sum);
    done |= complete;
  }
}

template <class S, int LANES>
__global__ void __launch_bounds__(THREADS) pull(const __grid_constant__ trs_pull a) {
  const int64_t place = (take_ticket(a.ticket) * THREADS + threadIdx.x) / LANES;
  const int lane = int(threadIdx.x) % LANES;
  equation<S> own = {-1, S{}, S{}};
  entries e = {0, 0, 0, 1};
  if (place < a.system.n) {
    own.row = a.system.lower ? place : a.system.n - 1 - place;
    e = entries_of(a, own.row);
    if (lane == 0) own.load(a, e);
  }
  share<S, LANES> mine(a, e, lane, own.row);
  solve_rows<S, LANES>(a, mine, own);
}

template <class S>
cudaError_t launch(const trs_pull &a, int lanes, cudaStream_t stream) {
  auto kernel = lanes == 1   ? pull<S, 1>
                : lanes == 4 ? pull<S, 4>
                : lanes == 8 ? pull<S, 8>
                             : pull<S, 32>;
  const auto blocks = static_cast<unsigned>((a.system.n * lanes + THREADS - 1) / THREADS);
  return launch_behind(false, kernel, blocks, THREADS, 0, stream, a);
}

}  // namespace

extern "C" trs_status trs_pull_sweep(const trs_pull *a, int lanes, trs_stream stream) {
  auto to = static_cast<cudaStream_t>(stream);
  cudaError_t error = by_scalar(
      a->system.scalar, [&](auto element) { return launch<decltype(element)>(*a, lanes, to); });
  return trs_device_check(error, "launching the pull kernel");
}
