/* parameters.c - the engine's parameters and their former names. */
#include "solve/cuda/engine/parameters.h"

#include <stdio.h>
#include <string.h>

#include "analysis/slices.h"
#include "analysis/substitute.h"

/* A whole item, or its beginning up to '='.  Version 0.1 accepts both forms. */
static const struct {
  const char *old, *now;
} renamed[] = {{"regions=auto", "launch-ranges=auto"},
               {"regions=wide", "launch-ranges=warp-per-slice"},
               {"regions=narrow", "launch-ranges=single-block"},
               {"rhs=beside", "rhs=batched"},
               {"rhs=tile", "rhs=many-rhs"},
               {"halves=1", "double-buffer=no"},
               {"halves=2", "double-buffer=yes"},
               {"watch=", "early-poll="},
               {"narrow-rows=", "small-level-rows="}};

enum { RENAMED = sizeof renamed / sizeof renamed[0], MOST_GROWTH = 16 };

/* The place of an item in the table, or RENAMED if it is not there. */
static int find_renamed(const char *item, size_t length) {
  int k = 0;
  while (k < RENAMED) {
    const size_t old = strlen(renamed[k].old);
    const bool is_key = renamed[k].old[old - 1] == '=';
    if ((is_key ? old <= length : old == length) && !strncmp(renamed[k].old, item, old)) break;
    k++;
  }
  return k;
}

static void warn(trs_engine_parameters *p, int k) {
  const size_t used = strlen(p->warning);
  snprintf(p->warning + used, sizeof p->warning - used,
           "%s \"%s\" is now \"%s\" (the old name ends after version 0.1)",
           used ? "," : "; warning:", renamed[k].old, renamed[k].now);
}

/* Copies given into text, with new names. */
static void translate(trs_engine_parameters *p, char *text, const char *given) {
  for (const char *at = given; *at;) {
    size_t length = strcspn(at, ","), kept = 0;
    const int k = find_renamed(at, length);
    if (k < RENAMED) {
      warn(p, k);
      text += sprintf(text, "%s", renamed[k].now);
      kept = strlen(renamed[k].old);
    }
    length += at[length] == ',';
    memcpy(text, at + kept, length - kept);
    text += length - kept;
    at += length;
  }
  *text = '\0';
}

static trs_status read_text(trs_engine_parameters *p, const trs_plan *plan, const char *text) {
  static const char *const no_yes[] = {"no", "yes", NULL};
  static const char *const kernels[] = {"auto", "warp-per-slice", "single-block", "cluster", NULL};
  static const char *const ways[] = {"auto", "batched", "many-rhs", "row-groups", NULL};
  const trs_parameter table[] = {{"block", NULL, 1, TRS_MOST_BLOCK, &p->block},
                                 {"dense", no_yes, 0, 0, &p->dense},
                                 {"early-poll", NULL, 0, 64, &p->early_poll},
                                 {"small-level-rows", NULL, 0, INT32_MAX, &p->small_level_rows},
                                 {"double-buffer", no_yes, 0, 0, &p->double_buffer},
                                 {"work-shift", NULL, 0, 4, &p->work_shift},
                                 {"substitute", NULL, 0, TRS_SUBSTITUTION_DEPTH, &p->substitute},
                                 {"launch-ranges", kernels, 0, 0, &p->ranges},
                                 {"rhs", ways, 0, 0, &p->rhs}};
  return trs_parameters_parse(plan->method->name, text, table, sizeof table / sizeof table[0]);
}

trs_status trs_engine_parameters_read(trs_engine_parameters *p, const trs_plan *plan) {
  const char *given = plan->parameters ? plan->parameters : "";
  int64_t room = (int64_t)strlen(given) + 1;
  char *text;
  *p = (trs_engine_parameters){.block = -1,
                               .dense = -1,
                               .early_poll = -1,
                               .small_level_rows = -1,
                               .double_buffer = -1,
                               .work_shift = -1,
                               .substitute = -1};
  for (const char *c = given; *c; c++) room += *c == '=' ? MOST_GROWTH : 0;
  TRS_TRY(TRS_ALLOC(&text, room));
  translate(p, text, given);
  trs_status status = read_text(p, plan, text);
  trs_free(text);
  return status;
}
