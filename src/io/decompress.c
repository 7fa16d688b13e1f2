/* decompress.c - unpacks gzip (RFC 1952, also several members) and zstd (RFC 8878) to text in
 * memory. */
#include "io/decompress.h"

#include "base/cancel.h"
#include "base/config.h"
#include "base/memory.h"
#include "io/compress.h"
#include "io/foreign.h"

#if TRS_HAVE_ZLIB
#include <zlib.h>
#endif
#if TRS_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

enum { INPUT_BYTES = 1 << 18 };

static const char *name_of(const trs_unpacker *u) { return u->gzip ? "gzip" : "zstd"; }

#if TRS_HAVE_ZLIB || TRS_HAVE_ZSTD
static trs_status damaged(const trs_unpacker *u) {
  return trs_fail(TRS_ERROR_FORMAT, -1, "%s: the %s data is damaged near byte %lld",
                  u->source->reading->path, name_of(u), (long long)(u->at - u->length));
}

static trs_status truncated(const trs_unpacker *u) {
  return trs_fail(TRS_ERROR_FORMAT, -1, "%s: the %s data is truncated: it ends after %lld bytes",
                  u->source->reading->path, name_of(u), (long long)u->at);
}

/* Reads input unless some is left; length stays 0 at the end of the source. */
static trs_status refill(trs_unpacker *u) {
  if (u->length) return TRS_SUCCESS;
  u->begin = 0;
  TRS_TRY(trs_source_read(u->source, u->at, u->input, INPUT_BYTES, &u->length));
  u->at += u->length;
  return TRS_SUCCESS;
}

static void consume_input(trs_unpacker *u, int64_t count) {
  u->begin += count;
  u->length -= count;
}
#endif

#if TRS_HAVE_ZLIB
static trs_status gunzip_open(trs_unpacker *u) {
  z_stream *stream;
  TRS_TRY(TRS_ALLOC_ZERO(&stream, 1));
  stream->zalloc = trs_zlib_alloc;
  stream->zfree = trs_zlib_free;
  if (inflateInit2(stream, 15 + 16) != Z_OK) {
    trs_free(stream);
    return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory in zlib");
  }
  u->stream = stream;
  return TRS_SUCCESS;
}

static unsigned piece(int64_t bytes) { return (unsigned)(bytes < 1 << 26 ? bytes : 1 << 26); }

/* After a member: another member, or the end, possibly after zero padding as on tapes. */
static trs_status find_member(trs_unpacker *u) {
  inflateReset(u->stream);
  u->inside = false;
  do {
    TRS_TRY(refill(u));
    u->ended = !u->length;
    while (u->length && !u->input[u->begin]) consume_input(u, 1);
  } while (!u->ended && !u->length);
  return TRS_SUCCESS;
}

/* One call of inflate.  Unpacking has ended after the last byte of the last member. */
static trs_status gunzip_read(trs_unpacker *u, char *to, int64_t room, int64_t *got) {
  z_stream *stream = u->stream;
  TRS_TRY(refill(u));
  bool last = !u->length; /* zlib may still hold output */
  stream->next_in = (unsigned char *)u->input + u->begin;
  stream->avail_in = piece(u->length);
  stream->next_out = (unsigned char *)to;
  stream->avail_out = piece(room);
  *got = stream->avail_out;
  int code = inflate(stream, Z_NO_FLUSH);
  *got -= stream->avail_out;
  consume_input(u, (char *)stream->next_in - (u->input + u->begin));
  if (code == Z_MEM_ERROR) return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory in zlib");
  if (code == Z_BUF_ERROR || (code == Z_OK && last && stream->avail_out)) return truncated(u);
  if (code != Z_OK && code != Z_STREAM_END) return damaged(u);
  return code == Z_STREAM_END ? find_member(u) : TRS_SUCCESS;
}

static void gunzip_close(trs_unpacker *u) {
  inflateEnd(u->stream);
  trs_free(u->stream);
}
#endif

#if TRS_HAVE_ZSTD
static trs_status unzstd_open(trs_unpacker *u) {
  u->stream = ZSTD_createDStream();
  if (!u->stream) return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory in zstd");
  return TRS_SUCCESS;
}

static trs_status unzstd_error(const trs_unpacker *u, size_t code) {
  const char *path = u->source->reading->path, *why = NULL;
  switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
      return trs_fail(TRS_ERROR_MEMORY, -1, "%s: out of memory in zstd", path);
    case ZSTD_error_checksum_wrong:
      return trs_fail(TRS_ERROR_FORMAT, -1,
                      "%s: the zstd data is damaged before byte %lld: its checksum does not match",
                      path, (long long)(u->at - u->length));
    case ZSTD_error_frameParameter_windowTooLarge:
      why = "needs more than 128 MB to be unpacked: compress the text without --long";
      break;
    case ZSTD_error_dictionary_wrong:
      why = "needs a dictionary, which is not supported: compress the text without one";
      break;
    default:
      return damaged(u);
  }
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "%s: the zstd data %s", path, why);
}

