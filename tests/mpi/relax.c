/* relax.c - relaxation on ranks, bit by bit against one domain: every block size and storage,
 * matrices that rank 0 distributes and rows that ranks bring, empty domains and more ranks than
 * rows, several right-hand sides, norms, new values; ranks on a GPU against one domain there;
 * errors, the same on all ranks.  Run by mpirun with any number of ranks; rank 0 prints 'ok NAME'
 * and 'not ok NAME'. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bsr.h"
#include "relax/blocks.h"
#ifdef TRS_TEST_STAND_IN
#include "relax/stand_in.h"
#endif
#include "mpi/verdict.h"
#include "trireme_mpi.h"

static trs_context *serial, *several;
static trs_context *gpu; /* the GPU in use, also for the single domain; NULL: the CPU */
static const char *gpu_variant;

/* Builds without CUDA have a stand-in for GPUs, with W21's kernels in double. */
#ifdef TRS_TEST_STAND_IN
enum { STAND_IN = 1 };
#else
enum { STAND_IN = 0 };
#endif

/* ---- Systems ---- */

/* The start of rank r's rows: 0 even, 1 every other rank has none, 2 the last rank has all. */
static int64_t begin_of(int64_t n, int r, int way) {
  if (way == 0) return n * r / size;
  if (way == 1) return r == size ? n : n * (r / 2 * 2) / size;
  return r == size ? n : 0;
}

typedef struct vectors {
  int64_t n, nrhs;
  double *b, *x, *expected;
} vectors;

static vectors vectors_make(int64_t n, int64_t nrhs) {
  vectors v = {.n = n, .nrhs = nrhs};
  size_t bytes = (size_t)(n * nrhs + 1) * sizeof *v.b;
  v.b = malloc(bytes);
  v.x = malloc(bytes);
  v.expected = malloc(bytes);
  trs_random_fill(v.b, n * nrhs, TRS_DOUBLE, 5);
  trs_random_fill(v.x, n * nrhs, TRS_DOUBLE, 6);
  memcpy(v.expected, v.x, bytes - sizeof *v.b);
  return v;
}

static void vectors_free(vectors *v) {
  free(v->b);
  free(v->x);
  free(v->expected);
}

/* Compares the rows from `first` on with those of a whole vector. */
static int equal_rows(const vectors *v, int64_t first, int64_t rows) {
  for (int64_t c = 0; c < v->nrhs; c++)
    if (memcmp(v->x + c * v->n + first, v->expected + c * v->n + first,
               (size_t)rows * sizeof *v->x) != 0)
      return 0;
  return 1;
}

/* ---- Against one domain ---- */

enum { CHECKS = 3, MOST_NRHS = 5 };

