/* matrix_market.c - sparse matrices from and to Matrix Market files. */
#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/random.h"
#include "io/io.h"
#include "io/scratch.h"
#include "matrix/matrix.h"
#include "matrix/values.h"
#include "test.h"

enum { TEAMS = 4, SIZES = 8 };
static const int team_sizes[TEAMS] = {1, 2, 3, 7};
static trs_team *teams[TEAMS];

static int make_teams(void **state) {
  for (int t = 0; t < TEAMS; t++)
    if (trs_team_create(&teams[t], team_sizes[t])) return -1;
  return 0;
}

static int end(void **state) {
  for (int t = 0; t < TEAMS; t++) trs_team_destroy(teams[t]);
  return scratch_remove(state);
}

enum { ENDINGS = 1 + TRS_HAVE_ZLIB + TRS_HAVE_ZSTD };

/* ---- A random file and its dense matrix ---------------------------------------------------- */

static const char *const fields[] = {"real", "integer", "complex", "pattern", "double"};
static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
enum { REAL, INTEGER, COMPLEX, PATTERN, DOUBLE, FIELDS };
enum { GENERAL, SYMMETRIC, SKEW, HERMITIAN, SYMMETRIES };

typedef struct sample {
  int64_t nrows, ncols;
  double complex *dense;
  bool *present;
  char *text;
  size_t length;
} sample;

static void sample_free(sample *s) {
  free(s->dense);
  free(s->present);
  free(s->text);
}

static void add(sample *s, int64_t i, int64_t j, double complex value) {
  s->dense[i * s->ncols + j] += value;
  s->present[i * s->ncols + j] = true;
}

/* Multiples of 1/8 add without rounding, in any order. */
static double eighths(uint64_t seed, uint64_t k) {
  return (double)(int64_t)trs_random_below(seed, k, 20001) / 8 - 1250;
}

static void add_entry(sample *s, int field, int symmetry, uint64_t k) {
  int64_t i = (int64_t)trs_random_below(1, k, (uint64_t)s->nrows);
  int64_t j = (int64_t)trs_random_below(2, k, (uint64_t)s->ncols);
  if (symmetry != GENERAL && i < j) {
    int64_t swap = i;
    i = j;
    j = swap;
  }
  if (symmetry == SKEW && i == j) i = i + 1 < s->nrows ? i + 1 : i, j = i - 1;
  double re = field == INTEGER ? floor(eighths(3, k)) : eighths(3, k);
  double im = field == COMPLEX && !(symmetry == HERMITIAN && i == j) ? eighths(4, k) : 0;
  char *at = s->text + s->length;
  if (k % 5 == 0) at += sprintf(at, "%s", k % 2 ? "\n" : " \t\r\n");
  at += sprintf(at, "%s%lld%s%lld", k % 3 ? "" : " ", (long long)i + 1, k % 2 ? " " : "\t  ",
                (long long)j + 1);
  if (field == INTEGER)
    at += sprintf(at, k % 4 ? " %.0f" : "  %+.0f", re);
  else if (field != PATTERN)
    at += sprintf(at, k % 4 ? " %.10g" : "  %+.3f", re);
  if (field == COMPLEX) at += sprintf(at, " %.9e", im);
  at += sprintf(at, "%s", k % 7 ? "\n" : "\t \r\n");
  s->length = (size_t)(at - s->text);
  double complex value = field == PATTERN ? 1 : CMPLX(re, im);
  add(s, i, j, value);
  if (symmetry == GENERAL || i == j) return;
  add(s, j, i, symmetry == SKEW ? -value : symmetry == HERMITIAN ? conj(value) : value);
}

static sample make_sample(int field, int symmetry, int64_t nrows, int64_t ncols, int64_t count) {
  sample s = {.nrows = nrows, .ncols = symmetry == GENERAL ? ncols : nrows};
  s.dense = calloc((size_t)(s.nrows * s.ncols), sizeof *s.dense);
  s.present = calloc((size_t)(s.nrows * s.ncols), sizeof *s.present);
  s.text = malloc((size_t)(count + 8) * 80);
  s.length = (size_t)sprintf(
      s.text, "%%%%MatrixMarket MATRIX coordinate %s %s\n%% a comment\n\n%%\n %lld %lld  %lld\r\n",
      fields[field], symmetries[symmetry], (long long)s.nrows, (long long)s.ncols,
      (long long)count);
  for (int64_t k = 0; k < count; k++) add_entry(&s, field, symmetry, (uint64_t)k);
  return s;
}

static double complex value_of(const trs_matrix *A, int64_t p) {
  return trs_value_get(A->val, p, A->scalar);
}

static void check_shape(const trs_matrix *A, const sample *s) {
  assert_int_equal(A->format, TRS_CSR);
  assert_int_equal(A->nrows, s->nrows);
  assert_int_equal(A->ncols, s->ncols);
  int64_t nnz = 0;
  for (int64_t k = 0; k < s->nrows * s->ncols; k++) nnz += s->present[k];
  assert_int_equal(A->nnz, nnz);
  for (int64_t i = 0; i < A->nrows; i++)
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
      assert_true(p == A->ptr[i] || A->idx[p] > A->idx[p - 1]);
      assert_true(s->present[i * s->ncols + A->idx[p]]);
    }
}

static void check_values(const trs_matrix *A, const sample *s) {
  for (int64_t i = 0; i < A->nrows; i++)
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
      if (value_of(A, p) != s->dense[i * s->ncols + A->idx[p]])
        fail_msg("entry (%d, %d) is %g, not %g", (int)i, A->idx[p], creal(value_of(A, p)),
                 creal(s->dense[i * s->ncols + A->idx[p]]));
}