static trs_status unzstd_read(trs_unpacker *u, char *to, int64_t room, int64_t *got) {
  TRS_TRY(refill(u));
  bool last = !u->length;
  ZSTD_inBuffer in = {u->input + u->begin, (size_t)u->length, 0};
  ZSTD_outBuffer out = {to, (size_t)room, 0};
  if (!last || u->full) {
    size_t left = ZSTD_decompressStream(u->stream, &out, &in);
    *got = (int64_t)out.pos;
    consume_input(u, (int64_t)in.pos);
    if (ZSTD_isError(left)) return unzstd_error(u, left);
    u->inside = left != 0;
    u->full = out.pos == out.size && left;
  }
  u->ended = last && !u->full;
  return u->ended && u->inside ? truncated(u) : TRS_SUCCESS;
}

static void unzstd_close(trs_unpacker *u) { ZSTD_freeDStream(u->stream); }
#endif

static bool begins_with(const trs_source *source, const char *magic, int length) {
  return source->nfirst >= length && !memcmp(source->first, magic, (size_t)length);
}

static bool is_gzip(const trs_source *source) { return begins_with(source, "\x1f\x8b", 2); }

bool trs_is_packed(const trs_source *source) {
  return is_gzip(source) || begins_with(source, "\x28\xb5\x2f\xfd", 4);
}

/* By the first bytes; by the name if these are not the start of readable text. */
trs_status trs_packing_known(const trs_source *source) {
  static const struct {
    const char *magic, *ending, *name, *remedy;
    int length;
  } others[] = {{"BZh", ".bz2", "bzip2", "bunzip2", 3},
                {"\xfd"
                 "7zXZ",
                 ".xz", "xz", "unxz", 5},
                {"\x5d\0\0", ".lzma", "lzma", "unlzma", 3},
                {"\x04\x22\x4d\x18", ".lz4", "lz4", "unlz4 -m", 4},
                {"\x1f\x9d", ".Z", "compress", "uncompress", 2},
                {"PK\x03\x04", ".zip", "zip", "unzip", 4}};
  char word[256];
  const char *path = source->reading->path, *dot = strrchr(path, '.');
  const char *name = trs_shell_word(word, sizeof word, path);
  bool text = begins_with(source, "%", 1) || trs_is_packed(source);
  for (size_t k = 0; k < sizeof others / sizeof *others; k++)
    if (begins_with(source, others[k].magic, others[k].length) ||
        (dot && !text && source->nfirst && !strcmp(dot, others[k].ending)))
      return trs_fail(
          TRS_ERROR_UNSUPPORTED, -1,
          "%s is compressed by %s, which is not supported: decompress it first (%s %s), or "
          "compress it by gzip or zstd",
          path, others[k].name, others[k].remedy, name ? name : "FILE");
  return TRS_SUCCESS;
}

typedef struct library {
  trs_status (*open)(trs_unpacker *u);
  trs_status (*read)(trs_unpacker *u, char *to, int64_t room, int64_t *got);
  void (*close)(trs_unpacker *u);
} library;

/* NULL if this build lacks it. */
static const library *library_for(const trs_unpacker *u) {
#if TRS_HAVE_ZLIB
  static const library zlib = {gunzip_open, gunzip_read, gunzip_close};
  if (u->gzip) return &zlib;
#endif
#if TRS_HAVE_ZSTD
  static const library zstd = {unzstd_open, unzstd_read, unzstd_close};
  if (!u->gzip) return &zstd;
#endif
  (void)u;
  return NULL;
}

/* The remedy is a command: a tar file would need a second one if only its compression were undone.
 */
static trs_status refuse(const trs_unpacker *u) {
  char word[256];
  const char *path = u->source->reading->path, *file = trs_shell_word(word, sizeof word, path);
  const bool tar = strstr(path, ".tar.") || strstr(path, ".tgz") || strstr(path, ".tzst");
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "%s is compressed by %s, which this build lacks: install %s and build Trireme "
                  "from source, or %s it first (%s %s)",
                  path, name_of(u), u->gzip ? "zlib1g-dev" : "libzstd-dev",
                  tar ? "unpack" : "decompress",
                  tar       ? "tar xf"
                  : u->gzip ? "gunzip"
                            : "unzstd",
                  file ? file : "FILE");
}

trs_status trs_unpacker_open(trs_unpacker *u, trs_source *source) {
  *u = (trs_unpacker){.source = source, .gzip = is_gzip(source)};
  if (!library_for(u)) return refuse(u);
  TRS_TRY(library_for(u)->open(u));
  return TRS_ALLOC(&u->input, INPUT_BYTES);
}

trs_status trs_unpacker_read(trs_unpacker *u, char *to, int64_t room, int64_t *got) {
  *got = 0;
  TRS_TRY(trs_cancelled());
  TRS_TRY(library_for(u)->read(u, to, room, got));
  if (u->source->size > 0)
    trs_reading_progress(u->source->reading, "decompressing",
                         (double)(u->at - u->length) / (double)u->source->size);
  return TRS_SUCCESS;
}

void trs_unpacker_close(trs_unpacker *u) {
  if (u->stream) library_for(u)->close(u);
  trs_free(u->input);
  u->stream = NULL;
  u->input = NULL;
}

/* deflate expands at most 1032 times.  A zstd block has at least 4 bytes and unpacks to at most 128
 * KiB. */
int64_t trs_unpacked_most(const trs_source *source) {
  int64_t each = is_gzip(source) ? 1032 : 1 << 15;
  return source->size < 0 || source->size > INT64_MAX / each ? INT64_MAX : source->size * each;
}
