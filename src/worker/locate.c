/* locate.c - the path of a worker program, searched in this order: the folder that TRIREME_WORKERS
 * names; libexec/trireme relative to the library, or to the program that it is linked into, as
 * installed and as built; the folder of the installation. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "worker/folders.h"
#include "worker/worker.h"

/* FOLDER/trireme-worker-PROGRAM, if it is executable. */
static bool is_executable(char *path, const char *folder, const char *program) {
  int length = snprintf(path, PATH_MAX, "%s/trireme-worker-%s", folder, program);
  return length < PATH_MAX && access(path, X_OK) == 0;
}

static bool is_near(char *path, char *neighbour, const char *program) {
  static const char *const folders[] = {TRS_WORKERS_FROM_LIB, TRS_WORKERS_FROM_BIN,
                                        "../libexec/trireme", "../../libexec/trireme"};
  char folder[PATH_MAX];
  char *slash = strrchr(neighbour, '/');
  if (!slash) return false;
  *slash = 0;
  for (size_t k = 0; k < sizeof folders / sizeof *folders; k++)
    if (snprintf(folder, sizeof folder, "%s/%s", neighbour, folders[k]) < PATH_MAX &&
        is_executable(path, folder, program))
      return true;
  return false;
}

static bool is_near_library(char *path, const char *program) {
  static const char here = 0; /* an address in the library */
  Dl_info library;
  char file[PATH_MAX];
  if (!dladdr(&here, &library) || !library.dli_fname) return false;
  return snprintf(file, sizeof file, "%s", library.dli_fname) < PATH_MAX &&
         is_near(path, file, program);
}

static bool is_near_program(char *path, const char *program) {
  char file[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", file, sizeof file - 1);
  if (length < 0) return false;
  file[length] = 0;
  return is_near(path, file, program);
}

static trs_status find(char *path, const char *program) {
  const char *folder_named = secure_getenv("TRIREME_WORKERS");
  if (folder_named && *folder_named) {
    if (is_executable(path, folder_named, program)) return TRS_SUCCESS;
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "%s/trireme-worker-%s: %s; TRIREME_WORKERS names the folder where Trireme's "
                    "worker programs are",
                    folder_named, program, trs_error_text(errno));
  }
  if (is_near_library(path, program) || is_near_program(path, program) ||
      is_executable(path, TRS_WORKERS_INSTALLED, program))
    return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "the program trireme-worker-%s is missing: Trireme searches libexec/trireme "
                  "beside the library's folder and in " TRS_WORKERS_INSTALLED
                  "; install all of Trireme (cmake --install), or name the folder in the "
                  "environment variable TRIREME_WORKERS",
                  program);
}

trs_status trs_worker_locate(char **path, const char *program) {
  TRS_TRY(TRS_ALLOC(path, PATH_MAX));
  trs_status status = find(*path, program);
  if (!status) return TRS_SUCCESS;
  trs_free(*path);
  *path = NULL;
  return status;
}
