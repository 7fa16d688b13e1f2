/* hdf5_verify.c - looks over an HDF5 file's metadata before the HDF5 library does.
 *
 * The library (1.10) leaks when it meets a header with a wrong checksum, and complains on standard
 * error when the program ends.  So superblocks and object headers that carry checksums (those of
 * the format since HDF5 1.8, which is also what hdf5_encode.c writes) are checked here first, as
 * are older ones by hdf5_verify_early.c.  What is stored in other ways is left to the library. */
#include "io/hdf5_verify.h"

#include <string.h>

#include "base/memory.h"
#include "io/checksum.h"
#include "io/hdf5_encode.h"

enum { LINK = 6, ATTRIBUTE = 12, CONTINUATION = 16, PREFIX = 64 };

static void check_header(trs_verification *v, uint64_t address);

/* A hard link's target; the name stands between the head of the message and the address. */
static void follow_link(trs_verification *v, const unsigned char *message, int64_t length) {
  if (length < 3 || message[0] != 1) return;
  int flags = message[1], name_bytes = 1 << (flags & 3);
  int64_t at = 2;
  if (flags & 8 && message[at++] != 0) return; /* not a hard link */
  at += (flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0);
  if (at + name_bytes > length) return;
  uint64_t name = trs_number_at(message + at, name_bytes);
  at += name_bytes;
  if (name > (uint64_t)length || at + (int64_t)name + 8 > length) return;
  check_header(v, trs_number_at(message + at + name, 8));
}

static void check_block(trs_verification *v, uint64_t address, int64_t length, int64_t head,
                        int flags);

static void check_messages(trs_verification *v, const unsigned char *at, const unsigned char *end,
                           int flags) {
  int head = flags & 4 ? 6 : 4; /* of a message */
  while (end - at >= head && !v->damaged && !v->status) {
    int type = at[0];
    int64_t length = (int64_t)trs_number_at(at + 1, 2);
    const unsigned char *message = at + head;
    if (length > end - message) return;
    if (type == ATTRIBUTE) trs_verify_attribute(v, message, length);
    if (type == LINK) follow_link(v, message, length);
    if (type == CONTINUATION && length == 16)
      check_block(v, trs_number_at(message, 8), (int64_t)trs_number_at(message + 8, 8), 4, flags);
    at = message + length;
  }
}

/* A header or a continuation of one: length bytes, the last four of which are the checksum, the
 * messages beginning behind head bytes. */
static void check_block(trs_verification *v, uint64_t address, int64_t length, int64_t head,
                        int flags) {
  unsigned char *block;
  if (length < head + 4 || length > TRS_HDF5_LARGEST_BLOCK || !trs_verify_more(v)) return;
  v->status = TRS_ALLOC(&block, length);
  if (v->status) return;
  if (!trs_verify_read(v, block, length, address) ||
      trs_number_at(block + length - 4, 4) != trs_lookup3(block, length - 4))
    v->damaged = true;
  else
    check_messages(v, block + head, block + length - 4, flags);
  trs_free(block);
}

static void check_header(trs_verification *v, uint64_t address) {
  unsigned char prefix[PREFIX] = {0};
  if (v->damaged || v->status || !trs_verify_read(v, prefix, 14, address)) return;
  if (memcmp(prefix, "OHDR\2", 5)) {
    trs_verify_old_header(v, address);
    return;
  }
  int flags = prefix[5], size_bytes = 1 << (flags & 3);
  int64_t head = 6 + (flags & 32 ? 16 : 0) + (flags & 16 ? 4 : 0) + size_bytes;
  if (!trs_verify_read(v, prefix, head, address)) return;
  uint64_t messages = trs_number_at(prefix + head - size_bytes, size_bytes);
  if (messages > TRS_HDF5_LARGEST_BLOCK)
    v->damaged = true; /* far more than any writer puts there */
  else
    check_block(v, address, head + (int64_t)messages + 4, head, flags);
}

/* The superblock of files since HDF5 1.8, then the root group. */
static void check_superblock(trs_verification *v, const unsigned char superblock[48]) {
  if (trs_number_at(superblock + 44, 4) != trs_lookup3(superblock, 44))
    v->damaged = true;
  else
    check_header(v, trs_number_at(superblock + 36, 8));
}

trs_status trs_hdf5_verify(int fd, const char *path) {
  trs_verification v = {.fd = fd};
  unsigned char first[96] = {0};
  if (!trs_verify_read(&v, first, sizeof first, 0) || memcmp(first, "\211HDF\r\n\032\n", 8))
    return TRS_SUCCESS;
  if (first[8] >= 2 && first[9] == 8) check_superblock(&v, first);
  if (first[8] < 2 && first[13] == 8 && first[14] == 8)
    check_header(&v, trs_number_at(first + (first[8] ? 68 : 64), 8));
  if (v.damaged)
    return trs_fail(TRS_ERROR_FORMAT, -1,
                    "%s is truncated or damaged: its HDF5 metadata is inconsistent", path);
  return v.status;
}
