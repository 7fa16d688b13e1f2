/* hdf5_verify_early.c - looks over the metadata of HDF5 files in the format before 1.8, which h5py
 * still writes by default.  It carries no checksums, and the HDF5 library (1.10) follows wrong
 * lengths in it out of its memory or into endless loops.  The lengths that it follows for a group
 * with text attributes and datasets are checked here; other damage it refuses by itself. */
#include <string.h>

#include "base/memory.h"
#include "io/hdf5_verify.h"

enum { LAYOUT = 8, ATTRIBUTE = 12, CONTINUATION = 16, SYMBOL_TABLE = 17, DEEPEST_TREE = 16 };
enum { VARIABLE_LENGTH = 9, CHUNKED = 2, MESSAGE_HEAD = 8, OBJECT_HEAD = 16, SYMBOL_BYTES = 40 };
enum { TYPE_HEAD = 8, REFERENCE_BYTES = 16 };

static int64_t padded(uint64_t length) { return (int64_t)((length + 7) & ~(uint64_t)7); }

/* A block of metadata in memory of its own; NULL if the file does not hold it. */
static unsigned char *load(trs_verification *v, uint64_t address, uint64_t length) {
  unsigned char *block = NULL;
  if (!trs_verify_more(v)) return NULL;
  if (length > TRS_HDF5_LARGEST_BLOCK) {
    v->damaged = true;
    return NULL;
  }
  v->status = TRS_ALLOC(&block, (int64_t)length);
  if (v->status || trs_verify_read(v, block, (int64_t)length, address)) return block;
  v->damaged = true;
  trs_free(block);
  return NULL;
}

/* Object number index, of at least length bytes, in the objects of a global heap. */
static bool has_object(const unsigned char *heap, int64_t bytes, uint64_t index, uint64_t length) {
  bool found = false;
  for (int64_t at = OBJECT_HEAD; bytes - at >= OBJECT_HEAD;) {
    uint64_t id = trs_number_at(heap + at, 2), size = trs_number_at(heap + at + 8, 8);
    if (id == 0 && size < OBJECT_HEAD) return false; /* free space counts its own head */
    if (id == 0) size -= OBJECT_HEAD;
    if (size > (uint64_t)(bytes - at - OBJECT_HEAD)) return false;
    found |= id && id == index && size >= length;
    at += OBJECT_HEAD + padded(size);
  }
  return found;
}

/* A text whose length is not part of its type: length, global heap, object number. */
static void check_reference(trs_verification *v, const unsigned char *reference) {
  unsigned char head[OBJECT_HEAD];
  uint64_t length = trs_number_at(reference, 4), address = trs_number_at(reference + 4, 8);
  if (length == 0) return;
  if (!trs_verify_read(v, head, OBJECT_HEAD, address) || memcmp(head, "GCOL\1", 5)) {
    v->damaged = true;
    return;
  }
  uint64_t bytes = trs_number_at(head + 8, 8);
  unsigned char *heap = load(v, address, bytes);
  if (!heap) return;
  if (!has_object(heap, (int64_t)bytes, trs_number_at(reference + 12, 4), length))
    v->damaged = true;
  trs_free(heap);
}

/* Bytes of the values of an attribute by its type and space, or -1 where these contradict
 * themselves or there are more values than most bytes. */
static int64_t value_bytes(const unsigned char *type, int64_t type_bytes,
                           const unsigned char *space, int64_t space_bytes, int64_t most) {
  if (type_bytes < TYPE_HEAD || space_bytes < 4) return -1;
  int64_t size = (int64_t)trs_number_at(type + 4, 4), extents = space[0] == 1 ? 8 : 4, count = 1;
  if ((type[0] & 15) == VARIABLE_LENGTH && size != REFERENCE_BYTES) return -1;
  if (space[0] == 2 && space[3] == 2) return 0; /* a space without values */
  if (space_bytes < extents + 8 * space[1]) return -1;
  for (int k = 0; k < space[1]; k++) {
    uint64_t extent = trs_number_at(space + extents + 8 * k, 8);
    if (extent > (uint64_t)most) return -1;
    count *= (int64_t)extent;
    if (count > most) return -1;
  }
  return count * size;
}

