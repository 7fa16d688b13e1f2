/* trireme_mpi.h - A x = b from LU factors spread over the ranks of an MPI communicator
 * (libtrireme_mpi, which is built where CMake finds MPI).
 *
 * Px x Py x Pz ranks solve as L23 describes (docs/references.md): Pz grids have a subtree of the
 * separator tree each and a copy of what stands above it; inside a grid blocks lie block-cyclic on
 * Px x Py processes.  Rank r is process (x, y) of grid z with r = (z Px + x) Py + y.
 *
 *   Conventions are those of trireme.h.  Every call here is collective over the communicator, and a
 * failure is the same on all ranks: the first rank's that failed, "rank 3: ..." before its message.
 * Options are the same on all ranks, and so are factors; where options, patterns, permutations or
 * scalings differ, analyses fail with TRS_ERROR_ARGUMENT, but values are not compared.
 * MPI itself is initialised and finalised by the caller; one thread calls.
 *
 *   With a limit on waits (trs_mpi_options.timeout_seconds, TRIREME_TIMEOUT for all calls), a rank
 * that does not answer, as one that was stopped, makes all others leave with TRS_ERROR_STALLED and
 * its number, at most two seconds behind the limit.  What was made on these ranks can only be
 * destroyed then, and MPI_Finalize would wait for the lost rank: end with MPI_Abort.  The limit
 * must be longer than any rank computes alone.  MPI does not survive a fork: a forked child is
 * refused. */
#ifndef TRIREME_MPI_H
#define TRIREME_MPI_H

#include <mpi.h>

#include "trireme.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct trs_mpi_plan trs_mpi_plan;

typedef struct trs_mpi_options {
  size_t struct_size;
  const char *method; /* NULL or "grid3d"; "grid3d-baseline": level by level over the separator
                         tree; "grid2d": one grid; with the backend cuda, "grid3d:algorithm=4":
                         grids solve as L23's Algorithm 4 has it, but for rows that several share,
                         which would not get the same bits */
  int px, py, pz;     /* all 0: a shape is chosen; pz is a power of two */
  int flat_trees;     /* 1: whoever has something sends it to all itself */
  int64_t width;      /* most columns of a supernode; 0: 128 */
  int64_t relax;      /* percent of zeros that joining supernodes may bring; 0: 20, -1: none */
  trs_trans trans;    /* TRS_TRANS, TRS_CONJ_TRANS: solve with A^T, A^H */
  int scattered;     /* 1: every supernode is spread over its grid, as L23 has it; else those at the
                        bottom of the tree have a process of their own, which saves messages */
  trs_scalar scalar; /* element type of what is read from a file, as in trs_read_options */
  const char *invert; /* which triangles on the diagonal are inverted in the analysis.  "blocks":
                         each supernode's.  "separators": also those of supernodes that wait for
                         each other in a row, as those of a separator, all together (at most 2048
                         columns), so that they take one broadcast and one reduction.  Where a
                         product with the inverse may have 1000 times the error of a solve, each
                         supernode's is inverted instead; where it may have 50 times that error for
                         a supernode, its triangle is solved with (trs_mpi_stats.solved).
                         "auto": those of them that are nearly full.  NULL: "auto" for grid3d,
                         "blocks" for the others */
  double timeout_seconds; /* the most that a rank waits for the others in any call, before it gives
                             up with TRS_ERROR_STALLED; 0: as the environment variable
                             TRIREME_TIMEOUT says, or without end; below 0: without end */
  const char *backend;    /* where a rank solves what is its own; NULL: on one core, by block
                             operations.  Else where trs_mpi_context_create takes it to: its grid's
                             part of L and U is analysed for that backend and stays there (L23, section
                             3.4: a GPU a grid).  For grid3d and grid2d with px and py of 1; no shape
                             given: 1 x 1 x ranks.  Kinds are the same on all ranks, and so should be
                             GPUs, for the same bits.  Backends have their own inverses: invert,
                             flat_trees and scattered change nothing */
  int64_t nrhs; /* with a backend: right-hand sides expected in a solve, as in trs_options */
  int in_turn;  /* 1, with a backend: ranks sweep one behind the other, so that those which share a
                   GPU or cores are timed each alone (trs_mpi_stats.flop_s); for measurements */
} trs_mpi_options;

/* A context on each rank, as trs_context_create makes it.  where: "cuda", one of the GPUs of the
 * rank's machine, which its ranks take in turn, so that several may share one; "cuda:N";
 * "threads[:T]"; "serial".  The caller destroys it (trs_context_destroy).  A rank that has no such
 * GPU fails them all: TRS_ERROR_UNSUPPORTED names it; TRS_ERROR_ARGUMENT: where is none of these.
 */
TRS_API trs_status trs_mpi_context_create(MPI_Comm comm, trs_context **ctx, const char *where);

