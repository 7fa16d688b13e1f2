/* compress.c - gzip and zstd, at levels as fast as formatting numbers on a few threads. */
#include "io/compress.h"

#include <stdbool.h>
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/text.h"

#if TRS_HAVE_ZLIB
#include <zlib.h>
#endif
#if TRS_HAVE_ZSTD
#include <zstd.h>
#endif

enum { GZIP_LEVEL = 3, ZSTD_LEVEL = 3 };

trs_status trs_buffer_reserve(trs_buffer *buffer, int64_t room) {
  if (room <= buffer->room) return TRS_SUCCESS;
  TRS_TRY(trs_realloc((void **)&buffer->data, room, 1));
  buffer->room = room;
  return TRS_SUCCESS;
}

bool trs_ends_with(const char *text, const char *ending) {
  size_t length = strlen(text), tail = strlen(ending);
  return length >= tail && trs_same_letters(text + length - tail, ending, tail);
}

trs_packing trs_packing_of(const char *path) {
  if (trs_ends_with(path, ".gz")) return TRS_GZIP;
  return trs_ends_with(path, ".zst") ? TRS_ZSTD : TRS_PLAIN;
}

trs_status trs_packing_check(trs_packing packing, const char *path) {
  if ((packing == TRS_GZIP && !TRS_HAVE_ZLIB) || (packing == TRS_ZSTD && !TRS_HAVE_ZSTD))
    return trs_fail(
        TRS_ERROR_UNSUPPORTED, -1,
        "cannot write %s: this build lacks %s: install %s and build Trireme from source", path,
        packing == TRS_GZIP ? "gzip" : "zstd", packing == TRS_GZIP ? "zlib1g-dev" : "libzstd-dev");
  return TRS_SUCCESS;
}

#if TRS_HAVE_ZLIB
void *trs_zlib_alloc(void *unused, unsigned items, unsigned size) {
  void *memory;
  (void)unused;
  return trs_alloc(&memory, items, size) ? NULL : memory;
}

void trs_zlib_free(void *unused, void *memory) {
  (void)unused;
  trs_free(memory);
}

static trs_status gzip(trs_buffer *packed, const trs_buffer *text) {
  z_stream stream = {.zalloc = trs_zlib_alloc, .zfree = trs_zlib_free};
  if (deflateInit2(&stream, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory in zlib");
  trs_status status =
      trs_buffer_reserve(packed, (int64_t)deflateBound(&stream, (unsigned long)text->length));
  if (!status) {
    stream.next_in = (unsigned char *)text->data;
    stream.avail_in = (unsigned)text->length;
    stream.next_out = (unsigned char *)packed->data;
    stream.avail_out = (unsigned)packed->room;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
      status = trs_fail(TRS_ERROR_INTERNAL, -1, "zlib needs more space than it announced");
    packed->length = (char *)stream.next_out - packed->data;
  }
  deflateEnd(&stream);
  return status;
}
#endif

#if TRS_HAVE_ZSTD
/* With a checksum of the text; without it one changed bit in nine would go undetected. */
static trs_status zstd(trs_buffer *packed, const trs_buffer *text) {
  size_t bound = ZSTD_compressBound((size_t)text->length);
  TRS_TRY(trs_buffer_reserve(packed, (int64_t)bound));
  ZSTD_CCtx *context = ZSTD_createCCtx();
  if (!context) return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory in zstd");
  size_t length = ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, ZSTD_LEVEL);
  if (!ZSTD_isError(length)) length = ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  if (!ZSTD_isError(length))
    length = ZSTD_compress2(context, packed->data, bound, text->data, (size_t)text->length);
  (void)ZSTD_freeCCtx(context);
  if (ZSTD_isError(length))
    return trs_fail(TRS_ERROR_MEMORY, -1, "zstd: %s", ZSTD_getErrorName(length));
  packed->length = (int64_t)length;
  return TRS_SUCCESS;
}
#endif

trs_status trs_pack(trs_buffer *packed, const trs_buffer *text, trs_packing packing) {
  (void)packed, (void)text;
#if TRS_HAVE_ZLIB
  if (packing == TRS_GZIP) return gzip(packed, text);
#endif
#if TRS_HAVE_ZSTD
  if (packing == TRS_ZSTD) return zstd(packed, text);
#endif
  return trs_packing_check(packing, "compressed data");
}
