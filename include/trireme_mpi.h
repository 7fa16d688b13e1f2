/* trireme_mpi.h - A x = b from LU factors spread over the ranks of an MPI communicator
 * (libtrireme_mpi, built where CMake finds MPI).
 *   Px x Py x Pz ranks solve as L23 describes (docs/references.md).  Each of the Pz grids has a
 * subtree of the separator tree and a copy of the nodes above the subtree.  Inside a grid the
 * blocks are distributed block-cyclically over Px x Py processes.  Rank r is process (x, y) of grid
 * z with r = (z Px + x) Py + y.
 *   The conventions of trireme.h apply.  Every call here is collective over the communicator.  A
 * failure is the same on all ranks: that of the first rank that failed, with "rank 3: ..." before
 * its message.  A plan that is NULL names no communicator: such a call fails on its
 * own rank with TRS_ERROR_ARGUMENT, and other ranks wait for it.  A communicator may
 * have a topology; an inter-communicator is TRS_ERROR_ARGUMENT on all ranks.  Options and factors
 * are the same on all ranks.  If options, patterns, permutations or scalings differ, an analysis
 * fails with TRS_ERROR_ARGUMENT; values are not compared.  The caller initialises and finalises
 * MPI.  One thread per rank makes the calls. Waits have a limit if trs_mpi_options.timeout_seconds,
 * or TRIREME_TIMEOUT for all calls, sets one.  If a rank does not answer within it (because it was
 * stopped, for example), all others return TRS_ERROR_STALLED with the number of that rank, at most
 * two seconds after the limit. Objects of these ranks can then only be destroyed, and MPI_Finalize
 * would wait for the lost rank: end with MPI_Abort.  The limit must exceed the longest time that a
 * rank computes alone.  MPI does not survive a fork: calls in a forked child fail.
 *   trs_set_cancel_flag on any rank cancels a call on all: that rank looks at its flag when the
 * call begins and where it takes memory, and every rank returns TRS_ERROR_CANCELLED.  Waits for
 * other ranks, solves and sweeps do not look once they have begun. */
#ifndef TRIREME_MPI_H
#define TRIREME_MPI_H

#ifndef TRIREME_WITHOUT_MPI_H /* libtrireme itself reads only the structures */
#include <mpi.h>
#endif

#include "trireme.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct trs_mpi_plan trs_mpi_plan;

typedef struct trs_mpi_options {
  size_t struct_size;
  const char *method; /* NULL or "grid3d"; "grid2d": one grid. Libraries with the papers also have
                         "grid3d:algorithm=2" (L23's exchange between grids), "grid3d-baseline" and
                         "grid3d-baseline:lookahead=0" (L23, section 2.2). With contexts of a GPU
                         these have "grid3d:algorithm=4": grids solve by L23's Algorithm 4, except
                         for rows shared by several grids, whose bits would otherwise differ; and
                         "grid3d:algorithm=5": grids of px x 1 GPUs, px at least 2, solve by L23's
                         Algorithm 5, except for U if there are several grids */
  int px, py, pz;     /* all 0: the library chooses the shape; pz is a power of two */
  int flat_trees;     /* 1: the rank that has a value sends it to all receivers itself */
  int64_t width;      /* most columns of a supernode; 0: 128 */
  int64_t relax;      /* percent of zeros that joining supernodes may add, up to 100, which is any
                         number of them; 0: 20; -1: none */
  int scattered;     /* 1: every supernode is distributed over its grid, as in L23; 0: supernodes at
                        the bottom of the tree lie on one process each, which saves messages */
  trs_scalar scalar; /* element type of values read from a file, as in trs_read_options */
  const char *invert; /* the diagonal triangles that the analysis inverts.  "blocks": that of each
                         supernode.  "separators": also those of a run of supernodes each of which
                         waits for the one before, such as a separator, as one triangle (at most
                         2048 columns) with one broadcast and one reduction.  Where a product with
                         the joint inverse may have 1000 times the error of a solve, each
                         supernode's own triangle is inverted; where the inverse of a supernode's
                         own triangle may have 50 times that error, the triangle itself is solved
                         (trs_mpi_stats.solved).  "auto": the nearly full ones of "separators".
                         NULL: "auto" for grid3d, "blocks" for the other methods */
  double timeout_seconds; /* the longest wait of a rank for the others in any call, before it
                             returns TRS_ERROR_STALLED; 0: the environment variable TRIREME_TIMEOUT,
                             or no limit; below 0: no limit */
  int64_t nrhs; /* with a context: right-hand sides expected per solve, as in trs_options.  On a
                   GPU, from 16 on each rank times two methods for L and for the part of U that it
                   has alone, and keeps the faster one; one of them adds in any order, so that the
                   last bits may vary between solves */
  int in_turn;  /* 1, with a context: ranks sweep one after the other, so that ranks which share a
                   GPU or cores are timed alone (trs_mpi_stats.flop_s); for measurements */
} trs_mpi_options;

