/* slices.cu - the launches of slices.cuh, in the storage format of a relaxation. */
#include "relax/cuda/slices_in.cuh"

namespace {

using namespace trs::slices;

const launches &in(int store) {
  switch (store) {
    case TRS_STORE_MIXED:
      return in_mixed;
    case TRS_STORE_DOUBLE:
      return in_double;
    case TRS_STORE_FLOAT:
      return in_float;
    case TRS_STORE_HALF:
      return in_half;
    default:
      return in_bfloat;
  }
}

}  // namespace

extern "C" trs_status trs_relax_slices_prepare(const trs_relax_args *a, trs_relax_slices *s) {
  return trs_device_check(in(a->store).prepare(a, s), "preparing the kernels of a relaxation");
}

extern "C" trs_status trs_relax_slices_sweep(const trs_relax_args *a, const trs_relax_slices *s,
                                             int direction, int64_t steps,
                                             trs_relax_peer_sync *peers, trs_stream stream) {
  constexpr int64_t MOST_STEPS = 2 * TRS_RELAX_MOST_SLICED_COLOURS;
  const bool back = direction == 1;
  auto to = static_cast<cudaStream_t>(stream);
  const int64_t both = 2 * int64_t(s->ncolours); /* directions over the colours */
  const int64_t each = MOST_STEPS / both * both;
  for (int64_t done = 0; done < steps; done += each) {
    const int64_t now = steps - done < each ? steps - done : each;
    const sweep_range t = {back ? s->ncolours - 1 : 0,
                           back ? -1 : 1,
                           int(now),
                           direction == 2,
                           peers ? 0 : 1,
                           2,
                           done > 0};
    TRS_TRY(trs_device_check(in(a->store).relax(a, s, peers, t, to), "launching a relaxation"));
  }
  return TRS_SUCCESS;
}

/* All right-hand sides use the first one's place for x by position. */
extern "C" trs_status trs_relax_slices_solve(const trs_relax_args *a, const trs_relax_slices *s,
                                             const trs_relax_vectors *v, trs_stream stream) {
  const sweep_range t = {0, 1, s->ncolours, false, 1, 2, false};
  const int64_t size = v->wide ? sizeof(double) : sizeof(float);
  cudaError_t error = cudaSuccess;
  for (int64_t c = 0; c < a->nrhs && error == cudaSuccess; c++) {
    trs_relax_vectors column = *v;
    column.b = static_cast<const char *>(v->b) + c * v->b_col * size;
    column.x = static_cast<char *>(v->x) + c * v->x_col * size;
    error = in(a->store).solve(a, s, column, t, static_cast<cudaStream_t>(stream));
  }
  return trs_device_check(error, "launching a triangular solve by blocks");
}

extern "C" trs_status trs_relax_slices_run(const trs_relax_args *a, const trs_relax_slices *s,
                                           int32_t colour, int part, trs_stream stream) {
  const sweep_range t = {colour, 0, 1, false, part == 1, part == 0 ? 1 : 2, false};
  return trs_device_check(in(a->store).relax(a, s, nullptr, t, static_cast<cudaStream_t>(stream)),
                          "launching a colour's relaxation");
}

extern "C" trs_status trs_relax_slices_squares(const trs_relax_args *a, const trs_relax_slices *s,
                                               trs_stream stream) {
  const sweep_range t = {0, 1, s->ncolours, false, 0, 2, false};
  if (s->nslices == 0) return TRS_SUCCESS;
  const cudaError_t error = in(a->store).square(a, s, t, static_cast<cudaStream_t>(stream));
  return trs_device_check(error, "launching the residual of a relaxation");
}
