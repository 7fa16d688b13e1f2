/* support.h - random triangular systems, and scalar types, for the tests of all methods. */
#ifndef TRS_TEST_SUPPORT_H
#define TRS_TEST_SUPPORT_H

#include <stdbool.h>

#include "trireme.h"

/* Compressed arrays from malloc, freed by triangle_free. */
typedef struct triangle {
  int64_t n, *ptr;
  int32_t *idx;
  void *val;
} triangle;

/* A random lower or upper triangle with about density n entries in a full row, near the diagonal or
 * anywhere, with well scaled values; the diagonal is stored unless without_diagonal. */
triangle triangle_random(int64_t n, double density, int64_t band, bool prefix, trs_scalar scalar,
                         bool without_diagonal, uint64_t seed);
void triangle_free(triangle *t);

/* The methods of these backends ("serial threads") that this build has, in the library's order. */
enum { MOST_METHODS = 32 };
typedef struct method_list {
  int count;
  char name[MOST_METHODS][32], backend[MOST_METHODS][16];
} method_list;
method_list methods_of(const char *backends);

/* Element size and unit roundoff of a scalar type. */
size_t scalar_bytes(trs_scalar scalar);
double scalar_eps(trs_scalar scalar);

/* The backward error allowed: a few roundings per entry. */
double error_limit(trs_scalar scalar, int64_t longest_row);

#endif
