/* part.h - rows of one sum of squares, so that norms do not depend on who adds. */
#ifndef TRS_RELAX_PART_H
#define TRS_RELAX_PART_H

enum { TRS_RELAX_PART = 1024 };

#endif
