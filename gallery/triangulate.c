/* triangulate.c - Delaunay triangulation by incremental insertion (Bowyer 1981, Watson 1981).
 *
 * A new point removes the triangles whose circumcircle contains it, a star-shaped cavity, and is
 * joined to the cavity's edges.  Triangles with a vertex at infinity cover the outside of the hull;
 * their "circumcircle" is the open half plane beyond their hull edge, and the edge itself.
 * Coordinates are integers, so that every sign is exact and ties are resolved consistently.
 *
 * The search for a point's triangle walks there from the previous point.  With points in random
 * rounds along a space-filling curve (Amenta, Choi, Rote 2003) walks and cavities stay short,
 * expected O(n) in total.  Any other order gives a correct result, but more slowly. */
#include "gallery/triangulate.h"

#include <stdbool.h>

#include "base/cancel.h"
#include "base/memory.h"

__extension__ typedef __int128 wide;

typedef struct edge {
  int32_t from, to; /* counter-clockwise as seen from inside the cavity */
  int32_t outside;  /* position in across[] that must refer to the new triangle */
} edge;

typedef struct builder {
  trs_triangulation *T;
  const trs_point *points;
  int32_t *mark;   /* per triangle: the last point whose cavity contained it */
  int32_t *fan;    /* per vertex: the new triangle whose cavity edge starts there */
  int32_t *cavity; /* triangles */
  edge *edges;     /* the cavity's boundary */
  int64_t ncavity, nedges, capacity;
  int32_t last; /* a triangle at the point inserted last */
} builder;

/* Twice the area of a, b, c: positive if counter-clockwise. */
static int64_t orient(const builder *B, int32_t a, int32_t b, int32_t c) {
  const trs_point *at = B->points;
  return (int64_t)(at[b].x - at[a].x) * (at[c].y - at[a].y) -
         (int64_t)(at[b].y - at[a].y) * (at[c].x - at[a].x);
}

/* True if p lies strictly inside the circle through a, b, c (counter-clockwise).  The determinant
 * stays below 2^124: differences have 30 bits, squares and products 61, their products 122. */
static bool in_circle(const builder *B, int32_t a, int32_t b, int32_t c, int32_t p) {
  const trs_point *at = B->points;
  int64_t ax = at[a].x - at[p].x, ay = at[a].y - at[p].y;
  int64_t bx = at[b].x - at[p].x, by = at[b].y - at[p].y;
  int64_t cx = at[c].x - at[p].x, cy = at[c].y - at[p].y;
  wide sum = (wide)(ax * ax + ay * ay) * (bx * cy - by * cx);
  sum += (wide)(bx * bx + by * by) * (cx * ay - cy * ax);
  sum += (wide)(cx * cx + cy * cy) * (ax * by - ay * bx);
  return sum > 0;
}

static bool strictly_between(const builder *B, int32_t a, int32_t b, int32_t p) {
  trs_point A = B->points[a], C = B->points[b], P = B->points[p];
  if (A.x != C.x) return (A.x < P.x) == (P.x < C.x) && P.x != A.x && P.x != C.x;
  return (A.y < P.y) == (P.y < C.y) && P.y != A.y && P.y != C.y;
}

/* The corner of triangle t at infinity, or -1. */
static int infinite_corner(const builder *B, int32_t t) {
  for (int e = 0; e < 3; e++)
    if (B->T->vertex[3 * t + e] == B->T->npoints) return e;
  return -1;
}

/* True if inserting p removes triangle t. */
static bool conflicts(const builder *B, int32_t t, int32_t p) {
  const int32_t *v = B->T->vertex + 3 * (int64_t)t;
  int e = infinite_corner(B, t);
  if (e < 0) return in_circle(B, v[0], v[1], v[2], p);
  int32_t a = v[(e + 1) % 3], b = v[(e + 2) % 3];
  int64_t side = orient(B, a, b, p);
  return side > 0 || (side == 0 && strictly_between(B, a, b, p));
}

/* Walks from the newest triangle towards p, across any edge that separates the triangle from p, to
 * a triangle that p conflicts with.  Such a walk cannot cycle in a Delaunay triangulation. */
static int32_t locate(const builder *B, int32_t p) {
  const int32_t *vertex = B->T->vertex, *across = B->T->across;
  int64_t t = B->last;
  int corner = infinite_corner(B, (int32_t)t);
  if (corner >= 0) {
    if (conflicts(B, (int32_t)t, p)) return (int32_t)t;
    t = across[3 * t + corner];
  }
  for (;;) {
    int e = 0;
    while (e < 3 && orient(B, vertex[3 * t + (e + 1) % 3], vertex[3 * t + (e + 2) % 3], p) >= 0)
      e++;
    if (e == 3) return (int32_t)t;
    t = across[3 * t + e];
    if (infinite_corner(B, (int32_t)t) >= 0) return (int32_t)t;
  }
}

