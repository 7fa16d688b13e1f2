/* text.c - the C library's functions under its locale "C", which the calling thread has for the
 * time of the call (uselocale).  That locale always exists, and costs no memory. */
#define _GNU_SOURCE /* newlocale */
#include "base/text.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static locale_t plain;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_plain(void) { plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

static locale_t enter(void) {
  pthread_once(&once, make_plain);
  return plain ? uselocale(plain) : (locale_t)0;
}

static void leave(locale_t before) {
  if (before) uselocale(before);
}

int trs_print_list(char *text, size_t size, const char *format, va_list arguments) {
  locale_t before = enter();
  int length = vsnprintf(text, size, format, arguments);
  leave(before);
  return length;
}

int trs_print(char *text, size_t size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = trs_print_list(text, size, format, arguments);
  va_end(arguments);
  return length;
}

double trs_number(const char *text, const char **end) {
  char *rest;
  locale_t before = enter();
  double value = strtod(text, &rest);
  leave(before);
  if (end) *end = rest;
  return value;
}

const char *trs_error_text(int error) {
  locale_t before = enter();
  const char *text = strerror(error);
  leave(before);
  return text;
}

const char *trs_signal_text(int number) {
  locale_t before = enter();
  const char *text = strsignal(number);
  leave(before);
  return text ? text : "unknown";
}

bool trs_same_letters(const char *a, const char *b, size_t length) {
  for (size_t k = 0; k < length; k++) {
    if (trs_lower(a[k]) != trs_lower(b[k])) return false;
    if (!a[k]) return true;
  }
  return true;
}
