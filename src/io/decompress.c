/* decompress.c - gzip (RFC 1952, several members too) and zstd (RFC 8878) to text in memory. */
#include "io/decompress.h"

#include "base/config.h"
#include "base/memory.h"

#if TRS_HAVE_ZLIB
#include <zlib.h>
#endif
#if TRS_HAVE_ZSTD
#include <zstd.h>
#endif

trs_status trs_buffer_reserve(trs_buffer *buffer, int64_t room) {
  if (room <= buffer->room) return TRS_SUCCESS;
  TRS_TRY(trs_realloc((void **)&buffer->data, room + TRS_TEXT_SLACK, 1));
  buffer->room = room;
  return TRS_SUCCESS;
}

void trs_buffer_to_text(trs_buffer *buffer, trs_text *text, trs_status status) {
  if (status) {
    trs_free(buffer->data);
    return;
  }
  memset(buffer->data + buffer->length, 0, TRS_TEXT_SLACK);
  *text =
      (trs_text){.begin = buffer->data, .end = buffer->data + buffer->length, .heap = buffer->data};
}

#if TRS_HAVE_ZLIB || TRS_HAVE_ZSTD
static trs_status bad_data(const trs_unpacker *u, const char *why) {
  return trs_fail(TRS_ERROR_FORMAT, -1, "%s: the %s data is %s", u->reading->path,
                  u->gzip ? "gzip" : "zstd", why);
}
#endif

#if TRS_HAVE_ZLIB
static void *take_memory(void *unused, unsigned items, unsigned size) {
  void *memory;
  (void)unused;
  return trs_alloc(&memory, items, size) ? NULL : memory;
}

static void give_memory(void *unused, void *memory) {
  (void)unused;
  trs_free(memory);
}

static trs_status gunzip_open(trs_unpacker *u) {
  z_stream *stream;
  TRS_TRY(TRS_ALLOC_ZERO(&stream, 1));
  stream->zalloc = take_memory;
  stream->zfree = give_memory;
  if (inflateInit2(stream, 15 + 16) != Z_OK) {
    trs_free(stream);
    return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory in zlib");
  }
  u->stream = stream;
  return TRS_SUCCESS;
}

static unsigned piece(int64_t bytes) { return (unsigned)(bytes < 1 << 26 ? bytes : 1 << 26); }

/* One call of inflate; it has ended after the last byte of the last member. */
static trs_status gunzip_read(trs_unpacker *u, char *to, int64_t room, int64_t *got) {
  z_stream *stream = u->stream;
  const char *end = u->packed->end;
  int64_t left = end - (u->packed->begin + u->at);
  stream->next_in = (unsigned char *)u->packed->begin + u->at;
  stream->avail_in = piece(left);
  stream->next_out = (unsigned char *)to;
  stream->avail_out = piece(room);
  *got = stream->avail_out;
  int code = inflate(stream, Z_NO_FLUSH);
  *got -= stream->avail_out;
  if (code == Z_MEM_ERROR) return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory in zlib");
  if (code == Z_BUF_ERROR || (code == Z_OK && left == 0 && stream->avail_out))
    return bad_data(u, "truncated");
  if (code != Z_OK && code != Z_STREAM_END)
    return bad_data(u, stream->msg ? stream->msg : "damaged");
  const char *next = (const char *)stream->next_in;
  if (code == Z_STREAM_END) {
    while (next < end && *next == 0) next++; /* padding, as on tapes */
    u->ended = next == end;
    inflateReset(stream);
  }
  u->at = next - u->packed->begin;
  return TRS_SUCCESS;
}

static void gunzip_close(trs_unpacker *u) {
  inflateEnd(u->stream);
  trs_free(u->stream);
}
#else
static trs_status gunzip_open(trs_unpacker *u) {
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "%s is compressed by gzip, which this build lacks: install zlib1g-dev and build "
                  "Trireme again, or decompress it first",
                  u->reading->path);
}
static trs_status gunzip_read(trs_unpacker *u, char *to, int64_t room, int64_t *got) {
  (void)to, (void)room, (void)got;
  return gunzip_open(u);
}
static void gunzip_close(trs_unpacker *u) { (void)u; }
#endif

#if TRS_HAVE_ZSTD
static trs_status unzstd_open(trs_unpacker *u) {
  u->stream = ZSTD_createDStream();
  if (!u->stream) return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory in zstd");
  return TRS_SUCCESS;
}

