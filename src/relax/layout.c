/* layout.c - the numbering of a domain: own rows by colour, within a colour first those that other
 * domains read, then in the caller's order; behind them the rows of other domains that own rows
 * read, by colour and owner, so that a message is received in place.  Both sides of a message list
 * its rows in the caller's order, each computed from the graph alone.  A row's blocks have the
 * order of positions in one domain, so that its sum has the same bits.  O(n + own blocks). */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "relax/domains.h"

typedef struct layout {
  trs_relaxation *R;
  const trs_block_system *S;
  int32_t me;
  int32_t *global; /* n: position of a row in one domain */
  int32_t *at;     /* n: local position of the row at such a position; -1: not in this domain */
} layout;

/* A row, with its source or destination domain. */
typedef struct message_row {
  int32_t colour, domain, row;
} message_row;

static bool is_own(const layout *l, int64_t i) { return !l->S->owner || l->S->owner[i] == l->me; }

static bool is_read_elsewhere(const layout *l, int64_t i) {
  const trs_block_pattern *P = &l->S->read_by;
  if (!l->S->owner) return false;
  for (int64_t p = P->ptr[i]; p < P->ptr[i + 1]; p++)
    if (!is_own(l, P->idx[p])) return true;
  return false;
}

/* ---- Positions ---- */

static trs_status number_globally(const layout *l) {
  const trs_block_system *S = l->S;
  int64_t *next;
  TRS_TRY(TRS_ALLOC_ZERO(&next, S->ncolours + 1));
  for (int64_t i = 0; i < S->reads.n; i++) next[S->colour[i] + 1]++;
  for (int32_t c = 0; c < S->ncolours; c++) next[c + 1] += next[c];
  for (int64_t i = 0; i < S->reads.n; i++) l->global[i] = (int32_t)next[S->colour[i]]++;
  trs_free(next);
  return TRS_SUCCESS;
}

/* Counts the rows of each colour, and those of them that other domains read. */
static void count_own(const layout *l) {
  trs_relaxation *R = l->R;
  const trs_block_system *S = l->S;
  for (int64_t i = 0; i < S->reads.n; i++) {
    if (!is_own(l, i)) continue;
    int64_t count = S->reads.ptr[i + 1] - S->reads.ptr[i];
    R->nrows++;
    R->noff += count;
    R->longest = count > R->longest ? count : R->longest;
    R->colour_ptr[S->colour[i] + 1]++;
    if (R->domain) R->domain->boundary[S->colour[i]] += is_read_elsewhere(l, i);
  }
  for (int32_t c = 0; c < S->ncolours; c++) R->colour_ptr[c + 1] += R->colour_ptr[c];
  for (int32_t c = 0; R->domain && c < S->ncolours; c++) R->domain->boundary[c] += R->colour_ptr[c];
}

static void place_own(const layout *l, int64_t (*next)[2]) {
  const trs_relaxation *R = l->R;
  int32_t count = 0;
  for (int32_t c = 0; c < R->ncolours; c++) {
    next[c][1] = R->colour_ptr[c];
    next[c][0] = R->domain ? R->domain->boundary[c] : R->colour_ptr[c];
  }
  for (int64_t i = 0; i < l->S->reads.n; i++) {
    l->at[l->global[i]] = -1;
    if (!is_own(l, i)) continue;
    int64_t p = next[l->S->colour[i]][is_read_elsewhere(l, i)]++;
    R->row[p] = (int32_t)i;
    if (R->place) R->place[p] = count;
    l->at[l->global[i]] = (int32_t)p;
    count++;
  }
}

