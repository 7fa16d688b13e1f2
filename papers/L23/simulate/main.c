/* main.c - trireme-simulate: structures of factors for simulations, and the LogGP model.
 *
 *     trireme-simulate structure MATRIX OUT [leaves=N] [width=N] [relax=N] [few=N] [subtrees=N]
 *     trireme-simulate invert STRUCTURE OUT
 *     trireme-simulate loggp NAME STRUCTURE METHOD:PXxPYxPZ:NRHS[:flat][:scattered] ...
 *     trireme-simulate h100|a100 NAME STRUCTURE METHOD:PXx1xPZ:NRHS[:flat]:scattered ... */
#include <stdio.h>
#include <string.h>

#include "base/timer.h"
#include "simulate/gpu.h"
#include "simulate/loggp.h"
#include "simulate/structure.h"

/* Exits with the exit codes of trireme, which starts this program. */
static int explain(void) {
  static const int codes[] = {
      [TRS_ERROR_ARGUMENT] = 2,    [TRS_ERROR_MEMORY] = 4,    [TRS_ERROR_FILE] = 3,
      [TRS_ERROR_FORMAT] = 3,      [TRS_ERROR_STRUCTURE] = 3, [TRS_ERROR_ZERO_PIVOT] = 1,
      [TRS_ERROR_UNSUPPORTED] = 4, [TRS_ERROR_INTERNAL] = 5};
  trs_failure failure;
  trs_failure_get(&failure);
  fprintf(stderr, "trireme-simulate: %s\n", failure.message);
  size_t status = (size_t)failure.status;
  return status < sizeof codes / sizeof codes[0] && codes[status] ? codes[status] : 1;
}

static int make_structure(int argc, char **argv) {
  trs_symbolic_options set = {.leaves = 64, .width = 128, .relax = 20, .few = 6};
  trs_symbolic s;
  trs_matrix *A;
  for (int a = 2; a < argc; a++) {
    long long value;
    char name[16];
    if (sscanf(argv[a], "%15[a-z]=%lld", name, &value) != 2) return fprintf(stderr, "?\n"), 2;
    if (!strcmp(name, "leaves")) set.leaves = value;
    if (!strcmp(name, "width")) set.width = value;
    if (!strcmp(name, "relax")) set.relax = value;
    if (!strcmp(name, "few")) set.few = value;
    if (!strcmp(name, "subtrees")) set.subtrees = value;
  }
  if (trs_matrix_read(&A, argv[0], NULL)) return explain();
  trs_status status = trs_symbolic_create(&s, A, &set);
  trs_matrix_destroy(A);
  if (!status) status = trs_symbolic_write(&s, argv[1]);
  if (status) return explain();
  printf("n %lld, L %lld, with zeros %lld, supernodes %lld, blocks %lld\n", (long long)s.n,
         (long long)s.fill, (long long)s.stored, (long long)s.count, (long long)s.ptr[s.count]);
  trs_symbolic_free(&s);
  return 0;
}

static int invert(char **argv) {
  trs_symbolic s, to;
  if (trs_symbolic_read(&s, argv[0])) return explain();
  trs_status status = trs_symbolic_invert(&to, &s);
  trs_symbolic_free(&s);
  if (!status) status = trs_symbolic_write(&to, argv[1]);
  if (status) return explain();
  printf("supernodes %lld, blocks %lld\n", (long long)to.count, (long long)to.ptr[to.count]);
  trs_symbolic_free(&to);
  return 0;
}

/* gpus: NULL for CPU cores. */
static trs_status play(const trs_grid_layout *layout, const trs_gpu_machine *gpus,
                       const trs_simulated *run, trs_figures *figures) {
  if (gpus && run->nrhs != 1)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "GPUs are modelled with one right-hand side, not %lld",
                    (long long)run->nrhs);
  if (gpus) return trs_gpu_model(layout, gpus, run->trees, run->shape, figures);
  return trs_loggp(layout, &trs_cori, run, figures);
}

static trs_status model(const trs_symbolic *s, const trs_gpu_machine *gpus, const char *matrix,
                        const char *text) {
  trs_simulated run = {.kind = gpus ? "modelled" : "loggp", .matrix = matrix};
  trs_grid_layout layout;
  trs_figures *figures = NULL;
  double begin = trs_seconds();
  TRS_TRY(trs_report_parse(&run, text));
  TRS_TRY(trs_structure_layout(&layout, s, run.shape, run.scattered));
  trs_status status = TRS_ALLOC(&figures, (int64_t)run.shape.x * run.shape.y * run.shape.z);
  if (!status) status = play(&layout, gpus, &run, figures);
  if (!status) {
    run.n = layout.n;
    run.supernodes = layout.count;
    run.stored = trs_structure_sizes(&layout).values;
    run.flops = trs_structure_sizes(&layout).flops;
    run.host_s = trs_seconds() - begin;
    trs_report_leaves(&run, &layout);
    trs_report(stdout, &run, figures);
  }
  trs_free(figures);
  trs_grid_layout_destroy(&layout);
  return status;
}

static int run_model(int argc, char **argv, const trs_gpu_machine *gpus) {
  trs_symbolic s;
  trs_status status = trs_symbolic_read(&s, argv[1]);
  if (status) return explain();
  for (int a = 2; a < argc && !status; a++) status = model(&s, gpus, argv[0], argv[a]);
  trs_symbolic_free(&s);
  return status ? explain() : 0;
}

int main(int argc, char **argv) {
  if (argc >= 4 && !strcmp(argv[1], "structure")) return make_structure(argc - 2, argv + 2);
  if (argc == 4 && !strcmp(argv[1], "invert")) return invert(argv + 2);
  const trs_gpu_machine *gpus = argc >= 5 ? trs_gpu_machine_of(argv[1]) : NULL;
  if (argc >= 5 && (gpus || !strcmp(argv[1], "loggp"))) return run_model(argc - 2, argv + 2, gpus);
  fprintf(
      stderr,
      "trireme-simulate structure MATRIX OUT [leaves=N] [width=N] [relax=N] [few=N] [subtrees=N]\n"
      "trireme-simulate invert STRUCTURE OUT\n"
      "trireme-simulate loggp NAME STRUCTURE METHOD:PXxPYxPZ:NRHS[:flat][:scattered] ...\n"
      "trireme-simulate h100|a100 NAME STRUCTURE METHOD:PXx1xPZ:NRHS[:flat]:scattered ...\n");
  return 2;
}
