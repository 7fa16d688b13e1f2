/* device_none.c - a build without CUDA: no GPU can be opened, so of device.h only what is asked
 * before that has something to say. */
#include "device/device.h"

trs_status trs_device_open(trs_device **device, int ordinal) {
  (void)ordinal;
  *device = NULL;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "this build has no CUDA: install the CUDA toolkit (nvcc) and build again");
}

const char *trs_device_list(void) { return ""; }

trs_device *trs_device_retain(trs_device *device) { return device; }
void trs_device_close(trs_device *device) { (void)device; }
bool trs_device_address(const void *pointer) {
  (void)pointer;
  return false;
}
const trs_device_facts *trs_device_look(const trs_device *device) {
  (void)device;
  return NULL;
}
