/* trireme.h - sparse triangular solves, op(L) x = b and op(U) x = b, and A x = b by both sweeps.
 *
 * Three verbs: trs_analyze (pattern -> plan), trs_update (new values, same pattern), trs_solve.
 *
 * Beside them, relaxation of block systems by colours: trs_relax_create, trs_relax_sweep.
 *
 *   Conventions.  Every function that can fail returns a trs_status; trs_last_error() then says
 *   what went wrong, where, and what to do, for the calling thread.  The library never prints,
 *   exits or aborts.  Argument order: object, outputs, inputs; sizes behind what they measure;
 *   options last (NULL for the defaults).  Rows and columns count from 0.  Values
 *   are void * with a trs_scalar beside them.  Unless said otherwise pointers are to host memory.
 *   Objects may be destroyed in any order: what still needs one keeps it alive.
 *   Distinct objects may be used from distinct threads at once; one plan solves one system at a
 *   time, for it owns its workspace.
 *
 *   Structures that the caller fills in or passes to be filled in begin with struct_size, the size
 *   that the caller's compiler gave them; fields that are zero have their default:
 *
 *       trs_options options = {.struct_size = sizeof(trs_options), .nrhs = 8};
 *       trs_plan_info info = {.struct_size = sizeof info};
 *
 *   A later version may add fields at the end.  A program that was compiled before keeps working:
 *   the library reads and writes no more than struct_size bytes.  A program that was compiled with
 *   a newer header gets TRS_ERROR_ARGUMENT if it sets a field that the library does not know.
 *
 *   Papers cited by key: L17 (Liu, Li, Hogg, Duff, Vinter 2017), X20 (Xie et al. 2020),
 *   L23 (Liu, Ding, Sao, Williams, Li 2023), W21 (Walden, Zubair, Stone, Nielsen 2021);
 *   docs/references.md has them in full. */
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

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ------------------------------------------------------------------------------- */

typedef enum trs_status {
  TRS_SUCCESS = 0,
  TRS_ERROR_ARGUMENT,    /* an argument is outside its domain */
  TRS_ERROR_MEMORY,      /* out of memory */
  TRS_ERROR_FILE,        /* a file cannot be opened, read or written */
  TRS_ERROR_FORMAT,      /* a file's content is invalid, truncated or damaged */
  TRS_ERROR_STRUCTURE,   /* not square, entries on the wrong side, a diagonal entry missing */
  TRS_ERROR_ZERO_PIVOT,  /* a diagonal entry is zero */
  TRS_ERROR_NOT_FINITE,  /* a diagonal entry or its reciprocal is NaN or infinite */
  TRS_ERROR_UNSUPPORTED, /* not in this build or not on this machine */
  TRS_ERROR_STALLED, /* a wait inside a solve passed its limit, or whom it waited for has ended */
  TRS_ERROR_INTERNAL /* a bug in Trireme: please report it */
} trs_status;

typedef struct trs_error {
  trs_status status;
  int64_t row;         /* the row at fault, or -1 */
  const char *message; /* one line, no newline; valid until this thread's next failing call */
} trs_error;

/* The last failure in this thread; never NULL. */
TRS_API const trs_error *trs_last_error(void);
TRS_API const char *trs_status_name(trs_status status);

/* Bytes of the UTF-8 character that text begins with, or 0 for what a terminal may obey or not
 * understand: control characters (C0, DEL, C1), those that turn the direction of what follows
 * (U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), and stray bytes. */
TRS_API size_t trs_printable_length(const char *text);
/* Copies text with each byte that is not printable as \xNN, as messages have names of files; what
 * size bytes do not hold is left out. */
TRS_API void trs_printable(char *to, size_t size, const char *text);

/* "0.1.0", and one line a feature, with a word for whether this build has it: "zlib     yes  gzip
 * files, checksums", "METIS    no   nested dissection (install libmetis-dev and build again)". */
TRS_API const char *trs_version(void);
TRS_API const char *trs_features(void);

/* Called now and then with done in [0, 1] from long operations, in the thread that called them.  It
 * must neither use the context that is at work nor read files, and a child forked in it must not
 * return from it. */
typedef void (*trs_progress)(void *user, const char *phase, double done);

/* ---- Context: where work runs --------------------------------------------------------------- */

typedef struct trs_context trs_context;

/* where: "auto" or NULL (TRIREME_NUM_THREADS, or every core that affinity and cgroups leave to this
 * process, and the first GPU where a solve is worth its while), "serial", "threads", "threads:8",
 * "cuda" (the first GPU), "cuda:1"; several GPUs of one machine: "cuda:0-3", "cuda:0,2" in one
 * process, or "nvshmem" in each of several processes that mpirun started, a GPU each.  These then
 * call the same functions with the same arguments, and each gets the whole of x.
 * TRS_ERROR_UNSUPPORTED: no CUDA (or NVSHMEM) in this build, no driver, no such GPU, GPUs that
 * cannot reach each other's memory. */
TRS_API trs_status trs_context_create(trs_context **ctx, const char *where);
TRS_API void trs_context_destroy(trs_context *ctx);
/* Of these and of all that only tell: a NULL object is one of 0 threads, rows and members; where an
 * output is NULL it is left out. */
