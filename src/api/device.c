/* device.c - matrices in a GPU's memory. */
#include "matrix/device.h"
#include "backend/context.h"

trs_status trs_matrix_create_device(trs_matrix **A, trs_context *ctx, trs_format format,
                                    trs_scalar scalar, int64_t nrows, int64_t ncols, int64_t nnz,
                                    int indexing, const void *ptr, const void *idx,
                                    const void *val) {
  if (!A || !ctx) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", A ? "ctx" : "A");
  *A = NULL;
  const char *why = trs_context_find_device(ctx);
  if (why && *why) return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "%s", why);
  return trs_matrix_make_device(A, ctx->device, format, scalar, nrows, ncols, nnz, indexing, ptr,
                                idx, val);
}
