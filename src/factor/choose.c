/* choose.c - the order of complete LU where the caller names none, with its reason.
 *
 * Nested dissection has broad trees, so that threads and GPUs work apart, and the least fill on
 * meshes; AMD has less on circuits and networks, and takes a hundredth of the time.  The column
 * counts of A + A^T tell the fill of both exactly while pivots stay on the diagonal.  Where many
 * entries rival the pivots, these move, and only COLAMD bounds the fill.
 * Where AMD stands here it orders the diagonal blocks of a block triangular form, if there are
 * several (order/blocks.c), unless the caller wants a tree of so many leaves.
 *
 * Pivots also move where nothing tells in advance.  Light factorisations are therefore made in
 * AMD's order with a limit on their entries, and made again in other ways where they reach it. */
#include "factor/choose.h"

#include <math.h>
#include <string.h>

#include "base/config.h"
#include "base/text.h"

/* Dissection takes some 1.5 us per entry, an operation some 0.2 ns with pivots on the diagonal and
 * 1 ns by SuperLU: below so many operations per entry the whole factorisation in AMD's order is
 * done before METIS is. */
static const double DIAGONAL_OPERATIONS = 6000, OPERATIONS = 1500;
/* AMD's factors are much smaller below this share of those of nested dissection. */
static const double MUCH = 0.85;
/* Above this share of rivals pivots leave the diagonal in most columns: a graph with equal entries
 * has 2.7 times the predicted fill, COLAMD's order as much as predicted. */
static const double RIVALS = 0.5;
/* COLAMD's fill is a bound for every choice of pivots, twice what they need or more; a row with
 * many entries makes it useless. */
static const double MOST_BOUND = 4;
/* Entries, over AMD's predicted ones, at which attempts stop: pivots that stay near the diagonal,
 * and other orders. */
static const double MORE = 1.4, MOST = 2.8;
/* A trial of COLAMD must have less than this share of AMD's predicted entries, and take less than
 * this share of its operations. */
static const double TRIAL_ENTRIES = 0.7, TRIAL_OPERATIONS = 0.05;
/* Diagonal entries stay pivots down to this share of their column's largest one in attempts after
 * the first: errors grow, by less than the share. */
static const double LOW_THRESHOLD = 0.01;

/* Entries of L and U, the unit diagonal left out. */
static double entries(const trs_choice *c, const trs_ordering *o) {
  return 2 * (double)o->fill - (double)c->A->nrows;
}

static void move(trs_ordering *to, trs_ordering *from) {
  *to = *from;
  *from = (trs_ordering){0};
}

static trs_status order(trs_choice *c, trs_ordering *to, trs_order by) {
  if (by == TRS_ORDER_AMD && !c->leaves && !c->unmatched) return trs_ordering_by_blocks(to, c->A);
  return trs_ordering_compute(to, c->A, by, c->leaves);
}

/* ---- The first attempt. ---- */

/* Whether pivots will move: COLAMD. */
static trs_status try_columns(trs_choice *c, trs_attempt *a) {
  trs_ordering columns = {0};
  if (!TRS_HAVE_COLAMD || (c->rivals < RIVALS && !c->unmatched)) return TRS_SUCCESS;
  TRS_TRY(order(c, &columns, TRS_ORDER_COLAMD));
  if (c->zeros && (double)columns.fill > MOST_BOUND * (double)c->amd.fill) {
    trs_ordering_free(&columns);
    return TRS_SUCCESS;
  }
  a->order = TRS_ORDER_COLAMD;
  if (c->unmatched)
    trs_print(a->why, sizeof a->why,
              "COLAMD: the search for rows without zeros on the diagonal was given up, and pivots "
              "will move; at most %.3g entries in L and U",
              entries(c, &columns));
  else
    trs_print(a->why, sizeof a->why,
              "COLAMD: %.0f %% of the entries are as large as pivots, which will leave the "
              "diagonal; at most %.3g entries in L and U",
              100 * c->rivals, entries(c, &columns));
  move(&a->ordering, &columns);
  return TRS_SUCCESS;
}

static void say_blocks(trs_attempt *a) {
  const size_t length = strlen(a->why);
  if (a->ordering.block_end)
    trs_print(a->why + length, sizeof a->why - length, "; %d diagonal blocks", a->ordering.blocks);
}

static trs_status use_amd(trs_choice *c, trs_attempt *a) {
  a->order = TRS_ORDER_AMD;
  move(&a->ordering, &c->amd);
  say_blocks(a);
  return TRS_SUCCESS;
}

static trs_status compare_dissection(trs_choice *c, trs_attempt *a) {
  trs_ordering nd;
  if (!c->amd.perm) TRS_TRY(order(c, &c->amd, TRS_ORDER_AMD));
  if (!TRS_HAVE_METIS) {
    trs_print(a->why, sizeof a->why, "AMD: this build has no METIS");
    return use_amd(c, a);
  }
  TRS_TRY(order(c, &nd, TRS_ORDER_ND));
  a->order = (double)c->amd.fill >= MUCH * (double)nd.fill ? TRS_ORDER_ND : TRS_ORDER_AMD;
  trs_print(
      a->why, sizeof a->why, "%s: entries in L and U predicted: nested dissection %.3g, AMD %.3g",
      a->order == TRS_ORDER_ND ? "nested dissection" : "AMD", entries(c, &nd), entries(c, &c->amd));
  move(&a->ordering, a->order == TRS_ORDER_ND ? &nd : &c->amd);
  say_blocks(a);
  trs_ordering_free(&nd);
  return TRS_SUCCESS;
}

