/* hdf5_file.c - opens HDF5 files and reads their text attributes.  The HDF5 library runs in one
 * worker process per file (src/worker/programs/hdf5.c). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/text.h"
#include "io/compress.h"
#include "io/hdf5_file.h"
#include "io/limit.h"
#include "io/source.h"

bool trs_hdf5_is_name(const char *path) {
  return trs_ends_with(path, ".h5") || trs_ends_with(path, ".hdf5");
}

trs_status trs_hdf5_is_file(const char *path, bool *is) {
  char first[8];
  TRS_TRY(trs_file_peek(path, first, sizeof first));
  *is = !memcmp(first, "\211HDF\r\n\032\n", 8) || trs_hdf5_is_name(path);
  return TRS_SUCCESS;
}

/* Sets generous limits on the time and memory for an intact file of this size.  The array that is
 * read counts against the caller's limit; beside it, the worker may use at most that limit plus its
 * own needs. */
static void set_limits(trs_hdf5_file *file, int64_t bytes) {
  enum { SECONDS = 60, BYTES_PER_SECOND = 1000000, MEMORY = 512 << 20, WORKER = 128 << 20 };
  double all = (double)file->bytes + (double)bytes;
  double beside = MEMORY + 2 * (double)file->bytes;
  double allowed = WORKER + (double)file->allowed;
  double memory = (allowed < beside ? allowed : beside) + 3 * (double)bytes;
  trs_worker_limit(file->worker, SECONDS + all / BYTES_PER_SECOND, (int64_t)memory);
}

trs_status trs_hdf5_ask(trs_hdf5_file *file, trs_worker_message *m, const char *object,
                        const char *name, int64_t bytes) {
  if (strlen(object) >= TRS_HDF5_PATH || strlen(name) >= TRS_WORKER_TEXT - TRS_HDF5_PATH)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s: the name %s/%s is too long", file->reading->path,
                    object, name);
  strcpy(m->text, object);
  strcpy(m->text + TRS_HDF5_PATH, name);
  set_limits(file, bytes);
  return trs_worker_ask(file->worker, m);
}

static trs_status open_both(trs_hdf5_file *file) {
  const char *path = file->reading->path;
  trs_worker_message message = {.job = TRS_HDF5_OPEN};
  struct stat about;
  file->fd = open(path, O_RDONLY | O_CLOEXEC);
  if (file->fd < 0 || fstat(file->fd, &about))
    return trs_fail(TRS_ERROR_FILE, -1, "cannot open %s: %s", path, trs_error_text(errno));
  file->bytes = about.st_size;
  const trs_worker_job job = {
      .program = "hdf5", .library = "the HDF5 library", .path = path, .file = file->fd};
  TRS_TRY(trs_worker_start(&file->worker, &job));
  return trs_hdf5_ask(file, &message, "", "", 0);
}

trs_status trs_hdf5_open(trs_hdf5_file **result, const trs_reading *reading) {
  trs_hdf5_file *file;
  *result = NULL;
  if (!TRS_HAVE_HDF5)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "%s is an HDF5 file, which this build cannot read: install libhdf5-dev and "
                    "build Trireme from source",
                    reading->path);
  TRS_TRY(TRS_ALLOC_ZERO(&file, 1));
  file->reading = reading;
  file->allowed = trs_limit_bytes(reading);
  file->fd = -1;
  trs_status status = open_both(file);
  if (status)
    trs_hdf5_close(file);
  else
    *result = file;
  return status;
}

void trs_hdf5_close(trs_hdf5_file *file) {
  if (!file) return;
  trs_worker_end(file->worker);
  if (file->fd >= 0) close(file->fd);
  trs_free(file);
}

trs_status trs_hdf5_get_text(trs_hdf5_file *file, const char *group, const char *name,
                             char **text) {
  trs_worker_message message = {.job = TRS_HDF5_GET_TEXT};
  *text = NULL;
  TRS_TRY(trs_hdf5_ask(file, &message, group, name, 0));
  int64_t length = message.number[0];
  if (length < 0) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(text, length + 1));
  trs_status status = trs_worker_take(file->worker, *text, length, 1);
  (*text)[length] = 0;
  if (!status) return TRS_SUCCESS;
  trs_free(*text);
  *text = NULL;
  return status;
}

trs_status trs_hdf5_has(trs_hdf5_file *file, const char *group, const char *name, bool *has) {
  trs_worker_message message = {.job = TRS_HDF5_HAS};
  *has = false;
  TRS_TRY(trs_hdf5_ask(file, &message, group, name, 0));
  *has = message.number[0];
  return TRS_SUCCESS;
}
