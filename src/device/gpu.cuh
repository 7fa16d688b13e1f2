/* gpu.cuh - a GPU's vendor, for device code: loads and stores that other blocks of threads see,
 * fences, what the lanes of a warp tell each other, clocks, prefetches, and which features a kernel
 * may use.  Kernels include no header of a vendor.
 *
 * A warp has 32 threads; on AMD's CDNA it is a wavefront of 64.  WARP is the width of the GPU that
 * the code is compiled for.  Host code is compiled once for all GPUs: it asks warp_of_device or
 * trs_device_facts.warp.
 *
 * Of CUDA's language kernels use what HIP has too: __global__, threadIdx, __syncthreads,
 * __shared__,
 * __ldg, atomicAdd, <<<>>> and the like.
 *
 * docs/architecture/gpu.md says why the waits built on these functions end on each vendor. */
#ifndef TRS_DEVICE_GPU_CUH
#define TRS_DEVICE_GPU_CUH

#include "device/gpu.h"

#if TRS_GPU_AMD
#include <hip/hip_runtime.h>

#define __grid_constant__
/* A function of its own that keeps registers out of its callers; AMD's compiler would give every
 * caller a stack instead. */
#define TRS_APART inline
#else
#define TRS_APART __noinline__ inline
#endif

/* Features that NVIDIA's GPUs have and HIP's build for AMD leaves out.  TRS_GPU_PLAIN leaves them
 * out elsewhere too, so that a test on another machine runs what AMD's GPUs run. */
#if TRS_GPU_AMD && !defined(TRS_GPU_PLAIN)
#define TRS_GPU_PLAIN
#endif
#ifdef TRS_GPU_PLAIN
#define TRS_HAVE_COPIES_LATER 0 /* of global to shared memory */
#else
#define TRS_HAVE_COPIES_LATER 1
#include <cuda_pipeline.h>
#endif

namespace trs {

/* ---- Memory that other blocks write or read during the kernel.  Relaxed: a word is never torn, a
 * store becomes visible eventually, and nothing else is ordered.  SYSTEM: visible to other GPUs.
 * ---- */

#if TRS_GPU_AMD
#define TRS_BY_SCOPE(SYSTEM, call, ...)                                      \
  ((SYSTEM) ? call(__VA_ARGS__, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM) \
            : call(__VA_ARGS__, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT))

template <int BYTES>
struct machine_word;
template <>
struct machine_word<4> {
  using type = unsigned;
};
template <>
struct machine_word<8> {
  using type = unsigned long long;
};

template <bool SYSTEM = false, class W>
__device__ inline W load_relaxed(const W *p) {
  using bits = typename machine_word<sizeof(W)>::type;
  const bits word = TRS_BY_SCOPE(SYSTEM, __hip_atomic_load, reinterpret_cast<const bits *>(p));
  return __builtin_bit_cast(W, word);
}
template <bool SYSTEM = false, class W>
__device__ inline void store_relaxed(W *p, W value) {
  using bits = typename machine_word<sizeof(W)>::type;
  TRS_BY_SCOPE(SYSTEM, __hip_atomic_store, reinterpret_cast<bits *>(p),
               __builtin_bit_cast(bits, value));
}
#undef TRS_BY_SCOPE
/* value = *p if wanted. */
template <bool SYSTEM = false, class W>
__device__ inline void load_relaxed_if(bool wanted, const W *p, W &value) {
  if (wanted) value = load_relaxed<SYSTEM>(p);
}

__device__ inline void fence_block() { __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup"); }
__device__ inline void fence_device() { __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "agent"); }
__device__ inline void fence_system() { __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, ""); }
#elif !defined(TRS_EMULATED_GPU) /* tests/emulated/warps has these functions for a host */