void trs_verify_attribute(trs_verification *v, const unsigned char *message, int64_t bytes) {
  int version = bytes < 8 ? 0 : message[0];
  if (version < 1 || version > 3) {
    v->damaged = true;
    return;
  }
  bool shared = version > 1 && message[1];
  int64_t at = version == 3 ? 9 : 8, parts[3];
  for (int part = 0; part < 3; part++) { /* name, type, space */
    uint64_t length = trs_number_at(message + 2 + 2 * part, 2);
    parts[part] = version == 1 ? padded(length) : (int64_t)length;
    if (length == 0) v->damaged = true;
  }
  int64_t type = at + parts[0], space = type + parts[1], data = space + parts[2];
  if (data > bytes) v->damaged = true;
  if (v->damaged || shared) return;
  int64_t value = value_bytes(message + type, parts[1], message + space, parts[2], bytes);
  if (value < 0 || value > bytes - data)
    v->damaged = true;
  else if ((message[type] & 15) == VARIABLE_LENGTH && value > 0)
    check_reference(v, message + data);
}

/* The sizes of chunks are divided by. */
static void check_layout(trs_verification *v, const unsigned char *message, int64_t bytes) {
  if (bytes < 8 || message[0] < 1 || message[0] > 3) return;
  bool newest = message[0] == 3;
  int count = message[newest ? 2 : 1], kind = message[newest ? 1 : 2];
  int64_t sizes = newest ? 11 : 16;
  if (kind != CHUNKED) return;
  if (count < 2 || sizes + 4 * count > bytes) v->damaged = true;
  for (int k = 0; !v->damaged && k < count; k++)
    if (trs_number_at(message + sizes + 4 * k, 4) == 0) v->damaged = true;
}

static void check_tree(trs_verification *v, uint64_t address, int deepest);

static void check_messages(trs_verification *v, uint64_t address, uint64_t length) {
  unsigned char *block = load(v, address, length);
  for (int64_t at = 0; block && (int64_t)length - at >= MESSAGE_HEAD && !v->damaged;) {
    int type = (int)trs_number_at(block + at, 2);
    int64_t bytes = (int64_t)trs_number_at(block + at + 2, 2);
    const unsigned char *message = block + at + MESSAGE_HEAD;
    at += MESSAGE_HEAD + bytes;
    if (at > (int64_t)length) {
      v->damaged = true;
      break;
    }
    if (type == ATTRIBUTE) trs_verify_attribute(v, message, bytes);
    if (type == LAYOUT) check_layout(v, message, bytes);
    if (type == CONTINUATION && bytes >= 16)
      check_messages(v, trs_number_at(message, 8), trs_number_at(message + 8, 8));
    if (type == SYMBOL_TABLE && bytes >= 16) check_tree(v, trs_number_at(message, 8), DEEPEST_TREE);
  }
  trs_free(block);
}

void trs_verify_old_header(trs_verification *v, uint64_t address) {
  unsigned char head[16];
  if (!trs_verify_read(v, head, sizeof head, address) || head[0] != 1) return;
  check_messages(v, address + 16, trs_number_at(head + 8, 4));
}

/* The objects that a node of a group's symbol table names. */
static void check_symbols(trs_verification *v, uint64_t address) {
  unsigned char head[8];
  if (!trs_verify_read(v, head, sizeof head, address) || memcmp(head, "SNOD\1", 5)) {
    v->damaged = true;
    return;
  }
  int64_t count = (int64_t)trs_number_at(head + 6, 2);
  unsigned char *symbols = load(v, address + 8, (uint64_t)(count * SYMBOL_BYTES));
  for (int64_t k = 0; symbols && k < count && !v->damaged; k++)
    trs_verify_old_header(v, trs_number_at(symbols + k * SYMBOL_BYTES + 8, 8));
  trs_free(symbols);
}

static void check_tree(trs_verification *v, uint64_t address, int deepest) {
  unsigned char head[24];
  if (!trs_verify_read(v, head, sizeof head, address) || memcmp(head, "TREE\0", 5) ||
      head[5] >= deepest) {
    v->damaged = true;
    return;
  }
  int64_t count = (int64_t)trs_number_at(head + 6, 2);
  unsigned char *nodes = load(v, address + sizeof head, (uint64_t)(count * 16 + 8));
  for (int64_t k = 0; nodes && k < count && !v->damaged; k++) {
    uint64_t child = trs_number_at(nodes + 16 * k + 8, 8);
    if (head[5])
      check_tree(v, child, head[5]);
    else
      check_symbols(v, child);
  }
  trs_free(nodes);
}
