/* report.c - figures over the ranks as JSON. */
#include "simulate/report.h"

#include <math.h>
#include <string.h>

trs_status trs_report_parse(trs_simulated *run, const char *text) {
  static const struct {
    const char *name;
    trs_grid_algorithm algorithm;
  } methods[] = {{"grid3d", TRS_GRID3D},
                 {"grid3d:algorithm=2", TRS_GRID3D_ALGORITHM_2},
                 {"grid3d-baseline", TRS_GRID3D_BASELINE},
                 {"grid3d-baseline:lookahead=0", TRS_GRID3D_NO_LOOKAHEAD},
                 {"grid2d", TRS_GRID3D}};
  long long nrhs = 0;
  trs_grid_shape *p = &run->shape;
  char rest[32] = "";
  bool known = false;
  int found = 0;
  for (size_t k = 0; k < sizeof methods / sizeof *methods && !known; k++) {
    size_t length = strlen(methods[k].name);
    if (strncmp(text, methods[k].name, length) != 0) continue;
    found = sscanf(text + length, ":%dx%dx%d:%lld:%31s", &p->x, &p->y, &p->z, &nrhs, rest);
    snprintf(run->method, sizeof run->method, "%s", methods[k].name);
    run->algorithm = methods[k].algorithm;
    known = found >= 4 && (strcmp(run->method, "grid2d") != 0 || p->z == 1);
  }
  if (!known || p->x < 1 || p->y < 1 || p->z < 1 || nrhs < 1 ||
      (found == 5 && strcmp(rest, "flat") != 0 && strcmp(rest, "scattered") != 0 &&
       strcmp(rest, "flat:scattered") != 0))
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "%s: a solve is METHOD:PXxPYxPZ:NRHS[:flat][:scattered], METHOD grid3d, "
                    "grid3d:algorithm=2, grid3d-baseline, grid3d-baseline:lookahead=0 or, with "
                    "PZ = 1, grid2d",
                    text);
  run->nrhs = nrhs;
  run->scattered = strstr(rest, "scattered") != NULL;
  run->trees = strstr(rest, "flat") ? TRS_TREE_FLAT : TRS_TREE_BINARY;
  return TRS_SUCCESS;
}

static void put_spread(FILE *stream, const char *name, const trs_figures *f, int64_t ranks,
                       int figure) {
  double min = f[0].value[figure], max = min, sum = 0;
  for (int64_t r = 0; r < ranks; r++) {
    double v = f[r].value[figure];
    min = v < min ? v : min;
    max = v > max ? v : max;
    sum += v;
  }
  fprintf(stream, ",\"%s\":{\"min\":%.9g,\"mean\":%.9g,\"max\":%.9g}", name, min,
          sum / (double)ranks, max);
}

void trs_report_leaves(trs_simulated *run, const trs_grid_layout *l) {
  run->leaf[0] = run->leaf[2] = (double)l->leaf[0];
  for (int z = 0; z < l->pz; z++) {
    double entries = (double)l->leaf[z];
    run->leaf[0] = entries < run->leaf[0] ? entries : run->leaf[0];
    run->leaf[2] = entries > run->leaf[2] ? entries : run->leaf[2];
    run->leaf[1] += entries / l->pz;
  }
}

void trs_report(FILE *stream, const trs_simulated *run, const trs_figures *figures) {
#define VALUE(name, key) key,
  static const char *const names[] = {
#include "ranks.def"
  };
#undef VALUE
  int64_t ranks = (int64_t)run->shape.x * run->shape.y * run->shape.z;
  double bytes = 0, flops = 0;
  fprintf(
      stream,
      "{\"kind\":\"%s\",\"matrix\":\"%s\",\"n\":%lld,\"supernodes\":%lld,\"method\":\"%s\","
      "\"trees\":\"%s\",\"homes\":%s,\"ranks\":%lld,\"px\":%d,\"py\":%d,\"pz\":%d,\"nrhs\":%lld",
      run->kind, run->matrix, (long long)run->n, (long long)run->supernodes, run->method,
      run->trees == TRS_TREE_FLAT ? "flat" : "binary", run->scattered ? "false" : "true",
      (long long)ranks, run->shape.x, run->shape.y, run->shape.z, (long long)run->nrhs);
  for (int k = 0; k < TRS_FIGURES; k++) put_spread(stream, names[k], figures, ranks, k);
  for (int64_t r = 0; r < ranks; r++) {
    bytes += figures[r].value[TRS_FIGURE_BYTES];
    flops += figures[r].value[TRS_FIGURE_FLOPS] + figures[r].value[TRS_FIGURE_FLOPS + 1];
  }
  fprintf(stream,
          ",\"leaf_entries\":{\"min\":%.9g,\"mean\":%.9g,\"max\":%.9g},\"factor_bytes\":%.9g,"
          "\"replicated\":%.6g,\"replicated_work\":%.6g,\"volume_bound\":%.6g,\"host_s\":%.3g}\n",
          run->leaf[0], run->leaf[1], run->leaf[2], 8 * run->stored, bytes / (8 * run->stored),
          flops / (run->flops * (double)run->nrhs),
          8 * (double)run->n * (double)run->nrhs / sqrt((double)ranks * run->shape.z), run->host_s);
  fflush(stream);
}
