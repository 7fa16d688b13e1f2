/* cuda_runtime.h - what kernels take from CUDA, on a host, in the place of CUDA's own header.  A
 * thread of a block is a coroutine: it gives the processor away where threads wait for each other.
 * The threads go on in an order that varies.  C++. */
#ifndef TRS_TEST_EMULATED_CUDA_RUNTIME_H
#define TRS_TEST_EMULATED_CUDA_RUNTIME_H

#include <math.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#define __device__
#define __host__
#define __global__
#define __noinline__
#define __shared__
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

#define TRS_GPU_PLAIN      /* device/gpu.cuh */
#ifndef TRS_EMULATED_WIDTH /* lanes of a warp: 32 or 64 */
#define TRS_EMULATED_WIDTH 32
#endif

enum cudaError_t { cudaSuccess };
typedef void *cudaStream_t;
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned width = 1, unsigned height = 1, unsigned depth = 1)
      : x(width), y(height), z(depth) {}
};
struct float2 {
  float x, y;
};
struct double2 {
  double x, y;
};

/* Launches that are not emulated, and waits. */
enum {
  cudaLaunchAttributeProgrammaticStreamSerialization,
  cudaLaunchAttributeCooperative,
  cudaFuncAttributeMaxDynamicSharedMemorySize,
  cudaFuncAttributePreferredSharedMemoryCarveout
};
struct cudaLaunchAttribute {
  int id;
  struct {
    int programmaticStreamSerializationAllowed, cooperative;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
};
int atomicExch(int *to, int value);

inline dim3 threadIdx, blockIdx, blockDim, gridDim;

template <class T>
T __ldg(const T *from) {
  return *from;
}
inline unsigned atomicAdd(unsigned *to, unsigned value) {
  const unsigned before = *to;
  *to += value;
  return before;
}
inline unsigned long long atomicMin(unsigned long long *to, unsigned long long value) {
  const unsigned long long before = *to;
  *to = std::min(before, value);
  return before;
}

namespace trs {

/* Shared memory of the block that runs; it begins full of NaN. */
enum { SHARED_BYTES = 227 << 10 };
__align__(16) inline unsigned char block_shared[SHARED_BYTES];

class emulated_block {
 public:
  emulated_block(unsigned threads, std::function<void()> work)
      : work_(work), thread_(threads), warp_((threads + WIDTH - 1) / WIDTH) {
    for (unsigned t = 0; t < threads; t++) {
      thread &own = thread_[t];
      getcontext(&own.context);
      own.context.uc_stack.ss_sp = stack_of(t);
      own.context.uc_stack.ss_size = STACK_BYTES;
      makecontext(&own.context, begin, 0);
    }
    all_.members = threads;
    for (unsigned w = 0; w < warp_.size(); w++)
      warp_[w].members = std::min(WIDTH, threads - WIDTH * w);
  }

  void run(uint64_t *seed) {
    running_ = this;
    memset(block_shared, 0xff, sizeof block_shared);
    const auto threads = unsigned(thread_.size());
    for (bool any = true; any;) {
      any = false;
      *seed = *seed * 6364136223846793005u + 1442695040888963407u;
      const auto first = unsigned(*seed >> 33) % threads;
      for (unsigned k = 0; k < threads; k++) {
        here_ = (first + k) % threads;
        if (thread_[here_].ended) continue;
        any = true;
        const int looping = warp_[here_ / WIDTH].looping;
        if (looping >= 0 && looping != int(here_)) continue;
        threadIdx.x = here_;
        swapcontext(&caller_, &thread_[here_].context);
      }
    }
  }

  /* ---- Called by threads. ---- */

  static emulated_block &running() { return *running_; }
  void wait_for_block() { wait(all_); }
  void wait_for_warp() { wait(warp_[here_ / WIDTH]); }
  /* Between looks at memory that other threads write. */
  void rest() { give_away(); }
  /* The same of warps whose lanes run in step: until the caller waits for its warp or its block, or
   * ends, no other lane of its warp runs. */
  void loop() {
    warp_[here_ / WIDTH].looping = int(here_);
    give_away();
  }

  /* What the thread of a lane of the warp brings, to all of them. */
  template <class T>
  T exchange(T mine, unsigned lane) {
    static_assert(sizeof(T) <= sizeof warp_[0].word[0], "a machine word");
    warp_barrier &w = warp_[here_ / WIDTH];
    T theirs;
    memcpy(&w.word[here_ % WIDTH], &mine, sizeof mine);
    wait(w);
    memcpy(&theirs, &w.word[lane % WIDTH], sizeof theirs);
    wait(w);
    return theirs;
  }
  template <class F>
  void for_all_lanes(unsigned mine, F f) {
    warp_barrier &w = warp_[here_ / WIDTH];
    memcpy(&w.word[here_ % WIDTH], &mine, sizeof mine);
    wait(w);
    for (unsigned lane = 0; lane < w.members; lane++) {
      unsigned theirs;
      memcpy(&theirs, &w.word[lane], sizeof theirs);
      f(lane, theirs);
    }
    wait(w);
  }

