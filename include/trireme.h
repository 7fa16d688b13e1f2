/* trireme.h - sparse triangular solves op(L) x = b and op(U) x = b, and A x = b by two sweeps over
 * the factors of A.
 *   Three functions do the work: trs_analyze (pattern -> plan), trs_update (new values, same
 * pattern), trs_solve.  Multicolour relaxation of block systems is a plan, too:
 * trs_relax_create, trs_relax_sweep.
 *   Conventions.  Every function that can fail returns a trs_status.  trs_last_error() then gives
 * the calling thread's message: what went wrong, where, and what to do.  The library never prints,
 * exits or aborts.  Arguments come in one order: the object that the call makes or works on,
 * further outputs, where it runs (a communicator, a context), inputs, options; a size follows what
 * it measures; NULL options mean the defaults.  Rows and columns count from 0.  Values are void *
 * with a trs_scalar beside them.  Pointers are to host memory unless the documentation says
 * otherwise, and have the alignment of their type.  "Device memory" is that of a GPU and managed
 * memory; pinned memory is host memory.  A stream that is NULL is CUDA's legacy default stream, and
 * calls leave the thread's current device as it was.  Objects may be destroyed in any order: an
 * object keeps alive what it needs.  A call that makes an object does not destroy what its output
 * pointed to, and sets it to NULL if it fails.
 *   Distinct objects may be used from distinct threads at once, and threads may share a matrix,
 * factors or a context that none of them changes.  Plans, batches and relaxations own a workspace
 * and therefore serve one call at a time: a solve, a sweep, an update or a wait during another call
 * fails with TRS_ERROR_BUSY and writes nothing.  Structures that the caller fills in, or passes to
 * be filled in, begin with struct_size, the size that the caller's compiler gave them.  Fields that
 * are zero have their default:
 *
 *      trs_options options = {.struct_size = sizeof(trs_options), .nrhs = 8};
 *      trs_plan_info info = {.struct_size = sizeof info};
 *
 *   A field outside its domain is TRS_ERROR_ARGUMENT, whose message names the field, its value and
 * the domain.  A field that is described by what 1 does is a flag, 0 or 1.  Numbers are finite.
 *   A later version may add fields at the end.  A program compiled with an older header keeps
 * working: the library reads and writes at most struct_size bytes.  A program compiled with a newer
 * header gets TRS_ERROR_ARGUMENT if it sets a field that the library does not know.
 *   Functions declared with TRS_CORE keep their names, arguments and meaning from version 1.0 on,
 * and so do the types that they take.  Those with TRS_EXPERIMENTAL may change in a minor version;
 * CHANGELOG.md says how.  A program that defines TRIREME_CORE_ONLY before the header is warned of
 * experimental functions by its compiler.  The comment of a core function that can fail ends with
 * its inputs, outputs, memory, errors (without TRS_ERROR_) and cost.
 *   Papers are cited by key: L17 (Liu, Li, Hogg, Duff, Vinter 2017), X20 (Xie et al. 2020), L23
 * (Liu, Ding, Sao, Williams, Li 2023), W21 (Walden, Zubair, Stone, Nielsen 2021).
 * docs/references.md has the full references. */
#ifndef TRIREME_H
#define TRIREME_H

#include <stddef.h>
#include <stdint.h>

#define TRIREME_VERSION_MAJOR 0
#define TRIREME_VERSION_MINOR 1
#define TRIREME_VERSION_PATCH 0

#if defined(_WIN32)
#define TRS_API
#else
#define TRS_API __attribute__((visibility("default")))
#endif
#define TRS_CORE TRS_API
#if defined(TRIREME_CORE_ONLY) && !defined(_WIN32)
#define TRS_EXPERIMENTAL TRS_API __attribute__((deprecated("experimental, not in the core")))
#else
#define TRS_EXPERIMENTAL TRS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ------------------------------------------------------------------------------- */

typedef enum trs_status {
  TRS_SUCCESS = 0,
  TRS_ERROR_ARGUMENT,    /* an argument is outside its domain */
  TRS_ERROR_MEMORY,      /* an allocation failed or a memory limit was reached */
  TRS_ERROR_FILE,        /* a file cannot be opened, read or written */
  TRS_ERROR_FORMAT,      /* a file's content is invalid, truncated or damaged */
  TRS_ERROR_STRUCTURE,   /* the matrix is not square, has entries on the wrong side, or lacks a
                            diagonal entry */
  TRS_ERROR_ZERO_PIVOT,  /* a diagonal entry is zero */
  TRS_ERROR_NOT_FINITE,  /* a diagonal entry or its reciprocal, or a value of new factors, is NaN or
                            infinite */
  TRS_ERROR_UNSUPPORTED, /* this build or this machine does not have it */
  TRS_ERROR_STALLED,   /* a wait inside a solve passed its limit, or the process that it waited for
                          has ended */
  TRS_ERROR_INTERNAL,  /* a bug in Trireme; please report it */
  TRS_ERROR_CANCELLED, /* the flag of trs_set_cancel_flag was set */
  TRS_ERROR_DEVICE,    /* the GPU, its driver or a kernel of the program's own failed; the context
                          of CUDA may be lost, and with it every GPU array of the process */
  TRS_ERROR_BUSY       /* another thread's call uses the object: try again, or give each thread an
                          object of its own.  The object is as it was */
} trs_status;

typedef struct trs_error {
  trs_status status;
  int64_t row;         /* the row at fault, or -1 */
  const char *message; /* one line, no newline; valid until this thread's next failing call */
} trs_error;

/* The last failure in this thread.  Never NULL. */
TRS_CORE const trs_error *trs_last_error(void);
/* What a status means, "zero pivot".  Never NULL. */
TRS_CORE const char *trs_status_name(trs_status status);

/* trs_version: the version of the library, "0.1.0".  trs_features: one line per feature, which says
 * whether this build has it: "zlib     yes  gzip files, checksums", "METIS    no   nested
 * dissection (install libmetis-dev and build again)". */
TRS_CORE const char *trs_version(void);
TRS_CORE const char *trs_features(void);

/* Long operations call it from time to time with done in [0, 1], in the calling thread.  trs_factor
 * calls it twice a second: where it is not known how much is done, phase becomes "factoring, 12 s"
 * and done stays as it was; trs_factor then works in a thread of its own.  The callback must not
 * use the context of the operation and must not read files, and it must return: no longjmp, no
 * exception, no end of the thread.  A child forked in the callback must not return from it. */
typedef void (*trs_progress)(void *user, const char *phase, double done);

/* The flag by which calls of this thread are cancelled; NULL, as at the start: none.  While *flag
 * is not 0, calls of this thread that can fail do so with TRS_ERROR_CANCELLED, as soon as they look
 * at it: analyses, orders, factorisations, updates, reads and writes within a fraction of a second,
 * worker processes at once, but SuiteSparse's AMD and COLAMD, and a solve that has begun, when they
 * are through.  Any thread, a signal handler and a progress callback may set the flag, which must
 * last until another is set or the thread ends.  A cancelled call leaves what any failure leaves:
 * nothing is made, no file is written, and what was to be updated may solve nothing until an update
 * succeeds.  Calls that destroy are not cancelled.
 *   - In: flag, of the caller, in host memory, read by the calls; NULL: none.
 *   - Memory: flag must last until another is set or the thread ends.
 *   - Errors: MEMORY.
 *   - Cost: none. */
TRS_CORE trs_status trs_set_cancel_flag(const int *flag);

/* ---- Context: where work runs --------------------------------------------------------------- */

typedef struct trs_context trs_context;

/* A context at the place that `where` names:
 *   - "auto" or NULL: threads, and the first GPU for solves large enough to gain from it.  The
 *     number of threads is TRIREME_NUM_THREADS, or every core that affinity and cgroups leave, or
 *     fewer if OMP_NUM_THREADS, LOKY_MAX_CPU_COUNT or SLURM_CPUS_PER_TASK is less.
 *   - "serial", "threads", "threads:8".
 *   - "cuda" (the first GPU), "cuda:1".
 *   - "cuda:0-3", "cuda:0,2": several GPUs of one machine, in one process.
 *   - "nvshmem": several GPUs of one machine, one process per GPU, started by mpirun.  All
 *     processes call the same functions with the same arguments, and each gets the whole of x.
 *   - "hip", "hip:1": one GPU of AMD, in a build with HIP; never run on one.  Matrices are in host
 *     memory.
 *   - "opencl", "opencl:1": an OpenCL device, counted over all platforms, GPUs first.  It has L17's
 *     methods for real systems; matrices, x and b are in host memory.
 * TRS_ERROR_UNSUPPORTED: this build has no CUDA (HIP, NVSHMEM, OpenCL), the machine has no driver
 * or no such device, or the GPUs cannot reach each other's memory.
 *   - In: where, a text of the list above.
 *   - Out: *ctx; NULL after a failure.  The caller destroys it.
 *   - Memory: its own, and on a GPU that of CUDA.
 *   - Errors: ARGUMENT (no such place), UNSUPPORTED, MEMORY, DEVICE.
 *   - Cost: the start of its threads, or of CUDA on its GPUs.
 */
TRS_CORE trs_status trs_context_create(trs_context **ctx, const char *where);
/* Destroys a context.  NULL is ignored.  Plans of the context keep it alive. */
TRS_CORE void trs_context_destroy(trs_context *ctx);

typedef enum trs_context_kind {
  TRS_KIND_NONE = 0, /* of NULL */
  TRS_KIND_AUTO,     /* threads, and the first GPU for large solves: "auto" */
  TRS_KIND_THREADS,  /* threads of the host: "serial", "threads:8" */
  TRS_KIND_GPU,      /* one GPU: "cuda:1", "hip" */
  TRS_KIND_GPUS,     /* several GPUs of one machine: "cuda:0-3", "nvshmem" */
  TRS_KIND_OPENCL    /* an OpenCL device: "opencl" */
} trs_context_kind;