template <bool SYSTEM = false, class W>
__device__ inline W load_relaxed(const W *p) {
  static_assert(sizeof(W) == 4 || sizeof(W) == 8, "one machine word");
  if constexpr (sizeof(W) == 4) {
    unsigned bits;
    if constexpr (SYSTEM)
      asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(bits) : "l"(p) : "memory");
    else
      asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(bits) : "l"(p) : "memory");
    return *reinterpret_cast<W *>(&bits);
  } else {
    unsigned long long bits;
    if constexpr (SYSTEM)
      asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(bits) : "l"(p) : "memory");
    else
      asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(bits) : "l"(p) : "memory");
    return *reinterpret_cast<W *>(&bits);
  }
}
template <bool SYSTEM = false, class W>
__device__ inline void store_relaxed(W *p, W value) {
  static_assert(sizeof(W) == 4 || sizeof(W) == 8, "one machine word");
  if constexpr (sizeof(W) == 4) {
    unsigned bits = *reinterpret_cast<unsigned *>(&value);
    if constexpr (SYSTEM)
      asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(p), "r"(bits) : "memory");
    else
      asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(bits) : "memory");
  } else {
    unsigned long long bits = *reinterpret_cast<unsigned long long *>(&value);
    if constexpr (SYSTEM)
      asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(p), "l"(bits) : "memory");
    else
      asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(bits) : "memory");
  }
}
/* value = *p if wanted.  The load is predicated, so that several can be in flight. */
template <bool SYSTEM = false, class W>
__device__ inline void load_relaxed_if(bool wanted, const W *p, W &value) {
  static_assert(sizeof(W) == 4 || sizeof(W) == 8, "one machine word");
  if constexpr (sizeof(W) == 4) {
    unsigned &bits = reinterpret_cast<unsigned &>(value);
    if constexpr (SYSTEM)
      asm volatile("{ .reg .pred q; setp.ne.u32 q, %2, 0; @q ld.relaxed.sys.global.u32 %0, [%1]; }"
                   : "+r"(bits)
                   : "l"(p), "r"(unsigned(wanted))
                   : "memory");
    else
      asm volatile("{ .reg .pred q; setp.ne.u32 q, %2, 0; @q ld.relaxed.gpu.global.u32 %0, [%1]; }"
                   : "+r"(bits)
                   : "l"(p), "r"(unsigned(wanted))
                   : "memory");
  } else {
    unsigned long long &bits = reinterpret_cast<unsigned long long &>(value);
    if constexpr (SYSTEM)
      asm volatile("{ .reg .pred q; setp.ne.u32 q, %2, 0; @q ld.relaxed.sys.global.u64 %0, [%1]; }"
                   : "+l"(bits)
                   : "l"(p), "r"(unsigned(wanted))
                   : "memory");
    else
      asm volatile("{ .reg .pred q; setp.ne.u32 q, %2, 0; @q ld.relaxed.gpu.global.u64 %0, [%1]; }"
                   : "+l"(bits)
                   : "l"(p), "r"(unsigned(wanted))
                   : "memory");
  }
}
/* Fences of acquire and release: for a block of threads, for the GPU, for all GPUs and the host. */
__device__ inline void fence_block() { asm volatile("fence.acq_rel.cta;" ::: "memory"); }
__device__ inline void fence_device() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
__device__ inline void fence_system() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }
#endif

/* What this thread loads later is at least as new as *p; SYSTEM: also what other GPUs have stored.
 * A fence would also wait for the warp's own stores. */