/* x and norms of a case on the ranks, with the matrix given in either way. */
static int same_bits(const blocks *A, const trs_relax_options *given, trs_sweep_options o,
                     int64_t nrhs, int way) {
  trs_relax_options with_variant = *given, *options = &with_variant;
  with_variant.variant = gpu_variant;
  if (STAND_IN) with_variant.store = TRS_STORE_DOUBLE;
  trs_plan *one;
  trs_mpi_plan *R;
  double norms[2][CHECKS * MOST_NRHS] = {{0}};
  vectors v = vectors_make(A->n * A->b, nrhs);
  o.residuals = norms[0];
  must(trs_relax_create_bsr(
           &one, gpu ? gpu : serial,
           BSR(TRS_DOUBLE, A->n, 0, A->b, TRS_ROW_MAJOR, TRS_PTR64, A->ptr, A->idx, A->val),
           options),
       "one domain");
  must(trs_relax_sweep(one, v.expected, v.n, v.b, v.n, nrhs, TRS_COL_MAJOR, &o), "one domain");
  trs_plan_destroy(one);
  o.residuals = norms[1];
  trs_context *ctx = gpu ? gpu : rank % 2 ? several : serial;
  int good = 1;
  if (way < 0) {
    trs_matrix *M = rank ? NULL : blocks_matrix(A, TRS_DOUBLE, TRS_CSR);
    must(trs_mpi_relax_create(&R, MPI_COMM_WORLD, ctx, M, A->b, options), "dealt");
    must(trs_mpi_relax_update(R, M), "new values");
    must(trs_mpi_relax_sweep(R, rank ? NULL : v.x, v.n, rank ? NULL : v.b, v.n, nrhs, TRS_COL_MAJOR,
                             &o),
         "dealt");
    if (rank == 0) good = equal_rows(&v, 0, v.n);
    trs_matrix_destroy(M);
  } else {
    int64_t first = begin_of(A->n, rank, way), end = begin_of(A->n, rank + 1, way);
    int64_t from = A->ptr[first], area = (int64_t)A->b * A->b, b = A->b;
    int64_t *ptr = malloc((size_t)(end - first + 1) * sizeof *ptr);
    for (int64_t i = first; i <= end; i++) ptr[i - first] = A->ptr[i] - from;
    trs_relax_options own = *options;
    if (own.colour) own.colour += first;
    must(trs_mpi_relax_create_bsr(&R, MPI_COMM_WORLD, ctx,
                                  BSR(TRS_DOUBLE, end - first, 0, A->b, TRS_ROW_MAJOR, TRS_PTR64,
                                      ptr, A->idx + from, A->val + from * area),
                                  &own),
         "brought");
    must(trs_mpi_relax_update_bsr(R, BSR((trs_scalar)0, 0, 0, 0, TRS_ROW_MAJOR, TRS_PTR64, ptr,
                                         A->idx + from, A->val + from * area)),
         "new values");
    must(
        trs_mpi_relax_sweep(R, v.x + first * b, v.n, v.b + first * b, v.n, nrhs, TRS_COL_MAJOR, &o),
        "brought");
    good = equal_rows(&v, first * b, (end - first) * b);
    free(ptr);
  }
  good &= memcmp(norms[0], norms[1], sizeof norms[0]) == 0;
  trs_mpi_plan_destroy(R);
  vectors_free(&v);
  return good;
}

static int case_of(const blocks *A, int store, int variant, int way) {
  trs_relax_options options = blocks_options((trs_store)store, variant);
  trs_sweep_options o = blocks_sweeps(variant);
  o.sweeps = 2 + variant % 2;
  o.keep_x = variant % 5 < 2;
  o.residual_every = 1 + variant % 2;
  return same_bits(A, &options, o, 1 + variant % MOST_NRHS, way);
}

static void every_block_size_and_store(void) {
  for (int store = TRS_STORE_MIXED; store <= TRS_STORE_BFLOAT; store++) {
    char name[64];
    if (STAND_IN && store != TRS_STORE_DOUBLE) continue;
    int good = 1;
    for (int b = 1; b <= 32; b += b < 9 ? 1 : 7) {
      blocks A = blocks_random(b < 9 ? 200 : 60, b, 9, 2, (uint64_t)b);
      for (int way = -1; way < 2; way++) good &= case_of(&A, store, b + store + way + 1, way);
      blocks_free(&A);
    }
    snprintf(name, sizeof name, "the bits of one domain, store %d", store);
    say(name, good);
  }
}

static void few_rows(void) {
  int good = 1;
  for (int64_t n = 0; n < 12; n++)
    for (int way = -1; way < 3; way++) {
      blocks A = blocks_random(n, 3, 3, 2, (uint64_t)n);
      good &= case_of(&A, TRS_STORE_DOUBLE, (int)n + way + 1, way);
      blocks_free(&A);
    }
  say("more ranks than rows, and ranks without", good);
}

