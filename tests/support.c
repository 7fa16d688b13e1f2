/* support.c - random triangular systems for the tests. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "matrix/values.h"

size_t scalar_bytes(trs_scalar scalar) { return trs_scalar_size(scalar); }

double scalar_eps(trs_scalar scalar) { return trs_scalar_is_double(scalar) ? 0x1p-53 : 0x1p-24; }

double error_limit(trs_scalar scalar, int64_t longest_row) {
  return scalar_eps(scalar) * (double)(longest_row + 4) * (trs_scalar_is_complex(scalar) ? 4 : 2);
}

static double complex random_value(uint64_t seed, uint64_t at) {
  return trs_random_signed(seed, 2 * at) + I * trs_random_signed(seed, 2 * at + 1);
}

triangle triangle_random(int64_t n, double density, int64_t band, bool prefix, trs_scalar scalar,
                         bool without_diagonal, uint64_t seed) {
  triangle t = {.n = n};
  t.ptr = malloc((size_t)(n + 1) * sizeof *t.ptr);
  int64_t capacity = 16, nnz = 0;
  t.idx = malloc((size_t)capacity * sizeof *t.idx);
  t.val = malloc((size_t)capacity * sizeof(double complex));
  for (int64_t i = 0; i < n; i++) {
    t.ptr[i] = nnz;
    int64_t first = prefix ? (i > band ? i - band : 0) : i;
    int64_t last = prefix ? i : (i + band < n - 1 ? i + band : n - 1);
    for (int64_t j = first; j <= last; j++) {
      uint64_t at = (uint64_t)(i * n + j);
      if (j == i ? without_diagonal : trs_random_unit(seed + 1, at) >= density) continue;
      if (nnz == capacity) {
        capacity *= 2;
        t.idx = realloc(t.idx, (size_t)capacity * sizeof *t.idx);
        t.val = realloc(t.val, (size_t)capacity * sizeof(double complex));
      }
      double complex value = j == i ? 2 + random_value(seed, at) : random_value(seed, at) / 2;
      t.idx[nnz] = (int32_t)j;
      trs_value_set(t.val, nnz++, scalar, value);
    }
  }
  t.ptr[n] = nnz;
  return t;
}

void triangle_free(triangle *t) {
  free(t->ptr);
  free(t->idx);
  free(t->val);
}

method_list methods_of(const char *backends) {
  method_list list = {0};
  for (const char *line = trs_method_list(); *line && list.count < MOST_METHODS;) {
    const char *end = line + strcspn(line, "\n"), *absent = strstr(line, "[not in this build");
    char *backend = list.backend[list.count];
    const bool built = !absent || absent > end;
    if (sscanf(line, "%31s %15s", list.name[list.count], backend) == 2 && built)
      list.count += strstr(backends, backend) != NULL;
    line = end + (*end != 0);
  }
  return list;
}
