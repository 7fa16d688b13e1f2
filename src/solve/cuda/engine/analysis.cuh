/* analysis.cuh - data that the steps of the analysis pass on.
 *
 *   analysis_blocks.cu   rows into blocks, and for each block the blocks it depends on
 *   analysis_levels.cu   levels of blocks
 *   analysis_slices.cu   order by level and class, slices, positions, chunks
 *   analysis_fill.cu     entries and inverses into their places
 *   analysis_pattern.cu  the pattern read back from them
 *   analysis.cu          the sequence
 *
 * Rows and columns are numbered along the sweep, from 0 in the order of the solve, so that lower
 * and upper triangles are alike.
 *
 * The counts that a step passes to the next stay on the device.  Kernels write what the host has
 * to know into its pinned memory, so a small system is cut with one wait. */
#ifndef TRS_SOLVE_CUDA_ENGINE_ANALYSIS_CUH
#define TRS_SOLVE_CUDA_ENGINE_ANALYSIS_CUH

#include "solve/cuda/engine/analysis.h"
#include "device/kernel.cuh"

namespace trs {

enum {
  ANALYSIS_THREADS = 256,
  ANALYSIS_WARPS = ANALYSIS_THREADS / WARP,
  SHARED_ALWAYS = 48 << 10, /* bytes of shared memory that a kernel may have without a request */
  SORT_BITS = 8,            /* per digit */
  SORT_DIGITS = 1 << SORT_BITS
};

/* Off-diagonal entries of a row in the order of the sweep; the nearest to the diagonal is last. */
struct row_view {
  int64_t origin, diagonal; /* of the first entry and of the diagonal entry in the arrays */
  int32_t count;
};

struct pattern_view {
  int64_t n;
  const int64_t *ptr;
  const int32_t *idx;
  bool lower, full; /* full: every row stores its diagonal entry */

  explicit pattern_view(const trs_system &p)
      : n(p.n), ptr(p.ptr), idx(p.idx), lower(p.lower), full(p.has_diagonal) {}

  /* The row at a place of the sweep, or the place of a row. */
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
  /* The place of the column of entry e. */
  __device__ int32_t column(int64_t origin, int64_t e) const {
    return mirror(__ldg(idx + entry(origin, e)));
  }
};

/* The rows of each block.  start is NULL if each row is a block. */
struct blocks_view {
  const int32_t *start; /* nblocks + 1: first rows */

  __device__ int32_t first(int32_t b) const { return start ? start[b] : b; }
  __device__ int32_t rows(int32_t b) const { return start ? start[b + 1] - start[b] : 1; }
};

/* Counts in device memory that kernels pass on. */
struct analysis_state {
  int32_t nblocks, nlevels, longest; /* longest: most entries of one row outside its block */
  int32_t all_levels;                /* nlevels when all levels are known; 0 before */
  uint32_t walkers;                  /* blocks of threads that have ended their walk */
  uint32_t given_up;                 /* the cut needs more levels than its rival */
  uint32_t window_ticket, node_ticket, arrived;
  unsigned long long classes; /* a bit for each that occurs */
  trs_fault fault;
};

/* Counts for the host, in pinned memory. */
struct cut_numbers {
  int32_t nblocks, nlevels, nslices, nchunks, nparts, nheavy, longest;
  int64_t entries, inverses;
  int32_t order; /* which of order_arrays.order is in the order of levels */
  int32_t given_up, stalled;
  int64_t row; /* that waited longest */
};

/* The use of a stage of the device by a cut. */
struct cut_stage {
  enum { MOST = (TRS_STAGE_BYTES - sizeof(cut_numbers)) / sizeof(trs_slice_level) };
  cut_numbers numbers;
  trs_slice_level level[MOST];
};

/* Number of entries and of inverses; slices of heavy blocks: parts, and others. */
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

/* One thread's share of the words. */
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

/* Parts of one allocation, in sequence; NULL memory only counts. */
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

/* One allocation for all that layout(arena) takes; layout is called twice. */
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
  void *key[2];             /* (level * slabs + slab) * classes + class: uint32_t, or uint64_t for
                               long_keys */
  int32_t *order[2];        /* blocks; in the end in the order of their keys */
  int32_t *level_rows;      /* rows of each level */
  int32_t *digits;          /* of the sort, per block of threads */
  int32_t *width;           /* entries per lane, by place in the order */
  uint8_t *rows;            /* rows of the block, likewise */
  int32_t *upto;            /* slices that begin up to the block, likewise */
  int32_t *rows_before;     /* rows before the block, likewise */
  int32_t *first_block;     /* place in the order of each slice's first block */
  int32_t *heavies;         /* slices of heavy blocks before each level */
  slices_and_rows *counted; /* per block of threads */
  offsets *sizes;           /* per block of threads */
  int32_t *chunks;          /* per block of threads */
  trs_slice_level *level;   /* nlevels + 1 */
};

}  // namespace trs

