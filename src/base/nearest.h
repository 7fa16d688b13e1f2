/* nearest.h - the known word that a mistyped one means, for messages. */
#ifndef TRS_BASE_NEAREST_H
#define TRS_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the known word nearest to a mistyped one; false if none is near.  words: separated by
 * '|'. */
bool trs_nearest(char *near, size_t size, const char *typed, const char *words);

/* ", did you mean WORD?" for the known word nearest to a mistyped one; "" if none is near.  Returns
 * text. */
const char *trs_suggestion(char *text, size_t size, const char *typed, const char *words);

/* The next of words separated by '|'; its length, 0 behind the last. */
size_t trs_next_word(const char **words, const char **begin);

#endif