/* Colours of a single row: as many messages as rows. */
static void colours_of_the_caller(void) {
  enum { N = 60 };
  int32_t colour[N];
  blocks A = blocks_random(N, 4, 5, 2, 8);
  for (int i = 0; i < N; i++) colour[i] = N - 1 - i;
  trs_relax_options options = {.struct_size = sizeof(trs_relax_options), .colour = colour};
  trs_sweep_options o = {
      .struct_size = sizeof(trs_sweep_options), .sweeps = 3, .direction = TRS_SWEEP_SYMMETRIC};
  int good = 1;
  for (int way = -1; way < 3; way++) good &= same_bits(&A, &options, o, 2, way);
  blocks_free(&A);
  say("the caller's colours", good);
}

/* Empty rows, and one row that all others read. */
static void stars(void) {
  enum { N = 300 };
  int64_t ptr[N + 1];
  int32_t idx[2 * N];
  double val[2 * N];
  int good = 1;
  ptr[0] = 0;
  for (int i = 0; i < N; i++) {
    int64_t at = ptr[i];
    if (i % 3 && i != 7) idx[at] = 7, val[at++] = 0.5 + i;
    idx[at] = i, val[at++] = 3 + i;
    ptr[i + 1] = at;
  }
  blocks A = {N, ptr, 1, idx, val};
  for (int way = -1; way < 3; way++) good &= case_of(&A, TRS_STORE_DOUBLE, 4, way);
  say("a row that all read, and rows that read nothing", good);
}

static void the_wing(void) {
  trs_matrix *A;
  trs_matrix_info m = {.struct_size = sizeof m};
  trs_plan *one;
  trs_mpi_plan *R;
  trs_mpi_relax_info info = {.struct_size = sizeof info};
  double norms[2][4];
  trs_sweep_options o = {.struct_size = sizeof(trs_sweep_options),
                         .sweeps = 15,
                         .residual_every = 5,
                         .residuals = norms[0]};
  must(trs_matrix_read(&A, "gen:wingmesh:3000", NULL), "the wing");
  trs_matrix_get_info(A, &m);
  vectors v = vectors_make(m.nrows, 1);
  must(trs_relax_create(&one, serial, A, 5, NULL), "the wing");
  must(trs_relax_sweep(one, v.expected, v.n, v.b, v.n, 1, TRS_COL_MAJOR, &o), "the wing");
  o.residuals = norms[1];
  must(trs_mpi_relax_create(&R, MPI_COMM_WORLD, several, A, 5, NULL), "the wing");
  int good = 1;
  for (int round = 0; round < 3; round++) {
    must(trs_mpi_relax_sweep(R, v.x, v.n, v.b, v.n, 1, TRS_COL_MAJOR, &o), "the wing");
    good &= rank || equal_rows(&v, 0, v.n);
    good &= memcmp(norms[0], norms[1], sizeof norms[0]) == 0 && norms[1][3] < 0.01 * norms[1][0];
  }
  say("the wing", good);
  trs_relax_info whole = {.struct_size = sizeof whole}, told = whole;
  must(trs_relax_get_info(one, &whole), "info");
  trs_mpi_relax_info least = info, mean = info;
  must(trs_mpi_relax_get_info(R, NULL, &least, TRS_MPI_MIN), "info");
  must(trs_mpi_relax_get_info(R, NULL, &mean, TRS_MPI_MEAN), "info");
  must(trs_mpi_relax_get_info(R, &told, &info, TRS_MPI_MAX), "info");
  say("what is told of the whole",
      told.domains == size && told.nrows == whole.nrows && told.nblocks == whole.nblocks &&
          told.colours == whole.colours && told.smallest_colour == whole.smallest_colour &&
          told.largest_colour == whole.largest_colour && told.longest_row == whole.longest_row &&
          fabs(told.rounding - whole.rounding) < 1e-6 * whole.rounding &&
          info.rows * size >= (double)whole.nrows && least.rows * size <= (double)whole.nrows &&
          fabs(mean.rows * size - (double)whole.nrows) < 0.5 && (size == 1) == (info.bytes == 0) &&
          info.halo_rows < (double)whole.nrows);
  trs_plan_destroy(one);
  trs_mpi_plan_destroy(R);
  trs_matrix_destroy(A);
  vectors_free(&v);
}

