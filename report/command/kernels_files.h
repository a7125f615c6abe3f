/* Recognises files that the kernel makes up, below /proc, /sys and /dev, which are never opened
 * because a report names them.
 *
 * A report, and a file that it names, may be a stranger's. What it names there is memory, a device,
 * or means something else to each process that opens it (/proc/self/cwd). So nothing below these
 * folders is opened for its sake, neither as source nor as a module:
 *
 * - not by such a name, and not through a link into these folders;
 *
 * - through no link that the kernel alone makes (/proc/PID/root, cwd, exe, fd), on Linux 5.6;
 *
 * - no file of such a file system, whatever its path is (a mount). */
#ifndef SC_REPORT_COMMAND_KERNELS_FILES_H
#define SC_REPORT_COMMAND_KERNELS_FILES_H

#include <stdbool.h>

/* Is the path absolute, and one of these folders or below one? */
bool sc_kernels_files_has(const char *path);

/* As open(2). Returns a descriptor or -errno; -EPERM for such a name or link. */
int sc_kernels_files_open(const char *path, int flags);

/* Is the open file one of the kernel's, by its file system or by its path behind all links? Without
 * /proc the path is not known. */
bool sc_kernels_files_is_one(int fd);

/* Writes what /proc calls the descriptor into `name`. */
enum { SC_KERNELS_FILES_NAME_BYTES = 32 };
void sc_kernels_files_name(int fd, char *name);

#endif