/* What a context is.  *number (may be NULL): the number of its threads (auto, threads), of its
 * GPUs in all processes, or of its OpenCL devices; 0 for NULL. */
TRS_EXPERIMENTAL trs_context_kind trs_context_get_kind(const trs_context *ctx, int *number);
/* The number of threads.  Functions that only return facts accept NULL.  A NULL object has 0
 * threads, rows and members; a NULL output is not written. */
TRS_CORE int trs_context_threads(const trs_context *ctx);
/* The number of processes that work together (1 except for "nvshmem"); *rank is this process's
 * number, from 0. */
TRS_EXPERIMENTAL int trs_context_processes(const trs_context *ctx, int *rank);
/* The number of members, that is, of GPUs that work together (1 without a group).  This process
 * runs members first .. first + local - 1.  Both outputs may be NULL. */
TRS_EXPERIMENTAL int trs_context_members(const trs_context *ctx, int *first, int *local);
/* The most bytes that the library may hold on each GPU of the context; 0: no limit.  A later
 * analysis or update that needs more fails with TRS_ERROR_MEMORY; with "auto" and with several GPUs
 * it first tries methods that need less. */
TRS_EXPERIMENTAL trs_status trs_context_set_gpu_memory(trs_context *ctx, int64_t bytes);
/* The memory in bytes of the smallest GPU among this process's members; 0 without a GPU. */
TRS_EXPERIMENTAL int64_t trs_context_gpu_memory(const trs_context *ctx);
/* The CUDA ordinal of the GPU of a member that this process runs; -1 without a GPU. */
TRS_EXPERIMENTAL int trs_context_gpu(const trs_context *ctx, int member);

/* The GPUs, one line each: "cuda:0    NVIDIA H200, 150 GB".  "" without a GPU or without CUDA in
 * this build. */
TRS_EXPERIMENTAL const char *trs_device_list(void);

/* ---- Matrix --------------------------------------------------------------------------------- */

typedef struct trs_matrix trs_matrix;

typedef enum trs_scalar {
  TRS_SCALAR_DEFAULT = 0, /* in options of readers: double, or double complex if the file has
                             complex values */
  TRS_FLOAT,              /* float */
  TRS_DOUBLE,             /* double */
  TRS_SCOMPLEX,           /* float complex: two floats, real part first */
  TRS_DCOMPLEX            /* double complex */
} trs_scalar;

typedef enum trs_format { TRS_CSR = 0, TRS_CSC = 1 } trs_format;
typedef enum trs_uplo { TRS_GENERAL = 0, TRS_LOWER = 1, TRS_UPPER = 2 } trs_uplo;
typedef enum trs_trans { TRS_NO_TRANS = 0, TRS_TRANS = 1, TRS_CONJ_TRANS = 2 } trs_trans;
typedef enum trs_diag { TRS_NONUNIT = 0, TRS_UNIT = 1 } trs_diag;
typedef enum trs_layout { TRS_COL_MAJOR = 0, TRS_ROW_MAJOR = 1 } trs_layout;

typedef enum trs_ownership {
  TRS_COPY = 0,   /* the arrays are copied */
  TRS_BORROW = 1, /* the arrays are used in place and must outlive every object that uses them */
  TRS_TAKE = 2 /* all three arrays, each from malloc, pass to the library, even if the call fails */
} trs_ownership;

/* How the caller stores ptr and idx: one constant of each pair, combined with |.  Constants that
 * are zero may be left out.  SciPy, PETSc, cuSPARSE and hypre use TRS_PTR32; torch uses TRS_PTR64 |
 * TRS_IDX64; many Fortran programs use TRS_PTR32 | TRS_BASE1. */
enum {
  TRS_PTR64 = 0, /* ptr is an array of int64_t */
  TRS_PTR32 = 1, /* ptr is an array of int32_t */
  TRS_IDX32 = 0, /* idx is an array of int32_t */
  TRS_IDX64 = 2, /* idx is an array of int64_t; indices above 2^31 - 1 are an error */
  TRS_BASE0 = 0, /* ptr and idx count from 0 */
  TRS_BASE1 = 4  /* ptr and idx count from 1 */
};

/* A matrix from compressed arrays ptr[nvec + 1], idx[nnz] and val[nnz], with nvec rows (CSR) or
 * columns (CSC) and nnz = ptr[nvec] - ptr[0].  indexing: constants from the list above.
 *   Indices may be unsorted and repeated; the values of repeated entries add up.  Zero entries stay
 * entries.
 *   TRS_BORROW uses val in place, idx if it is TRS_IDX32 | TRS_BASE0, and ptr if it is TRS_PTR64 |
 * TRS_BASE0.  An array of another kind is converted once into a copy, and the caller's array is not
 * needed afterwards.  If indices repeat or do not ascend, the library sorts all three arrays into
 * copies; every call that reads values then reads the borrowed val again.
 *   TRS_ERROR_STRUCTURE names the row (CSR) or column (CSC) at fault, and says if ptr looks like an
 * array of the other width.
 *   - In: ptr, idx and val in host memory.  They may be NULL where they would be empty.
 *   - Out: *A; NULL after a failure.  The caller destroys it.
 *   - Memory: by ownership; copies of what cannot be used in place.
 *   - Errors: ARGUMENT, STRUCTURE (row or column), MEMORY.
 *   - Cost: a pass over ptr and idx, and a sort of rows that do not ascend. */
TRS_CORE trs_status trs_matrix_create(trs_matrix **A, trs_format format, trs_scalar scalar,
                                      int64_t nrows, int64_t ncols, int indexing, const void *ptr,
                                      const void *idx, const void *val, trs_ownership ownership);

/* A CSR matrix from nnz triplets in any order.  The values of repeated entries add up.  The arrays
 * are copied.  indexing applies to row and col: TRS_IDX32 or TRS_IDX64, TRS_BASE0 or TRS_BASE1.
 *   - In: row, col and val, nnz each, in host memory.
 *   - Out: *A; NULL after a failure.  The caller destroys it.
 *   - Memory: the three arrays of A.
 *   - Errors: ARGUMENT, STRUCTURE, MEMORY.
 *   - Cost: a sort by rows. */
TRS_CORE trs_status trs_matrix_create_coo(trs_matrix **A, trs_scalar scalar, int64_t nrows,
                                          int64_t ncols, int64_t nnz, int indexing, const void *row,
                                          const void *col, const void *val);

/* Blocks by rows (BSR): nrows x ncols blocks of block_size x block_size, from ptr[nrows + 1],
 * idx[nblocks] block columns in any order and val[nblocks * block_size^2].  The values of repeated
 * blocks add up.  The functions that take blocks keep none of the arrays, except where
 * trs_matrix_create_bsr is told so. */
typedef struct trs_blocks {
  size_t struct_size;
  trs_scalar scalar;    /* type of val */
  int block_size;       /* 1 to 32 */
  int64_t nrows, ncols; /* block rows and block columns; ncols 0: as many as rows */
  trs_layout layout;    /* order of the elements of a block */
  int indexing;         /* of ptr and idx, as in trs_matrix_create */
  const void *ptr, *idx, *val;
  trs_ownership ownership; /* of val in trs_matrix_create_bsr: TRS_COPY or TRS_BORROW */
} trs_blocks;
/* For new values scalar, block_size, nrows and ncols may be 0: what they were at creation.  Other
 * values than those are TRS_ERROR_ARGUMENT. */

/* A CSR matrix from blocks.  trs_matrix_set_values takes values in the order of blocks->val.  Plans
 * and trs_factor know the block size.  A borrowed val is read in place by what works with blocks,
 * such as trs_factor of BILU0 and DILU, and copied when another function first needs the entries;
 * it must not change before the matrix is destroyed.  TRS_ERROR_STRUCTURE names the block row at
 * fault. */
TRS_EXPERIMENTAL trs_status trs_matrix_create_bsr(trs_matrix **A, const trs_blocks *blocks);

/* As trs_matrix_create, with values in device memory of the context's GPU, of several GPUs the
 * first; they are borrowed.  ptr and idx may each lie there too, and are then borrowed, or in host
 * memory, from which the call copies them.  Conversion and sorting make copies in device memory.
 * The call reads the arrays on the default stream: the work that fills ptr and idx must be complete
 * or ordered before that stream.  trs_analyze and trs_update read the values after the work in the
 * plan's stream.
 *   Only GPU methods solve with such a matrix.  Functions that read arrays on the host, including
 * trs_check, return TRS_ERROR_UNSUPPORTED.  trs_matrix_get_arrays returns device pointers;
 * trs_matrix_set_values takes one.
 *   - In: val in the memory of the GPU; ptr and idx there or on the host.
 *   - Out: *A; NULL after a failure.  The caller destroys it.
 *   - Memory: borrowed arrays must outlive every object that uses them; copies lie on the GPU.
 *   - Errors: ARGUMENT, STRUCTURE, UNSUPPORTED (no GPU), MEMORY, DEVICE.
 *   - Cost: a check of the pattern and, where indices do not ascend, a sort, on the GPU. */
TRS_CORE trs_status trs_matrix_create_device(trs_matrix **A, trs_context *ctx, trs_format format,
                                             trs_scalar scalar, int64_t nrows, int64_t ncols,
                                             int64_t nnz, int indexing, const void *ptr,
                                             const void *idx, const void *val);

/* Writes to val the values of the vectors vector[0] < vector[1] < ... < vector[count - 1] of a
 * matrix, which are rows (CSR) or columns (CSC).  The vectors follow each other without gaps, each
 * in the order of its indices.  val is in host memory.  Any status but TRS_SUCCESS ends the call
 * that asked for the values, with that status. */
typedef trs_status (*trs_values_callback)(void *user, void *val, int64_t count,
                                          const int32_t *vector);