/* ---- Errors ---- */

/* The same error on all ranks, with these words. */
static int refused(trs_status status, trs_status expected, const char *words) {
  char mine[512] = "", first[512];
  if (status) snprintf(mine, sizeof mine, "%s", trs_last_error()->message);
  memcpy(first, mine, sizeof first);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
  int good = status == expected && strstr(mine, words) && !strcmp(mine, first);
  if (!good) fprintf(stderr, "rank %d: %d, '%s', not '%s'\n", rank, status, mine, words);
  return good;
}

static trs_status bring(trs_mpi_plan **R, const blocks *A, int block,
                        const trs_relax_options *options, int bad_rank) {
  int64_t first = begin_of(A->n, rank, 0), end = begin_of(A->n, rank + 1, 0), from = A->ptr[first];
  int64_t ptr[64];
  for (int64_t i = first; i <= end; i++) ptr[i - first] = A->ptr[i] - from;
  int64_t area = (int64_t)A->b * A->b;
  return trs_mpi_relax_create_bsr(
      R, MPI_COMM_WORLD, serial,
      BSR(TRS_DOUBLE, rank == bad_rank ? -1 : end - first, 0, block, TRS_ROW_MAJOR, TRS_PTR64, ptr,
          A->idx + from, A->val + from * area),
      options);
}

/* The values of the same rows again. */
static trs_status bring_again(trs_mpi_plan *R, const blocks *A, int block) {
  int64_t first = begin_of(A->n, rank, 0), end = begin_of(A->n, rank + 1, 0), from = A->ptr[first];
  int64_t ptr[64];
  for (int64_t i = first; i <= end; i++) ptr[i - first] = A->ptr[i] - from;
  return trs_mpi_relax_update_bsr(
      R, BSR(TRS_DOUBLE, end - first, 0, block, TRS_ROW_MAJOR, TRS_PTR64, ptr, A->idx + from,
             A->val + from * A->b * A->b));
}

enum { N = 48 }; /* rows of the error tests, in blocks of 2; the last rank makes the errors */

static void bad_values(void) {
  char words[64];
  blocks A = blocks_random(N, 2, 4, 2, 3);
  trs_mpi_plan *R;
  int good = 1;
  for (int what = 0; what < 3; what++) { /* in the last row: NaN, a singular block, no diagonal */
    int64_t p = A.ptr[N - 1];
    while (A.idx[p] != N - 1) p++;
    double kept[4];
    memcpy(kept, A.val + 4 * p, sizeof kept);
    if (what == 0) A.val[4 * p] = NAN;
    if (what == 1) memset(A.val + 4 * p, 0, sizeof kept);
    if (what == 2) A.idx[p] = A.idx[p == A.ptr[N - 1] ? p + 1 : p - 1];
    static const char *const says[] = {"block row 47 (0-based) has a value that is NaN",
                                       "block row 47 (0-based) is singular",
                                       "block row 47 (0-based) has no diagonal"};
    static const trs_status statuses[] = {TRS_ERROR_NOT_FINITE, TRS_ERROR_ZERO_PIVOT,
                                          TRS_ERROR_STRUCTURE};
    if (what < 2 || A.ptr[N] - A.ptr[N - 1] > 1) {
      good &= refused(bring(&R, &A, 2, NULL, -1), statuses[what], says[what]) && !R;
      snprintf(words, sizeof words, size > 1 ? "rank %d: " : "%.0d", size - 1);
      good &= strstr(trs_last_error()->message, words) != NULL;
    }
    memcpy(A.val + 4 * p, kept, sizeof kept);
    A.idx[p] = N - 1;
  }
  say("bad values are named with their rank and row", good);
  blocks_free(&A);
}

