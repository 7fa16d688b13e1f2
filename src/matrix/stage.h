/* stage.h - right-hand sides and solutions in other memory than a GPU works in: copies to and from
 * a stage in its memory, and their passage through the stage in parts. */
#ifndef TRS_MATRIX_STAGE_H
#define TRS_MATRIX_STAGE_H

#include "device/shared.h"
#include "matrix/rhs.h"

/* Some columns of the caller's b and x, of one system or of several, and their layout in a stage:
 * rows of all columns if one of the arrays is row-major, else columns. */
typedef struct trs_span {
  trs_rhs rhs;    /* the part of the caller's arrays; of several systems the first one's */
  int64_t n;      /* rows of that part */
  int64_t height; /* rows of the stage */
  int64_t size;   /* bytes per value */
  bool row_major; /* the stage's layout */
  int64_t systems;
} trs_span;

/* From column first on: `width` columns, or as many as there are; one system. */
trs_span trs_span_of(const trs_rhs *rhs, int64_t n, trs_scalar scalar, int64_t first,
                     int64_t width);

/* Rows begin .. end - 1 of s, for a stage of `height` rows. */
trs_span trs_span_rows(const trs_span *s, int64_t begin, int64_t end, int64_t height);

/* The bytes from a stage's first value to its row; of a whole system. */
int64_t trs_span_row_at(const trs_span *s, int64_t row);
int64_t trs_span_bytes(const trs_span *s);

/* The columns as they lie in stages for x and b, which may be the same memory.  The systems follow
 * each other. */
trs_rhs trs_span_staged(const trs_span *s, void *x, const void *b);

/* Copy from the caller's b, or x, to a stage, and from a stage to the caller's x.  stage: of the
 * part's first row; in device memory, or on the host if the caller's arrays are not. */
trs_status trs_span_bring(const trs_span *s, void *stage, trs_stream stream);
trs_status trs_span_bring_x(const trs_span *s, void *stage, trs_stream stream);
trs_status trs_span_take(const trs_span *s, const void *stage, trs_stream stream);

/* ---- Passage through a stage ---- */

enum { TRS_SLOTS = 2 };

typedef struct trs_stage {
  trs_device *device;
  int slots;          /* 1 or 2; 0: 1 */
  trs_stream in, out; /* of copies to and from two slots, one of which is copied while the other is
                         worked on; NULL: all is in the stream of the work */
  trs_device_event *brought[TRS_SLOTS], *done[TRS_SLOTS], *taken[TRS_SLOTS];
  void *slot[TRS_SLOTS]; /* NULL until needed */
  int64_t bytes;         /* of a slot */
} trs_stage;

/* Gives a stage of two slots its streams.  trs_stage_close is due after failures too. */
trs_status trs_stage_overlap(trs_stage *stage);
trs_status trs_stage_need(trs_stage *stage, int64_t bytes, trs_stream stream);
void trs_stage_close(trs_stage *stage, trs_stream stream);

typedef struct trs_passage {
  trs_span all; /* what passes, in parts of columns, or of systems */
  bool by_systems;
  bool only_b;       /* nothing comes back */
  int64_t at, end;   /* columns or systems: of the next part, behind the last */
  int64_t width;     /* at a time */
  trs_stage *stage;  /* with room for them */
  trs_stream stream; /* of the work */

  trs_span here; /* the part to work on, in the stage; without columns if only the last one has to
                    be taken back */
  int64_t parts; /* before it */
  trs_span part[TRS_SLOTS];
} trs_passage;

/* Until the passage is over: launches the copy of the next part, and after the work the copies
 * back. */
bool trs_passage_is_over(const trs_passage *p);
trs_status trs_passage_bring(trs_passage *p);
trs_status trs_passage_take(trs_passage *p);
int trs_passage_slot(const trs_passage *p); /* of the next part */

#endif