/* A context on each rank, as of trs_context_create.  where: "cuda" (the GPUs of a machine, dealt to
 * its ranks in turn, so that several ranks may share a GPU), "cuda:N", "threads[:T]" or "serial".
 * The caller destroys it (trs_context_destroy).  A rank without such a GPU makes the call fail on
 * all ranks: TRS_ERROR_UNSUPPORTED names the rank.  TRS_ERROR_ARGUMENT: `where` is none of
 * these. */
TRS_EXPERIMENTAL trs_status trs_mpi_context_create(trs_context **ctx, MPI_Comm comm,
                                                   const char *where);

/* A plan for op(A) x = b.  Copies this rank's part of the factors.  Every rank passes the whole
 * factors and may destroy them afterwards.
 *   ctx: where this rank solves its own part, a context of "serial", of threads or of one GPU
 * (trs_mpi_context_create); NULL: on one core, by block operations.  With a context the rank's part
 * of L and U is analysed for it and stays there (L23, section 3.4); grid3d and grid2d take one, and
 * the default shape is then 1 x 1 x ranks.  Grids of several ranks need a GPU for each rank and lie
 * within one machine: their GPUs store x and sums into each other's memory.  All ranks have the
 * same kind of context, or all NULL; the same model of GPU on all ranks gives the same bits.  With
 * px = py = 1 the methods of the context make their own inverses: invert, flat_trees and scattered
 * have no effect.  The plan keeps the context alive. TRS_ERROR_ARGUMENT: the shape does not fit the
 * number of ranks, or pz is not a power of two or exceeds the separator tree. */
TRS_EXPERIMENTAL trs_status trs_mpi_analyze(trs_mpi_plan **plan, MPI_Comm comm, trs_context *ctx,
                                            const trs_factors *F, trs_trans trans,
                                            const trs_mpi_options *options);

/* A plan from a file of trs_factors_write or `trireme factor`.  Rank 0 reads the pattern; every
 * rank reads an equal part of the entries and sends them to the ranks that own them.
 * TRS_ERROR_FORMAT: among other faults, the path leads a rank to another file than rank 0. */
TRS_EXPERIMENTAL trs_status trs_mpi_analyze_file(trs_mpi_plan **plan, MPI_Comm comm,
                                                 trs_context *ctx, const char *path,
                                                 trs_trans trans, const trs_mpi_options *options);

/* One rank's blocks of L and U as SuperLU_DIST stores them; trireme_superlu_dist.h fills the
 * structure in.  Process (x, y) of the px x py grid is rank x py + y of the communicator.  Ranks
 * from px py on have no blocks; their arrays of arrays are not read. */
typedef struct trs_mpi_blocks {
  size_t struct_size;
  trs_scalar scalar;
  int index_bytes, scale_bytes; /* bytes of an index, 4 or 8; bytes of a scale factor, 4 or 8 */
  int px, py;
  int64_t n, nsupers;
  const void *xsup;            /* nsupers + 1: first columns of the supernodes */
  const void *perm_r, *perm_c; /* n: permutations of rows, then of both */
  const void *R, *C;           /* n: scale factors, or NULL; as the arrays above, those of rank 0
                                  are used */
  const void *const *L_index, *const *L_values; /* by this rank's block columns */
  const void *const *U_index, *const *U_values; /* by this rank's block rows */
} trs_mpi_blocks;

/* A plan from blocks in place.  Supernodes are those of SuperLU_DIST.  The grid of the plan may
 * differ from the grid of the blocks; it may be 3D. */
TRS_EXPERIMENTAL trs_status trs_mpi_analyze_blocks(trs_mpi_plan **plan, MPI_Comm comm,
                                                   trs_context *ctx, const trs_mpi_blocks *blocks,
                                                   trs_trans trans, const trs_mpi_options *options);

/* One rank's rows of L and U, of factors of any origin, distributed as PETSc's MPIAIJ distributes a
 * matrix: the ranks' ranges of rows follow each other in the order of the ranks, and cover all n.
 */