/* Off-diagonal values in [-1, 1]; the diagonal is one plus the sum of its row's absolute values. */
static void check_pattern_values(const trs_matrix *A, int symmetry) {
  for (int64_t i = 0; i < A->nrows; i++) {
    double sum = 1, diagonal = 0;
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
      double value = creal(value_of(A, p));
      if (A->idx[p] == i)
        diagonal = value;
      else
        sum += fabs(value);
      assert_true(A->idx[p] == i || fabs(value) <= 1);
    }
    assert_true(diagonal == 0 || fabs(diagonal - sum) <= 1e-12 * sum);
  }
  for (int64_t i = 0; symmetry == SYMMETRIC && i < A->nrows; i++)
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
      for (int64_t q = A->ptr[A->idx[p]]; q < A->ptr[A->idx[p] + 1]; q++)
        if (A->idx[q] == i) assert_true(value_of(A, p) == value_of(A, q));
}

static void assert_same(const trs_matrix *A, const trs_matrix *B) {
  assert_int_equal(A->scalar, B->scalar);
  assert_int_equal(A->nrows, B->nrows);
  assert_int_equal(A->ncols, B->ncols);
  assert_int_equal(A->nnz, B->nnz);
  assert_memory_equal(A->ptr, B->ptr, (size_t)(A->nvectors + 1) * sizeof *A->ptr);
  if (!A->nnz) return;
  assert_memory_equal(A->idx, B->idx, (size_t)A->nnz * sizeof *A->idx);
  assert_memory_equal(A->val, B->val, (size_t)A->nnz * trs_scalar_size(A->scalar));
}

static void check_file(const sample *s, int field, int symmetry, const char *path) {
  trs_matrix *first = NULL;
  for (int t = 0; t < TEAMS; t++) {
    trs_matrix *A;
    assert_success(trs_read_matrix(&A, path, teams[t], NULL));
    assert_int_equal(A->scalar, field == COMPLEX ? TRS_DCOMPLEX : TRS_DOUBLE);
    check_shape(A, s);
    if (field == PATTERN)
      check_pattern_values(A, symmetry);
    else
      check_values(A, s);
    if (first) assert_same(first, A);
    if (first)
      trs_matrix_destroy(A);
    else
      first = A;
  }
  trs_matrix_destroy(first);
}

static bool allowed(int field, int symmetry) {
  if (symmetry == HERMITIAN) return field == COMPLEX;
  return field != PATTERN || symmetry <= SYMMETRIC;
}

TEST(every_kind_symmetry_and_compression) {
  for (int field = 0; field < FIELDS; field++)
    for (int symmetry = 0; symmetry < SYMMETRIES; symmetry++) {
      if (!allowed(field, symmetry)) continue;
      sample s = make_sample(field, symmetry, 211, 307, 9000);
      for (int e = 0; e < ENDINGS; e++)
        check_file(&s, field, symmetry, scratch_packed(scratch_endings[e], s.text, s.length));
      sample_free(&s);
    }
}

/* Rows long enough for heap sort, and many more threads than rows. */
TEST(few_long_rows) {
  sample s = make_sample(REAL, GENERAL, 2, 4000, 12000);
  check_file(&s, REAL, GENERAL, scratch_packed("long.mtx", s.text, s.length));
  sample_free(&s);
}

/* So few entries per row that the members must share their counters. */
TEST(many_short_rows) {
  sample s = make_sample(COMPLEX, GENERAL, 9000, 100, 7000);
  check_file(&s, COMPLEX, GENERAL, scratch_packed("short.mtx", s.text, s.length));
  sample_free(&s);
}

TEST(compression_is_found_by_content) {
  for (int e = 1; e < ENDINGS; e++) {
    sample s = make_sample(REAL, GENERAL, 20, 20, 100);
    const char *packed = scratch_packed(scratch_endings[e], s.text, s.length),
               *plain = scratch("plain.mtx");
    assert_int_equal(rename(packed, plain), 0);
    check_file(&s, REAL, GENERAL, plain);
    sample_free(&s);
  }
}

#if TRS_HAVE_ZLIB
TEST(gzip_members_follow_one_another) {
  sample s = make_sample(REAL, GENERAL, 20, 20, 100);
  size_t first, second, half = s.length / 2;
  char *a = scratch_load(scratch_packed("1.gz", s.text, half), &first);
  char *b = scratch_load(scratch_packed("2.gz", s.text + half, s.length - half), &second);
  char *both = calloc(first + second + 512, 1); /* with the padding of a tape */
  memcpy(both, a, first);
  memcpy(both + first, b, second);
  check_file(&s, REAL, GENERAL, scratch_bytes("both.mtx.gz", both, first + second + 512));
  free(a);
  free(b);
  free(both);
  sample_free(&s);
}
#endif

/* ---- Small files, written out ---------------------------------------------------------------- */

#define HEAD "%%MatrixMarket matrix coordinate real general\n"

TEST(no_newline_at_the_end) {
  trs_matrix *A;
  for (int blanks = 0; blanks < 70; blanks++) { /* at every position where a vector of characters
                                                   may end */
    char text[256] = HEAD;
    sprintf(text + strlen(text), "%*s2 2 2\n1 1 3\n%*s2 2 12345678", blanks + 1, " ", blanks, "");
    assert_success(trs_read_matrix(&A, scratch_text("a.mtx", text), NULL, NULL));
    assert_int_equal(A->nnz, 2);
    assert_true(value_of(A, 1) == 12345678);
    trs_matrix_destroy(A);
  }
}

/* A file that ends at a page boundary. */
TEST(whole_pages) {
  long page = sysconf(_SC_PAGESIZE);
  char *text = malloc((size_t)page + 1);
  int head = sprintf(text, "%s1 1 1\n1 1 ", HEAD);
  memset(text + head, '0', (size_t)(page - head));
  text[page - 1] = '7';
  trs_matrix *A;
  assert_success(
      trs_read_matrix(&A, scratch_bytes("page.mtx", text, (size_t)page), teams[1], NULL));
  assert_true(value_of(A, 0) == 7);
  trs_matrix_destroy(A);
  free(text);
}

