/* user.c - a program with threads that analyse, factor and solve at once, each with a plan of its
 * own, over one context and one matrix.  With an argument it also has races, one in a function that
 * the library calls. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <trireme.h>

enum { THREADS = 3, ROUNDS = 20 };

static trs_context *ctx;
static trs_matrix *A;
static int64_t n;
static int races, count, calls;

static void check(trs_status status) {
  if (!status) return;
  fprintf(stderr, "%s\n", trs_last_error()->message);
  exit(1);
}

static void hear(void *user, const char *phase, double done) {
  double *last = user;
  *last = phase ? done : -1;
  if (races) calls++;
}

static void *work(void *unused) {
  double *x = malloc((size_t)n * sizeof *x), *b = malloc((size_t)n * sizeof *b), heard = 0;
  trs_random_fill(b, n, TRS_DOUBLE, 1);
  for (int k = 0; k < ROUNDS; k++) {
    trs_plan *plan;
    trs_factors *F;
    const trs_options options = {
        .struct_size = sizeof options, .take_triangle = 1, .method = k % 2 ? "threads" : NULL};
    const trs_factor_options how = {.struct_size = sizeof how,
                                    .kind = TRS_FACTOR_ILU0,
                                    .progress = hear,
                                    .progress_user = &heard};
    check(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
    check(trs_solve(plan, x, n, b, n, 1, TRS_COL_MAJOR));
    check(trs_update(plan, A));
    trs_plan_destroy(plan);
    check(trs_factor(&F, A, &how));
    check(trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, NULL));
    check(trs_solve(plan, x, n, b, n, 1, TRS_COL_MAJOR));
    trs_plan_destroy(plan);
    trs_factors_destroy(F);
    if (heard != 1) exit(2);
    if (races) count++;
  }
  free(x);
  free(b);
  return unused;
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS];
  trs_matrix_info info = {.struct_size = sizeof info};
  (void)argv;
  races = argc > 1;
  check(trs_context_create(&ctx, "threads:4"));
  check(trs_matrix_read(&A, "gen:poisson3d7:20", NULL));
  check(trs_matrix_get_info(A, &info));
  n = info.nrows;
  for (int k = 0; k < THREADS; k++) pthread_create(&threads[k], NULL, work, NULL);
  for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
  return 0;
}
