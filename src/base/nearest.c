/* nearest.c - the nearest known word to a mistyped one, by the optimal string alignment distance
 * (insert, delete, replace, swap neighbours).  O(length^2) a word. */
#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 40 };

size_t trs_next_word(const char **words, const char **begin) {
  *begin = *words;
  size_t length = strcspn(*words, "|");
  *words += length + ((*words)[length] == '|');
  return length;
}

static int least(int a, int b) { return a < b ? a : b; }

static int distance(const char *a, size_t na, const char *b, size_t nb) {
  int d[LONGEST + 1][LONGEST + 1];
  for (size_t i = 0; i <= na; i++) d[i][0] = (int)i;
  for (size_t j = 0; j <= nb; j++) d[0][j] = (int)j;
  for (size_t i = 1; i <= na; i++)
    for (size_t j = 1; j <= nb; j++) {
      int cost = a[i - 1] != b[j - 1];
      d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + cost);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[na][nb];
}

/* The distance between the word and the typed text; none for the beginning of a word. */
static int far(const char *typed, const char *word, size_t length) {
  size_t typed_length = strlen(typed);
  if (typed_length > LONGEST || length > LONGEST) return LONGEST;
  if (typed_length >= 2 && typed_length < length && !strncmp(typed, word, typed_length)) return 0;
  return distance(typed, typed_length, word, length);
}

bool trs_nearest(char *near, size_t size, const char *typed, const char *words) {
  const char *word;
  int best = 1 + (int)strlen(typed) / 3 + 1;
  bool found = false;
  for (size_t length; (length = trs_next_word(&words, &word));) {
    int d = far(typed, word, length);
    if (d >= best || length >= size) continue;
    best = d;
    found = true;
    memcpy(near, word, length);
    near[length] = 0;
  }
  return found;
}

const char *trs_suggestion(char *text, size_t size, const char *typed, const char *words) {
  char near[LONGEST + 1];
  text[0] = '\0';
  if (trs_nearest(near, sizeof near, typed, words))
    snprintf(text, size, ", did you mean %s?", near);
  return text;
}