typedef struct trs_mpi_rows {
  size_t struct_size;
  int64_t n;               /* rows and columns of L and U; the same on all ranks */
  int64_t first_row;       /* of this rank's rows, 0-based */
  const trs_matrix *L, *U; /* this rank's rows, rows x n, CSR in host memory; column indices are
                              those of the whole factors.  Both NULL: this rank has no rows */
  trs_diag diag_L, diag_U; /* the same on all ranks; TRS_NONUNIT: every row has its diagonal */
  const int32_t *row_perm, *col_perm;  /* whole, n, as in trs_factors_create, or NULL; */
  const double *row_scale, *col_scale; /* as the permutations, those of rank 0 are used */
} trs_mpi_rows;

/* A plan from rows that each rank brings; they are not needed afterwards.  The values go from their
 * rank to the ranks that own them.  During the analysis rank 0 has the whole pattern: 4 bytes for
 * each entry of L and U, and 16 for each row.  There is no separator tree: grids are cut by the
 * pattern, and without a context px = py = pz = 0 is one grid.
 *   After this analysis b and x are distributed like the rows: each rank has rows first_row ..
 * first_row + rows - 1 of both, until trs_mpi_distribute says otherwise.
 *   TRS_ERROR_ARGUMENT: n, diag or the element types differ between ranks, ranges do not follow
 * each other, or a matrix is not as described.  TRS_ERROR_STRUCTURE: a row of L or U has an entry
 * on the wrong side of the diagonal, or no diagonal entry.  TRS_ERROR_UNSUPPORTED: a matrix lies in
 * device memory or has deferred values.  These messages name the rank and the row of the factors.
 * TRS_ERROR_ZERO_PIVOT, TRS_ERROR_NOT_FINITE: a diagonal entry; the message names the row of A. */
TRS_EXPERIMENTAL trs_status trs_mpi_analyze_rows(trs_mpi_plan **plan, MPI_Comm comm,
                                                 trs_context *ctx, const trs_mpi_rows *rows,
                                                 trs_trans trans, const trs_mpi_options *options);

/* The distribution of b and x in later calls: this rank has rows first_row .. first_row + rows - 1,
 * and the ranks' ranges follow each other.  Until the first call all rows lie on rank 0, or where
 * trs_mpi_analyze_rows has found them. */
TRS_EXPERIMENTAL trs_status trs_mpi_distribute(trs_mpi_plan *plan, int64_t first_row, int64_t rows);

/* With a context of a GPU: the stream (a cudaStream_t; NULL: the default stream) of b and x in
 * device memory.  Local.  Later calls read b after the stream's earlier work, and return when x is
 * complete.  It must exist until the plan gets another stream or is destroyed.  Others ignore it.
 */
TRS_EXPERIMENTAL trs_status trs_mpi_set_stream(trs_mpi_plan *plan, void *stream);

/* op(A) x = b with nrhs right-hand sides.  x and b hold this rank's rows, with leading dimensions
 * as in trs_solve; a rank without rows may pass NULL.  nrhs is the same on all ranks.  With a
 * context of a GPU x and b may lie in device memory, here and in trs_mpi_refine: they pass through
 * host memory, and the call returns when x is complete. */
TRS_EXPERIMENTAL trs_status trs_mpi_solve(trs_mpi_plan *plan, void *x, int64_t ldx, const void *b,
                                          int64_t ldb, int64_t nrhs, trs_layout layout);

/* Improves x by at most `steps` further solves, with residuals b - op(A) x in higher precision;
 * steps is 0 or more, and the same on all ranks.  rows: this rank's rows of op(A), all columns, in
 * CSR, whatever L and U are factors of; NULL on a rank without rows.  *error: the componentwise
 * backward error of the result.  *taken: the number of steps that reduced it.  Either may be
 * NULL. */
TRS_EXPERIMENTAL trs_status trs_mpi_refine(trs_mpi_plan *plan, void *x, int64_t ldx, double *error,
                                           int *taken, const void *b, int64_t ldb, int64_t nrhs,
                                           trs_layout layout, const trs_matrix *rows, int steps);
/* Destroys a plan, on all ranks or after MPI_Finalize.  NULL is ignored. */
TRS_EXPERIMENTAL void trs_mpi_plan_destroy(trs_mpi_plan *plan);

/* Which value over the ranks a structure has: a quantity of each rank becomes one number. */
typedef enum trs_mpi_over {
  TRS_MPI_MIN = 0, /* the smallest */
  TRS_MPI_MEAN,    /* the mean */
  TRS_MPI_MAX      /* the largest */
} trs_mpi_over;

