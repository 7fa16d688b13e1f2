/* triangulate.h - the Delaunay triangulation of points on an integer grid. */
#ifndef TRS_GALLERY_TRIANGULATE_H
#define TRS_GALLERY_TRIANGULATE_H

#include "gallery/request.h"

enum { TRS_POINT_BITS = 30 }; /* so that every predicate is exact in 128 bits */

typedef struct trs_point {
  int32_t x, y; /* in 0 .. 2^TRS_POINT_BITS - 1 */
} trs_point;

/* Triangles tile the plane: those outside the hull share the vertex npoints, at infinity. */
typedef struct trs_triangulation {
  int64_t npoints, ntriangles;
  int32_t *vertex; /* 3 per triangle, counter-clockwise */
  int32_t *across; /* 3 per triangle: the triangle across the edge opposite the vertex */
} trs_triangulation;

/* points[n], n >= 3, distinct, inserted in the given order.  TRS_ERROR_ARGUMENT if all lie on a
 * line. */
trs_status trs_triangulate(trs_triangulation *T, int64_t n, const trs_point *points,
                           const trs_request *request);
void trs_triangulation_clear(trs_triangulation *T);

#endif