/* A matrix that holds only its pattern, with ascending indices and no repeats, for systems that
 * exceed the memory of every single GPU and possibly of the host.  trs_analyze and trs_update over
 * several GPUs (method "push") and trs_check ask for the values part by part, in the thread that
 * called them: one member of this process after the other; each part is then freed.  Vectors must
 * be rows of op(T): CSR for TRS_NO_TRANS, CSC for the transposes.  All other functions that need
 * values refuse such a matrix with TRS_ERROR_UNSUPPORTED.  The pattern arrays are owned as in
 * trs_matrix_create; trs_matrix_get_arrays sets *val to NULL. */
TRS_EXPERIMENTAL trs_status trs_matrix_create_deferred(trs_matrix **A, trs_format format,
                                                       trs_scalar scalar, int64_t nrows,
                                                       int64_t ncols, int indexing, const void *ptr,
                                                       const void *idx, trs_ownership ownership,
                                                       trs_values_callback give, void *user);

/* New values, in the order of the arrays given at creation.  They are borrowed or copied as at
 * creation; a matrix of TRS_TAKE copies them too, and frees val before the call returns.  Plans
 * made from the matrix use them after trs_update.  A solve before that may use the old values or,
 * where the method keeps no copy of them (serial), unchecked new ones.
 *   - In: val, as many as at creation, in host memory; of a matrix on a GPU in its memory.
 *   - Memory: val is borrowed, copied or taken, as at creation.
 *   - Errors: ARGUMENT (deferred values, or val not where A lies), MEMORY.
 *   - Cost: a copy of val, or none if it is borrowed. */
TRS_CORE trs_status trs_matrix_set_values(trs_matrix *A, const void *val);

/* Destroys a matrix.  NULL is ignored.  Plans and factors of the matrix keep it alive, but not
 * arrays that are borrowed. */
TRS_CORE void trs_matrix_destroy(trs_matrix *A);

typedef struct trs_matrix_info {
  size_t struct_size;
  trs_format format;
  trs_scalar scalar;
  int64_t nrows, ncols, nnz;
  int64_t nlower, nupper;   /* entries strictly below and above the diagonal */
  int64_t ndiagonal;        /* entries on the diagonal */
  int64_t missing_diagonal; /* the first row without a diagonal entry, or -1 */
  int64_t longest_row;      /* entries in the fullest row (CSR) or column (CSC) */
  int64_t bytes;            /* size of the three arrays, deferred values included */
  int64_t largest_part;     /* deferred values: the most bytes of values that one call has held in
                               host memory so far; else -1 */
  int block_size;           /* of trs_matrix_create_bsr and of block factors; else 1 */
} trs_matrix_info;

/* Facts of the pattern, counted when the matrix was made.
 *   - In: A.
 *   - Out: *info, with struct_size set.
 *   - Errors: ARGUMENT, MEMORY.
 *   - Cost: none; blocks are written as entries once. */
TRS_CORE trs_status trs_matrix_get_info(const trs_matrix *A, trs_matrix_info *info);

/* The matrix's own arrays: sorted, without repeats, counted from 0.  They are valid while the
 * matrix lives.  Each of ptr, idx and val may be NULL.
 *   - In: A.
 *   - Out: *ptr, *idx, *val: of the matrix, on a GPU if it lies there; not to be written or freed.
 *   - Errors: ARGUMENT, MEMORY.
 *   - Cost: none, or that of sorting new borrowed values, or of writing blocks as entries, once. */
TRS_CORE trs_status trs_matrix_get_arrays(const trs_matrix *A, const int64_t **ptr,
                                          const int32_t **idx, const void **val);

/* B = A in another format or scalar type.  Conversion from complex to real is an error.
 *   - In: A in host memory.
 *   - Out: *B; NULL after a failure.  The caller destroys it.
 *   - Memory: the three arrays of B.
 *   - Errors: ARGUMENT, UNSUPPORTED (device memory, deferred values), MEMORY.
 *   - Cost: a pass over A. */
TRS_CORE trs_status trs_matrix_convert(trs_matrix **B, const trs_matrix *A, trs_format format,
                                       trs_scalar scalar);

/* The lower or upper triangle of A, diagonal included.  With add_diagonal, a row without a diagonal
 * entry, or with a zero one, gets max(1, sum of the absolute values of the triangle's row).  L17
 * and X20 make their test systems solvable with "a dense main diagonal" in this way.
 *   - In: A in host memory, square.
 *   - Out: *T; NULL after a failure.  The caller destroys it.
 *   - Memory: the three arrays of T.
 *   - Errors: ARGUMENT, STRUCTURE, UNSUPPORTED (device memory, deferred values), MEMORY.
 *   - Cost: a pass over A. */
TRS_CORE trs_status trs_matrix_triangle(trs_matrix **T, const trs_matrix *A, trs_uplo uplo,
                                        int add_diagonal);

/* ---- Files ---------------------------------------------------------------------------------- */

typedef struct trs_read_options {
  size_t struct_size;
  trs_context *context; /* its threads parse the file; NULL: all cores */
  int allow_nonfinite;  /* 1: accept NaN and Inf as values; 0: they are TRS_ERROR_FORMAT */
  uint64_t seed;        /* for the values of a pattern-only file */
  trs_scalar scalar;    /* element type of the result */
  trs_progress progress;
  void *progress_user;
  int64_t max_bytes; /* the most memory that the call may use; a file or generator that claims more
                        is TRS_ERROR_MEMORY; 0: half of the memory of the machine or of the
                        process's control group, all of it for a generator; -1: no limit */
} trs_read_options;

/* Reads a matrix from Matrix Market (.mtx, .mtx.gz, .mtx.zst), Rutherford-Boeing (.rb) or from a
 * Binsparse HDF5 container
 * (.h5, .bsp.h5), or generates one from a name "gen:..." (trs_generator_list).  A symmetric,
 * skew-symmetric or Hermitian file becomes a full matrix.  A pattern-only file gets values from the
 * seed: off-diagonal values in [-1, 1], and each diagonal entry present is 1 + the sum of the
 * absolute values in its row, so that both triangles solve stably.
 *   - In: path; options, or NULL.
 *   - Out: *A; NULL after a failure.  The caller destroys it.
 *   - Memory: the arrays of A, and the text of the file in parts; at most options->max_bytes.
 *   - Errors: FILE, FORMAT (the message has the line), MEMORY, UNSUPPORTED (a library that the
 *     build lacks), CANCELLED.
 *   - Cost: the file is read once, by the threads of the context. */
TRS_CORE trs_status trs_matrix_read(trs_matrix **A, const char *path,
                                    const trs_read_options *options);

/* Opens a square matrix in a Matrix Market coordinate file and leaves the values in the file: the
 * call reads the pattern, and values are deferred as in trs_matrix_create_deferred.  Each part of
 * the values takes one pass over the file.  The file's date and pattern must not change meanwhile
 * (TRS_ERROR_FILE).  uplo TRS_LOWER or TRS_UPPER selects that triangle; add_diagonal, in CSR only,
 * then adds a diagonal as trs_matrix_triangle does.  uplo TRS_GENERAL selects the whole matrix.
 * The values are, to the bit, those of trs_matrix_read.  A compressed file is decompressed in each
 * pass, some lines at a time.  TRS_ERROR_UNSUPPORTED: other formats, and pipes. */
TRS_EXPERIMENTAL trs_status trs_matrix_open(trs_matrix **T, const char *path, trs_format format,
                                            trs_uplo uplo, int add_diagonal,
                                            const trs_read_options *options);

/* Writes Matrix Market or HDF5; the ending of the name selects the format.  The file appears under
 * its name only when it is complete.  It then replaces an existing file; after a failure the
 * existing file is unchanged.  Links are followed.  Devices, pipes and files that a process has
 * open (/dev/stdout) are written in place.
 *   - In: A in host memory; path.
 *   - Memory: a part of the text.
 *   - Errors: FILE, ARGUMENT, UNSUPPORTED (device memory, deferred values, no HDF5), MEMORY,
 *     CANCELLED.
 *   - Cost: a pass over A. */
TRS_CORE trs_status trs_matrix_write(const trs_matrix *A, const char *path);

/* trs_vectors_read: a dense nrows x ncols array, column-major with leading dimension nrows, from a
 * Matrix Market array or coordinate file.  The library allocates it; release it with trs_free. */
TRS_EXPERIMENTAL trs_status trs_vectors_read(void **values, int64_t *nrows, int64_t *ncols,
                                             trs_scalar scalar, const char *path,
                                             const trs_read_options *options);
/* Writes a dense nrows x ncols array with leading dimension ld, as trs_matrix_write does. */
TRS_EXPERIMENTAL trs_status trs_vectors_write(const void *values, int64_t nrows, int64_t ncols,
                                              int64_t ld, trs_layout layout, trs_scalar scalar,
                                              const char *path);

/* Releases arrays that the library has allocated for the caller.  NULL is ignored. */
TRS_CORE void trs_free(void *pointer);

/* The generators, one line each: "gen:poisson2d5:N    5-point Laplacian on an N x N grid". */
TRS_EXPERIMENTAL const char *trs_generator_list(void);

/* Fills x with reproducible values, uniform in [-1, 1).  All element types get the same numbers. */
TRS_EXPERIMENTAL void trs_random_fill(void *x, int64_t count, trs_scalar scalar, uint64_t seed);

/* ---- Factors -------------------------------------------------------------------------------- */

/* L and U with A(row_perm, col_perm) scaled = L U:
 *   L U = P_r D_r A D_c P_c^T,  (P_r D_r A D_c P_c^T)[i][j] = row_scale[row_perm[i]]
 *         * A[row_perm[i]][col_perm[j]] * col_scale[col_perm[j]].
 * L is lower and U upper triangular.  A Cholesky-like factorisation has U = L^H. */
typedef struct trs_factors trs_factors;

