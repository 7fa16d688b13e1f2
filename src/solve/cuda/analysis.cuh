/* analysis.cuh - what the steps of the analysis hand on to each other.
 *
 *   analysis_blocks.cu   rows into blocks, and for each block the blocks it depends on
 *   analysis_levels.cu   levels of blocks
 *   analysis_slices.cu   order by level and class, slices, positions, chunks
 *   analysis_fill.cu     entries and inverses into their places
 *   analysis.cu          the sequence
 *
 * Rows and columns are named by their place in the sweep, from 0 on in the order of the solve, so
 * that lower and upper triangles are one. */
#ifndef TRS_SOLVE_CUDA_ANALYSIS_CUH
#define TRS_SOLVE_CUDA_ANALYSIS_CUH

#include "solve/cuda/analysis.h"
#include "solve/cuda/kernel.cuh"

namespace trs {

enum { ANALYSIS_THREADS = 256, WARP = 32, ANALYSIS_WARPS = ANALYSIS_THREADS / WARP };

/* Off-diagonal entries of a row in the order of the sweep: the nearest to the diagonal last. */
struct row_view {
  int64_t origin, diagonal; /* of its first entry and of its diagonal one among the triangle's */
  int32_t count;
};

struct pattern_view {
  int64_t n;
  const int64_t *ptr;
  const int32_t *idx;
  bool lower, full; /* full: every row stores its diagonal entry */

  explicit pattern_view(const trs_gpu_pattern &p)
      : n(p.n), ptr(p.ptr), idx(p.idx), lower(p.lower != 0), full(p.has_diagonal != 0) {}

  /* Row at a place of the sweep, or place of a row. */
  __device__ int32_t mirror(int64_t k) const { return int32_t(lower ? k : n - 1 - k); }

  __device__ row_view row(int64_t place) const {
    int64_t i = mirror(place), begin = ptr[i], end = ptr[i + 1];
    bool has = full || (begin < end && idx[lower ? end - 1 : begin] == i);
    int64_t diagonal = lower ? end - 1 : begin;
    if (has) lower ? end-- : begin++;
    return {lower ? begin : end - 1, diagonal, int32_t(end - begin)};
  }
  __device__ int64_t entry(int64_t origin, int64_t e) const {
    return lower ? origin + e : origin - e;
  }
  /* Place of the column of entry e. */
  __device__ int32_t column(int64_t origin, int64_t e) const {
    return mirror(__ldg(idx + entry(origin, e)));
  }
};

/* The rows of each block; a row is a block of its own where start is NULL. */
struct blocks_view {
  int32_t count;
  const int32_t *start; /* count + 1: first rows */

  __host__ __device__ int32_t first(int32_t b) const { return start ? start[b] : b; }
  __host__ __device__ int32_t rows(int32_t b) const { return start ? start[b + 1] - start[b] : 1; }
};

/* Numbers that kernels leave for the host. */
struct analysis_state {
  uint32_t ticket;
  int32_t nblocks, nlevels, longest;
  trs_fault fault;
};

/* Device memory that lives as long as the analysis, or shorter. */
class temporaries {
 public:
  temporaries(trs_device *device, trs_stream stream) : device_(device), stream_(stream) {}
  temporaries(const temporaries &) = delete;
  temporaries &operator=(const temporaries &) = delete;
  ~temporaries() {
    while (count_ > 0) trs_device_free(device_, pointer_[--count_], stream_);
  }

  template <class T>
  trs_status get(T **pointer, int64_t count) {
    void *fresh = nullptr;
    TRS_TRY(trs_device_alloc(device_, &fresh, count, sizeof(T), stream_));
    pointer_[count_++] = fresh;
    *pointer = static_cast<T *>(fresh);
    return TRS_SUCCESS;
  }

 private:
  enum { MOST = 48 };
  trs_device *device_;
  trs_stream stream_;
  void *pointer_[MOST];
  int count_ = 0;
};

struct analysis {
  trs_device *device;
  cudaStream_t stream;
  pattern_view t;
  int64_t nnz;
  trs_slice_rules rules;
  temporaries space;
  trs_slices *slices = nullptr; /* what is built */
  trs_slice_level **level = nullptr;
  trs_slices_map *map = nullptr;

  analysis_state *state = nullptr; /* device memory, as all below */
  blocks_view blocks = {};
  int32_t *number = nullptr; /* n: block of each row; NULL where rows are blocks */
  /* What blocks depend on, where they have more than one row: block b on near_count[b] others
   * (highest bit: the one just before is among them) from near + ptr[its lowest row] on. */
  int32_t *near = nullptr;
  uint32_t *near_count = nullptr;
  uint32_t *known = nullptr;   /* nblocks: level + 1 */
  int32_t *length = nullptr;   /* nblocks: most entries that a row has outside of its block */
  int32_t longest = 0;         /* host: the most of those */
  int32_t *position = nullptr; /* n: of each row */

  analysis(trs_device *on, const trs_gpu_pattern &p, const trs_slice_rules &r, cudaStream_t s)
      : device(on), stream(s), t(p), nnz(p.nnz), rules(r), space(on, s) {}
};

/* Each fills in what is its own; find_blocks and those after it wait for numbers from the device.
 */
trs_status find_blocks(analysis &a);
trs_status find_levels(analysis &a);
trs_status cut_slices(analysis &a);
trs_status fill_positions(analysis &a);

inline unsigned blocks_for(int64_t threads) {
  return unsigned((threads + ANALYSIS_THREADS - 1) / ANALYSIS_THREADS);
}
__device__ inline int64_t this_thread() {
  return int64_t(blockIdx.x) * ANALYSIS_THREADS + threadIdx.x;
}
__device__ inline int this_lane() { return int(threadIdx.x) % WARP; }

/* A function of CUB asks for space first; launch(space, bytes) is called twice. */
template <class F>
trs_status with_space(analysis &a, const char *what, F launch) {
  size_t bytes = 0;
  char *space = nullptr;
  TRS_TRY(trs_device_check(launch(nullptr, bytes), what));
  TRS_TRY(a.space.get(&space, int64_t(bytes)));
  return trs_device_check(launch(space, bytes), what);
}

/* A number from the device, waited for. */
template <class T>
trs_status fetch(const analysis &a, T *to, const T *from) {
  TRS_TRY(trs_device_copy(to, from, sizeof(T), a.stream));
  return trs_device_wait(a.stream);
}

}  // namespace trs

#endif
