/* args.h - arguments of the kernels of relaxation.  Shared by C and CUDA C++. */
#ifndef TRS_RELAX_CUDA_ARGS_H
#define TRS_RELAX_CUDA_ARGS_H

#include "device/device.h"
#include "relax/exact.h"
#include "relax/range.h"
#include "device/fault.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The arrays of a trs_relaxation in device memory; ptr, idx, off and power only for kernels with a
 * launch per colour.
 * TRS_RELAX_READ_PAST readable bytes follow each array.  Row p of x begins at x + p * pitch. */
enum { TRS_RELAX_READ_PAST = 64 };

typedef struct trs_relax_args {
  int64_t nrows;
  int block, store, nrhs, pitch;
  const int64_t *ptr;
  const int32_t *idx, *row;
  const void *off, *diagonal;
  const int8_t *power; /* exponent of two of a block's factor; 16-bit formats only */
  const uint8_t *pivot;
  void *x, *r;
  int64_t x_stride, r_stride; /* elements from one right-hand side to the next */
  double omega;
  uint64_t *words; /* TRS_EXACT_WORDS per right-hand side: squares of rows of r - A x */
  uint64_t *most; /* bits of the largest |b| and |x| of each right-hand side, 0 before a load; NULL:
                     not asked for */
} trs_relax_args;

/* Most right-hand sides per launch: their norms fit the pinned stage. */
enum { TRS_RELAX_MOST_ABREAST = TRS_STAGE_BYTES / sizeof(double) };

/* The caller's b and x, in device memory.  The relaxation's row i is row b_perm[i] of b and row
 * x_perm[i] of x; NULL: identity. */
typedef struct trs_relax_vectors {
  void *x;
  const void *b;
  int64_t x_row, x_col, b_row, b_col;
  const int32_t *b_perm, *x_perm;
  int wide, keep; /* double; start from x */
} trs_relax_vectors;

trs_status trs_relax_load(const trs_relax_args *a, const trs_relax_vectors *v, trs_stream stream);
trs_status trs_relax_unload(const trs_relax_args *a, const trs_relax_vectors *v, trs_stream stream);

/* The first loss since the host has cleared this. */
typedef struct trs_relax_lost {
  int32_t loss, reserved; /* a trs_relax_loss */
  double b;               /* the largest |b| of its right-hand side */
} trs_relax_lost;
/* Judges most, and clears it. */
trs_status trs_relax_find_loss(const trs_relax_args *a, double needed, trs_relax_lost *lost,
                               trs_stream stream);

/* Adds the squares of r - A x to words (relax/exact.h), per right-hand side. */
trs_status trs_relax_squares(const trs_relax_args *a, trs_stream stream);
/* norms[c] = the root of the sum of all members' words of right-hand side c. */
typedef struct trs_relax_words {
  int members;
  const uint64_t *words[TRS_MOST_MEMBERS];
} trs_relax_words;
trs_status trs_relax_roots(const trs_relax_words *words, int nrhs, double *norms,
                           trs_stream stream);

/* Relaxes rows begin to end - 1, which are of one colour, in a launch.  paper: of kernels of
 * papers/ (trs_relax_variant). */
trs_status trs_relax_rows_run(const trs_relax_args *a, const void *paper, int64_t begin,
                              int64_t end, trs_stream stream);

/* ---- Slices: groups of as many rows of one colour as fit a warp's lanes (slices.cu). ---- */

enum {
  TRS_RELAX_MOST_SLICED = 8,               /* the largest block that has a kernel */
  TRS_RELAX_MOST_SLICED_COLOURS = 1 << 19, /* twice as many steps in a launch: counts do not wrap */
};

/* Rows of a slice; and blocks read in one chunk, a number that fills vectors of 16 bytes; size: of
 * an element. */
