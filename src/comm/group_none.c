/* group_none.c - group.h in a build without CUDA: opening a group fails, and no other function is
 * called. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include <string.h>

#include "base/config.h"
#include "comm/group.h"

trs_status trs_group_open(trs_group **group, const char *where) {
  int ordinals[TRS_MOST_MEMBERS], count;
  *group = NULL;
  if (strcmp(where, "nvshmem") != 0) TRS_TRY(trs_group_parse(where, ordinals, &count));
  if (TRS_HAVE_HIP)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "this build has HIP, and several GPUs need CUDA: use one GPU, \"hip:N\"");
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "this build has no CUDA: " TRS_GET_CUDA);
}

trs_group *trs_group_retain(trs_group *group) { return group; }
void trs_group_close(trs_group *group) {}
int trs_group_members(const trs_group *group) { return 1; }
int trs_group_first(const trs_group *group) { return 0; }
int trs_group_local(const trs_group *group) { return 1; }
bool trs_group_one_process(const trs_group *group) { return true; }
trs_device *trs_group_device(const trs_group *group, int member) { return NULL; }
