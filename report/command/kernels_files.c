#define _GNU_SOURCE 1
#include "report/command/kernels_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437 /* Linux 5.6 */
#endif

/* ---- by the path ---- */

/* Is the path, as it is written (links are not followed), below /proc, /sys or /dev? */
bool sc_kernels_files_has(const char *path)
{
    static const char *const folders[] = {"/proc", "/sys", "/dev"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        size_t length = strlen(folders[i]);
        if (strncmp(path, folders[i], length) == 0 && (path[length] == '/' || path[length] == '\0'))
            return true;
    }
    return false;
}

/* Opens the path, but fails with ELOOP if it leads through a link that only the kernel makes
 * (/proc/PID/fd/N, for example). The structure is that of linux/openat2.h, a header that older
 * systems lack. */
static long open_without_magic(const char *path, int flags)
{
    enum { NO_MAGIC_LINKS = 2 };
    const struct {
        uint64_t flags, mode, resolve;
    } how = {.flags = (uint64_t)flags, .resolve = NO_MAGIC_LINKS};
    return syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

/* Returns the error for a path at which openat2 has failed with ELOOP: -ELOOP if its links form a
 * circle, so that access fails in the same way; else -EPERM, for one of /proc's links. */
static int error_of_links(const char *path)
{
    return access(path, F_OK) != 0 && errno == ELOOP ? -ELOOP : -EPERM;
}

/* Opens a path that a report names, unless the path itself leads to the kernel's files. On systems
 * without openat2 links are not checked here, and only sc_kernels_files_is_one catches such files.
 */
int sc_kernels_files_open(const char *path, int flags)
{
    if (sc_kernels_files_has(path))
        return -EPERM;
    long fd = open_without_magic(path, flags);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* a filter of calls may say the latter */
        fd = open(path, flags);
    if (fd < 0)
        return errno == ELOOP && !(flags & O_NOFOLLOW) ? error_of_links(path) : -errno;
    return (int)fd;
}

/* ---- by the file ---- */

/* Is the open file in a file system that the Linux kernel makes up? True also if that is not known.
 */
static bool is_of_kernels_system(int fd)
{
    static const long types[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC,        DEBUGFS_MAGIC,
                                 TRACEFS_MAGIC,    SECURITYFS_MAGIC,   CGROUP_SUPER_MAGIC,
                                 BPF_FS_MAGIC,     CGROUP2_SUPER_MAGIC};
    struct statfs system;
    if (fstatfs(fd, &system) != 0)
        return true;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (system.f_type == types[i])
            return true;
    return false;
}

/* Writes a path by which the open file can be opened again, whatever name it has. */
void sc_kernels_files_name(int fd, char *name)
{
    snprintf(name, SC_KERNELS_FILES_NAME_BYTES, "/proc/self/fd/%d", fd);
}

/* Is the open file one of the Linux kernel's, by whatever path it was reached? */
bool sc_kernels_files_is_one(int fd)
{
    char name[SC_KERNELS_FILES_NAME_BYTES], path[PATH_MAX];
    sc_kernels_files_name(fd, name);
    ssize_t length = readlink(name, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    return is_of_kernels_system(fd) || sc_kernels_files_has(path);
}
