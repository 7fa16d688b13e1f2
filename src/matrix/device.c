/* device.c - matrices in device memory: borrowed arrays, checked there (device.cu); a pattern in
 * host memory is copied there first.  If the check fails, the pattern is checked again on the host,
 * so that the error names the first fault as for any other matrix. */
#include "matrix/device.h"

#include "device/arena.h"
#include "matrix/indexing.h"
#include "matrix/rearrange.h"

/* ---- Copies to the host ---- */

static trs_status fetch_arrays(trs_matrix *to, const trs_matrix *from, bool values,
                               trs_stream stream) {
  TRS_TRY(TRS_DEVICE_FETCH(&to->ptr, from->ptr, from->nvectors + 1, stream));
  TRS_TRY(TRS_DEVICE_FETCH(&to->idx, from->idx, from->nnz, stream));
  return values ? trs_device_fetch(&to->val, from->val, from->nnz, trs_scalar_size(from->scalar),
                                   stream)
                : TRS_SUCCESS;
}

trs_status trs_matrix_download(trs_matrix **B, const trs_matrix *A, bool values,
                               trs_stream stream) {
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
  made->hold_ptr = made->hold_idx = made->hold_val = TRS_OWNED;
  made->source_ptr = made->source = NULL;
  made->lent = NULL;
  made->parent = NULL;
  int before = trs_device_enter(A->device);
  trs_status status = fetch_arrays(made, A, values, stream);
  trs_device_leave(before);
  if (status)
    trs_matrix_destroy(made);
  else
    *B = made;
  return status;
}

/* ---- Checks ---- */

/* ptr and idx as the caller stores them. */
typedef struct given_arrays {
  int indexing;
  const void *ptr, *idx;
} given_arrays;

static trs_device_arrays arrays_of(const trs_matrix *A) {
  return (trs_device_arrays){.n = A->nvectors,
                             .other = A->format == TRS_CSR ? A->ncols : A->nrows,
                             .nnz = A->nnz,
                             .ptr = A->ptr,
                             .idx = A->idx};
}

static trs_status look(trs_look *found, const trs_matrix *A) {
  trs_look *there = NULL;
  const trs_device_arrays arrays = arrays_of(A);
  *found = (trs_look){.sides = TRS_NO_SIDES};
  TRS_TRY(TRS_DEVICE_ALLOC(A->device, &there, 1, NULL));
  trs_status status = trs_device_copy(there, found, sizeof *found, NULL);
  if (!status) status = trs_launch_look(there, &arrays, NULL);
  if (!status) status = trs_device_copy(found, there, sizeof *found, NULL);
  if (!status) status = trs_device_wait(NULL);
  trs_device_free(A->device, there, NULL);
  return status;
}

/* The arrays are wrong: copies ptr, in the caller's indexing, to the host and checks it, then idx
 * if ptr is valid. */
static trs_status name_fault(const trs_matrix *A, const given_arrays *given) {
  trs_matrix copy = *A;
  void *ptr = NULL, *idx = NULL;
  const int64_t base = trs_index_base(given->indexing);
  int64_t *own = NULL;
  trs_status status = trs_device_fetch(&ptr, given->ptr, A->nvectors + 1,
                                       (size_t)trs_ptr_bytes(given->indexing), NULL);
  if (!status) status = trs_indexing_check_ptr(given->indexing, ptr, A->nvectors);
  if (!status) status = TRS_ALLOC(&own, A->nvectors + 1);
  if (!status) trs_indexing_take_ptr(own, given->indexing, ptr, A->nvectors);
  if (!status && own[A->nvectors] != A->nnz)
    status =
        trs_fail(TRS_ERROR_STRUCTURE, -1, "ptr[%lld] is %lld, but nnz is %lld",
                 (long long)A->nvectors, (long long)(own[A->nvectors] + base), (long long)A->nnz);
  if (!status)
    status =
        trs_device_fetch(&idx, given->idx, A->nnz, (size_t)trs_idx_bytes(given->indexing), NULL);
  copy.ptr = own;
  if (!status) status = trs_matrix_check_indices(&copy, given->indexing, idx);
  if (!status) status = trs_fail(TRS_ERROR_INTERNAL, -1, "the arrays changed during the check");
  TRS_FREE_ALL(ptr, own, idx);
  return status;
}

