/* Recognises files that the Linux kernel makes up, below /proc, /sys and /dev.
 *
 * A report, and a file that it names, may come from somebody else, who must not have the command
 * open memory or devices. So the command never opens, neither as source nor as a module:
 *
 * - a path below these folders, or a link that leads there;
 *
 * - a path through a link that only the kernel makes (/proc/PID/root, cwd, exe, fd), which leads
 *   elsewhere in each process; this is checked from Linux 5.6 on;
 *
 * - a file of such a file system, if that is mounted elsewhere. */
#ifndef SC_REPORT_COMMAND_KERNELS_FILES_H
#define SC_REPORT_COMMAND_KERNELS_FILES_H

#include <stdbool.h>

/* Returns true if the path is /proc, /sys or /dev, or is below one of them. */
bool sc_kernels_files_has(const char *path);

/* Opens the file as open(2) does. Returns a descriptor or -errno: -EPERM if the path is below these
 * folders or leads through a link that only the kernel makes. The caller checks the open file with
 * sc_kernels_files_is_one. */
int sc_kernels_files_open(const char *path, int flags);

/* Returns true if the kernel makes up the open file: its file system is one of the kernel's (or not
 * known), or its path without links is below one of the folders. Without /proc the path is not
 * known.
 */
bool sc_kernels_files_is_one(int fd);

/* Writes "/proc/self/fd/N" for the descriptor into `name`. */
enum { SC_KERNELS_FILES_NAME_BYTES = 32 };
void sc_kernels_files_name(int fd, char *name);

#endif
