/* wingmesh.c - the block matrix of an implicit flow solver on a mixed mesh around a wing: layers of
 * prisms at the wall, tetrahedra beyond them, five unknowns per vertex in consecutive rows.  Each
 * vertex is coupled with all vertices that share an element with it.  N = 1100000 has the figures
 * of W21: 1.1 million vertices, 19 million blocks off the diagonal, some 17 per row.
 *
 * Vertex (i, j, k) lies at angle i around the section, on layer j outward, at span k.  A wall
 * quadrilateral is cut along its (+i, +k) diagonal.  The cut makes prisms of the cells in the lower
 * layers and six tetrahedra (Kuhn) of each cell in the others, and the two match at their
 * interface.
 *
 * For an edge from u to v with area S and normal n, flux Jacobians A (Euler, conservative
 * variables) and spectral radius s = |velocity n| + sound, plus friction:
 *
 *   O_uv = S / 2 (A_v(n) - s),    D_u = sum over v of S / 2 (A_u(n) + s (1 + 1 / CFL)). */
#include <math.h>
#include <stdbool.h>

#include "base/random.h"
#include "gallery/rows.h"

enum { UNKNOWNS = 5, MOST_NEIGHBOURS = 20 };

static const double CFL = 8, GAMMA = 1.4;

typedef struct wing {
  int64_t around, layers, span;
  int64_t prisms; /* layers of cells that are prisms */
} wing;

typedef struct vertex {
  int64_t number;
  double at[3], volume;      /* approximate volume of its part of the mesh */
  double velocity[3], sound; /* the flow there */
} vertex;

/* Distance of a layer from the wall: geometric growth; the whole mesh is two chords high. */
static double height(const wing *w, double layer) {
  const double growth = 7;
  return 2 * expm1(growth * layer / (double)(w->layers - 1)) / expm1(growth);
}

static vertex vertex_at(const wing *w, int64_t i, int64_t j, int64_t k) {
  vertex v = {.number = i + w->around * (k + w->span * j)};
  double angle = 2 * 3.14159265358979323846 * (double)i / (double)w->around;
  double share = (double)k / (double)(w->span - 1), chord = 1 - 0.6 * share;
  double out = height(w, (double)j), step = height(w, (double)j + 0.5) - height(w, (double)j - 0.5);
  v.at[0] = 0.5 * share + (0.5 * chord + out) * cos(angle);
  v.at[1] = (0.06 * chord * (1 + 0.5 * cos(angle)) + out) * sin(angle);
  v.at[2] = 3 * share;
  v.volume = step * (3 / (double)(w->span - 1)) * 6.3 * (0.35 * chord + out) / (double)w->around;
  double calm = out / (out + 0.05); /* the flow sticks to the wall */
  for (int d = 0; d < 3; d++)
    v.velocity[d] =
        calm * (0.05 * trs_random_signed(2, (uint64_t)(3 * v.number + d)) + (d == 0 ? 0.84 : 0.03));
  v.sound = 1 + 0.05 * trs_random_signed(3, (uint64_t)v.number);
  return v;
}

/* True if (di, dk), each -1, 0 or 1, is the vertex itself or the other end of an edge of the cut
 * wall. */
static bool on_wall(int di, int dk) { return di * dk >= 0; }

/* True if a vertex of layer j and its neighbour at (di, dj, dk) share an element. */
static bool coupled(const wing *w, int64_t j, int di, int dj, int dk) {
  if (!on_wall(di, dk) || !(di || dj || dk) || j + dj < 0 || j + dj >= w->layers) return false;
  if (dj == 0 || (dj > 0 ? j : j - 1) < w->prisms) return true;
  return dj > 0 ? di >= 0 && dk >= 0 : di <= 0 && dk <= 0;
}

/* Row c of the flux Jacobian of v in direction n. */
static void jacobian_row(const vertex *v, const double n[3], int c, double row[UNKNOWNS]) {
  const double *u = v->velocity, g = GAMMA - 1;
  double square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
  double through = u[0] * n[0] + u[1] * n[1] + u[2] * n[2];
  double enthalpy = v->sound * v->sound / g + square / 2;
  int m = c - 1;
  row[0] = c == 0   ? 0
           : c == 4 ? (g * square / 2 - enthalpy) * through
                    : g * square / 2 * n[m] - u[m] * through;
  for (int l = 0; l < 3; l++)
    row[1 + l] = c == 0   ? n[l]
                 : c == 4 ? enthalpy * n[l] - g * u[l] * through
                          : u[m] * n[l] - g * u[l] * n[m] + (l == m ? through : 0);
  row[4] = c == 0 ? 0 : c == 4 ? GAMMA * through : g * n[m];
}

