/* setting.c - limits that environment variables set. */
#include "base/setting.h"

#include <math.h>
#include <stdlib.h>

#include "base/text.h"

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
