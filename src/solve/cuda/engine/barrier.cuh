/* barrier.cuh - barriers in shared memory: of one block of threads, and of a cluster of blocks
 * whose threads store into each other's shared memory (sm_90 on). */
#ifndef TRS_SOLVE_CUDA_ENGINE_BARRIER_CUH
#define TRS_SOLVE_CUDA_ENGINE_BARRIER_CUH

#include "device/kernel.cuh"

namespace trs {

__device__ inline uint32_t shared_address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ inline void barrier_init(uint64_t *barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count)
               : "memory");
}
/* Lanes that arrive for a warp: one, since __syncwarp orders the others before it.  racecheck does
 * not see that, so in a build for it (TRIREME_RACECHECK) all arrive. */
#ifdef TRS_RACECHECK
constexpr int ARRIVING = 32;
#else
constexpr int ARRIVING = 1;
#endif

/* `count` arrivals for the warp, after the writes of its lanes.  Before sm_90 only a single
 * arrival can complete a phase. */
__device__ inline void barrier_arrive(uint64_t *barrier, int lane, int32_t count = 1) {
  __syncwarp();
  if (lane >= ARRIVING) return;
#if __CUDA_ARCH__ >= 900
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0], %1; }" ::"r"(
                   shared_address(barrier)),
               "r"(count)
               : "memory");
#else
  if (count > 1)
    asm volatile(
        "{ .reg .b64 state; mbarrier.arrive.noComplete.shared::cta.b64 state, [%0], %1; }" ::"r"(
            shared_address(barrier)),
        "r"(count - 1)
        : "memory");
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(
                   shared_address(barrier))
               : "memory");
#endif
}
__device__ inline bool barrier_passed(uint64_t *barrier, uint32_t parity) {
  uint32_t passed;
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; "
      "}"
      : "=r"(passed)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
#else
  asm volatile(
      "{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, "
      "p; }"
      : "=r"(passed)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
#endif
  return passed != 0;
}
/* Waits for the end of phase number `phase` (0, 1, ...) of the barrier. */
__device__ inline void barrier_wait(uint64_t *barrier, int32_t phase, wait &w, long long row) {
  while (!barrier_passed(barrier, uint32_t(phase) & 1) && w.goes_on(row)) {
  }
}

/* ---- Clusters.  Before sm_90 none of these is called. ---- */

#if __CUDA_ARCH__ >= 900

/* The address of the same place in the shared memory of a block of the cluster. */
__device__ inline uint32_t address_in(uint32_t local, int block) {
  uint32_t at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(local), "r"(block));
  return at;
}
/* The thread's own barrier: an arrival, and bytes that other threads will store. */
__device__ inline void barrier_expect(uint64_t *barrier, uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}
/* An arrival at the same barrier of another block.  It orders nothing: a release would wait for all
 * earlier stores of the thread, half a microsecond. */
__device__ inline void barrier_arrive_at(uint64_t *barrier, int block) {
  asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                   address_in(shared_address(barrier), block))
               : "memory");
}
/* Stores a value in a block of the cluster and counts its bytes at a barrier of that block.  The
 * thread does not wait. */
__device__ inline void store_async(uint32_t place, float x, uint32_t barrier) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(place),
      "r"(__float_as_uint(x)), "r"(barrier)
      : "memory");
}
__device__ inline void store_async(uint32_t place, double x, uint32_t barrier) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(place),
      "l"(__double_as_longlong(x)), "r"(barrier)
      : "memory");
}
__device__ inline void store_async(uint32_t place, float x, float y, uint32_t barrier) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::"r"(
          place),
      "r"(__float_as_uint(x)), "r"(__float_as_uint(y)), "r"(barrier)
      : "memory");
}
__device__ inline void store_async(uint32_t place, double x, double y, uint32_t barrier) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];" ::"r"(
          place),
      "l"(__double_as_longlong(x)), "l"(__double_as_longlong(y)), "r"(barrier)
      : "memory");
}
template <class R>
__device__ inline void store_async(uint32_t place, complex_of<R> x, uint32_t barrier) {
  store_async(place, x.re, x.im, barrier);
}
#else

__device__ inline uint32_t address_in(uint32_t local, int) { return local; }
__device__ inline void barrier_expect(uint64_t *, uint32_t) {}
__device__ inline void barrier_arrive_at(uint64_t *, int) {}
template <class... A>
__device__ inline void store_async(uint32_t, A...) {}

#endif

/* A barrier of all threads of the cluster, or of the block. */
template <int BLOCKS>
__device__ inline void sync_cluster() {
#if __CUDA_ARCH__ >= 900
  if constexpr (BLOCKS > 1) {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    return;
  }
#endif
  __syncthreads();
}

}  // namespace trs

#endif
