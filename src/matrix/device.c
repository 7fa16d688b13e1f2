/* device.c - matrices in device memory: borrowed arrays, looked at there (device.cu) and, where
 * something is wrong with them, here, so that the first offence is told as for any other matrix. */
#include "matrix/device.h"

/* ---- From the device ---- */

static trs_status fetch(void **to, const void *from, int64_t count, size_t size) {
  TRS_TRY(trs_alloc(to, count, size));
  TRS_TRY(trs_device_copy(*to, from, count * (int64_t)size, NULL));
  return trs_device_wait(NULL);
}

static trs_status fetch_arrays(trs_matrix *to, const trs_matrix *from, bool values) {
  TRS_TRY(fetch((void **)&to->ptr, from->ptr, from->nvectors + 1, sizeof *from->ptr));
  TRS_TRY(fetch((void **)&to->idx, from->idx, from->nnz, sizeof *from->idx));
  return values ? fetch(&to->val, from->val, from->nnz, trs_scalar_size(from->scalar))
                : TRS_SUCCESS;
}

trs_status trs_matrix_download(trs_matrix **B, const trs_matrix *A, bool values) {
  trs_matrix *made;
  *B = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&made, 1));
  *made = *A;
  atomic_init(&made->references, 1);
  made->number = trs_matrix_next_number();
  made->on_device = false;
  made->device = NULL;
  made->ptr = NULL;
  made->idx = NULL;
  made->val = NULL;
  made->owns_pattern = made->owns_values = true;
  int before = trs_device_enter(A->device);
  trs_status status = fetch_arrays(made, A, values);
  trs_device_leave(before);
  if (status)
    trs_matrix_destroy(made);
  else
    *B = made;
  return status;
}

/* ---- Looking ---- */

static trs_status look(trs_look *found, const trs_matrix *A) {
  trs_look *there = NULL;
  trs_looked_at arrays = {.n = A->nvectors,
                          .other = A->format == TRS_CSR ? A->ncols : A->nrows,
                          .nnz = A->nnz,
                          .ptr = A->ptr,
                          .idx = A->idx};
  *found = (trs_look){.sides = TRS_NO_SIDES};
  TRS_TRY(TRS_DEVICE_ALLOC(A->device, &there, 1, NULL));
  trs_status status = trs_device_copy(there, found, sizeof *found, NULL);
  if (!status) status = trs_launch_look(there, &arrays, NULL);
  if (!status) status = trs_device_copy(found, there, sizeof *found, NULL);
  if (!status) status = trs_device_wait(NULL);
  trs_device_free(A->device, there, NULL);
  return status;
}

/* The arrays are wrong somewhere: ptr is brought here and looked at, then, if it can be trusted,
 * idx. */
static trs_status name_offence(const trs_matrix *A) {
  trs_matrix copy = *A;
  copy.ptr = NULL;
  copy.idx = NULL;
  trs_status status = fetch((void **)&copy.ptr, A->ptr, A->nvectors + 1, sizeof *A->ptr);
  if (!status) status = trs_matrix_check_ptr(&copy);
  if (!status && copy.ptr[A->nvectors] != A->nnz)
    status = trs_fail(TRS_ERROR_STRUCTURE, -1, "ptr[%lld] is %lld, but nnz is %lld",
                      (long long)A->nvectors, (long long)copy.ptr[A->nvectors], (long long)A->nnz);
  if (!status) status = fetch((void **)&copy.idx, A->idx, A->nnz, sizeof *A->idx);
  if (!status) status = trs_matrix_name_disorder(&copy);
  trs_free(copy.ptr);
  trs_free(copy.idx);
  return status;
}

static trs_status take_stock(trs_matrix *A) {
  trs_look found;
  TRS_TRY(look(&found, A));
  bool good = found.first == 0 && found.last == A->nnz && !found.falls && !found.outside &&
              found.descents == found.sides.descents;
  if (!good) return name_offence(A);
  trs_matrix_take_sides(A, &found.sides);
  return TRS_SUCCESS;
}