/* ---- Arrays in host memory, of other widths, another base or another order ---- */

/* *copy: NULL if the array lies in device memory, else a copy of it there. */
static trs_status bring(void **copy, trs_device *device, const void *array, int64_t bytes) {
  *copy = NULL;
  if (bytes == 0 || trs_device_address(array)) return TRS_SUCCESS;
  TRS_TRY(trs_device_alloc(device, copy, bytes, 1, NULL));
  trs_status status = trs_device_copy(*copy, array, bytes, NULL);
  if (!status) return TRS_SUCCESS;
  trs_device_free(device, *copy, NULL);
  *copy = NULL;
  return status;
}

static trs_status take_ptr(trs_matrix *A, const given_arrays *given) {
  const bool converts = given->indexing & (TRS_PTR32 | TRS_BASE1);
  void *copy;
  TRS_TRY(bring(&copy, A->device, given->ptr, (A->nvectors + 1) * trs_ptr_bytes(given->indexing)));
  if (!converts && !copy) return TRS_SUCCESS;
  A->hold_ptr = TRS_OWNED;
  A->ptr = copy;
  if (!converts) return TRS_SUCCESS;
  trs_status status = TRS_DEVICE_ALLOC(A->device, &A->ptr, A->nvectors + 1, NULL);
  if (!status)
    status = trs_launch_take_ptr(A->ptr, given->indexing, copy ? copy : given->ptr, A->nvectors);
  trs_device_free(A->device, copy, NULL);
  return status;
}

static trs_status take_idx(trs_matrix *A, const given_arrays *given) {
  const bool converts = given->indexing & (TRS_IDX64 | TRS_BASE1);
  void *copy;
  TRS_TRY(bring(&copy, A->device, given->idx, A->nnz * trs_idx_bytes(given->indexing)));
  if (!converts && !copy) return TRS_SUCCESS;
  A->hold_idx = TRS_OWNED;
  A->idx = copy;
  if (!converts) return TRS_SUCCESS;
  trs_status status = TRS_DEVICE_ALLOC(A->device, &A->idx, A->nnz, NULL);
  if (!status)
    status = trs_launch_take_idx(A->idx, given->indexing, copy ? copy : given->idx, A->nnz);
  trs_device_free(A->device, copy, NULL);
  return status;
}

/* Moves the new arrays, complete or not, to A; the values follow. */
static void set_arrays(trs_matrix *A, const trs_rearranged *made) {
  A->ptr = made->ptr;
  A->idx = made->idx;
  A->val = NULL;
  A->hold_ptr = A->hold_idx = A->hold_val = TRS_OWNED;
  A->source_ptr = made->source_ptr;
  A->source = made->source;
  A->nnz = made->nnz;
}

static trs_status make_values(trs_matrix *A, const void *from) {
  TRS_TRY(trs_device_alloc(A->device, &A->val, A->nnz, trs_scalar_size(A->scalar), NULL));
  return trs_matrix_collect_on(A, from, NULL);
}

static void free_owned(trs_matrix *A) {
  if (A->hold_ptr == TRS_OWNED) trs_device_free(A->device, A->ptr, NULL);
  if (A->hold_idx == TRS_OWNED) trs_device_free(A->device, A->idx, NULL);
  if (A->hold_val == TRS_OWNED) trs_device_free(A->device, A->val, NULL);
}

static trs_status put_in_order(trs_matrix *A) {
  trs_rearranged made;
  const trs_device_arrays arrays = arrays_of(A);
  trs_status status = trs_device_order(&made, A->device, &arrays);
  A->lent = A->val;
  A->user_nnz = A->nnz;
  free_owned(A);
  set_arrays(A, &made);
  return status ? status : make_values(A, A->lent);
}

