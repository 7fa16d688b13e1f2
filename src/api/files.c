/* files.c - reading and writing: the context's team is handed to the readers. */
#include "io/io.h"
#include "plan/context.h"

static trs_team *team_of(const trs_read_options *options) {
  return options && options->context ? options->context->team : NULL;
}