TEST(empty_matrices) {
  static const int64_t sizes[][2] = {{0, 0}, {0, 5}, {5, 0}, {3, 2}};
  for (int k = 0; k < 4; k++) {
    char text[128];
    trs_matrix *A;
    sprintf(text, "%s%d %d 0\n", HEAD, (int)sizes[k][0], (int)sizes[k][1]);
    assert_success(trs_read_matrix(&A, scratch_text("a.mtx", text), teams[3], NULL));
    assert_int_equal(A->nrows, sizes[k][0]);
    assert_int_equal(A->ncols, sizes[k][1]);
    assert_int_equal(A->nnz, 0);
    trs_matrix_destroy(A);
  }
}

TEST(array_files_drop_their_zeros) {
  trs_matrix *A;
  static const int32_t columns[] = {0, 1, 0, 1};
  assert_success(trs_read_matrix(&A,
                                 scratch_text("a.mtx",
                                              "%%MatrixMarket matrix array integer general\n2 3\n"
                                              "1\n3\n\n2\n4\n0\n0\n"),
                                 teams[1], NULL));
  assert_int_equal(A->nnz, 4);
  assert_memory_equal(A->idx, columns, sizeof columns);
  for (int p = 0; p < 4; p++) assert_true(value_of(A, p) == p + 1);
  trs_matrix_destroy(A);
  assert_success(trs_read_matrix(
      &A, scratch_text("a.mtx", "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n"),
      NULL, NULL));
  assert_int_equal(A->nnz, 6);
  assert_true(value_of(A, 0) == -1 && value_of(A, 2) == 1 && value_of(A, 5) == 3);
  trs_matrix_destroy(A);
}

TEST(types_are_converted) {
  trs_matrix *A;
  for (int scalar = TRS_FLOAT; scalar <= TRS_DCOMPLEX; scalar++) {
    trs_scalar wanted = (trs_scalar)scalar;
    trs_read_options options = {.struct_size = sizeof(trs_read_options), .scalar = wanted};
    const char *path = scratch_text("a.mtx", HEAD "1 1 1\n1 1 0.1\n");
    assert_success(trs_read_matrix(&A, path, NULL, &options));
    assert_int_equal(A->scalar, wanted);
    assert_true(creal(value_of(A, 0)) == (trs_scalar_is_double(wanted) ? 0.1 : (double)0.1f));
    trs_matrix_destroy(A);
    path = scratch_text("a.mtx",
                        "%%MatrixMarket matrix coordinate complex general\n1 1 1\n"
                        "1 1 0.5 -2\n");
    if (scalar < TRS_SCOMPLEX) {
      assert_failure(TRS_ERROR_ARGUMENT, "complex", trs_read_matrix(&A, path, NULL, &options));
      continue;
    }
    assert_success(trs_read_matrix(&A, path, NULL, &options));
    assert_true(value_of(A, 0) == CMPLX(0.5, -2));
    trs_matrix_destroy(A);
  }
  trs_scalar narrow = TRS_FLOAT;
  trs_read_options options = {.struct_size = sizeof(trs_read_options), .scalar = narrow};
  assert_failure(
      TRS_ERROR_FORMAT, "a.mtx:3: \"1e39\" overflows the range of a float",
      trs_read_matrix(&A, scratch_text("a.mtx", HEAD "1 1 1\n1 1 1e39\n"), NULL, &options));
}

TEST(nonfinite_values_on_request) {
  trs_matrix *A;
  trs_read_options options = {.struct_size = sizeof(trs_read_options), .allow_nonfinite = 1};
  const char *path =
      scratch_text("a.mtx", HEAD "1 4 4\n1 1 nan\n1 2 -Inf\n1 3 +INFINITY\n1 4 1e-999\n");
  assert_failure(TRS_ERROR_FORMAT, "a.mtx:3: \"nan\" is not finite",
                 trs_read_matrix(&A, path, NULL, NULL));
  assert_success(trs_read_matrix(&A, path, NULL, &options));
  const double *val = A->val;
  assert_true(isnan(val[0]) && val[1] == -INFINITY && val[2] == INFINITY && val[3] == 0);
  trs_matrix_destroy(A);
  path = scratch_text("a.mtx", HEAD "1 1 1\n1 1 1e999\n");
  assert_failure(TRS_ERROR_FORMAT, "a.mtx:3: \"1e999\" overflows",
                 trs_read_matrix(&A, path, NULL, &options));
}

TEST(pattern_values_depend_on_the_seed_alone) {
  const char *path = scratch_text(
      "a.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 4\n2 2\n1 2\n1 1\n2 1\n");
  const char *sorted = scratch_text(
      "b.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 4\n1 1\n1 2\n2 1\n2 2\n");
  trs_matrix *A, *B, *C;
  trs_read_options options = {.struct_size = sizeof(trs_read_options), .seed = 5};
  assert_success(trs_read_matrix(&A, path, NULL, NULL));
  assert_success(trs_read_matrix(&B, sorted, NULL, NULL));
  assert_success(trs_read_matrix(&C, path, NULL, &options));
  assert_same(A, B);
  assert_true(value_of(A, 1) != value_of(C, 1));
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
  trs_matrix_destroy(C);
}

typedef struct report {
  double last;
  int calls;
  bool good;
  pthread_t thread;
} report;

static void note(void *user, const char *phase, double done) {
  report *r = user;
  r->good = r->good && *phase && done >= 0 && done <= 1 && pthread_equal(r->thread, pthread_self());
  if (!strcmp(phase, "reading")) {
    r->good = r->good && done >= r->last;
    r->last = done;
  }
  r->calls++;
}

TEST(progress_is_told) {
  for (int e = 0; e < ENDINGS; e++) {
    sample s = make_sample(REAL, GENERAL, 200, 200, 9000);
    report r = {.good = true, .thread = pthread_self()};
    trs_read_options options = {
        .struct_size = sizeof(trs_read_options), .progress = note, .progress_user = &r};
    trs_matrix *A;
    assert_success(trs_read_matrix(&A, scratch_packed(scratch_endings[e], s.text, s.length),
                                   teams[2], &options));
    assert_true(r.good && r.calls > 20 && r.last == 1);
    trs_matrix_destroy(A);
    sample_free(&s);
  }
}

