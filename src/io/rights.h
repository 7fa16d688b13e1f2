/* rights.h - what a file that replaces another one must know of the system: rights beyond those of
 * POSIX.  rights_none.c is for systems other than Linux. */
#ifndef TRS_IO_RIGHTS_H
#define TRS_IO_RIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

/* The kernel's reasons to refuse a rename to the name in a folder in which files may be created: 0,
 * or errno's value.  folder: its descriptor.  owner: of the file to be replaced; NULL: there is
 * none. */
int trs_rights_to_rename(int folder, const char *name, const uid_t *owner);

/* Gives the open file the access list of the old one, or none instead of the one that its folder
 * gives to new files.  False if the old one has a list that cannot be given. */
bool trs_rights_copy_list(const char *old, int file);

#endif
