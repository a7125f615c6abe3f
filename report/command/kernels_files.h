/* Recognises files that the Linux kernel makes up, below /proc, /sys and /dev. Such a file is never
 * opened because a report names it.
 *
 * A report, and a file that it names, may come from somebody else. What it names there is memory, a
 * device, or different for each process that opens it (/proc/self/cwd). So nothing below these
 * folders is opened because a report names it, neither as source nor as a module:
 *
 * - not by such a path, and not through a link into these folders;
 *
 * - through no link that only the kernel makes (/proc/PID/root, cwd, exe, fd), on Linux 5.6;
 *
 * - no file of such a file system, whatever its path is (a mount). */
#ifndef SC_REPORT_COMMAND_KERNELS_FILES_H
#define SC_REPORT_COMMAND_KERNELS_FILES_H

#include <stdbool.h>

/* Returns true if the path is absolute and is one of the folders named above or below one. */
bool sc_kernels_files_has(const char *path);

/* Opens the file as open(2) does. Returns a descriptor or -errno; -EPERM for such a path or link.
 */
int sc_kernels_files_open(const char *path, int flags);

/* Returns true if the open file is one of these, by its file system or by its path with all links
 * resolved. Without /proc the path is not known. */
bool sc_kernels_files_is_one(int fd);

/* Writes the path of the descriptor below /proc into `name`. */
enum { SC_KERNELS_FILES_NAME_BYTES = 32 };
void sc_kernels_files_name(int fd, char *name);

#endif