/* ---- Creation ---- */

static trs_status check_and_count(trs_matrix *A, const given_arrays *given) {
  trs_look found;
  TRS_TRY(look(&found, A));
  if (found.first != 0 || found.last != A->nnz || found.falls || found.outside)
    return name_fault(A, given);
  if (found.descents != found.sides.descents) {
    TRS_TRY(put_in_order(A));
    TRS_TRY(look(&found, A));
  }
  trs_matrix_take_sides(A, &found.sides);
  return TRS_SUCCESS;
}

static trs_status check_given(const void *pointer, int64_t count, const char *name) {
  if (count == 0 || pointer) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", name);
}

static trs_status check_values(const void *val, int64_t count) {
  TRS_TRY(check_given(val, count, "val"));
  if (count == 0 || trs_device_address(val)) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "val is not device memory: trs_matrix_create takes host arrays");
}

/* Elements wider than the caller's would be read beyond the end of the array. */
static trs_status check_room(const void *pointer, int64_t count, int64_t size, const char *name,
                             const char *hint) {
  int64_t room = count > INT64_MAX / size ? 0 : trs_device_extent(pointer, count * size);
  if (count == 0 || room / size >= count) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "%s has room for %lld bytes, less than %lld numbers of %lld bytes each%s", name,
                  (long long)room, (long long)count, (long long)size, hint);
}

static trs_status check_rooms(const trs_matrix *A, const given_arrays *given) {
  const bool narrow_ptr = given->indexing & TRS_PTR32, wide_idx = given->indexing & TRS_IDX64;
  TRS_TRY(check_room(given->ptr, A->nvectors + 1, trs_ptr_bytes(given->indexing), "ptr",
                     narrow_ptr ? "" : ": a 32-bit array given as 64-bit (TRS_PTR64)?"));
  TRS_TRY(check_room(given->idx, A->nnz, trs_idx_bytes(given->indexing), "idx",
                     wide_idx ? ": a 32-bit array given as 64-bit (TRS_IDX64)?" : ""));
  return check_room(A->val, A->nnz, (int64_t)trs_scalar_size(A->scalar), "val", "");
}

static trs_status take_arrays(trs_matrix *A, const given_arrays *given) {
  if (A->nnz < 0) return trs_fail(TRS_ERROR_ARGUMENT, -1, "nnz is %lld", (long long)A->nnz);
  TRS_TRY(check_given(given->ptr, A->nvectors + 1, "ptr"));
  TRS_TRY(check_given(given->idx, A->nnz, "idx"));
  TRS_TRY(check_values(A->val, A->nnz));
  TRS_TRY(check_rooms(A, given));
  TRS_TRY(take_ptr(A, given));
  TRS_TRY(take_idx(A, given));
  return check_and_count(A, given);
}

/* Has a reference to the device, and no arrays yet. */
static trs_status make_head(trs_matrix **made, trs_device *device, trs_format format,
                            trs_scalar scalar, int64_t nrows, int64_t ncols) {
  trs_matrix *A;
  *made = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&A, 1));
  atomic_init(&A->references, 1);
  A->number = trs_matrix_next_number();
  A->format = format;
  A->scalar = scalar;
  A->nrows = nrows;
  A->ncols = ncols;
  A->nvectors = format == TRS_CSR ? nrows : ncols;
  A->on_device = true;
  A->device = trs_device_retain(device);
  *made = A;
  return TRS_SUCCESS;
}

/* Kernels load whole values. */
static trs_status check_alignment(trs_scalar scalar, const void *val) {
  const size_t size = trs_scalar_size(scalar);
  if ((uintptr_t)val % size == 0) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "val in device memory is not aligned to its elements of %zu bytes: copy it into "
                  "an array that is",
                  size);
}