typedef enum trs_factor_kind {
  TRS_FACTOR_LU = 0,   /* complete, with threshold pivoting that prefers the diagonal; large systems
                          by SuperLU */
  TRS_FACTOR_ILU0,     /* incomplete, with the pattern of A, or with levels of fill */
  TRS_FACTOR_IC0,      /* incomplete Cholesky, with the pattern of A, or with levels of fill */
  TRS_FACTOR_TRIANGLE, /* L = lower triangle of A, U = its upper triangle, no factorisation */
  TRS_FACTOR_BILU0,    /* incomplete by blocks, with the block pattern of A (Saad 2003, 10.3) */
  TRS_FACTOR_BIC0,     /* the same for symmetric A, L U = L L^T */
  TRS_FACTOR_DILU /* as BILU0, with off-diagonal blocks as in A: only the diagonal blocks change
                     (Pommerell 1992) */
} trs_factor_kind;

typedef enum trs_order {
  TRS_ORDER_DEFAULT = 0, /* LU: TRS_ORDER_ND, TRS_ORDER_AMD or TRS_ORDER_COLAMD by the predicted
                            fill and time, another where pivots move and L and U grow, see
                            trs_factors_info.choice; the other kinds: TRS_ORDER_NATURAL */
  TRS_ORDER_ND,          /* nested dissection by METIS, keeps the separator tree */
  TRS_ORDER_AMD,         /* approximate minimum degree */
  TRS_ORDER_NATURAL,     /* the order of A */
  TRS_ORDER_RCM,         /* reverse Cuthill-McKee: a small bandwidth (George & Liu 1981) */
  TRS_ORDER_COLOUR, /* rows by colours, as in relaxation: as many levels as colours, at the cost
                       of weaker incomplete factors */
  TRS_ORDER_COLAMD  /* LU alone: columns by approximate minimum degree in A^T A, for patterns that
                       are far from symmetric; pivots from any row */
} trs_order;

typedef struct trs_factor_options {
  size_t struct_size;
  trs_factor_kind kind;
  trs_order order;
  int tree_leaves;        /* leaves of the separator tree, a power of two; 0: 8 */
  double pivot_threshold; /* LU, and BILU0 and DILU inside diagonal blocks: a diagonal entry stays
                             pivot if it exceeds this share of its column's largest entry; 0:
                             0.001 of doubles if all stay then, else 0.1, or 0.01 where
                             TRS_ORDER_DEFAULT finds that pivots move; DBL_MIN: every nonzero
                             diagonal entry stays pivot */
  int no_equilibration;   /* LU: 1: rows and columns are not scaled */
  int add_diagonal;       /* 1: rows of A without a diagonal entry, or with a zero one, get max(1,
                             sum of the absolute values of the row in all of A); for every kind,
                             before any other step; with TRS_FACTOR_TRIANGLE L and U get the same
                             diagonal */
  trs_progress progress;
  void *progress_user;
  int block_size; /* BILU0, BIC0 and DILU: 1 to 32, divides the rows of A; 0: that of A */
  trs_uplo uplo;  /* IC0 and BIC0: TRS_LOWER or TRS_UPPER: only that triangle of A is read, and A is
                     it with its (conjugate) mirror; entries across the diagonal and imaginary parts
                     on it are ignored, as LAPACK's potrf does.  TRS_GENERAL: all of A is read, and
                     must be symmetric, or Hermitian, up to rounding */
  double shift;   /* IC0 and BIC0, 0 to 1: where a pivot is not positive, A + shift diag(A) is
                     factored instead (Manteuffel 1980), with the shift doubled up to 39 times until
                     all pivots are positive; 0: such a pivot is TRS_ERROR_ZERO_PIVOT.  1e-3 is
                     usual */
  int levels;     /* ILU0 and IC0: k of ILU(k) and IC(k): L and U also have the entries up to that
                     level of fill (Saad 2003, 10.3.3); 0: those of A */
} trs_factor_options;

/* Factors a square matrix.  A is not needed afterwards.  TRS_ERROR_ZERO_PIVOT and
 * TRS_ERROR_NOT_FINITE name the row; TRS_ERROR_UNSUPPORTED names the library that the build lacks.
 *
 * Block kinds order and factor whole blocks.  Each diagonal block is factored with row exchanges
 * inside it (threshold pivot_threshold), which row_perm has; BIC0 needs none.  L and U are ordinary
 * triangles whose blocks are stored whole, both with their diagonals; the method "blocks" solves
 * with them by blocks.  Real matrices only.  TRS_ERROR_ZERO_PIVOT and TRS_ERROR_STRUCTURE name a
 * row of the block row without a pivot, or without a diagonal block.
 *   - In: A, n x n, in host memory; options, or NULL.
 *   - Out: *F; NULL after a failure.  The caller destroys it.
 *   - Memory: L and U on the host, with their fill; as much again while they are made.
 *   - Errors: ZERO_PIVOT and NOT_FINITE (row), STRUCTURE, ARGUMENT, UNSUPPORTED, MEMORY, CANCELLED.
 *   - Cost: an order, and the arithmetic of the elimination; progress is told. */
TRS_CORE trs_status trs_factor(trs_factors **F, const trs_matrix *A,
                               const trs_factor_options *options);

/* Factors that the caller already has.  L and U are kept alive, not copied.  row_perm and col_perm
 * are arrays of n: row i of L U is row row_perm[i] of A; NULL is the identity.  row_scale and
 * col_scale are arrays of n; NULL is all ones.  Permutations and scalings are copied.
 *   L and U may be one matrix that holds both factors, as ILU of cuSPARSE and of PETSc stores them:
 * its strict lower triangle is that of L, the rest is U, and L has a unit diagonal for every
 * diag_L.  With diag_U TRS_UNIT and diag_L TRS_NONUNIT the stored diagonal belongs to L (Crout).
 * New values of that matrix reach plans by trs_update_factors.
 *   L and U may both lie in device memory of one GPU.  Such factors are analysed, solved with and
 * updated there; functions that read them on the host return TRS_ERROR_UNSUPPORTED.
 *   - In: L and U, n x n, both on the host or both on one GPU; permutations and scalings on the
 *     host.
 *   - Out: *F; NULL after a failure.  The caller destroys it.
 *   - Memory: copies of the permutations and scalings.
 *   - Errors: ARGUMENT, STRUCTURE, UNSUPPORTED, MEMORY.
 *   - Cost: a pass over the permutations and scalings. */
TRS_CORE trs_status trs_factors_create(trs_factors **F, const trs_matrix *L, trs_diag diag_L,
                                       const trs_matrix *U, trs_diag diag_U,
                                       const int32_t *row_perm, const int32_t *col_perm,
                                       const double *row_scale, const double *col_scale);
/* What the pivots of trs_factors_refactor are worth. */
typedef struct trs_pivots {
  size_t struct_size;
  double least_share; /* the least |pivot| / largest entry below it when it is eliminated, in
                         its block of a block triangular form that trs_factor has found, at
                         most 1. trs_factor keeps it above pivot_threshold (0.001 by default); one
                         far below it loses as many digits, and asks for a new trs_factor */
  int64_t row;        /* of A, of that pivot; -1: there is nothing below any pivot, or the factors
                         are incomplete: of these it is not measured, and least_share is 1 */
} trs_pivots;

/* L and U of new values of A in place of the old ones, in the same patterns, with the same order of
 * pivots and the same scalings.  For complete LU (trs_factor, a file, or trs_factors_create with
 * one unit diagonal) in host memory, on the threads of ctx; NULL: one thread.  Plans of the factors
 * follow by trs_update_factors.  pivots may be NULL.
 *   The first call reads the patterns, and the first with another pattern of A that one: later ones
 * take the time of the arithmetic alone.  The bits do not depend on the number of threads.  Factors
 * of trs_factors_create get copies of L and U in the first call, which never writes to the
 * caller's; trs_factors_get_info then gives the copies. TRS_ERROR_STRUCTURE: A has an entry outside
 * the patterns of L and U, which the message names, or these lack an entry that elimination fills.
 * TRS_ERROR_ZERO_PIVOT and TRS_ERROR_NOT_FINITE name the row of A.  After a failure, whatever its
 * reason, the factors and their plans refuse every use with that status until a call succeeds; only
 * a call that finds them in use, or of a kind that is never refactored, leaves them as they were.
 * The factors may not be in use by other threads.
 *
 *   ILU0 and IC0 of trs_factor follow the same rules, with the order, uplo, add_diagonal and first
 * shift that they were made with, and get the bits that trs_factor would give them.  A has the
 * pattern that was factored; with levels of fill it may lack entries of L and U, whose patterns
 * stay.  With A in host memory one thread factors; IC0 then checks symmetry with the first values
 * of each matrix object, and reads the upper triangle of the reordered A.
 *   With A in device memory (trs_matrix_create_device) its GPU factors, in one launch; ctx may be
 * NULL or one of that GPU.  A is read, and L and U are written, on the default stream: solves of
 * plans that read values in place ("pull") must be complete or ordered before it.  The call waits
 * for the result.  L and U then lie in the memory of that GPU, until a call with A in host memory:
 * functions that read them on the host return TRS_ERROR_UNSUPPORTED, and plans of that GPU follow
 * wherever L and U lay when they were made.  The first call lists the steps of the elimination on
 * the host, and the first with another matrix object reads its pattern: later ones take new values
 * by trs_matrix_set_values or in place.  Beside L and U the GPU holds 8 bytes per division and
 * product of the elimination, 4 to 8 per entry and 12 per row.  There IC0 does not check that A is
 * symmetric: without uplo it reads the upper triangle of the reordered A; and add_diagonal is
 * TRS_ERROR_UNSUPPORTED.
 *   - In: A, n x n, on the host or on a GPU.
 *   - Out: F, its L and U; *pivots, with struct_size set.
 *   - Memory: L and U lie where A does; lists of the elimination, made in the first call.
 *   - Errors: STRUCTURE, ZERO_PIVOT and NOT_FINITE (row), BUSY, ARGUMENT, UNSUPPORTED, MEMORY,
 *     DEVICE, CANCELLED.
 *   - Cost: the arithmetic of the elimination; the first call also reads the patterns. */
