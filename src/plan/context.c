/* context.c - parses "auto", "serial", "threads[:T]" and starts the team. */
#include "plan/context.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { MOST_THREADS = 1024 };

static trs_status parse(trs_context *context, const char *where) {
  size_t length = strcspn(where, ":");
  const char *count = where[length] ? where + length + 1 : NULL;
  if (length >= sizeof context->backend) length = 0;
  memcpy(context->backend, where, length);
  context->threads = trs_cores();
  if (strcmp(context->backend, "serial") == 0) {
    context->threads = 1;
    if (!count) return TRS_SUCCESS;
  } else if (strcmp(context->backend, "auto") == 0) {
    if (!count) return TRS_SUCCESS;
  } else if (strcmp(context->backend, "threads") == 0) {
    if (!count) return TRS_SUCCESS;
    char *rest;
    long threads = strtol(count, &rest, 10);
    if (*count && !*rest && threads >= 1 && threads <= MOST_THREADS) {
      context->threads = (int)threads;
      return TRS_SUCCESS;
    }
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "\"%s\": threads must be 1 to %d", where, MOST_THREADS);
  }
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "no backend \"%s\": this build has auto, serial, threads and threads:T", where);
}

trs_status trs_context_create(trs_context **result, const char *where) {
  if (!result) return trs_fail(TRS_ERROR_ARGUMENT, -1, "ctx is NULL");
  trs_context *context;
  *result = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&context, 1));
  atomic_init(&context->references, 1);
  trs_status status = parse(context, where ? where : "auto");
  if (!status && context->threads > 1) status = trs_team_create(&context->team, context->threads);
  if (status) {
    trs_free(context);
    return status;
  }
  *result = context;
  return TRS_SUCCESS;
}

trs_context *trs_context_retain(trs_context *context) {
  atomic_fetch_add(&context->references, 1);
  return context;
}

void trs_context_destroy(trs_context *context) {
  if (!context || atomic_fetch_sub(&context->references, 1) > 1) return;
  trs_team_destroy(context->team);
  trs_free(context);
}

int trs_context_threads(const trs_context *context) { return context->threads; }
