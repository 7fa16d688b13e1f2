/* hdf5_file.c - opens HDF5 files and reads their text attributes.  The HDF5 library keeps global
 * state, hence the lock; it prints its errors unless told not to. */
#include <string.h>

#include "base/config.h"
#include "io/hdf5.h"
#include "io/source.h"

static bool ends_with(const char *text, const char *ending) {
  size_t length = strlen(text), tail = strlen(ending);
  return length >= tail && !strcmp(text + length - tail, ending);
}

bool trs_hdf5_is_name(const char *path) {
  return ends_with(path, ".h5") || ends_with(path, ".hdf5");
}

trs_status trs_hdf5_is_file(const char *path, bool *is) {
  char first[8];
  TRS_TRY(trs_file_peek(path, first, sizeof first));
  *is = !memcmp(first, "\211HDF\r\n\032\n", 8) || trs_hdf5_is_name(path);
  return TRS_SUCCESS;
}

#if TRS_HAVE_HDF5
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/hdf5_encode.h"
#include "io/hdf5_file.h"

enum { LONGEST_TEXT = 1 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Files on network disks may refuse locks, which reading can do without. */
static hid_t access_properties(void) {
  hid_t properties = H5Pcreate(H5P_FILE_ACCESS);
#if H5_VERS_MAJOR > 1 || H5_VERS_MINOR > 12 || (H5_VERS_MINOR == 12 && H5_VERS_RELEASE >= 1) || \
    (H5_VERS_MINOR == 10 && H5_VERS_RELEASE >= 7)
  H5Pset_file_locking(properties, 0, 1);
#endif
  return properties;
}

static trs_status open_both(trs_hdf5_file *file) {
  const char *path = file->reading->path;
  file->fd = open(path, O_RDONLY | O_CLOEXEC);
  if (file->fd < 0)
    return trs_fail(TRS_ERROR_FILE, -1, "cannot open %s: %s", path, strerror(errno));
  TRS_TRY(trs_hdf5_verify(file->fd, path));
  hid_t properties = access_properties();
  file->id = H5Fopen(path, H5F_ACC_RDONLY, properties);
  H5Pclose(properties);
  if (file->id < 0)
    return trs_fail(TRS_ERROR_FORMAT, -1, "%s is not an HDF5 file, or is truncated or damaged",
                    path);
  return TRS_SUCCESS;
}

trs_status trs_hdf5_open(trs_hdf5_file **result, const trs_reading *reading) {
  trs_hdf5_file *file;
  *result = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&file, 1));
  file->reading = reading;
  file->id = file->fd = -1;
  pthread_mutex_lock(&lock);
  H5Eget_auto2(H5E_DEFAULT, &file->report, &file->report_data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  trs_status status = open_both(file);
  if (status)
    trs_hdf5_close(file);
  else
    *result = file;
  return status;
}

void trs_hdf5_close(trs_hdf5_file *file) {
  if (!file) return;
  if (file->id >= 0) H5Fclose(file->id);
  if (file->fd >= 0) close(file->fd);
  H5Eset_auto2(H5E_DEFAULT, file->report, file->report_data);
  pthread_mutex_unlock(&lock);
  trs_free(file);
}

/* A text whose length is not part of its type, as h5py writes it; NULL if it cannot be read. */
static trs_status read_variable_text(hid_t attribute, hid_t type, char **text) {
  char *stored = NULL;
  if (H5Aread(attribute, type, &stored) < 0 || !stored) return TRS_SUCCESS;
  int64_t length = (int64_t)strnlen(stored, LONGEST_TEXT);
  trs_status status = TRS_SUCCESS;
  if (length < LONGEST_TEXT) status = TRS_ALLOC(text, length + 1);
  if (*text) memcpy(*text, stored, (size_t)length + 1);
  H5free_memory(stored);
  return status;
}

static trs_status read_fixed_text(hid_t attribute, hid_t type, char **text) {
  size_t size = H5Tget_size(type);
  if (size == 0 || size > LONGEST_TEXT) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC_ZERO(text, (int64_t)size + 1));
  if (H5Aread(attribute, type, *text) < 0) {
    trs_free(*text);
    *text = NULL;
  }
  return TRS_SUCCESS;
}

static trs_status read_text(hid_t attribute, char **text) {
  trs_status status = TRS_SUCCESS;
  hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  if (type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
      H5Sget_simple_extent_npoints(space) == 1)
    status = (H5Tis_variable_str(type) > 0 ? read_variable_text : read_fixed_text)(attribute, type,
                                                                                   text);
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
  return status;
}

trs_status trs_hdf5_get_text(trs_hdf5_file *file, const char *group, const char *name,
                             char **text) {
  *text = NULL;
  htri_t exists = H5Aexists_by_name(file->id, group, name, H5P_DEFAULT);
  if (exists == 0) return TRS_SUCCESS;
  hid_t attribute =
      exists < 0 ? -1 : H5Aopen_by_name(file->id, group, name, H5P_DEFAULT, H5P_DEFAULT);
  trs_status status = TRS_SUCCESS;
  if (attribute >= 0) {
    status = read_text(attribute, text);
    H5Aclose(attribute);
  }
  if (!status && !*text)
    status =
        trs_fail(TRS_ERROR_FORMAT, -1,
                 "%s: attribute \"%s\" of group %s cannot be read as a text of at most %d bytes",
                 file->reading->path, name, group, LONGEST_TEXT);
  return status;
}

bool trs_hdf5_has(trs_hdf5_file *file, const char *group, const char *name) {
  char path[TRS_HDF5_PATH];
  snprintf(path, sizeof path, "%s/%s", group, name);
  if (strcmp(group, "/") && H5Lexists(file->id, group, H5P_DEFAULT) <= 0) return false;
  return H5Lexists(file->id, path, H5P_DEFAULT) > 0;
}

#else /* no HDF5: opening fails, and nothing else is ever called */

trs_status trs_hdf5_open(trs_hdf5_file **file, const trs_reading *reading) {
  *file = NULL;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "%s is an HDF5 file, which this build cannot read: install libhdf5-dev and build "
                  "Trireme again",
                  reading->path);
}

void trs_hdf5_close(trs_hdf5_file *file) { (void)file; }

trs_status trs_hdf5_get_text(trs_hdf5_file *file, const char *group, const char *name,
                             char **text) {
  (void)file, (void)group, (void)name;
  *text = NULL;
  return TRS_ERROR_UNSUPPORTED;
}

bool trs_hdf5_has(trs_hdf5_file *file, const char *group, const char *name) {
  (void)file, (void)group, (void)name;
  return false;
}
#endif
