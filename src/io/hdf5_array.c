/* hdf5_array.c - one-dimensional datasets from an HDF5 file of any origin.
 *
 * Nothing in the file is believed: rank, type, length and the room that the data takes in the file
 * are checked before memory is taken.  Contiguous data in the memory's own type is read past the
 * HDF5 library, by all members of a team, each checking what it has read while that is in its
 * cache; any other layout goes through the library. */
#include "base/config.h"
#include "io/hdf5.h"

#if TRS_HAVE_HDF5
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/checksum.h"
#include "io/hdf5_file.h"

enum { PIECE = 1 << 20, MOST_SHRUNK = 1 << 16 };

typedef struct array {
  trs_hdf5_file *file;
  char path[TRS_HDF5_PATH]; /* of the dataset */
  hid_t dataset, type, properties;
  trs_hdf5_type stored; /* the type it is read as */
  int64_t count, bytes; /* elements, and what they take in memory as stored */
  int64_t offset;       /* in the file, if it can be read past the library, or -1 */
  trs_slice *slice;     /* NULL: all */
  bool has_crc;
  uint32_t crc;   /* that the file says */
  uint32_t *crcs; /* one a member */
  void *data;
  atomic_int error; /* errno of a failed read, or -1 where the file ends too soon */
} array;

static trs_status bad(const array *a, const char *why) {
  return trs_fail(TRS_ERROR_FORMAT, -1, "%s: dataset %s %s", a->file->reading->path, a->path, why);
}

