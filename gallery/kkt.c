/* kkt.c - the optimality system of an elliptic control problem on a cube, controlled from its six
 * faces:
 *
 *     [ H  0   K ]  N^3  states      H, R: diagonal weights of state and control
 *     [ 0  R   B']  6N^2 controls    K:    27-point Laplacian
 *     [ K  B  -D ]  N^3  adjoints    B:    a control acts on the 3 x 3 nodes of its face around it
 *
 * with a small diagonal D so that every row has a pivot.  This is the structure of the nlpkkt
 * matrices: N = 160 has nlpkkt160's 8345600 rows, and (3N - 2)^3 + 6 (3N - 2)^2 + n = 118931856
 * entries in the lower triangle, as nlpkkt160 has with a dense diagonal.  Either triangle has two
 * levels. */
#include "gallery/grid.h"
#include "gallery/rows.h"

static const double STATE_WEIGHT = 1, CONTROL_WEIGHT = 0.1, PIVOT = -0.1;
enum { FACES = 6, MOST_IN_ROW = 27 + 3 * 9 + 1 };

typedef struct system {
  trs_grid grid;
  int64_t states, controls; /* the numbers of states and controls; there are as many adjoints as
                               states */
} system;

static int64_t add(int64_t count, int32_t *col, double *val, int64_t j, double value) {
  col[count] = (int32_t)j;
  val[count] = value;
  return count + 1;
}

/* The row of the 27-point Laplacian at a node, scaled to a diagonal of one; its columns start at
 * `first`. */
static int64_t add_stencil(const system *s, trs_node at, int64_t first, int64_t count, int32_t *col,
                           double *val) {
  for (int64_t z = at.z - 1; z <= at.z + 1; z++)
    for (int64_t y = at.y - 1; y <= at.y + 1; y++)
      for (int64_t x = at.x - 1; x <= at.x + 1; x++) {
        if (!trs_grid_has(&s->grid, x, y, z)) continue;
        bool self = x == at.x && y == at.y && z == at.z;
        count =
            add(count, col, val, first + trs_grid_number(&s->grid, x, y, z), self ? 1 : -1.0 / 26);
      }
  return count;
}

/* Face f of the cube: nodes whose coordinate f / 2 is 0 (f even) or N - 1 (f odd). */
static trs_node face_node(const system *s, int f, int64_t a, int64_t b) {
  int64_t side = f % 2 ? s->grid.nx - 1 : 0;
  if (f / 2 == 0) return (trs_node){side, a, b};
  if (f / 2 == 1) return (trs_node){a, side, b};
  return (trs_node){a, b, side};
}

/* True if the node is on face f; (*a, *b) is its place there. */
static bool on_face(const system *s, int f, trs_node at, int64_t *a, int64_t *b) {
  int64_t side = f % 2 ? s->grid.nx - 1 : 0;
  *a = f / 2 == 0 ? at.y : at.x;
  *b = f / 2 == 2 ? at.y : at.z;
  return side == (f / 2 == 0 ? at.x : f / 2 == 1 ? at.y : at.z);
}

/* The entry of B for a control and a node of its face, by their distance in the face's own grid. */
static double control_weight(int64_t da, int64_t db) { return -1.0 / (1 << (1 + !!da + !!db)); }

static int64_t make_control(const system *s, int64_t u, int32_t *col, double *val) {
  int64_t n = s->grid.nx, count = add(0, col, val, s->states + u, CONTROL_WEIGHT);
  int f = (int)(u / (n * n));
  int64_t a = u % n, b = u / n % n;
  for (int64_t q = b - 1; q <= b + 1; q++)
    for (int64_t p = a - 1; p <= a + 1; p++) {
      if (p < 0 || p >= n || q < 0 || q >= n) continue;
      trs_node at = face_node(s, f, p, q);
      int64_t node = trs_grid_number(&s->grid, at.x, at.y, at.z);
      count = add(count, col, val, s->states + s->controls + node, control_weight(p - a, q - b));
    }
  return count;
}

static int64_t make_adjoint(const system *s, int64_t node, int32_t *col, double *val) {
  int64_t n = s->grid.nx, a, b;
  trs_node at = trs_grid_node(&s->grid, node);
  int64_t count = add_stencil(s, at, 0, 0, col, val);
  for (int f = 0; f < FACES; f++) {
    if (!on_face(s, f, at, &a, &b)) continue;
    for (int64_t q = b - 1; q <= b + 1; q++)
      for (int64_t p = a - 1; p <= a + 1; p++)
        if (p >= 0 && p < n && q >= 0 && q < n)
          count =
              add(count, col, val, s->states + p + n * (q + n * f), control_weight(p - a, q - b));
  }
  return add(count, col, val, s->states + s->controls + node, PIVOT);
}

static int64_t make_row(const void *shape, int64_t i, int32_t *col, double *val) {
  const system *s = shape;
  if (i >= s->states + s->controls) return make_adjoint(s, i - s->states - s->controls, col, val);
  if (i >= s->states) return make_control(s, i - s->states, col, val);
  int64_t count = add(0, col, val, i, STATE_WEIGHT);
  return add_stencil(s, trs_grid_node(&s->grid, i), s->states + s->controls, count, col, val);
}

static trs_status make(trs_matrix **A, const trs_request *request) {
  int64_t n = request->value[0];
  TRS_TRY(trs_request_rows(request, n, n, 2 * n + FACES, 1));
  system shape = {{n, n, n}, n * n * n, FACES * n * n};
  trs_rows rows = {2 * shape.states + shape.controls, MOST_IN_ROW, &shape, make_row};
  return trs_rows_build(A, &rows, request);
}

const trs_generator trs_generator_kkt3d = {
    "kkt3d", "N", "optimal control of an N^3 grid; 160 is as nlpkkt160", make};
