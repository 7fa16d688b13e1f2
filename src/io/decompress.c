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
static trs_status bad_data(const trs_reading *reading, const char *kind, const char *why) {
  return trs_fail(TRS_ERROR_FORMAT, -1, "%s: the %s data is %s", reading->path, kind, why);
}

static trs_status grow(trs_buffer *buffer) {
  return buffer->length < buffer->room ? TRS_SUCCESS : trs_buffer_reserve(buffer, 2 * buffer->room);
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

static unsigned piece(int64_t bytes) { return (unsigned)(bytes < 1 << 26 ? bytes : 1 << 26); }

/* One call of inflate; *ended after the last byte of the last member. */
static trs_status inflate_some(z_stream *stream, trs_buffer *buffer, const trs_text *packed,
                               const trs_reading *reading, bool *ended) {
  TRS_TRY(grow(buffer));
  int64_t left = packed->end - (const char *)stream->next_in;
  stream->avail_in = piece(left);
  stream->next_out = (unsigned char *)buffer->data + buffer->length;
  stream->avail_out = piece(buffer->room - buffer->length);
  unsigned room = stream->avail_out;
  int code = inflate(stream, Z_NO_FLUSH);
  buffer->length += room - stream->avail_out;
  if (code == Z_MEM_ERROR) return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory in zlib");
  if (code == Z_BUF_ERROR || (code == Z_OK && left == 0 && stream->avail_out))
    return bad_data(reading, "gzip", "truncated");
  if (code != Z_OK && code != Z_STREAM_END)
    return bad_data(reading, "gzip", stream->msg ? stream->msg : "damaged");
  if (code == Z_STREAM_END) {
    while ((const char *)stream->next_in < packed->end && *stream->next_in == 0)
      stream->next_in++; /* padding, as on tapes */
    *ended = (const char *)stream->next_in == packed->end;
    inflateReset(stream);
  }
  return TRS_SUCCESS;
}

/* The length of the text modulo 2^32 stands in the last four bytes; deflate shrinks at most 1032
 * times. */
static int64_t gzip_length(const trs_text *packed) {
  int64_t size = packed->end - packed->begin, length = 0;
  for (int byte = 0; size >= 18 && byte < 4; byte++)
    length |= (int64_t)(unsigned char)packed->end[byte - 4] << 8 * byte;
  return length > 4 * size && length < 1032 * size ? length : 4 * size;
}

static trs_status gunzip(trs_buffer *buffer, const trs_text *packed, const trs_reading *reading) {
  z_stream stream = {
      .zalloc = take_memory, .zfree = give_memory, .next_in = (unsigned char *)packed->begin};
  if (inflateInit2(&stream, 15 + 16) != Z_OK)
    return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory in zlib");
  bool ended = false;
  trs_status status = trs_buffer_reserve(buffer, gzip_length(packed) + 1);
  while (!status && !ended) {
    status = inflate_some(&stream, buffer, packed, reading, &ended);
    trs_reading_progress(reading, "decompressing",
                         (double)((const char *)stream.next_in - packed->begin) /
                             (double)(packed->end - packed->begin));
  }
  inflateEnd(&stream);
  return status;
}
#else
static trs_status gunzip(trs_buffer *buffer, const trs_text *packed, const trs_reading *reading) {
  (void)buffer, (void)packed;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "%s is compressed by gzip, which this build lacks: install zlib1g-dev and build "
                  "Trireme again, or decompress it first",
                  reading->path);
}
#endif

#if TRS_HAVE_ZSTD
static trs_status unzstd_stream(ZSTD_DStream *stream, trs_buffer *buffer, const trs_text *packed,
                                const trs_reading *reading) {
  size_t size = (size_t)(packed->end - packed->begin), left = 1;
  ZSTD_inBuffer in = {packed->begin, 0, 0};
  bool full = false; /* the last call may have held back output for want of room */
  while (in.pos < size || full) {
    TRS_TRY(grow(buffer));
    in.size = in.pos + (size - in.pos < 1 << 24 ? size - in.pos : 1 << 24);
    ZSTD_outBuffer out = {buffer->data, (size_t)buffer->room, (size_t)buffer->length};
    left = ZSTD_decompressStream(stream, &out, &in);
    if (ZSTD_isError(left)) return bad_data(reading, "zstd", ZSTD_getErrorName(left));
    full = out.pos == out.size && left;
    buffer->length = (int64_t)out.pos;
    trs_reading_progress(reading, "decompressing", (double)in.pos / (double)size);
  }
  return left ? bad_data(reading, "zstd", "truncated") : TRS_SUCCESS;
}

static trs_status unzstd(trs_buffer *buffer, const trs_text *packed, const trs_reading *reading) {
  int64_t size = packed->end - packed->begin;
  ZSTD_DStream *stream = ZSTD_createDStream();
  if (!stream) return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory in zstd");
  trs_status status = trs_buffer_reserve(buffer, 4 * size + 1);
  if (!status) status = unzstd_stream(stream, buffer, packed, reading);
  ZSTD_freeDStream(stream);
  return status;
}
#else
static trs_status unzstd(trs_buffer *buffer, const trs_text *packed, const trs_reading *reading) {
  (void)buffer, (void)packed;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "%s is compressed by zstd, which this build lacks: install libzstd-dev and build "
                  "Trireme again, or decompress it first",
                  reading->path);
}
#endif

static bool begins_with(const trs_text *text, const char *magic, size_t length) {
  return (size_t)(text->end - text->begin) >= length && !memcmp(text->begin, magic, length);
}

trs_status trs_decompress(trs_text *text, const trs_reading *reading) {
  bool gzip = begins_with(text, "\x1f\x8b", 2);
  if (!gzip && !begins_with(text, "\x28\xb5\x2f\xfd", 4)) return TRS_SUCCESS;
  trs_buffer buffer = {0};
  trs_text packed = *text;
  trs_status status = (gzip ? gunzip : unzstd)(&buffer, &packed, reading);
  trs_text_close(&packed);
  *text = (trs_text){0};
  trs_buffer_to_text(&buffer, text, status);
  return status;
}