/* ---- Making ---- */

static trs_status check_address(const void *pointer, int64_t count, const char *name) {
  if (count == 0 || trs_device_address(pointer)) return TRS_SUCCESS;
  return trs_fail(
      TRS_ERROR_ARGUMENT, -1,
      pointer ? "%s is not device memory: trs_matrix_create takes host arrays" : "%s is NULL",
      name);
}

static trs_status check_arrays(const trs_matrix *A) {
  if (A->nnz < 0) return trs_fail(TRS_ERROR_ARGUMENT, -1, "nnz is %lld", (long long)A->nnz);
  TRS_TRY(check_address(A->ptr, A->nvectors + 1, "ptr"));
  TRS_TRY(check_address(A->idx, A->nnz, "idx"));
  return check_address(A->val, A->nnz, "val");
}

trs_status trs_matrix_make_device(trs_matrix **result, trs_device *device, trs_format format,
                                  trs_scalar scalar, int64_t nrows, int64_t ncols, int64_t nnz,
                                  const int64_t *ptr, const int32_t *idx, const void *val) {
  trs_matrix *A;
  *result = NULL;
  if (!device)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "the context has no GPU: make one with \"cuda\" or \"cuda:N\"");
  TRS_TRY(trs_matrix_check_shape(format, scalar, nrows, ncols));
  TRS_TRY(TRS_ALLOC_ZERO(&A, 1));
  atomic_init(&A->references, 1);
  A->number = trs_matrix_next_number();
  A->format = format;
  A->scalar = scalar;
  A->nrows = nrows;
  A->ncols = ncols;
  A->nnz = nnz;
  A->nvectors = format == TRS_CSR ? nrows : ncols;
  A->ptr = (int64_t *)ptr;
  A->idx = (int32_t *)idx;
  A->val = (void *)val;
  A->on_device = true;
  A->device = trs_device_retain(device);
  int before = trs_device_enter(device);
  trs_status status = check_arrays(A);
  if (!status) status = take_stock(A);
  trs_device_leave(before);
  if (status)
    trs_matrix_destroy(A);
  else
    *result = A;
  return status;
}

/* ---- The diagonal ---- */

static trs_status launch_look(trs_diagonal_look *look, int64_t n, bool prefix, trs_scalar scalar,
                              const int64_t *ptr, const void *val) {
  int parts = trs_scalar_is_complex(scalar) ? 2 : 1;
  TRS_TRY(trs_device_alloc_stage(look->device, &look->found));
  return trs_launch_diagonal(look->found, &look->shares, n, prefix, trs_scalar_is_double(scalar),
                             parts, ptr, val, look->stream);
}

static void drop_look(trs_diagonal_look *look) {
  trs_device_free_stage(look->device, look->found);
  *look = (trs_diagonal_look){0};
}

trs_status trs_device_begin_diagonal(trs_diagonal_look *look, trs_device *device, int64_t n,
                                     bool prefix, trs_scalar scalar, const int64_t *ptr,
                                     const void *val, trs_stream stream) {
  *look = (trs_diagonal_look){.device = device, .stream = stream};
  int before = trs_device_enter(device);
  trs_status status = launch_look(look, n, prefix, scalar, ptr, val);
  trs_device_leave(before);
  if (status) drop_look(look);
  return status;
}

trs_status trs_device_end_diagonal(trs_diagonal_look *look, int64_t *vector, trs_pivot *pivot) {
  const int64_t *found = look->found;
  int64_t worst = INT64_MAX;
  int before = trs_device_enter(look->device);
  trs_status status = trs_device_wait(look->stream);
  trs_device_leave(before);
  for (int k = 0; !status && k < look->shares; k++)
    if (found[k] < worst) worst = found[k];
  drop_look(look);
  *vector = worst / TRS_PIVOT_GOOD;
  *pivot = worst == INT64_MAX ? TRS_PIVOT_GOOD : (trs_pivot)(worst % TRS_PIVOT_GOOD);
  return status;
}
