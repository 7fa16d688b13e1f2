/* slices.cuh - W21's Algorithm 1 by the library's own kernel, for blocks of 1 to 8.
 *
 * A slice is as many rows of a colour as fit the lanes of a warp, six of 5 x 5, with similar
 * numbers of blocks.  All its data are contiguous: chunks of some blocks per row, and a tail with
 * the factors of D.  A chunk has its block columns, then vectors of 16 bytes, interleaved by lane.
 * A lane has one column of each block: it multiplies the column by its element of x and adds to all
 * components of the row.  Sums pass between lanes only at the end of a slice.
 *
 * One launch makes all requested sweeps, with one block of threads per multiprocessor, all
 * resident. A warp has a ring of stages in shared memory, each for one chunk or tail, which bulk
 * copies fill in the order of its slices.  That order does not depend on x, so copies run ahead
 * across the ends of slices and colours, also while the blocks of threads wait for each other
 * between two colours.
 *
 * On several GPUs each has one launch too.  A colour's boundary rows come first, and are stored at
 * once in the members that read them, which are signalled when all are stored.  A member begins a
 * step when its own rows of the previous step are done and the other members' boundary rows have
 * arrived.  Only rows sent to another member wait until that member has begun the step too.  The
 * memory order is that of push.cu.
 *
 * A triangle (solve_slices) has no barriers: its slices go to the warps in the order of levels, and
 * x shows if it is ready (device/ready.cuh).
 *
 * A file for each storage format has its kernels (slices_mixed.cu and others), so that they compile
 * side by side. */
#ifndef TRS_RELAX_CUDA_SLICES_CUH
#define TRS_RELAX_CUDA_SLICES_CUH

#include "relax/cuda/exchange.cuh"
#include "relax/cuda/slices_in.cuh"
#include "relax/cuda/stream.cuh"

namespace trs {
namespace slices {

constexpr int MOST_WARPS = 20, LEAST_STAGES = 3, MOST_STAGES = 12;
constexpr int MOST_THREADS = WARP == 64 ? 1024 : MOST_WARPS * WARP; /* of a block */

/* ---- Between steps ---- */

class colour_barrier {
 public:
  __device__ colour_barrier(const trs_relax_slices &s, const trs_relax_peer_sync &m)
      : arrived_(s.arrived), fault_(s.fault), exchange_(m) {}

  /* Before the first step.  goes_on: the previous launch made the previous step, and the rows that
   * other members sent in it have arrived. */
  __device__ void enter(const slice_iterator &c, bool goes_on) {
    if (exchange_.alone()) return;
    if (threadIdx.x < WARP) exchange_.announce(c);
    if (in_last_warp()) exchange_.receive(c, !goes_on);
    __syncthreads();
    if (in_last_warp()) exchange_.await_receivers(c);
  }
  /* A barrier of all blocks of threads: their x and that of other members is visible afterwards.
   * Other members' rows are awaited meanwhile. */
  __device__ void pass(const slice_iterator &c) {
    target_ += gridDim.x;
    __syncthreads();
    if (threadIdx.x == 0) arrive(c.step());
    if (exchange_.alone()) {
      __syncthreads();
      return;
    }
    __syncwarp();
    if (threadIdx.x < WARP) exchange_.announce(c);
    if (in_last_warp()) exchange_.receive(c, false);
    __syncthreads();
    if (in_last_warp()) exchange_.await_receivers(c);
  }
  /* Resets the count for the next launch. */
  __device__ void leave() {
    __syncthreads();
    if (threadIdx.x == 0 && target_ > 0 && atomicAdd(arrived_, 1u) == target_ + gridDim.x - 1)
      atomicExch(arrived_, 0u);
  }

 private:
  unsigned *arrived_, target_ = 0;
  trs_fault *fault_;
  exchange exchange_;

  __device__ static bool in_last_warp() { return threadIdx.x + WARP >= blockDim.x; }

