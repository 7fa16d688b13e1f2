/* pattern.c - PETSc's matrix, permuted, of blocks with levels of fill, in Trireme's arrays. */
#include "pattern.h"

#include <petsc/private/matimpl.h>

/* Rows of PETSc's matrix, or rows of its blocks, which MatRestoreRowIJ takes back. */
typedef struct given_rows {
  PetscInt n;
  PetscBool blocks;
  const PetscInt *ptr, *idx;
} given_rows;

/* A pattern on its way: origin[p] is the entry of PETSc's matrix. */
typedef struct draft {
  PetscInt *ptr, *idx, *origin;
} draft;

static PetscErrorCode get_rows(Mat A, given_rows *rows) {
  PetscBool done;
  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQBAIJ, &rows->blocks));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, rows->blocks, &rows->n, &rows->ptr, &rows->idx, &done));
  PetscCheck(done, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "Trireme: a matrix of type %s has no rows to read", ((PetscObject)A)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode restore_rows(Mat A, given_rows *rows) {
  PetscBool done;
  PetscFunctionBegin;
  PetscCall(
      MatRestoreRowIJ(A, 0, PETSC_FALSE, rows->blocks, &rows->n, &rows->ptr, &rows->idx, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* perm[i] is the row of the matrix that comes i-th.  PETSc orders the blocks of a block matrix. */
static PetscErrorCode take_permutation(int32_t **perm, IS is, PetscInt n) {
  const PetscInt *index;
  PetscInt count, size;
  PetscFunctionBegin;
  PetscCall(ISGetLocalSize(is, &count));
  PetscCheck(count > 0 && n % count == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "Trireme: an ordering of %" PetscInt_FMT " for %" PetscInt_FMT " rows", count, n);
  size = n / count;
  PetscCall(PetscMalloc1(n, perm));
  PetscCall(ISGetIndices(is, &index));
  for (PetscInt i = 0; i < n; i++) (*perm)[i] = (int32_t)(index[i / size] * size + i % size);
  PetscCall(ISRestoreIndices(is, &index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode take_order(trs_petsc_pattern *P, IS row, IS col) {
  PetscBool natural_rows = PETSC_TRUE, natural_columns = PETSC_TRUE;
  PetscFunctionBegin;
  if (!row || P->n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (!col) col = row;
  PetscCall(ISIdentity(row, &natural_rows));
  PetscCall(ISIdentity(col, &natural_columns));
  if (natural_rows && natural_columns) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(take_permutation(&P->row, row, P->n));
  PetscCall(take_permutation(&P->col, col, P->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static bool ascends(const PetscInt *idx, PetscInt begin, PetscInt end) {
  for (PetscInt p = begin + 1; p < end; p++)
    if (idx[p] < idx[p - 1]) return false;
  return true;
}

/* A(row, col) by ascending columns. */
static PetscErrorCode permute(const trs_petsc_pattern *P, const given_rows *A, draft *D) {
  PetscInt *new_column, used = 0;
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(P->n, &new_column));
  for (PetscInt j = 0; j < P->n; j++) new_column[P->col ? P->col[j] : j] = j;
  D->ptr[0] = 0;
  for (PetscInt i = 0; i < P->n; i++) {
    PetscInt old = P->row ? P->row[i] : i;
    for (PetscInt p = A->ptr[old]; p < A->ptr[old + 1]; p++) {
      D->idx[used] = new_column[A->idx[p]];
      D->origin[used++] = p;
    }
    D->ptr[i + 1] = used;
    if (!ascends(D->idx, D->ptr[i], used))
      PetscCall(PetscSortIntWithArray(used - D->ptr[i], D->idx + D->ptr[i], D->origin + D->ptr[i]));
  }
  PetscCall(PetscFree(new_column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the entries of the draft stand among those of the wider pattern. */
static void find_places(trs_petsc_pattern *P, const draft *D) {
  for (PetscInt i = 0; i < P->n; i++) {
    int64_t at = P->ptr[i];
    for (PetscInt p = D->ptr[i]; p < D->ptr[i + 1]; p++) {
      while (P->idx[at] < D->idx[p]) at++;
      P->place[D->origin[p]] = at;
    }
  }
}

static PetscErrorCode take_arrays(trs_petsc_pattern *P, const PetscInt *ptr, const PetscInt *idx) {
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(P->n + 1, &P->ptr));
  PetscCall(PetscMalloc1(ptr[P->n], &P->idx));
  for (PetscInt i = 0; i <= P->n; i++) P->ptr[i] = ptr[i];
  for (PetscInt p = 0; p < ptr[P->n]; p++) P->idx[p] = (int32_t)idx[p];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode append(trs_petsc_pattern *P, const trs_matrix *T, int64_t i) {
  const int64_t *ptr;
  const int32_t *idx;
  PetscFunctionBegin;
  PetscCall(trs_petsc_check(trs_matrix_get_arrays(T, &ptr, &idx, NULL)));
  PetscCall(PetscArraycpy(P->idx + P->ptr[i + 1], idx + ptr[i], ptr[i + 1] - ptr[i]));
  P->ptr[i + 1] += ptr[i + 1] - ptr[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode take_triangles(trs_petsc_pattern *P, const trs_factors *F) {
  trs_factors_info info = {.struct_size = sizeof info};
  PetscFunctionBegin;
  PetscCall(trs_petsc_check(trs_factors_get_info(F, &info)));
  PetscCall(PetscMalloc1(P->n + 1, &P->ptr));
  PetscCall(PetscMalloc1(info.nnz_L + info.nnz_U, &P->idx));
  P->ptr[0] = 0;
  for (PetscInt i = 0; i < P->n; i++) {
    P->ptr[i + 1] = P->ptr[i];
    PetscCall(append(P, info.L, i));
    PetscCall(append(P, info.U, i));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern with fill and a whole diagonal: that of ILU of numbers, whose pivots are positive. */
static PetscErrorCode take_filled(trs_petsc_pattern *P, const draft *D, int levels) {
  const trs_factor_options options = {.struct_size = sizeof(trs_factor_options),
                                      .kind = TRS_FACTOR_ILU0,
                                      .add_diagonal = 1,
                                      .levels = levels};
  trs_factors *F = NULL;
  trs_matrix *A;
  float *val;
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(D->ptr[P->n], &val));
  for (PetscInt i = 0; i < P->n; i++)
    for (PetscInt p = D->ptr[i]; p < D->ptr[i + 1]; p++)
      val[p] = D->idx[p] == i ? (float)(D->ptr[i + 1] - D->ptr[i]) : -1;
  trs_status status = trs_matrix_create(&A, TRS_CSR, TRS_FLOAT, P->n, P->n, TRS_PETSC_INDEXING,
                                        D->ptr, D->idx, val, TRS_BORROW);
  if (!status) status = trs_factor(&F, A, &options);
  trs_matrix_destroy(A);
  PetscCall(PetscFree(val));
  PetscCall(trs_petsc_check(status));
  PetscCall(take_triangles(P, F));
  trs_factors_destroy(F);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode change(trs_petsc_pattern *P, const given_rows *A, int levels, bool filled) {
  draft D;
  PetscFunctionBegin;
  PetscCall(PetscMalloc3(P->n + 1, &D.ptr, P->given, &D.idx, P->given, &D.origin));
  PetscCall(permute(P, A, &D));
  PetscCall(filled ? take_filled(P, &D, levels) : take_arrays(P, D.ptr, D.idx));
  PetscCall(PetscMalloc1(P->given, &P->place));
  find_places(P, &D);
  PetscCall(PetscFree3(D.ptr, D.idx, D.origin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode find_diagonal(trs_petsc_pattern *P) {
  int64_t near = 0;
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(P->n, &P->diagonal));
  for (PetscInt i = 0; i < P->n; i++) {
    int64_t p = P->ptr[i] + near; /* where the row before has it */
    if (p < P->ptr[i + 1] && P->idx[p] == i) {
      P->diagonal[i] = p;
      continue;
    }
    p = P->ptr[i];
    while (p < P->ptr[i + 1] && P->idx[p] != i) p++;
    P->diagonal[i] = p < P->ptr[i + 1] ? p : -1;
    near = p - P->ptr[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_pattern_create(trs_petsc_pattern *P, Mat A, IS row, IS col, int levels,
                                        bool add_diagonal) {
  given_rows rows;
  const PetscScalar *val;
  PetscFunctionBegin;
  *P = (trs_petsc_pattern){0};
  PetscCall(get_rows(A, &rows));
  PetscCheck((int64_t)rows.n <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "Trireme: %" PetscInt_FMT " rows in one process are more than 2^31 - 1", rows.n);
  P->n = rows.n;
  P->size = 1;
  if (rows.blocks) PetscCall(MatGetBlockSize(A, &P->size));
  P->given = rows.ptr[rows.n];
  PetscCall(take_order(P, row, col));
  if (!rows.blocks) levels = 0;
  if (P->row || levels > 0 || add_diagonal)
    PetscCall(change(P, &rows, levels, levels > 0 || add_diagonal));
  else
    PetscCall(take_arrays(P, rows.ptr, rows.idx));
  PetscCall(restore_rows(A, &rows));
  PetscCall(find_diagonal(P));
  if (P->size > 1)
    PetscFunctionReturn(PETSC_SUCCESS); /* Trireme copies blocks: with their values */
  if (P->place) PetscCall(trs_petsc_pattern_own(P));
  PetscCall(MatSeqAIJGetArrayRead(A, &val));
  PetscCall(trs_petsc_check(trs_matrix_create(&P->matrix, TRS_CSR, TRS_PETSC_SCALAR, P->n, P->n,
                                              TRS_PTR64, P->ptr, P->idx, P->place ? P->val : val,
                                              TRS_BORROW)));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_pattern_destroy(trs_petsc_pattern *P) {
  PetscFunctionBegin;
  trs_matrix_destroy(P->matrix);
  PetscCall(PetscFree(P->place));
  PetscCall(PetscFree(P->diagonal));
  PetscCall(PetscFree(P->ptr));
  PetscCall(PetscFree(P->idx));
  PetscCall(PetscFree(P->val));
  PetscCall(PetscFree(P->row));
  PetscCall(PetscFree(P->col));
  *P = (trs_petsc_pattern){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

int64_t trs_petsc_pattern_rows(const trs_petsc_pattern *P) { return (int64_t)P->n * P->size; }

int64_t trs_petsc_pattern_numbers(const trs_petsc_pattern *P) {
  return P->ptr ? P->ptr[P->n] * P->size * P->size : 0;
}

static PetscErrorCode set_values(trs_petsc_pattern *P, const PetscScalar *val) {
  PetscFunctionBegin;
  P->now = val;
  if (P->matrix && val) PetscCall(trs_petsc_check(trs_matrix_set_values(P->matrix, val)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_pattern_own(trs_petsc_pattern *P) {
  PetscFunctionBegin;
  if (!P->val && P->place) PetscCall(PetscCalloc1(trs_petsc_pattern_numbers(P), &P->val));
  if (!P->val) PetscCall(PetscMalloc1(trs_petsc_pattern_numbers(P), &P->val));
  if (P->now && P->now != P->val)
    PetscCall(PetscArraycpy(P->val, P->now, (size_t)trs_petsc_pattern_numbers(P)));
  PetscCall(set_values(P, P->val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode take_values(trs_petsc_pattern *P, const PetscScalar *val) {
  const PetscInt size = P->size * P->size;
  PetscFunctionBegin;
  if (!P->place) {
    PetscCall(set_values(P, val));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  P->now = NULL;
  PetscCall(trs_petsc_pattern_own(P));
  PetscCall(PetscArrayzero(P->val, trs_petsc_pattern_numbers(P)));
  if (size == 1) {
    for (PetscInt p = 0; p < P->given; p++) P->val[P->place[p]] = val[p];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt p = 0; p < P->given; p++)
    PetscCall(PetscArraycpy(P->val + P->place[p] * size, val + (size_t)p * (size_t)size, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_pattern_check(const trs_petsc_pattern *P, Mat A) {
  given_rows rows;
  PetscInt given;
  PetscFunctionBegin;
  PetscCall(get_rows(A, &rows));
  given = rows.n == P->n ? rows.ptr[rows.n] : -1;
  PetscCall(restore_rows(A, &rows));
  PetscCheck(
      given == P->given, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
      "Trireme: the matrix has another pattern than in the symbolic factorisation: call that "
      "again");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_pattern_fill(trs_petsc_pattern *P, Mat A) {
  PetscBool blocks;
  PetscScalar *val;
  PetscFunctionBegin;
  PetscCall(trs_petsc_pattern_check(P, A));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQBAIJ, &blocks));
  PetscCall(blocks ? MatSeqBAIJGetArray(A, &val)
                   : MatSeqAIJGetArrayRead(A, (const PetscScalar **)&val));
  PetscCall(take_values(P, val));
  PetscCall(blocks ? MatSeqBAIJRestoreArray(A, &val)
                   : MatSeqAIJRestoreArrayRead(A, (const PetscScalar **)&val));
  PetscFunctionReturn(PETSC_SUCCESS);
}
