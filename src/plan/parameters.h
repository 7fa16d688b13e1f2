/* parameters.h - the text behind a method's name: "syncfree-csc:warps=8,scratchpad=no". */
#ifndef TRS_PLAN_PARAMETERS_H
#define TRS_PLAN_PARAMETERS_H

#include "plan/plan.h"

typedef struct trs_parameter {
  const char *key;
  const char *const *words; /* NULL-terminated, the value is the index of a word; NULL: a number */
  int64_t least, most;      /* of a number */
  int64_t *value;           /* holds the default on entry; overwritten if the parameter is given */
} trs_parameter;

/* Reads text, which may be NULL, or plan->parameters into the table's values.  TRS_ERROR_ARGUMENT
 * names an unknown key or a value outside its domain, and lists the valid ones. */
trs_status trs_parameters_parse(const char *name, const char *text, const trs_parameter *table,
                                int count);
trs_status trs_parameters_read(const trs_plan *plan, const trs_parameter *table, int count);

#endif
