/* fortran.h - formats of Fortran for input, such as (1X,8I9) and (3(1P,E24.16)). */
#ifndef TRS_IO_FORTRAN_H
#define TRS_IO_FORTRAN_H

#include <stdbool.h>
#include <stdint.h>

enum { TRS_FORTRAN_EDITS = 48, TRS_FORTRAN_DEPTH = 8, TRS_FORTRAN_WIDTH = 128 };

typedef struct trs_fortran_edit {
  enum {
    TRS_EDIT_FIELD, /* count fields of a width, with so many digits behind an implied point */
    TRS_EDIT_MOVE,  /* count columns to the right (or left) */
    TRS_EDIT_TO,    /* to column count, from 0 */
    TRS_EDIT_LINE,  /* count lines further */
    TRS_EDIT_SCALE, /* numbers without an exponent are divided by 10^count */
    TRS_EDIT_GROUP, /* what follows, up to its end, count times */
    TRS_EDIT_END    /* of the group that begins behind edit `begin` */
  } kind;
  int count, width, digits, begin;
  bool real; /* a field of F, E, D, G: it has digits and a scale */
} trs_fortran_edit;

typedef struct trs_fortran {
  int nedits;
  int again; /* where it goes on, in a new line, once it is at its end */
  trs_fortran_edit edit[TRS_FORTRAN_EDITS];
  /* Where a read is: the next edit, how often it was done, and the open groups' counts. */
  int at, done, depth, scale;
  int left[TRS_FORTRAN_DEPTH];
} trs_fortran;

/* Reads the format from its parenthesis on, and sets *after behind the closing one.  False: it is
 * not one that a program can read numbers by. */
bool trs_fortran_parse(trs_fortran *f, const char *at, const char *end, const char **after);

/* The next edit of a read, groups left out; NULL at the end of the format. */
const trs_fortran_edit *trs_fortran_next(trs_fortran *f);

/* Goes on in a new line. */
void trs_fortran_restart(trs_fortran *f);

#endif
