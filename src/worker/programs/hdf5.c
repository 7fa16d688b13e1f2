/* hdf5.c - the HDF5 library in a worker process, for one file.  The file's content is untrusted:
 * HDF5 1.10 reads beyond its memory, loops endlessly or allocates gigabytes on damaged metadata.
 * All of that ends with this process.
 *
 * Once the file is open this process can open no other, so that no external link, external storage,
 * virtual dataset or filter plugin leads outside. */
#include <hdf5.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "worker/programs/serve.h"

enum { LONGEST_TEXT = 1 << 20, DEEPEST = 16 };

static hid_t file = -1;

/* ---- The file. ---- */

/* File systems on a network may refuse locks, which are not needed to read. */
static hid_t access_properties(void) {
  hid_t properties = H5Pcreate(H5P_FILE_ACCESS);
#if H5_VERS_MAJOR > 1 || H5_VERS_MINOR > 12 || (H5_VERS_MINOR == 12 && H5_VERS_RELEASE >= 1) || \
    (H5_VERS_MINOR == 10 && H5_VERS_RELEASE >= 7)
  H5Pset_file_locking(properties, 0, 1);
#endif
  return properties;
}

static trs_status open_file(void) {
  const struct rlimit none = {0, 0};
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", TRS_WORKER_FILE);
  if (access(path, R_OK))
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "HDF5 files are opened as %s, which does not exist here: mount /proc", path);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  file = H5Fopen(path, H5F_ACC_RDONLY, access_properties());
  if (file < 0)
    return trs_fail(TRS_ERROR_FORMAT, -1, "it is not an HDF5 file, or is truncated or damaged");
  if (setrlimit(RLIMIT_NOFILE, &none))
    return trs_fail(TRS_ERROR_INTERNAL, -1, "cannot keep other files from being opened");
  return TRS_SUCCESS;
}

/* ---- Links. ---- */

static trs_status check_links(const char *path, int depth);

static trs_status check_soft_link(const char *link, int depth) {
  char target[TRS_WORKER_TEXT], path[2 * TRS_WORKER_TEXT];
  memset(target, 0, sizeof target);
  if (depth == DEEPEST || H5Lget_val(file, link, target, sizeof target - 1, H5P_DEFAULT) < 0)
    return trs_fail(TRS_ERROR_FORMAT, -1, "%s is a link that leads to no object", link);
  const char *name = strrchr(link, '/');
  int parent = *target == '/' || !name ? 0 : (int)(name - link) + 1;
  if (snprintf(path, sizeof path, "%.*s%s", parent, link, target) >= TRS_WORKER_TEXT)
    return trs_fail(TRS_ERROR_FORMAT, -1, "%s is a link that is too long", link);
  return check_links(path, depth + 1);
}

/* Checks every link on the path before the object behind it is opened.  A part that does not exist
 * fails when it is opened. */
static trs_status check_links(const char *path, int depth) {
  char part[TRS_WORKER_TEXT];
  for (size_t end = 1; *path && end <= strlen(path); end++) {
    H5L_info_t link;
    if (path[end] && path[end] != '/') continue;
    if (path[end - 1] == '/') continue;
    snprintf(part, sizeof part, "%.*s", (int)end, path);
    if (H5Lget_info(file, part, &link, H5P_DEFAULT) < 0) return TRS_SUCCESS;
    if (link.type == H5L_TYPE_SOFT) TRS_TRY(check_soft_link(part, depth));
    if (link.type != H5L_TYPE_SOFT && link.type != H5L_TYPE_HARD)
      return trs_fail(TRS_ERROR_FORMAT, -1, "%s is a link to another file, which is not followed",
                      part);
  }
  return TRS_SUCCESS;
}

/* ---- Texts. ---- */

static trs_status give_text(const char *text, int64_t length, int64_t *given) {
  char *to;
  TRS_TRY(trs_serve_give(&to, length, 1));
  memcpy(to, text, (size_t)length);
  *given = length;
  return TRS_SUCCESS;
}

/* A text of variable length, as h5py writes it. */
static trs_status get_variable_text(hid_t attribute, hid_t type, int64_t *length) {
  char *stored = NULL;
  if (H5Aread(attribute, type, &stored) < 0 || !stored) return TRS_SUCCESS;
  int64_t found = (int64_t)strnlen(stored, LONGEST_TEXT);
  return found < LONGEST_TEXT ? give_text(stored, found, length) : TRS_SUCCESS;
}

