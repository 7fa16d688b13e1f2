/* hdf5_verify.c - looks over an HDF5 file's metadata before the HDF5 library does.
 *
 * The library (1.10) leaks when it meets a header with a wrong checksum, and complains on standard
 * error when the program ends.  So superblocks and object headers that carry checksums (those of
 * the format since HDF5 1.8, which is also what hdf5_encode.c writes) are checked here first.  What
 * is older, or stored in other ways than links in a header, is left to the library. */
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/checksum.h"
#include "io/hdf5_encode.h"

enum { LINK = 6, CONTINUATION = 16, MOST_HEADERS = 256, LARGEST_HEADER = 1 << 18, PREFIX = 64 };

typedef struct verification {
  int fd;
  int headers;  /* looked at so far: links may form a loop */
  bool damaged; /* found so */
  trs_status status;
} verification;

static uint64_t number_at(const unsigned char *bytes, int count) {
  uint64_t value = 0;
  for (int byte = 0; byte < count; byte++) value |= (uint64_t)bytes[byte] << 8 * byte;
  return value;
}

static bool read_at(const verification *v, void *bytes, int64_t count, uint64_t offset) {
  return offset < INT64_MAX - (uint64_t)count &&
         pread(v->fd, bytes, (size_t)count, (off_t)offset) == count;
}

static void check_header(verification *v, uint64_t address);

/* A hard link's target; the name stands between the head of the message and the address. */
static void follow_link(verification *v, const unsigned char *message, int64_t length) {
  if (length < 3 || message[0] != 1) return;
  int flags = message[1], name_bytes = 1 << (flags & 3);
  int64_t at = 2;
  if (flags & 8 && message[at++] != 0) return; /* not a hard link */
  at += (flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0);
  if (at + name_bytes > length) return;
  uint64_t name = number_at(message + at, name_bytes);
  at += name_bytes;
  if (name > (uint64_t)length || at + (int64_t)name + 8 > length) return;
  check_header(v, number_at(message + at + name, 8));
}

static void check_block(verification *v, uint64_t address, int64_t length, int64_t head, int flags);

static void check_messages(verification *v, const unsigned char *at, const unsigned char *end,
                           int flags) {
  int head = flags & 4 ? 6 : 4; /* of a message */
  while (end - at >= head && !v->damaged && !v->status) {
    int type = at[0];
    int64_t length = (int64_t)number_at(at + 1, 2);
    const unsigned char *message = at + head;
    if (length > end - message) return;
    if (type == LINK) follow_link(v, message, length);
    if (type == CONTINUATION && length == 16)
      check_block(v, number_at(message, 8), (int64_t)number_at(message + 8, 8), 4, flags);
    at = message + length;
  }
}

/* A header or a continuation of one: length bytes, the last four of which are the checksum, the
 * messages beginning behind head bytes. */
static void check_block(verification *v, uint64_t address, int64_t length, int64_t head,
                        int flags) {
  unsigned char *block;
  if (length < head + 4 || length > LARGEST_HEADER || v->headers++ >= MOST_HEADERS) return;
  v->status = TRS_ALLOC(&block, length);
  if (v->status) return;
  if (!read_at(v, block, length, address) ||
      number_at(block + length - 4, 4) != trs_lookup3(block, length - 4))
    v->damaged = true;
  else
    check_messages(v, block + head, block + length - 4, flags);
  trs_free(block);
}

static void check_header(verification *v, uint64_t address) {
  unsigned char prefix[PREFIX] = {0};
  if (v->damaged || v->status || !read_at(v, prefix, 14, address)) return;
  if (memcmp(prefix, "OHDR\2", 5)) return;
  int flags = prefix[5], size_bytes = 1 << (flags & 3);
  int64_t head = 6 + (flags & 32 ? 16 : 0) + (flags & 16 ? 4 : 0) + size_bytes;
  if (!read_at(v, prefix, head, address)) return;
  uint64_t messages = number_at(prefix + head - size_bytes, size_bytes);
  if (messages > LARGEST_HEADER)
    v->damaged = true; /* far more than any writer puts there */
  else
    check_block(v, address, head + (int64_t)messages + 4, head, flags);
}

trs_status trs_hdf5_verify(int fd, const char *path) {
  verification v = {.fd = fd};
  unsigned char superblock[48];
  if (!read_at(&v, superblock, sizeof superblock, 0) ||
      memcmp(superblock, "\211HDF\r\n\032\n", 8) || superblock[8] < 2 || superblock[9] != 8)
    return TRS_SUCCESS;
  if (number_at(superblock + 44, 4) != trs_lookup3(superblock, 44))
    v.damaged = true;
  else
    check_header(&v, number_at(superblock + 36, 8));
  if (v.damaged)
    return trs_fail(TRS_ERROR_FORMAT, -1,
                    "%s is damaged: a checksum in its HDF5 metadata does not match", path);
  return v.status;
}