TRS_API int trs_context_threads(const trs_context *ctx);
/* How many processes work together ("nvshmem"; else 1), and which of them this is, from 0. */
TRS_API int trs_context_processes(const trs_context *ctx, int *rank);
/* How many GPUs work together, its members (1 where there is no group), of which this process runs
 * first .. first + local - 1.  Both may be NULL. */
TRS_API int trs_context_members(const trs_context *ctx, int *first, int *local);
/* Bytes that the library may hold on each GPU of the context, 0: no limit.  Analyses and updates to
 * come that would need more fail with TRS_ERROR_MEMORY, or, of "auto" and several GPUs, choose
 * another way. */
TRS_API trs_status trs_context_set_gpu_memory(trs_context *ctx, int64_t bytes);
/* Bytes of memory of the smallest GPU that this process runs a member on; 0: none. */
TRS_API int64_t trs_context_gpu_memory(const trs_context *ctx);
/* The GPU of a member that this process runs, as CUDA counts them; -1: none. */
TRS_API int trs_context_gpu(const trs_context *ctx, int member);

/* One GPU a line, "cuda:0    NVIDIA H200, 150 GB"; "" where there are none, or no CUDA in the
 * build.
 */
TRS_API const char *trs_device_list(void);

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
  TRS_BORROW = 1, /* the arrays are used where they lie and must outlive all that uses them */
  TRS_TAKE = 2    /* the arrays, from malloc, become the library's, also when the call fails */
} trs_ownership;

/* How the caller stores ptr and idx: one word of each pair, combined with |.  Words that are zero
 * may be left out: TRS_PTR32 is the kind of SciPy, PETSc, cuSPARSE and hypre, TRS_PTR64 | TRS_IDX64
 * that of torch, TRS_PTR32 | TRS_BASE1 that of many Fortran programs. */
enum {
  TRS_PTR64 = 0, /* ptr is an array of int64_t */
  TRS_PTR32 = 1, /* ptr is an array of int32_t */
  TRS_IDX32 = 0, /* idx is an array of int32_t */
  TRS_IDX64 = 2, /* idx is an array of int64_t; indices above 2^31 - 1 are refused */
  TRS_BASE0 = 0, /* ptr and idx count from 0 */
  TRS_BASE1 = 4  /* ptr and idx count from 1 */
};

/* A matrix from compressed arrays: ptr[nvec + 1], idx[nnz] and val[nnz], nnz = ptr[nvec] - ptr[0],
 * with nvec rows (CSR) or columns (CSC).  indexing: TRS_PTR64, TRS_PTR32, ... as above.
 *   Indices may be unsorted and repeated: repeated entries add up.  Zero entries stay entries.
 *   TRS_BORROW uses val where it lies, idx too if it is TRS_IDX32 | TRS_BASE0, and ptr if it is
 * TRS_PTR64 | TRS_BASE0; the others are converted in a copy once, and the caller's are not needed
 * afterwards.  If indices are not ascending or repeat, all three arrays are put in order in a copy;
 * every call that reads values then takes them anew from the borrowed val.
 *   TRS_ERROR_STRUCTURE names the row (CSR) or column (CSC) at fault, and says so if ptr looks like
 * an array of the other width. */
TRS_API trs_status trs_matrix_create(trs_matrix **A, trs_format format, trs_scalar scalar,
                                     int64_t nrows, int64_t ncols, int indexing, const void *ptr,
                                     const void *idx, const void *val, trs_ownership ownership);

/* A matrix (CSR) from nnz triplets in any order; repeated entries add up.  Arrays are copied.
 * indexing: of row and col both (TRS_IDX32 or TRS_IDX64, TRS_BASE0 or TRS_BASE1). */
TRS_API trs_status trs_matrix_create_coo(trs_matrix **A, trs_scalar scalar, int64_t nrows,
                                         int64_t ncols, int64_t nnz, int indexing, const void *row,
                                         const void *col, const void *val);

/* The same with arrays in device memory of the context's GPU, which are borrowed; what has to be
 * converted or put in order is, in device memory too.  The arrays are read on the default stream:
 * the work that fills them must be complete, or ordered before that stream.  Only GPU methods solve
 * with such a matrix; functions that read arrays on the host, trs_check too, refuse it
 * (TRS_ERROR_UNSUPPORTED).  trs_matrix_get_arrays gives device pointers, trs_matrix_set_values
 * takes one. */
TRS_API trs_status trs_matrix_create_device(trs_matrix **A, trs_context *ctx, trs_format format,
                                            trs_scalar scalar, int64_t nrows, int64_t ncols,
                                            int64_t nnz, int indexing, const void *ptr,
                                            const void *idx, const void *val);

/* Writes the values of vectors vector[0] < vector[1] < ... < vector[count - 1] of a matrix, rows
 * (CSR) or columns (CSC), to val: one vector behind the other, each in the order of its indices.
 * Any status but TRS_SUCCESS ends the call that asked with that status. */
typedef trs_status (*trs_values_callback)(void *user, int64_t count, const int32_t *vector,
                                          void *val);