static trs_status unzstd_read(trs_unpacker *u, char *to, int64_t room, int64_t *got) {
  size_t size = (size_t)(u->packed->end - u->packed->begin), at = (size_t)u->at;
  ZSTD_inBuffer in = {u->packed->begin, at + (size - at < 1 << 24 ? size - at : 1 << 24), at};
  ZSTD_outBuffer out = {to, (size_t)room, 0};
  size_t left = ZSTD_decompressStream(u->stream, &out, &in);
  *got = (int64_t)out.pos;
  u->at = (int64_t)in.pos;
  if (ZSTD_isError(left)) return bad_data(u, ZSTD_getErrorName(left));
  u->full = out.pos == out.size && left;
  u->ended = in.pos == size && !u->full;
  return u->ended && left ? bad_data(u, "truncated") : TRS_SUCCESS;
}

static void unzstd_close(trs_unpacker *u) { ZSTD_freeDStream(u->stream); }
#else
static trs_status unzstd_open(trs_unpacker *u) {
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "%s is compressed by zstd, which this build lacks: install libzstd-dev and build "
                  "Trireme again, or decompress it first",
                  u->reading->path);
}
static trs_status unzstd_read(trs_unpacker *u, char *to, int64_t room, int64_t *got) {
  (void)to, (void)room, (void)got;
  return unzstd_open(u);
}
static void unzstd_close(trs_unpacker *u) { (void)u; }
#endif

static bool begins_with(const trs_text *text, const char *magic, size_t length) {
  return (size_t)(text->end - text->begin) >= length && !memcmp(text->begin, magic, length);
}

static bool is_gzip(const trs_text *text) { return begins_with(text, "\x1f\x8b", 2); }

bool trs_is_packed(const trs_text *text) {
  return is_gzip(text) || begins_with(text, "\x28\xb5\x2f\xfd", 4);
}

trs_status trs_unpacker_open(trs_unpacker *u, const trs_text *packed, const trs_reading *reading) {
  *u = (trs_unpacker){.reading = reading, .packed = packed, .gzip = is_gzip(packed)};
  return u->gzip ? gunzip_open(u) : unzstd_open(u);
}

trs_status trs_unpacker_read(trs_unpacker *u, char *to, int64_t room, int64_t *got) {
  *got = 0;
  TRS_TRY(u->gzip ? gunzip_read(u, to, room, got) : unzstd_read(u, to, room, got));
  trs_reading_progress(u->reading, "decompressing",
                       (double)u->at / (double)(u->packed->end - u->packed->begin));
  return TRS_SUCCESS;
}

void trs_unpacker_close(trs_unpacker *u) {
  if (u->stream) (u->gzip ? gunzip_close : unzstd_close)(u);
  u->stream = NULL;
}

/* Of gzip the length of the text modulo 2^32 stands in the last four bytes; deflate shrinks at most
 * 1032 times. */
static int64_t guess_length(const trs_text *packed) {
  int64_t size = packed->end - packed->begin, length = 0;
  for (int byte = 0; is_gzip(packed) && size >= 18 && byte < 4; byte++)
    length |= (int64_t)(unsigned char)packed->end[byte - 4] << 8 * byte;
  return length > 4 * size && length < 1032 * size ? length : 4 * size;
}

static trs_status unpack(trs_buffer *buffer, trs_unpacker *u) {
  TRS_TRY(trs_buffer_reserve(buffer, guess_length(u->packed) + 1));
  while (!u->ended) {
    int64_t got;
    if (buffer->length == buffer->room) TRS_TRY(trs_buffer_reserve(buffer, 2 * buffer->room));
    TRS_TRY(
        trs_unpacker_read(u, buffer->data + buffer->length, buffer->room - buffer->length, &got));
    buffer->length += got;
  }
  return TRS_SUCCESS;
}

trs_status trs_decompress(trs_text *text, const trs_reading *reading) {
  if (!trs_is_packed(text)) return TRS_SUCCESS;
  trs_buffer buffer = {0};
  trs_text packed = *text;
  trs_unpacker u;
  trs_status status = trs_unpacker_open(&u, &packed, reading);
  if (!status) status = unpack(&buffer, &u);
  trs_unpacker_close(&u);
  trs_text_close(&packed);
  *text = (trs_text){0};
  trs_buffer_to_text(&buffer, text, status);
  return status;
}
