/* analysis.cuh - what the steps of the analysis hand on to each other.
 *
 *   analysis_blocks.cu   rows into blocks, and for each block the blocks it depends on
 *   analysis_levels.cu   levels of blocks
 *   analysis_slices.cu   order by level and class, slices, positions, chunks
 *   analysis_fill.cu     entries and inverses into their places
 *   analysis.cu          the sequence
 *
 * Rows and columns are named by their place in the sweep, from 0 on in the order of the solve, so
 * that lower and upper triangles are one.
 *   Numbers that a step leaves for the next stay on the device, and what the host has to know is
 * written by kernels into its pinned memory: a small system is cut with one wait. */
#ifndef TRS_SOLVE_CUDA_ENGINE_ANALYSIS_CUH
#define TRS_SOLVE_CUDA_ENGINE_ANALYSIS_CUH

#include "solve/cuda/engine/analysis.h"
#include "device/kernel.cuh"

namespace trs {

enum {
  ANALYSIS_THREADS = 256,
  WARP = 32,
  ANALYSIS_WARPS = ANALYSIS_THREADS / WARP,
  SHARED_ALWAYS = 48 << 10, /* bytes of shared memory that a kernel has unless it asks for more */
  SORT_BITS = 8,            /* of a digit */
  SORT_DIGITS = 1 << SORT_BITS
};

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
  const int32_t *start; /* nblocks + 1: first rows */

  __device__ int32_t first(int32_t b) const { return start ? start[b] : b; }
  __device__ int32_t rows(int32_t b) const { return start ? start[b + 1] - start[b] : 1; }
};

/* Numbers in device memory that kernels leave for those after them. */
struct analysis_state {
  int32_t nblocks, nlevels, longest; /* longest: most entries that a row has outside its block */
  uint32_t given_up;                 /* more levels than the rival has */
  uint32_t window_ticket, node_ticket, arrived;
  unsigned long long classes; /* a bit for each that occurs */
  trs_fault fault;
};

/* And for the host: pinned memory. */
struct cut_numbers {
  int32_t nblocks, nlevels, nslices, nchunks, nparts, nheavy;
  int64_t entries, inverses;
  int32_t given_up, stalled;
  int64_t row; /* whose wait stalled */
};

/* What a stage of the device holds for a cut. */
struct cut_stage {
  enum { MOST = (TRS_STAGE_BYTES - sizeof(cut_numbers)) / sizeof(trs_slice_level) };
  cut_numbers numbers;
  trs_slice_level level[MOST];
};

/* Entries and inverses; slices of heavy blocks that are, and that are not, parts. */
struct offsets {
  int64_t entries, inverses;
  int32_t parts, heavy;
};
__device__ inline offsets operator+(const offsets &a, const offsets &b) {
  return {a.entries + b.entries, a.inverses + b.inverses, a.parts + b.parts, a.heavy + b.heavy};
}

struct slices_and_rows {
  int32_t slices, rows;
};
__device__ inline slices_and_rows operator+(const slices_and_rows &a, const slices_and_rows &b) {
  return {a.slices + b.slices, a.rows + b.rows};
}

/* A thread's share, of so many threads'. */
__device__ inline void clear_bytes(void *to, int64_t bytes, uint64_t word, int64_t thread,
                                   int64_t threads) {
  const int64_t size = sizeof word, words = bytes / size;
  for (int64_t k = thread; k < words; k += threads) static_cast<uint64_t *>(to)[k] = word;
  if (thread < bytes % size) static_cast<uint8_t *>(to)[words * size + thread] = uint8_t(word);
}
__device__ inline void clear_share(const trs_gpu_blank &blank, int64_t thread, int64_t threads) {
  clear_bytes(blank.ones, blank.ones_bytes, ~uint64_t(0), thread, threads);
  clear_bytes(blank.zeros, blank.zeros_bytes, 0, thread, threads);
}

