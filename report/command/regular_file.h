/* Whole files, read without ever waiting for anybody. */
#ifndef SC_REPORT_COMMAND_REGULAR_FILE_H
#define SC_REPORT_COMMAND_REGULAR_FILE_H

#include <stddef.h>

/* Reads a regular file of at most `max` bytes, and puts a NUL behind it. The caller frees *text.
 * `size` may be NULL. Returns 0, or -errno: -EFBIG for a larger file, -EISDIR for a folder,
 * -ENOTSUP for what else is no file, a FIFO or a device for example. */
int sc_regular_file_read(const char *path, size_t max, char **text, size_t *size);

/* The same of an open file, which stays open. */
int sc_regular_file_read_open(int fd, size_t max, char **text, size_t *size);

#endif
