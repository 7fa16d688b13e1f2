/* share.h - one member's rows of a system whose values are deferred, with their values: so much of
 * them is in host memory at a time. */
#ifndef TRS_ANALYSIS_SHARE_H
#define TRS_ANALYSIS_SHARE_H

#include "analysis/deal.h"

typedef struct trs_share_rows {
  trs_system S; /* the whole system, the rows of other members empty */
  int64_t *ptr;
  int32_t *idx;
  void *val;
} trs_share_rows;

/* Asks A, the matrix of S, for the values of the share's rows, and checks their diagonal.  S is
 * stored by rows.  trs_outline_fill finds them after trs_outline_renew with rows->S.  Of e entries
 * 4 e bytes beside the values, and 9 n. */
trs_status trs_share_rows_create(trs_share_rows *rows, const trs_system *S, const trs_matrix *A,
                                 const trs_slices *s, const trs_deal_share *share);
void trs_share_rows_destroy(trs_share_rows *rows);

#endif
