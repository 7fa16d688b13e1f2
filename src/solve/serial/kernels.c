/* kernels.c - substitution by rows and by columns. */
#include "solve/serial/kernels.h"

#define TRS_TEMPLATE "solve/serial/sweep_tmpl.c"
#include "base/instantiate.h"

const trs_serial_kernels TRS_ISA_NAME(trs_serial_kernels) = {.by_rows = TRS_TABLE(by_rows),
                                                             .by_columns = TRS_TABLE(by_columns)};
