/* share.h - the rows of one member, with their values, of a system whose values are deferred.
 * Host memory holds the values of one member at a time. */
#ifndef TRS_ANALYSIS_SHARE_H
#define TRS_ANALYSIS_SHARE_H

#include "analysis/deal.h"

typedef struct trs_share_rows {
  trs_system S; /* the whole system; the rows of other members are empty */
  int64_t *ptr;
  int32_t *idx;
  void *val;
} trs_share_rows;

/* Gets the values of the share's rows from A, the matrix of S, and checks their diagonal.  S is
 * stored by rows.  trs_outline_fill reads them after trs_outline_renew with rows->S.  Memory for e
 * entries: 4 e + 9 n bytes besides the values. */
trs_status trs_share_rows_create(trs_share_rows *rows, const trs_system *S, const trs_matrix *A,
                                 const trs_slices *s, const trs_deal_share *share);
void trs_share_rows_destroy(trs_share_rows *rows);

#endif