static trs_status make_room(builder *B) {
  if (B->nedges + 3 <= B->capacity && B->ncavity + 3 <= B->capacity) return TRS_SUCCESS;
  int64_t capacity = 2 * B->capacity + 64;
  TRS_TRY(trs_realloc((void **)&B->edges, capacity, sizeof *B->edges));
  TRS_TRY(trs_realloc((void **)&B->cavity, capacity, sizeof *B->cavity));
  B->capacity = capacity;
  return TRS_SUCCESS;
}

static void add_to_cavity(builder *B, int32_t t, int32_t p) {
  B->mark[t] = p;
  B->cavity[B->ncavity++] = t;
}

/* For each edge of cavity triangle t: the neighbour joins the cavity, or the edge is part of the
 * boundary. */
static void expand_cavity(builder *B, int32_t t, int32_t p) {
  const int32_t *v = B->T->vertex + 3 * (int64_t)t, *across = B->T->across;
  for (int e = 0; e < 3; e++) {
    int32_t other = across[3 * (int64_t)t + e];
    if (B->mark[other] == p) continue;
    if (conflicts(B, other, p)) {
      add_to_cavity(B, other, p);
      continue;
    }
    int32_t back = 3 * other;
    while (across[back] != t) back++;
    B->edges[B->nedges++] = (edge){v[(e + 1) % 3], v[(e + 2) % 3], back};
  }
}

/* Joins p to every edge of the list.  New triangles reuse the slots of the cavity's triangles. */
static void connect(builder *B, int32_t p) {
  trs_triangulation *T = B->T;
  for (int64_t k = 0; k < B->nedges; k++) {
    edge from = B->edges[k];
    int64_t t = k < B->ncavity ? B->cavity[k] : T->ntriangles++;
    T->vertex[3 * t] = p;
    T->vertex[3 * t + 1] = from.from;
    T->vertex[3 * t + 2] = from.to;
    T->across[3 * t] = from.outside / 3;
    T->across[from.outside] = (int32_t)t;
    B->mark[t] = -1;
    B->fan[from.from] = (int32_t)t;
  }
  for (int64_t k = 0; k < B->nedges; k++) {
    int32_t t = B->fan[B->edges[k].from], next = B->fan[B->edges[k].to];
    T->across[3 * (int64_t)t + 1] = next;
    T->across[3 * (int64_t)next + 2] = t;
  }
  B->last = B->fan[B->edges[0].from];
}

static trs_status insert(builder *B, int32_t p) {
  B->ncavity = B->nedges = 0;
  TRS_TRY(make_room(B));
  add_to_cavity(B, locate(B, p), p);
  for (int64_t k = 0; k < B->ncavity; k++) {
    expand_cavity(B, B->cavity[k], p);
    TRS_TRY(make_room(B)); /* a triangle adds at most 3 to either list */
  }
  connect(B, p);
  return TRS_SUCCESS;
}

/* Makes the first triangle, of points 0, 1 and a third one, and the three triangles outside it. */
static trs_status start(builder *B, int32_t *third) {
  int32_t n = (int32_t)B->T->npoints, c = 2;
  while (c < n && orient(B, 0, 1, c) == 0) c++;
  if (c == n)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "all %d points lie on a line: take another seed", n);
  int32_t a = orient(B, 0, 1, c) < 0, b = 1 - a;
  TRS_TRY(make_room(B));
  B->T->ntriangles = 1;
  B->T->vertex[0] = a;
  B->T->vertex[1] = b;
  B->T->vertex[2] = c;
  B->mark[0] = -1;
  B->edges[0] = (edge){c, b, 0};
  B->edges[1] = (edge){a, c, 1};
  B->edges[2] = (edge){b, a, 2};
  B->nedges = 3;
  connect(B, n);
  *third = c;
  return TRS_SUCCESS;
}

static trs_status insert_all(builder *B, const trs_request *request) {
  int32_t n = (int32_t)B->T->npoints, third = 0;
  TRS_TRY(start(B, &third));
  for (int32_t p = 2; p < n; p++) {
    if (p != third) TRS_TRY(insert(B, p));
    if ((p & 0xffff) == 0) trs_request_progress(request, "triangulating", (double)p / n);
    if ((p & 0xfff) == 0) TRS_TRY(trs_cancelled());
  }
  return TRS_SUCCESS;
}

void trs_triangulation_clear(trs_triangulation *T) {
  trs_free(T->vertex);
  trs_free(T->across);
  *T = (trs_triangulation){0};
}

trs_status trs_triangulate(trs_triangulation *T, int64_t n, const trs_point *points,
                           const trs_request *request) {
  builder B = {.T = T, .points = points};
  int64_t triangles = 2 * n - 2; /* the number of triangles of a sphere with n + 1 vertices */
  *T = (trs_triangulation){.npoints = n};
  trs_status status = TRS_ALLOC(&T->vertex, 3 * triangles);
  if (!status) status = TRS_ALLOC(&T->across, 3 * triangles);
  if (!status) status = TRS_ALLOC(&B.mark, triangles);
  if (!status) status = TRS_ALLOC(&B.fan, n + 1);
  if (!status) status = insert_all(&B, request);
  TRS_FREE_ALL(B.mark, B.fan, B.cavity, B.edges);
  if (status) trs_triangulation_clear(T);
  return status;
}