/* x stored in floats is judged beside the b and x of all ranks, and every rank gets the error. */
static void x_outside_floats(void) {
  static const double units[][2] = {{1e-60, 1e-60}, {1, 1e60}, {1, 1e-60}}; /* first, last rank */
  static const char *const says[] = {"is below their range", "is beyond their range", NULL};
  const int64_t ptr[] = {0, 1};
  const int32_t idx[] = {rank};
  const double one[] = {1};
  trs_mpi_plan *R;
  int good = 1;
  must(trs_mpi_relax_create_bsr(&R, MPI_COMM_WORLD, serial,
                                BSR(TRS_DOUBLE, 1, 0, 1, TRS_ROW_MAJOR, TRS_PTR64, ptr, idx, one),
                                NULL),
       "a row per rank");
  for (int k = 0; k < 3 && size > 1; k++) {
    double x, b = units[k][rank == size - 1];
    const trs_status status = trs_mpi_relax_sweep(R, &x, 1, &b, 1, 1, TRS_COL_MAJOR, NULL);
    good &= says[k] ? refused(status, TRS_ERROR_UNSUPPORTED, says[k]) : status == TRS_SUCCESS;
  }
  trs_mpi_plan_destroy(R);
  say("x outside the range of floats is refused on all ranks", good);
}

static void bad_arguments(void) {
  const int last = size - 1;
  blocks A = blocks_random(N, 2, 4, 2, 3);
  trs_mpi_plan *R;
  trs_relax_options options = {.struct_size = sizeof(trs_relax_options),
                               .store = (trs_store)(rank == last && size > 1 ? 1 : 7)};
  if (size == 1) options.store = (trs_store)7;
  int good = refused(bring(&R, &A, 2, &options, -1), TRS_ERROR_ARGUMENT, "store is 7");
  good &= refused(bring(&R, &A, 2, NULL, last), TRS_ERROR_ARGUMENT, "-1 block rows");
  good &= refused(bring(&R, &A, 0, NULL, -1), TRS_ERROR_ARGUMENT, "block size is 0");
  good &= refused(trs_mpi_relax_create(&R, MPI_COMM_WORLD, serial, NULL, 2, NULL),
                  TRS_ERROR_ARGUMENT, "A is NULL");
  good &= refused(bring(rank == last ? NULL : &R, &A, 2, NULL, -1), TRS_ERROR_ARGUMENT,
                  "the plan is NULL");
  if (size > 1) {
    options.store = rank == last ? TRS_STORE_DOUBLE : TRS_STORE_MIXED;
    good &=
        refused(bring(&R, &A, 2, &options, -1), TRS_ERROR_ARGUMENT, "it must be the same on all");
  }
  say("bad arguments", good);
  blocks_free(&A);
}

