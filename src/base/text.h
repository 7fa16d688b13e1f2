/* text.h - texts that do not depend on the locale of the calling program: a number has a point, and
 * letters are those of ASCII.  The functions need the C library alone, because the command links
 * them too.  tools/check_locale keeps the C library's own functions out of other files. */
#ifndef TRS_BASE_TEXT_H
#define TRS_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As snprintf and vsnprintf. */
int trs_print(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int trs_print_list(char *text, size_t size, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/* As strtod; *end (or NULL) is the end of the number, text itself if there is none. */
double trs_number(const char *text, const char **end);

/* As strerror and strsignal, in English.  The text is constant, or valid until the thread's next
 * call. */
const char *trs_error_text(int error);
const char *trs_signal_text(int number);

/* Lower case and upper case of ASCII letters; other bytes stay as they are. */
static inline char trs_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }
static inline char trs_upper(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 32) : c; }

/* True for a character of ASCII that leaves a mark, and for the blank. */
static inline bool trs_is_plain(char c) { return c >= ' ' && c <= '~'; }

/* True if the first `length` bytes are the same but for the case of letters.  Ends at a zero. */
bool trs_same_letters(const char *a, const char *b, size_t length);

#ifdef __cplusplus
}
#endif

#endif