/* A matrix of which only the pattern is held, its indices ascending and none twice: for systems
 * that no single GPU, and maybe not the host, has room for.  trs_analyze and trs_update over
 * several GPUs (method "push") and trs_check ask for the values part by part, in the thread that
 * called them: those of each member that the process runs, in turn, then forgotten.  Vectors must
 * be rows of op(T): CSR for TRS_NO_TRANS, CSC for its transposes.  Everything else refuses such a
 * matrix (TRS_ERROR_UNSUPPORTED).  Pattern arrays are owned as in trs_matrix_create;
 * trs_matrix_get_arrays gives NULL for val. */
TRS_API trs_status trs_matrix_create_deferred(trs_matrix **A, trs_format format, trs_scalar scalar,
                                              int64_t nrows, int64_t ncols, int indexing,
                                              const void *ptr, const void *idx,
                                              trs_ownership ownership, trs_values_callback give,
                                              void *user);

/* New values, in the order of the arrays given at creation; borrowed, copied or taken (and freed)
 * as they were then.  Plans made from the matrix see them after trs_update; until then a solve may
 * use the old ones or, where the method keeps no copy of them (serial), new ones that nothing
 * checked. */
TRS_API trs_status trs_matrix_set_values(trs_matrix *A, const void *val);

TRS_API void trs_matrix_destroy(trs_matrix *A);

typedef struct trs_matrix_info {
  size_t struct_size;
  trs_format format;
  trs_scalar scalar;
  int64_t nrows, ncols, nnz;
  int64_t nlower, nupper;   /* entries strictly below and above the diagonal */
  int64_t ndiagonal;        /* entries on it */
  int64_t missing_diagonal; /* the first row without a diagonal entry, or -1 */
  int64_t longest_row;      /* entries in the fullest row (CSR) or column (CSC) */
  int64_t bytes;            /* of the three arrays, also of deferred values */
  int64_t largest_part;     /* deferred values: the most bytes of them that were in host memory at
                               once for one call so far; else -1 */
} trs_matrix_info;

TRS_API trs_status trs_matrix_get_info(const trs_matrix *A, trs_matrix_info *info);

/* The matrix's own arrays, counted from 0, sorted and without repeats; valid while the matrix
 * lives. Each of ptr, idx and val may be NULL. */
TRS_API trs_status trs_matrix_get_arrays(const trs_matrix *A, const int64_t **ptr,
                                         const int32_t **idx, const void **val);

/* B = A in another format or scalar type.  Complex to real is refused. */
TRS_API trs_status trs_matrix_convert(trs_matrix **B, const trs_matrix *A, trs_format format,
                                      trs_scalar scalar);

/* The lower or upper triangle of A, diagonal included.  With add_diagonal, rows without a
 * diagonal entry, or with a zero one, get max(1, sum of the absolute values of the
 * triangle's row), as L17 and X20 make their test systems solvable with "a dense main diagonal". */
TRS_API trs_status trs_matrix_triangle(trs_matrix **T, const trs_matrix *A, trs_uplo uplo,
                                       int add_diagonal);

/* ---- Files ---------------------------------------------------------------------------------- */

typedef struct trs_read_options {
  size_t struct_size;
  trs_context *context; /* its threads parse; NULL: all cores */
  int allow_nonfinite;  /* accept NaN and Inf as values; else TRS_ERROR_FORMAT */
  uint64_t seed;        /* of the values made for a pattern-only file */
  trs_scalar scalar;    /* the element type of what is read */
  trs_progress progress;
  void *progress_user;
  int64_t max_bytes; /* of memory for the call: what a file claims beyond is TRS_ERROR_MEMORY; 0:
                        half of the machine's, or of its control group's limit; -1: no limit */
} trs_read_options;

/* Reads a matrix from Matrix Market (.mtx, .mtx.gz, .mtx.zst), a Binsparse HDF5 container
 * (.h5, .bsp.h5), or makes one from a name "gen:..." (trs_generator_list).  A symmetric,
 * skew-symmetric or hermitian file becomes a full matrix.  A pattern-only file gets values from
 * the seed: off-diagonal ones in [-1, 1], each diagonal entry present 1 + the sum of the
 * absolute values in its row, so that either triangle solves stably. */
TRS_API trs_status trs_matrix_read(trs_matrix **A, const char *path,
                                   const trs_read_options *options);

/* A square matrix in a Matrix Market coordinate file whose values stay there: only the pattern is
 * read, and values are deferred as trs_matrix_create_deferred says.  Each part of them is a pass
 * over the file, whose date and pattern must not change meanwhile (TRS_ERROR_FILE).  uplo TRS_LOWER
 * or TRS_UPPER: that triangle, with a diagonal added as trs_matrix_triangle does if asked (in CSR
 * only); TRS_GENERAL: all.  Values are those that trs_matrix_read would give, to the bit.
 * Compressed files are decompressed anew for each, some lines at a time.  TRS_ERROR_UNSUPPORTED:
 * other formats, and pipes. */
TRS_API trs_status trs_matrix_open(trs_matrix **T, const char *path, trs_format format,
                                   trs_uplo uplo, int add_diagonal,
                                   const trs_read_options *options);

