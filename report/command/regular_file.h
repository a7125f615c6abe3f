/* Opens regular files without ever waiting.
 *
 * To open a FIFO would wait for a writer, and to open a device may have an effect (a tape rewinds).
 * So the type of what is at a path is checked before the open, and again on the open file. */
#ifndef SC_REPORT_COMMAND_REGULAR_FILE_H
#define SC_REPORT_COMMAND_REGULAR_FILE_H

#include <stddef.h>
#include <stdio.h>

/* Opens the regular file at `path` for reading. `flags`: O_NOFOLLOW, so that no symbolic link at
 * the end of the path is followed, or 0. Returns a descriptor above 2 that closes on exec, or
 * -errno: -EISDIR for a folder, -ENOTSUP for anything else that is no regular file. */
int sc_regular_file_open(const char *path, int flags);

/* Does the same as sc_regular_file_open for a path that comes from a report, or from a file that a
 * report names: -EPERM for a file that the Linux kernel makes up (report/command/kernels_files.h).
 */
int sc_regular_file_open_named(const char *path);

/* As sc_regular_file_open, but returns a stream; NULL on failure, with the error in *error. */
FILE *sc_regular_file_stream(const char *path, int flags, int *error);

/* Reads a regular file of at most `max` bytes, and appends a NUL. The caller frees *text. `size`
 * may be NULL. Returns 0, or -errno as above; -EFBIG for a larger file. */
int sc_regular_file_read(const char *path, size_t max, char **text, size_t *size);

/* Does the same as sc_regular_file_read for an open file, which stays open. */
int sc_regular_file_read_open(int fd, size_t max, char **text, size_t *size);
/* Returns words for an error (-errno) of these functions. */
const char *sc_regular_file_error(int error);

#endif
