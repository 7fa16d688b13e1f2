/* exchange.cuh - boundary rows between the members of a group, in the launch that makes all steps
 * (slices.cu).
 *
 * The words are those of push.cu, and so is the memory order.  In each block of threads one warp
 * waits for the words of other members, and the warp that stores the block's last boundary slice
 * passes the fence of system scope for all of them: such a fence takes microseconds, and the
 * multiprocessor loses its first-level cache. */
#ifndef TRS_RELAX_CUDA_EXCHANGE_CUH
#define TRS_RELAX_CUDA_EXCHANGE_CUH

#include "relax/cuda/push.cuh"
#include "relax/cuda/slice_iterator.cuh"

namespace trs {
namespace slices {

class exchange {
 public:
  explicit __device__ exchange(const trs_relax_peer_sync &m) : m_(m) {}
  __device__ bool alone() const { return m_.members <= 1; }

  /* By a warp of the first block of threads: all rows of the steps before are done. */
  __device__ void announce(const slice_iterator &c) const {
    const int k = lane();
    if (blockIdx.x > 0) return;
    fence_system();
    if (is_in(m_.senders, k)) store_relaxed<true>(&m_.signs[k]->begun[m_.me], number_of(c));
    if (is_in(m_.receivers, k) && c.boundary_slices() == 0)
      store_relaxed<true>(&m_.signs[k]->pushed[m_.me], number_of(c));
  }
  /* By one warp, while all others of the block of threads wait: waits for other members' boundary
   * rows of the step before, unless this is the first step. */
  __device__ void receive(const slice_iterator &c, bool first) const {
    const int k = lane();
    if (k == 0) {
      const int32_t all = c.boundary_slices();
      sent() = {c.own_boundary_slices(), all < int32_t(gridDim.x) ? all : int32_t(gridDim.x), 0};
    }
    if (first) return;
    if (is_in(m_.senders, k)) wait_for(&own()->pushed[k], number_of(c) - 1);
    fence_system();
  }
  /* By one warp, at the beginning of a step: waits until receivers have begun this step and no
   * longer read the values to overwrite. */
  __device__ void await_receivers(const slice_iterator &c) const {
    const int k = lane();
    if (sent().left == 0) return;
    if (is_in(m_.receivers, k)) wait_for(&own()->begun[k], number_of(c));
    fence_system();
    __syncwarp();
    if (k == 0) *static_cast<volatile int32_t *>(&sent().accepted) = 1;
  }

  /* The receivers of a row: elements of m.to and m.member. */
  struct range {
    int32_t begin, end;
  };
  __device__ range receivers_of(int32_t position) const {
    return {m_.ptr[position], m_.ptr[position + 1]};
  }
  /* Before a warp sends. */
  __device__ void await_accepted() const {
    while (!*static_cast<volatile int32_t *>(&sent().accepted)) rest_between_looks();
    __threadfence_block();
  }
  /* Stores component i of a row's x in the receivers' memory. */
  template <class X>
  __device__ void send(range to, int rhs, int pitch, int i, X x) const {
    for (int32_t k = to.begin; k < to.end; k++) {
      const int other = m_.member[k];
      static_cast<X *>(m_.x[other])[rhs * m_.stride[other] + int64_t(m_.to[k]) * pitch + i] = x;
    }
  }
  /* A warp has sent a boundary slice.  The last warp of the last block of threads signals the
   * receivers. */
  __device__ void count_sent(const slice_iterator &c) const {
    __syncwarp();
    if (lane() != 0) return;
    __threadfence_block();
    if (atomicSub(&sent().left, 1) > 1) return;
    fence_system();
    if (int32_t(atomicAdd(&own()->arrived, 1u)) + 1 < sent().blocks) return;
    own()->arrived = 0;
    fence_system();
    for (int k = 0; k < m_.members; k++)
      if (is_in(m_.receivers, k)) store_relaxed<true>(&m_.signs[k]->pushed[m_.me], number_of(c));
  }

 private:
  const trs_relax_peer_sync &m_;

  /* A block of threads in a step. */
  struct progress {
    int32_t left;     /* boundary slices that are not sent */
    int32_t blocks;   /* blocks of threads with such slices */
    int32_t accepted; /* not 0: receivers have begun the step */
  };
  __device__ static progress &sent() {
    __shared__ progress of_block;
    return of_block;
  }
  __device__ static int lane() { return int(threadIdx.x % WARP); }
  __device__ bool is_in(uint32_t members, int k) const {
    return k < m_.members && (members >> k & 1);
  }
  __device__ trs_relax_signs *own() const { return m_.signs[m_.me]; }
  __device__ uint64_t number_of(const slice_iterator &c) const {
    return m_.step + 1 + uint64_t(c.step());
  }
  __device__ void wait_for(const uint64_t *word, uint64_t step) const {
    wait_until(m_.signs, m_.me, m_.members, word, step);
  }
};

}  // namespace slices
}  // namespace trs

#endif
