/* choose.h - orders of complete LU to try, one after the other. */
#ifndef TRS_FACTOR_CHOOSE_H
#define TRS_FACTOR_CHOOSE_H

#include "factor/kinds.h"

typedef struct trs_choice {
  const trs_matrix *A; /* with its rows exchanged */
  bool zeros;          /* rows were exchanged, for there were zeros on the diagonal */
  bool unmatched;      /* there are zeros, since the search for other rows was given up */
  double rivals;       /* share of A's other entries that are at least half as large as the diagonal
                          entry of their column */
  int leaves;
  bool fixed_threshold; /* the caller has chosen when diagonal entries stay pivots */
  enum {
    TRS_CHOICE_FIRST,
    TRS_CHOICE_DISSECTION,
    TRS_CHOICE_LOWER,
    TRS_CHOICE_COLUMNS,
    TRS_CHOICE_PARTS,
    TRS_CHOICE_LAST,
    TRS_CHOICE_NONE
  } next;
  /* the choice's own */
  trs_ordering amd;
  double predicted;       /* entries of L and U in AMD's order */
  double most_operations; /* for which SuperLU is not needed */
  bool light;
} trs_choice;

typedef struct trs_attempt {
  trs_order order;
  trs_ordering ordering;
  double threshold;                     /* 0: as without a choice */
  double most_entries, most_operations; /* where it stops */
  char why[160];
} trs_attempt;

/* The next way to try, whose ordering the caller frees.  The last has no limits. */
trs_status trs_choice_next(trs_choice *choice, trs_attempt *attempt);
bool trs_choice_has_next(const trs_choice *choice);
void trs_choice_end(trs_choice *choice);

#endif
