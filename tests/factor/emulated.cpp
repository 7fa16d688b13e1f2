/* emulated.cpp - the launches of factor/gpu.cu on emulated threads (tests/emulated), and those of
 * matrix/device.c that matrices in canonical order need. */
#include "factor/eliminate.cuh"

#include "matrix/rearrange.h"

extern "C" trs_status trs_incomplete_launch(const trs_incomplete_args *a, trs_scalar scalar,
                                            trs_stream) {
  using namespace trs;
  const int64_t blocks = (a->slices + TRS_INCOMPLETE_WARPS - 1) / TRS_INCOMPLETE_WARPS;
  if (trs_incomplete_shared(a, size_of_scalar(scalar)) > 48 << 10) abort();
  by_scalar(scalar, [&](auto s) {
    launch_emulated({unsigned(blocks)}, 32 * TRS_INCOMPLETE_WARPS,
                    [&] { incomplete<decltype(s)>(*a); });
    return cudaSuccess;
  });
  return TRS_SUCCESS;
}

extern "C" trs_status trs_launch_look(trs_look *found, const trs_device_arrays *a, trs_stream) {
  found->first = a->ptr[0];
  found->last = a->ptr[a->n];
  for (int64_t i = 0; i < a->n; i++) {
    bool has = false;
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) {
      if (p > a->ptr[i] && a->idx[p] <= a->idx[p - 1]) abort();
      found->sides.before += a->idx[p] < i;
      found->sides.after += a->idx[p] > i;
      has |= a->idx[p] == i;
    }
    found->sides.diagonal += has;
    if (!has && found->sides.missing == INT64_MAX) found->sides.missing = i;
  }
  return TRS_SUCCESS;
}
extern "C" trs_status trs_launch_take_ptr(int64_t *, int, const void *, int64_t) { abort(); }
extern "C" trs_status trs_launch_take_idx(int32_t *, int, const void *, int64_t) { abort(); }
extern "C" trs_status trs_device_order(trs_rearranged *, trs_device *, const trs_device_arrays *) {
  abort();
}
extern "C" trs_status trs_device_cut(trs_rearranged *, trs_device *, const trs_device_arrays *,
                                     int) {
  abort();
}
extern "C" trs_status trs_launch_collect(void *, trs_scalar, int64_t, const int64_t *,
                                         const int64_t *, const void *, trs_stream) {
  abort();
}
extern "C" trs_status trs_launch_diagonal(int64_t *, int *, int64_t, int, int, int, const int64_t *,
                                          const void *, trs_stream) {
  abort();
}