  /* Copies are made where they are awaited. */
  void copy(void *to, const void *from, int bytes) {
    thread_[here_].copies.push_back({to, from, bytes, thread_[here_].groups});
  }
  void end_group() { thread_[here_].groups++; }
  void await_groups(int most) {
    thread &own = thread_[here_];
    size_t done = 0;
    for (; done < own.copies.size() && own.copies[done].group + most < own.groups; done++)
      memcpy(own.copies[done].to, own.copies[done].from, size_t(own.copies[done].bytes));
    own.copies.erase(own.copies.begin(), own.copies.begin() + long(done));
  }

 private:
  static constexpr unsigned WIDTH = TRS_EMULATED_WIDTH;
  enum { STACK_BYTES = 64 << 10 };
  struct copy_of {
    void *to;
    const void *from;
    int bytes, group;
  };
  struct thread {
    ucontext_t context;
    std::vector<copy_of> copies;
    int groups = 0;
    bool ended = false;
  };
  struct barrier {
    unsigned members = 0, arrived = 0, round = 0;
  };
  struct warp_barrier : barrier {
    uint64_t word[WIDTH];
    int looping = -1; /* a thread: device/gpu.cuh, rest_between_looks */
  };

  /* Kept for the blocks that follow. */
  static char *stack_of(unsigned thread) {
    static std::vector<std::unique_ptr<char[]>> stacks;
    while (stacks.size() <= thread) stacks.emplace_back(new char[STACK_BYTES]);
    return stacks[thread].get();
  }
  static void begin() {
    running_->work_();
    running_->thread_[running_->here_].ended = true;
    running_->warp_[running_->here_ / WIDTH].looping = -1;
    running_->give_away();
  }
  void give_away() { swapcontext(&thread_[here_].context, &caller_); }
  void wait(barrier &b) {
    const unsigned round = b.round;
    warp_[here_ / WIDTH].looping = -1;
    if (++b.arrived == b.members) b.arrived = 0, b.round++;
    while (b.round == round) give_away();
  }

  static inline emulated_block *running_;
  std::function<void()> work_;
  std::vector<thread> thread_;
  std::vector<warp_barrier> warp_;
  barrier all_;
  ucontext_t caller_;
  unsigned here_ = 0;
};

/* All blocks of a launch, one after the other. */
inline void launch_emulated(dim3 blocks, unsigned threads, std::function<void()> work) {
  static uint64_t seed = 1;
  gridDim = blocks;
  blockDim.x = threads;
  for (blockIdx.y = 0; blockIdx.y < blocks.y; blockIdx.y++)
    for (blockIdx.x = 0; blockIdx.x < blocks.x; blockIdx.x++)
      emulated_block(threads, work).run(&seed);
}

}  // namespace trs

inline void __syncthreads() { trs::emulated_block::running().wait_for_block(); }
inline void __syncwarp() { trs::emulated_block::running().wait_for_warp(); }

/* Of whole warps. */
template <class T>
T __shfl_sync(unsigned long long, T mine, int lane) {
  return trs::emulated_block::running().exchange(mine, unsigned(lane));
}
template <class T>
T __shfl_xor_sync(unsigned long long, T mine, int mask) {
  const unsigned lane = threadIdx.x % TRS_EMULATED_WIDTH;
  return trs::emulated_block::running().exchange(mine, lane ^ unsigned(mask));
}
template <class T>
T __shfl_up_sync(unsigned long long, T mine, unsigned distance) {
  const unsigned lane = threadIdx.x % TRS_EMULATED_WIDTH;
  return trs::emulated_block::running().exchange(mine, lane < distance ? lane : lane - distance);
}
template <class T>
T __shfl_down_sync(unsigned long long, T mine, unsigned distance) {
  const unsigned lane = threadIdx.x % TRS_EMULATED_WIDTH, other = lane + distance;
  return trs::emulated_block::running().exchange(mine, other < TRS_EMULATED_WIDTH ? other : lane);
}
using emulated_mask =
    std::conditional<TRS_EMULATED_WIDTH == 64, unsigned long long, unsigned>::type;
inline emulated_mask __ballot_sync(emulated_mask, bool mine) {
  emulated_mask lanes = 0;
  trs::emulated_block::running().for_all_lanes(
      mine, [&](unsigned lane, unsigned theirs) { lanes |= emulated_mask(theirs) << lane; });
  return lanes;
}
inline bool __any_sync(emulated_mask mask, bool mine) { return __ballot_sync(mask, mine) != 0; }
inline bool __all_sync(emulated_mask mask, bool mine) { return __ballot_sync(mask, !mine) == 0; }
inline unsigned __reduce_max_sync(unsigned, unsigned mine) {
  unsigned most = 0;
  trs::emulated_block::running().for_all_lanes(
      mine, [&](unsigned, unsigned theirs) { most = std::max(most, theirs); });
  return most;
}
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __ffsll(unsigned long long bits) { return __builtin_ffsll((long long)(bits)); }
inline int __clz(int bits) { return bits ? __builtin_clz(unsigned(bits)) : 32; }

/* Operations that the compiler neither joins nor replaces. */
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double a) { return sqrt(a); }

#endif
