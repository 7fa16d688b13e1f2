/* analysis.c - slices built on the GPU equal those built on the host, element for element;
 * features of a sample of rows; blocks are cut where inverses lose digits; memory is given back. */
#include "solve/cuda/engine/analysis.h"

#include <math.h>

#include "analysis/shapes.h"
#include "analysis/slice.h"
#include "base/memory.h"
#include "gpu.h"
#include "matrix/values.h"
#include "solve/cuda/engine/choice.h"
#include "test.h"

static trs_gpu_found *found; /* by the GPU in values, in pinned memory */

/* A system on both sides, and its slices from both. */
typedef struct both {
  trs_system S;
  trs_system p;
  const uint8_t *block_starts;
  trs_slice_rules rules;
  bool store_float;
  const char *name;
  trs_slices here, there;
  trs_slices_map map;
  trs_slice_level *level;
} both;

static size_t value_bytes(const both *b) {
  size_t size = scalar_bytes(b->S.scalar);
  return b->store_float && trs_scalar_is_double(b->S.scalar) ? size / 2 : size;
}

static void differ(const both *b, const char *what, int64_t k) {
  fail_msg("%s, n %lld, lower %d, unit %d, type %d, block %d, dense %d: %s %lld", b->name,
           (long long)b->S.n, b->S.lower, b->S.unit, b->S.scalar, b->rules.most_block,
           b->rules.dense, what, (long long)k);
}

/* A copy of a device array on the host. */
static void *brought(const void *from, size_t bytes) {
  void *to = malloc(bytes + 1);
  if (bytes) gpu_fetch(to, from, bytes);
  return to;
}

static void same_bytes(const both *b, const char *what, const void *here, const void *there,
                       int64_t count, size_t size) {
  char *got = brought(there, (size_t)count * size);
  for (int64_t k = 0; k < count; k++)
    if (memcmp((const char *)here + k * size, got + k * size, size)) differ(b, what, k);
  free(got);
}

static void same_numbers(const both *b) {
  const trs_slices *h = &b->here, *t = &b->there;
  const int64_t numbers[][2] = {{h->n, t->n},
                                {h->nblocks, t->nblocks},
                                {h->nslices, t->nslices},
                                {h->nlevels, t->nlevels},
                                {h->nchunks, t->nchunks},
                                {h->nparts, t->nparts},
                                {h->longest, t->longest},
                                {h->entries, t->entries},
                                {h->inverses, t->inverses}};
  for (size_t k = 0; k < COUNT(numbers); k++)
    if (numbers[k][0] != numbers[k][1]) differ(b, "number", (int64_t)k);
  assert_null(t->level);
}

static bool same_slice(const trs_slice *a, const trs_slice *b) {
  return a->entries == b->entries && a->inverse == b->inverse && a->first == b->first &&
         a->width == b->width && a->early_poll == b->early_poll && a->part == b->part &&
         a->parts == b->parts && a->level == b->level && a->rows == b->rows &&
         a->log_lanes == b->log_lanes && a->block == b->block && a->heavy == b->heavy;
}

static void same_pattern(const both *b) {
  const trs_slices *h = &b->here, *t = &b->there;
  same_numbers(b);
  trs_slice *slice = brought(t->slice, (size_t)t->nslices * sizeof *slice);
  for (int32_t k = 0; k < h->nslices; k++)
    if (!same_slice(&h->slice[k], &slice[k])) differ(b, "slice", k);
  free(slice);
  for (int32_t k = 0; k <= h->nlevels; k++)
    if (memcmp(&h->level[k], &b->level[k], sizeof *h->level)) differ(b, "level", k);
  same_bytes(b, "chunk", h->chunk, t->chunk, h->nchunks + 1, sizeof *h->chunk);
  same_bytes(b, "row", h->row, t->row, h->n, sizeof *h->row);
  same_bytes(b, "idx", h->idx, t->idx, h->entries, sizeof *h->idx);
}

static void same_entries(const both *b) {
  trs_scalar stored = b->S.scalar;
  if (b->store_float) stored = trs_scalar_is_complex(stored) ? TRS_SCOMPLEX : TRS_FLOAT;
  void *expected = malloc((size_t)b->here.entries * value_bytes(b) + 1);
  trs_values_convert(expected, stored, b->here.val, b->S.scalar, b->here.entries);
  same_bytes(b, "value", expected, b->there.val, b->here.entries, value_bytes(b));
  free(expected);
}

static bool none(const void *value, size_t size) {
  for (size_t k = 0; k < size; k++)
    if (((const unsigned char *)value)[k] != 0xff) return false;
  return true;
}

