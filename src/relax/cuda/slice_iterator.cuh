/* slice_iterator.cuh - the order of a warp's slices (slices.cu). */
#ifndef TRS_RELAX_CUDA_SLICE_ITERATOR_CUH
#define TRS_RELAX_CUDA_SLICE_ITERATOR_CUH

#include "relax/cuda/slice_shape.cuh"

namespace trs {
namespace slices {

/* A range of steps of colours; each step has boundary rows (part 0) and other rows (part 1). */
struct sweep_range {
  int colour, stride, steps; /* the first colour; the distance to the next colour */
  bool reverses;             /* reverses at the last colour; else starts again from the first */
  int first_part, end_part;
  bool goes_on; /* the previous range ended with the step before, for the peers */
};

/* The slices of a warp: every k-th slice of its block of threads, for k warps per block, counted
 * from the step's first boundary slice to its last other one. */
class slice_iterator {
 public:
  __device__ slice_iterator(const trs_relax_slices &s, const sweep_range &t)
      : s_(&s), t_(&t), part_(t.first_part), colour_(t.colour), stride_(t.stride) {
    enter(int32_t(threadIdx.x / WARP));
  }
  __device__ bool done() const { return step_ >= t_->steps; }
  __device__ bool at_boundary() const { return part_ == 0; }
  __device__ int step() const { return step_; }
  __device__ int32_t number() const { return number_; }
  /* Moves to the beginning of a step, before its first slice. */
  __device__ void next_step() {
    part_ = t_->first_part;
    step_++;
    colour_ += stride_;
    if (colour_ < s_->ncolours && colour_ >= 0) return;
    if (t_->reverses) {
      colour_ -= stride_;
      stride_ = -stride_;
    } else {
      colour_ = t_->colour;
    }
  }
  /* seek moves to the first slice from here on, past empty parts; next moves to the following
   * slice. */
  __device__ void seek() {
    while (!done() && number_ >= end_) {
      int32_t turn = number_ - end_;
      if (++part_ == t_->end_part) {
        next_step();
        turn = int32_t(threadIdx.x / WARP);
      }
      enter(turn);
    }
  }
  __device__ void next() {
    number_ += int32_t(blockDim.x / WARP);
    seek();
  }
  /* The number of this step's boundary slices, over all blocks of threads; and of this block. */
  __device__ int32_t boundary_slices() const {
    return s_->starts[2 * colour_ + 1] - s_->starts[2 * colour_];
  }
  __device__ int32_t own_boundary_slices() const {
    const int32_t count = boundary_slices();
    return count / s_->blocks + (int32_t(blockIdx.x) < count % s_->blocks ? 1 : 0);
  }

 private:
  const trs_relax_slices *s_;
  const sweep_range *t_;
  int step_ = 0, part_, colour_, stride_;
  int32_t number_ = 0, end_ = 0;

  /* Each block of threads has an equal number of the part's slices; the first ones have one more.
   * turn: the warp's first slice of them. */
  __device__ void enter(int32_t turn) {
    if (done()) return;
    const int32_t *start = s_->starts + 2 * colour_ + part_;
    const int32_t begin = start[0], count = start[1] - begin;
    const int32_t each = count / s_->blocks, more = count - each * s_->blocks;
    const int32_t block = int32_t(blockIdx.x);
    const int32_t first = begin + each * block + (block < more ? block : more);
    number_ = first + turn;
    end_ = first + each + (block < more ? 1 : 0);
  }
};

/* The slices of a warp of a triangle: all slices in turn, over the warps of all blocks of threads,
 * in the order of levels.  Rows wait for the x that they read, not for levels. */
class slices_in_turn {
 public:
  __device__ slices_in_turn(const trs_relax_slices &s, const sweep_range &)
      : end_(s.nslices), stride_(int32_t(gridDim.x * (blockDim.x / WARP))) {
    number_ = int32_t(blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP);
  }
  __device__ bool done() const { return number_ >= end_; }
  __device__ int step() const { return done(); }
  __device__ int32_t number() const { return number_; }
  __device__ void next_step() { number_ = end_; }
  __device__ void seek() {}
  __device__ void next() { number_ += stride_; }

 private:
  int32_t number_, end_, stride_;
};

}  // namespace slices
}  // namespace trs

#endif