#define TRS_RELAX_SLICE_ROWS(b) (32 / (b))
#define TRS_RELAX_SLICE_CHUNK(b, size) \
  ((size) == 2 ? ((b) == 6 || (b) == 8 ? 4 : 8) : ((b) <= 2 ? 8 : (b) == 8 ? 2 : 4) * 4 / (size))

typedef struct trs_relax_slice {
  int64_t vector; /* its offset, in vectors of 16 bytes */
  int32_t width;  /* blocks of its longest row */
  int32_t reserved;
} trs_relax_slice;

typedef struct trs_relax_slice_row {
  int32_t position, count; /* blocks; -1: the slice has no such row, position is any */
  int32_t row;             /* of the caller's */
} trs_relax_slice_row;

typedef struct trs_relax_slices {
  int32_t nslices, ncolours;
  const trs_relax_slice *slice;
  const trs_relax_slice_row *row; /* nslices x rows */
  const void *val;                /* all data that are constant between sweeps: see slices.cu */
  int32_t zero;                   /* a row of x that is zero */
  const int32_t *starts; /* of 2 c + k: first slice of colour c's boundary rows (k = 0) or others */
  int32_t blocks;        /* blocks of threads that run concurrently */
  int64_t warps;         /* per block; 0 until trs_relax_slices_prepare chooses */
  int64_t stages;        /* in each warp's ring; 0 likewise */
  unsigned *arrived;     /* 0 between launches */
  unsigned *turn;        /* of a triangle: which of two x a solve writes; it clears the other */
  int triangle;          /* turn is used, and tails have inverses */
  trs_fault *fault;      /* of waits between colours; its row is the step */
} trs_relax_slices;

/* The exchange of a group's member with other members in a step; see push.h. */
typedef struct trs_relax_peer_sync {
  int32_t me, members;         /* members 0: no other member, and the other fields are unused */
  uint32_t senders, receivers; /* bits: its senders, its receivers, in any step */
  uint64_t step;               /* the last step before the launch */
  struct trs_relax_signs *signs[TRS_MOST_MEMBERS];
  /* The row at position p goes to positions to[k] of members member[k], k from ptr[p] to
     ptr[p + 1] - 1. */
  const int32_t *ptr, *to;
  const uint8_t *member;
  void *x[TRS_MOST_MEMBERS];
  int64_t stride[TRS_MOST_MEMBERS];
} trs_relax_peer_sync;

/* Chooses warps and stages for the current device and loads the kernels: a launch must load nothing
 * while kernels of other members already wait for it. */
trs_status trs_relax_slices_prepare(const trs_relax_args *a, trs_relax_slices *s);
/* Size of a slice in vectors. */
int64_t trs_relax_slice_vectors(const trs_relax_args *a, int32_t width);
/* Packs slices from a's ptr, idx, off and power, which are not needed afterwards. */
trs_status trs_relax_slices_pack(const trs_relax_args *a, const trs_relax_slices *s,
                                 trs_stream stream);
/* Steps of colours from one end: 0 forward, 1 backward, 2 forward and backward alternately.  One
 * launch per right-hand side.  peers: NULL, or its step advances with each launch. */
trs_status trs_relax_slices_sweep(const trs_relax_args *a, const trs_relax_slices *s, int direction,
                                  int64_t steps, trs_relax_peer_sync *peers, trs_stream stream);
/* Solves a triangle whose levels are the colours, in one launch per right-hand side, which reads b
 * and writes x in the caller's order.  a's r is not used. */
trs_status trs_relax_slices_solve(const trs_relax_args *a, const trs_relax_slices *s,
                                  const trs_relax_vectors *v, trs_stream stream);
/* Relaxes one colour's boundary rows (part 0), other rows (1), or both (2). */
trs_status trs_relax_slices_run(const trs_relax_args *a, const trs_relax_slices *s, int32_t colour,
                                int part, trs_stream stream);
/* Like trs_relax_squares. */
trs_status trs_relax_slices_squares(const trs_relax_args *a, const trs_relax_slices *s,
                                    trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
