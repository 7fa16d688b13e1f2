/* number.c - decimal conversion: reading agrees with strtod in every bit, and written numbers read
 * back. */
#include "io/number.h"

#include <locale.h>
#include <math.h>

#include "base/random.h"
#include "io/format.h"
#include "test.h"

#ifdef TRS_SANITIZE_ADDRESS
enum { ROUNDS = 100000 };
#else
enum { ROUNDS = 1500000 };
#endif

/* Reads text as the library does, at the end of readable memory. */
static const char *parse(const char *text, double *value, size_t *length) {
  static char room[4096 + TRS_TEXT_SLACK];
  memset(room, 0, sizeof room);
  strcpy(room, text);
  const char *end = trs_parse_real(room, value);
  *length = end ? (size_t)(end - room) : 0;
  return end;
}

static void check(const char *text) {
  double value = 0;
  size_t length;
  char *rest;
  double expected = strtod(text, &rest);
  const char *end = parse(text, &value, &length);
  if (isinf(expected)) {
    if (end) fail_msg("%s was read, but overflows", text);
    return;
  }
  if (!end || length != (size_t)(rest - text) || memcmp(&value, &expected, sizeof value))
    fail_msg("%s reads as %a, not %a", text, value, expected);
}

static double from_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

TEST(random_doubles_in_any_precision) {
  char text[64];
  for (uint64_t k = 0; k < ROUNDS; k++) {
    double value = from_bits(trs_random(1, k));
    if (!isfinite(value)) continue;
    snprintf(text, sizeof text, "%.*e", (int)trs_random_below(2, k, 22), value);
    check(text);
    snprintf(text, sizeof text, "%.17g",
             ldexp(trs_random_signed(3, k), (int)trs_random_below(4, k, 90) - 60));
    check(text);
  }
}

/* Digits with a point anywhere, leading and trailing zeros, an exponent or none. */
TEST(random_strings) {
  char text[128];
  for (uint64_t k = 0; k < ROUNDS; k++) {
    uint64_t bits = trs_random(5, k);
    int count = 1 + (int)(bits % 40), point = (int)(bits >> 8) % (count + 1), at = 0;
    int range = bits >> 20 & 3 ? 10 : 2;
    if (bits >> 22 & 1) text[at++] = "-+"[bits >> 23 & 1];
    for (int digit = 0; digit < count; digit++) {
      if (digit == point) text[at++] = '.';
      text[at++] = (char)('0' + trs_random_below(6 + k, (uint64_t)digit, (uint64_t)range));
    }
    if (bits >> 24 & 1)
      at += snprintf(text + at, 16, "%c%+d", "eE"[bits >> 25 & 1], (int)(bits >> 32 & 1023) - 512);
    text[at] = '\0';
    check(text);
  }
}

/* Half way between neighbouring doubles, exactly and one digit to either side. */
static void check_half_way(double value) {
  static char text[1400];
  double above = nextafter(value, INFINITY);
  if (!isfinite(above) || !isfinite(value)) return;
  long double middle = ((long double)value + (long double)above) / 2;
  int length = snprintf(text, sizeof text, "%.*Le", 800, middle);
  char *exponent = strchr(text, 'e'), *last = exponent - 1;
  assert_true(length > 0);
  check(text);
  *last = '1'; /* just above */
  check(text);
  for (*last = '0'; *last == '0'; last--) continue;
  --*last; /* below */
  check(text);
  for (int digits = 16; digits < 30; digits++) {
    snprintf(text, sizeof text, "%.*Le", digits, middle);
    check(text);
  }
}

TEST(half_way_cases) {
  for (uint64_t k = 0; k < ROUNDS / 100; k++) {
    uint64_t bits = trs_random(7, k);
    check_half_way(fabs(from_bits(bits)));
    check_half_way(from_bits(bits & ~((uint64_t)0xFFF << 52))); /* subnormal */
    check_half_way(ldexp(1 + trs_random_unit(8, k), (int)(bits % 140) - 70));
    check_half_way((double)(bits >> 11)); /* short decimals */
  }
}

