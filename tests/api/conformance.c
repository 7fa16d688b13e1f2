/* conformance.c - every method with every precision, format, uplo, trans, diag, layout and number
 * of right-hand sides, in place and not, checked by backward error.  The bits of x depend on the
 * plan, b, the number of right-hand sides and, of several, their layout: not on where x and b lie.
 * Methods that add in the order of arrival (sums_vary) are exempt.  GPU methods run if there is a
 * GPU, those of several GPUs if there are enough. */
#include <complex.h>

#include "analysis/subtrees.h"
#include "base/config.h"
#include "solve/threads/schedule.h"
#include "support.h"
#include "test.h"

typedef struct backend {
  const char *where, *method;
  bool sums_vary; /* atomic sums: different bits in every solve */
  bool selective; /* may refuse a system: a skip, with its reason */
} backend;

typedef struct variant {
  const backend *on;
  trs_scalar scalar;
  trs_format format;
  trs_uplo uplo;
  trs_trans trans;
  trs_diag diag;
} variant;

/* GPU backends are last.  Methods that have no row run in the plainest context of their backend,
 * may refuse a system, and sum in a fixed order. */
static const backend backends[] = {{"serial", "serial", false, false},
                                   {"serial", "panels", false, true},
                                   {"serial", "blocks:size=1", false, true},
                                   {"threads:2", "threads", false, false},
                                   {"threads:3", "threads", false, false},
                                   {"threads:7", "threads", false, false},
                                   {"threads:3", "columns", false, false},
                                   {"threads:3", "subtrees", false, true},
                                   {"threads:7", "subtrees", false, true},
                                   {"threads:2", "levelset-cpu", false, false},
                                   {"auto", NULL, false, false},
                                   {"opencl", "syncfree-csc", true, true},
                                   {"opencl", "syncfree-csc-rhs", true, true},
                                   {TRS_GPU_BACKEND, NULL, false, false},
                                   {TRS_GPU_BACKEND, "engine", false, false},
                                   {TRS_GPU_BACKEND, "pull", false, false},
                                   {TRS_GPU_BACKEND, "blocks:size=1", false, true},
                                   {TRS_GPU_BACKEND, "levelset", false, false},
                                   {TRS_GPU_BACKEND, "syncfree-csc", true, true},
                                   {TRS_GPU_BACKEND, "syncfree-csc-rhs", true, true},
                                   {TRS_GPU_BACKEND, "supernodal", true, true},
                                   {"cuda:0,0", NULL, false, false},
                                   {"cuda:0,0", "columns", false, false},
                                   {"cuda:0,0,0", "columns:block=2", false, false},
                                   {"cuda:0-0", "push", false, false},
                                   {"cuda:0,0", "push:partition=bands", false, false},
                                   {"cuda:0,0,0", "push:partition=slabs", false, false},
                                   {"cuda:0,0,0,0", "push", false, false},
                                   {"cuda:0,0,0,0,0,0,0", "push:partition=bands", false, false},
                                   {"cuda:0,0,0,0,0,0,0,0", "push:partition=bands", false, false},
                                   {"cuda:0-1", "columns", false, false},
                                   {"cuda:0-1", "columns:remote=direct", false, false},
                                   {"cuda:0-1", "push", false, false},
                                   {"cuda:0-1", "push:partition=bands", false, false},
                                   {"cuda:0-3", "push:partition=bands", false, false},
                                   {"cuda:0-7", "push:partition=bands", false, false},
                                   {"cuda:0-7", "columns", false, false},
                                   {"cuda:0-0", "zerocopy", true, false},
                                   {"cuda:0,0", "zerocopy-block", true, false},
                                   {"cuda:0,0,0", "zerocopy:tasks=4", true, false},
                                   {"cuda:0,0,0,0,0,0,0,0", "zerocopy", true, false},
                                   {"cuda:0,0", "unified:tasks=3", true, false},
                                   {"cuda:0,0", "get-update-put", true, false},
                                   {"cuda:0,0,0", "get-update-put:tasks=4", true, false},
                                   {"cuda:0-1", "zerocopy", true, false},
                                   {"cuda:0-1", "zerocopy-block", true, false},
                                   {"cuda:0-1", "unified", true, false},
                                   {"cuda:0-1", "get-update-put", true, false},
                                   {"cuda:0-1", "get-update-put:tasks=3", true, false},
                                   {"cuda:0-3", "zerocopy", true, false},
                                   {"cuda:0-6", "zerocopy", true, false},
                                   {"cuda:0-7", "zerocopy", true, false}};