/* Compilers fuse products and sums in different places: a few roundings per row of a block. */
static void same_inverses(const both *b) {
  size_t size = scalar_bytes(b->S.scalar);
  double limit = error_limit(b->S.scalar, 4 * TRS_MOST_BLOCK);
  char *got = brought(b->there.inverse, (size_t)b->here.inverses * size);
  for (int64_t k = 0; k < b->here.inverses; k++) {
    const char *expected = (const char *)b->here.inverse + k * size;
    if (none(expected, size) != none(got + k * size, size)) differ(b, "whether inverse", k);
    if (none(expected, size)) continue;
    double complex x = trs_value_get(b->here.inverse, k, b->S.scalar);
    double complex y = trs_value_get(got, k, b->S.scalar);
    if (!(cabs(x - y) <= limit * (1 + cabs(x)))) differ(b, "inverse", k);
  }
  free(got);
}

static void same_values(const both *b) {
  same_entries(b);
  same_inverses(b);
}

/* All steps; after a failure nothing is allocated. */
static trs_status cut_and_build(both *b) {
  trs_gpu_cut *cut;
  b->level = NULL;
  *found = (trs_gpu_found){0};
  trs_status status =
      trs_gpu_cut_begin(&cut, gpu, &b->p, b->block_starts, &b->rules, NULL, 0, NULL);
  if (!status) status = trs_gpu_cut_finish(cut, &b->there, &b->level);
  if (!status) status = trs_gpu_cut_build(cut, &b->there, &b->map, b->store_float, NULL, found);
  trs_gpu_cut_free(cut);
  if (!status) return TRS_SUCCESS;
  trs_free(b->level);
  b->level = NULL;
  return status;
}

static void drop_built(both *b) {
  trs_gpu_slices_free(&b->there, &b->map, gpu, NULL);
  trs_free(b->level);
}

static void same_level_slices(const both *b) {
  int32_t *first = brought(b->map.level_slice, ((size_t)b->here.nlevels + 1) * sizeof *first);
  for (int32_t l = 0; l <= b->here.nlevels; l++)
    if (first[l] != b->here.level[l].slice) differ(b, "first slice of level", l);
  free(first);
}

static void compare(const char *name, const trs_system *S, const trs_system *p,
                    const trs_slice_rules *rules, bool store_float) {
  both b = {.S = *S, .p = *p, .rules = *rules, .store_float = store_float, .name = name};
  int64_t before = gpu_held(), refused;
  assert_success(shape_slices_cut(&b.here, S, rules, NULL, NULL, &refused));
  assert_success(cut_and_build(&b));
  same_pattern(&b);
  assert_int_equal(found->refused, refused > 0);
  same_level_slices(&b);
  same_values(&b);
  assert_true(gpu_held() - before >=
              trs_gpu_slices_bytes(&b.there, &b.map, S->scalar, store_float));
  drop_built(&b);
  trs_slices_destroy(&b.here);
  assert_int_equal(gpu_held(), before);
}

/* ---- Tests. ---- */

static void compare_rules(shape kind, const trs_system *S, int number) {
  trs_system p = gpu_upload_system(S);
  for (size_t r = 0; r < SHAPE_RULES; r++)
    if (S->n < 300 || (r + (size_t)number) % 4 == 0)
      compare(shape_name(kind), S, &p, &shape_rules[r], r % 2);
  gpu_free_system(&p);
}

TEST(slices_are_those_of_the_host) {
  static const int64_t sizes[] = {0, 1, 2, 31, 33, 257, 511, 513, 3000};
  shapes_of_sizes(sizes, COUNT(sizes), compare_rules);
}

/* Many blocks of threads, most of which run at once; systems above and below the size for one
 * wait; the same twice. */
TEST(large_systems_too) {
  static const char *const names[] = {
      "gen:poisson2d5:400",  "gen:poisson2d5:600",        "gen:poisson3d7:60",
      "gen:poisson3d7:80",   "gen:elasticity3d:20,20,20", "gen:powerlaw:60000",
      "gen:powerlaw:300000", "gen:random:100000,4",       "gen:random:400000,4"};
  for (size_t k = 0; k < COUNT(names); k++)
    for (int way = 0; way < 2; way++) {
      trs_matrix *A, *T;
      trs_uplo uplo = way ? TRS_UPPER : TRS_LOWER;
      assert_success(trs_matrix_read(&A, names[k], NULL));
      assert_success(trs_matrix_triangle(&T, A, uplo, 1));
      trs_system S = trs_system_of(T, uplo, TRS_NO_TRANS, TRS_NONUNIT);
      trs_system p = gpu_upload_system(&S);
      for (size_t r = 0; r < SHAPE_RULES; r += 3)
        for (int again = 0; again < 2; again++) compare(names[k], &S, &p, &shape_rules[r], again);
      gpu_free_system(&p);
      trs_matrix_destroy(T);
      trs_matrix_destroy(A);
    }
}