TEST(edges) {
  static const char *const texts[] = {"0",
                                      "-0",
                                      "0.0e99999",
                                      "1e999",
                                      "-1e999",
                                      "1e-999",
                                      "0e999999999999999999999",
                                      "1e-99999999999999999999999",
                                      "1e99999999999999999999999",
                                      "2.2250738585072011e-308",
                                      "2.2250738585072012e-308",
                                      "2.2250738585072014e-308",
                                      "4.9406564584124654e-324",
                                      "2.4703282292062327e-324",
                                      "2.4703282292062328e-324",
                                      "1.7976931348623157e308",
                                      "1.7976931348623158e308",
                                      "1.7976931348623159e308",
                                      "1.797693134862315807e308",
                                      "179769313486231580793728971405301e276",
                                      "9007199254740993",
                                      "9007199254740992.9999999999999",
                                      "0.000000000000000000000000000000000000000000000000000001e54",
                                      "000000000000000000000000001",
                                      "1.00000000000000011102230246251565404236316680908203125",
                                      "1.00000000000000011102230246251565404236316680908203124",
                                      "1.00000000000000011102230246251565404236316680908203126",
                                      ".5",
                                      "5.",
                                      "1e",
                                      "1e+",
                                      "1.5e-x",
                                      "123456789012345678",
                                      "12345678",
                                      "1234567.8"};
  for (size_t k = 0; k < COUNT(texts); k++) {
    double value;
    size_t length;
    if (strstr(texts[k], "e+") || strstr(texts[k], "e-x") || !strcmp(texts[k], "1e"))
      assert_null(parse(texts[k], &value, &length)); /* strtod would stop before the e */
    else
      check(texts[k]);
  }
}

TEST(thousands_of_digits) {
  static char text[3000];
  for (int zeros = 0; zeros < 2500; zeros += 7) {
    memset(text, '0', sizeof text);
    strcpy(text + zeros, "9007199254740993");
    check(text);
    snprintf(text + 2, sizeof text - 2, "%0*d%s", zeros + 1, 0, "24703282292062327208e10");
    text[1] = '.';
    check(text);
    int length = snprintf(text, sizeof text, "9007199254740993.%0*d", zeros + 1, zeros & 1);
    assert_true(length > 0);
    check(text);
  }
}

TEST(exponents_of_fortran) {
  static const char *const texts[][2] = {
      {"1.5D0", "1.5"},         {"1.5d+03", "1.5e3"},
      {"-.25D-10", "-.25e-10"}, {"1D308", "1e308"},
      {"4.9D-324", "4.9e-324"}, {"1.d1 ", "1.e1 "},
      {"0.5-100", "0.5e-100"},  {"-1.25+100 ", "-1.25e100 "},
      {"7.-12\n", "7.e-12\n"},  {"123456789012345678901D-5", "123456789012345678901e-5"}};
  for (size_t k = 0; k < COUNT(texts); k++) {
    double value = 0, expected = 1;
    size_t length, expected_length;
    assert_non_null(parse(texts[k][1], &expected, &expected_length));
    assert_non_null(parse(texts[k][0], &value, &length));
    assert_true(value == expected);
    assert_int_equal(texts[k][0][length], texts[k][1][expected_length]);
  }
  static const char *const bad[] = {"1D", "1D+", "D5", "1.5D309", "1.5-", "1.5+-3", "1.5+309"};
  for (size_t k = 0; k < COUNT(bad); k++) {
    double value;
    size_t length;
    assert_null(parse(bad[k], &value, &length));
  }
}

TEST(no_numbers) {
  static const char *const texts[] = {"",  "-",   "+",   ".",   "-.",  "e5", ".e5",
                                      "x", "--1", "+-1", "nan", "inf", "\n", " 1"};
  double value;
  size_t length;
  for (size_t k = 0; k < COUNT(texts); k++) assert_null(parse(texts[k], &value, &length));
}

