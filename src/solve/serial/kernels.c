/* kernels.c - substitution by rows and by columns. */
#include "solve/serial/kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

#define TRS_KERNEL_INLINE static inline __attribute__((always_inline))

/* ---- A triangle that is solved once. ---- */

/* The entries of vector i; indices off the diagonal must lie in low .. low + span - 1. */
typedef struct vector {
  int64_t i, begin, end, low, span;
} vector;

/* The k-th vector to solve shares one end with the vector before it: its begin or its end.  before:
 * its entries precede the diagonal entry. */
TRS_KERNEL_INLINE bool take_vector(const trs_once *o, int64_t k, bool lower, bool before,
                                   bool narrow, int64_t at, vector *v) {
  const int64_t base = trs_index_base(o->indexing), i = lower ? k : o->n - 1 - k, far = i + lower;
  const int64_t other =
      trs_from_base(narrow ? ((const int32_t *)o->ptr)[far] : ((const int64_t *)o->ptr)[far], base);
  *v = (vector){i, lower ? at : other, lower ? other : at, before ? 0 : i + 1,
                before ? i : o->n - 1 - i};
  return 0 <= v->begin && v->begin <= v->end && v->end <= o->end;
}

static inline int64_t index_at(const trs_once *o, int64_t p) {
  return trs_from_base(trs_idx_at(o->indexing, o->idx, p), trs_index_base(o->indexing));
}

static inline bool is_inside(const vector *v, int64_t index) {
  return (uint64_t)index - (uint64_t)v->low < (uint64_t)v->span;
}

/* The usual layout: the diagonal entry at the expected end, 32-bit indices from 0. */
TRS_KERNEL_INLINE bool is_plain(const trs_once *o, const vector *v, bool before) {
  const int32_t *idx = o->idx;
  return !(o->indexing & (TRS_IDX64 | TRS_BASE1)) && v->begin < v->end &&
         idx[before ? v->end - 1 : v->begin] == v->i;
}

/* For a vector in the usual layout: its entries are inside, each at another place. */
TRS_KERNEL_INLINE bool is_ordered(const int32_t *idx, const vector *v, bool before) {
  bool ordered = true;
  for (int64_t p = v->begin + 1; p < v->end; p++) ordered &= idx[p] > idx[p - 1];
  return ordered && (before ? idx[v->begin] >= 0 : idx[v->end - 1] < v->low + v->span);
}

/* kept_of[count][q]: all bits if entry q is one of `count`. */
#define ALL UINT64_MAX
static const uint64_t kept_of[5][4] = {
    {0, 0, 0, 0}, {ALL, 0, 0, 0}, {ALL, ALL, 0, 0}, {ALL, ALL, ALL, 0}, {ALL, ALL, ALL, ALL}};
#undef ALL

#define TRS_TEMPLATE "plan/rhs_tmpl.c"
#include "base/instantiate.h"
#define TRS_TEMPLATE "plan/wide_tmpl.c"
#include "base/instantiate.h"
#define TRS_TEMPLATE "solve/serial/sweep_tmpl.c"
#include "base/instantiate.h"
#define TRS_TEMPLATE "solve/serial/once_tmpl.c"
#include "base/instantiate.h"

#include "solve/serial/strips_sweep.h"

const trs_serial_kernels TRS_ISA_NAME(trs_serial_kernels) = {
    .sweep = TRS_TABLE(sweep),
    .strips = TRS_ISA_NAME(strips_sweep),
    .once_by_rows = TRS_TABLE(once_by_rows),
    .once_by_columns = TRS_TABLE(once_by_columns)};
