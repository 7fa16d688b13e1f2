/* hdf5_encode.c - HDF5 metadata for groups with one text attribute each and contiguous datasets
 * (HDF5 file format specification 3.0: superblock 2, object headers 2, which carry checksums).
 *
 * The HDF5 library is not used for writing because it fails on a full disk: if H5Fclose cannot
 * flush, the library (1.10) crashes the program.  The code writes a small fixed part of the format
 * that every HDF5 since 1.8 reads. */
#include "io/hdf5_encode.h"

#include <string.h>

#include "base/checksum.h"

enum {
  DATASPACE = 1,
  LINK_INFO = 2,
  DATATYPE = 3,
  FILL_VALUE = 5,
  LINK = 6,
  LAYOUT = 8,
  GROUP_INFO = 10,
  ATTRIBUTE = 12,
  SUPERBLOCK_BYTES = 48
};

static const uint64_t UNDEFINED = UINT64_MAX;

/* Bytes written so far.  Bytes beyond the limit are dropped, and overflow is set. */
typedef struct encoder {
  unsigned char *bytes;
  int64_t length;
  bool overflow;
  const trs_hdf5_extent *extent; /* of the next dataset */
} encoder;

static void put(encoder *e, uint64_t value, int count) {
  if (e->length + count > TRS_HDF5_METADATA) {
    e->overflow = true;
    return;
  }
  for (int byte = 0; byte < count; byte++)
    e->bytes[e->length++] = (unsigned char)(value >> 8 * byte);
}

static void put_text(encoder *e, const char *text, size_t count) {
  for (size_t k = 0; k < count; k++) put(e, (unsigned char)text[k], 1);
}

/* The checksum of an object header or of the superblock, over the bytes from begin. */
static void put_checksum(encoder *e, int64_t begin) {
  put(e, trs_lookup3(e->bytes + begin, e->length - begin), 4);
}

/* Sets a value that was written before: messages and headers begin with their length. */
static void set(encoder *e, int64_t at, int64_t value, int count) {
  if (!e->overflow)
    for (int byte = 0; byte < count; byte++)
      e->bytes[at + byte] = (unsigned char)(value >> 8 * byte);
}

static int64_t begin_message(encoder *e, int type) {
  put(e, (uint64_t)type, 1);
  put(e, 0, 3); /* length, flags */
  return e->length;
}

static void end_message(encoder *e, int64_t begin) { set(e, begin - 3, e->length - begin, 2); }

static int64_t begin_header(encoder *e) {
  int64_t begin = e->length;
  put_text(e, "OHDR", 4);
  put(e, 2, 1); /* version */
  put(e, 2, 1); /* a length of four bytes follows; no times, no creation order */
  put(e, 0, 4);
  return begin;
}

static void end_header(encoder *e, int64_t begin) {
  set(e, begin + 6, e->length - begin - 10, 4);
  put_checksum(e, begin);
}

static void put_integer_type(encoder *e, int bytes, bool has_sign) {
  put(e, 0x10, 1);                /* version 1, class 0 */
  put(e, has_sign ? 0x08 : 0, 3); /* little-endian */
  put(e, (uint64_t)bytes, 4);
  put(e, 0, 2);
  put(e, (uint64_t)bytes * 8, 2);
}

static void put_float_type(encoder *e, int bytes) {
  bool wide = bytes == 8;
  put(e, 0x11, 1); /* version 1, class 1 */
  put(e, 0x20, 1); /* little-endian, leading mantissa bit implied */
  put(e, wide ? 63 : 31, 2);
  put(e, (uint64_t)bytes, 4);
  put(e, 0, 2);
  put(e, (uint64_t)bytes * 8, 2);
  put(e, wide ? 52 : 23, 1);
  put(e, wide ? 11 : 8, 1);
  put(e, 0, 1);
  put(e, wide ? 52 : 23, 1);
  put(e, wide ? 1023 : 127, 4);
}

static void put_type(encoder *e, trs_hdf5_type type) {
  int bytes = (int)trs_hdf5_type_size(type);
  if (type == TRS_HDF5_F32 || type == TRS_HDF5_F64)
    put_float_type(e, bytes);
  else
    put_integer_type(e, bytes, true);
}

static void put_scalar_space(encoder *e) { put(e, 2, 4); /* version 2, rank 0, no flags, scalar */ }

static int64_t begin_attribute(encoder *e, const char *name, int type_bytes) {
  int64_t begin = begin_message(e, ATTRIBUTE);
  put(e, 3, 2); /* version, flags */
  put(e, strlen(name) + 1, 2);
  put(e, (uint64_t)type_bytes, 2);
  put(e, 4, 2); /* bytes of the scalar dataspace */
  put(e, 0, 1); /* the name is ASCII */
  put_text(e, name, strlen(name) + 1);
  return begin;
}

