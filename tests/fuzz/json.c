/* json.c - any bytes as JSON text. */
#include <string.h>

#include "fuzz.h"
#include "io/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1), word[32]; /* exactly as long as the input: the sanitizer checks
                                              every byte */
  memcpy(text, data, size);
  trs_json json = trs_json_parse(text, size);
  trs_json inner = trs_json_member(json, "binsparse");
  int64_t value;
  trs_json_integer(trs_json_element(trs_json_member(inner, "shape"), 1), &value);
  trs_json_integer(json, &value);
  trs_json_string(trs_json_member(inner, "format"), word, sizeof word);
  trs_json_string(trs_json_element(json, 2), word, sizeof word);
  free(text);
  return 0;
}