  /* The wait has a limit like any other.  Because all blocks are resident, only a GPU that has
   * stopped exceeds it. */
  __device__ void arrive(int step) {
    fence_device();
    atomicAdd(arrived_, 1u);
    wait w(fault_);
    while (load_relaxed(arrived_) < target_ && w.goes_on(step)) continue;
    fence_device();
  }
};

template <int STORE, int B>
__global__ void __launch_bounds__(MOST_THREADS, 1)
    relax_slices(const __grid_constant__ trs_relax_args a,
                 const __grid_constant__ trs_relax_slices s,
                 const __grid_constant__ trs_relax_peer_sync m,
                 const __grid_constant__ sweep_range t, int rhs, int stages) {
  const unsigned at = begin_of_shared();
  stream<STORE, B> own(a, s, m, t, rhs, stages, at);
  colour_barrier barrier(s, m);
  own.begin();
  barrier.enter(slice_iterator(s, t), t.goes_on);
  own.run([&](const slice_iterator &c) { barrier.pass(c); },
          [&](bool more) { own.relax_slice(more); });
  barrier.leave();
}

static __constant__ trs_relax_peer_sync no_peers; /* zeros */

/* All rows of a triangle.  The last block of threads that ends lets the next launch write the other
 * x. */
template <int STORE, int B>
__global__ void __launch_bounds__(MOST_THREADS, 1)
    solve_slices(const __grid_constant__ trs_relax_args a,
                 const __grid_constant__ trs_relax_slices s,
                 const __grid_constant__ trs_relax_vectors v, const __grid_constant__ sweep_range t,
                 int rhs, int stages) {
  const unsigned at = begin_of_shared();
  stream<STORE, B, slices_in_turn> own(a, s, no_peers, t, rhs, stages, at);
  own.begin();
  own.run([](const slices_in_turn &) {}, [&](bool more) { own.solve_slice(more, v); });
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(s.arrived, 1u) == gridDim.x - 1) { /* the last block */
    atomicExch(s.arrived, 0u);
    atomicXor(s.turn, 1u);
  }
}

template <int STORE, int B>
__global__ void __launch_bounds__(MOST_THREADS, 1)
    square_slices(const __grid_constant__ trs_relax_args a,
                  const __grid_constant__ trs_relax_slices s,
                  const __grid_constant__ trs_relax_peer_sync m,
                  const __grid_constant__ sweep_range t, int rhs, int stages) {
  __shared__ uint64_t words[TRS_EXACT_WORDS];
  const unsigned at = begin_of_shared();
  for (unsigned k = threadIdx.x; k < TRS_EXACT_WORDS; k += blockDim.x) words[k] = 0;
  __syncthreads();
  stream<STORE, B> own(a, s, m, t, rhs, stages, at);
  own.begin();
  own.run([](const slice_iterator &) {}, [&](bool more) { own.square_slice(more, words); });
  join_exactly(a.words + rhs * TRS_EXACT_WORDS, words);
}

/* ---- Launches ---- */

/* Many warps with short rings: shared memory that the rings leave free caches x, which has more
 * effect (docs/experiments/relaxation.md). */
constexpr int USUAL_WARPS = MOST_WARPS, USUAL_STAGES = LEAST_STAGES;
constexpr int STATIC_BYTES = 1024; /* bytes of shared memory, beside the rings */

/* Allows the kernels all shared memory, whatever a launch uses: this permission is one setting for
 * all relaxations on the device. */
template <int STORE, int B>
cudaError_t allow_memory(int *room) {
  int device = 0, bytes = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  *room = bytes - STATIC_BYTES;
  if (error == cudaSuccess) error = allow_shared(relax_slices<STORE, B>, *room);
  if (error == cudaSuccess) error = allow_shared(solve_slices<STORE, B>, *room);
  if (error == cudaSuccess) error = allow_shared(square_slices<STORE, B>, *room);
  return error;
}

/* A launch for one right-hand side; waits: its blocks of threads wait for each other, and must all
 * be resident. */
template <class FORM, class K, class M>
cudaError_t launch_range(K kernel, const trs_relax_args *a, const trs_relax_slices *s, const M &m,
                         const sweep_range &t, bool waits, int rhs, cudaStream_t stream) {
  return launch_resident(waits, kernel, unsigned(s->blocks), unsigned(s->warps) * warp_of_device(),
                         size_t(s->warps) * size_t(s->stages) * FORM::STAGE, stream, *a, *s, m, t,
                         rhs, int(s->stages));
}

/* The launches of a storage format. */
template <int STORE>
struct launches_of {
  static cudaError_t prepare(const trs_relax_args *a, trs_relax_slices *s) {
    return by_slice_block(a->block, [&](auto block) {
      constexpr int B = decltype(block)::value;
      int bytes = 0;
      cudaError_t e = allow_memory<STORE, B>(&bytes);
      const int room = bytes / shape<STORE, B>::STAGE;
      int64_t warps = s->warps ? s->warps : USUAL_WARPS;
      if (warps > room / LEAST_STAGES) warps = room / LEAST_STAGES;
      if (warp_of_device() > 32 && warps > 16) warps = 16; /* 1024 threads */
      if (warps < 1) return e == cudaSuccess ? cudaErrorInvalidConfiguration : e;
      const int64_t stages = s->stages ? s->stages : USUAL_STAGES;
      s->warps = warps;
      s->stages = room / warps < stages ? room / warps : stages;
      const int64_t taken = s->warps * s->stages * shape<STORE, B>::STAGE + 2 * STATIC_BYTES;
      const int64_t percent = (100 * taken + bytes) / (bytes + STATIC_BYTES);
      /* A preference that affects only speed: memory that the rings do not use caches x. */
      const int carveout = int(percent < 100 ? percent : 100);
      if (e == cudaSuccess) e = prefer_shared(relax_slices<STORE, B>, carveout);
      if (e == cudaSuccess) e = prefer_shared(solve_slices<STORE, B>, carveout);
      return e;
    });
  }

