/* part.h - number of rows per sum of squares, so that norms do not depend on the order of addition.
 */
#ifndef TRS_RELAX_PART_H
#define TRS_RELAX_PART_H

enum { TRS_RELAX_PART = 1024 };

#endif