enum { NBACKENDS = COUNT(backends) };

/* Sizes around the part size of the schedule; a dense system, a chain, an empty one. */
static const struct {
  int64_t n, band;
  double density;
} shapes[] = {{0, 1, 1},   {1, 1, 1},      {2, 2, 1},        {33, 33, 1},
              {100, 1, 1}, {257, 20, 0.3}, {600, 600, 0.01}, {1500, 1500, 0.001}};

static const int64_t right_hand_sides[] = {1, 11, 2, 3, 8, 27};

/* True if the shape is solved with the k-th number of right-hand sides.  Methods that take them one
 * by one have fewer: a launch for each, or, with more threads than cores, a turn of the scheduler
 * for each of their barriers.  On a GPU, where a solve takes a millisecond, a shape takes every
 * second number beside 1; with the other diagonal it takes the others. */
static bool takes(const variant *v, size_t shape, size_t k) {
  const backend *on = v->on;
  if (SANITIZED && k >= 2) return false;
  if (on->method && !strcmp(on->method, "syncfree-csc") && k >= 3) return false;
  const bool waits =
      on->method && (!strcmp(on->method, "subtrees") || !strcmp(on->method, "levelset-cpu"));
  if (waits && k != 0 && k != 2) return false;
  return k == 0 || strncmp(on->where, TRS_GPU_BACKEND, 3) != 0 || (shape + k + v->diag) % 2 == 0;
}

enum { PAD = 3 };

/* b has gaps between its columns or rows, x in every second case; both are followed by one more
 * element. */
typedef struct dense {
  void *x, *b;
  int64_t ldx, ldb, length, vectors;
} dense;

static dense make_dense(const variant *v, int64_t n, int64_t nrhs, trs_layout layout) {
  dense d = {.length = layout == TRS_COL_MAJOR ? n : nrhs,
             .vectors = layout == TRS_COL_MAJOR ? nrhs : n};
  d.ldb = d.length + PAD;
  d.ldx = nrhs % 2 ? d.length : d.ldb; /* one right-hand side: rows are adjacent in x alone */
  if (d.ldx == 0) d.ldx = 1;
  d.x = malloc((size_t)(d.ldx * d.vectors + 1) * scalar_bytes(v->scalar));
  d.b = malloc((size_t)(d.ldb * d.vectors + 1) * scalar_bytes(v->scalar));
  trs_random_fill(d.x, d.ldx * d.vectors + 1, v->scalar, 77);
  trs_random_fill(d.b, d.ldb * d.vectors + 1, v->scalar, 78);
  return d;
}

static void judge(const variant *v, const trs_matrix *A, const void *x, int64_t ldx, const dense *d,
                  int64_t nrhs, trs_layout layout) {
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_backward_error error = {.struct_size = sizeof error};
  trs_matrix_get_info(A, &info);
  assert_success(
      trs_check(&error, A, v->uplo, v->trans, v->diag, x, ldx, d->b, d->ldb, nrhs, layout));
  double limit = error_limit(v->scalar, info.nrows);
  if (!(error.componentwise <= limit))
    fail_msg("n %lld nrhs %lld layout %d: error %g, limit %g, row %lld", (long long)info.nrows,
             (long long)nrhs, layout, error.componentwise, limit, (long long)error.worst_row);
  assert_true(error.normwise <= error.componentwise);
}

/* Gaps between the vectors of an array, and the bytes after them, must equal those of the other. */
static void same_gaps(const dense *d, const void *array, int64_t ld, const void *other,
                      size_t size) {
  for (int64_t c = 0; c < d->vectors; c++) {
    const size_t at = (size_t)(c * ld + d->length) * size;
    assert_memory_equal((const char *)array + at, (const char *)other + at,
                        (size_t)(ld - d->length) * size);
  }
  const size_t end = (size_t)(ld * d->vectors) * size;
  assert_memory_equal((const char *)array + end, (const char *)other + end, size);
}

