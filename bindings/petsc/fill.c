/* fill.c - levels of fill.  The factors ILU(k) are those of ILU(0) on a pattern that holds the fill
 * as zeros. */
#include "pattern.h"

/* A row that grows: a list of ascending columns, with their levels. */
typedef struct fill_row {
  PetscInt n;
  PetscInt *next;  /* n + 1: the next column of the row; next[n] is the first; n ends it */
  PetscInt *level; /* n: of the columns in the list */
} fill_row;

/* The rows made so far. */
typedef struct fill_store {
  PetscInt *ptr, *diagonal, *idx, *level;
  PetscInt room;
} fill_store;

static void begin_row(fill_row *row, PetscInt i, const PetscInt *idx, PetscInt count,
                      bool add_diagonal) {
  PetscInt last = row->n;
  bool missing = add_diagonal;
  for (PetscInt p = 0; p < count; p++) {
    if (missing && idx[p] >= i) {
      if (idx[p] > i) {
        last = row->next[last] = i;
        row->level[i] = 0;
      }
      missing = false;
    }
    last = row->next[last] = idx[p];
    row->level[idx[p]] = 0;
  }
  if (missing) {
    last = row->next[last] = i;
    row->level[i] = 0;
  }
  row->next[last] = row->n;
}

/* Fill from entry (i, k) and the part of row k above the diagonal. */
static void add_fill(fill_row *row, const fill_store *store, PetscInt k, PetscInt levels) {
  PetscInt at = k;
  for (PetscInt p = store->diagonal[k]; p < store->ptr[k + 1]; p++) {
    PetscInt j = store->idx[p], level = row->level[k] + store->level[p] + 1;
    if (level > levels) continue;
    while (row->next[at] < j) at = row->next[at];
    if (row->next[at] == j) {
      if (level < row->level[j]) row->level[j] = level;
    } else {
      row->next[j] = row->next[at];
      row->next[at] = j;
      row->level[j] = level;
    }
    at = j;
  }
}

static PetscErrorCode reserve(fill_store *store, PetscInt used, PetscInt n) {
  PetscFunctionBegin;
  if (store->room - used < n) {
    PetscInt room = PetscMax(2 * store->room, used + n);
    PetscCheck(
        room > 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
        "Trireme: the factors have more entries than PetscInt counts: fewer levels, or PETSc "
        "with 64-bit indices");
    PetscCall(PetscRealloc(sizeof(PetscInt) * (size_t)room, &store->idx));
    PetscCall(PetscRealloc(sizeof(PetscInt) * (size_t)room, &store->level));
    store->room = room;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode keep_row(fill_store *store, const fill_row *row, PetscInt i) {
  PetscInt used = store->ptr[i];
  PetscFunctionBegin;
  PetscCall(reserve(store, used, row->n));
  store->diagonal[i] = -1;
  for (PetscInt j = row->next[row->n]; j < row->n; j = row->next[j]) {
    if (j > i && store->diagonal[i] < 0) store->diagonal[i] = used;
    store->idx[used] = j;
    store->level[used++] = row->level[j];
  }
  if (store->diagonal[i] < 0) store->diagonal[i] = used;
  store->ptr[i + 1] = used;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_fill(PetscInt n, const PetscInt *ptr, const PetscInt *idx, PetscInt levels,
                              bool add_diagonal, PetscInt **ptr_out, PetscInt **idx_out) {
  fill_row row = {.n = n};
  fill_store store = {.room = ptr[n] + n};
  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n + 1, &row.next, n, &row.level));
  PetscCall(PetscMalloc1(n + 1, &store.ptr));
  PetscCall(PetscMalloc1(n, &store.diagonal));
  PetscCall(PetscMalloc1(store.room, &store.idx));
  PetscCall(PetscMalloc1(store.room, &store.level));
  store.ptr[0] = 0;
  for (PetscInt i = 0; i < n; i++) {
    begin_row(&row, i, idx + ptr[i], ptr[i + 1] - ptr[i], add_diagonal);
    for (PetscInt k = row.next[n]; k < i; k = row.next[k]) add_fill(&row, &store, k, levels);
    PetscCall(keep_row(&store, &row, i));
  }
  PetscCall(PetscFree2(row.next, row.level));
  PetscCall(PetscFree(store.diagonal));
  PetscCall(PetscFree(store.level));
  *ptr_out = store.ptr;
  *idx_out = store.idx;
  PetscFunctionReturn(PETSC_SUCCESS);
}