static void put_text_attribute(encoder *e, const char *name, const char *text) {
  int64_t begin = begin_attribute(e, name, 8);
  put(e, 0x13, 1); /* version 1, class 3: string */
  put(e, 0x11, 3); /* padded with zeros, UTF-8 */
  put(e, strlen(text), 4);
  put_scalar_space(e);
  put_text(e, text, strlen(text));
  end_message(e, begin);
}

static void put_crc_attribute(encoder *e, uint32_t crc) {
  int64_t begin = begin_attribute(e, "crc32", 12);
  put_integer_type(e, 4, false);
  put_scalar_space(e);
  put(e, crc, 4);
  end_message(e, begin);
}

static void put_layout(encoder *e, const trs_hdf5_extent *extent) {
  int64_t begin = begin_message(e, LAYOUT);
  put(e, 0x0103, 2); /* version 3, contiguous */
  put(e, extent->bytes ? (uint64_t)extent->offset : UNDEFINED, 8);
  put(e, (uint64_t)extent->bytes, 8);
  end_message(e, begin);
}

/* Returns the header's address. */
static int64_t put_dataset(encoder *e, const trs_hdf5_extent *extent) {
  int64_t header = begin_header(e), message = begin_message(e, DATASPACE);
  put(e, 0x01000102, 4); /* version 2, rank 1, no flags, simple */
  put(e, (uint64_t)extent->dataset->count, 8);
  end_message(e, message);
  message = begin_message(e, DATATYPE);
  put_type(e, extent->dataset->type);
  end_message(e, message);
  message = begin_message(e, FILL_VALUE);
  put(e, 0x0A03, 2); /* version 3: allocated late, filled only if a fill value is set */
  end_message(e, message);
  put_layout(e, extent);
  put_crc_attribute(e, extent->crc);
  end_header(e, header);
  return header;
}

static void put_link(encoder *e, const char *name, int64_t address) {
  int64_t begin = begin_message(e, LINK);
  put(e, 1, 2); /* version, flags: a hard link, its name's length in one byte */
  put(e, strlen(name), 1);
  put_text(e, name, strlen(name));
  put(e, (uint64_t)address, 8);
  end_message(e, begin);
}

/* Writes the group's content, then the group; returns its header's address. */
static int64_t put_group(encoder *e, const trs_hdf5_group *group) {
  int64_t datasets[TRS_HDF5_DATASETS], groups[TRS_HDF5_GROUPS];
  for (int k = 0; k < group->ndatasets; k++) datasets[k] = put_dataset(e, e->extent++);
  for (int k = 0; k < group->ngroups; k++) groups[k] = put_group(e, group->groups[k]);
  int64_t header = begin_header(e), message = begin_message(e, LINK_INFO);
  put(e, 0, 2); /* version, flags */
  put(e, UNDEFINED, 8);
  put(e, UNDEFINED, 8); /* links are in the header itself */
  end_message(e, message);
  message = begin_message(e, GROUP_INFO);
  put(e, 0, 2);
  end_message(e, message);
  put_text_attribute(e, group->attribute, group->text);
  for (int k = 0; k < group->ndatasets; k++) put_link(e, group->datasets[k].name, datasets[k]);
  for (int k = 0; k < group->ngroups; k++) put_link(e, group->groups[k]->name, groups[k]);
  end_header(e, header);
  return header;
}

static void put_superblock(encoder *e, int64_t root, int64_t file_bytes) {
  e->length = 0;
  put_text(e, "\211HDF\r\n\032\n", 8);
  put(e, 0x080802, 4); /* version 2, addresses and lengths of 8 bytes, no flags */
  put(e, 0, 8);        /* base address */
  put(e, UNDEFINED, 8);
  put(e, (uint64_t)file_bytes, 8);
  put(e, (uint64_t)root, 8);
  put_checksum(e, 0);
}

trs_status trs_hdf5_encode(unsigned char metadata[TRS_HDF5_METADATA], const trs_hdf5_group *root,
                           const trs_hdf5_extent *extents, int64_t file_bytes) {
  memset(metadata, 0, TRS_HDF5_METADATA);
  encoder e = {.bytes = metadata, .length = SUPERBLOCK_BYTES, .extent = extents};
  int64_t address = put_group(&e, root);
  put_superblock(&e, address, file_bytes);
  return e.overflow ? trs_fail(TRS_ERROR_INTERNAL, -1, "HDF5 metadata exceeds its %d bytes",
                               TRS_HDF5_METADATA)
                    : TRS_SUCCESS;
}