TEST(the_locale_has_no_say) {
  static const char *const names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "C"};
  for (int k = 0; k < 4 && !setlocale(LC_ALL, names[k]); k++) continue;
  double value;
  size_t length;
  assert_non_null(
      parse("1.00000000000000011102230246251565404236316680908203126", &value, &length));
  assert_true(value == 1 + 0x1p-52);
  setlocale(LC_ALL, "C");
}

TEST(indices) {
  char text[64 + TRS_TEXT_SLACK];
  for (uint64_t k = 0; k < 200000; k++) {
    int64_t expected = (int64_t)(trs_random(9, k) >> trs_random_below(10, k, 64)), value;
    if (expected < 0 || expected >= 1000000000000000000) continue;
    memset(text, 0, sizeof text);
    int zeros = (int)(k % 3),
        length = snprintf(text, 64, "%0*d%lld x", zeros, 0, (long long)expected) - 2;
    if (zeros == 0) length = snprintf(text, 64, "%lld", (long long)expected);
    const char *end = trs_parse_index(text, &value);
    if (length > 18) continue;
    assert_ptr_equal(end, text + length);
    assert_int_equal(value, expected);
  }
  int64_t value;
  memset(text, 0, sizeof text);
  assert_null(trs_parse_index(text, &value));
  assert_null(trs_parse_index(strcpy(text, "-1"), &value));
  assert_null(trs_parse_index(strcpy(text, "9999999999999999999"), &value));
}

static void check_written(double value) {
  char text[TRS_FORMAT_BYTES + TRS_TEXT_SLACK] = "", expected[64];
  double back = 1;
  *trs_format_double(text, value) = '\0';
  assert_non_null(trs_parse_real(text, &back));
  if (memcmp(&back, &value, sizeof value)) fail_msg("%a is written as %s", value, text);
  snprintf(expected, sizeof expected, "%.17g", value);
  if (strcmp(text, expected) && strlen(text) != strlen(expected))
    fail_msg("%s is written as %s", expected, text);
}

static void check_written_float(float value) {
  char text[TRS_FORMAT_BYTES] = "";
  *trs_format_float(text, value) = '\0';
  float back = strtof(text, NULL);
  if (memcmp(&back, &value, sizeof value)) fail_msg("%a is written as %s", (double)value, text);
}

TEST(written_numbers_read_back) {
  static const double special[] = {0.0,
                                   -0.0,
                                   1,
                                   -1,
                                   10,
                                   1e15,
                                   1e16,
                                   1e17,
                                   1e22,
                                   123456,
                                   0.1,
                                   1e-4,
                                   1e-5,
                                   9.9999999999999995e-5,
                                   5e-324,
                                   2.2250738585072014e-308,
                                   1.7976931348623157e308,
                                   0.5,
                                   1.0 / 3,
                                   99999999999999984.0};
  for (size_t k = 0; k < COUNT(special); k++) check_written(special[k]);
  for (int e = -323; e <= 308; e++) check_written(pow(10, e));
  for (uint64_t k = 0; k < ROUNDS; k++) {
    uint64_t bits = trs_random(11, k);
    if (isfinite(from_bits(bits))) check_written(from_bits(bits));
    check_written(from_bits(bits & ~((uint64_t)0x7FF << 52) & ~(uint64_t)0 >> (k & 63)));
    check_written(trs_random_signed(12, k));
    uint32_t narrow = (uint32_t)bits;
    float value;
    memcpy(&value, &narrow, sizeof value);
    if (isfinite(value)) check_written_float(value);
  }
}

TEST(written_indices) {
  char text[32], expected[32];
  for (uint64_t k = 0; k < 200000; k++) {
    int64_t value = (int64_t)(trs_random(13, k) >> (1 + trs_random_below(14, k, 63)));
    *trs_format_index(text, value) = '\0';
    snprintf(expected, sizeof expected, "%lld", (long long)value);
    assert_string_equal(text, expected);
  }
}