  static cudaError_t relax(const trs_relax_args *a, const trs_relax_slices *s,
                           trs_relax_peer_sync *m, const sweep_range &t, cudaStream_t stream) {
    const trs_relax_peer_sync alone = {};
    return by_slice_block(a->block, [&](auto block) {
      constexpr int B = decltype(block)::value;
      cudaError_t error = cudaSuccess;
      for (int rhs = 0; rhs < a->nrhs && error == cudaSuccess; rhs++) {
        error = launch_range<shape<STORE, B>>(relax_slices<STORE, B>, a, s, m ? *m : alone, t,
                                              t.steps > 1, rhs, stream);
        if (m) m->step += uint64_t(t.steps);
      }
      return error;
    });
  }

  static cudaError_t solve(const trs_relax_args *a, const trs_relax_slices *s,
                           const trs_relax_vectors &v, const sweep_range &t, cudaStream_t stream) {
    return by_slice_block(a->block, [&](auto block) {
      constexpr int B = decltype(block)::value;
      return launch_range<shape<STORE, B>>(solve_slices<STORE, B>, a, s, v, t, true, 0, stream);
    });
  }

  static cudaError_t square(const trs_relax_args *a, const trs_relax_slices *s,
                            const sweep_range &t, cudaStream_t stream) {
    const trs_relax_peer_sync alone = {};
    return by_slice_block(a->block, [&](auto block) {
      constexpr int B = decltype(block)::value;
      cudaError_t e = cudaSuccess;
      for (int rhs = 0; rhs < a->nrhs && e == cudaSuccess; rhs++)
        e = launch_range<shape<STORE, B>>(square_slices<STORE, B>, a, s, alone, t, false, rhs,
                                          stream);
      return e;
    });
  }

  static launches all() { return {prepare, relax, solve, square}; }
};

}  // namespace slices
}  // namespace trs

#endif