/* Writes Matrix Market or HDF5 by the name's ending.  The file appears under its name only when
 * complete: an existing one is replaced then, and left alone if anything fails.  Links are
 * followed; devices, pipes and what a process has open (/dev/stdout) are written to. */
TRS_API trs_status trs_matrix_write(const trs_matrix *A, const char *path);

/* A dense nrows x ncols array, column-major, leading dimension nrows, allocated by the library:
 * release with trs_free.  Matrix Market array or coordinate files. */
TRS_API trs_status trs_vectors_read(void **values, int64_t *nrows, int64_t *ncols,
                                    trs_scalar scalar, const char *path,
                                    const trs_read_options *options);
TRS_API trs_status trs_vectors_write(const void *values, int64_t nrows, int64_t ncols, int64_t ld,
                                     trs_layout layout, trs_scalar scalar, const char *path);

/* Writes length bytes, such as a picture, as the others write matrices: whole or not at all. */
TRS_API trs_status trs_text_write(const char *text, int64_t length, const char *path);

/* Whether a matrix can be written to path, by its ending and as far as can be told without doing
 * so: for asking before hours of work. */
TRS_API trs_status trs_write_path_check(const char *path);
/* Likewise for a text, whose name may end in anything. */
TRS_API trs_status trs_text_path_check(const char *path);

TRS_API void trs_free(void *pointer);

/* One generator a line: "gen:poisson2d5:N    5-point Laplacian on an N x N grid". */
TRS_API const char *trs_generator_list(void);

/* Fills x with reproducible values: uniform in [-1, 1), the same for every element type. */
TRS_API void trs_random_fill(void *x, int64_t count, trs_scalar scalar, uint64_t seed);

/* ---- Factors -------------------------------------------------------------------------------- */

/* L and U with A(row_perm, col_perm) scaled = L U:
 *   L U = P_r D_r A D_c P_c^T,  (P_r D_r A D_c P_c^T)[i][j] = row_scale[row_perm[i]]
 *         * A[row_perm[i]][col_perm[j]] * col_scale[col_perm[j]].
 * L is lower and U upper triangular.  A Cholesky-like factorisation has U = L^H. */
typedef struct trs_factors trs_factors;

typedef enum trs_factor_kind {
  TRS_FACTOR_LU = 0,  /* complete, SuperLU, threshold pivoting that prefers the diagonal */
  TRS_FACTOR_ILU0,    /* incomplete, pattern of A */
  TRS_FACTOR_IC0,     /* incomplete Cholesky, pattern of the lower triangle of A */
  TRS_FACTOR_TRIANGLE /* L = lower triangle of A, U = its upper triangle, no factorisation */
} trs_factor_kind;

typedef enum trs_order {
  TRS_ORDER_DEFAULT = 0, /* LU: TRS_ORDER_ND; the other kinds: TRS_ORDER_NATURAL */
  TRS_ORDER_ND,          /* nested dissection by METIS, keeps the separator tree */
  TRS_ORDER_AMD,         /* approximate minimum degree */
  TRS_ORDER_NATURAL      /* the order of A */
} trs_order;

typedef struct trs_factor_options {
  size_t struct_size;
  trs_factor_kind kind;
  trs_order order;
  int tree_leaves;        /* leaves of the separator tree, a power of two; 0: 8 */
  double pivot_threshold; /* LU: the diagonal stays pivot above this share of its column; 0: 0.1,
                             DBL_MIN: wherever it is not zero */
  int no_equilibration;   /* LU: 1 leaves the rows and columns unscaled */
  int add_diagonal;       /* rows of A without a diagonal entry, or with a zero one, get max(1, sum
                             of the row's absolute values in all of A), for every kind, before
                             anything else: L and U of a triangle have the same one */
  trs_progress progress;
  void *progress_user;
} trs_factor_options;

TRS_API trs_status trs_factor(trs_factors **F, const trs_matrix *A,
                              const trs_factor_options *options);

/* Factors the user already has.  L and U are kept alive (not copied); permutations are arrays of
 * n, row i of L U is row row_perm[i] of A, NULL for the identity; scalings are arrays of n doubles,
 * NULL for ones; both are copied.
 *   Where L and U are one matrix, it holds both factors, as cuSPARSE's and PETSc's ILU make them:
 * its strict lower triangle is L's, the rest is U's, and L has a unit diagonal whatever diag_L
 * says. With diag_U TRS_UNIT and diag_L TRS_NONUNIT the stored diagonal is L's (Crout).  New values
 * of that matrix reach plans by trs_update_factors. L and U may lie in device memory of one GPU,
 * both: such factors are analysed, solved with and updated there, and functions that read them on
 * the host refuse them. */
TRS_API trs_status trs_factors_create(trs_factors **F, const trs_matrix *L, trs_diag diag_L,
                                      const trs_matrix *U, trs_diag diag_U, const int32_t *row_perm,
                                      const int32_t *col_perm, const double *row_scale,
                                      const double *col_scale);
TRS_API void trs_factors_destroy(trs_factors *F);