static trs_status number_own(const layout *l) {
  trs_relaxation *R = l->R;
  int64_t(*next)[2];
  R->ncolours = l->S->ncolours;
  R->by_columns = l->S->by_columns;
  R->ncols = l->S->reads.n;
  TRS_TRY(TRS_ALLOC_ZERO(&R->colour_ptr, R->ncolours + 1));
  if (R->domain) TRS_TRY(TRS_ALLOC_ZERO(&R->domain->boundary, R->ncolours));
  count_own(l);
  TRS_TRY(TRS_ALLOC(&R->row, R->nrows));
  if (R->domain) TRS_TRY(TRS_ALLOC(&R->place, R->nrows));
  TRS_TRY(TRS_ALLOC(&next, R->ncolours));
  place_own(l, next);
  trs_free(next);
  return TRS_SUCCESS;
}

/* ---- Messages ---- */

static int compare_message_rows(const void *left, const void *right) {
  const message_row *a = left, *b = right;
  if (a->colour != b->colour) return a->colour < b->colour ? -1 : 1;
  if (a->domain != b->domain) return a->domain < b->domain ? -1 : 1;
  return (a->row > b->row) - (a->row < b->row);
}

/* The rows received; to: NULL to count them.  marks: a byte per row. */
static int64_t list_arrivals(const layout *l, void *marks, message_row *to) {
  const trs_block_system *S = l->S;
  uint8_t *seen = marks;
  int64_t count = 0;
  memset(seen, 0, (size_t)S->reads.n);
  for (int64_t p = 0; p < l->R->nrows; p++) {
    int64_t i = l->R->row[p];
    for (int64_t k = S->reads.ptr[i]; k < S->reads.ptr[i + 1]; k++) {
      int32_t j = S->reads.idx[k];
      if (is_own(l, j) || seen[j]) continue;
      seen[j] = 1;
      if (to) to[count] = (message_row){S->colour[j], S->owner[j], j};
      count++;
    }
  }
  return count;
}

/* The rows sent, once per domain.  marks: an int32_t per domain. */
static int64_t list_departures(const layout *l, void *marks, message_row *to) {
  const trs_block_system *S = l->S;
  int32_t *last = marks;
  int64_t count = 0;
  for (int32_t d = 0; d < S->domains; d++) last[d] = -1;
  for (int64_t p = 0; p < l->R->nrows; p++) {
    int32_t i = l->R->row[p];
    for (int64_t k = S->read_by.ptr[i]; k < S->read_by.ptr[i + 1]; k++) {
      int32_t d = S->owner[S->read_by.idx[k]];
      if (d == l->me || last[d] == i) continue;
      last[d] = i;
      if (to) to[count] = (message_row){S->colour[i], d, i};
      count++;
    }
  }
  return count;
}

/* The messages of sorted rows: each run of one colour and domain, numbered from first on. */
static trs_status cut_messages(trs_domain_message **messages, int64_t **ptr, const message_row *t,
                               int64_t count, int64_t first, int32_t ncolours) {
  int64_t made = 0;
  TRS_TRY(TRS_ALLOC_ZERO(ptr, ncolours + 1));
  for (int64_t k = 0; k < count; k++)
    made += k == 0 || t[k].colour != t[k - 1].colour || t[k].domain != t[k - 1].domain;
  TRS_TRY(TRS_ALLOC(messages, made));
  made = 0;
  for (int64_t k = 0; k < count; k++) {
    if (k == 0 || t[k].colour != t[k - 1].colour || t[k].domain != t[k - 1].domain) {
      (*messages)[made++] = (trs_domain_message){t[k].colour, t[k].domain, first + k, first + k};
      (*ptr)[t[k].colour + 1]++;
    }
    (*messages)[made - 1].end = first + k + 1;
  }
  for (int32_t c = 0; c < ncolours; c++) (*ptr)[c + 1] += (*ptr)[c];
  return TRS_SUCCESS;
}

static trs_status take_arrivals(layout *l, const message_row *t, int64_t count) {
  trs_relaxation *R = l->R;
  trs_domain *D = R->domain;
  R->nhalo = count;
  TRS_TRY(trs_realloc((void **)&R->row, R->nrows + count, sizeof *R->row));
  for (int64_t k = 0; k < count; k++) {
    R->row[R->nrows + k] = t[k].row;
    l->at[l->global[t[k].row]] = (int32_t)(R->nrows + k);
  }
  return cut_messages(&D->receive, &D->receive_ptr, t, count, R->nrows, R->ncolours);
}

