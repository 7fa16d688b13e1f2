/* relaxation.h - a block system renumbered by colour, with its diagonal separated and factored: the
 * state of a plan of relaxation, which every backend sweeps over. */
#ifndef TRS_RELAX_RELAXATION_H
#define TRS_RELAX_RELAXATION_H

#include "base/pace.h"
#include "factor/bilu0.h"
#include "matrix/blocks.h"
#include "plan/plan.h"
#include "relax/exact.h"
#include "relax/range.h"

typedef struct trs_domain trs_domain; /* relax/domains.h */
typedef struct trs_relax_links trs_relax_links;
typedef struct trs_relax_mover trs_relax_mover;
typedef struct trs_relax_backend trs_relax_backend; /* relax/backend.h */
typedef struct trs_block_system trs_block_system;
typedef struct trs_refactor trs_refactor; /* relax/refactor.h */
typedef struct trs_relaxation trs_relaxation;

/* Exact sums of squares, so that norms do not depend on the order of addition: see sweep.c. */
__extension__ typedef __int128 trs_relax_wide;
typedef struct trs_square_sum {
  double most; /* the largest square */
  int shift;   /* power of two: squares times 2^power are added */
  trs_relax_wide sum;
} trs_square_sum;

/* Positions number block rows in the order of colours, and within a colour in the caller's order
 * (in a domain, rows that others read come first).  In off, diagonal, x and r, block row p is at
 * position p; blocks are column-major. */
struct trs_relaxation {
  trs_plan *plan;                   /* whose state this is */
  const trs_relax_backend *backend; /* whose method is the plan's */
  trs_scalar scalar;                /* type of the caller's matrix, b and x */
  trs_store store;
  int block;
  int64_t nrows, noff; /* block rows, off-diagonal blocks */
  int64_t ncols;       /* block rows of the whole system */
  int64_t nhalo;       /* rows of other domains that own rows read, at positions from nrows on */
  int64_t longest;     /* off-diagonal blocks in the fullest row */
  int32_t ncolours;
  int64_t *colour_ptr; /* ncolours + 1: colour c is positions colour_ptr[c] .. colour_ptr[c + 1] */
  int32_t *row;        /* nrows + nhalo: the system's block row at a position */
  int32_t *place;      /* nrows: index among the domain's rows; NULL: one domain */
  int64_t *ptr;        /* nrows + 1: blocks of a position */
  int32_t *idx;        /* noff: positions of the x they multiply, ascending in a row; of a triangle
                          on a CPU columns; and zeros */
  void *off;           /* noff blocks; 64 readable bytes follow */
  float *scale;        /* noff factors of the blocks, of 16-bit formats; else NULL */
  void *diagonal;      /* nrows blocks: L below, U above, and the inverses of U's diagonal; or of a
                          triangle on a CPU the inverse; 64 readable bytes follow */
  uint8_t *pivot;      /* nrows x block: row pivot[i] of the block became row i */
  int64_t room;        /* right-hand sides that x and r hold */
  void *x, *r;         /* room arrays of nrows x block each; x: + nhalo */
  double *squares;     /* room arrays of nrows: squares of a row's residual */
  trs_square_sum *partial;  /* their sums over parts of the rows */
  trs_square_sum *total;    /* room: sums over all rows */
  _Atomic uint64_t *most;   /* 3 room: bits of trs_relax_range's first three of each, where x is
                               narrow */
  trs_domain *domain;       /* NULL: one domain */
  trs_relax_links *links;   /* to the other domains; borrowed, NULL: none */
  trs_relax_mover *mover;   /* for links, where x lies on a GPU; borrowed, else NULL */
  double frobenius[2];      /* norms of A and of A - stored A */
  double least_row;         /* the least norm of a block row with blocks off the diagonal */
  double rounding;          /* |A - stored A| / |A| in the Frobenius norm */
  int threads;              /* threads of a sweep, at most */
  trs_pace pace;            /* of these, half of them, and one */
  bool triangle;            /* only solves, by one sweep from zero */
  bool by_columns;          /* then, on a CPU: idx has columns, and x is in their order */
  bool upper;               /* and: of U, whose blocks are added in descending columns */
  bool unit;                /* and: the diagonal blocks count as ones */
  const trs_bilu0 *factors; /* whose row, ptr and idx R has, descending of U, and off, diagonal and
                               pivot if it reads the values in place; or NULL */
  bool in_place;
  trs_refactor *refactor;          /* of L: kept between new values of factors; or NULL */
  const char *variant, *partition; /* as in trs_relax_info */
  int domains;
  struct trs_relax_gpu *gpu; /* relax/cuda/backend.h: the state on one GPU; else NULL.  Then off,
                                scale, diagonal and pivot are NULL but during an update, and x, r,
                                squares and partial always */
  struct trs_relax_group *group; /* relax/cuda/group.h: the state on several GPUs; else NULL.  Then
                                    this has the colours alone, and the group's domains all else */
  /* Of the call that works on the plan; else NULL. */
  trs_block_system *system;         /* of creation */
  const trs_relax_options *options; /* complete */
  const trs_block_source *source;   /* of an update */
};

