/* Opens regular files without ever waiting for anybody.
 *
 * A FIFO would wait for a writer, and to open a device may do something to it (a tape rewinds). So
 * the type of what is at a path is asked for before the open, and of the open file once more. */
#ifndef SC_REPORT_COMMAND_REGULAR_FILE_H
#define SC_REPORT_COMMAND_REGULAR_FILE_H

#include <stddef.h>
#include <stdio.h>

/* Opens the regular file at `path` for reading. `flags`: O_NOFOLLOW, so that no symbolic link at
 * the end of the path is followed, or 0. Returns a descriptor, which is none of the standard three
 * and closes on exec, or -errno: -EISDIR for a folder, -ENOTSUP for what else is no file. */
int sc_regular_file_open(const char *path, int flags);

/* The same for a path that a report, or a file of one, has named: -EPERM for what is the kernel's
 * (report/command/kernels_files.h). */
int sc_regular_file_open_named(const char *path);

/* As sc_regular_file_open, but returns a stream; NULL: an error, which is in *error. */
FILE *sc_regular_file_stream(const char *path, int flags, int *error);

/* Reads a regular file of at most `max` bytes, and puts a NUL behind it. The caller frees *text.
 * `size` may be NULL. Returns 0, or -errno as above, -EFBIG for a larger file. */
int sc_regular_file_read(const char *path, size_t max, char **text, size_t *size);

/* The same of an open file, which stays open. */
int sc_regular_file_read_open(int fd, size_t max, char **text, size_t *size);
/* What to say of an error (-errno) of the functions above. */
const char *sc_regular_file_error(int error);

#endif