static hid_t memory_type(trs_hdf5_type type) {
  if (type == TRS_HDF5_I32) return H5T_NATIVE_INT32;
  if (type == TRS_HDF5_I64) return H5T_NATIVE_INT64;
  return type == TRS_HDF5_F32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

static bool is_real(trs_hdf5_type type) { return type == TRS_HDF5_F32 || type == TRS_HDF5_F64; }

/* The type to read the stored numbers as on the way to the wanted one: without loss, but for
 * integers beyond 2^53, which become the nearest double as those of a text file do. */
static trs_status choose_type(array *a, trs_hdf5_type wanted) {
  H5T_class_t class = H5Tget_class(a->type);
  size_t size = H5Tget_size(a->type);
  if (class == H5T_FLOAT && is_real(wanted)) {
    a->stored = size <= 4 ? TRS_HDF5_F32 : TRS_HDF5_F64;
  } else if (class == H5T_INTEGER && is_real(wanted)) {
    a->stored = TRS_HDF5_F64;
  } else if (class == H5T_INTEGER) {
    bool narrow = size < 4 || (size == 4 && H5Tget_sign(a->type) == H5T_SGN_2);
    a->stored = narrow ? TRS_HDF5_I32 : TRS_HDF5_I64;
  } else {
    return bad(a, is_real(wanted) ? "does not hold numbers" : "does not hold integers");
  }
  return TRS_SUCCESS;
}

static trs_status check_length(array *a) {
  hid_t space = H5Dget_space(a->dataset);
  hsize_t length = 0;
  bool vector = space >= 0 && H5Sis_simple(space) > 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                H5Sget_simple_extent_dims(space, &length, NULL) == 1;
  if (space >= 0) H5Sclose(space);
  if (!vector) return bad(a, "is not one-dimensional");
  if (length != (hsize_t)a->count)
    return trs_fail(TRS_ERROR_FORMAT, -1, "%s: dataset %s has %llu elements, not %lld",
                    a->file->reading->path, a->path, (unsigned long long)length,
                    (long long)a->count);
  return TRS_SUCCESS;
}

/* Finds where the data lies and whether the file is large enough to hold it. */
static trs_status check_storage(array *a) {
  struct stat about;
  H5D_layout_t layout = H5Pget_layout(a->properties);
  int64_t stored = (int64_t)H5Dget_storage_size(a->dataset);
  int64_t size = (int64_t)H5Tget_size(a->type);
  haddr_t offset = H5Dget_offset(a->dataset);
  a->offset = -1;
  if (a->count == 0) return TRS_SUCCESS;
  if (layout == H5D_VIRTUAL || H5Pget_external_count(a->properties) > 0)
    return bad(a, "lies in another file, where it is not looked for");
  if (fstat(a->file->fd, &about)) return bad(a, "cannot be examined");
  if (size <= 0 || size > 16) return bad(a, "is of a type that is not read");
  if (stored <= 0 || stored > about.st_size || a->count > stored * MOST_SHRUNK / size)
    return bad(a, "is truncated: the file does not hold that much data");
  if (layout != H5D_CONTIGUOUS) return TRS_SUCCESS;
  if (offset == HADDR_UNDEF || stored / size < a->count ||
      offset > (haddr_t)(about.st_size - stored))
    return bad(a, "is truncated: it reaches beyond the end of the file");
  if (H5Tequal(a->type, memory_type(a->stored)) > 0) a->offset = (int64_t)offset;
  return TRS_SUCCESS;
}

/* The attribute "crc32", if there is one. */
static trs_status read_crc(array *a) {
  if (H5Aexists(a->dataset, "crc32") <= 0) return TRS_SUCCESS;
  hid_t attribute = H5Aopen(a->dataset, "crc32", H5P_DEFAULT);
  hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute);
  a->has_crc = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
               H5Aread(attribute, H5T_NATIVE_UINT32, &a->crc) >= 0;
  if (space >= 0) H5Sclose(space);
  if (attribute >= 0) H5Aclose(attribute);
  return a->has_crc ? TRS_SUCCESS : bad(a, "has an unreadable attribute \"crc32\"");
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

/* Reads, if it is to be read past the library, and checks a member's share. */
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

/* An integer that the type read into cannot hold is an error; a real loses no more than digits. */
static H5T_conv_ret_t refuse_range(H5T_conv_except_t except, hid_t from, hid_t to, void *value,
                                   void *result, void *unused) {
  (void)from, (void)to, (void)value, (void)result, (void)unused;
  return except == H5T_CONV_EXCEPT_RANGE_HI || except == H5T_CONV_EXCEPT_RANGE_LOW
             ? H5T_CONV_ABORT
             : H5T_CONV_UNHANDLED;
}

static trs_status read_through_library(array *a) {
  hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_type_conv_cb(transfer, refuse_range, NULL);
  hid_t here = H5S_ALL, there = H5S_ALL;
  if (a->slice) {
    hsize_t from = (hsize_t)a->slice->from, count = (hsize_t)a->count;
    here = H5Screate_simple(1, &count, NULL);
    there = H5Dget_space(a->dataset);
    H5Sselect_hyperslab(there, H5S_SELECT_SET, &from, NULL, &count, NULL);
  }
  herr_t code = H5Dread(a->dataset, memory_type(a->stored), here, there, transfer, a->data);
  if (a->slice) {
    H5Sclose(here);
    H5Sclose(there);
  }
  H5Pclose(transfer);
  /* Only bytes as they lie in the file can be checked. */
  a->has_crc = a->has_crc && H5Tequal(a->type, memory_type(a->stored)) > 0;
  return code < 0 ? bad(a,
                        "cannot be read: it is damaged, of a kind that this HDF5 library lacks, "
                        "or holds numbers out of range")
                  : TRS_SUCCESS;
}

static trs_status load(array *a) {
  trs_team *team = a->file->reading->team;
  int size = a->bytes > PIECE ? trs_team_size(team) : 1;
  if (a->count && a->offset < 0) TRS_TRY(read_through_library(a));
  trs_team_run(team, size, load_body, a);
  int error = atomic_load(&a->error);
  if (error) return bad(a, error > 0 ? "cannot be read from the disk" : "is truncated");
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
  return a->has_crc && crc != a->crc ? bad(a, "is damaged: its checksum does not match")
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
              : bad(a, wanted == TRS_HDF5_I32 ? "holds numbers beyond 32 bits"
                                              : "holds values beyond the range of a float");
}

static trs_status read_array(array *a, trs_hdf5_type wanted) {
  TRS_TRY(check_length(a));
  TRS_TRY(choose_type(a, wanted));
  TRS_TRY(check_storage(a));
  TRS_TRY(read_crc(a));
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

static bool open_dataset(array *a) {
  H5L_info_t link;
  if (H5Lget_info(a->file->id, a->path, &link, H5P_DEFAULT) < 0 || link.type == H5L_TYPE_EXTERNAL)
    return false;
  a->dataset = H5Dopen2(a->file->id, a->path, H5P_DEFAULT);
  if (a->dataset < 0) return false;
  a->type = H5Dget_type(a->dataset);
  a->properties = H5Dget_create_plist(a->dataset);
  return a->type >= 0 && a->properties >= 0;
}

trs_status trs_hdf5_get_slice(trs_hdf5_file *file, const char *group, const char *name,
                              trs_hdf5_type type, int64_t count, trs_slice *slice, void **data) {
  array a = {
      .file = file, .dataset = -1, .type = -1, .properties = -1, .count = count, .slice = slice};
  snprintf(a.path, sizeof a.path, "%s/%s", strcmp(group, "/") ? group : "", name);
  *data = NULL;
  trs_status status =
      open_dataset(&a) ? read_array(&a, type) : bad(&a, "is missing, or no readable dataset");
  if (a.properties >= 0) H5Pclose(a.properties);
  if (a.type >= 0) H5Tclose(a.type);
  if (a.dataset >= 0) H5Dclose(a.dataset);
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

#else /* see hdf5_file.c: no file is ever open */

trs_status trs_hdf5_get_slice(trs_hdf5_file *file, const char *group, const char *name,
                              trs_hdf5_type type, int64_t count, trs_slice *slice, void **data) {
  (void)slice;
  return trs_hdf5_get_array(file, group, name, type, count, data);
}

trs_status trs_hdf5_get_array(trs_hdf5_file *file, const char *group, const char *name,
                              trs_hdf5_type type, int64_t count, void **data) {
  (void)file, (void)group, (void)name, (void)type, (void)count;
  *data = NULL;
  return TRS_ERROR_UNSUPPORTED;
}
#endif
