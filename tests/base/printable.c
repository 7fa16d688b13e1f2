/* printable.c - what of a text is printable. */
#include "base/printable.h"

#include <string.h>

#include "base/status.h"
#include "test.h"

TEST(characters_have_their_length) {
  static const struct {
    const char *text;
    size_t length;
  } cases[] = {{"a", 1},
               {"\xC3\xA9", 2},
               {"\xE2\x82\xAC", 3},
               {"\xF0\x9F\x98\x80", 4},
               {"\x1B[2J", 0},
               {"\x7F", 0},
               {"\xC2\x9B", 0},
               {"\xE2\x80\xAE", 0},
               {"\xE2\x81\xA6", 0},
               {"\xC3", 0},
               {"\xC0\xAF", 0},
               {"\xED\xA0\x80", 0},
               {"\xF5\x80\x80\x80", 0},
               {"", 0}};
  for (size_t k = 0; k < COUNT(cases); k++)
    assert_int_equal(trs_printable_length(cases[k].text), cases[k].length);
}

TEST(texts_are_escaped_and_cut) {
  char to[16];
  trs_printable(to, sizeof to, "a\x1B\xC3\xA9");
  assert_string_equal(to, "a\\x1b\xC3\xA9");
  trs_printable(to, sizeof to, "0123456789abcdef");
  assert_string_equal(to, "0123456789a"); /* room for one more escape is kept */
  trs_printable(to, 0, "nothing is written");
  assert_int_equal(to[0], '0');
  trs_fail(TRS_ERROR_FILE, -1, "%s: no file", "x\ny");
  assert_string_equal(trs_last_error()->message, "x\\x0ay: no file");
}