/* Of the last solve, without the distribution of b and the collection of x.  Seconds; index 0 is
 * the L-solve, index 1 the U-solve.  Fields marked "over ranks" are the smallest, the mean or the
 * largest value of a rank, as the call asks; the others are the same for every `over`. */
typedef struct trs_mpi_stats {
  size_t struct_size;
  const char *method, *invert; /* as in the options */
  int px, py, pz;
  int64_t supernodes;
  int64_t separators, inverted; /* rows of the supernodes that options.invert names; rows of them
                                   that are inverted */
  double inverted_bytes;        /* bytes that the inverses add to the triangles, on one grid */
  int64_t solved;    /* triangles of supernodes, of L and of U, that are solved and not inverted
                        because a product would lose digits; each counted once, however many
                        grids have it */
  double solve_s;    /* over ranks */
  double inter_s[2]; /* over ranks: between grids, before the U-solve and within the U-solve */
  double intra_s[2]; /* over ranks: inside a grid, sending and waiting, L and U */
  double flop_s[2];  /* over ranks: products, L and U */
  double flops[2];   /* over ranks: additions and multiplications */
  double inter_messages[2], inter_bytes[2]; /* over ranks: sent between grids */
  double intra_messages[2], intra_bytes[2]; /* over ranks: sent inside a grid */
  double leaf_entries;                      /* over the grids: entries of L and U in the leaves */
  double bytes;                             /* over ranks: of the rank's blocks */
  double replicated;                        /* blocks on all ranks over blocks on one rank */
  double replicated_work;                   /* the same ratio of additions and multiplications */
  double volume_bound; /* L23's bound on intra_bytes of either sweep, up to a factor */
  double
      message_bound[2]; /* over ranks: the sum of ceil(log2(members)) over the trees, of columns and
                                   of rows, that a rank is a member of: L23's bound on their
                                   depths, for any kind of tree */
  double tree_sends[2]; /* over ranks: the most messages that a rank sends in one tree: at most 2 in
                                   binary trees */
  const char *backend;  /* of this rank's context, "cuda"; NULL: block operations */
  const char *solver;   /* methods of the context: "engine"; NULL: none */
  int gpus, ranks_on_gpu; /* GPUs that all ranks use; the most ranks on one of them */
  double transfer_s;      /* over ranks: right-hand sides to the GPU and x back: not in
                             solve_s */
} trs_mpi_stats;

/* The stats of all ranks, on every rank.  `over` need not be the same on all ranks. */
TRS_EXPERIMENTAL trs_status trs_mpi_get_stats(trs_mpi_plan *plan, trs_mpi_stats *stats,
                                              trs_mpi_over over);

/* ---- Relaxation ----------------------------------------------------------------------------- */

/* Multicolour block relaxation, as trireme.h describes it, with one domain of the block rows per
 * rank. The colours are those of one domain.  Rows that other ranks read are relaxed first and are
 * sent while the rest is relaxed.  x and the norms have the bits of trs_relax_sweep for any number
 * of ranks.  Options, sizes and the sequence of calls are the same on all ranks.
 *   ctx is this rank's context.  With a CPU context of several threads MPI must be initialised with
 * MPI_THREAD_FUNNELED.  Otherwise all ranks have a context of one GPU (trs_mpi_context_create),
 * which several ranks may share.  x and the norms then have the bits of one such GPU; rows of other
 * ranks pass through pinned host memory; x and b of rows that each rank brings may lie in device
 * memory; sweeps return when x is complete.
 *   A relaxation is a trs_mpi_plan: trs_mpi_set_stream and trs_mpi_plan_destroy take it.  The other
 * calls above are for plans of factors, and the calls below for plans of relaxation. */

/* A relaxation from a matrix on rank 0, which distributes it.  Other ranks pass NULL for A, and for
 * x and b in sweeps.  METIS makes the domains; without METIS, and with fewer than 8 rows per rank,
 * domains are ranges of rows. */
TRS_EXPERIMENTAL trs_status trs_mpi_relax_create(trs_mpi_plan **plan, MPI_Comm comm,
                                                 trs_context *ctx, const trs_matrix *A,
                                                 int block_size, const trs_relax_options *options);

/* A relaxation from rows that each rank brings: blocks->nrows block rows (possibly 0), which follow
 * the rows of the ranks before.  blocks->idx are block columns of the whole matrix, and
 * blocks->ncols is not read.  The rows stay on their rank as its domain; x and b in sweeps, and
 * options->colour, are of these rows. */