/* Chains with about as many levels as the walk by one block of threads can count, and with more
 * rows than it has room for. */
TEST(as_many_levels_as_rows) {
  static const int64_t sizes[] = {16385, 65533, 65534, 65535, 65536, 70000, 120000};
  for (size_t z = 0; z < COUNT(sizes); z++) {
    trs_system S = shape_system(SHAPE_CHAIN, sizes[z], TRS_FLOAT, z % 2 == 0, true);
    trs_system p = gpu_upload_system(&S);
    for (size_t r = 0; r < SHAPE_RULES; r += 7) compare("chain", &S, &p, &shape_rules[r], false);
    gpu_free_system(&p);
    shape_free(&S);
  }
}

/* Entries and inverses of new values, by a second fill into the same slices. */
TEST(new_values_are_filled_in) {
  trs_system S = shape_system(SHAPE_SUPERNODES, 500, TRS_DOUBLE, true, true);
  both b = {.S = S, .p = gpu_upload_system(&S), .rules = shape_rules[6], .name = "update"};
  assert_success(cut_and_build(&b));
  for (int turn = 0; turn < 2; turn++) {
    gpu_free((void *)b.p.val);
    b.p.val = gpu_upload(S.val, (size_t)S.nnz * sizeof(double));
    assert_success(shape_slices(&b.here, &S, &b.rules));
    const trs_gpu_verdict on_inverses = {.found = found};
    assert_success(trs_gpu_slices_fill(&b.there, &b.map, &b.p, b.store_float, &on_inverses, NULL));
    same_values(&b);
    trs_slices_destroy(&b.here);
    for (int64_t p = 0; p < S.nnz; p++) ((double *)S.val)[p] *= 1.5;
  }
  drop_built(&b);
  gpu_free_system(&b.p);
  shape_free(&S);
}

/* The GPU's verdict on the inverses of b->there: their number, and where their blocks are cut. */
static int32_t mark(const both *b, uint8_t *block_starts) {
  const size_t n = (size_t)b->S.n;
  int32_t count = 0;
  memset(block_starts, 0, n);
  trs_gpu_verdict v = {.found = found,
                       .block_starts = gpu_upload(block_starts, n),
                       .count = gpu_upload(&count, sizeof count)};
  assert_success(trs_gpu_slices_fill(&b->there, &b->map, &b->p, b->store_float, &v, NULL));
  gpu_fetch(block_starts, v.block_starts, n);
  gpu_fetch(&count, v.count, sizeof count);
  gpu_free(v.block_starts);
  gpu_free(v.count);
  return count;
}

/* Both refuse the same inverses; cut there, both build the same slices and refuse none. */
static void compare_cuts(both *b, int *cuts) {
  enum { ROWS = 3000 };
  uint8_t here[ROWS] = {0}, there[ROWS];
  int64_t refused;
  assert_success(shape_slices_cut(&b->here, &b->S, &b->rules, NULL, here, &refused));
  assert_success(cut_and_build(b));
  assert_int_equal(mark(b, there), refused);
  assert_int_equal(found->refused, refused > 0);
  for (int64_t k = 0; k < b->S.n; k++)
    if (here[k] != there[k]) differ(b, "cut at row of the sweep", k);
  drop_built(b);
  trs_slices_destroy(&b->here);
  b->block_starts = gpu_upload(there, (size_t)b->S.n);
  assert_success(shape_slices_cut(&b->here, &b->S, &b->rules, here, NULL, &refused));
  assert_success(cut_and_build(b));
  same_pattern(b);
  same_entries(b);
  assert_int_equal(found->refused, 0);
  *cuts += mark(b, there) == 0;
  drop_built(b);
  trs_slices_destroy(&b->here);
  gpu_free((void *)b->block_starts);
}

TEST(blocks_are_cut_as_on_the_host) {
  static const int64_t sizes[] = {33, 700, 3000};
  int cuts = 0, systems = 0;
  for (shape kind = 0; kind < SHAPES; kind++)
    for (int c = 0; c < 12; c++) {
      trs_system S = shape_system(kind, sizes[c % 3], (trs_scalar)(TRS_FLOAT + c % 4), c % 2, true);
      shape_weaken(&S);
      trs_system p = gpu_upload_system(&S);
      for (size_t r = (size_t)c % 3; r < SHAPE_RULES; r += 3) {
        both b = {.S = S, .p = p, .rules = shape_rules[r], .store_float = r % 2};
        b.name = shape_name(kind);
        compare_cuts(&b, &cuts);
        systems++;
      }
      gpu_free_system(&p);
      shape_free(&S);
    }
  assert_int_equal(cuts, systems);
}

