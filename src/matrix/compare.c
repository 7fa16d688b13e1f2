/* compare.c - compares the pattern of a triangle with that of another matrix.  Each thread compares
 * a range of vectors, as one memory block if no entries lie on the other side.  O(n + nnz). */
#include <string.h>

#include "base/search.h"
#include "matrix/matrix.h"

enum { FEW = 1 << 15 }; /* entries that one thread compares before the others have woken */

typedef struct comparison {
  const trs_matrix *T, *A;
  bool prefix; /* true: vectors of the triangle end with the diagonal; false: they begin with it */
  _Atomic int64_t first_differs;
} comparison;

static bool same_run(const trs_matrix *T, const trs_matrix *A, int64_t begin, int64_t end) {
  int64_t from = T->ptr[begin], count = T->ptr[end] - from;
  return !memcmp(T->ptr + begin, A->ptr + begin, (size_t)(end + 1 - begin) * sizeof *T->ptr) &&
         (!count || !memcmp(T->idx + from, A->idx + from, (size_t)count * sizeof *T->idx));
}

/* True if A's vector i has the entries of T's, and otherwise only entries across the diagonal. */
static bool same_vector(const comparison *c, int64_t i) {
  const trs_matrix *T = c->T, *A = c->A;
  int64_t count = T->ptr[i + 1] - T->ptr[i], more = A->ptr[i + 1] - A->ptr[i] - count;
  if (more < 0) return false;
  const int32_t *mine = T->idx + T->ptr[i], *all = A->idx + A->ptr[i];
  const int32_t *part = all + (c->prefix ? 0 : more);
  if (more && (c->prefix ? all[count] <= i : all[more - 1] >= i)) return false;
  return !count || !memcmp(mine, part, (size_t)count * sizeof *mine);
}

static void compare_share(void *argument, int rank, int size) {
  comparison *c = argument;
  int64_t i, end;
  trs_share(c->T->nvectors, rank, size, &i, &end);
  if (i == end || same_run(c->T, c->A, i, end)) return;
  while (i < end && same_vector(c, i)) i++;
  if (i == end) return;
  int64_t before = atomic_load(&c->first_differs);
  while (i < before && !atomic_compare_exchange_weak(&c->first_differs, &before, i)) continue;
}

int64_t trs_matrix_first_difference(const trs_matrix *T, const trs_matrix *A, trs_uplo uplo,
                                    trs_team *team) {
  comparison c = {.T = T, .A = A, .prefix = (uplo == TRS_LOWER) == (T->format == TRS_CSR)};
  atomic_init(&c.first_differs, T->nvectors);
  trs_team_run(team, T->nnz < FEW ? 1 : trs_team_size(team), compare_share, &c);
  int64_t first = atomic_load(&c.first_differs);
  return first < T->nvectors ? first : -1;
}

int64_t trs_matrix_vector_of(const trs_matrix *A, int64_t p) {
  return trs_search_64(A->ptr, 1, A->nvectors, p + 1) - 1;
}
