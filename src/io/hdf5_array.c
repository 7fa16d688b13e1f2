/* hdf5_array.c - one-dimensional datasets from an HDF5 file of any origin.
 *
 * The file is untrusted: rank, type, length and storage size of a dataset are checked before memory
 * is allocated.  All members of a team read contiguous data of the native type directly, without
 * the HDF5 library; each checks its part while it is in the cache.  The library, in its worker
 * process, reads all other layouts. */
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/checksum.h"
#include "io/hdf5_file.h"

enum { PIECE = 1 << 20, MOST_SHRUNK = 1 << 16 };

typedef struct array {
  trs_hdf5_file *file;
  char path[TRS_HDF5_PATH];          /* of the dataset */
  int64_t found[TRS_WORKER_NUMBERS]; /* TRS_LOOK_... */
  trs_hdf5_type stored;              /* the type it is read as */
  int64_t count, bytes;              /* elements, and what they take in memory as stored */
  int64_t offset;                    /* in the file, if it can be read past the library, or -1 */
  trs_array_slice *slice;            /* NULL: all */
  bool has_crc;
  uint32_t crc;   /* stored in the file */
  uint32_t *crcs; /* one per member */
  void *data;
  atomic_int error; /* errno of a failed read; -1 if the file ends too early */
} array;

static trs_status bad_dataset(const array *a, const char *why) {
  return trs_fail(TRS_ERROR_FORMAT, -1, "%s: dataset %s %s", a->file->reading->path, a->path, why);
}

static bool is_real(trs_hdf5_type type) { return type == TRS_HDF5_F32 || type == TRS_HDF5_F64; }

/* Chooses the type in which the stored numbers are read before conversion to the wanted one.
 * Without loss, except that integers beyond 2^53 become the nearest double, as in a text file. */
static trs_status choose_type(array *a, trs_hdf5_type wanted) {
  int64_t size = a->found[TRS_LOOK_SIZE];
  if (a->found[TRS_LOOK_IS_REAL] && is_real(wanted)) {
    a->stored = size <= 4 ? TRS_HDF5_F32 : TRS_HDF5_F64;
  } else if (a->found[TRS_LOOK_IS_INTEGER] && is_real(wanted)) {
    a->stored = TRS_HDF5_F64;
  } else if (a->found[TRS_LOOK_IS_INTEGER]) {
    bool narrow = size < 4 || (size == 4 && a->found[TRS_LOOK_IS_SIGNED]);
    a->stored = narrow ? TRS_HDF5_I32 : TRS_HDF5_I64;
  } else {
    return bad_dataset(a, is_real(wanted) ? "does not hold numbers" : "does not hold integers");
  }
  return TRS_SUCCESS;
}

static trs_status look(array *a) {
  trs_worker_message message = {.job = TRS_HDF5_LOOK};
  TRS_TRY(trs_hdf5_ask(a->file, &message, a->path, "", 0));
  memcpy(a->found, message.number, sizeof a->found);
  if (!a->found[TRS_LOOK_FOUND]) return bad_dataset(a, "is missing, or not a readable dataset");
  if (a->found[TRS_LOOK_ELSEWHERE])
    return bad_dataset(a, "lies in another file, which is not read");
  return TRS_SUCCESS;
}

static trs_status check_length(array *a) {
  if (!a->found[TRS_LOOK_VECTOR]) return bad_dataset(a, "is not one-dimensional");
  if (a->found[TRS_LOOK_LENGTH] != a->count)
    return trs_fail(TRS_ERROR_FORMAT, -1, "%s: dataset %s has %lld elements, not %lld",
                    a->file->reading->path, a->path, (long long)a->found[TRS_LOOK_LENGTH],
                    (long long)a->count);
  return TRS_SUCCESS;
}

/* Finds the position of the data and checks that the file is large enough to contain it. */
static trs_status check_storage(array *a) {
  int64_t stored = a->found[TRS_LOOK_STORED], size = a->found[TRS_LOOK_SIZE];
  int64_t offset = a->found[TRS_LOOK_OFFSET], all = a->file->bytes;
  a->offset = -1;
  if (a->count == 0) return TRS_SUCCESS;
  if (size <= 0 || size > 16) return bad_dataset(a, "is of a type that is not supported");
  if (stored <= 0 || stored > all || a->count > stored * MOST_SHRUNK / size)
    return bad_dataset(a, "is truncated: the file does not hold that much data");
  if (!a->found[TRS_LOOK_CONTIGUOUS]) return TRS_SUCCESS;
  if (offset < 0 || stored / size < a->count || offset > all - stored)
    return bad_dataset(a, "is truncated: it reaches beyond the end of the file");
  if (a->found[TRS_LOOK_NATIVE] == (int64_t)a->stored) a->offset = offset;
  return TRS_SUCCESS;
}

static bool read_piece(array *a, char *to, int64_t count, int64_t offset) {
  while (count > 0) {
    ssize_t got = pread(a->file->fd, to, (size_t)count, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      atomic_store(&a->error, got < 0 ? errno : -1);
      return false;
    }
    to += got;
    offset += got;
    count -= got;
  }
  return true;
}

/* Reads a member's share, if directly readable, and checks it. */
static void load_body(void *argument, int rank, int size) {
  array *a = argument;
  int64_t begin, end;
  uint32_t crc = 0;
  trs_share(a->bytes, rank, size, &begin, &end);
  for (int64_t at = begin; at < end; at += PIECE) {
    int64_t count = end - at < PIECE ? end - at : PIECE;
    char *to = (char *)a->data + at;
    if (a->offset >= 0 && !read_piece(a, to, count, a->offset + at)) return;
    if (a->has_crc) crc = trs_crc32(crc, to, count);
  }
  a->crcs[rank] = crc;
}

