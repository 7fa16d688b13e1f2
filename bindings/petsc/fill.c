/* fill.c - levels of fill.  The factors ILU(k) are those of ILU(0) on a pattern that holds the fill
 * as zeros. */
#include "pattern.h"

static const char TOO_MANY[] =
    "Trireme: the factors have more entries than PetscInt counts: fewer levels, or PETSc with "
    "64-bit indices";

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

/* Fill from entry (i, k) of a level and entries begin .. end of row k; `at` is a column of the list
 * before them. */
static void add_fill(fill_row *row, const fill_store *store, PetscInt at, PetscInt level_k,
                     PetscInt begin, PetscInt end, PetscInt levels) {
  for (PetscInt p = begin; p < end; p++) {
    PetscInt j = store->idx[p], level = level_k + store->level[p] + 1;
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
    PetscCheck(room > 0, PETSC_COMM_SELF, PETSC_ERR_SUP, TOO_MANY);
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

/* All rows, from whole rows of A. */
static PetscErrorCode fill_rows(fill_row *row, fill_store *store, const PetscInt *ptr,
                                const PetscInt *idx, PetscInt levels, bool add_diagonal) {
  PetscFunctionBegin;
  for (PetscInt i = 0; i < row->n; i++) {
    begin_row(row, i, idx + ptr[i], ptr[i + 1] - ptr[i], add_diagonal);
    for (PetscInt k = row->next[row->n]; k < i; k = row->next[k])
      add_fill(row, store, k, row->level[k], store->diagonal[k], store->ptr[k + 1], levels);
    PetscCall(keep_row(store, row, i));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Symmetric patterns: the upper triangle alone, and its mirror ---- */

/* first[i]: the first entry of row i on or behind the diagonal. */
static bool is_symmetric(PetscInt n, const PetscInt *ptr, const PetscInt *idx, PetscInt *first) {
  for (PetscInt i = 0; i < n; i++) first[i] = ptr[i];
  for (PetscInt i = 0; i < n; i++) {
    if (first[i] < ptr[i + 1] && idx[first[i]] < i) return false;
    for (PetscInt p = first[i]; p < ptr[i + 1]; p++) {
      const PetscInt j = idx[p], q = first[j];
      if (j == i) continue;
      if (q == ptr[j + 1] || idx[q] != i) return false;
      first[j]++;
    }
  }
  return true;
}

/* Rows whose next entry is in one column are a list; at[i] is that entry of row i. */
typedef struct columns {
  PetscInt n;
  PetscInt *first, *next, *at; /* n each; n ends a list */
} columns;

static void enter(columns *c, const fill_store *store, PetscInt i) {
  if (c->at[i] == store->ptr[i + 1]) return;
  const PetscInt j = store->idx[c->at[i]];
  c->next[i] = c->first[j];
  c->first[j] = i;
}

static PetscErrorCode fill_upper(fill_row *row, fill_store *store, columns *c, const PetscInt *ptr,
                                 const PetscInt *idx, const PetscInt *first, PetscInt levels,
                                 bool add_diagonal) {
  PetscFunctionBegin;
  for (PetscInt j = 0; j < row->n; j++) c->first[j] = row->n;
  for (PetscInt k = 0; k < row->n; k++) {
    begin_row(row, k, idx + first[k], ptr[k + 1] - first[k], add_diagonal);
    for (PetscInt i = c->first[k], next; i < row->n; i = next) {
      const PetscInt p = c->at[i]++;
      next = c->next[i];
      add_fill(row, store, row->n, store->level[p], p + 1, store->ptr[i + 1], levels);
      enter(c, store, i);
    }
    PetscCall(keep_row(store, row, k));
    c->at[k] = store->diagonal[k];
    enter(c, store, k);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of both triangles from those of the upper one. */
static PetscErrorCode mirror(PetscInt n, const fill_store *store, PetscInt **ptr_out,
                             PetscInt **idx_out) {
  PetscInt *ptr, *idx, *at;
  PetscFunctionBegin;
  PetscCheck(store->ptr[n] <= PETSC_MAX_INT / 2, PETSC_COMM_SELF, PETSC_ERR_SUP, TOO_MANY);
  PetscCall(PetscCalloc1(n + 1, &ptr));
  PetscCall(PetscMalloc1(n, &at));
  for (PetscInt i = 0; i < n; i++) {
    ptr[i + 1] += store->ptr[i + 1] - store->ptr[i];
    for (PetscInt p = store->diagonal[i]; p < store->ptr[i + 1]; p++) ptr[store->idx[p] + 1]++;
  }
  for (PetscInt i = 0; i < n; i++) {
    ptr[i + 1] += ptr[i];
    at[i] = ptr[i];
  }
  PetscCall(PetscMalloc1(ptr[n], &idx));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt p = store->ptr[i]; p < store->ptr[i + 1]; p++) idx[at[i]++] = store->idx[p];
    for (PetscInt p = store->diagonal[i]; p < store->ptr[i + 1]; p++) idx[at[store->idx[p]]++] = i;
  }
  PetscCall(PetscFree(at));
  *ptr_out = ptr;
  *idx_out = idx;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_fill(PetscInt n, const PetscInt *ptr, const PetscInt *idx, PetscInt levels,
                              bool add_diagonal, PetscInt **ptr_out, PetscInt **idx_out) {
  fill_row row = {.n = n};
  fill_store store = {.room = ptr[n] + n};
  columns c = {.n = n};
  PetscInt *first;
  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n + 1, &row.next, n, &row.level));
  PetscCall(PetscMalloc1(n + 1, &store.ptr));
  PetscCall(PetscMalloc1(n, &store.diagonal));
  PetscCall(PetscMalloc1(store.room, &store.idx));
  PetscCall(PetscMalloc1(store.room, &store.level));
  PetscCall(PetscMalloc4(n, &first, n, &c.first, n, &c.next, n, &c.at));
  store.ptr[0] = 0;
  if (levels > 0 && is_symmetric(n, ptr, idx, first)) {
    PetscCall(fill_upper(&row, &store, &c, ptr, idx, first, levels, add_diagonal));
    PetscCall(mirror(n, &store, ptr_out, idx_out));
    PetscCall(PetscFree(store.ptr));
    PetscCall(PetscFree(store.idx));
  } else {
    PetscCall(fill_rows(&row, &store, ptr, idx, levels, add_diagonal));
    *ptr_out = store.ptr;
    *idx_out = store.idx;
  }
  PetscCall(PetscFree4(first, c.first, c.next, c.at));
  PetscCall(PetscFree2(row.next, row.level));
  PetscCall(PetscFree(store.diagonal));
  PetscCall(PetscFree(store.level));
  PetscFunctionReturn(PETSC_SUCCESS);
}
