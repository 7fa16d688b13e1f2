/* stage.cuh - stages in shared memory, which copies fill and warps read (slices.cu). */
#ifndef TRS_RELAX_CUDA_STAGE_CUH
#define TRS_RELAX_CUDA_STAGE_CUH

#include "relax/cuda/row.cuh"

namespace trs {
namespace slices {

/* ---- Shared memory by 32-bit addresses: pointers would be recomputed at every use. ---- */

__device__ inline uint4 shared_vector(unsigned at) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(at)
               : "memory");
  return v;
}
__device__ inline unsigned shared_word(unsigned at) {
  unsigned v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
  return v;
}
__device__ inline void shared_value(unsigned at, double &v) {
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(v) : "r"(at) : "memory");
}
__device__ inline void shared_value(unsigned at, float &v) {
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(at) : "memory");
}
__device__ inline void shared_store(unsigned at, double v) {
  asm volatile("st.shared.f64 [%0], %1;" ::"r"(at), "d"(v) : "memory");
}
__device__ inline void shared_store(unsigned at, float v) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(v) : "memory");
}

/* ---- Copies of whole stages, each with a barrier: bulk copies by lane 0 from sm_90 on;
 * asynchronous copies by all lanes on older devices. ---- */

__device__ inline void init_barrier(unsigned barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
#else
  asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(barrier) : "memory");
#endif
}
/* Called before the first copy by the lane that initialised the barriers. */
__device__ inline void show_barriers() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
/* Orders stores into a stage before the next copy into it. */
__device__ inline void show_stores() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
__device__ inline void await_barrier(unsigned barrier, unsigned parity) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra "
      "again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
#else
  asm volatile(
      "{\n.reg .pred p;\nagain:\nmbarrier.test_wait.parity.shared.b64 p, [%0], %1;\n@!p bra "
      "again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
#endif
}
/* Copies a multiple of 16 bytes that is read only once per sweep. */
__device__ inline void copy_stage(unsigned to, const char *from, int bytes, unsigned barrier,
                                  int lane, uint64_t policy) {
#if __CUDA_ARCH__ >= 900
  if (lane != 0) return;
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1], %2, [%3], %4;" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier), "l"(policy)
      : "memory");
#else
  for (int at = lane * 16; at < bytes; at += int(WARP) * 16)
    asm volatile(
        "cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to + unsigned(at)),
        "l"(from + at), "l"(policy)
        : "memory");
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
#endif
}

/* Element e of packed words in a storage format. */
template <int STORE>
__device__ inline typename stored<STORE>::product element_of(const uint32_t *word, int e) {
  if constexpr (sizeof(typename stored<STORE>::off) == 8)
    return __hiloint2double(int(word[2 * e + 1]), int(word[2 * e]));
  else if constexpr (sizeof(typename stored<STORE>::off) == 4)
    return __uint_as_float(word[e]);
  else
    return decode<STORE>(uint16_t(e % 2 ? word[e / 2] >> 16 : word[e / 2] & 0xffff));
}

}  // namespace slices
}  // namespace trs

#endif