template <bool SYSTEM = false>
__device__ inline int32_t load_acquire(const int32_t *p) {
  int32_t value;
#if TRS_GPU_AMD || defined(TRS_EMULATED_GPU)
  value = load_relaxed<SYSTEM>(p);
  if constexpr (SYSTEM)
    fence_system();
  else
    fence_device();
#else
  if constexpr (SYSTEM)
    asm volatile("ld.acquire.sys.global.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  else
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
#endif
  return value;
}

/* Numbers that were loaded, before they decide where others are loaded.  AMD's compiler would wait
 * for them at each use inside a branch, and with them for all loads in flight. */
template <int U>
__device__ inline void await_loads(int (&number)[U]) {
#if TRS_GPU_AMD && defined(__AMDGCN__)
  for (int u = 0; u < U; u++) asm volatile("" : "+v"(number[u]));
#else
  (void)number;
#endif
}

/* ---- The lanes of a warp.  All of them call these functions together. ---- */

#if TRS_GPU_AMD
/* The host's pass has no width; what it computes of WARP is not used. */
#if defined(__AMDGCN_WAVEFRONT_SIZE)
constexpr int WARP = __AMDGCN_WAVEFRONT_SIZE;
#else
constexpr int WARP = 64;
#endif
#elif defined(TRS_EMULATED_WIDTH)
constexpr int WARP = TRS_EMULATED_WIDTH;
#else
constexpr int WARP = 32;
#endif

/* The same for host code, of the current device. */
inline unsigned warp_of_device() {
#if TRS_GPU_AMD
  int ordinal = 0, width = 64;
  (void)hipGetDevice(&ordinal);
  (void)hipDeviceGetAttribute(&width, hipDeviceAttributeWarpSize, ordinal);
  return unsigned(width);
#else
  return WARP;
#endif
}

/* A bit for each lane. */
template <int WIDTH>
struct mask_of {
  using type = unsigned;
};
template <>
struct mask_of<64> {
  using type = unsigned long long;
};
using lane_mask = mask_of<WARP>::type;
constexpr lane_mask ALL_LANES = ~lane_mask(0);

#if TRS_GPU_AMD
__device__ inline lane_mask lanes_where(bool mine) { return lane_mask(__ballot(mine)); }
__device__ inline bool any_lane(bool mine) { return lanes_where(mine) != 0; }
__device__ inline bool all_lanes(bool mine) { return lanes_where(!mine) == 0; }

/* Of 4 or 8 bytes; from a lane outside the warp comes the caller's own part. */
template <class P>
__device__ inline P part_of_lane(P part, int lane) {
  return __shfl(part, lane);
}
template <class P>
__device__ inline P part_xor(P part, int mask) {
  return __shfl_xor(part, mask);
}
template <class P>
__device__ inline P part_up(P part, unsigned distance) {
  return __shfl_up(part, distance);
}
template <class P>
__device__ inline P part_down(P part, unsigned distance) {
  return __shfl_down(part, distance);
}

/* The same of the lanes of a mask, which call this function and no others. */
__device__ inline bool all_of_lanes(lane_mask, bool mine) { return all_lanes(mine); }

/* A wavefront's lanes run in step; what they write to shared memory is kept in order. */
__device__ inline void __syncwarp() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
#else
__device__ inline lane_mask lanes_where(bool mine) { return __ballot_sync(ALL_LANES, mine); }
__device__ inline bool any_lane(bool mine) { return __any_sync(ALL_LANES, mine); }
__device__ inline bool all_lanes(bool mine) { return __all_sync(ALL_LANES, mine); }
__device__ inline bool all_of_lanes(lane_mask lanes, bool mine) { return __all_sync(lanes, mine); }

template <class P>
__device__ inline P part_of_lane(P part, int lane) {
  return __shfl_sync(ALL_LANES, part, lane);
}
template <class P>
__device__ inline P part_xor(P part, int mask) {
  return __shfl_xor_sync(ALL_LANES, part, mask);
}
template <class P>
__device__ inline P part_up(P part, unsigned distance) {
  return __shfl_up_sync(ALL_LANES, part, distance);
}
template <class P>
__device__ inline P part_down(P part, unsigned distance) {
  return __shfl_down_sync(ALL_LANES, part, distance);
}
#endif

/* The lowest lane of a mask that is not empty. */
__device__ inline int lowest_lane(unsigned lanes) { return __ffs(int(lanes)) - 1; }
#if TRS_GPU_AMD || defined(TRS_EMULATED_WIDTH)
__device__ inline int lowest_lane(unsigned long long lanes) { return __ffsll(lanes) - 1; }
#endif

#ifndef TRS_EMULATED_GPU
/* The shared memory whose size the launch gives. */
__device__ inline unsigned char *dynamic_shared() {
  extern __shared__ __align__(16) unsigned char block_shared[];
  return block_shared;
}

/* ---- Overlapping launches.  launch_behind lets a kernel start while the previous kernel in the
 * stream still runs (NVIDIA's from sm_90 on; an ordinary launch elsewhere).  The kernel calls
 * await_kernel_before before it touches anything that earlier work of the stream may change.
 * ---- */

__device__ inline void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
__device__ inline void await_kernel_before() {
  let_next_kernel_start();
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
template <class... P, class... A>
inline cudaError_t launch_behind(bool overlaps, void (*kernel)(P...), dim3 blocks, unsigned threads,
                                 size_t shared_bytes, cudaStream_t stream, const A &...arguments) {
#if TRS_GPU_AMD
  (void)overlaps;
  kernel<<<blocks, threads, shared_bytes, stream>>>(P(arguments)...);
  return cudaGetLastError();
#else
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = overlaps ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, P(arguments)...);
#endif
}

/* A launch whose blocks of threads are all resident if `waits`, since they wait for each other. */
template <class... P, class... A>
inline cudaError_t launch_resident(bool waits, void (*kernel)(P...), dim3 blocks, unsigned threads,
                                   size_t shared_bytes, cudaStream_t stream,
                                   const A &...arguments) {
#if TRS_GPU_AMD
  if (!waits)
    return launch_behind(false, kernel, blocks, threads, shared_bytes, stream, arguments...);
  return [&](P... given) {
    void *all[] = {static_cast<void *>(&given)...};
    return hipLaunchCooperativeKernel(reinterpret_cast<const void *>(kernel), blocks, dim3(threads),
                                      all, unsigned(shared_bytes), stream);
  }(P(arguments)...);
#else
  cudaLaunchAttribute together = {};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &together;
  config.numAttrs = waits ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, P(arguments)...);
#endif
}

