/* stage.cuh - stages in shared memory, which copies fill and warps read (slices.cu). */
#ifndef TRS_RELAX_CUDA_STAGE_CUH
#define TRS_RELAX_CUDA_STAGE_CUH

#include "relax/cuda/row.cuh"

namespace trs {
namespace slices {

/* ---- Shared memory by 32-bit addresses: pointers would be recomputed at every use. ---- */

#ifdef TRS_GPU_PLAIN /* from the begin of the block's dynamic shared memory */
__device__ inline unsigned begin_of_shared() { return 0; }
template <class T>
__device__ inline T *in_shared(unsigned at) {
  return reinterpret_cast<T *>(dynamic_shared() + at);
}
__device__ inline uint4 shared_vector(unsigned at) { return *in_shared<const uint4>(at); }
__device__ inline unsigned shared_word(unsigned at) { return *in_shared<const unsigned>(at); }
template <class T>
__device__ inline void shared_value(unsigned at, T &v) {
  v = *in_shared<const T>(at);
}
template <class T>
__device__ inline void shared_store(unsigned at, T v) {
  *in_shared<T>(at) = v;
}
#else
__device__ inline unsigned begin_of_shared() {
  return static_cast<unsigned>(__cvta_generic_to_shared(dynamic_shared()));
}
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
#endif

/* ---- Copies of whole stages, each with a barrier: bulk copies by lane 0 from sm_90 on;
 * asynchronous copies by all lanes on older devices; copies that are complete when they return in
 * plain builds. ---- */

#ifdef TRS_GPU_PLAIN
__device__ inline uint64_t read_once_policy() { return 0; }
__device__ inline void init_barrier(unsigned) {}
__device__ inline void show_barriers() {}
__device__ inline void show_stores() { __syncwarp(); }
__device__ inline void await_barrier(unsigned, unsigned) { __syncwarp(); }
__device__ inline void copy_stage(unsigned to, const char *from, int bytes, unsigned, int lane,
                                  uint64_t) {
  for (int at = lane * 16; at < bytes; at += WARP * 16)
    *in_shared<uint4>(to + unsigned(at)) = *reinterpret_cast<const uint4 *>(from + at);
}
#else
__device__ inline uint64_t read_once_policy() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
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
#endif

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
