/* rhs.c - checks of the caller's right-hand sides and solutions, and views of their columns. */
#include "matrix/rhs.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/extent.h"
#include "base/scalar.h"
#include "device/device.h"

/* A dense array of `outer` runs of `inner` bytes, ld bytes apart. */
typedef struct strided {
  uintptr_t at;
  int64_t outer, inner, ld, extent;
} strided;

/* Checks that the array named x or b ends within the address space, for an ld that is large enough.
 */
static trs_status check_end(const char *name, const void *array, int64_t n, int64_t nrhs,
                            int64_t ld, trs_layout layout, trs_scalar scalar) {
  bool columns = layout == TRS_COL_MAJOR;
  int64_t extent, size = (int64_t)trs_scalar_size(scalar);
  if (n == 0 || nrhs == 0) return TRS_SUCCESS;
  if (trs_extent(&extent, columns ? nrhs : n, columns ? n : nrhs, ld, size) &&
      (uintptr_t)extent <= UINTPTR_MAX - (uintptr_t)array)
    return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "%s of %lld rows and %lld columns with ld%s = %lld ends beyond the address space",
                  name, (long long)n, (long long)nrhs, name, (long long)ld);
}

/* s of a checked array.  One run has no leading dimension. */
static strided lay_out(const void *array, int64_t n, int64_t nrhs, int64_t ld, trs_layout layout,
                       int64_t size) {
  bool columns = layout == TRS_COL_MAJOR;
  int64_t inner = (columns ? n : nrhs) * size;
  strided s = {(uintptr_t)array, columns ? nrhs : n, inner, inner, 0};
  if (s.outer > 1) s.ld = ld * size; /* one run may have any leading dimension */
  s.extent = (s.outer - 1) * s.ld + s.inner;
  return s;
}

/* Runs of x and b have equal distances.  Run i of x and run i + m of b share a byte if and only if
 * they begin less than a run apart.  This is possible only for the two m next to the distance of
 * the arrays. */
static bool runs_meet(const strided *x, const strided *b) {
  int64_t distance = (int64_t)(b->at - x->at), near = distance / x->ld, rest = distance % x->ld;
  int64_t beside = rest < 0 ? rest + x->ld : rest - x->ld;
  int64_t next = rest < 0 ? near - 1 : near + 1;
  bool meet = llabs(near) < x->outer && llabs(rest) < x->inner;
  return meet || (llabs(next) < x->outer && llabs(beside) < x->inner);
}

/* Exact for equal leading dimensions.  With different ones, arrays whose address ranges intersect
 * count as overlapping. */
static bool overlap(const strided *x, const strided *b) {
  bool meet = x->at < b->at + (uintptr_t)b->extent && b->at < x->at + (uintptr_t)x->extent;
  if (x->at == b->at) return x->ld != b->ld;
  return meet && (x->ld != b->ld || runs_meet(x, b));
}

trs_status trs_rhs_make(trs_rhs *rhs, int64_t n, trs_scalar scalar, void *x, int64_t ldx,
                        const void *b, int64_t ldb, int64_t nrhs, trs_layout layout) {
  if ((unsigned)layout > TRS_ROW_MAJOR)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "layout must be TRS_COL_MAJOR or TRS_ROW_MAJOR");
  bool columns = layout == TRS_COL_MAJOR;
  int64_t least = columns ? n : nrhs;
  if (nrhs < 0) return trs_fail(TRS_ERROR_ARGUMENT, -1, "nrhs is %lld", (long long)nrhs);
  if (nrhs > 0 && (ldx < least || ldb < least))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is %lld, less than the %lld %s of a %s-major array",
                    ldx < least ? "ldx" : "ldb", (long long)(ldx < least ? ldx : ldb),
                    (long long)least, columns ? "rows" : "columns", columns ? "column" : "row");
  if (n > 0 && nrhs > 0 && (!x || !b))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", x ? "b" : "x");
  *rhs = (trs_rhs){.x = x,
                   .b = b,
                   .nrhs = nrhs,
                   .x_row = columns ? 1 : ldx,
                   .x_col = columns ? ldx : 1,
                   .b_row = columns ? 1 : ldb,
                   .b_col = columns ? ldb : 1};
  if (n == 0 || nrhs == 0) return TRS_SUCCESS;
  TRS_TRY(check_end("x", x, n, nrhs, ldx, layout, scalar));
  TRS_TRY(check_end("b", b, n, nrhs, ldb, layout, scalar));
  int64_t size = (int64_t)trs_scalar_size(scalar);
  strided own = lay_out(x, n, nrhs, ldx, layout, size);
  strided given = lay_out(b, n, nrhs, ldb, layout, size);
  if (overlap(&own, &given))
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "x and b overlap: pass the same array with ldx == ldb, or distinct ones");
  return TRS_SUCCESS;
}

static bool locate(const void *array, int *gpu) {
  const trs_device_memory kind = trs_device_memory_of(array, gpu);
  if (kind != TRS_DEVICE_MEMORY) *gpu = -1;
  return kind != TRS_HOST_MEMORY;
}

void trs_rhs_locate(trs_rhs *rhs) {
  if (rhs->located) return;
  rhs->located = true;
  rhs->there = locate(rhs->x, &rhs->x_gpu);
  rhs->b_gpu = rhs->x_gpu;
  if (rhs->b != rhs->x) rhs->there &= locate(rhs->b, &rhs->b_gpu);
}

bool trs_rhs_is_there(const trs_rhs *rhs) {
  trs_rhs own = *rhs;
  trs_rhs_locate(&own);
  return own.there;
}

trs_rhs trs_rhs_columns(const trs_rhs *rhs, trs_scalar scalar, int64_t first, int64_t most) {
  const int64_t size = (int64_t)trs_scalar_size(scalar), left = rhs->nrhs - first;
  trs_rhs columns = *rhs;
  if (first && rhs->x) columns.x = (char *)rhs->x + first * rhs->x_col * size;
  if (first && rhs->b) columns.b = (const char *)rhs->b + first * rhs->b_col * size;
  columns.nrhs = left < most ? left : most;
  return columns;
}
