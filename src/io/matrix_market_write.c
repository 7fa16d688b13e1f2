/* matrix_market_write.c - writes sparse matrices and dense arrays as Matrix Market text.  Each
 * member of a team formats, and compresses, a block of entries; the caller writes the blocks in
 * order. */
#include <stdio.h>

#include "io/compress.h"
#include "io/format.h"
#include "io/matrix_market.h"
#include "matrix/matrix.h"

#define TRS_TEMPLATE "io/matrix_market_write_tmpl.c"
#include "base/instantiate.h"

static char *(*const format_entries[])(char *, const trs_matrix *, int64_t, int64_t,
                                       int64_t) = TRS_TABLE(format_entries);
static char *(*const format_values[])(char *, const trs_dense *, int64_t,
                                      int64_t) = TRS_TABLE(format_values);

/* Entries of a block, and the largest number of bytes per entry: two indices, two numbers,
 * separators. */
enum { BLOCK = 1 << 15, ENTRY_BYTES = 2 * 20 + 2 * TRS_FORMAT_BYTES + 4 };

typedef struct member {
  trs_buffer text, packed;
  trs_status status;
  trs_failure failure;
} member;

typedef struct writing {
  const trs_matrix *A; /* or NULL for a dense array */
  const trs_dense *dense;
  trs_output *output;
  trs_team *team;
  int size;
  trs_packing packing;
  int64_t count; /* total number of entries */
  int64_t begin; /* the first entry of this round */
  member *members;
} writing;

static trs_status pack(member *self, trs_packing packing) {
  return packing == TRS_PLAIN ? TRS_SUCCESS : trs_pack(&self->packed, &self->text, packing);
}

static trs_status format_block(const writing *w, member *self, int64_t begin, int64_t end) {
  TRS_TRY(trs_buffer_reserve(&self->text, (int64_t)BLOCK * ENTRY_BYTES));
  char *text = self->text.data;
  text =
      w->A ? format_entries[w->A->scalar](text, w->A, trs_matrix_vector_of(w->A, begin), begin, end)
           : format_values[w->dense->scalar](text, w->dense, begin, end);
  self->text.length = text - self->text.data;
  return pack(self, w->packing);
}

static void round_body(void *argument, int rank, int size) {
  writing *w = argument;
  member *self = &w->members[rank];
  int64_t begin = w->begin + (int64_t)rank * BLOCK;
  int64_t end = begin + BLOCK < w->count ? begin + BLOCK : w->count;
  (void)size;
  self->status = begin < end ? format_block(w, self, begin, end) : TRS_SUCCESS;
  if (self->status) trs_failure_get(&self->failure);
  if (begin >= end) self->text.length = self->packed.length = 0;
}

static trs_status write_member(const writing *w, const member *self) {
  const trs_buffer *bytes = w->packing == TRS_PLAIN ? &self->text : &self->packed;
  if (self->status) return trs_failure_set(&self->failure);
  return trs_output_write(w->output, bytes->data, bytes->length);
}

static trs_status write_head(const writing *w, const char *head) {
  member *first = &w->members[0];
  TRS_TRY(trs_buffer_reserve(&first->text, (int64_t)strlen(head)));
  first->text.length = (int64_t)strlen(head);
  memcpy(first->text.data, head, strlen(head));
  TRS_TRY(pack(first, w->packing));
  return write_member(w, first);
}

static trs_status write_rounds(writing *w, const char *head) {
  TRS_TRY(write_head(w, head));
  for (; w->begin < w->count; w->begin += (int64_t)w->size * BLOCK) {
    trs_team_run(w->team, w->size, round_body, w);
    for (int rank = 0; rank < w->size; rank++) TRS_TRY(write_member(w, &w->members[rank]));
  }
  return TRS_SUCCESS;
}

static trs_status write_all(writing *w, const char *head) {
  int64_t blocks = (w->count + BLOCK - 1) / BLOCK;
  w->size = trs_team_size(w->team);
  if (w->size > blocks) w->size = blocks > 1 ? (int)blocks : 1;
  w->packing = trs_packing_of(w->output->path);
  TRS_TRY(trs_packing_check(w->packing, w->output->path));
  TRS_TRY(TRS_ALLOC_ZERO(&w->members, w->size));
  trs_status status = write_rounds(w, head);
  for (int rank = 0; rank < w->size; rank++) {
    TRS_FREE_ALL(w->members[rank].text.data, w->members[rank].packed.data);
  }
  trs_free(w->members);
  return status;
}

static const char *field_name(trs_scalar scalar) {
  return trs_scalar_is_complex(scalar) ? "complex" : "real";
}

trs_status trs_matrix_market_write(const trs_matrix *A, trs_output *output, trs_team *team) {
  char head[128];
  snprintf(head, sizeof head, "%%%%MatrixMarket matrix coordinate %s general\n%lld %lld %lld\n",
           field_name(A->scalar), (long long)A->nrows, (long long)A->ncols, (long long)A->nnz);
  writing w = {.A = A, .output = output, .team = team, .count = A->nnz};
  return write_all(&w, head);
}

trs_status trs_matrix_market_write_dense(const trs_dense *dense, trs_output *output,
                                         trs_team *team) {
  char head[128];
  snprintf(head, sizeof head, "%%%%MatrixMarket matrix array %s general\n%lld %lld\n",
           field_name(dense->scalar), (long long)dense->nrows, (long long)dense->ncols);
  writing w = {
      .dense = dense, .output = output, .team = team, .count = dense->nrows * dense->ncols};
  return write_all(&w, head);
}
