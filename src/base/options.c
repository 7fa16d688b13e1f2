/* options.c - fields of the public option structures against their domains, and limits that
 * environment variables set. */
#include "base/options.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

static trs_status refuse(const char *structure, const trs_option *o) {
  char domain[64];
  if (o->most == INT64_MAX)
    snprintf(domain, sizeof domain, "at least %lld", (long long)o->least);
  else if (o->least + 1 == o->most)
    snprintf(domain, sizeof domain, "%lld or %lld", (long long)o->least, (long long)o->most);
  else
    snprintf(domain, sizeof domain, "from %lld to %lld", (long long)o->least, (long long)o->most);
  return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is %lld: in a %s it must be %s", o->name,
                  (long long)o->value, structure, domain);
}

trs_status trs_options_check(const char *structure, const trs_option *options, int count) {
  for (int k = 0; k < count; k++)
    if (options[k].value < options[k].least || options[k].value > options[k].most)
      return refuse(structure, &options[k]);
  return TRS_SUCCESS;
}

trs_status trs_option_check_real(const char *structure, const char *name, double value,
                                 double least, double most) {
  char domain[80] = "";
  if (value >= least && value <= most && isfinite(value)) return TRS_SUCCESS;
  if (least > -DBL_MAX && most < DBL_MAX)
    trs_print(domain, sizeof domain, " from %g to %g", least, most);
  return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is %g: in a %s it must be a finite number%s", name,
                  value, structure, domain);
}

trs_status trs_setting_limit(double *limit, const char *name) {
  const char *text = getenv(name), *rest;
  *limit = 0;
  if (!text || !*text) return TRS_SUCCESS;
  const double given = trs_number(text, &rest);
  if (rest == text || *rest || !(given >= 0) || !isfinite(given))
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "the environment variable %s is \"%s\": it must be a number, 0 for no limit",
                    name, text);
  *limit = given;
  return TRS_SUCCESS;
}
