/* boxes.h - boxes of monotone coordinates: rows that are near in the graph become neighbours, so
 * that they are solved together as a block of slices.h.
 *
 * A coordinate of a row is the length of the longest path to it, where entries of one class have
 * the length 1 and others 0.  It never falls along an entry, and neither does a box, which is a
 * range of values of each coordinate.  So boxes, cut where they have too many rows, wait for each
 * other without a cycle, and their rows by box and place in the sweep are a sweep again.  Classes
 * are those of the distance from the diagonal: on a grid the coordinates are then those of the grid
 * or sums of them.
 *
 * solve/cuda/engine/boxes.cu finds them on the GPU.  C and CUDA C++. */
#ifndef TRS_ANALYSIS_BOXES_H
#define TRS_ANALYSIS_BOXES_H

#include "analysis/slices.h"

enum {
  TRS_COORDINATES = 3,
  TRS_COORDINATE_BITS = 10, /* a coordinate that would be larger keeps the largest value */
  TRS_BOX_BITS = TRS_COORDINATES * TRS_COORDINATE_BITS,
  TRS_BOXED_ROW = 64 /* entries of a row, at most, where boxes are looked for */
};

/* The least distances from the diagonal of the second and of the third class: on a grid, those of
 * neighbours in the next line and in the next plane. */
typedef struct trs_box_classes {
  int32_t line, plane;
} trs_box_classes;

/* The classes that octaves of distances (bit b: 2^b to 2^(b + 1) - 1) without a gap form.  Returns
 * 1 if there are three or more. */
TRS_SLICES_INLINE int trs_box_classes_of(trs_box_classes *classes, uint32_t octaves) {
  int32_t *const begin[] = {&classes->line, &classes->plane};
  int found = 0;
  classes->line = classes->plane = INT32_MAX;
  for (int b = 0; b < 31; b++) {
    if (!(octaves >> b & 1) || (b > 0 && (octaves >> (b - 1) & 1))) continue;
    if (found == 1 || found == 2) *begin[found - 1] = (int32_t)1 << b;
    found++;
  }
  return found >= TRS_COORDINATES;
}

/* The coordinates of a row, the nearest class in the lowest bits. */
TRS_SLICES_INLINE uint32_t trs_coordinate(uint32_t coordinates, int c) {
  return coordinates >> (c * TRS_COORDINATE_BITS) & ((1u << TRS_COORDINATE_BITS) - 1);
}

/* What an entry asks of its row: the coordinates of the entry's column, and one more of its class.
 */
TRS_SLICES_INLINE uint32_t trs_coordinates_behind(uint32_t coordinates, int32_t distance,
                                                  trs_box_classes classes) {
  const int c = (distance >= classes.line) + (distance >= classes.plane);
  const uint32_t largest = (1u << TRS_COORDINATE_BITS) - 1;
  return trs_coordinate(coordinates, c) == largest
             ? coordinates
             : coordinates + (1u << (c * TRS_COORDINATE_BITS));
}

/* The larger one of each coordinate. */
TRS_SLICES_INLINE uint32_t trs_coordinates_joined(uint32_t a, uint32_t b) {
  uint32_t joined = 0;
  for (int c = 0; c < TRS_COORDINATES; c++) {
    const uint32_t mask = ((1u << TRS_COORDINATE_BITS) - 1) << (c * TRS_COORDINATE_BITS);
    joined |= (a & mask) > (b & mask) ? a & mask : b & mask;
  }
  return joined;
}

/* The lowest bits of each coordinate that differ within a box: as many as number TRS_LIGHT_BLOCK
 * rows. */
typedef struct trs_box_sides {
  int8_t bits[TRS_COORDINATES];
} trs_box_sides;

/* Those with the fewest boxes on a path along all coordinates, whose largest values are given. */
TRS_SLICES_INLINE trs_box_sides trs_box_sides_of(const uint32_t *largest) {
  enum { BITS = 3 };
  trs_box_sides best = {{BITS, 0, 0}};
  uint32_t fewest = UINT32_MAX;
  for (int near = 0; near <= BITS; near++)
    for (int line = 0; near + line <= BITS; line++) {
      const int plane = BITS - near - line;
      const uint32_t boxes = (largest[0] >> near) + (largest[1] >> line) + (largest[2] >> plane);
      if (boxes >= fewest) continue;
      fewest = boxes;
      best.bits[0] = (int8_t)near, best.bits[1] = (int8_t)line, best.bits[2] = (int8_t)plane;
    }
  return best;
}

/* The number of a row's box, of TRS_BOX_BITS.  Every order of boxes in which no coordinate falls
 * alone is one of the sweep; this one is that of a grid's rows. */
TRS_SLICES_INLINE uint32_t trs_box_of(uint32_t coordinates, trs_box_sides sides) {
  uint32_t box = 0;
  for (int c = 0; c < TRS_COORDINATES; c++)
    box |= trs_coordinate(coordinates, c) >> sides.bits[c] << (c * TRS_COORDINATE_BITS);
  return box;
}

#endif
