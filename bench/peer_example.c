/* peer_example.c - a program for trireme bench --peer NAME=PROGRAM: plain substitution.
 * It is called as PROGRAM FILE OUT; README.md describes both files and the line that it prints.
 * On the CPU a third argument is the number of threads, which this program has no use for. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void *take(FILE *file, size_t count, size_t size) {
  void *array = malloc(count * size);
  if (!array || fread(array, size, count, file) != count) exit(1);
  return array;
}

static double now(void) { /* milliseconds */
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  enum { REPEATS = 20 };
  FILE *file = argc >= 3 ? fopen(argv[1], "rb") : NULL;
  if (!file) return 1;
  int64_t *head = take(file, 3, 8); /* a mark, n, nnz */
  const size_t n = (size_t)head[1], nnz = (size_t)head[2];
  int64_t *ptr = take(file, n + 1, 8);
  double *val = take(file, nnz, 8), *b = take(file, n, 8);
  int32_t *idx = take(file, nnz, 4);
  fclose(file);
  double *x = calloc(n, 8), best = 1e300;
  for (int repeat = 0; repeat < REPEATS && x; repeat++) {
    const double start = now();
    for (size_t i = 0; i < n; i++) {
      double sum = b[i];
      for (int64_t k = ptr[i]; k < ptr[i + 1] - 1; k++) sum -= val[k] * x[idx[k]];
      x[i] = sum / val[ptr[i + 1] - 1]; /* the diagonal comes last */
    }
    const double time = now() - start;
    if (time < best) best = time;
  }
  file = fopen(argv[2], "wb");
  if (!x || !file || fwrite(x, 8, n, file) != n || fclose(file)) return 1;
  printf("analysis_ms=0 solve_ms=%.6f setting=rows version=example\n", best > 0 ? best : 1e-6);
  void *arrays[] = {head, ptr, val, b, idx, x};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) free(arrays[k]);
  return 0;
}