/* AMD, to be followed by others where its factors grow. */
static trs_status try_light(trs_choice *c, trs_attempt *a) {
  a->most_entries = MORE * c->predicted;
  trs_print(a->why, sizeof a->why,
            "AMD: %.3g entries in L and U predicted; they take less time than nested dissection",
            c->predicted);
  a->most_operations = MORE * MORE * c->most_operations;
  if (c->light) c->next = c->fixed_threshold ? TRS_CHOICE_COLUMNS : TRS_CHOICE_LOWER;
  return use_amd(c, a);
}

/* AMD, to be followed by dissection where a pivot leaves the diagonal. */
static trs_status try_diagonal(trs_choice *c, trs_attempt *a) {
  a->most_operations = 0;
  c->next = TRS_CHOICE_DISSECTION;
  trs_print(a->why, sizeof a->why,
            "AMD: pivots stay on the diagonal; the factors take less time than nested dissection");
  return use_amd(c, a);
}

static trs_status first_attempt(trs_choice *c, trs_attempt *a) {
  c->next = TRS_CHOICE_NONE;
  if (!TRS_HAVE_AMD) {
    a->order = TRS_ORDER_ND;
    trs_print(a->why, sizeof a->why, "nested dissection: this build has no AMD");
    return order(c, &a->ordering, TRS_ORDER_ND);
  }
  if (!c->zeros) TRS_TRY(try_columns(c, a));
  if (a->order == TRS_ORDER_COLAMD) return TRS_SUCCESS;
  TRS_TRY(order(c, &c->amd, TRS_ORDER_AMD));
  if (c->zeros) TRS_TRY(try_columns(c, a));
  if (a->order == TRS_ORDER_COLAMD) return TRS_SUCCESS;
  c->predicted = entries(c, &c->amd);
  c->most_operations = trs_lu_light(c->amd.fill);
  c->light = c->amd.operations / 2 <= c->most_operations;
  if (c->light || c->amd.operations < OPERATIONS * (double)c->A->nnz) return try_light(c, a);
  if (!c->zeros && TRS_HAVE_METIS && c->amd.operations < DIAGONAL_OPERATIONS * (double)c->A->nnz)
    return try_diagonal(c, a);
  if (!TRS_HAVE_COLAMD || !c->zeros) return compare_dissection(c, a);
  c->next = TRS_CHOICE_DISSECTION;
  a->order = TRS_ORDER_COLAMD;
  a->most_entries = TRIAL_ENTRIES * c->predicted;
  a->most_operations = TRIAL_OPERATIONS * c->amd.operations;
  trs_print(a->why, sizeof a->why, "COLAMD: fewer entries in L and U than AMD, %.3g predicted",
            c->predicted);
  return order(c, &a->ordering, TRS_ORDER_COLAMD);
}

/* ---- The others. ---- */

static void say_moved(const trs_choice *c, trs_attempt *a, const char *name) {
  trs_print(a->why, sizeof a->why,
            "%s: pivots moved in AMD's order: more than the %.3g entries predicted", name,
            c->predicted);
}

/* Pivots stay down to the lower threshold, unless the caller has said otherwise. */
static void lower(const trs_choice *c, trs_attempt *a) {
  const size_t length = strlen(a->why);
  if (c->fixed_threshold) return;
  a->threshold = LOW_THRESHOLD;
  trs_print(a->why + length, sizeof a->why - length, "; diagonal entries stay pivots down to 0.01");
}

static trs_status again(trs_choice *c, trs_attempt *a, trs_order by, const char *name,
                        double most) {
  a->order = by;
  a->most_entries = most * c->predicted;
  a->most_operations = most * most * c->most_operations;
  say_moved(c, a, name);
  TRS_TRY(order(c, &a->ordering, by));
  say_blocks(a);
  return TRS_SUCCESS;
}

trs_status trs_choice_next(trs_choice *c, trs_attempt *a) {
  *a = (trs_attempt){.most_entries = INFINITY, .most_operations = INFINITY};
  switch (c->next) {
    case TRS_CHOICE_FIRST:
      return first_attempt(c, a);
    case TRS_CHOICE_DISSECTION:
      c->next = TRS_CHOICE_NONE;
      return compare_dissection(c, a);
    case TRS_CHOICE_LOWER:
      c->next = TRS_HAVE_COLAMD  ? TRS_CHOICE_COLUMNS
                : TRS_HAVE_METIS ? TRS_CHOICE_PARTS
                                 : TRS_CHOICE_LAST;
      TRS_TRY(again(c, a, TRS_ORDER_AMD, "AMD", MORE));
      break;
    case TRS_CHOICE_COLUMNS:
      c->next = TRS_HAVE_METIS ? TRS_CHOICE_PARTS : TRS_CHOICE_LAST;
      return again(c, a, TRS_ORDER_COLAMD, "COLAMD", MOST);
    case TRS_CHOICE_PARTS:
      c->next = TRS_CHOICE_LAST;
      TRS_TRY(again(c, a, TRS_ORDER_ND, "nested dissection", MOST));
      break;
    default:
      c->next = TRS_CHOICE_NONE;
      TRS_TRY(again(c, a, TRS_ORDER_AMD, "AMD", INFINITY));
  }
  lower(c, a);
  return TRS_SUCCESS;
}

bool trs_choice_has_next(const trs_choice *c) { return c->next != TRS_CHOICE_NONE; }

void trs_choice_end(trs_choice *c) { trs_ordering_free(&c->amd); }