/* The state of a cut: host memory with pointers to device memory. */
struct trs_gpu_cut {
  trs_device *device;
  cudaStream_t stream, side; /* the caller's stream; that of the next step, up to order_slices */
  trs_system system;
  const uint8_t *block_starts; /* rows that must begin a block, or NULL */
  trs_slice_rules rules;
  const trs_gpu_cut *rival;
  trs_gpu_slabs slabs;  /* count 1: of is not read */
  int32_t known_levels; /* number of levels that the caller gave; 0: none */
  bool dropped;         /* abandoned */
  unsigned grid;        /* blocks of threads that cut slices */
  bool cluster;         /* the grid is one cluster */
  void *memory[2];
  trs::cut_stage *stage; /* pinned host memory; NULL once kernels no longer write to it */
  trs::cut_numbers numbers;

  trs::analysis_state *state;
  uint64_t *windows; /* counts of blocks, passed from window to window */
  int32_t *number;   /* n: block of each row; NULL if each row is a block */
  int32_t *start;    /* nblocks + 1, or NULL likewise */
  /* Dependencies of blocks, if some blocks have several rows: block b depends on near_count[b]
   * others, listed from near + ptr[its lowest row] on.  The highest bit of near_count[b] is set if
   * b depends on the block just before it. */
  int32_t *near;
  uint32_t *near_count;
  uint32_t *known; /* nblocks: level + 1; the caller's, if they are known */
  int32_t *length; /* nblocks: most entries of one row outside its block */
  trs::order_arrays o;
  int32_t *position; /* n: of each row */
};

namespace trs {

using cut = trs_gpu_cut;

/* True if a level, a slab and a class of so many blocks do not fit a key of 32 bits. */
inline bool long_keys(const cut &c) {
  return c.system.n > int64_t(UINT32_MAX / TRS_CLASSES) / c.slabs.count;
}

/* True if a kernel can start before its predecessor ends, and if the device has clusters. */
inline bool overlaps(const cut &c) { return trs_device_look(c.device)->capability >= 9; }

/* Before the first step. */
analysis_state fresh_state(const cut &c);

/* walks_alone: one block of threads finds the levels.  begins_with_walk: and it is the first step.
 */
bool walks_alone(const cut &c);
bool begins_with_walk(const cut &c);

/* The steps; each launches.  order_slices leaves counts and levels in c.stage. */
trs_status find_blocks(const cut &c);
trs_status find_levels(const cut &c);
trs_status order_slices(const cut &c);
trs_status lay_slices(const cut &c, const trs_slices &slices, const trs_slices_map &map,
                      const trs_gpu_blank &blank);
trs_status fill_slices(const trs_slices &slices, const trs_slices_map &map,
                       const trs_system &system, bool store_float, const int32_t *position,
                       const trs_gpu_verdict &verdict, cudaStream_t stream);

inline unsigned blocks_for(int64_t threads) {
  return unsigned((threads + ANALYSIS_THREADS - 1) / ANALYSIS_THREADS);
}
__device__ inline int64_t this_thread() {
  return int64_t(blockIdx.x) * ANALYSIS_THREADS + threadIdx.x;
}
__device__ inline int this_lane() { return int(threadIdx.x) % WARP; }

/* Enough lanes to hold the entries of most rows at once.  Lanes without entries would shorten the
 * stretch of the sweep that is in work. */
__host__ __device__ inline int lanes_for(double entries) {
  return entries <= 8 ? 1 : entries <= 24 ? 4 : entries <= 64 ? 8 : 32;
}
inline double entries_a_row(const trs_system &p) {
  return double(p.nnz - (p.has_diagonal ? p.n : 0)) / double(p.n);
}

}  // namespace trs

#endif
