/* mapped.c - memory that the ranks of one machine map. */
#include "comm/mapped.h"

trs_status trs_mapped_alloc(trs_mapped *m, int64_t bytes) {
  m->bytes = bytes;
  return trs_device_alloc_open(m->device, (void **)&m->base[m->me], bytes, &m->handle);
}

trs_status trs_mapped_open(trs_mapped *m, int other, const trs_device_handle *handle) {
  return trs_device_open_handle(m->device, (void **)&m->base[other], handle);
}

void trs_mapped_close(trs_mapped *m) {
  for (int k = 0; k < m->members; k++) {
    if (k == m->me) continue;
    trs_device_close_handle(m->device, m->base[k]);
    m->base[k] = NULL;
  }
}

void trs_mapped_free(trs_mapped *m) {
  if (m->base[m->me]) trs_device_free_open(m->device, m->base[m->me], m->bytes);
  m->base[m->me] = NULL;
}