static void *copy_of(const void *array, size_t bytes) {
  return memcpy(malloc(bytes), array, bytes);
}

/* ---- The bits of x, wherever x and b lie. ---- */

/* The gap behind each column or row, the elements between a 64-byte boundary and the first one, and
 * whether the layout is the other one, of a single right-hand side. */
typedef struct place {
  int gap, shift;
  bool turned;
} place;

typedef struct placed {
  char *memory, *first;
  int64_t ld, row, col; /* strides in elements */
  trs_layout layout;
} placed;

static placed put(place p, int64_t n, int64_t nrhs, trs_layout layout, size_t size) {
  placed a = {.layout = p.turned ? !layout : layout};
  const bool columns = a.layout == TRS_COL_MAJOR;
  a.ld = (columns ? n : nrhs) + p.gap;
  a.row = columns ? 1 : a.ld;
  a.col = columns ? a.ld : 1;
  const size_t bytes = (size_t)(a.ld * (columns ? nrhs : n) + p.shift) * size;
  a.memory = aligned_alloc(64, (bytes + 127) / 64 * 64);
  a.first = a.memory + (size_t)p.shift * size;
  return a;
}

static char *element(const placed *a, int64_t i, int64_t r, size_t size) {
  return a->first + (size_t)(i * a->row + r * a->col) * size;
}

/* A solve with x and b in these places gives the bits of the solve that d has. */
static void same_bits(trs_plan *plan, const dense *d, int64_t n, int64_t nrhs, trs_layout layout,
                      size_t size, place at_x, place at_b, bool in_place) {
  const bool columns = layout == TRS_COL_MAJOR;
  placed x = put(at_x, n, nrhs, layout, size), b = put(at_b, n, nrhs, layout, size);
  for (int64_t i = 0; i < n; i++)
    for (int64_t r = 0; r < nrhs; r++) {
      const int64_t from = columns ? i + r * d->ldb : i * d->ldb + r;
      memcpy(element(in_place ? &x : &b, i, r, size), (char *)d->b + (size_t)from * size, size);
    }
  const placed *given = in_place ? &x : &b;
  assert_success(trs_solve(plan, x.first, x.ld, given->first, given->ld, nrhs, x.layout));
  for (int64_t i = 0; i < n; i++)
    for (int64_t r = 0; r < nrhs; r++) {
      const int64_t from = columns ? i + r * d->ldx : i * d->ldx + r;
      if (memcmp(element(&x, i, r, size), (char *)d->x + (size_t)from * size, size))
        fail_msg(
            "n %lld nrhs %lld layout %d: x[%lld] of column %lld has other bits with gaps %d "
            "and %d, shifts %d and %d, %s, %s",
            (long long)n, (long long)nrhs, layout, (long long)i, (long long)r, at_x.gap, at_b.gap,
            at_x.shift, at_b.shift, in_place ? "in place" : "apart",
            at_x.turned ? "the other layout" : "the same layout");
    }
  free(x.memory);
  free(b.memory);
}

static void same_bits_everywhere(trs_plan *plan, const dense *d, int64_t n, int64_t nrhs,
                                 trs_layout layout, size_t size) {
  static const struct {
    place x, b;
    bool in_place;
  } ways[] = {{{0, 0, false}, {0, 0, false}, false}, {{5, 1, false}, {0, 3, false}, false},
              {{0, 3, false}, {5, 1, false}, false}, {{1, 1, false}, {1, 1, false}, true},
              {{0, 0, true}, {0, 0, true}, false},   {{4, 1, true}, {7, 0, true}, false},
              {{3, 1, true}, {3, 1, true}, true}};
  const bool few = nrhs > 1; /* one apart, one in place */
  for (size_t k = few ? 1 : 0; k < (few ? 4 : COUNT(ways)); k += few ? 2 : 1)
    same_bits(plan, d, n, nrhs, layout, size, ways[k].x, ways[k].b, ways[k].in_place);
}

