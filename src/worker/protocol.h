/* protocol.h - messages between the library and its worker processes: one request and one answer at
 * a time, over a socket.  Arrays lie in shared memory, each at a multiple of TRS_WORKER_ALIGNMENT,
 * in the order in which they were given. */
#ifndef TRS_WORKER_PROTOCOL_H
#define TRS_WORKER_PROTOCOL_H

#include <stdint.h>

#include "trireme.h"

/* Descriptors of a worker process. */
enum { TRS_WORKER_SOCKET = 3, TRS_WORKER_MEMORY = 4, TRS_WORKER_FILE = 5, TRS_WORKER_FILES = 6 };

enum { TRS_WORKER_ALIGNMENT = 65536, TRS_WORKER_NUMBERS = 16, TRS_WORKER_TEXT = 512 };

/* A request or its answer. */
typedef struct trs_worker_message {
  char version[16]; /* both sides are of one build */
  int32_t job;
  int32_t status; /* of an answer; on failure text is the message and row the row at fault */
  int64_t row;
  int64_t bytes;      /* of the arrays in shared memory so far */
  int64_t most_bytes; /* limit on the worker's address space; 0: no limit */
  int64_t fail_after; /* as of trs_memory_fail_after */
  int64_t number[TRS_WORKER_NUMBERS];
  double threshold;
  char text[TRS_WORKER_TEXT];
} trs_worker_message;

/* trireme-worker-metis: the request's numbers and arrays; the answer's array. */
enum {
  TRS_METIS_ORDER, /* n, entries: ptr, adjacent; answer: perm */
  TRS_METIS_SPLIT  /* n, entries, parts: ptr, adjacent, weight; answer: part */
};

/* trireme-worker-superlu has one job.  The matrix arrives by columns, as SuperLU needs it; the
 * factors are returned by rows. */
enum {
  TRS_LU_SCALAR,
  TRS_LU_N,
  TRS_LU_ENTRIES,
  TRS_LU_FILL,
  TRS_LU_MOST /* that SuperLU's integers count: 2147483647, less in tests */
};
enum { TRS_LU_ZERO_PIVOT, TRS_LU_SUPERNODES, TRS_LU_NNZ_L, TRS_LU_NNZ_U };

/* trireme-worker-hdf5. */
enum { TRS_HDF5_PATH = 256 }; /* longest name; a second one begins at this offset in text */
enum {
  TRS_HDF5_OPEN,     /* the file that the worker was started with */
  TRS_HDF5_GET_TEXT, /* group, attribute: length in bytes, -1 if there is none; the text */
  TRS_HDF5_HAS,      /* group, link: 1 or 0 */
  TRS_HDF5_LOOK,     /* dataset: its TRS_LOOK_* numbers */
  TRS_HDF5_READ      /* dataset, type, from, count: the elements */
};

typedef enum trs_hdf5_type { TRS_HDF5_I32, TRS_HDF5_I64, TRS_HDF5_F32, TRS_HDF5_F64 } trs_hdf5_type;

/* Facts about a dataset.  NATIVE: its type, or -1; OFFSET: the position of a contiguous one in the
 * file, or -1; HAS_CRC: 1, 0, or -1 if it is unreadable. */
enum {
  TRS_LOOK_FOUND,
  TRS_LOOK_ELSEWHERE,
  TRS_LOOK_VECTOR,
  TRS_LOOK_LENGTH,
  TRS_LOOK_IS_REAL,
  TRS_LOOK_IS_INTEGER,
  TRS_LOOK_IS_SIGNED,
  TRS_LOOK_SIZE,
  TRS_LOOK_NATIVE,
  TRS_LOOK_STORED,
  TRS_LOOK_CONTIGUOUS,
  TRS_LOOK_OFFSET,
  TRS_LOOK_HAS_CRC,
  TRS_LOOK_CRC
};

static inline int64_t trs_worker_align(int64_t bytes) {
  return (bytes + TRS_WORKER_ALIGNMENT - 1) / TRS_WORKER_ALIGNMENT * TRS_WORKER_ALIGNMENT;
}

#endif
