/* parameters.c - the parameters after a method's name: read, or an error with a helpful message. */
#include "plan/parameters.h"

#include "test.h"

static const char *const no_yes[] = {"no", "yes", NULL};
static const char *const sizes[] = {"4", "8", "16", NULL};

typedef struct values {
  int64_t flag, size, number;
} values;

static trs_status read(values *v, const char *text) {
  static const trs_method method = {.name = "thing", .parameters = true};
  const trs_plan plan = {.method = &method, .parameters = text};
  *v = (values){1, 2, 5};
  const trs_parameter table[] = {{.key = "flag", .words = no_yes, .value = &v->flag},
                                 {.key = "size", .words = sizes, .value = &v->size},
                                 {.key = "number", .least = -3, .most = 70, .value = &v->number}};
  return trs_parameters_read(&plan, table, 3);
}

TEST(what_is_not_given_keeps_its_default) {
  static const char *const texts[] = {NULL, ""};
  values v;
  for (int k = 0; k < 2; k++) {
    assert_success(read(&v, texts[k]));
    assert_int_equal(v.flag, 1);
    assert_int_equal(v.size, 2);
    assert_int_equal(v.number, 5);
  }
}

TEST(words_and_numbers_are_read) {
  values v;
  assert_success(read(&v, "flag=no"));
  assert_int_equal(v.flag, 0);
  assert_int_equal(v.number, 5);
  assert_success(read(&v, "number=-3,size=8,flag=yes"));
  assert_int_equal(v.number, -3);
  assert_int_equal(v.size, 1);
  assert_int_equal(v.flag, 1);
  assert_success(read(&v, "number=1,number=70,"));
  assert_int_equal(v.number, 70);
}

TEST(others_are_refused) {
  static const struct {
    const char *text, *words;
  } wrong[] = {
      {"fla=no", "thing has no parameter \"fla\", did you mean flag?: it has flag, size, number"},
      {"flags=no", "no parameter \"flags\", did you mean flag?"},
      {"nubmer=3", "no parameter \"nubmer\", did you mean number?"},
      {"colour=3", "no parameter \"colour\": it has"},
      {"=no", "no parameter \"\""},
      {",flag=no", "no parameter \"\""},
      {"flag=", "flag=: it takes no, yes"},
      {"flag", "flag=: it takes no, yes"},
      {"flag=y", "flag=y: it takes no, yes"},
      {"flag=yess", "it takes no, yes"},
      {"size=5", "size=5: it takes 4, 8, 16"},
      {"number=", "number=: it takes a number from -3 to 70"},
      {"number=71", "a number from -3 to 70"},
      {"number=-4", "a number from -3 to 70"},
      {"number=7x", "number=7x: it takes"},
      {"number=9999999999999999999999", "a number from -3 to 70"},
      {"flag=no,number=x,size=4", "number=x: it takes"}};
  values v;
  for (size_t k = 0; k < COUNT(wrong); k++)
    assert_failure(TRS_ERROR_ARGUMENT, wrong[k].words, read(&v, wrong[k].text));
}