/* Takes its part of the factors, which every rank has whole, and has no more use for them.
 * TRS_ERROR_ARGUMENT: the shape does not fit the ranks, pz is no power of two or larger than the
 * separator tree. */
TRS_API trs_status trs_mpi_analyze(MPI_Comm comm, trs_mpi_plan **plan, const trs_factors *F,
                                   const trs_mpi_options *options);

/* From a file that trs_factors_write or `trireme factor` made: rank 0 reads the pattern, and every
 * rank an equal part of the entries, which go to the ranks whose they are.  TRS_ERROR_FORMAT: among
 * others, the path leads one rank to another file than rank 0. */
TRS_API trs_status trs_mpi_analyze_file(MPI_Comm comm, trs_mpi_plan **plan, const char *path,
                                        const trs_mpi_options *options);

/* One rank's blocks of L and U as SuperLU_DIST keeps them; trireme_superlu_dist.h fills it in.  A
 * grid of px x py processes, rank x py + y of the communicator at (x, y); ranks from px py on have
 * no blocks, their arrays of arrays are not looked at. */
typedef struct trs_mpi_blocks {
  size_t struct_size;
  trs_scalar scalar;
  int index_bytes, scale_bytes; /* of an index, 4 or 8; of a scale factor, 4 or 8 */
  int px, py;
  int64_t n, nsupers;
  const void *xsup;            /* nsupers + 1: first columns of the supernodes */
  const void *perm_r, *perm_c; /* n: permutations of rows, then of both */
  const void *R, *C;           /* n: scale factors, or NULL; like the above rank 0's */
  const void *const *L_index, *const *L_values; /* by this rank's block columns */
  const void *const *U_index, *const *U_values; /* by this rank's block rows */
} trs_mpi_blocks;

/* From blocks where they lie.  Supernodes are SuperLU_DIST's; the grid may be another than that of
 * the blocks, 3D for instance. */
TRS_API trs_status trs_mpi_analyze_blocks(MPI_Comm comm, trs_mpi_plan **plan,
                                          const trs_mpi_blocks *blocks,
                                          const trs_mpi_options *options);

/* How b and x lie from now on: this rank has `rows` of them from first_row on, and so on over the
 * ranks.  Until it is called they lie whole on rank 0. */
TRS_API trs_status trs_mpi_distribute(trs_mpi_plan *plan, int64_t first_row, int64_t rows);

/* A x = b with nrhs right-hand sides by columns, of which x and b are this rank's rows; who has
 * none may pass NULL.  nrhs is the same on all ranks.  With a GPU's backend x and b may lie in
 * device memory, here and in trs_mpi_refine: they pass through host memory, and the call returns
 * when x is there. */
TRS_API trs_status trs_mpi_solve(trs_mpi_plan *plan, void *x, int64_t ldx, const void *b,
                                 int64_t ldb, int64_t nrhs);

/* Betters x by at most `steps` more solves, with residuals b - A x in higher precision.  rows: this
 * rank's rows of A (of A^T, A^H where the plan solves with these), all columns, in CSR, no matter
 * what L and U are of; NULL where it has none.  *error: the componentwise backward error that is
 * left; *taken: the steps that were of use.  Either may be NULL. */
TRS_API trs_status trs_mpi_refine(trs_mpi_plan *plan, const trs_matrix *rows, void *x, int64_t ldx,
                                  const void *b, int64_t ldb, int64_t nrhs, int steps,
                                  double *error, int *taken);
TRS_API void trs_mpi_plan_destroy(trs_mpi_plan *plan);

/* Over the ranks. */
typedef struct trs_mpi_spread {
  double min, mean, max;
} trs_mpi_spread;

/* Of the last solve, without handing out b and collecting x.  Seconds; L- and U-solve apart. */
typedef struct trs_mpi_stats {
  size_t struct_size;
  const char *method, *invert; /* as in the options */
  int px, py, pz;
  int64_t supernodes;
  int64_t separators,
      inverted;          /* rows of supernodes that options.invert names; of these inverted */
  double inverted_bytes; /* that they have more than before, on one grid */
  int64_t solved;        /* triangles of supernodes, of L and of U, that are not inverted, since a
                            product would lose digits; each once, however many grids have it */
  trs_mpi_spread solve_s;
  trs_mpi_spread inter_s[2]; /* between grids: before the U-solve, within it */
  trs_mpi_spread intra_s[2]; /* inside a grid: sending and waiting, L and U */
  trs_mpi_spread flop_s[2];  /* products, L and U */
  trs_mpi_spread flops[2];   /* additions and multiplications */
  trs_mpi_spread inter_messages[2], inter_bytes[2], intra_messages[2], intra_bytes[2]; /* sent */
  trs_mpi_spread leaf_entries;     /* over grids: entries of L and U in the leaves */
  trs_mpi_spread bytes;            /* of a rank's blocks */
  double replicated;               /* blocks on all ranks over blocks on one */
  double replicated_work;          /* likewise additions and multiplications */
  double volume_bound;             /* L23's for intra_bytes of either sweep, but for a factor */
  trs_mpi_spread message_bound[2]; /* the sum over the trees, of columns and of rows, that a rank
                                      is in of log2 of their members, rounded up: L23's bound on
                                      their depths, whatever trees there are */
  trs_mpi_spread tree_sends[2];    /* the most messages that a rank sends in one tree: at most 2 in
                                      binary ones */
  const char *backend;             /* of this rank, "cuda"; NULL: block operations */
  const char *solver;              /* methods of the backend: "engine"; NULL: none */
  int gpus, ranks_on_gpu;          /* that all ranks work on; the most ranks on one of them */
  trs_mpi_spread transfer_s; /* right-hand sides to the backend, x from there: not in solve_s */
} trs_mpi_stats;