typedef struct trs_factors_info {
  size_t struct_size;
  trs_factor_kind kind;
  trs_order order;
  trs_scalar scalar;
  int64_t n, nnz_L, nnz_U;
  trs_diag diag_L, diag_U;
  int64_t nsupernodes;                 /* 0 when not known */
  int64_t tree_nodes;                  /* nodes of the separator tree, 0 without one */
  const trs_matrix *L, *U;             /* live as long as the factors */
  const int32_t *row_perm, *col_perm;  /* n each, or NULL */
  const double *row_scale, *col_scale; /* n each, or NULL */
  const int64_t *supernode_ptr;        /* nsupernodes + 1 first columns, or NULL */
  const int64_t *tree_ptr; /* tree_nodes + 1: node t holds columns tree_ptr[t] .. tree_ptr[t+1] */
  const int32_t *tree_parent; /* tree_nodes: the parent's number, -1 at the root */
} trs_factors_info;

TRS_API trs_status trs_factors_get_info(const trs_factors *F, trs_factors_info *info);

TRS_API trs_status trs_factors_read(trs_factors **F, const char *path,
                                    const trs_read_options *options);
TRS_API trs_status trs_factors_write(const trs_factors *F, const char *path);

/* What a path holds, without reading it whole. */
typedef enum trs_content { TRS_CONTENT_MATRIX, TRS_CONTENT_FACTORS } trs_content;
TRS_API trs_status trs_file_content(trs_content *content, const char *path);

/* ---- Analysis ------------------------------------------------------------------------------- */

typedef struct trs_plan trs_plan;

typedef enum trs_store {
  TRS_STORE_SAME = 0, /* matrix values are kept as they came */
  TRS_STORE_FLOAT     /* off-diagonal values of double systems are kept as floats, the diagonal and
                         all arithmetic in double: fewer bytes, an error of some 6e-8 |T| |x|; values
                         outside a float's range become zero or infinite */
} trs_store;

typedef struct trs_options {
  size_t struct_size;
  const char *method; /* NULL or "auto", or a name from trs_method_list, for some with parameters
                         behind it: "syncfree-csc:warps=8" */
  int take_triangle;  /* 1: use the named triangle of a general matrix; 0: entries on the wrong
                         side are an error */
  int64_t nrhs;       /* right-hand sides expected in a solve; 0: 1.  A hint for methods
                         that prepare for many: any number works after any hint */
  int64_t solves;     /* solves expected from the plan; 0: many */
  trs_progress progress;
  void *progress_user;
  trs_store store; /* GPU engine only; others keep values as they came */
  int tune;        /* 1: GPU engine: times its candidates on this system once and keeps the best */
  void *stream;    /* a cudaStream_t for GPU methods; NULL: the default stream */
  int distributed; /* 1: solves will be trs_solve_distributed's: auto weighs several GPUs with b
                      and x where they are solved; 0: with both on the first */
} trs_options;

/* A plan for op(T) x = b, T the lower or upper triangle (uplo) of the square matrix A.  With
 * TRS_UNIT the diagonal is one and stored diagonal entries are ignored.
 * TRS_ERROR_STRUCTURE, TRS_ERROR_ZERO_PIVOT, TRS_ERROR_NOT_FINITE name the row. */
TRS_API trs_status trs_analyze(trs_context *ctx, trs_plan **plan, const trs_matrix *A,
                               trs_uplo uplo, trs_trans trans, trs_diag diag,
                               const trs_options *options);

/* A plan for op(A) x = b by both sweeps over the factors, permutations and scalings included. */
TRS_API trs_status trs_analyze_factors(trs_context *ctx, trs_plan **plan, const trs_factors *F,
                                       trs_trans trans, const trs_options *options);

/* New values, same pattern: after trs_matrix_set_values, or after the caller changed the values it
 * lent; solves between the change and this call may use either.  A must be the matrix the plan was
 * made from, or one with the same pattern: in host memory that is checked (TRS_ERROR_STRUCTURE
 * names the first row, or column, that differs), in device memory only the number of entries. After
 * a failure the plan solves nothing meaningful until an update succeeds. */
TRS_API trs_status trs_update(trs_plan *plan, const trs_matrix *A);

/* The same after new values in L or U; F must be the factors the plan was made from. */
TRS_API trs_status trs_update_factors(trs_plan *plan, const trs_factors *F);

TRS_API void trs_plan_destroy(trs_plan *plan);

typedef struct trs_plan_info {
  size_t struct_size;
  const char *backend, *method; /* "threads", "serial", ... */
  const char *reason;           /* why this method, one sentence */
  int threads;                  /* that a solve uses */
  int64_t n, nnz;               /* of the triangle; both triangles together for factors */
  int64_t levels;               /* level sets (L17, X20) */
  int64_t min_parallelism, max_parallelism; /* rows in the smallest and largest level */
  double parallelism;                       /* n / levels, X20 Table I */
  double dependency;                        /* nnz / n, X20 Table I */
  int64_t solve_bytes; /* matrix, one right-hand side and solution, each touched once */
  int64_t plan_bytes;  /* memory the plan holds beyond the matrix, on the GPU for GPU methods */
  double analysis_seconds, update_seconds; /* of the last call of each */
  const char *device;                      /* of GPU methods: the GPU's name; else NULL */
} trs_plan_info;