/* Row c of the blocks of an edge: off[] is that of the neighbour v, diagonal[] the contribution to
 * u's diagonal block. */
static void edge_rows(const vertex *u, const vertex *v, int c, double off[UNKNOWNS],
                      double diagonal[UNKNOWNS]) {
  double n[3], length = 0, through = 0;
  for (int d = 0; d < 3; d++) length += (v->at[d] - u->at[d]) * (v->at[d] - u->at[d]);
  length = sqrt(length);
  for (int d = 0; d < 3; d++) n[d] = (v->at[d] - u->at[d]) / length;
  for (int d = 0; d < 3; d++) through += (u->velocity[d] + v->velocity[d]) / 2 * n[d];
  double area = (u->volume + v->volume) / (2 * length), friction = 1e-4 / length;
  double s = fabs(through) + (u->sound + v->sound) / 2 + friction;
  double part[UNKNOWNS];
  jacobian_row(v, n, c, off);
  jacobian_row(u, n, c, part);
  for (int e = 0; e < UNKNOWNS; e++) {
    off[e] = area / 2 * (off[e] - (e == c ? s : 0));
    diagonal[e] += area / 2 * (part[e] + (e == c ? s * (1 + 1 / CFL) : 0));
  }
}

static int64_t make_row(const void *shape, int64_t row, int32_t *col, double *val) {
  const wing *w = shape;
  int c = (int)(row % UNKNOWNS);
  int64_t number = row / UNKNOWNS, i = number % w->around, j = number / w->around / w->span;
  int64_t k = number / w->around % w->span, count = 0;
  vertex u = vertex_at(w, i, j, k);
  int32_t block[MOST_NEIGHBOURS + 1];
  double rows[MOST_NEIGHBOURS + 1][UNKNOWNS] = {{0}};
  block[count++] = (int32_t)number;
  for (int place = 0; place < 27; place++) {
    int di = place % 3 - 1, dk = place / 3 % 3 - 1, dj = place / 9 - 1;
    if (!coupled(w, j, di, dj, dk) || k + dk < 0 || k + dk >= w->span) continue;
    vertex v = vertex_at(w, (i + di + w->around) % w->around, j + dj, k + dk);
    block[count] = (int32_t)v.number;
    edge_rows(&u, &v, c, rows[count++], rows[0]);
  }
  int32_t sorted[MOST_NEIGHBOURS + 1];
  for (int64_t q = 0; q < count; q++) sorted[q] = block[q];
  trs_columns_sort(sorted, count);
  for (int64_t q = 0; q < count; q++) {
    int64_t from = 0;
    while (block[from] != sorted[q]) from++;
    for (int e = 0; e < UNKNOWNS; e++) {
      col[q * UNKNOWNS + e] = sorted[q] * UNKNOWNS + e;
      val[q * UNKNOWNS + e] = rows[from][e];
    }
  }
  return count * UNKNOWNS;
}

static int64_t at_least(double count, int64_t least) {
  return count < (double)least ? least : (int64_t)(count + 0.5);
}

static trs_status make(trs_matrix **A, const trs_request *request) {
  double scale = cbrt((double)request->value[0] / 1.1e6);
  wing shape = {.around = at_least(215 * scale, 3),
                .layers = at_least(64 * scale, 2),
                .span = at_least(80 * scale, 2)};
  shape.prisms = (int64_t)(0.6 * (double)shape.layers);
  TRS_TRY(trs_request_rows(request, shape.around, shape.layers, shape.span, UNKNOWNS));
  trs_rows rows = {UNKNOWNS * shape.around * shape.layers * shape.span,
                   UNKNOWNS * (MOST_NEIGHBOURS + 1), &shape, make_row};
  return trs_rows_build(A, &rows, request);
}

const trs_generator trs_generator_wingmesh = {
    "wingmesh", "N", "5 unknowns per vertex, N vertices around a wing; published with 1100000",
    make};
