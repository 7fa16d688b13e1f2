/* suite.c - suites are text files, one matrix per line; "#" starts a comment.  A name is searched
 * in TRIREME_SUITES, then beside the installed command or, in a build tree, beside the built one.
 */
#include "suite.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "experiment.h"
#include "files.h"
#include "leave.h"
#include "output.h"
#include "program.h"

/* The folder of suites. */
static void folder_path(char *path, size_t size) {
  const char *named = getenv("TRIREME_SUITES");
  if (named && *named)
    snprintf(path, size, "%s", named);
  else
    program_beside(path, size, TRIREME_SUITES_PATH);
}

static bool is_entry(const char *name) {
  return !strncmp(name, "gen:", 4) || !strncmp(name, "file:", 5) || !strncmp(name, "factor:", 7);
}

static bool is_path(const char *name) {
  size_t length = strlen(name);
  return strchr(name, '/') || (length > 4 && !strcmp(name + length - 4, ".txt"));
}

int bench_suite_add(bench_suite *suite, const char *text, bench_triangles triangles) {
  if (strcmp(text, human_name(text).s) != 0)
    return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FORMAT), -1,
                 "the name %s has a character that is not printable", text);
  const size_t count = (size_t)suite->count + 1;
  char **entry = realloc(suite->entry, count * sizeof *entry);
  if (entry) suite->entry = entry;
  bench_triangles *which = realloc(suite->triangles, count * sizeof *which);
  if (which) suite->triangles = which;
  char *copy = entry && which ? strdup(text) : NULL;
  if (!copy) return leave_memory((double)strlen(text), "the suite");
  suite->triangles[suite->count] = triangles;
  suite->entry[suite->count++] = copy;
  return -1;
}

static int is_suite(const struct dirent *file) { return is_path(file->d_name); }

/* No suite and no benchmark has this name. */
static int unknown(const char *name, const char *folder) {
  char known[1024] = "", near[64];
  size_t used = 0;
  struct dirent **file;
  int count = scandir(folder, &file, is_suite, alphasort);
  for (int i = 0; i < count; i++) {
    if (used < sizeof known)
      used += (size_t)snprintf(known + used, sizeof known - used, "%.*s|",
                               (int)strlen(file[i]->d_name) - 4, file[i]->d_name);
    free(file[i]);
  }
  if (count >= 0) free(file);
  for (const bench_experiment *e = bench_experiments; e->name && used < sizeof known; e++)
    used += (size_t)snprintf(known + used, sizeof known - used, "%s|", e->name);
  bool found = trs_nearest(near, sizeof near, name, known);
  return leave(
      LEAVE_INPUT, trs_status_name(TRS_ERROR_FILE), -1,
      "there is no suite %s in %s%s%s%s ('trireme bench --list' lists suites and benchmarks)", name,
      folder, found ? "; did you mean " : "", found ? near : "", found ? "?" : "");
}

static int read_lines(bench_suite *suite, const char *path) {
  FILE *file = fopen(path, "r");
  if (!file)
    return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FILE), -1,
                 "%s: %s ('trireme bench --list' lists suites and benchmarks)", path,
                 strerror(errno));
  char line[1024], word[1024];
  int code = -1;
  while (code < 0 && fgets(line, sizeof line, file)) {
    line[strcspn(line, "#")] = 0;
    if (sscanf(line, "%1023s", word) == 1) code = bench_suite_add(suite, word, BENCH_BOTH);
  }
  fclose(file);
  if (code < 0 && !suite->count)
    code = leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FORMAT), -1, "%s names no matrix", path);
  return code;
}

/* A matrix by the name that other commands take. */
static bool is_matrix(const char *name) {
  static const char *const endings[] = {".mtx", ".mtx.gz", ".mtx.zst", ".rb", ".h5"};
  const size_t length = strlen(name);
  for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
    const size_t own = strlen(endings[k]);
    if (length > own && !strcmp(name + length - own, endings[k])) return true;
  }
  return false;
}

static int leave_matrix(const char *name) {
  char *path = realpath(name, NULL);
  const int code = path ? leave_usage("bench", "%s is a matrix: file:%s times it", name, path)
                        : leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FILE), -1,
                                "cannot open %s: %s", name, strerror(errno));
  free(path);
  return code;
}

int bench_suite_read(bench_suite *suite, const char *name) {
  char path[1400], folder[1200];
  const char *slash = strrchr(name, '/');
  *suite = (bench_suite){0};
  snprintf(suite->name, sizeof suite->name, "%s", is_path(name) && slash ? slash + 1 : name);
  if (is_entry(name)) return bench_suite_add(suite, name, BENCH_BOTH);
  if (names_generator(name)) return leave_usage("bench", "the generated matrix is gen:%s", name);
  if (is_matrix(name)) return leave_matrix(name);
  folder_path(folder, sizeof folder);
  snprintf(path, sizeof path, "%s/%s.txt", folder, name);
  if (!is_path(name) && access(path, F_OK)) return unknown(name, folder);
  return read_lines(suite, is_path(name) ? name : path);
}

void bench_suite_free(bench_suite *suite) {
  for (int64_t i = 0; i < suite->count; i++) free(suite->entry[i]);
  free(suite->entry);
  free(suite->triangles);
}

static bool is_experiment(const char *name) {
  const bench_experiment *e = bench_experiments + 1;
  while (e->name && strcmp(e->name, name) != 0) e++;
  return e->name != NULL;
}

/* All names that `trireme bench` takes: suites, and experiments, some of which have a suite of that
 * name. */
static int list_names(void) {
  char folder[1200];
  struct dirent **file;
  folder_path(folder, sizeof folder);
  int count = scandir(folder, &file, is_suite, alphasort);
  if (count < 0)
    return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FILE), -1,
                 "no suites in %s: %s; TRIREME_SUITES names another folder", folder,
                 strerror(errno));
  for (int i = 0; i < count; i++) {
    file[i]->d_name[strlen(file[i]->d_name) - 4] = '\0';
    if (!is_experiment(file[i]->d_name)) puts(file[i]->d_name);
    free(file[i]);
  }
  free(file);
  for (const bench_experiment *e = bench_experiments + 1; e->name; e++) puts(e->name);
  return LEAVE_SOLVED;
}

void bench_suite_print(const bench_suite *suite) {
  static const char *const mark[] = {"  # lower", "  # upper", ""};
  for (int64_t i = 0; i < suite->count; i++)
    printf("%s%s\n", suite->entry[i], mark[suite->triangles[i]]);
}

int bench_list(const char *name) {
  bench_suite suite;
  if (!name) return list_names();
  int code = bench_suite_read(&suite, name);
  if (code < 0) bench_suite_print(&suite);
  bench_suite_free(&suite);
  return code < 0 ? LEAVE_SOLVED : code;
}