trs_status trs_matrix_make_device(trs_matrix **result, trs_device *device, trs_format format,
                                  trs_scalar scalar, int64_t nrows, int64_t ncols, int64_t nnz,
                                  int indexing, const void *ptr, const void *idx, const void *val) {
  const given_arrays given = {indexing, ptr, idx};
  trs_matrix *A;
  *result = NULL;
  if (!device)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "the context has no GPU: make one with \"cuda\" or \"cuda:N\"");
  TRS_TRY(trs_indexing_check(indexing));
  TRS_TRY(trs_matrix_check_shape(format, scalar, nrows, ncols));
  TRS_TRY(check_alignment(scalar, val));
  TRS_TRY(make_head(&A, device, format, scalar, nrows, ncols));
  A->nnz = nnz;
  A->ptr = (int64_t *)ptr;
  A->idx = (int32_t *)idx;
  A->val = (void *)val;
  int before = trs_device_enter(device);
  trs_status status = take_arrays(A, &given);
  trs_device_leave(before);
  if (status)
    trs_matrix_destroy(A);
  else
    *result = A;
  return status;
}

/* ---- Triangles, values, destruction ---- */

static trs_status cut(trs_matrix *T, const trs_matrix *A, bool prefix) {
  trs_rearranged made;
  trs_look found;
  const trs_device_arrays arrays = arrays_of(A);
  TRS_TRY(trs_matrix_renew_on(A, NULL));
  trs_status status = trs_device_cut(&made, A->device, &arrays, prefix);
  set_arrays(T, &made);
  if (!status) status = make_values(T, A->val);
  if (!status) status = look(&found, T);
  if (!status) trs_matrix_take_sides(T, &found.sides);
  return status;
}

trs_status trs_matrix_cut_on_device(trs_matrix **T, const trs_matrix *A, trs_uplo uplo) {
  trs_matrix *made;
  *T = NULL;
  TRS_TRY(make_head(&made, A->device, A->format, A->scalar, A->nrows, A->ncols));
  int before = trs_device_enter(A->device);
  trs_status status = cut(made, A, (uplo == TRS_LOWER) == (A->format == TRS_CSR));
  trs_device_leave(before);
  if (status) {
    trs_matrix_destroy(made);
    return status;
  }
  made->parent = trs_matrix_retain(A);
  *T = made;
  return TRS_SUCCESS;
}

trs_status trs_matrix_collect_on(const trs_matrix *A, const void *from, trs_stream stream) {
  TRS_ON_DEVICE(A->device);
  return trs_launch_collect(A->val, A->scalar, A->nnz, A->source_ptr, A->source, from, stream);
}

void trs_matrix_settle(const trs_matrix *A, trs_stream stream) {
  if (atomic_load(&A->references) > 1 || (!A->hold_ptr && !A->hold_idx && !A->hold_val)) return;
  TRS_ON_DEVICE(A->device);
  (void)trs_device_wait(stream);
}

void trs_matrix_free_on_device(trs_matrix *A) {
  TRS_ON_DEVICE(A->device);
  free_owned(A);
  trs_device_free(A->device, A->source_ptr, NULL);
  trs_device_free(A->device, A->source, NULL);
}

/* ---- The diagonal ---- */

static trs_status launch_look(trs_diagonal_look *look, int64_t n, bool prefix, trs_scalar scalar,
                              const int64_t *ptr, const void *val) {
  int parts = trs_scalar_is_complex(scalar) ? 2 : 1;
  TRS_TRY(trs_device_alloc_stage(look->device, &look->found));
  return trs_launch_diagonal(look->found, &look->shares, n, prefix, trs_scalar_is_double(scalar),
                             parts, ptr, val, look->stream);
}

static void release_look(trs_diagonal_look *look) {
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
  if (status) release_look(look);
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
  release_look(look);
  *vector = worst / TRS_PIVOT_GOOD;
  *pivot = worst == INT64_MAX ? TRS_PIVOT_GOOD : (trs_pivot)(worst % TRS_PIVOT_GOOD);
  return status;
}
