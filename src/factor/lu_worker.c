/* lu_worker.c - complete LU by SuperLU in a worker process (src/worker/programs/superlu.c): the
 * data sent and received.  Cost: the factorisation, O(entries of L and U), and some milliseconds
 * for the process.
 *
 * SuperLU reads and writes past the end of a column that has no row left as a pivot.  There is
 * always one: with earlier pivots that are nonzero for some values, a column without one would
 * make the matrix structurally singular, and such matrices do not come this far (match.c). */
#include "factor/lu.h"

#include "base/config.h"
#include "worker/worker.h"

int64_t trs_lu_most = INT32_MAX;

static trs_status send_matrix(trs_worker *worker, const lu_work *w) {
  TRS_TRY(trs_worker_give(worker, w->ptr, w->n + 1, sizeof *w->ptr));
  TRS_TRY(trs_worker_give(worker, w->idx, w->ptr[w->n], sizeof *w->idx));
  return trs_worker_give(worker, w->val, w->ptr[w->n], w->size);
}

static trs_status receive_supernodes(trs_factors *parts, trs_worker *worker, int64_t count) {
  if (count < 1 || count > INT32_MAX)
    return trs_fail(TRS_ERROR_INTERNAL, -1, "SuperLU made %lld supernodes", (long long)count);
  parts->nsupernodes = count;
  TRS_TRY(TRS_ALLOC(&parts->supernode_ptr, count + 1));
  return trs_worker_take(worker, parts->supernode_ptr, count + 1, sizeof *parts->supernode_ptr);
}

/* Row pointers of L and U.  nnz: the number of entries in the worker's message. */
static trs_status receive_pointers(int64_t **ptr, const lu_work *w, trs_worker *worker,
                                   int64_t nnz) {
  TRS_TRY(TRS_ALLOC(ptr, w->n + 2));
  TRS_TRY(trs_worker_take(worker, *ptr, w->n + 2, sizeof **ptr));
  if ((*ptr)[w->n] == nnz) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_INTERNAL, -1, "SuperLU's factors are inconsistent");
}

/* Takes ownership of the pointers. */
static trs_status receive_matrix(trs_matrix **T, const lu_work *w, trs_worker *worker,
                                 int64_t **ptr) {
  const trs_scalar scalar = w->input->B->scalar;
  int64_t nnz = (*ptr)[w->n], *own = *ptr;
  int32_t *idx = NULL;
  void *val = NULL;
  trs_status status = TRS_ALLOC_ALL(TRS_ROOM(&idx, nnz), TRS_ROOM_OF(&val, nnz, w->size));
  if (!status) status = trs_worker_take(worker, idx, nnz, sizeof *idx);
  if (!status) status = trs_worker_take(worker, val, nnz, w->size);
  *ptr = NULL;
  if (!status) return trs_matrix_adopt(T, TRS_CSR, scalar, w->n, w->n, own, idx, val);
  TRS_FREE_ALL(own, idx, val);
  return status;
}

static trs_status receive_factors(trs_factors *parts, lu_work *w, trs_worker *worker,
                                  const trs_worker_message *m) {
  int64_t *L = NULL, *U = NULL;
  TRS_TRY(TRS_ALLOC(&w->perm_r, w->n));
  TRS_TRY(trs_worker_take(worker, w->perm_r, w->n, sizeof *w->perm_r));
  TRS_TRY(trs_permutation_check(w->perm_r, w->n, "SuperLU's row order"));
  TRS_TRY(receive_supernodes(parts, worker, m->number[TRS_LU_SUPERNODES]));
  trs_status status = receive_pointers(&L, w, worker, m->number[TRS_LU_NNZ_L]);
  if (!status) status = receive_pointers(&U, w, worker, m->number[TRS_LU_NNZ_U]);
  if (!status) status = receive_matrix(&parts->L, w, worker, &L);
  if (!status) status = receive_matrix(&parts->U, w, worker, &U);
  TRS_FREE_ALL(L, U);
  return status;
}

trs_status trs_lu_worker(trs_factors *parts, lu_work *w) {
  static const trs_worker_job job = {.program = "superlu", .library = "SuperLU", .file = -1};
  trs_worker_message m = {.threshold = w->input->pivot_threshold,
                          .number = {[TRS_LU_SCALAR] = w->input->B->scalar,
                                     [TRS_LU_N] = w->n,
                                     [TRS_LU_ENTRIES] = w->ptr[w->n],
                                     [TRS_LU_FILL] = w->input->fill,
                                     [TRS_LU_MOST] = trs_lu_most}};
  trs_worker *worker;
  if (!TRS_HAVE_SUPERLU)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "complete LU of this size needs SuperLU, which is not in this build: install "
                    "libsuperlu-dev and build Trireme from source, or use ILU(0)");
  TRS_TRY(trs_worker_start(&worker, &job));
  trs_status status = send_matrix(worker, w);
  trs_lu_free_columns(w);
  if (!status) status = trs_worker_ask(worker, &m);
  int64_t pivot = m.number[TRS_LU_ZERO_PIVOT];
  if (!status && pivot) status = trs_lu_singular(w, pivot - 1);
  if (!status) status = receive_factors(parts, w, worker, &m);
  trs_worker_end(worker);
  return status;
}