static void bad_sweeps(void) {
  const int last = size - 1;
  blocks A = blocks_random(N, 2, 4, 2, 3);
  trs_mpi_plan *R;
  double x[2 * N], b[2 * N] = {0}, norms[4];
  must(bring(&R, &A, 2, NULL, -1), "brought");
  trs_sweep_options o = {.struct_size = sizeof(trs_sweep_options),
                         .residual_every = 1,
                         .residuals = rank == last ? NULL : norms};
  int good = refused(trs_mpi_relax_sweep(R, x, 2 * N, b, 2 * N, 1, TRS_COL_MAJOR, &o),
                     TRS_ERROR_ARGUMENT, "residuals is NULL");
  if (size > 1) {
    o = (trs_sweep_options){.struct_size = sizeof(trs_sweep_options), .sweeps = 1 + (rank == last)};
    good &= refused(trs_mpi_relax_sweep(R, x, 2 * N, b, 2 * N, 1, TRS_COL_MAJOR, &o),
                    TRS_ERROR_ARGUMENT, "it must be the same on all");
  }
  good &= refused(
      trs_mpi_relax_sweep(R, rank == last ? NULL : x, 2 * N, b, 2 * N, 1, TRS_COL_MAJOR, NULL),
      TRS_ERROR_ARGUMENT, "NULL");
  must(trs_mpi_relax_sweep(R, x, 2 * N, b, 2 * N, 1, TRS_COL_MAJOR, NULL), "after errors");
  good &= refused(trs_mpi_relax_update(R, NULL), TRS_ERROR_ARGUMENT, "update_bsr");
  good &= refused(trs_mpi_relax_sweep(R, x, 2 * N, b, 2 * N, 1, TRS_COL_MAJOR, NULL),
                  TRS_ERROR_ARGUMENT, "trs_mpi_relax_update of this plan failed");
  must(bring_again(R, &A, 2), "new values");
  must(trs_mpi_relax_sweep(R, x, 2 * N, b, 2 * N, 1, TRS_COL_MAJOR, NULL), "after errors");
  say("sweeps check their arguments", good);
  const int set = rank == last;
  must(trs_set_cancel_flag(&set), "flag");
  good = refused(trs_mpi_relax_sweep(R, x, 2 * N, b, 2 * N, 1, TRS_COL_MAJOR, NULL),
                 TRS_ERROR_CANCELLED, "cancelled");
  good &= refused(bring_again(R, &A, 2), TRS_ERROR_CANCELLED, "cancelled");
  must(trs_set_cancel_flag(NULL), "flag");
  must(bring_again(R, &A, 2), "new values");
  must(trs_mpi_relax_sweep(R, x, 2 * N, b, 2 * N, 1, TRS_COL_MAJOR, NULL), "after a cancellation");
  say("a rank's flag cancels the call of all", good);
  trs_mpi_plan_destroy(R);
  blocks_free(&A);
}

static void another_type(void) {
  blocks A = blocks_random(N, 2, 4, 2, 3);
  trs_mpi_plan *R;
  trs_matrix *M = rank ? NULL : blocks_matrix(&A, TRS_DOUBLE, TRS_CSR), *F = NULL;
  if (M) must(trs_matrix_convert(&F, M, TRS_CSR, TRS_FLOAT), "in float");
  must(trs_mpi_relax_create(&R, MPI_COMM_WORLD, serial, M, 2, NULL), "dealt");
  double x[2 * N], b[2 * N] = {0};
  int good = refused(trs_mpi_relax_update(R, F), TRS_ERROR_ARGUMENT, "or a type, unlike");
  good &= refused(trs_mpi_relax_sweep(R, x, 2 * N, b, 2 * N, 1, TRS_COL_MAJOR, NULL),
                  TRS_ERROR_ARGUMENT, "or a type, unlike");
  must(trs_mpi_relax_update(R, M), "after an error");
  must(trs_mpi_relax_sweep(R, x, 2 * N, b, 2 * N, 1, TRS_COL_MAJOR, NULL), "after new values");
  say("new values of another type", good);
  trs_mpi_plan_destroy(R);
  trs_matrix_destroy(M);
  trs_matrix_destroy(F);
  blocks_free(&A);
}

static void errors(void) {
  bad_values();
  bad_arguments();
  x_outside_floats();
  bad_sweeps();
  another_type();
}

/* The tests above that apply to a GPU, with each kind of kernel.  "cuda": a GPU per rank, if there
 * are as many; then x goes from GPU to GPU, otherwise by messages. */
static void on_gpus(const char *where) {
  static const char *const variants[] = {"rows", "auto"};
  must(trs_mpi_context_create(&gpu, MPI_COMM_WORLD, where), where);
  for (int k = 0; k < (STAND_IN ? 1 : 2); k++) {
    gpu_variant = variants[k];
    if (rank == 0) printf("on %s, %s:\n", where, gpu_variant);
    every_block_size_and_store();
    few_rows();
    colours_of_the_caller();
    stars();
  }
  trs_context_destroy(gpu);
  gpu = NULL;
  gpu_variant = NULL;
}

