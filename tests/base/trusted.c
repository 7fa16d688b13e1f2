/* trusted.c - a file is trusted if no other user can have put it there, by any step of its path. */
#define _GNU_SOURCE
#include "base/trusted.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/scratch.h"
#include "test.h"

enum { STRANGER = 12345 };

/* scratch("top"): a folder `in` with a file, and the same in a folder `bad`. */
static int begin(void **state) {
  static const char *const folders[] = {"top", "top/in", "top/bad", "top/bad/in"};
  for (size_t k = 0; k < COUNT(folders); k++)
    if (mkdir(scratch(folders[k]), 0755)) return 1;
  scratch_text("top/in/file", "");
  scratch_text("top/bad/file", "");
  scratch_text("top/bad/in/file", "");
  return !state;
}

static int restore(void **state) {
  chmod(scratch("top/bad"), 0755);
  chmod(scratch("top/bad/file"), 0644);
  return !state || (geteuid() == 0 && chown(scratch("top/bad"), 0, 0));
}

static trs_trust trust;

static bool is_trusted(const char *name) {
  const bool good = trs_trusted(&trust, scratch(name), false);
  assert_int_equal(good, *trust.path != 0);
  assert_true(!good || !*trust.why);
  return good;
}

static void assert_refused(const char *name, const char *words) {
  assert_false(is_trusted(name));
  if (!strstr(trust.why, words)) fail_msg("\"%s\" instead of \"%s\"", trust.why, words);
}

TEST(the_library_knows_its_folder) {
  char *self = realpath("/proc/self/exe", NULL);
  assert_non_null(trs_own_folder());
  assert_int_equal(chdir("/"), 0);
  *strrchr(self, '/') = 0;
  assert_string_equal(trs_own_folder(), self);
  free(self);
}

TEST(what_others_cannot_write_is_trusted) {
  assert_true(is_trusted("top/in/file"));
  assert_true(is_trusted("top/./in//../in/file"));
  char *real = realpath(scratch("top/in/file"), NULL);
  assert_string_equal(trust.path, real);
  free(real);
}

TEST(what_is_missing_is_no_fault) {
  assert_refused("top/in/none", "");
  assert_string_equal(trust.why, "");
  assert_refused("top/in", "it is no file");
  assert_false(trs_trusted(&trust, "top/in/file", false));
  assert_string_equal(trust.why, "it is named relative to the current folder");
}

TEST(what_others_can_write_is_refused) {
  static const mode_t modes[] = {0777, 0757, 0773};
  for (size_t k = 0; k < COUNT(modes); k++) {
    char words[32];
    snprintf(words, sizeof words, "bad (mode %o)", (unsigned)modes[k]);
    chmod(scratch("top/bad"), modes[k]);
    assert_refused("top/bad/file", words);
    assert_refused("top/bad/in/file", words);
    assert_refused("top/bad/../in/file", words);
  }
  chmod(scratch("top/bad"), 0755);
  assert_true(is_trusted("top/bad/file"));
  chmod(scratch("top/bad/file"), 0666);
  assert_refused("top/bad/file", "bad/file (mode 666)");
}

/* Of a user who has a group of his own, whose number is the user's, that group is nobody else. */
TEST(the_group_is_another_user) {
  chmod(scratch("top/bad"), 0775);
  if (geteuid() == getegid() && geteuid() != 0) {
    assert_true(is_trusted("top/bad/file"));
    return;
  }
  assert_refused("top/bad/file", "bad (mode 775)");
}

TEST(other_owners_are_refused) {
  if (geteuid() != 0) skip_test("only root makes files of others");
  assert_int_equal(chown(scratch("top/bad"), STRANGER, 0), 0);
  assert_refused("top/bad/in/file", "bad belongs to another user (12345)");
}

/* In a folder such as /tmp another user can make everything but a folder of this user. */
TEST(folders_with_the_sticky_bit_have_own_folders) {
  chmod(scratch("top/bad"), 01777);
  assert_true(is_trusted("top/bad/in/file"));
  assert_refused("top/bad/file", "other users can write to the folder of");
  assert_false(trs_trusted(&trust, scratch("top/bad/in/file"), true));
  assert_non_null(strstr(trust.why, "(mode 1777)"));
  if (geteuid() != 0) return;
  assert_int_equal(chown(scratch("top/bad/in"), STRANGER, 0), 0);
  assert_refused("top/bad/in/file", "belongs to another user");
  assert_int_equal(chown(scratch("top/bad/in"), 0, 0), 0);
}

static void link_to(const char *text, const char *name) {
  unlink(scratch(name));
  assert_int_equal(symlink(text, scratch(name)), 0);
}

TEST(links_are_followed_step_by_step) {
  link_to("../in/file", "top/bad/link");
  assert_true(is_trusted("top/bad/link"));
  assert_non_null(strstr(trust.path, "/top/in/file"));
  link_to("../bad/link", "top/in/link");
  assert_true(is_trusted("top/in/link"));
  chmod(scratch("top/bad"), 0777); /* another user can make the second link lead elsewhere */
  assert_refused("top/in/link", "bad (mode 777)");
  chmod(scratch("top/bad"), 01777);
  assert_refused("top/in/link", "other users can write to the folder of");
  link_to(scratch("top/in"), "top/in/folder");
  assert_true(is_trusted("top/in/folder/folder/file"));
  link_to("itself", "top/in/itself");
  assert_refused("top/in/itself", "Too many levels");
  link_to("/", "top/in/root");
  assert_refused("top/in/root", "it is no file");
}

TEST(long_paths_are_refused) {
  char text[PATH_MAX + 64];
  memset(text, 'a', sizeof text);
  for (size_t k = 0; k < sizeof text; k += 100) text[k] = '/';
  text[sizeof text - 1] = 0;
  assert_false(trs_trusted(&trust, text, false));
  assert_string_equal(trust.why, "File name too long");
}

const test_program program = {.begin = begin, .end = scratch_remove, .after_each = restore};