TRS_CORE trs_status trs_factors_refactor(trs_factors *F, trs_pivots *pivots, trs_context *ctx,
                                         const trs_matrix *A);

/* Destroys factors.  NULL is ignored.  Plans of the factors keep them alive. */
TRS_CORE void trs_factors_destroy(trs_factors *F);

typedef struct trs_factors_info {
  size_t struct_size;
  trs_factor_kind kind;
  trs_order order;
  trs_scalar scalar;
  int64_t n, nnz_L, nnz_U;
  trs_diag diag_L, diag_U;
  int64_t nsupernodes;                 /* 0: not known */
  int64_t tree_nodes;                  /* nodes of the separator tree; 0: no tree */
  const trs_matrix *L, *U;             /* valid while the factors live; see trs_factors_refactor */
  const int32_t *row_perm, *col_perm;  /* n each, or NULL */
  const double *row_scale, *col_scale; /* n each, or NULL */
  const int64_t *supernode_ptr;        /* nsupernodes + 1: first columns, or NULL */
  const int64_t *tree_ptr; /* tree_nodes + 1: node t holds columns tree_ptr[t] .. tree_ptr[t+1] */
  const int32_t *tree_parent; /* tree_nodes: the parent's number, -1 at the root */
  int block_size;             /* of the block kinds; else 1 */
  double shift;       /* IC0 and BIC0: L U are incomplete factors of A + shift diag(A); 0: of A */
  const char *choice; /* what trs_factor chose for complete LU by default, and why, in one line; ""
                         for other factors and those of a file */
  int levels;         /* of fill, of ILU0 and IC0 */
} trs_factors_info;

/* Facts of factors, to which the arrays of the structure belong.
 *   - In: F.
 *   - Out: *info, with struct_size set; its arrays belong to F.
 *   - Errors: ARGUMENT.  After a failed trs_factors_refactor L and U are in part old, in part new.
 *   - Cost: none; blocks are written as entries once. */
TRS_CORE trs_status trs_factors_get_info(const trs_factors *F, trs_factors_info *info);

/* An estimate of the condition number of A, |A|_1 |A^-1|_1, from products and solves with the
 * factors in host memory, as LAPACK's gecon: seldom below a third of it, never above but for
 * rounding.  Infinite: a pivot is zero, or the estimate overflows.  Of A as trs_factors defines it:
 * for incomplete factors that of the preconditioner.  At most some seventy products and solves with
 * L U, on one thread. */
TRS_EXPERIMENTAL trs_status trs_factors_condition(double *condition, const trs_factors *F);

/* Factors with their permutations, scalings and separator tree, from and to an HDF5 container. */
TRS_EXPERIMENTAL trs_status trs_factors_read(trs_factors **F, const char *path,
                                             const trs_read_options *options);
TRS_EXPERIMENTAL trs_status trs_factors_write(const trs_factors *F, const char *path);

typedef enum trs_content { TRS_CONTENT_MATRIX, TRS_CONTENT_FACTORS } trs_content;
/* What a file holds, found without reading all of it. */
TRS_EXPERIMENTAL trs_status trs_file_content(trs_content *content, const char *path);

/* ---- Analysis ------------------------------------------------------------------------------- */

typedef struct trs_plan trs_plan;

/* The precision in which matrix values are stored, of plans and of relaxation.  "Scaled" has one
 * scale factor per block.  Values beyond the range of float are TRS_ERROR_UNSUPPORTED in relaxation
 * and in the methods "blocks" and "serial", rows whose values are all below it too.  In relaxation
 * and in "blocks" on the CPU, and in relaxation on one GPU, so is a b whose x is beyond or below
 * it, or whose products of x with blocks larger than 2 are in some row; and in relaxation on the
 * CPU a start x beyond it, and a block row whose x is below it though its b is not 2^52 times
 * smaller than the largest.  A sweep that only launches reports this in the next call that waits.
 * Elsewhere they become zero or infinite.  Plans: TRS_STORE_MIXED on a GPU, in "blocks", and in
 * "serial" where op(T) is stored by rows, of type double, for trs_options.nrhs of at most 1;
 * TRS_STORE_HALF and TRS_STORE_BFLOAT in "blocks".  Other methods keep the values, which
 * trs_plan_info.store and trs_plan_describe say.  TRS_STORE_DOUBLE and TRS_STORE_FLOAT must be the
 * type of the matrix, or the analysis fails with TRS_ERROR_UNSUPPORTED. */
typedef enum trs_store {
  TRS_STORE_DEFAULT = 0, /* plans: values keep their type; relaxation: TRS_STORE_MIXED */
  TRS_STORE_MIXED,  /* off-diagonal values in float, the diagonal (blocks) and sums in double: an
                       error of some 6e-8 |T| |x|.  Relaxation and "blocks", as W21: x in float,
                       products with blocks in float, sums over blocks in double.  Other plans:
                       x and all arithmetic in double */
  TRS_STORE_DOUBLE, /* all in double */
  TRS_STORE_FLOAT,  /* all in float */
  TRS_STORE_HALF,   /* as mixed, with off-diagonal blocks in IEEE half precision, scaled */
  TRS_STORE_BFLOAT  /* as mixed, with off-diagonal blocks in bfloat16, scaled */
} trs_store;

typedef struct trs_options {
  size_t struct_size;
  const char *method; /* NULL or "auto", or a name from trs_method_list; some names take parameters:
                         "syncfree-csc:warps=8" */
  int take_triangle;  /* 1: use the named triangle of a general matrix; 0: entries on the wrong side
                         are an error */
  int64_t nrhs;       /* right-hand sides expected per solve; 0: 1.  A hint for methods that prepare
                         for many: every number works after every hint */
  int64_t solves;     /* solves expected from the plan; 0: many */
  trs_progress progress;
  void *progress_user;
  trs_store store;
  int tune;     /* 1: candidates are timed on this system once and the fastest stays: on a GPU the
                   engine's settings, on a CPU the methods that auto compares */
  void *stream; /* a cudaStream_t for GPU methods; NULL: the default stream.  Methods of the CPU
                   ignore it */
  int distributed;    /* 1: the caller will use trs_solve_distributed; auto then times several GPUs
                         with b and x on the GPUs that solve them; 0: auto times them with b and x on
                         the first GPU */
  int launch_updates; /* 1: trs_update only launches, as trs_solve does with x and b in device
                         memory, so that a CUDA graph can contain updates and solves.  For a matrix
                         in device memory and the method "engine"; see trs_update */
} trs_options;

/* A plan for op(T) x = b, where T is the lower or upper triangle (uplo) of the square matrix A.
 * With TRS_UNIT the diagonal is one and stored diagonal entries are ignored.  TRS_ERROR_STRUCTURE,
 * TRS_ERROR_ZERO_PIVOT and TRS_ERROR_NOT_FINITE name the row.
 *   - In: A, n x n, on the host or on a GPU; options, or NULL.
 *   - Out: *plan; NULL after a failure.  The caller destroys it.
 *   - Memory: trs_plan_info.plan_bytes, on the GPU for a GPU's methods.
 *   - Errors: STRUCTURE, ZERO_PIVOT and NOT_FINITE (row), ARGUMENT, UNSUPPORTED, MEMORY, DEVICE,
 *     CANCELLED.
 *   - Cost: from a pass over A to some hundred solves, trs_plan_info.analysis_seconds. */
TRS_CORE trs_status trs_analyze(trs_plan **plan, trs_context *ctx, const trs_matrix *A,
                                trs_uplo uplo, trs_trans trans, trs_diag diag,
                                const trs_options *options);

/* A plan for op(A) x = b by both sweeps over the factors, with their permutations and scalings.
 *   - In: F, on the host or on a GPU; options, or NULL.
 *   - Out: *plan; NULL after a failure.  The caller destroys it.
 *   - Memory: two plans and a vector per right-hand side.
 *   - Errors: as trs_analyze.
 *   - Cost: the analyses of L and of U. */
TRS_CORE trs_status trs_analyze_factors(trs_plan **plan, trs_context *ctx, const trs_factors *F,
                                        trs_trans trans, const trs_options *options);

/* New values in the same pattern, after trs_matrix_set_values or after the caller changed borrowed
 * values.  Solves between that change and this call may use old or new values.  A must be the
 * matrix that the plan was made from, or one with the same pattern.  In host memory the pattern is
 * checked: TRS_ERROR_STRUCTURE names the first row or column that differs.  In device memory only
 * the number of entries is checked.
 *   After a failure, whatever its reason, the plan refuses every solve with the status of that
 * failure and a message that names the call, until an update succeeds.  A call leaves the plan as
 * it was if another call uses the plan, if the plan has clones, if its stream is being captured, or
 * if another call serves plans of its kind.  trs_update_factors, trs_update_bsr and updates of
 * batches (but for single systems) follow the same rule.  A plan of relaxation takes new values of
 * its matrix here, also of another object; a block that is not given is zero.  A CUDA graph
 * that contains solves of the plan must be captured again; a graph that was captured before a
 * failed update is not refused. With trs_options.launch_updates the call launches work on the
 * plan's stream and returns; it may be captured into a graph, alone or before solves.  That work,
 * and each replay of it, reads the arrays of A as they then are, so the caller writes new values
 * into the array that A has, and keeps A's arrays and the plan.  The solves behind it give the bits
 * that they give after an update that waits.  Values that such an update would refuse, or because
 * of which it would make the plan anew (docs/gpu.md), make x NaN where it depends on them.
 * trs_plan_wait and later calls then report TRS_ERROR_ZERO_PIVOT, TRS_ERROR_NOT_FINITE or
 * TRS_ERROR_UNSUPPORTED; the next trs_update outside a capture waits, and makes the plan fit its
 * values.  After TRS_ERROR_UNSUPPORTED graphs must then be captured again.
 *   - In: A with its new values, where the plan's matrix lies.
 *   - Out: plan.
 *   - Memory: none beyond the plan's, unless new values need another schedule.
 *   - Errors: STRUCTURE (another pattern), ZERO_PIVOT and NOT_FINITE (row), BUSY, ARGUMENT,
 *     UNSUPPORTED, MEMORY, DEVICE, CANCELLED.
 *   - Cost: a pass over the values, trs_plan_info.update_seconds. */
