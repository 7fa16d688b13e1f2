/* setting.h - numbers in environment variables. */
#ifndef TRS_BASE_SETTING_H
#define TRS_BASE_SETTING_H

#include "base/status.h"

/* The variable's number, which is not negative; 0 if it is not set or empty. */
TRS_API trs_status trs_setting_limit(double *limit, const char *name);

#endif
