/* trusted.c - the place of this library, and the owners and modes of what it runs. */
#define _GNU_SOURCE
#include "base/trusted.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

/* ---- The library's own place. ---- */

static struct {
  pthread_once_t once;
  char folder[PATH_MAX]; /* empty: unknown */
  uid_t owner;
} own = {.once = PTHREAD_ONCE_INIT};

static void take_own(const char *path) {
  struct stat about;
  if (!stat(path, &about)) own.owner = about.st_uid;
  snprintf(own.folder, sizeof own.folder, "%.*s", (int)(strrchr(path, '/') - path), path);
}

/* The kernel's name of the file, which is absolute, while the loader's is what the program gave. */
static bool ask_kernel(void) {
  enum { LINE = PATH_MAX + 128 };
  char line[LINE];
  FILE *maps = fopen("/proc/self/maps", "re");
  const bool known = maps;
  while (maps && fgets(line, LINE, maps)) {
    unsigned long begin, end;
    const char *path = strchr(line, '/');
    if (sscanf(line, "%lx-%lx", &begin, &end) != 2 || !path) continue;
    if ((uintptr_t)take_own < begin || (uintptr_t)take_own >= end) continue;
    line[strcspn(line, "\n")] = 0;
    take_own(path);
    break;
  }
  if (maps) fclose(maps);
  return known;
}

/* Without /proc the loader's name, made absolute before the program can change its folder. */
static void ask_loader(void) {
  Dl_info about;
  char path[PATH_MAX];
  if (dladdr(&own, &about) && about.dli_fname && strchr(about.dli_fname, '/') &&
      realpath(about.dli_fname, path))
    take_own(path);
}

static void find_own(void) {
  own.owner = geteuid();
  if (!ask_kernel()) ask_loader();
}

__attribute__((constructor)) static void keep_own(void) { pthread_once(&own.once, find_own); }

const char *trs_own_folder(void) {
  keep_own();
  return *own.folder ? own.folder : NULL;
}

/* ---- Whether others can write. ---- */

static bool refuse(trs_trust *t, const char *why) {
  snprintf(t->why, sizeof t->why, "%s", why);
  return false;
}

/* The group of a user who has one of his own, which his files are often writable by, is no other
 * user.  Systems that make such groups give them the user's number. */
static bool is_own_group(const struct stat *about) {
  return about->st_gid == about->st_uid && about->st_uid == geteuid() && about->st_uid != 0;
}

static bool others_write(const struct stat *about) {
  return !S_ISLNK(about->st_mode) &&
         (about->st_mode & (is_own_group(about) ? S_IWOTH : S_IWGRP | S_IWOTH));
}

/* One step of the path.  *shared: the step before, then this one, is a folder in which others may
 * put files, and cannot take its own away. */
static bool check_step(trs_trust *t, const struct stat *about, bool lasting, bool *shared) {
  const uid_t owner = about->st_uid;
  const char *name = *t->path ? t->path : "/";
  const bool was_shared = *shared;
  *shared = false;
  if (owner != 0 && owner != geteuid() && owner != own.owner) {
    snprintf(t->why, sizeof t->why, "%s belongs to another user (%ld)", name, (long)owner);
    return false;
  }
  /* Another user can put a second name of any file there (link), not of a folder. */
  const bool planted = was_shared && !S_ISDIR(about->st_mode);
  const bool writable = others_write(about);
  *shared = writable && !lasting && S_ISDIR(about->st_mode) && (about->st_mode & S_ISVTX);
  if (!planted && (!writable || *shared)) return true;
  snprintf(t->why, sizeof t->why, "other users can write to %s%s (mode %o)",
           planted ? "the folder of " : "", name, (unsigned)about->st_mode & 07777);
  return false;
}

/* Replaces a link, the last step of t->path, by its text before the rest. */
static bool follow(trs_trust *t, char rest[PATH_MAX]) {
  char text[PATH_MAX], whole[2 * PATH_MAX];
  const ssize_t length = readlink(t->path, text, sizeof text - 1);
  if (length <= 0) return refuse(t, trs_error_text(errno));
  text[length] = 0;
  *(*text == '/' ? t->path : strrchr(t->path, '/')) = 0;
  if (snprintf(whole, sizeof whole, "%s/%s", text, rest) >= PATH_MAX)
    return refuse(t, trs_error_text(ENAMETOOLONG));
  strcpy(rest, whole);
  return true;
}

/* Moves one name from the rest to the path.  False: the path is too long. */
static bool step(trs_trust *t, char rest[PATH_MAX]) {
  const size_t slashes = strspn(rest, "/"), length = strcspn(rest + slashes, "/");
  const size_t before = strlen(t->path);
  char *parent = strrchr(t->path, '/');
  const char *name = rest + slashes;
  if (length == 2 && !strncmp(name, "..", 2)) {
    if (parent) *parent = 0;
  } else if (length && !(length == 1 && *name == '.')) {
    if (before + 1 + length >= PATH_MAX) return false;
    snprintf(t->path + before, PATH_MAX - before, "/%.*s", (int)length, name);
  }
  memmove(rest, name + length, strlen(name + length) + 1);
  return true;
}

/* Follows links itself, because each folder that has one of them must be checked. */
static bool walk(trs_trust *t, char rest[PATH_MAX], bool lasting) {
  struct stat about;
  int links = 40; /* as many as the kernel follows */
  bool shared = false;
  for (;;) {
    if (lstat(*t->path ? t->path : "/", &about)) return refuse(t, trs_error_text(errno));
    if (!check_step(t, &about, lasting, &shared)) return false;
    if (S_ISLNK(about.st_mode)) {
      if (links-- == 0) return refuse(t, trs_error_text(ELOOP));
      if (!follow(t, rest)) return false;
    }
    if (!rest[strspn(rest, "/")]) break;
    if (!step(t, rest)) return refuse(t, trs_error_text(ENAMETOOLONG));
  }
  return S_ISREG(about.st_mode) || refuse(t, "it is no file");
}

bool trs_trusted(trs_trust *t, const char *path, bool lasting) {
  char rest[PATH_MAX];
  *t = (trs_trust){0};
  keep_own();
  if (*path != '/') return refuse(t, "it is named relative to the current folder");
  if (access(path, F_OK) && errno == ENOENT) return false;
  if (snprintf(rest, sizeof rest, "%s", path) >= PATH_MAX)
    return refuse(t, trs_error_text(ENAMETOOLONG));
  if (walk(t, rest, lasting)) return true;
  *t->path = 0;
  return false;
}
