/* json.h - looks up values in JSON text (RFC 8259). */
#ifndef TRS_IO_JSON_H
#define TRS_IO_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The text of a value, not terminated.  begin is NULL if there is no value. */
typedef struct trs_json {
  const char *begin, *end;
} trs_json;

/* The value that the whole text consists of; none if the text is not well-formed. */
trs_json trs_json_parse(const char *text, size_t length);

/* A member of an object, an element of an array; none if the value is of another kind or lacks
 * it. */
trs_json trs_json_member(trs_json object, const char *name);
trs_json trs_json_element(trs_json array, int64_t index);

/* An integer of at most 18 digits, also if written as 3.0. */
bool trs_json_integer(trs_json value, int64_t *integer);

/* A string without escapes that fits into size bytes. */
bool trs_json_string(trs_json value, char *text, size_t size);

#endif
