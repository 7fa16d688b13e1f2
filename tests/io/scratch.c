/* scratch.c - the temporary directory of a test program. */
#define _GNU_SOURCE
#include "io/scratch.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"

#if TRS_HAVE_ZLIB
#include <zlib.h>
#endif
#if TRS_HAVE_ZSTD
#include <zstd.h>
#endif

static char directory[256];

const char *scratch(const char *name) {
  static char paths[8][512];
  static int turn;
  if (!*directory) {
    const char *where = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/trireme-test-XXXXXX", where ? where : "/tmp");
    if (!mkdtemp(directory)) abort();
  }
  char *path = paths[turn++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", directory, name);
  return path;
}

const char *scratch_bytes(const char *name, const void *bytes, size_t count) {
  const char *path = scratch(name);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, count, file) != count || fclose(file)) abort();
  return path;
}

const char *scratch_text(const char *name, const char *text) {
  return scratch_bytes(name, text, strlen(text));
}

#if TRS_HAVE_ZLIB
static const char *gzip(const char *name, const char *text, size_t count) {
  const char *path = scratch(name);
  gzFile file = gzopen(path, "wb");
  if (!file || (count && gzwrite(file, text, (unsigned)count) != (int)count) || gzclose(file))
    abort();
  return path;
}
#endif

#if TRS_HAVE_ZSTD
static const char *zstd(const char *name, const char *text, size_t count) {
  size_t bound = ZSTD_compressBound(count);
  char *packed = malloc(bound);
  size_t length = ZSTD_compress(packed, bound, text, count, 3);
  const char *path = scratch_bytes(name, packed, length);
  free(packed);
  return path;
}
#endif

const char *scratch_packed(const char *name, const char *text, size_t count) {
  const char *ending = strrchr(name, '.');
#if TRS_HAVE_ZLIB
  if (!strcmp(ending, ".gz")) return gzip(name, text, count);
#endif
#if TRS_HAVE_ZSTD
  if (!strcmp(ending, ".zst")) return zstd(name, text, count);
#endif
  (void)ending;
  return scratch_bytes(name, text, count);
}

char *scratch_load(const char *path, size_t *count) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) abort();
  *count = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*count + 1);
  if (fread(bytes, 1, *count, file) != *count) abort();
  bytes[*count] = '\0';
  fclose(file);
  return bytes;
}

/* Calls visit for each file. */
int scratch_count(void) {
  int count = 0;
  DIR *open = opendir(directory);
  if (!open) return 0;
  for (struct dirent *entry; (entry = readdir(open));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    count++;
  }
  closedir(open);
  return count;
}

static int erase(const char *path, const struct stat *about, int kind, struct FTW *where) {
  (void)about, (void)kind, (void)where;
  return remove(path);
}

int scratch_remove(void **state) {
  (void)state;
  if (*directory) {
    nftw(directory, erase, 16, FTW_DEPTH | FTW_PHYS);
    *directory = '\0';
  }
  return 0;
}

trs_team *scratch_team;

int scratch_begin(void **state) {
  (void)state;
  return trs_team_create(&scratch_team, 3);
}

int scratch_end(void **state) {
  trs_team_destroy(scratch_team);
  return scratch_remove(state);
}

const char *const scratch_endings[] = {"a.mtx",
#if TRS_HAVE_ZLIB
                                       "a.mtx.gz",
#endif
#if TRS_HAVE_ZSTD
                                       "a.mtx.zst",
#endif
                                       NULL};