/* Parts of one piece of memory, in turn; without memory only counts it. */
class arena {
 public:
  explicit arena(void *memory) : memory_(static_cast<char *>(memory)) {}
  template <class T>
  void take(T **part, int64_t count) {
    *part = memory_ ? reinterpret_cast<T *>(memory_ + used_) : nullptr;
    used_ += (count * int64_t(sizeof(T)) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
  int64_t used() const { return used_; }

 private:
  enum { ALIGNMENT = 256 };
  char *memory_;
  int64_t used_ = 0;
};

/* One allocation for all that layout(arena) takes; it is called twice. */
template <class F>
trs_status allocate(trs_device *device, void **memory, trs_stream stream, F layout) {
  arena measure(nullptr);
  layout(measure);
  TRS_TRY(trs_device_alloc(device, memory, measure.used(), 1, stream));
  arena parts(*memory);
  layout(parts);
  return TRS_SUCCESS;
}

/* Order, slices and levels: device arrays. */
struct order_arrays {
  uint8_t *kind;            /* class of each block */
  void *key[2];             /* level * classes + class: uint32_t, or uint64_t for long_keys */
  int32_t *order[2];        /* blocks, in order of their keys at last */
  int32_t *level_rows;      /* rows of each level */
  int32_t *digits;          /* counts of the sort, for each block of threads */
  int32_t *width;           /* by place in the order: entries a lane, */
  uint8_t *rows;            /* rows of the block, */
  int32_t *upto;            /* slices that begin up to there, */
  int32_t *rows_before;     /* rows before it */
  int32_t *first_block;     /* place in the order of each slice's first block */
  int32_t *heavies;         /* slices of heavy blocks before each level */
  slices_and_rows *counted; /* for each block of threads, */
  offsets *sizes;           /* likewise, */
  int32_t *chunks;          /* likewise */
  trs_slice_level *level;   /* nlevels + 1 */
};

}  // namespace trs

/* A cut under way: host memory, pointers to device memory. */
struct trs_gpu_cut {
  trs_device *device;
  cudaStream_t stream, side; /* the caller's; that of the first steps */
  trs_gpu_pattern pattern;
  trs_slice_rules rules;
  const trs_gpu_cut *rival;
  bool dropped;  /* given up */
  unsigned grid; /* blocks of threads that cut slices; */
  bool cluster;  /* so few that they can be one cluster */
  void *memory[2];
  trs::cut_stage *stage; /* pinned host memory, while kernels may write there */
  trs::cut_numbers numbers;

  trs::analysis_state *state;
  uint64_t *windows; /* counts of blocks, handed on from window to window */
  int32_t *number;   /* n: block of each row; NULL where rows are blocks */
  int32_t *start;    /* nblocks + 1, or NULL likewise */
  /* What blocks depend on, where they have more than one row: block b on near_count[b] others
   * (highest bit: the one just before is among them) from near + ptr[its lowest row] on. */
  int32_t *near;
  uint32_t *near_count;
  uint32_t *known; /* nblocks: level + 1 */
  int32_t *length; /* nblocks: most entries that a row has outside of its block */
  trs::order_arrays o;
  int32_t *position; /* n: of each row */
};

namespace trs {

using cut = trs_gpu_cut;

/* Keys of 32 bits hold any level and class of so many blocks. */
inline bool long_keys(const cut &c) { return c.pattern.n > int64_t(UINT32_MAX / TRS_CLASSES); }

/* Can a kernel start while the one before it still runs, and are there clusters? */
inline bool overlaps(const cut &c) { return trs_device_look(c.device)->capability >= 9; }

/* Before the first step. */
analysis_state fresh_state(const cut &c);

/* Are levels found by one block of threads?  And is that the first step? */
bool walks_alone(const cut &c);
bool begins_with_walk(const cut &c);

/* The steps: each launches.  order_slices leaves numbers and levels in c.stage. */
trs_status find_blocks(const cut &c);
trs_status find_levels(const cut &c);
trs_status order_slices(const cut &c);
trs_status lay_slices(const cut &c, const trs_slices &slices, const trs_slices_map &map,
                      const trs_gpu_blank &blank);
trs_status fill_slices(const trs_slices &slices, const trs_slices_map &map,
                       const trs_gpu_pattern &pattern, bool store_float, const int32_t *position,
                       cudaStream_t stream);

inline unsigned blocks_for(int64_t threads) {
  return unsigned((threads + ANALYSIS_THREADS - 1) / ANALYSIS_THREADS);
}
__device__ inline int64_t this_thread() {
  return int64_t(blockIdx.x) * ANALYSIS_THREADS + threadIdx.x;
}
__device__ inline int this_lane() { return int(threadIdx.x) % WARP; }

/* As many lanes as have most rows' entries in hand at once; but lanes that find no entry narrow the
 * stretch of the sweep that is under way. */
__host__ __device__ inline int lanes_for(double entries) {
  return entries <= 8 ? 1 : entries <= 24 ? 4 : entries <= 64 ? 8 : 32;
}
inline double entries_a_row(const trs_gpu_pattern &p) {
  return double(p.nnz - (p.has_diagonal ? p.n : 0)) / double(p.n);
}

}  // namespace trs

#endif
