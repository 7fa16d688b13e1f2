/* trusted.h - programs and libraries that this library runs: where it lies itself, and whether
 * other users could have put a file where it is. */
#ifndef TRS_BASE_TRUSTED_H
#define TRS_BASE_TRUSTED_H

#include <limits.h>
#include <stdbool.h>

/* The folder of the file that has this library's code, or of the program that it is linked into:
 * absolute, and as it was when the file was mapped, wherever the program changes its folder to.
 * NULL where neither the kernel nor the loader tells. */
const char *trs_own_folder(void);

typedef struct trs_trust {
  char path[PATH_MAX];      /* of the file, without links; empty unless it is trusted */
  char why[PATH_MAX + 128]; /* why it is not; empty: there is no such file */
} trs_trust;

/* Whether the file is there and no other user can have put it there.  The file, and every folder
 * and link on the way to it, belongs to root, to this user or to the owner of this library, and
 * nobody else can write to it.  A folder with the sticky bit, such as /tmp, may have folders of
 * these owners in it; not where `path` may have been unused for long (lasting), because another
 * user can make what is missing in it. */
bool trs_trusted(trs_trust *trust, const char *path, bool lasting);

#endif
