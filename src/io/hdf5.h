/* hdf5.h - matrices in HDF5 files, in the layout of the Binsparse specification 0.1: a group with
 * an attribute "binsparse", the descriptor in JSON, and one-dimensional datasets "pointers_to_1",
 * "indices_1" (and "indices_0" for coordinates) and "values".  Each dataset written here carries
 * its CRC-32 in an attribute "crc32". */
#ifndef TRS_IO_HDF5_H
#define TRS_IO_HDF5_H

#include "io/reading.h"
#include "worker/protocol.h" /* trs_hdf5_type */

/* By the ending of the name: .h5, .hdf5. */
bool trs_hdf5_is_name(const char *path);

/* By the first bytes; if they do not decide, by the name. */
trs_status trs_hdf5_is_file(const char *path, bool *is);

trs_status trs_hdf5_read(trs_matrix **A, const trs_reading *reading);
trs_status trs_hdf5_write(const trs_matrix *A, const char *path, trs_team *team);

/* ---- Building blocks of other kinds of files --------------------------------------------- */

static inline int64_t trs_hdf5_type_size(trs_hdf5_type type) {
  return type == TRS_HDF5_I32 || type == TRS_HDF5_F32 ? 4 : 8;
}

typedef struct trs_hdf5_dataset {
  const char *name;
  trs_hdf5_type type;
  int64_t count;
  const void *data;
} trs_hdf5_dataset;

enum { TRS_HDF5_DATASETS = 8, TRS_HDF5_GROUPS = 2, TRS_HDF5_TEXT = 512 };

/* A group to be written: one text attribute, datasets, subgroups. */
typedef struct trs_hdf5_group {
  const char *name;
  const char *attribute;
  char text[TRS_HDF5_TEXT];
  int ndatasets, ngroups;
  trs_hdf5_dataset datasets[TRS_HDF5_DATASETS];
  const struct trs_hdf5_group *groups[TRS_HDF5_GROUPS];
} trs_hdf5_group;

/* Describes A as a group that refers to A's arrays. */
void trs_hdf5_describe_matrix(trs_hdf5_group *group, const char *name, const trs_matrix *A);

trs_status trs_hdf5_write_file(const trs_hdf5_group *root, const char *path, trs_team *team);

/* An open file.  The calling thread cannot be cancelled until it is closed. */
typedef struct trs_hdf5_file trs_hdf5_file;

trs_status trs_hdf5_open(trs_hdf5_file **file, const trs_reading *reading);
void trs_hdf5_close(trs_hdf5_file *file);

/* A group's text attribute; release it with trs_free; NULL if there is none.  group is "/" or a
 * path from it. */
trs_status trs_hdf5_get_text(trs_hdf5_file *file, const char *group, const char *name, char **text);
trs_status trs_hdf5_has(trs_hdf5_file *file, const char *group, const char *name, bool *has);

/* Reads the dataset of that name, of count elements, converted to the type. */
trs_status trs_hdf5_get_array(trs_hdf5_file *file, const char *group, const char *name,
                              trs_hdf5_type type, int64_t count, void **data);

/* Reads elements from..to of the dataset.  slice returns the values for checking the whole: the
 * CRC-32 of these bytes and of all bytes; unchecked if the bytes differ from those in the file. */
trs_status trs_hdf5_get_slice(trs_hdf5_file *file, const char *group, const char *name,
                              trs_hdf5_type type, int64_t count, trs_array_slice *slice,
                              void **data);
/* Of a matrix with entries in canonical order by rows or columns: where these begin, and the
 * entries of one of `parts` readers, part `part` of them in the order of the file.  Arrays are
 * released with trs_free, also after a failure. */
typedef struct trs_hdf5_part {
  bool rows;
  trs_scalar scalar;
  int64_t n;             /* rows or columns */
  int64_t *ptr;          /* n + 1 */
  trs_array_slice slice; /* the entries, and their values' checksum */
  int32_t *idx;
  void *val;
} trs_hdf5_part;

trs_status trs_hdf5_get_part(trs_hdf5_file *file, const trs_reading *reading, const char *group,
                             int part, int parts, trs_hdf5_part *entries);
trs_status trs_hdf5_get_matrix(trs_hdf5_file *file, const trs_reading *reading, const char *group,
                               trs_matrix **A);

#endif
