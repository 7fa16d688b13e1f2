/* gpus.c - grids of several ranks with a GPU each: every shape of the ranks there are, against the
 * backward error and the sweeps of the CPU; all types, transposed, one and many right-hand sides;
 * forests, a diagonal and a dense matrix, separators inverted; x of shared ancestors has the same
 * bits on all grids, and solves have the same bits; a word that never comes is an error.  Factors
 * are made here, so that nothing needs a library for them.  Without a GPU on a stand-in, whose
 * kernels are threads; with fewer GPUs than ranks these share them.  Run by mpirun.
 * Usage: gpus [REPEATS]   with REPEATS only so many solves of each number of right-hand sides on
 *                         one grid, which must have the same bits */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/ranks.h"
#include "base/config.h"
#include "base/counter.h"
#include "base/memory.h"
#include "base/timer.h"
#include "comm/ranks_mpi.h"
#include "base/checksum.h"
#include "mpi/columns.h"
#include "mpi/verdict.h"
#include "solve/grid3d/grid3d.h"
#include "trireme_mpi.h"
#ifdef TRS_TEST_STAND_IN
#include "mpi/spread_stand_in.h"
#endif

static bool gpu;

/* ---- Factors ---- */

/* The pattern of L below the diagonal, by columns; U's is its transpose. */
typedef struct pattern {
  int n;
  bool *entry;   /* entry[i + j n] */
  double couple; /* the numbers off the diagonal, if not 0 */
} pattern;

static bool *entry_of(const pattern *P, int i, int j) { return &P->entry[i + (int64_t)j * P->n]; }

static pattern empty(int n) {
  return (pattern){.n = n, .entry = calloc((size_t)n * (size_t)n, sizeof(bool))};
}

/* Numbers grid points x0 <= x < x1, y0 <= y < y1, separators last. */
static void number_points(int *number, int side, int x0, int x1, int y0, int y1, int *next) {
  bool across = x1 - x0 >= y1 - y0;
  int middle = across ? (x0 + x1) / 2 : (y0 + y1) / 2;
  bool small = (x1 - x0) * (y1 - y0) <= 6;
  if (!small && across) {
    number_points(number, side, x0, middle, y0, y1, next);
    number_points(number, side, middle + 1, x1, y0, y1, next);
  } else if (!small) {
    number_points(number, side, x0, x1, y0, middle, next);
    number_points(number, side, x0, x1, middle + 1, y1, next);
  }
  for (int x = x0; x < x1; x++)
    for (int y = y0; y < y1; y++)
      if (small || (across ? x : y) == middle) number[x + y * side] = (*next)++;
}

/* What elimination fills in a grid of nine-point neighbours, dissected. */
static pattern dissected(int side) {
  pattern P = empty(side * side);
  int *number = malloc(sizeof *number * (size_t)P.n), next = 0;
  number_points(number, side, 0, side, 0, side, &next);
  for (int p = 0; p < P.n; p++)
    for (int q = 0; q < P.n; q++)
      if (abs(p % side - q % side) <= 1 && abs(p / side - q / side) <= 1 && number[p] > number[q])
        *entry_of(&P, number[p], number[q]) = true;
  for (int k = 0; k < P.n; k++)
    for (int j = k + 1; j < P.n; j++)
      for (int i = j + 1; i < P.n && *entry_of(&P, j, k); i++)
        if (*entry_of(&P, i, k)) *entry_of(&P, i, j) = true;
  free(number);
  return P;
}

/* STIFF: dense, with inverses that lose digits. */
enum { DIAGONAL, DENSE, FOREST, STIFF };

static pattern special(int n, int kind) {
  pattern P = empty(n);
  P.couple = kind == STIFF ? -0.1 : 0;
  for (int j = 0; j < n; j++)
    for (int i = j + 1; i < n; i++)
      *entry_of(&P, i, j) =
          kind == DENSE || kind == STIFF || (kind == FOREST && i == j + 1 && i / 9 == j / 9);
  return P;
}

