/* locale.c - in a program that calls setlocale, numbers have points and I is the capital of i:
 * files, messages, descriptions and environment variables are those of the locale "C". */
#include <locale.h>
#include <math.h>

#include "base/options.h"
#include "base/text.h"
#include "io/compress.h"
#include "io/io.h"
#include "io/number.h"
#include "io/scratch.h"
#include "test.h"

/* A decimal comma; and an i whose capital is not I. */
static const char *const names[] = {"de_DE", "tr_TR"};

/* Makes a locale that the system does not have in the scratch directory.  glibc remembers a locale
 * that setlocale has not found. */
static void make_locale(const char *name) {
  char command[1024];
  snprintf(command, sizeof command,
           "locale -a 2>/dev/null | grep -qix '%s.utf-*8' || "
           "localedef -i %s -f UTF-8 '%s/%s.UTF-8' >/dev/null 2>&1",
           name, name, scratch("locales"), name);
  (void)!system(command);
}

static bool set_locale(const char *name) {
  char text[64];
  snprintf(text, sizeof text, "%s.UTF-8", name);
  return setlocale(LC_ALL, text);
}

static int remove_all(void **state) {
  char command[1024];
  snprintf(command, sizeof command, "rm -rf '%s'", scratch("locales"));
  (void)!system(command);
  return scratch_remove(state);
}

static const char *lacks(void) {
  char command[1024];
  snprintf(command, sizeof command, "mkdir -p '%s'", scratch("locales"));
  (void)!system(command);
  const char *why = NULL;
  for (size_t k = 0; k < COUNT(names); k++) make_locale(names[k]);
  setenv("LOCPATH", scratch("locales"), 1);
  for (size_t k = 0; k < COUNT(names) && !why; k++)
    if (!set_locale(names[k])) why = "no locales, and no localedef (Debian: locales)";
  setlocale(LC_ALL, "C");
  if (why) (void)remove_all(NULL);
  return why;
}

static void in_each_locale(void (*test)(void)) {
  for (size_t k = 0; k < COUNT(names); k++) {
    assert_true(set_locale(names[k]));
    test();
  }
  setlocale(LC_ALL, "C");
}

static void check_words(void) {
  trs_matrix *A;
  double value;
  static const char banner[] =
      "%%MATRIXMARKET MATRIX COORDINATE INTEGER GENERAL\n2 2 2\n1 1 3\n2 2 4\n";
  assert_success(trs_read_matrix(&A, scratch_text("upper.mtx", banner), NULL, NULL));
  trs_matrix_destroy(A);
  assert_non_null(trs_parse_nonfinite("INFINITY", &value));
  assert_true(isinf(value));
  assert_true(trs_ends_with("A.MTX.GZ", ".mtx.gz"));
  assert_true(trs_same_letters("I", "i", 1));
  assert_int_equal(trs_upper('i'), 'I');
}

TEST(capital_letters) { in_each_locale(check_words); }

static void check_numbers(void) {
  trs_matrix *A;
  double *x;
  int64_t rows, columns;
  static const double values[] = {1.5, -2.25e-7, 1e300};
  static const char file[] =
      "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.5e-3\n"
      "2 2 0.123456789012345678901234567890123456789\n";
  assert_success(trs_read_matrix(&A, scratch_text("a.mtx", file), NULL, NULL));
  const void *val;
  assert_success(trs_matrix_get_arrays(A, NULL, NULL, &val));
  assert_true(((const double *)val)[0] == 1.5e-3);
  assert_true(((const double *)val)[1] == 0.123456789012345678901234567890123456789);
  trs_matrix_destroy(A);
  assert_success(
      trs_write_vectors(values, 3, 1, 3, TRS_COL_MAJOR, TRS_DOUBLE, scratch("x.mtx"), NULL));
  size_t length;
  char *text = scratch_load(scratch("x.mtx"), &length);
  assert_non_null(strstr(text, "1.5"));
  assert_null(strchr(text, ','));
  free(text);
  assert_success(
      trs_read_vectors((void **)&x, &rows, &columns, TRS_DOUBLE, scratch("x.mtx"), NULL, NULL));
  for (int k = 0; k < 3; k++) assert_true(x[k] == values[k]);
  trs_free(x);
}

TEST(numbers_in_files) { in_each_locale(check_numbers); }

static void check_texts(void) {
  trs_matrix *A;
  char text[4096];
  trs_read_options options = {.struct_size = sizeof options, .max_bytes = 100000};
  assert_failure(TRS_ERROR_MEMORY, "limit of 0.1 MB",
                 trs_read_matrix(&A, "gen:poisson2d5:200", NULL, &options));
  assert_null(strchr(trs_last_error()->message, ',') && strstr(trs_last_error()->message, "0,1"));
  const trs_factor_options factor = {.struct_size = sizeof factor, .pivot_threshold = 1.5};
  trs_factors *F;
  assert_success(trs_read_matrix(&A, "gen:poisson2d5:5", NULL, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "pivot_threshold is 1.5", trs_factor(&F, A, &factor));
  trs_matrix_destroy(A);
  assert_int_equal(trs_print(text, sizeof text, "%g %.2f", 1.5, 0.25), 8);
  assert_string_equal(text, "1.5 0.25");
  assert_failure(TRS_ERROR_FILE, "No such file or directory",
                 trs_read_matrix(&A, scratch("missing"), NULL, NULL));
}

TEST(numbers_in_messages) { in_each_locale(check_texts); }

static void check_settings(void) {
  double limit;
  setenv("TRS_TEST_LIMIT", "2.5", 1);
  assert_success(trs_setting_limit(&limit, "TRS_TEST_LIMIT"));
  assert_true(limit == 2.5);
  setenv("TRS_TEST_LIMIT", "2,5", 1);
  assert_failure(TRS_ERROR_ARGUMENT, "TRS_TEST_LIMIT is \"2,5\"",
                 trs_setting_limit(&limit, "TRS_TEST_LIMIT"));
}

TEST(numbers_in_the_environment) { in_each_locale(check_settings); }

const test_program program = {.lacks = lacks, .end = remove_all};