/* These plans own their relaxation: trs_relaxation_destroy destroys both. */
trs_status trs_relaxation_create(trs_relaxation **R, trs_context *context,
                                 const trs_block_source *source, const trs_relax_options *options);
/* After a failure R must not sweep until an update succeeds. */
trs_status trs_relaxation_update(trs_relaxation *R, const trs_block_source *source);

/* options: complete, see trs_relax_sweep. */
trs_status trs_relaxation_sweep(trs_relaxation *R, const trs_rhs *rhs,
                                const trs_sweep_options *options);

/* A sweep is a step per colour, or two if it is symmetric: forward, then backward. */
static inline int64_t trs_relaxation_steps(const trs_relaxation *R, int64_t sweeps,
                                           trs_sweep_direction direction) {
  return sweeps * R->ncolours * (direction == TRS_SWEEP_SYMMETRIC ? 2 : 1);
}
static inline int32_t trs_relaxation_colour(const trs_relaxation *R, trs_sweep_direction direction,
                                            int64_t step) {
  const int32_t n = R->ncolours, c = (int32_t)(step % n);
  const bool back =
      direction == TRS_SWEEP_BACKWARD || (direction == TRS_SWEEP_SYMMETRIC && step / n % 2 == 1);
  return back ? n - 1 - c : c;
}

/* The column of block k. */
static inline int32_t trs_relaxation_column(const trs_relaxation *R, int64_t k) {
  return R->by_columns ? R->idx[k] : R->row[R->idx[k]];
}

/* A triangle on a CPU that has one thread: a sweep over block factors, in its order.
 * trs_relaxation_take gives it values. */
trs_status trs_relaxation_create_sweep(trs_relaxation **R, trs_context *context, trs_scalar scalar,
                                       const trs_relax_options *options, const trs_bilu0 *factors,
                                       bool lower);
/* The values of factors with the pattern of such a sweep, or of a triangle with the rows of one. */
trs_status trs_relaxation_take(trs_relaxation *R, const trs_bilu0 *factors, bool lower);

/* NULL is allowed. */
static inline void trs_relaxation_destroy(trs_relaxation *R) {
  if (R) trs_plan_destroy(R->plan);
}

/* True if sweeps round the caller's doubles to floats; range.h tells what that may lose. */
static inline bool trs_relaxation_is_narrow(const trs_relaxation *R) {
  return R->scalar == TRS_DOUBLE && R->store != TRS_STORE_DOUBLE;
}
/* trs_relax_range.needed. */
double trs_relaxation_needed(const trs_relaxation *R);
/* The failure that a loss is. */
trs_status trs_relaxation_lost(const trs_relaxation *R, trs_relax_loss loss, double b);

/* Facts of a plan of relaxation, and of a domain. */
void trs_relaxation_info(const trs_plan *plan, trs_relax_info *info);

/* Bytes that a pass over all colours reads or writes for one right-hand side, each counted once
 * (W21). */
int64_t trs_relaxation_sweep_bytes(const trs_relaxation *R);

#endif
