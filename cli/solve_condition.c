/* solve_condition.c - whether A is so near to a singular matrix that x may have no right digit. */
#include <math.h>
#include <stdlib.h>

#include "leave.h"
#include "solve.h"

/* The largest real or imaginary part. */
static double largest_of(const void *numbers, int64_t count, trs_scalar scalar) {
  const bool wide = scalar == TRS_DOUBLE || scalar == TRS_DCOMPLEX;
  const int64_t parts = count * (scalar_bytes(scalar) / (wide ? 8 : 4));
  double most = 0;
  for (int64_t k = 0; k < parts; k++)
    most = fmax(most, fabs(wide ? ((const double *)numbers)[k] : ((const float *)numbers)[k]));
  return most;
}

/* *growth: a lower bound of the condition number, up to the length of rows, by one solve with a
 * random b.  The caller's b may be one that A^-1 does not enlarge. */
static trs_status find_growth(solve_job *job, void *x, void *b, double *growth) {
  const int64_t n = job->n, *ptr;
  const int32_t *idx;
  const void *val;
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_matrix_get_info(job->factored.A, &info);
  trs_matrix_get_arrays(job->factored.A, &ptr, &idx, &val);
  trs_random_fill(b, n, job->scalar, 1);
  trs_status status = trs_solve(job->plan, x, n, b, n, 1, TRS_COL_MAJOR);
  *growth = largest_of(val, info.nnz, info.scalar) * largest_of(x, n, job->scalar) /
            largest_of(b, n, job->scalar);
  return status;
}

/* The estimate takes as long as 70 solves, so it is left to systems with a growth that is suspect:
 * beyond the root of 1/eps, for the growth may be far below the condition number. */
int solve_find_condition(solve_job *job) {
  if (job->set.factor != TRS_FACTOR_LU || !job->n) return -1;
  const size_t bytes = (size_t)(job->n * scalar_bytes(job->scalar));
  void *x = malloc(bytes), *b = malloc(bytes);
  double growth = 0;
  int code = x && b ? -1 : leave_memory(2 * (double)bytes, "the condition number");
  trs_status status = code < 0 ? find_growth(job, x, b, &growth) : TRS_SUCCESS;
  if (code < 0 && !status && !(growth * sqrt(scalar_eps(job->scalar)) <= 1))
    status = trs_factors_condition(&job->condition, job->in.F);
  free(x);
  free(b);
  return status ? leave_library("the condition number") : code;
}