/* In-place solves must give the same bits, and only elements of the solution may be written. */
static void solve_and_check(const variant *v, trs_plan *plan, const trs_matrix *A, int64_t nrhs,
                            trs_layout layout) {
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_matrix_get_info(A, &info);
  const size_t size = scalar_bytes(v->scalar);
  dense d = make_dense(v, info.nrows, nrhs, layout);
  void *before = copy_of(d.x, (size_t)(d.ldx * d.vectors + 1) * size);
  void *again = copy_of(d.b, (size_t)(d.ldb * d.vectors + 1) * size);
  assert_success(trs_solve(plan, d.x, d.ldx, d.b, d.ldb, nrhs, layout));
  judge(v, A, d.x, d.ldx, &d, nrhs, layout);
  if (d.length > 0) same_gaps(&d, d.x, d.ldx, before, size);

  assert_success(trs_solve(plan, again, d.ldb, again, d.ldb, nrhs, layout));
  if (v->on->sums_vary) judge(v, A, again, d.ldb, &d, nrhs, layout);
  same_gaps(&d, again, d.ldb, d.b, size);
  for (int64_t c = 0; c < d.vectors && !v->on->sums_vary; c++)
    assert_memory_equal((char *)d.x + (size_t)(c * d.ldx) * size,
                        (char *)again + (size_t)(c * d.ldb) * size, (size_t)d.length * size);
  if (!v->on->sums_vary && info.nrows)
    same_bits_everywhere(plan, &d, info.nrows, nrhs, layout, size);
  free(before);
  free(again);
  free(d.x);
  free(d.b);
}

/* new values through borrowed arrays */
static void change_values(const variant *v, const triangle *t) {
  bool wide = v->scalar == TRS_DOUBLE || v->scalar == TRS_DCOMPLEX;
  int parts = v->scalar >= TRS_SCOMPLEX ? 2 : 1;
  for (int64_t p = 0; p < t->ptr[t->n]; p++)
    for (int64_t at = parts * p; at < parts * (p + 1); at++)
      if (wide)
        ((double *)t->val)[at] *= 1 + 1.0 / (double)(p + 2);
      else
        ((float *)t->val)[at] *= 1 + 1.0f / (float)(p + 2);
}

/* False if a selective method refuses the system. */
static bool run_shape(const variant *v, trs_context *ctx, size_t shape) {
  bool prefix = (v->uplo == TRS_LOWER) == (v->format == TRS_CSR);
  bool bare = v->diag == TRS_UNIT && shape % 2; /* a unit diagonal is stored or absent */
  triangle t = triangle_random(shapes[shape].n, shapes[shape].density, shapes[shape].band, prefix,
                               v->scalar, bare, 5 + shape);
  trs_matrix *A;
  trs_plan *plan;
  trs_options options = {.struct_size = sizeof(trs_options),
                         .method = v->on->method,
                         .nrhs = shape % 3 ? 0 : 27}; /* a hint: every number works */
  assert_success(trs_matrix_create(&A, v->format, v->scalar, t.n, t.n, TRS_PTR64, t.ptr, t.idx,
                                   t.val, TRS_BORROW));
  trs_status status = trs_analyze(&plan, ctx, A, v->uplo, v->trans, v->diag, &options);
  bool taken = !(v->on->selective && status == TRS_ERROR_UNSUPPORTED);
  if (taken) {
    assert_success(status);
    for (size_t k = 0; k < COUNT(right_hand_sides); k++) {
      if (!takes(v, shape, k)) continue;
      for (trs_layout layout = TRS_COL_MAJOR; layout <= TRS_ROW_MAJOR; layout++)
        solve_and_check(v, plan, A, right_hand_sides[k], layout);
    }
    change_values(v, &t);
    assert_success(trs_update(plan, A));
    solve_and_check(v, plan, A, 1, TRS_COL_MAJOR);
  }
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
  triangle_free(&t);
  return taken;
}

static void conforms(void **state) {
  const variant *v = *state;
  trs_context *ctx;
  int refused = 0;
  assert_success(trs_context_create(&ctx, v->on->where));
  for (size_t shape = 0; shape < COUNT(shapes); shape++) refused += !run_shape(v, ctx, shape);
  trs_context_destroy(ctx);
  if (refused == 0) return;
  skip_test(trs_last_error()->message);
}

/* One skip for all cases of a context that cannot be created. */
static void without(void **state) {
  trs_context *ctx;
  if (trs_context_create(&ctx, *state)) {
    skip_test(trs_last_error()->message);
  }
  trs_context_destroy(ctx);
}

