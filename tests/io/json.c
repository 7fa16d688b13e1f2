/* json.c - looking up values in JSON text. */
#include "io/json.h"

#include "test.h"

static trs_json parse(const char *text) { return trs_json_parse(text, strlen(text)); }

TEST(members_and_elements) {
  trs_json json = parse(
      " { \"a\" : {\"b\": [1, -22 , 3.0, \"x\"]}, \"c\\\"d\": null, "
      "\"e\": \"text\",\"f\":[],\"g\":{ } }\n");
  trs_json array = trs_json_member(trs_json_member(json, "a"), "b");
  int64_t value;
  char text[8];
  assert_true(trs_json_integer(trs_json_element(array, 0), &value) && value == 1);
  assert_true(trs_json_integer(trs_json_element(array, 1), &value) && value == -22);
  assert_true(trs_json_integer(trs_json_element(array, 2), &value) && value == 3);
  assert_true(trs_json_string(trs_json_element(array, 3), text, sizeof text));
  assert_string_equal(text, "x");
  assert_null(trs_json_element(array, 4).begin);
  assert_null(trs_json_member(array, "b").begin);
  assert_null(trs_json_element(json, 0).begin);
  assert_null(trs_json_member(json, "missing").begin);
  assert_true(trs_json_string(trs_json_member(json, "e"), text, sizeof text));
  assert_false(trs_json_string(trs_json_member(json, "e"), text, 4));
  assert_null(trs_json_element(trs_json_member(json, "f"), 0).begin);
  assert_null(trs_json_member(trs_json_member(json, "g"), "a").begin);
  assert_null(trs_json_member((trs_json){0}, "a").begin);
}

TEST(integers) {
  static const char *const none[] = {"1.5", "1e3", "\"1\"", "null", "[1]", "1234567890123456789"};
  int64_t value;
  for (int k = 0; k < 6; k++) assert_false(trs_json_integer(parse(none[k]), &value));
  assert_true(trs_json_integer(parse("123456789012345678"), &value));
  assert_int_equal(value, 123456789012345678);
}

TEST(malformed_text) {
  static const char *const bad[] = {
      "",       " ",       "{",        "}",           "[",         "[1",  "[1,",      "[1 2]",
      "{\"a\"", "{\"a\":", "{\"a\":1", "{1:2}",       "{\"a\" 1}", "\"",  "\"a",      "\"\\",
      "-",      "1.",      "1e",       "1e+",         "tru",       "nul", "1 2",      "[1]]",
      "{,}",    "[,]",     "\"\n\"",   "{\"a\":1,}x", "'a'",       "[1}", "{\"a\":1]"};
  for (size_t k = 0; k < COUNT(bad); k++) assert_null(parse(bad[k]).begin);
  char deep[4000];
  memset(deep, '[', sizeof deep);
  assert_null(trs_json_parse(deep, sizeof deep).begin);
}
