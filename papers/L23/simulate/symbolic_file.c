/* symbolic_file.c - structures of factors in files. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "simulate/symbolic.h"

static const int64_t magic = 0x32307379536b7274;

typedef struct array {
  void **pointer;
  int64_t count;
  size_t size;
} array;

enum { NARRAYS = 7 };

static void list_arrays(trs_symbolic *s, int64_t nblocks, array *to) {
  array all[NARRAYS] = {{(void **)&s->first, s->count + 1, sizeof *s->first},
                        {(void **)&s->lo, s->count, sizeof *s->lo},
                        {(void **)&s->height, s->count, sizeof *s->height},
                        {(void **)&s->half, s->count, sizeof *s->half},
                        {(void **)&s->ptr, s->count + 1, sizeof *s->ptr},
                        {(void **)&s->row, nblocks, sizeof *s->row},
                        {(void **)&s->rows, nblocks, sizeof *s->rows}};
  memcpy(to, all, sizeof all);
}

static trs_status failed(const char *path, const char *what) {
  return trs_fail(TRS_ERROR_FILE, -1, "%s: %s: %s", path, what, strerror(errno ? errno : EIO));
}

trs_status trs_symbolic_write(const trs_symbolic *s, const char *path) {
  trs_symbolic copy = *s;
  array all[NARRAYS];
  int64_t head[] = {magic, s->n, s->count, s->leaves, s->ptr[s->count], s->fill, s->stored};
  FILE *file = fopen(path, "wb");
  if (!file) return failed(path, "cannot be created");
  list_arrays(&copy, s->ptr[s->count], all);
  bool good = fwrite(head, sizeof head, 1, file) == 1;
  for (int k = 0; k < NARRAYS && good; k++)
    good = fwrite(*all[k].pointer, all[k].size, (size_t)all[k].count, file) == (size_t)all[k].count;
  good = fclose(file) == 0 && good;
  return good ? TRS_SUCCESS : failed(path, "cannot be written");
}

static trs_status read_arrays(trs_symbolic *s, FILE *file, const char *path) {
  array all[NARRAYS];
  int64_t head[7];
  if (fread(head, sizeof head, 1, file) != 1 || head[0] != magic || head[1] < 0 || head[2] < 0 ||
      head[3] < 1 || head[4] < 0)
    return trs_fail(TRS_ERROR_FORMAT, -1, "%s is no structure of factors for simulations", path);
  *s = (trs_symbolic){
      .n = head[1], .count = head[2], .leaves = head[3], .fill = head[5], .stored = head[6]};
  list_arrays(s, head[4], all);
  for (int k = 0; k < NARRAYS; k++) {
    TRS_TRY(trs_alloc(all[k].pointer, all[k].count, all[k].size));
    if (fread(*all[k].pointer, all[k].size, (size_t)all[k].count, file) != (size_t)all[k].count)
      return trs_fail(TRS_ERROR_FORMAT, -1, "%s ends too early", path);
  }
  return TRS_SUCCESS;
}

trs_status trs_symbolic_read(trs_symbolic *s, const char *path) {
  *s = (trs_symbolic){0};
  errno = 0;
  FILE *file = fopen(path, "rb");
  if (!file) return failed(path, "cannot be read");
  trs_status status = read_arrays(s, file, path);
  fclose(file);
  if (status) trs_symbolic_free(s);
  return status;
}

void trs_symbolic_free(trs_symbolic *s) {
  TRS_FREE_ALL(s->first, s->lo, s->height, s->half, s->ptr, s->row, s->rows);
  *s = (trs_symbolic){0};
}