TRS_API trs_status trs_mpi_get_stats(trs_mpi_plan *plan, trs_mpi_stats *stats);

/* ---- Relaxation ----------------------------------------------------------------------------- */

/* Multicolour block relaxation, as trireme.h describes it, with a domain of the block rows on each
 * rank: colours are those of one domain, rows that others read are relaxed first and travel while
 * the rest is relaxed.  x and the norms have the bits that trs_relax_sweep gives, for any number of
 * ranks.  Options, sizes and the way of calling are the same on all ranks.  ctx is this rank's: of
 * the CPU, where with several threads MPI is to be initialised with MPI_THREAD_FUNNELED, or on all
 * ranks of a GPU each (trs_mpi_context_create), which several may share.  Then x and the norms have
 * the bits of one such GPU, rows of other ranks pass through pinned memory of the host, and x and b
 * of rows that each rank brings may lie in device memory; sweeps return when x is there. */
typedef struct trs_mpi_relaxation trs_mpi_relaxation;

/* From a matrix on rank 0, which deals it; others pass NULL for A, and for x and b in sweeps. METIS
 * makes the domains; without it, and with less than 8 rows a rank, they are runs of rows. */
TRS_API trs_status trs_mpi_relax_create(MPI_Comm comm, trs_context *ctx, trs_mpi_relaxation **R,
                                        const trs_matrix *A, int block_size,
                                        const trs_relax_options *options);

/* From rows that each rank brings: nrows block rows, those behind the rows of the ranks before, may
 * be 0; idx are block columns of the whole.  They stay on their rank, as its domain; x and b in
 * sweeps are of these rows, and so is options->colour. */
TRS_API trs_status trs_mpi_relax_create_bsr(MPI_Comm comm, trs_context *ctx, trs_mpi_relaxation **R,
                                            trs_scalar scalar, int64_t nrows, int block_size,
                                            trs_layout layout, int indexing, const void *ptr,
                                            const void *idx, const void *val,
                                            const trs_relax_options *options);

/* New values in the same pattern, given as at creation. */
TRS_API trs_status trs_mpi_relax_update(trs_mpi_relaxation *R, const trs_matrix *A);
TRS_API trs_status trs_mpi_relax_update_bsr(trs_mpi_relaxation *R, trs_layout layout, int indexing,
                                            const void *ptr, const void *idx, const void *val);

/* As trs_relax_sweep.  Every rank has room for the norms, and gets them. */
TRS_API trs_status trs_mpi_relax_sweep(trs_mpi_relaxation *R, void *x, int64_t ldx, const void *b,
                                       int64_t ldb, int64_t nrhs, trs_layout layout,
                                       const trs_sweep_options *options);

typedef struct trs_mpi_relax_info {
  size_t struct_size;
  trs_mpi_spread rows, blocks; /* of a rank */
  trs_mpi_spread halo_rows;    /* of others, that a rank reads */
  trs_mpi_spread messages;     /* sent by a rank in a pass over the colours */
  trs_mpi_spread bytes;        /* that they carry, for one right-hand side */
} trs_mpi_relax_info;

/* whole: as trs_relax_get_info has it of one domain; threads and seconds are the most of a rank,
 * colour_ptr and row are NULL, there is one domain per rank, and partition may be "as given".
 * Either may be NULL, on all ranks alike. */
TRS_API trs_status trs_mpi_relax_get_info(trs_mpi_relaxation *R, trs_relax_info *whole,
                                          trs_mpi_relax_info *info);
TRS_API void trs_mpi_relax_destroy(trs_mpi_relaxation *R);

/* Makes a failure of any rank one of all: for what ranks do apart before a collective call, such as
 * reading files. */
TRS_API trs_status trs_mpi_agree(MPI_Comm comm, trs_status status);

#ifdef __cplusplus
}
#endif
#endif