/* Computes the level statistics on the first call where the method did not need them. */
TRS_API trs_status trs_plan_get_info(trs_plan *plan, trs_plan_info *info);

/* rows[levels]: rows in each level; freed by the caller with trs_free. */
TRS_API trs_status trs_plan_get_levels(trs_plan *plan, int64_t **rows, int64_t *levels);

/* The reference time of a solve with one right-hand side, in seconds: max(bytes / bandwidth, levels
 * x latency of a dependency), both rates measured on this machine (some 20 ms), at the
 * plan's thread count and working-set size; on the GPU for GPU methods.  It is no limit: a method
 * that merges levels can be faster, and a busy machine measures lower rates. */
TRS_API trs_status trs_plan_bound(trs_plan *plan, double *seconds);

/* A few lines of text on what the plan decided, snprintf-like: returns the length needed, 0 without
 * a plan. */
TRS_API size_t trs_plan_describe(trs_plan *plan, char *text, size_t size);

/* One method per line: its name, its backend and a summary, "serial  serial  one thread ...".  The
 * line of a method that this build lacks ends in "[not in this build]". */
TRS_API const char *trs_method_list(void);

/* ---- Solve ---------------------------------------------------------------------------------- */

/* x = op(T)^-1 b for nrhs right-hand sides of the matrix's scalar type, ldx, ldb >= n (column
 * major) or >= nrhs (row major).  x may be b (then ldx == ldb); else they must not overlap: arrays
 * with ldx == ldb may interleave, such as columns of one row-major array; with different ones the
 * ranges of their addresses must be apart.
 * Allocates nothing.  The same plan and input give the same bits, but for the methods that say
 * otherwise (atomic sums).
 *   GPU plans take x and b in host or device memory.  With both in device memory the call only
 * launches on the plan's stream: it returns at once, can be captured into a CUDA graph, and a
 * failure is told by trs_plan_wait or a solve with host memory, and by all solves after that.  With
 * host memory it returns when x is there (space on the GPU is taken at the first such solve and
 * kept).  Of several GPUs' methods `push` (with a GPU for each member) and `columns` launch and are
 * captured in the same way; X20's wait.  Solves of contexts that share GPUs follow each other
 * there; a graph with solves of several GPUs is the caller's to order, and has these to itself. */
TRS_API trs_status trs_solve(trs_plan *plan, void *x, int64_t ldx, const void *b, int64_t ldb,
                             int64_t nrhs, trs_layout layout);

/* What of a right-hand side and its solution is solved at a member of the context's group: some
 * rows of all columns, or all rows of some columns. */
typedef struct trs_plan_share {
  size_t struct_size;
  int64_t nrows;                  /* all where columns are dealt */
  int64_t first_column, ncolumns; /* all where rows are dealt */
} trs_plan_share;

/* rows: NULL, or room for nrows: which, ascending.  Where a plan works on one GPU (or none) member
 * 0 has all. */
TRS_API trs_status trs_plan_get_share(const trs_plan *plan, int member, int64_t nrhs,
                                      trs_plan_share *share, int64_t *rows);

/* As trs_solve, with b and x lying where they are solved, so that none of them crosses from GPU to
 * GPU.  x[k] and b[k] belong to the k-th member that this process runs, in its GPU's memory, and
 * have the shape of trs_solve's arrays: n x nrhs, of which the member reads and writes the rows of
 * its share; where columns are dealt n x ncolumns, its columns only.  Members without a share may
 * have NULL.  Only launches, as trs_solve with device memory. */
TRS_API trs_status trs_solve_distributed(trs_plan *plan, void *const *x, int64_t ldx,
                                         const void *const *b, int64_t ldb, int64_t nrhs,
                                         trs_layout layout);

/* GPU plans: the stream of the solves to come (a cudaStream_t; NULL: the default stream).  Waits
 * for those launched before.  A stream given here or in trs_options must exist until the plan has
 * another or is destroyed. */
TRS_API trs_status trs_plan_set_stream(trs_plan *plan, void *stream);

/* Waits for what trs_solve launched; TRS_ERROR_STALLED with the row where a wait inside it passed
 * its limit.  Plans of the CPU have nothing to wait for. */
TRS_API trs_status trs_plan_wait(trs_plan *plan);

/* ---- Relaxation ----------------------------------------------------------------------------- */

/* Multicolour point-implicit relaxation of A x = b (W21, Algorithm 1): A is split in its diagonal
 * blocks D and the rest O, block rows are coloured so that none reads another of its colour, and a
 * sweep goes over the colours:  x_c = x_c + omega (D_c^-1 (b_c - O_c x) - x_c).
 * For smoothing and preconditioning, and for solving where A is dominated by its diagonal blocks;
 * matrices are real.  A context of GPUs ("cuda", "cuda:0-3") relaxes there, all others on the CPU;
 * trireme_mpi.h has it on MPI ranks.  Several GPUs, of one process, have a domain of the block rows
 * each, dealt by METIS.  A trs_relaxation does one sweep call at a time. */