static trs_status take_departures(layout *l, const message_row *t, int64_t count) {
  trs_domain *D = l->R->domain;
  TRS_TRY(TRS_ALLOC(&D->sent, count));
  for (int64_t k = 0; k < count; k++) D->sent[k] = l->at[l->global[t[k].row]];
  return cut_messages(&D->send, &D->send_ptr, t, count, 0, l->R->ncolours);
}

typedef int64_t (*list_rows)(const layout *l, void *marks, message_row *to);
typedef trs_status (*taker)(layout *l, const message_row *t, int64_t count);

/* Lists, sorts and takes the rows of one direction; frees the marks. */
static trs_status find(layout *l, void *marks, list_rows list, taker take) {
  message_row *t;
  int64_t count = list(l, marks, NULL);
  trs_status status = TRS_ALLOC(&t, count);
  if (!status) {
    list(l, marks, t);
    qsort(t, (size_t)count, sizeof *t, compare_message_rows);
    status = take(l, t, count);
    trs_free(t);
  }
  trs_free(marks);
  return status;
}

static trs_status find_arrivals(layout *l) {
  uint8_t *seen;
  TRS_TRY(TRS_ALLOC(&seen, l->S->reads.n));
  return find(l, seen, list_arrivals, take_arrivals);
}

static trs_status find_departures(layout *l) {
  int32_t *last;
  TRS_TRY(TRS_ALLOC(&last, l->S->domains));
  return find(l, last, list_departures, take_departures);
}

/* The messages that each colour's rows read; need: NULL to count them. */
static void list_needs(const trs_relaxation *R, const int32_t *message_of, int32_t *last,
                       int32_t *need) {
  trs_domain *D = R->domain;
  int64_t count = 0, messages = D->receive_ptr[R->ncolours];
  for (int64_t m = 0; m < messages; m++) last[m] = -1;
  for (int32_t c = 0; c < R->ncolours; c++) {
    D->need_ptr[c] = count;
    for (int64_t k = R->ptr[R->colour_ptr[c]]; k < R->ptr[R->colour_ptr[c + 1]]; k++) {
      if (R->idx[k] < R->nrows) continue;
      int32_t m = message_of[R->idx[k] - R->nrows];
      if (last[m] == c) continue;
      last[m] = c;
      if (need) need[count] = m;
      count++;
    }
  }
  D->need_ptr[R->ncolours] = count;
}

static trs_status find_needs(const trs_relaxation *R) {
  trs_domain *D = R->domain;
  int64_t messages = D->receive_ptr[R->ncolours];
  int32_t *message_of, *last = NULL;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&D->need_ptr, R->ncolours + 1), TRS_ROOM(&message_of, R->nhalo)));
  trs_status status = TRS_ALLOC(&last, messages);
  for (int64_t m = 0; !status && m < messages; m++)
    for (int64_t p = D->receive[m].begin; p < D->receive[m].end; p++)
      message_of[p - R->nrows] = (int32_t)m;
  if (!status) {
    list_needs(R, message_of, last, NULL);
    status = TRS_ALLOC(&D->need, D->need_ptr[R->ncolours]);
  }
  if (!status) list_needs(R, message_of, last, D->need);
  TRS_FREE_ALL(message_of, last);
  return status;
}

/* ---- Rows ---- */

static void sort_row(int32_t *idx, int64_t count) {
  if (count > 32) {
    qsort(idx, (size_t)count, sizeof *idx, trs_compare_int32);
    return;
  }
  for (int64_t q = 1; q < count; q++) {
    int32_t j = idx[q];
    int64_t at = q;
    for (; at > 0 && idx[at - 1] > j; at--) idx[at] = idx[at - 1];
    idx[at] = j;
  }
}

