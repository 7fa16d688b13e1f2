/* rights.c - attributes and access lists of files as Linux has them.  The command links it, too.
 *
 * The kernel is asked itself: musl before 1.2.4 has no statx, and later ones no header that could
 * be included beside the kernel's. */
#define _GNU_SOURCE /* AT_EMPTY_PATH, syscall */
#include "io/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/stat.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

/* True if the process may act for owners of files (CAP_FOWNER). */
static bool acts_for_owners(void) {
  struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct set[_LINUX_CAPABILITY_U32S_3] = {{0}};
  if (syscall(SYS_capget, &head, set)) return geteuid() == 0;
  return set[CAP_TO_INDEX(CAP_FOWNER)].effective & CAP_TO_MASK(CAP_FOWNER);
}

static bool look(int directory, const char *name, int flags, struct statx *about) {
  return !syscall(SYS_statx, directory, name, flags, STATX_BASIC_STATS, about);
}

int trs_rights_to_rename(int directory, const char *name, const uid_t *owner) {
  struct statx file, folder;
  if (owner && look(directory, name, 0, &file)) {
    if (file.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) return EPERM;
#ifdef STATX_ATTR_MOUNT_ROOT
    if (file.stx_attributes & STATX_ATTR_MOUNT_ROOT) return EBUSY;
#endif
  }
  if (look(directory, "", AT_EMPTY_PATH, &folder)) {
    if (folder.stx_attributes & STATX_ATTR_APPEND) return EPERM;
    const bool sticky = folder.stx_mode & S_ISVTX;
    const uid_t me = geteuid();
    if (owner && sticky && *owner != me && folder.stx_uid != me && !acts_for_owners()) return EPERM;
  }
  return 0;
}

enum { MOST_ACL = 1 << 16 };
static const char acl_name[] = "system.posix_acl_access";

bool trs_rights_copy_list(const char *old, int file) {
  char *list = malloc(MOST_ACL);
  ssize_t bytes = list ? getxattr(old, acl_name, list, MOST_ACL) : -1;
  bool good = list && bytes < 0 && (errno == ENODATA || errno == ENOTSUP);
  if (bytes >= 0) good = !fsetxattr(file, acl_name, list, (size_t)bytes, 0);
  if (bytes < 0 || !good) (void)fremovexattr(file, acl_name);
  free(list);
  return good;
}
