/* launch_ranges.c - each kernel for runs of levels, by backward error: all types, levels of less
 * than a slice and of many, more levels than a kernel has barriers, and entries that are still in
 * the ring of x or no longer. */
#include <string.h>

#include "gpu.h"
#include "test.h"

static const char *const kernels[] = {"engine:launch-ranges=warp-per-slice",
                                      "engine:launch-ranges=single-block",
                                      "engine:launch-ranges=cluster"};

static uint64_t draw(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

static void put(triangle *t, trs_scalar scalar, int64_t at, double value) {
  float *as_float = t->val;
  double *as_double = t->val;
  const bool is_complex = scalar == TRS_SCOMPLEX || scalar == TRS_DCOMPLEX;
  const bool is_double = scalar == TRS_DOUBLE || scalar == TRS_DCOMPLEX;
  const int64_t parts = is_complex ? 2 : 1;
  for (int64_t p = 0; p < parts; p++) {
    const double part = p == 0 ? value : value / 3;
    if (is_double)
      as_double[at * parts + p] = part;
    else
      as_float[at * parts + p] = (float)part;
  }
}

/* Levels of `width` rows.  A row needs one of the level before, one up to five levels up, and one
 * of any level before. */
static triangle layered(trs_scalar scalar, int64_t levels, int64_t width) {
  enum { MOST = 4 };
  const int64_t n = levels * width;
  triangle t = {.n = n, .ptr = malloc((size_t)(n + 1) * sizeof *t.ptr)};
  t.idx = malloc((size_t)(n * MOST) * sizeof *t.idx);
  t.val = malloc((size_t)(n * MOST) * scalar_bytes(scalar));
  uint64_t state = 5;
  int64_t at = 0;
  for (int64_t i = 0; i < n; i++) {
    const int64_t level = i / width, near = level < 5 ? level : 5;
    int32_t column[3];
    int count = 0;
    t.ptr[i] = at;
    if (level > 0) {
      column[count++] = (int32_t)(draw(&state) % (uint64_t)(level * width));
      column[count++] =
          (int32_t)((level - near) * width + (int64_t)(draw(&state) % (uint64_t)(near * width)));
      column[count++] = (int32_t)((level - 1) * width + (int64_t)(draw(&state) % (uint64_t)width));
    }
    for (int c = 0; c < count; c++) {
      bool again = false;
      for (int d = 0; d < c; d++) again |= column[d] == column[c];
      if (again) continue;
      t.idx[at] = column[c];
      put(&t, scalar, at++, 0.3 - 0.2 * (double)c);
    }
    t.idx[at] = (int32_t)i;
    put(&t, scalar, at++, 1.5);
  }
  t.ptr[n] = at;
  return t;
}

static void solve(const both_sides *s, const char *kernel) {
  const size_t bytes = (size_t)s->t.n * scalar_bytes(s->scalar);
  void *b = malloc(bytes), *x = malloc(bytes);
  trs_options options = {.struct_size = sizeof options, .method = kernel};
  trs_plan *plan;
  trs_random_fill(b, s->t.n, s->scalar, 7);
  assert_success(
      trs_analyze(&plan, gpu_context, s->there, s->uplo, TRS_NO_TRANS, TRS_NONUNIT, &options));
  void *from = gpu_upload(b, bytes), *to = gpu_space(bytes);
  for (int repeat = 0; repeat < 3; repeat++) {
    memset(x, 0, bytes);
    gpu_solve(plan, x, to, from, s->t.n, 1, bytes);
    gpu_judge(s, TRS_NO_TRANS, x, b, 1);
  }
  trs_plan_destroy(plan);
  gpu_free(from);
  gpu_free(to);
  free(b);
  free(x);
}

TEST(every_kernel_solves_all_types) {
  static const struct {
    int64_t levels, width;
  } shapes[] = {{700, 5}, {1100, 40}, {130, 500}, {40, 2000}};
  for (int type = TRS_FLOAT; type <= TRS_DCOMPLEX; type++)
    for (size_t k = 0; k < COUNT(shapes); k++) {
      both_sides s = both_sides_of(layered((trs_scalar)type, shapes[k].levels, shapes[k].width),
                                   TRS_CSR, (trs_scalar)type);
      for (size_t kernel = 0; kernel < COUNT(kernels); kernel++) solve(&s, kernels[kernel]);
      both_sides_free(&s);
    }
}

const test_program program = {.end = gpu_stop, .lacks = gpu_lacks};
