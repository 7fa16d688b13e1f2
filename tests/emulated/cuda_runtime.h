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
#include <vector>

#define __device__
#define __host__
#define __global__
#define __noinline__
#define __shared__
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

enum cudaError_t { cudaSuccess };
typedef void *cudaStream_t;
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
struct float2 {
  float x, y;
};
struct double2 {
  double x, y;
};

/* Launches that are not emulated, and waits. */
enum { cudaLaunchAttributeProgrammaticStreamSerialization };
struct cudaLaunchAttribute {
  int id;
  struct {
    int programmaticStreamSerializationAllowed;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
};
bool __all_sync(unsigned mask, bool mine);
int atomicExch(int *to, int value);

inline dim3 threadIdx, blockIdx, blockDim, gridDim;

template <class T>
T __ldg(const T *from) {
  return *from;
}
inline unsigned long long atomicMin(unsigned long long *to, unsigned long long value) {
  const unsigned long long before = *to;
  *to = std::min(before, value);
  return before;
}

namespace trs {

/* Shared memory of the block that runs; it begins full of NaN. */
enum { SHARED_BYTES = 227 << 10 };
__align__(16) inline unsigned char batch_shared[SHARED_BYTES];

class emulated_block {
 public:
  emulated_block(unsigned threads, std::function<void()> work)
      : work_(work), thread_(threads), warp_((threads + 31) / 32) {
    for (unsigned t = 0; t < threads; t++) {
      thread &own = thread_[t];
      getcontext(&own.context);
      own.context.uc_stack.ss_sp = stack_of(t);
      own.context.uc_stack.ss_size = STACK_BYTES;
      makecontext(&own.context, begin, 0);
    }
    all_.members = threads;
    for (unsigned w = 0; w < warp_.size(); w++) warp_[w].members = std::min(32u, threads - 32 * w);
  }

  void run(uint64_t *seed) {
    running_ = this;
    memset(batch_shared, 0xff, sizeof batch_shared);
    const auto threads = unsigned(thread_.size());
    for (bool any = true; any;) {
      any = false;
      *seed = *seed * 6364136223846793005u + 1442695040888963407u;
      const auto first = unsigned(*seed >> 33) % threads;
      for (unsigned k = 0; k < threads; k++) {
        here_ = (first + k) % threads;
        if (thread_[here_].ended) continue;
        any = true;
        threadIdx.x = here_;
        swapcontext(&caller_, &thread_[here_].context);
      }
    }
  }

  /* ---- Called by threads. ---- */

  static emulated_block &running() { return *running_; }
  void wait_for_block() { wait(all_); }
  void wait_for_warp() { wait(warp_[here_ / 32]); }

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

  /* Kept for the blocks that follow. */
  static char *stack_of(unsigned thread) {
    static std::vector<std::unique_ptr<char[]>> stacks;
    while (stacks.size() <= thread) stacks.emplace_back(new char[STACK_BYTES]);
    return stacks[thread].get();
  }
  static void begin() {
    running_->work_();
    running_->thread_[running_->here_].ended = true;
    running_->give_away();
  }
  void give_away() { swapcontext(&thread_[here_].context, &caller_); }
  void wait(barrier &b) {
    const unsigned round = b.round;
    if (++b.arrived == b.members) b.arrived = 0, b.round++;
    while (b.round == round) give_away();
  }

  static inline emulated_block *running_;
  std::function<void()> work_;
  std::vector<thread> thread_;
  std::vector<barrier> warp_;
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

#endif