/* Launches of this rank that stored x in another rank's memory. */
static int count_pushes(void) {
#ifdef TRS_TEST_STAND_IN
  return stand_in_pushes;
#else
  return 0;
#endif
}

/* A context of the CPU on one rank, of the GPU on the others. */
static void mixed_contexts(void) {
  blocks A = blocks_random(48, 2, 4, 2, 3);
  trs_matrix *M = rank ? NULL : blocks_matrix(&A, TRS_DOUBLE, TRS_CSR);
  trs_context *ctx;
  trs_mpi_plan *R;
  must(trs_mpi_context_create(&ctx, MPI_COMM_WORLD, "cuda"), "cuda");
  trs_status status =
      trs_mpi_relax_create(&R, MPI_COMM_WORLD, rank == size - 1 ? serial : ctx, M, 2, NULL);
  say("the GPU on some ranks only",
      status == TRS_ERROR_ARGUMENT && !R && strstr(trs_last_error()->message, "of a GPU is"));
  trs_context_destroy(ctx);
  trs_matrix_destroy(M);
  blocks_free(&A);
}

/* Memory runs out on one rank, at every allocation: an error on all ranks, and no memory stays
 * allocated. */
static int all_or_none(int failing, int64_t n, bool dealt, int *done) {
  blocks A = blocks_random(48, 2, 4, 2, 3);
  trs_matrix *M = dealt && rank == 0 ? blocks_matrix(&A, TRS_DOUBLE, TRS_CSR) : NULL;
  trs_mpi_plan *R;
  double x[96], b[96] = {0};
  int64_t before, after, peak;
  trs_memory_usage(&before, &peak);
  if (rank == failing) trs_memory_fail_after(n);
  trs_status status = dealt ? trs_mpi_relax_create(&R, MPI_COMM_WORLD, serial, M, 2, NULL)
                            : bring(&R, &A, 2, NULL, -1);
  if (!status) status = trs_mpi_relax_sweep(R, x, 96, b, 96, 1, TRS_COL_MAJOR, NULL);
  trs_memory_fail_after(-1);
  trs_mpi_plan_destroy(R);
  trs_memory_usage(&after, &peak);
  int least, most, mine = (int)status;
  MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  trs_matrix_destroy(M);
  blocks_free(&A);
  *done = most == TRS_SUCCESS;
  return least == most && (most == TRS_SUCCESS || most == TRS_ERROR_MEMORY) && before == after;
}

static void memory_runs_out(void) {
  int good = 1;
  for (int dealt = 0; dealt < 2; dealt++)
    for (int failing = 0; failing<size; failing += size> 1 ? size - 1 : 1) {
      int done = 0;
      for (int64_t n = 0; !done && n < 1000; n++)
        good &= all_or_none(failing, n, dealt != 0, &done);
      good &= done;
    }
  say("memory that runs out on one rank", good);
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  must(trs_context_create(&serial, "serial"), "serial");
  must(trs_context_create(&several, "threads:2"), "threads:2");
  every_block_size_and_store();
  few_rows();
  colours_of_the_caller();
  stars();
  the_wing();
  errors();
  memory_runs_out();
  if (STAND_IN || *trs_device_list()) {
    on_gpus("cuda:0");
    say("ranks that share a GPU send messages", count_pushes() == 0);
    on_gpus("cuda");
    if (STAND_IN) say("ranks with a GPU each store x there", size == 1 || count_pushes() > 0);
    if (size > 1) mixed_contexts();
  } else if (rank == 0) {
    printf("skip relaxation on a GPU: there is none\n");
  }
  trs_context_destroy(serial);
  trs_context_destroy(several);
  MPI_Finalize();
  return failures != 0;
}