TRS_CORE trs_status trs_update(trs_plan *plan, const trs_matrix *A);

/* Updates a plan over factors after new values in L or U, with trs_options.launch_updates too.  F
 * must be the factors that the plan was made from.
 *   - In: F with its new values.
 *   - Out: plan.
 *   - Memory: as trs_update.
 *   - Errors: as trs_update.
 *   - Cost: two passes, over the values of L and of U. */
TRS_CORE trs_status trs_update_factors(trs_plan *plan, const trs_factors *F);

/* New values as blocks.  Of a plan of relaxation: of its matrix, in the same pattern; a block that
 * is not given is zero.  Of a plan over factors of the kinds BILU0, BIC0 or DILU that solves by the
 * method "blocks" (not transposed), new values of the matrix that was factored: the call factors
 * them where the plan solves, level by level, with the order of the factors and the default
 * pivot_threshold; uplo and shift do not apply.  The factors keep their values.  A plan that "auto"
 * made over blocks of 1 changes to this method.  The blocks lie within the block pattern that was
 * factored; a block that is not given is zero.  For a context of a GPU ptr, idx and val may lie in
 * device memory, and are read after the work in the plan's stream.  Of a plan over factors with val
 * there the GPU factors, and ptr and idx may then be NULL: the pattern of the call before.  The
 * call waits for the result.  TRS_ERROR_ZERO_PIVOT, TRS_ERROR_NOT_FINITE and TRS_ERROR_STRUCTURE
 * name the row. */
TRS_EXPERIMENTAL trs_status trs_update_bsr(trs_plan *plan, const trs_blocks *blocks);

/* Another plan for the same system, which shares with the first one all that solves only read (the
 * matrix or its copy, schedules, factors' panels) and has a workspace of its own: threads that
 * solve at once each take one.  x has the bits that the first plan gives it.  In a context of
 * several threads the solves of "threads", "subtrees" and "columns" take turns: analyse for
 * concurrent solves in a context of "serial".  On a GPU a clone begins with the plan's stream
 * (trs_plan_set_stream).
 *   The call waits for another one that uses the plan, which a solve of the plan meanwhile does not
 * (TRS_ERROR_BUSY), and on a GPU for launched solves.  A clone may be cloned, and all may be
 * destroyed in any order.  While clones exist, updates of the plan, and
 * always those of a clone, are TRS_ERROR_ARGUMENT and leave all of them as they were: destroy the
 * clones, update, and clone again.  After trs_factors_refactor clones may solve with old or new
 * values.
 *   TRS_ERROR_UNSUPPORTED: several GPUs, launch_updates, OpenCL, methods of papers, and "blocks",
 * batches and relaxation on a GPU.
 *   - In: plan.
 *   - Out: *clone; NULL after a failure.  The caller destroys it.
 *   - Memory: a workspace; the matrix and schedules are shared.
 *   - Errors: UNSUPPORTED, ARGUMENT, MEMORY, DEVICE.
 *   - Cost: the allocation of the workspace. */
TRS_CORE trs_status trs_plan_clone(trs_plan **clone, trs_plan *plan);

/* Destroys a plan.  NULL is ignored. */
TRS_CORE void trs_plan_destroy(trs_plan *plan);

typedef struct trs_plan_info {
  size_t struct_size;
  const char *backend, *method; /* "threads", "serial", ... */
  const char *reason;           /* why this method was chosen, one sentence */
  int threads;                  /* threads that a solve uses */
  int64_t n, nnz;               /* of the triangle; for factors, of both triangles together */
  int64_t levels;               /* level sets (L17, X20) */
  int64_t min_parallelism, max_parallelism; /* rows in the smallest and in the largest level */
  double parallelism;                       /* n / levels, X20 Table I */
  double dependency;                        /* nnz / n, X20 Table I */
  int64_t solve_bytes; /* bytes of the matrix, one right-hand side and one solution, each counted
                          once */
  int64_t plan_bytes;  /* memory of the plan beyond the matrix; for GPU methods, GPU memory */
  double analysis_seconds, update_seconds; /* of the last call of each */
  const char *device;                      /* the name of the GPU or OpenCL device; else NULL */
  double device_seconds; /* on an OpenCL device: of the last solve, the device's time without the
                            copies of b and x; else 0 */
  trs_store store; /* how it keeps values: trs_options.store, or TRS_STORE_DEFAULT where the method
                      keeps their type */
} trs_plan_info;

/* Facts of a plan.  If the method needed no level statistics, the first call computes them.  Of
 * relaxation the levels are colours, nnz counts all of each block, and solve_bytes are those of a
 * sweep; trs_relax_get_info has more.  Batches have trs_batch_get_info.
 *   - In: plan.
 *   - Out: *info, with struct_size set; its texts live as the plan does.
 *   - Errors: ARGUMENT, MEMORY.
 *   - Cost: none; levels are counted once, in a pass over the pattern. */
TRS_CORE trs_status trs_plan_get_info(trs_plan *plan, trs_plan_info *info);

/* rows[levels]: the number of rows in each level.  The caller frees it with trs_free. */
TRS_EXPERIMENTAL trs_status trs_plan_get_levels(trs_plan *plan, int64_t **rows, int64_t *levels);

/* The reference time in seconds of a solve with one right-hand side: max(bytes / bandwidth, levels
 * x latency of a dependency).  The call measures both rates on this machine (some 20 ms), at the
 * plan's thread count and working-set size; for GPU methods on the GPU.  It is not a lower limit: a
 * method that merges levels can be faster, and a busy machine measures lower rates. */
TRS_EXPERIMENTAL trs_status trs_plan_bound(trs_plan *plan, double *seconds);

/* A few lines of text on the decisions of the plan.  As snprintf, it returns the length needed; 0
 * without a plan. */
TRS_CORE size_t trs_plan_describe(trs_plan *plan, char *text, size_t size);

/* The backends, one line each: its name, names for trs_context_create that select it, with bars
 * between them, and its place, "cuda-group  cuda:0-3|nvshmem  several GPUs". */
TRS_EXPERIMENTAL const char *trs_backend_list(void);

/* The methods, one line each: its name, its backend and a summary, "serial  serial  one thread
 * ...".  The line of a method that this build lacks ends in "[not in this build]". */
TRS_EXPERIMENTAL const char *trs_method_list(void);

/* ---- Solve ---------------------------------------------------------------------------------- */

/* x = op(T)^-1 b for nrhs right-hand sides of the matrix's scalar type.  ldx and ldb are at least n
 * (column-major) or nrhs (row-major).  x may be b; then ldx == ldb.  Otherwise x and b must not
 * overlap: with ldx == ldb they may interleave, as columns of one row-major array do; with
 * different leading dimensions their address ranges must be disjoint.
 *   The call allocates nothing.  The same plan and input give the same bits, except with methods
 * whose documentation names atomic sums.  The bits do not depend on leading dimensions, on the
 * addresses of x and b, or on whether x is b; with several right-hand sides they may depend on
 * nrhs, on the layout and on the kind of memory.  Arrays in device memory are aligned to their
 * elements, of 16 bytes in double complex.
 *   GPU plans take x and b in host or device memory.  With both in device memory the call only
 * launches work on the plan's stream: it returns at once and can be captured into a CUDA graph.
 * Later work in that stream may read x and overwrite b.  The plan, x and b must last as long as the
 * graph; its replays and other solves of the plan use one workspace, so the caller has them follow
 * each other.  trs_plan_wait, a solve with host memory, and all solves after that report a failure.
 * With x or b in host memory the call returns when x is complete, and no graph can contain it; the
 * first such solve allocates GPU memory, which the plan keeps.
 *   On several GPUs, `push` (with one member per GPU) and `columns` launch and are captured in the
 * same way; the methods of X20 wait.  Solves of contexts that share GPUs run one after the other
 * there.  The caller orders a graph that contains solves on several GPUs; no other work may use
 * these GPUs while it runs.
 *   - In: b, n x nrhs, on the host or, for GPU plans, on the GPU.
 *   - Out: x, of the same shape and type; may be b.
 *   - Memory: none on a CPU; a GPU's workspace for vectors in host memory.
 *   - Errors: ARGUMENT, BUSY, STALLED (row), MEMORY, DEVICE, and the failure of an earlier update.
 *   - Cost: a pass over the matrix, or over the factors, for a few right-hand sides together. */
TRS_CORE trs_status trs_solve(trs_plan *plan, void *x, int64_t ldx, const void *b, int64_t ldb,
                              int64_t nrhs, trs_layout layout);

/* Solves a triangle once, for one right-hand side, straight from the arrays that trs_matrix_create
 * would take: one thread, one pass, in which each entry is checked before it is used, no plan, no
 * memory.  Entries may stand in any order; repeated ones are added up.  x may be b, else they must
 * not overlap.  After an error, whose row is the first that was met, x holds no solution.
 *   - In: b, n; the arrays of the triangle, all in host memory.
 *   - Out: x, n.
 *   - Memory: none.
 *   - Errors: STRUCTURE, ZERO_PIVOT and NOT_FINITE (row), ARGUMENT.
 *   - Cost: a pass over the arrays, on one thread. */
TRS_CORE trs_status trs_solve_once(void *x, const void *b, trs_uplo uplo, trs_diag diag,
                                   trs_format format, trs_scalar scalar, int64_t n, int indexing,
                                   const void *ptr, const void *idx, const void *val);

/* The part of a right-hand side and its solution that a member of the context's group solves: some
 * rows of all columns, or all rows of some columns. */
typedef struct trs_plan_share {
  size_t struct_size;
  int64_t nrows;                  /* all rows if columns are dealt to members */
  int64_t first_column, ncolumns; /* all columns if rows are dealt to members */
} trs_plan_share;