static trs_status get_fixed_text(hid_t attribute, hid_t type, int64_t *length) {
  static char text[LONGEST_TEXT + 1];
  size_t size = H5Tget_size(type);
  if (size == 0 || size > LONGEST_TEXT || H5Aread(attribute, type, text) < 0) return TRS_SUCCESS;
  return give_text(text, (int64_t)strnlen(text, size), length);
}

static trs_status get_text(const char *group, const char *name, int64_t *length) {
  int64_t found = -1;
  *length = -1;
  TRS_TRY(check_links(group, 0));
  htri_t exists = H5Aexists_by_name(file, group, name, H5P_DEFAULT);
  if (exists == 0) return TRS_SUCCESS;
  hid_t attribute = exists < 0 ? -1 : H5Aopen_by_name(file, group, name, H5P_DEFAULT, H5P_DEFAULT);
  hid_t type = attribute < 0 ? -1 : H5Aget_type(attribute);
  hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute);
  if (type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
      H5Sget_simple_extent_npoints(space) == 1)
    TRS_TRY((H5Tis_variable_str(type) > 0 ? get_variable_text : get_fixed_text)(attribute, type,
                                                                                &found));
  *length = found;
  if (found >= 0) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_FORMAT, -1,
                  "attribute \"%s\" of group %s cannot be read as a text of at most %d bytes", name,
                  group, LONGEST_TEXT);
}

static trs_status has(const char *group, const char *name, int64_t *found) {
  char path[2 * TRS_WORKER_TEXT];
  *found = 0;
  TRS_TRY(check_links(group, 0));
  if (strcmp(group, "/") && H5Lexists(file, group, H5P_DEFAULT) <= 0) return TRS_SUCCESS;
  snprintf(path, sizeof path, "%s/%s", group, name);
  htri_t exists = H5Lexists(file, path, H5P_DEFAULT);
  *found = exists > 0;
  if (exists >= 0) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_FORMAT, -1,
                  "group %s cannot be read: it is damaged, or memory is short; give more memory, "
                  "or write the file again",
                  group);
}

/* ---- Datasets. ---- */

static hid_t memory_type(trs_hdf5_type type) {
  if (type == TRS_HDF5_I32) return H5T_NATIVE_INT32;
  if (type == TRS_HDF5_I64) return H5T_NATIVE_INT64;
  return type == TRS_HDF5_F32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

static int64_t find_native(hid_t type) {
  for (int t = TRS_HDF5_I32; t <= TRS_HDF5_F64; t++)
    if (H5Tequal(type, memory_type((trs_hdf5_type)t)) > 0) return t;
  return -1;
}

static int64_t find_length(hid_t dataset, bool *vector) {
  hid_t space = H5Dget_space(dataset);
  hsize_t length = 0;
  *vector = space >= 0 && H5Sis_simple(space) > 0 && H5Sget_simple_extent_ndims(space) == 1 &&
            H5Sget_simple_extent_dims(space, &length, NULL) == 1;
  return length > INT64_MAX ? -1 : (int64_t)length;
}

/* The attribute "crc32": 1; 0 if there is none; -1 if it cannot be read. */
static int64_t find_crc(hid_t dataset, int64_t *crc) {
  uint32_t value = 0;
  htri_t exists = H5Aexists(dataset, "crc32");
  if (exists == 0) return 0;
  hid_t attribute = exists < 0 ? -1 : H5Aopen(dataset, "crc32", H5P_DEFAULT);
  hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute);
  if (space < 0 || H5Sget_simple_extent_npoints(space) != 1 ||
      H5Aread(attribute, H5T_NATIVE_UINT32, &value) < 0)
    return -1;
  *crc = value;
  return 1;
}

