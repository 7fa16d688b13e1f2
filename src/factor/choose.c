/* choose.c - the order of complete LU where the caller names none, with its reason.
 *
 * Nested dissection has broad trees, so that threads and GPUs work apart, and the least fill on
 * meshes; AMD has less on circuits and networks, and takes a hundredth of the time.  The column
 * counts of A + A^T tell the fill of both exactly while pivots stay on the diagonal.  Where many
 * entries rival the pivots, these move, and only COLAMD bounds the fill. */
#include "base/config.h"
#include "base/text.h"
#include "factor/kinds.h"

/* Dissection takes some 1.5 us per entry, and SuperLU some 1 ns per operation: below so many
 * operations per entry the whole factorisation in AMD's order is done before METIS is. */
static const double OPERATIONS = 1500;
/* AMD's factors are much smaller below this share of those of nested dissection. */
static const double MUCH = 0.85;
/* Above this share of rivals pivots leave the diagonal in most columns: a graph with equal entries
 * has 2.7 times the predicted fill, COLAMD's order as much as predicted. */
static const double RIVALS = 0.5;
/* COLAMD's fill is a bound for every choice of pivots, twice what they need or more; a row with
 * many entries makes it useless. */
static const double MOST_BOUND = 4;

typedef struct choice {
  trs_ordering amd, nd, columns;
  const trs_matrix *A;
  const trs_matching *matching;
  int leaves;
  char *why;
  size_t size;
} choice;

/* Entries of L and U, the unit diagonal left out. */
static double entries(const choice *c, const trs_ordering *o) {
  return 2 * (double)o->fill - (double)c->A->nrows;
}

/* *order is COLAMD or stays. */
static trs_status try_columns(choice *c, trs_order *order) {
  if (!TRS_HAVE_COLAMD || !c->matching || c->matching->rivals < RIVALS) return TRS_SUCCESS;
  TRS_TRY(trs_ordering_compute(&c->columns, c->A, TRS_ORDER_COLAMD, c->leaves));
  if ((double)c->columns.fill > MOST_BOUND * (double)c->amd.fill) return TRS_SUCCESS;
  *order = TRS_ORDER_COLAMD;
  trs_print(c->why, c->size,
            "COLAMD: %.0f %% of the entries rival the pivots, which will move; at most %.3g "
            "entries in L and U",
            100 * c->matching->rivals, entries(c, &c->columns));
  return TRS_SUCCESS;
}

static trs_status try_dissection(choice *c, trs_order *order) {
  *order = TRS_ORDER_AMD;
  if (c->amd.operations < OPERATIONS * (double)c->A->nnz) {
    trs_print(c->why, c->size,
              "AMD: %.3g entries in L and U predicted, made sooner than a nested dissection",
              entries(c, &c->amd));
    return TRS_SUCCESS;
  }
  TRS_TRY(trs_ordering_compute(&c->nd, c->A, TRS_ORDER_ND, c->leaves));
  if ((double)c->amd.fill >= MUCH * (double)c->nd.fill) *order = TRS_ORDER_ND;
  trs_print(c->why, c->size, "%s: entries in L and U predicted: nested dissection %.3g, AMD %.3g",
            *order == TRS_ORDER_ND ? "nested dissection" : "AMD", entries(c, &c->nd),
            entries(c, &c->amd));
  return TRS_SUCCESS;
}

static trs_status choose(choice *c, trs_order *order) {
  if (!TRS_HAVE_AMD) {
    *order = TRS_ORDER_ND;
    trs_print(c->why, c->size, "nested dissection: this build has no AMD");
    return trs_ordering_compute(&c->nd, c->A, TRS_ORDER_ND, c->leaves);
  }
  TRS_TRY(trs_ordering_compute(&c->amd, c->A, TRS_ORDER_AMD, c->leaves));
  TRS_TRY(try_columns(c, order));
  if (*order == TRS_ORDER_COLAMD) return TRS_SUCCESS;
  if (TRS_HAVE_METIS) return try_dissection(c, order);
  *order = TRS_ORDER_AMD;
  trs_print(c->why, c->size, "AMD: this build has no METIS");
  return TRS_SUCCESS;
}

static void move(trs_ordering *to, trs_ordering *from) {
  *to = *from;
  *from = (trs_ordering){0};
}

trs_status trs_choose_order(trs_ordering *ordering, trs_order *order, char *why, size_t size,
                            const trs_matrix *A, const trs_matching *matching, int leaves) {
  choice c = {.A = A, .matching = matching, .leaves = leaves, .why = why, .size = size};
  *ordering = (trs_ordering){0};
  trs_status status = choose(&c, order);
  if (!status)
    move(ordering, *order == TRS_ORDER_ND       ? &c.nd
                   : *order == TRS_ORDER_COLAMD ? &c.columns
                                                : &c.amd);
  trs_ordering_free(&c.amd);
  trs_ordering_free(&c.nd);
  trs_ordering_free(&c.columns);
  return status;
}