static trs_matrix *triangle_of(const pattern *P, trs_scalar scalar, bool upper) {
  entries e = entries_begin(scalar, (int64_t)P->n * P->n);
  for (int c = 0; c < P->n; c++)
    for (int r = c; r < P->n; r++) {
      if (r != c && !*entry_of(P, r, c)) continue;
      double v = P->couple != 0 ? P->couple : (double)((7 * r + 13 * c) % 17 - 8) / (40 + r - c);
      double value = r == c ? (upper ? 1.5 + c % 3 : 1) : v;
      entries_add(&e, upper ? c : r, upper ? r : c, value, r == c ? 0 : v / 3);
    }
  trs_matrix *T = entries_matrix(&e, P->n);
  entries_free(&e);
  return T;
}

static trs_factors *factors_of(pattern P, trs_scalar scalar) {
  trs_factors *F;
  trs_matrix *L = triangle_of(&P, scalar, false), *U = triangle_of(&P, scalar, true);
  must(trs_factors_create(&F, L, TRS_NONUNIT, U, TRS_NONUNIT, NULL, NULL, NULL, NULL), "factors");
  trs_matrix_destroy(L);
  trs_matrix_destroy(U);
  free(P.entry);
  return F;
}

/* ---- Solvers ---- */

typedef struct way {
  trs_grid_shape shape;
  trs_tree_shape trees;
  trs_invert invert;
  bool scattered;
  int width; /* of supernodes; 0: 16 */
  trs_trans trans;
  bool by_columns; /* Algorithm 5 */
} way;

typedef struct solver {
  trs_ranks ranks;
  trs_context *context;
  trs_grid_solver of;
  trs_ranks_gpus gpus;
} solver;

/* The stand-in's, in whose memory methods of the CPU solve. */
static void give_device(trs_context *context) {
  trs_device *device;
  if (gpu) return;
  must(trs_device_open(&device, 0), "device");
  context->device = device;
}

static void open_solver(solver *s, const trs_factors *F, const way *w) {
  trs_grid_input input;
  *s = (solver){.context = NULL};
  must(trs_ranks_open_mpi(&s->ranks, MPI_COMM_WORLD, 0), "ranks");
  must(trs_ranks_open_context(&s->ranks, &s->context, gpu ? "cuda" : "serial"), "context");
  must(trs_ranks_count_gpus(&s->ranks, s->context, &s->gpus), "GPUs");
  give_device(s->context);
  must(trs_input_factors(&input, F), "input");
  if (w->trans) trs_input_transpose(&input, w->trans == TRS_CONJ_TRANS);
  trs_grid_options set = {
      .shape = w->shape,
      .trees = w->trees,
      .supernodes = {.width = w->width ? w->width : 16,
                     .relax = 20,
                     .few = 6,
                     .scattered = w->scattered,
                     .invert = w->invert},
      .nrhs = 50,
      .plans = {.context = s->context, .machine = s->gpus.machine, .by_columns = w->by_columns}};
  must(trs_grid_solver_create(&s->of, &s->ranks, &input, &set), "solver");
  if (input.close) input.close(&input);
}

static void close_solver(solver *s) {
  trs_grid_solver_destroy(&s->of);
  trs_context_destroy(s->context);
  trs_ranks_close(&s->ranks);
}

/* x of this rank's spread supernodes that at least 2^height grids share. */
static uint32_t check_x(const trs_rank_part *p, int height) {
  uint32_t crc = 0;
  for (int64_t s = 0; s < p->nslots; s++)
    if (p->layout->height[p->slot[s]] >= height && trs_has_diagonal(p, p->slot[s]))
      crc = trs_crc32(crc, trs_slot_x(p, s), trs_slot_bytes(p, p->slot[s]));
  return crc;
}

static bool shares_bits(solver *s) {
  const trs_rank_part *p = &s->of.part;
  int places = p->shape.x * p->shape.y;
  bool good = true;
  uint32_t *all = malloc((size_t)size * sizeof *all);
  for (int h = 1; h <= p->layout->levels; h++) {
    uint32_t own = check_x(p, h);
    must(trs_ranks_records(&s->ranks, &own, all, sizeof own), "records");
    for (int r = 0; r < size; r++)
      good &= all[r] == all[(r / places >> h << h) * places + r % places];
  }
  free(all);
  return good;
}