/* Lets a kernel have so much shared memory beyond what its launch may always ask for.  AMD's may
 * always have all. */
template <class K>
inline cudaError_t allow_shared(K *kernel, int bytes) {
#if TRS_GPU_AMD
  (void)kernel, (void)bytes;
  return cudaSuccess;
#else
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
#endif
}
/* A preference that affects only speed: the part of a multiprocessor's memory that is shared
 * memory, in percent; the rest caches. */
template <class K>
inline cudaError_t prefer_shared(K *kernel, int percent) {
#if TRS_GPU_AMD
  (void)kernel, (void)percent;
  return cudaSuccess;
#else
  return cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, percent);
#endif
}

/* ---- Time and caches. ---- */

/* Of an array that no kernel writes meanwhile, where HIP's __ldg takes no template's type. */
template <class V>
__device__ inline V load_constant(const V *p) {
#if TRS_GPU_AMD
  return *p;
#else
  return __ldg(p);
#endif
}

/* Of numbers that are read or written once. */
template <class V>
__device__ inline V load_once(const V *p) {
#if TRS_GPU_AMD
  return __builtin_nontemporal_load(p);
#else
  return __ldcs(p);
#endif
}
template <class V>
__device__ inline void store_once(V *p, V value) {
#if TRS_GPU_AMD
  __builtin_nontemporal_store(value, p);
#else
  __stcs(p, value);
#endif
}

/* The GPU's clock.  AMD's counts 100 MHz; where it counts more slowly, a wait lasts longer before
 * it fails. */
__device__ inline unsigned long long nanoseconds() {
#if TRS_GPU_AMD
  return 10 * __builtin_amdgcn_s_memrealtime();
#else
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#endif
}

/* Fetches data that is read once into the second-level cache, and not into the first. */
__device__ inline void prefetch(const void *p) {
#if TRS_GPU_AMD
  (void)p;
#else
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
#endif
}
/* The same into the first-level cache. */
__device__ inline void prefetch_near(const void *p) {
#if TRS_GPU_AMD
  (void)p;
#else
  asm volatile("prefetch.global.L1 [%0];" ::"l"(p));
#endif
}

/* V: uint4.  Past the first-level cache. */
template <class V>
__device__ inline V load_past_l1(const V *p) {
#if TRS_GPU_AMD
  typedef unsigned four __attribute__((ext_vector_type(4)));
  const four v = __builtin_nontemporal_load(reinterpret_cast<const four *>(p));
  return V{v.x, v.y, v.z, v.w};
#else
  V v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p));
  return v;
#endif
}

/* Between two looks of a wait.  racecheck records each look at shared memory and falls behind: in a
 * build for it (TRIREME_RACECHECK) waits look rarely.  On AMD's GPUs a waiting wavefront leaves the
 * instruction slots to the others for 64 cycles, a small part of the time that a look takes. */
__device__ inline void rest_between_looks() {
#ifdef TRS_RACECHECK
  __nanosleep(20000);
#elif TRS_GPU_AMD
  __builtin_amdgcn_s_sleep(1);
#endif
}

/* The first of low .. high - 1 of which f is false, or high: bisection, for f that is true first.
 */
template <class I, class F>
__device__ inline I first_not(I low, I high, F f) {
  while (low < high) {
    const I middle = low + (high - low) / 2;
    if (f(middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
#endif

}  // namespace trs

#endif
