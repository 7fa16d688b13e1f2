/* ending.h - endings of names that promise a format which is not written.  The command links it
 * too. */
#ifndef TRS_IO_ENDING_H
#define TRS_IO_ENDING_H

/* The ending of path if files of that format are not written, or NULL. */
const char *trs_ending_refused(const char *path);

/* Of the path and its ending. */
#define TRS_ENDING_REFUSED                                                                        \
  "%s: %s files are not written: matrices go to .mtx, .mtx.gz, .mtx.zst, .h5 and .hdf5, vectors " \
  "to the first three"

#endif
