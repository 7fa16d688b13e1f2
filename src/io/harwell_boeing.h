/* harwell_boeing.h - reads matrices in the Harwell-Boeing and the Rutherford-Boeing format. */
#ifndef TRS_IO_HARWELL_BOEING_H
#define TRS_IO_HARWELL_BOEING_H

#include "io/window.h"
#include "matrix/matrix.h"

/* True if the text begins with the head of such a file. */
bool trs_is_harwell_boeing(const char *text, const char *end);

/* Reads the matrix of an open window. */
trs_status trs_harwell_boeing_read(trs_matrix **A, trs_window *window, const trs_reading *reading);

#endif