/* The share of a member.  rows: NULL, or an array of nrows for the row numbers, ascending.  If a
 * plan works on one GPU, or on none, member 0 has all rows and columns. */
TRS_EXPERIMENTAL trs_status trs_plan_get_share(const trs_plan *plan, trs_plan_share *share,
                                               int64_t *rows, int member, int64_t nrhs);

/* Solves as trs_solve does, with b and x on the members that solve them, so that no vector crosses
 * between GPUs. x[k] and b[k] belong to the k-th member that this process runs and lie in the
 * memory of its GPU. Their shape is that of trs_solve: n x nrhs, of which the member reads and
 * writes the rows of its share.  If columns are dealt, the shape is n x ncolumns, the member's
 * columns only.  Members without a share may pass NULL.  The call only launches, as trs_solve does
 * with device memory. */
TRS_EXPERIMENTAL trs_status trs_solve_distributed(trs_plan *plan, void *const *x, int64_t ldx,
                                                  const void *const *b, int64_t ldb, int64_t nrhs,
                                                  trs_layout layout);

/* GPU plans: the stream of later solves (a cudaStream_t; NULL: the default stream).  The call waits
 * for solves launched before.  Of relaxation on several GPUs it is a stream of the first: sweeps
 * begin after its earlier work, and its later work begins after them.  Plans on the CPU ignore it.
 * A stream given here or in trs_options must exist until the plan gets another stream or is
 * destroyed.  Since the call waits, it comes before a capture.
 *   - In: stream, of the plan's GPU.
 *   - Memory: the stream remains the caller's.
 *   - Errors: ARGUMENT, BUSY, CANCELLED, STALLED, DEVICE.
 *   - Cost: a wait for earlier solves. */
TRS_CORE trs_status trs_plan_set_stream(trs_plan *plan, void *stream);

/* A stream per GPU for later calls of trs_solve_distributed: streams[k] is a stream of the k-th
 * member that this process runs (a cudaStream_t; NULL: its GPU's default stream).  A member's part
 * of a solve then follows the work in its own stream only, and that stream's later work follows it.
 * GPUs neither wait for each other's streams nor end together: 6 to 10 us less on two H200.
 * Other calls take the first stream.  The array is copied; the streams must exist as those of
 * trs_plan_set_stream, which sets one stream again.  Solves in several streams cannot be captured
 * into a graph.  The call waits for solves launched before. */
TRS_EXPERIMENTAL trs_status trs_plan_set_streams(trs_plan *plan, void *const *streams);

/* Waits for the solves and sweeps that were launched.  TRS_ERROR_STALLED, with the row: a wait
 * inside a solve passed its limit.  CPU plans return at once.
 *   - In: plan.
 *   - Errors: STALLED, DEVICE, ARGUMENT, BUSY, and what launched updates have found.
 *   - Cost: the wait. */
TRS_CORE trs_status trs_plan_wait(trs_plan *plan);

/* ---- Batches -------------------------------------------------------------------------------- */

/* Many systems op(T) x = b with one pattern, each with values and right-hand sides of its own; or
 * op(A) x = b, from factors of each A.  A batch is a trs_plan: trs_plan_wait, _set_stream, _clone,
 * _describe and _destroy take it.  The other calls of plans name the one that serves a batch.  On a
 * GPU it works in the default stream until trs_plan_set_stream names another. */

typedef struct trs_batch_options {
  size_t struct_size;
  int take_triangle; /* 1: a matrix with entries on both sides is not an error; as in trs_options */
  int64_t nrhs;      /* right-hand sides per system in a solve; with 4 or more the workspace has
                        room for four at a time; any number is solved */
  int hermitian;     /* factors: 1: U = L^H, as Cholesky's: updates take the values of L alone.  IC0
                        and BIC0 are so without it */
} trs_batch_options;

/* A batch of `count` systems with the pattern of the triangle uplo of A, a matrix in host memory
 * whose values are not used.  The pattern is copied: A and its arrays are not needed afterwards.
 * With count 0 updates and solves succeed and touch no array, so that a part of a split work may be
 * empty.
 * The batch serves one call at a time, and its clones others; it works on the threads of a context
 * of "auto", "serial" or "threads", or on the GPU of one of "cuda", which has no clones; other
 * contexts are TRS_ERROR_UNSUPPORTED.  On threads
 * systems are solved in groups of as many as 64 bytes have numbers: 8 in double, 16 in float. */
TRS_EXPERIMENTAL trs_status trs_batch_create(trs_plan **plan, trs_context *ctx, const trs_matrix *A,
                                             trs_uplo uplo, trs_trans trans, trs_diag diag,
                                             int64_t count, const trs_batch_options *options);

/* A batch of `count` systems op(A) x = b with the patterns of F's L and U, their unit diagonals,
 * and F's permutations and scalings: solves make both sweeps, as plans of trs_analyze_factors do.
 * Every kind of factors in host memory is taken; those that were refactored on a GPU are.  F's
 * values are not used, and F is not needed afterwards.  The pivots, permutations and scalings are
 * those of F in all systems: factors of trs_factors_refactor are such.  Where each system has
 * scalings of its own, leave them out of F, and scale b and x. */
TRS_EXPERIMENTAL trs_status trs_batch_create_factors(trs_plan **plan, trs_context *ctx,
                                                     const trs_factors *F, trs_trans trans,
                                                     int64_t count,
                                                     const trs_batch_options *options);

/* The values of all systems, which are copied: those of system s begin at val + s * stride_val
 * elements, in the order of the arrays that A was created from.  stride_val 0: they follow each
 * other.  With a GPU val may be in its memory, and is read after the work in the batch's stream;
 * the call waits until the values are taken.
 *   TRS_ERROR_ZERO_PIVOT and TRS_ERROR_NOT_FINITE name the first system with an unusable diagonal
 * entry (trs_batch_info.first_fault), and its row.  All other systems have their values, and solves
 * of the batch give their x; they end with the same error, and x of the systems at fault is NaN. */
TRS_EXPERIMENTAL trs_status trs_batch_update(trs_plan *plan, const void *val, int64_t stride_val);

/* The values of all systems of a batch of factors: those of L and of U, each in the order of the
 * arrays that the matrix of trs_factors_info was created from; for those that trs_factor or
 * trs_factors_refactor made this is the order of trs_matrix_get_arrays.  Of factors that were
 * created from one matrix that holds both, its arrays are passed twice.  L_val and U_val may lie
 * where val of trs_batch_update may.  Where U = L^H (trs_batch_options.hermitian, IC0, BIC0) U_val
 * is NULL.  Errors also name the factor; the row is one of L U.  A system with unusable entries in
 * both counts once, and L is named. */
TRS_EXPERIMENTAL trs_status trs_batch_update_factors(trs_plan *plan, const void *L_val,
                                                     int64_t stride_L, const void *U_val,
                                                     int64_t stride_U);

/* x = op(T)^-1 b in each system, or op(A)^-1 b.  Right-hand sides of system s begin at b + s *
 * stride_b elements, with ldb, nrhs and layout as in trs_solve; x likewise.  stride 0: systems
 * follow each other.  x may be b, with the same ld and stride; else their address ranges must not
 * meet. On a GPU with x and b in its memory the call only launches, in the batch's stream, and it
 * may be captured into a graph.  Otherwise it returns when x is complete; the first such solve, and
 * one with more right-hand sides, allocate device memory. Other calls allocate nothing.  The bits
 * of a system's x depend on the batch and on the system's own values and b alone: not on the values
 * of other systems, on nrhs or threads, or on strides, layout and addresses.  On the CPU they do
 * not depend on count either; with a GPU count and the options are among what decides how the batch
 * solves. On a GPU an update may find that a system would lose digits by substitution, and have
 * another kernel solve it.  A CUDA graph that was captured before gives NaN for such a system:
 * capture the solve again. */
TRS_EXPERIMENTAL trs_status trs_batch_solve(trs_plan *plan, void *x, int64_t ldx, int64_t stride_x,
                                            const void *b, int64_t ldb, int64_t stride_b,
                                            int64_t nrhs, trs_layout layout);

typedef struct trs_batch_info {
  size_t struct_size;
  int64_t n, nnz;      /* rows and entries of a system; of factors those of L and U together */
  int64_t count;       /* systems */
  int systems_at_once; /* of a group; of factors on a GPU the larger one of L and U */
  int threads;         /* at most, of a solve; on a GPU of a block, the larger one of L and U */
  int64_t bytes;       /* memory that it holds */
  const char *method;  /* how it is solved: "groups" on a CPU; "lanes" or "levels..." on a GPU, of
                          factors "L by lanes, U by levels..."; the text lives as the plan does */
  int64_t faults;      /* systems whose values have an unusable diagonal entry; their x is NaN */
  int64_t first_fault; /* the first of them, which errors name, or -1 */
} trs_batch_info;

/* Facts of a batch. */
TRS_EXPERIMENTAL trs_status trs_batch_get_info(const trs_plan *plan, trs_batch_info *info);

/* ---- Relaxation ----------------------------------------------------------------------------- */

/* Multicolour point-implicit relaxation of A x = b (W21, Algorithm 1).  A is split into its
 * diagonal blocks D and the rest O.  Block rows are coloured so that no row reads another row of
 * its colour. A sweep goes over the colours:  x_c = x_c + omega (D_c^-1 (b_c - O_c x) - x_c).
 *   Relaxation smooths and preconditions, and solves systems dominated by their diagonal blocks.
 * Matrices are real.  A context of GPUs ("cuda", "cuda:0-3") relaxes there, others on the CPU, and
 * "opencl" does not relax; trireme_mpi.h has relaxation on MPI ranks.  Several GPUs, of one
 * process, have one domain of the block rows each, which METIS makes.
 *   Relaxation is a trs_plan: trs_update, trs_update_bsr, trs_plan_wait, _set_stream, _clone,
 * _get_info, _describe and _destroy take it.  The other calls of plans name the one that serves it.
 *
 * Relaxation with all but TRS_STORE_DOUBLE stores x in float; trs_store says what becomes of an x
 * outside its range.  x that overflows because the sweeps diverge is an error on the CPU, too.
 * Sweeps converge to the solution for A as stored, so the residual of A as given stops falling at
 * about the loss of storing (trs_relax_info.rounding). */

