/* emulated_warp.h - what level_walk.cuh takes from CUDA, on a host.  A lane is a coroutine: it
 * gives the processor away where the lanes of its warp wait for each other, and at each load from
 * device memory.  C++. */
#ifndef TRS_TEST_EMULATED_WARP_H
#define TRS_TEST_EMULATED_WARP_H

#include <ucontext.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#define TRS_EMULATED_WARP
#define __device__

namespace trs {

enum { WARP = 32 };

class emulated_warp {
 public:
  explicit emulated_warp(std::function<void()> lane) : work_(lane), stacks_(WARP * STACK_BYTES) {
    for (int l = 0; l < WARP; l++) {
      getcontext(&lane_[l]);
      lane_[l].uc_stack.ss_sp = stacks_.data() + l * STACK_BYTES;
      lane_[l].uc_stack.ss_size = STACK_BYTES;
      makecontext(&lane_[l], begin_lane, 0);
    }
  }

  /* Lets each lane work up to its next wait or load.  False if all have ended. */
  bool turn() {
    bool any = false;
    running_ = this;
    for (here_ = 0; here_ < WARP; here_++)
      if (!ended_[here_]) {
        any = true;
        swapcontext(&caller_, &lane_[here_]);
      }
    return any;
  }

  /* ---- Called by lanes. ---- */

  static emulated_warp &running() { return *running_; }
  int lane() const { return here_; }
  void give_away() { swapcontext(&lane_[here_], &caller_); }
  /* Values of all lanes, once each has called this.  They stay until a lane's next call but one. */
  const uint64_t *exchange(uint64_t value) {
    const unsigned round = round_;
    value_[round % 2][here_] = value;
    if (++arrived_ == WARP) arrived_ = 0, round_++;
    while (round_ == round) give_away();
    return value_[round % 2];
  }

 private:
  enum { STACK_BYTES = 32 << 10 };
  static void begin_lane() {
    running_->work_();
    running_->ended_[running_->here_] = true;
    running_->give_away();
  }

  static inline emulated_warp *running_;
  std::function<void()> work_;
  std::vector<char> stacks_;
  ucontext_t lane_[WARP], caller_;
  bool ended_[WARP] = {};
  uint64_t value_[2][WARP];
  unsigned round_ = 0;
  int arrived_ = 0, here_ = 0;
};

inline int this_lane() { return emulated_warp::running().lane(); }
inline const uint64_t *of_all_lanes(uint64_t value) {
  return emulated_warp::running().exchange(value);
}

struct analysis_state {
  uint32_t given_up;
  int fault;
};
inline unsigned long long look_at_wait(int *, long long, unsigned long long) { return 1; }

inline uint32_t load_relaxed(const uint32_t *from) {
  emulated_warp::running().give_away();
  return *from;
}
inline void load_relaxed_if(bool wanted, const uint32_t *from, uint32_t &to) {
  emulated_warp::running().give_away();
  if (wanted) to = *from;
}
inline void store_relaxed(uint32_t *to, uint32_t value) { *to = value; }

}  // namespace trs

/* ---- Functions of CUDA. ---- */

using std::max;
using std::min;

inline unsigned __ballot_sync(unsigned, bool mine) {
  unsigned all = 0;
  const uint64_t *value = trs::of_all_lanes(mine);
  for (int l = 0; l < trs::WARP; l++) all |= unsigned(value[l]) << l;
  return all;
}
inline bool __any_sync(unsigned mask, bool mine) { return __ballot_sync(mask, mine) != 0; }
inline bool __all_sync(unsigned mask, bool mine) { return __ballot_sync(mask, mine) == ~0u; }

/* Within `width` lanes. */
template <class T>
T __shfl_sync(unsigned, T mine, int lane, int width = trs::WARP) {
  lane = (trs::this_lane() & ~(width - 1)) + (lane & (width - 1));
  uint64_t word = 0;
  memcpy(&word, &mine, sizeof mine);
  word = trs::of_all_lanes(word)[lane];
  memcpy(&mine, &word, sizeof mine);
  return mine;
}
template <class T>
T __shfl_xor_sync(unsigned mask, T mine, int step) {
  return __shfl_sync(mask, mine, trs::this_lane() ^ step);
}
template <class T>
T __shfl_up_sync(unsigned mask, T mine, int step) {
  const int lane = trs::this_lane();
  return __shfl_sync(mask, mine, lane < step ? lane : lane - step);
}

template <class T>
T __shfl_down_sync(unsigned mask, T mine, int step, int width) {
  const int lane = trs::this_lane() % width;
  return __shfl_sync(mask, mine, lane + step < width ? lane + step : lane, width);
}

template <class T, class F>
T reduced(T mine, F f) {
  const uint64_t *value = trs::of_all_lanes(uint64_t(mine));
  for (int l = 0; l < trs::WARP; l++) mine = f(mine, T(value[l]));
  return mine;
}
template <class T>
T __reduce_max_sync(unsigned, T mine) {
  return reduced(mine, [](T a, T b) { return max(a, b); });
}
inline unsigned __reduce_or_sync(unsigned, unsigned mine) {
  return reduced(mine, [](unsigned a, unsigned b) { return a | b; });
}

inline int __ffs(int word) { return __builtin_ffs(word); }
inline int __clz(unsigned word) { return word ? __builtin_clz(word) : trs::WARP; }

#endif