typedef struct trs_relaxation trs_relaxation;

typedef enum trs_relax_store {
  TRS_RELAX_MIXED = 0, /* O and x in float, blocks multiplied in float; D, b and sums over blocks
                          in double, as W21 */
  TRS_RELAX_DOUBLE,    /* all in double */
  TRS_RELAX_FLOAT,     /* all in float */
  TRS_RELAX_HALF,      /* as mixed, but O in IEEE half precision, with a factor for each block */
  TRS_RELAX_BFLOAT     /* as mixed, but O in bfloat16, with a factor for each block */
} trs_relax_store;
/* All but TRS_RELAX_DOUBLE keep x in float: an x too large for that becomes infinite, and the call
 * succeeds.  Sweeps go towards the solution for A as it is stored, so that the residual of A as
 * given stops falling at about what storing lost (trs_relax_info.rounding). */

enum { TRS_RELAX_MOST_BLOCK = 32 };

typedef struct trs_relax_options {
  size_t struct_size;
  trs_relax_store store;
  int balanced;          /* 1: even out the colours */
  const int32_t *colour; /* nrows: the caller's colouring, numbered from 0 in the order of a forward
                            sweep; checked and copied.  NULL: the library finds one */
  int64_t nrhs;          /* right-hand sides swept side by side; 0: 1; on a GPU 16384 at most.  More
                            are done in groups */
  const char *variant;   /* of a GPU's kernels; NULL or "auto": the fastest.  W21's: "warp-row",
                            "warp-six-rows", each also with "-l2" or "-l2-async" behind (elements of
                            16 bits are not copied asynchronously); the library's own: "slices", for
                            blocks of 1 to 8, also "slices:warps=W,stages=S", W warps of 1 to 20 on
                            a multiprocessor, each with a ring of 3 to 12 stages */
} trs_relax_options;

/* From a square real matrix whose rows i * block_size .. (i + 1) * block_size - 1 are block row i;
 * any entry inside a block makes the block.  block_size is 1 to 32 and divides the rows.  Values
 * are copied, A is not needed afterwards. TRS_ERROR_STRUCTURE (no diagonal block),
 * TRS_ERROR_ZERO_PIVOT (one that is singular up to rounding), TRS_ERROR_NOT_FINITE, and
 * TRS_ERROR_ARGUMENT for a colouring that is none, name the block row; TRS_ERROR_UNSUPPORTED:
 * complex, or a value that no float, or factors of a diagonal block that no number can hold. */
TRS_API trs_status trs_relax_create(trs_context *ctx, trs_relaxation **R, const trs_matrix *A,
                                    int block_size, const trs_relax_options *options);

/* From blocks: ptr[nrows + 1], idx[nblocks] block columns in any order, repeated ones add up, and
 * val[nblocks * block_size^2], each block row- or column-major.  indexing: of ptr and idx, as
 * trs_matrix_create takes it.  scalar (TRS_FLOAT or
 * TRS_DOUBLE) is that of val, and of b and x in sweeps.  Arrays are copied. */
TRS_API trs_status trs_relax_create_bsr(trs_context *ctx, trs_relaxation **R, trs_scalar scalar,
                                        int64_t nrows, int block_size, trs_layout layout,
                                        int indexing, const void *ptr, const void *idx,
                                        const void *val, const trs_relax_options *options);

/* The arrays above, and those below, may lie in device memory where the context is of a GPU; what
 * does passes through the host, behind the work of the default stream at creation, of that of
 * trs_relax_set_stream in updates. */

/* New values in the same pattern; a block that is not given is zero.  After a failure R sweeps
 * nothing meaningful until an update succeeds. */
TRS_API trs_status trs_relax_update(trs_relaxation *R, const trs_matrix *A);
TRS_API trs_status trs_relax_update_bsr(trs_relaxation *R, trs_layout layout, int indexing,
                                        const void *ptr, const void *idx, const void *val);

typedef enum trs_sweep_direction {
  TRS_SWEEP_FORWARD = 0,
  TRS_SWEEP_BACKWARD, /* the colours in reverse */
  TRS_SWEEP_SYMMETRIC /* forward, then backward: one sweep is two passes */
} trs_sweep_direction;

typedef struct trs_sweep_options {
  size_t struct_size;
  int64_t sweeps; /* W21's n_iter; 0: 1 */
  trs_sweep_direction direction;
  double omega;           /* 0: 1 */
  int keep_x;             /* 1: start from the x given; 0: from zero */
  int64_t residual_every; /* k: norms before the first sweep and after every k; 0: none */
  double *residuals;      /* (1 + sweeps / k) x nrhs, a check's nrhs together: |b - A x| in the
                             2-norm, A and x as they are stored; from 1e-144 to 1e154, and 0 where
                             it is zero.  Less is NaN, more is infinite: scale A and b */
} trs_sweep_options;