typedef struct pipe_writer {
  const char *path;
  const sample *s;
} pipe_writer;

static void *write_pipe(void *argument) {
  const pipe_writer *w = argument;
  FILE *file = fopen(w->path, "wb");
  fwrite(w->s->text, 1, w->s->length, file);
  fclose(file);
  return NULL;
}

TEST(a_pipe_is_read_too) {
  sample s = make_sample(REAL, GENERAL, 200, 200, 9000);
  pipe_writer w = {scratch("pipe"), &s};
  pthread_t thread;
  trs_matrix *A;
  assert_int_equal(mkfifo(w.path, 0600), 0);
  pthread_create(&thread, NULL, write_pipe, &w);
  assert_success(trs_read_matrix(&A, w.path, teams[1], NULL));
  pthread_join(thread, NULL);
  check_values(A, &s);
  trs_matrix_destroy(A);
  sample_free(&s);
}

/* ---- What other programs write --------------------------------------------------------------- */

/* Each has the entries (1, 1) = first, (2, 1) = 3 and (1, 2) = across; 0 entries are not stored. */
static const struct {
  const char *text;
  double first, across;
} loose_files[] = {
    {"%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 1 3\n", 2, 0},
    {"%%MatrixMarket matrix coordinate unsigned-integer general\n2 2 2\n1 1 2\n2 1 3\n", 2, 0},
    {"%%MatrixMarket matrix coordinate unsigned-integer general\n"
     "2 2 2\n1 1 18446744073709551615\n2 1 3\n",
     18446744073709551615.0, 0},
    {"%%MatrixMarket matrix array unsigned-integer symmetric\n2 2\n2\n3\n0\n", 2, 3},
    {"%%MatrixMarket matrix coordinate real general (by hand)\n2 2 2\n1 1 2\n2 1 3\n", 2, 0},
    {"%%MatrixMarket matrix coordinate real general % 7\n2 2 2 % entries\n1 1 2\n2 1 3\n", 2, 0},
    {"%%MatrixMarket matrix coordinate real general\r\n2 2 2 entries\r\n1 1 2\r\n2 1 3\r\n", 2, 0},
    {"%%MatrixMarket matrix array real general\n2 2 text\n2\n3\n0\n0\n", 2, 0},
    {"%%MatrixMarket matrix coordinate real hermitian\n2 2 2\n1 1 2\n2 1 3\n", 2, 3},
    {"%%MatrixMarket matrix coordinate integer hermitian\n2 2 2\n1 1 2\n2 1 3\n", 2, 3},
    {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n1 1 0\n2 1 3\n", 0, -3},
    {"%%MatrixMarket matrix coordinate complex skew-symmetric\n2 2 2\n1 1 -0 0\n2 1 3 0\n", 0, -3},
    {"%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 3\n2 2 0\n2 1 3\n1 1 0\n", 0,
     -3},
};

static double complex entry_of(const trs_matrix *A, int64_t i, int32_t j) {
  for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
    if (A->idx[p] == j) return value_of(A, p);
  return 0;
}

TEST(files_of_other_programs_are_read) {
  for (size_t k = 0; k < COUNT(loose_files); k++)
    for (int t = 0; t < 2; t++) {
      trs_matrix *A;
      assert_success(
          trs_read_matrix(&A, scratch_text("a.mtx", loose_files[k].text), teams[t], NULL));
      assert_true(entry_of(A, 0, 0) == loose_files[k].first);
      assert_true(entry_of(A, 1, 0) == 3 && entry_of(A, 1, 1) == 0);
      assert_true(entry_of(A, 0, 1) == loose_files[k].across);
      trs_matrix_destroy(A);
    }
}

/* Patterns have values of Trireme's own; those of the two sides are equal. */
TEST(patterns_of_every_symmetry_are_symmetric) {
  static const char *const names[] = {"symmetric", "skew-symmetric", "hermitian"};
  for (size_t k = 0; k < COUNT(names); k++) {
    char text[128];
    trs_matrix *A;
    snprintf(text, sizeof text, "%%%%MatrixMarket matrix coordinate pattern %s\n2 2 2\n1 1\n2 1\n",
             names[k]);
    assert_success(trs_read_matrix(&A, scratch_text("a.mtx", text), NULL, NULL));
    assert_int_equal(A->nnz, 3);
    assert_true(entry_of(A, 0, 1) == entry_of(A, 1, 0) && entry_of(A, 0, 1) != 0);
    trs_matrix_destroy(A);
  }
}

#define UTF8_MARK "\xef\xbb\xbf"

/* Editors write it; line numbers and the rest of the file stay as they are. */
TEST(the_mark_of_utf8_is_passed_over) {
  trs_matrix *A;
  assert_success(trs_read_matrix(
      &A,
      scratch_text("a.mtx", UTF8_MARK "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 "
                                      "3\n"),
      NULL, NULL));
  assert_true(A->nnz == 1 && entry_of(A, 1, 0) == 3);
  trs_matrix_destroy(A);
}

/* ---- Errors and their positions ------------------------------------------------------------ */

#define MM "%%MatrixMarket matrix "
#define SIZE2 "2 2 2\n"

static const struct {
  const char *text, *words;
} bad_files[] = {
    {"", "a.mtx:1: the file is empty"},
    {"\n", "a.mtx:1: not a Matrix Market file"},
    {UTF8_MARK, "a.mtx:1: not a Matrix Market file"},
    {UTF8_MARK UTF8_MARK MM "coordinate real general\n1 1 0\n",
     "a.mtx:1: not a Matrix Market file"},
    {UTF8_MARK MM "coordinate real general\n2 2\n",
     "a.mtx:2: the size line must be \"rows columns entries\""},
    {"%%MatrixMarkt matrix coordinate real general\n", "a.mtx:1: not a Matrix Market file"},
    {"%%MatrixMarketmatrix coordinate real general\n", "a.mtx:1: not a Matrix Market file"},
    {"\x7f"
     "ELF\x02\x01\x01",
     "a.mtx:1: not a Matrix Market file"},
    {"%%MatrixMarket\n", "a.mtx:1: the banner ends before its object"},
    {"%%MatrixMarket vector coordinate real general\n",
     "a.mtx:1: the banner's object is \"vector\""},
    {MM "dense real general\n", "a.mtx:1: the banner's format is \"dense\""},
    {MM "coordinate quaternion general\n", "a.mtx:1: the banner's field is \"quaternion\""},
    {MM "coordinate real\n", "a.mtx:1: the banner ends before its symmetry"},
    {MM "coordinate real diagonal\n", "a.mtx:1: the banner's symmetry is \"diagonal\""},
    {MM "\033[1m\a real general\n", "a.mtx:1: the banner's format is \"?[1m?\""},
    {MM "coordinate real general\n2\t\033 2\r\n",
     "a.mtx:2: the size line must be \"rows columns "
     "entries\", not \"2 ? 2\""},
    {MM "array pattern general\n", "a.mtx:1: an array has values"},
    {"MatrixMarket matrix coordinate real general\n", "a.mtx:1: not a Matrix Market file"},
    {MM "coordinate real general", "a.mtx:1: the file ends before its size line"},
    {MM "coordinate real general\n% only\n%comments\n",
     "a.mtx:4: the file ends before its size line"},
    {MM "coordinate real general\n2 2\n",
     "a.mtx:2: the size line must be \"rows columns entries\""},
    {MM "coordinate real general\n2 2 2 2\n", "a.mtx:2: the size line must be"},
    {MM "coordinate real general\n2 2 2x\n", "a.mtx:2: the size line must be"},
    {MM "coordinate real general\n2 2 (2)\n", "a.mtx:2: the size line must be"},
    {MM "coordinate real general\n-2 2 2\n", "a.mtx:2: the size line must be"},
    {MM "coordinate real general\n2 2 2.0\n", "a.mtx:2: the size line must be"},
    {MM "array real general\n2 2 2\n", "a.mtx:2: the size line must be \"rows columns\""},
    {MM "coordinate real general\n%\n2147483648 1 0\n", "a.mtx:3: 2147483648 x 1 is too large"},
    {MM "coordinate real symmetric\n3 2 1\n1 1 1\n", "a.mtx:2: 3 x 2 is not square"},
    {MM "coordinate real general\n" SIZE2 "1 1 1\n",
     "a.mtx:3: the file ends after 1 of the 2 entries"},
    {MM "coordinate real general\n" SIZE2 "1 1 1\n\n2 2 1\n\n1 2 1\n",
     "a.mtx:7: more entries than the 2 of line 2"},
    {MM "coordinate real general\n" SIZE2 "0 1 1\n1 1 1\n",
     "a.mtx:3: \"0\" is a row index outside 1 .. 2"},
    {MM "coordinate real general\n" SIZE2 "1 1 1\n1 0 1\n",
     "a.mtx:4: \"0\" is a column index outside 1 .. 2"},
    {MM "coordinate real general\n" SIZE2 "1 1 1\n-1 1 1\n", "a.mtx:4: \"-1\" is not a row index"},
    {MM "coordinate real general\n" SIZE2 "1 1 1\n3 1 1\n",
     "a.mtx:4: \"3\" is a row index outside"},
    {MM "coordinate real general\n" SIZE2 "1 1 1\n1 3 1\n",
     "a.mtx:4: \"3\" is a column index outside"},
    {MM "coordinate real general\n" SIZE2 "1 99999999999999999999 1\n1 1 1\n",
     "a.mtx:3: \"99999999999999999999\" is not a column"},
    {MM "coordinate real general\n" SIZE2 "1.5 1 1\n1 1 1\n",
     "a.mtx:3: \"1.5\" is not a row index"},
    {MM "coordinate real general\n" SIZE2 "1 1 1\n1\n",
     "a.mtx:4: the line ends before its indices"},
    {MM "coordinate real general\n" SIZE2 "1 1 1\n1 1\n",
     "a.mtx:4: the line ends before its value"},
    {MM "coordinate real general\n" SIZE2 "1 1 abc\n1 1 1\n", "a.mtx:3: \"abc\" is not a number"},
    {MM "coordinate real general\n" SIZE2 "1 1 1.0.0\n1 1 1\n",
     "a.mtx:3: \"1.0.0\" is not a number"},
    {MM "coordinate real general\n" SIZE2 "1 1 1e\n1 1 1\n", "a.mtx:3: \"1e\" is not a number"},
    {MM "coordinate real general\n" SIZE2 "1 1 0x10\n1 1 1\n", "a.mtx:3: \"0x10\" is not a number"},
    {MM "coordinate real general\n" SIZE2 "1 1 1,5\n1 1 1\n", "a.mtx:3: \"1,5\" is not a number"},
    {MM "coordinate real general\n" SIZE2 "1 1 -1e999\n1 1 1\n", "a.mtx:3: \"-1e999\" overflows"},
    {MM "coordinate real general\n" SIZE2 "1 1 1\n1 1 inf\n", "a.mtx:4: \"inf\" is not finite"},
    {MM "coordinate real general\n" SIZE2 "1 1 1 1\n1 1 1\n", "a.mtx:3: \"1\" follows the entry"},
    {MM "coordinate real general\n" SIZE2 "1 1 1\n% comment\n1 1 x\n",
     "a.mtx:5: \"x\" is not a number"},
    {MM "coordinate real general\n" SIZE2 "1 1 1 % no comment\n1 1 1\n",
     "a.mtx:3: \"%\" follows the entry"},
    {MM "coordinate real general\n" SIZE2 "1 1 1.5D\n1 1 1\n", "a.mtx:3: \"1.5D\" is not a number"},
    {MM "array real general\n2 1\n1\n  % 3\ny\n", "a.mtx:5: \"y\" is not a number"},
    {MM "coordinate real general\n" SIZE2 "1 1 1\r1 1 1\n", "a.mtx:3: \"1\" follows the entry"},
    {MM "coordinate integer general\n" SIZE2 "1 1 1.5\n1 1 1\n",
     "a.mtx:3: \"1.5\" is not an integer"},
    {MM "coordinate integer general\n" SIZE2 "1 1 1e2\n1 1 1\n",
     "a.mtx:3: \"1e2\" is not an integer"},
    {MM "coordinate integer general\n" SIZE2 "1 1 nan\n1 1 1\n",
     "a.mtx:3: \"nan\" is not an integer"},
    {MM "coordinate complex general\n" SIZE2 "1 1 1 1\n1 1 1\n",
     "a.mtx:4: the line ends before its value"},
    {MM "coordinate complex general\n" SIZE2 "1 1 1 i\n1 1 1 1\n",
     "a.mtx:3: \"i\" is not a number"},
    {MM "coordinate pattern general\n" SIZE2 "1 1\n1 1 1\n", "a.mtx:4: \"1\" follows the entry"},
    {MM "coordinate real symmetric\n" SIZE2 "2 1 1\n1 2 1\n",
     "a.mtx:4: entry (1, 2) (1-based) of a symmetric matrix lies across the diagonal"},
    {MM "coordinate real skew-symmetric\n" SIZE2 "2 1 1\n2 2 1\n",
     "a.mtx:4: entry (2, 2) (1-based) of a skew-symmetric matrix lies on the diagonal but is not "
     "zero"},
    {MM "coordinate complex skew-symmetric\n" SIZE2 "2 1 1 0\n2 2 0 1\n",
     "a.mtx:4: entry (2, 2) (1-based) of a skew-symmetric matrix lies on the diagonal but is not "
     "zero"},
    {MM "coordinate complex hermitian\n" SIZE2 "1 1 1 0\n2 2 1 1\n",
     "a.mtx:4: entry (2, 2) (1-based) of a hermitian matrix lies on the diagonal but is not real"},
    {MM "array real general\n2 2\n1\n2\n3\n", "a.mtx:5: the file ends after 3 of the 4 entries"},
    {MM "array real general\n2 2\n1\n2\n3\n4\n5\n", "a.mtx:7: more entries than the 4 of line 2"},
    {MM "array real general\n2 2\n1 2\n2\n3\n4\n", "a.mtx:3: \"2\" follows the entry"},
    {MM "array real general\n2 2\n1\nx\n3\n4\n", "a.mtx:4: \"x\" is not a number"},
    {MM "array complex hermitian\n2 2\n1 0\n2 1\n3 1\n",
     "a.mtx:5: entry (2, 2) (1-based) of a hermitian matrix"},
    {MM "coordinate real general\n1 1 3\n1 1 1e308\n1 1 1e308\n1 1 1\n",
     "the sum of repeated entries in row 1 (1-based) exceeds"},
};

TEST(a_short_file_with_a_large_size_line_takes_no_memory) {
  int64_t before, after, peak;
  trs_matrix *A;
  const char *path =
      scratch_text("a.mtx", MM "coordinate real general\n20000000 9 20000000\n1 1 1\n");
  trs_memory_usage(&before, &peak);
  assert_failure(TRS_ERROR_FORMAT, "a.mtx:3: the file ends after 1 of the 20000000 entries",
                 trs_read_matrix(&A, path, NULL, NULL));
  trs_memory_usage(&after, &peak);
  assert_true(peak < before + (64 << 20));
}

TEST(bad_files_are_refused_with_their_line) {
  for (size_t k = 0; k < COUNT(bad_files); k++) {
    trs_matrix *A;
    const char *path = scratch_text("a.mtx", bad_files[k].text);
    assert_failure(TRS_ERROR_FORMAT, bad_files[k].words, trs_read_matrix(&A, path, NULL, NULL));
    assert_null(A);
    if (!strstr(bad_files[k].text, "matrix")) continue;
    for (int e = 1; e < ENDINGS; e++) { /* line numbers are those of the text, not of the file */
      char words[256];
      const char *colon = strchr(bad_files[k].words, ':');
      path = scratch_packed(scratch_endings[e], bad_files[k].text, strlen(bad_files[k].text));
      snprintf(words, sizeof words, "%s%s", colon ? scratch_endings[e] : "",
               colon ? colon : bad_files[k].words);
      assert_failure(TRS_ERROR_FORMAT, words, trs_read_matrix(&A, path, NULL, NULL));
    }
  }
}

/* Of two bad lines among many, the first is named, whichever thread finds one first. */
TEST(the_first_bad_line_is_named_by_any_team) {
  static const char *const bad[] = {"x 1 1", "1 1 1e999", "1 0 1", "1 1 1 1"};
  enum { LINES = 12000 };
  char *text = malloc(LINES * 32), words[64];
  for (uint64_t round = 0; round < 40; round++) {
    int first = (int)trs_random_below(1, round, LINES),
        second = (int)trs_random_below(2, round, LINES);
    int at = sprintf(text, "%s99 99 %d\n", HEAD, LINES), least = first < second ? first : second;
    for (int k = 0; k < LINES; k++)
      at += sprintf(text + at, "%s\n",
                    k == first    ? bad[round % 4]
                    : k == second ? bad[round / 4 % 4]
                                  : "11 99 0.1234567890123456");
    const char *path = scratch_bytes("big.mtx", text, (size_t)at);
    snprintf(words, sizeof words, "big.mtx:%d: ", least + 3);
    for (int t = 0; t < TEAMS; t++) {
      trs_matrix *A;
      assert_failure(TRS_ERROR_FORMAT, words, trs_read_matrix(&A, path, teams[t], NULL));
    }
  }
  free(text);
}

TEST(files_that_cannot_be_read) {
  trs_matrix *A;
  assert_failure(TRS_ERROR_FILE, "missing.mtx",
                 trs_read_matrix(&A, scratch("missing.mtx"), NULL, NULL));
  assert_failure(TRS_ERROR_FILE, "is a directory", trs_read_matrix(&A, scratch(""), NULL, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "path is NULL", trs_read_matrix(&A, NULL, NULL, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "A is NULL", trs_read_matrix(NULL, "a.mtx", NULL, NULL));
}

TEST(damaged_compression) {
  sample s = make_sample(REAL, GENERAL, 20, 20, 40);
  for (int e = 1; e < ENDINGS; e++) {
    size_t length;
    trs_matrix *A;
    char *bytes = scratch_load(scratch_packed(scratch_endings[e], s.text, s.length), &length);
    for (size_t cut = 4; cut < length; cut++)
      assert_failure(
          TRS_ERROR_FORMAT, "truncated",
          trs_read_matrix(&A, scratch_bytes(scratch_endings[e], bytes, cut), NULL, NULL));
    for (size_t at = length / 2; at < length / 2 + 20; at++) {
      bytes[at] ^= 0x10;
      trs_status status =
          trs_read_matrix(&A, scratch_bytes(scratch_endings[e], bytes, length), NULL, NULL);
      if (!status) trs_matrix_destroy(A); /* zstd frames of this kind have no checksum */
      assert_true(status == TRS_ERROR_FORMAT || (!status && strstr(scratch_endings[e], "zst")));
      bytes[at] ^= 0x10;
    }
    free(bytes);
  }
  sample_free(&s);
}

/* Bytes for which zlib and zstd have messages of their own. */
TEST(damage_is_told_in_plain_words) {
  static const char *const theirs[] = {"incorrect", "invalid",   "unknown",  "Unknown",
                                       "crc",       "Corrupted", "Restored", "too far",
                                       "Data ",     "Header",    "corrupt",  "Unsupported frame",
                                       "mismatch"};
  sample s = make_sample(REAL, GENERAL, 20, 20, 40);
  for (int e = 1; e < ENDINGS; e++) {
    size_t length;
    trs_matrix *A;
    char *bytes = scratch_load(scratch_packed(scratch_endings[e], s.text, s.length), &length);
    for (size_t at = 2; at < length; at++) {
      bytes[at] ^= 0x40;
      trs_status status =
          trs_read_matrix(&A, scratch_bytes(scratch_endings[e], bytes, length), NULL, NULL);
      for (size_t w = 0; status && w < COUNT(theirs); w++)
        if (strstr(trs_last_error()->message, theirs[w]))
          fail_msg("byte %d: %s", (int)at, trs_last_error()->message);
      if (!status) trs_matrix_destroy(A);
      bytes[at] ^= 0x40;
    }
    char *twice = malloc(length + 5);
    memcpy(twice, bytes, length);
    memcpy(twice + length, "junk!", 5);
    assert_failure(
        TRS_ERROR_FORMAT, "data is damaged near byte",
        trs_read_matrix(&A, scratch_bytes(scratch_endings[e], twice, length + 5), NULL, NULL));
    free(twice);
    free(bytes);
  }
  sample_free(&s);
}

TEST(other_compressions_are_named) {
  static const struct {
    const char *name, *bytes, *words;
  } files[] = {{"a.mtx.bz2", "BZh91AY&SY", "is compressed by bzip2"},
               {"a.mtx", "BZh91AY&SY", "bunzip2"},
               {"b.mtx.bz2", "some other bytes", "is compressed by bzip2"},
               {"a.mtx.xz",
                "\xfd"
                "7zXZ",
                "is compressed by xz"},
               {"a.mtx",
                "\xfd"
                "7zXZ",
                "unxz"},
               {"b.mtx.xz", "some other bytes", "is compressed by xz"},
               {"a.mtx.zip", "PK\x03\x04", "is compressed by zip"}};
  for (size_t k = 0; k < COUNT(files); k++) {
    trs_matrix *A;
    assert_failure(TRS_ERROR_UNSUPPORTED, files[k].words,
                   trs_read_matrix(&A, scratch_text(files[k].name, files[k].bytes), NULL, NULL));
  }
  trs_matrix *A; /* plain text with a misleading name */
  assert_success(trs_read_matrix(&A, scratch_text("c.mtx.bz2", HEAD "1 1 1\n1 1 1\n"), NULL, NULL));
  trs_matrix_destroy(A);
}

TEST(failing_allocations_while_reading) {
  static const int kinds[][2] = {{REAL, GENERAL}, {COMPLEX, HERMITIAN}, {PATTERN, SYMMETRIC}};
  for (int k = 0; k < 3; k++) {
    sample s = make_sample(kinds[k][0], kinds[k][1], 50, 60, 3000);
    for (int e = 0; e < ENDINGS; e++) {
      const char *path = scratch_packed(scratch_endings[e], s.text, s.length);
      trs_matrix *A;
      assert_survives_failing_allocations(trs_read_matrix(&A, path, teams[2], NULL),
                                          trs_matrix_destroy(A));
    }
    sample_free(&s);
  }
  const char *path = scratch_text("a.mtx", MM "array real general\n2 2\n1\n2\n0\n4\n");
  trs_matrix *A;
  assert_survives_failing_allocations(trs_read_matrix(&A, path, NULL, NULL), trs_matrix_destroy(A));
}

/* ---- Writing ----------------------------------------------------------------------------------
 */

static double any_double(uint64_t k) {
  static const double special[] = {0.0,   -0.0, 5e-324, -2.2250738585072014e-308,
                                   1e308, 1.0,  0.1,    1.7976931348623157e308};
  double value;
  uint64_t bits = trs_random(20, k);
  if (k % 9 == 0) return special[k / 9 % SIZES];
  memcpy(&value, &bits, sizeof value);
  return isfinite(value) ? value : 1.5;
}

static float any_float(uint64_t k) {
  float value;
  uint32_t bits = (uint32_t)trs_random(21, k);
  memcpy(&value, &bits, sizeof value);
  return isfinite(value) ? value : -0.1f;
}

static void set_parts(void *val, int64_t p, trs_scalar scalar) {
  int parts = trs_scalar_is_complex(scalar) ? 2 : 1;
  for (int part = 0; part < parts; part++)
    if (trs_scalar_is_double(scalar))
      ((double *)val)[parts * p + part] = any_double((uint64_t)(parts * p + part));
    else
      ((float *)val)[parts * p + part] = any_float((uint64_t)(parts * p + part));
}

static trs_matrix *random_matrix(trs_format format, trs_scalar scalar, int64_t n, double density) {
  int64_t *ptr = malloc((size_t)(n + 1) * sizeof *ptr), nnz = 0;
  int32_t *idx = malloc((size_t)(n * n + 1) * sizeof *idx);
  void *val = malloc((size_t)(n * n + 1) * trs_scalar_size(scalar));
  for (int64_t i = 0; i < n; i++) {
    ptr[i] = nnz;
    for (int64_t j = 0; i % 7 != 3 && j < n; j++)
      if (trs_random_unit(22, (uint64_t)(i * n + j)) < density) {
        set_parts(val, nnz, scalar);
        idx[nnz++] = (int32_t)j;
      }
  }
  ptr[n] = nnz;
  trs_matrix *A;
  assert_success(trs_matrix_create(&A, format, scalar, n, n, TRS_PTR64, ptr, idx, val, TRS_TAKE));
  return A;
}

TEST(what_is_written_reads_back_to_the_bit) {
  for (int scalar = TRS_FLOAT; scalar <= TRS_DCOMPLEX; scalar++)
    for (int e = 0; e < ENDINGS; e++)
      for (int t = 0; t < TEAMS; t++) {
        trs_scalar type = (trs_scalar)scalar;
        trs_read_options options = {.struct_size = sizeof(trs_read_options), .scalar = type};
        trs_matrix *A = random_matrix(t % 2 ? TRS_CSC : TRS_CSR, type, t == 3 ? 400 : 60, 0.7);
        trs_matrix *B, *C;
        const char *path = scratch(scratch_endings[e]);
        assert_success(trs_write_matrix(A, path, teams[t]));
        assert_success(trs_read_matrix(&B, path, teams[t], &options));
        assert_success(trs_matrix_convert(&C, B, A->format, type));
        assert_same(A, C);
        trs_matrix_destroy(A);
        trs_matrix_destroy(B);
        trs_matrix_destroy(C);
      }
}

TEST(the_same_bytes_from_any_team) {
  trs_matrix *A = random_matrix(TRS_CSR, TRS_DOUBLE, 400, 0.7);
  for (int e = 0; e < ENDINGS; e++) {
    size_t first_length, length;
    assert_success(trs_write_matrix(A, scratch(scratch_endings[e]), NULL));
    char *first = scratch_load(scratch(scratch_endings[e]), &first_length);
    for (int t = 1; t < TEAMS; t++) {
      assert_success(trs_write_matrix(A, scratch(scratch_endings[e]), teams[t]));
      char *bytes = scratch_load(scratch(scratch_endings[e]), &length);
      assert_int_equal(length, first_length);
      assert_memory_equal(bytes, first, length);
      free(bytes);
    }
    free(first);
  }
  trs_matrix_destroy(A);
}

/* With any bit of a compressed file changed, reading gives the written matrix or an error. */
TEST(changed_bits_are_noticed) {
  sample s = make_sample(REAL, GENERAL, 60, 60, 900);
  trs_matrix *A, *B;
  assert_success(trs_read_matrix(&A, scratch_text("p.mtx", s.text), NULL, NULL));
  for (int e = 1; e < ENDINGS; e++) {
    size_t length;
    assert_success(trs_write_matrix(A, scratch(scratch_endings[e]), NULL));
    char *bytes = scratch_load(scratch(scratch_endings[e]), &length);
    for (size_t at = 0; at < length; at += SANITIZED ? 4 : 1) {
      char bit = (char)(1 << trs_random_below(7, at, 8));
      bytes[at] ^= bit;
      if (!trs_read_matrix(&B, scratch_bytes(scratch_endings[e], bytes, length), NULL, NULL)) {
        assert_same(A, B);
        trs_matrix_destroy(B);
      }
      bytes[at] ^= bit;
    }
    free(bytes);
  }
  trs_matrix_destroy(A);
  sample_free(&s);
}

TEST(empty_matrices_are_written) {
  static const int64_t ptr[6] = {0};
  for (int64_t n = 0; n < 6; n += 5)
    for (int e = 0; e < ENDINGS; e++) {
      trs_matrix *A, *B;
      assert_success(
          trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, n, 3, TRS_PTR64, ptr, NULL, NULL, TRS_COPY));
      assert_success(trs_write_matrix(A, scratch(scratch_endings[e]), teams[3]));
      assert_success(trs_read_matrix(&B, scratch(scratch_endings[e]), NULL, NULL));
      assert_same(A, B);
      trs_matrix_destroy(A);
      trs_matrix_destroy(B);
    }
}

TEST(failing_allocations_while_writing) {
  trs_matrix *A = random_matrix(TRS_CSR, TRS_DCOMPLEX, 300, 0.9);
  for (int e = 0; e < ENDINGS; e++) {
    const char *path = scratch_text(scratch_endings[e], "old");
    int files = scratch_count();
    assert_survives_failing_allocations(trs_write_matrix(A, path, teams[2]), );
    assert_int_equal(scratch_count(), files);
  }
  trs_matrix_destroy(A);
}

const test_program program = {.begin = make_teams, .end = end};