TRS_EXPERIMENTAL trs_status trs_mpi_relax_create_bsr(trs_mpi_plan **plan, MPI_Comm comm,
                                                     trs_context *ctx, const trs_blocks *blocks,
                                                     const trs_relax_options *options);

/* New values in the same pattern, given as at creation.  After a failure every sweep fails on all
 * ranks until an update succeeds. */
TRS_EXPERIMENTAL trs_status trs_mpi_relax_update(trs_mpi_plan *plan, const trs_matrix *A);
TRS_EXPERIMENTAL trs_status trs_mpi_relax_update_bsr(trs_mpi_plan *plan, const trs_blocks *blocks);

/* Sweeps on all ranks, as trs_relax_sweep does on one.  Every rank passes room for the norms and
 * gets all of them. */
TRS_EXPERIMENTAL trs_status trs_mpi_relax_sweep(trs_mpi_plan *plan, void *x, int64_t ldx,
                                                const void *b, int64_t ldb, int64_t nrhs,
                                                trs_layout layout,
                                                const trs_sweep_options *options);

typedef struct trs_mpi_relax_info {
  size_t struct_size;
  double rows, blocks; /* of a rank */
  double halo_rows;    /* rows of other ranks that a rank reads */
  double messages;     /* sent by a rank in a pass over the colours */
  double bytes;        /* in these messages, for one right-hand side */
} trs_mpi_relax_info;

/* Facts of a relaxation.  whole: as trs_relax_get_info describes one domain.  threads and seconds
 * are the maximum over the ranks; colour_ptr and row are NULL; there is one domain per rank;
 * partition may also be "as given".  info: the smallest, the mean or the largest value of a rank;
 * `over` need not be the same on all ranks.  whole and info may be NULL, on all ranks alike. */
TRS_EXPERIMENTAL trs_status trs_mpi_relax_get_info(trs_mpi_plan *plan, trs_relax_info *whole,
                                                   trs_mpi_relax_info *info, trs_mpi_over over);

/* Makes a failure of one rank a failure of all, before a collective call, for work that ranks do
 * separately, such as reading files. */
TRS_EXPERIMENTAL trs_status trs_mpi_agree(MPI_Comm comm, trs_status status);

/* ---- Fortran -------------------------------------------------------------------------------- */

/* The functions above that take a communicator, with one of Fortran, an INTEGER.  The module
 * trireme_mpi (trireme_mpi.f90) calls them; the name of each ends in _f. */
TRS_EXPERIMENTAL trs_status trs_mpi_context_create_f(trs_context **ctx, MPI_Fint comm,
                                                     const char *where);
TRS_EXPERIMENTAL trs_status trs_mpi_analyze_f(trs_mpi_plan **plan, MPI_Fint comm, trs_context *ctx,
                                              const trs_factors *F, trs_trans trans,
                                              const trs_mpi_options *options);
TRS_EXPERIMENTAL trs_status trs_mpi_analyze_file_f(trs_mpi_plan **plan, MPI_Fint comm,
                                                   trs_context *ctx, const char *path,
                                                   trs_trans trans, const trs_mpi_options *options);
TRS_EXPERIMENTAL trs_status trs_mpi_analyze_blocks_f(trs_mpi_plan **plan, MPI_Fint comm,
                                                     trs_context *ctx, const trs_mpi_blocks *blocks,
                                                     trs_trans trans,
                                                     const trs_mpi_options *options);
TRS_EXPERIMENTAL trs_status trs_mpi_analyze_rows_f(trs_mpi_plan **plan, MPI_Fint comm,
                                                   trs_context *ctx, const trs_mpi_rows *rows,
                                                   trs_trans trans, const trs_mpi_options *options);
TRS_EXPERIMENTAL trs_status trs_mpi_relax_create_f(trs_mpi_plan **plan, MPI_Fint comm,
                                                   trs_context *ctx, const trs_matrix *A,
                                                   int block_size,
                                                   const trs_relax_options *options);
TRS_EXPERIMENTAL trs_status trs_mpi_relax_create_bsr_f(trs_mpi_plan **plan, MPI_Fint comm,
                                                       trs_context *ctx, const trs_blocks *blocks,
                                                       const trs_relax_options *options);
TRS_EXPERIMENTAL trs_status trs_mpi_agree_f(MPI_Fint comm, trs_status status);

#ifdef __cplusplus
}
#endif
#endif