/* ---- The methods of this build. ---- */

static const struct {
  const char *backend, *plainest;
} places[] = {{"serial", "serial"},
              {"threads", "threads:3"},
              {TRS_GPU_BACKEND, TRS_GPU_BACKEND},
              {"cuda-group", "cuda:0,0,0"},
              {"opencl", "opencl"}};

static method_list built;
static backend others[MOST_METHODS];

/* A method's name may have parameters behind it. */
static bool is_named(const char *method, const char *name) {
  return method && strlen(name) == strcspn(method, ":") && !strncmp(method, name, strlen(name));
}

static bool is_built(const char *method) {
  int m = 0;
  while (m < built.count && !is_named(method, built.name[m])) m++;
  return !method || m < built.count;
}

static bool is_in(const char *where, const char *name) {
  if (strpbrk(where, ",-")) return !strcmp(name, "cuda-group");
  return is_named(where, name);
}

static bool has_row(const char *name, const char *of) {
  for (int k = 0; k < NBACKENDS; k++)
    if (is_named(backends[k].method, name) && is_in(backends[k].where, of)) return true;
  return false;
}

static bool is_there(const char *where) {
  trs_context *ctx;
  bool there = trs_context_create(&ctx, where) == TRS_SUCCESS;
  trs_context_destroy(ctx);
  return there;
}

enum { VARIANTS = 4 * 2 * 2 * 3 * 2, NCASES = (NBACKENDS + MOST_METHODS) * VARIANTS };

static variant variants[NCASES];
static char names[NCASES][96];

/* Solves with several GPUs, or with more threads than most machines have cores, take longer: one
 * real and one complex type suffice. */
static int add_variants(const backend *on, int count) {
  bool several = strpbrk(on->where, ",-") || strcmp(on->where, "threads:7") == 0;
  int c = count;
  for (int number = 0; number < VARIANTS; number++) {
    int k = number;
    variant *v = &variants[c];
    v->on = on;
    v->diag = (trs_diag)(k % 2), k /= 2;
    v->trans = (trs_trans)(k % 3), k /= 3;
    v->uplo = k % 2 ? TRS_UPPER : TRS_LOWER, k /= 2;
    v->format = (trs_format)(k % 2), k /= 2;
    v->scalar = (trs_scalar)(TRS_FLOAT + k % 4);
    if (several && v->scalar != TRS_DOUBLE && v->scalar != TRS_SCOMPLEX) continue;
    snprintf(names[c], sizeof names[c], "%s %s %c %s %s %c %s", v->on->where,
             v->on->method ? v->on->method : "auto", "?sdcz"[v->scalar],
             v -> format ? "csc" : "csr", v->uplo == TRS_LOWER ? "lower" : "upper", "ntc"[v->trans],
             v -> diag ? "unit" : "nonunit");
    add_test(__LINE__, names[c++], conforms, v);
  }
  return c;
}

static void add_others(int count) {
  for (int m = 0; m < built.count; m++)
    for (size_t p = 0; p < COUNT(places); p++) {
      const char *name = built.name[m], *where = places[p].plainest;
      if (strcmp(built.backend[m], places[p].backend) || has_row(name, places[p].backend)) continue;
      others[m] = (backend){.where = where, .method = name, .selective = true};
      if (is_there(where)) count = add_variants(&others[m], count);
    }
}

static void add_cases(void) {
  int count = 0;
  built = methods_of("serial threads cuda cuda-group opencl");
  for (int k = 0; k < NBACKENDS; k++) {
    const char *where = backends[k].where;
    bool known = k > 0 && strcmp(where, backends[k - 1].where) == 0;
    if (!is_built(backends[k].method)) continue; /* of papers/, or of another backend */
    if (is_there(where))
      count = add_variants(&backends[k], count);
    else if (!known) /* once per context */
      add_test(__LINE__, where, without, where);
  }
  add_others(count);
}

static int begin(void **state) {
  trs_schedule_part_work = 40;
  trs_schedule_alone = 0;
  trs_subtrees_waits = 0;
  return 0;
}

const test_program program = {.begin = begin, .add_cases = add_cases};