/* Sweeps over nrhs columns of x, in the caller's order of rows; x and b are of the matrix's scalar
 * type with leading dimensions as in trs_solve, and x may be b.  Allocates nothing.  The same input
 * gives the same bits on any number of threads, and every time on a GPU; on several GPUs x and
 * norms have the bits of one.
 *
 * On a GPU x, b and residuals may lie in device or in host memory.  With all in device memory the
 * call only launches, also into a stream that is being captured (of one GPU); else it waits for x,
 * and the first such call allocates room.  Several GPUs reach x and b wherever they lie. */
TRS_API trs_status trs_relax_sweep(trs_relaxation *R, void *x, int64_t ldx, const void *b,
                                   int64_t ldb, int64_t nrhs, trs_layout layout,
                                   const trs_sweep_options *options);

/* On a GPU: other kernels (trs_relax_options.variant) for the same values.  After a failure R
 * sweeps again once a variant was set. */
TRS_API trs_status trs_relax_set_variant(trs_relaxation *R, const char *variant);

/* On a GPU: the stream (a cudaStream_t) of later sweeps and updates, at first the default stream;
 * the caller orders it behind work in the former one.  On several, a stream of the first one,
 * behind which sweeps begin and which goes on behind them. */
TRS_API trs_status trs_relax_set_stream(trs_relaxation *R, void *stream);

/* Waits for what sweeps launched.  On the CPU there is nothing to wait for. */
TRS_API trs_status trs_relax_wait(trs_relaxation *R);

typedef struct trs_relax_info {
  size_t struct_size;
  trs_scalar scalar;
  trs_relax_store store;
  int block_size, threads;                          /* threads that a sweep uses */
  int64_t nrows;                                    /* block rows */
  int64_t nblocks;                                  /* off the diagonal */
  int64_t longest_row;                              /* off-diagonal blocks in the fullest row */
  int64_t colours, smallest_colour, largest_colour; /* colours, and rows in one */
  const int64_t *colour_ptr;                        /* colours + 1, and */
  const int32_t *row;  /* nrows: colour c is block rows row[colour_ptr[c]] .. ; live with R */
  int64_t sweep_bytes; /* of a pass over all colours, one right-hand side, each byte once (W21) */
  double rounding;     /* |A - stored A| / |A| in the Frobenius norm */
  double create_seconds, update_seconds; /* of the last call of each */
  const char *variant;                   /* of a GPU's kernels, that runs; "threads" on the CPU */
  int64_t device_bytes;                  /* of a GPU's memory */
  int domains;                           /* GPUs that have one each; else 1 */
  const char *partition;                 /* "METIS", "contiguous" (runs of rows) or "one domain" */
} trs_relax_info;

TRS_API trs_status trs_relax_get_info(const trs_relaxation *R, trs_relax_info *info);

TRS_API void trs_relax_destroy(trs_relaxation *R);

/* ---- Verification --------------------------------------------------------------------------- */

/* Why x is not finite in range_row. */
typedef enum trs_range {
  TRS_RANGE_FINITE = 0, /* x is finite */
  TRS_RANGE_RHS,        /* b is not finite: in that row; of factors in any row */
  TRS_RANGE_MATRIX,     /* the matrix is not finite there; of factors anywhere */
  TRS_RANGE_PIVOT,      /* the quotient with the diagonal entry exceeds the type's range */
  TRS_RANGE_OVERFLOW,   /* a product or a sum before it does; of factors any of them */
  TRS_RANGE_UNEXPLAINED /* nothing in that row exceeds the range */
} trs_range;

typedef struct trs_backward_error {
  size_t struct_size;
  double componentwise;   /* max_i |b - op(T) x|_i / s_i over all columns */
  double normwise;        /* max over columns, inf-norms, of |b - op(T) x| / s */
  int64_t worst_row;      /* where componentwise is reached */
  int64_t underflow_rows; /* rows, over all columns, with a residual and with more of s from
                             underflow than from T, x and b */
  trs_range range;
  int64_t range_row, range_column; /* the first row of the first column in which x is not finite,
                                      in the order of the sweep (factors: of the rows); or -1 */
} trs_backward_error;

/* Residuals accumulate in higher precision.  uplo TRS_GENERAL takes all of A.
 *   s = |op(T)| |x| + |b| + tiny (|op(T)| e + m), where tiny is the type's smallest normal number,
 * e is all ones and m_i the entries of row i: what gradual underflow may lose is no error, however
 * small x becomes.  Anywhere else the last term is too small to count.  An x that is not finite
 * has infinite errors; range says why. */
TRS_API trs_status trs_check(const trs_matrix *A, trs_uplo uplo, trs_trans trans, trs_diag diag,
                             const void *x, int64_t ldx, const void *b, int64_t ldb, int64_t nrhs,
                             trs_layout layout, trs_backward_error *error);

/* The same for the product of the factors, permuted and scaled back: b - op(A) x with A as
 * trs_factors defines it. */
TRS_API trs_status trs_check_factors(const trs_factors *F, trs_trans trans, const void *x,
                                     int64_t ldx, const void *b, int64_t ldb, int64_t nrhs,
                                     trs_layout layout, trs_backward_error *error);

/* Bytes the library holds now and the most it ever held. */
TRS_API void trs_memory_usage(int64_t *current, int64_t *peak);

#ifdef __cplusplus
}
#endif
#endif