enum { TRS_RELAX_MOST_BLOCK = 32 };

typedef struct trs_relax_options {
  size_t struct_size;
  trs_store store;
  int balanced;          /* 1: colours of nearly equal size */
  const int32_t *colour; /* nrows: the caller's colouring, numbered from 0 in the order of a forward
                            sweep; checked and copied. NULL: the library finds one */
  int64_t nrhs;          /* right-hand sides swept together, below 2^31; 0: 1; on a GPU at most
                            16384.  A call with more takes groups */
  const char *variant;   /* kernels of a GPU; NULL or "auto": the fastest.  Of the library:
                            "slices", for blocks of 1 to 8, also "slices:warps=W,stages=S": W warps
                            (1 to 20) per multiprocessor, each with a ring of S stages (3 to 12),
                            and "rows", with a launch per colour.  W21's: papers/W21/README.md */
} trs_relax_options;

/* A plan of relaxation of a square real matrix: rows i * block_size .. (i + 1) * block_size - 1 are
 * block row i.  A block is present if it has any entry.  block_size is 1 to 32 and divides the
 * number of rows. Values are copied; A is not needed afterwards.  With a context of GPUs the arrays
 * of A, and those of the blocks below, may lie in device memory.  They pass through the host, at
 * creation after the work of the default stream, in updates after the work of the plan's stream.
 *   - In: A, n x n, real, on the host or on a GPU; options, or NULL.
 *   - Out: *plan; NULL after a failure.  The caller destroys it.
 *   - Memory: the blocks in the store's types, and a vector of b and of x per right-hand side; on a
 * GPU trs_relax_info.device_bytes.
 *   - Errors: STRUCTURE (a block row without a diagonal block), ZERO_PIVOT (a diagonal block that
 * is singular up to rounding), NOT_FINITE and ARGUMENT (an invalid colouring), with the block row;
 * UNSUPPORTED (a complex matrix, a value beyond float's range, or factors of a diagonal block
 * beyond the range of their type), MEMORY, DEVICE.
 *   - Cost: a colouring, and a pass over the values, trs_relax_info.create_seconds. */
TRS_EXPERIMENTAL trs_status trs_relax_create(trs_plan **plan, trs_context *ctx, const trs_matrix *A,
                                             int block_size, const trs_relax_options *options);

/* The same of square real blocks (TRS_FLOAT or TRS_DOUBLE); b and x in sweeps have their type. */
TRS_EXPERIMENTAL trs_status trs_relax_create_bsr(trs_plan **plan, trs_context *ctx,
                                                 const trs_blocks *blocks,
                                                 const trs_relax_options *options);

typedef enum trs_sweep_direction {
  TRS_SWEEP_FORWARD = 0,
  TRS_SWEEP_BACKWARD, /* the colours in reverse */
  TRS_SWEEP_SYMMETRIC /* forward, then backward: one sweep is two passes */
} trs_sweep_direction;

typedef struct trs_sweep_options {
  size_t struct_size;
  int64_t sweeps; /* W21's n_iter, below 2^31; 0: 1 */
  trs_sweep_direction direction;
  double omega;           /* 0: 1 */
  int keep_x;             /* 1: start from the given x; 0: start from zero */
  int64_t residual_every; /* k: norms before the first sweep and after each k; 0: none */
  double *residuals;      /* (1 + sweeps / k) x nrhs, the nrhs norms of a check side by side: |b - A
                             x| in the 2-norm, with A and x as stored; 0 if the residual is zero,
                             else from 1e-144 to 1e154.  A smaller norm is NaN, a larger one
                             infinite: scale A and b */
} trs_sweep_options;

/* Sweeps over nrhs columns of x, in the caller's order of rows.  x and b have the matrix's scalar
 * type and leading dimensions as in trs_solve; x may be b.  The call allocates nothing.  The same
 * input gives the same bits for any number of threads, and in every run on a GPU; x and norms of
 * several GPUs have the bits of one.
 *   On a GPU, x, b and residuals may lie in device or in host memory.  With all in device memory
 * the call only launches, also into a stream that is being captured (one GPU only).  The stream is
 * the default one until trs_plan_set_stream names another.  Otherwise the call waits for x, and the
 * first such call allocates workspace.  Several GPUs accept x and b in host memory and in the
 * memory of any of them.
 *   - In: b, and with keep_x x; options, or NULL.
 *   - Out: x, and options->residuals.
 *   - Memory: none, but for that workspace.
 *   - Errors: ARGUMENT, BUSY, CANCELLED, UNSUPPORTED (x beyond or below floats), STALLED, DEVICE,
 * and the status of a failed update.
 *   - Cost: per sweep and right-hand side trs_relax_info.sweep_bytes and a barrier per colour. */
TRS_EXPERIMENTAL trs_status trs_relax_sweep(trs_plan *plan, void *x, int64_t ldx, const void *b,
                                            int64_t ldb, int64_t nrhs, trs_layout layout,
                                            const trs_sweep_options *options);

typedef struct trs_relax_info {
  size_t struct_size;
  trs_scalar scalar;
  trs_store store;
  int block_size, threads;                          /* threads: those of a sweep */
  int64_t nrows;                                    /* block rows */
  int64_t nblocks;                                  /* blocks off the diagonal */
  int64_t longest_row;                              /* off-diagonal blocks in the fullest row */
  int64_t colours, smallest_colour, largest_colour; /* the number of colours; rows in the smallest
                                                       and in the largest */
  const int64_t *colour_ptr;                        /* colours + 1 */
  const int32_t *row;  /* nrows: colour c is block rows row[colour_ptr[c]] ..; both arrays are valid
                          while the plan lives */
  int64_t sweep_bytes; /* bytes of a pass over all colours with one right-hand side, each byte
                          counted once (W21) */
  double rounding;     /* |A - stored A| / |A| in the Frobenius norm */
  double create_seconds, update_seconds; /* of the last call of each */
  const char *variant;                   /* the GPU kernels in use; "threads" on the CPU */
  int64_t device_bytes;                  /* GPU memory */
  int domains;                           /* the number of GPUs, each with one domain; else 1 */
  const char *partition;                 /* "METIS", "contiguous" (row ranges) or "one domain" */
} trs_relax_info;

/* Facts of a plan of relaxation, to which the texts and arrays of the structure belong. */
TRS_EXPERIMENTAL trs_status trs_relax_get_info(const trs_plan *plan, trs_relax_info *info);

/* ---- Verification --------------------------------------------------------------------------- */

/* Why x is not finite in row range_row. */
typedef enum trs_range {
  TRS_RANGE_FINITE = 0, /* x is finite */
  TRS_RANGE_RHS,        /* b is not finite in that row; for factors, in any row */
  TRS_RANGE_MATRIX,     /* the matrix is not finite in that row; for factors, anywhere */
  TRS_RANGE_PIVOT,      /* the quotient with the diagonal entry exceeds the type's range */
  TRS_RANGE_OVERFLOW,   /* a product or a sum before the quotient exceeds it; for factors, any of
                           them */
  TRS_RANGE_UNEXPLAINED /* nothing in that row exceeds the range */
} trs_range;

typedef struct trs_backward_error {
  size_t struct_size;
  double componentwise;   /* max_i |b - op(T) x|_i / s_i over all columns */
  double normwise;        /* max over columns, inf-norms, of |b - op(T) x| / s */
  int64_t worst_row;      /* the row of the maximum in componentwise */
  int64_t underflow_rows; /* rows, over all columns, with a residual for which underflow contributes
                             more to s than T, x and b */
  trs_range range;
  int64_t range_row, range_column; /* the first row, in the order of the sweep (factors: of the
                                      rows), of the first column in which x is not finite; or -1 */
} trs_backward_error;

/* The backward error of x.  Residuals accumulate in higher precision.  uplo TRS_GENERAL takes all
 * of A.
 *   s = |op(T)| |x| + |b| + tiny (|op(T)| e + m), where tiny is the type's smallest normal number,
 * e is all ones and m_i is the number of entries in row i.  The last term accounts for gradual
 * underflow, which is no error however small x becomes; elsewhere it is negligible.  An x that is
 * not finite has infinite errors; range says why.
 *   - In: A, x and b in host memory, as they were passed to the solve.
 *   - Out: *error, with struct_size set.
 *   - Memory: sums in higher precision, some vectors.
 *   - Errors: ARGUMENT, UNSUPPORTED (device memory), MEMORY.
 *   - Cost: a product with the matrix, of each right-hand side. */
TRS_CORE trs_status trs_check(trs_backward_error *error, const trs_matrix *A, trs_uplo uplo,
                              trs_trans trans, trs_diag diag, const void *x, int64_t ldx,
                              const void *b, int64_t ldb, int64_t nrhs, trs_layout layout);

/* The backward error for the product of factors, with permutations and scalings undone: b - op(A) x
 * with A as trs_factors defines it.
 *   - In: F, x and b in host memory.
 *   - Out: *error, with struct_size set.
 *   - Memory: as trs_check.
 *   - Errors: as trs_check.
 *   - Cost: products with L and with U, of each right-hand side. */
TRS_CORE trs_status trs_check_factors(trs_backward_error *error, const trs_factors *F,
                                      trs_trans trans, const void *x, int64_t ldx, const void *b,
                                      int64_t ldb, int64_t nrhs, trs_layout layout);

/* Bytes that the library holds now, and the maximum so far. */
TRS_EXPERIMENTAL void trs_memory_usage(int64_t *current, int64_t *peak);

#ifdef __cplusplus
}
#endif
#endif