static void describe(hid_t dataset, hid_t type, hid_t properties, int64_t *number) {
  bool vector;
  H5T_class_t class = H5Tget_class(type);
  haddr_t offset = H5Dget_offset(dataset);
  bool contiguous = H5Pget_layout(properties) == H5D_CONTIGUOUS;
  number[TRS_LOOK_LENGTH] = find_length(dataset, &vector);
  number[TRS_LOOK_VECTOR] = vector;
  number[TRS_LOOK_IS_REAL] = class == H5T_FLOAT;
  number[TRS_LOOK_IS_INTEGER] = class == H5T_INTEGER;
  number[TRS_LOOK_IS_SIGNED] = class == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2;
  number[TRS_LOOK_SIZE] = (int64_t)H5Tget_size(type);
  number[TRS_LOOK_NATIVE] = find_native(type);
  number[TRS_LOOK_STORED] = (int64_t)H5Dget_storage_size(dataset);
  number[TRS_LOOK_CONTIGUOUS] = contiguous;
  number[TRS_LOOK_OFFSET] = offset == HADDR_UNDEF || offset > INT64_MAX ? -1 : (int64_t)offset;
  number[TRS_LOOK_HAS_CRC] = find_crc(dataset, &number[TRS_LOOK_CRC]);
}

static trs_status look(const char *path, int64_t *number) {
  memset(number, 0, TRS_WORKER_NUMBERS * sizeof *number);
  TRS_TRY(check_links(path, 0));
  hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
  hid_t type = dataset < 0 ? -1 : H5Dget_type(dataset);
  hid_t properties = dataset < 0 ? -1 : H5Dget_create_plist(dataset);
  number[TRS_LOOK_FOUND] = type >= 0 && properties >= 0;
  if (number[TRS_LOOK_FOUND]) {
    number[TRS_LOOK_ELSEWHERE] =
        H5Pget_layout(properties) == H5D_VIRTUAL || H5Pget_external_count(properties) != 0;
    if (!number[TRS_LOOK_ELSEWHERE]) describe(dataset, type, properties, number);
  }
  if (properties >= 0) H5Pclose(properties);
  if (type >= 0) H5Tclose(type);
  if (dataset >= 0) H5Dclose(dataset);
  return TRS_SUCCESS;
}

/* An integer out of the range of the destination type is an error; a real number only loses
 * digits. */
static H5T_conv_ret_t refuse_range(H5T_conv_except_t except, hid_t from, hid_t to, void *value,
                                   void *result, void *unused) {
  (void)from, (void)to, (void)value, (void)result, (void)unused;
  return except == H5T_CONV_EXCEPT_RANGE_HI || except == H5T_CONV_EXCEPT_RANGE_LOW
             ? H5T_CONV_ABORT
             : H5T_CONV_UNHANDLED;
}

static trs_status read_elements(const char *path, trs_hdf5_type type, hsize_t from, hsize_t count) {
  void *data;
  TRS_TRY(check_links(path, 0));
  TRS_TRY(trs_serve_give(&data, (int64_t)count, (size_t)H5Tget_size(memory_type(type))));
  hid_t transfer = H5Pcreate(H5P_DATASET_XFER), dataset = H5Dopen2(file, path, H5P_DEFAULT);
  hid_t there = dataset < 0 ? -1 : H5Dget_space(dataset);
  hid_t here = H5Screate_simple(1, &count, NULL);
  H5Pset_type_conv_cb(transfer, refuse_range, NULL);
  herr_t code =
      there < 0 ? -1 : H5Sselect_hyperslab(there, H5S_SELECT_SET, &from, NULL, &count, NULL);
  if (code >= 0) code = H5Dread(dataset, memory_type(type), here, there, transfer, data);
  H5Sclose(here);
  if (there >= 0) H5Sclose(there);
  if (dataset >= 0) H5Dclose(dataset);
  H5Pclose(transfer);
  if (code >= 0) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_FORMAT, -1,
                  "dataset %s cannot be read: it is damaged, of a kind that this HDF5 library "
                  "lacks, or holds numbers out of range",
                  path);
}

trs_status trs_serve(trs_worker_message *m) {
  char text[TRS_WORKER_TEXT];
  memcpy(text, m->text, sizeof text);
  text[TRS_HDF5_PATH - 1] = 0;
  const char *name = text + TRS_HDF5_PATH;
  if (m->job == TRS_HDF5_OPEN) return open_file();
  if (m->job == TRS_HDF5_GET_TEXT) return get_text(text, name, &m->number[0]);
  if (m->job == TRS_HDF5_HAS) return has(text, name, &m->number[0]);
  if (m->job == TRS_HDF5_LOOK) return look(text, m->number);
  return read_elements(text, (trs_hdf5_type)m->number[0], (hsize_t)m->number[1],
                       (hsize_t)m->number[2]);
}