static bool solves(solver *s, const trs_factors *F, const way *w, int64_t nrhs) {
  trs_factors_info info = {.struct_size = sizeof info};
  trs_backward_error error = {.struct_size = sizeof error};
  trs_factors_get_info(F, &info);
  size_t bytes = (size_t)(info.n * nrhs) * trs_scalar_size(info.scalar);
  void *b = malloc(bytes), *x = malloc(bytes), *again = malloc(bytes);
  trs_random_fill(b, info.n * nrhs, info.scalar, 3);
  memset(x, 255, bytes);
  must(solve_columns(&s->of, x, b, info.n, nrhs), "solve");
  bool same = shares_bits(s);
  must(solve_columns(&s->of, again, b, info.n, nrhs), "solve");
  same &= rank || w->by_columns || memcmp(x, again, bytes) == 0;
  if (rank == 0)
    must(trs_check_factors(&error, F, w->trans, x, info.n, b, info.n, nrhs, TRS_COL_MAJOR),
         "check");
  free(b);
  free(x);
  free(again);
  double limit = 2000 * (trs_scalar_is_double(info.scalar) ? DBL_EPSILON : FLT_EPSILON);
  bool good = error.componentwise <= limit;
  if (!good || !same)
    fprintf(stderr,
            "rank %d: %dx%dx%d, columns %d, flat %d, scattered %d, invert %d, trans %d, nrhs %d: "
            "%s, backward error %.3g\n",
            rank, w->shape.x, w->shape.y, w->shape.z, w->by_columns, w->trees, w->scattered,
            w->invert, w->trans, (int)nrhs, same ? "same bits" : "other bits", error.componentwise);
  return good && same;
}

static bool solves_with(const trs_factors *F, const way *w) {
  static const int64_t many[] = {1, 7, 50};
  solver s;
  bool good = true;
  open_solver(&s, F, w);
  for (int k = 0; k < 3; k++) good &= solves(&s, F, w, many[k]);
  good &= solves(&s, F, w, 1); /* in room for more */
  close_solver(&s);
  return good;
}

/* Every shape, with some of the variants each. */
static bool all_shapes(const trs_factors *F, int variants) {
  bool good = true;
  int turn = 0;
  for (int z = 1; z <= size; z *= 2)
    for (int x = 1; x <= size / z; x++) {
      if (size % (x * z) || size == z) continue;
      for (int v = 0; v < variants; v++, turn++) {
        const way w = {.shape = {x, size / x / z, z},
                       .trees = turn % 3 == 2 ? TRS_TREE_FLAT : TRS_TREE_BINARY,
                       .invert = turn % 4 == 1 ? TRS_INVERT_RUNS : TRS_INVERT_BLOCKS,
                       .scattered = turn % 2,
                       .trans = (trs_trans)(turn / 2 % 3)};
        good &= solves_with(F, &w);
      }
    }
  return good;
}

/* L23's Algorithm 5, in builds with the papers: grids of Px x 1, without homes. */
static bool all_columns(const trs_factors *F) {
  bool good = true;
  for (int z = 1; z <= size / 2 && TRS_HAVE_PAPERS; z *= 2) {
    const way w = {.shape = {size / z, 1, z},
                   .trees = z % 2 ? TRS_TREE_BINARY : TRS_TREE_FLAT,
                   .scattered = true,
                   .trans = z == 2 ? TRS_TRANS : TRS_NO_TRANS,
                   .by_columns = true};
    if (size % z == 0) good &= solves_with(F, &w);
  }
  return good;
}

static void test_types(void) {
  bool good = true, columns = true;
  for (int c = 0; c < 4; c++) {
    trs_factors *F = factors_of(dissected(15), (trs_scalar)(TRS_FLOAT + c));
    good &= all_shapes(F, gpu && size > 2 ? 1 : 3);
    columns &= all_columns(F);
    trs_factors_destroy(F);
  }
  say("grids of several GPUs, all types, op(A)", good);
  if (TRS_HAVE_PAPERS) say("Algorithm 5, all types", columns);
}

