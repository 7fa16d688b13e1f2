/* locate.c - the path of a worker program, searched in this order: the folder that TRIREME_WORKERS
 * names; libexec/trireme relative to the file that has this library, as installed and as built; the
 * folder of the installation.  A program that other users can write is never run. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/trusted.h"
#include "worker/folders.h"
#include "worker/worker.h"

typedef struct search {
  const char *program;
  trs_trust found;
  char refused[2 * PATH_MAX + 160]; /* the first program that is not run, and why */
} search;

/* FOLDER/trireme-worker-PROGRAM, if it may be run. */
static bool look(search *s, const char *folder, bool lasting) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s/trireme-worker-%s", folder, s->program) >= PATH_MAX)
    return false;
  if (trs_trusted(&s->found, path, lasting) && !access(s->found.path, X_OK)) return true;
  const char *why = *s->found.path ? "it is not executable" : s->found.why;
  if (*why && !*s->refused) snprintf(s->refused, sizeof s->refused, "%s is not run: %s", path, why);
  return false;
}

static bool look_near(search *s) {
  static const char *const folders[] = {TRS_WORKERS_FROM_LIB, TRS_WORKERS_FROM_BIN,
                                        "../libexec/trireme", "../../libexec/trireme"};
  const char *own = trs_own_folder();
  char folder[PATH_MAX];
  for (size_t k = 0; own && k < sizeof folders / sizeof *folders; k++)
    if (snprintf(folder, sizeof folder, "%s/%s", own, folders[k]) < PATH_MAX &&
        look(s, folder, false))
      return true;
  return false;
}

static trs_status find(search *s) {
  const char *named = secure_getenv("TRIREME_WORKERS");
  const bool is_named = named && *named;
  if (is_named ? look(s, named, false)
               : look_near(s) || (*TRS_WORKERS_INSTALLED && look(s, TRS_WORKERS_INSTALLED, true)))
    return TRS_SUCCESS;
  if (*s->refused)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "%s; let nobody else write to the program and its folders (chmod go-w), or "
                    "name another folder in the environment variable TRIREME_WORKERS",
                    s->refused);
  if (is_named)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "%s/trireme-worker-%s does not exist; TRIREME_WORKERS names the folder where "
                    "Trireme's worker programs are",
                    named, s->program);
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "the program trireme-worker-%s is missing: Trireme searches libexec/trireme "
                  "beside the library's folder" TRS_WORKERS_AND_IN
                  "; install all of Trireme (cmake --install), or name the folder in the "
                  "environment variable TRIREME_WORKERS",
                  s->program);
}

trs_status trs_worker_locate(char **path, const char *program) {
  search *s;
  *path = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  s->program = program;
  trs_status status = find(s);
  if (!status) status = TRS_ALLOC(path, PATH_MAX);
  if (!status) strcpy(*path, s->found.path);
  trs_free(s);
  return status;
}