static trs_status read_through_library(array *a) {
  trs_worker_message message = {
      .job = TRS_HDF5_READ,
      .number = {(int64_t)a->stored, a->slice ? a->slice->from : 0, a->count}};
  TRS_TRY(trs_hdf5_ask(a->file, &message, a->path, "", a->bytes));
  /* Only bytes read as stored in the file can be checked. */
  a->has_crc = a->has_crc && a->found[TRS_LOOK_NATIVE] == (int64_t)a->stored;
  return trs_worker_take(a->file->worker, a->data, a->bytes, 1);
}

static trs_status load(array *a) {
  trs_team *team = a->file->reading->team;
  int size = a->bytes > PIECE ? trs_team_size(team) : 1;
  if (a->count && a->offset < 0) TRS_TRY(read_through_library(a));
  trs_team_run(team, size, load_body, a);
  int error = atomic_load(&a->error);
  if (error) return bad_dataset(a, error > 0 ? "cannot be read from the disk" : "is truncated");
  uint32_t crc = 0;
  for (int rank = 0; rank < size; rank++) {
    int64_t begin, end;
    trs_share(a->bytes, rank, size, &begin, &end);
    crc = trs_crc32_join(crc, a->crcs[rank], end - begin);
  }
  if (a->slice) {
    a->slice->checked = a->has_crc;
    a->slice->crc = crc;
    a->slice->whole_crc = a->crc;
    a->slice->bytes = a->bytes;
    return TRS_SUCCESS;
  }
  return a->has_crc && crc != a->crc ? bad_dataset(a, "is damaged: its checksum does not match")
                                     : TRS_SUCCESS;
}

static bool convert_numbers(void *to, trs_hdf5_type wanted, const void *from, int64_t count) {
  bool fits = true;
  if (wanted == TRS_HDF5_I64)
    for (int64_t k = 0; k < count; k++) ((int64_t *)to)[k] = ((const int32_t *)from)[k];
  if (wanted == TRS_HDF5_F64)
    for (int64_t k = 0; k < count; k++) ((double *)to)[k] = (double)((const float *)from)[k];
  if (wanted == TRS_HDF5_I32)
    for (int64_t k = 0; k < count; k++) {
      int64_t value = ((const int64_t *)from)[k];
      ((int32_t *)to)[k] = (int32_t)value;
      fits &= value == (int32_t)value;
    }
  if (wanted == TRS_HDF5_F32)
    for (int64_t k = 0; k < count; k++) {
      double value = ((const double *)from)[k];
      ((float *)to)[k] = (float)value;
      fits &= isinf(value) || !isinf((float)value);
    }
  return fits;
}

static trs_status convert(array *a, trs_hdf5_type wanted) {
  void *converted;
  if (a->stored == wanted) return TRS_SUCCESS;
  TRS_TRY(trs_alloc(&converted, a->count, (size_t)trs_hdf5_type_size(wanted)));
  bool fits = convert_numbers(converted, wanted, a->data, a->count);
  trs_free(a->data);
  a->data = converted;
  return fits ? TRS_SUCCESS
              : bad_dataset(a, wanted == TRS_HDF5_I32 ? "holds numbers beyond 32 bits"
                                                      : "holds values beyond the range of a float");
}

static trs_status read_array(array *a, trs_hdf5_type wanted) {
  TRS_TRY(look(a));
  TRS_TRY(check_length(a));
  TRS_TRY(choose_type(a, wanted));
  TRS_TRY(check_storage(a));
  if (a->found[TRS_LOOK_HAS_CRC] < 0)
    return bad_dataset(a, "has an unreadable attribute \"crc32\"");
  a->has_crc = a->found[TRS_LOOK_HAS_CRC] > 0;
  a->crc = (uint32_t)a->found[TRS_LOOK_CRC];
  if (a->slice) {
    if (a->offset >= 0) a->offset += a->slice->from * trs_hdf5_type_size(a->stored);
    a->count = a->slice->to - a->slice->from;
  }
  a->bytes = a->count * trs_hdf5_type_size(a->stored);
  TRS_TRY(trs_alloc(&a->data, a->count, (size_t)trs_hdf5_type_size(a->stored)));
  TRS_TRY(TRS_ALLOC_ZERO(&a->crcs, trs_team_size(a->file->reading->team)));
  TRS_TRY(load(a));
  return convert(a, wanted);
}

trs_status trs_hdf5_get_slice(trs_hdf5_file *file, const char *group, const char *name,
                              trs_hdf5_type type, int64_t count, trs_array_slice *slice,
                              void **data) {
  array a = {.file = file, .count = count, .slice = slice};
  snprintf(a.path, sizeof a.path, "%s/%s", strcmp(group, "/") ? group : "", name);
  *data = NULL;
  trs_status status = read_array(&a, type);
  trs_free(a.crcs);
  if (status)
    trs_free(a.data);
  else
    *data = a.data;
  return status;
}

trs_status trs_hdf5_get_array(trs_hdf5_file *file, const char *group, const char *name,
                              trs_hdf5_type type, int64_t count, void **data) {
  return trs_hdf5_get_slice(file, group, name, type, count, NULL, data);
}