/* The number of a solve passes 2^32, with words that no solve has told. */
static void test_counter(void) {
  const way w = {.shape = {size, 1, 1}};
  trs_factors *F = factors_of(dissected(12), TRS_DOUBLE);
  solver s;
  bool good = true;
  trs_counters_begin = UINT32_MAX - 5;
  open_solver(&s, F, &w);
  good &= solves(&s, F, &w, 1);
  for (int k = 0; k < 6; k++) good &= solves(&s, F, &w, k % 2 ? 1 : 16);
  close_solver(&s);
  trs_counters_begin = 0;
  trs_factors_destroy(F);
  say("solves across the wrap of their number", good);
}

static void test_special(void) {
  static const char *const name[] = {"a diagonal matrix", "a dense matrix", "a forest"};
  for (int kind = 0; kind < 3; kind++) {
    trs_factors *F = factors_of(special(kind == DENSE ? 70 : 100, kind), TRS_DOUBLE);
    const bool shapes = all_shapes(F, gpu && size > 2 ? 1 : 2);
    say(name[kind], all_columns(F) && shapes);
    trs_factors_destroy(F);
  }
}

/* Triangles that are not inverted, wider than a warp, behind rows of many units. */
static void test_substitution(void) {
  bool good = true;
  for (int c = 0; c < 4; c++) {
    trs_factors *F = factors_of(special(300, STIFF), (trs_scalar)(TRS_FLOAT + c));
    for (int columns = 0; columns < 1 + TRS_HAVE_PAPERS; columns++) {
      const way w = {.shape = {size, 1, 1},
                     .scattered = true,
                     .width = columns ? 77 : 128,
                     .by_columns = columns};
      solver s;
      open_solver(&s, F, &w);
      const trs_rank_part *p = &s.of.part;
      for (int64_t k = 0; k < p->nslots; k++)
        if (trs_has_diagonal(p, p->slot[k])) good &= p->side[0].solved[k] && p->side[1].solved[k];
      for (int64_t nrhs = 1; nrhs < 50; nrhs += gpu ? 8 : 24) good &= solves(&s, F, &w, nrhs);
      close_solver(&s);
    }
    trs_factors_destroy(F);
  }
  say("triangles without inverses", good);
}

/* ---- Failures ---- */

static void test_refused(void) {
  trs_factors *F = factors_of(dissected(12), TRS_DOUBLE);
  solver s = {.context = NULL};
  trs_grid_input input;
  must(trs_ranks_open_mpi(&s.ranks, MPI_COMM_WORLD, 0), "ranks");
  must(trs_ranks_open_context(&s.ranks, &s.context, gpu ? "cuda" : "serial"), "context");
  must(trs_ranks_count_gpus(&s.ranks, s.context, &s.gpus), "GPUs");
  give_device(s.context);
  must(trs_input_factors(&input, F), "input");
  trs_grid_options set = {.shape = {size, 1, 1},
                          .supernodes = {.width = 16},
                          .nrhs = 1,
                          .plans = {.context = s.context, .machine = rank}};
  double b[144] = {1}, x[144];
  must(trs_grid_solver_create(&s.of, &s.ranks, &input, &set), "solver");
  trs_status status = solve_columns(&s.of, x, b, 144, 1);
  say("ranks of a grid on different machines",
      status == TRS_ERROR_UNSUPPORTED &&
          strstr(trs_last_error()->message, "of one grid are on different machines"));
  close_solver(&s);
  trs_factors_destroy(F);
}

#ifdef TRS_TEST_STAND_IN
/* A value or a word that is lost: all ranks get the error, within seconds. */
static void lose_word(bool by_columns) {
  const way w = {.shape = {size, 1, 1}, .scattered = true, .by_columns = by_columns};
  trs_factors *F = factors_of(dissected(15), TRS_DOUBLE);
  solver s;
  double b[225], x[225];
  trs_random_fill(b, 225, TRS_DOUBLE, 3);
  open_solver(&s, F, &w);
  spread_limit = 0.3;
  spread_drops = 3;
  double begin = trs_seconds();
  trs_status status = solve_columns(&s.of, x, b, 225, 1);
  say(by_columns ? "a word that never comes, Algorithm 5" : "a value that never comes",
      status == TRS_ERROR_STALLED && trs_seconds() - begin < 20 &&
          strstr(trs_last_error()->message, "rows of its grid's GPUs"));
  spread_drops = 0;
  spread_limit = 60;
  say("a solve after it", solve_columns(&s.of, x, b, 225, 1) == TRS_ERROR_STALLED);
  close_solver(&s);
  trs_factors_destroy(F);
}

