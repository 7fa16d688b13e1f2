/* options.h - fields of the public option structures against their domains, and numbers in
 * environment variables. */
#ifndef TRS_BASE_OPTIONS_H
#define TRS_BASE_OPTIONS_H

#include "base/status.h"

/* A whole number, an enumerator or a flag: flags are from 0 to 1. */
typedef struct trs_option {
  const char *name;
  int64_t value, least, most;
} trs_option;

/* TRS_ERROR_ARGUMENT for the first of count fields that is outside its domain: it names the field,
 * the structure, the value and the domain. */
TRS_API trs_status trs_options_check(const char *structure, const trs_option *options, int count);

/* The same for a number that must be finite and from least to most. */
TRS_API trs_status trs_option_check_real(const char *structure, const char *name, double value,
                                         double least, double most);

/* The variable's number, which is not negative; 0 if it is not set or empty. */
TRS_API trs_status trs_setting_limit(double *limit, const char *name);

#endif