static void lay_share(void *argument, int rank, int size) {
  const layout *l = argument;
  const trs_relaxation *R = l->R;
  const trs_block_pattern *G = &l->S->reads;
  int64_t begin, end;
  trs_share(R->nrows, rank, size, &begin, &end);
  for (int64_t p = begin; p < end; p++) {
    int32_t *to = R->idx + R->ptr[p];
    int64_t from = G->ptr[R->row[p]], count = G->ptr[R->row[p] + 1] - from;
    const bool by_columns = l->S->by_columns;
    for (int64_t k = 0; k < count; k++)
      to[k] = by_columns ? G->idx[from + k] : l->global[G->idx[from + k]];
    sort_row(to, count);
    for (int64_t k = 0; k < count && !by_columns; k++) to[k] = l->at[to[k]];
  }
}

static trs_status lay_rows(layout *l) {
  trs_relaxation *R = l->R;
  const trs_block_pattern *G = &l->S->reads;
  TRS_TRY(TRS_ALLOC(&R->ptr, R->nrows + 1));
  TRS_TRY(TRS_ALLOC(&R->idx, R->noff + TRS_BLOCKS_PAST));
  memset(R->idx + R->noff, 0, TRS_BLOCKS_PAST * sizeof *R->idx);
  R->ptr[0] = 0;
  for (int64_t p = 0; p < R->nrows; p++)
    R->ptr[p + 1] = R->ptr[p] + G->ptr[R->row[p] + 1] - G->ptr[R->row[p]];
  trs_team_run(R->plan->context->team, R->plan->context->threads, lay_share, l);
  return TRS_SUCCESS;
}

/* ---- Complete layout ---- */

static trs_status lay_out(layout *l) {
  trs_relaxation *R = l->R;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&l->global, l->S->reads.n), TRS_ROOM(&l->at, l->S->reads.n)));
  TRS_TRY(number_globally(l));
  TRS_TRY(number_own(l));
  if (R->domain) TRS_TRY(find_arrivals(l));
  if (R->domain) TRS_TRY(find_departures(l));
  TRS_TRY(lay_rows(l));
  return R->domain ? find_needs(R) : TRS_SUCCESS;
}

trs_status trs_domain_lay_out(trs_relaxation *R, const trs_block_system *S, int32_t me) {
  layout l = {.R = R, .S = S, .me = me};
  if (S->owner) {
    TRS_TRY(TRS_ALLOC_ZERO(&R->domain, 1));
    R->domain->me = me;
    R->domain->count = S->domains;
  }
  trs_status status = lay_out(&l);
  TRS_FREE_ALL(l.global, l.at);
  return status;
}

void trs_domain_free(trs_domain *D) {
  if (!D) return;
  TRS_FREE_ALL(D->boundary, D->send, D->receive, D->send_ptr, D->receive_ptr, D->need_ptr, D->sent,
               D->need, D);
}

/* ---- Steps ---- */

static uint32_t others(const trs_domain_message *message, const int64_t *ptr, int32_t c) {
  uint32_t bits = 0;
  for (int64_t k = ptr[c]; k < ptr[c + 1]; k++) bits |= (uint32_t)1 << message[k].other;
  return bits;
}

void trs_domain_take_step(trs_domain_step *step, const trs_domain *D, int32_t c,
                          const uint64_t *last) {
  *step = (trs_domain_step){.senders = others(D->receive, D->receive_ptr, c),
                            .receivers = others(D->send, D->send_ptr, c)};
  for (int64_t k = D->need_ptr[c]; k < D->need_ptr[c + 1]; k++) {
    const trs_domain_message *M = &D->receive[D->need[k]];
    if (last[M->colour] > step->needed[M->other]) step->needed[M->other] = last[M->colour];
  }
}

int64_t trs_domain_arrival(const trs_domain *receiver, int32_t from,
                           const trs_domain_message *message) {
  int64_t k = receiver->receive_ptr[message->colour];
  while (receiver->receive[k].other != from) k++;
  return receiver->receive[k].begin;
}