static void test_lost_word(void) {
  lose_word(false);
  if (TRS_HAVE_PAPERS) lose_word(true);
}

/* Every allocation of one rank fails in turn. */
static void test_memory(void) {
  trs_factors *F = factors_of(dissected(8), TRS_DOUBLE);
  double b[64], x[64];
  bool good = true;
  int all = 1;
  trs_random_fill(b, 64, TRS_DOUBLE, 3);
  for (int64_t k = 0; all; k += 1 + k / 16) {
    trs_ranks ranks;
    trs_context *context;
    trs_grid_input input;
    trs_grid_solver s = {.ranks = NULL};
    int64_t before, after;
    must(trs_ranks_open_mpi(&ranks, MPI_COMM_WORLD, 0), "ranks");
    must(trs_context_create(&context, "serial"), "context");
    give_device(context);
    must(trs_input_factors(&input, F), "input");
    trs_grid_options set = {.shape = {size, 1, 1},
                            .supernodes = {.width = 16},
                            .nrhs = 1,
                            .plans = {.context = context}};
    trs_memory_usage(&before, NULL);
    if (rank == size - 1) trs_memory_fail_after(k);
    trs_status status = trs_grid_solver_create(&s, &ranks, &input, &set);
    bool made = !status;
    if (made) status = solve_columns(&s, x, b, 64, 1);
    trs_memory_fail_after(-1);
    if (made) trs_grid_solver_destroy(&s);
    trs_memory_usage(&after, NULL);
    good &= !status || status == TRS_ERROR_MEMORY;
    all = status != TRS_SUCCESS;
    trs_context_destroy(context);
    trs_ranks_close(&ranks);
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  say("memory that runs out on one rank", good);
  trs_factors_destroy(F);
}
#else
static void test_lost_word(void) {}
static void test_memory(void) {}
#endif

static void test_repeats(int repeats) {
  enum { N = 225, NRHS = 9 };
  const way w = {.shape = {size, 1, 1}, .scattered = true};
  static double b[N * NRHS], x[N * NRHS], again[N * NRHS];
  trs_factors *F = factors_of(dissected(15), TRS_DOUBLE);
  trs_backward_error error = {.struct_size = sizeof error};
  int same = 1;
  solver s;
  trs_random_fill(b, N * NRHS, TRS_DOUBLE, 3);
  open_solver(&s, F, &w);
  for (int nrhs = 1; nrhs <= NRHS; nrhs += NRHS - 1) {
    must(solve_columns(&s.of, x, b, N, nrhs), "solve");
    for (int k = 1; k < repeats; k++) {
      must(solve_columns(&s.of, again, b, N, nrhs), "solve");
      same &= rank || memcmp(x, again, sizeof *x * N * (size_t)nrhs) == 0;
    }
    if (rank == 0)
      must(trs_check_factors(&error, F, TRS_NO_TRANS, x, N, b, N, nrhs, TRS_COL_MAJOR), "check");
    same &= error.componentwise < 2000 * DBL_EPSILON;
  }
  say("repeated solves have the same bits", same);
  close_solver(&s);
  trs_factors_destroy(F);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  gpu = *trs_device_list();
#ifndef TRS_TEST_STAND_IN
  if (!gpu) {
    if (rank == 0) printf("skip grids of several GPUs: there is no GPU\n");
    MPI_Finalize();
    return 0;
  }
#endif
  if (argc > 1) {
    test_repeats(atoi(argv[1]));
  } else {
    test_types();
    test_special();
    test_substitution();
    test_counter();
    test_refused();
    test_lost_word();
    test_memory();
  }
  MPI_Finalize();
  return failures != 0;
}