static void need_features(shape kind, int64_t n, bool lower, double length, double chained,
                          double run) {
  const double limit = 0.02;
  trs_system S = shape_system(kind, n, TRS_FLOAT, lower, true);
  trs_system p = gpu_upload_system(&S);
  trs_pattern_features f;
  void *stage;
  assert_success(trs_gpu_begin_features(&stage, gpu, &p, NULL));
  assert_success(trs_gpu_end_features(&f, stage, gpu, n, NULL));
  if (fabs(f.row_length - length) > limit * length || fabs(f.chained - chained) > limit ||
      fabs(f.run - run) > limit * fmax(run, 1))
    fail_msg("%s: %g entries, %g chained, runs of %g", shape_name(kind), f.row_length, f.chained,
             f.run);
  gpu_free_system(&p);
  shape_free(&S);
}

TEST(a_sample_shows_the_pattern) {
  need_features(SHAPE_DIAGONAL, 0, true, 0, 0, 0);
  need_features(SHAPE_DIAGONAL, 33, true, 0, 0, 0);
  need_features(SHAPE_CHAIN, 1000, false, 0.999, 0.999, 0.999);
  need_features(SHAPE_GRID, 37 * 80, true, 36.0 / 37 + 79.0 / 80, 36.0 / 37, 36.0 / 37);
  need_features(SHAPE_DENSE, 321, false, 160, 320.0 / 321, (31 * 16 + 289 * 32) / 321.0);
}

/* Levels of a matrix cut by rules against those of a rival; 0 for an abandoned cut. */
static int32_t levels_against(const char *name, const trs_slice_rules *rules,
                              const trs_slice_rules *rival_rules) {
  trs_matrix *A, *T;
  trs_gpu_cut *rival, *cut;
  trs_slices slices[2];
  trs_slice_level *level[2];
  int64_t before = gpu_held();
  assert_success(trs_matrix_read(&A, name, NULL));
  assert_success(trs_matrix_triangle(&T, A, TRS_LOWER, 1));
  trs_system S = trs_system_of(T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT);
  trs_system p = gpu_upload_system(&S);
  assert_success(trs_gpu_cut_begin(&rival, gpu, &p, NULL, rival_rules, NULL, 0, NULL));
  assert_success(trs_gpu_cut_begin(&cut, gpu, &p, NULL, rules, rival, 0, NULL));
  assert_success(trs_gpu_cut_finish(rival, &slices[0], &level[0]));
  assert_success(trs_gpu_cut_finish(cut, &slices[1], &level[1]));
  assert_non_null(level[0]);
  int32_t levels = level[1] ? slices[1].nlevels : 0;
  for (int k = 0; k < 2; k++) trs_free(level[k]);
  trs_gpu_cut_free(rival);
  trs_gpu_cut_free(cut);
  gpu_free_system(&p);
  trs_matrix_destroy(T);
  trs_matrix_destroy(A);
  assert_int_equal(gpu_held(), before);
  return levels;
}

TEST(more_levels_than_the_rival_are_given_up) {
  static const char *const names[] = {"gen:poisson2d5:100", "gen:poisson2d5:200",
                                      "gen:poisson2d5:600"};
  const trs_slice_rules *plain = &shape_rules[0], *chains = &shape_rules[7];
  for (size_t k = 0; k < COUNT(names); k++) {
    assert_true(levels_against(names[k], chains, plain) > 0);
    assert_true(levels_against(names[k], plain, plain) > 0);
    assert_int_equal(levels_against(names[k], plain, chains), 0);
  }
}

static trs_status build_and_drop(void *argument) {
  both *b = argument;
  TRS_TRY(cut_and_build(b));
  drop_built(b);
  return TRS_SUCCESS;
}

TEST(too_little_memory_is_given_back) {
  trs_system S = shape_system(SHAPE_SUPERNODES, 500, TRS_DOUBLE, true, true);
  both b = {.S = S, .p = gpu_upload_system(&S), .rules = shape_rules[6], .name = "memory"};
  gpu_assert_survives_limits(build_and_drop, &b, 4096);
  gpu_free_system(&b.p);
  shape_free(&S);
}

static int enter(void **state) { return gpu_enter((void **)&found); }
static int leave(void **state) { return gpu_leave(found); }

const test_program program = {.begin = enter, .end = leave, .lacks = gpu_lacks};
