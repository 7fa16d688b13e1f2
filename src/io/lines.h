/* lines.h - finds the starts of many lines at once.  A line's start then does not depend on parsing
 * the line before, so the processor can work on several lines at the same time. */
#ifndef TRS_IO_LINES_H
#define TRS_IO_LINES_H

#include "io/number.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { TRS_LINES = 256, TRS_LINES_STEP = 64 };

/* Bit k is set if character k, of 64, is a newline. */
static inline uint64_t trs_newlines(const char *text) {
  uint64_t mask = 0;
#if defined(__SSE2__)
  const __m128i newline = _mm_set1_epi8('\n');
  for (int k = 0; k < 4; k++) {
    __m128i chars = _mm_loadu_si128((const __m128i *)(const void *)(text + 16 * k));
    mask |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(chars, newline)) << 16 * k;
  }
#else
  for (int k = 0; k < 8; k++) {
    const uint64_t low = 0x7F7F7F7F7F7F7F7Fu;
    uint64_t other = trs_eight_chars(text + 8 * k) ^ 0x0A0A0A0A0A0A0A0Au;
    uint64_t equal = ~(((other & low) + low) | other | low); /* 0x80 in bytes where other is 0 */
    mask |= ((equal >> 7) * 0x0102040810204080u >> 56) << 8 * k;
  }
#endif
  return mask;
}

/* Finds lines of [text, end), which begins and ends at line boundaries.  Line k of the count
 * returned is [starts[k], starts[k + 1]), with its newline.  Reads up to 64 bytes beyond the
 * end. */
static inline int trs_find_lines(const char *text, const char *end,
                                 const char *starts[TRS_LINES + 1]) {
  int count = 0;
  starts[0] = text;
  for (; text < end && count <= TRS_LINES - TRS_LINES_STEP; text += TRS_LINES_STEP) {
    uint64_t mask = trs_newlines(text);
    if (end - text < TRS_LINES_STEP) mask &= ((uint64_t)1 << (end - text)) - 1;
    int found = __builtin_popcountll(mask);
    for (int k = 1; k <= 4; k++) { /* may exceed the lines; avoids an unpredictable branch */
      starts[count + k] = text + (mask ? __builtin_ctzll(mask) : 0) + 1;
      mask &= mask - 1;
    }
    for (int k = 5; k <= found; k++) {
      starts[count + k] = text + __builtin_ctzll(mask) + 1;
      mask &= mask - 1;
    }
    count += found;
  }
  if (text >= end && starts[count] < end) starts[++count] = end; /* the last line has no newline */
  return count;
}

#endif
